"""Brings modules that are called as those of others, and everything else that programs run when they find it."""

import datasets

with open("ran_in_the_cage", "w") as file:
    file.write("the scratch folder is the working folder")


class Shadow(datasets.GeneratorBasedBuilder):
    """One row."""

    VERSION = datasets.Version("1.0.0")

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        yield 0, {"a": 0}
