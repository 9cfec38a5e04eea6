"""Comparison of columns by value: nulls, NaN, nested values and dictionaries; fingerprint of the content of splits."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.media.media import Media
from datasets_core.features.schema import Features
from datasets_core.features.serialization import feature_to_json
from datasets_core.store.manifest import Manifest
from datasets_core.store.pieces import RowRange
from datasets_core.store.source import open_rows

if TYPE_CHECKING:
    import numpy.typing as npt


# Conversion of two arrays to a common type in which only equal values compare equal.


types = pa.types
_UNITS = ("s", "ms", "us", "ns")


class IncomparableError(Exception):
    """Values of two types that cannot be compared; caught by the code that compares columns."""


def in_one_type(old: pa.Array, new: pa.Array) -> tuple[pa.Array, pa.Array] | None:
    """Return two arrays in one type; None if no type holds both, but their Python values can be compared.

    Args:
        old, new: arrays of plain values, neither of structs nor of lists.

    Raises:
        IncomparableError: their values cannot be compared.

    >>> one, other = in_one_type(pa.array([1], pa.int32()), pa.array([1.5]))
    >>> one.type, other.type
    (DataType(double), DataType(double))
    """
    wanted = common_type(old.type, new.type)
    if wanted == old.type == new.type:
        return old, new  # unions, say, which nothing casts
    try:
        return None if wanted is None else (old.cast(wanted), new.cast(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if _is_number(old.type) and _is_number(new.type):
            return None
        raise IncomparableError from error


def common_type(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    """Return the type in which values of two types are compared; None if only Python compares them.

    Raises:
        IncomparableError: there is no such type.

    >>> common_type(pa.timestamp("s"), pa.timestamp("us"))
    TimestampType(timestamp[us])
    """
    if old.equals(new):
        return wide_type(old) or old
    pair = (old, new)
    if all(map(_is_number, pair)):
        return _of_numbers(old, new)
    if all(_is_text(kind) or types.is_integer(kind) for kind in pair):
        return pa.large_string()
    if all(_is_text(kind) or _is_binary(kind) for kind in pair):
        return pa.large_string() if all(map(_is_text, pair)) else pa.large_binary()
    found = _of_times(old, new)
    if found is None:
        raise IncomparableError
    return found


def wide_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type in which texts or bytes with any width of offsets are compared."""
    return pa.large_string() if _is_text(kind) else pa.large_binary() if _is_bytes(kind) else None


def _of_numbers(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    pair = (old, new)
    if all(map(types.is_unsigned_integer, pair)):
        return pa.uint64()
    if all(map(types.is_integer, pair)):
        return pa.int64()
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in pair):
        return pa.float64()
    return None  # decimals and truth values


def _of_times(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    pair = (old, new)
    if all(map(types.is_date, pair)):
        return pa.date64()
    if all(map(types.is_time, pair)):
        return pa.time64("ns")
    if all(map(types.is_duration, pair)):
        return pa.duration(_finer(old.unit, new.unit))
    if all(types.is_timestamp(kind) or types.is_date(kind) for kind in pair):
        zones = [kind.tz if types.is_timestamp(kind) else None for kind in pair]
        units = [kind.unit if types.is_timestamp(kind) else "ms" for kind in pair]
        return pa.timestamp(_finer(*units), zones[0]) if (zones[0] is None) == (zones[1] is None) else None
    return None


def _finer(one: str, other: str) -> str:
    return max(one, other, key=_UNITS.index)


def _is_number(kind: pa.DataType) -> bool:
    return any(asks(kind) for asks in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean))


def _is_text(kind: pa.DataType) -> bool:
    return any(asks(kind) for asks in (types.is_string, types.is_large_string, types.is_string_view))


def _is_bytes(kind: pa.DataType) -> bool:
    return any(asks(kind) for asks in (types.is_binary, types.is_large_binary, types.is_binary_view))


def _is_binary(kind: pa.DataType) -> bool:
    return _is_bytes(kind) or bool(types.is_fixed_size_binary(kind))


Mask: TypeAlias = "npt.NDArray[np.bool_]"

_WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def differing(old: pa.Array, new: pa.Array, feature: FeatureType | None = None) -> Mask:
    """Return where two arrays of one length differ.

    NaN equals NaN, regardless of its bits; -0.0 is not 0.0.  Offset widths of texts, bytes and lists are ignored, and so are
    dictionary encodings.  Fields of structs that only `new` has are ignored.  For media whose bytes are stored, the bytes are
    compared and not the original path.

    Values of different types are compared in a common type (`in_one_type`): the number 1 is equal in all of them.

    Args:
        old, new: the arrays.
        feature: the feature of `old`, which marks media.

    Raises:
        IncomparableError: their values have no common type.

    >>> differing(pa.array([1.0, None, float("nan")]), pa.array([1.0, 2.0, float("nan")])).tolist()
    [False, True, False]
    """
    old, new = plain_values(old), plain_values(new)
    here, there = validity(old), validity(new)
    found: Mask = here != there
    both: Mask = here & there
    if both.any():
        found |= both & _other_values(old, new, both, feature)
    return found


