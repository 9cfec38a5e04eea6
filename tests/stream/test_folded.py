"""States without what they would say twice."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import StreamStateError
from datasets_core.stream.state import folded, unfolded

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
    with pytest.raises(StreamStateError, match="refers to what it does not hold"):
        unfolded(at, same)
