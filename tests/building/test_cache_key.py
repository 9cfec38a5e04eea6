"""What tells the files of a dataset is a part of its info that is neither compared nor stored."""

import copy
import hashlib
import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.cache_key import identity_of, sources_of, stale_source
from datasets_core.building.hooks import SplitGenerator
from datasets_core.config import using
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnknownSplitError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.manifest import Manifest, SourceRecord


def _built(tmp_path: Path) -> DatasetInfo:
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    return load_dataset("csv", data_files=str(tmp_path / "a.csv"), split="train", cache_dir=str(tmp_path / "cache")).info


def test_an_info_with_files_is_stored_and_compared_as_before(tmp_path: Path) -> None:
    info = _built(tmp_path)
    plain = DatasetInfo.from_dict(info.to_dict())
    assert info == plain
    assert "origin" not in repr(info)
    assert not [key for key in info.to_dict() if "origin" in key]


def test_copies_and_pickles_of_an_info_know_the_files(tmp_path: Path) -> None:
    info = _built(tmp_path)
    for other in (info.copy(), copy.deepcopy(info), pickle.loads(pickle.dumps(info)), DatasetInfo().update(info)):
        assert other.to_croissant()["distribution"] == info.to_croissant()["distribution"]


def test_a_builder_knows_its_files_before_it_is_built(tmp_path: Path) -> None:
    from datasets_core.load import load_dataset_builder

    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    builder = load_dataset_builder("csv", data_files=str(tmp_path / "a.csv"), cache_dir=str(tmp_path / "cache"))
    (file,) = builder.info.to_croissant()["distribution"]
    assert file["contentUrl"] == "a.csv"


# The record of sources, and what has changed since.


def file(path, text="abc"):
    path.write_text(text)
    return str(path)


def test_data_files_downloads_and_files_among_the_arguments_are_recorded(tmp_path):
    local = file(tmp_path / "a.txt")
    data_files = DataFilesDict(train=DataFilesList(["s3://b/x"], [("s3://b/x", 9, "etag")]))
    downloads = {"http://a/z": {"num_bytes": None, "checksum": "ff"}}

    found = sources_of(data_files, [{"deep": [{"path": local}], "text": "no file"}], downloads, hashed=True)

    assert [(record.path, record.size, record.sha256 is not None) for record in found] == [
        ("s3://b/x", 9, False),
        ("http://a/z", -1, True),
        (local, 3, True),
    ]


def test_secrets_of_urls_are_not_recorded():
    url = "https://me:pw@host/a.csv?token=abc"
    data_files = DataFilesDict(train=DataFilesList([url], [(url, 9, "etag")]))
    downloads = {"https://***@host/a.csv?token=***": {"num_bytes": 9, "checksum": "ff"}}

    (found,) = sources_of(data_files, [], downloads, hashed=False)

    assert found == SourceRecord("https://***@host/a.csv?token=***", 9, "etag", "ff")


def test_a_download_is_recorded_once_wherever_it_is_kept(tmp_path):
    (tmp_path / "cache").mkdir()
    kept = file(tmp_path / "cache" / "0123")
    downloads = {"https://host/a.csv": {"num_bytes": 3, "checksum": None}}

    found = sources_of(None, [{"files": [kept]}], downloads, hashed=True, caches=(str(tmp_path / "cache"),))

    assert found == (SourceRecord("https://host/a.csv", 3, "", None),)


def test_a_changed_local_source_is_stale_and_a_missing_one_is_not(tmp_path):
    path = file(tmp_path / "a.txt")
    (record,) = sources_of(None, [{"path": path}], {}, hashed=False)
    manifest = Manifest(
        DatasetInfo(), sources=(record, SourceRecord("/no/such/file", 3, "7"), SourceRecord("http://a", 3, "e"))
    )

    assert stale_source(manifest, None) is None
    file(tmp_path / "a.txt", "abcd")
    assert stale_source(manifest, None) == path
    assert stale_source(manifest, DataFilesDict(train=DataFilesList([path]))) is None


def test_the_identity_changes_with_a_local_file(tmp_path):
    path = file(tmp_path / "a.txt")
    before = identity_of([{"path": path}])

    os.utime(path, ns=(1, 1))

    assert None not in {before, identity_of([{"path": path}])}
    assert before != identity_of([{"path": path}])


