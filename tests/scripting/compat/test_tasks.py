from __future__ import annotations

import pickle
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo
from datasets_core.scripting.compat import datasets

KINDS: list[Any] = [
    datasets.TextClassification, datasets.ImageClassification, datasets.AudioClassification,
    datasets.AutomaticSpeechRecognition,
    datasets.LanguageModeling, datasets.Summarization, datasets.QuestionAnsweringExtractive,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_survives_its_stored_form_and_pickle(kind: Any) -> None:
    template = kind()
    assert datasets.task_template_from_dict({**template.to_dict(), "labels": ["old"]}) == template
    assert datasets.TaskTemplate.from_dict(template.to_dict()) == template
    assert pickle.loads(pickle.dumps(template)) == template
    assert set(template.column_mapping) <= set(
        template.column_mapping.values()
    )  # by default, columns are called as in the task
    assert set(template.column_mapping.values()) == {*template.input_schema, *template.label_schema}


def test_a_template_takes_the_labels_of_its_column() -> None:
    label = ClassLabel(names=["bad", "good"])
    template = datasets.TextClassification(text_column="t", label_column="l")
    aligned = template.align_with_features(Features({"t": Value("string"), "l": label}))
    assert aligned.label_schema["labels"] == label
    assert aligned == template
    assert template.label_schema is datasets.TextClassification.label_schema
    assert aligned.features["labels"] == label


def test_a_template_takes_the_rate_of_its_column_of_sounds() -> None:
    aligned = datasets.AutomaticSpeechRecognition().align_with_features(Features({"audio": Audio(16_000)}))
    assert aligned.input_schema["audio"] == Audio(16_000)


@pytest.mark.parametrize("features", [{}, {"labels": Value("int64")}])
def test_a_column_that_holds_no_labels_is_refused(features: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="takes its labels from column 'labels'"):
        datasets.ImageClassification().align_with_features(Features(features))


def test_a_column_that_holds_no_sounds_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="takes its sounds from column 'audio'"):
        datasets.AutomaticSpeechRecognition().align_with_features(Features({"audio": Value("string")}))


def test_an_unknown_task_is_none() -> None:
    assert datasets.task_template_from_dict({"task": "chess"}) is None


def test_an_info_stores_its_templates() -> None:
    info = DatasetInfo(task_templates=[datasets.TextClassification("text-classification", "t", "l")])
    form = info.to_dict()
    assert form["task_templates"] == [{"task": "text-classification", "text_column": "t", "label_column": "l"}]
    assert DatasetInfo.from_dict(form).task_templates == form["task_templates"]
