"""Splits, datasets and streams divided among the processes of a training."""

from __future__ import annotations

import os
import sys
from math import lcm
from typing import Any, TypeVar

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.meta.row_blocks import even_part
from datasets_core.optional import needed
from datasets_core.store.rows.indices import at_least_one, whole_number
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.shuffle import ENDS, LANES
from datasets_core.stream.plan import RankLanes

T = TypeVar("T", Dataset, IterableDataset)


def split_dataset_by_node(
    dataset: T,
    rank: int | None = None,
    world_size: int | None = None,
    strategy: str = "auto",
    *,
    lanes: int = LANES,
    ends: str = "keep",
) -> T:
    """Return the rows for one of `world_size` nodes: each row goes to one node.

    A dataset is cut into ranges of rows.  A stream is cut into `lanes` equal logical shards, for any number of nodes: node r
    reads lanes r, r + world_size, r + 2 · world_size…, one row of each in turn; in a `DataLoader`, each worker has whole lanes
    in the same way.  So all nodes together have one order, and a global batch has the same rows on any number of nodes that
    divides `lanes`. For other numbers of nodes, this holds for steps of `lanes` rows.  `merge_states` merges the states of all
    nodes and workers into one, which any number of them can load, also in the middle of an epoch.  For more nodes than lanes,
    `lanes` is raised to the least sufficient multiple.

    Row-by-row steps, batches, repetition and shuffling are applied to each lane separately, before this
    call or after it.  `take`, `skip` and `shard` after it see the rows of the node: states can then only be loaded with the
    same number of nodes and workers.

    Uneven ends: this call never waits for another node, but training code does, and hangs if one node has one batch less.
    Lanes, and nodes whose number divides `lanes`, differ by at most one row if the number of rows is known.  With
    `ends="keep"`, every row comes once.  `ends="drop"` drops the last rows, fewer than `lanes`, and `ends="pad"` repeats as
    many, so that all nodes have the same number.  After steps that change the number of rows, so that it is unknown before
    reading, a node stops at the end of its first lane ("drop"), or repeats rows of ended lanes until its last one ends ("pad");
    nodes can differ then, and have to agree on the last step of the training.

    Args:
        dataset: all rows.
        rank, world_size: number of the node, from 0, and number of nodes; None for both: as reported by `ray.train`, an
            initialized `torch.distributed`, `torchrun` (`RANK`, `WORLD_SIZE`), Slurm (`SLURM_PROCID`, `SLURM_NTASKS`) or MPI.
        strategy: "auto"; for streams also "lanes" (the same), and "shards" or "examples", which give each node a part of the
            shards, or every `world_size`-th row, as other libraries do; the result of these cannot be divided again.
        lanes: number of logical shards of a stream; it must not change during a training.
        ends: "keep", "drop" or "pad".

    Raises:
        ArgumentTypeError: a number is not an integer.
        ConfigurationError: the node, the strategy or the end is unknown; "drop" or "pad" cannot make the nodes even; or no node
            is given and the rank of this process is unknown.

    Example:
        >>> split_dataset_by_node(Dataset.from_dict({"a": [1, 2, 3, 4]}), rank=1, world_size=2)[:]
        {'a': [3, 4]}
        >>> stream = Dataset.from_dict({"a": [1, 2, 3, 4]}).to_iterable_dataset()
        >>> list(split_dataset_by_node(stream, rank=1, world_size=2, lanes=2)["a"])
        [3, 4]
    """
    if strategy not in _STRATEGIES:
        raise ConfigurationError(
            f"Invalid strategy {strategy!r}", advice=f"Strategies: {', '.join(map(repr, _STRATEGIES))}", value=strategy
        )
    if ends not in ENDS:
        raise ConfigurationError(f"ends={ends!r} is unknown", advice=f"Choose one of {', '.join(map(repr, ENDS))}", value=ends)
    if rank is None and world_size is None:
        rank, world_size = _this_node()
    rank, world_size = whole_number("rank", rank), at_least_one("world_size", world_size)
    if not 0 <= rank < world_size:
        raise ConfigurationError(f"rank={rank} is out of range for {world_size} nodes", advice=f"Give 0 to {world_size - 1}")
    if isinstance(dataset, Dataset):
        if strategy != "auto" or ends != "keep":
            known, given = ("strategy='auto'", strategy) if strategy != "auto" else ("ends='keep'", ends)
            raise ConfigurationError(
                f"Map-style datasets only support {known}, found {given!r}", advice="Leave it out", value=given
            )
        return dataset.shard(world_size, rank, contiguous=True)
    if strategy in ("auto", "lanes"):
        return dataset._in_shards(_rank_lanes(rank, world_size, at_least_one("lanes", lanes), ends))
    if ends != "keep":
        raise ConfigurationError(
            f"ends={ends!r} is only supported with lanes", advice=f"Remove strategy={strategy!r}", value=ends
        )
    return dataset.shard(world_size, rank) if strategy == "shards" else dataset._every(world_size, rank)


