"""`Request`, `Location`, `Source`: the arguments of the user as one value, and the interface of the result."""

from __future__ import annotations

import bisect
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, Protocol

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.versions import Versions
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, redact
from datasets_core.features.schema import Features
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.files import FileEntry
from datasets_core.hub_urls import HubPath, parse_hub_url
from datasets_core.meta.data_files import DataFiles, DataFilesDict, DataFilesList, infer_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.listings import Listing, list_folder
from datasets_core.meta.version import Version

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import Hub
    from datasets_core.fetch.hub.repository import HubCommit, HubFile


# `HubCommits`: the commits of repositories used by one request, each listed once, as one `Listing`.


_MAX_TEXT_BYTES = 32 << 20  # size limit of a card or a record; those of the largest known datasets have a tenth of it


class HubCommits:
    """Listings of repositories, at the commits of their revisions; a `Listing`.

    Args:
        hub: creates the Hub client for the first commit.
        downloads: options of downloads.
    """

    def __init__(self, hub: Callable[[], Hub], downloads: DownloadConfig) -> None:
        self._make, self._downloads = hub, downloads
        self._hub: Hub | None = None
        self._commits: dict[tuple[str, str | None], HubCommit] = {}
        self._inside: dict[str, list[tuple[str, int]]] = {}
        self._paths: dict[tuple[str, str], list[str]] = {}

    @property
    def hub(self) -> Hub:
        """Hub client of the commits."""
        if self._hub is None:
            self._hub = self._make()
        return self._hub

    def commit(self, repo_id: str, revision: str | None = None) -> HubCommit:
        """Return the commit of a revision; requested once.

        Raises:
            DatasetNotFoundError: the repository or revision does not exist, or is not accessible.
            OfflineError: the Hub cannot be reached, and the revision is not cached.
        """
        found = self._commits.get((repo_id, revision))
        if found is None:
            found = self.hub.commit(repo_id, revision, local_only=self._downloads.local_files_only)
            for known in (revision, found.sha):
                self._commits[repo_id, known] = found
        return found

    # -- a listing -----------------------------------------------------------------------------------------------------

    def holds(self, url: str) -> bool:
        """See `Listing.holds`."""
        return url.rpartition("::")[2].startswith("hf://") and self._parsed(url) is not None

    def pinned(self, url: str) -> str:
        """See `Listing.pinned`.

        Raises:
            ConfigurationError: the path is outside the repository.
        """
        found = self._place(url)
        inner, mark, _ = url.rpartition("::")
        return f"{inner}{mark}{self.commit(found.repo_id, found.revision).url(found.path)}"

    def is_whole(self, url: str) -> bool:
        """See `Listing.is_whole`."""
        found = self._place(url)
        return self.commit(found.repo_id, found.revision).is_whole

    def entry(self, url: str) -> FileEntry | None:
        """See `Listing.entry`."""
        inner, _, outer = url.rpartition("::")
        found = self._place(outer)
        commit = self.commit(found.repo_id, found.revision)
        file = commit.files.get(found.path)
        if not inner:
            return None if file is None else _entry(commit, file)
        return {each.path: each for each in self._members(commit, file, url)}.get(url)

    def list_folder(self, url: str) -> list[FileEntry]:
        """See `Listing.list_folder`."""
        inner, _, outer = url.rpartition("::")
        found = self._place(outer)
        commit = self.commit(found.repo_id, found.revision)
        if inner:
            root = inner.rstrip("/") + "/"
            listed = self._members(commit, commit.files.get(found.path), url)
            return [each for each in listed if each.path.startswith(root)]
        paths = self._paths.get((found.repo_id, commit.sha))
        if paths is None:
            paths = self._paths[found.repo_id, commit.sha] = sorted(commit.files)
        root = f"{found.path}/" if found.path else ""
        first = bisect.bisect_left(paths, root)
        listed = []
        for path in paths[first:]:
            if not path.startswith(root):
                break
            listed.append(_entry(commit, commit.files[path]))
        return listed

    def read(self, commit: HubCommit, path: str) -> str | None:
        """Return the text of a small file of a commit; None if there is none.

        Raises:
            DownloadError: the file cannot be fetched.
        """
        from datasets_core.fetch.hub.files import read_small  # takes 10 ms; other stores do not need it

        data = read_small(self.hub, commit, path, _MAX_TEXT_BYTES) if path in commit.files else None
        return None if data is None else data.decode("utf-8", errors="replace")

    def _members(self, commit: HubCommit, file: HubFile | None, url: str) -> list[FileEntry]:
        """Return the files of an archive of a commit; they only change with the archive."""
        if file is None:
            raise DataFilesNotFoundError(
                f"The file {redact(url.rpartition('::')[2])} does not exist",
                advice="Check the path after '::'",
                file=redact(url.rpartition("::")[2]),
            )
        from datasets_core.fetch.archive import walk  # takes 6 ms; plain files do not need it

        protocol, outer = url.partition("://")[0], commit.url(file.path)
        if outer not in self._inside:
            with self.open(outer) as archive:
                members = [member for member, _ in walk(archive, known_as=outer) if member.kind == "file"]
            self._inside[outer] = [(member.path, member.size) for member in members]
        return [FileEntry(f"{protocol}://{path}::{outer}", size, file.etag) for path, size in sorted(self._inside[outer])]

    def open(self, url: str) -> BinaryIO:
        """Return a file by its pinned URL, read as far as needed; nothing is cached."""
        from datasets_core.fetch.streaming import StreamingDownloadManager  # takes 20 ms; most formats do not need it

        file: BinaryIO = StreamingDownloadManager(download_config=self._downloads).download(url).open("rb")
        return file

    def _place(self, url: str) -> HubPath:
        found = self._parsed(url)
        assert found is not None, url  # checked with `holds` by the caller
        return found

    @staticmethod
    def _parsed(url: str) -> HubPath | None:
        return parse_hub_url(url.rpartition("::")[2])


