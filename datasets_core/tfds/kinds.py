"""What users of TFDS write for a feature (a feature, a dtype, a dict of them), as the library's own features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.fixed_shape import FixedShape
from datasets_core.features.kind_marks import array_feature
from datasets_core.tfds.image_arrays import ImageArray

_STRINGS = {"str", "string", "object", "str_", "unicode"}


def dtype_name(dtype: Any) -> str:
    """The name of a type of numpy, of TensorFlow, of jax or of Python, as a `Value` knows it; text and objects are strings.

    >>> dtype_name(np.int64), dtype_name(str), dtype_name("uint8"), dtype_name(np.dtype("float32"))
    ('int64', 'string', 'uint8', 'float32')

    Raises:
        ConfigurationError: it is no type.
    """
    if isinstance(dtype, pa.DataType):
        return Value(dtype).dtype
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if isinstance(name, str) and name in _STRINGS:
        return "string"
    if isinstance(dtype, str) and dtype not in np.sctypeDict and not _is_numpy(dtype):
        return Value(dtype).dtype  # "timestamp[us]" and the like
    wanted = getattr(dtype, "as_numpy_dtype", dtype)  # that is what TensorFlow has
    try:
        found = np.dtype(wanted)
    except TypeError as error:
        raise ConfigurationError(f"{dtype!r} is no dtype. Write for example np.int64, 'float32' or str.") from error
    if found.kind in "UO":
        return "string"
    return "binary" if found.kind == "S" else Value(found.name).dtype


def _is_numpy(name: str) -> bool:
    try:
        np.dtype(name)
    except TypeError:
        return False
    return True


def is_dtype(given: Any) -> bool:
    """Whether somebody wrote a type where a feature may stand."""
    return isinstance(given, (str, type, np.dtype)) or hasattr(given, "as_numpy_dtype")


def feature_of(given: Any) -> FeatureType:
    """The feature that is meant by a feature, a dtype, a dict of such, or a list of one.

    >>> feature_of({"a": np.int64, "b": {"c": "string"}, "d": [np.uint8]})
    {'a': Value('int64'), 'b': {'c': Value('string')}, 'd': List(Value('uint8'))}

    Raises:
        ConfigurationError: it is none of these.
    """
    if isinstance(given, Feature):
        return given
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise ConfigurationError(f"{name!r} is no name of a feature. Names of features are strings.")
        return {name: feature_of(inner) for name, inner in given.items()}
    if isinstance(given, (list, tuple)) and len(given) == 1:
        return List(feature_of(given[0]))
    if is_dtype(given):
        return Value(dtype_name(given))
    raise ConfigurationError(f"{given!r} is no feature. Write a feature of tfds.features, a dtype, or a dict of them.")


def tensor_of(shape: Any, dtype: Any) -> Feature:
    """The feature of arrays of one shape, of which sizes may be None.

    >>> tensor_of((3,), np.float32), tensor_of((None, 2), "int32"), tensor_of((None, None), "int8")
    (List(Value('float32'), length=3), Array2D(shape=(None, 2), dtype='int32'), List(List(Value('int8'))))

    Raises:
        ConfigurationError: a shape or a dtype that means nothing.
    """
    name = dtype_name(dtype)
    return array_feature(_sizes(shape), name)


def _sizes(shape: Any) -> tuple[int | None, ...]:
    try:
        sizes = tuple(None if size is None else int(size) for size in shape)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"shape={shape!r} is no shape. Give a tuple, for example (None, 3).") from error
    if any(size is not None and size < 0 for size in sizes):
        raise ConfigurationError(f"shape={shape!r} has a negative size. Give None for a size that varies.")
    return sizes


def shape_of(feature: FeatureType) -> Any:
    """The shape of the values of a feature, as TFDS says it; of a dict, a dict of shapes.

    >>> shape_of({"a": Value("int8"), "b": List(List(Value("int8"), length=4))})
    {'a': (), 'b': (None, 4)}
    """
    if isinstance(feature, dict):
        return {name: shape_of(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        length = getattr(feature, "length", -1)
        return _below(None if length == -1 else length, shape_of(feature.feature))
    if isinstance(feature, (FixedShape, ImageArray)):
        return feature.shape
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None else None
    return shape_of(parts) if isinstance(parts, dict) else ()


def _below(size: int | None, inner: Any) -> Any:
    return {name: _below(size, part) for name, part in inner.items()} if isinstance(inner, dict) else (size, *inner)


def np_dtype_of(feature: FeatureType) -> Any:
    """The numpy type of the values of a feature; of a dict, a dict of types.  Texts and bytes are objects.

    >>> np_dtype_of(List(Value("int32")))
    dtype('int32')
    """
    if isinstance(feature, dict):
        return {name: np_dtype_of(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return np_dtype_of(feature.feature)
    if isinstance(feature, FixedShape):
        return np_dtype_of(feature.element)
    if isinstance(feature, ImageArray):
        return feature.np_dtype
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None else None
    if isinstance(parts, dict):
        return np_dtype_of(parts)
    arrow_type = feature_to_arrow(feature)
    is_plain = pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type) or pa.types.is_boolean(arrow_type)
    return np.dtype(arrow_type.to_pandas_dtype()) if is_plain else np.dtype(object)
