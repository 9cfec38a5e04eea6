"""Row order by arithmetic: layers that map positions to rows below: slices, repeats, permutations, groups."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from datasets_core.meta.row_blocks import RowBlocks

if TYPE_CHECKING:
    from datasets_core.engines.pool import WorkerPool
    from datasets_core.stream.nodes.block import Block
    from datasets_core.stream.nodes.positions import Origins

# `Permutation`: the numbers below n in an order that a key determines; each is computed without the others.


Ints = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint64]
_ROUNDS = 6
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of splitmix64
_STEP, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(1)


class Permutation:
    """A bijection on `range(size)`.

    Args:
        size: number of integers to permute.
        key: its text determines the order.

    >>> order = Permutation(5, "key")
    >>> sorted(order.at(np.arange(5)).tolist())
    [0, 1, 2, 3, 4]
    >>> order.place_of(order.at(np.arange(5))).tolist()
    [0, 1, 2, 3, 4]
    """

    __slots__ = ("_half", "_keys", "_mask", "size")

    def __init__(self, size: int, *key: int | str) -> None:
        self.size = size
        half = max(1, ((size - 1).bit_length() + 1) // 2)
        self._half, self._mask = np.uint64(half), np.uint64((1 << half) - 1)
        self._keys = _words_of(key, _ROUNDS)

    def at(self, places: Ints) -> Ints:
        """Return the numbers at these places."""
        return self._walked(places, forwards=True)

    def place_of(self, numbers: Ints) -> Ints:
        """Return the places of these numbers."""
        return self._walked(numbers, forwards=False)

    def _walked(self, values: Ints, *, forwards: bool) -> Ints:
        step = self._forwards if forwards else self._backwards
        found = step(np.asarray(values, np.int64).astype(np.uint64))
        limit = np.uint64(self.size)
        while len(outside := np.flatnonzero(found >= limit)):
            found[outside] = step(found[outside])
        return found.astype(np.int64)

    def _forwards(self, values: _Words) -> _Words:
        left, right = values >> self._half, values & self._mask
        for key in self._keys:
            left, right = right, left ^ self._mixed(right, key)
        return (left << self._half) | right

    def _backwards(self, values: _Words) -> _Words:
        left, right = values >> self._half, values & self._mask
        for key in reversed(self._keys):
            left, right = right ^ self._mixed(left, key), left
        return (left << self._half) | right

    def _mixed(self, half: _Words, key: np.uint64) -> _Words:
        return _hashed(half ^ key) & self._mask


class Permutations:
    """Numbered bijections, each on a `range` of its own size; they depend only on key, number and size.

    Args:
        key: its text determines the orders.

    >>> orders = Permutations("key")
    >>> which, sizes, places = np.array([0, 0, 0, 1, 1]), np.array([3, 3, 3, 2, 2]), np.array([0, 1, 2, 0, 1])
    >>> found = orders.at(which, sizes, places).tolist()
    >>> sorted(found[:3]), sorted(found[3:])
    ([0, 1, 2], [0, 1])
    """

    __slots__ = ("_keys", "_tweak")

    def __init__(self, *key: int | str) -> None:
        self._tweak, *self._keys = _words_of(key, _ROUNDS + 1)

    def at(self, which: Ints, sizes: Ints, places: Ints) -> Ints:
        """Return the numbers at these places.

        Args:
            which: for each place the number of its bijection.
            sizes: for each place the size of that bijection: 2**53 at most.
            places: the places.
        """
        limits = np.asarray(sizes, np.int64).astype(np.uint64)
        bits = np.frexp((limits - np.uint64(1)).astype(np.float64))[1].astype(np.uint64)
        low = bits >> np.uint64(1)
        masks = (_ONE << (bits - low)) - _ONE, (_ONE << low) - _ONE
        tweaks = _hashed(np.asarray(which, np.int64).astype(np.uint64) * _STEP ^ self._tweak)
        found = self._stepped(np.asarray(places, np.int64).astype(np.uint64), low, masks, tweaks)
        outside = np.flatnonzero(found >= limits)
        while len(outside):
            chosen = masks[0][outside], masks[1][outside]
            moved = found[outside] = self._stepped(found[outside], low[outside], chosen, tweaks[outside])
            outside = outside[moved >= limits[outside]]
        return found.astype(np.int64)

    def _stepped(self, values: _Words, low: _Words, masks: tuple[_Words, _Words], tweaks: _Words) -> _Words:
        """Return the numbers after one step, within the bits of each bijection: upper and lower bits change in turn."""
        upper, lower = values >> low, values & masks[1]
        for number, key in enumerate(self._keys):
            if number % 2:
                upper = upper ^ (_hashed(lower ^ key ^ tweaks) & masks[0])
            else:
                lower = lower ^ (_hashed(upper ^ key ^ tweaks) & masks[1])
        return (upper << low) | lower


def _words_of(key: tuple[int | str, ...], count: int) -> list[np.uint64]:
    """Return the integers that seed an order."""
    digest = hashlib.blake2b("/".join(map(str, key)).encode(), digest_size=8 * count).digest()
    return [np.uint64(int.from_bytes(digest[8 * i : 8 * i + 8], "little")) for i in range(count)]


def _hashed(words: _Words) -> _Words:
    """Return the numbers, each hashed as in splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * _MIX_1
    words = (words ^ (words >> np.uint64(27))) * _MIX_2
    return words ^ (words >> np.uint64(31))


