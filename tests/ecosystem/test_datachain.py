"""datachain: chains of datasets, streams and dicts of splits, and chains as datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("datachain.lib.hf")
datasets: Any = pytest.importorskip("datasets")
pillow = pytest.importorskip("PIL.Image")

import datachain  # type: ignore[import-not-found]  # noqa: E402


@pytest.fixture(autouse=True)
def _own_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATACHAIN_ROOT_DIR", str(tmp_path / "catalog"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def session(tmp_path: Path) -> Any:
    from datachain.query.session import Session  # type: ignore[import-not-found]

    with Session("checks", in_memory=True) as opened:
        yield opened


def rows() -> Any:
    features = datasets.Features(
        {
            "Text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["no", "yes"]),
            "scores": datasets.List(datasets.Value("float32")),
            "grid": datasets.Array2D((2, 2), "int32"),
            "person": {"name": datasets.Value("string"), "age": datasets.Value("int8")},
        }
    )
    made = [
        {"Text": f"row {i}", "label": i % 2, "scores": [i / 2], "grid": [[i, 1], [2, 3]], "person": {"name": "A", "age": i}}
        for i in range(6)
    ]
    return datasets.Dataset.from_list(made, features=features)


@pytest.mark.parametrize("form", ["dataset", "stream"])
def test_rows_of_all_kinds(session: Any, form: str) -> None:
    dataset = rows() if form == "dataset" else rows().to_iterable_dataset()
    chain = datachain.read_hf(dataset, session=session).order_by("text")
    assert chain.to_values("text") == [f"row {i}" for i in range(6)]
    assert chain.to_values("label.string") == ["no", "yes"] * 3
    assert chain.to_values("person.age") == list(range(6))
    assert chain.to_values("scores") == [[i / 2] for i in range(6)]


def test_splits_and_limits(session: Any) -> None:
    splits = datasets.DatasetDict({"train": rows(), "test": rows().select(range(2))})
    chain = datachain.read_hf(splits, session=session)
    assert sorted(chain.to_values("split")) == ["test"] * 2 + ["train"] * 6
    assert datachain.read_hf(splits, session=session, limit=1).count() == 2


@pytest.mark.parametrize("streaming", [False, True])
def test_files(session: Any, tmp_path: Path, streaming: bool) -> None:
    (tmp_path / "a.csv").write_text("text,size\nx,1\ny,2\n")
    chain = datachain.read_hf("csv", data_files=str(tmp_path / "a.csv"), split="train", streaming=streaming, session=session)
    assert sorted(zip(chain.to_values("text"), chain.to_values("size"), strict=True)) == [("x", 1), ("y", 2)]


def test_pictures(session: Any) -> None:
    pictures = [pillow.fromarray(np.full((4, 4, 3), i, "uint8")) for i in range(3)]
    dataset = datasets.Dataset.from_dict({"image": pictures}).cast_column("image", datasets.Image())
    found = datachain.read_hf(dataset, session=session).to_values("image")
    assert sorted(each.read().getpixel((0, 0))[0] for each in found) == [0, 1, 2]


def test_features_of_a_parquet_file(session: Any, tmp_path: Path) -> None:
    """datachain reads the features that the metadata of the file hold."""
    rows().remove_columns(["grid"]).to_parquet(str(tmp_path / "a.parquet"))
    chain = datachain.read_parquet(f"file://{tmp_path}/a.parquet", session=session)
    assert sorted(chain.to_values("text")) == [f"row {i}" for i in range(6)]
    datasets_made = datasets.Dataset.from_pandas(chain.to_pandas(flatten=True), preserve_index=False)
    assert len(datasets_made) == 6
