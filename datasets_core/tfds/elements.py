"""Elements of a split (rows, tuples of columns, results of functions, batches), and rows yielded by authors of builders."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from datasets_core.errors import CastError, CellCastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.media import Media
from datasets_core.features.media.types import Image, is_pillow_image
from datasets_core.features.serialization import AUDIO, BOX, DATASET, ENCODED, VIDEO, is_optional, kind_of
from datasets_core.features.types import ClassLabel, FixedShape
from datasets_core.files import is_url
from datasets_core.tfds.connectors import ListColumns, TensorList, np_dtype_of, rounded, shape_of
from datasets_core.tfds.images import frames_of, samples_of

# Values of rows as returned by `tfds.as_numpy`, made from the Python values that the library reads.


Convert = Callable[[Any], Any]
_OBJECT = np.dtype(object)


def converter(feature: FeatureType) -> Convert:
    """Return a function from values of a feature to arrays and numpy scalars; strings stay strings (see `as_bytes`).

    A list of dicts becomes a dict of lists.  Nested lists of different lengths become an array of arrays.

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
    """Return an image as an array, even for the library's own `Image`, which decodes to Pillow images."""
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
    """Return a field of all dicts in nested lists."""
    if value is None:
        return None
    return [_field(each, name, depth - 1) for each in value] if depth else value.get(name)


def flat(values: Sequence[Any], dtype: np.dtype[Any]) -> Any:
    """Return an array of single values; of objects if a value is missing.

    >>> flat([1, None], np.dtype("int32"))
    array([1, None], dtype=object)
    """
    if dtype != _OBJECT and None not in values:
        return np.array(values, dtype)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def joined(arrays: Sequence[Any], dtype: np.dtype[Any], shape: Any) -> Any:
    """Return arrays stacked along a new dimension; an array of arrays if their shapes differ.

    Args:
        arrays: the arrays.
        dtype: dtype of the result, if there are no arrays.
        shape: shape of each array, if there are none.
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
    """Return a value as `tfds.as_numpy` returns it: strings as bytes, numbers as numpy scalars.

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
    if isinstance(value, int):  # the dtypes that TensorFlow uses for Python numbers
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
    """Return the result of a function with numpy scalars converted to Python values.

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
    """Stack elements along a new first dimension.

    Args:
        values: the elements, all with the same structure.
        pads: True to pad arrays of different sizes with zeros, or empty strings.

    >>> stacked([{"a": 1, "b": np.array([1, 2])}, {"a": 2, "b": np.array([3])}], pads=True)
    {'a': array([1, 2]), 'b': array([[1, 2],
           [3, 0]])}

    Raises:
        ConfigurationError: the shapes of arrays differ, and `pads` is False.
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
            f"Rows with the shapes {sorted(shapes)} cannot be batched", advice="Use padded_batch(), or batch_size= when loading"
        )
    return _padded(values, [max(sizes) for sizes in zip(*shapes, strict=True)])


