"""Datasets and streams divided among the nodes of a training."""

from __future__ import annotations

from typing import TypeVar

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.stream.iterable import IterableDataset

T = TypeVar("T", Dataset, IterableDataset)


def split_dataset_by_node(dataset: T, rank: int, world_size: int, strategy: str = "auto") -> T:
    """The rows for one of `world_size` nodes: each row is for one node.

    A dataset is cut into runs of rows.  A stream is cut into its shards where their number is a multiple of `world_size`;
    else each node takes one row of `world_size`.

    Args:
        dataset: all rows.
        rank: the number of the node, from 0.
        world_size: how many there are.
        strategy: "auto"; for streams also "shards" or "examples", to have it one way or the other.

    >>> split_dataset_by_node(Dataset.from_dict({"a": [1, 2, 3, 4]}), rank=1, world_size=2)[:]
    {'a': [3, 4]}

    Raises:
        ConfigurationError: a node or a strategy that does not exist.
    """
    if strategy not in _STRATEGIES:
        raise ConfigurationError(f"strategy={strategy!r} is unknown. Strategies: {', '.join(map(repr, _STRATEGIES))}.")
    if not 0 <= rank < world_size:
        raise ConfigurationError(f"rank={rank} is no node of {world_size}. Give 0 to {world_size - 1}.")
    if isinstance(dataset, Dataset):
        if strategy != "auto":
            raise ConfigurationError(f"strategy={strategy!r} is for streams alone. Leave it out.")
        return dataset.shard(world_size, rank, contiguous=True)
    by_shards = dataset.num_shards % world_size == 0 if strategy == "auto" else strategy == "shards"
    return dataset.shard(world_size, rank) if by_shards else dataset._every(world_size, rank)


_STRATEGIES = ("auto", "shards", "examples")
