"""Encodes values and rows as serialized `tf.train` messages: `encode_example`, `encode_sequence_example`, `encode_examples`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ExampleError
from datasets_core.features.arrow import Misfit, list_parts, raw_values, rows_of, struct_parts, validity
from datasets_core.features.base import FeatureType, Mask
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features
from datasets_core.records.feature_readers import ANY, MEDIA_BYTES, Leaf, leaves_of
from datasets_core.records.wire.messages import Feature
from datasets_core.records.wire.values import Ints, Kind, offsets_of, varint, varints

# Conversion of the values of a column to the bytes of features.


types = pa.types
_MOST_INT = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Pieces:
    """Consecutive pieces of bytes.

    Attributes:
        data: the bytes of all pieces.
        bounds: the start of each piece, and the end of the last one.
    """

    data: pa.Buffer
    bounds: Ints

    def at(self, places: Ints) -> Pieces:
        """Return pieces merged into fewer, longer ones, which begin at the pieces with the numbers `places`."""
        return Pieces(self.data, self.bounds[places])

    @property
    def sizes(self) -> Ints:
        """Return the size of each piece in bytes."""
        return np.diff(self.bounds)

    def array(self) -> pa.LargeBinaryArray:
        """Return the pieces as an Arrow array."""
        return pa.Array.from_buffers(pa.large_binary(), len(self.bounds) - 1, [None, pa.py_buffer(self.bounds), self.data])


@dataclass(frozen=True, slots=True)
class LeafValues:
    """The values of a leaf in some rows.

    Attributes:
        valid: mask of the rows that have values; None means all.
        counts: the number of lists or values in each row, then the number in each of these lists, and so on.
        values: all values, without nulls.
    """

    valid: Mask | None
    counts: tuple[Ints, ...]
    values: pa.Array

    def row(self, value: int) -> int:
        """Return the number of the row that contains a value."""
        return _outer(value, self.counts)


def _outer(position: int, counts: Sequence[Ints]) -> int:
    for lengths in reversed(counts):
        position = rows_of(lengths)(position)
    return position


def leaf_values(column: pa.Array, leaf: Leaf) -> LeafValues:
    """Return the values of a leaf.

    Args:
        column: the values of the column.
        leaf: the part of it.

    Raises:
        Misfit: a list contains None, or has the wrong size; or the content of a file is missing.
    """
    valid: Mask | None = None
    counts: list[Ints] = []
    array = column
    for step in leaf.steps[1:]:
        array = stored(array)
        if isinstance(step, str):
            array = _field(array, step, counts, is_media=leaf.is_media and step == MEDIA_BYTES)
            continue
        lengths, is_there, child = list_parts(array)
        if not counts:
            valid = is_there
        elif is_there is not None:
            raise _null(is_there, counts)
        if step != ANY:
            wrong = lengths != step if is_there is None else is_there & (lengths != step)
            if wrong.any():
                reason = f"a list or array of {lengths[wrong][0]} elements does not have the size of its feature, {step}"
                raise Misfit(_outer(int(np.argmax(wrong)), counts), reason)
        counts.append(lengths)
        array = child
    array = stored(array)
    is_there = validity(array)
    if is_there is None:
        return LeafValues(valid, tuple(counts) or (np.ones(len(array), np.int64),), array)
    if counts:
        raise _null(is_there, counts)
    return LeafValues(is_there, (is_there.astype(np.int64),), array.drop_null())


def _field(array: pa.Array, name: str, counts: Sequence[Ints], *, is_media: bool) -> pa.Array:
    _, fields = struct_parts(array)
    if is_media:
        missing = pc.and_(fields[MEDIA_BYTES].is_null(), fields["path"].is_valid())
        if pc.any(missing).as_py():
            place = pc.index(missing, True).as_py()
            raise Misfit(_outer(place, counts), f"the content of {fields['path'][place].as_py()!r} is not stored in the rows")
    return fields[name]


def _null(is_there: Mask, counts: Sequence[Ints]) -> Misfit:
    return Misfit(_outer(int(np.argmin(is_there)), counts), "a list or array contains None, which TFRecord files cannot store")


def wire_ints(values: pa.Array) -> Pieces:
    """Return integers, booleans, timestamps and similar values as varints.

    Raises:
        Misfit: a number is out of range for int64.
    """
    if types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    kind = f"{'u' if types.is_unsigned_integer(values.type) else ''}int{values.type.bit_width}"
    numbers = raw_values(values.buffers()[1], kind, values)
    if kind == "uint64" and len(numbers) and numbers.max() > _MOST_INT:
        place = int(np.argmax(numbers > _MOST_INT))
        raise Misfit(place, f"{numbers[place]} is out of range for int64, the type of integers in TFRecord files")
    data, widths = varints(numbers.astype(np.int64, copy=False))
    return Pieces(pa.py_buffer(data), offsets_of(widths))


def wire_floats(values: pa.Array) -> tuple[Pieces, int | None]:
    """Return numbers as little-endian float32, and the index of the first one that was rounded.

    Raises:
        Misfit: a number is out of range for float32.
    """
    width = values.type.bit_width // 8
    numbers = raw_values(values.buffers()[1], f"f{width}", values)
    with np.errstate(over="ignore"):
        floats = numbers.astype("<f4", copy=False)
    rounded: int | None = None
    if width == 8:
        differs = (floats != numbers) & ~np.isnan(numbers)
        if differs.any():
            beyond = differs & np.isinf(floats)
            if beyond.any():
                place = int(np.argmax(beyond))
                raise Misfit(
                    place, f"{float(numbers[place])!r} is out of range for float32, the type of floats in TFRecord files"
                )
            rounded = int(np.argmax(differs))
    return Pieces(pa.py_buffer(np.ascontiguousarray(floats)), np.arange(0, 4 * len(floats) + 1, 4, dtype=np.int64)), rounded


def wire_bytes(values: pa.Array) -> Pieces:
    """Return strings and bytes unchanged, as pieces."""
    values = values.cast(pa.large_binary())
    _, places, data = values.buffers()
    if not len(values) or places is None:
        return Pieces(pa.py_buffer(b""), np.zeros(1, np.int64))
    bounds = np.frombuffer(places, np.int64, len(values) + 1, 8 * values.offset)
    return Pieces(pa.py_buffer(b"") if data is None else data, bounds)


def stored(values: pa.Array) -> pa.Array:
    """Return values in their storage type, without dictionaries, views and extension types."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    if types.is_string_view(values.type) or types.is_binary_view(values.type):  # Arrow cannot drop nulls of views
        values = values.cast(pa.large_binary())
    return values


