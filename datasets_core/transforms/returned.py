"""What a user's function returned for one column, as an Arrow array: of the original type where it fits, else of its own."""

from __future__ import annotations

import sys
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CellCastError
from datasets_core.features.base import FeatureType, LargeList, List, feature_to_arrow
from datasets_core.features.cast import cast_table
from datasets_core.features.columns import Column, compile_column
from datasets_core.features.inference import infer_column
from datasets_core.features.labels import ClassLabel
from datasets_core.features.mixed import infer_or_json
from datasets_core.features.nesting import Misfit
from datasets_core.features.schema import Features
from datasets_core.features.values import is_tensor, tensor_array

types = pa.types
_TEXTS = frozenset({str, NoneType, np.str_})
_LABELS = frozenset({str, int, NoneType, np.str_, np.int64, np.int32})
_USUAL = frozenset({int, float, str, bool, bytes, dict})
Encoded = tuple[pa.Array, "FeatureType | None"]
"""An array, and its feature where that is more than the array's type says."""


class ColumnEncoder:
    """Makes Arrow arrays of the values of one column.

    Args:
        name: of the column, for errors.
        given: the feature that the user asks for; None: the values decide.
        original: the feature that a column of this name had before; its type is kept where the values fit.
        as_json: values that share no type, and dicts of different keys, become JSON; else they are an error, or get nulls.
    """

    def __init__(self, name: str, given: FeatureType | None, original: FeatureType | None, *, as_json: bool) -> None:
        self.name, self.as_json = name, as_json
        self._kind = given if given is not None else original
        self._is_given = given is not None
        self._column: Column | None = None if self._kind is None else compile_column(self._kind)
        self._type = None if self._kind is None else feature_to_arrow(self._kind)
        self._numbers: tuple[np.dtype[Any], pa.DataType] | None = None  # of the arrays before

    def rows(self, values: list[Any]) -> Encoded:
        """The array of one value for each row.

        Raises:
            CellCastError: a value that does not fit; it names the row, from 0 in `values`.
        """
        values = _plain(values)
        try:
            if self._is_given:
                assert self._column is not None
                return self._column(values), self._kind
            return self._as_original(values) or self._inferred(values)
        except Misfit as misfit:
            advice = "Return values of one kind, or pass on_mixed_types='use_json'" if self._kind is None else None
            raise CellCastError(
                f"{self.name}{misfit.path}", misfit.reason, row=misfit.index, advice=advice
            ) from misfit.__cause__

    def array(self, array: pa.Array) -> Encoded:
        """The array of values that are Arrow's already."""
        if self._type is None or array.type == self._type:
            return array, self._kind
        wanted = Features({self.name: self._kind})
        batch = pa.RecordBatch.from_arrays([array], [self.name])
        if self._is_given:
            return cast_table(batch, wanted, what="The result").column(0), self._kind
        if not _texts_agree(array.type, self._type):
            return array, None
        try:
            return array.cast(self._type), self._kind
        except (pa.ArrowException, ValueError):
            return array, None

    def numbers(self, array: np.ndarray[Any, Any]) -> Encoded:
        """The array of a numpy array, of which each element of the first dimension is a row."""
        dtype = array.dtype
        if array.ndim == 1 and dtype.kind in "iuf" and dtype.isnative and dtype.itemsize <= 8:
            held = np.array(array, order="C") if array.flags.writeable else np.ascontiguousarray(array)
            if self._numbers is None or self._numbers[0] != dtype:
                self._numbers = dtype, pa.from_numpy_dtype(dtype)
            return self.array(pa.Array.from_buffers(self._numbers[1], len(held), [None, pa.py_buffer(held)]))
        return self.rows(list(array) if array.ndim > 1 else array.tolist() if array.dtype.kind in "bUSO" else list(array))

    # -- types ---------------------------------------------------------------------------------------------------------

    def _as_original(self, values: list[Any]) -> Encoded | None:
        """The values with the type that the column had; None where they do not fit it."""
        if self._column is None or self._type is None:
            return None
        kinds = set(map(type, values))
        if types.is_string(self._type) or types.is_large_string(self._type) or types.is_string_view(self._type):
            if not kinds <= _TEXTS:
                return None
        elif types.is_nested(self._type) and _has_text(self._type):
            array, _ = self._inferred(values)
            if not _texts_agree(array.type, self._type) or not _has_no_other_keys(values, self._kind):
                return None
        elif not _has_no_other_keys(values, self._kind):
            return None
        try:
            return self._column(values), self._kind
        except Misfit:
            if isinstance(self._kind, ClassLabel) and kinds <= _LABELS:
                raise  # a name that the label does not have is a mistake, not another type
            return None

    def _inferred(self, values: list[Any]) -> Encoded:
        if self._shows_pictures(values):
            from datasets_core.features.image import Image

            return compile_column(Image())(values), Image()
        return infer_or_json(values) if self.as_json else infer_column(values), None

    def _shows_pictures(self, values: list[Any]) -> bool:
        pictures = sys.modules.get("PIL.Image")
        first = next((value for value in values if value is not None), None)
        return pictures is not None and isinstance(first, pictures.Image)


def _has_no_other_keys(values: list[Any], feature: FeatureType | None) -> bool:
    """Whether the feature has a place for all keys of the dicts among the values; one that is lacking is null."""
    if isinstance(feature, dict):
        present = [value for value in values if isinstance(value, dict)]
        if not all(feature.keys() >= value.keys() for value in present):
            return False
        nested = {name: inner for name, inner in feature.items() if isinstance(inner, (dict, List, LargeList))}
        return all(_has_no_other_keys([value.get(name) for value in present], inner) for name, inner in nested.items())
    if isinstance(feature, (List, LargeList)) and isinstance(feature.feature, (dict, List, LargeList)):
        members = chain.from_iterable(value for value in values if isinstance(value, (list, tuple)))
        return _has_no_other_keys(list(members), feature.feature)
    return True


def _has_text(arrow_type: pa.DataType) -> bool:
    if types.is_nested(arrow_type):
        return any(_has_text(arrow_type.field(index).type) for index in range(arrow_type.num_fields))
    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type))


def _texts_agree(found: pa.DataType, original: pa.DataType) -> bool:
    """Whether texts are where texts were: numbers are not to be turned into text silently."""
    if types.is_null(found) or types.is_null(original):
        return bool(types.is_null(found))
    if types.is_struct(original) and types.is_struct(found):
        names = {field.name for field in found}
        both = [field for field in original if field.name in names]
        return all(_texts_agree(found.field(field.name).type, field.type) for field in both)
    if types.is_nested(original) and types.is_nested(found) and not types.is_struct(original) and not types.is_struct(found):
        if original.num_fields != 1 or found.num_fields != 1:
            return True
        return _texts_agree(found.field(0).type, original.field(0).type)
    return not _has_text(original) or _has_text(found)


def _plain(values: list[Any]) -> list[Any]:
    """Scalars of numpy and tensors as what inference reads fast."""
    first = next((value for value in values if value is not None), None)
    if type(first) in _USUAL:
        return values  # a scalar of numpy among them is read too, only more slowly
    kinds = set(map(type, values))
    if len(kinds) == 1:
        kind = next(iter(kinds))
        if kind is np.float64 or kind is np.int64 or kind is np.bool_:
            return [value.item() for value in values]
    if any(map(is_tensor, kinds)):
        return [tensor_array(value) if is_tensor(type(value)) else value for value in values]
    return values
