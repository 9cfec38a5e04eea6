"""`RowIds`: the identity of rows as columns: an id of 128 bits, the file that a row comes from, and its number there."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from datasets_core.errors import ConfigurationError, RowIdError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.redact import redact
from datasets_core.stream.block import ArrowBlock, Block, DictBlock
from datasets_core.stream.node import Delivery, Node, Numbers, Ordered, State
from datasets_core.stream.rows_by_place import Origins, files_of
from datasets_core.stream.steps import Batch, Map, PlainStep, Step

ID, SOURCE, ROW = COLUMNS = ("__id__", "__source__", "__row__")
"""The columns that there can be."""
_KINDS = {ID: Value("string"), SOURCE: Value("string"), ROW: Value("int64")}
_NAMED_PARTS = 2  # of a path: the name of a file and of its folder, which are the same wherever the files were put


def file_identities(names: Sequence[str]) -> list[str]:
    """What the ids of rows know of files: the ends of their paths, as long as it takes to tell these apart, two names at least.

    >>> file_identities(["https://host/a/train/0.parquet?token=x", "/data/b/train/1.parquet"])
    ['train/0.parquet', 'train/1.parquet']
    >>> file_identities(["x/train/0.parquet", "y/train/0.parquet"])
    ['x/train/0.parquet', 'y/train/0.parquet']
    """
    paths = [_parts(name) for name in names]
    different = len(set(map(tuple, paths)))
    count = _NAMED_PARTS
    while len({tuple(path[-count:]) for path in paths}) < different:
        count += 1
    return [posixpath.join("", *path[-count:]) for path in paths]


def _parts(name: str) -> list[str]:
    path = name.split("://", 1)[-1].split("?", 1)[0].split("#", 1)[0].replace("\\", "/")
    return [part for part in path.split("/") if part not in ("", ".")]


class FileTable:
    """What ids know of each file of a stream, whichever of them its rows are read of: found when somebody asks.

    Args:
        names: tells all files.
    """

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self._names = names
        self._digests: dict[str, str] | None = None

    def __getstate__(self) -> Any:
        return {"_names": self._names, "_digests": None}

    def ids(self, origins: Origins) -> list[str]:
        """The ids of rows: 64 bits of the file, and 64 bits of the row.

        >>> import numpy as np
        >>> FileTable(list).ids(Origins(["a.csv"], np.array([0, 0]), np.array([1, 255])))
        ['26c3dfab551cc39a0000000000000001', '26c3dfab551cc39a00000000000000ff']
        """
        each = zip(origins.files.tolist(), origins.rows.tolist(), strict=True)
        numbers: set[int] = set(origins.files.tolist())
        digests = {number: self._digest(origins.names[number]) for number in numbers}
        return [f"{digests[file]}{row:016x}" for file, row in each]

    def _digest(self, name: str) -> str:
        if self._digests is None:
            names = list(dict.fromkeys(self._names()))
            self._digests = dict(zip(names, map(_digest, file_identities(names)), strict=True))
        found = self._digests.get(name)
        if found is None:  # no file of a list: a part of a generator, say
            found = self._digests[name] = _digest(file_identities([name])[0])
        return found


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def row_of(id: str, names: Sequence[str]) -> tuple[int, int]:
    """The file, by its number, and the row that an id is of.

    >>> row_of("26c3dfab551cc39a00000000000000ff", ["b.csv", "a.csv"])
    (1, 255)

    Raises:
        RowIdError: it is no id, or of none of these files.
    """
    try:
        digest, row = id[:16], int(id[16:], 16)
    except (TypeError, ValueError):
        raise RowIdError(id, "it is not 32 hexadecimal digits") from None
    found = [number for number, name in enumerate(file_identities(names)) if _digest(name) == digest]
    if len(id) != 32 or not found:
        raise RowIdError(id, "no file of the stream has such rows")
    return found[0], row


@dataclass(frozen=True, slots=True)
class OriginsAdded:
    """Columns that say where rows come from; a change of rows (see `RowChange`) that needs to be told."""

    columns: tuple[str, ...]
    files: FileTable = field(compare=False)
    needs_numbers = False

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`: nothing is known of these rows."""
        return self.with_origins(block, None)

    def with_origins(self, block: Block, origins: Origins | None) -> Block:
        """The rows with the columns.

        Raises:
            ConfigurationError: rows of which nobody knows where they come from, or that have such columns.
        """
        if origins is None:
            raise ConfigurationError(
                "These rows have no origin: each is made of several, or they come from no rows that are counted. "
                "Call with_row_ids() before steps that put rows together."
            )
        check_free(self.columns, block.names)
        made: dict[str, Any] = {}
        if ID in self.columns:
            made[ID] = self.files.ids(origins)
        if SOURCE in self.columns:
            names = [redact(name) or None for name in origins.names]
            made[SOURCE] = [names[file] for file in origins.files.tolist()]
        if ROW in self.columns:
            made[ROW] = origins.rows.tolist()
        values = {name: made[name] for name in self.columns}
        if not isinstance(block, ArrowBlock):
            rows = zip(block.rows(), *values.values(), strict=True)
            return DictBlock([{**row, **dict(zip(values, more, strict=True))} for row, *more in rows])
        kinds = block.kinds.kept.get(("origins", self.columns))
        if kinds is None:
            kinds = block.kinds.kept["origins", self.columns] = block.kinds.of(self.features(block.kinds.features))
        arrays = [pa.array(values[name], kinds.schema.field(name).type) for name in self.columns]
        return ArrowBlock(pa.RecordBatch.from_arrays([*block.batch.columns, *arrays], schema=kinds.schema), kinds)

    def features(self, before: Features) -> Features:
        """The features with those of the columns."""
        check_free(self.columns, list(before))
        return Features({**before, **{name: _KINDS[name] for name in self.columns}})


