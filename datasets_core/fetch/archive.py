"""Archives read member by member: zip and tar (plain or compressed), with an `ArchiveError` for any damage.

`walk` is the only reader: both extraction and `iter_archive` use it.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, cast

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import (
    ArchiveError,
    DataFilesNotFoundError,
    DatasetDiskError,
    DatasetsCoreError,
    UnsafeArchiveError,
    redact,
)
from datasets_core.fetch.checksums import Digest
from datasets_core.fetch.members import Budget, Member, MemberKind, decompressed, safe_path
from datasets_core.files import COMPRESSIONS, HEAD_BYTES, Kind, is_empty_tar, is_tar, kind_of

ArchiveKind = Literal["zip", "tar"]

_DAMAGED = "Download the archive again, or ask its author"
_BY_HAND = "Extract it manually, and pass the folder"
_ENCRYPTED = 0x1
_NAME_IS_UTF8 = 0x800
_UNIX_SYSTEMS = {3, 19}  # systems whose zips have file modes: Unix and macOS
_LONGEST_TARGET = 4096
_LONGEST_HEADER = 1 << 20
_DRAIN = 1 << 20
_EXTENDED = {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
_END_MARK: type[tarfile.HeaderError] = tarfile.EOFHeaderError  # type: ignore[attr-defined]
_NO_HEADER: type[tarfile.HeaderError] = tarfile.EmptyHeaderError  # type: ignore[attr-defined]
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
_TAR_ERRORS = (tarfile.TarError, EOFError, ValueError, OSError, zlib.error)


def detect(path: str | os.PathLike[str] | BinaryIO) -> Kind | None:
    """Return the kind of a local file, URL or open file by its magic number: an archive, a compression, or None."""
    with _opened(path) as source:
        return kind_of(source.read(HEAD_BYTES))


def archive_kind(path: str | os.PathLike[str]) -> ArchiveKind | None:
    """Return `"zip"` or `"tar"` (also inside gz, bz2, xz, zst, lz4), or None for a file without members.

    Raises:
        ArchiveError: a rar or 7z archive, which are not supported.
    """
    with _opened(path) as source:
        head = source.read(HEAD_BYTES)
        kind = kind_of(head)
        if kind in ("rar", "7z"):
            raise ArchiveError(redact(os.fspath(path)), f"{kind} archives are not supported", advice=_BY_HAND)
        if kind not in COMPRESSIONS:
            return cast(ArchiveKind | None, kind)
        source.seek(0)
        with decompressed(source, path=os.fspath(path)) as plain:
            return "tar" if is_tar(plain.read(HEAD_BYTES)) else None


def walk(
    source: str | os.PathLike[str] | BinaryIO, *, known_as: str | None = None
) -> Iterator[tuple[Member, Callable[[], BinaryIO]]]:
    """Yield the members of an archive in order, each with a function that opens it until the next one is taken.

    Links and folders are included, but cannot be read.

    Args:
        source: a path or an open file.
        known_as: name of the archive in errors; default: that of `source`.

    Raises:
        UnsafeArchiveError: a member would be outside the folder, is a device, or exceeds a limit.
        ArchiveError: the archive is damaged, truncated, encrypted, or not an archive.
    """
    name = redact(known_as) if known_as else _name_of(source)
    with _opened(source) as opened:
        head = opened.read(HEAD_BYTES)
        opened.seek(0)
        kind = kind_of(head)
        budget = Budget(name, _size_of(opened), settings())
        if kind == "zip":
            yield from _walk_zip(opened, name, budget)
        elif kind == "tar" or is_empty_tar(head):
            yield from _walk_tar(_Plain(opened), name, budget)
        elif kind in COMPRESSIONS:
            with decompressed(cast(BinaryIO, KeptOpen(opened)), path=name) as plain:
                start = cast(io.BufferedReader, plain).peek(HEAD_BYTES)[:HEAD_BYTES]
                if not is_tar(start) and not is_empty_tar(start):
                    raise ArchiveError(name, f"contains one {kind}-compressed file, not a tar", advice="Open it with extract()")
                yield from _walk_tar(_Forward(plain, budget), name, budget)
        elif kind is None:
            what = "is empty, not an archive" if not head else "is not a zip or tar archive, by its first bytes"
            raise ArchiveError(name, what, advice="Pass an archive, or open the file itself")
        else:
            raise ArchiveError(name, f"{kind} archives are not supported", advice=_BY_HAND)


def zip_members(source: BinaryIO, *, known_as: str) -> dict[str, tuple[Member, Callable[[], BinaryIO]]]:
    """Return every member of a zip by its path, with a function that opens it; `source` stays open for them.

    Raises:
        UnsafeArchiveError, ArchiveError: as `walk`.
    """
    name = redact(known_as)
    budget = Budget(name, _size_of(source), settings())
    try:
        opened = zipfile.ZipFile(source)
    except _ZIP_ERRORS as error:
        raise _damage(name, None, error) from error
    members = [(info, _zip_member(opened, info, name, budget)) for info in opened.infolist()]
    _check_twice(members, name)
    bound = getattr(getattr(source, "raw", None), "bound", None)
    if bound is not None:  # for a member in parts, the last part ends it
        bound([*(info.header_offset for info in opened.infolist()), opened.start_dir])
    return {member.path: (member, _ZipOpener(opened, info, name)) for info, member in members}


def check_repeated(source: str | os.PathLike[str] | BinaryIO, repeated: Container[str], *, known_as: str | None = None) -> None:
    """Check that members with the same name have the same bytes.

    Raises:
        UnsafeArchiveError: members at one of the paths `repeated` differ.
    """
    seen: dict[str, str] = {}
    for member, opener in walk(source, known_as=known_as):
        if member.kind != "file" or member.path not in repeated:
            continue
        digest = Digest()
        with opener() as handle:
            while data := handle.read(_DRAIN):
                digest.update(data)
        if seen.setdefault(member.path, digest.hexdigest()) != digest.hexdigest():
            archive = redact(known_as) if known_as else _name_of(source)
            raise UnsafeArchiveError(archive, f"member {member.name!r} appears twice with different content", advice=_BY_HAND)


def _name_of(source: object) -> str:
    if isinstance(source, (str, os.PathLike)):
        return redact(os.fspath(source))
    name = getattr(source, "name", None)
    return redact(name) if isinstance(name, str) else "the open file"


def _size_of(source: BinaryIO) -> int | None:
    declared = getattr(getattr(source, "raw", None), "declared_size", None)
    if declared is not None:
        return cast(int | None, declared())
    try:
        here = source.tell()
        size = source.seek(0, os.SEEK_END)
        source.seek(here)
    except (OSError, ValueError):
        return None
    return size


@contextmanager
def _opened(source: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """A context with an opened path, or an open file from its beginning."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        local = files.local_path(path)
        if os.path.exists(local) and not os.path.isfile(local) and not os.path.isdir(local):
            raise ArchiveError(path, "it is a pipe, a device or a socket", advice="Write its content to a file")
        try:
            handle = files.open_binary(path)
        except (FileNotFoundError, IsADirectoryError) as error:
            what = "is a folder" if isinstance(error, IsADirectoryError) else "does not exist"
            raise DataFilesNotFoundError(
                f"{redact(path)} {what}", advice="Pass the path of an archive", file=redact(path)
            ) from error
        if isinstance(handle, io.BufferedReader):
            handle = _SharedFile(handle.detach())
            try:
                yield handle
            except BaseException:  # also a walk that is left early
                handle.close()
                raise
        else:
            with handle:
                yield cast(BinaryIO, handle)
        return
    if not source.seekable():
        source = cast(BinaryIO, io.BytesIO(source.read()))  # formats are detected at the start, and zips are read from the end
    source.seek(0)
    yield source


