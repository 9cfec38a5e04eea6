"""`datasets.tasks`: what a script says its columns are for, as templates that name columns."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from datasets_core.errors import ConfigurationError
from datasets_core.features.audio import Audio
from datasets_core.features.base import Sequence, Value
from datasets_core.features.image import Image
from datasets_core.features.labels import ClassLabel
from datasets_core.features.schema import Features


@dataclass(frozen=True)
class TaskTemplate:
    """A task, and which columns of a dataset play a part in it.

    >>> template = TextClassification(text_column="review", label_column="stars")
    >>> template.column_mapping
    {'review': 'text', 'stars': 'labels'}
    >>> TaskTemplate.from_dict({**template.to_dict(), "task": "text-classification"}) == template
    True
    """

    task: str = ""
    input_schema: ClassVar[Features] = Features({})
    label_schema: ClassVar[Features] = Features({})

    @property
    def features(self) -> Features:
        """The columns of the task, by the task's own names."""
        return Features({**self.input_schema, **self.label_schema})

    @property
    def column_mapping(self) -> dict[str, str]:
        """The dataset's name of each column → the task's."""
        return {}

    def align_with_features(self, features: Mapping[str, Any]) -> Self:
        """The template with the labels of these features, where the task has labels.

        Raises:
            ConfigurationError: a column of labels is missing, or holds none.
        """
        return self

    def to_dict(self) -> dict[str, Any]:
        """The stored form."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, template_dict: Mapping[str, Any]) -> Self:
        """The template of a stored form: what it says that a template has no field for is left out."""
        made: Any = _TASKS.get(str(template_dict.get("task")), cls) if cls is TaskTemplate else cls
        fields = {field.name for field in dataclasses.fields(made) if field.init}
        found: Self = made(**{name: value for name, value in template_dict.items() if name in fields})
        return found


class _Labelled(TaskTemplate):
    """A task whose labels are those of one `ClassLabel` column."""

    label_column: str

    def align_with_features(self, features: Mapping[str, Any]) -> Self:
        """See `TaskTemplate.align_with_features`."""
        column = self.label_column
        if column not in features:
            known = ", ".join(map(repr, features))
            raise ConfigurationError(
                f"The task {self.task!r} takes its labels from column {column!r}, which is none of the features. "
                f"Name one of {known}."
            )
        if not isinstance(features[column], ClassLabel):
            raise ConfigurationError(
                f"The task {self.task!r} takes its labels from column {column!r}, which is {features[column]!r}. "
                "Make it a ClassLabel, or leave the task out."
            )
        aligned = copy.copy(self)
        schema = Features({**self.label_schema, "labels": features[column]})
        object.__setattr__(aligned, "label_schema", schema)  # an attribute of this template, over that of its class
        return aligned


@dataclass(frozen=True)
class TextClassification(_Labelled):
    """Texts, each with a label."""

    task: str = "text-classification"
    input_schema: ClassVar[Features] = Features({"text": Value("string")})
    label_schema: ClassVar[Features] = Features({"labels": ClassLabel(names=[])})
    text_column: str = "text"
    label_column: str = "labels"

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.text_column: "text", self.label_column: "labels"}


@dataclass(frozen=True)
class ImageClassification(_Labelled):
    """Pictures, each with a label."""

    task: str = "image-classification"
    input_schema: ClassVar[Features] = Features({"image": Image()})
    label_schema: ClassVar[Features] = Features({"labels": ClassLabel(names=[])})
    image_column: str = "image"
    label_column: str = "labels"

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.image_column: "image", self.label_column: "labels"}


@dataclass(frozen=True)
class AudioClassification(_Labelled):
    """Sounds, each with a label."""

    task: str = "audio-classification"
    input_schema: ClassVar[Features] = Features({"audio": Audio()})
    label_schema: ClassVar[Features] = Features({"labels": ClassLabel(names=[])})
    audio_column: str = "audio"
    label_column: str = "labels"

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.audio_column: "audio", self.label_column: "labels"}


@dataclass(frozen=True)
class AutomaticSpeechRecognition(TaskTemplate):
    """Sounds, each with what is said in it."""

    task: str = "automatic-speech-recognition"
    input_schema: ClassVar[Features] = Features({"audio": Audio()})
    label_schema: ClassVar[Features] = Features({"transcription": Value("string")})
    audio_column: str = "audio"
    transcription_column: str = "transcription"

    def align_with_features(self, features: Mapping[str, Any]) -> Self:
        """The template with the rate of the column of sounds.

        Raises:
            ConfigurationError: that column is missing, or holds no sounds.
        """
        if not isinstance(features.get(self.audio_column), Audio):
            raise ConfigurationError(
                f"The task {self.task!r} takes its sounds from column {self.audio_column!r}, which is no Audio. "
                "Name a column of sounds, or leave the task out."
            )
        aligned = copy.copy(self)
        schema = Features({**self.input_schema, "audio": features[self.audio_column]})
        object.__setattr__(aligned, "input_schema", schema)
        return aligned

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.audio_column: "audio", self.transcription_column: "transcription"}


@dataclass(frozen=True)
class LanguageModeling(TaskTemplate):
    """Texts."""

    task: str = "language-modeling"
    input_schema: ClassVar[Features] = Features({"text": Value("string")})
    text_column: str = "text"

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.text_column: "text"}


@dataclass(frozen=True)
class Summarization(TaskTemplate):
    """Texts, each with a summary."""

    task: str = "summarization"
    input_schema: ClassVar[Features] = Features({"text": Value("string")})
    label_schema: ClassVar[Features] = Features({"summary": Value("string")})
    text_column: str = "text"
    summary_column: str = "summary"

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.text_column: "text", self.summary_column: "summary"}


@dataclass(frozen=True)
class QuestionAnsweringExtractive(TaskTemplate):
    """Questions about a text, which the answers are pieces of."""

    task: str = "question-answering-extractive"
    input_schema: ClassVar[Features] = Features({"question": Value("string"), "context": Value("string")})
    label_schema: ClassVar[Features] = Features(
        {"answers": Sequence({"text": Value("string"), "answer_start": Value("int32")})}
    )
    question_column: str = "question"
    context_column: str = "context"
    answers_column: str = "answers"

    @property
    def column_mapping(self) -> dict[str, str]:
        """See `TaskTemplate.column_mapping`."""
        return {self.question_column: "question", self.context_column: "context", self.answers_column: "answers"}


_TASKS: dict[str, type[TaskTemplate]] = {
    kind.task: kind
    for kind in (
        TextClassification, ImageClassification, AudioClassification, AutomaticSpeechRecognition, LanguageModeling,
        Summarization, QuestionAnsweringExtractive,
    )
}  # fmt: skip


def task_template_from_dict(task_template_dict: Mapping[str, Any]) -> TaskTemplate | None:
    """The template of a stored form; None for a task of which there is none.

    >>> task_template_from_dict({"task": "language-modeling", "text_column": "line"}).column_mapping
    {'line': 'text'}
    """
    kind = _TASKS.get(str(task_template_dict.get("task")))
    return None if kind is None else kind.from_dict(task_template_dict)
