"""`Listing`: contents of folders, stores and archives, looked up or known beforehand; files of a dataset."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

from datasets_core import files
from datasets_core.errors import DataFilesNotFoundError, DatasetsCoreError, DownloadError, FileFormatError, redact, redact_text
from datasets_core.files import FileEntry

# Files of a dataset for other tools: URL or path, content, and splits of each.


TABLES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonlines",
    ".ndjson": "application/jsonlines",
    ".json": "application/json",
    ".parquet": "application/x-parquet",
    ".geoparquet": "application/x-parquet",
    ".gpq": "application/x-parquet",
    ".arrow": "application/vnd.apache.arrow.file",
}
"""The media types of files whose columns are those of the rows, by extension."""

_PACKED = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
    "br": "application/x-brotli",
    "compress": "application/x-compress",
}


class DatasetFile(NamedTuple):
    """One file.

    Attributes:
        name: its path in the dataset, with `/`; unique among the files of the dataset.
        url: its URL; None for a file next to the description, at `name`.
        encoding: its media type.
        size: size in bytes; None if unknown.
        sha256: sha256 in hex; None if unknown.
        splits: the splits of its rows.
    """

    name: str
    url: str | None = None
    encoding: str = "application/octet-stream"
    size: int | None = None
    sha256: str | None = None
    splits: tuple[str, ...] = ()


class DatasetFiles(NamedTuple):
    """The files of a dataset.

    Attributes:
        tables: those with its rows, as columns.
        others: their sources.
        features: the columns of `tables`; None if they are those of the info.
        page: its web page.
        owner: its publisher.
        created: ISO time; "" if unknown.
    """

    tables: tuple[DatasetFile, ...] = ()
    others: tuple[DatasetFile, ...] = ()
    features: Any = None
    page: str = ""
    owner: str = ""
    created: str = ""


class FilesOrigin(Protocol):
    """Interface for the files of a dataset, looked up on use."""

    def dataset_files(self, folder: str | None = None) -> DatasetFiles:
        """Return the files, local ones by their paths below `folder`, or below the innermost folder that holds them all."""
        ...


def media_type(name: str) -> str:
    """Return the media type of a file by its name; for a compressed file, that of the compression.

    >>> media_type("a/b.csv"), media_type("b.tar.gz"), media_type("b.mp3"), media_type("b")
    ('text/csv', 'application/gzip', 'audio/mpeg', 'application/octet-stream')
    """
    lowered = name.lower().rpartition("/")[2]
    known = next((kind for extension, kind in TABLES.items() if lowered.endswith(extension)), None)
    if known is not None:
        return known
    import mimetypes  # 0.4 ms that tables do without

    kind, packing = mimetypes.guess_type(lowered, strict=False)
    return _PACKED.get(packing or "", kind or "application/octet-stream")


# The extensions of files, and which of them are those of the formats of this library.


# What the modules of the formats say in EXTENSIONS: to ask each of them would import them all.
_EXTENSIONS = {
    "parquet": ".parquet .geoparquet .gpq .pq",
    "arrow": ".arrow .feather",
    "json": ".json .jsonl .ndjson .jsonlines .geojson",
    "csv": ".csv .tsv .tab",
    "imagefolder": (
        ".blp .bmp .dib .bufr .cur .pcx .dcx .dds .ps .eps .fit .fits .fli .flc .ftc .ftu .gbr .gif .grib "
        ".png .apng .jp2 .j2k .jpc .jpf .jpx .j2c .icns .ico .im .iim .tif .tiff .jfif .jpe .jpg .jpeg .msp "
        ".pcd .pxr .pbm .pgm .ppm .pnm .psd .bw .rgb .rgba .sgi .ras .tga .icb .vda .vst .webp .wmf .emf .xbm "
        ".xpm .avif .heic .heif"
    ),
    "audiofolder": (
        ".mpg .aiff .au .avr .caf .flac .htk .svx .mat4 .mat5 .mpc2k .ogg .paf .pvf .raw .rf64 .sd2 .sds "
        ".ircam .voc .w64 .wav .nist .wavex .wve .xi .mp3 .opus .3gp .3g2 .asf .flv .m4v .webm .f4v .wmv .wma "
        ".ogm .mxf .nut .m4a .aac"
    ),
    "videofolder": ".mpeg .avi .mp4 .mov .mkv",
    "pdffolder": ".pdf",
    "webdataset": ".tar",
    "tfrecord": ".tfrecord .tfrecords .tfrec",
    "hdf5": ".hdf5 .h5",
    "xml": ".xml",
    "conll": ".conll .conllu",
    "fasta": ".fa .fasta .fna .ffn .faa .frn .afa",
    "fastq": ".fq .fastq",
    "meshfolder": ".glb .gltf .ply .stl",
    "niftifolder": ".nii .nii.gz",
    "orc": ".orc",
    "avro": ".avro",
    "numpy": ".npy .npz",
    "excel": ".xlsx .xlsm .xlsb .xls .ods",
    "sqlite": ".sqlite .sqlite3 .db .db3",
    "text": ".txt",
}
FORMATS: dict[str, str] = {}
for _name, _listed in _EXTENSIONS.items():
    FORMATS.update(dict.fromkeys(_listed.split(), _name))
COMPRESSION = frozenset((".gz", ".bz2", ".xz", ".lz4", ".zst", ".zip", ".tar", ".tgz", ".rar", ".7z"))
RECORD_INDEX = ".idx"
"""Suffix of the index file beside a file of records, with the begin of each record."""

_SHARD = r"-[0-9]{5,}-of-[0-9]{5,}$"


def extensions(path: str) -> Iterator[str]:
    """Yield the extensions of a path or URL, the last first, in lower case, without a shard number after them.

    >>> list(extensions("https://x.org/a.CSV.gz?download=1"))
    ['.gz', '.csv']
    >>> list(extensions("mnist-train.tfrecord-00000-of-00010"))
    ['.tfrecord']
    """
    for part in reversed(_file_name(path).lower().split(".")[1:]):
        yield f".{re.sub(_SHARD, '', part)}"


def is_bare_shard(path: str) -> bool:
    """Return True if the name of a file ends with a shard number, without extension: a naming of record files.

    >>> [is_bare_shard(name) for name in ("train-00000-of-01024", "v1.0-train-00000-of-01024.gz", "a.txt-00000-of-00002")]
    [True, True, False]
    """
    name = _file_name(path).lower()
    stem, _, last = name.rpartition(".")
    if stem and f".{last}" in COMPRESSION:
        name = stem
    head = re.sub(_SHARD, "", name)
    return head != name and ("." not in head or not head.rpartition(".")[2].replace("_", "").isalpha())


def _file_name(path: str) -> str:
    head = path.partition("::")[0]
    if "://" in head and not head.startswith("hf://"):  # hf URLs have no queries: these are parts of names
        head = head.partition("?")[0].partition("#")[0]
    return head.replace("\\", "/").rpartition("/")[2].lstrip(".")


class Listing(Protocol):
    """Known content of a store, by URLs at pinned versions, which saves a request for each file."""

    def holds(self, url: str) -> bool:
        """Return True if this listing contains a URL, or the archive after its last `::`."""
        ...

    def pinned(self, url: str) -> str:
        """Return the URL in its standard form, at the listed version."""
        ...

    def is_whole(self, url: str) -> bool:
        """Return True if the listing is complete at a pinned URL, so that a file that is not listed does not exist."""
        ...

    def entry(self, url: str) -> FileEntry | None:
        """Return one file by its pinned URL; None if there is none."""
        ...

    def list_folder(self, url: str) -> list[FileEntry]:
        """Return the files below a folder by its pinned URL, by path; empty without such a folder."""
        ...


def list_folder(
    folder: str, *, max_depth: int | None = None, hidden: bool = False, storage_options: dict[str, Any] | None = None
) -> list[FileEntry]:
    """Return the files of `folder`, by path.

    Args:
        folder: local folder or URL.
        max_depth: number of levels of folders; 1 is the folder alone, None means all.
        hidden: True to include hidden folders.
        storage_options: options for the file system of a URL.

    Raises:
        DataFilesNotFoundError: the folder does not exist, or may not be listed.
    """
    with looking(folder, "listed"):
        if files.is_url(folder):
            return _list_chain(folder, storage_options) if "::" in folder else _list_remote(folder, storage_options)
        return files.list_files(folder, max_depth=max_depth, skip_hidden=not hidden, every_kind=True)


def _list_remote(folder: str, storage_options: dict[str, Any] | None) -> list[FileEntry]:
    listing = files.list_files(folder, storage_options)
    names = paths_in(folder, listing)
    return [FileEntry(files.join(folder, name), found.size, found.identity) for name, found in zip(names, listing, strict=True)]


def _list_chain(folder: str, storage_options: dict[str, Any] | None) -> list[FileEntry]:
    """Return the members of `zip://folder::archive.zip` and similar URLs; they only change with the archive."""
    around = _around(folder, storage_options)
    with _archive(around.path):
        fs, inner = files.filesystem(folder, storage_options)
        root, listing = inner.strip("/"), sorted(fs.find(inner, detail=True).items())
    found = []
    for name, info in listing:
        below = name.strip("/")[len(root) :].strip("/")
        found.append(FileEntry(files.join(folder, below), int(info.get("size") or 0), around.identity))
    return found


def member(path: str, storage_options: dict[str, Any] | None) -> FileEntry | None:
    """Return the archive's entry for one of its members; None if it does not exist."""
    around = _around(path, storage_options)
    with _archive(around.path):
        found = files.entry(path, storage_options)
    return found and FileEntry(path, found.size, around.identity)