class _SharedFile(io.BufferedReader):
    """The file of an archive, closed when the archive and all its open members are released."""

    def __del__(self) -> None:
        self.close()


class KeptOpen(io.RawIOBase):
    """A wrapper of a file that readers can close without closing the file."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._inner.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        data = getattr(self._inner, "read1", self._inner.read)(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _MemberFile(io.RawIOBase):
    """An open member, with errors that name the archive and the member."""

    def __init__(self, inner: Any, archive: str, member: str, errors: tuple[type[Exception], ...]) -> None:
        self._inner, self._archive, self._member, self._errors = inner, archive, member, errors

    @property
    def name(self) -> str:
        return self._member

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._inner.seekable())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return int(self._inner.seek(offset, whence))

    def tell(self) -> int:
        return int(self._inner.tell())

    def readinto(self, buffer: Any) -> int:
        data = self._guarded(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self._guarded(-1)

    def _guarded(self, count: int) -> bytes:
        try:
            data: bytes = self._inner.read(count)
        except (DatasetsCoreError, io.UnsupportedOperation):
            raise
        except self._errors as error:
            raise _damage(self._archive, self._member, error) from error
        return data

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def _member_file(inner: Any, archive: str, member: str, errors: tuple[type[Exception], ...]) -> BinaryIO:
    return io.BufferedReader(_MemberFile(inner, archive, member, errors), 1 << 14)


def _damage(archive: str, member: str | None, error: Exception) -> DatasetsCoreError:
    """Return the exception for an error in an archive; the library's own errors, such as failed fetches, are unchanged."""
    told: BaseException | None = error
    while told is not None:
        if isinstance(told, DatasetsCoreError):
            return told
        if isinstance(told, OSError) and told.errno in (errno.EIO, errno.ENOMEM):
            return DatasetDiskError.of(told, archive, action="read")
        told = told.__context__  # zipfile replaces errors of the file by its own
    what = f"member {member!r} is damaged or truncated" if member else "the archive is damaged or truncated"
    return ArchiveError(archive, f"{what} ({str(error) or type(error).__name__})", advice=_DAMAGED)