def evened(value: Any, *, pads: bool) -> Any:
    """Return an array of arrays as one array; for a dict, each of its values.

    Args:
        value: an array, or a dict of arrays.
        pads: True to pad arrays of different sizes with zeros, or empty strings.

    >>> evened(flat([np.array([1]), np.array([2, 3])], np.dtype(object)), pads=True)
    array([[1, 0],
           [2, 3]])

    Raises:
        ConfigurationError: the shapes of arrays differ, and `pads` is False.
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
"""Column with the result of a function, which need not be a dict."""

View = Callable[[dict[str, Any]], Any]


class Form(Protocol):
    """Converts rows to elements."""

    @property
    def has_plain_rows(self) -> bool:
        """True if elements are Python values, made from rows of Python values."""
        ...

    def element(self, row: dict[str, Any]) -> Any:
        """Return the element of a row."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """Rows as elements."""

    has_plain_rows: bool = True

    def element(self, row: dict[str, Any]) -> Any:
        """See `Form.element`."""
        return row


@dataclass(frozen=True, slots=True)
class Supervised:
    """The columns of a supervised task, in the same structure of tuples and dicts.

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
    """Return the form for the columns in `supervised_keys` of a dataset.

    Raises:
        ConfigurationError: the dataset has no `supervised_keys`.
        UnknownColumnError: a column does not exist.
    """
    if keys is None:
        raise ConfigurationError(f"{dataset} has no supervised_keys", advice="Omit as_supervised=True")
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
    """Batches of elements, from rows that have an array or a list for each column.

    Attributes:
        inner: form of the elements.
        pads: True to pad arrays of different sizes.

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
    """Return the function that converts a row to an element for iteration.

    Args:
        form: form of the elements.
        is_numpy: True to return strings as bytes; otherwise numpy scalars become Python values.

    >>> view_of(Whole(), is_numpy=True)({WHOLE: "é"})
    b'\\xc3\\xa9'
    """
    if is_numpy:
        return lambda row: as_bytes(form.element(row))
    return form.element if form.has_plain_rows or isinstance(form, Batched) else lambda row: as_plain(form.element(row))


# Rows yielded by authors of TFDS builders, converted to stored rows; files are read immediately.


Change = Callable[[Any], Any]
_NUMBERS = (int, float, complex, np.number, np.bool_)
_FLOATS = frozenset({"float16", "float32", "float64"})


def row_change(features: Mapping[str, FeatureType]) -> Change:
    """Return the conversion of a row before it is stored; it reads files while they are open, and requires all columns.

    A row that needs no conversion is returned unchanged.

    >>> from datasets_core import tfds
    >>> change = row_change({"x": tfds.features.Dataset(np.int64), "y": tfds.features.Text()})
    >>> change({"x": (number for number in range(3)), "y": "a"})
    {'x': [0, 1, 2], 'y': 'a'}
    >>> change({"x": [1]})
    Traceback (most recent call last):
    datasets_core.errors.CellCastError: Column 'y': the row has no value. Yield a value, or make the feature Optional.
    """
    plan = [(name, _change(each), is_optional(each), _missing(each)) for name, each in features.items()]

    def changed(row: Any) -> Any:
        if not isinstance(row, Mapping):
            return row  # the library reports what is wrong with it
        new: dict[str, Any] | None = None
        for name, change, may_lack, missing in plan:
            value = row.get(name)
            if value is None:
                if may_lack:
                    continue
                if missing is None or name not in row:
                    _refuse("it is None" if name in row else "the row has no value", _WHOLE, name)
                made: Any = missing
            elif change is None:
                continue
            else:
                try:
                    made = change(value)
                except CellCastError as error:
                    _refuse(error.reason, error.advice, f"{name}.{error.column}".rstrip("."))
            if made is not value:
                new = dict(row) if new is None else new
                new[name] = made
        return row if new is None else new

    return changed


def whole_row_change(features: Mapping[str, FeatureType]) -> Change:
    """Return the conversion of a row; it may be a list of dicts if all features are lists."""
    is_listed = bool(features) and all(isinstance(each, List) for each in features.values())
    return _dicts(features, is_listed=True) if is_listed else row_change(features)


_WHOLE = "Yield a value, or make the feature Optional"


def _refuse(reason: str, advice: str | None = None, column: str = "") -> NoReturn:
    raise CellCastError(column, reason, advice=advice)


def _missing(feature: FeatureType) -> Any:
    """Return the value for None, as in TFDS: NaN for floats; None if there is none."""
    return math.nan if isinstance(feature, Value) and feature.dtype in _FLOATS else None


def _change(feature: FeatureType) -> Change | None:
    if isinstance(feature, dict):
        return _dicts(feature)
    if isinstance(feature, Media):
        return _file
    if isinstance(feature, ClassLabel):
        return _label(feature)
    if isinstance(feature, Value):
        return _text if _is_text(feature) else _number(feature)
    if isinstance(feature, FixedShape):
        return rounded if _is_rounded(feature, feature.element) else None
    if not isinstance(feature, (List, LargeList)):
        return None
    kind = kind_of(feature)
    if kind.startswith(AUDIO):
        plain = _plain(feature.feature, None, may_lack=False) if isinstance(feature.feature, Value) else _same
        return lambda value: plain(samples_of(value))
    if kind == VIDEO:
        return lambda value: _listed(frames_of(value, feature.feature), _file, may_lack=False)
    inner, of = feature.feature, None if kind == ENCODED else _change(feature.feature)
    may_lack, is_rounded = is_optional(inner), kind != ENCODED and _is_deeply_rounded(inner)
    if kind.startswith(BOX):
        return _box(kind)
    if isinstance(inner, Value):
        return _plain(inner, of, may_lack=may_lack, is_dataset=kind == DATASET, is_tensor=isinstance(feature, TensorList))
    if isinstance(inner, dict):
        return lambda value: _listed(_unstacked(value) if isinstance(value, Mapping) else value, of, may_lack=may_lack)
    if is_rounded:
        return lambda value: rounded(value) if isinstance(value, np.ndarray) else _listed(value, of, may_lack=may_lack)
    return lambda value: _listed(value, of, may_lack=may_lack)


def _unstacked(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a sequence of dicts that is given by columns: equally long arrays or lists, or dicts of these.

    >>> _unstacked({"a": [1, 2], "b": {"c": ["x", "y"]}})
    [{'a': 1, 'b': {'c': 'x'}}, {'a': 2, 'b': {'c': 'y'}}]
    """
    parts = {
        name: _unstacked(value) if isinstance(value, Mapping) else value if hasattr(value, "__len__") else list(value)
        for name, value in columns.items()
    }
    _check_equally_long(parts)
    return [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]


