"""`BlockFit`: rows of many files as one: which columns are read of each, and what their types become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.errors import CastError, CellCastError, DatasetGenerationCastError
from datasets_core.features.cast import cast_table
from datasets_core.features.merge import is_held, merge_schemas
from datasets_core.features.schema import Features
from datasets_core.stream.block_files import BlockFile


@dataclass(frozen=True, slots=True)
class FileFit:
    """What is made of the rows of one file.

    Attributes:
        columns: of the file, that are read; None: all.
        features: that its rows are cast to.
    """

    columns: tuple[str, ...] | None
    features: Features


class BlockFit:
    """Fits the rows of files.

    Where the features are fixed, rows are cast to them.  Else the first file tells them; another file has the same columns, and
    where a type is wider than that of the first file, its rows have that.  Rows of a file whose columns are told by its first
    rows may have more columns, or values where those had none: they have them then.

    Args:
        features: of all columns.
        columns: those that are read, in the order of the features; None: all.
        label: whose rows they are, for messages.
        is_fixed: see above.
    """

    def __init__(self, features: Features, columns: Sequence[str] | None, label: str, *, is_fixed: bool) -> None:
        self._all, self._label, self._is_fixed = features, label, is_fixed
        self._columns = None if columns is None else tuple(columns)
        self.features = self._shown(features)
        self._schema = self.features.arrow_schema
        self._known: list[tuple[pa.Schema, FileFit]] = []
        self._others: list[tuple[pa.Schema, Features]] = []

    def _shown(self, features: Features) -> Features:
        return features if self._columns is None else Features({name: features[name] for name in self._columns})

    def of(self, schema: pa.Schema, name: str) -> FileFit:
        """What is made of the rows of a file.

        Args:
            schema: of the file.
            name: of the file, for messages.

        Raises:
            DatasetGenerationCastError: it does not fit the others.
        """
        for known, fit in self._known:
            if known is schema or known.equals(schema, check_metadata=True):
                return fit
        found = self._found(schema, name)
        self._known.append((schema, found))
        return found

    def _found(self, schema: pa.Schema, name: str) -> FileFit:
        names = schema.names
        unknown = [each for each in names if each not in self._all]
        missing = [] if self._is_fixed else [each for each in self._all if each not in names]
        if unknown or missing:
            facts = [f"new columns {unknown}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
            advice = "Put files of different columns into different configs, or pass features= that name all columns"
            raise DatasetGenerationCastError(f"{name} does not fit {self._label}: {' and '.join(facts)}. {advice}.")
        features = self._all if self._is_fixed else self._widened(schema, name)
        shown = self._shown(features)
        if features is not self._all:
            self._others.append((shown.arrow_schema, shown))
        read = tuple(each for each in shown if each in names)
        return FileFit(None if len(read) == len(names) else read, shown)

    def _widened(self, schema: pa.Schema, name: str) -> Features:
        """The features of the rows of a file: those of all, or such as hold more."""
        known, found = self._all.arrow_schema, Features.from_arrow_schema(schema).arrow_schema
        try:
            wider = merge_schemas(known, found)
        except CastError as error:
            raise self._misfit(name, str(error)) from error
        if wider.equals(known):
            return self._all
        for field in known:
            if not is_held(field.type, wider.field(field.name).type):
                kinds = f"column {field.name!r} is {found.field(field.name).type}, and {field.type} in the first file"
                raise self._misfit(name, f"{kinds}. Give features= with the types of all columns, or leave streaming=True out.")
        return Features.from_arrow_schema(wider)

    def _misfit(self, name: str, reason: str) -> DatasetGenerationCastError:
        return DatasetGenerationCastError(f"{name} does not fit {self._label}: {reason}")

    # -- rows ----------------------------------------------------------------------------------------------------------

    def pieces(self, file: BlockFile, number: int, fit: FileFit, first: int, fetched: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a block as they are to be.

        Args:
            file: whose block.
            number: of the block in the file.
            fit: what is made of the file's rows.
            first: the number of its first row in the file, for messages.
            fetched: see `BlockFile.read`.

        Raises:
            DatasetGenerationCastError: a value does not fit.
        """
        row = first
        with closing(file.read(number, fit.columns, fetched)) as batches:
            for batch in batches:
                try:
                    cast = cast_table(*self._grown(batch, fit.features), what=file.name)
                except CellCastError as error:
                    at = None if error.row is None else row + error.row
                    told = CellCastError(error.column, error.reason, row=at, what=file.name, advice=error.advice)
                    raise DatasetGenerationCastError(f"{file.name} does not fit {self._label}: {told}", row=at) from error
                except CastError as error:
                    raise self._misfit(file.name, str(error)) from error
                yield cast
                row += batch.num_rows

    def _grown(self, batch: pa.RecordBatch, known: Features) -> tuple[pa.RecordBatch, Features]:
        """Rows of a file, and the features that they are to have: those of the file, and what its first rows did not tell."""
        schema = known.arrow_schema
        new = [name for name in batch.schema.names if name not in known]
        if self._columns is not None and new:
            batch, new = batch.select([name for name in batch.schema.names if name in known]), []
        late = [each for each in batch.schema if each.name not in new and _is_empty(schema.field(each.name).type)]
        if self._is_fixed or not (new or any(each.type != schema.field(each.name).type for each in late)):
            return batch, known
        wider = merge_schemas(schema, Features.from_arrow_schema(batch.schema).arrow_schema)
        return batch, self._other(wider)

    def _other(self, schema: pa.Schema) -> Features:
        """The features of a schema that is wider than that of all."""
        for known, features in self._others:
            if known.equals(schema):
                return features
        features = Features.from_arrow_schema(schema)
        self._others.append((features.arrow_schema, features))
        return features

    def joined(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Rows of several files as one batch."""
        first = batches[0].schema
        if all(batch.schema.equals(first) for batch in batches):
            if not len(first):
                return pa.RecordBatch.from_struct_array(pa.nulls(sum(batch.num_rows for batch in batches), pa.struct([])))
            return pa.concat_batches(batches)
        wider = first
        for batch in batches[1:]:
            wider = merge_schemas(wider, batch.schema)
        features = self._other(wider)
        return pa.concat_batches([cast_table(batch, features) for batch in batches])

    def empty(self) -> pa.RecordBatch:
        """No rows."""
        return pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in self._schema], schema=self._schema)

    def features_of(self, schema: pa.Schema) -> Features | None:
        """The features of rows with a schema; None: those of all."""
        if not self._others or schema.equals(self._schema):
            return None
        return next((features for known, features in self._others if known.equals(schema)), None)


def _is_empty(kind: pa.DataType) -> bool:
    """Whether nothing has such a type but null and empty lists."""
    return bool(pa.types.is_null(kind)) or (pa.types.is_list(kind) and _is_empty(kind.value_type))
