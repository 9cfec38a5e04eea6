"""What other libraries use from inside `datasets`: rows' types, fingerprints, cards, small helpers."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import os
import re
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.distributed import split_dataset_by_node as node_split
from datasets_core.errors import ConfigurationError
from datasets_core.features import KINDS
from datasets_core.features.base import (
    REGISTERED,
    Feature,
    FeatureType,
    adopted,
    feature_to_arrow,
    register_feature,
)
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.serialization import feature_from_json, library_kind
from datasets_core.fetch.archive import archive_kind
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.extract import extract
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.listings import FORMATS
from datasets_core.resolve.registry import BUILT_IN, format_of
from datasets_core.store.fingerprint import fingerprint as fingerprint_of

T = TypeVar("T")

# Rows as functions get them: dicts, whose values are those of a row or lists of a batch.


class _DictKind(type):
    is_batch: bool | None

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, MutableMapping):
            return False
        return cls.is_batch is None or cls.is_batch == (bool(instance) and all(map(_is_column, instance.values())))


def _is_column(value: object) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, dict))


class RowOrBatch(metaclass=_DictKind):
    """A row or a batch as a function gets it, for `isinstance` and annotations: a dict."""

    is_batch: ClassVar[bool | None] = None


class OneRow(metaclass=_DictKind):
    """A row as a function gets it, for `isinstance` and annotations: a dict of values."""

    is_batch: ClassVar[bool | None] = False


class RowBatch(metaclass=_DictKind):
    """A batch as a function gets it, for `isinstance` and annotations: a dict of lists."""

    is_batch: ClassVar[bool | None] = True


# Fingerprints.

fingerprint_warnings: dict[str, bool] = {}
"""Which warnings about fingerprints were shown; the library keeps none here."""


def generate_random_fingerprint(nbits: int = 64) -> str:
    """Return a random fingerprint of so many bits, as hexadecimal digits."""
    return f"{secrets.randbits(nbits):0{nbits // 4}x}"


def generate_fingerprint(dataset: Any) -> str:
    """Return the fingerprint of a dataset."""
    return str(dataset._fingerprint)


def update_fingerprint(fingerprint: str, transform: Any, transform_args: Any) -> str:
    """Return the fingerprint of the result of a transform with these arguments.

    >>> update_fingerprint("0", len, {"a": 1}) == update_fingerprint("0", len, {"a": 1})
    True
    """
    return fingerprint_of("update_fingerprint", fingerprint, transform, dict(transform_args), what="The result of a transform")


def validate_fingerprint(fingerprint: str, max_length: int = 64) -> None:
    """Check that a fingerprint can be part of a file name.

    Raises:
        ValueError: it is empty or too long, or has a character that file names may not have.
    """
    if not isinstance(fingerprint, str) or not fingerprint:
        raise ValueError(f"Invalid fingerprint {fingerprint!r}. Give a text that is not empty.")
    found = next((character for character in fingerprint if character in '<>:/\\|?*"'), None)
    if found is not None:
        raise ValueError(f"Invalid fingerprint {fingerprint!r}: file names cannot have {found!r}.")
    if len(fingerprint) > max_length:
        raise ValueError(
            f"Invalid fingerprint {fingerprint!r}: it has {len(fingerprint)} characters, and {max_length} are allowed."
        )


def format_transform_for_fingerprint(func: Callable[..., Any], version: str | None = None) -> str:
    """Return the name of a transform, with its version."""
    name = f"{func.__module__}.{func.__qualname__}"
    return name if version is None else f"{name}@{version}"


@functools.cache
def get_temporary_cache_files_directory() -> str:
    """Return a folder for temporary files, which is removed when the process ends."""
    import atexit

    folder = tempfile.mkdtemp(prefix="hf_datasets-")
    atexit.register(shutil.rmtree, folder, True)
    return folder


# Small names.

LOG_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}


def experimental(fn: Callable[..., T]) -> Callable[..., T]:
    """Return the function with a warning at each call."""

    @functools.wraps(fn)
    def warned(*args: Any, **kwargs: Any) -> T:
        text = f"{fn.__name__!r} is experimental and might be subject to breaking changes in the future."
        warnings.warn(text, UserWarning, stacklevel=2)
        return fn(*args, **kwargs)

    return warned


# Features.

_ROW = "value"


class _FeatureTypes(Mapping[str, Any]):
    """The kinds of columns by name."""

    def __getitem__(self, name: str) -> Any:
        if name in KINDS or name in REGISTERED:
            return library_kind(name) if name in KINDS else REGISTERED[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([*KINDS, *REGISTERED])

    def __len__(self) -> int:
        return len(KINDS) + len(REGISTERED)


FEATURE_TYPES = _FeatureTypes()


def register_feature_type(feature_cls: type, feature_type: str) -> None:
    """Make a kind of columns known by the name `feature_type`.

    Args:
        feature_cls: the class: one below `Feature` of this library, or a dataclass with `pa_type`, or one that is called
            without arguments for its Arrow type, as feature types of `datasets` are.
        feature_type: the name.

    Raises:
        ConfigurationError: another kind has that name.
    """
    if issubclass(feature_cls, Feature):
        kind: Any = feature_cls
        if vars(kind).get("_type") != feature_type:
            raise ConfigurationError(
                f"{kind.__name__} calls itself {vars(kind).get('_type')!r}. Give _type = {feature_type!r}."
            )
        register_feature(kind)
        return
    if not dataclasses.is_dataclass(feature_cls) or not {"pa_type", "__call__"} & {*dir(feature_cls)}:
        raise ConfigurationError(
            f"{feature_cls.__name__} is not a feature type: make it a dataclass with pa_type, or one that returns it when "
            "it is called, or derive it from datasets_core.features.base.Feature."
        )
    adopted(feature_cls, feature_type)


def generate_from_dict(obj: Any) -> Any:
    """Return the feature, or the nest of features, of a stored form."""
    return feature_from_json(obj)


def generate_from_arrow_type(pa_type: pa.DataType) -> FeatureType:
    """Return the feature of an Arrow type."""
    return Features.from_arrow_schema(pa.schema({_ROW: pa_type}))[_ROW]


def get_nested_type(schema: FeatureType) -> pa.DataType:
    """Return the Arrow type that stores a feature, or a nest of features."""
    return feature_to_arrow(Features({_ROW: schema})[_ROW])


def encode_nested_example(schema: FeatureType, obj: Any, level: int = 0) -> Any:
    """Return a value as it is stored."""
    return Features({_ROW: schema}).encode_example({_ROW: obj})[_ROW]


def decode_nested_example(schema: FeatureType, obj: Any, token_per_repo_id: Any = None) -> Any:
    """Return a stored value as rows have it."""
    return Features({_ROW: schema}).decode_example({_ROW: obj})[_ROW]


def encode_image(image: Any) -> Any:
    """Return the stored form of an image of Pillow, or of an array of its pixels."""
    return Image().encode_example(image)


def check_non_null_non_empty_recursive(obj: Any, schema: Any = None) -> bool:
    """Return True if a value is neither None nor an empty list, nor a list that begins with such values."""
    if obj is None:
        return False
    if isinstance(obj, (list, tuple)):
        return bool(obj) and check_non_null_non_empty_recursive(obj[0])
    return True


# Cards.


class MetadataConfigs(dict[str, dict[str, Any]]):
    """The configs of a dataset card, by name.

    >>> from huggingface_hub import DatasetCardData
    >>> card = DatasetCardData(configs=[{"config_name": "en", "data_dir": "en", "default": True}])
    >>> configs = MetadataConfigs.from_dataset_card_data(card)
    >>> configs["en"], configs.get_default_config_name()
    ({'data_dir': 'en', 'default': True}, 'en')
    """

    FIELD_NAME: ClassVar[str] = "configs"

    @classmethod
    def from_dataset_card_data(cls, dataset_card_data: Any) -> Self:
        """Return the configs of a card.

        Raises:
            ConfigurationError: `configs` is not a list of configs with names.
        """
        found = dataset_card_data.get(cls.FIELD_NAME)
        if not found:
            return cls()
        if not isinstance(found, list) or not all(isinstance(each, dict) and "config_name" in each for each in found):
            raise ConfigurationError(
                f"The field {cls.FIELD_NAME!r} of the card is {found!r}. Give a list of configs, each with a config_name."
            )
        configs = {each["config_name"]: {name: each[name] for name in each if name != "config_name"} for each in found}
        for config in configs.values():
            if isinstance(config.get("features"), list):
                config["features"] = Features.from_yaml_list(config["features"])
        return cls(configs)

    def to_dataset_card_data(self, dataset_card_data: Any) -> None:
        """Write the configs into a card; those of the same name are replaced."""
        if self:
            merged = {**type(self).from_dataset_card_data(dataset_card_data), **self}
            configs = [{"config_name": name, **config} for name, config in merged.items()]
            for config in configs:
                if isinstance(config.get("features"), Features):
                    config["features"] = config["features"].to_yaml_list()
            dataset_card_data[self.FIELD_NAME] = configs

    def get_default_config_name(self) -> str | None:
        """Return the config that is loaded where none is named; None if there are several, and none is the default.

        Raises:
            ConfigurationError: several say that they are the default.
        """
        named = [name for name, config in self.items() if config.get("default")]
        if len(named) > 1:
            raise ConfigurationError(f"The configs {named} all say default: true. Leave it with one of them.")
        if named:
            return named[0]
        return next(iter(self)) if len(self) == 1 else "default" if "default" in self else None


class DatasetInfosDict(dict[str, DatasetInfo]):
    """The metadata of the configs of a dataset, by name."""

    @classmethod
    def from_dataset_card_data(cls, dataset_card_data: Any) -> Self:
        """Return what the field `dataset_info` of a card says."""
        found = dataset_card_data.get("dataset_info") or []
        listed = found if isinstance(found, list) else [found]
        infos = [DatasetInfo.from_yaml_dict(each) for each in listed]
        return cls({info.config_name or "default": info for info in infos})


# Formats of files.


def extension_table() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the format of each file extension, with the options that it has for it."""
    found = {extension: format_of(f"file{extension}") for extension in FORMATS}
    return {extension: (each[0], dict(each[1])) for extension, each in found.items() if each is not None}