# -- zip ---------------------------------------------------------------------------------------------------------------


def _walk_zip(source: BinaryIO, archive: str, budget: Budget) -> Iterator[tuple[Member, Callable[[], BinaryIO]]]:
    try:
        opened = zipfile.ZipFile(source)
    except _ZIP_ERRORS as error:
        raise _damage(archive, None, error) from error
    with opened:
        members = [(info, _zip_member(opened, info, archive, budget)) for info in opened.infolist()]
        _check_twice(members, archive)
        for info, member in members:
            yield member, _ZipOpener(opened, info, archive)


def _check_twice(members: list[tuple[zipfile.ZipInfo, Member]], archive: str) -> None:
    seen: dict[str, tuple[int, int]] = {}
    for info, member in members:
        content = info.CRC, info.file_size
        if member.kind == "file" and seen.setdefault(member.path, content) != content:
            raise UnsafeArchiveError(archive, f"member {member.name!r} appears twice with different content", advice=_BY_HAND)


@dataclass(frozen=True, slots=True)
class _ZipOpener:
    opened: zipfile.ZipFile
    info: zipfile.ZipInfo
    archive: str

    def __call__(self) -> BinaryIO:
        try:
            inner = self.opened.open(self.info)
        except _ZIP_ERRORS as error:
            raise _damage(self.archive, self.info.filename, error) from error
        return _member_file(inner, self.archive, self.info.filename, _ZIP_ERRORS)


def _zip_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo, archive: str, budget: Budget) -> Member:
    name = _zip_name(info, archive)
    kind = _zip_kind(info, archive)
    path = safe_path(archive, name, is_folder=kind == "folder")
    budget.take_member()
    if kind == "folder":
        return Member(name, path, kind)
    if info.flag_bits & _ENCRYPTED:
        raise ArchiveError(archive, f"member {name!r} is encrypted", advice=_BY_HAND)
    if kind == "symlink":
        with _ZipOpener(opened, info, archive)() as link:
            return Member(name, path, kind, target=link.read(_LONGEST_TARGET).decode("utf-8", "replace"))
    budget.take_bytes(info.file_size)
    return Member(name, path, kind, info.file_size)


def _zip_name(info: zipfile.ZipInfo, archive: str) -> str:
    name = info.orig_filename
    if info.flag_bits & _NAME_IS_UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")  # written as UTF-8, without the flag
    except UnicodeError as error:
        raise UnsafeArchiveError(archive, f"member {name!r} has a name that is not UTF-8", advice=_BY_HAND) from error


def _zip_kind(info: zipfile.ZipInfo, archive: str) -> MemberKind:
    mode = info.external_attr >> 16 if info.create_system in _UNIX_SYSTEMS else 0
    if stat.S_ISLNK(mode):
        return "symlink"
    if any(is_kind(mode) for is_kind in (stat.S_ISCHR, stat.S_ISBLK, stat.S_ISFIFO, stat.S_ISSOCK)):
        raise UnsafeArchiveError(archive, f"member {info.filename!r} is a device or a pipe", advice=_BY_HAND)
    return "folder" if info.filename.endswith("/") or stat.S_ISDIR(mode) else "file"


