"""`tfds.download`: download options, resources and manager of TFDS builders."""

from __future__ import annotations

import bz2
import dataclasses
import enum
import gzip
import io
import os
import posixpath
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from datasets_core.errors import ConfigurationError, DownloadError, ManualDownloadError
from datasets_core.fetch.checksums import DownloadConfig as LibraryConfig
from datasets_core.fetch.checksums import DownloadMode as GenerateMode
from datasets_core.fetch.checksums import VerificationMode
from datasets_core.fetch.extract import ArchiveIterable
from datasets_core.fetch.members import is_junk
from datasets_core.fetch.remote import RemoteFile
from datasets_core.scripting.compat.packages import Path

__all__ = ["DownloadConfig", "DownloadError", "DownloadManager", "ExtractMethod", "GenerateMode", "Resource"]


class ExtractMethod(enum.Enum):
    """Archive formats; this library detects them by the first bytes."""

    NO_EXTRACT = 1
    TAR = 2
    TAR_GZ = 3
    TAR_STREAM = 4
    TAR_GZ_STREAM = 5
    ZIP = 6
    GZIP = 7
    BZIP2 = 8


@dataclasses.dataclass(frozen=True)
class Resource:
    """A file to fetch or to extract.

    Args:
        url: its URL.
        extract_method: ignored except for `NO_EXTRACT`.
        path: its local path, if it exists.
        relative_download_dir: ignored.
    """

    url: str | None = None
    extract_method: ExtractMethod | None = None
    path: str | os.PathLike[str] | None = None
    relative_download_dir: str | os.PathLike[str] = ""


@dataclasses.dataclass
class DownloadConfig:
    """Options of downloads and builds, with the names of TFDS.

    Args:
        extract_dir: ignored: extracted files are next to the downloads.
        manual_dir: folder of manually downloaded files; default: `<data_dir>/downloads/manual`.
        download_mode: which results of earlier runs to reuse.
        compute_stats: ignored.
        max_examples_per_split: maximum rows of each split.
        register_checksums: True to record the checksums of downloads instead of comparing them.
        force_checksums_validation: True to require a recorded checksum of every URL.
        beam_runner, beam_options: runner and options of an Apache Beam pipeline.
        try_download_gcs: ignored.
        verify_ssl: False is refused.
        override_max_simultaneous_downloads: number of parallel downloads.
        num_shards: number of shards of each split.
        min_shard_size: ignored.
        max_shard_size: maximum size of a shard in bytes.
        ignore_duplicates: True to keep the first of several rows of a split with the same key.
        nondeterministic_order: ignored: the order is always the same.

    >>> DownloadConfig(num_shards=4).num_shards
    4
    """

    extract_dir: str | os.PathLike[str] | None = None
    manual_dir: str | os.PathLike[str] | None = None
    download_mode: Any = GenerateMode.REUSE_DATASET_IF_EXISTS
    compute_stats: Any = None
    max_examples_per_split: int | None = None
    register_checksums: bool = False
    force_checksums_validation: bool = False
    beam_runner: Any = None
    beam_options: Any = None
    try_download_gcs: bool = True
    verify_ssl: bool = True
    override_max_simultaneous_downloads: int | None = None
    num_shards: int | None = None
    min_shard_size: int | None = None
    max_shard_size: int | None = None
    ignore_duplicates: bool = False
    nondeterministic_order: bool = False

    def options(self, folder: str) -> dict[str, Any]:
        """Return the options as arguments of `download_and_prepare` of this library.

        Args:
            folder: folder of downloads.

        Raises:
            ConfigurationError: an option is not supported.
        """
        if not self.verify_ssl:
            raise ConfigurationError("verify_ssl=False is not supported", advice="Fix the certificates of the system")
        found: dict[str, Any] = {
            "download_config": LibraryConfig(cache_dir=folder, num_proc=self.override_max_simultaneous_downloads),
            "download_mode": None
            if self.download_mode is None
            else GenerateMode(getattr(self.download_mode, "value", self.download_mode)),
            "max_examples_per_split": self.max_examples_per_split,
            "num_shards": self.num_shards,
            "max_shard_size": self.max_shard_size,
        }
        if self.register_checksums:
            found["register_checksums"] = True
        if self.force_checksums_validation:
            found["force_checksums_validation"] = True
            found["verification_mode"] = VerificationMode.ALL_CHECKS
        return {name: value for name, value in found.items() if value is not None}


