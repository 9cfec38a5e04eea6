"""A lock as a value: its text, how it is read, and what differs between two."""

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core._version import __version__
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.lock import (
    DatasetLock,
    LockedFile,
    LockedSplit,
    differences,
    file_differences,
    held_to,
    lock_of,
    parse_lock,
    read_lock,
)
from datasets_core.errors import DataFilesNotFoundError, FileNotFoundDatasetsError, LockDriftError, ManifestError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset_builder
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.equality import data_fingerprint

ONE, TWO = "1" * 64, "2" * 64
A, B = LockedFile("path", "data/a.csv", 12, ONE), LockedFile("url", "https://example.org/b.csv", 13, TWO, '"v1"')
LOCK = DatasetLock(
    dataset="birds",
    config="en",
    version="1.0.0",
    options={"sep": ";", "header": None},
    commit=None,
    script=ONE,
    files=(A, B),
    features={"name": {"dtype": "string", "_type": "Value"}, "mass": {"dtype": "int64", "_type": "Value"}},
    splits=(LockedSplit("train", 10, ONE), LockedSplit("test", 5, TWO)),
    fingerprint=TWO,
    library_versions={"datasets_core": "0.1.0", "pyarrow": "26.0.1", "python": "3.11"},
)


def test_what_is_written_is_read_again() -> None:
    found = parse_lock(LOCK.text(), path="dataset.lock")
    assert found == LOCK
    assert found.text() == LOCK.text()
    assert differences(found, LOCK) == []


def test_the_text_is_lines_in_one_order() -> None:
    text = LOCK.text()
    assert text.endswith("}\n")
    assert '"sep": ";"' in text
    other = dataclasses.replace(LOCK, files=(B, A), options=dict(reversed([*LOCK.options.items()])))
    assert other.text() == text
    assert list(json.loads(text)["features"]) == ["name", "mass"]


PARTS: list[tuple[dict[str, Any], str]] = [
    ({"config": "fr"}, "the config was 'en' and is now 'fr'"),
    ({"version": "1.0.1"}, "the version was '1.0.0' and is now '1.0.1'"),
    ({"commit": "abc"}, "the commit was None and is now 'abc'"),
    ({"script": TWO}, f"the script changed (sha256 {ONE[:16]}, then {TWO[:16]})"),
    ({"options": {"sep": ",", "header": None}}, "the option 'sep' was ';' and is now ','"),
    ({"options": {"sep": ";"}}, "the option 'header' was removed (it was None)"),
    ({"features": {"name": LOCK.features["name"]}}, "the column 'mass' was removed"),  # type: ignore[index]
    ({"features": {**LOCK.features, "x": {"_type": "Json"}}}, "the column 'x' was added"),  # type: ignore[dict-item]
    ({"features": {**LOCK.features, "mass": {"dtype": "int8"}}}, "the column 'mass' was"),  # type: ignore[dict-item]
    ({"splits": (LockedSplit("train", 11, ONE), LOCK.splits[1])}, "the split 'train' had 10 rows and now has 11"),  # type: ignore[index]
    ({"splits": (LockedSplit("train", 10, TWO), LOCK.splits[1])}, "the rows of split 'train' changed"),  # type: ignore[index]
    ({"fingerprint": ONE}, f"the fingerprint was {TWO[:16]} and is now {ONE[:16]}"),
    ({"features": dict(reversed([*LOCK.features.items()]))}, "the columns have another order: mass, name"),  # type: ignore[union-attr]
    ({"options": {"sep": ";", "header": False}}, "the option 'header' was None and is now False"),
    ({"splits": LOCK.splits[:1]}, "the split 'test' was removed (5 rows)"),  # type: ignore[index]
    ({"splits": LOCK.splits[::-1]}, "the splits have another order: test, train"),  # type: ignore[index]
    ({"library_versions": {**LOCK.library_versions, "pyarrow": "27.0.0"}}, "the library 'pyarrow' was 26.0.1"),
    ({"files": (A,)}, "https://example.org/b.csv was removed (13 bytes, sha256 2222222222222222)"),
    ({"files": (A, B, LockedFile("path", "c", 1, "3" * 64))}, "c was added (1 bytes, sha256 3333333333333333)"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "line"), PARTS)
def test_what_moved_is_said_in_a_line(change: dict[str, Any], line: str) -> None:
    found = differences(LOCK, dataclasses.replace(LOCK, **change))
    assert len(found) == 1
    assert found[0].startswith(line)


def test_everything_that_moved_is_said() -> None:
    changes = {name: value for change, _ in reversed(PARTS) for name, value in change.items()}
    assert len(differences(LOCK, dataclasses.replace(LOCK, **changes))) == 9


def test_another_name_is_no_difference() -> None:
    assert differences(LOCK, dataclasses.replace(LOCK, dataset="checkout")) == []


def test_what_is_not_known_yet_is_not_compared() -> None:
    assert differences(LOCK, dataclasses.replace(LOCK, files=None, features=None, splits=None)) == []


