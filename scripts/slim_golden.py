"""Writes `tests/slim/golden/handlers.json`: what the handlers and decoders of the real TF-Slim make of many records.

    python scripts/slim_golden.py

It is run in an interpreter that has tensorflow, tf_slim and Pillow. Specs and handlers are written as text that the test
reads again with our own names; records and images are kept in the file. A result is an array, a sparse array, or the class of
an error.
"""

from __future__ import annotations

import base64
import io
import json
import os
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from PIL import Image as Pictures
from tensorflow.python.ops import array_ops, array_ops_stack, cond, control_flow_case, control_flow_ops

control_flow_ops.case, control_flow_ops.cond = control_flow_case.case, cond.cond  # names that TensorFlow moved
array_ops.stack = array_ops_stack.stack

from tf_slim.data import tfexample_decoder  # noqa: E402

GOLDEN = Path(__file__).parents[1] / "tests" / "slim" / "golden" / "handlers.json"
DTYPES = {"int64": tf.int64, "float32": tf.float32, "string": tf.string}
FEATURES = {
    "FixedLenFeature": lambda shape, dtype, default_value=None: tf.io.FixedLenFeature(shape, DTYPES[dtype], default_value),
    "VarLenFeature": lambda dtype: tf.io.VarLenFeature(DTYPES[dtype]),
    "FixedLenSequenceFeature": lambda shape, dtype, allow_missing=False, default_value=None: tf.io.FixedLenSequenceFeature(
        shape, DTYPES[dtype], allow_missing, default_value
    ),
    "SparseFeature": lambda index_key, value_key, dtype, size, already_sorted=False: tf.io.SparseFeature(
        index_key, value_key, DTYPES[dtype], size, already_sorted
    ),
}
HANDLERS = {
    name: getattr(tfexample_decoder, name)
    for name in (
        "Tensor",
        "LookupTensor",
        "SparseTensor",
        "Image",
        "BoundingBox",
        "BackupHandler",
        "ItemHandlerCallback",
        "BoundingBoxSequence",
        "NumBoxesSequence",
        "KeypointsSequence",
    )
}
TYPES = {name: getattr(tf, name) for name in ("uint8", "uint16", "float32", "float16", "int32", "int64", "bool")}


class Table:
    """A table of a vocabulary, made inside of the graph that asks it."""

    def __init__(self, mapping: dict[str, int], default: int) -> None:
        self.mapping, self.default = mapping, default

    def lookup(self, keys: Any) -> Any:
        names, numbers = list(self.mapping), list(self.mapping.values())
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(names, numbers, tf.string, tf.int64), self.default
        )
        return table.lookup(keys)


def example(values: dict[str, Any]) -> bytes:
    made: bytes = tf.train.Example(features=features(values)).SerializeToString(deterministic=True)
    return made


def features(values: dict[str, Any]) -> Any:
    return tf.train.Features(feature={key: feature(value) for key, value in values.items()})


def feature(values: Any) -> Any:
    values = values if isinstance(values, list) else [values]
    if not values:
        return tf.train.Feature()
    if values and isinstance(values[0], (str, bytes)):
        values = [value.encode() if isinstance(value, str) else value for value in values]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def sequence(context: dict[str, Any], lists: dict[str, list[Any]]) -> bytes:
    made = {key: tf.train.FeatureList(feature=[feature(step) for step in steps]) for key, steps in lists.items()}
    message: Any = tf.train.SequenceExample(context=features(context), feature_lists=tf.train.FeatureLists(feature_list=made))
    data: bytes = message.SerializeToString(deterministic=True)
    return data


