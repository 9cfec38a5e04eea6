"""Functions of TensorFlow that scripts call: expected values are those of TensorFlow 2.21."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets_core import records, tfds
from datasets_core.errors import ConfigurationError, MissingDependencyError
from datasets_core.records.frames import frame
from datasets_core.scripting.compat.tensorflow import tensorflow

tf: Any = tensorflow


def _shown(value: Any) -> Any:
    value = value.numpy() if hasattr(value, "numpy") else value
    return (str(value.dtype), value.tolist())


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (lambda: [False] * tf.ones(3), ("float32", [0, 0, 0])),
        (lambda: tf.concat([[True], [False] * tf.ones(2)], axis=0), ("float32", [1, 0, 0])),
        (lambda: tf.concat([[False] * tf.ones(2, tf.int64), [True]], axis=0), ("int64", [0, 0, 1])),
        (lambda: tf.ones(2) + 1, ("float32", [2, 2])),
        (lambda: tf.cast(2.7, tf.int32), ("int32", 2)),
        (lambda: tf.one_hot([1, 0], 3), ("float32", [[0, 1, 0], [1, 0, 0]])),
        (lambda: tf.reduce_sum(tf.one_hot([1, 2, 1], 4, dtype=np.float32), axis=0), ("float32", [0, 2, 1, 0])),
        (lambda: tf.constant([1.5]), ("float32", [1.5])),
        (lambda: tf.constant(np.array([1.5])), ("float64", [1.5])),
        (lambda: tf.constant(["a", "é"]), ("object", [b"a", "é".encode()])),
        (lambda: tf.shape(np.ones((2, 3))), ("int32", [2, 3])),
        (lambda: tf.io.decode_raw([b"abcd", b"efgh"], tf.uint16), ("uint16", [[25185, 25699], [26213, 26727]])),
        (lambda: tf.reduce_mean([1, 2]), ("int32", 1)),
        (lambda: tf.argmax([1, 3, 2]), ("int64", 1)),
        (lambda: tf.math.round([0.5, 1.5, 2.5]), ("float32", [0, 2, 2])),
        (lambda: tf.constant([7]) // 2, ("int32", [3])),
        (lambda: tf.constant([7]) / 2, ("float64", [3.5])),
        (lambda: tf.map_fn(lambda x: x * 2, tf.constant([1, 2])), ("int32", [2, 4])),
        (lambda: tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])), ("int32", [1, 3, 6])),
    ],
)
def test_tensors_are_those_of_tensorflow(made: Any, wanted: Any) -> None:
    assert _shown(made()) == wanted


def test_what_tensorflow_refuses_is_refused() -> None:
    with pytest.raises(TypeError, match=r"tf\.cast"):
        tf.concat([tf.constant([1, 2], tf.int64), [0.5]], axis=0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.decode_image(b"")
    data = records.encode_example({"a": [1, 2, 3]})
    for spec in ({"z": tf.io.FixedLenFeature([], tf.int64)}, {"a": tf.io.FixedLenFeature([2], tf.int64)}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_single_example(data, spec)
    with pytest.raises(MissingDependencyError, match=r"tf\.keras\.Model"):
        tf.keras.Model()
    with pytest.raises(MissingDependencyError, match=r"tf\.compat\.v1\.placeholder"):
        tf.compat.v1.placeholder(tf.int64)


def test_messages() -> None:
    train = tf.train
    feature = {
        "a": train.Feature(int64_list=train.Int64List(value=[1, 2])),
        "b": train.Feature(bytes_list=train.BytesList(value=[b"x"])),
        "c": train.Feature(float_list=train.FloatList(value=[0.5])),
    }
    data = train.Example(features=train.Features(feature=feature)).SerializeToString()
    assert records.decode_example(data)["a"].values == [1, 2]
    found = train.Example.FromString(data).features.feature
    assert (found["a"].int64_list.value, found["b"].bytes_list.value, found["c"].float_list.value) == ([1, 2], [b"x"], [0.5])
    assert (found["a"].WhichOneof("kind"), found["absent"].int64_list.value) == ("int64_list", [])
    steps = records.encode_sequence_example({"id": 5}, {"words": [["a"], ["b", "c"]]})
    sequence = train.SequenceExample.FromString(steps)
    assert [each.bytes_list.value for each in sequence.feature_lists.feature_list["words"].feature] == [[b"a"], [b"b", b"c"]]
    assert sequence.context.feature["id"].int64_list.value == [5]


def test_datasets(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"".join(frame(records.encode_example({"n": n})) for n in range(5)))
    numbers = tf.data.TFRecordDataset([str(path)]).map(
        lambda record: tf.io.parse_single_example(record, {"n": tf.io.FixedLenFeature([], tf.int64)})["n"],
        num_parallel_calls=tf.data.experimental.AUTOTUNE,
    )
    assert list(tfds.as_numpy(numbers)) == list(range(5))
    assert [int(n) for n in numbers.skip(1).take(2)] == [1, 2]
    assert [each.numpy().tolist() for each in numbers.batch(2)] == [[0, 1], [2, 3], [4]]
    assert [each.numpy().tolist() for each in numbers.batch(2, drop_remainder=True)] == [[0, 1], [2, 3]]
    assert [int(n) for n in numbers.filter(lambda n: n % 2 == 0).repeat(2)] == [0, 2, 4, 0, 2, 4]
    assert next(iter(tf.compat.v1.io.tf_record_iterator(str(path)))) == records.encode_example({"n": 0})
    turns = tf.data.Dataset.from_tensor_slices([0, 10, 20]).interleave(
        lambda x: tf.data.Dataset.range(int(x), int(x) + 3), cycle_length=2, block_length=2
    )
    assert list(turns.as_numpy_iterator()) == [0, 1, 10, 11, 2, 12, 20, 21, 22]
    rows = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": (["x", "y"], [3.0, 4.0])})
    assert [(int(each["a"]), each["b"][0].numpy()) for each in rows] == [(1, b"x"), (2, b"y")]
    assert [each.numpy().decode() for each in tf.data.Dataset.list_files(str(tmp_path / "*.tfrecord"))] == [str(path)]


def test_images() -> None:
    image = pytest.importorskip("PIL.Image")

    def file(pixels: Any, format: str) -> bytes:
        written = io.BytesIO()
        image.fromarray(pixels).save(written, format)
        return written.getvalue()

    colours = np.arange(72, dtype=np.uint8).reshape(4, 6, 3)
    gray = colours[..., 0]
    assert (tf.image.decode_image(file(colours, "PNG")).numpy() == colours).all()
    assert tf.image.decode_image(file(gray, "PNG")).shape == (4, 6, 1)
    assert (tf.image.decode_png(file(gray, "PNG"), channels=3).numpy() == gray[..., None].repeat(3, 2)).all()
    assert tf.image.decode_image(file(colours, "GIF")).shape == (1, 4, 6, 3)
    deep = gray.astype(np.uint16) * 300
    assert (tf.image.decode_image(file(deep, "PNG")).numpy()[..., 0] == deep >> 8).all()
    assert (tf.image.decode_image(file(deep, "PNG"), dtype=tf.uint16).numpy()[..., 0] == deep).all()
    jpeg = tf.io.encode_jpeg(np.full((8, 8, 3), 77, np.uint8)).numpy()
    assert tf.image.extract_jpeg_shape(jpeg).numpy().tolist() == [8, 8, 3]
    assert abs(tf.io.decode_jpeg(jpeg).numpy().astype(int) - 77).max() <= 1
    assert tf.image.decode_and_crop_jpeg(jpeg, [1, 2, 3, 4]).shape == (3, 4, 3)


def test_a_session_reads_an_iterator_of_a_dataset() -> None:
    from datasets_core.scripting.compat.tensorflow import tensorflow as tf

    with tf.Graph().as_default():
        element = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2).map(lambda each: {"n": each})).get_next()
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert [session.run(element)["n"] for _ in range(2)] == [0, 1]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
            with pytest.raises(MissingDependencyError, match="of a graph"):
                session.run("x")
    iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    assert int(iterator.get_next()) == 0 and [int(each) for each in iterator] == [1]


def test_images_are_resized_with_the_weights_of_tensorflow() -> None:
    image = (np.arange(35, dtype=np.uint8) * 37 % 251).reshape(5, 7, 1)
    cubic = [
        [11.126321792602539, 79.34823608398438, 144.09823608398438, 212.3201446533203],
        [16.403093338012695, 84.625, 149.375, 217.59689331054688],
        [21.67986488342285, 89.90177154541016, 154.6517791748047, 222.87368774414062],
    ]
    linear = [[14.875, 79.625, 144.375, 209.125], [19.875, 84.625, 149.375, 214.125], [24.875, 89.625, 154.375, 219.125]]
    method = tf.image.ResizeMethod
    found = tf.image.resize([image], [3, 4], method=method.BICUBIC)
    assert found.shape == (1, 3, 4, 1) and _shown(found[0][..., 0]) == ("float32", cubic)
    assert _shown(tf.image.resize(image, (3, 4))[..., 0]) == ("float32", linear)
    nearest = [[0, 74, 148, 222], [6, 80, 154, 228], [12, 86, 160, 234]]
    assert _shown(tf.image.resize(image, (3, 4), method.NEAREST_NEIGHBOR)[..., 0]) == ("uint8", nearest)
    with pytest.raises(ConfigurationError, match="'area'"):
        tf.image.resize(image, (3, 4), method.AREA)


def test_floats_are_summed_in_the_order_of_tensorflow() -> None:
    values = (np.arange(1001) % 7 / 7).astype(np.float32)
    assert tf.reduce_sum(values).numpy() == np.float32(429.00003) != values.sum(dtype=np.float64).astype(np.float32)
