"""A real HTTP server on this machine, with every fault that a server can have."""

from __future__ import annotations

import contextlib
import email.utils
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.engines.threads import RetryPolicy
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.files import HubFiles, Reuse

NOW = 1_000_000.0


@dataclass
class RecordedClock:
    """A clock that stands still, and remembers how long it was asked to wait."""

    pauses: list[float] = field(default_factory=list)

    def now(self) -> float:
        return NOW

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        self.pauses.append(seconds)


@dataclass
class Page:
    """What the server has at one path.

    Attributes:
        body: the whole content.
        etag: its ETag; None for none.
        faults: done one after the other, one for each request; then the page is served as it is.
        headers: more headers.
        is_ranged: whether the server knows `Range`.
        has_length: whether it says the length.
        head_length: what it says to HEAD; None where it knows none.
    """

    body: bytes = b""
    etag: str | None = '"v1"'
    faults: list[Callable[[Handler, Page], None]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    is_ranged: bool = True
    has_length: bool = True
    last_modified: str | None = None
    head_length: int | None = None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SiteServer

    def do_GET(self) -> None:
        site = self.server.site
        with site.lock:
            site.connections.add(self.client_address)
            site.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            page = site.pages.get(self.path.partition("?")[0])
            fault = page.faults.pop(0) if page is not None and page.faults else None
        if page is None:
            self.answer(404, {}, b"<html>nothing here</html>")
        elif fault is not None:
            fault(self, page)
        else:
            self.serve(page)

    def do_HEAD(self) -> None:
        page = self.server.site.pages.get(self.path.partition("?")[0])
        self.send_response(501 if page is None or page.head_length is None else 200)
        self.send_header("Content-Length", str(0 if page is None or page.head_length is None else page.head_length))
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def serve(self, page: Page) -> None:
        headers = dict(page.headers)
        if page.etag is not None:
            headers["ETag"] = page.etag
        if page.last_modified is not None:
            headers["Last-Modified"] = page.last_modified
        unchanged = self.headers.get("If-None-Match") if page.etag is not None else None
        if (unchanged is not None and unchanged == page.etag) or (
            page.last_modified is not None and self.headers.get("If-Modified-Since") == page.last_modified
        ):
            self.answer(304, headers, b"")
            return
        wanted = self.headers.get("Range")
        if wanted and page.is_ranged and self.headers.get("If-Range") in (None, page.etag):
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(len(page.body), int(last) + 1 if last else len(page.body))
            if start >= len(page.body):
                self.answer(416, {**headers, "Content-Range": f"bytes */{len(page.body)}"}, b"")
                return
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(page.body)}"
            self.answer(206, headers, page.body[start:stop])
            return
        self.answer(200, headers, page.body, has_length=page.has_length)

    def answer(
        self, status: int, headers: dict[str, str], body: bytes, *, has_length: bool = True, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if has_length and status != 304:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        elif status != 304:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        if not has_length or (length is not None and length != len(body)):
            self.close_connection = True

    def reset(self) -> None:
        """Break the connection as a crash does."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        return None


class SiteServer(ThreadingHTTPServer):
    site: Site
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        return None


@dataclass
class Site:
    """The server: its pages, every request that it got (path, headers), and from which ports they came."""

    url: str
    pages: dict[str, Page] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    connections: set[tuple[str, int]] = field(default_factory=set)

    def at(self, path: str) -> str:
        return self.url + path

    def heads(self, name: str) -> list[str | None]:
        """One header of every request, in order."""
        return [headers.get(name) for _, headers in self.requests]


def _serving() -> Iterator[Site]:
    server = SiteServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    server.site = site
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    yield from _serving()


@pytest.fixture
def other_site() -> Iterator[Site]:
    """Another origin: the same machine, another port."""
    yield from _serving()


@pytest.fixture
def clock() -> RecordedClock:
    return RecordedClock()


@pytest.fixture
def policy(clock: RecordedClock) -> RetryPolicy:
    return RetryPolicy(5, 60.0, clock, random.Random(0))


@pytest.fixture
def cache_dir(tmp_path: Path) -> Iterator[Path]:
    with config.using(cache_dir=str(tmp_path / "cache"), offline=False):
        yield tmp_path / "cache" / "downloads"


@pytest.fixture
def manager(cache_dir: Path, policy: RetryPolicy, tmp_path: Path) -> DownloadManager:
    return DownloadManager(base_path=str(tmp_path), retries=policy, download_config=DownloadConfig())


# -- faults: what one request gets instead of its page --------------------------------------------------------------------


def reset_after(count: int) -> Callable[[Handler, Page], None]:
    """Send `count` bytes of the body, then break the connection."""

    def fault(handler: Handler, page: Page) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(page.body)))
        if page.etag is not None:
            handler.send_header("ETag", page.etag)
        handler.end_headers()
        handler.wfile.write(page.body[:count])
        handler.reset()

    return fault


def short_by(count: int) -> Callable[[Handler, Page], None]:
    """Declare the whole length, send `count` bytes fewer and close politely."""

    def fault(handler: Handler, page: Page) -> None:
        headers = {"ETag": page.etag} if page.etag is not None else {}
        handler.answer(200, headers, page.body[: len(page.body) - count], length=len(page.body))

    return fault


def answering(status: int, **headers: str) -> Callable[[Handler, Page], None]:
    """Answer with a status and no data."""

    def fault(handler: Handler, page: Page) -> None:
        handler.answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, b"try later")

    return fault


def refusing(handler: Handler, page: Page) -> None:
    """Break the connection before any answer."""
    handler.reset()


def endless(handler: Handler, page: Page) -> None:
    """Send a body that never ends, and say nothing of its length."""
    handler.send_response(200)
    if page.etag is not None:
        handler.send_header("ETag", page.etag)
    handler.send_header("Connection", "close")
    handler.end_headers()
    with contextlib.suppress(OSError):  # the other side had enough
        while True:
            handler.wfile.write(b"0" * (1 << 16))
    handler.close_connection = True


def changing_to(body: bytes, etag: str | None, then: Callable[[Handler, Page], None]) -> Callable[[Handler, Page], None]:
    """Do `then`, and have another version ready for the next request."""

    def fault(handler: Handler, page: Page) -> None:
        then(handler, page)
        page.body, page.etag = body, etag

    return fault


def http_date(seconds: float) -> str:
    return email.utils.formatdate(seconds, usegmt=True)


class Faults:
    """The faults by name, as a fixture: tests import nothing from here."""

    reset_after = staticmethod(reset_after)
    short_by = staticmethod(short_by)
    answering = staticmethod(answering)
    refusing = staticmethod(refusing)
    endless = staticmethod(endless)
    changing_to = staticmethod(changing_to)
    http_date = staticmethod(http_date)
    page = Page
    now = NOW


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def snapshot(hub: Any, policy: RetryPolicy) -> Callable[..., HubFiles]:
    """The files of the dataset org/name on the small Hub, with a clock that waits for nobody."""

    def made(token: str | bool | None = None, *, is_local: bool = False, **reuse: bool) -> HubFiles:
        source = Hub.of(token, config=DownloadConfig(local_files_only=is_local))
        return HubFiles(source, source.commit("org/name"), policy=policy, reuse=Reuse(**reuse))

    return made
