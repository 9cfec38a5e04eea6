"""Files that are named in all the ways there are."""

import gzip
import os

import tensorflow_datasets.public_api as tfds

_NO = tfds.download.ExtractMethod.NO_EXTRACT


class ManyResources(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")
    MAX_SIMULTANEOUS_DOWNLOADS = 1

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({"file": tfds.features.Text(), "content": tfds.features.Text()}),
        )

    def _split_generators(self, dl_manager):
        first = dl_manager.download(tfds.download.Resource(url="one.txt"))
        nested = dl_manager.download({"a": ["one.txt", tfds.download.Resource(url="two.txt.gz", extract_method=_NO)], "b": ("one.txt",)})
        plain = dl_manager.extract({"two": nested["a"][1]})
        both = dl_manager.download_and_extract(["two.txt.gz", "one.txt"])
        with gzip.open(nested["a"][1], "rt") as f:
            packed = f.read()
        assert os.fspath(first) == os.fspath(nested["b"][0]) and isinstance(nested["b"], tuple)
        return {
            "train": self._generate_examples({"first": first, "two": plain["two"], "both0": both[0], "both1": both[1]}),
            "packed": self._texts({"packed": packed}),
        }

    def _generate_examples(self, files):
        for name, path in files.items():
            with path.open("rb") as f:
                yield name, {"file": name, "content": f.read()}

    def _texts(self, texts):
        return [(name, {"file": name, "content": text}) for name, text in texts.items()]
