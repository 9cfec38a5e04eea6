"""Objects in pictures, whose classes are named by the annotations when the rows are made."""

import json

import numpy as np
import tensorflow_datasets.public_api as tfds


class BoxedObjects(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.1.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "image/id": np.int64,
                "objects": tfds.features.Sequence({
                    "bbox": tfds.features.BBoxFeature(),
                    "area": np.int64,
                    "label": tfds.features.ClassLabel(num_classes=3),
                    "is_crowd": np.bool_,
                }),
                "whole": tfds.features.BBoxFeature(doc="Around all"),
            }),
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download("instances.json")
        return [tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        data = json.loads(path.read_text())
        self.info.features["objects"]["label"].names = [each["name"] for each in data["categories"]]
        names = {each["id"]: each["name"] for each in data["categories"]}
        for image in data["images"]:
            height, width = image["height"], image["width"]

            def box(x, y, w, h):
                return tfds.features.BBox(
                    ymin=y / height, xmin=x / width, ymax=(y + h) / height, xmax=(x + w) / width
                )

            found = [each for each in data["annotations"] if each["image_id"] == image["id"]]
            yield image["file_name"], {
                "image/id": image["id"],
                "objects": [
                    {
                        "bbox": box(*each["bbox"]),
                        "area": each["area"],
                        "label": names[each["category_id"]],
                        "is_crowd": bool(each["iscrowd"]),
                    }
                    for each in found
                ],
                "whole": np.array([0.0, 0.25, 0.5, 1.0]),
            }
