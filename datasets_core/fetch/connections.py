"""`Connections`: direct connections to servers over checked addresses, kept open for the next requests.

They use the HTTP client of the standard library: `httpx2` takes 40 ms to load, and is used for proxies alone.
"""

from __future__ import annotations

import http.client
import re
import select
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import SplitResult

from datasets_core.fetch.http import ConnectionFailedError, InvalidRequestError, trusted_now

_Key = tuple[str, str, int]  # scheme, host, port
_IDLE_SECONDS, _MOST_IDLE = 5.0, 20
_READ_BYTES = 1 << 16
_ESCAPED = re.compile(rb"[^!-~]|[\"#<>]")
_ESCAPED_IN_PATHS = re.compile(rb"[^!-~]|[\"#<>?`{}]")
_CONTROL = re.compile("[\0-\x1f\x7f]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@contextmanager
def _http_failures() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise ConnectionFailedError("silent", error) from error
    except (http.client.HTTPException, OSError) as error:
        raise ConnectionFailedError("lost", error) from error


class Connections:
    """Connections to servers, for requests of several threads.

    Args:
        addresses: returns the addresses of a name and port, in order; the name stays that of the certificate.
        connect_seconds: time limit of a connection, for each address.
        read_seconds: time limit of each wait for bytes.
    """

    def __init__(
        self, addresses: Callable[[str, int], Sequence[str]], *, connect_seconds: float | None, read_seconds: float | None
    ) -> None:
        self._addresses, self._connect_seconds, self._read_seconds = addresses, connect_seconds, read_seconds
        self._idle: list[tuple[float, _Key, http.client.HTTPConnection]] = []  # the most recent last
        self._is_closed = False
        self._lock = threading.Lock()
        self._cookies: Any = None
        weakref.finalize(self, _closed, self._idle).atexit = False

    def close(self) -> None:
        """Close the connections that are not in use now; the others are closed after their response."""
        with self._lock:
            self._is_closed = True
            _closed(self._idle)

    def send(self, method: str, parts: SplitResult, headers: Mapping[str, str], content: bytes | None) -> DirectResponse:
        """Send a request, and return the response whose body has not been read.

        Raises:
            ConnectionFailedError: the server cannot be reached, or the connection failed.
            InvalidRequestError: the URL or a header is not valid.
        """
        host = encoded_host(parts)
        port = parts.port or _DEFAULT_PORTS[parts.scheme.lower()]
        key = (parts.scheme.lower(), host, port)
        shown = f"[{host}]" if ":" in host else host
        sent = {"Host": shown if port == _DEFAULT_PORTS[key[0]] else f"{shown}:{port}", **headers}
        if self._cookies is not None:
            sent.update(self._cookies_for(parts))
        connection = self._taken(key) or self._connected(key)
        try:
            with _http_failures():
                try:
                    connection.request(method, target(parts), body=content, headers=sent)
                except (ValueError, http.client.InvalidURL) as error:
                    raise InvalidRequestError(str(error)) from error
                sock = connection.sock
                answer = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        if answer.headers.get("set-cookie") is not None:
            self._keep_cookies(parts, answer)
        return DirectResponse(answer, sock, lambda: self._give_back(key, connection), connection.close)

    # -- connections ---------------------------------------------------------------------------------------------------

    def _taken(self, key: _Key) -> http.client.HTTPConnection | None:
        """Return a connection that is open and idle, if there is one."""
        while True:
            with self._lock:
                place = next((at for at in reversed(range(len(self._idle))) if self._idle[at][1] == key), None)
                if place is None:
                    return None
                since, _, connection = self._idle.pop(place)
            if time.monotonic() - since < _IDLE_SECONDS and not _is_readable(connection.sock):
                return connection
            connection.close()  # the server has closed it, or is about to

    def _give_back(self, key: _Key, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append((time.monotonic(), key, connection))
                connection = self._idle.pop(0)[2] if len(self._idle) > _MOST_IDLE else None  # type: ignore[assignment]
        if connection is not None:
            connection.close()

    def _connected(self, key: _Key) -> http.client.HTTPConnection:
        scheme, host, port = key
        failure: Exception = OSError(f"{host} has no address")
        for address in self._addresses(host, port):
            try:
                sock = socket.create_connection((address, port), self._connect_seconds)
            except OSError as error:
                failure = error
                continue
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if scheme == "https":
                    sock = trusted_now().wrap_socket(sock, server_hostname=host)
                sock.settimeout(self._read_seconds)
            except OSError as error:
                sock.close()
                failure = error
                continue
            connection = http.client.HTTPConnection(host, port)
            connection.auto_open = 0
            connection.sock = sock
            return connection
        raise ConnectionFailedError("unreachable", failure) from failure

    # -- cookies, within the life of the connections -------------------------------------------------------------------

    def _keep_cookies(self, parts: SplitResult, answer: http.client.HTTPResponse) -> None:
        from http.cookiejar import CookieJar
        from urllib.request import Request

        with self._lock:
            self._cookies = self._cookies or CookieJar()
        self._cookies.extract_cookies(answer, Request(parts.geturl()))

    def _cookies_for(self, parts: SplitResult) -> dict[str, str]:
        from urllib.request import Request

        request = Request(parts.geturl())
        self._cookies.add_cookie_header(request)
        found = request.get_header("Cookie")
        return {} if found is None else {"Cookie": found}


class DirectResponse:
    """A response of a direct connection.

    Args:
        answer: of the client of the standard library.
        sock: its socket.
        give_back: called after the whole body was read, if the connection stays open.
        drop: closes the connection otherwise.

    Attributes:
        status: status code.
        headers: by lower-case name; several of one name are joined by commas.
    """

    def __init__(
        self, answer: http.client.HTTPResponse, sock: socket.socket, give_back: Callable[[], None], drop: Callable[[], None]
    ) -> None:
        self._answer, self._sock, self._give_back, self._drop = answer, sock, give_back, drop
        self._is_read = self._is_closed = False
        self.status = answer.status
        self.headers: dict[str, str] = {}
        for name, value in answer.headers.items():
            known, text = self.headers.get(name.lower()), _decoded(value)
            self.headers[name.lower()] = text if known is None else f"{known}, {text}"

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the body as it is sent.

        Raises:
            ConnectionFailedError: the connection was lost, or the body is too short.
        """
        with _http_failures():
            while data := self._answer.read1(_READ_BYTES):
                yield data
            if self._answer.length:
                raise http.client.IncompleteRead(b"", self._answer.length)
        self._is_read = True

    def close(self) -> None:
        """Release the connection, or close it if the body was not read completely."""
        if self._is_closed:
            return
        self._is_closed = True
        is_kept = (self._is_read or self._answer.length == 0) and not self._answer.will_close
        self._answer.close()
        (self._give_back if is_kept else self._drop)()

    def shutdown(self, how: int) -> None:
        """End the connection, as `socket.shutdown` does; a thread that waits for the body gets an error."""
        self._sock.shutdown(how)


def _closed(idle: list[tuple[float, _Key, http.client.HTTPConnection]]) -> None:
    while idle:
        idle.pop()[2].close()


def _is_readable(sock: socket.socket) -> bool:
    """Return True if there is something to read, as the end of the connection."""
    try:
        if hasattr(select, "poll"):
            waiting = select.poll()
            waiting.register(sock, select.POLLIN)
            return bool(waiting.poll(0))
        return bool(select.select([sock], [], [], 0)[0])
    except (OSError, ValueError):  # it is closed
        return True


def encoded_host(parts: SplitResult) -> str:
    """Return the host of a URL as it is looked up.

    >>> from urllib.parse import urlsplit
    >>> encoded_host(urlsplit("https://Bücher.example/a"))
    'xn--bcher-kva.example'

    Raises:
        InvalidRequestError: the name of the host is not valid.
    """
    host = parts.hostname or ""
    if host.isascii():
        return host.lower()
    import idna

    try:
        return idna.encode(host).decode("ascii")
    except idna.IDNAError as error:
        raise InvalidRequestError(f"Invalid IDNA hostname: {host!r}") from error


def target(parts: SplitResult) -> str:
    """Return the path and the query of a URL as they are sent; what is escaped stays so.

    >>> from urllib.parse import urlsplit
    >>> target(urlsplit("https://example.org/ä b%20c?d=100%")), target(urlsplit("https://example.org"))
    ('/%C3%A4%20b%20c?d=100%', '/')

    Raises:
        InvalidRequestError: it has a control character.
    """
    if control := _CONTROL.search(parts.path + parts.query):
        raise InvalidRequestError(f"Invalid character in the URL: {control[0]!r}")
    path = _ESCAPED_IN_PATHS.sub(_escaped, (_without_dots(parts.path) or "/").encode()).decode("ascii")
    return f"{path}?{_ESCAPED.sub(_escaped, parts.query.encode()).decode('ascii')}" if parts.query else path


def _without_dots(path: str) -> str:
    """Return a path without the segments "." and ".."."""
    if "/." not in path:
        return path
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % ord(found[0])


def _decoded(value: str) -> str:
    """Return the text of a header, which the standard library reads as Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value
