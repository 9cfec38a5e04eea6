"""`mapped`: `map` over a whole dataset: parts for the engine, each with its own shards, combined into one result."""

from __future__ import annotations

import base64
import builtins
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core import files
from datasets_core._version import __version__
from datasets_core.dataset.results import (
    CachedResult,
    Place,
    Result,
    WideningWriter,
    Written,
    is_result,
    of_new_columns,
    rows_of,
)
from datasets_core.dataset.transforms.calling import Caller, Part, borders, number_of_parts, results
from datasets_core.dataset.transforms.mapper import MappedRows, Mapper, MapPlan, rows_without_columns
from datasets_core.engines import Engine
from datasets_core.engines.threads import followed
from datasets_core.errors import logger_of
from datasets_core.features.base import FeatureType
from datasets_core.features.schema import Features
from datasets_core.progress import ProgressFile, progress, switch
from datasets_core.store.code import reach_of
from datasets_core.store.commit import Journal
from datasets_core.store.manifest import JOURNAL_NAME, ShardRecord
from datasets_core.store.rows.rows import Lineage
from datasets_core.store.table import RowTable, zipped

if TYPE_CHECKING:
    from datasets_core.store.rows.rows import Rows


logger = logger_of(__name__)

# New columns, written without the unchanged ones, and combined with them to rows.


_MOST_RESULTS = 16  # that the columns of one dataset come from; then all of them are written into one


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive rows of one dataset with the same unchanged columns.

    Attributes:
        start: number of their first input row in the user's dataset.
        rows: number of rows.
        names: names of all columns, in their order.
        kept: unchanged columns, not written: they are read from the input rows.
        written: the other columns.
    """

    start: int
    rows: int
    names: tuple[str, ...]
    kept: frozenset[str]
    written: tuple[Written, ...]


class RunWriter:
    """Writes the result of a function for a part of a dataset, as runs.

    Args:
        folder, stem, most_bytes, as_json: see `WideningWriter`.
        start: the number of the first row in the user's dataset.
        leaves: True if unchanged columns may be left in their files; else all are written.
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

    def write(self, made: MappedRows) -> None:
        """Append rows.

        Raises:
            CastError: a column has no common type with the earlier rows.
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
        """Remove the file that is being written; earlier ones are in a folder that is removed completely."""
        if self._writer is not None:
            self._writer.abort()


def leaves_columns(dataset: Rows) -> bool:
    """Return True if results of these rows may leave columns in their files: rows in files, in the same order."""
    folders = {path.rpartition("/")[0] for path in dataset._table.files if is_result(path)}
    return dataset._index is None and bool(dataset._table.files) and len(folders) < _MOST_RESULTS


def column_order(runs: Sequence[Run]) -> list[str]:
    """Return the columns of all, in the order of their first occurrence."""
    return list(dict.fromkeys(name for run in runs for name in run.names))


def evened(
    runs: Sequence[Run], source: RowTable, features: Mapping[str, FeatureType], folder: Callable[[], str], **options: Any
) -> list[Written]:
    """Return the columns to store: those that any run has written, for all rows; other runs read them from the input.

    Args:
        runs: the runs, in their order.
        source: the input rows.
        features: features of the columns that may be left out.
        folder: returns the folder for files.
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
    """Yield the rows of a run with columns of its input rows."""
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
    """Return True if stored columns belong to these rows."""
    stored = result.table.schema.names
    left = [name for name in result.features if name not in stored]
    if not left:
        return True
    return set(left) <= set(source.column_names) and (not stored or result.table.num_rows == source.num_rows)


def completed(result: Result, source: RowTable) -> RowTable:
    """Return the rows: stored columns, and unchanged columns from the input rows."""
    stored, order = result.table, list(result.features)
    left = [name for name in order if name not in stored.schema.names]
    if not left:
        return stored if stored.column_names == order else stored.select(order)
    table = source if left == source.column_names else source.select(left)
    if stored.column_names:
        table = zipped(table, stored)
    return table if table.column_names == order else table.select(order)


