"""What is pushed is what any tool of the Hub reads; a push that fails leaves the repository as it was."""

from __future__ import annotations

import contextvars
import hashlib
import io
import json
import re
import threading
import time
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import yaml

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.base import Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset, load_dataset_builder


@pytest.fixture
def push(hub: Any) -> Any:
    """`push(dataset, "org/x", ...)` with the owner's token."""

    def pushed(dataset: Any, repo: str = "org/new", **arguments: Any) -> Any:
        return dataset.push_to_hub(repo, **{"token": hub.token, **arguments})

    return pushed


def rows(count: int = 4, start: int = 0) -> Dataset:
    return Dataset.from_dict({"a": list(range(start, start + count)), "s": [f"row {n}" for n in range(start, start + count)]})


def table(repo: Any, path: str, revision: str = "main") -> pyarrow.Table:
    return pyarrow.parquet.read_table(io.BytesIO(repo.files(revision)[path]))


def front(repo: Any, revision: str = "main") -> dict[str, Any]:
    return yaml.safe_load(re.split(r"---\r?\n", repo.text("README.md", revision))[1])


def data_paths(repo: Any, revision: str = "main") -> list[str]:
    return [path for path in repo.files(revision) if path.endswith(".parquet")]


# -- what stands there then


def test_a_dataset_is_a_shard_and_a_card(hub: Any, push: Any) -> None:
    info = push(rows(), private=True, commit_message="Mine", commit_description="all of it")
    repo = hub.repos["org/new"]

    assert repo.private
    assert repo.log() == ["Mine", "initial commit"]
    assert repo.at("main").message == "all of it"
    assert info.oid == repo.sha
    assert list(repo.files()) == [".gitattributes", "README.md", "data/train-00000-of-00001.parquet"]
    assert table(repo, "data/train-00000-of-00001.parquet").to_pydict() == rows().to_dict()
    assert front(repo)["configs"] == [{"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*"}]}]
    described = front(repo)["dataset_info"]
    assert described["features"] == [{"name": "a", "dtype": "int64"}, {"name": "s", "dtype": "string"}]
    assert described["splits"] == [{"name": "train", "num_bytes": described["dataset_size"], "num_examples": 4}]
    assert described["download_size"] == len(repo.files()["data/train-00000-of-00001.parquet"])


def test_what_was_pushed_loads(hub: Any, push: Any) -> None:
    push(rows())
    found = load_dataset("org/new")
    assert {name: split.to_dict() for name, split in found.items()} == {"train": rows().to_dict()}
    assert load_dataset_builder("org/new").info.splits["train"].num_examples == 4


def test_a_dictionary_is_pushed_with_all_its_splits(hub: Any, push: Any) -> None:
    push(DatasetDict({"train": rows(3), "test": rows(2), "empty": rows(1).select([])}))
    repo = hub.repos["org/new"]
    assert data_paths(repo) == [f"data/{name}-00000-of-00001.parquet" for name in ("empty", "test", "train")]
    found = load_dataset("org/new")
    assert {name: split.num_rows for name, split in found.items()} == {"train": 3, "test": 2, "empty": 0}
    assert repo.log() == ["Upload dataset", "initial commit"]


def test_features_of_every_kind_come_back(hub: Any, push: Any) -> None:
    features = Features({"label": ClassLabel(names=["no", "yes"]), "n": Value("int8"), "l": [Value("float32")]})
    push(Dataset.from_dict({"label": [0, 1], "n": [1, None], "l": [[0.5], []]}, features=features))
    found = load_dataset("org/new", split="train")
    assert found.features == features
    assert found["label"] == [0, 1]
    schema = pyarrow.parquet.read_schema(io.BytesIO(hub.repos["org/new"].files()["data/train-00000-of-00001.parquet"]))
    assert json.loads(schema.metadata[b"huggingface"])["info"]["features"]["label"]["names"] == ["no", "yes"]


