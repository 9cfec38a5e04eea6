"""Verbs of tables (head, sample, filter by an expression, group, join, ...) give the rows that plain Python gives."""

from __future__ import annotations

import datetime as dt
import errno
import os
import pickle
import statistics
import subprocess
import sys
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import Array2D, ClassLabel, Dataset, DatasetDict, Features, Image, List, Value, config
from datasets_core.dataset import relational
from datasets_core.dataset.relational import SortKeys, sorted_rows
from datasets_core.errors import ArgumentTypeError, ConfigurationError, DatasetDiskError, UnknownColumnError
from datasets_core.store.table import RowTable


def _numbered(count: int) -> Dataset:
    return Dataset.from_dict({"n": list(range(count)), "t": [f"t{i}" for i in range(count)]})


def test_head_and_tail_are_the_first_and_last_rows_also_of_fewer() -> None:
    rows = _numbered(8).select(range(7, -1, -1))
    assert rows.head()["n"][:] == [7, 6, 5, 4, 3]
    assert rows.tail(2)["n"][:] == [1, 0]
    assert rows.head(99)["n"][:] == rows.tail(99)["n"][:] == rows["n"][:]
    assert rows.tail(0).num_rows == rows.head(0).num_rows == 0
    with pytest.raises(ConfigurationError):
        rows.tail(-1)


def test_a_sample_is_of_distinct_rows_unless_it_may_replace_and_repeats_with_its_seed() -> None:
    rows = _numbered(50)
    drawn = rows.sample(20, seed=3)["n"][:]
    assert len(set(drawn)) == 20 and drawn != sorted(drawn) and set(drawn) <= set(range(50))
    assert rows.sample(20, seed=3)["n"][:] == drawn != rows.sample(20, seed=4)["n"][:]
    assert rows.sample(20, generator=np.random.default_rng(3))["n"][:] == drawn
    assert rows.sample(fraction=0.1).num_rows == 5
    assert rows.sample().num_rows == 1
    assert len(set(rows.sample(200, replace=True, seed=1)["n"][:])) < 200
    assert rows.select([]).sample(0).num_rows == 0
    assert rows.sample(20, seed=3)._fingerprint == rows.sample(20, seed=3)._fingerprint != rows.sample(20, seed=4)._fingerprint


@pytest.mark.parametrize(
    "options",
    [{"n": 51}, {"n": -1}, {"n": 1, "fraction": 0.5}, {"fraction": -0.1}, {"fraction": 1.1}, {"seed": 1, "generator": 2}],
)
def test_a_sample_of_an_impossible_size_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        _numbered(50).sample(**options)  # type: ignore[arg-type]


def test_a_list_of_names_is_a_dataset_of_these_columns() -> None:
    rows = _numbered(3).add_column("u", [1.0, 2.0, 3.0]).select([2, 0])
    assert rows[["u", "n"]][:] == {"u": [3.0, 1.0], "n": [2, 0]}
    assert rows[["u", "n"]]._fingerprint == rows.select_columns(["u", "n"])._fingerprint
    with pytest.raises(UnknownColumnError):
        rows[["u", "x"]]
    assert rows[[]] == {"n": [], "t": [], "u": []}  # no rows


def test_a_notebook_completes_the_names_of_columns() -> None:
    assert _numbered(1)._ipython_key_completions_() == ["n", "t"]


# Arrow expressions.


def _saved(dataset: Dataset, folder: Path) -> Dataset:
    dataset.save_to_disk(folder)
    return Dataset.load_from_disk(folder)


MIXED: dict[str, list[Any]] = {
    "a": [3, None, 1, 5, 3, None, 2, 8],
    "b": ["x", "y", None, "x", "z", "y", "x", "y"],
    "c": [0.5, 1.5, None, 2.5, -1.0, 0.0, 3.0, 9.0],
}


@pytest.fixture(params=["memory", "disk", "index", "parquet"])
def mixed(request: pytest.FixtureRequest, tmp_path: Path) -> Dataset:
    rows = Dataset.from_dict(MIXED)
    if request.param == "disk":
        return _saved(rows, tmp_path / "d")
    if request.param == "index":
        twice = {name: [None, *values[::-1], values[0]] for name, values in MIXED.items()}
        return Dataset.from_dict(twice).select(range(8, 0, -1))
    if request.param == "parquet":
        rows.to_parquet(tmp_path / "a.parquet", batch_size=3)
        return Dataset.from_file(tmp_path / "a.parquet")
    return rows


