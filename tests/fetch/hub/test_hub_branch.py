"""A branch as it stands: told by one request, never by a cache, and made where it is not there."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import HubError, InvalidTokenError, PushError, RepositoryNotFoundError
from datasets_core.fetch.http import RetryPolicy
from datasets_core.fetch.hub import branch as hub_branch
from datasets_core.fetch.hub.branch import HubBranch
from datasets_core.fetch.hub.client import Hub

REPO = "org/name"


class Impatient:
    def now(self) -> float:
        return 0.0

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        pass


def branch_of(hub: Any, *, repo_id: str = REPO, token: str | bool | None = None, revision: str | None = None) -> HubBranch:
    policy = RetryPolicy(3, clock=Impatient())
    given = Hub(hub.url, Hub.of().cache, token=hub.token if token is None else token, policy=policy)
    return HubBranch(given, repo_id, revision=revision, policy=policy)


def test_commit_and_files_are_told_by_one_request(hub: Any) -> None:
    hub.repo(REPO, {"a.txt": "a", "b.parquet": b"b"})

    commit = branch_of(hub).current()

    assert hub.counts() == {"info": 1}
    assert commit.files == Hub.of().commit(REPO).files
    assert (commit.sha, commit.revision) == (hub.repos[REPO].sha, "main")


def test_more_files_than_an_info_is_trusted_with_are_listed(hub: Any) -> None:
    hub.repo(REPO, {f"{number}.txt": "a" for number in range(1000)})

    assert len(branch_of(hub).current().files) == 1001
    assert hub.counts()["tree"] == 2


def test_the_branch_as_it_stands_is_never_that_of_a_cache(hub: Any) -> None:
    hub.repo(REPO)
    branch = branch_of(hub)
    branch.current()
    Hub.of().commit(REPO)
    hub.stop()

    with config.using(hub_timeout_seconds=0.5), pytest.raises(PushError, match="asking what is there"):
        branch.current()


def test_a_repository_that_somebody_makes_first_is_taken(hub: Any) -> None:
    hub.before(lambda _: hub.repo(REPO, {"theirs.txt": "t"}), "create")

    assert "theirs.txt" in branch_of(hub).open().files


def test_a_listing_that_is_not_answered_is_not_told_by_a_snapshot(hub: Any) -> None:
    repo = hub.repo(REPO, {"README.md": "mine", **{f"{number}.txt": "a" for number in range(1000)}})
    cache = Hub.of().cache
    kept = Path(cache.snapshot_path(REPO, repo.sha, "1.txt"))
    kept.parent.mkdir(parents=True)
    kept.write_text("a")
    cache.set_ref(REPO, "main", repo.sha)
    hub.fail(hub.faults.status(503), "tree", times=None)

    with pytest.raises(PushError, match="asking for its files"):
        branch_of(hub).current()


def test_a_listing_that_nobody_answers_is_told(hub: Any) -> None:
    hub.repo(REPO, {f"{number}.txt": "a" for number in range(1000)})
    hub.fail(hub.faults.status(503), "tree", times=None)

    with pytest.raises(PushError, match="asking for its files"):
        branch_of(hub).current()


def test_small_calls_are_tried_again(hub: Any) -> None:
    hub.fail(hub.faults.status(503), "create")
    hub.fail(hub.faults.dropped(), "create")

    assert branch_of(hub, repo_id="mine").open().repo_id == "me/mine"
    assert (hub.counts()["create"], hub.counts()["whoami"]) == (3, 0)


def test_a_repository_of_ones_own_is_named_by_the_answer_to_making_it(hub: Any) -> None:
    hub.repo("me/mine", {"a.txt": "a"})

    assert "a.txt" in branch_of(hub, repo_id="mine").open().files
    assert hub.counts() == {"create": 1, "info": 1}


@pytest.mark.parametrize("answer", [b"{}", b"[]", b'{"url": "http://elsewhere/datasets/me/other"}', b'{"url": 5}', b"status"])
def test_who_one_is_is_asked_where_that_answer_does_not_say(answer: bytes, hub: Any) -> None:
    hub.repo("me/mine", {"a.txt": "a"})
    hub.fail(hub.faults.status(403) if answer == b"status" else hub.faults.wrong(answer), "create")

    assert "a.txt" in branch_of(hub, repo_id="mine").open().files
    assert hub.counts()["whoami"] == 1


@pytest.mark.parametrize("is_there", [True, False], ids=["there", "new"])
def test_a_branch_is_made_and_read_by_two_requests(is_there: bool, hub: Any) -> None:
    repo = hub.repo(REPO, {"a.txt": "a"})
    if is_there:
        repo.commit({"b.txt": "b"}, branch="dev")

    commit = branch_of(hub, revision="dev").open()

    assert hub.counts() == {"branch": 1, "info": 1}
    assert ("b.txt" in commit.files) == is_there


def test_a_branch_of_a_repository_that_is_not_there_takes_two_more(hub: Any) -> None:
    assert branch_of(hub, revision="dev").open().revision == "dev"
    assert hub.counts() == {"branch": 2, "create": 1, "info": 1}


def test_a_user_who_is_not_to_be_told_has_no_namespace(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", hub.token)

    with pytest.raises(InvalidTokenError, match="Nobody is logged in"):
        branch_of(hub, repo_id="mine", token=False).open()


def test_calls_that_go_on_failing_are_told(hub: Any) -> None:
    hub.fail(hub.faults.status(503), "create", times=None)

    with pytest.raises(PushError, match="making the repository failed"):
        branch_of(hub).open()


def test_a_private_repository_of_others_is_one_that_is_not_there(hub: Any) -> None:
    hub.repo(REPO, private=True)

    with pytest.raises((PushError, RepositoryNotFoundError)):
        branch_of(hub, token=hub.stranger.token).open()


def test_a_text_is_read_by_one_request_and_kept(hub: Any) -> None:
    hub.repo(REPO, {"README.md": "Text\r\n", "bad.md": b"\xff"})
    branch = branch_of(hub)
    commit = branch.current()
    hub.forget()

    assert [branch.text(commit, "README.md") for _ in range(2)] == ["Text\r\n"] * 2
    assert branch.text(commit, "none.md") is None
    assert len(hub.requests) == 1
    with pytest.raises(PushError, match="not valid UTF-8"):
        branch.text(commit, "bad.md")


def test_a_silent_hub_is_not_waited_for_for_ever(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_branch, "_CALL_SECONDS", 0.1)
    hub.fail(hub.faults.hanging(), "create", times=None)

    with pytest.raises(PushError, match="the Hub is silent"):
        branch_of(hub).open()


@pytest.mark.parametrize("shape", ["no sizes", "no siblings"])
def test_a_hub_that_does_not_tell_the_files_is_asked_for_its_listing(shape: str, hub: Any) -> None:
    repo = hub.repo(REPO, {"a.txt": "a"})
    siblings = {"siblings": [{"rfilename": "a.txt"}]} if shape == "no sizes" else {}
    hub.fail(hub.faults.wrong(json.dumps({"id": REPO, "sha": repo.sha, **siblings}).encode()), "info")

    assert set(branch_of(hub).current().files) == {".gitattributes", "a.txt"}
    assert hub.counts() == {"info": 1, "tree": 1}


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b"<html>", b'{"sha": 1, "siblings": [1]}', b'{"sha": "x/../y", "siblings": []}']
)
def test_an_answer_that_makes_no_sense_is_told(body: bytes, hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.wrong(body), "info", times=None)

    with pytest.raises(HubError):
        branch_of(hub).current()
