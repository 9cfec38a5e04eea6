"""Plain text: one row per line, paragraph or document.

Lines are found by numpy in blocks of bytes, and a column is made from the bytes of the block without line ends: no line
becomes a Python object.  As in Python's text files, `\n`, `\r\n` and a lone `\r` end a line and are read as `\n`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.building.marks import Mark
from datasets_core.errors import ConfigurationError
from datasets_core.features.arrow import are_valid_texts

from ._source import Grid, Source, TextBytes, invalid_utf8, text_reader
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {".txt": {}}

_BLOCK_BYTES = 4 << 20
_MAX_ROW_BYTES = (1 << 31) - (1 << 24)  # limit of the 32-bit offsets of a string column, with room for a block
_LINE_END = re.compile(rb"\r\n|\r|\n")
_SAMPLE_BY = ("line", "paragraph", "document")


@dataclass(eq=False)
class TextConfig(BuilderConfig):
    """Options of `load_dataset("text", ...)`.

    Args:
        features: a single feature; its name becomes that of the column.
        encoding: encoding of the files; "utf-8" removes a byte order mark.
        encoding_errors: action for invalid bytes, as in `open(errors=)`; None refuses them.
        chunksize: number of bytes read at a time.
        keep_linebreaks: True to keep `\\n`.
        sample_by: the unit of a row: "line", "paragraph" (separated by empty lines) or "document" (the file).
    """

    features: Any = None
    encoding: str = "utf-8"
    encoding_errors: str | None = None
    chunksize: int = 10 << 20
    keep_linebreaks: bool = False
    sample_by: Literal["line", "paragraph", "document"] = "line"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample_by not in _SAMPLE_BY:
            raise ConfigurationError(f"sample_by={self.sample_by!r} is unknown. Use 'line', 'paragraph' or 'document'.")


class Text(FileBuilder):
    """Text files: one column, `text`."""

    is_format = True
    name = "text"
    cache_version = "fdb98129f01c78889590dfb5e1c18267"
    BUILDER_CONFIG_CLASS = TextConfig
    streams = True
    has_marks = True

    @property
    def is_native(self) -> bool:
        return True

    def read_live(
        self, source: Source, schema: pa.Schema | None, mark: Mark | None
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        return text_blocks(source, self.config, is_live=True, mark=mark)

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_text(source, self.config)


def read_text(source: Source, options: TextConfig) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a text file.

    Raises:
        FileFormatError: invalid bytes for the encoding, binary data, or a Git LFS pointer.
    """
    return (batch for batch, _ in text_blocks(source, options))


def text_blocks(
    source: Source, options: TextConfig, *, is_live: bool = False, mark: Mark | None = None
) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
    """Yield the rows of a text file as `read_text` does, each batch with the mark of its start.

    Args:
        source: the file.
        options: the config.
        is_live: True for marks with the blocks.
        mark: the position to start at.
    """
    name = next(iter(options.features)) if options.features else "text"
    how: dict[str, Any] = {"encoding": options.encoding, "errors": options.encoding_errors, "mark": mark}
    first_bytes = Grid.STEP_BYTES if is_live else 0
    with text_reader(source, "text", web_page_is_data=True, first_bytes=first_bytes, **how) as text:
        block_bytes = max(min(options.chunksize, _BLOCK_BYTES), 1)
        blocks = _Lines(text, Grid.of(text, mark) if is_live else None, block_bytes)
        if options.sample_by == "line":
            columns = _lines(blocks, options.keep_linebreaks)
        elif options.sample_by == "paragraph":
            columns = _paragraphs(blocks)
        else:
            columns = _document(blocks)
        empty = mark is None or not mark.at
        for column, begin, to in columns:
            _check(source, column, begin)
            empty = False
            told = Mark(begin, to, None, text.file) if is_live and text.file is not None and to else None
            yield pa.RecordBatch.from_arrays([column], [name]), told
        if empty:
            yield pa.RecordBatch.from_arrays([_strings(np.zeros(1, np.int32), b"")], [name]), None


def _check(source: Source, column: pa.Array, offset: int) -> None:
    if are_valid_texts(column):
        return
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for value in column.cast(pa.binary()).to_pylist():
            try:
                value.decode()
            except UnicodeDecodeError as error:
                raise _locate_invalid(source, offset) from error
        raise


