"""Writes messages of its own on the pipe to the parent, while it makes rows."""

import json
import os
import struct
import time

import datasets
import numpy
import pyarrow as pa

from .attacker import WHERE

MODE = WHERE["mode"]
PATCHED = pa.array(["seventy", "nineties "])
MOST = (1 << 31) - 1  # rows that one batch may have
FEATURES = datasets.Features({"text": datasets.Value("string"), "number": datasets.Value("int64")})


def frame(kind, head, payload=b"", size=None):
    """A message."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("!cIQ", kind, len(text), len(payload) if size is None else size) + text + payload


def stream(data):
    """Rows as an IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, data.schema) as writer:
        writer.write(data)
    return sink.getvalue().to_pybytes()


def rows(batch, *, count=None, **head):
    """A message of rows, with keys."""
    count = batch.num_rows if count is None else count
    return frame(b"P", {"span": [0, count], "rows": count, "schema": True, **head}, stream(batch))


def batch(text=None, number=None):
    """A batch in the columns that were announced."""
    text = pa.array(["a", "b"]) if text is None else text
    return pa.record_batch([text, pa.array([1] * len(text)) if number is None else number], names=["text", "number"])


def _strings(offsets, data, *, valid=None):
    """A column of texts out of any buffers."""
    buffers = [valid, pa.py_buffer(numpy.array(offsets, "int32").tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def _fresh(message):
    """The one number of bytes of a message's body, where it is a stream of two messages, made much larger."""
    return message.replace(struct.pack("<q", 2), struct.pack("<q", 1 << 40))


class Evil(pa.ExtensionType):
    """An extension type that would be unpickled."""

    def __init__(self):
        super().__init__(pa.string(), "arrow.py_extension_type")

    def __arrow_ext_serialize__(self):
        return b"cos\nsystem\n(S'touch /tmp/harm'\ntR."

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


def _patched(data, places):
    """A stream in which the offsets of two texts of 7 and 9 letters are others."""
    return stream(data).replace(struct.pack("<iii", 0, 7, 16), struct.pack("<iii", *places))


def _extension():
    kind = Evil()
    return pa.ExtensionArray.from_storage(kind, pa.array(["a", "b"]))


def _compressed(count):
    found = pa.record_batch([pa.array(["x" * count]), pa.array([1])], names=["text", "number"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write(found)
    return frame(b"P", {"span": [0, 1], "rows": 1, "schema": True}, sink.getvalue().to_pybytes())


def _of_type(array):
    return rows(pa.record_batch([array], names=["text"]))


def _nothing():
    return pa.Array.from_buffers(pa.null(), MOST, [None])


def _views():
    """Each row the same long text."""
    text = b"x" * (1 << 20)
    view = numpy.frombuffer(struct.pack("<i4sii", len(text), text[:4], 0, 0) * 10_000, "uint8")
    return pa.Array.from_buffers(pa.string_view(), 10_000, [None, pa.py_buffer(view), pa.py_buffer(text)])


def _dictionary(indices):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), ["a"], safe=False)


def _endless(message):
    def send():
        while True:
            os.write(4, message)

    return send


def _damaged(seed):
    generator = numpy.random.default_rng(seed)
    text = bytearray(stream(batch()))
    for place in generator.integers(0, len(text), 1 + seed % 7):
        text[place] = generator.integers(256)
    return frame(b"P", {"span": [0, 2], "rows": 2, "schema": True}, bytes(text))


GOOD = rows(batch())
END = frame(b"L", {"end": True})
DEEP = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
FRAMES = {
    "noise": lambda: bytes(range(256)) * 10,
    "zeros": lambda: bytes(1000),
    "text": lambda: b"GET / HTTP/1.1\r\n\r\n",
    "kind": lambda: frame(b"R", {"do": "load"}),
    "answer": lambda: frame(b"A", {}),
    "ready": lambda: frame(b"Y", {"layers": []}),
    "long head": lambda: struct.pack("!cIQ", b"P", 0xFFFFFFFF, 0),
    "long payload": lambda: struct.pack("!cIQ", b"P", 2, 1 << 63) + b"{}",
    "announced payload": lambda: struct.pack("!cIQ", b"P", 2, 200 << 20) + b"{}",
    "NaN": lambda: frame(b"P", b'{"rows": NaN, "span": [NaN, Infinity]}', b"x"),
    "number": lambda: frame(b"P", b'{"rows": ' + b"9" * 100_000 + b"}", b"x"),
    "large number": lambda: frame(b"P", {"rows": 10**300, "span": [0, 10**300]}, stream(batch())),
    "long span": lambda: frame(b"P", {"rows": 2, "span": [0, 10**30], "schema": True}, stream(batch())),
    "negative span": lambda: frame(b"P", {"rows": 2, "span": [5, 0], "schema": True}, stream(batch())),
    "texts for a span": lambda: frame(b"P", {"rows": 2, "span": "ab", "schema": True}, stream(batch())),
    "twice": lambda: frame(b"P", b'{"rows": 2, "rows": 1, "span": [0, 2], "span": [0, 1], "schema": true}', stream(batch())),
    "null byte": lambda: frame(b"P", b'{"rows\x00": 2}', b"x"),
    "no UTF-8": lambda: frame(b"P", b'{"rows": "\xff\xfe"}', b"x"),
    "surrogates": lambda: frame(b"P", b'{"rows": 2, "keys": ["\\ud800", "\\udfff"], "schema": true}', stream(batch())),
    "deep": lambda: frame(b"P", DEEP, b"x"),
    "list": lambda: frame(b"P", b"[1, 2, 3]", b"x"),
    "empty": lambda: frame(b"P", {}),
    "no keys": lambda: frame(b"P", {"rows": 2, "schema": True}, stream(batch())),
    "few keys": lambda: frame(b"P", {"rows": 2, "span": [0, 1], "schema": True}, stream(batch())),
    "many keys": lambda: frame(b"P", {"rows": 2, "span": [0, 9], "schema": True}, stream(batch())),
    "keys that are none": lambda: frame(b"P", {"rows": 2, "keys": {"a": 1}, "schema": True}, stream(batch())),
    "keys of a number": lambda: frame(b"P", {"rows": 2, "keys": 7, "schema": True}, stream(batch())),
    "forms of keys": lambda: frame(
        b"P", {"rows": 2, "keys": [{"held": {"int": "1e9"}}, {"t": 3}], "schema": True}, stream(batch())
    ),
    "keys of lists": lambda: frame(b"P", {"rows": 2, "keys": [[1], {"m": [[[1], 2]]}], "schema": True}, stream(batch())),
    "keys without rows": lambda: frame(b"P", {"column": True}, stream(pa.record_batch([pa.array(["a"])], names=["key"]))) * 3,
    "column of other keys": lambda: frame(b"P", {"column": True}, stream(pa.record_batch([pa.array([1.5])], names=["key"]))),
    "no payload": lambda: frame(b"P", {"rows": 2, "span": [0, 2]}),
    "payload of noise": lambda: frame(b"P", {"rows": 2, "span": [0, 2], "schema": True}, os.urandom(1000)),
    "cut payload": lambda: frame(b"P", {"rows": 2, "span": [0, 2], "schema": True}, stream(batch())[:-200]),
    "too many rows": lambda: frame(b"P", {"rows": 10**12, "span": [0, 10**12], "schema": True}, stream(batch())),
    "offsets": lambda: frame(
        b"P", {"span": [0, 2], "rows": 2, "schema": True}, _patched(batch(PATCHED), [0, 1 << 30, 1 << 30])
    ),
    "falling offsets": lambda: rows(batch(_strings([0, 2, 1], b"ab"))),
    "negative offsets": lambda: frame(b"P", {"span": [0, 2], "rows": 2, "schema": True}, _patched(batch(PATCHED), [-5, 1, 2])),
    "UTF-8": lambda: rows(batch(_strings([0, 1, 2], b"\xff\xfe"))),
    "indices": lambda: rows(batch(_dictionary([0, 99]))),
    "negative indices": lambda: rows(batch(_dictionary([0, -7]))),
    "extension": lambda: rows(batch(_extension())),
    "extension inside": lambda: _of_type(pa.StructArray.from_arrays([_extension()], ["a"])),
    "compressed": lambda: _compressed(60 << 20),
    "other columns": lambda: rows(pa.record_batch([pa.array([1, 2])], names=["other"])),
    "other types": lambda: rows(batch(number=pa.array(["1", "2"]))),
    "no columns": lambda: frame(
        b"P", {"span": [0, 2], "rows": 2, "schema": True}, stream(pa.record_batch([], schema=pa.schema([])))
    ),
    "rows of nothing": lambda: _of_type(_nothing()),
    "lists of nothing": lambda: _of_type(
        pa.FixedSizeListArray.from_buffers(pa.list_(pa.int8(), 0), MOST, [None], children=[pa.array([], pa.int8())])
    ),
    "long lists of nothing": lambda: _of_type(pa.ListArray.from_arrays(pa.array([0, MOST], pa.int32()), _nothing())),
    "runs": lambda: _of_type(pa.RunEndEncodedArray.from_arrays(pa.array([MOST], pa.int64()), pa.array(["x" * 1000]))),
    "views": lambda: _of_type(_views()) + END,
    "offsets of keys": lambda: (
        frame(b"P", {"column": True}, _patched(pa.record_batch([PATCHED], names=["k"]), [0, 1 << 30, (1 << 31) - 1]))
        + GOOD
        + END
    ),
    "long body": lambda: frame(b"P", {"span": [0, 2], "rows": 2, "schema": True}, _fresh(stream(batch()))),
    "two batches": lambda: frame(
        b"P", {"span": [0, 2], "rows": 2, "schema": True}, stream(pa.table({"text": ["a"], "number": [1]})) * 2
    ),
    "failure": lambda: frame(b"F", {"error": {"class": "SystemExit", "message": "gone"}}),
    "failure of ours": lambda: frame(
        b"F",
        {
            "error": {
                "class": "DatasetsCoreError",
                "message": "x",
                "facts": {"args": ["a"], "__class__": "os", "with_traceback": 1, "add_note": 3, "path": {"a": 1}},
            }
        },
    ),
    "failure of nothing": lambda: frame(b"F", {"error": 3}),
    "failure with secrets": lambda: frame(
        b"F",
        {
            "error": {
                "class": "DeniedAccessError",
                "message": "\x1b[31mred",
                "facts": {"tried": 3, "path": [1], "line": "x"},
                "traceback": ["\x1b[31mred"],
            }
        },
    ),
    "failure of no text": lambda: frame(
        b"F", {"error": {"class": ["x"], "message": {"a": 1}, "facts": {"\u202e": 1}, "traceback": [1, None, {}]}}
    ),
    "denials of nothing": lambda: frame(b"D", {"tried": 3, "path": {"a": 1}, "line": -1}) + GOOD + END,
    "escapes in a denial": lambda: frame(b"D", {"tried": "\x1b]0;title\x07", "path": "\x1b[2J", "line": 3}) + GOOD + END,
    "question": lambda: frame(b"Q", {"ask": "download", "names": ["/etc/passwd"]}),
    "end at once": lambda: END,
    "end of nothing": lambda: frame(b"L", {}),
    "after the end": lambda: END + GOOD * 3,
    "changed": lambda: frame(b"L", {"end": True, "changed": True}),
    "facts": lambda: rows(batch(), facts={"a": [1]}) + END,
    "reread": lambda: frame(b"L", {"end": True, "reread": "bm90aGluZw=="}),
    "good": lambda: GOOD + END,
    **{f"damaged {seed}": lambda seed=seed: _damaged(seed) for seed in range(40)},
}
ENDLESS = {
    "denials": lambda: _endless(b"".join(frame(b"D", {"tried": f"see {number}"}) for number in range(100))),
    "empty batches": lambda: _endless(rows(batch(pa.array([], pa.string())))),
    "batches": lambda: _endless(GOOD),
    "questions": lambda: _endless(frame(b"Q", {"ask": "recorded"})),
    "keys": lambda: _endless(frame(b"P", {"column": True}, stream(pa.record_batch([pa.array(["a"])], names=["key"])))),
    "slow": lambda: lambda: [(os.write(4, bytes([each])), time.sleep(0.2)) for each in GOOD * 1000],
}


class Frames(datasets.GeneratorBasedBuilder):
    """Writes."""

    VERSION = datasets.Version("1.0.0")

    def _info(self):
        return datasets.DatasetInfo(features=None if WHERE["open"] else FEATURES)

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        if MODE in ENDLESS:
            ENDLESS[MODE]()()
        rest = memoryview(FRAMES[MODE]())
        while rest:
            rest = rest[os.write(4, rest) :]
        time.sleep(WHERE.get("wait", 0))
        os._exit(0)
