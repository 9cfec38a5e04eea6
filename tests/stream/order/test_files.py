"""Which files are read, and in which order: what a function may say, and what an epoch does."""

import copy
import dataclasses
import itertools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.meta.split_info import FileInstruction
from datasets_core.store.pieces import row_ranges
from datasets_core.stream.order.files import (
    EndlessFileTurns,
    FileRows,
    FileTurns,
    Interleave,
    ReadConfig,
    chosen_files,
    epochs_of_stretch,
    shuffled_files,
)

LENGTHS = {"a": 10, "b": 4, "c": 7, "e": 5}
FILES = [FileRows("a", 2, 8), FileRows("b", 0, 4), FileRows("c", 0, 5)]


def _sorted_by(function: Callable[[Any], Any]) -> list[FileRows]:
    return chosen_files(FILES, ReadConfig(interleave_sort_fn=function), LENGTHS)


def test_without_a_function_all_files_are_read_in_order() -> None:
    assert chosen_files(FILES, ReadConfig(), LENGTHS) == FILES


def test_a_function_is_given_instructions_as_splits_have_them() -> None:
    seen: list[FileInstruction] = []
    _sorted_by(lambda files: seen.extend(files) or files)

    assert [(file.filename, file.skip, file.take, file.num_examples) for file in seen] == [
        ("a", 2, -1, 8),
        ("b", 0, -1, 4),
        ("c", 0, 5, 5),
    ]
    assert seen[2].examples_in_shard == 7


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (reversed, FILES[::-1]),
        (lambda files: files[1:], FILES[1:]),
        (lambda files: [], []),
        (lambda files: [files[1], files[1]], [FILES[1], FILES[1]]),
        (lambda files: (file for file in files if file.skip), [FILES[0]]),
        (lambda files: [files[0].replace(skip=5)], [FileRows("a", 5, 5)]),
        (lambda files: [files[0].replace(skip=0, take=3)], [FileRows("a", 0, 3)]),
        (lambda files: [files[2].replace(take=-1)], [FileRows("c", 0, 7)]),
        (lambda files: [files[2].replace(skip=7, take=-1)], [FileRows("c", 7, 0)]),
    ],
)
def test_a_function_orders_drops_trims_and_repeats(function: Callable[[Any], Any], found: list[FileRows]) -> None:
    assert _sorted_by(function) == found


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda files: None, "returned None. Return the list"),
        (lambda files: ["a"], "returned 'a' in its list"),
        (lambda files: [files[0].replace(filename="d")], "the file 'd', which is not part of the dataset"),
        (
            lambda files: [files[0].replace(filename="e")],
            "the file 'e', which is not part of the split. Return files of its argument",
        ),
        (lambda files: [files[1].replace(skip=5)], "skip=5, take=-1 for 'b', which has 4 rows"),
        (lambda files: [files[1].replace(skip=2, take=3)], "skip=2, take=3 for 'b', which has 4 rows"),
    ],
)
def test_what_a_function_may_not_give_is_refused_by_name(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        _sorted_by(function)


def test_pipelines_take_turns_in_what_the_function_gave() -> None:
    parts = [
        chosen_files(FILES, ReadConfig(interleave_sort_fn=reversed, input_context=_pipeline(2, index)), LENGTHS)  # type: ignore[arg-type]
        for index in range(2)
    ]
    assert parts == [[FILES[2], FILES[0]], [FILES[1]]]


def test_more_pipelines_than_files_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="divides 3 files among 4 pipelines"):
        chosen_files(FILES, ReadConfig(input_context=_pipeline(4, 0)), LENGTHS)


def _pipeline(count: int, index: int) -> SimpleNamespace:
    return SimpleNamespace(num_input_pipelines=count, input_pipeline_id=index)


@given(st.integers(0, 40), st.integers(-(2**70), 2**70), st.integers(0, 50))
def test_an_epoch_is_an_order_of_all_files_and_of_no_neighbour(count: int, seed: int, epoch: int) -> None:
    orders = [shuffled_files(count, seed, each).tolist() for each in (epoch, epoch + 1)]

    assert [sorted(order) for order in orders] == [list(range(count))] * 2
    assert (orders[0] != orders[1]) is (count > 1)
    assert count < 3 or list(range(count)) not in orders


