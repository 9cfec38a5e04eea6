"""Rows divided among nodes: each row for one."""

import pytest

from datasets_core import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ConfigurationError

DATASET = Dataset.from_dict({"a": list(range(11))})


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_dataset_is_cut_into_runs(size: int) -> None:
    parts = [split_dataset_by_node(DATASET, rank, size)["a"][:] for rank in range(size)]
    assert [row for part in parts for row in part] == list(range(11))


@pytest.mark.parametrize("strategy", ["auto", "shards", "examples"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_row_of_a_stream_is_for_one_node(size: int, strategy: str) -> None:
    stream = DATASET.to_iterable_dataset(4).shuffle(seed=1).filter(lambda row: row["a"] != 5)
    parts = [list(split_dataset_by_node(stream, rank, size, strategy)["a"]) for rank in range(size)]
    assert sorted(row for part in parts for row in part) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]


def test_nodes_take_shards_where_their_number_allows_it_and_else_every_so_many_rows() -> None:
    stream = DATASET.to_iterable_dataset(4)
    assert list(split_dataset_by_node(stream, 1, 2)["a"]) == [6, 7, 8, 9, 10]
    assert list(split_dataset_by_node(stream, 1, 3)["a"]) == [1, 4, 7, 10]
    assert split_dataset_by_node(stream, 1, 2).num_shards == 2


@pytest.mark.parametrize(("rank", "size", "strategy"), [(2, 2, "auto"), (-1, 2, "auto"), (0, 1, "rows"), (0, 1, "shards")])
def test_what_does_not_exist_is_refused(rank: int, size: int, strategy: str) -> None:
    with pytest.raises(ConfigurationError):
        split_dataset_by_node(DATASET, rank, size, strategy)
