"""`Feature`, base of column types; `Value`, `List`, `LargeList`, `Sequence`; dtype names; conversion of plain columns."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import re
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.config import has_alias
from datasets_core.errors import ArgumentTypeError, ConfigurationError

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_DEPTH = 60
"""Levels of nesting that a feature, a type or a value may have; Arrow files hold no more than 64."""
EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_VALUE = b"ARROW:extension:metadata"

# The names of Arrow's types (`"int32"`, `"timestamp[us, tz=UTC]"`, …), in both directions.
_PLAIN: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "bool_": pa.bool_(),
    **{f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "string": pa.string(),
    "utf8": pa.string(),
    "large_string": pa.large_string(),
    "large_utf8": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "month_day_nano_interval": pa.month_day_nano_interval(),
}
_SAME = {"float": "float32", "double": "float64"}  # the only aliases that a feature replaces when it is made
_BRACKETS = r"^(time32|time64|duration|fixed_size_binary)\[(\w+)\]$"
_TIMESTAMP = r"^timestamp\[(s|ms|us|ns)(?:,\s*tz=([^\[\]\s]+))?\]$"
_DECIMAL = r"^(decimal128|decimal256)\((\d+),\s*(-?\d+)\)$"
_UNITS = {"time32": ("s", "ms"), "time64": ("us", "ns"), "duration": ("s", "ms", "us", "ns")}
_MAKERS: dict[str, Callable[[str], pa.DataType]] = {"time32": pa.time32, "time64": pa.time64, "duration": pa.duration}


def canonical_name(dtype: str) -> str:
    """Return `dtype` as features store it: `"float"` is `"float32"`, `"double"` is `"float64"`, other names are unchanged.

    >>> canonical_name("double")
    'float64'
    """
    return _SAME.get(dtype, dtype)


def type_from_name(dtype: str) -> pa.DataType:
    """Return the Arrow type named by `dtype`.

    >>> type_from_name("decimal128(10, 2)")
    Decimal128Type(decimal128(10, 2))
    >>> type_from_name("timestamp[us, tz=UTC]")
    TimestampType(timestamp[us, tz=UTC])

    Raises:
        ConfigurationError: `dtype` names no type.
    """
    if not isinstance(dtype, str):
        raise ConfigurationError(
            f"{dtype!r} is not a valid dtype", advice="Write its name, for example 'int64', 'string' or 'timestamp[us]'"
        )
    plain = _PLAIN.get(_SAME.get(dtype, dtype))
    if plain is not None:
        return plain
    if match := re.match(_BRACKETS, dtype):
        kind, inner = match.groups()
        if kind == "fixed_size_binary" and inner.isdecimal():
            return pa.binary(int(inner))
        if inner in _UNITS.get(kind, ()):
            return _MAKERS[kind](inner)
    if match := re.match(_TIMESTAMP, dtype):
        return pa.timestamp(match[1], tz=match[2])
    if match := re.match(_DECIMAL, dtype):
        try:
            return getattr(pa, match[1])(int(match[2]), int(match[3]))
        except ValueError as error:
            raise ConfigurationError(f"{dtype!r} is not a valid dtype: {error}", advice="Choose another precision") from error
    raise ConfigurationError(f"{dtype!r} is not a valid dtype. {_advice(dtype)}")


def _advice(dtype: str) -> str:
    meant = {"str": "string", "int": "int64", "bytes": "binary", "list": "List", "date": "date32", "datetime": "timestamp[us]"}
    if dtype in meant:
        return f"Write {meant[dtype]!r}."
    word = re.split(r"[\[(]", dtype)[0]
    if word == "timestamp":
        return "Write timestamp[unit] or timestamp[unit, tz=zone] with the unit s, ms, us or ns."
    if word in _UNITS:
        return f"Write {word}[unit] with the unit {', '.join(_UNITS[word])}."
    if word.startswith("decimal"):
        return "Write decimal128(precision, scale) or decimal256(precision, scale)."
    more = "float, double, time32[unit], time64[unit], timestamp[unit], duration[unit], decimal128(p, s)"
    return f"Known: {', '.join(_PLAIN)}, {more}."


def name_from_type(arrow_type: pa.DataType) -> str | None:
    """Return the name of a type without children, or None for a type that `Value` cannot represent.

    >>> name_from_type(pa.large_string()), name_from_type(pa.list_(pa.int8()))
    ('large_string', None)
    """
    if (name := _NAMES.get(arrow_type)) is not None:
        return name
    types = pa.types
    if types.is_timestamp(arrow_type) or types.is_time(arrow_type) or types.is_duration(arrow_type):
        return str(arrow_type)
    if types.is_decimal128(arrow_type) or types.is_decimal256(arrow_type) or types.is_fixed_size_binary(arrow_type):
        return str(arrow_type)
    return None


_NAMES: dict[pa.DataType, str] = {arrow_type: name for name, arrow_type in reversed(_PLAIN.items())}


FeatureType: TypeAlias = "Feature | dict[str, FeatureType]"
"""A feature, or a dict of them: the kind of a column that holds dicts."""


class Feature:
    """The type of a column: its values, and how Arrow stores them; see `register_feature` to add one."""

    __slots__ = ()
    _type: ClassVar[str] = "Feature"
    """The name of the kind in metadata and in dataset cards."""
    needs_encoding: ClassVar[bool] = False
    """True if a value must pass `encode_example` before Arrow can store it."""
    is_constant: ClassVar[bool] = False
    """True if the feature is immutable, so that datasets may share it with their callers."""
    has_rules: ClassVar[bool] = False
    """True if data of the right Arrow type may still violate a rule of the feature, so that `cast_array` must check it."""
    croissant: ClassVar[str | tuple[str, ...] | None] = None
    """The data type of the values in Croissant; None: determined by the storage."""

    @property
    def storage(self) -> FeatureType:
        """The features that store a value: a dict of fields, a list, a `Value`, or the feature itself if it has an
        `arrow_type`.
        """
        return self

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type that stores the values."""
        return feature_to_arrow(_other_storage(self))

    @property
    def arrow_metadata(self) -> dict[bytes, bytes] | None:
        """Metadata of a field with this feature in an Arrow schema."""
        return None

    @property
    def pa_type(self) -> pa.DataType:
        """The Arrow type, under the name that Hugging Face `datasets` uses."""
        return self.arrow_type

    @property
    def needs_decoding(self) -> bool:
        """True if a stored value differs from the value that the user sees."""
        return False

    def __call__(self) -> pa.DataType:
        return self.arrow_type

    def encode_example(self, value: Any) -> Any:
        """Return `value`, which is not None, in stored form."""
        return value

    def decode_example(self, value: Any, token_per_repo_id: object = None) -> Any:
        """Return the stored value `value` as users see it; `token_per_repo_id` is ignored."""
        return value

    def column(self) -> Callable[[list[Any]], pa.Array] | None:
        """Return a function that converts a column's values to the stored array; None calls `encode_example` for each value."""
        return None

    def cast_array(self, array: pa.Array) -> pa.Array | None:
        """Return `array` in the stored form; None applies the rules of `storage`.

        Raises:
            Misfit: a value does not fit.
        """
        return None

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """Return the keys of the JSON form: the fields of the dataclass that take part in comparisons."""
        return tuple(field.name for field in dataclasses.fields(cls) if field.compare)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, without the name of the type; default values are left out."""
        form: dict[str, Any] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if not field.compare or (value == field.default and type(value) is type(field.default)):
                continue
            form[field.name] = list(value) if isinstance(value, list) else str(value) if isinstance(value, str) else value
        return form

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> FeatureType:
        """Return the feature of the JSON form `form`; unknown keys are ignored."""
        known = cls.arguments()
        return cls(**{key: value for key, value in form.items() if key in known and value is not None})


def _other_storage(feature: Feature) -> FeatureType:
    storage = feature.storage
    if storage is feature:
        raise NotImplementedError(f"{type(feature).__name__} has neither storage nor arrow_type. Define one of them.")
    return storage


def storage_of(feature: FeatureType) -> FeatureType:
    """Return the storage of a feature, down to a dict, a list, or a feature that stores its values itself.

    >>> from datasets_core.features import Translation
    >>> storage_of(Translation(languages=["en", "fr"]))
    {'en': Value('string'), 'fr': Value('string')}
    """
    while isinstance(feature, Feature) and (storage := feature.storage) is not feature:
        feature = storage
    return feature


REGISTERED: dict[str, type[Feature]] = {}
OBJECTS: dict[str, type[Feature]] = {}
"""The kinds of other packages, by their names in metadata, and by the paths of the classes whose objects they store
automatically.
"""


def register_feature(kind: type[Feature], *, objects: Iterable[str] = ()) -> None:
    """Register a kind of columns by its name, so that datasets with such columns are read and written like all others.

    A kind is a frozen dataclass below `Feature` with `_type`, its name in metadata. It defines how values are stored by one of

    * `storage`: the features that store a value, which casts, TFRecord files and Croissant use;
    * `arrow_type`: for a value that is stored as one number, text, date, ….

    and, if the user's values differ from the stored ones, `needs_encoding = True` with `encode_example(value)`, and
    `needs_decoding` with `decode_example(stored)`. The other members of `Feature` have defaults: `to_json` and `from_json`
    write the fields of the dataclass, `column()` encodes one value after the other, `cast_array(array)` casts to the storage,
    `has_rules` is False, and `croissant`, the data type in Croissant, is that of the storage.

    A package that names the module of its kind in the entry point group `datasets_core.features`, under the name of the kind,
    is imported when metadata names the kind. Other kinds are known after they are registered.

    Args:
        kind: the class.
        objects: full names of classes, such as `"shapely.Point"`, whose objects become columns of `kind()` if no features are
            given. Such a kind is stored as a dict.

    Raises:
        ConfigurationError: another kind has that name.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Celsius(Feature):
    ...     _type = "Celsius"
    ...     needs_encoding = needs_decoding = True
    ...     arrow_type = pa.float64()
    ...     def encode_example(self, value):
    ...         return float(value.removesuffix("°C"))
    ...     def decode_example(self, value, token_per_repo_id=None):
    ...         return f"{value}°C"
    >>> register_feature(Celsius)
    >>> Dataset.from_dict({"t": ["20.5°C"]}, features=Features({"t": Celsius()}))[0]
    {'t': '20.5°C'}
    """
    name = vars(kind).get("_type")
    if not isinstance(name, str):
        raise ConfigurationError(f"The class {kind.__name__} has no name", advice=f"Define _type = {kind.__name__!r} in it")
    _check_free(name, kind)
    paths = [objects] if isinstance(objects, str) else [*objects]
    if paths and not isinstance(storage_of(kind()), dict):
        raise ConfigurationError(f"{kind.__name__} is not stored as a dict, so objects={paths} is not supported.")
    REGISTERED[name] = kind
    OBJECTS.update(dict.fromkeys(paths, kind))


def _check_free(name: str, kind: type) -> None:
    from datasets_core.features import KINDS

    known = REGISTERED.get(name)
    if name in KINDS or (known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__)):
        raise ConfigurationError(f"A feature type {name!r} is already registered", advice=f"Give {kind.__name__} another _type")


@dataclass(frozen=True, slots=True, repr=False)
class Value(Feature):
    """One number, string, date, … in each row.

    Args:
        dtype: the name of the type, for example `"int64"`, `"string"`, `"timestamp[us, tz=UTC]"`, `"decimal128(10, 2)"`.
        id: a name that is kept, but has no effect.

    >>> Value("float")
    Value('float32')
    >>> Value("timestamp[s]").arrow_type
    TimestampType(timestamp[s])
    """

    dtype: str
    id: str | None = None
    _type: ClassVar[str] = "Value"
    is_constant: ClassVar[bool] = True

    def __post_init__(self) -> None:
        dtype: Any = self.dtype
        if isinstance(dtype, pa.DataType):
            dtype = name_from_type(dtype) or dtype
        type_from_name(dtype)
        object.__setattr__(self, "dtype", canonical_name(dtype))

    def __repr__(self) -> str:
        return f"Value({self.dtype!r})"

    @property
    def arrow_type(self) -> pa.DataType:
        return type_from_name(self.dtype)

    def encode_example(self, value: Any) -> Any:
        """Return `value` as a number, boolean or text; values of other types are returned unchanged."""
        from datasets_core.features.values import encode_value  # which knows all kinds

        return encode_value(self, value) if re.match("u?int|float|bool|(large_)?string$", self.dtype) else value


@dataclass(frozen=True, slots=True, repr=False)
class List(Feature):
    """A list in each row. `id` is ignored.

    Args:
        feature: the kind of the elements; a dict means a list of dicts.
        length: number of elements of each list; -1 means any number.

    >>> List({"token": Value("string")}).arrow_type
    ListType(list<item: struct<token: string>>)
    >>> List(Value("int8"), length=3)
    List(Value('int8'), length=3)
    """

    feature: Any
    length: int = -1
    id: str | None = None
    _type: ClassVar[str] = "List"

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", as_feature(self.feature, depth=-1))
        if not isinstance(self.length, int) or self.length < -1:
            raise ConfigurationError(f"Invalid list length {self.length!r}", advice="Pass length=-1 for lists of any length")

    def __repr__(self) -> str:
        return f"List({self.feature!r}{f', length={self.length}' if self.length != -1 else ''})"

    @property
    def arrow_type(self) -> pa.DataType:
        item = feature_to_field("item", self.feature)
        return pa.list_(item) if self.length == -1 else pa.list_(item, self.length)


@dataclass(frozen=True, slots=True, repr=False)
class LargeList(Feature):
    """A list of elements of type `feature` in each row; all lists together may have more than 2**31 elements. `id` is ignored.

    >>> LargeList(Value("int8")).arrow_type
    LargeListType(large_list<item: int8>)
    """

    feature: Any
    id: str | None = None
    _type: ClassVar[str] = "LargeList"

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", as_feature(self.feature, depth=-1))

    def __repr__(self) -> str:
        return f"LargeList({self.feature!r})"

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.large_list(feature_to_field("item", self.feature))


class _SequenceType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, List)


class Sequence(metaclass=_SequenceType):
    """A list of `length` (-1: any) elements of type `feature`; a list of dicts is stored as a dict of lists. `id` is ignored.

    A call returns a `List`, or a dict of them when `feature` is a dict. `isinstance(x, Sequence)` is true for a `List`.

    >>> Sequence({"text": Value("string"), "start": Value("int32")})
    {'text': List(Value('string')), 'start': List(Value('int32'))}
    """

    def __new__(cls, feature: Any = None, length: int = -1, id: str | None = None) -> Any:
        """Return the `List`, or the dict of them.

        Raises:
            ConfigurationError: `feature` is missing, or not a feature.
        """
        if feature is None:
            raise ConfigurationError(
                "A Sequence needs the feature of its elements", advice="Write for example Sequence(Value('int64'))"
            )
        child = as_feature(feature)
        if isinstance(child, dict):
            return {name: List(inner, length=length, id=id) for name, inner in child.items()}
        return List(child, length=length, id=id)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Any:
        """See `Feature.from_json`."""
        return cls(**{key: form[key] for key in List.arguments() if form.get(key) is not None})


class FieldLists(dict[str, FeatureType]):
    """The dict of lists that stores a `Sequence` of a dict; its `feature` is that dict."""

    feature: FeatureType | None = None
    length: int = -1
    id: str | None = None


def as_feature(given: Any, *, depth: int = 0) -> FeatureType:
    """Return the feature for a user's argument: a feature, a dict, or `[feature]` for a list.

    >>> as_feature([{"a": Value("int8")}])
    List({'a': Value('int8')})

    Raises:
        ConfigurationError: the argument is none of these.
    """
    if isinstance(given, (Feature, FieldLists)):
        return given
    if depth > MAX_DEPTH:
        raise ConfigurationError(f"The features are nested more than {MAX_DEPTH} levels deep. Keep such a column as Json().")
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise ConfigurationError(f"{name!r} is not a valid column name. Names of columns and of fields are strings.")
        return {name: as_feature(inner, depth=depth + 1) for name, inner in given.items()}
    if isinstance(given, (list, tuple)):
        if len(given) == 1:
            return List(as_feature(given[0], depth=depth + 1))
        raise ConfigurationError(f"A list of {len(given)} features is not a feature. Write [feature] for a column of lists.")
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        if type(given).__module__.startswith("datasets.features"):
            return _ours(given)
        if hasattr(given, "pa_type") or callable(given):
            return _with_class(given, adopted(type(given)))  # type: ignore[no-any-return]
    if depth < 0 and type(given) is int and has_alias():  # `List(1)`, which `datasets` takes: an error when it is used
        return given  # type: ignore[return-value]
    raise ArgumentTypeError(
        f"{given!r} is not a feature", advice="Write for example Value('int64'), List(Value('string')) or a dict of them"
    )


class Adopted(Feature):
    """Return a function that makes a feature of a class, `foreign`, of Hugging Face `datasets`; see `adopted`."""

    __slots__ = ()
    foreign: ClassVar[type]

    @property
    def arrow_type(self) -> pa.DataType:
        own = getattr(self.foreign, "pa_type", None)
        found: pa.DataType = self() if own is None else self.pa_type
        return found

    @property
    def storage(self) -> FeatureType:
        from datasets_core.features.schema import feature_from_arrow  # which knows all kinds

        return feature_from_arrow(self.arrow_type)

    @property
    def needs_decoding(self) -> bool:
        return hasattr(self.foreign, "decode_example") and bool(getattr(self, "decode", True))

    def cast_array(self, array: pa.Array) -> pa.Array | None:
        cast = getattr(self, "cast_storage", None)
        return None if cast is None or array.type == self.arrow_type else cast(array)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> FeatureType:
        known = {field.name for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
        return as_feature(cls.foreign(**{key: value for key, value in form.items() if key in known}))

    def __eq__(self, other: object) -> bool:
        names = [field.name for field in dataclasses.fields(self) if field.compare]  # type: ignore[arg-type]
        return isinstance(other, self.foreign) and all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash((self.foreign, repr(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return as_feature, (_with_class(self, self.foreign),)


_ADOPTED: dict[type, type[Adopted]] = {}


def adopted(foreign: type, name: str | None = None) -> type[Adopted]:
    """Return the kind of columns of a dataclass that is not a `Feature`, after registering it as `name` (default: `_type`).

    As in Hugging Face `datasets`, its `pa_type`, or else a call without arguments, defines the Arrow type, and its
    `encode_example` and `decode_example` convert the values. Its objects remain instances of the dataclass.
    """
    if foreign in _ADOPTED and name in (None, _ADOPTED[foreign]._type):
        return _ADOPTED[foreign]
    from datasets_core.features.serialization import conversions_of

    name = name or str(getattr(foreign, "_type", foreign.__name__))
    _check_free(name, foreign)
    own = {
        **{attribute: getattr(foreign, attribute) for attribute in ("__module__", "__qualname__", "__doc__")},
        "_type": name,
        "foreign": foreign,
        "needs_encoding": hasattr(foreign, "encode_example"),
        **conversions_of(foreign),
        **{method: vars(Adopted)[method] for method in ("__eq__", "__hash__", "__reduce__", "from_json")},
    }
    REGISTERED[name] = _ADOPTED[foreign] = type(foreign.__name__, (foreign, Adopted), own)
    return _ADOPTED[foreign]


def _with_class(value: Any, kind: type) -> Any:
    made = object.__new__(type(value))
    vars(made).update(vars(value))
    object.__setattr__(made, "__class__", kind)
    return made


def _ours(given: Any) -> FeatureType:
    """Return a feature of Hugging Face `datasets`, from packages that a script imports, as a feature of this library."""
    from datasets_core.features.serialization import (
        library_kind,  # which knows all kinds, and few features are of another library
    )

    kind = library_kind(type(given).__name__)
    known = inspect.signature(kind).parameters
    values = {field.name: getattr(given, field.name) for field in dataclasses.fields(given) if field.name in known}
    return as_feature(kind(**{name: value for name, value in values.items() if value is not None}))


def own_copy(feature: FeatureType) -> FeatureType:
    """Return a copy of the feature with its own dicts and lists of names; constant parts are shared.

    >>> label = ClassLabel(names=["a"])
    >>> own_copy({"x": label})["x"].names is label.names
    False
    """
    if type(feature) is dict:
        return {name: own_copy(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        inner = own_copy(feature.feature)
        if inner is feature.feature:
            return feature
        made = copy.copy(feature)
        object.__setattr__(made, "feature", inner)
        return made
    return feature if isinstance(feature, Feature) and feature.is_constant else copy.deepcopy(feature)


def feature_to_arrow(feature: FeatureType) -> pa.DataType:
    """Return the Arrow type that stores a feature.

    >>> feature_to_arrow({"a": Value("int8"), "b": List(Value("string"))})
    StructType(struct<a: int8, b: list<item: string>>)
    """
    if isinstance(feature, Feature):
        return feature.arrow_type
    fields: Any = feature if isinstance(feature, dict) else as_feature(feature)
    return pa.struct([feature_to_field(name, inner) for name, inner in fields.items()])


def feature_to_field(name: str, feature: FeatureType) -> pa.Field:
    """Return the field of an Arrow schema for a column of this feature."""
    metadata = feature.arrow_metadata if isinstance(feature, Feature) else None
    return pa.field(name, feature_to_arrow(feature), metadata=metadata)


def needs_decoding(feature: FeatureType) -> bool:
    """Return True if a stored value differs from the value that the user sees, at any level."""
    if isinstance(feature, dict):
        return any(needs_decoding(inner) for inner in feature.values())
    if isinstance(feature, (List, LargeList)):
        return needs_decoding(feature.feature)
    return feature.needs_decoding


# Columns of plain Python values: by `pa.array`, or by our own buffers while that would import pandas.
ALLOWANCE = 1_000_000
"""Number of values converted without pandas in a process; for more, the faster path is worth the import."""
_taken = 0
Mask: TypeAlias = "npt.NDArray[np.bool_]"

# The kind of Python values, and the letter by which `array` writes them; it refuses numbers out of range, as Arrow does.
_LETTERS = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q"}
_NUMBERS = {pa.type_for_alias(name): (int, letter) for name, letter in _LETTERS.items()} | {pa.float64(): (float, "d")}


def members_of(values: Collection[dict[Any, Any]], names: Iterable[Any]) -> list[list[Any]] | None:
    """Return the values of each key of dicts that all have exactly these keys, else None.

    >>> members_of([{"a": 1, "b": 2}, {"b": 4, "a": 3}], ["a", "b"])
    [[1, 3], [2, 4]]
    """
    keys = list(names)
    try:
        return [list(map(itemgetter(key), values)) for key in keys] if set(map(len, values)) <= {len(keys)} else None
    except KeyError:
        return None


def bitmap(valid: Mask | None) -> pa.Buffer | None:
    """Return the validity buffer of a mask; None if no value is null."""
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))


def plain_array(values: list[Any], arrow_type: pa.DataType | None) -> pa.Array:
    """Return `pa.array(values, arrow_type)`, with the same errors; the first million plain values do not import pandas.

    >>> plain_array([1, None], pa.int8()).to_pylist()
    [1, None]
    """
    if arrow_type is not None and _would_import_pandas() and _takes(len(values)):
        try:
            made = _from_buffers(values, arrow_type)
        except (OverflowError, UnicodeEncodeError):
            made = None  # Arrow finds the words for what it cannot store
        if made is not None:
            return made
    return pa.array(values, arrow_type)


def _would_import_pandas() -> bool:
    return "pandas" not in sys.modules and _has_pandas()


def _takes(count: int) -> bool:
    global _taken
    _taken += count
    return _taken <= ALLOWANCE


@cache
def _has_pandas() -> bool:
    return find_spec("pandas") is not None


def _from_buffers(values: list[Any], arrow_type: pa.DataType) -> pa.Array | None:
    """Return the array of values if all have the Python type that `arrow_type` stores unchanged, or are None; else None."""
    if pa.types.is_null(arrow_type):
        return pa.nulls(len(values)) if values.count(None) == len(values) else None
    kinds = set(map(type, values))
    has_null = NoneType in kinds
    kinds.discard(NoneType)
    if pa.types.is_string(arrow_type) and kinds <= {str}:
        texts = [b"" if value is None else value.encode() for value in values]
        buffers = [pa.py_buffer(array("i", accumulate(map(len, texts), initial=0))), pa.py_buffer(b"".join(texts))]
    elif pa.types.is_boolean(arrow_type) and kinds <= {bool}:
        buffers = [bitmap(np.array(values, bool))]
    elif arrow_type in _NUMBERS and kinds <= {_NUMBERS[arrow_type][0]}:
        letter = _NUMBERS[arrow_type][1]
        buffers = [pa.py_buffer(array(letter, [0 if value is None else value for value in values] if has_null else values))]
    else:
        return None
    valid = np.array([value is not None for value in values], bool) if has_null else None
    return pa.Array.from_buffers(arrow_type, len(values), [bitmap(valid), *buffers])
