"""Items as tensors."""

import numpy as np
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.records.specs.values import SparseValue
from datasets_core.slim.dataset_data_provider import as_torch

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_numbers_become_tensors_of_their_own_memory(dtype, shape):
    array = np.ones(shape, dtype)
    array.flags.writeable = False
    found = as_torch(array)
    assert (str(found.dtype), tuple(found.shape)) == (f"torch.{dtype}", shape)
    assert torch.equal(found, torch.ones(shape, dtype=found.dtype))


def test_arrays_of_any_layout_are_taken():
    array = np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1]
    assert as_torch(array).tolist() == [[2, 1, 0], [5, 4, 3]]


def test_sparse_values_become_sparse_tensors():
    found = as_torch(SparseValue.of([[0, 1], [1, 0]], [5, 6], [2, 3]))
    assert found.to_dense().tolist() == [[0, 5, 0], [6, 0, 0]]


def test_a_sparse_value_with_an_index_outside_is_refused():
    with pytest.raises(ConfigurationError, match="shape"):
        as_torch(SparseValue.of([[3]], [5], [3]))


def test_lists_of_arrays_become_lists_of_tensors():
    assert [tensor.tolist() for tensor in as_torch([np.array([1]), np.array([2, 3])])] == [[1], [2, 3]]


@pytest.mark.parametrize("value", ["key", b"bytes", None, [], ["a"], {"a": 1}])
def test_all_else_stays_what_it_is(value):
    assert as_torch(value) is value


def test_arrays_of_bytes_stay_arrays():
    array = np.array([b"a"], object)
    assert as_torch(array) is array
