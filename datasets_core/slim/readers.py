"""Readers of sample files: `TFRecordReader`, `TextLineReader`, `FixedLengthRecordReader`, `WholeFileReader`."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

import numpy as np

from datasets_core.errors import ConfigurationError, FileFormatError, redact
from datasets_core.fetch.members import decompressed
from datasets_core.records.frames import Bytes, Inflated, blocks_of, checked_compression, frame_offsets, inflated
from datasets_core.records.reader import record_file
from datasets_core.records.wire.values import Ints, RecordBlock
from datasets_core.slim.queues import whole_number

# `SampleReader`: base class of readers of samples, with their positions in the file.


T = TypeVar("T")
Position: TypeAlias = Any
"""Position of a sample in its file: an integer, a string, or a list of these whose first element is part of the key."""


@dataclass(frozen=True, slots=True)
class SampleBlock:
    """Consecutive samples of one file.

    Attributes:
        payloads: data to decode: a list, or a `RecordBlock`.
        positions: positions of the samples: a list, or an array of integers with a row for each sample.
        first: number of the first sample in the file.
        num_bytes: approximate size in memory in bytes.

    Example:
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
        """Return the samples without the first one."""
        return SampleBlock(self.payloads[1:], self.positions[1:], self.first + 1, self.num_bytes)


class SampleReader(ABC):
    """Base class of readers; subclasses implement `samples`.

    A provider creates one reader for each of its threads with `reader_class(**reader_kwargs)`.  A reader reads one file at
    a time, keeps no state between files, and yields the same samples each time.

    Example:
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
        """True if samples are read one by one when needed, not in blocks; then few are requested in advance."""
        return type(self).blocks is SampleReader.blocks

    @abstractmethod
    def samples(self, path: str) -> Iterator[tuple[Position, Any]]:
        """Yield the samples of a file, each as its position and the data to decode.

        Args:
            path: the file or URL, as in `data_sources`.
        """

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """Yield the samples of a file in blocks; called by providers.

        The default implementation makes a block of each sample, and reads the samples before `start` again; faster readers
        override it.

        Args:
            path: the file or URL.
            start: position of the first sample; None means the beginning.

        Raises:
            FileFormatError: the file has no sample at that position.
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
        """Return the key of a sample: `path:position`, with the first element if the position is a list.

        Args:
            path: the file or URL.
            position: position of the sample.
        """
        return f"{path}:{position[0] if isinstance(position, list | tuple | np.ndarray) else position}"


