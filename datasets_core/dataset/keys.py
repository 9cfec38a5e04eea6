"""Rows with equal keys, by Arrow's hash tables: groups and their aggregations, first and last rows, matches of a join.

The required columns are held together: unchanged if that is free, else in memory, or beyond the setting `sort_bytes` in an
unnamed file. If there are too many groups for the memory, rows are sorted by their keys and grouped in windows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import acero

from datasets_core import files
from datasets_core.config import settings
from datasets_core.dataset.recompute import int64_array
from datasets_core.dataset.relational import SortKeys, bytes_per_row, mapped_file, nameless_file, sorted_rows
from datasets_core.errors import ConfigurationError
from datasets_core.features.arrow import validity
from datasets_core.features.base import FeatureType, List
from datasets_core.features.media.media import Media
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.features.types import ClassLabel
from datasets_core.store.equality import IncomparableError, common_type
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.indices import ints_of
from datasets_core.store.rows.rows import Rows
from datasets_core.store.rows.view import blocks
from datasets_core.store.table import RowTable

# Aggregations of the values of a group.


class GroupFunction(NamedTuple):
    """A function of the values of a group.

    Attributes:
        kernel: Arrow's name of the function, without `hash_`.
        options: options of the kernel.
        result: the feature of its result: the "same" as that of the column, a "list" of it, or "new".
    """

    kernel: str
    options: Any = None
    result: str = "new"


_SAMPLE = pc.VarianceOptions(ddof=1)
FUNCTIONS: Mapping[str, GroupFunction] = {
    "all": GroupFunction("all"),
    "any": GroupFunction("any"),
    "approximate_median": GroupFunction("approximate_median"),
    "count": GroupFunction("count"),
    "distinct": GroupFunction("distinct", result="list"),
    "first": GroupFunction("first", result="same"),
    "last": GroupFunction("last", result="same"),
    "list": GroupFunction("list", result="list"),
    "max": GroupFunction("max", result="same"),
    "mean": GroupFunction("mean"),
    "min": GroupFunction("min", result="same"),
    "n_unique": GroupFunction("count_distinct"),
    "product": GroupFunction("product"),
    "std": GroupFunction("stddev", _SAMPLE),
    "sum": GroupFunction("sum"),
    "var": GroupFunction("variance", _SAMPLE),
}
_OTHER_NAMES = {"avg": "mean", "count_distinct": "n_unique", "nunique": "n_unique", "stddev": "std", "variance": "var"}
COUNT_ROWS = ("count", "len", "size")
_BY_ROW = {"list": "list", "first": "first", "last": "last"}


class Aggregation(NamedTuple):
    """One column of the result: its name, the column that it is computed from (None: the rows themselves), and the function."""

    name: str
    column: str | None
    function: str


def aggregations(asked: Mapping[str, Any] | Sequence[Any] | None, named: Mapping[str, Any]) -> tuple[Aggregation, ...]:
    """Return the columns requested by a call of `agg`.

    >>> aggregations({"price": ["min", "max"]}, {"n": "count"})[1:]
    (Aggregation(name='price_max', column='price', function='max'), Aggregation(name='n', column=None, function='count'))

    Raises:
        ConfigurationError: a function does not exist, two columns have the same name, or there is none.
    """
    pairs = list(asked.items()) if isinstance(asked, Mapping) else list(asked or ())
    found: list[Aggregation] = []
    for pair in pairs:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise ConfigurationError(
                f"agg() got {pair!r}", advice="Give pairs of column and function, such as ('price', 'mean')", value=pair
            )
        functions = [pair[1]] if isinstance(pair[1], str) else list(pair[1])
        found += [Aggregation(f"{pair[0]}_{function}", pair[0], _known(function)) for function in functions]
    for name, given in named.items():
        if given in COUNT_ROWS:
            found.append(Aggregation(name, None, "count"))
        elif isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str):
            found.append(Aggregation(name, given[0], _known(given[1])))
        else:
            raise ConfigurationError(
                f"agg() got {name}={given!r}", advice="Give 'count', or column and function as ('price', 'mean')", value=given
            )
    if not found:
        raise ConfigurationError("agg() got nothing to compute", advice="Give for example total=('price', 'sum'), or n='count'")
    return tuple(found)


def _known(function: object) -> str:
    name = _OTHER_NAMES.get(str(function), function)
    if not isinstance(name, str) or name not in FUNCTIONS:
        names = ", ".join(FUNCTIONS)
        raise ConfigurationError(f"Unknown function {function!r} of agg()", advice=f"Use one of {names}", value=function)
    return name


# The columns of keys and values, held together.


def _plain(column: pa.Array) -> pa.Array:
    """Return the stored values, in a type by which Arrow can group."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.int8())
    if column.type in (pa.string_view(), pa.binary_view()):
        return column.cast(pa.large_string() if column.type == pa.string_view() else pa.large_binary())
    return column