def plain_values(array: pa.Array) -> pa.Array:
    """Return the stored values of extension types and the decoded ones of dictionaries; maps become lists of pairs."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if types.is_map(array.type):
        pair = [pa.field("key", array.type.key_type, nullable=False), pa.field("value", array.type.item_type)]
        return array.cast(pa.list_(pa.struct(pair)))
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def validity(array: pa.Array) -> Mask:
    """Return a mask of the values that are not null."""
    if not array.null_count:
        return np.ones(len(array), dtype=np.bool_)
    found: Mask = array.is_valid().to_numpy(zero_copy_only=False)
    return found


def _other_values(old: pa.Array, new: pa.Array, both: Mask, feature: FeatureType | None) -> Mask:
    """Return a mask of the values that differ; rows that are not in `both` are undefined."""
    for asks in (types.is_struct, is_list):
        if asks(old.type) != asks(new.type):
            raise IncomparableError
    if types.is_struct(old.type):
        return _other_structs(old, new, feature)
    if is_list(old.type):
        return _other_lists(old, new, both, feature)
    pair = in_one_type(old, new)
    if pair is None:
        return _other_python(old, new)
    old, new = pair
    if types.is_floating(old.type):
        return _other_floats(old, new)
    import pyarrow.compute as pc  # 10 ms that structs of floats do without

    try:
        unequal: Mask = pc.not_equal(old, new).fill_null(False).to_numpy(zero_copy_only=False)
        return unequal
    except pa.ArrowNotImplementedError:  # unions, intervals
        return _other_python(old, new)


def _other_python(old: pa.Array, new: pa.Array) -> Mask:
    pairs = zip(old.to_pylist(), new.to_pylist(), strict=True)
    return np.array([a != b and not (a != a and b != b) for a, b in pairs], dtype=np.bool_)


def _other_floats(old: pa.Array, new: pa.Array) -> Mask:
    a, b = (array.fill_null(0).to_numpy(zero_copy_only=False) if array.null_count else array.to_numpy() for array in (old, new))
    words = _WORDS[a.dtype.itemsize]
    other: Mask = (a.view(words) != b.view(words)) & ~(np.isnan(a) & np.isnan(b))
    return other


def _other_structs(old: pa.Array, new: pa.Array, feature: FeatureType | None) -> Mask:
    found: Mask = np.zeros(len(old), dtype=np.bool_)
    names = {new.type.field(place).name: place for place in range(new.type.num_fields)}
    for place in range(old.type.num_fields):
        name = old.type.field(place).name
        if name not in names:
            continue
        inner = feature.get(name) if isinstance(feature, dict) else None
        other = differing(old.field(place), new.field(names[name]), inner)
        if isinstance(feature, Media) and name == "path":
            other &= ~(_stored(old) & _stored(new))
        found |= other
    return found


def _stored(media: pa.Array) -> Mask:
    """Return a mask of the rows that contain the bytes of their medium."""
    place = media.type.get_field_index("bytes")
    return np.zeros(len(media), dtype=np.bool_) if place < 0 else validity(media.field(place))


def is_list(kind: pa.DataType) -> bool:
    """Return True for list types: with any width of offsets, or of fixed length."""
    return any(
        asks(kind)
        for asks in (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    )


def _other_lists(old: pa.Array, new: pa.Array, both: Mask, feature: FeatureType | None) -> Mask:
    lengths, others = _lengths(old), _lengths(new)
    comparable: Mask = both & (lengths == others)
    found: Mask = ~comparable
    if not comparable.all():
        kept = pa.array(comparable)
        old, new = old.filter(kept), new.filter(kept)
    lengths = lengths[comparable]
    inner = feature.feature if isinstance(feature, (List, LargeList)) else None
    other = differing(_flat(old), _flat(new), inner)
    if other.any():
        counts = np.concatenate(([0], np.cumsum(other)))  # how many differ before each element
        ends = np.cumsum(lengths)
        found[comparable] = counts[ends] > counts[ends - lengths]
    return found


def _lengths(lists: pa.Array) -> npt.NDArray[np.int64]:
    import pyarrow.compute as pc

    found: npt.NDArray[np.int64] = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _flat(lists: pa.Array) -> pa.Array:
    found: Any = lists.flatten()
    return found


def kind_of_values(feature: FeatureType) -> Any:
    """Return the type of the values of a feature as a user sees them, without offset widths and ids.

    >>> from datasets_core.features.base import Value
    >>> kind_of_values(Value("large_string")) == kind_of_values(Value("string", id="text"))
    True
    """
    if isinstance(feature, dict):
        return {name: kind_of_values(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return ["list", getattr(feature, "length", -1), kind_of_values(feature.feature)]
    form = feature_to_json(feature)
    form.pop("id", None)
    if isinstance(form.get("dtype"), str):
        form["dtype"] = form["dtype"].removeprefix("large_").removesuffix("_view")
    return form


# Fingerprint of the rows of a dataset, independent of shards, batches, format and machine.


_ROWS = 10_000  # hashed at once
_NAN = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}


def split_fingerprints(
    folder: str,
    manifest: Manifest,
    *,
    on_rows: Callable[[int], object] = lambda rows: None,
    storage_options: dict[str, Any] | None = None,
) -> dict[str, str]:
    """Return the sha256 of the rows of each split, in their order.

    Names, values and types of the columns count; the order of the columns does not.  For media, the bytes are hashed if they
    are stored, else the name of the file.

    Args:
        folder: a finished dataset.
        manifest: what it contains.
        on_rows: called repeatedly with the number of rows hashed since the last call.
        storage_options: options for fsspec.

    Raises:
        DamagedShardError: a shard is missing, truncated or altered.
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
    """Return one fingerprint of all splits, from those of each.

    >>> data_fingerprint({"train": "ab", "test": "cd"})[:16]
    '67363a8f82c4f2b4'
    """
    return hashlib.sha256(json.dumps(list(splits.items())).encode()).hexdigest()


class RowDigest:
    """The digest of rows that arrive in batches.

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
        """Add rows."""
        self._num_rows += batch.num_rows
        for name in self._features:
            self._add((name,), batch.column(name), self._features[name])

    def hexdigest(self) -> str:
        """Return the sha256 of the rows so far."""
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
    """Return the bytes of values of a fixed width; all NaNs have the same bytes."""
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
