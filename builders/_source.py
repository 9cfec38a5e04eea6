"""`Source`: one data file as bytes: open, decompress, detect, decode; shared by the formats.

Owns the checks of every text format: not a web page, not a Git-LFS pointer, not binary, UTF-8 or the requested
encoding; errors name the file as the user knows it.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, ClassVar, Protocol, cast

from datasets_core.building.marks import Mark, TextFile
from datasets_core.config import settings
from datasets_core.errors import ArchiveError, FileChangedError, FileFormatError, UnsafeArchiveError, redact
from datasets_core.fetch.members import Budget, decompressed, open_decompressed
from datasets_core.fetch.ranges.file import FileVersion, LocalRanges, RangeFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.files import COMPRESSIONS, HEAD_BYTES, disk_errors, is_lfs_pointer, kind_of, looks_like_html
from datasets_core.progress import FileMeter, meter

_FIRST_BYTES = 1 << 16
_PASSED_BYTES = 1 << 20
_PACKED = 4 / 9  # part of its size that a text takes when compressed, at least
_MOST_AHEAD_BYTES = 4 << 20
_BINARY = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"%PDF": "a PDF file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"\x93NUMPY": "a numpy array",
    b"FEA1": "a Feather file",
}


class ByteStream(Protocol):
    """Interface of a readable, closable stream of bytes."""

    def read(self, size: int = -1, /) -> bytes: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Source:
    """One data file: its location, and its name for the user.

    Attributes:
        path: the local file.
        name: the path or URL for error messages.
        remote: source of its bytes while they are read; None for a local file.
        is_copy: True if the local file was fetched, so that its date has no meaning.
    """

    path: str
    name: str
    remote: RemoteFile | None = None
    is_copy: bool = False

    @classmethod
    def of(cls, path: str | os.PathLike[str], name: str, *, streams: bool) -> Source:
        """Return a file for reading; a remote file is fetched now, unless it is large and the reader can stream it.

        Args:
            path: the file.
            name: see `name`.
            streams: True if its reader only needs `open`.
        """
        if streams and isinstance(path, RemoteFile) and path.comes:
            return cls("", name, path)
        return cls(os.fspath(path), name, is_copy=isinstance(path, RemoteFile))

    @property
    def is_packed(self) -> bool:
        """True if its name has the extension of a compression."""
        return os.path.splitext(self.name.lower())[1][1:] in COMPRESSIONS

    def fault(
        self, reason: str, *, line: int | None = None, row: int | None = None, advice: str | None = None
    ) -> FileFormatError:
        """Return a `FileFormatError` about this file."""
        return FileFormatError(self.name, reason, line=line, row=row, advice=advice)

    def open(self) -> ByteStream:
        """Return the file's decompressed bytes; the compression is detected by the first bytes."""
        return self.opened()[0]

    def opened(self, first_bytes: int = 0) -> tuple[ByteStream, TextFile]:
        """Return the file's bytes as `open` does, with their version and compression.

        Args:
            first_bytes: number of bytes needed in any case, if the file is not compressed.
        """
        handle, file = self.raw(first_bytes)
        try:
            kind = kind_of(handle.read(HEAD_BYTES))
            handle.seek(0)
            if kind not in COMPRESSIONS:
                return handle, file
            return self.undone(handle), replace(file, compression=str(kind))
        except BaseException:
            handle.close()
            raise

    def raw(self, first_bytes: int = 0) -> tuple[BinaryIO, TextFile]:
        """Return the stored bytes of the file, compressed or not, and its version.

        Args:
            first_bytes: number of bytes needed in any case.
        """
        if self.remote is None:
            local = _OneVersion(self)
            return cast(BinaryIO, local), TextFile(*_local_version(local, is_copy=self.is_copy))
        from datasets_core.fetch.ranges.sequential import PartedBytes  # 15 ms, not needed for an existing dataset

        handle = cast(BinaryIO, self.remote.open("rb"))
        try:
            if first_bytes and isinstance(parted := getattr(handle, "raw", None), PartedBytes):
                parted.expect(int(first_bytes * _PACKED) if self.is_packed else first_bytes, quiet=first_bytes)
            handle.read(1)
            handle.seek(0)
            return handle, TextFile(*_remote_version(handle))
        except BaseException:
            handle.close()
            raise

    def undone(self, handle: BinaryIO) -> ByteStream:
        """Return the decompressed bytes of the result of `raw`; the compression is detected by its first bytes."""
        if self.remote is None:
            local = cast(_OneVersion, handle)
            budget = Budget(redact(self.name), os.fstat(local.fileno()).st_size, settings())
            return _Checked(self, decompressed(handle, path=self.name, budget=budget), local)
        return _Checked(self, decompressed(handle, path=self.name, budget=Budget(self.name, None, settings())))

    def opened_at(self, file: TextFile, at: int, to: int) -> ByteStream:
        """Return the file's decompressed bytes from a position on; in a plain file nothing before is read.

        Args:
            file: the required version.
            at: the position, in decompressed bytes.
            to: bytes up to this position are needed in any case.

        Raises:
            FileChangedError: the file has another version.
        """
        if not file.compression and self.remote is not None:
            ranges = self.remote.ranges()
            if file.size >= 0:
                ranges.hold(FileVersion(file.size, "" if isinstance(ranges, LocalRanges) else file.tag))
            return _Ahead(ranges, at, to)
        handle, found = self.opened()
        try:
            if not file.is_same(replace(found, lead=file.lead)):
                raise FileChangedError(self.name)
            if not file.compression and self.remote is None:
                cast(BinaryIO, handle).seek(at)
            else:
                _pass(handle, at)
        except BaseException:
            handle.close()
            raise
        return handle


