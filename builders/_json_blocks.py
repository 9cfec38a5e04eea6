"""`line_blocks`: JSON text as blocks of whole objects: lines, one array, pretty-printed or concatenated objects.

Borders between elements are found by numpy: unescaped quotes separate strings from structure, and the running sum
of brackets is the depth.  No byte is moved, so a position in a block is a position in the file.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ._source import Grid, Source, TextBytes, line_at

BLOCK_BYTES = 4 << 20
MAX_DEPTH = 60
"""Levels of nesting that are read, the same limit as for features: pyarrow's parser overflows its stack at larger depths."""

_MAX_ELEMENT_BYTES = 1 << 30
_HARMLESS_BRACKETS = 4000  # pyarrow 26 reads 2,000 levels and overflows its stack at 20,000
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}\n")
_STEP = np.zeros(256, np.int8)
_STEP[[ord("["), ord("{")]] = 1
_STEP[[ord("]"), ord("}")]] = -1
_IS_MARK = bytes(code in b'[]{},"' for code in range(256))
_NEWLINES_TO_BLANKS = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole objects, one or more per line.

    Attributes:
        lines: the bytes.
        offset: position of `lines` in the text.
        elements: number of objects, if known.
        to: position up to which the text was read for the block, if it is read by a grid.
        form: their context: "lines", "objects", "array", or "field" for an array under a key, which may be one
            "of values" that are not objects; "" for text read completely.
    """

    lines: bytes
    offset: int
    elements: int | None = None
    to: int = 0
    form: str = ""


class Scanner:
    """The structure of JSON text that arrives in blocks: brackets and commas outside strings, and their depth.

    Attributes:
        depth: number of open brackets.
        broken_at: the first line end inside a string, in the block that was scanned last.
    """

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self.broken_at: int | None = None
        self._in_string = 0

    def scan(self, block: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of brackets and commas, and the depth after each; a block must not end in a backslash."""
        codes = np.frombuffer(block, np.uint8)
        places = np.flatnonzero(np.frombuffer(block.translate(_IS_MARK), np.bool_))
        quotes = codes[places] == 34
        outside = ~quotes
        if b"\\" in block:
            quotes[quotes] = ~_escaped(codes, places[quotes])
        self.broken_at = self._line_end_in_string(codes, places[quotes])
        outside &= (np.cumsum(quotes, dtype=np.int32) + self._in_string) % 2 == 0
        self._in_string = (self._in_string + int(np.count_nonzero(quotes))) % 2
        places = places[outside]
        depths = np.cumsum(_STEP[codes[places]], dtype=np.int32) + self.depth
        if len(depths):
            self.depth = int(depths[-1])
        return places, depths

    def _line_end_in_string(self, codes: np.ndarray, quotes: np.ndarray) -> int | None:
        ends = np.flatnonzero((codes == 10) | (codes == 13))
        inside = (np.searchsorted(quotes, ends) + self._in_string) % 2 == 1
        return int(ends[inside.argmax()]) if inside.any() else None


