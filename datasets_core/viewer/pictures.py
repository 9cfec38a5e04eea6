"""Pictures of columns: histograms and frequencies by the statistics of `describe`, and their cross-filter."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.dataset.insight.describe import ColumnSummary, Histogram, Lengths, Summary
from datasets_core.dataset.insight.statistics import Scale, number_of, numbers_of, summarized
from datasets_core.dataset.results import home_of
from datasets_core.engines.threads import Daemons
from datasets_core.errors import ConfigurationError
from datasets_core.features.types import ClassLabel
from datasets_core.files import write_atomically
from datasets_core.store.rows.view import joined_blocks

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset

Mask: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.uint8]

BINS = 24
MOST_BARS = 40
"""Most values of a column that are shown as bars."""
_OTHER, _NULL = 254, 255  # codes of what is in no bin or bar: NaN and infinities, or no value at all
_COUNTED = np.array([*range(MOST_BARS), _NULL])  # codes that a picture counts
_SAMPLED_ROWS = 20_000
_SAMPLED_RUNS = 20
_MOST_CODED_BYTES = 300 << 20
_END_SECONDS = 10.0  # for the block that is being counted
_VERSION = 1  # of the file of statistics


class Picture:
    """The picture in the header of a column.

    Args:
        column: the statistics of the column.

    Attributes:
        kind: "bars" of values, a "histogram" of numbers or times, "lengths", or "none".
    """

    def __init__(self, column: ColumnSummary) -> None:
        self.column = column
        bars, lengths = column.frequencies, column.lengths
        self.kind = "none"
        self.counts: tuple[int, ...] = ()
        self.edges: tuple[Any, ...] = ()
        self.values: tuple[Any, ...] = ()
        if bars and column.is_distinct_exact and (len(bars) <= MOST_BARS) and (column.distinct or 0) <= MOST_BARS:
            is_varied = lengths is not None and len(bars) > 3 and bars[0][1] == 1  # each text once: their lengths say more
            if not is_varied and not any(isinstance(value, bytes) for value, _ in bars):
                self.kind, self.values = "bars", tuple(value for value, _ in bars)
                self.counts = tuple(count for _, count in bars)
        elif column.histogram is not None:
            self.kind, self.edges, self.counts = "histogram", column.histogram.edges, column.histogram.counts
        if self.kind == "none" and lengths is not None and lengths.histogram is not None:
            self.kind, self.edges, self.counts = "lengths", lengths.histogram.edges, lengths.histogram.counts

    def to_dict(self) -> dict[str, Any]:
        """Return the picture and the numbers of its column for the page."""
        column = self.column
        facts = {
            "distinct": column.distinct,
            "exact": column.is_distinct_exact,
            "min": as_text(column.min),
            "max": as_text(column.max),
            "mean": as_text(column.mean),
            "std": as_text(column.std),
            "nans": column.nans,
        }
        if column.lengths is not None:
            facts |= {
                "unit": column.lengths.unit,
                "shortest": column.lengths.min,
                "longest": column.lengths.max,
                "mean_length": as_text(column.lengths.mean),
            }
        return {
            "name": column.name,
            "kind": self.kind,
            "nulls": column.nulls,
            "counts": list(self.counts),
            "edges": [as_text(edge) for edge in self.edges],
            "values": [as_text(value) for value in self.values],
            "facts": {name: value for name, value in facts.items() if value is not None},
        }


def as_text(value: Any) -> str | None:
    """Return a number, a time or a text as the page shows it.

    >>> as_text(0.1 + 0.2), as_text(datetime.date(2020, 1, 2)), as_text(True), as_text(None)
    ('0.3', '2020-01-02', 'true', None)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


