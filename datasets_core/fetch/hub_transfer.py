"""One file of the Hub by one GET, from the storage host or the endpoint, tried until it is whole and has the right hash.

`hf_hub_download` would ask HEAD first, begin anew after a break, and compare no hash: so the bytes come by `HttpClient`.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DatasetDiskError, DownloadError, NonMatchingChecksumError
from datasets_core.fetch.checksum import FileRecord
from datasets_core.fetch.http import Credentials, HttpClient, HttpResponse, TransientError, origin_of
from datasets_core.fetch.hub_blobs import BlobPart, WrongBytesError
from datasets_core.fetch.hub_listing import HubFile
from datasets_core.fetch.parallel import Watch
from datasets_core.fetch.retry import RetryPolicy
from datasets_core.redact import redact

logger = logging.getLogger(__name__)

_PROGRESS = 1 << 20  # bytes after which a new failure is counted as the first
_MOST_REFUSED = 2  # connections that an endpoint does not take of which nothing was heard
_MOST_WRONG = 2  # bodies that are not what they should be
_PASSING = {408, 416, 429}  # of the statuses from 400 on, those that are no refusal
_AGAIN_LATER = "Load it again later, or tell the owner of the repository"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bytes of a file are to be had.

    Attributes:
        url: http(s), and maybe signed.
        credentials: for its own origin.
        is_storage: it is one of a storage host, which knows no users and whose URLs expire.
    """

    url: str = field(repr=False)
    credentials: Credentials | None = None
    is_storage: bool = False


class ExpiredError(TransientError):
    """A storage URL that was good for a while: the endpoint gives another one."""


def judge_of(place: Place, refused: Callable[[HttpResponse], Exception]) -> Callable[[HttpResponse], None]:
    """Who says what a refusal means: of the endpoint, that the user may not; of a storage host, that its URL has expired.

    Args:
        place: what is asked for.
        refused: makes an error of an answer of the endpoint.
    """

    def judge(answer: HttpResponse) -> None:
        if answer.status < 400 or answer.status in _PASSING or answer.status >= 500:
            return
        is_redirected = answer.url != redact(place.url) and answer.header("x-error-code") is None
        if place.is_storage or is_redirected:
            raise ExpiredError(f"the storage host answers {answer.status}", status=answer.status)
        raise refused(answer)

    return judge


@dataclass(frozen=True, slots=True)
class BlobSource:
    """A file of one commit, and how to come by it.

    Attributes:
        file: what it has to be.
        url: its `hf://` URL, for messages.
        resolved: its place at the endpoint.
        stored: gives its place at the storage host, where that is known: it is tried first, and once.
        refused: makes an error of an answer of the endpoint that is a refusal.
        unreachable: makes an error of the reason why nothing was ever answered.
        heard: is set when something was; until then an endpoint that takes no connection is taken to be away.
        client, policy: how to fetch.
    """

    file: HubFile
    url: str
    resolved: Place
    stored: Callable[[], Place | None]
    refused: Callable[[HttpResponse], Exception]
    unreachable: Callable[[str], Exception]
    heard: threading.Event
    client: HttpClient
    policy: RetryPolicy

    def fetch(self, path: str, watch: Watch) -> FileRecord:
        """Write all of it to `path`, where what lies there is continued.

        Returns:
            Size and sha256.

        Raises:
            NonMatchingChecksumError: it comes with other bytes than are listed, twice; nothing lies at `path` then.
            DownloadError: the Hub refuses, or all tries failed.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        return _Tries(self, BlobPart(path, self.file, watch), watch).record()


class _Tries:
    """What happened so far on the way of one file."""

    def __init__(self, source: BlobSource, part: BlobPart, watch: Watch) -> None:
        self._source, self._part, self._watch = source, part, watch
        self._failures = self._reached = self._wrong = 0
        self._is_failed = self._is_expired = False
        self._begun = time.monotonic()

    def record(self) -> FileRecord:
        while True:
            try:
                if not self._part.is_complete():
                    self._receive()
                return self._part.check()
            except ExpiredError as error:
                self._failed(error, pauses=self._is_expired)
                self._is_expired = True
            except TransientError as error:
                self._failed(error, pauses=True)
            except WrongBytesError as error:
                self._came_wrong(error)

    def _receive(self) -> None:
        part, source = self._part, self._source
        place = (None if self._is_failed else source.stored()) or source.resolved
        judge, ranged = judge_of(place, source.refused), part.ranged()

        def noted(answer: HttpResponse) -> None:
            source.heard.set()
            judge(answer)

        with source.client.get(place.url, headers=ranged, credentials=place.credentials, judge=noted) as response:
            chunks = part.begin(response, is_rest=bool(ranged))
            self._check_disk()
            part.receive(chunks)

    def _check_disk(self) -> None:
        needed = self._part.file.size - self._part.size
        free = files.free_bytes(os.path.dirname(self._part.path))
        if free is not None and needed > free:
            reason = f"the disk is too small for {self._source.url}"
            raise DatasetDiskError(self._part.path, reason, needed=needed, free=free)

    def _failed(self, error: TransientError, *, pauses: bool) -> None:
        """Count a failure, and wait; the last one is raised."""
        source, policy = self._source, self._source.policy
        self._is_failed = True
        self._failures = 1 if self._part.size >= self._reached + _PROGRESS else self._failures + 1
        self._reached = max(self._reached, self._part.size)
        is_silent = error.status is None and not source.heard.is_set() and error.origin == origin_of(source.resolved.url)
        is_away = is_silent and error.is_unreachable
        tries = min(policy.tries, _MOST_REFUSED) if is_away else policy.tries
        if self._failures >= tries or (is_away and time.monotonic() >= self._begun + settings().hub_timeout_seconds):
            if is_silent:
                raise source.unreachable(error.reason) from error
            raise DownloadError(source.url, f"{error.reason}, {self._failures} tries in a row", status=error.status) from error
        logger.info("%s: %s; trying again (%d of %d).", source.url, error.reason, self._failures + 1, tries)
        if pauses:
            policy.pause(self._failures, error.retry_after, self._watch.stop)
        self._watch.told(0)

    def _came_wrong(self, error: WrongBytesError) -> None:
        self._part.restart()
        self._wrong += 1
        if self._wrong >= _MOST_WRONG:
            raise NonMatchingChecksumError(
                self._source.url,
                expected=error.expected,
                found=error.found,
                what=error.what,
                advice=error.advice or _AGAIN_LATER,
                is_optional=False,
            ) from error
        logger.warning("%s comes with another %s than is listed, and is fetched once more.", self._source.url, error.what)
