"""`map` over a whole dataset: parts for the engine, each writing shards of its own, and one result of all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from datasets_core.engines.engine import Engine
from datasets_core.features.schema import Features
from datasets_core.progress import progress
from datasets_core.results.cached import Place, Result, kept, of_new_columns
from datasets_core.results.widening import Written
from datasets_core.rows.lineage import Lineage
from datasets_core.transforms.assembling import Made
from datasets_core.transforms.calling import Caller
from datasets_core.transforms.mapping import Mapper, Plan
from datasets_core.transforms.new_columns import Run, RunWriter, column_order, completed, evened, fits, leaves_columns
from datasets_core.transforms.plain_code import is_plain
from datasets_core.transforms.row_jobs import Part, Teller, borders, number_of_parts, results

if TYPE_CHECKING:
    from datasets_core.rows.tabled import Tabled

_WORTH_SECONDS = 0.7  # of work: workers take about half of that to start
_TRIAL_SECONDS = 0.03  # before the first look at the pace: the first calls are slow
_STEP_ROWS = 1 << 16
_MOST_BUSY = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one part: its rows, and whether the function returned anything for them."""

    runs: tuple[Run, ...]
    is_changed: bool


class _Unchanged(Exception):
    """The function returned nothing for any row."""


def mapped(
    dataset: Tabled,
    plan: Plan,
    place: Place,
    *,
    num_proc: int | None,
    engine: str | Engine | None,
    load_from_cache_file: bool | None,
    desc: str | None,
) -> Result | None:
    """The result of `map`; None where the function returned nothing, so that nothing changes."""
    rows = dataset.num_rows
    count = number_of_parts(num_proc, rows)
    unit = (plan.batch_size or rows) if plan.batched else 1
    stop = rows // unit * unit if plan.batched and plan.drop_last_batch else rows
    runs = borders(stop, count or 1, unit) if stop else [(0, 0)]
    leaves = place.folder is not None and leaves_columns(dataset)
    source = dataset._table.slice(0, stop)
    before = dict(dataset.features if plan.features is None else plan.features)
    order: list[str] = []
    if leaves:
        place = of_new_columns(place, dataset)

    def make(folder: Callable[[], str]) -> list[Written]:
        work = _Work(dataset, plan, place, folder, leaves)
        outcomes = work.of_all(runs, count, unit, engine, desc or "Map")
        if not any(outcome.is_changed for outcome in outcomes):
            raise _Unchanged
        made = [run for outcome in outcomes for run in outcome.runs]
        order.extend(column_order(made))
        return evened(made, source, before, folder, most_bytes=place.most_bytes, as_json=plan.as_json)

    def complete(stored: Features) -> Features:
        return Features({name: stored[name] if name in stored else before[name] for name in order})

    try:
        result = kept(
            place,
            make,
            load_from_cache_file=load_from_cache_file,
            as_json=plan.as_json,
            complete=complete,
            fits=lambda found: not leaves or fits(found, source),
        )
    except _Unchanged:
        return None
    return Result(completed(result, source), result.features) if leaves else result


class _Work:
    """The parts of one `map`, and who does them."""

    def __init__(self, dataset: Tabled, plan: Plan, place: Place, folder: Callable[[], str], leaves: bool) -> None:
        self._dataset, self._plan, self._place, self._folder, self._leaves = dataset, plan, place, folder, leaves

    def of_all(
        self, runs: list[tuple[int, int]], count: int | None, unit: int, engine: str | Engine | None, stage: str
    ) -> list[Outcome]:
        """What becomes of all rows, in their order."""
        plan, stop = self._plan, runs[-1][1]
        if len(runs) == 1:
            part = Part(self._dataset, 0, None if count is None else 0, most_bytes=self._place.most_bytes)
            with progress(stage, total=stop, unit="rows") as bar:
                return [_written(plan, part, stop, self._folder, bar.update, self._leaves)]
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
            outcomes += results(work, others, engine=engine, stage=stage, total=stop - done, verb=plan.calls.verb)
            parts += others
        else:
            with progress(stage, total=stop, unit="rows") as bar:
                bar.update(stop)
        return self._filled(parts, outcomes)

    def _part(self, start: int, stop: int, rank: int, folder: str) -> Part:
        tells = os.path.join(folder, f"rows-{rank:05d}.tmp-{os.getpid()}-0") if folder else ""
        rows = self._dataset._selected(range(start, stop))
        rows._lineage = Lineage.known("part")  # else its fingerprint would be computed for the way to the worker
        return Part(rows, start, rank, folder, tells, self._place.most_bytes)

    def _filled(self, parts: list[Part], outcomes: list[Outcome]) -> list[Outcome]:
        """The outcomes, with the rows of parts for which nothing was returned, if something was for others."""
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


