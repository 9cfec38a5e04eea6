import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.config import using
from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import MediaError, UntrustedPathError
from datasets_core.features.media.types import Image, Pdf
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.store.source import folder_of, paths_below, paths_of_files

pytest.importorskip("pdfplumber")  # without it the decoder says so before it looks at a path

KIND = Pdf()  # stored alike for all media; decoding fails behind the check of the path, without its package or on its bytes
FEATURES = Features({"file": KIND})
Rows = Callable[[Path, list[str]], Dataset]


def is_opened(dataset: Dataset, row: int) -> bool:
    """Whether the path in a row passes: what the file holds is then no document."""
    try:
        dataset[row]
    except UntrustedPathError as error:
        assert (error.column, error.row) == ("file", row)
        return False
    except (MediaError, ImportError):
        return True
    raise AssertionError("the file is not a document")


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """A file in the folder of a dataset, by its absolute and its relative path, and one outside."""
    (tmp_path / "data").mkdir()
    for place in ("data/in.pdf", "out.pdf"):
        (tmp_path / place).write_bytes(b"no document")
    return [str(tmp_path / "data" / "in.pdf"), "in.pdf", str(tmp_path / "out.pdf"), "../out.pdf"]


def parquet(folder: Path, listed: list[str]) -> str:
    name = str(folder / "data" / "rows.parquet")
    pq.write_table(pa.table({"file": [{"bytes": None, "path": path} for path in listed]}, schema=FEATURES.arrow_schema), name)
    return name


def by_load(folder: Path, listed: list[str]) -> Dataset:
    found: Dataset = load_dataset("parquet", data_files=parquet(folder, listed), split="train", cache_dir=str(folder / "cache"))
    return found


def by_load_in_memory(folder: Path, listed: list[str]) -> Dataset:
    found: Dataset = load_dataset(
        "parquet", data_files=parquet(folder, listed), split="train", cache_dir=str(folder / "cache"), keep_in_memory=True
    )
    return found


def by_folder(folder: Path, listed: list[str]) -> Dataset:
    (folder / "data" / "train.jsonl").write_text("".join(json.dumps({"file": path}) + "\n" for path in listed))
    found: Dataset = load_dataset(str(folder / "data"), split="train", cache_dir=str(folder / "cache"), features=FEATURES)
    return found


def by_file(folder: Path, listed: list[str]) -> Dataset:
    return Dataset.from_file(parquet(folder, listed))


def by_file_in_memory(folder: Path, listed: list[str]) -> Dataset:
    return Dataset.from_file(parquet(folder, listed), in_memory=True)


@pytest.mark.parametrize("rows", [by_load, by_load_in_memory, by_folder, by_file, by_file_in_memory])
def test_rows_of_files_open_what_lies_in_their_folder_only(rows: Rows, tmp_path: Path, paths: list[str]) -> None:
    dataset = rows(tmp_path, paths)
    assert [is_opened(dataset, row) for row in range(4)] == [True, True, False, False]
    with using(media_paths=tmp_path):
        assert [is_opened(dataset, row) for row in range(4)] == [True] * 4
        travelled = pickle.loads(pickle.dumps(dataset))
    assert [is_opened(travelled, row) for row in range(4)] == [True] * 4


@pytest.mark.parametrize(
    "derive",
    [
        lambda d: d.select([0, 2]),
        lambda d: d.select(range(4)).filter(lambda row: True).select([0, 2]),
        lambda d: d.add_column("n", [1, 2, 3, 4]).select([0, 2]),
        lambda d: concatenate_datasets([d, d]).select([4, 6]),
        lambda d: concatenate_datasets([d, Dataset.from_dict({"file": ["x"]}, features=d.features)]).select([0, 2]),
        lambda d: d.rename_column("file", "x").rename_column("x", "file").select([0, 2]).flatten_indices(),
        lambda d: pickle.loads(pickle.dumps(d)).select([0, 2]),
        lambda d: d.cast_column("file", Pdf(decode=False)).cast_column("file", Pdf()).select([0, 2]),
    ],
)
def test_what_is_made_of_rows_opens_no_more_than_they(
    derive: Callable[[Dataset], Dataset], tmp_path: Path, paths: list[str]
) -> None:
    dataset = derive(by_load(tmp_path, paths).cast_column("file", Pdf(decode=False))).cast_column("file", Pdf())
    assert [is_opened(dataset, row) for row in range(2)] == [True, False]