# Tags of length-delimited fields.
FIRST, SECOND = b"\x0a", b"\x12"
LISTS: dict[Kind, bytes] = {"bytes": b"\x0a", "float": b"\x12", "int64": b"\x1a"}

MOST_BYTES = (1 << 31) - 1
"""Limit of the size of a message in bytes, set by protobuf."""
_FEW = 32  # up to this number, values are encoded one by one
_MOST_FLOAT = float(np.finfo(np.float32).max)
_FLOAT = np.dtype("<f4")
_LEAST_INT = -(1 << 63)


def encode_example(features: Mapping[str, Any]) -> bytes:
    """Return the bytes of a `tf.train.Example`; keys keep their order, and equal values give equal bytes.

    Integers and booleans become an `int64_list`, other numbers a `float_list` (as float32), bytes and strings (as UTF-8) a
    `bytes_list`.  A single value becomes a list of one; numpy arrays and array-like objects are flattened in C order.  Keys
    with the value None are omitted.

    Args:
        features: a value, a list of values or a `Feature` for each key; an empty list, whose type is unknown, becomes a
            feature without a list.

    Raises:
        ExampleError: a value has an unsupported type, mixes types, or is out of range for int64 or float32; the error names
            the key.

    Example:
        >>> from datasets_core.records import decode_example
        >>> data = encode_example({"label": 7, "box": [0.25, 0.75], "name": "cat"})
        >>> decode_example(data)["box"]
        Feature(kind='float', values=[0.25, 0.75])
    """
    return _whole(delimited(FIRST, _entries(features, "Example")), "Example")


