"""Files that readers read, and what the real TF-Slim made of them."""

import base64
import json
from pathlib import Path

import pytest

from datasets_core import records, slim


@pytest.fixture(scope="session")
def readers_golden():
    """What `scripts/slim_readers_golden.py` wrote."""
    return json.loads((Path(__file__).parent / "golden" / "readers.json").read_text(encoding="utf-8"))


@pytest.fixture
def golden_folder(readers_golden, tmp_path):
    """The folder of its files."""
    for name, data in readers_golden["files"].items():
        (tmp_path / name).write_bytes(base64.b64decode(data))
    return tmp_path


class Whole(slim.DataDecoder):
    """Items `data` and `length` of a record; `wrong` raises."""

    def decode(self, data, items=None):
        made = {"data": lambda: data, "length": lambda: len(data), "wrong": lambda: 1 // 0}
        return [made[item]() for item in items or self.list_items()]

    def list_items(self):
        return ["data", "length"]


@pytest.fixture
def whole():
    """A decoder that gives records as they are."""
    return Whole()


@pytest.fixture
def numbered(tmp_path, whole):
    """Makes a dataset of TFRecord files with so many records each, which say `file:record`."""

    def made(*counts, reader=slim.TFRecordReader, decoder=whole):
        paths = []
        for file, count in enumerate(counts):
            paths.append(str(tmp_path / f"numbered-{file}.tfrecord"))
            with records.TFRecordWriter(paths[-1]) as writer:
                writer.write_all(f"{file}:{number}".encode() for number in range(count))
        return slim.Dataset(paths, reader, decoder, sum(counts), {})

    return made
