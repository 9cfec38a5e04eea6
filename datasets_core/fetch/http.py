"""HTTP requests with redirects, with credentials only for their own origin, and classification of failures for retries.

`httpx2` is used only here, and imported when the first request is made.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from datasets_core import files
from datasets_core._version import __version__
from datasets_core.config import settings
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import DownloadError, OfflineError, UrlNotFoundError, redact, redact_text

if TYPE_CHECKING:
    import ssl

logger = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 0.5
_SPREAD = 0.1  # of a pause required by a server: clients resume at different times


class Clock(Protocol):
    """A clock in seconds since the epoch that can sleep; see `SystemClock`."""

    def now(self) -> float: ...

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None: ...


class SystemClock:
    """The system clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        """Sleep, or return early if `stop` is set."""
        (stop or threading.Event()).wait(seconds)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number of tries, and the pauses between them.

    Attributes:
        tries: number of tries, including the first.
        longest_pause_seconds: limit of a pause in seconds, also for pauses required by a server.
        clock: the clock.
        jitter: source of random numbers for pauses.
    """

    tries: int = 5
    longest_pause_seconds: float = 60.0
    clock: Clock = field(default_factory=SystemClock)
    jitter: random.Random = field(default_factory=random.Random)

    def seconds(self, failures: int, retry_after: str | None = None, *, within: float | None = None) -> float:
        """Return the pause after the `failures`-th failure: that of the server, else doubled each time, with jitter.

        Args:
            failures: number of failures.
            retry_after: the `Retry-After` header.
            within: limit in seconds.
        """
        asked = retry_after_seconds(retry_after, self.clock.now())
        if asked is None:
            asked = _FIRST_PAUSE_SECONDS * 2 ** (failures - 1) * self.jitter.uniform(0.5, 1.5)
        longest = self.longest_pause_seconds if within is None else max(0.0, min(within, self.longest_pause_seconds))
        return min(asked, longest)

    def wait(self, seconds: float, stop: threading.Event | None = None) -> None:
        """Sleep for some seconds, but not past the deadline of the work; `stop` ends the pause."""
        self.clock.sleep(files.at_most(seconds), stop)
        files.check()


def pause_asked(headers: Mapping[str, str]) -> str | None:
    """Return the pause required by a busy server, in the form of `Retry-After`; `ratelimit` is the header of the Hub.

    Args:
        headers: of the response, by lower-case names.

    >>> pause_asked({"ratelimit": '"api";r=0;t=55'}), pause_asked({"retry-after": "3", "ratelimit": '"api";r=9;t=55'})
    ('55', '3')
    >>> pause_asked({"retry-after": "3", "ratelimit": '"api";r=0;t=55'})
    '55'
    """
    found = re.search(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)", headers.get("ratelimit") or "")
    return found[1] if found else headers.get("retry-after") or None


def retry_after_seconds(header: str | None, now: float) -> float | None:
    """Return the seconds of a `Retry-After` header, a number or a date; None if it is neither.

    >>> retry_after_seconds("120", 0.0), retry_after_seconds("Thu, 01 Jan 1970 00:01:00 GMT", 0.0)
    (120.0, 60.0)
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    from email.utils import parsedate_to_datetime  # 3 ms; few servers say when

    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)


class HostPauses:
    """The times until which servers required pauses, shared by all users of the same connections.

    >>> pauses = HostPauses()
    >>> pauses.seconds("https://example.org", RetryPolicy())
    0.0
    """

    def __init__(self) -> None:
        self._until: dict[object, float] = {}
        self._asked: dict[object, float] = {}  # times until which they required pauses, without a limit
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create new locks after a fork."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HostPauses], tuple[()]]:
        return HostPauses, ()

    def put_off(self, host: object, retry_after: str | None, policy: RetryPolicy) -> None:
        """Record the pause that a server requires.

        Args:
            host: the server.
            retry_after: its header; None if absent.
            policy: the clock, and the longest pause to keep.
        """
        asked = retry_after_seconds(retry_after, policy.clock.now())
        if not asked:
            return
        until = policy.clock.now() + min(asked, policy.longest_pause_seconds)
        with self._lock:
            self._until[host] = max(until, self._until.get(host, 0.0))
            self._asked[host] = max(policy.clock.now() + asked, self._asked.get(host, 0.0))

    def asked(self, host: object, policy: RetryPolicy) -> float:
        """Return the rest of the pause that a server requires, even if it exceeds the longest pause."""
        with self._lock:
            return max(0.0, self._asked.get(host, 0.0) - policy.clock.now())

    def seconds(self, host: object, policy: RetryPolicy) -> float:
        """Return the rest of the pause to keep for a server, with some jitter added."""
        with self._lock:
            left = self._until.get(host, 0.0) - policy.clock.now()
        return left * (1 + policy.jitter.uniform(0.0, _SPREAD)) if left > 0 else 0.0


