"""From what the user asks for to a builder: a format, a folder of data files, a script, or one file or URL.

A reference becomes a `Source`, which knows its configs and makes builders.  Nothing is downloaded, built or written here, and
only a script that the user named or trusted is imported.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import (
    ConfigurationError,
    DatasetNotFoundError,
    UnknownConfigError,
    UntrustedScriptError,
)
from datasets_core.features.schema import Features
from datasets_core.meta.card import Card, ConfigEntry, read_card, read_checksums, read_dataset_infos
from datasets_core.meta.data_files import DataFiles, DataFilesDict, infer_data_files, list_folder, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.resolve import registry
from datasets_core.resolve.formats import infer_format
from datasets_core.resolve.script import load, read_script

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks for, but for splits and the ways of building.

    Attributes:
        path: format, folder, script, file or URL.
        name: config, or None for the default one.
        data_dir: narrows a folder; where a script's manual files lie.
        data_files: the files, by split or not.
        cache_dir: folder of finished datasets.
        features: the types of the columns.
        token: for hosts that ask for one.
        storage_options: for the file systems of URLs.
        trust_remote_code: a script that is found in a folder may run.
        options: for the builder's config.
    """

    path: str
    name: str | None = None
    data_dir: str | None = None
    data_files: DataFiles | None = None
    cache_dir: str | None = None
    features: Features | None = None
    token: bool | str | None = None
    storage_options: dict[str, Any] | None = None
    trust_remote_code: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def builder(self, cls: type[DatasetBuilder], options: Mapping[str, Any], **own: Any) -> DatasetBuilder:
        """A builder of `cls` with what every kind of source passes on."""
        return cls(
            cache_dir=self.cache_dir,
            features=self.features,
            token=self.token,
            storage_options=self.storage_options,
            **own,
            **options,
        )


class Source(Protocol):
    """What a reference turned out to be."""

    @property
    def config_names(self) -> list[str]:
        """The names of its configs, at least one."""

    @property
    def default_config_name(self) -> str | None:
        """The config that is meant when none is named; None where one has to be."""

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """What its author recorded, by config."""

    def builder(self) -> DatasetBuilder:
        """The builder of the config that was asked for."""


def resolve(request: Request) -> DatasetBuilder:
    """The builder that a request means.

    Raises:
        DatasetNotFoundError: the path names nothing.
        DataFilesNotFoundError: a pattern or a folder holds no data file.
        UntrustedScriptError: the folder holds a script, and nobody trusted it.
        UnknownConfigError, UnknownOptionError, UnknownFormatError: a name that does not exist.
    """
    return source_of(request).builder()


def source_of(request: Request) -> Source:
    """What the path of a request is: a format, a script, a folder, or a data file.

    Raises:
        DatasetNotFoundError: none of these.
        UntrustedScriptError: the folder holds a script, and nobody trusted it.
    """
    path = request.path
    if files.is_url(path) and not path.startswith("file://"):
        return _source_at_url(request)
    if registry.is_format(path) and (request.data_files is not None or request.data_dir is not None or not os.path.isdir(path)):
        return FormatSource(request, path)
    local = os.path.abspath(files.local_path(path))
    if os.path.isdir(local):
        script = os.path.join(local, f"{os.path.basename(local)}.py")
        if not os.path.isfile(script):
            return FolderSource(request, local)
        if not request.trust_remote_code:
            raise UntrustedScriptError(script)
        return ScriptSource(request, script)
    if local.endswith(".py"):
        return ScriptSource(request, local)
    if os.path.isfile(local):
        return _file_source(request, local)
    raise _not_found(request, local)


def _source_at_url(request: Request) -> Source:
    url = request.path
    if registry.format_of(url) is not None:
        return _file_source(request, url)
    if files.is_http(url) or "::" in url:
        raise DatasetNotFoundError(
            f"{url} names no data file of a known format. Name the format: load_dataset('csv', data_files={url!r})."
        )
    return FolderSource(request, url.rstrip("/"))


