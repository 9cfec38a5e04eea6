"""The dataset in the viewer: a reference of `load_dataset`, a dataset or a stream, opened with its metadata."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from datasets_core import config
from datasets_core.building.built import Built
from datasets_core.building.prepared import builder_from_directory
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DatasetNotFoundError,
    DatasetsCoreError,
    UnknownSplitError,
)
from datasets_core.features.schema import Features
from datasets_core.fetch.http import RECEIVED
from datasets_core.files import is_url
from datasets_core.inspect import get_dataset_config_names
from datasets_core.io.saved_folder import is_saved_dataset, is_saved_group
from datasets_core.load import load_dataset_builder, load_from_disk
from datasets_core.store.diff import Difference, compare_tables
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.rows.view import blocks
from datasets_core.store.table import RowTable
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict
from datasets_core.viewer.queries import Queries, View

STREAMED_ROWS = 200
"""Rows of a stream that are read at once."""
_STREAM_BYTES = 16 << 20  # memory to read them: the pages of a large row group are fetched one by one, not the whole
_MOST_CARD_CHARACTERS = 200_000
_MOST_SHARDS = 400
_ASKED = ("path", "data_files", "data_dir", "revision", "token", "storage_options", "trust_remote_code")


@dataclass
class Opened:
    """A dataset opened in the viewer.

    Args:
        title: name of the dataset.
        queries: queries of its rows.
        split: the split expression that is shown first.
        builder: the builder it comes from; None for rows passed by a program.
        folder: folder of its files, if it was saved.
        reference: the arguments of `load_dataset` that it was opened with.
        streams: the streams whose first rows are shown, by split.
        other: the dataset that it is compared with.
        received: bytes that came from a server for the rows of each stream.
    """

    title: str
    queries: Queries
    split: str
    builder: Any = None
    folder: str | None = None
    reference: Mapping[str, Any] = field(default_factory=dict)
    streams: dict[str, IterableDataset] = field(default_factory=dict)
    other: Opened | None = None
    received: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _difference: Difference | None = None

    def close(self) -> None:
        """Stop all computations."""
        self.queries.close()
        if self.other is not None:
            self.other.close()

    # -- facts ---------------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Return the title, and the splits with their numbers of rows."""
        return {
            "title": self.title,
            "split": self.split,
            "splits": [{"name": name, "rows": rows.num_rows} for name, rows in self.queries.splits.items()],
            "streams": list(self.streams),
            "other": None if self.other is None else self.other.title,
        }

    def facts(self) -> dict[str, Any]:
        """Return the recorded metadata of the dataset: card, configs, splits, versions, checksums, citation, shards."""
        manifest = self._manifest()
        rows = next(iter(self.queries.splits.values()))
        info = rows.info if manifest is None else manifest.info
        builder = self.builder
        versions = [str(version) for version in getattr(builder, "versions", ()) or ()] if builder is not None else []
        found: dict[str, Any] = {
            "title": self.title,
            "description": info.description or "",
            "homepage": info.homepage or "",
            "license": info.license or "",
            "citation": (info.citation or "").strip(),
            "version": str(info.version or ""),
            "versions": versions,
            "notes": dict(info.release_notes or {}),
            "config": str(info.config_name or ""),
            "configs": self._configs(),
            "card": self._card(),
            "folder": self.folder or (None if builder is None else str(builder.cache_dir)),
            "fingerprint": rows._lineage.fingerprint if rows._lineage.lasts else None,
            "features": [{"name": name, "text": repr(feature)} for name, feature in rows.features.items()],
            "splits": [
                {"name": name, "rows": part.num_rows, "bytes": self._bytes_of(name, manifest)}
                for name, part in self.queries.splits.items()
            ],
            "shards": [],
            "sources": [],
            "verification": None,
        }
        if manifest is not None:
            found |= {
                "verification": manifest.verification,
                "created": manifest.created,
                "format": manifest.file_format,
                "commit": manifest.commit,
                "shards": [
                    {"split": shard.split, "name": shard.name, "rows": shard.rows, "bytes": shard.size, "sha256": shard.sha256}
                    for shard in manifest.shards[:_MOST_SHARDS]
                ],
                "num_shards": len(manifest.shards),
                "checksums": [
                    {"url": url, "size": facts.get("num_bytes"), "sha256": facts.get("checksum")}
                    for url, facts in list((info.download_checksums or {}).items())[:_MOST_SHARDS]
                ],
            }
        if self.streams:
            found["cost"] = self._costs()
        return found

    def _manifest(self) -> Manifest | None:
        if self.streams or self.builder is None:
            return read_manifest(self.folder) if self.folder and not is_url(self.folder) and self.builder is not None else None
        try:
            found: Manifest = self.builder._built()
        except DatasetNotFoundError:
            return None
        return found

    def _bytes_of(self, split: str, manifest: Manifest | None) -> int | None:
        if manifest is None:
            return None
        return sum(shard.size for shard in manifest.shards if shard.split == split)

    def _configs(self) -> list[str]:
        if not self.reference:
            return []
        try:
            return list(get_dataset_config_names(**{name: self.reference[name] for name in _ASKED if self.reference.get(name)}))
        except DatasetsCoreError:  # a dataset that was built and whose source is gone, or a saved folder
            return []

    def _card(self) -> str:
        """Return the README of a dataset in a folder."""
        path = str(self.reference.get("path") or "")
        for folder in (path, os.path.dirname(path), self.folder or ""):
            readme = os.path.join(folder, "README.md")
            if folder and not is_url(folder) and os.path.isfile(readme):
                with open(readme, encoding="utf-8", errors="replace") as file:
                    return file.read(_MOST_CARD_CHARACTERS)
        return ""

    def _costs(self) -> dict[str, str]:
        return {split: str(stream.explain(batch_size=STREAMED_ROWS)) for split, stream in self.streams.items()}

    def bytes_read(self, split: str) -> int | None:
        """Return the number of bytes fetched from a server for the shown rows of a stream; None if its files are local."""
        return self.received.get(split) or None

    def read_more(self, split: str) -> int:
        """Double the number of rows read from a stream; return the new number.

        Raises:
            UnknownSplitError: no stream has that name.
        """
        if split not in self.streams:
            raise UnknownSplitError(split, known=self.streams)
        with self._lock:
            rows = _read(self.streams[split], 2 * max(STREAMED_ROWS, self.queries.splits[split].num_rows), split, self.received)
            self.queries.replace(split, rows)
            return rows.num_rows

    # -- two datasets --------------------------------------------------------------------------------------------------

    def difference(self, limit: int = 500) -> Difference:
        """Return the difference between this dataset and the other, computed once.

        Raises:
            ConfigurationError: there is no other dataset.
        """
        if self.other is None:
            raise ConfigurationError("There is nothing to compare with", advice="Pass --diff, or a second dataset to view()")
        with self._lock:
            if self._difference is None:
                sides = [
                    {name: (_plain_table(rows), Features(rows.features)) for name, rows in side.queries.splits.items()}
                    for side in (self, self.other)
                ]
                if [len(side) for side in sides] == [1, 1]:  # two single splits are compared whatever their names
                    sides[1] = dict(zip(sides[0], sides[1].values(), strict=True))
                self._difference = compare_tables(*sides, limit=limit)
            return self._difference