def _check_equally_long(columns: Mapping[str, Any]) -> None:
    sizes = {name: len(part) for name, part in columns.items() if isinstance(part, (list, tuple, np.ndarray))}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name!r}: {size}" for name, size in sizes.items())
        _refuse(f"its columns have different lengths ({found})", "Give one value for each element to every column")


def _dicts(features: Any, *, is_listed: bool = False) -> Change:
    """Return the conversion of a dict; if all its columns are lists, a list of dicts is also accepted and converted."""
    whole, is_sequence = row_change(features), isinstance(features, ListColumns)
    lists = {name: each.feature for name, each in features.items() if isinstance(each, (List, LargeList))}
    of_each = _dicts(lists, is_listed=True) if len(lists) == len(features) else None

    def changed(value: Any) -> Any:
        if isinstance(value, Mapping) or of_each is None:
            made = whole(value)
            if is_sequence and isinstance(made, Mapping):
                _check_equally_long({name: made.get(name) for name in features})
            return made
        made = _listed(value, of_each, may_lack=False)
        if is_listed and isinstance(made, (list, tuple)) and all(isinstance(each, Mapping) for each in made):
            return {name: [each.get(name) for each in made] for name in features}
        return made

    return changed


def _listed(value: Any, change: Change | None, *, may_lack: bool) -> Any:
    is_array = isinstance(value, np.ndarray) and value.dtype != object and change is not _file
    if is_array or isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return value
    made = []
    for each in value:
        if each is None and not may_lack:
            _refuse("one of its items is None", _WHOLE)
        made.append(each if each is None or change is None else change(each))
    same = isinstance(value, (list, tuple)) and all(new is old for new, old in zip(made, value, strict=True))
    return value if same else made


def _is_text(feature: Value) -> bool:
    return feature.dtype in ("string", "large_string")


def _plain(inner: Value, change: Change | None, *, may_lack: bool, is_dataset: bool = False, is_tensor: bool = False) -> Change:
    """Return the conversion of a list of numbers or strings; only their types are checked if no value has to change."""
    is_text, missing, dtype = _is_text(inner), _missing(inner), np_dtype_of(inner)
    each = None if is_text else change
    as_they_are = _INTEGERS if dtype.kind in "iu" else _INTEGERS | _FLOATING if dtype.kind == "f" else _TRUTHS
    is_rounded = change is not None and _is_rounded(inner, inner)

    def plain(value: Any) -> Any:
        if is_dataset and hasattr(value, "__next__"):
            value = list(value)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and dtype.kind in "iu" and not is_tensor:
            return np.trunc(value)  # items are truncated as in TFDS
        if isinstance(value, np.ndarray) and is_rounded:
            return rounded(value)
        if not isinstance(value, (list, tuple)):
            return value
        kinds = set(map(type, value))
        if type(None) in kinds and not may_lack:
            if missing is None:
                _refuse("one of its items is None", _WHOLE)
            value = [missing if item is None else item for item in value]
        for kind in kinds if is_text else ():
            if issubclass(kind, _NUMBERS):
                _refuse(f"it contains a {kind.__name__}, which is not a string")
        if each is None or kinds <= as_they_are:
            return rounded(value) if is_rounded and kinds else value
        return [item if item is None else each(item) for item in value]

    return plain


