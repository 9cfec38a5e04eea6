"""Data files behind http: what their server says of them is a part of the dataset's key."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config, load_dataset
from datasets_core.errors import UrlNotFoundError
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.resolve.web import versioned


class _Handler(BaseHTTPRequestHandler):
    pages: dict[str, bytes]

    def do_GET(self) -> None:
        body = self.pages.get(self.path)
        etag = f'"{hashlib.sha256(body or b"").hexdigest()}"'
        known = self.headers.get("If-None-Match") == etag
        self.send_response(404 if body is None else 304 if known else 200)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", "0" if body is None or known else str(len(body)))
        self.end_headers()
        if body is not None and not known:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def pages() -> Iterator[tuple[str, dict[str, bytes]]]:
    """The address of a server, and what it has."""
    handler = type("Handler", (_Handler,), {"pages": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler.pages
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_changed_file_behind_http_is_read_anew(pages: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    address, files = pages
    found = []
    for content in (b"a\n1\n", b"a\n2\n"):
        files["/a.csv"] = content
        found += list(load_dataset(f"{address}/a.csv", split="train", cache_dir=tmp_path)["a"])
    assert found == [1, 2]


def test_what_is_built_is_read_offline(pages: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    address, files = pages
    files["/a.csv"] = b"a\n1\n"
    load_dataset(f"{address}/a.csv", cache_dir=tmp_path)
    with config.using(offline=True):
        assert list(load_dataset(f"{address}/a.csv", split="train", cache_dir=tmp_path)["a"]) == [1]


def test_local_files_keep_their_identity(pages: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    address, files = pages
    files["/a.zip"] = b"any"
    inside = f"zip://a.csv::{address}/a.zip"
    given = DataFilesDict(train=DataFilesList(["/b.csv", inside], [("/b.csv", 3, "then"), (inside, -1, "")]))
    found = versioned(given, DownloadConfig(cache_dir=tmp_path))
    assert found == given
    assert found["train"].identities[0] == ("/b.csv", 3, "then")
    assert found["train"].identities[1] == (inside, -1, f'"{hashlib.sha256(b"any").hexdigest()}"')


def test_a_file_that_the_server_does_not_have_is_an_error(pages: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    given = DataFilesDict(train=DataFilesList([f"{pages[0]}/none.csv"]))
    with pytest.raises(UrlNotFoundError, match=r"/none\.csv"):
        versioned(given, DownloadConfig(cache_dir=tmp_path))
