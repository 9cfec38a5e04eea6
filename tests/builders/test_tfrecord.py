"""TFRecord files: rows by specs, by features or by what the records hold; streams go on at any row; damage is told exactly."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets_core import records
from datasets_core.config import using
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ConfigurationError, DamagedRecordError, DataFilesNotFoundError, ExampleError, FileFormatError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.frames import frame
from datasets_core.records.specs.specs import FixedLenFeature, VarLenFeature
from datasets_core.resolve.registry import builder_class
from datasets_core.stream.iterable import IterableDataset

ROWS = [{"id": number, "text": b"row %d" % number, "half": number / 2} for number in range(40)]


def content(rows: list[dict[str, Any]], pad: int = 0) -> bytes:
    more = {"pad": bytes(pad)} if pad else {}
    return b"".join(frame(encode_example({**row, **more})) for row in rows)


def places(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        found.append(at)
        at += int.from_bytes(data[at : at + 8], "little") + 16
    return found


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    def written(**contents: bytes) -> list[str]:
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        for name, data in contents.items():
            (folder / f"{name}.tfrecord").write_bytes(data)
        return [str(folder / f"{name}.tfrecord") for name in contents]

    return written


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Any]:
    def loaded(paths: Any, split: Any = "train", **options: Any) -> Any:
        return load_dataset("tfrecord", data_files=paths, split=split, cache_dir=str(tmp_path / "cache"), **options)

    return loaded


# -- what rows hold ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
def test_records_tell_the_columns(files: Any, load: Any, streaming: bool) -> None:
    rows = [{"id": 1, "tags": [b"a", b"b"], "x": 0.5}, {"id": 2, "x": 1.5}, {"id": 3, "tags": [b"c"], "late": 7}]
    found = load(files(a=content(rows)), streaming=streaming)
    assert found.features == Features(
        {"id": Value("int64"), "tags": List(Value("binary")), "x": Value("float32"), "late": Value("int64")}
    )
    assert list(found)[1:] == [
        {"id": 2, "tags": None, "x": 1.5, "late": None},
        {"id": 3, "tags": [b"c"], "x": None, "late": 7},
    ]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_spec_tells_the_columns(files: Any, load: Any, streaming: bool) -> None:
    spec = {
        "id": FixedLenFeature([], "int64"),
        "tags": VarLenFeature("string"),
        "y": FixedLenFeature([2], "float32", [0.0, 1.0]),
    }
    found = load(files(a=content([{"id": 1, "tags": [b"a"], "more": 5}, {"id": 2}])), spec=spec, streaming=streaming)
    assert found.features == Features(
        {"id": Value("int64"), "tags": List(Value("binary")), "y": List(Value("float32"), length=2)}
    )
    assert list(found) == [{"id": 1, "tags": [b"a"], "y": [0.0, 1.0]}, {"id": 2, "tags": [], "y": [0.0, 1.0]}]


@pytest.mark.parametrize("streaming", [False, True])
def test_features_tell_the_columns(files: Any, load: Any, streaming: bool) -> None:
    features = Features({"text": Value("string"), "id": ClassLabel(names=["a", "b"])})
    found = load(files(a=content(ROWS[:2])), features=features, streaming=streaming)
    assert found.features == features
    assert list(found) == [{"text": "row 0", "id": 0}, {"text": "row 1", "id": 1}]


@pytest.mark.parametrize("streaming", [False, True])
def test_records_are_given_as_they_are(files: Any, load: Any, streaming: bool) -> None:
    found = load(files(a=frame(b"") + frame(b"\xff\xfe")), message="bytes", streaming=streaming)
    (name,) = found.features
    assert [row[name] for row in found] == [b"", b"\xff\xfe"]


@pytest.mark.parametrize("streaming", [False, True])
def test_sequences_are_lists_of_steps(files: Any, load: Any, streaming: bool) -> None:
    data = b"".join(frame(encode_sequence_example({"id": n}, {"words": [[b"x"] * k for k in range(n)]})) for n in (1, 3))
    found = load(files(a=data), streaming=streaming)
    assert found.features == Features({"id": Value("int64"), "words": List(List(Value("binary")))})
    assert [row["words"] for row in found] == [[[]], [[], [b"x"], [b"x", b"x"]]]


@pytest.mark.parametrize("streaming", [False, True])
def test_columns_are_chosen_in_order(files: Any, load: Any, streaming: bool) -> None:
    found = load(files(a=content(ROWS)), columns=["half", "id"], streaming=streaming)
    assert list(found)[3] == {"half": 1.5, "id": 3}
    assert found.column_names == ["half", "id"]


def test_files_without_records_are_legal(files: Any, load: Any) -> None:
    paths = files(a=b"", b=content(ROWS[:2]), c=b"")
    assert load(paths).num_rows == 2
    assert list(load(paths, streaming=True)) == ROWS[:2]
    spec = {"id": FixedLenFeature([], "int64")}
    assert load(paths[:1], spec=spec).features == Features({"id": Value("int64")})
    assert list(load(paths[:1], streaming=True)) == []


def test_one_value_in_one_file_and_several_in_another_are_lists(files: Any, load: Any) -> None:
    paths = files(a=content([{"x": 1}] * 30), b=content([{"x": [1, 2]}, {"x": 3}]))
    for options in ({}, {"num_proc": 2}):
        found = load(paths, download_mode="force_redownload", **options)
        assert found.features == Features({"x": List(Value("int64"))})
        assert [row["x"] for row in found][-3:] == [[1], [1, 2], [3]]


def test_a_stream_gives_the_rows_before_one_of_other_types(files: Any, load: Any) -> None:
    rows: list[dict[str, Any]] = [{"x": 1, "p": bytes(3000)}] * 1000
    (path,) = files(a=content([*rows, {"x": [1, 2]}]))
    for is_indexed in (False, True):
        if is_indexed:
            records.index(path, save=True)
        seen = 0
        with pytest.raises(
            ExampleError, match=r"a\.tfrecord: record 1,000 at byte [\d,]+: feature 'x' .* Pass features= or spec="
        ):
            for _ in load([path], streaming=True):
                seen += 1
        assert seen == 1000


def test_kinds_do_not_mix(files: Any, load: Any) -> None:
    paths = files(a=content([{"x": 1}]), b=content([{"x": b"text"}]))
    with pytest.raises(ExampleError) as caught:
        load(paths)
    assert str(caught.value.file).endswith("b.tfrecord")
    assert (caught.value.row, caught.value.record, caught.value.key, caught.value.offset) == (0, 0, "x", 0)


# -- compression -------------------------------------------------------------------------------------------------------

PACKED = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "two gzips": lambda data: gzip.compress(data[:500], mtime=0) + gzip.compress(data[500:], mtime=0),
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "none": bytes,
}


@pytest.mark.parametrize("kind", PACKED)
def test_files_are_undone_as_their_first_bytes_say(kind: str, files: Any, load: Any) -> None:
    paths = files(a=PACKED[kind](content(ROWS)))
    assert list(load(paths)) == list(load(paths, streaming=True)) == ROWS


def test_a_length_that_looks_like_a_magic_number_is_a_length(files: Any, load: Any) -> None:
    paths = files(a=frame(bytes(0x8B1F)) + frame(bytes(0x088B1F)), b=frame(bytes(0x9C78)), c=frame(bytes(0x685A42)))
    assert [len(row) for row in load(paths, message="bytes")[:].popitem()[1]] == [0x8B1F, 0x088B1F, 0x9C78, 0x685A42]


@pytest.mark.parametrize(("compression", "pack"), [("GZIP", "gzip"), ("ZLIB", "zlib"), ("", "none"), ("gzip", "gzip")])
def test_the_compression_can_be_said(compression: str, pack: str, files: Any, load: Any) -> None:
    assert list(load(files(a=PACKED[pack](content(ROWS))), compression=compression, streaming=True)) == ROWS


def test_the_compression_has_the_name_of_tensorflow_too(files: Any, load: Any) -> None:
    assert list(load(files(a=zlib.compress(content(ROWS))), compression_type="ZLIB")) == ROWS


def test_another_compression_than_the_one_said_is_an_error(files: Any, load: Any) -> None:
    with pytest.raises(DamagedRecordError, match=r"damaged gzip.*does not begin like gzip"):
        load(files(a=content(ROWS)), compression="GZIP")
    with pytest.raises(DamagedRecordError, match=r"length CRC.*begins like a file of the kind"):
        load(files(a=gzip.compress(content(ROWS), mtime=0)), compression="")


# -- damage ------------------------------------------------------------------------------------------------------------

DATA = content(ROWS)
AT = places(DATA)


def flipped(place: int) -> bytes:
    return DATA[:place] + bytes([DATA[place] ^ 4]) + DATA[place + 1 :]


DAMAGED = {
    "length CRC": flipped(AT[25]),
    "length CRC of the CRC": flipped(AT[25] + 9),
    "data CRC": flipped(AT[25] + 20),
    "data CRC of the CRC": flipped(AT[26] - 1),
    "cut in header": DATA[: AT[25] + 7],
    "cut in data": DATA[: AT[25] + 30],
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("is_packed", [False, True])
def test_rows_before_a_damage_come_and_a_build_leaves_nothing(
    damage: str, is_packed: bool, files: Any, load: Any, tmp_path: Path
) -> None:
    data = DAMAGED[damage]
    (path,) = files(a=gzip.compress(data, mtime=0) if is_packed else data)
    seen = []
    with pytest.raises(DamagedRecordError) as streamed:
        seen.extend(load([path], streaming=True))
    assert seen == ROWS[:25]
    error = streamed.value
    assert (error.path, error.record, error.offset) == (path, 25, AT[25])
    assert damage.startswith(error.damage)
    with pytest.raises(DamagedRecordError) as built:
        load([path])
    assert str(built.value) == str(error) == str(pickle.loads(pickle.dumps(error)))
    assert not list((tmp_path / "cache").rglob("*.arrow"))


def test_verification_can_be_left_out(files: Any, load: Any) -> None:
    paths = files(a=DAMAGED["data CRC of the CRC"])
    assert list(load(paths, verify=False)) == list(load(paths, verify=False, streaming=True)) == ROWS


def test_rows_before_a_record_that_is_no_example_come(files: Any, load: Any) -> None:
    (path,) = files(a=content(ROWS[:7]) + frame(b"\xff\xff") + content(ROWS[8:]))
    for is_indexed in (False, True):
        if is_indexed:
            records.index(path, save=True)
        rows = iter(load([path], streaming=True))
        assert [next(rows) for _ in range(7)] == ROWS[:7]
        with pytest.raises(ExampleError) as caught:
            next(rows)
        assert str(caught.value.file).endswith("a.tfrecord")
        assert (caught.value.row, caught.value.record, caught.value.offset) == (7, 7, 476)
    with pytest.raises(ExampleError) as caught:
        load([path])
    assert str(caught.value.file).endswith("a.tfrecord")
    assert (caught.value.row, caught.value.record, caught.value.offset) == (7, 7, 476)


def test_cut_gzip_is_told(files: Any, load: Any) -> None:
    (path,) = files(a=gzip.compress(os.urandom(8) + DATA, mtime=0)[:-9], b=gzip.compress(DATA, mtime=0)[:-300])[1:]
    rows = iter(load([path], streaming=True))
    seen = []
    with pytest.raises(DamagedRecordError, match="cut gzip") as error:
        while True:
            seen.append(next(rows))
    assert seen == ROWS[: len(seen)]
    assert error.value.record == len(seen)


@pytest.mark.parametrize("data", [b"a,b\n1,2\n" * 9, b"<!DOCTYPE html><html>" + bytes(50), b"PK\x03\x04" + bytes(60)])
def test_what_is_no_tfrecord_file_is_refused(data: bytes, files: Any, load: Any) -> None:
    for streaming in (False, True):
        with pytest.raises(FileFormatError) as caught:
            list(load(files(a=data), streaming=streaming))
        assert str(caught.value.file).endswith("a.tfrecord")
        assert (caught.value.row, caught.value.record) == (0, 0)


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def several(files: Any) -> list[str]:
    """Two files of several blocks each."""
    return files(a=content(ROWS[:24], pad=30_000), b=content(ROWS[24:], pad=30_000))


@pytest.mark.parametrize("kind", ["plain", "indexed", "gzip", "with a spec"])
def test_streams_go_on_at_every_row(kind: str, several: list[str], load: Any) -> None:
    options = {"spec": {"id": FixedLenFeature([], "int64")}} if kind == "with a spec" else {}
    for path in several:
        if kind == "indexed":
            records.index(path, save=True)
        if kind == "gzip":
            Path(path).write_bytes(gzip.compress(Path(path).read_bytes(), 1, mtime=0))
    rows = iter(whole := load(several, streaming=True, **options))
    states = [whole.state_dict()]
    for _ in ROWS:
        next(rows)
        states.append(json.loads(json.dumps(whole.state_dict())))
    for number, state in enumerate(states):
        stream = load(several, streaming=True, **options)
        stream.load_state_dict(state)
        assert [row["id"] for row in stream] == list(range(number, 40))


@pytest.mark.parametrize("split", ["train[-7:]", "train[25%:50%]", "train[:3]+train[-3:]", "train[20:30]", "train[50:]"])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_slices_of_streams_are_those_of_builds(split: str, is_indexed: bool, several: list[str], load: Any) -> None:
    for path in several if is_indexed else ():
        records.index(path, save=True)
    assert list(load(several, split, streaming=True)) == list(load(several, split))


def test_rows_of_a_damaged_file_are_counted_by_nobody(several: list[str], load: Any) -> None:
    data = bytearray(Path(several[1]).read_bytes())
    data[places(bytes(data))[3]] ^= 1
    Path(several[1]).write_bytes(data)
    with pytest.raises(DamagedRecordError) as caught:
        load(several, "train[-7:]", streaming=True)
    assert str(caught.value.file).endswith("b.tfrecord")
    assert (caught.value.row, caught.value.record) == (3, 3)


def test_ranks_and_shuffles_have_every_row_once(several: list[str], load: Any) -> None:
    for is_indexed in (False, True):
        for path in several if is_indexed else ():
            records.index(path, save=True)
        stream = load(several, streaming=True).shuffle(seed=5)
        lanes = [[row["id"] for row in stream.shard(3, rank)] for rank in range(3)]
        assert sorted(row for lane in lanes for row in lane) == list(range(40))
        assert [row["id"] for row in stream] != list(range(40))


# -- names -------------------------------------------------------------------------------------------------------------

NAMED = {
    "mnist-train.tfrecord-0000{}-of-00002": "train",
    "mnist-test.tfrecord-0000{}-of-00002": "test",
    "train-0000{}-of-00002": "train",
    "validation-0000{}-of-00002": "validation",
    "name-test-0000{}-of-00002": "test",
    "train-0000{}-of-00002.tfrecord": "train",
    "dev-{}.tfrec": "validation",
    "train/{}.tfrecords": "train",
    "train{}.tfrecord.gz": "train",
    "data/mnist-train.tfrecord-0000{}-of-00002": "train",
    "data/mnist-test.tfrecord-0000{}-of-00002.gz": "test",
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("kind", ["folder", "data_dir"])
def test_names_tell_the_format_and_the_split(name: str, kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "named"
    for number in range(2):
        path = folder / name.format(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content(ROWS[20 * number : 20 * number + 20])
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    (folder / "LICENSE").write_text("free")
    asked = {"path": str(folder)} if kind == "folder" else {"path": "tfrecord", "data_dir": str(folder)}
    found = load_dataset(**asked, cache_dir=str(tmp_path / "cache"))
    assert {split: list(rows) for split, rows in found.items()} == {NAMED[name]: ROWS}


def test_a_missing_shard_is_told(tmp_path: Path) -> None:
    for number in (0, 2):
        (tmp_path / f"mnist-train.tfrecord-0000{number}-of-00003").write_bytes(DATA)
    with pytest.raises(DataFilesNotFoundError, match=r"2 of the 3 shards .* mnist-train\.tfrecord-00001-of-00003"):
        load_dataset(str(tmp_path))
    with pytest.raises(DataFilesNotFoundError, match="2 of the 3 shards"):
        load_dataset("tfrecord", data_files=str(tmp_path / "*"))
    chosen = str(tmp_path / "mnist-train.tfrecord-00002-of-00003")
    assert load_dataset("tfrecord", data_files=chosen, split="train", cache_dir=str(tmp_path / "cache")).num_rows == 40


def test_indexes_beside_files_are_no_data(tmp_path: Path, recwarn: Any) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(2):
        path = folder / f"train.tfrecord-0000{number}-of-00002"
        path.write_bytes(DATA)
        if not number:
            records.index(path, save=True)
    cache = str(tmp_path / "cache")
    assert load_dataset(str(folder), split="train", cache_dir=cache).num_rows == 80
    assert load_dataset("tfrecord", data_files=str(folder / "*"), split="train", cache_dir=cache).num_rows == 80
    assert len(list(load_dataset(str(folder), split="train[-50:]", streaming=True))) == 50
    assert not recwarn.list


def test_files_of_other_formats_are_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.tfrecord").write_bytes(DATA)
    (tmp_path / "b.tfrecord").write_bytes(DATA)
    (tmp_path / "c.csv").write_text("a\n1\n")
    with pytest.warns(UserWarning, match=r"skipped: .*c\.csv"):
        found = load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"))
    assert found.num_rows == 80


def test_repositories_of_tfrecord_files(hub: Any) -> None:
    data = {f"mnist-train.tfrecord-0000{n}-of-00002": content(ROWS[20 * n : 20 * n + 20]) for n in range(2)}
    hub.repo("org/data", {**data, "mnist-test.tfrecord-00000-of-00001": content(ROWS[:3])})
    assert list(load_dataset("org/data", split="train", streaming=True)) == ROWS
    found = load_dataset("org/data")
    assert {split: rows.num_rows for split, rows in found.items()} == {"train": 40, "test": 3}


def test_a_spec_is_not_bound_to_the_columns_on_record(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.tfrecord").write_bytes(DATA)
    recorded = "dataset_info:\n  features:\n  - name: id\n    dtype: int64\n  - name: text\n    dtype: string\n"
    (folder / "README.md").write_text(f"---\n{recorded}---\n")
    asked: dict[str, Any] = {"path": str(folder), "split": "train", "cache_dir": str(tmp_path / "cache")}
    assert load_dataset(**asked)[1] == {"id": 1, "text": "row 1"}
    assert load_dataset(**asked, columns=["text"])[1] == {"text": "row 1"}
    assert load_dataset(**asked, spec={"half": FixedLenFeature([], "float32")})[1] == {"half": 0.5}
    assert load_dataset(**asked, message="bytes").column_names == ["record"]


def test_the_sisters_read_files(files: Any, tmp_path: Path) -> None:
    (path,) = files(a=DATA)
    cache = str(tmp_path / "cache")
    spec = {"id": FixedLenFeature([], "int64")}
    assert list(Dataset.from_tfrecord(path, cache_dir=cache)) == ROWS
    assert Dataset.from_tfrecord(path, cache_dir=cache, spec=spec).column_names == ["id"]
    assert list(IterableDataset.from_tfrecord(path, columns=["id"]))[7] == {"id": 7}
    assert DatasetDict.from_tfrecord({"test": path}, cache_dir=cache)["test"].num_rows == 40


# -- options -----------------------------------------------------------------------------------------------------------


def config_id(path: str, **options: Any) -> str:
    return str(builder_class("tfrecord")(data_files={"train": [path]}, **options).config_id)


def test_specs_are_told_by_what_they_say(files: Any) -> None:
    (path,) = files(a=DATA)
    ours = config_id(path, spec={"id": FixedLenFeature([], "int64"), "text": VarLenFeature("string")})
    assert ours == config_id(path, spec={"id": FixedLenFeature((), np.int64), "text": VarLenFeature(bytes)})
    assert ours == config_id(path, spec={b"id": FixedLenFeature(shape=[], dtype=int), "text": VarLenFeature(str)})
    others = [
        config_id(path),
        config_id(path, spec={"text": VarLenFeature("string"), "id": FixedLenFeature([], "int64")}),
        config_id(path, spec={"id": FixedLenFeature([1], "int64"), "text": VarLenFeature("string")}),
        config_id(path, spec={"id": FixedLenFeature([], "int64", 0), "text": VarLenFeature("string")}),
        config_id(path, columns=["id"]),
    ]
    assert len({ours, *others}) == len(others) + 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"message": "json"}, "message='json'"),
        ({"compression": "lzma"}, "compression='lzma'"),
        ({"columns": "id"}, "columns='id' is a string"),
        ({"columns": ["id", "id"]}, "names 'id' twice"),
        ({"spec": {"id": FixedLenFeature([], "int32")}}, "'id' has dtype 'int32'"),
        ({"spec": {"id": 7}}, "'id'"),
        ({"spec": ["id"]}, "is not a mapping"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], words: str, files: Any, load: Any) -> None:
    with pytest.raises((ConfigurationError, TypeError), match=words):
        load(files(a=DATA), **options)


def test_a_second_load_reads_what_stands(files: Any, load: Any) -> None:
    (path,) = files(a=DATA)
    spec = {"id": FixedLenFeature([], "int64")}
    first = load([path], spec=spec)
    with using(offline=True):
        second = load([path], spec={"id": FixedLenFeature((), int)})
    assert first.cache_files == second.cache_files


def test_records_of_compressed_files_are_counted(files: Any, load: Any) -> None:
    paths = files(a=gzip.compress(content(ROWS[:20]), mtime=0), b=content(ROWS[20:]))
    assert list(load(paths, "train[15:-15]", streaming=True)) == ROWS[15:25]


def test_a_column_that_no_record_has_is_refused(files: Any, load: Any) -> None:
    (path,) = files(a=content(ROWS))
    for options in ({}, {"streaming": True}):
        with pytest.raises(FileFormatError, match=r"have no feature 'none'. Choose columns= among 'id', 'text', 'half'"):
            list(load([path], columns=["id", "none"], **options))


def test_a_column_that_is_none_in_all_records_is_told_once(files: Any, load: Any, caplog: pytest.LogCaptureFixture) -> None:
    found = files(a=content(ROWS), b=content(ROWS))
    features = Features({"id": Value("int64"), "txt": Value("binary")})
    stream = load(found, features=features, streaming=True)
    assert [row["txt"] for row in stream] == [None] * 80
    told = [entry.getMessage() for entry in caplog.records if entry.levelname == "WARNING"]
    assert len(told) == 1 and told[0].endswith(
        "a.tfrecord: column 'txt' of features= has no value in the first 40 records; they have 'id', 'text', 'half'."
    )
    caplog.clear()
    assert len(load(found, features=features)) == 80
    assert caplog.text.count("column 'txt' of features= has no value") == 1
    caplog.clear()
    load(found, features=Features({"id": Value("int64")}))
    assert "features=" not in caplog.text


def test_images_are_decoded(files: Any, load: Any) -> None:
    image = pytest.importorskip("PIL.Image")
    sink = io.BytesIO()
    image.new("RGB", (4, 3), (9, 0, 0)).save(sink, "PNG")
    features = Features({"image": Image(), "label": ClassLabel(names=["a", "b"])})
    paths = files(a=content([{"image": sink.getvalue(), "label": 1}]))
    for streaming in (False, True):
        (row,) = load(paths, features=features, streaming=streaming)
        assert (row["image"].size, row["image"].getpixel((0, 0)), row["label"]) == ((4, 3), (9, 0, 0), 1)


def test_a_dataset_that_stands_is_read_without_what_reads_records(files: Any, load: Any, tmp_path: Path) -> None:
    (path,) = files(a=DATA)
    load([path])
    call = f"load_dataset('tfrecord', data_files=[{path!r}], split='train', cache_dir={str(tmp_path / 'cache')!r})"
    code = f"import sys\nfrom datasets_core import load_dataset\nassert {call}[3]['id'] == 3\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "datasets_core.builders.tfrecord" in done.stdout.split()
    assert "datasets_core.records.examples" not in done.stdout.split()
