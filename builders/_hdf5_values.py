"""Values of HDF5 datasets as Arrow columns: numbers, text, bytes, arrays, compounds and lists of any length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.fixed_shape import Array2D, Array3D, Array4D, Array5D
from datasets_core.features.nesting import bitmap, list_array, struct_array
from datasets_core.features.plain import plain_array

from ._source import Source

_ARRAYS = {2: Array2D, 3: Array3D, 4: Array4D, 5: Array5D}

Typed = tuple[pa.Array, Any]
"""A column, and the metadata of its field, which tell the shape of arrays."""


def column_of(source: Source, node: Any, start: int, stop: int) -> Typed:
    """The rows `start:stop` of a dataset, or of all datasets of a group.

    Raises:
        FileFormatError: a type that no column has.
    """
    if isinstance(node, dict):
        columns = {name: column_of(source, inner, start, stop) for name, inner in node.items()}
        kind = pa.struct([pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()])
        return struct_array(kind, stop - start, None, [array for array, _ in columns.values()]), None
    try:
        return _column(_values(node, start, stop), node.dtype)
    except NotImplementedError as error:
        raise source.fault(
            f"has values of type {node.dtype} in {node.name[1:]!r}, which no column stores", advice="Write them as another type"
        ) from error


def _values(node: Any, start: int, stop: int) -> np.ndarray[Any, Any]:
    import h5py

    text = h5py.check_string_dtype(node.dtype)
    if text is not None and text.length is None and text.encoding == "utf-8":
        return np.asarray(node.asstr()[start:stop], dtype=object)
    return np.asarray(node[start:stop])


def _column(values: np.ndarray[Any, Any], dtype: Any) -> Typed:
    import h5py

    if h5py.check_ref_dtype(dtype) is not None or (dtype.kind in "MmV" and dtype.names is None):
        raise NotImplementedError
    if dtype.names is not None:
        return _fields({name: (values[name], _inner(dtype, name)) for name in dtype.names}, values)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return _fields({"real": (values.real, part), "imag": (values.imag, part)}, values)
    if values.ndim > 1:
        return _array(values, dtype)
    inner = h5py.check_vlen_dtype(dtype)
    if inner is not None and not isinstance(inner, type):
        return _lists(values, np.dtype(inner))
    if dtype.kind == "O":
        return _objects(values), None
    if dtype.kind in "SU":
        return plain_bytes(values.tolist()), None
    return _numbers(values), None


def _inner(dtype: Any, name: str) -> Any:
    inner = dtype[name]
    return inner.base if inner.subdtype is not None else inner


def _fields(fields: dict[str, tuple[np.ndarray[Any, Any], Any]], values: np.ndarray[Any, Any]) -> Typed:
    if values.ndim > 1:
        raise NotImplementedError
    columns = {name: _column(part, dtype) for name, (part, dtype) in fields.items()}
    kind = pa.struct([pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()])
    return struct_array(kind, len(values), None, [array for array, _ in columns.values()]), None


def _array(values: np.ndarray[Any, Any], dtype: Any) -> Typed:
    """An array a row: a list of fixed size for one dimension, `Array2D` to `Array5D` for more, lists of lists past these."""
    flat, _ = _column(values.reshape(-1), dtype)
    shape = values.shape[1:]
    plain = dtype.kind in "biuf"
    if len(shape) == 1:
        kind = pa.list_(flat.type, shape[0]) if shape[0] else pa.list_(flat.type)
        return list_array(kind, np.full(len(values), shape[0], np.int64), None, flat), None
    array = flat
    for level in range(len(shape) - 1, -1, -1):
        count = int(np.prod((len(values), *shape[:level]), dtype=np.int64))
        array = list_array(pa.list_(array.type), np.full(count, shape[level], np.int64), None, array)
    if not plain or len(shape) not in _ARRAYS:
        return array, None
    return array, _ARRAYS[len(shape)](shape=shape, dtype=str(flat.type)).arrow_metadata


def _lists(values: np.ndarray[Any, Any], dtype: Any) -> Typed:
    lengths = np.fromiter((len(value) for value in values), np.int64, len(values))
    joined = np.concatenate([np.asarray(value, dtype) for value in values]) if len(values) else np.zeros(0, dtype)
    child, _ = _column(joined, dtype)
    return list_array(pa.list_(child.type), lengths, None, child), None


def _objects(values: np.ndarray[Any, Any]) -> pa.Array:
    listed = values.tolist()
    if all(isinstance(value, str) for value in listed):
        return plain_array(listed, pa.string())
    return plain_bytes(listed)


def plain_bytes(values: list[bytes | str]) -> pa.Array:
    """Bytes as a column."""
    from datasets_core.features.stored_media import binary_array

    return binary_array([value.encode() if isinstance(value, str) else value for value in values])


def _numbers(values: np.ndarray[Any, Any]) -> pa.Array:
    if values.dtype.kind == "b":
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, bitmap(np.ascontiguousarray(values))])
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
        raise NotImplementedError
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(native.dtype), len(native), [None, pa.py_buffer(native)])
