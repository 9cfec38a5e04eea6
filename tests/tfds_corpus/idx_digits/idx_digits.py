"""Digits in one file of bytes, as arrays."""

import numpy as np
import tensorflow.compat.v2 as tf
import tensorflow_datasets.public_api as tfds

SIDE = 8


class IdxDigits(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("3.0.1")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(shape=(SIDE, SIDE, 1)),
                "lossy": tfds.features.Image(shape=(SIDE, SIDE, 3), encoding_format="jpeg"),
                "deep": tfds.features.Image(shape=(None, None, 1), dtype=tf.uint16),
                "label": tfds.features.ClassLabel(num_classes=10),
            }),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, dl_manager):
        files = dl_manager.download_and_extract({"images": "images.idx.gz", "labels": "labels.idx.gz"})
        return [tfds.core.SplitGenerator(name="train", gen_kwargs=dict(num_examples=5, **files))]

    def _generate_examples(self, num_examples, images, labels):
        with tf.io.gfile.GFile(images, "rb") as f:
            f.read(16)
            pixels = np.frombuffer(f.read(SIDE * SIDE * num_examples), dtype=np.uint8)
        with tf.io.gfile.GFile(labels, "rb") as f:
            f.read(8)
            numbers = np.frombuffer(f.read(num_examples), dtype=np.uint8).astype(np.int64)
        for index, (image, number) in enumerate(zip(pixels.reshape((num_examples, SIDE, SIDE, 1)), numbers)):
            yield index, {
                "image": image,
                "lossy": np.repeat(image, 3, axis=2),
                "deep": image.astype(np.uint16) * 257,
                "label": number,
            }