def _entry(commit: HubCommit, file: HubFile) -> FileEntry:
    return FileEntry(commit.url(file.path), file.size, file.etag)


DEFAULT = "default"
Trust = bool | Literal["sandbox"] | None
Kind = Literal["file", "folder", "repository"]
# Builder arguments that only the library sets: as options, a card or a user could choose the folder of the build.
_ARGUMENTS = frozenset(inspect.signature(DatasetBuilder.__init__).parameters)
RESERVED_OPTIONS = _ARGUMENTS - {"writer_batch_size", "config_kwargs"} | {"name"}


class Location(NamedTuple):
    """Location of the files of a dataset, decided once from the user's argument.

    Attributes:
        kind: `local` files, an `http` server, a `store` that fsspec opens, or the `hub`.
        path: an absolute local path, or a URL.
        is_folder: True for a local folder that exists.
    """

    kind: Literal["local", "http", "store", "hub"]
    path: str
    is_folder: bool = False

    @classmethod
    def of(cls, path: str) -> Location:
        """Return the location of a path or URL.

        >>> Location.of("/no/such/folder")
        Location(kind='local', path='/no/such/folder', is_folder=False)
        >>> Location.of("hf://datasets/org/name").kind, Location.of("s3://bucket/data").kind
        ('hub', 'store')

        Raises:
            ConfigurationError: the text cannot be a path.
        """
        try:
            os.fsencode(path)
        except UnicodeEncodeError as error:
            raise ConfigurationError(
                f"{path!r} is not a path: it cannot be encoded", advice="Fix the path", value=path
            ) from error
        if "\0" in path:
            raise ConfigurationError(f"{path!r} is not a path: it has a null character", advice="Fix the path", value=path)
        if not files.is_url(path) or path.startswith("file://"):
            local = os.path.abspath(files.local_path(path))
            return cls("local", local, os.path.isdir(local))
        if path.startswith("hf://") and "::" not in path:
            return cls("hub", path)
        return cls("http" if files.is_http(path) else "store", path)


class Request(NamedTuple):
    """The user's request, without splits and build options.

    Attributes:
        path: a format, folder, script, file or URL.
        name: config, or None for the default one.
        data_dir: sub-folder of the data; for a script, the folder of manually downloaded files.
        data_files: the files, as a dict by split or a list.
        cache_dir: folder of finished datasets.
        features: types of the columns.
        token: access token.
        download_config: download options, if given.
        storage_options: options for the file systems of URLs.
        trust_remote_code: how a script runs; see `resolve.trust`.
        options: options of the builder's config.
        version: version, pattern or "experimental_latest"; None for the canonical one.
        revision: branch, tag or commit of a repository on the Hub; None for the main branch.
        timeout: time limit of the code of a script in seconds; None for no limit.
        is_streamed: True for streaming: versions of files on http servers are checked when they are read.
    """

    path: str
    name: str | None = None
    data_dir: str | None = None
    data_files: DataFiles | None = None
    cache_dir: str | None = None
    features: Features | None = None
    token: bool | str | None = None
    download_config: DownloadConfig | None = None
    storage_options: dict[str, Any] | None = None
    trust_remote_code: Trust = None
    options: Mapping[str, Any] = {}
    version: str | Version | None = None
    revision: str | None = None
    timeout: Deadline | None = None
    is_streamed: bool = False

    def builder(
        self,
        cls: Callable[..., DatasetBuilder],
        options: Mapping[str, Any],
        *,
        recorded: Version | str | None = None,
        **own: Any,
    ) -> DatasetBuilder:
        """Return a builder with the arguments common to every kind of source.

        Args:
            cls: its class, or a function that creates it.
            options: options of its config.
            recorded: the only version of the dataset, if recorded.
            own: arguments specific to the source.

        Raises:
            ConfigurationError: an option has the name of an argument that the library sets.
            UnknownVersionError: a version other than the recorded one is requested.
        """
        version = self.version if recorded is None else Versions.of(recorded).pick(self.version, dataset=self.path)
        clash = sorted(RESERVED_OPTIONS & options.keys())
        if clash:
            raise ConfigurationError(
                f"Unknown config option {clash[0]!r}: it follows from the other arguments", advice="Omit it"
            )
        data_files = own.get("data_files")
        if isinstance(data_files, DataFilesDict) and not self.is_streamed and not data_files.is_local:
            own["data_files"] = versioned(data_files, self.downloads)
        return cls(
            cache_dir=self.cache_dir,
            features=self.features,
            token=self.token,
            storage_options=self.storage_options,
            version=version,
            **own,
            **options,
        )

    @property
    def location(self) -> Location:
        """The location of the path, and whether a folder exists there."""
        return Location.of(self.path)

    @property
    def downloads(self) -> DownloadConfig:
        """Return the download options, with the same rules as in the build."""
        return self.download_config or DownloadConfig(
            cache_dir=None if self.cache_dir is None else files.join(self.cache_dir, "downloads"),
            token=self.token,
            storage_options=self.storage_options or {},
        )


