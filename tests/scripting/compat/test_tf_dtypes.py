"""Types by the names of TensorFlow are equal to those of numpy."""

import pickle

import numpy as np
import pytest

from datasets_core.scripting.compat.tensorflow import TYPES, DType, as_dtype, cast


@pytest.mark.parametrize("name", [name for name, each in TYPES.items() if each.is_numpy_compatible and each != "string"])
def test_a_type_is_that_of_numpy(name: str) -> None:
    found = TYPES[name]
    assert found == found.as_numpy_dtype
    assert found == np.dtype(found.as_numpy_dtype)
    assert found == str(found)
    assert found != np.dtype("datetime64[s]")
    assert np.dtype(found.as_numpy_dtype).itemsize == found.size
    assert pickle.loads(pickle.dumps(found)) == found
    assert as_dtype(found) is found


def test_texts_are_objects() -> None:
    assert TYPES["string"] == str  # noqa: E721 - that is what it is for
    assert TYPES["string"] == np.object_
    assert TYPES["string"] != np.int8
    assert as_dtype("string") is as_dtype(bytes) is as_dtype(np.dtype("<U3"))


def test_what_a_type_says_of_itself() -> None:
    assert (TYPES["uint8"].is_integer, TYPES["uint8"].is_unsigned, TYPES["uint8"].limits) == (True, True, (0, 255))
    assert (TYPES["float32"].is_floating, TYPES["complex64"].is_complex, TYPES["bool"].is_bool) == (True, True, True)
    assert TYPES["float16"].max == 65504
    assert repr(TYPES["half"]) == "tf.float16"
    assert (DType("int8").base_dtype, DType("int8").type) == ("int8", np.int8)
    assert DType("int8") != 5


@pytest.mark.parametrize("wrong", ["int65", 5, None, np.dtype("datetime64[s]")])
def test_what_is_no_type_is_refused(wrong: object) -> None:
    if wrong is None:
        assert as_dtype(wrong) == "float64"  # as numpy has it
        return
    with pytest.raises(TypeError):
        as_dtype(wrong)


def test_values_are_cast() -> None:
    assert cast([1.5], np.int8).tolist() == [1]
