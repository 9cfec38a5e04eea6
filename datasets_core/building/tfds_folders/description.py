"""`TfdsDescription`: the `dataset_info.json` of a dataset prepared by TensorFlow Datasets.

The file is not trusted: file names must lie inside the folder, and numbers are limited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from datasets_core import files
from datasets_core.errors import ConfigurationError, ManifestError, ReferenceSyntaxError, bounded_json
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.meta.listings import UnfitFileError, small_bytes
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.meta.splits import ALL, is_split_name
from datasets_core.meta.version import Version, as_version

MOST_JSON_BYTES = 256 << 20
FEATURES_NAME = "features.json"
METADATA_NAME = "metadata.json"
FORMATS = ("tfrecord", "array_record", "parquet", "riegeli")

_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
_VARIABLE = re.compile(r"\$?\{([^{}]*)\}")
_MOST_SHARDS = 1 << 20
_MOST_ROWS = 1 << 40  # of a file
_MOST_BYTES = 1 << 62
_ADVICE = "Copy or prepare the dataset again"


@dataclass(frozen=True, slots=True)
class TfdsSplit:
    """One split.

    Attributes:
        name: name of the split.
        files: the names of its files, in order, below the folder.
        lengths: number of rows of each file; None if not recorded.
        num_bytes: bytes of its rows, as they were written.
    """

    name: str
    files: tuple[str, ...]
    lengths: tuple[int, ...] | None
    num_bytes: int


@dataclass(frozen=True, slots=True)
class TfdsDescription:
    """Recorded metadata of a dataset.

    Attributes:
        path: path of the file, for messages.
        name: name of the dataset.
        config: its config; None if there is none.
        version: its version.
        file_format: format of its files.
        other_formats: further formats of its rows.
        disable_shuffling: True if the order of the rows is to be kept.
        stored: the whole content.
    """

    path: str
    name: str
    config: str | None
    version: Version | None
    file_format: str
    other_formats: tuple[str, ...]
    disable_shuffling: bool
    stored: Mapping[str, Any] = field(repr=False)

    def splits(self, file_format: str) -> tuple[TfdsSplit, ...]:
        """Return the splits, with their files of one format.

        Raises:
            ManifestError: the record of a split is invalid.
        """
        found: dict[str, TfdsSplit] = {}
        for form in self.stored.get("splits") or ():
            with _refusing(self.path):
                split = _split(form, self.name, file_format)
            if split.name in found:
                raise ManifestError(self.path, f"there are two splits named {split.name!r}", advice=_ADVICE)
            found[split.name] = split
        return tuple(found.values())

    def ends(self, file_format: str) -> Iterator[tuple[str, ...]]:
        """Yield for each split the names of its first and last file of a format; nothing for one without files.

        If the description claims millions of files, making all names would take seconds.

        Raises:
            ManifestError: the record of a split is invalid.
        """
        with _refusing(self.path):
            for form in self.stored.get("splits") or ():
                name, _, count = _shape(form)
                template = str(form.get("filepathTemplate") or _TEMPLATE)
                numbers = sorted({0, count - 1}) if count else []
                yield tuple(_file_names(template, self.name, name, file_format, count, numbers))

    def info(self, features: Features, splits: Sequence[TfdsSplit], metadata: Any = None) -> DatasetInfo:
        """Return the description as a `DatasetInfo`.

        Args:
            features: features of the columns.
            splits: splits with the number of rows of each file.
            metadata: further values of the author.

        Raises:
            ManifestError: a part of the description is invalid.
        """
        with _refusing(self.path):
            stored = self.stored
            rights = _mapping(stored.get("redistributionInfo"))
            keys = _keys(_mapping(stored.get("supervisedKeys")))
            is_pair = isinstance(keys, tuple) and len(keys) == 2 and all(isinstance(each, str) for each in keys)
            told = {
                "metadata": metadata,
                "redistribution_info": {str(key): str(value) for key, value in rights.items()} or None,
                "supervised_keys": None if is_pair else keys,
                "config_description": stored.get("configDescription"),
            }
            urls = _mapping(stored.get("location")).get("urls") or []
            num_bytes = sum(split.num_bytes for split in splits)
            download_size = None if stored.get("downloadSize") is None else _count(stored["downloadSize"], "downloadSize")
            return DatasetInfo(
                description=str(stored.get("description") or ""),
                citation=str(stored.get("citation") or ""),
                homepage=str(urls[0]) if urls else "",
                license=str(rights.get("license") or ""),
                features=features,
                supervised_keys=SupervisedKeysData(*keys) if is_pair else None,
                builder_name=self.name,
                dataset_name=self.name,
                config_name=self.config,
                version=self.version,
                splits=SplitDict.from_split_dict([_split_info(split, self.name) for split in splits], self.name),
                download_size=download_size,
                dataset_size=num_bytes,
                size_in_bytes=None if download_size is None else download_size + num_bytes,
                disable_shuffling=self.disable_shuffling,
                release_notes={str(key): str(text) for key, text in _mapping(stored.get("releaseNotes")).items()} or None,
                further={key: value for key, value in told.items() if value is not None} or None,
            )


def parse_tfds_description(data: bytes, *, path: str) -> TfdsDescription | None:
    """Return the content of a `dataset_info.json` of TensorFlow Datasets; None for that of another library.

    Args:
        data: bytes of the file.
        path: path of the file, for messages.

    Raises:
        ManifestError: invalid content.

    >>> data = b'{"name": "birds", "version": "1.0.0", "splits": [{"name": "train", "shardLengths": ["3"]}]}'
    >>> parse_tfds_description(data, path="dataset_info.json").splits("tfrecord")[0].files
    ('birds-train.tfrecord-00000-of-00001',)
    """
    try:
        stored = json.loads(bounded_json(data.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise ManifestError(path, f"not valid JSON ({error})", advice=_ADVICE) from error
    if not isinstance(stored, dict) or not _is_tfds(stored):
        return None
    with _refusing(path):
        config = stored.get("configName") or None
        others = stored.get("alternativeFileFormats") or []
        version = stored.get("version")
        return TfdsDescription(
            path,
            _plain_name(stored.get("name")),
            None if config is None else _plain_name(config),
            None if not version else as_version(str(version)),
            str(stored.get("fileFormat") or "tfrecord"),
            tuple(str(other) for other in others),
            bool(stored.get("disableShuffling", False)),
            stored,
        )


def _is_tfds(stored: Mapping[str, Any]) -> bool:
    """Return True if the content has the form of TensorFlow Datasets, which lists its splits, and not that of other
    libraries.
    """
    if (
        "manifest" in stored
        or "builder_name" in stored
        or (isinstance(stored.get("features"), Mapping) and "splits" not in stored)
    ):
        return False
    splits = stored.get("splits")
    is_listed = isinstance(splits, list) and all(isinstance(split, Mapping) for split in splits)
    return isinstance(stored.get("name"), str) and (splits is None or is_listed)


class _refusing:  # noqa: N801 - it reads as a verb
    """Converts any error caused by the content of a file to an error that names the file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ManifestError):
            return
        if isinstance(
            error, (ConfigurationError, ReferenceSyntaxError, TypeError, ValueError, AttributeError, KeyError, OverflowError)
        ):
            raise ManifestError(self._path, str(error).rstrip("."), advice=_ADVICE) from error


