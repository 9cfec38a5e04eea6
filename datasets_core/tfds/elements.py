"""What an element of a split is: a row, a tuple of its supervised columns, what a function made, or a batch of such."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType
from datasets_core.tfds.values_out import as_bytes, as_plain, converter, stacked

WHOLE = "element"
"""The column that holds what a function made, where that need not be a dict."""

Features = Mapping[str, FeatureType]
View = Callable[[dict[str, Any]], Any]


class Form(Protocol):
    """Makes elements of rows."""

    def plain(self, features: Features | None) -> View:
        """What makes an element in plain Python of a row."""
        ...

    def arrays(self, features: Features | None) -> View:
        """What makes an element with numbers of numpy, as functions get it."""
        ...


def as_numpy_view(form: Form, features: Features | None) -> View:
    """What makes an element of a row as `tfds.as_numpy` has it: texts are bytes.

    >>> from datasets_core import Value
    >>> as_numpy_view(Row(), {"a": Value("string")})({"a": "x"})
    {'a': b'x'}
    """
    arrays = form.arrays(features)
    return lambda row: as_bytes(arrays(row))


@dataclass(frozen=True, slots=True)
class Row:
    """The row itself."""

    def plain(self, features: Features | None) -> View:
        """See `Form.plain`."""
        return _same

    def arrays(self, features: Features | None) -> View:
        """See `Form.arrays`."""
        return _same if features is None else converter(dict(features))


def _same(row: dict[str, Any]) -> Any:
    return row


@dataclass(frozen=True, slots=True)
class Supervised:
    """The columns that a supervised task names, in tuples and dicts as it names them.

    >>> Supervised(("x", "y")).plain(None)({"x": 1, "y": 2, "z": 3})
    (1, 2)
    """

    keys: Any

    def plain(self, features: Features | None) -> View:
        """See `Form.plain`."""
        return lambda row: _chosen(self.keys, row)

    def arrays(self, features: Features | None) -> View:
        """See `Form.arrays`."""
        convert = Row().arrays(features)
        return lambda row: _chosen(self.keys, convert(row))


def _chosen(keys: Any, row: Mapping[str, Any]) -> Any:
    if isinstance(keys, str):
        return row[keys]
    if isinstance(keys, Mapping):
        return {name: _chosen(inner, row) for name, inner in keys.items()}
    return tuple(_chosen(inner, row) for inner in keys)


def supervised(keys: Any, features: Features, *, dataset: str) -> Supervised:
    """The form for the columns that `supervised_keys` of a dataset names.

    Raises:
        ConfigurationError: it names none.
        UnknownColumnError: it names one that does not exist.
    """
    if keys is None:
        raise ConfigurationError(f"{dataset} names no supervised_keys. Leave as_supervised=True out.")
    for name in _names(keys):
        if name not in features:
            raise UnknownColumnError(name, known=list(features))
    return Supervised(keys)


def _names(keys: Any) -> list[str]:
    if isinstance(keys, str):
        return [keys]
    return [name for inner in (keys.values() if isinstance(keys, Mapping) else keys) for name in _names(inner)]


@dataclass(frozen=True, slots=True)
class Whole:
    """What a function made of an element, whatever that is."""

    def plain(self, features: Features | None) -> View:
        """See `Form.plain`."""
        return lambda row: as_plain(row[WHOLE])

    def arrays(self, features: Features | None) -> View:
        """See `Form.arrays`."""
        return lambda row: row[WHOLE]


@dataclass(frozen=True, slots=True)
class Batched:
    """Elements put together, of a row that holds a list for each column.

    Attributes:
        inner: makes the elements.
        pads: arrays of different sizes are filled up.
    """

    inner: Form
    pads: bool = False

    def plain(self, features: Features | None) -> View:
        """See `Form.plain`."""
        return self.arrays(features)

    def arrays(self, features: Features | None) -> View:
        """See `Form.arrays`."""
        each = self.inner.arrays(None if features is None else {name: _element(kind) for name, kind in features.items()})

        def made(row: dict[str, Any]) -> Any:
            rows = [dict(zip(row, values, strict=True)) for values in zip(*row.values(), strict=True)]
            return stacked([each(one) for one in rows], pads=self.pads)

        return made


def _element(feature: Any) -> FeatureType:
    """The feature of the elements of a column of lists."""
    return feature.feature  # type: ignore[no-any-return]


class OnElement:
    """A function on elements, as a function on rows; it is known by what it was made of, not by what it has seen.

    Args:
        function: the user's; a tuple comes to it as several arguments.  None numbers the elements.
        form: makes elements of rows.
        features: of the rows.
        is_test: the answer decides whether the row stays.
        first: the number of the first element.
    """

    def __init__(
        self,
        function: Callable[..., Any] | None,
        form: Form,
        features: Features | None,
        is_test: bool = False,
        first: int = 0,
    ) -> None:
        self._made_of = function, form, None if features is None else dict(features), is_test, first
        self._function, self._is_test, self._first = function, is_test, first
        self._view = form.arrays(features)
        self.__qualname__ = getattr(function, "__qualname__", "enumerate")  # for errors

    def __call__(self, row: Mapping[str, Any], number: int = 0) -> Any:
        element = self._view(dict(row))
        if self._function is None:
            return {WHOLE: (np.int64(self._first + number), element)}
        answer = self._function(*element) if type(element) is tuple else self._function(element)
        return bool(answer) if self._is_test else {WHOLE: answer}

    def __reduce__(self) -> tuple[type[OnElement], tuple[Any, ...]]:
        return OnElement, self._made_of
