"""Readers of one's own."""

import base64
import bz2
import gzip
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from datasets_core import records, slim
from datasets_core.errors import DamagedRecordError, DataFilesNotFoundError, FileFormatError
from datasets_core.slim.readers import SampleBlock, SampleReader, payload_at, picked, plain


class Listed(SampleReader):
    """Gives a list, and remembers whether its files were closed."""

    def __init__(self, samples):
        self.all, self.num_closed = samples, 0

    def samples(self, path):
        try:
            yield from self.all
        finally:
            self.num_closed += 1


POSITIONS = {
    "numbers": [0, 1, 2, 3],
    "descending": [9, 7, 3, 1],
    "texts": ["z", "b", "a", "y"],
    "lists": [[5, "x"], [1, "y"], [5, "y"], [0, "x"]],
    "pairs": [(1, 0), (0, 1), (2, 2), (3, 0)],
}


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_reader_goes_on_where_a_sample_stands(kind):
    reader = Listed([(position, f"at {position}") for position in POSITIONS[kind]])
    for place, position in enumerate(POSITIONS[kind]):
        blocks = list(reader.blocks("a", plain(position)))
        assert [block.payloads[0] for block in blocks] == [value for _, value in reader.all[place:]]
        assert [block.first for block in blocks] == list(range(place, 4))


@pytest.mark.parametrize("kind", POSITIONS)
def test_samples_are_picked_wherever_they_stand(kind):
    reader = Listed([(position, f"at {position}") for position in POSITIONS[kind]])
    wanted = [plain(POSITIONS[kind][place]) for place in (2, 0, 2)]
    found = picked(reader, "a", wanted)
    assert {name: payload for name, (payload, _, _) in found.items()} == {
        repr(plain(position)): value for place, (position, value) in enumerate(reader.all) if place in (0, 2)
    }


def test_what_was_opened_is_closed():
    reader = Listed([(0, "a"), (1, "b"), (2, "c")])
    next(iter(blocks := reader.blocks("a")))
    blocks.close()
    picked(reader, "a", [0])
    assert reader.num_closed == 2


@pytest.mark.parametrize("position", [7, "z", [0, 1]])
def test_a_place_without_a_sample_is_told_with_the_file(position):
    reader = Listed([(0, "a"), (1, "b")])
    with pytest.raises(FileFormatError, match="some/file"):
        list(reader.blocks("some/file", position))
    with pytest.raises(FileFormatError, match="some/file"):
        picked(reader, "some/file", [0, position])


def test_keys_say_file_and_place():
    reader = Listed([])
    assert [reader.key("a", position) for position in (3, "x", [4, 5], np.array([6, 7]))] == ["a:3", "a:x", "a:4", "a:6"]


def test_a_block_without_its_first_sample():
    block = SampleBlock(["a", "b"], np.array([[0, 0], [5, 1]]), 3, 9).behind()
    assert (list(block.payloads), block.positions.tolist(), block.first) == (["b"], [[5, 1]], 4)


# What the readers give, as the real TF-Slim does; what is damaged; and going on at any sample.

GOLDEN = json.loads((Path(__file__).parent / "golden" / "readers.json").read_text(encoding="utf-8"))["reads"]


def read(reader, paths):
    """Keys and samples, up to the end or an error."""
    found, error = [], None
    try:
        for path in paths:
            for block in reader.blocks(str(path)):
                found += [(reader.key(Path(path).name, block.positions[at]), payload_at(block, at)) for at in range(len(block))]
    except Exception as failure:
        error = failure
    return found, error


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_samples_keys_and_ends_are_those_of_tf_slim(number, golden_folder):
    case = GOLDEN[number]
    try:
        found, error = read(getattr(slim, case["reader"])(**case["kwargs"]), [golden_folder / name for name in case["files"]])
    except ValueError as refused:
        found, error = [], refused
    assert [[key, base64.b64encode(value).decode()] for key, value in found] == case["samples"]
    assert (error is None) == (case["end"] == "OutOfRangeError")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz", "a.tfrecord.z"])
def test_records_come_out_of_a_pipe(name, golden_folder, tmp_path):
    data, pipe = (golden_folder / name).read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    try:
        found = list(slim.TFRecordReader().samples(str(pipe)))
    finally:
        writer.join(20)
    assert found == list(slim.TFRecordReader().samples(str(golden_folder / name)))