class _OneVersion(io.FileIO):
    """A local file whose bytes all belong to the version that was opened.

    Args:
        source: the file.
    """

    def __init__(self, source: Source) -> None:
        with disk_errors(source.name, action="read"):
            super().__init__(source.path, "rb")
        self._source = source
        self._version = self._told()
        if isinstance(watched := meter(), FileMeter):
            watched.opened(source.path, self._version[0], functools.partial(os.lseek, self.fileno(), 0, os.SEEK_CUR))

    def _told(self) -> tuple[int, int]:
        status = os.fstat(self.fileno())
        return status.st_size, 0 if self._source.is_copy else status.st_mtime_ns

    def check(self) -> None:
        """Check that the file has not changed.

        Raises:
            FileChangedError: it has.
        """
        if self._told() != self._version:
            raise FileChangedError(self._source.name)

    def read(self, size: int | None = -1, /) -> bytes:
        with disk_errors(self._source.name, action="read"):
            data = super().read(-1 if size is None else size)
        self.check()
        return data or b""

    def readinto(self, buffer: Any, /) -> int:
        with disk_errors(self._source.name, action="read"):
            count = super().readinto(buffer)
        self.check()
        return count or 0


def _local_version(handle: BinaryIO | io.FileIO, *, is_copy: bool) -> tuple[int, str]:
    status = os.fstat(handle.fileno())
    return status.st_size, "" if is_copy else str(status.st_mtime_ns)


def _remote_version(handle: BinaryIO) -> tuple[int, str]:
    """Return size and tag of an open file, as far as known; sends no request."""
    raw = getattr(handle, "raw", handle)
    if hasattr(raw, "declared_size"):
        known: Any = raw
        size, tag = known.declared_size(), known.version
        return (-1 if size is None else int(size)), str(tag)
    return _local_version(handle, is_copy=True) if isinstance(raw, io.FileIO) else (-1, "")


def _pass(handle: ByteStream, count: int) -> None:
    """Read and discard a number of bytes."""
    while count > 0 and (data := handle.read(min(count, _PASSED_BYTES))):
        count -= len(data)


