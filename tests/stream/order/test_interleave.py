"""The order in which files are read in turn is what a walk over the slots gives, at every place."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.splits import row_ranges
from datasets_core.stream.order.files import Interleave

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


LENGTHS = st.lists(st.one_of(st.integers(0, 30), st.sampled_from([0, 1, 4, 8, 16])), min_size=1, max_size=14).filter(any)


@given(LENGTHS, st.integers(1, 16), st.integers(1, 9), st.data())
def test_every_place_is_that_of_the_walk(lengths: list[int], cycle: int, block: int, data: st.DataObject) -> None:
    interleave, walked = Interleave(lengths, cycle, block), _walked(lengths, cycle, block)
    some = data.draw(st.lists(st.integers(0, len(walked) - 1), max_size=8))

    assert _at(interleave, list(range(len(walked)))) == walked
    assert _at(interleave, some) == [walked[place] for place in some]
    assert [_at(interleave, [place]) for place in some] == [[walked[place]] for place in some]
    assert interleave.places_of(*interleave.at(np.array(some, np.int64))).tolist() == some


@given(LENGTHS, st.integers(1, 16), st.integers(1, 9))
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


@given(LENGTHS, st.sampled_from([2, 3, 2**62, 10**30]), st.sampled_from([31, 2**62, 2**63 - 1, 10**30]))
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