def test_orders_of_seeds_and_epochs_differ() -> None:
    orders = {tuple(shuffled_files(20, seed, epoch).tolist()) for seed, epoch in itertools.product(range(10), range(10))}
    assert len(orders) == 100


def test_every_file_is_first_at_times() -> None:
    assert {shuffled_files(5, 1, epoch)[0] for epoch in range(60)} == set(range(5))


def test_the_order_of_an_epoch_is_the_same_on_every_machine() -> None:
    """These numbers are part of saved states: they do not change."""
    assert [shuffled_files(8, 32, epoch).tolist() for epoch in range(3)] == ORDERS


ORDERS = [[6, 1, 4, 7, 5, 3, 0, 2], [0, 1, 2, 3, 6, 7, 4, 5], [7, 0, 4, 3, 1, 5, 6, 2]]


# Files in an order of their own, once or without end.

LENGTHS_FILE_TURNS = np.array([4, 0, 7, 2])


def _order(epoch: int) -> np.ndarray:
    return np.roll(np.arange(4), epoch)


@given(st.permutations(range(4)), st.integers(1, 5), st.integers(1, 5))
def test_an_order_of_files_is_theirs_in_turn(order: list[int], cycle: int, block: int) -> None:
    turns = FileTurns(LENGTHS_FILE_TURNS, np.array(order), cycle, block)
    files, rows = turns.at(np.arange(13))

    found = list(zip(files.tolist(), rows.tolist(), strict=True))

    assert sorted(found) == [(file, row) for file in range(4) for row in range(LENGTHS_FILE_TURNS[file])]
    assert list(dict.fromkeys(file for file, row in found)) == [file for file in order if LENGTHS_FILE_TURNS[file]]
    assert turns.places_of(files, rows).tolist() == list(range(13))


@given(st.integers(1, 9), st.integers(1, 5))
def test_epochs_without_end_are_the_files_of_as_many_as_one_likes(cycle: int, block: int) -> None:
    """What is planned for the first rows does not depend on how many epochs follow."""
    turns = EndlessFileTurns(LENGTHS_FILE_TURNS, _order, cycle, block, 60)
    files, rows = turns.at(np.arange(100))

    many = FileTurns(
        np.tile(LENGTHS_FILE_TURNS, 60), np.concatenate([_order(epoch) + 4 * epoch for epoch in range(60)]), cycle, block
    )
    expected, expected_rows = many.at(np.arange(100))

    assert files.tolist() == (expected % 4).tolist()
    assert rows.tolist() == expected_rows.tolist()
    found = list(zip(files.tolist(), rows.tolist(), strict=True))
    assert turns.places_of(files, rows).tolist() == [found.index(row) for row in found]
    assert [turns.first_behind(place) for place in range(60)] == [many.first_behind(place) for place in range(60)]


@pytest.mark.parametrize("place", [0, 12, 13, 5000])
def test_any_place_can_be_asked_for_first(place: int) -> None:
    whole = EndlessFileTurns(LENGTHS_FILE_TURNS, _order, 2, 2, 1000).at(np.arange(place + 1))

    file, row = EndlessFileTurns(LENGTHS_FILE_TURNS, _order, 2, 2, 1000).at(np.array([place]))

    assert (file[0], row[0]) == (whole[0][-1], whole[1][-1])


def test_one_file_at_a_time_is_one_epoch_after_the_other() -> None:
    files, _ = EndlessFileTurns(LENGTHS_FILE_TURNS, _order, 1, 2, 4).at(np.arange(26))
    assert [file for file, _ in itertools.groupby(files.tolist())] == [0, 2, 3, 0, 2]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3), st.lists(st.integers(0, 12), max_size=5))