_MOVED = {307, 308}  # after which method and body are kept
_REDIRECTS = {301, 302, 303, *_MOVED}
_MOST_REDIRECTS = 10
_TRY_AGAIN = {408, 429, 500, 502, 503, 504}
_PORTS = {"http": 80, "https": 443}
_HARMLESS = {"accept", "accept-language", "user-agent", "referer"}  # headers without secrets
_OK = {200, 206, 304, 416}
_PROGRESS = 1 << 20  # bytes after which the count of failures restarts
_MOST_DRAINED = 1 << 16
_OFFLINE_ADVICE = "Unset HF_DATASETS_OFFLINE and HF_HUB_OFFLINE to fetch it"


class TransientError(Exception):
    """A temporary failure, which is retried and never shown to the user.

    Args:
        reason: what happened, without secrets.
        status: status code, if the server answered.
        retry_after: the header of that name.
        is_unreachable: True if no connection was established.

    Attributes:
        origin: origin of the server, if known.
    """

    def __init__(
        self, reason: str, *, status: int | None = None, retry_after: str | None = None, is_unreachable: bool = False
    ) -> None:
        self.reason, self.status, self.retry_after, self.is_unreachable = reason, status, retry_after, is_unreachable
        self.origin: tuple[str, str, int] | None = None
        super().__init__(reason)


@contextmanager
def transport_failures(origin: Origin | None = None) -> Iterator[None]:
    """Convert connection failures of `httpx2` to `TransientError`."""
    import httpx2

    try:
        yield
    except httpx2.TransportError as error:
        is_unreachable = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError))
        if is_unreachable:
            reason = f"no connection ({_why(error)})"
        elif isinstance(error, httpx2.TimeoutException):
            reason = "the server does not respond"
        else:
            reason = f"the connection was lost ({_why(error)})"
        failure = TransientError(reason, is_unreachable=is_unreachable)
        failure.origin = origin
        raise failure from error
    except httpx2.DecodingError as error:
        raise TransientError(f"the connection was lost ({_why(error)})") from error


T = TypeVar("T")


class Attempts:
    """The tries of one request: a loop that catches temporary failures, waits and retries.

    Args:
        policy: number of tries, the pauses, and the clock.
        name: the name of the request, in errors and in the log.
        progress: returns the number of bytes received; after a mebibyte more, the count of failures restarts.
        stop: ends a pause.
        given_up: called with each failure and their number; returns the error to raise, or None to continue.
        waits: called with the same arguments to wait; default: the pause of the policy.

    Attributes:
        failures: number of consecutive failures.

    >>> Attempts(RetryPolicy(), "https://example.org/a").call(lambda: "the answer")
    'the answer'
    """

    def __init__(
        self,
        policy: RetryPolicy,
        name: str,
        *,
        progress: Callable[[], int] = lambda: 0,
        stop: threading.Event | None = None,
        given_up: Callable[[TransientError, int], Exception | None] | None = None,
        waits: Callable[[TransientError, int], object] | None = None,
    ) -> None:
        self._policy, self._name, self._progress, self._stop = policy, name, progress, stop
        self._given_up, self._waits = given_up or self._after_all, waits or self._wait
        self.failures = self._reached = 0

    def call(self, request: Callable[[], T]) -> T:
        """Return the result of `request`; call it again if it raises `TransientError`.

        Raises:
            DownloadError: all tries failed, and `given_up` returned no other error.
        """
        while True:
            try:
                return request()
            except TransientError as error:
                came = self._progress()
                self.failures = 1 if came >= self._reached + _PROGRESS else self.failures + 1
                self._reached = max(self._reached, came)
                failed = self._given_up(error, self.failures)
                if failed is not None:
                    raise failed from error
                logger.info("%s: %s; try %d failed, retrying.", self._name, error.reason, self.failures)
                self._waits(error, self.failures)

    def _wait(self, error: TransientError, failures: int) -> None:
        self._policy.wait(self._policy.seconds(failures, error.retry_after), self._stop)

    def _after_all(self, error: TransientError, failures: int) -> Exception | None:
        if failures < self._policy.tries:
            return None
        asked = retry_after_seconds(error.retry_after, self._policy.clock.now())
        pause = f", and requires a pause of {asked:,.0f} seconds" if asked else ""
        return DownloadError(self._name, f"{error.reason}{pause}, in {failures} consecutive tries", status=error.status)


