"""`Block`: rows within a stream: Arrow columns with features, or dicts from a function; output formats of blocks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, UnknownColumnError
from datasets_core.features.arrow import keep_freed_memory, taken
from datasets_core.features.base import FeatureType, List
from datasets_core.features.formats.formats import TABULAR, Kit, NumpyKit, RowFormat, as_table, framer, kit, of_python
from datasets_core.features.formats.python import RowReader, dict_rows
from datasets_core.features.media.media import NOWHERE, MediaPaths
from datasets_core.features.schema import Decoder, Features, RowEncoder
from datasets_core.store.table import RowTable
from datasets_core.stream.order.layers import Ints

if TYPE_CHECKING:
    from datasets_core.features.formats.arrays import Casting


_DICT_BYTES = 1024  # of a row that is a dict, about


@dataclass(frozen=True)
class Kinds:
    """Types of the columns of Arrow rows; one object for all blocks of a step, since it caches their readers.

    Attributes:
        features: features of the columns.
        paths: the paths in values that may be opened.
    """

    features: Features
    paths: MediaPaths = NOWHERE
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of the columns."""
        return self.features.arrow_schema

    @cached_property
    def reader(self) -> RowReader:
        """Reads rows as plain Python."""
        return RowReader(self.schema, Decoder(self.features, self.paths))

    def of(self, features: Features) -> Kinds:
        """Return the kinds of other columns, with the same allowed paths."""
        return Kinds(features, self.paths)

    def __reduce__(self) -> tuple[Any, ...]:
        packed = self.kept.get("packed")
        if packed is None:
            packed = self.kept["packed"] = pickle.dumps((self.features, self.paths))
        return _unpacked_kinds, (packed,)


@lru_cache(maxsize=64)
def _unpacked_kinds(packed: bytes) -> Kinds:
    """Return the same object for the same bytes, so that a process that receives many blocks makes their reader once."""
    return Kinds(*pickle.loads(packed))


