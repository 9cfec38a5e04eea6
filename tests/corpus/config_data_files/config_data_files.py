"""Reads the data_files that a user names."""

import datasets


class ConfigDataFiles(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string"), "file": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        if not self.config.data_files:
            raise ValueError("Name data_files, please.")
        files = dl_manager.download_and_extract(self.config.data_files)
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"files": [each for each in dl_manager.iter_files(found)]})
            for split, found in files.items()
        ]

    def _generate_examples(self, files):
        for file in files:
            with open(file, encoding="utf-8") as f:
                for i, line in enumerate(f):
                    name = file.split("/")[-1]
                    yield name + str(i), {"text": line.rstrip(), "file": name}
