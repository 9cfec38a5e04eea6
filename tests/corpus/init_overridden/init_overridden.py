"""A builder that has an __init__ of its own."""

import datasets


class InitOverridden(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="a"), datasets.BuilderConfig(name="b")]
    DEFAULT_CONFIG_NAME = "b"
    DEFAULT_WRITER_BATCH_SIZE = 2

    def __init__(self, *args, writer_batch_size=None, **kwargs):
        super(InitOverridden, self).__init__(*args, writer_batch_size=writer_batch_size or 1, **kwargs)
        self._seen = []
        self.greeting = "hello " + self.config.name

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        self._seen.append("split")
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"n": 5})]

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {"text": "%s %d %s" % (self.greeting, i, self._seen)}
