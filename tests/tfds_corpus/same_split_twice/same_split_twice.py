"""A split that is named twice."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class SameSplitTwice(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64}))

    def _split_generators(self, dl_manager):
        return [tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"n": n}) for n in range(2)]

    def _generate_examples(self, n):
        yield n, {"n": n}
