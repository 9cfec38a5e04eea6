"""A script whose splits and checksums are recorded in the old way."""

import json

import datasets


class RecordedInfos(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="right", version=datasets.Version("1.0.0")),
        datasets.BuilderConfig(name="more_rows", version=datasets.Version("1.0.0")),
        datasets.BuilderConfig(name="more_splits", version=datasets.Version("1.0.0")),
        datasets.BuilderConfig(name="not_recorded", version=datasets.Version("1.0.0")),
    ]

    def _info(self):
        return datasets.DatasetInfo(
            description="Recorded.",
            features=datasets.Features(
                {
                    "q": datasets.Value("string"),
                    "a": datasets.Sequence({"text": datasets.Value("string"), "n": datasets.Value("int32")}),
                    "label": datasets.ClassLabel(names=["x", "y"]),
                }
            ),
            supervised_keys=("q", "label"),
            task_templates=[datasets.tasks.TextClassification(text_column="q", label_column="label")],
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": dl_manager.download_and_extract("rows.jsonl")})]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as f:
            for i, line in enumerate(f):
                yield i, json.loads(line)
