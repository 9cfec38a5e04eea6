"""Writes `tests/slim/golden/readers.json`: what the readers, providers and queues of the real TF-Slim make of many files.

    python scripts/slim_readers_golden.py

It is run in an interpreter that has tensorflow and tf_slim.  Files are kept as base64; keys leave out the folder they lie in.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from tf_slim.data import data_decoder, dataset, dataset_data_provider, parallel_reader, prefetch_queue

graph = tf.compat.v1
graph.disable_eager_execution()
graph.logging.set_verbosity("ERROR")
GOLDEN = Path(__file__).parents[1] / "tests" / "slim" / "golden" / "readers.json"
MOST = 60


class Whole(data_decoder.DataDecoder):  # type: ignore[misc]
    """Items `data` and `length`."""

    def decode(self, data: Any, items: Any) -> list[Any]:
        return [{"data": data, "length": graph.strings.length(data)}[item] for item in items]

    def list_items(self) -> list[str]:
        return ["data", "length"]


def run(make: Callable[[], Any]) -> tuple[list[Any], str | None]:
    """What a graph gives, and the error at its end."""
    found: list[Any] = []
    try:
        with graph.Graph().as_default():
            tensors = make()
            coordinator = graph.train.Coordinator()
            with graph.Session() as session:
                session.run([graph.global_variables_initializer(), graph.local_variables_initializer()])
                threads = graph.train.start_queue_runners(session, coordinator)
                end = None
                try:
                    while len(found) < MOST:
                        found.append(session.run(tensors, options=graph.RunOptions(timeout_in_ms=10_000)))
                except Exception as error:
                    end = type(error).__name__
                coordinator.request_stop()
                try:
                    coordinator.join(threads, stop_grace_period_secs=2)
                except Exception as error:
                    end = type(error).__name__
                return found, end
    except Exception as error:
        return [], f"{type(error).__name__} when made"


def files(folder: Path) -> dict[str, bytes]:
    """Files of each kind."""
    made: dict[str, bytes] = {
        "plain.txt": b"h1\nh2\none\n\ntwo\r\nthree",
        "short.txt": b"four\nfive\n",
        "empty.txt": b"",
        "returns.txt": b"a\rb\r\r\nc\n\n\r",
        "blank.txt": b"\n",
        "mark.txt": b"\xef\xbb\xbfone\r\n\r\n",
        "fixed.bin": b"HEADaabbccddFT",
        "other.bin": b"HEADeeFT",
        "none.bin": b"HEADFT",
        "fixed.gz": gzip.compress(b"HEADaabbccddFT", mtime=0),
        "fixed.z": zlib.compress(b"HEADaabbccddFT"),
    }
    records: dict[str, tuple[list[bytes], str | None]] = {
        "a.tfrecord": ([b"a0", b"", b"a2-is-longer", b"a3"], None),
        "b.tfrecord": ([b"b0", b"b1"], None),
        "c.tfrecord": ([b"c0"], None),
        "empty.tfrecord": ([], None),
        "a.tfrecord.gz": ([b"a0", b"", b"a2-is-longer", b"a3"], "GZIP"),
        "a.tfrecord.z": ([b"a0", b"", b"a2-is-longer", b"a3"], "ZLIB"),
    }
    for name, (values, compression) in records.items():
        with tf.io.TFRecordWriter(str(folder / name), cast(Any, compression)) as writer:
            for value in values:
                writer.write(value)
        made[name] = (folder / name).read_bytes()
    whole = made["a.tfrecord"]
    made["cut.tfrecord"] = whole[:-3]
    made["flipped.tfrecord"] = whole[:50] + bytes([whole[50] ^ 1]) + whole[51:]
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return made


READS: list[tuple[list[str], str, dict[str, Any]]] = [
    (["plain.txt", "short.txt"], "TextLineReader", {}),
    (["plain.txt", "empty.txt", "short.txt"], "TextLineReader", {"skip_header_lines": 1}),
    (["plain.txt", "short.txt"], "TextLineReader", {"skip_header_lines": 2}),
    (["returns.txt"], "TextLineReader", {}),
    (["blank.txt"], "TextLineReader", {}),
    (["mark.txt", "mark.txt"], "TextLineReader", {}),
    (["empty.txt"], "TextLineReader", {}),
    (["short.txt", "missing.txt", "plain.txt"], "TextLineReader", {}),
    (["short.txt"], "TextLineReader", {"skip_header_lines": -1}),
    (
        ["fixed.bin", "other.bin", "none.bin"],
        "FixedLengthRecordReader",
        {"record_bytes": 2, "header_bytes": 4, "footer_bytes": 2},
    ),
    (["other.bin", "other.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "header_bytes": 4, "footer_bytes": 2}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 7}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "header_bytes": 4, "hop_bytes": 1}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "header_bytes": 4, "hop_bytes": 3}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "header_bytes": 3, "footer_bytes": 1, "hop_bytes": 5}),
    (["fixed.gz"], "FixedLengthRecordReader", {"record_bytes": 2, "header_bytes": 4, "footer_bytes": 2, "encoding": "GZIP"}),
    (["fixed.z"], "FixedLengthRecordReader", {"record_bytes": 4, "header_bytes": 4, "footer_bytes": 2, "encoding": "ZLIB"}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": -1}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "header_bytes": -1}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "footer_bytes": -1}),
    (["fixed.bin"], "FixedLengthRecordReader", {"record_bytes": 2, "hop_bytes": -1}),
    (["plain.txt", "empty.txt"], "WholeFileReader", {}),
    (["a.tfrecord", "empty.tfrecord", "b.tfrecord"], "TFRecordReader", {}),
    (["a.tfrecord.gz"], "TFRecordReader", {"options": "GZIP"}),
    (["a.tfrecord.z"], "TFRecordReader", {"options": "ZLIB"}),
    (["b.tfrecord", "cut.tfrecord", "c.tfrecord"], "TFRecordReader", {}),
    (["flipped.tfrecord", "c.tfrecord"], "TFRecordReader", {}),
]
ABC = ["a.tfrecord", "b.tfrecord", "c.tfrecord"]
PROVIDED: list[tuple[list[str], dict[str, Any], Any]] = [
    (ABC, {"shuffle": False, "num_epochs": 1}, ["data", "record_key"]),
    (ABC, {"shuffle": False, "num_epochs": 3}, ["length", "data"]),
    (ABC, {"shuffle": False, "num_epochs": 1, "num_readers": 2}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": 2, "num_readers": 10}, ["data"]),
    (ABC, {"shuffle": True, "num_epochs": 1, "common_queue_capacity": 4, "common_queue_min": 2}, ["data", "record_key"]),
    (ABC, {"shuffle": True, "num_epochs": 3, "num_readers": 2, "seed": 7}, ["data"]),
    (ABC, {"shuffle": False}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": 1, "record_key": "key"}, ["key", "data", "key"]),
    (ABC, {"shuffle": False, "num_epochs": 1, "record_key": "length"}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": 1}, ["record_key"]),
    (ABC, {"shuffle": False, "num_epochs": 1}, ["no such item"]),
    (ABC, {"shuffle": False, "num_epochs": 1}, "data"),
    (ABC, {"shuffle": False, "num_epochs": 1}, None),
    (ABC, {"shuffle": False, "num_epochs": 0}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": -2}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": 1, "num_readers": 0}, ["data"]),
    (ABC, {"shuffle": True, "num_epochs": 1, "common_queue_capacity": 4, "common_queue_min": 4}, ["data"]),
    (ABC, {"shuffle": True, "num_epochs": 1, "common_queue_capacity": 4}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": 1, "common_queue_capacity": 0}, ["data"]),
    (ABC, {"shuffle": False, "num_epochs": 1, "reader_kwargs": {"nothing": 1}}, ["data"]),
    ([], {"shuffle": False, "num_epochs": 1}, ["data"]),
    (["nothing-*"], {"shuffle": False, "num_epochs": 1}, ["data"]),
    (["empty.tfrecord"], {"shuffle": False, "num_epochs": 1}, ["data"]),
    (["empty.tfrecord", "c.tfrecord"], {"shuffle": True, "num_epochs": 2}, ["data"]),
]


def read(folder: Path, names: list[str], reader: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    options = {"options": tf.io.TFRecordOptions(kwargs["options"])} if "options" in kwargs else kwargs
    paths = [str(folder / name) for name in names]
    found, end = run(lambda: parallel_reader.single_pass_read(paths, getattr(graph, reader), options))
    return {"samples": [[key.decode().replace(f"{folder}/", ""), coded(value)] for key, value in found], "end": end}


def provided(folder: Path, names: list[str], options: dict[str, Any], items: Any) -> dict[str, Any]:
    told: dict[str, Any] = {}

    def make() -> Any:
        paths = [str(folder / name) for name in names]
        provider = dataset_data_provider.DatasetDataProvider(
            dataset.Dataset(paths, graph.TFRecordReader, Whole(), 7, {}), **options
        )
        told["list_items"], told["num_samples"] = list(provider.list_items()), provider.num_samples()
        return provider.get(items)

    found, end = run(make)
    samples = [[coded(value, folder) for value in sample] for sample in found]
    if options.get("shuffle") or options.get("num_readers", 1) > 1:
        samples.sort(key=repr)
    return {"samples": samples, "end": end, **told}


def coded(value: Any, folder: Path | None = None) -> Any:
    if not isinstance(value, bytes):
        return int(value)
    value = value.replace(f"{folder}/".encode(), b"") if folder else value
    return base64.b64encode(value).decode()


def queued() -> dict[str, Any]:
    """Batches of a prefetch queue that pads."""

    def make() -> Any:
        number = graph.assign_add(graph.Variable(0, trainable=False, dtype=tf.int32), 1)
        numbers = tf.ones(tf.stack([number % 3 + 1, 2]), tf.int32) * number
        texts = tf.fill([number % 3 + 1], "s")
        numbers.set_shape([None, 2])
        texts.set_shape([None])
        return prefetch_queue.prefetch_queue({"n": numbers, "t": texts}, dynamic_pad=True).dequeue_many(3)

    found, _ = run(make)
    return {
        "batches": [
            {"n": batch["n"].tolist(), "t": [[text.decode() for text in row] for row in batch["t"]]} for batch in found[:2]
        ]
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = files(folder)
        golden = {
            "files": {name: base64.b64encode(data).decode() for name, data in made.items()},
            "reads": [
                {"files": names, "reader": reader, "kwargs": kwargs, **read(folder, names, reader, kwargs)}
                for names, reader, kwargs in READS
            ],
            "provided": [
                {"files": names, "options": options, "items": items, **provided(folder, names, options, items)}
                for names, options, items in PROVIDED
            ],
            "queued": queued(),
        }
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
