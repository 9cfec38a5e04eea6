"""The iteration of a stream, and where it stands."""

import copy

import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError, StreamStateError
from datasets_core.store.rows.indices import at_least, whole_number
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iteration import Streamed

STREAM = IterableDataset.from_dict({"a": [0, 1, 2, 3, 4]})


def test_two_iterations_do_not_disturb_each_other() -> None:
    one, two = iter(STREAM), iter(STREAM)
    assert [next(one), next(two), next(one)] == [{"a": 0}, {"a": 0}, {"a": 1}]


def test_a_state_before_the_first_row_is_the_beginning() -> None:
    stream = copy.copy(STREAM)
    state = stream.state_dict()
    rows = iter(stream)
    assert stream.state_dict() == state
    next(rows)
    assert stream.state_dict() != state


def test_a_state_that_is_loaded_is_the_state_until_rows_are_read() -> None:
    stream = copy.copy(STREAM)
    next(iter(stream))
    state = stream.state_dict()
    stream.load_state_dict(state)
    assert stream.state_dict() == state
    iter(stream)
    assert stream.state_dict() == state


@pytest.mark.parametrize("at", [-1, 6, "x", None, [1]])
@pytest.mark.parametrize("share", [None, [0, 10**12]])
def test_a_state_with_a_place_that_is_none_is_refused_at_once(at: object, share: object) -> None:
    stream = copy.copy(STREAM)
    state = {**stream.state_dict(), "at": at, "share": share}
    with pytest.raises(StreamStateError, match="stands"):
        stream.load_state_dict(state)
    with pytest.raises(StreamStateError, match="stands"):
        iter(stream).load_state_dict(state)
    behind = stream.filter(lambda row: True).repeat(2).shuffle(1).batch(2)
    with pytest.raises(StreamStateError, match="stands"):
        behind.load_state_dict({**behind.state_dict(), "at": at})


def test_a_last_batch_may_be_left_out() -> None:
    assert list(STREAM.iter(2, drop_last_batch=True)) == [{"a": [0, 1]}, {"a": [2, 3]}]


def test_a_step_begins_at_the_beginning() -> None:
    stream = copy.copy(STREAM)
    next(iter(stream))
    stream.load_state_dict(stream.state_dict())
    assert list(stream.take(1)) == [{"a": 0}]


def test_a_stream_is_what_its_class_says() -> None:
    assert isinstance(STREAM, Streamed)
    assert STREAM.__class__ is IterableDataset


def test_an_epoch_is_a_whole_number() -> None:
    with pytest.raises(ArgumentTypeError, match=r"epoch='x' is not an integer"):
        STREAM.set_epoch("x")  # type: ignore[arg-type]


def test_numbers_are_checked() -> None:
    assert whole_number("n", True) == 1
    with pytest.raises(ConfigurationError, match=r"n=0 has no meaning\. Give 1 or more"):
        at_least("n", 0, 1)


def test_a_function_that_is_slow_is_not_run_far_ahead() -> None:
    import time

    seen = []

    def slow(row: dict[str, int]) -> None:
        seen.append(row["a"])
        end = time.perf_counter() + 0.03
        while time.perf_counter() < end:
            pass

    rows = iter(IterableDataset.from_dict({"a": list(range(100))}).map(slow))
    for _ in range(5):
        next(rows)
    assert len(seen) <= 8