def test_an_expression_keeps_the_rows_for_which_it_is_true(mixed: Dataset) -> None:
    kept = mixed.filter((pc.field("a") > 2) & (pc.field("b") == "x"))
    assert kept[:] == {"a": [3, 5], "b": ["x", "x"], "c": [0.5, 2.5]}
    assert mixed.filter(pc.is_null(pc.field("a")))["b"][:] == ["y", "y"]
    assert mixed.filter(pc.field("a") > 99).num_rows == 0
    assert kept.filter(pc.field("c") > 1)["a"][:] == [5]
    assert mixed.filter(pc.scalar(True)).num_rows == 8


def test_the_rows_of_an_expression_are_cached_under_what_it_says(tmp_path: Path) -> None:
    rows = _saved(_numbered(20), tmp_path / "d")
    before = set(os.listdir(tmp_path / "d"))
    found = rows.filter(pc.field("n") > 10)
    (made,) = set(os.listdir(tmp_path / "d")) - before
    assert found._fingerprint in made
    assert rows.filter(pc.field("n") > 10)._fingerprint == found._fingerprint != rows.filter(pc.field("n") > 11)._fingerprint
    told = os.stat(tmp_path / "d" / made).st_mtime_ns
    assert rows.filter(pc.field("n") > 10)["n"][:] == list(range(11, 20))
    assert os.stat(tmp_path / "d" / made).st_mtime_ns == told
    code = "import pyarrow.compute as pc, sys; from datasets_core import Dataset; "
    code += "print(Dataset.load_from_disk(sys.argv[1]).filter(pc.field('n') > 10)._fingerprint)"
    other = subprocess.run([sys.executable, "-c", code, tmp_path / "d"], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == found._fingerprint


def test_expressions_that_have_no_value_are_refused(mixed: Dataset) -> None:
    with pytest.raises(UnknownColumnError) as unknown:
        mixed.filter(pc.field("zz") > 3)
    assert unknown.value.name == "zz"
    for expression in (pc.field("a") > "x", pc.field("a") / 0 > 1, pc.field("a"), pc.field("b", "c") == 1):
        with pytest.raises(ConfigurationError):
            mixed.filter(expression)
    with pytest.raises(ConfigurationError):
        mixed.filter(pc.field("a") > 1, with_indices=True)


def test_a_dictionary_of_splits_is_filtered_by_an_expression() -> None:
    splits = DatasetDict({"train": _numbered(4), "test": _numbered(2)})
    assert splits.filter(pc.field("n") >= 1).num_rows == {"train": 3, "test": 1}


def test_a_stream_is_filtered_by_an_expression_and_resumes_exactly() -> None:
    stream = Dataset.from_dict({"n": list(range(5000)), "t": ["x", None] * 2500}).to_iterable_dataset()
    kept = stream.filter((pc.field("n") > 2000) & pc.is_valid(pc.field("t")), batch_size=64)
    wanted = [{"n": n, "t": "x"} for n in range(2002, 5000, 2)]
    assert list(kept) == wanted == list(pickle.loads(pickle.dumps(kept)))
    rows = iter(kept)
    assert [next(rows) for _ in range(100)] == wanted[:100]
    again = stream.filter((pc.field("n") > 2000) & pc.is_valid(pc.field("t")), batch_size=64)
    again.load_state_dict(kept.state_dict())
    assert list(again) == wanted[100:]
    assert list(kept.map(lambda row: {"n": row["n"] + 1}).take(1)) == [{"n": 2003, "t": "x"}]  # rows are dicts as before
    with pytest.raises(UnknownColumnError):
        list(stream.filter(pc.field("x") > 1))
    for expression in (pc.field("n"), pc.field("n") > "x"):
        with pytest.raises(ConfigurationError):
            list(stream.filter(expression))
    with pytest.raises(ConfigurationError):
        stream.filter(pc.field("n") > 1, with_indices=True)


def test_splits_get_columns_and_lose_duplicates() -> None:
    splits = DatasetDict({"train": Dataset.from_dict({"a": [1, 1, 2]}), "test": Dataset.from_dict({"a": [1]})})
    made = splits.with_columns(b=pc.field("a") + 1).drop_duplicates("a")
    assert {split: rows[:] for split, rows in made.items()} == {
        "train": {"a": [1, 2], "b": [2, 3]},
        "test": {"a": [1], "b": [2]},
    }


def test_columns_are_computed_of_the_columns_as_they_were(mixed: Dataset) -> None:
    made = mixed.with_columns({"a b": pc.field("a") * 2}, b=pc.utf8_upper(pc.field("b")), c=pc.field("a"), one=pc.scalar(1))
    assert made[:] == {
        "a": MIXED["a"],
        "b": [value and value.upper() for value in MIXED["b"]],
        "c": MIXED["a"],
        "a b": [value and value * 2 for value in MIXED["a"]],
        "one": [1] * 8,
    }
    assert made.column_names == ["a", "b", "c", "a b", "one"]
    assert made.features["c"] == Value("int64")
    assert mixed.with_columns()[:] == mixed[:]


def test_a_column_of_an_expression_is_computed_for_the_rows_that_are_shown() -> None:
    rows = Dataset.from_dict({"a": [0, 1, 2, 0, 4]})
    with pytest.raises(ConfigurationError):
        rows.with_columns(b=pc.divide_checked(pc.scalar(4), pc.field("a")))
    for numbers in ([4, 2, 1], [2], [1, 1, 4, 2, 1]):
        shown = rows.select(numbers).with_columns(b=pc.divide_checked(pc.scalar(4), pc.field("a")))
        assert shown["b"][:] == [4 // number for number in shown["a"][:]]


def test_computed_columns_are_cached_and_others_stay_in_their_files(tmp_path: Path) -> None:
    rows = _saved(_numbered(20), tmp_path / "d")
    before = set(os.listdir(tmp_path / "d"))
    made = rows.with_columns(m=pc.field("n") + 1)
    (folder,) = set(os.listdir(tmp_path / "d")) - before
    assert rows.with_columns(m=pc.field("n") + 1)._fingerprint == made._fingerprint
    assert set(os.listdir(tmp_path / "d")) - before == {folder}
    assert made.data.table.schema.names == ["n", "t", "m"] and made[3] == {"n": 3, "t": "t3", "m": 4}
    assert {os.path.dirname(file["filename"]) for file in made.cache_files} == {
        str(tmp_path / "d"),
        str(tmp_path / "d" / folder),
    }


def test_a_value_that_is_no_expression_is_no_column() -> None:
    with pytest.raises(ArgumentTypeError):
        _numbered(3).with_columns(m=[1, 2, 3])  # type: ignore[arg-type]
    with pytest.raises(UnknownColumnError):
        _numbered(3).with_columns(m=pc.field("x") + 1)


def test_numbers_are_not_narrowed_to_float32_unless_asked_for() -> None:
    rows = Dataset.from_dict({"a": [3800, 16777217], "f": pa.array([1.5, 2.5], pa.float32())})
    for expression in (pc.field("a") / 1000.0, pc.field("a") + 1.0):
        with pytest.raises(ConfigurationError):
            rows.with_columns(m=expression)
    with pytest.raises(ConfigurationError, match="cast"):
        rows.filter(pc.field("a") > 1000.0)
    assert rows.with_columns(m=pc.field("a").cast("float64") / 1000)["m"][0] == 3.8
    assert rows.with_columns(m=pc.field("a").cast("float32", safe=False))["m"][0] == 3800
    assert rows.with_columns(m=pc.field("f") * 2)["m"][:] == [3.0, 5.0]


def test_computed_columns_come_out_in_a_format_of_some_columns() -> None:
    shown = _numbered(2).with_format("numpy", columns=["n"]).with_columns(m=pc.field("n") * 2)
    assert {name: values.tolist() for name, values in shown[:].items()} == {"n": [0, 1], "m": [0, 2]}


# Groups.


def _groups(columns: dict[str, list[Any]], keys: list[str]) -> dict[tuple[Any, ...], list[int]]:
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(zip(*(columns[name] for name in keys), strict=True)):
        groups.setdefault(key, []).append(row)
    return groups


def test_groups_come_in_the_order_of_their_first_rows(mixed: Dataset) -> None:
    found = mixed.group_by("b").agg(
        {"a": ["sum", "min", "count", "list", "first", "n_unique"]}, rows="count", mean=("c", "mean"), last=("c", "last")
    )
    assert found[:] == {
        "b": ["x", "y", None, "z"],
        "a_sum": [10, 8, 1, 3],
        "a_min": [2, 8, 1, 3],
        "a_count": [3, 1, 1, 1],
        "a_list": [[3, 5, 2], [None, None, 8], [1], [3]],
        "a_first": [3, 8, 1, 3],
        "a_n_unique": [3, 1, 1, 1],
        "rows": [3, 3, 1, 1],
        "mean": [2.0, 3.5, None, -1.0],
        "last": [3.0, 9.0, None, -1.0],
    }
    assert found.split is None


def test_spread_is_that_of_a_sample() -> None:
    found = Dataset.from_dict({"k": [1, 1, 1, 2], "v": [1.0, 2.0, 6.0, 5.0]}).group_by("k").agg({"v": ["std", "var"]})
    assert found["v_var"][:] == [7.0, None]
    assert found["v_std"][0] == statistics.stdev([1, 2, 6])


VALUES = st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from("ab"), st.integers(-5, 5)), max_size=40)


