"""Requests hold every range that is wanted, and little else."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from datasets_core.fetch.ranges.file import MOST_BYTES, MOST_GAP, cut, merged

PLACES = st.integers(0, 2_000_000)
RANGES = st.lists(st.tuples(PLACES, st.integers(0, 300_000)).map(lambda each: (each[0], sum(each))), max_size=30)


@given(RANGES)
def test_each_range_is_in_one_request_and_no_byte_in_two(ranges):
    plan = merged(ranges)
    held = {number: (start, stop) for each in plan for number, start, stop in each.ranges}
    assert held == {number: each for number, each in enumerate(ranges) if each[1] > each[0]}
    assert all(each.start <= start < stop <= each.stop for each in plan for _, start, stop in each.ranges)
    assert all(one.stop <= other.start for one, other in itertools.pairwise(plan))


@given(RANGES)
def test_little_comes_that_nobody_wants(ranges):
    for each in merged(ranges):
        covered, place, gaps = 0, each.start, []
        for _, start, stop in sorted(each.ranges, key=lambda part: part[1]):
            gaps.append(max(0, start - place))
            covered += max(0, stop - max(start, place))
            place = max(place, stop)
        size = each.stop - each.start
        assert max(gaps) <= MOST_GAP
        assert size - covered <= max(size // 10, 128 * len(gaps))


@given(PLACES, st.integers(1, 10 * MOST_BYTES))
def test_long_ranges_are_cut_into_equal_parts(start, count):
    parts = list(cut(start, start + count))
    assert parts[0][0] == start and parts[-1][1] == start + count
    assert all(one[1] == other[0] for one, other in itertools.pairwise(parts))
    sizes = [stop - begin for begin, stop in parts]
    assert max(sizes) <= MOST_BYTES and max(sizes) - min(sizes) <= 1
