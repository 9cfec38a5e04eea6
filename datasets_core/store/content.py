"""The fingerprint of the rows of a dataset: the same whatever shards, batches, format or machine they stand on.

Each leaf of a column is hashed as up to three streams (what is null, how long lists and texts are, the values), so that where
batches end leaves no trace.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.media import Media
from datasets_core.features.schema import Features
from datasets_core.meta.rows import RowRange
from datasets_core.store.manifest import Manifest
from datasets_core.store.one_type import wide_type
from datasets_core.store.source import open_rows
from datasets_core.store.value_differences import is_list, kind_of_values, plain_values, validity

if TYPE_CHECKING:
    import numpy.typing as npt

_ROWS = 10_000  # hashed at once
_NAN = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}
_WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}

types = pa.types


def split_fingerprints(
    folder: str,
    manifest: Manifest,
    *,
    on_rows: Callable[[int], object] = lambda rows: None,
    storage_options: dict[str, Any] | None = None,
) -> dict[str, str]:
    """The sha256 of the rows of each split, in their order.

    Names and values of the columns count, and so do their kinds; the order of the columns does not.  Of media the bytes count
    where they are stored, and else the name of the file.

    Args:
        folder: a finished dataset.
        manifest: what it contains.
        on_rows: is told how many rows more are done.
        storage_options: for fsspec.

    Raises:
        DamagedShardError: a shard is missing, cut or altered.
    """
    found = {}
    for split, lengths in manifest.split_lengths().items():
        ranges = [RowRange(split, number, 0, rows) for number, rows in enumerate(lengths) if rows]
        table = open_rows(folder, manifest, ranges, storage_options=storage_options, is_read=True)
        digest = RowDigest(manifest.info.features or Features.from_arrow_schema(table.schema))
        for batch in table.batches(_ROWS):
            digest.update(batch)
            on_rows(batch.num_rows)
        found[split] = digest.hexdigest()
    return found


def data_fingerprint(splits: Mapping[str, str]) -> str:
    """One fingerprint of all splits, from those of each.

    >>> data_fingerprint({"train": "ab", "test": "cd"})[:16]
    '67363a8f82c4f2b4'
    """
    return hashlib.sha256(json.dumps(list(splits.items())).encode()).hexdigest()


class RowDigest:
    """The digest of rows that come batch by batch.

    >>> digest = RowDigest(Features.from_dict({"a": {"dtype": "int8", "_type": "Value"}}))
    >>> digest.update(pa.record_batch({"a": pa.array([1, None], pa.int8())}))
    >>> digest.hexdigest()[:16]
    'a32d0c70dfc1ae48'
    """

    def __init__(self, features: Features) -> None:
        self._features = features
        self._num_rows = 0
        self._streams: dict[tuple[str, ...], Any] = {}

    def update(self, batch: pa.RecordBatch) -> None:
        """Take in more rows."""
        self._num_rows += batch.num_rows
        for name in self._features:
            self._add((name,), batch.column(name), self._features[name])

    def hexdigest(self) -> str:
        """The sha256 of the rows so far."""
        kinds = {name: kind_of_values(feature) for name, feature in self._features.items()}
        streams = sorted((path, stream.hexdigest()) for path, stream in self._streams.items())
        said = json.dumps([self._num_rows, kinds, streams], sort_keys=True)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()

    def _put(self, path: tuple[str, ...], data: Any) -> None:
        stream = self._streams.get(path)
        if stream is None:
            stream = self._streams[path] = hashlib.sha256()
        stream.update(data)

    def _add(self, path: tuple[str, ...], array: pa.Array, feature: FeatureType | None) -> None:
        if not len(array):
            return
        array = plain_values(array)
        valid = validity(array)
        self._put((*path, "?"), valid.view(np.uint8))
        if not valid.all():
            array = array.filter(pa.array(valid))
        if not len(array):
            return
        kind = array.type
        if isinstance(feature, Media) and types.is_struct(kind):
            self._add_media(path, array)
        elif types.is_struct(kind):
            for place, field in enumerate(kind):
                inner = feature.get(field.name) if isinstance(feature, dict) else None
                self._add((*path, field.name), array.field(place), inner)
        elif is_list(kind):
            self._add_list(path, array, feature)
        else:
            self._add_values(path, array)

    def _add_media(self, path: tuple[str, ...], media: pa.Array) -> None:
        data, names = (media.field(media.type.get_field_index(name)) for name in ("bytes", "path"))
        self._add((*path, "bytes"), data, None)
        bare = names.filter(pa.array(~validity(data)))
        files = [None if name is None else os.path.basename(name) for name in bare.to_pylist()]
        self._add((*path, "path"), pa.array(files, pa.string()), None)

    def _add_list(self, path: tuple[str, ...], lists: pa.Array, feature: FeatureType | None) -> None:
        import pyarrow.compute as pc

        lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype("<i8")
        self._put((*path, "#"), np.ascontiguousarray(lengths))
        self._add((*path, "[]"), lists.flatten(), feature.feature if isinstance(feature, (List, LargeList)) else None)

    def _add_values(self, path: tuple[str, ...], array: pa.Array) -> None:
        wide = wide_type(array.type)
        if wide is not None:
            array = array.cast(wide)
            offsets = np.frombuffer(array.buffers()[1], "<i8", len(array) + 1, array.offset * 8)
            self._put((*path, "#"), np.ascontiguousarray(np.diff(offsets)))
            data = array.buffers()[2]
            self._put((*path, "="), b"" if data is None else memoryview(data)[int(offsets[0]) : int(offsets[-1])])
        elif types.is_boolean(array.type):
            self._put((*path, "="), np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).view(np.uint8))
        elif types.is_null(array.type):
            return
        else:
            self._put((*path, "="), _fixed(array))


def _fixed(array: pa.Array) -> npt.NDArray[Any]:
    """The bytes of values of a fixed width, each NaN as the same."""
    width = array.type.bit_width // 8
    data = np.frombuffer(array.buffers()[1], np.uint8, len(array) * width, array.offset * width)
    if types.is_floating(array.type):
        floats = data.view(f"<f{width}")
        lost = np.isnan(floats)
        if lost.any():
            words = floats.view(_WORDS[width]).copy()
            words[lost] = _NAN[width]
            return words
    return data
