"""FASTQ: records of four lines or more as rows, and what damages a file named by its line."""

import pytest

from datasets_core.builders import fasta as _sequences
from datasets_core.builders import fastq
from datasets_core.errors import FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.media.types import BioSequence
from datasets_core.features.schema import Features

NAMES = ("id", "description", "sequence", "quality")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"@r1 d e\nACGT\n+\nIIII\n@r2\nAC\n+r2\n!!", [("r1", "d e", "ACGT", "IIII"), ("r2", "", "AC", "!!")]),
        (b"@r1 d\r\nAC\r\nGT\r\n+\r\nII\r\nII\r\n\r\n", [("r1", "d", "ACGT", "IIII")]),
        (b"@r\nAC\n+\n@!\n\n@s\nA\n+\n+\n", [("r", "", "AC", "@!"), ("s", "", "A", "+")]),
        (b"@e\n\n+\n\n@f\nA\n+\nI\n", [("e", "", "", ""), ("f", "", "A", "I")]),
        (b"", []),
    ],
)
def test_records_are_rows(build, content, expected):
    rows = build("fastq", {"a.fq": content}, columns=list(NAMES))
    assert list(rows) == [dict(zip(NAMES, values, strict=True)) for values in expected]


def test_all_columns(build):
    rows = build("fastq", {"a.fastq": b"@r\nA\n+\nI\n"})
    texts = {"id": Value("string"), "description": Value("string")} | dict.fromkeys(NAMES[2:], Value("large_string"))
    assert rows.features == Features(texts | {"record": BioSequence(format="fastq")})
    assert rows.with_format("arrow")[:].to_pylist()[0]["record"] == {"bytes": b"@r\nA\n+\nI\n", "path": None}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"@r\nA\n+\nI\n@s\nACGT\n+\nIII\n", r"line 5: the record 's' has 3 qualities, but 4 letters"),
        (b"@s\nAC\n+\nIIII\n", r"line 1: the record 's' has 4 qualities, but 2 letters"),
        (b"@r d\nACGT\n", r"line 1: the record 'r' has no line '\+'"),
        (b"\nACGT\n", r"line 2: b'ACGT' is not a header, which must begin with '@'"),
    ],
)
def test_damage_is_an_error_with_its_line(build, content, message):
    with pytest.raises(FileFormatError, match=rf"a\.fq, {message}"):
        build("fastq", {"a.fq": content})


@pytest.mark.parametrize("line", [b"A" * 5000, b"A\n" * 2500])
def test_a_record_is_bounded_in_bytes(build, monkeypatch, line):
    for module in (_sequences, fastq):
        monkeypatch.setattr(module, "MOST_RECORD_BYTES", 3000)
    monkeypatch.setattr(_sequences, "_BLOCK_BYTES", 100)
    with pytest.raises(FileFormatError) as caught:
        build("fastq", {"a.fq": b"@a\n" + line})
    assert str(caught.value.file).endswith("a.fq")
    assert caught.value.line == 1


def test_qualities_may_stand_on_very_many_lines(build):
    rows = build("fastq", {"a.fq": b"@a\n" + b"A" * 300_000 + b"\n+\n" + b"I\n" * 300_000}, columns=["quality"])
    assert rows[0] == {"quality": "I" * 300_000}