def key_array(column: pa.Array, feature: FeatureType | None) -> pa.Array:
    """Return values that Arrow can compare: plain values unchanged, digests of nested ones, and for media digests of their
    bytes, or paths.

    >>> key_array(pa.array([[1, 2], [2, 1], [1, 2], None]), None).dictionary_encode().indices.to_pylist()
    [0, 1, 0, None]
    """
    column = _plain(column)
    if isinstance(feature, Media) and pa.types.is_struct(column.type):
        content, path = column.field("bytes"), column.field("path")
        column = content if content.null_count < len(content) else path.cast(pa.binary())
        if column.null_count and path.null_count < len(path):
            column = pc.coalesce(content, path.cast(content.type))
        return _digests(column)
    return _digests(column) if pa.types.is_nested(column.type) or pa.types.is_float16(column.type) else column


def _digests(column: pa.Array) -> pa.Array:
    found = [None if value is None else _digest(value) for value in column.to_pylist()]
    return pa.array(found, pa.binary(16))


def _digest(value: Any) -> bytes:
    data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def held(dataset: Rows, names: Sequence[str], keys: Sequence[str] = ()) -> pa.Table:
    """Return plain columns of a dataset under the names "0", "1", …: without a copy if their pieces are free, else copied to
    memory or a file.

    Args:
        dataset: the rows.
        names: the columns.
        keys: the columns among them that are compared, which may be nested.
    """
    table, index = dataset._table.select(list(names)), dataset._index
    kinds = [dataset._features[name] for name in names]
    labels = [str(place) for place in range(len(names))]

    def changed(batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [
            key_array(column, kind) if name in keys else _plain(column)
            for name, kind, column in zip(names, kinds, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, labels)

    empty = changed(pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in table.schema], schema=table.schema))
    batches = (_under(changed(batch), empty.schema) for batch in blocks(table, index))
    num_bytes = bytes_per_row(table) * dataset.num_rows
    if (index is None and table.is_all_mapped) or num_bytes <= settings().sort_bytes:
        return pa.Table.from_batches(batches, empty.schema)
    return _in_file(batches, empty.schema, int(num_bytes))


def _under(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return batch if batch.schema.equals(schema) else batch.cast(schema)


def _in_file(batches: Iterator[pa.RecordBatch], schema: pa.Schema, num_bytes: int) -> pa.Table:
    """Return the batches in an unnamed file, mapped."""
    folder = settings().cache_dir
    with files.disk_errors(folder, needed=num_bytes):
        os.makedirs(folder, exist_ok=True)
        with nameless_file(folder) as handle:
            with pa.ipc.new_file(pa.PythonFile(handle, mode="w"), schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped_file(handle)))).read_all()


# Groups, in the order of their first rows.


Kernel = tuple[Any, str, Any]


