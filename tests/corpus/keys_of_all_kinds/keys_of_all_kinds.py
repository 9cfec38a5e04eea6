"""Keys: numbers, texts, bytes, numbers of numpy."""

import uuid

import numpy as np

import datasets


class KeysOfAllKinds(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name=name) for name in ("int", "str", "bytes", "numpy_str", "bool", "mixed", "negative", "huge", "uuid", "slashes")
    ]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"i": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"n": 3})]

    def _generate_examples(self, n):
        make = {
            "int": lambda i: i * 1000,
            "str": lambda i: "k%d" % i,
            "bytes": lambda i: b"\xff%d" % i,
            "numpy_str": lambda i: np.str_("k") + str(i),
            "bool": lambda i: i == 0 if i < 2 else 2,
            "mixed": lambda i: [0, "one", b"two"][i],
            "negative": lambda i: -i,
            "huge": lambda i: 2**70 + i,
            "uuid": lambda i: str(uuid.UUID(int=i)),
            "slashes": lambda i: "a\\b/%d é" % i,
        }[self.config.name]
        for i in range(n):
            yield make(i), {"i": i}


