"""Features that the user may choose, by the config or by load_dataset."""

import json

import datasets


class FeaturesConfig(datasets.BuilderConfig):
    def __init__(self, features=None, data_url=None, citation="", url="", label_classes=("False", "True"), **kwargs):
        super().__init__(version=datasets.Version("1.0.2"), **kwargs)
        self.features = features
        self.label_classes = label_classes
        self.data_url = data_url
        self.citation = citation
        self.url = url


class ConfigFeatures(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        FeaturesConfig(name="wet", description="Is it wet?", features=["question", "passage"], data_url="wet.jsonl", url="https://example.org"),
        FeaturesConfig(name="deep", features=["question"], label_classes=["shallow", "deep"], data_url="deep.jsonl", citation="@misc{deep}"),
    ]

    def _info(self):
        features = {feature: datasets.Value("string") for feature in self.config.features}
        features["label"] = datasets.features.ClassLabel(names=self.config.label_classes)
        features["idx"] = datasets.Value("int32")
        return datasets.DatasetInfo(
            description="What is asked of lakes. " + (self.config.description or ""),
            features=datasets.Features(features),
            homepage=self.config.url,
            citation=self.config.citation,
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract(self.config.data_url) or ""
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"data_file": path, "split": split})
            for split in (datasets.Split.TRAIN, datasets.Split.VALIDATION, datasets.Split.TEST)
        ]

    def _generate_examples(self, data_file, split):
        with open(data_file, encoding="utf-8") as f:
            for line in f:
                row = json.loads(line)
                if row["split"] != split:
                    continue
                example = {feature: row[feature] for feature in self.config.features}
                example["idx"] = row["idx"]
                if "label" in row:
                    example["label"] = self._cast_label(row["label"])
                else:
                    assert split == datasets.Split.TEST, split
                    example["label"] = -1
                yield example["idx"], example

    def _cast_label(self, label):
        return ("True" if label else "False") if isinstance(label, bool) else str(label)
