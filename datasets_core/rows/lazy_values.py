"""Rows and batches whose values are read, and decoded, when they are first looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class Source(Protocol):
    """What the values are read from."""

    def value(self, name: str, number: int) -> Any:
        """The value of a column in a row; of all rows, for a batch."""
        ...


class _Untouched:
    def __repr__(self) -> str:
        return "<not read>"


UNTOUCHED: Any = _Untouched()
"""Stands for a value that nobody has looked at."""
_NONE = object()


class LazyDict(dict[str, Any]):
    """A dict in which `UNTOUCHED` stands for what the source has; every way to look at it reads it.

    >>> class Letters:
    ...     def value(self, name, number):
    ...         return name * number
    >>> row = LazyDict({"a": UNTOUCHED, "b": UNTOUCHED}, Letters(), 2)
    >>> row["a"], list(row), untouched(row)
    ('aa', ['a', 'b'], ['b'])
    >>> dict(row)
    {'a': 'aa', 'b': 'bb'}
    """

    __slots__ = ("_number", "_source")

    def __init__(self, values: dict[str, Any], source: Source, number: int) -> None:
        super().__init__(values)
        self._source, self._number = source, number

    def __getitem__(self, name: str) -> Any:
        value = dict.__getitem__(self, name)
        if value is UNTOUCHED:
            value = self._source.value(name, self._number)
            dict.__setitem__(self, name, value)
        return value

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self)  # overridden, so that dict(row) and {**row} do not copy the values unread

    def _read(self) -> LazyDict:
        for name in untouched(self):
            self[name]
        return self

    def get(self, name: str, default: Any = None) -> Any:
        """See `dict.get`."""
        if name not in self:
            return default
        return self[name]

    def setdefault(self, name: str, default: Any = None) -> Any:
        """See `dict.setdefault`."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, default: Any = _NONE) -> Any:
        """See `dict.pop`."""
        if name not in self and default is not _NONE:
            return default
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        """See `dict.popitem`."""
        name = next(reversed(self))
        return name, self.pop(name)

    def values(self) -> Any:
        """See `dict.values`."""
        return dict.values(self._read())

    def items(self) -> Any:
        """See `dict.items`."""
        return dict.items(self._read())

    def copy(self) -> dict[str, Any]:
        """A plain dict of what is in it."""
        return dict(self.items())

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        from copy import deepcopy

        return deepcopy(self.copy(), memo)

    def __or__(self, other: Any) -> Any:
        return self.copy() | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self.copy()

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(self.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)


def held(values: dict[str, Any]) -> dict[str, Any]:
    """What a dict holds now, with `UNTOUCHED` for what was not read.

    >>> held({"a": 1})
    {'a': 1}
    """
    if isinstance(values, LazyDict):
        return dict(zip(dict.keys(values), dict.values(values), strict=True))
    return values


def untouched(values: dict[str, Any]) -> list[str]:
    """The names whose values were not read."""
    return [name for name, value in zip(dict.keys(values), dict.values(values), strict=True) if value is UNTOUCHED]