class Block(Protocol):
    """Rows within a stream."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def num_bytes(self) -> int:
        """Approximate bytes of the rows in memory."""
        ...

    @property
    def names(self) -> list[str]:
        """The columns that rows have."""
        ...

    def rows(self) -> list[dict[str, Any]]:
        """Return each row as a new dict in plain Python."""
        ...

    def columns(self) -> dict[str, list[Any]]:
        """Return the rows as columns."""
        ...

    def slice(self, start: int, stop: int) -> Block:
        """Return the rows from `start` to `stop`."""
        ...

    def take(self, numbers: Sequence[int] | Ints) -> Block:
        """Return the rows with these numbers."""
        ...

    def grouped(self, lengths: Ints) -> Block:
        """Return rows that each contain the lists of `size` consecutive rows."""
        ...


@dataclass(frozen=True, slots=True)
class ArrowBlock:
    """Rows as Arrow data; see `Block`."""

    batch: pa.RecordBatch
    kinds: Kinds

    def __reduce__(self) -> tuple[Any, ...]:
        sink = pa.BufferOutputStream()  # pickle would take all rows of the buffers that some rows are a part of
        with pa.ipc.new_stream(sink, self.batch.schema) as writer:
            writer.write_batch(self.batch)
        return _unpacked_block, (sink.getvalue().to_pybytes(), self.kinds)

    @property
    def num_rows(self) -> int:
        """See `Block.num_rows`."""
        return int(self.batch.num_rows)

    @property
    def num_bytes(self) -> int:
        """See `Block.num_bytes`."""
        return int(self.batch.nbytes)

    @property
    def names(self) -> list[str]:
        """See `Block.names`."""
        return list(self.kinds.features)

    def rows(self) -> list[dict[str, Any]]:
        """See `Block.rows`."""
        return self.kinds.reader.dicts(self.batch)

    def columns(self) -> dict[str, list[Any]]:
        """See `Block.columns`."""
        return self.kinds.reader.columns(self.batch)

    def slice(self, start: int, stop: int) -> ArrowBlock:
        """See `Block.slice`."""
        return ArrowBlock(self.batch.slice(start, stop - start), self.kinds)

    def take(self, numbers: Sequence[int] | Ints) -> ArrowBlock:
        """See `Block.take`."""
        if len(numbers) == self.num_rows and bool((np.diff(numbers) == 1).all()):
            return self
        chosen = np.ascontiguousarray(numbers, np.int64)
        try:
            return ArrowBlock(taken(self.batch, chosen), self.kinds)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowCapacityError):
            table = RowTable.from_batches([self.batch], self.batch.schema).take(chosen)  # which knows other ways
        return ArrowBlock(_joined(table.to_batches(), self.batch.schema), self.kinds)

    def grouped(self, lengths: Ints) -> ArrowBlock:
        """See `Block.grouped`."""
        kinds = self.kinds.kept.get("grouped")
        if kinds is None:
            kinds = self.kinds.kept["grouped"] = self.kinds.of(grouped_features(self.kinds.features))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]).astype(np.int32)
        at = pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)])
        columns = [
            pa.ListArray.from_arrays(at, column, type=field_.type)
            for column, field_ in zip(self.batch.columns, kinds.schema, strict=True)
        ]
        return ArrowBlock(pa.RecordBatch.from_arrays(columns, schema=kinds.schema), kinds)


@dataclass(frozen=True, slots=True)
class DecodedBlock(ArrowBlock):
    """Rows in Arrow form with some columns decoded; see `Block`.

    Attributes:
        decoded: the decoded value of each row, by column.
    """

    decoded: Mapping[str, list[Any]] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        return DecodedBlock, (*ArrowBlock.__reduce__(self)[1], self.decoded)

    def rows(self) -> list[dict[str, Any]]:
        return dict_rows(self.kinds.reader.names)(self.num_rows, list(self.columns().values()))

    def columns(self) -> dict[str, list[Any]]:
        reader = self.kinds.reader
        return {
            name: list(self.decoded[name]) if name in self.decoded else reader.column_reader(name)(column)
            for name, column in zip(reader.names, self.batch.columns, strict=True)
        }

    def slice(self, start: int, stop: int) -> DecodedBlock:
        decoded = {name: values[start:stop] for name, values in self.decoded.items()}
        return DecodedBlock(self.batch.slice(start, stop - start), self.kinds, decoded)

    def take(self, numbers: Sequence[int] | Ints) -> DecodedBlock:
        rows = np.asarray(numbers, np.int64).tolist()
        decoded = {name: [values[row] for row in rows] for name, values in self.decoded.items()}
        return DecodedBlock(ArrowBlock(self.batch, self.kinds).take(numbers).batch, self.kinds, decoded)


def _unpacked_block(data: bytes, kinds: Kinds) -> ArrowBlock:
    with pa.ipc.open_stream(data) as reader:
        return ArrowBlock(reader.read_next_batch(), kinds)


@dataclass(frozen=True, slots=True)
class DictBlock:
    """Rows that a function returned, with its values; see `Block`."""

    dicts: list[dict[str, Any]]

    @property
    def num_rows(self) -> int:
        """See `Block.num_rows`."""
        return len(self.dicts)

    @property
    def num_bytes(self) -> int:
        """See `Block.num_bytes`."""
        return _DICT_BYTES * len(self.dicts)

    @property
    def names(self) -> list[str]:
        """See `Block.names`."""
        return list(dict.fromkeys(name for row in self.dicts for name in row))

    def rows(self) -> list[dict[str, Any]]:
        """See `Block.rows`."""
        return list(map(dict, self.dicts))

    def columns(self) -> dict[str, list[Any]]:
        """See `Block.columns`."""
        return {name: [row.get(name) for row in self.dicts] for name in self.names}

    def slice(self, start: int, stop: int) -> DictBlock:
        """See `Block.slice`."""
        return DictBlock(self.dicts[start:stop])

    def take(self, numbers: Sequence[int] | Ints) -> DictBlock:
        """See `Block.take`."""
        return DictBlock([self.dicts[number] for number in numbers])

    def grouped(self, lengths: Ints) -> DictBlock:
        """See `Block.grouped`."""
        ends = np.cumsum(lengths).tolist()
        parts = [DictBlock(self.dicts[end - length : end]) for end, length in zip(ends, lengths.tolist(), strict=True)]
        return DictBlock([part.columns() for part in parts])


@dataclass(slots=True)
class Failures:
    """The rows of a block at which a step failed.

    Attributes:
        are_tolerated: True to drop them and deliver the others; else the first error is raised, with a note of its row.
        rows: the error of each row, by its number in the block.
    """

    are_tolerated: bool = False
    rows: dict[int, Exception] = field(default_factory=dict)

    def others(self, count: int) -> list[int]:
        """Return the numbers of the rows that did not fail, among `count` rows."""
        return [row for row in range(count) if row not in self.rows]


def grouped_features(features: Features) -> Features:
    """Return the features of lists of rows."""
    return Features({name: List(feature) for name, feature in features.items()})


def joined(blocks: Sequence[Block]) -> Block:
    """Return the rows of one or more blocks as one block."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    arrow = [block for block in blocks if isinstance(block, ArrowBlock)]
    if len(arrow) == len(blocks) and all(block.kinds.features == arrow[0].kinds.features for block in arrow):
        batch = _joined([block.batch for block in arrow], arrow[0].batch.schema)
        done = [block.decoded for block in arrow if isinstance(block, DecodedBlock)]
        if len(done) < len(arrow):
            return ArrowBlock(batch, arrow[0].kinds)
        return DecodedBlock(batch, arrow[0].kinds, {name: [value for each in done for value in each[name]] for name in done[0]})
    return DictBlock([row for block in blocks for row in block.rows()])


