"""`Mark`: start of a block of rows in a text file, with the reader's state; cache of the marks of files.

Reading from a mark gives the same rows and types as reading from the beginning: blocks of a stream end at the same
positions regardless of interruptions, and a mark has the complete state of its reader at that point.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from datasets_core.errors import logger_of

if TYPE_CHECKING:
    from datasets_core.fetch.disk_cache import IndexCache

logger = logger_of(__name__)

_SPACING_BYTES = 1 << 18
_MOST_MARKS = 4096
_MANY = 512  # number of small files after which their row counts are stored

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TextFile:
    """The file of marks.

    Attributes:
        size, tag: its version: size in bytes, and a tag that changes with the content; -1 and "" if unknown.
        compression: its compression, or ""; compressed files are decompressed from their beginning.
        lead: number of bytes before its text, of a byte order mark.
    """

    size: int = -1
    tag: str = ""
    compression: str = ""
    lead: int = 0

    def is_same(self, other: TextFile) -> bool:
        """Return True if both have the same version, as far as both are known: for a copy of a remote file only the size is.

        >>> TextFile(7, '"v1"').is_same(TextFile(7)), TextFile(7, '"v1"').is_same(TextFile(7, '"v2"'))
        (True, False)
        """
        is_sized = self.size in (-1, other.size) or other.size == -1
        is_tagged = self.tag in ("", other.tag) or not other.tag
        return is_sized and is_tagged and (self.compression, self.lead) == (other.compression, other.lead)


@dataclass(frozen=True, slots=True)
class Mark:
    """Start of a block of rows in a text file.

    Attributes:
        at: the byte of the text at which it begins.
        to: the byte up to which the text was read to find its end.
        reader: state of the reader at the mark, as plain JSON.
        file: the file.
        row: number of rows of the file before it.
        types: known column types: at the start of the file and at the mark, as returned by `packed`.
    """

    at: int
    to: int
    reader: Any
    file: TextFile
    row: int = 0
    types: tuple[str | None, str | None] = (None, None)

    def to_json(self) -> list[Any]:
        """Return the mark as plain JSON.

        >>> Mark(7, 90, None, TextFile(100, "x"), 2).to_json()
        [2, 7, 90, None, [100, 'x', '', 0], [None]]
        """
        file = [self.file.size, self.file.tag, self.file.compression, self.file.lead]
        first, now = self.types
        return [self.row, self.at, self.to, self.reader, file, [first] if first == now else [first, now]]

    @classmethod
    def from_json(cls, stored: Any) -> Mark:
        """Return the mark from the result of `to_json`.

        Raises:
            ValueError: the value is not a result of `to_json`.
        """
        try:
            row, at, to, reader, (size, tag, compression, lead), types = stored
            numbers = (row, at, to, size, lead)
            is_mark = all(type(number) is int for number in numbers) and isinstance(tag, str) and isinstance(compression, str)
            if not is_mark or not all(packed is None or isinstance(packed, str) for packed in types):
                raise ValueError("wrong number or types of values")
            return cls(at, to, reader, TextFile(size, tag, compression, lead), row, (types[0], types[-1]))
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"invalid mark: {error}") from error


def packed(schema: pa.Schema | None) -> str | None:
    """Return a schema as a short text.

    >>> unpacked(packed(pa.schema({"a": pa.int64()})))
    a: int64
    """
    if schema is None:
        return None
    return base64.b85encode(zlib.compress(schema.serialize().to_pybytes(), 9)).decode()


def unpacked(text: str | None) -> pa.Schema | None:
    """Return the schema from a result of `packed`.

    Raises:
        ValueError: the text is not a result of `packed`.
    """
    if text is None:
        return None
    try:
        return pa.ipc.read_schema(pa.py_buffer(zlib.decompress(base64.b85decode(text))))
    except (zlib.error, pa.ArrowException, OSError) as error:
        raise ValueError(f"invalid types: {error}") from error


@dataclass
class FileMarks:
    """The marks of one file, and its number of rows if it was read to its end.

    Attributes:
        marks: the marks, in order, some distance apart, without one at the beginning.
        num_rows: number of rows of the file; None if its end was not reached.
        seen: minimum number of rows.
        file: the version of the file.
    """

    marks: list[Mark] = field(default_factory=list)
    num_rows: int | None = None
    seen: int = 0
    file: TextFile | None = None
    is_new: bool = field(default=False, compare=False)

    def note(self, mark: Mark) -> None:
        """Store a mark, if there is none near it."""
        if self.file is None or not self.file.is_same(mark.file):
            self.marks, self.num_rows, self.seen, self.file = [], None, 0, mark.file
        self.seen = max(self.seen, mark.row)
        if not mark.at:
            return
        if self.marks and mark.at < self.marks[-1].at + self._spacing:
            return
        self.marks.append(mark)
        if len(self.marks) > _MOST_MARKS:
            self.marks = self.marks[1::2]
        self.is_new = True

    def end(self, rows: int) -> None:
        """Set the number of rows of the file."""
        self.seen = max(self.seen, rows)
        self.is_new |= self.num_rows != rows
        self.num_rows = rows

    def before(self, row: int) -> Mark | None:
        """Return the last mark at or before a row."""
        return next((mark for mark in reversed(self.marks) if mark.row <= row), None)

    @property
    def _spacing(self) -> int:
        """Return the distance of marks in bytes, which grows with the size of the file."""
        return max(_SPACING_BYTES, self.marks[-1].at // _MOST_MARKS * 2)

    def to_json(self) -> dict[str, Any]:
        """Return the marks as plain JSON."""
        file = None if self.file is None else [self.file.size, self.file.tag, self.file.compression, self.file.lead]
        return {"marks": [mark.to_json() for mark in self.marks], "rows": self.num_rows, "seen": self.seen, "file": file}

    @classmethod
    def from_json(cls, stored: Any) -> FileMarks:
        """Return the marks from the result of `to_json`.

        Raises:
            ValueError: the value is not a result of `to_json`.
        """
        try:
            marks = [Mark.from_json(mark) for mark in stored["marks"]]
            file = None if stored["file"] is None else TextFile(*stored["file"])
            return cls(marks, stored["rows"], int(stored["seen"]), file)
        except (KeyError, TypeError) as error:
            raise ValueError(f"invalid marks of a file: {error}") from error

    def to_bytes(self) -> bytes:
        """Return the marks as bytes, for storage."""
        return json.dumps(self.to_json()).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> FileMarks:
        """Return the marks from the result of `to_bytes`.

        Raises:
            ValueError: the bytes are not a result of `to_bytes`.
        """
        return cls.from_json(json.loads(data))


class MarkCache:
    """Cache of the marks of the files of a dataset, for this process and the next ones.

    A large file has its own entry; the row counts of small files share one entry for each split.

    Args:
        name: returns the identity of the dataset and its reader; called once.
        cache: storage of the entries.
    """

    def __init__(self, name: Callable[[], str], cache: IndexCache) -> None:
        self._name, self._cache = name, cache
        self._files: dict[tuple[str, int], FileMarks] = {}
        self._small: dict[str, dict[int, FileMarks]] = {}
        self._unkept: dict[str, int] = {}
        self._told: str | None = None

    def of(self, split: str, index: int) -> FileMarks:
        """Return the marks of a file of a split."""
        found = self._files.get((split, index))
        if found is None:
            if split not in self._small:
                self._small[split] = self._read_small(split)
            found = self._small[split].get(index) or self._read(self._key(split, index), FileMarks.from_bytes) or FileMarks()
            self._files[split, index] = found
        return found

    def keep(self, split: str, index: int, count: int) -> None:
        """Store the marks of a file, if some are new; for small files, after many of them or at the end of reading.

        Args:
            split, index: the file.
            count: number of files of the split.
        """
        found = self._files.get((split, index))
        if found is None or sys.is_finalizing():  # an iteration that ends with its process opens nothing
            return
        if found.is_new and found.marks:
            self._cache.put(self._key(split, index), found.to_bytes())
            found.is_new = False
        unkept = self._unkept[split] = self._unkept.get(split, 0) + found.is_new
        if unkept >= _MANY or (unkept and (found.num_rows is None or index == count - 1)):
            self._keep_small(split)

    def drop(self, split: str, index: int) -> None:
        """Remove the marks of a file that has changed."""
        self._files[split, index] = FileMarks()
        self._cache.drop(self._key(split, index))
        if self._small.get(split, {}).pop(index, None) is not None:
            self._keep_small(split)

    def _read_small(self, split: str) -> dict[int, FileMarks]:
        def understood(data: bytes) -> dict[int, FileMarks]:
            stored = json.loads(data)
            return {int(index): FileMarks.from_json(found) for index, found in stored.items()}

        return self._read(self._key(split, "counts"), understood) or {}

    def _keep_small(self, split: str) -> None:
        known = self._small.setdefault(split, {})
        for (of, index), found in self._files.items():
            if of == split and not found.marks and found.num_rows is not None:
                known[index], found.is_new = found, False
        self._unkept[split] = 0
        stored = {str(index): found.to_json() for index, found in known.items()}
        self._cache.put(self._key(split, "counts"), json.dumps(stored).encode())

    def _read(self, key: str, understood: Callable[[bytes], T]) -> T | None:
        kept = self._cache.get(key)
        if kept is None:
            return None
        try:
            return understood(kept)
        except (ValueError, AttributeError) as error:
            logger.debug("Cached positions in files are not used: %s.", error)
            return None

    def _key(self, split: str, part: int | str) -> str:
        if self._told is None:
            self._told = self._name()
        return f"marks 1\n{self._told}\n{split}\n{part}"
