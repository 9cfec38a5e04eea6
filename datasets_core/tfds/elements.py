"""Elements of a split: rows, tuples of supervised columns, results of functions, or batches of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.media.media import Media
from datasets_core.features.media.types import Image
from datasets_core.features.types import FixedShape
from datasets_core.tfds.connectors import np_dtype_of, shape_of

# Values of rows as `tfds.as_numpy` returns them, made from the plain Python that the library reads.


Convert = Callable[[Any], Any]
_OBJECT = np.dtype(object)


def converter(feature: FeatureType) -> Convert:
    """Return a function from values of a feature to arrays and numpy scalars; texts stay texts (see `as_bytes`).

    A list of dicts becomes a dict of lists.  Lists in lists whose lengths differ become an array of arrays.

    >>> from datasets_core import List, Value
    >>> converter({"a": Value("uint8"), "b": List(Value("int32"))})({"a": 7, "b": [1, 2]})
    {'a': np.uint8(7), 'b': array([1, 2], dtype=int32)}
    """
    if isinstance(feature, dict):
        return _of_dict({name: converter(inner) for name, inner in feature.items()})
    if isinstance(feature, (List, LargeList)):
        return _of_list(feature.feature)
    if isinstance(feature, FixedShape):
        dtype, shape = np_dtype_of(feature), feature.shape
        return lambda value: None if value is None else _shaped(value, dtype, shape)
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None and not isinstance(feature, Media) else None
    if isinstance(parts, dict):
        return converter(parts)
    dtype = np_dtype_of(feature)
    if isinstance(feature, Image):
        return _picture
    if isinstance(feature, Media) or dtype == _OBJECT:
        return _same
    make = dtype.type
    return lambda value: None if value is None else make(value)


def _same(value: Any) -> Any:
    return value


def _picture(value: Any) -> Any:
    """A picture as an array, also of the library's own `Image`, which gives one of Pillow."""
    if not hasattr(value, "getbands"):
        return value
    array = np.asarray(value)
    return array[..., None] if array.ndim == 2 else array


def _of_dict(parts: Mapping[str, Convert]) -> Convert:
    def convert(value: Any) -> Any:
        return None if value is None else {name: part(value.get(name)) for name, part in parts.items()}

    return convert


def _of_list(inner: FeatureType) -> Convert:
    depth, parts = _dicts_below(inner)
    if parts is not None:
        lists = {name: _of_list(_in_lists(part, depth)) for name, part in parts.items()}

        def transposed(value: Any) -> Any:
            if value is None:
                return None
            return {name: make([_field(each, name, depth) for each in value]) for name, make in lists.items()}

        return transposed
    dtype, shape = np_dtype_of(inner), shape_of(inner)
    if isinstance(inner, (List, LargeList, FixedShape, Media)):
        each = converter(inner)
        return lambda value: None if value is None else joined([each(element) for element in value], dtype, shape)
    return lambda value: None if value is None else flat(value, dtype)


def _dicts_below(feature: FeatureType) -> tuple[int, Mapping[str, FeatureType] | None]:
    """Return the number of lists around dicts, and their features; None without dicts.  Translations are dicts too."""
    depth = 0
    while isinstance(feature, (List, LargeList)):
        feature, depth = feature.feature, depth + 1
    if isinstance(feature, dict):
        return depth, feature
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None and not isinstance(feature, Media) else None
    return depth, parts if isinstance(parts, dict) else None


def _in_lists(feature: FeatureType, depth: int) -> FeatureType:
    for _ in range(depth):
        feature = List(feature)
    return feature


def _field(value: Any, name: str, depth: int) -> Any:
    """A field of all dicts in some lists."""
    if value is None:
        return None
    return [_field(each, name, depth - 1) for each in value] if depth else value.get(name)


def flat(values: Sequence[Any], dtype: np.dtype[Any]) -> Any:
    """An array of single values; of objects where one is missing.

    >>> flat([1, None], np.dtype("int32"))
    array([1, None], dtype=object)
    """
    if dtype != _OBJECT and None not in values:
        return np.array(values, dtype)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def joined(arrays: Sequence[Any], dtype: np.dtype[Any], shape: Any) -> Any:
    """Arrays as one with a dimension more; an array of arrays where their shapes differ.

    Args:
        arrays: the arrays.
        dtype: of the result, where there are none.
        shape: of each, where there are none.
    """
    if not arrays:
        return np.zeros((0, *(size or 0 for size in shape)), dtype)
    shapes = {np.shape(array) for array in arrays if not isinstance(array, bytes)}
    if len(shapes) == 1 and all(isinstance(array, np.ndarray) for array in arrays):
        return np.stack(arrays)
    return flat(list(arrays), _OBJECT)


def _shaped(value: Any, dtype: np.dtype[Any], shape: tuple[int | None, ...]) -> Any:
    array = np.array(value, dtype)
    return array if array.ndim == len(shape) else array.reshape([size or 0 for size in shape])


