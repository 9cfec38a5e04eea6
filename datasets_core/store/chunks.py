"""Rows of a script's generator in chunks of bounded rows and bytes, protected from later changes by the script.

A script may refill one dict repeatedly.  So the first rows of every chunk are copied and compared with their copies:
if they differ, the copies are the rows, and every later row is copied when it is yielded.
"""

from __future__ import annotations

import copy
import itertools
import operator
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

_FIRST_ROWS = 128
_PIECE_ROWS = 64  # rows between two measurements of their size: a chunk may exceed its bytes by as many rows
_PROBED_ROWS = 4
_PROBED_BYTES = 1 << 16
_GROWTH = 8
_LIVE_SECONDS = 0.02
_MUTABLE = (list, dict, set, bytearray, np.ndarray)
_MUTABLE_TYPES = frozenset(_MUTABLE)
_IDENTITY = object.__hash__  # one for each object; `id` tells the same, but every call of it is an event for audit hooks


class ChangedRowsError(Exception):
    """A row outside the probes was changed after it was yielded: the rows must be generated again and copied."""


class Chunks:
    """Lists of the items of an iterator, one after the other.

    Args:
        pairs: pairs of key and row, or only rows (`are_rows`).
        max_rows, max_bytes: bounds of a chunk.
        copies: True to copy every row.
        are_rows: True for rows without a key.
        is_live: True for a streaming build: the first chunk is one row, and no chunk is filled for longer than a moment.
    """

    def __init__(
        self,
        pairs: Iterator[Any],
        *,
        max_rows: int,
        max_bytes: int,
        copies: bool = False,
        are_rows: bool = False,
        is_live: bool = False,
    ) -> None:
        self._pairs, self._max_rows, self._max_bytes, self._are_rows = pairs, max_rows, max_bytes, are_rows
        self._is_live = is_live
        self.copies = copies
        self.taken: list[Any] = []
        self._before = 0  # items of earlier chunks
        self._kept: list[Any] = []
        self._rows = 1 if is_live else min(_FIRST_ROWS, max_rows)

    def count(self) -> int:
        """Return the number of items taken so far; any thread may ask."""
        return self._before + len(self.taken)

    def take(self) -> list[Any]:
        """Return the next chunk, empty at the end; `taken` holds it even if the generator fails.

        Raises:
            ChangedRowsError: rows that were not copied were changed.
        """
        earlier = len(self.taken)
        chunk = self.taken = []
        self._before += earlier
        held = largest = 0
        kept = self._kept = []
        deadline = time.perf_counter() + _LIVE_SECONDS if self._is_live else None
        while len(chunk) < self._rows and held < self._max_bytes:
            is_probe = not self.copies and len(chunk) < _PROBED_ROWS and held < _PROBED_BYTES
            before = len(chunk)
            wanted = 1 if is_probe or not before else min(_PIECE_ROWS, max(1, (self._max_bytes - held) // max(1, largest)))
            piece = itertools.islice(self._pairs, min(wanted, self._rows - before))
            is_late = self._fill(chunk, map(copied, piece) if self.copies else piece, deadline)
            if len(chunk) == before:
                break
            last = weight(chunk[-1])
            largest = max(largest, last)
            held += last * (len(chunk) - before)
            if is_probe and held < self._max_bytes:  # else the chunk ends here, before anything can change
                kept.append(copied(chunk[-1], with_objects=False))
                if not all(map(unchanged, kept, chunk)):
                    chunk[:] = kept
                    self.copies = True
            if is_late:
                break
        self.check()
        return chunk

    def check(self) -> None:
        """Check that the last chunk was not changed; called once more if the generator fails after it.

        Raises:
            ChangedRowsError: rows that were not copied were changed.
        """
        chunk, kept = self.taken, self._kept
        if not self.copies and not (all(map(unchanged, kept, chunk)) and self._are_apart(chunk, len(kept))):
            raise ChangedRowsError

    @staticmethod
    def _fill(chunk: list[Any], piece: Iterator[Any], deadline: float | None) -> bool:
        """Take rows; return True if the time is up."""
        if deadline is None:
            chunk.extend(piece)
            return False
        for pair in piece:
            chunk.append(pair)
            if time.perf_counter() > deadline:
                return True
        return False

    def _are_apart(self, chunk: Sequence[Any], probed: int) -> bool:
        """Return True if no mutable object outside the probes is shared by two rows after the probes."""
        try:
            rows = chunk if self._are_rows else [row for _, row in chunk]
        except (TypeError, ValueError):
            return True  # a pair that is none is refused
        if not rows or not all(issubclass(kind, Mapping) for kind in set(map(type, rows))):
            return True  # a row that is none is refused
        if _share_nothing(rows, rows[0], frozenset()):
            return True
        return _share_nothing(rows, rows[0], frozenset(itertools.chain.from_iterable(map(_mutable_ids, chunk[:probed]))))

    def measured(self, num_bytes: int, rows: int) -> None:
        """Record the bytes and rows of the last chunk, which determine the size of the next one."""
        fitting = self._max_bytes * rows // max(1, num_bytes)
        self._rows = max(1, min(fitting, self._rows * _GROWTH, self._max_rows))


def copied(value: Any, *, with_objects: bool = True) -> Any:
    """Return a copy that shares no mutable object.

    Args:
        value: a row, or a value in a row.
        with_objects: also copy objects that are not containers, arrays or plain values.
    """
    if value is None or isinstance(value, (str, bytes, int, float, complex, np.generic)):
        return value
    kind = type(value)
    if kind is dict:
        return {name: copied(member, with_objects=with_objects) for name, member in value.items()}
    if kind is list or kind is tuple:
        return kind([copied(member, with_objects=with_objects) for member in value])
    if kind is memoryview:
        return value.tobytes()
    if kind is bytearray or kind is set or (kind is np.ndarray and not value.dtype.hasobject):
        return value.copy()
    if _is_tensor(kind):
        return value.clone()
    return copy.deepcopy(value) if with_objects else value


def unchanged(before: Any, now: Any) -> bool:
    """Return True if `now` still has the content of its copy `before`."""
    if before is now:
        return True
    if isinstance(now, memoryview):
        return bool(before == now.tobytes())
    if type(before) is not type(now):
        return False
    if isinstance(now, dict):
        return len(before) == len(now) and all(name in before and unchanged(before[name], now[name]) for name in now)
    if isinstance(now, (list, tuple)):
        return len(before) == len(now) and all(map(unchanged, before, now))
    if isinstance(now, np.ndarray):
        same_kind = before.shape == now.shape and before.dtype == now.dtype
        return bool(same_kind and before.tobytes() == now.tobytes())
    if _is_tensor(type(now)):
        return before.shape == now.shape and bool(((before == now) | (before != before) & (now != now)).all())  # NaN is NaN
    return isinstance(now, (bytearray, set)) and bool(before == now)


def _is_tensor(kind: type) -> bool:
    return kind.__name__ == "Tensor" and kind.__module__ == "torch"


def weight(value: Any) -> int:
    """Return the approximate bytes of a row, or of a value in one.

    >>> weight({"text": "abc", "numbers": [1, 2], "names": ["ab", None]})
    29
    """
    if isinstance(value, (str, bytes, bytearray)):
        return len(value)
    if isinstance(value, (np.ndarray, memoryview)):
        return int(value.nbytes)
    if isinstance(value, Mapping):
        return sum(map(weight, value.values()))
    if isinstance(value, tuple):
        return sum(map(weight, value))
    if isinstance(value, list) and value:
        if isinstance(value[0], (int, float, bool, type(None))) and isinstance(value[-1], (int, float, bool, type(None))):
            return 8 * len(value)
        return sum(map(weight, value))
    return 8


def _share_nothing(rows: Sequence[Any], first: Mapping[Any, Any], known: frozenset[int]) -> bool:
    if _repeats(rows, known):
        return False
    for name, value in first.items():
        if isinstance(value, _MUTABLE):
            held = _values(rows, name)
            if not set(map(type, held)) <= _MUTABLE_TYPES:
                held = [member for member in held if isinstance(member, _MUTABLE)]
            if not (_share_nothing(held, value, known) if isinstance(value, dict) else not _repeats(held, known)):
                return False
    return True


def _values(rows: Sequence[Any], name: Any) -> list[Any]:
    if set(map(type, rows)) == {dict}:
        try:
            return list(map(operator.itemgetter(name), rows))
        except KeyError:
            pass  # rows that lack it have nothing to share
    return [row.get(name) for row in rows if isinstance(row, Mapping)]


def _repeats(objects: Sequence[Any], known: frozenset[int]) -> bool:
    if len(set(map(_IDENTITY, objects))) == len(objects):
        return False
    unknown = [identity for identity in map(id, objects) if identity not in known]
    return len(set(unknown)) < len(unknown)


def _mutable_ids(value: Any) -> Iterator[int]:
    if isinstance(value, _MUTABLE):
        yield id(value)
    for member in value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ():
        yield from _mutable_ids(member)