def _scanned(stream: _Stream, scanner: Scanner, block: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the result of `Scanner.scan` for the last block; a string across a line end is refused."""
    found = scanner.scan(block)
    if scanner.broken_at is not None:
        at = stream.offset - len(block) + scanner.broken_at
        raise stream.source.fault(
            "a string is not closed before the line ends", line=line_at(stream.source, at), advice="Close it, or write \\n"
        )
    return found


def _escaped(codes: np.ndarray, quotes: np.ndarray) -> np.ndarray:
    """Return which of `quotes` have an odd number of backslashes before them."""
    slashes = np.flatnonzero(codes == 92)
    begins = np.flatnonzero(np.diff(slashes, prepend=-2) != 1)
    lengths = np.diff(np.append(begins, len(slashes)))
    ends = slashes[begins + lengths - 1] + 1
    return np.isin(quotes, ends[lengths % 2 == 1])


def too_deep(block: bytes) -> bool:
    """Return True if values are nested beyond `MAX_DEPTH`.

    A quick check counts brackets without regard to strings.  Its result is used if the depth is small and no line has
    enough brackets to hide a relevant depth.
    """
    codes = np.frombuffer(block.translate(None, _NO_BRACKETS), np.uint8)
    if not len(codes):
        return False
    borders = np.flatnonzero(codes == 10)
    longest = int(np.diff(borders, prepend=-1, append=len(codes)).max())
    if longest <= _HARMLESS_BRACKETS and int(np.cumsum(_STEP[codes], dtype=np.int32).max()) <= MAX_DEPTH:
        return False
    _, depths = Scanner().scan(block)
    return bool(len(depths)) and int(depths.max()) > MAX_DEPTH


_STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"(\s*+:)?', re.DOTALL)
_WINDOWS, _WINDOW_BYTES, _LEAST_BYTES = 64, 512, 6  # of `"a":1,`
_MOST_CELLS = 1 << 28  # of the table of one block: two gigabytes


def many_keys(block: bytes, most: int) -> int:
    """Return the number of different keys in a block, for a block that may have more than `most`, or much more than it has
    bytes as a table, where each object has a value for each key; 0 for other blocks.

    Some windows at random tell whether the keys have to be counted: few keys occur in one of them only, as a rule.
    """
    if len(block) < _LEAST_BYTES * most and (len(block) // _LEAST_BYTES) ** 2 < _MOST_CELLS:
        return 0
    starts = [random.randrange(max(1, len(block) - _WINDOW_BYTES)) for _ in range(_WINDOWS)]
    windows = [block[start : start + _WINDOW_BYTES] for start in starts]
    counts = Counter(key for each in windows for key in {key for key, is_key in _STRING.findall(each) if is_key})
    times = len(block) / (_WINDOWS * _WINDOW_BYTES)
    expected = len(counts) + times * sum(1 for count in counts.values() if count == 1)
    if expected <= most and expected * times * sum(each.count(b"{") for each in windows) <= _MOST_CELLS:
        return 0
    num_objects = block.count(b"{")
    count = len({key for key, is_key in _STRING.findall(block) if is_key})
    return count if count > most or num_objects * count > _MOST_CELLS else 0


def line_blocks(
    text: TextBytes,
    *,
    field: str | None = None,
    by_brackets: bool = False,
    grid: Grid | None = None,
    form: str | None = None,
) -> Iterator[LineBlock]:
    """Yield the objects of a JSON text, in blocks.

    Args:
        text: the file.
        field: the key of the rows in the outermost object, or None.
        by_brackets: True to find the end of objects by brackets, also if the first line is a whole object.
        grid: positions up to which the text is read; None reads blocks of any size.
        form: the context in the middle of a text (see `LineBlock.form`); None at its beginning.

    Raises:
        FileFormatError: the text is truncated, or not a sequence of objects; the parser reports invalid objects.
    """
    stream = _Stream(text, grid)
    if form is not None:
        yield from _from_inside(stream, form)
        return
    if field is not None:
        yield from _under_field(stream, field)
        return
    first = stream.peek_byte()
    if first == b"[":
        yield from _array(stream)
        _check_end_of_array(stream)
    elif first == b"{":
        if not by_brackets and _begins_with_a_line(stream.head()):
            yield from _lines(stream)
        else:
            yield from _objects(stream)
    elif first:
        raise stream.source.fault(
            f"begins with {stream.head().lstrip()[:20].decode(errors='replace')!r}, where a JSON object or array is expected",
            line=line_at(stream.source, stream.offset + len(stream.head()) - len(stream.head().lstrip())),
            advice='Write one object per line, as {"text": ...}, or one array of objects',
        )


def _from_inside(stream: _Stream, form: str) -> Iterator[LineBlock]:
    """Yield the objects from the middle of a text on."""
    if form == "lines":
        yield from _lines(stream)
    elif form == "objects":
        yield from _objects(stream)
    elif form in ("array", "array of values"):
        yield from _array(stream, opened=True, of_objects=form == "array")
        _check_end_of_array(stream)
    elif form in ("field", "field of values"):
        yield from _array(stream, opened=True, of_objects=form == "field", form="field")
        _check_rest(stream)
    else:
        raise ValueError(f"invalid form of JSON: {form!r}")


def _check_end_of_array(stream: _Stream) -> None:
    if stream.peek_byte():
        raise stream.source.fault(
            f"{stream.head()[:20].decode(errors='replace')!r} follows the end of the array",
            line=line_at(stream.source, stream.offset),
            advice="Keep one array, or write one object per line",
        )


class _Stream:
    """Blocks of a text, with the first one to look at and a running offset."""

    def __init__(self, text: TextBytes, grid: Grid | None = None) -> None:
        self.source: Source = text.source
        self._text, self._grid = text, grid
        self._held = b""
        self.offset = text.at

    @property
    def to(self) -> int:
        """Return the position up to which the text was read, if it is read by a grid."""
        return 0 if self._grid is None else self._text.at

    def head(self) -> bytes:
        """Return the next block."""
        if not self._held:
            self._held = self._read(BLOCK_BYTES)
        return self._held

    def peek_byte(self) -> bytes:
        """Return the next byte that is not blank; b"" at the end.  Blanks before it are passed."""
        while self.head():
            rest = self._held.lstrip()
            self.offset += len(self._held) - len(rest)
            self._held = rest
            if rest:
                return rest[:1]
        return b""

    def push_back(self, data: bytes) -> None:
        """Push back `data`, the last block taken."""
        self._held = data + self._held
        self.offset -= len(data)

    def take(self, rest: int = 0) -> bytes:
        """Return the next block; it never ends in a backslash unless the text does.

        Args:
            rest: bytes kept from earlier blocks, in which no object ends.
        """
        data, self._held = self._held or self._read(BLOCK_BYTES, rest), b""
        self.offset += len(data)
        return data

    def _read(self, size: int, rest: int = 0) -> bytes:
        if self._grid is None:
            data = self._text.read(size)
        else:
            if self._text.at >= self._grid.to:
                self._grid.to = self._text.at
                self._grid.advance(rest)
            data = self._text.read_to(self._grid.to)
        while data.endswith(b"\\") and (more := self._text.read_to(self._text.at + 1)):
            data += more
        return data


def _begins_with_a_line(head: bytes) -> bool:
    """Return True if the first line has whole objects: brackets opened in it are closed in it, as far as the block shows."""
    end = head.find(b"\n")
    line = head if end < 0 else head[:end]
    scanner = Scanner()
    scanner.scan(line.rstrip(b"\\"))
    return scanner.depth <= 0 or (end >= 0 and _is_broken(line))


def _is_broken(line: bytes) -> bool:
    """Return True if a line with open brackets is invalid, and not just the beginning of a longer object."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return error.pos < len(line.decode(errors="replace").rstrip()) and not error.msg.startswith(
            ("Unterminated", "Expecting property name")
        )
    except (UnicodeDecodeError, RecursionError):
        return False
    return False