def encode_sequence_example(
    context: Mapping[str, Any] | None = None, feature_lists: Mapping[str, Iterable[Any] | None] | None = None
) -> bytes:
    """Return the bytes of a `tf.train.SequenceExample`.

    Args:
        context: see `features` of `encode_example`; None omits the context.
        feature_lists: the steps of each key, each of them a value, a list of values or a `Feature`; for a numpy array,
            its rows are the steps.

    Raises:
        ExampleError: see `encode_example`.

    Example:
        >>> from datasets_core.records import decode_sequence_example
        >>> data = encode_sequence_example({"id": 1}, {"tokens": [[1, 2], [3], []]})
        >>> [step.values for step in decode_sequence_example(data)[1]["tokens"]]
        [[1, 2], [3], []]
    """
    name, made = "SequenceExample", b""
    if context is not None:
        made = delimited(FIRST, _entries(context, name))
    if feature_lists is not None:
        steps = [(key, steps) for key, steps in _items(feature_lists, name) if steps is not None]
        lists = [delimited(FIRST, _key(key, name) + delimited(SECOND, _steps(key, given))) for key, given in steps]
        made += delimited(SECOND, b"".join(lists))
    return _whole(made, name)


def delimited(tag: bytes, data: bytes) -> bytes:
    """Return a length-delimited field: its tag, the size of the data, and the data."""
    return tag + varint(len(data)) + data


