"""Datasets saved to a folder: what comes back, and what is there when saving is broken off."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DamagedShardError,
    DatasetsCoreError,
    FileInPlaceError,
    FileNotFoundDatasetsError,
    ManifestError,
    UntrustedPathError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.io.save_to_disk import Shards, described, holds_group, load_group, load_one, save_group, write_rows
from datasets_core.load import load_from_disk
from datasets_core.meta.info import DatasetInfo
from datasets_core.store import atomic, writer
from datasets_core.store.shard import FileShard

ROOT = Path(__file__).parents[2]


def _some(count: int = 10, first: int = 0) -> Dataset:
    rows = range(first, first + count)
    return Dataset.from_dict({"a": list(rows), "s": [f"text {row}" for row in rows]}, split="train")


def test_a_saved_dataset_comes_back_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    features = Features({"label": ClassLabel(names=["no", "yes"]), "x": Value("float32")})
    info = DatasetInfo(description="Three rows.")
    saved = Dataset.from_dict({"label": [0, 1, None], "x": [0.5, None, 2.0]}, features=features, info=info, split="test")
    saved.with_format("arrow", columns=["x"]).save_to_disk(tmp_path / "set")

    found = Dataset.load_from_disk(tmp_path / "set")

    assert found.format == {"type": "arrow", "format_kwargs": {}, "columns": ["x"], "output_all_columns": False}
    assert (found.features, found.split, found.info.description) == (features, "test", "Three rows.")
    assert found.with_format(None)._fingerprint == saved._fingerprint
    assert found.with_format(None)[:] == saved[:]


@settings(max_examples=30)
@given(st.lists(st.integers(0, 19), max_size=30), st.integers(1, 5))
def test_any_selection_is_saved_as_it_is_shown(rows: list[int], num_shards: int) -> None:
    import tempfile

    chosen = _some(20).select(rows)
    with tempfile.TemporaryDirectory() as folder:
        chosen.save_to_disk(folder, num_shards=num_shards)
        assert len(list(Path(folder).glob("data-*.arrow"))) == num_shards
        assert Dataset.load_from_disk(folder).to_list() == chosen.to_list()


def test_a_dictionary_comes_back_with_its_splits_in_their_order(tmp_path: Path) -> None:
    group = DatasetDict({"train": _some(5), "a test": _some(2, 7)})
    group.save_to_disk(tmp_path, num_shards={"train": 2, "a test": 1})
    found = load_from_disk(tmp_path)
    assert isinstance(found, DatasetDict)
    assert list(found) == ["train", "a test"]
    assert {name: split.to_list() for name, split in found.items()} == {name: split.to_list() for name, split in group.items()}
    assert holds_group(tmp_path)
    assert not holds_group(tmp_path / "train")


def test_a_size_of_files_makes_as_many_as_it_takes(tmp_path: Path) -> None:
    _some(1000).save_to_disk(tmp_path / "small", max_shard_size="5KB")
    _some(1000).save_to_disk(tmp_path / "three", num_proc=3)
    assert len(list((tmp_path / "small").glob("data-*"))) > 2
    assert len(list((tmp_path / "three").glob("data-*"))) == 3
    assert Dataset.load_from_disk(tmp_path / "three").to_list() == _some(1000).to_list()


def test_a_dataset_may_be_saved_over_the_folder_it_is_read_from(tmp_path: Path) -> None:
    _some(100).save_to_disk(tmp_path / "set", num_shards=3)
    before = Dataset.load_from_disk(tmp_path / "set")
    turned = before.select(range(99, -1, -1))
    turned.save_to_disk(tmp_path / "set")
    assert Dataset.load_from_disk(tmp_path / "set")["a"][:3] == [99, 98, 97]
    assert turned["a"][:3] == [99, 98, 97]
    assert before["a"][:3] == [0, 1, 2]


def test_one_that_was_opened_before_another_was_saved_there_reads_no_foreign_rows(tmp_path: Path) -> None:
    _some(100).save_to_disk(tmp_path / "set", num_shards=2)
    before = Dataset.load_from_disk(tmp_path / "set")
    _some(100, 500).save_to_disk(tmp_path / "set", num_shards=2)
    try:
        rows: Any = before["a"][60:62]
    except DamagedShardError:
        rows = [60, 61]
    assert rows == [60, 61]


@pytest.mark.parametrize("first", [True, False])
def test_a_dictionary_may_take_the_place_of_a_dataset_and_the_other_way_round(first: bool, tmp_path: Path) -> None:
    for number in range(3):
        if (number % 2 == 0) is first:
            DatasetDict({"x": _some(2)}).save_to_disk(tmp_path / "set")
            assert isinstance(load_from_disk(tmp_path / "set"), DatasetDict)
        else:
            _some(2).save_to_disk(tmp_path / "set")
            assert isinstance(load_from_disk(tmp_path / "set"), Dataset)
    assert os.listdir(tmp_path) == ["set"]


def test_in_memory_leaves_no_file_behind_the_rows(tmp_path: Path) -> None:
    _some().save_to_disk(tmp_path)
    assert Dataset.load_from_disk(tmp_path).cache_files
    assert not Dataset.load_from_disk(tmp_path, keep_in_memory=True).cache_files
    with config.using(max_memory_bytes=1 << 20):
        assert not Dataset.load_from_disk(tmp_path).cache_files


def test_a_store_holds_what_a_folder_holds(tmp_path: Path) -> None:
    url = f"memory://{tmp_path.name}/set"
    with config.using(downloads_dir=str(tmp_path / "downloads"), cache_dir=str(tmp_path / "cache")):
        for count in (3, 5):
            _some(count).save_to_disk(url)
            assert Dataset.load_from_disk(url).to_list() == _some(count).to_list()
        DatasetDict({"x": _some(4)}).save_to_disk(url)
        assert load_from_disk(url)["x"].to_list() == _some(4).to_list()
    assert not list((tmp_path / "cache").rglob("*.arrow"))


# -- refused -----------------------------------------------------------------------------------------------------------


def test_what_was_never_saved_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place in ("none", "empty"):
        with pytest.raises(FileNotFoundDatasetsError, match=place):
            load_from_disk(tmp_path / place)
    DatasetDict({"x": _some()}).save_to_disk(tmp_path / "group")
    with pytest.raises(FileNotFoundDatasetsError, match="DatasetDict"):
        Dataset.load_from_disk(tmp_path / "group")
    with pytest.raises(FileNotFoundDatasetsError, match="one dataset"):
        DatasetDict.load_from_disk(tmp_path / "group" / "x")


def test_arguments_without_a_meaning_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not both"):
        _some().save_to_disk(tmp_path, max_shard_size="1MB", num_shards=2)
    with pytest.raises(ConfigurationError, match="num_shards is 0"):
        _some().save_to_disk(tmp_path, num_shards=0)
    with pytest.raises(ConfigurationError, match="for each split"):
        DatasetDict({"x": _some()}).save_to_disk(tmp_path, num_shards={"y": 1})
    with pytest.raises(ConfigurationError, match="is not a valid folder"):
        DatasetDict({"../x": _some()}).save_to_disk(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_damaged_copy_says_what_is_wrong(tmp_path: Path) -> None:
    _some(1000).save_to_disk(tmp_path / "set", num_shards=2)
    second = tmp_path / "set" / "data-00001-of-00002.arrow"
    whole = second.read_bytes()
    for content in (whole[:-1], b"", whole[:-8] + b"notarrow"):
        second.write_bytes(content)
        with pytest.raises(DamagedShardError) as caught:
            load_from_disk(tmp_path / "set")
        assert str(caught.value.file).endswith("data-00001-of-00002.arrow")
    second.unlink()
    with pytest.raises(DamagedShardError, match="missing"):
        load_from_disk(tmp_path / "set")
    (tmp_path / "set" / "state.json").write_text('{"_data_files": [{"filename": "../../x.arrow"}]}')
    with pytest.raises(ManifestError, match="not a file of the folder"):
        load_from_disk(tmp_path / "set")


# -- broken off --------------------------------------------------------------------------------------------------------


def _standing(folder: Path) -> Any:
    found = load_from_disk(folder)
    return {name: split.to_list() for name, split in found.items()} if isinstance(found, DatasetDict) else found.to_list()


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("foreign", [False, True])
def test_a_full_disk_leaves_the_old_copy_and_nothing_else(
    group: bool, foreign: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (DatasetDict({"x": _some(3), "y": _some(4)}), DatasetDict({"x": _some(9), "y": _some(8)}))
    (old if group else old["x"]).save_to_disk(tmp_path / "set")
    if foreign:
        (tmp_path / "set" / "README.md").write_text("mine")
    before, files = _standing(tmp_path / "set"), sorted(map(str, tmp_path.rglob("*")))
    fails_at = 2 if group else 1
    written = iter(range(1, 99))

    def full(path: str, *rest: Any) -> Any:
        if next(written) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        return writer.write_stream(path, *rest)

    monkeypatch.setattr("datasets_core.store.writer.write_stream", full)
    with pytest.raises(OSError, match="No space left"):
        (new if group else new["x"]).save_to_disk(tmp_path / "set")

    assert _standing(tmp_path / "set") == before
    assert sorted(map(str, tmp_path.rglob("*"))) == files


def test_a_file_in_the_place_of_the_folder_is_named_and_stands(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(FileInPlaceError, match="plain is a file"):
        _some().save_to_disk(tmp_path / "plain")
    assert (tmp_path / "plain").read_text() == "no folder"
    assert os.listdir(tmp_path) == ["plain"]


_SAVE = """
import sys
import datasets_core as d
target, count = sys.argv[1], int(sys.argv[2])
made = d.Dataset.from_dict({"a": list(range(count)), "s": ["x" * 50] * count})
print("ready", flush=True)
while True:
    for size in (count, count // 2):
        part = made.select(range(size))
        d.DatasetDict({"x": part, "y": part.select([0])}).save_to_disk(target)
"""


@pytest.mark.parametrize("in_place", [False, True], ids=["by one rename", "file by file"])
def test_a_kill_at_any_moment_leaves_one_whole_dictionary(in_place: bool, tmp_path: Path) -> None:
    """Whatever the moment, both splits are of the same save, and the next save clears what the dead left."""
    target, count = tmp_path / "set", 50_000
    small = Dataset.from_dict({"a": [0, 1], "s": ["x" * 50] * 2})
    DatasetDict({"x": small, "y": small.select([0])}).save_to_disk(target)
    if in_place:
        (target / "README.md").write_text("mine")
    chooser = random.Random(7)
    for _ in range(3):
        saver = subprocess.Popen([sys.executable, "-c", _SAVE, str(target), str(count)], cwd=ROOT, stdout=subprocess.PIPE)
        assert saver.stdout is not None
        saver.stdout.readline()
        _busy(chooser.uniform(0.0, 0.06))
        saver.send_signal(signal.SIGKILL)
        saver.wait()
        saver.stdout.close()
        found = load_from_disk(target)
        assert found.num_rows["x"] in (2, count, count // 2)
        assert found.num_rows["y"] == 1
        assert found["x"]["a"][:] == list(range(found.num_rows["x"]))
    DatasetDict({"x": small, "y": small.select([0])}).save_to_disk(target)
    assert sorted(os.listdir(tmp_path)) == ["set"]
    left = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file() and path.name != "README.md")
    assert len(left) == 7  # two splits of three files, and the list of them


def _busy(seconds: float) -> None:
    """Let a moment pass that no event marks."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        np.zeros(1000).sum()


def test_without_an_exchange_of_folders_the_files_are_replaced_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    for count in (4, 6):
        _some(count).save_to_disk(tmp_path / "set")
        assert Dataset.load_from_disk(tmp_path / "set").to_list() == _some(count).to_list()
    assert len(os.listdir(tmp_path / "set")) == 3
    assert os.listdir(tmp_path) == ["set"]


def test_what_else_lies_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    for count in (4, 6):
        _some(count).save_to_disk(tmp_path)
        DatasetDict({"x": _some(count)}).save_to_disk(tmp_path)
        assert load_from_disk(tmp_path)["x"].num_rows == count
    assert (tmp_path / "notes" / "a.txt").read_text() == "mine"


def test_a_built_dataset_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text(json.dumps({"manifest": {}}))
    with pytest.raises(DatasetsCoreError, match="built by load_dataset"):
        _some().save_to_disk(tmp_path)
    assert os.listdir(tmp_path) == ["dataset_info.json"]


# Saved datasets of several splits: all of them or none, and each known from a folder of one.

SPLITS = st.dictionaries(
    st.sampled_from(["train", "test", "été", "a b"]), st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=3
)


def _datasets(splits: dict[str, list[int]]) -> dict[str, Dataset]:
    return {name: Dataset.from_dict({"n": values}) for name, values in splits.items()}


@settings(max_examples=15)
@given(SPLITS)
def test_splits_come_back_by_name_and_in_order(splits: dict[str, list[int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        save_group(_datasets(splits), folder, num_shards=dict.fromkeys(splits, 1))

        found = load_group(Dataset, folder)

        assert {name: dataset["n"][:] for name, dataset in found.items()} == splits
        assert list(found) == list(splits)


def test_a_folder_is_of_one_dataset_or_of_several(tmp_path: Path) -> None:
    save_group(_datasets({"train": [1]}), tmp_path / "several")
    Dataset.from_dict({"n": [2]}).save_to_disk(tmp_path / "one")

    assert holds_group(tmp_path / "several")
    assert not holds_group(tmp_path / "one")
    assert load_one(Dataset, tmp_path / "one")["n"][:] == [2]


def test_a_folder_of_the_other_kind_says_what_to_call(tmp_path: Path) -> None:
    save_group(_datasets({"train": [1]}), tmp_path / "several")
    Dataset.from_dict({"n": [2]}).save_to_disk(tmp_path / "one")

    with pytest.raises(FileNotFoundDatasetsError, match=r"contains a DatasetDict.*DatasetDict\.load_from_disk"):
        load_one(Dataset, tmp_path / "several")
    with pytest.raises(FileNotFoundDatasetsError, match=r"contains one dataset.*Dataset\.load_from_disk"):
        load_group(Dataset, tmp_path / "one")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b"])
def test_a_split_that_names_no_folder_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a valid folder"):
        save_group(_datasets({"train": [1], name: [2]}), tmp_path / "set")

    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("num_shards", [{"train": 1}, {"train": 1, "test": 1, "more": 1}, 2])
def test_numbers_of_files_are_for_all_splits(tmp_path: Path, num_shards: object) -> None:
    with pytest.raises(ConfigurationError, match="a number for each split: 'train', 'test'"):
        save_group(_datasets({"train": [1], "test": [2]}), tmp_path, num_shards=num_shards)  # type: ignore[arg-type]


def test_a_folder_that_was_not_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"n": 1}))

    with pytest.raises(FileNotFoundDatasetsError, match="use load_dataset"):
        holds_group(tmp_path)
    with pytest.raises(FileNotFoundDatasetsError, match="does not exist"):
        load_one(Dataset, tmp_path / "nowhere")


def test_what_is_no_path_is_named() -> None:
    for load in (lambda: load_one(Dataset, 5), lambda: load_group(Dataset, 5), lambda: holds_group(5)):  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError) as caught:
            load()
        assert caught.value.value == 5
    with pytest.raises(ArgumentTypeError) as caught:
        Dataset.from_dict({"a": [1]}).save_to_disk(5)  # type: ignore[arg-type]
    assert caught.value.value == 5


