"""Tables of a stream, as bounded batches: of the types of the features, or else of types that those before have too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from datasets_core.building.hooks import Hooks
from datasets_core.building.live_marks import packed
from datasets_core.building.sink import check_columns
from datasets_core.config import settings
from datasets_core.errors import CastError, CellCastError, DatasetGenerationCastError, DatasetGenerationError
from datasets_core.features.cast import cast_table
from datasets_core.features.merge import is_held, merge_schemas
from datasets_core.features.schema import Features

_MOST_ROWS = 1024


class LiveTables:
    """The tables of one part of a split.

    Without features, the first one decides about the types: rows that were given cannot be given again.  Later tables may widen
    numbers, and what was null before may be anything.

    Args:
        builder: whose tables.
        split: the split.
        known: the types of tables before, where no features were given.
    """

    def __init__(self, builder: Hooks, split: str, known: pa.Schema | None = None) -> None:
        self._builder, self._split = builder, split
        self._features: Features | None = builder.info.features
        self._is_fixed = self._features is not None
        if not self._is_fixed and known is not None:
            self._features = Features.from_arrow_schema(known)
        self._origin: str | None = None
        self._known: pa.Schema | None = known if self._features is not None and not self._is_fixed else None
        self._told: str | None = None
        self._seen: pa.Schema | None = None  # of the table before

    def batches(self, table: Any, source: str | None, row: int) -> Iterator[pa.RecordBatch]:
        """The rows of a table.

        Args:
            table: as the author yields it.
            source: the file that it was read from, for messages.
            row: the number of its first row.

        Raises:
            DatasetGenerationCastError: it does not fit the features, or has other columns than those before.
            DatasetGenerationError: it has other types than those before.
        """
        what = source or f"The table behind row {row}"
        if not self._is_fixed:
            self._widen(table.schema, what, row)
        for batch in self._fitted(table, what, row):
            rows = min(_MOST_ROWS, max(1, settings().batch_bytes * batch.num_rows // max(1, batch.nbytes)))
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)

    def _fitted(self, table: Any, what: str, row: int) -> list[pa.RecordBatch]:
        if self._known is not None and isinstance(table, pa.RecordBatch) and table.schema.equals(self._known):
            return [pa.RecordBatch.from_arrays(table.columns, schema=self._known) if len(self._known) else table]
        assert self._features is not None
        try:
            fitted = cast_table(table, self._features, what=what)
        except CellCastError as error:
            if error.row is None:
                raise self._misfit(what, str(error), row) from error
            where = f"row {row + error.row}, column {error.column!r}" if error.column else f"row {row + error.row}"
            advice = error.advice or "Mend the value, or the feature of the column"
            raise self._misfit(what, f"{where}: {error.reason}. {advice}.", row + error.row) from error
        except CastError as error:
            raise self._misfit(what, str(error), row) from error
        batches: list[pa.RecordBatch] = fitted.to_batches() if isinstance(fitted, pa.Table) else [fitted]
        return batches

    def _misfit(self, what: str, reason: str, row: int) -> DatasetGenerationCastError:
        return DatasetGenerationCastError(f"{what} does not fit {self._label}: {reason}", row=row)

    @property
    def known(self) -> pa.Schema | None:
        """The types of the tables so far, where no features were given."""
        return self._known

    @property
    def told(self) -> str | None:
        """Those types as a short text."""
        if self._told is None:
            self._told = packed(self._known)
        return self._told

    @property
    def _label(self) -> str:
        return f"split {self._split!r} of {self._builder.label}"

    def _widen(self, found: pa.Schema, what: str, row: int) -> None:
        if self._seen is not None and found.equals(self._seen, check_metadata=True):
            return
        self._seen = found
        features = Features.from_arrow_schema(found)
        if self._features is None:
            self._know(features)
            self._origin = what
            return
        known, new = self._features.arrow_schema, features.arrow_schema
        if new.equals(known):
            return
        if not self._builder.merge_columns:
            check_columns(self._label, self._origin, known.names, what, new.names)
        try:
            wider = merge_schemas(known, new)
        except CastError as error:
            raise self.changed(self._label, row, what) from error
        if not all(is_held(field.type, wider.field(field.name).type) for field in known):
            raise self.changed(self._label, row, what)
        self._know(Features.from_arrow_schema(wider))

    def _know(self, features: Features) -> None:
        self._features, self._known, self._told = features, features.arrow_schema, None

    @staticmethod
    def changed(label: str, row: int, file: str | None = None) -> DatasetGenerationError:
        """The error for types that rows before a row, of a file, do not have."""
        return DatasetGenerationError(
            f"The rows of {label} have other types behind row {row}{f' of {file}' if file else ''} than before it. "
            "Give features= with the types of all columns, or leave streaming=True out.",
            row=row,
        )
