"""A row may be None for nothing: rows that a script skips, splits by conditions."""

import datasets


class NoRowsOfSome(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="with_test"), datasets.BuilderConfig(name="without_test")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"n": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        splits = [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"n": 6})]
        if self.config.name == "with_test":
            splits.append(datasets.SplitGenerator(name=datasets.Split.TEST))
        return splits

    def _generate_examples(self, n=2):
        for i in range(n):
            if i % 2:
                continue
            yield i, {"n": i}
