"""FASTA: a header after `>` and the lines of a sequence, each record is one row; base of FASTA and FASTQ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.features.base import plain_array
from datasets_core.features.schema import Features

from ._source import Source, TextBytes, line_at, text_reader
from ._tables import FileBuilder

# `SequenceBuilder`: base of FASTA and FASTQ: options, record batches, and errors with line numbers.


MOST_RECORD_BYTES = 1 << 30  # limit of one row in bytes; the largest stored chromosomes have some hundred MB
_BLOCK_BYTES = 1 << 20
_TYPES = {"id": pa.string(), "description": pa.string(), "sequence": pa.large_string(), "quality": pa.large_string()}


@dataclass(eq=False)
class SequenceConfig(BuilderConfig):
    """Options of `load_dataset("fasta", ...)` and `load_dataset("fastq", ...)`.

    Args:
        features: types that the columns are cast to.
        batch_size: maximum number of records in a batch.
        max_batch_bytes: size in bytes at which a batch is closed, if it is less than that of the settings.
        columns: the columns to keep; all by default.
    """

    features: Any = None
    batch_size: int = 10_000
    max_batch_bytes: int = 256 << 20
    columns: list[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("batch_size", self.batch_size), ("max_batch_bytes", self.max_batch_bytes)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name}={value!r} is not a valid count. Pass a whole number of 1 or more.")


@dataclass(frozen=True, slots=True)
class Record:
    """One record as bytes: its header without the mark, its letters, their qualities, and its original text."""

    header: bytes
    sequence: bytes
    quality: bytes
    whole: bytes
    offset: int


class SequenceBuilder(FileBuilder):
    """A builder whose rows are the records of files of sequences."""

    BUILDER_CONFIG_CLASS = SequenceConfig
    streams = True
    all_columns: ClassVar[tuple[str, ...]]

    def records(self, source: Source, text: TextBytes) -> Iterator[Record]:
        """Return the records of a file."""
        raise NotImplementedError(f"{type(self).__name__} has no records()")

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        if self.wanted is None:
            self.info.features = self._features()
        return super()._split_generators(dl_manager)

    def _columns(self) -> Sequence[str]:
        chosen = self.config.columns
        if chosen is None:
            return self.all_columns
        unknown = [name for name in chosen if name not in self.all_columns]
        if isinstance(chosen, str) or unknown or not chosen or len(set(chosen)) < len(chosen):
            raise ConfigurationError(
                f"columns={chosen!r} is not valid. Pass a list of {', '.join(self.all_columns)}, each at most once."
            )
        return tuple(chosen)

    def _features(self) -> Features:
        from datasets_core.features.base import Value
        from datasets_core.features.media.types import BioSequence

        record = BioSequence(format=self.name)
        return Features({name: record if name == "record" else Value(str(_TYPES[name])) for name in self._columns()})

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        options: SequenceConfig = self.config
        columns = self._columns()
        held: list[Record] = []
        size, empty, most = 0, True, min(options.max_batch_bytes, settings().batch_bytes)
        with text_reader(source, self.name) as text:
            for record in self.records(source, text):
                held.append(record)
                size += len(record.whole) * (2 if "record" in columns else 1)
                if len(held) >= options.batch_size or size >= most:
                    yield _batch(source, held, columns)
                    held, size, empty = [], 0, False
        if held or empty:
            yield _batch(source, held, columns)


def lines_of(source: Source, text: TextBytes) -> Iterator[list[bytes]]:
    """Yield the lines of a file in lists, each line with its end; the last one may have none.

    Raises:
        FileFormatError: a line exceeds the size limit of a record.
    """
    rest: list[bytes] = []
    held = offset = 0
    for block in text.blocks(_BLOCK_BYTES):
        border = block.rfind(b"\n") + 1
        if not border:
            rest.append(block)
            held += len(block)
            refuse_large(source, held, offset)
            continue
        yield b"".join([*rest, block[:border]]).splitlines(keepends=True)
        rest, offset = [block[border:]], offset + held + border
        held = len(block) - border
    if last := b"".join(rest):
        yield last.splitlines(keepends=True)


def refuse_large(source: Source, num_bytes: int, offset: int) -> None:
    """Raise if a record that begins at byte `offset` is too large for the memory, where a row is held several times.

    Raises:
        FileFormatError: it exceeds the size limit of a row.
    """
    if num_bytes > MOST_RECORD_BYTES:
        advice = "Split it into several records"
        raise source.fault(
            f"has a record of more than {MOST_RECORD_BYTES >> 20:,} MB", line=line_at(source, offset), advice=advice
        )


def damaged(source: Source, reason: str, offset: int) -> FileFormatError:
    """Return the error for byte `offset` of the text."""
    return source.fault(reason, line=line_at(source, offset), advice="Fix the file, or download it again")


def _batch(source: Source, records: list[Record], columns: Sequence[str]) -> pa.RecordBatch:
    arrays = [_column(source, records, name) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def _column(source: Source, records: list[Record], name: str) -> pa.Array:
    from datasets_core.features.media.media import binary_array, media_array

    if name == "record":
        return media_array([{"bytes": record.whole, "path": None} for record in records])
    if name in ("sequence", "quality"):
        values: list[bytes | None] = [record.sequence if name == "sequence" else record.quality for record in records]
        for record, value in zip(records, values, strict=True):
            if value is not None and (not value.isascii() or b"\0" in value):
                raise damaged(source, f"the {name} of a record has bytes that are not letters", record.offset)
        return binary_array(values).cast(pa.string()).cast(pa.large_string())
    texts = []
    for record in records:
        parts = record.header.split(maxsplit=1)
        part = parts[0] if name == "id" and parts else parts[1] if name == "description" and len(parts) > 1 else b""
        try:
            texts.append(part.rstrip().decode())
        except UnicodeDecodeError as error:
            raise damaged(source, f"the header of a record is not UTF-8: {record.header[:40]!r}", record.offset) from error
    return plain_array(texts, pa.string())


EXTENSIONS: dict[str, dict[str, Any]] = {
    extension: {} for extension in (".fa", ".fasta", ".fna", ".ffn", ".faa", ".frn", ".afa")
}


class Fasta(SequenceBuilder):
    """FASTA files; lines that begin with `;` are comments."""

    is_format = True
    name = "fasta"
    cache_version = "93b047120d2d7b3b9aec8f757e34330a"
    all_columns = ("id", "description", "sequence", "record")

    def records(self, source: Source, text: TextBytes) -> Iterator[Record]:
        """See `SequenceBuilder.records`.

        Raises:
            FileFormatError: content before the first header, or a record that exceeds the size limit.
        """
        held: list[bytes] = []
        offset = begun = 0
        for lines in lines_of(source, text):
            if held:
                refuse_large(source, offset - begun, begun)
            for line in lines:
                if line.startswith(b">"):
                    if held:
                        yield _record(held, begun)
                    held, begun = [line], offset
                elif held:
                    held.append(line)
                elif line.strip() and not line.startswith(b";"):
                    raise damaged(
                        source, f"{line[:40].strip()!r} comes before the first header, which must begin with '>'", offset
                    )
                offset += len(line)
        if held:
            yield _record(held, begun)


def _record(lines: list[bytes], offset: int) -> Record:
    sequence = b"".join([line for line in lines[1:] if not line.startswith(b";")]).translate(None, b" \t\r\n")
    return Record(lines[0][1:].strip(), sequence, b"", b"".join(lines), offset)
