"""What a file is, told from its first bytes: the kinds of archive and compression, web pages, Git-LFS pointers."""

from __future__ import annotations

from typing import Literal

Kind = Literal["zip", "tar", "gz", "bz2", "xz", "zst", "lz4", "rar", "7z"]

HEAD_BYTES = 1024
"""Bytes from the beginning of a file that every question here needs at most."""

COMPRESSIONS = frozenset({"gz", "bz2", "xz", "zst", "lz4"})
"""Kinds that hold one stream of bytes (which may be a tar)."""

_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # no member at all
    (b"PK\x07\x08", "zip"),  # once spanned over disks
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"Rar!\x1a\x07", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
)
_BLOCK = 512
_CHECKSUM = slice(148, 156)


def kind_of(head: bytes) -> Kind | None:
    """The kind of archive or compression whose magic number `head` begins with, or None.

    >>> kind_of(b"PK\\x03\\x04..."), kind_of(b"a,b\\n1,2\\n")
    ('zip', None)
    """
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            if kind == "bz2" and not head[3:4].isdigit():
                return None
            return kind
    if _is_skippable_frame(head):
        return kind_of(head[8 + int.from_bytes(head[4:8], "little") :])
    return "tar" if is_tar(head) else None


def _is_skippable_frame(head: bytes) -> bool:
    # Both zstd and lz4 may begin with such a frame (pzstd writes one); what follows it tells them apart.
    return len(head) >= 8 and head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def is_tar(head: bytes) -> bool:
    """Whether `head` is the header block of a tar: by its own checksum, which also the oldest kind carries."""
    block = head[:_BLOCK]
    if len(block) < _BLOCK or not block[0]:
        return False
    digits = block[_CHECKSUM].strip(b" \x00")
    if not digits or any(digit not in b"01234567" for digit in digits):
        return False
    plain = sum(block) - sum(block[_CHECKSUM]) + 8 * ord(" ")
    return int(digits, 8) == plain


def is_empty_tar(head: bytes) -> bool:
    """Whether `head` could begin a tar without members: nothing but zero bytes (as in many a file that is no tar)."""
    return len(head) >= 2 * _BLOCK and not any(head)


def looks_like_html(head: bytes) -> bool:
    """Whether `head` begins a web page: what a server sends instead of data to whom it knows not.

    >>> looks_like_html(b"\\n<!DOCTYPE html><title>Log in"), looks_like_html(b"<a>,<b>")
    (True, False)
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:HEAD_BYTES].lower()
    while start.startswith(b"<!--"):
        _, closed, rest = start.partition(b"-->")
        if not closed:
            return False
        start = rest.lstrip()
    if start.startswith(b"<?xml"):
        start = start.partition(b"?>")[2].lstrip()
    return start.startswith((b"<!doctype html", b"<html", b"<head>", b"<head ", b"<body>", b"<body "))


def is_lfs_pointer(head: bytes) -> bool:
    """Whether `head` is the text that Git keeps in the place of a large file.

    >>> is_lfs_pointer(b"version https://git-lfs.github.com/spec/v1\\noid sha256:00\\nsize 1\\n")
    True
    """
    return head.startswith((b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/"))
