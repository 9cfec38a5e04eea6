"""Many tasks in a script, each a config with columns of its own."""

import csv
import os

import datasets

_BASE = dict(citation="@misc{tasks}", url="https://example.org/tasks")


class TaskConfig(datasets.BuilderConfig):
    """BuilderConfig for a task."""

    def __init__(
        self,
        text_features,
        label_column,
        data_url,
        data_dir,
        citation,
        url,
        label_classes=None,
        process_label=lambda x: x,
        **kwargs,
    ):
        super(TaskConfig, self).__init__(version=datasets.Version("1.0.0", ""), **kwargs)
        self.text_features = text_features
        self.label_column = label_column
        self.label_classes = label_classes
        self.data_url = data_url
        self.data_dir = data_dir
        self.citation = citation
        self.url = url
        self.process_label = process_label


class ManyTasks(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        TaskConfig(
            name="mood",
            description="How a sentence feels.",
            text_features={"sentence": "sentence"},
            label_classes=["negative", "positive"],
            label_column="label",
            data_url="mood.zip",
            data_dir="MOOD",
            **_BASE,
        ),
        TaskConfig(
            name="alike",
            description="How alike two sentences are.",
            text_features={"sentence1": "sentence1", "sentence2": "sentence2"},
            label_column="score",
            data_url="alike.zip",
            data_dir="ALIKE",
            process_label=float,
            **_BASE,
        ),
    ]

    def _info(self):
        features = {text_feature: datasets.Value("string") for text_feature in self.config.text_features.keys()}
        if self.config.label_classes:
            features["label"] = datasets.features.ClassLabel(names=self.config.label_classes)
        else:
            features["label"] = datasets.Value("float32")
        features["idx"] = datasets.Value("int32")
        return datasets.DatasetInfo(
            description=self.config.description,
            features=datasets.Features(features),
            homepage=self.config.url,
            citation=self.config.citation + "\n" + _BASE["citation"],
        )

    def _split_generators(self, dl_manager):
        dl_dir = dl_manager.download_and_extract(self.config.data_url)
        data_dir = os.path.join(dl_dir, self.config.data_dir)
        return [
            datasets.SplitGenerator(
                name=datasets.Split.TRAIN, gen_kwargs={"data_file": os.path.join(data_dir or "", "train.tsv"), "split": "train"}
            ),
            datasets.SplitGenerator(
                name=datasets.Split.TEST, gen_kwargs={"data_file": os.path.join(data_dir or "", "test.tsv"), "split": "test"}
            ),
        ]

    def _generate_examples(self, data_file, split):
        process_label = self.config.process_label
        label_classes = self.config.label_classes
        with open(data_file, encoding="utf8") as f:
            reader = csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
            for n, row in enumerate(reader):
                example = {feat: row[col] for feat, col in self.config.text_features.items()}
                example["idx"] = n
                if self.config.label_column in row:
                    label = row[self.config.label_column]
                    if label_classes and label not in label_classes:
                        label = int(label) if label else None
                    example["label"] = process_label(label)
                else:
                    example["label"] = process_label(-1)
                for value in example.values():
                    if value is None:
                        break
                else:
                    yield example["idx"], example
