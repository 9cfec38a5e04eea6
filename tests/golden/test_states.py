"""States of streams: those of today are those of before, byte by byte, and reading goes on behind those of before."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import golden_cases as cases
import golden_files as golden
import pytest

from datasets_core import IterableDataset, config
from datasets_core.errors import DatasetsCoreError, StreamStateError

STATES, MADE_WITH = golden.read_json("states.json.gz")
MERGED, _ = golden.read_json("merged.json.gz")
ROWS: list[str] = STATES["rows"]
NEEDS = {"feather": "pandas"}
_TRIES = 4
pytestmark = pytest.mark.skipif(not golden.same(MADE_WITH, "python"), reason="the code of functions has other bytes")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, sources: str) -> Any:
    with config.using(cache_dir=tmp_path / "cache"):
        yield


def test_every_source_and_every_step_is_recorded() -> None:
    assert {source: list(steps) for source, steps in STATES["cases"].items()} == {
        source: list(cases.streams_of(source)) for source in cases.SOURCES_OF_STREAMS
    }


@pytest.mark.parametrize("source", cases.SOURCES_OF_STREAMS)
def test_states_are_those_of_before_and_reading_goes_on_behind_them(source: str) -> None:
    if source in NEEDS:
        pytest.importorskip(NEEDS[source])
    wrong = []
    for step, make in cases.streams_of(source).items():
        before = STATES["cases"][source][step]
        wrong += [f"{step}: {what}" for what in (*_written(make, before), *_resumed(make, before, source, step))]

    assert wrong == []


def _written(make: Callable[[], IterableDataset], before: dict[str, Any]) -> list[str]:
    """What is otherwise of the first rows, and of the states behind them, however often it is looked at.

    Mixtures give smaller blocks where rows come slowly, and a state tells that it is behind the last row of one: a machine that
    is busy for a moment makes another state of the same place.
    """
    found: list[str] = []
    for _ in range(_TRIES):
        found = list(_differences(make, before))
        if not found:
            break
    return found


def _differences(make: Callable[[], IterableDataset], before: dict[str, Any]) -> Iterator[str]:
    numbers = {row: number for number, row in enumerate(ROWS)}
    now = cases.walked(make, numbers, most := cases.POINTS[-1])
    if now["given"] != before["given"][: len(now["given"])] or len(now["given"]) < min(most, len(before["given"])):
        texts = list(numbers)
        yield f"rows {[texts[number] for number in before['given']]}, and now {[texts[number] for number in now['given']]}"
    for (count, old), (at, new) in zip(before["states"], now["states"], strict=False):
        is_same = json.dumps(old) == json.dumps(new)
        if at != count or not (is_same or not golden.same(MADE_WITH, "pyarrow")):  # states hold schemas as Arrow writes them
            yield f"behind row {count} the state was {old}, and behind row {at} it is {new}"
    if len(now["given"]) < most and now.get("error") != before.get("error"):
        yield f"it ended with {before.get('error')}, and now with {now.get('error')}"


def _resumed(make: Callable[[], IterableDataset], before: dict[str, Any], source: str, step: str) -> Iterator[str]:
    """What is otherwise of the rows behind states of before: behind each for the rows of a source, else behind one of them."""
    rows, states = [ROWS[number] for number in before["given"]], before["states"]
    inner = states[1:-1] or states
    for count, state in states if step == "nothing" else [inner[zlib.crc32(f"{source}/{step}".encode()) % len(inner)]]:
        try:
            found: Any = cases.rest_of(make(), state)
        except DatasetsCoreError as error:
            if isinstance(error, StreamStateError) and f"{source}/{step}" in STATES["refused"]:
                continue
            found = type(error).__name__
        if found != before.get("error", rows[count:]):
            yield f"behind the state of row {count} came {before.get('error', rows[count:])}, and now {found}"


@pytest.mark.parametrize("name", cases.LARGE)
def test_places_in_the_midst_of_files_are_those_of_before(name: str) -> None:
    before = STATES["large"][name]
    if golden.same(MADE_WITH, "pyarrow"):
        assert json.dumps(cases.walked_far(cases.LARGE[name])) == json.dumps(before)
    _, state, *rest = before[-1]
    assert cases.summary(cases.rest_of(cases.LARGE[name](), state, told=repr)) == tuple(rest)


@pytest.mark.parametrize("kind", cases.MERGED)
def test_ranks_and_batches_go_on_behind_the_states_of_before(kind: str) -> None:
    (ranks, rows), (batches, rest) = MERGED[kind]
    if golden.same(MADE_WITH, "pyarrow"):
        assert json.dumps(cases.merged(kind)) == json.dumps(ranks)
        assert json.dumps(cases.behind_batches(kind)) == json.dumps(batches)
    assert cases.rest_of_merged(kind, ranks) == rows
    assert cases.rest_of_batches(kind, batches) == rest
