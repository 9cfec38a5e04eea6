"""Filters of Parquet streams: row groups that cannot have such rows are not read, and of the others those rows are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.schema import Features
from datasets_core.format.formatter import RowFormat
from datasets_core.stream.changes import Cast, Selected
from datasets_core.stream.functions import Function
from datasets_core.stream.steps import ChangeColumns, Filter, Step

_BATCH_ROWS = 1024
_PLACE = "__row__"


def expression_of(filters: Any) -> Any:
    """Filters as an expression, whichever way they are given."""
    import pyarrow.parquet as pq  # 12 ms that a dataset which stands does without

    return pq.filters_to_expression(filters) if isinstance(filters, (list, tuple)) else filters


def possible_groups(footer: bytes, filters: Any) -> list[int]:
    """The row groups of a file that may have such rows, as far as their statistics tell.

    Args:
        footer: of the file, with its length and the mark behind it.
        filters: see `ParquetConfig`.

    Raises:
        pyarrow.ArrowException: a filter does not fit the columns.
    """
    import pyarrow.dataset as ds  # 30 ms that a plain read does without

    fragment = ds.ParquetFileFormat().make_fragment(pa.BufferReader(b"PAR1" + footer))
    return [group.id for group in fragment.subset(filter=expression_of(filters)).row_groups]


def columns_read(columns: Sequence[str], filters: Any, names: Sequence[str]) -> list[str]:
    """The columns that are wanted, and those that filters need, which may be some more of the file's.

    >>> columns_read(["b"], [("a", ">", 1)], ["a", "b", "c"])
    ['b', 'a']
    """
    text = str(expression_of(filters))
    return [*columns, *(name for name in names if name not in columns and name in text)]


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Says of the rows of a table which ones filters keep."""

    filters: Any

    def __call__(self, table: pa.Table) -> Any:
        """For each row whether it is kept."""
        numbered = table.append_column(_PLACE, pa.array(np.arange(table.num_rows)))
        kept = np.zeros(table.num_rows, bool)
        kept[numbered.filter(expression_of(self.filters))[_PLACE].to_numpy()] = True
        return kept.tolist()


def filter_steps(filters: Any, columns: Sequence[str] | None, features: Features | None) -> tuple[Step, ...]:
    """What makes the rows of a dataset of those of its files.

    Args:
        filters, columns: see `ParquetConfig`.
        features: what the columns are cast to; None: they stay.
    """
    function = Function(KeptRows(filters), "filter", format=RowFormat("arrow"))
    steps: list[Step] = [Filter(function, is_batched=True, size=_BATCH_ROWS)]
    if columns is not None:
        steps.append(ChangeColumns(Selected(tuple(columns)), f"columns={list(columns)}"))
    if features is not None:
        steps.append(ChangeColumns(Cast(features, is_all=True), "features="))
    return tuple(steps)