def told(value: Any) -> dict[str, Any]:
    if isinstance(value, (tf.compat.v1.SparseTensorValue, tf.SparseTensor)):
        return {
            "sparse": {
                "indices": np.asarray(value.indices).tolist(),
                "values": told(np.asarray(value.values)),
                "dense_shape": np.asarray(value.dense_shape).tolist(),
            }
        }
    value = np.array(value, object) if isinstance(value, bytes) else np.asarray(value)  # numpy drops zeros at the end of bytes
    if value.dtype.kind in "OSU":
        flat = [base64.b64encode(one).decode() for one in value.ravel().tolist()]
        return {"dtype": "string", "shape": list(value.shape), "values": flat}
    if value.dtype.kind == "f":
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": [repr(float(one)) for one in value.ravel()]}
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": value.ravel().astype(np.int64).tolist()}


def names(**more: Any) -> dict[str, Any]:
    return {**FEATURES, **HANDLERS, **TYPES, "Table": Table, **more}


def decoded(specs: list[str], handler: str, record: bytes) -> dict[str, Any]:
    """What a decoder with one handler makes of a record, in a graph of its own."""
    graph = tf.Graph()
    try:
        with graph.as_default():
            made = {"item": eval(handler, names(sum_of=tf.reduce_sum))}
            kinds = {1: tfexample_decoder.TFExampleDecoder, 2: tfexample_decoder.TFSequenceExampleDecoder}
            decoder = kinds[len(specs)](*(eval(spec, names()) for spec in specs), made)
            asked = tf.compat.v1.placeholder(tf.string, [])
            (item,) = decoder.decode(asked, ["item"])
            with tf.compat.v1.Session(graph=graph) as session:
                session.run(tf.compat.v1.tables_initializer())
                return told(session.run(item, {asked: record}))
    except Exception as error:
        return {"error": type(error).__name__}


def group(name: str, specs: list[str], records: list[bytes], handlers: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "specs": specs,
        "records": [base64.b64encode(record).decode() for record in records],
        "handlers": {handler: [decoded(specs, handler, record) for record in records] for handler in handlers},
    }


# -- the cases ---------------------------------------------------------------------------------------------------------


