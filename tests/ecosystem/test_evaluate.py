"""evaluate: metrics of local scripts, whose inputs wait in Arrow files that `ArrowWriter` writes."""

from __future__ import annotations

import multiprocessing
import textwrap
from pathlib import Path
from typing import Any

import pytest

evaluate = pytest.importorskip("evaluate")
datasets: Any = pytest.importorskip("datasets")

SCRIPT = '''
import datasets
import evaluate

_CITATION = """none"""


@evaluate.utils.file_utils.add_start_docstrings("Share of equal values", "")
class Share(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description="Share of equal values",
            citation=_CITATION,
            inputs_description="two lists",
            features=datasets.Features(
                {name: datasets.Sequence(datasets.Value("int32")) for name in ("predictions", "references")}
                if self.config_name == "multilabel"
                else {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}
            ),
        )

    def _compute(self, predictions, references, scale=1):
        equal = [p == r for p, r in zip(predictions, references)]
        return {"share": scale * sum(equal) / len(equal), "count": len(equal)}
'''


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "share.py").write_text(SCRIPT)
    return str(tmp_path / "share")


@pytest.mark.parametrize("in_memory", [False, True])
def test_values_come_in_batches_or_one_by_one(script: str, tmp_path: Path, in_memory: bool) -> None:
    metric = evaluate.load(script, cache_dir=str(tmp_path / "cache"), keep_in_memory=in_memory)
    for start in range(0, 2500, 500):  # more than one batch of the writer
        values = list(range(start, start + 500))
        metric.add_batch(predictions=values, references=[v if v % 2 else -1 for v in values])
    metric.add(prediction=7, reference=7)
    metric.add(predictions=8, references=9)
    assert metric.compute() == {"share": 1251 / 2502, "count": 2502}
    assert list((tmp_path / "cache").rglob("*.arrow")) == []  # the file of the inputs is gone
    assert metric.compute(predictions=[1, 2], references=[1, 1], scale=100) == {"share": 50.0, "count": 2}


def test_arrays_and_tensors(script: str, tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    metric = evaluate.load(script, cache_dir=str(tmp_path))
    metric.add_batch(predictions=numpy.array([1, 2, 3]), references=numpy.array([1, 2, 4], dtype="int64"))
    dataset = datasets.Dataset.from_dict({"p": [5, 6], "r": [5, 7]})
    metric.add_batch(predictions=dataset["p"], references=dataset["r"])
    assert metric.compute() == {"share": 3 / 5, "count": 5}


def test_lists_of_labels(script: str, tmp_path: Path) -> None:
    metric = evaluate.load(script, "multilabel", cache_dir=str(tmp_path))
    metric.add_batch(predictions=[[1, 2], [3]], references=[[1, 2], [4]])
    assert metric.compute() == {"share": 0.5, "count": 2}


def test_inputs_that_do_not_fit_are_refused(script: str, tmp_path: Path) -> None:
    metric = evaluate.load(script, cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="int32"):
        metric.add_batch(predictions=["a"], references=["b"])
    with pytest.raises(ValueError, match="int32"):
        metric.compute(predictions=[[1], [2]], references=[1, 2])


def test_several_metrics_at_once(script: str, tmp_path: Path) -> None:
    combined = evaluate.combine(
        [evaluate.load(script, cache_dir=str(tmp_path)), evaluate.load(script, cache_dir=str(tmp_path))]
    )
    combined.add_batch(predictions=[1, 2], references=[1, 3])
    found = combined.compute()
    assert found["share_share_0" if "share_share_0" in found else "share_0_share"] == 0.5


def _one_of_two(script: str, cache: str, process_id: int, answers: Any) -> None:
    metric = evaluate.load(script, num_process=2, process_id=process_id, experiment_id="both", cache_dir=cache)
    values = list(range(process_id * 10, process_id * 10 + 10))
    metric.add_batch(predictions=values, references=[v if process_id else -1 for v in values])
    answers.put((process_id, metric.compute()))


def test_processes_share_their_inputs_by_files_and_locks(script: str, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    processes = [
        context.Process(target=_one_of_two, args=(script, str(tmp_path / "cache"), number, answers)) for number in range(2)
    ]
    for process in processes:
        process.start()
    found = dict(answers.get(timeout=20) for _ in processes)
    for process in processes:
        process.join()
    assert found == {0: {"share": 0.5, "count": 20}, 1: None}


def test_an_evaluator_takes_columns(script: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    rows = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [0, 1, 1]})
    task = evaluate.evaluator("text-classification")
    assert len(task.load_data(rows)) == 3
    inputs, texts = task.prepare_data(data=rows, input_column="text", second_input_column=None, label_column="label")
    assert [text["text"] for text in texts] == ["a", "b", "c"]
    inputs["predictions"] = [int(text["text"] in "bx") for text in texts]
    found = task.compute_metric(evaluate.load(script, cache_dir=str(tmp_path)), inputs)
    assert found["share"] == 2 / 3


def test_a_suite_of_data_from_files(script: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\nx,1\ny,0\n")
    module = tmp_path / "suite.py"
    module.write_text(
        textwrap.dedent("""
        import evaluate
        from evaluate.evaluation_suite import SubTask

        class Suite(evaluate.EvaluationSuite):
            def __init__(self, name):
                super().__init__(name)
                self.suite = []
        """)
    )
    assert evaluate.EvaluationSuite.load(str(module)).suite == []
    rows = datasets.load_dataset("csv", data_files=str(tmp_path / "a.csv"), split="train", cache_dir=str(tmp_path / "cache"))
    metric = evaluate.load(script, cache_dir=str(tmp_path / "cache"))
    assert metric.compute(predictions=rows["label"], references=[1, 1])["share"] == 0.5


def test_results_are_saved(tmp_path: Path) -> None:
    path = evaluate.save(str(tmp_path), share=0.5)
    assert '"share": 0.5' in Path(path).read_text()
