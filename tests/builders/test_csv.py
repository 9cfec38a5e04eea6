"""csv: what `pandas.read_csv` means, whole-file types, and one clear error for each kind of damage."""

import gzip
import io
import lzma
import math
import re
import sys
import tarfile
import warnings
import zipfile
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from datasets_core.builders._csv_reader import read_csv
from datasets_core.builders._csv_types import DEFAULT_NULLS, Grammar, WideRecords, fitted, widened
from datasets_core.builders._source import Source
from datasets_core.builders.csv import EXTENSIONS, CsvConfig
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.builders import _csv_reader, _csv_types, _source
from datasets_core.building.hooks import Replay
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationCastError,
    DatasetsCoreError,
    FileFormatError,
    MissingDependencyError,
    UnknownOptionError,
    UnsafeArchiveError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset


def table(path, content, schema=None, **options):
    path.write_bytes(content)
    batches = list(read_csv(Source(str(path), "user.csv"), CsvConfig(**options).form(), schema))
    return pa.Table.from_batches(batches)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "local-copy"


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1", 1, pa.int64()),
        (" 1 ", 1, pa.int64()),
        ('"1"', 1, pa.int64()),
        ("007", 7, pa.int64()),
        ("+5", 5, pa.int64()),
        ("-0", 0, pa.int64()),
        ("9223372036854775808", 2**63, pa.uint64()),
        ("99999999999999999999", "99999999999999999999", pa.string()),
        ("0x10", "0x10", pa.string()),
        ("1_000", "1_000", pa.string()),
        ("1.", 1.0, pa.float64()),
        (".5", 0.5, pa.float64()),
        ("+1.5", 1.5, pa.float64()),
        ("1e5", 100000.0, pa.float64()),
        ("1E+5", 100000.0, pa.float64()),
        ("1e400", math.inf, pa.float64()),
        ("-INF", -math.inf, pa.float64()),
        ("Infinity", math.inf, pa.float64()),
        ("1e", "1e", pa.string()),
        ("--5", "--5", pa.string()),
        ("NAN", "NAN", pa.string()),
        ("TRUE", True, pa.bool_()),
        ("TrUe", True, pa.bool_()),
        (" True", " True", pa.string()),
        (" NA", " NA", pa.string()),
        ("2020-01-01", "2020-01-01", pa.string()),
        ("2020-01-01 10:00:00", "2020-01-01 10:00:00", pa.string()),
        ("12:30", "12:30", pa.string()),
    ],
)
def test_a_value_has_the_type_that_pandas_gives_it(path, text, value, kind):
    found = table(path, f"a,b\n{text},1\nNA,1\n".encode())
    assert (found.column("a").to_pylist(), found.schema.field("a").type) == ([value, None], kind)


@pytest.mark.parametrize("text", [*DEFAULT_NULLS, '""', '"NA"'])
def test_what_pandas_reads_as_null_is_null_in_numbers_and_in_text(path, text):
    found = table(path, f"a,b\n{text},{text}\n1,x\n".encode())
    assert found.to_pylist() == [{"a": None, "b": None}, {"a": 1, "b": "x"}]


