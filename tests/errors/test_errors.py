"""Errors say what happened and what to do, and cross process borders whole."""

import builtins
import inspect
import pickle

import pytest

from datasets_core import errors

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
    errors.OutOfRangeError("provider of 3 files", num_samples=9),
    errors.DuplicateKeysError("k1", split="train", places=["row 3", "row 9"]),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_facts(error: errors.DatasetsCoreError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_has_a_docstring(cls: type[Exception]) -> None:
    assert cls.__doc__


def test_an_unknown_split_is_both_errors_that_callers_expect() -> None:
    error = errors.UnknownSplitError("tran", known=["train"])
    assert isinstance(error, ValueError)
    assert isinstance(error, KeyError)
    assert str(error) == "'tran' is no split. Splits: 'train'."


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
