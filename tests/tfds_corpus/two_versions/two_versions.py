"""A dataset whose second version has one more column."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class TwoVersions(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("2.1.0")
    SUPPORTED_VERSIONS = [tfds.core.Version("2.0.0"), tfds.core.Version("3.0.0")]
    RELEASE_NOTES = {"2.0.0": "First.", "2.1.0": "Names."}

    def _info(self):
        features = {"n": np.int64}
        if self.version > "2.0.0":
            features["name"] = tfds.features.Text()
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

    def _split_generators(self, dl_manager):
        return [tfds.core.SplitGenerator(name=name, gen_kwargs={"count": n}) for n, name in enumerate(("none", "some", "more-rows"), 2)]

    def _generate_examples(self, count):
        for n in range(count):
            yield str(n), {"n": n, "name": f"row {n}"} if self.version >= tfds.core.Version("2.1.0") else {"n": n}
