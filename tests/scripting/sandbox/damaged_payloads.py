"""Reads payloads in which numbers were changed, one for each seed: `python damaged_payloads.py FIRST COUNT`."""

import contextlib
import random
import struct
import sys

import pyarrow as pa

from datasets_core.errors import DatasetGenerationError
from datasets_core.scripting.sandbox.batches import Receiver

_CODES = pa.array(["u", "v", "u"]).dictionary_encode()
_TAGS = pa.array([0, 1, 0], pa.int8())
COLUMNS = [
    *(pa.array([1, 2, None]), pa.array(["a", "bb", None]), pa.array([True, False, None]), pa.array([b"ab"] * 3, pa.binary(2))),
    *(pa.array([{"a": 1, "b": "x"}] * 3), pa.array([{"a": {"b": [1]}}, None, {"a": None}])),
    *(pa.array([[1], [2, 3], None]), pa.array([[1], [], [2]], pa.large_list(pa.int64()))),
    *(pa.array([[1, 2]] * 3, pa.list_(pa.int8(), 2)), pa.array([[("a", 1)], [], []], pa.map_(pa.string(), pa.int32()))),
    *(_CODES, pa.StructArray.from_arrays([_CODES], ["d"]), pa.nulls(3), pa.array([1, 2, 3]).cast(pa.decimal128(21, 2))),
    *(pa.array(["a" * 30, "b", "c"], pa.string_view()), pa.array([[1], [2], [3]], pa.list_view(pa.int8()))),
    pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array([1, 2])),
    pa.UnionArray.from_sparse(_TAGS, [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]),
    pa.UnionArray.from_dense(_TAGS, pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["x"])]),
]
INTEGERS = [-1, 0, 1, 2, 8, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63), -(1 << 31)]


def damaged(chance: random.Random) -> pa.Buffer:
    """A stream of some columns, some of whose bytes or numbers are others."""
    columns = chance.sample(COLUMNS, chance.randint(1, 4))
    batch, sink = pa.record_batch(columns, names=[str(each) for each in range(len(columns))]), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write(batch)
    payload = bytearray(sink.getvalue().to_pybytes())
    for _ in range(chance.randint(1, 4)):
        if chance.random() < 0.4:
            payload[chance.randrange(len(payload))] = chance.choice([0, 1, 2, 4, 127, 128, 255])
        else:
            size = chance.choice([4, 8])
            at = chance.randrange(len(payload) - size) // size * size
            payload[at : at + size] = struct.pack("<q", chance.choice(INTEGERS))[:size]
    return pa.py_buffer(bytes(payload))


def main(first: int, count: int) -> None:
    for seed in range(first, first + count):
        print(seed, flush=True)  # the last one says which ended the process
        data = damaged(random.Random(seed))
        for read in (
            lambda data: Receiver("x").batch({"schema": True, "rows": 3}, data).to_pylist(),
            lambda data: Receiver("x").table(data).to_pylist(),
            lambda data: Receiver("x").keys({"column": True}, data),
        ):
            with contextlib.suppress(DatasetGenerationError):
                read(data)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
