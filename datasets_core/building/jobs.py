"""The unit of work: `ShardJob`, what makes a part of a split, and `ShardResult`, what came of it.

How a split is divided depends on its `gen_kwargs` alone, never on the number of workers, so that neither do the bytes.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from datasets_core.building.hooks import Hooks
from datasets_core.building.keys import KeyRecord
from datasets_core.engines.deadline import Deadline
from datasets_core.features.order_free import Facts
from datasets_core.fetch.remote import RemoteFile
from datasets_core.files import is_url
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.manifest import ShardRecord

if TYPE_CHECKING:
    from datasets_core.building.sorted_runs import Run

MAX_JOBS = 64
TABLE_GROUP_BYTES = 16 << 20
ROW_GROUP_BYTES = 4 << 20  # python reads a row in the time in which pyarrow reads about ten


@dataclasses.dataclass(frozen=True, slots=True)
class ShardJob:
    """A part of a split, to be written as shards of its own.

    Attributes:
        builder: whose hooks make the rows.
        split: the split.
        gen_kwargs: the arguments of this part.
        index, count: which part, of how many.
        folder: where the shards go.
        stem: how their names begin.
        schema: read and write with this schema; None lets the rows decide.
        file_format: "arrow" or "parquet".
        max_shard_bytes: size at which a new shard is begun; None for the settings' own.
        batch_rows: rows of a batch at most; None for the settings' own.
        compare_keys: keys must be unique.
        keep_keys: the keys are wanted for a comparison with other jobs.
        order: what the rows of the split are put in order by, later: the "hash" of their keys, the "key" itself where all are
            integers, or nothing ("source").
        max_rows: rows to make at most; None for all.
        deadline: when the author's code is to be done; None where it may take as long as it does.
    """

    builder: Hooks
    split: str
    gen_kwargs: dict[str, Any]
    index: int
    count: int
    folder: str
    stem: str
    schema: pa.Schema | None
    file_format: str
    max_shard_bytes: int | None
    batch_rows: int | None
    compare_keys: bool
    keep_keys: bool
    order: Literal["source", "hash", "key"] = "source"
    max_rows: int | None = None
    deadline: Deadline | None = None

    @property
    def name(self) -> str:
        """What the journal calls it."""
        return self.stem

    @property
    def sorts(self) -> bool:
        """Whether rows are written into sorted runs at once: their order and their schema are known."""
        return self.order == "hash" and self.builder.yields == "rows" and self.builder.info.features is not None

    @property
    def skip(self) -> int:
        """See `Part.skip`."""
        return 0

    @property
    def is_live(self) -> bool:
        """See `Part.is_live`: nobody sees a row before all are written."""
        return False

    @property
    def is_order_free(self) -> bool:
        """Whether rows decide about columns and types, and in whatever order they come for the same."""
        return self.order != "source" and self.builder.yields == "rows" and self.schema is None


@dataclasses.dataclass(frozen=True, slots=True)
class ShardResult:
    """What came of a job.

    Attributes:
        name: the job's.
        shards: the shards that hold rows, in order.
        schema: of the shards; None where there were neither rows nor tables.
        keys: the keys of the rows; None where they are not compared.
        runs: the sorted runs that the shards are; none where the shards are in the order of the source.
        words: the file of the words by which the rows can be put in order; None where there is none.
        facts: what decides, besides the schema, about the schema of all; None where features or the first rows decide.
        denied: what a confined script was denied so far and went on without, in words.
        blocks: how the rows lie in the files that they came from, where that is known.
    """

    name: str
    shards: tuple[ShardRecord, ...]
    schema: pa.Schema | None
    keys: KeyRecord | None = None
    runs: tuple[Run, ...] = ()
    words: str | None = None
    facts: Facts | None = None
    denied: tuple[str, ...] = ()
    blocks: RowBlocks | None = dataclasses.field(default=None, compare=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(shard.rows for shard in self.shards)


def divide(
    gen_kwargs: dict[str, Any], *, group_bytes: int = TABLE_GROUP_BYTES, count: int | None = None
) -> list[dict[str, Any]]:
    """The parts that a split is built in, in the order of its rows.

    Lists of one common length are cut into contiguous parts: lists of local files where a part reaches `group_bytes`, other
    lists item by item; at most 64 parts.  With `group_bytes=0` each item is a part; with `count` there are so many parts at
    most, the first of which are longer by an item where they cannot be equal.  What may lose or repeat rows is not cut: lists
    of different lengths; a list of plain values beside other data or another list (it is likely a parameter: names of
    labels, languages, each of which goes with each); and anything that can be read only once, since a second part would begin
    where the first one ended.

    >>> divide({"shards": [0, 1], "lower": True})
    [{'shards': [0], 'lower': True}, {'shards': [1], 'lower': True}]
    >>> divide({"shards": [0, 1], "languages": ["en", "fr"]})
    [{'shards': [0, 1], 'languages': ['en', 'fr']}]
    """
    lists = {name: value for name, value in gen_kwargs.items() if isinstance(value, list)}
    lengths = {len(value) for value in lists.values()}
    if len(lengths) != 1 or count == 1 or holds_once(gen_kwargs):
        return [gen_kwargs]
    (length,) = lengths
    if length < 2:
        return [gen_kwargs]
    rest = [value for name, value in gen_kwargs.items() if name not in lists]
    named = {"names"} if "files" in lists else set()  # what errors call the files
    plain = [value for name, value in lists.items() if name not in named and not any(map(is_data, value[:1]))]
    if plain and (len(lists) > 1 or any(map(is_data, rest))):
        return [gen_kwargs]
    sizes = _file_sizes(list(lists.values())) if group_bytes and count is None else None
    if count is not None:
        bounds = _evenly(length, count)
    elif sizes is not None:
        bounds = _by_bytes(sizes, group_bytes)
    else:
        bounds = _by_count(length, MAX_JOBS if group_bytes else length)
    return [
        {name: value[start:stop] if name in lists else value for name, value in gen_kwargs.items()} for start, stop in bounds
    ]


def file_of(gen_kwargs: Mapping[str, Any], number: int | None = None) -> str | None:
    """The file of that number among the arguments, by the name that the user knows; the first with how many follow."""
    listed = gen_kwargs.get("names") or gen_kwargs.get("files")
    if not isinstance(listed, list) or not listed or not all(isinstance(name, (str, os.PathLike)) for name in listed):
        return None
    if number is not None and 0 <= number < len(listed):
        return os.fspath(listed[number])
    return os.fspath(listed[0]) if len(listed) == 1 else f"{os.fspath(listed[0])} (and {len(listed) - 1} more)"


def names_of_parts(split: str, gen_kwargs: dict[str, Any]) -> list[str]:
    """What the parts of a split are called, item by item: by their files, or else by their numbers."""
    parts = divide(gen_kwargs, group_bytes=0)
    return [file_of(part) or f"{split}, part {index}" for index, part in enumerate(parts)]


def holds_once(value: Any) -> bool:
    """Whether `value` is, or holds, an iterator or an open file: what it gave cannot be asked of it again.

    >>> holds_once({"lines": iter([])}), holds_once({"lines": []})
    (True, False)
    """
    if isinstance(value, str):  # asked first: there may be thousands
        return False
    if isinstance(value, Mapping):
        return any(map(holds_once, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(holds_once, value))
    return isinstance(value, Iterator)


def is_data(value: Any) -> bool:
    """Whether rows may be read out of `value`: an existing path, a URL, an iterable object, or a container of such."""
    if isinstance(value, RemoteFile):  # it would be fetched to be looked at
        return True
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        return isinstance(path, str) and bool(path) and (is_url(path) or _exists(path))
    if value is None or isinstance(value, (bytes, int, float, complex)):
        return False
    if isinstance(value, dict):
        return any(map(is_data, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(is_data, value))
    return hasattr(value, "__iter__") or hasattr(value, "read")


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except ValueError:  # a text with a NUL is no path
        return False


def _file_sizes(lists: Sequence[list[Any]]) -> list[int] | None:
    """Bytes of each position over all lists of local files; None if no list is of files alone."""
    total: list[int] | None = None
    for values in lists:
        if values is not lists[0] and values == lists[0]:
            continue  # the files, and their names, which are the same
        sizes = list(_sizes(values))
        if len(sizes) == len(values):
            total = sizes if total is None else [a + b for a, b in zip(total, sizes, strict=True)]
    return total


def _sizes(values: list[Any]) -> Iterator[int]:
    for value in values:
        if not isinstance(value, (str, os.PathLike)) or isinstance(value, RemoteFile):
            return
        try:
            status = os.stat(value)
        except (OSError, ValueError):
            return
        if stat.S_ISDIR(status.st_mode):
            return
        yield status.st_size


def _by_bytes(sizes: Sequence[int], group_bytes: int) -> list[tuple[int, int]]:
    wanted = max(group_bytes, -(-sum(sizes) // MAX_JOBS))
    bounds, start, held = [], 0, 0
    for position, size in enumerate(sizes):
        held += size
        if held >= wanted:
            bounds.append((start, position + 1))
            start, held = position + 1, 0
    if start < len(sizes):
        bounds.append((start, len(sizes)))
    return bounds


def _evenly(length: int, count: int) -> list[tuple[int, int]]:
    parts = min(length, count)
    sizes = [length // parts + (part < length % parts) for part in range(parts)]
    return list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))


def _by_count(length: int, most: int) -> list[tuple[int, int]]:
    parts = min(length, most)
    edges = [length * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(edges))