def test_stretches_follow_each_other(cycle: int, block: int, epochs: int, number: int, some: list[int]) -> None:
    turns, rows = EndlessFileTurns(LENGTHS_FILE_TURNS, _order, cycle, block, epochs), 13 * epochs
    orders = np.concatenate([_order(number * epochs + epoch) for epoch in range(epochs)])
    stretch = FileTurns(LENGTHS_FILE_TURNS, orders, cycle, block)
    places = np.array([*range(rows), *some])

    found = turns.at(places + number * rows)

    assert [each.tolist() for each in found] == [each.tolist() for each in stretch.at(places)]
    assert turns.first_behind((number + 1) * rows - 1) == (number + 1) * rows
    both = EndlessFileTurns(LENGTHS_FILE_TURNS, _order, cycle, block, epochs).at(np.arange(2 * rows))
    assert [each[-1].tolist() for each in both] == [each[0].tolist() for each in turns.at(np.array([2 * rows - 1]))]


@pytest.mark.parametrize("changes", [False, True])
def test_a_place_far_behind_takes_no_longer_than_a_stretch(changes: bool) -> None:
    planned = 0

    def order(epoch: int) -> np.ndarray:
        nonlocal planned
        planned += 1
        return _order(epoch)

    epochs = epochs_of_stretch(4, changes=changes)
    files, rows = EndlessFileTurns(LENGTHS_FILE_TURNS, order, 2, 2, epochs).at(np.array([2**61]))

    assert 0 <= rows[0] < LENGTHS_FILE_TURNS[files[0]]
    assert planned <= epochs <= 4096


def test_a_row_of_a_long_file_comes_when_it_comes_among_the_files_of_later_epochs() -> None:
    lengths = np.array([500, 1])
    turns = EndlessFileTurns(lengths, lambda epoch: np.array([0, 1]), 3, 2, 100)
    found = list(zip(*(each.tolist() for each in turns.at(np.arange(1600))), strict=True))

    fresh = EndlessFileTurns(lengths, lambda epoch: np.array([0, 1]), 3, 2, 100)

    assert fresh.places_of(np.array([0]), np.array([499])).tolist() == [found.index((0, 499))]


# The order in which files are read in turn is what a walk over the slots gives, at every place.

GOLDEN = json.loads((Path(__file__).parents[2] / "building" / "golden" / "tfds_reading_order.json").read_text())


def _walked(lengths: list[int], cycle: int, block: int) -> list[tuple[int, int]]:
    """Slot after slot: open a file, give a block, and leave the slot empty where a file gave less."""
    found: list[tuple[int, int]] = []
    slots: list[tuple[int, int] | None] = [None] * cycle
    waiting = iter(enumerate(lengths))
    visit = 0
    while len(found) < sum(lengths):
        slot = visit % cycle
        visit += 1
        if slots[slot] is None and (opened := next(waiting, None)) is not None:
            slots[slot] = opened[0], 0
        if (held := slots[slot]) is None:
            continue
        file, row = held
        stop = min(row + block, lengths[file])
        found += [(file, each) for each in range(row, stop)]
        slots[slot] = (file, stop) if stop == row + block else None
    return found


def _at(interleave: Interleave, places: list[int]) -> list[tuple[int, int]]:
    files, rows = interleave.at(np.array(places, np.int64))
    return list(zip(files.tolist(), rows.tolist(), strict=True))


LENGTHS_INTERLEAVE = st.lists(st.one_of(st.integers(0, 30), st.sampled_from([0, 1, 4, 8, 16])), min_size=1, max_size=14).filter(
    any
)


@given(LENGTHS_INTERLEAVE, st.integers(1, 16), st.integers(1, 9), st.data())
def test_every_place_is_that_of_the_walk(lengths: list[int], cycle: int, block: int, data: st.DataObject) -> None:
    interleave, walked = Interleave(lengths, cycle, block), _walked(lengths, cycle, block)
    some = data.draw(st.lists(st.integers(0, len(walked) - 1), max_size=8))

    assert _at(interleave, list(range(len(walked)))) == walked
    assert _at(interleave, some) == [walked[place] for place in some]
    assert [_at(interleave, [place]) for place in some] == [[walked[place]] for place in some]
    assert interleave.places_of(*interleave.at(np.array(some, np.int64))).tolist() == some


