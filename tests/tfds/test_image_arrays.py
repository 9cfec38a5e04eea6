"""Images as arrays: what goes in, and what comes out."""

import io
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.values import decode_value
from datasets_core.tfds.images import ImageArray

pytest.importorskip("PIL")


def _through(feature: Any, value: Any) -> Any:
    return decode_value(feature, feature.encode_example(value))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_arrays_come_back_as_they_were(channels: int) -> None:
    array = np.arange(24 * channels, dtype=np.uint8).reshape(4, 6, channels)
    found = _through(ImageArray(shape=(None, None, channels)), array)
    assert found.dtype == np.uint8
    assert np.array_equal(found, array)


def test_sixteen_bits_come_back_as_they_were() -> None:
    array = np.array([[[0], [40_000]]], np.uint16)
    found = _through(ImageArray(shape=(1, 2, 1), dtype=np.uint16), array)
    assert (found.dtype, found.tolist()) == (np.uint16, array.tolist())


def test_files_are_stored_as_they_are(tmp_path: Any) -> None:
    from PIL import Image

    path = tmp_path / "a.jpg"
    Image.new("RGB", (3, 2), (255, 0, 0)).save(path)
    data = path.read_bytes()
    stored = [ImageArray().encode_example(value) for value in (path, str(path), data, io.BytesIO(data))]
    assert [value["bytes"] for value in stored] == [data] * 4
    assert _through(ImageArray(), path).shape == (2, 3, 3)


def test_an_image_has_the_channels_that_are_declared() -> None:
    from PIL import Image

    assert _through(ImageArray(shape=(None, None, 1)), Image.new("RGB", (3, 2))).shape == (2, 3, 1)
    assert _through(ImageArray(shape=(None, None, 3)), Image.new("L", (3, 2))).shape == (2, 3, 3)
    assert _through(ImageArray(shape=(None, None, None)), Image.new("L", (3, 2))).shape == (2, 3, 1)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 3), (2, 3, 1)])
def test_arrays_of_another_shape_are_refused(shape: Any) -> None:
    with pytest.raises(CastError, match="shape"):
        ImageArray(shape=(2, 3, 3)).encode_example(np.zeros(shape, np.uint8))


@pytest.mark.parametrize(
    "options", [{"shape": (2, 2)}, {"shape": (2, 2, 5)}, {"dtype": np.int64}, {"encoding_format": "bmp"}], ids=str
)
def test_images_that_cannot_be_are_refused(options: Any) -> None:
    with pytest.raises(ConfigurationError):
        tfds.features.Image(**options)


def test_an_image_may_stay_the_bytes_of_its_file() -> None:
    data = ImageArray().encode_example(np.zeros((1, 1, 3), np.uint8))["bytes"]
    assert _through(ImageArray().skipped(), data) == data
