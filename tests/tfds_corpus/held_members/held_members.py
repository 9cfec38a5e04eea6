"""Members of archives and files that are read after the loop, or after their file was closed."""

import numpy as np
import tensorflow as tf
import tensorflow_datasets.public_api as tfds


class HeldMembers(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict({"name": tfds.features.Text(), "text": tfds.features.Text()})
        )

    def _split_generators(self, dl_manager):
        found = dl_manager.download({"tar": "texts.tar", "gz": "texts.tar.gz", "zip": "texts.zip", "npz": "numbers.npz", "csv": "lines.csv"})
        with tf.io.gfile.GFile(found["npz"], "rb") as file:
            numbers = np.load(file)
        with tf.io.gfile.GFile(found["csv"]) as lines:
            header = lines.readline()
        splits = {name: self._generate_examples(dict(dl_manager.iter_archive(found[name]))) for name in ("tar", "gz", "zip")}
        archive = dl_manager.iter_archive(found["gz"])
        first, _ = next(archive)
        return {
            **splits,
            "next": self._named([first, *(name for name, _ in archive)]),
            "numbers": self._named([f"{number}" for number in numbers.f.numbers]),
            "lines": self._named([header, *lines.read().splitlines()]),
        }

    def _generate_examples(self, members):
        for name in sorted(members, reverse=True):
            yield name, {"name": name, "text": members[name].read().decode()}

    def _named(self, names):
        for number, name in enumerate(names):
            yield number, {"name": name, "text": ""}