ENDLESS = 1 << 62
"""The number of rows of a stream that repeats without end."""
_BLOCKS_PER_WINDOW = 64  # blocks from anywhere that mix in a window: fewer mix less, more read more places


_MOST_BLOCKS = 1 << 22  # of rows that repeat: in more of them nothing is looked up


class Count(Protocol):
    """Rows that are counted only as far as needed."""

    def reach(self, count: int) -> int:
        """Return `count`, or the number of rows if that is less."""
        ...


Size: TypeAlias = "int | Count"
"""The number of rows if known; else a function that counts up to a limit."""


def reached(size: Size, count: int) -> int:
    """Return `count`, or the number of rows if that is less.

    >>> reached(10, 3), reached(10, 30)
    (3, 10)
    """
    return min(size, count) if isinstance(size, int) else size.reach(count)


class Layer(ABC):  # noqa: B024 - the two kinds of it have the abstract methods
    """A step above rows known by position: an order of them (`OrderLayer`), or a change of each (`nodes.node.RowChange`).

    The defaults change nothing: each row is the one at its position below.

    Attributes:
        makes_lists: True if each row is a list of several rows below.
        repeats: True if the rows below come repeatedly.
    """

    __slots__ = ()
    makes_lists: ClassVar[bool] = False
    repeats: ClassVar[bool] = False

    @property
    def order(self) -> OrderLayer | None:
        """The layer itself if it changes the positions of rows; otherwise None."""
        return None

    @property
    def needs_numbers(self) -> bool:
        """True if the layer needs the numbers of rows."""
        return False

    @property
    def pool(self) -> WorkerPool | None:
        """Pool that makes the rows; None: the reading thread."""
        return None

    def over(self, size: Size) -> Layer:
        """Return the layer for this number of rows below."""
        return self

    def turns_below(self, places: Ints, turns: Ints | int) -> Ints | int:
        """Return the epoch of each row below, given that of the rows at these places."""
        return turns

    def places_below(self, places: Ints, turns: Ints | int, epoch: int) -> Ints:
        """Return the places below for rows at these places; `turns` are the epochs of the rows below, `epoch` that of the
        stream.
        """
        return places

    def span_below(self, places: Ints, start: int, stop: int) -> tuple[int, int]:
        """Return the run of rows below, counted among those of all these places, that the rows from `start` to `stop` need."""
        return start, stop

    def row_above(self, places: Ints, row: int) -> int:
        """Return which of the rows at these places the row number `row` below belongs to."""
        return row

    def made(self, block: Block, numbers: Ints, origins: Callable[[], Origins]) -> Block:
        """Return the rows with these numbers, made from those below; `origins` returns the origins of the source rows."""
        return block