@given(rows=VALUES, keys=st.sampled_from([["a"], ["b"], ["b", "a"]]), limit=st.sampled_from([1, 300, 1 << 20]))
def test_groups_are_those_of_python_also_beyond_the_memory(rows: list[tuple[Any, ...]], keys: list[str], limit: int) -> None:
    columns: dict[str, list[Any]] = {name: [row[k] for row in rows] for k, name in enumerate("abv")}
    schema = pa.schema({"a": pa.int64(), "b": pa.string(), "v": pa.int64()})
    dataset = Dataset(pa.table(columns, schema=schema))
    with config.using(sort_bytes=limit):
        found = dataset.group_by(keys).agg(n="count", total=("v", "sum"), all=("v", "list"))
        counts = dataset.value_counts(keys, sort=False, name="n")
        kept = {keep: dataset.drop_duplicates(keys, keep=keep)["v"][:] for keep in ("first", "last", False)}
    groups = _groups(columns, keys)
    assert [*zip(*(found[name][:] for name in keys), strict=True)] == list(groups)
    assert found["n"][:] == counts["n"][:] == list(map(len, groups.values()))
    assert found["all"][:] == [[columns["v"][row] for row in group] for group in groups.values()]
    assert found["total"][:] == [sum(columns["v"][row] for row in group) for group in groups.values()]
    chosen = {"first": (group[0] for group in groups.values()), "last": (group[-1] for group in groups.values())}
    for keep, some in chosen.items():
        assert kept[keep] == [columns["v"][row] for row in sorted(some)]
    assert kept[False] == [columns["v"][group[0]] for group in sorted(groups.values()) if len(group) == 1]


