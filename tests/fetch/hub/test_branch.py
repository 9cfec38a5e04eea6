"""A branch as it stands: told by one request, never by a cache, and made where it is not there."""

from __future__ import annotations

import json
import pickle
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import HubError, InvalidTokenError, PushError, RepositoryNotFoundError
from datasets_core.fetch.hub import branch as failures
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

    with config.using(hub_timeout_seconds=0.5), pytest.raises(PushError, match="reading its state"):
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

    with pytest.raises(PushError, match="listing its files"):
        branch_of(hub).current()


def test_a_listing_that_nobody_answers_is_told(hub: Any) -> None:
    hub.repo(REPO, {f"{number}.txt": "a" for number in range(1000)})
    hub.fail(hub.faults.status(503), "tree", times=None)

    with pytest.raises(PushError, match="listing its files"):
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

    with pytest.raises(InvalidTokenError, match="No user is logged in"):
        branch_of(hub, repo_id="mine", token=False).open()


def test_calls_that_go_on_failing_are_told(hub: Any) -> None:
    hub.fail(hub.faults.status(503), "create", times=None)

    with pytest.raises(PushError, match="creating the repository failed"):
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

    with pytest.raises(PushError, match="the Hub does not respond"):
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


# Refusals of a Hub that is written to, as errors that say what to do and no secret.

SIGNED = "https://storage/objects/x?X-Amz-Signature=0123456789abcdef"


@dataclass
class Response:
    status_code: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None

    def json(self) -> Any:
        return json.loads(self.body)


class Answered(Exception):
    """An error of the client, as far as it is looked at."""

    def __init__(self, text: str, response: Response, server_message: str | None = None) -> None:
        self.response, self.server_message = response, server_message
        super().__init__(text)


def error_of(status: int, *, token_sent: bool = True, message: str | None = None, **headers: str) -> Exception:
    answered = Answered("text", Response(status, {name.replace("_", "-"): value for name, value in headers.items()}), message)
    return failures.refused(answered, repo_id="org/name", doing="uploading 3 files", token_sent=token_sent)


@pytest.mark.parametrize(
    ("status", "token_sent", "kind", "words"),
    [
        (401, False, InvalidTokenError, "No user is logged in"),
        (401, True, InvalidTokenError, "does not accept the token"),
        (403, True, PushError, "cannot be written to by this user"),
        (404, True, PushError, "Check the name"),
        (413, True, PushError, "smaller shards"),
        (400, True, PushError, "the Hub returned 400"),
    ],
)
def test_each_refusal_says_what_to_do(status: int, token_sent: bool, kind: type[Exception], words: str) -> None:
    error = error_of(status, token_sent=token_sent)

    assert isinstance(error, kind)
    assert words in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_the_hub_says_is_told_in_one_line_without_secrets() -> None:
    error = error_of(400, message=f"a\nb \x1b[31m hf_abcdefghijklmnop {SIGNED}")

    assert "(a b ?[31m hf_*** https://storage/objects/x?X-Amz-Signature=***)" in str(error)


def test_an_upload_that_fails_names_no_signed_address() -> None:
    failed = RuntimeError("Error while uploading 'x' to the Hub.")
    failed.__cause__ = Answered(f"403 for url {SIGNED}", Response(403))

    error = failures.upload_refused(failed, repo_id="org/name", doing="uploading x")

    assert "0123456789abcdef" not in str(error)
    assert "the storage host returned 403" in str(error)
    assert failures.may_be_expired(failed)
    assert not failures.may_be_expired(ValueError("LFS batch API returned errors:\nx"))


def test_objects_that_the_hub_does_not_take_are_told_with_its_reason() -> None:
    refused = ValueError("LFS batch API returned errors:\nEncountered error for file with OID 12: `File too large")

    assert "File too large" in str(failures.upload_refused(refused, repo_id="org/name", doing="uploading x"))


def test_how_long_to_wait_is_read_from_both_headers() -> None:
    def asked(status: int, **headers: str) -> str | None:
        return failures.retry_after_of(Answered("", Response(status, {n.replace("_", "-"): v for n, v in headers.items()})))

    assert asked(503, retry_after="3") == "3"
    assert asked(429, ratelimit='"api";r=0;t=55') == "55"
    assert asked(429, retry_after="3", ratelimit='"api";r=7;t=55') == "3"
    assert asked(429) is None
    assert failures.retry_after_of(ValueError()) is None


def test_faults_of_a_card_are_told_with_their_lines() -> None:
    errors = {"errors": [{"message": "bad license", "line": 3}, {"message": "bad (4:2)"}]}
    error = ValueError("Invalid metadata in README.md.\n- bad")
    error.__cause__ = Answered("", Response(400, body=json.dumps(errors)))

    told = str(failures.yaml_refused(error, repo_id="org/name"))

    assert "line 3: bad license; bad (4:2)" in told
    assert "- bad" in str(failures.yaml_refused(ValueError("Invalid metadata in README.md.\n- bad"), repo_id="org/name"))


def test_an_answer_that_is_no_json_is_garbled() -> None:
    with pytest.raises(ValueError, match="Expecting value") as caught:
        json.loads("<html>")

    assert failures.is_garbled(caught.value)
    assert not failures.is_garbled(ValueError("Invalid metadata in README.md."))
