"""Stream methods that change rows: map, filter, columns, batches, formats, error policy, packing, row ids."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.engines.pool import ENGINES, WorkerPool
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.arrow import is_expression, truths
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.formats.formats import RowFormat, check_format, format_name
from datasets_core.features.schema import Features, RowEncoder, feature_from_arrow
from datasets_core.store.rows.indices import at_least, whole_number
from datasets_core.stream.iteration import Streamed
from datasets_core.stream.nodes.columns import Added, Cast, Decoding, Renamed, Selected
from datasets_core.stream.nodes.errors import ACTIONS, ErrorPolicy
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.steps import Batch, ChangeColumns, Filter, Map


class Transforming(Streamed):
    """Methods that return streams of changed rows; rows are computed when they are read."""

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        features: Features | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        *,
        num_workers: int = 0,
        engine: str = "threads",
        on_error: str | None = None,
    ) -> Self:
        """Return the rows updated with the result of `function` for each row, or for each batch of rows.

        Without `features=`, values stay as the function returned them: types are unknown until all rows are read.  The result
        must depend on the arguments alone: the function is called with the same batches wherever reading begins, but not with
        earlier ones, so it must not carry state from one call to the next.

        Args:
            function: takes a row and returns a dict of columns to set, or None to change nothing; or changes the row itself.
            with_indices: also pass the number of the row, or (`batched`) a list of them.
            input_columns: pass the values of these columns instead of the row.
            batched: it takes and returns columns of `batch_size` rows; it may return more or fewer rows, if columns that it
                does not return are removed.
            batch_size: rows of a batch; None or 0 for all.
            drop_last_batch: leave out the last batch if it has fewer rows.
            remove_columns: columns removed before the update; columns of these names that the function returns are kept.
            features: the columns of the result, with the target types of the values.
            fn_kwargs: keyword arguments of the function.
            num_workers: number of calls at once, ahead of the reader; rows keep their order.  0 calls it when rows are
                read.
            engine: "threads", for functions that wait, or spend their time in numpy, Arrow or a tokenizer; or
                "processes", for functions that spend it in Python: function and rows are sent to worker processes.
            on_error: "raise", "skip" or "null": action for rows at which this function fails; None: see `on_error`.

        Raises:
            UnknownColumnError: a column does not exist.
            ArgumentTypeError: the function returns a value that is not a dict of columns.
            WorkerDiedError: (while reading) a process of `engine="processes"` was killed.

        Example:
            >>> list(Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset().map(lambda row: {"b": row["a"] * 10}))
            [{'a': 1, 'b': 10}, {'a': 2, 'b': 20}]
        """
        call = self._function("map", function or _same, fn_kwargs, with_indices, input_columns, _pool(num_workers, engine))
        result = None if features is None else Features(features).copy()
        made = RowsMade(call, tuple(named(remove_columns)), result)
        return self._then(Map(made, batched, _size(batch_size), batched and drop_last_batch, on_error=check_action(on_error)))

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        *,
        num_workers: int = 0,
        engine: str = "threads",
        on_error: str | None = None,
    ) -> Self:
        """Return the rows for which `function` returns a true value, or for which an Arrow expression is true.

        Args:
            function: takes a row and returns whether to keep it; or (`batched`) takes columns and returns a list of booleans;
                or an expression such as `pc.field("a") > 1`, which Arrow computes for `batch_size` rows together.
            with_indices, input_columns, batched, batch_size, fn_kwargs, num_workers, engine: see `map`.
            on_error: "raise" or "skip" ("null" has the same effect): action for rows at which this function fails; None: see
                `on_error`.

        Raises:
            UnknownColumnError: a column does not exist.
            MaskLengthError: a batched function did not return one boolean for each row.

        Example:
            >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().filter(lambda row: row["a"] > 1))
            [{'a': 2}, {'a': 3}]
        """
        if is_expression(function):
            if with_indices or input_columns is not None or fn_kwargs:
                raise ConfigurationError(
                    "An Arrow expression takes no with_indices=, input_columns=, fn_kwargs=", advice="Remove them"
                )
            tables = self.with_format("arrow")
            call = tables._function("filter", ExpressionMask(function), None, False, None, _pool(num_workers, engine))
            return self._then(Filter(call, True, _size(batch_size), on_error=check_action(on_error)))
        call = self._function("filter", function or _always, fn_kwargs, with_indices, input_columns, _pool(num_workers, engine))
        return self._then(Filter(call, batched, _size(batch_size), on_error=check_action(on_error)))

    def on_error(
        self, action: str = "skip", *, max_errors: int | None = None, quarantine: str | os.PathLike[str] | None = None
    ) -> Self:
        """Return the same rows with an error policy for all steps of the stream, before and after this call.

        A step fails at a row when its function raises an error, when its result does not fit, when a value cannot be cast, or
        when a medium cannot be decoded.  In a batch, those rows fail at which the function fails when called with them alone;
        it gets the others together. Positions are counted in the source rows, so a state stays exact; a stream that ended with
        an error can resume from its state with another policy, unless a later step counts rows.

        Args:
            action: "raise" ends with the error; "skip" drops such rows; "null" keeps them, with None for values that the step
                could not make: the columns that its function sets.  A filter drops them.
            max_errors: limit of failed rows in one iteration, over all steps; with several lanes or shards, over those that one
                process reads. A state contains the count. One more failure is an error.  None: no limit.
            quarantine: a file that collects such rows, each once, from any number of processes: JSON lines, or Parquet if its
                name ends in `.parquet`. It has the file and the row of their origin, the step, the error, and the values.

        Raises:
            ConfigurationError: the action or the kind of file is unknown.
            TooManyErrorsError: (while reading) more rows failed than `max_errors`.

        Example:
            >>> stream = Dataset.from_dict({"a": [1, 0, 2]}).to_iterable_dataset().map(lambda row: {"b": 2 // row["a"]})
            >>> list(stream.on_error("skip", max_errors=1))
            [{'a': 1, 'b': 2}, {'a': 2, 'b': 1}]
            >>> list(stream.on_error("null"))
            [{'a': 1, 'b': 2}, {'a': 0, 'b': None}, {'a': 2, 'b': 1}]
        """
        if action not in ACTIONS:
            raise ConfigurationError(f"Invalid on_error({action!r})", advice=f"Give {', '.join(map(repr, ACTIONS))}")
        most = None if max_errors is None else at_least("max_errors", max_errors, 0)
        policy = ErrorPolicy(action, most, None if quarantine is None else os.fspath(quarantine))
        policy.check()
        return self._like(self._plan.on_error(policy))

    def batch(
        self,
        batch_size: int | None = None,
        by_column: str | Sequence[str] | None = None,
        drop_last_batch: bool = False,
    ) -> Self:
        """Return a stream of batches: each row holds, by column, the lists of values of several rows.

        Args:
            batch_size: number of rows of a batch; 0 or less puts all rows into one.
            by_column: put successive rows with equal values in this column, or these columns, into one batch.
            drop_last_batch: True leaves out the last batch if it has fewer rows, or if the end of the rows ended it.

        Raises:
            ConfigurationError: neither a size nor a column is passed.
            UnknownColumnError: a column does not exist.

        Example:
            >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().batch(2))
            [{'a': [1, 2]}, {'a': [3]}]
        """
        names = tuple(named(by_column))
        if not names and batch_size is None:
            raise ConfigurationError("batch() takes either batch_size or by_column", advice="Give one of them")
        return self._then(Batch(None if names else _size(batch_size), names, drop_last_batch))

    def pack(
        self,
        length: int,
        column: str | Sequence[str] = "input_ids",
        *,
        overlong: str = "split",
        pad: Any = None,
        window_rows: int = 256,
    ) -> Self:
        """Return token sequences packed into rows of `length` tokens or a little less.

        Each sequence of a window, the longest first, is put into the first row that has room; no row extends into the next
        window.  Rows come in the order of their first sequences.  A state records where its window began: resuming reads only
        that window again.  In an elastic stream each lane has its own windows.

        Args:
            length: maximum tokens of a row.
            column: the column of tokens, or several whose lists have the same length in each row (`["input_ids", "labels"]`),
                packed alike.  Other columns become lists of their values, one for each sequence; the new column `seq_lengths`
                has the length of each sequence.
            overlong: action for a longer sequence: "split" cuts it into several, "truncate" keeps its beginning,
                "drop" leaves it out, "raise" is an error.  Empty sequences are left out.
            pad: a value to pad rows with, or a dict of these by column; None leaves rows as they are.
            window_rows: rows of a window; the first windows, and those of lanes, are smaller, so that rows come early.  Larger
                windows leave less room in rows, and cost more when resuming.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: a column does not contain lists, the lists of a row differ in length, or a row is overlong with
                "raise".

        Example:
            >>> stream = Dataset.from_dict({"input_ids": [[1, 1, 1], [2, 2], [3], [4, 4]]}).to_iterable_dataset()
            >>> list(stream.pack(4))
            [{'input_ids': [1, 1, 1, 3], 'seq_lengths': [3, 1]}, {'input_ids': [2, 2, 4, 4], 'seq_lengths': [2, 2]}]
        """
        from datasets_core.stream.packing import OVERLONG, Pack  # 2 ms that other streams do without

        names = tuple(named(column))
        if not names:
            raise ConfigurationError("pack() needs the column of the tokens", advice="Give for example column='input_ids'")
        if overlong not in OVERLONG:
            raise ConfigurationError(
                f"Invalid overlong={overlong!r}", advice=f"Give {', '.join(map(repr, OVERLONG))}", value=overlong
            )
        fill = pad if pad is None or isinstance(pad, Mapping) else dict.fromkeys(names, pad)
        if fill is not None and (odd := [name for name in names if name not in fill]):
            raise ConfigurationError(
                f"pad={pad!r} has no value for column {odd[0]!r}", advice="Give one for each packed column", value=pad
            )
        size, rows = at_least("length", length, 1), at_least("window_rows", window_rows, 1)
        return self._then(Pack(size, names, overlong, fill, rows))

    def with_row_ids(self, columns: str | Sequence[str] = ("__id__", "__source__", "__row__")) -> Self:
        """Return the same rows with columns that identify the file and the row of each.

        `__source__` is the file as it was read, `__row__` the number of the row in it, and `__id__` 32 hexadecimal digits: 64
        bits of the file (the end of its path: its name and its folder's, and more where files of the stream share these) and 64
        bits of the row.  Ids do not depend on the location of the files, nor on order, slice, lane or rank; rows of a dataset
        built from them have the same ids if they are a range of rows of their split; other rows of a `Dataset` are numbered.
        For a generator, `__source__` names its part; in a combined stream, it names the stream. Steps that make a row from
        several (`batch`, a batched `map`, `pack`) remove the ids: add them before such steps.

        Args:
            columns: the columns to add, of these three; they follow the other columns in this order.

        Raises:
            ConfigurationError: a column is unknown or already exists, or rows are made from several.

        Example:
            >>> rows = Dataset.from_dict({"a": [7, 8, 9]}).to_iterable_dataset().shuffle(seed=1).with_row_ids("__row__")
            >>> sorted((row["__row__"], row["a"]) for row in rows)
            [(0, 7), (1, 8), (2, 9)]
        """
        from datasets_core.stream.row_ids import COLUMNS, RowIds, check_steps  # 1 ms that other streams do without

        names = tuple(named(columns))
        if not names or not set(names) <= set(COLUMNS):
            raise ConfigurationError(
                f"columns={columns!r} is invalid", advice=f"Give some of {', '.join(map(repr, COLUMNS))}", value=columns
            )
        check_steps(self._plan.steps)
        return self._then(RowIds.of(names, self._plan.source))

    # -- columns -------------------------------------------------------------------------------------------------------

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """Return the stream with only the selected columns, in the order given. Other columns are not read.

        Args:
            column_names: the column, or several.

        Raises:
            UnknownColumnError: a column does not exist.

        Example:
            >>> list(Dataset.from_dict({"a": [1], "b": [2]}).to_iterable_dataset().select_columns("b"))
            [{'b': 2}]
        """
        names = tuple(named(column_names))
        return self._then(ChangeColumns(Selected(names), f"select_columns({list(names)})"))

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """Return the stream without some columns.

        Args:
            column_names: the column, or several.

        Raises:
            UnknownColumnError: a column does not exist.

        Example:
            >>> list(Dataset.from_dict({"a": [1], "b": [2]}).to_iterable_dataset().remove_columns("b"))
            [{'a': 1}]
        """
        names = tuple(named(column_names))
        return self._then(ChangeColumns(Selected(names, is_dropped=True), f"remove_columns({list(names)})"))

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """Return the stream with a column renamed.

        Args:
            original_column_name: the current name.
            new_column_name: the new name.

        Raises:
            UnknownColumnError: the column does not exist.
            ConfigurationError: another column has the new name.

        Example:
            >>> list(Dataset.from_dict({"a": [1]}).to_iterable_dataset().rename_column("a", "b"))
            [{'b': 1}]
        """
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Return the stream with columns renamed.

        Args:
            column_mapping: the new name of each column to rename.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: two columns would have the same name.

        Example:
            >>> list(Dataset.from_dict({"a": [1], "b": [2]}).to_iterable_dataset().rename_columns({"a": "b", "b": "a"}))
            [{'b': 1, 'a': 2}]
        """
        names = dict(column_mapping)
        return self._then(ChangeColumns(Renamed(names), f"rename_columns({names})"))

    def add_column(self, name: str, column: Iterable[Any]) -> Self:
        """Return the stream with one more column, which is the last.

        Args:
            name: name of the column.
            column: one value for each row: a list, a numpy array or an Arrow array.

        Raises:
            ConfigurationError: a column of that name exists, or (while reading) the stream has more rows than values.

        Example:
            >>> list(Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset().add_column("b", [3, 4]))
            [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
        """
        values = _array(name, column)
        feature = feature_from_arrow(values.type)
        if values.type != feature_to_arrow(feature):
            values = values.cast(feature_to_arrow(feature))
        return self._then(ChangeColumns(Added(name, values, feature), f"add_column({name!r})"))

    def cast(self, features: Features) -> Self:
        """Return the stream with all columns cast to other types.

        Args:
            features: the new type of every column.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: the features lack a column.
            CellCastError: a value does not fit; raised while reading.

        Example:
            >>> list(Dataset.from_dict({"a": [1]}).to_iterable_dataset().cast(Features({"a": Value("string")})))
            [{'a': '1'}]
        """
        if not isinstance(features, Mapping):
            raise ArgumentTypeError(
                f"{features!r} is not a schema", advice="Give Features, or a dict of column to feature", value=features
            )
        return self._then(ChangeColumns(Cast(Features(features).copy(), is_all=True), "cast(features)"))

    def cast_column(self, column: str, feature: FeatureType) -> Self:
        """Return the stream with one column cast to another type.

        Args:
            column: name of the column.
            feature: the new type, such as `Value("float32")`.

        Raises:
            UnknownColumnError: the column does not exist.
            CellCastError: a value does not fit; raised while reading.

        Example:
            >>> list(Dataset.from_dict({"a": [1]}).to_iterable_dataset().cast_column("a", Value("float32")))
            [{'a': 1.0}]
        """
        return self._then(ChangeColumns(Cast(Features({column: feature}).copy(), is_all=False), f"cast_column({column!r})"))

    def decode(self, enable: bool = True, num_threads: int | None = None) -> Self:
        """Return the stream with media decoded or, with `enable=False`, as they are stored.

        Args:
            enable: True to decode media.
            num_threads: number of media decoded in parallel, ahead of the rows that are read; rows keep their order.
                Functions of `map` and `filter` decode their own arguments: see their `num_workers`.

        Example:
            >>> from datasets_core import Image
            >>> stream = Dataset.from_dict({"a": [b""]}, Features({"a": Image()})).to_iterable_dataset().decode(False)
            >>> list(stream)
            [{'a': {'bytes': b'', 'path': None}}]
        """
        pool = _pool(num_threads, "threads", "num_threads") if enable else None
        return self._then(ChangeColumns(Decoding(enable, pool), f"decode({enable})"))

    def with_format(self, type: str | None = None) -> Self:
        """Return the stream with another format, which the functions of later steps also receive.

        Args:
            type: None (plain Python), `"numpy"`, `"torch"`, `"jax"`, `"tensorflow"`, `"pandas"`, `"polars"`, `"narwhals"` or
                `"arrow"`.

        Raises:
            ConfigurationError: the format is unknown.
            MissingDependencyError: the package of the format is not installed.

        Example:
            >>> next(iter(Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset().with_format("arrow"))).num_rows
            1
        """
        name = format_name(type)
        check_format(name, {})
        other = copy.copy(self)
        other._loaded = other._cursor = None
        other._is_begun = False
        other._format = RowFormat(name)
        return other

    def _function(
        self,
        verb: str,
        function: Any,
        kwargs: Mapping[str, Any] | None,
        with_indices: bool,
        columns: str | Sequence[str] | None,
        pool: WorkerPool | None,
    ) -> Function:
        if not callable(function):
            raise ArgumentTypeError(
                f"{verb}() takes a function, found {type(function).__name__}", advice="Give the function itself"
            )
        inputs = None if columns is None else tuple(named(columns))
        return Function(function, verb, dict(kwargs or {}), with_indices, inputs, self._format, pool)


class ExpressionMask:
    """A mask of the rows of a table for which an Arrow expression is true."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def __call__(self, table: pa.Table) -> pa.ChunkedArray:
        return truths(self._expression, table, table.column_names).fill_null(False)


def named(columns: str | Sequence[str] | None) -> list[str]:
    """Return the column names in an argument, as a list.

    >>> named("a"), named(None)
    (['a'], [])
    """
    if columns is None or isinstance(columns, str):
        return [] if columns is None else [columns]
    if not isinstance(columns, Iterable):
        raise ArgumentTypeError(
            f"{columns!r} is not a valid list of columns", advice="Give a name or a list of names", value=columns
        )
    return list(dict.fromkeys(columns))


def check_action(action: str | None) -> str | None:
    """Check and return the action for failed rows."""
    if action is not None and action not in ACTIONS:
        raise ConfigurationError(
            f"Invalid on_error={action!r}", advice=f"Give {', '.join(map(repr, ACTIONS))}, or None", value=action
        )
    return action


def _pool(num_workers: Any, engine: str, argument: str = "num_workers") -> WorkerPool | None:
    if engine not in ENGINES:
        raise ConfigurationError(f"Invalid engine={engine!r}", advice=f"Give {', '.join(map(repr, ENGINES))}", value=engine)
    count = at_least(argument, 0 if num_workers is None else num_workers, 0)
    return WorkerPool(count, engine) if count else None


def _size(batch_size: Any) -> int | None:
    return None if batch_size is None or (size := whole_number("batch_size", batch_size)) <= 0 else size


def _array(name: str, column: Any) -> pa.Array:
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values = column.tolist() if isinstance(column, np.ndarray) and column.ndim == 1 else list(column)
    return RowEncoder(None).encode([{name: value} for value in values]).column(0) if values else pa.nulls(0)


def _same(row: Any, *_: Any) -> Any:
    return row


def _always(*_: Any) -> bool:
    return True