def test_more_groups_than_the_memory_holds_are_grouped_in_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from datasets_core.dataset import keys

    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 30_000, 60_000)
    rows = _saved(Dataset.from_dict({"k": numbers, "v": np.arange(60_000)}), tmp_path / "d")
    whole = rows.group_by("k").agg(n="count", v=("v", "max"))[:]
    windows: list[int] = []
    real = keys._windows

    def watched(*args: Any) -> Any:
        for table in real(*args):
            windows.append(table.num_rows)
            yield table

    monkeypatch.setattr(keys, "_windows", watched)
    rows.cleanup_cache_files()
    with config.using(sort_bytes=100_000):
        assert rows.group_by("k").agg(n="count", v=("v", "max"))[:] == whole
    assert len(windows) > 8 and sum(windows) == len(whole["k"])


def test_values_of_any_kind_are_listed_and_labels_stay_labels() -> None:
    features = Features(
        {
            "k": ClassLabel(names=["no", "yes"]),
            "l": List(Value("int32")),
            "s": {"x": Value("string")},
            "m": Array2D((1, 2), "int32"),
        }
    )
    rows = Dataset.from_dict(
        {
            "k": [1, 0, 1],
            "l": [[1], None, [2, 3]],
            "s": [{"x": "a"}, {"x": "b"}, {"x": "c"}],
            "m": [[[1, 2]], [[3, 4]], [[5, 6]]],
        },
        features=features,
    )
    found = rows.group_by("k").agg(l=("l", "list"), s=("s", "first"), m=("m", "last"), top=("k", "max"))
    assert found[:] == {
        "k": [1, 0],
        "l": [[[1], [2, 3]], [None]],
        "s": [{"x": "a"}, {"x": "b"}],
        "m": [[[5, 6]], [[3, 4]]],
        "top": [1, 0],
    }
    assert found.features["k"] == found.features["top"] == features["k"] and found.features["l"] == List(features["l"])
    with pytest.raises(ConfigurationError):
        rows.group_by("l").agg(n="count")
    with pytest.raises(ConfigurationError):
        rows.group_by("k").agg({"l": "sum"})


@pytest.mark.parametrize(
    ("asked", "named"),
    [({"v": "nope"}, {}), (None, {}), (["v"], {}), (None, {"x": "v"}), (None, {"k": "count"}), ({"v": ["sum", "sum"]}, {})],
)
def test_aggregations_without_meaning_are_refused(asked: Any, named: Any) -> None:
    rows = Dataset.from_dict({"k": [1], "v": [2]})
    with pytest.raises(ConfigurationError):
        rows.group_by("k").agg(asked, **named)
    with pytest.raises(UnknownColumnError):
        rows.group_by("k").agg({"x": "sum"})
    with pytest.raises(UnknownColumnError):
        rows.group_by("x")
    with pytest.raises(ConfigurationError):
        rows.group_by()


