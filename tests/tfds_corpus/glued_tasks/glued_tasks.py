"""Many tasks in one script, each a config with options of its own, one of which is called data_dir."""

import csv
import os
import textwrap

import numpy as np
import six
from etils import epath
import tensorflow_datasets.public_api as tfds


class TaskConfig(tfds.core.BuilderConfig):
    """What a task needs."""

    def __init__(self, *, text_features, label_column, data_dir, label_classes=None, process_label=lambda x: x, **kwargs):
        super(TaskConfig, self).__init__(version=tfds.core.Version("2.0.0"), **kwargs)
        self.text_features = text_features
        self.label_column = label_column
        self.label_classes = label_classes
        self.data_dir = data_dir
        self.process_label = process_label


class GluedTasks(tfds.core.GeneratorBasedBuilder):
    DEFAULT_BUILDER_CONFIG_NAME = "likeness"
    BUILDER_CONFIGS = [
        TaskConfig(
            name="mood",
            description=textwrap.dedent("""\
                How a sentence sounds."""),
            text_features={"sentence": "sentence"},
            label_classes=["sad", "glad"],
            label_column="label",
            data_dir="MOOD",
        ),
        TaskConfig(
            name="likeness",
            text_features={"one": "s1", "two": "s2"},
            label_column="score",
            data_dir="LIKE",
            process_label=np.float32,
        ),
    ]

    def _info(self):
        features = {name: tfds.features.Text() for name in six.iterkeys(self.builder_config.text_features)}
        if self.builder_config.label_classes:
            features["label"] = tfds.features.ClassLabel(names=self.builder_config.label_classes)
        else:
            features["label"] = np.float32
        features["idx"] = np.int32
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

    def _split_generators(self, dl_manager):
        folder = os.path.join(dl_manager.download_and_extract("tasks.zip"), self.builder_config.data_dir)
        return [
            tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"path": os.path.join(folder, "train.tsv"), "has_label": True}),
            tfds.core.SplitGenerator(name=tfds.Split.TEST, gen_kwargs={"path": os.path.join(folder, "test.tsv"), "has_label": False}),
        ]

    def _generate_examples(self, path, has_label):
        config = self.builder_config
        with epath.Path(path).open() as f:
            for n, row in enumerate(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)):
                example = {name: row[column] for name, column in six.iteritems(config.text_features)}
                example["idx"] = n
                if has_label:
                    label = row[config.label_column]
                    example["label"] = config.process_label(int(label) if config.label_classes else label)
                else:
                    example["label"] = -1
                yield n, example
