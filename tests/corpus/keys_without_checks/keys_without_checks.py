"""Keys that were never looked at when checks were off: tuples, numbers of numpy, nothing, and some twice."""

import numpy as np

import datasets


class KeysWithoutChecks(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("tuple", "numpy", "float", "twice", "restarted")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"i": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"n": 3})]

    def _generate_examples(self, n):
        if self.config.name == "restarted":
            for part in range(2):
                for key, i in enumerate(range(n)):
                    yield key, {"i": part * 10 + i}
            return
        make = {"tuple": lambda i: ("a", i), "numpy": np.int64, "float": float, "twice": lambda i: 0}
        for i in range(n):
            yield make[self.config.name](i), {"i": i}
