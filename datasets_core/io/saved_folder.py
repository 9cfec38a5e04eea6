"""Reads and replaces the folder of a saved dataset, in the layout of Hugging Face `datasets`.

The state also has, under keys that the other library ignores, the size and the batches of each file, so that a truncated file
is detected when the folder is opened.
"""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import (
    ArgumentTypeError,
    ColumnLimitError,
    ConfigurationError,
    DamagedShardError,
    DatasetsCoreError,
    FileInPlaceError,
    FileNotFoundDatasetsError,
    ManifestError,
)
from datasets_core.features.formats.formats import RowFormat
from datasets_core.meta.info import DatasetInfo, info_of, parse_json
from datasets_core.store.atomic import StagedFolder
from datasets_core.store.commit import again_on_failure, put_file
from datasets_core.store.manifest import MAX_BELIEVED, kind_of, located, make_mark, runs, sound_mark
from datasets_core.store.pieces import BatchRows
from datasets_core.store.shard import FileShard, Shard, ShardCache, loaded
from datasets_core.store.table import RowTable
from datasets_core.store.writer import END

STATE_FILE, INFO_FILE, GROUP_FILE = "state.json", "dataset_info.json", "dataset_dict.json"
_LEAST_BATCH_BYTES = 64  # of a record batch without columns in a stream
_ADVICE = "Save the dataset again"


def folder_of(path: Any) -> str:
    """Return a folder argument as a local path or a URL.

    Raises:
        ArgumentTypeError: the argument is not a path.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"{path!r} is not a folder", advice="Pass a path or a URL", value=path)
    return located(path)


@dataclass(frozen=True, slots=True)
class SavedShard:
    """One file of a saved dataset.

    Attributes:
        name: name in the folder.
        size: size in bytes; None if the state does not have it.
        batches: number of rows of each batch; None if the state does not have it.
        crc32c: checksums of its batches (`PartSums`); "" if the state does not have them.
    """

    name: str
    size: int | None = None
    batches: Sequence[int] | None = None
    crc32c: str = ""

    def form(self) -> dict[str, Any]:
        """Return the entry of the file in the state."""
        sums = {"crc32c": self.crc32c} if self.crc32c else {}
        return {"filename": self.name, "size": self.size, "batches": runs(self.batches or ()), **sums}


@dataclass(frozen=True, slots=True)
class Saved:
    """The description of a saved dataset.

    Attributes:
        info: info of the dataset, features included.
        shards: the files with the rows, in order.
        fingerprint: the identity of the rows; None if the state does not have it.
        split: the split of the rows.
        format: output format of the rows.
        index_files: files of row numbers, written by old versions of Hugging Face `datasets`.
    """

    info: DatasetInfo
    shards: tuple[SavedShard, ...]
    fingerprint: str | None = None
    split: str | None = None
    format: RowFormat = field(default_factory=RowFormat)
    index_files: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """Return the content of `state.json`."""
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
        """Return the content of `dataset_info.json`."""
        form = self.info.to_dict()
        return {name: form[name] for name in sorted(form)}

    @classmethod
    def parse(cls, state: Any, description: Any, *, path: str) -> Saved:
        """Return the content of the two files.

        Raises:
            ManifestError: the content is invalid.
        """
        try:
            names = [found["filename"] for found in state["_data_files"]]
            if len(set(names)) < len(names):
                raise ValueError("a file is listed twice")
            return cls(
                info=info_of(description, path=files.join(path, INFO_FILE)),
                shards=tuple(_shard(found) for found in state["_data_files"]),
                fingerprint=_text(state, "_fingerprint"),
                split=_text(state, "_split"),
                format=RowFormat(
                    _text(state, "_format_type"),
                    None if state.get("_format_columns") is None else tuple(map(_column, state["_format_columns"])),
                    bool(state.get("_output_all_columns")),
                    dict(state.get("_format_kwargs") or {}),
                ),
                index_files=tuple(_inside(found["filename"]) for found in state.get("_indices_data_files") or ()),
            )
        except (ColumnLimitError, ManifestError):
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            reason = f"the state is invalid ({type(error).__name__}: {error})"
            raise ManifestError(files.join(path, STATE_FILE), reason, advice=_ADVICE) from error


def _text(state: Mapping[str, Any], name: str) -> str | None:
    value = state.get(name)
    if not isinstance(value, str | None):
        raise TypeError(f"{name!r} is {value!r}, which is not a string")
    return value


def _column(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"'_format_columns' has {name!r}, which is not a string")
    return name


def _shard(found: Mapping[str, Any]) -> SavedShard:
    size, batches = found.get("size"), found.get("batches")
    if size is None or batches is None:
        return SavedShard(_inside(found["filename"]))
    coded = [(int(rows), int(count)) for rows, count in batches]
    if any(rows < 0 or count < 1 for rows, count in coded):
        raise ValueError(f"{found['filename']!r} has a batch with a negative number of rows")
    if (
        sum(count for _, count in coded) * _LEAST_BATCH_BYTES > int(size)
        or sum(rows * count for rows, count in coded) >= 1 << 63
    ):
        raise ValueError(f"{found['filename']!r} has more rows or batches than a file of {size} bytes can hold")
    return SavedShard(_inside(found["filename"]), int(size), BatchRows(coded), str(found.get("crc32c") or ""))


def _inside(name: str) -> str:
    if not isinstance(name, str) or not name or posixpath.isabs(name) or ".." in name.split("/") or {"\\", "\0"} & set(name):
        raise ValueError(f"{name!r} is not a file of the folder")
    os.fsencode(name)  # a ValueError, where no file can have that name
    return name


# -- reading -----------------------------------------------------------------------------------------------------------


def is_saved_dataset(folder: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Return True if the folder has one dataset."""
    return all(files.entry(files.join(folder, name), storage_options) for name in (STATE_FILE, INFO_FILE))


