"""Many files in a list: each is a job."""

import json

import datasets


class ShardsJsonl(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="all"), datasets.BuilderConfig(name="one")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"n": datasets.Value("int32"), "tags": datasets.Sequence(datasets.Value("string"))})
        )

    def _split_generators(self, dl_manager):
        count = 5 if self.config.name == "all" else 1
        train = dl_manager.download([f"parts/part-{i:02d}.jsonl" for i in range(count)])
        test = dl_manager.download({"test": ["parts/part-00.jsonl"]})
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepaths": train}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"filepaths": test["test"]}),
        ]

    def _generate_examples(self, filepaths):
        id_ = 0
        for filepath in filepaths:
            with open(filepath, encoding="utf-8") as f:
                for line in f:
                    yield f"{filepath}-{id_}", json.loads(line)
                    id_ += 1