def _locate_invalid(source: Source, offset: int) -> Exception:
    """Return the error for the first byte from about `offset` on that is not UTF-8, found by reading the file again."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    with text_reader(source, "text", web_page_is_data=True) as text:
        for block in [*text.blocks(_BLOCK_BYTES), b""]:
            try:
                pending = len(decoder.getstate()[0])
                decoder.decode(block, not block)
            except UnicodeDecodeError as error:
                return invalid_utf8(source, at - pending + error.start, error.object[error.start])
            at += len(block)
    return source.fault(
        f"is not UTF-8 somewhere after byte {offset:,}", advice="Pass the file's encoding, for example encoding='latin-1'"
    )


class _Lines:
    """Blocks of whole lines.

    Attributes:
        source: the file.
        begin: position in the text of the last returned block.
        to: position up to which the text was read for it; 0 without marks.
    """

    def __init__(self, text: TextBytes, grid: Grid | None, block_bytes: int) -> None:
        self.source = text.source
        self._text, self._grid, self._block_bytes = text, grid, block_bytes
        self.begin, self.to = text.at, 0

    def _blocks(self) -> Iterator[bytes]:
        if self._grid is None:
            yield from self._text.blocks(self._block_bytes)
            return
        while block := self._text.read_to(self._grid.to):
            self.to = self._grid.to
            yield block
            self._grid.advance()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes of each block of the text; the last one may lack its line end."""
        rest: list[bytes] = []
        begin, held = self._text.at, 0
        for block in self._blocks():
            border = _last_line_end(block)
            if border == 0:
                rest.append(block)
                held += len(block)
                if held > _MAX_ROW_BYTES:
                    raise self.source.fault(
                        "holds a line of more than 2 GB", advice="Split its lines, or load it with another format"
                    )
                continue
            whole = b"".join([*rest, block[:border]])
            self.begin = begin
            yield whole
            rest, held, begin = [block[border:]], len(block) - border, begin + len(whole)
        if last := b"".join(rest):
            self.begin = begin
            yield last


def _last_line_end(block: bytes) -> int:
    border = block.rfind(b"\n") + 1
    # A lone \r ends a line too; one at the end of the block may be half of \r\n.
    return max(border, block.rfind(b"\r", border, len(block) - 1) + 1)


def _plain_ends(block: bytes) -> bytes:
    if b"\r" in block:
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block


def _lines(blocks: _Lines, keep_linebreaks: bool) -> Iterator[tuple[pa.Array, int, int]]:
    """Yield one row per line: the column of each block, its position, and the position up to which the text was read."""
    for whole in blocks:
        block = _plain_ends(whole)
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 10)
        unfinished = not block.endswith(b"\n")
        offsets = np.zeros(len(ends) + 1 + unfinished, np.int32)
        if keep_linebreaks:
            offsets[1 : len(ends) + 1] = ends + 1
            data = block
        else:
            offsets[1 : len(ends) + 1] = ends - np.arange(len(ends))
            data = block.translate(None, b"\n")
        if unfinished:
            offsets[-1] = len(data)
        yield _strings(offsets, data), blocks.begin, blocks.to


def _paragraphs(blocks: _Lines) -> Iterator[tuple[pa.Array, int, int]]:
    """Yield the non-empty parts between `\n\n`; a single `\n` at the end of the file is kept."""
    rest = raw = b""
    begin, to = blocks.begin, 0
    for block in blocks:
        raw += block
        *whole, rest = (rest + _plain_ends(block)).split(b"\n\n")
        if len(rest) > _MAX_ROW_BYTES:
            raise blocks.source.fault("holds a paragraph of more than 2 GB", advice="Pass sample_by='line'")
        to = blocks.to
        if pieces := [piece for piece in whole if piece]:
            yield _joined(pieces), begin, to
        if whole:
            kept = _as_it_stood(raw, rest)
            begin, raw = begin + len(raw) - len(kept), kept
    if rest:
        yield _joined([rest]), begin, to


def _as_it_stood(raw: bytes, rest: bytes) -> bytes:
    """Return `rest`, the end of some lines, with normalized line ends."""
    if b"\r" not in raw:
        return raw[len(raw) - len(rest) :]
    ends = [found.end() for found in _LINE_END.finditer(raw)]
    count = rest.count(b"\n")
    return raw[ends[-count - 1] :] if rest else b""


def _document(blocks: _Lines) -> Iterator[tuple[pa.Array, int, int]]:
    parts = []
    held = 0
    for block in blocks:
        parts.append(_plain_ends(block))
        held += len(block)
        if held > _MAX_ROW_BYTES:
            raise blocks.source.fault("is a document of more than 2 GB", advice="Pass sample_by='line' or 'paragraph'")
    yield _joined([b"".join(parts)]), 0, 0


def _joined(pieces: list[bytes]) -> pa.Array:
    offsets = np.zeros(len(pieces) + 1, np.int32)
    np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
    return _strings(offsets, b"".join(pieces))


def _strings(offsets: np.ndarray, data: bytes) -> pa.Array:
    # from_buffers, because pa.array would import pandas if it is installed.
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
