"""FASTA: records as rows, and what damages a file named by its line."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.builders import fasta as _sequences
from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.media.types import BioSequence
from datasets_core.features.schema import Features
from datasets_core.resolve.registry import builder_class

RECORDS = st.lists(
    st.tuples(
        st.text("ab|", min_size=1, max_size=3), st.text("xé", max_size=3), st.lists(st.text("ACGT*-", max_size=4), max_size=3)
    )
)


@settings(max_examples=25)
@given(RECORDS, st.integers(1, 20), st.sampled_from(["\n", "\r\n"]))
def test_records_come_back(tmp_path_factory, records, block_bytes, end):
    folder = tmp_path_factory.mktemp("fasta")
    text = "".join(f">{name} {words}{end}" + "".join(f"{line}{end}" for line in lines) for name, words, lines in records)
    (folder / "a.fa").write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sequences, "_BLOCK_BYTES", block_bytes)
        builder = builder_class("fasta")(
            cache_dir=str(folder / "c"),
            data_files=str(folder / "a.fa"),
            columns=["id", "description", "sequence"],
            batch_size=2,
        )
        builder.download_and_prepare()
    rows = builder.as_dataset("train")
    assert list(rows) == [{"id": name, "description": words, "sequence": "".join(lines)} for name, words, lines in records]


def test_all_columns(build):
    content = b";old\n\n>id1 some  desc\r\nAC GT\r\n;no\nA\n>id2\n"
    rows = build("fasta", {"a.fa": gzip.compress(content)})
    texts = {"id": Value("string"), "description": Value("string"), "sequence": Value("large_string")}
    assert rows.features == Features(texts | {"record": BioSequence(format="fasta")})
    assert rows.with_format("arrow")[:].to_pylist() == [
        {
            "id": "id1",
            "description": "some  desc",
            "sequence": "ACGTA",
            "record": {"bytes": b">id1 some  desc\r\nAC GT\r\n;no\nA\n", "path": None},
        },
        {"id": "id2", "description": "", "sequence": "", "record": {"bytes": b">id2\n", "path": None}},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\nACGT\n>a\n", r"line 3: b'ACGT' comes before the first header"),
        (b">a\nAC\n>b\nA\xc3\xa9C\n", r"line 3: the sequence of a record has bytes that are not letters"),
        (b">a \xff\nAC\n", r"line 1: the header of a record is not UTF-8"),
        (b"<!DOCTYPE html><html>", r"is a web page"),
    ],
)
def test_damage_is_an_error_with_its_line(build, content, message):
    with pytest.raises(FileFormatError, match=rf"a\.fa.*{message}"):
        build("fasta", {"a.fa": content})


@pytest.mark.parametrize("options", [{"columns": ["x"]}, {"columns": []}, {"columns": "id"}, {"batch_size": 0}])
def test_options_that_mean_nothing_are_errors(build, options):
    with pytest.raises(ConfigurationError):
        build("fasta", {"a.fa": b">a\nA\n"}, **options)


@pytest.mark.parametrize("line", [b"A" * 300_000, b"A\n" * 150_000, b"ACGT\n>b\n" + b"A" * 300_000])
def test_a_record_is_bounded_in_bytes(build, monkeypatch, line):
    monkeypatch.setattr(_sequences, "MOST_RECORD_BYTES", 100_000)
    monkeypatch.setattr(_sequences, "_BLOCK_BYTES", 100)
    with pytest.raises(FileFormatError, match=r"a\.fa.* has a record of more than .*Split it into several records"):
        build("fasta", {"a.fa": b">a\n" + line})