def grouped(table: pa.Table, num_keys: int, kernels: Sequence[Kernel]) -> Iterator[pa.Table]:
    """Return keys and results of each group, and its first row, in the order of the first occurrence of the groups.

    Args:
        table: the keys, then the values, under the names "0", "1", ….
        num_keys: number of columns that are keys.
        kernels: name of a column (or none), Arrow's function and its options, for each result; "row" is the number of the row.
    """
    keys, limit = [str(place) for place in range(num_keys)], settings().sort_bytes
    wanted: list[Kernel] = [*kernels, ("row", "min", None)]
    numbered = table.append_column("row", int64_array(np.arange(table.num_rows)))
    if table.nbytes <= limit or _are_few(table.select(keys), limit // 4):
        found, step = numbered.group_by(keys, use_threads=False).aggregate(wanted), _TAKEN_ROWS
    else:
        order = sorted_rows(RowTable.from_table(table), None, SortKeys(tuple(keys), (False,) * num_keys, False))
        step = max(1024, int(limit / 8 / max(1.0, table.nbytes / max(1, table.num_rows))))
        found = _in_file_of_tables(_windows(numbered, keys, wanted, order, step), table.nbytes)
    first = ints_of(found.column(found.num_columns - 1))
    if bool((first[1:] > first[:-1]).all()):
        yield found
        return
    in_order = np.argsort(first)
    for start in range(0, len(in_order), step):
        yield found.take(int64_array(in_order[start : start + step]))


_TAKEN_ROWS = 1 << 20


def _are_few(keys: pa.Table, limit: int) -> bool:
    """Return True if the distinct keys take no more than `limit` bytes."""
    found: pa.Table | None = None
    step = max(1024, int(limit / max(1.0, keys.nbytes / max(1, keys.num_rows))))
    for start in range(0, keys.num_rows, step):
        part = keys.slice(start, step) if found is None else pa.concat_tables([found, keys.slice(start, step)])
        part = found = part.group_by(keys.column_names, use_threads=False).aggregate([])
        if part.nbytes > limit:
            return False
    return True


def _windows(table: pa.Table, keys: list[str], kernels: Sequence[Kernel], order: Ints, step: int) -> Iterator[pa.Table]:
    """Yield groups of rows in the order of their keys, each group within one window."""
    start, size = 0, step
    while start < len(order):
        window = table.take(int64_array(order[start : start + size]))
        window = window.append_column("place", int64_array(np.arange(window.num_rows)))
        found = window.group_by(keys, use_threads=False).aggregate([*kernels, ("place", "min", None)])
        if start + size < len(order):  # the last group may go on in the next window
            places = ints_of(found.column(found.num_columns - 1))
            last = int(places.max())
            if not last:
                size *= 2
                continue
            found = found.filter(pc.field("place_min") < last)
            start += last
        else:
            start = len(order)
        size = step
        yield found.select(range(found.num_columns - 1))


def _in_file_of_tables(tables: Iterator[pa.Table], num_bytes: int) -> pa.Table:
    first = next(tables)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from first.to_batches()
        for table in tables:
            yield from table.to_batches()

    names = [str(place) for place in range(first.num_columns)]  # results may share a name
    schema = pa.schema([field.with_name(name) for name, field in zip(names, first.schema, strict=True)])
    renamed = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches())
    return _in_file(renamed, schema, num_bytes)


def group_features(features: Features, keys: Sequence[str], asked: Sequence[Aggregation]) -> Features:
    """Return the features of the result of `agg`.

    Raises:
        ConfigurationError: a key of lists or structs, a function that a column does not support, or two columns with the same
            name.
    """
    schema = features.arrow_schema
    made: dict[str, FeatureType] = {}
    for name in keys:
        kind = schema.field(name).type
        if pa.types.is_nested(_plain(pa.nulls(0, kind)).type):
            raise ConfigurationError(
                f"Values of {kind}, as in column {name!r}, cannot be keys", advice="Group by a column of plain values"
            )
        made[name] = features[name]
    for each in asked:
        if each.name in made:
            raise ConfigurationError(
                f"Two columns would have the name {each.name!r}", advice="Give names, as total=('price', 'sum')"
            )
        made[each.name] = _result_feature(features, each)
    return Features(made)