def _shape(form: Mapping[str, Any]) -> tuple[str, tuple[int, ...] | None, int]:
    """Return the name of a split, the recorded numbers of rows of its files, and the number of files."""
    name = form.get("name")
    if not isinstance(name, str) or not is_split_name(name) or name == ALL:
        raise ValueError(f"the name of a split is {name!r}")
    lengths = form.get("shardLengths")
    told = None if lengths is None else tuple(_count(length, "shardLengths", most=_MOST_ROWS) for length in lengths)
    count = len(told) if told is not None else _count(form.get("numShards", 0), "numShards")
    if count > _MOST_SHARDS:
        raise ValueError(f"split {name!r} has {count:,} files")
    return name, told, count


def _split(form: Mapping[str, Any], dataset: str, file_format: str) -> TfdsSplit:
    name, told, count = _shape(form)
    template = str(form.get("filepathTemplate") or _TEMPLATE)
    files = tuple(_file_names(template, dataset, name, file_format, count, range(count)))
    if len(set(files)) < len(files):
        raise ValueError(f"split {name!r} has {count} files, but the template {template!r} names all of them {files[0]!r}")
    return TfdsSplit(name, files, told, _count(form.get("numBytes", 0), "numBytes"))


def _file_names(template: str, dataset: str, split: str, file_format: str, count: int, numbers: Iterable[int]) -> Iterator[str]:
    """Yield the names of some of the `count` files of a split, all below the folder."""
    digits = max(5, len(str(count)))
    for number in numbers:
        index, total = f"{number:0{digits}d}", f"{count:0{digits}d}"
        known = {
            "DATASET": dataset,
            "SPLIT": split,
            "FILEFORMAT": file_format,
            "SHARD_INDEX": index,
            "NUM_SHARDS": total,
            "SHARD_X_OF_Y": f"{index}-of-{total}",
        }
        name = _VARIABLE.sub(lambda found, known=known: known[found[1]] if found[1] in known else found[0], template)  # type: ignore[misc]
        parts = name.split("/")
        is_inside = all(part not in ("", ".", "..") for part in parts) and not set(name) & set("\\:\0{}")
        if not is_inside:
            raise ValueError(f"split {split!r} has the template {template!r}, which names no file below the folder")
        yield name


