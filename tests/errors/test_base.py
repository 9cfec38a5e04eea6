"""Errors say what happened and what to do, and cross process borders whole."""

import builtins
import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import Dataset, Value, errors, load_dataset

CLASSES = [
    found
    for _, found in inspect.getmembers(errors, inspect.isclass)
    if issubclass(found, errors.DatasetsCoreError) and found.__module__ == "datasets_core.errors"
]

SAMPLES = [
    errors.UnknownConfigError("fr", dataset="acme/reviews", known=["en", "de"]),
    errors.UnknownSplitError("tran", known=["train", "test"], dataset="acme/reviews"),
    errors.FileFormatError("a.csv", "5 fields where 4 are expected", line=7),
    errors.DatasetDiskError("/data/x", "No space left on device", needed=10, free=3),
    errors.NonMatchingChecksumError("http://h/x", expected="aa", found="bb"),
    errors.DownloadError("http://h/x", "the server answered 404", status=404),
    errors.FileChangedError("http://h/x"),
    errors.MediaDecodeError("image 'a.png'", "it is cut").at(column="image", row=3),
    errors.UntrustedPathError("/etc/passwd", allowed=["/data"]),
    errors.MediaNotFoundError("a.png"),
    errors.UntrustedScriptError("a.py"),
    errors.HubError("org/name", "has a listing with '../a' in it", "Tell its owner", revision="main"),
    errors.RepositoryNotFoundError("org/name", token_sent=True, endpoint="https://hub", status=404),
    errors.DisabledRepositoryError("org/name", "was taken off", "Ask its owner"),
    errors.GatedRepositoryError("org/name", token_sent=False, page="https://hub/datasets/org/name", status=401),
    errors.InvalidTokenError("The Hub does not know the token", repo_id="org/name", status=401),
    errors.RevisionNotFoundError("org/name", "v9", known=["main"], status=404),
    errors.HubUnreachableError("hf://datasets/org/name", "no connection", repo_id="org/name", revision="main"),
    errors.EmptyRepositoryError("org/name", revision="main"),
    errors.PushConflictError("org/name", "was pushed to by others 5 times in a row", "Push again"),
    errors.DamagedRecordError("a.tfrecord", "data CRC", record=7, offset=1234, reason="it is 0x1, and 0x2 is recorded"),
    errors.ExampleError("a.tfrecord", "has 3 values where 4 are needed", record=7, key="box"),
    errors.ColumnLimitError("a.parquet", 901, limit=900),
    errors.OutOfRangeError("provider of 3 files", num_samples=9),
    errors.DuplicateKeysError("k1", split="train", places=["row 3", "row 9"]),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_facts(error: errors.DatasetsCoreError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


FIELDS = ("file", "line", "row", "split", "value", "advice")
FOUND: list[tuple[errors.DatasetsCoreError, dict[str, Any]]] = [
    (errors.ConfigurationError("x"), {}),
    (errors.DatasetsCoreError("It ends", advice="Go on"), {"advice": "Go on"}),
    (
        errors.ConfigurationError("Invalid n=3 in a.py", advice="Give 4", value=3, file="a.py"),
        {"value": 3, "file": "a.py", "advice": "Give 4"},
    ),
    (errors.UnknownConfigError("fr", dataset="d", known=["en"]), {"value": "fr"}),
    (errors.UnknownSplitError("tran", known=["train"]), {"value": "tran"}),
    (errors.UnknownOptionError("spe", builder="csv", known=["sep"]), {"value": "spe"}),
    (errors.UnknownColumnError("txt", known=["text"]), {"value": "txt"}),
    (errors.UnknownItemError("txt", known=["text"]), {"value": "txt"}),
    (errors.UnknownFeatureError("k", item="i", known=[]), {"value": "k"}),
    (errors.UnknownFormatError("cvs", known=["csv"]), {"value": "cvs"}),
    (errors.UnknownVersionError("9", dataset="d", known=[]), {"value": "9"}),
    (errors.UnknownExperimentError("fast"), {"value": "fast"}),
    (errors.UnpreparableVersionError("1", dataset="d", release=None, known=[], where="/d"), {"value": "1", "file": "/d"}),
    (errors.BlockedVersionError("d/1"), {"advice": "Choose another version or config"}),
    (errors.SplitSyntaxError("train[", "it ends"), {"value": "train["}),
    (errors.EmptySplitError("train[:0]", dataset="d"), {"split": "train[:0]"}),
    (errors.RankError(4, world_size=4), {"value": 4}),
    (errors.RowIndexError(9, size=3), {"value": 9}),
    (errors.RowIdError("x__9", "it has 3 rows"), {"value": "x__9"}),
    (errors.MissingRowIdsError(7), {"row": 7}),
    (errors.MaskLengthError(2, size=3), {"value": 2, "advice": "Pass one boolean for each row"}),
    (errors.QueryError("SELECT", "it ends", advice="Go on"), {"value": "SELECT", "advice": "Go on"}),
    (
        errors.FileFormatError("a.csv", "5 fields where 4 are expected", line=7),
        {"file": "a.csv", "line": 7, "advice": "Fix the file, or leave it out of data_files"},
    ),
    (
        errors.ExampleError("a.tfrecord", "has 3 values", record=7, key="box", advice="Ask for 3"),
        {"file": "a.tfrecord", "row": 7, "advice": "Ask for 3"},
    ),
    (
        errors.ColumnLimitError("a.parquet", 901, limit=900),
        {
            "file": "a.parquet",
            "value": 901,
            "advice": "Raise the setting max_columns, which is 900, if you trust the file",
        },
    ),
    (
        errors.CellCastError("a", "it is not a number", row=3),
        {"row": 3, "advice": "Fix the value, or the feature of the column"},
    ),
    (errors.ItemError("it lacks a key"), {"advice": "Fix the record, or the handler of the item"}),
    (errors.DatasetGenerationError("It failed at row 3.", row=3), {"row": 3}),
    (
        errors.DatasetGenerationError("a.py failed.").placed("a.py, line 4", split="test"),
        {"file": "a.py", "line": 4, "split": "test"},
    ),
    (
        errors.DuplicateKeysError("k", split="train", places=["row 3"], place="/b/a.py, line 9"),
        {"value": "k", "split": "train", "file": "/b/a.py", "line": 9},
    ),
    (
        errors.InvalidKeyError([1], row=2).of("train", "a.py, line 3 or 5"),
        {"value": [1], "row": 2, "split": "train", "file": "a.py"},
    ),
    (
        errors.MediaNotFoundError("a.png").at(column="image", row=3),
        {"file": "a.png", "row": 3, "advice": "Fix the path, or put the file there"},
    ),
    (errors.ScriptError("a.py", "it ends", line=2), {"file": "a.py", "line": 2, "advice": "Fix the script"}),
    (
        errors.ScriptTimeoutError("a.py", "making rows", seconds=1, path="b.py", line=3, split="test", row=8),
        {"file": "b.py", "line": 3, "split": "test", "row": 8},
    ),
    (errors.DeniedAccessError("read '/x'", path="a.py", line=3), {"file": "a.py", "line": 3, "value": "read '/x'"}),
    (errors.UntrustedScriptError("a.py"), {"file": "a.py"}),
    (errors.ConfinementUnavailableError("no seccomp", advice="Update"), {"advice": "Update"}),
    (errors.FileInPlaceError("/data/x"), {"file": "/data/x"}),
    (errors.DatasetDiskError("/data/x", "No space"), {"file": "/data/x"}),
    (errors.ManualDownloadError("d", "Log in there."), {"advice": "Log in there."}),
    (
        errors.NonMatchingChecksumError("http://h/x", expected="aa", found="bb"),
        {"file": "http://h/x", "value": "bb", "advice": "Delete the file from the cache, or fix the record"},
    ),
    (errors.MissingChecksumError(["http://h/x"], path="checksums.tsv"), {"file": "checksums.tsv"}),
    (errors.LockDriftError("dataset.lock", ["x"]), {"file": "dataset.lock"}),
    (errors.ManifestError("i.json", "it ends"), {"file": "i.json", "advice": "Fix or delete that file"}),
    (errors.DamagedShardError("a.arrow", "it ends", advice="Fetch it"), {"file": "a.arrow", "advice": "Fetch it"}),
    (
        errors.DownloadError("http://h/x", "404"),
        {"file": "http://h/x", "advice": "Check the address and the connection, then run again"},
    ),
    (errors.HubError("org/name", "is gone", "Tell its owner"), {"advice": "Tell its owner"}),
    (
        errors.RevisionNotFoundError("org/name", "v9"),
        {"value": "v9", "advice": "Give a branch, a tag or a full commit hash as revision="},
    ),
    (
        errors.DamagedRecordError("a.tfrecord", "data CRC", record=7, offset=1234, reason="it is 0x1", advice="Fetch it"),
        {"file": "a.tfrecord", "row": 7, "advice": "Fetch it"},
    ),
    (
        errors.EmptyRepositoryError("org/name"),
        {"advice": "Add data files (CSV, JSON, Parquet, text, images, …), or name files with data_files="},
    ),
    (
        errors.FileChangedError("http://h/x"),
        {"file": "http://h/x", "advice": "Load the dataset again; states saved with the old file are invalid"},
    ),
    (
        errors.GatedRepositoryError("org/name", token_sent=False, page="https://hub/x"),
        {"advice": "Request access at https://hub/x and log in (hf auth login, HF_TOKEN or token='hf_…')"},
    ),
    (
        errors.HubUnreachableError("hf://datasets/a/b", "no connection", repo_id="a/b"),
        {"file": "hf://datasets/a/b", "advice": "Check the connection and HF_ENDPOINT, then run again"},
    ),
    (errors.InvalidTokenError("The Hub does not know the token", advice="Log in"), {"advice": "Log in"}),
    (
        errors.MediaDecodeError("image 'a.png'", "it is cut").at(column="image", row=3),
        {"row": 3, "advice": "Fix the file, leave the row out, or read the stored bytes with decode=False"},
    ),
    (errors.MediaError("image 'a.png'", "is cut", "Fix it", row=3), {"row": 3, "advice": "Fix it"}),
    (
        errors.MissingDependencyError("nibabel", needed_for="Decoding", install="datasets_core[science]"),
        {"advice": "Run: pip install 'datasets_core[science]'"},
    ),
    (errors.MissingVersionError("acme/reviews"), {"advice": "Set VERSION = Version('1.0.0') in its class"}),
    (errors.NestedQueueRunnerError(), {"advice": "Remove the inner block"}),
    (errors.NoDataFilesError("data/*.tfrecord"), {"value": "data/*.tfrecord", "advice": "Check the path or pattern"}),
    (errors.NotPreparedError("train"), {"value": "train", "advice": "Call download_and_prepare() first"}),
    (errors.OutOfRangeError("provider", num_samples=9), {"advice": "Pass num_epochs=None to repeat without end"}),
    (
        errors.RepositoryNotFoundError("org/name", token_sent=True),
        {"advice": "Check its name, or ask its owner for access"},
    ),
    (
        errors.ScriptMemoryError("a.py", limit=1 << 30),
        {"advice": "Keep less in memory at a time, or raise the setting confined_memory_bytes"},
    ),
    (errors.TooManyErrorsError(9, 8, {"CastError": 9}), {"advice": "Fix the rows or the function, or raise max_errors"}),
    (
        errors.UntrustedPathError("/etc/passwd", allowed=["/data"]),
        {
            "file": "/etc/passwd",
            "advice": "If you trust the data, allow its folder or URL: datasets_core.config.using(media_paths=[…])",
        },
    ),
    (errors.WorkerDiedError("A worker died.", job=3), {}),
    (
        errors.WrongVersionError("d", old="1.0.0", new="1.0.1", right="2.0.0", level="major", changes=["x"]),
        {"value": "1.0.1", "advice": "Use version 2.0.0 or higher, or build without check_version"},
    ),
]


def test_the_fields_of_every_error_are_looked_at() -> None:
    own = {cls for cls in CLASSES if "__init__" in vars(cls)}
    assert own - {type(error) for error, _ in FOUND} == set()


@pytest.mark.parametrize(
    ("error", "fields"), FOUND, ids=lambda each: type(each).__name__ if isinstance(each, Exception) else ""
)
def test_an_error_tells_in_fields_what_it_is_about(error: errors.DatasetsCoreError, fields: dict[str, Any]) -> None:
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert {name: getattr(each, name) for name in FIELDS if getattr(each, name) is not None} == fields
    for field in ("file", "row", "value", "advice"):
        if field in fields and not isinstance(fields[field], list):
            assert str(fields[field]).rstrip(".") in str(error)


def test_a_value_that_cannot_be_pickled_travels_as_its_text() -> None:
    value = lambda: None  # noqa: E731
    copy = pickle.loads(pickle.dumps(errors.ConfigurationError("Invalid f", advice="Give a name", value=value)))
    assert (copy.value, str(copy)) == (repr(value), "Invalid f. Give a name.")


SCRIPT = """
import datasets_core as datasets

class Birds(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int8")}))
    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="test", gen_kwargs={})]
    def _generate_examples(self):
        yield 0, {"a": 1}
        yield 1, {"a": 2}
        PLACE
"""
FAILURES: dict[str, tuple[type[errors.DatasetsCoreError], dict[str, Any]]] = {
    "raise OSError('gone')": (errors.DatasetGenerationError, {"row": 2, "line": 12}),
    "yield 2, 5": (errors.DatasetGenerationError, {"row": 2}),
    "yield 2, {'a': 'x'}": (errors.DatasetGenerationCastError, {"row": 2, "line": 12}),
    "yield 1, {'a': 3}": (errors.DuplicateKeysError, {"value": 1, "line": 12}),
    "yield None, {'a': 3}": (errors.InvalidKeyError, {"row": 2, "line": 12}),
}


@pytest.mark.parametrize("code", FAILURES)
def test_a_script_that_fails_is_told_by_fields(tmp_path: Path, code: str) -> None:
    (tmp_path / "birds.py").write_text(SCRIPT.replace("PLACE", code), encoding="utf-8")
    kind, fields = FAILURES[code]
    with pytest.raises(kind) as caught:
        load_dataset(str(tmp_path / "birds.py"), cache_dir=str(tmp_path / "cache"), trust_remote_code=True)
    found = {"split": "test", **fields}
    assert {name: getattr(caught.value, name) for name in found} == found
    assert caught.value.file is not None and caught.value.file.endswith("birds.py")


def test_data_that_does_not_fit_is_told_by_fields(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n1,2\n3,"4\n', encoding="utf-8")
    with pytest.raises(errors.FileFormatError) as file:
        load_dataset("csv", data_files=str(tmp_path / "a.csv"), cache_dir=str(tmp_path / "cache"))
    assert file.value.file == str(tmp_path / "a.csv") and file.value.advice
    rows = Dataset.from_dict({"a": ["1", "x"]})
    with pytest.raises(errors.CellCastError) as cell:
        rows.cast_column("a", Value("int8"))
    assert (cell.value.row, cell.value.column) == (1, "a")
    with pytest.raises(errors.UnknownColumnError) as column:
        rows["b"]
    assert column.value.value == "b"
    with pytest.raises(errors.RowIndexError) as row:
        rows[5]
    assert row.value.value == 5
    with pytest.raises(errors.UnknownSplitError) as split:
        Dataset.from_generator(lambda: iter([{"a": 1}]), split="train").info.splits["tran"]  # type: ignore[index]
    assert split.value.value == "tran"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_has_a_docstring(cls: type[Exception]) -> None:
    assert cls.__doc__


def test_an_unknown_split_is_both_errors_that_callers_expect() -> None:
    error = errors.UnknownSplitError("tran", known=["train"])
    assert isinstance(error, ValueError)
    assert isinstance(error, KeyError)
    assert (error.value, error.known) == ("tran", ("train",))


def test_the_errors_of_hugging_face_have_the_bases_they_have_there() -> None:
    bases = {
        "CastError": ("ValueError",),
        "ChecksumVerificationError": ("DatasetsError",),
        "DataFilesNotFoundError": ("FileNotFoundDatasetsError",),
        "DatasetBuildError": ("DatasetsError",),
        "DatasetGenerationCastError": ("DatasetGenerationError",),
        "DatasetGenerationError": ("DatasetBuildError",),
        "DatasetNotFoundError": ("FileNotFoundDatasetsError",),
        "DatasetsError": ("Exception",),
        "DefunctDatasetError": ("DatasetsError",),
        "ExpectedMoreDownloadedFilesError": ("ChecksumVerificationError",),
        "ExpectedMoreSplitsError": ("SplitsVerificationError",),
        "FileFormatError": ("DatasetBuildError",),
        "FileNotFoundDatasetsError": ("DatasetsError", "FileNotFoundError"),
        "ManualDownloadError": ("DatasetBuildError",),
        "NonMatchingChecksumError": ("ChecksumVerificationError",),
        "NonMatchingSplitsSizesError": ("SplitsVerificationError",),
        "SplitsVerificationError": ("DatasetsError",),
        "UnexpectedDownloadedFileError": ("ChecksumVerificationError",),
        "UnexpectedSplitsError": ("SplitsVerificationError",),
    }
    found = {
        name: tuple(
            base for base in wanted if issubclass(getattr(errors, name), getattr(errors, base, getattr(builtins, base, ())))
        )
        for name, wanted in bases.items()
    }
    assert found == bases


def test_long_lists_of_names_are_cut() -> None:
    error = errors.UnknownSplitError("x", known=[f"s{i}" for i in range(50)])
    assert "50 in all" in str(error)
    assert "'s30'" not in str(error)


@pytest.mark.parametrize(("option", "meant"), [("seperator", "'sep'"), ("delimeter", "'delimiter'")])
def test_a_mistyped_option_is_told_from_the_others(option: str, meant: str) -> None:
    error = errors.UnknownOptionError(option, builder="csv", known=["lineterminator", "sep", "delimiter"])
    assert f"Did you mean {meant}?" in str(error)


@given(st.text(), st.sampled_from([name for name in dir(errors) if isinstance(getattr(errors, name), type)]))
def test_no_message_has_what_a_terminal_obeys(text: str, name: str) -> None:
    cls = getattr(errors, name)
    if issubclass(cls, errors.DatasetsCoreError):
        shown = str(errors.rebuild(cls, (text,), {}))
        assert not any(each in shown for each in map(chr, (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0xD800)))
        assert shown == text or not text.isprintable()


def test_no_message_is_without_end() -> None:
    assert len(str(errors.ConfigurationError("a" * 1_000_000))) < 60_000


@pytest.mark.parametrize("text", ["[" + "[]," * 900_000 + "[]]", "{" + ",".join(f'"{n}":{{}}' for n in range(700_000)) + "}"])
def test_json_of_very_many_values_is_not_read(text: str, tmp_path: Path) -> None:
    for form in (text, text.encode()):
        with pytest.raises(ValueError, match="too many for a description"):
            errors.bounded_json(form)
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "dataset_infos.json").write_text(text)
    with pytest.raises(errors.ManifestError, match="too many for a description"):
        load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
