"""Types by the names of TensorFlow, and values that are turned into them."""

import tensorflow.compat.v1 as tf1
import tensorflow.compat.v2 as tf
import tensorflow_datasets as tfds

_NUMBERS = {"i32": tf.int32, "f32": tf.float32, "u8": tf.uint8, "flag": tf.bool}


class DtypeNames(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        assert tf.int32.name == "int32" and tf.as_dtype("float32").is_floating and tf1.int64.as_numpy_dtype(3) == 3
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "text": tf.string,
                "raw": tfds.features.Text(),
                "long": tf.dtypes.int64,
                "numbers": _NUMBERS,
                "names": tfds.features.Sequence(tf.string),
                "pairs": tfds.features.Sequence({"k": tf.string, "v": tf1.float64}),
            }),
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> "tf.data.Dataset":
        path = dl_manager.download("table.tsv")
        return {"train": self._generate_examples(path)}

    def _generate_examples(self, path, cast: tf.Tensor = None):
        with tf.io.gfile.GFile(path) as f:
            header = f.readline().rstrip("\n").split("\t")
            for n, line in enumerate(f):
                row = dict(zip(header, line.rstrip("\r\n").split("\t")))
                yield f"{n}", {
                    "text": row["text"],
                    "raw": tf.compat.as_bytes(row["text"]),
                    "long": row["long"],
                    "numbers": {"i32": row["i32"], "f32": row["f32"], "u8": b"7", "flag": row["flag"] == "1"},
                    "names": row["names"].split(","),
                    "pairs": {"k": ["x", tf.compat.as_text(b"y")], "v": ["0.5", 1]},
                }