def as_bytes(value: Any) -> Any:
    """A value of arrays and texts as `tfds.as_numpy` has it: texts are bytes, numbers are of numpy.

    >>> as_bytes({"text": "é", "n": 1, "words": np.array(["a", "b"], object)})
    {'text': b'\\xc3\\xa9', 'n': np.int32(1), 'words': array([b'a', b'b'], dtype=object)}
    """
    if isinstance(value, dict):
        return {name: as_bytes(inner) for name, inner in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [as_bytes(inner) for inner in value]
        return parts if isinstance(value, list) else _tuple_like(value, parts)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, np.ndarray):
        return _bytes_array(value) if value.dtype.kind in "OU" else value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):  # the types that TensorFlow gives to numbers of Python
        return np.int32(value) if -(2**31) <= value < 2**31 else np.int64(value)
    return np.float32(value) if type(value) is float else value


def _tuple_like(value: tuple[Any, ...], parts: list[Any]) -> Any:
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def _bytes_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    made = np.empty(array.shape, object)
    for place, value in np.ndenumerate(array):
        made[place] = value.encode() if isinstance(value, str) else _bytes_array(value) if _is_objects(value) else value
    return made


def _is_objects(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "OU"


def as_plain(value: Any) -> Any:
    """Return the result of a function with numpy scalars as Python's own.

    >>> as_plain({"a": np.int64(1), "b": (np.float32(0.5), "x")})
    {'a': 1, 'b': (0.5, 'x')}
    """
    if isinstance(value, dict):
        return {name: as_plain(inner) for name, inner in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [as_plain(inner) for inner in value]
        return parts if isinstance(value, list) else _tuple_like(value, parts)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()].item() if value.dtype != _OBJECT else value[()]
    return value.item() if isinstance(value, np.generic) else value


def stacked(values: Sequence[Any], *, pads: bool = False) -> Any:
    """Elements put together, with a dimension more in front.

    Args:
        values: the elements, all of one structure.
        pads: arrays of different sizes are filled up with zeros, or empty texts.

    >>> stacked([{"a": 1, "b": np.array([1, 2])}, {"a": 2, "b": np.array([3])}], pads=True)
    {'a': array([1, 2]), 'b': array([[1, 2],
           [3, 0]])}

    Raises:
        ConfigurationError: arrays of different shapes, and they are not to be filled up.
    """
    first = values[0]
    if isinstance(first, dict):
        return {name: stacked([value[name] for value in values], pads=pads) for name in first}
    if isinstance(first, (tuple, list)):
        parts = [stacked(list(part), pads=pads) for part in zip(*values, strict=True)]
        return parts if isinstance(first, list) else _tuple_like(first, parts)
    if not any(isinstance(value, np.ndarray) for value in values):
        is_number = all(isinstance(value, (np.number, np.bool_, int, float)) for value in values)
        return np.array(values) if is_number else flat(list(values), _OBJECT)
    shapes = {np.shape(value) for value in values}
    if len(shapes) == 1:
        return np.stack(values)
    if not pads or len({len(shape) for shape in shapes}) > 1:
        raise ConfigurationError(
            f"Rows of the shapes {sorted(shapes)} make no batch. Use padded_batch(), or batch_size= when loading."
        )
    return _padded(values, [max(sizes) for sizes in zip(*shapes, strict=True)])


def evened(value: Any, *, pads: bool) -> Any:
    """The values of a batch as one array, where they came as an array of arrays; of a dict, each of its values.

    Args:
        value: an array, or a dict of such.
        pads: arrays of different sizes are filled up with zeros, or empty texts.

    >>> evened(flat([np.array([1]), np.array([2, 3])], np.dtype(object)), pads=True)
    array([[1, 0],
           [2, 3]])

    Raises:
        ConfigurationError: arrays of different shapes, and they are not to be filled up.
    """
    if isinstance(value, dict):
        return {name: evened(inner, pads=pads) for name, inner in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == _OBJECT and any(isinstance(each, np.ndarray) for each in value.flat):
        return stacked([evened(each, pads=pads) for each in value], pads=pads)
    return value


def _padded(values: Sequence[Any], sizes: Sequence[int]) -> Any:
    dtype = np.result_type(*(value.dtype for value in values)) if _OBJECT not in {value.dtype for value in values} else _OBJECT
    fill: Any = 0
    if dtype == _OBJECT:
        some = next((each for value in values for each in value.flat), "")
        fill = b"" if isinstance(some, bytes) else ""
    array: Any = np.full((len(values), *sizes), fill, dtype)
    for row, value in enumerate(values):
        array[(row, *(slice(size) for size in value.shape))] = value
    return array


WHOLE = "element"
"""The column that holds what a function made, which need not be a dict."""

View = Callable[[dict[str, Any]], Any]


class Form(Protocol):
    """Makes elements of rows."""

    @property
    def has_plain_rows(self) -> bool:
        """True if elements are plain Python, made from rows in plain Python."""
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
    """Result of a function for an element, of any kind."""

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
    """Return the function from a row to an element, as iteration yields it.

    Args:
        form: makes elements.
        is_numpy: True for texts as bytes; else numpy scalars become plain Python.

    >>> view_of(Whole(), is_numpy=True)({WHOLE: "é"})
    b'\\xc3\\xa9'
    """
    if is_numpy:
        return lambda row: as_bytes(form.element(row))
    return form.element if form.has_plain_rows or isinstance(form, Batched) else lambda row: as_plain(form.element(row))
