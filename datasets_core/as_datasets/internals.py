"""Internals of `datasets` that other libraries use: row types, fingerprints, cards, small helpers."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import os
import re
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node as node_split
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import name_from_type
from datasets_core.features.schema import Features
from datasets_core.fetch.archive import archive_kind
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.extract import extract
from datasets_core.fetch.streaming import StreamingDownloadManager, leaves_of
from datasets_core.files import compressed_files, write_atomically
from datasets_core.meta.card import read_card
from datasets_core.meta.info import DatasetInfo, parse_json
from datasets_core.meta.listings import FORMATS
from datasets_core.meta.splits import ReadInstruction
from datasets_core.resolve.registry import BUILT_IN, format_of
from datasets_core.scripting.compat.datasets import filenames_for_dataset_split
from datasets_core.store.fingerprint import fingerprint as fingerprint_of
from datasets_core.stream.iterable import IterableDataset

T = TypeVar("T")

# Types of rows and batches passed to functions.


class _DictKind(type):
    is_batch: bool | None

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, MutableMapping):
            return False
        return cls.is_batch is None or cls.is_batch == (bool(instance) and all(map(_is_column, instance.values())))


def _is_column(value: object) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, dict))


class RowOrBatch(metaclass=_DictKind):
    """A row or a batch passed to a function, for `isinstance` and annotations: a dict."""

    is_batch: ClassVar[bool | None] = None


class OneRow(metaclass=_DictKind):
    """A row passed to a function, for `isinstance` and annotations: a dict of values."""

    is_batch: ClassVar[bool | None] = False


class RowBatch(metaclass=_DictKind):
    """A batch passed to a function, for `isinstance` and annotations: a dict of lists."""

    is_batch: ClassVar[bool | None] = True


# Fingerprints.

fingerprint_warnings: dict[str, bool] = {}
"""The fingerprint warnings already shown; always empty in this library."""


def generate_random_fingerprint(nbits: int = 64) -> str:
    """Return a random fingerprint of `nbits` bits as hexadecimal digits."""
    return f"{secrets.randbits(nbits):0{nbits // 4}x}"


def generate_fingerprint(dataset: Any) -> str:
    """Return the fingerprint of a dataset."""
    return str(dataset._fingerprint)


def update_fingerprint(fingerprint: str, transform: Any, transform_args: Any) -> str:
    """Return the fingerprint of the result of a transform with the given arguments.

    >>> update_fingerprint("0", len, {"a": 1}) == update_fingerprint("0", len, {"a": 1})
    True
    """
    return fingerprint_of("update_fingerprint", fingerprint, transform, dict(transform_args), what="The result of a transform")


def validate_fingerprint(fingerprint: str, max_length: int = 64) -> None:
    """Check that a fingerprint can be part of a file name.

    Raises:
        ValueError: the fingerprint is empty or too long, or has a character that is invalid in file names.
    """
    if not isinstance(fingerprint, str) or not fingerprint:
        raise ValueError(f"Invalid fingerprint {fingerprint!r}. Pass a nonempty string.")
    found = next((character for character in fingerprint if character in '<>:/\\|?*"'), None)
    if found is not None:
        raise ValueError(f"Invalid fingerprint {fingerprint!r}: file names cannot contain {found!r}.")
    if len(fingerprint) > max_length:
        raise ValueError(
            f"Invalid fingerprint {fingerprint!r}: it has {len(fingerprint)} characters, but at most {max_length} are allowed."
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
    """Return a function that warns at each call of `fn`."""

    @functools.wraps(fn)
    def warned(*args: Any, **kwargs: Any) -> T:
        text = f"{fn.__name__!r} is experimental and might be subject to breaking changes in the future."
        warnings.warn(text, UserWarning, stacklevel=2)
        return fn(*args, **kwargs)

    return warned


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
                f"The field {cls.FIELD_NAME!r} of the card is {found!r}. Use a list of configs, each with a config_name."
            )
        configs = {each["config_name"]: {name: each[name] for name in each if name != "config_name"} for each in found}
        for config in configs.values():
            if isinstance(config.get("features"), list):
                config["features"] = Features.from_yaml_list(config["features"])
        return cls(configs)

    def to_dataset_card_data(self, dataset_card_data: Any) -> None:
        """Write the configs into a card; configs of the same names are replaced."""
        if self:
            merged = {**type(self).from_dataset_card_data(dataset_card_data), **self}
            configs = [{"config_name": name, **config} for name, config in merged.items()]
            for config in configs:
                if isinstance(config.get("features"), Features):
                    config["features"] = config["features"].to_yaml_list()
            dataset_card_data[self.FIELD_NAME] = configs

    def get_default_config_name(self) -> str | None:
        """Return the config that is loaded by default; None if there are several without a default.

        Raises:
            ConfigurationError: several configs are marked as the default.
        """
        named = [name for name, config in self.items() if config.get("default")]
        if len(named) > 1:
            raise ConfigurationError(f"The configs {named} are all marked default: true", advice="Keep it for one of them")
        if named:
            return named[0]
        return next(iter(self)) if len(self) == 1 else "default" if "default" in self else None


class DatasetInfosDict(dict[str, DatasetInfo]):
    """The metadata of the configs of a dataset, by name."""

    @classmethod
    def from_dataset_card_data(cls, dataset_card_data: Any) -> Self:
        """Return the metadata in the field `dataset_info` of a card."""
        found = dataset_card_data.get("dataset_info") or []
        listed = found if isinstance(found, list) else [found]
        infos = [DatasetInfo.from_yaml_dict(each) for each in listed]
        return cls({info.config_name or "default": info for info in infos})

    @classmethod
    def from_directory(cls, dataset_infos_dir: str | os.PathLike[str]) -> Self:
        """Return the metadata in the card (`README.md`) of a folder, or else in its `dataset_infos.json`.

        Raises:
            ManifestError: one of the files cannot be read.
        """
        folder = os.fspath(dataset_infos_dir)
        if os.path.exists(path := os.path.join(folder, "README.md")):
            with open(path, encoding="utf-8") as file:
                found = read_card(file.read(), path=path).infos
            if found:
                return cls(found)
        if not os.path.exists(path := os.path.join(folder, "dataset_infos.json")):
            return cls()
        with open(path, encoding="utf-8") as file:
            forms = parse_json(file.read(), path=path)
        return cls({name: DatasetInfo.from_dict({**form, "config_name": name}) for name, form in forms.items()})

    def write_to_directory(
        self, dataset_infos_dir: str | os.PathLike[str], overwrite: bool = False, pretty_print: bool = False
    ) -> None:
        """Write the metadata into the card of a folder, and into its `dataset_infos.json` if it has one.

        Args:
            dataset_infos_dir: the folder.
            overwrite: True to remove the configs that are in the files and not in this dict.
            pretty_print: True to indent the JSON.
        """
        from huggingface_hub import DatasetCard

        folder = os.fspath(dataset_infos_dir)
        infos = DatasetInfosDict(self if overwrite else {**DatasetInfosDict.from_directory(folder), **self})
        if os.path.exists(path := os.path.join(folder, "dataset_infos.json")):
            forms = {name: {**info.to_dict(), "config_name": name} for name, info in infos.items()}
            write_atomically(path, json.dumps(forms, indent=4 if pretty_print else None).encode())
        if not infos:
            return
        card = (
            DatasetCard.load(path) if os.path.exists(path := os.path.join(folder, "README.md")) else DatasetCard("---\n---\n")
        )
        listed = [{"config_name": name} | info.to_yaml_dict() | {"config_name": name} for name, info in infos.items()]
        if [*infos] == ["default"]:
            del listed[0]["config_name"]
        card.data["dataset_info"] = listed if len(listed) > 1 else listed[0]
        card.save(path)


# Formats of files.


def extension_table() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the format of each file extension, with its options."""
    found = {extension: format_of(f"file{extension}") for extension in FORMATS}
    return {extension: (each[0], dict(each[1])) for extension, each in found.items() if each is not None}


