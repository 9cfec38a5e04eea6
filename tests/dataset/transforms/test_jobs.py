"""`map` in parts: the rows of all, in order, those too for which nothing was returned."""

from __future__ import annotations

import copy
import math
import os
import pickle
import random
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms import jobs
from datasets_core.dataset.transforms.jobs import is_plain
from datasets_core.engines.process import WorkerProcess
from datasets_core.features.base import Value
from datasets_core.features.schema import Features


@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_rows_for_which_nothing_was_returned_stay_among_others(engine: str) -> None:
    rows = Dataset.from_dict({"a": list(range(6))})

    mapped = rows.map(lambda row: {"n": 1} if row["a"] > 3 else None, num_proc=3, engine=engine)

    assert mapped[:] == {"a": list(range(6)), "n": [None] * 4 + [1, 1]}


def test_a_function_that_returns_nothing_changes_nothing() -> None:
    rows, seen = Dataset.from_dict({"a": list(range(6))}), []

    same = rows.map(lambda row: seen.append(row["a"]), num_proc=2, engine="threads", remove_columns="a")

    assert (same[:], same._fingerprint, sorted(seen)) == (rows[:], rows._fingerprint, list(range(6)))


def test_types_are_joined_over_the_parts() -> None:
    def typed(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": [None, 1, 2.5][row["a"]], "l": [[], [], ["s"]][row["a"]], "m": [1, "s", None][row["a"]]}

    rows = Dataset.from_dict({"a": [0, 1, 2]})

    parts = [rows.map(typed, num_proc=n, engine="threads") for n in (1, 2, 3)]

    assert [part.features for part in parts[1:]] == [parts[0].features] * 2
    assert [part[:] for part in parts] == [
        {"a": [0, 1, 2], "n": [None, 1.0, 2.5], "l": [[], [], ["s"]], "m": [1, "s", None]}
    ] * 3


def ranked(row: dict[str, Any], rank: int) -> dict[str, Any]:
    return {"n": row["a"] + 1, "rank": rank}


@pytest.mark.parametrize("worth_seconds", [60, -1])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_short_work_is_done_here_and_the_rest_of_long_work_elsewhere(
    monkeypatch: pytest.MonkeyPatch, method: str, worth_seconds: float
) -> None:
    started: list[WorkerProcess] = []
    name = "fork" if method == "fork" else "_start"
    start = getattr(WorkerProcess, name)
    monkeypatch.setattr(WorkerProcess, name, lambda self: started.append(self) or start(self))
    monkeypatch.setattr(jobs, "_WORTH_SECONDS" if method == "fork" else "_SPAWN_WORTH_SECONDS", worth_seconds)
    monkeypatch.setattr(jobs, "_TRIAL_SECONDS", 0)
    rows = Dataset.from_dict({"a": list(range(10))})

    with config.using(start_method=method):
        mapped = rows.map(ranked, with_rank=True, num_proc=2)

    assert mapped[:] == {"a": list(range(10)), "n": list(range(1, 11)), "rank": [0] * 5 + [1] * 5}
    assert bool(started) == (worth_seconds < 0)


# Results of `map` that leave columns where they stand: equal to whole rows, found again, and fit for all that
# follows.

ROWS = 40


def built(folder: Path, rows: int = ROWS) -> Dataset:
    """Rows in the files of a cache."""

    def numbers(n: int) -> Iterator[dict[str, Any]]:
        for index in range(n):
            yield {"a": index, "t": f"row {index}", "l": [index] * (index % 3)}

    return Dataset.from_generator(numbers, cache_dir=str(folder), gen_kwargs={"n": rows})


def stored_columns(dataset: Dataset) -> list[list[str]]:
    """The columns of each file that a result stands in, but for those of the rows that it is made of."""
    found = []
    for file in dataset.cache_files:
        if os.path.basename(os.path.dirname(file["filename"])).startswith("cache-"):
            with pa.memory_map(file["filename"]) as source:
                found.append(pa.ipc.open_file(source).schema.names)
    return found


def as_rows(batch: dict[str, Any]) -> dict[str, Any]:
    """Fewer rows than there were, but for the first batch."""
    keep = len(batch["a"]) if batch["a"][0] == 0 else 1
    return {name: values if keep == len(values) else values[:keep] for name, values in batch.items()}


def changed_late(row: dict[str, Any]) -> dict[str, Any]:
    if row["a"] >= 30:
        row["t"] = "late"
    row["n"] = row["a"] * 2
    return row


def nothing_at_first(batch: dict[str, Any]) -> dict[str, Any] | None:
    return {"n": batch["a"]} if batch["a"][0] >= 20 else None


def dropped_late(batch: dict[str, Any]) -> dict[str, Any]:
    if batch["a"][0] >= 20:
        batch.pop("t")
    return batch


def float_late(batch: dict[str, Any]) -> dict[str, Any]:
    return {"a": [value / 2 for value in batch["a"]]} if batch["a"][0] >= 30 else {}


CASES: list[tuple[Callable[..., Any], dict[str, Any], list[list[str]] | None]] = [
    (lambda row: {"n": row["a"]}, {}, [["n"]]),
    (lambda row: {"a": row["a"] + 1}, {}, [["a"]]),
    (lambda row: {"n": 1}, {"remove_columns": ["t"]}, [["n"]]),
    (lambda row: {"n": 1}, {"remove_columns": ["a", "t", "l"]}, [["n"]]),
    (lambda row: row, {}, []),
    (lambda row: {}, {"remove_columns": "a"}, []),
    (lambda batch: {"n": batch["a"]}, {"batched": True, "batch_size": 7, "drop_last_batch": True}, [["n"]]),
    (as_rows, {"batched": True, "batch_size": 10}, [["a", "t", "l"]]),
    (changed_late, {}, None),
    (nothing_at_first, {"batched": True, "batch_size": 10}, [["n"]]),
    (dropped_late, {"batched": True, "batch_size": 10}, None),
    (float_late, {"batched": True, "batch_size": 10}, [["a"]]),
    (lambda batch: {"n": batch["l"]}, {"batched": True, "batch_size": None}, [["n"]]),
]


@pytest.mark.parametrize("num_proc", [None, 3])
@pytest.mark.parametrize(("function", "options", "stored"), CASES)
def test_rows_equal_those_that_are_written_whole(
    tmp_path: Path, function: Any, options: dict[str, Any], stored: list[list[str]] | None, num_proc: int | None
) -> None:
    rows = built(tmp_path)
    whole = Dataset.from_dict(rows[:], features=rows.features).map(function, **options)

    mapped = rows.map(function, **options, num_proc=num_proc, engine="threads" if num_proc else None)
    again = rows.map(function, **options)

    assert (mapped.column_names, mapped.features, mapped[:]) == (whole.column_names, whole.features, whole[:])
    assert (again[:], again.cache_files) == (mapped[:], mapped.cache_files)
    if stored is not None and num_proc is None:
        assert stored_columns(mapped) in (stored, stored * 2)


def test_features_that_are_asked_for_leave_columns_of_the_same_type(tmp_path: Path) -> None:
    rows = built(tmp_path)
    asked = Features({"n": Value("int8"), "t": Value("string"), "a": Value("float32"), "l": rows.features["l"]})

    mapped = rows.map(lambda row: {"n": 1}, features=asked)

    assert (mapped.features, mapped.column_names) == (asked, ["n", "t", "a", "l"])
    assert stored_columns(mapped) == [["n", "a"]]
    assert mapped[3] == {"n": 1, "t": "row 3", "a": 3.0, "l": []}


def test_rows_behind_an_index_and_named_files_are_written_whole(tmp_path: Path) -> None:
    rows = built(tmp_path / "rows")

    shuffled = rows.shuffle(seed=1).map(lambda row: {"n": row["a"]})
    named = rows.map(lambda row: {"n": row["a"]}, cache_file_name=str(tmp_path / "named.arrow"))
    held = rows.map(lambda row: {"n": row["a"]}, keep_in_memory=True)

    assert stored_columns(shuffled) == [["a", "t", "l", "n"]]
    assert named.cache_files == [{"filename": str(tmp_path / "named.arrow")}]
    assert held.cache_files == []
    assert named[:] == held[:] == shuffled.sort("a")[:]


def test_a_chain_stands_in_several_folders_which_cleaning_up_keeps(tmp_path: Path) -> None:
    rows = built(tmp_path)
    first = rows.map(lambda row: {"n": row["a"] + 1})
    second = first.map(lambda row: {"m": row["n"] + 1})
    rows.map(lambda row: {"k": 0})

    assert stored_columns(second) == [["n"], ["m"]]
    assert second.cleanup_cache_files() == 1
    assert second[5] == {"a": 5, "t": "row 5", "l": [5, 5], "n": 6, "m": 7}
    assert second.filter(lambda row: row["m"] > 40).sort("a", reverse=True)["m"][:] == [41]
    assert rows.cleanup_cache_files() == 3  # an index of `filter` among them


def test_a_long_chain_is_written_into_one_folder_now_and_then(tmp_path: Path) -> None:
    rows = built(tmp_path, 3)

    for step in range(20):
        rows = rows.map(lambda row, step: {f"n{step}": row["a"] + step}, fn_kwargs={"step": step})

    assert len(rows.cache_files) < 17
    assert rows[2]["n19"] == 21


def test_it_goes_to_other_processes_disks_and_places(tmp_path: Path) -> None:
    mapped = built(tmp_path / "one").map(lambda row: {"n": row["a"]}).select(range(5, 9))
    expected = copy.deepcopy(mapped[:])

    mapped.save_to_disk(str(tmp_path / "saved"))

    assert pickle.loads(pickle.dumps(mapped))[:] == expected
    assert Dataset.load_from_disk(str(tmp_path / "saved"))[:] == expected
    shutil.move(tmp_path / "one", tmp_path / "two")
    with config.using(max_retries=1):
        assert built(tmp_path / "two").map(lambda row: {"n": row["a"]}).select(range(5, 9))[:] == expected


def test_what_is_made_again_takes_what_follows_with_it(tmp_path: Path) -> None:
    rows = built(tmp_path)

    def drawn(row: dict[str, Any]) -> dict[str, Any]:
        return {"r": random.Random().random()}

    def doubled(row: dict[str, Any]) -> dict[str, Any]:
        return {"d": row["r"] * 2}

    rows.map(drawn).map(doubled)
    again = rows.map(drawn, load_from_cache_file=False).map(doubled)

    assert again["d"][:] == [value * 2 for value in again["r"][:]]


@given(st.lists(st.sampled_from(["new", "same", "changed", "none", "less"]), min_size=4, max_size=4), st.booleans())
def test_any_mix_of_batches_equals_whole_rows(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], removes: bool
) -> None:
    rows = built(tmp_path_factory.getbasetemp() / "mix", 8)

    def mixed(batch: dict[str, Any], at: list[int], kinds: list[str]) -> dict[str, Any] | None:
        kind = kinds[at[0] // 2]
        if kind == "new":
            return {"n": batch["a"]}
        if kind == "changed":
            return {"a": [value + 1 for value in batch["a"]]}
        if kind == "less":
            return {name: batch[name][:1] for name in ("a", "t", "l")}
        return None if kind == "none" else dict(batch)

    options: dict[str, Any] = {"batched": True, "batch_size": 2, "with_indices": True, "fn_kwargs": {"kinds": kinds}}
    if removes:
        options["remove_columns"] = ["t", "a"]
        kinds[:] = [kind if kind != "less" else "new" for kind in kinds]
    mapped = rows.map(mixed, **options)

    assert mapped[:] == Dataset.from_dict(rows[:], features=rows.features).map(mixed, **options)[:]


# Functions that may run in any process: those that use values, plain functions and known modules, and nothing else.

WORDS = re.compile(r"\w+")
LEVELS = {"low": 1, "high": 2}


def counted(row: dict[str, Any], by: int = 2) -> dict[str, Any]:
    return {"n": len(WORDS.findall(row["t"])) * by + LEVELS["low"]}


def through(row: dict[str, Any]) -> dict[str, Any]:
    return {"m": math.sqrt(counted(row)["n"]) + float(np.sum([1]))}


def ends(row: dict[str, Any]) -> None:
    os._exit(1)


def ends_below(row: dict[str, Any]) -> None:
    ends(row)


def imports(row: dict[str, Any]) -> None:
    import signal

    signal.raise_signal(9)


class Model:
    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return row


@pytest.mark.parametrize("function", [counted, through, partial(counted, by=3), len, lambda row: through(row)])
def test_values_and_plain_functions_are_plain(function: Any) -> None:
    assert is_plain(function)


@pytest.mark.parametrize(
    "function",
    [ends, ends_below, imports, partial(ends), Model(), lambda row: eval(row["t"]), lambda row: nowhere(row)],  # type: ignore[name-defined] # noqa: F821
)
def test_what_may_touch_the_process_is_not(function: Any) -> None:
    assert not is_plain(function)


def test_what_a_function_holds_counts() -> None:
    model, limit = Model(), 3

    assert is_plain(lambda row: row["n"] < limit)
    assert not is_plain(lambda row: model(row))
    assert not is_plain(counted, {"by": model})
