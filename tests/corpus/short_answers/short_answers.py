# coding=utf-8
"""Questions whose answers stand in a paragraph."""

import json

import datasets
from datasets.tasks import QuestionAnsweringExtractive


class ShortAnswersConfig(datasets.BuilderConfig):
    """BuilderConfig for short answers."""

    def __init__(self, **kwargs):
        super(ShortAnswersConfig, self).__init__(**kwargs)


class ShortAnswers(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        ShortAnswersConfig(
            name="plain_text",
            version=datasets.Version("1.0.0", ""),
            description="Plain text",
        ),
    ]

    def _info(self):
        return datasets.DatasetInfo(
            description="Paragraphs about lighthouses, with questions.",
            features=datasets.Features(
                {
                    "id": datasets.Value("string"),
                    "title": datasets.Value("string"),
                    "context": datasets.Value("string"),
                    "question": datasets.Value("string"),
                    "answers": datasets.features.Sequence(
                        {
                            "text": datasets.Value("string"),
                            "answer_start": datasets.Value("int32"),
                        }
                    ),
                }
            ),
            supervised_keys=None,
            task_templates=[
                QuestionAnsweringExtractive(
                    question_column="question", context_column="context", answers_column="answers"
                )
            ],
        )

    def _split_generators(self, dl_manager):
        files = dl_manager.download_and_extract({"train": "train.json", "dev": "dev.json"})
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepath": files["train"]}),
            datasets.SplitGenerator(name=datasets.Split.VALIDATION, gen_kwargs={"filepath": files["dev"]}),
        ]

    def _generate_examples(self, filepath):
        key = 0
        with open(filepath, encoding="utf-8") as f:
            book = json.load(f)
            for article in book["data"]:
                title = article.get("title", "")
                for paragraph in article["paragraphs"]:
                    context = paragraph["context"]
                    for qa in paragraph["qas"]:
                        starts = [answer["answer_start"] for answer in qa["answers"]]
                        texts = [answer["text"] for answer in qa["answers"]]
                        yield key, {
                            "title": title,
                            "context": context,
                            "question": qa["question"],
                            "id": qa["id"],
                            "answers": {"answer_start": starts, "text": texts},
                        }
                        key += 1
