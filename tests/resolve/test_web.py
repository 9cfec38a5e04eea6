"""Data files behind http: what their server says of them is a part of the dataset's key."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import DownloadError, LockDriftError, NonMatchingChecksumError, UrlNotFoundError
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.load import load_dataset, load_dataset_builder, lock_dataset
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.resolve.request import versioned


class _Handler(BaseHTTPRequestHandler):
    pages: dict[str, bytes]
    salt = b""
    is_fickle = False

    def do_GET(self) -> None:
        body = self.pages.get(self.path)
        salt = os.urandom(8) if self.is_fickle else self.salt
        etag = f'"{hashlib.sha256((body or b"") + salt).hexdigest()}"'
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


def test_a_changed_file_is_never_given_out_by_its_lock(pages: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    address, files = pages
    url, lock = f"{address}/a.csv", tmp_path / "dataset.lock"
    files["/a.csv"] = b"a\n1\n"
    lock_dataset(url, lock=lock, cache_dir=tmp_path)
    files["/a.csv"] = b"a\n2\n"
    with pytest.raises(LockDriftError, match=r"a\.csv has sha256 .* is locked \(its ETag was .* and is "):
        load_dataset(url, split="train", lock=lock, cache_dir=tmp_path)
    assert list(load_dataset(url, split="train", cache_dir=tmp_path)["a"]) == [2]
    with pytest.raises(LockDriftError, match=r"a\.csv has sha256"):  # also where the new one stands in the cache
        load_dataset(url, split="train", lock=lock, cache_dir=tmp_path)
    files["/a.csv"] = b"a\n1\n"
    assert list(load_dataset(url, split="train", lock=lock, cache_dir=tmp_path)["a"]) == [1]


def test_a_file_that_is_served_by_another_etag_is_the_one_that_was_locked(
    pages: tuple[str, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, files = pages
    files["/a.csv"] = b"a\n1\n"
    lock_dataset(f"{address}/a.csv", lock=tmp_path / "dataset.lock", cache_dir=tmp_path)
    monkeypatch.setattr(_Handler, "salt", b"moved")
    rows = load_dataset(f"{address}/a.csv", split="train", lock=tmp_path / "dataset.lock", cache_dir=tmp_path)
    assert list(rows["a"]) == [1]


SCRIPT = """
import datasets_core as datasets

class Letters(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"letter": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        (path,) = dl_manager.download(self.config.data_files["train"])
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        with open(path) as lines:
            yield from ((number, {"letter": line.strip()}) for number, line in enumerate(lines))
"""


def test_a_registered_file_in_the_cache_never_stands_for_a_newer_one(
    pages: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    address, files = pages
    script = tmp_path / "letters.py"
    script.write_text(SCRIPT)
    reference: dict[str, Any] = {"data_files": {"train": f"{address}/a.txt"}, "cache_dir": tmp_path / "cache"}
    files["/a.txt"] = b"x\n"
    load_dataset(str(script), split="train", register_checksums=True, **reference)
    files["/a.txt"] = b"y\n"
    with pytest.raises(NonMatchingChecksumError, match=r"a\.txt"):
        load_dataset(str(script), split="train", **reference)
    (tmp_path / "checksums.tsv").unlink()
    assert load_dataset(str(script), split="train", **reference)["letter"][:] == ["y"]


def test_a_file_that_changes_between_question_and_download_is_refused(
    pages: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    address, files = pages
    files["/a.csv"] = b"a\n1\n"
    builder = load_dataset_builder(f"{address}/a.csv", cache_dir=tmp_path)
    files["/a.csv"] = b"a\n2\n"
    with pytest.raises(DownloadError, match=r"a\.csv: it changed while the dataset was prepared"):
        builder.download_and_prepare()
    assert list(load_dataset(f"{address}/a.csv", split="train", cache_dir=tmp_path)["a"]) == [2]


def test_a_server_without_lasting_etags_is_read_all_the_same(
    pages: tuple[str, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    address, files = pages
    files["/a.csv"] = b"a\n1\n"
    monkeypatch.setattr(_Handler, "is_fickle", True)
    assert list(load_dataset(f"{address}/a.csv", split="train", cache_dir=tmp_path)["a"]) == [1]
    assert "whether it changed cannot be told" in caplog.text
