"""`Queries`: SQL over datasets by duckdb, which scans their memory-mapped pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError, QueryError
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.schema import Features
from datasets_core.optional import needed
from datasets_core.store.rows.rows import Lineage, Rows

if TYPE_CHECKING:
    from datasets_core.dataset.results import Written

_BATCH_ROWS = 1 << 16
_HUGE = {"HUGEINT", "UHUGEINT"}  # sums and counts, which duckdb computes in 128 bits and hands over as decimals
_CLOSED = {
    "enable_external_access": "false",  # a query reads and writes no file, loads no extension
    "python_enable_replacements": "false",  # nor a variable of the program
    "lock_configuration": "true",
}


class Queries(Rows):
    """Rows by SQL."""

    def to_duckdb(self, connection: Any = None, name: str = "ds") -> Any:
        """A duckdb connection in which this dataset is the view `name`, read as queries need it and not copied.

        Args:
            connection: where the view is made; None: a new database in memory, whose queries cannot reach files.
            name: of the view.

        Raises:
            MissingDependencyError: duckdb is not installed.
            ConfigurationError: duckdb takes no view of that name.

        >>> connection = Dataset.from_dict({"a": [1, 2, 3]}).to_duckdb(name="numbers")
        >>> connection.execute("select sum(a) from numbers").fetchall()
        [(6,)]
        """
        duckdb = _duckdb()
        if connection is None:  # it spills, if at all, into a folder that duckdb makes and removes; its own choice is here, "."
            import tempfile  # 8 ms that reading does without
            import uuid

            spilled = os.path.join(tempfile.gettempdir(), f"datasets_core-duckdb-{uuid.uuid4().hex}")
            connection = duckdb.connect(config={**_CLOSED, "temp_directory": spilled})
        try:
            connection.register(name, _readable(self))
        except duckdb.Error as error:
            raise ConfigurationError(f"duckdb makes no view {name!r} of the dataset: {error}. Give another name.") from error
        return connection

    def sql(self, query: str, **others: Any) -> Self:
        """Return the result of a query as a dataset; this one is called `ds` in the query.

        A column with the name and the type of a column of this dataset keeps its feature, as a ClassLabel keeps its
        names. The query reads no files and changes nothing. Results above 64 MB are stored in a temporary file.

        Args:
            query: one SELECT, or an equivalent of duckdb.
            **others: other datasets, by their names in the query.

        Raises:
            MissingDependencyError: duckdb is not installed.
            QueryError: the query is invalid, or failed.
            ArgumentTypeError: the query is not a string, or one of `others` not a dataset.

        >>> ds = Dataset.from_dict({"word": ["a", "b", "a"], "n": [1, 2, 3]})
        >>> ds.sql("select word, max(n) as most from ds group by word order by word")[:]
        {'word': ['a', 'b'], 'most': [3, 2]}
        """
        if not isinstance(query, str):
            raise ArgumentTypeError(f"A query is a string, found {type(query).__name__}. Give SQL, as 'select * from ds'.")
        for name, other in others.items():
            if name == "ds" or not isinstance(other, Rows):
                what = "'ds' is this dataset itself" if name == "ds" else f"{name}= is {type(other).__name__}, no Dataset"
                raise ArgumentTypeError(f"{what}. Give other datasets by other names.")
        duckdb = _duckdb()
        datasets = {"ds": self, **others}
        try:
            made = self._answer(duckdb, query, datasets, is_wide=False)
        except _TooLargeError:
            made = self._answer(duckdb, query, datasets, is_wide=True)
        made._format = type(made._format)()
        return made

    def _answer(self, duckdb: Any, query: str, datasets: dict[str, Rows], *, is_wide: bool) -> Self:
        """The rows of the query; integers of 128 bits are int64, or (`is_wide`) decimals."""
        import uuid

        with _session(duckdb, query) as connection:
            for name, dataset in datasets.items():
                connection.register(name, _readable(dataset))
            found = connection.sql(query)
            if found is None:
                raise QueryError(query, "it gives no rows", advice="Write a SELECT")
            kinds = dict(zip(found.columns, map(str, found.types), strict=True))
            huge = [] if is_wide else [name for name, kind in kinds.items() if kind in _HUGE]
            read = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch  # its name before duckdb 2.0
            reader = read(_BATCH_ROWS)
            features = _features(reader.schema, [*datasets.values()], query, huge)
            lineage = Lineage.known(uuid.uuid4().hex[:16], lasts=False)  # a query may be random, or ask for the time
            table = _kept(self, lineage, reader, features, huge)
            return self._replaced(table, features, "sql", new_fingerprint=lineage.fingerprint)


class _TooLargeError(Exception):
    """An integer of a result is beyond int64."""


def _duckdb() -> Any:
    return needed("duckdb", "SQL over a dataset")


@contextmanager
def _session(duckdb: Any, query: str) -> Iterator[Any]:
    """A database in memory whose queries reach nothing but the views, and that spills into a folder which goes with it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="datasets_core-duckdb-") as folder:
        connection = duckdb.connect(config={**_CLOSED, "temp_directory": folder})
        try:
            yield connection
        except (duckdb.Error, pa.ArrowException) as error:  # Arrow's: what fails while the result is read
            raise QueryError(query, str(error).strip()) from error
        finally:
            connection.close()


