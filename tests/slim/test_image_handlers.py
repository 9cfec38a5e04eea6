"""Boxes and points of their coordinates."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from datasets_core import records, slim
from datasets_core.errors import ConfigurationError, ExampleError, ItemError
from datasets_core.records.specs.values import RaggedValue, SparseValue
from datasets_core.records.wire.values import RecordBlock
from datasets_core.slim.handlers import bytes_array

SIDES = ("ymin", "xmin", "ymax", "xmax")
RAGGED = SparseValue.of([[0, 0], [0, 1], [2, 0]], [1.0, 2.0, 3.0], [3, 2])
OTHER = SparseValue.of([[0, 0], [1, 0], [1, 1]], [4.0, 5.0, 6.0], [3, 2])


def test_boxes_have_rows_and_coordinates_columns() -> None:
    found = {side: np.array([k, k + 10.0]) for k, side in enumerate(SIDES)}
    made = slim.BoundingBox().tensors_to_item(found)
    assert made.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13]] and made.flags.c_contiguous


def test_values_of_any_length_are_boxes_too() -> None:
    found = {f"b/{side}": SparseValue.of([[0]], [k], [1]) for k, side in enumerate(SIDES)}
    assert slim.BoundingBox(prefix="b/").tensors_to_item(found).tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("kind", [slim.BoundingBox, slim.BoundingBoxSequence])
@pytest.mark.parametrize("prefix", [None, ""])
def test_no_prefix_is_none_and_nothing(kind: Any, prefix: Any) -> None:
    assert kind(prefix=prefix).keys == list(SIDES)


@pytest.mark.parametrize(
    ("kind", "keys", "words"),
    [
        (slim.BoundingBox, ["a"] * 3, "BoundingBox needs 4 keys, not 3"),
        (slim.BoundingBoxSequence, [], "BoundingBoxSequence needs 4 keys, not 0"),
        (slim.KeypointsSequence, "yx", "KeypointsSequence needs 2 keys, not 1"),
        (slim.NumBoxesSequence, [], "NumBoxesSequence needs keys"),
        (slim.NumBoxesSequence, None, "NumBoxesSequence needs keys"),
    ],
)
def test_another_number_of_keys_is_refused(kind: Any, keys: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        kind(keys)


def test_coordinates_that_do_not_go_together_are_told() -> None:
    found = dict.fromkeys(SIDES, np.zeros(2, np.float32)) | {"xmin": np.zeros(3, np.float32)}
    with pytest.raises(ItemError, match=r"'ymin' \[2\] of float32, 'xmin' \[3\] of float32"):
        slim.BoundingBox().tensors_to_item(found)
    with pytest.raises(ItemError, match="of int64"):
        slim.BoundingBox().tensors_to_item(found | {"xmin": np.zeros(2, np.int64)})


def test_values_of_sequences_stand_at_their_steps() -> None:
    found = {"y": RAGGED, "x": OTHER}
    dense = slim.KeypointsSequence(default_value=-1).tensors_to_item(found)
    assert dense.tolist() == [[[1, 4], [2, -1]], [[-1, 5], [-1, 6]], [[3, -1], [-1, -1]]]

    sparse = slim.KeypointsSequence(return_dense=False).tensors_to_item(found)
    places = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1], [2, 0, 0]]
    assert sparse == SparseValue.of(places, [1.0, 4.0, 2.0, 5.0, 6.0, 3.0], [3, 2, 2])


def test_dense_steps_do_as_well() -> None:
    steps = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(slim.KeypointsSequence().tensors_to_item({"y": steps, "x": steps}), np.stack([steps, steps], axis=-1))


@pytest.mark.parametrize(
    "value", [np.array(3.0), np.arange(3.0), SparseValue.of([[0]], [1.0], [1])], ids=["0d", "1d", "sparse"]
)
def test_values_without_steps_are_refused(value: Any) -> None:
    with pytest.raises(ItemError, match="dimensions instead of two"):
        slim.KeypointsSequence().tensors_to_item({"y": value, "x": value})


def test_boxes_are_counted() -> None:
    counts = slim.NumBoxesSequence("y").tensors_to_item({"y": RAGGED})
    assert (counts.dtype, counts.tolist()) == (np.dtype("int64"), [2, 0, 1])
    ragged = RaggedValue(np.arange(3), (np.array([0, 2, 2, 3], np.int32),))
    assert slim.NumBoxesSequence("y").tensors_to_item({"y": ragged}).tolist() == [2, 0, 1]


def test_other_counts_are_refused_unless_nobody_checks() -> None:
    found = {"y": RAGGED, "x": OTHER}
    with pytest.raises(ItemError, match=r"'y' has \[2, 0, 1\] boxes in its steps, but 'x' has \[1, 2, 0\]"):
        slim.NumBoxesSequence(["y", "x"]).tensors_to_item(found)
    assert slim.NumBoxesSequence(["y", "x"], check_consistency=False).tensors_to_item(found).tolist() == [2, 0, 1]


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ItemError, match="'y' has no sparse values of two dimensions"):
        slim.NumBoxesSequence("y").tensors_to_item({"y": np.zeros((2, 2))})


# Images of records: by format, shape, dtype, one or several.

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
    with pytest.raises(ItemError, match=r"12 values do not fit the shape \[5\]"):
        slim.Image(shape=[5]).tensors_to_item(found(RAW))
    with pytest.raises(ItemError, match="12 raw bytes are not a multiple of the size of int64"):
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


@pytest.mark.parametrize(("images", "advice"), [([RAW, RAW], "Pass repeated=True"), ([], "default_value")], ids=["two", "none"])
def test_several_images_or_none_are_not_one(images: list[bytes], advice: str) -> None:
    with pytest.raises(ItemError, match=f"has {len(images)} images, not one. .*{advice}"):
        slim.Image().tensors_to_item(found(images))


def test_repeated_images_are_stacked() -> None:
    handler = slim.Image(shape=[2, 2, 3], repeated=True)
    assert handler.tensors_to_item(found([RAW, RAW[::-1]])).shape == (2, 2, 2, 3)
    assert handler.tensors_to_item(found([])).shape == (0, 2, 2, 3)
    with pytest.raises(ItemError, match="has no images, so the shape is unknown"):
        slim.Image(repeated=True).tensors_to_item(found([]))
    with pytest.raises(ItemError, match=r"Images of shapes \[12\] and \[6\] cannot be stacked"):
        slim.Image(repeated=True).tensors_to_item(found([RAW, RAW[:6]]))


def test_numbers_are_no_images() -> None:
    with pytest.raises(ItemError, match="'image/encoded' has no strings"):
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


# Sparse arrays of the keys that hold places and values.

PLACES = SparseValue.of([[0], [1]], [1, 3], [2])
VALUES = SparseValue.of([[0], [1]], [0.5, 0.25], [2])
FOUND = {
    "indices": PLACES,
    "values": VALUES,
    "size": np.array([5]),
    "sizes": SparseValue.of([[0]], [6], [1]),
    "none": np.empty(0),
}


def test_keys_have_names_of_their_own_sparse_handler() -> None:
    assert slim.SparseTensor().keys == ["indices", "values"]
    assert slim.SparseTensor("a", "b", "c").keys == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({}, [2]),
        ({"shape": [4]}, [4]),
        ({"shape": []}, [2]),
        ({"shape_key": "size"}, [5]),
        ({"shape_key": "sizes", "shape": [9]}, [6]),
    ],
    ids=str,
)
def test_the_shape_comes_from_a_key_or_is_given(options: dict[str, Any], shape: list[int]) -> None:
    made = slim.SparseTensor(**options).tensors_to_item(FOUND)
    assert made == SparseValue.of([[1], [3]], [0.5, 0.25], shape)


@pytest.mark.parametrize("places", [PLACES, np.array([1, 3])], ids=["sparse", "array"])
@pytest.mark.parametrize("values", [VALUES, np.array([0.5, 0.25])], ids=["sparse", "array"])
def test_specs_of_fixed_length_do_as_well(places: Any, values: Any) -> None:
    made = slim.SparseTensor(shape=[4], densify=True).tensors_to_item({"indices": places, "values": values})
    assert made.tolist() == [0, 0.5, 0, 0.25]


def test_of_a_sequence_the_last_dimension_is_replaced() -> None:
    places = SparseValue.of([[0, 0], [2, 0]], [3, 1], [3, 1])
    made = slim.SparseTensor(shape=[3, 4]).tensors_to_item({"indices": places, "values": VALUES})
    assert made == SparseValue.of([[0, 3], [2, 1]], [0.5, 0.25], [3, 4])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"values_key": "none"}, "'indices' has 2 indices, but 'none' has 0 values"),
        ({"shape": [2, 2]}, r"an index has 1 dimensions, but the shape \[2, 2\] has 2"),
        ({"shape_key": "none"}, r"an index has 1 dimensions, but the shape \[\] has 0"),
        ({"densify": True}, r"a value is at \[3\], outside"),
        ({"shape": [4], "densify": True, "default_value": "-"}, "default_value='-' does not fit"),
    ],
    ids=str,
)
def test_what_makes_no_sparse_array_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){reason}"):
        slim.SparseTensor(**options).tensors_to_item(FOUND)


def test_places_are_numbers() -> None:
    words = np.array([b"a", b"b"], object)
    with pytest.raises(ItemError, match="'indices' has no numbers"):
        slim.SparseTensor().tensors_to_item({"indices": words, "values": VALUES})


def test_a_shape_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError):
        slim.SparseTensor(shape=["a"])  # type: ignore[list-item]