def iter_archive(path: Any, method: ExtractMethod | None = None) -> Any:
    """Yield the name and the open file of each member of an archive, as pairs.

    Args:
        path: path or open file of the archive.
        method: ignored: the archive format is detected.
    """
    if method is ExtractMethod.GZIP:
        return iter_gzip(path)
    if method is ExtractMethod.BZIP2:
        return iter_bzip2(path)
    source = path if hasattr(path, "read") else os.fspath(path)
    return _single(source) or Members(source)


def _single(source: Any) -> Iterator[tuple[str, Any]] | None:
    """Return the only member of a file whose name is that of a compressed file and not of an archive; None for others."""
    name = os.path.basename(source).lower() if isinstance(source, str) else ""
    if name.endswith(".gz") and not name.endswith((".tar.gz", ".tgz")):
        return iter_gzip(source)
    if name.endswith(".bz2") and not name.endswith((".tar.bz2", ".tbz2")):
        return iter_bzip2(source)
    return None


def iter_gzip(path: Any) -> Iterator[tuple[str, Any]]:
    """Yield the decompressed content of a gzip file as its only member."""
    return iter([("", gzip.open(path))])


def iter_bzip2(path: Any) -> Iterator[tuple[str, Any]]:
    """Yield the decompressed content of a bzip2 file as its only member."""
    return iter([("", bz2.open(path))])


class Members:
    """The members of an archive as pairs of name and open file, once; a member can be read as long as it is referenced.

    Args:
        source: path or open file of the archive.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self._begun: Iterator[tuple[str, Any]] | None = None

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self

    def __next__(self) -> tuple[str, Any]:
        if self._begun is None:
            self._begun = self._members()
        return next(self._begun)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._begun is not None:
            raise TypeError("An archive whose members were taken has a position, which cannot be pickled")
        return type(self), (self.source,)

    def again(self) -> Members:
        """Return the members from the beginning, unless some were taken."""
        return Members(self.source) if self._begun is None else self

    def _members(self) -> Iterator[tuple[str, Any]]:
        for name, file in ArchiveIterable(self.source, None, is_junk):
            if file.seekable():
                yield posixpath.normpath(name), file
                continue
            member: SeekableMember | None = SeekableMember(file)
            held = weakref.ref(member)
            yield posixpath.normpath(name), member
            member = None
            if (still := held()) is not None:
                still.keep()
                del still


def unread(argument: Any) -> Any:
    """Return an argument of `_generate_examples` for one run: archives start at the beginning, others are unchanged.

    >>> unread(3)
    3
    """
    return argument.again() if isinstance(argument, Members) else argument


class SeekableMember(io.BufferedIOBase):
    """A member of a compressed archive, read whole into memory on the first seek.

    >>> file = SeekableMember(io.BytesIO(b"abc"))
    >>> file.read(), file.seek(1), file.read()
    (b'abc', 1, b'bc')
    """

    def __init__(self, inner: Any) -> None:
        self._inner: Any = inner
        self._whole: Any = None

    def keep(self) -> None:
        """Read the rest of the member, which the archive moves past."""
        if not self.closed:
            self._file()

    def _file(self) -> Any:
        if self._whole is None:
            self._whole = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed with this one
            shutil.copyfileobj(self._inner, self._whole)
            self._whole.seek(0)
        return self._whole

    @property
    def name(self) -> Any:
        """Name of the member."""
        return getattr(self._inner, "name", None)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return bytes(self._file().read(-1 if size is None else size))

    read1 = read

    def readinto(self, buffer: Any, /) -> int:
        """See `io.BufferedIOBase.readinto`."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readline(self, size: int | None = -1, /) -> bytes:
        return bytes(self._file().readline(-1 if size is None else size))

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._file().seek(offset, whence)
        return self.tell()

    def tell(self) -> int:
        return 0 if self._whole is None else int(self._whole.tell())

    def close(self) -> None:
        """Close the member and its buffer."""
        for file in (self._whole, self._inner):
            if file is not None:
                file.close()
        super().close()