@given(LENGTHS_INTERLEAVE, st.integers(1, 16), st.integers(1, 9))
def test_files_are_opened_where_their_first_row_stands(lengths: list[int], cycle: int, block: int) -> None:
    interleave, walked = Interleave(lengths, cycle, block), _walked(lengths, cycle, block)
    openings = [place for place, (_, row) in enumerate(walked) if not row]

    found = [interleave.first_behind(place) for place in range(len(walked))]

    assert found == [min([other for other in openings if other > place], default=len(walked)) for place in range(len(walked))]
    assert interleave.last_opening == openings[-1]


@pytest.mark.parametrize("case", [case for case in GOLDEN["interleave_cases"] if "ids" in case["expected"]])
def test_the_order_is_that_of_tfds(case: dict[str, Any]) -> None:
    ranges = row_ranges(case["split"], case["shard_lengths"])
    asked = {"interleave_cycle_length": 1 if case.get("disable_shuffling") else 16, "interleave_block_length": 16}
    cycle, block = {**asked, **case["read_config"]}.values()
    interleave = Interleave([found.stop - found.start for found in ranges], cycle, block)

    files, rows = interleave.at(np.arange(interleave.num_rows))

    starts = [sum(case["shard_lengths"][found.split][: found.shard]) + found.start for found in ranges]
    assert [starts[file] + row for file, row in zip(files.tolist(), rows.tolist(), strict=True)] == case["expected"]["ids"]


@pytest.mark.parametrize("case", GOLDEN["seed_cases"], ids=lambda case: case["what"])
def test_the_order_is_that_of_the_documentation(case: dict[str, Any]) -> None:
    ends = [round(case["num_examples"] * shard / case["num_shards"]) for shard in range(case["num_shards"] + 1)]
    ranges = row_ranges(case["what"].partition(",")[0], {"train": np.diff(ends).tolist()})
    ranges = ranges[:: -1 if "reversed" in case["what"] else 1]
    interleave = Interleave([found.stop - found.start for found in ranges], case["cycle_length"], case["block_length"])

    files, rows = interleave.at(np.arange(case["skip"], case["skip"] + case["take"]))

    found = [
        ends[ranges[file].shard] + ranges[file].start + row for file, row in zip(files.tolist(), rows.tolist(), strict=True)
    ]
    assert found == case["expected_ids"]


@given(LENGTHS_INTERLEAVE, st.sampled_from([2, 3, 2**62, 10**30]), st.sampled_from([31, 2**62, 2**63 - 1, 10**30]))
def test_numbers_beyond_all_files_and_rows_are_all_of_them(lengths: list[int], cycle: int, block: int) -> None:
    places = np.arange(sum(lengths))
    large, small = Interleave(lengths, cycle, block), Interleave(lengths, min(cycle, len(lengths)), 31)

    found, expected = large.at(places), small.at(places)

    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
    assert large.places_of(*found).tolist() == places.tolist()
    assert [large.first_behind(place) for place in places] == [small.first_behind(place) for place in places]


def test_no_place_is_no_row() -> None:
    assert _at(Interleave([3, 3], 2, 2), []) == []


def test_ten_million_rows_in_a_thousand_files_are_planned_without_walking() -> None:
    interleave = Interleave(np.full(1000, 10_000), 16, 16)

    assert _at(interleave, [5_000_000]) == [(500, 2496)]
    assert (interleave.num_rows, interleave.first_behind(5_000_000)) == (10_000_000, 5_120_000)
    assert len(interleave._rounds._cuts) < 3000


# What a read config takes, and how it is understood.


def test_defaults_are_those_of_tfds() -> None:
    asked = ReadConfig()
    assert (asked.interleave_cycle_length, asked.interleave_block_length, asked.shuffle_seed) == (16, 16, None)
    assert (asked.enable_ordering_guard, asked.assert_cardinality, asked.try_autocache) == (True, True, True)
    assert (asked.add_tfds_id, asked.repeat_filenames, asked.skip_prefetch) == (False, False, False)
    assert asked == ReadConfig()


