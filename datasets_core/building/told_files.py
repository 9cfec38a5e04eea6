"""The files of a dataset, as its builder and its build know them: data files with their splits, downloads, shards."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.schema import Features
from datasets_core.fetch.checksum import digest_of
from datasets_core.fetch.hub import Hub
from datasets_core.fetch.hub_cache import HubCache
from datasets_core.fetch.hub_url import HubPath, parse_hub_url, without_commit
from datasets_core.files import is_url, join
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.dataset_files import TABLES, DatasetFile, DatasetFiles, media_type
from datasets_core.redact import redact
from datasets_core.store.manifest import Manifest, read_manifest

_ARROW_FILE, _ARROW_STREAM = TABLES[".arrow"], "application/vnd.apache.arrow.stream"
_SHARDS = {"arrow": _ARROW_FILE, "parquet": TABLES[".parquet"]}
# Options that leave the rows and columns of the files as they are, or that a description can tell.
_HARMLESS = {"data_files", "data_dir", "features", "columns", "sep", "delimiter", "batch_size", "chunksize", "name", "version"}
_TYPED, _WRITTEN = ("parquet", "arrow"), ("csv", "json")
_PACKED = (".zst", ".bz2", ".xz", ".lz4", ".zip", ".7z", ".tar", ".tgz", ".tar.gz")
_SHA256_DIGITS = 64
_FIRST_LINE_BYTES = 1 << 20


class Origin(Protocol):
    """What is known of where the files of a dataset are: see `BuilderFiles`."""

    format: str
    options: Sequence[str]
    separator: str
    data_files: DataFilesDict
    base: str | None
    repo_id: str | None
    features: Features | None
    folder: str | None
    storage_options: dict[str, Any] | None


def told_files(origin: Origin, folder: str | None = None) -> DatasetFiles:
    """The files of a dataset: those that hold its rows as columns, and what those were made of.

    Local files without a known hash are hashed.

    Args:
        origin: whose.
        folder: where names of local files start, if all stand below it.
    """
    manifest = None if origin.folder is None else read_manifest(origin.folder, origin.storage_options)
    features = origin.features if manifest is None else manifest.info.features
    found = _data_files(origin, manifest, folder)
    tables: tuple[DatasetFile, ...] = ()
    others = tuple(found)
    if found and _stand_as_columns(origin, found, features):
        tables, others = others, ()
    elif manifest is not None:
        tables = tuple(_shards(manifest, origin.folder or "", folder))
        others = tuple(file for file in found if file.url is not None) or tuple(_downloads(manifest))
    on_hub = bool(origin.repo_id) and any(parse_hub_url(path) for paths in origin.data_files.values() for path in paths)
    owner, _, name = (origin.repo_id or "").rpartition("/")
    return DatasetFiles(
        tables,
        others,
        features,
        page=f"{settings().hub_endpoint}/datasets/{origin.repo_id}" if on_hub else "",
        owner=owner if on_hub and name else "",
        created="" if manifest is None else manifest.created,
    )


# -- data files --------------------------------------------------------------------------------------------------------


def _data_files(origin: Origin, manifest: Manifest | None, folder: str | None) -> list[DatasetFile]:
    splits: dict[str, list[str]] = {}
    facts: dict[str, tuple[int, str]] = {}
    for split, listed in origin.data_files.items():
        for path, size, identity in listed.identities:
            splits.setdefault(path, []).append(split)
            facts[path] = (size, identity)
    known = {source.path: source.sha256 for source in manifest.sources} if manifest else {}
    names = _names(splits, [folder, None if origin.base == os.getcwd() else origin.base])
    found = []
    for path, (size, identity) in facts.items():
        hub = parse_hub_url(path)
        local = _local(path, hub)
        sha256 = identity if hub and len(identity) == _SHA256_DIGITS else known.get(without_commit(redact(path)))
        found.append(
            DatasetFile(
                names[path],
                _address(path, hub),
                _encoding(origin, path, local),
                size if size >= 0 else os.path.getsize(local) if local else None,
                sha256 or (digest_of(local).hexdigest() if local else None),
                tuple(splits[path]),
            )
        )
    return found


def _names(paths: Iterable[str], bases: Sequence[str | None] = ()) -> dict[str, str]:
    """Short names, each its own: the path in a repository, below a folder, or the end of a URL."""
    listed = list(paths)
    local = [os.path.abspath(path) for path in listed if not is_url(path)]
    below = ""
    if local:
        folders = [os.path.abspath(base) for base in bases if base and not is_url(base)]
        holding = (base for base in folders if all(_is_below(path, base) for path in local))
        below = next(holding, None) or os.path.commonpath([os.path.dirname(path) for path in local])
    names: dict[str, str] = {}
    taken: set[str] = set()
    for path in listed:
        hub = parse_hub_url(path)
        if hub is not None:
            wanted = hub.path
        elif is_url(path):
            wanted = unquote(urlsplit(redact(path)).path).strip("/").rpartition("/")[2] or "file"
        else:
            wanted = os.path.relpath(path, below).replace(os.sep, "/")
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{number}/{wanted}"
        taken.add(name)
        names[path] = name
    return names


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _local(path: str, hub: HubPath | None) -> str | None:
    """Where a file lies on this machine; None where it does not."""
    if hub is not None:
        try:
            return HubCache(settings().hub_cache_dir).held(hub.repo_id, hub.revision or "", hub.path)
        except DatasetsCoreError:
            return None
    return path if not is_url(path) and os.path.isfile(path) else None


def _address(path: str, hub: HubPath | None) -> str | None:
    """The URL of a file as every tool reads it; None for one of this machine."""
    if hub is None:
        return redact(path) if is_url(path) else None
    hub_of_user = Hub(settings().hub_endpoint, HubCache(settings().hub_cache_dir))
    return hub_of_user.resolve_url(hub.repo_id, hub.revision or "main", hub.path)


def _encoding(origin: Origin, path: str, local: str | None) -> str:
    """The media type of a file: by the format that it is read as, by its content where that leaves it open, by its name."""
    plain = path.lower().removesuffix(".gz") if origin.format in _WRITTEN else path.lower()
    if "::" in path or plain.endswith(_PACKED) or origin.format not in (*_TYPED, *_WRITTEN):
        return media_type(path)
    if origin.format == "parquet":
        return TABLES[".parquet"]
    if origin.format == "csv":
        return TABLES[".tsv"] if origin.separator == "\t" else TABLES[".csv"]
    if local is None:
        return media_type(plain)
    with open(local, "rb") as handle:
        head = handle.read(_FIRST_LINE_BYTES)
    if origin.format == "arrow":
        return _ARROW_FILE if head.startswith(b"ARROW1") else _ARROW_STREAM
    return _json_kind(head) if plain == path.lower() else media_type(plain)


def _json_kind(head: bytes) -> str:
    """Whether JSON is one array, or an object a line; what is neither has no name that tools know."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return TABLES[".json"]
    try:
        is_object = isinstance(json.loads(text.partition(b"\n")[0]), dict)
    except ValueError:
        is_object = False
    return TABLES[".jsonl"] if is_object else "application/octet-stream"


