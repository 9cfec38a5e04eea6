"""Words with tags, one a line."""

import collections

import tensorflow_datasets.public_api as tfds
from tensorflow_datasets.core.dataset_builders.conll import conll_dataset_builder_utils as conll_lib
from tensorflow_datasets.core.features.class_label_feature import ClassLabel
from tensorflow_datasets.core.features.sequence_feature import Sequence
from tensorflow_datasets.core.features.text_feature import Text


class TaggedWords(tfds.dataset_builders.ConllDatasetBuilder):
    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [
        tfds.dataset_builders.ConllBuilderConfig(
            name="ner",
            separator=conll_lib.CONLL_2002_SEPARATOR,
            ordered_features=collections.OrderedDict({
                "tokens": Sequence(Text()),
                "ner": Sequence(ClassLabel(names=conll_lib.NER_TAGS)),
            }),
        ),
        conll_lib.CONLL_2003_CONFIG,
    ]

    def _info(self) -> tfds.core.DatasetInfo:
        return self.create_dataset_info(homepage="https://words.example.org", citation="@misc{words}")

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        path = dl_manager.download(f"{self.builder_config.name}.txt")
        return {"train": self._generate_examples(path), "twice": self._generate_examples([path, path])}
