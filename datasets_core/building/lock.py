"""`DatasetLock`: sources and content of a dataset in one file for line-by-line comparison; builds checked against it.

The file is JSON with its keys in one order, its lists sorted, and paths relative to the folder of the dataset, so that it
has the same meaning on another machine.  It is not trusted: it cannot refer to files outside that folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core._version import __version__
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.cache_key import code_hash
from datasets_core.building.options import LOCK_NAME as LOCK_NAME
from datasets_core.building.options import check_hashes
from datasets_core.errors import (
    DataFilesNotFoundError,
    FileNotFoundDatasetsError,
    LockDriftError,
    ManifestError,
    NonMatchingChecksumError,
    UnhashableError,
    redact,
)
from datasets_core.fetch.checksums import RegisteredFile, digest_of
from datasets_core.files import entry, is_http, is_url, local_path, open_binary
from datasets_core.hub_urls import PREFIX, is_commit, is_repo_id, parse_hub_url
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import parse_json
from datasets_core.progress import progress
from datasets_core.store.equality import data_fingerprint, split_fingerprints
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import Manifest, SourceRecord

FORM = 1
_KINDS = ("path", "url", "name")
_KEYS_OF_HUB = ("repository", "revision")  # fields of a dataset on the Hub, in addition to its commit
_KEYS = (
    *("form", "dataset", "config", "version", "options", "commit", "script", "files", "features", "splits", "fingerprint"),
    "library_versions",
)
_RESTORE = "Restore the file, or build again"
_MAX_BYTES = 256 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_AGAIN = "Create the lock again with lock_dataset(...)"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, order=True)
class LockedFile:
    """One source file of the dataset.

    Attributes:
        kind: "path" in the folder, or the repository, of the dataset, "url", or "name" for a file at any other
            place.
        place: the path, URL or name.
        size: size in bytes; -1 if a store does not report it.
        sha256: in hex, None if unknown.
        etag: version identifier of the server, on the Hub a hash of the content; "" without one.
    """

    kind: str
    place: str
    size: int
    sha256: str | None = None
    etag: str = dataclasses.field(default="", compare=False)

    def __str__(self) -> str:
        known = f"sha256 {self.sha256[:16]}" if self.sha256 else f"ETag {self.etag}" if self.etag else "sha256 unknown"
        return f"{self.size:,} bytes, {known}"


@dataclass(frozen=True, slots=True)
class LockedSplit:
    """One split.

    Attributes:
        name: its name.
        rows: number of rows.
        sha256: sha256 of the rows, independent of shards.
    """

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DatasetLock:
    """Sources and content of a dataset; None means unknown, and is not compared.

    Attributes:
        dataset: name of its folder; not compared, since checkouts may have different names.
        config, version: config and version of the build.
        options: options of the config given by the user.
        commit: the resolved commit of its repository, if any.
        script: sha256 of the script and the modules next to it; "" without one.
        files: every source.
        features: the columns, in the form of `dataset_info.json`.
        splits: the splits, in order.
        fingerprint: fingerprint of all rows.
        library_versions: versions of the packages that read the data.
        repository: repository on the Hub; None for other locations.
        revision: the requested revision; not compared, unlike the commit.
    """

    dataset: str
    config: str
    version: str
    options: Mapping[str, Any]
    commit: str | None
    script: str
    files: tuple[LockedFile, ...] | None
    features: Mapping[str, Any] | None
    splits: tuple[LockedSplit, ...] | None
    fingerprint: str | None
    library_versions: Mapping[str, str]
    repository: str | None = None
    revision: str | None = None

    def text(self) -> str:
        """Return the content of the file."""
        form = {
            "form": FORM,
            "dataset": self.dataset,
            **({} if self.repository is None else {"repository": self.repository, "revision": self.revision}),
            "config": self.config,
            "version": self.version,
            "options": dict(sorted(self.options.items())),
            "commit": self.commit,
            "script": self.script or None,
            "files": [_file_form(file) for file in sorted(self.files or ())],
            "features": self.features,
            "splits": [dataclasses.asdict(split) for split in self.splits or ()],
            "fingerprint": self.fingerprint,
            "library_versions": dict(sorted(self.library_versions.items())),
        }
        return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


def _file_form(file: LockedFile) -> dict[str, Any]:
    form: dict[str, Any] = {file.kind: file.place, "size": file.size, "sha256": file.sha256}
    return {**form, "etag": file.etag} if file.etag else form


def read_lock(path: str) -> DatasetLock:
    """Return the lock in a file.

    Raises:
        FileNotFoundDatasetsError: the file does not exist.
        ManifestError: the file is not a lock; the error names the line or the key.
    """
    try:
        with open(path, "rb") as handle:
            data = handle.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundDatasetsError(
            f"The lock {path} does not exist", advice="Create it with lock_dataset(...)", file=path
        ) from error
    except OSError as error:
        raise ManifestError(path, f"cannot be read ({error.strerror or error})") from error
    if len(data) > _MAX_BYTES:
        raise ManifestError(path, f"it is longer than {_MAX_BYTES:,} bytes")
    return parse_lock(data, path=path)


def parse_lock(data: bytes | str, *, path: str) -> DatasetLock:
    """Return the lock in the bytes of a file.

    Raises:
        ManifestError: the bytes are not a lock; the error names the line or the key.
    """
    form = parse_json(data, path=path, most_values=1 << 26)
    reader = _Reader(path)
    keys = reader.mapping(form, "the lock")
    if reader.number(keys.get("form"), "form", 1) > FORM:
        raise ManifestError(
            path, f"form {keys['form']} was written by a newer version of this library", advice="Upgrade datasets_core"
        )
    reader.check_keys(keys, "the lock", _KEYS, _KEYS_OF_HUB)
    commit, script = keys["commit"], keys["script"]
    repository, revision = (keys.get(key) for key in _KEYS_OF_HUB)
    if repository is not None and not is_commit(commit):
        raise ManifestError(path, f"commit is {json.dumps(commit)[:60]}, but must be a commit of {repository}", advice=_AGAIN)
    return DatasetLock(
        dataset=reader.text(keys.get("dataset"), "dataset"),
        config=reader.text(keys.get("config"), "config"),
        version=reader.text(keys.get("version"), "version"),
        options=reader.mapping(keys.get("options"), "options"),
        commit=None if commit is None else reader.text(commit, "commit"),
        script="" if script is None else reader.sha256(script, "script"),
        files=tuple(reader.files(keys.get("files"), is_hub=repository is not None)),
        features=reader.mapping(keys.get("features"), "features"),
        splits=tuple(reader.splits(keys.get("splits"))),
        fingerprint=reader.sha256(keys.get("fingerprint"), "fingerprint"),
        library_versions={
            name: reader.text(version, f"library_versions.{name}")
            for name, version in reader.mapping(keys.get("library_versions"), "library_versions").items()
        },
        repository=None if repository is None else reader.repository(repository),
        revision=None if revision is None else reader.text(revision, "revision"),
    )


class _Reader:
    """Values of a lock, each with a check of its type."""

    def __init__(self, path: str) -> None:
        self._path = path

    def _value(self, value: Any, key: str, what: str, is_right: Callable[[Any], bool]) -> Any:
        if not is_right(value):
            shown = json.dumps(value, ensure_ascii=False)[:60]
            raise ManifestError(self._path, f"{key} is {shown}, but must be {what}", advice=_AGAIN)
        return value

    def text(self, value: Any, key: str) -> str:
        return str(self._value(value, key, "a text", lambda given: isinstance(given, str)))

    def number(self, value: Any, key: str, least: int = 0) -> int:
        return int(self._value(value, key, "a whole number", lambda given: type(given) is int and least <= given < 1 << 63))

    def sha256(self, value: Any, key: str) -> str:
        return str(self._value(value, key, "a sha256", lambda given: isinstance(given, str) and bool(_SHA256.fullmatch(given))))

    def repository(self, value: Any) -> str:
        is_id: Callable[[Any], bool] = lambda given: isinstance(given, str) and is_repo_id(given)  # noqa: E731
        return str(self._value(value, "repository", "the id of a repository", is_id))

    def mapping(self, value: Any, key: str) -> dict[str, Any]:
        return dict(self._value(value, key, "an object", lambda given: isinstance(given, dict)))

    def check_keys(self, form: Mapping[str, Any], what: str, known: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Refuse unknown and missing keys."""
        for key in form:
            if key not in known and key not in optional:
                raise ManifestError(self._path, f"{what} has the unknown key {key!r}", advice=_AGAIN)
        for key in known:
            if key not in form:
                raise ManifestError(self._path, f"{what} lacks the key {key!r}", advice=_AGAIN)

    def _list(self, value: Any, key: str) -> list[Any]:
        return list(self._value(value, key, "a list", lambda given: isinstance(given, list)))

    def files(self, value: Any, *, is_hub: bool) -> Iterator[LockedFile]:
        for number, item in enumerate(self._list(value, "files")):
            key = f"files[{number}]"
            form = self.mapping(item, key)
            kinds = [kind for kind in _KINDS if kind in form]
            self._value(form, key, "an object with one of 'path', 'url' and 'name'", _names_one_place)
            self.check_keys(form, key, (kinds[0], "size", "sha256"), ("etag",))
            place = self.text(form[kinds[0]], f"{key}.{kinds[0]}")
            if kinds[0] != "url":
                self._value(place, f"{key}.{kinds[0]}", "a path below the folder of the dataset", is_below)
            sha256 = form["sha256"]
            is_unknown = sha256 is None and (kinds[0] == "url" or (is_hub and kinds[0] == "path"))
            yield LockedFile(
                kinds[0],
                place,
                self.number(form.get("size"), f"{key}.size", -1),
                None if is_unknown else self.sha256(sha256, f"{key}.sha256"),
                self.text(form.get("etag", ""), f"{key}.etag"),
            )

    def splits(self, value: Any) -> Iterator[LockedSplit]:
        seen: set[str] = set()
        for number, item in enumerate(self._list(value, "splits")):
            key = f"splits[{number}]"
            form = self.mapping(item, key)
            self.check_keys(form, key, ("name", "rows", "sha256"))
            name = self.text(form["name"], f"{key}.name")
            self._value(name, f"{key}.name", "a unique name of a split", lambda given: given not in seen)
            seen.add(name)
            rows, sha256 = self.number(form["rows"], f"{key}.rows"), self.sha256(form["sha256"], f"{key}.sha256")
            yield LockedSplit(name, rows, sha256)


