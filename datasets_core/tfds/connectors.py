"""Features of the library with the attributes that code for TFDS uses: shape and dtype, the feature of elements, names set
later.
"""

from __future__ import annotations

import copy
import dataclasses
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features import types as library_arrays
from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.schema import Features
from datasets_core.features.serialization import DATASET, array_feature, is_optional, kind_of
from datasets_core.features.types import ClassLabel as LibraryClassLabel
from datasets_core.features.types import FixedShape
from datasets_core.features.types import Translation as LibraryTranslation
from datasets_core.features.types import TranslationVariableLanguages as LibraryTranslationVariableLanguages
from datasets_core.features.values import encode_value
from datasets_core.scripting.compat.tensorflow import TYPES
from datasets_core.tfds.images import ImageArray

# Conversion of what users of TFDS write for a feature (a feature, a dtype, a dict of them) to the library's features.


_STRINGS = {"str", "string", "object", "str_", "unicode"}


def dtype_name(dtype: Any) -> str:
    """Return the `Value` name of a dtype of numpy, TensorFlow, jax or Python; text and objects are strings.

    >>> dtype_name(np.int64), dtype_name(str), dtype_name("uint8"), dtype_name(np.dtype("float32"))
    ('int64', 'string', 'uint8', 'float32')

    Raises:
        ConfigurationError: the value is not a dtype.
    """
    if isinstance(dtype, pa.DataType):
        return Value(dtype).dtype
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if isinstance(name, str) and name in _STRINGS:
        return "string"
    if isinstance(dtype, str) and dtype not in np.sctypeDict and not _is_numpy(dtype):
        return Value(dtype).dtype  # names such as "timestamp[us]"
    wanted = getattr(dtype, "as_numpy_dtype", dtype)  # the default in TensorFlow
    try:
        found = np.dtype(wanted)
    except TypeError as error:
        raise ConfigurationError(
            f"{dtype!r} is not a valid dtype", advice="Pass for example np.int64, 'float32' or str", value=dtype
        ) from error
    if found.kind in "UO":
        return "string"
    return "binary" if found.kind == "S" else Value(found.name).dtype


def _is_numpy(name: str) -> bool:
    try:
        np.dtype(name)
    except TypeError:
        return False
    return True


def is_dtype(given: Any) -> bool:
    """Return True if a value is a dtype instead of a feature."""
    return isinstance(given, (str, type, np.dtype)) or hasattr(given, "as_numpy_dtype")


def feature_of(given: Any) -> FeatureType:
    """Return the feature for a feature, a dtype, a dict of these, or a list with one element.

    >>> feature_of({"a": np.int64, "b": {"c": "string"}, "d": [np.uint8]})
    {'a': Value('int64'), 'b': {'c': Value('string')}, 'd': List(Value('uint8'))}

    Raises:
        ConfigurationError: the value is none of these.
    """
    if isinstance(given, Feature):
        return given
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise ConfigurationError(f"{name!r} is not a valid feature name", advice="Use a string", value=name)
        return {name: feature_of(inner) for name, inner in given.items()}
    if isinstance(given, (list, tuple)) and len(given) == 1:
        return List(feature_of(given[0]))
    if is_dtype(given):
        return Value(dtype_name(given))
    raise ConfigurationError(
        f"{given!r} is not a feature", advice="Pass a feature of tfds.features, a dtype, or a dict of them", value=given
    )


def tensor_of(shape: Any, dtype: Any, id: str | None = None) -> Feature:
    """Return the feature for arrays of a shape; sizes may be None.

    >>> tensor_of((3,), np.float32), tensor_of((None, 2), "int32"), tensor_of((None, None), "int8")
    (List(Value('float32'), length=3), Array2D(shape=(None, 2), dtype='int32'), List(List(Value('int8'))))

    Raises:
        ConfigurationError: the shape or dtype is invalid.
    """
    name = dtype_name(dtype)
    made: Any = array_feature(_sizes(shape), name)
    return made if id is None else dataclasses.replace(made, id=id)  # type: ignore[no-any-return]


def _sizes(shape: Any) -> tuple[int | None, ...]:
    try:
        sizes = tuple(None if size is None else int(size) for size in shape)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"shape={shape!r} is not a valid shape", advice="Pass a tuple, for example (None, 3)", value=shape
        ) from error
    if any(size is not None and size < 0 for size in sizes):
        raise ConfigurationError(f"shape={shape!r} has a negative size", advice="Use None for a variable size", value=shape)
    return sizes