def _result_feature(features: Features, each: Aggregation) -> FeatureType:
    if each.column is None:
        return feature_from_arrow(pa.int64())
    feature, kind = features[each.column], _plain(pa.nulls(0, features.arrow_schema.field(each.column).type)).type
    function = FUNCTIONS[each.function]
    if not _is_by_row(kind, each.function):
        try:
            empty = pa.table([pa.nulls(0, pa.int8()), pa.nulls(0, kind)], names=["0", "1"])
            found = empty.group_by("0", use_threads=False).aggregate([("1", function.kernel, function.options)]).column(1).type
        except pa.ArrowNotImplementedError:
            can = [name for name in FUNCTIONS if name in ("count", *_BY_ROW)]
            raise ConfigurationError(
                f"Column {each.column!r} is {feature}, and {each.function!r} cannot be computed from it",
                advice=f"Use {', '.join(map(repr, can))}, or another column",
            ) from None
        if function.result == "new":
            return feature_from_arrow(found)
    return List(feature) if function.result == "list" else feature


def _is_by_row(kind: pa.DataType, function: str) -> bool:
    """Return True if values are gathered by row number, since Arrow's function does not support their type."""
    return function in _BY_ROW and (
        pa.types.is_nested(kind) or pa.types.is_decimal(kind) or pa.types.is_float16(kind) or pa.types.is_duration(kind)
    )