def _job(plan: Plan, leaves: bool, part: Part) -> Outcome:
    with Teller(part.tells) as teller:
        return _written(plan, part, part.dataset.num_rows, lambda: part.folder, teller.update, leaves)


def _written(
    plan: Plan, part: Part, stop: int, folder: Callable[[], str], tell: Callable[[int], object], leaves: bool
) -> Outcome:
    writer = _writer(plan, part, folder, leaves, f"part-{part.start:010d}")
    try:
        with Caller(plan.calls, part.rank) as caller:
            mapper = Mapper(plan, part.dataset, caller)
            is_changed = _write(writer, mapper, mapper.made(0, stop, part.start), tell)
        return Outcome(tuple(writer.close()), is_changed)
    except BaseException:
        writer.abort()
        raise


def _begun(plan: Plan, part: Part, unit: int, folder: Callable[[], str], leaves: bool, *, after: int) -> tuple[Outcome, int]:
    """What becomes of the first rows of a part, and how many they are: all, as long as the work looks short.

    It goes on in steps that double, and ends where the rest, and the rows `after` the part, look worth a start of workers.
    """
    stop = part.dataset.num_rows
    writer = _writer(plan, part, folder, leaves, f"here-{part.start:010d}")
    done = 0
    try:
        with Caller(plan.calls, part.rank) as caller:
            mapper = Mapper(plan, part.dataset, caller)

            def steps() -> Iterator[Made]:
                nonlocal done
                step, spent, is_short = unit, 0.0, True
                while done < stop and is_short:
                    size = min(step, stop - done)
                    began, worked = time.perf_counter(), time.thread_time()
                    made = list(mapper.made(done, done + size, part.start))
                    # On a busy machine, waiting for a processor is no work; waiting for a disk is, which takes far longer.
                    took = max(time.thread_time() - worked, (time.perf_counter() - began) / _MOST_BUSY)
                    done, spent = done + size, spent + took
                    yield from made
                    is_short = spent < _TRIAL_SECONDS or took / size * (stop - done + after) < _WORTH_SECONDS
                    step = min(2 * step, max(_STEP_ROWS, unit))

            is_changed = _write(writer, mapper, steps(), lambda rows: None)
        return Outcome(tuple(writer.close()), is_changed), done
    except BaseException:
        writer.abort()
        raise


def _writer(plan: Plan, part: Part, folder: Callable[[], str], leaves: bool, stem: str) -> RunWriter:
    return RunWriter(folder, stem, start=part.start, leaves=leaves, most_bytes=part.most_bytes, as_json=plan.as_json)


def _write(writer: RunWriter, mapper: Mapper, made: Iterator[Made], tell: Callable[[int], object]) -> bool:
    """Write what was made; rows for which nothing was returned wait until something is, so as not to be copied in vain."""
    is_changed, waiting = False, 0
    for each in made:
        if each.has_update and not is_changed:
            is_changed = True
            _pass(writer, mapper, waiting)
        if is_changed:
            writer.write(each)
        else:
            waiting += each.num_rows
        tell(each.num_rows)
    return is_changed


def _pass(writer: RunWriter, mapper: Mapper, stop: int) -> None:
    for made in mapper.passed(0, stop):
        writer.write(made)