def shape_of(feature: FeatureType) -> Any:
    """Return the shape of the values of a feature, as in TFDS; for a dict, a dict of shapes.

    >>> shape_of({"a": Value("int8"), "b": List(List(Value("int8"), length=4))})
    {'a': (), 'b': (None, 4)}
    """
    if isinstance(feature, dict):
        return {name: shape_of(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        length = getattr(feature, "length", -1)
        return _below(None if length == -1 else length, shape_of(feature.feature))
    if isinstance(feature, (FixedShape, ImageArray)):
        return feature.shape
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None else None
    return shape_of(parts) if isinstance(parts, dict) else ()


def _below(size: int | None, inner: Any) -> Any:
    return {name: _below(size, part) for name, part in inner.items()} if isinstance(inner, dict) else (size, *inner)


def np_dtype_of(feature: FeatureType) -> Any:
    """Return the numpy dtype of the values of a feature; for a dict, a dict of dtypes.  Strings and bytes are objects.

    >>> np_dtype_of(List(Value("int32")))
    dtype('int32')
    """
    if isinstance(feature, dict):
        return {name: np_dtype_of(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return np_dtype_of(feature.feature)
    if isinstance(feature, FixedShape):
        return np_dtype_of(feature.element)
    if isinstance(feature, ImageArray):
        return feature.np_dtype
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None else None
    if isinstance(parts, dict):
        return np_dtype_of(parts)
    arrow_type = feature_to_arrow(feature)
    is_plain = pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type) or pa.types.is_boolean(arrow_type)
    return np.dtype(arrow_type.to_pandas_dtype()) if is_plain else np.dtype(object)


_SETTABLE = ("names", "num_classes")
_OF_ELEMENTS = frozenset({"int2str", "items", "keys", "languages", "num_classes", "str2int", "values"})


class TensorInfo(NamedTuple):
    """Shape and dtype of the values of a feature.

    >>> TensorInfo((2, 3), np.dtype("int8")).shape
    (2, 3)
    """

    shape: Any
    dtype: Any
    np_dtype: Any = None
    default_value: Any = None


class Connector:
    """Interface of all features of TFDS."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        library = next(each for each in type(self).__mro__ if each.__module__.startswith("datasets_core.features."))
        if not isinstance(other, library):
            return NotImplemented
        compared = [field.name for field in dataclasses.fields(cast(Any, self)) if field.compare]
        return all(getattr(self, name) == getattr(other, name) for name in compared)

    def __hash__(self) -> int:
        return super().__hash__()

    @property
    def np_dtype(self) -> Any:
        """The numpy dtype of the values."""
        return np_dtype_of(cast(FeatureType, self))

    @property
    def numpy_dtype(self) -> Any:
        """The numpy dtype of the values."""
        return self.np_dtype

    @property
    def doc(self) -> Any:
        """A description, which is not stored."""
        return None

    @property
    def optional(self) -> bool:
        """True if the value of a row may be None."""
        return is_optional(cast(FeatureType, self))

    def get_tensor_info(self) -> Any:
        """Return shape and dtype of the values; for dicts, by name."""
        return info_of(cast(FeatureType, self))

    def get_serialized_info(self) -> Any:
        """Shape and dtype of the values."""
        return self.get_tensor_info()


def info_of(feature: FeatureType) -> Any:
    """Return shape and dtype of the values of a feature.

    >>> info_of({"a": Value("int8")})["a"].dtype == np.int8
    True
    """
    if isinstance(feature, dict):
        return {name: info_of(inner) for name, inner in feature.items()}
    return TensorInfo(shape_of(feature), np_dtype_of(feature), np_dtype_of(feature))


class ScalarFeature(Connector, Value):
    """One value in each row."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """An empty shape: single values have no dimensions."""
        return ()

    encoder = vocab_size = None  # encoders of words; text is stored unchanged

    def maybe_build_from_corpus(self, corpus_generator: object, **kwargs: object) -> None:
        """None, since words are not encoded."""

    def __post_init__(self) -> None:
        Value.__post_init__(self)
        object.__setattr__(self, "dtype", TYPES.get(self.dtype, self.dtype))  # which compares equal to the numpy dtype

    def __repr__(self) -> str:
        return f"Value({str(self.dtype)!r})"


class ListFeature(Connector, List):
    """A list in each row; it has the attributes of its elements."""

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """The shape of the arrays, None for variable sizes; for a nested dataset the shape of its elements."""
        return shape_of(self.feature if kind_of(self) == DATASET else self)

    @property
    def dtype(self) -> Any:
        """The dtype of its values."""
        return np_dtype_of(self)

    @property
    def names(self) -> list[str]:
        """The names of its classes, which may be set."""
        found: list[str] = self.feature.names
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SETTABLE:
            raise AttributeError(f"{name!r} of a feature is read-only. Create a new feature.", name=name)
        setattr(self.feature, name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_ELEMENTS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name)
        return getattr(self.feature, name)

    def __getitem__(self, name: str) -> Any:
        return self.feature[name]


class TensorList(ListFeature):
    """An array of one dimension in each row."""

    __slots__ = ()


class Array2D(Connector, library_arrays.Array2D):
    """An array of two dimensions in each row."""

    __slots__ = ()


class Array3D(Connector, library_arrays.Array3D):
    """An array of three dimensions in each row."""

    __slots__ = ()


class Array4D(Connector, library_arrays.Array4D):
    """An array of four dimensions in each row."""

    __slots__ = ()


class Array5D(Connector, library_arrays.Array5D):
    """An array of five dimensions in each row."""

    __slots__ = ()


class ClassLabel(Connector, LibraryClassLabel):
    """A class label whose names may be set once after its creation."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SETTABLE:
            raise AttributeError(f"{name!r} of a feature is read-only. Create a new feature.", name=name)
        object.__setattr__(self, name, value)

    @property
    def names(self) -> list[str]:
        """The names of the classes.

        >>> from datasets_core import tfds
        >>> label = tfds.features.ClassLabel()
        >>> label.names = ["a", "b"]
        >>> label.str2int("b")
        1

        Raises:
            ConfigurationError: the classes already have other names.
        """
        found: list[str] = _NAMES.__get__(self)
        return found

    @names.setter
    def names(self, given: Iterable[Any]) -> None:
        names = [name.decode() if isinstance(name, bytes) else str(name) for name in given]
        try:
            known = self.names
        except AttributeError:  # while the feature is being created
            _NAMES.__set__(self, names)
            return
        if names == known:
            return
        is_free = known == [str(number) for number in range(len(known))] and len(names) == (len(known) or len(names))
        if not is_free:
            raise ConfigurationError(
                f"The names {names[:5]} cannot be set for a ClassLabel with {len(known)} classes named {known[:5]}. "
                "Names can only be set if there are none, one per class."
            )
        codes = LibraryClassLabel(names=names).codes  # raises for duplicate names
        _NAMES.__set__(self, names)
        object.__setattr__(self, "_codes", codes)

    @property
    def num_classes(self) -> int:
        """Number of classes; may be set if it is unknown."""
        return len(self.names)

    @num_classes.setter
    def num_classes(self, count: int) -> None:
        self.names = [str(number) for number in range(count)]

    @property
    def shape(self) -> tuple[int, ...]:
        """An empty shape: single values have no dimensions."""
        return ()

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return TYPES["int64"]


_NAMES: Any = vars(LibraryClassLabel)["names"]


class Translation(Connector, LibraryTranslation):
    """In each row, a text in each of the same languages."""

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """The shape of each text."""
        return shape_of(self)

    def __getitem__(self, language: str) -> Any:
        return dict(self.items())[language]

    def keys(self) -> list[str]:
        """Return the languages."""
        return list(self.languages)

    def items(self) -> list[tuple[str, Any]]:
        """Return the languages with the feature of their texts."""
        return [(language, ScalarFeature("string")) for language in self.languages]


class TranslationVariableLanguages(Connector, LibraryTranslationVariableLanguages):
    """In each row, texts in a variable number of languages."""

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """The shape of the two lists."""
        return shape_of(self)


class _Columns(Features):
    """Features by name, with the attributes of TFDS."""

    def __setitem__(self, name: str, feature: Any) -> None:
        made = connector_of(feature)
        super().__setitem__(name, made)
        dict.__setitem__(self, name, made)  # `Features` converts all nested features to plain dicts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return type(self)({name: copy.deepcopy(feature, memo) for name, feature in self.items()})

    @property
    def shape(self) -> dict[str, Any]:
        """The shape of each column; None for variable sizes, and for a nested dataset the shape of its elements."""
        return {name: getattr(feature, "shape", shape_of(feature)) for name, feature in self.items()}

    @property
    def dtype(self) -> dict[str, Any]:
        """The numpy dtype of each column."""
        return {name: np_dtype_of(feature) for name, feature in self.items()}

    np_dtype = numpy_dtype = dtype

    def get_tensor_info(self) -> dict[str, Any]:
        """Shape and dtype of each column."""
        return {name: info_of(feature) for name, feature in self.items()}

    def get_serialized_info(self) -> SerializedInfo:
        """Shape and dtype of each column, for `tfds.core.example_parser.ExampleParser`."""
        return SerializedInfo(self)

    def deserialize_example(self, serialized_example: Any, *, decoders: object = None) -> Any:
        """Return the row of a serialized `tf.train.Example` that TFDS wrote, with arrays and numpy scalars as values.

        Args:
            serialized_example: bytes of the message.
            decoders: ignored.

        Raises:
            ExampleError: the record does not fit the features.
        """
        return self.decode_example(self.get_serialized_info().parse(serialized_example))

    deserialize_example_np = deserialize_example

    def decode_example(self, example: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a row with images decoded from the bytes of their files, and arrays and numpy scalars as values."""
        from datasets_core.tfds.elements import as_bytes, converter  # it imports this module

        plain = {name: _decodable(feature, example[name]) for name, feature in self.items()}
        return as_bytes(converter(dict(self))(super().decode_example(plain, *args, **kwargs)))

    def encode_example(self, example: Any) -> Any:
        """Return a row in stored form."""
        return {name: encode_value(feature, example.get(name)) for name, feature in self.items()}


def _decodable(feature: Any, value: Any) -> Any:
    """Return a value in stored form: an image from the bytes of its file, and arrays as lists."""
    if isinstance(feature, Mapping):
        return {name: _decodable(inner, value[name]) for name, inner in feature.items()}
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(feature, (List, LargeList)) and isinstance(value, Mapping):
        value = _rows_of(value)
    if isinstance(feature, (List, LargeList)) and isinstance(value, list):
        return [_decodable(feature.feature, each) for each in value]
    return {"bytes": value, "path": None} if isinstance(feature, ImageArray) and isinstance(value, bytes) else value


def _rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the dicts in a dict of lists, also in nested ones."""
    parts = [_rows_of(value) if isinstance(value, Mapping) else value for value in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*parts, strict=True)]


class SerializedInfo(dict[str, Any]):
    """Shape and dtype of columns by name, which can parse serialized rows.

    Args:
        features: features of the columns.
    """

    def __init__(self, features: _Columns) -> None:
        super().__init__(features.get_tensor_info())
        self.features = features

    def parse(self, serialized: Any) -> dict[str, Any]:
        """Parse a serialized row; return it in stored form, with images as files.

        Raises:
            ExampleError: the record does not fit the features.
        """
        from datasets_core.building.tfds_folders.columns import TfdsReader  # only scripts with records of TFDS need these
        from datasets_core.building.tfds_folders.layout import layout_of
        from datasets_core.io.tfds import TfdsForm
        from datasets_core.records.wire.messages import decode_example
        from datasets_core.records.wire.values import RecordBlock

        data = serialized.item() if isinstance(serialized, np.ndarray) else serialized
        form = TfdsForm(self.features)
        _set_encodings(form.content, decode_example(data), "")
        layout = layout_of(form.content, form.labels.get, path="features of the script")
        rows: list[dict[str, Any]] = TfdsReader(layout).read(RecordBlock.of([data])).to_pylist()
        return rows[0]


def _set_encodings(form: Any, found: Mapping[str, Any], key: str) -> None:
    """Set the encoding of arrays as found in the record, since features of this library do not record it."""
    if "featuresDict" in form:
        for name, inner in form["featuresDict"]["features"].items():
            _set_encodings(inner, found, f"{key}/{name}" if key else name)
    elif "sequence" in form:
        _set_encodings(form["sequence"]["feature"], found, key)
    elif "tensor" in form and form["tensor"]["dtype"] != "string" and key in found:
        is_bytes = found[key].kind == "bytes"
        values = found[key].values if is_bytes else ()
        is_packed = is_bytes and all(each[:1] == b"\x78" and _is_zlib(each) for each in values)
        form["tensor"]["encoding"] = "zlib" if is_packed else "bytes" if is_bytes else "none"


def _is_zlib(data: bytes) -> bool:
    try:
        zlib.decompress(data)
    except zlib.error:
        return False
    return True


class FeaturesDict(_Columns):
    """Names and features of the columns; dtypes and dicts are accepted as features.

    >>> features = FeaturesDict({"x": np.float32, "nested": {"y": np.int64}})
    >>> features["x"], features.shape
    (Value('float32'), {'x': (), 'nested': {'y': ()}})
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and not isinstance(args[0], Mapping):
            raise ArgumentTypeError(f"{args[0]!r} is not a dict of features", advice="Pass a dict from name to feature")
        kwargs.pop("doc", None)
        super().__init__(*args, **kwargs)

    @property
    def feature(self) -> FeaturesDict:
        """The feature of one dict of a list of dicts, which is a dict of lists in prepared folders.

        Raises:
            AttributeError: some of the features are not lists.
        """
        if not self or not all(isinstance(each, List) for each in self.values()):
            raise AttributeError("FeaturesDict has no attribute 'feature', since not all of its features are lists")
        return FeaturesDict({name: cast(List, each).feature for name, each in self.items()})


class ListColumns(_Columns):
    """The features of a list of dicts, which is stored as a dict of lists.

    >>> ListColumns.of({"word": Value("string")}, 3).feature
    {'word': Value('string')}
    """

    @classmethod
    def of(cls, inner: Mapping[str, Any], length: int = -1) -> ListColumns:
        """Return lists of dicts with these features."""
        return cls({name: list_of(feature, length) for name, feature in inner.items()})

    @property
    def feature(self) -> FeaturesDict:
        """The feature of a single dict."""
        return FeaturesDict({name: cast(List, each).feature for name, each in self.items()})

    @property
    def length(self) -> int | None:
        """Number of dicts; None if variable."""
        lengths = {cast(List, each).length for each in self.values()}
        return lengths.pop() if len(lengths) == 1 and lengths != {-1} else None


class DatasetColumns(ListColumns):
    """The features of a nested dataset of dicts, which is stored as a dict of lists; its shape is that of an element.

    >>> DatasetColumns.of({"word": Value("string")}).shape
    {'word': ()}
    """

    @property
    def shape(self) -> dict[str, Any]:
        """The shape of each column of an element."""
        return self.feature.shape


def list_of(inner: Any, length: int = -1, id: str | None = None, kind: type[ListFeature] = ListFeature) -> ListFeature:
    """Return lists of a feature.

    Args:
        inner: feature of the elements.
        length: length of each list; -1 for any.
        id: identifier of the feature.
        kind: class of the result, if it is to be a subclass.
    """
    element = connector_of(inner)
    made = kind(element, length=length, id=id)
    object.__setattr__(made, "feature", element)  # `List` converts all nested features to plain dicts
    return made


_ARRAYS: dict[str, Any] = {each.__name__: each for each in (Array2D, Array3D, Array4D, Array5D)}


def connector_of(given: Any) -> Any:
    """Return a feature, or a value that represents one, as a feature with the attributes of TFDS.

    >>> connector_of(np.int64).dtype == np.int64, connector_of(List(ClassLabel(names=["a"]))).names
    (True, ['a'])

    Raises:
        ConfigurationError: the value is not a feature.
    """
    if isinstance(given, (Connector, _Columns)):
        return given
    if isinstance(given, Mapping):
        return FeaturesDict(given)
    feature = feature_of(given)
    if isinstance(feature, List):
        return list_of(feature.feature, feature.length, feature.id)
    if isinstance(feature, FixedShape):
        made = _ARRAYS.get(type(feature).__name__)
        return feature if made is None else made(feature.shape, feature.dtype, feature.id)
    if isinstance(feature, LibraryClassLabel):
        return ClassLabel(names=feature.names, id=feature.id)
    if isinstance(feature, LibraryTranslation):
        return Translation(feature.languages, feature.id)
    if isinstance(feature, LibraryTranslationVariableLanguages):
        return TranslationVariableLanguages(feature.languages, id=feature.id)
    return ScalarFeature(feature.dtype, feature.id) if isinstance(feature, Value) else feature


def rounded(value: Any) -> Any:
    """Return numbers of float64 in the precision of float32, as TFDS stores them; other values unchanged.

    >>> rounded([0.5, 0.1]).tolist()
    [0.5, 0.10000000149011612]
    """
    if not isinstance(value, np.ndarray):
        try:
            value = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            return value  # the library reports what is wrong with it
    if value.dtype.kind not in "iufb":
        return value
    with np.errstate(over="ignore"):
        return value.astype(np.float32).astype(np.float64)