# Functions that can neither detect nor end the process in which they run: they may run here instead of in a worker.


_MODULES = frozenset(
    {"base64", "bisect", "collections", "copy", "datetime", "decimal", "difflib", "fractions", "functools", "hashlib"}
    | {"heapq", "html", "itertools", "json", "math", "numpy", "operator", "pyarrow", "re", "statistics", "string"}
    | {"textwrap", "unicodedata"}
)
_REACHES_OUT = {"__import__", "breakpoint", "eval", "exec", "exit", "globals", "input", "open", "quit", "vars"}
_BUILTINS = frozenset(vars(builtins)) - _REACHES_OUT
_VALUES = (int, float, str, bytes, bool, type(None), re.Pattern)


def is_plain(function: Callable[..., Any], *values: Any) -> bool:
    """Return True if a function and its arguments use only values, plain functions and known modules.

    >>> import os
    >>> is_plain(lambda row: len(row["text"])), is_plain(lambda row: os.getpid())
    (True, False)
    """
    return _is_plain((function, *values), set())


def _is_plain(value: Any, seen: set[int]) -> bool:
    if isinstance(value, _VALUES) or id(value) in seen:
        return True
    if isinstance(value, (tuple, list, set, frozenset)):
        return len(value) < 1000 and all(_is_plain(each, seen) for each in value)
    if isinstance(value, dict):
        return len(value) < 1000 and all(_is_plain(pair, seen) for pair in value.items())
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in _MODULES
    if isinstance(value, (type, BuiltinFunctionType)):
        return (getattr(value, "__module__", None) or "").partition(".")[0] in _MODULES or getattr(
            builtins, value.__name__, None
        ) is value
    if isinstance(value, partial):
        return _is_plain((value.func, value.args, value.keywords), seen)
    return isinstance(value, FunctionType) and _is_plain_function(value, seen)


def _is_plain_function(function: FunctionType, seen: set[int]) -> bool:
    if function.__module__.partition(".")[0] in _MODULES:
        return True
    seen.add(id(function))
    reach = reach_of(function.__code__)
    if any(name.partition(".")[0] not in _MODULES for _, name in reach.imports):
        return False
    for name, *_ in reach.paths:
        if name in function.__globals__:
            if not _is_plain(function.__globals__[name], seen):
                return False
        elif name not in _BUILTINS:
            return False
    try:
        held = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a name without a value yet
        return False
    return _is_plain((held, function.__defaults__, function.__kwdefaults__), seen)