@contextmanager
def ended(found: T) -> Iterator[T]:
    """Return a context that closes a generator, which may hold a file, at its end.

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
    """Return the key of a sample for an error message; the default key if the reader fails to make one."""
    try:
        return redact(str(reader.key(path, position)))
    except Exception:
        return redact(SampleReader.key(reader, path, position))


def in_words(error: BaseException) -> str:
    """Return the text of an error of user code; its `__str__` may fail as well.

    >>> in_words(OSError("the disk is full"))
    'OSError: the disk is full'
    """
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def plain(position: Position) -> Any:
    """Return a position as a JSON value.

    >>> plain(np.array([3, 40])), plain((1, "a")), plain(np.int64(4))
    ([3, 40], [1, 'a'], 4)
    """
    if isinstance(position, np.ndarray | np.generic):
        return position.tolist()
    if isinstance(position, tuple | list):
        return [plain(part) for part in position]
    return position


def no_sample(path: str, position: Position) -> FileFormatError:
    """Return the error for a changed file, which has no sample at a recorded position.

    Args:
        path: the file or URL.
        position: the recorded position.
    """
    advice = "Load the state with the files that it was saved with"
    return FileFormatError(
        redact(str(path)), f"no sample begins at position {position}, but a saved state has one there", advice=advice
    )


Picked: TypeAlias = dict[str, tuple[Any, SampleBlock, int]]


def picked(reader: SampleReader, path: str, positions: Sequence[Position]) -> Picked:
    """Read samples of a file again; return data, block and index in the block by the `repr` of each position.

    The file is read once, from the first of these samples to the last.

    Args:
        reader: the reader of the file.
        path: the file or URL.
        positions: positions of the samples as JSON values, in any order.

    Raises:
        FileFormatError: a sample is missing.
    """
    wanted = {repr(position): position for position in positions}
    found: Picked = {}
    if all(isinstance(_head(position), int) for position in positions):
        _pick(reader, path, min(positions, key=_head), wanted, found)
    if len(found) < len(wanted):  # positions usually ascend, but need not
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
    """Return the indices in a block that could match one of the positions."""
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
    """Return the data to decode of one sample of a block."""
    return next(iter(block.payloads[place : place + 1]))


_BLOCK_BYTES = 1 << 20


class _BlockReader(SampleReader):
    """Base class of readers that read blocks."""

    def samples(self, path: str) -> Iterator[tuple[Position, Any]]:
        """See `SampleReader.samples`."""
        for block in self.blocks(path):
            yield from zip(block.positions.tolist(), block.payloads, strict=True)


class TFRecordReader(_BlockReader):
    """Reads TFRecord files: each sample is a record, and its key contains the byte offset of its frame.

    A damaged record raises an error after the undamaged records before it.

    Args:
        compression: "GZIP" or "ZLIB" for files compressed as a whole, "" for none; None to detect it from the first bytes.
        verify: True to compare the CRCs.
        options: a `TFRecordOptions` of TensorFlow, or the name of a compression.

    Raises:
        ConfigurationError: the compression is unknown.

    Example:
        >>> import tempfile
        >>> from datasets_core import records, slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with records.TFRecordWriter(f"{folder}/a.tfrecord") as writer:
        ...         writer.write_all([b"one", b"two"])
        ...     list(slim.TFRecordReader().samples(f"{folder}/a.tfrecord"))
        [([0, 0], b'one'), ([19, 1], b'two')]
    """

    def __init__(self, compression: str | None = None, verify: bool = True, options: Any = None) -> None:
        if options is not None and compression is not None:
            raise ConfigurationError("compression= and options= both define the compression", advice="Pass only one of them")
        self._compression = checked_compression(_named(options) if options is not None else compression)
        self._verify = verify

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """See `SampleReader.blocks`; a position is the byte offset of a frame and the number of its record."""
        for block in self._record_blocks(path, start):
            positions = np.stack([frame_offsets(block), block.first + np.arange(len(block))], axis=1)
            yield SampleBlock(block, positions, block.first, block.num_bytes)

    def _record_blocks(self, path: str, start: Position | None) -> Iterator[RecordBlock]:
        file = record_file(path)
        offset, first = start or (0, 0)
        with file.opened() as (stream, size):
            plain = inflated(stream, name=file.name, compression=self._compression)
            if isinstance(plain, Inflated):
                size = None
                _pass(plain, offset, path)
            elif offset:
                plain = stream
                plain.seek(offset)
            yield from blocks_of(
                plain,
                name=file.name,
                first=first,
                offset=offset,
                verify=self._verify,
                block_bytes=_BLOCK_BYTES,
                size=None if size is None else max(0, size - offset),
            )


def _named(options: Any) -> Any:
    """Return the compression of a `TFRecordOptions`, without importing TensorFlow."""
    found = getattr(options, "compression_type", options)
    if isinstance(found, int) and not isinstance(found, bool):  # the numbers of older versions
        return {0: "", 1: "ZLIB", 2: "GZIP"}.get(found, str(found))
    return "" if found is None or found == "NONE" else found


def _pass(stream: Bytes, count: int, path: str) -> None:
    """Skip bytes."""
    left = count
    while left > 0:
        part = stream.read(min(left, _BLOCK_BYTES))
        if not part:
            raise no_sample(path, count)
        left -= len(part)


def _opened_plain(stream: Any, name: str) -> tuple[Any, bool]:
    """Return the uncompressed bytes of a file, which may be gz, bz2, xz, zst or lz4, and True if it is compressed."""
    whole = stream if hasattr(stream, "peek") else io.BufferedReader(stream, _BLOCK_BYTES)
    plain = decompressed(cast(BinaryIO, whole), path=name)
    return plain, plain is not whole


class TextLineReader(_BlockReader):
    """Reads text files, which may be compressed: each sample is a line as bytes, and its key contains the line number, from 1.

    Line ends are removed.

    Args:
        skip_header_lines: number of lines to skip at the beginning of each file.

    Raises:
        ConfigurationError: the number is negative.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.csv")
        ...     _ = path.write_bytes(b"name,count\\r\\nwren,3\\r\\n")
        ...     list(slim.TextLineReader(skip_header_lines=1).samples(str(path)))
        [([2, 12], b'wren,3')]
    """

    def __init__(self, skip_header_lines: int | None = 0) -> None:
        self._skipped = whole_number("skip_header_lines", skip_header_lines or 0, 0)

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """See `SampleReader.blocks`; a position is the number of a line and its byte offset."""
        line, offset = start or (1, 0)
        file = record_file(path)
        with file.opened() as (stream, _):
            text, is_packed = _opened_plain(stream, file.name)
            if offset and is_packed:
                _pass(text, offset, path)
            elif offset:
                text.seek(offset)
            for data, begin in _lines(text, offset):
                block = _line_block(data, begin, line, file.name)
                line += len(block)
                skipped = max(0, self._skipped + 1 - block.first - 1)
                if skipped < len(block):
                    yield SampleBlock(
                        block.payloads[skipped:], block.positions[skipped:], block.first + skipped, block.num_bytes
                    )


def _lines(text: Any, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield bytes of whole lines, with their offset; the last line may have no line end."""
    rest: list[bytes] = []
    while data := text.read1(_BLOCK_BYTES):
        border = data.rfind(b"\n") + 1
        if not border:
            rest.append(data)
            continue
        whole = b"".join([*rest, data[:border]])
        yield whole, offset
        offset, rest = offset + len(whole), [data[border:]] if border < len(data) else []
    if rest:
        yield b"".join(rest), offset


