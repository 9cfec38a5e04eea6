"""`Manifest`: content of a finished dataset: one `dataset_info.json`, written last; file names in a dataset folder.

It is the JSON of `DatasetInfo` with one more key, `"manifest"`, which other tools ignore. Records of very many shards are in a
file of their own (`ShardIndex`), which it names. A folder without a manifest does not contain a finished dataset.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import (
    ColumnLimitError,
    DamagedShardError,
    DatasetDiskError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    ManifestError,
    bounded_json,
)
from datasets_core.files import is_url, local_path
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitInfo
from datasets_core.meta.splits import ShardLengths
from datasets_core.store.pieces import RowRange

# Names on disk: the folder of a dataset, its manifest, its lock, its staging folders.


MANIFEST_NAME = "dataset_info.json"
JOURNAL_NAME = "journal.jsonl"
EXTENSIONS = {"arrow": "arrow", "parquet": "parquet"}

_SHARD = r".+-\d{5,}-of-\d{5,}(-[0-9a-f]{16})?\.(arrow|parquet)|dataset_shards(-[0-9a-f]{16})\.index"
_STAGING = r"(?P<folder>.+)\.incomplete-(?P<pid>\d+)-(?P<token>[0-9a-f]+)"
_TEMPORARY = r".+\.tmp-(?P<pid>\d+)-[0-9a-f]+"


def located(folder: str | os.PathLike[str]) -> str:
    """Return a folder as a local path, or as a URL if it is remote.

    >>> located("file:///c/reviews"), located("s3://bucket/reviews/")
    ('/c/reviews', 's3://bucket/reviews')
    """
    place = local_path(folder)
    return place.rstrip("/") if is_url(place) else place


def staging_base(target: str) -> str:
    """Return the common prefix of the lock and staging folders: the target, or a path in the cache if the target is a URL."""
    place = located(target)
    if is_url(place):
        key = hashlib.sha256(place.encode()).hexdigest()[:32]
        return os.path.join(settings().cache_dir, "remote", key)
    return os.path.realpath(place)  # staged in the file system where the folder really is


def lock_path(target: str) -> str:
    """Return the lock file that a build of `target` holds.

    >>> lock_path("/c/reviews")
    '/c/reviews.lock'
    """
    return f"{staging_base(target)}.lock"


def staging_path(target: str) -> str:
    """Return a fresh name for a staging folder of `target`, in the same file system, owned by this process."""
    return f"{staging_base(target)}.incomplete-{os.getpid()}-{os.urandom(4).hex()}"


def temporary_path(path: str) -> str:
    """Return a new name next to `path` for a file that becomes `path` by a rename."""
    return f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"


class StagingName(NamedTuple):
    """Owner of a staging folder, parsed from its name."""

    path: str
    target: str
    pid: int


def parse_staging(path: str) -> StagingName | None:
    """Return the parsed name of a staging folder; None for other names.

    >>> parse_staging("/c/reviews.incomplete-12-ab")
    StagingName(path='/c/reviews.incomplete-12-ab', target='/c/reviews', pid=12)
    """
    found = re.fullmatch(_STAGING, path)
    return StagingName(path, found["folder"], int(found["pid"])) if found else None


def is_temporary(path: str) -> bool:
    """Return True if a path names a temporary file.

    >>> is_temporary("a.arrow.tmp-12-ab"), is_temporary("a.arrow")
    (True, False)
    """
    return re.fullmatch(_TEMPORARY, os.path.basename(path)) is not None


def is_shard_name(name: str) -> bool:
    """Return True if the name of a file in a finished dataset is that of a shard, or of an index of shards.

    >>> is_shard_name("reviews-train-00000-of-00002.arrow"), is_shard_name("cache-ab12.arrow")
    (True, False)
    """
    return re.fullmatch(_SHARD, name) is not None


def is_named_by_content(name: str) -> bool:
    """Return True if a file name is that of a shard that belongs to a dataset only if a manifest lists it.

    >>> is_named_by_content("reviews-train-00000-of-00002-0123456789abcdef.arrow")
    True
    """
    found = re.fullmatch(_SHARD, name)
    return found is not None and (found[1] or found[3]) is not None


def staging_folders(target: str) -> list[StagingName]:
    """Return every staging folder of `target`, in the order of their names."""
    base = staging_base(target)
    parent = os.path.dirname(base)
    if not os.path.isdir(parent):
        return []
    with os.scandir(parent) as entries:
        found = [parse_staging(os.path.join(parent, entry.name)) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted((name for name in found if name and name.target == base), key=lambda name: name.path)


MAX_BELIEVED = 1 << 20
"""Number of batches up to which the record of a foreign folder is not compared with its files at once."""

FORM = 1  # of the "manifest" section; a reader refuses a higher one
_FORM_WITH_INDEX = 2
MAX_IN_JSON = 4096
"""Number of shards up to which their records are in the JSON; those of more are in an index (`ShardIndex`)."""


class ShardRecord(NamedTuple):
    """One shard.

    Attributes:
        name: file name in the folder.
        split: the split that its rows belong to.
        rows: number of rows.
        size: bytes of the file.
        num_bytes: bytes of the rows in Arrow's memory layout.
        sha256: of the file, in hex; "" if it was left out.
        batches: row counts of its record batches (row groups in Parquet) as runs `((rows, number of consecutive batches), …)`.
        crc32c: size and checksum of each part of an Arrow file, as text (`PartSums`); "" if they were left out.
    """

    name: str
    split: str
    rows: int
    size: int
    num_bytes: int
    sha256: str
    batches: tuple[tuple[int, int], ...]
    crc32c: str = ""


class SourceRecord(NamedTuple):
    """One file that the dataset was built from.

    Attributes:
        path: path or URL.
        size: bytes, -1 where unknown.
        identity: a text that changes with the content (mtime, ETag, …).
        sha256: in hex, None if it was not computed.
    """

    path: str
    size: int
    identity: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """Content of a finished dataset.

    Attributes:
        info: the description; its splits have `shard_lengths` and `shard_names`.
        shards: every shard, split after split, in reading order: a tuple, or a `ShardIndex`.
        file_format: "arrow" or "parquet".
        verification: the verification mode of the build.
        sources: the source files of the build.
        created: when, as ISO time in UTC; "" where unknown.
        identity: identity of builder and inputs; "" if unknown.
        write_order: the order of the rows of a split: "source" (as generated), "hash" (by the hash of their keys) or "key".
        disable_shuffling: True if the user turned off the order by hash.
        max_rows: maximum number of rows taken from each split; None: all.
        schema: the hash of the Arrow schema of the shards; "" if unknown.
        denied: descriptions of accesses denied to a sandboxed script: with them it might yield other rows.
        confined: the folder or repository of a script that ran in the sandbox; "" for other builds. In the cache such a build
            is not used for any other place.
        commit: commit of its repository on the Hub; "" without one.
        origin: the folder of a local dataset, of its script or data files: the build is not used for another folder. "" if
            unknown.
        built_with: options of the build that decide which rows are in which shard and batch; empty if unknown.
        blocks: row ranges of each split in its source files, as text (`store/pieces.py`); for splits whose rows have the order
            of their source files.
        files: the names of these files, as text, without secrets; for splits that have all rows of their files.
    """

    info: DatasetInfo
    shards: Sequence[ShardRecord] = ()
    file_format: str = "arrow"
    verification: str = "basic_checks"
    sources: tuple[SourceRecord, ...] = ()
    created: str = ""
    identity: str = ""
    write_order: str = "source"
    disable_shuffling: bool = False
    max_rows: int | None = None
    schema: str = ""
    denied: tuple[str, ...] = ()
    confined: str = ""
    commit: str = ""
    origin: str = ""
    built_with: Mapping[str, int] = field(default_factory=dict)
    blocks: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def index(self) -> Any:
        """The shards as a `ShardIndex`; None where they are a tuple."""
        return None if isinstance(self.shards, tuple | list) else self.shards

    def split_lengths(self) -> Mapping[str, Sequence[int]]:
        """Return the number of rows of each shard, by split. The splits are in the order of their shards."""
        if (index := self.index) is not None:
            return index.lengths()  # type: ignore[no-any-return]
        lengths: dict[str, list[int]] = {}
        for shard in self.shards:
            lengths.setdefault(shard.split, []).append(shard.rows)
        return lengths

    def digests(self) -> list[tuple[str, str]]:
        """Return the split and the hash of each shard, which identify the rows; for very many shards, one hash for all."""
        if len(self.shards) <= MAX_IN_JSON:
            return [(shard.split, shard.sha256) for shard in self.shards]
        from datasets_core.store.shard_records import content_of

        return [("", content_of(self.shards))]

    def file_names(self) -> set[str]:
        """Return the names of the files that belong to the dataset, besides `dataset_info.json`."""
        names = {shard.name for shard in self.shards}
        return names if self.index is None else {*names, os.path.basename(self.index.path)}

    def split_shards(self) -> Mapping[str, Sequence[ShardRecord]]:
        """Return the shards of each split, in reading order."""
        if (index := self.index) is not None:
            return index.by_split()  # type: ignore[no-any-return]
        shards: dict[str, list[ShardRecord]] = {}
        for shard in self.shards:
            shards.setdefault(shard.split, []).append(shard)
        return shards

    def own_rows(self, folder: str, ranges: Sequence[RowRange], **how: Any) -> Any:
        """Return the rows of ranges as a `RowTable` if only this kind of manifest can read the shards; None for all others.

        Args:
            folder: the dataset.
            ranges: the rows.
            how: see `open_rows`.
        """
        return None


def runs(counts: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return row counts, run-length coded.

    >>> runs([1000, 1000, 7])
    ((1000, 2), (7, 1))
    """
    coded: list[tuple[int, int]] = []
    for rows in counts:
        if coded and coded[-1][0] == rows:
            coded[-1] = (rows, coded[-1][1] + 1)
        else:
            coded.append((rows, 1))
    return tuple(coded)


