"""Runs TensorFlow's parsers on many records and specs, and writes what they give to `tests/records/golden/parsing.json`.

    python scripts/parsing_golden.py    # with a Python that has TensorFlow

Specs stand in the table as text that both TensorFlow's and our names make sense of; records as the features that they hold, by
kind, and as the bytes that protobuf writes.
"""

from __future__ import annotations

import base64
import json
import os
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf

TARGET = Path(__file__).parents[1] / "tests/records/golden/parsing.json"
NAMES = {
    "F": tf.io.FixedLenFeature,
    "V": tf.io.VarLenFeature,
    "S": tf.io.SparseFeature,
    "Q": tf.io.FixedLenSequenceFeature,
    "R": tf.io.RaggedFeature,
    "i": tf.int64,
    "f": tf.float32,
    "s": tf.string,
}
LISTS = {
    "i": ("int64_list", tf.train.Int64List),
    "f": ("float_list", tf.train.FloatList),
    "s": ("bytes_list", tf.train.BytesList),
}


def listed(text: str) -> list[str]:
    """The specs of a text, which semicolons part."""
    return [" ".join(part.split()) for part in text.split(";")]


# Kind and values of each key; a kind of "" is a feature without a list.
RECORDS: list[dict[str, tuple[str, list[Any]]]] = [
    {
        "a": ("i", [1, 2, 3, 4]),
        "x": ("f", [1.5]),
        "t": ("s", ["x", "yy"]),
        "ix": ("i", [3, 0]),
        "v": ("f", [7.0, 8.0]),
        "n": ("i", [2, 2]),
    },
    {"a": ("i", [-9, 8, 2**62, 5]), "x": ("f", [-0.5]), "t": ("s", []), "ix": ("i", []), "v": ("f", []), "n": ("i", [4])},
    {"a": ("i", []), "x": ("", []), "ix": ("i", [5]), "v": ("f", [1.0]), "n": ("i", [])},
    {},
    {"a": ("i", [6]), "t": ("s", [""]), "ix": ("i", [1, 1, -1]), "v": ("f", [1.0, 2.0, 3.0]), "n": ("i", [1, 0])},
    {"a": ("f", [1.0]), "x": ("i", [1]), "t": ("i", [1]), "ix": ("f", [1.0]), "v": ("s", ["a"]), "n": ("f", [1.0])},
    {
        "a": ("i", [1, 2, 3]),
        "x": ("f", [1, 2, 3]),
        "t": ("s", ["a", "b", "c"]),
        "ix": ("i", [9, 8, 7]),
        "v": ("f", [3, 2]),
        "n": ("i", [0, 3]),
    },
    {"ix": ("i", [0])},
    {"v": ("f", [0.25])},
    {"a": ("i", [0, 2, 4, 4]), "v": ("f", [1, 2, 3, 4]), "n": ("i", [0, 0, 2, 4]), "ix": ("i", [0, 0, 2, 2])},
]
SPECS = listed("""
    F([], i) ; F([], f) ; F([], s) ; F([1], i) ; F([1], f) ; F([1], s) ; F([4], i) ; F([4], f) ; F([4], s) ; F([2, 2],
    i) ; F([2, 2], f) ; F([2, 2], s) ; F([3], i) ; F([3], f) ; F([3], s) ; F([0], i) ; F([0], f) ; F([0], s) ; F(4, i) ;
    F(4, f) ; F(4, s) ; F([], i, 5) ; F([], i, [5]) ; F([1], i, 5) ; F([2], i, 5) ; F([2], i, [5, 6]) ; F([2, 2], i,
    [[1, 2], [3, 4]]) ; F([2, 2], i, [1, 2, 3, 4]) ; F([4], i, [1, 2]) ; F([], f, 2) ; F([], f, 2.5) ; F([], i, 2.5) ;
    F([], i, 2.0) ; F([], i, True) ; F([], s, 'd') ; F([], s, b'd') ; F([2], s, ['d', '']) ; F([], s, 3) ; F([], i, 'd')
    ; F([], i, 2 ** 63) ; F([0], i, []) ; F([None], i) ; F([None, 2], i) ; F([2, None], i) ; F([-1], i) ; F(None, i) ;
    F([None], i, 3) ; F([4], 'int32') ; F([4], 'float64') ; F([4], 'int64') ; F((), 'float32') ; V(i) ; V(f) ; V(s) ;
    V('int32') ; Q([], i, allow_missing=True) ; Q([], f, allow_missing=True) ; Q([], s, allow_missing=True) ; Q([1], i,
    allow_missing=True) ; Q([1], f, allow_missing=True) ; Q([1], s, allow_missing=True) ; Q([2], i, allow_missing=True)
    ; Q([2], f, allow_missing=True) ; Q([2], s, allow_missing=True) ; Q([2, 2], i, allow_missing=True) ; Q([2, 2], f,
    allow_missing=True) ; Q([2, 2], s, allow_missing=True) ; Q([3], i, allow_missing=True) ; Q([3], f,
    allow_missing=True) ; Q([3], s, allow_missing=True) ; Q([], i) ; Q([], i, False, 3) ; Q([], i, True, 3) ; Q([2], i,
    True, 3) ; Q([2], i, True, [3, 4]) ; Q([None], i, True) ; Q([], s, True, 'd') ; R(i) ; R(f) ; R(s) ; R(i,
    row_splits_dtype=tf.int64)
""")
KEYED = listed("""
    S('ix', 'v', f, 10) ; S('ix', 'v', f, 10, already_sorted=True) ; S('ix', 'v', f, 1) ; S(['ix'], 'v', f, [10]) ;
    S(['ix', 'ix'], 'v', f, [10, 20]) ; S(['ix', 'a'], 'v', f, [10, 20]) ; S('ix', 'v', f, [10]) ; S(['ix'], 'v', f, 10)
    ; S(['ix', 'a'], 'v', f, [10]) ; S([], 'v', f, []) ; S('ix', 'v', i, 10) ; S('ix', 'ix', i, 10) ; S('v', 'ix', i,
    10) ; S('ix', 'v', f, None) ; S('none', 'v', f, 10) ; S('none', 'void', f, 10) ; R(i, 'a') ; R(f, 'v') ; R(f,
    'none') ; R(i, 'a', [R.RowLengths('n')]) ; R(i, 'a', [R.RowSplits('n')]) ; R(i, 'a', [R.RowStarts('n')]) ; R(i, 'a',
    [R.RowLimits('n')]) ; R(i, 'a', [R.ValueRowIds('n')]) ; R(f, 'v', [R.RowSplits('a')]) ; R(f, 'v',
    [R.RowStarts('ix')]) ; R(f, 'v', [R.RowLimits('n')]) ; R(f, 'v', [R.ValueRowIds('n')]) ; R(f, 'v',
    [R.RowLengths('ix')]) ; R(i, 'a', [R.UniformRowLength(2)]) ; R(i, 'a', [R.UniformRowLength(3)]) ; R(i, 'a',
    [R.UniformRowLength(1), R.UniformRowLength(2)]) ; R(i, 'a', [R.UniformRowLength(1), R.RowLengths('n')]) ; R(i, 'a',
    [R.RowLengths('m'), R.UniformRowLength(2)]) ; R(f, 'v', [R.RowLengths('m'), R.RowLengths('n')]) ; R(i, 'none',
    [R.RowSplits('void')]) ; R(i, 'none', [R.RowLengths('void')]) ; R(s, 't', [R.RowLengths('n')]) ; R(i, 'a',
    [R.RowLengths('v')]) ; R(i, 'a', [R.RowLengths('n')], row_splits_dtype=tf.int64)
""")
BATCHES = [[0, 1], [0, 0], [3], [], [0, 2, 3], [1, 4, 3], [0, 1, 2, 3, 4], [0, 5], [6, 3], [7], [3, 8], [9, 3, 9], [4, 4]]

