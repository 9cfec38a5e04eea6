"""A dataset held to its lock: what it is made of now, compared with what was locked, before and after it is built."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
import posixpath
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa

from datasets_core._version import __version__
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.checks import check_shards
from datasets_core.building.class_identity import code_hash
from datasets_core.building.dataset_lock import DatasetLock, LockedFile, LockedSplit, differences, is_same
from datasets_core.building.prepared import ReadOnlyBuilder
from datasets_core.errors import DataFilesNotFoundError, LockDriftError, NonMatchingChecksumError, UnhashableError
from datasets_core.fetch.checksum import RegisteredFile, digest_of
from datasets_core.fetch.hub_url import PREFIX, parse_hub_url
from datasets_core.files import entry, is_http, is_url, local_path, open_binary
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.progress import progress
from datasets_core.redact import redact
from datasets_core.store.content import data_fingerprint, split_fingerprints
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import Manifest, SourceRecord

_BLOCK = 1 << 20
_SHA256_DIGITS = 64
_LIBRARY = __name__.partition(".")[0]
_FILES = ("data_files", "data_dir", "features")  # options that the files and the columns of a lock speak of


def lock_of(builder: DatasetBuilder, root: str, revision: str | None = None) -> DatasetLock:
    """The lock of a dataset that is built.

    Args:
        builder: its builder, after `download_and_prepare`.
        root: the folder of the dataset, to which the paths of the lock are relative.
        revision: what its commit was asked for by, where it comes from the Hub.
    """
    made = Present(builder, root).after(builder._built())
    return made if made.repository is None else dataclasses.replace(made, revision=revision)


@contextlib.contextmanager
def held_to(lock: DatasetLock, path: str, builder: DatasetBuilder, root: str, *, is_hashed: bool = True) -> Iterator[None]:
    """Compare the sources with a lock, let the block build the dataset, and compare what came of it.

    Args:
        lock: what the dataset should be.
        path: the file of the lock, for messages.
        builder: is built in the block; what it downloads is compared while it comes.
        root: the folder of the dataset.
        is_hashed: the shards are hashed, and their rows; else rows are only counted, and the cache is trusted.

    Raises:
        DamagedShardError: a shard has other bytes than were written.
        LockDriftError: something is not what it was; all that is known to have moved is named.
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
            [f"{error.url} has {error.what} {error.found}, and {error.expected} is locked{_tags(urls[error.url], builder)}"],
            error,
        )
    _refuse(path, differences(lock, present.after(builder._built(), is_hashed=is_hashed)))


def check_sources(lock: DatasetLock, path: str, builder: DatasetBuilder, root: str) -> Present:
    """Compare what is known of a dataset before it is built with a lock; see `held_to`.

    Raises:
        LockDriftError: something is not what it was.
    """
    present = Present(builder, root, lock)
    _refuse(path, differences(_only_paths(lock), present.before(lock)))
    return present


def _tags(locked: LockedFile, builder: DatasetBuilder) -> str:
    """The version of a file that its server names, where it is not the one that was locked."""
    data_files = builder.config.data_files
    known = data_files.identities if isinstance(data_files, DataFilesDict) else ()
    now = next((identity for url, _, identity in known if redact(url) == locked.place), "")
    return f" (its ETag was {locked.etag} and is {now})" if now and locked.etag and now != locked.etag else ""


def _refuse(path: str, moved: list[str], cause: Exception | None = None) -> None:
    if moved:
        raise LockDriftError(path, moved) from cause


