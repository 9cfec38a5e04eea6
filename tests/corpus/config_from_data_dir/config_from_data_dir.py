"""Reads what lies in the data_dir that a user names, or the files of its own."""

import os

import datasets


class ConfigFromDataDir(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="own", description="The files beside the script", data_dir="files"),
        datasets.BuilderConfig(name="given", description="The files in data_dir"),
    ]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string")}), description=self.config.description)

    def _split_generators(self, dl_manager):
        data_dir = self.config.data_dir
        path = dl_manager.download_and_extract(os.path.join(data_dir, "text.txt"))
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        for i, line in enumerate(open(path, "r", encoding="utf-8").readlines()):
            yield i, {"text": line}
