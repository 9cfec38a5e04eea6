"""A list of archives, each walked by the job that gets it."""

import datasets


class ShardsOfArchives(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        archives = dl_manager.download(["box_%d.tar" % i for i in range(4)])
        return [
            datasets.SplitGenerator(
                name=datasets.Split.TRAIN, gen_kwargs={"boxes": [dl_manager.iter_archive(archive) for archive in archives]}
            )
        ]

    def _generate_examples(self, boxes):
        for box in boxes:
            for path, f in box:
                yield path, {"name": path, "text": f.read().decode("utf-8")}
