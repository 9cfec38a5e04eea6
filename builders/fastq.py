"""FASTQ: a header after `@`, a sequence, `+`, and a quality for each letter of it; a record is one row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ._source import Source, TextBytes
from .fasta import MOST_RECORD_BYTES, Record, SequenceBuilder, damaged, lines_of, refuse_large

EXTENSIONS: dict[str, dict[str, Any]] = {".fq": {}, ".fastq": {}}


class Fastq(SequenceBuilder):
    """FASTQ files; sequence and quality may span lines."""

    is_format = True
    name = "fastq"
    cache_version = "a8b1842480141cb95900323f6ebbef16"
    all_columns = ("id", "description", "sequence", "quality", "record")

    def records(self, source: Source, text: TextBytes) -> Iterator[Record]:
        """See `SequenceBuilder.records`.

        Raises:
            FileFormatError: a record lacks its header, its `+` or qualities, has more qualities than letters, or exceeds the
                size limit of a row.
        """
        lines = chain.from_iterable(lines_of(source, text))
        offset = 0
        for header in lines:
            begun = offset
            offset += len(header)
            if not header.strip():
                continue
            if not header.startswith(b"@"):
                raise damaged(source, f"{header[:40].strip()!r} is not a header, which must begin with '@'", begun)
            held, letters, plus, size = [header], [], b"", len(header)
            for line in lines:
                held.append(line)
                size += len(line)
                if size > MOST_RECORD_BYTES:
                    refuse_large(source, size, begun)
                if line.startswith(b"+"):
                    plus = line
                    break
                letters.append(line.strip())
            name = header[1:].split()[:1]
            shown = repr(name[0].decode("utf-8", "replace")) if name else "without a name"
            if not plus:
                raise damaged(source, f"the record {shown} has no line '+': the file is truncated, or not FASTQ", begun)
            sequence, num_qualities = b"".join(letters), 0
            qualities: list[bytes] = []  # joined at the end, since each of many short lines would copy all text before it
            for line in lines if sequence else ():
                held.append(line)
                qualities.append(line.strip())
                num_qualities += len(qualities[-1])
                if num_qualities >= len(sequence):
                    break
            if num_qualities != len(sequence):
                reason = f"the record {shown} has {num_qualities} qualities, but {len(sequence)} letters"
                raise damaged(source, reason, begun)
            whole = b"".join(held)
            offset += len(whole) - len(header)
            yield Record(header[1:].strip(), sequence, b"".join(qualities), whole, begun)