Origin = tuple[str, str, int]
Guard = Callable[[str], Sequence[str]]


def closed_advice() -> str:
    """Return the advice for a file that is not cached while requests are not allowed."""
    return _OFFLINE_ADVICE if settings().offline else "Allow the download with local_files_only=False"


def origin_of(url: str) -> Origin:
    """Scheme, host and port of an http(s) URL.

    >>> origin_of("https://Example.com/a") == origin_of("https://example.com:443/b")
    True

    Raises:
        DownloadError: not an http(s) URL.
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise DownloadError(redact(url), "is not a valid URL", advice="Fix the address") from error
    if scheme not in _PORTS or not host:
        raise DownloadError(redact(url), "is not an http(s) URL", advice="Fix the address")
    return scheme, host, port or _PORTS[scheme]


def is_at_hub(url: str) -> bool:
    """Return True if a URL has the same origin as the Hub of the settings.

    >>> is_at_hub("https://huggingface.co.evil/a")
    False
    """
    origin = origin_of(url)
    try:
        return origin == origin_of(settings().hub_endpoint)
    except DownloadError:  # not an address; the client of the Hub reports it
        return False


@dataclass(frozen=True, slots=True)
class Credentials:
    """Secret headers, and the one origin that may see them."""

    origin: Origin
    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, url: str, *, headers: Mapping[str, str] | None = None, token: str | None = None) -> Self:
        """The secrets for a URL: from its user-info, from the user's `headers`, and the Hub's `token` for URLs of the Hub."""
        origin = origin_of(url)
        secrets = {name: value for name, value in (headers or {}).items() if name.lower() not in _HARMLESS}
        user_info, mark, _ = urlsplit(url).netloc.rpartition("@")
        names = {name.lower() for name in secrets}
        if mark and "authorization" not in names:
            user, _, password = user_info.partition(":")
            pair = f"{unquote(user)}:{unquote(password)}".encode()
            secrets["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        elif token and "authorization" not in names and is_at_hub(url):
            secrets["Authorization"] = f"Bearer {token}"
        return cls(origin, secrets)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response whose body has not been read yet.

    Attributes:
        url: the final URL, redacted.
        status: 200, 206, 304 or 416; any for a POST.
        headers: by lower-case name.
        place: the final URL with its secrets, for further requests; never shown.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    _response: Any
    place: str = field(default="", repr=False)

    def header(self, name: str) -> str | None:
        """Return the header of that name, if the server sent it."""
        return self.headers.get(name)

    def close(self) -> None:
        """Release the connection, or close it if the body was not read completely."""
        self._response.close()

    def drop(self) -> None:
        """Discard the body; the short text of a redirect or a refusal is read, so that the connection can be reused."""
        import httpx2

        length = self.headers.get("content-length") or ""
        if length.isascii() and length.isdigit() and int(length) <= _MOST_DRAINED:
            with contextlib.suppress(httpx2.TransportError):  # the connection ends here, without further effects
                for _ in self._response.iter_raw():
                    pass
        self.close()

    def abort(self) -> None:
        """Close the connection from another thread; the thread that waits for the body gets an error."""
        stream = self._response.extensions.get("network_stream")
        connection = None if stream is None else stream.get_extra_info("socket")
        if connection is not None:
            with contextlib.suppress(OSError):  # it was already closed
                connection.shutdown(socket.SHUT_RDWR)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it is sent, piece by piece.

        Raises:
            TransientError: the connection was lost, or the body is too short.
        """
        with transport_failures():
            yield from self._response.iter_raw()


Judge = Callable[[HttpResponse], object]


_left: list[Any] = []


