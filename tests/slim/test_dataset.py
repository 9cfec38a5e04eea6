"""Rows of other formats as samples."""

import copy
import json
import os
import pickle
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import records, slim
from datasets_core.errors import ArgumentTypeError, ConfigurationError, DatasetsCoreError, NoDataFilesError
from datasets_core.slim.dataset import get_data_files, named, reader_maker

ROWS = [{"name": f"bird {number}", "count": number} for number in range(700)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.csv").write_text(
        "name,count\n" + "".join(f"{row['name']},{row['count']}\n" for row in ROWS), encoding="utf-8"
    )
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet", row_group_size=300)
    (tmp_path / "odd[1].csv").write_text("a\n1\n", encoding="utf-8")
    return tmp_path


FORMATS = [("csv", "a.csv"), ("json", "a.jsonl"), ("parquet", "a.parquet")]


@pytest.mark.parametrize(("format", "name"), FORMATS)
def test_rows_come_with_their_numbers(format, name, folder):
    assert list(slim.BuilderReader(format).samples(str(folder / name))) == list(enumerate(ROWS))


@pytest.mark.parametrize(("format", "name"), FORMATS)
@pytest.mark.parametrize("start", [0, 1, 256, 299, 300, 699])
def test_a_reader_goes_on_at_a_row(format, name, start, folder):
    blocks = list(slim.BuilderReader(format).blocks(str(folder / name), start))
    assert [row for block in blocks for row in block.payloads] == ROWS[start:]
    assert blocks[0].first == start


def test_options_are_those_of_the_builder(folder):
    found = list(slim.BuilderReader("text", sample_by="document").samples(str(folder / "a.csv")))
    assert len(found) == 1


def test_a_path_with_brackets_is_a_path(folder):
    assert list(slim.BuilderReader("csv").samples(str(folder / "odd[1].csv"))) == [(0, {"a": 1})]


def test_rows_before_a_damaged_one_come_then_the_error_with_the_file(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:10]) + "{broken\n", encoding="utf-8")
    found = []
    with pytest.raises(DatasetsCoreError) as caught:
        found.extend(slim.BuilderReader("json").samples(str(path)))
    assert str(caught.value.file).endswith("bad.jsonl")
    assert caught.value.line == 11
    assert [row for _, row in found] == ROWS[: len(found)]


@pytest.mark.parametrize("format", ["no such format", "", None, 3])
def test_an_unknown_format_is_refused(format):
    with pytest.raises(ConfigurationError, match="csv"):
        slim.BuilderReader(format)


# Which files data sources name.


@pytest.fixture
def folder_data_sources(tmp_path):
    for name in ("b.tfrecord", "a.tfrecord", "c.txt", ".hidden", "odd[1].tfrecord"):
        (tmp_path / name).touch()
    (tmp_path / "folder.tfrecord").mkdir()
    return tmp_path


def test_a_pattern_is_the_files_that_fit_it_sorted(folder_data_sources):
    assert get_data_files(f"{folder_data_sources}/?.tfrecord") == [
        f"{folder_data_sources}/a.tfrecord",
        f"{folder_data_sources}/b.tfrecord",
    ]
    assert get_data_files(f"{folder_data_sources}/[bc].*") == [
        f"{folder_data_sources}/b.tfrecord",
        f"{folder_data_sources}/c.txt",
    ]


def test_a_list_keeps_its_order_and_what_stands_in_it_twice(folder_data_sources):
    sources = [f"{folder_data_sources}/c.txt", (f"{folder_data_sources}/*b.tfrecord", [f"{folder_data_sources}/c.txt"])]
    assert get_data_files(sources) == [
        f"{folder_data_sources}/c.txt",
        f"{folder_data_sources}/b.tfrecord",
        f"{folder_data_sources}/c.txt",
    ]


def test_a_path_is_taken_as_it_stands_whether_it_is_there_or_not(folder_data_sources):
    assert get_data_files("no/such/file") == ["no/such/file"]
    assert get_data_files(Path("some") / "path") == [os.path.join("some", "path")]
    assert get_data_files(f"{folder_data_sources}/odd[1].tfrecord") == [f"{folder_data_sources}/odd[1].tfrecord"]


def test_the_question_of_an_address_is_no_pattern():
    assert get_data_files("https://example.org/a.tfrecord?part=1") == ["https://example.org/a.tfrecord?part=1"]


