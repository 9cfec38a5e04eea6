"""`IterableColumn`: the values of one column of a stream, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class IterableColumn:
    """The values of one column, or of one field within it; each iteration reads the stream anew.

    Args:
        source: rows, or the values of a column of structs.
        column_name: of the column, or the field.

    >>> list(IterableColumn([{"a": {"b": 1}}, {"a": {"b": 2}}], "a")["b"])
    [1, 2]
    """

    def __init__(self, source: Iterable[Any], column_name: str) -> None:
        self.source, self.column_name = source, column_name

    def __iter__(self) -> Iterator[Any]:
        for row in self.source:
            yield row[self.column_name]

    def __getitem__(self, column_name: str) -> IterableColumn:
        return IterableColumn(self, column_name)