@pytest.mark.parametrize("name", [each.name for each in dataclasses.fields(ReadConfig)])
def test_every_field_is_described(name: str) -> None:
    assert name in str(ReadConfig.__doc__)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("interleave_cycle_length", 0),
        ("interleave_cycle_length", True),
        ("interleave_cycle_length", 1.5),
        ("interleave_block_length", -1),
        ("interleave_block_length", "16"),
        ("shuffle_seed", "x"),
        ("shuffle_seed", 0.5),
        ("interleave_sort_fn", 3),
        ("experimental_interleave_sort_fn", "sorted"),
        ("input_context", object()),
        ("input_context", SimpleNamespace(num_input_pipelines=2, input_pipeline_id=2)),
        ("input_context", SimpleNamespace(num_input_pipelines=2, input_pipeline_id=-1)),
        ("input_context", SimpleNamespace(num_input_pipelines=2)),
    ],
)
def test_what_means_nothing_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"interleave_|shuffle_seed|input_|sort_fn") as found:
        ReadConfig(**{name: value})
    assert isinstance(found.value, ValueError)
    later = ReadConfig()
    setattr(later, name, value)
    with pytest.raises(ConfigurationError):
        later.check()


def test_both_names_of_the_sort_function_mean_one() -> None:
    assert ReadConfig(interleave_sort_fn=sorted, experimental_interleave_sort_fn=sorted).sort_function is sorted
    assert ReadConfig(experimental_interleave_sort_fn=list).sort_function is list
    with pytest.raises(ConfigurationError, match="two names of the same option"):
        ReadConfig(interleave_sort_fn=sorted, experimental_interleave_sort_fn=list)


@pytest.mark.parametrize("changed", [lambda asked: asked, copy.deepcopy, lambda asked: pickle.loads(pickle.dumps(asked))])
def test_a_cycle_that_nobody_asked_for_gives_way_to_order(changed: Any) -> None:
    unasked, asked = changed(ReadConfig(shuffle_seed=1)), changed(ReadConfig(interleave_cycle_length=int("16")))

    assert (unasked.cycle_length(is_ordered=False), unasked.cycle_length(is_ordered=True)) == (16, 1)
    assert (asked.cycle_length(is_ordered=False), asked.cycle_length(is_ordered=True)) == (16, 16)
    assert dataclasses.replace(unasked, shuffle_seed=2).cycle_length(is_ordered=True) == 1


def test_none_is_the_default() -> None:
    asked = ReadConfig(interleave_cycle_length=None, interleave_block_length=None)
    assert (asked.cycle_length(is_ordered=False), asked.cycle_length(is_ordered=True), asked.block_length) == (16, 1, 16)


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    asked = ReadConfig(interleave_cycle_length=np.int64(3), shuffle_seed=np.int32(1))  # type: ignore[arg-type]
    assert type(asked.cycle_length(is_ordered=False)) is int


def test_options_of_other_code_are_taken() -> None:
    asked = ReadConfig(try_autocache=False, num_parallel_calls_for_decode=3, override_buffer_size=7, file_format="array_record")
    asked.options.deterministic = True
    assert asked == ReadConfig(**{**vars(asked), "options": None})


def test_columns_of_ids_are_those_that_are_asked_for() -> None:
    assert ReadConfig().id_columns == ()
    assert ReadConfig(add_tfds_id=True).id_columns == ("tfds_id",)
    assert ReadConfig(add_tfds_id=True, add_row_id=True).id_columns == ("tfds_id", "row_id")


@pytest.mark.parametrize(("given", "found"), [(None, True), (True, True), (False, False)])
def test_files_are_shuffled_anew_unless_that_is_refused(given: bool | None, found: bool) -> None:
    assert ReadConfig(shuffle_reshuffle_each_iteration=given).reshuffles is found
