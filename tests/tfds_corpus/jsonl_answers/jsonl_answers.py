"""Questions with answers in lists of dicts."""

import dataclasses
import json
import os

import numpy as np
import tensorflow_datasets as tfds

_DESCRIPTION = """
Questions about short texts.

  * each has any number of answers
"""


@dataclasses.dataclass
class AnswersConfig(tfds.core.BuilderConfig):
    lower: bool = False


class JsonlAnswers(tfds.core.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        AnswersConfig(name="plain", version=tfds.core.Version("2.1.0"), description="As it is"),
        AnswersConfig(name="lower", version=tfds.core.Version("2.0.0"), description="Lower case", lower=True),
    ]

    def _info(self):
        answer = {"text": tfds.features.Text(), "start": np.int32, "votes": tfds.features.Sequence(np.int64)}
        return tfds.core.DatasetInfo(
            builder=self,
            description=_DESCRIPTION,
            features=tfds.features.FeaturesDict({
                "id": np.str_,
                "question": tfds.features.Text(),
                "answers": tfds.features.Sequence(answer),
                "tags": tfds.features.Sequence(tfds.features.Text()),
                "spans": tfds.features.Sequence(tfds.features.Sequence({"from": np.int32, "to": np.int32})),
                "about": {"title": tfds.features.Text(), "page": np.int16, "more": {"kept": np.bool_}},
            }),
            supervised_keys=None,
            homepage="https://answers.example.org",
            citation="@misc{answers}",
        )

    def _split_generators(self, dl_manager):
        folder = dl_manager.download_and_extract("answers.zip")
        return [
            tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"path": os.path.join(folder, "answers", "train.jsonl")}),
            tfds.core.SplitGenerator(name=tfds.Split.VALIDATION, gen_kwargs=dict(path=os.path.join(folder, "answers", "dev.jsonl"))),
        ]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if self.builder_config.lower:
                    row["question"] = row["question"].lower()
                yield row["id"], row