class Present:
    """What a dataset is made of now."""

    def __init__(self, builder: DatasetBuilder, root: str, lock: DatasetLock | None = None) -> None:
        self._builder, self._root, self._lock = builder, root, lock
        self._known: dict[tuple[str, int, int], LockedFile] = {}

    def before(self, lock: DatasetLock) -> DatasetLock:
        """What is known of the dataset before it is built; of the files those in its folder."""
        features = self._builder.info.features
        known = self._listed_sources() if self._repository is not None else self._local_sources(lock)
        return self._lock_with(known, None if features is None else features.to_dict(), None, None)

    def after(self, manifest: Manifest, *, is_hashed: bool = True) -> DatasetLock:
        """What the dataset is, once it is built."""
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
        if self._lock is not None and isinstance(builder, ReadOnlyBuilder) and self._repository is not None:
            options, script = self._lock.options, self._lock.script  # the build of this very commit says no more of them
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
        """The repository on the Hub that it comes from."""
        return None if self._builder.commit_sha is None else self._builder.repo_id

    # -- files ---------------------------------------------------------------------------------------------------------

    def _local_sources(self, lock: DatasetLock) -> tuple[LockedFile, ...]:
        """The files of the folder that are named now, or were when it was locked; nothing is downloaded."""
        places = {self._place_of(file.place) for file in lock.files or () if file.kind == "path"}
        data_files = self._builder.config.data_files
        if isinstance(data_files, DataFilesDict):
            places |= {local_path(path) for listed in data_files.values() for path in listed if not _is_remote(path)}
        found = (self._local(place) for place in sorted(places) if os.path.isfile(place))
        return tuple(sorted(file for file in found if file.kind == "path"))

    def _listed_sources(self) -> tuple[LockedFile, ...] | None:
        """The files of the repository that it is made of, as its commit lists them; None where a script asks for them."""
        data_files = self._builder.config.data_files
        if not isinstance(data_files, DataFilesDict) or self._builder.script_digest is not None:
            return None
        listed = (self._of_repository(SourceRecord(path, size, etag)) for path, size, etag in data_files.identities)
        return tuple(sorted({file for file in listed if file is not None}))

    def _of_repository(self, source: SourceRecord) -> LockedFile | None:
        """A file of the repository that the dataset comes from; None for one of elsewhere."""
        if self._repository is None:
            return None
        path = source.path
        if not is_url(path) and not os.path.isabs(path):  # what a script asked its manager for
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
        # What was named to the download manager is relative to the script; an argument of a split is opened as it stands.
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
                f"{place}, which the dataset is made of, cannot be read: {error.strerror}. Put it back, or build again."
            ) from error
        key = (place, status.st_size, status.st_mtime_ns)
        if key not in self._known:
            kind, name = self._named(place)
            digest = digest_of(place)
            self._known[key] = LockedFile(kind, name, digest.num_bytes, digest.hexdigest())
        return self._known[key]

    def _named(self, place: str) -> tuple[str, str]:
        """The path of a file in the folder of the dataset, or else its name."""
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
            raise DataFilesNotFoundError(f"{url}, which the dataset is made of, is gone. Put it back, or build again.")
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
        """The splits with the sha256 that is locked."""
        locked = {split.name: split.sha256 for split in (self._lock and self._lock.splits) or ()}
        lengths = manifest.split_lengths()
        return tuple(LockedSplit(split, sum(rows), locked.get(split, "")) for split, rows in lengths.items())

    def _hashed(self, manifest: Manifest) -> tuple[LockedSplit, ...]:
        """The splits, once each shard is found to have the bytes that were written, and its rows are hashed."""
        folder, options = self._builder._output_dir, self._builder._output_storage_options
        rows = {split: sum(lengths) for split, lengths in manifest.split_lengths().items()}
        on_record = dataclasses.replace(manifest, shards=tuple(shard for shard in manifest.shards if shard.sha256))
        with progress("Hashing shards", total=sum(shard.num_bytes for shard in on_record.shards), unit="B") as bar:
            check_shards(folder, on_record, bar.update, options)
        with progress("Hashing rows", total=sum(rows.values()), unit="rows") as bar:
            hashes = split_fingerprints(folder, manifest, on_rows=bar.update, storage_options=options)
        return tuple(LockedSplit(split, count, hashes[split]) for split, count in rows.items())


def _only_paths(lock: DatasetLock) -> DatasetLock:
    """The lock without what is known only after the build."""
    files = tuple(file for file in lock.files or () if file.kind == "path")
    return dataclasses.replace(lock, files=files, splits=None, fingerprint=None)


def _is_remote(path: str) -> bool:
    return is_url(path) and not path.startswith("file://")


def _script_hash(builder: DatasetBuilder) -> str:
    """What tells the code of a dataset from other code, wherever it lies; "" for a format of this library."""
    if builder.script_digest is not None:
        return builder.script_digest
    if type(builder).__module__.partition(".")[0] == _LIBRARY:
        return ""
    return hashlib.sha256(code_hash(type(builder)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """An option as JSON holds it; what JSON has no word for by its type and hash."""
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