class _Ahead:
    """The bytes of a remote file from a position on, in growing ranges.

    Args:
        ranges: the file.
        at: the position.
        to: bytes up to this position are fetched first, in one request.
    """

    def __init__(self, ranges: RangeFile, at: int, to: int) -> None:
        self._ranges, self._at = ranges, at
        self._held: Any = memoryview(b"")
        self._next_bytes = max(to - at, 1)

    def read(self, size: int = -1, /) -> bytes:
        if not len(self._held):
            stop = min(self._at + self._next_bytes, self._ranges.version().size)
            if stop <= self._at:
                return b""
            (data,) = self._ranges.read([(self._at, stop)])
            self._held, self._at = memoryview(data), stop
            self._next_bytes = min(2 * self._next_bytes, _MOST_AHEAD_BYTES)
        taken = self._held if size < 0 else self._held[:size]
        self._held = self._held[len(taken) :]
        return bytes(taken)

    def close(self) -> None:
        self._held = memoryview(b"")
        self._ranges.close()


class _Checked(io.RawIOBase):
    """A decompressed stream; errors in it are reported as damage of its file.

    Args:
        source: the file.
        inner: its bytes, decompressed.
        held: the local file, to detect changes.
    """

    def __init__(self, source: Source, inner: Any, held: _OneVersion | None = None) -> None:
        self._source, self._inner, self._held = source, inner, held

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        try:
            data: bytes = self._inner.read(size)
        except UnsafeArchiveError:
            raise
        except ArchiveError as error:
            self._check()
            raise self._source.fault(
                f"the compressed data is damaged or truncated: {error.reason}", advice="Fetch or compress the file again"
            ) from error
        self._check()
        return data

    def _check(self) -> None:
        if self._held is not None:
            self._held.check()

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            if self._held is not None:
                self._held.close()
        super().close()


def first_bytes(path: str, count: int) -> bytes:
    """Return the first bytes of a local file that is compressed or in an archive; of an archive, those of its first file.

    Args:
        path: the file, or its name as a member of an archive: `zip://a.csv::archive.zip`.
        count: number of bytes, decompressed.

    Returns:
        The bytes; fewer of a file that is damaged, which the reader will report.
    """
    member, _, stored = path.rpartition("::")
    with contextlib.suppress(ArchiveError, EOFError):
        with open(stored, "rb") as file:
            is_archive = bool(member) or kind_of(file.read(HEAD_BYTES)) not in COMPRESSIONS
        if not is_archive:
            with open_decompressed(stored) as handle:
                found = handle.read(count)
                return found if kind_of(found) is None else b""  # it is a compressed archive
        from datasets_core.fetch.archive import walk  # 6 ms; most files are in no archive

        wanted = member.partition("://")[2]
        for each, opened in walk(stored):
            if each.kind == "file" and wanted in ("", each.path):
                with opened() as handle:
                    return handle.read(count)
    return b""


def refuse_binary(source: Source, head: bytes, wanted: str, *, web_page_is_data: bool = False) -> None:
    """Raise a specific error for a file that is not UTF-8 text: see `refuse_foreign`, UTF-16, binary.

    Raises:
        FileFormatError: it is one of these.
    """
    refuse_foreign(source, head, wanted, web_page_is_data=web_page_is_data)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise source.fault(f"is UTF-16 text, but {wanted} is read as UTF-8", advice="Pass encoding='utf-16'")
    if b"\0" in head:
        raise source.fault(
            "contains NUL bytes: it is binary, or UTF-16 without a byte order mark",
            advice="Pass encoding='utf-16-le' if it is text, otherwise remove it from data_files",
        )


def refuse_foreign(source: Source, head: bytes, wanted: str, *, web_page_is_data: bool = False) -> None:
    """Raise a specific error for a file of another kind: a web page, a Git LFS pointer, an archive, another format.

    Args:
        source: the file, for the message.
        head: its first bytes, at least 64 unless the file is shorter.
        wanted: the requested format, as in "csv".
        web_page_is_data: True if HTML counts as text.

    Raises:
        FileFormatError: it is one of these.
    """
    if is_lfs_pointer(head):
        raise source.fault(
            "is a Git LFS pointer, not the file itself",
            advice="Run 'git lfs pull' in its repository, or fetch the file by its URL",
        )
    if not web_page_is_data and looks_like_html(head):
        raise source.fault(
            f"is a web page (HTML) where {wanted} data is expected",
            advice="Check the URL: servers often return a web page for a login or an error",
        )
    archive = kind_of(head)
    if archive is not None:
        raise source.fault(f"is a {archive} archive, not {wanted}", advice="Rename it, or extract it")
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            raise source.fault(f"is {what}, not {wanted}", advice="Load it with its own format, or remove it from data_files")


