"""`SampleReader`: what reads the samples of one file, and knows where in it each of them stands; the base for one's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from datasets_core.errors import FileFormatError
from datasets_core.redact import redact

T = TypeVar("T")
Position: TypeAlias = Any
"""Where a sample stands in its file: a whole number, a text, or a list of them that begins with what its key says."""


@dataclass(frozen=True, slots=True)
class SampleBlock:
    """Consecutive samples of one file.

    Attributes:
        payloads: what is to be decoded of each: a list, or a `RecordBlock`.
        positions: where each stands: a list, or an array of whole numbers with a row for each.
        first: the number of the first of them in the file.
        num_bytes: about how much memory they take.

    >>> len(SampleBlock([b"a", b"b"], [0, 1]))
    2
    """

    payloads: Any
    positions: Any
    first: int = 0
    num_bytes: int = 0

    def __len__(self) -> int:
        return len(self.positions)

    def behind(self) -> SampleBlock:
        """The samples but the first."""
        return SampleBlock(self.payloads[1:], self.positions[1:], self.first + 1, self.num_bytes)


class SampleReader(ABC):
    """The base of readers: derive a class that has `samples`.

    A provider makes one reader for each of its threads, as `reader_class(**reader_kwargs)`; a reader is asked for one file at
    a time, keeps nothing between files, and gives the same samples each time.

    >>> class Words(SampleReader):
    ...     def samples(self, path):
    ...         with open(path, encoding="utf-8") as text:
    ...             yield from enumerate(text.read().split())
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_text("a wren sings", encoding="utf-8")
    ...     reader = Words()
    ...     [block.payloads for block in reader.blocks(f"{folder}/a.txt", start=1)], reader.key("a.txt", 1)
    ([['wren'], ['sings']], 'a.txt:1')
    """

    @property
    def reads_one_by_one(self) -> bool:
        """Whether a sample is read when it is asked for, and not before, in a block: then few are asked for ahead."""
        return type(self).blocks is SampleReader.blocks

    @abstractmethod
    def samples(self, path: str) -> Iterator[tuple[Position, Any]]:
        """The samples of a file, each as where it stands, and what is to be decoded.

        Args:
            path: the file or URL, as `data_sources` names it.
        """

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """The samples of a file in blocks: what a provider asks for.

        This one makes a block of each sample, and reads the samples before `start` again; a reader that can do with less
        work overrides it.

        Args:
            path: the file or URL.
            start: where the first sample to give stands; by default at the beginning.

        Raises:
            FileFormatError: no sample stands there.
        """
        found, wanted = self.samples(path), None if start is None else plain(start)
        with ended(found):
            for number, (position, payload) in enumerate(found):
                if wanted is not None and plain(position) != wanted:
                    continue
                wanted = None
                yield SampleBlock([payload], [position], number, len(payload) if isinstance(payload, bytes) else 0)
        if wanted is not None:
            raise no_sample(path, start)

    def key(self, path: str, position: Position) -> str:
        """The key of a sample: `path:position`; of a list its first entry.

        Args:
            path: the file or URL.
            position: where the sample stands.
        """
        return f"{path}:{position[0] if isinstance(position, list | tuple | np.ndarray) else position}"


@contextmanager
def ended(found: T) -> Iterator[T]:
    """A block at whose end something is closed, if it can be: a generator that holds a file.

    >>> numbers = (number for number in range(9))
    >>> with ended(numbers):
    ...     next(numbers), next(numbers)
    (0, 1)
    >>> list(numbers)
    []
    """
    try:
        yield found
    finally:
        close = getattr(found, "close", None)
        if close is not None:
            close()


def shown_key(reader: SampleReader, path: str, position: Position) -> str:
    """The key of a sample for a message; where the reader fails at it, too, the key that `SampleReader` makes."""
    try:
        return redact(str(reader.key(path, position)))
    except Exception:
        return redact(SampleReader.key(reader, path, position))


def in_words(error: BaseException) -> str:
    """An error of the user's code, whose text may be one, too.

    >>> in_words(OSError("the disk is gone"))
    'OSError: the disk is gone'
    """
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def plain(position: Position) -> Any:
    """A position as JSON has it.

    >>> plain(np.array([3, 40])), plain((1, "a")), plain(np.int64(4))
    ([3, 40], [1, 'a'], 4)
    """
    if isinstance(position, np.ndarray | np.generic):
        return position.tolist()
    if isinstance(position, tuple | list):
        return [plain(part) for part in position]
    return position


def no_sample(path: str, position: Position) -> FileFormatError:
    """The error of a file that has changed: where a sample stood is none.

    Args:
        path: the file or URL.
        position: where it stood.
    """
    advice = "Load the state with the files that it was saved with"
    return FileFormatError(redact(str(path)), f"no sample begins at {position}, where a saved state has one", advice=advice)


Picked: TypeAlias = dict[str, tuple[Any, SampleBlock, int]]


def picked(reader: SampleReader, path: str, positions: Sequence[Position]) -> Picked:
    """Some samples of a file, read again: for the `repr` of each position what is to be decoded, its block, its place there.

    The file is read once, from the first of them to the last.

    Args:
        reader: the reader of the file.
        path: the file or URL.
        positions: where the samples stand, as JSON has it, in any order.

    Raises:
        FileFormatError: one is not there.
    """
    wanted = {repr(position): position for position in positions}
    found: Picked = {}
    if all(isinstance(_head(position), int) for position in positions):
        _pick(reader, path, min(positions, key=_head), wanted, found)
    if len(found) < len(wanted):  # positions may ascend, and need not
        _pick(reader, path, None, wanted, found)
    if len(found) < len(wanted):
        raise no_sample(path, next(position for name, position in wanted.items() if name not in found))
    return found


def _pick(reader: SampleReader, path: str, start: Position | None, wanted: dict[str, Position], found: Picked) -> None:
    heads = {_head(position) for position in wanted.values()}
    with ended(reader.blocks(path, start)) as blocks:
        for block in blocks:
            for place in _candidates(block.positions, heads):
                name = repr(plain(block.positions[place]))
                if name in wanted:
                    found[name] = (payload_at(block, place), block, place)
            if len(found) == len(wanted):
                return


def _candidates(positions: Any, heads: set[Any]) -> Iterable[int]:
    """The places in a block at which one of the positions could stand."""
    if isinstance(positions, np.ndarray):
        first = positions if positions.ndim == 1 else positions[:, 0]
        there: list[int] = np.flatnonzero(np.isin(first, list(heads))).tolist()
        return there
    return [place for place, position in enumerate(positions) if _head(plain(position)) in heads]


def _head(position: Position) -> Any:
    return (
        position[0] if isinstance(position, list) and position else repr(position) if isinstance(position, list) else position
    )


def payload_at(block: SampleBlock, place: int) -> Any:
    """What is to be decoded of one sample of a block."""
    return next(iter(block.payloads[place : place + 1]))
