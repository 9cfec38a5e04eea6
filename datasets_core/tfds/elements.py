"""What an element of a split is: a row, a tuple of its supervised columns, what a function made, or a batch of such."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType
from datasets_core.tfds.values_out import as_bytes, as_plain, evened, stacked

WHOLE = "element"
"""The column that holds what a function made, which need not be a dict."""

View = Callable[[dict[str, Any]], Any]


class Form(Protocol):
    """Makes elements of rows."""

    @property
    def has_plain_rows(self) -> bool:
        """Whether iteration gives its elements in plain Python, made of rows in plain Python."""
        ...

    def element(self, row: dict[str, Any]) -> Any:
        """The element of a row."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """The row itself."""

    has_plain_rows: bool = True

    def element(self, row: dict[str, Any]) -> Any:
        """See `Form.element`."""
        return row


@dataclass(frozen=True, slots=True)
class Supervised:
    """The columns that a supervised task names, in tuples and dicts as it names them.

    >>> Supervised(("x", "y")).element({"x": 1, "y": 2, "z": 3})
    (1, 2)
    """

    keys: Any
    has_plain_rows: bool = True

    @property
    def names(self) -> list[str]:
        """The columns, each once."""
        return list(dict.fromkeys(_names(self.keys)))

    def element(self, row: dict[str, Any]) -> Any:
        """See `Form.element`."""
        return _chosen(self.keys, row)


def _chosen(keys: Any, row: Mapping[str, Any]) -> Any:
    if isinstance(keys, str):
        return row[keys]
    if isinstance(keys, Mapping):
        return {name: _chosen(inner, row) for name, inner in keys.items()}
    return tuple(_chosen(inner, row) for inner in keys)


def supervised(keys: Any, features: Mapping[str, FeatureType], *, dataset: str) -> Supervised:
    """The form for the columns that `supervised_keys` of a dataset names.

    Raises:
        ConfigurationError: it names none.
        UnknownColumnError: it names one that does not exist.
    """
    if keys is None:
        raise ConfigurationError(f"{dataset} names no supervised_keys. Leave as_supervised=True out.")
    form = Supervised(keys)
    for name in form.names:
        if name not in features:
            raise UnknownColumnError(name, known=list(features))
    return form


def _names(keys: Any) -> list[str]:
    if isinstance(keys, str):
        return [keys]
    return [name for inner in (keys.values() if isinstance(keys, Mapping) else keys) for name in _names(inner)]


@dataclass(frozen=True, slots=True)
class Whole:
    """What a function made of an element, whatever that is."""

    has_plain_rows: bool = False

    def element(self, row: dict[str, Any]) -> Any:
        """See `Form.element`."""
        return row[WHOLE]


@dataclass(frozen=True, slots=True)
class Batched:
    """Elements put together, of a row that holds an array or a list for each column.

    Attributes:
        inner: makes the elements.
        pads: arrays of different sizes are filled up.

    >>> Batched(Supervised(("x", "y"))).element({"x": [1, 2], "y": ["a", "b"]})
    (array([1, 2]), array(['a', 'b'], dtype=object))
    """

    inner: Form
    pads: bool = False
    has_plain_rows: bool = False

    def element(self, row: dict[str, Any]) -> Any:
        """See `Form.element`."""
        if row.keys() == {WHOLE}:
            return stacked([self.inner.element({WHOLE: value}) for value in row[WHOLE]], pads=self.pads)
        return self.inner.element({name: self._column(value) for name, value in row.items()})

    def _column(self, value: Any) -> Any:
        return stacked(value, pads=self.pads) if isinstance(value, list) else evened(value, pads=self.pads)


def view_of(form: Form, *, is_numpy: bool) -> View:
    """What makes an element, as iteration gives it, of a row.

    Args:
        form: makes elements.
        is_numpy: texts are bytes; else scalars of numpy are plain Python.

    >>> view_of(Whole(), is_numpy=True)({WHOLE: "é"})
    b'\\xc3\\xa9'
    """
    if is_numpy:
        return lambda row: as_bytes(form.element(row))
    return form.element if form.has_plain_rows or isinstance(form, Batched) else lambda row: as_plain(form.element(row))
