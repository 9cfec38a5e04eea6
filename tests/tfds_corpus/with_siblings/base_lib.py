"""What builders of lines have in common."""

import abc

import tensorflow_datasets.public_api as tfds


class LinesBuilder(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    FILE = None

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"line": tfds.features.Text()}))

    def _split_generators(self, dl_manager):
        path = dl_manager.download(self.FILE)
        return {"train": self._generate_examples(path)}

    @abc.abstractmethod
    def _clean(self, line):
        """The line as it is stored."""

    def _generate_examples(self, path):
        for n, line in enumerate(path.read_text().splitlines()):
            from .names_lib import key_of

            yield key_of(n), {"line": self._clean(line)}
