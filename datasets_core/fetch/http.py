"""HTTP requests with redirects, with credentials only for their own origin, and classification of failures for retries.

Requests go over `Connections`.  `httpx2` is used only here, for proxies, and imported when the first one is needed.
"""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import os
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from datasets_core._version import __version__
from datasets_core.config import settings
from datasets_core.engines.threads import HostPauses, RetryPolicy, pause_asked, renewed_after_fork, retry_after_seconds
from datasets_core.errors import DownloadError, OfflineError, UrlNotFoundError, logger_of, redact, redact_text

if TYPE_CHECKING:
    import ssl

logger = logger_of(__name__)

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


class ConnectionFailedError(Exception):
    """A connection failed: it was not established, the server is silent, or it was lost."""

    def __init__(self, what: Literal["unreachable", "silent", "lost"], cause: Exception) -> None:
        self.what = what
        super().__init__(str(cause) or type(cause).__name__)


class InvalidRequestError(ValueError):
    """A request that cannot be written as HTTP."""


@contextmanager
def transport_failures(origin: Origin | None = None) -> Iterator[None]:
    """Convert connection failures, those of `httpx2` too, to `TransientError`."""
    try:
        yield
    except Exception as error:
        what = _failed(error)
        if what is None:
            raise
        if what == "silent":
            reason = "the server does not respond"
        else:
            reason = f"{'no connection' if what == 'unreachable' else 'the connection was lost'} ({_why(error)})"
        failure = TransientError(reason, is_unreachable=what == "unreachable")
        failure.origin = origin
        raise failure from error


def _failed(error: Exception) -> str | None:
    """Return how a connection failed; None for an error of another kind."""
    if isinstance(error, ConnectionFailedError):
        return error.what
    httpx2: Any = sys.modules.get("httpx2")
    if httpx2 is None or not isinstance(error, (httpx2.TransportError, httpx2.DecodingError)):
        return None
    if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)):
        return "unreachable"
    return "silent" if isinstance(error, httpx2.TimeoutException) else "lost"


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
Guard = Callable[[str, str | None], Sequence[str]]

# Addresses: a name is looked up once for each connection, checked, and the connection goes to one of the checked addresses.

_SECRETS = frozenset({"fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"})  # as 169.254.169.254


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an IP address; an IPv4 address that is written as IPv6 is returned as IPv4.

    >>> address_of("::ffff:10.0.0.1"), address_of("64:ff9b::a9fe:a9fe")
    (IPv4Address('10.0.0.1'), IPv4Address('169.254.169.254'))
    """
    found = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return found
    if found in _NAT64 or found in _COMPATIBLE:
        return ipaddress.IPv4Address(int(found) & 0xFFFFFFFF) if int(found) > 1 else found
    return found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else found)


_NAT64, _COMPATIBLE = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96")


def is_own_link(text: str) -> bool:
    """Return True for a link-local address, at which clouds serve the secrets of a machine, and for one of no host."""
    return any(
        each.is_link_local or each.is_multicast or each.is_unspecified or each in _NO_HOST or str(each) in _SECRETS
        for each in (address_of(text), *_translated(ipaddress.ip_address(text.partition("%")[0])))
    )


_NO_HOST, _SIIT = ipaddress.IPv4Network("0.0.0.0/8"), ipaddress.IPv6Network("::ffff:0:0:0/96")
_LOCAL_NAT64, _ISATAP = ipaddress.IPv6Network("64:ff9b:1::/48"), (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")


def _translated(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses that a gateway of the network may make of one of IPv6: by NAT64, SIIT, ISATAP or Teredo."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    data, whole = address.packed, address.packed[:8] + address.packed[9:]  # RFC 6052 leaves byte 8 out
    found = [data[12:]] if address in _SIIT or address in _LOCAL_NAT64 or data[8:12] in _ISATAP else []
    found += [whole[start : start + 4] for start in (6, 7, 8)] if address in _LOCAL_NAT64 else []
    return [*map(ipaddress.IPv4Address, found), *(address.teredo or ())]


class OwnLinkError(Exception):
    """A name resolves to a link-local address."""


def looked_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name, in order; none if it has none.

    Raises:
        OwnLinkError: one of them is a link-local address.
    """
    try:
        listed = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, ValueError):
        return []
    found = list(dict.fromkeys(str(where[0]) for *_, where in listed))
    for each in found:
        if is_own_link(each):
            raise OwnLinkError(f"resolves to {each}, a link-local address, from which nothing is fetched")
    return found


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
        length = self.headers.get("content-length") or ""
        if length.isascii() and length.isdigit() and int(length) <= _MOST_DRAINED:
            with contextlib.suppress(TransientError):  # the connection ends here, without further effects
                for _ in self.chunks():
                    pass
        self.close()

    def abort(self) -> None:
        """Close the connection from another thread; the thread that waits for the body gets an error."""
        with contextlib.suppress(OSError):  # it was already closed
            stream = getattr(self._response, "extensions", {}).get("network_stream")  # of a response over a proxy
            (self._response if stream is None else stream.get_extra_info("socket")).shutdown(socket.SHUT_RDWR)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it is sent, piece by piece.

        Raises:
            TransientError: the connection was lost, or the body is too short.
        """
        with transport_failures():
            for data in self._response.iter_raw():
                RECEIVED.add(len(data))
                yield data


class Received:
    """Counts the bytes of the bodies that this process has received.

    Attributes:
        num_bytes: number of bytes so far.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._lock = threading.Lock()

    def add(self, num_bytes: int) -> None:
        """Count more bytes."""
        with self._lock:
            self.num_bytes += num_bytes


