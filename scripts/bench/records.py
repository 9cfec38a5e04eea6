"""TFRecord files of `tf.Example`s: datasets_core, TensorFlow, protobuf and the package `tfrecord`, by records per CPU second.

    python scripts/bench/records.py --peer /path/to/peer-venv/bin/python

The peer's environment has what it is compared with (`tensorflow-cpu`, `protobuf`, `tfrecord`, `google-crc32c`); what lacks
there is left out.  Every cell is a process of its own that reads the same file, 100,000 Examples of five features, from the
page cache: the CPU time of all its threads is counted, once everything is imported and a small file was read.
Implementations take turns, and the best of the runs is shown, which on a busy machine says most.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import report

ROOT = Path(__file__).parents[2]
RECORDS = 100_000
CELLS = {
    # name: (whose, what it does, how many of the records it reads)
    "arrow": ("datasets_core", "to Arrow, by a spec, CRC checked", RECORDS),
    "inferred": ("datasets_core", "to Arrow, types inferred, CRC checked", RECORDS),
    "provider": ("datasets_core", "to numpy rows by DatasetDataProvider, CRC checked", RECORDS),
    "shuffled": ("datasets_core", "the same, shuffled by 2 readers", RECORDS),
    "frames": ("datasets_core", "to bytes, CRC checked", RECORDS),
    "written": ("datasets_core", "Arrow to a TFRecord file", RECORDS),
    "tf_batched": ("tensorflow", "batch(1000), parse_example", RECORDS),
    "tf_single": ("tensorflow", "parse_single_example, to numpy rows", RECORDS // 20),
    "tf_frames": ("tensorflow", "TFRecordDataset, to bytes", RECORDS // 4),
    "tf_written": ("tensorflow", "tf.train.Example, TFRecordWriter", RECORDS // 10),
    "protobuf": ("protobuf", "to dicts of lists, CRC checked", RECORDS // 4),
    "tfrecord": ("tfrecord", "tfrecord_loader, no CRC", RECORDS // 4),
}


# -- data --------------------------------------------------------------------------------------------------------------


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _feature(key: str, kind: int, data: bytes) -> bytes:
    return _field(1, _field(1, key.encode()) + _field(2, _field(kind, data)))


def make_file(path: Path, count: int) -> None:
    """Examples of two integers, eight floats and two texts, 167 bytes each with their frames."""
    import numpy as np

    from datasets_core.records.writer import TFRecordWriter

    random = np.random.default_rng(0)
    floats = random.random((count, 8), np.float32)
    labels = random.integers(0, 1000, count)
    with TFRecordWriter(path) as writer:
        for number in range(count):
            parts = [
                _feature("id", 3, _field(1, _varint(number))),
                _feature("label", 3, _field(1, _varint(int(labels[number])))),
                _feature("box", 2, _field(1, floats[number].tobytes())),
                _feature("name", 1, _field(1, b"image_%08d" % number)),
                _feature("code", 1, _field(1, random.bytes(29))),
            ]
            writer.write(_field(1, b"".join(parts)))


# -- cells -------------------------------------------------------------------------------------------------------------


def _spec(module: Any) -> dict[str, Any]:
    fixed = module.FixedLenFeature
    return {
        "id": fixed([], "int64"),
        "label": fixed([], "int64"),
        "box": fixed([8], "float32"),
        "name": fixed([], "string"),
        "code": fixed([], "string"),
    }


def arrow(path: str, count: int) -> int:
    """Our blocks, by a spec."""
    from datasets_core import records

    reader = records.ExampleReader(spec=_spec(records))
    with records.TFRecordReader(path) as file:
        return sum(reader.read(block, None).num_rows for block in file.blocks())


def inferred(path: str, count: int) -> int:
    """Our blocks, whose types are inferred."""
    from datasets_core import records

    reader, rows, known = records.ExampleReader(), 0, None
    with records.TFRecordReader(path) as file:
        for block in file.blocks():
            batch = reader.read(block, known)
            known = batch.schema
            rows += batch.num_rows
    return rows


def frames(path: str, count: int) -> int:
    """Our records, as bytes."""
    from datasets_core import records

    with records.TFRecordReader(path) as file:
        return sum(1 for _ in file)


def _provided(path: str, **options: Any) -> int:
    from datasets_core import records, slim

    handlers = {name: slim.Tensor(name) for name in _spec(records)}
    decoder = slim.TFExampleDecoder(_spec(records), handlers)
    dataset = slim.Dataset([path], slim.TFRecordReader, decoder, None, {name: name for name in handlers})
    with slim.DatasetDataProvider(dataset, num_epochs=1, **options) as provider:
        return sum(1 for sample in provider if sample["box"].shape == (8,))


def provider(path: str, count: int) -> int:
    """Our provider, one row after the other."""
    return _provided(path, shuffle=False)


def shuffled(path: str, count: int) -> int:
    """Our provider, shuffled."""
    return _provided(path, shuffle=True, num_readers=2, seed=0)


def written(path: str, count: int) -> int:
    """Our writer."""
    from datasets_core import records
    from datasets_core.dataset.dataset import Dataset

    reader = records.ExampleReader(spec=_spec(records))
    with records.TFRecordReader(path) as file:
        batches = [reader.read(block, None) for block in file.blocks()]
    import pyarrow as pa

    rows = Dataset(pa.Table.from_batches(batches))
    start()
    with tempfile.TemporaryDirectory() as folder:
        rows.to_tfrecord(Path(folder, "a.tfrecord"))
    return len(rows)


def tf_batched(path: str, count: int) -> int:
    """TensorFlow's parser, a thousand records at a time."""
    tf: Any = importlib.import_module("tensorflow")
    spec, found = _spec_of_tf(tf), 0
    for batch in tf.data.TFRecordDataset(path).batch(1000).map(lambda data: tf.io.parse_example(data, spec)):
        found += len(batch["id"])
    return found


