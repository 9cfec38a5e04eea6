"""Small tiles in an archive, walked by two splits."""

import os

import datasets
from datasets.tasks import ImageClassification

_NAMES = ["moss", "sand", "slate"]


class TilePictures(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "image": datasets.Image(),
                    "labels": datasets.features.ClassLabel(names=_NAMES),
                }
            ),
            supervised_keys=("image", "labels"),
            task_templates=[ImageClassification(image_column="image", label_column="labels")],
        )

    def _split_generators(self, dl_manager):
        archive = dl_manager.download("tiles.tar.gz")
        return [
            datasets.SplitGenerator(
                name=datasets.Split.TRAIN, gen_kwargs={"files": dl_manager.iter_archive(archive), "split": "train"}
            ),
            datasets.SplitGenerator(
                name=datasets.Split.TEST, gen_kwargs={"files": dl_manager.iter_archive(archive), "split": "test"}
            ),
        ]

    def _generate_examples(self, files, split):
        for path, f in files:
            folder, label, name = path.split("/")[-3:]
            if folder == split and name.endswith(".png"):
                yield os.path.basename(path), {"image": {"path": path, "bytes": f.read()}, "labels": label}
