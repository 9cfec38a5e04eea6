"""Croissant there and back: what the library describes it reads, from files, URLs and the Hub; mlcroissant agrees."""

import functools
import hashlib
import http.server
import io
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.load import load_dataset, load_dataset_builder

EVERY_KIND = Features(
    {
        "text": Value("string"),
        "größe / x": Value("float32"),
        "label": ClassLabel(names=["neg", "pos"]),
        "image": Image(),
        "struct": {"x y": Value("int32"), "inner": {"z": List(Value("int8"))}},
        "talk": List({"who": Value("large_string")}),
        "matrix": Array2D((2, 2), "int16"),
        "at": Value("timestamp[ns, tz=UTC]"),
        "bytes": Value("binary"),
        "price": Value("decimal128(10, 2)"),
        "split": Value("string"),
        "numbers": List(List(Value("uint8")), length=1),
    }
)


def _png() -> bytes:
    from PIL import Image as Pillow

    buffer = io.BytesIO()
    Pillow.new("RGB", (2, 3)).save(buffer, "png")
    return buffer.getvalue()


def _rows(count: int) -> Dataset:
    row = {
        "text": 'a "quoted"\nüber',
        "größe / x": 1.5,
        "label": 1,
        "image": {"bytes": _png(), "path": "a.png"},
        "struct": {"x y": 1, "inner": {"z": [1, 2]}},
        "talk": [{"who": "me"}, {"who": None}],
        "matrix": [[1, 2], [3, 4]],
        "at": datetime(2020, 1, 2, tzinfo=UTC),
        "bytes": b"\xff\x00",
        "price": Decimal("1.50"),
        "split": "x",
        "numbers": [[1, 2]],
    }
    empty = {**dict.fromkeys(row), "matrix": row["matrix"]}
    return Dataset.from_list([{**row, "text": str(number)} for number in range(count)] + [empty], features=EVERY_KIND)


def _stored(dataset: Dataset) -> list[Any]:
    """The rows, pictures as they are stored."""
    found: list[Any] = (
        dataset.cast_column("image", Image(decode=False)).to_list() if "image" in dataset.features else dataset.to_list()
    )
    return found


def _described(info: Any, folder: Path) -> str:
    path = folder / "croissant.json"
    path.write_text(json.dumps(info.to_croissant(), allow_nan=False), encoding="utf-8")
    return str(path)


def _same(found: Any, wanted: DatasetDict) -> None:
    assert list(found) == list(wanted)
    for split, rows in wanted.items():
        assert found[split].features == rows.features
        assert _stored(found[split]) == _stored(rows)


@pytest.mark.parametrize("names", [("train", "test"), ("train",), ("a.x", "b-y")], ids=["two", "one", "odd"])
def test_parquet_files_come_back_as_they_were(tmp_path: Path, names: tuple[str, ...]) -> None:
    files = {}
    for number, split in enumerate(names):
        files[split] = str(tmp_path / f"{split}-{number:05d}.parquet")
        _rows(number + 2).to_parquet(files[split])
    wanted = load_dataset("parquet", data_files=files, cache_dir=str(tmp_path / "cache"))
    path = _described(wanted[names[0]].info, tmp_path)
    _same(load_dataset("croissant", data_files=path, cache_dir=str(tmp_path / "other")), wanted)


@pytest.mark.parametrize(
    ("path", "options", "contents"),
    [
        ("csv", {}, {"train.csv": "a,b c\n1,x\n2,\n", "test.csv": "a,b c\n3,007\n"}),
        ("csv", {}, {"train.csv": "a\n1\n", "val.csv": "a\n2\n"}),
        ("csv", {"sep": "\t"}, {"train.tsv": "a\tb\n1\tx\n"}),
        ("csv", {"sep": ";"}, {"train.csv": "a;b\n1;x\n"}),
        ("json", {}, {"train.jsonl": '{"a": 1, "s": {"x": [1]}}\n{"s": null}\n', "test.jsonl": '{"a": 2}\n'}),
        ("json", {}, {"train.json": '[{"a": 1, "s": {"x y": "2020-01-02, or so"}}, {"a": 2}]'}),
        ("text", {}, {"train.txt": "one\ntwo\n", "test.txt": "three\n"}),
    ],
    ids=["csv", "renamed", "tsv", "semicolons", "jsonl", "json", "text"],
)
def test_files_of_text_come_back_as_they_were(tmp_path: Path, path: str, options: Any, contents: dict[str, str]) -> None:
    files = {}
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        files[{"val": "validation"}.get(Path(name).stem, Path(name).stem)] = str(tmp_path / name)
    wanted = load_dataset(path, data_files=files, cache_dir=str(tmp_path / "cache"), **options)
    told = wanted["train"].info.to_croissant()
    beside = tmp_path / told["distribution"][0]["contentUrl"]
    folder = tmp_path if beside.exists() else Path(wanted["train"].cache_files[0]["filename"]).parent
    _same(
        load_dataset("croissant", data_files=_described(wanted["train"].info, folder), cache_dir=str(tmp_path / "other")),
        wanted,
    )


