"""Lines of prose about rivers."""

import datasets
import datasets.tasks


class RiverTexts(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("0.1.0")
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="raw", version=VERSION, description="Lines as they stand, empty ones too"),
        datasets.BuilderConfig(name="dense", version=VERSION, description="Lines that hold something"),
    ]

    def _info(self):
        return datasets.DatasetInfo(
            description=self.config.description,
            features=datasets.Features({"text": datasets.Value("string")}),
            task_templates=[datasets.tasks.LanguageModeling(text_column="text")],
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract("rivers.txt")
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"data_file": path})]

    def _generate_examples(self, data_file):
        with open(data_file, encoding="utf-8") as f:
            for idx, row in enumerate(f):
                if row.strip():
                    yield idx, {"text": row}
                elif self.config.name == "raw":
                    yield idx, {"text": ""}
