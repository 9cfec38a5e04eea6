import pickle

from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.splits import ShardLengths

lengths = st.lists(st.integers(0, 5), max_size=8).map(ShardLengths)


@given(lengths)
def test_every_row_has_its_place(shards: ShardLengths) -> None:
    places = [(shard, row) for shard, length in enumerate(shards) for row in range(length)]
    assert [shards.place(row) for row in range(shards.total)] == places


@given(lengths, st.integers(0, 40), st.integers(0, 40))
def test_pieces_are_the_rows_between_two_borders(shards: ShardLengths, one: int, other: int) -> None:
    first, last = sorted((min(one, shards.total), min(other, shards.total)))
    found = [(shard, row) for shard, start, stop in shards.pieces(first, last) for row in range(start, stop)]
    assert found == [shards.place(row) for row in range(first, last)]


def test_lengths_that_are_summed_up_are_taken_as_they_are() -> None:
    shards = ShardLengths([1, 2])
    assert ShardLengths.of(shards) is shards
    assert ShardLengths.of([1, 2]) == shards


def test_lengths_survive_pickling() -> None:
    shards = ShardLengths([1, 2])
    assert (shards.total, pickle.loads(pickle.dumps(shards)).borders) == (3, [0, 1, 3])
