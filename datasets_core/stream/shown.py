"""Rows of a stream in the format that the user chose: as plain Python, arrays, tensors, tables or frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType
from datasets_core.features.codec import RowEncoder
from datasets_core.features.schema import Features
from datasets_core.format.arrays import Casting, cast, cells, extractor, is_text, shapes_of, stacked, texts
from datasets_core.format.formatter import RowFormat
from datasets_core.format.lists import dict_rows
from datasets_core.format.tensors import Kit, NumpyKit, kit, of_python
from datasets_core.stream.block import ArrowBlock, Block, DecodedBlock, DictBlock, Kinds

TABLES = ("arrow", "pandas", "polars")
"""Formats whose rows and batches are one object, and not values by column."""


class Shown:
    """Shows blocks in one format.

    Args:
        wanted: the format, of all columns.
    """

    def __init__(self, wanted: RowFormat) -> None:
        self.kind = kind = wanted.type
        self._key = kind, tuple(sorted((name, repr(value)) for name, value in wanted.kwargs.items()))
        self._kit: Kit | None = None if kind is None or kind in TABLES else kit(kind, wanted.kwargs)

    def rows(self, block: Block) -> list[Any]:
        """Each row on its own."""
        if self.kind is None:
            return block.rows()
        if self.kind in TABLES:
            table = self.columns(block)
            if self.kind == "pandas":
                return [table.iloc[row : row + 1].reset_index(drop=True) for row in range(block.num_rows)]
            return [table.slice(row, 1) for row in range(block.num_rows)]
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
        """The rows as columns."""
        if self.kind is None:
            return block.columns()
        if self.kind in TABLES:
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
        make = kinds.kept.get(("frame", self.kind))
        if make is None:
            from datasets_core.format.frames import framer  # for the formats that need it

            make = kinds.kept["frame", self.kind] = framer(str(self.kind), kinds.features, kinds.reader)
        return make(pa.Table.from_batches([block.batch]).cast(kinds.schema))

    def _tensor_columns(self, kinds: Kinds) -> list[_TensorColumn]:
        known = kinds.kept.get(("tensors", self._key))
        if known is None:
            assert self._kit is not None
            known = [_tensor_column(kinds, name, feature, self._kit) for name, feature in kinds.features.items()]
            kinds.kept["tensors", self._key] = known
        return list(known)


class _TensorColumn(NamedTuple):
    """How an Arrow column, or the values that it was decoded to, become the column of a batch and the values of rows."""

    name: str
    batch: Callable[[Any], Any]
    rows: Callable[[Any], list[Any]]
    decode: Callable[[pa.Array], list[Any]] | None = None

    def given(self, block: ArrowBlock, array: pa.Array) -> Any:
        """The column, decoded where it has to be and is not yet."""
        if self.decode is None:
            return array
        known = block.decoded.get(self.name) if isinstance(block, DecodedBlock) else None
        return self.decode(array) if known is None else known


def _tensor_column(kinds: Kinds, name: str, feature: FeatureType, made_by: Kit) -> _TensorColumn:
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
    """A value that a function made, as an array where it is numbers; a tensor of torch as it is."""
    if hasattr(value, "detach") and isinstance(made_by, NumpyKit):
        return value.detach().cpu().numpy()
    if hasattr(value, "detach"):
        return np.asarray(value.detach().cpu())
    return of_python(value, made_by)


def _cell(value: Any, made_by: Kit) -> Any:
    if hasattr(value, "detach") and not isinstance(made_by, NumpyKit):
        return value  # a tensor already
    if type(value) is float and made_by.cell_casting.floats is None:
        return made_by.cell(np.float64(value))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return made_by.cell(_cast(_array(value, made_by), made_by.cell_casting if is_number else made_by.casting))


def _cast(value: Any, casting: Casting) -> Any:
    """Numbers in the dtype that the format asks for."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    target = {"i": casting.integers, "u": casting.integers, "f": casting.floats}.get(value.dtype.kind)
    if target is None or value.dtype == target:
        return value
    return cast(value, np.dtype(target)) if isinstance(value, np.ndarray) else np.dtype(target).type(value)


def _arrow(block: Block) -> ArrowBlock:
    """The rows as Arrow columns, whose types the values decide where nobody else did."""
    return block if isinstance(block, ArrowBlock) else of_dicts(block.rows())


def of_dicts(rows: list[dict[str, Any]]) -> ArrowBlock:
    """Dicts as Arrow rows, with the types that their values have."""
    batch = RowEncoder(None).encode(rows)
    return ArrowBlock(batch, Kinds(Features.from_arrow_schema(batch.schema)))


def of_table(value: Any) -> ArrowBlock | None:
    """A table or frame as rows; None where it is none."""
    table: Any = None
    if isinstance(value, pa.Table):
        table = value
    elif isinstance(value, pa.RecordBatch):
        table = pa.Table.from_batches([value])
    else:
        module = type(value).__module__.partition(".")[0]
        if module == "pandas" and hasattr(value, "columns"):
            table = pa.Table.from_pandas(value, preserve_index=False).replace_schema_metadata(None)
        elif module == "polars" and hasattr(value, "columns"):
            table = value.to_arrow()
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
    """The rows as dicts."""
    return block if isinstance(block, DictBlock) else DictBlock(block.rows())