def _file_source(request: Request, path: str) -> FormatSource:
    if request.data_files is not None:
        raise ConfigurationError(f"{request.path!r} is one data file, and data_files names others. Give one of the two.")
    found = registry.format_of(path)
    if found is None:
        raise DatasetNotFoundError(
            f"{request.path!r} has no extension of a known format. "
            f"Name the format: load_dataset('csv', data_files={request.path!r})."
        )
    return FormatSource(replace(request, data_files=path, options={**found[1], **request.options}), found[0])


def _not_found(request: Request, local: str) -> DatasetNotFoundError:
    formats = ", ".join(registry.known_formats())
    there = f"There is no folder, script or data file {local}, and no format {request.path!r} (formats: {formats})."
    if request.path.count("/") <= 1 and not request.path.startswith((".", "~", "/")):
        return DatasetNotFoundError(
            f"{there} Check the path; this version does not load from the Hugging Face Hub, so download a Hub dataset first."
        )
    return DatasetNotFoundError(f"{there} Check the path.")


# -- a format ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FormatSource:
    """A format by name, with the user's data files."""

    request: Request
    format: str

    @property
    def config_names(self) -> list[str]:
        return [self.request.name or DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        return self.request.name or DEFAULT

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        return {}

    def builder(self) -> DatasetBuilder:
        asked = self.request
        base = asked.data_dir or ""
        if asked.data_files is not None:
            found = resolve_data_files(asked.data_files, base, storage_options=asked.storage_options)
        elif asked.data_dir is not None:
            found = _infer(base, asked.storage_options)
        else:
            raise ConfigurationError(f"{self.format!r} is a format and says not what to read. Give data_files= or data_dir=.")
        cls = registry.builder_class(self.format)
        return asked.builder(
            cls,
            asked.options,
            dataset_name=self.format,
            config_name=asked.name or DEFAULT,
            base_path=base or os.getcwd(),
            data_files=found,
        )


def _infer(folder: str, storage_options: dict[str, Any] | None) -> DataFilesDict:
    base = folder if files.is_url(folder) else os.path.abspath(files.local_path(folder))
    return infer_data_files(list_folder(base, storage_options=storage_options), base)


# -- a folder of data files --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder, local or at a URL, whose card may name configs."""

    request: Request
    folder: str

    @property
    def card(self) -> Card:
        """The card of the folder; an empty one where it has none."""
        return read_folder_card(self.folder, self.request.storage_options)

    @property
    def config_names(self) -> list[str]:
        return [entry.name for entry in self.card.configs] or [DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        return _default_of(self.card.configs, self.request.path)

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        return self.card.infos

    def builder(self) -> DatasetBuilder:
        asked, card = self.request, self.card
        entry = self._entry(card)
        base = files.join(self.folder, asked.data_dir or entry.data_dir or "").rstrip("/") or "/"
        chosen = asked.data_files if asked.data_files is not None else entry.data_files
        if chosen is not None:
            found = resolve_data_files(chosen, base, storage_options=asked.storage_options)
        else:
            found = _infer(base, asked.storage_options)
        best = infer_format(found, dataset=asked.path)
        options = {**best.options, **entry.options, **({"version": entry.version} if entry.version else {}), **asked.options}
        return asked.builder(
            registry.builder_class(best.name),
            options,
            dataset_name=_dataset_name(self.folder),
            config_name=entry.name,
            base_path=self.folder,
            data_files=best.files,
            info=self._info(card, entry),
        )

    def _entry(self, card: Card) -> ConfigEntry:
        """The config that is asked for.  Files or a folder of the user's own stand outside the card's configs."""
        asked = self.request
        if asked.name is None and (asked.data_files is not None or asked.data_dir is not None):
            return ConfigEntry(DEFAULT)
        known = {entry.name: entry for entry in card.configs} or {DEFAULT: ConfigEntry(DEFAULT)}
        wanted = asked.name or _default_of(card.configs, asked.path)
        if wanted is None or wanted not in known:
            raise UnknownConfigError(wanted, dataset=asked.path, known=known)
        return known[wanted]

    def _info(self, card: Card, entry: ConfigEntry) -> DatasetInfo | None:
        """What the card records of the config; a part of the files has other totals than the whole."""
        asked = self.request
        partial = asked.data_files is not None or asked.data_dir is not None
        if partial and asked.name is None:
            return None
        info = card.infos.get(entry.name)
        if info is None or not partial:
            return info
        info = copy.copy(info)
        info.splits, info.download_checksums = None, None
        info.download_size, info.dataset_size, info.size_in_bytes = None, None, None
        return info


def read_folder_card(folder: str, storage_options: dict[str, Any] | None = None) -> Card:
    """What `README.md`, `.huggingface.yaml` and `dataset_infos.json` of a folder say, joined; the first named wins.

    Raises:
        ManifestError: one of them is broken.
    """
    configs: dict[str, ConfigEntry] = {}
    infos: dict[str, DatasetInfo] = {}
    for name in ("README.md", ".huggingface.yaml"):
        text = _text(files.join(folder, name), storage_options)
        if text is not None and (name != "README.md" or text.lstrip("\ufeff").startswith("---")):
            card = read_card(text, path=files.join(folder, name))
            configs = {**{entry.name: entry for entry in card.configs}, **configs}
            infos = {**card.infos, **infos}
    old = files.join(folder, "dataset_infos.json")
    text = _text(old, storage_options)
    if text is not None:
        infos = {**read_dataset_infos(text, path=old), **infos}
    return Card(list(configs.values()), infos)


def _text(path: str, storage_options: dict[str, Any] | None) -> str | None:
    """A small file as text, or None where there is none."""
    if not files.is_url(path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
    if files.entry(path, storage_options) is None:
        return None
    with files.open_binary(path, storage_options) as remote:
        return remote.read().decode("utf-8", errors="replace")


def _default_of(configs: Sequence[ConfigEntry], dataset: str) -> str | None:
    if not configs:
        return DEFAULT
    marked = [entry.name for entry in configs if entry.default]
    if len(marked) > 1:
        raise ConfigurationError(f"The card of {dataset!r} calls several configs the default: {', '.join(marked)}. Leave one.")
    if marked:
        return marked[0]
    if len(configs) == 1:
        return configs[0].name
    return DEFAULT if any(entry.name == DEFAULT for entry in configs) else None


def _dataset_name(folder: str) -> str:
    return os.path.basename(folder.rstrip("/")) or DEFAULT


# -- a script ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScriptSource:
    """A script that the user named or trusted."""

    request: Request
    script: str

    @property
    def builder_class(self) -> type[DatasetBuilder]:
        """The class that the script defines; the script runs."""
        return load(read_script(self.script))

    @property
    def config_names(self) -> list[str]:
        return [config.name for config in self.builder_class.BUILDER_CONFIGS] or [DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        cls = self.builder_class
        if cls.DEFAULT_CONFIG_NAME is not None:
            return cls.DEFAULT_CONFIG_NAME
        names = self.config_names
        return names[0] if len(names) == 1 else DEFAULT if DEFAULT in names else None

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        return read_folder_card(os.path.dirname(self.script)).infos

    def builder(self) -> DatasetBuilder:
        asked, script = self.request, read_script(self.script)
        folder = os.path.dirname(script.path)
        found: DataFilesDict | None = None
        if asked.data_files is not None:
            found = resolve_data_files(asked.data_files, asked.data_dir or folder, storage_options=asked.storage_options)
        return asked.builder(
            load(script),
            asked.options,
            dataset_name=os.path.basename(script.path).removesuffix(".py"),
            config_name=asked.name,
            base_path=folder,
            hash=script.digest,
            data_dir=asked.data_dir,
            data_files=found,
            info=self._info(folder),
        )

    def _info(self, folder: str) -> DatasetInfo | None:
        name = self.request.name or self.default_config_name
        info = self.recorded.get(name) if name is not None else None
        path = os.path.join(folder, "checksums.tsv")
        text = _text(path, None)
        if text is None:
            return info
        info = copy.copy(info) if info is not None else DatasetInfo()
        info.download_checksums = {**read_checksums(text, path=path), **(info.download_checksums or {})}
        return info
