"""Splits, datasets and streams divided among the processes of a training."""

from __future__ import annotations

import os
import sys
from typing import Any, TypeVar

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.meta.even_splits import even_part
from datasets_core.optional import needed
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


def split_for_process(split: Any, rank: int, world_size: int, drop_remainder: bool = False) -> Any:
    """The part of a split for one of `world_size` processes: `even_splits(split, world_size, drop_remainder)[rank]`.

    Args:
        split: any split, or a list, tuple or dict of them.
        rank: the number of the process, from 0.
        world_size: how many there are.
        drop_remainder: leave out the rows that remain, so that all processes have the same number.

    >>> split_for_process("train", rank=1, world_size=4)
    ReadInstruction('train(even4[1])')

    Raises:
        RankError: a process that does not exist; an `IndexError` and a `ValueError`.
        ConfigurationError, SplitSyntaxError: as with `even_splits`.
    """
    return even_part(split, rank, world_size, drop_remainder)


def split_for_jax_process(
    split: Any, drop_remainder: bool = False, *, process_index: int | None = None, process_count: int | None = None
) -> Any:
    """The part of a split for this process of JAX: by `jax.process_index()` and `jax.process_count()`.

    Args:
        split: any split, or a list, tuple or dict of them.
        drop_remainder: leave out the rows that remain, so that all processes have the same number.
        process_index, process_count: instead of those that JAX says.

    >>> split_for_jax_process("train", drop_remainder=True)  # where there is one process
    ReadInstruction('train')

    Raises:
        MissingDependencyError: JAX is not installed.
        ConfigurationError, SplitSyntaxError: as with `even_splits`.
    """
    index = _jax().process_index() if process_index is None else process_index
    count = _jax().process_count() if process_count is None else process_count
    return even_part(split, index, count, drop_remainder)


def _jax() -> Any:
    return needed("jax", "split_for_jax_process")


def split_for_torch_process(split: Any, drop_remainder: bool = False) -> Any:
    """The part of a split for this process of PyTorch.

    Rank and size are those of `torch.distributed` where it is initialised; else those that `torchrun` tells in the environment,
    `RANK` and `WORLD_SIZE`.

    Args:
        split: any split, or a list, tuple or dict of them.
        drop_remainder: leave out the rows that remain, so that all processes have the same number.

    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", RANK="1", WORLD_SIZE="4"):  # as torchrun sets them
    ...     split_for_torch_process("train")
    ReadInstruction('train(even4[1])')

    Raises:
        ConfigurationError: neither tells the rank and the size.
        SplitSyntaxError: as with `even_splits`.
    """
    rank, world_size = _torch_process()
    return even_part(split, rank, world_size, drop_remainder)


def _torch_process() -> tuple[int, int]:
    # Nobody can have initialised a torch.distributed that is not imported, so it is not imported here.
    distributed = sys.modules.get("torch.distributed") or getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    told = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not (told[0].isdecimal() and told[1].isdecimal()):
        raise ConfigurationError(
            f"torch.distributed is not initialised, and the environment has RANK={told[0]!r} and WORLD_SIZE={told[1]!r}. "
            "Call torch.distributed.init_process_group(), start by torchrun, or use split_for_process()."
        )
    return int(told[0]), int(told[1])
