"""Offline, or with a Hub that is gone: what the cache holds of a revision loads, and never another revision in its place."""

from __future__ import annotations

import io
import logging
import shutil
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from huggingface_hub import hf_hub_download, snapshot_download

from datasets_core import config
from datasets_core.errors import DatasetsCoreError, OfflineError
from datasets_core.inspect import get_dataset_config_names, get_dataset_split_names
from datasets_core.load import load_dataset, load_dataset_builder


def parquet(*values: int) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"a": values}), sink)
    return sink.getvalue()


@pytest.fixture
def repo(hub: Any) -> Any:
    return hub.repo(
        "org/data", {"data/train-00000-of-00001.parquet": parquet(1), "data/test-00000-of-00001.parquet": parquet(2)}
    )


def load(**arguments: Any) -> list[int]:
    return list(load_dataset("org/data", **{"split": "train", **arguments})["a"])


def snapshot(hub: Any, **arguments: Any) -> Path:
    """What the client itself puts into the cache."""
    found = snapshot_download("org/data", repo_type="dataset", endpoint=hub.url, cache_dir=hub.cache_dir, **arguments)
    return Path(found)


def forget_builds(hub: Any) -> None:
    shutil.rmtree(hub.home / "datasets", ignore_errors=True)


def offline() -> Any:
    return config.using(offline=True)


# -- what was loaded loads again


def test_what_was_loaded_loads_offline_without_a_request(hub: Any, repo: Any) -> None:
    load()
    hub.forget()
    with offline():
        assert load() == load(revision="main") == load(revision=repo.sha) == [1]
    assert hub.requests == []


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
def test_the_variables_of_a_fresh_process_are_heeded(variable: str, hub: Any, repo: Any) -> None:
    code = "import datasets_core as d; say(d.load_dataset('org/data', split='test')['a'][:])"
    assert hub.run(code).value == [2]
    hub.forget()
    assert hub.run(code, **{variable: "1"}).value == [2]
    assert hub.requests == []


def test_what_was_fetched_is_built_offline(hub: Any, repo: Any) -> None:
    load()
    forget_builds(hub)
    with offline():
        assert load() == [1]
        assert load(split="test") == [2]


def test_branches_tags_and_conversions_load_offline_where_they_were_loaded(hub: Any, repo: Any) -> None:
    repo.tag("v1")
    repo.commit({"data/train-00000-of-00001.parquet": parquet(5)}, branch="main")
    repo.branch("dev")
    repo.commit({"data/train-00000-of-00001.parquet": parquet(6)}, branch="dev")
    repo.branch("refs/convert/parquet")
    revisions = {"main": [5], "v1": [1], "dev": [6], "refs/convert/parquet": [5]}
    assert {name: load(revision=name) for name in revisions} == revisions
    hub.forget()
    with offline():
        assert {name: load(revision=name) for name in revisions} == revisions
    forget_builds(hub)
    with offline():
        assert {name: load(revision=name) for name in revisions} == revisions
    assert hub.requests == []


def test_an_old_revision_still_loads(hub: Any, repo: Any) -> None:
    old = repo.sha
    load()
    new = repo.commit({"data/train-00000-of-00001.parquet": parquet(5)})
    assert (load(), load(revision=old), load(revision=new)) == ([5], [1], [5])
    with offline():
        assert (load(), load(revision=old), load(revision=new)) == ([5], [1], [5])


# -- never another revision


@pytest.mark.parametrize("revision", ["v1", "dev", "0" * 40, "refs/convert/parquet", "mai"])
def test_a_revision_that_was_never_loaded_is_not_replaced_by_another(revision: str, hub: Any, repo: Any) -> None:
    load()
    with offline(), pytest.raises(DatasetsCoreError) as failure:
        load(revision=revision)
    assert revision in str(failure.value)
    assert "org/data" in str(failure.value)


def test_main_is_not_told_from_another_branch(hub: Any, repo: Any) -> None:
    repo.branch("dev")
    load(revision="dev")
    for _ in range(2):
        with offline(), pytest.raises(OfflineError, match="org/data"):
            load()
        forget_builds(hub)


@pytest.mark.parametrize("is_asked", [False, True])
def test_what_another_tool_learned_of_main_comes_before_what_was_built(is_asked: bool, hub: Any, repo: Any) -> None:
    old = repo.sha
    load()
    new = repo.commit({"data/train-00000-of-00001.parquet": parquet(5)})
    Path(hub.cache_dir, "datasets--org--data", "refs", "main").write_text(new)
    if is_asked:
        hub.stop()
    with config.using(offline=not is_asked, hub_timeout_seconds=0.3):
        with pytest.raises(OfflineError, match="org/data"):
            load()
        assert load(revision=old) == [1]


