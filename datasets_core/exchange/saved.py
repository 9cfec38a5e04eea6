"""The folder of a saved dataset, as Hugging Face `datasets` lays it out: Arrow streams, a description, a state that names them.

The state also holds, under keys that the other library passes over, the size and the batches of each file, so that a cut file
is found when the folder is opened.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ArgumentTypeError, DamagedShardError, FileNotFoundDatasetsError, ManifestError
from datasets_core.format.formatter import RowFormat
from datasets_core.meta.info import DatasetInfo, info_of, parse_json
from datasets_core.store.layout import located
from datasets_core.store.manifest import runs
from datasets_core.store.shard import FileShard, Shard, Shelf, kind_of, loaded
from datasets_core.store.stream_writer import END
from datasets_core.store.table import RowTable

STATE_FILE, INFO_FILE, GROUP_FILE = "state.json", "dataset_info.json", "dataset_dict.json"
_ADVICE = "Save the dataset again"


def folder_of(path: Any) -> str:
    """The folder that an argument names, as a local path or a URL.

    Raises:
        ArgumentTypeError: it is no path.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"{path!r} is no folder. Give the path or the URL of one.")
    return located(path)


@dataclass(frozen=True, slots=True)
class SavedShard:
    """One file.

    Attributes:
        name: in the folder.
        size: bytes; None where the state does not say.
        batches: rows of each batch; None where the state does not say.
    """

    name: str
    size: int | None = None
    batches: tuple[int, ...] | None = None

    def form(self) -> dict[str, Any]:
        """As the state names it."""
        return {"filename": self.name, "size": self.size, "batches": runs(self.batches or ())}


@dataclass(frozen=True, slots=True)
class Saved:
    """All that a folder says of a dataset.

    Attributes:
        info: what is known of the dataset, features included.
        shards: the files of the rows, in order.
        fingerprint: the identity of the rows; None where the state does not say.
        split: the split that the rows are of.
        format: how rows come out.
        index_files: files of row numbers, which old versions of the other library wrote.
    """

    info: DatasetInfo
    shards: tuple[SavedShard, ...]
    fingerprint: str | None = None
    split: str | None = None
    format: RowFormat = field(default_factory=RowFormat)
    index_files: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """The content of `state.json`."""
        return {
            "_data_files": [shard.form() for shard in self.shards],
            "_fingerprint": self.fingerprint,
            "_format_columns": None if self.format.columns is None else list(self.format.columns),
            "_format_kwargs": dict(self.format.kwargs),
            "_format_type": self.format.type,
            "_output_all_columns": self.format.is_complete,
            "_split": self.split,
        }

    def description(self) -> dict[str, Any]:
        """The content of `dataset_info.json`."""
        form = self.info.to_dict()
        return {name: form[name] for name in sorted(form)}

    @classmethod
    def parse(cls, state: Any, description: Any, *, path: str) -> Saved:
        """What the two files say.

        Raises:
            ManifestError: they cannot be understood.
        """
        try:
            return cls(
                info=info_of(description, path=files.join(path, INFO_FILE)),
                shards=tuple(_shard(found) for found in state["_data_files"]),
                fingerprint=state.get("_fingerprint"),
                split=state.get("_split"),
                format=RowFormat(
                    state.get("_format_type"),
                    None if state.get("_format_columns") is None else tuple(state["_format_columns"]),
                    bool(state.get("_output_all_columns")),
                    dict(state.get("_format_kwargs") or {}),
                ),
                index_files=tuple(_inside(found["filename"]) for found in state.get("_indices_data_files") or ()),
            )
        except ManifestError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"the state cannot be understood ({type(error).__name__}: {error})"
            raise ManifestError(files.join(path, STATE_FILE), reason, advice=_ADVICE) from error


def _shard(found: Mapping[str, Any]) -> SavedShard:
    size, batches = found.get("size"), found.get("batches")
    if size is None or batches is None:
        return SavedShard(_inside(found["filename"]))
    rows = [int(rows) for rows, count in batches for _ in range(min(int(count), int(size)))]
    if any(count < 0 for count in rows):
        raise ValueError(f"{found['filename']!r} has a batch of less than no rows")
    return SavedShard(_inside(found["filename"]), int(size), tuple(rows))


def _inside(name: str) -> str:
    if not isinstance(name, str) or not name or posixpath.isabs(name) or ".." in name.split("/") or {"\\", "\0"} & set(name):
        raise ValueError(f"{name!r} names no file of the folder")
    return name


# -- reading -----------------------------------------------------------------------------------------------------------


