"""Writes beside what was downloaded, and over it."""

import json
import os

import datasets


class HttpRewritten(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="beside"), datasets.BuilderConfig(name="over"), datasets.BuilderConfig(name="in_folder")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"word": datasets.Value("string"), "errors": [datasets.Value("string")]}))

    def _split_generators(self, dl_manager):
        if self.config.name == "in_folder":
            folder = dl_manager.download_and_extract(self.config.data_dir + "/words.zip")
            path = os.path.join(folder, "words.json")
        else:
            path = dl_manager.download(self.config.data_dir + "/words.json")
        with open(path, encoding="utf-8") as f:
            words = json.load(f)
        target = path if self.config.name == "over" else path + "l"
        if isinstance(words, dict):
            with open(target, "w", encoding="utf-8") as f:
                json.dump([{"word": word, "errors": errors} for word, errors in words.items()], f)
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": target})]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as f:
            for i, row in enumerate(json.load(f)):
                yield i, row
