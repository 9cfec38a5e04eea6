"""Numbers, texts and arrays of numpy as values of rows."""

import numpy as np

import datasets


class NumpyValues(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "i": datasets.Value("int32"),
                    "u": datasets.Value("uint8"),
                    "f": datasets.Value("float32"),
                    "d": datasets.Value("float64"),
                    "b": datasets.Value("bool"),
                    "s": datasets.Value("string"),
                    "when": datasets.Value("timestamp[s]"),
                    "vector": datasets.Sequence(datasets.Value("float32")),
                    "matrix": [[datasets.Value("int64")]],
                    "bools": datasets.Sequence(datasets.Value("bool")),
                    "words": datasets.Sequence(datasets.Value("string")),
                    "label": datasets.ClassLabel(names=["lo", "hi"]),
                    "labels": datasets.Sequence(datasets.ClassLabel(names=["lo", "hi"])),
                    "from_npy": datasets.Sequence(datasets.Value("int16"), length=3),
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": dl_manager.download("table.npy")})]

    def _generate_examples(self, path):
        table = np.load(path)
        rng = np.random.RandomState(7)
        for i, row in enumerate(table):
            yield i, {
                "i": np.int64(i - 1),
                "u": np.uint8(255 - i),
                "f": np.float64(0.1),
                "d": np.float32(0.1),
                "b": np.bool_(i % 2),
                "s": np.str_("café"),
                "when": np.datetime64("2021-03-04T05:06:07"),
                "vector": rng.rand(2),
                "matrix": np.arange(6).reshape(2, 3)[: i % 3],
                "bools": np.array([True, False]),
                "words": np.array(["a", "bc"]),
                "label": np.int64(i % 2),
                "labels": np.array([i % 2, 1]),
                "from_npy": row,
            }