def encoded(rows: Sequence[dict[str, Any]], kinds: Kinds) -> ArrowBlock:
    """Return dicts as Arrow rows with these features."""
    encoder = kinds.kept.get("encoder")
    if encoder is None:
        encoder = kinds.kept["encoder"] = RowEncoder(kinds.features)
    return ArrowBlock(encoder.encode(rows), kinds)


def check_names(wanted: Iterable[str], known: Sequence[str]) -> None:
    """Raise an error for columns that rows do not have.

    Raises:
        UnknownColumnError: the rows do not have a column; the error names the first one.
    """
    for name in wanted:
        if name not in known:
            raise UnknownColumnError(name, known=known)


def _joined(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in schema], schema=schema)
    if not len(schema):
        return pa.RecordBatch.from_struct_array(pa.nulls(sum(batch.num_rows for batch in batches), pa.struct([])))
    return pa.concat_batches(batches)


# Rows of a stream in the format that the user chose: as plain Python, arrays, tensors, tables or frames.


class BlockFormatter:
    """Shows blocks in one format.

    Args:
        wanted: the format of all columns.
    """

    def __init__(self, wanted: RowFormat) -> None:
        keep_freed_memory()
        self.kind = kind = wanted.type
        self._key = kind, tuple(sorted((name, repr(value)) for name, value in wanted.kwargs.items()))
        self._options = wanted.kwargs
        self._kit: Kit | None = None if kind is None or kind in TABULAR else kit(kind, wanted.kwargs)

    def rows(self, block: Block) -> list[Any]:
        """Return each row on its own."""
        if self.kind is None:
            return block.rows()
        if self.kind in TABULAR:
            frame = self.columns(block)
            return [TABULAR[self.kind].row(frame, row) for row in range(block.num_rows)]
        assert self._kit is not None
        if isinstance(block, ArrowBlock):
            values = [
                column.rows(column.given(block, array))
                for column, array in zip(self._tensor_columns(block.kinds), block.batch.columns, strict=True)
            ]
            return dict_rows(tuple(block.names))(block.num_rows, values)
        made_by = self._kit
        return [{name: _cell(value, made_by) for name, value in row.items()} for row in block.rows()]

    def columns(self, block: Block) -> Any:
        """Return the rows as columns."""
        if self.kind is None:
            return block.columns()
        if self.kind in TABULAR:
            return self._frame(_arrow(block))
        assert self._kit is not None
        if isinstance(block, ArrowBlock):
            columns = self._tensor_columns(block.kinds)
            return {
                column.name: column.batch(column.given(block, array))
                for column, array in zip(columns, block.batch.columns, strict=True)
            }
        made_by = self._kit
        return {
            name: made_by.batch(_cast(of_python([_array(value, made_by) for value in values], made_by), made_by.casting))
            for name, values in block.columns().items()
        }

    def _frame(self, block: ArrowBlock) -> Any:
        kinds = block.kinds
        make = kinds.kept.get(("frame", self._key))
        if make is None:
            make = kinds.kept["frame", self._key] = framer(str(self.kind), kinds.features, kinds.reader, self._options)
        return make(pa.Table.from_batches([block.batch]).cast(kinds.schema))

    def _tensor_columns(self, kinds: Kinds) -> list[_TensorColumn]:
        known = kinds.kept.get(("tensors", self._key))
        if known is None:
            assert self._kit is not None
            known = [_tensor_column(kinds, name, feature, self._kit) for name, feature in kinds.features.items()]
            kinds.kept["tensors", self._key] = known
        return list(known)


