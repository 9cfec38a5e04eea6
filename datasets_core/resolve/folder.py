"""`FolderSource`: a folder of data files, local or at a URL, with its card; `FormatSource`: a format by name."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import option_names
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    ManifestError,
    UnknownConfigError,
    logger_of,
)
from datasets_core.meta.data_files import DataFiles, DataFilesDict, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.listings import UnfitFileError, looking, opened
from datasets_core.meta.version import NO_VERSION
from datasets_core.resolve import registry
from datasets_core.resolve.registry import infer_format, keep_format
from datasets_core.resolve.request import DEFAULT, RESERVED_OPTIONS, HubCommits, Request, Source, commits_of, files_below
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, is_named_by_content, read_manifest

if TYPE_CHECKING:
    from datasets_core.meta.info import Card, ConfigEntry, LazyInfos

logger = logger_of(__name__)

_MOST_ENTRIES = 1 << 12
_BLOCK_BYTES = 1 << 16
_OPENING = rb"(?:\xef\xbb\xbf)?\s*---[ \t]*\r?(?:\n|$)"
_CLOSING = rb"\n---[ \t]*\r?\n"
_MAX_TEXT_BYTES = 32 << 20  # size limit of a card or a record; those of the largest known datasets have a tenth of it


@dataclass(frozen=True)  # no slots: the card is cached as an attribute
class FolderSource:
    """A folder, local or at a URL, whose card may define configs."""

    request: Request
    folder: str

    @cached_property
    def card(self) -> Card:
        """The card, read once; an empty one if there is none.  The manifest of a finished dataset defines one config."""
        found = self._read_card()
        return found if found.configs or self.finished is None else _card_of(self.finished).merge(found)

    @cached_property
    def finished(self) -> Manifest | None:
        """The manifest of a finished build in the folder itself, if it was written by this library."""
        return read_manifest(self.folder, self.request.storage_options) if self.may_hold(MANIFEST_NAME) else None

    @cached_property
    def entries(self) -> Mapping[str, bool] | None:
        """The names in a local folder, each with whether it is a folder; None for other stores, and for large folders."""
        if files.is_url(self.folder):
            return None
        try:
            with os.scandir(self.folder) as entries:
                found = {entry.name: entry.is_dir() for entry in itertools.islice(entries, _MOST_ENTRIES)}
        except OSError:
            return None  # raised by the reader of the files
        return found if len(found) < _MOST_ENTRIES else None

    def may_hold(self, *markers: str) -> bool:
        """Return True if the listing has one of these names, or is unknown; `*.py` matches any script, `*/` any folder."""
        entries = self.entries
        return entries is None or any(_is_among(marker, entries) for marker in markers)

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`."""
        return [entry.name for entry in self.card.configs] or [DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        return _default_of(self.card)

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return self.card.infos

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked, card = self.request, self.card
        entry = self._entry(card)
        base = self._base(asked.data_dir or (entry.data_dir if asked.data_files is None else None) or "")
        chosen = entry.data_files if asked.data_files is None and asked.data_dir is None else asked.data_files
        finished = self._finished_in(base) if chosen is None else None
        if finished is not None:  # shards of a replaced dataset may still be in the folder
            chosen = {split: [shard.name for shard in shards] for split, shards in finished.split_shards().items()}
        try:
            found = self._files_below(base) if chosen is None else self._named_files(chosen, base)
        except DataFilesNotFoundError:
            may_be = base != self.folder or self.may_hold(*registry.DESCRIPTIONS)
            described = described_source(asked, base, self._listing) if chosen is None and may_be else None
            if described is None:
                raise
            return described.builder()
        options = {**entry.options, **asked.options}
        best = infer_format(found, dataset=self._label, options=options, opened=self._open)
        cls = registry.builder_class(best.name)
        written = self._known_options(entry, cls)
        features = written.pop("features", None)
        if features is None and finished is not None:
            features = finished.info.features
        made = asked._replace(features=asked.features or features).builder(
            cls,
            {**best.options, **written, **asked.options},
            recorded=entry.version,
            dataset_name=(finished.info.dataset_name if finished is self.finished and finished else None) or self._dataset_name,
            config_name=entry.name,
            base_path=self.folder,
            data_files=best.files,
            info=self._info(card, entry),
            repo_id=self._repo_id,
        )
        made.is_partial = self._is_partial
        return made

    # -- listings of other stores --------------------------------------------------------------------------------------

    @property
    def _label(self) -> str:
        """The name of the dataset, for error messages."""
        return self.request.path

    @property
    def _dataset_name(self) -> str:
        return os.path.basename(self.folder.rstrip("/")) or DEFAULT

    @property
    def _repo_id(self) -> str | None:
        return None

    @cached_property
    def _listing(self) -> HubCommits:
        """Return the listings of the stores that `data_files` may name."""
        return commits_of(self.request)

    def _open(self, url: str) -> BinaryIO:
        return self._listing.open(url)

    def _read_card(self) -> Card:
        from datasets_core.meta.info import Card

        if not self.may_hold(*RECORDS):
            return Card()
        return read_folder_card(self.folder, self.request.storage_options)

    def _base(self, data_dir: str) -> str:
        """Return the folder that is searched for data files."""
        return files.join(self.folder, data_dir).rstrip("/") or "/"

    def _named_files(self, data_files: DataFiles, base: str) -> DataFilesDict:
        asked = self.request
        return resolve_data_files(
            data_files,
            base,
            storage_options=asked.storage_options,
            of_user=asked.data_files is not None,
            listing=self._listing,
        )

    def _files_below(self, base: str) -> DataFilesDict:
        found = files_below(base, self.request.storage_options)
        _refuse_unfinished(found, base)
        return found

    def _finished_in(self, base: str) -> Manifest | None:
        return self.finished if base == self.folder else read_manifest(base, self.request.storage_options)

    @property
    def _is_partial(self) -> bool:
        """True if the user chose only some of the files, so totals differ from those of the whole dataset."""
        return self.request.data_files is not None or self.request.data_dir is not None

    def _known_options(self, entry: ConfigEntry, cls: type[DatasetBuilder]) -> dict[str, Any]:
        """Return the options of a card for the builder, without those unknown to builders of this format."""
        known = {*option_names(cls.BUILDER_CONFIG_CLASS), "features", *RESERVED_OPTIONS}
        strange = [name for name in entry.options if name not in known]
        if strange:
            said = ", ".join(map(repr, strange))
            logger.warning(
                "The card of %s sets %s for the config %r; %s has no such option, so it is ignored.",
                self._label,
                said,
                entry.name,
                cls.__name__,
            )
        return {name: value for name, value in entry.options.items() if name in known}

    def _entry(self, card: Card) -> ConfigEntry:
        """Return the requested config; its options also apply to files of the user."""
        from datasets_core.meta.info import ConfigEntry

        asked = self.request
        known = {entry.name: entry for entry in card.configs} or {DEFAULT: ConfigEntry(DEFAULT)}
        wanted = asked.name or _default_of(card)
        if wanted is None and self._is_partial:
            return ConfigEntry(DEFAULT)
        if wanted is None or wanted not in known:
            raise UnknownConfigError(wanted, dataset=asked.path, known=known)
        return known[wanted]

    def _info(self, card: Card, entry: ConfigEntry) -> DatasetInfo | None:
        """Return the card's record of the config, unless the user's own files replace the recorded ones."""
        if self._is_partial:
            return None
        found = card.infos.get(entry.name)
        if found is None and not card.configs and len(card.infos) == 1:  # old tools named the only config `owner--name`
            (found,) = card.infos.values()
        return found


def _is_among(marker: str, entries: Mapping[str, bool]) -> bool:
    if marker == "*/":
        return any(entries.values())
    return any(name.endswith(marker[1:]) for name in entries) if marker.startswith("*") else marker in entries


# Kinds of folders: the first kind that returns a source is used.


class FolderKind(NamedTuple):
    """A kind of folder, read by one source.

    Attributes:
        name: description of such a folder.
        markers: names; such a folder has at least one of them (see `FolderSource.may_hold`); other folders are not tried.
        source: returns the source; None if the folder is of another kind.
        is_remote: True if such folders exist in stores too, whose listings are not searched for markers.
        is_inner: True if `data_dir` may be such a folder, whose markers are not in the listing of the outer one.
    """

    name: str
    markers: tuple[str, ...]
    source: Callable[[FolderSource], Source | None]
    is_remote: bool = True
    is_inner: bool = False


def folder_source(request: Request, folder: str) -> Source:
    """Return the source for a folder, by `FOLDER_KINDS`.

    Args:
        request: the request.
        folder: a local folder, or one in a store.

    Raises:
        UntrustedScriptError, ConfinementUnavailableError: the folder has a script that must not run.
        ManifestError, ConfigurationError: a finished dataset in it is damaged, or it contains several datasets.
    """
    given = FolderSource(request, folder)
    for kind in FOLDER_KINDS:
        if not kind.is_remote and files.is_url(folder):
            continue
        if not given.may_hold(*kind.markers) and not (kind.is_inner and request.data_dir):
            continue
        found = kind.source(given)
        if found is not None:
            return found
    return given


def _of_script(given: FolderSource) -> Source | None:
    from datasets_core.meta.reference import script_in  # takes 1 ms; a folder of data does not need it

    script = script_in(given.folder)
    if script is None:
        return None
    from datasets_core.resolve.script import local_script_source  # takes 2 ms; folders of data files do not need it

    return local_script_source(given.request, script, "folder")


def _of_tfds(given: FolderSource) -> Source | None:
    if given.request.data_files is not None:
        return None
    from datasets_core.resolve.tfds_folder import records_source  # takes 5 ms; folders of data files do not need it

    return records_source(given.request, given.folder)


FOLDER_KINDS = (
    FolderKind("a dataset script with the name of the folder", ("*.py",), _of_script, is_remote=False),
    FolderKind("prepared by TensorFlow Datasets, or a folder of its versions", (MANIFEST_NAME, "*/"), _of_tfds, is_inner=True),
)
"""Kinds in the order in which they are tried.  Other folders contain data files (`FolderSource`), which itself checks for
a finished build (`dataset_info.json`), for a card (`RECORDS`), and without data files for a description of remote
files (`registry.DESCRIPTIONS`); the Arrow files of a saved dataset are data files."""


def read_folder_card(folder: str, storage_options: dict[str, Any] | None = None, *, is_confined: bool = False) -> Card:
    """Return the merged `dataset_infos.json`, `README.md` and `.huggingface.yaml` of a folder; later ones take precedence.

    The infos of a config are parsed on first use.

    Args:
        folder: a local path or a URL.
        storage_options: options for the file system of a URL.
        is_confined: True for an untrusted folder: links out of it are not followed.

    Raises:
        ManifestError: a file is invalid.
    """
    within = folder if is_confined else None

    def read(path: str) -> str | None:
        return read_text(path, storage_options, is_headed=path.endswith(".md"), within=within)

    return joined_card(folder, read)


def joined_card(folder: str, read: Callable[[str], str | None]) -> Card:
    """Return the merged records of a folder; the `.yaml` takes precedence over the README.

    Args:
        folder: a local path or a URL.
        read: returns the text of a small file by its path, or None.

    Raises:
        ManifestError: a file is invalid.
    """
    from datasets_core.meta.info import Card, joined

    card = Card()
    for name in RECORDS:
        said = _parsed(files.join(folder, name), read)
        if said is not None:
            card = Card(getattr(said, "configs", []) or card.configs, joined(card.infos, said))
    return card


def recorded_info(folder: str, name: str, *, is_confined: bool = False) -> DatasetInfo | None:
    """Return the record of one config of a local folder in the files of `read_folder_card`; reads them up to the first match.

    Raises:
        ManifestError: a file is invalid.
    """
    within = folder if is_confined else None

    def read(path: str) -> str | None:
        return read_text(path, None, is_headed=path.endswith(".md"), within=within)

    for record in reversed(RECORDS):
        said = _parsed(os.path.join(folder, record), read)
        found = None if said is None else said.get(name)
        if found is not None:
            return found
    return None


RECORDS = ("dataset_infos.json", "README.md", ".huggingface.yaml")


def _parsed(path: str, read: Callable[[str], str | None]) -> LazyInfos | None:
    text = read(path)
    if text is None:
        return None
    from datasets_core.meta.card_sections import (
        LazyCard,
        LazyDatasetInfos,
    )  # imports yaml: takes 15 ms, and most folders do not need it

    return LazyDatasetInfos(text, path=path) if path.endswith(".json") else LazyCard(text, path=path)


def _card_of(finished: Manifest) -> Card:
    """Return the one config of a finished dataset, and its metadata, without those specific to its own build."""
    from datasets_core.meta.info import Card, ConfigEntry

    info, version = finished.info.copy(), finished.info.version
    info.builder_name = info.download_checksums = info.download_size = info.size_in_bytes = None
    name = info.config_name or DEFAULT
    return Card([ConfigEntry(name, version=None if version in (None, NO_VERSION) else str(version))], {name: info})


def read_text(
    path: str, storage_options: dict[str, Any] | None, *, is_headed: bool = False, within: str | None = None
) -> str | None:
    """Return the text of a small file, or only the front matter of a README (`is_headed`); None if there is no text.

    A file whose real path is outside `within`, if given, is refused.
    """
    with looking(path, "read"):
        if not files.is_url(path):
            if os.path.isdir(path):
                return None
            try:
                with opened(path, most_bytes=_MAX_TEXT_BYTES, within=within) as file:
                    return (_head(file) if is_headed else file.read()).decode("utf-8", errors="replace")
            except (FileNotFoundError, NotADirectoryError):
                return None
            except UnfitFileError as error:  # a pipe or a device may be endless
                raise ManifestError(path, str(error)) from error
        if files.entry(path, storage_options) is None:
            return None
        with files.open_binary(path, storage_options) as remote:
            return remote.read().decode("utf-8", errors="replace")


def _head(file: BinaryIO) -> bytes:
    """Return the front matter with its closing line; everything if it is not closed, and little if there is none."""
    head = file.read(_BLOCK_BYTES)
    if re.match(_OPENING, head) is None:
        return head
    begin = 0
    while True:
        closing = re.compile(_CLOSING).search(head, begin)
        if closing is not None:
            return head[: closing.end()]
        block = file.read(_BLOCK_BYTES)
        if not block:
            return head
        begin = max(0, head.rfind(b"\n"))  # a closing line may have been cut off
        head += block


def _refuse_unfinished(found: DataFilesDict, folder: str) -> None:
    names = [path.rpartition("/")[2] for paths in found.values() for path in paths]
    shard = next(filter(is_named_by_content, names), None)
    if shard is not None:
        raise DatasetNotFoundError(
            f"{folder} has shards such as {shard} but no {MANIFEST_NAME}: a build was interrupted",
            advice="Build it again, or pass the files as data_files=",
            file=folder,
        )


def _default_of(card: Card) -> str | None:
    return card.default_config if card.configs else DEFAULT


# Sources for a format with the user's data files, and for one data file in the format of its extension.


class FormatSource(NamedTuple):
    """A format by name, with the user's data files.

    Attributes:
        commits: listings of repositories on the Hub.
    """

    request: Request
    format: str
    commits: HubCommits | None = None

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`; some formats list them in their file."""
        listed = getattr(registry.builder_class(self.format), "config_names_of", None)
        if listed is None or self.request.name is not None:
            return [self.request.name or DEFAULT]
        names: list[str] = listed(self._data_files(), self.request.download_config)
        return names

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        names = self.config_names
        return names[0] if len(names) == 1 else None

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return {}

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked = self.request
        cls = registry.builder_class(self.format)
        return asked.builder(
            cls,
            asked.options,
            dataset_name=self.format,
            config_name=asked.name or DEFAULT,
            base_path=asked.data_dir or os.getcwd(),
            data_files=self._data_files(),
        )

    def _data_files(self) -> DataFilesDict | None:
        asked, commits = self.request, self.commits or commits_of(self.request)
        base = asked.data_dir or ""
        if asked.data_files is not None:
            return resolve_data_files(asked.data_files, base, storage_options=asked.storage_options, listing=commits)
        if asked.data_dir is not None and (names := registry.description_names(self.format)):
            for name in names:
                with contextlib.suppress(DataFilesNotFoundError):
                    return resolve_data_files(name, base, storage_options=asked.storage_options, listing=commits)
            raise DataFilesNotFoundError(
                f"{base} has no {' or '.join(names)}", advice="Pass the file as data_files=", file=base
            )
        if asked.data_dir is not None:
            below = files_below(base, asked.storage_options, commits)
            return keep_format(below, self.format, dataset=base, options=asked.options)
        if not registry.builder_class(self.format).reads_files:
            return None
        raise ConfigurationError(
            f"{self.format!r} is a format, which needs files to read", advice="Pass data_files= or data_dir=", value=self.format
        )


def described_source(request: Request, folder: str, commits: HubCommits | None = None) -> FormatSource | None:
    """Return the source for a folder with only a description of remote data; None without such a file."""
    for name, own_format in registry.DESCRIPTIONS.items():
        asked = request._replace(data_dir=folder, data_files=name)
        with contextlib.suppress(DataFilesNotFoundError):
            resolve_data_files(name, folder, storage_options=request.storage_options, listing=commits or commits_of(request))
            return FormatSource(asked, own_format, commits)
    return None


def file_source(request: Request, path: str, commits: HubCommits | None = None) -> FormatSource:
    """Return the source for one data file, local or at a URL, in the format of its extension.

    Args:
        request: the request.
        path: the file.
        commits: listings of repositories on the Hub.

    Raises:
        DatasetNotFoundError: no format has the extension of the file.
        ConfigurationError: data_files= was given, too.
    """
    if request.data_files is not None:
        raise ConfigurationError(
            f"{request.path!r} is a data file, but data_files= was given, too",
            advice="Pass only one of the two",
            value=request.path,
        )
    named = registry.DESCRIPTIONS.get(path.rpartition("/")[2])
    found = (named, {}) if named is not None else registry.format_of(path)
    if found is None and registry.is_archive(path) and not files.is_url(path):
        name, options, data_files = registry.in_archive(path, request.path)
        return FormatSource(request._replace(data_files=data_files, options={**options, **request.options}), name, commits)
    if found is None:
        raise DatasetNotFoundError(
            f"{request.path!r} does not have the extension of a known format",
            advice=(
                f"If it is in a known format, name that: load_dataset('csv', data_files={request.path!r}). "
                "Else read it with a library of its own, and pass the rows to Dataset.from_list or Dataset.from_generator"
            ),
            value=request.path,
        )
    return FormatSource(request._replace(data_files=path, options={**found[1], **request.options}), found[0], commits)
