"""What a commit is to do: what of it stands in the repository already."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import PushError
from datasets_core.fetch.hub import upload
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.repository import HubCommit, HubFile
from datasets_core.fetch.hub.upload import Change, HubWriter, MissedCommitError, NewFile


def regular(path: str, content: bytes) -> HubFile:
    header = f"blob {len(content)}\0".encode()
    return HubFile(path, len(content), hashlib.sha1(header + content, usedforsecurity=False).hexdigest())


def lfs(path: str, content: bytes) -> HubFile:
    return HubFile(path, len(content), "f" * 40, hashlib.sha256(content).hexdigest())


def commit_of(*files: HubFile) -> HubCommit:
    return HubCommit("org/name", "a" * 40, "main", {file.path: file for file in files})


@given(st.binary(max_size=40), st.binary(max_size=40), st.sampled_from([regular, lfs]))
def test_a_file_stands_where_the_same_bytes_stand_at_its_path(mine: bytes, theirs: bytes, stored: object) -> None:
    assert callable(stored)
    file = NewFile("data/a.parquet", mine)

    assert file.stands_in(commit_of(stored("data/a.parquet", theirs))) == (mine == theirs)
    assert not file.stands_in(commit_of(stored("data/b.parquet", mine)))


def test_a_file_may_be_named_when_its_content_is_known(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    file = NewFile("data/pending", str(tmp_path / "x"))

    file.path = "data/a.parquet"

    assert (file.path, file.size, file.sha256) == ("data/a.parquet", 3, hashlib.sha256(b"abc").hexdigest())
    assert file.stands_in(commit_of(lfs("data/a.parquet", b"abc")))


def test_a_local_file_is_removed_once(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    file = NewFile("a", str(tmp_path / "x"))

    file.forget_local()
    file.forget_local()

    assert list(tmp_path.iterdir()) == []


def test_an_open_file_is_given_back_as_a_path(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    file = NewFile("a", str(tmp_path / "x"))

    with file.opened():
        assert file.operation.path_or_fileobj.read() == b"abc"

    assert file.operation.path_or_fileobj == str(tmp_path / "x")


def test_a_change_stands_where_all_of_it_does() -> None:
    before = commit_of(lfs("old", b"abc"), regular("gone", b"1"))
    change = Change([NewFile("README.md", b"text")], {"new": (before, "old")}, ["gone"])
    whole = (regular("README.md", b"text"), lfs("new", b"abc"))

    assert change.stands_in(commit_of(*whole, regular("other", b"2")))
    assert not change.stands_in(commit_of(*whole, regular("gone", b"1")))
    assert not change.stands_in(commit_of(whole[0]))
    assert not change.stands_in(commit_of(whole[1]))
    assert not change.is_empty()
    assert Change().is_empty()


def test_files_of_one_kind_have_content_folder_and_ending_in_common() -> None:
    first, *others = (NewFile(path, b"a") for path in ("data/1.parquet", "data/2.parquet", "data/1.txt", "en/1.parquet"))

    assert [other.kind == first.kind for other in others] == [True, False, False]
    assert NewFile("data/1.parquet", b"b").kind != first.kind


def test_a_file_that_shares_what_was_sent_keeps_its_path() -> None:
    sent, other = NewFile("data/1.parquet", b"a"), NewFile("data/2.parquet", b"a")
    sent.is_sent, sent.operation.path_or_fileobj = True, b""

    other.share(sent)

    assert (other.path, other.is_stored, sent.path) == ("data/2.parquet", True, "data/1.parquet")


def test_a_file_is_called_as_nothing_for_a_while() -> None:
    file = NewFile("data/1.parquet", b"a")

    with file.unnamed():
        assert file.path == "data/1-of-pending.parquet"

    assert file.path == "data/1.parquet"


def test_what_is_in_memory_is_opened_too(tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(b"a")
    for file in (NewFile("a", str(tmp_path / "local")), NewFile("a", b"a")):
        given = file.operation.path_or_fileobj
        with file.opened(), file.operation.as_file() as source:
            assert source is file.operation.path_or_fileobj
            assert source.read() == b"a"
        assert file.operation.path_or_fileobj == given


# Files and commits sent to a branch: each content once, in hundreds, and by LFS where Xet is not offered.

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

    with pytest.raises(MissedCommitError, match="is invalid"):
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
def test_a_hub_that_takes_neither_is_told_of(answer: str, hub: Any) -> None:
    pytest.importorskip("hf_xet")
    hub.repo(REPO)
    hub.needs_xet = True
    named = {"X-Xet-Cas-Url": "http://127.0.0.1:9", "X-Xet-Access-Token": "token", "X-Xet-Token-Expiration": "99999999999"}
    if answer != "404":
        headers = named if answer == "dead" else {}
        hub.fail(lambda right: hub.faults.Answer(200, headers, b"{}"), "xet-write-token", times=None)

    outcome = hub.run(BY_XET, token=hub.token, HF_HUB_DISABLE_XET=None)

    assert outcome.error_kinds[0] == "PushError"
    assert "accepts no files by Xet" in str(outcome.error)
    assert "Xet only" in str(outcome.error)
    assert len(hub.of("xet-write-token")) == 1


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


# Whether files can go by Xet is told within seconds, whatever a Hub answers.


def told(hub: Any, answer: Any = None, *, create_pr: bool = False) -> str | None:
    """Why not, where the Hub answers so."""
    hub.repo(REPO)
    if answer is not None:
        hub.fail(lambda right: answer, "xet-write-token", times=None)
    given = Hub(hub.url, Hub.of().cache, token=hub.token)
    with config.using(hub_timeout_seconds=60 if answer is None else 0.5):
        return upload.hindrance(given, REPO, "a/b", create_pr=create_pr)


def headers(store: str, *, seconds: int = 600) -> dict[str, str]:
    end = int(time.time()) + seconds
    return {"X-Xet-Cas-Url": store, "X-Xet-Access-Token": "token", "X-Xet-Token-Expiration": str(end)}


def test_a_hub_with_a_store_takes_them(hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, headers(hub.url), b"{}"), create_pr=True) is None
    assert hub.requests[0].target.endswith("/xet-write-token/a%2Fb?create_pr=1")


def test_a_hub_that_says_so_in_the_body_takes_them(hub: Any) -> None:
    said = {"casUrl": hub.url, "accessToken": "token", "exp": int(time.time()) + 600}

    assert told(hub, hub.faults.Answer(200, {}, json.dumps(said).encode())) is None


@pytest.mark.parametrize("body", [b"{}", b"[]", b"<html>", b"[" * 50000, b'{"casUrl": 5, "accessToken": "x", "exp": "soon"}'])
def test_a_hub_that_names_no_store_takes_none(body: bytes, hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, {}, body)) == "its response has no store"


def test_a_token_that_holds_no_longer_names_no_store(hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, headers(hub.url, seconds=-1), b"{}")) == "its response has no store"


def test_a_store_that_is_not_there_takes_none(hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, headers("http://127.0.0.1:9"), b"{}")) is not None


def test_a_hub_that_does_not_know_of_it_takes_none(hub: Any) -> None:
    assert told(hub) == "it answers 404"


def test_a_hub_that_does_not_answer_takes_none(hub: Any) -> None:
    hub.stop()

    assert told(hub) is not None


def test_the_hub_of_hugging_face_is_known_to_take_them(hub: Any) -> None:
    assert upload.is_offered(Hub("https://hub-ci.huggingface.co", Hub.of().cache))
    assert not upload.is_offered(Hub("https://nothuggingface.co", Hub.of().cache))
    assert not upload.is_offered(Hub(hub.url, Hub.of().cache))


def test_who_forbids_xet_sends_none_by_it(hub: Any) -> None:
    code = "from datasets_core.fetch.hub.upload import sends_by_xet; say(sends_by_xet())"

    assert hub.run(code).value is False
