"""Errors cross the pipe as plain values, and come out as what they were, if they are ours."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import errors
from datasets_core.errors import (
    ConfinementUnavailableError,
    DatasetDiskError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    DuplicateKeysError,
    MissingDependencyError,
    ScriptError,
    ScriptMemoryError,
    ScriptTimeoutError,
    UntrustedScriptError,
    WorkerDiedError,
)
from datasets_core.errors.base import show_authors_frames
from datasets_core.scripting.sandbox.denials import Denial, denial_of, head_of, raised, shown

SAMPLES = [
    DatasetDiskError("/data/x", "No space left on device", needed=10, free=3),
    DeniedAccessError("read '/etc/passwd'", path="a.py", line=3),
    DuplicateKeysError("k", split="train", places=["row 3"]),
    MissingDependencyError("x", needed_for="The script a.py"),
    ScriptError("a.py", "it ends", line=2),
    ScriptMemoryError("A script", limit=3),
    errors.DownloadError("http://h/x", "the server answered 404", status=404),
    errors.NonMatchingChecksumError("http://h/x", expected="aa", found="bb"),
    errors.UnknownSplitError("tran", known=["train"], dataset="d"),
    errors.MediaDecodeError("image 'a.png'", "it is cut").at(column="image", row=3),
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def _through(error: BaseException) -> DatasetsCoreError:
    return raised(json.loads(json.dumps(head_of(error))), script="a.py")


def test_an_error_of_ours_comes_out_as_itself() -> None:
    sent = DuplicateKeysError("k", split="train", places=["row 1", "row 2"])
    found = _through(sent)
    assert (type(found), str(found), vars(found)["places"]) == (DuplicateKeysError, str(sent), sent.places)


def test_an_error_of_the_script_says_its_kind_and_its_lines() -> None:
    with pytest.raises(KeyError) as raised_there:
        {}["a"]
    found = _through(raised_there.value)
    assert type(found) is DatasetGenerationError
    assert "a.py failed with KeyError: 'a'." in str(found)
    assert "test_reported.py" in found.__notes__[0]


def test_a_failure_of_the_script_shows_its_frames() -> None:
    def generate() -> None:
        {}["a"]

    with pytest.raises(KeyError) as there:
        generate()
    error = DatasetGenerationError("a failed at row 1")
    error.__cause__ = there.value
    show_authors_frames(error, there.value)
    found = _through(error)
    assert str(found) == "a failed at row 1"
    (told,) = found.__notes__
    assert told.startswith("In the confined process:") and told.endswith("KeyError: 'a'") and ", in generate" in told


def test_want_of_memory_is_told_however_deep_it_lies() -> None:
    error = ScriptError("a.py", "importing it failed")
    error.__cause__ = OSError(12, "Cannot allocate memory")
    assert [type(_through(each)) for each in (MemoryError(), error)] == [ScriptMemoryError] * 2


def test_a_file_that_grew_too_large_is_told_as_such() -> None:
    assert type(_through(OSError(27, "File too large", "big"))) is DatasetDiskError


def test_a_denial_is_what_it_is_blamed_on() -> None:
    head = head_of(PermissionError(13, "x", "/etc"), Denial("read '/etc'", "a.py", 3))
    found = raised(head, script="a.py")
    assert (type(found), vars(found)["tried"], vars(found)["line"]) == (DeniedAccessError, "read '/etc'", 3)


@pytest.mark.parametrize(
    "name", ["SystemExit", "rebuild", "Any", "__name__", "redact", "ExperimentalVersionWarning", "annotations"]
)
def test_only_errors_of_ours_are_made(name: str) -> None:
    assert type(raised({"error": {"class": name, "message": "m"}}, script="a.py")) is DatasetGenerationError


@settings(max_examples=50)
@given(told=JSON, head=st.dictionaries(st.sampled_from(["error", "tried", "path", "line"]), JSON))
def test_whatever_is_told_is_an_error(told: object, head: dict[str, object]) -> None:
    fields = {"class": "ScriptError", "message": told, "facts": told, "traceback": told}
    assert isinstance(raised({"error": fields}, script="a.py"), DatasetsCoreError)
    assert isinstance(raised(head, script="a.py"), DatasetsCoreError)
    assert isinstance(denial_of(head), Denial)


def test_facts_replace_nothing_of_the_error() -> None:
    facts = {"__class__": "x", "_private": 1, "not a name": 1, "args": ["y"], "split": "train", "deep": [[[[[1]]]]]}
    found = raised({"error": {"class": "UnknownSplitError", "message": "m", "facts": facts}}, script="a.py")
    assert str(found) == "m"
    assert vars(found) == {"name": None, "known": None, "dataset": None, "split": "train"}


@settings(max_examples=50)
@given(facts=st.dictionaries(st.sampled_from([name for name in dir(DatasetDiskError) if name[0] != "_"]), JSON))
def test_no_fact_takes_the_place_of_a_method(facts: dict[str, object]) -> None:
    found = raised(
        {"error": {"class": "DatasetDiskError", "message": "m", "facts": facts, "traceback": ["a line"]}}, script="a.py"
    )
    assert found.__notes__ == ["In the confined process:\na line"]
    assert found.placed(file="f").file == "f"


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_has_its_fields_whatever_the_script_leaves_out(error: DatasetsCoreError) -> None:
    found = raised({"error": {"class": type(error).__name__, "message": "m"}}, script="a.py")
    if type(found) is type(error):
        assert [name for name in vars(error) if not hasattr(found, name)] == []


@pytest.mark.parametrize(
    "kind",
    [UntrustedScriptError, ConfinementUnavailableError, ScriptTimeoutError, WorkerDiedError],
    ids=lambda kind: kind.__name__,
)
def test_what_the_parent_decides_by_is_no_error_of_a_script(kind: type[DatasetsCoreError]) -> None:
    found = raised({"error": {"class": kind.__name__, "message": "m", "facts": {"seconds": "x"}}}, script="a.py")
    assert type(found) is DatasetGenerationError


def test_texts_are_shown_without_control_characters_and_not_endless() -> None:
    assert shown("a\x00b\x9b\u202ec\nd") == "a\\x00b\\x9b\\u202ec\nd"
    assert len(shown("x" * 10**6)) < 30_000


def test_a_package_that_only_this_process_finds_is_not_told_to_be_missing() -> None:
    missing = raised(head_of(MissingDependencyError("nowhere_at_all", needed_for="The script a.py, line 3,")), script="a.py")
    unseen = raised(head_of(MissingDependencyError("pytest", needed_for="The script a.py, line 3,")), script="a.py")
    assert "which is not installed" in str(missing)
    assert "line 3" in str(unseen)
    assert "which confined scripts do not see" in str(unseen)
    assert "not installed" not in str(unseen)