def test_results_of_groups_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets_core.dataset import keys

    rows = _saved(_numbered(20), tmp_path / "d")
    first = rows.group_by("t").agg(n="count")
    monkeypatch.setattr(keys, "aggregated", None)  # whoever computes again fails
    again = rows.group_by("t").agg(n="count")
    assert again[:] == first[:] and again._fingerprint == first._fingerprint


def test_the_most_frequent_value_comes_first(mixed: Dataset) -> None:
    assert mixed.value_counts("b")[:] == {"b": ["x", "y", None, "z"], "count": [3, 3, 1, 1]}
    assert mixed.value_counts(["a", "b"], sort=False).num_rows == 7
    with pytest.raises(ConfigurationError):
        mixed.value_counts("b", name="b")


# Duplicates.


def test_rows_that_equal_another_are_dropped(mixed: Dataset) -> None:
    assert mixed.drop_duplicates("b")["c"][:] == [0.5, 1.5, None, -1.0]
    assert mixed.drop_duplicates("b", keep="last")["c"][:] == [None, -1.0, 3.0, 9.0]
    assert mixed.drop_duplicates("b", keep=False)["c"][:] == [None, -1.0]
    assert mixed.drop_duplicates().num_rows == 8
    with pytest.raises(UnknownColumnError):
        mixed.drop_duplicates("x")
    with pytest.raises(ConfigurationError):
        mixed.drop_duplicates("b", keep="any")  # type: ignore[arg-type]


def test_lists_structs_and_media_have_duplicates_too() -> None:
    rows = Dataset.from_dict(
        {
            "n": [0, 1, 2, 3],
            "l": [[1, 2], [2, 1], [1, 2], None],
            "s": [{"x": [{"y": 1}]}, {"x": []}, {"x": [{"y": 1}]}, {"x": None}],
            "i": [{"bytes": b"1", "path": "a"}, {"bytes": b"2", "path": "a"}, {"bytes": b"1", "path": "b"}, None],
        },
        features=Features(
            {
                "n": Value("int64"),
                "l": List(Value("int64")),
                "s": {"x": List({"y": Value("int64")})},
                "i": Image(decode=False),
            }
        ),
    )
    for name in "lsi":
        assert rows.drop_duplicates(name)["n"][:] == [0, 1, 3]
    assert rows.remove_columns("n").drop_duplicates().num_rows == 3


