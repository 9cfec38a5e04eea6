"""The ways in which a dataset says who reads its files."""

from functools import partial

import pytest

from datasets_core import records, slim
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.slim.dataset import named, reader_maker


class Duck:
    """Has the method alone."""

    def samples(self, path):
        yield from [(0, path), (1, "b")]


class TensorFlowsOwn:
    """As TensorFlow's classes look from here."""


TensorFlowsOwn.__module__ = "tensorflow.python.ops.io_ops"


@pytest.mark.parametrize(
    ("reader", "kwargs", "expected"),
    [
        (slim.TextLineReader, {"skip_header_lines": 2}, slim.TextLineReader),
        (partial(slim.FixedLengthRecordReader, 3), {"header_bytes": 1}, slim.FixedLengthRecordReader),
        (records.TFRecordReader, {"verify": False}, slim.TFRecordReader),
        ("json", {}, slim.BuilderReader),
        (slim.BuilderReader, {"format": "csv", "sep": ";"}, slim.BuilderReader),
    ],
)
def test_a_reader_is_made_for_each_thread(reader, kwargs, expected):
    make = reader_maker(reader, kwargs)
    assert type(make()) is expected
    assert make() is not make()


def test_a_reader_that_is_made_is_shared():
    reader = slim.BuilderReader("csv")
    assert reader_maker(reader)() is reader
    with pytest.raises(ConfigurationError, match="reader_kwargs"):
        reader_maker(reader, {"sep": ";"})


def test_anything_with_the_method_reads():
    reader = reader_maker(Duck)()
    assert reader.reads_one_by_one
    assert not slim.TextLineReader().reads_one_by_one
    assert [block.payloads for block in reader.blocks("a", 1)] == [["b"]]
    assert reader.key("a", 1) == "a:1"


@pytest.mark.parametrize("name", ["TextLineReader", "TextLineReaderV2"])
def test_classes_of_tensorflow_stand_for_ours(name):
    theirs = type(name, (TensorFlowsOwn,), {"__module__": "tensorflow.python.ops.io_ops"})
    assert type(reader_maker(theirs, {"skip_header_lines": 1})()) is slim.TextLineReader


def test_a_class_of_tensorflow_without_one_of_ours_is_told():
    theirs = type("LMDBReader", (), {"__module__": "tensorflow.python.ops.io_ops"})
    with pytest.raises(ArgumentTypeError, match="LMDBReader"):
        reader_maker(theirs)


@pytest.mark.parametrize(
    ("reader", "kwargs"),
    [(slim.TextLineReader, {"nothing": 1}), (None, {}), (3, {}), (dict, {}), (slim.FixedLengthRecordReader, {})],
)
def test_what_reads_nothing_is_refused(reader, kwargs):
    with pytest.raises(ArgumentTypeError):
        reader_maker(reader, kwargs)()


def test_a_name_is_the_same_in_every_process():
    assert named(slim.TextLineReader, {"b": object(), "a": 1}) == ["TextLineReader", ["a", 1], ["b", "object"]]
    assert named(slim.BuilderReader("csv")) == ["BuilderReader"]
    assert named("csv") == ["csv"]
