"""What functions make of rows: `map`, `filter`, `batch`, and the cache of their results.

Each method imports what does its work: together 40 ms, with asyncio and the writers of shards, that reading does without.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from datasets_core.config import settings
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.rows.arguments import as_features, checked_batch_size, names_of
from datasets_core.rows.tabled import Tabled
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.engines.engine import Engine
    from datasets_core.transforms.calling import Calls


class Transforms(Tabled):
    """Rows made of rows by functions."""

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
        """The rows updated with what `function` returns for each row, or for each batch of rows.

        What was made before is found again: by the fingerprint of the rows, the function (its code and all that it uses) and
        the arguments that decide about the result.  Types are those that hold the values of all rows, for any `num_proc`.

        Args:
            function: takes a row and returns a dict of columns to set, or None to change nothing; or changes the row itself.
            with_indices: it takes the number of the row too, or (`batched`) a list of them.
            with_rank: it takes the number of its worker too; None without `num_proc`.
            input_columns: it takes the values of these columns instead of the row.
            batched: it takes and returns columns of `batch_size` rows; it may return more or fewer rows, if columns that it
                does not return are removed.
            batch_size: rows of a batch; None or 0 for all.
            drop_last_batch: leave out a last batch that has fewer rows.
            remove_columns: columns that go before the update: what the function returns under these names stays.
            keep_in_memory: leave no file.
            load_from_cache_file: False makes the rows anew and replaces what is kept.
            cache_file_name: keep the result in this file, in Arrow's format.
            writer_batch_size: has no effect; rows are written by bytes.
            features: the columns of the result; without, the values decide.
            disable_nullable: refuse null.
            fn_kwargs: for the function, by name.
            num_proc: how many processes work side by side.
            suffix_template: has no effect; there is one file.
            new_fingerprint: the identity of the result.
            desc: what the progress bar says.
            try_original_type: a column keeps its type where the new values fit it.
            on_mixed_types: "use_json" makes a column of values that share no type one of JSON values; None refuses it.
            engine: who runs the parts: "processes", or "threads" for functions that spend their time in Arrow or numpy.

        >>> Dataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": row["a"] * 10})[:]
        {'a': [1, 2], 'b': [10, 20]}

        Raises:
            UnknownColumnError: a column that does not exist.
            CastError: values that fit no type, or not the features.
            WorkerDiedError: a process was killed; it names the rows.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        from datasets_core.results.cached import place_of
        from datasets_core.transforms.map_jobs import mapped
        from datasets_core.transforms.mapping import Plan
        from datasets_core.transforms.row_jobs import as_size, number_of_parts

        inputs, removed = self._named(input_columns), self._named(remove_columns)
        asked = as_features(features)
        if on_mixed_types not in (None, "use_json"):
            raise ConfigurationError(f"on_mixed_types={on_mixed_types!r} has no meaning. Give 'use_json' or None.")
        size = as_size(batch_size)
        calls = self._calls("map", function or _same, fn_kwargs, with_indices, with_rank)
        _check_engine(engine)
        number_of_parts(num_proc, 1)
        if not self.num_rows or (batched and drop_last_batch and size is not None and size > self.num_rows):
            return self._without_rows(removed or ())
        plan = Plan(
            calls,
            inputs,
            batched,
            size,
            drop_last_batch,
            removed or (),
            asked,
            disable_nullable,
            bool(try_original_type),
            on_mixed_types == "use_json",
        )
        decisive = (
            *_of_function(calls, inputs, batched, size),
            number_of_parts(num_proc, self.num_rows) if with_rank else None,
            batched and drop_last_batch,
            removed,
            None if asked is None else asked.to_dict(),
            disable_nullable,
            plan.try_original_type,
            on_mixed_types,
        )
        other = self._derived("map", *self._seen(), *decisive, new_fingerprint=new_fingerprint)
        assert other._fingerprint  # now: what the function uses may be changed later
        place = place_of(self, other._lineage, keep_in_memory=keep_in_memory, cache_file_name=cache_file_name)
        result = mapped(
            self,
            plan,
            place,
            num_proc=num_proc,
            engine=engine,
            load_from_cache_file=load_from_cache_file,
            desc=desc,
        )
        if result is None:
            return copy.copy(self)
        return self._result(other, result.table, result.features)

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
        """The rows for which `function` returns something true.

        No row is written: an index of them is, which is found again as results of `map` are.

        Args:
            function: takes a row and says whether it stays; or (`batched`) takes columns and returns a boolean for each row.
            with_indices, with_rank, input_columns, batched, batch_size, fn_kwargs, num_proc, desc, engine: see `map`.
            keep_in_memory: leave no file.
            load_from_cache_file: False asks the function anew and replaces what is kept.
            cache_file_name: keep the index in this file, in Arrow's format.
            writer_batch_size, suffix_template: have no effect.
            new_fingerprint: the identity of the result.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).filter(lambda row: row["a"] > 1)["a"][:]
        [2, 3]

        Raises:
            UnknownColumnError: a column that does not exist.
            MaskLengthError: a batched function returned not one boolean for each row.
        """
        from datasets_core.results.cached import place_of
        from datasets_core.transforms.filtering import FilterPlan, chosen_rows, index_path, read_index, write_index
        from datasets_core.transforms.row_jobs import as_size, number_of_parts

        inputs, size = self._named(input_columns), as_size(batch_size)
        calls = self._calls("filter", function or _always, fn_kwargs, with_indices, with_rank)
        _check_engine(engine)
        parts = number_of_parts(num_proc, self.num_rows) if with_rank else None
        decisive = (*self._seen(), *_of_function(calls, inputs, batched, size), parts)
        lineage = self._lineage.then("filter", *decisive, new_fingerprint=new_fingerprint)
        assert lineage.fingerprint  # now: what the function uses may be changed later
        place = place_of(self, lineage, keep_in_memory=keep_in_memory, cache_file_name=cache_file_name)
        path = index_path(place, self)
        is_wanted = settings().caching if load_from_cache_file is None else load_from_cache_file
        rows = read_index(path, place, self.num_rows) if path is not None and is_wanted else None
        if rows is None:
            plan = FilterPlan(calls, inputs, batched, size)
            rows = chosen_rows(self, plan, num_proc=num_proc, engine=engine, desc=desc)
            if path is not None:
                write_index(path, place, rows, self.num_rows)
        other = self._selected(rows, None, "filter", *decisive)
        other._lineage = lineage
        return other

    def batch(
        self,
        batch_size: int | None = None,
        by_column: str | Sequence[str] | None = None,
        drop_last_batch: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """Rows put together: each row of the result holds the lists of `batch_size` rows, or of a run of rows.

        Args:
            batch_size: how many; 0 or less for all; has no effect beside `by_column`.
            by_column: put rows together that follow one another and have the same values in this column, or these columns.
            drop_last_batch: leave out the last if it has fewer rows than `batch_size`; runs of rows are whole, and stay.
            num_proc: has no effect; lists are made without a look at values.
            new_fingerprint: the identity of the result.

        >>> Dataset.from_dict({"a": [1, 1, 2]}).batch(by_column="a")[:]
        {'a': [[1, 1], [2]]}

        Raises:
            ConfigurationError: neither a size nor a column.
            UnknownColumnError: a column that does not exist.
        """
        from datasets_core.results.cached import written
        from datasets_core.transforms.batching import batched_features, even_starts, grouped, run_starts
        from datasets_core.transforms.row_jobs import as_size, number_of_parts

        number_of_parts(num_proc, 1)
        names = self._named(by_column)
        if names is None and batch_size is None:
            raise ConfigurationError("batch() takes a batch_size or a by_column. Give one of them.")
        size = as_size(batch_size) or max(self.num_rows, 1)
        features = batched_features(self.features)
        decisive = ("batch", checked_batch_size(size) if names is None else names, drop_last_batch)
        other = self._derived(*decisive, new_fingerprint=new_fingerprint)

        def batches() -> Any:
            if names is None:
                return grouped(self, even_starts(self.num_rows, size, drop_last_batch))
            return grouped(self, run_starts(self, names))

        return self._result(other, written(self, other._lineage, batches, features), features)

    def cleanup_cache_files(self) -> int:
        """Remove kept results of transforms of these rows, but for those that this dataset stands in; how many they were.

        >>> Dataset.from_dict({"a": [1]}).cleanup_cache_files()
        0
        """
        from datasets_core.results.cached import remove_results

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
        from datasets_core.transforms.calling import Calls

        if not callable(function):
            raise ArgumentTypeError(f"{verb}() takes a function, found {type(function).__name__}. Give the function itself.")
        if fn_kwargs is not None and not isinstance(fn_kwargs, Mapping):
            raise ArgumentTypeError(f"fn_kwargs={fn_kwargs!r} are no arguments by name. Give a dict.")
        split = None if self._split is None else str(self._split)
        return Calls(function, dict(fn_kwargs or {}), with_indices, with_rank, verb, split)

    def _seen(self) -> tuple[Any, ...]:
        """What of the format decides what functions are given."""
        return self._format.type, dict(self._format.kwargs)

    def _without_rows(self, removed: Sequence[str]) -> Self:
        empty = self._selected(range(0)) if self.num_rows else copy.copy(self)
        kept = [name for name in self.column_names if name not in removed]
        return empty._with_rows(empty._table.select(kept), Features({name: self.features[name] for name in kept}))

    def _with_rows(self, table: RowTable, features: Features) -> Self:
        other = self._derived("without", *features)
        other._table, other._info.features = table, features
        return self._formatted_as_before(other)

    def _result(self, other: Self, table: RowTable, features: Features) -> Self:
        """`other` with these rows, in the format of this dataset; columns that are new come out, too."""
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


def _check_engine(engine: str | Engine | None) -> None:
    """Refuse an engine that is none, also where so few rows need none."""
    if engine is not None:
        from datasets_core.engines.engine import get_engine  # few name an engine

        get_engine(engine)


def _same(row: Any, *_: Any) -> Any:
    return row


def _always(*_: Any) -> bool:
    return True