@pytest.mark.parametrize("keep", ["first", "last", False])
def test_many_rows_with_few_duplicates_are_told_apart_by_their_numbers(keep: Any) -> None:
    """The numbers of a row say that it has no duplicate; only rows that share theirs are compared, texts included."""
    count, rng = 70_000, np.random.default_rng(3)
    numbers = rng.permutation(count) - count // 2
    numbers[count // 2 :: 1000] = numbers[: count // 2 : 1000]
    floats, texts = numbers / 7, [f"t{number % 3}" for number in numbers.tolist()]
    floats[[1, count - 1]], numbers[[1, count - 1]] = [0.0, -0.0], 7
    floats[[2, count - 2]], numbers[[2, count - 2]] = np.nan, 8
    texts[1000] = "not that of its twin"
    rows = Dataset.from_dict({"n": numbers, "f": pa.array(floats), "t": texts, "b": [None] * count})
    seen: dict[Any, list[int]] = {}
    for place, row in enumerate(zip(numbers.tolist(), map(str, floats + 0.0), texts, strict=True)):
        seen.setdefault(row, []).append(place)
    wanted = [places[-1 if keep == "last" else 0] for places in seen.values() if keep or len(places) == 1]

    found = rows.add_column("at", range(count)).drop_duplicates(["n", "f", "t", "b"], keep=keep)

    differ = set(found["at"][:]) ^ set(wanted)
    assert differ <= {1, 2, count - 1, count - 2}  # zeros with a sign, and NaN, by the rule of groups
    assert found["at"][:] == sorted(found["at"][:])
    few = rows.select([1, 2, count - 2, count - 1]).drop_duplicates(["n", "f", "t", "b"], keep=keep).num_rows
    assert found.num_rows == len(wanted) - len(set(wanted) & {1, 2, count - 1, count - 2}) + few


# Joins.


@given(
    mine=st.lists(st.tuples(st.none() | st.integers(0, 3), st.sampled_from("ab")), max_size=12),
    others=st.lists(st.tuples(st.none() | st.integers(0, 4), st.sampled_from("abc")), max_size=12),
    how=st.sampled_from(["inner", "left", "right", "full", "semi", "anti"]),
    on=st.sampled_from([["a"], ["a", "b"]]),
    is_indexed=st.booleans(),
)
def test_joins_are_those_of_python(mine: list[Any], others: list[Any], how: Any, on: list[str], is_indexed: bool) -> None:
    schema = pa.schema({"a": pa.int64(), "b": pa.string()})
    left, right = (
        Dataset(pa.table({name: [row[k] for row in rows] for k, name in enumerate("ab")}, schema=schema)).add_column(
            value, pa.array(range(len(rows)), pa.int64())
        )
        for rows, value in ((mine, "v"), (others, "w"))
    )
    if is_indexed:
        left, right = (rows.select(range(rows.num_rows - 1, -1, -1)) for rows in (left, right))
        mine, others = mine[::-1], others[::-1]
    found = left.join(right, on=on, how=how)
    keys = [[row[: len(on)] for row in rows] for rows in (mine, others)]
    pairs = [(i, j) for i, key in enumerate(keys[0]) for j, other in enumerate(keys[1]) if key == other and None not in key]
    matched = {i for i, _ in pairs}
    number = {name: rows["v" if name == "v" else "w"][:] for name, rows in (("v", left), ("w", right))}
    if how in ("semi", "anti"):
        assert found["v"][:] == [number["v"][i] for i in range(len(mine)) if (i in matched) == (how == "semi")]
        assert found.column_names == left.column_names
        return
    if how == "right":
        lonely = [(None, j) for j in range(len(others)) if j not in {j for _, j in pairs}]
        pairs = sorted(pairs + lonely, key=lambda pair: (pair[1], -1 if pair[0] is None else pair[0]))
    elif how != "inner":
        lonely_mine: list[Any] = [(i, None) for i in range(len(mine)) if i not in matched]
        lonely = [(None, j) for j in range(len(others)) if j not in {j for _, j in pairs}] if how == "full" else []
        pairs = sorted(pairs + lonely_mine, key=lambda pair: pair[0]) + lonely
    assert found["v"][:] == [None if i is None else number["v"][i] for i, _ in pairs]
    assert found["w"][:] == [None if j is None else number["w"][j] for _, j in pairs]
    assert found["a"][:] == [others[j][0] if i is None else mine[i][0] for i, j in pairs]


@given(
    kind=st.sampled_from([pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64()]),
    at_end=st.booleans(),
    mine=st.lists(st.none() | st.integers(0, 120), max_size=12),
    others=st.lists(st.none() | st.integers(0, 120), max_size=12),
)
def test_a_join_by_integers_is_right_at_the_ends_of_their_types(kind: Any, at_end: bool, mine: Any, others: Any) -> None:
    least = 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
    first = least + 2**kind.bit_width - 121 if at_end else least
    keys = [[None if key is None else first + key for key in each] for each in (mine, others)]
    left, right = (
        Dataset(pa.table({"a": pa.array(each, kind), name: pa.array(range(len(each)), pa.int64())}))
        for each, name in zip(keys, "vw", strict=True)
    )
    found = left.join(right, on="a")
    pairs = [(i, j) for i, key in enumerate(keys[0]) for j, other in enumerate(keys[1]) if key == other and key is not None]
    assert list(zip(found["v"][:], found["w"][:], strict=True)) == pairs
    far = Dataset.from_dict({"a": [2**62, -(2**62), 5], "x": [1, 2, 3]})
    assert far.join(Dataset.from_dict({"a": [5, 6], "y": [1, 2]}), on="a")[:] == {"a": [5], "x": [3], "y": [1]}


def test_a_join_reads_the_other_keys_in_parts_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets_core.dataset import keys

    left = Dataset.from_dict({"a": [5, 1, 4000, 5]})
    right = Dataset.from_dict({"a": [number // 2 for number in range(10_000)], "w": list(range(10_000))})
    whole, parts = left.join(right, on="a")[:], []
    real = keys._pairs
    monkeypatch.setattr(keys, "_pairs", lambda *args: parts.append(1) or real(*args))
    with config.using(sort_bytes=1):
        assert (
            left.join(right, on="a")[:]
            == whole
            == {"a": [5, 5, 1, 1, 4000, 4000, 5, 5], "w": [10, 11, 2, 3, 8000, 8001, 10, 11]}
        )
    assert len(parts) == 10
    parts.clear()
    with config.using(sort_bytes=1):  # and the rows of this dataset in windows
        assert right.join(left.drop_duplicates(), on="a")["w"][:] == [2, 3, 10, 11, 8000, 8001]
    assert len(parts) == 10


def test_a_join_with_one_match_at_most_copies_no_column_and_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets_core.dataset import keys

    rows = _saved(_numbered(20), tmp_path / "d")
    labels = Dataset.from_dict({"n": [3, 5, 40], "label": ["three", "five", "forty"]})
    for how in ("inner", "left"):
        found = rows.join(labels, on="n", how=how)  # type: ignore[arg-type]
        assert str(tmp_path / "d") in {os.path.dirname(file["filename"]) for file in found.cache_files}
        assert {"n", "t"} & set(RowTable.from_file(found.cache_files[-1]["filename"]).column_names) == set()
        with monkeypatch.context() as patch:
            patch.setattr(keys, "joined_rows", None)  # whoever computes again fails
            again = rows.join(labels, on="n", how=how)  # type: ignore[arg-type]
        assert again[:] == found[:] and again._fingerprint == found._fingerprint
    assert rows.join(labels, on="n")[:] == {"n": [3, 5], "t": ["t3", "t5"], "label": ["three", "five"]}


def test_columns_of_one_name_get_a_suffix_and_keys_may_have_two_names() -> None:
    left, right = Dataset.from_dict({"id": [1, 2], "t": ["a", "b"]}), Dataset.from_dict({"key": [2.0, 3.0], "t": ["c", "d"]})
    found = left.join(right, left_on="id", right_on="key", how="full")
    assert found[:] == {"id": [1, 2, 3], "t": ["a", "b", None], "t_right": [None, "c", "d"]}
    assert found.features["id"] == Value("int64")
    with pytest.raises(ConfigurationError):
        left.join(right.rename_column("key", "id").add_column("t_right", [1, 2]), on="id")


def test_keys_that_are_not_compared_are_refused() -> None:
    rows = Dataset.from_dict({"a": [1], "t": ["1"], "l": [[1]]})
    for one, other in (("a", "t"), ("l", "l"), ("t", "l")):
        with pytest.raises(ConfigurationError):
            rows.join(rows, left_on=one, right_on=other)
    labels = [rows.cast_column("t", ClassLabel(names=names)) for names in (["1", "2"], ["2", "1"])]
    with pytest.raises(ConfigurationError):
        labels[0].join(labels[1], on="t")
    assert labels[0].join(labels[0], on="t").num_rows == 1
    for wrong in ({"on": "x"}, {}, {"on": "a", "left_on": "a"}, {"left_on": "a"}, {"on": "a", "how": "outer join"}):
        with pytest.raises((ConfigurationError, UnknownColumnError)):
            rows.join(rows, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        rows.join(pa.table({"a": [1]}), on="a")  # type: ignore[arg-type]


# Sorts.


_KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-2, 2)),
    (pa.string(), st.text("ab", max_size=2)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.sampled_from([-1.5, 0.0, 2.0])),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from("xyz")),
    (pa.date32(), st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3))),
]


