"""A file behind a URL that stands in data_dir."""

import csv

import datasets


class HttpPlain(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"isle": datasets.Value("string"), "area": datasets.Value("float32")}))

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract(self.config.data_dir + "/isles.csv")
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepath": path})]

    def _generate_examples(self, filepath):
        with open(filepath, encoding="utf-8") as f:
            for id_, (isle, area) in enumerate(csv.reader(f)):
                if id_:
                    yield id_, {"isle": isle, "area": area and float(area)}
