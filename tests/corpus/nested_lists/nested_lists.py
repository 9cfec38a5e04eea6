"""Lists in dicts in lists, with every kind of nothing."""

import json

import datasets


class NestedLists(datasets.GeneratorBasedBuilder):
    def _info(self):
        point = {"x": datasets.Value("float32"), "y": datasets.Value("float32")}
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "ids": datasets.Sequence(datasets.Value("int32")),
                    "pair": datasets.Sequence(datasets.Value("int64"), length=2),
                    "words": [datasets.Value("string")],
                    "grid": [[datasets.Value("int8")]],
                    "grid_of_sequences": datasets.Sequence(datasets.Sequence(datasets.Value("string"))),
                    "points": [point],
                    "lines": datasets.Sequence(point),
                    "lines_of_lines": datasets.Sequence({"name": datasets.Value("string"), "points": datasets.Sequence(point)}),
                    "mixed": datasets.Sequence({"tags": [datasets.Value("string")], "at": point}),
                    "box": {"inner": {"deep": datasets.Sequence({"k": datasets.Value("string")})}},
                    "of_lists": datasets.Sequence([{"n": datasets.Value("int32")}]),
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": dl_manager.download("nested.jsonl")})]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as f:
            for key, line in enumerate(f):
                yield key, json.loads(line)
