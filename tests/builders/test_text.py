"""Text: what Python's text files call lines, as a column, and one clear error for each kind of damage."""

import io

import pytest
from datasets_core.builders._source import Source
from datasets_core.builders.text import EXTENSIONS, TextConfig, read_text
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features

TEXT = st.text(alphabet="aé \n\r", max_size=30)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "local-copy"


def rows(path, content, **options):
    path.write_bytes(content)
    return [
        row["text"] for batch in read_text(Source(str(path), "user.txt"), TextConfig(**options)) for row in batch.to_pylist()
    ]


def lines_of_python(content, keep):
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read().split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1])
    return lines if keep else [line.removesuffix("\n") for line in lines]


@given(TEXT, st.booleans(), st.integers(1, 9))
def test_lines_are_those_of_a_python_text_file(tmp_path_factory, text, keep, block_bytes):
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    found = rows(path, text.encode(), keep_linebreaks=keep, chunksize=block_bytes)
    assert found == lines_of_python(text.encode(), keep)


@given(TEXT, st.integers(1, 9))
def test_paragraphs_are_what_stands_between_empty_lines(tmp_path_factory, text, block_bytes):
    path = tmp_path_factory.getbasetemp() / "paragraphs.txt"
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = [piece for piece in plain.split("\n\n") if piece]
    assert rows(path, text.encode(), sample_by="paragraph", chunksize=block_bytes) == expected


@pytest.mark.parametrize(
    ("options", "content", "expected"),
    [
        ({"sample_by": "document"}, b"a\r\n\r\nb\n", ["a\n\nb\n"]),
        ({"sample_by": "document"}, b"", [""]),
        ({"encoding": "latin-1"}, "é\n".encode("latin-1"), ["é"]),
        ({"encoding": "utf-16"}, "é\nb".encode("utf-16"), ["é", "b"]),
        ({"encoding_errors": "replace"}, b"\xff\n", ["\ufffd"]),
        ({}, b"\xef\xbb\xbfa\n", ["a"]),
        ({}, b"", []),
        ({}, b"<html>\n", ["<html>"]),
        ({}, "a\x85b\u2028c\x0bd\n".encode(), ["a\x85b\u2028c\x0bd"]),
    ],
)
def test_an_option_does_what_it_says(path, options, content, expected):
    assert rows(path, content, **options) == expected


@pytest.mark.parametrize(
    ("content", "line", "cause"),
    [
        (b"a\n" * 5000 + b"x\xffy\n", 5001, "byte 0xff at offset 10,001 is not UTF-8"),
        (b"a\n\xc3", 2, "not UTF-8"),
        (b"a\xc3\n\xa9", 1, "not UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", None, "Git LFS pointer"),
        ("a\n".encode("utf-16"), None, "UTF-16"),
        (b"a\0b", None, "NUL bytes"),
        (b"%PDF-1.7", None, "a PDF file"),
    ],
)
def test_damage_is_one_error_with_the_users_name_the_line_and_the_cause(path, content, line, cause):
    with pytest.raises(FileFormatError, match=cause) as caught:
        rows(path, content, chunksize=64)
    assert (caught.value.path, caught.value.line) == ("user.txt", line)


def test_the_column_takes_the_name_of_the_feature(build):
    found = build("text", {"a.txt": b"x\ny\n", "b.txt": b"z"}, features=Features({"line": Value("string")}))
    assert list(found) == [{"line": "x"}, {"line": "y"}, {"line": "z"}]


def test_an_empty_file_gives_no_rows_and_the_column(build):
    found = build("text", {"a.txt": b""})
    assert (len(found), found.features) == (0, Features({"text": Value("string")}))


def test_options_without_meaning_are_refused():
    with pytest.raises(ConfigurationError, match="sample_by='word'"):
        TextConfig(sample_by="word")
    assert set(EXTENSIONS) == {".txt"}