class OrderLayer(Layer):
    """Rows by position, made from rows by position of the layer below.

    Attributes:
        mixes: True if neighbours come from places far apart, so that all rows of a block are read before the first is given.
        permutes: True if each row below comes exactly once.
    """

    __slots__ = ()
    mixes: ClassVar[bool] = False
    permutes: ClassVar[bool] = False

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Return the number of places."""

    @abstractmethod
    def below(self, places: Ints, epoch: int) -> Ints:
        """Return the places below for rows at these places."""

    @property
    def order(self) -> OrderLayer:
        return self

    @property
    def reshuffles(self) -> bool:
        """True if each round of a repetition has its own order."""
        return False

    def reach(self, count: int) -> int:
        """Return `count`, or the number of places if that is less, without counting more rows below than needed."""
        return min(count, self.num_rows)

    def largest_window_bytes(self) -> int | None:
        """Return the decoded bytes of the largest windows in memory; None: there are no windows of blocks."""
        return None

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        """Return the blocks of the rows, given those of the rows below; None: no longer in blocks."""
        return None

    def places_below(self, places: Ints, turns: Ints | int, epoch: int) -> Ints:
        """See `Layer.places_below`.

        >>> layer = Shuffled(3, 3, seed=1, reshuffles=True)
        >>> found = layer.places_below(np.array([0, 1, 0]), np.array([0, 0, 1]), 7)
        >>> found.tolist()[:2] == layer.below(np.arange(2), 0).tolist()
        True
        """
        if not self.reshuffles:
            return self.below(places, epoch)
        if isinstance(turns, int):
            return self.below(places, turns)
        found = np.empty(len(places), np.int64)
        for turn in sorted(set(turns.tolist())):
            chosen = np.flatnonzero(turns == turn)
            found[chosen] = self.below(places[chosen], turn)
        return found


class _AsFarAsAsked(OrderLayer):
    """Base of layers that count the rows below as far as needed."""

    __slots__ = ()

    @property
    def num_rows(self) -> int:
        return self.reach(ENDLESS)

    @abstractmethod
    def reach(self, count: int) -> int:
        """See `OrderLayer.reach`."""


@dataclass(frozen=True, slots=True)
class Cut(OrderLayer):
    """Some of the rows below, as consecutive runs.

    >>> Cut((range(4, 6), range(0, 9, 4))).below(np.arange(5), 0).tolist()
    [4, 5, 0, 4, 8]
    """

    runs: tuple[range, ...]

    @property
    def num_rows(self) -> int:
        return sum(map(_length, self.runs))

    def below(self, places: Ints, epoch: int) -> Ints:
        if len(self.runs) == 1:
            run = self.runs[0]
            return places * np.int64(run.step) + np.int64(run.start)
        ends = np.cumsum(np.array([_length(run) for run in self.runs], np.int64))
        which = np.searchsorted(ends, places, side="right")
        starts, steps = (np.array([getattr(run, what) for run in self.runs], np.int64) for what in ("start", "step"))
        first = ends - np.array([_length(run) for run in self.runs], np.int64)
        moved: Ints = starts[which] + (places - first[which]) * steps[which]
        return moved

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        """See `OrderLayer.structure`.

        >>> Cut((range(1, 10, 3),)).structure(RowBlocks.of([4, 4, 2]), 0).rows.tolist()
        [1, 2]
        """
        if all(run.step == 1 for run in self.runs):
            return blocks.cut(self.runs)
        run, *others = self.runs
        if others or run.step < 1:
            return None
        borders = np.concatenate([np.zeros(1, np.int64), blocks.ends])
        rows = np.diff(np.clip(-((run.start - borders) // run.step), 0, _length(run)))
        return RowBlocks.of(rows, blocks.sizes, blocks.files, is_indexed=blocks.is_indexed)


@dataclass(frozen=True, slots=True)
class Slice(_AsFarAsAsked):
    """The rows below from `start` to `stop`, or to the last one that exists.

    >>> Slice(10, 7, 100).num_rows, Slice(10, 7).below(np.arange(3), 0).tolist()
    (3, [7, 8, 9])
    """

    size: Size
    start: int
    stop: int | None = None

    def reach(self, count: int) -> int:
        stop = self.start + count if self.stop is None else min(self.stop, self.start + count)
        return max(0, reached(self.size, stop) - self.start)

    def below(self, places: Ints, epoch: int) -> Ints:
        return places + np.int64(self.start)

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        return blocks.cut([range(self.start, self.start + self.num_rows)])


def _length(run: range) -> int:
    """`len` for runs of any length."""
    return max(0, -(-(run.stop - run.start) // run.step))


@dataclass(frozen=True, slots=True)
class Repeated(_AsFarAsAsked):
    """The rows below, repeated.

    >>> Repeated(2, 2).below(np.arange(4), 0).tolist()
    [0, 1, 0, 1]
    """

    size: Size
    times: int | None
    repeats = True

    def reach(self, count: int) -> int:
        rows = reached(self.size, count) if self.times != 0 else 0
        if rows >= count or not rows:
            return rows
        return min(count, ENDLESS if self.times is None else rows * self.times)

    def below(self, places: Ints, epoch: int) -> Ints:
        return places % self._round(places)

    def over(self, size: Size) -> Repeated:
        return Repeated(size, self.times)

    def turns_below(self, places: Ints, turns: Ints | int) -> Ints | int:
        """See `Layer.turns_below`: the number of its round, which continues through repetitions above.

        >>> Repeated(2, 3).turns_below(np.arange(6), 2).tolist()
        [6, 6, 7, 7, 8, 8]
        """
        return places // self._round(places) + turns * (self.times or 1)

    def _round(self, places: Ints) -> np.int64:
        """Return the number of rows of a round; if all the places are in the first round, any number above them."""
        return np.int64(max(1, reached(self.size, int(places.max()) + 1 if len(places) else 1)))

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        if self.times is None or len(blocks.rows) * self.times > _MOST_BLOCKS:
            return None
        rows, sizes, files = (np.tile(each, self.times) for each in (blocks.rows, blocks.sizes, blocks.files))
        return RowBlocks(rows, sizes, files, blocks.is_indexed)


@dataclass(frozen=True, slots=True)
class Shuffled(OrderLayer):
    """Rows in memory in a random order, computed for any place without a table; see also `ShuffledBlocks`.

    Blocks of neighbours are permuted; in that order rows are permuted within windows.  The position of a row is computed from
    the seed and the epoch, so any place can be read first.

    Args:
        size: number of rows.
        window: rows of a window; most come from distant blocks.
        seed: seed of the order.
        reshuffles: True if each round of a repetition has its own order.
        stays: True to keep rows in their window and move no block, since distant reads are expensive.
    """

    size: int
    window: int
    seed: int
    reshuffles: bool = False
    stays: bool = False
    mixes = permutes = True
    _known: dict[tuple[int, int], Permutation] = field(default_factory=dict, compare=False, repr=False)

    @property
    def num_rows(self) -> int:
        return self.size

    @property
    def block(self) -> int:
        """Rows that stay neighbours until their window is mixed."""
        return max(1, self.window // _BLOCKS_PER_WINDOW)

    def below(self, places: Ints, epoch: int) -> Ints:
        if not len(places):
            return places
        mixed = self._unmixed(places, epoch)
        return mixed if self.stays else self._unblocked(mixed, epoch)

    def _unmixed(self, places: Ints, epoch: int) -> Ints:
        """Return the places of rows before their window is mixed."""
        if self.window == 1:
            return places
        windows = places // self.window
        found = np.empty(len(places), np.int64)
        for window in sorted(set(windows.tolist())):
            chosen = np.flatnonzero(windows == window)
            start = window * self.window
            order = self._permutation(min(self.window, self.size - start), epoch, window)
            found[chosen] = order.at(places[chosen] - start) + start
        return found

    def _unblocked(self, places: Ints, epoch: int) -> Ints:
        """Return the rows at places of permuted blocks; the last block, wherever it is, may be shorter."""
        block, count = self.block, -(-self.size // self.block)
        order = self._permutation(count, epoch, -1)
        short = block * count - self.size
        behind = (order.place_of(np.array([count - 1], np.int64)).item() + 1) * block - short
        places = np.where(places >= behind, places + short, places)
        rows: Ints = order.at(places // block) * block + places % block
        return rows

    def _permutation(self, size: int, epoch: int, window: int) -> Permutation:
        """Return the permutation of the rows of a window, or (-1) of the blocks."""
        found = self._known.get((epoch, window))
        if found is None:
            if len(self._known) > 8:
                self._known.clear()
            found = self._known[epoch, window] = Permutation(size, "shuffle", self.seed, epoch, window)
        return found


@dataclass(frozen=True, slots=True)
class Grouped(_AsFarAsAsked):
    """Lists of consecutive rows: `below` yields the rows of all lists, one list after the other.

    Args:
        size: number of rows.
        length: rows of a list.
        is_whole: True to leave out the last list if it is shorter.

    >>> Grouped(5, 2, False).below(np.array([0, 2]), 0).tolist()
    [0, 1, 4]
    """

    size: Size
    length: int
    is_whole: bool
    makes_lists = True

    def reach(self, count: int) -> int:
        rows = reached(self.size, min(ENDLESS, count * self.length))
        return rows // self.length if self.is_whole else -(-rows // self.length)

    def over(self, size: Size) -> Grouped:
        return Grouped(size, self.length, self.is_whole)

    def turns_below(self, places: Ints, turns: Ints | int) -> Ints | int:
        return turns if isinstance(turns, int) else np.repeat(turns, self.lengths(places))

    def span_below(self, places: Ints, start: int, stop: int) -> tuple[int, int]:
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths(places))])
        return int(ends[start]), int(ends[stop])

    def row_above(self, places: Ints, row: int) -> int:
        return int(np.searchsorted(np.cumsum(self.lengths(places)), row, side="right"))

    def made(self, block: Block, numbers: Ints, origins: Callable[[], Origins]) -> Block:
        return block.grouped(self.lengths(numbers))

    def lengths(self, places: Ints) -> Ints:
        """Return the number of rows of each list."""
        rows = reached(self.size, (int(places.max()) + 1) * self.length) if len(places) else 0
        found: Ints = np.minimum(self.length, rows - places * self.length)
        return found

    def below(self, places: Ints, epoch: int) -> Ints:
        lengths = self.lengths(places)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        within = np.arange(total, dtype=np.int64) - np.repeat(ends - lengths, lengths)
        return np.repeat(places * self.length, lengths) + within

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        """See `OrderLayer.structure`: a list belongs to the block of its first row.

        >>> Grouped(10, 3, False).structure(RowBlocks.of([4, 4, 2]), 0).rows.tolist()
        [2, 1, 1]
        """
        borders = np.concatenate([np.zeros(1, np.int64), blocks.ends])
        lists = np.diff(np.minimum(-(-borders // self.length), self.num_rows))
        return RowBlocks.of(lists, blocks.sizes, blocks.files, is_indexed=blocks.is_indexed)


def even_runs(size: int, parts: int, unit: int = 1) -> list[range]:
    """Return `size` rows in runs that differ by one unit at most; each begins at a multiple of `unit`.

    >>> even_runs(10, 3), even_runs(10, 2, unit=4)
    ([range(0, 4), range(4, 7), range(7, 10)], [range(0, 8), range(8, 10)])
    """
    return [even_run(size, parts, part, unit) for part in range(parts)]


def even_run(size: int, parts: int, part: int, unit: int = 1) -> range:
    """Return one of `even_runs`.

    >>> even_run(10, 3, 2), even_run(10, 10**30, 10**29)
    (range(7, 10), range(10, 10))
    """
    share, more = divmod(-(-size // unit), parts)
    start, stop = (min(size, (cut * share + min(cut, more)) * unit) for cut in (part, part + 1))
    return range(start, stop)


def run_of(start: int, stop: int) -> Ints:
    """Return the places from `start` to `stop`."""
    return np.arange(start, stop, dtype=np.int64)
