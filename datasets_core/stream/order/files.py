"""`Interleave`: file and row at each position, for files read in turn, by arithmetic.

A file of n rows is visited n // block + 1 times: the last visit yields the remaining rows, possibly none, and from the
next visit of its slot on another file is read there.  Visits are numbered, and each file has a run of every cycle-th of
them; between two visits at which a file begins or ends, all rounds yield the same number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapreplace
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.meta.split_info import FileInstruction
from datasets_core.stream.order.layers import Ints, Permutation

# `ReadConfig`: the order in which the files of a split are read, and the columns added to each row.


SortFunction: TypeAlias = Callable[[list[FileInstruction]], Iterable[FileInstruction]]
"""Takes the list of instructions for the files, and returns the list to read instead."""

ID_COLUMNS = {"add_tfds_id": "tfds_id", "add_row_id": "row_id"}
"""Columns of row ids, by the field that requests them."""

_LENGTH = 16


class _Default(int):
    """Number that the user did not set: data that must be read in order has a cycle of 1 unless the user sets another one."""

    def __reduce__(self) -> str:
        return "DEFAULT_CYCLE"


DEFAULT_CYCLE = _Default(_LENGTH)


@dataclass
class ReadConfig:
    """Read order of files: how many at a time, how many rows of each in turn; compatible with TensorFlow Datasets.

    `interleave_cycle_length` files are open at a time.  They are visited in turn, and each visit gives
    `interleave_block_length` rows; a file that ends within its block yields its remaining rows, and the next file takes its
    slot at the next visit.  So the order is that of the rows only within a block: the first 100 rows of a stream are not those
    of `split="train[:100]"`, which are the first 100 of the dataset.  They are the same with `interleave_cycle_length=1`, and
    wherever no `ReadConfig` is given: `as_dataset` and `load_dataset` then read row after row.  For the same two lengths the
    order is the same on every machine and in every version.

    Args:
        options: ignored: the `tf.data.Options` of existing code, which may set attributes on it.
        try_autocache: ignored: files are mapped, and the system keeps them.
        repeat_filenames: read the files repeatedly, without end; unlike with `repeat(None)`, the first files of an
            epoch overlap with the last of the epoch before.  So that any row can be computed, this overlap is absent after
            every 16,384 files (but not within four epochs, and after 64 epochs at the latest if each has its own order): there
            all files are read to their end.
        add_tfds_id: add the column `tfds_id`: `"<file name>__<row in the file>"`.
        shuffle_seed: seed of the order of files if `shuffle_files=True`; None draws one when the dataset is made,
            and states contain it.  Give one if several machines or processes divide the rows.
        shuffle_reshuffle_each_iteration: False keeps one order of files for all epochs; None and True change it with each
            epoch, so that two files take turns in being first.
        interleave_cycle_length: files open at a time; None for 16.  The default is 1 for data written in an order to keep
            (`disable_shuffling`).
        interleave_block_length: rows read from a file at a visit; None for 16.
        input_context: an object with the attributes `num_input_pipelines` and `input_pipeline_id`: every
            `num_input_pipelines`-th file is read, beginning with number `input_pipeline_id`.
        experimental_interleave_sort_fn: the older name of `interleave_sort_fn`.
        skip_prefetch, num_parallel_calls_for_decode, num_parallel_calls_for_interleave_files, override_buffer_size: ignored:
            they do not affect the rows.
        enable_ordering_guard: refuse to mix data that was written in an order to keep (`disable_shuffling`); False only warns.
        assert_cardinality: ignored: the number of rows is recorded, and every file is checked against it.
        file_format: ignored: a dataset is read in the format that it was built in.
        interleave_sort_fn: takes the list of `FileInstruction`s and returns the list to read. It may reorder, leave out and
            repeat files, and change `skip` and `take`, but add no other files.
        add_row_id: add the same ids as `add_tfds_id`, in the column `row_id`.

    Raises:
        ConfigurationError: a value is invalid; for an attribute that is set later, raised when it is used.

    Example:
        >>> ReadConfig(interleave_cycle_length=3, interleave_block_length=2).shuffle_seed is None
        True
    """

    options: Any = field(default_factory=SimpleNamespace, repr=False, compare=False)
    try_autocache: bool = True
    repeat_filenames: bool = False
    add_tfds_id: bool = False
    shuffle_seed: int | None = None
    shuffle_reshuffle_each_iteration: bool | None = None
    interleave_cycle_length: int | None = DEFAULT_CYCLE
    interleave_block_length: int | None = _LENGTH
    input_context: Any = None
    experimental_interleave_sort_fn: SortFunction | None = None
    skip_prefetch: bool = False
    num_parallel_calls_for_decode: int | None = None
    num_parallel_calls_for_interleave_files: int | None = None
    enable_ordering_guard: bool = True
    assert_cardinality: bool = True
    override_buffer_size: int | None = None
    file_format: Any = None
    interleave_sort_fn: SortFunction | None = None
    add_row_id: bool = False

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise an error for invalid values.

        Raises:
            ConfigurationError: a value is invalid; the error names the first one.
        """
        for name in ("interleave_cycle_length", "interleave_block_length"):
            given = getattr(self, name)
            if given is not None and _whole(name, given) < 1:
                raise ConfigurationError(f"Invalid {name}={given}", advice=f"Give 1 or more, or None for {_LENGTH}")
        if self.shuffle_seed is not None:
            _whole("shuffle_seed", self.shuffle_seed)
        for name in ("interleave_sort_fn", "experimental_interleave_sort_fn"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise ArgumentTypeError(
                    f"{name}={function!r} is not callable",
                    advice="Give a function that takes a list of FileInstructions",
                    value=function,
                )
        functions = {self.interleave_sort_fn, self.experimental_interleave_sort_fn} - {None}
        if len(functions) > 1:
            raise ConfigurationError(
                "interleave_sort_fn and experimental_interleave_sort_fn are two names of the same option",
                advice="Give one of them",
            )
        if self.input_context is not None:
            self._check_context()

    def _check_context(self) -> None:
        try:
            count, index = _whole("num_input_pipelines", self.input_context.num_input_pipelines), self.pipeline[1]
        except AttributeError:
            raise ArgumentTypeError(
                f"input_context={self.input_context!r} does not select files",
                advice="Give an object with the attributes num_input_pipelines and input_pipeline_id",
                value=self.input_context,
            ) from None
        if not 0 <= index < count:
            raise ConfigurationError(
                f"input_pipeline_id={index} is out of range for {count} pipelines", advice=f"Give 0 to {count - 1}"
            )

    @property
    def block_length(self) -> int:
        """Number of rows read from a file at a visit."""
        return _LENGTH if self.interleave_block_length is None else int(self.interleave_block_length)

    def cycle_length(self, *, is_ordered: bool) -> int:
        """Return the number of files that are read at the same time.

        Args:
            is_ordered: True if the rows were written in an order that must be kept.
        """
        if self.interleave_cycle_length is None or self.interleave_cycle_length is DEFAULT_CYCLE:
            return 1 if is_ordered else _LENGTH
        return int(self.interleave_cycle_length)

    @property
    def sort_function(self) -> SortFunction | None:
        """The sort function, under either of its names."""
        return self.interleave_sort_fn or self.experimental_interleave_sort_fn

    @property
    def pipeline(self) -> tuple[int, int]:
        """The number of parts of the files, and the number of the part that is read."""
        if self.input_context is None:
            return 1, 0
        given = self.input_context
        return int(given.num_input_pipelines), _whole("input_pipeline_id", given.input_pipeline_id)

    @property
    def reshuffles(self) -> bool:
        """True if, when files are shuffled, each epoch has its own order of files."""
        return self.shuffle_reshuffle_each_iteration is not False

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The columns of row ids that are added."""
        return tuple(column for asked, column in ID_COLUMNS.items() if getattr(self, asked))


def _whole(name: str, given: Any) -> int:
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise ArgumentTypeError(f"{name}={given!r} is not an integer", advice="Give an int", value=given)
    return int(given.__index__())


# The order of the files of a stream: as the user's function gives them, for this pipeline, and shuffled anew in each
# epoch.


class FileRows(NamedTuple):
    """Consecutive rows of a file; a named tuple, which is cheap, since thousands are made.

    Attributes:
        name: name of the file.
        skip: number of rows before them.
        rows: number of the rows.
    """

    name: str
    skip: int
    rows: int


def chosen_files(files: Sequence[FileRows], config: ReadConfig, lengths: Mapping[str, int]) -> list[FileRows]:
    """Return the rows to read of each file of a split expression.

    Args:
        files: the files of the expression.
        config: selects and orders the files.
        lengths: rows of each file of the dataset.

    Raises:
        ConfigurationError: the sort function returned other files or rows that do not exist, or fewer files than pipelines.
    """
    found = list(files) if config.sort_function is None else _sorted(files, config.sort_function, lengths)
    count, index = config.pipeline
    if count > max(1, len(found)):
        raise ConfigurationError(
            f"input_context divides {len(found)} files among {count} pipelines, so some of them get no files",
            advice="Divide the rows instead with even_splits() or shard()",
        )
    return found[index::count]


def _sorted(files: Sequence[FileRows], function: SortFunction, lengths: Mapping[str, int]) -> list[FileRows]:
    given = function([_instruction(file, lengths[file.name]) for file in files])
    try:
        found = list(given)
    except TypeError:
        raise ArgumentTypeError(
            f"The sort function returned {given!r}", advice="Return the list of FileInstructions to read"
        ) from None
    named = {file.name for file in files}
    return [_rows(file, named, lengths) for file in found]


def _instruction(file: FileRows, length: int) -> FileInstruction:
    take = -1 if file.skip + file.rows == length else file.rows
    return FileInstruction(file.name, file.skip, take, examples_in_shard=length)


def _rows(file: object, named: Set[str], lengths: Mapping[str, int]) -> FileRows:
    """Return the rows of an instruction, which the user may have changed or made."""
    if not isinstance(file, FileInstruction):
        raise ArgumentTypeError(f"The sort function returned {file!r} in its list", advice="Return FileInstructions")
    if file.filename not in named:
        reason = "which is not part of the split" if file.filename in lengths else "which is not part of the dataset"
        raise ConfigurationError(
            f"The sort function returned the file {file.filename!r}, {reason}", advice="Return files of its argument"
        )
    length = lengths[file.filename]
    stop = length if file.take < 0 else file.skip + file.take
    if not 0 <= file.skip <= stop <= length:
        raise ConfigurationError(
            f"The sort function returned skip={file.skip}, take={file.take} for {file.filename!r}, which has {length} rows",
            advice="Return rows that exist, or take=-1 for all rows to the end",
        )
    return FileRows(file.filename, file.skip, stop - file.skip)


def shuffled_files(count: int, seed: int, epoch: int) -> Ints:
    """Return the numbers of files in the order of an epoch.

    It differs from the order of the epoch before, and from that of the files themselves: in even epochs the first file comes
    right after the second, in odd epochs right before it, and a result equal to the unshuffled order is replaced.  Two files
    have only these two orders, regardless of the seed.

    >>> [shuffled_files(2, seed, epoch).tolist() for seed in range(2) for epoch in range(2)]
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """
    order = Permutation(count, "files", seed, epoch).at(np.arange(count, dtype=np.int64))
    if count < 2:
        return order
    is_descending = bool(order[0] > order[1])
    if is_descending != (epoch % 2 == 0):
        order[:2] = order[1::-1]
    if count > 2 and bool((np.diff(order) == 1).all()):
        order = np.roll(order, -1)
    return order


@dataclass(frozen=True)
class Interleave:
    """The rows of files, `cycle` files at a time, `block` rows of each in turn.

    Args:
        lengths: number of rows read from each file.
        cycle: number of files open at a time.
        block: rows of a file at a visit.

    >>> files, rows = Interleave([5, 3, 4], cycle=2, block=2).at(np.arange(12))
    >>> files.tolist()
    [0, 0, 1, 1, 0, 0, 1, 0, 2, 2, 2, 2]
    >>> rows.tolist()
    [0, 1, 0, 1, 2, 3, 2, 4, 0, 1, 2, 3]
    """

    lengths: Ints | Sequence[int]
    cycle: int
    block: int
    num_rows: int = field(init=False)

    def __post_init__(self) -> None:
        lengths = np.asarray(self.lengths, np.int64)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "num_rows", int(lengths.sum()))

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """Return, for each position, the file that is read there and the row in it."""
        if self._slots == 1:
            which: Ints = np.searchsorted(self._ends, places, side="right")
            return which, places - (self._ends - np.asarray(self.lengths))[which]
        return self._rounds.at(places)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """Return the positions at which rows of files are read; the inverse of `at`.

        >>> Interleave([5, 3, 4], cycle=2, block=2).places_of(np.array([1, 2]), np.array([2, 0])).tolist()
        [6, 8]
        """
        if self._slots == 1:
            starts: Ints = self._ends - np.asarray(self.lengths)
            return starts[files] + rows
        return self._rounds.places_of(files, rows)

    def first_behind(self, place: int) -> int:
        """Return the first place after this one at which a file is read that was not read before."""
        begun = self._openings
        found = int(begun.searchsorted(place, side="right"))
        return int(begun[found]) if found < len(begun) else self.num_rows

    @property
    def last_opening(self) -> int:
        """The position at which the last file with rows begins."""
        return int(self._openings[-1])

    @property
    def _slots(self) -> int:
        return max(1, min(self.cycle, len(self.lengths)))

    @cached_property
    def _ends(self) -> Ints:
        """The position after the last row of each file, if files are read one after the other."""
        return np.cumsum(np.asarray(self.lengths))

    @cached_property
    def _openings(self) -> Ints:
        """The place of the first row of each file that has rows, ascending."""
        lengths = np.asarray(self.lengths)
        if self._slots == 1:
            return np.compress(lengths > 0, self._ends - lengths)
        found: Ints = np.sort(self._rounds.first_places()[lengths > 0])
        return found

    @cached_property
    def _rounds(self) -> _Rounds:
        lengths = np.asarray(self.lengths)
        # All longer blocks are equivalent to one longer than any file, and might not fit into numpy integers.
        return _Rounds(lengths, self._slots, min(self.block, int(lengths.max()) + 1))


class _Rounds:
    """Files in slots, each from one round to another; in each round every slot is visited once.

    Args:
        lengths: rows of each file.
        slots: two or more, and not more than files.
        block: rows of a visit.
    """

    def __init__(self, lengths: Ints, slots: int, block: int) -> None:
        self._slots, self._block = slots, block
        visits = lengths // block + 1
        begun = np.array(_first_visits(visits.tolist(), slots), np.int64)
        self._first, self._slot = begun // slots, begun % slots
        self._last = self._first + visits - 1
        self._rest = lengths - block * (visits - 1)
        # Where the number of rows of a round changes: `_cuts`.  Between two cuts all rounds are alike.
        self._cuts, _ = _distinct(np.concatenate([self._first, self._last, self._last + 1]))
        changes = np.zeros(len(self._cuts), np.int64)
        for rounds, rows in ((self._first, block), (self._last, self._rest - block), (self._last + 1, -self._rest)):
            np.add.at(changes, np.searchsorted(self._cuts, rounds), rows)
        self._per_round = np.cumsum(changes)
        rows = self._per_round[:-1] * np.diff(self._cuts)
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows)])  # the place at which each cut begins
        # The files by slot and round, as one ascending number each.
        self._span = int(self._cuts[-1]) + 1
        keys = self._slot * self._span + self._first
        self._by_slot = np.argsort(keys)
        self._keys = keys[self._by_slot]
        self._known: tuple[int, Ints, Ints, Ints] | None = None  # the last cut that was read

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `Interleave.at`."""
        if not len(places):
            return places, places
        first, last = np.searchsorted(self._starts, [places.min(), places.max()], side="right").tolist()
        if first == last:
            return self._behind_cut(first - 1, places)
        cuts = np.searchsorted(self._starts, places, side="right") - 1
        rounds, within = np.divmod(places - self._starts[cuts], self._per_round[cuts])
        rounds += self._cuts[cuts]
        used, number = _distinct(cuts)
        files, ends = self._visited(used)
        # The slot: the first whose rows, added to those of the slots before it, reach behind the row.
        step = self._slots * self._block + 1
        flat = (ends + np.arange(len(used))[:, None] * step).ravel()
        slot = np.searchsorted(flat, within + number * step, side="right")
        file = files.ravel()[slot]
        before = np.where(slot % self._slots > 0, ends.ravel()[slot - 1], 0)
        return file, (rounds - self._first[file]) * self._block + within - before

    def _behind_cut(self, cut: int, places: Ints) -> tuple[Ints, Ints]:
        """See `Interleave.at`, for places between two cuts: the usual case, in half the time."""
        if self._known is None or self._known[0] != cut:
            visited, ended = self._visited(np.array([cut]))
            ends = ended[0]
            before = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
            done = (self._cuts[cut] - self._first[visited[0]]) * self._block - before
            self._known = cut, visited[0], ends, done
        _, files, ends, done = self._known
        rounds, within = np.divmod(places - self._starts[cut], self._per_round[cut])
        slot = np.searchsorted(ends, within, side="right")
        return files[slot], rounds * self._block + within + done[slot]

    def _visited(self, cuts: Ints) -> tuple[Ints, Ints]:
        """Return, for the rounds after these cuts and each slot, the file in it, its rows, and those of the slots before."""
        rounds = self._cuts[cuts][:, None]
        keys = np.arange(self._slots) * self._span + rounds
        files = self._by_slot[np.searchsorted(self._keys, keys, side="right") - 1]
        last = self._last[files]
        rows = np.where(rounds < last, self._block, np.where(rounds == last, self._rest[files], 0))
        return files, np.cumsum(rows, axis=1)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `Interleave.places_of`."""
        rounds, within = np.divmod(rows, self._block)
        rounds += self._first[files]
        cuts = np.searchsorted(self._cuts, rounds, side="right") - 1
        used, number = _distinct(cuts)
        _, ends = self._visited(used)
        slot = self._slot[files]
        before = np.where(slot > 0, ends[number, slot - 1], 0)
        found: Ints = self._starts[cuts] + (rounds - self._cuts[cuts]) * self._per_round[cuts] + before + within
        return found

    def first_places(self) -> Ints:
        """Return the place of the first row of each file."""
        cuts = np.searchsorted(self._cuts, self._first)
        found = np.empty(len(cuts), np.int64)
        for start in range(0, len(cuts), 1024):  # a table of all cuts and slots may be large
            part = slice(start, start + 1024)
            used, number = _distinct(cuts[part])
            _, ends = self._visited(used)
            slot = self._slot[part]
            found[part] = self._starts[cuts[part]] + np.where(slot > 0, ends[number, slot - 1], 0)
        return found


def _distinct(values: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values, ascending, and for each value its index among them.

    `np.unique` does the same, but imports `numpy.ma` first, which takes 25 ms.

    >>> [found.tolist() for found in _distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.ones(len(values), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    numbers = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return ordered[is_new], numbers


def _first_visits(visits: list[int], slots: int) -> list[int]:
    """Return the number of the first visit of each file, counted over all files: it comes when the first slot is free.

    >>> _first_visits([2, 1, 1, 1], 2)
    [0, 1, 3, 4]
    """
    free = list(range(slots))  # a heap: the next visit of each slot without a file
    begun = []
    for count in visits:
        begun.append(free[0])
        heapreplace(free, free[0] + count * slots)
    return begun


# `FileTurns`: which files are read when, and in which order: those of one epoch, or of one epoch after the other without
# end.


_FILES_OF_STRETCH, _LEAST_EPOCHS = 1 << 14, 4  # of files without end: so many are planned in some ten milliseconds
_SHUFFLED_EPOCHS = 64  # ... as many as these, where each has an order of its own
_KNOWN_STRETCHES = 2


@dataclass(frozen=True)
class FileTurns:
    """Files in some order, read in turn.

    Args:
        lengths: rows of each file.
        order: numbers of the files, in opening order.
        cycle, block: see `Interleave`.

    >>> files, rows = FileTurns(np.array([2, 3]), np.array([1, 0]), cycle=1, block=16).at(np.arange(5))
    >>> files.tolist(), rows.tolist()
    ([1, 1, 1, 0, 0], [0, 1, 2, 0, 1])
    """

    lengths: Ints
    order: Ints
    cycle: int
    block: int
    interleave: Interleave = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "interleave", Interleave(self.lengths[self.order], self.cycle, self.block))

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """Return, for each position, the file that is read there and the row in it."""
        turns, rows = self.interleave.at(places)
        return self.order[turns], rows

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """Return the place at which each row of a file is read, the first time."""
        turns = np.empty(len(self.lengths), np.int64)
        turns[self.order[::-1]] = np.arange(
            len(self.order) - 1, -1, -1
        )  # of a file that comes again, the first is written last
        return self.interleave.places_of(turns[files], rows)

    def first_behind(self, place: int) -> int:
        """Return the next place after this one at which another file is opened."""
        return self.interleave.first_behind(place)


class EndlessFileTurns:
    """The files of one epoch after the other; files of the next epoch take the slots that become free in the last.

    So that any row can be computed without those before it, epochs are grouped into *stretches*: a stretch is read to the end
    of its last file, and the next one begins like the first.  Only the epochs of a stretch that the requested rows need are
    planned.

    Args:
        lengths: rows of each file; not all zero.
        order: returns the order of the files in an epoch, given its number, counted from the first.
        cycle, block: see `Interleave`.
        epochs: number of epochs of a stretch; see `epochs_of_stretch`.

    >>> turns = EndlessFileTurns(np.array([1, 2]), lambda epoch: np.array([0, 1]), cycle=2, block=1, epochs=2)
    >>> turns.at(np.arange(9))[0].tolist()
    [0, 1, 1, 0, 1, 1, 0, 1, 1]
    """

    def __init__(self, lengths: Ints, order: Callable[[int], Ints], cycle: int, block: int, epochs: int) -> None:
        self._lengths, self._order, self._cycle, self._block = lengths, order, cycle, block
        self._epochs = epochs
        self._rows = int(lengths.sum()) * self._epochs
        self._known: dict[int, _Stretch] = {}

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `FileTurns.at`."""
        if not len(places):
            return places, places
        first, last = int(places.min()) // self._rows, int(places.max()) // self._rows
        if first == last:
            return self._stretch(first).at(places - first * self._rows)
        files, rows = np.empty_like(places), np.empty_like(places)
        stretches = places // self._rows
        for number in sorted(set(stretches.tolist())):
            chosen = np.flatnonzero(stretches == number)
            files[chosen], rows[chosen] = self._stretch(number).at(places[chosen] - number * self._rows)
        return files, rows

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `FileTurns.places_of`."""
        return self._stretch(0).places_of(files, rows)

    def first_behind(self, place: int) -> int:
        """See `FileTurns.first_behind`."""
        number, within = divmod(place, self._rows)
        return number * self._rows + self._stretch(number).first_behind(within)

    def _stretch(self, number: int) -> _Stretch:
        found = self._known.get(number)
        if found is None:
            while len(self._known) >= _KNOWN_STRETCHES:
                del self._known[next(iter(self._known))]
            first = number * self._epochs
            found = _Stretch(self._lengths, lambda epoch: self._order(first + epoch), self._cycle, self._block, self._epochs)
            self._known[number] = found
        return found


class _Stretch:
    """A number of epochs, planned as far as needed; see `EndlessFileTurns`."""

    def __init__(self, lengths: Ints, order: Callable[[int], Ints], cycle: int, block: int, epochs: int) -> None:
        self._lengths, self._order, self._cycle, self._block, self._epochs = lengths, order, cycle, block, epochs
        self._per_epoch = int(lengths.sum())
        self._orders: list[Ints] = []
        self._plan(2)

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `FileTurns.at`."""
        self._reach(int(places.max()))
        return self._turns.at(places)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `FileTurns.places_of`; a row at which further files are open already may come later than it seems."""
        found = self._turns.places_of(files, rows)
        while len(found) and int(found.max()) >= self._known:
            self._plan(2 * len(self._orders))
            found = self._turns.places_of(files, rows)
        return found

    def first_behind(self, place: int) -> int:
        """See `FileTurns.first_behind`."""
        self._reach(place)
        return self._turns.first_behind(place)

    def _reach(self, place: int) -> None:
        while place >= self._known:
            self._plan(max(2 * len(self._orders), place // self._per_epoch + 2))

    def _plan(self, epochs: int) -> None:
        epochs = min(epochs, self._epochs)
        self._orders += [self._order(epoch) for epoch in range(len(self._orders), epochs)]
        self._turns = FileTurns(self._lengths, np.concatenate(self._orders), self._cycle, self._block)
        # From the last opening on, further files would be opened that are not planned yet.
        self._known = self._turns.interleave.last_opening if epochs < self._epochs else self._epochs * self._per_epoch


def epochs_of_stretch(num_files: int, *, changes: bool) -> int:
    """Return the number of epochs of a stretch: at its end, all files are read to their end.

    Args:
        num_files: number of files of an epoch.
        changes: True if each epoch has its own order.

    >>> epochs_of_stretch(1000, changes=True), epochs_of_stretch(10, changes=False), epochs_of_stretch(10, changes=True)
    (17, 1639, 64)
    """
    found = max(_LEAST_EPOCHS, -(-_FILES_OF_STRETCH // num_files))
    return min(found, _SHUFFLED_EPOCHS) if changes else found
