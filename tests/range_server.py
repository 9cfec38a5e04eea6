"""A real HTTP server on this machine that gives parts of files, counts what it sends, and has every fault that one can have.

`server.serve(folder)` gives the URL of a folder, `server.put("a.bin", data)` that of some bytes.  `server.requests` has what
was asked for and how many bytes were sent for it, `server.num_bytes` their sum; `server.latency` are seconds before an answer.
`server.fail("a.bin", "drop", after=1000)` is a fault of the next answer for any path with that end (see `KINDS`).
"""

from __future__ import annotations

import contextlib
import email.utils
import hashlib
import os
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

KINDS = {
    "drop": "the connection is reset behind `after` bytes of the body",
    "short": "the connection is closed politely behind `after` bytes of the body",
    "stall": "behind `after` bytes of the body nothing comes any more, while the connection stays",
    "trickle": "behind `after` bytes of the body one byte comes each `pause` seconds",
    "silent": "the request is taken, and never answered",
    "slow-head": "the head of the answer comes byte by byte, each `pause` seconds",
    "change": "as drop, and from then on the file has `content`, or its bytes reversed, and another tag but for `keeps_tag`",
    "missing": "404",
    "status": "`status`, with `headers`",
    "no-range": "Range is not known: all of the file comes",
    "redirect": "302 to `to`",
    "wrong-part": "another part comes than the one asked for",
    "garbage": "what comes is no HTTP",
    "more": "more bytes come than are declared",
    "encoded": "the answer says that it is compressed",
}
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_PIECE = 1 << 14


@dataclass
class Fault:
    """What goes wrong with answers for paths that end so."""

    path: str
    kind: str
    after: int = 0
    times: int | None = 1
    skip: int = 0
    status: int = 503
    headers: dict[str, str] = field(default_factory=dict)
    to: str = ""
    content: bytes | None = None
    pause: float = 60.0
    keeps_tag: bool = False


@dataclass
class Asked:
    """One request.

    Attributes:
        method, path: what was asked.
        range: the header, or None.
        headers: all of them, by lower-case name.
        status: of the answer.
        num_bytes: of the body, as far as it was sent.
        at: when it came, by `time.monotonic`.
    """

    method: str
    path: str
    range: str | None
    headers: dict[str, str]
    port: int = 0
    status: int = 0
    num_bytes: int = 0
    at: float = field(default_factory=time.monotonic)


