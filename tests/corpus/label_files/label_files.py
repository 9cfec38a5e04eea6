"""Names of labels that stand in a file."""

import os

import datasets


class LabelFiles(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"word": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        paths = dl_manager.download({"names": "animals.txt", "words": "words.tsv"})
        self.info.features["animal"] = datasets.ClassLabel(names_file=paths["names"])
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": paths["words"]})]

    def _generate_examples(self, path):
        names = self.info.features["animal"].names
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f):
                word, animal = line.split()
                assert animal in names, os.path.basename(path)
                yield number, {"word": word, "animal": animal}
