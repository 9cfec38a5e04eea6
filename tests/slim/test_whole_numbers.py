"""What counts as a whole number, wherever one is asked for."""

import json

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError
from datasets_core.slim.queues import whole_number


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_numbers_of_numpy_are_numbers(value):
    number = whole_number("n", value, 1)
    assert (number, type(number)) == (3, int)


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "1", None, True, np.bool_(True), np.float32(2)])
def test_what_is_none_is_refused(value):
    with pytest.raises(ConfigurationError, match="the size is a whole number from 1 on"):
        whole_number("the size", value, 1)


def test_a_number_without_a_least_may_be_any():
    assert whole_number("seed", -(1 << 80)) == -(1 << 80)


def test_all_arguments_take_the_same_numbers(numbered):
    dataset, two = numbered(9), np.int64(2)
    sizes = {"common_queue_capacity": np.int64(4), "common_queue_min": two, "seed": np.uint8(200)}
    with slim.DatasetDataProvider(dataset, two, None, True, two, **sizes) as provider:
        assert [len(batch["data"]) for batch in provider.batch(np.int64(9))] == [9, 9]
        assert json.loads(json.dumps(provider.state_dict()))["made_of"]["queue"] == [4, 2]
    with slim.prefetch_queue([[1], [2], [3]], np.int64(4), two) as queue:
        assert queue.dequeue_many(two)[0].tolist() == [1, 2]
    with slim.ParallelReader(slim.TFRecordReader, slim.RandomShuffleQueue(np.int64(4), two), two) as reader:
        assert len(reader.read_up_to(dataset.data_sources, two)[0]) == 2
