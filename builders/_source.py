"""`Source`: one data file as bytes: open, decompress, detect, decode; shared by the formats.

Owns the checks of every text format: not a web page, not a Git-LFS pointer, not binary, UTF-8 or the requested
encoding; errors name the file as the user knows it.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, ClassVar, Protocol, cast

from datasets_core.building.marks import Mark, TextFile
from datasets_core.config import settings
from datasets_core.errors import ArchiveError, FileChangedError, FileFormatError, UnsafeArchiveError
from datasets_core.fetch.members import Budget, decompressed, open_decompressed
from datasets_core.fetch.ranges.file import FileVersion, LocalRanges, RangeFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.files import COMPRESSIONS, HEAD_BYTES, is_lfs_pointer, kind_of, looks_like_html

_FIRST_BYTES = 1 << 16
_PASSED_BYTES = 1 << 20
_PACKED = 4 / 9  # of its bytes a text takes when it is compressed, or less
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
}


class ByteStream(Protocol):
    """Interface of a readable, closable stream of bytes."""

    def read(self, size: int = -1, /) -> bytes: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Source:
    """One data file: where it lies, and what the user calls it.

    Attributes:
        path: the local file.
        name: the path or URL that errors name.
        remote: where its bytes come from while they are read; None of a local file.
        is_copy: the local file is one that was fetched: when it was written says nothing.
    """

    path: str
    name: str
    remote: RemoteFile | None = None
    is_copy: bool = False

    @classmethod
    def of(cls, path: str | os.PathLike[str], name: str, *, streams: bool) -> Source:
        """A file to be read, which is fetched now where it is elsewhere; one that is large is not, if it can be read so.

        Args:
            path: the file.
            name: see `name`.
            streams: its reader can do with `open`.
        """
        if streams and isinstance(path, RemoteFile) and path.comes:
            return cls("", name, path)
        return cls(os.fspath(path), name, is_copy=isinstance(path, RemoteFile))

    @property
    def is_packed(self) -> bool:
        """Whether its name says that it is compressed."""
        return os.path.splitext(self.name.lower())[1][1:] in COMPRESSIONS

    def fault(
        self, reason: str, *, line: int | None = None, row: int | None = None, advice: str | None = None
    ) -> FileFormatError:
        """A `FileFormatError` about this file."""
        return FileFormatError(self.name, reason, line=line, row=row, advice=advice)

    def open(self) -> ByteStream:
        """The file's bytes, decompressed if its first bytes say that it is compressed."""
        return self.opened()[0]

    def opened(self, first_bytes: int = 0) -> tuple[ByteStream, TextFile]:
        """The file's bytes as `open` gives them; and which version they are of, and how it is compressed.

        Args:
            first_bytes: so many are wanted in any case, when it is not compressed.
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
            return _Checked(self, open_decompressed(self.path, name=self.name), cast(_OneVersion, handle))
        return _Checked(self, decompressed(handle, path=self.name, budget=Budget(self.name, None, settings())))

    def opened_at(self, file: TextFile, at: int, to: int) -> ByteStream:
        """The file's bytes from a place on, decompressed; of a plain file nothing before is read.

        Args:
            file: the version that must be there.
            at: the place, in bytes that are not compressed.
            to: bytes up to this place are wanted in any case.

        Raises:
            FileChangedError: another version is there.
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
        super().__init__(source.path, "rb")
        self._source = source
        self._version = self._told()

    def _told(self) -> tuple[int, int]:
        status = os.fstat(self.fileno())
        return status.st_size, 0 if self._source.is_copy else status.st_mtime_ns

    def check(self) -> None:
        """Complain if the file is another one by now.

        Raises:
            FileChangedError: it is.
        """
        if self._told() != self._version:
            raise FileChangedError(self._source.name)

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size)
        self.check()
        return data or b""

    def readinto(self, buffer: Any, /) -> int:
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
    """Read so many bytes, and forget them."""
    while count > 0 and (data := handle.read(min(count, _PASSED_BYTES))):
        count -= len(data)


class _Ahead:
    """The bytes of a file elsewhere from a place on, in ranges that grow.

    Args:
        ranges: the file.
        at: the place.
        to: bytes up to this place come first, at once.
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
                f"the compressed data is damaged or cut: {error.reason}", advice="Fetch or compress the file again"
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


def refuse_binary(source: Source, head: bytes, wanted: str, *, web_page_is_data: bool = False) -> None:
    """Refuse by name a file that is not UTF-8 text: see `refuse_foreign`, UTF-16, binary.

    Raises:
        FileFormatError: it is one of these.
    """
    refuse_foreign(source, head, wanted, web_page_is_data=web_page_is_data)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise source.fault(f"is UTF-16 text, and {wanted} is read as UTF-8", advice="Pass encoding='utf-16'")
    if b"\0" in head:
        raise source.fault(
            "holds NUL bytes: it is binary, or UTF-16 without a mark",
            advice="Pass encoding='utf-16-le' if it is text, else leave it out of data_files",
        )


def refuse_foreign(source: Source, head: bytes, wanted: str, *, web_page_is_data: bool = False) -> None:
    """Refuse by name a file of another kind: a web page, a Git-LFS pointer, an archive, a format of its own.

    Args:
        source: the file, for the message.
        head: its first bytes, at least 64 if the file has as many.
        wanted: the requested format, as in "csv".
        web_page_is_data: True if HTML counts as text.

    Raises:
        FileFormatError: it is one of these.
    """
    if is_lfs_pointer(head):
        raise source.fault(
            "is a Git-LFS pointer and not the file itself",
            advice="Run 'git lfs pull' in its repository, or fetch the file by its URL",
        )
    if not web_page_is_data and looks_like_html(head):
        raise source.fault(
            f"is a web page (HTML) where {wanted} data is expected",
            advice="Check the address: sites answer so for a login or an error",
        )
    archive = kind_of(head)
    if archive is not None:
        raise source.fault(f"is a {archive} archive, not {wanted}", advice="Give it the extension of an archive, or unpack it")
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            raise source.fault(f"is {what}, not {wanted}", advice="Load it by its own format, or leave it out of data_files")


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
    """The file as UTF-8 bytes without a byte order mark, sniffed; or from a mark on, as it was when that was made."""
    return TextBytes(source, wanted, encoding or "utf-8", errors or "strict", web_page_is_data, mark, first_bytes)


class TextBytes:
    """UTF-8 bytes of one text file, read in blocks; a context manager.

    Attributes:
        source: the file.
        at: the byte of the text that is read next.
        file: what marks are of; None where a place in the text is none in the file, since it is in another encoding.
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
        """About `size` bytes, at least one; b"" at the end."""
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
        """All bytes up to a place in the text, or to its end; some more of a text in another encoding."""
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
        """Blocks of about `size` bytes, to the end."""
        while block := self.read(size):
            yield block