def tensors() -> dict[str, Any]:
    spec = """{
        "one": FixedLenFeature([], "int64", 7),
        "two": FixedLenFeature([2], "float32", [0.5, 1.5]),
        "grid": FixedLenFeature([2, 2], "int64", [[1, 2], [3, 4]]),
        "word": FixedLenFeature([], "string", ""),
        "many": VarLenFeature("int64"),
        "floats": VarLenFeature("float32"),
        "words": VarLenFeature("string"),
        "rows": FixedLenSequenceFeature([2], "int64", allow_missing=True),
        "shape": VarLenFeature("int64"),
        "height": FixedLenFeature([], "int64", 1),
        "width": FixedLenFeature([1], "int64", [1]),
        "dims": FixedLenFeature([2], "int64", [1, 1]),
    }"""
    records = [
        example(
            {
                "one": 3,
                "two": [1.0, 2.0],
                "grid": [5, 6, 7, 8],
                "word": "é",
                "many": [1, 2, 3, 4, 5, 6],
                "words": ["a", "é"],
                "floats": [1.5, 2.5],
                "rows": [1, 2, 3, 4],
                "shape": [3, 2],
                "height": 2,
                "width": 3,
                "dims": [2, 3],
            }
        ),
        example({"many": [4], "words": ["zz"], "shape": [1, 1]}),
        example({"word": b"\xff\x00", "many": [1, 2], "height": -1, "width": 1, "shape": [-1, 1], "dims": [-1, 2]}),
        example({"many": [1, 2, 3], "shape": [2, 2], "height": 0, "dims": [3, -1], "floats": []}),
        example({}),
    ]
    handlers = [
        "Tensor('one')",
        "Tensor('one', shape=[1])",
        "Tensor('one', shape=[])",
        "Tensor('one', shape=[1, 1])",
        "Tensor('one', shape=[2])",
        "Tensor('two')",
        "Tensor('two', shape=(2, 1))",
        "Tensor('two', shape=[-1])",
        "Tensor('two', shape=[3])",
        "Tensor('grid')",
        "Tensor('grid', shape=[4])",
        "Tensor('grid', shape=[-1, 1])",
        "Tensor('grid', shape=[-1, 3])",
        "Tensor('word')",
        "Tensor('many')",
        "Tensor('many', default_value=-1)",
        "Tensor('many', shape=[2, -1])",
        "Tensor('many', shape=[-1, -1])",
        "Tensor('many', shape=[0, -1])",
        "Tensor('many', shape=[6])",
        "Tensor('many', shape=[])",
        "Tensor('floats')",
        "Tensor('words', default_value='')",
        "Tensor('words', shape=[1, -1], default_value='-')",
        "Tensor('rows')",
        "Tensor('rows', shape=[-1])",
        "Tensor('many', shape_keys='shape')",
        "Tensor('many', shape_keys=['shape'])",
        "Tensor('many', shape_keys='dims')",
        "Tensor('many', shape_keys=['height', 'height'])",
        "Tensor('many', shape_keys=['width', 'width'])",
        "Tensor('many', shape_keys=['height', 'width'])",
        "Tensor('grid', shape_keys='dims')",
        "Tensor('grid', shape_keys='shape')",
        "Tensor('one', shape_keys='height')",
        "LookupTensor('words', Table({'a': 10, 'é': 20}, -1))",
        "LookupTensor('word', Table({'a': 10, 'é': 20}, -1))",
        "LookupTensor('word', Table({'é': 20}, 0), shape=[1])",
        "LookupTensor('words', Table({'zz': 1}, -1), shape=[-1, 1])",
        "LookupTensor('words', Table({}, -1), 'shape', [2])",
        "BackupHandler(Tensor('many'), Tensor('shape'))",
        "BackupHandler(Tensor('floats'), Tensor('two'))",
        "BackupHandler(Tensor('rows'), Tensor('grid'))",
        "BackupHandler(Tensor('one'), Tensor('many'))",
        "BackupHandler(Tensor('floats'), Tensor('many', shape=[1]))",
        "BackupHandler('floats', Tensor('many'))",
        "BackupHandler(Tensor('floats'), None)",
        "ItemHandlerCallback('two', lambda found: found['two'] * 2)",
        "ItemHandlerCallback(['one', 'grid'], lambda found: sum_of(found['grid']) + found['one'])",
        "ItemHandlerCallback(['many'], lambda found: found['many'].values)",
        "ItemHandlerCallback(['many'], lambda found: found['many'])",
        "ItemHandlerCallback('nope', lambda found: 1)",
        "Tensor('nope')",
        "Tensor('many', shape_keys='nope')",
    ]
    return group("tensors", [spec], records, handlers)


def sparse() -> dict[str, Any]:
    spec = """{
        "indices": VarLenFeature("int64"), "values": VarLenFeature("float32"), "words": VarLenFeature("string"),
        "size": FixedLenFeature([1], "int64", [9]), "sizes": VarLenFeature("int64"), "scalar": FixedLenFeature([], "int64", 4),
        "floats": VarLenFeature("float32"), "made": SparseFeature("indices", "values", "float32", 6),
    }"""
    records = [
        example(
            {
                "indices": [0, 3],
                "values": [1.5, -2.5],
                "words": ["a", "b"],
                "size": [5],
                "sizes": [7],
                "scalar": 6,
                "floats": [1.0, 2.7],
            }
        ),
        example({"indices": [3, 0], "values": [1.5, -2.5], "words": ["a", "b"]}),
        example({"indices": [1, 1], "values": [1.5, -2.5], "words": ["a", "b"], "sizes": [2]}),
        example({"indices": [0, 9], "values": [1.5, -2.5], "words": ["a", "b"], "sizes": [3, 3]}),
        example({"indices": [-1], "values": [1.5], "words": ["a"]}),
        example({"indices": [0, 1, 2], "values": [1.5], "sizes": [4]}),
        example({}),
    ]
    arguments = [
        "",
        "shape=[5]",
        "shape=[5], densify=True",
        "shape=(10,), densify=True, default_value=-1",
        "densify=True",
        "shape_key='size'",
        "shape_key='size', densify=True",
        "shape_key='sizes'",
        "shape_key='size', shape=[3]",
        "shape=[3, 5]",
        "shape=[]",
        "shape=[0]",
        "'indices', 'words', shape=[4], densify=True, default_value='-'",
        "'indices', 'words', shape=[4]",
        "'floats', 'values', shape=[5]",
    ]
    handlers = [f"SparseTensor({text})" for text in arguments]
    handlers += ["Tensor('made')", "Tensor('made', default_value=-1)", "BackupHandler(Tensor('values'), Tensor('made'))"]
    return group("sparse", [spec], records, handlers)