def _as_python(rows: list[tuple[Any, ...]], keys: SortKeys) -> list[int]:
    def compare(one: int, other: int) -> int:
        for mine, theirs, is_down in zip(rows[one], rows[other], keys.descending, strict=True):
            if mine == theirs:
                continue
            if mine is None or theirs is None:
                return -1 if (mine is None) == keys.nulls_first else 1
            return (-1 if mine < theirs else 1) * (-1 if is_down else 1)
        return 0

    return sorted(range(len(rows)), key=cmp_to_key(compare))


@st.composite
def _cases(draw: st.DrawFn) -> tuple[pa.Table, SortKeys]:
    kinds = draw(st.lists(st.sampled_from(_KINDS), min_size=1, max_size=3))
    size = draw(st.integers(0, 40))
    columns = {
        f"c{k}": pa.array(draw(st.lists(st.none() | values, min_size=size, max_size=size)), kind)
        for k, (kind, values) in enumerate(kinds)
    }
    descending = tuple(draw(st.booleans()) for _ in kinds)
    batches = pa.table(columns).to_batches(max_chunksize=draw(st.integers(1, 9)))
    table = pa.Table.from_batches(batches, pa.table(columns).schema)
    return table, SortKeys(tuple(columns), descending, draw(st.booleans()))


@given(_cases())
def test_rows_come_in_the_order_of_python(case: tuple[pa.Table, SortKeys]) -> None:
    table, keys = case

    found = sorted_rows(RowTable.from_table(table), None, keys)

    assert found.tolist() == _as_python([tuple(row.values()) for row in table.to_pylist()], keys)


