"""The lines of an author's code."""

from types import SimpleNamespace

import pytest

from datasets_core.building.failures import hook_place, row_place

PART = SimpleNamespace(split="train", gen_kwargs={"n": 9}, index=0, count=1, deadline=None)


class Author:
    """What needs of a builder are here."""

    def generate(self, gen_kwargs):
        return iter(self._generate_examples(**gen_kwargs))


def _line(cls, mark):
    """The line with a comment, in this file."""
    with open(__file__) as file:
        lines = file.read().split("\n")
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {cls.__name__} {mark}"))


class One(Author):
    def _generate_examples(self, n):  # One hook
        for i in range(n):
            if i > 2:
                raise AssertionError("one yield is found without running")
            yield i, {}  # One row


class Two(Author):
    def _generate_examples(self, n):
        for i in range(n):
            if i % 2:
                yield i, {}  # Two odd
            else:
                yield i, {}  # Two even


class Passed(Author):
    def _generate_examples(self, n):
        yield from self._inner(n)

    def _inner(self, n):
        yield 0, {}
        for i in range(1, n):
            yield i, {}  # Passed row


class Plain(Author):
    def _generate_examples(self, n):  # Plain hook
        return [(i, {}) for i in range(n)]


class Changed(Author):
    times = 0

    def _generate_examples(self, n):
        self.times += 1
        yield self.times, {}  # Changed row
        yield self.times + 1, {}  # Changed other


class Failing(Author):
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

    assert row_place(author(), PART, row, key) == f"{__file__}, line {lines}"


def test_what_can_be_read_once_is_not_read_again():
    part = SimpleNamespace(**{**vars(PART), "gen_kwargs": {"n": iter([1])}})

    assert row_place(Two(), part, 0, 0).endswith(f"line {_line(Two, 'odd')} or {_line(Two, 'even')}")


def test_the_line_of_a_hook_is_where_it_is_defined():
    class Child(One):
        pass

    assert hook_place(Child, "_info", "_generate_examples") == f"{__file__}, line {_line(One, 'hook')}"
    assert hook_place(Child, "_info") is None
    assert hook_place(SimpleNamespace) is None
