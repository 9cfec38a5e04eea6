"""Takes the features of load_dataset where there are some."""

import datasets


class UserFeatures(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"a": datasets.Value("int64"), "b": datasets.Value("string")}),
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={})]

    def _generate_examples(self):
        for i in range(3):
            yield i, {"a": i, "b": str(i)}