def _plain_table(rows: Dataset) -> RowTable:
    if rows._index is None:
        return rows._table
    return RowTable.from_batches(blocks(rows._table, rows._index), rows._table.schema)


# -- from a reference --------------------------------------------------------------------------------------------------


def open_reference(reference: Mapping[str, Any], split: str | None = None, *, streams: bool | None = None) -> Opened:
    """Open what `load_dataset` would load.

    Args:
        reference: arguments of `load_dataset`; the path may also be that of a saved or prepared folder.
        split: the split expression to show first; None: the first split with rows.
        streams: True to show the first rows of a stream, False to build; None streams a remote dataset that is not built.

    Raises:
        DatasetNotFoundError, DatasetBuildError, UnknownSplitError, SplitSyntaxError, ConfigurationError: the dataset cannot be
            loaded, or has no rows or no columns.
    """
    given = {name: value for name, value in reference.items() if value is not None}
    path = os.fspath(given["path"])
    title = os.path.basename(path.rstrip("/")) or path
    if os.path.isdir(path) and (is_saved_group(path) or is_saved_dataset(path)):
        found = load_from_disk(path)
        text = f"from datasets_core import load_from_disk\nds = load_from_disk({path!r})"
        if isinstance(found, DatasetDict):
            return _checked(
                Opened(title, Queries(found, None, text, each='ds["{split}"]'), "", folder=path, reference=given), split
            )
        name = str(found.split or "train")
        return _checked(Opened(title, Queries({name: found}, None, text, each="ds"), "", folder=path, reference=given), split)
    if os.path.isdir(path) and read_manifest(path) is not None:
        builder: Any = builder_from_directory(path)
        code = f"from datasets_core import builder_from_directory\nds = builder_from_directory({path!r})"
        return _of_builder(builder, title, given, split, f'{code}.as_dataset("{{split}}")')
    before = RECEIVED.num_bytes
    builder = load_dataset_builder(**given)
    options = "".join(f", {name}={value!r}" for name, value in given.items() if name not in ("path", "token", "timeout"))
    code = f'from datasets_core import load_dataset\nds = load_dataset({path!r}{options}, split="{{split}}")'
    is_remote = bool(builder.commit_sha) or is_url(path) or any(map(is_url, _files_of(given.get("data_files"))))
    if streams or (streams is None and is_remote and read_manifest(builder.cache_dir) is None):
        return _of_streams(builder, title, given, split, code.replace("split=", "streaming=True, split="), before)
    builder.download_and_prepare(timeout=given.get("timeout"))
    return _of_builder(builder, title, given, split, code)


