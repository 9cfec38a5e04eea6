"""Files and commits sent to a branch: each content once, in hundreds, and by LFS where Xet is not offered."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import PushError
from datasets_core.fetch.http import RetryPolicy
from datasets_core.fetch.hub import upload
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.upload import Change, HubWriter, MissedCommitError, NewFile

REPO = "org/name"
BY_XET = """
import logging
logging.basicConfig(level=logging.WARNING)
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.upload import Change, NewFile
from datasets_core.fetch.hub.upload import HubWriter
writer = HubWriter(Hub.of(), "org/name")
before = writer.open()
open("x.parquet", "wb").write(b"bytes")
files = [NewFile("data/x.parquet", "x.parquet"), NewFile("data/y.parquet", b"more")]
writer.upload(files)
writer.commit(before, Change(files), message="Mine", description=None)
say(writer.text(writer.current(), "data/x.parquet"))
"""


class Impatient:
    def now(self) -> float:
        return 0.0

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        pass


def writer_of(hub: Any, **options: Any) -> HubWriter:
    policy = RetryPolicy(3, clock=Impatient())
    given = Hub(hub.url, Hub.of().cache, token=options.pop("token", hub.token), policy=policy)
    return HubWriter(given, options.pop("repo_id", REPO), policy=policy, **options)


def test_a_renamed_repository_is_written_to_by_its_name(hub: Any) -> None:
    hub.repo("org/old")
    hub.rename("org/old", "org/new")
    writer = writer_of(hub, repo_id="org/old")

    before = writer.open()
    file = NewFile("a.parquet", b"a")
    writer.upload([file])
    info = writer.commit(before, Change([file]), message="Mine", description=None)

    assert info.repo_url.repo_id == "org/new"
    assert "a.parquet" in hub.repos["org/new"].files()


def test_files_are_sent_by_the_hundred_and_each_content_once(hub: Any, tmp_path: Path) -> None:
    hub.repo(REPO)
    files = [NewFile(f"data/{number}.parquet", b"%d" % (number % 300)) for number in range(301)]

    writer_of(hub).upload(files)

    assert hub.counts()["preupload"] == 2
    assert len(hub.of("upload")) == 300
    assert all(file.is_stored for file in files)


@pytest.mark.parametrize("attributes", ["*.parquet filter=lfs\n", "*.bin filter=lfs\n"], ids=["lfs", "git"])
def test_equal_contents_are_asked_for_once_and_all_committed(attributes: str, hub: Any, tmp_path: Path) -> None:
    repo = hub.repo(REPO, {".gitattributes": attributes, "data/0.parquet": b"old"})
    (tmp_path / "same").write_bytes(b"same")
    files = [NewFile(f"data/{number}.parquet", str(tmp_path / "same")) for number in range(40)]
    files += [
        NewFile("README.md", b"---\nlicense: mit\n---\n"),
        NewFile("empty/0.parquet", b""),
        NewFile("empty/1.parquet", b""),
    ]
    writer = writer_of(hub)
    before = writer.open()
    writer.upload(files)

    writer.commit(before, Change(files), message="Mine", description=None)

    counts = hub.counts()
    assert (counts["preupload"], counts["upload"]) == (1, int("parquet" in attributes))
    assert [repo.files()[f"data/{number}.parquet"] for number in range(40)] == [b"same"] * 40
    assert repo.files()["empty/1.parquet"] == b""


def test_one_content_of_two_kinds_is_sent_as_each_of_them_is(hub: Any) -> None:
    repo = hub.repo(REPO)
    files = [NewFile("a.parquet", b"same"), NewFile("a.txt", b"same")]
    writer = writer_of(hub)
    before = writer.open()
    writer.upload(files)

    writer.commit(before, Change(files), message="Mine", description=None)

    assert repo.at("main").files["a.parquet"].sha256 is not None
    assert repo.at("main").files["a.txt"].sha256 is None


def test_a_commit_upon_another_than_the_head_is_missed(hub: Any) -> None:
    repo = hub.repo(REPO)
    writer = writer_of(hub)
    before = writer.current()
    repo.commit({"a.txt": "a"})
    file = NewFile("b.txt", b"b")
    writer.upload([file])

    with pytest.raises(MissedCommitError) as caught:
        writer.commit(before, Change([file]), message="Mine", description=None)

    assert caught.value.is_conflict


def test_a_proxy_that_answers_for_the_hub_makes_no_fault_of_the_card(hub: Any) -> None:
    hub.repo(REPO)
    writer = writer_of(hub)
    before = writer.current()
    file = NewFile("README.md", b"---\nlicense: mit\n---\n")
    writer.upload([file])
    hub.fail(hub.faults.status(503, b"<html>"), "validate-yaml")

    with pytest.raises(MissedCommitError, match="makes no sense"):
        writer.commit(before, Change([file]), message="Mine", description=None)


def test_a_silent_hub_makes_the_commit_for_all_that_is_known(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "_COMMIT_SECONDS", 0.1)
    hub.repo(REPO)
    hub.fail(hub.faults.hanging(), "commit")
    writer = writer_of(hub)
    before, file = writer.open(), NewFile("a.parquet", b"a")
    writer.upload([file])

    with pytest.raises(MissedCommitError) as caught:
        writer.commit(before, Change([file]), message="Mine", description=None)

    assert not caught.value.is_conflict


def test_a_hub_without_xet_gets_the_files_by_lfs(hub: Any) -> None:
    pytest.importorskip("hf_xet")
    hub.repo(REPO)

    outcome = hub.run(BY_XET, token=hub.token, HF_HUB_DISABLE_XET=None)

    assert outcome.value == "bytes"
    assert len(hub.of("xet-write-token")) == 0
    assert hub.repos[REPO].log()[0] == "Mine"


@pytest.mark.parametrize("answer", ["404", "{}", "dead"])
def test_a_hub_that_takes_neither_is_told_of_soon(answer: str, hub: Any) -> None:
    pytest.importorskip("hf_xet")
    hub.repo(REPO)
    hub.needs_xet = True
    named = {"X-Xet-Cas-Url": "http://127.0.0.1:9", "X-Xet-Access-Token": "token", "X-Xet-Token-Expiration": "99999999999"}
    if answer != "404":
        headers = named if answer == "dead" else {}
        hub.fail(lambda right: hub.faults.Answer(200, headers, b"{}"), "xet-write-token", times=None)

    outcome = hub.run(BY_XET, token=hub.token, HF_HUB_DISABLE_XET=None)

    assert outcome.error_kinds[0] == "PushError"
    assert "takes no files by Xet" in str(outcome.error)
    assert "Xet only" in str(outcome.error)
    assert outcome.seconds < 20


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b"null", b'"x"', b"5", b'{"commitUrl": 5, "commitOid": []}', b"[" * 50000 + b"]" * 50000, b"<html>"],
    ids=["{}", "[]", "null", "text", "number", "kinds", "deep", "page"],
)
def test_an_answer_to_a_commit_that_makes_no_sense_is_a_missed_one(body: bytes, hub: Any) -> None:
    hub.repo(REPO)
    writer = writer_of(hub)
    before, file = writer.open(), NewFile("a.parquet", b"a")
    writer.upload([file])
    hub.fail(hub.faults.wrong(body), "commit")

    with pytest.raises(MissedCommitError) as caught:
        writer.commit(before, Change([file]), message="Mine", description=None)

    assert caught.value.is_garbled


@pytest.mark.parametrize("kind", ["preupload", "lfs-batch"])
@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"null", b'{"objects": [5], "files": [{"path": "q"}]}', b"[" * 50000 + b"]" * 50000]
)
def test_answers_to_an_upload_that_make_no_sense_are_told(body: bytes, kind: str, hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.wrong(body), kind, times=None)

    with pytest.raises(PushError, match=r"a\.parquet"):
        writer_of(hub).upload([NewFile("a.parquet", b"a")])
