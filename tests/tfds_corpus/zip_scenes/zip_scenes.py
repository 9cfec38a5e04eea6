"""Pictures and masks in folders of a zip archive; the names of the classes stand in the archive."""

from etils import epath
import tensorflow as tf
import tensorflow_datasets as tfds


class ZipScenes(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.2.0")

    def _info(self):
        return self.dataset_info_from_configs(
            description="Scenes with masks.",
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(),
                "mask": tfds.features.LabeledImage(labels=4, shape=(None, None, 1)),
                "label": tfds.features.ClassLabel(),
                "second": tfds.features.ClassLabel(num_classes=3),
            }),
            supervised_keys=("image", "mask"),
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract("scenes.zip") / "scenes"
        with (path / "classes.txt").open() as f:
            names = [line.strip() for line in f if line.strip()]
        self.info.features["label"].names = names
        self.info.features["second"].names = names
        assert self.info.features["label"].num_classes == len(names) == 3
        return {part.name: self._generate_examples(part) for part in sorted(path.iterdir()) if part.is_dir()}

    def _generate_examples(self, path: epath.Path):
        assert not any(name.startswith(".") for name in tf.io.gfile.listdir(path / "images"))
        for image in sorted(path.glob("images/*.png")):
            label = (path / "labels" / image.name).with_suffix(".txt")
            assert label.exists() and not tf.io.gfile.isdir(label)
            yield image.stem, {
                "image": image,
                "mask": path / "masks" / f"{image.stem}.png",
                "label": label.read_text().strip(),
                "second": self.info.features["second"].str2int(label.read_text().strip()),
            }
