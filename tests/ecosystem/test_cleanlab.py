"""cleanlab: `Datalab` over datasets, in memory and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cleanlab.datalab.datalab")
datasets: Any = pytest.importorskip("datasets")

from cleanlab import Datalab  # type: ignore[import-not-found]  # noqa: E402


@pytest.fixture
def points() -> tuple[Any, list[int]]:
    """Two clouds of points, of which one is in the wrong class and one twice."""
    random = np.random.default_rng(0)
    vectors = np.concatenate([random.normal(0, 0.3, (25, 2)), random.normal(5, 0.3, (25, 2))])
    vectors[7] = vectors[3]
    labels = [0] * 25 + [1] * 25
    labels[10] = 1
    return vectors, labels


def probabilities(vectors: Any) -> Any:
    right = np.where(vectors[:, 0] > 2.5, 0.9, 0.1)
    right[10] = 0.02
    return np.stack([1 - right, right], axis=1)


@pytest.mark.parametrize("form", ["dataset", "class", "dict", "list", "csv", "json"])
def test_issues_are_found(points: Any, tmp_path: Path, form: str) -> None:
    vectors, labels = points
    names = ["no", "yes"]
    columns = {"x": vectors[:, 0].tolist(), "y": vectors[:, 1].tolist(), "label": [names[code] for code in labels]}
    dataset = datasets.Dataset.from_dict(columns)
    data: Any = dataset
    if form == "class":
        data = dataset.class_encode_column("label")
    elif form == "dict":
        data = columns
    elif form == "list":
        data = dataset.to_list()
    elif form == "csv":
        dataset.to_csv(str(tmp_path / "a.csv"))
        data = str(tmp_path / "a.csv")
    elif form == "json":
        dataset.to_json(str(tmp_path / "a.json"))
        data = str(tmp_path / "a.json")
    lab = Datalab(data, label_name="label", verbosity=0)
    lab.find_issues(pred_probs=probabilities(vectors), features=vectors)
    assert lab.get_issues("label").query("is_label_issue").index.tolist() == [10]
    assert {3, 7} <= set(lab.get_issues("near_duplicate").query("is_near_duplicate_issue").index)
    assert lab.class_names == names


def test_it_is_saved_with_its_data(points: Any, tmp_path: Path) -> None:
    vectors, labels = points
    dataset = datasets.Dataset.from_dict({"x": vectors, "label": labels})
    lab = Datalab(dataset, label_name="label", verbosity=0)
    lab.find_issues(pred_probs=probabilities(vectors))
    lab.save(str(tmp_path / "lab"), force=True)
    read = Datalab.load(str(tmp_path / "lab"), data=dataset)
    assert read.get_issues("label").equals(lab.get_issues("label"))
    assert Datalab.load(str(tmp_path / "lab")).data["label"][:] == labels


def test_rows_of_pictures(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pytest.importorskip("cleanvision")
    pictures = [pillow.fromarray(np.full((8, 8, 3), 12 * i, "uint8")) for i in range(20)]
    dataset = datasets.Dataset.from_dict({"image": pictures, "label": [0, 1] * 10}).cast_column("image", datasets.Image())
    lab = Datalab(dataset, label_name="label", image_key="image", verbosity=0)
    lab.find_issues()
    assert lab.get_issues("dark")["is_dark_issue"].any()
