"""Three configs, the last of which is the one that is meant."""

import datasets

_NAMES = ["small", "medium", "large"]


class DefaultConfig(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("3.0.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name, version=datasets.Version("3.0.0"), description=name.title()) for name in _NAMES]
    DEFAULT_CONFIG_NAME = "large"

    def _info(self):
        if self.config.name == "small":
            features = datasets.Features(n=datasets.Value("int8"))
        else:
            features = datasets.Features({"n": datasets.Value("int8"), "size": datasets.Value("string")})
        return datasets.DatasetInfo(features=features, description=self.config.description)

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"n": _NAMES.index(self.config.name) + 1})]

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {"n": i, "size": self.config.name}
