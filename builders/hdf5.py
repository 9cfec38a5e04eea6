"""HDF5: datasets of one length as columns, groups as structs, read in batches of rows by h5py.

Only data in the file itself is read: links to other files, and datasets with external storage, are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, FileFormatError, MissingDependencyError
from datasets_core.features.arrow import list_array, struct_array
from datasets_core.features.base import bitmap, plain_array
from datasets_core.features.types import Array2D, Array3D, Array4D, Array5D
from datasets_core.fetch.members import Budget
from datasets_core.optional import needed

from ._source import Source, refuse_foreign
from ._tables import FileBuilder

# Values of HDF5 datasets as Arrow columns: numbers, text, bytes, arrays, compounds and lists of any length.


_ARRAYS = {2: Array2D, 3: Array3D, 4: Array4D, 5: Array5D}

Typed = tuple[pa.Array, Any]
"""A column, and the metadata of its field, with the shape of arrays."""


def column_of(source: Source, node: Any, start: int, stop: int) -> Typed:
    """Return the rows `start:stop` of a dataset, or of all datasets of a group.

    Raises:
        FileFormatError: a type has no corresponding column type.
    """
    if isinstance(node, dict):
        columns = {name: column_of(source, inner, start, stop) for name, inner in node.items()}
        kind = pa.struct([pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()])
        return struct_array(kind, stop - start, None, [array for array, _ in columns.values()]), None
    try:
        return column_of_array(_values(node, start, stop), node.dtype)
    except NotImplementedError as error:
        raise source.fault(
            f"has values of type {node.dtype} in {node.name[1:]!r}, which is not supported", advice="Store them as another type"
        ) from error


def _values(node: Any, start: int, stop: int) -> np.ndarray[Any, Any]:
    import h5py

    text = h5py.check_string_dtype(node.dtype)
    if text is not None and text.length is None and text.encoding == "utf-8":
        return np.asarray(node.asstr()[start:stop], dtype=object)
    return np.asarray(node[start:stop])


def column_of_array(values: np.ndarray[Any, Any], dtype: Any) -> Typed:
    """Return values whose first dimension is that of the rows, as a column.

    Raises:
        NotImplementedError: a type has no corresponding column type.
    """
    inner = None
    if dtype.metadata is not None:  # types of h5py
        import h5py

        if h5py.check_ref_dtype(dtype) is not None:
            raise NotImplementedError
        inner = h5py.check_vlen_dtype(dtype)
    if dtype.kind in "MmV" and dtype.names is None:
        raise NotImplementedError
    if dtype.names is not None:
        return _fields({name: (values[name], _inner(dtype, name)) for name in dtype.names}, values)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return _fields({"real": (values.real, part), "imag": (values.imag, part)}, values)
    if values.ndim > 1:
        return _array(values, dtype)
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
    columns = {name: column_of_array(part, dtype) for name, (part, dtype) in fields.items()}
    kind = pa.struct([pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()])
    return struct_array(kind, len(values), None, [array for array, _ in columns.values()]), None


def _array(values: np.ndarray[Any, Any], dtype: Any) -> Typed:
    """Return one array per row: a list of fixed size for one dimension, `Array2D` to `Array5D` for more, nested lists beyond
    these.
    """
    flat, _ = column_of_array(values.reshape(-1), dtype)
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
    child, _ = column_of_array(joined, dtype)
    return list_array(pa.list_(child.type), lengths, None, child), None


def _objects(values: np.ndarray[Any, Any]) -> pa.Array:
    listed = values.tolist()
    if all(isinstance(value, str) for value in listed):
        return plain_array(listed, pa.string())
    return plain_bytes(listed)


def plain_bytes(values: list[bytes | str]) -> pa.Array:
    """Return bytes as a column."""
    from datasets_core.features.media.media import binary_array

    return binary_array([value.encode() if isinstance(value, str) else value for value in values])


def _numbers(values: np.ndarray[Any, Any]) -> pa.Array:
    if values.dtype.kind == "b":
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, bitmap(np.ascontiguousarray(values))])
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
        raise NotImplementedError
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(native.dtype), len(native), [None, pa.py_buffer(native)])


EXTENSIONS: dict[str, dict[str, Any]] = {".hdf5": {}, ".h5": {}}

_MAGIC = b"\x89HDF\r\n\x1a\n"
_MAX_DEPTH = 32
_MOST_ROWS = 1 << 16


@dataclass(eq=False)
class Hdf5Config(BuilderConfig):
    """Options of `load_dataset("hdf5", ...)`.

    Args:
        batch_size: rows that are read at a time; default: enough to fill a batch.
        features: types that the columns are cast to.
    """

    batch_size: int | None = None
    features: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.batch_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise ConfigurationError(f"batch_size={size!r} is not a valid count. Pass a whole number of 1 or more, or None.")


class Hdf5(FileBuilder):
    """HDF5 files, by the package h5py."""

    is_format = True
    name = "hdf5"
    cache_version = "c1f27e02cc591fc07391989677dd6bd4"
    BUILDER_CONFIG_CLASS = Hdf5Config
    seeks = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_hdf5(source, self.config.batch_size)


def read_hdf5(source: Source, batch_size: int | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an HDF5 file; at least one batch, possibly empty.

    Raises:
        FileFormatError: the file is damaged or not HDF5; its datasets have different lengths or unsupported types; or it refers
            to other files.
        MissingDependencyError: h5py is not installed.
    """
    h5py = needed("h5py", "The format hdf5", "datasets_core[hdf5]")
    with open(source.path, "rb") as handle:
        head = handle.read(4096)
    if not head.startswith(_MAGIC):
        refuse_foreign(source, head, "an HDF5 file")
    try:
        with h5py.File(source.path, "r") as file:
            tree = _tree(source, file, ())
            leaves = list(_leaves(tree))
            if not leaves:
                raise source.fault("has no dataset", advice="Store arrays whose first dimension is the number of rows")
            for leaf in leaves:
                _check_filters(source, leaf)
            rows = _rows(source, leaves)
            size = sum(int(leaf.dtype.itemsize) * int(leaf.size) for leaf in leaves)
            Budget(source.name, os.path.getsize(source.path), settings()).take_bytes(size)
            step = batch_size or max(1, min(_MOST_ROWS, rows * settings().batch_bytes // max(size, 1)))
            for start in range(0, max(rows, 1), step):
                yield _batch(source, tree, start, min(start + step, rows))
    except (FileFormatError, MissingDependencyError):
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, UnicodeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise source.fault(f"cannot be read as HDF5 ({reason})", advice="Write or fetch the file again") from error


def _tree(source: Source, group: Any, path: tuple[str, ...]) -> dict[str, Any]:
    """Return the datasets of a group by name, those of the groups in it as dicts; empty groups are left out."""
    import h5py

    if len(path) > _MAX_DEPTH:
        raise source.fault(f"nests groups more than {_MAX_DEPTH} levels deep, or in a cycle", advice="Flatten the groups")
    found: dict[str, Any] = {}
    for name in group:
        where = "/".join((*path, name))
        if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
            raise source.fault(
                f"has a link to another file at {where!r}, which is not followed", advice="Copy the data into it"
            )
        node = group[name]
        if isinstance(node, h5py.Group):
            if inner := _tree(source, node, (*path, name)):
                found[name] = inner
        elif isinstance(node, h5py.Dataset):
            if node.external or node.is_virtual:
                raise source.fault(
                    f"stores the values of {where!r} in another file, which is not opened", advice="Copy the data into it"
                )
            if not node.shape:
                raise source.fault(
                    f"has a single value at {where!r}, not rows", advice="Store it as an attribute, or as an array"
                )
            found[name] = node
    return found


def _leaves(tree: dict[str, Any]) -> Iterator[Any]:
    for node in tree.values():
        if isinstance(node, dict):
            yield from _leaves(node)
        else:
            yield node


def _check_filters(source: Source, leaf: Any) -> None:
    """Load the filters that a dataset needs, such as Zstandard or Blosc: h5py has few, and the package hdf5plugin adds others.

    Raises:
        MissingDependencyError: a filter is not available, and hdf5plugin is not installed.
        FileFormatError: hdf5plugin does not have it either.
    """
    from h5py import h5z

    given = leaf.id.get_create_plist()
    for number, *_, name in map(given.get_filter, range(given.get_nfilters())):
        if h5z.filter_avail(number):
            continue
        told = name.decode(errors="replace").partition(" ")[0].partition(";")[0].strip() or "unnamed"
        needed("hdf5plugin", f"The HDF5 filter {number} ({told}) of {leaf.name[1:]!r} in {source.name}", "hdf5plugin")
        if not h5z.filter_avail(number):
            raise source.fault(
                f"needs the HDF5 filter {number} ({told}) for {leaf.name[1:]!r}, which hdf5plugin does not have",
                advice="Write the file with another compression, such as gzip",
            )


def _rows(source: Source, leaves: list[Any]) -> int:
    first = leaves[0]
    for leaf in leaves:
        if leaf.shape[0] != first.shape[0]:
            reason = f"has {leaf.shape[0]} rows in {leaf.name[1:]!r}, but {first.shape[0]} in {first.name[1:]!r}"
            raise source.fault(reason, advice="Give all datasets the same first dimension, or store them in separate files")
    return int(first.shape[0])


def _batch(source: Source, tree: dict[str, Any], start: int, stop: int) -> pa.RecordBatch:

    columns = {name: column_of(source, node, start, stop) for name, node in tree.items()}
    fields = [pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()]
    return pa.RecordBatch.from_arrays([array for array, _ in columns.values()], schema=pa.schema(fields))
