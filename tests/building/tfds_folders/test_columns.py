"""Tests of datasets_core/building/tfds_folders/columns.py."""

import io
import struct
import zlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.building.tfds_folders.columns import TfdsReader, Unfit, decoded_values, nested
from datasets_core.building.tfds_folders.layout import Leaf, layout_of
from datasets_core.errors import ExampleError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.records.wire.values import RecordBlock

INT = {"tensor": {"dtype": "int64", "shape": {}}}
TEXT: dict[str, Any] = {"text": {}}


def sequence(inner: Any, length: int = -1) -> dict[str, Any]:
    return {"sequence": {"feature": inner, "length": length}}


def fields(**features: Any) -> dict[str, Any]:
    return {"featuresDict": {"features": features}}


def tensor(dtype: str, *sizes: int, **more: Any) -> dict[str, Any]:
    return {"tensor": {"dtype": dtype, "shape": {"dimensions": sizes}, **more}}


def example(**features: Any) -> bytes:
    entries = b"".join(
        _field(1, _field(1, key.replace("__", "/").encode()) + _field(2, _values(values))) for key, values in features.items()
    )
    return _field(1, entries)


def _values(values: Any) -> bytes:
    if any(isinstance(value, bytes) for value in values):
        return _field(1, b"".join(_field(1, value) for value in values))
    if any(isinstance(value, float) for value in values):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, b"".join(_varint(value & (1 << 64) - 1) for value in values)))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def read(features: dict[str, Any], *records: bytes) -> list[Any]:
    reader = TfdsReader(layout_of(fields(**features), lambda name: None, path="features.json"))
    batch = reader.read(RecordBlock.of(records, name="a.tfrecord"))
    batch.validate(full=True)
    assert batch.schema.equals(reader.schema)
    return [next(iter(row.values())) if len(row) == 1 else row for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("feature", "given", "row"),
    [
        (INT, {"x": [-7]}, -7),
        (tensor("uint64"), {"x": [-1]}, 2**64 - 1),
        (tensor("bool", 2), {"x": [0, 1]}, [False, True]),
        (tensor("float64"), {"x": [0.5]}, 0.5),
        (tensor("int32", -1, 2), {"x": [1, 2, 3, 4]}, [[1, 2], [3, 4]]),
        (tensor("int32", -1, 2), {}, []),
        (tensor("int8", 2, -1), {"x": [1, 2, 3, 4]}, [[1, 2], [3, 4]]),
        (tensor("int32", 0, 3), {"x": []}, []),
        (tensor("uint8", 2, encoding="bytes"), {"x": [b"\x01\x02"]}, [1, 2]),
        (tensor("int16", -1, -1, encoding="bytes"), {"x__shape": [1, 2], "x__value": [b"\1\0\2\0"]}, [[1, 2]]),
        (tensor("int16", -1, -1), {"x__shape": [2, 1], "x__value": [7, 8]}, [[7], [8]]),
        (sequence(INT), {"x": [1, 2]}, [1, 2]),
        (sequence(INT), {}, []),
        (sequence(tensor("int64", 2), 2), {"x": [1, 2, 3, 4]}, [[1, 2], [3, 4]]),
        (
            sequence(sequence(INT)),
            {"x__ragged_flat_values": [1, 2, 3], "x__ragged_row_lengths_0": [1, 0, 2]},
            [[1], [], [2, 3]],
        ),
        (
            sequence(tensor("int16", -1, -1, encoding="bytes")),
            {"x__shape": [1, 1, 1, 2], "x__value": [b"\1\0", b"\2\0\3\0"]},
            [[[1]], [[2, 3]]],
        ),
        (sequence(fields(a=INT, b=TEXT)), {"x__a": [1, 2], "x__b": [b"u", b"v"]}, {"a": [1, 2], "b": ["u", "v"]}),
        (TEXT, {}, None),
        (tensor("int64", 2, optional=True), {}, None),
    ],
)
def test_values_get_their_shape(feature: Any, given: dict[str, Any], row: Any) -> None:
    assert read({"x": feature}, example(**given)) == [row]


def test_optional_arrays_leave_their_places_free() -> None:
    feature = tensor("int64", 2, optional=True)
    assert read({"x": feature}, example(), example(x=[1, 2]), example(), example(x=[3, 4])) == [None, [1, 2], None, [3, 4]]
    dynamic = tensor("uint8", -1, -1, encoding="bytes", optional=True)
    assert read({"x": dynamic}, example(), example(x__shape=[1, 1], x__value=[b"a"])) == [None, [[97]]]


