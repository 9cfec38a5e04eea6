"""Writes rows as a folder of TensorFlow Datasets: TFRecord files, `features.json` and `dataset_info.json`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import parse_size, settings
from datasets_core.errors import CellCastError, ConfigurationError
from datasets_core.features.arrow import list_array, list_parts, struct_parts, validity
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.serialization import DATASET, IMAGE_MODES, image_of_id, kind_of
from datasets_core.features.types import ClassLabel, FixedShape, Translation
from datasets_core.io.tfrecord import FramedRows
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.version import as_version
from datasets_core.progress import progress
from datasets_core.store.atomic import StagedFolder
from datasets_core.store.rows.indices import at_least_one

_FEATURES = "tensorflow_datasets.core.features"
_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"bool", "float16", "float32", "float64"}
_TEXTS, _BYTES = {"string", "large_string"}, {"binary", "large_binary"}
_BATCH_ROWS = 1000
_FRAME_BYTES = 16  # of a record in a TFRecord file
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"

Columns = Iterator[tuple[str, FeatureType, pa.Array]]


@dataclass
class TfdsForm:
    """What a folder of TensorFlow Datasets says about features.

    Attributes:
        features: features of the columns.
        labels: names of classes by the place of the feature, for separate files.
        content: the content of `features.json`.

    Raises:
        CellCastError: TensorFlow Datasets has no such feature.
    """

    features: Mapping[str, FeatureType]
    labels: dict[str, list[str]] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.content = self._dict(self.features, ())

    def _dict(self, features: Mapping[str, FeatureType], place: tuple[str, ...]) -> dict[str, Any]:
        made = {name: self._feature(feature, (*place, name)) for name, feature in features.items()}
        return _told("features_dict.FeaturesDict", "featuresDict", {"features": made})

    def _feature(self, feature: FeatureType, place: tuple[str, ...]) -> dict[str, Any]:
        if isinstance(feature, dict):
            return self._dict(feature, place)
        if isinstance(feature, ClassLabel):
            self.labels["-".join(place)] = list(feature.names)
            return _told("class_label_feature.ClassLabel", "classLabel", {"numClasses": str(len(feature.names))})
        if isinstance(feature, Image):
            return _told("image_feature.Image", "image", _image(feature))
        if isinstance(feature, Translation):
            return _told("translation_feature.Translation", "translation", {"languages": list(feature.languages)})
        if isinstance(feature, (List, LargeList)):
            fixed = _fixed(feature)
            return self._list(feature, place) if fixed is None else _tensor(place, *fixed)
        if isinstance(feature, FixedShape):
            return _tensor(place, feature.element.dtype, feature.shape)
        if isinstance(feature, Value) and feature.dtype in _TEXTS:
            return _told("text_feature.Text", "text", {})
        if isinstance(feature, Value):
            return _tensor(place, feature.dtype, ())
        raise _unfit(place, f"it is {feature!r}, which TensorFlow Datasets cannot store", "Remove or convert the column")

    def _list(self, feature: List | LargeList, place: tuple[str, ...]) -> dict[str, Any]:
        inner, length = feature.feature, getattr(feature, "length", -1)
        if _is_float64(inner):
            return _tensor(place, "float64", (None if length == -1 else length, *_sizes(inner)))
        is_nested = kind_of(feature) == DATASET
        name = "dataset_feature.Dataset" if is_nested else "sequence_feature.Sequence"
        return _told(name, "sequence", {"feature": self._feature(inner, place), "length": str(length)})


def _told(name: str, kind: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"pythonClassName": f"{_FEATURES}.{name}", kind: content}


def _tensor(place: Sequence[str], dtype: str, sizes: Sequence[int | None]) -> dict[str, Any]:
    if dtype not in _NUMBERS | _TEXTS | _BYTES:
        raise _unfit(place, f"it has the type {dtype!r}, which TensorFlow Datasets cannot store", "Cast it")
    shape = {"dimensions": [str(-1 if size is None else size) for size in sizes]} if sizes else {}
    name = dtype if dtype in _NUMBERS else "string"
    encoding = "bytes" if name == "float64" else "none"  # floats of TFRecord files have 32 bits
    made = {"shape": shape, "dtype": name, "encoding": encoding}
    return _told("tensor_feature.Tensor" if sizes or encoding != "none" else "scalar.Scalar", "tensor", made)


def _image(feature: Image) -> dict[str, Any]:
    told = image_of_id(feature.id)
    channels = next((count for count, mode in IMAGE_MODES.items() if mode == feature.mode), 3)
    sizes, dtype = told or ((None, None, channels), "uint8")
    shape = {"dimensions": [str(-1 if size is None else size) for size in sizes]}
    return {"shape": shape, "dtype": dtype}


def _unfit(place: Sequence[str], reason: str, advice: str, row: int | None = None) -> CellCastError:
    return CellCastError(".".join(place), reason, row=row, advice=advice)


def _is_float64(feature: FeatureType) -> bool:
    """Return True for values or arrays of fixed sizes that are stored as bytes."""
    if isinstance(feature, FixedShape):
        return feature.element.dtype == "float64" and None not in feature.shape
    return isinstance(feature, Value) and feature.dtype == "float64"


def _fixed(feature: FeatureType) -> tuple[str, tuple[int | None, ...]] | None:
    """Return type and shape of lists of one size; None for others."""
    if isinstance(feature, Value) and feature.dtype != "float64":
        return feature.dtype, ()
    if isinstance(feature, (List, LargeList)) and getattr(feature, "length", -1) != -1 and (found := _fixed(feature.feature)):
        return found[0], (feature.length, *found[1])  # type: ignore[union-attr]
    return None


def _sizes(feature: FeatureType) -> tuple[int | None, ...]:
    return feature.shape if isinstance(feature, FixedShape) else ()


# Columns as TensorFlow Datasets lays them out in Examples.


def wire_columns(name: str, feature: FeatureType, array: pa.Array, first: int = 0) -> Columns:
    """Yield the keys of a column on the wire, each with its feature and values.

    Args:
        name: name of the column.
        feature: its feature.
        array: its values.
        first: number of the first row, for messages.

    Raises:
        CellCastError: a value is missing, or a list cannot be stored.

    >>> rows = pa.array([[[1, 2], []], [[3]]])
    >>> [(key, values.to_pylist()) for key, _, values in wire_columns("x", List(List(Value("int64"))), rows)]
    [('x/ragged_flat_values', [[1, 2], [3]]), ('x/ragged_row_lengths_0', [[2, 0], [1]])]
    """
    place = name.split("/")
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    valid = validity(array)
    if valid is not None and not valid.all():
        row = first + int(np.argmin(valid))
        raise _unfit(place, "it is None, which TensorFlow Datasets cannot store", "Fill or drop the values that are None", row)
    if isinstance(feature, Translation):
        feature = dict.fromkeys(feature.languages, Value("string"))
    if isinstance(feature, dict):
        _, fields = struct_parts(array)
        for inner, of in feature.items():
            yield from wire_columns(f"{name}/{inner}", of, fields[inner], first)
    elif isinstance(feature, (List, LargeList)):
        yield from _wire_lists(name, feature, array, first)
    elif _is_float64(feature) or (isinstance(feature, FixedShape) and feature.element.dtype == "float64"):
        yield name, Value("binary"), _as_bytes(array)
    else:
        yield name, feature, array


def _wire_lists(name: str, feature: List | LargeList, array: pa.Array, first: int) -> Columns:
    inner = feature.feature
    if isinstance(inner, dict):
        lengths, _, child = list_parts(array)
        _check_items(name, child, lengths, first)
        for part, of in inner.items():
            column = struct_parts(child)[1][part]
            listed = list_array(pa.large_list(column.type), lengths, None, column)
            yield from wire_columns(f"{name}/{part}", List(of, getattr(feature, "length", -1)), listed, first)
        return
    if _is_float64(inner):
        yield name, Value("binary"), _as_bytes(array)
        return
    counts: list[Any] = []
    while isinstance(inner, (List, LargeList)) and _fixed(inner) is None:
        lengths, _, child = list_parts(array)
        _check_items(name, child, lengths, first)
        counts.append(lengths)
        array, inner = child, inner.feature
    lengths, _, values = list_parts(array)
    _check_items(name, values, lengths, first)
    if isinstance(inner, dict) or _is_float64(inner) or (isinstance(inner, FixedShape) and None in inner.shape):
        advice = "Cast the column to float32" if _is_float64(inner) else "Flatten the column"
        raise _unfit(name.split("/"), f"lists of lists of {inner!r} cannot be stored", advice)
    if not counts:
        yield name, List(inner, getattr(feature, "length", -1)), array
        return
    counts.append(lengths)
    rows, of_rows = counts[0], np.arange(len(counts[0]))
    for level, inside in enumerate(counts[1:]):
        of_rows = np.repeat(of_rows, counts[level])
        per_row = np.bincount(of_rows, minlength=len(rows))
        column = list_array(pa.large_list(pa.int64()), per_row, None, pa.array(inside, pa.int64()))
        if level == len(counts) - 2:
            of_rows = np.repeat(of_rows, inside)
            flat = list_array(pa.large_list(values.type), np.bincount(of_rows, minlength=len(rows)), None, values)
            yield f"{name}/ragged_flat_values", List(inner), flat
        yield f"{name}/ragged_row_lengths_{level}", List(Value("int64")), column


def _check_items(name: str, child: pa.Array, lengths: Any, first: int) -> None:
    valid = validity(child)
    if valid is not None and not valid.all():
        row = int(np.searchsorted(np.cumsum(lengths), int(np.argmin(valid)), "right"))
        reason = "an item of its list is None, which TensorFlow Datasets cannot store"
        raise _unfit(name.split("/"), reason, "Fill or drop the values that are None", first + row)


def _as_bytes(array: pa.Array) -> pa.Array:
    """Return the numbers of each row as one value of bytes."""
    counts = np.ones(len(array), np.int64)
    of_rows = np.arange(len(array))
    while pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type):
        lengths, _, array = list_parts(array)
        of_rows = np.repeat(of_rows, lengths)
        counts = np.bincount(of_rows, minlength=len(counts))
    data = np.ascontiguousarray(array.to_numpy(zero_copy_only=False), "<f8")
    bounds = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(8 * counts, out=bounds[1:])
    return pa.Array.from_buffers(pa.large_binary(), len(counts), [None, pa.py_buffer(bounds), pa.py_buffer(data)])


# The folder.


@dataclass(frozen=True)
class TfdsRows:
    """Rows of a split to write.

    Attributes:
        batches: returns the rows as tables.
        paths: paths in values that may be opened.
        num_rows: number of rows; None if unknown.
    """

    batches: Callable[[int], Iterable[pa.Table]]
    paths: MediaPaths
    num_rows: int | None = None

    @classmethod
    def of(cls, dataset: Any, paths: MediaPaths, num_rows: int | None = None) -> TfdsRows:
        """Return the rows of a dataset or of a stream."""
        return cls(lambda size: dataset.with_format("arrow").iter(batch_size=size), paths, num_rows)


def write_split(dataset: Any, split: str | None, folder: str | os.PathLike[str], **options: Any) -> int:
    """Write a dataset or a stream as a folder of one split; see `Dataset.to_tfds`.

    Args:
        dataset: the rows.
        split: name of the split; None: that of the dataset, else `train`.
        folder: the folder.
        options: those of `write_tfds`.

    Returns:
        The size of the records, in bytes.
    """
    rows = {str(split or dataset.split or "train"): dataset._tfds_rows()}
    return write_tfds(rows, dataset.features, dataset.info, folder, **options)


def write_tfds(
    splits: Mapping[str, TfdsRows],
    features: Features | None,
    info: DatasetInfo,
    folder: str | os.PathLike[str],
    *,
    name: str | None,
    version: str | None,
    num_shards: int | None,
    max_shard_size: int | str | None,
) -> int:
    """Write splits as a folder; return the size of the records in bytes; see `Dataset.to_tfds`."""
    target = files.local_path(os.fspath(folder))
    if os.path.isdir(target) and os.listdir(target):
        raise ConfigurationError(
            f"The folder {target} is not empty", advice="Choose a new folder, or remove its files", file=target
        )
    if features is None:
        raise ConfigurationError(
            "The types of the columns of the stream are not known", advice="Cast it, or load it with features="
        )
    count = None if num_shards is None else at_least_one("num_shards", num_shards)
    limit = parse_size(max_shard_size) or settings().max_shard_bytes
    title = _title(name or info.dataset_name or info.builder_name or _folder_name(os.path.abspath(target)))
    form = TfdsForm(features)
    told: list[dict[str, Any]] = []
    with StagedFolder(target) as staged:
        for split, rows in splits.items():
            told.append(_write_split(staged.path, title, split, rows, features, count, limit))
        stored = {
            "features.json": form.content,
            "dataset_info.json": _described(info, title, version, told),
            **({"metadata.json": metadata} if (metadata := (info.further or {}).get("metadata")) else {}),
        }
        with files.disk_errors(target):
            for file, content in stored.items():
                with open(os.path.join(staged.path, file), "w", encoding="utf-8") as out:
                    json.dump(content, out, indent=4, sort_keys=True)
            for place, names in form.labels.items():
                with open(os.path.join(staged.path, f"{place}.labels.txt"), "w", encoding="utf-8") as out:
                    out.write("\n".join(names) + "\n")
        if not staged.take_place():
            raise ConfigurationError(
                f"{target} cannot be created by one rename", advice="Choose a folder on another disk", file=target
            )
    return sum(int(split["numBytes"]) for split in told)


def _folder_name(path: str) -> str:
    """Return the name of a folder, or of that above the folder of a version."""
    above, name = os.path.split(path)
    return os.path.basename(above) if re.fullmatch(r"\d+\.\d+\.\d+", name) else name


def _title(name: str) -> str:
    """Return a name of a dataset as TensorFlow Datasets accepts it.

    >>> _title("org/My-Birds 2")
    'my_birds_2'
    """
    plain = re.sub(r"\W+", "_", name.rpartition("/")[2], flags=re.ASCII).strip("_").lower()
    return plain if plain[:1].isalpha() else f"d_{plain}".rstrip("_")


def _write_split(
    folder: str, title: str, split: str, rows: TfdsRows, features: Features, count: int | None, limit: int
) -> dict[str, Any]:
    """Write the files of a split; return its description."""
    if count is not None and rows.num_rows is None:
        raise ConfigurationError(
            "num_shards= needs the number of rows, which is unknown for a stream", advice="Pass max_shard_size="
        )
    ends = None
    if count is not None:
        count = min(count, max(1, rows.num_rows or 0))
        least, more = divmod(rows.num_rows or 0, count)
        ends = [least * number + min(number, more) for number in range(1, count + 1)]
    lengths: list[int] = []
    sizes: list[int] = []
    framer: FramedRows | None = None
    first = 0
    with ExitStack() as stack, progress("Writing TFRecord", total=rows.num_rows) as bar:
        out: Any = None
        for table in rows.batches(_BATCH_ROWS):
            for batch in table.combine_chunks().to_batches():
                while batch.num_rows:
                    if out is None:
                        path = os.path.join(folder, f"{split}.{len(lengths)}")
                        out = stack.enter_context(open(path, "wb"))
                        lengths.append(0)
                        sizes.append(0)
                    part = batch if ends is None else batch.slice(0, ends[len(lengths) - 1] - first)
                    columns = [
                        found
                        for column, feature in features.items()
                        for found in wire_columns(column, feature, part[column], first)
                    ]
                    wired = pa.RecordBatch.from_arrays([each[2] for each in columns], [each[0] for each in columns])
                    framer = framer or FramedRows(Features({each[0]: each[1] for each in columns}), rows.paths)
                    for data, num_rows in framer.frames(wired, first):
                        out.write(data)
                        sizes[-1] += len(data) - _FRAME_BYTES * num_rows
                    first += part.num_rows
                    lengths[-1] += part.num_rows
                    bar.update(part.num_rows)
                    batch = batch.slice(part.num_rows)
                    if first == ends[len(lengths) - 1] if ends is not None else sizes[-1] >= limit:
                        out.close()
                        out = None
    if not lengths:  # a file without rows
        with open(os.path.join(folder, f"{split}.0"), "wb"):
            lengths.append(0)
    for number in range(len(lengths)):
        final = f"{title}-{split}.tfrecord-{number:05d}-of-{len(lengths):05d}"
        os.rename(os.path.join(folder, f"{split}.{number}"), os.path.join(folder, final))
    return {
        "name": split,
        "filepathTemplate": _TEMPLATE,
        "shardLengths": list(map(str, lengths)),
        "numBytes": str(sum(sizes)),
    }


def _described(info: DatasetInfo, title: str, version: str | None, splits: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of `dataset_info.json`."""
    further = info.further or {}
    config = info.config_name if info.config_name not in (None, "default") else None
    keys = further.get("supervised_keys") or info.supervised_keys
    rights = dict(further.get("redistribution_info") or {}) | ({"license": info.license} if info.license else {})
    told = {
        "name": title,
        "version": str(as_version(str(version or info.version or "1.0.0"))),
        "fileFormat": "tfrecord",
        "splits": splits,
        "disableShuffling": True,  # the order of the rows is kept
        "description": info.description,
        "citation": info.citation,
        "location": {"urls": [info.homepage]} if info.homepage else None,
        "configName": config,
        "configDescription": further.get("config_description"),
        "supervisedKeys": None if keys is None else _keys(keys),
        "redistributionInfo": rights,
        "releaseNotes": info.release_notes,
        "downloadSize": None if info.download_size is None else str(info.download_size),
    }
    return {key: value for key, value in told.items() if value}


def _keys(keys: Any) -> dict[str, Any]:
    if isinstance(keys, str):
        return {"featureKey": keys}
    if isinstance(keys, Mapping):
        return {"dict": {"dict": {name: _keys(each) for name, each in keys.items()}}}
    named = (keys.input, keys.output) if hasattr(keys, "input") else keys
    return {"tuple": {"items": [_keys(each) for each in named]}}
