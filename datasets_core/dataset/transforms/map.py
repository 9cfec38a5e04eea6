"""`map`, `filter`, `batch` of a dataset, and the cache of their results.

Each method imports its implementation on use: together 40 ms, with asyncio and the shard writers, not needed for reading.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from datasets_core.config import has_alias, has_small_tokens, settings
from datasets_core.engines import Engine
from datasets_core.errors import ArgumentTypeError, ConfigurationError, MaskLengthError, logger_of
from datasets_core.errors.base import put_users_frames_first
from datasets_core.features.arrow import is_expression
from datasets_core.features.base import List
from datasets_core.features.schema import Features
from datasets_core.features.values import tensor_array
from datasets_core.progress import ProgressFile, progress, switch
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.indices import as_features, checked_batch_size, names_of
from datasets_core.store.rows.rows import Lineage, Rows
from datasets_core.store.shard import DAMAGE
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.dataset.results import Place
    from datasets_core.dataset.transforms.calling import Calls, Part


# Batches as rows: lists of consecutive rows, or of neighbours with equal values, made from Arrow columns.


_BLOCK_ROWS = 1 << 14


def batched_features(features: Features) -> Features:
    """Return the features of lists of rows."""
    return Features({name: List(feature) for name, feature in features.items()})


def grouped(dataset: Rows, starts: Ints) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a dataset as lists: list i contains the rows from `starts[i]` to `starts[i + 1]`."""
    from datasets_core.dataset.transforms.values import Inputs

    inputs = Inputs(dataset)
    schema = batched_features(dataset._features).arrow_schema
    first, count = 0, len(starts) - 1
    while first < count:
        last = int(np.searchsorted(starts, starts[first] + _BLOCK_ROWS, side="right")) - 1
        last = min(max(last, first + 1), count)
        begin, end = int(starts[first]), int(starts[last])
        batch = inputs.batch(begin, end)
        offsets = (starts[first : last + 1] - begin).astype(np.int32)
        at = pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)])
        columns = [
            pa.ListArray.from_arrays(at, column, type=field.type) for column, field in zip(batch.columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        first = last


def even_starts(rows: int, batch_size: int, drop_last: bool) -> Ints:
    """Return the starts of lists of `batch_size` rows, and the end of the last list.

    >>> even_starts(5, 2, False).tolist(), even_starts(5, 2, True).tolist()
    ([0, 2, 4, 5], [0, 2, 4])
    """
    starts = np.arange(0, rows, batch_size, dtype=np.int64)
    ends = [] if drop_last and rows % batch_size else [rows]
    return np.append(starts, np.array(ends, np.int64)) if rows else np.zeros(1, np.int64)


def run_starts(dataset: Rows, names: Sequence[str]) -> Ints:
    """Return the starts of ranges of rows with equal values in some columns, and the end of the last range."""
    from datasets_core.dataset.transforms.values import Inputs

    rows = dataset.num_rows
    inputs = Inputs(dataset)
    found: list[Any] = [np.zeros(min(rows, 1), np.int64)]
    for start in range(0, rows, _BLOCK_ROWS):
        block = inputs.batch(max(start - 1, 0), min(start + _BLOCK_ROWS, rows))
        differs = np.zeros(max(block.num_rows - 1, 0), bool)
        for name in names:
            differs |= _differs(block.column(inputs.names.index(name)))
        found.append(np.flatnonzero(differs) + max(start - 1, 0) + 1)
    starts = np.concatenate(found)
    return np.append(starts, np.int64(rows)) if rows else np.zeros(1, np.int64)


def _differs(column: pa.Array) -> Any:
    """Return for each value except the first whether it differs from the one before; null is a separate value."""
    import pyarrow.compute as pc  # 20 ms that other transforms do without

    before, after = column.slice(0, len(column) - 1), column.slice(1)
    if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
        return np.array([a != b for a, b in zip(before.to_pylist(), after.to_pylist(), strict=True)], bool)
    if pa.types.is_null(column.type):
        return np.zeros(len(after), bool)
    other = pc.fill_null(pc.not_equal(before, after), False)
    other = pc.or_(other, pc.xor(pc.is_null(before), pc.is_null(after)))
    return np.array(other.to_pylist(), bool)


# `filter`: the rows that a function keeps, as an index that is computed by batches, in parts, and stored in a file.


_ROWS = b"datasets_core.rows"
_MOST_BATCHES = 64  # whose coroutines wait together


class FilterPlan(NamedTuple):
    """The arguments of `filter` that affect its result."""

    calls: Calls
    input_columns: tuple[str, ...] | None
    batched: bool
    batch_size: int | None


def chosen_rows(dataset: Rows, plan: FilterPlan, *, num_proc: int | None, engine: Engine | None, desc: str | None) -> Ints:
    """Return the numbers of the rows that the function keeps, in their order."""
    from datasets_core.dataset.transforms.calling import Part, borders, number_of_parts, results

    rows = dataset.num_rows
    count = number_of_parts(num_proc, rows, engine)
    runs = borders(rows, count or 1, (plan.batch_size or max(rows, 1)) if plan.batched else 1)
    stage = desc or "Filter"
    if len(runs) == 1 and not getattr(engine, "spans_machines", False):
        with progress(stage, total=rows, unit="rows") as bar:
            return _chosen(plan, Part(dataset, 0, None if count is None else 0), bar.update if switch.enabled else None)
    parts = []
    for rank, (start, stop) in enumerate(runs):
        part = dataset._selected(range(start, stop))
        part._lineage = Lineage.known("part")
        parts.append(Part(part, start, rank))
    work = partial(_job, plan)
    stage = f"{stage} (num_proc={len(runs)})"
    code = plan.calls.function, plan.calls.kwargs, dataset._format.kwargs
    found = results(work, parts, engine=engine, stage=stage, total=rows, code=code, verb=plan.calls.verb)
    return np.concatenate([part.start + kept for part, kept in zip(parts, found, strict=True)])


def _job(plan: FilterPlan, part: Part) -> Ints:

    with ProgressFile(part.tells) as teller:
        return _chosen(plan, part, teller.update if part.tells else None)


def _chosen(plan: FilterPlan, part: Part, tell: Callable[[int], object] | None) -> Ints:
    from datasets_core.dataset.transforms.calling import Caller
    from datasets_core.dataset.transforms.values import Inputs, columns_read
    from datasets_core.engines.threads import followed

    read = None if plan.batched else columns_read(plan.calls.function)
    inputs = Inputs(part.dataset, plan.input_columns, read, is_only_read=True)
    rows = part.dataset.num_rows
    masks: list[Any] = []
    with Caller(plan.calls, part.rank) as caller, followed(tell, lambda: caller.rows_done) if tell else nullcontext():
        if not plan.batched:
            for block in inputs.blocks(0, rows):
                numbers = range(part.start + block.start, part.start + block.start + block.num_rows)
                masks.append(_truths(caller.on_rows(block.row_arguments(as_records=True), numbers)))
        else:
            blocks = inputs.batches(0, rows, plan.batch_size or max(rows, 1))
            most = _MOST_BATCHES if caller.is_async else 1
            while window := [block for _, block in zip(range(most), blocks, strict=False)]:
                asked = [
                    (block.batch_arguments(), range(part.start + block.start, part.start + block.start + block.num_rows))
                    for block in window
                ]
                given = caller.on_batches(asked) if caller.is_async else [caller.on_batch(*asked[0])]
                for block, mask in zip(window, given, strict=True):
                    masks.append(mask_of(mask, block.num_rows))
    rows_kept: Ints = np.flatnonzero(np.concatenate(masks)) if masks else np.zeros(0, np.int64)
    return rows_kept


def _truths(found: list[Any]) -> Any:
    """Return True if each value is true; None is not."""
    if set(map(type, found)) == {bool}:
        return np.frombuffer(bytes(found), bool)  # a third of the time of `fromiter`
    return np.fromiter(map(_is_true, found), bool, len(found))


def _is_true(value: Any) -> bool:
    return bool(value.as_py() if isinstance(value, pa.Scalar) else value)


def mask_of(found: Any, size: int) -> Any:
    """Return the result of a batched function as one boolean for each row.

    >>> mask_of([1, None, True], 3).tolist()
    [True, False, True]

    Raises:
        MaskLengthError: there is not one boolean for each row.
        ArgumentTypeError: the result is not a list or an array of booleans.
    """
    found = tensor_array(found) if type(found).__module__.startswith("torch") else found
    if isinstance(found, (pa.Array, pa.ChunkedArray)):
        found = found.to_pylist()
    elif hasattr(found, "to_list") and not isinstance(found, np.ndarray):  # a series
        found = found.to_list()
    if not hasattr(found, "__len__") or isinstance(found, (str, bytes, dict)):
        raise ArgumentTypeError(
            f"The function passed to filter() returned a {type(found).__name__} for a batch",
            advice="Return a list or an array with one boolean for each row",
        )
    if len(found) != size:
        raise MaskLengthError(len(found), size=size)
    if isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind in "biuf":
        return found.astype(bool)
    return _truths(list(found))


# -- the file ----------------------------------------------------------------------------------------------------------


def index_path(place: Place, dataset: Rows) -> str | None:
    """Return the file of the index at `place`; None if it stays in memory."""
    if place.file is not None:
        return place.file
    return f"{place.folder}.arrow" if place.folder is not None and dataset._table.files and place.may_be_found else None


def read_index(path: str, place: Place, size: int) -> Ints | None:
    """Return the index of an earlier run over as many rows; None if there is none."""
    from datasets_core.store.atomic import FINGERPRINT_KEY

    if not place.may_be_found or not os.path.isfile(path):
        return None
    try:
        with pa.memory_map(path) as source:
            reader = pa.ipc.open_file(source)
            known = reader.schema.metadata or {}
            if known.get(FINGERPRINT_KEY) != place.key.encode() or known.get(_ROWS) != str(size).encode():
                return None
            column = reader.get_batch(0).column(0) if reader.num_record_batches else pa.array([], pa.int64())
        rows = np.frombuffer(column.buffers()[1], np.int64, len(column)) if len(column) else np.zeros(0, np.int64)
    except DAMAGE:
        return None  # cut by a full disk or a power failure: computed again
    is_sound = not len(rows) or (rows[0] >= 0 and rows[-1] < size and bool((rows[1:] > rows[:-1]).all()))
    return rows if is_sound else None


def write_index(path: str, place: Place, rows: Ints, size: int) -> None:
    """Store an index over `size` rows by renaming its file.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    from datasets_core.store.atomic import FINGERPRINT_KEY, write_whole

    schema = pa.schema([pa.field("indices", pa.int64())], {FINGERPRINT_KEY: place.key.encode(), _ROWS: str(size).encode()})
    column = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])
    write_whole(path, schema, [pa.RecordBatch.from_arrays([column], schema=schema)])


logger = logger_of(__name__)


class Transforms(Rows):
    """Methods that apply functions to rows."""

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        suffix_template: str = "_{rank:05d}_of_{num_proc:05d}",
        new_fingerprint: str | None = None,
        desc: str | None = None,
        try_original_type: bool | None = True,
        on_mixed_types: str | None = "use_json",
        engine: str | Engine | None = None,
    ) -> Self:
        """Return the rows updated with the result of `function` for each row, or for each batch of rows.

        Results are cached: by the fingerprint of the rows, the function (its code and all that it uses) and
        the arguments that affect the result.  Types hold the values of all rows, for any `num_proc`.

        Args:
            function: takes a row and returns a dict of columns to set, or None to change nothing; or changes the row itself.
            with_indices: True to also pass the number of the row, or (`batched`) a list of them.
            with_rank: True to also pass the number of the worker; None without `num_proc`.
            input_columns: pass the values of these columns instead of the row.
            batched: True if it takes and returns columns of `batch_size` rows; it may return more or fewer rows, if columns
                that it does not return are removed.
            batch_size: rows of a batch; None or 0 for all.
            drop_last_batch: True to leave out a last batch that has fewer rows.
            remove_columns: columns removed before the update: those that the function returns stay.
            keep_in_memory: True to write no file.
            load_from_cache_file: False computes the rows again and replaces the cached result.
            cache_file_name: write the result to this file, in Arrow's format.
            writer_batch_size: ignored; rows are written by bytes.
            features: the columns of the result; None: inferred from the values.
            disable_nullable: True to refuse null.
            fn_kwargs: keyword arguments of the function.
            num_proc: number of processes.
            suffix_template: a text with `{rank}` and `{num_proc}`, which is ignored: the result is one file.
            new_fingerprint: the identity of the result.
            desc: text of the progress bar.
            try_original_type: True to keep the type of a column if the new values fit it.
            on_mixed_types: "use_json" stores values without a common type as JSON; None raises an error.
            engine: "processes"; "threads" for functions that spend their time in Arrow or numpy; "ray" or "dask" for many
                machines; an engine itself, or an executor of `concurrent.futures`.  Without `num_proc` it determines the number
                of parts.

        Raises:
            UnknownColumnError: a column does not exist.
            CastError: values have no common type, or do not fit the features.
            WorkerDiedError: a process was killed; the error names the rows.
            DatasetDiskError: the disk is full, read-only or forbidden.

        Example:
            >>> Dataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": row["a"] * 10})[:]
            {'a': [1, 2], 'b': [10, 20]}
        """
        from datasets_core.dataset.results import place_of
        from datasets_core.dataset.transforms.calling import as_size, number_of_parts
        from datasets_core.dataset.transforms.jobs import mapped
        from datasets_core.dataset.transforms.mapper import MapPlan

        inputs, removed = self._named(input_columns), self._named(remove_columns)
        asked = None if features is None else as_features(features)
        if on_mixed_types not in (None, "use_json"):
            raise ConfigurationError(
                f"Invalid on_mixed_types={on_mixed_types!r}", advice="Give 'use_json' or None", value=on_mixed_types
            )
        size = as_size(batch_size)
        calls = self._calls("map", function or _same, fn_kwargs, with_indices, with_rank)
        _check_suffix(suffix_template)
        number_of_parts(num_proc, 1)
        runner = _engine(engine, num_proc)
        if not self.num_rows or (batched and drop_last_batch and size is not None and size > self.num_rows):
            return self._without_rows(removed or ())
        plan = MapPlan(
            calls,
            input_columns=inputs,
            batched=batched,
            batch_size=size,
            drop_last_batch=drop_last_batch,
            remove_columns=removed or (),
            features=asked,
            disable_nullable=disable_nullable,
            try_original_type=bool(try_original_type),
            as_json=on_mixed_types == "use_json",
        )
        decisive = (
            *_of_function(calls, inputs, batched, size),
            number_of_parts(num_proc, self.num_rows, runner) if with_rank else None,
            batched and drop_last_batch,
            removed,
            None if asked is None else asked.to_dict(),
            disable_nullable,
            plan.try_original_type,
            on_mixed_types,
            *([] if has_small_tokens() else ["int64 tokens"]),
        )
        other = self._derived("map", *self._seen(), *decisive, new_fingerprint=new_fingerprint)
        assert other._lineage.fingerprint  # now: what the function uses may be changed later
        place = place_of(self, other._lineage, keep_in_memory=keep_in_memory, cache_file_name=cache_file_name)
        options: Any = {"num_proc": num_proc, "engine": runner, "load_from_cache_file": load_from_cache_file, "desc": desc}
        try:
            result = mapped(self, plan, place, **options)
        except Exception as error:
            put_users_frames_first(error)
            raise
        finally:
            _end(engine, runner)
        if result is None:
            return copy.copy(self)
        found = self._result(other, result.table, result.features)
        return found if found.column_names or not has_alias() else found._selected(range(0))

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        suffix_template: str = "_{rank:05d}_of_{num_proc:05d}",
        new_fingerprint: str | None = None,
        desc: str | None = None,
        engine: str | Engine | None = None,
    ) -> Self:
        """Return the rows for which `function` returns a true value, or for which an Arrow expression is true.

        No row is written, only an index of them, which is cached like the results of `map`.

        Args:
            function: takes a row and returns whether to keep it; or (`batched`) takes columns and returns a list of booleans;
                or an expression such as `pc.field("a") > 1`, which Arrow computes without a call for each row.
            with_indices, with_rank, input_columns, batched, batch_size, fn_kwargs, num_proc, desc, engine: see `map`.
            keep_in_memory: True to write no file.
            load_from_cache_file: False calls the function again and replaces the cached result.
            cache_file_name: write the index to this file, in Arrow's format.
            writer_batch_size, suffix_template: ignored.
            new_fingerprint: the identity of the result.

        Raises:
            UnknownColumnError: a column does not exist.
            MaskLengthError: a batched function did not return one boolean for each row.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).filter(lambda row: row["a"] > 1)["a"][:]
            [2, 3]
        """
        from datasets_core.dataset.transforms.calling import as_size, number_of_parts

        keeping: dict[str, Any] = {
            "keep_in_memory": keep_in_memory,
            "load_from_cache_file": load_from_cache_file,
            "cache_file_name": cache_file_name,
            "new_fingerprint": new_fingerprint,
        }
        if is_expression(function):
            from datasets_core.dataset.relational import rows_where  # it imports this module

            if with_indices or with_rank or input_columns is not None or fn_kwargs:
                raise ConfigurationError(
                    "An Arrow expression takes no with_indices=, with_rank=, input_columns= or fn_kwargs=", advice="Remove them"
                )
            expression: Any = function
            return self._kept_rows(lambda: rows_where(self, expression), "filter", function, **keeping)
        inputs, size = self._named(input_columns), as_size(batch_size)
        calls = self._calls("filter", function or _always, fn_kwargs, with_indices, with_rank)
        _check_suffix(suffix_template)
        number_of_parts(num_proc, 1)
        runner = _engine(engine, num_proc)
        parts = number_of_parts(num_proc, self.num_rows, runner) if with_rank else None
        decisive = (*self._seen(), *_of_function(calls, inputs, batched, size), parts)
        plan = FilterPlan(calls, inputs, batched, size)
        find = partial(chosen_rows, self, plan, num_proc=num_proc, engine=runner, desc=desc)
        try:
            return self._kept_rows(find, "filter", *decisive, **keeping)
        except Exception as error:
            put_users_frames_first(error)
            raise
        finally:
            _end(engine, runner)

    def _kept_rows(
        self,
        find: Callable[[], Ints],
        operation: str,
        *decisive: Any,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """Return the rows whose ascending numbers `find` returns, from an index that is cached."""
        from datasets_core.dataset.results import place_of

        lineage = self._lineage.then(operation, *decisive, new_fingerprint=new_fingerprint)
        assert lineage.fingerprint  # now: what a function uses may be changed later
        place = place_of(self, lineage, keep_in_memory=keep_in_memory, cache_file_name=cache_file_name)
        path = index_path(place, self)
        is_wanted = settings().caching if load_from_cache_file is None else load_from_cache_file
        rows = read_index(path, place, self.num_rows) if path is not None and is_wanted else None
        if rows is not None:
            logger.info("Loading cached indices of %s at %s", operation, path)
        else:
            rows = find()
            if path is not None:
                write_index(path, place, rows, self.num_rows)
                logger.info("Caching indices of %s at %s", operation, path)
        other = self._selected(rows, None, operation, *decisive)
        other._lineage = lineage
        if not len(rows):
            other._index = rows  # an index of no row: what was filtered always has one
        return other

    def batch(
        self,
        batch_size: int | None = None,
        by_column: str | Sequence[str] | None = None,
        drop_last_batch: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """Return rows of lists: each row of the result holds the lists of `batch_size` rows, or of a range of rows.

        Args:
            batch_size: number of rows; 0 or less for all; ignored with `by_column`.
            by_column: combine consecutive rows with equal values in this column, or these columns.
            drop_last_batch: drop the last list if it has fewer rows than `batch_size`; ranges of rows are always complete.
            num_proc: ignored; lists are made without reading values.
            new_fingerprint: the identity of the result.

        Raises:
            ConfigurationError: neither a size nor a column is passed.
            UnknownColumnError: a column does not exist.

        Example:
            >>> Dataset.from_dict({"a": [1, 1, 2]}).batch(by_column="a")[:]
            {'a': [[1, 1], [2]]}
        """
        from datasets_core.dataset.results import written
        from datasets_core.dataset.transforms.calling import as_size, number_of_parts

        number_of_parts(num_proc, 1)
        names = self._named(by_column)
        if names is None and batch_size is None:
            raise ConfigurationError("batch() takes either batch_size or by_column", advice="Give one of them")
        size = as_size(batch_size) or max(self.num_rows, 1)
        features = batched_features(self._features)
        decisive = ("batch", checked_batch_size(size) if names is None else names, drop_last_batch)
        other = self._derived(*decisive, new_fingerprint=new_fingerprint)

        def batches() -> Any:
            if names is None:
                return grouped(self, even_starts(self.num_rows, size, drop_last_batch))
            return grouped(self, run_starts(self, names))

        return self._result(other, written(self, other._lineage, batches, features), features)

    def cleanup_cache_files(self) -> int:
        """Delete cached results of transforms of these rows, except those that this dataset uses.

        Returns:
            The number of deleted results.

        Example:
            >>> Dataset.from_dict({"a": [1]}).cleanup_cache_files()
            0
        """
        from datasets_core.dataset.results import remove_results

        return remove_results(self)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _named(self, columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
        if columns is None:
            return None
        names = tuple(names_of(columns))
        self._check_columns(names)
        return names

    def _calls(
        self, verb: str, function: Any, fn_kwargs: Mapping[str, Any] | None, with_indices: bool, with_rank: bool
    ) -> Calls:
        from datasets_core.dataset.transforms.calling import Calls

        if not callable(function):
            raise ArgumentTypeError(
                f"{verb}() takes a function, found {type(function).__name__}", advice="Give the function itself"
            )
        if fn_kwargs is not None and not isinstance(fn_kwargs, Mapping):
            raise ArgumentTypeError(
                f"fn_kwargs={fn_kwargs!r} is not a dict", advice="Give a dict of argument name to value", value=fn_kwargs
            )
        return Calls(function, dict(fn_kwargs or {}), with_indices, with_rank, verb, self._split)

    def _seen(self) -> tuple[Any, ...]:
        """Return the part of the format that affects the arguments of functions."""
        return self._format.type, dict(self._format.kwargs)

    def _without_rows(self, removed: Sequence[str]) -> Self:
        empty = self._selected(range(0)) if self.num_rows else copy.copy(self)
        kept = [name for name in self.column_names if name not in removed]
        return empty._with_rows(empty._table.select(kept), Features({name: self._features[name] for name in kept}))

    def _with_rows(self, table: RowTable, features: Features) -> Self:
        other = self._derived("without", *features)
        other._table, other._info.features = table, features
        return self._formatted_as_before(other)

    def _result(self, other: Self, table: RowTable, features: Features) -> Self:
        """Return `other` with the rows and format of this dataset; new columns are returned, too."""
        other._table, other._index = table, None
        other._info.features = features
        return self._formatted_as_before(other)

    def _formatted_as_before(self, other: Self) -> Self:
        shown = self._format.columns
        if shown is not None:
            hidden = set(self.column_names) - set(shown)
            columns = tuple(name for name in other._table.schema.names if name not in hidden)
            other._format = replace(self._format, columns=columns)
        other._forget()
        return other


def _of_function(calls: Calls, inputs: tuple[str, ...] | None, batched: bool, size: int | None) -> tuple[Any, ...]:
    return calls.function, dict(calls.kwargs), calls.with_indices, calls.with_rank, inputs, batched, size if batched else None


def _check_suffix(template: str) -> None:
    fields = {name for _, name, _, _ in Formatter().parse(template) if name}
    if fields != {"rank", "num_proc"}:
        found = ", ".join(sorted(fields)) or "none"
        raise ConfigurationError(
            f"suffix_template={template!r} has the fields {found}, expected rank and num_proc",
            advice="Remove it: it has no effect",
            value=template,
        )


def _engine(engine: str | Engine | None, num_proc: int | None) -> Engine | None:
    """Return the named engine, even if there are too few rows to need one; None if `num_proc` alone decides."""
    named = settings().engine if engine is None else engine
    if named is None:
        return None
    from datasets_core.engines import get_engine  # few name an engine

    return get_engine(named, num_proc=num_proc or None)


def _end(engine: str | Engine | None, runner: Engine | None) -> None:
    """Shut down what an engine that was passed by name has started."""
    if runner is not None and (engine is None or isinstance(engine, str)) and runner is not settings().engine:
        getattr(runner, "close", bool)()


def _same(row: Any, *_: Any) -> Any:
    return row


def _always(*_: Any) -> bool:
    return True
