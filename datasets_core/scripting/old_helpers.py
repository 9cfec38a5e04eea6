"""Small helpers that scripts take from inside `datasets`, and that nothing here needs but they."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets_core import config
from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.features.values import is_tensor, tensor_array
from datasets_core.files import is_url
from datasets_core.meta.naming import camelcase_to_snakecase


@dataclass
class PostProcessedInfo:
    """What was recorded of a dataset that its script went over again; nothing reads it."""

    features: Features | None = None
    resources_checksums: dict[str, Any] | None = None


class NestedDataStructure:
    """Values in any nesting.

    >>> NestedDataStructure({"a": [1, 2], "b": 3}).flatten()
    [1, 2, 3]
    """

    def __init__(self, data: Any = None) -> None:
        self.data = [] if data is None else data

    def flatten(self, data: Any = None) -> list[Any]:
        """The values without their nesting, in order."""
        found: list[Any] = []
        waiting = [self.data if data is None else data]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting += reversed(value.values())
            elif isinstance(value, (list, tuple)):
                waiting += reversed(value)
            else:
                found.append(value)
        return found


def cast_to_python_objects(obj: Any, only_1d_for_numpy: bool = False, optimize_list_casting: bool = True) -> Any:
    """A value, in which arrays and tensors become lists.

    Args:
        obj: the value.
        only_1d_for_numpy: arrays of one dimension stay.
        optimize_list_casting: has no effect.

    >>> cast_to_python_objects({"a": np.ones((1, 2), "int8"), "b": (np.float64(1),)})
    {'a': [[1, 1]], 'b': [1.0]}
    """
    if isinstance(obj, Mapping):
        return {name: cast_to_python_objects(value, only_1d_for_numpy) for name, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        return [cast_to_python_objects(value, only_1d_for_numpy) for value in obj]
    if is_tensor(type(obj)):
        obj = tensor_array(obj)
    if isinstance(obj, np.ndarray) and only_1d_for_numpy and obj.ndim:
        return obj if obj.ndim == 1 else [cast_to_python_objects(value, only_1d_for_numpy) for value in obj]
    if isinstance(obj, (np.ndarray, np.generic)) or type(obj).__module__.startswith("pandas.core."):
        return obj.tolist() if hasattr(obj, "tolist") else obj
    return obj


def set_caching_enabled(boolean: bool) -> None:
    """Whether the results of transforms are kept, from now on."""
    (config.enable_caching if boolean else config.disable_caching)()


def filename_prefix_for_split(name: str, split: str) -> str:
    """How the names of the files of a split begin.

    >>> filename_prefix_for_split("MyData", "train")
    'my_data-train'
    """
    if os.path.basename(name) != name or not re.fullmatch(r"\w+(\.\w+)*", split):
        raise ConfigurationError(f"{name!r} and {split!r} are no names of a dataset and a split. Pass names without slashes.")
    return f"{camelcase_to_snakecase(name)}-{split}"


def filenames_for_dataset_split(
    path: str, dataset_name: str, split: str, filetype_suffix: str | None = None, shard_lengths: Collection[int] | None = None
) -> list[str]:
    """The paths of the files of a split.

    >>> filenames_for_dataset_split("d", "reviews", "train", "arrow", [3, 4])
    ['d/reviews-train-00000-of-00002.arrow', 'd/reviews-train-00001-of-00002.arrow']
    """
    prefix = os.path.join(path, filename_prefix_for_split(dataset_name, split))
    suffix = f".{filetype_suffix}" if filetype_suffix else ""
    count = len(shard_lengths or ())
    return [f"{prefix}-{number:05d}-of-{count:05d}{suffix}" for number in range(count)] or [f"{prefix}{suffix}"]


def extract_path_from_uri(dataset_path: str) -> str:
    """A URL of a store without its scheme.

    >>> extract_path_from_uri("s3://bucket/a"), extract_path_from_uri("a/b")
    ('bucket/a', 'a/b')
    """
    return dataset_path.partition("://")[2] if is_url(dataset_path) else dataset_path


def is_remote_filesystem(fs: Any) -> bool:
    """Whether a file system of fsspec is not this disk's."""
    protocol = getattr(fs, "protocol", "file")
    return "file" not in ((protocol,) if isinstance(protocol, str) else tuple(protocol))