_WORTH_SECONDS = 0.25  # of work, for forked workers, which start in about 0.03 s
_SPAWN_WORTH_SECONDS = 0.7  # of work, for programs, which take about half of that to start
_TRIAL_SECONDS = 0.03  # before the first look at the pace: the first calls are slow
_STEP_ROWS = 1 << 16
_MOST_BUSY = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one part: its rows, and whether the function returned a value for any."""

    runs: tuple[Run, ...]
    is_changed: bool


def mapped(
    dataset: Rows,
    plan: MapPlan,
    place: Place,
    *,
    num_proc: int | None,
    engine: Engine | None,
    load_from_cache_file: bool | None,
    desc: str | None,
) -> Result | None:
    """Return the result of `map`; None if the function returned None for all rows, so that they are unchanged."""
    rows = dataset.num_rows
    count = number_of_parts(num_proc, rows, engine)
    unit = (plan.batch_size or rows) if plan.batched else 1
    stop = rows // unit * unit if plan.batched and plan.drop_last_batch else rows
    runs = borders(stop, count or 1, unit) if stop else [(0, 0)]
    leaves = place.folder is not None and leaves_columns(dataset)
    source = dataset._table.slice(0, stop)
    before = dict(dataset._features if plan.features is None else plan.features)
    if leaves:
        place = of_new_columns(place, dataset)
    with CachedResult(
        place,
        load_from_cache_file=load_from_cache_file,
        fits=lambda found: not leaves or fits(found, source),
        resumes=len(runs) > 1,
    ) as keeping:
        if keeping.result is None:
            if len(runs) == 1 and not getattr(engine, "spans_machines", False):
                part = Part(dataset, 0, None if count is None else 0, most_bytes=place.most_bytes)
                map_part = partial(_map_part, plan, part, stop, keeping.folder, leaves)
                if switch.enabled:
                    with progress(desc or "Map", total=stop, unit="rows") as bar:
                        outcomes = [map_part(bar.update)]
                else:
                    outcomes = [map_part(None)]
            else:
                work = _Work(dataset, plan, place, keeping.folder, leaves, resumes=keeping.is_wanted)
                outcomes = work.of_all(runs, unit, engine, desc or "Map")
            if not any(outcome.is_changed for outcome in outcomes):
                keeping.discard()
                return None
            made = [run for outcome in outcomes for run in outcome.runs]
            order = column_order(made)
            keeping.done(
                evened(made, source, before, keeping.folder, most_bytes=place.most_bytes, as_json=plan.as_json),
                as_json=plan.as_json,
                complete=lambda stored: Features({name: stored[name] if name in stored else before[name] for name in order}),
            )
    result = keeping.result
    assert result is not None
    return Result(completed(result, source), result.features) if leaves else result


class _Work:
    """The parts of one `map`, and their workers."""

    def __init__(
        self, dataset: Rows, plan: MapPlan, place: Place, folder: Callable[[], str], leaves: bool, *, resumes: bool
    ) -> None:
        self._dataset, self._plan, self._place, self._folder, self._leaves = dataset, plan, place, folder, leaves
        self._resumes = resumes

    def of_all(self, runs: list[tuple[int, int]], unit: int, engine: Engine | None, stage: str) -> list[Outcome]:
        """Return the outcomes for all rows, in their order."""
        plan, stop = self._plan, runs[-1][1]
        stage = f"{stage} (num_proc={len(runs)})"
        done, outcomes, parts = 0, [], []
        if engine is None and is_plain(plan.calls.function, plan.calls.kwargs) and not plan.calls.is_async:
            for rank, (start, end) in enumerate(runs):
                part = self._part(start, end, rank, "")
                outcome, rows = _begun(plan, part, unit, self._folder, self._leaves, after=stop - end)
                if rows:
                    outcomes.append(outcome)
                    parts.append(part if rows == end - start else self._part(start, start + rows, rank, ""))
                done = start + rows
                if done < end:
                    break
        if done < stop:
            folder = self._folder() if self._place.folder or self._place.file else ""
            rest = [(max(start, done), end, rank) for rank, (start, end) in enumerate(runs) if end > done]
            others = [self._part(start, end, rank, folder) for start, end, rank in rest]
            work = partial(_job, plan, self._leaves)
            code = plan.calls.function, plan.calls.kwargs, self._dataset._format.kwargs
            how: Any = {"engine": engine, "stage": stage, "code": code, "verb": plan.calls.verb}
            outcomes += self._resumed(partial(results, work, **how), others, folder, leaves=self._leaves)
            parts += others
        else:
            with progress(stage, total=stop, unit="rows") as bar:
                bar.update(stop)
        return self._filled(parts, outcomes)

    def _resumed(self, run: Callable[..., list[Outcome]], parts: list[Part], folder: str, *, leaves: bool) -> list[Outcome]:
        """Return the outcomes of parts: those that a run which was killed has finished, and those of the others."""
        if not folder:
            return run(parts, total=sum(part.dataset.num_rows for part in parts))
        header = {"result": self._place.key, "leaves": leaves, "version": __version__}
        path = os.path.join(folder, JOURNAL_NAME)
        journal = Journal(path, header, _line, _finished_part)
        if self._resumes:
            journal.read()
            journal.entries = [entry for entry in journal.entries if _is_whole(entry, folder)]
        finished = dict(journal.entries)
        _remove_others(folder, finished.values())
        with journal:
            waiting = [part for part in parts if _key(part) not in finished]
            if len(waiting) < len(parts):
                logger.info("Taking over %d of %d finished parts.", len(parts) - len(waiting), len(parts))
            total = sum(part.dataset.num_rows for part in waiting)
            note = partial(_note, journal)
            finished.update(zip(map(_key, waiting), run(waiting, total=total, note=note) if waiting else (), strict=True))
        return [finished[_key(part)] for part in parts]

    def _part(self, start: int, stop: int, rank: int, folder: str) -> Part:
        rows = self._dataset._selected(range(start, stop))
        rows._lineage = Lineage.known("part")  # else its fingerprint would be computed for the way to the worker
        return Part(rows, start, rank, folder, most_bytes=self._place.most_bytes)

    def _filled(self, parts: list[Part], outcomes: list[Outcome]) -> list[Outcome]:
        """Return the outcomes; if only some parts have results, the unchanged rows of the others are added."""
        if len({outcome.is_changed for outcome in outcomes}) < 2:
            return outcomes
        filled = []
        for part, outcome in zip(parts, outcomes, strict=True):
            if not outcome.is_changed:
                writer = _writer(self._plan, part, self._folder, self._leaves, f"same-{part.start:010d}")
                with Caller(self._plan.calls, part.rank) as caller:
                    _pass(writer, Mapper(self._plan, part.dataset, caller), part.dataset.num_rows)
                outcome = Outcome(tuple(writer.close()), True)
            filled.append(outcome)
        return filled


# Finished parts, kept in a journal, so that the next run takes them over where this one is killed.


_Entry = tuple[tuple[int, int, int | None], Outcome]


def _key(part: Part) -> tuple[int, int, int | None]:
    return part.start, part.dataset.num_rows, part.rank


def _note(journal: Journal[_Entry], part: Part, outcome: Outcome) -> None:
    journal.add((_key(part), outcome))


def _is_whole(entry: _Entry, folder: str) -> bool:
    records = [record for run in entry[1].runs for written in run.written for record in written.records]
    sizes = ((os.path.join(folder, record.name), record.size) for record in records)
    return all(os.path.isfile(path) and os.path.getsize(path) == size for path, size in sizes)


def _remove_others(folder: str, outcomes: Iterable[Outcome]) -> None:
    """Remove the files of parts that were not finished."""
    known = {record.name for found in outcomes for run in found.runs for written in run.written for record in written.records}
    for name in set(os.listdir(folder)) - known:
        if name.startswith("part-"):
            files.remove(os.path.join(folder, name))


def _line(entry: _Entry) -> dict[str, Any]:
    (start, rows, rank), outcome = entry
    runs = [
        {
            "start": run.start,
            "rows": run.rows,
            "names": run.names,
            "kept": sorted(run.kept),
            "written": [_stored(written) for written in run.written],
        }
        for run in outcome.runs
    ]
    return {"part": [start, rows, rank], "runs": runs, "is_changed": outcome.is_changed}


def _stored(written: Written) -> dict[str, Any]:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, written.schema) as writer:
        for batch in written.batches:
            writer.write_batch(batch)
    return {
        "rows": base64.b64encode(out.getvalue()).decode(),
        "kinds": Features(written.kinds).to_dict(),
        "records": [record._asdict() for record in written.records],
        "traits": {name: sorted(traits) for name, traits in written.traits.items()},
    }


def _restored(found: dict[str, Any]) -> Written:
    with pa.ipc.open_stream(base64.b64decode(found["rows"])) as reader:
        schema, batches = reader.schema, tuple(reader)
    records = tuple(
        ShardRecord(**{**record, "batches": tuple((int(rows), int(count)) for rows, count in record["batches"])})
        for record in found["records"]
    )
    traits = {name: frozenset((place, kind) for place, kind in pairs) for name, pairs in found["traits"].items()}
    return Written(schema, dict(Features.from_dict(found["kinds"])), records, batches, traits)


def _finished_part(line: dict[str, Any]) -> _Entry:
    start, rows, rank = line["part"]
    runs = tuple(
        Run(
            run["start"],
            run["rows"],
            tuple(run["names"]),
            frozenset(run["kept"]),
            tuple(_restored(written) for written in run["written"]),
        )
        for run in line["runs"]
    )
    return (start, rows, rank), Outcome(runs, line["is_changed"])


def _job(plan: MapPlan, leaves: bool, part: Part) -> Outcome:
    stem = f"part-{os.urandom(4).hex()}"  # of this attempt: an engine may run a job twice
    with ProgressFile(part.tells) as teller:
        tell = teller.update if part.tells else None
        return _map_part(plan, part, part.dataset.num_rows, lambda: part.folder, leaves, tell, stem=stem)


def _map_part(
    plan: MapPlan,
    part: Part,
    stop: int,
    folder: Callable[[], str],
    leaves: bool,
    tell: Callable[[int], object] | None,
    *,
    stem: str = "part",
    steps: Callable[[Mapper], Iterator[MappedRows]] | None = None,
) -> Outcome:
    """Return the outcome for the rows of a part before `stop`; rows without results are written once there is a result."""
    writer = _writer(plan, part, folder, leaves, f"{stem}-{part.start:010d}")
    is_changed, waiting = False, 0
    try:
        with Caller(plan.calls, part.rank) as caller, followed(tell, lambda: caller.rows_done) if tell else nullcontext():
            mapper = Mapper(plan, part.dataset, caller)
            for each in mapper.made(0, stop, part.start) if steps is None else steps(mapper):
                if each.has_update and not is_changed:
                    is_changed = True
                    _pass(writer, mapper, waiting)
                if is_changed:
                    writer.write(each)
                else:
                    waiting += each.num_rows
        return Outcome(tuple(writer.close()), is_changed)
    except BaseException:
        writer.abort()
        raise


def _begun(plan: MapPlan, part: Part, unit: int, folder: Callable[[], str], leaves: bool, *, after: int) -> tuple[Outcome, int]:
    """Return the outcome for the first rows of a part, and their number: all rows while the work seems short.

    It proceeds in steps that double, and ends when the remaining rows of the part and those `after` it justify starting
    workers.
    """
    from datasets_core.engines.process import can_fork

    stop = part.dataset.num_rows
    done = 0
    worth = _WORTH_SECONDS if can_fork() else _SPAWN_WORTH_SECONDS

    def steps(mapper: Mapper) -> Iterator[MappedRows]:
        nonlocal done
        step, spent, is_short = unit, 0.0, True
        while done < stop and is_short:
            size = min(step, stop - done)
            began, worked = time.perf_counter(), time.thread_time()
            made = list(mapper.made(done, done + size, part.start))
            # On a busy machine, waiting for a processor is not work; waiting for a disk is, which takes far longer.
            took = max(time.thread_time() - worked, (time.perf_counter() - began) / _MOST_BUSY)
            done, spent = done + size, spent + took
            yield from made
            is_short = spent < _TRIAL_SECONDS or took / size * (stop - done + after) < worth
            step = min(2 * step, max(_STEP_ROWS, unit))

    outcome = _map_part(plan, part, stop, folder, leaves, None, stem="here", steps=steps)
    return outcome, done


def _writer(plan: MapPlan, part: Part, folder: Callable[[], str], leaves: bool, stem: str) -> RunWriter:
    return RunWriter(folder, stem, start=part.start, leaves=leaves, most_bytes=part.most_bytes, as_json=plan.as_json)


def _pass(writer: RunWriter, mapper: Mapper, stop: int) -> None:
    for made in mapper.passed(0, stop):
        writer.write(made)