@pytest.mark.parametrize(
    ("options", "content", "rows"),
    [
        ({"keep_default_na": False}, b"a,b\nNA,1\n", [{"a": "NA", "b": 1}]),
        ({"keep_default_na": False, "na_values": ["x"]}, b"a,b\nx,NA\n", [{"a": None, "b": "NA"}]),
        ({"na_values": "-"}, b"a,b\n-,1\n", [{"a": None, "b": 1}]),
        ({"na_values": [1]}, b"a,b\n1.0,2\n1,3\n", [{"a": None, "b": 2}, {"a": None, "b": 3}]),
        ({"na_values": -999}, b"a,b\n-999.00,2\n1.5,-999\n", [{"a": None, "b": 2}, {"a": 1.5, "b": None}]),
        ({"na_values": {"a": [1]}}, b"a,b\n1.00,1.00\n2.5,2.5\n", [{"a": None, "b": 1.0}, {"a": 2.5, "b": 2.5}]),
        ({"na_values": {"a": ["1"]}}, b"a,b\n1,1\n", [{"a": None, "b": 1}]),
        ({"na_filter": False}, b"a,b\n,NA\n", [{"a": "", "b": "NA"}]),
        ({"header": None}, b"1,2\n", [{"0": 1, "1": 2}]),
        ({"header": None, "prefix": "c"}, b"1,2\n", [{"c0": 1, "c1": 2}]),
        ({"header": 1}, b"x\n\na,b\n1,2\n", [{"a": 1, "b": 2}]),
        ({"names": ["x", "y"]}, b"1,2\n", [{"x": 1, "y": 2}]),
        ({"column_names": ["x", "y"], "header": 0}, b"a,b\n1,2\n", [{"x": 1, "y": 2}]),
        ({"names": ["x", "y", "z"]}, b"1,2\n", [{"x": 1, "y": 2, "z": None}]),
        ({"names": ["x"]}, b"1,2\n", [{"x": 2, "index": 1}]),
        ({"skiprows": 2}, b"x\ny,z\na,b\n1,2\n", [{"a": 1, "b": 2}]),
        ({"skiprows": [1]}, b"a,b\n1,2\n3,4\n", [{"a": 3, "b": 4}]),
        ({"nrows": 1}, b"a,b\n1,2\n3,4\n", [{"a": 1, "b": 2}]),
        ({"usecols": ["b"]}, b"a,b\n1,2\n", [{"b": 2}]),
        ({"usecols": [1]}, b"a,b\n1,2\n", [{"b": 2}]),
        ({"index_col": 0}, b"a,b\n1,2\n", [{"b": 2, "a": 1}]),
        ({"index_col": False}, b"a,b\n1,2,9\n", [{"a": 1, "b": 2}]),
        ({"sep": "\t"}, b"a\tb\n1\t2\n", [{"a": 1, "b": 2}]),
        ({"delimiter": ";", "decimal": ","}, b"a;b\n1,5;2\n", [{"a": 1.5, "b": 2}]),
        ({"thousands": ","}, b'a,b\n"1,000",x\n2,y\n', [{"a": 1000, "b": "x"}, {"a": 2, "b": "y"}]),
        ({"quotechar": "'"}, b"a,b\n'1,2',x\n", [{"a": "1,2", "b": "x"}]),
        ({"quoting": 3}, b'a,b\n"x,y\n', [{"a": '"x', "b": "y"}]),
        ({"escapechar": "\\"}, b'a,b\nx\\,y,"q\\"r"\n', [{"a": "x,y", "b": 'q"r'}]),
        ({"doublequote": False}, b'a,b\n"x",y\n', [{"a": "x", "b": "y"}]),
        ({"skipinitialspace": True}, b'a, b\n1, "x, y"\n', [{"a": 1, "b": "x, y"}]),
        ({"true_values": ["yes"], "false_values": ["no"]}, b"a,b\nyes,1\nno,2\n", [{"a": True, "b": 1}, {"a": False, "b": 2}]),
        ({"skip_blank_lines": False}, b"a,b\n1,2\n\n", [{"a": 1, "b": 2}, {"a": None, "b": None}]),
        ({"decimal": ","}, b'a,b\n1.5,"1,5"\n', [{"a": "1.5", "b": 1.5}]),
        ({"nrows": 1}, b"a,b\n1,True\nx,y\n", [{"a": 1, "b": True}]),
        ({"nrows": 2, "skiprows": [1]}, b"a,b\n1,2\n\n3,4\n5,6\nx,y\n", [{"a": 3, "b": 4}, {"a": 5, "b": 6}]),
        ({"nrows": 2, "on_bad_lines": "skip"}, b"a,b\n1,2\n1,2,3\n3,4\nx,y\n", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        ({"names": ["x", "y"], "usecols": [0, 2]}, b"1,2,3\n", [{"x": 1, "y": 3}]),
        ({"usecols": ["a"]}, b"a\n1,2\n", [{"a": 1}]),
        ({"na_filter": False}, b"a,b\n1,x,\n", [{"a": 1, "b": "x"}]),
        ({"skipinitialspace": True}, b'a\n" "\n \nx\n', [{"a": " "}, {"a": "x"}]),
        ({"encoding": "latin-1"}, "a,b\né,1\n".encode("latin-1"), [{"a": "é", "b": 1}]),
        ({"encoding": "utf-16"}, "a,b\né,1\n".encode("utf-16"), [{"a": "é", "b": 1}]),
        ({"encoding_errors": "replace"}, b"a,b\n\xff,1\n", [{"a": "\ufffd", "b": 1}]),
    ],
)  # fmt: skip
def test_an_option_does_what_it_does_in_pandas(path, options, content, rows):
    assert table(path, content, **options).to_pylist() == rows


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"\xef\xbb\xbfa,b\n1,2\n", [{"a": 1, "b": 2}]),
        (b"a,a,\n1,2,3\n", [{"a": 1, "a.1": 2, "Unnamed: 2": 3}]),
        (b"a,a.1,a\n1,2,3\n", [{"a": 1, "a.1": 2, "a.2": 3}]),
        (b"\n\na,b\n1,2\n", [{"a": 1, "b": 2}]),
        (b"a,b\n1,2\n\n  \n3,4", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        (b"a\n1\n  \n\n3\n", [{"a": 1}, {"a": 3}]),
        (b"a,b\r1,2\r3,4\r", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        (b"a,b\r\n1,2\r\n", [{"a": 1, "b": 2}]),
        (b'"a\nb",c\n1,"x\n\ny"\n', [{"a\nb": 1, "c": "x\n\ny"}]),
        (b'a,b\n5" pipe,x\n"x"y,2\n', [{"a": '5" pipe', "b": "x"}, {"a": "xy", "b": "2"}]),
        (b"a,b\nx,1,2\ny,3,4\n", [{"a": 1, "b": 2, "index": "x"}, {"a": 3, "b": 4, "index": "y"}]),
        (b"a,b\n1,2,\n3,4,\n", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        (b"a,,Unnamed: 1\n1,2,3\n", [{"a": 1, "Unnamed: 1.1": 2, "Unnamed: 1": 3}]),
        (b"a,b\n\xef\xbb\xbf,1\n", [{"a": "\ufeff", "b": 1}]),
        (b"a,b\n1.5,1\n18446744073709551616,2\n", [{"a": "1.5", "b": 1}, {"a": "18446744073709551616", "b": 2}]),
        (b"a,b\n1,x\nTrue,y\n", [{"a": "1", "b": "x"}, {"a": "True", "b": "y"}]),
        (b"a,b\n-1,1\n9223372036854775808,1\n", [{"a": "-1", "b": 1}, {"a": "9223372036854775808", "b": 1}]),
    ],
)
def test_a_layout_is_read_as_pandas_reads_it(path, content, rows):
    assert table(path, content).to_pylist() == rows


@pytest.mark.parametrize(
    ("content", "line", "cause"),
    [
        (b"a,b\n1,2\n\n1,2,3\n", 4, "has 3 fields where 2 are expected"),
        (b'a,b\n"x\ny",2\n1\n', 4, "has 1 field where 2 are expected"),
        (b"a\n1\n   \n\t\t\n1,2\n", 5, "has 2 fields where 1 is expected"),
        (b'a,b\n1,2\n1,"x\n3,4\n', 3, "never closed"),
        (b"a,b\n1,2\nx,\xff\n", 3, "byte 0xff at offset 10 is not UTF-8"),
        (b"a,b\n1,2\n" + b"1,2\n" * 2000 + b"x,\0\n", 2003, "NUL byte"),
        (b"a,b\n1,x\0\n", None, "NUL bytes"),
        ("a,b\n".encode("utf-16"), None, "UTF-16"),
        (b"\n <!DOCTYPE html><html>", None, "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", None, "Git LFS pointer"),
        (b"PAR1\0\0", None, "a Parquet file"),
        (b"", None, "is empty"),
        (b"\n\n", None, "is empty"),
    ],
)
def test_damage_is_one_error_with_the_users_name_the_line_and_the_cause(path, content, line, cause):
    with pytest.raises(FileFormatError, match=cause) as caught:
        table(path, content)
    assert (caught.value.path, caught.value.line) == ("user.csv", line)


def test_a_cut_gz_is_damage_of_the_file(path):
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:-9])
    with pytest.raises(FileFormatError, match="damaged or truncated"):
        list(read_csv(Source(str(path), "user.csv.gz"), CsvConfig().form(), None))


