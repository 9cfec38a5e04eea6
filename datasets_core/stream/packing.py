"""`Pack`: token sequences packed into rows of a fixed length, window by window; a sequence stays in its window.

Within a window the longest sequences come first, each into the first row with enough room (first-fit decreasing); a window
has tokens for many rows, so little room is left.  A state records the start of a window and the number of its rows
delivered: resuming reads only that window again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, check_names
from datasets_core.stream.nodes.errors import Outcome
from datasets_core.stream.nodes.map_filter import Batchwise
from datasets_core.stream.nodes.node import Delivery, Locality, Node, State, part, together
from datasets_core.stream.order.layers import Ints
from datasets_core.stream.steps import PlainStep

OVERLONG = ("split", "truncate", "drop", "raise")
"""Actions for sequences longer than a row."""
LENGTHS = "seq_lengths"
"""The column with the length of each sequence of a row."""
_FIRST_ROWS, _MOST_SEQUENCES = 16, 1 << 15
_LEAST_IN_LANES = 32


@dataclass(frozen=True, slots=True)
class Pack(PlainStep):
    """Packed sequences.

    Attributes:
        length: maximum tokens of a row.
        columns: the columns of tokens, and of values that belong to them: lists of the same length in each row.
        overlong: one of `OVERLONG`.
        pad: the value that pads rows, by column; None: rows are not padded.
        window: a window has tokens for this many rows.
    """

    length: int
    columns: tuple[str, ...]
    overlong: str = "split"
    pad: Mapping[str, Any] | None = None
    window: int = 256
    joins_rows: ClassVar[bool] = True

    @property
    def unit(self) -> int | None:
        return None

    @property
    def text(self) -> str:
        return f"pack({self.length})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.length, self.columns, self.overlong, None if self.pad is None else dict(self.pad), self.window

    def for_shards(self, shards: int) -> Pack:
        """Return the step for one of `shards` logical shards, whose windows are in memory together."""
        return replace(self, window=min(self.window, max(_LEAST_IN_LANES, self.window // shards)))

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        return Packed(node, self)

    def features(self, before: Features | None) -> Features | None:
        if before is None:
            return None
        check_names(self.columns, list(before))
        for name in self.columns:
            if not isinstance(before[name], (List, LargeList)):
                raise ConfigurationError(
                    f"Column {name!r} does not contain lists", advice="Give the column of tokens: pack(column=…)"
                )
        self._check_pad({name: _item(before[name]) for name in self.columns})
        if LENGTHS in before:
            raise ConfigurationError(f"Column {LENGTHS!r} already exists", advice="Rename or remove it before pack()")
        found = {name: List(_item(before[name]) if name in self.columns else before[name]) for name in before}
        return Features({**found, LENGTHS: List(Value("int32"))})

    def _check_pad(self, items: Mapping[str, Any]) -> None:
        """Raise an error if the lists of a column cannot contain the padding value."""
        if self.pad is None:
            return
        for name in self.columns:
            filler(self.pad[name], name, Features({name: items[name]}).arrow_schema.field(name).type)


def filler(value: Any, name: str, kind: pa.DataType) -> pa.Array:
    """Return the padding of the rows of a column.

    Raises:
        ConfigurationError: the lists of the column cannot contain it.
    """
    try:
        found = pa.array([value], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        found = None
    if found is None or (pa.types.is_integer(kind) and found[0].as_py() != value):
        raise ConfigurationError(
            f"pad={value!r} does not match the column {name!r}, whose lists contain {kind}",
            advice="Pass such a value",
            value=value,
        )
    return found


def _item(feature: Any) -> Any:
    return feature.feature


@dataclass(frozen=True, slots=True)
class Packed(Batchwise):
    """The packed rows of a node; see `Pack`."""

    below: Node
    step: Pack
    locality = Locality.PART

    def _batches(self, inner: State, count: int) -> Iterator[Delivery]:
        """Yield the windows: the first ones are small, so that their rows come early."""
        waiting: list[Delivery] = []
        tokens = rows = 0
        for delivery in self.below.blocks(inner):
            lengths = np.minimum(_lengths(delivery.block, self.step.columns[0]), self._most)
            start = 0
            while start < len(lengths):
                budget = self.step.length * min(self.step.window, _FIRST_ROWS << min(count, 30)) - tokens
                ends = np.cumsum(lengths[start : start + _MOST_SEQUENCES - rows])
                found = int(np.searchsorted(ends, budget)) + 1
                stop = min(start + found, start + len(ends))
                waiting.append(part(delivery, start, stop))
                if found <= len(ends) or rows + len(ends) >= _MOST_SEQUENCES:
                    yield together(waiting)
                    waiting, tokens, rows, count = [], 0, 0, count + 1
                else:
                    tokens, rows = tokens + int(ends[-1]), rows + len(ends)
                start = stop
        if waiting:
            yield together(waiting)

    @property
    def _most(self) -> int:
        """Return the maximum number of tokens of one sequence that are packed."""
        return 1 << 62 if self.step.overlong in ("split", "raise") else self.step.length

    def _called(self, delivery: Delivery) -> Outcome:
        lengths = _lengths(delivery.block, self.step.columns[0])
        self._check(delivery, lengths)
        rows = _rows(_cut(lengths, self.step.length, self.step.overlong), self.step.length)
        return Outcome(_joined(delivery.block, rows, self.step))

    def _check(self, delivery: Delivery, lengths: Ints) -> None:
        for name in self.step.columns[1:]:
            others = _lengths(delivery.block, name)
            if (odd := np.flatnonzero(others != lengths)).size:
                row = int(odd[0])
                raise ConfigurationError(
                    f"A row has {others[row]} values in {name!r} and {lengths[row]} in {self.step.columns[0]!r}",
                    advice="Columns packed together must have lists of the same length in each row",
                )
        if self.step.overlong == "raise" and len(lengths) and int(lengths.max()) > self.step.length:
            raise ConfigurationError(
                f"A row has {int(lengths.max())} values in {self.step.columns[0]!r}, more than the maximum of "
                f"pack({self.step.length})",
                advice="Use overlong='split', 'truncate' or 'drop'",
            )


class _Pieces(NamedTuple):
    """Sequences, or the pieces into which they were cut.

    Attributes:
        rows: the row of each.
        starts: the start of each in its row.
        lengths: the length of each.
    """

    rows: Ints
    starts: Ints
    lengths: Ints


class _Rows(NamedTuple):
    """Pieces in the order of the rows that they make.

    Attributes:
        pieces: the pieces, in this order.
        counts: number of pieces of each row.
    """

    pieces: _Pieces
    counts: Ints

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.counts)


def _lengths(block: Block, name: str) -> Ints:
    """Return the length of the list in each row; None counts as empty."""
    if isinstance(block, ArrowBlock):
        check_names([name], block.names)
        column = block.batch.column(list(block.kinds.features).index(name))
        found: Ints = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        return found
    check_names([name], block.names)
    values = [row.get(name) for row in block.rows()]
    try:
        return np.array([0 if value is None else len(value) for value in values], np.int64)
    except TypeError:
        odd = next(value for value in values if value is not None and not hasattr(value, "__len__"))
        raise ConfigurationError(
            f"Column {name!r} has {type(odd).__name__} in a row, not a list", advice="Give the column of tokens"
        ) from None


def _cut(lengths: Ints, most: int, overlong: str) -> _Pieces:
    """Return sequences as pieces that fit into rows; empty ones are left out."""
    rows = np.arange(len(lengths), dtype=np.int64)
    if overlong == "drop":
        rows, lengths = rows[lengths <= most], lengths[lengths <= most]
    elif overlong == "truncate":
        lengths = np.minimum(lengths, most)
    counts = -(-lengths // most)
    number = np.arange(int(counts.sum()), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = number * most
    return _Pieces(np.repeat(rows, counts), starts, np.minimum(np.repeat(lengths, counts) - starts, most))


def _rows(pieces: _Pieces, most: int) -> _Rows:
    """Return the pieces in rows; the rows are in the order of their first pieces."""
    order = np.argsort(-pieces.lengths, kind="stable")
    bins = np.empty(len(order), np.int64)
    bins[order] = first_fit(pieces.lengths[order].tolist(), most)
    _, firsts, which = np.unique(bins, return_index=True, return_inverse=True)
    places = firsts[which]  # the first piece of the row of each piece
    order = np.lexsort((np.arange(len(places)), places))
    counts = np.bincount(places, minlength=1)
    found = _Pieces(*(each[order] for each in pieces))
    return _Rows(found, counts[counts > 0].astype(np.int64))


def first_fit(lengths: Sequence[int], most: int) -> list[int]:
    """Return, for each length, the first row with room for it.

    >>> first_fit([5, 4, 3, 3, 2, 1], 8)
    [0, 1, 0, 1, 2, 1]
    """
    size = 1
    while size < len(lengths):
        size *= 2
    room = [most] * (2 * size)  # a tree: each number is the most of the two below it, the last `size` are those of rows
    found = []
    for length in lengths:
        at = 1
        while at < size:
            at *= 2
            at += room[at] < length
        found.append(at - size)
        room[at] -= length
        while at > 1:
            at //= 2
            room[at] = max(room[2 * at], room[2 * at + 1])
    return found


def _joined(block: Block, rows: _Rows, step: Pack) -> Block:
    if isinstance(block, ArrowBlock) and all(pa.types.is_list(block.batch.schema.field(name).type) for name in step.columns):
        return _joined_columns(block, rows, step)
    return _joined_dicts(block, rows, step)


def _joined_columns(block: ArrowBlock, rows: _Rows, step: Pack) -> ArrowBlock:
    kinds = block.kinds.kept.get(("packed", step.columns))
    if kinds is None:
        features = replace(step, columns=step.columns).features(block.kinds.features)
        assert features is not None
        kinds = block.kinds.kept["packed", step.columns] = block.kinds.of(features)
    pieces, ends = rows.pieces, np.cumsum(rows.counts)
    of_piece = block.take(pieces.rows)
    whole = np.concatenate([np.zeros(1, np.int64), ends])
    columns = []
    for name, field in zip(kinds.features, kinds.schema, strict=True):
        if name == LENGTHS:
            columns.append(_lists(whole, pa.array(pieces.lengths, pa.int32()), field.type))
        elif name not in step.columns:
            columns.append(_lists(whole, of_piece.batch.column(list(block.kinds.features).index(name)), field.type))
        else:
            columns.append(_tokens(block.batch.column(list(block.kinds.features).index(name)), rows, step, name, field.type))
    return ArrowBlock(pa.RecordBatch.from_arrays(columns, schema=kinds.schema), kinds)


def _tokens(column: pa.Array, rows: _Rows, step: Pack, name: str, kind: pa.DataType) -> pa.Array:
    pieces = rows.pieces
    begins = column.offsets.to_numpy()[:-1].astype(np.int64)[pieces.rows] + pieces.starts
    ends = np.cumsum(pieces.lengths)
    total = int(ends[-1]) if len(ends) else 0
    at = np.arange(total, dtype=np.int64) - np.repeat(ends - pieces.lengths, pieces.lengths) + np.repeat(begins, pieces.lengths)
    borders = np.concatenate([np.zeros(1, np.int64), ends[np.cumsum(rows.counts) - 1]]) if len(ends) else np.zeros(1, np.int64)
    values = column.values.take(pa.array(at))
    if step.pad is None:
        return _lists(borders, values, kind)
    fill = filler(step.pad[name], name, column.type.value_type)
    sizes = np.diff(borders)
    places = np.full(len(sizes) * step.length, total, np.int64)
    places[(np.arange(len(sizes)) * step.length).repeat(sizes) + np.arange(total) - borders[:-1].repeat(sizes)] = np.arange(
        total
    )
    padded = pa.concat_arrays([values, fill]).take(pa.array(places))
    return _lists(np.arange(len(sizes) + 1, dtype=np.int64) * step.length, padded, kind)


def _lists(borders: Ints, values: pa.Array, kind: pa.DataType) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(borders.astype(np.int32)), values, type=kind)


def _joined_dicts(block: Block, rows: _Rows, step: Pack) -> DictBlock:
    given = block.rows()
    others = [name for name in block.names if name not in step.columns]
    if LENGTHS in others:
        raise ConfigurationError(f"Column {LENGTHS!r} already exists", advice="Rename or remove it before pack()")
    found: list[dict[str, Any]] = []
    at = 0
    row_of, starts, lengths = (each.tolist() for each in rows.pieces)
    for count in rows.counts.tolist():
        own = range(at, at + count)
        row: dict[str, Any] = {}
        for name in block.names:
            if name in others:
                row[name] = [given[row_of[each]].get(name) for each in own]
                continue
            values: list[Any] = []
            for each in own:
                piece = given[row_of[each]][name][starts[each] : starts[each] + lengths[each]]
                values.extend(piece.tolist() if hasattr(piece, "tolist") else piece)
            if step.pad is not None:
                values.extend([step.pad[name]] * (step.length - len(values)))
            row[name] = values
        found.append({**row, LENGTHS: lengths[at : at + count]})
        at += count
    return DictBlock(found)
