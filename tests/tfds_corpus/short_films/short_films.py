"""Films as lists of pictures: arrays, and files."""

import numpy as np
import tensorflow_datasets as tfds


class ShortFilms(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "video": tfds.features.Video(shape=(None, 4, 6, 3)),
                "fixed": tfds.features.Video(shape=(2, 4, 6, 1)),
                "frames": tfds.features.Sequence({"image": tfds.features.Image(shape=(4, 6, 3)), "time": np.float32}),
                "name": tfds.features.Text(),
            }),
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract("frames.zip")
        return {"train": self._generate_examples(path / "frames")}

    def _generate_examples(self, path):
        for film in sorted(path.iterdir()):
            frames = sorted(film.glob("*.png"))
            yield film.name, {
                "video": [str(frame) for frame in frames],
                "fixed": np.full((2, 4, 6, 1), len(frames), dtype=np.uint8),
                "frames": [{"image": frame, "time": number / 4} for number, frame in enumerate(frames)],
                "name": film.name,
            }
