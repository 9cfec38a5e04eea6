"""`lock_dataset`, and `load_dataset(lock=)`: what moves is refused, and named."""

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from datasets_core import config
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DamagedShardError,
    DatasetDiskError,
    FileNotFoundDatasetsError,
    LockDriftError,
    ManifestError,
    NonMatchingChecksumError,
)
from datasets_core.load import load_dataset, lock_dataset

SCRIPT = """
import datasets_core as datasets
from .words import PREFIX

class Birds(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="en"), datasets.BuilderConfig(name="fr")]
    DEFAULT_CONFIG_NAME = "en"

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("data/birds.txt")})]

    def _generate_examples(self, path):
        with open(path) as lines:
            for number, line in enumerate(lines):
                yield number, {"name": PREFIX + line.strip()}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of data files."""
    path = tmp_path / "birds"
    path.mkdir()
    (path / "train.csv").write_text("name,mass\nalba,3\nbrno,4\n")
    (path / "test.csv").write_text("name,mass\nciro,5\n")
    return path


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script with a module and a data file beside it."""
    path = tmp_path / "script" / "birds.py"
    (path.parent / "data").mkdir(parents=True)
    path.write_text(SCRIPT)
    path.with_name("words.py").write_text("PREFIX = ''\n")
    (path.parent / "data" / "birds.txt").write_text("alba\nbrno\n")
    return path


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "dataset.lock"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path) -> Any:
    (tmp_path / "locks").mkdir()
    with config.using(cache_dir=str(tmp_path / "cache")):
        yield


def _moved(path: Path, lock: Path, **reference: Any) -> tuple[str, ...]:
    with pytest.raises(LockDriftError) as caught:
        load_dataset(str(path), lock=str(lock), **reference)
    assert str(lock) in str(caught.value)
    return caught.value.moved


def test_a_dataset_that_is_what_it_was_loads(folder: Path, script: Path, lock: Path) -> None:
    for path in (folder, script):
        assert lock_dataset(path, lock=lock, update=True).is_written
        assert not lock_dataset(path, lock=lock).is_written
        assert len(load_dataset(str(path), split="train", lock=lock)) == 2


def test_another_checkout_and_another_cache_load_by_the_same_lock(folder: Path, lock: Path, tmp_path: Path) -> None:
    lock_dataset(folder, lock=lock)
    shutil.copytree(folder, tmp_path / "elsewhere" / "checkout")
    rows = load_dataset(str(tmp_path / "elsewhere" / "checkout"), split="test", lock=lock, cache_dir=str(tmp_path / "other"))
    assert rows["name"][:] == ["ciro"]
    assert str(tmp_path) not in lock.read_text()


def test_other_shards_and_formats_are_the_same_rows(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    with config.using(max_shard_bytes=1, batch_rows=1):
        assert len(load_dataset(str(folder), split="train", lock=lock, download_mode="force_redownload")) == 2


def test_true_is_the_lock_beside_the_dataset_or_in_the_present_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_dataset(folder, lock=folder / "dataset.lock")
    assert load_dataset(str(folder), lock=True)["test"]["name"][:] == ["ciro"]
    (folder / "dataset.lock").rename(tmp_path / "dataset.lock")
    monkeypatch.chdir(tmp_path)
    assert load_dataset("birds", lock=True)["test"]["name"][:] == ["ciro"]
    (tmp_path / "dataset.lock").unlink()
    with pytest.raises(FileNotFoundDatasetsError, match=r"birds/dataset\.lock does not exist"):
        load_dataset("birds", lock=True)


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "changed": (lambda path: (path / "train.csv").write_text("name,mass\nalba,3\nbrno,5\n"), ["train.csv changed"]),
    "added": (lambda path: (path / "dev.csv").write_text("name,mass\n"), ["dev.csv is new"]),
    "removed": (lambda path: (path / "test.csv").unlink(), ["test.csv is gone"]),
    "moved": (lambda path: (path / "test.csv").rename(path / "test-2.csv"), ["test.csv moved to test-2.csv"]),
    "two": (lambda path: [(path / name).write_text("name,mass\nx,1\n") for name in ("test.csv", "dev.csv")],
            ["test.csv changed", "dev.csv is new"]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_not_what_it_was_is_named(change: str, folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    act, lines = CHANGES[change]
    act(folder)
    moved = _moved(folder, lock)
    assert [line.partition(" (")[0] for line in moved] == lines


def test_a_byte_that_was_flipped_without_a_trace_is_found(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    status = os.stat(folder / "train.csv")
    (folder / "train.csv").write_text("name,mass\nalbA,3\nbrno,4\n")
    os.utime(folder / "train.csv", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [line.partition(" (")[0] for line in _moved(folder, lock)] == ["train.csv changed"]


@pytest.mark.parametrize("name", ["birds.py", "words.py"])
def test_a_changed_script_does_not_build(name: str, script: Path, lock: Path) -> None:
    lock_dataset(script, lock=lock)
    changed = script.with_name(name)
    changed.write_text(changed.read_text() + "\n# another\n")
    assert [line.partition(" (")[0] for line in _moved(script, lock)] == ["the script changed"]


def test_the_data_of_a_script_is_held_before_it_runs(script: Path, lock: Path) -> None:
    lock_dataset(script, lock=lock)
    assert [file["path"] for file in json.loads(lock.read_text())["files"]] == ["data/birds.txt"]
    (script.parent / "data" / "birds.txt").write_text("alba\n")
    assert [line.partition(" (")[0] for line in _moved(script, lock)] == ["data/birds.txt changed"]


def test_another_config_option_or_type_is_refused(script: Path, folder: Path, lock: Path) -> None:
    lock_dataset(script, lock=lock)
    assert _moved(script, lock, name="fr") == ("the config was 'en' and is 'fr'",)
    lock_dataset(folder, lock=lock, update=True)
    assert "the option 'sep' is new (';')" in _moved(folder, lock, sep=";")


def test_columns_and_rows_are_held_even_where_the_files_are_not_looked_at(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    form = json.loads(lock.read_text())
    form["splits"][0]["rows"] = 7
    form["features"]["weight"] = form["features"].pop("mass")
    lock.write_text(json.dumps(form))
    assert _moved(folder, lock) == (
        'the column \'weight\' is gone (it was {"_type": "Value", "dtype": "int64"})',
        'the column \'mass\' is new ({"_type": "Value", "dtype": "int64"})',
        "the split 'train' had 7 rows and has 2",
    )


def test_another_library_is_refused(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    lock.write_text(lock.read_text().replace('"pyarrow": "', '"pyarrow": "0.'))
    assert _moved(folder, lock)[0].startswith("the library 'pyarrow' was 0.")


def test_a_lock_that_says_something_else_is_replaced_only_on_request(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    before = lock.read_text()
    (folder / "test.csv").write_text("name,mass\nciro,6\nduo,7\n")
    with pytest.raises(LockDriftError, match=r"test\.csv changed"):
        lock_dataset(folder, lock=lock)
    assert lock.read_text() == before
    outcome = lock_dataset(folder, lock=lock, update=True)
    assert [line.partition(" (")[0] for line in outcome.moved] == ["test.csv changed", "the split 'test' had 1 rows and has 2"]
    assert len(load_dataset(str(folder), split="test", lock=lock)) == 2


def test_downloads_are_held_by_url(script: Path, lock: Path, tmp_path: Path) -> None:
    script.write_text(SCRIPT.replace("data/birds.txt", f"memory://{tmp_path}/birds.txt"))
    store = fsspec.filesystem("memory")
    store.pipe_file(f"{tmp_path}/birds.txt", b"alba\n")
    lock_dataset(script, lock=lock)
    assert len(load_dataset(str(script), split="train", lock=lock, cache_dir=str(tmp_path / "new"))) == 1
    store.pipe_file(f"{tmp_path}/birds.txt", b"ALBA\n")
    with pytest.raises(LockDriftError) as caught:
        load_dataset(str(script), lock=lock, cache_dir=str(tmp_path / "newer"))
    assert f"memory://{tmp_path}/birds.txt has sha256" in caught.value.moved[0]
    assert isinstance(caught.value.__cause__, NonMatchingChecksumError)


def test_a_file_outside_of_the_folder_is_known_by_its_name(folder: Path, lock: Path, tmp_path: Path) -> None:
    files = {"train": str(folder / "train.csv")}
    (tmp_path / "outside.csv").write_text("name,mass\nduo,7\n")
    reference: dict[str, Any] = {"data_files": {**files, "test": str(tmp_path / "outside.csv")}}
    lock_dataset(folder, lock=lock, **reference)
    assert {"name": "outside.csv", "size": 16}.items() <= json.loads(lock.read_text())["files"][0].items()
    load_dataset(str(folder), lock=lock, **reference)
    (tmp_path / "outside.csv").write_text("name,mass\nduo,8\n")
    assert _moved(folder, lock, **reference)[0].startswith("outside.csv changed")


def test_a_broken_lock_is_named_by_its_line(folder: Path, lock: Path) -> None:
    lock.write_text('{\n"form": 1\n"dataset"}')
    with pytest.raises(ManifestError, match="line 3"):
        load_dataset(str(folder), lock=lock)
    with pytest.raises(ManifestError, match="line 3"):
        lock_dataset(folder, lock=lock, update=True)


def test_arguments_that_mean_nothing_are_refused(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    with pytest.raises(ArgumentTypeError, match="lock is 3"):
        load_dataset(str(folder), lock=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="Leave one out"):
        load_dataset(str(folder), lock=lock, register_checksums=True)


@pytest.mark.parametrize("is_time_kept", [False, True])
def test_bytes_that_changed_in_the_cache_are_never_given_out(
    is_time_kept: bool, folder: Path, lock: Path, tmp_path: Path
) -> None:
    lock_dataset(folder, lock=lock)
    (shard,) = (tmp_path / "cache").rglob("*train*.arrow")
    status = shard.stat()
    shard.write_bytes(shard.read_bytes().replace(b"brno", b"BRNO"))
    if is_time_kept:
        os.utime(shard, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(DamagedShardError, match="is on record"):
        load_dataset(str(folder), split="train", lock=lock)
    with pytest.raises(DamagedShardError, match="is on record"):
        lock_dataset(folder, lock=lock, update=True)
    assert load_dataset(str(folder), split="train", lock=lock, verification_mode="no_checks")["name"][1] == "BRNO"
    again = load_dataset(str(folder), split="train", lock=lock, download_mode="force_redownload")
    assert again["name"][:] == ["alba", "brno"]


def test_no_value_of_a_lock_can_be_changed_unnoticed(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    form = json.loads(lock.read_text())

    def values(inner: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        for key in inner if isinstance(inner, dict) else range(len(inner)):
            if isinstance(inner[key], (dict, list)):
                yield from values(inner[key], (*path, key))
            yield (*path, key)

    seen = 0
    for path in values(form, ()):
        for change in (_other, lambda value: None):
            changed = copy.deepcopy(form)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = change(inner[path[-1]])
            if (path == ("dataset",) and inner["dataset"]) or changed == form:
                continue  # another checkout may be called otherwise
            lock.write_text(json.dumps(changed))
            with pytest.raises((LockDriftError, ManifestError)):
                load_dataset(str(folder), split="train", lock=lock)
            seen += 1
    assert seen > 50


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return "0" * 64 if len(value) == 64 else value + "x"
    if isinstance(value, dict):
        return {**value, "more": {"_type": "Value", "dtype": "int8"}}
    return value[:-1] if isinstance(value, list) else (value or 0) + 1


def test_a_lock_that_cannot_be_written_is_refused_before_the_build(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=r"x\.lock cannot be written: there is no folder .*missing"):
        lock_dataset(folder, lock=tmp_path / "missing" / "x.lock")
    with pytest.raises(DatasetDiskError, match=r"/proc/x\.lock"):
        lock_dataset(folder, lock="/proc/x.lock")
    assert not (tmp_path / "cache").exists()


MANUAL = SCRIPT.replace("from .words import PREFIX", "import os\nPREFIX = ''").replace(
    'dl_manager.download("data/birds.txt")', 'os.path.join(dl_manager.manual_dir, "birds.txt")'
)


def test_a_relative_folder_of_manual_files_is_that_of_the_present_folder(
    lock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script" / "birds.py"
    script.parent.mkdir()
    script.write_text(MANUAL)
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "birds.txt").write_text("alba\n")
    monkeypatch.chdir(tmp_path)
    lock_dataset("script/birds.py", lock=lock, data_dir="manual")
    assert [file["name"] for file in json.loads(lock.read_text())["files"]] == ["birds.txt"]
    assert len(load_dataset("script/birds.py", split="train", lock=lock, data_dir="manual")) == 1
    (tmp_path / "manual" / "birds.txt").write_text("brno\n")
    assert _moved(script, lock, data_dir="manual")[0].startswith("birds.txt changed")
