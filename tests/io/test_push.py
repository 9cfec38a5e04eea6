"""A push: what is uploaded, what is committed, how often the Hub is asked, and what others' commits and faults do to it."""

from __future__ import annotations

import json
import os
import pickle
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import (
    ConfigurationError,
    InvalidTokenError,
    OfflineError,
    PushConflictError,
    PushError,
    RevisionNotFoundError,
)
from datasets_core.fetch import disk_cache
from datasets_core.io import push as push_module
from datasets_core.io.push import check_replaced, push, shard_folder
from datasets_core.io.push_target import LocalShard, PushedSplit, PushTarget, RepositoryState, RepositoryTexts, push_target

REPO = "org/name"


class Impatient:
    """A clock whose pauses are over at once."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def now(self) -> float:
        return 0.0

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> None:
        self.pauses.append(seconds)


def shards_of(split: str, *contents: bytes) -> Callable[[str], Iterator[LocalShard]]:
    """What writes files of these contents."""

    def make(folder: str) -> Iterator[LocalShard]:
        for index, content in enumerate(contents):
            path = Path(folder) / f"{split}-{index}"
            path.write_bytes(content)
            yield LocalShard(str(path), split, num_rows=len(content), num_bytes=2 * len(content))

    return make


def card(state: RepositoryState, splits: Sequence[PushedSplit]) -> RepositoryTexts:
    """The old card, with a line for each split in place of the one that it had."""
    ours = {f"{split.name}: " for split in splits}
    kept = [line for line in (state.readme or "---\nlicense: mit\n---\n").splitlines() if not line.startswith(tuple(ours))]
    lines = [*kept, *(f"{split.name}: {split.num_rows} rows, {split.file_bytes} bytes" for split in splits)]
    return RepositoryTexts("\n".join(lines) + "\n")


def pushed(hub: Any, splits: dict[str, Sequence[bytes]], **options: Any) -> Any:
    """Push splits of such contents."""
    tries = options.pop("tries", 10)
    clock = options.pop("clock", None) or Impatient()
    target = push_target(options.pop("repo_id", REPO), splits=list(splits), **{"token": hub.token, **options})
    shards = {split: shards_of(split, *contents) for split, contents in splits.items()}
    return push(target, shards, card, policy=RetryPolicy(tries, clock=clock))


def puts(hub: Any) -> int:
    return len(hub.of("upload"))


def test_one_shard_takes_eight_requests_where_the_repository_has_a_card(hub: Any) -> None:
    hub.verifies_uploads = True
    hub.repo(REPO, {"README.md": "---\nlicense: mit\n---\nText\n"})

    info = pushed(hub, {"train": [b"one"]})

    assert len(hub.requests) <= 8, hub.counts()
    assert hub.repos[REPO].files()["data/train-00000-of-00001.parquet"] == b"one"
    assert "Text" in hub.repos[REPO].text("README.md")
    assert (info.oid, info.commit_message, info.repo_url.repo_id) == (hub.repos[REPO].sha, "Upload dataset", REPO)


@pytest.mark.parametrize(
    ("repo_id", "revision", "is_there"),
    [(REPO, None, True), ("me/mine", None, True), ("mine", None, True), ("mine", None, False), (REPO, "refs/pr/1", True)],
    ids=["there", "own", "name", "new name", "request"],
)
@pytest.mark.parametrize("small_files", ["200", "307"])
def test_one_shard_takes_nine_requests_wherever_it_goes(
    small_files: str, repo_id: str, revision: str | None, is_there: bool, hub: Any
) -> None:
    hub.verifies_uploads, hub.small_files = True, small_files
    if is_there:
        repo = hub.repo("me/mine" if repo_id == "mine" else repo_id, {"README.md": "---\nlicense: mit\n---\nText\n"})
        repo.commit({"other.txt": "o"}, branch="refs/pr/1")

    pushed(hub, {"train": [b"one"]}, repo_id=repo_id, revision=revision)

    told = repo_id == "mine" and is_there and small_files == "307"  # the name is asked for, and the card twice
    assert len(hub.requests) <= 9 + told, hub.counts()


@pytest.mark.parametrize("is_there", [True, False], ids=["there", "new"])
def test_one_shard_takes_nine_requests_to_a_branch(is_there: bool, hub: Any) -> None:
    hub.verifies_uploads = True
    repo = hub.repo(REPO, {"README.md": "---\nlicense: mit\n---\nText\n"})
    if is_there:
        repo.commit({"README.md": "---\nlicense: mit\n---\nMore\n"}, branch="dev")

    pushed(hub, {"train": [b"one"]}, revision="dev")

    assert len(hub.requests) <= 9, hub.counts()
    assert ("More" in repo.text("README.md", "dev")) == is_there


def test_a_repository_that_is_not_there_is_made_in_nine_requests(hub: Any) -> None:
    hub.verifies_uploads = True

    pushed(hub, {"train": [b"one"]}, private=True)

    assert len(hub.requests) <= 9, hub.counts()
    assert hub.repos[REPO].private
    assert hub.repos[REPO].log() == ["Upload dataset", "initial commit"]


def test_many_shards_take_one_preupload_and_one_commit(hub: Any) -> None:
    contents = [b"%d" % number for number in range(120)]

    pushed(hub, {"train": contents[:60], "test": contents[60:]})

    counts = hub.counts()
    assert (counts["preupload"], counts["commit"], counts["lfs-batch"], puts(hub)) == (1, 1, 1, 120)
    files = hub.repos[REPO].files()
    assert [files[f"data/test-{number:05d}-of-00060.parquet"] for number in range(60)] == contents[60:]


def test_nothing_new_makes_no_commit_and_takes_three_requests(hub: Any) -> None:
    first = pushed(hub, {"train": [b"one", b"two"]})
    hub.forget()

    again = pushed(hub, {"train": [b"one", b"two"]})

    assert (again.oid, len(hub.repos[REPO].log())) == (first.oid, 2)
    assert len(hub.requests) <= 3, hub.counts()
    assert again.commit_url == first.commit_url


def test_shards_that_stand_there_are_neither_uploaded_nor_committed(hub: Any) -> None:
    pushed(hub, {"train": [b"one", b"two"]})
    hub.forget()

    pushed(hub, {"train": [b"one", b"TWO"]})

    (commit,) = hub.of("commit")
    assert puts(hub) == 1
    assert b"train-00000" not in commit.body
    assert hub.repos[REPO].files()["data/train-00001-of-00002.parquet"] == b"TWO"


def test_content_that_stands_elsewhere_is_not_uploaded_again(hub: Any) -> None:
    pushed(hub, {"train": [b"one", b"two"]})
    hub.forget()

    pushed(hub, {"train": [b"zero", b"one", b"two"]})

    files = hub.repos[REPO].files()
    assert puts(hub) == 1
    assert sorted(path for path in files if path.startswith("data/")) == [
        f"data/train-0000{n}-of-00003.parquet" for n in range(3)
    ]
    assert files["data/train-00002-of-00003.parquet"] == b"two"


def test_streams_leave_few_files_on_the_disk(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_module, "FILES_A_CALL", 4)
    most = 0

    def make(folder: str) -> Iterator[LocalShard]:
        nonlocal most
        for shard in shards_of("train", *(b"%d" % number for number in range(18)))(folder):
            yield shard
            most = max(most, len(os.listdir(folder)))

    push(push_target(REPO, splits=["train"], token=hub.token), {"train": make}, card)

    assert most <= 5
    files = hub.repos[REPO].files()
    assert [files[f"data/train-{number:05d}-of-00018.parquet"] for number in range(18)] == [b"%d" % n for n in range(18)]
    assert hub.counts()["commit"] == 1


def test_a_stream_is_sent_while_it_comes(hub: Any) -> None:
    arrived: list[int] = []

    def make(folder: str) -> Iterator[LocalShard]:
        for shard in shards_of("train", *(b"%d" % number for number in range(30)))(folder):
            arrived.append(puts(hub))
            yield shard

    push(push_target(REPO, splits=["train"], token=hub.token), {"train": make}, card, is_stream=True)

    assert [arrived.index(count) for count in (4, 20)] == [5, 21]
    assert hub.counts()["preupload"] == 3


def test_of_a_stream_of_large_shards_two_wait_on_the_disk(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_module, "_STREAM_BYTES", 100)
    most, sent_before = 0, list[int]()

    def make(folder: str) -> Iterator[LocalShard]:
        nonlocal most
        for shard in shards_of("train", *(b"%4d" % number * 250 for number in range(12)))(folder):
            most = max(most, sum(entry.stat().st_size for entry in os.scandir(folder)))
            sent_before.append(puts(hub))
            yield shard

    push(push_target(REPO, splits=["train"], token=hub.token), {"train": make}, card, is_stream=True)

    assert most <= 2000
    assert sent_before == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]
    assert hub.counts()["commit"] == 1


def test_equal_shards_take_one_preupload_and_one_upload(hub: Any) -> None:
    pushed(hub, {"train": [b"same"] * 40, "test": [b"same"], "validation": [b"same"]})

    counts = hub.counts()
    assert (counts["preupload"], counts["lfs-batch"], puts(hub), counts["commit"]) == (1, 1, 1, 1)
    files = hub.repos[REPO].files()
    assert [files[f"data/train-{number:05d}-of-00040.parquet"] for number in range(40)] == [b"same"] * 40
    assert files["data/validation-00000-of-00001.parquet"] == b"same"


def test_what_a_stream_sends_again_under_another_name_is_copied(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_module, "FILES_A_CALL", 2)
    pushed(hub, {"train": [b"%d" % number for number in range(5)]})
    hub.forget()

    pushed(hub, {"train": [b"%d" % number for number in range(6)]})

    files = hub.repos[REPO].files()
    assert [files[f"data/train-{number:05d}-of-00006.parquet"] for number in range(6)] == [b"%d" % n for n in range(6)]
    assert puts(hub) == 1


def test_a_stream_whose_shards_stand_there_sends_nothing(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_module, "FILES_A_CALL", 2)
    first = pushed(hub, {"train": [b"%d" % number for number in range(7)]})
    hub.forget()

    assert pushed(hub, {"train": [b"%d" % number for number in range(7)]}).oid == first.oid
    assert set(hub.counts()) <= {"info", "resolve", "preupload"}


def test_the_old_shards_of_a_split_go_and_all_else_stays(hub: Any) -> None:
    hub.repo(REPO, {"notes.txt": "n", "data/extra.csv": "a", "en/train-00000-of-00001.parquet": b"en"})
    pushed(hub, {"train": [b"1", b"2", b"3"], "test": [b"4"]})

    pushed(hub, {"train": [b"5"]})

    assert set(hub.repos[REPO].files()) == {
        *(".gitattributes", "README.md", "notes.txt", "data/extra.csv", "en/train-00000-of-00001.parquet"),
        *("data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"),
    }


def test_a_whole_config_takes_the_place_of_what_it_was(hub: Any) -> None:
    hub.repo(REPO, {"data/notes-on-it.txt": "n", "en/test-00000-of-00001.parquet": b"en"})
    pushed(hub, {"train": [b"1"], "test": [b"4"]})

    pushed(hub, {"validation": [b"5"]}, replaces_config=True)

    assert set(hub.repos[REPO].files()) == {
        *(".gitattributes", "README.md", "data/notes-on-it.txt", "en/test-00000-of-00001.parquet"),
        "data/validation-00000-of-00001.parquet",
    }


def test_files_that_another_config_reads_are_not_taken_away(hub: Any) -> None:
    text = "---\nconfigs:\n- config_name: a\n  data_files: all/*.parquet\n---\n"
    repo = hub.repo(
        REPO, {"README.md": text, "all/train-00000-of-00001.parquet": b"a", "all/test-00000-of-00001.parquet": b"t"}
    )
    sha, made = repo.sha, list[str]()

    def make(folder: str) -> Iterator[LocalShard]:
        made.append(folder)
        yield from shards_of("train", b"one")(folder)

    target = push_target(REPO, splits=["train"], token=hub.token, config_name="b", data_dir="all")
    with pytest.raises(ConfigurationError, match="belongs to the config 'a'"):
        push(target, {"train": make}, card)

    assert (repo.sha, made) == (sha, [])


def test_files_that_another_config_names_before_the_commit_are_not_taken_away(hub: Any) -> None:
    repo = hub.repo(REPO)
    text = "---\nconfigs:\n- config_name: a\n  data_files: data/*.parquet\n---\n"
    hub.before(lambda _: repo.commit({"README.md": text, "data/train-00000-of-00001.parquet": b"a"}, title="Theirs"), "commit")

    with pytest.raises(ConfigurationError, match="belongs to the config 'a'"):
        pushed(hub, {"train": [b"one"]})

    assert repo.log()[0] == "Theirs"


def test_a_branch_that_is_not_there_is_made(hub: Any) -> None:
    hub.repo(REPO, {"notes.txt": "n"})

    pushed(hub, {"train": [b"one"]}, revision="v2/new")

    assert "data/train-00000-of-00001.parquet" in hub.repos[REPO].files("v2/new")
    assert "data/train-00000-of-00001.parquet" not in hub.repos[REPO].files()
    assert "notes.txt" in hub.repos[REPO].files("v2/new")


def test_a_branch_of_a_repository_that_is_not_there_is_made_too(hub: Any) -> None:
    pushed(hub, {"train": [b"one"]}, revision="dev")

    assert "data/train-00000-of-00001.parquet" in hub.repos[REPO].files("dev")


def test_refs_that_are_no_branches_are_not_made(hub: Any) -> None:
    hub.repo(REPO)
    with pytest.raises(RevisionNotFoundError):
        pushed(hub, {"train": [b"one"]}, revision="refs/pr/9")


def test_a_pull_request_leaves_the_branch_alone(hub: Any) -> None:
    hub.repo(REPO, {"README.md": "---\n{}\n---\n"})
    sha = hub.repos[REPO].sha

    info = pushed(hub, {"train": [b"one"]}, create_pr=True, commit_message="Mine", commit_description="Why")

    assert (hub.repos[REPO].sha, info.pr_num, info.pr_revision) == (sha, 1, "refs/pr/1")
    made = hub.repos[REPO].at("refs/pr/1")
    assert (made.title, made.message) == ("Mine", "Why")
    assert "data/train-00000-of-00001.parquet" in made.files
    pushed(hub, {"train": [b"two"]}, revision="refs/pr/1")
    assert hub.repos[REPO].files("refs/pr/1")["data/train-00000-of-00001.parquet"] == b"two"


def test_a_name_without_namespace_is_one_of_the_user(hub: Any) -> None:
    pushed(hub, {"train": [b"one"]}, repo_id="mine")

    assert "data/train-00000-of-00001.parquet" in hub.repos["me/mine"].files()


def test_gitignore_leaves_no_shard_out(hub: Any) -> None:
    hub.repo(REPO, {".gitignore": "*.parquet\n"})

    pushed(hub, {"train": [b"one"]})

    assert "data/train-00000-of-00001.parquet" in hub.repos[REPO].files()


def test_files_that_git_holds_itself_are_pushed_and_known_again(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_module, "FILES_A_CALL", 2)
    hub.repo(REPO, {".gitattributes": "*.bin filter=lfs\n"})
    contents = [b"1", b"2", b"3", b"4", b"5"]
    first = pushed(hub, {"train": contents})

    assert puts(hub) == 0
    assert hub.repos[REPO].files()["data/train-00002-of-00005.parquet"] == b"3"
    assert pushed(hub, {"train": contents}).oid == first.oid


def test_large_files_go_in_parts(hub: Any) -> None:
    hub.part_bytes = 1000
    content = os.urandom(3500)

    pushed(hub, {"train": [content]})

    assert hub.repos[REPO].files()["data/train-00000-of-00001.parquet"] == content


# -- others, and faults


def test_another_commit_meanwhile_is_kept(hub: Any) -> None:
    repo = hub.repo(REPO, {"README.md": "---\nlicense: mit\n---\nOld\n"})

    def other(_: Any) -> None:
        repo.commit({"README.md": "---\nlicense: mit\n---\nNew by another\n", "other.txt": "o"}, title="Another")

    hub.before(other, "commit", times=2)

    pushed(hub, {"train": [b"one"]})

    assert "New by another" in repo.text("README.md")
    assert "train: 3 rows" in repo.text("README.md")
    assert {"other.txt", "data/train-00000-of-00001.parquet"} <= set(repo.files())
    assert repo.log()[0] == "Upload dataset"
    assert puts(hub) == 1


def test_endless_conflicts_are_told(hub: Any) -> None:
    repo = hub.repo(REPO)
    count = iter(range(100))
    hub.before(lambda _: repo.commit({"other.txt": f"{next(count)}"}), "commit", times=None)

    with pytest.raises(PushConflictError, match="before each of 3 commits to 'main'") as caught:
        pushed(hub, {"train": [b"one"]}, tries=3)

    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    assert hub.counts()["commit"] == 3


def test_another_commit_in_progress_is_waited_for(hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.status(409), "commit", times=2)

    pushed(hub, {"train": [b"one"]})

    assert hub.repos[REPO].log()[0] == "Upload dataset"


@pytest.mark.parametrize("is_done", [True, False], ids=["done", "left"])
def test_a_commit_that_fails_once_is_made_once(hub: Any, is_done: bool) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.status(500), "commit", done=is_done)

    pushed(hub, {"train": [b"one"]})

    assert hub.repos[REPO].log() == ["Upload dataset", "initial commit"]
    assert hub.counts()["commit"] == (1 if is_done else 2)


@pytest.mark.parametrize("body", [b"{}", b"[]", b"<html>"], ids=["{}", "[]", "page"])
def test_a_commit_that_was_made_is_found_whatever_was_answered(body: bytes, hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.wrong(body), "commit", done=True)

    info = pushed(hub, {"train": [b"one"]})

    assert hub.repos[REPO].log() == ["Upload dataset", "initial commit"]
    assert info.oid == hub.repos[REPO].sha


@pytest.mark.parametrize("kind", ["commit", "validate-yaml"])
def test_answers_that_go_on_making_no_sense_are_told_soon(kind: str, hub: Any) -> None:
    sha = hub.repo(REPO).sha
    hub.fail(hub.faults.status(404, b"<html>") if kind == "validate-yaml" else hub.faults.wrong(b"{}"), kind, times=None)

    with pytest.raises(PushError, match="after 3 attempts"):
        pushed(hub, {"train": [b"one"]})

    assert hub.repos[REPO].sha == sha
    assert len(hub.of(kind)) == 3


@pytest.mark.parametrize("is_drop", [True, False], ids=["dropped", "503"])
def test_a_commit_whose_answer_is_lost_is_not_made_twice(hub: Any, is_drop: bool) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.dropped() if is_drop else hub.faults.status(503), "commit", done=True)

    info = pushed(hub, {"train": [b"one"]})

    assert hub.repos[REPO].log() == ["Upload dataset", "initial commit"]
    assert info.oid == hub.repos[REPO].sha


def test_a_pull_request_whose_answer_is_lost_is_not_made_twice(hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.dropped(), "commit", done=True)

    info = pushed(hub, {"train": [b"one"]}, create_pr=True)

    assert info.pr_num == 1
    assert [ref for ref in hub.repos[REPO].refs if ref.startswith("refs/pr/")] == ["refs/pr/1"]


def test_another_commit_upon_one_whose_answer_is_lost_is_kept(hub: Any) -> None:
    repo = hub.repo(REPO)
    hub.fail(hub.faults.dropped(), "commit", done=True)
    hub.before(lambda _: repo.commit({"other.txt": "o"}, title="Another"), "info", skip=1)

    pushed(hub, {"train": [b"one"]})

    assert repo.log() == ["Another", "Upload dataset", "initial commit"]


def test_the_hub_says_how_long_to_wait(hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.status(429, Retry_After="7"), "commit")
    clock = Impatient()

    pushed(hub, {"train": [b"one"]}, clock=clock)

    assert clock.pauses == [7.0]


def test_what_arrived_before_a_failure_is_not_sent_again(hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.status(403), "commit")
    with pytest.raises(PushError):
        pushed(hub, {"train": [b"one", b"two"]})
    hub.forget()

    pushed(hub, {"train": [b"one", b"two", b"three"]})

    assert puts(hub) == 1


def test_an_expired_upload_is_begun_anew(hub: Any) -> None:
    hub.repo(REPO)
    hub.fail(hub.faults.status(403, b"<Error>expired</Error>"), "upload")

    pushed(hub, {"train": [b"one"]})

    assert hub.repos[REPO].files()["data/train-00000-of-00001.parquet"] == b"one"


def test_who_may_not_write_is_told(hub: Any) -> None:
    sha = hub.repo(REPO).sha

    with pytest.raises(PushError, match="cannot be written to by this user") as caught:
        pushed(hub, {"train": [b"one"]}, token=hub.stranger.token)

    assert hub.repos[REPO].sha == sha
    assert hub.stranger.token not in str(caught.value)


def test_who_may_not_write_is_told_where_nothing_is_new(hub: Any) -> None:
    pushed(hub, {"train": [b"one"]})

    with pytest.raises(PushError, match="cannot be written to by this user"):
        pushed(hub, {"train": [b"one"]}, token=hub.stranger.token)


def test_a_namespace_of_others_is_told(hub: Any) -> None:
    with pytest.raises(PushError, match="creating the repository is forbidden"):
        pushed(hub, {"train": [b"one"]}, token=hub.stranger.token)


@pytest.mark.parametrize("is_there", [True, False], ids=["there", "new"])
def test_nobody_is_told_to_log_in(hub: Any, is_there: bool) -> None:
    if is_there:
        hub.repo(REPO)
    with pytest.raises(InvalidTokenError, match="Log in"):
        pushed(hub, {"train": [b"one"]}, token=False)


def test_a_token_that_is_unknown_is_told(hub: Any) -> None:
    with pytest.raises(InvalidTokenError, match="does not accept the token") as caught:
        pushed(hub, {"train": [b"one"]}, token="hf_unknownTokenOfNobody")

    assert "hf_unknown" not in str(caught.value)
    assert "token=False" not in str(caught.value)  # which nobody may push with


def test_a_card_that_the_hub_refuses_is_told_with_its_line(hub: Any) -> None:
    hub.repo(REPO, {"README.md": "---\nlicense: [mit\nlanguage: en\n---\n"})

    with pytest.raises(PushError, match="line 2"):
        pushed(hub, {"train": [b"one"]})


def test_objects_that_are_refused_are_told(hub: Any) -> None:
    hub.repo(REPO)
    hub.needs_xet = True

    with pytest.raises(PushError, match="Xet only"):
        pushed(hub, {"train": [b"one"]})


def test_a_silent_hub_is_told(hub: Any) -> None:
    hub.repo(REPO)
    hub.stop()

    with config.using(hub_timeout_seconds=0.5), pytest.raises(PushError, match="reading its state"):
        pushed(hub, {"train": [b"one"]})


def test_offline_nothing_is_pushed(hub: Any) -> None:
    with config.using(offline=True), pytest.raises(OfflineError):
        pushed(hub, {"train": [b"one"]})


def test_a_split_without_shards_is_refused(hub: Any) -> None:
    hub.repo(REPO)
    with pytest.raises(ConfigurationError, match="no shard"):
        pushed(hub, {"train": []})


def test_an_interrupted_push_leaves_nothing_behind(hub: Any) -> None:
    repo = hub.repo(REPO, {"a.txt": "a"})
    sha = repo.sha

    def make(folder: str) -> Iterator[LocalShard]:
        yield from shards_of("train", b"one")(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        push(push_target(REPO, splits=["train"], token=hub.token), {"train": make}, card)

    assert repo.sha == sha
    assert os.listdir(Path(config.settings().cache_dir) / "pushing") == []


# Files that another config reads are refused to a push, and those that its own reads are not.

FILES = ["all/train-00000-of-00001.parquet", "all/test-00000-of-00001.parquet"]


def card_foreign_files(**configs: str) -> str:
    """A card whose configs are written so."""
    return "---\nconfigs:\n" + "".join(f"- config_name: {name}\n  {text}\n" for name, text in configs.items()) + "---\n"


def check(text: str | None, *, config: str = "b", yaml: str | None = None) -> None:
    state = RepositoryState(text, None, FILES, yaml)
    check_replaced(PushTarget("org/name", config, "all"), state, FILES)


@pytest.mark.parametrize(
    "files",
    ["data_files: all/*.parquet", "data_files: all/train-*", "data_dir: all", "data_dir: all/", "data_files: '**'"],
)
def test_what_another_config_reads_is_refused(files: str) -> None:
    with pytest.raises(ConfigurationError, match="belongs to the config 'a'"):
        check(card_foreign_files(a=files))


@pytest.mark.parametrize(
    "text",
    [
        None,
        "# Title",
        card_foreign_files(a="data_files: en/*.parquet"),
        card_foreign_files(a="data_files: all/validation-*"),
        card_foreign_files(a="version: 1.0.0"),
        card_foreign_files(a="data_files: 'all/[b-a]*'"),
        card_foreign_files(a="data_files: all/*.parquet", b="data_files: all/*"),
        card_foreign_files(a="data_files: '*/train-*'", b="data_dir: all"),
        card_foreign_files(a="data_files: all/*.parquet", b="version: 1.0.0"),
    ],
    ids=["none", "text", "elsewhere", "others", "nothing", "senseless", "own", "own folder", "own unnamed"],
)
def test_what_none_reads_or_the_own_config_too_is_not(text: str | None) -> None:
    check(text)


def test_the_configs_of_the_yaml_beside_take_the_place_of_those_of_the_card() -> None:
    with pytest.raises(ConfigurationError, match="belongs to the config 'c'"):
        check(card_foreign_files(b="data_dir: all"), yaml=card_foreign_files(c="data_dir: all").strip("-\n"))


def test_a_push_that_replaces_nothing_reads_no_card() -> None:
    check_replaced(PushTarget("org/name"), RepositoryState("---\n[\n---\n", None, []), [])


# The folder of a push: in the cache where that takes one, and gone afterwards.


def test_the_folder_is_in_the_cache_and_goes(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path)), shard_folder() as folder:
        assert Path(folder).parent == tmp_path / "pushing"
        Path(folder, "a").touch()

    assert os.listdir(tmp_path / "pushing") == []


def test_what_dead_processes_left_is_removed(tmp_path: Path) -> None:
    pushing = tmp_path / "pushing"
    (pushing / "dead.part").mkdir(parents=True)
    (pushing / "alive.part").mkdir()
    for name, pid in (("dead", 2**22 + 1), ("alive", os.getpid())):
        (pushing / f"{name}.part.json").write_text(json.dumps({"pid": pid, "host": socket.gethostname()}))

    with config.using(cache_dir=str(tmp_path)), shard_folder():
        pass

    assert sorted(os.listdir(pushing)) == ["alive.part", "alive.part.json"]


def test_a_cache_at_a_url_makes_no_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with config.using(cache_dir="memory://x/y"), shard_folder() as folder:
        assert os.path.isdir(folder)

    assert not os.path.exists(folder)
    assert os.listdir(tmp_path) == []


def test_a_cache_that_takes_no_folder_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with config.using(cache_dir=str(tmp_path / "file")), shard_folder() as folder:
        assert os.path.isdir(folder)

    assert not os.path.exists(folder)


def test_a_folder_that_cannot_be_claimed_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def claim(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(disk_cache, "claim", claim)

    with config.using(cache_dir=str(tmp_path)), shard_folder() as folder:
        assert folder.startswith(tempfile.gettempdir())

    assert os.listdir(tmp_path / "pushing") == []


def test_an_error_within_is_that_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(ValueError, match="mine") as caught,
        config.using(cache_dir=str(tmp_path / "file")),
        shard_folder(),
    ):
        raise ValueError("mine")

    assert caught.value.__context__ is None