# A saved dataset is described by the files of its folder.


def test_a_saved_dataset_is_told_by_its_files(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1, 2, 3]}).save_to_disk(tmp_path / "saved", num_shards=2)
    found = load_from_disk(str(tmp_path / "saved"))
    objects = [node for node in found.info.to_croissant()["distribution"] if "contentUrl" in node]
    assert {node["contentUrl"]: node["sha256"] for node in objects} == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "saved").glob("*.arrow")
    }
    assert found.info.to_croissant(tmp_path)["distribution"][0]["contentUrl"].startswith("saved/")


def test_columns_that_are_in_no_file_are_not_told(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1, 2, 3]}).save_to_disk(tmp_path / "saved")
    found = load_from_disk(str(tmp_path / "saved")).map(lambda row: {"b": 1}, keep_in_memory=True)
    assert [field["name"] for field in found.info.to_croissant()["recordSet"][-1]["field"]] == ["a"]


# Rows into the files of a saved dataset: which are copied, which are written, and how many.


def _mapped(folder: Path, rows: int = 100) -> Dataset:
    table = pa.table({"a": pa.array(range(rows), pa.int64()), "s": [f"row {i}" for i in range(rows)]})
    with pa.ipc.new_file(str(folder / "source.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    return Dataset.from_file(folder / "source.arrow")


def _rows(folder: Path, names: list[str]) -> list[int]:
    found: list[int] = []
    for name in names:
        with pa.ipc.open_stream(pa.memory_map(str(folder / name))) as reader:
            found += reader.read_all().column("a").to_pylist()
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "out"
    made.mkdir()
    return made


def test_a_whole_file_is_copied_with_its_batches(tmp_path: Path, out: Path) -> None:
    (shard,) = write_rows(_mapped(tmp_path), str(out), Shards())
    assert shard.batches == (30, 30, 30, 10)
    assert shard.size == (out / shard.name).stat().st_size
    assert _rows(out, [shard.name]) == list(range(100))


def test_a_part_a_turn_and_another_kind_are_written(tmp_path: Path, out: Path) -> None:
    whole = _mapped(tmp_path)
    labelled = whole.cast_column("a", ClassLabel(num_classes=100))
    for number, (dataset, rows) in enumerate(
        {
            whole.select(range(5, 50)): list(range(5, 50)),
            whole.select([7, 3, 99]): [7, 3, 99],
            whole.remove_columns("s"): list(range(100)),
            labelled: list(range(100)),
        }.items()
    ):
        folder = out / str(number)
        folder.mkdir()
        shards = write_rows(dataset, str(folder), Shards())
        assert _rows(folder, [shard.name for shard in shards]) == rows
        with pa.ipc.open_stream(pa.memory_map(str(folder / shards[0].name))) as reader:
            assert Features.from_arrow_schema(reader.schema) == dataset.features


def test_the_first_files_have_the_rows_that_are_left_over(out: Path) -> None:
    dataset = Dataset.from_dict({"a": list(range(8))})
    shards = write_rows(dataset, str(out), Shards.of(None, 3, 2))
    assert [sum(shard.batches or ()) for shard in shards] == [3, 3, 2]
    assert [shard.name for shard in shards] == [f"data-0000{i}-of-00003.arrow" for i in range(3)]
    assert _rows(out, [shard.name for shard in shards]) == list(range(8))


def test_dictionaries_are_stored_plain(out: Path) -> None:
    table = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    (shard,) = write_rows(Dataset(table, None), str(out), Shards())
    with pa.ipc.open_stream(pa.memory_map(str(out / shard.name))) as reader:
        assert reader.schema.field("a").type == pa.string()


def test_no_rows_make_one_file(out: Path) -> None:
    (shard,) = write_rows(Dataset.from_dict({"a": []}, features=Features({"a": Value("int8")})), str(out), Shards())
    assert _rows(out, [shard.name]) == []


def test_a_format_that_no_file_can_hold_is_refused() -> None:
    dataset = Dataset.from_dict({"a": [1]})
    dataset._format = type(dataset._format)("arrow", kwargs={"f": print})
    with pytest.raises(ArgumentTypeError, match="reset_format"):
        described(dataset, ())


def test_numbers_without_a_meaning_are_refused() -> None:
    for arguments in ((1, 1, None), (None, 0, None), (None, True, None), (None, None, 0), ("many", None, None)):
        with pytest.raises(ConfigurationError):
            Shards.of(*arguments)  # type: ignore[arg-type]
    assert Shards.of("1KB", None, None) == Shards(None, 1000, None)


def test_a_stream_is_copied_as_it_is(tmp_path: Path, out: Path) -> None:
    write_rows(_mapped(tmp_path), str(out), Shards())
    again = Dataset.from_file(next(out.glob("*.arrow")))
    assert isinstance(again._table.whole_files()[0], FileShard)  # type: ignore[index]
    second = tmp_path / "second"
    second.mkdir()
    (shard,) = write_rows(again, str(second), Shards())
    assert (second / shard.name).read_bytes() == next(out.glob("*.arrow")).read_bytes()


@pytest.mark.optional("PIL")
def test_the_bytes_of_pictures_go_into_the_rows(tmp_path: Path) -> None:
    from PIL import Image as Picture

    from datasets_core.features.media.types import Image

    Picture.new("RGB", (2, 2)).save(tmp_path / "red.png")
    paths = [str(tmp_path / "red.png"), None]
    pictures = Dataset.from_dict({"image": paths}, features=Features({"image": Image(decode=False)}))
    pictures.save_to_disk(tmp_path / "set")
    content = (tmp_path / "red.png").read_bytes()
    (tmp_path / "red.png").unlink()
    assert Dataset.load_from_disk(tmp_path / "set")[:] == {"image": [{"bytes": content, "path": "red.png"}, None]}


def test_a_shard_of_a_saved_folder_that_is_a_link_out_of_it_is_refused(tmp_path):
    for name in ("saved", "other"):
        Dataset.from_dict({"a": [1, 2]}).save_to_disk(tmp_path / name)
    (shard,) = (tmp_path / "saved").glob("*.arrow")
    shard.unlink()
    shard.symlink_to(tmp_path / "other" / shard.name)
    with pytest.raises(UntrustedPathError) as caught:
        load_from_disk(tmp_path / "saved")[:]
    assert (caught.value.file, caught.value.target) == (str(shard), str(tmp_path / "other" / shard.name))
    with config.using(media_paths=[str(tmp_path / "other")]):
        assert load_from_disk(tmp_path / "saved")["a"][:] == [1, 2]