def text_reader(
    source: Source,
    wanted: str,
    *,
    encoding: str | None = None,
    errors: str | None = None,
    web_page_is_data: bool = False,
    mark: Mark | None = None,
    first_bytes: int = 0,
) -> TextBytes:
    """Return the file as UTF-8 bytes without a byte order mark, checked by its first bytes; or from a mark on."""
    return TextBytes(source, wanted, encoding or "utf-8", errors or "strict", web_page_is_data, mark, first_bytes)


class TextBytes:
    """UTF-8 bytes of one text file, read in blocks; a context manager.

    Attributes:
        source: the file.
        at: position in the text of the next byte.
        file: version stored in marks; None if positions in the text are not positions in the file, due to its encoding.
    """

    def __init__(
        self,
        source: Source,
        wanted: str,
        encoding: str,
        errors: str,
        web_page_is_data: bool,
        mark: Mark | None = None,
        first_bytes: int = 0,
    ) -> None:
        self.source = source
        self._decode: Callable[[bytes, bool], bytes] | None = None
        self._ended = False
        self.at = 0
        self.file: TextFile | None = None
        if mark is not None and mark.at:
            self._handle = source.opened_at(mark.file, mark.file.lead + mark.at, mark.file.lead + mark.to)
            self._first, self.at, self.file = b"", mark.at, mark.file
            return
        plain = is_utf8(encoding, source) and errors == "strict"
        self._handle, file = source.opened(first_bytes)
        try:
            self._first = _fill(self._handle, _FIRST_BYTES)
            if is_utf8(encoding, source):
                refuse_binary(source, self._first[:4096], wanted, web_page_is_data=web_page_is_data)
            if plain:
                lead = len(codecs.BOM_UTF8) if self._first.startswith(codecs.BOM_UTF8) else 0
                self._first, self.file = self._first[lead:], replace(file, lead=lead)
                if mark is not None and not mark.file.is_same(self.file):
                    raise FileChangedError(source.name)
            else:
                self._decode = _recoder(source, encoding, errors)
        except BaseException:
            self._handle.close()
            raise

    def __enter__(self) -> TextBytes:
        return self

    def __exit__(self, *exception: object) -> None:
        self._handle.close()

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, at least one; b"" at the end."""
        while not self._ended:
            data = self._first + self._handle.read(max(size - len(self._first), 1))
            self._ended = not data
            self._first = b""
            if self._decode is not None:
                data = self._decode(data, not data)
            if data:
                self.at += len(data)
                return data
        return b""

    def read_to(self, place: int) -> bytes:
        """Return all bytes up to a position in the text, or to its end; possibly more for a text in another encoding."""
        parts: list[bytes] = []
        while (missing := place - self.at) > 0:
            if self._decode is None and len(self._first) >= missing:
                data, self._first = self._first[:missing], self._first[missing:]
                self.at += missing
            else:
                data = self.read(missing)
            if not data:
                break
            parts.append(data)
        return b"".join(parts)

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield blocks of about `size` bytes, to the end."""
        while block := self.read(size):
            yield block


def is_utf8(encoding: str, source: Source) -> bool:
    """Return True if `encoding` is a name of UTF-8.

    Raises:
        FileFormatError: the encoding is unknown to Python.
    """
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")
    except LookupError:
        raise source.fault(
            f"the encoding {encoding!r} is unknown", advice="Pass an encoding known to Python, such as 'utf-8' or 'latin-1'"
        ) from None