def _names_one_place(form: Any) -> bool:
    return sum(kind in form for kind in _KINDS) == 1


def is_below(path: str) -> bool:
    """Return True if a path of a lock stays in the folder of its dataset.

    >>> is_below("data/a.csv"), is_below("../a.csv"), is_below("/etc/passwd")
    (True, False, False)
    """
    steps = re.split(r"[/\\]", path)
    return bool(path) and not os.path.isabs(path) and not {"", ".", ".."} & set(steps) and _CONTROL.search(path) is None


def differences(old: DatasetLock, new: DatasetLock) -> list[str]:
    """Return the differences of two locks, one line each; unknown values are not compared."""
    lines = [
        f"the {what} was {getattr(old, what)!r} and is now {getattr(new, what)!r}"
        for what in ("repository", "config", "version", "commit")
        if getattr(old, what) != getattr(new, what)
    ]
    lines += _of_keys(old.options, new.options, "the option", repr)
    if old.script != new.script:
        lines.append(f"the script changed (sha256 {_short(old.script)}, then {_short(new.script)})")
    if old.files is not None and new.files is not None:
        lines += file_differences(old.files, new.files)
    if old.features is not None and new.features is not None:
        lines += _of_columns(old.features, new.features)
    if old.splits is not None and new.splits is not None:
        moved = _of_splits(old.splits, new.splits)
        if not moved and None not in (old.fingerprint, new.fingerprint) and old.fingerprint != new.fingerprint:
            moved = [f"the fingerprint was {_short(old.fingerprint or '')} and is now {_short(new.fingerprint or '')}"]
        lines += moved
    lines += _of_keys(old.library_versions, new.library_versions, "the library", str)
    return lines