def test_a_header_alone_gives_no_rows_and_its_columns(path):
    found = table(path, b"a,b\n")
    assert (found.num_rows, found.column_names) == (0, ["a", "b"])


def test_a_field_of_megabytes_and_a_row_of_ten_thousand_fields_are_read(path):
    huge = "x" * 9_000_000
    assert table(path, f'a,b\n1,"{huge}"\n2,y\n'.encode()).column("b").to_pylist() == [huge, "y"]
    wide = ",".join(map(str, range(10_000)))
    assert table(path, f"{wide}\n{wide}\n".encode()).num_columns == 10_000


@pytest.mark.parametrize("options", [{"on_bad_lines": "skip"}, {"error_bad_lines": False, "warn_bad_lines": False}])
def test_rows_of_the_wrong_length_are_left_out_or_filled_when_asked(path, options):
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": None}]
    assert table(path, b"a,b\n1,2\n1,2,3\n3\n", **options).to_pylist() == rows


def test_short_rows_are_filled_and_long_ones_refused_when_asked(path):
    assert table(path, b"a,b\n1,2\n3\n", on_short_lines="fill").to_pylist() == [{"a": 1, "b": 2}, {"a": 3, "b": None}]
    with pytest.raises(FileFormatError) as caught:
        table(path, b"a,b\n1\n1,2,3\n", on_short_lines="fill")
    assert str(caught.value.file).endswith("user.csv")
    assert caught.value.line == 3
    with pytest.raises(FileFormatError, match="on_short_lines='fill'"):
        table(path, b"a,b\n1\n")
    with pytest.raises(ConfigurationError, match="on_short_lines='pad'"):
        CsvConfig(on_short_lines="pad")


