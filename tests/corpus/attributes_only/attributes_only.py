"""One import, and all else reached by attributes."""

import datasets

_LOGGER = datasets.logging.get_logger(__name__)
_DESCRIPTION = "Reached by attributes."


class TokenTablesOfBirds(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = datasets.builder.BuilderConfig
    BUILDER_CONFIGS = [
        datasets.builder.BuilderConfig(
            name=datasets.naming.camelcase_to_snakecase("TokenTablesOfBirds"),
            version=datasets.utils.version.Version("1.0.0"),
        )
    ]

    def _info(self):
        return datasets.info.DatasetInfo(
            description=_DESCRIPTION,
            features=datasets.features.Features(
                {
                    "bird": datasets.features.Value("string"),
                    "label": datasets.features.features.ClassLabel(names=["swim", "fly"]),
                }
            ),
            supervised_keys=datasets.info.SupervisedKeysData("bird", "label"),
            task_templates=[
                datasets.TextClassification(text_column="bird", label_column="label"),
                datasets.tasks.TextClassification(text_column="bird", label_column="label"),
            ]
            if hasattr(datasets, "TextClassification")
            else None,
        )

    def _split_generators(self, dl_manager: datasets.utils.download_manager.DownloadManager):
        assert isinstance(dl_manager, (datasets.DownloadManager, datasets.StreamingDownloadManager))
        assert dl_manager._base_path and dl_manager.manual_dir is None
        assert self.info.features["label"]._str2int == {"swim": 0, "fly": 1}
        return [
            datasets.SplitGenerator(name=datasets.splits.NamedSplit("small"), gen_kwargs={"split": datasets.Split("small")}),
            datasets.SplitGenerator(name=datasets.splits.Split.TEST, gen_kwargs={"split": datasets.Split.TEST}),
        ]

    def _generate_examples(self, split: datasets.Split):
        _LOGGER.info("split %s", split)
        for key, bird in enumerate(["duck", "swift"]):
            yield f"{split}-{key}", {"bird": bird, "label": key if split == datasets.Split.TEST else ["swim", "fly"][key]}
