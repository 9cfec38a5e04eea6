"""What becomes of several samples in one batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.records.specs.values import SparseValue
from datasets_core.slim.queues import batch_of, batches, padded, stacked_sparse


def endless():
    return {"a": np.array(1)}


@pytest.mark.parametrize("size", [0, -1, 1.5, None, True])
def test_a_batch_has_a_sample(size):
    with pytest.raises(ConfigurationError, match="The size of a batch"):
        batches(endless, size, drop_remainder=False, ragged="error", padding=0)


def test_another_word_for_ragged_is_refused():
    with pytest.raises(ConfigurationError, match="'pad'"):
        batches(endless, 1, drop_remainder=False, ragged="trim", padding=0)


def test_values_that_are_no_arrays_are_listed():
    found = batch_of([{"a": "x", "b": {"c": 1}}, {"a": "y", "b": None}])
    assert found == {"a": ["x", "y"], "b": [{"c": 1}, None]}


def test_bytes_are_stacked_and_padded_as_bytes():
    one, two = np.array([b"a"], object), np.array([b"b", b"c"], object)
    assert batch_of([{"a": one}, {"a": two}], ragged="pad")["a"].tolist() == [[b"a", b""], [b"b", b"c"]]
    assert batch_of([{"a": np.array(b"a", object)}, {"a": np.array(b"b", object)}])["a"].tolist() == [b"a", b"b"]


def test_padding_may_differ_by_item():
    samples = [{"a": np.array([1]), "b": np.array([1.0])}, {"a": np.array([]), "b": np.array([])}]
    found = batch_of(samples, ragged="pad", padding={"a": -1})
    assert (found["a"].tolist(), found["b"].tolist()) == ([[1], [-1]], [[1], [0]])


def test_arrays_of_several_ranks_are_no_batch():
    with pytest.raises(ConfigurationError, match="'list'"):
        batch_of([{"a": np.array(1)}, {"a": np.array([1])}], ragged="pad")


def test_sparse_values_of_several_ranks_are_no_batch():
    samples = [{"a": SparseValue.of([[0]], [1], [1])}, {"a": SparseValue.of([[0, 0]], [1], [1, 1])}]
    for ragged in ("error", "pad"):
        with pytest.raises(ConfigurationError, match="'a' have 1 and 2 dimensions in one batch"):
            batch_of(samples, ragged=ragged)
    assert batch_of(samples, ragged="list")["a"] == [sample["a"] for sample in samples]


shapes = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(st.lists(shapes, min_size=1, max_size=5))
def test_padding_keeps_every_array_at_its_place(shapes):
    arrays = [np.full(shape, number + 1) for number, shape in enumerate(shapes)]
    whole = padded(arrays, -1)
    assert whole.shape == (len(arrays), max(shape[0] for shape in shapes), max(shape[1] for shape in shapes))
    for array, found in zip(arrays, whole, strict=True):
        assert (found[: array.shape[0], : array.shape[1]] == array).all()
        assert (found == -1).sum() == found.size - array.size


def test_sparse_values_become_one_of_one_dimension_more():
    one, two = SparseValue.of([[0], [2]], [5, 6], [3]), SparseValue.of(np.zeros((0, 1)), np.zeros(0, np.int64), [7])
    found = stacked_sparse([one, two, one])
    assert found.dense_shape.tolist() == [3, 7]
    assert found.to_dense().tolist() == [[5, 0, 6, 0, 0, 0, 0], [0] * 7, [5, 0, 6, 0, 0, 0, 0]]
    assert batch_of([{"a": one}, {"a": two}])["a"].indices.tolist() == [[0, 0], [0, 2]]