def is_saved_dataset(folder: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Whether the folder holds one dataset."""
    return all(files.entry(files.join(folder, name), storage_options) for name in (STATE_FILE, INFO_FILE))


def is_saved_group(folder: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Whether the folder holds the datasets of several splits."""
    return files.entry(files.join(folder, GROUP_FILE), storage_options) is not None


def read_saved(folder: str, storage_options: dict[str, Any] | None = None) -> Saved:
    """What a folder says of its dataset.

    Raises:
        FileNotFoundDatasetsError: there is no dataset.
        ManifestError: its state or description cannot be understood.
    """
    state = read_json(files.join(folder, STATE_FILE), storage_options)
    embedded = state.get("_info") if isinstance(state, dict) else None
    description = embedded or read_json(files.join(folder, INFO_FILE), storage_options)
    return Saved.parse(state, description, path=folder)


def read_group(folder: str, storage_options: dict[str, Any] | None = None) -> dict[str, Saved]:
    """What a folder says of its datasets, by split.

    Raises:
        FileNotFoundDatasetsError: there are none.
        ManifestError: their list, a state or a description cannot be understood.
    """
    path = files.join(folder, GROUP_FILE)
    group = read_json(path, storage_options)
    try:
        names, states = list(map(_inside, group["splits"])), dict(group.get("_states") or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ManifestError(path, f"the list of splits cannot be understood ({error})", advice=_ADVICE) from error
    saved: dict[str, Saved] = {}
    for name in names:
        place = files.join(folder, name)
        if name in states:
            saved[name] = Saved.parse(states[name], states[name].get("_info"), path=place)
            if all(_entry(place, shard, storage_options) is not None for shard in saved[name].shards):
                continue  # else that split was saved again, alone
        saved[name] = read_saved(place, storage_options)
    return saved


def read_json(path: str, storage_options: dict[str, Any] | None = None) -> Any:
    """What a JSON file of a saved dataset holds."""
    try:
        with files.open_binary(path, storage_options) as handle:
            content = handle.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundDatasetsError(f"{path} does not exist. Give the folder that save_to_disk made.") from error
    return parse_json(content, path=path)


def _entry(folder: str, shard: SavedShard, storage_options: dict[str, Any] | None) -> files.FileEntry | None:
    found = files.entry(files.join(folder, shard.name), storage_options)
    return None if found is None or (shard.size is not None and found.size not in (-1, shard.size)) else found


def open_saved(
    folder: str,
    saved: Saved,
    *,
    in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> tuple[RowTable, pa.Table | None]:
    """The rows of a saved dataset, and their index where it has one.

    Files of a store are fetched into the cache; a file of this disk is mapped.

    Args:
        folder: where it stands.
        saved: what the folder says.
        in_memory: read the files instead of mapping them; None does so below the setting `max_memory_bytes`.
        storage_options: for fsspec.

    Raises:
        DamagedShardError: a file is missing or cut, or its rows do not fit together.
    """
    folder = located(folder)
    entries = [_checked(folder, shard, storage_options) for shard in saved.shards]
    paths = _fetched([entry.path for entry in entries], storage_options)
    if in_memory is None:
        in_memory = 0 < sum(max(entry.size, 0) for entry in entries) < settings().max_memory_bytes
    shelf, shards, schema = Shelf(), list[Shard](), None
    for shard, entry, path in zip(saved.shards, entries, paths, strict=True):
        kind = _kind(path, shard)
        own = entry if path == entry.path else None
        opened = FileShard(path, kind, shelf, rows=shard.batches, schema=schema, in_memory=in_memory, entry=own)
        if shard.batches is None:
            _check_ends(opened)
        schema = schema or opened.schema
        shards.append(loaded(opened) if in_memory else opened)
    if schema is None:
        schema = pa.schema([]) if saved.info.features is None else saved.info.features.arrow_schema
    index = [RowTable.from_file(path).to_table() for path in _fetched(_joined(folder, saved.index_files), storage_options)]
    return RowTable.from_shards(shards, schema=schema), pa.concat_tables(index) if index else None


def _joined(folder: str, names: Iterable[str]) -> list[str]:
    return [files.join(folder, name) for name in names]


def _checked(folder: str, shard: SavedShard, storage_options: dict[str, Any] | None) -> files.FileEntry:
    path = files.join(folder, shard.name)
    found = files.entry(path, storage_options)
    if found is None:
        raise DamagedShardError(path, "the file is missing", advice=_ADVICE)
    if shard.size is not None and found.size not in (-1, shard.size):
        reason = f"the file has {found.size:,} bytes where {shard.size:,} are on record"
        raise DamagedShardError(path, reason, advice=_ADVICE)
    return found


def _kind(path: str, shard: SavedShard) -> str:
    if shard.size is None:
        return kind_of(path)
    with open(path, "rb") as handle:
        head = handle.read(4)
        handle.seek(-min(len(END), shard.size), os.SEEK_END)
        if head != END[:4] or handle.read() != END:
            raise DamagedShardError(path, "the file does not begin and end as an Arrow stream", advice=_ADVICE)
    return "stream"


def _check_ends(shard: FileShard) -> None:
    """Check what costs no look at the rows: buffers as long as the batches need, offsets that end within them."""
    for index in range(len(shard.batch_rows())):
        try:
            shard.batch(index).validate()
        except pa.ArrowException as error:
            raise DamagedShardError(shard.path, f"batch {index} is not valid Arrow data ({error})", advice=_ADVICE) from error


def _fetched(paths: list[str], storage_options: dict[str, Any] | None) -> list[str]:
    """Local paths of the same files."""
    if not any(map(files.is_url, paths)):
        return paths
    from datasets_core.fetch.download import DownloadManager  # 20 ms that folders of this disk do without
    from datasets_core.fetch.download_config import DownloadConfig

    config = DownloadConfig(storage_options=storage_options or {}, download_desc="Fetching the saved files")
    found: list[str] = DownloadManager(download_config=config).download(paths)
    return found