_IN_MEMORY = 64 << 20  # members up to this size in bytes stay in memory; longer ones go to the disk


def add_checksums_dir(checksums_dir: str | os.PathLike[str]) -> None:
    """Do nothing: checksums are in `checksums.tsv` next to the script."""


class DownloadManager:
    """Download manager of a TFDS builder: the library's own manager, with paths as `epath.Path`.

    Args:
        manager: the download manager of the library.
        manual_dir: folder of manually downloaded files.
        dataset: for messages.
        instructions: instructions for the user on how to download them.
    """

    def __init__(self, manager: Any, *, manual_dir: str | None, dataset: str, instructions: str | None) -> None:
        self._manager, self._manual_dir = manager, manual_dir
        self._dataset, self._instructions = dataset, instructions
        if hasattr(manager, "skips_junk"):
            manager.skips_junk = True  # as TFDS does

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def manual_dir(self) -> Path:
        """Folder of manually downloaded files.

        Raises:
            ManualDownloadError: the folder does not exist.
        """
        if self._manual_dir is None or not os.path.isdir(self._manual_dir):
            wanted = (
                f"Put them into {self._manual_dir}." if self._manual_dir else "Pass the folder as DownloadConfig(manual_dir=)."
            )
            raise ManualDownloadError(self._dataset, self._instructions or f"Its files must be downloaded manually. {wanted}")
        return Path(self._manual_dir)

    @property
    def download_dir(self) -> Path:
        """The folder of downloads."""
        return Path(self._manager.cache_folders[0])

    def download(self, url_or_urls: Any) -> Any:
        """Fetch files, given as a URL or any nesting of URLs; return paths in the same nesting."""
        return _paths(self._manager.download(_plain(url_or_urls)))

    def extract(self, path_or_paths: Any) -> Any:
        """Extract archives, given as a path or any nesting of paths; return paths in the same nesting."""
        return _paths(self._manager.extract(_plain(path_or_paths)))

    def download_and_extract(self, url_or_urls: Any) -> Any:
        """Fetch and extract files."""
        if isinstance(url_or_urls, Resource) and url_or_urls.extract_method is ExtractMethod.NO_EXTRACT:
            return self.download(url_or_urls)
        return _paths(self._manager.download_and_extract(_plain(url_or_urls)))

    def iter_archive(self, resource: Any) -> Any:
        """Return pairs of name and open file of the members of an archive."""
        source = _plain(resource)
        is_here = hasattr(source, "read") or (isinstance(source, str) and os.path.isfile(source))
        return iter_archive(source) if is_here else self._manager.iter_archive(source)

    def download_checksums(self, checksums_url: str) -> None:
        """Do nothing: checksums are in `checksums.tsv` next to the script."""

    def download_kaggle_data(self, competition_or_dataset: str) -> Any:
        """Raise an error, since data of Kaggle must be downloaded manually.

        Raises:
            ManualDownloadError: always.
        """
        advice = f"Download {competition_or_dataset!r} from Kaggle, and put the files into the folder of manual downloads."
        raise ManualDownloadError(self._dataset, advice)


def _plain(given: Any) -> Any:
    """Return a nesting of URLs, paths and resources as a nesting of strings."""
    if isinstance(given, Resource):
        found = given.url if given.path is None else given.path
        if found is None:
            raise ConfigurationError(f"{given!r} has neither url nor path", advice="Set one of them", value=given)
        return os.fspath(found)
    if isinstance(given, Mapping):
        return {name: _plain(inner) for name, inner in given.items()}
    if isinstance(given, (list, tuple)):
        return type(given)(_plain(inner) for inner in given)
    if isinstance(given, RemoteFile):  # a stream file would be fetched to become a string
        return given
    return os.fspath(given) if isinstance(given, os.PathLike) else given


def _paths(found: Any) -> Any:
    if isinstance(found, str):
        return Path(found)
    if isinstance(found, Mapping):
        return {name: _paths(inner) for name, inner in found.items()}
    if isinstance(found, (list, tuple)):
        return type(found)(_paths(inner) for inner in found)
    return found