def test_rows_of_the_wrong_length_are_told_when_asked(path):
    with pytest.warns(UserWarning, match=r"user.csv, line 3: has 3 fields"):
        table(path, b"a,b\n1,2\n1,2,3\n", on_bad_lines="warn")


# -- types over the whole file -----------------------------------------------------------------------------------------


def read_in_small_blocks(path, content, monkeypatch, block_bytes):
    path.write_bytes(content)
    for module, name in ((_csv_reader, "_BLOCK_BYTES"), (_csv_reader, "_WIDEST_BLOCK_BYTES"), (_source, "_FIRST_BYTES")):
        monkeypatch.setattr(module, name, block_bytes)
    schema = None
    while True:
        try:
            return pa.concat_tables(
                map(lambda batch: pa.Table.from_batches([batch]), read_csv(Source(str(path), "x"), CsvConfig().form(), schema)),  # noqa: C417
                promote_options="permissive",
            )
        except Replay as request:
            assert schema is None or not request.schema.equals(schema)
            schema = request.schema


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["007", "1.5"], [7.0, 1.5]),
        (["007", "x"], ["007", "x"]),
        (["1.50", "x"], ["1.50", "x"]),
        (["True", "1"], ["True", "1"]),
        (["NA", "x"], [None, "x"]),
        (["NA", "1", "NA"], [None, 1, None]),
        (["1", "9223372036854775808"], [1, 2**63]),
        (["-1", "9223372036854775808"], ["-1", "9223372036854775808"]),
        (["9223372036854775808", "-1"], ["9223372036854775808", "-1"]),
        (["18446744073709551616", "1.5"], ["18446744073709551616", "1.5"]),
        (["1.5", "18446744073709551616"], ["1.5", "18446744073709551616"]),
        (["x", "\ufeff"], ["x", "\ufeff"]),
        (["1", "2.5", "x"], ["1", "2.5", "x"]),
    ],
)
def test_types_do_not_depend_on_where_a_block_ends(path, monkeypatch, values, expected):
    content = "".join(["a,b\n", *(f"{value},{'y' * 100}\n" for value in values)]).encode()
    assert read_in_small_blocks(path, content, monkeypatch, 128).column("a").to_pylist() == expected


@pytest.mark.parametrize(
    ("options", "skipped"),
    [({"skiprows": 300}, b"junk,\n" * 300), ({"skiprows": lambda number: number < 300}, b"junk,\n" * 300), ({}, b"\n" * 900)],
)
def test_what_is_left_out_at_the_beginning_may_be_larger_than_a_block(path, monkeypatch, options, skipped):
    for module, name in ((_csv_reader, "_BLOCK_BYTES"), (_csv_reader, "_WIDEST_BLOCK_BYTES"), (_source, "_FIRST_BYTES")):
        monkeypatch.setattr(module, name, 128)
    assert table(path, skipped + b"a,b\n1,2\n", **options).to_pylist() == [{"a": 1, "b": 2}]
    with pytest.raises(FileFormatError, match=f"user.csv, line {skipped.count(10) + 3}: has 1 field"):
        table(path, skipped + b"a,b\n1,2\n3\n", **options)