class HttpClient:
    """Connections to servers, open from the first `with` to the end of the last; usable from several threads.

    Args:
        user_agent: added to that of the library.
        proxies: scheme → URL of a proxy, as `{"https": "http://proxy:3128"}`; default: those of the environment.
        connect_timeout_seconds: connect timeout, if other than the setting.

    Attributes:
        guard: called before each redirect: raises to refuse it, or returns the addresses to connect to, in order.
        pauses: the pauses required by busy servers.
    """

    def __init__(
        self,
        *,
        user_agent: str | None = None,
        proxies: Mapping[str, str] | None = None,
        connect_timeout_seconds: float | None = None,
    ) -> None:
        self._connect_seconds = connect_timeout_seconds
        self._agent = f"datasets_core/{__version__}" + (f"; {user_agent}" if user_agent else "")
        self._proxies = dict(proxies or {})
        self.guard: Guard | None = None
        self.pauses = HostPauses()
        self._client: Any = None
        self._users = 0
        self._lock = threading.Lock()
        renewed_after_fork(self)

    def __enter__(self) -> Self:
        with self._lock:
            self._users += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._users -= 1
            client, self._client = (None, self._client) if self._users else (self._client, None)
        if client is not None:
            client.close()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_agent", "_proxies", "_connect_seconds", "guard")
        return {name: getattr(self, name) for name in kept}  # connections are not sent to other processes

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, pauses=HostPauses(), _client=None, _users=0, _lock=threading.Lock())
        renewed_after_fork(self)

    def forked(self) -> None:
        """Drop the connections after a fork, since they belong to the parent process."""
        _left.append(self._client)  # closing them would take locks held by threads of that process
        self._client, self._lock = None, threading.Lock()

    @contextmanager
    def send(
        self,
        method: Literal["GET", "HEAD", "POST"],
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        credentials: Credentials | None = None,
        judge: Judge | None = None,
    ) -> Iterator[HttpResponse]:
        """Send a request once, and follow its redirects; for a POST, a refusal is returned like any answer.

        A POST is sent to its own origin only; redirects 307 and 308 are followed as POST.

        Args:
            method: HTTP method.
            url: http or https.
            headers: headers without secrets, for every redirect.
            content: the request body.
            credentials: secret headers, only sent to their own origin.
            judge: receives the final answer first, and raises errors for refusals.

        Raises:
            OfflineError: offline mode is on.
            UrlNotFoundError: the server answers that the URL does not exist.
            DownloadError: the server refuses for another reason, or redirects to a place that is not followed.
            TransientError: a temporary failure.
        """
        if settings().offline:
            raise OfflineError(redact(url), "offline mode is on", advice=_OFFLINE_ADVICE)

        is_post, origin = method == "POST", origin_of(url)

        def hop(here: str) -> HttpResponse:
            if is_post and origin_of(here) != origin:
                raise DownloadError(redact(url), f"the server redirects the body to {redact(here)!r}, another origin")
            answer = self._sent(method, here, headers or {}, credentials, content)
            if answer.status in _MOVED or (not is_post and answer.status not in _OK):
                answer.drop()
            return answer

        answer = followed(url, credentials, hop, _MOVED if is_post else _REDIRECTS)
        try:
            if not is_post:
                if judge is not None:
                    judge(answer)
                _check_status(redact(url), answer)
            yield answer
        finally:
            answer.close()

    def _sent(
        self, method: str, url: str, headers: Mapping[str, str], credentials: Credentials | None, content: bytes | None
    ) -> HttpResponse:
        import httpx2

        sent = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": self._agent, **headers}
        if credentials is not None and credentials.origin == origin_of(url):
            sent.update(credentials.headers)
        parts = urlsplit(url)
        hosts = [parts.netloc]
        extensions: dict[str, Any] = {}
        addresses = () if self.guard is None else self.guard(url)
        if addresses and not self._has_proxies():
            # The name is not looked up again: it could resolve to an address that the guard did not check.
            sent["Host"], extensions["sni_hostname"] = parts.netloc, parts.hostname or ""
            port = f":{parts.port}" if parts.port else ""
            hosts = [(f"[{address}]" if ":" in address else address) + port for address in addresses]
        client = self._opened()
        with transport_failures(origin_of(url)):
            try:
                if parts.query:  # httpx logs the URL: the query, which may be signed, is passed separately
                    extensions["target"] = httpx2.URL(url).raw_path
                for host in hosts:
                    plain = urlunsplit((parts.scheme, host, parts.path, "", ""))
                    request = client.build_request(method, plain, content=content, headers=sent, extensions=extensions)
                    try:
                        response = client.send(request, stream=True, follow_redirects=False)
                        break
                    except httpx2.ConnectError:
                        if host == hosts[-1]:
                            raise
            except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as error:
                raise DownloadError(redact(url), f"is not a valid URL ({_why(error)})", advice="Fix the address") from error
        named = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(redact(url), int(response.status_code), named, response, url)

    def _has_proxies(self) -> bool:
        from urllib.request import getproxies  # takes 50 ms; only untrusted scripts need it

        return bool(self._proxies or getproxies())

    def _opened(self) -> Any:
        import httpx2

        with self._lock:
            if self._client is None:
                limits = settings()
                connect = self._connect_seconds or limits.connect_timeout_seconds
                timeout = httpx2.Timeout(limits.read_timeout_seconds, connect=connect, pool=None)
                self._client = httpx2.Client(timeout=timeout, mounts=_mounts(self._proxies), verify=_trusted_now())
            return self._client


