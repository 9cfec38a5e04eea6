"""The walks of the house, from a reference to rows: what is read, what then stands on disk, and what its manifest says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.load import load_dataset

_SCRIPT = """
import datasets_core as datasets

class Words(datasets.GeneratorBasedBuilder):
    VERSION = "1.2.0"

    def _info(self):
        kind = datasets.ClassLabel(names=["even", "odd"])
        features = {"id": datasets.Value("int32"), "word": datasets.Value("string"), "kind": kind}
        return datasets.DatasetInfo(description="Words.", features=datasets.Features(features))

    def _split_generators(self, dl_manager):
        parts = [(name, dl_manager.download(f"{name}.txt")) for name in ("one", "two", "three")]
        return [
            datasets.SplitGenerator(datasets.Split.TRAIN, {"parts": parts}),
            datasets.SplitGenerator(datasets.Split.TEST, {"parts": parts[:1]}),
        ]

    def _generate_examples(self, parts):
        for name, file in parts:
            with open(file) as lines:
                for number, line in enumerate(lines):
                    yield f"{name}-{number}", {"id": number, "word": line.strip(), "kind": number % 2}
"""


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """A folder of CSV: three files of train and one of test."""
    folder = tmp_path / "reviews"
    folder.mkdir()
    for index in range(3):
        rows = (f"{number},review {number},{number / 4}" for number in range(20 * index, 20 * index + 20))
        (folder / f"train-{index:05d}-of-00003.csv").write_text("\n".join(["id,text,stars", *rows, ""]))
    (folder / "test.csv").write_text("id,text,stars\n60,last,\n")
    return folder


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A script and the files that it reads."""
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "words.py").write_text(_SCRIPT)
    for start, name in enumerate(("one", "two", "three")):
        (folder / f"{name}.txt").write_text("".join(f"{name} {number}\n" for number in range(100 + start)))
    return folder / "words.py"


def _finished(cache: Path) -> Path:
    (manifest,) = cache.rglob("dataset_info.json")
    return manifest.parent


def _manifest(folder: Path) -> Any:
    return json.loads((folder / "dataset_info.json").read_text())


def _shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.arrow")}


def test_a_folder_of_csv_gives_the_rows_of_a_slice(reviews: Path, tmp_path: Path) -> None:
    rows = load_dataset(str(reviews), split="train[:10%]", cache_dir=tmp_path / "cache")

    assert list(rows) == [{"id": number, "text": f"review {number}", "stars": number / 4} for number in range(6)]
    assert str(rows.split) == "train[:10%]"


def test_a_folder_of_csv_becomes_one_finished_folder(reviews: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    load_dataset(str(reviews), split="train[:10%]", cache_dir=cache)

    folder = _finished(cache)
    dataset, config, version = folder.relative_to(cache).parts[:3]
    assert (dataset, config.partition("-")[0], version) == ("reviews", "default", "0.0.0")
    assert sorted(path.name for path in folder.iterdir()) == [
        "dataset_info.json",
        "reviews-test-00000-of-00001.arrow",
        "reviews-train-00000-of-00001.arrow",
    ]
    beside = {path for path in cache.rglob("*") if path.is_file() and path.parent != folder}
    assert beside == {folder.with_name(f"{folder.name}.lock")}


def test_the_manifest_of_a_folder_of_csv_is_true(reviews: Path, tmp_path: Path) -> None:
    load_dataset(str(reviews), split="train[:10%]", cache_dir=tmp_path / "cache")

    folder = _finished(tmp_path / "cache")
    found, shards = _manifest(folder), _shards(folder)
    assert {name: split["num_examples"] for name, split in found["splits"].items()} == {"train": 60, "test": 1}
    recorded = {shard["name"]: shard for shard in found["manifest"]["shards"]}
    assert {name: (shard["size"], shard["sha256"]) for name, shard in recorded.items()} == {
        name: (len(content), hashlib.sha256(content).hexdigest()) for name, content in shards.items()
    }
    assert {name: shard["rows"] for name, shard in recorded.items()} == {
        name: pa.ipc.open_file(content).read_all().num_rows for name, content in shards.items()
    }
    assert {source["path"]: source["size"] for source in found["manifest"]["sources"]} == {
        str(path): path.stat().st_size for path in reviews.iterdir()
    }
    assert found["manifest"]["verification"] == "basic_checks"
    assert found["features"]["stars"] == {"dtype": "float64", "_type": "Value"}


@pytest.mark.parametrize("num_proc", [None, 2])
def test_a_script_gives_its_rows(words: Path, tmp_path: Path, num_proc: int | None) -> None:
    rows = load_dataset(str(words), cache_dir=tmp_path / "cache", num_proc=num_proc)

    assert {name: split.num_rows for name, split in rows.items()} == {"train": 303, "test": 100}
    assert rows["train"]["word"][:] == [
        f"{name} {number}" for start, name in enumerate(("one", "two", "three")) for number in range(100 + start)
    ]
    assert rows["test"][3] == {"id": 3, "word": "one 3", "kind": 1}


def test_the_bytes_of_a_script_build_do_not_depend_on_the_workers(words: Path, tmp_path: Path) -> None:
    load_dataset(str(words), cache_dir=tmp_path / "serial")
    load_dataset(str(words), cache_dir=tmp_path / "parallel", num_proc=2)

    serial, parallel = _finished(tmp_path / "serial"), _finished(tmp_path / "parallel")
    assert serial.relative_to(tmp_path / "serial") == parallel.relative_to(tmp_path / "parallel")
    assert len(_shards(serial)) == 4
    assert _shards(parallel) == _shards(serial)
    ours, theirs = _manifest(serial), _manifest(parallel)
    for manifest in (ours, theirs):
        manifest["manifest"].pop("created")
    assert ours == theirs


def test_the_manifest_of_a_script_names_what_it_read(words: Path, tmp_path: Path) -> None:
    load_dataset(str(words), cache_dir=tmp_path / "cache", num_proc=2)

    folder = _finished(tmp_path / "cache")
    found = _manifest(folder)
    assert folder.relative_to(tmp_path / "cache").parts[:3] == ("words", "default", "1.2.0")
    assert {Path(source["path"]).name for source in found["manifest"]["sources"]} == {"one.txt", "two.txt", "three.txt"}
    assert [(shard["split"], shard["rows"]) for shard in found["manifest"]["shards"]] == [
        ("train", 100),
        ("train", 101),
        ("train", 102),
        ("test", 100),
    ]
    assert [path.name for path in folder.parent.iterdir() if path != folder] == [f"{folder.name}.lock"]
