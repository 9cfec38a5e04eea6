"""Tests of datasets_core/resolve/request.py."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DownloadError,
    LockDriftError,
    NonMatchingChecksumError,
    UnknownOptionError,
    UrlNotFoundError,
)
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.hub.repository import HubCommit, HubFile
from datasets_core.files import FileEntry
from datasets_core.load import load_dataset, load_dataset_builder, lock_dataset
from datasets_core.meta.data_files import DataFilesDict, DataFilesList, by_split
from datasets_core.resolve.registry import builder_class
from datasets_core.resolve.request import HubCommits, Location, Request, files_below, versioned


def test_a_builder_gets_what_the_request_says(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    asked = Request("csv", cache_dir=str(tmp_path / "cache"), options={"sep": ";"})
    made = asked.builder(builder_class("csv"), asked.options, config_name="en", data_files=files_below(str(tmp_path), None))
    assert made.config.sep == ";"
    assert made.config.name == "en"
    assert made.cache_dir.startswith(str(tmp_path / "cache"))


@pytest.mark.parametrize("option", ["cache_dir", "config_name", "config_id", "hash", "repo_id", "info", "name", "self"])
def test_an_option_does_not_override_what_follows_from_the_arguments(option: str) -> None:
    with pytest.raises(ConfigurationError, match=f"Unknown config option {option!r}"):
        Request("csv").builder(builder_class("csv"), {option: "x"}, config_name="en", data_files="x")


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(UnknownOptionError) as caught:
        Request("csv").builder(builder_class("csv"), {"seperator": ";"}, data_files=files_below(str(tmp_path), None))
    assert caught.value.value == "seperator"


def test_the_files_below_a_folder_are_split_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("a\n1\n")
    assert files_below(str(tmp_path), None) == {"test": [str(tmp_path / "test.csv")]}


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(DataFilesNotFoundError, match="/no/such"):
        files_below("/no/such", None)


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("reviews", "local"),
        ("file:///data/reviews", "local"),
        ("https://host/a.csv", "http"),
        ("s3://bucket/data", "store"),
        ("zip://a.csv::https://host/a.zip", "store"),
        ("hf://datasets/org/name", "hub"),
        ("zip://a.csv::hf://datasets/org/name/a.zip", "store"),
    ],
)
def test_the_kind_of_a_location_is_told_by_what_was_typed(typed: str, kind: str) -> None:
    assert Location.of(typed).kind == kind


def test_a_local_location_is_absolute_and_knows_whether_it_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert Location.of("data") == Location("local", str(tmp_path / "data"), is_folder=True)
    assert not Location.of("other").is_folder


# Commits as a listing: each is asked for once, and every URL is answered from it at its commit.

SHA = {"main": "a" * 40, "v1": "b" * 40}


class _Hub:
    """Two repositories; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, bool]] = []

    def commit(self, repo_id: str, revision: str | None = None, *, local_only: bool = False) -> HubCommit:
        self.asked.append((repo_id, revision, local_only))
        name = revision or "main"
        paths = ["a.csv", "data/b.csv", "data/deep/c.csv", "database.csv"] + (["only.csv"] if name == "v1" else [])
        files = {path: HubFile(path, len(path), f"{name} {path}") for path in paths}
        return HubCommit(repo_id, SHA.get(name, name), name, files)


@pytest.fixture
def hub() -> _Hub:
    return _Hub()


@pytest.fixture
def commits(hub: _Hub) -> HubCommits:
    return HubCommits(lambda: hub, DownloadConfig())  # type: ignore[arg-type,return-value]


def _paths(found: list[FileEntry], revision: str = "main") -> list[str]:
    return [entry.path.removeprefix(f"hf://datasets/org/name@{SHA[revision]}/") for entry in found]


def test_a_commit_is_asked_for_once_by_any_of_its_names(commits: HubCommits, hub: _Hub) -> None:
    first = commits.commit("org/name")
    assert commits.commit("org/name") is first
    assert commits.commit("org/name", SHA["main"]) is first
    assert commits.commit("org/name", "v1").sha == SHA["v1"]
    assert commits.commit("org/other").repo_id == "org/other"
    assert hub.asked == [("org/name", None, False), ("org/name", "v1", False), ("org/other", None, False)]


