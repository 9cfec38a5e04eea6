"""Feature specs: how a key of a `tf.train.Example` is read, with the names and rules of TensorFlow.

As in TensorFlow, a spec is checked when it is used, so that the error message can name its key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import Feature, FeatureType, List, Value
from datasets_core.features.types import Array2D, Array3D, Array4D, Array5D

# The types of values in specs, with all their accepted names.


NUMPY_TYPES: dict[str, np.dtype[Any]] = {"int64": np.dtype("i8"), "float32": np.dtype("f4"), "string": np.dtype(object)}
"""The types of a spec, and the numpy type of their values; a string is `bytes`."""
KINDS = {"int64": "int64", "float32": "float", "string": "bytes"}
"""The types of a spec, and the type of the serialized list that holds them."""
COLUMN_TYPES = {"int64": "int64", "float32": "float32", "string": "binary"}
_NAMES = {
    **dict.fromkeys(("int64", "int", "i8"), "int64"),
    **dict.fromkeys(("float32", "float", "f4"), "float32"),
    **dict.fromkeys(("string", "bytes", "str", "binary", "object", "large_binary", "large_string"), "string"),
}


def dtype_name(given: Any) -> Any:
    """Return the name of the type of a spec, from any of its accepted names; other values are returned unchanged.

    >>> dtype_name(np.int64), dtype_name(float), dtype_name("string"), dtype_name("int32")
    ('int64', 'float32', 'string', 'int32')
    """
    if isinstance(given, str):
        return _NAMES.get(given, given)
    if isinstance(given, type) and issubclass(given, np.generic):
        given = np.dtype(given)
    if isinstance(given, np.dtype):
        name = "string" if given.kind in "SUO" else given.name
    elif isinstance(given, type):
        name = {int: "int64", float: "float32", bytes: "string", str: "string"}.get(given, given.__name__)
    else:
        name = getattr(given, "name", None) or str(given)
    return _NAMES.get(name, name)


# `RaggedFeature`: the spec of a key whose values form rows of different lengths, and its partitions.


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
    """A key with the position at which each row begins."""

    key: str


@dataclass(frozen=True)
class RowLimits:
    """A key with the position at which each row ends."""

    key: str


@dataclass(frozen=True)
class ValueRowIds:
    """A key with the row number of each value."""

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
    """A key whose values form rows of different lengths, given by other keys.

    Args:
        dtype: the type of the values.
        value_key: the key of the values; None for the name of the feature itself.
        partitions: how the values are divided into rows, from the outermost partition; empty for a single row.
        row_splits_dtype: the type of the row splits in a `RaggedValue`, `"int32"` or `"int64"`.
        validate: True to raise an error if row splits do not fit the values. If False, single records are not checked, as
            in TensorFlow. Batches and columns are always checked.

    Example:
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
    """Return a partition of this library, from one of this library or of TensorFlow."""
    kind = _PARTITIONS.get(type(given).__name__)
    if kind is None or isinstance(given, kind):
        return given
    return kind(*(getattr(given, field.name) for field in fields(kind)))


def check_ragged(spec: RaggedFeature, key: str) -> None:
    """Check that a spec is valid for a key.

    Raises:
        ConfigurationError: the spec is invalid.
    """
    for partition in spec.partitions:
        if type(partition).__name__ not in _PARTITIONS:
            raise ConfigurationError(
                f"{partition!r} of feature {key!r} is not a partition", advice=f"Use {', '.join(_PARTITIONS)}", value=partition
            )
        if isinstance(partition, UniformRowLength) and (not isinstance(partition.length, int) or partition.length < 1):
            raise ConfigurationError(f"Feature {key!r} has rows of length {partition.length!r}", advice="Use a number above 0")
    if spec.row_splits_dtype not in ("int32", "int64"):
        raise ConfigurationError(
            f"Feature {key!r} has row_splits_dtype={spec.row_splits_dtype!r}",
            advice="Use 'int32' or 'int64'",
            value=spec.row_splits_dtype,
        )


_ARRAYS = {2: Array2D, 3: Array3D, 4: Array4D, 5: Array5D}


def _sizes(shape: Any) -> Any:
    """Return a shape as a tuple of sizes, None for unknown ones; return anything else unchanged."""
    if shape is None or isinstance(shape, (str, bytes)):
        return shape
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    try:
        given = list(shape)
    except (TypeError, ValueError):  # includes TensorFlow shapes of unknown rank
        return shape
    return tuple(None if size is None else int(size) if hasattr(size, "__index__") else size for size in given)


