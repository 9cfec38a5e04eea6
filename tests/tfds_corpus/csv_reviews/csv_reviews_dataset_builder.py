"""Reviews in two files of comma separated values."""

import csv

import numpy as np
import tensorflow_datasets.public_api as tfds


class Builder(tfds.core.GeneratorBasedBuilder):
    """A builder as `tfds new` writes it today: its texts stand beside it."""

    VERSION = tfds.core.Version("1.0.1")
    SUPPORTED_VERSIONS = [tfds.core.Version("1.0.0")]
    RELEASE_NOTES = {
        "1.0.0": "Initial release.",
        "1.0.1": "Stars are integers.",
    }

    def _info(self) -> tfds.core.DatasetInfo:
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({
                "text": tfds.features.Text(doc="What the guest wrote."),
                "stars": tfds.features.Scalar(dtype=np.int32, doc=tfds.features.Documentation(desc="1 to 5", value_range="[1, 5]")),
                "label": tfds.features.ClassLabel(names=["bad", "good"]),
            }),
            supervised_keys=("text", "label"),
            homepage="https://reviews.example.org/",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = dl_manager.download({"train": "data/train.csv", "test": "data/test.csv"})
        return {
            "train": self._generate_examples(paths["train"]),
            tfds.Split.TEST: self._generate_examples(path=paths["test"]),
        }

    def _generate_examples(self, path):
        with path.open() as f:
            for row in csv.DictReader(f):
                yield row["id"], {
                    "text": row["text"],
                    "stars": row["stars"],
                    "label": "good" if int(row["stars"]) > 3 else "bad",
                }
