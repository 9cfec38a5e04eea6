"""Types by the names of TensorFlow are equal to those of numpy."""

import pickle
from typing import Any, Dict, Optional, Union  # noqa: UP035 - as scripts have them

import numpy as np
import pytest

from datasets_core.errors import MissingDependencyError
from datasets_core.scripting.compat.tensorflow import (
    TYPES,
    DType,
    FixedLenFeature,
    Missing,
    as_bytes,
    as_dtype,
    as_str_any,
    as_text,
    cast,
)
from datasets_core.scripting.compat.tensorflow import tensorflow as tf


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


# TensorFlow that is not installed: what scripts name is there, what they use says what to install.


def test_names_of_missing_things_stand_in_annotations() -> None:
    def function(a: tf.Tensor, b: Optional[tf.Tensor], c: Dict[str, tf.data.Dataset]) -> Union[tf.Tensor, np.ndarray]:  # noqa: UP006, UP007, UP045
        return a, b, c  # type: ignore[return-value]

    assert tf.VariableSynchronization | None is Any
    assert None | tf.VariableSynchronization is Any
    assert repr(tf.VariableSynchronization[int]) == "<tf.VariableSynchronization, which needs tensorflow>"
    for kind in (tf.Tensor, tf.VariableSynchronization):
        assert kind[int] is not None
        assert not isinstance(np.zeros(3), kind)
        assert not issubclass(int, kind)
    assert function(1, 2, 3) == (1, 2, 3)  # type: ignore[arg-type]


def _derive() -> None:
    class Mine(tf.Module):  # type: ignore[misc]
        pass


@pytest.mark.parametrize(
    "use",
    [
        lambda: tf.Variable([1]),
        lambda: tf.data.TextLineDataset("a"),
        lambda: tf.io.serialize_tensor(b""),
        lambda: tf.compat.v1.Session().run("a"),
        lambda: list(tf.something),
        lambda: tf.GradientTape().__enter__(),
        lambda: bool(tf.something),
        lambda: tf.device.__enter__(),
        _derive,
    ],
)
def test_real_ops_say_what_to_install(use: Any) -> None:
    with pytest.raises(MissingDependencyError, match=r"tf\..* needs the package 'tensorflow'.*pip install") as caught:
        use()
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_what_is_here() -> None:
    for module in (tf, tf.compat.v1, tf.compat.v2):
        assert module.int64 == np.int64
        assert module.as_dtype("uint8").max == 255
        assert module.executing_eagerly()
        assert module.io.gfile is tf.io.gfile
        assert module.compat.as_text(b"x") == "x"
        module.enable_v2_behavior()
    assert tf.io.FixedLenFeature((), tf.string) == FixedLenFeature((), "string", None)
    assert tf.dtypes.float32 is tf.float32
    assert tf.get_logger().name == "tensorflow"
    tf.logging.info("said")
    assert not tf.test.is_gpu_available()
    assert "io" in repr(tf.io)
    with pytest.raises(AttributeError):
        _ = tf._private
    with pytest.raises(AttributeError):
        _ = Missing("tf.x")._private


def test_errors_are_those_of_python() -> None:
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.GFile("/no/such/file")
    try:
        open("/no/such/file")  # noqa: SIM115
    except tf.errors.OpError as error:
        assert isinstance(error, FileNotFoundError)


def test_texts_and_bytes() -> None:
    assert (as_text("ä"), as_text("ä".encode()), as_bytes("ä"), as_bytes(b"x")) == ("ä", "ä", "ä".encode(), b"x")
    assert (as_str_any(b"x"), as_str_any(1.5)) == ("x", "1.5")
    for wrong in (1, None):
        with pytest.raises(TypeError):
            as_text(wrong)
        with pytest.raises(TypeError):
            as_bytes(wrong)
    assert tf.compat.path_to_str(5) == 5
