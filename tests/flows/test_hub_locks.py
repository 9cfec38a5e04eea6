"""The lock of a Hub dataset: the commit that it names is loaded, and nothing else."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError, LockDriftError, ManifestError, OfflineError
from datasets_core.features.base import Value
from datasets_core.load import load_dataset, lock_dataset

OLD, NEW = {"data/train.csv": "a\n1\n2\n"}, {"data/train.csv": "a\n7\n"}
SCRIPT = """
import datasets
from .words import PREFIX

class Birds(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {"path": dl_manager.download("data/./birds.txt")})]

    def _generate_examples(self, path):
        with open(path) as lines:
            for number, line in enumerate(lines):
                yield number, {"name": PREFIX + line.strip()}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_locked_commit_is_loaded_without_a_request_though_main_has_moved(hub: Any) -> None:
    repo = hub.repo("org/birds", OLD)
    first = repo.sha
    assert lock_dataset("org/birds").is_written
    locked = json.loads(Path("dataset.lock").read_text())
    assert (locked["repository"], locked["revision"], locked["commit"]) == ("org/birds", "main", first)
    (file,) = locked["files"]
    assert (file["path"], file["size"], len(file["etag"])) == ("data/train.csv", 6, 40)
    assert str(hub.home) not in Path("dataset.lock").read_text()
    repo.commit(NEW)
    hub.forget()
    for lock in (True, "dataset.lock", Path("dataset.lock")):
        assert load_dataset("org/birds", split="train", lock=lock)["a"][:] == [1, 2]
    assert load_dataset("org/birds", split="train", lock=True, revision="main")["a"][:] == [1, 2]
    assert load_dataset("org/birds", split="train", lock=True, revision=first)["a"][:] == [1, 2]
    assert load_dataset("hf://datasets/org/birds", split="train", lock=True)["a"][:] == [1, 2]
    assert load_dataset("hf://datasets/org/birds@main", split="train", lock=True)["a"][:] == [1, 2]
    assert hub.requests == []
    with config.using(offline=True):
        assert load_dataset("org/birds", split="train", lock=True)["a"][:] == [1, 2]
    assert load_dataset("org/birds", split="train")["a"][:] == [7]


def test_another_machine_loads_by_the_lock(hub: Any, tmp_path: Path) -> None:
    repo = hub.repo("org/birds", {"a.parquet.csv": "x\n1\n", **OLD}, lfs=True)
    lock_dataset("org/birds", data_files="data/*.csv")
    repo.commit(NEW)
    with config.using(cache_dir=str(tmp_path / "elsewhere"), hub_cache_dir=str(tmp_path / "hub")):
        assert load_dataset("org/birds", split="train", data_files="data/*.csv", lock=True)["a"][:] == [1, 2]
        with pytest.raises(LockDriftError) as caught:
            load_dataset("org/birds", data_files="a.*", lock=True)
    assert any("data/train.csv was removed" in line for line in caught.value.moved)


def test_drift_is_refused_and_named(hub: Any) -> None:
    repo = hub.repo("org/birds", OLD)
    first = repo.sha
    hub.repo("org/others", OLD)
    lock_dataset("org/birds")
    hub.forget()
    with pytest.raises(LockDriftError, match="the repository was 'org/birds' and is now 'org/others'"):
        load_dataset("org/others", lock=True)
    with pytest.raises(LockDriftError, match=r"the revision was 'main' \(commit .*\) and is now 'v2'"):
        load_dataset("org/birds", revision="v2", lock=True)
    with pytest.raises(LockDriftError, match="the revision was 'main'"):
        load_dataset("org/birds", revision="a" * 40, lock=True)
    assert hub.requests == []
    repo.commit(NEW)
    with pytest.raises(LockDriftError) as caught:
        lock_dataset("org/birds")
    assert caught.value.moved[0] == f"the commit was {first!r} and is now {repo.sha!r}"
    assert caught.value.moved[1].startswith("data/train.csv changed (6 bytes, sha256 ")
    assert lock_dataset("org/birds", update=True).is_written
    assert load_dataset("org/birds", split="train", lock=True)["a"][:] == [7]


