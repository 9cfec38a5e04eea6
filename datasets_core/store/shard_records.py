"""`ShardIndex`: the records of very many shards, in a Parquet file next to the manifest, read in parts."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple, Self, overload

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.errors import ManifestError
from datasets_core.errors.loading import PASSING
from datasets_core.meta.split_info import shard_file_name
from datasets_core.meta.splits import ShardLengths
from datasets_core.store.manifest import EXTENSIONS, NO_NAME, ShardRecord
from datasets_core.store.pieces import Ints

_GROUP = 1 << 14  # shards in a row group: a slice reads one or two of them
_MAX_GROUPS = 4  # in memory, decoded
_HASH_DIGITS = 16
_ADVICE = "Build the dataset again with download_mode='force_redownload', or restore the file"
_SCHEMA = pa.schema(
    {
        "rows": pa.int64(),
        "size": pa.int64(),
        "num_bytes": pa.int64(),
        "sha256": pa.binary(32),
        "batches": pa.list_(pa.int64()),
        "crc32c": pa.string(),
        "name": pa.string(),
    }
)
_NUMBERS = {"rows", "size", "num_bytes"}


class IndexedSplit(NamedTuple):
    """The shards of one split in an index.

    Attributes:
        name: name of the split.
        shards: number of shards.
        rows: number of rows in all of them.
    """

    name: str
    shards: int
    rows: int


class ShardIndex(Sequence[ShardRecord]):
    """The records of the shards of a dataset, which behave like the tuple of a small one.

    Args:
        path: the file, local or remote.
        splits: the splits, in the order of their shards.
        dataset: name of the dataset, with which the names of files begin.
        file_format: format of the shards.
        size: bytes of the file.
        content: digest of the hashes of the shards.
        storage_options: options for fsspec.
    """

    def __init__(
        self,
        path: str,
        splits: Sequence[IndexedSplit],
        dataset: str,
        file_format: str,
        size: int,
        content: str,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        self.path, self.splits, self.size, self.content = path, tuple(splits), size, content
        self._dataset, self._file_format, self._storage_options = dataset, file_format, storage_options
        self._ends = np.cumsum([part.shards for part in self.splits], dtype=np.int64)
        self._lock = threading.RLock()
        self._file: Any = None
        self._rows: Ints | None = None
        self._lengths: dict[str, ShardLengths] | None = None
        self._groups: OrderedDict[tuple[int, bool], pa.Table] = OrderedDict()

    # -- the file ------------------------------------------------------------------------------------------------------

    @classmethod
    def encoded(cls, shards: Sequence[ShardRecord], dataset: str, file_format: str) -> tuple[dict[str, Any], bytes]:
        """Return the entry of a manifest for shards, and the content of the file that it names."""
        import pyarrow.parquet as pq  # 12 ms that datasets of few shards do without

        sink = pa.BufferOutputStream()
        repeated: Any = [
            name for name in _SCHEMA.names if name not in (*_NUMBERS, "sha256", "crc32c")
        ]  # pyarrow's types know no list
        encodings: dict[str, Any] = {**dict.fromkeys(_NUMBERS, "DELTA_BINARY_PACKED")}
        parts: list[IndexedSplit] = []
        for split, records in groupby(shards, key=lambda shard: shard.split):
            held = list(records)
            parts.append(IndexedSplit(split, len(held), sum(shard.rows for shard in held)))
        totals = {part.name: part.shards for part in parts}
        with pq.ParquetWriter(
            sink,
            _SCHEMA,
            compression="zstd",
            use_dictionary=repeated,
            column_encoding=encodings,
            write_statistics=False,
            write_page_checksum=True,
        ) as writer:
            number, before = 0, None
            for start in range(0, len(shards), _GROUP):
                held = list(shards[start : start + _GROUP])
                names: list[str | None] = []
                for shard in held:
                    number, before = (number + 1, before) if shard.split == before else (0, shard.split)
                    rules = _names(dataset, shard.split, number, totals[shard.split], file_format, shard.sha256)
                    names.append(rules.get(shard.name, shard.name))
                columns_of = {
                    "rows": [shard.rows for shard in held],
                    "size": [shard.size for shard in held],
                    "num_bytes": [shard.num_bytes for shard in held],
                    "sha256": [bytes.fromhex(shard.sha256) or None for shard in held],
                    "batches": [[number for run in shard.batches for number in run] for shard in held],
                    "crc32c": [shard.crc32c or None for shard in held],
                    "name": names,
                }
                writer.write_table(pa.table(columns_of, schema=_SCHEMA))
        content = sink.getvalue().to_pybytes()
        entry = {
            "file": f"dataset_shards-{hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]}.index",
            "size": len(content),
            "content": content_of(shards),
            "dataset": dataset,
            "splits": [part._asdict() for part in parts],
        }
        return entry, content

    @classmethod
    def opened(cls, folder: str, entry: Any, file_format: str, storage_options: dict[str, Any] | None) -> Self:
        """Return the index that the manifest of a folder names, after comparing its numbers of rows.

        Raises:
            ManifestError: the file is missing, truncated or altered.
            KeyError, TypeError, ValueError: the entry is invalid.
        """
        name = str(entry["file"])
        if name in {"", ".", ".."} or not NO_NAME.isdisjoint(name):
            raise ValueError(f"{name!r} is not a valid name of an index of shards")
        splits = [IndexedSplit(str(part["name"]), int(part["shards"]), int(part["rows"])) for part in entry["splits"]]
        size, content, dataset = int(entry["size"]), str(entry["content"]), str(entry["dataset"])
        found = cls(files.join(folder, name), splits, dataset, file_format, size, content, storage_options)
        rows = found.rows
        for part, start, stop in found._parts():
            if (told := int(rows[start:stop].sum())) != part.rows:
                raise found._damaged(f"its shards of split {part.name!r} have {told} rows, expected {part.rows}")
        return found

    def entry(self) -> dict[str, Any]:
        """Return the entry of a manifest next to this index."""
        return {
            "file": os.path.basename(self.path),
            "size": self.size,
            "content": self.content,
            "dataset": self._dataset,
            "splits": [part._asdict() for part in self.splits],
        }

    def _read(self, what: Callable[[Any], Any]) -> Any:
        try:
            with self._lock:
                if self._file is None:
                    self._file = self._open()
                return what(self._file)
        except FileNotFoundError as error:
            raise self._damaged("it is missing; it has the records of the shards") from error
        except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
            if isinstance(error, ManifestError) or (isinstance(error, OSError) and error.errno in PASSING):
                raise
            raise self._damaged(f"cannot be read ({error})") from error

    def _open(self) -> Any:
        import pyarrow.parquet as pq

        is_local = not files.is_url(self.path)
        remote = None if is_local else files.open_binary(self.path, self._storage_options)
        source = pa.memory_map(self.path) if remote is None else pa.PythonFile(remote, mode="r")
        if (size := source.size()) != self.size:
            raise self._damaged(f"it has {size:,} bytes, expected {self.size:,}")
        opened = pq.ParquetFile(source, page_checksum_verification=True)
        total = int(self._ends[-1]) if len(self._ends) else 0
        if opened.metadata.num_rows != total or not opened.schema_arrow.equals(_SCHEMA):
            raise self._damaged(f"it describes {opened.metadata.num_rows:,} shards, expected {total:,}")
        if any(opened.metadata.row_group(n).num_rows != _GROUP for n in range(opened.num_row_groups - 1)):
            raise self._damaged("the sizes of its row groups are wrong")
        return opened

    def _damaged(self, reason: str) -> ManifestError:
        return ManifestError(self.path, reason, advice=_ADVICE)

    @property
    def rows(self) -> Ints:
        """The number of rows of each shard."""
        if self._rows is None:
            found: Ints = self._read(lambda file: _ints(file.read(["rows"]).column(0)))
            if len(found) and int(found.min()) < 0:
                raise self._damaged("a shard has a negative number of rows")
            self._rows = found
            return found
        return self._rows

    def _group(self, number: int, *, is_whole: bool = True) -> pa.Table:
        """Return the records of a row group; those of the batches alone take half the time."""
        with self._lock:
            found = self._groups.pop((number, is_whole), None)
            if found is None:
                columns = None if is_whole else ["rows", "size", "batches"]
                found = self._read(lambda file: self._checked(file.read_row_group(number, columns), number))
            self._groups[number, is_whole] = found
            if len(self._groups) > _MAX_GROUPS:
                self._groups.popitem(last=False)
            return found

    def _checked(self, table: pa.Table, group: int) -> pa.Table:
        counts, flat = _runs_of(table)
        rows, sizes = _ints(table.column("rows")), _ints(table.column("size"))
        batches = np.add.reduceat(np.append(flat[:, 1], 0), np.cumsum(counts) - counts) * (counts > 0)
        batched = np.add.reduceat(np.append(flat.prod(axis=1), 0), np.cumsum(counts) - counts) * (counts > 0)
        wrong = np.flatnonzero((batched != rows) | (batches > np.maximum(sizes, 0)))
        if len(wrong) or bool((flat < [0, 1]).any()):
            shard = group * _GROUP + int(wrong[0] if len(wrong) else 0)
            raise self._damaged(f"the batches of shard {shard} do not add up to its rows, or do not fit into its file")
        return table

    # -- the records ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: int) -> ShardRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ShardRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> ShardRecord | tuple[ShardRecord, ...]:
        if isinstance(index, slice):
            numbers = range(*index.indices(len(self)))
            return tuple(self._run(numbers.start, numbers.stop) if numbers.step == 1 else (self[n] for n in numbers))
        number = range(len(self))[index]
        return next(self._run(number, number + 1))

    def __iter__(self) -> Iterator[ShardRecord]:
        return self._run(0, len(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ShardIndex):
            return (self.content, self.size, self.splits) == (other.content, other.size, other.splits)
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.content)

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self.path, self.splits, self._dataset, self._file_format, self.size, self.content, self._storage_options)
        return ShardIndex, known

    def _parts(self) -> Iterator[tuple[IndexedSplit, int, int]]:
        for part, end in zip(self.splits, self._ends.tolist(), strict=True):
            yield part, end - part.shards, end

    def _run(self, first: int, last: int) -> Iterator[ShardRecord]:
        for part, start, stop in self._parts():
            begin, end = max(start, first), min(stop, last)
            while begin < end:
                group, offset = divmod(begin, _GROUP)
                count = min(_GROUP - offset, end - begin)
                columns = self._group(group).slice(offset, count).to_pydict()
                lines = zip(*(columns[column] for column in _SCHEMA.names), strict=True)
                for number, (rows, size, num_bytes, sha256, batches, crc32c, name) in enumerate(lines, begin - start):
                    digest = "" if sha256 is None else sha256.hex()
                    runs = tuple(zip(batches[::2], batches[1::2], strict=True))
                    own = self._name(part, number, digest, name)
                    yield ShardRecord(own, part.name, rows, size, num_bytes, digest, runs, crc32c or "")
                begin += count

    def _name(self, part: IndexedSplit, number: int, digest: str, stored: str | None) -> str:
        if stored not in (None, _BY_CONTENT):
            if stored in {"", ".", ".."} or not NO_NAME.isdisjoint(stored or "/"):
                raise self._damaged(f"{stored!r} is not a valid shard name")
            return str(stored)
        known = _names(self._dataset, part.name, number, part.shards, self._file_format, digest)
        return next(name for name, rule in known.items() if rule == stored)

    def lengths(self) -> dict[str, ShardLengths]:
        """See `Manifest.split_lengths`."""
        if self._lengths is None:
            self._lengths = {part.name: ShardLengths(self.rows[start:stop]) for part, start, stop in self._parts()}
        return self._lengths

    def by_split(self) -> dict[str, Sequence[ShardRecord]]:
        """See `Manifest.split_shards`."""
        return {part.name: _OfSplit(self, start, stop) for part, start, stop in self._parts()}

    def names(self) -> dict[str, Sequence[str]]:
        """Return the file names of the shards of each split, each made when it is asked for."""
        return {part.name: _Names(_OfSplit(self, start, stop)) for part, start, stop in self._parts()}

    def numbers(self, splits: Sequence[str], pairs: Ints) -> Ints:
        """Return the numbers of shards among all, for pairs of a number in `splits` and a number within the split."""
        starts = {part.name: start for part, start, _ in self._parts()}
        return np.array([starts.get(split, 0) for split in splits], np.int64)[pairs[:, 0]] + pairs[:, 1]

    def runs(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return for each of these shards the number of runs of its batches, and all runs (`BatchRows`)."""
        counts, flat = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int64)]
        groups = numbers // _GROUP
        for start, stop in _equal(groups):
            table, offsets = self._group(int(groups[start]), is_whole=False), numbers[start:stop] % _GROUP
            is_run = bool((np.diff(offsets) == 1).all())
            chosen = table.slice(int(offsets[0]), len(offsets)) if is_run else table.take(pa.array(offsets))
            own, pairs = _runs_of(chosen.select(["batches"]))
            counts.append(own)
            flat.append(pairs)
        return np.concatenate(counts), np.concatenate(flat)


