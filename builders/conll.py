"""CoNLL: one token per line, columns separated by blanks or tabs, sentences by empty lines; a sentence is one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.errors import ConfigurationError
from datasets_core.features.arrow import list_array
from datasets_core.features.base import plain_array

from ._source import Source, invalid_utf8, text_reader
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {".conll": {}, ".conllu": {"comment_prefix": "#"}}

_BLOCK_BYTES = 1 << 20
_BATCH_TOKENS = 1 << 16
_DOCSTART = "-DOCSTART-"


@dataclass(eq=False)
class ConllConfig(BuilderConfig):
    """Options of `load_dataset("conll", ...)`.

    Args:
        features: target types of the columns.
        column_names: the names of the columns of a line; surplus columns are dropped, missing ones are "".
        delimiter: separator of columns; None takes any run of blanks.
        encoding: encoding of the files.
        encoding_errors: action for invalid bytes, as in `open(errors=)`; None refuses them.
        skip_docstart: True to skip the lines `-DOCSTART-`.
        comment_prefix: prefix of lines to skip; "#" for `.conllu`.
    """

    features: Any = None
    column_names: Sequence[str] = field(default_factory=lambda: ["tokens"])
    delimiter: str | None = None
    encoding: str = "utf-8"
    encoding_errors: str | None = None
    skip_docstart: bool = True
    comment_prefix: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.column_names
        if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
            raise ConfigurationError(f"column_names={names!r} names no columns. Pass a list of names, as ['tokens', 'tags'].")
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise ConfigurationError(f"column_names= names {twice!r} twice. Name each column once.")
        if self.delimiter == "":
            raise ConfigurationError("delimiter='' is not valid. Pass the separator of columns, or None for blanks.")


class Conll(FileBuilder):
    """CoNLL files: a column of lists of text for each name."""

    is_format = True
    name = "conll"
    cache_version = "ed46f4bef3845ffb99cba7bc993c7507"
    BUILDER_CONFIG_CLASS = ConllConfig
    streams = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_conll(source, self.config)


def read_conll(source: Source, options: ConllConfig) -> Iterator[pa.RecordBatch]:
    """Yield the sentences of a CoNLL file; at least one batch, possibly empty.

    Raises:
        FileFormatError: invalid bytes for the encoding, binary data, or a Git LFS pointer.
    """
    names = list(options.column_names)
    tokens: list[list[str]] = []
    lengths: list[int] = []
    begun = 0  # start of the current sentence in `tokens`
    empty = True
    for line in _lines(source, options):
        if not line.strip():
            if len(tokens) > begun:
                lengths.append(len(tokens) - begun)
                begun = len(tokens)
            if begun >= _BATCH_TOKENS:
                yield _batch(names, tokens, lengths)
                tokens, lengths, begun, empty = [], [], 0, False
            continue
        if options.comment_prefix and line.startswith(options.comment_prefix):
            continue
        fields = line.split(options.delimiter)
        if options.skip_docstart and fields[0] == _DOCSTART:
            continue
        tokens.append(fields if len(fields) >= len(names) else fields + [""] * (len(names) - len(fields)))
    if len(tokens) > begun:
        lengths.append(len(tokens) - begun)
    if lengths or empty:
        yield _batch(names, tokens, lengths)


def _lines(source: Source, options: ConllConfig) -> Iterator[str]:
    rest, offset = b"", 0
    with text_reader(source, "conll", encoding=options.encoding, errors=options.encoding_errors) as text:
        for block in text.blocks(_BLOCK_BYTES):
            whole, end, rest = (rest + block).rpartition(b"\n")
            yield from _decoded(source, whole, offset).split("\n") if end else ()
            offset += len(whole) + len(end)
        if rest:
            yield from _decoded(source, rest, offset).split("\n")


def _decoded(source: Source, block: bytes, offset: int) -> str:
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(source, offset + error.start, block[error.start]) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _batch(names: Sequence[str], tokens: list[list[str]], lengths: list[int]) -> pa.RecordBatch:
    kind = pa.list_(pa.string())
    counts = np.array(lengths, np.int64)
    columns = [
        list_array(kind, counts, None, plain_array([fields[number] for fields in tokens], pa.string()))
        for number in range(len(names))
    ]
    return pa.RecordBatch.from_arrays(columns, list(names))
