"""Where a storage host has the files of LFS: asked of the Hub for many at once, so that each of them costs one GET.

By its address at the endpoint a file costs two: that one answers with a redirect.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from datasets_core import due
from datasets_core.config import settings
from datasets_core.errors import DownloadError
from datasets_core.fetch.http import Credentials, HttpClient, HttpResponse, TransientError, next_hop, origin_of
from datasets_core.fetch.hub_listing import HubFile
from datasets_core.fetch.hub_transfer import Place
from datasets_core.redact import redact

logger = logging.getLogger(__name__)

_OBJECTS = 256  # of one request; their URLs are good for a while only, so the next are asked for when they are needed
_FEWEST = 3  # files for which the request pays
_MOST_BYTES = 16 << 20  # of an answer
_HOPS = 3
_MOVED = {307, 308}
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_MEDIA_TYPE = "application/vnd.git-lfs+json"


class StorageUrls:
    """The places of files at the storage host, as far as the Hub tells them.

    Args:
        client: asks.
        url: the repository's LFS address.
        credentials: for that.
        files: those that are to be fetched; of the ones that are not in LFS nothing is known.
    """

    def __init__(self, client: HttpClient, url: str, credentials: Credentials, files: Sequence[HubFile]) -> None:
        self._client, self._url, self._credentials = client, url, credentials
        stored = list({file.etag: file for file in files if file.sha256 is not None}.values())
        self._is_offered = len(stored) >= _FEWEST
        self._groups = [stored[start : start + _OBJECTS] for start in range(0, len(stored), _OBJECTS)]
        self._group_of = {file.etag: number for number, group in enumerate(self._groups) for file in group}
        self._known: dict[int, dict[str, Place]] = {}
        self._failure: TransientError | None = None
        self._lock = threading.Lock()

    def place(self, file: HubFile) -> Place | None:
        """Where a file is; None where the Hub does not tell it so.

        Raises:
            TransientError: there is no connection to the Hub.
        """
        number = self._group_of.get(file.etag)
        if number is None or not self._is_offered:
            return None
        with self._lock:  # the others wait for the same answer
            if self._failure is not None:
                raise self._failure
            if number not in self._known and self._is_offered:
                self._known[number] = self._asked(self._groups[number])
            return self._known.get(number, {}).get(file.etag)

    def _asked(self, group: Sequence[HubFile]) -> dict[str, Place]:
        """The places of a group; none where the Hub does not answer as LFS has it, which is no failure."""
        objects = [{"oid": file.sha256, "size": file.size} for file in group]
        wanted = {"operation": "download", "transfers": ["basic"], "objects": objects, "hash_algo": "sha256"}
        headers = {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}
        try:
            body, end = json.dumps(wanted).encode(), time.monotonic() + settings().hub_timeout_seconds
            answer = due.done_by(end, lambda: self._answer(body, headers))
            found = self._places(json.loads(answer), {str(file.sha256): file for file in group})
        except (TransientError, DownloadError, ValueError, RecursionError) as error:
            if isinstance(error, TransientError) and error.is_unreachable:
                self._failure = error  # each file would wait for as long, one after the other
                raise
            logger.debug("%s gives no addresses (%s).", redact(self._url), error)
            found = {}
        except due.Overdue:
            due.check()
            logger.debug("%s gives no addresses in time.", redact(self._url))
            found = {}
        self._is_offered = bool(found)
        return found

    def _answer(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        """What the Hub answers, and nothing where it refuses; a repository that was renamed is asked for by its new name."""
        for _ in range(_HOPS):
            with self._client.post(self._url, body, headers=headers, credentials=self._credentials) as response:
                following = response.header("location") if response.status in _MOVED else None
                if following is None:
                    return _read(response) if response.status == 200 else b""
            self._url = next_hop(self._url, self._url, following, self._credentials)
            if origin_of(self._url) != self._credentials.origin:
                break
        return b""

    def _places(self, answer: Any, group: Mapping[str, HubFile]) -> dict[str, Place]:
        listed = answer.get("objects") if isinstance(answer, dict) else None
        found: dict[str, Place] = {}
        for item in listed if isinstance(listed, list) else ():
            oid = item.get("oid") if isinstance(item, dict) else None
            file = group.get(oid) if isinstance(oid, str) else None
            if file is not None and (place := self._place_of(item)) is not None:
                found[file.etag] = place
        return found

    def _place_of(self, item: Mapping[str, Any]) -> Place | None:
        actions = item.get("actions")
        action = actions.get("download") if isinstance(actions, dict) else None
        if not isinstance(action, dict) or not isinstance(action.get("href"), str):
            return None
        url, headers = urljoin(self._url, action["href"]), action.get("header") or {}
        try:
            origin = origin_of(url)
        except DownloadError:
            return None
        if origin[0] != "https" and origin_of(self._url)[0] == "https":  # what was asked for in private stays so
            return None
        if not isinstance(headers, dict) or not all(_is_header(name, value) for name, value in headers.items()):
            return None
        return Place(url, Credentials(origin, headers), is_storage=True)


def _is_header(name: str, value: object) -> bool:
    return _HEADER_NAME.fullmatch(name) is not None and isinstance(value, str) and value.isascii() and value.isprintable()


def _read(response: HttpResponse) -> bytes:
    answer = bytearray()
    for chunk in response.chunks():
        answer += chunk
        if len(answer) > _MOST_BYTES:
            return b""
    return bytes(answer)