@given(
    st.lists(st.text(alphabet='xy,é" \r\n', max_size=12), min_size=1, max_size=40),
    st.integers(24, 200),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_blocks_end_between_records_wherever_lines_end(tmp_path_factory, texts, block_bytes, end, is_ended):
    content = (end.join(["t,k", *('"{}",z'.format(text.replace('"', '""')) for text in texts)]) + end * is_ended).encode()
    with pytest.MonkeyPatch.context() as patch:
        found = read_in_small_blocks(tmp_path_factory.mktemp("csv") / "a.csv", content, patch, block_bytes)
    assert found.column("k").to_pylist() == ["z"] * len(texts)
    assert [text or "" for text in found.column("t").to_pylist()] == texts


@pytest.mark.parametrize("content", ['a,b\n1,"{}"\n2,y,3\n', 'a,b\n1,"{}"\n', "a,{}\n1,2\n"])
def test_a_huge_field_is_split_like_a_small_one(path, content):
    huge, small = (
        table(path, content.format(f'x{"y" * size}""\n' if '1,"' in content else "y" * size).encode(), on_bad_lines="skip")
        for size in (200_000, 3)
    )
    shrunk = [[value.replace("y" * 200_000, "yyy") for value in map(str, row.values())] for row in huge.to_pylist()]
    assert shrunk == [list(map(str, row.values())) for row in small.to_pylist()]


CSV_TEXT = st.text(alphabet='ab,é" \r\n', max_size=30)
LAYOUTS = st.sampled_from([{}, {"doublequote": False}, {"skipinitialspace": True}, {"quoting": 3}, {"sep": "é"}])


@given(CSV_TEXT, LAYOUTS)
def test_wide_records_are_those_of_the_csv_module(text, layout):
    form = CsvConfig(**layout).form()
    whole = text.encode()[: max(form.grammar.ends(text.encode()), default=0)].decode()
    theirs, ours = form.split(whole), WideRecords(form, whole)
    assert [(row, ours.line_num) for row in ours] == [(row, theirs.line_num) for row in theirs]


KINDS = st.sampled_from([pa.null(), pa.bool_(), pa.int64(), pa.uint64(), pa.float64(), pa.string()])


@given(KINDS, KINDS)
def test_widening_does_not_depend_on_order(a, b):
    assert widened(a, b) == widened(b, a)


@given(KINDS, KINDS)
def test_a_column_that_fits_has_the_known_type(a, b):
    column = fitted(pa.nulls(3, a), b)
    assert column is None or column.type == b


# -- borders of records ------------------------------------------------------------------------------------------------

FIELD_TEXT = st.text(alphabet='ab ,"\n\r', max_size=6)


def quoted(field):
    return '"' + field.replace('"', '""') + '"'


@given(st.lists(st.lists(FIELD_TEXT, min_size=2, max_size=3), min_size=1, max_size=6), st.integers(0, 80))
def test_a_border_never_lies_inside_quotes(rows, cut):
    records = [(",".join(map(quoted, row)) + "\n").encode() for row in rows]
    data = b"".join(records)[:cut]
    ends = {sum(map(len, records[:number])) for number in range(len(records) + 1)}
    end, _ = Grammar().border(data)
    assert end == max(end for end in ends if end <= len(data))


@given(st.text(alphabet='ab,"\n', max_size=40))
def test_the_quick_search_for_a_border_agrees_with_the_grammar(text):
    data = text.encode()
    assert Grammar().border(data) == Grammar()._walked(data)


def test_a_quote_that_never_closes_stops_long_before_the_file_is_in_memory(path, monkeypatch):
    monkeypatch.setattr(_csv_types, "_MAX_RECORD_BYTES", 1 << 20)
    monkeypatch.setattr(_csv_reader, "_BLOCK_BYTES", 1 << 16)
    with pytest.raises(FileFormatError, match="is not closed within 1 MB") as caught:
        table(path, b'a,b\n1,"' + b"x\n" * (2 << 20))
    assert caught.value.line == 2


# -- options -----------------------------------------------------------------------------------------------------------


def test_tsv_files_are_tab_separated():
    assert EXTENSIONS == {".csv": {}, ".tsv": {"sep": "\t"}, ".tab": {"sep": "\t"}}


@pytest.mark.parametrize(
    "options",
    [
        {"on_bad_lines": "ignore"},
        {"names": ["a", "a"]},
        {"names": "ab"},
        {"header": "first"},
        {"header": -1},
        {"mangle_dupe_cols": False},
        {"sep": ""},
        {"sep": '"'},
        {"quotechar": ""},
        {"escapechar": "ab"},
        {"thousands": "."},
        {"quoting": 9},
        {"nrows": -1},
        {"nrows": "all"},
        {"skiprows": -1},
        {"usecols": "ab"},
    ],
)
def test_options_without_meaning_are_refused(options):
    with pytest.raises(ConfigurationError):
        CsvConfig(**options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("sep", value) for value in (5, [1], b",", True)],
        *[("delimiter", value) for value in (5, [1])],
        *[("skiprows", value) for value in ("x", 1.5, True)],
        *[("memory_map", value) for value in ("x", None, [])],
        *[(name, 5) for name in ("quotechar", "escapechar", "thousands", "decimal", "comment", "encoding", "lineterminator")],
        *[(name, "no") for name in ("skip_blank_lines", "na_filter", "doublequote", "skipinitialspace")],
        *[(name, 5) for name in ("names", "column_names", "usecols")],
        *[("skipfooter", value) for value in (-1, "x", None)],
        *[("chunksize", value) for value in (0, "x")],
    ],
)
def test_an_option_of_another_kind_is_named_with_its_value(name, value):
    with pytest.raises(ConfigurationError, match=re.escape(f"{name}={value!r} is not valid. Pass")):
        CsvConfig(**{name: value})


