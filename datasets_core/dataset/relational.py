"""Methods of tables: columns computed by Arrow expressions, groups, counts of values, joins, removal of duplicate rows.

No Python function runs for each row.  Each method imports its implementation on use, with `pyarrow.compute`: 20 ms, not needed
for reading.
"""

from __future__ import annotations

import itertools
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.dataset.columns import ColumnChanges
from datasets_core.dataset.transforms.map import Transforms
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.arrow import check_precision, columns_of, computed, is_expression, no_rows, truths, validity
from datasets_core.features.schema import Features
from datasets_core.optional import named_kind
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.indices import ints_of, names_of
from datasets_core.store.rows.rows import Rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    import pyarrow.compute as pc

    from datasets_core.engines import Engine


# Arrow expressions, computed over windows of rows.


_WINDOW_BYTES = 32 << 20


def rows_where(dataset: Rows, expression: pc.Expression) -> Ints:
    """Return the numbers of the rows for which an expression is true.

    Raises:
        UnknownColumnError: the dataset does not have a column.
        ConfigurationError: its values are not booleans, or it cannot be computed.
    """
    from datasets_core.store.rows.view import blocks

    known, start = dataset.column_names, 0
    table = dataset._table.select(columns_of([expression], known))
    truths(expression, no_rows(table.schema), known)
    found: list[Ints] = []
    for window in _windows(blocks(table, dataset._index)):
        for mask in truths(expression, window, known).chunks:
            found.append(np.flatnonzero(_bits(mask)) + start)
            start += len(mask)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _bits(mask: pa.BooleanArray) -> Any:
    """Return a boolean for each row; null is False."""
    bits, valid = np.frombuffer(mask.buffers()[1], np.uint8), validity(mask)
    found = np.unpackbits(bits, count=mask.offset + len(mask), bitorder="little")[mask.offset :].view(np.bool_)
    return found if valid is None else found & valid


