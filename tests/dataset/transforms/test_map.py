"""Rows put together: every row once, in order, in lists as long as was asked for."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import datasets_core.dataset.transforms.map as batching
from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import Place
from datasets_core.dataset.transforms.map import even_starts, mask_of, read_index, run_starts, write_index
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetDiskError,
    MaskLengthError,
    UnknownColumnError,
    WorkerDiedError,
)
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json


@given(st.integers(0, 50), st.integers(1, 9), st.booleans())
def test_even_lists_cover_the_rows(rows: int, size: int, drop_last: bool) -> None:
    starts = even_starts(rows, size, drop_last).tolist()
    lengths = [stop - start for start, stop in itertools.pairwise(starts)]

    assert all(length == size for length in lengths[:-1])
    assert sum(lengths) == (rows // size * size if drop_last else rows)


@given(st.lists(st.sampled_from([None, 0, 1]), max_size=30))
def test_runs_are_those_of_groupby(values: list[Any]) -> None:
    rows = Dataset.from_dict(
        {"a": values, "b": range(len(values))}, features=Features({"a": Value("int8"), "b": Value("int64")})
    )

    found = rows.batch(by_column="a")

    assert found["a"][:] == [list(group) for _, group in itertools.groupby(values)]
    assert [number for numbers in found["b"][:] for number in numbers] == list(range(len(values)))


@pytest.mark.parametrize("values", [["x", "x", "y"], [[1], [1], [2]], [{"k": 1}, {"k": 1}, {"k": 2}], [1.0, 1.0, float("nan")]])
def test_values_of_any_kind_are_compared(values: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_BLOCK_ROWS", 1)
    rows = Dataset.from_dict({"a": values})

    assert run_starts(rows, ["a"]).tolist() == [0, 2, 3]


# Masks of any kind, and the file of an index: whole, of the same rows, or not there.


@pytest.mark.parametrize(
    "mask",
    [
        [True, False, True],
        (1, 0, "x"),
        [np.True_, None, 2.5],
        np.array([1, 0, 1]),
        np.array([True, False, True]),
        pa.array([True, None, True]),
        pa.chunked_array([[True], [False, True]]),
        [pa.scalar(True), pa.scalar(False), pa.scalar(True)],
    ],
)
def test_every_kind_of_mask_is_understood(mask: Any) -> None:
    assert mask_of(mask, 3).tolist() == [True, False, True]


@pytest.mark.parametrize(("mask", "error"), [([True], MaskLengthError), (True, ArgumentTypeError), ("abc", ArgumentTypeError)])
def test_what_is_no_mask_is_refused(mask: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        mask_of(mask, 3)


def test_an_index_is_read_for_the_rows_it_was_made_of(tmp_path: Path) -> None:
    path, place = str(tmp_path / "x" / "index.arrow"), Place("ab", None, None, 0, True)
    for rows in ([], [0, 3, 4]):
        write_index(path, place, np.array(rows, np.int64), 5)

        found = read_index(path, place, 5)

        assert found is not None
        assert found.tolist() == rows
    assert read_index(path, place, 6) is None
    assert read_index(path, Place("cd", None, None, 0, True), 5) is None
    assert read_index(path, Place("ab", None, None, 0, False), 5) is None
    Path(path).write_bytes(b"ARROW1 cut")
    assert read_index(path, place, 5) is None


@pytest.mark.parametrize("rows", [[0, 3, 5], [3, 1, 4], [-1, 3]])
def test_an_index_that_names_no_rows_is_not_read(tmp_path: Path, rows: list[int]) -> None:
    path, place = str(tmp_path / "index.arrow"), Place("ab", None, None, 0, True)
    write_index(path, place, np.array(rows, np.int64), 5)

    assert read_index(path, place, 5) is None


@pytest.mark.parametrize("kind", [None, "numpy", "arrow", "pandas", "polars"])
@pytest.mark.parametrize("num_proc", [None, 2])
def test_rows_in_every_format_are_judged(kind: str | None, num_proc: int | None) -> None:
    if kind in ("pandas", "polars"):
        pytest.importorskip(kind)
    rows = Dataset.from_dict({"a": list(range(100))}).with_format(kind)

    def keeps(row: Any) -> Any:
        value = row["a"]
        return (value[0].as_py() if isinstance(row, pa.Table) else value) > 90

    engine = "threads" if num_proc else None

    assert rows.filter(keeps, num_proc=num_proc, engine=engine).with_format(None)["a"][:] == list(range(91, 100))


# Functions over rows: results as users of `datasets` know them, the same for any num_proc, kept and found again.


def small() -> Dataset:
    """Three rows in memory."""
    return Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [[1], [2, 3], []]})


def built(tmp_path: Path, rows: int = 1000) -> Dataset:
    """Rows in files."""

    def numbers(n: int) -> Iterator[dict[str, Any]]:
        for i in range(n):
            yield {"a": i, "t": f"row {i}"}

    return Dataset.from_generator(numbers, gen_kwargs={"n": rows}, cache_dir=str(tmp_path))


def litter(folder: Path) -> list[str]:
    """What unfinished work would leave."""
    marks = (".incomplete-", ".tmp-", "cache-")
    return [path.name for path in folder.rglob("*") if any(mark in path.name for mark in marks)]


def changed(row: dict[str, Any]) -> dict[str, Any]:
    row["a"] += 10
    return {"n": 1}


def grown(row: dict[str, Any]) -> dict[str, Any]:
    row["c"].append(9)
    return row


def renamed(row: dict[str, Any]) -> dict[str, Any]:
    row["a2"] = row.pop("a")
    return row


def doubled(batch: dict[str, Any]) -> dict[str, Any]:
    batch["a"][0] = 100
    return {"n": [0] * len(batch["a"])}


ALL = ["a", "b", "c"]
SAME: dict[str, Any] = {"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [[1], [2, 3], []]}
BY_TWO: dict[str, Any] = {"batched": True, "batch_size": 2}
NUMBERED: dict[str, Any] = {"with_indices": True, "with_rank": True, "remove_columns": ["a", "b"]}


@pytest.mark.parametrize(
    ("function", "options", "expected"),
    [
        (lambda row: {"n": row["a"] * 2}, {}, {**SAME, "n": [2, 4, 6]}),
        (changed, {}, {**SAME, "a": [11, 12, 13], "n": [1, 1, 1]}),
        (grown, {}, {**SAME, "c": [[1, 9], [2, 3, 9], [9]]}),
        (renamed, {}, {"b": ["x", "y", "z"], "c": [[1], [2, 3], []], "a2": [1, 2, 3]}),
        (lambda row: {"q": 0, "a": -row["a"]}, {"remove_columns": ALL}, {"a": [-1, -2, -3], "q": [0, 0, 0]}),
        (lambda row: row, {"remove_columns": "a"}, {"b": ["x", "y", "z"], "c": [[1], [2, 3], []]}),
        (lambda a, b: {"c": f"{a}{b}"}, {"input_columns": ["a", "b"]}, {**SAME, "c": ["1x", "2y", "3z"]}),
        (lambda row, i, r: {"c": [i, r]}, NUMBERED, {"c": [[0, None], [1, None], [2, None]]}),
        (lambda row, k: {"c": k}, {"fn_kwargs": {"k": 7}, "remove_columns": ["a", "b"]}, {"c": [7, 7, 7]}),
        (doubled, {"batched": True}, {**SAME, "a": [100, 2, 3], "n": [0, 0, 0]}),
        (lambda b: {"n": [len(b["a"])] * 2}, {**BY_TWO, "remove_columns": ALL}, {"n": [2, 2, 1, 1]}),
        (lambda b: {"n": [len(b["a"])] * 3}, {**BY_TWO, "batch_size": None, "remove_columns": ALL}, {"n": [3, 3, 3]}),
        (
            lambda b: {"n": b["a"]},
            {**BY_TWO, "drop_last_batch": True, "remove_columns": ["b", "c"]},
            {"a": [1, 2], "n": [1, 2]},
        ),
        (lambda b: pa.table({"n": [5]}), {"batched": True}, {"n": [5]}),
        (lambda b: {"n": np.arange(3, dtype="int16")}, {"batched": True, "remove_columns": ALL}, {"n": [0, 1, 2]}),
        (lambda row: None if row["a"] == 2 else {"a": 0}, {"remove_columns": ["b", "c"]}, {"a": [0, 2, 0]}),
        (None, {}, SAME),
    ],
)
def test_map_gives_what_users_expect(function: Any, options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert small().map(function, **options)[:] == expected
    assert list(small().map(function, **options).features) == list(expected)


def test_coroutines_are_waited_for_side_by_side() -> None:
    async def row(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": row["a"]}

    async def batch(batch: dict[str, Any]) -> dict[str, Any]:
        return {"n": batch["a"]}

    async def keep(row: dict[str, Any]) -> bool:
        return bool(row["a"] > 1)

    assert small().map(row)["n"][:] == small().map(batch, batched=True, batch_size=1)["n"][:] == [1, 2, 3]
    assert small().filter(keep)["a"][:] == [2, 3]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, None, "s"], Value("string")),
        ([[], [], [1]], List(Value("int64"))),
        ([1, 2, 2.5], Value("float64")),
        ([1, "s", None], Json()),
        ([{"k": 1}, {"k": "s"}, None], {"k": Json()}),
        ([{"k": 1}, {"k": "s"}, {}], Json()),
        ([{"k": 1}, {"l": 2}, None], Json()),
        ([np.float32(1), np.float32(2), None], Value("float32")),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_types_hold_the_values_of_all_batches(values: list[Any], kind: Any, batch_size: int) -> None:
    mapped = small().map(
        lambda batch, at: {"n": [values[i] for i in at]}, with_indices=True, batched=True, batch_size=batch_size
    )

    assert mapped.features["n"] == kind
    assert mapped["n"][:] == values


def test_columns_keep_their_type_where_the_values_fit() -> None:
    kinds = Features({"l": ClassLabel(names=["n", "m"]), "i": Value("int8"), "t": Value("string")})
    rows = Dataset.from_dict({"l": [0, 1], "i": [1, 2], "t": ["p", "q"]}, features=kinds)

    assert rows.map(lambda row: {"l": "m", "i": 3.0}).features == kinds
    assert rows.map(lambda row: {"i": 1000, "t": 5}).features == {**kinds, "i": Value("int64"), "t": Value("int64")}
    assert rows.map(lambda row: {"i": 1}, try_original_type=False).features["i"] == Value("int64")
    with pytest.raises(CastError, match=r"row 0, column 'l': Unknown class 'z'"):
        rows.map(lambda row: {"l": "z"})


def test_given_features_decide_columns_order_and_types() -> None:
    asked = Features({"n": Value("int8"), "m": Value("string"), "a": Value("int16")})

    mapped = small().map(lambda row: {"n": 1}, features=asked, remove_columns=["b", "c"])

    assert (mapped.features, mapped[0]) == (asked, {"n": 1, "m": None, "a": 1})
    with pytest.raises(CastError, match="has a column 'b', which is not in the features"):
        small().map(lambda row: {"n": 1}, features=asked)
    with pytest.raises(CastError, match="disable_nullable"):
        small().map(lambda row: {"n": None}, disable_nullable=True)


def test_functions_get_rows_in_the_format_and_results_keep_it() -> None:
    arrays = small().with_format("numpy", columns=["a"])

    mapped = arrays.map(lambda row: {"n": type(row["a"]).__name__, "seen": sorted(row)})

    assert mapped.with_format(None)["n"][:] == ["int64"] * 3
    assert mapped.with_format(None)["seen"][0] == ["a", "b", "c"]
    assert (mapped.format["type"], mapped.format["columns"]) == ("numpy", ["a", "n", "seen"])
    tables = small().with_format("arrow").map(lambda table: table.append_column("n", pa.array([1, 2, 3])), batched=True)
    assert tables.with_format(None)["n"][:] == [1, 2, 3]


@pytest.mark.parametrize("num_proc", [2, 7])
def test_the_result_is_the_same_for_any_number_of_processes(tmp_path: Path, num_proc: int) -> None:
    rows = built(tmp_path, 5)

    def odd(batch: dict[str, Any], at: list[int]) -> dict[str, Any]:
        return {"n": [None if i < 3 else f"{i} of {len(at)}" for i in at]}

    options: dict[str, Any] = {"with_indices": True, "batched": True, "batch_size": 2, "load_from_cache_file": False}
    one, many = rows.map(odd, **options), rows.map(odd, num_proc=num_proc, **options)

    assert (one[:], one.features, one._fingerprint) == (many[:], many.features, many._fingerprint)


def test_threads_run_functions_that_say_so(tmp_path: Path) -> None:
    rows = built(tmp_path, 100)

    mapped = rows.map(lambda row, rank: {"pid": os.getpid(), "rank": rank}, with_rank=True, num_proc=2, engine="threads")

    assert set(mapped["pid"][:]) == {os.getpid()}
    assert mapped["rank"][:] == [0] * 50 + [1] * 50


def test_a_result_is_found_again_beside_its_rows_wherever_they_are_moved(tmp_path: Path) -> None:
    rows, log = built(tmp_path / "one"), tmp_path / "log"

    def logged(row: dict[str, Any], log: str = str(log)) -> dict[str, Any]:
        with open(log, "a") as out:
            out.write("x")
        return {"n": row["a"]}

    def made(rows: Dataset, **options: Any) -> int:
        log.write_text("")
        mapped = rows.select(range(3)).map(logged, **options).map(logged)
        assert mapped["n"][:] == [0, 1, 2]
        return len(log.read_text())

    assert [made(rows), made(rows), made(rows, num_proc=1, writer_batch_size=3)] == [6, 0, 0]
    assert made(rows, load_from_cache_file=False) == 6  # what stands beside columns goes with their very files
    with config.using(caching=False):
        assert made(rows) == 6
    shutil.move(tmp_path / "one", tmp_path / "two")
    assert made(built(tmp_path / "two")) == 0
    home = Path(built(tmp_path / "two").cache_files[0]["filename"]).parent
    assert len([name for name in os.listdir(home) if name.startswith("cache-")]) == 2


def test_a_filter_is_found_again_and_writes_no_rows(tmp_path: Path) -> None:
    rows, log = built(tmp_path), tmp_path / "log"

    def logged(row: dict[str, Any], log: str = str(log)) -> bool:
        with open(log, "a") as out:
            out.write("x")
        return bool(row["a"] % 2)

    kept = [rows.filter(logged, num_proc=n)["a"][:] for n in (None, 2)]

    assert kept == [list(range(1, 1000, 2))] * 2
    assert len(log.read_text()) == 1000
    assert rows.filter(logged).cache_files == rows.cache_files


def test_cleaning_up_keeps_what_is_in_use(tmp_path: Path) -> None:
    rows = built(tmp_path)
    mapped = rows.map(lambda row: {"n": 1})
    rows.map(lambda row: {"n": 2})
    rows.filter(lambda row: row["a"] == 2)

    assert mapped.cleanup_cache_files() == 2
    assert (mapped[5]["n"], rows[5]["a"]) == (1, 5)
    assert rows.cleanup_cache_files() == 1


def test_what_cannot_be_hashed_is_named_once_and_made_anew(tmp_path: Path) -> None:
    rows, generator = built(tmp_path, 3), (number for number in range(100))

    with pytest.warns(UserWarning, match="generator differs in every process") as told:
        first = rows.map(lambda row: {"n": next(generator)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = rows.map(lambda row: {"n": next(generator)})

    assert (len(told), first["n"][:], second["n"][:]) == (1, [0, 1, 2], [3, 4, 5])


def test_results_of_rows_in_memory_stay_there_until_they_are_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.dataset.results.MEMORY_BYTES", 4000)
    monkeypatch.setattr("datasets_core.dataset.results.WAITING_BYTES", 1000)
    rows = Dataset.from_dict({"a": list(range(400))})
    with config.using(cache_dir=str(tmp_path)):
        little = rows.map(lambda row: {"a": row["a"] + 1})
        large = rows.map(lambda row: {"b": "x" * 100})
        again = rows.map(lambda row: {"b": "x" * 100})
        held = rows.map(lambda row: {"b": "x" * 100}, keep_in_memory=True)

    assert (little.cache_files, held.cache_files) == ([], [])
    assert large.cache_files == again.cache_files != []
    assert large.cache_files[0]["filename"].startswith(str(tmp_path / "transforms"))
    assert large[:] == held[:]


def test_a_named_file_holds_the_result_of_its_own_function_only(tmp_path: Path) -> None:
    path = str(tmp_path / "x" / "mapped.arrow")

    first = small().map(lambda row: {"n": 1}, cache_file_name=path)
    second = small().map(lambda row: {"n": 2}, cache_file_name=path)

    assert (first["n"][:], second["n"][:]) == ([1] * 3, [2] * 3)
    assert os.listdir(tmp_path / "x") == ["mapped.arrow"]
    with pytest.raises(ConfigurationError, match="mutually exclusive"):
        small().map(lambda row: row, cache_file_name=path, keep_in_memory=True)


class _OwnError(Exception):
    pass


@pytest.mark.parametrize("num_proc", [None, 2])
def test_an_error_is_the_users_own_and_names_the_row(tmp_path: Path, num_proc: int | None) -> None:
    rows = built(tmp_path)

    def bad(row: dict[str, Any]) -> dict[str, Any]:
        if row["a"] == 777:
            raise ValueError("no sevens")
        return {"n": 1}

    with pytest.raises(ValueError, match="no sevens") as failure:
        rows.map(bad, num_proc=num_proc)

    told = "\n".join(failure.value.__notes__)
    assert re.search(r"map\(\) called .*bad on row 777 of split 'train'", told)
    assert litter(tmp_path) == []
    assert rows.map(lambda row: {"n": 1}, num_proc=num_proc)["n"][777] == 1


def test_a_killed_worker_is_one_error_that_names_the_rows(tmp_path: Path) -> None:
    rows = built(tmp_path)

    def deadly(row: dict[str, Any]) -> dict[str, Any]:
        if row["a"] == 777:
            os.kill(os.getpid(), 9)
        return {"n": 1}

    with pytest.raises(WorkerDiedError, match=r"map\(\) on rows 500 to 999 ended without a result"):
        rows.map(deadly, num_proc=2)

    assert litter(tmp_path) == []


class _Counts:
    """Runs jobs here, and dies with this process behind some of them."""

    shares_memory = True

    def __init__(self, dies_behind: int | None = None) -> None:
        self.dies_behind, self.num_jobs = dies_behind, 0

    def run(self, function: Any, jobs: Any, **options: Any) -> Iterator[tuple[int, Any]]:
        for index, job in enumerate(jobs):
            if index == self.dies_behind:
                os.kill(os.getpid(), 9)
            self.num_jobs += 1
            yield index, function(job)


def test_a_map_whose_process_was_killed_takes_over_finished_parts(tmp_path: Path) -> None:
    rows = built(tmp_path)

    def double(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": row["a"] * 2, "text": str(row["a"])}

    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            rows.map(double, num_proc=5, engine=_Counts(3))
        os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    counts = _Counts()
    made = rows.map(double, num_proc=5, engine=counts)
    assert counts.num_jobs == 2
    assert made["n"] == [2 * number for number in rows["a"]] and made["text"] == list(map(str, rows["a"]))
    assert not [path for path in tmp_path.rglob("*") if "part-" in path.name or "incomplete" in path.name]


@pytest.mark.parametrize("error", [KeyboardInterrupt, _OwnError])
def test_an_interrupted_map_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    rows = built(tmp_path)

    def stopped(row: dict[str, Any]) -> dict[str, Any]:
        if row["a"] == 500:
            raise error
        return {"n": 1}

    with pytest.raises(error):
        rows.map(stopped)

    assert litter(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes")
def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    import resource

    rows = built(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(DatasetDiskError, match="Cannot write"):
            rows.map(lambda row: {"n": "x" * 1000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert litter(tmp_path) == []
    assert rows.map(lambda row: {"n": "x" * 1000})["n"][999] == "x" * 1000


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (UnknownColumnError, lambda rows: rows.map(len, input_columns="z")),
        (UnknownColumnError, lambda rows: rows.map(len, remove_columns=["a", "z"])),
        (ArgumentTypeError, lambda rows: rows.map("len")),
        (ArgumentTypeError, lambda rows: rows.map(lambda row: [1])),
        (ArgumentTypeError, lambda rows: rows.map(lambda batch: {"n": 5}, batched=True)),
        (CastError, lambda rows: rows.map(lambda batch: {"n": [1]}, batched=True)),
        (CastError, lambda rows: rows.map(lambda row, i: {"n": "s" if i else 1}, with_indices=True, on_mixed_types=None)),
        (ConfigurationError, lambda rows: rows.map(len, num_proc=-1)),
        (ConfigurationError, lambda rows: rows.map(len, on_mixed_types="json")),
        (RuntimeError, lambda rows: rows.map(lambda row: next(iter([])))),
        (MaskLengthError, lambda rows: rows.filter(lambda batch: [True], batched=True)),
        (ConfigurationError, lambda rows: rows.batch()),
    ],
)
def test_what_has_no_meaning_is_refused(error: type[Exception], act: Any) -> None:
    with pytest.raises(error):
        act(small())


def test_rows_are_put_together() -> None:
    rows = Dataset.from_dict({"a": [1, 1, 2, None, None], "b": list("xyzvw")})

    assert rows.batch(2)[:] == {"a": [[1, 1], [2, None], [None]], "b": [["x", "y"], ["z", "v"], ["w"]]}
    assert rows.batch(2, drop_last_batch=True).num_rows == 2
    assert rows.batch(by_column="a")["b"][:] == [["x", "y"], ["z"], ["v", "w"]]
    assert rows.batch(2).features == {"a": List(Value("int64")), "b": List(Value("string"))}


def test_without_rows_no_function_is_called() -> None:
    empty = small().select([])

    assert empty.map(lambda row: 1 / 0, remove_columns="a").column_names == ["b", "c"]
    assert empty.filter(lambda row: 1 / 0).num_rows == 0
    assert small().map(lambda row: None).num_rows == 3


@hypothesis_settings(max_examples=30)
@given(st.lists(st.integers(-5, 5), max_size=30), st.integers(1, 7), st.data())
def test_chains_equal_the_same_on_lists(values: list[int], size: int, data: st.DataObject) -> None:
    rows, model = Dataset.from_dict({"a": values}, features=Features({"a": Value("int64")})), list(values)
    for _ in range(3):
        match data.draw(st.sampled_from(["map", "batched", "filter", "filter batched", "select"])):
            case "map":
                rows, model = rows.map(lambda row: {"a": row["a"] + 1}), [a + 1 for a in model]
            case "batched":
                rows = rows.map(lambda batch: {"a": [a * 2 for a in batch["a"]]}, batched=True, batch_size=size)
                model = [a * 2 for a in model]
            case "filter":
                rows, model = rows.filter(lambda row: row["a"] % 2 == 0), [a for a in model if a % 2 == 0]
            case "filter batched":
                rows = rows.filter(lambda batch: [a > 0 for a in batch["a"]], batched=True, batch_size=size)
                model = [a for a in model if a > 0]
            case _:
                rows, model = rows.select(range(len(rows))[::-1]), model[::-1]
    assert rows["a"][:] == model


@pytest.mark.parametrize("verb", ["map", "filter"])
def test_what_a_function_closes_over_counts_as_it_was_when_it_was_called(verb: str) -> None:
    held = np.array([1])

    def read(row: dict[str, int]) -> bool | dict[str, bool]:
        is_less = row["a"] <= held[0]
        return {"d": is_less} if verb == "map" else is_less

    first = getattr(small(), verb)(read, keep_in_memory=True)
    held[0] = 3
    assert first._fingerprint != getattr(small(), verb)(read, keep_in_memory=True)._fingerprint


@pytest.mark.parametrize("verb", ["map", "filter"])
def test_an_engine_that_is_none_is_refused_for_few_rows_too(verb: str) -> None:
    with pytest.raises(ConfigurationError, match="thread"):
        getattr(small(), verb)(lambda row: None, engine="thread")


def test_columns_that_only_the_features_name_are_as_long_as_the_others() -> None:
    kinds = Features({"a": Value("int64"), "z": Value("float32")})

    twice = Dataset.from_dict({"a": [1, 2]}).map(lambda batch: {"a": batch["a"] * 2}, batched=True, features=kinds)

    assert twice[:] == {"a": [1, 2, 1, 2], "z": [None] * 4}


def test_arguments_are_checked_for_no_rows_too() -> None:
    for rows in (Dataset.from_dict({"a": []}), Dataset.from_dict({"a": [1]})):
        with pytest.raises(ArgumentTypeError, match="takes a function"):
            rows.map(5)  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="fn_kwargs=5"):
            rows.map(lambda row: row, fn_kwargs=5)  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match="num_proc=-1"):
            rows.batch(2, num_proc=-1)


def test_a_batched_function_that_raises_stop_iteration_ends_no_rows() -> None:
    def ends(rows: Any) -> Any:
        raise StopIteration

    for made in (Dataset.from_dict({"a": [1]}).map, Dataset.from_dict({"a": [1]}).filter):
        with pytest.raises(RuntimeError, match="StopIteration"):
            made(ends, batched=True)


def test_the_number_of_parts_decides_where_the_function_takes_its_rank() -> None:
    rows = Dataset.from_dict({"a": list(range(10))})

    def prints(**options: Any) -> tuple[str, str]:
        mapped = rows.map(lambda row, *rank: {"rank": list(rank)}, engine="threads", **options)
        return mapped._fingerprint, rows.filter(lambda row, *rank: True, engine="threads", **options)._fingerprint

    alone, two, three = (prints(with_rank=True, num_proc=count) for count in (1, 2, 3))
    assert len({alone[0], two[0], three[0]}) == len({alone[1], two[1], three[1]}) == 3
    assert prints(num_proc=2) == prints(num_proc=3)
