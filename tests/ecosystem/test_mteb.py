"""mteb: tasks whose data are folders of this disk, with several configs, casts and transforms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

mteb = pytest.importorskip("mteb")
datasets: Any = pytest.importorskip("datasets")

from mteb.abstasks.classification import AbsTaskClassification  # type: ignore[import-not-found]  # noqa: E402
from mteb.abstasks.clustering import AbsTaskClustering  # type: ignore[import-not-found]  # noqa: E402
from mteb.abstasks.retrieval import AbsTaskRetrieval  # type: ignore[import-not-found]  # noqa: E402
from mteb.abstasks.sts import AbsTaskSTS  # type: ignore[import-not-found]  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # type: ignore[import-not-found]  # noqa: E402


def described(name: str, kind: str, folder: Path, score: str, langs: Any = None) -> Any:
    return TaskMetadata(
        name=name, description="made up", reference=None, dataset={"path": str(folder), "revision": "1"}, type=kind,
        category="t2t" if kind == "Retrieval" else "t2c", modalities=["text"],
        eval_splits=["test"], eval_langs=langs or ["eng-Latn"],
        main_score=score,
        date=("2020-01-01", "2020-12-31"), domains=["Written"], task_subtypes=[], license="mit",
        annotations_creators="derived", dialect=[], sample_creation="created", bibtex_citation="",
    )  # fmt: skip


def written(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def scores(task: Any, tmp_path: Path) -> Any:
    model = mteb.get_model("mteb/baseline-random-encoder")
    return mteb.evaluate(model, task, cache=None, show_progress_bar=False)[0].scores["test"]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_classes(tmp_path: Path, num_proc: int | None) -> None:
    for split, count in (("train", 40), ("test", 20)):
        written(
            tmp_path / "data" / f"{split}.jsonl", [{"sentence": f"{split} {i}", "tag": ["a", "b"][i % 2]} for i in range(count)]
        )

    class Task(AbsTaskClassification):  # type: ignore[misc]
        metadata = described("Birds", "Classification", tmp_path / "data", "accuracy")
        samples_per_label = 4

        def dataset_transform(self, num_proc: int | None = None, **_: Any) -> None:
            self.dataset = self.dataset.rename_columns({"sentence": "text", "tag": "label"})
            for split in self.dataset:
                self.dataset[split] = self.dataset[split].class_encode_column("label")

    task = Task()
    task.load_data(num_proc=num_proc)
    assert task.dataset["test"].features["label"].names == ["a", "b"]
    assert 0 <= scores(task, tmp_path)[0]["accuracy"] <= 1


def test_subsets_of_languages(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "---\nconfigs:\n"
        + "".join(f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {name}.jsonl\n" for name in ("en", "de"))
        + "---\n"
    )
    for name in ("en", "de"):
        rows = [{"sentence1": f"{name} {i}", "sentence2": f"{name} {i + 1}", "score": float(i % 5)} for i in range(10)]
        written(tmp_path / f"{name}.jsonl", rows)

    class Task(AbsTaskSTS):  # type: ignore[misc]
        metadata = described("Pairs", "STS", tmp_path, "cosine_spearman", {"en": ["eng-Latn"], "de": ["deu-Latn"]})
        min_score, max_score = 0, 4

    found = scores(Task(), tmp_path)
    assert {each["hf_subset"] for each in found} == {"en", "de"}


def test_retrieval(tmp_path: Path) -> None:
    written(tmp_path / "corpus.jsonl", [{"_id": i, "title": f"t{i}", "text": f"document {i}"} for i in range(8)])
    written(tmp_path / "queries.jsonl", [{"_id": f"q{i}", "text": f"query {i}"} for i in range(4)])
    written(tmp_path / "qrels.jsonl", [{"query-id": f"q{i}", "corpus-id": str(i), "score": 1} for i in range(3)])
    written(tmp_path / "top.jsonl", [{"query-id": f"q{i}", "corpus-ids": ["0", "1", "2"]} for i in range(3)])
    names = {"corpus": "corpus", "queries": "queries", "default": "qrels", "top_ranked": "top"}
    (tmp_path / "README.md").write_text(
        "---\nconfigs:\n"
        + "".join(
            f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {file}.jsonl\n" for name, file in names.items()
        )
        + "---\n"
    )

    class Task(AbsTaskRetrieval):  # type: ignore[misc]
        metadata = described("Find", "Retrieval", tmp_path, "ndcg_at_10")

    task = Task()
    task.load_data()
    data = task.dataset["default"]["test"]
    assert data["corpus"].features["id"] == datasets.Value("string")
    assert data["queries"]["id"][:] == ["q0", "q1", "q2"]
    assert data["top_ranked"] == {f"q{i}": ["0", "1", "2"] for i in range(3)}
    assert "ndcg_at_10" in scores(task, tmp_path)[0]


def test_clusters(tmp_path: Path) -> None:
    written(tmp_path / "data" / "test.jsonl", [{"sentences": f"row {i}", "labels": i % 3} for i in range(30)])

    class Task(AbsTaskClustering):  # type: ignore[misc]
        metadata = described("Groups", "Clustering", tmp_path / "data", "v_measure")
        max_document_to_embed = 30
        max_fraction_of_documents_to_embed = None

    assert "v_measure" in scores(Task(), tmp_path)[0]