def _split_info(split: TfdsSplit, dataset: str) -> SplitInfo:
    lengths = list(split.lengths or ())
    return SplitInfo(split.name, split.num_bytes, sum(lengths), lengths, None, dataset, list(split.files))


def _count(value: Any, what: str, *, most: int = _MOST_BYTES) -> int:
    """Return a number from JSON, in which 64-bit numbers are strings."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"{what} is {value!r}")
    try:
        found = int(value)
    except ValueError as error:
        raise ValueError(
            f"{what} is {value[:40]!r}, which is not a number" if isinstance(value, str) else f"{what} is not a number"
        ) from error
    if not 0 <= found < most:
        raise ValueError(f"{what} is {found}")
    return found


def _plain_name(name: Any) -> str:
    if not isinstance(name, str) or not name or set(name) & set("/\\\0:") or name in (".", ".."):
        raise ValueError(f"{name!r} is not a valid dataset or config name")
    return name


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _keys(form: Mapping[str, Any], depth: int = 0) -> Any:
    """Supervised keys: a name, or a tuple or dict of names; None if there are none."""
    if depth > 32:
        raise ValueError("supervisedKeys are nested too deeply")
    if "featureKey" in form:
        return str(form["featureKey"])
    if "tuple" in form:
        return tuple(_keys(each, depth + 1) for each in form["tuple"].get("items", ()))
    if "dict" in form:
        return {str(name): _keys(each, depth + 1) for name, each in form["dict"].get("dict", {}).items()}
    return (str(form["input"]), str(form["output"])) if form.get("input") or form.get("output") else None


@dataclass(frozen=True, slots=True)
class Conversion:
    """Options of the conversion of records.

    Attributes:
        cache_dir: the cache; None for the setting.
        num_proc: worker processes.
        is_forced: True to convert again.
    """

    cache_dir: str | None = None
    num_proc: int | None = None
    is_forced: bool = False


def content(path: str, storage_options: dict[str, Any] | None = None, *, most_bytes: int = MOST_JSON_BYTES) -> bytes | None:
    """Return the content of a small file, which a stranger may have placed there; None if there is none.

    Args:
        path: local, or a URL.
        storage_options: options for the URL.
        most_bytes: maximum size in bytes.

    Raises:
        ManifestError: the file cannot be read, is larger, or is not a regular file.
    """
    try:
        if not files.is_url(path):
            return small_bytes(files.local_path(path), most_bytes=most_bytes)
        with files.open_binary(path, storage_options) as handle:
            data: bytes = handle.read(most_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnfitFileError as error:
        raise ManifestError(path, str(error)) from error
    except OSError as error:
        raise ManifestError(path, f"cannot be read ({error.strerror or error})") from error
    if len(data) > most_bytes:
        raise ManifestError(path, f"it has more than {most_bytes:,} bytes")
    return data