def content_of(shards: Sequence[ShardRecord]) -> str:
    """Return the digest of the content of shards: of their splits and their hashes."""
    if isinstance(shards, ShardIndex):
        return shards.content
    digest = hashlib.sha256()
    for shard in shards:
        digest.update(f"{shard.split}\n{shard.sha256 or shard.name}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


_BY_CONTENT = "*"  # in the column of names: by the rule, with a part of the hash


def _names(dataset: str, split: str, number: int, total: int, file_format: str, sha256: str) -> dict[str, str | None]:
    """Return the names that a shard may have by the rules, and how each is stored."""
    name = shard_file_name(dataset, split, number, total, EXTENSIONS[file_format])
    stem, dot, extension = name.rpartition(".")
    hashed: dict[str, str | None] = {f"{stem}-{sha256[:_HASH_DIGITS]}{dot}{extension}": _BY_CONTENT} if sha256 else {}
    return {name: None, **hashed}


def _ints(column: pa.ChunkedArray | pa.Array) -> Ints:
    """Return a column of whole numbers as an array: pyarrow's `to_numpy` would import pandas."""
    parts = []
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        if chunk.null_count:
            raise ValueError("a number is missing")
        if len(chunk):
            parts.append(np.frombuffer(chunk.buffers()[1], np.int64, len(chunk), 8 * chunk.offset))
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts])


