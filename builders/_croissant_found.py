"""One file of a Croissant description: how it is read, what its patterns and hashes mean."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

from datasets_core.errors import NonMatchingChecksumError
from datasets_core.fetch.checksum import digest_of
from datasets_core.files import is_url
from datasets_core.meta.croissant_nodes import FileNode

from ._source import Source

_QUOTED = re.compile(r"\[([*?[])\]")
_KINDS = {
    "text/csv": "csv",
    "application/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/tsv": "tsv",
    "application/jsonlines": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "application/x-ndjson": "jsonl",
    "application/json": "json",
    "application/x-parquet": "parquet",
    "application/parquet": "parquet",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.apache.arrow.file": "arrow",
    "application/vnd.apache.arrow.stream": "arrow",
    "text/plain": "text",
}
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a resource, on this machine.

    Attributes:
        path: where it is.
        label: what errors call it.
        inner: its path in what contains it.
        outer: the name of what contains it; "" where it stands for itself.
        kind: how it is read: "csv", "tsv", "json", "jsonl", "parquet", "arrow", "text", or "" for another format.
    """

    path: str
    label: str
    inner: str
    outer: str
    kind: str

    @property
    def source(self) -> Source:
        """The file, as readers take it."""
        return Source(self.path, self.label)


def is_chosen(path: str, node: FileNode) -> bool:
    """Whether a path is one of a set: signs of patterns stand for slashes too."""
    return (not node.includes or _matches(path, node.includes)) and not _matches(path, node.excludes)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    names, signs = _sorted_out(patterns)
    if path in names:
        return True
    return any(fnmatchcase(path, each) or (each.startswith("**/") and fnmatchcase(path, each[3:])) for each in signs)


@lru_cache(maxsize=16)
def _sorted_out(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Patterns that stand for one path each, as these paths, and the others: a set may name thousands of files."""
    plain = [pattern.removeprefix("./") for pattern in patterns]
    names = {literal_path(pattern) for pattern in plain} - {None}
    return frozenset(name for name in names if name), tuple(each for each in plain if literal_path(each) is None)


def literal_path(pattern: str) -> str | None:
    """The one path that a pattern stands for; None where it stands for many.

    A sign in brackets stands for itself.
    """
    path = _QUOTED.sub(r"\1", pattern)
    return None if any(sign in _QUOTED.sub("", pattern) for sign in "*?[") else path


def kind_of_file(node: FileNode, name: str) -> str:
    """How a file is read, by its media type, and by its name where that tells no more."""
    for encoding in node.encodings:
        found = _KINDS.get(encoding.partition(";")[0].strip().lower())
        if found is not None and not (found == "text" and len(node.encodings) > 1):
            return found
    stem, extension = os.path.splitext(without_packing(name).lower())
    return _EXTENSIONS.get(extension, "") if stem else ""


def without_packing(name: str) -> str:
    return re.sub(r"\.(gz|bz2|xz|zst|lz4)$", "", name, flags=re.IGNORECASE)


def name_of(node: FileNode) -> str:
    """The path of a file, as patterns and expressions see it."""
    if is_url(node.url):
        return node.name or unquote(urlsplit(node.url).path).rpartition("/")[2]
    return node.url or node.name


def compare(node: FileNode, path: str, label: str, *, document: str) -> None:
    """See that a file is the one that is described.

    What is no hash but a URL, as the Hub writes it of repositories, says nothing.

    Raises:
        NonMatchingChecksumError: it is another one.
        ValueError: what is written as a hash is none.
    """
    for name, written, size in (("sha256", node.sha256, 32), ("md5", node.md5, 16)):
        if not written or is_url(written):
            continue
        expected = _hex(written, size)
        if expected is None:
            raise ValueError(f"has the {name} {written!r}, which is none")
        found = digest_of(path).hexdigest() if name == "sha256" else _md5(path)
        if found != expected:
            advice = (
                f"It is not the file that {document} describes as {node.id!r}: fetch the right one, or mend the description"
            )
            raise NonMatchingChecksumError(label, expected=expected, found=found, what=name, advice=advice)


def _hex(written: str, size: int) -> str | None:
    """A hash in hex, written so or in base64; None where it is none."""
    text = written.strip()
    if re.fullmatch(rf"[0-9a-fA-F]{{{2 * size}}}", text):
        return text.lower()
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded.hex() if len(decoded) == size else None


def _md5(path: str) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, _new_md5).hexdigest()


def _new_md5() -> Any:
    return hashlib.md5(usedforsecurity=False)
