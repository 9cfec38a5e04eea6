"""A revision becomes a commit by two requests, and by none where the cache knows it; offline it is never another one."""

import json
import os
import pickle
import random
import shutil
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ResolvedRevision, get_session, snapshot_download

from datasets_core import config, errors
from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import (
    ConfigurationError,
    DatasetNotFoundError,
    DownloadError,
    GatedRepositoryError,
    HubError,
    HubUnreachableError,
    InvalidTokenError,
    OfflineError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.http import Credentials, origin_of
from datasets_core.fetch.hub import client
from datasets_core.fetch.hub.client import Hub, HubAnswer, HubRequests, UnansweredError, paged, refusal
from datasets_core.fetch.hub.repository import HubCache

FILES = {"a.csv": "a\n1\n", "data/b.parquet": b"PAR1" * 10}
NAMES = [".gitattributes", "a.csv", "data/b.parquet"]


@pytest.fixture
def asking(hub: Any, policy: RetryPolicy) -> Callable[..., Hub]:
    """The small Hub for one user, with a clock that waits for nobody."""
    return lambda token=None: Hub(hub.url, HubCache(str(hub.cache_dir)), token=token, policy=policy)


@pytest.fixture
def dead_hub(hub: Any) -> Iterator[str]:
    """The endpoint of the settings takes no connections any more."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with config.using(hub_endpoint=url):
        yield url


# -- how often the Hub is asked


def test_a_commit_costs_two_requests_then_one_and_none_by_its_hash(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    first = Hub.of().commit("org/name")
    assert hub.counts() == {"info": 1, "tree": 1}
    assert (first.sha, first.is_whole, sorted(first.files)) == (repo.sha, True, NAMES)
    hub.forget()
    assert Hub.of().commit("org/name", "main") == first
    assert hub.counts() == {"info": 1}
    hub.forget()
    assert Hub.of().commit("org/name", repo.sha).files == first.files
    assert hub.requests == []


def test_a_commit_hash_that_is_not_known_yet_costs_one_request(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    assert Hub.of().commit("org/name", repo.sha).sha == repo.sha
    assert hub.counts() == {"tree": 1}


def test_a_listing_of_many_pages_is_whole(hub: Any) -> None:
    hub.repo("org/name", {f"data/{number:03}.csv": "a\n" for number in range(25)})
    hub.page_size = 10
    assert len(Hub.of().commit("org/name").files) == 26
    assert hub.counts() == {"info": 1, "tree": 3}


def test_the_tree_is_asked_for_at_the_commit_though_the_branch_moves_on(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    sha = repo.sha
    hub.before(lambda request: repo.commit({"new.csv": "a\n"}), "tree")
    commit = Hub.of().commit("org/name")
    assert (commit.sha, sorted(commit.files)) == (sha, NAMES)


@pytest.mark.parametrize("revision", ["v1", "feature/new", "refs/convert/parquet", "refs/pr/1", "100%", "a%2Fb", "é"])
def test_revisions_of_every_kind_are_found_and_found_again_offline(hub: Any, revision: str) -> None:
    repo = hub.repo("org/name", FILES)
    repo.commit({"only_there.csv": "a\n"}, branch=revision)
    found = Hub.of().commit("org/name", revision)
    assert ("only_there.csv" in found.files, found.sha == repo.sha) == (True, False)
    with config.using(offline=True):
        assert Hub.of().commit("org/name", revision) == found


def test_a_repository_without_a_namespace_is_one(hub: Any) -> None:
    hub.repo("squad", FILES)
    assert sorted(Hub.of().commit("squad").files) == NAMES
    assert (hub.cache_dir / "datasets--squad" / "refs" / "main").exists()


def test_a_renamed_repository_is_followed_and_said_to_be(hub: Any, caplog: pytest.LogCaptureFixture) -> None:
    hub.repo("org/old", FILES)
    hub.rename("org/old", "org/new")
    assert sorted(Hub.of().commit("org/old").files) == NAMES
    assert "org/new" in caplog.text
    assert len(hub.requests) == 3  # the redirect, and then the new name
    with config.using(offline=True):
        assert sorted(Hub.of().commit("org/old").files) == NAMES


@pytest.mark.parametrize("suffix", ["/", "//"])
def test_an_endpoint_may_end_with_a_slash(hub: Any, suffix: str) -> None:
    hub.repo("org/name", FILES)
    with config.using(hub_endpoint=hub.url + suffix):
        assert sorted(Hub.of().commit("org/name").files) == NAMES


def test_an_endpoint_may_have_a_path(policy: RetryPolicy, site: Any, faults: Any, tmp_path: Path) -> None:
    sha, item = "a" * 40, {"type": "file", "path": "a.csv", "size": 1, "oid": "b" * 40}
    site.pages["/hf/api/datasets/org/name/revision/main"] = faults.page(json.dumps({"id": "org/name", "sha": sha}).encode())
    site.pages[f"/hf/api/datasets/org/name/tree/{sha}"] = faults.page(json.dumps([item]).encode())
    with config.using(offline=False, hub_endpoint=f"{site.url}/hf/", hub_cache_dir=str(tmp_path)):
        assert list(Hub.of().commit("org/name").files) == ["a.csv"]


# -- the Hub says no


def test_the_client_reads_the_refs_that_we_write(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    snapshot_download("org/name", repo_type="dataset", endpoint=hub.url, cache_dir=hub.cache_dir, token=False)
    repo.branch("refs/pr/1")
    Hub.of().commit("org/name", "refs/pr/1")
    for revision in ("main", "refs/pr/1"):
        folder = snapshot_download(
            "org/name", repo_type="dataset", revision=revision, cache_dir=hub.cache_dir, local_files_only=True
        )
        assert Path(folder).name == repo.sha


def test_a_repository_that_is_missing_says_whether_somebody_asked(hub: Any, asking: Callable[..., Hub]) -> None:
    with pytest.raises(RepositoryNotFoundError, match="no token was sent"):
        asking().commit("org/none")
    with pytest.raises(RepositoryNotFoundError, match="your token has no access to it"):
        asking(hub.token).commit("org/none")


def test_a_private_repository_is_for_those_who_may_read_it(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", FILES, private=True)
    assert asking(hub.token).commit("org/name").is_whole
    for token in (None, False, hub.stranger.token):
        with pytest.raises(RepositoryNotFoundError, match="private"):
            asking(token).commit("org/name")


def test_the_listing_of_a_gated_repository_is_for_everybody(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", FILES, gated="manual")
    assert asking().commit("org/name").is_whole


def test_a_hub_that_gates_its_listings_is_told(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", FILES)
    hub.fail(hub.faults.status(403, X_Error_Code="GatedRepo"), "tree")
    with pytest.raises(GatedRepositoryError, match="org/name"):
        asking().commit("org/name")


def test_a_token_that_the_hub_does_not_know_is_told_and_not_shown(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", FILES)
    with pytest.raises(InvalidTokenError, match="does not accept the token") as caught:
        asking("hf_notATokenOfThisHub").commit("org/name")
    assert "hf_notATokenOfThisHub" not in repr(caught.value)


@pytest.mark.parametrize("revision", ["v9", "abcdef1", "f" * 40, "refs/pr/9", "..", "a/../b", "/etc/passwd", "a b", "a\nb", ""])
def test_a_revision_that_is_missing_is_told_and_no_other_is_taken(hub: Any, asking: Callable[..., Hub], revision: str) -> None:
    hub.repo("org/name", FILES)
    asking().commit("org/name")
    with pytest.raises(RevisionNotFoundError, match="has no revision") as caught:
        asking().commit("org/name", revision)
    assert (caught.value.repo_id, caught.value.revision) == ("org/name", revision)
    if hub.of("info")[1:]:  # the Hub was asked
        assert caught.value.known == ("main",)
        assert "(available: 'main')" in str(caught.value)
    assert HubCache(str(hub.cache_dir)).refs("org/name") == ["main"]


@pytest.mark.parametrize(
    "name", ["", "a/b/c", "../x", "a--b/c", "org/", "org/..", "https://hub/a", "org/na me", "-a/b", "a/b.git"]
)
def test_what_is_no_name_of_a_repository_is_refused_before_anything_is_asked(hub: Any, name: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a valid name of a dataset"):
        Hub.of().commit(name)
    assert hub.requests == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"<html>log in</html>", "instead of JSON"),
        (b"[]", r"\[\] as the commit"),
        (b"{}", "None as the commit"),
        (b'"%s"' % (b"a" * 40), "'aaaa.* as the commit"),
        (b"NaN", "nan as the commit|instead of JSON"),
        (b"[" * 900 + b"]" * 900, r"\[\[\[.* as the commit|instead of JSON"),
        (b"[" * 90_000 + b"]" * 90_000, "instead of JSON"),
        (b'{"sha": null}', "None as the commit"),
        (b'{"sha": "main"}', "'main' as the commit"),
        (b'{"sha": "../../../../tmp/x"}', "as the commit"),
        (b'{"sha": "%s"}' % (b"A" * 40), "as the commit"),
    ],
)
def test_an_info_that_names_no_commit_is_an_error(hub: Any, body: bytes, found: str) -> None:
    hub.repo("org/name", FILES)
    hub.fail(hub.faults.wrong(body), "info", times=None)
    with pytest.raises(HubError, match=found):
        Hub.of().commit("org/name")
    assert not (hub.cache_dir / "datasets--org--name").exists()


@pytest.mark.parametrize("path", ["../../../../etc/cron.d/x", "/etc/passwd", "a/..", "a\\..\\b", "", "a//b"])
def test_a_listing_that_leads_out_of_the_folder_is_an_error_and_never_kept(hub: Any, path: str) -> None:
    hub.repo("org/name", FILES)
    items = [{"type": "file", "path": path, "size": 1, "oid": "b" * 40}]
    hub.fail(hub.faults.wrong(json.dumps(items).encode()), "tree")
    with pytest.raises(HubError, match="invalid path"):
        Hub.of().commit("org/name")
    assert not (hub.cache_dir / "datasets--org--name").exists()
    assert sorted(Hub.of().commit("org/name").files) == NAMES


# -- the Hub says nothing


@pytest.mark.parametrize("kind", ["info", "tree"])
@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_hub_is_asked_again(hub: Any, asking: Callable[..., Hub], clock: Any, kind: str, code: int) -> None:
    hub.repo("org/name", FILES)
    hub.fail(hub.faults.status(code, Retry_After="3"), kind, times=2)
    assert sorted(asking().commit("org/name").files) == NAMES
    assert clock.pauses == [3.0, 3.0]


def test_a_hub_that_stays_busy_is_done_without_where_the_cache_knows_the_revision(
    hub: Any, asking: Callable[..., Hub], caplog: pytest.LogCaptureFixture
) -> None:
    repo = hub.repo("org/name", FILES)
    repo.branch("other")
    hub.fail(hub.faults.status(503), times=None)
    with pytest.raises(HubUnreachableError, match="it answers 503, repeatedly"):
        asking().commit("org/name")
    hub.rules.clear()
    before = asking().commit("org/name")
    hub.fail(hub.faults.status(503), times=None)
    assert asking().commit("org/name") == before
    assert "it answers 503" in caplog.text
    with pytest.raises(HubUnreachableError, match="does not have 'other'"):
        asking().commit("org/name", "other")


def test_a_hub_that_is_not_there_is_done_without(
    hub: Any, policy: RetryPolicy, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    hub.repo("org/name", FILES)
    before = Hub.of().commit("org/name")
    url = request.getfixturevalue("dead_hub")
    asking = Hub(url, HubCache(str(hub.cache_dir)), policy=policy)
    assert asking.commit("org/name") == before
    assert "did not respond" in caplog.text
    with pytest.raises(HubUnreachableError, match=r"knows 'main'.*Check the connection") as caught:
        asking.commit("org/name", "v1")
    assert isinstance(caught.value, ConnectionError)
    with pytest.raises(HubUnreachableError, match="org/other"):
        asking.commit("org/other")


def test_where_the_hub_told_the_commit_no_older_one_is_taken(hub: Any, asking: Callable[..., Hub]) -> None:
    repo = hub.repo("org/name", FILES)
    before = asking().commit("org/name")
    repo.commit({"new.csv": "a\n"})
    hub.fail(hub.faults.status(500), "tree", times=None)
    with pytest.raises(HubUnreachableError, match=f"the commit {repo.sha}, the current one of 'main'") as caught:
        asking().commit("org/name")
    assert caught.value.commit == repo.sha
    assert HubCache(str(hub.cache_dir)).ref("org/name", "main") == before.sha


def test_where_the_listing_does_not_come_the_snapshot_of_that_commit_is_taken(hub: Any, asking: Callable[..., Hub]) -> None:
    repo = hub.repo("org/name", FILES)
    snapshot_download("org/name", repo_type="dataset", endpoint=hub.url, cache_dir=hub.cache_dir, token=False)
    shutil.rmtree(hub.cache_dir / "datasets--org--name" / "trees")
    hub.fail(hub.faults.status(500), "tree", times=None)
    found = asking().commit("org/name")
    assert (found.sha, found.revision, found.is_whole, sorted(found.files)) == (repo.sha, "main", False, NAMES)


@pytest.mark.parametrize("kind", ["info", "tree"])
def test_an_answer_that_was_cut_under_way_is_asked_for_again(hub: Any, kind: str) -> None:
    hub.repo("org/name", FILES)
    hub.fail(hub.faults.shortened(10), kind)
    assert sorted(Hub.of().commit("org/name").files) == NAMES


@pytest.mark.parametrize(
    ("code", "headers", "tries"), [(503, {}, 5), (500, {}, 5), (429, {}, 5), (503, {"Retry_After": "9"}, 5)]
)
def test_a_hub_that_is_not_well_is_waited_for_as_long_as_a_silent_one(
    hub: Any, asking: Callable[..., Hub], clock: Any, code: int, headers: dict[str, str], tries: int
) -> None:
    hub.fail(hub.faults.status(code, **headers), times=None)
    with pytest.raises(HubUnreachableError):
        asking().commit("org/name")
    assert len(hub.requests) == tries
    assert all(pause <= 5 for pause in clock.pauses) == (not headers)


def test_a_busy_hub_is_not_waited_for_long_where_the_cache_answers(
    hub: Any, asking: Callable[..., Hub], clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    repo = hub.repo("org/name", FILES)
    before = asking().commit("org/name")
    hub.fail(hub.faults.status(503, Retry_After="20"), times=None)
    assert asking().commit("org/name") == before
    assert clock.pauses == []
    assert "it answers 503" in caplog.text
    hub.rules.clear()
    repo.commit({"new.csv": "a\n"})
    hub.fail(hub.faults.status(429, Retry_After="3"), "info", times=2)
    assert asking().commit("org/name").sha == repo.sha
    assert clock.pauses == [3.0, 3.0]


@pytest.mark.parametrize("kind", ["info", "tree"])
def test_a_hub_that_drips_is_given_up_in_time(hub: Any, asking: Callable[..., Hub], kind: str) -> None:
    hub.repo("org/name", FILES)
    hub.fail(hub.faults.dripping(), kind, times=None)
    with config.using(hub_timeout_seconds=0.3), pytest.raises(HubUnreachableError, match="too slowly"):
        asking().commit("org/name")


def test_info_and_tree_go_over_the_proxy_that_is_named(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    downloads = DownloadConfig(proxies={"http": hub.url})  # the small Hub is its own proxy: it reads the path alone
    with config.using(hub_endpoint="http://hub.invalid"):
        assert Hub.of(config=downloads).commit("org/name").sha == repo.sha
    assert hub.counts() == {"info": 1, "tree": 1}


def test_the_type_of_the_client_for_resolved_revisions_is_its_commit(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    resolved = ResolvedRevision(repo.sha, "main")
    repo.commit({"new.csv": "a\n"})
    assert sorted(Hub.of().commit("org/name", resolved).files) == NAMES


def test_a_disk_that_takes_two_files_for_one_is_told(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", {"A.csv": "a\n", "a.csv": "a\n"})
    asked = asking()
    assert len(asked.commit("org/name").files) == 3
    (hub.cache_dir.parent / hub.cache_dir.name.swapcase()).symlink_to(hub.cache_dir)
    for revision in (None, "main", hub.repos["org/name"].sha):
        for source, options in ((asked, {}), (asked, {"local_only": True}), (Hub.of(), {})):
            with pytest.raises(HubError, match=r"'A\.csv' and 'a\.csv', which are the same file on this disk"):
                source.commit("org/name", revision, **options)
    hub.stop()
    with config.using(hub_timeout_seconds=0.2), pytest.raises(HubError, match="the same file on this disk"):
        asked.commit("org/name")


@pytest.mark.parametrize("revision", [1, 1.0, b"main", Path("main")])
def test_a_revision_is_a_text(revision: Any) -> None:
    with pytest.raises(ConfigurationError, match="is not a valid revision"):
        Hub.of().commit("org/name", revision)


# -- offline


@pytest.mark.parametrize("how", ["settings", "call", "config"])
def test_offline_a_revision_is_what_it_was_and_nobody_is_asked(hub: Any, how: str) -> None:
    repo = hub.repo("org/name", FILES)
    before = Hub.of().commit("org/name")
    repo.commit({"new.csv": "a\n"})
    hub.forget()
    with config.using(offline=how == "settings"):
        asking = Hub.of(config=DownloadConfig(local_files_only=how == "config"))
        assert asking.commit("org/name", local_only=how == "call") == before
        assert asking.commit("org/name", before.sha, local_only=how == "call").files == before.files
        for revision in ("other", "f" * 40, before.sha[:7]):
            with pytest.raises(OfflineError, match=f"does not have '{revision}'"):
                asking.commit("org/name", revision, local_only=how == "call")
    assert hub.requests == []


def test_offline_a_snapshot_without_a_listing_is_taken_as_far_as_it_goes(hub: Any, caplog: pytest.LogCaptureFixture) -> None:
    hub.repo("org/name", FILES)
    online = Hub.of().commit("org/name")
    snapshot_download("org/name", repo_type="dataset", endpoint=hub.url, cache_dir=hub.cache_dir, token=False)
    for listings in ("trees", ".listings"):
        shutil.rmtree(hub.cache_dir / "datasets--org--name" / listings)
    with config.using(offline=True):
        offline = Hub.of().commit("org/name")
    assert not offline.is_whole
    assert "no listing" in caplog.text
    assert {path: (file.size, file.etag) for path, file in offline.files.items()} == {
        path: (file.size, file.etag) for path, file in online.files.items()
    }


def test_offline_another_snapshot_of_the_repository_is_none_of_the_revision(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    snapshot_download(
        "org/name", repo_type="dataset", revision=repo.sha, endpoint=hub.url, cache_dir=hub.cache_dir, token=False
    )
    with config.using(offline=True):
        assert Hub.of().commit("org/name", repo.sha).is_whole
        with pytest.raises(OfflineError, match="does not have 'main'"):
            Hub.of().commit("org/name")


def test_a_cache_that_cannot_be_written_to_costs_requests_and_nothing_else(hub: Any) -> None:
    hub.repo("org/name", FILES)
    hub.cache_dir.mkdir(parents=True)
    (hub.cache_dir / "datasets--org--name").write_text("no folder")
    for _ in range(2):
        assert sorted(Hub.of().commit("org/name").files) == NAMES
    assert hub.counts() == {"info": 2, "tree": 2}


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_cache_of_somebody_else_is_read(hub: Any) -> None:
    hub.repo("org/name", FILES)
    before = Hub.of().commit("org/name")
    folder = hub.cache_dir / "datasets--org--name"
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert Hub.of().commit("org/name") == before


# -- the token


def test_a_token_is_sent_to_the_hub_and_shown_to_nobody(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", FILES)
    asked = asking(hub.token)
    asked.commit("org/name")
    assert {request.token for request in hub.requests} == {hub.token}
    assert hub.token not in repr(asked)
    assert hub.token not in repr(asked.credentials())
    assert hub.token.encode() not in pickle.dumps(asked)
    assert asked.api.token == hub.token


def test_without_a_token_none_is_sent(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name", FILES)
    asking(False).commit("org/name")
    assert {request.token for request in hub.requests} == {None}
    assert asking(False).api.token is False


def test_token_true_without_a_login_is_an_error(hub: Any, asking: Callable[..., Hub]) -> None:
    with pytest.raises(InvalidTokenError, match="hf auth login"):
        asking(True).commit("org/name")


@pytest.mark.parametrize("token", ["", " ", "hf_a b", "hf_a\r\nX-Evil: 1", "hf_é", "hf_a\0"])
def test_a_token_that_would_break_a_header_is_refused_unseen(hub: Any, token: str) -> None:
    with pytest.raises(InvalidTokenError) as caught:
        Hub.of(token)
    assert "Evil" not in str(caught.value)
    assert "hf_" not in str(caught.value).replace("hf_…", "")


@pytest.mark.parametrize(
    ("environment", "given", "sent"),
    [
        ({"HF_TOKEN": "hf_fromTheEnvironment"}, "None", "hf_fromTheEnvironment"),
        ({"HF_TOKEN": "hf_fromTheEnvironment"}, "True", "hf_fromTheEnvironment"),
        ({"HF_TOKEN": "hf_fromTheEnvironment"}, "False", None),
        ({"HF_TOKEN": "hf_fromTheEnvironment"}, "'hf_given'", "hf_given"),
        ({"HF_TOKEN": "hf_fromTheEnvironment", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}, "None", None),
        ({"HF_TOKEN": "hf_fromTheEnvironment", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}, "True", "hf_fromTheEnvironment"),
        ({}, "None", "hf_fromTheFile"),
    ],
)
def test_the_token_is_the_one_that_the_client_would_send(
    hub: Any, environment: dict[str, str], given: str, sent: str | None
) -> None:
    (hub.home / "token").write_text("hf_fromTheFile\n")
    code = f"from datasets_core.fetch.hub.client import Hub\nsay(Hub.of({given}).token())"
    assert hub.run(code, HF_TOKEN_PATH=None, **{"HF_TOKEN": None, **environment}).value == sent


def test_a_hub_crosses_process_borders_without_its_token(hub: Any, asking: Callable[..., Hub]) -> None:
    copy = pickle.loads(pickle.dumps(asking(hub.token)))
    assert (copy.endpoint, copy.cache, copy.token()) == (hub.url, HubCache(str(hub.cache_dir)), None)


# -- the settings


@pytest.mark.parametrize("endpoint", ["huggingface.co", "ftp://hub", "http://", "http://hub:x", "file:///tmp"])
def test_an_endpoint_that_is_no_url_is_refused_by_name(endpoint: str) -> None:
    with config.using(hub_endpoint=endpoint), pytest.raises(ConfigurationError, match="HF_ENDPOINT"):
        Hub.of()


def test_a_commit_that_is_known_is_read_without_the_client_and_the_network(hub: Any) -> None:
    repo = hub.repo("org/name", FILES)
    Hub.of().commit("org/name")
    code = (
        "import sys\nfrom datasets_core.fetch.hub.client import Hub\n"
        f"commit = Hub.of().commit('org/name', '{repo.sha}')\n"
        "say([len(commit.files), sorted({'huggingface_hub', 'httpx2', 'ssl', 'asyncio', 'pyarrow'} & set(sys.modules))])"
    )
    assert hub.run(code).value == [3, []]


def test_what_is_not_found_is_a_dataset_that_is_not_found(hub: Any, asking: Callable[..., Hub]) -> None:
    hub.repo("org/name")
    for repo_id, revision in (("org/none", None), ("org/name", "none")):
        with pytest.raises(DatasetNotFoundError):
            asking().commit(repo_id, revision)


# Why the Hub does not give something is told by its status, its error code and its message.

TOKEN = "hf_aSecretToken"


def refused(status: int, code: str | None = None, said: str | None = None, token: str | None = None) -> Exception:
    """The error of such an answer."""
    headers = {"x-error-code": code, "x-error-message": said}
    given = {name: value for name, value in headers.items() if value is not None}
    return refusal(status, given, repo_id="org/name", endpoint="https://hub", revision="v1", token=token)


@pytest.mark.parametrize(
    ("status", "code", "said", "kind"),
    [
        (404, "RepoNotFound", "Repository not found", errors.RepositoryNotFoundError),
        (401, "RepoNotFound", "Repository not found", errors.RepositoryNotFoundError),
        (401, None, "Invalid username or password.", errors.RepositoryNotFoundError),
        (401, None, None, errors.RepositoryNotFoundError),
        (404, None, None, errors.RepositoryNotFoundError),
        (404, "RevisionNotFound", "Invalid rev id: v1", errors.RevisionNotFoundError),
        (401, "GatedRepo", "Access to dataset org/name is restricted.", errors.GatedRepositoryError),
        (403, "GatedRepo", "You are not in the authorized list.", errors.GatedRepositoryError),
        (401, None, "Invalid credentials in Authorization header", errors.InvalidTokenError),
        (403, None, "Access to this resource is disabled.", errors.DisabledRepositoryError),
        (403, None, "Your token lacks read access", errors.ForbiddenRepositoryError),
        (403, None, None, errors.ForbiddenRepositoryError),
        (400, None, "Bad request", errors.HubError),
        (418, "Teapot", None, errors.HubError),
        (404, "EntryNotFound", None, errors.HubError),
    ],
)
def test_each_refusal_is_an_error_of_its_own_that_names_the_repository(
    status: int, code: str | None, said: str | None, kind: type[errors.HubError]
) -> None:
    error = refused(status, code, said, TOKEN)
    assert type(error) is kind
    assert "org/name" in str(error)
    assert error.status == status


def test_it_is_said_whether_a_token_was_sent() -> None:
    assert "no token was sent" in str(refused(401, "RepoNotFound"))
    assert "your token has no access to it" in str(refused(404, "RepoNotFound", token=TOKEN))
    assert "no token was sent" in str(refused(401, "GatedRepo"))
    assert "your token has no access" in str(refused(403, "GatedRepo", token=TOKEN))


def test_a_gated_repository_names_the_page_where_access_is_asked_for() -> None:
    assert "https://hub/datasets/org/name" in str(refused(403, "GatedRepo"))


@pytest.mark.parametrize("code", [None, TOKEN])
def test_no_message_has_the_token_or_what_steers_a_terminal(code: str | None) -> None:
    error = refused(403, code, f"\x1b[2JBearer {TOKEN} is bad" + "x" * 10_000 if code is None else None, TOKEN)
    assert TOKEN not in repr(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize(("status", "code"), [(404, "RepoNotFound"), (404, "RevisionNotFound"), (403, "GatedRepo")])
def test_what_is_not_there_or_not_shown_is_a_dataset_that_is_not_found(status: int, code: str) -> None:
    error = refused(status, code)
    assert isinstance(error, errors.DatasetNotFoundError)
    assert isinstance(error, errors.HubError)
    assert isinstance(error, FileNotFoundError)


# A Hub is asked until it answers, for a bounded time where it is silent, and its token is for its own origin.

SECRET = {"Authorization": "Bearer hf_secret"}


@pytest.fixture
def small_tries() -> Iterator[None]:
    """A Hub that is silent is given up soon."""
    with config.using(offline=False, hub_timeout_seconds=0.3):
        yield


def requests_to(url: str, policy: RetryPolicy) -> HubRequests:
    """Asks somebody who has a token for the origin of the URL."""
    return HubRequests(get_session, Credentials(origin_of(url), SECRET), "tests", policy)


@pytest.fixture
def asking_hub_requests(hub: Any, policy: RetryPolicy) -> HubRequests:
    """Asks the small Hub, without a token."""
    return HubRequests(get_session, Credentials(origin_of(hub.url), {}), "tests", policy)


def test_an_answer_is_whole_whatever_its_status(hub: Any, asking_hub_requests: HubRequests) -> None:
    answer = asking_hub_requests.answer(f"{hub.url}/api/datasets/no/such")
    assert (answer.status, answer.headers["x-error-code"]) == (401, "RepoNotFound")


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_a_busy_hub_is_asked_again_after_the_pause_that_it_asks_for(
    hub: Any, asking_hub_requests: HubRequests, code: int, clock: Any
) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(code, Retry_After="7"), "info", times=2)
    assert asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name").status == 200
    assert clock.pauses == [7.0, 7.0]


def test_a_hub_that_counts_requests_says_when_it_counts_anew(hub: Any, asking_hub_requests: HubRequests, clock: Any) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(429, RateLimit='"api";r=0;t=55', Retry_After="1"), "info")
    assert asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name").status == 200
    assert clock.pauses == [55.0]


def test_a_hub_that_stays_busy_is_given_up_after_all_tries(hub: Any, asking_hub_requests: HubRequests) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(503), "info", times=None)
    with pytest.raises(UnansweredError, match="it answers 503") as caught:
        asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name")
    assert (caught.value.status, len(hub.requests)) == (503, 5)


@pytest.mark.parametrize("fault", ["dropped", "cut"])
def test_a_connection_that_breaks_off_is_tried_again(hub: Any, asking_hub_requests: HubRequests, fault: str) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.dropped() if fault == "dropped" else hub.faults.cut(10), "info", times=2)
    assert json.loads(asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name").body)["id"] == "org/name"


@pytest.mark.usefixtures("small_tries")
@pytest.mark.parametrize("at", [None, 10])
def test_a_silent_hub_is_given_up_in_time(hub: Any, asking_hub_requests: HubRequests, at: int | None) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.hanging(at), "info", times=None)
    with config.using(hub_timeout_seconds=0.3), pytest.raises(UnansweredError, match="the server does not respond"):
        asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name")


@pytest.mark.usefixtures("small_tries")
def test_a_hub_that_drips_is_as_one_that_is_silent(hub: Any, asking_hub_requests: HubRequests) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.dripping(), "info", times=None)
    with pytest.raises(UnansweredError, match="sends too slowly"):
        asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name")


def test_a_long_answer_has_the_time_that_its_bytes_need(
    site: Any, faults: Any, policy: RetryPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_LEAST_BYTES_PER_SECOND", 1_000)  # 20 s for each part
    body = b"[" + b"0," * 50_000 + b"0]"

    def by_and_by(handler: Any, page: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        for start in range(0, len(body), 20_000):
            handler.wfile.write(body[start : start + 20_000])
            threading.Event().wait(0.3)

    site.pages["/api/long"] = faults.page(faults=[by_and_by])
    with config.using(offline=False, hub_timeout_seconds=1.5):
        assert requests_to(site.url, policy).answer(f"{site.url}/api/long").body == body


def test_a_pause_that_is_asked_for_is_cut_and_the_pauses_end(hub: Any, asking_hub_requests: HubRequests, clock: Any) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(429, Retry_After="100000"), "info", times=2)
    assert asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name").status == 200
    assert clock.pauses == [60.0, 60.0]
    hub.fail(hub.faults.status(429, Retry_After="100000"), "info", times=None)
    with pytest.raises(UnansweredError, match="429"):
        asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name")
    assert clock.pauses[2:] == [60.0, 60.0]


@pytest.mark.parametrize(("asked", "pauses"), [("20", []), ("4", [4.0, 4.0]), ("0", [0.0] * 4)])
def test_a_hub_is_waited_for_with_the_patience_that_is_given(
    hub: Any, asking_hub_requests: HubRequests, clock: Any, asked: str, pauses: list[float]
) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(503, Retry_After=asked), "info", times=None)
    with pytest.raises(UnansweredError, match="503"):
        asking_hub_requests.answer(f"{hub.url}/api/datasets/org/name", lambda: 10.0)
    assert clock.pauses == pauses


@pytest.mark.usefixtures("small_tries")
def test_a_hub_that_accepts_and_never_answers_is_silent(policy: RetryPolicy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(UnansweredError, match="does not respond"):
            requests_to(url, policy).answer(f"{url}/api")


def test_a_hub_that_takes_no_connection_is_not_asked_often(policy: RetryPolicy, clock: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with config.using(offline=False), pytest.raises(UnansweredError, match="no connection"):
        requests_to(url, policy).answer(f"{url}/api")
    assert len(clock.pauses) == 1


def test_a_redirect_at_the_same_origin_takes_the_token_along(site: Any, faults: Any, policy: RetryPolicy) -> None:
    site.pages["/api/old"] = faults.page(faults=[faults.answering(307, Location=f"{site.url}/api/new")])
    site.pages["/api/new"] = faults.page(b"{}")
    assert requests_to(site.url, policy).answer(f"{site.url}/api/old").body == b"{}"
    assert site.heads("authorization") == ["Bearer hf_secret", "Bearer hf_secret"]


def test_another_port_never_sees_the_token(site: Any, other_site: Any, faults: Any, policy: RetryPolicy) -> None:
    site.pages["/api/old"] = faults.page(faults=[faults.answering(307, Location=f"{other_site.url}/api/new")])
    other_site.pages["/api/new"] = faults.page(b"{}")
    assert requests_to(site.url, policy).answer(f"{site.url}/api/old").body == b"{}"
    assert other_site.heads("authorization") == [None]


def test_redirects_end(site: Any, faults: Any, policy: RetryPolicy) -> None:
    site.pages["/api/a"] = faults.page(faults=[faults.answering(302, Location="/api/a")] * 30)
    with pytest.raises(DownloadError, match="redirects"):
        requests_to(site.url, policy).answer(f"{site.url}/api/a")
    assert len(site.requests) == 11


# -- pages


def pages(*items: object, links: dict[int, str] | None = None, url: str = "http://hub/api/datasets/a/b/tree/x") -> Any:
    """What asks for pages that lead to each other, or to where `links` says."""
    asked: list[str] = []

    def ask(address: str) -> HubAnswer:
        asked.append(address)
        number = len(asked) - 1
        last = number + 1 == len(items)
        following = (links or {}).get(number, None if last else f"{url}?cursor={number + 1}")
        return HubAnswer(address, 200, {}, json.dumps(items[number % len(items)]).encode(), following)

    return ask, asked, url


def test_all_pages_are_read_in_order() -> None:
    ask, asked, url = pages([1, 2], [3], [4])
    assert list(paged(ask, url, "org/name")) == [1, 2, 3, 4]
    assert asked == [url, f"{url}?cursor=1", f"{url}?cursor=2"]


def test_the_pages_of_a_mirror_stay_at_the_mirror() -> None:
    foreign = {0: "https://huggingface.co/api/datasets/a/b/tree/x?recursive=true&cursor=7"}
    ask, asked, url = pages([1], [2], links=foreign, url="http://mirror/hf/api/datasets/a/b/tree/x")
    assert list(paged(ask, f"{url}?recursive=true", "org/name")) == [1, 2]
    assert asked[1] == f"{url}?recursive=true&cursor=7"


@pytest.mark.parametrize(
    ("items", "links", "found"),
    [
        ([{"error": "x"}], {}, "{'error': 'x'} as its listing"),
        ([[1], [2]], {1: "http://hub/api/datasets/a/b/tree/x"}, "a cycle of pages"),
        ([[1]], {0: "http://evil.example/other?cursor=1"}, "different host"),
        ([[1]], {0: "file:///etc/passwd"}, "continues at 'file:///etc/passwd'"),
        ([[1]], {0: "http://hub:99999/x"}, "continues at"),
        ([[1]], {0: "http://[bad/"}, "continues at 'http://[bad/'"),
    ],
)
def test_pages_that_make_no_listing_are_refused(items: list[Any], links: dict[int, str], found: str) -> None:
    ask, _, url = pages(*items, links=links)
    with pytest.raises(HubError, match="org/name") as caught:
        list(paged(ask, url, "org/name"))
    assert found in str(caught.value)


def test_pages_that_do_not_end_are_refused() -> None:
    ask, asked, url = pages(*([0] for _ in range(900)))
    with pytest.raises(HubError, match="endless listing"):
        list(paged(ask, url, "org/name"))
    assert len(asked) < 230


def test_a_listing_of_more_files_than_memory_is_good_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_MOST_ITEMS", 25)
    ask, asked, url = pages(*([0] * 10 for _ in range(9)))
    with pytest.raises(HubError, match=r"'org/name' has more than 25 files and folders.*Ask its owner to pack them"):
        list(paged(ask, url, "org/name"))
    assert len(asked) == 3


def test_small_pages_of_many_files_are_read() -> None:
    ask, _, url = pages(*([0] * 5 for _ in range(200)))
    assert len(list(paged(ask, url, "org/name"))) == 1000


@pytest.mark.parametrize("body", [b"", b"<html>log in</html>", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_told_with_its_kind(body: bytes) -> None:
    answer = HubAnswer("http://me:secret@hub/api", 200, {"content-type": "text/html"}, body)
    with pytest.raises(HubError, match="'text/html'") as caught:
        answer.json("org/name")
    assert "secret" not in str(caught.value)


def test_pauses_are_random_but_bounded(policy: RetryPolicy, clock: Any) -> None:
    policy = RetryPolicy(9, 60.0, clock, random.Random(1))
    policy.wait(policy.seconds(8, within=0.25))
    assert clock.pauses == [0.25]