def manifest_files(manifest: Manifest) -> dict[str, bytes]:
    """Return the names and contents of the files of a manifest, `dataset_info.json` last; an index of shards that exists
    already is not among them.
    """
    if len(manifest.shards) <= MAX_IN_JSON and manifest.index is None:
        return {MANIFEST_NAME: manifest_bytes(manifest)}
    from datasets_core.store.shard_records import ShardIndex  # which few datasets have

    if (index := manifest.index) is not None:
        return {MANIFEST_NAME: manifest_bytes(manifest, index.entry())}
    shards = [shard for each in manifest.split_shards().values() for shard in each]
    entry, content = ShardIndex.encoded(shards, manifest.info.dataset_name or "dataset", manifest.file_format)
    return {entry["file"]: content, MANIFEST_NAME: manifest_bytes(manifest, entry)}


def manifest_bytes(manifest: Manifest, index: Mapping[str, Any] | None = None) -> bytes:
    """Return the content of `dataset_info.json`.

    Args:
        manifest: what the dataset contains.
        index: names the file that has the records of the shards; None: they are in the JSON.
    """
    info = manifest.info.to_dict()
    if index is not None and info.get("splits"):
        info["splits"] = {
            name: {key: value for key, value in form.items() if key != "shard_lengths"} for name, form in info["splits"].items()
        }
    section = {
        "form": FORM if index is None else _FORM_WITH_INDEX,
        "file_format": manifest.file_format,
        "verification": manifest.verification,
        "created": manifest.created,
        "identity": manifest.identity,
        "write_order": manifest.write_order,
        **({"disable_shuffling": True} if manifest.disable_shuffling else {}),
        **({} if manifest.max_rows is None else {"max_rows": manifest.max_rows}),
        "schema": manifest.schema,
        **({"denied": list(manifest.denied)} if manifest.denied else {}),
        **{name: found for name in ("confined", "commit", "origin", "built_with") if (found := getattr(manifest, name))},
        **({"blocks": dict(manifest.blocks)} if manifest.blocks else {}),
        **({"files": dict(manifest.files)} if manifest.files else {}),
        "shards": index
        or [
            {
                "name": shard.name,
                "split": shard.split,
                "rows": shard.rows,
                "size": shard.size,
                "num_bytes": shard.num_bytes,
                "sha256": shard.sha256,
                "batches": shard.batches,
                **({"crc32c": shard.crc32c} if shard.crc32c else {}),
            }
            for shard in manifest.shards
        ],
        "sources": [
            {"path": source.path, "size": source.size, "identity": source.identity, "sha256": source.sha256}
            for source in manifest.sources
        ],
    }
    return json.dumps({**info, "manifest": section}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def read_manifest(folder: str, storage_options: dict[str, Any] | None = None) -> Manifest | None:
    """Return the manifest of a finished dataset, local or remote; None if `folder` has no manifest, that is, no dataset was
    built there.

    Raises:
        ManifestError: it exists and is invalid.
        DatasetDiskError: the system cannot read it, for example because the path is too long or the links form a circle.
    """
    path = files.join(located(folder), MANIFEST_NAME)
    try:
        if not is_url(path) and stat.S_ISFIFO(mode := os.stat(path).st_mode) | stat.S_ISCHR(mode):
            raise ManifestError(path, "is not a regular file")
        with files.open_binary(path, storage_options) as handle:
            data = handle.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise ManifestError(path, "is a folder", advice="Remove that folder") from error
    except OSError as error:
        if isinstance(error, DatasetsCoreError) or error.errno is None or is_url(path):
            raise
        raise DatasetDiskError.of(error, path, action="read") from error
    return parse_manifest(data, path=path, storage_options=storage_options)


def parse_manifest(data: bytes, *, path: str, storage_options: dict[str, Any] | None = None) -> Manifest | None:
    """Return the manifest in the bytes of a `dataset_info.json`; None if they describe a dataset without shards of this
    library. An index of shards is opened next to `path`.

    Raises:
        ManifestError: the bytes are invalid.
    """
    advice = "Build the dataset again with download_mode='force_redownload', or delete that file"
    try:
        text = data.decode("utf-8", "surrogatepass")
        content = json.loads(text if len(text) < 1 << 20 else bounded_json(text, 1 << 26))
    except (ValueError, RecursionError) as error:
        raise ManifestError(path, f"not valid JSON ({error})", advice=advice) from error
    if not isinstance(content, dict):
        raise ManifestError(path, f"expected a JSON object, found a {type(content).__name__}", advice=advice)
    section = content.pop("manifest", None)
    if section is None:
        return None
    try:
        form = int(section["form"])
        if form > _FORM_WITH_INDEX:
            raise ManifestError(path, f"has format version {form}, written by a newer version", advice="Upgrade datasets_core")
        file_format = _known_format(section["file_format"])
        manifest = Manifest(
            info=DatasetInfo.from_dict(content),
            shards=_shards(section["shards"], path, file_format, storage_options),
            file_format=file_format,
            verification=str(section["verification"]),
            sources=tuple(_source(source) for source in section["sources"]),
            created=str(section["created"]),
            identity=str(section.get("identity", "")),
            write_order=str(section.get("write_order", "source")),
            disable_shuffling=bool(section.get("disable_shuffling", False)),
            max_rows=None if section.get("max_rows") is None else int(section["max_rows"]),
            schema=str(section.get("schema", "")),
            denied=tuple(map(str, section.get("denied", ()))),
            confined=str(section.get("confined", "")),
            commit=str(section.get("commit", "")),
            origin=str(section.get("origin", "")),
            built_with={str(name): int(value) for name, value in section.get("built_with", {}).items()},
            blocks={str(split): str(text) for split, text in section.get("blocks", {}).items()},
            files={str(split): str(text) for split, text in section.get("files", {}).items()},
        )
        _name_shards(manifest)
        return manifest
    except KeyError as error:
        raise ManifestError(path, f"the key {error} is missing", advice=advice) from error
    except ManifestError:
        raise
    except ColumnLimitError as error:
        raise ColumnLimitError(path, error.value, error.limit) from error
    except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
        raise ManifestError(path, str(error), advice=advice) from error


def _shards(found: Any, path: str, file_format: str, storage_options: dict[str, Any] | None) -> Sequence[ShardRecord]:
    if not isinstance(found, Mapping):
        return tuple(_shard(shard) for shard in found)
    from datasets_core.store.shard_records import ShardIndex

    return ShardIndex.opened(path[: -len(MANIFEST_NAME) - 1], found, file_format, storage_options)


def _name_shards(manifest: Manifest) -> None:
    """Set the names of the shards of each split, and check that splits and shards agree."""
    splits: Mapping[str, SplitInfo] = manifest.info.splits or {}
    lengths = manifest.split_lengths()
    if bare := sorted(set(splits) - set(lengths)):
        raise ValueError(f"the splits {bare} have no shards")
    if unknown := sorted(set(lengths) - set(splits)):
        raise ValueError(f"there are shards of undescribed splits {unknown}")
    for split, found in lengths.items():
        told, rows = splits[split].num_examples, found.total if isinstance(found, ShardLengths) else sum(found)
        if told is not None and told != rows:
            raise ValueError(f"split {split!r} is recorded with {told} rows, but its shards have {rows}")
    if (index := manifest.index) is not None:
        for split, names in index.names().items():
            splits[split].shard_names, splits[split].shard_lengths = names, list(lengths[split])
    else:
        for split, shards in manifest.split_shards().items():
            splits[split].shard_names = [shard.name for shard in shards]


def _known_format(name: str) -> str:
    if name not in EXTENSIONS:
        raise ValueError(f"unknown file format {name!r}")
    return name


def _shard(found: Mapping[str, Any]) -> ShardRecord:
    name, split, rows, size = str(found["name"]), str(found["split"]), int(found["rows"]), int(found["size"])
    if name in {"", ".", ".."} or not NO_NAME.isdisjoint(name):
        raise ValueError(f"{name!r} is not a valid shard name")  # a manifest may name only files of its own folder
    batches: list[tuple[int, int]] = []
    num_batches = batched = 0
    for batch_rows, count in found["batches"]:
        batch = int(batch_rows), int(count)
        if batch[0] < 0 or batch[1] < 1:
            raise ValueError(f"shard {name!r} has a batch with a negative number of rows")
        num_batches += batch[1]
        batched += batch[0] * batch[1]
        batches.append(batch)
    if num_batches > max(size, 0) or not 0 <= rows < 1 << 63:
        raise ValueError(f"shard {name!r} has more rows or batches than a file of {size} bytes can hold")
    if batched != rows:
        raise ValueError(f"shard {name!r} has {rows} rows, but its batches have {batched}")
    return ShardRecord(
        name, split, rows, size, int(found["num_bytes"]), str(found["sha256"]), tuple(batches), str(found.get("crc32c", ""))
    )


NO_NAME = frozenset("/\\\0").union(map(chr, range(0xD800, 0xDC80)), map(chr, range(0xDD00, 0xE000)))  # no system encodes these


def _source(found: Mapping[str, Any]) -> SourceRecord:
    sha256 = found["sha256"]
    return SourceRecord(str(found["path"]), int(found["size"]), str(found["identity"]), None if sha256 is None else str(sha256))


# First checks of a shard file: its magic bytes and its size.


ARROW_MAGIC = b"ARROW1"
PARQUET_MAGIC = b"PAR1"
_CONTINUATION = b"\xff\xff\xff\xff"


def kind_of(path: str, storage_options: dict[str, Any] | None = None) -> str:
    """Return the kind of an Arrow or Parquet file, from its first and last bytes.

    Raises:
        DamagedShardError: it is neither, or truncated.
        FileNotFoundDatasetsError: the file does not exist.
    """
    if not is_url(path):
        refuse_irregular(path)
    try:
        with files.open_binary(path, storage_options) as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(0)
            head = handle.read(8)
            handle.seek(max(size - 10, 0))
            tail = handle.read(10)
    except FileNotFoundError as error:
        raise FileNotFoundDatasetsError(f"{path} does not exist", advice="Check the path", file=path) from error
    advice = "Write that file again, or leave it out"
    if head[:6] == ARROW_MAGIC:
        check_tail(path, "arrow", size, tail, advice=advice)
        return "arrow"
    if head[:4] == PARQUET_MAGIC:
        check_tail(path, "parquet", size, tail, advice=advice)
        return "parquet"
    if size == 0:
        raise DamagedShardError(path, "the file is empty", advice=advice)
    if head[:4] != _CONTINUATION and not 0 < int.from_bytes(head[:4], "little") < size:
        raise DamagedShardError(path, f"not an Arrow or Parquet file (it begins with {head!r})", advice=advice)
    if tail[-4:] != b"\0\0\0\0":
        raise DamagedShardError(path, "an Arrow stream without an end marker: the file is truncated", advice=advice)
    return "stream"


def check_tail(path: str, kind: str, size: int, tail: bytes, *, advice: str | None = None) -> None:
    """Check the end of an Arrow or Parquet file: the magic bytes, and a footer that fits into the file.

    Raises:
        DamagedShardError: the file is truncated, or is not of that kind.
    """
    magic = ARROW_MAGIC if kind == "arrow" else PARQUET_MAGIC
    if not tail.endswith(magic):
        raise DamagedShardError(
            path, f"the marker {magic.decode()} at the end is missing: the file is truncated or overwritten", advice=advice
        )
    footer = int.from_bytes(tail[-len(magic) - 4 : -len(magic)], "little", signed=True)
    if not 0 < footer <= size - 2 * len(magic) - 4:
        raise DamagedShardError(path, f"its footer of {footer} bytes does not fit into its {size} bytes", advice=advice)


# Marks of files that were checked: an empty file in the cache for each form of a file.

_OLD_MARK_SECONDS = 90 * 86400


@cache
def boot() -> str:
    """Return the identity of this run of the machine; empty where the system has none."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
    return ""


def sound_mark(path: str, *how: str) -> str:
    """Return the path of the mark which records that a local file, in its current form, was fully checked.

    Args:
        path: the file.
        how: how its batches were found, and what they were compared with; a file may hold other batches for another reader.
    """
    found = os.stat(local_path(path))
    parts = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, *how)
    return os.path.join(settings().cache_dir, "sound", hashlib.sha256(repr(parts).encode()).hexdigest()[:32])


def make_mark(mark: str) -> None:
    """Make the mark of a file; if the cache cannot be written, there is no mark. Now and then, old marks are removed."""
    with contextlib.suppress(OSError):
        os.makedirs(folder := os.path.dirname(mark), exist_ok=True)
        with open(mark, "wb"):
            pass
        if not os.urandom(1)[0]:
            with os.scandir(folder) as entries:
                oldest = time.time() - _OLD_MARK_SECONDS
                for entry in [entry.path for entry in entries if entry.stat().st_mtime < oldest]:
                    os.unlink(entry)


def refuse_irregular(path: str) -> None:
    """Refuse a pipe or device in place of a local file: reading it might never end.

    Raises:
        DamagedShardError: the path is a pipe or a device.
    """
    try:
        if stat.S_ISREG(os.stat(local_path(path)).st_mode):
            return
    except (FileNotFoundError, NotADirectoryError):
        return
    raise DamagedShardError(path, "it is not a regular file", advice="Check the path")


def check_ends(path: str, kind: str, size: int) -> None:
    """Check a local file for its size, its first and its last bytes; its rows are not read.

    Raises:
        DamagedShardError: it is truncated or altered.
        FileNotFoundError: the file no longer exists.
    """
    refuse_irregular(path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(descriptor).st_size
        magic = PARQUET_MAGIC if kind == "parquet" else ARROW_MAGIC
        head = os.read(descriptor, len(magic))
        os.lseek(descriptor, max(found - 10, 0), os.SEEK_SET)
        tail = os.read(descriptor, 10)
    finally:
        os.close(descriptor)
    check_size(path, size, found)
    if head != magic:
        raise DamagedShardError(path, f"it begins with {head!r}, expected {magic!r}: the file was overwritten")
    check_tail(path, kind, found, tail)


def check_size(path: str, size: int, found: int) -> None:
    """Compare the size of a shard with its record.

    Raises:
        DamagedShardError: the sizes differ.
    """
    if found != size:
        raise DamagedShardError(path, f"the shard has {found:,} bytes, expected {size:,}")
