"""`RemoteFile`: a file or archive behind a URL, as a path that fetches itself when it is opened."""

from __future__ import annotations

import io
import os
import posixpath
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, UrlNotFoundError, redact
from datasets_core.fetch.members import plain_name
from datasets_core.fetch.ranges.file import LocalRanges, RangeFile

_COMPRESSED = re.compile(r"(?<!\.tar)\.(gz|gzip|bz2|xz|zst|zstd|lz4)$", re.IGNORECASE)


class Access:
    """Access to the files behind URLs; this base class fetches everything before it is read.

    Subclasses for streams override `opened`, `member` and `opened_member`.
    """

    def fetched(self, url: str) -> str:
        """Return the local path of the file of a URL, after fetching and checking it.

        Raises:
            DownloadError: the file cannot be fetched.
        """
        raise NotImplementedError

    def unpacked(self, url: str) -> str:
        """Return the local path of the extracted file of a URL: a folder, or a file.

        Raises:
            ArchiveError: the archive is damaged.
        """
        raise NotImplementedError

    def opened(self, url: str) -> BinaryIO:
        """Return the bytes of a URL."""
        return open(self.fetched(url), "rb")

    def comes(self, url: str) -> bool:
        """Return True if the file of a URL should be streamed rather than fetched: it is large, and not cached."""
        return False

    def ranges(self, url: str) -> RangeFile:
        """Return access to byte ranges of a URL."""
        return LocalRanges(self.fetched(url), name=redact(url))

    def member(self, url: str, inner: str) -> str:
        """Return the local path of one member of the extracted file of a URL; all of it if `inner` is ""."""
        place = self.unpacked(url)
        return os.path.join(place, inner) if inner else place

    def members(self, url: str) -> list[str] | None:
        """Return the files of an archive that can be opened one by one, folder by folder; None if it has to be fetched."""
        return None

    def opened_member(self, url: str, inner: str) -> BinaryIO:
        """Return the bytes of one extracted file of a URL; `inner` is "" for a compressed single file."""
        return open(self.member(url, inner), "rb")


