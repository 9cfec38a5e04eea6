"""Members of archives as values, and the checks of a whole archive before anything is extracted."""

from __future__ import annotations

import io
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, Protocol, cast

from datasets_core import files
from datasets_core.config import Config, settings
from datasets_core.errors import ArchiveError, DatasetsCoreError, UnsafeArchiveError, redact
from datasets_core.files import COMPRESSIONS, HEAD_BYTES, kind_of

MemberKind = Literal["file", "folder", "symlink", "hardlink"]

_DRIVE = re.compile(r"[A-Za-z]:")
_FREE_OF_RATIO = 100_000_000  # bytes that an archive may extract to regardless of the ratio
_LINK_HOPS = 40
_MOST_PARTS = 256  # limit of the parts of a path: a folder nested deeper can hardly be deleted
_MOST_SHOWN = 300  # limit of characters of a name
_UNSAFE_ADVICE = "Do not trust this archive; if you do, extract it manually, and pass the folder"
_LIMIT_ADVICE = "If you trust it, raise {setting} with datasets_core.config.using({setting}=…)"


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an archive.

    Attributes:
        name: name in the archive.
        path: relative path in the folder, with `/` between the parts; "" is the folder itself.
        kind: kind of the member.
        size: declared size of a file in bytes.
        target: target of a link, as written.
    """

    name: str
    path: str
    kind: MemberKind
    size: int = 0
    target: str = ""


def safe_path(archive: str, name: str, *, is_folder: bool = False) -> str:
    """Return the path of a member below its folder, without empty and `.` parts.

    A folder whose name is empty, or only slashes, is the folder of the archive itself; some programs write such an entry.

    >>> safe_path("a.zip", "./data//train.csv"), safe_path("a.tar", "/", is_folder=True)
    ('data/train.csv', '')

    Raises:
        UnsafeArchiveError: the name is outside the folder on some system, is not UTF-8, or is nested too deeply.
    """
    if is_folder and not name.strip("/"):
        return ""
    if reason := _why_unsafe(name):
        shown = name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…"
        raise UnsafeArchiveError(archive, f"member {shown!r} {reason}", advice=_UNSAFE_ADVICE)
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _why_unsafe(name: str) -> str | None:
    parts = name.replace("\\", "/").split("/")  # Windows splits names at both characters
    if not name:
        return "has no name"
    if "\0" in name:
        return "has a zero byte in its name"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "has an absolute path"
    if ".." in parts:
        return "is outside the folder"
    if any(_DRIVE.match(part) for part in parts):
        return "names a drive"
    if len(parts) > _MOST_PARTS:
        return f"is more than {_MOST_PARTS} folders deep"
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return None


class Budget:
    """The limits for the extraction of one archive, counted while it is read.

    Args:
        archive: its name for messages.
        packed_bytes: its own size in bytes; None if unknown (the ratio is then not checked).
        limits: the settings with the limits.
    """

    def __init__(self, archive: str, packed_bytes: int | None, limits: Config) -> None:
        self._archive, self._limits = archive, limits
        self._by_ratio = None if packed_bytes is None else max(_FREE_OF_RATIO, packed_bytes * limits.max_archive_ratio)
        self.num_members = 0
        self.num_bytes = 0

    def take_member(self) -> None:
        """Count a member."""
        files.check()
        self.num_members += 1
        if self.num_members > self._limits.max_archive_members:
            self._refuse(f"more than {self._limits.max_archive_members:,} members", "max_archive_members")

    def take_bytes(self, count: int) -> None:
        """Count bytes extracted from the archive."""
        files.check()
        self.num_bytes += count
        if self.num_bytes > self._limits.max_archive_bytes:
            self._refuse(f"extracts to more than {self._limits.max_archive_bytes:,} bytes", "max_archive_bytes")
        if self._by_ratio is not None and self.num_bytes > self._by_ratio:
            self._refuse(f"extracts to more than {self._limits.max_archive_ratio} times its size", "max_archive_ratio")

    def _refuse(self, reason: str, setting: str) -> None:
        raise UnsafeArchiveError(self._archive, reason, advice=_LIMIT_ADVICE.format(setting=setting))


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of extracting an archive, after all members were found safe.

    Attributes:
        files: path → declared size, in archive order.
        folders: paths of folders, parents first.
        copies: (path of a link, path of the file whose content it gets).
        repeated: paths of several members, whose contents must be equal.
    """

    files: dict[str, int]
    folders: list[str]
    copies: list[tuple[str, str]]
    repeated: frozenset[str]

    @property
    def num_bytes(self) -> int:
        """Bytes that will be written."""
        return sum(self.files.values()) + sum(self.files[source] for _, source in self.copies)