def _files_of(data_files: Any) -> list[str]:
    if data_files is None:
        return []
    if isinstance(data_files, str):
        return [data_files]
    values = data_files.values() if isinstance(data_files, Mapping) else data_files
    return [name for each in values for name in _files_of(each)]


def _of_builder(builder: Any, title: str, given: Mapping[str, Any], split: str | None, code: str) -> Opened:
    splits = builder.as_dataset()
    return _checked(
        Opened(title, Queries(splits, lambda text: builder.as_dataset(split=text), code), "", builder, reference=given), split
    )


def _of_streams(builder: Built, title: str, given: Mapping[str, Any], split: str | None, code: str, before: int) -> Opened:
    streams: IterableDatasetDict = builder.as_streaming_dataset()  # type: ignore[attr-defined]
    if split is not None and split not in streams:
        raise UnknownSplitError(split, known=streams)
    chosen = {split: streams[split]} if split is not None else dict(streams)
    return _checked(_opened_streams(chosen, title, code, builder, given, before), split)


def _opened_streams(
    streams: Mapping[str, IterableDataset],
    title: str,
    code: str,
    builder: Any = None,
    given: Mapping[str, Any] | None = None,
    before: int | None = None,
) -> Opened:
    names = list(streams)
    received: dict[str, int] = {}
    first = _read(streams[names[0]], STREAMED_ROWS, names[0], received)
    if before is not None:
        received[names[0]] = RECEIVED.num_bytes - before  # the footers and cards that were read to find the splits, too
    unread = {name: partial(_read, streams[name], STREAMED_ROWS, name, received) for name in names[1:]}
    rows = {name: first if name == names[0] else first.select(range(0)) for name in names}
    queries = Queries(rows, None, code, unread=unread)
    return Opened(title, queries, "", builder, reference=given or {}, streams=dict(streams), received=received)


def _read(stream: IterableDataset, count: int, split: str, received: dict[str, int]) -> Dataset:
    """Return the first rows of a stream, and count the bytes received for them."""
    before = RECEIVED.num_bytes
    try:
        return first_rows(stream, count)
    finally:
        received[split] = received.get(split, 0) + RECEIVED.num_bytes - before


def first_rows(stream: IterableDataset, count: int) -> Dataset:
    """Return the first rows of a stream as a dataset, which opens only the paths that the stream may open."""
    import pyarrow as pa

    with config.using(stream_memory_bytes=min(config.settings().stream_memory_bytes, _STREAM_BYTES)):
        tables = list(stream.with_format("arrow").take(count).iter(batch_size=count))
    if not tables:
        raise ConfigurationError("The stream has no rows.")
    rows = Dataset(pa.concat_tables(tables))
    rows._paths = stream._plan.source.paths
    return rows


def _checked(opened: Opened, split: str | None) -> Opened:
    """Choose the split that is shown first.

    Raises:
        ConfigurationError: the dataset, or the requested split, has no rows or no columns.
    """
    splits = opened.queries.splits
    opened.split = split or next((name for name, rows in splits.items() if rows.num_rows), opened.queries.default_split)
    rows = opened.queries.base(View(opened.split)).rows if splits else None
    if rows is None or not rows.num_rows:
        what = f"Split {split!r} of {opened.title}" if split else opened.title
        raise ConfigurationError(f"{what} has no rows", advice="Name a split with rows by --split, or check the source")
    if not rows.num_columns:
        raise ConfigurationError(f"{opened.title} has no columns, so there is nothing to show.")
    return opened


# -- from a program ----------------------------------------------------------------------------------------------------


def open_rows(given: Any, other: Any = None) -> Opened:
    """Open a dataset, a stream, or splits of these, that a program passes.

    Args:
        given: a `Dataset`, `DatasetDict`, `IterableDataset` or `IterableDatasetDict`.
        other: the dataset to compare it with.

    Raises:
        ArgumentTypeError: the argument has another type.
        ConfigurationError: there are no rows, or no columns.
    """
    opened = _checked(_opened(given), None)
    if other is not None:
        opened.other = _checked(_opened(other), None)
    return opened


def _opened(given: Any) -> Opened:
    if isinstance(given, Dataset):
        return Opened(_title(given), Queries({str(given.split or "train"): given}, each="ds"), "")
    if isinstance(given, DatasetDict):
        title = _title(next(iter(given.values()), None))
        return Opened(title, Queries(given, each='ds["{split}"]'), "")
    if isinstance(given, IterableDataset):
        return _opened_streams({str(given.split or "train"): given}, _title(given), "")
    if isinstance(given, IterableDatasetDict):
        return _opened_streams(given, _title(next(iter(given.values()), None)), 'ds = ds["{split}"]')
    raise ArgumentTypeError(
        f"view() takes a dataset or a stream, found {type(given).__name__}", advice="Load it with load_dataset() first"
    )


def _title(rows: Any) -> str:
    info = getattr(rows, "info", None)
    return str(getattr(info, "dataset_name", None) or "dataset")
