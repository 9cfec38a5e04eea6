"""Staged files of saved datasets, put in their place: the whole folder at once, or file by file behind one that is the commit.

Where the place holds nothing but an earlier copy, the folder is exchanged by one rename.  Where it holds other things too, is a
mount point or a store, new files get names of their own, and one JSON file, which then holds all that is said of them, makes
them the dataset.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from datasets_core import files
from datasets_core.errors import ConfigurationError, DatasetsCoreError, FileInPlaceError
from datasets_core.exchange.saved import GROUP_FILE, INFO_FILE, STATE_FILE, Saved, SavedShard, read_json
from datasets_core.store.commit import again_on_failure, put_file
from datasets_core.store.layout import located
from datasets_core.store.swap import StagedFolder

_OWN = re.compile(r"data-\d{5,}-of-\d{5,}(-[0-9a-f]{8})?\.arrow")
_JSON = (STATE_FILE, INFO_FILE, GROUP_FILE)


def place(staged: StagedFolder, target: str, parts: Mapping[str, Saved], *, group: bool, storage_options: Any = None) -> None:
    """Make what was staged the saved dataset at `target`.

    Args:
        staged: holds the files of each part, in a folder of the part's name.
        target: local folder or URL.
        parts: what is to be said of each; a lone dataset is the part `""`.
        group: they are the splits of a dictionary.
        storage_options: for fsspec.

    Raises:
        ConfigurationError: a built dataset stands there.
        DatasetDiskError, DownloadError: the disk or the store refuses; what stood there stands.
    """
    if not files.is_url(located(target)) and _is_ours_alone(staged.target):
        for name, content in _contents(parts, group=group, embeds=False).items():
            with files.disk_errors(staged.target), open(os.path.join(staged.path, name), "wb") as out:
                out.write(content)
        if staged.take_place():
            return
        for name in _contents(parts, group=group, embeds=False):
            os.unlink(os.path.join(staged.path, name))
    _put_into(_place_of(target, staged, storage_options), staged.path, parts, group)


def check_names(splits: Iterable[str]) -> None:
    """Refuse splits that cannot name a folder.

    Raises:
        ConfigurationError: the first of them.
    """
    for name in splits:
        if not isinstance(name, str) or name in {"", ".", ".."} or {"/", "\\", "\0"} & set(name):
            raise ConfigurationError(f"The split {name!r} cannot name a folder. Give it another name.")


def refuse_taken(target: str, storage_options: dict[str, Any] | None = None) -> None:
    """Refuse a file, and a folder of the cache, whose description would be lost.

    Raises:
        FileInPlaceError: a file stands there.
        ConfigurationError: a built dataset stands there.
    """
    if not files.is_url(target) and os.path.exists(target) and not os.path.isdir(target):
        raise FileInPlaceError(target)
    if files.entry(files.join(target, INFO_FILE), storage_options) is None:
        return
    description: Any = None
    with contextlib.suppress(DatasetsCoreError):
        description = read_json(files.join(target, INFO_FILE), storage_options)
    if isinstance(description, dict) and "manifest" in description:
        raise ConfigurationError(f"{target} holds a dataset that load_dataset built. Save to another folder.")


def _contents(parts: Mapping[str, Saved], *, group: bool, embeds: bool) -> dict[str, bytes]:
    """The JSON files, that which is the commit first."""
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
    """Whether the folder holds nothing but a saved dataset, or nothing at all."""
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
    """The splits of a dictionary that stands in the folder."""
    try:
        names = read_json(files.join(folder, GROUP_FILE), storage_options)["splits"]
        return [name for name in names if isinstance(name, str) and name not in {".", ".."} and not {"/", "\\"} & set(name)]
    except (DatasetsCoreError, TypeError, KeyError):
        return []


class _Folder:
    def __init__(self, staged: StagedFolder) -> None:
        self._staged, self._root = staged, staged.target

    def names(self, parts: Iterable[str]) -> set[str]:
        """Files of saved datasets: of the one in the folder, of the splits that it names, and of `parts`."""
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
        with contextlib.suppress(Exception):  # each store has errors of its own; what is left there is named by nothing
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
        place.remove(STATE_FILE)  # of a lone dataset that stood here: it would be read first
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
