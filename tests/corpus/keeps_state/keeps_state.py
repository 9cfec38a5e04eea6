"""Keeps what it found out between its hooks, on itself."""

import json
import os

import datasets


class KeepsState(datasets.GeneratorBasedBuilder):
    def _info(self):
        self.seen = 0
        return datasets.DatasetInfo(features=datasets.Features({"word": datasets.Value("string"), "meaning": datasets.Value("string"), "seen": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        paths = dl_manager.download({"book": "book.json", "train": "train.txt", "test": "test.txt"})
        with open(paths["book"]) as f:
            self.book = json.load(f)
        self.root = os.path.dirname(paths["train"])
        return [datasets.SplitGenerator(name=name, gen_kwargs={"path": paths[name]}) for name in ("train", "test")]

    def _generate_examples(self, path):
        assert os.path.isdir(self.root)
        with open(path) as f:
            for i, word in enumerate(f.read().split()):
                self.seen += 1
                yield i, {"word": word, "meaning": self.book.get(word), "seen": i}