def test_a_file_that_moved_or_changed_is_told_so() -> None:
    moved = LockedFile("path", "data/sub/a.csv", 12, ONE)
    assert file_differences((A,), (moved,)) == ["data/a.csv moved to data/sub/a.csv"]
    changed = LockedFile("path", "data/a.csv", 12, TWO)
    assert file_differences((A,), (changed,)) == [
        "data/a.csv changed (12 bytes, sha256 1111111111111111, then 12 bytes, sha256 2222222222222222)"
    ]


def test_files_that_are_known_by_name_may_be_called_alike() -> None:
    files = [LockedFile("name", "a.csv", 1, sha) for sha in (ONE, TWO)]
    assert file_differences(tuple(files), tuple(reversed(files))) == []
    assert len(file_differences(tuple(files), (files[0],))) == 1


def test_where_no_sha256_is_known_the_etag_tells() -> None:
    old = LockedFile("url", "s3://x/a", 3, None, "v1")
    assert file_differences((old,), (LockedFile("url", "s3://x/a", 3, None, "v1"),)) == []
    assert len(file_differences((old,), (LockedFile("url", "s3://x/a", 3, None, "v2"),))) == 1


# -- what strangers write ----------------------------------------------------------------------------------------------


def _form() -> Any:
    return json.loads(LOCK.text())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "line 1, column 1"),
        (b'{\n"form": 1,\n"dataset" 3}', "line 3, column 11"),
        (b"[]", "the lock is []"),
        (b"\xff", "not UTF-8"),
        (b'{"form": 1, "form": 1}', "appears twice"),
        (b'{"form": true}', "form is true"),
        (b'{"form": 99}', "Upgrade datasets_core"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_lock_is_named_by_its_line(text: bytes, reason: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_lock(text, path="dataset.lock")
    assert str(caught.value).startswith("dataset.lock: ")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (("config",), 3, "config is 3"),
        (("options",), [], "options is []"),
        (("files",), {}, "files is {}"),
        (("files", 0), 3, "files[0] is 3"),
        (("files", 0), {"size": 3}, "one of 'path', 'url' and 'name'"),
        (("files", 0), {"path": "a", "url": "b", "size": 3}, "one of 'path', 'url' and 'name'"),
        (("files", 0, "path"), "../a", "below the folder"),
        (("files", 0, "path"), "/etc/passwd", "below the folder"),
        (("files", 0, "path"), "a\n", "below the folder"),
        (("files", 0, "path"), "a/./b", "below the folder"),
        (("files", 0, "size"), "12", 'files[0].size is "12"'),
        (("files", 0, "size"), 1e300, "files[0].size"),
        (("files", 0, "sha256"), "abc", "a sha256"),
        (("files", 0, "sha256"), None, "files[0].sha256 is null"),
        (("files", 0, "md5"), "abc", "files[0] has the unknown key 'md5'"),
        (("splits", 1, "shards"), ONE, "splits[1] has the unknown key 'shards'"),
        (("splits", 1, "name"), "train", "a unique name of a split"),
        (("form",), 0, "form is 0"),
        (("more",), 1, "the lock has the unknown key 'more'"),
        (("splits", 0, "rows"), -1, "splits[0].rows is -1"),
        (("splits", 0, "rows"), True, "splits[0].rows is true"),
        (("splits", 1, "sha256"), None, "splits[1].sha256 is null"),
        (("features",), None, "features is null"),
        (("library_versions", "pyarrow"), 26, "library_versions.pyarrow is 26"),
        (("fingerprint",), "x", "fingerprint"),
        (("script",), 7, "script is 7"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_by_its_key(place: tuple[Any, ...], value: Any, reason: str) -> None:
    form = _form()
    inner = form
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(ManifestError) as caught:
        parse_lock(json.dumps(form), path="dataset.lock")
    assert reason in str(caught.value)


JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@given(st.data())
def test_junk_anywhere_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    form = copy.deepcopy(_form())
    inner = form
    while True:
        step = data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        if not isinstance(inner[step], (dict, list)) or not inner[step] or data.draw(st.booleans()):
            break
        inner = inner[step]
    inner[step] = data.draw(JUNK)
    try:
        assert parse_lock(json.dumps(form), path="f").text()
    except ManifestError:
        pass


def test_a_missing_lock_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=r"lock_dataset"):
        read_lock(str(tmp_path / "dataset.lock"))
    with pytest.raises(ManifestError, match="cannot be read"):
        read_lock(str(tmp_path))


@pytest.mark.parametrize("key", ["commit", "script", "files", "splits", "fingerprint", "library_versions"])
def test_a_key_that_is_left_out_is_named(key: str) -> None:
    form = _form()
    del form[key]
    with pytest.raises(ManifestError, match=f"the lock lacks the key '{key}'"):
        parse_lock(json.dumps(form), path="dataset.lock")


def test_the_order_of_fields_counts_and_that_of_what_describes_them_does_not() -> None:
    x, y = {"dtype": "int8", "_type": "Value"}, {"dtype": "string", "_type": "Value"}
    old = dataclasses.replace(LOCK, features={"a": {"x": x, "y": y}})
    turned = dataclasses.replace(LOCK, features={"a": {"y": y, "x": x}})
    assert [line.partition(":")[0] for line in differences(old, turned)] == ["the fields of column 'a' have another order"]
    assert differences(old, dataclasses.replace(LOCK, features={"a": {"x": dict(reversed(x.items())), "y": y}})) == []


def test_a_sha256_that_one_of_two_lacks_is_a_difference() -> None:
    known = LockedFile("url", "s3://x/a", 3, ONE, "v1")
    assert len(file_differences((dataclasses.replace(known, sha256=None),), (known,))) == 1


OF_HUB = dataclasses.replace(LOCK, repository="org/name", revision="main", commit="c" * 40)


def test_the_lock_of_a_repository_says_which_and_where_in_it() -> None:
    git = LockedFile("path", "b.csv", 3, None, "f" * 40)
    lock = dataclasses.replace(OF_HUB, files=(git,))
    assert parse_lock(lock.text(), path="x.lock") == lock
    assert "repository" not in LOCK.text()
    moved = dataclasses.replace(lock, repository="org/other", revision="v2", commit="d" * 40)
    assert differences(lock, moved) == [
        "the repository was 'org/name' and is now 'org/other'",
        f"the commit was {'c' * 40!r} and is now {'d' * 40!r}",
    ]
    with pytest.raises(ManifestError, match=r"files\[0\].sha256"):  # of a folder each file is hashed
        parse_lock(dataclasses.replace(LOCK, files=(git,)).text(), path="x.lock")


@pytest.mark.parametrize("kind", ["path", "url"])
def test_files_of_the_hub_are_told_by_either_hash(kind: str) -> None:
    place = "a.csv" if kind == "path" else "hf://datasets/org/name/a.csv"
    both = LockedFile(kind, place, 3, ONE, "f" * 40)
    for same in (both, dataclasses.replace(both, sha256=None), dataclasses.replace(both, etag="")):
        assert file_differences((both,), (same,)) == []
        assert file_differences((same,), (both,)) == []
    for other in (
        dataclasses.replace(both, sha256=TWO),
        dataclasses.replace(both, sha256=None, etag="e" * 40),
        dataclasses.replace(both, sha256=None, size=4),
    ):
        assert len(file_differences((both,), (other,))) == 1


# What a dataset is made of, as its lock says it; what is refused is tested with `lock_dataset`.


class Numbers(GeneratorBasedBuilder):
    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"number": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"below": 3})]

    def _generate_examples(self, below: int) -> Any:
        yield from ((number, {"number": number}) for number in range(below))


