"""Pictures in a tar archive, walked by two splits."""

import os

import tensorflow_datasets.public_api as tfds


class TarPictures(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("0.1.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(shape=(None, None, 3)),
                "gray": tfds.features.Image(shape=(6, 8, 1), encoding_format="png"),
                "image/filename": tfds.features.Text(),
                "label": tfds.features.ClassLabel(names=["cat", "dog"]),
            }),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, dl_manager):
        archive = dl_manager.download("pictures.tar.gz")
        return [
            tfds.core.SplitGenerator(name=split, gen_kwargs={"archive": dl_manager.iter_archive(archive), "folder": folder})
            for split, folder in ((tfds.Split.TRAIN, "train"), (tfds.Split.TEST, "test"))
        ]

    def _generate_examples(self, archive, folder):
        for name, file in archive:
            part, label, short = name.split("/")[-3:]
            if part == folder and short.endswith(".png"):
                image = tfds.core.lazy_imports.PIL_Image.open(file)
                gray = tfds.core.lazy_imports.PIL_Image.new("L", (8, 6), image.size[0])
                file.seek(0)
                yield f"{label}/{short}", {
                    "image": file,
                    "gray": _array(gray),
                    "image/filename": os.path.basename(name),
                    "label": label,
                }


def _array(image):
    import numpy as np

    return np.array(image)[..., np.newaxis]