@pytest.fixture(scope="module")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for runs of eight rows."""
    return tmp_path_factory.mktemp("runs")


@given(_cases(), st.integers(1, 9))
def test_runs_on_the_disk_give_the_same_order(small_runs: Path, case: tuple[pa.Table, SortKeys], least: int) -> None:
    table, keys = case
    rows = RowTable.from_table(table)
    with config.using(sort_bytes=1, cache_dir=str(small_runs)), pytest.MonkeyPatch.context() as patch:
        patch.setattr(relational, "_LEAST_ROWS", least)
        found = sorted_rows(rows, None, keys)

    assert found.tolist() == sorted_rows(rows, None, keys).tolist()
    assert list(small_runs.iterdir()) == []


@pytest.mark.parametrize("values", [np.arange(20_000), np.arange(20_000)[::-1], np.zeros(20_000, int), np.arange(20_000) % 7])
def test_long_runs_merge_in_blocks(small_runs: Path, values: Any) -> None:
    table = RowTable.from_table(pa.table({"v": np.ascontiguousarray(values)}))
    with config.using(sort_bytes=1 << 15, cache_dir=str(small_runs)):
        found = sorted_rows(table, None, SortKeys(("v",), (False,), False))

    assert found.tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves no place on the disk")
def test_a_full_disk_is_told_before_numbers_are_written_by_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, start: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    table = RowTable.from_table(pa.table({"v": np.zeros(20_000, np.int8)}))
    monkeypatch.setattr(os, "posix_fallocate", full)
    with config.using(sort_bytes=1 << 12, cache_dir=str(tmp_path)), pytest.raises(DatasetDiskError, match="No space left"):
        sorted_rows(table, None, SortKeys(("v",), (False,), False))
    assert list(tmp_path.iterdir()) == []


def test_nan_stands_between_values_and_nulls(small_runs: Path) -> None:
    table = RowTable.from_table(pa.table({"v": pa.array([float("nan"), 1.0, None, float("nan"), -1.0] * 900)}))
    keys = SortKeys(("v",), (True,), False)
    with config.using(sort_bytes=1 << 12, cache_dir=str(small_runs)):
        found = sorted_rows(table, None, keys)

    assert found.tolist() == sorted_rows(table, None, keys).tolist()
    assert found[:900].tolist() == list(range(1, 4500, 5))
    assert found[-900:].tolist() == list(range(2, 4500, 5))


def test_rows_of_an_index_are_numbered_by_the_index() -> None:
    table = RowTable.from_table(pa.table({"v": [5, 3, 4, 3]}))

    assert sorted_rows(table, np.array([3, 0, 1]), SortKeys(("v",), (False,), False)).tolist() == [0, 2, 1]


def test_values_without_order_are_named() -> None:
    table = RowTable.from_table(pa.table({"v": [[1], [2]]}))

    with pytest.raises(ConfigurationError, match=r"Column 'v' is .*, which cannot be sorted"):
        sorted_rows(table, None, SortKeys(("v",), (False,), False))


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1, max_size=30),
    kind=st.sampled_from(["int64", "int8", "uint64", "float64"]),
    is_down=st.booleans(),
)
def test_numbers_are_sorted_and_equal_ones_stay_in_their_order(values: list[int], kind: str, is_down: bool) -> None:
    dtype = np.dtype(kind)
    column = np.array([value % 2 ** (8 * dtype.itemsize) if kind == "uint64" else value for value in values], object)
    numbers = (column % 100 if kind == "int8" else column).astype(dtype)
    wanted = sorted(range(len(values)), key=lambda row: numbers[row].item(), reverse=is_down)
    if is_down:  # equal rows stay in their order
        wanted = sorted(range(len(values)), key=lambda row: (-numbers[row].item(), row))
    found = SortKeys(("a",), (is_down,), False).order(pa.table({"a": numbers}))
    assert found.tolist() == wanted


def test_columns_of_rows_in_memory_stay_there_up_to_the_size_of_those_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.dataset.results.MEMORY_BYTES", 1000)
    monkeypatch.setattr("datasets_core.dataset.results.WAITING_BYTES", 1000)
    rows = Dataset(pa.table({"a": np.arange(1000), "b": np.arange(1000) / 2}))
    made = rows.with_columns(c=pc.field("a") * 2)
    assert not made.cache_files and made["c"][-1] == 1998 and made._fingerprint != rows._fingerprint
    large = rows.with_columns({name: pc.field("a") + number for number, name in enumerate("cdefg")})
    assert large.cache_files and large["g"][-1] == 1003  # larger than the rows: written