def _lines(stream: _Stream) -> Iterator[LineBlock]:
    rest = b""
    end = 1
    while block := stream.take(0 if end else len(rest)):
        begin = stream.offset - len(block) - len(rest)
        data = rest + block
        end = data.rfind(b"\n") + 1
        if not end and len(data) > _MAX_ELEMENT_BYTES:
            raise stream.source.fault("holds a line of more than 1 GB", line=line_at(stream.source, begin))
        rest = data[end:]
        if end:
            yield LineBlock(data if not rest else data[:end], begin, None, stream.to, "lines")
    if rest:
        yield LineBlock(rest, stream.offset - len(rest), None, stream.to, "lines")


def _objects(stream: _Stream) -> Iterator[LineBlock]:
    """Yield objects that span lines, or follow each other without a line end."""
    scanner = Scanner()
    rest, held = b"", 0
    while block := stream.take(held):
        begin = stream.offset - len(block) - len(rest)
        places, depths = _scanned(stream, scanner, block)
        codes = np.frombuffer(block, np.uint8)
        ends = places[(depths == 0) & (_STEP[codes[places]] < 0)] + len(rest)
        data = (rest + block).translate(_NEWLINES_TO_BLANKS)
        if not len(ends):
            rest, held = data, len(data)
            _check_length(stream, len(rest), begin)
            continue
        cut = int(ends[-1]) + 1
        rest, held = data[cut:], 0
        lines = np.frombuffer(bytearray(data[:cut]), np.uint8)
        after = ends[:-1] + 1
        after = after[lines[after] == 32]
        lines[after] = 10
        yield LineBlock(lines.tobytes(), begin, len(ends), stream.to, "objects")
    if rest.strip():
        yield LineBlock(rest, stream.offset - len(rest))  # truncated: the parser reports the position