READERS = {
    "tfrecord": (slim.TFRecordReader(), "a.tfrecord"),
    "tfrecord-gzip": (slim.TFRecordReader(), "a.tfrecord.gz"),
    "tfrecord-zlib": (slim.TFRecordReader(compression="ZLIB"), "a.tfrecord.z"),
    "text": (slim.TextLineReader(1), "plain.txt"),
    "fixed": (slim.FixedLengthRecordReader(2, 4, 2), "fixed.bin"),
    "fixed-gzip": (slim.FixedLengthRecordReader(2, 4, 2), "fixed.gz"),
    "fixed-hop": (slim.FixedLengthRecordReader(2, 1, 0, 3), "fixed.bin"),
    "whole": (slim.WholeFileReader(), "plain.txt"),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_reader_goes_on_at_every_sample(kind, golden_folder):
    reader, name = READERS[kind]
    path = str(golden_folder / name)
    whole = list(reader.samples(path))
    for place, (position, _) in enumerate(whole):
        found = [
            (block.positions[at].tolist(), payload_at(block, at), block.first + at)
            for block in reader.blocks(path, position)
            for at in range(len(block))
        ]
        skipped = 1 if kind == "text" else 0
        assert found == [(*sample, number + skipped) for number, sample in enumerate(whole)][place:]


def test_large_files_come_in_many_blocks(tmp_path):
    lines = [b"%d" % number * (number % 300) for number in range(15_000)]
    (tmp_path / "a.txt").write_bytes(b"\r\n".join(lines))
    (tmp_path / "a.bin").write_bytes(b"HEAD" + b"".join(b"%07d" % number for number in range(500_000)) + b"FOOT")
    with records.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_all(lines)
    for reader, name, samples in (
        (slim.TextLineReader(), "a.txt", lines),
        (slim.TFRecordReader(), "a.tfrecord", lines),
        (slim.FixedLengthRecordReader(7, 4, 4), "a.bin", [b"%07d" % number for number in range(500_000)]),
    ):
        blocks = list(reader.blocks(str(tmp_path / name)))
        assert len(blocks) > 2
        assert [payload for block in blocks for payload in block.payloads] == samples
        middle = blocks[1]
        again = next(iter(reader.blocks(str(tmp_path / name), middle.positions[5].tolist())))
        assert (payload_at(again, 0), again.first) == (payload_at(middle, 5), middle.first + 5)


def test_a_line_may_be_longer_than_a_block(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 3_000_000 + b"\nb\n")
    assert [len(line) for _, line in slim.TextLineReader().samples(str(tmp_path / "a.txt"))] == [3_000_000, 1]


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress])
def test_compressed_texts_are_read(packed, tmp_path):
    (tmp_path / "a.txt").write_bytes(packed(b"one\ntwo\n"))
    assert [line for _, line in slim.TextLineReader().samples(str(tmp_path / "a.txt"))] == [b"one", b"two"]


def test_text_that_looks_like_zlib_is_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x^2 + 1\n")
    assert [line for _, line in slim.TextLineReader().samples(str(tmp_path / "a.txt"))] == [b"x^2 + 1"]


def test_a_url_is_read(tmp_path):
    import fsspec

    store = fsspec.filesystem("memory")
    store.pipe("/readers/a.txt", b"one\ntwo\n")
    store.pipe("/readers/a.bin", b"HDonetwo")
    store.pipe("/readers/a.tfrecord", b"")
    found = [line for _, line in slim.TextLineReader().samples("memory://readers/a.txt")]
    assert found == [b"one", b"two"]
    reader = slim.FixedLengthRecordReader(3, 2)
    assert [list(block.payloads) for block in reader.blocks("memory://readers/a.bin", 1)] == [[b"two"]]
    assert list(slim.TFRecordReader().samples("memory://readers/a.tfrecord")) == []


@pytest.mark.parametrize(
    ("data", "kwargs", "good", "told"),
    [
        (b"HDaabbc", {"record_bytes": 2, "header_bytes": 2}, [b"aa", b"bb"], "1 bytes follow record 1"),
        (b"HDaabbcFT", {"record_bytes": 2, "header_bytes": 2, "footer_bytes": 2}, [b"aa", b"bb"], "follow record 1"),
        (b"H", {"record_bytes": 2, "header_bytes": 2}, [], "header"),
        (b"HDF", {"record_bytes": 2, "header_bytes": 2, "footer_bytes": 2}, [], "footer"),
        (b"a", {"record_bytes": 2}, [], "it contains 1 bytes"),
    ],
)
def test_bytes_that_are_no_record_are_told_behind_the_records(data, kwargs, good, told, tmp_path):
    (tmp_path / "a.bin").write_bytes(data)
    found, error = read(slim.FixedLengthRecordReader(**kwargs), [tmp_path / "a.bin"])
    assert [value for _, value in found] == good
    assert isinstance(error, FileFormatError)
    assert told in str(error)
    assert str(tmp_path / "a.bin") in str(error)


@pytest.mark.parametrize("kind", READERS)
def test_a_missing_file_is_told(kind, tmp_path):
    with pytest.raises(DataFilesNotFoundError, match="missing"):
        list(READERS[kind][0].blocks(str(tmp_path / "missing")))


def test_damage_is_told_with_file_and_record_and_can_be_overlooked(golden_folder):
    found, error = read(slim.TFRecordReader(), [golden_folder / "flipped.tfrecord"])
    assert isinstance(error, DamagedRecordError)
    assert (error.record, error.path) == (len(found), str(golden_folder / "flipped.tfrecord"))
    found, error = read(slim.TFRecordReader(verify=False), [golden_folder / "flipped.tfrecord"])
    assert (len(found), error) == (4, None)


class OfTensorFlow:
    """As `TFRecordOptions` looks."""

    def __init__(self, compression_type):
        self.compression_type = compression_type


@pytest.mark.parametrize("options", ["GZIP", OfTensorFlow("GZIP"), OfTensorFlow(2)])
def test_options_are_taken_as_tensorflow_has_them(options, golden_folder):
    assert len(list(slim.TFRecordReader(options=options).samples(str(golden_folder / "a.tfrecord.gz")))) == 4
    assert len(list(slim.TFRecordReader(options=OfTensorFlow("")).samples(str(golden_folder / "a.tfrecord")))) == 4


@pytest.mark.parametrize(
    "make",
    [
        lambda: slim.TFRecordReader(compression="ZIP"),
        lambda: slim.TFRecordReader(compression="GZIP", options="GZIP"),
        lambda: slim.TextLineReader(-1),
        lambda: slim.TextLineReader(1.5),
        lambda: slim.FixedLengthRecordReader(0),
        lambda: slim.FixedLengthRecordReader("2"),
        lambda: slim.FixedLengthRecordReader(2, header_bytes=-1),
        lambda: slim.FixedLengthRecordReader(2, footer_bytes=-1),
        lambda: slim.FixedLengthRecordReader(2, hop_bytes=-1),
        lambda: slim.FixedLengthRecordReader(2, encoding="BZ2"),
    ],
)
def test_arguments_without_a_meaning_are_refused(make):
    with pytest.raises(ValueError):
        make()
