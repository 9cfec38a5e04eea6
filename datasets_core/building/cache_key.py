"""Identity of a build: class, code, data files and sources; the files of a finished dataset."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from datasets_core.building.hooks import Builder
from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError, FileFormatError, UnhashableError, logger_of, redact
from datasets_core.features.schema import Features
from datasets_core.fetch.checksums import CHECKSUMS_NAME, digest_of
from datasets_core.files import is_http, is_local_path, is_url, join
from datasets_core.hub_urls import HubPath, parse_hub_url, without_commit
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.listings import TABLES, DatasetFile, DatasetFiles, media_type
from datasets_core.store.fingerprint import Hasher, fingerprint
from datasets_core.store.manifest import Manifest, SourceRecord, read_manifest
from datasets_core.store.source import folder_of

if TYPE_CHECKING:
    from datasets_core.meta.listings import DatasetFiles


# Identity of a builder class: its name, the file that defines it, and a hash of its code.


logger = logger_of(__name__)

_LIBRARY = __name__.partition(".")[0]
_DIGITS = 32
_CODE_HASH = rf"[0-9a-f]{{{_DIGITS}}}"
_MADE_BY_PYTHON = (".__module__", ".__dict__", ".__weakref__", ".__abstractmethods__", "._abc_impl", ".__parameters__")


def keyed(code: str, info: DatasetInfo | None) -> str:
    """Return the identity of the code, and of the recorded features, which also determine the rows."""
    return code if info is None or info.features is None else fingerprint(code, info.features.to_dict())


def is_format(cls: type) -> bool:
    """Return True for a class that declares itself a reader of data files of one format.

    Only its own declaration counts: a script that is a subclass of a format is a dataset.
    """
    return vars(cls).get("is_format") is True


def builder_name(cls: type) -> str:
    """Return the name of a builder: that of its format, script, or module; in a notebook that of its class."""
    if is_format(cls) and (name := vars(cls).get("name")):
        return str(name)
    from datasets_core.meta.reference import camelcase_to_snakecase  # takes 1 ms; formats do not need it

    path = getattr(getattr(getattr(cls, "script", None), "script", None), "path", None)
    if getattr(cls, "is_of_old_datasets", False) and isinstance(path, str):  # hyphens of a file stay in the name
        return camelcase_to_snakecase(os.path.basename(path).removesuffix(".py"))
    module = cls.__module__.rpartition(".")[2]
    name = cls.__name__ if module in {"__main__", "__mp_main__"} else module
    return name if name.islower() else camelcase_to_snakecase(name)


def source_file(cls: type) -> str | None:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def checksums_path(cls: type) -> str | None:
    """Path of the `checksums.tsv` of a builder: next to the file that defines its class; None if there is none.

    Formats have none: the files they read belong to the user.
    """
    if is_format(cls) or cls.__module__.partition(".")[0] == _LIBRARY:
        return None
    path = source_file(cls)
    if path is None or not os.path.isfile(path):
        return None
    return os.path.join(os.path.dirname(os.path.abspath(path)), CHECKSUMS_NAME)


def code_hash(cls: type) -> str:
    """Return the identity of the rows that a class generates from the same input: part of the cache key of a build.

    A format is identified by its `cache_version`, independent of its source and location.  Any other class is identified
    by its name and the file that defines it.

    A class of a notebook, of standard input or of `exec` has no file: it is identified by its methods and the globals that they
        use.
    """
    version = vars(cls).get("cache_version") if is_format(cls) else None
    if version is not None:
        if re.fullmatch(_CODE_HASH, str(version)):
            return str(version)
        return hashlib.sha256(f"{builder_name(cls)}\0{version}".encode()).hexdigest()[:_DIGITS]
    path = source_file(cls)
    if path is None or not os.path.isfile(path):
        try:
            return Hasher.hash(_own_code(cls))
        except UnhashableError as error:
            logger.warning("%s is rebuilt each time, since its code cannot be identified: %s", cls.__name__, error)
            return os.urandom(16).hex()
    status = os.stat(path)
    source = _file_hash(path, status.st_mtime_ns, status.st_size)
    return hashlib.sha256(f"{cls.__qualname__}\0{source}".encode()).hexdigest()[:_DIGITS]


def _own_code(cls: type) -> list[tuple[str, Any]]:
    """Return the members written by the author of a class and of its bases, without those of this library and Python."""
    library = __name__.partition(".")[0]
    theirs = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in {library, "abc", "builtins"}]
    members = [(f"{base.__qualname__}.{name}", member) for base in theirs for name, member in vars(base).items()]
    return [(name, member) for name, member in members if not name.endswith(_MADE_BY_PYTHON)]


@functools.lru_cache(maxsize=256)
def _file_hash(path: str, modified: int, size: int) -> str:
    with open(path, "rb") as handle:
        return hashlib.sha256(handle.read()).hexdigest()


# Description of a builder's data files, looked up on first use.


class BuilderFiles:
    """The files of one builder's dataset, before and after it is built.

    Args:
        format: the format of the data files, if a builder of this library reads the rows from the files.
        options: options of the config given by the user.
        data_files: the user's files.
        base: the folder or URL of the dataset; None if there is none.
        repo_id: its repository on the Hub.
        features: its columns, if known beforehand.

    Attributes:
        folder: folder of the finished dataset; None before the build.
        storage_options: options for the file system of that folder.
    """

    def __init__(
        self,
        format: str = "",
        options: Mapping[str, Any] | None = None,
        data_files: Any = None,
        *,
        base: str | None = None,
        repo_id: str | None = None,
        features: Features | None = None,
    ) -> None:
        self.format, self.base, self.repo_id, self.features = format, base, repo_id, features
        self.options: Sequence[str] = tuple(options or ())
        self.separator = str((options or {}).get("delimiter") or (options or {}).get("sep") or ",")
        self.data_files = data_files if isinstance(data_files, DataFilesDict) else DataFilesDict()
        self.folder: str | None = None
        self.storage_options: dict[str, Any] | None = None

    def __deepcopy__(self, memo: object) -> BuilderFiles:
        return self  # nothing in it changes

    def built_in(self, folder: str, storage_options: dict[str, Any] | None) -> BuilderFiles:
        """Return the same files, for a dataset finished in `folder`."""
        made = BuilderFiles()
        made.__dict__.update(self.__dict__)
        made.folder, made.storage_options = folder, storage_options
        return made

    def dataset_files(self, folder: str | None = None) -> DatasetFiles:
        """See `FilesOrigin.dataset_files`."""

        return dataset_files(self, folder)


_MOST_FILES = 10_000  # limit of strings checked among the arguments of a script


def own_folders(builder: Builder) -> Iterator[str]:
    """Yield the folders of a builder's dataset, below which paths among its values may be opened."""
    data_files = builder.config.data_files
    if isinstance(data_files, DataFilesDict):
        heads = {os.path.dirname(path) for path in itertools.chain.from_iterable(data_files.values())}
        yield from sorted(folder_of(os.path.join(head, "file")) for head in heads)
    if builder.base_path and builder.base_path != os.getcwd():  # without a folder, the current one is the base
        yield builder.base_path
        if is_url(builder.base_path):
            yield without_commit(builder.base_path)  # rows may refer to files of the current commit of their repository
    if builder.repo_id and builder.commit_sha:
        from datasets_core.fetch.hub.repository import HubCache  # takes 3 ms; local datasets do not need it

        yield HubCache(settings().hub_cache_dir).folder(builder.repo_id)
    if builder.config.data_dir:
        yield builder.config.data_dir
    yield builder.download_dir or settings().downloads_dir
    yield settings().extracted_dir