class _Broken(Exception):
    """The connection is done."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        home = self.server.home
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers.get("range"), headers, self.client_address[1])
        fault = home.began(asked)
        try:
            if home.latency:
                home.waits(home.latency)
            self.serve(asked, fault)
        except (_Broken, OSError):
            self.close_connection = True
        finally:
            home.ended()

    def serve(self, asked: Asked, fault: Fault | None) -> None:
        home, kind = self.server.home, fault.kind if fault else ""
        if fault is not None and kind == "silent":
            self.holds()
        if fault is not None and kind == "garbage":
            self.connection.sendall(b"\0\1\2 this is no HTTP\r\n\r\n")
            raise _Broken
        if fault is not None and kind == "redirect":
            return self.answer(asked, 302, {"Location": fault.to}, b"")
        if fault is not None and kind in ("status", "missing"):
            status = 404 if kind == "missing" else fault.status
            return self.answer(asked, status, fault.headers, b"nothing to be had")
        found = home.found(asked.path)
        if found is None:
            return self.answer(asked, 404, {}, b"nothing here")
        body, tag, date = found
        headers = {name: value for name, value in (("ETag", tag), ("Last-Modified", date)) if value}
        if home.ranged:
            headers["Accept-Ranges"] = "bytes"
        if kind == "encoded":
            headers["Content-Encoding"] = "gzip"
        if asked.headers.get("if-match") not in (None, "*", tag) and home.knows_if_match:
            return self.answer(asked, 412, {}, b"")
        start, stop, status = 0, len(body), 200
        wanted = _RANGE.fullmatch(asked.range or "")
        condition = asked.headers.get("if-range")
        if wanted and home.ranged and kind != "no-range" and condition in (None, tag, date):
            start, stop = _bounds(wanted, len(body))
            if start >= stop:
                return self.answer(asked, 416, {"Content-Range": f"bytes */{len(body)}"}, b"")
            if kind == "wrong-part":
                start, stop = max(0, start - 1), max(1, stop - 1)
            status, headers["Content-Range"] = 206, f"bytes {start}-{stop - 1}/{len(body)}"
        return self.answer(asked, status, headers, body[start:stop], fault)

    def answer(self, asked: Asked, status: int, headers: dict[str, str], body: bytes, fault: Fault | None = None) -> None:
        asked.status = status
        kind = fault.kind if fault else ""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.server.home.has_length:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
        head = b"".join(self._headers_buffer) + b"\r\n"  # type: ignore[attr-defined]
        self._headers_buffer = []
        if fault is not None and kind == "slow-head":
            self.drips(head, fault.pause)
        if self.command == "HEAD":
            self.connection.sendall(head)
            return
        stopped = fault is not None and kind in ("drop", "short", "stall", "trickle", "change")
        sent = body[: fault.after] if fault is not None and stopped else body
        self.connection.sendall(head)
        self.sends(asked, sent)
        if fault is not None and kind == "more":
            self.connection.sendall(b"more than there is")
            raise _Broken
        if fault is not None and stopped and (len(sent) < len(body) or kind in ("drop", "change")):
            self.fails(asked, fault, body[len(sent) :])
        if not self.server.home.has_length:
            self.close_connection = True

    def sends(self, asked: Asked, body: bytes) -> None:
        rate = self.server.home.bytes_per_second
        for start in range(0, len(body), _PIECE):
            piece = body[start : start + _PIECE]
            asked.num_bytes += len(piece)  # before it is sent: whoever has read it may look at the count at once
            try:
                self.connection.sendall(piece)
            except OSError:
                asked.num_bytes -= len(piece)
                raise
            if rate:
                self.server.home.waits(len(piece) / rate)

    def fails(self, asked: Asked, fault: Fault, rest: bytes) -> None:
        if fault.kind == "stall":
            self.holds()
        if fault.kind == "trickle":
            self.drips(rest, fault.pause)
        if fault.kind == "change":
            self.server.home.change(asked.path, fault.content, keeps_tag=fault.keeps_tag)
        if fault.kind in ("drop", "change"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        raise _Broken

    def holds(self) -> None:
        """Say nothing until the other side goes, or the server ends."""
        while not self.server.home.waits(0.02):
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                break
        raise _Broken

    def drips(self, data: bytes, pause: float) -> None:
        for place in range(len(data)):
            self.connection.sendall(data[place : place + 1])
            if self.server.home.waits(pause):
                break
        raise _Broken

    def log_message(self, format: str, *args: Any) -> None:
        return None


def _bounds(wanted: re.Match[str], size: int) -> tuple[int, int]:
    first, last = wanted.groups()
    if not first:
        return max(0, size - int(last or 0)), size
    return int(first), min(size, int(last) + 1 if last else size)


class _Server(ThreadingHTTPServer):
    home: RangeServer
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        return None


_ports: set[int] = set()  # of all servers of this process


def _new_server() -> _Server:
    """A server at a port that no earlier one of this process had: what the library knows of a URL is of one server alone."""
    made = [_Server(("127.0.0.1", 0), _Handler)]
    while made[-1].server_address[1] in _ports:
        made.append(_Server(("127.0.0.1", 0), _Handler))
    *used, fresh = made
    for server in used:
        server.server_close()
    _ports.add(fresh.server_address[1])
    return fresh


class RangeServer:
    """See the module; to be stopped.

    Attributes:
        url: of the server.
        requests: what was asked.
        latency: seconds before each answer.
        bytes_per_second: how fast each connection is; 0 for as fast as it can.
        ranged: whether Range is known at all.
        tags: "strong", "weak" or "" for no ETag.
        dates: whether Last-Modified is told.
        has_length: whether the length is told beforehand.
        knows_if_match: whether If-Match is known.
        most_at_once: the greatest number of requests that were under way at the same time.
    """

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.latency = self.bytes_per_second = 0.0
        self.ranged, self.tags, self.dates, self.has_length, self.knows_if_match = True, "strong", True, True, True
        self.most_at_once = self._at_once = 0
        self._folders: list[str] = []
        self._pages: dict[str, tuple[bytes, str, float]] = {}
        self._faults: list[Fault] = []
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._before: Callable[[Asked], object] | None = None
        self._server = _new_server()
        self._server.home = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it, and whatever waits in it."""
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # -- what there is -------------------------------------------------------------------------------------------------

    def serve(self, folder: str | os.PathLike[str]) -> str:
        """The URL, without a final stroke, below which the files of a folder are."""
        self._folders.append(os.fspath(folder))
        return f"{self.url}/f{len(self._folders) - 1}"

    def put(self, name: str, content: bytes, *, tag: str | None = None) -> str:
        """Some bytes by a name of their own; their URL.  Their tag follows from the bytes, where none is given."""
        path = f"/{name.lstrip('/')}"
        self._pages[path] = (content, tag if tag is not None else hashlib.sha256(content).hexdigest()[:16], time.time())
        return self.url + path

    def found(self, path: str) -> tuple[bytes, str, str] | None:
        """Bytes, ETag and date of what is at a path."""
        path = unquote(path.partition("?")[0])
        page = self._pages.get(path)
        if page is None:
            number, _, inner = path.removeprefix("/f").partition("/")
            if not number.isdigit() or int(number) >= len(self._folders):
                return None
            try:
                with open(os.path.join(self._folders[int(number)], inner), "rb") as data:
                    status = os.fstat(data.fileno())
                    page = data.read(), f"{status.st_mtime_ns:x}-{status.st_size:x}", status.st_mtime
            except OSError:
                return None
        tag = {"strong": f'"{page[1]}"', "weak": f'W/"{page[1]}"'}.get(self.tags, "")
        return page[0], tag, email.utils.formatdate(page[2], usegmt=True) if self.dates else ""

    def change(self, path: str, content: bytes | None = None, *, keeps_tag: bool = False) -> None:
        """Have other bytes at a path from now on: those given, else the same ones reversed."""
        found = self.found(path)
        assert found is not None
        path, changed = unquote(path.partition("?")[0]), found[0][::-1] if content is None else content
        date = email.utils.parsedate_to_datetime(found[2]).timestamp() if found[2] else time.time()
        tag = found[1].removeprefix("W/").strip('"') if keeps_tag else hashlib.sha256(changed).hexdigest()[:16]
        self._pages[path] = changed, tag, date if keeps_tag else date + 60

    # -- what goes wrong -----------------------------------------------------------------------------------------------

    def fail(self, path: str, kind: str, **more: Any) -> None:
        """Have a fault in the next answers for paths with that end; "" for all.

        Args:
            path: the end of the paths.
            kind: one of `KINDS`.
            more: `after` so many bytes; `times` it happens, None for always; `skip` so many answers before; and the others of
                `Fault`.
        """
        assert kind in KINDS, kind
        self._faults.append(Fault(path, kind, **more))

    def before(self, call: Callable[[Asked], object] | None) -> None:
        """Call something with each request, before it is answered."""
        self._before = call

    def waits(self, seconds: float) -> bool:
        """Let time pass; whether the server ended meanwhile."""
        return self._stopped.wait(seconds)

    # -- what was asked ------------------------------------------------------------------------------------------------

    @property
    def num_bytes(self) -> int:
        """Bytes of bodies that were sent."""
        return sum(asked.num_bytes for asked in self.requests)

    def of(self, end: str) -> list[Asked]:
        """The requests for paths with that end."""
        return [asked for asked in self.requests if asked.path.partition("?")[0].endswith(end)]

    def reset(self) -> None:
        """Forget what was asked, and all faults."""
        with self._lock:
            self.requests, self._faults, self.most_at_once, self._before = [], [], 0, None

    def began(self, asked: Asked) -> Fault | None:
        """Note a request; the fault of its answer."""
        with self._lock:
            self.requests.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            call = self._before
            fault = self._fault_of(asked)
        if call is not None:
            call(asked)
        return fault

    def _fault_of(self, asked: Asked) -> Fault | None:
        for fault in self._faults:
            if not asked.path.partition("?")[0].endswith(fault.path) or fault.times == 0:
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            if fault.times is not None:
                fault.times -= 1
            return fault
        return None

    def ended(self) -> None:
        """Note the end of a request."""
        with self._lock:
            self._at_once -= 1


@contextlib.contextmanager
def serving() -> Any:
    """A server for a block."""
    server = RangeServer()
    try:
        yield server
    finally:
        server.stop()
