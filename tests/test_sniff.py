"""Kinds of files by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.files import is_lfs_pointer, is_tar, kind_of, looks_like_html


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", "a")
    return buffer.getvalue()


def tarred(format):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (zipped(), "zip"),
        (tarred(tarfile.USTAR_FORMAT), "tar"),
        (tarred(tarfile.GNU_FORMAT), "tar"),
        (tarred(tarfile.PAX_FORMAT), "tar"),
        (gzip.compress(b"a", mtime=0), "gz"),
        (bz2.compress(b"a"), "bz2"),
        (lzma.compress(b"a"), "xz"),
        (zstandard.ZstdCompressor().compress(b"a"), "zst"),
        (lz4.frame.compress(b"a"), "lz4"),
        (b"Rar!\x1a\x07\x00", "rar"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"\x50\x2a\x4d\x18\x02\x00\x00\x00ab" + zstandard.ZstdCompressor().compress(b"a"), "zst"),
        (b"BZhello,world", None),
        (b"a,b\n1,2\n", None),
        (b"", None),
        (bytes(4096), None),
        (b"PAR1", None),
    ],
)
def test_the_magic_number_tells(data, kind):
    assert kind_of(data[:1024]) == kind


@given(st.binary(max_size=1024))
def test_any_bytes_are_answered(data):
    assert kind_of(data) is None or data
    assert looks_like_html(data) in (True, False)


def test_one_wrong_bit_in_a_header_makes_no_tar():
    header = bytearray(tarred(tarfile.GNU_FORMAT)[:512])
    header[0] ^= 1
    assert not is_tar(bytes(header))


@pytest.mark.parametrize(
    ("head", "is_html"),
    [
        (b"<!DOCTYPE html>", True),
        (b"\xef\xbb\xbf \n<HTML lang=en>", True),
        (b"<!-- x -->\n<html>", True),
        (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC', True),
        (b'<?xml version="1.0"?><data/>', False),
        (b"<a>", False),
        (b"<!-- never closed <html>", False),
        (b"text about <html>", False),
        (b"", False),
    ],
)
def test_a_web_page_is_known_by_its_beginning(head, is_html):
    assert looks_like_html(head) is is_html


def test_a_git_lfs_pointer_is_known():
    assert is_lfs_pointer(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    assert not is_lfs_pointer(b"version 1.0\n")