class Source(Protocol):
    """Interface of the target of a reference."""

    @property
    def request(self) -> Request:
        """The request, completed from the reference."""
        ...

    @property
    def config_names(self) -> list[str]:
        """The names of its configs, at least one."""
        ...

    @property
    def default_config_name(self) -> str | None:
        """The default config; None if a config must be named."""
        ...

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """Infos recorded by the author, by config."""
        ...

    def builder(self) -> DatasetBuilder:
        """Return the builder of the requested config."""
        ...


def commits_of(request: Request) -> HubCommits:
    """Return the Hub listings for a request, with its user's token; sends no request before the first access."""

    def hub() -> Hub:
        from datasets_core.fetch.hub.client import Hub  # takes 10 ms; other stores do not need it

        return Hub.of(request.token, config=request.download_config)

    return HubCommits(hub, request.downloads)


def files_below(folder: str, storage_options: dict[str, Any] | None, known: Listing | None = None) -> DataFilesDict:
    """Return the files of a folder by the split in their names.

    Args:
        folder: a local path or a URL.
        storage_options: options for the file system of a URL.
        known: listings of stores.

    Raises:
        DataFilesNotFoundError: the folder does not exist, or contains no data file.
    """
    if files.is_url(folder):
        if known is not None and known.holds(folder):
            base = known.pinned(folder)
            return infer_data_files(known.list_folder(base), base, refuses_gaps=not known.is_whole(base))
        return infer_data_files(list_folder(folder, storage_options=storage_options), folder)
    base = os.path.abspath(files.local_path(folder))
    try:
        listing = files.list_files(base, skip_hidden=True, every_kind=True)
    except OSError:
        listing = list_folder(base)  # raises an error with the reason
    return infer_data_files(listing, base)


def checked_trust(trust: object) -> Trust:
    """Return a valid value of `trust_remote_code`.

    Raises:
        ConfigurationError: the value is not True, False, None or "sandbox".

    >>> checked_trust("sandbox")
    'sandbox'
    """
    if trust is None or trust is True or trust is False:
        return trust
    if isinstance(trust, str) and trust == "sandbox":
        return "sandbox"
    raise ConfigurationError(
        f"trust_remote_code={trust!r} is not valid",
        advice=(
            "Pass True (run scripts unconfined), False (run none), 'sandbox', or omit it: a script given by path runs "
            "unconfined, and one found in a folder runs in the sandbox"
        ),
        value=trust,
    )


# Versions of data files on http servers, which have no listing: a changed file makes another dataset.


def versioned(data_files: DataFilesDict, config: DownloadConfig) -> DataFilesDict:
    """Return the same files; the identity of a file on an http server is its current version.

    If a server does not answer, the version in the cache of downloads is used.

    Raises:
        DownloadError: a server refuses, or does not answer and the file is not cached.
    """
    urls = {path: outer for path in _paths(data_files) if files.is_http(outer := path.rpartition("::")[2])}
    if not urls:
        return data_files
    from datasets_core.fetch.downloads import DownloadManager  # takes 20 ms; local files do not need it

    versions = DownloadManager(download_config=config).versions(urls.values())
    found = {path: versions[url] for path, url in urls.items()}
    return DataFilesDict({split: _identified(listed, found) for split, listed in data_files.items()})


def _paths(data_files: DataFilesDict) -> Iterable[str]:
    return (path for listed in data_files.values() for path in listed)


def _identified(listed: DataFilesList, versions: dict[str, str]) -> DataFilesList:
    identities = ((path, size, versions.get(path, known)) for path, size, known in listed.identities)
    return DataFilesList(listed, identities, listed.links)
