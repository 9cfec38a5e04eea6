"""A token is for requests to its Hub: no file, log, message, repr, fingerprint or state holds it."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import DatasetsCoreError
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.inspect import get_dataset_infos
from datasets_core.load import load_dataset, load_dataset_builder, load_from_disk, lock_dataset

SCRIPT = """
import datasets

class Birds(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {"path": dl_manager.download("data/birds.txt")})]

    def _generate_examples(self, path):
        with open(path) as lines:
            for number, line in enumerate(lines):
                yield number, {"name": line.strip()}
"""


@pytest.fixture
def place(hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """A folder to work in; what is in it, in the caches and in the log is looked through in the end."""
    hub.repo("org/data", {"train-0.csv": "a\n0\n", "train-1.csv": "a\n1\n"}, private=True)
    monkeypatch.chdir(tmp_path)
    with caplog.at_level(logging.DEBUG):
        yield tmp_path
    assert hub.token not in caplog.text
    secret, files = hub.token.encode(), list(hub.home.rglob("*")) + list(tmp_path.rglob("*"))
    holding = [str(path) for path in files if secret in path.name.encode() or (path.is_file() and secret in path.read_bytes())]
    assert holding == []


@pytest.mark.parametrize("given", ["argument", "environment", "download config"])
def test_a_load_writes_it_nowhere(given: str, hub: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how: dict[str, Any] = {"token": hub.token}
    if given == "environment":
        monkeypatch.setenv("HF_TOKEN", hub.token)
        how = {}
    elif given == "download config":
        how = {"download_config": DownloadConfig(token=hub.token)}
    rows = load_dataset("org/data", split="train", **how)
    assert rows["a"][:] == [0, 1]
    mapped = rows.map(lambda row: {"b": row["a"] + 1}).filter(lambda row: row["a"] >= 0)
    mapped.save_to_disk(place / "saved")
    assert load_from_disk(place / "saved")["b"][:] == [1, 2]
    shown = [repr(rows), repr(rows.info), rows._fingerprint, mapped._fingerprint, repr(get_dataset_infos("org/data", **how))]
    assert all(hub.token not in text for text in shown)
    assert hub.token.encode() not in pickle.dumps(rows)


def test_a_lock_holds_none(hub: Any, place: Path) -> None:
    assert lock_dataset("org/data", token=hub.token).is_written
    assert load_dataset("org/data", split="train", lock=True, token=hub.token)["a"][:] == [0, 1]
    assert json.loads((place / "dataset.lock").read_text())["repository"] == "org/data"


def test_a_stream_shows_none_and_its_pickle_works(hub: Any, place: Path, hub_shapes: Any) -> None:
    hub.repo("org/ranges", {"train.parquet": hub_shapes.parquet({"a": list(range(100))})}, private=True)
    for repo in ("org/data", "org/ranges"):
        stream = load_dataset(repo, split="train", streaming=True, token=hub.token)
        rows = iter(stream)
        assert next(rows) == {"a": 0}
        texts = [repr(stream), str(stream.info), json.dumps(stream.state_dict()), repr(vars(stream))]
        assert all(hub.token not in text for text in texts)
        assert next(iter(pickle.loads(pickle.dumps(stream)))) == {"a": 0}  # which workers need it for


def test_a_generator_of_a_stream_is_known_by_a_hash_without_it(hub: Any, place: Path) -> None:
    stream = load_dataset("org/data", split="train", streaming=True, token=hub.token)
    made = Dataset.from_generator(lambda: iter(stream))
    assert made["a"][:] == [0, 1]
    assert hub.token not in made._fingerprint


def test_a_push_writes_it_nowhere(hub: Any, place: Path) -> None:
    Dataset.from_dict({"a": [1, 2]}).push_to_hub("org/mine", token=hub.token, private=True)
    load_dataset("org/data", split="train", streaming=True, token=hub.token).push_to_hub("org/other", token=hub.token)
    builder = load_dataset_builder("org/data", token=hub.token)
    builder.download_and_prepare()
    builder.push_to_hub("org/third", token=hub.token)
    assert hub.token not in repr(builder)
    sent = b"".join(data for name in ("mine", "other", "third") for data in hub.repos[f"org/{name}"].files("main").values())
    assert hub.token.encode() not in sent


@pytest.mark.parametrize("is_trusted", [True, False], ids=["trusted", "confined"])
def test_a_script_leaves_none_behind(is_trusted: bool, hub: Any, place: Path) -> None:
    hub.repo("org/birds", {"birds.py": SCRIPT, "data/birds.txt": "owl\n"}, private=True)
    how: dict[str, Any] = {"trust_remote_code": True} if is_trusted else {}
    assert load_dataset("org/birds", split="train", token=hub.token, **how)["name"][:] == ["owl"]


@pytest.mark.parametrize("kind", ["info", "tree", "resolve"])
@pytest.mark.parametrize("fault", ["503", "echo", "403"])
def test_errors_show_none(kind: str, fault: str, hub: Any, place: Path) -> None:
    said = hub.token.encode()
    faults = {"503": hub.faults.status(503, said), "echo": hub.faults.wrong(said), "403": hub.faults.status(403, said)}
    hub.fail(faults[fault], kind, times=None)
    with pytest.raises(DatasetsCoreError) as caught:
        load_dataset("org/data", token=hub.token)
    assert hub.token not in f"{caught.value!r} {caught.value} {vars(caught.value)}"