def is_saved_group(folder: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Return True if the folder has the datasets of several splits."""
    return files.entry(files.join(folder, GROUP_FILE), storage_options) is not None


def read_saved(folder: str, storage_options: dict[str, Any] | None = None) -> Saved:
    """Return the description of the dataset in a folder.

    Raises:
        FileNotFoundDatasetsError: the folder has no dataset.
        ManifestError: the state or the description is invalid.
    """
    state = read_json(files.join(folder, STATE_FILE), storage_options)
    embedded = state.get("_info") if isinstance(state, dict) else None
    description = embedded or read_json(files.join(folder, INFO_FILE), storage_options)
    return Saved.parse(state, description, path=folder)


def read_group(folder: str, storage_options: dict[str, Any] | None = None) -> dict[str, Saved]:
    """Return the descriptions of the datasets in a folder, by split.

    Raises:
        FileNotFoundDatasetsError: the folder has no datasets.
        ManifestError: the list of splits, a state or a description is invalid.
    """
    path = files.join(folder, GROUP_FILE)
    group = read_json(path, storage_options)
    try:
        names, states = list(map(_inside, group["splits"])), dict(group.get("_states") or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ManifestError(path, f"the list of splits is invalid ({error})", advice=_ADVICE) from error
    saved: dict[str, Saved] = {}
    for name in names:
        place = files.join(folder, name)
        if name in states:
            saved[name] = Saved.parse(states[name], states[name].get("_info"), path=place)
            if all(_entry(place, shard, storage_options) is not None for shard in saved[name].shards):
                continue  # otherwise the split was saved again separately
        saved[name] = read_saved(place, storage_options)
    return saved


def read_json(path: str, storage_options: dict[str, Any] | None = None) -> Any:
    """Return the content of a JSON file of a saved dataset."""
    try:
        if not files.is_url(path) and files.entry(path) is None:  # none, or a pipe or device
            raise FileNotFoundError(path)
        with files.open_binary(path, storage_options) as handle:
            content = handle.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundDatasetsError(
            f"{path} does not exist", advice="Pass a folder written by save_to_disk", file=path
        ) from error
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
    """Return the rows of a saved dataset, and their index if it has one.

    Remote files are fetched into the cache; local files are mapped.

    Args:
        folder: its folder.
        saved: its description.
        in_memory: True to read the files instead of mapping them; None reads files below the setting `max_memory_bytes`.
        storage_options: options for fsspec.

    Raises:
        DamagedShardError: a file is missing or truncated, or its rows are inconsistent.
    """
    folder = located(folder)
    entries = [_checked(folder, shard, storage_options) for shard in saved.shards]
    paths = _fetched([entry.path for entry in entries], storage_options)
    if in_memory is None:
        in_memory = 0 < sum(max(entry.size, 0) for entry in entries) < settings().max_memory_bytes
    claimed = sum(len(shard.batches or ()) for shard in saved.shards)
    shard_cache, shards, schema = ShardCache(), list[Shard](), None
    for shard, entry, path in zip(saved.shards, entries, paths, strict=True):
        kind = _kind(path, shard)
        own = entry if path == entry.path else None
        opened = FileShard(
            path,
            kind,
            shard_cache,
            rows=shard.batches,
            schema=schema,
            in_memory=in_memory,
            entry=own,
            sums=shard.crc32c,
            verify_reads=settings().verify_reads,
            is_foreign=True,
        )
        if claimed > MAX_BELIEVED:
            opened.check_count()
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
        reason = f"the file has {found.size:,} bytes, but {shard.size:,} are recorded"
        raise DamagedShardError(path, reason, advice=_ADVICE)
    return found


def _kind(path: str, shard: SavedShard) -> str:
    if shard.size is None:
        return kind_of(path)
    with open(path, "rb") as handle:
        head = handle.read(4)
        handle.seek(-min(len(END), shard.size), os.SEEK_END)
        if head != END[:4] or handle.read() != END:
            raise DamagedShardError(path, "the file does not begin and end like an Arrow stream", advice=_ADVICE)
    return "stream"


def _check_ends(shard: FileShard) -> None:
    """Check batches without reading the rows: lengths of buffers, and ends of offsets."""
    for index in range(len(shard.batch_rows())):
        try:
            shard.batch(index).validate()
        except pa.ArrowException as error:
            raise DamagedShardError(shard.path, f"batch {index} is not valid Arrow data ({error})", advice=_ADVICE) from error


def _fetched(paths: list[str], storage_options: dict[str, Any] | None) -> list[str]:
    """Return local paths of the same files."""
    if not any(map(files.is_url, paths)):
        return paths
    from datasets_core.fetch.checksums import DownloadConfig
    from datasets_core.fetch.downloads import DownloadManager  # takes 20 ms; local folders do not need it

    config = DownloadConfig(storage_options=storage_options or {}, download_desc="Fetching the saved files")
    found: list[str] = DownloadManager(download_config=config).download(paths)
    return found


# Staged files of saved datasets, moved into place: the whole folder at once, or file by file, with one file as the
# commit.


_OWN = re.compile(r"data-\d{5,}-of-\d{5,}(-[0-9a-f]{8})?\.arrow")
_JSON = (STATE_FILE, INFO_FILE, GROUP_FILE)


def place(staged: StagedFolder, target: str, parts: Mapping[str, Saved], *, group: bool, storage_options: Any = None) -> None:
    """Commit staged files as the saved dataset at `target`.

    Args:
        staged: folder with the files of each part, in a sub-folder of the part's name.
        target: local folder or URL.
        parts: description of each part; a single dataset is the part `""`.
        group: True for the splits of a dictionary.
        storage_options: options for fsspec.

    Raises:
        ConfigurationError: the target contains a built dataset.
        DatasetDiskError, DownloadError: writing to the disk or the store failed; existing content is unchanged.
    """
    if not files.is_url(located(target)) and _is_ours_alone(staged.target):
        for name, content in _contents(parts, group=group, embeds=False).items():
            with files.disk_errors(staged.target), open(os.path.join(staged.path, name), "wb") as out:
                out.write(content)
        if staged.take_place():
            for part, saved in parts.items():
                for shard in saved.shards:
                    make_mark(sound_mark(os.path.join(staged.target, part, shard.name), "stream", shard.crc32c))
            return
        for name in _contents(parts, group=group, embeds=False):
            os.unlink(os.path.join(staged.path, name))
    _put_into(_place_of(target, staged, storage_options), staged.path, parts, group)


def check_names(splits: Iterable[str]) -> None:
    """Check that all splits are valid folder names.

    Raises:
        ConfigurationError: a split is not a valid folder name.
    """
    for name in splits:
        if not isinstance(name, str) or name in {"", ".", ".."} or {"/", "\\", "\0"} & set(name):
            raise ConfigurationError(f"The split {name!r} is not a valid folder name", advice="Rename the split")


def refuse_taken(target: str, storage_options: dict[str, Any] | None = None) -> None:
    """Raise an error for a target that is a file, or a folder of the cache, whose metadata would be lost.

    Raises:
        FileInPlaceError: the path is a file.
        ConfigurationError: it contains a built dataset.
    """
    if not files.is_url(target) and os.path.exists(target) and not os.path.isdir(target):
        raise FileInPlaceError(target)
    if files.entry(files.join(target, INFO_FILE), storage_options) is None:
        return
    description: Any = None
    with contextlib.suppress(DatasetsCoreError):
        description = read_json(files.join(target, INFO_FILE), storage_options)
    if isinstance(description, dict) and "manifest" in description:
        raise ConfigurationError(
            f"{target} contains a dataset built by load_dataset", advice="Save to another folder", file=target
        )


def _contents(parts: Mapping[str, Saved], *, group: bool, embeds: bool) -> dict[str, bytes]:
    """Return the JSON files, first the one that acts as the commit."""
    made: dict[str, bytes] = {}
    if group:
        states = {name: _state(saved, embeds) for name, saved in parts.items()} if embeds else None
        made[GROUP_FILE] = json.dumps({"splits": list(parts)} | ({"_states": states} if embeds else {})).encode()
    for name, saved in parts.items():
        made[os.path.join(name, STATE_FILE)] = json.dumps(_state(saved, embeds), indent=2).encode()
        made[os.path.join(name, INFO_FILE)] = json.dumps(saved.description(), indent=2).encode()
    return made


def _state(saved: Saved, embeds: bool) -> dict[str, Any]:
    return saved.state() | ({"_info": saved.description()} if embeds else {})


def _is_ours_alone(folder: str) -> bool:
    """Return True if the folder is empty or only contains a saved dataset."""
    if not os.path.lexists(folder):
        return True
    splits = set(_splits(folder, None))
    for here, subfolders, names in os.walk(folder):
        if not all(map(_is_own, names)) or set(subfolders) - (splits if here == folder else set()):
            return False
        if any(os.path.islink(os.path.join(here, name)) for name in (*subfolders, *names)):
            return False
    return True


# -- file by file ------------------------------------------------------------------------------------------------------


class _Place(Protocol):
    def names(self, parts: Iterable[str]) -> set[str]: ...
    def put(self, local: str, name: str) -> None: ...
    def write(self, name: str, content: bytes) -> None: ...
    def remove(self, name: str) -> None: ...


def _place_of(target: str, staged: StagedFolder, storage_options: dict[str, Any] | None) -> _Place:
    place = located(target)
    return _Store(place, storage_options) if files.is_url(place) else _Folder(staged)


def _is_own(name: str) -> bool:
    return name in _JSON or _OWN.fullmatch(name) is not None


def _splits(folder: str, storage_options: dict[str, Any] | None) -> list[str]:
    """Return the splits of a dictionary in the folder."""
    try:
        names = read_json(files.join(folder, GROUP_FILE), storage_options)["splits"]
        return [name for name in names if isinstance(name, str) and name not in {".", ".."} and not {"/", "\\"} & set(name)]
    except (DatasetsCoreError, TypeError, KeyError):
        return []


class _Folder:
    def __init__(self, staged: StagedFolder) -> None:
        self._staged, self._root = staged, staged.target

    def names(self, parts: Iterable[str]) -> set[str]:
        """Return the files of saved datasets: of the dataset in the folder, of its splits, and of `parts`."""
        found: set[str] = set()
        for part in {"", *parts, *_splits(self._root, None)}:
            here = os.path.join(self._root, part)
            if os.path.isdir(here):
                found |= {os.path.join(part, name) for name in os.listdir(here) if _is_own(name)}
        return found

    def put(self, local: str, name: str) -> None:
        path = os.path.join(self._root, name)
        with files.disk_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                os.rename(local, path)
            except OSError:
                if not os.path.exists(local):
                    raise
                shutil.move(local, path)
            files.sync_file(path)

    def write(self, name: str, content: bytes) -> None:
        path = os.path.join(self._root, name)
        with files.disk_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        files.write_atomically(path, content)

    def remove(self, name: str) -> None:
        path = os.path.join(self._root, name)
        with contextlib.suppress(OSError):
            os.unlink(path)
        if os.path.dirname(name):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(path))  # if it is empty now


class _Store:
    def __init__(self, url: str, storage_options: dict[str, Any] | None) -> None:
        self._url, self._options = url, storage_options
        self._store, root = files.filesystem(url, storage_options)
        self._root = root.rstrip("/")

    def names(self, parts: Iterable[str]) -> set[str]:
        self._store.invalidate_cache()
        found: set[str] = set()
        for part in {"", *parts, *_splits(self._url, self._options)}:
            with contextlib.suppress(FileNotFoundError):
                paths = self._store.find(f"{self._root}/{part}".rstrip("/"), maxdepth=1)
                found |= {os.path.join(part, os.path.basename(path)) for path in paths if _is_own(os.path.basename(path))}
        return found

    def put(self, local: str, name: str) -> None:
        path = f"{self._root}/{name}"
        self._make_folder(path)
        again_on_failure(f"{self._url}/{name}", partial(put_file, self._store, local, path, os.stat(local).st_size))

    def write(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        self._make_folder(path)
        again_on_failure(f"{self._url}/{name}", lambda: self._store.pipe_file(path, content))

    def _make_folder(self, path: str) -> None:
        again_on_failure(self._url, lambda: self._store.makedirs(path.rpartition("/")[0], exist_ok=True))

    def remove(self, name: str) -> None:
        with contextlib.suppress(Exception):  # each store has its own errors; leftovers there are unreferenced
            self._store.rm_file(f"{self._root}/{name}")


def _put_into(place: _Place, folder: str, parts: Mapping[str, Saved], group: bool) -> None:
    old = place.names(parts)
    placed: list[str] = []
    try:
        named: dict[str, Saved] = {}
        for part, saved in parts.items():
            named[part] = replace(saved, shards=_put_shards(place, folder, part, saved, old, placed))
        contents = _contents(named, group=group, embeds=True)
        commit = next(iter(contents), GROUP_FILE)
        place.write(commit, contents.pop(commit))
    except BaseException:
        for name in placed:
            place.remove(name)
        raise
    if group:
        place.remove(STATE_FILE)  # the state of a single dataset would be read first
    for name, content in contents.items():
        place.write(name, content)
    for name in sorted(old - {commit, *contents, *placed}):
        place.remove(name)


def _put_shards(
    place: _Place, folder: str, part: str, saved: Saved, old: set[str], placed: list[str]
) -> tuple[SavedShard, ...]:
    token = os.urandom(4).hex()
    done = []
    for shard in saved.shards:
        stem, dot, extension = shard.name.rpartition(".")
        is_taken = any(os.path.dirname(name) == part and _OWN.fullmatch(os.path.basename(name)) for name in old)
        name = f"{stem}-{token}{dot}{extension}" if is_taken else shard.name
        placed.append(os.path.join(part, name))
        place.put(os.path.join(folder, part, shard.name), placed[-1])
        done.append(replace(shard, name=name))
    return tuple(done)
