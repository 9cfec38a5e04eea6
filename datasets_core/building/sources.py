"""What a dataset was built from: its identity, the record of its files, and whether one has changed since."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from datasets_core.building.hooks import Builder
from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.fetch.checksum import digest_of
from datasets_core.fetch.hub_url import without_commit
from datasets_core.files import is_http, is_url
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.redact import redact
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import Manifest, SourceRecord

_MOST_FILES = 10_000  # looked at among the arguments of a script


def dataset_identity(builder: Builder) -> str:
    """What tells a dataset from others: name, config with the identity of its data files, version, code.

    In the cache the folder's name says the same; in a folder that the user chose, only the manifest does.
    """
    return "/".join((builder.dataset_name, builder.config_id, str(builder.version), builder.hash))


def identify(manager: Any, data_files: Any) -> None:
    """Tell a download manager of which versions the data files behind http are: those that the dataset is known by."""
    if isinstance(data_files, DataFilesDict) and hasattr(manager, "identities"):
        archives = ((path.rpartition("::")[2], identity) for path, _, identity in data_files.identities)
        manager.identities = {url: identity for url, identity in archives if identity and is_http(url)}


def sources_of(
    data_files: Any,
    gen_kwargs: Iterable[Mapping[str, Any]],
    downloads: Mapping[str, Any],
    *,
    hashed: bool,
    local_paths: Iterable[str] = (),
    caches: Iterable[str] = (),
    belongs: Callable[[str], bool] = lambda path: True,
) -> tuple[SourceRecord, ...]:
    """The record of the sources: data files, downloads, and local files among the arguments of the splits.

    Args:
        data_files: those of the config.
        gen_kwargs: the arguments.
        downloads: what the download manager recorded, by URL.
        hashed: local files are hashed too.
        local_paths: local files that the download manager was asked for, archives among them.
        caches: folders besides those of the settings whose files are known by where they came from.
        belongs: whether a file that the arguments name is looked into, since a stranger may have named it.
    """
    found: dict[str, SourceRecord] = {}
    if isinstance(data_files, DataFilesDict):
        for path, size, identity in data_files.identities:
            place = without_commit(redact(path))
            found[place] = SourceRecord(place, size, identity)
    for pinned, record in downloads.items():
        url = without_commit(pinned)
        known = found.get(url)
        size, checksum = record.get("num_bytes"), record.get("checksum")
        if known is None or size != known.size or checksum is not None:
            found[url] = SourceRecord(url, -1 if size is None else int(size), known.identity if known else "", checksum)
    limits = settings()
    folders = (limits.downloads_dir, limits.extracted_dir, limits.hub_cache_dir, *caches)
    cached = tuple(os.path.abspath(folder) + os.sep for folder in folders)
    named = {path for path, record in found.items() if record.identity}
    for path, size, modified in _local_files([*gen_kwargs, list(local_paths)], but=named):
        if not os.path.abspath(path).startswith(cached) and belongs(path):
            found[path] = SourceRecord(path, size, str(modified), found[path].sha256 if path in found else None)
    return tuple(_hashed(record) if hashed else record for record in found.values())


def _hashed(record: SourceRecord) -> SourceRecord:
    if record.sha256 is not None or is_url(record.path) or not os.path.isfile(record.path):
        return record
    return SourceRecord(record.path, record.size, record.identity, digest_of(record.path).hexdigest())


def stale_source(manifest: Manifest, data_files: Any, *, hashed: bool = False) -> str | None:
    """A local source that is not what it was when the dataset was built; None where there is none.

    Data files are not looked at: the name of the folder already holds their identity.  A source that is gone is not stale.

    Args:
        manifest: with the record of the sources.
        data_files: those of the config.
        hashed: the bytes are compared too where their sha256 is on record, those of data files among them.
    """
    named = {path for files in data_files.values() for path in files} if isinstance(data_files, DataFilesDict) else set()
    for record in manifest.sources:
        if hashed and _is_altered(record):
            return record.path
        if not record.identity or is_url(record.path) or record.path in named:
            continue
        try:
            status = os.stat(record.path)
        except (OSError, ValueError):
            continue
        if (status.st_size, str(status.st_mtime_ns)) != (record.size, record.identity):
            return record.path
    return None


def check_unchanged(sources: Iterable[SourceRecord]) -> None:
    """See that what was read is what is on record.  A source that is gone was read to its end.

    Raises:
        FileFormatError: a local file has another size or time than before it was read.
    """
    for record in sources:
        if not record.identity or is_url(record.path):
            continue
        try:
            status = os.stat(record.path)
        except (OSError, ValueError):
            continue
        if (status.st_size, str(status.st_mtime_ns)) != (record.size, record.identity):
            reason = f"changed while it was read (from {record.size} to {status.st_size} bytes, or by its time)"
            raise FileFormatError(record.path, reason, advice="Load the dataset again when nothing writes to that file")


def _is_altered(record: SourceRecord) -> bool:
    if record.sha256 is None or not os.path.isabs(record.path) or not os.path.isfile(record.path):
        return False
    return digest_of(record.path).hexdigest() != record.sha256


def identity_of(parts: Any, *, but: Container[str] = ()) -> str | None:
    """One text for `parts`, with the size and time of every local file among them; None where they have no identity.

    Args:
        parts: any values.
        but: files whose size and time are among the parts already.
    """
    try:
        return Hasher.hash([parts, [f"{path} {size} {modified}" for path, size, modified in _local_files(parts, but=but)]])
    except (DatasetsCoreError, TypeError, ValueError, AttributeError):
        return None  # without an identity nothing is taken over: the build is made from the start


def _local_files(value: Any, *, but: Container[str] = ()) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of each local file that `value` names, looked at once."""
    seen: set[str] = set()
    count = 0
    for path in _possible_paths(value):
        if path in seen or path in but:
            continue
        seen.add(path)
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue  # a text that is no path, or of no file
        if stat.S_ISREG(status.st_mode):
            yield path, status.st_size, status.st_mtime_ns
            count += 1
            if count == _MOST_FILES:
                return


def _possible_paths(value: Any) -> Iterator[str]:
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if isinstance(path, str) and os.sep in path:
            yield path
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _possible_paths(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            if type(item) is not str:
                yield from _possible_paths(item)
            elif os.sep in item:
                yield item
