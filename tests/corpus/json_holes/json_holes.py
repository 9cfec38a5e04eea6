"""Rows with fields that are null, that are missing, that nobody asked for, and in another order."""

import json

import datasets


class JsonHoles(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "id": datasets.Value("int64"),
                    "name": datasets.Value("string"),
                    "ok": datasets.Value("bool"),
                    "tags": datasets.Sequence(datasets.Value("string")),
                    "place": {"x": datasets.Value("float64"), "y": datasets.Value("float64"), "names": [datasets.Value("string")]},
                    "notes": [{"who": datasets.Value("string"), "said": datasets.Value("string")}],
                    "links": datasets.Sequence({"url": datasets.Value("string"), "n": datasets.Value("int32")}),
                    "label": datasets.ClassLabel(names=["a", "b"]),
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("holes.json")})]

    def _generate_examples(self, path):
        with open(path, "rb") as f:
            for key, row in enumerate(json.load(f)["rows"]):
                yield key, row