@pytest.mark.parametrize("embed", [True, False])
def test_media_are_embedded(embed: bool, hub: Any, push: Any, tmp_path: Any, hub_shapes: Any) -> None:
    (tmp_path / "a.png").write_bytes(hub_shapes.png(7))
    (tmp_path / "a.wav").write_bytes(hub_shapes.wav(7))
    values = {"image": [str(tmp_path / "a.png")], "sound": [str(tmp_path / "a.wav")]}
    made = Dataset.from_dict(values, features=Features({"image": Image(), "sound": Audio()}))
    push(made, embed_external_files=embed)
    stored = table(hub.repos["org/new"], "data/train-00000-of-00001.parquet").to_pylist()[0]
    assert stored["image"]["bytes"] == (hub_shapes.png(7) if embed else None)
    assert stored["sound"]["bytes"] == (hub_shapes.wav(7) if embed else None)
    assert str(tmp_path) not in str(stored) or not embed
    if embed:
        assert load_dataset("org/new", split="train")[0]["image"].getpixel((0, 0)) == (7, 0, 0)


def test_shards_by_number_and_by_size(hub: Any, push: Any) -> None:
    push(rows(10), num_shards=3)
    repo = hub.repos["org/new"]
    names = [f"data/train-{n:05d}-of-00003.parquet" for n in range(3)]
    assert data_paths(repo) == names
    assert [table(repo, name).num_rows for name in names] == [4, 3, 3]
    push(rows(10), num_shards=2)
    assert data_paths(repo) == [f"data/train-{n:05d}-of-00002.parquet" for n in range(2)]
    push(rows(1000), max_shard_size="5KB")
    assert len(data_paths(repo)) > 2
    assert load_dataset("org/new", split="train").to_dict() == rows(1000).to_dict()


def test_number_and_size_at_once_are_refused(hub: Any, push: Any) -> None:
    with pytest.raises(ValueError, match="num_shards"):
        push(rows(), num_shards=2, max_shard_size="5KB")
    assert hub.requests == []


