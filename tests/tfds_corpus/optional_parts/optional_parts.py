"""Rows of which parts may lack."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class OptionalParts(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "id": np.int64,
                "text": tfds.features.Text(optional=True),
                "number": tfds.features.Scalar(np.int32, optional=True),
                "measured": np.float32,
            }),
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for n in range(5):
            yield n, {
                "id": n,
                "text": None if n % 2 else f"text {n}",
                "number": None if n % 3 else n,
                "measured": None if n == 4 else n / 2,
            }