def module_extensions() -> dict[str, list[str]]:
    """Return the file extensions of each format."""
    found: dict[str, list[str]] = {}
    for extension, (name, _) in extension_table().items():
        found.setdefault(name, []).append(extension)
    return found


def packaged_modules() -> dict[str, tuple[str, str]]:
    """Return the module of each format, and a hash of its name and of the library's version."""
    from datasets_core._version import __version__

    homes = {name: str(home).partition(":")[0] for name, home in BUILT_IN.items()}
    return {name: (home, hash_python_lines([home, __version__])) for name, home in homes.items()}


def hash_python_lines(lines: list[str]) -> str:
    """Return the SHA-256 of lines of code, without comments and blank lines."""
    plain = (re.sub(r"#.*", "", line) for line in lines)
    return hashlib.sha256("\n".join(line for line in plain if line).encode()).hexdigest()


# Archives.


class ExtractManager:
    """Unpacks files into the cache.

    Args:
        cache_dir: the folder; by default that of the settings.
    """

    def __init__(self, cache_dir: str | None = None) -> None:
        self.extract_dir = os.path.join(cache_dir, "extracted") if cache_dir else settings().extracted_dir
        self._config = DownloadConfig(cache_dir=cache_dir) if cache_dir else DownloadConfig()

    def extract(self, input_path: str, force_extract: bool = False) -> str:
        """Return the folder or file of what is in an archive; `input_path` itself if it is not packed."""
        config = dataclasses.replace(self._config, force_extract=force_extract)
        return str(DownloadManager(download_config=config).extract(input_path))


