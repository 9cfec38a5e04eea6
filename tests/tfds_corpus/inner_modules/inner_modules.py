"""Names from the inside of the library, as builders import them."""

from __future__ import annotations

import functools
from typing import Any, Dict, Iterator, Union

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import dataset_builder, dataset_info, download, features as features_lib, lazy_imports_lib, naming
from tensorflow_datasets.core import split_builder as split_builder_lib
from tensorflow_datasets.core import splits as splits_lib
from tensorflow_datasets.core.features import feature as feature_lib
from tensorflow_datasets.core.features.features_dict import FeaturesDict
from tensorflow_datasets.core.utils import bool_utils, type_utils
from tensorflow_datasets.core.utils import version as version_lib
from tensorflow_datasets.core.utils.lazy_imports_utils import pandas as pd
from tensorflow_datasets.core.utils.lazy_imports_utils import tensorflow as tf
import tensorflow_datasets.public_api

Row = Dict[str, Union[tf.Tensor, np.ndarray, tfds.typing.PathLike]]


@tfds.core.utils.memoize()
def _numbers(count: int) -> list[int]:
    return list(range(count))


class InnerModules(dataset_builder.GeneratorBasedBuilder):
    VERSION = version_lib.Version("1.0.0")
    BLOCKED_VERSIONS = tfds.core.utils.BlockedVersions(versions={"0.9.0": "It was wrong."})

    def _info(self) -> dataset_info.DatasetInfo:
        flat = tfds.core.utils.flatten_nest_dict({"a": {"b": np.int64}, "flag": np.bool_})
        return dataset_info.DatasetInfo(
            builder=self,
            features=FeaturesDict({**flat, "name": features_lib.Text(), "words": features_lib.Sequence(features_lib.Text())}),
            metadata=dataset_info.MetadataDict({"scale": 3}),
        )

    def _split_generators(self, dl_manager: download.DownloadManager) -> Dict[splits_lib.Split, split_builder_lib.SplitGenerator]:
        assert isinstance(self.info.features["name"], feature_lib.FeatureConnector)
        assert tensorflow_datasets.public_api.core.Version("1.0.0") == self.version
        return {"train": self._generate_examples(dl_manager.download("words.txt"), functools.partial(str.split, sep=" "))}

    def _generate_examples(self, path: epath.Path, split: Any) -> Iterator[tuple[type_utils.Key, Row]]:
        for n, line in enumerate(epath.Path(path).read_text().splitlines()):
            yield n, {
                "a/b": _numbers(10)[n],
                "flag": bool_utils.parse_bool("True" if n else "0"),
                "name": naming.camelcase_to_snakecase(line.split(" ")[0]),
                "words": split(line),
            }
