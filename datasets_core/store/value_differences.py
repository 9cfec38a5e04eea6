"""Which rows of two columns hold other values, found column-wise: nulls, NaN, nested values and dictionaries included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.forms import feature_to_json
from datasets_core.features.media import Media
from datasets_core.store.one_type import IncomparableError, in_one_type

if TYPE_CHECKING:
    import numpy.typing as npt

Mask: TypeAlias = "npt.NDArray[np.bool_]"

types = pa.types
_WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def differing(old: pa.Array, new: pa.Array, feature: FeatureType | None = None) -> Mask:
    """Where two arrays of one length hold other values.

    NaN equals NaN, whatever its bits; -0.0 is not 0.0.  Texts, bytes and lists are equal whatever width their offsets have, and
    whether they are coded by a dictionary or not.  Fields of structs that only `new` has are not looked at.  Of media whose
    bytes are stored, the bytes count and not the path that they once came from.

    Values of different types are compared in one that holds both (`in_one_type`): the number 1 is 1 in each of them.

    Args:
        old, new: the arrays.
        feature: the feature of `old`, which tells media from other structs.

    Raises:
        IncomparableError: they hold values that have nothing to do with each other.

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
    """The values of extension types and dictionaries; maps as lists of pairs."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if types.is_map(array.type):
        pair = [pa.field("key", array.type.key_type, nullable=False), pa.field("value", array.type.item_type)]
        return array.cast(pa.list_(pa.struct(pair)))
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def validity(array: pa.Array) -> Mask:
    """Where an array is not null."""
    if not array.null_count:
        return np.ones(len(array), dtype=np.bool_)
    found: Mask = array.is_valid().to_numpy(zero_copy_only=False)
    return found


def _other_values(old: pa.Array, new: pa.Array, both: Mask, feature: FeatureType | None) -> Mask:
    """Where the values differ; what it says of rows that are not in `both` means nothing."""
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
    """Where a medium has its bytes in the row."""
    place = media.type.get_field_index("bytes")
    return np.zeros(len(media), dtype=np.bool_) if place < 0 else validity(media.field(place))


def is_list(kind: pa.DataType) -> bool:
    """Whether it is a type of lists, of any width and of fixed length too."""
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
    """What tells the values of a feature from others, as a user reads them: widths of offsets and ids left out.

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