def _stand_as_columns(origin: Origin, found: Sequence[DatasetFile], features: Features | None) -> bool:
    """Whether the columns of the files are those of the rows, told in a way that other tools read."""
    if origin.format not in (*_TYPED, *_WRITTEN) or not set(origin.options) <= _HARMLESS or not features:
        return False
    encodings = {file.encoding for file in found}
    if len(encodings) != 1 or not encodings <= {*TABLES.values(), _ARROW_STREAM} or origin.separator not in (",", "\t"):
        return False
    return origin.format in _TYPED or all(map(_is_as_written, features.to_dict().values()))


def _is_as_written(form: Any) -> bool:
    """Whether values of a text format are those of the column: names of classes, say, may be written for their numbers."""
    kind = form.get("_type") if isinstance(form, Mapping) else None
    if kind in ("List", "LargeList", "Sequence") and "feature" in form:
        return _is_as_written(form["feature"])
    if isinstance(kind, str):
        return kind == "Value"
    return all(map(_is_as_written, form.values()))


# -- what was built, and fetched for it --------------------------------------------------------------------------------


def _shards(manifest: Manifest, place: str, folder: str | None) -> Iterator[DatasetFile]:
    paths = {os.path.join(os.path.abspath(place), shard.name): shard for shard in manifest.shards} if not is_url(place) else {}
    names = _names(paths, [folder, place])
    by_shard = {shard.name: names[path] for path, shard in paths.items()}
    for shard in manifest.shards:
        local = os.path.join(place, shard.name)
        yield DatasetFile(
            by_shard.get(shard.name, shard.name),
            join(place, shard.name) if is_url(place) else None,
            _SHARDS[manifest.file_format],
            shard.size,
            shard.sha256 or (digest_of(local).hexdigest() if os.path.isfile(local) else None),
            (shard.split,),
        )


def _downloads(manifest: Manifest) -> Iterator[DatasetFile]:
    """What a script downloaded."""
    records = {url: record for url, record in (manifest.info.download_checksums or {}).items() if is_url(url)}
    names = _names(records)
    for url, record in records.items():
        hub = parse_hub_url(url)
        yield DatasetFile(
            names[url], _address(url, hub), media_type(names[url]), record.get("num_bytes"), record.get("checksum")
        )
