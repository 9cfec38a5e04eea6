"""Steps of episodes that are given by columns, as arrays of the same length."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class ColumnSteps(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        step = {
            "action": tfds.features.Tensor(shape=(2,), dtype=np.float32),
            "reward": np.float32,
            "is_last": np.bool_,
            "name": tfds.features.Text(),
            "camera": tfds.features.Image(shape=(2, 3, 3)),
            "infos": {"goal": tfds.features.Tensor(shape=(3,), dtype=np.float32), "deep": {"count": np.int64}},
        }
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "steps": tfds.features.Dataset(step),
                "pairs": tfds.features.Sequence({"a": np.int32, "inner": {"b": tfds.features.Text()}}),
            }),
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(range(1, 4)), "rows": self._generate_rows(range(1, 4))}

    def _columns(self, length):
        return {
            "action": np.arange(2 * length, dtype=np.float32).reshape(length, 2) / 8,
            "reward": np.arange(length, dtype=np.float32),
            "is_last": np.arange(length) == length - 1,
            "name": [f"step {number}" for number in range(length)],
            "camera": np.arange(length * 18, dtype=np.uint8).reshape(length, 2, 3, 3),
            "infos": {
                "goal": np.ones((length, 3), np.float32) / 4,
                "deep": {"count": list(range(length))},
            },
        }

    def _generate_examples(self, lengths):
        for length in lengths:
            pairs = {"a": np.arange(length), "inner": {"b": [str(number) for number in range(length)]}}
            yield length, {"steps": self._columns(length), "pairs": pairs}

    def _generate_rows(self, lengths):
        for length in lengths:
            columns = self._columns(length)
            steps = (
                {
                    **{name: part[number] for name, part in columns.items() if name != "infos"},
                    "infos": {"goal": columns["infos"]["goal"][number], "deep": {"count": number}},
                }
                for number in range(length)
            )
            yield length, {"steps": steps, "pairs": [{"a": number, "inner": {"b": str(number)}} for number in range(length)]}