def _whole(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise ExampleError(name, f"has {len(data):,} bytes, but readers are limited to 2 GiB", advice="Split it")
    return data


def _items(given: Mapping[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        raise ExampleError(name, f"{type(given).__name__} is not a dict of features", advice="Pass a dict of names and values")
    return given.items()


def _entries(features: Mapping[str, Any], name: str) -> bytes:
    made = bytearray()
    for key, value in _items(features, name):
        if value is not None:
            made += delimited(FIRST, _key(key, name) + delimited(SECOND, _feature(key, value, name)))
    return bytes(made)


@lru_cache(maxsize=1024)
def _key(key: Any, name: str) -> bytes:
    if not isinstance(key, str):
        raise ExampleError(name, f"has the key {key!r}, which is not a string", advice="Use strings as keys")
    try:
        return delimited(FIRST, key.encode())
    except UnicodeEncodeError:
        raise ExampleError(name, f"has the key {key!r}, which UTF-8 cannot encode", advice="Rename it") from None


def _steps(key: str, steps: Any) -> bytes:
    name = "SequenceExample"
    if isinstance(steps, (str, bytes, Mapping, Feature)) or not isinstance(steps, Iterable):
        raise _refused(key, f"is {_shown(steps)}, which has no steps", name, "Pass a list with a value for each step")
    made = bytearray()
    for number, step in enumerate(steps):
        if step is None:
            raise _refused(key, f"has no value in step {number:,}", name, "Pass one or more values for each step")
        made += delimited(FIRST, _feature(key, step, name))
    return bytes(made)


def _feature(key: str, value: Any, name: str) -> bytes:
    """Return the message of a value; the common types take a direct path."""
    kind = type(value)
    if kind is bytes:
        return delimited(LISTS["bytes"], delimited(FIRST, value))
    if kind is int and 0 <= value <= _MOST_INT:
        return delimited(LISTS["int64"], delimited(FIRST, varint(value)))
    if kind is np.ndarray and value.dtype == _FLOAT and value.size:
        return delimited(LISTS["float"], delimited(FIRST, value.tobytes()))
    return _message(key, feature_of(key, value, name), name)


# -- the type of a feature ---------------------------------------------------------------------------------------------


def feature_of(key: str, value: Any, name: str = "Example") -> Feature:
    """Return a value, or a list of values, as a feature.

    Args:
        key: the key of the feature, for error messages.
        value: see `encode_example`.
        name: the name of the enclosing message, for error messages.

    Raises:
        ExampleError: a value has an unsupported type, or values have several types.

    >>> feature_of("label", True)
    Feature(kind='int64', values=[1])
    """
    if isinstance(value, Feature):
        return _checked(key, value, name)
    if isinstance(value, (str, bytes, bytearray, memoryview, int, float, np.generic)):
        return _of_values(key, [value], name)
    if isinstance(value, (list, tuple, range)):
        return _of_values(key, list(value), name)
    if hasattr(value, "__array__"):
        return _of_array(key, np.asarray(value).reshape(-1), name)
    raise _refused(key, f"is {_shown(value)}", name, "Pass numbers, strings or bytes, a list of them, or an array")


def _checked(key: str, feature: Feature, name: str) -> Feature:
    """Return a feature made by a user, after checking its type."""
    found = _of_values(key, list(feature.values), name)
    if found.kind is None or found.kind == feature.kind:
        return Feature(feature.kind, found.values)
    if (found.kind, feature.kind) == ("int64", "float"):
        return Feature("float", _as_floats(key, found.values, name))
    raise _refused(key, f"has kind {feature.kind!r}, but its values have kind {found.kind!r}", name, "Pass values of that kind")


def _of_array(key: str, values: npt.NDArray[Any], name: str) -> Feature:
    kind = values.dtype.kind
    if kind in "biu":
        return Feature("int64", values.astype(int, copy=False).tolist() if kind == "b" else values.tolist())
    if kind == "f":
        return Feature("float", values.astype(np.float64).tolist())
    if kind in "SUO":
        found = _of_values(key, values.tolist(), name)
        return found if kind == "O" else Feature("bytes", found.values)
    raise _refused(key, f"contains {values.dtype}", name, "Pass numbers, strings or bytes")


def _of_values(key: str, values: list[Any], name: str) -> Feature:
    kinds = {_kind_of(key, kind, name) for kind in dict.fromkeys(map(type, values))}
    if not kinds:
        return Feature(None, [])
    if kinds == {"bytes"}:
        return Feature("bytes", [_bytes_of(key, value, name) for value in values])
    if kinds == {"int64"}:
        return Feature("int64", list(map(int, values)))
    if "bytes" in kinds:
        raise _refused(key, "mixes numbers with text or bytes", name, "Pass values of one kind")
    return Feature("float", _as_floats(key, values, name))


def _as_floats(key: str, values: list[Any], name: str) -> list[float]:
    try:
        return list(map(float, values))
    except OverflowError:
        raise _refused(key, "has a number out of range for float32", name, "Scale it, or pass it as text") from None


def _kind_of(key: str, given: type, name: str) -> Kind:
    if issubclass(given, (str, bytes, bytearray, memoryview)):
        return "bytes"
    if issubclass(given, (int, np.integer, np.bool_)):
        return "int64"
    if issubclass(given, (float, np.floating)):
        return "float"
    if issubclass(given, (list, tuple, np.ndarray)):
        advice = "Flatten it, pass one numpy array, or use encode_sequence_example for lists of lists"
        raise _refused(key, "contains nested lists", name, advice)
    what = "None" if given is type(None) else f"a value of type {given.__name__}"
    raise _refused(key, f"contains {what}", name, "Pass numbers, strings or bytes")


def _bytes_of(key: str, value: Any, name: str) -> bytes:
    try:
        return value.encode() if isinstance(value, str) else bytes(value)
    except UnicodeEncodeError:
        raise _refused(key, f"has {_shown(value)}, which UTF-8 cannot encode", name, "Pass bytes") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text[:60]}…" if len(text) > 60 else text


def _refused(key: str, reason: str, name: str, advice: str) -> ExampleError:
    return ExampleError(name, reason, key=key, advice=advice)


# -- serialization -----------------------------------------------------------------------------------------------------


def _message(key: str, feature: Feature, name: str) -> bytes:
    if feature.kind is None:
        return b""
    if feature.kind not in LISTS:
        raise _refused(key, f"has the unknown kind {feature.kind!r}", name, f"Available kinds: {', '.join(map(repr, LISTS))}")
    return delimited(LISTS[feature.kind], _list(key, feature.kind, feature.values, name))


def _list(key: str, kind: Kind, values: Any, name: str) -> bytes:
    if kind == "bytes":
        return b"".join(delimited(FIRST, _bytes_of(key, value, name)) for value in values)
    if not len(values):
        return b""
    return delimited(FIRST, _floats(key, values, name) if kind == "float" else _ints(key, values, name))


def _floats(key: str, values: Any, name: str) -> bytes:
    try:
        return struct.pack(f"<{len(values)}f", *values)
    except OverflowError:
        value = next(value for value in values if _MOST_FLOAT < abs(value) < float("inf"))
    raise _refused(key, f"has {value!r}, which is out of range for float32", name, "Scale it, or pass it as text")


def _ints(key: str, values: Any, name: str) -> bytes:
    if not _LEAST_INT <= min(values) <= max(values) <= _MOST_INT:
        value = next(value for value in values if not _LEAST_INT <= value <= _MOST_INT)
        raise _refused(key, f"has {value}, which is out of range for int64", name, "Pass it as text")
    if len(values) > _FEW:
        return varints(np.array(values, np.int64))[0].tobytes()
    return b"".join([varint(value & 0xFFFFFFFFFFFFFFFF) for value in values])


# `encode_examples`: encodes rows column by column, without a Python object for each value.


_MOST_HEADS = 1 << 14  # limit of cached heads of a column
_MOST_SIZE = 1 << 16  # limit of sizes that are looked up in a table
_ADVICE = "Fix the value, cast the column, or remove it"


def encode_examples(batch: pa.RecordBatch | pa.Table, features: Mapping[str, FeatureType] | None = None) -> pa.Array:
    """Return each row as the bytes of a `tf.train.Example`, or of a `SequenceExample` if a column holds lists of lists.

    Columns become features with the same names and order.  Integers, booleans and labels become an `int64_list`, as do
    timestamps, dates and durations, as the integers that Arrow stores.  Floats become a `float_list`, rounded to float32.
    Strings and bytes become a `bytes_list`, as do images and other media, by the bytes of their files.  Lists and arrays are
    flattened, and the fields of a dict become features named `column/field`; a null has no feature.  Columns of lists that
    contain lists of any size become feature lists, with a step for each inner list; the other columns are then the context.

    Args:
        batch: the rows.
        features: the types of the columns; None uses those of the batch.

    Raises:
        ArgumentTypeError: the argument is not a record batch.
        CastError: a column has a type that messages cannot store, such as decimals or lists of lists of lists.
        CellCastError: a value is out of range for int64 or float32, or a list contains None; the error names row and column.

    Example:
        >>> from datasets_core.records import decode_example
        >>> batch = pa.record_batch({"label": [7, None], "box": [[0.25, 0.75], []]})
        >>> [decode_example(record.as_py()) for record in encode_examples(batch)][1]
        {'box': Feature(kind='float', values=[])}
    """
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        raise ArgumentTypeError(
            f"A {type(batch).__name__} is not a batch of rows", advice="Pass a pyarrow RecordBatch or Table"
        )
    if features is None:
        features = Features.from_arrow_schema(batch.schema)
    else:
        features = Features(features)
        batch = cast_table(batch.select(list(features)), features)
    encoder, made, row = ExampleEncoder(features), [pa.array([], pa.large_binary())], 0
    for part in batch.to_batches() if isinstance(batch, pa.Table) else [batch]:
        made.append(encoder.encode(part, row))
        row += part.num_rows
    whole = pa.concat_arrays(made)
    data = whole.buffers()[2]
    return whole if data is not None and data.size > MOST_BYTES else whole.cast(pa.binary())


class ExampleEncoder:
    """Encodes rows of the same columns as messages; see `encode_examples`.

    Args:
        features: the types of the columns.

    Attributes:
        is_sequence: True if the messages are `SequenceExample`s.
        rounded: columns with values that float32 cannot represent, each with the number of the first such row.

    Raises:
        CastError: messages cannot store a column.

    >>> encoder = ExampleEncoder(Features({"a": Value("float64")}))
    >>> [len(record.as_py()) for record in encoder.encode(pa.record_batch({"a": [0.5, 0.1]}))], encoder.rounded
    ([17, 17], {'a': 1})
    """

    def __init__(self, features: Mapping[str, FeatureType]) -> None:
        leaves = leaves_of(features)
        self.is_sequence = any(leaf.has_steps for leaf in leaves)
        self.rounded: dict[str, int] = {}
        self._columns = [_Column(leaf) for leaf in leaves]
        self._before_context, self._before_lists = _Heads((FIRST,)), _Heads((SECOND,))

    def encode(self, batch: pa.RecordBatch, first: int = 0) -> pa.LargeBinaryArray:
        """Return the messages of rows.

        Args:
            batch: the rows.
            first: the number of the first row, for error messages.

        Raises:
            CellCastError: a value cannot be stored; the error names row and column.
        """
        context, lists = _Parts.of(batch.num_rows), _Parts.of(batch.num_rows)
        for column in self._columns:
            leaf = column.leaf
            try:
                column.add_to(lists if leaf.has_steps else context, batch.column(str(leaf.steps[0])))
            except Misfit as misfit:
                raise CellCastError(leaf.path, misfit.reason, row=first + misfit.index, advice=_ADVICE) from misfit
            if column.rounded is not None:
                self.rounded.setdefault(leaf.path, first + column.rounded)
        sizes = context.sizes + lists.sizes
        if len(sizes) and (most := int(sizes.max())) > MOST_BYTES - 32:
            raise CastError(
                f"Row {first + int(np.argmax(sizes))} becomes a message of {most:,} bytes, but readers are limited to 2 GiB",
                advice="Split it into several rows",
            )
        parts = [self._before_context.of(context.sizes).data, *context.parts]
        if self.is_sequence:
            parts += [self._before_lists.of(lists.sizes).data, *lists.parts]
        return _joined(parts, batch.num_rows)


@dataclass(frozen=True, slots=True)
class _Heads:
    """Builds the bytes before some content: each layer of a message begins with the number of bytes that follow.

    Attributes:
        layers: the bytes before these numbers, from the innermost layer outwards.
        is_packed: True to leave out the innermost layer before an empty content.
        known: the heads that were computed, by size.
    """

    layers: tuple[bytes, ...]
    is_packed: bool = False
    known: dict[int, bytes] = field(default_factory=dict)

    def of(self, sizes: Ints, present: Mask | None = None) -> _Head:
        """Return the heads of content of these sizes; absent content has an empty head."""
        if present is None and len(sizes) and sizes.min() == sizes.max():
            head = self._head(int(sizes[0]))
            return _Head(pa.scalar(head, pa.large_binary()), np.full(len(sizes), len(head), np.int64))
        codes = sizes if present is None else np.where(present, sizes, -1)
        different, places = _told_apart(codes + 1)
        heads = [b"" if size < 0 else self._head(size) for size in (different - 1).tolist()]
        lengths = np.fromiter(map(len, heads), np.int64, len(heads))
        return _Head(pa.array(heads, pa.large_binary()).take(pa.array(places)), lengths[places])

    def _head(self, size: int) -> bytes:
        head = self.known.get(size)
        if head is None:
            head = b""
            for before in self.layers[1:] if self.is_packed and not size else self.layers:
                head = b"".join((before, varint(size + len(head)), head))
            if len(self.known) < _MOST_HEADS:
                self.known[size] = head
        return head


@dataclass(frozen=True, slots=True)
class _Head:
    """The heads of content (bytes; one for all or one for each) and their sizes."""

    data: Any
    sizes: Ints


def _told_apart(numbers: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values of non-negative numbers, and the index of each number among them."""
    if not len(numbers) or numbers.max() >= _MOST_SIZE:
        return np.unique(numbers, return_inverse=True)
    is_there = np.zeros(int(numbers.max()) + 1, bool)
    is_there[numbers] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[numbers]


@dataclass(slots=True)
class _Parts:
    """The parts of messages in order, and the size of each message so far."""

    parts: list[Any]
    sizes: Ints

    @classmethod
    def of(cls, count: int) -> _Parts:
        return cls([], np.zeros(count, np.int64))

    def add(self, head: _Head, contents: Pieces) -> None:
        self.parts += [head.data, contents.array()]
        self.sizes = self.sizes + head.sizes + contents.sizes


def _joined(parts: Sequence[Any], count: int) -> pa.LargeBinaryArray:
    """Return the concatenated parts of each row."""
    if all(isinstance(part, pa.Scalar) for part in parts):
        parts = [*parts, Pieces(pa.py_buffer(b""), np.zeros(count + 1, np.int64)).array()]
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))


class _Column:
    """Encodes a leaf as a feature of each message."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf
        self.rounded: int | None = None
        self._is_many_bytes = leaf.kind == "bytes" and bool(leaf.sizes)
        within = (LISTS[leaf.kind],) if self._is_many_bytes else (FIRST, LISTS[leaf.kind])
        entry = (delimited(FIRST, leaf.key.encode()) + SECOND, FIRST)
        is_packed = leaf.kind != "bytes"
        self._before_rows = _Heads(entry) if leaf.has_steps else _Heads((*within, *entry), is_packed)
        self._before_steps = _Heads((*within, FIRST), is_packed)
        self._before_values = _Heads((FIRST,))

    def add_to(self, parts: _Parts, column: pa.Array) -> None:
        """Append the feature to the parts of the messages.

        Raises:
            Misfit: a value cannot be stored; the error has its row.
        """
        held = leaf_values(column, self.leaf)
        pieces = self._pieces(held)
        if self._is_many_bytes:
            pieces = _with_heads(self._before_values, pieces)
        rows = offsets_of(held.counts[0])
        inner = np.arange(rows[-1] + 1) if self.leaf.has_steps else rows
        for counts in held.counts[1:]:
            inner = offsets_of(counts)[inner]
        pieces = pieces.at(inner)
        if self.leaf.has_steps:
            pieces = _with_heads(self._before_steps, pieces).at(rows)
        parts.add(self._before_rows.of(pieces.sizes, held.valid), pieces)

    def _pieces(self, held: LeafValues) -> Pieces:
        try:
            if self.leaf.kind == "int64":
                return wire_ints(held.values)
            if self.leaf.kind == "bytes":
                return wire_bytes(held.values)
            pieces, rounded = wire_floats(held.values)
        except Misfit as misfit:
            raise misfit.at(held.row) from misfit
        if rounded is not None and self.rounded is None:
            self.rounded = held.row(rounded)
        return pieces


def _with_heads(heads: _Heads, pieces: Pieces) -> Pieces:
    return wire_bytes(_joined([heads.of(pieces.sizes).data, pieces.array()], len(pieces.bounds) - 1))
