"""`map` over a whole dataset: parts for the engine, each writing shards of its own, and one result of all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from datasets_core.dataset.assembling import Made
from datasets_core.dataset.cached import Place, Result, kept
from datasets_core.dataset.calling import Caller
from datasets_core.dataset.lineage import Lineage
from datasets_core.dataset.mapping import Mapper, Plan
from datasets_core.dataset.row_jobs import Part, Teller, borders, number_of_parts, results
from datasets_core.dataset.widening import WideningWriter, Written
from datasets_core.engines.engine import Engine
from datasets_core.progress import progress

if TYPE_CHECKING:
    from datasets_core.dataset.tabled import Tabled


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one part: its rows, and whether the function returned anything for them."""

    written: tuple[Written, ...]
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
    stage = desc or "Map"

    def make(folder: Callable[[], str]) -> list[Written]:
        if len(runs) == 1:
            part = Part(dataset, 0, None if count is None else 0, most_bytes=place.most_bytes)
            with progress(stage, total=stop, unit="rows") as bar:
                outcomes = [_written(plan, part, runs[0][1], folder, bar.update)]
        else:
            where = folder() if place.folder or place.file else ""
            parts = [_part(dataset, run, rank, where, place) for rank, run in enumerate(runs)]
            outcomes = results(
                partial(_job, plan),
                parts,
                engine=engine,
                stage=f"{stage} (num_proc={len(runs)})",
                total=stop,
                verb=plan.calls.verb,
            )
            outcomes = _filled(plan, parts, outcomes, folder)
        if not any(outcome.is_changed for outcome in outcomes):
            raise _Unchanged
        return [written for outcome in outcomes for written in outcome.written]

    try:
        return kept(place, make, load_from_cache_file=load_from_cache_file, as_json=plan.as_json)
    except _Unchanged:
        return None


def _part(dataset: Tabled, run: tuple[int, int], rank: int, folder: str, place: Place) -> Part:
    start, stop = run
    tells = os.path.join(folder, f"rows-{rank:05d}.tmp-{os.getpid()}-0") if folder else ""
    rows = dataset._selected(range(start, stop))
    rows._lineage = Lineage.known("part")  # else its fingerprint would be computed for the way to the worker
    return Part(rows, start, rank, folder, tells, place.most_bytes)


def _job(plan: Plan, part: Part) -> Outcome:
    with Teller(part.tells) as teller:
        return _written(plan, part, part.dataset.num_rows, lambda: part.folder, teller.update)


def _written(plan: Plan, part: Part, stop: int, folder: Callable[[], str], tell: Callable[[int], object]) -> Outcome:
    writer = WideningWriter(folder, f"part-{part.rank or 0:05d}", most_bytes=part.most_bytes, as_json=plan.as_json)
    try:
        with Caller(plan.calls, part.rank) as caller:
            mapper = Mapper(plan, part.dataset, caller)
            is_changed = _write(writer, mapper, mapper.made(0, stop, part.start), tell)
        return Outcome(tuple(writer.close()), is_changed)
    except BaseException:
        writer.abort()
        raise


def _write(writer: WideningWriter, mapper: Mapper, made: Iterator[Made], tell: Callable[[int], object]) -> bool:
    """Write what was made; rows for which nothing was returned wait until something is, so as not to be copied in vain."""
    is_changed, waiting = False, 0
    for batch, kinds, has_update, num_rows in made:
        if has_update and not is_changed:
            is_changed = True
            _pass(writer, mapper, waiting)
        if is_changed:
            writer.write(batch, kinds)
        else:
            waiting += num_rows
        tell(num_rows)
    return is_changed


def _filled(plan: Plan, parts: list[Part], outcomes: list[Outcome], folder: Callable[[], str]) -> list[Outcome]:
    """The outcomes, with the rows of parts for which nothing was returned, if something was for others."""
    if len({outcome.is_changed for outcome in outcomes}) < 2:
        return outcomes
    filled = []
    for part, outcome in zip(parts, outcomes, strict=True):
        if not outcome.is_changed:
            writer = WideningWriter(folder, f"same-{part.rank or 0:05d}", most_bytes=part.most_bytes)
            with Caller(plan.calls, part.rank) as caller:
                _pass(writer, Mapper(plan, part.dataset, caller), part.dataset.num_rows)
            outcome = Outcome(tuple(writer.close()), True)
        filled.append(outcome)
    return filled


def _pass(writer: WideningWriter, mapper: Mapper, stop: int) -> None:
    for batch, kinds, _, _ in mapper.passed(0, stop):
        writer.write(batch, kinds)
