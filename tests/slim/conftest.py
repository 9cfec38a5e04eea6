"""Files that readers read, and what the real TF-Slim made of them."""

import base64
import json
import sys
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


SLIM = slim.__file__.removesuffix("__init__.py")


class Interrupts:
    """A block in which `KeyboardInterrupt` comes before a line of slim, in this thread: that of a number, counted from 0.

    Lines to which the code goes back do not count: a block of a lock ends with its first line, and is not interrupted there.
    """

    def __init__(self, at):
        self.at, self.count = at, 0

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self)

    def __exit__(self, *_):
        sys.settrace(self.before)

    def __call__(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(SLIM):
            return None
        last = 0

        def lines(frame, event, _):
            nonlocal last
            is_new, last = event == "line" and frame.f_lineno > last, frame.f_lineno
            self.count += is_new
            if is_new and self.count > self.at >= 0:
                self.at = -1
                raise KeyboardInterrupt
            return lines

        return lines


@pytest.fixture(scope="session")
def interrupts():
    """Makes blocks that are interrupted."""
    return Interrupts


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