def _array(stream: _Stream, *, opened: bool = False, of_objects: bool = True, form: str = "array") -> Iterator[LineBlock]:
    """Yield the elements of the next array; or of one that was opened before, with known content."""
    if not opened:
        of_objects = stream.head().removeprefix(b"[").lstrip()[:1] in (b"{", b"]", b"", b"n")
    scanner = Scanner(depth=int(opened))
    rest, held = b"", 0
    begin = stream.offset
    while block := stream.take(held):
        begin = stream.offset - len(block) - len(rest)
        places, depths = _scanned(stream, scanner, block)
        codes = np.frombuffer(block, np.uint8)[places]
        ended = np.flatnonzero(depths == 0)
        if len(ended):
            last = int(ended[0])
            places, depths, codes = places[: last + 1], depths[: last + 1], codes[: last + 1]
        commas = places[(depths == 1) & (codes == 44)] + len(rest)
        data = bytearray((rest + block).translate(_NEWLINES_TO_BLANKS))
        view = np.frombuffer(data, np.uint8)
        view[commas] = 10
        if not opened:
            view[0] = 32
            opened = True
        if len(ended):
            close = int(places[-1]) + len(rest)
            stream.push_back(block[close + 1 - len(rest) :])
            body = bytes(data[:close])
            if body.strip() or len(commas):
                yield _elements(LineBlock(body, begin, len(commas) + 1, stream.to, form), of_objects)
            return
        cut = int(commas[-1]) + 1 if len(commas) else 0
        rest = bytes(data[cut:])
        held = 0 if cut else len(rest)
        if cut:
            yield _elements(LineBlock(bytes(data[:cut]), begin, len(commas), stream.to, form), of_objects)
        else:
            _check_length(stream, len(rest), begin)
    raise stream.source.fault(
        "the outermost array is not closed: the file is truncated" if rest or opened else "has no array",
        line=line_at(stream.source, stream.offset),
        advice="Fetch or write the file again",
    )


def _elements(block: LineBlock, of_objects: bool) -> LineBlock:
    if of_objects:
        return block
    lines = b"".join(b'{"text":%s}\n' % element for element in block.lines.removesuffix(b"\n").split(b"\n"))
    return replace(block, lines=lines, form=f"{block.form} of values")


def _under_field(stream: _Stream, field: str) -> Iterator[LineBlock]:
    """Yield the rows under one key of the outermost object: an array of rows, or an object of columns."""
    spellings = {json.dumps(field).encode(), json.dumps(field, ensure_ascii=False).encode()}
    key = re.compile(rb"(?:%s)[ \t\r\n]*:[ \t\r\n]*" % b"|".join(map(re.escape, sorted(spellings))))
    scanner = Scanner()
    rest = b""
    if stream.peek_byte() == b"{":
        while block := stream.take():
            data = rest + block
            state = (scanner.depth, scanner._in_string)
            places, depths = scanner.scan(data)
            for found in key.finditer(data):
                at = int(np.searchsorted(places, found.start()))
                depth = int(depths[at - 1]) if at else state[0]
                before = data[: found.start()].rstrip()[-1:]
                if depth == 1 and before in (b"{", b",") and found.end() < len(data):
                    stream.push_back(data[found.end() :])
                    yield from _value(stream, field)
                    _check_rest(stream)
                    return
            cut = int(places[-1]) + 1 if len(places) else 0
            rest = data[cut:]
            scanner._in_string = 0
    raise stream.source.fault(
        f"has no key {field!r} in its outermost object",
        advice="Pass the right field=, or omit field= if the rows are not nested",
    )


def _value(stream: _Stream, field: str) -> Iterator[LineBlock]:
    if stream.peek_byte() == b"[":
        yield from _array(stream, form="field")
        return
    offset = stream.offset
    data = b"".join(iter(stream.take, b""))
    try:
        text = data.decode()
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise stream.source.fault(f"invalid JSON under {field!r} ({error})", line=line_at(stream.source, offset)) from error
    columns = value if isinstance(value, dict) else {}
    lists = [list(column.values()) if isinstance(column, dict) else column for column in columns.values()]
    if not columns or not all(isinstance(column, list) for column in lists) or len({len(column) for column in lists}) != 1:
        raise stream.source.fault(
            f"has no rows under {field!r}: its value must be an array, or an object of lists of the same length",
            line=line_at(stream.source, offset),
            advice="Pass another field=",
        )
    stream.push_back(text[end:].encode())
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    yield LineBlock("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(), offset, len(rows))


def _check_rest(stream: _Stream) -> None:
    """Refuse a file with content after its outermost object."""
    scanner = Scanner(depth=1)
    while block := stream.take():
        places, depths = _scanned(stream, scanner, block)
        if not (depths == 0).any():
            continue
        stream.push_back(block[int(places[int((depths == 0).argmax())]) + 1 :])
        if stream.peek_byte():
            raise stream.source.fault(
                f"{stream.head()[:20].decode(errors='replace')!r} follows the end of the outermost object",
                line=line_at(stream.source, stream.offset),
                advice="Keep one object, or omit field=",
            )
        return
    raise stream.source.fault(
        "the outermost object is not closed: the file is truncated",
        line=line_at(stream.source, stream.offset),
        advice="Fetch or write the file again",
    )


def _check_length(stream: _Stream, held: int, begin: int) -> None:
    if held > _MAX_ELEMENT_BYTES:
        raise stream.source.fault("holds an object of more than 1 GB", line=line_at(stream.source, begin))
