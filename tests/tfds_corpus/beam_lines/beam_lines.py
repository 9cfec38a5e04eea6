"""Lines that a pipeline of Apache Beam counts."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class BeamLines(tfds.core.BeamBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict({"line": tfds.features.Text(), "length": np.int64})
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download("lines.txt")
        return [tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"path": str(path)})]

    def _build_pcollection(self, pipeline, path):
        beam = tfds.core.lazy_imports.apache_beam

        def rows(path):
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f):
                    yield number, line.strip()

        return (
            pipeline
            | beam.Create([path])
            | beam.FlatMap(rows)
            | beam.Map(lambda pair: (f"line{pair[0]}", {"line": pair[1], "length": len(pair[1])}))
        )
