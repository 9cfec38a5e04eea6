"""Sentences in several languages."""

import collections
import os

from tensorflow_datasets.core.utils.lazy_imports_utils import tensorflow as tf
import tensorflow_datasets.public_api as tfds


class ParallelConfig(tfds.core.BuilderConfig):
    def __init__(self, *, language_pair=(None, None), **kwargs):
        name = "%s_to_%s" % language_pair
        super().__init__(name=name, description=f"From {language_pair[0]} to {language_pair[1]}", **kwargs)
        self.language_pair = language_pair


class ParallelLines(tfds.core.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        ParallelConfig(language_pair=("de", "en"), version=tfds.core.Version("1.0.0")),
        ParallelConfig(language_pair=("en", "de"), version=tfds.core.Version("1.0.0")),
    ]

    def _info(self):
        source, target = self.builder_config.language_pair
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "pair": tfds.features.Translation(languages=self.builder_config.language_pair),
                "all": tfds.features.TranslationVariableLanguages(languages=["de", "en", "fr"]),
                "length": tf.int32,
            }),
            supervised_keys=(source, target) if False else None,
        )

    def _split_generators(self, dl_manager):
        folder = dl_manager.extract(dl_manager.download("lines.tar"))
        files = tf.io.gfile.glob(os.path.join(folder, "lines", "*.txt"))
        assert len(files) == 3 and tf.io.gfile.exists(files[0])
        return {"train": self._generate_examples({os.path.basename(file)[:2]: file for file in files})}

    def _generate_examples(self, files):
        lines = {}
        for language, file in files.items():
            with tf.io.gfile.GFile(file) as f:
                lines[language] = f.read().split("\n")
        for number, texts in enumerate(zip(*lines.values())):
            row = collections.OrderedDict(zip(lines, texts))
            yield number, {
                "pair": {language: row[language] for language in self.builder_config.language_pair},
                "all": {"de": row["de"], "fr": [row["fr"], row["fr"].upper()]} if number % 2 else {"en": row["en"]},
                "length": len(row["de"]),
            }