def test_an_unknown_option_is_named(build):
    with pytest.raises(UnknownOptionError, match="seperator"):
        build("csv", {"a.csv": b"a\n1\n"}, seperator=";")


def test_an_option_of_pandas_alone_names_its_extra_where_pandas_is_missing(build, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"comment='#'.*datasets_core\[pandas\]"):
        build("csv", {"a.csv": b"a,b\n1,2#x\n"}, comment="#")


@pytest.mark.parametrize(
    ("options", "content", "rows"),
    [
        ({"comment": "#"}, b"a,b\n#c\n1,2#x\n", [{"a": 1, "b": 2}]),
        ({"sep": r"\s+"}, b"a b\n007   x\n", [{"a": 7, "b": "x"}]),
        ({"sep": "::"}, b"a::b\n007::x\n", [{"a": 7, "b": "x"}]),
        ({"sep": None}, b"a;b\n007;x\n", [{"a": 7, "b": "x"}]),
        ({"sep": "\u20ac", "comment": "#"}, "a\u20acb\n007\u20acx#\n".encode(), [{"a": 7, "b": "x"}]),
        ({"quotechar": "\u00ab", "comment": "#"}, "a,b\n007,\u00abx,\u00ab\n".encode(), [{"a": 7, "b": "x,"}]),
        ({"on_bad_lines": lambda fields: fields[:2]}, b"a,b\n1,2\n3,4,5\n", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        ({"skipfooter": 1}, b"a,b\n1,2\nend\n", [{"a": 1, "b": 2}]),
        ({"skipfooter": 1, "engine": "python"}, b"a,b\n1,2\nend\n", [{"a": 1, "b": 2}]),
        ({"lineterminator": ";"}, b"a,b;NA,2;", [{"a": None, "b": 2}]),
        ({"converters": {"a": str.upper}}, b"a,b\nx,2\n", [{"a": "X", "b": 2}]),
    ],
)
@pytest.mark.optional("pandas")
def test_options_of_pandas_alone_are_read_by_it(build, options, content, rows):
    pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of pandas, which falls back to another engine
        assert list(build("csv", {"a.csv": content}, **options)) == rows


# -- built -------------------------------------------------------------------------------------------------------------


@pytest.mark.optional("pandas")
@pytest.mark.parametrize(
    ("options", "content", "cause"),
    [
        ({"comment": "#"}, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
        ({"comment": "#"}, b"<!DOCTYPE html><html>", "web page"),
        ({"comment": "#", "index_col": [0, 1]}, b"a\n1\n", "IndexError"),
        ({"converters": {"b": {}.__getitem__}}, b"a,b\n1,x\n", "KeyError: 'x'"),
        (
            {"converters": {"b": lambda text: int(text) if text < "a" else text}, "chunksize": 1},
            b"a,b\n1,1\n2,x\n",
            "returns text for some",
        ),
    ],
)
def test_what_pandas_cannot_read_is_one_error_with_the_file(build, options, content, cause):
    pytest.importorskip("pandas")
    with pytest.raises(FileFormatError, match=cause) as caught:
        build("csv", {"a.csv": content}, **options)
    assert "a.csv" in str(caught.value)


@pytest.mark.optional("pandas")
def test_columns_beside_a_converter_keep_their_types(build):
    pytest.importorskip("pandas")
    rows = build("csv", {"a.csv": b"a,b\n1,x\n,\n007,007\n"}, converters={"b": str.upper}, chunksize=1)
    assert rows[:] == {"a": [1, None, 7], "b": ["X", None, "007"]}


def test_files_of_one_split_share_their_types(build):
    assert list(build("csv", {"a.csv": b"a\n007\n", "b.csv": b"a\nx\n"})) == [{"a": "007"}, {"a": "x"}]


def test_files_of_other_columns_are_refused_by_name(build):
    with pytest.raises(DatasetGenerationCastError, match=r"b\.csv.*new columns \['c'\] and missing columns \['b'\]"):
        build("csv", {"a.csv": b"a,b\n1,2\n", "b.csv": b"a,c\n1,2\n"})


def test_a_value_that_does_not_fit_has_its_file_and_its_row_there(build):
    later = b"a\n" + b"1\n" * 300_000 + b"x\n"
    with pytest.raises(DatasetGenerationCastError) as caught:
        build("csv", {"a.csv": b"a\n7\n", "b.csv": later}, features=Features({"a": Value("int64")}))
    assert (caught.value.column, caught.value.row) == ("a", 300000)
    error = caught.value
    assert (Path(error.file).name, error.row, error.column, error.split) == ("b.csv", 300_000, "a", "train")


def test_features_keep_text_as_it_stands_and_turn_names_into_classes(build):
    features = Features({"b": ClassLabel(names=["neg", "pos"]), "a": Value("string"), "c": Value("float32")})
    found = build("csv", {"a.csv": b"a,b\n007,pos\n"}, features=features)
    assert (found.features, list(found)) == (features, [{"b": 1, "a": "007", "c": None}])


def test_a_column_that_the_features_lack_is_refused(build):
    with pytest.raises(DatasetGenerationCastError, match="b"):
        build("csv", {"a.csv": b"a,b\n1,2\n"}, features=Features({"a": Value("int64")}))


def test_an_empty_file_has_the_features_that_were_given(build):
    found = build("csv", {"a.csv": b""}, features=Features({"a": Value("int64")}))
    assert (len(found), found.features) == (0, Features({"a": Value("int64")}))


def test_a_compressed_file_is_seen_through(build):
    assert list(build("csv", {"a.csv.gz": gzip.compress(b"a\n1\n")})) == [{"a": 1}]


def test_a_gz_that_unpacks_to_far_too_much_is_refused_by_the_users_name(path):
    path.write_bytes(gzip.compress(b"1\n" * 1_000_000) * 60)
    with pytest.raises(UnsafeArchiveError, match=r"user\.csv\.gz: extracts to more than 200 times its size"):
        for _ in read_csv(Source(str(path), "user.csv.gz"), CsvConfig().form(), None):
            pass


def _loaded(path, content, **options):
    path.write_bytes(content)
    return load_dataset("csv", data_files=str(path), split="train", cache_dir=str(path.parent / "cache"), **options)


def test_a_short_second_line_does_not_hide_the_separator(path):
    with pytest.raises(FileFormatError) as caught:
        _loaded(path, b"a;b;c\n1;2\n3;4;5\n")
    assert (caught.value.line, "on_short_lines='fill'" in str(caught.value)) == (2, True)
    assert _loaded(path, b"a;b;c\n1;2\n3;4;5\n", on_short_lines="fill")[:] == {"a": [1, 3], "b": [2, 4], "c": [None, 5]}


def test_types_of_columns_are_given_by_dtype(path):
    found = _loaded(path, b"zip,n,x\n00123,1,2\n01234,2,3\n", dtype={"zip": str, "n": "int8", "x": np.float32})

    assert found[0] == {"zip": "00123", "n": 1, "x": 2.0}
    assert [str(found.features[name]) for name in found.column_names] == [
        "Value('string')",
        "Value('int8')",
        "Value('float32')",
    ]
    assert _loaded(path, b"zip,n\n00123,1\n", dtype=str)[0] == {"zip": "00123", "n": "1"}


def test_dates_are_parsed_in_iso_form_or_in_a_given_one(path):
    moment = datetime(2020, 2, 1)
    assert _loaded(path, b"d,n\n2020-02-01,1\n,2\n", parse_dates=["d"])["d"][:] == [moment, None]
    assert _loaded(path, b"d,n\n1/2/2020,1\n", parse_dates=["d"], date_format="%d/%m/%Y")["d"][:] == [moment]
    streamed = load_dataset(
        "csv", data_files=str(path), parse_dates=["d"], date_format="%d/%m/%Y", streaming=True, split="train"
    )
    assert next(iter(streamed)) == {"d": moment, "n": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parse_dates": ["d"]}, "row 1: column 'd': '1/2/2020' is not an ISO 8601 date. Pass date_format="),
        ({"parse_dates": ["e"]}, "parse_dates names column 'e'"),
        ({"dtype": {"n": "int8"}}, "row 1: column 'n'"),
        ({"dtype": {"m": "int8"}}, "dtype names column 'm'"),
        ({"dtype": "integer"}, "'integer' is not a valid dtype"),
        ({"parse_dates": "d"}, "is not a list of names"),
        ({"parse_dates": [0]}, "parse_dates=[0] is not a list of names"),
    ],
)
def test_a_column_that_does_not_fit_its_type_is_named(path, options, message):
    with pytest.raises(DatasetsCoreError, match=re.escape(message)):
        _loaded(path, b"d,n\n2020-01-01,1\n1/2/2020,1000\n", **options)


def _in_zip(path, names, data):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, data)


