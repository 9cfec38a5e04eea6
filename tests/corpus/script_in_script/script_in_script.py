"""A script that loads another dataset."""

import datasets


class ScriptInScript(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"city": datasets.Value("string"), "people": datasets.Value("int64"), "big": datasets.Value("bool")})
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": dl_manager.download("cities.csv")})]

    def _generate_examples(self, path):
        cities = datasets.load_dataset("csv", data_files={"train": path}, split="train")
        for key, row in enumerate(cities):
            yield key, dict(row, big=row["people"] > 100)
