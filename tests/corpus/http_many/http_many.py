"""URLs in a dict of dicts and lists, packed in several ways."""

import os
from urllib.parse import urljoin

import datasets

_NAMES = {"train": {"texts": ["one.txt.gz", "two.txt"], "box": "box.zip"}, "test": {"texts": ["one.txt.gz"], "box": "box.zip"}}


class HttpMany(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"from": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        base = self.config.data_dir + "/"
        urls = {
            split: {"texts": [urljoin(base, name) for name in parts["texts"]], "box": urljoin(base, parts["box"])}
            for split, parts in _NAMES.items()
        }
        found = dl_manager.download_and_extract(urls)
        return [datasets.SplitGenerator(name=split, gen_kwargs={"found": parts}) for split, parts in found.items()]

    def _generate_examples(self, found):
        for i, path in enumerate(found["texts"]):
            with open(path, encoding="utf-8") as f:
                yield "text %d" % i, {"from": "text", "text": f.read()}
        for name in sorted(os.listdir(os.path.join(found["box"], "box"))):
            with open(os.path.join(found["box"], "box", name), encoding="utf-8") as f:
                yield name, {"from": name, "text": f.read()}