def test_keys_that_nobody_asked_for_are_passed_over() -> None:
    assert read({"x": INT}, example(y=[b"z"], x=[1])) == [1]


def test_no_columns_are_rows_without_any() -> None:
    reader = TfdsReader(layout_of(fields(), lambda name: None, path="f"))
    assert reader.read(RecordBlock.of([example(), example()])).num_rows == 2


@pytest.mark.parametrize(
    ("feature", "given", "said"),
    [
        (INT, {}, "'x' is missing"),
        (INT, {"x": [1, 2]}, "'x' holds 2 values instead of 1"),
        (INT, {"x": [0.5]}, "'x' holds float values, but int64 values are expected"),
        (tensor("uint8"), {"x": [256]}, "'x' holds 256, which is not a valid uint8"),
        (tensor("int32", -1, 2), {"x": [1, 2, 3]}, "holds 3 values, which cannot be divided into items of 2"),
        (tensor("uint8", 3, encoding="bytes"), {"x": [b"ab"]}, "2 bytes instead of 3"),
        (tensor("uint8", 3, encoding="zlib"), {"x": [b"ab"]}, "cannot be decoded"),
        (tensor("uint8", -1, -1, encoding="bytes"), {"x__shape": [9, 9], "x__value": [b"a"]}, r"its shape is \(9, 9\)"),
        (tensor("uint8", -1, -1, encoding="bytes"), {"x__shape": [1 << 39] * 2, "x__value": [b"a"]}, "but its shape is"),
        (tensor("uint8", -1, -1, encoding="bytes"), {"x__shape": [-1, -1], "x__value": [b"a"]}, "does not match"),
        (tensor("uint8", -1, 2, -1, encoding="bytes"), {"x__shape": [1, 1, 1], "x__value": [b"a"]}, "does not match"),
        (tensor("uint8", -1, -1, encoding="bytes"), {"x__value": [b"a"]}, "has 0 shapes"),
        (sequence(INT, 3), {"x": [1, 2]}, "a list of 2 elements does not fit"),
        (
            sequence(fields(c=fields(a=INT, b=INT))),
            {"x__c__a": [1, 2], "x__c__b": [1]},
            "'x/c/b' has a list of 1 items, but 'x/c/a' has one of 2",
        ),
        (sequence(sequence(INT)), {"x__ragged_flat_values": [1], "x__ragged_row_lengths_0": [2]}, "lengths do not match"),
        (sequence(sequence(INT)), {"x__ragged_flat_values": [1], "x__ragged_row_lengths_0": [2, -1]}, "lengths do not match"),
        (TEXT, {"x": [b"\xff"]}, "is not valid UTF-8 text"),
    ],
)
def test_another_record_than_the_features_say_is_told_with_its_number(feature: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ExampleError, match=rf"a.tfrecord: record 0: feature.*{said}") as caught:
        read({"x": feature}, example(**given))
    assert caught.value.record == 0


def test_the_record_of_a_fault_is_found_behind_good_ones() -> None:
    with pytest.raises(ExampleError, match="record 2: feature 'x' holds 300"):
        read({"x": sequence(tensor("uint8"))}, example(x=[1, 2]), example(x=[]), example(x=[3, 300]))


def test_many_rows_are_read_as_one_column() -> None:
    rows = read(
        {"x": sequence(sequence(INT))},
        *(example(x__ragged_flat_values=list(range(n)), x__ragged_row_lengths_0=[n]) for n in range(50)),
    )
    assert rows == [[list(range(n))] for n in range(50)]


# tfds values

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
    with pytest.raises(Unfit, match="2 channels instead of 1"):
        decoded_values(Leaf(leaf.feature, "int64", (None,), holds="sound"), pa.array([written.getvalue()]), ONE)


def test_items_of_different_sizes_are_nested_lists() -> None:
    sizes = np.array([[1, 2, 0], [2, 1, 5]])
    arrow_type = pa.list_(pa.list_(pa.int8()))
    found = nested(arrow_type, sizes, np.array([2, 2, 0]), pa.array([1, 2, 3, 4], pa.int8()))
    assert found.to_pylist() == [[[1, 2]], [[3], [4]], []]


def test_sizes_that_make_another_number_of_values_are_refused() -> None:
    with pytest.raises(Unfit, match=r"holds 2 values, but its shape is \(3,\)"):
        nested(pa.list_(pa.int8()), np.array([[3]]), np.array([2]), pa.array([1, 2], pa.int8()))