def test_a_lock_of_local_files_is_none_of_a_repository(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/birds", OLD)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.csv").write_text(OLD["data/train.csv"])
    lock_dataset(str(tmp_path / "data"), lock="local.lock")
    lock_dataset("org/birds", lock="hub.lock")
    with pytest.raises(LockDriftError, match="the repository was None and is now 'org/birds'"):
        load_dataset("org/birds", lock="local.lock")
    with pytest.raises(LockDriftError, match="the repository was 'org/birds' and is now None"):
        load_dataset(str(tmp_path / "data"), lock="hub.lock")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("commit", "main", "must be a commit"),
        ("commit", None, "must be a commit"),
        ("repository", "../x", "must be the id of a repository"),
        ("repository", 5, "must be the id of a repository"),
        ("files", [{"path": "../x", "size": 1, "sha256": None}], "below the folder"),
    ],
)
def test_a_lock_that_nobody_wrote_is_refused(hub: Any, key: str, value: Any, message: str) -> None:
    hub.repo("org/birds", OLD)
    lock_dataset("org/birds")
    path = Path("dataset.lock")
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(ManifestError, match=message):
        load_dataset("org/birds", lock=True)


@pytest.mark.parametrize("trust", [True, "sandbox"])
def test_a_script_is_locked_with_what_it_asked_for(hub: Any, trust: Any, tmp_path: Path) -> None:
    repo = hub.repo("org/birds", {"birds.py": SCRIPT, "words.py": "PREFIX = '<'\n", "data/birds.txt": "alba\n"})
    lock_dataset("org/birds", trust_remote_code=trust)
    locked = json.loads(Path("dataset.lock").read_text())
    assert [file["path"] for file in locked["files"]] == ["data/birds.txt"]
    assert len(locked["script"]) == 64
    repo.commit({"words.py": "PREFIX = '>'\n"})
    hub.forget()
    assert load_dataset("org/birds", split="train", trust_remote_code=trust, lock=True)["name"][:] == ["<alba"]
    assert hub.requests == []
    with config.using(cache_dir=str(tmp_path / "elsewhere"), hub_cache_dir=str(tmp_path / "hub")):
        assert load_dataset("org/birds", split="train", trust_remote_code=trust, lock=True)["name"][:] == ["<alba"]
    with pytest.raises(LockDriftError) as caught:
        lock_dataset("org/birds", trust_remote_code=trust)
    assert any("the script changed" in line for line in caught.value.moved)


@pytest.mark.parametrize("files", [OLD, {"birds.py": SCRIPT, "words.py": "PREFIX = ''\n", "data/birds.txt": "alba\n"}])
def test_offline_without_a_hub_cache_the_build_of_the_locked_commit_is_enough(hub: Any, files: dict[str, str]) -> None:
    repo = hub.repo("org/birds", files)
    lock_dataset("org/birds")
    rows = load_dataset("org/birds", split="train", lock=True)[:]
    shutil.rmtree(hub.cache_dir)
    repo.commit(NEW)
    hub.forget()
    with config.using(offline=True):
        assert load_dataset("org/birds", split="train", lock=True)[:] == rows
        with pytest.raises(OfflineError):
            load_dataset("org/birds", revision="a" * 40)
    assert hub.requests == []


def test_a_stream_is_held_to_the_commit_of_its_lock(hub: Any) -> None:
    repo = hub.repo("org/birds", OLD)
    lock_dataset("org/birds")
    repo.commit(NEW)
    assert list(load_dataset("org/birds", split="train", lock=True, streaming=True)) == [{"a": 1}, {"a": 2}]
    assert load_dataset("org/birds", split="train", lock=True, streaming=True).features == {"a": Value("int64")}
    assert list(load_dataset("org/birds", split="train", streaming=True)) == [{"a": 7}]
    with pytest.raises(LockDriftError, match="the revision was"):
        load_dataset("org/birds", revision="v2", lock=True, streaming=True)
    with pytest.raises(LockDriftError, match="sep"):
        load_dataset("org/birds", lock=True, streaming=True, sep=";")


def test_a_streamed_script_is_held_to_its_lock(hub: Any) -> None:
    files = {"birds.py": SCRIPT, "words.py": "PREFIX = 'a '\n", "data/birds.txt": "owl\n"}
    repo = hub.repo("org/birds", files)
    lock_dataset("org/birds", trust_remote_code=True)
    repo.commit({"words.py": "PREFIX = 'no '\n"})
    rows = load_dataset("org/birds", split="train", lock=True, streaming=True, trust_remote_code=True)
    assert list(rows) == [{"name": "a owl"}]


def test_what_only_a_build_compares_is_not_streamed(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/birds", OLD)
    lock_dataset("org/birds")
    text = Path("dataset.lock").read_text().replace('"path": "data/train.csv"', '"url": "https://example.org/a.csv"')
    Path("dataset.lock").write_text(text)
    with pytest.raises(ConfigurationError, match=r"has 'https://example.org/a.csv'.*only a build compares"):
        load_dataset("org/birds", lock=True, streaming=True)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a.csv").write_text("a\n1\n")
    with pytest.raises(ConfigurationError, match="lock=True is not supported with streaming=True"):
        load_dataset(str(tmp_path / "here"), lock=True, streaming=True)