def boxes() -> dict[str, Any]:
    spec = """{
        "ymin": VarLenFeature("float32"), "xmin": VarLenFeature("float32"), "ymax": VarLenFeature("float32"),
        "xmax": VarLenFeature("float32"), "b/ymin": FixedLenFeature([2], "float32", [0.0, 0.1]),
        "b/xmin": FixedLenFeature([2], "float32", [0.2, 0.3]), "b/ymax": FixedLenFeature([2], "float32", [0.4, 0.5]),
        "b/xmax": FixedLenFeature([2], "float32", [0.6, 0.7]), "i/a": VarLenFeature("int64"),
    }"""
    records = [
        example(
            {"ymin": [0.1, 0.2, 0.3], "xmin": [0.4, 0.5, 0.6], "ymax": [0.7, 0.8, 0.9], "xmax": [1.0, 1.1, 1.2], "i/a": [1, 2]}
        ),
        example({"ymin": [0.1], "xmin": [0.4, 0.5], "ymax": [0.7], "xmax": [1.0]}),
        example({"ymin": [0.1, 0.2], "xmin": [0.4, 0.5], "ymax": [0.7, 0.8]}),
        example({}),
    ]
    handlers = [
        "BoundingBox()",
        "BoundingBox(prefix='b/')",
        "BoundingBox(['xmin', 'ymin', 'xmax', 'ymax'])",
        "BoundingBox(('ymin', 'xmin', 'ymax', 'xmax'), '')",
        "BoundingBox(['ymin'] * 5)",
        "BoundingBox([])",
        "BoundingBox(['i/a'] * 4)",
        "BoundingBox(['a', 'a', 'a', 'a'], 'i/')",
        "BoundingBox(prefix='c/')",
        "BoundingBox(['ymin', 'xmin', 'i/a', 'xmax'])",
        "BoundingBox(['b/ymin', 'xmin', 'b/ymax', 'xmax'])",
    ]
    return group("boxes", [spec], records, handlers)