def tf_single(path: str, count: int) -> int:
    """TensorFlow's parser, record by record, as TensorFlow Datasets and TF-Slim do."""
    tf: Any = importlib.import_module("tensorflow")
    spec, found = _spec_of_tf(tf), 0
    for data in tf.data.TFRecordDataset(path).take(count):
        row = {name: value.numpy() for name, value in tf.io.parse_single_example(data, spec).items()}
        found += row["box"].shape == (8,)
    return found


def tf_frames(path: str, count: int) -> int:
    """TensorFlow's records, as bytes."""
    tf: Any = importlib.import_module("tensorflow")
    return sum(1 for _ in tf.data.TFRecordDataset(path).take(count).as_numpy_iterator())


def tf_written(path: str, count: int) -> int:
    """TensorFlow's messages and writer."""
    import numpy as np

    tf: Any = importlib.import_module("tensorflow")
    train, box = tf.train, np.zeros(8, np.float32)
    start()
    with tempfile.TemporaryDirectory() as folder, tf.io.TFRecordWriter(f"{folder}/a.tfrecord") as writer:
        for number in range(count):
            features = {
                "id": train.Feature(int64_list=train.Int64List(value=[number])),
                "label": train.Feature(int64_list=train.Int64List(value=[7])),
                "box": train.Feature(float_list=train.FloatList(value=box)),
                "name": train.Feature(bytes_list=train.BytesList(value=[b"image_%08d" % number])),
                "code": train.Feature(bytes_list=train.BytesList(value=[b"twenty-nine bytes, as many as"])),
            }
            writer.write(train.Example(features=train.Features(feature=features)).SerializeToString())
    return count


def _spec_of_tf(tf: Any) -> dict[str, Any]:
    return {name: tf.io.FixedLenFeature(feature.shape, getattr(tf, feature.dtype)) for name, feature in _spec(_Shapes).items()}


class _Shapes:
    """What a spec says, for TensorFlow's own classes."""

    class FixedLenFeature:
        """Shape and type of a feature."""

        def __init__(self, shape: list[int], dtype: str) -> None:
            self.shape, self.dtype = shape, dtype


