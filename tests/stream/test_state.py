"""States of streams as JSON: what they say, and when they are refused."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ArgumentTypeError, FileChangedError, StreamStateError
from datasets_core.features.media.media import NOWHERE
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.block_index import BlockIndex
from datasets_core.stream.sources.block_reader import FileIndex
from datasets_core.stream.sources.blocks import BlockPart, RowsOfBlocks
from datasets_core.stream.state import (
    Audit,
    LaneRows,
    Place,
    audit,
    check_place,
    folded,
    joined,
    merge_states,
    own_shards,
    read,
    saved,
    stream_states,
    unfolded,
)
from datasets_core.stream.steps import Share
from tests.stream.memory_blocks import MemoryBlocks, files_of

SIGNATURE = [["8 rows", "ab12"], ["batch(2)", "cd34"]]


@pytest.mark.parametrize("place", [Place(0, None, 7), Place(3, Share(1, 4), [[5, 0, 2], 1])])
def test_a_state_is_read_as_it_was_saved(place: Place) -> None:
    assert read(json.loads(json.dumps(saved(place, SIGNATURE))), SIGNATURE) == place


@pytest.mark.parametrize("odd", [None, {}, [], {"version": 1}, "x"])
def test_what_is_no_state_is_refused(odd: object) -> None:
    with pytest.raises(StreamStateError, match=r"Pass the"):
        read(odd, SIGNATURE)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(StreamStateError, match="has version 1, but this library reads version 2"):
        read({**saved(Place(0, None, 0), SIGNATURE), "version": 1}, SIGNATURE)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([["9 rows", "ab12"]], "starts with 8 rows, but this one has 9 rows"),
        ([["8 rows", "ffff"]], "starts with another 8 rows than this one"),
        ([SIGNATURE[0]], r"only the other has the step batch\(2\)"),
        ([*SIGNATURE, ["take(3)", "ee"]], r"only this one has the step take\(3\)"),
    ],
)
def test_a_refusal_says_what_differs(other: list[list[str]], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read(saved(Place(0, None, 0), SIGNATURE), other)


FILES = ["9 rows", "", [["dataset", "birds with 9 rows", "ab"], ["split", "train", "cd"], ["read config", "cycle=2", ""]]]


def _files(*parts: list[str]) -> list[object]:
    """The signature with other parts."""
    changed = {part[0]: part for part in parts}
    return ["9 rows", "", [changed.get(part[0], part) for part in FILES[2]]]  # type: ignore[index]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            ["dataset", "owls with 9 rows", "ff"],
            "dataset: it has birds with 9 rows, but this stream has owls with 9 rows",
        ),
        (["dataset", "birds with 9 rows", "ff"], "another dataset: it has another birds with 9 rows than this stream"),
        (["split", "train[1:]", "ff"], r"another split: it has train, but this stream has train\[1:\]"),
        (["read config", "cycle=3", ""], "another read config: it has cycle=2, but this stream has cycle=3"),
    ],
)
def test_a_state_of_other_files_is_refused_with_the_part_that_differs(other: list[str], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read(saved(Place(0, None, 0), [FILES]), [_files(other)])


def test_another_split_of_the_dataset_is_called_that() -> None:
    """The rows of the splits that are read tell a dataset from others; those of another split differ, too."""
    state = saved(Place(0, None, 0), [FILES])
    test = ["split", "test", "ff"]

    with pytest.raises(StreamStateError, match="another split: it has train, but this stream has test"):
        read(state, [_files(["dataset", "birds with 2 rows", "ee"], test)])
    with pytest.raises(StreamStateError, match="dataset: it has birds with 9 rows, but this stream has owls with 2 rows"):
        read(state, [_files(["dataset", "owls with 2 rows", "ee"], test)])
    with pytest.raises(StreamStateError, match="dataset: it has birds with 9 rows, but this stream has birds with 2 rows"):
        read(state, [_files(["dataset", "birds with 2 rows", "ee"], ["split", "train", "ff"])])


def test_fields_of_a_read_config_are_compared_by_name() -> None:
    more = [*FILES[2], ["read config", "id=True", ""]]

    with pytest.raises(StreamStateError, match="it has none, but this stream has seed=1"):
        read(
            saved(Place(0, None, 0), [[*FILES[:2], more]]), [[*FILES[:2], [*FILES[2], ["read config", "seed=1", ""], more[-1]]]]
        )


def test_a_part_that_is_missing_differs() -> None:
    with pytest.raises(StreamStateError, match="another read config: it has none, but this stream has cycle=2"):
        read(saved(Place(0, None, 0), [["9 rows", "", FILES[2][:2]]]), [FILES])


@pytest.mark.parametrize("other", [["dataset", "the birds", "ab"], ["split", "train[:100%]", "cd"]])
def test_other_words_for_the_same_content_are_no_difference(other: list[str]) -> None:
    assert read(saved(Place(0, None, 7), [_files(other)]), [FILES]).at == 7


@pytest.mark.parametrize(
    "plan", [None, 3, "x", [3], [["a"]], [["a", 3]], [["a", "b", 3]], [["a", "b", [3]]], [["a", "b", [["c", "d"]]]]]
)
def test_a_plan_that_is_none_is_refused(plan: object) -> None:
    with pytest.raises(StreamStateError, match=r"Pass the"):
        read({**saved(Place(0, None, 0), [FILES]), "plan": plan}, [FILES])


@pytest.mark.parametrize(("edit", "lanes"), [({"lanes": 4}, None), ({}, 4), ({"lanes": 3}, 4), ({"lanes": "4"}, 4)])
def test_a_state_is_of_as_many_lanes(edit: dict[str, object], lanes: int | None) -> None:
    with pytest.raises(StreamStateError, match="lanes"):
        read({**saved(Place(0, None, 0), SIGNATURE), **edit}, SIGNATURE, lanes=lanes)


def test_a_state_of_an_epoch_before_the_first_is_refused() -> None:
    with pytest.raises(StreamStateError, match="epoch -1"):
        read({**saved(Place(0, None, 0), SIGNATURE), "epoch": -1}, SIGNATURE)


def test_a_drawn_seed_goes_with_the_state() -> None:
    state = json.loads(json.dumps(saved(Place(0, None, 0, 42), SIGNATURE)))

    assert read(state, SIGNATURE, has_seed=True).seed == 42
    del state["seed"]
    with pytest.raises(StreamStateError, match="no seed for the order of the files"):
        read(state, SIGNATURE, has_seed=True)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"epoch": "x"}, "epoch is 'x' in the state, which is not an integer"),
        ({"epoch": None}, "epoch is None"),
        ({"epoch": 1.5}, "epoch is 1.5"),
        ({"epoch": True}, "epoch is True"),
        ({"share": "x"}, "has the share 'x', which is not a pair"),
        ({"share": [1]}, r"has the share \[1\]"),
        ({"share": [2, 2]}, r"has the share \[2, 2\]"),
        ({"share": [-1, 2]}, r"has the share \[-1, 2\]"),
        ({"share": [0, "2"]}, "has the share"),
        ({"seed": 7}, "has a seed for the order of the files, but this stream has none"),
    ],
)
def test_an_edited_state_is_refused_by_what_was_edited(edit: dict[str, object], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read({**saved(Place(0, None, 7), SIGNATURE), **edit}, SIGNATURE)


@pytest.mark.parametrize("seed", ["x", [1], 1.5, True])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(StreamStateError, match="seed is"):
        read({**saved(Place(0, None, 7, 3), SIGNATURE), "seed": seed}, SIGNATURE, has_seed=True)


ROWS = Dataset.from_dict({"a": list(range(9))}).to_iterable_dataset()._plan.node(0)
MADE = IterableDataset.from_generator(iter, gen_kwargs={"parts": list(range(9))}).shuffle(seed=1)._plan.node(0)


@pytest.mark.parametrize("at", [0, 9])
def test_a_place_has_the_form_of_the_beginning(at: int) -> None:
    check_place(ROWS, at)
    check_place(MADE, [[at, 3], 10, 1])


@pytest.mark.parametrize("at", [-1, "3", "x", None, 2.5, True, [1], {}])
def test_a_place_of_another_form_is_refused(at: object) -> None:
    with pytest.raises(StreamStateError, match="invalid position"):
        check_place(ROWS, at)
    with pytest.raises(StreamStateError, match="invalid position"):
        check_place(MADE, at)
    for form in ([[at, 0], 0, 0], [[0, at], 0, 0], [[0, 0], at, 0]):
        with pytest.raises(StreamStateError, match="invalid position"):
            check_place(MADE, form)


def test_the_place_in_a_job_may_have_a_mark() -> None:
    check_place(MADE, [[2, 5, [3, {"byte": 7}]], 1, 2])
    for odd in ([2, 5, 3], [2, 5, ["x", 1]], [2, 5, [1, 2, 3]], [2, 5, [1, 2], 3]):
        with pytest.raises(StreamStateError, match="invalid position"):
            check_place(MADE, [odd, 0, 0])


def test_lanes_are_found_by_their_numbers() -> None:
    assert own_shards([[0, 7], [2, 5, 0], (1, 6)], (1, 2), 3) == [[1, 6], [2, 5, 0]]


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (7, "does not contain the position of each lane"),
        ([[0, "x"]], "does not contain the position of each lane"),
        ([[0]], "does not contain the position of each lane"),
        ([[3, 1]], "does not contain the position of each lane"),
        ([[0, 7]], r"lacks lane 1 of 3.*merge_states\(\)"),
        ([], r"lacks the lanes 0, 1 of 3"),
        ([[0, 7], [1, 7], [0, 7]], "names a lane twice"),
    ],
)
def test_a_state_without_the_lanes_that_are_read_is_refused(at: object, words: str) -> None:
    with pytest.raises(StreamStateError, match=words):
        own_shards(at, (0, 1), 3)


def test_a_state_says_how_many_lanes_there_are() -> None:
    assert saved(Place(0, None, [[0, 1]]), SIGNATURE, 48)["lanes"] == 48
    assert "lanes" not in saved(Place(0, None, 1), SIGNATURE)


# Whether every row was delivered once, by the states of all ranks.

LANES = 4


def _keeps(row: dict[str, Any]) -> bool:
    return bool(row["a"] % 3 != 1)


def parts(world_size: int, change: Any = lambda rows: rows, **options: Any) -> list[IterableDataset]:
    rows = change(Dataset.from_dict({"a": list(range(30))}).to_iterable_dataset())
    return [split_dataset_by_node(rows, rank, world_size, lanes=LANES, **options) for rank in range(world_size)]


CHANGES: list[Any] = [
    lambda rows: rows,
    lambda rows: rows.shuffle(seed=1, buffer_size=8),
    lambda rows: rows.filter(_keeps),
    lambda rows: rows.shuffle(seed=1).filter(_keeps).map(lambda row: {"b": row["a"]}),
    lambda rows: rows.repeat(2),
    lambda rows: rows.filter(_keeps).take(11),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_whole_epochs_are_exactly_once(number: int, world_size: int) -> None:
    found = parts(world_size, CHANGES[number])
    counts = [len(list(part)) for part in found]

    told = audit([part.state_dict() for part in found], found[0])

    assert told.is_exactly_once
    assert told.delivered == sum(counts)
    assert str(told) == f"All {sum(counts)} rows were delivered exactly once."


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_rank_that_stopped_early_is_told(number: int) -> None:
    found = parts(2, CHANGES[number])
    list(found[0])
    walk = iter(found[1])
    for _ in range(3):
        next(walk)

    told = audit([part.state_dict() for part in found], found[1])

    assert [rows.lane for rows in told.missing] == [1, 3]
    assert [rows.start for rows in told.missing] == [2, 1]
    assert not told.doubled
    assert "Missing: lane 1" in str(told)


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_rank_that_two_processes_took_for_theirs_is_told(number: int) -> None:
    found = parts(2, CHANGES[number])
    states = []
    for rank, count in ((0, 100), (1, 100), (1, 5)):
        walk = iter(parts(2, CHANGES[number])[rank])
        for _ in zip(range(count), walk, strict=False):
            pass
        states.append(walk.state_dict())

    told = audit(states, found[0])

    assert not told.missing
    assert [(rows.lane, rows.start, rows.stop) for rows in told.doubled] == [(1, 0, 3), (3, 0, 2)]
    assert not told.is_exactly_once
    assert "More than once: lane 1, rows 0 to 2" in str(told)


def test_rows_are_named_where_they_stand() -> None:
    (rows,) = parts(1)
    told = audit([rows.state_dict()], rows)
    assert str(told.missing[2]) == "lane 2, rows 0 to 6 (the first: row 16)"
    assert told.delivered == 0


def test_rows_of_files_are_named_by_their_files(tmp_path: Any) -> None:
    from datasets_core.load import load_dataset

    for name in ("one", "two"):
        Dataset.from_dict({"a": list(range(10))}).to_parquet(str(tmp_path / f"{name}.parquet"))
    stream = load_dataset("parquet", data_dir=str(tmp_path), split="train", streaming=True)
    rows = split_dataset_by_node(stream, 0, 1, lanes=LANES)
    told = audit([rows.state_dict()], rows)
    assert "two.parquet" in str(told.missing[3])
    filtered = split_dataset_by_node(stream.filter(_keeps), 0, 1, lanes=LANES)
    assert "one.parquet" in str(audit([filtered.state_dict()], filtered).missing[0])


def test_states_of_a_run_that_went_on_elsewhere_are_audited_alone() -> None:
    before = parts(3)
    walks = [iter(part) for part in before]
    for walk in walks:
        next(walk)
    state = merge_states([walk.state_dict() for walk in walks])
    behind = parts(2)
    for part in behind:
        part.load_state_dict(state)
        list(part)
    assert audit([part.state_dict() for part in behind], before[0]).is_exactly_once


@pytest.mark.parametrize("ends", ["drop", "pad"])
def test_ends_that_are_even_are_no_faults(ends: str) -> None:
    found = parts(2, ends=ends)
    for part in found:
        list(part)
    assert audit([part.state_dict() for part in found], found[0]).is_exactly_once


def test_lanes_that_were_filled_up_have_ended() -> None:
    (rows,) = parts(1, lambda rows: rows.filter(lambda row: row["a"] > 5), ends="pad")
    list(rows)
    assert audit([rows.state_dict()], rows).is_exactly_once


def test_what_cannot_be_audited_is_refused() -> None:
    (rows,) = parts(1)
    plain = Dataset.from_dict({"a": [1]}).to_iterable_dataset()
    for states, stream in (([], rows), ([plain.state_dict()], plain), ([rows.take(2).state_dict()], rows.take(2))):
        with pytest.raises(StreamStateError, match="split_dataset_by_node"):
            audit(states, stream)
    with pytest.raises(StreamStateError, match="to a stream whose step 1 is"):
        audit([rows.state_dict()], parts(1, lambda rows: rows.repeat(2))[0])
    with pytest.raises(StreamStateError, match="invalid position"):
        audit([{**rows.state_dict(), "at": [[0, 99]]}], rows)


def test_many_lanes_are_told_in_short() -> None:
    told = Audit(0, tuple(LaneRows(lane, 0, None) for lane in range(48)))
    assert str(told).endswith("lane 4, from row 0; and 43 more lanes.")


# States without what they would say twice.

VALUES = st.recursive(
    st.one_of(st.integers(), st.none(), st.sampled_from(["a", "b" * 30, "c" * 900])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2)),
    max_leaves=20,
)


@given(value=VALUES, times=st.integers(1, 30))
def test_what_is_folded_unfolds(value: Any, times: int) -> None:
    whole = [[number, value] for number in range(times)]
    found, same = json.loads(json.dumps(folded(whole)))
    assert unfolded(found, same) == whole


def test_marks_that_lanes_share_are_written_once() -> None:
    mark = [0, [0, 744, [744, "1795337575334332587"], ["c-n1G%L>9U5Zp>zgNpRv" * 10]]]
    whole = [[lane, 3, [[lane % 5, lane, mark], 7]] for lane in range(48)]
    found, same = folded(whole)
    assert same == [mark]
    assert len(json.dumps([found, same])) < 2500 < len(json.dumps(whole)) / 5


def test_small_states_stay_as_they_are() -> None:
    whole = [["a" * 100], ["a" * 100]]
    assert folded(whole) == (whole, [])


@pytest.mark.parametrize(("at", "same"), [([{"same": 1}], ["a"]), ([{"same": "x"}], ["a"]), ([{"same": 0}], None)])
def test_what_refers_to_nothing_is_refused(at: Any, same: Any) -> None:
    with pytest.raises(StreamStateError, match="refers to a missing entry"):
        unfolded(at, same)


# States of all ranks and workers as one, from which any number of them goes on.

LANES_MERGED_STATES = 12


def _keeps_merged_states(row: dict[str, Any]) -> bool:
    return bool(row["a"] % 5 != 2)


def _doubles(batch: dict[str, list[int]]) -> dict[str, list[int]]:
    return {"a": [row for row in batch["a"] for _ in range(row % 3)]}


CHANGES_MERGED_STATES: dict[str, Any] = {
    "none": lambda rows: rows,
    "shuffle": lambda rows: rows.shuffle(seed=1, buffer_size=30),
    "filter": lambda rows: rows.shuffle(seed=1, buffer_size=30).filter(_keeps_merged_states),
    "batched": lambda rows: rows.map(_doubles, batched=True, batch_size=4),
    "repeat": lambda rows: rows.filter(_keeps_merged_states).repeat(2),
    "take": lambda rows: rows.filter(_keeps_merged_states).take(70),
}


def stream(change: str = "none", rank: int = 0, world_size: int = 1, **options: Any) -> IterableDataset:
    rows = CHANGES_MERGED_STATES[change](Dataset.from_dict({"a": list(range(120))}).to_iterable_dataset())
    found: IterableDataset = split_dataset_by_node(rows, rank, world_size, lanes=LANES_MERGED_STATES, **options)
    return found


class Reader:
    """A worker of a rank, without a process of its own."""

    def __init__(self, part: IterableDataset, worker: int, num_workers: int, state: Any) -> None:
        self.part, self.share = part, Share(worker, num_workers)
        place = None if state is None else part._read(state)
        node = part._plan.node(0, self.share)
        own = part._plan.split.own(worker, num_workers)  # type: ignore[union-attr]
        at = node.start if place is None else [entry for entry in place.at if entry[0] in own]
        self.at = at
        self.rows = (
            (row, delivery.after(number)) for delivery in node.blocks(at) for number, row in enumerate(delivery.block.rows())
        )

    def read(self, count: int) -> list[Any]:
        found = []
        for _, (row, at) in zip(range(count), self.rows, strict=False):
            found.append(row["a"])
            self.at = at
        return found

    @property
    def state(self) -> dict[str, Any]:
        place = self.part._next_place()
        return self.part.saved_at(type(place)(place.epoch, None, self.at, place.seed))


@settings(max_examples=25)
@given(
    change=st.sampled_from(sorted(CHANGES_MERGED_STATES)),
    worlds=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 3)), min_size=1, max_size=3),
    data=st.data(),
)
def test_every_row_comes_once_however_ranks_and_workers_change(change: str, worlds: list[tuple[int, int]], data: Any) -> None:
    found: list[int] = []
    state: Any = None
    for number, (world_size, workers) in enumerate(worlds):
        readers = [
            Reader(stream(change, rank, world_size), worker, workers, state)
            for rank in range(world_size)
            for worker in range(workers)
        ]
        is_last = number == len(worlds) - 1
        for reader in readers:
            found += reader.read(1000 if is_last else data.draw(st.integers(0, 12)))
        state = json.loads(json.dumps(merge_states([reader.state for reader in readers])))

    assert sorted(found) == sorted(row["a"] for row in stream(change))
    last = stream(change)
    last.load_state_dict(state)
    assert list(last) == []


@pytest.mark.parametrize("change", sorted(CHANGES_MERGED_STATES))
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_global_batches_are_those_of_one_rank(change: str, steps: int) -> None:
    whole = [row["a"] for row in stream(change)]
    state: Any = None
    found: list[int] = []
    for world_size in (1, 3, 2, 12, 4):
        parts = [iter(stream(change, rank, world_size)) for rank in range(world_size)]
        for part in parts:
            if state is not None:
                part.load_state_dict(state)
        size = 2 * LANES_MERGED_STATES // world_size if change in ("none", "shuffle") else LANES_MERGED_STATES // world_size
        for _ in range(steps):
            batch = [row["a"] for part in parts for _, row in zip(range(size), part, strict=False)]
            if len(batch) == size * world_size and len(found) + len(batch) <= len(whole) * 2 // 3:
                assert sorted(batch) == sorted(whole[len(found) : len(found) + len(batch)])
            found += batch
        state = merge_states(part.state_dict() for part in parts)
    parts = [iter(stream(change, rank, 2)) for rank in range(2)]
    for part in parts:
        part.load_state_dict(state)
    assert sorted(found + [row["a"] for part in parts for row in part]) == sorted(whole)


def test_lanes_that_stand_behind_catch_up_first() -> None:
    parts = [iter(stream(rank=rank, world_size=2)) for rank in range(2)]
    first = {next(parts[0])["a"] for _ in range(9)}
    other = stream()
    other.load_state_dict(merge_states([part.state_dict() for part in parts]))

    found = [row["a"] for row in other]

    assert found == [row for row in [each["a"] for each in stream()] if row not in first]


def test_states_within_others_are_found() -> None:
    parts = [stream(rank=rank, world_size=2) for rank in range(2)]
    worker = {"fetcher_state": {"dataset_iter_state": parts[1].state_dict(), "fetcher_ended": False}, "dataset_state": {"x": 1}}
    silent = {"fetcher_state": None, "dataset_state": parts[0].state_dict()}

    assert len(list(stream_states({"step": 7, "loaders": [{"_snapshot": {"workers": {"0": worker}}}, silent]}))) == 2
    assert merge_states([worker, silent])["at"] == [[lane, 0] for lane in range(LANES_MERGED_STATES)]


def test_one_state_of_a_stream_that_is_not_divided_is_that_state() -> None:
    rows = Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset()
    assert merge_states([rows.state_dict()]) == rows.state_dict()


def _states(**options: Any) -> list[dict[str, Any]]:
    return [stream(rank=rank, world_size=3, **options).state_dict() for rank in range(3)]


def test_what_does_not_fit_together_is_refused() -> None:
    states = _states()
    ahead = iter(stream(rank=1, world_size=3))
    next(ahead)
    plain = Dataset.from_dict({"a": [1]}).to_iterable_dataset().state_dict()
    refused: list[tuple[Any, str]] = [
        ([], "No state of a stream was passed"),
        (states[:2], "No state contains the lanes 2, 5, 8, 11 of 12"),
        ([*states, ahead.state_dict()], "lane 1 returned 0 rows in one and 1 in the other"),
        ([*states[:2], {**states[2], "epoch": 1}], "to the epochs 0 and 1"),
        ([*states[:2], _states(ends="drop")[2]], "to a stream whose step 1 is"),
        ([plain, plain], "parts that cannot be redistributed"),
        ([{**states[0], "at": [7]}], "the position of each lane"),
        ([{**states[0], "at": 7}], "the position of each lane"),
        ([{**states[0], "plan": 7}], "invalid plan"),
        ([{"_steps_since_snapshot": 3, "_snapshot": states[0]}], "snapshot_every_n_steps=1"),
    ]
    for given_, words in refused:
        with pytest.raises(StreamStateError, match=words):
            merge_states(given_)
    for odd in (7, "x", None):
        with pytest.raises(ArgumentTypeError, match="is not a list of states"):
            merge_states(odd)  # type: ignore[arg-type]


def test_a_state_of_one_rank_is_for_that_rank() -> None:
    with pytest.raises(StreamStateError, match=r"lacks the lanes 1, 4, 7, 10 of 12.*merge_states"):
        stream(rank=1, world_size=3).load_state_dict(_states()[0])


def test_steps_on_the_rows_of_a_rank_bind_a_state_to_it() -> None:
    taken = stream(rank=1, world_size=3).take(5)
    walk = iter(taken)
    head = [next(walk) for _ in range(2)]
    again = stream(rank=1, world_size=3).take(5)
    again.load_state_dict(json.loads(json.dumps(walk.state_dict())))
    assert head + list(again) == list(taken)

    with pytest.raises(StreamStateError, match="rank=1, world_size=3"):
        stream(rank=2, world_size=3).take(5).load_state_dict(walk.state_dict())
    with pytest.raises(StreamStateError, match="cannot be redistributed"):
        merge_states([walk.state_dict(), walk.state_dict()])


# States know the versions of the files elsewhere that they were made of.


class Versioned(MemoryBlocks):
    """A file with a version."""

    version = (9, '"one"')

    def index(self):
        found = super().index()
        return FileIndex.of(found.schema, found.rows, found.sizes, self.version)


def signed():
    return ["rows", ""]


def stream_of(*tags, is_local=False):
    files = [Versioned(file.name, file.batches, is_local=is_local) for file in files_of(*([[3, 3]] * len(tags)))]
    for file, tag in zip(files, tags, strict=True):
        file.version = (9, tag)
    source = RowsOfBlocks((BlockPart(BlockIndex(files)),), None, NOWHERE, "data", signed)
    return IterableDataset(Plan(source)), files


def state_behind(stream, count):
    rows = iter(stream)
    for _ in range(count):
        next(rows)
    return json.loads(json.dumps(rows.state_dict()))


def numbers(stream):
    return [row["a"] for row in stream]


def test_a_state_goes_on_in_the_same_files_and_is_small() -> None:
    state = state_behind(stream_of("a", "b", "c")[0], 7)
    assert state["files"][0][0] in (2, 3) and len(json.dumps(state["files"])) < 60
    again, _ = stream_of("a", "b", "c")
    again.load_state_dict(state)
    assert again.state_dict() == state
    assert numbers(again) == list(range(7, 18))
    assert again.state_dict()["files"][0][0] == 3


def test_a_file_before_the_state_that_was_replaced_is_told() -> None:
    state = state_behind(stream_of("a", "b", "c")[0], 7)
    again, _ = stream_of("new", "b", "c")
    with pytest.raises(FileChangedError, match="file 0"):
        again.load_state_dict(state)
    assert numbers(again) == list(range(18))


def test_a_file_behind_the_state_may_be_another_one() -> None:
    stream, files = stream_of(*"abcdef")
    state = state_behind(stream, 1)
    known = state["files"][0][0]
    assert known < len(files)
    again, _ = stream_of(*"abcdef"[:known], *["new"] * (len(files) - known))
    again.load_state_dict(state)
    assert numbers(again) == list(range(1, 36))


def test_a_shuffled_order_is_of_all_files() -> None:
    stream, _ = stream_of("a", "b", "c")
    state = state_behind(stream.shuffle(seed=1), 1)
    assert state["files"][0][0] == 3
    again = stream_of("a", "b", "new")[0].shuffle(seed=1)
    with pytest.raises(FileChangedError):
        again.load_state_dict(state)


def test_a_state_without_versions_and_one_of_files_here_are_as_ever() -> None:
    state = state_behind(stream_of("a", "b")[0], 7)
    del state["files"]
    again, _ = stream_of("new", "b")
    again.load_state_dict(state)
    assert numbers(again) == list(range(7, 12))
    assert "files" not in state_behind(stream_of("a", "b", is_local=True)[0], 7)


def test_a_file_whose_tag_one_side_does_not_know_is_compared_by_its_size() -> None:
    state = state_behind(stream_of("a", "b")[0], 7)
    again, files = stream_of("", "")
    again.load_state_dict(state)
    other, files = stream_of("", "")
    files[1].version = (8, "")
    with pytest.raises(FileChangedError):
        other.load_state_dict(state)


def test_what_is_loaded_goes_along_into_another_process() -> None:
    state = state_behind(stream_of("a", "b")[0], 7)
    again, _ = stream_of("a", "b")
    again.load_state_dict(state)
    assert pickle.loads(pickle.dumps(again)).state_dict() == state


def test_each_stream_of_a_mixture_has_its_files() -> None:
    def mixed(*last):
        return interleave_datasets([stream_of("a", "b")[0], stream_of("c", *last)[0]])

    state = state_behind(mixed("d"), 20)
    assert [entry[0] for entry in state["files"]] == [2, 2]
    again = mixed("d")
    again.load_state_dict(state)
    assert numbers(again) == [10, 10, 11]
    with pytest.raises(FileChangedError):
        mixed("new").load_state_dict(state)


@pytest.mark.parametrize(
    "files", [[], [[1]], [[1, "a", "b"], [1, "a", "b"]], [[True, "a", "b"]], [[-1, "a", "b"]], [[9, "a", "b"]], "x", [7], 7]
)
def test_what_is_no_list_of_versions_is_refused(files: object) -> None:
    stream, _ = stream_of("a", "b")
    state = {**state_behind(stream, 2), "files": files}
    with pytest.raises(StreamStateError, match="versions"):
        stream_of("a", "b")[0].load_state_dict(state)


def test_states_of_ranks_are_joined_to_what_most_is_known_of() -> None:
    states = [state_behind(split_dataset_by_node(stream_of("a", "b")[0], rank, 2), 3) for rank in range(2)]
    merged = merge_states(states)
    assert merged["files"] == states[0]["files"]
    alone = split_dataset_by_node(stream_of("a", "new")[0], 0, 1)
    with pytest.raises(FileChangedError):
        alone.load_state_dict(merged)
    other = [states[0], state_behind(split_dataset_by_node(stream_of("a", "new")[0], 1, 2), 3)]
    with pytest.raises(StreamStateError, match="changed in between"):
        merge_states(other)
    assert joined([None, None]) is None and joined([None, [[1, "a", ""]]]) == [[1, "a", ""]]


# Places that a state says are those of rows that are there.

STREAM = Dataset.from_dict({"a": list(range(9))}).to_iterable_dataset()
ROWS_SOURCE_PLACES = STREAM._plan.node(0)
FILTERED = STREAM.filter(None).shuffle(seed=1, buffer_size=2)._plan.node(0)
LANES_SOURCE_PLACES = split_dataset_by_node(STREAM, 0, 2, lanes=4)._plan.node(0)
FILTERED_LANES = split_dataset_by_node(STREAM.filter(None), 0, 2, lanes=4)._plan.node(0)


def test_a_place_is_one_of_the_rows_or_behind_them() -> None:
    check_place(ROWS_SOURCE_PLACES, 9)
    check_place(FILTERED, [9, 0, 3])
    check_place(LANES_SOURCE_PLACES, [[0, 3], [2, 2]])
    check_place(FILTERED_LANES, [[0, 1, 3], [2, 0, 2]])


@pytest.mark.parametrize("at", [10, 10**30])
def test_a_place_behind_the_rows_is_refused(at: int) -> None:
    for node, state in ((ROWS_SOURCE_PLACES, at), (FILTERED, [at, 0, 0])):
        with pytest.raises(StreamStateError, match=f"has the position row {at}, but there are only 9 rows"):
            check_place(node, state)


@pytest.mark.parametrize("entry", [[0, 4], [0, -1], [0, 1, 1]])
def test_a_place_behind_a_lane_is_refused(entry: list[int]) -> None:
    with pytest.raises(StreamStateError, match="invalid position"):
        check_place(LANES_SOURCE_PLACES, [entry, [2, 0]])


@pytest.mark.parametrize("entry", [[0, -1, 0], [0, 5], [0, 1, 0, 1], [0, 1, [3]], [0, 1, 4]])
def test_a_place_in_a_lane_is_one_of_its_rows(entry: list[int]) -> None:
    with pytest.raises(StreamStateError, match="state_dict"):
        check_place(FILTERED_LANES, [entry, [2, 0, 0]])


def test_a_stream_of_several_that_skips_rows_takes_its_own_states_back() -> None:
    joined = [concatenate_datasets([STREAM, STREAM]), interleave_datasets([STREAM, STREAM])]
    for stream in [each.skip(5) for each in joined]:
        rows = iter(stream)
        next(rows)
        again = iter(stream)
        again.load_state_dict(rows.state_dict())
        assert list(again) == list(rows)
