"""Tables made from Python values: columns, rows, a generator, a buffer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.config import has_alias
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    CellCastError,
    ConfigurationError,
    DamagedShardError,
    DatasetGenerationError,
    DatasetsCoreError,
)
from datasets_core.features.arrow import merge_schemas
from datasets_core.features.inference import infer_or_json, token_array
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.features.values import is_tensor, tensor_array
from datasets_core.progress import meter
from datasets_core.store.table import DerivedShard, RowTable

if TYPE_CHECKING:
    from datasets_core.store.chunks import Chunks

_ARROW_MAGIC = b"ARROW1"
_DAMAGE = (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError)


def columns_table(
    mapping: Mapping[str, Any],
    features: Features | None,
    on_mixed_types: str | None,
    *,
    extra_columns: str = "raise",
    missing_columns: str = "raise",
) -> pa.Table:
    """Return a table of columns; each is a list or other iterable, a numpy array, or an Arrow array.

    Raises:
        CastError: columns have different lengths, or values have no common type or do not fit their feature.
    """
    from datasets_core.features.cast import cast_table

    if not isinstance(mapping, Mapping):
        raise ArgumentTypeError(
            f"from_dict() takes a dict of columns, found {type(mapping).__name__}", advice="Use from_list for rows"
        )
    check_mixed(on_mixed_types)
    check_columns(extra_columns, missing_columns)
    if features is not None:
        if extra_columns == "ignore":
            mapping = {name: values for name, values in mapping.items() if name in features}
        _check_missing(mapping, features, missing_columns)
    tables = {name: _column_table(name, values, features, on_mixed_types) for name, values in mapping.items()}
    lengths = {name: table.num_rows for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        first = next(iter(lengths))
        odd = next(name for name in lengths if lengths[name] != lengths[first])
        raise CastError(
            f"Column {odd!r} has {lengths[odd]} values, but column {first!r} has {lengths[first]}",
            advice="Give columns of the same length",
        )
    schema = pa.schema([table.schema.field(0) for table in tables.values()])
    table = pa.Table.from_arrays([table.column(0) for table in tables.values()], schema=schema)
    if features is not None:
        return cast_table(table, features, what="The columns")
    kinds = Features()
    for each in tables.values():
        kinds.update(Features.from_arrow_schema(each.schema))
    return table.replace_schema_metadata(kinds.arrow_schema.metadata)


def _column_table(name: str, values: Any, features: Features | None, on_mixed_types: str | None) -> pa.Table:
    """Return one column as a table, because a feature is stored in a schema."""
    if features is not None and name not in features:
        raise CastError(
            f"Column {name!r} is not in the features", advice="Add it, or pass extra_columns='ignore' to leave it out"
        )
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return pa.table([values], names=[name])
    if is_tensor(type(values)):
        values = tensor_array(values)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf" and features is None:
        return pa.table([token_array(name, pa.array(values.copy()))], names=[name])  # the caller may change the array later
    try:
        rows = [{name: value} for value in values]
    except TypeError:
        raise ArgumentTypeError(
            f"Column {name!r} is {values!r}, not a list of values", advice="Give a list or an array", value=values
        ) from None
    kinds = None if features is None else Features({name: features[name]})
    if not rows and kinds is None:
        return pa.table([pa.nulls(0)], names=[name])
    if kinds is not None:
        return pa.Table.from_batches([RowEncoder(kinds).encode(rows)])
    if on_mixed_types is None:
        return pa.table([token_array(name, RowEncoder(None).encode(rows).column(0))], names=[name])
    return pa.table([token_array(name, infer_or_json([row[name] for row in rows]))], names=[name])


def rows_table(
    rows: Iterable[Mapping[str, Any]],
    features: Features | None,
    on_mixed_types: str | None,
    *,
    extra_columns: str,
    missing_columns: str,
) -> pa.Table:
    """Return a table of rows; a key that a row lacks is null.

    Raises:
        CastError: values have no common type or do not fit their feature; the error names column and row.
    """
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise ArgumentTypeError(
            f"from_list() takes a list of dicts, found {type(rows).__name__}", advice="Use from_dict for columns"
        )
    check_mixed(on_mixed_types)
    check_columns(extra_columns, missing_columns)
    listed = list(rows)
    if features is None and on_mixed_types == "use_json" and all(isinstance(row, Mapping) for row in listed):
        names = list(dict.fromkeys(name for row in (listed[:1] if has_alias() else listed) for name in row))
        return columns_table({name: [row.get(name) for row in listed] for name in names}, None, on_mixed_types)
    if features is None:
        batch = _of_first_columns(listed) if has_alias() and listed else RowEncoder(None).encode(listed)
        return pa.table(
            [token_array(*column) for column in zip(batch.schema.names, batch.columns, strict=True)], batch.schema.names
        )
    encoded = RowEncoder(features, extra_columns=extra_columns).encode(listed)
    _check_missing({name for row in listed for name in row}, features, missing_columns)
    return pa.Table.from_batches([encoded], features.arrow_schema)


def _of_first_columns(rows: list[Any]) -> pa.RecordBatch:
    """Return the columns of the first row, as `datasets` does."""
    try:
        batch = RowEncoder(None).encode(rows)
        return batch.select([name for name in batch.schema.names if name in rows[0]])
    except CastError:  # perhaps of a column that is left out
        if not all(isinstance(row, Mapping) for row in rows):
            raise
        return RowEncoder(None).encode([{name: row.get(name) for name in rows[0]} for row in rows])


def check_columns(extra_columns: str, missing_columns: str = "raise") -> None:
    """Refuse unknown values of the options for columns that only the data or only the features have.

    Raises:
        ConfigurationError: an unknown value.
    """
    if extra_columns not in ("raise", "ignore"):
        raise ConfigurationError(
            f"extra_columns={extra_columns!r} is unknown", advice="Give 'raise' (an error) or 'ignore'", value=extra_columns
        )
    if missing_columns not in ("raise", "insert"):
        raise ConfigurationError(
            f"missing_columns={missing_columns!r} is unknown",
            advice="Give 'raise' (an error) or 'insert'",
            value=missing_columns,
        )


def _check_missing(names: Collection[str], features: Features, missing_columns: str) -> None:
    missing = next((name for name in features if name not in names), None)
    if names and missing is not None and missing_columns == "raise":
        raise CastError(
            f"The features have a column {missing!r}, and the data have only {', '.join(map(repr, names))}",
            advice="Add it to the data, or pass missing_columns='insert' for a column of None",
        )


def check_mixed(on_mixed_types: str | None) -> None:
    """Refuse unknown values of `on_mixed_types`.

    Raises:
        ConfigurationError: neither None nor 'use_json'.
    """
    if on_mixed_types not in (None, "use_json"):
        raise ConfigurationError(
            f"Invalid on_mixed_types={on_mixed_types!r}",
            advice="Give None (raise an error) or 'use_json'",
            value=on_mixed_types,
        )


def buffer_table(buffer: Any) -> pa.Table:
    """Return the table of an Arrow file or stream in memory.

    Raises:
        DamagedShardError: the bytes are truncated, damaged or in another format.
    """
    try:
        data = pa.py_buffer(buffer)
        is_file = data.slice(0, len(_ARROW_MAGIC)).to_pybytes() == _ARROW_MAGIC if data.size > len(_ARROW_MAGIC) else False
        reader = pa.ipc.open_file(data) if is_file else pa.ipc.open_stream(data)
        table = reader.read_all()
        table.validate(full=True)
    except _DAMAGE as error:
        advice = "Pass the bytes of an Arrow file or an Arrow stream"
        raise DamagedShardError("The buffer", f"it does not contain an Arrow table ({error})", advice=advice) from error
    return table


# The rows of a generator as record batches, in bounded memory, with errors that name the row.


T = TypeVar("T")

_MOST_ROWS = 10_000
_BATCH_BYTES = 8 << 20


def check_callable(generator: object) -> None:
    """Check that a generator can be called.

    Raises:
        ArgumentTypeError: it is not a function.
    """
    if not callable(generator):
        raise ArgumentTypeError(
            f"generator must be callable: a function that yields dicts, found {type(generator).__name__}",
            advice="Pass the function itself, not its result",
        )


def named_arguments(gen_kwargs: object) -> dict[str, Any]:
    """Return the arguments of a generator.

    Raises:
        ArgumentTypeError: not a dict.
    """
    if gen_kwargs is None:
        return {}
    if not isinstance(gen_kwargs, Mapping):
        raise ArgumentTypeError(
            f"gen_kwargs={gen_kwargs!r} is not a dict", advice="Give the arguments of the generator by name", value=gen_kwargs
        )
    return dict(gen_kwargs)


def failed_at(row: int, error: Exception) -> DatasetGenerationError:
    """Return the error for a generator that failed while it made a row."""
    return DatasetGenerationError(
        f"The generator failed at row {row}: {type(error).__name__}: {error}. Fix the generator, or the data that it reads.",
        row=row,
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """A generator function with its arguments: the source of the rows."""

    generator: Callable[..., Iterable[Mapping[str, Any]]]
    kwargs: Mapping[str, Any]
    features: Features | None
    split: str
    as_json: bool = True
    version: str = "0.0.0"
    extra_columns: str = "raise"

    def started(self) -> Iterator[Mapping[str, Any]]:
        """Return an iterator of all rows.

        Raises:
            ArgumentTypeError: the function is not a generator and returns nothing iterable.
        """
        check_callable(self.generator)
        made = self.generator(**self.kwargs)
        if not isinstance(made, Iterable):
            raise ArgumentTypeError(
                f"The generator returned {type(made).__name__}, which is not iterable", advice="Yield dicts from it"
            )
        return iter(made)


def divided(kwargs: Mapping[str, Any], num_parts: int) -> list[dict[str, Any]]:
    """Return the arguments for each part: its share of every list, in order.

    >>> divided({"files": ["a", "b"], "sep": ","}, 2)
    [{'files': ['a'], 'sep': ','}, {'files': ['b'], 'sep': ','}]

    Raises:
        ConfigurationError: the lists have different lengths.
    """
    lists = {name: value for name, value in kwargs.items() if isinstance(value, list)}
    if num_parts == 1 or not lists:
        return [dict(kwargs)]
    lengths = {name: len(value) for name, value in lists.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ConfigurationError(
            f"The lists in gen_kwargs have different lengths ({shown}), so num_proc cannot divide them",
            advice="Give lists of one length; use tuples for values that must not be divided",
        )
    total = next(iter(lengths.values()))
    count = max(1, min(num_parts, total))
    borders = [total * part // count for part in range(count + 1)]
    return [
        {name: value[start:stop] if name in lists else value for name, value in kwargs.items()}
        for start, stop in pairwise(borders)
    ]


def made_of_batches(recipe: Recipe, make: Callable[[Iterable[pa.RecordBatch]], T]) -> T:
    """Return the result of `make` for the batches; rows are copied in a second run if the generator changes yielded rows."""
    from datasets_core.store.chunks import ChangedRowsError

    rows = _Rows(recipe, copies=any(isinstance(value, Iterator) for value in recipe.kwargs.values()))
    try:
        return make(_batches(rows))
    except ChangedRowsError:
        return make(_batches(rows.again()))


def _batches(rows: _Rows) -> Iterator[pa.RecordBatch]:
    """Yield the rows as batches of bounded rows and bytes. Rows that do not fit the earlier batches raise an error that names
    the row.
    """
    encoder = RowEncoder(rows.recipe.features, as_json=rows.recipe.as_json, extra_columns=rows.recipe.extra_columns)
    schema: pa.Schema | None = None
    first = 0
    while chunk := rows.next():
        try:
            batch = encoder.encode(chunk)
        except CellCastError as error:
            raise renumbered(error, first, rows.recipe) from error
        if schema is None:
            schema = batch.schema
        elif not (rows.recipe.as_json or batch.schema.equals(schema)):
            schema = _merged(schema, batch.schema, chunk, first)
        rows.measured(batch.nbytes, len(chunk))
        yield batch
        first += len(chunk)


class _Rows:
    """The rows of a generator, in chunks, with errors that name the row.

    Args:
        recipe: the generator and its arguments.
        copies: True to copy every row when it is yielded.
        first: the first row of an earlier run, if there was one.
    """

    def __init__(self, recipe: Recipe, *, copies: bool, first: Mapping[str, Any] | None = None) -> None:
        self.recipe = recipe
        self._copies, self._first = copies, first
        self._chunks: Chunks | None = None
        self._done = 0

    def again(self) -> _Rows:
        """Return the same rows from a second run that copies each when it is yielded."""
        return _Rows(self.recipe, copies=True, first=self._first)

    def next(self) -> list[Mapping[str, Any]]:
        """Return the next rows; none at the end.

        Raises:
            DatasetGenerationError: the generator failed.
            ChangedRowsError: it changed rows that it had yielded, and they were not copied.
        """
        from datasets_core.store.chunks import ChangedRowsError, Chunks

        try:
            if self._chunks is None:
                started = self.recipe.started()
                self._chunks = Chunks(started, max_rows=_MOST_ROWS, max_bytes=_BATCH_BYTES, copies=self._copies, are_rows=True)
                if (watched := meter()) is not None:
                    watched.done = self._chunks.count
            chunk = self._chunks.take()
        except (DatasetsCoreError, ChangedRowsError):
            self._compare_first()
            raise
        except Exception as error:
            row = self._done + (0 if self._chunks is None else len(self._chunks.taken))
            raise failed_at(row, error) from error
        self._compare_first()
        self._done += len(chunk)
        return chunk

    def measured(self, num_bytes: int, rows: int) -> None:
        """Record the bytes of the last rows, which determine the number of the next ones."""
        if self._chunks is not None:
            self._chunks.measured(num_bytes, rows)

    def _compare_first(self) -> None:
        """Refuse a second run that does not begin like the first: rows that were yielded before would be lost."""
        from datasets_core.store.chunks import copied, unchanged

        if self._done or self._chunks is None:
            return
        found = self._chunks.taken[0] if self._chunks.taken else None
        if self._first is None:
            self._first = copied(found, with_objects=False)
        elif not unchanged(self._first, found):
            raise DatasetGenerationError(
                "The generator modifies rows after yielding them, and a second run does not start with the same row. "
                "Yield a new dict with new values for every row."
            )


def renumbered(error: CellCastError, first: int, recipe: Recipe) -> CellCastError:
    """Return the error for a value in a chunk that begins at row `first` of the generator."""
    row = None if error.row is None else error.row + first
    advice = _advice(error.column, recipe) if error.advice == CellCastError.ADVICE else error.advice
    return CellCastError(error.column, error.reason, row=row, what="The generator", advice=advice)


def _advice(column: str, recipe: Recipe) -> str | None:
    if recipe.features is not None:
        return None
    if not recipe.as_json:
        return "Yield values of one type, or pass on_mixed_types='use_json'"
    name = column.partition(".")[0].removesuffix("[]")
    return f"Yield values of one type, or give the column a feature, such as Features({{{name!r}: Json()}})"


def _merged(schema: pa.Schema, other: pa.Schema, rows: list[Mapping[str, Any]], first: int) -> pa.Schema:
    try:
        return merge_schemas(schema, other)
    except CastError as error:
        encoder = RowEncoder(None)
        for number, row in enumerate(rows, first):
            try:
                merge_schemas(schema, encoder.encode([row]).schema)
            except CastError as cause:
                raise CastError(
                    f"Row {number} of the generator does not fit the rows before it. {cause} "
                    "Yield values of one type, or pass on_mixed_types='use_json'."
                ) from error
        raise


# Tables that combine the columns of several tables, and tables with added null columns.


def spread(table: RowTable, paths: Sequence[Sequence[int]], schema: pa.Schema) -> RowTable:
    """Return a table whose columns are columns of `table`, or fields within them; opens nothing.

    Args:
        table: the rows.
        paths: for each column of the result: the number of the column, then the numbers of the fields within.
        schema: schema of the result; an extension type may replace its storage type, and the reverse.
    """
    rows = np.diff(np.append(table.starts, table.num_rows)).tolist()
    return RowTable.from_shards([FieldsShard(table, rows, [tuple(path) for path in paths], schema)])


class FieldsShard(DerivedShard):
    """Columns of a table, or fields within them, with the types of a schema that has the same storage."""

    def __init__(self, table: RowTable, rows: list[int], columns: Sequence[tuple[int, ...]], schema: pa.Schema) -> None:
        super().__init__("fields", (table,), rows, schema, list(columns), schema)
        self._table, self._columns = table, list(columns)

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`."""
        piece = self._table.piece(index)
        columns = [
            viewed(_field(piece.column(path[0]), path[1:]), field.type)
            for path, field in zip(self._columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def __reduce__(self) -> tuple[object, ...]:
        return _fields_shard, (self._table, self._rows, self._columns, self.schema.serialize().to_pybytes())


def _fields_shard(table: RowTable, rows: list[int], columns: list[tuple[int, ...]], schema: bytes) -> FieldsShard:
    return FieldsShard(table, rows, columns, pa.ipc.read_schema(pa.py_buffer(schema)))


def _field(array: pa.Array, path: Sequence[int]) -> pa.Array:
    for number in path:
        array = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
        array = array.flatten()[number]  # a field of a struct that is null is null
    return array


def viewed(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return an array as another type with the same storage, without a copy."""
    if array.type == wanted:
        return array
    if isinstance(array.type, pa.BaseExtensionType):
        return viewed(array.storage, wanted)
    if isinstance(wanted, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(wanted, viewed(array, wanted.storage_type))
    return array.view(wanted)


# A table with the columns and fields of a wider schema: those that it lacks are filled with nulls when a batch is read.


def filled(table: RowTable, schema: pa.Schema) -> RowTable:
    """Return the rows of `table` as rows of `schema`; opens nothing.

    Columns and struct fields that the table lacks, or has with type null, are null. Nothing else changes.

    >>> wider = pa.schema({"a": pa.int64(), "b": pa.string()})
    >>> filled(RowTable.from_table(pa.table({"a": [1]})), wider).to_table().to_pylist()
    [{'a': 1, 'b': None}]

    Raises:
        CastError: a column has another type.
    """
    for field in table.schema:
        _check(field.name, field.type, schema.field(field.name).type if field.name in schema.names else pa.null())
    if table.schema.equals(schema):
        return table
    rows = np.diff(np.append(table.starts, table.num_rows)).tolist()
    return RowTable.from_shards([FilledShard(table, rows, schema)])


def _check(name: str, found: pa.DataType, wanted: pa.DataType) -> None:
    if not _is_narrower(found, wanted):
        raise CastError(f"Column {name!r} is {found}, which does not match {wanted}", advice="Cast it first")


def _is_narrower(found: pa.DataType, wanted: pa.DataType) -> bool:
    if found == wanted or pa.types.is_null(found):
        return True
    if pa.types.is_struct(found) and pa.types.is_struct(wanted):
        kinds = {field.name: field.type for field in wanted.fields}
        return all(field.name in kinds and _is_narrower(field.type, kinds[field.name]) for field in found.fields)
    same = [is_kind for is_kind in _LISTS if is_kind(found) and is_kind(wanted)]
    if not same or (pa.types.is_fixed_size_list(found) and found.list_size != wanted.list_size):
        return False
    return _is_narrower(found.value_type, wanted.value_type)


_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


class FilledShard(DerivedShard):
    """The rows of a table under a wider schema.

    Args:
        table: the rows.
        rows: number of rows of each piece of the table, which becomes one batch.
        schema: schema of the result.
    """

    def __init__(self, table: RowTable, rows: list[int], schema: pa.Schema) -> None:
        super().__init__("filled", (table,), rows, schema, schema)
        self._table = table
        self._nulls: dict[pa.DataType, pa.Array] = {}  # one for all batches, so that nulls take no memory for each

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`."""
        piece = self._table.piece(index)
        known = piece.schema.names
        columns = [
            self._widened(piece.column(known.index(field.name)), field.type)
            if field.name in known
            else self._null(field.type, piece.num_rows)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _null(self, kind: pa.DataType, rows: int) -> pa.Array:
        held = self._nulls.get(kind)
        if held is None or len(held) < rows:
            held = self._nulls[kind] = pa.nulls(rows, kind)
        return held.slice(0, rows)

    def _widened(self, array: pa.Array, wanted: pa.DataType) -> pa.Array:
        if array.type == wanted:
            return array
        if pa.types.is_null(array.type):
            return self._null(wanted, len(array))
        if pa.types.is_struct(wanted):
            names = [field.name for field in array.type.fields]
            children = [
                self._widened(array.field(names.index(field.name)), field.type)
                if field.name in names
                else self._null(field.type, len(array))
                for field in wanted.fields
            ]
            mask = array.is_null() if array.null_count else None
            return pa.StructArray.from_arrays(children, fields=wanted.fields, mask=mask)
        fixed = 1 if pa.types.is_fixed_size_list(wanted) else 2  # buffers of its own: validity, and offsets
        child = self._widened(array.values, wanted.value_type)
        buffers = array.buffers()[:fixed]
        return pa.Array.from_buffers(wanted, len(array), buffers, array.null_count, array.offset, [child])

    def __reduce__(self) -> tuple[object, ...]:
        return _filled_shard, (self._table, self._rows, self.schema.serialize().to_pybytes())


def _filled_shard(table: RowTable, rows: list[int], schema: bytes) -> FilledShard:
    return FilledShard(table, rows, pa.ipc.read_schema(pa.py_buffer(schema)))
