"""Rows in chunks: bounded, and as they were when they were yielded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.store.chunks import ChangedRowsError, Chunks, copied, unchanged, weight

members = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


def taken(pairs, *, max_rows=100, max_bytes=1 << 20, copies=False):
    chunks = Chunks(iter(pairs), max_rows=max_rows, max_bytes=max_bytes, copies=copies)
    found = []
    while chunk := chunks.take():
        found.append([copied(pair) for pair in chunk])  # as if it were encoded now
        chunks.measured(sum(map(weight, chunk)), len(chunk))
    return found


@given(st.lists(members, max_size=300), st.integers(1, 50), st.booleans())
def test_the_chunks_together_are_what_was_yielded(values, most, copies):
    pairs = [(row, {"value": value}) for row, value in enumerate(values)]

    chunks = taken([copied(pair) for pair in pairs], max_rows=most, copies=copies)

    assert [pair for chunk in chunks for pair in chunk] == pairs
    assert all(len(chunk) <= most for chunk in chunks)


def test_huge_rows_are_taken_one_by_one():
    chunks = taken(((row, {"data": bytes(1000)}) for row in range(5)), max_bytes=1000)

    assert [len(chunk) for chunk in chunks] == [1, 1, 1, 1, 1]


def test_small_rows_before_huge_ones_take_few_of_them_along():
    sizes = [1] * 1000 + [100_000] * 100

    chunks = taken(((row, {"data": bytes(size)}) for row, size in enumerate(sizes)), max_bytes=200_000, max_rows=2000)

    assert max(sum(len(row["data"]) for _, row in chunk) for chunk in chunks) <= 65 * 100_000


def filled_dict(count):
    row = {"a": 0}
    for number in range(count):
        row["a"] = number
        yield number, row


def filled_list(count):
    values = [0]
    for number in range(count):
        values[0] = number
        yield number, {"a": values}


def filled_list_of_dicts(count):
    inner = {"v": 0}
    for number in range(count):
        inner["v"] = number
        yield number, {"a": [inner]}


def view_of_an_array(count):
    array = np.zeros(4, np.int64)
    for number in range(count):
        array[:] = number
        yield number, {"a": array[1:3]}


def view_of_bytes(count):
    data = bytearray(2)
    for number in range(count):
        data[:] = number.to_bytes(2, "big")
        yield number, {"a": memoryview(data)}


def two_in_turn(count):
    rows = [{"a": [0]}, {"a": [0]}]
    for number in range(count):
        rows[number % 2]["a"] = [number]
        yield number, rows[number % 2]


SHOWN = {
    filled_dict: lambda number: number,
    filled_list: lambda number: [number],
    filled_list_of_dicts: lambda number: [{"v": number}],
    view_of_an_array: lambda number: [number, number],
    view_of_bytes: lambda number: number.to_bytes(2, "big"),
    two_in_turn: lambda number: [number],
}


@pytest.mark.parametrize("author", SHOWN)
def test_rows_keep_what_they_held_when_they_were_yielded(author):
    source = author(400)  # a second run would find nothing

    rows = [row["a"] for chunk in taken(source) for _, row in chunk]

    assert [value.tolist() if isinstance(value, np.ndarray) else value for value in rows] == list(
        map(SHOWN[author], range(400))
    )


def test_rows_that_begin_to_change_late_are_made_again():
    def pairs():
        for number in range(20):
            yield number, {"a": [number]}
        for number, row in filled_list(20):
            yield 20 + number, row

    with pytest.raises(ChangedRowsError):
        taken(pairs())


def test_a_constant_that_all_rows_share_needs_no_copies():
    names = ["neg", "pos"]
    chunks = Chunks(iter([(row, {"names": names}) for row in range(50)]), max_rows=100, max_bytes=1000)

    chunk = chunks.take()

    assert len(chunk) == 50
    assert not chunks.copies


def test_what_an_author_yielded_before_failing_is_known():
    def pairs():
        yield from ((row, {"a": row}) for row in range(40))
        raise KeyError("gone")

    chunks = Chunks(pairs(), max_rows=100, max_bytes=1 << 20)

    with pytest.raises(KeyError):
        chunks.take()

    assert len(chunks.taken) == 40


@given(members)
def test_a_copy_is_unchanged_until_it_is_changed(value):
    row = {"a": value, "b": [1], "c": np.arange(3), "d": bytearray(b"x")}
    before = copied(row, with_objects=False)

    assert unchanged(before, row)

    row["c"][1] = 7
    assert not unchanged(before, row)


@pytest.mark.parametrize(
    ("value", "expected"), [(["x", None], 9), ([None, "xyz"], 11), ([{"a": b"1234"}] * 3, 12), (np.zeros(5, np.float32), 20)]
)
def test_values_within_values_are_weighed(value, expected):
    assert weight(value) == expected
