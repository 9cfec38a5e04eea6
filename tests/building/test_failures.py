"""The words for code of an author that fails."""

import os
import re
import traceback
from types import SimpleNamespace

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.failures import describe, fail, hook_place, place_of, row_place
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.write.generate import begin
from datasets_core.errors import DatasetGenerationError, MissingDependencyError
from datasets_core.meta.info import DatasetInfo

PART = SimpleNamespace(
    split="train", gen_kwargs={"n": 1}, index=1, count=3, batch_rows=None, max_rows=None, deadline=None, is_order_free=False
)


class Author:
    label = "reviews"

    def generate(self, gen_kwargs):
        raise KeyError(gen_kwargs["n"])


def test_a_hook_that_fails_as_it_is_called_is_named_with_its_place():
    with pytest.raises(
        DatasetGenerationError, match=rf"at row 0 of split 'train' \(part 2 of 3\), in {__file__}, line \d+: Key"
    ):
        begin(PART, Author())


def test_a_failure_names_the_key_before_it():
    with pytest.raises(DatasetGenerationError, match="at row 7, after key 'k'") as caught:
        fail(PART, Author(), ValueError("bad"), row=7, key="k")

    assert caught.value.row == 7


def test_a_package_that_is_missing_when_rows_are_made_is_named():
    class Lacking(Author):
        def generate(self, gen_kwargs):
            from no_such_package import inner

            return inner(gen_kwargs)

    with pytest.raises(MissingDependencyError, match=rf"reviews, in {__file__}, line \d+, needs the package 'no_such_package'"):
        begin(PART, Lacking())


@pytest.mark.parametrize("is_streaming", [False, True])
def test_a_path_of_a_manual_dir_that_was_not_given_is_told_with_what_to_do(tmp_path, is_streaming):
    class Manual(GeneratorBasedBuilder):
        def _info(self):
            return DatasetInfo()

        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"path": os.path.join(dl_manager.manual_dir, "a.txt")})]

        def _generate_examples(self, path):
            yield 0, {"path": path}

    builder = Manual(cache_dir=str(tmp_path))
    with pytest.raises(DatasetGenerationError, match=r"manual_dir is None; pass the folder .* as data_dir="):
        list(builder.as_streaming_dataset("train")) if is_streaming else builder.download_and_prepare()


def test_an_error_without_words_is_its_kind():
    assert describe(AssertionError()) == "AssertionError"
    assert describe(ValueError(" bad. ")) == "ValueError: bad"


def test_the_place_is_in_the_authors_file():
    class Script:
        def fail(self):
            return [int(text) for text in ("1", "x")]

    with pytest.raises(ValueError, match="'x'") as caught:
        Script().fail()

    assert place_of(caught.value, Script()).startswith(f"in {__file__}, line ")


# The lines of an author's code.

PART_AUTHOR_PLACES = SimpleNamespace(split="train", gen_kwargs={"n": 9}, index=0, count=1, deadline=None)


class AuthorAuthorPlaces:
    """What needs of a builder are here."""

    def generate(self, gen_kwargs):
        return iter(self._generate_examples(**gen_kwargs))


def _line(cls, mark):
    """The line with a comment, in this file."""
    with open(__file__) as file:
        lines = file.read().split("\n")
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {cls.__name__} {mark}"))


class One(AuthorAuthorPlaces):
    def _generate_examples(self, n):  # One hook
        for i in range(n):
            if i > 2:
                raise AssertionError("one yield is found without running")
            yield i, {}  # One row


class Two(AuthorAuthorPlaces):
    def _generate_examples(self, n):
        for i in range(n):
            if i % 2:
                yield i, {}  # Two odd
            else:
                yield i, {}  # Two even


class Passed(AuthorAuthorPlaces):
    def _generate_examples(self, n):
        yield from self._inner(n)

    def _inner(self, n):
        yield 0, {}
        for i in range(1, n):
            yield i, {}  # Passed row


class Plain(AuthorAuthorPlaces):
    def _generate_examples(self, n):  # Plain hook
        return [(i, {}) for i in range(n)]


class Changed(AuthorAuthorPlaces):
    times = 0

    def _generate_examples(self, n):
        self.times += 1
        yield self.times, {}  # Changed row
        yield self.times + 1, {}  # Changed other


class Failing(AuthorAuthorPlaces):
    def _generate_examples(self, n):
        if n:
            raise OSError("its files are gone")
        yield 0, {}  # Failing row
        yield 1, {}  # Failing other


@pytest.mark.parametrize(
    ("author", "row", "key", "marks"),
    [
        (One, 8, 8, ["row"]),
        (Two, 3, 3, ["odd"]),
        (Two, 4, 4, ["even"]),
        (Passed, 5, 5, ["row"]),
        (Plain, 5, 5, ["hook"]),
        (Changed, 0, 7, ["row", "other"]),
        (Failing, 1, 1, ["row", "other"]),
    ],
)
def test_the_line_of_a_row_is_that_of_its_yield(author, row, key, marks):
    lines = " or ".join(str(_line(author, mark)) for mark in marks)

    assert row_place(author(), PART_AUTHOR_PLACES, row, key) == f"{__file__}, line {lines}"


def test_what_can_be_read_once_is_not_read_again():
    part = SimpleNamespace(**{**vars(PART_AUTHOR_PLACES), "gen_kwargs": {"n": iter([1])}})

    assert row_place(Two(), part, 0, 0).endswith(f"line {_line(Two, 'odd')} or {_line(Two, 'even')}")


def test_the_line_of_a_hook_is_where_it_is_defined():
    class Child(One):
        pass

    assert hook_place(Child, "_info", "_generate_examples") == f"{__file__}, line {_line(One, 'hook')}"
    assert hook_place(Child, "_info") is None
    assert hook_place(SimpleNamespace) is None


class Failing(GeneratorBasedBuilder):
    VERSION = "1.0.0"

    def _info(self):
        return DatasetInfo()

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": [0, 1]})]

    def _generate_examples(self, parts):
        yield parts[0], {"a": 1}
        yield str(parts), {"a": self.inverted(0)}

    def inverted(self, number):
        return 1 // number


@pytest.mark.parametrize("workers", [None, 2])
def test_a_failure_shows_the_frames_of_the_author_alone(workers, tmp_path, monkeypatch):
    with pytest.raises(DatasetGenerationError) as caught:
        Failing(cache_dir=str(tmp_path)).download_and_prepare(num_proc=workers)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["download_and_prepare", "prepare"]
    cause = caught.value.__cause__
    shown = "".join(traceback.format_tb(cause.__traceback__)) + "".join(getattr(cause, "__notes__", []))
    assert re.findall(r", in (\w+)\n", shown) == ["_generate_examples", "inverted"]
    notes = getattr(caught.value, "__notes__", [])  # of a job on a worker: how it is run alone
    assert len(notes) == (workers is not None) and all("run-job" in note and ", line " not in note for note in notes)

    monkeypatch.setenv("DATASETS_CORE_FULL_TRACEBACKS", "1")
    with pytest.raises(DatasetGenerationError) as caught:
        Failing(cache_dir=str(tmp_path)).download_and_prepare()
    assert "prepare.py" in "".join(traceback.format_tb(caught.tb))
    assert "chunks.py" in "".join(traceback.format_tb(caught.value.__cause__.__traceback__))