def _built(path: Path, **options: Any) -> Any:
    builder = load_dataset_builder("csv", data_files=str(path), cache_dir=str(path.parent / "cache"), **options)
    builder.download_and_prepare()
    return builder


def test_a_lock_says_what_the_dataset_is_made_of(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1;2\n")
    lock = lock_of(_built(path, sep=";"), str(tmp_path))
    assert [(file.kind, file.place, file.size) for file in lock.files or ()] == [("path", "a.csv", 8)]
    assert lock.options == {"sep": ";"}
    assert list(lock.features or ()) == ["x", "y"]
    assert [(split.name, split.rows) for split in lock.splits or ()] == [("train", 1)]
    assert lock.fingerprint == data_fingerprint({split.name: split.sha256 for split in lock.splits or ()})
    assert lock.library_versions["datasets_core"] == __version__
    assert lock.library_versions["pyarrow"] == pa.__version__
    assert lock.script == ""


def test_a_class_without_a_script_file_is_locked_by_its_code(tmp_path: Path) -> None:
    builder = Numbers(cache_dir=str(tmp_path))
    builder.download_and_prepare()
    lock = lock_of(builder, str(tmp_path))
    assert len(lock.script) == 64
    again = Numbers(cache_dir=str(tmp_path / "new"))
    with held_to(lock, "dataset.lock", again, str(tmp_path)):
        again.download_and_prepare()


def test_options_that_json_has_no_word_for_are_told_by_their_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    lock = lock_of(_built(path, false_values=("no",)), str(tmp_path))
    assert str(lock.options["false_values"]).startswith("tuple ")


def test_a_source_that_is_gone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    builder = _built(path)
    lock = lock_of(builder, str(tmp_path))
    path.unlink()
    with pytest.raises(DataFilesNotFoundError, match=r"a\.csv, a source of the dataset, cannot be read"):
        lock_of(builder, str(tmp_path))
    with pytest.raises(LockDriftError, match=r"a\.csv was removed"), held_to(lock, "dataset.lock", builder, str(tmp_path)):
        pass
