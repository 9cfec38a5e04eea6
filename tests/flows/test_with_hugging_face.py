"""What we build, Hugging Face `datasets` reads with equal rows and features; and the other way round."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from datasets_core.building.builder import DatasetBuilder
from datasets_core.dataset.dataset import Dataset
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset, load_dataset_builder

pytestmark = pytest.mark.optional("datasets")

_TABLE = Path(__file__).with_name("every_kind.py")

Make = Callable[[Path], DatasetBuilder]

_SCRIPT = """
import datasets_core as datasets
from .every_kind import FORM, rows

class Kinds(datasets.GeneratorBasedBuilder):
    VERSION = "1.2.3"

    def _info(self):
        features = datasets.Features.from_dict(FORM)
        return datasets.DatasetInfo("Every kind.", features=features, license="CC0-1.0")

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {"parts": [0, 1]}), datasets.SplitGenerator("empty", {"parts": []})]

    def _generate_examples(self, parts):
        for part in parts:
            for index, row in enumerate(rows()):
                yield f"{part}-{index}", row
"""

_CSV = "i,f,s,b,t,n,u\n1,1.5,x,True,2020-01-01 10:00:00,,9223372036854775808\n,-0.0,,False,,,1\n-3,1e300,ü,True,2021-12-31,,2\n"
_JSON: list[Any] = [
    {"i": 1, "l": [], "s": None, "d": {"x": None, "y": [{"z": 1}]}, "n": None},
    {"i": None, "l": [0.5, None], "s": "ü€", "d": None, "n": None},
    {"i": 2**60, "l": None, "s": "", "d": {"x": "a", "y": []}, "n": None},
]


def _script(folder: Path) -> DatasetBuilder:
    (folder / "kinds.py").write_text(_SCRIPT)
    shutil.copy(_TABLE, folder / _TABLE.name)
    return load_dataset_builder(str(folder / "kinds.py"), cache_dir=folder / "cache")


def _csv(folder: Path) -> DatasetBuilder:
    (folder / "a.csv").write_text(_CSV, encoding="utf-8")
    return load_dataset_builder("csv", data_files=str(folder / "a.csv"), cache_dir=folder / "cache")


def _csv_with_features(folder: Path) -> DatasetBuilder:
    (folder / "a.csv").write_text("label,when,price\npos,2020-01-02 03:04:05,1.50\nneg,,\n")
    form = {
        "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
        "when": {"dtype": "timestamp[ms]", "_type": "Value"},
        "price": {"dtype": "decimal128(9, 2)", "_type": "Value"},
    }
    features = Features.from_dict(form)
    return load_dataset_builder("csv", data_files=str(folder / "a.csv"), features=features, cache_dir=folder / "cache")


def _json(folder: Path) -> DatasetBuilder:
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _JSON))
    return load_dataset_builder("json", data_files=str(folder / "a.jsonl"), cache_dir=folder / "cache")


def _parquet(folder: Path) -> DatasetBuilder:
    made = _script(folder)
    made.download_and_prepare(output_dir=folder / "made", file_format="parquet")
    return load_dataset_builder("parquet", data_files=str(folder / "made" / "*train*.parquet"), cache_dir=folder / "cache")


_SOURCES: dict[str, Make] = {
    "script": _script,
    "csv": _csv,
    "csv with features": _csv_with_features,
    "json": _json,
    "parquet": _parquet,
}


def _files(dataset: Dataset) -> list[str]:
    return [found["filename"] for found in dataset.cache_files]


_KEPT_AS = {
    "arrow": {},
    "parquet": {"time32[s]": "time32[ms]", "timestamp[s": "timestamp[ms", "date64": "date32"},  # which it does not have
}


def _kept_as(table: Any, file_format: str) -> Any:
    text = json.dumps(table["features"])
    for written, kept in _KEPT_AS[file_format].items():
        text = text.replace(f'"dtype": "{written}', f'"dtype": "{kept}')
    return {"rows": table["rows"], "features": json.loads(text)}


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
@pytest.mark.parametrize("source", list(_SOURCES))
def test_the_peer_reads_the_shards_of_a_build(
    source: str, file_format: str, tmp_path: Path, exchange: ModuleType, peer: Callable[..., Any]
) -> None:
    builder = _SOURCES[source](tmp_path)
    builder.download_and_prepare(output_dir=tmp_path / "built", file_format=file_format, max_shard_size=1)
    ours = builder.as_dataset("train")

    theirs = peer("load", kind=file_format, files=_files(ours))

    assert ours.num_rows > 0
    assert theirs == _kept_as(exchange.described(ours), file_format)


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_the_peer_passes_over_the_shard_of_a_split_without_rows(
    file_format: str, tmp_path: Path, exchange: ModuleType, peer: Callable[..., Any]
) -> None:
    builder = _script(tmp_path)
    builder.download_and_prepare(output_dir=tmp_path / "built", file_format=file_format)
    ours = builder.as_dataset("train")

    (empty,) = (tmp_path / "built").glob("*empty*")
    theirs = peer("load", kind=file_format, files=[str(empty), *_files(ours)])

    assert theirs == _kept_as(exchange.described(ours), file_format)


@pytest.mark.parametrize("typed", [True, False], ids=["with features", "without"])
def test_the_peer_reads_the_rows_of_a_generator(
    typed: bool, tmp_path: Path, every_kind: ModuleType, exchange: ModuleType, peer: Callable[..., Any]
) -> None:
    features, rows = (Features.from_dict(every_kind.FORM), every_kind.rows) if typed else (None, _untyped)
    ours = Dataset.from_generator(rows, features=features, cache_dir=tmp_path)

    theirs = peer("load", kind="arrow", files=_files(ours))

    assert ours.num_rows == len(rows())
    assert theirs == exchange.described(ours)


def _untyped() -> list[Any]:
    return _JSON


def test_the_peer_reads_the_description_of_a_finished_dataset(
    tmp_path: Path, exchange: ModuleType, peer: Callable[..., Any]
) -> None:
    builder = _script(tmp_path)
    builder.download_and_prepare()

    theirs = peer("info", folder=builder.cache_dir)

    splits = {name: [split.num_examples, split.num_bytes, split.shard_lengths] for name, split in builder.info.splits.items()}
    assert splits["train"][0] == 10
    assert theirs == {
        "description": "Every kind.",
        "license": "CC0-1.0",
        "version": "1.2.3",
        "builder_name": "kinds",
        "dataset_name": "kinds",
        "config_name": "default",
        "dataset_size": builder.info.dataset_size,
        "download_checksums": {},
        "features": json.loads(json.dumps(builder.info.features.to_dict())),
        "splits": splits,
    }


# -- theirs, read by us ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, every_kind: ModuleType, peer: Callable[..., Any]) -> Any:
    """What the peer made of the table of every kind: its rows and features, and the files that it wrote."""
    columns = [name for name in every_kind.FORM if name != "uint64"]  # whose large values the peer refuses to encode
    return peer("write", folder=str(tmp_path_factory.mktemp("written")), columns=columns)


def test_both_make_the_same_table_of_the_same_python_values(
    every_kind: ModuleType, exchange: ModuleType, written: Any, tmp_path: Path
) -> None:
    ours = Dataset.from_generator(every_kind.rows, features=Features.from_dict(every_kind.FORM), cache_dir=tmp_path)
    table, _ = written["cache"]
    assert exchange.described(ours.remove_columns("uint64")) == table


@pytest.mark.parametrize("way", ["cache", "cache of parquet", "cache of map", "saved"])
def test_a_file_of_the_peer_opens_as_a_dataset(way: str, exchange: ModuleType, written: Any) -> None:
    table, files = written[way]

    found = [exchange.described(Dataset.from_file(path)) for path in files]

    assert [row for part in found for row in part["rows"]] == table["rows"]
    assert all(part["features"] == table["features"] for part in found)


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("arrow", "cache"),
        ("arrow", "cache of parquet"),
        ("arrow", "cache of map"),
        ("arrow", "saved"),
        ("parquet", "parquet"),
    ],
)
def test_files_of_the_peer_load_as_data_files(kind: str, way: str, exchange: ModuleType, written: Any, tmp_path: Path) -> None:
    table, files = written[way]
    ours = load_dataset(kind, data_files=files, split="train", cache_dir=tmp_path)
    assert exchange.described(ours) == table
