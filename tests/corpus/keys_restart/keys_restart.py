"""Several loops whose keys do not meet."""

import datasets


class KeysRestart(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"part": datasets.Value("string"), "i": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"parts": ("x", "y")}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"parts": ("x",)}),
        ]

    def _generate_examples(self, parts):
        for part in parts:
            for i in range(2):
                yield "%s-%d" % (part, i), {"part": part, "i": i}
        for number, part in enumerate(parts):
            yield number, {"part": part.upper(), "i": number}
