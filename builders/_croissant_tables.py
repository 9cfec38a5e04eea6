"""The tables that a Croissant description names, read by the readers of their formats: only the columns that are asked for.

Where a reader of text needs a wider type than it gave before, the file is read again, and the rows that were given out already
are passed over: the type of a field does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from datasets_core.building.hooks import Reread

from ._croissant_found import FoundFile
from .arrow import read_arrow
from .csv import CsvConfig
from .json import JsonConfig, read_json
from .parquet import ParquetConfig, read_parquet

TABLE_KINDS = ("csv", "tsv", "json", "jsonl", "parquet", "arrow")


def table_batches(
    file: FoundFile,
    names: Sequence[str],
    *,
    as_text: Sequence[str] = (),
    key: str | None = None,
    there: dict[str, None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of a table, with the columns of `names` at least, as far as it has them.

    Args:
        file: of a kind among `TABLE_KINDS`.
        names: the columns.
        as_text: those that are taken as they stand, where the file is text.
        key: under which the rows stand in a JSON document that is one object.
        there: takes the names of all columns, as far as they are seen.

    Raises:
        FileFormatError: the file is not what it is said to be.
    """
    if file.kind in ("csv", "tsv"):
        from ._csv_read import read_csv  # 25 ms, by pyarrow.compute, that a dataset which stands does without

        seen: dict[str, None] = {} if there is None else there

        def is_asked(name: str) -> bool:
            seen[name] = None
            return name in names

        form = CsvConfig(sep="\t" if file.kind == "tsv" else ",", usecols=is_asked).form()
        yield from _again(file, lambda schema: read_csv(file.source, form, schema, as_text=as_text))
    elif file.kind in ("json", "jsonl"):
        yield from _json_batches(file, names, as_text, JsonConfig(field=key))
    elif file.kind == "parquet":
        yield from read_parquet(file.source, ParquetConfig(columns=list(names)))
    else:
        yield from read_arrow(file.source)


def parquet_columns(file: FoundFile) -> list[str] | None:
    """The columns of a Parquet file; None where it cannot be read, which its reader tells better."""
    import pyarrow.parquet as pq  # 12 ms that a dataset which stands does without

    try:
        return list(pq.read_schema(file.path).names)
    except (pa.ArrowException, OSError):
        return None


def _json_batches(
    file: FoundFile, names: Sequence[str], as_text: Sequence[str], options: JsonConfig
) -> Iterator[pa.RecordBatch]:
    """The rows of a JSON file, with texts that look like moments as the texts that they are."""
    asked: dict[str, pa.DataType] = {name: pa.string() for name in as_text}

    def read(schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        for batch in read_json(file.source, options, schema, as_json=pa.schema(list(asked.items()))):
            moments = {field.name: _spelled(field.type) for field in batch.schema if field.name in names}
            changed = {name: kind for name, kind in moments.items() if kind != batch.schema.field(name).type}
            if changed:
                asked.update(changed)
                raise Reread(pa.schema([(name, kind) for name, kind in asked.items() if name not in as_text]))
            yield batch

    yield from _again(file, read)


def _spelled(kind: pa.DataType) -> pa.DataType:
    """A type with text for moments, which JSON has no type for."""
    if pa.types.is_temporal(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(inner.name, _spelled(inner.type)) for inner in kind])
    return pa.list_(_spelled(kind.value_type)) if pa.types.is_list(kind) else kind


def _again(file: FoundFile, read: Callable[[pa.Schema | None], Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """The batches of a reader that may ask for another pass, each row once."""
    schema: pa.Schema | None = None
    given = 0
    while True:
        passed = 0
        try:
            for batch in read(schema):
                rest = batch.slice(max(given - passed, 0))
                passed += batch.num_rows
                if rest.num_rows or not given:
                    given += rest.num_rows
                    yield rest
            return
        except Reread as wider:
            if wider.schema == schema:
                raise file.source.fault("has columns whose values have no type in common") from wider
            schema = wider.schema
