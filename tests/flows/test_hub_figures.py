"""How many requests a load, a plan and a push take, in fresh processes as users have them."""

from __future__ import annotations

import io
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import datasets_core
from datasets_core.load import load_dataset_builder


def parquet(*values: int) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"a": values}), sink)
    return sink.getvalue()


LOAD = "import datasets_core as d; say(d.load_dataset('org/one', split='train')['a'][:])"


@pytest.fixture
def one(hub: Any) -> Any:
    return hub.repo("org/one", {"data/train-00000-of-00001.parquet": parquet(1, 2, 3)})


@pytest.fixture
def many(hub: Any) -> Any:
    return hub.repo("org/many", {f"data/train-{n:05d}-of-00500.parquet": parquet(n) for n in range(500)})


@pytest.mark.parametrize("small_files", ["200", "307"])
def test_a_cold_load_of_one_file_takes_five_requests(small_files: str, hub: Any, one: Any) -> None:
    hub.small_files = small_files
    one.commit({"README.md": "---\nlicense: mit\n---\n"})
    assert hub.run(LOAD).value == [1, 2, 3]
    assert len(hub.requests) <= 5 + (small_files == "307"), hub.counts()
    assert hub.counts()["info"] == hub.counts()["tree"] == 1
    assert all(request.revision == one.sha for request in hub.requests if request.kind in {"tree", "resolve"})


def test_a_warm_load_takes_two_requests_and_none_by_commit_or_lock(hub: Any, one: Any) -> None:
    assert hub.run(LOAD).value == [1, 2, 3]
    hub.forget()
    assert hub.run(LOAD).value == [1, 2, 3]
    assert len(hub.requests) <= 2, hub.counts()
    hub.forget()
    assert hub.run(LOAD.replace("split=", f"revision='{one.sha}', split=")).value == [1, 2, 3]
    assert hub.requests == []


def test_a_load_by_a_lock_takes_no_request(hub: Any, one: Any) -> None:
    assert hub.run("import datasets_core as d; say(d.lock_dataset('org/one', lock='one.lock').is_written)").value
    one.commit({"data/train-00000-of-00001.parquet": parquet(9)})
    hub.forget()
    locked = hub.run(LOAD.replace("split=", "lock='one.lock', split="))
    assert locked.value == [1, 2, 3]
    assert hub.requests == []


def test_a_warm_load_by_commit_does_not_import_the_client(hub: Any, one: Any) -> None:
    pinned = LOAD.replace("split=", f"revision='{one.sha}', split=")
    hub.run(pinned)
    assert hub.run(pinned.replace("say(", "len(") + "; import sys; say('huggingface_hub' in sys.modules)").value is False


@pytest.mark.parametrize(("page_size", "requests"), [(1000, 4), (100, 8)])
def test_a_plan_of_many_shards_takes_four_requests_and_one_for_each_further_page(
    page_size: int, requests: int, hub: Any, many: Any
) -> None:
    hub.page_size = page_size
    assert len(load_dataset_builder("org/many").config.data_files["train"]) == 500
    assert len(hub.requests) <= requests, hub.counts()


@pytest.mark.slow
def test_a_whole_load_takes_one_get_per_shard(hub: Any, many: Any) -> None:
    code = "import datasets_core as d; say(sorted(d.load_dataset('org/many', split='train')['a']) == list(range(500)))"
    assert hub.run(code).value is True
    assert len(hub.requests) <= 505, hub.counts()
    assert sum(hub.connections) <= 34


def test_twenty_shards_take_one_get_each(hub: Any) -> None:
    hub.repo("org/twenty", {f"data/train-{n:05d}-of-00020.parquet": parquet(n) for n in range(20)})
    code = "import datasets_core as d; say(d.load_dataset('org/twenty', split='train')['a'][:])"
    assert hub.run(code).value == list(range(20))
    assert len(hub.requests) <= 25, hub.counts()


def test_files_come_side_by_side(hub: Any) -> None:
    """Eight requests for files are answered only when eight are there."""
    import threading

    together = threading.Barrier(8)
    hub.repo("org/eight", {f"data/train-{n:05d}-of-00008.parquet": parquet(n) for n in range(8)})
    hub.before(lambda request: together.wait(60), "storage", times=8)
    code = "import datasets_core as d; say(d.load_dataset('org/eight', split='train')['a'][:])"
    assert hub.run(code).value == list(range(8))
    assert not together.broken


QUESTIONS = {
    "configs": datasets_core.get_dataset_config_names,
    "splits": datasets_core.get_dataset_split_names,
    "default": datasets_core.get_dataset_default_config_name,
    "infos": datasets_core.get_dataset_infos,
    "info": lambda repo: load_dataset_builder(repo).info,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_about_a_repository_download_no_data(question: str, hub: Any, one: Any) -> None:
    one.commit({"README.md": "---\nlicense: mit\n---\n"})
    QUESTIONS[question]("org/one")
    assert hub.counts()["storage"] == 0
    assert len(hub.requests) <= 3, hub.counts()


@pytest.mark.parametrize("is_xet", [True, False], ids=["with xet", "without"])
@pytest.mark.parametrize("repo_id", ["org/new", "new", "org/one"])
def test_a_push_of_one_shard_takes_nine_requests(repo_id: str, is_xet: bool, hub: Any, one: Any) -> None:
    hub.verifies_uploads, hub.small_files = True, "307"
    one.commit({"README.md": "---\nlicense: mit\n---\n"})
    code = f"import datasets_core as d; d.Dataset.from_dict({{'a': [1, 2]}}).push_to_hub({repo_id!r}); say(0)"
    assert hub.run(code, token=hub.token, HF_HUB_DISABLE_XET=None if is_xet else "1").value == 0
    assert len(hub.requests) <= 9, hub.counts()
    assert hub.counts()["commit"] == 1


def test_a_push_of_the_same_again_sends_no_file(hub: Any) -> None:
    code = "import datasets_core as d; d.Dataset.from_dict({'a': [1, 2]}).push_to_hub('org/new'); say(0)"
    hub.run(code, token=hub.token).value  # noqa: B018
    before = hub.repos["org/new"].files()
    hub.forget()
    hub.run(code, token=hub.token).value  # noqa: B018
    assert hub.counts()["upload"] == hub.counts()["lfs-batch"] == 0
    assert hub.repos["org/new"].files() == before
