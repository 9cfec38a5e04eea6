"""The places up to which a text is read: the same ones wherever the reading was begun."""

import bz2
import gzip
import lzma
import os
from functools import partial
from types import SimpleNamespace

import pytest
from datasets_core.builders._source import Grid, Source, line_at, text_reader
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.builders import _source
from datasets_core.building.marks import Mark, TextFile
from datasets_core.errors import FileChangedError, FileFormatError
from datasets_core.load import load_dataset


def places(grid: Grid, count: int) -> list[int]:
    found = []
    for _ in range(count):
        found.append(grid.to)
        grid.advance()
    return found


def test_reading_on_from_a_mark_goes_on_to_the_same_places() -> None:
    text = SimpleNamespace(at=0)
    whole = places(Grid.of(text, None, first_bytes=1 << 20), 6)  # type: ignore[arg-type]
    assert whole == [(1 << 20) + number * Grid.STEP_BYTES for number in range(6)]
    for number in range(1, 6):
        mark = Mark(whole[number] - 1000, whole[number], None, TextFile())
        assert places(Grid.of(text, mark), 6 - number) == whole[number:]  # type: ignore[arg-type]


def test_a_mark_at_the_beginning_begins_anew() -> None:
    grid = Grid.of(SimpleNamespace(at=0), Mark(0, 7, None, TextFile()), first_bytes=5 << 20)  # type: ignore[arg-type]
    assert grid.to == 5 << 20


def test_what_holds_no_end_of_a_row_is_read_on_in_growing_steps() -> None:
    grid = Grid(100, 100)
    grid.advance(100)
    assert grid.to == 300
    grid.advance(300)
    assert grid.to == 700


# One data file as bytes: decompressed, decoded, and refused by name where it is something else.


def read(path, content, size=5, **options):
    path.write_bytes(content)
    with text_reader(Source(str(path), "user.csv"), "csv", **options) as text:
        return b"".join(text.blocks(size))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compressed_text_is_read_by_its_magic_number(tmp_path, compress):
    content = "é,ü\n".encode() * 30_000
    assert read(tmp_path / "x", compress(content)) == content


@given(st.text(max_size=30), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]), st.integers(1, 7))
def test_text_comes_as_utf_8_without_its_mark(tmp_path_factory, text, encoding, size):
    text = text.replace("\0", "").lstrip("\ufeff")
    found = read(tmp_path_factory.getbasetemp() / "encoded", text.encode(encoding), size, encoding=encoding)
    assert found == text.encode()


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"encoding": "utf-17"}, "'utf-17' is unknown"),
        ({"encoding": "base64"}, "'base64' is not a text encoding"),
        ({"encoding": "latin-1", "errors": "nonsense"}, "encoding_errors='nonsense' is unknown"),
        ({"encoding": "utf-16"}, "line 1: byte offset 4 is not utf-16"),
    ],
)
def test_an_encoding_that_does_not_fit_is_named(tmp_path, options, cause):
    with pytest.raises(FileFormatError, match=cause):
        read(tmp_path / "x", b"\xff\xfea\0b", **options)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "shift_jis"])
def test_the_line_of_a_wrong_byte_does_not_depend_on_the_blocks(tmp_path, monkeypatch, encoding, size):
    monkeypatch.setattr(_source, "_FIRST_BYTES", 4)
    wrong = b"\xff" if encoding == "shift_jis" else "\ud800".encode(encoding, "surrogatepass") + "x".encode(encoding)
    right = "日\nb\n日".encode(encoding)
    with pytest.raises(FileFormatError, match=f"line 3: byte offset {len(right)} is"):
        read(tmp_path / "x", right + wrong + b"\0\n" * 9, size, encoding=encoding)


@pytest.mark.parametrize("what", list(_source._BINARY))
def test_a_known_binary_format_is_named(tmp_path, what):
    with pytest.raises(FileFormatError, match=_source._BINARY[what]):
        read(tmp_path / "x", what + b"\0" * 20)


@pytest.mark.parametrize(
    ("text", "offset", "line"),
    [(b"a\nb\nc", 0, 1), (b"a\nb\nc", 2, 2), (b"a\nb\nc", 4, 3), (b"a\rb\rc", 4, 3), (b"a\r\nb", 3, 2)],
)
def test_a_place_is_told_as_a_line(tmp_path, text, offset, line):
    (tmp_path / "x").write_bytes(text)
    assert line_at(Source(str(tmp_path / "x"), "x"), offset) == line


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "txt", "jsonl.gz"])
@pytest.mark.parametrize("change", ["rewritten", "cut", "longer"])
def test_a_local_file_that_changes_while_it_is_read_is_told(tmp_path, suffix, change):
    path = tmp_path / f"x.{suffix}"
    rows = [b'{"a":%d}\n' % row for row in range(1_000_000, 1_200_000)]
    old = b"a,b\n" + b"1234567,1\n" * 200_000 if suffix == "csv" else b"".join(rows)
    pack = partial(gzip.compress, compresslevel=0, mtime=0) if suffix.endswith("gz") else bytes
    path.write_bytes(pack(old))
    name = {"jsonl": "json", "jsonl.gz": "json", "csv": "csv", "txt": "text"}[suffix]
    walk = iter(load_dataset(name, data_files=str(path), split="train", streaming=True))
    first = next(walk)
    new = {"rewritten": old[:100] + old[100:].replace(b"1", b"2"), "cut": old[: len(old) // 2], "longer": old + old[-20:]}[
        change
    ]
    os.utime(path, ns=(1, 1))
    path.write_bytes(pack(new))
    with pytest.raises(FileChangedError, match="x"):
        for row in walk:
            assert type(row) is type(first)