def dataset_identity(builder: Builder) -> str:
    """Return the identity of a dataset: name, config with the identity of its data files, version, code.

    In the cache the folder's name contains the same; in an `output_dir` only the manifest does.
    """
    return "/".join((builder.dataset_name, builder.config_id, str(builder.version), builder.hash))


def identify(manager: Any, data_files: Any) -> None:
    """Pass the versions of data files at http URLs, which are part of the identity of the dataset, to a download manager."""
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
    """Return the records of the sources: data files, downloads, and local files among the arguments of the splits.

    Args:
        data_files: those of the config.
        gen_kwargs: the arguments.
        downloads: the records of the download manager, by URL.
        hashed: True to hash local files too.
        local_paths: local files requested from the download manager, including archives.
        caches: further folders whose files are identified by their origin.
        belongs: returns True for files among the arguments that may be read; a stranger may have named others.
    """
    found: dict[str, SourceRecord] = {}
    if isinstance(data_files, DataFilesDict):
        for path, size, identity in data_files.identities:
            place = path if is_local_path(path) else without_commit(redact(path))
            found[place] = SourceRecord(place, size, identity)
    for pinned, record in downloads.items():
        url = pinned if is_local_path(pinned) else without_commit(pinned)
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
    """Return a local source that changed since the dataset was built; None if there is none.

    Data files are not checked, since the name of the folder contains their identity.  A removed source does not count.

    Args:
        manifest: manifest with the records of the sources.
        data_files: data files of the config.
        hashed: True to also compare recorded sha256 values, including those of data files.
    """
    named = {path for files in data_files.values() for path in files} if isinstance(data_files, DataFilesDict) else set()
    for record in manifest.sources:
        if hashed and _is_altered(record):
            return record.path
        if record.path not in named and _changed(record) is not None:
            return record.path
    return None