def _around(path: str, storage_options: dict[str, Any] | None) -> FileEntry:
    """Return the file after the last `::`, which contains all others."""
    outer = path.rpartition("::")[2]
    found = entry_at(outer, storage_options)
    if found is None:
        raise DataFilesNotFoundError(
            f"There is no file {redact(outer)}", advice="Check the path after '::'", file=redact(outer)
        )
    return found


def entry_at(path: str, storage_options: dict[str, Any] | None) -> FileEntry | None:
    """Return the store's entry for one file; None if there is none.

    Raises:
        DataFilesNotFoundError: the system refuses access.
        DownloadError: the store of a URL cannot be reached.
    """
    with looking(path, "looked at"):
        return files.entry(path, storage_options)


@contextlib.contextmanager
def looking(path: str, how: str) -> Iterator[None]:
    """Translate errors of a file system during a look-up; each kind of store has its own.

    Raises:
        DataFilesNotFoundError: the system refuses access.
        DownloadError: the store of a URL cannot be reached.
    """
    try:
        yield
    except DatasetsCoreError:
        raise
    except OSError as error:
        reason = redact_text(error.strerror or str(error))
        raise DataFilesNotFoundError(
            f"{redact(str(error.filename or path))} cannot be {how}: {reason}",
            advice="Check the path and its permissions",
            file=redact(str(error.filename or path)),
        ) from error
    except Exception as error:
        if not files.is_url(path):
            raise
        reason = f"the store does not respond ({type(error).__name__}: {redact_text(str(error))})"
        raise DownloadError(redact(path), reason, advice="Check the address, the network and storage_options=") from error


