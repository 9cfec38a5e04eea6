"""Records that only TensorFlow reads."""

import numpy as np
import tensorflow as tf
import tensorflow_datasets.public_api as tfds

_SPEC = {"n": tf.io.FixedLenFeature((), tf.int64)}


class NeedsTensorflow(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples("records")}

    def _generate_examples(self, path):
        for n, record in enumerate(tf.data.TFRecordDataset([path])):
            yield n, tf.io.parse_single_example(record, _SPEC)