def test_what_cannot_be_hashed_has_no_identity():
    assert identity_of([threading.Lock()]) is None


def test_local_files_that_were_asked_for_are_looked_at(tmp_path):
    archive = file(tmp_path / "a.zip")

    found = sources_of(None, [], {archive: {"num_bytes": 3, "checksum": "ff"}}, hashed=False, local_paths={archive})

    assert found == (SourceRecord(archive, 3, str(os.stat(archive).st_mtime_ns), "ff"),)


def test_files_that_do_not_belong_are_not_looked_into(tmp_path):
    mine, other = tmp_path / "mine.txt", tmp_path / "other.txt"
    mine.write_text("1")
    other.write_text("2")

    found = sources_of(None, [{"files": [str(mine), str(other)]}], {}, hashed=True, belongs=lambda path: path == str(mine))

    assert [record.path for record in found] == [str(mine)]


def test_a_file_of_the_hub_is_recorded_once_and_without_its_commit(tmp_path):
    url = f"hf://datasets/org/set@{'a' * 40}/a.csv"
    kept = file(tmp_path / "a.csv")
    data_files = DataFilesDict(train=DataFilesList([url], [(url, 3, "etag")]))
    with using(hub_cache_dir=tmp_path):
        found = sources_of(data_files, [{"file": kept}], {url: {"num_bytes": 3, "checksum": "ff"}}, hashed=True)

    assert found == (SourceRecord("hf://datasets/org/set/a.csv", 3, "etag", "ff"),)


# The files of a dataset: data files where their columns are the rows', else the shards that were made of them.


def _told(tmp_path: Path, path: str, files: Any, **options: Any) -> dict[str, Any]:
    found = load_dataset(path, data_files=files, cache_dir=str(tmp_path / "cache"), **options)
    return next(iter(found.values())).info.to_croissant()


def _urls(told: dict[str, Any]) -> list[str]:
    return [node["contentUrl"] for node in told["distribution"] if node["@type"] == "cr:FileObject"]