def test_nothing_is_asked_before_something_is_looked_up(hub: _Hub) -> None:
    made = []
    commits = HubCommits(lambda: made.append(1) or hub, DownloadConfig(local_files_only=True))  # type: ignore[arg-type,func-returns-value]
    assert commits.holds("hf://datasets/org/name/a.csv")
    assert commits.holds("zip://x.csv::hf://datasets/org/name/a.zip")
    assert not any(map(commits.holds, ["/data/a.csv", "s3://hf/a", "hf://org/model/a.csv", "zip://hf://a::/b.zip"]))
    assert made == []
    commits.commit("org/name")
    assert hub.asked == [("org/name", None, True)]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("hf://datasets/org/name/a.csv", f"hf://datasets/org/name@{SHA['main']}/a.csv"),
        ("hf://datasets/org/name@v1/./data//b.csv/", f"hf://datasets/org/name@{SHA['v1']}/data/b.csv"),
        ("hf://datasets/org/name", f"hf://datasets/org/name@{SHA['main']}"),
        ("zip://*::hf://datasets/org/name@v1/a.zip", f"zip://*::hf://datasets/org/name@{SHA['v1']}/a.zip"),
    ],
)
def test_a_url_has_one_spelling_at_its_commit(commits: HubCommits, url: str, expected: str) -> None:
    assert commits.pinned(url) == expected
    assert commits.pinned(expected) == expected


def test_a_url_that_leads_out_of_its_repository_is_refused(commits: HubCommits) -> None:
    with pytest.raises(ConfigurationError, match="leads outside its repository"):
        commits.pinned("hf://datasets/org/name/data/../../x.csv")


def test_files_and_folders_are_told_with_size_and_hash(commits: HubCommits) -> None:
    url = commits.pinned("hf://datasets/org/name/data/b.csv")
    assert commits.entry(url) == FileEntry(url, 10, "main data/b.csv")
    assert commits.entry(commits.pinned("hf://datasets/org/name/data")) is None
    assert commits.entry(commits.pinned("hf://datasets/org/name/only.csv")) is None
    root = commits.pinned("hf://datasets/org/name")
    assert _paths(commits.list_folder(root)) == ["a.csv", "data/b.csv", "data/deep/c.csv", "database.csv"]
    assert _paths(commits.list_folder(f"{root}/data")) == ["data/b.csv", "data/deep/c.csv"]
    assert _paths(commits.list_folder(f"{root}/data/deep")) == ["data/deep/c.csv"]
    assert commits.list_folder(f"{root}/none") == []
    assert _paths(commits.list_folder(commits.pinned("hf://datasets/org/name@v1")), "v1")[-1] == "only.csv"


def test_the_members_of_an_archive_have_its_hash(commits: HubCommits, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name in ("x/a.csv", "x/b.csv", "y/c.csv"):
            archive.writestr(name, name)
    opened: list[str] = []

    def open_again(url: str) -> Any:
        opened.append(url)
        return io.BytesIO(sink.getvalue())

    monkeypatch.setattr(commits, "open", open_again)
    outer = commits.pinned("hf://datasets/org/name/data/b.csv")
    found = commits.list_folder(f"zip://x::{outer}")
    assert found == [FileEntry(f"zip://x/{name}.csv::{outer}", 7, "main data/b.csv") for name in "ab"]
    assert commits.entry(f"zip://y/c.csv::{outer}") == FileEntry(f"zip://y/c.csv::{outer}", 7, "main data/b.csv")
    assert commits.entry(f"zip://y::{outer}") is None
    assert opened == [outer]
    with pytest.raises(DataFilesNotFoundError, match="after '::'"):
        commits.list_folder(f"zip://x::{commits.pinned('hf://datasets/org/name/none.zip')}")


# Data files behind http: what their server says of them is a part of the dataset's key.


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
    with pytest.raises(NonMatchingChecksumError) as caught:
        load_dataset(str(script), split="train", **reference)
    assert str(caught.value.file).endswith("a.txt")
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
    assert "changes cannot be detected" in caplog.text


@pytest.mark.parametrize("path", ["x\ud800", "x\0y", "https://example.org/\ud800"])
def test_a_text_that_no_path_can_be_is_refused(path: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a path"):
        Location.of(path)
    with pytest.raises(ConfigurationError):
        by_split(path)
