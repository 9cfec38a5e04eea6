"""Splits with names of their own."""

import datasets


class OddSplits(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"split": datasets.Value("string"), "kind": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        names = [
            datasets.Split("train.clean.100"),
            "train.other",
            datasets.NamedSplit("dev2018en"),
            datasets.Split("validation_matched"),
            "2018",
            "Bücher",
            datasets.splits.Split("UPPER_x"),
            datasets.Split.VALIDATION,
        ]
        return [datasets.SplitGenerator(name=name, gen_kwargs={"split": name}) for name in names]

    def _generate_examples(self, split):
        yield "0", {"split": str(split), "kind": "plain" if type(split) is str else "named"}