def module_extensions() -> dict[str, list[str]]:
    """Return the file extensions of each format."""
    found: dict[str, list[str]] = {}
    for extension, (name, _) in extension_table().items():
        found.setdefault(name, []).append(extension)
    return found


def packaged_modules() -> dict[str, tuple[str, str]]:
    """Return the module of each format, with a hash of its name and the version of the library."""
    from datasets_core._version import __version__

    homes = {name: str(home).partition(":")[0] for name, home in BUILT_IN.items()}
    return {name: (home, hash_python_lines([home, __version__])) for name, home in homes.items()}


def hash_python_lines(lines: list[str]) -> str:
    """Return the SHA-256 of lines of code, without comments and blank lines."""
    plain = (re.sub(r"#.*", "", line) for line in lines)
    return hashlib.sha256("\n".join(line for line in plain if line).encode()).hexdigest()


# Files of splits.


@dataclasses.dataclass(frozen=True)
class FileInstructions:
    """The rows of an instruction: their number, and for each file a dict of `filename`, and rows to `skip` and `take`."""

    num_examples: int
    file_instructions: list[dict[str, Any]]


def make_file_instructions(
    name: str, split_infos: Iterable[Any], instruction: Any, filetype_suffix: str | None = None, prefix_path: str | None = None
) -> FileInstructions:
    """Return the rows of the files of a prepared dataset that an instruction selects; `take` is -1 for the rest of a file.

    >>> from datasets_core import SplitInfo
    >>> make_file_instructions("a", [SplitInfo("train", num_examples=5, shard_lengths=[2, 3])], "train[1:2]").file_instructions
    [{'filename': 'a-train-00000-of-00002', 'skip': 1, 'take': -1}]

    Raises:
        ArgumentTypeError: the name is not a string.
        ConfigurationError: the name is empty.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"The name of a dataset is a string, found {name!r}", advice="Pass its name", value=name)
    if not name:
        raise ConfigurationError("The name of the dataset is empty", advice="Pass its name")
    infos = {str(info.name): info for info in split_infos}
    asked = instruction if isinstance(instruction, ReadInstruction) else ReadInstruction.from_spec(str(instruction))
    found: list[dict[str, Any]] = []
    count = 0
    for split, first, last in asked.to_absolute({each: info.num_examples for each, info in infos.items()}):
        lengths = infos[split].shard_lengths
        paths = filenames_for_dataset_split(prefix_path or "", name, split, filetype_suffix, lengths)
        begin = 0
        for path, length in zip(paths, lengths or [infos[split].num_examples], strict=True):
            skip, stop = max(first - begin, 0), min(last - begin, length)
            if skip < stop:
                is_rest = bool(lengths) and stop == length
                found.append({"filename": path, "skip": skip, "take": -1 if is_rest else stop - skip})
                count += stop - skip
            begin += length
    return FileInstructions(count, found)


# Archives.

COMPRESSIONS = {"Bz2Files": "bz2", "GzipFiles": "gzip", "Lz4Files": "lz4", "XzFiles": "xz", "ZstdFiles": "zstd"}
"""The file system classes for single compressed files, which fsspec finds by the metadata of the alias."""


@functools.cache
def _compressed_files(protocol: str) -> Any:
    return compressed_files(protocol)


def __getattr__(name: str) -> Any:
    if name in COMPRESSIONS:
        return _compressed_files(COMPRESSIONS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def compression_filesystems() -> list[Any]:
    """Return the file system classes for single compressed files."""
    return [_compressed_files(protocol) for protocol in COMPRESSIONS.values()]


class ExtractManager:
    """Unpacks files into the cache.

    Args:
        cache_dir: the folder; by default that of the settings.
    """

    def __init__(self, cache_dir: str | None = None) -> None:
        self.extract_dir = os.path.join(cache_dir, "extracted") if cache_dir else settings().extracted_dir
        self._config = DownloadConfig(cache_dir=cache_dir) if cache_dir else DownloadConfig()

    def extract(self, input_path: str, force_extract: bool = False) -> str:
        """Return the folder or file with the content of an archive; `input_path` itself for other files."""
        config = dataclasses.replace(self._config, force_extract=force_extract)
        return str(DownloadManager(download_config=config).extract(input_path))


class Extractor:
    """Detects and unpacks archives."""

    @classmethod
    def is_extractable(cls, path: str | os.PathLike[str], return_extractor: bool = False) -> Any:
        """Return True if a file is an archive in a supported format."""
        found = archive_kind(path)
        return (found is not None, cls if found is not None else None) if return_extractor else found is not None

    @classmethod
    def infer_extractor_format(cls, path: str | os.PathLike[str]) -> str | None:
        """Return the format of an archive; None for other files."""
        found = archive_kind(path)
        return None if found is None else str(getattr(found, "value", found))

    @classmethod
    def extract(
        cls, input_path: str | os.PathLike[str], output_path: str | os.PathLike[str], extractor_format: str | None = None
    ) -> None:
        """Unpack an archive into `output_path`."""
        extract(input_path, os.fspath(output_path))


_TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


class _StreamingKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, StreamingDownloadManager)


class StreamingDownloads(StreamingDownloadManager, metaclass=_StreamingKind):
    """A `StreamingDownloadManager` that does not unpack tar archives, as in `datasets`; those of builders do."""

    def extract(self, path_or_paths: Any, num_proc: int | None = None) -> Any:
        """Return paths of extracted files: see `StreamingDownloadManager.extract`.

        Raises:
            NotImplementedError: one of the files is a tar archive.
        """
        for path in map(str, leaves_of(path_or_paths)):
            if path.partition("::")[0].endswith(_TARS):
                raise NotImplementedError(f"{path} is a tar archive, which streams do not extract. Read it with iter_archive.")
        return super().extract(path_or_paths, num_proc)


# Nodes.

_SHARES: MutableMapping[Any, tuple[Any, int, int, str]] = WeakKeyDictionary()  # for streams: all rows, and the share of them


def part_of_node(dataset: Any, rank: int, world_size: int, strategy: str = "auto", **lanes: Any) -> Any:
    """Return the rows for one of `world_size` nodes, divided as in `datasets`.

    Args:
        dataset: all rows, or the share of a node, which is then divided further.
        rank: number of the node, from 0.
        world_size: number of nodes.
        strategy: "shards" assigns the shards of a stream to the nodes in turn, and "examples" assigns the rows; "auto" assigns
            shards if their number is a multiple of `world_size`, otherwise "lanes"; see
            `datasets_core.distributed.split_dataset_by_node`.
        lanes: the arguments `lanes=` and `ends=` of that function.

    >>> from datasets_core import IterableDataset
    >>> stream = IterableDataset.from_dict({"a": [1, 2, 3, 4]}, num_shards=4)
    >>> list(part_of_node(stream, rank=1, world_size=2)["a"])
    [2, 4]

    Raises:
        ConfigurationError: the rank or the strategy is invalid, there are fewer shards than nodes, or the strategy differs from
            that of the share.
    """
    found = node_split(dataset, rank, world_size, strategy, **lanes)  # checks the arguments
    if isinstance(dataset, Dataset) or strategy == "lanes" or lanes:
        return found
    whole, first, count, before = _SHARES.get(dataset, (dataset, 0, 1, strategy))
    if strategy not in ("auto", before):
        raise ConfigurationError(f"Cannot change the strategy {before!r} of a share to {strategy!r}", advice="Omit strategy=")
    rank, world_size, strategy = world_size * first + rank, world_size * count, before
    if strategy == "shards" and whole.num_shards < world_size:
        raise ConfigurationError(
            f"strategy='shards' needs a shard for each node: num_shards={whole.num_shards}, world_size={world_size}."
        )
    if strategy == "shards" or (strategy == "auto" and whole.num_shards % world_size == 0):
        found = whole.shard(world_size, rank, contiguous=False)
    else:
        found = node_split(whole, rank, world_size, strategy)
    _SHARES[found] = whole, rank, world_size, strategy
    return found


def joined_datasets(dsets: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Concatenate datasets or streams; see `datasets_core.concatenate_datasets`.

    As in `datasets`, shares of one node are joined to that node's share of the result.

    Raises:
        ConfigurationError: some datasets are shares of a node, and others are not.
    """
    listed = list(dsets)
    shares = [_SHARES.get(each) for each in listed if isinstance(each, IterableDataset)]
    found = {share[1:] for share in shares if share is not None}
    if len(found) == 1 and None not in shares and len(shares) == len(listed):
        rank, world_size, strategy = found.pop()
        whole = concatenate_datasets([share[0] for share in shares if share is not None], *args, **kwargs)
        return part_of_node(whole, rank, world_size, strategy)
    if found and any(not isinstance(each, IterableDataset) or not each._plan.is_divided for each in listed):
        raise ConfigurationError(
            "Some of the datasets are shares of a node, and others are not",
            advice="Pass datasets that are identically split_by_node, or call split_dataset_by_node on the result",
        )
    return concatenate_datasets(listed, *args, **kwargs)