def test_a_gzipped_table_comes_back_as_it_was(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,x\n"))
    wanted = load_dataset("csv", data_files=str(tmp_path / "a.csv.gz"), cache_dir=str(tmp_path / "cache"))
    _same(
        load_dataset("croissant", data_files=_described(wanted["train"].info, tmp_path), cache_dir=str(tmp_path / "c")), wanted
    )


# -- at URLs -----------------------------------------------------------------------------------------------------------


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server of a folder: its address, and the folder."""
    folder = tmp_path / "site"
    folder.mkdir()
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


def test_a_description_at_a_url_names_files_beside_it_and_elsewhere(site: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = site
    files = {}
    for split in ("train", "test"):
        (folder / f"{split} set.csv").write_text(f"a,b\n1,{split}\n")
        files[split] = str(folder / f"{split} set.csv")
    wanted = load_dataset("csv", data_files=files, cache_dir=str(tmp_path / "cache"))
    _described(wanted["train"].info, folder)
    _same(load_dataset("croissant", data_files=f"{url}/croissant.json", cache_dir=str(tmp_path / "other")), wanted)
    remote = {split: f"{url}/{split}%20set.csv" for split in files}
    of_urls = load_dataset("csv", data_files=remote, cache_dir=str(tmp_path / "more"))
    told = of_urls["train"].info.to_croissant()
    assert {node["contentUrl"] for node in told["distribution"] if "contentUrl" in node} == set(remote.values())
    path = _described(of_urls["train"].info, tmp_path)
    _same(load_dataset("croissant", data_files=path, cache_dir=str(tmp_path / "again")), wanted)


# -- on the Hub --------------------------------------------------------------------------------------------------------


def _parquet(count: int) -> bytes:
    buffer = io.BytesIO()
    Dataset.from_dict({"n": list(range(count)), "t": [f"t{number}" for number in range(count)]}).to_parquet(buffer)
    return buffer.getvalue()


def test_a_dataset_of_the_hub_is_told_by_its_files_at_their_commit(hub: Any, tmp_path: Path) -> None:
    files = {f"data/{split}-00000-of-00001.parquet": _parquet(size) for split, size in (("train", 3), ("test", 2))}
    hub.repo("org/name", files)
    wanted = load_dataset("org/name", cache_dir=str(tmp_path / "cache"))
    told = wanted["train"].info.to_croissant()
    objects = {node["name"]: node for node in told["distribution"] if node["@type"] == "cr:FileObject"}
    assert {name: node["sha256"] for name, node in objects.items()} == {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items()
    }
    assert all(node["contentUrl"].startswith(f"{hub.url}/datasets/org/name/resolve/") for node in objects.values())
    assert (told["url"], told["creator"]["name"]) == (f"{hub.url}/datasets/org/name", "org")
    _same(
        load_dataset("croissant", data_files=_described(wanted["train"].info, tmp_path), cache_dir=str(tmp_path / "c")), wanted
    )


def test_small_files_of_the_hub_have_their_hashes_too(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/name", {"train.csv": "a\n1\n", "README.md": "---\nlicense: mit\n---\n"})
    info = load_dataset("org/name", split="train", cache_dir=str(tmp_path / "cache")).info
    (file,) = info.to_croissant()["distribution"]
    assert file["sha256"] == hashlib.sha256(b"a\n1\n").hexdigest()


def test_nothing_is_fetched_to_tell_of_large_files(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/name", {"data/train-00000-of-00001.parquet": _parquet(3)})
    info = load_dataset_builder("org/name", cache_dir=str(tmp_path / "cache")).info
    told = info.to_croissant()
    assert told["distribution"][0]["contentUrl"].startswith(hub.url)
    assert not [request for request in hub.requests if "/resolve/" in str(request)]


def test_what_the_hub_itself_describes_is_read(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/name", {f"default/{split}/0000.parquet": _parquet(size) for split, size in (("train", 3), ("test", 2))})
    source = {"fileSet": {"@id": "files"}}
    told = {
        "@context": {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/"},
        "@type": "sc:Dataset",
        "name": "name",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "repo",
                "name": "repo",
                "contentUrl": f"{hub.url}/datasets/org/name/tree/main",
                "encodingFormat": "git+https",
                "sha256": "https://github.com/mlcommons/croissant/issues/80",
            },
            {
                "@type": "cr:FileSet",
                "@id": "files",
                "containedIn": {"@id": "repo"},
                "encodingFormat": "application/x-parquet",
                "includes": "default/*/*.parquet",
            },
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "default_splits",
                "dataType": "cr:Split",
                "field": [{"@type": "cr:Field", "@id": "default_splits/split_name", "dataType": "sc:Text"}],
                "data": [{"default_splits/split_name": "train"}, {"default_splits/split_name": "test"}],
            },
            {
                "@type": "cr:RecordSet",
                "@id": "default",
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": "default/split",
                        "dataType": "sc:Text",
                        "source": {
                            **source,
                            "extract": {"fileProperty": "fullpath"},
                            "transform": {"regex": "default/(?:partial-)?(train|test)/.+parquet$"},
                        },
                        "references": {"field": {"@id": "default_splits/split_name"}},
                    },
                    {
                        "@type": "cr:Field",
                        "@id": "default/n",
                        "dataType": "cr:Int64",
                        "source": {**source, "extract": {"column": "n"}},
                    },
                ],
            },
        ],
    }
    (tmp_path / "croissant.json").write_text(json.dumps(told))
    found = load_dataset("croissant", data_files=str(tmp_path / "croissant.json"), cache_dir=str(tmp_path / "cache"))
    assert {split: rows["n"][:] for split, rows in found.items()} == {"train": [0, 1, 2], "test": [0, 1]}


def test_a_description_in_a_repository_names_files_beside_it(hub: Any, tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("a\n1\n")
    wanted = load_dataset("csv", data_files=str(tmp_path / "train.csv"), cache_dir=str(tmp_path / "cache"))
    text = json.dumps(wanted["train"].info.to_croissant())
    hub.repo("org/name", {"sub/train.csv": "a\n1\n", "sub/croissant.json": text})
    url = "hf://datasets/org/name/sub/croissant.json"
    _same(load_dataset("croissant", data_files=url, cache_dir=str(tmp_path / "other")), wanted)


# -- mlcroissant -------------------------------------------------------------------------------------------------------


def _by_mlcroissant(path: str) -> Any:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=path)
    assert not dataset.metadata.ctx.issues.errors
    return dataset


@pytest.mark.optional("mlcroissant")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_mlcroissant_reads_the_same_rows(tmp_path: Path, kind: str) -> None:
    rows = Dataset.from_dict({"n": [1, 2, 3], "größe / x": ["a", "b,\n", "c"], "f": [1.5, -2.0, 0.25]})
    for split, part in (("train", rows), ("test", rows.select([2, 0]))):
        path = tmp_path / f"{split}.{kind}"
        if kind == "csv":
            part.to_csv(path)
        elif kind == "parquet":
            part.to_parquet(path)
        else:
            part.to_json(path, lines=kind == "jsonl")
    builder = {"jsonl": "json"}.get(kind, kind)
    files = {split: str(tmp_path / f"{split}.{kind}") for split in ("train", "test")}
    ours = load_dataset(builder, data_files=files, cache_dir=str(tmp_path / "cache"))
    found = _by_mlcroissant(_described(ours["train"].info, tmp_path)).records("default")
    theirs = [
        {key.rpartition("/")[2]: value.decode() if isinstance(value, bytes) else value for key, value in record.items()}
        for record in found
    ]
    wanted = [
        {"split": split, "n": row["n"], "gr%C3%B6%C3%9Fe%20%2F%20x": row["größe / x"], "f": row["f"]}
        for split in ("test", "train")
        for row in ours[split]
    ]
    assert theirs == wanted


@pytest.mark.optional("mlcroissant")
@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_finds_every_kind_of_description_valid(tmp_path: Path) -> None:
    rows = _rows(2)
    rows.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.txt").write_text("one\n")
    cache = str(tmp_path / "cache")
    infos = [
        rows.info,
        load_dataset("parquet", data_files=str(tmp_path / "a.parquet"), split="train", cache_dir=cache).info,
        load_dataset("text", data_files=str(tmp_path / "a.txt"), split="train", cache_dir=cache).info,
        load_dataset_builder("csv", data_files=str(tmp_path / "a.txt"), cache_dir=cache).info,
    ]
    for info in infos:
        _by_mlcroissant(_described(info, tmp_path))
