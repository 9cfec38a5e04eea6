"""Pictures and what is said of them, behind URLs."""

import csv
import os

import datasets


class HttpPictures(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"image": datasets.Image(), "caption": datasets.Value("string"), "boxes": datasets.Sequence(datasets.Sequence(datasets.Value("float32"), length=4))})
        )

    def _split_generators(self, dl_manager):
        base = self.config.data_dir
        captions, folder = dl_manager.download_and_extract([f"{base}/captions.csv", f"{base}/pictures.zip"])
        return [datasets.SplitGenerator(name="train", gen_kwargs={"captions": captions, "image_dir": os.path.join(folder, "pictures")})]

    def _generate_examples(self, captions, image_dir):
        with open(captions, encoding="utf-8", newline="") as f:
            for row in csv.DictReader(f):
                boxes = [[float(x) for x in box.split()] for box in row["boxes"].split(";") if box]
                yield row["file"], {"image": os.path.join(image_dir, row["file"]), "caption": row["caption"], "boxes": boxes}