def test_repositories_with_nearly_one_name_are_told_apart(hub: Any) -> None:
    hub.repo("a_/b", {"train.csv": "a\n1\n"})
    hub.repo("a/_b", {"train.csv": "a\n2\n"})
    assert load_dataset("a_/b", split="train")["a"][:] == [1]
    for _ in range(2):
        with offline(), pytest.raises(OfflineError, match="a/_b"):
            load_dataset("a/_b", split="train")
        shutil.rmtree(hub.cache_dir, ignore_errors=True)
    with offline():
        assert load_dataset("a_/b", split="train")["a"][:] == [1]


def test_a_commit_alone_does_not_answer_for_the_branch(hub: Any, repo: Any) -> None:
    load(revision=repo.sha)
    with offline():
        assert load(revision=repo.sha) == [1]
        with pytest.raises(OfflineError):
            load()


def test_data_files_that_were_not_loaded_are_missing(hub: Any) -> None:
    hub.repo("org/data", {"a.csv": "a\n1\n", "b.csv": "a\n2\n"})
    assert load(data_files="a.csv") == [1]
    with offline():
        assert load(data_files="a.csv") == [1]
        with pytest.raises(DatasetsCoreError, match=r"b\.csv"):
            load(data_files="b.csv")


def test_a_repository_that_was_never_loaded_is_told(hub: Any, repo: Any) -> None:
    with offline(), pytest.raises(OfflineError, match="org/data"):
        load()
    assert hub.requests == []


# -- the Hub is gone


@pytest.mark.parametrize("way", ["refused", "hanging", "500"])
def test_a_hub_that_is_gone_is_replaced_by_the_cache(way: str, hub: Any, repo: Any, caplog: pytest.LogCaptureFixture) -> None:
    load()
    if way == "refused":
        hub.stop()
    else:
        hub.fail(hub.faults.hanging() if way == "hanging" else hub.faults.status(500), "*", times=None)
    hub.forget()
    with config.using(hub_timeout_seconds=0.3), caplog.at_level(logging.WARNING, "datasets_core"):
        assert load() == [1]
        with pytest.raises(DatasetsCoreError):
            load(revision="v1")
    assert hub.counts()["info"] <= {"refused": 0, "hanging": 2, "500": 10}[way]
    assert "org/data" in caplog.text


def test_a_hub_that_is_gone_is_not_waited_for_long(hub: Any, repo: Any) -> None:
    code = """
import datasets_core as d
from datasets_core.engines import threads
pauses = []
threads.SystemClock.sleep = lambda self, seconds, stop=None: pauses.append(seconds)
say([d.load_dataset('org/data', split='train')['a'][:], sum(pauses), d.config.settings().hub_timeout_seconds])
"""
    assert hub.run(code).value == [[1], 0, 5.0]
    hub.stop()
    found, waited, most = hub.run(code).value
    assert found == [1]
    assert waited <= most


def test_a_hub_that_hangs_is_waited_for_once(hub: Any, repo: Any) -> None:
    load()
    hub.fail(hub.faults.hanging(), "*", times=None)
    hub.forget()
    with config.using(hub_timeout_seconds=0.3):
        assert load() == [1]
    assert len(hub.requests) == 1  # which has the time of the setting


# -- the cache is shared with other tools


def test_what_the_client_fetched_loads_offline(hub: Any, repo: Any) -> None:
    snapshot(hub)
    hub.forget()
    with offline():
        assert load() == load(revision="main") == load(revision=repo.sha) == [1]
        assert list(load_dataset("org/data", split="test", streaming=True)) == [{"a": 2}]
        assert get_dataset_split_names("org/data") == ["train", "test"]
    assert hub.requests == []


def test_what_the_client_fetched_streams_offline(hub: Any, repo: Any) -> None:
    snapshot(hub, revision=repo.tag("v1") and "v1")
    with offline():
        assert list(load_dataset("org/data", split="train", streaming=True, revision="v1")) == [{"a": 1}]
        with pytest.raises(DatasetsCoreError):
            list(load_dataset("org/data", split="train", streaming=True, revision="main"))


def test_a_part_that_the_client_fetched_loads_and_the_rest_is_told(hub: Any, repo: Any) -> None:
    snapshot(hub, allow_patterns="data/train*")
    with offline():
        assert load(data_files="data/train*") == [1]
        with pytest.raises(DatasetsCoreError):
            load(data_files="data/test*")


def test_a_card_that_was_not_fetched_is_missed_unless_the_files_are_named(hub: Any, repo: Any) -> None:
    repo.commit({"README.md": "---\nlicense: mit\n---\n"})
    snapshot(hub, allow_patterns="data/*")
    with offline():
        assert load(data_files="data/train*") == [1]
        with pytest.raises(OfflineError, match=r"README\.md: is not in the hub cache.*data_files="):
            load()


