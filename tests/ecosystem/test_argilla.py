"""argilla: records from datasets, and datasets from records, without a server."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock
from uuid import uuid4

import pytest

rg = pytest.importorskip("argilla")
datasets: Any = pytest.importorskip("datasets")
pillow = pytest.importorskip("PIL.Image")

from argilla.records._io import HFDatasetsIO  # type: ignore[import-not-found]  # noqa: E402
from argilla.records._mapping import IngestedRecordMapper  # type: ignore[import-not-found]  # noqa: E402


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A dataset of argilla, which no server has."""
    client = rg.Argilla.__new__(rg.Argilla)
    client.api = MagicMock()
    monkeypatch.setattr(rg.Argilla, "_default_client", client)
    settings = rg.Settings(
        fields=[rg.TextField(name="text"), rg.ImageField(name="image", required=False)],
        questions=[rg.LabelQuestion(name="label", labels=["no", "yes"])],
        metadata=[rg.IntegerMetadataProperty(name="size")],
    )
    dataset = rg.Dataset.__new__(rg.Dataset)
    dataset._settings, dataset._client = settings, client
    settings._dataset = dataset
    return dataset


def rows() -> Any:
    made = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": ["yes", "no", "yes"], "size": [1, 2, 3]})
    return made.class_encode_column("label")


def test_records_of_a_dataset(target: Any) -> None:
    dataset = rows()
    assert HFDatasetsIO._is_hf_dataset(dataset)
    mapper = IngestedRecordMapper(mapping={}, dataset=target, user_id=uuid4())
    found = HFDatasetsIO.to_argilla(dataset, mapper)
    assert found["label"][:] == ["yes", "no", "yes"]  # class labels as texts
    records = [mapper(row) for row in found]
    assert [record.fields["text"] for record in records] == ["a", "b", "c"]
    assert [record.metadata["size"] for record in records] == [1, 2, 3]
    assert [record.suggestions["label"].value for record in records] == ["yes", "no", "yes"]


def test_pictures_become_addresses(target: Any) -> None:
    pictures = [pillow.new("RGB", (2, 2), (i, 0, 0)) for i in range(2)]
    dataset = datasets.Dataset.from_dict({"text": ["a", "b"], "image": pictures}).cast_column("image", datasets.Image())
    found = HFDatasetsIO.to_argilla(dataset, IngestedRecordMapper(mapping={}, dataset=target, user_id=uuid4()))
    assert all(value.startswith("data:image/") for value in found["image"])
    assert found.features["image"] == datasets.Value("string")


def test_lists_of_classes(target: Any) -> None:
    from argilla.records._io._datasets import (  # type: ignore[import-not-found]
        _cast_class_label_sequence_as_string_list as as_texts,
    )

    features = datasets.Features({"tags": datasets.Sequence(datasets.ClassLabel(names=["x", "y"]))})
    dataset = datasets.Dataset.from_dict({"tags": [[0, 1], [1]]}, features=features)
    assert as_texts(dataset, ["tags"])["tags"][:] == [["x", "y"], ["y"]]


def test_a_dataset_of_records(target: Any) -> None:
    target._settings.fields.remove("image")
    records = [
        rg.Record(
            id=str(i),
            fields={"text": f"row {i}"},
            suggestions=[rg.Suggestion("label", "yes")],
            metadata={"size": i},
            _dataset=target,
        )
        for i in range(3)
    ]
    found = HFDatasetsIO.to_datasets(records, target)
    assert isinstance(found, datasets.Dataset)
    assert found["text"][:] == [f"row {i}" for i in range(3)]
    assert found.features["label.suggestion"] == datasets.ClassLabel(names=["yes"])
