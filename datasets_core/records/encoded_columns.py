"""Rows as the bytes of messages, column by column: `encode_examples`, without a Python object for a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError
from datasets_core.features.base import FeatureType
from datasets_core.features.cast import cast_table
from datasets_core.features.nesting import Mask, Misfit
from datasets_core.features.schema import Features
from datasets_core.records.encoded_values import LeafValues, Pieces, leaf_values, wire_bytes, wire_floats, wire_ints
from datasets_core.records.example_encoding import FIRST, LISTS, MOST_BYTES, SECOND, delimited
from datasets_core.records.message_plan import Leaf, leaves_of
from datasets_core.records.record_block import Ints
from datasets_core.records.varints import varint
from datasets_core.records.wire_values import offsets_of

_MOST_HEADS = 1 << 14  # that are kept, of one column
_MOST_SIZE = 1 << 16  # of a content, up to which sizes are told apart by a table
_ADVICE = "Mend the value, cast the column, or leave it out"


def encode_examples(batch: pa.RecordBatch | pa.Table, features: Mapping[str, FeatureType] | None = None) -> pa.Array:
    """Each row as the bytes of a `tf.train.Example`, or of a `SequenceExample` where a column holds lists of lists.

    Columns become features of their names, in their order: whole numbers, booleans and labels an `int64_list`; moments, days
    and durations likewise, as the numbers that Arrow stores; floats a `float_list`, rounded to float32; text and bytes a
    `bytes_list`, and so do images and the like, by the bytes of their files.  Lists and arrays are flattened, the fields of a
    dict become features named `column/field`, and of a null there is no feature.  Where lists hold lists of any size, these
    columns become feature lists, with a step for each inner list, and the other columns the context.

    Args:
        batch: the rows.
        features: the kinds of the columns; None: those that the batch tells.

    Raises:
        ArgumentTypeError: it is none.
        CastError: messages have no form of a column: decimals, or lists of lists of lists.
        CellCastError: a value is beyond int64 or float32, or a list holds None; names row and column.

    >>> from datasets_core.records import decode_example
    >>> batch = pa.record_batch({"label": [7, None], "box": [[0.25, 0.75], []]})
    >>> [decode_example(record.as_py()) for record in encode_examples(batch)][1]
    {'box': Feature(kind='float', values=[])}
    """
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        raise ArgumentTypeError(f"A {type(batch).__name__} is no batch of rows. Give a pyarrow RecordBatch or Table.")
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
    """What makes messages of rows with the same columns; see `encode_examples`.

    Args:
        features: the kinds of the columns.

    Attributes:
        is_sequence: the messages are `SequenceExample`s.
        rounded: columns of which float32 does not hold some values, each with the number of the first such row.

    Raises:
        CastError: messages have no form of a column.

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
        """The messages of some rows.

        Args:
            batch: the rows.
            first: the number of the first of them, for messages.

        Raises:
            CellCastError: a value has no form; names row and column.
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
                f"Row {first + int(np.argmax(sizes))} makes a message of {most:,} bytes, and readers take less than 2 GiB. "
                "Make several rows of it."
            )
        parts = [self._before_context.of(context.sizes).data, *context.parts]
        if self.is_sequence:
            parts += [self._before_lists.of(lists.sizes).data, *lists.parts]
        return _joined(parts, batch.num_rows)


@dataclass(frozen=True, slots=True)
class _Heads:
    """The bytes before a content: each layer of the message begins with a number that says how many bytes follow.

    Attributes:
        layers: what stands before each of these numbers, from the innermost on.
        is_packed: before a content of no bytes the innermost layer is left out.
        known: those of sizes that there were.
    """

    layers: tuple[bytes, ...]
    is_packed: bool = False
    known: dict[int, bytes] = field(default_factory=dict)

    def of(self, sizes: Ints, present: Mask | None = None) -> _Head:
        """Those of contents of these sizes; nothing before one that is not present."""
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
    """What stands before some contents: the bytes, one for all or for each, and how many they are."""

    data: Any
    sizes: Ints


def _told_apart(numbers: Ints) -> tuple[Ints, Ints]:
    """The different ones of some numbers from 0 on, and the place of each among these."""
    if not len(numbers) or numbers.max() >= _MOST_SIZE:
        return np.unique(numbers, return_inverse=True)
    is_there = np.zeros(int(numbers.max()) + 1, bool)
    is_there[numbers] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[numbers]


@dataclass(slots=True)
class _Parts:
    """What messages are made of, one part behind the other, and how many bytes that is."""

    parts: list[Any]
    sizes: Ints

    @classmethod
    def of(cls, count: int) -> _Parts:
        return cls([], np.zeros(count, np.int64))

    def add(self, head: _Head, contents: Pieces) -> None:
        self.parts += [head.data, contents.array()]
        self.sizes = self.sizes + head.sizes + contents.sizes


def _joined(parts: Sequence[Any], count: int) -> pa.LargeBinaryArray:
    """The parts of each row, one behind the other."""
    if all(isinstance(part, pa.Scalar) for part in parts):
        parts = [*parts, Pieces(pa.py_buffer(b""), np.zeros(count + 1, np.int64)).array()]
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))


class _Column:
    """The feature that a leaf becomes in each message."""

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
        """Put the feature behind the parts of messages.

        Raises:
            Misfit: a value has no form; says the row.
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