def invalid_utf8(source: Source, at_byte: int, value: int) -> FileFormatError:
    """Return the error for a byte that is not UTF-8, with its line."""
    return source.fault(
        f"byte 0x{value:02x} at offset {at_byte:,} is not UTF-8",
        line=line_at(source, at_byte),
        advice="Pass the file's encoding, for example encoding='latin-1'",
    )


def line_at(source: Source, offset: int, *, encoding: str | None = None, errors: str | None = None) -> int:
    """Return the number from 1 of the line that holds byte `offset` of the text; reads it again, since only errors need it."""
    line, newline = 1, b"\n"
    with text_reader(source, "text", encoding=encoding, errors=errors, web_page_is_data=True) as text:
        for block in text.blocks(1 << 22):
            if line == 1 and b"\n" not in block and b"\r" in block:
                newline = b"\r"
            line += block.count(newline, 0, max(offset, 0))
            offset -= len(block)
            if offset <= 0:
                break
    return line


def _recoder(source: Source, encoding: str, errors: str) -> Callable[[bytes, bool], bytes]:
    """Convert blocks from `encoding` to UTF-8, without the byte order mark."""
    name = "utf-8-sig" if is_utf8(encoding, source) and encoding.lower() != "ascii" else encoding
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise source.fault(
            f"encoding_errors={errors!r} is unknown", advice="Pass a value known to Python, such as 'strict' or 'replace'"
        ) from None
    try:
        decoder = codecs.getincrementaldecoder(name)(errors)
        is_text = isinstance(decoder.decode(b""), str)  # base64 and similar codecs return bytes
    except LookupError:
        is_text = False
    if not is_text:
        raise source.fault(f"the encoding {encoding!r} is not a text encoding", advice="Pass one such as 'utf-8'")
    offset, line, has_begun = 0, 1, False

    def recode(data: bytes, final: bool) -> bytes:
        nonlocal offset, line, has_begun
        state = decoder.getstate()
        try:
            text = decoder.decode(data, final)
        except UnicodeError as error:
            # Negative if the byte is in the part that the decoder kept from the previous block.
            at = getattr(error, "start", 0) - len(getattr(error, "object", data)) + len(data)
            decoder.setstate(state)
            raise source.fault(
                f"byte offset {offset + at:,} is not {encoding} ({getattr(error, 'reason', error)})",
                line=line + decoder.decode(data[: max(at, 0)]).count("\n"),
                advice="Pass the correct encoding, or encoding_errors='replace'",
            ) from error
        offset += len(data)
        line += text.count("\n")
        if not has_begun and text:
            has_begun = True
            text = text.removeprefix("\ufeff")
        return text.encode("utf-8", "surrogatepass" if errors == "surrogatepass" else "replace")

    return recode


def _fill(handle: ByteStream, size: int) -> bytes:
    """Return exactly `size` bytes unless the file ends: raw files and decompressors may return fewer."""
    parts: list[bytes] = []
    while size > 0 and (data := handle.read(size)):
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


# `Grid`: positions up to which a text is read block by block, so that blocks end alike wherever reading began.


@dataclass
class Grid:
    """The ascending positions up to which a text is read.

    Attributes:
        to: the next position.
        step: distance between positions.
        STEP_BYTES: the distance for rows of usual width: resuming in the middle of a file fetches about as much.
    """

    STEP_BYTES: ClassVar[int] = 1 << 18
    to: int
    step: int

    @classmethod
    def of(cls, text: TextBytes, mark: Mark | None, *, first_bytes: int = 0) -> Grid:
        """Return the grid of a text read from its beginning, or from a mark on.

        Args:
            text: open.
            mark: the position to start at.
            first_bytes: size of the first block, if determining the types needs more.
        """
        step = cls.STEP_BYTES
        return cls(max(first_bytes, step) if mark is None or not mark.at else mark.to, step)

    def advance(self, held: int = 0) -> None:
        """Advance to the next position.

        >>> grid = Grid(1000, step=100)
        >>> grid.advance()
        >>> grid.to
        1100

        Args:
            held: number of bytes in which no row ends: reading twice as many keeps the search linear.
        """
        self.to = ((self.to + held) // self.step + 1) * self.step
