import io
import zlib

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.building.tfds_folders.columns import Unfit, decoded_values, nested
from datasets_core.building.tfds_folders.layout import Leaf
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image

ONE = np.ones(1, np.int64)


def test_half_precision_of_google_is_seen_as_float32() -> None:
    leaf = Leaf(List(Value("float32")), "bfloat16", (None,), "bytes")
    values, counts = decoded_values(leaf, pa.array([b"\x80\x3f\xc0\x3f"]), ONE)
    assert (values.to_pylist(), counts.tolist()) == ([1.0, 1.5], [2])


@pytest.mark.parametrize("data", [zlib.compress(b"abc")[:-2], zlib.compress(b"ab"), zlib.compress(bytes(1 << 20)), b""])
def test_what_is_compressed_must_be_whole_and_of_its_size(data: bytes) -> None:
    leaf = Leaf(List(Value("uint8"), length=3), "uint8", (3,), "zlib")
    with pytest.raises(Unfit, match="cannot be decoded"):
        decoded_values(leaf, pa.array([data], pa.binary()), ONE)


def test_pictures_are_stored_as_they_are() -> None:
    values, _ = decoded_values(Leaf(Image(), "string", holds="file"), pa.array([b"png", b"jpeg"]), np.ones(2, np.int64))
    assert values.to_pylist() == [{"bytes": b"png", "path": None}, {"bytes": b"jpeg", "path": None}]


@pytest.mark.optional("PIL")
def test_pictures_of_floats_become_files_that_hold_floats() -> None:
    import PIL.Image

    floats = np.array([[0.5, -2.25]], np.float32)
    written = io.BytesIO()
    PIL.Image.fromarray(floats.view(np.uint8).reshape(1, 2, 4), "RGBA").save(written, "PNG")
    leaf = Leaf(Image(), "string", holds="float image")
    (found,) = decoded_values(leaf, pa.array([written.getvalue()]), ONE)[0].to_pylist()
    assert np.array_equal(np.asarray(PIL.Image.open(io.BytesIO(found["bytes"]))), floats)
    with pytest.raises(Unfit, match="cannot be decoded"):
        decoded_values(leaf, pa.array([b"no picture"]), ONE)


@pytest.mark.optional("soundfile")
def test_samples_of_sounds_are_read_from_their_files() -> None:
    import soundfile

    written = io.BytesIO()
    soundfile.write(written, np.array([[1, 2], [3, 4]], np.int16), 8000, format="WAV", subtype="PCM_16")
    leaf = Leaf(List(Value("int64")), "int64", (None, 2), holds="sound")
    values, counts = decoded_values(leaf, pa.array([written.getvalue()]), ONE)
    assert (values.to_pylist(), counts.tolist()) == ([1, 2, 3, 4], [4])
    with pytest.raises(Unfit, match="2 channels where 1 belong"):
        decoded_values(Leaf(leaf.feature, "int64", (None,), holds="sound"), pa.array([written.getvalue()]), ONE)


def test_items_of_different_sizes_are_nested_lists() -> None:
    sizes = np.array([[1, 2, 0], [2, 1, 5]])
    arrow_type = pa.list_(pa.list_(pa.int8()))
    found = nested(arrow_type, sizes, np.array([2, 2, 0]), pa.array([1, 2, 3, 4], pa.int8()))
    assert found.to_pylist() == [[[1, 2]], [[3], [4]], []]


def test_sizes_that_make_another_number_of_values_are_refused() -> None:
    with pytest.raises(Unfit, match=r"holds 2 values, and its shape is \(3,\)"):
        nested(pa.list_(pa.int8()), np.array([[3]]), np.array([2]), pa.array([1, 2], pa.int8()))