def is_utf8(encoding: str, source: Source) -> bool:
    """True if `encoding` is a name of UTF-8.

    Raises:
        FileFormatError: Python knows no such encoding.
    """
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")
    except LookupError:
        raise source.fault(
            f"the encoding {encoding!r} is unknown", advice="Pass an encoding that Python knows, as 'utf-8' or 'latin-1'"
        ) from None


def invalid_utf8(source: Source, at_byte: int, value: int) -> FileFormatError:
    """The error for a byte that is not UTF-8, with its line."""
    return source.fault(
        f"byte 0x{value:02x} at offset {at_byte:,} is not UTF-8",
        line=line_at(source, at_byte),
        advice="Pass the file's encoding, as encoding='latin-1'",
    )


def line_at(source: Source, offset: int, *, encoding: str | None = None, errors: str | None = None) -> int:
    """The number from 1 of the line that holds byte `offset` of the text; read again for it, as only errors ask."""
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
    """From `encoding` to UTF-8, piece by piece; the first piece loses its byte order mark."""
    name = "utf-8-sig" if is_utf8(encoding, source) and encoding.lower() != "ascii" else encoding
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise source.fault(
            f"encoding_errors={errors!r} is unknown", advice="Pass one that Python knows, as 'strict' or 'replace'"
        ) from None
    try:
        decoder = codecs.getincrementaldecoder(name)(errors)
        is_text = isinstance(decoder.decode(b""), str)  # base64 and its like make bytes
    except LookupError:
        is_text = False
    if not is_text:
        raise source.fault(f"the encoding {encoding!r} is not a text encoding", advice="Pass one that Python knows, as 'utf-8'")
    offset, line, has_begun = 0, 1, False

    def recode(data: bytes, final: bool) -> bytes:
        nonlocal offset, line, has_begun
        state = decoder.getstate()
        try:
            text = decoder.decode(data, final)
        except UnicodeError as error:
            # Below 0 in what the decoder had kept from the piece before.
            at = getattr(error, "start", 0) - len(getattr(error, "object", data)) + len(data)
            decoder.setstate(state)
            raise source.fault(
                f"byte offset {offset + at:,} is not {encoding} ({getattr(error, 'reason', error)})",
                line=line + decoder.decode(data[: max(at, 0)]).count("\n"),
                advice="Pass the file's true encoding, or encoding_errors='replace'",
            ) from error
        offset += len(data)
        line += text.count("\n")
        if not has_begun and text:
            has_begun = True
            text = text.removeprefix("\ufeff")
        return text.encode("utf-8", "surrogatepass" if errors == "surrogatepass" else "replace")

    return recode


def _fill(handle: ByteStream, size: int) -> bytes:
    """Exactly `size` bytes unless the file ends before: raw files and decompressors may give less at a time."""
    parts: list[bytes] = []
    while size > 0 and (data := handle.read(size)):
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


# `Grid`: up to which places a text is read block by block, so that blocks end alike wherever the reading was begun.


@dataclass
class Grid:
    """The places up to which a text is read: one behind the other.

    Attributes:
        to: the next one.
        step: how far it is from each to the next.
        STEP_BYTES: that, for rows of usual width: resuming in the middle of a file fetches about as much.
    """

    STEP_BYTES: ClassVar[int] = 1 << 18
    to: int
    step: int

    @classmethod
    def of(cls, text: TextBytes, mark: Mark | None, *, first_bytes: int = 0) -> Grid:
        """Return the grid of a text read from its beginning, or from a mark on.

        Args:
            text: open.
            mark: the start.
            first_bytes: of the first block, if it needs more than others to determine the types.
        """
        step = cls.STEP_BYTES
        return cls(max(first_bytes, step) if mark is None or not mark.at else mark.to, step)

    def advance(self, held: int = 0) -> None:
        """Go on to the next place.

        >>> grid = Grid(1000, step=100)
        >>> grid.advance()
        >>> grid.to
        1100

        Args:
            held: bytes in which no row ends: reading twice as many keeps the search linear.
        """
        self.to = ((self.to + held) // self.step + 1) * self.step