# Context and steps of each feature list.
SEQUENCES: list[tuple[dict[str, tuple[str, list[Any]]], dict[str, list[tuple[str, list[Any]]]]]] = [
    (
        {"c": ("i", [5]), "d": ("f", [1.0, 2.0])},
        {
            "a": [("i", [1]), ("i", [2])],
            "p": [("i", [1, 2]), ("i", [3, 4])],
            "w": [("s", ["x"]), ("s", []), ("s", ["y", "z"])],
        },
    ),
    ({"c": ("i", [])}, {"a": [], "p": [], "w": []}),
    ({}, {}),
    (
        {"c": ("", []), "d": ("f", [])},
        {"a": [("i", [1]), ("", []), ("i", [3])], "p": [("i", [1, 2]), ("i", [3])], "w": [("", []), ("", [])]},
    ),
    ({"c": ("f", [1.0])}, {"a": [("i", [1]), ("f", [2.0])], "p": [("i", []), ("i", [])], "w": [("i", [])]}),
    ({"c": ("i", [1, 2])}, {"a": [("i", [7])], "p": [("i", [5, 6])], "w": [("s", ["q"])], "n": [("i", [1, 1])]}),
    (
        {"c": ("i", [9])},
        {"a": [("i", [4]), ("i", [5]), ("i", [6])], "p": [("i", [5, 6])], "w": [("s", ["q"])], "n": [("i", [2])]},
    ),
]
CONTEXTS = listed("""
    F([], i) ; F([1], i) ; F([], i, 3) ; F([2], f) ; F([0], i) ; F([2], i, 3) ; F([None], i) ; V(i) ; V(f) ; R(i) ; R(f)
    ; S('c', 'd', f, 3) ; Q([], i, True)
""")
STEPS = listed("""
    Q([], i) ; Q([1], i) ; Q([2], i) ; Q([1, 2], i) ; Q([], i, True) ; Q([2], i, True) ; Q([], s, True) ; Q([], f, True)
    ; Q([None], i) ; Q(None, i) ; Q([], i, True, 3) ; Q([], 'int32') ; V(i) ; V(s) ; V(f) ; R(i) ; R(s) ; F([], i) ;
    S('a', 'p', i, 3)
""")
STEPS_KEYED = listed("""
    R(i, 'p') ; R(i, 'p', [R.RowLengths('n')]) ; R(i, 'p', [R.UniformRowLength(2)]) ; R(s, 'w')
""")
SEQUENCE_BATCHES = [[0, 1], [0, 5], [2], [0, 1, 2], [5, 6], [0, 3], [4], [0, 5, 6]]


