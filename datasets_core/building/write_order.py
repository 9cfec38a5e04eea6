"""What the rows of a dataset are to be put in order by, and whether a dataset that stands is the one in that order."""

from __future__ import annotations

from typing import Literal

from datasets_core.building.hooks import Hooks
from datasets_core.building.options import BuildOptions
from datasets_core.store.manifest import Manifest

Order = Literal["source", "hash", "key"]


def wanted_order(builder: Hooks, *, disable_shuffling: bool = False) -> Order:
    """What rows are put in order by: nothing, the hash of their keys, or their keys, as far as these are integers."""
    if not builder.shuffle_on_write:
        return "source"
    return "key" if disable_shuffling or builder.info.disable_shuffling else "hash"


def is_wanted(manifest: Manifest, builder: Hooks, options: BuildOptions) -> bool:
    """Whether a dataset that stands has the rows, their order and the number of shards that are asked for."""
    wanted = wanted_order(builder, disable_shuffling=options.disable_shuffling)
    orders = {"source": ("source",), "hash": ("hash",), "key": ("key", "source")}[wanted]
    if manifest.write_order not in orders or manifest.disable_shuffling != (wanted == "key"):
        return False
    lengths = manifest.split_lengths().values()
    return manifest.max_rows == options.max_rows and (
        options.num_shards is None or all(len(rows) == options.num_shards or not sum(rows) for rows in lengths)
    )


def variant_folder(folder: str, builder: Hooks, *, disable_shuffling: bool, max_rows: int | None) -> str:
    """The folder in the cache of what is built with other rows, or in another order, than the builder's own.

    The dataset that stands in `folder` is left alone.
    """
    wanted = wanted_order(builder, disable_shuffling=disable_shuffling)
    unshuffled = "-unshuffled" if wanted != wanted_order(builder) else ""
    return f"{folder}{unshuffled}" + ("" if max_rows is None else f"-first{max_rows}")
