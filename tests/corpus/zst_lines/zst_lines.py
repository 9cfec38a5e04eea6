"""Lines in a file of zstandard."""

import io
import json

import datasets

try:
    import zstandard as zstd
except ImportError:
    zstd = None


class ZstLines(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="by_hand"), datasets.BuilderConfig(name="extracted")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"text": datasets.Value("string"), "meta": {"set": datasets.Value("string")}})
        )

    def _split_generators(self, dl_manager):
        if self.config.name == "by_hand":
            path = dl_manager.download("lines.jsonl.zst")
        else:
            path = dl_manager.download_and_extract("lines.jsonl.zst")
        return [datasets.SplitGenerator(name="train", gen_kwargs={"paths": [path]})]

    def _generate_examples(self, paths):
        key = 0
        for path in paths:
            if self.config.name == "by_hand":
                with zstd.open(open(path, "rb"), "rt", encoding="utf-8") as f:
                    rows = [json.loads(line) for line in f]
            else:
                with io.open(path, encoding="utf-8") as f:
                    rows = [json.loads(line) for line in f]
            for row in rows:
                yield key, row
                key += 1
