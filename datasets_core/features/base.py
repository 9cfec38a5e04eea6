"""`Feature`, the kind of a column, and the kinds that only wrap Arrow's: `Value`, `List`, `LargeList`, `Sequence`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa

from datasets_core._lazy import later
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.dtypes import MAX_DEPTH, canonical_name, name_from_type, type_from_name

FeatureType: TypeAlias = "Feature | dict[str, FeatureType]"
"""A feature, or a dict of them: the kind of a column that holds dicts."""


class Feature:
    """The kind of a column: what its values are, and how Arrow stores them."""

    __slots__ = ()
    _type: ClassVar[str] = "Feature"
    needs_encoding: ClassVar[bool] = False
    """True if a value must pass `encode_example` before Arrow can store it."""

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type that stores the values."""
        raise NotImplementedError

    @property
    def arrow_metadata(self) -> dict[bytes, bytes] | None:
        """Metadata that a field of this kind carries in an Arrow schema."""
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
        """The value as Arrow stores it. None never comes here."""
        return value

    def decode_example(self, value: Any, token_per_repo_id: object = None) -> Any:
        """The value as the user sees it, from the stored one."""
        return value


@dataclass(frozen=True, slots=True, repr=False)
class Value(Feature):
    """One number, string, date, … in each row.

    Args:
        dtype: the name of the type, for example `"int64"`, `"string"`, `"timestamp[us, tz=UTC]"`, `"decimal128(10, 2)"`.
        id: a name that is kept and never read.

    >>> Value("float")
    Value('float32')
    >>> Value("timestamp[s]").arrow_type
    TimestampType(timestamp[s])
    """

    dtype: str
    id: str | None = None
    _type: ClassVar[str] = "Value"

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
        """See `Feature.arrow_type`."""
        return type_from_name(self.dtype)


@dataclass(frozen=True, slots=True, repr=False)
class List(Feature):
    """A list in each row.

    Args:
        feature: the kind of the elements; a dict means a list of dicts.
        length: how many elements each list has; -1 means any number.

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
        object.__setattr__(self, "feature", as_feature(self.feature))
        if not isinstance(self.length, int) or self.length < -1:
            raise ConfigurationError(f"A list cannot have {self.length!r} elements. Pass length=-1 for lists of any length.")

    def __repr__(self) -> str:
        return f"List({self.feature!r}{f', length={self.length}' if self.length != -1 else ''})"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        item = feature_to_field("item", self.feature)
        return pa.list_(item) if self.length == -1 else pa.list_(item, self.length)


@dataclass(frozen=True, slots=True, repr=False)
class LargeList(Feature):
    """A list in each row, where all lists together may have more than 2**31 elements.

    >>> LargeList(Value("int8")).arrow_type
    LargeListType(large_list<item: int8>)
    """

    feature: Any
    id: str | None = None
    _type: ClassVar[str] = "LargeList"

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", as_feature(self.feature))

    def __repr__(self) -> str:
        return f"LargeList({self.feature!r})"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        return pa.large_list(feature_to_field("item", self.feature))


class _SequenceType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, List)


class Sequence(metaclass=_SequenceType):
    """A list in each row; of dicts, it is stored as one dict of lists.

    A call gives a `List`, or a dict of them when `feature` is a dict. `isinstance(x, Sequence)` asks for a `List`.

    >>> Sequence(Value("string"))
    List(Value('string'))
    >>> Sequence({"text": Value("string"), "start": Value("int32")})
    {'text': List(Value('string')), 'start': List(Value('int32'))}
    """

    def __new__(cls, feature: Any = None, length: int = -1, id: str | None = None) -> Any:
        """The `List`, or the dict of them.

        Raises:
            ConfigurationError: there is no feature, or it is none.
        """
        if feature is None:
            raise ConfigurationError(
                "A Sequence needs the feature of its elements. Write for example Sequence(Value('int64'))."
            )
        child = as_feature(feature)
        if isinstance(child, dict):
            return {name: List(inner, length=length, id=id) for name, inner in child.items()}
        return List(child, length=length, id=id)


def as_feature(given: Any, *, depth: int = 0) -> FeatureType:
    """A feature from what users write for one: a feature, a dict, or `[feature]` for a list.

    >>> as_feature([{"a": Value("int8")}])
    List({'a': Value('int8')})

    Raises:
        ConfigurationError: it is none of these.
    """
    if isinstance(given, Feature):
        return given
    if depth > MAX_DEPTH:
        raise ConfigurationError(f"The features are nested more than {MAX_DEPTH} levels deep. Keep such a column as Json().")
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise ConfigurationError(f"{name!r} is no column name. Names of columns and of fields are strings.")
        return {name: as_feature(inner, depth=depth + 1) for name, inner in given.items()}
    if isinstance(given, (list, tuple)):
        if len(given) == 1:
            return List(as_feature(given[0], depth=depth + 1))
        raise ConfigurationError(f"A list of {len(given)} features means nothing. Write [feature] for a column of lists.")
    if type(given).__module__.startswith("datasets.features") and dataclasses.is_dataclass(given):
        return _ours(given)
    raise ArgumentTypeError(
        f"{given!r} is no feature. Write for example Value('int64'), List(Value('string')) or a dict of them."
    )


def _ours(given: Any) -> FeatureType:
    """A feature of Hugging Face `datasets`, which packages that a script imports may use, as one of this library."""
    kind = later("datasets_core.features", type(given).__name__)
    known = inspect.signature(kind).parameters
    values = {field.name: getattr(given, field.name) for field in dataclasses.fields(given) if field.name in known}
    return as_feature(kind(**{name: value for name, value in values.items() if value is not None}))


def feature_to_arrow(feature: FeatureType) -> pa.DataType:
    """The Arrow type that stores a feature.

    >>> feature_to_arrow({"a": Value("int8"), "b": List(Value("string"))})
    StructType(struct<a: int8, b: list<item: string>>)
    """
    if isinstance(feature, Feature):
        return feature.arrow_type
    return pa.struct([feature_to_field(name, inner) for name, inner in feature.items()])


def feature_to_field(name: str, feature: FeatureType) -> pa.Field:
    """A column of that kind, as a field of an Arrow schema."""
    metadata = feature.arrow_metadata if isinstance(feature, Feature) else None
    return pa.field(name, feature_to_arrow(feature), metadata=metadata)


def needs_decoding(feature: FeatureType) -> bool:
    """True if some value inside differs, as stored, from what the user sees."""
    if isinstance(feature, dict):
        return any(needs_decoding(inner) for inner in feature.values())
    if isinstance(feature, (List, LargeList)):
        return needs_decoding(feature.feature)
    return feature.needs_decoding
