"""Rows that stay in the order of their keys."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class OrderedSteps(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict({"step": np.int64}), disable_shuffling=True
        )

    def _split_generators(self, dl_manager):
        del dl_manager
        return {"train": self._generate_examples(range(12)), "backwards": self._generate_examples(range(7, -1, -1))}

    def _generate_examples(self, numbers):
        for number in numbers:
            yield number, {"step": number * 10}