class Pictures:
    """The statistics of a dataset, computed once in a separate thread: first of a sample, then of all rows.

    Args:
        dataset: the rows.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._names = dataset.column_names
        self._lock = threading.Condition()
        self._summary: Summary | None = None
        self._codes: dict[str, Codes] = {}
        self._tables: _PairCounts | None = None
        self._error: BaseException | None = None
        self._done_rows, self._is_exact, self._is_stopped = 0, False, False
        self._is_begun = False
        self._pool = Daemons("datasets_core-statistics", lambda: 1)

    def start(self) -> None:
        """Start the computation, unless it has started."""
        with self._lock:
            if not self._is_begun:
                self._is_begun = True
                self._pool.submit(self._run)

    def stop(self) -> None:
        """Abandon unfinished computations."""
        self._is_stopped = True
        self._pool.close(_END_SECONDS)

    def state(self, wait_seconds: float = 0.0) -> tuple[Summary | None, bool, float]:
        """Return the statistics so far, whether they cover all rows, and the share of rows processed.

        Args:
            wait_seconds: maximum time to wait for the statistics of all rows.
        """
        self.start()
        with self._lock:
            self._lock.wait_for(lambda: self._is_exact or self._error is not None, timeout=wait_seconds)
            if self._error is not None:
                raise self._error
            total = 2 * max(1, self._dataset.num_rows)  # it goes through the rows once or twice
            return self._summary, self._is_exact, 1.0 if self._is_exact else min(0.99, self._done_rows / total)

    def summary(self) -> Summary:
        """Return the statistics of all rows, as soon as they are available."""
        while True:
            found, is_exact, _ = self.state(60.0)
            if is_exact and found is not None:
                return found

    def picture(self, name: str) -> Picture:
        """Return the picture of a column, made from all rows."""
        return Picture(self.summary()[name])

    def _run(self) -> None:
        try:
            found = _stored(self._dataset)
            if found is None:
                if self._dataset.num_rows > 4 * _SAMPLED_ROWS:
                    self._publish(_summary_of(_sample(self._dataset)), is_exact=False)
                found = _summary_of(self._dataset, self._counted)
                _store(self._dataset, found)
            self._publish(found, is_exact=True)
        except _StoppedError:
            return
        except BaseException as error:  # it is raised where the statistics are asked for
            with self._lock:
                self._error = error
                self._lock.notify_all()

    def _publish(self, summary: Summary, *, is_exact: bool) -> None:
        with self._lock:
            self._summary, self._is_exact = summary, is_exact
            self._lock.notify_all()

    def _counted(self, rows: int) -> None:
        self._done_rows += rows
        if self._is_stopped:
            raise _StoppedError

    # -- cross-filter --------------------------------------------------------------------------------------------------

    def codes(self, names: Sequence[str]) -> dict[str, Codes]:
        """Return for each column the bin or bar of every row.

        Raises:
            ConfigurationError: the dataset has too many rows for that.
        """
        pictures = {name: self.picture(name) for name in names}
        with self._lock:
            missing = [name for name in names if name not in self._codes and pictures[name].kind != "none"]
            if missing:
                size = (len(self._codes) + len(missing)) * self._dataset.num_rows
                if size > _MOST_CODED_BYTES:
                    raise ConfigurationError(
                        f"A cross-filter of {self._dataset.num_rows:,} rows by {len(missing)} columns needs {size >> 20:,} MB",
                        advice="Filter by SQL, or view a slice such as train[:10%]",
                    )
                self._codes |= _coded(self._dataset, {name: pictures[name] for name in missing})
            return {name: self._codes[name] for name in names if name in self._codes}

    def mask(self, filters: Sequence[Mapping[str, Any]]) -> Mask:
        """Return a mask of the rows that pass all filters."""
        names = [str(each["column"]) for each in filters]
        codes = self.codes(names)
        passes = np.ones(self._dataset.num_rows, bool)
        for each in filters:
            passes &= self._passing(codes, each)
        return passes

    def counts(self, names: Sequence[str], filters: Sequence[Mapping[str, Any]], base: Mask | None) -> dict[str, Any]:
        """Return the counts of each picture among the rows that pass the filters of the *other* columns.

        Args:
            names: columns whose pictures are requested.
            filters: one for each filtered column.
            base: mask of the rows that may be counted; None: all.
        """
        filtered = [str(each["column"]) for each in filters]
        codes = self.codes(list(dict.fromkeys([*names, *filtered])))
        moved = filtered[-1] if filtered else None  # the filter that is dragged is the last one
        table = self._tables_of(codes, moved, filters[:-1], base)
        missing = [name for name in names if name in codes and name not in table.counts]
        if missing or table.rows is None:
            self._count(table, codes, missing, filters[:-1])
        lets = None if moved is None else self._allowed(codes, filters[-1])
        found: dict[str, Any] = {}
        for name in names:
            if name not in codes:
                continue
            counted = table.counts[name]
            counted = counted.sum(axis=0) if lets is None or name == moved else counted[lets].sum(axis=0)
            bins = len(self.picture(name).counts)
            found[name] = {"counts": counted[:bins].tolist(), "nulls": int(counted[-1])}
        assert table.rows is not None
        return {"rows": int((table.rows if lets is None else table.rows[lets]).sum()), "columns": found}

    def _tables_of(
        self, codes: Mapping[str, Codes], moved: str | None, others: Sequence[Mapping[str, Any]], base: Mask | None
    ) -> _PairCounts:
        """Return the counts by pairs of bins for a filter being dragged; those of the last step if nothing else changed."""
        key = (moved, json.dumps(others, sort_keys=True))
        with self._lock:
            if self._tables is None or self._tables.key != key or self._tables.base is not base:
                self._tables = _PairCounts(key, base)
            return self._tables

    def _count(
        self, table: _PairCounts, codes: Mapping[str, Codes], names: Sequence[str], others: Sequence[Mapping[str, Any]]
    ) -> None:
        moved = table.key[0]
        masks = {str(each["column"]): self._passing(codes, each) for each in others}
        bases = [] if table.base is None else [table.base]

        def pairs(seen: Codes | None, passes: Mask | None) -> npt.NDArray[np.int64]:
            first = None if moved is None else codes[moved] if passes is None else codes[moved][passes]
            if seen is None:
                seen = np.zeros(self._dataset.num_rows, np.uint8)
            second = seen if passes is None else seen[passes]
            if first is None:
                return np.bincount(second, minlength=256).reshape(1, 256)[:, _COUNTED]
            both = np.left_shift(first, 8, dtype=np.uint16)
            both |= second
            return np.bincount(both, minlength=65536).reshape(256, 256)[:, _COUNTED]

        every = _all_of([*masks.values(), *bases])
        for name in names:
            own = _all_of([*(mask for other, mask in masks.items() if other != name), *bases]) if name in masks else every
            table.counts[name] = pairs(codes[name], own)
        table.rows = pairs(None, every)[:, 0]

    def _passing(self, codes: Mapping[str, Codes], given: Mapping[str, Any]) -> Mask:
        """Return a mask of the rows that a filter accepts."""
        lets = self._allowed(codes, given)
        found: Mask = lets[codes[str(given["column"])]]
        return found

    def _allowed(self, codes: Mapping[str, Codes], given: Mapping[str, Any]) -> Mask:
        """Return a mask of the codes that a filter accepts: `bins` (first and last), `values` by number, or `null`.

        Raises:
            ConfigurationError: the column has no picture, or the filter does not fit its kind.
        """
        name = str(given["column"])
        if name not in codes:
            raise ConfigurationError(f"Column {name!r} has no picture to filter by", advice="Filter it by SQL")
        allowed = np.zeros(256, bool)
        has_bars = self.picture(name).kind == "bars"
        if given.get("null") is not None:
            allowed[_NULL] = bool(given["null"])
            allowed[:_NULL] = not given["null"]
        elif given.get("bins" if has_bars else "values") is not None:
            raise ConfigurationError(
                f"Column {name!r} is filtered by {'values' if has_bars else 'bins'}, not by {dict(given)}."
            )
        elif has_bars:
            allowed[[int(number) for number in given.get("values") or () if 0 <= int(number) < _OTHER]] = True
        else:
            start, stop = (int(number) for number in given.get("bins") or (0, 0))
            allowed[max(0, start) : min(_OTHER, stop)] = True
        return allowed


class _PairCounts:
    """For each pair of a bin of the dragged column and a bin of another column, the number of rows, under the other filters.

    A step of a drag sums rows of these tables instead of reading the rows of the dataset.

    Args:
        key: the dragged column, and the other filters.
        base: mask of the rows that may be counted; None: all.
    """

    def __init__(self, key: tuple[str | None, str], base: Mask | None) -> None:
        self.key, self.base = key, base
        self.counts: dict[str, npt.NDArray[np.int64]] = {}
        self.rows: npt.NDArray[np.int64] | None = None


class _StoppedError(Exception):
    """Raised when the viewer ends."""


def _all_of(masks: Sequence[Mask]) -> Mask | None:
    if not masks:
        return None
    found = masks[0].copy()
    for mask in masks[1:]:
        found &= mask
    return found


# -- statistics --------------------------------------------------------------------------------------------------------


def _sample(dataset: Dataset) -> Dataset:
    """Return runs of rows spread over the whole dataset."""
    size = _SAMPLED_ROWS // _SAMPLED_RUNS
    starts = np.linspace(0, dataset.num_rows - size, _SAMPLED_RUNS).astype(np.int64)
    return dataset.select((starts[:, None] + np.arange(size)).reshape(-1))


def _summary_of(dataset: Dataset, on_rows: Callable[[int], None] | None = None) -> Summary:
    table, index = dataset._table, dataset._index

    def blocks() -> Iterator[pa.RecordBatch]:
        for block in joined_blocks(table, index):
            if on_rows is not None:
                on_rows(block.num_rows)
            yield block

    return summarized(dict(dataset.features), table.schema, blocks, BINS, bins_lengths=True)


def summary_of(dataset: Dataset) -> Summary:
    """Return the statistics of all rows as the viewer shows them: kept next to the rows, under their fingerprint."""
    found = _stored(dataset)
    if found is None:
        found = _summary_of(dataset)
        _store(dataset, found)
    return found


def _coded(dataset: Dataset, pictures: Mapping[str, Picture]) -> dict[str, Codes]:
    names = list(pictures)
    table = dataset._table.select(names)
    coders = [_Coder(pictures[name], dataset.features[name], table.schema.field(name).type) for name in names]
    found = {name: np.empty(dataset.num_rows, np.uint8) for name in names}
    done = 0
    for block in joined_blocks(table, dataset._index):
        for number, name in enumerate(names):
            found[name][done : done + block.num_rows] = coders[number].codes(block.column(number))
        done += block.num_rows
    return found


class _Coder:
    """Assigns the values of a column to bins or bars."""

    def __init__(self, picture: Picture, feature: Any, arrow_type: pa.DataType) -> None:
        self._picture, self._feature = picture, feature
        self._scale: Scale | None = None
        self._bars: pa.Array | None = None
        if picture.kind == "bars":
            if isinstance(feature, ClassLabel):
                names = {name: number for number, name in enumerate(feature.names)}
                self._bars = pa.array([names[name] if name in names else int(name) for name in picture.values], pa.int64())
            else:
                self._bars = pa.array(list(picture.values))
            return
        low, high = picture.edges[0], _last(picture.edges)
        if picture.kind == "histogram":
            low, high = number_of(low, arrow_type), number_of(picture.edges[-1], arrow_type)
            if isinstance(high, int) and len(picture.edges) <= BINS and len(picture.edges) > 1:
                high -= 1  # integers of few values have a bin each, up to the next one
        self._scale = Scale(low, high, BINS, is_whole=pa.types.is_temporal(arrow_type))

    def codes(self, values: pa.Array) -> Codes:
        found = np.full(len(values), _NULL, np.uint8)
        if pa.types.is_null(values.type):
            return found
        if self._bars is not None:
            plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
            places = pc.index_in(plain.cast(self._bars.type), value_set=self._bars)
            found[:] = places.fill_null(_OTHER).to_numpy(zero_copy_only=False)
            if values.null_count:
                found[values.is_null().to_numpy(zero_copy_only=False)] = _NULL
            return found
        assert self._scale is not None
        numbers, has_one = numbers_of(values, self._feature, are_lengths=self._picture.kind == "lengths")
        places = self._scale.places(numbers).astype(np.uint8)
        if numbers.dtype.kind == "f":
            places[~np.isfinite(numbers)] = _OTHER
        found[slice(None) if has_one is None else has_one] = places
        return found


def _last(edges: Sequence[Any]) -> Any:
    """Return the highest value in the bins; for integers with one bin each, it is the one before the last edge."""
    return edges[-1] - 1 if len(edges) - 1 < BINS and isinstance(edges[-1], int) and len(edges) > 1 else edges[-1]


# -- kept beside the rows ----------------------------------------------------------------------------------------------


def _file_of(dataset: Dataset) -> str | None:
    folder = home_of(dataset) if dataset._index is None else None
    if folder is None or not dataset._lineage.lasts:  # the fingerprint of rows in memory takes a pass over them
        return None
    return os.path.join(folder, f"cache-{dataset._lineage.fingerprint}.statistics.json")


def _stored(dataset: Dataset) -> Summary | None:
    path = _file_of(dataset)
    if path is None or not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file, object_hook=_from_json)
        if found["version"] != _VERSION or found["rows"] != dataset.num_rows or found["names"] != dataset.column_names:
            return None
        return Summary(found["rows"], tuple(_column(each) for each in found["columns"]))
    except (OSError, ValueError, KeyError, TypeError):  # damaged, or of another version: it is computed again
        return None


def _column(found: dict[str, Any]) -> ColumnSummary:
    def spread(kept: Any) -> Histogram | None:
        return None if kept is None else Histogram(tuple(kept["edges"]), tuple(kept["counts"]))

    lengths = found["lengths"]
    if lengths is not None:
        found["lengths"] = Lengths(**{**lengths, "histogram": spread(lengths["histogram"])})
    found["histogram"] = spread(found["histogram"])
    if found["frequencies"] is not None:
        found["frequencies"] = tuple((value, count) for value, count in found["frequencies"])
    return ColumnSummary(**found)


def _store(dataset: Dataset, summary: Summary) -> None:
    path = _file_of(dataset)
    if path is None or dataset.num_rows <= _SAMPLED_ROWS:  # faster computed than read
        return
    kept = summary.to_dict()
    text = json.dumps(
        {
            "version": _VERSION,
            "rows": summary.num_rows,
            "names": dataset.column_names,
            "columns": list(kept["columns"].values()),
        },
        default=_as_json,
    )
    with contextlib.suppress(OSError):  # a folder that is read-only: they are computed again
        write_atomically(path, text.encode())


_TIMES: dict[str, Callable[[str], Any]] = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda text: datetime.timedelta(microseconds=int(text)),
    "Decimal": decimal.Decimal,
    "bytes": bytes.fromhex,
}


def _as_json(value: Any) -> dict[str, str]:
    kind = type(value).__name__
    if isinstance(value, datetime.timedelta):
        return {"$" + kind: str(value // datetime.timedelta(microseconds=1))}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, decimal.Decimal):
        return {"$Decimal": str(value)}
    return {"$" + kind: value.isoformat()}


def _from_json(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        name, text = next(iter(found.items()))
        if name[:1] == "$" and name[1:] in _TIMES:
            return _TIMES[name[1:]](text)
    return found
