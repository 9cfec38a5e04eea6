"""`RowBlock`: rows of one batch of tensors, taken apart only where someone looks at a row."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload


class Row(dict[str, Any]):
    """A row of a `RowBlock`: a dict, of a type of its own so that torch's `default_collate` knows it."""

    __slots__ = ()


class RowBlock(Sequence[dict[str, Any]]):
    """The rows of a batch, as a sequence of dicts.

    torch's `default_collate` makes of it the batch that it came from, without a look at the rows.

    Args:
        columns: the batch: for each column a tensor or a list, one entry for each row.
        num_rows: how many rows there are.

    >>> RowBlock({"a": [1, 2]}, 2)[1]
    {'a': 2}
    """

    def __init__(self, columns: dict[str, Any], num_rows: int) -> None:
        self.columns, self._num_rows = columns, num_rows
        if "torch" in sys.modules:
            _teach_torch()

    def __len__(self) -> int:
        return self._num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns = [list(values.unbind(0) if hasattr(values, "unbind") else values) for values in self.columns.values()]
        if not columns:
            return (Row() for _ in range(self._num_rows))
        return (Row(zip(self.columns, values, strict=True)) for values in zip(*columns, strict=True))

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return list(self)[key]
        if not -self._num_rows <= key < self._num_rows:
            raise IndexError(key)
        return Row((name, values[key]) for name, values in self.columns.items())

    def __eq__(self, other: object) -> bool:
        return list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return RowBlock, (self.columns, self._num_rows)


def _teach_torch() -> None:
    """Enter `Row` into the table of `default_collate`, which torch keeps for other packages' types to be added to."""
    from torch.utils.data._utils.collate import default_collate_fn_map

    default_collate_fn_map.setdefault(Row, _collated)


def _collated(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> dict[str, Any]:
    from torch import Tensor
    from torch.utils.data._utils.collate import collate

    if not isinstance(batch, RowBlock):
        return {name: collate([row[name] for row in batch], collate_fn_map=collate_fn_map) for name in batch[0]}
    return {
        name: values if isinstance(values, Tensor) else collate(list(values), collate_fn_map=collate_fn_map)
        for name, values in batch.columns.items()
    }