RECEIVED = Received()
Judge = Callable[[HttpResponse], object]


_left: list[Any] = []


class HttpClient:
    """Connections to servers, open from the first `with` to the end of the last; usable from several threads.

    Args:
        user_agent: added to that of the library.
        proxies: scheme → URL of a proxy, as `{"https": "http://proxy:3128"}`; default: those of the environment.
        connect_timeout_seconds: connect timeout, if other than the setting.

    Attributes:
        guard: called with the address of each request, and with the URL that redirects to it: raises an error to refuse it, or
            returns the addresses to connect to, in order.
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
        self._checked: dict[tuple[str, int], Sequence[str]] = {}  # addresses that the guard returned
        self._clients: dict[str | None, Any] = {}  # by proxy
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
            clients, self._clients = ({}, self._clients) if self._users else (self._clients, {})
        for client in clients.values():
            client.close()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_agent", "_proxies", "_connect_seconds", "guard")
        return {name: getattr(self, name) for name in kept}  # connections are not sent to other processes

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, pauses=HostPauses(), _checked={}, _clients={}, _users=0, _lock=threading.Lock())
        renewed_after_fork(self)

    def forked(self) -> None:
        """Drop the connections after a fork, since they belong to the parent process."""
        _left.append(self._clients)  # closing them would take locks held by threads of that process
        self._clients, self._lock = {}, threading.Lock()

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

        before: list[str] = []

        def hop(here: str) -> HttpResponse:
            if is_post and origin_of(here) != origin:
                raise DownloadError(redact(url), f"the server redirects the body to {redact(here)!r}, another origin")
            answer = self._sent(method, here, headers or {}, credentials, content, before[-1] if before else None)
            before.append(here)
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
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        credentials: Credentials | None,
        content: bytes | None,
        before: str | None,
    ) -> HttpResponse:
        from datasets_core.fetch.connections import encoded_host  # loads the client

        sent = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": self._agent, **headers}
        if credentials is not None and credentials.origin == origin_of(url):
            sent.update(credentials.headers)
        parts = urlsplit(url)
        proxy = self._proxy_of(parts)
        client = self._opened(proxy)
        with transport_failures(origin_of(url)):
            try:
                if self.guard is not None:
                    self._checked[encoded_host(parts), origin_of(url)[2]] = self.guard(url, before)
                if proxy is None:
                    direct = client.send(method, parts, sent, content)
                    return HttpResponse(redact(url), direct.status, direct.headers, direct, url)
                response = _over_proxy(client, method, url, sent, content)
            except InvalidRequestError as error:
                raise DownloadError(redact(url), f"is not a valid URL ({_why(error)})", advice="Fix the address") from error
            except OwnLinkError as error:
                raise DownloadError(redact(url), str(error), advice="Check where the address comes from") from None
        named = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(redact(url), int(response.status_code), named, response, url)

    def _proxy_of(self, parts: SplitResult) -> str | None:
        """Return the URL of the proxy for an address; the proxy resolves names itself, a second time."""
        if self._proxies:
            return self._proxies.get(parts.scheme) or None
        if not any(name.lower().endswith("_proxy") for name in os.environ):
            return None
        from urllib.request import getproxies, proxy_bypass  # takes 50 ms

        found = getproxies()
        proxy = found.get(parts.scheme) or found.get("all")
        if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
            return None
        return proxy if "://" in proxy else f"http://{proxy}"

    def _opened(self, proxy: str | None) -> Any:
        with self._lock:
            if proxy not in self._clients:
                limits = settings()
                connect = self._connect_seconds or limits.connect_timeout_seconds
                read = limits.read_timeout_seconds
                if proxy is None:
                    from datasets_core.fetch.connections import Connections

                    self._clients[proxy] = Connections(self._addresses, connect_seconds=connect, read_seconds=read)
                else:
                    self._clients[proxy] = _client(proxy, read, connect)
            return self._clients[proxy]

    def _addresses(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses to connect to: those of the guard, which has resolved the names."""
        return looked_up(host, port) if self.guard is None else self._checked.get((host, port), ())


