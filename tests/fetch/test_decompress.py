"""Compressed streams: all of their bytes, or an error that names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random

import lz4.frame
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ArchiveError, UnsafeArchiveError
from datasets_core.fetch.members import decompressed, open_decompressed

PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "lz4": lambda data: lz4.frame.compress(data, content_checksum=True),
}
DATA = random.Random(0).randbytes(100_000) * 4 + b"end"
PACKED = {kind: pack(DATA) for kind, pack in PACK.items()}
kinds = pytest.mark.parametrize("kind", PACK)


def unpacked(data):
    with decompressed(io.BytesIO(data), path="the/file") as source:
        return source.read()


@kinds
def test_what_was_packed_comes_out(kind, tmp_path):
    (tmp_path / "x").write_bytes(PACK[kind](DATA))
    with open_decompressed(str(tmp_path / "x")) as source:
        assert source.read() == DATA


@kinds
def test_several_streams_in_a_row_are_one_file(kind):
    assert unpacked(PACK[kind](DATA) + PACK[kind](b"") + PACK[kind](b"more")) == DATA + b"more"


@kinds
@given(cut=st.integers(min_value=1, max_value=200))
def test_a_cut_stream_is_an_error_wherever_it_is_cut(kind, cut):
    packed = PACK[kind](b"some data, and more of it " * 10)
    head = packed[: max(8, len(packed) - cut)]
    with pytest.raises(ArchiveError, match="the/file: "):
        unpacked(head)


@kinds
def test_a_flipped_bit_is_an_error(kind):
    packed = bytearray(PACK[kind](DATA))
    packed[len(packed) // 2] ^= 1
    with pytest.raises(ArchiveError, match="the/file: "):
        unpacked(bytes(packed))


@kinds
def test_foreign_bytes_after_the_end_are_an_error(kind):
    with pytest.raises(ArchiveError, match="the/file: "):
        unpacked(PACK[kind](DATA) + b"garbage!")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_zero_bytes_after_the_end_are_padding(kind):
    assert unpacked(PACK[kind](DATA) + bytes(512)) == DATA


@given(
    st.binary(max_size=50).filter(lambda data: not data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7z", b"\x28\xb5", b"\x04\x22")))
)
def test_a_plain_file_comes_as_it_is(data):
    assert unpacked(data) == data


@kinds
@settings(max_examples=20)
@given(sizes=st.lists(st.integers(min_value=1, max_value=40_000), min_size=1, max_size=10))
def test_small_and_large_reads_give_the_same_bytes(kind, sizes):
    with decompressed(io.BytesIO(PACKED[kind]), path="x") as source:
        pieces = [source.read(size) for size in sizes]
    assert b"".join(pieces) == DATA[: sum(len(piece) for piece in pieces)]
    assert [len(piece) for piece in pieces] == sizes


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_file_that_unpacks_to_far_too_much_is_refused(kind, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(PACK[kind](bytes(2_000_000)) * 60)

    with (
        open_decompressed(str(path)) as source,
        pytest.raises(UnsafeArchiveError, match="bomb: unpacks to more than 200"),
    ):
        while source.read(1 << 20):
            pass


def test_a_file_that_unpacks_to_much_is_read_where_the_limit_is_raised(tmp_path):
    path = tmp_path / "large.gz"
    path.write_bytes(PACK["gz"](bytes(2_000_000)) * 60)

    with config.using(max_archive_ratio=2000), open_decompressed(str(path)) as source:
        assert sum(len(data) for data in iter(lambda: source.read(1 << 20), b"")) == 120_000_000
