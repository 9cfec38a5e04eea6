"""The columns that a function made, written without those that stay where they stand; and both together again as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.features.base import FeatureType
from datasets_core.results.cached import Result, is_result
from datasets_core.results.widening import WideningWriter, Written, rows_of
from datasets_core.store.beside import beside
from datasets_core.store.table import RowTable
from datasets_core.transforms.assembling import Made, rows_without_columns

if TYPE_CHECKING:
    from datasets_core.rows.tabled import Tabled

_MOST_RESULTS = 16  # that the columns of one dataset come from; then all of them are written into one


@dataclass(frozen=True, slots=True)
class Run:
    """Rows of one dataset, one after the other, that leave the same columns where they stand.

    Attributes:
        start: the first of the rows that they are made of, in the user's dataset.
        rows: how many they are.
        names: of all columns, in their order.
        kept: those that are not written; row for row, they stand in the rows before.
        written: the others.
    """

    start: int
    rows: int
    names: tuple[str, ...]
    kept: frozenset[str]
    written: tuple[Written, ...]


class RunWriter:
    """Takes what a function made of a part of a dataset, and ends as runs.

    Args:
        folder, stem, most_bytes, as_json: see `WideningWriter`.
        start: the number of the first row in the user's dataset.
        leaves: columns that stay as they are may be left where they are; else all are written.
    """

    def __init__(
        self, folder: Callable[[], str], stem: str, *, start: int, leaves: bool, most_bytes: int, as_json: bool = False
    ) -> None:
        self._folder, self._stem, self._leaves = folder, stem, leaves
        self._most_bytes, self._as_json = most_bytes, as_json
        self._runs: list[Run] = []
        self._writer: WideningWriter | None = None
        self._kept: frozenset[str] = frozenset()
        self._names: dict[str, None] = {}
        self._start = self._next = start
        self._kinds: Mapping[str, FeatureType] | None = None
        self._stored_kinds: Mapping[str, FeatureType] = {}

    def write(self, made: Made) -> None:
        """Append rows.

        Raises:
            CastError: a column shares no type with those before.
        """
        kept = made.kept if self._leaves else frozenset()
        if self._writer is None or not self._kept <= kept:
            if self._writer is not None:
                kept &= self._kept
            self._end()
            self._begin(kept)
        assert self._writer is not None
        self._names.update(dict.fromkeys(made.names))
        if made.kinds is not self._kinds:
            self._kinds = made.kinds
            self._stored_kinds = {name: kind for name, kind in made.kinds.items() if name not in self._kept}
        self._writer.write(made.batch(self._kept), self._stored_kinds)
        self._next += made.num_rows

    def _begin(self, kept: frozenset[str]) -> None:
        stem = f"{self._stem}-{len(self._runs):02d}"
        self._writer = WideningWriter(self._folder, stem, most_bytes=self._most_bytes, as_json=self._as_json)
        self._kept, self._start, self._names, self._kinds = kept, self._next, {}, None

    def _end(self) -> None:
        if self._writer is not None:
            written = tuple(each for each in self._writer.close() if len(each.schema))
            rows = self._writer.rows
            self._runs.append(Run(self._start, rows, tuple(self._names), self._kept, written))
            self._writer = None

    def close(self) -> list[Run]:
        """Finish the files."""
        self._end()
        return self._runs

    def abort(self) -> None:
        """Remove the file that is being written; those before lie in a folder that goes as a whole."""
        if self._writer is not None:
            self._writer.abort()


def leaves_columns(dataset: Tabled) -> bool:
    """Whether what is made of these rows may leave columns where they stand: in files, in the same order."""
    folders = {path.rpartition("/")[0] for path in dataset._table.files if is_result(path)}
    return dataset._index is None and bool(dataset._table.files) and len(folders) < _MOST_RESULTS


def column_order(runs: Sequence[Run]) -> list[str]:
    """The columns of all, in the order in which they are first seen."""
    return list(dict.fromkeys(name for run in runs for name in run.names))


def evened(
    runs: Sequence[Run], source: RowTable, features: Mapping[str, FeatureType], folder: Callable[[], str], **options: Any
) -> list[Written]:
    """The columns to store: those that any run has written, for all rows; read where they stand for runs that left them.

    Args:
        runs: in their order.
        source: the rows that they are made of.
        features: of the columns that may be left.
        folder: gives the folder for files.
        options: see `WideningWriter`.
    """
    kept = frozenset.intersection(*(run.kept for run in runs))
    order = column_order(runs)
    if order and kept.issuperset(order):  # nothing is to be stored, which a folder still says
        return [Written(pa.schema([]), {}, (), (pa.RecordBatch.from_pylist([], schema=pa.schema([])),))]
    stored: list[Written] = []
    for number, run in enumerate(runs):
        if run.kept == kept and run.written:
            stored.extend(run.written)
            continue
        more = [name for name in run.names if name in run.kept and name not in kept]
        writer = WideningWriter(folder, f"left-{number:05d}", **options)
        for batch, kinds in _filled(run, source, more, features, folder):
            writer.write(batch, kinds)
        stored.extend(writer.close())
    return stored


def _filled(
    run: Run, source: RowTable, more: Sequence[str], features: Mapping[str, FeatureType], folder: Callable[[], str]
) -> Iterator[tuple[pa.RecordBatch, Mapping[str, FeatureType]]]:
    """The rows of a run with columns of the rows that they are made of."""
    start, left = run.start, source.select(more)
    added = {name: features[name] for name in more}
    if not run.written:
        for batch in left.batches(start=start, stop=start + run.rows) if more else [rows_without_columns(run.rows)]:
            yield batch, added
    for written in run.written:
        kinds = {**written.kinds, **added}
        for batch in rows_of(written, folder() if written.records else ""):
            parts = pa.Table.from_batches(list(left.batches(start=start, stop=start + batch.num_rows)), left.schema)
            joined = parts.combine_chunks().to_batches()[0].columns if more else []
            yield pa.RecordBatch.from_arrays([*batch.columns, *joined], [*batch.schema.names, *more]), kinds
            start += batch.num_rows


def fits(result: Result, source: RowTable) -> bool:
    """Whether what was stored for some rows goes with these."""
    stored = result.table.schema.names
    left = [name for name in result.features if name not in stored]
    if not left:
        return True
    return set(left) <= set(source.column_names) and (not stored or result.table.num_rows == source.num_rows)


def completed(result: Result, source: RowTable) -> RowTable:
    """The rows: stored columns, and beside them those that stand in the rows that they are made of."""
    stored, order = result.table, list(result.features)
    left = [name for name in order if name not in stored.schema.names]
    if not left:
        return stored if stored.column_names == order else stored.select(order)
    table = source if left == source.column_names else source.select(left)
    if stored.column_names:
        table = beside(table, stored)
    return table if table.column_names == order else table.select(order)
