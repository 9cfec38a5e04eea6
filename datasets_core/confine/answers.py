"""`Answers`: what a confined script asks for while it names its splits, fetched by the real manager, and kept for replays."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from datasets_core import files
from datasets_core.confine.asked_downloads import CONFIG_FIELDS
from datasets_core.confine.granted import Granted, is_remote
from datasets_core.confine.reported import head_of
from datasets_core.errors import ConfigurationError, DatasetBuildError, DatasetsCoreError, DeniedAccessError
from datasets_core.fetch.download import DownloadManager
from datasets_core.redact import redact

Record = dict[str, dict[str, str]]
"""What was asked for, by what is asked of it, and where it is."""

_MOST_NAMES = 1_000_000


def confined_manager(manager: Any, granted: Granted, folder: str) -> Any:
    """A download manager for a confined script: with a folder of its own, without secrets, on its guard at every hop.

    Args:
        manager: the one of the build; one that is no `DownloadManager` is the user's own, and taken as it is.
        granted: the rules.
        folder: of downloads.
    """
    if isinstance(manager, DownloadManager):
        manager.download_config = manager.download_config.copy()
        manager.download_config.cache_dir = folder
        manager.download_config.token, manager.download_config.storage_options = None, {}
        manager.guarded(granted.address)
    return manager


def manager_form(manager: Any, script: str, *, base_path: str, folder: str) -> dict[str, Any]:
    """What a confined script is told of the download manager.

    Args:
        manager: the manager.
        script: the script.
        base_path: what relative paths start from.
        folder: of downloads.
    """
    config = getattr(manager, "download_config", None)
    return {
        "script": script,
        "dataset_name": getattr(manager, "dataset_name", None),
        "data_dir": getattr(manager, "manual_dir", None),
        "record_checksums": bool(getattr(manager, "record_checksums", True)),
        "is_streaming": bool(getattr(manager, "is_streaming", False)),
        "base_path": base_path,
        "downloads": folder,
        "extracted": os.path.join(folder, "extracted"),
        "config": {name: getattr(config, name) for name in CONFIG_FIELDS} if config is not None else {},
    }


class Answers:
    """Answers the questions of a confined script; called with each.

    Args:
        granted: the rules.
        base_path: what relative paths start from.
        folder: of downloads, readable for the script.
        manager: fetches and unpacks; None answers from the record alone.
        record: what was answered before; it grows.
        blind: what a run of the script that cannot see the user's files asks for; None where there are none, or in such a run.
    """

    def __init__(
        self,
        granted: Granted,
        *,
        base_path: str,
        folder: str,
        manager: Any = None,
        record: Record | None = None,
        blind: Callable[[], Record] | None = None,
    ) -> None:
        self._granted, self._base_path, self._folder, self._manager = granted, base_path, folder, manager
        self.record: Record = {} if record is None else record
        self._blind, self._from_blind = blind, None

    _from_blind: Record | None

    def __call__(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer: places, or an error for the script to raise."""
        try:
            asked = question.get("ask")
            if asked == "recorded":
                recorder = getattr(self._manager, "get_recorded_sizes_checksums", None)
                return {"recorded": {} if recorder is None else recorder()}
            names = question.get("names")
            if not isinstance(names, list) or len(names) > _MOST_NAMES or not all(isinstance(name, str) for name in names):
                raise ConfigurationError(f"{self._granted.script} asks what is no question. Do not trust it.")
            if asked in ("download", "extract", "fetch"):
                return {"places": self._places("download" if asked == "fetch" else asked, names)}
            raise ConfigurationError(
                f"{self._granted.script} asks for {str(asked)[:100]!r}, which is not known. Do not trust it."
            )
        except DatasetsCoreError as error:
            return head_of(error)

    def _places(self, what: str, names: list[str]) -> list[str]:
        known = self.record.setdefault(what, {})
        new = [name for name in names if name not in known]
        if new:
            self._check_known(what, new)
            found = self._downloaded(new) if what == "download" else self._extracted(new)
            known.update(zip(new, found, strict=True))
        return [known[name] for name in names]

    def _check_known(self, what: str, names: list[str]) -> None:
        if self._manager is None:
            raise DatasetBuildError(
                f"{self._granted.script} asks for {redact(names[0])!r} in another process, and did not when its splits were "
                "named. Mend the script: it must ask for the same files each time."
            )
        remote = [name for name in names if what == "download" and is_remote(name)]
        if not remote or not self._granted.holds_user_data:
            return
        if self._from_blind is None:
            self._from_blind = {} if self._blind is None else self._blind()
        for url in remote:
            if url not in self._from_blind.get(what, {}):
                raise DeniedAccessError(f"fetch {redact(url)!r} after it could read your own files", path=self._granted.script)

    def _downloaded(self, names: list[str]) -> list[str]:
        self._granted.urls([name for name in names if is_remote(name)])
        for name in names:
            if not is_remote(name):
                self._local(name)
        return [self._readable(place) for place in self._manager.download(names)]

    def _extracted(self, names: list[str]) -> list[str]:
        remote = [name for name in names if is_remote(name)]
        fetched = dict(zip(remote, self._places("download", remote), strict=True)) if remote else {}
        places = [fetched[name] if name in fetched else self._local(name) for name in names]
        made: list[str] = self._manager.extract(places)
        return [self._readable(place) for place in made]

    def _local(self, name: str) -> str:
        path = files.local_path(name)
        full = path if os.path.isabs(path) else os.path.join(self._base_path, path)
        self._granted.path(full)
        return full

    def _readable(self, place: str) -> str:
        """A file where the script may read it; what the user's own manager put elsewhere is copied."""
        try:
            self._granted.path(place)
        except DeniedAccessError:
            copy = os.path.join(self._folder, "copied", os.path.basename(place))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isdir(place):
                shutil.copytree(place, copy, dirs_exist_ok=True)
            else:
                shutil.copy2(place, copy)
            return copy
        return place
