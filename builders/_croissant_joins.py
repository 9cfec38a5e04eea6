"""Rows that others are joined to by a key: all of them, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ._croissant_values import ValueFault


class Keyed:
    """Rows by their keys, of which several rows may have the same.

    Args:
        key: what the column of the keys is called.
        columns: the columns to join.
    """

    def __init__(self, key: str, columns: Sequence[str]) -> None:
        self._key, self._columns = key, list(columns)
        self._parts: list[Mapping[str, pa.Array]] = []
        self._rows: dict[Any, list[int]] | None = None
        self._arrays: dict[str, pa.Array] = {}
        self._kind: pa.DataType = pa.null()

    def add(self, arrays: Mapping[str, pa.Array]) -> None:
        """Take more rows."""
        self._parts.append({name: arrays[name] for name in (self._key, *self._columns)})

    def joined(self, arrays: Mapping[str, pa.Array], key: str, num_rows: int) -> tuple[dict[str, pa.Array], int]:
        """Rows with the columns of those that have the same key: null where there are none, a row for each of several.

        Args:
            arrays: the rows, as columns.
            key: their own key.
            num_rows: how many they are.

        Raises:
            ValueFault: keys are of different kinds, so that none could be equal.
        """
        rows = self._by_key()
        own = arrays[key]
        if self._parts and rows and _family(own.type) != _family(self._kind) and own.null_count < len(own):
            raise ValueFault(f"is joined by keys of {own.type} with keys of {self._kind}, which are never equal")
        matches = [[None] if value is None else rows.get(value, [None]) for value in own.to_pylist()]
        counts = np.fromiter(map(len, matches), np.int64, len(matches))
        taken = pa.array([match for each in matches for match in each], pa.int64())
        found = dict(arrays)
        if len(taken) != num_rows:
            repeats = pa.array(np.repeat(np.arange(num_rows), counts))
            found = {name: array.take(repeats) for name, array in arrays.items()}
        found |= {
            name: self._arrays[name].take(taken) if name in self._arrays else pa.nulls(len(taken)) for name in self._columns
        }
        return found, len(taken)

    def _by_key(self) -> dict[Any, list[int]]:
        if self._rows is None:
            self._rows = {}
            for name in (self._key, *self._columns):
                parts = [part[name] for part in self._parts]
                if parts:
                    kind = next((part.type for part in parts if not pa.types.is_null(part.type)), pa.null())
                    self._arrays[name] = pa.concat_arrays([part.cast(kind) for part in parts])
            keys = self._arrays.get(self._key, pa.nulls(0))
            self._kind = keys.type
            for row, value in enumerate(keys.to_pylist()):
                if value is not None:
                    self._rows.setdefault(value, []).append(row)
        return self._rows


def _family(kind: pa.DataType) -> str:
    """What values of a type can be equal to."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
        return "number"
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)