class Extractor:
    """Which files are archives, and how they are unpacked."""

    @classmethod
    def is_extractable(cls, path: str | os.PathLike[str], return_extractor: bool = False) -> Any:
        """Return True if a file is an archive of a known kind."""
        found = archive_kind(path)
        return (found is not None, cls if found is not None else None) if return_extractor else found is not None

    @classmethod
    def infer_extractor_format(cls, path: str | os.PathLike[str]) -> str | None:
        """Return the kind of an archive; None for other files."""
        found = archive_kind(path)
        return None if found is None else str(getattr(found, "value", found))

    @classmethod
    def extract(
        cls, input_path: str | os.PathLike[str], output_path: str | os.PathLike[str], extractor_format: str | None = None
    ) -> None:
        """Unpack an archive into `output_path`."""
        extract(input_path, os.fspath(output_path))


# Nodes.


def part_of_node(dataset: Any, rank: int, world_size: int, strategy: str = "auto", **lanes: Any) -> Any:
    """Return the rows for one of `world_size` nodes.

    Args:
        dataset: all rows.
        rank: number of the node, from 0.
        world_size: number of nodes.
        strategy: "shards" gives each node every so many shards of a stream, as `datasets` does; for others see
            `datasets_core.distributed.split_dataset_by_node`.
        lanes: `lanes=` and `ends=` of that function.

    >>> from datasets_core import IterableDataset
    >>> stream = IterableDataset.from_dict({"a": [1, 2, 3, 4]}, num_shards=4)
    >>> list(part_of_node(stream, rank=1, world_size=2, strategy="shards")["a"])
    [2, 4]

    Raises:
        ConfigurationError: an unknown node or strategy, or fewer shards than nodes.
    """
    found = node_split(dataset, rank, world_size, strategy, **lanes)
    if strategy != "shards":
        return found
    if dataset.num_shards < world_size:
        raise ConfigurationError(
            f"strategy='shards' gives each node a shard: num_shards={dataset.num_shards} of world_size={world_size}."
        )
    return dataset.shard(world_size, rank, contiguous=False)


