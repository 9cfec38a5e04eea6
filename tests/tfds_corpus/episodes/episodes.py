"""Episodes of steps, as robots record them."""

import numpy as np
import tensorflow_datasets.public_api as tfds


class Episodes(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        step = {
            "observation": {"position": tfds.features.Tensor(shape=(2,), dtype=np.float32), "camera": tfds.features.Image(shape=(3, 4, 3))},
            "action": np.int32,
            "is_last": np.bool_,
        }
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({
                "steps": tfds.features.Dataset(step),
                "episode_metadata": {"path": tfds.features.Text(), "rewards": tfds.features.Dataset(np.float32)},
            }),
            description="Steps.",
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(3)}

    def _generate_examples(self, count):
        for episode in range(count):
            steps = [
                {
                    "observation": {"position": [step, episode / 2], "camera": np.full((3, 4, 3), 10 * step + episode, np.uint8)},
                    "action": step,
                    "is_last": step == episode,
                }
                for step in range(episode + 1)
            ]
            yield f"episode_{episode}", {
                "steps": steps,
                "episode_metadata": {"path": f"/data/{episode}", "rewards": (np.float32(n) for n in range(episode))},
            }
