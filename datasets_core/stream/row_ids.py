"""`RowIds`: columns with the identity of rows: a 128-bit id, the file, and the row number; rows by their ids."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import ConfigurationError, RowIdError, redact
from datasets_core.features.base import Value
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import parse_row_id
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock
from datasets_core.stream.nodes.node import Delivery, Locality, Node, Numbers, Over, RowChange, State
from datasets_core.stream.nodes.positions import Origins, RowsByPlace, Source
from datasets_core.stream.order.layers import Ints
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.tables import RowsOfFiles
from datasets_core.stream.steps import PlainStep, Step

ID, SOURCE, ROW = COLUMNS = ("__id__", "__source__", "__row__")
"""The possible columns."""
_KINDS = {ID: Value("string"), SOURCE: Value("string"), ROW: Value("int64")}
_NAMED_PARTS = 2  # of a path: the name of a file and of its folder, which are the same wherever the files were put


def file_identities(names: Sequence[str]) -> list[str]:
    """Return the part of each path that ids contain: its end, long enough to be unique, with at least two names.

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
    """Data of each file of a stream for row ids, computed on first use.

    Args:
        names: returns all files; None without files.
    """

    def __init__(self, names: Callable[[], Sequence[str] | None]) -> None:
        self._names = names
        self._digests: dict[str, str] | None = None

    def __getstate__(self) -> Any:
        return {"_names": self._names, "_digests": None}

    def ids(self, origins: Origins) -> list[str]:
        """Return the ids of rows: 64 bits of the file, and 64 bits of the row.

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
            names = list(dict.fromkeys(self._names() or ()))
            self._digests = dict(zip(names, map(_digest, file_identities(names)), strict=True))
        found = self._digests.get(name)
        if found is None:  # no file of a list: a part of a generator, say
            found = self._digests[name] = _digest(file_identities([name])[0])
        return found


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def row_of(id: str, names: Sequence[str]) -> tuple[int, int]:
    """Return the number of the file, and the row that an id identifies.

    >>> row_of("26c3dfab551cc39a00000000000000ff", ["b.csv", "a.csv"])
    (1, 255)

    Raises:
        RowIdError: this is not an id, or it belongs to other files.
    """
    try:
        digest, row = id[:16], int(id[16:], 16)
    except (TypeError, ValueError):
        raise RowIdError(id, "it is not 32 hexadecimal digits") from None
    found = [number for number, name in enumerate(file_identities(names)) if _digest(name) == digest]
    if len(id) != 32 or not found:
        raise RowIdError(id, "no file of the stream contains such rows")
    return found[0], row


@dataclass(frozen=True, slots=True)
class OriginsAdded(RowChange):
    """Change of rows that adds origin columns."""

    columns: tuple[str, ...]
    files: FileTable = field(compare=False)

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`: origins of these rows are unknown."""
        return self.with_origins(block, None)

    def made(self, block: Block, numbers: Ints, origins: Callable[[], Origins]) -> Block:
        return self.with_origins(block, origins())

    def with_origins(self, block: Block, origins: Origins | None) -> Block:
        """Return the rows with the columns.

        Raises:
            ConfigurationError: the origin of the rows is unknown, or they already have such columns.
        """
        if origins is None:
            raise ConfigurationError(
                "These rows have no ids: each is made of several rows, or their source rows are not numbered",
                advice="Call with_row_ids() before steps that combine rows",
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
        """Return the features, including those of the added columns."""
        check_free(self.columns, list(before))
        return Features({**before, **{name: _KINDS[name] for name in self.columns}})


def check_free(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error if one of the columns already exists.

    Raises:
        ConfigurationError: a column exists; the error names the first one.
    """
    for name in wanted:
        if name in known:
            raise ConfigurationError(f"Column {name!r} already exists", advice="Rename or remove it before with_row_ids()")


@dataclass(frozen=True, slots=True)
class RowIds(PlainStep):
    """The step that adds the columns."""

    columns: tuple[str, ...]
    files: FileTable = field(compare=False)
    is_row_by_row: ClassVar[bool] = True

    @classmethod
    def of(cls, columns: tuple[str, ...], source: Source) -> RowIds:
        """Return the step for the rows of a source whose files are all known."""
        return cls(columns, FileTable(source.file_names))

    @property
    def text(self) -> str:
        return f"with_row_ids({list(self.columns)})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self.columns,)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        change = OriginsAdded(self.columns, self.files)
        placed = node.placed
        return WithOrigins(node, change) if placed is None or placed.is_shared else placed.under(change)

    def features(self, before: Features | None) -> Features | None:
        return None if before is None else OriginsAdded(self.columns, self.files).features(before)

    def reads(self) -> tuple[str, ...] | None:
        return ()


@dataclass(frozen=True, slots=True)
class WithOrigins(Over):
    """The rows of a node with the origin columns."""

    below: Node
    change: OriginsAdded
    own_numbers: ClassVar[int] = 0
    locality: ClassVar[Locality] = Locality.ROW

    @property
    def num_rows(self) -> int | None:
        return self.below.num_rows

    def reach(self, count: int) -> int | None:
        return self.below.reach(count)

    def state_after(self, count: int) -> State | None:
        return self.below.state_after(count)

    def blocks(self, state: State) -> Iterator[Delivery]:
        for delivery in self.below.blocks(state):
            yield replace(delivery, block=self.change.with_origins(delivery.block, delivery.origins()), numbers=None)


def check_steps(steps: Sequence[Step]) -> None:
    """Raise an error for steps whose rows have no origin.

    Raises:
        ConfigurationError: a step makes rows from several; the error names the first one.
    """
    for step in steps:
        if step.joins_rows or step.unit is None:
            raise ConfigurationError(
                f"After {step.text}, each row is made of several rows and has no id", advice="Call with_row_ids() before it"
            )


# `RowsById`: rows of a stream of files, selected by their ids, and the positions of such rows.


def files_of_plan(plan: Plan) -> RowsOfFiles:
    """Return the files of a stream whose rows are those of the files, one for one.

    Raises:
        ConfigurationError: the stream reads no files, or a step changes the set of rows.
    """
    if (found := plan.source.by_file) is not None and not plan.steps:
        return found
    raise ConfigurationError(
        "This stream does not support row ids, because its rows are not read unchanged from shards of a built dataset",
        advice="Use the stream that as_dataset(read_config=…) returned, before any transformation, or the Dataset behind it",
    )


def place_of(source: RowsOfFiles, id: str | bytes, epoch: int) -> int:
    """Return the place in the order of an epoch at which the row with this id comes first.

    Raises:
        RowIdError: no row of these files has the id.
    """
    files, rows = zip(*_found(source, id), strict=True)
    return int(source.in_epoch(epoch).places_of(np.array(files, np.int64), np.array(rows, np.int64)).min())


def rows_by_id(source: RowsOfFiles, ids: Sequence[str | bytes]) -> RowsById:
    """Return the rows with these ids, in the order of the ids.

    Raises:
        RowIdError: no row of these files has one of the ids.
    """
    found = np.array([_found(source, id_)[0] for id_ in ids], np.int64).reshape(-1, 2)
    return RowsById(source, found)


def _found(source: RowsOfFiles, id: str | bytes) -> list[tuple[int, int]]:
    """Return the file, and the number of the row within the rows read from it, for each time that the row is read in
    an epoch.
    """
    name, row = parse_row_id(id)
    files = source.numbers.get(name, [])
    found = [(file, row - source.files[file].skip) for file in files]
    found = [(file, place) for file, place in found if 0 <= place < source.files[file].rows]
    if not found:
        reason = "the stream does not contain that row of the file" if files else f"the stream reads no file called {name!r}"
        raise RowIdError(id, reason)
    return found


@dataclass(frozen=True)
class RowsById(RowsByPlace):
    """Selected rows of files, in any order; see `RowsByPlace`.

    Attributes:
        source: the files.
        chosen: for each row the number of its file, and of the row within the rows read from that file.
    """

    source: RowsOfFiles
    chosen: Ints

    @property
    def features(self) -> Features:
        """See `Source.features`."""
        return self.source.features

    @property
    def paths(self) -> MediaPaths:
        """See `Source.paths`."""
        return self.source.paths

    @property
    def num_rows(self) -> int:
        """See `RowsByPlace.num_rows`."""
        return len(self.chosen)

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        return self.source.rows_at(self.chosen[places, 0], self.chosen[places, 1])

    def near(self, place: int, epoch: int) -> int:
        return place + 1

    def signed(self) -> list[Any]:
        return [f"{len(self.chosen)} rows by their ids", Hasher.hash((self.source.signed(), self.chosen))]
