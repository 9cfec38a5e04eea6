"""A folder of data files, local or at a URL, and the card that may name its configs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.versions import NO_VERSION
from datasets_core.errors import DatasetNotFoundError, ManifestError, UnknownConfigError
from datasets_core.meta.config_entries import Card, ConfigEntry, LazyInfos
from datasets_core.meta.data_files import DataFilesDict, looking, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.small_files import UnfitFileError, opened
from datasets_core.resolve import registry
from datasets_core.resolve.formats import infer_format
from datasets_core.resolve.request import DEFAULT, Request, files_below
from datasets_core.store.layout import MANIFEST_NAME, is_named_by_content
from datasets_core.store.manifest import Manifest, read_manifest

_BLOCK_BYTES = 1 << 16
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*---[ \t]*\r?(?:\n|$)")
_CLOSING = re.compile(rb"\n---[ \t]*\r?\n")
_MAX_TEXT_BYTES = 32 << 20  # of a card or a record; those of the largest known datasets have a tenth of it


@dataclass(frozen=True)  # no slots: the card is kept beside the fields
class FolderSource:
    """A folder, local or at a URL, whose card may name configs."""

    request: Request
    folder: str

    @cached_property
    def card(self) -> Card:
        """The card, read once; an empty one where there is none.  A finished dataset is a config by its manifest."""
        found = read_folder_card(self.folder, self.request.storage_options)
        return found if found.configs or self.finished is None else _card_of(self.finished).merge(found)

    @cached_property
    def finished(self) -> Manifest | None:
        """What stands prepared in the folder itself, if this library built it."""
        return read_manifest(self.folder, self.request.storage_options)

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
        base = files.join(self.folder, asked.data_dir or entry.data_dir or "").rstrip("/") or "/"
        chosen = asked.data_files if asked.data_files is not None else entry.data_files
        finished = self._finished_in(base) if chosen is None else None
        if finished is not None:  # shards of a dataset that was replaced may lie beside those of the present one
            chosen = {split: [shard.name for shard in shards] for split, shards in finished.split_shards().items()}
        if chosen is not None:
            own = asked.data_files is not None
            found = resolve_data_files(chosen, base, storage_options=asked.storage_options, of_user=own)
        else:
            found = files_below(base, asked.storage_options)
            _refuse_unfinished(found, base)
        best = infer_format(found, dataset=asked.path, options={**entry.options, **asked.options})
        written = dict(entry.options)
        features = written.pop("features", None)
        if features is None and finished is not None:
            features = finished.info.features
        made = replace(asked, features=asked.features or features).builder(
            registry.builder_class(best.name),
            {**best.options, **written, **asked.options},
            recorded=entry.version,
            dataset_name=(finished.info.dataset_name if finished is self.finished and finished else None)
            or _dataset_name(self.folder),
            config_name=entry.name,
            base_path=self.folder,
            data_files=best.files,
            info=self._info(card, entry),
        )
        made.is_partial = self._is_partial
        return made

    def _finished_in(self, base: str) -> Manifest | None:
        return self.finished if base == self.folder else read_manifest(base, self.request.storage_options)

    @property
    def _is_partial(self) -> bool:
        """Whether the user chose files: a part of them has other totals than the whole."""
        return self.request.data_files is not None or self.request.data_dir is not None

    def _entry(self, card: Card) -> ConfigEntry:
        """The config that is asked for.  Files or a folder of the user's own stand outside the card's configs."""
        asked = self.request
        if asked.name is None and self._is_partial:
            return ConfigEntry(DEFAULT)
        known = {entry.name: entry for entry in card.configs} or {DEFAULT: ConfigEntry(DEFAULT)}
        wanted = asked.name or _default_of(card)
        if wanted is None or wanted not in known:
            raise UnknownConfigError(wanted, dataset=asked.path, known=known)
        return known[wanted]

    def _info(self, card: Card, entry: ConfigEntry) -> DatasetInfo | None:
        """What the card records of the config, unless the user's own files take the place of all configs."""
        return None if self.request.name is None and self._is_partial else card.infos.get(entry.name)


