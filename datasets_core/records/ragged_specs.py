"""`RaggedFeature`: the spec of a key whose values make rows of different lengths, and the partitions that tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

from datasets_core.errors import ConfigurationError
from datasets_core.records.spec_types import dtype_name


@dataclass(frozen=True)
class RowSplits:
    """A key with the borders of the rows: 0 first, the number of values last."""

    key: str


@dataclass(frozen=True)
class RowLengths:
    """A key with the length of each row."""

    key: str


@dataclass(frozen=True)
class RowStarts:
    """A key with the place at which each row begins."""

    key: str


@dataclass(frozen=True)
class RowLimits:
    """A key with the place at which each row ends."""

    key: str


@dataclass(frozen=True)
class ValueRowIds:
    """A key with the row of each value."""

    key: str


@dataclass(frozen=True)
class UniformRowLength:
    """Rows that all have the same length."""

    length: int


Partition: TypeAlias = RowSplits | RowLengths | RowStarts | RowLimits | ValueRowIds | UniformRowLength
_PARTITIONS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)
}


@dataclass(frozen=True)
class RaggedFeature:
    """A key whose values make rows of different lengths, which other keys tell.

    Args:
        dtype: the type of the values.
        value_key: the key of the values; None for the name of the feature itself.
        partitions: how the values make rows, from the outermost; none for one row.
        row_splits_dtype: the type of the borders in a `RaggedValue`, `"int32"` or `"int64"`.
        validate: borders that do not fit the values are an error; else a single record gives what they say, as in TensorFlow.
            Batches and columns are always checked.

    >>> RaggedFeature("int64", "values", [RaggedFeature.RowLengths("lengths")]).partitions
    (RowLengths(key='lengths'),)
    """

    dtype: Any
    value_key: str | None = None
    partitions: Any = ()
    row_splits_dtype: Any = "int32"
    validate: bool = False
    RowSplits: ClassVar[type[RowSplits]] = RowSplits
    RowLengths: ClassVar[type[RowLengths]] = RowLengths
    RowStarts: ClassVar[type[RowStarts]] = RowStarts
    RowLimits: ClassVar[type[RowLimits]] = RowLimits
    ValueRowIds: ClassVar[type[ValueRowIds]] = ValueRowIds
    UniformRowLength: ClassVar[type[UniformRowLength]] = UniformRowLength

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_name(self.dtype))
        given = self.partitions
        single = isinstance(given, str) or not isinstance(given, Sequence) or type(given).__name__ in _PARTITIONS
        object.__setattr__(self, "partitions", tuple(map(_partition, [given] if single else given)))
        splits = self.row_splits_dtype
        named = getattr(splits, "name", None) or getattr(splits, "__name__", None) or str(splits)
        object.__setattr__(self, "row_splits_dtype", named)


def _partition(given: Any) -> Any:
    """A partition of ours, from ours or TensorFlow's."""
    kind = _PARTITIONS.get(type(given).__name__)
    if kind is None or isinstance(given, kind):
        return given
    return kind(*(getattr(given, field.name) for field in fields(kind)))


def check_ragged(spec: RaggedFeature, key: str) -> None:
    """See that a spec can be used for a key.

    Raises:
        ConfigurationError: it has no meaning.
    """
    for partition in spec.partitions:
        if type(partition).__name__ not in _PARTITIONS:
            raise ConfigurationError(f"{partition!r} of feature {key!r} is no partition. Take {', '.join(_PARTITIONS)}.")
        if isinstance(partition, UniformRowLength) and (not isinstance(partition.length, int) or partition.length < 1):
            raise ConfigurationError(f"Feature {key!r} has rows of length {partition.length!r}. Give a number above 0.")
    if spec.row_splits_dtype not in ("int32", "int64"):
        raise ConfigurationError(f"Feature {key!r} has row_splits_dtype={spec.row_splits_dtype!r}. Take 'int32' or 'int64'.")
