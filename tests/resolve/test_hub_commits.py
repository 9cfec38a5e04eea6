"""Commits as a listing: each is asked for once, and every URL is answered from it at its commit."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError, DataFilesNotFoundError
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.hub.repository import HubCommit, HubFile
from datasets_core.files import FileEntry
from datasets_core.resolve.request import HubCommits

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
    with pytest.raises(ConfigurationError, match="leads out of its repository"):
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
    with pytest.raises(DataFilesNotFoundError, match="behind '::'"):
        commits.list_folder(f"zip://x::{commits.pinned('hf://datasets/org/name/none.zip')}")