def test_a_pattern_of_a_store_is_its_files_sorted():
    import fsspec

    store = fsspec.filesystem("memory")
    for name in ("b", "a"):
        store.pipe(f"/sources/{name}.tfrecord", b"")
    assert get_data_files("memory://sources/*.tfrecord") == ["memory://sources/a.tfrecord", "memory://sources/b.tfrecord"]
    with pytest.raises(NoDataFilesError):
        get_data_files("memory://sources/*.csv")


@pytest.mark.parametrize("sources", ["nothing-*", [], [[]], ["a", []], ["a", "nothing-*"], ""])
def test_sources_without_a_file_are_refused(sources):
    with pytest.raises(ValueError, match="No data files found in"):
        get_data_files(sources)


@pytest.mark.parametrize("sources", [None, 3, {"a"}, {"a": "b"}, b"a", [None]])
def test_other_sources_are_refused(sources):
    with pytest.raises(ValueError, match="data_sources"):
        get_data_files(sources)


# The names of TF-Slim's modules.

KNOWN = {
    "data_decoder": "DataDecoder",
    "data_provider": "DataProvider",
    "dataset": "Dataset",
    "dataset_data_provider": "DatasetDataProvider",
    "parallel_reader": "ParallelReader",
    "prefetch_queue": "prefetch_queue",
    "tfexample_decoder": "TFExampleDecoder",
}


@pytest.mark.parametrize("module", sorted(KNOWN))
def test_a_name_is_found_in_the_module_that_has_it_in_tf_slim(module: str) -> None:
    assert getattr(getattr(slim, module), KNOWN[module]) is getattr(slim, KNOWN[module])


def test_modules_are_imported_by_their_names() -> None:
    from datasets_core.slim import dataset, tfexample_decoder

    assert dataset.Dataset is slim.Dataset and tfexample_decoder.Image is slim.Image


# The ways in which a dataset says who reads its files.


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


# What a dataset is made of.


def dataset(**fields: object) -> slim.Dataset:
    return slim.Dataset(["a", "b"], dict, slim.RowDecoder({"text": "line"}), 3, {"text": "A line."}, **fields)


def test_each_argument_is_an_attribute() -> None:
    made = dataset(num_classes=2, labels_to_names={0: "wren"})
    assert (made.data_sources, made.reader, made.num_samples) == (["a", "b"], dict, 3)
    assert (made.items_to_descriptions, made.num_classes, made.labels_to_names) == ({"text": "A line."}, 2, {0: "wren"})


def test_arguments_have_the_names_that_tf_slim_gave_them() -> None:
    made = slim.Dataset(data_sources="*", reader=None, decoder=None, num_samples=0, items_to_descriptions=None)
    nothing = dict.fromkeys(["reader", "decoder", "items_to_descriptions"])
    assert vars(made) == {"data_sources": "*", "num_samples": 0, **nothing}


def test_the_decoder_is_asked() -> None:
    assert dataset().list_items() == ["text"]
    assert dataset().decode({"line": "a wren"}) == ["a wren"]


class Older:
    """A decoder as older code writes it."""

    def ListItems(self) -> list[str]:  # noqa: N802
        return ["text"]

    def Decode(self, data: str, items: list[str] | None = None) -> list[str]:  # noqa: N802
        return [data]


def test_a_decoder_may_have_the_older_names_alone() -> None:
    made = slim.Dataset([], None, Older(), 1, {})
    assert (made.list_items(), made.decode("a wren")) == (["text"], ["a wren"])
    with pytest.raises(ConfigurationError, match="list_items"):
        slim.Dataset([], None, object(), 1, {}).list_items()


def test_a_field_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match=r"no field 'num_classes'. Available fields: .*'decoder'"):
        _ = dataset().num_classes
    assert not hasattr(dataset(), "labels")


def test_it_is_copied_and_pickled_whole() -> None:
    for made in (copy.copy(dataset(n=1)), copy.deepcopy(dataset(n=1)), pickle.loads(pickle.dumps(dataset(n=1)))):
        assert (made.n, made.num_samples, made.list_items()) == (1, 3, ["text"])


def test_it_shows_its_fields() -> None:
    assert "num_samples=3" in repr(dataset())