def sequences() -> dict[str, Any]:
    context = """{
        "id": FixedLenFeature([], "int64", -1), "pair": FixedLenFeature([2], "float32", [0.0, 0.0]),
        "tags": VarLenFeature("string"), "grid": FixedLenFeature([1, 2], "int64", [[8, 9]]),
    }"""
    lists = """{
        "steps": FixedLenSequenceFeature([], "int64", allow_missing=True),
        "pairs": FixedLenSequenceFeature([2], "float32", allow_missing=True),
        "words": VarLenFeature("string"), "ymin": VarLenFeature("float32"), "xmin": VarLenFeature("float32"),
        "ymax": VarLenFeature("float32"), "xmax": VarLenFeature("float32"), "ids": VarLenFeature("int64"),
        "p/y": VarLenFeature("float32"), "p/x": VarLenFeature("float32"),
    }"""
    full = {key: [[0.1 + k, 0.2 + k], [], [0.3 + k]] for k, key in enumerate(("ymin", "xmin", "ymax", "xmax"))}
    points = {"p/y": [[1.0, 2.0, 3.0], [4.0]], "p/x": [[5.0, 6.0, 7.0], [8.0]]}
    records = [
        sequence(
            {"id": 5, "pair": [1.0, 2.0], "tags": ["a", "b"], "grid": [3, 4]},
            {
                "steps": [1, 2, 3],
                "pairs": [[1.0, 2.0], [3.0, 4.0]],
                "words": [["a"], ["b", "c"], []],
                "ids": [[0, 2], [], [1]],
                **full,
                **points,
            },
        ),
        sequence(
            {},
            {
                "words": [[], []],
                "ymin": [[0.1], [0.2]],
                "xmin": [[0.1, 0.2], [0.3]],
                "ymax": [[0.1], [0.2]],
                "xmax": [[0.1], [0.2]],
                "ids": [[5, 5]],
                "p/y": [[1.0]],
                "p/x": [[1.0, 2.0]],
            },
        ),
        sequence(
            {"id": 1},
            {
                "ymin": [[0.1], [0.2]],
                "xmin": [[0.1]],
                "ymax": [[0.1], [0.2]],
                "xmax": [[0.1], [0.2]],
                "p/y": [[], []],
                "p/x": [[], []],
            },
        ),
        sequence({}, {key: [[0.5]] for key in full}),
        sequence({}, {}),
    ]
    handlers = [
        "Tensor('id')",
        "Tensor('id', shape=[1])",
        "Tensor('pair')",
        "Tensor('tags', default_value='')",
        "Tensor('grid')",
        "Tensor('steps')",
        "Tensor('steps', shape=[-1, 1])",
        "Tensor('pairs')",
        "Tensor('pairs', shape=[-1])",
        "Tensor('words', default_value='')",
        "Tensor('words', default_value='-')",
        "Tensor('ids')",
        "Tensor('ids', default_value=-1)",
        "Tensor('ids', shape=[-1], default_value=-7)",
        "Tensor('ymin', default_value=9.0)",
        "LookupTensor('words', Table({'a': 1, 'c': 3}, -1))",
        "LookupTensor('words', Table({'': 5}, -1))",
        "SparseTensor('ids', 'ymin', shape=[3, 4])",
        "SparseTensor('ids', 'ymin', shape=[3, 4], densify=True)",
        "SparseTensor('ids', 'ymin')",
        "BoundingBoxSequence(prefix='')",
        "BoundingBoxSequence(prefix='', return_dense=False)",
        "BoundingBoxSequence(prefix='', default_value=0.25)",
        "BoundingBoxSequence(['xmin', 'ymin', 'xmax', 'ymax'], '')",
        "BoundingBoxSequence(['a'], '')",
        "BoundingBoxSequence(prefix='no/')",
        "BoundingBoxSequence(['ymin', 'xmin', 'ids', 'xmax'], '')",
        "NumBoxesSequence(['ymin'])",
        "NumBoxesSequence(['ymin', 'xmin', 'ymax', 'xmax'])",
        "NumBoxesSequence(['ymin', 'xmin'], False)",
        "NumBoxesSequence('ymin')",
        "NumBoxesSequence(['words', 'ids'])",
        "NumBoxesSequence(['words', 'ids'], check_consistency=False)",
        "NumBoxesSequence([])",
        "NumBoxesSequence()",
        "NumBoxesSequence(['steps'])",
        "NumBoxesSequence(['tags'])",
        "KeypointsSequence(prefix='p/')",
        "KeypointsSequence(prefix='p/', return_dense=False)",
        "KeypointsSequence(['p/x', 'p/y'], '', default_value=0.0)",
        "KeypointsSequence(['a'], '')",
        "KeypointsSequence(['ymin', 'xmin'], '')",
        "BackupHandler(Tensor('steps'), Tensor('id', shape=[1]))",
        "ItemHandlerCallback(['id', 'pair'], lambda found: found['pair'])",
        "ItemHandlerCallback('words', lambda found: found['words'])",
    ]
    return group("sequences", [context, lists], records, handlers)


