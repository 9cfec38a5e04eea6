"""What is compressed in parts is one stream."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records.writer import DeflatedFile, TFRecordWriter

BITS = {"GZIP": 31, "ZLIB": 15}


@pytest.mark.parametrize("compression", BITS)
@given(st.lists(st.lists(st.binary(max_size=300), max_size=4), max_size=4))
def test_what_goes_on_is_one_stream_with_the_same_bytes(compression: str, parts: list[list[bytes]]) -> None:
    whole, again = io.BytesIO(), io.BytesIO()
    file, point = DeflatedFile(whole, compression), None
    for part in parts:
        other = DeflatedFile(again, compression, point)
        for data in part:
            file.write(data)
            other.write(data)
        file.settle()
        point = other.settle()
    file.end()
    DeflatedFile(again, compression, point).end()
    plain = b"".join(data for part in parts for data in part)
    packer = zlib.decompressobj(BITS[compression])
    assert packer.decompress(whole.getvalue()) == plain
    assert packer.eof and not packer.unused_data
    assert again.getvalue() == whole.getvalue()
    assert file.num_bytes == len(plain)


@pytest.mark.parametrize("compression", BITS)
def test_the_bytes_are_those_of_a_writer_of_records(compression: str) -> None:
    theirs, plain, ours = io.BytesIO(), io.BytesIO(), io.BytesIO()
    for out, kind in ((theirs, compression), (plain, "")):
        with TFRecordWriter(out, kind) as writer:
            writer.write_all([bytes([number]) * 500 for number in range(200)])
    file = DeflatedFile(ours, compression)
    file.write(plain.getvalue())
    file.end()
    assert ours.getvalue() == theirs.getvalue()
    assert compression != "GZIP" or ours.getvalue()[4:8] == b"\0\0\0\0", "there is no time in it"


def test_nothing_is_a_stream_too() -> None:
    out = io.BytesIO()
    DeflatedFile(out, "GZIP").end()
    assert gzip.decompress(out.getvalue()) == b""


def test_plain_bytes_are_written_through() -> None:
    out = io.BytesIO()
    file = DeflatedFile(out, "")
    file.write(b"one")
    assert file.settle()["plain"] == 3
    file.end()
    assert out.getvalue() == b"one"