def check_free(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Complain about columns that are there already.

    Raises:
        ConfigurationError: the first of them.
    """
    for name in wanted:
        if name in known:
            raise ConfigurationError(f"There is a column {name!r} already. Rename or remove it before with_row_ids().")


@dataclass(frozen=True, slots=True)
class RowIds(PlainStep):
    """The step that adds the columns."""

    columns: tuple[str, ...]
    files: FileTable = field(compare=False)
    is_row_by_row = True

    @classmethod
    def of(cls, columns: tuple[str, ...], source: Any) -> RowIds:
        """The step for rows of a source, all files of which tell what the ids know of each."""
        return cls(columns, FileTable(partial(files_of, source)))

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"with_row_ids({list(self.columns)})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return (self.columns,)

    def on(self, node: Node, epoch: int, lanes: int = 1) -> Node:
        """See `Step.on`."""
        change = OriginsAdded(self.columns, self.files)
        return node.under(change) if isinstance(node, Ordered) and not node.is_shared else WithOrigins(node, change)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        return None if before is None else OriginsAdded(self.columns, self.files).features(before)

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


@dataclass(frozen=True, slots=True)
class WithOrigins:
    """The rows of a node with the columns; a node (see `Node`)."""

    below: Node
    change: OriginsAdded
    works_in_lanes = is_row_by_row = True

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return self.below.start

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        for delivery in self.below.blocks(state):
            yield replace(delivery, block=self.change.with_origins(delivery.block, delivery.origins()), numbers=None)


def check_steps(steps: Sequence[Step]) -> None:
    """Complain about steps behind which rows have no origin.

    Raises:
        ConfigurationError: the first of them.
    """
    for step in steps:
        if isinstance(step, Batch) or (isinstance(step, Map) and step.is_batched) or step.unit is None:
            raise ConfigurationError(
                f"Behind {step.text} rows are made of several, so that they have no ids. Call with_row_ids() before it."
            )