def test_files_that_the_client_fetched_are_not_fetched_again(hub: Any, repo: Any) -> None:
    snapshot(hub)
    hub.forget()
    assert load() == [1]
    assert hub.counts()["storage"] == 0
    assert len(hub.requests) <= 2


def test_the_client_finds_what_was_loaded(hub: Any, repo: Any) -> None:
    repo.commit({"README.md": "---\nlicense: mit\n---\n"})
    load()
    hub.forget()
    for name in ("data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet", "README.md"):
        for revision in ("main", repo.sha):
            found = hf_hub_download(
                "org/data", name, repo_type="dataset", revision=revision, cache_dir=hub.cache_dir, local_files_only=True
            )
            assert Path(found).read_bytes() == repo.files()[name]
    assert hub.requests == []
    folder = hub.cache_dir / "datasets--org--data"
    assert (folder / "refs" / "main").read_text() == repo.sha
    snapshots = [path for path in (folder / "snapshots" / repo.sha).rglob("*") if path.is_file()]
    assert all(path.is_symlink() and path.resolve().parent == folder / "blobs" for path in snapshots)
    assert {path.name for path in (folder / "blobs").iterdir()} <= {blob.etag for blob in repo.at("main").files.values()}


def test_the_client_finds_a_tag_that_was_loaded(hub: Any, repo: Any) -> None:
    repo.tag("v1")
    repo.branch("refs/convert/parquet")
    load(revision="v1")
    load(revision="refs/convert/parquet")
    for revision in ("v1", "refs/convert/parquet"):
        assert hf_hub_download(
            "org/data",
            "data/train-00000-of-00001.parquet",
            repo_type="dataset",
            revision=revision,
            cache_dir=hub.cache_dir,
            local_files_only=True,
        )


def test_the_listing_that_the_client_keeps_saves_a_request(hub: Any, repo: Any) -> None:
    snapshot(hub)
    hub.forget()
    load(revision=repo.sha)
    assert hub.counts()["info"] == 0
    assert hub.counts()["tree"] <= 1


# -- questions, and builders


def test_questions_are_answered_offline(hub: Any, repo: Any) -> None:
    repo.commit({"README.md": "---\nconfigs:\n- config_name: x\n  data_dir: data\n---\n"})
    load()
    hub.forget()
    with offline():
        assert get_dataset_config_names("org/data") == ["x"]
        assert get_dataset_split_names("org/data", "x") == ["train", "test"]
        assert load_dataset_builder("org/data").config.name == "x"
    assert hub.requests == []


def test_a_streamed_repository_streams_offline(hub: Any, repo: Any) -> None:
    assert list(load_dataset("org/data", split="train", streaming=True)) == [{"a": 1}]
    with offline():
        assert list(load_dataset("org/data", split="train", streaming=True)) == [{"a": 1}]


# -- when a build is made anew


def builds(hub: Any) -> set[str]:
    return {str(path.parent) for path in (hub.home / "datasets").rglob("*.arrow")}


def test_an_unrelated_commit_does_not_build_again(hub: Any, repo: Any) -> None:
    load()
    before = builds(hub)
    repo.commit({"notes.md": "new"}, title="Say something")
    hub.forget()
    assert load() == [1]
    assert builds(hub) == before
    assert hub.counts()["storage"] == 0
    with offline():
        assert load() == [1]


def test_a_card_that_says_nothing_about_data_does_not_build_again(hub: Any, repo: Any) -> None:
    repo.commit({"README.md": "---\nlicense: mit\n---\n"})
    load()
    before = builds(hub)
    repo.commit({"README.md": "---\nlicense: apache-2.0\n---\nmore\n"})
    load()
    assert builds(hub) == before


def test_a_changed_file_builds_again(hub: Any, repo: Any) -> None:
    load()
    repo.commit({"data/train-00000-of-00001.parquet": parquet(3)})
    assert load() == [3]
    assert load(split="test") == [2]


def test_an_added_file_builds_again(hub: Any) -> None:
    repo = hub.repo("org/data", {"train_1.csv": "a\n1\n"})
    assert load() == [1]
    repo.commit({"train_2.csv": "a\n2\n"})
    assert load() == [1, 2]
    repo.commit(delete=["train_1.csv"])
    assert load() == [2]


def test_files_that_did_not_change_are_not_fetched_again(hub: Any, repo: Any) -> None:
    load()
    repo.commit({"data/train-00000-of-00001.parquet": parquet(3)})
    hub.forget()
    load()
    assert len(hub.of("storage")) == 1


def test_two_repositories_of_one_name_are_two_builds(hub: Any) -> None:
    hub.repo("org/data", {"train.csv": "a\n1\n"})
    hub.repo("me/data", {"train.csv": "a\n1\n"})
    load()
    assert load_dataset("me/data", split="train")["a"] == [1]
    assert {path.name for path in (hub.home / "datasets").iterdir() if "___" in path.name} == {"org___data", "me___data"}
