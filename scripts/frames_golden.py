"""TFRecord files that TensorFlow wrote, and how many records it reads of each when it is cut or has a wrong bit.

/path/to/an/environment/with/tensorflow/bin/python scripts/frames_golden.py tests/records/golden
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import tensorflow as tf

RECORDS = [b"one", b"", bytes(range(40)), b"last"]
KINDS = {"plain": "", "gzip": "GZIP", "zlib": "ZLIB"}


def written(kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path, compression = f"{folder}/a.tfrecord", cast(Any, KINDS[kind])
        with tf.io.TFRecordWriter(path, compression) as writer:
            for record in RECORDS:
                writer.write(record)
        return Path(path).read_bytes()


def read(data: bytes, kind: str, place: Path) -> tuple[int, bool]:
    """How many records come, and whether an error follows them."""
    place.write_bytes(data)
    count = 0
    compression: Any = KINDS[kind]
    try:
        for record in tf.data.TFRecordDataset(str(place), compression_type=compression):
            assert record.numpy() == RECORDS[count], "a wrong record"
            count += 1
    except tf.errors.DataLossError:
        return count, True
    return count, False


def flipped(data: bytes, number: int) -> bytes:
    byte, bit = divmod(number, 8)
    return data[:byte] + bytes([data[byte] ^ 1 << bit]) + data[byte + 1 :]


def main() -> None:
    folder = Path(sys.argv[1])
    found: dict[str, Any] = {"records": [record.hex() for record in RECORDS]}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch, "a.tfrecord")
        for kind in KINDS:
            data = written(kind)
            cuts = [read(data[:size], kind, place) for size in range(len(data))]
            found[kind] = {"file": data.hex(), "cuts": cuts}
            if kind == "plain":
                flipped = (
                    data[:byte] + bytes([data[byte] ^ 1 << bit]) + data[byte + 1 :]
                    for byte in range(len(data))
                    for bit in range(8)
                )
                found[kind]["flips"] = [read(changed, kind, place) for changed in flipped]
    folder.joinpath("frames.json").write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
