"""Words that were spoken: files below folders, and the same sounds as arrays."""

import os
import wave

import numpy as np
import tensorflow as tf
import tensorflow_datasets.public_api as tfds


class SpokenWords(tfds.core.GeneratorBasedBuilder):
    """A builder of sounds."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "audio": tfds.features.Audio(file_format="wav", sample_rate=8000),
                "stereo": tfds.features.Audio(file_format="wav", shape=(None, 2), sample_rate=8000, dtype=np.int16),
                "samples": tfds.features.Audio(sample_rate=8000, dtype=np.int16),
                "label": tfds.features.ClassLabel(names=["no", "yes"]),
                "speaker": tfds.features.Text(),
            }),
            supervised_keys=("audio", "label"),
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract("words.zip")
        return {"train": self._generate_examples(os.path.join(path, "words"))}

    def _generate_examples(self, path):
        for root, _, names in tf.io.gfile.walk(path):
            for name in names:
                if not name.endswith(".wav") or name.endswith("_stereo.wav"):
                    continue
                file = os.path.join(root, name)
                with tf.io.gfile.GFile(file, "rb") as f, wave.open(f) as sound:
                    samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")
                yield os.path.relpath(file, path), {
                    "audio": file,
                    "stereo": file.replace(".wav", "_stereo.wav"),
                    "samples": samples,
                    "label": os.path.basename(root),
                    "speaker": name.split("_")[0],
                }
