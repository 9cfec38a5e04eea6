"""URLs without an ending: what they hold is told by the first bytes."""

import glob
import json
import os

import datasets


class HttpQuery(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("zip", "gz", "plain", "redirected")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"n": datasets.Value("int32"), "s": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        names = {"zip": "rows.zip", "gz": "rows.jsonl.gz"}
        base = self.config.data_dir
        if self.config.name == "redirected":
            path = dl_manager.download_and_extract(base.replace("/http_query", "/moved/http_query") + "/rows.zip")
        else:
            path = dl_manager.download_and_extract(base + "/get?id=7&name=" + names.get(self.config.name, "rows.jsonl"))
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        files = sorted(glob.glob(os.path.join(path, "*.jsonl"))) if os.path.isdir(path) else [path]
        for file in files:
            with open(file, encoding="utf-8") as f:
                for line in f:
                    row = json.loads(line)
                    yield row["n"], row
