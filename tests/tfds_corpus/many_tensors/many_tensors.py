"""Arrays of all shapes and types."""

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

ZLIB = tfds.features.Encoding.ZLIB


class ManyTensors(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict({
            "row": tfds.features.Tensor(shape=(3,), dtype=np.float32),
            "any": tfds.features.Tensor(shape=(None,), dtype=np.int64),
            "matrix": tfds.features.Tensor(shape=(2, 3), dtype=np.uint8),
            "rows": tfds.features.Tensor(shape=(None, 2), dtype=tf.float64, encoding=ZLIB),
            "cube": tfds.features.Tensor(shape=(2, 1, 2), dtype=tf.int16, encoding=tfds.features.Encoding.BYTES),
            "flags": tfds.features.Tensor(shape=(2,), dtype=np.bool_),
            "words": tfds.features.Tensor(shape=(2,), dtype=np.str_),
            "scalar": tfds.features.Tensor(shape=(), dtype=tf.float16),
            "small": tfds.features.Scalar(np.int8),
            "big": tfds.features.Scalar(dtype=tf.uint64),
            "truth": np.bool_,
            "list": tfds.features.Sequence(tfds.features.Tensor(shape=(2,), dtype=np.int32)),
            "three": tfds.features.Sequence(np.float32, length=3),
            "letters": tfds.features.Sequence(tfds.features.ClassLabel(names=["a", "b", "c"])),
            "boxes": tfds.features.Sequence(tfds.features.BBoxFeature()),
        })
        assert features["matrix"].shape == (2, 3) and features["row"].dtype == np.float32
        assert features["rows"].shape == (None, 2) and features["small"].np_dtype == np.int8
        assert isinstance(features["list"], tfds.features.Sequence)
        assert isinstance(features["row"], tfds.features.Tensor) and isinstance(features["small"], tfds.features.Scalar)
        assert not isinstance(features["list"], tfds.features.Tensor) and isinstance(features, tfds.features.FeaturesDict)
        assert features["letters"].feature.num_classes == 3 and features["letters"].names == ["a", "b", "c"]
        assert all(isinstance(feature, tfds.features.FeatureConnector) for feature in features.values())
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(4), "empty_lists": self._generate_examples(1)}

    def _generate_examples(self, count):
        for n in range(count):
            yield f"key{n}", {
                "row": np.arange(3, dtype=np.float32) / (n + 1),
                "any": list(range(n)),
                "matrix": np.full((2, 3), n, dtype=np.uint8),
                "rows": np.arange(2 * n, dtype=np.float64).reshape((n, 2)),
                "cube": [[[n, 1]], [[2, -3]]],
                "flags": [n % 2 == 0, True],
                "words": ["é", f"w{n}"],
                "scalar": n / 8,
                "small": -n,
                "big": 2**63 + n,
                "truth": np.bool_(n % 2),
                "list": [[n, k] for k in range(n)],
                "three": (0.5, n, "2.25"),
                "letters": ["abc"[k % 3] for k in range(n)],
                "boxes": [tfds.features.BBox(0.0, 0.5, 0.25 * k, 1.0) for k in range(n)],
            }