class _TensorColumn(NamedTuple):
    """Conversion of an Arrow column, or of its decoded values, to a column of a batch and to values of rows."""

    name: str
    batch: Callable[[Any], Any]
    rows: Callable[[Any], list[Any]]
    decode: Callable[[pa.Array], list[Any]] | None = None

    def given(self, block: ArrowBlock, array: pa.Array) -> Any:
        """Return the column; decode it if that is needed and not done yet."""
        if self.decode is None:
            return array
        known = block.decoded.get(self.name) if isinstance(block, DecodedBlock) else None
        return self.decode(array) if known is None else known


def _tensor_column(kinds: Kinds, name: str, feature: FeatureType, made_by: Kit) -> _TensorColumn:
    from datasets_core.features.formats.arrays import cells, extractor, is_text, shapes_of, stacked, texts

    if name in kinds.reader.decodes:
        decode = kinds.reader.column_reader(name)
        return _TensorColumn(
            name,
            lambda values: made_by.batch(stacked([of_python(value, made_by) for value in values])),
            lambda values: [made_by.cell(of_python(value, made_by)) for value in values],
            decode,
        )
    arrow_type, shapes = kinds.schema.field(name).type, shapes_of(feature)
    is_number = pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type)
    has_texts = isinstance(made_by, NumpyKit) and is_text(arrow_type)
    extract = texts if has_texts else extractor(arrow_type, shapes, made_by.casting)
    single = cells(arrow_type, shapes, made_by.cell_casting if is_number else made_by.casting, np.nan)
    return _TensorColumn(
        name,
        _named(name, lambda array: made_by.batch(extract(array))),
        _named(name, lambda array: [made_by.cell(value) for value in single(array)]),
    )


def _named(name: str, make: Callable[[pa.Array], Any]) -> Callable[[pa.Array], Any]:
    def made(array: pa.Array) -> Any:
        try:
            return make(array)
        except CastError as error:
            raise CastError(f"Column {name!r}: {error}") from error

    return made


def _array(value: Any, made_by: Kit) -> Any:
    """Return a value that a function made: numbers as an array, a torch tensor unchanged."""
    if hasattr(value, "detach") and isinstance(made_by, NumpyKit):
        return value.detach().cpu().numpy()
    if hasattr(value, "detach"):
        return np.asarray(value.detach().cpu())
    made = of_python(value, made_by)
    return np.asarray(made) if hasattr(made, "__array__") and not isinstance(made, (np.ndarray, np.generic)) else made


def _cell(value: Any, made_by: Kit) -> Any:
    if hasattr(value, "detach") and not isinstance(made_by, NumpyKit):
        return value  # a tensor already
    if type(value) is float and made_by.cell_casting.floats is None:
        return made_by.cell(np.float64(value))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return made_by.cell(_cast(_array(value, made_by), made_by.cell_casting if is_number else made_by.casting))


def _cast(value: Any, casting: Casting) -> Any:
    """Return numbers in the dtype of the format."""
    from datasets_core.features.formats.arrays import cast

    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    target = {"i": casting.integers, "u": casting.integers, "f": casting.floats}.get(value.dtype.kind)
    if target is None or value.dtype == target:
        return value
    return cast(value, np.dtype(target)) if isinstance(value, np.ndarray) else np.dtype(target).type(value)


def _arrow(block: Block) -> ArrowBlock:
    """Return the rows as Arrow columns; types that are not given are inferred from the values."""
    return block if isinstance(block, ArrowBlock) else of_dicts(block.rows())


def of_dicts(rows: list[dict[str, Any]]) -> ArrowBlock:
    """Return dicts as Arrow rows, with types inferred from their values."""
    batch = RowEncoder(None).encode(rows)
    return ArrowBlock(batch, Kinds(Features.from_arrow_schema(batch.schema)))


def of_table(value: Any) -> ArrowBlock | None:
    """Return a table or data frame as rows; None if it is neither."""
    table = as_table(value)
    if table is None:
        return None
    batches: list[Any] = table.combine_chunks().to_batches()
    batch = batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
    features = Features.from_arrow_schema(table.schema)
    kinds = Kinds(features)
    if not batch.schema.equals(kinds.schema):
        batch = pa.Table.from_batches([batch]).cast(kinds.schema).to_batches()[0] if batch.num_rows else batch
    return ArrowBlock(batch, kinds)


def plain(block: Block) -> DictBlock:
    """Return the rows as dicts."""
    return block if isinstance(block, DictBlock) else DictBlock(block.rows())