def _plain(value: Any) -> Any:
    """Return a default value without arrays, so that specs can be compared."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    elif getattr(getattr(value, "op", None), "type", None) == "Const":
        value = _constant(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _constant(tensor: Any) -> Any:
    """Return the value of a constant of a TensorFlow graph; return other tensors unchanged."""
    proto, dtype = tensor.op.get_attr("value"), np.dtype(tensor.dtype.as_numpy_dtype)
    sizes = [dimension.size for dimension in proto.tensor_shape.dim]
    if proto.tensor_content:
        return np.frombuffer(proto.tensor_content, dtype).reshape(sizes)
    fields = (list(getattr(proto, f"{name}_val")) for name in ("string", "int64", "int", "float", "double", "bool"))
    given, count = next(filter(None, fields), []), math.prod(sizes)
    if count and not given:
        return tensor
    return np.array([given[min(place, len(given) - 1)] for place in range(count)], dtype).reshape(sizes)


@dataclass(frozen=True)
class FixedLenFeature:
    """A key with the same number of values in every record.

    Args:
        shape: the shape of its values; `[]` for one value.
        dtype: `"int64"`, `"float32"` or `"string"` (bytes); the types of numpy, Python and TensorFlow are also accepted.
        default_value: the value of records without the key, with as many elements as the shape. None: a missing key is an
            error.

    Example:
        >>> FixedLenFeature([2], np.int64, default_value=[0, 0])
        FixedLenFeature(shape=(2,), dtype='int64', default_value=[0, 0])
    """

    shape: Any
    dtype: Any
    default_value: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _sizes(self.shape))
        object.__setattr__(self, "dtype", dtype_name(self.dtype))
        object.__setattr__(self, "default_value", _plain(self.default_value))


@dataclass(frozen=True)
class VarLenFeature:
    """A key with any number of values in each record, including none.

    Args:
        dtype: type of the values, such as "int64".

    Example:
        >>> VarLenFeature("string")
        VarLenFeature(dtype='string')
    """

    dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_name(self.dtype))


@dataclass(frozen=True)
class SparseFeature:
    """Two or more keys that form one sparse array: its indices, and its values.

    Args:
        index_key: the key of the indices; several keys for several dimensions.
        value_key: the key of the values.
        dtype: the type of the values.
        size: the size of the array; several sizes for several index keys. Indices are not checked against it.
        already_sorted: True if the indices are already sorted; otherwise they are sorted here.

    Example:
        >>> SparseFeature("ix", "value", "float32", 100)
        SparseFeature(index_key='ix', value_key='value', dtype='float32', size=100, already_sorted=False)
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_name(self.dtype))
        if isinstance(self.index_key, (list, tuple)):
            object.__setattr__(self, "index_key", tuple(self.index_key))
        object.__setattr__(self, "size", _sizes(self.size) if not isinstance(self.size, int) else self.size)

    @property
    def index_keys(self) -> tuple[str, ...]:
        """The keys of the indices, one for each dimension."""
        return self.index_key if isinstance(self.index_key, tuple) else (self.index_key,)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self.size if isinstance(self.size, tuple) else (self.size,)


