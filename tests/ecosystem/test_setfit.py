"""setfit: few-shot training over datasets, whose columns may have other names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

setfit = pytest.importorskip("setfit", exc_type=ImportError)
sentence_transformers = pytest.importorskip("sentence_transformers")
modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
datasets: Any = pytest.importorskip("datasets")


@pytest.fixture
def model(classifier: Any, tokenizer: Any, tmp_path: Path) -> Any:
    classifier.bert.save_pretrained(tmp_path / "encoder")
    tokenizer.save_pretrained(tmp_path / "encoder")
    encoder = modules.Transformer(str(tmp_path / "encoder"), max_seq_length=16)
    pooling = modules.Pooling(encoder.get_embedding_dimension())
    body = sentence_transformers.SentenceTransformer(modules=[encoder, pooling], device="cpu")
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    return setfit.SetFitModel(model_body=body, model_head=LogisticRegression(), labels=["no", "yes"])


def given(tmp_path: Path) -> Any:
    return setfit.TrainingArguments(
        output_dir=str(tmp_path / "out"), batch_size=4, max_steps=3, num_epochs=1, report_to="none", eval_strategy="no",
        save_strategy="no",
    )  # fmt: skip


@pytest.mark.parametrize("mapping", [None, {"sentence": "text", "target": "label"}])
def test_trainer(texts: Any, model: Any, tmp_path: Path, mapping: Any) -> None:
    dataset = datasets.Dataset.from_list(texts)
    if mapping:
        dataset = dataset.rename_columns({new: old for old, new in mapping.items()})
    split = dataset.train_test_split(test_size=8, seed=0)
    trainer = setfit.Trainer(
        model, given(tmp_path), train_dataset=split["train"], eval_dataset=split["test"], metric=_share, column_mapping=mapping
    )
    trainer.train()
    assert set(trainer.evaluate()) == {"share"}
    assert set(model.predict(["a bird", "two cats"])) <= {"no", "yes"}


def _share(predictions: Any, references: Any) -> dict[str, float]:
    return {"share": sum(int(a == b) for a, b in zip(predictions, references, strict=True)) / len(references)}


def test_a_dict_instead_of_a_split_is_told(texts: Any, model: Any, tmp_path: Path) -> None:
    dataset = datasets.DatasetDict({"train": datasets.Dataset.from_list(texts)})
    with pytest.raises(ValueError, match="select the training split"):
        setfit.Trainer(model, given(tmp_path), train_dataset=dataset)


def test_few_rows_of_each_class(texts: Any) -> None:
    dataset = datasets.Dataset.from_list(texts)
    few = setfit.sample_dataset(dataset, label_column="label", num_samples=3, seed=1)
    assert sorted(few["label"][:]) == [0, 0, 0, 1, 1, 1]
    again = setfit.sample_dataset(dataset, label_column="label", num_samples=3, seed=1)
    assert few[:] == again[:]


def test_distillation(texts: Any, model: Any, tmp_path: Path) -> None:
    rows = datasets.Dataset.from_list(texts)
    setfit.Trainer(model, given(tmp_path), train_dataset=rows).train()
    import copy

    student = copy.deepcopy(model)
    setfit.DistillationTrainer(model, student, given(tmp_path), train_dataset=rows.remove_columns("label")).train()
    assert len(student.predict(["a bird"])) == 1
