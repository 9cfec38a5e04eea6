"""Loads from a Hub that fails in every way that a Hub can: they come out right, or say what is wrong."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import DatasetsCoreError
from datasets_core.inspect import get_dataset_config_names
from datasets_core.load import load_dataset


def parquet(*values: int) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"a": values}), sink)
    return sink.getvalue()


CARD = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/*\n---\n"
BIG = list(range(3000))


@pytest.fixture
def repo(hub: Any) -> Any:
    return hub.repo("org/data", {"README.md": CARD, "data/x.parquet": parquet(*BIG)})


def load(**arguments: Any) -> list[int]:
    return list(load_dataset("org/data", split="train", **arguments)["a"])


def failure(kind: type[BaseException] = DatasetsCoreError, repo: str = "org/data", **arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        load_dataset(repo, **arguments)
    return f"{type(caught.value).__name__}: {caught.value}"


def cached_blobs(hub: Any) -> dict[str, bytes]:
    folder = hub.cache_dir / "datasets--org--data" / "blobs"
    return {path.name: path.read_bytes() for path in folder.iterdir() if "." not in path.name} if folder.exists() else {}


ODD = [
    *(b"<html>", b"", b"[]", b"{}", b"null", b"NaN", b"5", b"\xff", b'"x"', b'"%s"' % (b"a" * 40), b"[1]", b"[[]]", b"[{}]"),
    *(b'{"id": 3}', b'{"sha": ["a"], "siblings": 5}', b'{"sha": NaN}', b'[{"type": "file"}]'),
    b'[{"type": "file", "path": "a", "size": NaN, "oid": 5}]',
    b'{"objects": [{"oid": [], "size": "x", "actions": {"download": {"href": "http://[bad/"}}}]}',
    b'{"objects": {"oid": 1}, "transfer": []}',
    b"[" * 900 + b"]" * 900,
    b"[" * 90_000 + b"]" * 90_000,
    b'{"sha": ' + b"9" * 5_000 + b"}",
]
FAULTS = {
    "503": lambda f: f.status(503),
    "500": lambda f: f.status(500),
    "502": lambda f: f.status(502),
    "504": lambda f: f.status(504),
    "408": lambda f: f.status(408),
    "429": lambda f: f.status(429, Retry_After="1"),
    "429 by ratelimit": lambda f: f.status(429, ratelimit='"api";r=0;t=1'),
    "dropped": lambda f: f.dropped(),
    "cut": lambda f: f.cut(20),
    "closed": lambda f: f.cut(20, reset=False),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", ["info", "tree", "resolve", "storage", "lfs-batch"])
def test_one_failure_is_made_good(kind: str, fault: str, hub: Any, repo: Any) -> None:
    hub.fail(FAULTS[fault](hub.faults), kind)
    assert load() == BIG


@pytest.mark.parametrize("kind", ["info", "tree", "resolve", "storage"])
def test_three_failures_in_a_row_are_made_good(kind: str, hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.status(503), kind, times=3)
    assert load() == BIG


@pytest.mark.parametrize("kind", ["info", "tree", "resolve", "storage"])
def test_what_fails_for_ever_is_told_with_repository_and_status(kind: str, hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.status(500), kind, times=None)
    message = failure()
    assert "org/data" in message
    assert "500" in message


def test_every_page_of_a_tree_is_asked_again(hub: Any, repo: Any) -> None:
    hub.page_size = 1
    hub.fail(hub.faults.status(503), "tree", skip=1)
    hub.fail(hub.faults.cut(5), "tree", skip=2)
    assert load() == BIG


@pytest.mark.parametrize("reset", [True, False])
def test_a_file_is_resumed_at_the_exact_byte(reset: bool, hub: Any, repo: Any) -> None:
    whole = repo.files()["data/x.parquet"]
    hub.fail(hub.faults.cut(1000, reset=reset), "storage")
    assert load() == BIG
    assert [request.range for request in hub.of("storage")][:1] == [None]
    assert hub.of("storage")[-1].range in {"bytes=1000-", f"bytes=1000-{len(whole) - 1}"}


def test_many_cuts_are_all_resumed(hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.cut(700), "storage", times=3)
    assert load() == BIG
    assert [request.range for request in hub.of("storage")][1:] == ["bytes=700-", "bytes=1400-", "bytes=2100-"]


def test_a_small_file_is_resumed_or_begun_again(hub: Any) -> None:
    hub.repo("org/data", {"train.csv": "a\n" + "1\n" * 500})
    hub.fail(hub.faults.cut(100), "resolve", "train.csv")
    assert load() == [1] * 500


@pytest.mark.parametrize("path", ["data/x.parquet", "README.md"])
@pytest.mark.parametrize("fault", ["wrong", "shortened", "empty", "page"])
def test_other_bytes_are_fetched_again(fault: str, path: str, hub: Any, repo: Any) -> None:
    faults = hub.faults
    made = {
        "wrong": faults.wrong(),
        "shortened": faults.shortened(3),
        "empty": faults.wrong(b""),
        "page": faults.wrong(b"<html>log in, please</html>"),
    }
    hub.fail(made[fault], "storage" if path.endswith("parquet") else "resolve", Path(path).name if "x" in path else path)
    assert load() == BIG
    assert set(cached_blobs(hub).values()) <= set(repo.files().values())


@pytest.mark.parametrize("path", ["data/x.parquet", "README.md", "train.csv"])
def test_bytes_that_stay_wrong_never_enter_the_cache(path: str, hub: Any) -> None:
    files = {"train.csv": "a\n1\n"} if path == "train.csv" else {"README.md": CARD, "data/x.parquet": parquet(*BIG)}
    repo = hub.repo("org/data", files)
    rule = hub.fail(
        hub.faults.wrong(), "storage" if "x" in path else "resolve", "x.parquet" if "x" in path else path, times=None
    )

    message = failure()

    assert path in message
    assert "org/data" in message
    assert repo.at("main").files[path].etag in message
    assert set(cached_blobs(hub).values()) <= set(repo.files().values())
    rule.times = 0
    assert len(load_dataset("org/data", split="train")) > 0


def test_an_expired_url_is_asked_for_anew(hub: Any, repo: Any) -> None:
    hub.before(lambda request: hub.storage.expire(), "storage")
    assert load() == BIG


def test_a_url_that_expires_in_the_middle_is_asked_for_anew_and_the_file_resumed(hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.cut(1000), "storage")
    hub.before(lambda request: hub.storage.expire(), "storage")
    assert load() == BIG
    assert hub.of("storage")[-1].range is not None


def test_a_file_that_is_gone_is_told_by_its_name(hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.status(404, X_Error_Code="EntryNotFound"), "resolve", "data/*", times=None)
    hub.fail(hub.faults.status(404), "storage", times=None)
    hub.fail(hub.faults.status(404), "lfs-batch", times=None)
    message = failure()
    assert "data/x.parquet" in message
    assert "org/data" in message


@pytest.mark.parametrize("kind", ["info", "tree", "lfs-batch"])
@pytest.mark.parametrize("body", ODD, ids=lambda body: body[:20].decode("ascii", "replace"))
def test_answers_that_make_no_sense_are_told(body: bytes, kind: str, hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.wrong(body), kind, times=None)
    if kind == "lfs-batch":  # each file has an address of its own
        assert load() == BIG
    else:
        assert "org/data" in failure()


@pytest.mark.parametrize("kind", ["info", "tree", "resolve"])
@pytest.mark.parametrize("where", ["http://[bad/", "//[bad/", "ftp://host/", "http://host:port/"])
def test_redirects_to_nowhere_are_told(where: str, kind: str, hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.redirected(where), kind, times=None)
    assert "redirects to" in failure()


@pytest.mark.parametrize("kind", ["whoami", "info", "create", "preupload", "lfs-batch", "validate-yaml", "commit", "refs"])
def test_a_push_that_is_answered_by_no_sense_is_told(kind: str, hub: Any) -> None:
    rows = Dataset.from_dict({"a": BIG})
    for number, body in enumerate(ODD[::2]):
        hub.rules.clear()
        hub.fail(hub.faults.wrong(body), kind, times=None)
        if kind == "whoami":  # which is asked for where making the repository does not tell the name
            hub.fail(hub.faults.status(403), "create", times=None)
        if kind == "refs":  # which are asked for where the answer to a commit was lost
            hub.fail(hub.faults.dropped(), "commit", done=True)
        try:
            rows.push_to_hub("new" if kind == "whoami" else f"org/new{number}", token=hub.token, create_pr=kind == "refs")
        except DatasetsCoreError as error:
            assert hub.token not in str(error), body
        assert hub.of(kind), body
        hub.forget()


# -- where the token goes


def tokens(hub: Any) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {"hub": set(), "storage": set()}
    for request in hub.requests:
        found[request.host].add(request.token)
    return found


def test_the_token_goes_to_the_endpoint_and_not_to_the_storage(hub: Any) -> None:
    hub.repo("org/data", {"README.md": CARD, "data/x.parquet": parquet(*BIG)}, private=True)
    assert load(token=hub.token) == BIG
    assert tokens(hub) == {"hub": {hub.token}, "storage": {None}}


@pytest.mark.parametrize("path", ["data/x.parquet", "README.md"])
def test_a_redirect_to_another_host_takes_no_token_along(path: str, hub: Any, repo: Any) -> None:
    elsewhere = hub.storage.signed("GET", f"/objects/org/data/{'0' * 64}")
    hub.fail(hub.faults.redirected(elsewhere), "resolve", path)
    hub.fail(hub.faults.redirected(elsewhere), "info")
    try:
        load(token=hub.token)
    except DatasetsCoreError as error:
        assert hub.token not in str(error)
    assert tokens(hub)["storage"] <= {None}


def test_an_absolute_redirect_to_the_endpoint_keeps_the_token(hub: Any) -> None:
    repo = hub.repo("org/data", {"train.csv": "a\n1\n"}, private=True)
    there = f"{hub.url}/api/datasets/org/data/resolve/{repo.sha}/train.csv"
    hub.fail(hub.faults.redirected(there), "resolve")
    assert load(token=hub.token) == [1]
    assert tokens(hub)["hub"] == {hub.token}


def test_a_renamed_repository_loads_by_its_old_name(hub: Any, repo: Any) -> None:
    hub.rename("org/data", "org/other")
    assert load() == BIG


# -- which error it is


def test_missing_private_gated_bad_token_and_revision_are_told_apart(hub: Any) -> None:
    hub.repo("org/private", {"a.csv": "a\n1\n"}, private=True)
    hub.repo("org/gated", {"a.csv": "a\n1\n"}, gated="auto")
    hub.repo("org/empty", {"README.md": "# nothing"})
    hub.repo("org/data", {"a.csv": "a\n1\n"})
    other = hub.stranger.token

    found = {
        "missing": failure(repo="org/none"),
        "private": failure(repo="org/private"),
        "private with a token": failure(repo="org/private", token=other),
        "gated": failure(repo="org/gated"),
        "gated with a token": failure(repo="org/gated", token=other),
        "bad token": failure(repo="org/data", token="hf_bad"),
        "bad token, missing": failure(repo="org/none", token="hf_bad"),
        "revision": failure(repo="org/data", revision="nowhere"),
        "no data": failure(repo="org/empty"),
    }

    assert {name: message.partition(":")[0] for name, message in found.items()} == {
        "missing": "RepositoryNotFoundError",
        "private": "RepositoryNotFoundError",
        "private with a token": "RepositoryNotFoundError",
        "gated": "GatedRepositoryError",
        "gated with a token": "GatedRepositoryError",
        "bad token": "InvalidTokenError",
        "bad token, missing": "InvalidTokenError",
        "revision": "RevisionNotFoundError",
        "no data": "EmptyRepositoryError",
    }
    assert "nowhere" in found["revision"]
    assert all(token not in "".join(found.values()) for token in (other, "hf_bad"))
    assert all(name in message for name, message in zip(["org/none", "org/private"], found.values(), strict=False))


def test_errors_are_those_that_users_catch(hub: Any) -> None:
    from datasets_core.exceptions import DataFilesNotFoundError, DatasetNotFoundError

    hub.repo("org/gated", {"a.csv": "a\n1\n"}, gated="auto")
    hub.repo("org/empty", {})
    failure(DatasetNotFoundError, "org/none")
    failure(FileNotFoundError, "org/none")
    failure(DatasetNotFoundError, "org/gated")
    failure(DataFilesNotFoundError, "org/empty")
    failure(FileNotFoundError, "org/gated", revision="nowhere")


def test_private_and_gated_repositories_load_for_those_who_may(hub: Any) -> None:
    hub.repo("org/private", {"train.csv": "a\n1\n"}, private=True)
    hub.repo("org/gated", {"x.parquet": parquet(2)}, gated="manual").readers.add("stranger")
    assert load_dataset("org/private", token=hub.token)["train"]["a"] == [1]
    assert load_dataset("org/gated", token=hub.stranger.token)["train"]["a"] == [2]


def test_a_gated_repository_tells_its_configs_to_everybody(hub: Any) -> None:
    hub.repo("org/gated", {"train.csv": "a\n1\n"}, gated="manual")
    assert get_dataset_config_names("org/gated") == ["default"]


def test_no_token_is_in_the_log(hub: Any, caplog: pytest.LogCaptureFixture) -> None:
    hub.repo("org/data", {"train.csv": "a\n1\n"}, private=True)
    hub.fail(hub.faults.status(503), "*", times=3)
    with caplog.at_level(logging.DEBUG):
        assert load(token=hub.token) == [1]
    assert hub.token not in caplog.text


# -- when nothing comes


@pytest.mark.parametrize("kind", ["info", "tree"])
def test_a_hub_that_hangs_is_given_up(kind: str, hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.hanging(), kind, times=None)
    with config.using(hub_timeout_seconds=0.2, connect_timeout_seconds=0.2, read_timeout_seconds=0.2):
        message = failure()
    assert "org/data" in message


def test_a_storage_that_hangs_in_the_middle_is_asked_again(hub: Any, repo: Any) -> None:
    hub.fail(hub.faults.hanging(500), "storage")
    with config.using(read_timeout_seconds=0.2):
        assert load() == BIG


def test_a_hub_that_is_not_there_is_told(hub: Any, repo: Any) -> None:
    hub.stop()
    message = failure()
    assert message.startswith("HubUnreachableError")
    assert hub.url in message or "127.0.0.1" in message


# -- others act meanwhile


def test_a_commit_between_two_requests_does_not_mix_revisions(hub: Any, repo: Any) -> None:
    hub.before(lambda request: repo.commit({"data/x.parquet": parquet(7), "data/y.parquet": parquet(8)}), "tree")
    assert load() == BIG
    assert load() == [7, 8]


def test_a_branch_that_moves_while_its_pages_come(hub: Any, repo: Any) -> None:
    hub.page_size = 1
    hub.before(lambda request: repo.commit({"data/a.parquet": parquet(7)}), "tree", skip=1)
    assert load() == BIG


def test_a_killed_load_goes_on_at_the_byte_where_it_stopped(hub: Any, repo: Any, until: Any) -> None:
    hub.fail(hub.faults.hanging(1500), "storage")
    process = hub.run.start("import datasets_core as d; d.load_dataset('org/data')")
    folder = hub.cache_dir / "datasets--org--data" / "blobs"
    until(lambda: any(path.stat().st_size >= 1000 for path in folder.glob("*.incomplete*")))
    hub.run.kill(process)
    hub.forget()
    assert load() == BIG
    assert [request.range for request in hub.of("storage")] == ["bytes=1500-"]


def test_two_processes_fetch_a_file_once(hub: Any, repo: Any) -> None:
    code = "import datasets_core as d; d.load_dataset('org/data')"
    processes = [hub.run.start(code) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(hub.of("storage")) == 1
    assert load() == BIG
