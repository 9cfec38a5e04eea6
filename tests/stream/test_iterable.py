"""The laws of streams: equal to the list that plain Python makes, resumed at every row, divided without loss, shuffled."""

import itertools
import json
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.combine import interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, StreamStateError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableColumn, IterableDataset

Row = dict[str, Any]
Op = tuple[str, Any]


def _keeps(row: Row) -> bool:
    return len(repr(row)) % 3 != 0 and "7" not in repr(row["a"])


def _length(row: Row) -> Row:
    return {"n": len(repr(row["a"]))}


def _number(row: Row, index: int) -> Row:
    return {"i": index}


def _twice(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Each value as often as its text is long, up to three times, and at times not at all."""
    times = [len(repr(value)) % 4 for value in batch["a"]]
    return {name: [v for v, n in zip(values, times, strict=True) for _ in range(n)] for name, values in batch.items()}


STREAM: dict[str, Callable[[IterableDataset, Any], IterableDataset]] = {
    "filter": lambda s, _: s.filter(_keeps),
    "filter batches": lambda s, n: s.filter(
        lambda batch: [len(repr(v)) % 2 == 0 for v in batch["a"]], batched=True, batch_size=n
    ),
    "map": lambda s, _: s.map(_length),
    "number": lambda s, _: s.map(_number, with_indices=True),
    "twice": lambda s, n: s.map(_twice, batched=True, batch_size=n, remove_columns=["a"]),
    "batch": lambda s, n: s.batch(n),
    "take": lambda s, n: s.take(n),
    "skip": lambda s, n: s.skip(n),
    "repeat": lambda s, n: s.repeat(n % 3),
    "shuffle": lambda s, n: s.shuffle(seed=n, buffer_size=n),
}


def _of_columns(columns: dict[str, list[Any]]) -> list[Row]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _in_columns(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _by(rows: list[Row], n: int) -> list[list[Row]]:
    return [rows[start : start + n] for start in range(0, len(rows), n)]


LIST: dict[str, Callable[[list[Row], Any], list[Row]]] = {
    "filter": lambda rows, _: [row for row in rows if _keeps(row)],
    "filter batches": lambda rows, _: [row for row in rows if len(repr(row["a"])) % 2 == 0],
    "map": lambda rows, _: [{**row, **_length(row)} for row in rows],
    "number": lambda rows, _: [{**row, "i": i} for i, row in enumerate(rows)],
    "twice": lambda rows, _: _of_columns(_twice(_in_columns(rows))) if rows else [],
    "batch": lambda rows, n: [_in_columns(part) for part in _by(rows, n)],
    "take": lambda rows, n: rows[:n],
    "skip": lambda rows, n: rows[n:],
    "repeat": lambda rows, n: rows * (n % 3),
}

SIZES = st.integers(1, 9)
ORDERED = st.lists(st.tuples(st.sampled_from(sorted(LIST)), SIZES), max_size=5)
ANY = st.lists(st.tuples(st.sampled_from(sorted(STREAM)), SIZES), max_size=5)


def _made(rows: int, ops: list[Op], num_shards: int = 1) -> IterableDataset:
    dataset = Dataset.from_list(
        [{"a": i, "b": f"x{i}"} for i in range(rows)], Features({"a": Value("int64"), "b": Value("string")})
    )
    stream = dataset.to_iterable_dataset(min(num_shards, max(rows, 1)))
    for name, n in ops:
        stream = STREAM[name](stream, n)
    return stream


@given(st.integers(0, 60), ORDERED)
def test_a_stream_is_the_list_that_plain_python_makes(rows: int, ops: list[Op]) -> None:
    model: list[Row] = [{"a": i, "b": f"x{i}"} for i in range(rows)]
    for name, n in ops:
        model = LIST[name](model, n)

    stream = _made(rows, ops)

    assert list(stream) == model
    assert [row for batch in stream.iter(4) for row in _of_columns(batch)] == model


@given(st.integers(0, 60), ANY, st.lists(st.integers(0, 12), max_size=4), st.integers(0, 2))
def test_resumed_again_and_again_is_uninterrupted(rows: int, ops: list[Op], stops: list[int], epoch: int) -> None:
    stream, found = _at(_made(rows, ops), epoch), []
    for stop in stops:
        found += list(itertools.islice(stream, stop))
        state = json.loads(json.dumps(stream.state_dict()))
        stream = _made(rows, ops)
        stream.load_state_dict(state)

    found += list(stream)

    assert found == list(_at(_made(rows, ops), epoch))


def _at(stream: IterableDataset, epoch: int) -> IterableDataset:
    stream.set_epoch(epoch)
    return stream


@given(st.integers(1, 60), ANY, st.integers(1, 5), st.data())
def test_batches_resume_behind_the_last_one(rows: int, ops: list[Op], size: int, data: st.DataObject) -> None:
    stream = _made(rows, ops)
    whole = list(stream)
    stop = data.draw(st.integers(0, len(whole) // size + 1))

    first = list(itertools.islice(stream.iter(size), stop))
    state = stream.state_dict()
    stream.load_state_dict(state)

    assert [row for batch in first for row in _of_columns(batch)] + list(stream) == whole


ALONE = st.lists(st.tuples(st.sampled_from(["filter", "map", "twice", "take", "skip", "repeat", "shuffle"]), SIZES), max_size=4)


@given(st.integers(0, 60), ALONE, st.integers(1, 5), st.integers(1, 7), st.booleans())
def test_parts_have_all_rows_together_and_none_twice(
    rows: int, ops: list[Op], shards: int, parts: int, contiguous: bool
) -> None:
    stream = _made(rows, ops, shards)

    found = [list(stream.shard(parts, index, contiguous)) for index in range(parts)]

    assert sorted(map(repr, itertools.chain(*found))) == sorted(map(repr, stream))


@given(st.integers(0, 60), ALONE, st.integers(1, 6), st.integers(1, 4))
def test_parts_of_a_part_divide_it(rows: int, ops: list[Op], shards: int, parts: int) -> None:
    stream = _made(rows, ops, shards).shard(2, 0)

    found = [list(stream.shard(parts, index)) for index in range(parts)]

    assert sorted(map(repr, itertools.chain(*found))) == sorted(map(repr, stream))


@given(st.integers(0, 60), ALONE, st.integers(1, 4), st.integers(0, 12))
def test_a_part_resumes_as_the_whole_does(rows: int, ops: list[Op], shards: int, stop: int) -> None:
    stream = _made(rows, ops, shards).shard(3, 1)
    whole = list(stream)

    first = list(itertools.islice(stream, stop))
    stream.load_state_dict(stream.state_dict())

    assert first + list(stream) == whole


def test_batches_of_a_function_are_the_same_in_every_part() -> None:
    stream = _made(50, [], 3).map(
        lambda batch: {"sum": [sum(batch["a"])]}, batched=True, batch_size=4, remove_columns=["a", "b"]
    )

    found = [row for index in range(3) for row in stream.shard(3, index)]

    assert found == list(stream)


def test_rows_keep_their_numbers_in_a_part() -> None:
    stream = _made(10, []).map(_number, with_indices=True).filter(_keeps)

    assert all(row["i"] == row["a"] for row in stream.shard(3, 2))


def test_shards_are_kept_where_there_are_enough() -> None:
    stream = _made(12, [], 6)
    assert (stream.num_shards, stream.shard(3, 0).num_shards, stream.shard(12, 0).num_shards) == (6, 2, 1)


def test_a_stream_without_functions_is_cut_without_reading() -> None:
    stream = _made(10, []).repeat(None).shuffle(seed=1).skip(10**15).take(3)

    assert len(list(stream)) == 3


# -- shuffled ----------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.integers(0, 300), st.integers(1, 200), st.integers(0, 5), st.integers(0, 3))
def test_a_shuffle_is_a_permutation(rows: int, buffer_size: int, seed: int, epoch: int) -> None:
    stream = _at(_made(rows, [("shuffle", 1)]).shuffle(seed, buffer_size=buffer_size), epoch)

    assert sorted(stream["a"]) == list(range(rows))


def test_the_order_differs_by_seed_and_by_epoch() -> None:
    orders = {tuple(_at(_made(100, []).filter(None).shuffle(seed), epoch)["a"]) for seed in range(4) for epoch in range(4)} | {
        tuple(_at(_made(100, []).shuffle(seed), epoch)["a"]) for seed in range(4) for epoch in range(4)
    }
    assert len(orders) == 32


def test_the_order_is_the_same_on_every_machine() -> None:
    """These numbers are part of saved states: they do not change."""
    stream = _made(20, []).shuffle(seed=42, buffer_size=8)
    assert list(stream["a"]) == GOLDEN
    assert list(_made(20, []).filter(None).shuffle(seed=42, buffer_size=8)["a"]) == GOLDEN_WINDOWS


GOLDEN = [15, 4, 5, 10, 9, 14, 16, 0, 17, 7, 19, 12, 18, 11, 1, 6, 3, 2, 8, 13]
GOLDEN_WINDOWS = [7, 3, 5, 1, 6, 2, 4, 0, 9, 8, 13, 14, 15, 10, 11, 12, 17, 18, 16, 19]


def test_neighbours_of_a_shuffled_stream_come_from_everywhere() -> None:
    rows = np.array(list(_made(6400, []).shuffle(seed=3, buffer_size=640)["a"]))

    assert len(np.unique(rows[:256] // 100)) > 30


def test_without_a_seed_the_global_state_decides() -> None:
    np.random.seed(7)
    first = list(_made(50, []).shuffle())
    np.random.seed(7)
    assert list(_made(50, []).shuffle()) == first


def test_a_generator_gives_the_seed_and_stays_as_it_is() -> None:
    generator = np.random.default_rng(1)
    assert list(_made(50, []).shuffle(generator=generator)) == list(_made(50, []).shuffle(generator=generator))


# -- states ------------------------------------------------------------------------------------------------------------


def test_a_state_is_small() -> None:
    stream = _made(60, [("filter", 1), ("twice", 3), ("shuffle", 5), ("batch", 2)])
    next(iter(stream))
    assert len(json.dumps(stream.state_dict())) < 600


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        (
            [("shuffle", 2)],
            r"whose step 1 is shuffle\(seed=1, buffer_size=1\), but this one has shuffle\(seed=2",
        ),
        ([], r"only the other has the step shuffle"),
        ([("shuffle", 1), ("batch", 2)], r"only this one has the step batch\(2\)"),
    ],
)
def test_a_state_of_another_stream_is_refused_with_what_differs(ops: list[Op], message: str) -> None:
    state = _made(10, [("shuffle", 1)]).state_dict()
    with pytest.raises(StreamStateError, match=message):
        _made(10, ops).load_state_dict(state)


def test_a_state_of_other_rows_is_refused() -> None:
    with pytest.raises(StreamStateError, match="starts with 11 rows, but this one has 10 rows"):
        _made(10, []).load_state_dict(_made(11, []).state_dict())


def test_another_function_of_the_same_name_is_refused() -> None:
    with pytest.raises(StreamStateError, match=r"another map\(<lambda>\)"):
        _made(10, []).map(lambda row: {"c": 1}).load_state_dict(_made(10, []).map(lambda row: {"c": 2}).state_dict())


def test_at_the_end_nothing_is_left_and_the_next_iteration_is_whole() -> None:
    stream = _made(5, [("shuffle", 3)])
    whole = list(stream)
    stream.load_state_dict(stream.state_dict())

    assert (list(stream), list(stream)) == ([], whole)


def test_a_state_says_where_the_latest_iteration_stands() -> None:
    stream = _made(5, [])
    list(stream)
    rows = iter(stream)
    next(rows)
    stream.load_state_dict(stream.state_dict())

    assert [row["a"] for row in stream] == [1, 2, 3, 4]


def test_a_state_loaded_twice_gives_the_same_rows() -> None:
    stream = _made(9, [("filter", 1)])
    next(iter(stream))
    state = stream.state_dict()
    rests = []
    for _ in range(2):
        stream.load_state_dict(state)
        rests.append(list(stream))

    assert rests[0] == rests[1] == list(stream)[1:]


def test_a_state_says_the_epoch() -> None:
    stream = _at(_made(30, [("shuffle", 9)]), 2)
    whole = list(stream)
    list(itertools.islice(stream, 10))
    other = _made(30, [("shuffle", 9)])
    other.load_state_dict(stream.state_dict())

    assert (other.epoch, list(other)) == (2, whole[10:])


# -- what a stream is --------------------------------------------------------------------------------------------------


def test_a_stream_goes_to_another_process() -> None:
    stream = _made(9, [("shuffle", 3)]).map(_length).filter(_keeps)
    assert list(pickle.loads(pickle.dumps(stream))) == list(stream)


def test_frames_and_columns_of_a_stream() -> None:
    stream = _made(5, [])
    assert stream.to_dict() == _in_columns(stream.to_list())
    assert list(stream.to_dict(batch_size=2, batched=True))[2] == {"a": [4], "b": ["x4"]}
    assert stream.take(0).to_dict() == {"a": [], "b": []}


@pytest.mark.optional("pandas")
def test_a_stream_becomes_a_pandas_frame() -> None:
    stream = _made(5, [("map", 1)])
    assert stream.to_pandas().to_dict("list") == stream.to_dict()
    assert IterableDataset.from_pandas(_made(5, []).to_pandas()).to_list() == _made(5, []).to_list()
    assert [len(frame) for frame in stream.to_pandas(batch_size=2, batched=True)] == [2, 2, 1]


@pytest.mark.optional("polars")
def test_a_stream_becomes_a_polars_frame() -> None:
    stream = _made(5, [("filter", 1)])
    assert stream.to_polars().to_dict(as_series=False) == stream.to_dict()
    assert IterableDataset.from_polars(_made(5, []).to_polars()).to_list() == _made(5, []).to_list()
    chunked = IterableDataset.from_dict({"a": [1, 2, 3, 4]}, num_shards=4)
    assert chunked.to_polars().n_chunks() == 1
    assert [frame["a"].to_list() for frame in chunked.to_polars(3, batched=True, rechunk=False)] == [[1, 2, 3], [4]]


def test_a_stream_is_made_of_values() -> None:
    rows = [{"a": 1, "b": None}, {"a": None, "b": "x"}]
    assert list(IterableDataset.from_list(rows)) == rows == list(IterableDataset.from_dict(_in_columns(rows), num_shards=2))
    assert list(IterableDataset.from_dict({"a": []})) == []
    assert IterableDataset.from_dict({"a": [1]}, Features({"a": Value("int8")})).features == {"a": Value("int8")}


def test_a_stream_has_no_row_numbers() -> None:
    with pytest.raises(ArgumentTypeError, match=r"Use skip\(\) and take\(\)"):
        _made(3, [])[0]  # type: ignore[index]


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.take(-1),
        lambda s: s.skip("x"),
        lambda s: s.shuffle(seed=-1),
        lambda s: s.shuffle(buffer_size=0),
        lambda s: s.shard(2, 2),
        lambda s: s.shard(0, 0),
        lambda s: s.iter(0),
        lambda s: IterableDataset.from_dict({"a": [1]}, num_shards=2),
        lambda s: IterableDataset.from_dict({"a": [1], "b": []}),
    ],
)
def test_what_has_no_meaning_is_refused_at_once(change: Callable[[IterableDataset], Any]) -> None:
    with pytest.raises(ConfigurationError):
        change(_made(3, []))


def test_a_stream_prints() -> None:
    stream = _made(3, [], 2)
    assert repr(stream) == "IterableDataset({\n    features: ['a', 'b'],\n    num_shards: 2\n})"
    assert "features: Unknown" in repr(stream.map(_length))


def test_no_framework_is_imported_for_a_stream() -> None:
    import subprocess

    code = (
        "import sys\nfrom datasets_core import Dataset\n"
        "stream = Dataset.from_dict({'a': [1, 2, 3]}).to_iterable_dataset().shuffle(seed=1).filter(lambda row: True).batch(2)\n"
        "assert len(list(stream)) == 2\n"
        "assert not {'torch', 'pandas', 'jax', 'tensorflow', 'polars'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _mixed(form: str, *, anew: bool) -> IterableDataset:
    rows = IterableDataset.from_dict({"a": list(range(60))})
    if form == "rows that functions leave":
        rows = rows.filter(_not_of_seven)
    mixed = rows.shuffle(seed=1, buffer_size=20, reshuffle_each_iteration=anew)
    if form == "rounds":
        return mixed.repeat(2)
    return interleave_datasets([mixed, rows]) if form == "a mixture" else mixed


def _not_of_seven(row: Row) -> bool:
    return bool(row["a"] % 7)


FORMS = ["rows", "rows that functions leave", "rounds", "a mixture"]


@pytest.mark.parametrize("form", FORMS)
def test_each_further_iteration_is_an_epoch_with_its_own_order_where_that_is_wanted(form: str) -> None:
    stream = _mixed(form, anew=True)
    epochs = [[row["a"] for row in stream] for _ in range(3)]
    assert len({tuple(epoch) for epoch in epochs}) == 3 and len({tuple(sorted(epoch)) for epoch in epochs}) == 1
    stream.set_epoch(stream.epoch)
    assert [row["a"] for row in stream] == epochs[-1]
    usual = _mixed(form, anew=False)
    assert [list(usual) for _ in range(2)] == [list(usual)] * 2 and usual.epoch == 0


@pytest.mark.parametrize("form", FORMS)
def test_a_state_says_its_epoch_and_goes_on_in_it_and_in_the_next(form: str) -> None:
    stream = _mixed(form, anew=True)
    epochs = [[row["a"] for row in stream] for _ in range(3)]
    for count in (0, 1, 25, len(epochs[1]) - 1, len(epochs[1])):
        other = _mixed(form, anew=True)
        list(other)
        rows = iter(other)
        head = [next(rows)["a"] for _ in range(count)]
        state = json.loads(json.dumps(other.state_dict()))
        again = _mixed(form, anew=True)
        again.load_state_dict(state)
        assert state["epoch"] == 1 and head + [row["a"] for row in again] == epochs[1]
        assert [row["a"] for row in again] == epochs[2]


def test_the_rounds_of_a_repetition_and_of_further_iterations_all_differ() -> None:
    stream = _mixed("rounds", anew=True)
    rows = [row["a"] for _ in range(2) for row in stream]
    assert len({tuple(rows[start : start + 60]) for start in range(0, 240, 60)}) == 4


def test_a_state_of_the_other_kind_of_shuffle_is_refused() -> None:
    with pytest.raises(StreamStateError, match="shuffle"):
        _mixed("rows", anew=False).load_state_dict(_mixed("rows", anew=True).state_dict())


# One column of a stream.


def test_a_column_is_read_anew_each_time() -> None:
    column = IterableDataset.from_dict({"a": [1, 2]})["a"]
    assert (list(column), list(column), column.column_name) == ([1, 2], [1, 2], "a")


def test_a_field_of_a_column_is_a_column() -> None:
    column = IterableDataset.from_list([{"a": {"b": 1}}, {"a": {"b": 2}}])["a"]["b"]
    assert isinstance(column, IterableColumn)
    assert list(column) == [1, 2]