def test_parquet_has_checksums_page_indexes_and_content_defined_chunks(hub: Any, push: Any) -> None:
    push(rows(1000))
    content = hub.repos["org/new"].files()["data/train-00000-of-00001.parquet"]
    file = pyarrow.parquet.ParquetFile(io.BytesIO(content), page_checksum_verification=True)
    assert file.read().num_rows == 1000
    column = file.metadata.row_group(0).column(0)
    assert column.has_offset_index
    assert column.has_column_index
    assert json.loads(file.metadata.metadata[b"content_defined_chunking"]) == {
        "min_chunk_size": 256 << 10,
        "max_chunk_size": 1 << 20,
        "norm_level": 0,
    }
    damaged = bytearray(content)
    damaged[column.data_page_offset + column.total_compressed_size // 2] ^= 0xFF
    with pytest.raises(OSError, match=r"(?i)crc|checksum"):
        pyarrow.parquet.ParquetFile(io.BytesIO(damaged), page_checksum_verification=True).read()


def test_configs_stand_beside_each_other(hub: Any, push: Any) -> None:
    push(rows(1), config_name="en")
    push(rows(2), config_name="fr", set_default=True)
    push(DatasetDict({"train": rows(3), "test": rows(1)}), config_name="de", data_dir="german")
    repo = hub.repos["org/new"]
    assert data_paths(repo) == [
        "en/train-00000-of-00001.parquet",
        "fr/train-00000-of-00001.parquet",
        "german/test-00000-of-00001.parquet",
        "german/train-00000-of-00001.parquet",
    ]
    assert {each["config_name"]: each.get("default", False) for each in front(repo)["configs"]} == {
        "en": False,
        "fr": True,
        "de": False,
    }
    assert load_dataset("org/new", "en", split="train").num_rows == 1
    assert load_dataset("org/new", split="train").num_rows == 2
    assert load_dataset("org/new", "de", split="test").num_rows == 1


def test_a_split_is_added_and_replaced(hub: Any, push: Any) -> None:
    push(rows(2))
    push(rows(3, 10), split="test")
    push(rows(1, 20), split="train")
    found = load_dataset("org/new")
    assert {name: split["a"][:] for name, split in found.items()} == {"train": [20], "test": [10, 11, 12]}
    splits = {each["name"]: each["num_examples"] for each in front(hub.repos["org/new"])["dataset_info"]["splits"]}
    assert splits == {"train": 1, "test": 3}


def test_another_split_of_other_columns_is_refused(hub: Any, push: Any) -> None:
    push(rows(2))
    sha = hub.repos["org/new"].sha
    with pytest.raises(ValueError, match=r"(?i)feature|column"):
        push(Dataset.from_dict({"z": [1.5]}), split="test")
    assert hub.repos["org/new"].sha == sha


def test_text_and_foreign_keys_of_a_card_survive(hub: Any, push: Any) -> None:
    card = (
        "---\nlicense: mit\n# a remark\ntags:\n- one\nodd:\n  deep: [1, 2]\nconfigs:\n- config_name: other\n"
        "  data_files: o.csv\n---\n"
        "# Title\n\nText: ünï\n---\nmore\n"
    )
    repo = hub.repo("org/new", {"README.md": card, "o.csv": "a\n1\n", "LICENSE": "mit"})
    push(rows(2), config_name="mine")
    text = repo.text("README.md")
    assert text.endswith("# Title\n\nText: ünï\n---\nmore\n")
    assert front(repo)["license"] == "mit"
    assert front(repo)["odd"] == {"deep": [1, 2]}
    assert "# a remark" in text
    assert {each["config_name"] for each in front(repo)["configs"]} == {"other", "mine"}
    assert load_dataset("org/new", "other", split="train")["a"] == [1]


@pytest.mark.parametrize("card", ["just text\n", "", "---\n---\nempty\n", "---\r\nlicense: mit\r\n---\r\ntext\r\n"])
def test_cards_of_odd_forms_are_kept(card: str, hub: Any, push: Any) -> None:
    repo = hub.repo("org/new", {"README.md": card})
    push(rows(1))
    assert front(repo)["dataset_info"]["splits"][0]["num_examples"] == 1
    assert repo.text("README.md").endswith(card.rpartition("---")[2].lstrip("\r\n") or "\n")
    assert load_dataset("org/new", split="train").num_rows == 1


def test_other_files_are_left_alone(hub: Any, push: Any) -> None:
    repo = hub.repo("org/new", {"data/notes.txt": "keep", "scripts/x.py": "1", "data/other-00000-of-00001.parquet": b"PAR1"})
    push(rows(1))
    assert {"data/notes.txt", "scripts/x.py", "data/other-00000-of-00001.parquet"} <= set(repo.files())


def test_files_of_another_config_are_not_taken_away(hub: Any, push: Any) -> None:
    push(rows(2), config_name="a", data_dir="all")
    sha = hub.repos["org/new"].sha
    with pytest.raises(ValueError, match="belongs to the config 'a'"):
        push(rows(3), config_name="b", data_dir="all")
    assert hub.repos["org/new"].sha == sha
    push(rows(3), config_name="b", data_dir="all", split="test")
    assert [load_dataset("org/new", name)[split].num_rows for name, split in (("a", "train"), ("b", "test"))] == [2, 3]


@pytest.mark.parametrize("is_group", [True, False], ids=["splits", "shards"])
def test_equal_contents_are_asked_for_and_sent_once(is_group: bool, hub: Any, push: Any) -> None:
    same = Dataset.from_dict({"a": [7] * 40})
    if is_group:
        push(DatasetDict({"train": same, "test": same, "other": same}))
    else:
        push(same, num_shards=40)
    counts = hub.counts()
    assert (counts["preupload"], counts["lfs-batch"], counts["upload"], counts["commit"]) == (1, 1, 1, 1)
    assert {split.num_rows for split in load_dataset("org/new").values()} == {40}


# -- where it goes


def test_a_branch_is_made_and_pushed_to(hub: Any, push: Any) -> None:
    push(rows(1))
    push(rows(2), revision="dev")
    repo = hub.repos["org/new"]
    assert load_dataset("org/new", split="train").num_rows == 1
    assert load_dataset("org/new", revision="dev", split="train").num_rows == 2
    assert sorted(repo.refs) == ["refs/heads/dev", "refs/heads/main"]


def test_a_pull_request_leaves_the_branch_alone(hub: Any, push: Any) -> None:
    push(rows(1))
    sha = hub.repos["org/new"].sha
    info = push(rows(2), create_pr=True)
    assert info.pr_revision == "refs/pr/1"
    assert hub.repos["org/new"].sha == sha
    assert load_dataset("org/new", revision="refs/pr/1", split="train").num_rows == 2


def test_a_name_alone_is_the_users(hub: Any, push: Any) -> None:
    push(rows(1), "mine")
    assert "me/mine" in hub.repos


def test_an_existing_repository_keeps_its_visibility(hub: Any, push: Any) -> None:
    hub.repo("org/new", {}, private=True)
    push(rows(1))
    assert hub.repos["org/new"].private
    assert load_dataset("org/new", split="train", token=hub.token).num_rows == 1


# -- what is refused


@pytest.mark.parametrize("who", ["nobody", "stranger", "bad", "reader"])
def test_those_who_may_not_write_are_told(who: str, hub: Any, push: Any) -> None:
    repo = hub.repo("org/new", {"README.md": "# mine"})
    reader = hub.user("reader", "hf_readerToken", orgs=("org",), role="read")
    token = {"nobody": False, "stranger": hub.stranger.token, "bad": "hf_bad", "reader": reader.token}[who]
    sha = repo.sha
    with pytest.raises(DatasetsCoreError) as failure:
        push(rows(1), token=token)
    assert repo.sha == sha
    assert "org/new" in str(failure.value)
    assert str(token) not in str(failure.value) or token is False
    assert hub.counts()["upload"] == 0


def test_a_hub_that_takes_xet_only_is_named(hub: Any, push: Any) -> None:
    hub.needs_xet = True
    with pytest.raises(DatasetsCoreError, match=r"(?i)xet"):
        push(rows(1))


@pytest.mark.parametrize("split", ["a/b", "../x", "", "a b", "all"])
def test_names_of_splits_that_are_no_names_are_refused(split: str, hub: Any, push: Any) -> None:
    with pytest.raises(ValueError, match=r"(?i)split"):
        push(rows(1), split=split)
    assert hub.counts()["commit"] == 0


# -- when it fails


PUSH_FAULTS = {
    "503": lambda f: f.status(503),
    "500": lambda f: f.status(500),
    "429": lambda f: f.status(429, Retry_After="1"),
    "dropped": lambda f: f.dropped(),
}


# the client waits a second or two before it tries again what it sends by itself
SLOW = {"preupload": ("503", "429", "dropped"), "lfs-batch": ("500", "429", "dropped"), "upload": ("500", "429", "dropped")}
FAILURES = [(kind, fault) for kind in ("info", "tree", "create", *SLOW, "commit") for fault in PUSH_FAULTS]


@pytest.mark.parametrize(
    ("kind", "fault"),
    [pytest.param(*each, marks=[pytest.mark.slow] if each[1] in SLOW.get(each[0], ()) else []) for each in FAILURES],
)
def test_one_failure_of_a_push_is_made_good(kind: str, fault: str, hub: Any, push: Any) -> None:
    hub.fail(PUSH_FAULTS[fault](hub.faults), kind)
    push(rows(3), num_shards=2)
    repo = hub.repos["org/new"]
    assert load_dataset("org/new", split="train").to_dict() == rows(3).to_dict()
    assert repo.log() == ["Upload dataset", "initial commit"]


@pytest.mark.parametrize("fault", [lambda f: f.dropped(), lambda f: f.status(504)], ids=["dropped", "504"])
def test_an_answer_that_is_lost_makes_no_second_commit(fault: Any, hub: Any, push: Any) -> None:
    push(rows(1))
    hub.fail(fault(hub.faults), "commit", done=True)
    push(rows(2))
    assert len(hub.repos["org/new"].log()) == 3
    assert load_dataset("org/new", split="train").num_rows == 2


def test_a_conflict_is_merged(hub: Any, push: Any) -> None:
    push(rows(1), config_name="one")
    repo = hub.repos["org/new"]
    card = repo.text("README.md")
    hub.before(lambda request: repo.commit({"README.md": card + "\nNews\n", "x.txt": "new"}, title="Meanwhile"), "commit")
    push(rows(2), config_name="two")
    assert repo.log()[1:] == ["Meanwhile", "Upload dataset", "initial commit"]
    assert repo.text("README.md").endswith("News\n")
    assert {each["config_name"] for each in front(repo)["configs"]} == {"one", "two"}
    assert "x.txt" in repo.files()
    assert load_dataset("org/new", "two", split="train").num_rows == 2


def test_two_pushes_at_once_are_both_kept(hub: Any, push: Any) -> None:
    push(rows(1), config_name="zero")
    settings = [contextvars.copy_context() for _ in range(3)]
    threads = [
        threading.Thread(target=settings[n].run, args=(push, rows(n + 1)), kwargs={"config_name": f"c{n + 1}"})
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {each["config_name"] for each in front(hub.repos["org/new"])["configs"]} == {"zero", "c1", "c2", "c3"}
    assert [load_dataset("org/new", f"c{n}", split="train").num_rows for n in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize("kind", ["upload", "lfs-batch", "preupload", "commit"])
def test_a_push_that_fails_leaves_the_repository_as_it_was(kind: str, hub: Any, push: Any) -> None:
    push(rows(2))
    repo = hub.repos["org/new"]
    sha = repo.sha
    rule = hub.fail(hub.faults.status(403, b"no"), kind, times=None)
    with pytest.raises(DatasetsCoreError) as failure:
        push(rows(5), num_shards=2)
    assert "org/new" in str(failure.value)
    assert repo.sha == sha
    assert load_dataset("org/new", split="train").num_rows == 2
    rule.times = 0
    push(rows(5), num_shards=2)
    assert load_dataset("org/new", split="train").num_rows == 5


def test_a_killed_push_leaves_the_repository_and_the_next_one_sends_the_rest(hub: Any, push: Any) -> None:
    push(rows(2))
    repo, done = hub.repos["org/new"], threading.Event()
    sha = repo.sha
    hub.fail(hub.faults.hanging(), "upload", skip=2, times=None)
    hub.before(lambda request: done.set(), "upload", skip=0)
    code = (
        "import datasets_core as d\n"
        "rows = d.Dataset.from_dict({'a': list(range(400)), 's': ['x' * n for n in range(400)]})\n"
        "rows.push_to_hub('org/new', num_shards=4)"
    )
    process = hub.run.start(code, token=hub.token)
    deadline = time.monotonic() + 30
    while len(hub.storage.uploads) < 3 and time.monotonic() < deadline:
        done.wait(0.02)
    hub.run.kill(process)
    assert repo.sha == sha
    assert load_dataset("org/new", split="train").num_rows == 2
    hub.rules.clear()
    hub.forget()
    assert hub.run(code + "\nsay(1)", token=hub.token).value == 1
    assert load_dataset("org/new", split="train").num_rows == 400
    assert set(hub.storage.uploads.values()) == {1}


# -- what is not sent again


def test_only_shards_that_changed_are_sent(hub: Any, push: Any) -> None:
    whole = rows(100)
    push(whole, num_shards=4)
    hub.forget()
    changed = Dataset.from_dict({"a": [*whole["a"][:99], -1], "s": whole["s"][:]})
    push(changed, num_shards=4)
    assert hub.counts()["upload"] == 1
    assert load_dataset("org/new", split="train")["a"][99] == -1


def test_a_push_of_the_same_is_no_commit_or_changes_nothing(hub: Any, push: Any) -> None:
    push(rows(3))
    files = hub.repos["org/new"].files()
    hub.forget()
    push(rows(3))
    assert hub.repos["org/new"].files() == files
    assert hub.counts()["upload"] == hub.counts()["lfs-batch"] == 0


def test_many_shards_are_one_preupload_and_one_commit(hub: Any, push: Any) -> None:
    push(rows(60), num_shards=60)
    assert hub.counts()["preupload"] <= 2
    assert hub.counts()["commit"] == 1
    assert hub.counts()["upload"] == 60
    assert load_dataset("org/new", split="train").to_dict() == rows(60).to_dict()


def test_shards_are_sent_side_by_side(hub: Any, push: Any) -> None:
    together = threading.Barrier(3)
    hub.before(lambda request: together.wait(60), "upload", times=3)
    push(rows(30), num_shards=6)
    assert not together.broken


def test_large_shards_come_in_parts(hub: Any, push: Any) -> None:
    hub.part_bytes, hub.verifies_uploads = 10_000, True
    values = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(1000)]
    push(Dataset.from_dict({"s": values}))
    assert len(hub.of("upload")) > 3
    assert load_dataset("org/new", split="train")["s"][:] == values


# -- streams, builders, the command


def test_a_stream_is_pushed(hub: Any, push: Any) -> None:
    push(rows(50).to_iterable_dataset())
    found = load_dataset("org/new", split="train")
    assert found.to_dict() == rows(50).to_dict()
    assert found.features == rows(1).features


def test_a_stream_without_known_features_is_pushed(hub: Any, push: Any) -> None:
    stream = rows(5).to_iterable_dataset().map(lambda row: {"b": row["a"] * 0.5}, remove_columns=["a", "s"])
    push(stream)
    assert load_dataset("org/new", split="train")["b"][:] == [0.0, 0.5, 1.0, 1.5, 2.0]


def test_a_stream_of_shards_is_pushed_shard_by_shard(hub: Any, push: Any) -> None:
    push(rows(40).to_iterable_dataset(num_shards=4), num_shards=4)
    assert load_dataset("org/new", split="train").to_dict() == rows(40).to_dict()
    assert len(data_paths(hub.repos["org/new"])) == 4


def test_a_stream_from_the_hub_is_pushed_elsewhere(hub: Any, push: Any) -> None:
    push(DatasetDict({"train": rows(3), "test": rows(2)}))
    push(load_dataset("org/new", streaming=True), "org/copy")
    assert {name: split.num_rows for name, split in load_dataset("org/copy").items()} == {"train": 3, "test": 2}


def test_a_built_dataset_is_pushed_by_its_builder(hub: Any, push: Any) -> None:
    hub.repo("org/source", {"train.csv": "a\n1\n2\n", "test.csv": "a\n3\n"})
    builder = load_dataset_builder("org/source")
    builder.download_and_prepare()
    push(builder)
    found = load_dataset("org/new")
    assert {name: split["a"][:] for name, split in found.items()} == {"train": [1, 2], "test": [3]}


def test_the_command_pushes_a_folder(hub: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets_core.cli.main import main

    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.csv").write_text("a\n1\n2\n")
    assert main(["push", str(tmp_path / "set"), "org/new", "--token", hub.token]) == 0
    assert load_dataset("org/new", split="train")["a"][:] == [1, 2]


def test_transforms_and_selections_are_pushed_as_they_are_seen(hub: Any, push: Any) -> None:
    push(rows(10).select([5, 3]).map(lambda row: {"a": row["a"] * 10}).with_format("numpy"))
    assert load_dataset("org/new", split="train")["a"][:] == [50, 30]


def test_processes_write_shards(hub: Any, push: Any) -> None:
    push(rows(100), num_shards=4, num_proc=2)
    assert load_dataset("org/new", split="train").to_dict() == rows(100).to_dict()