def _readable(dataset: Rows) -> Any:
    """Return an object that duckdb can scan repeatedly: a table over mapped pages, or a stream of blocks."""
    table = dataset._table
    if dataset._index is None and all(map(table.is_mapped, range(table.num_pieces))):
        return _plain(table.to_table())
    return dataset


def _plain(table: pa.Table) -> pa.Table:
    """The table without the extensions of its fields, which duckdb does not know."""
    return table.cast(pa.schema([field.remove_metadata() for field in table.schema]))


def _features(schema: pa.Schema, sources: list[Rows], query: str, huge: list[str]) -> Features:
    """The features of a result: of each column that of the first source which has it by that name and type."""
    if len(set(schema.names)) != len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise QueryError(query, f"two columns of its result are called {twice!r}", advice="Rename one with AS")
    found = Features.from_arrow_schema(pa.schema([_common(field, huge) for field in schema]))
    for name in found:
        for source in sources:
            kind = source._features.get(name)
            if kind is not None and _fits(kind, schema.field(name).type):
                found[name] = kind
                break
    return found


def _common(field: pa.Field, huge: list[str]) -> pa.Field:
    """A column of duckdb's in a type that features know."""
    return pa.field(field.name, pa.int64() if field.name in huge else _shape(field.type))


def _fits(feature: FeatureType, arrow_type: pa.DataType) -> bool:
    stored = feature_to_arrow(feature)
    return bool(_shape(stored) == _shape(arrow_type))


def _shape(kind: pa.DataType) -> pa.DataType:
    """A type without what duckdb does not keep: names of list items, widths of offsets, dictionaries."""
    if pa.types.is_dictionary(kind):
        return _shape(kind.value_type)
    if pa.types.is_large_string(kind) or kind == pa.string_view():
        return pa.string()
    if pa.types.is_large_binary(kind) or kind == pa.binary_view():
        return pa.binary()
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(pa.field("item", _shape(kind.value_type)), kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(pa.field("item", _shape(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _shape(field.type)) for field in kind])
    return kind


def _kept(dataset: Rows, lineage: Lineage, reader: pa.RecordBatchReader, features: Features, huge: list[str]) -> Any:
    """The rows of the reader: in memory up to a size, in a temporary folder beyond it.

    Raises:
        _TooLargeError: a value of the columns `huge` is beyond int64.
    """
    from datasets_core.dataset.results import (  # they import the writer: a query alone needs it
        MEMORY_BYTES,
        WideningWriter,
        cached_result,
        place_of,
    )

    schema = features.arrow_schema

    def make(folder: Callable[[], str]) -> list[Written]:
        writer = WideningWriter(folder, "part", most_bytes=MEMORY_BYTES)
        try:
            for batch in reader:
                columns = [_cast(column, field, huge) for column, field in zip(batch.columns, schema, strict=True)]
                writer.write(pa.RecordBatch.from_arrays(columns, schema=schema), features)
            if not writer.rows:
                empty = [pa.nulls(0, field.type) for field in schema]
                writer.write(pa.RecordBatch.from_arrays(empty, schema=schema), features)
            return writer.close()
        except BaseException:
            writer.abort()
            raise

    return cached_result(replace(place_of(dataset, lineage), most_bytes=MEMORY_BYTES), make).table


def _cast(column: pa.Array, field: pa.Field, huge: list[str]) -> pa.Array:
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as error:
        raise _TooLargeError if field.name in huge else error from error