def read_folder_card(folder: str, storage_options: dict[str, Any] | None = None, *, is_confined: bool = False) -> Card:
    """What `dataset_infos.json`, `.huggingface.yaml` and `README.md` of a folder say, joined; the last named has the word.

    The infos of a config are parsed when they are asked for.

    Args:
        folder: local, or at a URL.
        storage_options: for the URL.
        is_confined: nobody trusts the folder, so that none of them is a link to elsewhere.

    Raises:
        ManifestError: one of them is broken.
    """
    card = Card()
    for name in _RECORDS:
        said = _read_record(files.join(folder, name), storage_options, within=folder if is_confined else None)
        if said is not None:
            card = card.merge(Card(getattr(said, "configs", []), said))
    return card


def recorded_info(folder: str, name: str, *, is_confined: bool = False) -> DatasetInfo | None:
    """What the files of `read_folder_card` record of one config of a local folder; read as far as one of them says it.

    Raises:
        ManifestError: one of them is broken.
    """
    for record in reversed(_RECORDS):
        said = _read_record(os.path.join(folder, record), None, within=folder if is_confined else None)
        found = None if said is None else said.get(name)
        if found is not None:
            return found
    return None


_RECORDS = ("dataset_infos.json", ".huggingface.yaml", "README.md")


def _read_record(path: str, storage_options: dict[str, Any] | None, *, within: str | None) -> LazyInfos | None:
    text = read_text(path, storage_options, is_headed=path.endswith(".md"), within=within)
    if text is None:
        return None
    from datasets_core.meta.lazy_card import LazyCard, LazyDatasetInfos  # by yaml: 15 ms that most folders do without

    return LazyDatasetInfos(text, path=path) if path.endswith(".json") else LazyCard(text, path=path)


def _card_of(finished: Manifest) -> Card:
    """The one config of a dataset that stands prepared, and what is recorded of it, but for what only its own build knew."""
    info, version = finished.info.copy(), finished.info.version
    info.builder_name = info.download_checksums = info.download_size = info.size_in_bytes = None
    name = info.config_name or DEFAULT
    return Card([ConfigEntry(name, version=None if version in (None, NO_VERSION) else str(version))], {name: info})


def read_text(
    path: str, storage_options: dict[str, Any] | None, *, is_headed: bool = False, within: str | None = None
) -> str | None:
    """A small file as text, or None where there is none; a README (`is_headed`) as far as its front matter goes.

    A file that lies in truth in another folder than `within`, if that is given, is refused.
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
            except UnfitFileError as error:  # a pipe may never end, a device may have no end
                raise ManifestError(path, str(error)) from error
        if files.entry(path, storage_options) is None:
            return None
        with files.open_binary(path, storage_options) as remote:
            return remote.read().decode("utf-8", errors="replace")


def _head(file: BinaryIO) -> bytes:
    """The front matter with the line that closes it; all where none closes it, and little where none is begun."""
    head = file.read(_BLOCK_BYTES)
    if _OPENING.match(head) is None:
        return head
    begin = 0
    while True:
        closing = _CLOSING.search(head, begin)
        if closing is not None:
            return head[: closing.end()]
        block = file.read(_BLOCK_BYTES)
        if not block:
            return head
        begin = max(0, head.rfind(b"\n"))  # a line that closes it may have been cut
        head += block


def _refuse_unfinished(found: DataFilesDict, folder: str) -> None:
    names = [path.rpartition("/")[2] for paths in found.values() for path in paths]
    shard = next(filter(is_named_by_content, names), None)
    if shard is not None:
        raise DatasetNotFoundError(
            f"{folder} holds shards such as {shard} and no {MANIFEST_NAME}: a build there did not end. "
            "Build it again, or name the files by data_files=."
        )


def _default_of(card: Card) -> str | None:
    return card.default_config if card.configs else DEFAULT


def _dataset_name(folder: str) -> str:
    return os.path.basename(folder.rstrip("/")) or DEFAULT
