"""`Answers`: answers of the real manager to the download requests of a sandboxed script, recorded for replay."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

from datasets_core import files
from datasets_core.errors import (
    DatasetBuildError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    DownloadError,
    redact,
)
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.scripting.sandbox.denials import Denial, head_of
from datasets_core.scripting.sandbox.grants import Granted, OwnFiles, is_remote, own_names
from datasets_core.scripting.sandbox.served import CONFIG_FIELDS

# `PrefetchedFiles`: files fetched before a script could read the user's files, which are all that it is given from then
# on.


class PrefetchedFiles:
    """Files that a script requested before it could read the user's files, by their URLs.

    Args:
        script: name of the script, for error messages.
        asked: URLs requested by the first run, in its order.
        fetch: returns the path of one of them.
        manager: the manager that fetched them; it fetches none of them again.
    """

    def __init__(self, script: str, asked: Iterable[str], fetch: Callable[[str], str], manager: Any) -> None:
        self._script = script
        self._places: dict[str, str | DatasetsCoreError] = {url: _fetched(url, fetch) for url in asked}
        known = getattr(manager, "known", None)
        if known is not None:
            known.fetched.update({url: place for url, place in self._places.items() if isinstance(place, str)})

    def place(self, url: str) -> str:
        """Return the path of the file of a URL.

        Raises:
            DeniedAccessError: the first run did not request it.
            DatasetsCoreError: it could not be fetched then.
        """
        found = self._places.get(url)
        if found is None:
            raise DeniedAccessError(f"fetch {redact(url)!r} after it could read your own files", path=self._script)
        if isinstance(found, DatasetsCoreError):
            raise found
        return found


def _fetched(url: str, fetch: Callable[[str], str]) -> str | DatasetsCoreError:
    try:
        return fetch(url)
    except DatasetsCoreError as error:
        return error
    except (OSError, ValueError) as error:
        return DownloadError(redact(url), str(error))


Record = dict[str, dict[str, str]]
"""Answered requests, and paths of the files."""

_MOST_NAMES = 1_000_000
_MOST_NAME_BYTES = 16 << 20  # of all names and paths that are kept for a script
_MOST_OPEN = 256
_MOST_DENIED = 100
_MOST_BYTES = 1 << 20  # of one answer
_FARTHEST = 1 << 62
_NAMED = ("download", "extract", "extract shown", "fetch", "locate", "open", "enforced", "whole folder", "whole file")
_OF_STREAMS = ("fetch", "locate", "open", "enforced", "whole folder", "whole file", "read", "seek", "close")
_BY_HAND = "fetched by hand"


def sandboxed_manager(manager: Any, granted: Granted, folder: str) -> Any:
    """Return a download manager for a sandboxed script: with its own folder, without secrets, and with checks at every
    redirect.

    Args:
        manager: of the build; an object that is not a `DownloadManager` comes from the user and is used unchanged.
        granted: the rules.
        folder: folder of downloads.
    """
    if isinstance(manager, DownloadManager):
        manager.download_config = manager.download_config.copy()
        manager.download_config.cache_dir = folder
        manager.locks_dir = os.path.join(
            os.path.dirname(folder), "locks"
        )  # who reads a file can take a lock on it, and keep it
        manager.download_config.token, manager.download_config.storage_options = False, {}  # nor a token that lies about
        manager.guarded(granted.addresses)
        manager.data_dir = granted.folder(manager.data_dir)
    return manager


def manager_form(manager: Any, script: str, *, base_path: str, folder: str) -> dict[str, Any]:
    """Return the description of the download manager for a sandboxed script.

    Args:
        manager: the manager.
        script: the script.
        base_path: base of relative paths.
        folder: folder of downloads.
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
    """Answers the requests of a sandboxed script; called with each.

    Args:
        granted: the rules.
        base_path: base of relative paths.
        folder: folder of downloads, readable for the script.
        manager: fetches and unpacks; None: answer only from the record.
        record: earlier answers; new ones are added.
        before: files fetched before the script could read the user's files, the only ones it gets now; None: no restriction.
        is_blind: True for the run without the user's files.
        own: files of the script's own repository, which it may read; None for a script in a folder.

    Attributes:
        asked: requested URLs, in order.
        denied: refused requests.
    """

    def __init__(
        self,
        granted: Granted,
        *,
        base_path: str,
        folder: str,
        manager: Any = None,
        record: Record | None = None,
        before: PrefetchedFiles | None = None,
        is_blind: bool = False,
        own: OwnFiles | None = None,
    ) -> None:
        self._granted, self._base_path, self._folder, self._manager = granted, base_path, folder, manager
        self.record: Record = {} if record is None else record
        self.asked: dict[str, None] = {}
        self._before, self._is_blind, self._own = before, is_blind, own
        self.denied: list[Denial] = []
        self._open: dict[int, tuple[BinaryIO, bool]] = {}
        self._num_opened = self._name_bytes = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": {}}

    def __call__(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer: the result, or an error for the script to raise.

        Raises:
            DatasetGenerationError: a malformed request, which the library never sends; the process is ended.
        """
        self._check_form(question)
        self._granted.given()  # another of its processes may have what was requested for that one
        try:
            return self._answered(question["ask"], question)
        except DatasetsCoreError as error:
            if isinstance(error, DeniedAccessError) and not self._is_blind and len(self.denied) < _MOST_DENIED:
                self.denied.append(Denial(error.tried))
            return _told(error)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            return _told(DownloadError(self._granted.script, f"reading failed ({reason})"))

    def _check_form(self, question: Mapping[str, Any]) -> None:
        """Refuse requests that the library's own code in the sandbox cannot have sent."""
        asked, names = question.get("ask"), question.get("names")
        is_good = asked in ("recorded", "read", "seek", "close", *_NAMED)
        if asked in _NAMED:
            is_good = isinstance(names, list) and len(names) <= _MOST_NAMES and all(isinstance(name, str) for name in names)
            is_good = is_good and (asked in ("download", "extract", "extract shown", "fetch", "locate") or len(names) == 1)  # type: ignore[arg-type]
        if asked in _OF_STREAMS and self._manager is not None:
            is_good = is_good and getattr(self._manager, "is_streaming", False)
        if asked in ("read", "seek", "close"):
            numbers = [question.get(name, 0) for name in ("handle", "size", "offset", "whence")]
            is_good = is_good and all(type(number) is int and abs(number) < _FARTHEST for number in numbers)
            is_good = is_good and question.get("whence", 0) in (0, 1, 2)
        if not is_good:
            raise DatasetGenerationError(f"{self._granted.script} sent an invalid request. Do not trust it.")

    def _answered(self, asked: str, question: Mapping[str, Any]) -> dict[str, Any]:
        if asked in ("read", "seek", "close"):
            return self._of_open(asked, question)
        if asked == "recorded":
            recorder = getattr(self._manager, "get_recorded_sizes_checksums", None)
            return {"recorded": {} if recorder is None else recorder()}
        names: list[str] = question["names"]
        if asked in ("whole folder", "whole file"):
            if self._manager is not None and names[0] in self.record.get("fetch", ()) and not self._is_own(names[0]):
                self._manager.tell_whole(names[0], is_folder=asked == "whole folder")
            return {}
        if asked in ("open", "enforced"):
            self._check(names)
            if asked == "open":
                return self._opened(names[0])
            return {"is_enforced": not self._is_own(names[0]) and self._manager.is_enforced(names[0])}
        return {"places": self._places(asked, names)}

    # -- files ---------------------------------------------------------------------------------------------------------

    def _places(self, what: str, names: list[str]) -> list[str]:
        known = self.record.setdefault(what, {})
        new = [name for name in dict.fromkeys(names) if name not in known]
        if new:
            if self._manager is None:
                raise self._unasked(new[0])
            self._name_bytes += sum(2 * len(name) + len(self._folder) for name in new)
            if self._name_bytes > _MOST_NAME_BYTES:
                raise DatasetBuildError(
                    f"{self._granted.script} requests files whose names have more than {_MOST_NAME_BYTES >> 20} MiB in all",
                    advice="Put them into archives",
                )
            if not what.startswith("extract"):
                self._check([name for name in new if self._is_remote(name)])
            known.update(zip(new, getattr(self, f"_{what.replace(' ', '_')}")(new), strict=True))
            self._granted.given()
        return [known[name] for name in names]

    def _unasked(self, name: str) -> DatasetBuildError:
        return DatasetBuildError(
            f"{self._granted.script} requests {redact(name)!r} in another process, but did not when its splits were listed",
            advice="Fix the script: it must request the same files each time",
        )

    def _check(self, urls: list[str]) -> None:
        """Check that the URLs may be requested."""
        if self._manager is None:
            raise self._unasked(urls[0])
        if self._before is not None:
            for url in urls:
                self._before.place(url)
            return
        if urls and self._granted.holds_user_data:
            raise DeniedAccessError(f"fetch {redact(urls[0])!r} after it could read your own files", path=self._granted.script)
        self._granted.urls([url for url in urls if not self._is_own(url)])
        for url in () if self._own is None else self._own.urls_to_ask(urls):
            self._granted.own_url(url)
        self.asked.update(dict.fromkeys(urls))

    def _is_own(self, name: str) -> bool:
        """Return True if the name refers to a file of the script's repository."""
        return bool(own_names(self._own, [name]))

    def _is_remote(self, name: str) -> bool:
        return is_remote(name) or self._is_own(name)

    def _download(self, names: list[str]) -> list[str]:
        for name in names:
            if not self._is_remote(name):
                self._local(name)
        if self._before is not None:
            places = [
                self._before.place(name) if self._is_remote(name) else self._manager.download([name])[0] for name in names
            ]
        else:
            brought = self._brought(names)
            others = [name for name in names if name not in brought]
            found = {**brought, **dict(zip(others, self._manager.download(others) if others else (), strict=True))}
            places = [found[name] for name in names]
        return [self._readable(os.fspath(place)) for place in places]

    def _brought(self, names: list[str]) -> dict[str, str]:
        """Return the paths of files of the script's repository, and record them in the manager."""
        own = own_names(self._own, names)
        return {} if self._own is None or not own else brought(self._own, own, self._manager)

    def fetched_before(self, script: str) -> PrefetchedFiles:
        """Fetch and return all requested files: the only files of a later run that sees the user's files.

        Args:
            script: name of the script for messages.
        """
        with contextlib.suppress(DatasetsCoreError):  # together; failures are reported for each of them
            self._brought(list(self.asked))
        return PrefetchedFiles(script, self.asked, self.fetched_whole, self._manager)

    def _fetch(self, names: list[str]) -> list[str]:
        return [self._readable(self._whole(name) if self._is_remote(name) else self._local(name)) for name in names]

    def _whole(self, url: str) -> str:
        return self._before.place(url) if self._before is not None else self.fetched_whole(url)

    def fetched_whole(self, url: str) -> str:
        """Return the path of the file of a URL, or of a file of the script's repository."""
        found = self._brought([url]).get(url)
        if found is not None:
            return found
        is_streaming = getattr(self._manager, "is_streaming", False)
        return str(self._manager.fetch(url) if is_streaming else self._manager.download([url])[0])

    def _locate(self, names: list[str]) -> list[str]:
        """Return the paths of files that need not be fetched; "" for others."""
        others = [name for name in names if not self._is_own(name)]
        for name in others:
            if not is_remote(name):
                self._local(name)
        found = dict(zip(others, self._manager.download(others) if others else (), strict=True))
        return [self._readable(place) if isinstance(place := found.get(name), str) else "" for name in names]

    def _extract_shown(self, names: list[str]) -> list[str]:
        """Extracts archives without the files of operating systems and editors, as TFDS scripts expect."""
        self._manager.skips_junk = True
        try:
            return self._extract(names)
        finally:
            self._manager.skips_junk = False

    def _extract(self, names: list[str]) -> list[str]:
        remote = [name for name in names if self._is_remote(name)]
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
        """Return a file in a place where the script may read it; a file that the user's own manager put elsewhere is copied."""
        try:
            self._granted.path(place)
        except DeniedAccessError:
            if self._is_blind:  # the user's own: neither its existence nor its name is revealed
                return os.path.join(self._folder, _BY_HAND)
            if isinstance(self._manager, DownloadManager):
                raise
            part = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            copy = os.path.join(self._folder, "copied", part, os.path.basename(place))
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
            raise DatasetBuildError(
                f"{self._granted.script} has {_MOST_OPEN} files open", advice="Close them when they are read"
            )
        data: BinaryIO
        if self._before is None and self._own is not None and self._is_own(url):
            held, data = self._own.opened(url)
        else:
            held = self._whole(url) if self._before is not None else self._manager.held(url)
            data = self._manager.stream(url) if held is None else open(held, "rb")  # noqa: SIM115  # the script closes it
        self._granted.given()
        self._num_opened += 1
        self._open[self._num_opened] = data, held is None and not self._granted.has_private
        return {"handle": self._num_opened, "seekable": data.seekable()}

    def _of_open(self, what: str, question: Mapping[str, Any]) -> dict[str, Any]:
        number = question.get("handle", 0)
        if number not in self._open:
            raise DatasetBuildError(f"{self._granted.script} reads a file that is not open", advice="Open it again")
        data, is_public = self._open[number]
        if what == "close":
            del self._open[number]
            data.close()
            return {}
        if is_public and self._granted.has_private:  # each request for a part of a file reveals what was read elsewhere
            tried = "read more of a public file after it was given files that are not public"
            raise DeniedAccessError(tried, path=self._granted.script)
        if what == "read":
            size = max(0, min(question.get("size", 0), _MOST_BYTES))
            return {"data": base64.b64encode(data.read(size)).decode("ascii")}
        return {"position": data.seek(question.get("offset", 0), question.get("whence", 0))}

    def close(self) -> None:
        """Close the files that the script left open."""
        opened, self._open = self._open, {}
        for data, _ in opened.values():
            data.close()


def brought(own: OwnFiles, names: list[str], manager: Any) -> dict[str, str]:
    """Return files of a script's repository, in a place where the script may read them, and record them in a manager as if it
    had fetched them.

    Args:
        own: fetches them.
        names: their names in the script.
        manager: the manager.
    """
    config = getattr(manager, "download_config", None)
    places = own.bring(names, force=bool(config and config.force_download))
    if isinstance(manager, DownloadManager):
        for name, place in places.items():
            manager.note(name, place, own.record(place, has_checksum=manager.record_checksums))
    return places


def _told(error: DatasetsCoreError) -> dict[str, Any]:
    """Return an error as an answer, without the location in the parent's code."""
    head = head_of(error)
    head["error"]["traceback"] = []
    return head