@pytest.mark.parametrize(
    "read",
    [
        lambda d: d[0],
        lambda d: d[:],
        lambda d: d[[0]],
        lambda d: d["file"][0],
        lambda d: list(d["file"]),
        lambda d: list(d.iter(2)),
        lambda d: d.__getitems__([0]),
        lambda d: d.map(lambda row: {"n": str(row["file"])}),
        lambda d: d.map(lambda batch: {"n": [str(x) for x in batch["file"]]}, batched=True),
        lambda d: d.filter(lambda row: row["file"] is None),
        lambda d: d.with_format("numpy")[0],
        lambda d: d.with_format("numpy").map(lambda row: {"n": str(row["file"])}),
        lambda d: d.with_format("pandas")[:],
        lambda d: d.with_transform(lambda rows: {"n": [str(x) for x in rows["file"]]})[0],
        lambda d: d.to_list(),
        lambda d: d.to_dict(),
        lambda d: d.batch(2)[0],
    ],
)
def test_no_way_of_reading_opens_what_may_not_be_opened(read: Callable[[Any], Any], tmp_path: Path, paths: list[str]) -> None:
    pytest.importorskip("PIL")
    dataset: Any = by_load(tmp_path, paths[2:3]).cast_column("file", Image())
    try:
        shown = read(dataset)
    except Exception as error:
        found: BaseException | None = error
        while found is not None and not isinstance(found, UntrustedPathError):
            found = found.__cause__ or found.__context__
        assert found is not None, repr(error)
    else:  # some ways show what is stored
        assert "no document" not in repr(shown) and paths[2] in repr(shown)


def test_rows_of_the_user_open_every_path(tmp_path: Path, paths: list[str]) -> None:
    in_memory = Dataset.from_dict({"file": paths[::2]}, features=FEATURES)
    generated = Dataset.from_generator(
        lambda: ({"file": path} for path in paths[::2]), features=FEATURES, cache_dir=str(tmp_path / "cache")
    )
    for dataset in (in_memory, generated, pickle.loads(pickle.dumps(generated)), generated.select([1, 0])):
        assert is_opened(dataset, 0) and is_opened(dataset, 1)


def test_what_may_not_be_opened_is_not_saved_either(tmp_path: Path, paths: list[str]) -> None:
    dataset = by_load(tmp_path, paths)
    with pytest.raises(UntrustedPathError) as caught:
        dataset.save_to_disk(str(tmp_path / "saved"))
    assert caught.value.column == "file"
    assert not os.path.exists(tmp_path / "saved")
    dataset.select([0]).save_to_disk(str(tmp_path / "saved"))
    assert Dataset.load_from_disk(str(tmp_path / "saved")).data.column("file").to_pylist() == [
        {"bytes": b"no document", "path": "in.pdf"}
    ]


def test_the_root_of_the_disk_and_the_present_folder_are_no_folders_of_a_dataset(tmp_path: Path) -> None:
    assert paths_below(["/", "/data"]).roots == ("/data",)
    assert folder_of("zip://a/b.png::https://x.org/all/b.zip") == "https://x.org/all"
    assert paths_of_files([]).roots is None
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "rows.jsonl").write_text(json.dumps({"file": "/etc/hostname"}) + "\n")
    code = f"""
from datasets_core import BioSequence, Features, load_dataset
rows = load_dataset("json", data_files={str(other / "rows.jsonl")!r}, split="train", cache_dir={str(tmp_path / "cache")!r},
                    features=Features({{"file": BioSequence()}}))
assert rows._media_paths().roots[0] == {str(other)!r}, rows._media_paths()
assert {str(tmp_path)!r} not in rows._media_paths().roots
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_a_feature_of_another_kind_follows_the_same_rule(tmp_path: Path, paths: list[str]) -> None:
    pytest.importorskip("PIL")
    dataset: Any = by_load(tmp_path, paths).cast_column("file", Image())
    assert [is_opened(dataset, row) for row in (0, 2)] == [True, False]
