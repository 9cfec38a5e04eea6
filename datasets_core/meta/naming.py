"""Names of datasets as classes and files know them."""

from __future__ import annotations

import os
import re

from datasets_core.errors import ConfigurationError

_WORD_BEFORE_CAPITALISED = re.compile(r"([A-Z]+)([A-Z][a-z])")
_LOWER_BEFORE_UPPER = re.compile(r"([a-z\d])([A-Z])")
_LONE_UNDERSCORE = re.compile(r"(?<!_)_(?!_)")
_UNDERSCORES = re.compile(r"(_{2,})")


def camelcase_to_snakecase(name: str) -> str:
    """The name of a dataset by the name of its class.

    >>> camelcase_to_snakecase("HTTPServer2Data")
    'http_server2_data'
    """
    name = _WORD_BEFORE_CAPITALISED.sub(r"\1_\2", name)
    return _LOWER_BEFORE_UPPER.sub(r"\1_\2", name).lower()


def snakecase_to_camelcase(name: str) -> str:
    """The name of a class by the name of its dataset; runs of underscores stay.

    >>> snakecase_to_camelcase("http_server2_data")
    'HttpServer2Data'
    """
    words = [word for part in _LONE_UNDERSCORE.split(name) for word in _UNDERSCORES.split(part)]
    return "".join(word.capitalize() for word in words)


def shard_file_name(dataset: str, split: str, index: int, total: int, extension: str = "arrow") -> str:
    """The file name of shard `index` of the `total` shards of a split; five digits, more from 100,000 shards on.

    >>> shard_file_name("reviews", "train", 3, 12)
    'reviews-train-00003-of-00012.arrow'

    Raises:
        ConfigurationError: a name that would leave the dataset's folder, or an index outside `total`.
    """
    if not 0 <= index < total:
        raise ConfigurationError(f"Shard {index} of {total} shards of split {split!r} does not exist. Count from 0.")
    for name in (dataset, split, extension):
        if not name or "/" in name or "\\" in name or "\0" in name:
            raise ConfigurationError(f"{name!r} cannot be part of a file name. Use a name without slashes.")
    digits = max(5, len(str(total)))
    return f"{dataset}-{split}-{index:0{digits}d}-of-{total:0{digits}d}.{extension.removeprefix('.')}"


_OF_TFDS = "_dataset_builder"  # what TFDS adds to the name of a folder for that of the script in it


def script_in(folder: str) -> str | None:
    """The script of a folder: it is called as the folder is, or as TFDS calls it; None where there is none.

    >>> script_in("/no/such/folder")
    """
    name = os.path.basename(folder)
    files = (os.path.join(folder, f"{name}{end}.py") for end in ("", _OF_TFDS))
    return next((file for file in files if os.path.isfile(file)), None)


def dataset_name(path: str) -> str:
    """The name of the dataset of a script: that of its file, but for what TFDS adds to the folder's name.

    >>> dataset_name("/a/reviews/reviews_dataset_builder.py"), dataset_name("/a/reviews.py")
    ('reviews', 'reviews')
    """
    stem = os.path.basename(path).removesuffix(".py")
    folder = os.path.basename(os.path.dirname(path))
    return folder if stem == f"{folder}{_OF_TFDS}" else stem
