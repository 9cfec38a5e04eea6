"""Calls of a user's function: further arguments, coroutines, and errors that name the rows."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms.calling import (
    Caller,
    Calls,
    Part,
    as_size,
    borders,
    number_of_parts,
    results,
)
from datasets_core.errors import ArgumentTypeError, ConfigurationError, WorkerDiedError
from datasets_core.progress import ProgressFile


def caller(function: Any, rank: int | None = None, **options: Any) -> Caller:
    """One for the rows of a split."""
    calls = Calls(
        function, options.pop("kwargs", {}), options.get("indices", False), options.get("ranks", False), "map", "train"
    )
    return Caller(calls, rank)


def test_functions_get_numbers_rank_and_named_arguments_behind_the_rows() -> None:
    def told(*given: Any, **named: Any) -> Any:
        return given, named

    with caller(told, 3, indices=True, ranks=True, kwargs={"k": 1}) as calls:
        assert calls.on_rows([["a", "b"]], range(5, 7)) == [(("a", 5, 3), {"k": 1}), (("b", 6, 3), {"k": 1})]
        assert calls.on_batch([["a", "b"]], range(5, 7)) == ((["a", "b"], [5, 6], 3), {"k": 1})


def test_the_users_own_error_has_a_note_that_names_the_row() -> None:
    with caller(lambda n: 1 // n) as calls, pytest.raises(ZeroDivisionError) as failure:
        calls.on_rows([[2, 1, 0, 3]], range(10, 14))

    assert failure.value.__notes__[0].endswith("on row 12 of split 'train'.")
    assert failure.value.__cause__ is None


def test_an_error_of_a_batch_names_its_rows() -> None:
    with caller(lambda batch: batch[9]) as calls, pytest.raises(IndexError) as failure:
        calls.on_batch([[1, 2]], range(10, 12))

    assert "rows 10 to 11" in failure.value.__notes__[0]


def test_an_error_of_a_coroutine_names_its_row() -> None:
    async def divided(n: int) -> int:
        await asyncio.sleep(0)
        return 1 // n

    with caller(divided) as calls:
        assert calls.on_rows([[1, 1]], range(2)) == [1, 1]
        with pytest.raises(ZeroDivisionError) as failure:
            calls.on_rows([[1, 0]], range(4, 6))

    assert "row 5" in failure.value.__notes__[0]


def test_the_end_of_an_iterator_is_no_end_of_the_rows() -> None:
    with caller(lambda n: next(iter([1] * (2 - n)))) as calls:
        for call in (lambda: calls.on_rows([[1, 2]], range(7, 9)), lambda: calls.on_batch([2], range(8, 9))):
            with pytest.raises(RuntimeError, match="StopIteration") as failure:
                call()

            cause = failure.value.__cause__
            assert cause is not None
            assert traceback.extract_tb(cause.__traceback__)[-1].filename == __file__
            assert "row 8" in failure.value.__notes__[0]


def test_coroutines_share_one_loop_and_run_beside_another() -> None:
    loops = set()

    async def seen(batch: Any) -> None:
        loops.add(id(asyncio.get_running_loop()))

    async def notebook() -> None:
        with caller(seen) as calls:
            calls.on_batch([1], range(1))
            calls.on_batches([([1], range(1)), ([2], range(1, 2))])

    with caller(seen) as calls:
        calls.on_batch([1], range(1))
        calls.on_rows([[1]], range(1))
    assert len(loops) == 1
    asyncio.run(notebook())


def test_a_function_may_fill_one_object_for_all_rows() -> None:
    held: list[int] = [0]
    whole: dict[str, Any] = {}

    def filled(row: dict[str, int]) -> dict[str, Any]:
        held[0] = row["n"]
        whole.update(n=row["n"], held=held)
        return whole

    rows = [{"n": number} for number in range(9)]
    with caller(filled) as calls:
        found = calls.on_rows([rows[:6]], range(6), are_kept=True) + calls.on_rows([rows[6:]], range(6, 9), are_kept=True)
    assert found == [{"n": number, "held": [number]} for number in range(9)]


def test_a_function_may_put_one_list_into_every_row() -> None:
    held: list[int] = [0]

    def put(row: dict[str, Any]) -> None:
        held[0] = row["n"]
        row["held"] = held

    rows: list[dict[str, Any]] = [{"n": number} for number in range(9)]
    with caller(put) as calls:
        calls.on_rows([rows], range(9), are_kept=True)
    assert rows == [{"n": number, "held": [number]} for number in range(9)]


def test_a_result_that_is_changed_much_later_is_an_error() -> None:
    held: list[int] = [0]

    def late(row: dict[str, int]) -> dict[str, Any]:
        held[0] = int(row["n"] > 6)
        return {"held": held}

    with caller(late) as calls, pytest.raises(ConfigurationError, match="modified an object that it had returned"):
        calls.on_rows([[{"n": number} for number in range(9)]], range(9), are_kept=True)
    with caller(lambda row: {"held": held}) as calls:
        assert len(calls.on_rows([[{"n": 1}] * 9], range(9), are_kept=True)) == 9


# Parts of a dataset: cut at borders of batches, told of while they run, named when they fail.


@given(st.integers(1, 200), st.integers(1, 20), st.integers(1, 50))
def test_parts_cover_the_rows_in_order_and_cut_no_batch(rows: int, parts: int, unit: int) -> None:
    runs = borders(rows, parts, unit)

    assert [row for start, stop in runs for row in range(start, stop)] == list(range(rows))
    assert all(start % unit == 0 and start < stop for start, stop in runs)
    assert len(runs) <= parts


def test_how_many_parts_and_rows_of_a_batch() -> None:
    assert [number_of_parts(asked, 3) for asked in (None, 0, 1, 2, 9)] == [None, None, 1, 2, 3]
    assert [as_size(asked) for asked in (None, 0, -1, 7)] == [None, None, None, 7]
    with pytest.raises(ConfigurationError):
        number_of_parts(-1, 3)
    with pytest.raises(ArgumentTypeError):
        as_size("x")


def _parts(count: int) -> list[Part]:
    rows = Dataset.from_dict({"a": list(range(10 * count))})
    return [Part(rows.select(range(10 * rank, 10 * rank + 10)), 10 * rank, rank) for rank in range(count)]


def test_results_come_in_the_order_of_the_parts() -> None:
    found = results(lambda part: part.rows, _parts(3), engine="threads", stage="x", total=30, verb="map")

    assert found == ["rows 0 to 9", "rows 10 to 19", "rows 20 to 29"]


def test_a_killed_worker_is_told_with_its_rows() -> None:
    def killed(part: Part) -> None:
        if part.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDiedError, match=r"map\(\) on rows 10 to 19 ended") as failure:
        results(killed, _parts(2), engine=None, stage="x", total=20, verb="map")

    assert failure.value.job == 1


def test_a_teller_writes_what_is_done(tmp_path: Path) -> None:
    with ProgressFile(str(tmp_path / "told")) as teller, ProgressFile("") as silent:
        teller.update(3)
        teller.update(4)
        silent.update(1)

    assert int((tmp_path / "told").read_text()) == 7


def _inner(value: int) -> float:
    return 1 / value


def _inverted(row: dict[str, int]) -> dict[str, float]:
    return {"b": _inner(row["a"])}


def _inverted_batch(batch: dict[str, list[int]]) -> dict[str, list[float]]:
    return {"b": [_inner(value) for value in batch["a"]]}


@pytest.mark.parametrize(
    ("verb", "function", "options"),
    [("map", _inverted, {}), ("filter", _inverted, {}), ("map", _inverted_batch, {"batched": True})],
)
def test_a_traceback_shows_the_users_frames(
    verb: str, function: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Dataset.from_dict({"a": [1, 0]})
    with pytest.raises(ZeroDivisionError) as caught:
        getattr(rows, verb)(function, **options)
    names = [frame.name for frame in traceback.extract_tb(caught.tb)][1:]
    assert names == [verb, function.__name__, *(["<listcomp>"] if options and sys.version_info < (3, 12) else []), "_inner"]

    monkeypatch.setenv("DATASETS_CORE_FULL_TRACEBACKS", "1")
    with pytest.raises(ZeroDivisionError) as caught:
        getattr(rows, verb)(function, **options)
    assert any(frame.filename.endswith("calling.py") for frame in traceback.extract_tb(caught.tb))


@pytest.mark.parametrize(("function", "options"), [(_inverted, {}), (_inverted_batch, {"batched": True})])
def test_a_traceback_of_a_stream_shows_the_users_frames(
    function: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Dataset.from_dict({"a": [1, 0]}).to_iterable_dataset().map(function, **options)
    with pytest.raises(ZeroDivisionError) as caught:
        list(stream)
    names = [frame.name for frame in traceback.extract_tb(caught.tb) if frame.name != "<listcomp>"]
    assert names[-3:] == ["__next__", function.__name__, "_inner"]

    monkeypatch.setenv("DATASETS_CORE_FULL_TRACEBACKS", "1")
    with pytest.raises(ZeroDivisionError) as caught:
        list(stream)
    assert any(frame.filename.endswith("functions.py") for frame in traceback.extract_tb(caught.tb))


def test_a_traceback_from_a_worker_shows_the_users_frames() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Dataset.from_dict({"a": [1, 0] * 2}).map(_inverted, num_proc=2, engine="processes")
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["map"]
    (told,) = [note for note in caught.value.__notes__ if note.startswith("In a worker process:")]
    assert re.findall(r", in (\w+)\n", told) == ["_inverted", "_inner"]
