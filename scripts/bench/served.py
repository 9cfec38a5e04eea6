"""A server of files with ranges, a latency a request and counters: what streams are measured against."""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_CHUNK = 1 << 16


class FileServer(ThreadingHTTPServer):
    """Serves the files of a folder; `GET /counts` gives the counters, and sets them to nothing.

    Args:
        folder: what is served.
        latency: seconds before each answer.
        bandwidth: bytes a second of a connection; 0 for any.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder: Path, latency: float, bandwidth: float) -> None:
        self.folder, self.latency, self.bandwidth = folder, latency, bandwidth
        self.counting = threading.Lock()
        self.requests = self.num_bytes = 0
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """What the URLs of the files begin with."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def counted(self) -> dict[str, int]:
        """Requests and bytes since the last call."""
        with self.counting:
            found = {"requests": self.requests, "bytes": self.num_bytes}
            self.requests = self.num_bytes = 0
        return found

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may leave."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FileServer

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(is_head=True)

    def do_GET(self) -> None:
        self._answer(is_head=False)

    def _answer(self, *, is_head: bool) -> None:
        server, path = self.server, unquote(urlsplit(self.path).path)
        if path == "/counts":
            self._send(200, json.dumps(server.counted()).encode(), {})
            return
        time.sleep(server.latency)
        with server.counting:
            server.requests += 1
        file = server.folder / path.lstrip("/")
        if not file.is_file():
            self._send(404, b"", {})
            return
        size, status = file.stat().st_size, 200
        start, stop = 0, size
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        if asked and (asked[1] or asked[2]):
            status = 206
            start = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
            stop = min(size, int(asked[2]) + 1) if asked[1] and asked[2] else size
        headers = {"ETag": f'"{size:x}-{file.stat().st_mtime_ns:x}"', "Accept-Ranges": "bytes"}
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        self._head(status, stop - start, headers)
        if not is_head:
            self._body(file, start, stop)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _body(self, path: Path, start: int, stop: int) -> None:
        server, begun, sent = self.server, time.perf_counter(), 0
        try:
            with open(path, "rb") as file:
                file.seek(start)
                while sent < stop - start:
                    data = file.read(min(_CHUNK, stop - start - sent))
                    self.wfile.write(data)
                    sent += len(data)
                    with server.counting:
                        server.num_bytes += len(data)
                    if server.bandwidth:
                        time.sleep(max(0.0, sent / server.bandwidth - (time.perf_counter() - begun)))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