# Small helpers.


def hf_dataset_url(repo_id: str, path: str, revision: str | None = None) -> str:
    """Return the URL of a file of a dataset of the Hub."""
    from urllib.parse import quote

    return f"{settings().hub_endpoint}/datasets/{repo_id}/resolve/{quote(revision or 'main', safe='')}/{quote(path)}"


def is_small_dataset(dataset_size: int | None) -> bool:
    """Return True if so many bytes are read into memory by the settings."""
    return bool(dataset_size and settings().max_memory_bytes and dataset_size < settings().max_memory_bytes)


def string_to_dict(string: str, pattern: str) -> dict[str, str] | None:
    """Return the parts of a text that stand for the `{names}` of a pattern; None if it does not fit.

    >>> string_to_dict("a/b.txt", "{folder}/{name}.txt")
    {'folder': 'a', 'name': 'b'}
    """
    pieces = re.split(r"{(\w+)}", pattern)
    expression = "".join(f"(?P<{piece}>.+)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    found = re.match(f"^{expression}$", string)
    return None if found is None else found.groupdict()


def first_non_null_value(iterable: Iterable[T | None]) -> tuple[int, T | None]:
    """Return the number and the value of the first item that is not None; -1 and None if there is none."""
    return next(((number, value) for number, value in enumerate(iterable) if value is not None), (-1, None))


def first_non_null_non_empty_value(iterable: Iterable[Any]) -> tuple[int, Any]:
    """Return the number and the value of the first item that is neither None nor an empty list or dict."""
    for number, value in enumerate(iterable):
        if value is not None and not (isinstance(value, (dict, list)) and not value):
            return number, value
    return -1, None


def no_op_if_value_is_null(func: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return the function with None as its result for None."""
    return lambda value: None if value is None else func(value)


def iter_batched(iterable: Iterable[T], n: int) -> Iterator[list[T]]:
    """Yield the items in lists of `n`.

    Raises:
        ValueError: `n` is not positive.
    """
    if n < 1:
        raise ValueError(f"n is {n}. Give 1 or more.")
    batch: list[T] = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield batch
            batch = []
    if batch:
        yield batch


@contextlib.contextmanager
def temporary_assignment(obj: Any, attr: str, value: Any) -> Iterator[None]:
    """Give an object another value of an attribute within the block."""
    before = getattr(obj, attr, None)
    setattr(obj, attr, value)
    try:
        yield
    finally:
        setattr(obj, attr, before)


def has_sufficient_disk_space(needed_bytes: int, directory: str = ".") -> bool:
    """Return True if the disk of a folder has so many bytes free."""
    return shutil.disk_usage(os.path.abspath(directory)).free > needed_bytes


def get_imports(file_path: str) -> list[tuple[str, str, str, str | None]]:
    """Return the imports of a Python file: ("internal" or "library", name, name, None) for each."""
    import ast

    with open(file_path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), file_path)
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            found[("internal", node.module or "")] = None
        elif isinstance(node, ast.ImportFrom) and node.module:
            found[("library", node.module.partition(".")[0])] = None
        elif isinstance(node, ast.Import):
            found.update({("library", each.name.partition(".")[0]): None for each in node.names})
    return [(kind, name, name, None) for kind, name in found]


class NonMutableDict(dict[Any, Any]):
    """A dict whose keys are set once."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in self:
            raise ValueError(f"The key {key!r} is set already.")
        super().__setitem__(key, value)


class tracked_str(str):  # noqa: N801 - its name in datasets
    """A text that knows what it was made from."""

    _origin: str | None = None

    def set_origin(self, origin: str) -> None:
        """Say what the text was made from."""
        self._origin = origin

    def get_origin(self) -> str:
        """Return what the text was made from; the text itself if that was not said."""
        return str(self) if self._origin is None else self._origin


# Shards among the arguments of generators.


def number_of_shards_in_gen_kwargs(gen_kwargs: Mapping[str, Any]) -> int:
    """Return the length of the lists among the arguments of a generator; 1 if there is no list.

    Raises:
        RuntimeError: there are lists of several lengths.
    """
    lengths = {name: len(value) for name, value in gen_kwargs.items() if isinstance(value, list)}
    if len(set(lengths.values())) > 1:
        raise RuntimeError(
            f"The lists of the arguments have several lengths: {lengths}. Give tuples where they are not shards."
        )
    return max(1, next(iter(lengths.values()), 1))


def split_gen_kwargs(gen_kwargs: dict[str, Any], max_num_jobs: int) -> list[dict[str, Any]]:
    """Return the arguments of up to `max_num_jobs` generators, each with a part of the lists."""
    count = number_of_shards_in_gen_kwargs(gen_kwargs)
    jobs = min(count, max_num_jobs)
    if count == 1:
        return [dict(gen_kwargs)]
    bounds = [count // jobs * job + min(job, count % jobs) for job in range(jobs + 1)]
    return [
        {name: value[start:stop] if isinstance(value, list) else value for name, value in gen_kwargs.items()}
        for start, stop in itertools.pairwise(bounds)
    ]


def merge_gen_kwargs(gen_kwargs_list: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the arguments of one generator for those of several."""
    first = gen_kwargs_list[0]
    return {
        name: [item for each in gen_kwargs_list for item in each[name]] if isinstance(first[name], list) else first[name]
        for name in first
    }


def shuffle_gen_kwargs(rng: np.random.Generator, gen_kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with their lists in another order, the same for lists of the same length."""
    lengths = {len(value) for value in gen_kwargs.values() if isinstance(value, list)}
    orders = {length: rng.permutation(length) for length in sorted(lengths)}
    return {
        name: [value[number] for number in orders[len(value)]] if isinstance(value, list) else value
        for name, value in gen_kwargs.items()
    }


def estimate_dataset_size(paths: Iterable[Any]) -> int:
    """Return the bytes of files."""
    return sum(os.stat(path).st_size for path in paths)
