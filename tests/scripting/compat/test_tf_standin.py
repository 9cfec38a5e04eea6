"""TensorFlow that is not installed: what scripts name is there, what they use says what to install."""

import pickle
from typing import Any, Dict, Optional, Union  # noqa: UP035 - as scripts have them

import numpy as np
import pytest

from datasets_core.errors import MissingDependencyError
from datasets_core.scripting.compat.tensorflow import FixedLenFeature, Missing, as_bytes, as_str_any, as_text
from datasets_core.scripting.compat.tensorflow import tensorflow as tf


def test_names_of_missing_things_stand_in_annotations() -> None:
    def function(a: tf.Tensor, b: Optional[tf.Tensor], c: Dict[str, tf.data.Dataset]) -> Union[tf.Tensor, np.ndarray]:  # noqa: UP006, UP007, UP045
        return a, b, c  # type: ignore[return-value]

    assert tf.Tensor | None is Any
    assert None | tf.Tensor is Any
    assert repr(tf.Tensor[int]) == "<tf.Tensor, which needs tensorflow>"
    assert not isinstance(np.zeros(3), tf.Tensor)
    assert not issubclass(int, tf.Tensor)
    assert function(1, 2, 3) == (1, 2, 3)  # type: ignore[arg-type]


def _derive() -> None:
    class Mine(tf.Module):  # type: ignore[misc]
        pass


@pytest.mark.parametrize(
    "use",
    [
        lambda: tf.constant([1]),
        lambda: tf.data.TFRecordDataset("a"),
        lambda: tf.io.parse_single_example(b"", {}),
        lambda: tf.compat.v1.Session(),
        lambda: list(tf.something),
        lambda: tf.Graph().as_default().__enter__(),
        lambda: bool(tf.something),
        lambda: tf.name_scope.__enter__(),
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
