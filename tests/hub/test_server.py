"""What the real client finds at the small Hub."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, HfFileSystem, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

PARQUET = b"PAR1" + bytes(range(256)) * 8


@pytest.fixture
def api(hub: Any) -> HfApi:
    return HfApi(endpoint=hub.url, token=hub.token)


@pytest.fixture
def plain(hub: Any) -> Any:
    return hub.repo(
        "org/plain", {"README.md": "---\nlicense: mit\n---\nhello", "data/a.parquet": PARQUET, "data/b.csv": "x\n1\n"}
    )


def test_info_tells_commit_card_and_files(hub: Any, api: HfApi, plain: Any) -> None:
    info = api.dataset_info("org/plain", files_metadata=True)
    files = {file.rfilename: file for file in info.siblings or []}

    assert (info.sha, info.private, info.gated) == (plain.sha, False, False)
    assert info.card_data is not None
    assert info.card_data.license == "mit"
    assert files["data/a.parquet"].lfs is not None
    assert files["data/a.parquet"].lfs.sha256 == hashlib.sha256(PARQUET).hexdigest()
    assert files["data/b.csv"].blob_id == hashlib.sha1(b"blob 4\0x\n1\n").hexdigest()
    assert api.dataset_info("org/plain", expand=["sha"]).siblings is None


@pytest.mark.parametrize("page_size", [1, 2, 1000])
def test_a_tree_comes_in_pages(page_size: int, hub: Any, api: HfApi, plain: Any) -> None:
    hub.page_size = page_size
    tree = list(api.list_repo_tree("org/plain", repo_type="dataset", recursive=True, expand=True))
    assert [item.path for item in tree] == [".gitattributes", "README.md", "data", "data/a.parquet", "data/b.csv"]
    assert [item.path for item in api.list_repo_tree("org/plain", "data", repo_type="dataset")] == [
        "data/a.parquet",
        "data/b.csv",
    ]
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree("org/plain", "nowhere", repo_type="dataset"))


def test_paths_refs_and_commits(hub: Any, api: HfApi, plain: Any) -> None:
    first = plain.sha
    plain.tag("v1")
    second = plain.commit({"data/c.csv": "x\n2\n"}, delete=["data/b.csv"], branch="main", title="Another")
    plain.branch("refs/convert/parquet")

    found = api.get_paths_info("org/plain", ["data", "data/c.csv", "none"], repo_type="dataset", expand=True)
    refs = api.list_repo_refs("org/plain", repo_type="dataset", include_pull_requests=True)

    assert [item.path for item in found] == ["data", "data/c.csv"]
    assert [(tag.name, tag.target_commit) for tag in refs.tags] == [("v1", first)]
    assert [(convert.name, convert.target_commit) for convert in refs.converts] == [("parquet", second)]
    assert [c.title for c in api.list_repo_commits("org/plain", repo_type="dataset")] == [
        "Another",
        "Add files",
        "initial commit",
    ]
    assert api.dataset_info("org/plain", revision="refs/convert/parquet").sha == second


@pytest.mark.parametrize("small_files", ["200", "307"])
def test_files_come_into_the_cache(small_files: str, hub: Any, plain: Any, tmp_path: Path) -> None:
    hub.small_files = small_files
    for name, content in plain.files().items():
        path = hf_hub_download(
            "org/plain", name, repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path / "c", token=hub.token
        )
        assert Path(path).read_bytes() == content
    assert {blob.name for blob in (tmp_path / "c/datasets--org--plain/blobs").iterdir()} == {
        blob.etag for blob in plain.at("main").files.values()
    }
    assert all(request.token is None for request in hub.of("storage"))
    with pytest.raises(EntryNotFoundError):
        hf_hub_download("org/plain", "none", repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path / "c")
    assert (tmp_path / f"c/datasets--org--plain/.no_exist/{plain.sha}/none").exists()


def test_a_snapshot_and_the_file_system(hub: Any, plain: Any, tmp_path: Path) -> None:
    folder = snapshot_download("org/plain", repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path / "c")
    files = HfFileSystem(endpoint=hub.url, skip_instance_cache=True)

    assert Path(folder, "data/a.parquet").read_bytes() == PARQUET
    assert Path(folder).name == plain.sha
    assert files.glob("datasets/org/plain/data/*.csv") == ["datasets/org/plain/data/b.csv"]
    with files.open("datasets/org/plain/data/a.parquet", block_size=64) as file:
        file.seek(100)
        assert file.read(10) == PARQUET[100:110]
    assert hub.of("storage")[-1].range is not None


def test_errors_are_those_that_the_client_knows(hub: Any, api: HfApi, plain: Any, tmp_path: Path) -> None:
    hub.repo("org/private", {"a.csv": "x\n1\n"}, private=True)
    hub.repo("org/gated", {"a.csv": "x\n1\n"}, gated="manual")
    anonymous, other = HfApi(endpoint=hub.url, token=False), HfApi(endpoint=hub.url, token=hub.stranger.token)

    def download(token: str | bool) -> str:
        return hf_hub_download("org/gated", "a.csv", repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path, token=token)

    for nobody, status in ((anonymous, 401), (other, 404)):
        for name in ("org/private", "org/none"):
            with pytest.raises(RepositoryNotFoundError) as failure:
                nobody.dataset_info(name)
            assert failure.value.response.status_code == status
    for token, status in ((False, 401), (hub.stranger.token, 403)):
        with pytest.raises(GatedRepoError) as refusal:
            download(token)
        assert refusal.value.response.status_code == status
    assert anonymous.dataset_info("org/gated").gated == "manual"
    assert Path(download(hub.token)).exists()
    assert api.dataset_info("org/private").private
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info("org/plain", revision="none")
    with pytest.raises(HfHubHTTPError, match="Invalid credentials in Authorization header"):
        HfApi(endpoint=hub.url, token="hf_wrong").dataset_info("org/plain")


def test_a_repository_is_made_filled_and_read(hub: Any, api: HfApi, tmp_path: Path) -> None:
    assert api.whoami()["name"] == "me"
    url = api.create_repo("org/new", repo_type="dataset", private=True)
    with pytest.raises(HfHubHTTPError):
        api.create_repo("org/new", repo_type="dataset")
    api.create_repo("org/new", repo_type="dataset", exist_ok=True)
    repo = hub.repos["org/new"]
    (tmp_path / "a.parquet").write_bytes(PARQUET)

    adds = [
        CommitOperationAdd("data/a.parquet", tmp_path / "a.parquet"),
        CommitOperationAdd("README.md", b"---\nlicense: mit\n---\n"),
    ]
    made = api.create_commit("org/new", adds, commit_message="Fill", repo_type="dataset", parent_commit=repo.sha)
    api.upload_file(path_or_fileobj=b"x\n1\n", path_in_repo="b.csv", repo_id="org/new", repo_type="dataset")

    assert (url.repo_id, repo.private, made.oid in repo.commits) == ("org/new", True, True)
    assert repo.files()["data/a.parquet"] == PARQUET
    assert list(hub.storage.uploads.values()) == [1]
    assert repo.log() == ["Upload b.csv with huggingface_hub", "Fill", "initial commit"]
    api.delete_repo("org/new", repo_type="dataset")
    assert "org/new" not in hub.repos


def test_commits_delete_conflict_and_become_pull_requests(hub: Any, api: HfApi, plain: Any) -> None:
    old = plain.sha
    delete = [CommitOperationDelete("data/b.csv"), CommitOperationDelete("data/")]
    api.create_commit("org/plain", delete[:1], commit_message="Less", repo_type="dataset")
    with pytest.raises(HfHubHTTPError) as conflict:
        api.create_commit("org/plain", delete[1:], commit_message="None", repo_type="dataset", parent_commit=old)
    request = api.create_commit("org/plain", delete[1:], commit_message="None", repo_type="dataset", create_pr=True)

    assert conflict.value.response.status_code == 412
    assert sorted(plain.files()) == [".gitattributes", "README.md", "data/a.parquet"]
    assert request.pr_revision == "refs/pr/1"
    assert sorted(plain.files("refs/pr/1")) == [".gitattributes", "README.md"]


def test_large_files_come_in_parts(hub: Any, api: HfApi, plain: Any) -> None:
    hub.part_bytes, hub.verifies_uploads = 1000, True
    content = bytes(range(250)) * 9
    api.upload_file(path_or_fileobj=content, path_in_repo="c.parquet", repo_id="org/plain", repo_type="dataset")
    assert plain.files()["c.parquet"] == content
    assert len(hub.of("upload")) == 3
    assert hub.counts()["lfs-verify"] == 1


def test_branches_and_tags(hub: Any, api: HfApi, plain: Any) -> None:
    api.create_branch("org/plain", branch="dev", repo_type="dataset")
    api.create_tag("org/plain", tag="v1", repo_type="dataset")
    api.create_branch("org/plain", branch="dev", repo_type="dataset", exist_ok=True)
    with pytest.raises(HfHubHTTPError):
        api.create_tag("org/plain", tag="v1", repo_type="dataset")
    api.delete_branch("org/plain", branch="dev", repo_type="dataset")
    assert sorted(plain.refs) == ["refs/heads/main", "refs/tags/v1"]


def test_a_card_is_checked(hub: Any, api: HfApi, plain: Any) -> None:
    upload = {"path_in_repo": "README.md", "repo_id": "org/plain", "repo_type": "dataset"}
    with pytest.raises(ValueError, match="Invalid metadata"):
        api.upload_file(path_or_fileobj=b"---\na: [\n---\n", **upload)
    with pytest.warns(UserWarning, match="empty or missing yaml"):
        api.upload_file(path_or_fileobj=b"no card", **upload)


def test_a_renamed_repository_is_found_by_its_old_name(hub: Any, api: HfApi, plain: Any, tmp_path: Path) -> None:
    hub.rename("org/plain", "org/fancy")
    assert api.dataset_info("org/plain").id == "org/fancy"
    path = hf_hub_download("org/plain", "data/a.parquet", repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path)
    assert Path(path).read_bytes() == PARQUET


def test_urls_of_the_storage_expire(hub: Any, api: HfApi, plain: Any) -> None:
    import httpx2

    with httpx2.Client() as client:
        url = client.head(f"{hub.url}/datasets/org/plain/resolve/main/data/a.parquet").headers["Location"]
        assert client.get(url).content == PARQUET
        assert client.get(url, headers={"Range": "bytes=3000-"}).status_code == 416
        hub.storage.expire()
        assert client.get(url).status_code == 403
        batch = {
            "operation": "download",
            "transfers": ["basic"],
            "objects": [{"oid": plain.at("main").files["data/a.parquet"].sha256, "size": 1}],
        }
        answer = client.post(f"{hub.url}/datasets/org/plain.git/info/lfs/objects/batch", json=batch).json()
        assert client.get(answer["objects"][0]["actions"]["download"]["href"]).content == PARQUET


def test_every_fault_happens_once(hub: Any, api: HfApi, plain: Any) -> None:
    import httpx2

    url, faults = f"{hub.url}/datasets/org/plain/resolve/main/data/b.csv", hub.faults
    with httpx2.Client() as client:

        def get(fault: Any) -> httpx2.Response:
            hub.fail(fault, "resolve")
            return client.get(url)

        for broken in (faults.cut(2), faults.cut(2, reset=False), faults.dropped()):
            with pytest.raises(httpx2.TransportError):
                get(broken)
        assert get(faults.shortened()).content == b"x\n1"
        assert get(faults.wrong()).content == bytes(byte ^ 0xFF for byte in b"x\n1\n")
        assert get(faults.status(429, Retry_After="7")).headers["Retry-After"] == "7"
        assert get(faults.redirected("http://127.0.0.1:9/")).headers["Location"] == "http://127.0.0.1:9/"
        hub.fail(faults.hanging(), "resolve")
        with pytest.raises(httpx2.ReadTimeout):
            client.get(url, timeout=0.05)
        assert client.get(url).content == b"x\n1\n"
        hub.before(lambda request: plain.commit({"data/b.csv": "new"}), "resolve", "data/*.csv", skip=1)
        assert [client.get(url).text for _ in range(3)] == ["x\n1\n", "new", "new"]
        hub.stop()
        with pytest.raises(httpx2.TransportError):
            client.get(url)


def test_a_fresh_process_has_the_hub_for_its_endpoint(hub: Any, plain: Any) -> None:
    code = "from huggingface_hub import HfApi; say(HfApi().dataset_info('org/plain').sha); print('done')"
    outcome = hub.run(code, token=hub.token)
    failed = hub.run("raise KeyError('x')")

    assert (outcome.value, outcome.stdout) == (plain.sha, "done\n")
    assert hub.requests[-1].token == hub.token
    assert (failed.error_kinds[:2], failed.code) == (("KeyError", "LookupError"), 1)


def test_nothing_is_warned_of_where_the_hub_ends(hub: Any, plain: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HfApi(endpoint=hub.url).dataset_info("org/plain")
        hub.stop()
        hub.stop()
