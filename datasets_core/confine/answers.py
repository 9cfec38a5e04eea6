"""`Answers`: what a confined script asks for while it names its splits, fetched by the real manager, and kept for replays."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast

from datasets_core import files
from datasets_core.confine.asked_downloads import CONFIG_FIELDS
from datasets_core.confine.granted import Granted, is_remote
from datasets_core.confine.reported import head_of
from datasets_core.errors import DatasetBuildError, DatasetsCoreError, DeniedAccessError, DownloadError
from datasets_core.fetch.download import DownloadManager
from datasets_core.fetch.http import TransientError
from datasets_core.redact import redact

Record = dict[str, dict[str, str]]
"""What was asked for, by what is asked of it, and where it is."""

_MOST_NAMES = 1_000_000
_MOST_OPEN = 256
_MOST_BYTES = 1 << 20  # of one answer


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
        manager.guarded(granted.addresses)
        manager.data_dir = granted.folder(manager.data_dir)
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
        self._blind, self._from_blind = blind, cast("Record | None", None)
        self._open: dict[int, BinaryIO] = {}
        self._num_opened = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_blind": None, "_open": {}}

    def __call__(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer: what was asked for, or an error for the script to raise."""
        try:
            asked = question.get("ask")
            if asked in ("read", "seek", "close"):
                return self._of_open(str(asked), question)
            if asked == "recorded":
                recorder = getattr(self._manager, "get_recorded_sizes_checksums", None)
                return {"recorded": {} if recorder is None else recorder()}
            names = question.get("names")
            if not isinstance(names, list) or len(names) > _MOST_NAMES or not all(isinstance(name, str) for name in names):
                raise self._no_question()
            if asked in ("download", "extract", "extract shown", "fetch", "locate"):
                return {"places": self._places(str(asked), names)}
            if asked in ("whole folder", "whole file") and len(names) == 1 and names[0] in self.record.get("fetch", ()):
                if self._manager is not None:
                    self._manager.tell_whole(names[0], is_folder=asked == "whole folder")
                return {}
            if asked in ("open", "enforced") and len(names) == 1 and is_remote(names[0]):
                self._check([names[0]])
                return self._opened(names[0]) if asked == "open" else {"is_enforced": self._manager.is_enforced(names[0])}
            raise self._no_question()
        except DatasetsCoreError as error:
            return head_of(error)
        except (OSError, ValueError, TransientError) as error:
            return head_of(DownloadError(self._granted.script, f"reading failed ({error})"))

    def _no_question(self) -> DatasetBuildError:
        return DatasetBuildError(f"{self._granted.script} asks what is no question. Do not trust it.")

    # -- files ---------------------------------------------------------------------------------------------------------

    def _places(self, what: str, names: list[str]) -> list[str]:
        known = self.record.setdefault(what, {})
        new = [name for name in dict.fromkeys(names) if name not in known]
        if new:
            if self._manager is None:
                raise DatasetBuildError(
                    f"{self._granted.script} asks for {redact(new[0])!r} in another process, and did not when its splits were "
                    "named. Mend the script: it must ask for the same files each time."
                )
            if not what.startswith("extract"):
                self._check([name for name in new if is_remote(name)])
            known.update(zip(new, getattr(self, f"_{what.replace(' ', '_')}")(new), strict=True))
        return [known[name] for name in names]

    def _check(self, urls: list[str]) -> None:
        """See that URLs may be asked for."""
        if self._manager is None:
            raise self._no_question()
        if urls and self._granted.holds_user_data:
            if self._from_blind is None:
                self._from_blind = {} if self._blind is None else self._blind()
            before = {name for asked in self._from_blind.values() for name in asked}
            for url in urls:
                if url not in before:
                    tried = f"fetch {redact(url)!r} after it could read your own files"
                    raise DeniedAccessError(tried, path=self._granted.script)
        self._granted.urls(urls)

    def _download(self, names: list[str]) -> list[str]:
        for name in names:
            if not is_remote(name):
                self._local(name)
        return [self._readable(os.fspath(place)) for place in self._manager.download(names)]

    def _fetch(self, names: list[str]) -> list[str]:
        return [self._readable(self._manager.fetch(name)) for name in names]

    def _locate(self, names: list[str]) -> list[str]:
        """Where files are that need not be fetched; "" for others."""
        for name in names:
            if not is_remote(name):
                self._local(name)
        found = self._manager.download(names)
        return [self._readable(place) if isinstance(place, str) else "" for place in found]

    def _extract_shown(self, names: list[str]) -> list[str]:
        """Archives unpacked without what systems and editors left in them, as scripts of TFDS expect."""
        self._manager.skips_junk = True
        try:
            return self._extract(names)
        finally:
            self._manager.skips_junk = False

    def _extract(self, names: list[str]) -> list[str]:
        remote = [name for name in names if is_remote(name)]
        fetched = dict(zip(remote, self._places("download", remote), strict=True)) if remote else {}
        places = [fetched[name] if name in fetched else self._local(name) for name in names]
        made: list[str] = self._manager.extract(places)
        return [self._readable(os.fspath(place)) for place in made]

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

    # -- bytes ---------------------------------------------------------------------------------------------------------

    def _opened(self, url: str) -> dict[str, Any]:
        if len(self._open) >= _MOST_OPEN:
            raise DatasetBuildError(f"{self._granted.script} has {_MOST_OPEN} files open. Close them when they are read.")
        held = self._manager.held(url)
        data: BinaryIO = self._manager.stream(url) if held is None else open(held, "rb")  # noqa: SIM115  # the script closes it
        self._num_opened += 1
        self._open[self._num_opened] = data
        return {"handle": self._num_opened, "seekable": data.seekable()}

    def _of_open(self, what: str, question: Mapping[str, Any]) -> dict[str, Any]:
        number = question.get("handle")
        data = self._open.get(number) if isinstance(number, int) else None
        if data is None:
            raise self._no_question()
        if what == "read":
            return {"data": base64.b64encode(data.read(min(int(question.get("size", 0)), _MOST_BYTES))).decode("ascii")}
        if what == "seek":
            return {"position": data.seek(int(question.get("offset", 0)), int(question.get("whence", 0)))}
        self._open.pop(cast(int, number)).close()
        return {}

    def close(self) -> None:
        """Close what the script left open."""
        opened, self._open = self._open, {}
        for data in opened.values():
            data.close()