def plan(archive: str, members: Iterable[Member], budget: Budget) -> Plan:
    """Check all members together and return what to write.

    Raises:
        UnsafeArchiveError: a link points outside the archive, or a member is inside something that is not a folder.
        ArchiveError: the target of a link does not exist.
    """
    sizes: dict[str, int] = {}
    folders: dict[str, None] = {}
    links: dict[str, Member] = {}
    repeated: set[str] = set()
    for member in members:
        if member.kind == "folder":
            if member.path:
                folders[member.path] = None
            continue
        if not member.path:
            raise UnsafeArchiveError(archive, f"member {member.name!r} replaces the folder itself", advice=_UNSAFE_ADVICE)
        if member.path in sizes or member.path in links:
            _check_repeated(archive, member, links.get(member.path), repeated)
        if member.kind == "file":
            sizes.setdefault(member.path, member.size)
        else:
            links.setdefault(member.path, member)
    for path in [*sizes, *links]:
        for above in parents(path):
            folders.setdefault(above, None)
    for path in folders:
        if path in sizes or path in links:
            raise UnsafeArchiveError(archive, f"member {path!r} is both a folder and a file or a link", advice=_UNSAFE_ADVICE)
    copies = list(_Links(archive, sizes, folders, links, budget).copies())
    ordered = sorted(folders, key=lambda path: path.count("/"))
    return Plan(sizes, ordered, copies, frozenset(repeated))


def _check_repeated(archive: str, member: Member, earlier: Member | None, repeated: set[str]) -> None:
    if earlier is not None or member.kind != "file":
        if earlier is None or (earlier.kind, earlier.target) != (member.kind, member.target):
            raise UnsafeArchiveError(archive, f"member {member.name!r} appears twice, but differs", advice=_UNSAFE_ADVICE)
        return
    repeated.add(member.path)


