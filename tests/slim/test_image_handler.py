"""Images of records: by format, shape, dtype, one or several."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from datasets_core import records, slim
from datasets_core.errors import ConfigurationError, ExampleError, ItemError
from datasets_core.records.specs.values import SparseValue
from datasets_core.records.wire.values import RecordBlock
from datasets_core.slim.handlers import bytes_array

RAW = bytes(range(12))


def found(image: Any, kind: Any = "raw") -> dict[str, Any]:
    return {"image/encoded": bytes_array(image), "image/format": bytes_array(kind)}


def test_keys_have_names_of_their_own() -> None:
    assert slim.Image().keys == ["image/encoded", "image/format"]
    assert slim.Image("a", "b").keys == ["a", "b"]


@pytest.mark.parametrize("dtype", ["uint8", np.uint16, np.dtype(">u2"), np.float32, bool, np.int16], ids=str)
def test_raw_bytes_are_little_endian_arrays(dtype: Any) -> None:
    made = slim.Image(dtype=dtype).tensors_to_item(found(RAW))
    wanted = np.dtype(dtype).newbyteorder("=")
    assert made.dtype == wanted and made.flags.writeable
    assert np.array_equal(made, np.frombuffer(RAW, wanted.newbyteorder("<")))


def test_types_of_tensorflow_are_understood() -> None:
    class DType:
        as_numpy_dtype = np.float32

    assert slim.Image(dtype=DType()).tensors_to_item(found(RAW)).dtype == np.float32


def test_raw_bytes_take_a_shape() -> None:
    assert slim.Image(shape=[2, -1]).tensors_to_item(found(RAW)).shape == (2, 6)
    with pytest.raises(ItemError, match=r"12 values cannot take the shape \[5\]"):
        slim.Image(shape=[5]).tensors_to_item(found(RAW))
    with pytest.raises(ItemError, match="Raw bytes of length 12 make no array of int64"):
        slim.Image(dtype="int64").tensors_to_item(found(RAW))


@pytest.mark.parametrize(
    "make",
    [
        lambda: slim.Image(channels=2),
        lambda: slim.Image(channels=-1),
        lambda: slim.Image(dtype="string"),
        lambda: slim.Image(dtype="nothing"),
        lambda: slim.Image(dtype=None),
        lambda: slim.Image(dct_method="SLOW"),
        lambda: slim.Image(shape=[None, None, 3]),  # type: ignore[list-item]
    ],
)
def test_arguments_without_meaning_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ConfigurationError):
        make()


@pytest.mark.parametrize("images", [[RAW], SparseValue.of([[0]], bytes_array([RAW]), [1])], ids=["list", "sparse"])
def test_one_image_may_come_as_a_list_of_one(images: Any) -> None:
    values = images if isinstance(images, SparseValue) else bytes_array(images)
    made = slim.Image().tensors_to_item({"image/encoded": values, "image/format": bytes_array(["RAW"])})
    assert made.tolist() == list(RAW)


@pytest.mark.parametrize(("images", "advice"), [([RAW, RAW], "Give repeated=True"), ([], "default_value")], ids=["two", "none"])
def test_several_images_or_none_are_not_one(images: list[bytes], advice: str) -> None:
    with pytest.raises(ItemError, match=f"has {len(images)} images, not one. .*{advice}"):
        slim.Image().tensors_to_item(found(images))


def test_repeated_images_are_stacked() -> None:
    handler = slim.Image(shape=[2, 2, 3], repeated=True)
    assert handler.tensors_to_item(found([RAW, RAW[::-1]])).shape == (2, 2, 2, 3)
    assert handler.tensors_to_item(found([])).shape == (0, 2, 2, 3)
    with pytest.raises(ItemError, match="has no images, which tells no shape"):
        slim.Image(repeated=True).tensors_to_item(found([]))
    with pytest.raises(ItemError, match=r"Images of shapes \[12\] and \[6\] make no one array"):
        slim.Image(repeated=True).tensors_to_item(found([RAW, RAW[:6]]))


def test_numbers_are_no_images() -> None:
    with pytest.raises(ItemError, match="'image/encoded' holds no strings"):
        slim.Image().tensors_to_item({"image/encoded": np.array(3), "image/format": bytes_array("raw")})


@pytest.mark.optional("PIL")
def test_what_the_bytes_are_goes_before_what_the_format_says() -> None:
    import PIL.Image

    buffer = io.BytesIO()
    PIL.Image.fromarray(np.arange(60, dtype=np.uint8).reshape(4, 5, 3)).save(buffer, "PNG")
    for kind in ("png", "jpeg", "", "Raw", b"\xff"):
        assert slim.Image(dtype="float32").tensors_to_item(found(buffer.getvalue(), kind))[3, 4].tolist() == [57, 58, 59]


@pytest.mark.optional("PIL")
def test_a_damaged_image_names_file_record_and_item() -> None:
    import PIL.Image

    buffer = io.BytesIO()
    PIL.Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(buffer, "PNG")
    good = buffer.getvalue()
    keys = dict.fromkeys(["image/encoded", "image/format"], slim.FixedLenFeature([], "string", ""))
    decoder = slim.TFExampleDecoder(keys, {"picture": slim.Image()})
    data = [records.encode_example({"image/encoded": image}) for image in (good, good, good[:40], good)]
    samples = decoder.decode_block(RecordBlock.of(data, first=10, name="birds.tfrecord"))

    assert [next(samples)["picture"].shape for _ in range(2)] == [(4, 5, 3)] * 2
    with pytest.raises(ExampleError, match=r"birds.tfrecord: record 12: item 'picture': a PNG cannot be decoded") as caught:
        next(samples)
    assert (caught.value.path, caught.value.record) == ("birds.tfrecord", 12)