def _client(proxy: str, read_seconds: float, connect_seconds: float) -> Any:
    import httpx2

    timeout = httpx2.Timeout(read_seconds, connect=connect_seconds, pool=None)
    transport = httpx2.HTTPTransport(proxy=proxy, verify=trusted_now(), trust_env=False)
    return httpx2.Client(timeout=timeout, transport=transport, trust_env=False)


def _over_proxy(client: Any, method: str, url: str, headers: Mapping[str, str], content: bytes | None) -> Any:
    """Send a request over a proxy, and return the response of `httpx2`."""
    import httpx2

    parts = urlsplit(url)
    try:
        # httpx logs the URL: the query, which may be signed, is passed separately
        extensions = {"target": httpx2.URL(url).raw_path} if parts.query else {}
        plain = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
        request = client.build_request(method, plain, content=content, headers=headers, extensions=extensions)
        return client.send(request, stream=True, follow_redirects=False)
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as error:
        raise InvalidRequestError(str(error)) from error


def _mounts(proxies: Mapping[str, str]) -> dict[str, Any] | None:
    import httpx2

    trusted = trusted_now()
    named = ((scheme, proxy) for scheme, proxy in proxies.items() if proxy)
    return {f"{scheme}://": httpx2.HTTPTransport(proxy=proxy, verify=trusted) for scheme, proxy in named} or None


def trusted_now() -> ssl.SSLContext:
    """Return the certificates that are trusted."""
    return _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(4)
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return the SSL context from the environment; takes 20 ms, and is shared by all clients."""
    import ssl

    paths = ssl.get_default_verify_paths()
    if file or folder or sys.platform != "linux" or not paths.cafile or paths.cafile != paths.openssl_cafile:
        import httpx2

        return httpx2.create_ssl_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the same, without loading that package
    context.load_verify_locations(paths.cafile, paths.capath)
    context.set_alpn_protocols(["http/1.1"])
    return context


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
        DownloadError: there is no target, its protocol is not HTTP, or credentials would be sent from https to http.
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
