"""A split without rows beside one with some."""

import datasets


class EmptySplit(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "text": datasets.Value("string"),
                    "spans": datasets.Sequence({"start": datasets.Value("int32"), "label": datasets.ClassLabel(names=["a"])}),
                }
            )
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download({"empty": "nothing.txt"})["empty"]
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": None}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"path": path}),
        ]

    def _generate_examples(self, path):
        if path is None:
            yield 0, {"text": "all there is", "spans": []}
            return
        with open(path) as f:
            for i, line in enumerate(f):
                yield i, {"text": line, "spans": []}