def _mounts(proxies: Mapping[str, str]) -> dict[str, Any] | None:
    import httpx2

    trusted = _trusted_now()
    named = ((scheme, proxy) for scheme, proxy in proxies.items() if proxy)
    return {f"{scheme}://": httpx2.HTTPTransport(proxy=proxy, verify=trusted) for scheme, proxy in named} or None


def _trusted_now() -> ssl.SSLContext:
    return _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(4)
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return the SSL context from the environment; takes 25 ms, and is shared by all clients."""
    import httpx2

    return httpx2.create_ssl_context()


def proxied(proxies: Mapping[str, str]) -> Any:
    """Return connections over proxies for direct users of `httpx2`; the caller closes them.

    Args:
        proxies: scheme → URL of a proxy.
    """
    import httpx2

    return httpx2.Client(mounts=_mounts(proxies))


def _without_user_info(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))


class _Answer(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


A = TypeVar("A", bound=_Answer)


def followed(
    url: str, credentials: Credentials | None, hop: Callable[[str], A], statuses: Collection[int] = frozenset(_REDIRECTS)
) -> A:
    """Follow the redirects of a URL and return the last response; nothing else follows redirects.

    Args:
        url: the first URL.
        credentials: those of the user; a redirect that would send them without encryption is refused.
        hop: requests one address, with the credentials for their origin; it closes redirecting responses.
        statuses: the status codes of redirects.

    Raises:
        DownloadError: a redirect that is not followed.
    """
    here = _without_user_info(url)
    for _ in range(_MOST_REDIRECTS + 1):
        answer = hop(here)
        if answer.status not in statuses:
            return answer
        here = _next_hop(url, here, answer.headers.get("location"), credentials)
    reason = f"the server redirects in a loop, or more than {_MOST_REDIRECTS} times"
    raise DownloadError(redact(url), reason, advice="Check the URL")


def _next_hop(url: str, here: str, location: str | None, credentials: Credentials | None) -> str:
    """Return the target of a redirect, without user-info.

    Raises:
        DownloadError: no target, another protocol, or from https to http while the user sends credentials.
    """
    if not location:
        raise DownloadError(redact(url), "the server redirects without a target")
    try:
        following = urljoin(here, location)
    except ValueError:
        following = f"http:{location}" if location.startswith("//") else location
    try:
        origin = origin_of(following)
    except DownloadError as error:
        reason = f"the server redirects to {redact(following)!r}, which is not an http(s) URL"
        raise DownloadError(redact(url), reason, advice="Check the URL") from error
    if credentials is not None and credentials.headers and credentials.origin[0] == "https" and origin[0] == "http":
        reason = f"the server redirects from https to {redact(following)!r}, without encryption, while credentials are sent"
        raise DownloadError(redact(url), reason, advice="Check the URL, or download it without credentials")
    return _without_user_info(following)


def _check_status(shown: str, response: HttpResponse) -> None:
    status = response.status
    if status in _OK:
        return
    if status in _TRY_AGAIN:
        raise TransientError(f"the server answers {status}", status=status, retry_after=pause_asked(response.headers))
    if status in (404, 410):
        raise UrlNotFoundError(shown, f"the server answers {status}, not found", status=status, advice="Check the URL")
    if status in (401, 403):
        what = "credentials required" if status == 401 else "access forbidden"
        raise DownloadError(
            shown,
            f"the server answers {status}: {what}",
            status=status,
            advice="Log in, request access, or pass a token or headers",
        )
    raise DownloadError(shown, f"the server answers {status}", status=status)


def _why(error: Exception) -> str:
    return redact_text(str(error)) or type(error).__name__
