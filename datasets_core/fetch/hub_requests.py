"""Questions to a Hub's API: one GET over its redirects, tried until it is answered, with the token for the Hub's own origin.

They go over the connections of `huggingface_hub`, and not by its `HfApi`: what that asks is tried once, or without an end in
time, and takes the token along to wherever the next page is said to be.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from datasets_core import due
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DownloadError, HubError, InvalidTokenError
from datasets_core.fetch.http import Credentials, TransientError, next_hop, origin_of, transport_failures
from datasets_core.fetch.hub_listing import malformed, shown
from datasets_core.fetch.retry import RetryPolicy, pause_asked
from datasets_core.redact import redact

logger = logging.getLogger(__name__)

_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 10
_TRY_AGAIN = {408, 429, 500, 502, 503, 504}
_MOST_REFUSED = 2  # tries of a server that takes no connection: it is not there
_MOST_BODY_BYTES = 1 << 28  # of one answer; a page of a listing has a thousandth of it
_LEAST_BYTES_PER_SECOND = 16 << 10  # what comes more slowly does not come
_MOST_ITEMS = 1_000_000  # each takes half a kilobyte of memory
_GLANCE_SECONDS = 0.2  # after which somebody who waits looks whether anybody still waits for them
_SPARE_PAGES, _LEAST_ITEMS = 200, 10  # a listing has no more pages than these, and one for so many items


class UnansweredError(Exception):
    """Every try failed; never to be seen by the user.

    Args:
        reason: what happened, without secrets.
        status: what the server answered, where it did.
    """

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        self.reason, self.status = reason, status
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class HubAnswer:
    """What a Hub answered.

    Attributes:
        url: where, in the end.
        status: of HTTP.
        headers: by lower-case names.
        body: all of it.
        following: the address of the next page, where there is one.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    following: str | None = None

    def has_end(self) -> bool:
        """Whether the body ends as a list or an object does: one that was cut under way does not.

        >>> HubAnswer("https://hub", 200, {}, b'{"sha": "ab').has_end()
        False
        """
        return self.body.rstrip()[-1:] in (b"]", b"}")

    def json(self, repo_id: str) -> Any:
        """The body as a value.

        Raises:
            HubError: it is none.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            found = f"{len(self.body)} bytes of {self.headers.get('content-type')!a}"
            raise malformed(repo_id, f"is answered by {found} at {redact(self.url)} where JSON is due") from error


@dataclass(frozen=True, slots=True)
class HubRequests:
    """Asks for one user.

    Attributes:
        session: gives the connections, a client of `httpx2`.
        credentials: the user's, and the origin that may see them.
        agent: who asks.
        policy: how often, and the pauses between.
    """

    session: Callable[[], Any]
    credentials: Credentials
    agent: str
    policy: RetryPolicy

    def answer(self, url: str, patience: Callable[[], float | None] = lambda: None) -> HubAnswer:
        """The answer to a GET.  A Hub that is busy is asked as often as the policy says, one that is silent shortly.

        Args:
            url: what is asked for.
            patience: how many seconds a Hub that asks to wait is waited for in all, asked when it does; None for twice the
                longest pause of the policy.

        Raises:
            UnansweredError: there is none.
            DownloadError: it redirects where we do not follow, or sends without end.
        """
        seconds = settings().hub_timeout_seconds
        failures, waited, begun = 0, 0.0, time.monotonic()
        end = begun + seconds
        while True:
            due.check()
            most, pause, is_waited_for = self.policy.tries, None, False
            try:
                answer = self._followed(url, end)
            except TransientError as error:
                failed = UnansweredError(error.reason)
                most = _MOST_REFUSED if error.is_unreachable else most
            else:
                if answer.status not in _TRY_AGAIN:
                    return answer
                failed = UnansweredError(f"it answers {answer.status}", status=answer.status)
                pause = pause_asked(answer.headers)
                is_waited_for = pause is not None or answer.status == 429  # it is there, and has a reason
            failures += 1
            left = end - time.monotonic()
            if failures >= most or (left <= 0 and not is_waited_for):
                raise failed
            length = self.policy.seconds(failures, pause, within=None if is_waited_for else left / 2)
            if is_waited_for:
                given, waited = patience(), waited + length
                if waited > (2 * self.policy.longest_pause_seconds if given is None else given):
                    raise failed
            logger.info("%s: %s, try %d of %d", redact(url), failed.reason, failures, most)
            self.policy.wait(length)
            if is_waited_for:
                end = time.monotonic() + seconds
                end = end if given is None else min(end, begun + given + seconds)

    def _followed(self, url: str, end: float) -> HubAnswer:
        here = url
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._sent(here, end)
            if answer.status not in _REDIRECTS:
                return answer
            here = next_hop(url, here, answer.headers.get("location"), self.credentials)
        raise DownloadError(redact(url), f"the server leads over more than {_MOST_REDIRECTS} redirects")

    def _sent(self, url: str, end: float) -> HubAnswer:
        headers = {"User-Agent": self.agent}
        if self.credentials.origin == origin_of(url):
            headers.update(self.credentials.headers)
        left = end - time.monotonic()
        if left <= 0:
            raise TransientError("the server is silent")
        with transport_failures():
            session = self.session()
            request = session.build_request("GET", url, headers=headers, timeout=left)
            try:  # in a thread: looking up a name has no limit of its own
                response = due.done_by(end, lambda: session.send(request, stream=True, follow_redirects=False))
            except due.Overdue as error:
                due.check()
                raise TransientError("the server is silent") from error
            try:
                body = _body(response, url, end)
            finally:
                response.close()
        named = {name.lower(): value for name, value in response.headers.items()}
        return HubAnswer(url, response.status_code, named, body, response.links.get("next", {}).get("url"))


def _body(response: Any, url: str, end: float) -> bytes:
    """All of a body, as long as it comes: what is there by its end in time prolongs that."""
    body, failed = bytearray(), list[BaseException]()
    is_over = threading.Event()

    def read() -> None:
        try:
            for chunk in response.iter_bytes():
                body.extend(chunk)
                if is_over.is_set():
                    return
                if len(body) > _MOST_BODY_BYTES:
                    raise DownloadError(redact(url), f"the server sends more than {_MOST_BODY_BYTES:,} bytes")
        except BaseException as error:  # raised where it is waited for
            failed.append(error)

    thread = threading.Thread(target=read, name="hub_body", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            due.check()
            left = end + len(body) / _LEAST_BYTES_PER_SECOND - time.monotonic()
            if left <= 0:
                raise TransientError("the server is silent, or sends too slowly")
            thread.join(min(left, _GLANCE_SECONDS))
    finally:
        is_over.set()
    if failed:
        raise failed[0]
    return bytes(body)


def paged(ask: Callable[[str], HubAnswer], url: str, repo_id: str) -> Iterator[Any]:
    """What a list of several pages holds, page by page, as long as the pages stay at one origin.

    Args:
        ask: the answer of an address.
        url: the first page.
        repo_id: whose list it is.

    Raises:
        HubError: it is no list, or one without an end.
    """
    following: str | None = url
    seen: set[str] = set()
    count = 0
    while following is not None:
        if following in seen:
            raise malformed(repo_id, "has a listing whose pages lead in a circle")
        seen.add(following)
        answer = ask(following)
        items = answer.json(repo_id)
        if not isinstance(items, list):
            raise malformed(repo_id, f"is given {shown(items)} as its listing")
        count += len(items)
        if count > _MOST_ITEMS:
            advice = "Ask its owner to pack them, or download what you need of them and load that folder"
            raise HubError(repo_id, f"has more than {_MOST_ITEMS:,} files and folders, which is more than is listed", advice)
        yield from items
        if len(seen) > _SPARE_PAGES + count // _LEAST_ITEMS:
            raise malformed(repo_id, f"has a listing whose pages do not end: {len(seen)} of them hold {count} files")
        following = None if answer.following is None else _next_page(url, answer, repo_id)


def _next_page(first: str, answer: HubAnswer, repo_id: str) -> str:
    """The next page, at the origin of the first: a mirror may hand out the addresses of the Hub that it mirrors."""
    link = answer.following or ""
    try:
        link = urljoin(answer.url, link)
        if origin_of(link) == origin_of(first):
            return link
    except (DownloadError, ValueError) as error:
        raise malformed(repo_id, f"has a listing that goes on at {ascii(redact(link))[:200]}") from error
    begin, there = urlsplit(first), urlsplit(link)
    if not begin.path.endswith(there.path):
        raise malformed(repo_id, f"has a listing that goes on at {ascii(redact(link))[:200]}, which is another host")
    return begin._replace(query=there.query).geturl()


def check_endpoint(endpoint: str) -> None:
    """Raise where an address is none of a Hub.

    Raises:
        ConfigurationError: it is no http(s) URL.
    """
    try:
        origin_of(endpoint)
    except DownloadError as error:
        raise ConfigurationError(
            f"The address of the Hub is {redact(endpoint)!r}, which is no http(s) URL. Mend HF_ENDPOINT or hub_endpoint."
        ) from error


def checked_token(token: str) -> str:
    """A token that fits into a header: one that does not would be shown by the error of whoever sends it.

    Raises:
        InvalidTokenError: it does not.
    """
    text = token.strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        what = "is empty" if not text else "holds what no token holds (a space, a line break or a letter beyond ASCII)"
        raise InvalidTokenError(
            f"The token for the Hub {what}", advice="Mend HF_TOKEN or token=, or pass token=False where none is needed"
        )
    return text