# -- tar ---------------------------------------------------------------------------------------------------------------


class _Plain:
    """An uncompressed tar: members are skipped by seeking, and are seekable."""

    def __init__(self, source: BinaryIO) -> None:
        self.read, self.seek, self.tell = source.read, source.seek, source.tell

    def seekable(self) -> bool:
        return True


class _Forward:
    """A compressed tar, which is only read forward, and counts the decompressed bytes."""

    def __init__(self, source: BinaryIO, budget: Budget) -> None:
        self._source, self._budget, self._position = source, budget, 0

    def read(self, count: int) -> bytes:
        data = self._source.read(count)
        self._position += len(data)
        self._budget.take_bytes(len(data))
        return data

    def seek(self, position: int) -> int:
        if position < self._position:
            raise io.UnsupportedOperation("a member of a compressed tar can only be read once, forward, before the next one")
        while position > self._position and self.read(min(_DRAIN, position - self._position)):
            pass
        return self._position

    def tell(self) -> int:
        return self._position

    def seekable(self) -> bool:
        return False


class _StrictTarInfo(tarfile.TarInfo):
    """A header whose damage raises an error; `tarfile` would take it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _StrictTarInfo:
        found = super().frombuf(buf, encoding, errors)
        extended = (
            tarfile.XHDTYPE,
            tarfile.XGLTYPE,
            tarfile.SOLARIS_XHDTYPE,
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
        )
        if found.size < 0 or (found.type in extended and found.size > _LONGEST_HEADER):
            raise tarfile.ReadError(f"a header declares {found.size} bytes")
        return found

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _StrictTarInfo:
        try:
            found = super().fromtarfile(tarfile_)
        except _END_MARK:
            raise
        except _NO_HEADER as error:
            raise tarfile.ReadError("it has no end mark") from error
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error
        if found.size < 0:
            raise tarfile.ReadError("a member has a negative size")
        return found


def _walk_tar(source: _Plain | _Forward, archive: str, budget: Budget) -> Iterator[tuple[Member, Callable[[], BinaryIO]]]:
    opened: tarfile.TarFile | None = None
    while True:
        try:
            if opened is None:
                opened = tarfile.TarFile(
                    fileobj=cast(Any, source), tarinfo=_StrictTarInfo, encoding="utf-8", errors="surrogateescape"
                )
            info = opened.next()
        except DatasetsCoreError:
            raise
        except _TAR_ERRORS as error:
            raise _damage(archive, None, error) from error
        if info is None:
            break
        opened.members.clear()  # type: ignore[attr-defined]  # else it holds every header until the end
        budget.take_member()
        member = _tar_member(info, archive)
        if isinstance(source, _Plain) or info.issparse():  # for a sparse member, the stream has only the data parts
            budget.take_bytes(member.size)
        yield member, _TarOpener(opened, info, archive)
    _check_end(source, archive)


@dataclass(frozen=True, slots=True)
class _TarOpener:
    opened: tarfile.TarFile
    info: tarfile.TarInfo
    archive: str

    def __call__(self) -> BinaryIO:
        return _member_file(self.opened.extractfile(self.info), self.archive, self.info.name, _TAR_ERRORS)


def _tar_member(info: tarfile.TarInfo, archive: str) -> Member:
    path = safe_path(archive, info.name, is_folder=info.isdir())
    if info.isreg():
        return Member(info.name, path, "file", info.size)
    if info.isdir():
        return Member(info.name, path, "folder")
    if info.issym() or info.islnk():
        return Member(info.name, path, "symlink" if info.issym() else "hardlink", target=info.linkname)
    raise UnsafeArchiveError(archive, f"member {info.name!r} is a device, a pipe or of an unknown kind", advice=_BY_HAND)


def _check_end(source: _Plain | _Forward, archive: str) -> None:
    """Check that only padding follows the end mark; reading it also verifies the checksum of a compressed stream."""
    while data := source.read(_DRAIN):
        if data.count(0) != len(data):
            raise ArchiveError(
                archive, "more bytes follow the end of the tar (are these two archives in one file?)", advice=_BY_HAND
            )
