"""FASTA: a header after `>` and the lines of a sequence; a record is one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._sequences import Record, SequenceBuilder, damaged, lines_of, refuse_large
from ._source import Source, TextBytes

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
            FileFormatError: content before the first header, or a record larger than a row may be.
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
                        source, f"{line[:40].strip()!r} stands before the first header, which begins with '>'", offset
                    )
                offset += len(line)
        if held:
            yield _record(held, begun)


def _record(lines: list[bytes], offset: int) -> Record:
    sequence = b"".join([line for line in lines[1:] if not line.startswith(b";")]).translate(None, b" \t\r\n")
    return Record(lines[0][1:].strip(), sequence, b"", b"".join(lines), offset)