def _line_block(data: bytes, begin: int, line: int, name: str) -> SampleBlock:
    codes = np.frombuffer(data, np.uint8)
    stops = np.flatnonzero(codes == 10)
    after = stops + 1
    if not data.endswith(b"\n") and data[int(after[-1]) if len(after) else 0 :] != b"\r":  # a line end without a line
        stops = np.append(stops, len(data))
    starts = np.concatenate([np.zeros(1, np.int64), after])[: len(stops)]
    returns = (stops > starts) & (codes[np.maximum(stops, 1) - 1] == 13)
    positions = np.stack([line + np.arange(len(starts)), begin + starts], axis=1)
    block = RecordBlock(data, starts, stops - returns, line - 1, name, begin)
    return SampleBlock(block, positions, line - 1, len(data))


class FixedLengthRecordReader(_BlockReader):
    """Reads files of fixed-length records, which may be compressed: the key of a sample contains the record number, from 0.

    Bytes after the last whole record that are not the footer raise an error after the whole records.

    Args:
        record_bytes: size of each record in bytes.
        header_bytes: size of the header of each file in bytes.
        footer_bytes: size of the footer in bytes.
        hop_bytes: distance between the starts of two records in bytes; default: the record size.
        encoding: "GZIP" or "ZLIB" for files compressed as a whole, "" for none; None to detect gzip from the first bytes.

    Raises:
        ConfigurationError: a length is invalid, or the encoding unknown.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.bin")
        ...     _ = path.write_bytes(b"HEAD" + b"onetwo")
        ...     list(slim.FixedLengthRecordReader(3, header_bytes=4).samples(str(path)))
        [(0, b'one'), (1, b'two')]
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = 0,
        footer_bytes: int | None = 0,
        hop_bytes: int | None = 0,
        encoding: str | None = None,
    ) -> None:
        self._length = whole_number("record_bytes", record_bytes, 1)
        self._header = whole_number("header_bytes", header_bytes or 0, 0)
        self._footer = whole_number("footer_bytes", footer_bytes or 0, 0)
        self._hop = whole_number("hop_bytes", hop_bytes or 0, 0) or self._length
        self._encoding = checked_compression(encoding)

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """See `SampleReader.blocks`; a position is the number of a record."""
        file = record_file(path)
        number = int(start or 0)
        with file.opened() as (stream, _):
            plain, is_packed = self._plain(stream, file.name)
            begin = self._header + number * self._hop
            if start is None or is_packed:
                self._pass_header(plain, begin, file.name, path, start)
            else:
                plain.seek(begin)
            yield from self._blocks(plain, number, begin, file.name)

    def _plain(self, stream: Any, name: str) -> tuple[Any, bool]:
        if self._encoding is None:
            stream = stream if hasattr(stream, "peek") else io.BufferedReader(stream, _BLOCK_BYTES)
            is_gzip = stream.peek(2)[:3] == b"\x1f\x8b\x08"
            return (inflated(stream, name=name, compression="GZIP"), True) if is_gzip else (stream, False)
        return (inflated(stream, name=name, compression=self._encoding), True) if self._encoding else (stream, False)

    def _pass_header(self, plain: Any, begin: int, name: str, path: str, start: Position | None) -> None:
        if start is not None:
            _pass(plain, begin, path)
            return
        left = begin
        while left and (part := plain.read(min(left, _BLOCK_BYTES))):
            left -= len(part)
        if left:
            raise FileFormatError(name, f"ends within its header: it has {begin - left:,} of {begin:,} bytes")

    def _blocks(self, plain: Any, number: int, begin: int, name: str) -> Iterator[SampleBlock]:
        """Yield the records of a stream positioned at the beginning of one."""
        data, wanted = b"", max(_BLOCK_BYTES, self._length + self._footer)
        while part := plain.read(wanted):
            data += part
            count = max(0, (len(data) - self._footer - self._length) // self._hop + 1)
            if count:
                yield self._block(data, number, count, begin, name)
                number, begin = number + count, begin + count * self._hop
                data = _without(plain, data, count * self._hop)
        left = len(data) - self._footer
        if left < 0:
            raise FileFormatError(name, f"ends within its footer: it has {len(data):,} of {self._footer:,} bytes")
        if left and self._hop == self._length:
            reason = f"{left:,} bytes follow record {number - 1:,}, but a record has {self._length:,}"
            raise FileFormatError(name, reason if number else f"it contains {left:,} bytes, but a record has {self._length:,}")

    def _block(self, data: bytes, number: int, count: int, begin: int, name: str) -> SampleBlock:
        numbers = np.arange(count, dtype=np.int64)
        starts: Ints = numbers * self._hop
        block = RecordBlock(data, starts, starts + self._length, number, name, begin)
        return SampleBlock(block, number + numbers, number, block.num_bytes)


def _without(plain: Any, data: bytes, count: int) -> bytes:
    """Return the bytes after the first `count`, some of which may not have been read yet."""
    if count > len(data):
        missing = count - len(data)
        while missing and (part := plain.read(min(missing, _BLOCK_BYTES))):
            missing -= len(part)
    return data[count:]


class WholeFileReader(_BlockReader):
    """Reads whole files: each sample is the content of a file, and its key is the path.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_bytes(b"a wren")
        ...     list(slim.WholeFileReader().samples(str(path)))
        [(0, b'a wren')]
    """

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """See `SampleReader.blocks`; the only position is 0."""
        with record_file(path).opened() as (stream, _):
            parts = []
            while part := stream.read(_BLOCK_BYTES):
                parts.append(part)
        data = b"".join(parts)
        yield SampleBlock([data], np.zeros(1, np.int64), 0, len(data))

    def key(self, path: str, position: Position) -> str:
        """See `SampleReader.key`."""
        return str(path)
