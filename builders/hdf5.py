"""HDF5: datasets of one length as columns, groups as structs, read some rows at a time by h5py.

Only what stands in the file itself is read: links to other files, and datasets whose bytes lie in others, are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.building.builder_config import BuilderConfig
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.fetch.members import Budget
from datasets_core.optional import needed

from ._source import Source, refuse_foreign
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {".hdf5": {}, ".h5": {}}

_MAGIC = b"\x89HDF\r\n\x1a\n"
_MAX_DEPTH = 32
_MOST_ROWS = 1 << 16


@dataclass(eq=False)
class Hdf5Config(BuilderConfig):
    """Options of `load_dataset("hdf5", ...)`.

    Args:
        batch_size: rows that are read at a time; by default as many as fill a batch.
        features: what the columns are cast to.
    """

    batch_size: int | None = None
    features: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.batch_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise ConfigurationError(f"batch_size={size!r} is no count. Pass a whole number of 1 or more, or None.")


class Hdf5(FileBuilder):
    """HDF5 files, by the package h5py."""

    BUILDER_CONFIG_CLASS = Hdf5Config
    seeks = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """See `FileBuilder.read`."""
        return read_hdf5(source, self.config.batch_size)


def read_hdf5(source: Source, batch_size: int | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of an HDF5 file; at least one batch, if an empty one.

    Raises:
        FileFormatError: it is damaged or no HDF5; its datasets have different lengths, or types that no column has; it leads
            out of the file.
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
                raise source.fault("holds no dataset", advice="Write arrays into it whose first dimension counts the rows")
            rows = _rows(source, leaves)
            size = sum(int(leaf.dtype.itemsize) * int(leaf.size) for leaf in leaves)
            Budget(source.name, os.path.getsize(source.path), settings()).take_bytes(size)
            step = batch_size or max(1, min(_MOST_ROWS, rows * settings().batch_bytes // max(size, 1)))
            for start in range(0, max(rows, 1), step):
                yield _batch(source, tree, start, min(start + step, rows))
    except FileFormatError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, UnicodeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise source.fault(f"cannot be read as HDF5 ({reason})", advice="Write or fetch the file again") from error


def _tree(source: Source, group: Any, path: tuple[str, ...]) -> dict[str, Any]:
    """The datasets of a group by name, those of the groups in it as dicts; empty groups are left out."""
    import h5py

    if len(path) > _MAX_DEPTH:
        raise source.fault(f"nests groups more than {_MAX_DEPTH} levels deep, or in a circle", advice="Flatten the groups")
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
                    f"keeps the values of {where!r} in another file, which is not opened", advice="Copy the data into it"
                )
            if not node.shape:
                raise source.fault(
                    f"holds a single value at {where!r}, and no rows", advice="Keep it as an attribute, or as an array"
                )
            found[name] = node
    return found


def _leaves(tree: dict[str, Any]) -> Iterator[Any]:
    for node in tree.values():
        if isinstance(node, dict):
            yield from _leaves(node)
        else:
            yield node


def _rows(source: Source, leaves: list[Any]) -> int:
    first = leaves[0]
    for leaf in leaves:
        if leaf.shape[0] != first.shape[0]:
            reason = f"has {leaf.shape[0]} rows in {leaf.name[1:]!r} and {first.shape[0]} in {first.name[1:]!r}"
            raise source.fault(reason, advice="Give all datasets the same first dimension, or keep them in files of their own")
    return int(first.shape[0])


def _batch(source: Source, tree: dict[str, Any], start: int, stop: int) -> pa.RecordBatch:
    from ._hdf5_values import column_of

    columns = {name: column_of(source, node, start, stop) for name, node in tree.items()}
    fields = [pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()]
    return pa.RecordBatch.from_arrays([array for array, _ in columns.values()], schema=pa.schema(fields))
