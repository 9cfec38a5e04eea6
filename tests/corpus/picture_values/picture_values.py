"""Pictures as objects, as arrays, as bytes, in lists, and none."""

import io

import numpy as np
import PIL.Image

import datasets


class PictureValues(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"image": datasets.Image(), "pages": datasets.Sequence(datasets.Image()), "mask": datasets.features.Image()})
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("dot.png")})]

    def _generate_examples(self, path):
        with open(path, "rb") as f:
            data = f.read()
        picture = PIL.Image.open(io.BytesIO(data))
        array = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        yield "object", {"image": picture, "pages": [picture, picture], "mask": None}
        yield "array", {"image": array, "pages": [], "mask": array[:, :, 0]}
        yield "bytes", {"image": {"bytes": data}, "pages": [{"bytes": data, "path": "p.png"}], "mask": path}
        yield "none", {"image": None, "pages": None, "mask": {"path": path, "bytes": None}}
        yield "grey", {"image": picture.convert("L"), "pages": [None], "mask": picture.convert("1")}
        yield "raw bytes", {"image": data, "pages": [data], "mask": None}