class RemoteFile(os.PathLike[str]):
    """The result of `download` for a URL while streaming: a path, which also behaves like a string in many respects.

    `str()` is the URL.  `path.open()` reads the bytes from the server; `open(path)` and other functions for paths download
    the file into the cache first.  `download_and_extract` returns one that refers to the extracted file:
    `folder / "a.csv"` is a file of an archive, read with as few bytes as necessary; to use the folder completely,
    the archive is fetched and extracted.

    Args:
        url: its URL.
        access: how it is accessed.
        is_unpacked: True if it refers to the extracted file.
        inner: the file or folder below that.

    >>> path = RemoteFile("https://example.org/data/a.csv", Access())
    >>> path.name, path.endswith(".csv"), str(path.parent / "b.csv")
    ('a.csv', True, 'https://example.org/data/b.csv')
    """

    __slots__ = ("_access", "_inner", "_is_unpacked", "_url")

    __iter__ = None  # a text can be walked by letter, and a list that was meant would become a list of letters

    def __init__(self, url: str, access: Access, *, is_unpacked: bool = False, inner: str = "") -> None:
        self._url, self._access, self._is_unpacked, self._inner = url, access, is_unpacked, inner

    @property
    def url(self) -> str:
        """The URL of the file or archive."""
        return self._url

    @property
    def is_plain(self) -> bool:
        """True if it refers to the file of the URL itself."""
        return not self._is_unpacked

    @property
    def is_member(self) -> bool:
        """True if it refers to one file or folder of an archive."""
        return bool(self._inner)

    @property
    def comes(self) -> bool:
        """True if it should be read by `open` rather than fetched and read by its path: it is large, and not cached."""
        return self.is_plain and self._access.comes(self._url)

    def unpacked(self) -> RemoteFile:
        """Return the extracted file."""
        return RemoteFile(self._url, self._access, is_unpacked=True)

    def members(self) -> list[str] | None:
        """Return the files in it, folder by folder without hidden ones; None if that requires the whole archive."""
        return self._access.members(self._url) if self.is_plain else None

    def _with(self, inner: str) -> RemoteFile:
        return RemoteFile(self._url, self._access, is_unpacked=True, inner=inner)

    # -- a path --------------------------------------------------------------------------------------------------------

    def __fspath__(self) -> str:
        """Return the local path, after fetching, checking and extracting if necessary.

        Raises:
            DownloadError: the file cannot be fetched.
            DataFilesNotFoundError: the archive does not have the file.
        """
        return self._access.member(self._url, self._checked_inner()) if self._is_unpacked else self._access.fetched(self._url)

    def _checked_inner(self) -> str:
        inner = posixpath.normpath(self._inner) if self._inner else ""
        if inner == ".." or inner.startswith(("../", "/")):
            raise DataFilesNotFoundError(
                f"{redact(str(self))} is outside the archive", advice="Check the path", file=redact(str(self))
            )
        return "" if inner == "." else inner

    def open(
        self,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> IO[Any]:
        """Open the file for reading; its bytes are fetched as they are read, and not cached.

        Recorded size and checksum are compared at the end.  Seeking is possible, and makes
        another request.

        Args:
            mode: "r" or "rb".
            buffering: ignored.
            encoding, errors, newline: for text, as in `open`.

        Raises:
            ConfigurationError: the mode is not supported.
            DownloadError: (also while reading) the file cannot be fetched.
            NonMatchingChecksumError: (also while reading) the file differs from its record.
        """
        if set(mode) - set("rbt") or "r" not in mode or {"b", "t"} <= set(mode):
            raise ConfigurationError(f"{redact(str(self))} cannot be opened with mode {mode!r}", advice="Use 'r' or 'rb'")
        if self._is_unpacked:
            data = self._access.opened_member(self._url, self._checked_inner())
        else:
            data = self._access.opened(self._url)
        if "b" in mode:
            return data
        return io.TextIOWrapper(data, encoding=io.text_encoding(encoding), errors=errors, newline=newline)

    def ranges(self) -> RangeFile:
        """Return random access to the bytes; an extracted file is fetched and extracted first."""
        if self._is_unpacked:
            return LocalRanges(os.fspath(self), name=redact(str(self)))
        return self._access.ranges(self._url)

    def read_bytes(self) -> bytes:
        """Return all its bytes."""
        with self.open("rb") as handle:
            return bytes(handle.read())

    def read_text(self, encoding: str | None = None, errors: str | None = None, newline: str | None = None) -> str:
        """Return all its text."""
        with self.open("r", encoding=encoding, errors=errors, newline=newline) as handle:
            return str(handle.read())

    def exists(self) -> bool:
        """Return True if the file exists; sends a request to the server."""
        try:
            if self._is_unpacked:
                return os.path.exists(self)
            with self.open("rb") as handle:
                handle.read(1)
            return True
        except (UrlNotFoundError, DataFilesNotFoundError):
            return False

    def is_file(self) -> bool:
        """Return True if it exists and is not a folder."""
        return os.path.isfile(self) if self._is_unpacked else self.exists()

    def is_dir(self) -> bool:
        """Return True if it is a folder."""
        return self._is_unpacked and os.path.isdir(self)

    def iterdir(self) -> Iterator[Path]:
        """Yield the paths in the folder, which is fetched and extracted first."""
        return Path(self).iterdir()

    def glob(self, pattern: str) -> Iterator[Path]:
        """Return the paths below the folder that match a pattern; the folder is fetched and extracted."""
        return Path(self).glob(pattern)

    def rglob(self, pattern: str) -> Iterator[Path]:
        """Like `glob`, at any depth."""
        return Path(self).rglob(pattern)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return posixpath.basename(self._path.rstrip("/"))

    @property
    def stem(self) -> str:
        """The name without its last suffix."""
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        """The last suffix of the name."""
        return posixpath.splitext(self.name)[1]

    @property
    def suffixes(self) -> list[str]:
        """All suffixes of the name."""
        return [f".{part}" for part in self.name.lstrip(".").split(".")[1:]]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the path."""
        return tuple(part for part in self._path.split("/") if part)

    @property
    def parent(self) -> RemoteFile:
        """The folder that contains it."""
        if self._inner:
            return self._with(posixpath.dirname(self._inner.rstrip("/")))
        return RemoteFile(posixpath.dirname(self._path.rstrip("/")), self._access)

    def with_name(self, name: str) -> RemoteFile:
        """Return the path with another name."""
        return self.parent / name

    def with_suffix(self, suffix: str) -> RemoteFile:
        """Return the path with another suffix."""
        return self.with_name(self.stem + suffix)

    def joinpath(self, *others: str | os.PathLike[str]) -> RemoteFile:
        """Return the path of a file in the folder."""
        found = self
        for other in others:
            found = found / other
        return found

    def __truediv__(self, other: str | os.PathLike[str]) -> RemoteFile:
        if not isinstance(other, (str, os.PathLike)):
            return NotImplemented
        below = os.fspath(other).strip("/")
        if self._is_unpacked:
            return self._with(posixpath.join(self._inner, below))
        path = path_of(self._url)
        return RemoteFile(f"{path.rstrip('/')}/{below}{self._url[len(path) :]}", self._access)

    @property
    def _path(self) -> str:
        """The text without query and fragment of the URL."""
        return str(self) if self._is_unpacked else path_of(self._url)

    # -- a text --------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        if not self._is_unpacked:
            return self._url
        if self._inner:
            return f"{self._url}/{self._inner}"
        path = path_of(self._url)
        return f"{self._url}/{plain_name(path)}" if _COMPRESSED.search(path) else self._url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({redact(str(self))!r})"

    def __format__(self, spec: str) -> str:
        """Return the URL; for an archive the extracted folder, since formatted strings are used as paths of files."""
        return format(os.fspath(self) if self._is_archive else str(self), spec)

    @property
    def _is_archive(self) -> bool:
        return self._is_unpacked and not _COMPRESSED.search(path_of(self._url))

    def __add__(self, text: str) -> RemoteFile | str:
        """Return the path with `text` appended: below an archive, the path of a file."""
        if not isinstance(text, str):
            return NotImplemented
        if not self._is_unpacked:
            return RemoteFile(self._url + text, self._access)
        if self._inner or text.startswith("/"):
            return self._with((self._inner + text).lstrip("/"))
        return str(self) + text

    def __radd__(self, text: str) -> str:
        return text + str(self) if isinstance(text, str) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RemoteFile):
            return (self._is_unpacked, str(self)) == (other._is_unpacked, str(other))
        return str(self) == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __lt__(self, other: RemoteFile | str) -> bool:
        return str(self) < str(other) if isinstance(other, (str, RemoteFile)) else NotImplemented

    def __gt__(self, other: RemoteFile | str) -> bool:
        return str(self) > str(other) if isinstance(other, (str, RemoteFile)) else NotImplemented

    def __contains__(self, text: str) -> bool:
        return text in str(self)

    def __len__(self) -> int:
        return len(str(self))

    def __getitem__(self, place: int | slice) -> str:
        return str(self)[place]

    def replace(self, old: str, new: str, count: int = -1, /) -> RemoteFile | str:
        """Return the text with replacements, as a path if it is still on the same server or in the same archive."""
        changed = str(self).replace(old, new, count)
        if self._is_unpacked:
            below = f"{self._url}/"
            return self._with(changed[len(below) :]) if self._inner and changed.startswith(below) else changed
        server = re.match(r"[^:]+://[^/]+/", self._url)
        return RemoteFile(changed, self._access) if server and changed.startswith(server[0]) else changed

    def __getattr__(self, name: str) -> Any:
        """Return other methods of strings, such as `split`, `endswith` and `lower`."""
        if name in _OF_TEXTS:
            return partial(self._as_text, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _as_text(self, method: str, *args: Any, **kwargs: Any) -> Any:
        text = str(self)
        found = getattr(text, method)(*args, **kwargs)
        return self if type(found) is str and found == text else found

    def __reduce__(self) -> tuple[Any, ...]:
        return _remote, (self._url, self._access, self._is_unpacked, self._inner)


def path_of(url: str) -> str:
    """Return a URL without its query and fragment; one of the Hub has neither, but files with any name."""
    return url if url.startswith("hf://") else re.split(r"[?#]", url, maxsplit=1)[0]


_OF_TEXTS = frozenset({
    "capitalize", "casefold", "count", "encode", "endswith", "find", "index", "lower", "lstrip", "partition", "removeprefix",
    "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip",
    "swapcase", "title", "translate", "upper", "zfill", "isdigit", "isalpha", "isalnum", "islower", "isupper",
})  # fmt: skip


def _remote(url: str, access: Access, is_unpacked: bool, inner: str) -> RemoteFile:
    return RemoteFile(url, access, is_unpacked=is_unpacked, inner=inner)
