"""Batches whose types may widen: the first wait in memory, the others go to files, and one schema holds all in the end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.merge import merge_types
from datasets_core.features.mixed import Traits, integer_traits, joined_type, widened_array
from datasets_core.features.schema import Features
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.table import RowTable
from datasets_core.store.writer import ShardWriter

WAITING_BYTES = 8 << 20
"""Held before the first file is begun, until the types have shown."""
SPLIT = "rows"
"""The split that the rows of a result are of, in its manifest."""


@dataclass(frozen=True, slots=True)
class Written:
    """Rows of one schema, in files or (`batches`) in memory.

    Attributes:
        schema: of every batch.
        kinds: the features of columns that are more than their Arrow type says.
        records: the shards, in the folder that they were written to.
        batches: the rows that wait in memory, where there are no shards.
        traits: of the integers in each column, which decide about the types that hold them and others.
    """

    schema: pa.Schema
    kinds: Mapping[str, FeatureType]
    records: tuple[ShardRecord, ...] = ()
    batches: tuple[pa.RecordBatch, ...] = ()
    traits: Mapping[str, Traits] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        """Bytes of the rows that wait in memory."""
        return sum(batch.nbytes for batch in self.batches)


class WideningWriter:
    """Takes batches one after the other, and ends as runs of rows of one schema each.

    Args:
        folder: gives the folder for files, when the first is begun.
        stem: what their names begin with.
        most_bytes: rows up to this size stay in memory.
        as_json: a column of values that share no type becomes one of JSON values; else it is an error.
        is_hashed: the records of files tell their sha256.
    """

    def __init__(
        self, folder: Callable[[], str], stem: str, *, most_bytes: int = 0, as_json: bool = False, is_hashed: bool = False
    ) -> None:
        self._folder, self._stem, self._most_bytes, self._as_json = folder, stem, most_bytes, as_json
        self._is_hashed = is_hashed
        self._schema: pa.Schema | None = None
        self._kinds: dict[str, FeatureType] = {}
        self._traits: dict[str, Traits] = {}
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self._writer: ShardWriter | None = None
        self._written: list[Written] = []
        self._last_kinds: Mapping[str, FeatureType] | None = None
        self.rows = 0

    def write(self, batch: pa.RecordBatch, kinds: Mapping[str, FeatureType] | None = None) -> None:
        """Append a batch, whose columns are of `kinds`.

        Raises:
            CastError: a column shares no type with those before.
        """
        if self._as_json:
            self._traits = _joined_traits(self._traits, _traits_of(batch))
        if self._schema is None:
            self._schema, self._kinds = batch.schema, dict(kinds or {})
        elif kinds is not self._last_kinds or not batch.schema.equals(self._schema):
            self._widen(batch.schema, kinds or {})
        self._last_kinds = kinds
        if self._writer is None:
            self._waiting.append(batch)
            self._waiting_bytes += batch.nbytes
            if self._waiting_bytes > max(WAITING_BYTES, self._most_bytes):
                self._begin()
        else:
            self._writer.write(widened(batch, self._writer.schema))
        self.rows += batch.num_rows

    def _widen(self, other: pa.Schema, kinds: Mapping[str, FeatureType]) -> None:
        assert self._schema is not None
        schema = joined_schema(self._schema, other, as_json=self._as_json, traits=self._traits)
        if not schema.equals(self._schema):
            if self._writer is not None:
                self._end()
            self._schema = schema
            if self._written:
                self._begin()
        self._kinds = joined_kinds(self._kinds, kinds, self._schema)

    def _begin(self) -> None:
        assert self._schema is not None
        folder, stem = self._folder(), f"{self._stem}-{len(self._written):03d}"
        self._writer = ShardWriter(folder, stem, split=SPLIT, schema=self._schema, is_hashed=self._is_hashed)
        for batch in self._waiting:
            self._writer.write(widened(batch, self._writer.schema))
        self._waiting = []

    def _end(self) -> None:
        if self._writer is not None:
            self._written.append(Written(self._writer.schema, dict(self._kinds), tuple(self._writer.close()), (), self._traits))
            self._writer = None

    def close(self) -> list[Written]:
        """Finish the files; none where nothing was written."""
        if self._schema is None:
            return []
        if self._writer is None and self._waiting_bytes <= self._most_bytes:
            batches = tuple(widened(batch, self._schema) for batch in self._waiting)
            return [Written(self._schema, self._kinds, (), batches, self._traits)]
        if self._writer is None:
            self._begin()
        self._end()
        return self._written

    def abort(self) -> None:
        """Remove the files."""
        if self._writer is not None:
            self._writer.abort()
        for record in (record for written in self._written for record in written.records):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder(), record.name))


# -- one schema for all ------------------------------------------------------------------------------------------------


def joined_schema(
    a: pa.Schema, b: pa.Schema, *, as_json: bool = False, traits: Mapping[str, Traits] | None = None
) -> pa.Schema:
    """The schema that holds the columns of both, in the order in which they are first seen.

    >>> joined_schema(pa.schema({"a": pa.null()}), pa.schema({"a": pa.int8(), "b": pa.string()})).types
    [DataType(int8), DataType(string)]

    Raises:
        CastError: a column has two types that do not fit, and is not to become JSON.
    """
    if a.equals(b):
        return a
    fields = {field.name: field for field in a}
    for found in b:
        before = fields.get(found.name)
        fields[found.name] = (
            found if before is None else _joined_field(before, found, as_json, (traits or {}).get(found.name, frozenset()))
        )
    return pa.schema(list(fields.values()))


def _joined_field(a: pa.Field, b: pa.Field, as_json: bool, traits: Traits) -> pa.Field:
    if a.type == b.type:
        return a
    joined = joined_type(a.type, b.type, traits) if as_json else merge_types(a.type, b.type)
    if joined is None:
        raise CastError(
            f"Column {a.name!r} is {a.type} in some rows and {b.type} in others. "
            "Return values of one kind, or pass on_mixed_types='use_json'."
        )
    same = a.metadata if joined == a.type else b.metadata if joined == b.type else None
    return pa.field(a.name, joined, nullable=a.nullable and b.nullable, metadata=same)


def _traits_of(batch: pa.RecordBatch) -> dict[str, Traits]:
    found = {name: integer_traits(batch.column(index)) for index, name in enumerate(batch.schema.names)}
    return {name: traits for name, traits in found.items() if traits}


def _joined_traits(a: Mapping[str, Traits], b: Mapping[str, Traits]) -> dict[str, Traits]:
    return {name: a.get(name, frozenset()) | b.get(name, frozenset()) for name in {**a, **b}}


def joined_kinds(a: Mapping[str, FeatureType], b: Mapping[str, FeatureType], schema: pa.Schema) -> dict[str, FeatureType]:
    """The features that both say of a column, where they are as `schema` has it; a column of nulls only says nothing."""
    joined = {}
    for name in {**a, **b}:
        kind = a.get(name, b.get(name))
        if kind is not None and a.get(name, kind) == b.get(name, kind) and feature_to_arrow(kind) == schema.field(name).type:
            joined[name] = kind
    return joined


def joined(written: Sequence[Written], *, as_json: bool = False) -> tuple[pa.Schema, Features]:
    """The schema and features that hold the rows of all."""
    schema, kinds, traits = written[0].schema, dict(written[0].kinds), dict(written[0].traits)
    for each in written[1:]:
        traits = _joined_traits(traits, each.traits)
        schema = joined_schema(schema, each.schema, as_json=as_json, traits=traits)
        kinds = joined_kinds(kinds, each.kinds, schema)
    found = Features.from_arrow_schema(schema)
    features = Features({name: kinds.get(name, feature) for name, feature in found.items()})
    return schema, features


def widened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the columns and types of `schema`, which holds all of its values.

    >>> widened(pa.RecordBatch.from_pylist([{"a": 1}]), pa.schema({"a": pa.float64(), "b": pa.string()})).to_pylist()
    [{'a': 1.0, 'b': None}]
    """
    if batch.schema.equals(schema) or not len(schema):
        return batch
    columns = []
    for wanted in schema:
        index = batch.schema.get_field_index(wanted.name)
        columns.append(pa.nulls(batch.num_rows, wanted.type) if index < 0 else widened_array(batch.column(index), wanted))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def conformed(written: Written, schema: pa.Schema, folder: str, stem: str, *, is_hashed: bool = False) -> list[ShardRecord]:
    """The shards of some rows in `folder`, with the schema that all agreed on; written anew if theirs is another."""
    if written.schema.equals(schema) and not written.batches:
        return list(written.records)
    with ShardWriter(folder, stem, split=SPLIT, schema=schema, is_hashed=is_hashed) as writer:
        for batch in rows_of(written, folder):
            writer.write(widened(batch, writer.schema))
        for record in written.records:
            os.unlink(os.path.join(folder, record.name))
        return writer.close()


def rows_of(written: Written, folder: str) -> Iterable[pa.RecordBatch]:
    """The rows as they were written."""
    yield from written.batches
    for record in written.records:
        yield from RowTable.from_file(os.path.join(folder, record.name), validate=False).batches()


def table_of(written: Sequence[Written], schema: pa.Schema) -> RowTable:
    """The rows that wait in memory, as a table."""
    held: list[Any] = [widened(batch, schema) for each in written for batch in each.batches]
    return RowTable.from_batches(held, schema)
