"""All that may be said of a dataset."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class ToldApart(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0", experiments={})

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            description="""
            Told at length.

              Indented.
            """,
            features=tfds.features.FeaturesDict({"x": {"a": np.int64, "b": tfds.features.Text()}, "y": np.int64, "z": np.float32}),
            supervised_keys=({"left": "y", "right": "z"}, "y"),
            homepage="https://told.example.org",
            citation="""@misc{told,
  title={Told}
}""",
            metadata=tfds.core.MetadataDict(names=["a", "b"], rate=16000),
            license="CC BY 4.0",
            redistribution_info={"license": "CC BY 4.0"},
        )

    def _split_generators(self, dl_manager):
        self.info.metadata["seen"] = True
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        assert self.info.metadata["rate"] == 16000
        for n in range(6):
            yield ("key", n)[1], {"x": {"a": n, "b": str(n)}, "y": n * n, "z": n / 3}