def _windows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the batches in windows, each large enough for Arrow to divide among its threads."""
    held, num_bytes = list[pa.RecordBatch](), 0
    for batch in batches:
        held.append(batch)
        num_bytes += batch.nbytes + 1
        if num_bytes > _WINDOW_BYTES:
            yield pa.Table.from_batches(held)
            held, num_bytes = [], 0
    if held:
        yield pa.Table.from_batches(held)


# Groups of rows.


class GroupBy:
    """Rows of a dataset grouped by the values of columns: the result of `group_by`; `agg` computes one row for each group."""

    def __init__(self, dataset: Relational, keys: tuple[str, ...]) -> None:
        self._dataset, self._keys = dataset, keys

    def __repr__(self) -> str:
        return f"GroupBy({', '.join(map(repr, self._keys))}) of {self._dataset!r}"

    def agg(
        self,
        aggregations: Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str]] | None = None,
        /,
        **named: str | tuple[str, str],
    ) -> Any:
        """Return a dataset with a row for each group, in the order in which the groups first occur.

        Null keys form a group; null values are ignored by `sum`, `mean` and the others. `std` and `var` are those of samples,
        as in pandas and polars. A group need not fit into memory, but lists of its values do.

        Args:
            aggregations: functions by column, as `{"price": ["min", "max"]}`, whose results are `price_min` and `price_max`.
            **named: column and function by name of the result, as `total=("price", "sum")`, or `n="count"` for the number of
            rows.

        >>> sold = Dataset.from_dict({"what": ["pear", "fig", "pear"], "price": [2, 5, 3]})
        >>> sold.group_by("what").agg(n="count", total=("price", "sum"))[:]
        {'what': ['pear', 'fig'], 'n': [2, 1], 'total': [5, 5]}

        Raises:
            ConfigurationError: a function is unknown or not supported by a column, two results have one name, or a key is a
                list.
            UnknownColumnError: a column does not exist.
        """
        from datasets_core.dataset import keys as work
        from datasets_core.dataset.results import written

        asked = work.aggregations(aggregations, named)
        dataset, keys = self._dataset, self._keys
        dataset._check_columns([each.column for each in asked if each.column is not None])
        features = work.group_features(dataset._features, keys, asked)
        other = dataset._derived("group_by", keys, [tuple(each) for each in asked])
        table = written(dataset, other._lineage, lambda: work.aggregated(dataset, keys, asked, features), features)
        return dataset._of_other_rows(other, table, features)


# Methods of a dataset.


How = Literal["inner", "left", "right", "full", "semi", "anti"]
_HOW: tuple[How, ...] = ("inner", "left", "right", "full", "semi", "anti")
_SPARSE = 4  # where fewer than one row of so many is shown, the shown rows are gathered first


class Relational(ColumnChanges, Transforms):
    """Methods known from data frames and databases."""

    def with_columns(self, columns: Mapping[str, pc.Expression] | None = None, /, **named: pc.Expression) -> Self:
        """Return the rows with columns computed by Arrow expressions. Other columns are not copied.

        A column with the name of an existing one replaces it in its place; new columns are added at the end. Each
        expression sees the columns of this dataset. Results are cached, as those of `map`; for rows in memory, columns of
        numbers stay in memory if they are not larger than those rows.

        Args:
            columns: expressions by column name, for names that are not Python identifiers.
            **named: expressions by column name.

        Raises:
            ArgumentTypeError: a value is not an expression; add lists with `add_column`.
            UnknownColumnError: a column does not exist.
            ConfigurationError: an expression is invalid, fails for a value, or would be computed in float32 although no
                column has that type.

        Example:
            >>> import pyarrow.compute as pc
            >>> Dataset.from_dict({"a": [1, 2]}).with_columns(b=pc.field("a") * 10, c=pc.scalar("x"))[:]
            {'a': [1, 2], 'b': [10, 20], 'c': ['x', 'x']}
        """
        from datasets_core.dataset.recompute import fixed_bytes, runs, shown_rows, with_columns_of
        from datasets_core.dataset.results import written
        from datasets_core.store.rows.view import blocks
        from datasets_core.store.table import zipped

        wanted = {**(columns or {}), **named}
        for name, given in wanted.items():
            if not is_expression(given):
                raise ArgumentTypeError(
                    f"with_columns() got {type(given).__name__} for {name!r}",
                    advice=(
                        "Give an Arrow expression such as pc.field('a') * 2 or pc.scalar(0); add_column() takes lists and "
                        "arrays"
                    ),
                )
        if not wanted:
            return self._derived("columns", {name: name for name in self.column_names})
        known = self.column_names
        used = columns_of([*wanted.values()], known)
        kinds = computed(wanted, no_rows(self._table.select(used).schema), known).schema
        check_precision(wanted, kinds, self._table.select(used).schema)
        made = Features.from_arrow_schema(kinds.remove_metadata())
        other = self._derived("with_columns", wanted)
        assert other._lineage.fingerprint
        if self._index is not None and _SPARSE * len(self._index) < self._table.num_rows:
            other._table, other._index = self._gathered(), None
        table, index = other._table, other._index

        def batches() -> Iterator[pa.RecordBatch]:
            shown = shown_rows(index, table.num_rows)
            if not used:  # constants
                ones = pa.table([pa.nulls(table.num_rows, pa.bool_())], names=["0"])
                yield from _batches_of(computed(wanted, ones, known), made)
                return
            source = table.select(used)
            found = blocks(source, None) if shown is None else (batch for _, batch in runs(source, shown))
            for window in _windows(found):
                yield from _batches_of(computed(wanted, window, known), made)

        place = () if index is None else (table.num_rows, index)
        keeps = not table.files and fixed_bytes(kinds) * self.num_rows <= table.num_bytes
        rows = written(self, other._lineage.then("columns", *place), batches, made, keep_in_memory=keeps)
        features = Features({**self._features, **made})
        kept = (
            with_columns_of(table, rows.select([name for name in made if name in known])) if set(made) & set(known) else table
        )
        new = [name for name in made if name not in known]
        other._table = kept if not new else zipped(kept, rows.select(new)) if known else rows
        other._info.features = features
        if self._format.columns is not None:
            other._format = replace(self._format, columns=(*self._format.columns, *new))
        other._forget()
        return other

    def group_by(self, *columns: str | Sequence[str]) -> GroupBy:
        """Group the rows by the values of columns.

        Args:
            columns: names of columns, or lists of them.

        Returns:
            The groups. Their method `agg` computes a row for each group.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: no column is passed.

        Example:
            >>> people = Dataset.from_dict({"town": ["Ulm", "Bonn", "Ulm"], "age": [30, 40, 50]})
            >>> people.group_by("town").agg({"age": "mean"})[:]
            {'town': ['Ulm', 'Bonn'], 'age_mean': [40.0, 40.0]}
        """
        return GroupBy(self, self._keys("group_by", *columns))

    def value_counts(self, column: str | Sequence[str], sort: bool = True, name: str = "count") -> Self:
        """Return a dataset of the distinct values of a column, or of several together, and how often each occurs.

        Args:
            column: the column, or columns.
            sort: True for the most frequent value first; else in the order in which they first occur.
            name: name of the column of counts.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: a column contains lists or structs, or already has the name `name`.

        Example:
            >>> Dataset.from_dict({"a": ["x", "y", "y", None]}).value_counts("a")[:]
            {'a': ['y', 'x', None], 'count': [2, 1, 1]}
        """
        keys = self._keys("value_counts", column)
        if name in keys:
            raise ConfigurationError(f"Two columns would have the name {name!r}", advice="Pass another name=")
        counted: Self = GroupBy(self, keys).agg(**{name: "count"})
        return counted.sort(name, reverse=True) if sort else counted  # type: ignore[attr-defined]

    def drop_duplicates(
        self, column_names: str | Sequence[str] | None = None, keep: Literal["first", "last", False] = "first"
    ) -> Self:
        """Return the rows without duplicates in some columns. Only an index is written.

        Media are compared by their bytes, or by their paths if they have no bytes; lists and structs by digests.

        Args:
            column_names: the columns to compare; None compares all.
            keep: which of equal rows to keep: the "first", the "last", or none (False).

        Raises:
            UnknownColumnError: a column does not exist.

        Example:
            >>> rows = Dataset.from_dict({"a": [1, 2, 1], "b": ["x", "y", "z"]})
            >>> rows.drop_duplicates("a")["b"][:], rows.drop_duplicates("a", keep="last")["b"][:]
            (['x', 'y'], ['y', 'z'])
        """
        if keep not in ("first", "last", False):
            raise ConfigurationError(f"keep={keep!r} is invalid", advice="Give 'first', 'last' or False", value=keep)
        names = self._keys("drop_duplicates", self.column_names if column_names is None else column_names)

        def find() -> Ints:
            from datasets_core.dataset.keys import distinct_rows

            return distinct_rows(self, names, keep)

        return self._kept_rows(find, "drop_duplicates", names, keep)

    def join(
        self,
        other: Self,
        on: str | Sequence[str] | None = None,
        how: How = "inner",
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        suffix: str = "_right",
    ) -> Self:
        """Return the rows of this dataset together with the rows of another one that have the same keys.

        The result has the order of this dataset (of the other one for "right"); in a full join, rows of the other dataset
        without a match come last. Null matches nothing. The key columns occur once, under the names in this dataset. If
        each row has at most one match ("inner", "left"), the columns of this dataset are not copied; "semi" and "anti" only
        select rows.

        Args:
            other: the other dataset. Its keys are held in memory up to the limit of the setting `sort_bytes`.
            on: the key columns, if they have the same names in both datasets.
            how: "inner" keeps rows with a match; "left", "right" and "full" also keep rows without one of this dataset, the
                other one or both, with nulls; "semi" and "anti" keep the rows of this dataset with or without a match, and
                add no column.
            left_on, right_on: the key columns of this and the other dataset, if their names differ.
            suffix: appended to columns of the other dataset whose names this one also has.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: the keys cannot be compared, or two columns would have the same name.
            ArgumentTypeError: `other` is not a dataset.

        Example:
            >>> photos = Dataset.from_dict({"file": ["a.png", "b.png", "c.png"], "size": [1, 2, 3]})
            >>> labels = Dataset.from_dict({"file": ["c.png", "a.png"], "label": ["cat", "dog"]})
            >>> photos.join(labels, on="file")[:]
            {'file': ['a.png', 'c.png'], 'size': [1, 3], 'label': ['dog', 'cat']}
            >>> photos.join(labels, on="file", how="left")["label"][:]
            ['dog', None, 'cat']
        """
        from datasets_core.dataset.keys import joined_rows, key_pairs

        given: Any = other
        if not isinstance(given, Relational):
            kind, advice = named_kind(given, "Make one, as by Dataset.from_pandas()")
            raise ArgumentTypeError(f"join() takes a Dataset, found {kind}. {advice}.")
        if how not in _HOW:
            raise ConfigurationError(f"how={how!r} is invalid", advice=f"Give one of {', '.join(map(repr, _HOW))}", value=how)
        if (on is None) == (left_on is None and right_on is None) or (left_on is None) != (right_on is None):
            raise ConfigurationError("join() takes either on=, or left_on= and right_on=", advice="Name the columns to compare")
        mine = self._keys("join", on if left_on is None else left_on)
        others = other._keys("join", on if right_on is None else right_on)
        if len(mine) != len(others):
            raise ConfigurationError(
                f"join() got {len(mine)} columns of one and {len(others)} of the other dataset", advice="Give pairs"
            )
        key_pairs(self, other, mine, others)
        asked = (other._lineage, mine, others)
        if how in ("semi", "anti"):

            def find() -> Ints:
                rows, _ = joined_rows("inner", self, other, (mine, others))
                has = np.zeros(self.num_rows, bool)
                has[rows] = True
                return np.flatnonzero(has if how == "semi" else ~has)

            return self._kept_rows(find, f"join {how}", *asked)
        return self._joined(other, how, (mine, others), suffix)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _keys(self, verb: str, *columns: str | Sequence[str] | None) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name for each in columns if each is not None for name in names_of(each)))
        self._check_columns(names)
        if not names:
            raise ConfigurationError(f"{verb}() got no column", advice="Name at least one")
        return names

    def _of_other_rows(self, other: Self, table: RowTable, features: Features) -> Self:
        """Return `other`, whose rows are not those of this dataset, without a split and with the format of all columns."""
        other._table, other._index, other._split = table, None, None
        other._info.features = features
        other._format = replace(self._format, columns=None)
        other._forget()
        return other

    def _joined(self, other: Relational, how: str, on: tuple[tuple[str, ...], tuple[str, ...]], suffix: str) -> Self:
        from datasets_core.dataset.keys import joined_rows, side_by_side
        from datasets_core.dataset.results import found, place_of, written
        from datasets_core.store.table import zipped

        new = {name: name + suffix if name in self.column_names else name for name in other.column_names if name not in on[1]}
        twice = next((name for name in new.values() if [*self.column_names, *new.values()].count(name) > 1), None)
        if twice is not None:
            raise ConfigurationError(f"Two columns would have the name {twice!r}", advice="Pass another suffix=")
        added = Features({renamed: other._features[name] for name, renamed in new.items()})
        features = Features({**self._features, **added})
        result = self._derived(f"join {how}", other._lineage, *on, suffix)
        beside = result._lineage.then("columns")
        pairs: list[tuple[Ints, Ints]] = []

        def matched() -> tuple[Ints, Ints]:
            if not pairs:
                pairs.append(joined_rows(how, self, other, on))
            return pairs[0]

        is_found = [settings().caching and found(place_of(self, lineage)) is not None for lineage in (beside, result._lineage)]
        may_stay = how in ("inner", "left") and self._index is None and bool(new) and not is_found[1]
        if may_stay and (is_found[0] or bool((np.diff(matched()[0]) > 0).all())):
            table = self._table

            def columns() -> Iterator[pa.RecordBatch]:
                others = np.full(table.num_rows, -1, np.int64)
                others[matched()[0]] = matched()[1]
                return side_by_side(self, other, np.arange(table.num_rows), others, [(None, name) for name in new], added)

            made = self._derived("columns")
            made._lineage = beside
            made._table, made._info.features = zipped(table, written(self, beside, columns, added)), features
            made._format = replace(self._format, columns=None)
            made._forget()
            if how == "inner":
                made = made._kept_rows(lambda: matched()[0], "matched")
            made._lineage = result._lineage
            return made
        pairs_of_names = [
            (name, on[1][on[0].index(name)] if how in ("right", "full") and name in on[0] else None) for name in self._features
        ]
        names = [*pairs_of_names, *((None, name) for name in new)]
        table = written(self, result._lineage, lambda: side_by_side(self, other, *matched(), names, features), features)
        return self._of_other_rows(result, table, features)


def _batches_of(table: pa.Table, features: Features) -> Iterator[pa.RecordBatch]:
    schema = features.arrow_schema
    for batch in table.to_batches():
        columns = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(batch.columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


# Row numbers sorted by columns, in memory, or by sorted runs merged from disk.


_BLOCKS_PER_RUN = 16
_PARTS = 4  # of the memory: keys, their order, the sorted copy, and room for what Arrow holds meanwhile
_LEAST_ROWS = 1024  # of a run, so that tiny limits do not make a file of every row
_ROW = "row"


class SortKeys(NamedTuple):
    """Sort keys of rows.

    Args:
        columns: the columns, most significant first.
        descending: for each column, True to put its largest value first.
        nulls_first: True to put nulls first instead of last.
    """

    columns: tuple[str, ...]
    descending: tuple[bool, ...]
    nulls_first: bool

    def order(self, keys: pa.Table) -> Ints:
        """Return the rows of `keys` (the columns, in order) sorted; rows that are equal stay in their order."""
        import pyarrow.compute as pc  # 15 ms that reading does without

        from datasets_core.dataset.recompute import packed_order

        if len(self.columns) == 1 and (packed := packed_order(keys.column(0), is_down=self.descending[0])) is not None:
            return packed
        placement, names = "at_start" if self.nulls_first else "at_end", [str(place) for place in range(len(self.columns))]
        given = [(name, "descending" if down else "ascending") for name, down in zip(names, self.descending, strict=True)]
        keys = keys.rename_columns(names)
        if _PLACED_BY_KEY:
            placed: Any = [(*key, placement) for key in given]
            found = pc.sort_indices(keys, sort_keys=placed)
        else:
            found = pc.sort_indices(keys, sort_keys=given, null_placement=placement)
        return np.frombuffer(found.buffers()[1] or b"", np.int64)[found.offset : found.offset + len(found)]


_PLACED_BY_KEY = int(pa.__version__.partition(".")[0]) >= 25


def sorted_rows(table: RowTable, index: Ints | None, keys: SortKeys, engine: Engine | None = None) -> Ints:
    """Return the numbers of the rows in `index` (None: every row of the table), sorted.

    Args:
        table, index: the rows.
        keys: columns and directions.
        engine: its jobs sort parts of the rows, which this process merges; None: this process sorts.

    Raises:
        ArgumentTypeError: a column of values without an order.
        DatasetDiskError: the disk has no space for the runs of a table that is too large for the memory.
    """
    _check_kinds(table.schema, keys)
    columns = table.select(list(dict.fromkeys(keys.columns)))
    rows = table.num_rows if index is None else len(index)
    limit = settings().sort_bytes
    row_bytes = bytes_per_row(columns)
    parts = 1 if engine is None else _number_of_parts(rows, engine)
    if rows * row_bytes <= limit and parts == 1:
        return keys.order(_keys(columns, index, 0, rows, keys))
    step = max(1 if parts > 1 else _LEAST_ROWS, min(int(limit / _PARTS / (row_bytes + 8)), -(-rows // parts)))
    cuts = [*range(0, rows, step), rows]
    jobs = [
        (start, columns.slice(start, stop), None) if index is None else (start, columns, index[start:stop])
        for start, stop in itertools.pairwise(cuts)
    ]
    sort = partial(_sorted_run, keys)
    folder = settings().cache_dir
    with files.disk_errors(folder, needed=int(rows * (row_bytes + 8))):
        os.makedirs(folder, exist_ok=True)
        if engine is None:
            runs = [_spilled(sort(job), folder) for job in jobs]
        else:
            from datasets_core.store import module_state  # 3 ms that sorting in this process does without

            done = module_state.run(engine, sort, jobs, verb="sort()")
            by_job = {number: _spilled(run, folder) for number, run in done}
            runs = [by_job[number] for number in range(len(jobs))]
        return _merged([_Run(run) for run in runs], rows, keys, limit, folder)


def _number_of_parts(rows: int, engine: Engine) -> int:
    from datasets_core.dataset.transforms.calling import number_of_parts  # which serial sorting does without

    return number_of_parts(None, rows, engine) or 1


def _check_kinds(schema: pa.Schema, keys: SortKeys) -> None:
    for name in keys.columns:
        kind = _plain(schema.field(name).type)
        try:
            SortKeys((name,), (False,), False).order(pa.table([pa.nulls(1, kind)], names=[name]))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, TypeError):
            raise ArgumentTypeError(
                f"Column {name!r} is {kind}, which cannot be sorted",
                advice="Sort by a column of numbers, texts, bytes or times",
            ) from None


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def bytes_per_row(table: RowTable) -> float:
    """Return the average number of bytes of the keys of a row, from a few pieces; mapped files are not read."""
    looked = range(0, table.num_pieces, max(1, table.num_pieces // 16))
    pieces = [table.piece(k) for k in looked]
    num_bytes: int = sum(piece.nbytes for piece in pieces)
    num_rows: int = sum(piece.num_rows for piece in pieces)
    return num_bytes / max(1, num_rows)


def _keys(table: RowTable, index: Ints | None, start: int, stop: int, keys: SortKeys) -> pa.Table:
    """Return the sort columns of the rows from `start` to `stop`, each in one piece."""
    found = (
        pa.Table.from_batches(table.batches(start=start, stop=stop), table.schema)
        if index is None
        else table.take(index[start:stop])
    )
    columns = [found.column(name) for name in keys.columns]
    columns = [column.cast(_plain(column.type)) if pa.types.is_dictionary(column.type) else column for column in columns]
    whole = pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])
    return whole.combine_chunks()  # one chunk sorts up to eight times as fast as several


# -- runs on the disk --------------------------------------------------------------------------------------------------


def _sorted_run(order: SortKeys, job: tuple[int, RowTable, Ints | None]) -> pa.Table:
    """Return the keys of some rows, sorted; the last column is the number of the row among all.

    Args:
        order: of the rows.
        job: number of the first row, and the rows: a table, and their numbers in it if not all.
    """
    first, table, index = job
    keys = _keys(table, index, 0, table.num_rows if index is None else len(index), order)
    rows = order.order(keys)
    numbers = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])
    return keys.take(numbers).append_column(
        _ROW, pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows + first)])
    )


def _spilled(run: pa.Table, folder: str) -> pa.ipc.RecordBatchFileReader:
    """Return a sorted run in an unnamed file, which disappears with the process."""
    with nameless_file(folder) as handle:
        with pa.ipc.new_file(pa.PythonFile(handle, mode="w"), run.schema) as writer:
            writer.write_table(run, max_chunksize=max(1, -(-run.num_rows // _BLOCKS_PER_RUN)))
        return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped_file(handle))))


def nameless_file(folder: str) -> IO[bytes]:
    from tempfile import TemporaryFile  # 5 ms that tables which fit into the memory do without

    return TemporaryFile(dir=folder)


def _reserve(handle: IO[bytes], size: int) -> None:
    """Extend the file to this size and allocate its disk space: otherwise writing to mapped memory on a full disk would kill
    the process.
    """
    if hasattr(os, "posix_fallocate"):  # not on every system
        os.posix_fallocate(handle.fileno(), 0, size)
    else:
        handle.truncate(size)


def mapped_file(handle: IO[bytes]) -> mmap.mmap:
    handle.flush()
    return mmap.mmap(handle.fileno(), 0)


class _Run:
    """A sorted run that is read block by block."""

    def __init__(self, reader: pa.ipc.RecordBatchFileReader) -> None:
        self._reader, self._next = reader, 1
        self.block: pa.RecordBatch = reader.get_batch(0)

    @property
    def is_last(self) -> bool:
        """True if no block comes after this one."""
        return self._next >= int(self._reader.num_record_batches)

    def advance(self, rows: int) -> bool:
        """Skip `rows` rows; return False if none remain."""
        self.block = self.block.slice(rows)
        if not self.block.num_rows and not self.is_last:
            self.block = self._reader.get_batch(self._next)
            self._next += 1
        return bool(self.block.num_rows)


def _merged(runs: list[_Run], rows: int, keys: SortKeys, limit: int, folder: str) -> Ints:
    """Return the rows of all runs in order; in an unnamed file if the numbers alone exceed the memory."""
    if rows * 8 <= limit:
        merged: Ints = np.empty(rows, np.int64)
    else:
        with nameless_file(folder) as handle:
            _reserve(handle, rows * 8)
            merged = np.frombuffer(mapped_file(handle), np.int64)
    done = 0
    for numbers in _merging(runs, keys):
        merged[done : done + len(numbers)] = numbers
        done += len(numbers)
    return merged


def _merging(runs: list[_Run], keys: SortKeys) -> Iterator[Ints]:
    """Yield row numbers in order. Equal keys stay in the order of the runs, which is that of the rows.

    In the current blocks, all rows up to the smallest of their last rows are final: unread rows come after it.
    """
    while runs:
        bound, taking = _bound(runs, keys)
        settled = _settled(runs, taking, bound, keys)
        whole = pa.Table.from_batches([runs[number].block.slice(0, rows) for number, rows in zip(taking, settled, strict=True)])
        order = keys.order(whole.drop_columns([_ROW]).combine_chunks())
        yield ints_of(whole.column(_ROW))[order]
        ended = {number for number, rows in zip(taking, settled, strict=True) if not runs[number].advance(rows)}
        runs = [run for number, run in enumerate(runs) if number not in ended]


def _settled(runs: Sequence[_Run], taking: Sequence[int], bound: int | None, keys: SortKeys) -> list[int]:
    """Return for each run the number of rows of its block before the end of the block that ends first, by bisection of all at
    once.
    """
    sizes = {number: int(runs[number].block.num_rows) for number in taking}
    if bound is None:
        return list(sizes.values())
    low, high = {**dict.fromkeys(taking, 0), bound: sizes[bound]}, dict(sizes)
    while open_runs := [number for number in taking if low[number] < high[number] or number == bound]:
        if open_runs == [bound]:
            break
        probes = [sizes[bound] - 1 if number == bound else (low[number] + high[number]) // 2 for number in open_runs]
        rows = [runs[number].block.slice(at, 1) for number, at in zip(open_runs, probes, strict=True)]
        order = keys.order(pa.Table.from_batches(rows).drop_columns([_ROW]).combine_chunks()).tolist()
        is_behind = False  # the end of the bound's block; equal rows keep the order of their runs
        for place in order:
            number = open_runs[place]
            if number == bound:
                is_behind = True
            elif is_behind:
                high[number] = probes[place]
            else:
                low[number] = probes[place] + 1
    return [low[number] for number in taking]


def _bound(runs: Sequence[_Run], keys: SortKeys) -> tuple[int | None, list[int]]:
    """Return the run whose block ends first (None if every run is at its last block), and the runs with rows before that
    end.
    """
    edges = [(number, at) for number, run in enumerate(runs) for at in ((0,) if run.is_last else (0, run.block.num_rows - 1))]
    table = pa.Table.from_batches([runs[number].block.slice(at, 1) for number, at in edges]).drop_columns([_ROW])
    ends = [at_end for _, run in enumerate(runs) for at_end in ((False,) if run.is_last else (False, True))]
    order = keys.order(table.combine_chunks()).tolist()
    before = list(itertools.takewhile(lambda place: not ends[place], order))
    if len(before) == len(order):
        return None, list(range(len(runs)))
    return edges[order[len(before)]][0], sorted(edges[place][0] for place in before)