def check_unchanged(sources: Iterable[SourceRecord]) -> None:
    """Check that the sources did not change while they were read.  Removed sources are ignored.

    Raises:
        FileFormatError: a local file has another size or time than before it was read.
    """
    for record in sources:
        size = _changed(record)
        if size is not None:
            reason = f"changed while it was read (from {record.size} to {size} bytes, or by its time)"
            raise FileFormatError(record.path, reason, advice="Load the dataset again when the file no longer changes")


def _changed(record: SourceRecord) -> int | None:
    """Return the present size of a local source whose size or time changed; None if it did not, or is gone."""
    if not record.identity or is_url(record.path):
        return None
    try:
        status = os.stat(record.path)
    except (OSError, ValueError):
        return None
    return None if (status.st_size, str(status.st_mtime_ns)) == (record.size, record.identity) else status.st_size


def _is_altered(record: SourceRecord) -> bool:
    if record.sha256 is None or not os.path.isabs(record.path) or not os.path.isfile(record.path):
        return False
    return digest_of(record.path).hexdigest() != record.sha256


def identity_of(parts: Any, *, but: Container[str] = ()) -> str | None:
    """Return a text for `parts`, with the size and time of every local file among them; None without an identity.

    Args:
        parts: values of any type.
        but: files to skip, since their size and time are already among the parts.
    """
    try:
        return Hasher.hash([parts, [f"{path} {size} {modified}" for path, size, modified in _local_files(parts, but=but)]])
    except (DatasetsCoreError, TypeError, ValueError, AttributeError):
        return None  # without an identity, the build does not resume


def _local_files(value: Any, *, but: Container[str] = ()) -> Iterator[tuple[str, int, int]]:
    """Yield path, size and time of each local file in `value`."""
    seen: set[str] = set()
    count = 0
    for path in _possible_paths(value):
        if path in seen or path in but:
            continue
        seen.add(path)
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue  # a string that is not a path
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


# The files of a dataset for other tools: data files with their splits, downloads, shards.


