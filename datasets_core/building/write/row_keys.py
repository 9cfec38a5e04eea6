"""Keys of the rows of a split: hashes, sort words, and the check for duplicates in bounded memory.

A key becomes 16 bytes: an integer keeps its value, any other key is hashed.  Runs of consecutive integers are kept as
intervals.  What exceeds the memory is spilled to the job's folder as sorted runs; runs are compared by ranges of their hash.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import DatasetGenerationError, InvalidKeyError
from datasets_core.files import disk_errors

# The hash of a key, by which rows are ordered on the disk: md5 of the split's name and the key, the same on every
# machine.


try:  # CPython's own, on which hashlib falls back: short keys take half the time of OpenSSL's
    from _md5 import md5  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
except ImportError:
    from hashlib import md5

Words = npt.NDArray[np.uint64]

_WORD = 1 << 64
_HALF = 1 << 63


def key_bytes(key: Any) -> bytes:
    r"""Return the bytes of a key to hash: bytes, a text with `/` for `\`, an integer in decimal, or the only value of an array.

    >>> key_bytes("data\\7.jpg"), key_bytes(7), key_bytes(np.array([7]))
    (b'data/7.jpg', b'7', b'7')

    Raises:
        TypeError: a key of another type, including numpy's integers.
    """
    if isinstance(key, bytes):
        return key
    if isinstance(key, str):
        return key.replace("\\", "/").encode("utf-8", "surrogatepass")
    if isinstance(key, int):
        return str(key).encode()
    if isinstance(key, np.ndarray) and key.size == 1:
        return key_bytes(key.item())
    raise TypeError(f"{key!r} ({type(key).__name__}) cannot be used as a key to order rows. Give an int, a str or bytes.")


def key_hash(key: Any, salt: str | bytes) -> bytes:
    """Return the 16 bytes by which a row is ordered.

    Args:
        key: an int, a str, bytes, or an array of one of them.
        salt: the name of the split.

    Raises:
        TypeError: a key of another kind.

    >>> key_hash(10, "train").hex()
    '7a3ae0953e558aa1051f217b6dcf0493'
    """
    salt = salt.encode() if isinstance(salt, str) else salt
    return bytes(md5(salt + key_bytes(key), usedforsecurity=False).digest())


def bucket_of(hashed: bytes, buckets: int) -> int:
    """Return the index of the range of a hash, for `buckets` equal ranges of all hashes.

    >>> bucket_of(key_hash(10, "train"), 1000)
    477
    """
    return int.from_bytes(hashed, "big") * buckets >> 128


def hash_words(keys: Sequence[Any], split: str, *, first_row: int = 0) -> Words:
    """Return the hashes of the keys of a split as two rows of words, the high ones first.

    Raises:
        InvalidKeyError: a key that is not an int, str or bytes.
    """
    salt = split.encode()
    kinds = set(map(type, keys))
    if kinds == {int}:
        parts = [b"%d" % key for key in keys]
    elif kinds == {str}:
        parts = [key.replace("\\", "/").encode("utf-8", "surrogatepass") for key in keys]
    else:
        parts = []
        for nth, key in enumerate(keys):
            try:
                parts.append(key_bytes(key))
            except TypeError:
                raise InvalidKeyError(key, row=first_row + nth, split=split, is_sorted=True) from None
    digests = b"".join([md5(salt + part, usedforsecurity=False).digest() for part in parts])
    return np.frombuffer(digests, ">u8").reshape(-1, 2).T.astype(np.uint64)


def row_words(start: int, stop: int, split: str) -> Words:
    """Return the hashes of rows without a key: their numbers in the split are their keys."""
    return hash_words(range(start, stop), split)


def position_words(start: int, stop: int) -> Words:
    """Return words that keep rows in the order of their numbers."""
    words = np.zeros((2, stop - start), np.uint64)
    words[0] = np.arange(start, stop, dtype=np.uint64)
    return words


def integer_words(keys: Sequence[Any], *, first_row: int = 0) -> Words | None:
    """Return words in the order of integer keys; None if a key is not an integer.

    The high word is the key, as far as 64 bits hold it; the low word is the rest.

    Raises:
        DatasetGenerationError: an integer too large for two words.
    """
    if not all(issubclass(kind, int) for kind in set(map(type, keys))):
        return None
    words = np.zeros((2, len(keys)), np.uint64)
    try:
        words[0] = np.array(keys, np.int64).view(np.uint64) + np.uint64(_HALF)
    except OverflowError:
        for nth, key in enumerate(keys):
            words[:, nth] = _two_words(int(key), first_row + nth)
    return words


def _two_words(key: int, row: int) -> tuple[int, int]:
    if not -_HALF - _WORD < key < _HALF + _WORD - 1:
        raise DatasetGenerationError(
            f"The key of row {row} is {key}, which is too large to order rows by. Yield a smaller integer, or a text.", row=row
        )
    if key >= _HALF:
        return _WORD - 1, key - _HALF + 1
    if key < -_HALF:
        return 0, key + _HALF + _WORD - 1
    return key + _HALF, _WORD - 1 if key == -_HALF else 0


def sorted_order(words: Words) -> npt.NDArray[np.int64] | None:
    """Return the order that sorts the columns of `words`; None if they are sorted already."""
    high = words[0]
    if len(high) < 2 or bool((high[1:] > high[:-1]).all()):
        return None
    order = np.argsort(high, kind="stable")
    ordered = high[order]
    if bool((ordered[1:] == ordered[:-1]).any()):
        order = np.lexsort((words[1], high))
    return order


_MEMORY_KEYS = 1 << 18  # 6 MB of digests and row numbers, and four times that while they are sorted
_FIRST_CHECK = 1 << 10
_HEAD = 64
_RUN_ROWS = 64  # consecutive integers fewer than this are kept as digests
_LONG = 64  # bytes of a key that are hashed by columns
_A, _B = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)
_SEEDS = {str: 0x9E3779B97F4A7C15, bytes: 0xC2B2AE3D27D4EB4F, tuple: 0x165667B19E3779F9, int: 0x27D4EB2F165667C5}


class Clash(Exception):
    """Two rows share a key.

    Args:
        first, second: locations of the rows: (position of the job among those compared, row in that job).
    """

    def __init__(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        super().__init__(first, second)
        self.first, self.second = min(first, second), max(first, second)


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """The keys of a finished job.

    Attributes:
        rows: number of keys.
        intervals: `(start, stop, row)`: the integers from `start` to `stop`, the first of them at row `row`.
        runs: `(file name, count)`: digests, sorted, in the job's folder.
        head: the first digests as `(high, low, row)`.
    """

    rows: int = 0
    intervals: tuple[tuple[int, int, int], ...] = ()
    runs: tuple[tuple[str, int], ...] = ()
    head: tuple[tuple[int, int, int], ...] = ()


class KeyLog:
    """The keys of one job, added as its rows are generated.

    Args:
        folder: folder for spilled runs.
        stem: prefix of their names.
        keep: True if the finished record is compared with those of other jobs, so that every digest is written.
        memory_keys: number of digests held in memory.
    """

    def __init__(self, folder: str, stem: str, *, keep: bool, memory_keys: int = _MEMORY_KEYS) -> None:
        self._folder, self._stem, self._keep, self._memory_keys = folder, stem, keep, memory_keys
        self.rows = 0
        self._intervals: list[tuple[int, int, int]] = []
        self._pending: list[Words] = []
        self._pending_rows = 0
        self._next_check = _FIRST_CHECK
        self._runs: list[tuple[str, int]] = []
        self._head: list[tuple[int, int, int]] = []

    def add(self, keys: Sequence[Any]) -> None:
        """Add the keys of the next rows.

        Raises:
            Clash: two rows share a key; it may be found some rows later, or by `finish`.
            InvalidKeyError: a key that is not an int, str, bytes or tuple of them.
        """
        row = self.rows
        span = _consecutive(keys)
        if span is not None and self._add_interval(span, row, len(keys)):
            self.rows += len(keys)
            return
        words = np.empty((3, len(keys)), np.uint64)
        digest(keys, words, first_row=row)
        self._take(words)

    def add_words(self, words: Words) -> None:
        """Add two words for each key of the next rows.

        Raises:
            Clash: two rows share them; it may be found some rows later, or by `finish`.
        """
        numbered = np.empty((3, words.shape[1]), np.uint64)
        numbered[:2] = words
        self._take(numbered)

    def _take(self, words: Words) -> None:
        row, count = self.rows, words.shape[1]
        words[2] = np.arange(row, row + count, dtype=np.uint64)
        if len(self._head) < _HEAD:
            self._head += [(int(a), int(b), int(c)) for a, b, c in words[:, : _HEAD - len(self._head)].T]
        self.rows += count
        self._pending.append(_sorted(words))
        self._pending_rows += count
        if self._pending_rows >= self._next_check:
            self._compact()

    def finish(self) -> KeyRecord:
        """Return the record of all keys.

        Raises:
            Clash: two rows share a key.
        """
        self._compact()
        if self._runs or self._keep:
            self._spill()
        record = KeyRecord(self.rows, tuple(self._intervals), tuple(self._runs), tuple(self._head))
        if len(self._runs) > 1 or (self._runs and self._intervals):
            compare([record], self._folder)
        return record

    def _add_interval(self, span: tuple[int, int], row: int, count: int) -> bool:
        start, stop = span
        near = bisect_right(self._intervals, (start, start, row))
        before = self._intervals[near - 1] if near else None
        continues = before is not None and before[1] == start and before[2] + (before[1] - before[0]) == row
        if count < _RUN_ROWS and not continues:
            return False
        if before is not None and before[1] > start:
            raise Clash((0, before[2] + start - before[0]), (0, row))
        after = self._intervals[near] if near < len(self._intervals) else None
        if after is not None and after[0] < stop:
            raise Clash((0, after[2]), (0, row + after[0] - start))
        if continues and before is not None:
            self._intervals[near - 1] = (before[0], stop, before[2])
        else:
            insort(self._intervals, (start, stop, row))
        return True

    def _compact(self) -> None:
        if not self._pending:
            return
        joined = _sorted(np.concatenate(self._pending, axis=1)) if len(self._pending) > 1 else self._pending[0]
        _check_intervals(joined, [(start, stop, row, 0) for start, stop, row in self._intervals])
        self._pending = [joined]
        self._next_check = min(self._pending_rows * 4, self._memory_keys)
        if self._pending_rows >= self._memory_keys:
            self._spill()

    def _spill(self) -> None:
        if not self._pending:
            return
        (words,) = self._pending
        name = f"{self._stem}-{len(self._runs):05d}.keys"
        path = os.path.join(self._folder, name)
        with disk_errors(path, needed=words.nbytes), open(path, "wb") as out:
            out.write(words.data)
            out.flush()
            os.fsync(out.fileno())  # the journal will name it
        self._runs.append((name, words.shape[1]))
        self._pending, self._pending_rows, self._next_check = [], 0, _FIRST_CHECK


def _consecutive(keys: Sequence[Any]) -> tuple[int, int] | None:
    """Return `(start, stop)` if the keys are consecutive integers."""
    if set(map(type, keys)) != {int}:
        return None
    start, stop = keys[0], keys[-1] + 1
    if stop - start != len(keys) or not -(1 << 63) <= start < stop < (1 << 63):
        return None
    return (start, stop) if list(keys) == list(range(start, stop)) else None


def digest(keys: Sequence[Any], into: Words, *, first_row: int = 0) -> None:
    """Write the two words of each key into the first two rows of `into`.

    Integers are equal only to integers (True is 1), text only to text, bytes only to bytes, tuples by their members.

    Raises:
        InvalidKeyError: a key of another type.
    """
    kinds = set(map(type, keys))
    if len(kinds) == 1:
        _digest_kind(kinds.pop(), keys, into, first_row, None)
        return
    of_kind: dict[type, list[int]] = {}
    for position, key in enumerate(keys):
        of_kind.setdefault(type(key), []).append(position)
    for kind, positions in of_kind.items():
        part = np.empty((3, len(positions)), np.uint64)
        _digest_kind(kind, [keys[position] for position in positions], part, first_row, positions)
        into[:2, positions] = part[:2]


def _digest_kind(kind: type, keys: Sequence[Any], into: Words, first_row: int, positions: list[int] | None) -> None:
    if issubclass(kind, (int, np.integer)):
        _digest_integers([int(key) for key in keys], into)
    elif issubclass(kind, str):
        text = "".join(keys)
        if text.isascii():
            _hash(text.encode(), list(map(len, keys)), into, str)
        else:
            parts = [key.encode("utf-8", "surrogatepass") for key in keys]
            _hash(b"".join(parts), list(map(len, parts)), into, str)
    elif issubclass(kind, bytes):
        _hash(b"".join(keys), list(map(len, keys)), into, bytes)
    else:
        parts = []
        for nth, key in enumerate(keys):
            plain = _plain(key)
            if plain is None:
                raise InvalidKeyError(key, row=first_row + (nth if positions is None else positions[nth]))
            parts.append(repr(plain).encode("utf-8", "surrogatepass"))
        _hash(b"".join(parts), list(map(len, parts)), into, tuple)


def _plain(key: Any) -> Any:
    """Return `key` as ints, text, bytes and tuples only, so that equal keys have one `repr`; None for other types."""
    if isinstance(key, (int, np.integer)):
        return int(key)
    if isinstance(key, str):
        return str(key)
    if isinstance(key, bytes):
        return bytes(key)
    if isinstance(key, tuple):
        members = tuple(_plain(member) for member in key)
        return None if None in members else members
    return None


def _digest_integers(keys: list[int], into: Words) -> None:
    try:
        values = np.array(keys, np.int64).view(np.uint64)
    except OverflowError:
        parts = [str(key).encode() for key in keys]
        _hash(b"".join(parts), list(map(len, parts)), into, int)
        small = [position for position, key in enumerate(keys) if -(1 << 63) <= key < (1 << 63)]
        values = np.array([keys[position] for position in small], np.int64).view(np.uint64)
        into[0, small], into[1, small] = _mix(values.copy()), values
        return
    into[0], into[1] = _mix(values.copy()), values


def _mix(words: Words) -> Words:
    """Apply, in place, a bijection of 64-bit words that spreads them evenly."""
    for factor in (_A, _B):
        words ^= words >> _SHIFT
        words *= factor
    words ^= words >> _SHIFT
    return words


def _hash(data: bytes, lengths: list[int], into: Words, kind: type) -> None:
    sizes = np.array(lengths, np.int64)
    widest, shortest = int(sizes.max(initial=0)), int(sizes.min(initial=_LONG))
    if widest > _LONG:
        _hash_long(data, lengths, into, kind)
        return
    columns = (widest + 7) // 8
    padded = np.zeros((len(lengths), columns * 8), np.uint8)
    padded[np.arange(columns * 8) < sizes[:, None]] = np.frombuffer(data, np.uint8)
    words = padded.view("<u8")
    for lane, seed in enumerate((_SEEDS[kind], _SEEDS[kind] ^ 0x5851F42D4C957F2D)):
        state = _mix(sizes.view(np.uint64) ^ np.uint64(seed))
        for column in range(columns):
            # a key's hash must not depend on how long the others are: columns behind its end do not count
            reaches = slice(None) if shortest > column * 8 else np.flatnonzero(sizes > column * 8)
            state[reaches] = _mix(state[reaches] ^ words[reaches, column]) + np.uint64(seed)
        into[lane] = state


def _hash_long(data: bytes, lengths: list[int], into: Words, kind: type) -> None:
    salt = _SEEDS[kind].to_bytes(8, "little")
    short, start = [], 0
    pieces = []
    for position, length in enumerate(lengths):
        piece = data[start : start + length]
        start += length
        if length <= _LONG:
            short.append(position)
            pieces.append(piece)
        else:
            into[:2, position] = np.frombuffer(hashlib.blake2b(piece, digest_size=16, salt=salt).digest(), "<u8")
    if short:
        part = np.empty((2, len(short)), np.uint64)
        _hash(b"".join(pieces), list(map(len, pieces)), part, kind)
        into[:2, short] = part


def _sorted(words: Words) -> Words:
    """Return `words` in the order of their first row.

    Raises:
        Clash: two columns agree in their first two rows.
    """
    ordered = np.ascontiguousarray(words[:, np.argsort(words[0], kind="stable")])
    same = np.flatnonzero((ordered[0, 1:] == ordered[0, :-1]) & (ordered[1, 1:] == ordered[1, :-1]))
    if len(same):
        seconds = ordered[2, same + 1]
        nearest = same[int(seconds.argmin())]  # the first row that repeats a key
        raise Clash(_place(ordered[:, nearest]), _place(ordered[:, nearest + 1]))
    return ordered


_ROW_BITS = 48


def _place(column: Words) -> tuple[int, int]:
    value = int(column[2])
    return value >> _ROW_BITS, value & ((1 << _ROW_BITS) - 1)


def _check_intervals(words: Words, intervals: Sequence[tuple[int, int, int, int]]) -> None:
    """Compare digests with intervals `(start, stop, row, job)` that are disjoint and sorted."""
    if not intervals or not words.shape[1]:
        return
    values = words[1].view(np.int64)
    starts = np.array([start for start, *_ in intervals], np.int64)
    stops = np.array([stop for _, stop, *_ in intervals], np.int64)
    near = np.searchsorted(starts, values, side="right") - 1
    inside = (near >= 0) & (values < stops[near]) & (_mix(words[1].copy()) == words[0])
    for position in np.flatnonzero(inside)[:1]:
        start, _, row, owner = intervals[int(near[position])]
        raise Clash((owner, row + int(values[position]) - start), _place(words[:, position]))


def compare(records: Sequence[KeyRecord], folder: str, *, at_once: int = _MEMORY_KEYS) -> None:
    """Search for a key that two rows of `records` share.

    Args:
        records: records of different jobs, or that of one job with several runs.
        folder: folder of their runs.
        at_once: approximate number of digests to hold in memory.

    Raises:
        Clash: two rows share a key; its jobs are the positions of the records.
    """
    intervals = compare_intervals(records)
    runs = [(job, name, count) for job, record in enumerate(records) for name, count in record.runs]
    total = sum(count for _, _, count in runs)
    pieces = max(1, -(-total // at_once))
    edges = [np.uint64((1 << 64) * piece // pieces) for piece in range(pieces)]
    cuts = [_cuts(_open_run(folder, name, count), edges) for _, name, count in runs]
    for piece in range(pieces):
        parts = []
        for (job, name, count), cut in zip(runs, cuts, strict=True):
            part = _read_run(folder, name, count, cut[piece], cut[piece + 1])
            part[2] |= np.uint64(job << _ROW_BITS)
            parts.append(part)
        if parts:
            joined = _sorted(np.concatenate(parts, axis=1))
            _check_intervals(joined, intervals)


def compare_intervals(records: Sequence[KeyRecord]) -> list[tuple[int, int, int, int]]:
    """Return the intervals of all records, sorted, after checking that they are disjoint.

    Raises:
        Clash: two of them overlap.
    """
    intervals = sorted((start, stop, row, job) for job, record in enumerate(records) for start, stop, row in record.intervals)
    for (start, stop, row, job), (start2, _, row2, job2) in itertools.pairwise(intervals):
        if start2 < stop:
            raise Clash((job, row + start2 - start), (job2, row2))
    return intervals


def compare_heads(records: Sequence[KeyRecord], latest: int, folder: str) -> None:
    """Compare the first keys of `records[latest]` with those of every other, and all intervals: this is cheap enough for each
    finished job.

    Raises:
        Clash: two rows share a key.
    """
    compare_intervals(records)
    mine = records[latest]
    for job, other in enumerate(records):
        if job != latest:
            _find_head(mine, latest, other, job, folder)
            _find_head(other, job, mine, latest, folder)


def _find_head(head_of: KeyRecord, job: int, runs_of: KeyRecord, owner: int, folder: str) -> None:
    for name, count in runs_of.runs:
        run = _open_run(folder, name, count)
        for high, low, row in head_of.head:
            found = int(np.searchsorted(run[0], np.uint64(high)))
            if found < count and int(run[0, found]) == high and int(run[1, found]) == low:
                raise Clash((job, row), (owner, int(run[2, found])))


def _open_run(folder: str, name: str, count: int) -> Words:
    return np.memmap(os.path.join(folder, name), np.uint64, "r", shape=(3, count))


def _cuts(run: Words, edges: Sequence[np.uint64]) -> list[int]:
    """Return the start of each range of hashes in a run, and the end of the last one."""
    return [*(int(cut) for cut in np.searchsorted(run[0], np.array(edges, np.uint64))), run.shape[1]]


def _read_run(folder: str, name: str, count: int, start: int, stop: int) -> Words:
    """Return columns of a run, read and not mapped: mapped pages would count as memory until the end."""
    part = np.empty((3, stop - start), np.uint64)
    with open(os.path.join(folder, name), "rb") as handle:
        for line in range(3):
            handle.seek((line * count + start) * 8)
            handle.readinto(part[line].data)
    return part


def as_json(record: KeyRecord) -> list[Any]:
    """Return the record for a journal."""
    return [record.rows, record.intervals, record.runs, record.head]


def from_json(found: Iterable[Any]) -> KeyRecord:
    """Return the record from the result of `as_json`."""
    rows, intervals, runs, head = found
    return KeyRecord(
        int(rows),
        tuple((int(a), int(b), int(c)) for a, b, c in intervals),
        tuple((str(name), int(count)) for name, count in runs),
        tuple((int(a), int(b), int(c)) for a, b, c in head),
    )