def parents(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first."""
    while path := posixpath.dirname(path):
        yield path


class _Links:
    """The links of one archive, each resolved to the files that it refers to."""

    def __init__(
        self, archive: str, sizes: dict[str, int], folders: dict[str, None], links: dict[str, Member], budget: Budget
    ) -> None:
        self._archive, self._sizes, self._folders, self._links, self._budget = archive, sizes, folders, links, budget

    def copies(self) -> Iterator[tuple[str, str]]:
        for path, member in self._links.items():
            yield from self._expand(path, member, ())

    def _expand(self, path: str, member: Member, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        target = self._resolve(member)
        if target in self._sizes:
            self._budget.take_member()
            self._budget.take_bytes(self._sizes[target])
            yield path, target
        elif target in self._folders or not target:
            inside = f"{target}/" if target else ""
            if path.startswith(inside) or target in above:
                raise UnsafeArchiveError(self._archive, f"link {member.name!r} is part of a cycle", advice=_UNSAFE_ADVICE)
            for name in [*self._sizes, *self._links]:
                if name.startswith(inside):
                    leaf = self._links.get(name) or Member(name, name, "hardlink", target=name)
                    yield from self._expand(f"{path}/{name[len(inside) :]}", leaf, (*above, target))
        else:
            raise ArchiveError(
                self._archive,
                f"link {member.name!r} points to {member.target!r}, which is not in the archive",
                advice="Extract it manually, and pass the folder",
            )

    def _resolve(self, member: Member) -> str:
        path = link_target(self._archive, member)
        for _ in range(_LINK_HOPS):
            through = next((prefix for prefix in (path, *parents(path)) if prefix in self._links), None)
            if through is None:
                return path
            path = posixpath.join(link_target(self._archive, self._links[through]), path[len(through) + 1 :]).rstrip("/")
        raise UnsafeArchiveError(self._archive, f"link {member.name!r} is part of a cycle", advice=_UNSAFE_ADVICE)


def link_target(archive: str, member: Member) -> str:
    """Return the target of a link, computed from its text, below the folder.

    >>> link_target("a.tar", Member("data/l", "data/l", "symlink", target="../x"))
    'x'

    Raises:
        UnsafeArchiveError: the target is outside the folder.
    """
    words = member.target.replace("\\", "/")
    parts = [] if member.kind == "hardlink" else posixpath.dirname(member.path).split("/")
    parts = [part for part in parts if part]
    outward = not words or "\0" in words or words.startswith("/") or _DRIVE.match(words) is not None
    for part in words.split("/"):
        if part == "..":
            outward = outward or not parts
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    if outward:
        reason = f"link {member.name!r} points outside the archive, to {member.target!r}"
        raise UnsafeArchiveError(archive, reason, advice=_UNSAFE_ADVICE)
    return "/".join(parts)


def is_junk(name: str) -> bool:
    """Return True for files that operating systems or editors leave in archives: hidden files and backup copies.

    >>> is_junk("._a.jpg"), is_junk("a.txt~"), is_junk("__init__.py")
    (True, True, False)
    """
    return name.startswith(".") or name.endswith("~")


# Compressed files as streams of plain bytes, verified up to their end.


_INPUT_BYTES = 1 << 18
_OUTPUT_BYTES = 1 << 20
_DAMAGED = "Download the file again, or ask its author"
_SUFFIX = re.compile(r"\.(gz|gzip|bz2|xz|zst|zstd|lz4)$", re.IGNORECASE)
_LONGEST_NAME = 100


def plain_name(path: str) -> str:
    """Return the name of the content of a compressed file, in safe characters.

    >>> plain_name("data/train set.csv.gz")
    'train_set.csv'
    """
    name = _SUFFIX.sub("", os.path.basename(path.rstrip("/")))
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".")[-_LONGEST_NAME:] or "data"


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    """A zlib decompressor for gzip with the interface of those of bz2 and lzma."""

    def __init__(self) -> None:
        import zlib  # here and below: 1 ms that plain files do without

        self._object = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._object.decompress(self._object.unconsumed_tail + data, max_length)
        self.needs_input = len(out) < max_length and not self._object.unconsumed_tail
        return out


def _bunzip2() -> _Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _unxz() -> _Decompressor:
    import lzma

    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ)


_MAKERS: dict[str, Callable[[], _Decompressor]] = {"gz": _Gunzip, "bz2": _bunzip2, "xz": _unxz}
_ARROW_NAMES = {"zst": "zstd", "lz4": "lz4"}


class _Streams(io.RawIOBase):
    """The plain bytes of one or more gz, bz2 or xz streams in a row."""

    def __init__(self, source: BinaryIO, kind: str, path: str, budget: Budget | None) -> None:
        import lzma
        import zlib

        self._source, self._kind, self._path, self._budget = source, kind, path, budget
        self._read = getattr(source, "read1", source.read)  # available bytes, without waiting for more
        self._errors = (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
        self._make = _MAKERS[kind]
        self._current = self._make()
        self._pending = b""
        self._done = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not len(view):
            return 0
        while not self._done:
            data = self._pending
            self._pending = b""
            if not data and self._current.needs_input:
                data = self._read(_INPUT_BYTES)
                if not data:
                    raise ArchiveError(self._path, f"the {self._kind} stream is truncated", advice=_DAMAGED)
            try:
                out = self._current.decompress(data, len(view))
            except self._errors as error:
                raise ArchiveError(self._path, f"damaged {self._kind} data ({error})", advice=_DAMAGED) from error
            if self._current.eof:
                self._next_stream()
            if out:
                if self._budget is not None:
                    self._budget.take_bytes(len(out))
                view[: len(out)] = out
                return len(out)
        return 0

    def _next_stream(self) -> None:
        rest = self._current.unused_data.lstrip(b"\0")
        while not rest:
            more = self._source.read(_INPUT_BYTES)
            if not more:
                self._done = True
                return
            rest = more.lstrip(b"\0")
        while len(rest) < HEAD_BYTES and (more := self._source.read(HEAD_BYTES)):
            rest += more
        if kind_of(rest) != self._kind:
            raise ArchiveError(self._path, f"other bytes follow the end of the {self._kind} stream", advice=_DAMAGED)
        self._current, self._pending = self._make(), rest

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


class _Frames(io.RawIOBase):
    """The plain bytes of zstd or lz4 frames, decompressed by pyarrow."""

    def __init__(self, source: BinaryIO, kind: str, path: str, budget: Budget | None) -> None:
        import pyarrow as pa  # 0.1 s that the other kinds do without

        self._source, self._kind, self._path, self._budget = source, kind, path, budget
        self._errors = (OSError, pa.ArrowException)
        self._frames = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), _ARROW_NAMES[kind])

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._frames.read(len(view))
        except DatasetsCoreError:
            raise
        except self._errors as error:
            raise ArchiveError(self._path, f"damaged or truncated {self._kind} data ({error})", advice=_DAMAGED) from error
        if self._budget is not None:
            self._budget.take_bytes(len(data))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


def decompressed(source: BinaryIO, *, path: str, budget: Budget | None = None) -> BinaryIO:
    """Return the uncompressed bytes of an open file (gz, bz2, xz, zst or lz4); other files are returned unchanged.

    Args:
        source: open for reading at its beginning; closed along with the result.
        path: its name, for error messages.
        budget: receives the number of bytes, and raises if there are too many.

    Raises:
        ArchiveError: (while reading) the data is truncated, damaged, or followed by other bytes.
    """
    peeking = source if hasattr(source, "peek") else cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, source), _INPUT_BYTES))
    head = _peek(peeking)
    kind = kind_of(head)
    if kind not in COMPRESSIONS:
        return peeking
    raw = (_Streams if kind in _MAKERS else _Frames)(peeking, kind, redact(path), budget)
    return io.BufferedReader(raw, _OUTPUT_BYTES)


def _peek(source: Any) -> bytes:
    head: bytes = source.peek(HEAD_BYTES)
    if len(head) < HEAD_BYTES and source.seekable():  # a file object may peek fewer bytes than there are
        start = source.tell()
        head = source.read(HEAD_BYTES)
        source.seek(start)
    return head[:HEAD_BYTES]


def open_decompressed(path: str, storage_options: dict[str, Any] | None = None, *, name: str | None = None) -> BinaryIO:
    """Return a local file or fsspec URL, open for reading plain bytes: gz, bz2, xz, zst and lz4 (by magic number) are
    decompressed.

    Args:
        path: path of the file.
        storage_options: options for the file system of a URL.
        name: its name for the user; default: the path.

    Raises:
        UnsafeArchiveError: (while reading) it exceeds the limits of the settings for archives.
        ArchiveError: (while reading) the data is truncated, damaged, or followed by other bytes.
    """
    handle = cast(BinaryIO, files.open_binary(path, storage_options))
    size = handle.seek(0, io.SEEK_END) if handle.seekable() else None
    if size is not None:
        handle.seek(0)
    known = name or path
    return decompressed(handle, path=known, budget=Budget(redact(known), size, settings()))