_ARROW_FILE, _ARROW_STREAM = TABLES[".arrow"], "application/vnd.apache.arrow.stream"
_SHARDS = {"arrow": _ARROW_FILE, "parquet": TABLES[".parquet"]}
# Options that do not change rows and columns, or that a description can express.
_HARMLESS = {"data_files", "data_dir", "features", "columns", "sep", "delimiter", "batch_size", "chunksize", "name", "version"}
_TYPED, _WRITTEN = ("parquet", "arrow"), ("csv", "json")
_PACKED = (".zst", ".bz2", ".xz", ".lz4", ".zip", ".7z", ".tar", ".tgz", ".tar.gz")
_SHA256_DIGITS = 64
_FIRST_LINE_BYTES = 1 << 20


class Origin(Protocol):
    """Origin of the files of a dataset: see `BuilderFiles`."""

    format: str
    options: Sequence[str]
    separator: str
    data_files: DataFilesDict
    base: str | None
    repo_id: str | None
    features: Features | None
    folder: str | None
    storage_options: dict[str, Any] | None


def dataset_files(origin: Origin, folder: str | None = None) -> DatasetFiles:
    """Return the files of a dataset: those with its rows as columns, and the files they were made from.

    Local files without a known hash are hashed.

    Args:
        origin: the dataset.
        folder: base of relative names of local files, if all are below it.
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
    """Return short unique names: the path in a repository or folder, or the end of a URL."""
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
    """Return the local path of a file; None for a remote one."""
    from datasets_core.fetch.hub.repository import HubCache

    if hub is not None:
        try:
            return HubCache(settings().hub_cache_dir).held(hub.repo_id, hub.revision or "", hub.path)
        except DatasetsCoreError:
            return None
    return path if not is_url(path) and os.path.isfile(path) else None


def _address(path: str, hub: HubPath | None) -> str | None:
    """Return the URL of a file in a form for other tools; None for a local file."""
    from datasets_core.fetch.hub.client import Hub
    from datasets_core.fetch.hub.repository import HubCache

    if hub is None:
        return redact(path) if is_url(path) else None
    hub_of_user = Hub(settings().hub_endpoint, HubCache(settings().hub_cache_dir))
    return hub_of_user.resolve_url(hub.repo_id, hub.revision or "main", hub.path)


def _encoding(origin: Origin, path: str, local: str | None) -> str:
    """Return the media type of a file: by the format it is read as, else by its content or name."""
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
    """Return the media type of JSON: one array, one object per line, or unknown for other layouts."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return TABLES[".json"]
    try:
        is_object = isinstance(json.loads(text.partition(b"\n")[0]), dict)
    except ValueError:
        is_object = False
    return TABLES[".jsonl"] if is_object else "application/octet-stream"


def _stand_as_columns(origin: Origin, found: Sequence[DatasetFile], features: Features | None) -> bool:
    """Return True if the files have the columns of the rows, in a form that other tools can read."""
    if origin.format not in (*_TYPED, *_WRITTEN) or not set(origin.options) <= _HARMLESS or not features:
        return False
    encodings = {file.encoding for file in found}
    if len(encodings) != 1 or not encodings <= {*TABLES.values(), _ARROW_STREAM} or origin.separator not in (",", "\t"):
        return False
    return origin.format in _TYPED or all(map(_is_as_written, features.to_dict().values()))


def _is_as_written(form: Any) -> bool:
    """Return True if values in a text format equal those of the column: class labels, for example, may be names instead of
    numbers.
    """
    kind = form.get("_type") if isinstance(form, Mapping) else None
    if kind in ("List", "LargeList", "Sequence") and "feature" in form:
        return _is_as_written(form["feature"])
    if isinstance(kind, str):
        return kind == "Value"
    return all(map(_is_as_written, form.values()))


# -- built shards and downloads ------------------------------------------------------------------------------------


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
    """Yield the files that a script downloaded."""
    records = {url: record for url, record in (manifest.info.download_checksums or {}).items() if is_url(url)}
    names = _names(records)
    for url, record in records.items():
        hub = parse_hub_url(url)
        yield DatasetFile(
            names[url], _address(url, hub), media_type(names[url]), record.get("num_bytes"), record.get("checksum")
        )
