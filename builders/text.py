"""Plain text: one row a line, a paragraph or a document.

Lines are found by numpy in blocks of bytes, and a column is made of the block's own bytes without their line ends: no line
becomes a Python object.  As in Python's text files, `\\n`, `\\r\\n` and a lone `\\r` end a line and come out as `\\n`.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from datasets_core.building.builder_config import BuilderConfig
from datasets_core.errors import ConfigurationError

from ._source import Source, TextBytes, invalid_utf8, text_reader
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {".txt": {}}

_BLOCK_BYTES = 4 << 20
_MAX_ROW_BYTES = (1 << 31) - (1 << 24)  # what the 32-bit offsets of a string column can hold, with room for a block
_SAMPLE_BY = ("line", "paragraph", "document")


@dataclass(eq=False)
class TextConfig(BuilderConfig):
    """Options of `load_dataset("text", ...)`.

    Args:
        features: one feature, whose name the column takes.
        encoding: of the files; "utf-8" takes a byte order mark off.
        encoding_errors: what to do with wrong bytes, as in `open(errors=)`; None refuses them.
        chunksize: bytes that are read at a time.
        keep_linebreaks: whether a line keeps its `\\n`.
        sample_by: what a row is: "line", "paragraph" (cut at empty lines) or "document" (the file).
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

    BUILDER_CONFIG_CLASS = TextConfig
    streams = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """See `FileBuilder.read`."""
        return read_text(source, self.config)


def read_text(source: Source, options: TextConfig) -> Iterator[pa.RecordBatch]:
    """The rows of a text file.

    Raises:
        FileFormatError: bytes that are not of the encoding, binary data, a Git-LFS pointer.
    """
    name = next(iter(options.features)) if options.features else "text"
    block_bytes = max(min(options.chunksize, _BLOCK_BYTES), 1)
    with text_reader(source, "text", encoding=options.encoding, errors=options.encoding_errors, web_page_is_data=True) as text:
        if options.sample_by == "line":
            columns = _lines(text, block_bytes, options.keep_linebreaks)
        elif options.sample_by == "paragraph":
            columns = _paragraphs(text, block_bytes)
        else:
            columns = _document(text, block_bytes)
        empty = True
        offset = 0
        for column, size in columns:
            _check(source, column, offset)
            offset += size
            empty = False
            yield pa.RecordBatch.from_arrays([column], [name])
        if empty:
            yield pa.RecordBatch.from_arrays([_strings(np.zeros(1, np.int32), b"")], [name])


def _check(source: Source, column: pa.Array, offset: int) -> None:
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
    """The error for the first byte from about `offset` on that is not UTF-8, found by reading the file again."""
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
        f"is not UTF-8 somewhere after byte {offset:,}", advice="Pass the file's encoding, as encoding='latin-1'"
    )


def _blocks_of_lines(text: TextBytes, block_bytes: int) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines that end in `\\n` alone, each with the bytes it had in the file; the last one may lack its end."""
    rest: list[bytes] = []
    held = 0
    for block in text.blocks(block_bytes):
        border = _last_line_end(block)
        if border == 0:
            rest.append(block)
            held += len(block)
            if held > _MAX_ROW_BYTES:
                raise text.source.fault(
                    "holds a line of more than 2 GB", advice="Break its lines, or load it by another format"
                )
            continue
        whole = b"".join([*rest, block[:border]])
        rest, held = [block[border:]], len(block) - border
        yield _plain_ends(whole), len(whole)
    if last := b"".join(rest):
        yield _plain_ends(last), len(last)


def _last_line_end(block: bytes) -> int:
    border = block.rfind(b"\n") + 1
    # A lone \r ends a line too; one at the very end of the block may be half of \r\n.
    return max(border, block.rfind(b"\r", border, len(block) - 1) + 1)


def _plain_ends(block: bytes) -> bytes:
    if b"\r" in block:
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block


def _lines(text: TextBytes, block_bytes: int, keep_linebreaks: bool) -> Iterator[tuple[pa.Array, int]]:
    for block, size in _blocks_of_lines(text, block_bytes):
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
        yield _strings(offsets, data), size


def _paragraphs(text: TextBytes, block_bytes: int) -> Iterator[tuple[pa.Array, int]]:
    """Pieces between `\\n\\n`; empty ones are left out, as is nothing else: a single `\\n` at the end of the file stays."""
    rest = b""
    size = 0
    for block, read in _blocks_of_lines(text, block_bytes):
        size += read
        *whole, rest = (rest + block).split(b"\n\n")
        if len(rest) > _MAX_ROW_BYTES:
            raise text.source.fault("holds a paragraph of more than 2 GB", advice="Pass sample_by='line'")
        if pieces := [piece for piece in whole if piece]:
            yield _joined(pieces), size
            size = 0
    if rest:
        yield _joined([rest]), size


def _document(text: TextBytes, block_bytes: int) -> Iterator[tuple[pa.Array, int]]:
    parts = []
    held = 0
    for block, size in _blocks_of_lines(text, block_bytes):
        parts.append(block)
        held += size
        if held > _MAX_ROW_BYTES:
            raise text.source.fault("is a document of more than 2 GB", advice="Pass sample_by='line' or 'paragraph'")
    yield _joined([b"".join(parts)]), held


def _joined(pieces: list[bytes]) -> pa.Array:
    offsets = np.zeros(len(pieces) + 1, np.int32)
    np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
    return _strings(offsets, b"".join(pieces))


def _strings(offsets: np.ndarray, data: bytes) -> pa.Array:
    # from_buffers, because pa.array would import pandas where it is installed.
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
