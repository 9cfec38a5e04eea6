"""Sounds as arrays, as bytes from an archive, as paths."""

import numpy as np

import datasets


class SoundValues(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="archive"), datasets.BuilderConfig(name="arrays")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"audio": datasets.features.Audio(sampling_rate=None if self.config.name == "archive" else 16_000), "id": datasets.Value("string")})
        )

    def _split_generators(self, dl_manager):
        archive = dl_manager.download("sounds.tar.gz")
        return [datasets.SplitGenerator(name="train", gen_kwargs={"files": dl_manager.iter_archive(archive)})]

    def _generate_examples(self, files):
        if self.config.name == "archive":
            for path, f in files:
                yield path, {"audio": {"path": path, "bytes": f.read()}, "id": path[-5:]}
        else:
            wave = np.sin(np.arange(160) / 5).astype("float32") / 2
            yield 0, {"audio": {"array": wave, "sampling_rate": 16_000}, "id": "array"}
            yield 1, {"audio": {"array": wave, "sampling_rate": 16_000, "path": "named.wav"}, "id": "with path"}
            yield 2, {"audio": None, "id": "none"}