_RANKS = (
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
)


def _this_node() -> tuple[int, int]:
    """Return the number of this process in a training, and the number of all processes."""
    train = sys.modules.get("ray.train")
    if train is not None:
        try:
            context = train.get_context()
            found: Any = context.get_world_rank(), context.get_world_size()
        except RuntimeError:  # no training runs here
            found = None, None
        if None not in found:
            return int(found[0]), int(found[1])
    torch = sys.modules.get("torch.distributed")
    if torch is not None and torch.is_available() and torch.is_initialized():
        return torch.get_rank(), torch.get_world_size()
    for rank, world_size in _RANKS:
        if rank in os.environ and world_size in os.environ:
            return _number(rank), _number(world_size)
    names = ", ".join(f"{rank} and {world_size}" for rank, world_size in _RANKS)
    raise ConfigurationError(
        f"This process has no rank: none of {names} is set, and neither ray.train nor torch.distributed is running",
        advice="Give rank= and world_size=",
    )


def _number(name: str) -> int:
    if not os.environ[name].isdecimal():
        raise ConfigurationError(f"The environment variable {name} is {os.environ[name]!r}", advice="Set it to a whole number")
    return int(os.environ[name])


_STRATEGIES = ("auto", "lanes", "shards", "examples")


def _rank_lanes(rank: int, world_size: int, lanes: int, ends: str) -> RankLanes:
    lanes *= -(-world_size // lanes)
    if ends != "keep" and lanes % world_size:
        raise ConfigurationError(
            f"{world_size} nodes do not divide {lanes} lanes, so some nodes have one lane more than others",
            advice=f"Give lanes={lcm(lanes, world_size)}, or remove ends={ends!r}",
        )
    return RankLanes(lanes, rank, world_size, ends)


def split_for_process(split: Any, rank: int, world_size: int, drop_remainder: bool = False) -> Any:
    """Return the part of a split for one of `world_size` processes.

    Args:
        split: any split, or a list, tuple or dict of them.
        rank: number of the process, from 0.
        world_size: number of processes.
        drop_remainder: True leaves out the remaining rows, so that all processes have the same number.

    Raises:
        ConfigurationError, SplitSyntaxError: as with `even_splits`.
        RankError: the process does not exist; the error is also an `IndexError` and a `ValueError`.

    Example:
        >>> split_for_process("train", rank=1, world_size=4)
        ReadInstruction('train(even4[1])')
    """
    return even_part(split, rank, world_size, drop_remainder)


def split_for_jax_process(
    split: Any, drop_remainder: bool = False, *, process_index: int | None = None, process_count: int | None = None
) -> Any:
    """Return the part of a split for this process of JAX.

    Args:
        split: any split, or a list, tuple or dict of them.
        drop_remainder: True leaves out the remaining rows, so that all processes have the same number.
        process_index, process_count: used instead of `jax.process_index()` and `jax.process_count()`.

    Raises:
        MissingDependencyError: JAX is not installed.
        ConfigurationError, SplitSyntaxError: as with `even_splits`.

    Example:
        >>> split_for_jax_process("train", drop_remainder=True)  # where there is one process
        ReadInstruction('train')
    """
    index = _jax().process_index() if process_index is None else process_index
    count = _jax().process_count() if process_count is None else process_count
    return even_part(split, index, count, drop_remainder)


def _jax() -> Any:
    return needed("jax", "split_for_jax_process")


def split_for_torch_process(split: Any, drop_remainder: bool = False) -> Any:
    """Return the part of a split for this process of PyTorch.

    Rank and size are those of `torch.distributed` if it is initialised; else those of `torchrun` in the environment,
    `RANK` and `WORLD_SIZE`.

    Args:
        split: any split, or a list, tuple or dict of them.
        drop_remainder: True to drop the remaining rows, so that all processes have the same number.

    Raises:
        ConfigurationError: rank and size are unknown.
        SplitSyntaxError: as with `even_splits`.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict("os.environ", RANK="1", WORLD_SIZE="4"):  # as torchrun sets them
        ...     split_for_torch_process("train")
        ReadInstruction('train(even4[1])')
    """
    rank, world_size = _torch_process()
    return even_part(split, rank, world_size, drop_remainder)


def _torch_process() -> tuple[int, int]:
    # A torch.distributed that is not imported cannot be initialised, so it is not imported here.
    distributed = sys.modules.get("torch.distributed") or getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    told = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not (told[0].isdecimal() and told[1].isdecimal()):
        raise ConfigurationError(
            f"torch.distributed is not initialised, and the environment has RANK={told[0]!r} and WORLD_SIZE={told[1]!r}",
            advice="Call torch.distributed.init_process_group(), start by torchrun, or use split_for_process()",
        )
    return int(told[0]), int(told[1])
