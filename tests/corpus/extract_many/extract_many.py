"""Archives that are downloaded first and extracted after, several at a time."""

import os

import datasets


class ExtractMany(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        dl_manager.download_config.num_proc = 2
        archives = dl_manager.download(["a.zip", "b.zip", "c.tar.gz"])
        folders = dl_manager.extract(archives)
        dl_manager.download_config.num_proc = 1
        again = dl_manager.extract({"d": archives[1]}, num_proc=2)
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"folders": folders}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"folders": [again["d"]]}),
        ]

    def _generate_examples(self, folders):
        for folder in folders:
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    yield name, {"name": name, "text": f.read()}
