"""Places that a state says are those of rows that are there."""

import pytest

from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import StreamStateError
from datasets_core.stream.state import check_place

STREAM = Dataset.from_dict({"a": list(range(9))}).to_iterable_dataset()
ROWS = STREAM._plan.node(0)
FILTERED = STREAM.filter(None).shuffle(seed=1, buffer_size=2)._plan.node(0)
LANES = split_dataset_by_node(STREAM, 0, 2, lanes=4)._plan.node(0)
FILTERED_LANES = split_dataset_by_node(STREAM.filter(None), 0, 2, lanes=4)._plan.node(0)


def test_a_place_is_one_of_the_rows_or_behind_them() -> None:
    check_place(ROWS, 9)
    check_place(FILTERED, [9, 0, 3])
    check_place(LANES, [[0, 3], [2, 2]])
    check_place(FILTERED_LANES, [[0, 1, 3], [2, 0, 2]])


@pytest.mark.parametrize("at", [10, 10**30])
def test_a_place_behind_the_rows_is_refused(at: int) -> None:
    for node, state in ((ROWS, at), (FILTERED, [at, 0, 0])):
        with pytest.raises(StreamStateError, match=f"stands behind row {at}, and there are 9 rows"):
            check_place(node, state)


@pytest.mark.parametrize("entry", [[0, 4], [0, -1], [0, 1, 1]])
def test_a_place_behind_a_lane_is_refused(entry: list[int]) -> None:
    with pytest.raises(StreamStateError, match="says that lane 0 stands at"):
        check_place(LANES, [entry, [2, 0]])


@pytest.mark.parametrize("entry", [[0, -1, 0], [0, 5], [0, 1, 0, 1], [0, 1, [3]], [0, 1, 4]])
def test_a_place_in_a_lane_is_one_of_its_rows(entry: list[int]) -> None:
    with pytest.raises(StreamStateError, match="Give what"):
        check_place(FILTERED_LANES, [entry, [2, 0, 0]])


def test_a_stream_of_several_that_skips_rows_takes_its_own_states_back() -> None:
    joined = [concatenate_datasets([STREAM, STREAM]), interleave_datasets([STREAM, STREAM])]
    for stream in [each.skip(5) for each in joined]:
        rows = iter(stream)
        next(rows)
        again = iter(stream)
        again.load_state_dict(rows.state_dict())
        assert list(again) == list(rows)
