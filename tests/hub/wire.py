"""HTTP/1.1 on a port of this machine: kept-alive connections, each answer in one packet, connections that end as told."""

from __future__ import annotations

import contextlib
import http
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .faults import Answer

Respond = Callable[[str, str, dict[str, str], bytes], Answer]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Port

    def _answer(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.respond(self.command, self.path, headers, self._body(headers))
        self._send(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(headers.get("content-length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, answer: Answer) -> None:
        if not answer.is_silent:
            length = len(answer.body) if answer.length is None else answer.length
            headers = {**answer.headers, "Content-Length": str(length)}
            if answer.cut is not None or length != len(answer.body):
                self.close_connection = True
            reason = http.HTTPStatus(answer.status).phrase
            head = f"HTTP/1.1 {answer.status} {reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            body = b"" if self.command == "HEAD" or answer.status == 304 else answer.body[: answer.cut]
            head_bytes = head.encode("latin-1", "replace") + b"\r\n"
            if answer.drips is not None:
                self._drip(head_bytes, body, answer.drips)
            else:
                self.connection.sendall(head_bytes + body)
        if answer.hangs:
            self.server.closing.wait(60)
        if answer.is_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()  # with no time to linger: a reset, as after a crash
        if answer.is_silent or answer.is_reset or answer.hangs:
            self.close_connection = True

    def _drip(self, head: bytes, body: bytes, seconds: float) -> None:
        self.connection.sendall(head)
        for at in range(len(body)):
            if self.server.closing.wait(seconds):
                break
            self.connection.sendall(body[at : at + 1])

    def log_message(self, format: str, *args: Any) -> None:
        return None


class Port(ThreadingHTTPServer):
    """A port that answers until it is closed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Respond) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond, self.closing = respond, threading.Event()
        self._open: set[socket.socket] = set()
        self.connections = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
            self.connections += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        return None  # a client that went away

    def close(self) -> None:
        """End every connection and answer no more: whoever comes now is refused."""
        if self.closing.is_set():
            return
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