def feature(kind: str, values: list[Any]) -> Any:
    if not kind:
        return tf.train.Feature()
    name, made = LISTS[kind]
    return tf.train.Feature(**{name: made(value=[value.encode() if isinstance(value, str) else value for value in values])})


def features(given: dict[str, tuple[str, list[Any]]]) -> Any:
    return tf.train.Features(feature={key: feature(*value) for key, value in given.items()})


def sequence(context: Any, lists: Any) -> bytes:
    steps = {key: tf.train.FeatureList(feature=[feature(*step) for step in steps]) for key, steps in lists.items()}
    made = tf.train.SequenceExample(context=features(context), feature_lists=tf.train.FeatureLists(feature_list=steps))
    return bytes(made.SerializeToString(deterministic=True))


def plain(value: Any) -> Any:
    """Values as JSON has them: bytes as text, floats by `repr`."""
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def told(value: Any) -> Any:
    """What a parser gave, as JSON."""
    if isinstance(value, dict):
        return {key: told(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [told(inner) for inner in value]
    if isinstance(value, tf.SparseTensor):
        parts = value.indices, value.values, value.dense_shape
        return {"sparse": [plain(part.numpy().tolist()) for part in parts], "dtype": value.dtype.name}
    if isinstance(value, tf.RaggedTensor):
        splits = [part.numpy().tolist() for part in value.nested_row_splits]
        flat = value.flat_values
        return {
            "ragged": [plain(flat.numpy().tolist()), list(flat.shape), splits, value.row_splits.dtype.name],
            "dtype": value.dtype.name,
        }
    array = value.numpy()
    return {
        "dense": plain(array.tolist() if hasattr(array, "tolist") else array),
        "shape": list(value.shape),
        "dtype": value.dtype.name,
    }


def outcome(run: Any) -> Any:
    try:
        return told(run())
    except Exception as error:
        return {"error": type(error).__name__}


def spec(text: str) -> Any:
    return eval(text, {**NAMES, "tf": tf, "__builtins__": {}, "True": True, "False": False, "None": None})


def specced(text: str, run: Any) -> Any:
    """What a parser gives by a spec; TensorFlow refuses some when they are made."""
    try:
        made = spec(text)
    except Exception as error:
        return {"error": type(error).__name__}
    return outcome(lambda: run(made))


def one(record: bytes, key: str, made: Any) -> Any:
    return tf.io.parse_single_example(record, {key: made})[key]


def batch(records: list[bytes], key: str, made: Any) -> Any:
    return tf.io.parse_example(tf.constant(records, tf.string), {key: made})[key]


def one_sequence(record: bytes, place: str, key: str, made: Any) -> Any:
    return tf.io.parse_single_sequence_example(record, **{f"{place}_features": {key: made}})


def sequence_batch(records: list[bytes], place: str, key: str, made: Any) -> Any:
    return tf.io.parse_sequence_example(tf.constant(records, tf.string), **{f"{place}_features": {key: made}})


def main() -> None:
    records = [tf.train.Example(features=features(record)).SerializeToString(deterministic=True) for record in RECORDS]
    sequences = [sequence(*record) for record in SEQUENCES]
    cases = [(key, text) for text in SPECS for key in ("a", "x", "t", "v", "none")] + [("made", text) for text in KEYED]
    chosen = random.Random(7)
    examples = []
    for key, text in cases:
        if text in SPECS and chosen.random() < 0.55:
            continue  # a smaller table, of which each spec has some rows
        batches = chosen.sample(BATCHES, 5)
        single = [specced(text, partial(one, record, key)) for record in records]
        many = [[rows, specced(text, partial(batch, [records[row] for row in rows], key))] for rows in batches]
        examples.append({"key": key, "spec": text, "single": single, "batches": many})
    found = []
    for place, key, text in [
        *(("context", key, text) for text in CONTEXTS for key in ("c", "d", "none")),
        *(("sequence", key, text) for text in STEPS for key in ("a", "p", "w", "none")),
        *(("sequence", "made", text) for text in STEPS_KEYED),
    ]:
        single = [specced(text, partial(one_sequence, record, place, key)) for record in sequences]
        many = [
            [rows, specced(text, partial(sequence_batch, [sequences[row] for row in rows], place, key))]
            for rows in SEQUENCE_BATCHES
        ]
        found.append({"place": place, "key": key, "spec": text, "single": single, "batches": many})
    table = {
        "made_by": f"tensorflow {tf.__version__}",
        "records": [base64.b64encode(record).decode() for record in records],
        "sequences": [base64.b64encode(record).decode() for record in sequences],
        "examples": examples,
        "sequence_examples": found,
    }
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    lines = json.dumps(table, separators=(",", ":")).replace('{"key"', '\n{"key"').replace('{"place"', '\n{"place"')
    TARGET.write_text(lines + "\n", encoding="utf-8")
    print(f"{len(examples)} specs of examples and {len(found)} of sequences: {TARGET.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