def protobuf(path: str, count: int) -> int:
    """Messages of protobuf, whose description is made here."""
    import google_crc32c
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="bench", syntax="proto3")
    types = descriptor_pb2.FieldDescriptorProto

    def add(name: str, *fields: tuple[Any, ...], into: Any = None) -> Any:
        message = file.message_type.add(name=name) if into is None else into.nested_type.add(name=name)
        for number, (field, kind, label, of) in enumerate(fields, 1):
            message.field.add(name=field, number=number, type=kind, label=label, type_name=of)
        return message

    one, many, deep = types.LABEL_OPTIONAL, types.LABEL_REPEATED, types.TYPE_MESSAGE
    add("BytesList", ("value", types.TYPE_BYTES, many, None))
    add("FloatList", ("value", types.TYPE_FLOAT, many, None))
    add("Int64List", ("value", types.TYPE_INT64, many, None))
    kinds = [(f"{kind.lower()}_list", deep, one, f".bench.{kind}List") for kind in ("Bytes", "Float", "Int64")]
    add("Feature", *kinds)
    features = add("Features", ("feature", deep, many, ".bench.Features.FeatureEntry"))
    entry = add("FeatureEntry", ("key", types.TYPE_STRING, one, None), ("value", deep, one, ".bench.Feature"), into=features)
    entry.options.map_entry = True
    add("Example", ("features", deep, one, ".bench.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    example: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.Example"))
    rows = 0
    for data in _framed(path, count, google_crc32c.value):
        message = example.FromString(data)
        row = {
            key: list((feature.int64_list or feature.float_list or feature.bytes_list).value)
            for key, feature in message.features.feature.items()
        }
        rows += len(row) == 5
    return rows


def _framed(path: str, count: int, crc: Callable[[bytes], int]) -> Iterator[bytes]:
    with open(path, "rb") as file:
        for _ in range(count):
            head = file.read(12)
            if not head:
                return
            length, _length_crc = struct.unpack("<QI", head)
            data, (recorded,) = file.read(length), struct.unpack("<I", file.read(4))
            found = crc(data)
            assert (((found >> 15) | (found << 17)) + 0xA282EAD8) & 0xFFFFFFFF == recorded
            yield data


def tfrecord(path: str, count: int) -> int:
    """The package `tfrecord`."""
    import itertools

    from tfrecord.reader import tfrecord_loader

    kinds = {"id": "int", "label": "int", "box": "float", "name": "byte", "code": "byte"}
    return sum(1 for _ in itertools.islice(tfrecord_loader(path, None, kinds), count))


# -- running -----------------------------------------------------------------------------------------------------------

_begun = 0.0


def start() -> None:
    """Begin to count, for cells that have something to prepare."""
    global _begun
    _begun = time.process_time()


def run_cell(name: str, path: str) -> None:
    """Read a small file, then the file, and print what it took."""
    cell = globals()[name]
    count = CELLS[name][2]
    cell(f"{path}.small", 1000)
    start()
    found = cell(path, count)
    taken = time.process_time() - _begun
    if found != count:
        raise SystemExit(f"{name} gave {found} records of {count}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"per_cpu_second": found / taken, "mib": memory}))


def main() -> None:
    """Run the cells in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peer", help="python of an environment with tensorflow-cpu, protobuf, tfrecord and google-crc32c")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cells", default=",".join(CELLS), help="which of them, with commas between")
    parser.add_argument("--out", type=Path, help="also write the figures to this file (docs/speed/results.json)")
    report.add_compare(parser)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        run_cell(options.cell, options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "examples.tfrecord")
        make_file(path, RECORDS)
        make_file(Path(f"{path}.small"), 1000)
        best: dict[str, dict[str, float]] = {}
        for _ in range(options.runs):
            for name in options.cells.split(","):
                found = _run(name, path, options.peer)
                if found is not None and found["per_cpu_second"] > best.get(name, found)["per_cpu_second"] - 1e-9:
                    best[name] = found
        size = path.stat().st_size
    rows = {name: {"library": CELLS[name][0], "title": CELLS[name][1], **found} for name, found in best.items()}
    print(report.RECORDS_HEAD)
    for row in rows.values():
        print(report.record_line(row))
    if options.out:
        report.record(options.out, "records", options.peer, records=RECORDS, bytes=size, runs=options.runs, rows=rows)
    report.compare(options.compare, "records", rows)


def _run(name: str, path: Path, peer: str | None) -> dict[str, float] | None:
    python = sys.executable if CELLS[name][0] == "datasets_core" else peer
    if python is None:
        return None
    command = [python, __file__, "--cell", name, "--file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{name}: left out ({reason})", file=sys.stderr)
        return None
    measured: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


if __name__ == "__main__":
    main()
