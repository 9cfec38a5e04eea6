"""No list of configs: the config is made of what the user says."""

import datasets


class CountConfig(datasets.BuilderConfig):
    def __init__(self, start=1, stop=3, labels=("odd", "even"), **kwargs):
        super().__init__(version=datasets.Version("0.2.0"), **kwargs)
        self.start = start
        self.stop = stop
        self.labels = labels


class ConfigWithoutConfigs(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = CountConfig

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"n": datasets.Value("int64"), "kind": datasets.ClassLabel(names=self.config.labels)})
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"numbers": range(self.config.start, self.config.stop)})]

    def _generate_examples(self, numbers):
        for n in numbers:
            yield n, {"n": n, "kind": self.config.labels[(n + 1) % 2]}