def aggregated(
    dataset: Rows, keys: Sequence[str], asked: Sequence[Aggregation], features: Features
) -> Iterator[pa.RecordBatch]:
    """Yield the groups of a dataset as record batches, with the columns of `features`."""
    names = list(dict.fromkeys([*keys, *(each.column for each in asked if each.column is not None)]))
    table = held(dataset, names)
    places = {name: str(place) for place, name in enumerate(names)}
    kernels: list[Kernel] = []
    by_row: dict[int, str] = {}
    for number, each in enumerate(asked):
        if each.column is None:
            kernels.append(([], "count_all", None))
        elif _is_by_row(table.schema.field(places[each.column]).type, each.function):
            by_row[number] = places[each.column]
            kernels.append(("row", _BY_ROW[each.function], None))
        else:
            function = FUNCTIONS[each.function]
            kernels.append((places[each.column], function.kernel, function.options))
    schema = features.arrow_schema
    for found in grouped(table, len(keys), kernels):
        columns = found.columns[:-1]
        for number, place in by_row.items():
            columns[len(keys) + number] = _gathered(table.column(place), columns[len(keys) + number])
        for batch in pa.Table.from_arrays(columns, names=list(map(str, range(len(columns))))).to_batches():
            arrays = [_as_type(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _gathered(values: pa.ChunkedArray, rows: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values at rows, or lists of them at lists of rows."""
    if not pa.types.is_list(rows.type):
        return values.take(rows)
    lists = rows.combine_chunks()
    lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
    taken = values.take(lists.flatten()).combine_chunks()
    return pa.chunked_array([pa.ListArray.from_arrays(lists.offsets, taken)])


def _as_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.type == kind:
        return column
    if pa.types.is_null(kind):
        return pa.nulls(len(column))
    stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    cast = column if column.type == stored else column.cast(stored)
    return pa.ExtensionArray.from_storage(kind, cast) if isinstance(kind, pa.BaseExtensionType) else cast


# Rows that share their keys with other rows.


def distinct_rows(dataset: Rows, names: Sequence[str], keep: str | bool) -> Ints:
    """Return the first row of each key, the last ("last"), or only rows with a unique key (False), in their order."""
    table = held(dataset, names, keys=names)
    alike = _alike(table)
    if alike is None:
        return _distinct(table, len(names), keep)
    kept = np.ones(table.num_rows, np.bool_)
    kept[alike] = False
    kept[alike[_distinct(table.take(int64_array(alike)), len(names), keep)]] = True
    return np.flatnonzero(kept)


def _alike(table: pa.Table) -> Ints | None:
    """Return the rows that share a hash of their numbers with another row: no other row can have a duplicate.

    None if the numbers of some first rows already say that these would be most rows, and hashing does not pay; or if
    the hashes do not fit into memory.
    """
    is_sized = _HASHED_ROWS <= table.num_rows <= settings().sort_bytes // 32
    hashes = _hashes(table.slice(0, _HASHED_ROWS)) if is_sized else None
    if hashes is None or len(np.unique(hashes)) < 0.9 * len(hashes):
        return None
    hashes = _hashes(table)
    assert hashes is not None
    in_order = np.sort(hashes)
    shared = np.unique(in_order[1:][in_order[1:] == in_order[:-1]])
    if not len(shared):
        return np.zeros(0, np.int64)
    if len(shared) > table.num_rows // 4:
        return None
    found = np.zeros(1 << 16, np.bool_)  # most rows are told apart by a few bits, without a search
    found[shared >> np.uint64(48)] = True
    rows = np.flatnonzero(found[hashes >> np.uint64(48)])
    places = np.minimum(np.searchsorted(shared, hashes[rows]), len(shared) - 1)
    alike: Ints = rows[shared[places] == hashes[rows]]
    return alike


_HASHED_ROWS = 1 << 16
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def _hashes(table: pa.Table) -> Any | None:
    """Return a hash of the numbers in each row, equal for equal rows; None if there is no column of numbers."""
    found = None
    for column in table.columns:
        if not (pa.types.is_integer(column.type) or column.type in (pa.float32(), pa.float64())):
            continue
        values = (column.fill_null(0) if column.null_count else column).to_numpy()
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.nan, values) + 0.0  # one NaN, one zero
            words = values.astype(np.float64).view(np.uint64)
        else:
            words = values.astype(np.uint64)
        found = words if found is None else (found ^ (found >> np.uint64(29))) * _FACTORS[1] + words
        found = found * _FACTORS[0]
        found ^= found >> np.uint64(32)
    return found


def _distinct(table: pa.Table, num_keys: int, keep: str | bool) -> Ints:
    kernels: list[Kernel] = [([], "count_all", None)] if keep is False else [("row", "max", None)] if keep == "last" else []
    found = []
    for part in grouped(table, num_keys, kernels):
        numbers = ints_of(part.column(num_keys))  # in each case but one those of rows
        found.append(ints_of(part.column(num_keys + 1))[numbers == 1] if keep is False else numbers)
    return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)


# Joins: which rows of one dataset have the keys of which rows of another.


def key_pairs(left: Rows, right: Rows, left_on: Sequence[str], right_on: Sequence[str]) -> list[pa.DataType]:
    """Return the type in which each pair of keys is compared.

    Raises:
        ConfigurationError: keys cannot be compared, or are labels of different classes.
    """
    kinds = []
    for one, other in zip(left_on, right_on, strict=True):
        features = left._features[one], right._features[other]
        stored = [_plain(pa.nulls(0, rows._table.schema.field(name).type)).type for rows, name in ((left, one), (right, other))]
        labels = [feature.names for feature in features if isinstance(feature, ClassLabel)]
        kind = _compared(*stored)
        if kind is None or (labels and (len(labels) < 2 or labels[0] != labels[1])):
            raise ConfigurationError(
                f"Column {one!r} is {features[0]} and column {other!r} of the other dataset is {features[1]}, which cannot be "
                "compared",
                advice="Use cast_column() to give both the same type",
            )
        kinds.append(kind)
    return kinds


def _compared(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type in which two types are compared; None if they are not comparable, such as texts and numbers."""
    if pa.types.is_nested(one) or pa.types.is_nested(other) or pa.types.is_integer(one) != pa.types.is_integer(other):
        numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (one, other)]
        return common_type(one, other) if all(numbers) else None
    try:
        return one if one == other else common_type(one, other)
    except IncomparableError:
        return None


def matches(probe: pa.Table, build: pa.Table, kinds: Sequence[pa.DataType]) -> tuple[Ints, Ints]:
    """Return the pairs of rows with equal keys, in the order of `probe` and then of `build`; null equals nothing.

    >>> one, other = pa.table({"0": [3, 1, None, 3]}), pa.table({"0": [None, 3, 2, 3]})
    >>> [rows.tolist() for rows in matches(one, other, [pa.int64()])]
    [[0, 0, 3, 3], [1, 3, 1, 3]]
    """
    limit = settings().sort_bytes
    step = max(1024, int(limit / 2 / max(1.0, build.nbytes / max(1, build.num_rows))))
    window = max(1024, limit // _PAIR_BYTES)
    found: list[tuple[Ints, Ints]] = []
    placed = _placed(build, kinds, limit // 8)
    for begin in range(0, probe.num_rows if build.num_rows else 0, window):
        part = probe.slice(begin, window)
        if placed is not None:
            found.append(placed(part, begin))
            continue
        pairs = [_pairs(part, begin, build.slice(start, step), start, kinds) for start in range(0, build.num_rows, step)]
        rows, others = _joined(pairs)
        order = np.argsort(rows, kind="stable")  # fast: Arrow's threads leave long runs in order
        rows, others = rows[order], others[order]
        if bool((rows[1:] == rows[:-1]).any()):
            rows, others = np.divmod(np.sort(rows * build.num_rows + others, kind="stable"), build.num_rows)
        found.append((rows, others))
    return _joined(found)


def _placed(build: pa.Table, kinds: Sequence[pa.DataType], limit: int) -> Callable[[pa.Table, int], tuple[Ints, Ints]] | None:
    """Return a function that looks up integers in an array of all values, for keys that occur once and lie close together.

    Args:
        build: the keys.
        kinds: the types in which keys are compared.
        limit: largest size of the array in bytes.

    Returns:
        A function of rows and the number of their first one, or None for other keys.
    """
    if len(kinds) != 1 or not pa.types.is_integer(kinds[0]) or not build.num_rows:
        return None
    ends = pc.min_max(build.column(0).cast(kinds[0])).as_py()
    low, high = ends["min"], ends["max"]
    if low is None or high - low >= min(limit // 8, 8 * build.num_rows + (1 << 12)):
        return None
    size = high - low + 1

    def places(table: pa.Table) -> tuple[Ints | None, Any]:
        """Return the rows that are not null (None for all), and their positions in the array; the last one for other values."""
        column, rows = table.column(0).cast(kinds[0]), None
        if column.null_count:
            rows = np.flatnonzero(np.asarray(validity(_one(column))))
            column = column.drop_null()
        numbers = ints_of(column).view(np.uint64) - np.uint64(low % (1 << 64))  # modulo 2**64, also of negative numbers
        return rows, np.minimum(numbers, np.uint64(size), out=numbers).view(np.int64)

    known, used = places(build)
    known = np.arange(build.num_rows) if known is None else known
    row_of = np.full(size + 1, -1, np.int64)
    row_of[used] = known
    if not np.array_equal(row_of[used], known):
        return None

    def found(table: pa.Table, begin: int) -> tuple[Ints, Ints]:
        rows, wanted = places(table)
        others = row_of[wanted]
        has = others >= 0
        if rows is None and has.all():
            return np.arange(begin, begin + len(others)), others
        return (np.flatnonzero(has) if rows is None else rows[has]) + begin, others[has]

    return found


def _joined(pairs: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    if len(pairs) == 1:
        return pairs[0]
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *(rows for rows, _ in pairs)]), np.concatenate([none, *(others for _, others in pairs)])


_PAIR_BYTES = 64  # that a row of the probe takes while its window is joined


def _pairs(probe: pa.Table, begin: int, build: pa.Table, start: int, kinds: Sequence[pa.DataType]) -> tuple[Ints, Ints]:
    """Return the pairs of rows with equal keys, numbered from `begin` and `start`, in any order."""
    keys = probe.column_names
    inputs = []
    for table, first in ((probe, begin), (build, start)):
        columns = [column.cast(kind) for column, kind in zip(table.columns, kinds, strict=True)]
        numbers = int64_array(np.arange(first, first + table.num_rows))
        numbered = pa.table([*columns, numbers], names=[*keys, "row"])
        inputs.append(acero.Declaration("table_source", acero.TableSourceNodeOptions(numbered)))
    options = acero.HashJoinNodeOptions("inner", keys, keys, ["row"], ["row"], "_probe", "_build")
    found = acero.Declaration("hashjoin", options, inputs).to_table(use_threads=True)
    return ints_of(found.column(0)), ints_of(found.column(1))


def joined_rows(how: str, left: Rows, right: Rows, on: tuple[Sequence[str], Sequence[str]]) -> tuple[Ints, Ints]:
    """Return the pairs of rows of a join, with -1 for a missing row: "inner", "left", "right" or "full"."""
    kinds = key_pairs(left, right, *on)
    tables = held(left, on[0]), held(right, on[1])
    if how == "right":
        others, mine = matches(tables[1], tables[0], kinds)
        others, mine = _completed(others, mine, right.num_rows)
        return mine, others
    mine, others = matches(*tables, kinds)
    if how != "inner":
        lacking = np.setdiff1d(np.arange(right.num_rows), others) if how == "full" else np.zeros(0, np.int64)
        mine, others = _completed(mine, others, left.num_rows)
        mine, others = np.append(mine, np.full(len(lacking), -1)), np.append(others, lacking)
    return mine, others


def _completed(mine: Ints, others: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the pairs, with -1 for each row without a match, in the order of the rows."""
    has = np.zeros(size, bool)
    has[mine] = True
    if has.all():
        return mine, others
    lonely = np.flatnonzero(~has)
    rows = np.append(mine, lonely)
    order = np.argsort(rows, kind="stable")
    return rows[order], np.append(others, np.full(len(lonely), -1))[order]


def side_by_side(
    left: Rows, right: Rows, mine: Ints, others: Ints, columns: Sequence[tuple[str | None, str | None]], features: Features
) -> Iterator[pa.RecordBatch]:
    """Yield rows of two datasets next to each other.

    Args:
        left, right: the datasets.
        mine, others: row numbers of each side; -1 for no row.
        columns: for each column of the result, its name in `left` and in `right`; of two values, the first that is not null is
            used.
        features: features of the result.
    """
    schema = features.arrow_schema
    wanted = (left, mine, [one for one, _ in columns if one]), (right, others, [name for _, name in columns if name])
    used = [(rows, numbers, names) for rows, numbers, names in wanted if names]
    size = sum(bytes_per_row(rows._table.select(names)) for rows, _, names in used)
    step = max(1, min(_BATCH_ROWS, int(_BATCH_BYTES / max(1.0, size))))
    readers = [(_reader(rows, names), numbers, names) for rows, numbers, names in used]
    for start in range(0, len(mine), step):
        taken = [dict(zip(names, read(numbers[start : start + step]), strict=True)) for read, numbers, names in readers]
        arrays = []
        for (one, other), field in zip(columns, schema, strict=True):
            found = [_as_type(taken[0][one], field.type)] if one else []
            found += [_as_type(taken[-1][other], field.type)] if other else []
            arrays.append(found[0] if len(found) == 1 or not found[0].null_count else pc.coalesce(*found))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


_BATCH_ROWS, _BATCH_BYTES = 1 << 18, 16 << 20


def _reader(dataset: Rows, names: Sequence[str]) -> Callable[[Ints], list[pa.Array]]:
    """Reads the columns of rows, with null for row -1."""
    table, index = dataset._table.select(list(names)), dataset._index

    def read(rows: Ints) -> list[pa.Array]:
        is_row = rows >= 0
        valid = None if is_row.all() else is_row
        if table.num_pieces == 1 and table.is_all_mapped and index is None:
            columns: list[pa.Array] = table.piece(0).take(int64_array(rows, valid)).columns
            return columns
        real = rows if valid is None else rows[is_row]
        taken = table.take(real if index is None else index[real])
        if valid is not None:
            taken = taken.take(int64_array(np.cumsum(is_row) - 1, valid))
        return [_one(column) for column in taken.columns]

    return read


def _one(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