def _in_tar(path, names, data):
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


@pytest.mark.parametrize("sep", [";", "\t", "|"])
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.csv.gz", lambda path, data: path.write_bytes(gzip.compress(data))),
        ("a.csv.xz", lambda path, data: path.write_bytes(lzma.compress(data))),
        ("a.csv.zip", lambda path, data: _in_zip(path, ["a.csv"], data)),
        ("a.zip", lambda path, data: _in_zip(path, ["train/a.csv", "test/a.csv"], data)),
        ("a.tar.gz", lambda path, data: _in_tar(path, ["train/a.csv", "test/a.csv"], data)),
    ],
)
def test_the_separator_of_compressed_files_is_found_too(tmp_path, name, write, sep):
    write(tmp_path / name, "".join(f"{row}{sep}x{row}\n" for row in ("a", 1, 2)).encode())
    assert load_dataset(str(tmp_path / name), split="train", cache_dir=str(tmp_path / "cache"))[1] == {"a": 2, "xa": "x2"}


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zip"])
def test_a_damaged_compressed_file_is_an_error_of_its_reader(tmp_path, name):
    good = gzip.compress(b"a;b\n" * 1000)
    (tmp_path / name).write_bytes(good[: len(good) // 2] if name.endswith("gz") else b"PK\x03\x04" + bytes(99))
    with pytest.raises(DatasetsCoreError) as caught:
        load_dataset("csv", data_files=str(tmp_path / name), cache_dir=str(tmp_path / "cache"))
    assert name in str(caught.value)


def test_decimal_commas_are_found_with_the_separator(path):
    assert _loaded(path, b"a;b\n1,5;x\n-2,25;y\n")["a"][:] == [1.5, -2.25]
    assert _loaded(path, b"a;b\n1,500;x\n2,250;y\n")["a"][:] == ["1,500", "2,250"], "may be thousands"
    assert _loaded(path, b"a;b\n1,5;1.5\n")["a"][:] == ["1,5"]
    assert _loaded(path, b"a;b\n1,5;x\n", decimal=".")["a"][:] == ["1,5"]
