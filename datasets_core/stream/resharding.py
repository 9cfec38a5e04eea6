"""`resharded`: a plan whose rows divide into as many parts as they lie in blocks, such as the row groups of Parquet files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from datasets_core.stream.node import Ordered
from datasets_core.stream.plan import Plan
from datasets_core.stream.rows_of_streams import RowsOfStreams


def resharded(plan: Plan) -> Plan:
    """The same rows in more shards, where they lie in blocks that can be read alone; all files may have to tell.

    >>> from datasets_core import IterableDataset
    >>> resharded(IterableDataset.from_dict({"a": [1, 2]})._plan).num_shards
    1
    """
    source = plan.source
    if isinstance(source, RowsOfStreams):
        plans = tuple(map(resharded, source.plans))
        shards = source.joining.num_shards([each.num_shards for each in plans])
        return replace(plan, source=replace(source, plans=plans), num_shards=max(plan.num_shards, shards))
    node: Any = plan.node(0)
    while not isinstance(node, Ordered) and hasattr(node, "below"):
        node = node.below
    blocks = node.structure() if isinstance(node, Ordered) else None
    if blocks is None or not blocks.is_indexed:
        return plan
    return replace(plan, num_shards=max(plan.num_shards, len(blocks.rows)))