def _write(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_data_files_are_told_with_hash_size_and_split(tmp_path: Path) -> None:
    files = {split: _write(tmp_path, f"data/{split}.csv", f"a,b\n1,{split}\n") for split in ("train", "test")}
    told = _told(tmp_path, "csv", files)
    hashes = {node["contentUrl"]: (node["sha256"], node["contentSize"]) for node in told["distribution"] if "sha256" in node}
    assert hashes == {
        os.path.basename(path): (hashlib.sha256(Path(path).read_bytes()).hexdigest(), f"{os.path.getsize(path)} B")
        for path in files.values()
    }
    assert [field["name"] for field in told["recordSet"][-1]["field"]] == ["split", "a", "b"]


def test_paths_start_at_the_folder_that_was_loaded(tmp_path: Path) -> None:
    for split in ("train", "test"):
        _write(tmp_path, f"birds/data/{split}.csv", "a\n1\n")
    info = load_dataset(str(tmp_path / "birds"), cache_dir=str(tmp_path / "cache"))["train"].info
    assert sorted(_urls(info.to_croissant())) == ["data/test.csv", "data/train.csv"]
    assert sorted(_urls(info.to_croissant(tmp_path))) == ["birds/data/test.csv", "birds/data/train.csv"]
    assert sorted(_urls(info.to_croissant(tmp_path / "elsewhere"))) == ["data/test.csv", "data/train.csv"]


@pytest.mark.parametrize(
    ("path", "name", "text", "kind"),
    [
        ("csv", "a.csv", "a\n1\n", "text/csv"),
        ("csv", "a.tsv", "a\tb\n1\t2\n", "text/tab-separated-values"),
        ("json", "a.jsonl", '{"a": 1}\n', "application/jsonlines"),
        ("json", "a.json", '{"a": 1}\n{"a": 2}\n', "application/jsonlines"),
        ("json", "a.json", '[{"a": 1}]', "application/json"),
    ],
    ids=["csv", "tsv", "jsonl", "lines", "array"],
)
def test_tables_have_the_media_type_of_what_is_in_them(tmp_path: Path, path: str, name: str, text: str, kind: str) -> None:
    options = {"sep": "\t"} if name.endswith("tsv") else {}
    told = _told(tmp_path, path, _write(tmp_path, name, text), **options)
    assert [node["encodingFormat"] for node in told["distribution"]] == [kind]


@pytest.mark.parametrize(
    ("path", "name", "text", "options"),
    [
        ("text", "a.txt", "one\n", {}),
        ("csv", "a.csv", "a;b\n1;2\n", {"sep": ";"}),
        ("csv", "a.csv", "x\na,b\n1,2\n", {"skiprows": 1}),
        ("json", "a.json", '{"rows": [{"a": 1}]}', {"field": "rows"}),
        ("csv", "a.csv", "a\nneg\n", {"features": Features({"a": ClassLabel(names=["neg", "pos"])})}),
    ],
    ids=["text", "separator", "skipped", "field", "classes"],
)
def test_files_whose_columns_are_not_those_of_the_rows_give_way_to_the_shards(
    tmp_path: Path, path: str, name: str, text: str, options: dict[str, Any]
) -> None:
    told = _told(tmp_path, path, _write(tmp_path, name, text), **options)
    (shard,) = told["distribution"]
    assert shard["encodingFormat"] == "application/vnd.apache.arrow.file"
    (place,) = (tmp_path / "cache").rglob(shard["contentUrl"])
    assert shard["sha256"] == hashlib.sha256(place.read_bytes()).hexdigest()


def test_a_script_is_told_by_its_shards_and_its_downloads(tmp_path: Path) -> None:
    source = _write(tmp_path, "numbers.txt", "1 2 3")

    class Numbers(GeneratorBasedBuilder):
        def _info(self) -> DatasetInfo:
            return DatasetInfo(features=Features({"n": Value("int8")}), license="mit")

        def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
            return [SplitGenerator("train", {"path": dl_manager.download(f"file://{source}")})]

        def _generate_examples(self, path: str) -> Any:
            yield from enumerate({"n": int(word)} for word in Path(path).read_text().split())

    builder = Numbers(cache_dir=str(tmp_path / "cache"))
    builder.download_and_prepare()
    told = builder.info.to_croissant()
    assert told["license"] == "mit"
    assert told["distribution"][0]["contentUrl"].endswith(".arrow")
    assert told == builder.as_dataset("train").info.to_croissant()


def test_splits_can_be_chosen_and_must_be_there(tmp_path: Path) -> None:
    files = {split: _write(tmp_path, f"{split}.csv", "a\n1\n") for split in ("train", "test")}
    info = load_dataset("csv", data_files=files, cache_dir=str(tmp_path / "cache"))["train"].info
    assert _urls(info.to_croissant(splits=["test"])) == ["test.csv"]
    with pytest.raises(UnknownSplitError) as caught:
        info.to_croissant(splits=["dev"])
    assert caught.value.name == "dev"


def test_a_mapped_dataset_is_told_as_its_files_are(tmp_path: Path) -> None:
    found = load_dataset(
        "csv", data_files=_write(tmp_path, "a.csv", "a\n1\n"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert found.map(lambda row: {"b": 1}, keep_in_memory=True).info.to_croissant() == found.info.to_croissant()


def test_the_description_of_every_dataset_is_json(tmp_path: Path) -> None:
    rows = Dataset.from_dict({"a": [1], "b": [["x"]]})
    path = str(tmp_path / "a.parquet")
    rows.to_parquet(path)
    for info in (rows.info, Dataset.from_parquet(path, cache_dir=str(tmp_path / "cache")).info):
        json.dumps(info.to_croissant(), allow_nan=False)


def test_files_that_are_no_tables_have_the_media_type_of_their_names(tmp_path: Path) -> None:
    from datasets_core.load import load_dataset_builder

    (tmp_path / "a.png").write_bytes(b"[]")
    builder = load_dataset_builder("imagefolder", data_files=str(tmp_path / "a.png"), cache_dir=str(tmp_path / "cache"))
    assert builder.info.to_croissant()["distribution"][0]["encodingFormat"] == "image/png"