@dataclass(frozen=True)
class FixedLenSequenceFeature:
    """A key with any number of elements of one shape; in a sequence, a list with one element for each step.

    Args:
        shape: the shape of one element.
        dtype: the type of the values.
        allow_missing: True to read a record without the key as empty; otherwise it is an error. An Example requires True.
        default_value: the value with which `parse_example` pads the shorter rows of a batch.

    Example:
        >>> FixedLenSequenceFeature([], "int64", allow_missing=True).allow_missing
        True
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _sizes(self.shape))
        object.__setattr__(self, "dtype", dtype_name(self.dtype))
        object.__setattr__(self, "default_value", _plain(self.default_value))


Spec: TypeAlias = FixedLenFeature | VarLenFeature | SparseFeature | FixedLenSequenceFeature | RaggedFeature
_SPECS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (FixedLenFeature, VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature)
}


def as_spec(given: Any, key: str = "") -> Spec:
    """Return a spec of this library, from one of this library or of TensorFlow, recognized by its name and fields.

    Args:
        given: the spec.
        key: the feature of the spec, for error messages.

    Raises:
        ArgumentTypeError: the argument is not a spec.
    """
    if isinstance(given, (FixedLenFeature, VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature)):
        return given
    kind = _SPECS.get(type(given).__name__)
    known = [] if kind is None else fields(kind)
    if kind is None or not all(hasattr(given, field.name) for field in known if field.default is MISSING):
        raise ArgumentTypeError(
            f"{given!r} is not a spec of feature {key!r}", advice="Use for example FixedLenFeature([], 'int64')", value=given
        )
    made: Spec = kind(**{field.name: getattr(given, field.name) for field in known if hasattr(given, field.name)})
    return made


def as_specs(given: Any, *, of: str = "features") -> dict[str, Spec]:
    """Return the specs of a mapping, after checking each.

    Args:
        given: key to spec.
        of: the name of the mapping, for error messages: `"features"`, `"context_features"`, or `"sequence_features"`,
            which allows other specs.

    Raises:
        ConfigurationError: the argument is not a mapping, or a spec is invalid.
    """
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"{of}={given!r} is not a mapping. Pass a dict: key to FixedLenFeature, VarLenFeature, …", value=given
        )
    specs: dict[str, Spec] = {}
    for name, spec in given.items():
        if not isinstance(name, (str, bytes)):
            raise ArgumentTypeError(f"{name!r} in {of} is not a key", advice="Keys are strings", value=name)
        key = name.decode() if isinstance(name, bytes) else name
        specs[key] = checked_spec(as_spec(spec, key), key, of=of)
    _check_together(specs)
    return specs


_ALLOWED: dict[str, tuple[type[Any], ...]] = {
    "features": (FixedLenFeature, VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature),
    "context_features": (FixedLenFeature, VarLenFeature, RaggedFeature),
    "sequence_features": (FixedLenSequenceFeature, VarLenFeature, RaggedFeature),
}


def checked_spec(spec: Spec, key: str, *, of: str = "features") -> Spec:
    """Return the spec if it is valid for the key.

    Raises:
        ConfigurationError: the spec is invalid, or not allowed in this mapping.
    """
    if not isinstance(spec, _ALLOWED[of]):
        known = ", ".join(kind.__name__ for kind in _ALLOWED[of])
        raise ConfigurationError(f"Feature {key!r} of {of} cannot be a {type(spec).__name__}", advice=f"Use one of {known}")
    if spec.dtype not in NUMPY_TYPES:
        raise ConfigurationError(
            f"Feature {key!r} has dtype {spec.dtype!r}, but records only store int64, float32 and string (bytes)",
            advice="Use one of these types, and convert the values afterwards",
        )
    if isinstance(spec, (FixedLenFeature, FixedLenSequenceFeature)):
        _check_shape(spec, key)
    if isinstance(spec, FixedLenFeature) and spec.default_value is not None:
        default_values(spec.default_value, spec.dtype, math.prod(spec.shape), key)
    if isinstance(spec, FixedLenSequenceFeature):
        _check_elements(spec, key, of)
    if isinstance(spec, SparseFeature):
        _check_sparse(spec, key)
    if isinstance(spec, RaggedFeature):
        check_ragged(spec, key)
    return spec


def _check_shape(spec: FixedLenFeature | FixedLenSequenceFeature, key: str) -> None:
    shape: Any = spec.shape
    if isinstance(shape, tuple) and all(isinstance(size, int) and size >= 0 for size in shape):
        return
    advice = "Pass the size of every dimension"
    if isinstance(spec, FixedLenFeature) and isinstance(shape, tuple) and shape and shape[0] in (None, -1):
        advice = f"Use FixedLenSequenceFeature({list(shape[1:])}, …, allow_missing=True), whose first dimension has any size"
    raise ConfigurationError(f"Feature {key!r} has shape {shape!r}, which has unknown sizes. {advice}.")


def _check_elements(spec: FixedLenSequenceFeature, key: str, of: str) -> None:
    if of == "sequence_features":
        if spec.default_value is not None:
            raise ConfigurationError(f"Feature {key!r} of {of} does not accept default_value", advice="Omit it")
        return
    if not spec.allow_missing:
        raise ConfigurationError(
            f"Feature {key!r}: FixedLenSequenceFeature needs allow_missing=True in an Example", advice="Pass it"
        )
    if math.prod(spec.shape) == 0:
        raise ConfigurationError(
            f"Feature {key!r} has elements of shape {spec.shape}, which is empty", advice="Use sizes above 0"
        )
    if spec.default_value is not None:
        default_values(spec.default_value, spec.dtype, 1, key)


def _check_sparse(spec: SparseFeature, key: str) -> None:
    keys, sizes = spec.index_keys, spec.sizes
    is_named = bool(spec.index_key) and bool(spec.value_key)  # as in TensorFlow, which allows the empty key in a list
    if not is_named or not all(isinstance(name, str) for name in (*keys, spec.value_key)):
        raise ConfigurationError(f"Feature {key!r} has no index_key or value_key", advice="Pass both keys")
    together = isinstance(spec.index_key, tuple) == isinstance(spec.size, tuple) and len(sizes) == len(keys)
    if not together or not all(isinstance(size, int) for size in sizes):
        raise ConfigurationError(
            f"Feature {key!r} has index_key={spec.index_key!r} and size={spec.size!r}",
            advice="Pass one size for each key",
            value=spec.index_key,
        )


def _check_together(specs: Mapping[str, Spec]) -> None:
    """Check that each key is read in one way: TensorFlow allows one type and one form of value per key."""
    known: dict[str, str] = {}
    for name, spec in specs.items():
        for key, form in _uses(name, spec):
            before = known.setdefault(key, form)
            if before != form:
                reason = f"reads key {key!r} as {form}, but it is also read as {before}"
                raise ConfigurationError(f"Feature {name!r} {reason}", advice="Read each key in one way")


def _uses(name: str, spec: Spec) -> list[tuple[str, str]]:
    """Return each key that a spec reads, and the form in which it is read."""
    if isinstance(spec, SparseFeature):
        return [*((key, "sparse int64") for key in spec.index_keys), (spec.value_key, f"sparse {spec.dtype}")]
    if isinstance(spec, RaggedFeature):
        keys = [each.key for each in spec.partitions if not isinstance(each, UniformRowLength)]
        rows = f"with {spec.row_splits_dtype} splits"
        return [(spec.value_key or name, f"ragged {spec.dtype} {rows}"), *((key, f"ragged int64 {rows}") for key in keys)]
    return [(name, f"{'sparse' if isinstance(spec, VarLenFeature) else 'dense'} {spec.dtype}")]


def default_values(given: Any, dtype: str, count: int, key: str) -> npt.NDArray[Any]:
    """Return a default value as a flat array.

    Args:
        given: a value, or lists of them.
        dtype: the type of the spec.
        count: the required number of values.
        key: the feature, for error messages.

    Raises:
        ConfigurationError: the type or the number of values is wrong.
    """
    if hasattr(given, "op") and hasattr(given, "graph"):
        raise ConfigurationError(
            f"default_value={given!r} of feature {key!r} is a graph tensor without a value",
            advice="Pass the value itself, such as default_value=0",
            value=given,
        )
    leaves = list(_leaves(given))
    if len(leaves) != count:
        raise ConfigurationError(
            f"default_value={given!r} of feature {key!r} has {len(leaves)} values, but {count} are needed.", value=given
        )
    if dtype == "string":
        made = np.empty(count, object)
        made[:] = [leaf.encode() if isinstance(leaf, str) else leaf for leaf in leaves]
        fits = all(isinstance(leaf, bytes) for leaf in made)
    else:
        fits = all(isinstance(leaf, (int, np.integer)) or (dtype == "float32" and isinstance(leaf, float)) for leaf in leaves)
        fits = fits and (dtype != "int64" or all(-(2**63) <= leaf < 2**63 for leaf in leaves))
        with np.errstate(over="ignore"):
            made = np.array(leaves if fits else [], NUMPY_TYPES[dtype])
    if not fits:
        raise ConfigurationError(
            f"default_value={given!r} of feature {key!r} is not a valid {dtype}", advice="Pass values of that type", value=given
        )
    return made


def _leaves(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        for inner in given:
            yield from _leaves(inner)
    else:
        yield given


def spec_keys(specs: Mapping[str, Spec]) -> list[str]:
    """Return the keys that specs read from records, without duplicates.

    >>> spec_keys({"x": SparseFeature("ix", "value", "float32", 100), "y": VarLenFeature("int64")})
    ['ix', 'value', 'y']
    """
    keys = [key for name, spec in specs.items() for key, _ in _uses(name, spec)]
    return list(dict.fromkeys(keys))


def spec_feature(spec: Spec, *, steps: bool = False) -> FeatureType:
    """Return the feature of the column that holds the values of a spec.

    Args:
        spec: a checked spec.
        steps: True if it is read from the feature lists of a sequence: one element per step.

    >>> spec_feature(FixedLenFeature([2, 3], "float32")), spec_feature(VarLenFeature("string"))
    (Array2D(shape=(2, 3), dtype='float32'), List(Value('binary')))
    """
    value = Value(COLUMN_TYPES[spec.dtype])
    made: FeatureType
    if isinstance(spec, FixedLenFeature):
        return _shaped(spec.shape, value)
    if isinstance(spec, FixedLenSequenceFeature):
        return List(_shaped(spec.shape, value))
    if isinstance(spec, SparseFeature):
        return {"indices": List(List(Value("int64"))), "values": List(value), "dense_shape": List(Value("int64"))}
    if isinstance(spec, VarLenFeature):
        made = List(value)
    else:
        made = value
        for partition in reversed(spec.partitions):
            made = List(made, length=partition.length) if isinstance(partition, UniformRowLength) else List(made)
        made = List(made)
    return List(made) if steps else made


def _shaped(shape: tuple[int, ...], value: Value) -> Feature:
    if not shape:
        return value
    if len(shape) in _ARRAYS and value.dtype != "binary":
        return _ARRAYS[len(shape)](shape, value.dtype)
    made: Feature = value
    for size in reversed(shape):
        made = List(made, length=size)
    return made