# Small helpers.


def hf_dataset_url(repo_id: str, path: str, revision: str | None = None) -> str:
    """Return the URL of a file of a dataset on the Hub."""
    from urllib.parse import quote

    return f"{settings().hub_endpoint}/datasets/{repo_id}/resolve/{quote(revision or 'main', safe='')}/{quote(path)}"


def is_small_dataset(dataset_size: int | None) -> bool:
    """Return True if a dataset of this size in bytes is read into memory by the settings."""
    return bool(dataset_size and settings().max_memory_bytes and dataset_size < settings().max_memory_bytes)


def string_to_dict(string: str, pattern: str) -> dict[str, str] | None:
    """Return the parts of a string that match the `{names}` of a pattern; None if it does not match.

    >>> string_to_dict("a/b.txt", "{folder}/{name}.txt")
    {'folder': 'a', 'name': 'b'}
    """
    pieces = re.split(r"{(\w+)(?::[^}]*)?}", pattern)
    expression = "".join(f"(?P<{piece}>.+)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    found = re.match(f"^{expression}$", string)
    return None if found is None else found.groupdict()


def first_non_null_value(iterable: Iterable[T | None]) -> tuple[int, T | None]:
    """Return the index and the value of the first item that is not None; -1 and None without one."""
    return next(((number, value) for number, value in enumerate(iterable) if value is not None), (-1, None))


def first_non_null_non_empty_value(iterable: Iterable[Any]) -> tuple[int, Any]:
    """Return the index and the value of the first item that is neither None nor an empty list or dict."""
    for number, value in enumerate(iterable):
        if value is not None and not (isinstance(value, (dict, list)) and not value):
            return number, value
    return -1, None


def no_op_if_value_is_null(func: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a function that returns None for None, and calls `func` for other values."""
    return lambda value: None if value is None else func(value)


def iter_batched(iterable: Iterable[T], n: int) -> Iterator[list[T]]:
    """Yield the items in lists of `n` items.

    Raises:
        ValueError: `n` is not positive.
    """
    if n < 1:
        raise ValueError(f"n is {n}. Pass 1 or more.")
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
    """Return a context in which an attribute of an object has another value."""
    before = getattr(obj, attr, None)
    setattr(obj, attr, value)
    try:
        yield
    finally:
        setattr(obj, attr, before)


def has_sufficient_disk_space(needed_bytes: int, directory: str = ".") -> bool:
    """Return True if the disk of a folder has `needed_bytes` bytes free."""
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
    """A dict whose keys can only be set once."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in self:
            raise ValueError(f"The key {key!r} is already set.")
        super().__setitem__(key, value)


class tracked_str(str):  # noqa: N801 - its name in datasets
    """A string that stores its origin."""

    _origin: str | None = None

    def set_origin(self, origin: str) -> None:
        """Set the origin of the string."""
        self._origin = origin

    def get_origin(self) -> str:
        """Return the origin of the string; the string itself if it has none."""
        return str(self) if self._origin is None else self._origin


def dtype_of(arrow_type: pa.DataType) -> str:
    """Return the name of an Arrow type, for `Value`.

    Raises:
        ConfigurationError: it has no name, as lists and structs.
    """
    name = dtype_of(arrow_type.value_type) if pa.types.is_dictionary(arrow_type) else name_from_type(arrow_type)
    if name is None:
        raise ConfigurationError(f"The Arrow type {arrow_type} has no name", advice="Use Features.from_arrow_schema")
    return name


# Shards among the arguments of generators.


def number_of_shards_in_gen_kwargs(gen_kwargs: Mapping[str, Any]) -> int:
    """Return the length of the lists in the arguments of a generator; 1 without lists.

    Raises:
        RuntimeError: the lists have different lengths.
    """
    lengths = {name: len(value) for name, value in gen_kwargs.items() if isinstance(value, list)}
    if len(set(lengths.values())) > 1:
        raise RuntimeError(
            f"The lists in the arguments have different lengths: {lengths}. Pass lists that are not shards as tuples."
        )
    return max(1, next(iter(lengths.values()), 1))


def split_gen_kwargs(gen_kwargs: dict[str, Any], max_num_jobs: int) -> list[dict[str, Any]]:
    """Return the arguments for up to `max_num_jobs` generators, each with a part of the lists."""
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
    """Return the merged arguments of several generators."""
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
    """Return the total size of files in bytes."""
    return sum(os.stat(path).st_size for path in paths)