@contextlib.contextmanager
def _archive(path: str) -> Iterator[None]:
    try:
        yield
    except DatasetsCoreError:
        raise
    except Exception as error:  # each kind of archive has its own errors, with no common root
        raise FileFormatError(redact(path), f"cannot be read as an archive ({redact_text(str(error))})") from error


def paths_in(folder: str, listing: Iterable[FileEntry]) -> list[str]:
    """Return the paths of a listing relative to its folder, with `/` between the parts."""
    if files.is_url(folder):
        root = folder.partition("::")[0].partition("://")[2].strip("/")
        inner = (found.path.partition("::")[0].partition("://")[2].strip("/") for found in listing)
        return [path[len(root) :].lstrip("/") for path in inner]
    root = files.local_path(folder)
    cut = len(root) if root.endswith(os.sep) else len(root) + 1
    return [found.path[cut:].replace(os.sep, "/") for found in listing]


# Opening of small untrusted files: only regular files of limited size, and none outside a folder.


class UnfitFileError(Exception):
    """A file that is refused; the message says why."""


def opened(path: str, *, most_bytes: int, within: str | None = None) -> BinaryIO:
    """Open an untrusted file, if reading it ends and reveals nothing of other folders.

    The opened file itself is checked: a link that is changed meanwhile is ignored.

    Args:
        path: the file; links are followed.
        most_bytes: the size limit.
        within: the folder that must contain it after resolving links; None for any.

    Raises:
        OSError: it cannot be opened.
        UnfitFileError: it is a folder, a pipe or a device, too large, or outside the folder.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # checked before opening, too: opening a device may have effects
        raise UnfitFileError("not a regular file but a pipe, a folder, a device or a socket")
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115 - the caller closes it
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UnfitFileError("not a regular file but a pipe, a folder, a device or a socket")
        if status.st_size > most_bytes:
            raise UnfitFileError(f"{status.st_size:,} bytes, more than the limit of {most_bytes:,}")
        if within is not None and not _lies_in(within, path, status):
            raise UnfitFileError(f"a link that leads outside its folder {within}")
    except BaseException:
        file.close()
        raise
    return file


def small_bytes(path: str, *, most_bytes: int, within: str | None = None) -> bytes:
    """Return the whole content of an untrusted file. Args and errors are those of `opened`."""
    with opened(path, most_bytes=most_bytes, within=within) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:  # it grew meanwhile
        raise UnfitFileError(f"more than {most_bytes:,} bytes")
    return data


def _lies_in(folder: str, path: str, status: os.stat_result) -> bool:
    """Return True if the file that was opened by `path` is in the folder."""
    place = os.path.realpath(path)
    try:
        is_same = os.path.samestat(os.lstat(place), status)
    except OSError:
        return False
    return is_same and place.startswith(os.path.join(os.path.realpath(folder), ""))