_INTEGERS = frozenset({int, *(np.dtype(code).type for code in "bhilqBHILQ")})
_FLOATING = frozenset({float, *(np.dtype(code).type for code in "efd")})
_TRUTHS = frozenset({bool, np.bool_})
_REAL = (float, np.floating)


def _number(feature: Value) -> Change | None:
    """Return numbers as numpy converts them: strings are parsed, and fractions truncated for integers."""
    dtype, is_rounded = np_dtype_of(feature), _is_rounded(feature, feature)
    if dtype.kind not in "iufb":
        return None
    changed = (str, bytes, *(_REAL if dtype.kind in "iu" else _NUMBERS if dtype.kind == "b" or is_rounded else ()))

    def number(value: Any) -> Any:
        if not isinstance(value, changed) or type(value) in (bool, np.bool_):
            return value
        if dtype.kind == "b" and isinstance(value, (str, bytes)):
            _refuse(f"{value!r} is a string, and every non-empty string is true", "Yield True or False")
        try:
            with np.errstate(invalid="raise"):
                made = np.array(value, dtype)
        except (TypeError, ValueError, OverflowError, FloatingPointError):
            return value  # the library reports what is wrong with it
        return (rounded(made) if is_rounded else made).item()

    return number


def _is_rounded(feature: FeatureType, element: Value) -> bool:
    return element.dtype == "float64" and kind_of(feature) != ENCODED


def _is_deeply_rounded(feature: FeatureType) -> bool:
    if isinstance(feature, (List, LargeList)) and kind_of(feature) != ENCODED:
        return _is_deeply_rounded(feature.feature)
    element = feature.element if isinstance(feature, FixedShape) else feature
    return isinstance(element, Value) and _is_rounded(feature, element)


def _label(feature: ClassLabel) -> Change:
    """Return the number of a class, by the current names of the feature, which authors set after downloading the data."""

    def label(value: Any) -> Any:
        if not isinstance(value, (str, bytes)):
            return value
        try:
            return feature.str2int(value.decode() if isinstance(value, bytes) else value)
        except CastError as error:
            _refuse(str(error).rstrip("."), "Set the names, or yield an existing one")

    return label


def _box(kind: str) -> Change:
    """Return the four numbers of a box; relative coordinates are checked."""
    form = kind.removeprefix(BOX).strip() or "REL_YXYX"

    def box(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            value = value.astype(np.float64)
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 4:
            _refuse(f"{value!r} is not a box", "Yield a BBox, or an array of four numbers")
        if form in ("REL_YXYX", "REL_XYXY") and not all(isinstance(edge, _REAL) and 0 <= edge <= 1 for edge in value):
            _refuse(f"{value!r} has coordinates outside 0 to 1", "Divide them by height and width of the image")
        if form in ("REL_YXYX", "YXYX") and (value[2] < value[0] or value[3] < value[1]):
            _refuse(f"{value!r} has a maximum below its minimum", "Yield ymin <= ymax and xmin <= xmax")
        return value

    return box


def _text(value: Any) -> Any:
    if type(value) is not str and isinstance(value, _NUMBERS):
        _refuse(f"{value!r} ({type(value).__name__}) is not a string", "Yield a str, or declare the feature by a dtype")
    return value


def _file(value: Any) -> Any:
    """Return the bytes of a file given by path or as an open file; other values are unchanged."""
    path = value
    if isinstance(value, Mapping):
        path = value.get("path") if value.get("bytes") is None and value.keys() <= {"bytes", "path"} else None
    elif is_pillow_image(value):
        path = getattr(value, "filename", None) or None
    try:
        if isinstance(path, (str, os.PathLike)):
            if is_url(os.fspath(path)):
                return value
            with open(path, "rb") as file:
                return {"bytes": file.read(), "path": os.path.basename(os.fspath(path))}
        read = getattr(value, "read", None)
        if read is None:
            return value
        data = read()
    except (OSError, ValueError) as error:
        _refuse(f"{path!r} cannot be read: {error}", "Yield the path of an existing file, an open file, or an array")
    if not isinstance(data, bytes):
        _refuse(f"{value!r} returned {type(data).__name__}", "Open the file with mode 'rb'")
    return {"bytes": data, "path": None}
