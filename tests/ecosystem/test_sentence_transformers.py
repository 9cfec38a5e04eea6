"""sentence-transformers: trainers of several datasets with samplers, losses and prompts of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

sentence_transformers = pytest.importorskip("sentence_transformers")
transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")

losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")


@pytest.fixture
def folder(classifier: Any, tokenizer: Any, tmp_path: Path) -> str:
    """A small encoder on this disk."""
    classifier.bert.save_pretrained(tmp_path / "encoder")
    tokenizer.save_pretrained(tmp_path / "encoder")
    return str(tmp_path / "encoder")


@pytest.fixture
def model(folder: str) -> Any:
    encoder = modules.Transformer(folder, max_seq_length=16)
    pooling = modules.Pooling(encoder.get_embedding_dimension())
    return sentence_transformers.SentenceTransformer(modules=[encoder, pooling], device="cpu")


def given(tmp_path: Path, **options: Any) -> Any:
    plain = {"per_device_train_batch_size": 4, "max_steps": 4, "logging_steps": 1, "report_to": [], "save_strategy": "no"}
    folder = str(tmp_path / "out")
    return sentence_transformers.SentenceTransformerTrainingArguments(folder, use_cpu=True, **{**plain, **options})


def pairs(texts: Any) -> Any:
    return datasets.Dataset.from_dict(
        {"anchor": [row["text"] for row in texts], "positive": [f"a {row['text']}" for row in texts]}
    )


def scored(texts: Any) -> Any:
    columns = {"sentence1": [row["text"] for row in texts], "sentence2": [row["text"][::-1] for row in texts]}
    return datasets.Dataset.from_dict({**columns, "score": [row["label"] / 2 for row in texts]})


def classes(texts: Any) -> Any:
    rows = datasets.Dataset.from_list(texts)
    return rows.cast_column("label", datasets.ClassLabel(names=["no", "yes"]))


def test_one_dataset(texts: Any, model: Any, tmp_path: Path) -> None:
    split = pairs(texts).train_test_split(test_size=8, seed=0)
    trainer = sentence_transformers.SentenceTransformerTrainer(
        model,
        given(tmp_path, eval_strategy="steps", eval_steps=2, batch_sampler="no_duplicates"),
        split["train"],
        split["test"],
        losses.MultipleNegativesRankingLoss(model),
    )
    assert trainer.train().global_step == 4
    assert sum("eval_loss" in log for log in trainer.state.log_history) == 2


@pytest.mark.parametrize("sampler", ["proportional", "round_robin"])
@pytest.mark.parametrize("has_names", [False, True])
def test_several_datasets(texts: Any, model: Any, tmp_path: Path, sampler: str, has_names: bool) -> None:
    """With losses by name each batch says of which dataset it is, by a transform."""
    train = datasets.DatasetDict({"pairs": pairs(texts), "scored": scored(texts)})
    ranking, cosine = losses.MultipleNegativesRankingLoss(model), losses.CosineSimilarityLoss(model)
    trainer = sentence_transformers.SentenceTransformerTrainer(
        model,
        given(
            tmp_path,
            multi_dataset_batch_sampler=sampler,
            eval_strategy="steps",
            eval_steps=2,
            prompts={"pairs": "the ", "scored": "two "} if has_names else None,
        ),
        train,
        datasets.DatasetDict({"scored": scored(texts)}),
        {"pairs": ranking, "scored": cosine} if has_names else {"pairs": ranking, "scored": ranking},
    )
    assert trainer.train().global_step == 4
    assert any("eval_scored_loss" in log for log in trainer.state.log_history)
    model.save(str(tmp_path / "saved"))
    card = (tmp_path / "saved" / "README.md").read_text()
    assert "40 training samples" in card
    assert "<code>anchor</code>" in card


def test_labels_by_class(texts: Any, model: Any, tmp_path: Path) -> None:
    arguments = given(tmp_path, batch_sampler="group_by_label", per_device_train_batch_size=8)
    loss = losses.BatchAllTripletLoss(model)
    trainer = sentence_transformers.SentenceTransformerTrainer(model, arguments, classes(texts), loss=loss)
    assert trainer.train().global_step == 4


@pytest.mark.parametrize("has_prompts", [False, True])
def test_streams(texts: Any, model: Any, tmp_path: Path, has_prompts: bool) -> None:
    stream = pairs(texts).to_iterable_dataset(num_shards=2)
    arguments = given(tmp_path, prompts={"anchor": "the ", "positive": "two "} if has_prompts else None)
    loss = losses.MultipleNegativesRankingLoss(model)
    trainer = sentence_transformers.SentenceTransformerTrainer(model, arguments, stream, loss=loss)
    assert trainer.train().global_step == 4


def test_a_transform_resolves_numbers(texts: Any) -> None:
    queries = datasets.Dataset.from_dict({"query_id": ["q1", "q2"], "query": ["a bird", "two cats"]})
    documents = datasets.Dataset.from_dict({"document_id": [7, 8, 9], "document": ["tree", "stone", "bird"]})
    train = datasets.Dataset.from_dict({"query_id": ["q2", "q1"], "document_ids": [[9, 7], [8, 7]], "scores": [[1.0, 0.0]] * 2})
    resolve = sentence_transformers.util.resolve_ids({"query_id": queries, "document_ids": documents})
    train.set_transform(resolve)
    assert train[0] == {"query": "two cats", "document_1": "bird", "document_2": "tree", "scores": [1.0, 0.0]}


def test_negatives_are_mined(texts: Any, model: Any) -> None:
    mined = sentence_transformers.util.mine_hard_negatives(
        pairs(texts[:12]), model, num_negatives=2, range_max=6, verbose=False, output_format="triplet"
    )
    assert isinstance(mined, datasets.Dataset)
    assert mined.column_names == ["anchor", "positive", "negative"]
    assert len(mined) > 0


def test_embeddings_of_a_column(texts: Any, model: Any) -> None:
    dataset = classes(texts)
    assert model.encode(dataset["text"], show_progress_bar=False).shape == (40, 16)
    found = dataset.map(lambda batch: {"vector": model.encode(batch["text"])}, batched=True, batch_size=8).with_format("torch")
    assert found["vector"][:].shape == (40, 16)
    assert torch.allclose(found[3]["vector"], torch.tensor(model.encode(texts[3]["text"])), atol=1e-6)


def test_cross_encoder(texts: Any, folder: str, tmp_path: Path) -> None:
    cross = sentence_transformers.CrossEncoder(folder, num_labels=1, device="cpu")
    dataset = datasets.Dataset.from_dict(
        {
            "query": [row["text"] for row in texts],
            "answer": ["warm stones"] * 40,
            "label": [float(row["label"]) for row in texts],
        }
    )
    arguments = sentence_transformers.cross_encoder.CrossEncoderTrainingArguments(
        str(tmp_path), max_steps=3, per_device_train_batch_size=4, report_to=[], save_strategy="no", use_cpu=True
    )
    loss = sentence_transformers.cross_encoder.losses.BinaryCrossEntropyLoss(cross)
    trainer = sentence_transformers.cross_encoder.CrossEncoderTrainer(cross, arguments, dataset, loss=loss)
    assert trainer.train().global_step == 3


def test_sparse_encoder(texts: Any, tokenizer: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    masked = transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
            max_position_embeddings=64,
        )
    )  # fmt: skip
    masked.save_pretrained(tmp_path / "masked")
    tokenizer.save_pretrained(tmp_path / "masked")
    from sentence_transformers import sparse_encoder  # type: ignore[import-not-found]

    sparse = sentence_transformers.SparseEncoder(str(tmp_path / "masked"), device="cpu")
    arguments = sparse_encoder.SparseEncoderTrainingArguments(
        str(tmp_path / "out"), max_steps=3, per_device_train_batch_size=4, report_to=[], save_strategy="no", use_cpu=True
    )
    loss = sparse_encoder.losses.SpladeLoss(
        sparse, sparse_encoder.losses.SparseMultipleNegativesRankingLoss(sparse), 3e-5, query_regularizer_weight=5e-5
    )
    trainer = sparse_encoder.SparseEncoderTrainer(sparse, arguments, pairs(texts), loss=loss)
    assert trainer.train().global_step == 3
