"""A session, which only TensorFlow has."""

import numpy as np
import tensorflow as tf
import tensorflow_datasets.public_api as tfds


class NeedsTensorflow(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples("records")}

    def _generate_examples(self, path):
        with tf.compat.v1.Session() as session:
            yield 0, session.run(path)