def _short(sha256: str) -> str:
    return sha256[:16] or "none"


def _shown(form: Any) -> str:
    text = json.dumps(form, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _of_keys(old: Mapping[str, Any], new: Mapping[str, Any], what: str, shown: Callable[[Any], str]) -> Iterator[str]:
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in new:
            yield f"{what} {key!r} was removed (it was {shown(old[key])})"
        elif key not in old:
            yield f"{what} {key!r} was added ({shown(new[key])})"
        elif json.dumps(old[key], sort_keys=True) != json.dumps(new[key], sort_keys=True):  # 1 is not True
            yield f"{what} {key!r} was {shown(old[key])} and is now {shown(new[key])}"


def _of_columns(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = list(_of_keys(old, new, "the column", _shown))
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        lines.append(f"the columns have another order: {', '.join(new)}")
    turned = [name for name in common if old[name] == new[name] and _in_order(old[name]) != _in_order(new[name])]
    return lines + [f"the fields of column {name!r} have another order: {_shown(new[name])}" for name in turned]


def _in_order(form: Any) -> Any:
    """Return the form of a feature with the order of its fields, which the equality of dicts ignores."""
    if isinstance(form, dict):
        keys = sorted(form) if isinstance(form.get("_type"), str) else list(form)
        return [(key, _in_order(form[key])) for key in keys]
    return [_in_order(each) for each in form] if isinstance(form, list) else form


def file_differences(old: tuple[LockedFile, ...], new: tuple[LockedFile, ...]) -> list[str]:
    """Return files that were changed, moved, removed or added."""
    before, after = ({(file.kind, file.place, number): file for file, number in _numbered(files)} for files in (old, new))
    gone = {key: file for key, file in before.items() if key not in after}
    added = {key: file for key, file in after.items() if key not in before}
    lines = [
        f"{file.place} changed ({file}, then {after[key]})"
        for key, file in before.items()
        if key in after and not is_same(file, after[key])
    ]
    for key, file in list(gone.items()):
        moved = next((other for other, found in added.items() if file.sha256 and found.sha256 == file.sha256), None)
        if moved is not None:
            lines.append(f"{file.place} moved to {added.pop(moved).place}")
            del gone[key]
    lines += [f"{file.place} was removed ({file})" for file in gone.values()]
    lines += [f"{file.place} was added ({file})" for file in added.values()]
    return lines


def is_same(old: LockedFile, new: LockedFile) -> bool:
    """Return True if two records of one location refer to the same bytes."""
    is_on_hub = old.kind == "path" or old.place.startswith("hf://")
    if is_on_hub and not (old.sha256 and new.sha256):  # its ETag is a hash, too, and for a repository the commit implies it
        return old.size == new.size and (not (old.etag and new.etag) or old.etag == new.etag)
    if old.sha256 or new.sha256:
        return (old.size, old.sha256) == (new.size, new.sha256)
    return (old.size, old.etag) == (new.size, new.etag)


def _numbered(files: tuple[LockedFile, ...]) -> Iterator[tuple[LockedFile, int]]:
    """Return files with a number that distinguishes files of the same name."""
    seen: dict[tuple[str, str], int] = {}
    for file in sorted(files, key=lambda each: (each.kind, each.place, each.sha256 or "")):
        number = seen[file.kind, file.place] = seen.get((file.kind, file.place), -1) + 1
        yield file, number


def _of_splits(old: tuple[LockedSplit, ...], new: tuple[LockedSplit, ...]) -> list[str]:
    before, after = ({split.name: split for split in splits} for splits in (old, new))
    lines = [f"the split {name!r} was removed ({split.rows:,} rows)" for name, split in before.items() if name not in after]
    lines += [f"the split {name!r} was added ({split.rows:,} rows)" for name, split in after.items() if name not in before]
    common = [name for name in before if name in after]
    for name in common:
        if before[name].rows != after[name].rows:
            lines.append(f"the split {name!r} had {before[name].rows:,} rows and now has {after[name].rows:,}")
        elif before[name].sha256 != after[name].sha256:
            hashes = f"sha256 {_short(before[name].sha256)}, then {_short(after[name].sha256)}"
            lines.append(f"the rows of split {name!r} changed ({hashes})")
    if common != [name for name in after if name in before]:
        lines.append(f"the splits have another order: {', '.join(after)}")
    return lines


# A build checked against its lock: sources before the build, content after it.


_BLOCK = 1 << 20
_SHA256_DIGITS = 64
_LIBRARY = __name__.partition(".")[0]
_FILES = ("data_files", "data_dir", "features")  # options that the files and columns of a lock cover


def lock_of(builder: DatasetBuilder, root: str, revision: str | None = None) -> DatasetLock:
    """Return the lock of a built dataset.

    Args:
        builder: its builder, after `download_and_prepare`.
        root: the folder of the dataset, to which the paths of the lock are relative.
        revision: the requested revision, for a dataset of the Hub.
    """
    made = Present(builder, root).after(builder._built())
    return made if made.repository is None else dataclasses.replace(made, revision=revision)


@contextlib.contextmanager
def held_to(lock: DatasetLock, path: str, builder: DatasetBuilder, root: str, *, is_hashed: bool = True) -> Iterator[None]:
    """Compare the sources with a lock, run the block, which builds the dataset, and compare the result.

    Args:
        lock: the expected dataset.
        path: the file of the lock, for messages.
        builder: builds in the block; its downloads are compared as they arrive.
        root: the folder of the dataset.
        is_hashed: True to hash the shards and their rows; otherwise rows are only counted, and the cache is trusted.

    Raises:
        DamagedShardError: a shard has different bytes than recorded.
        LockDriftError: something differs; the error lists all known differences.
    """
    present = check_sources(lock, path, builder, root)
    urls = {file.place: file for file in lock.files or () if file.kind == "url" and file.sha256}
    builder.locked_checksums = {
        url: RegisteredFile(None if file.size < 0 else file.size, file.sha256) for url, file in urls.items()
    }
    try:
        yield
    except NonMatchingChecksumError as error:
        if error.url not in urls:
            raise
        _refuse(
            path,
            [f"{error.url} has {error.what} {error.found}, but {error.expected} is locked{_tags(urls[error.url], builder)}"],
            error,
        )
    _refuse(path, differences(lock, present.after(builder._built(), is_hashed=is_hashed)))


def check_sources(lock: DatasetLock, path: str, builder: DatasetBuilder, root: str) -> Present:
    """Compare the sources of a dataset with a lock before the build; see `held_to`.

    Raises:
        LockDriftError: a source differs.
    """
    present = Present(builder, root, lock)
    _refuse(path, differences(_only_paths(lock), present.before(lock)))
    return present


def _tags(locked: LockedFile, builder: DatasetBuilder) -> str:
    """Return the current version of a file for messages, if it differs from the locked one."""
    data_files = builder.config.data_files
    known = data_files.identities if isinstance(data_files, DataFilesDict) else ()
    now = next((identity for url, _, identity in known if redact(url) == locked.place), "")
    return f" (its ETag was {locked.etag} and is now {now})" if now and locked.etag and now != locked.etag else ""


def _refuse(path: str, moved: list[str], cause: Exception | None = None) -> None:
    if moved:
        raise LockDriftError(path, moved) from cause


class Present:
    """Current sources and content of a dataset."""

    def __init__(self, builder: DatasetBuilder, root: str, lock: DatasetLock | None = None) -> None:
        self._builder, self._root, self._lock = builder, root, lock
        self._known: dict[tuple[str, int, int], LockedFile] = {}

    def before(self, lock: DatasetLock) -> DatasetLock:
        """Return what is known before the build, including files in the folder of the dataset."""
        features = self._builder.info.features
        known = self._listed_sources() if self._repository is not None else self._local_sources(lock)
        return self._lock_with(known, None if features is None else features.to_dict(), None, None)

    def after(self, manifest: Manifest, *, is_hashed: bool = True) -> DatasetLock:
        """Return the lock of the dataset after the build."""
        features = manifest.info.features
        files = tuple(sorted(self._sources(manifest.sources)))
        splits = self._hashed(manifest) if is_hashed else self._counted(manifest)
        fingerprint = data_fingerprint({split.name: split.sha256 for split in splits}) if is_hashed else None
        return self._lock_with(files, {} if features is None else features.to_dict(), splits, fingerprint)

    def _lock_with(
        self,
        files: tuple[LockedFile, ...] | None,
        features: dict[str, Any] | None,
        splits: tuple[LockedSplit, ...] | None,
        fingerprint: str | None,
    ) -> DatasetLock:
        builder = self._builder
        given = {name: value for name, value in builder.config_kwargs.items() if name not in _FILES and value is not None}
        options: Mapping[str, Any] = {name: _plain(value) for name, value in given.items()}
        script = _script_hash(builder)
        if self._lock is not None and builder.is_read_only and self._repository is not None:
            options, script = self._lock.options, self._lock.script  # the build of this commit has no further facts about them
        return DatasetLock(
            dataset=builder.dataset_name,
            config=builder.config.name,
            version=str(builder.version),
            options=options,
            commit=None if self._repository is None else builder.commit_sha,
            script=script,
            files=files,
            features=features,
            splits=splits,
            fingerprint=fingerprint,
            library_versions={
                "datasets_core": __version__,
                "pyarrow": pa.__version__,
                "python": ".".join(platform.python_version_tuple()[:2]),
            },
            repository=self._repository,
        )

    @property
    def _repository(self) -> str | None:
        """The repository of the dataset on the Hub."""
        return None if self._builder.commit_sha is None else self._builder.repo_id

    # -- files ---------------------------------------------------------------------------------------------------------

    def _local_sources(self, lock: DatasetLock) -> tuple[LockedFile, ...]:
        """Return the files of the folder that are used now, or were when the lock was written; nothing is downloaded."""
        places = {self._place_of(file.place) for file in lock.files or () if file.kind == "path"}
        data_files = self._builder.config.data_files
        if isinstance(data_files, DataFilesDict):
            places |= {local_path(path) for listed in data_files.values() for path in listed if not _is_remote(path)}
        found = (self._local(place) for place in sorted(places) if os.path.isfile(place))
        return tuple(sorted(file for file in found if file.kind == "path"))

    def _listed_sources(self) -> tuple[LockedFile, ...] | None:
        """Return the source files from the repository, as listed in its commit; None if a script requests files."""
        data_files = self._builder.config.data_files
        if not isinstance(data_files, DataFilesDict) or self._builder.script_digest is not None:
            return None
        listed = (self._of_repository(SourceRecord(path, size, etag)) for path, size, etag in data_files.identities)
        return tuple(sorted({file for file in listed if file is not None}))

    def _of_repository(self, source: SourceRecord) -> LockedFile | None:
        """Return a file of the repository of the dataset; None for other files."""
        if self._repository is None:
            return None
        path = source.path
        if not is_url(path) and not os.path.isabs(path):  # requested by a script from its download manager
            path = f"{PREFIX}{self._repository}/{posixpath.normpath(path)}"
        found = parse_hub_url(path)
        if found is None or found.repo_id != self._repository:
            return None
        etag = "" if source.identity in ("", source.sha256) else source.identity
        sha256 = source.sha256 or (etag if len(etag) == _SHA256_DIGITS else None)
        return LockedFile("path", found.path, source.size, sha256, "" if etag == sha256 else etag)

    def _place_of(self, path: str) -> str:
        return os.path.join(self._root, *path.split("/"))

    def _sources(self, sources: Collection[SourceRecord]) -> set[LockedFile]:
        own = {source: file for source in sources if (file := self._of_repository(source)) is not None}
        remote = [source for source in sources if source not in own and _is_remote(source.path)]
        base = self._builder.base_path
        base = "" if base is None or is_url(base) else base
        # A name passed to the download manager is relative to the script; an argument of a split is opened unchanged.
        local = {
            os.path.abspath(os.path.join("" if source.identity else base, local_path(source.path)))
            for source in sources
            if source not in own and not _is_remote(source.path)
        }
        found = {*own.values(), *(self._remote(source) for source in remote)}
        with progress("Hashing sources", total=len(local), unit="files") as bar:
            for place in sorted(local):
                found.add(self._local(place))
                bar.update(1)
        return found

    def _local(self, place: str) -> LockedFile:
        try:
            status = os.stat(place)
        except OSError as error:
            raise DataFilesNotFoundError(
                f"{place}, a source of the dataset, cannot be read: {error.strerror}", advice=_RESTORE, file=place
            ) from error
        key = (place, status.st_size, status.st_mtime_ns)
        if key not in self._known:
            kind, name = self._named(place)
            digest = digest_of(place)
            self._known[key] = LockedFile(kind, name, digest.num_bytes, digest.hexdigest())
        return self._known[key]

    def _named(self, place: str) -> tuple[str, str]:
        """Return the path of a file in the folder of the dataset, or else its name."""
        if not is_url(self._root):
            for root, path in ((os.path.abspath(self._root), place), (os.path.realpath(self._root), os.path.realpath(place))):
                inside = os.path.relpath(path, root)
                if inside != os.pardir and not inside.startswith(os.pardir + os.sep):
                    return "path", inside.replace(os.sep, "/")
        return "name", os.path.basename(place)

    def _remote(self, source: SourceRecord) -> LockedFile:
        url = redact(source.path)
        is_hub = source.path.startswith("hf://")
        sha256 = source.identity if is_hub and len(source.identity) == _SHA256_DIGITS else source.sha256
        now = LockedFile("url", url, source.size, sha256, source.identity)
        if is_hub or now.sha256 is not None or is_http(source.path) or "::" in source.path:
            return now
        found = entry(source.path, self._builder.storage_options)
        if found is None:
            raise DataFilesNotFoundError(f"{url}, a source of the dataset, no longer exists", advice=_RESTORE, file=url)
        now = LockedFile("url", url, found.size, None, found.identity)
        locked = next((file for file in (self._lock and self._lock.files) or () if file.place == url), None)
        if locked is not None and locked.etag and is_same(LockedFile("url", url, locked.size, None, locked.etag), now):
            return locked
        digest = hashlib.sha256()
        with open_binary(source.path, self._builder.storage_options) as handle:
            while block := handle.read(_BLOCK):
                digest.update(block)
        return LockedFile("url", url, found.size, digest.hexdigest(), found.identity)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _counted(self, manifest: Manifest) -> tuple[LockedSplit, ...]:
        """Return the splits with the locked sha256."""
        locked = {split.name: split.sha256 for split in (self._lock and self._lock.splits) or ()}
        lengths = manifest.split_lengths()
        return tuple(LockedSplit(split, sum(rows), locked.get(split, "")) for split, rows in lengths.items())

    def _hashed(self, manifest: Manifest) -> tuple[LockedSplit, ...]:
        """Return the splits, after checking the bytes of each shard and hashing its rows."""
        folder, options = self._builder._output_dir, self._builder._output_storage_options
        rows = {split: sum(lengths) for split, lengths in manifest.split_lengths().items()}
        on_record = dataclasses.replace(manifest, shards=tuple(shard for shard in manifest.shards if shard.sha256))
        with progress("Hashing shards", total=sum(shard.num_bytes for shard in on_record.shards), unit="B") as bar:
            check_hashes(folder, on_record, bar.update, options)
        with progress("Hashing rows", total=sum(rows.values()), unit="rows") as bar:
            hashes = split_fingerprints(folder, manifest, on_rows=bar.update, storage_options=options)
        return tuple(LockedSplit(split, count, hashes[split]) for split, count in rows.items())


def _only_paths(lock: DatasetLock) -> DatasetLock:
    """Return the lock without facts that are only known after the build."""
    files = tuple(file for file in lock.files or () if file.kind == "path")
    return dataclasses.replace(lock, files=files, splits=None, fingerprint=None)


def _is_remote(path: str) -> bool:
    return is_url(path) and not path.startswith("file://")


def _script_hash(builder: DatasetBuilder) -> str:
    """Return the identity of the code of a dataset, independent of its location; "" for a format of this library."""
    if builder.script_digest is not None:
        return builder.script_digest
    if type(builder).__module__.partition(".")[0] == _LIBRARY:
        return ""
    return hashlib.sha256(code_hash(type(builder)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return an option as JSON; other values by type and hash."""
    try:
        text = json.dumps(value)
        if json.loads(text) == value:
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return f"{type(value).__name__} {Hasher.hash(value)}"
    except UnhashableError:
        return f"{type(value).__name__} {value!r}"