def _file(picture: Any, format_: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format_, **options)
    return buffer.getvalue()


def pictures() -> dict[str, bytes]:
    rng = np.random.default_rng(8)
    rgba = rng.integers(0, 256, (4, 5, 4), dtype=np.uint8)
    colours, grays, wide = rgba[..., :3].copy(), rgba[..., 0].copy(), rng.integers(0, 65536, (4, 5, 4), dtype=np.uint16)
    rgb, gray = Pictures.fromarray(colours), Pictures.fromarray(grays)
    slope = np.clip(np.add.outer(np.arange(9) * 11, np.arange(12) * 7)[..., None] + np.array([0, 20, 40]), 0, 255).astype(
        np.uint8
    )
    smooth = Pictures.fromarray(slope)
    frames = [Pictures.fromarray(rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)).quantize(8) for _ in range(3)]
    turned = Pictures.Exif()
    turned[0x112] = 6
    made = {
        "png rgb": _file(rgb, "PNG"),
        "png rgba": _file(Pictures.fromarray(rgba), "PNG"),
        "png gray": _file(gray, "PNG"),
        "png gray alpha": _file(Pictures.merge("LA", [gray, Pictures.fromarray(rgba[..., 3].copy())]), "PNG"),
        "png bits": _file(gray.convert("1"), "PNG"),
        "png palette": _file(rgb.quantize(8), "PNG"),
        "png palette, 2 bits": _file(rgb.quantize(4), "PNG", bits=2),
        "png palette, transparent": _file(rgb.quantize(8), "PNG", transparency=2),
        "png rgb, transparent": _file(rgb, "PNG", transparency=tuple(colours[0, 0].tolist())),
        "png gray, transparent": _file(gray, "PNG", transparency=int(grays[0, 0])),
        "png gray, 16 bits": tf.io.encode_png(wide[..., :1]).numpy(),
        "png gray alpha, 16 bits": tf.io.encode_png(wide[..., :2]).numpy(),
        "png rgb, 16 bits": tf.io.encode_png(wide[..., :3]).numpy(),
        "png rgba, 16 bits": tf.io.encode_png(wide).numpy(),
        "jpeg": _file(smooth, "JPEG", quality=95),
        "jpeg, every colour": _file(smooth, "JPEG", quality=95, subsampling=0),
        "jpeg gray": _file(smooth.convert("L"), "JPEG", quality=95),
        "jpeg cmyk": _file(smooth.convert("CMYK"), "JPEG", quality=95),
        "jpeg progressive": _file(smooth, "JPEG", quality=95, progressive=True),
        "jpeg turned": _file(smooth, "JPEG", quality=95, exif=turned),
        "bmp rgb": _file(rgb, "BMP"),
        "bmp gray": _file(gray, "BMP"),
        "gif": _file(rgb.quantize(8), "GIF"),
        "gif of three": _file(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "webp": _file(smooth, "WEBP", lossless=True),
        "tiff": _file(rgb, "TIFF"),
        "nothing": b"",
        "text": b"hello world",
    }
    png, jpeg = made["png rgb"], made["jpeg"]
    made |= {
        "png, cut": png[:-40],
        "png, and more": png + b"more",
        "png, head alone": png[:33],
        "jpeg, cut": jpeg[: len(jpeg) // 2],
        "bmp, cut": made["bmp rgb"][:-20],
        "png, altered": png[:50] + bytes([png[50] ^ 255]) + png[51:],
        "jpeg, head alone": jpeg[:3],
    }
    return made


def images(made: dict[str, bytes]) -> dict[str, Any]:
    spec = """{
        "image/encoded": FixedLenFeature([], "string", ""), "image/format": FixedLenFeature([], "string", "png"),
    }"""
    records = [example({"image/encoded": data}) for data in made.values()]
    handlers = [
        "Image()",
        "Image(channels=0)",
        "Image(channels=1)",
        "Image(channels=2)",
        "Image(channels=4)",
        "Image(dtype=uint16)",
        "Image(dtype=float32)",
        "Image(shape=[4, 5, 3])",
        "Image(shape=[60])",
        "Image(shape=[-1, 3])",
        "Image(channels=1, shape=[4, 5])",
        "Image(dct_method='INTEGER_ACCURATE')",
        "Image(dct_method='SLOW')",
        "Image(channels=5)",
    ]
    return {**group("images", [spec], records, handlers), "titles": list(made)}


def raw_images(made: dict[str, bytes]) -> dict[str, Any]:
    spec = """{
        "image/encoded": FixedLenFeature([], "string", ""), "image/format": FixedLenFeature([], "string", "raw"),
        "other": FixedLenFeature([], "string", ""), "kind": FixedLenFeature([], "string", "RAW"),
    }"""
    twelve = bytes(range(12))
    records = [
        example({"image/encoded": twelve, "other": twelve}),
        example({"image/encoded": twelve, "image/format": "RAW"}),
        example({"image/encoded": twelve, "image/format": "Raw"}),
        example({"image/encoded": made["png rgb"], "image/format": "png"}),
        example({"image/encoded": made["jpeg"], "image/format": "bmp"}),
        example({"image/encoded": made["png rgb"], "image/format": ""}),
        example({"image/encoded": twelve[:11], "image/format": "raw"}),
        example({}),
    ]
    handlers = [
        "Image()",
        "Image(shape=[2, 2, 3])",
        "Image(shape=[2, 2, 3], dtype=uint8)",
        "Image(shape=[1, 2, 3], dtype=uint16)",
        "Image(shape=[1, 1, 3], dtype=float32)",
        "Image(shape=[3], dtype=int32)",
        "Image(shape=[2, 6], channels=1)",
        "Image(shape=[2, 2, 2])",
        "Image('other', 'kind', [4, 3])",
        "Image(image_key='other', format_key='kind', shape=(3, -1))",
        "Image('other', 'none')",
        "Image(shape=[1, 1, 6], dtype=float16)",
        "Image(shape=[-1], dtype=int64)",
    ]
    return group("raw images", [spec], records, handlers)


def repeated_images(made: dict[str, bytes]) -> dict[str, Any]:
    spec = """{
        "images": FixedLenSequenceFeature([], "string", allow_missing=True), "format": FixedLenFeature([], "string", "png"),
        "two": FixedLenFeature([2], "string", ["", ""]), "some": VarLenFeature("string"),
    }"""
    png, other, jpeg = made["png rgb"], made["png gray"], made["jpeg"]
    twelve = bytes(range(12))
    records = [
        example({"images": [png, other, png], "two": [png, png], "some": [png, other]}),
        example({"images": [png, jpeg]}),
        example({"images": [png, b"damaged"]}),
        example({"images": [twelve, twelve[::-1]], "format": "raw"}),
        example({"images": [jpeg], "format": "whatever"}),
        example({}),
    ]
    handlers = [
        "Image('images', 'format', repeated=True)",
        "Image('two', 'format', repeated=True)",
        "Image('images', 'format', channels=1, repeated=True)",
        "Image('images', 'format', shape=[2, 2, 3], repeated=True)",
        "Image('images', 'format', dtype=float32, repeated=True)",
        "Image('some', 'format', repeated=True)",
        "Image('images', 'format')",
        "Image('some', 'format')",
        "Image('images', 'format', shape=[4, 5, 3], repeated=True)",
    ]
    return group("repeated images", [spec], records, handlers)


def main() -> None:
    made = pictures()
    groups = [tensors(), sparse(), boxes(), sequences(), images(made), raw_images(made), repeated_images(made)]
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text(json.dumps({"groups": groups}, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