def _runs_of(table: pa.Table) -> tuple[Ints, Ints]:
    """Return for each shard the number of runs of its batches, and all runs."""
    counts, flat = [], []
    for chunk in table.column("batches").chunks:
        if chunk.null_count:
            raise ValueError("the batches of a shard are missing")
        counts.append(np.diff(np.frombuffer(chunk.buffers()[1], np.int32, len(chunk) + 1, 4 * chunk.offset)))
        flat.append(_ints(chunk.flatten()))
    lengths = np.concatenate([np.zeros(0, np.int64), *counts])
    if (lengths % 2).any():
        raise ValueError("the batches of a shard are not pairs")
    return lengths // 2, np.concatenate([np.zeros(0, np.int64), *flat]).reshape(-1, 2)


def _equal(values: Ints) -> list[tuple[int, int]]:
    """Return the runs of equal values."""
    borders = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return [(start, stop) for start, stop in pairwise(borders) if start < stop]


class _OfSplit(Sequence[ShardRecord]):
    def __init__(self, index: ShardIndex, start: int, stop: int) -> None:
        self._index, self._numbers = index, range(start, stop)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        found = self._numbers[index]
        return self._index[found] if isinstance(found, int) else tuple(self._index[number] for number in found)

    def __iter__(self) -> Iterator[ShardRecord]:
        return self._index._run(self._numbers.start, self._numbers.stop)


class _Names(Sequence[str]):
    def __init__(self, shards: Sequence[ShardRecord]) -> None:
        self._shards = shards

    def __len__(self) -> int:
        return len(self._shards)

    def __getitem__(self, index: Any) -> Any:
        found: Any = self._shards[index]
        return [shard.name for shard in found] if isinstance(index, slice) else found.name

    def __iter__(self) -> Iterator[str]:
        return (shard.name for shard in self._shards)
