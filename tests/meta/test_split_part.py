import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, SplitSyntaxError
from datasets_core.meta.splits import EvenCut, SplitPart, checked_part, is_split_name, parse_part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("train", SplitPart("train")),
        ("train[5:]", SplitPart("train", 5)),
        ("train[:12.5%]", SplitPart("train", None, 12.5, "%", "closest")),
        ("train[:5%](pct1_dropremainder)", SplitPart("train", None, 5, "%", "pct1_dropremainder")),
        ("train[2shard]", SplitPart("train", 2, 3, "shard")),
        ("train(even3[1])", SplitPart("train", cuts=(EvenCut(3, 1),))),
        ("a[1:2](even3_dropremainder[0])(even2[1])", SplitPart("a", 1, 2, cuts=(EvenCut(3, 0, True), EvenCut(2, 1)))),
    ],
)
def test_a_term_is_read_as_it_is_written(text: str, part: SplitPart) -> None:
    assert parse_part(text, text) == part
    assert parse_part(str(part), text) == part


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 10), st.booleans())
def test_even_cuts_are_those_of_tfds(first: int, size: int, n: int, drop: bool) -> None:
    k, r = size // n, 0 if drop else size % n
    assert [EvenCut(n, i, drop).of(first, first + size) for i in range(n)] == [
        (first + k * i + min(i, r), first + k * (i + 1) + min(i + 1, r)) for i in range(n)
    ]


def test_cuts_are_made_one_after_the_other() -> None:
    part = SplitPart("train", cuts=(EvenCut(2, 1), EvenCut(3, 0)))
    assert (part.bounds(12, None), part.cut(0, 12)) == ((0, 12), (6, 8))


@given(st.integers(0, 300), st.integers(-5, 5), st.integers(-5, 5), st.lists(st.integers(0, 9), max_size=5))
def test_shards_are_sliced_as_python_slices_them(total: int, start: int, stop: int, shards: list[int]) -> None:
    first, last = SplitPart("train", start, stop, "shard").bounds(total, shards)
    assert last - first == sum(shards[start:stop])


def test_shards_without_lengths_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="no shard lengths"):
        SplitPart("train", 1, None, "shard").bounds(5, None)


def test_what_means_the_same_is_written_alike() -> None:
    found = checked_part(SplitPart("train", 5.0, None, "abs", "closest", (EvenCut(1, 0),)), "")
    assert found == SplitPart("train", 5)


@pytest.mark.parametrize(
    "part", [SplitPart("a b"), SplitPart("a", unit="rows"), SplitPart("a", rounding="up"), SplitPart("a", 1.5)]
)
def test_a_term_that_means_nothing_is_refused(part: SplitPart) -> None:
    with pytest.raises(SplitSyntaxError, match="'the whole'"):
        checked_part(part, "the whole")


@pytest.mark.parametrize(("name", "good"), [("train", True), ("Все", True), ("1", True), ("-", False), ("a(b)", False)])
def test_names_have_a_letter_or_a_digit(name: str, good: bool) -> None:
    assert is_split_name(name) is good
