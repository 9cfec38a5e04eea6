"""Parquet: columns and filters, features from metadata, and damage found before it becomes rows."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from datasets_core.builders._parquet_blocks import read_parquet
from datasets_core.builders._source import Source
from datasets_core.builders.parquet import EXTENSIONS, ParquetConfig

from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel

TABLE = pa.table(
    {"a": pa.array(range(1000)), "b": pa.array([f"s{i}" for i in range(1000)]), "n": pa.array([[i, None] for i in range(1000)])}
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "local-copy"


def read(path, table=TABLE, *, damage=None, **options):
    pq.write_table(table, path, row_group_size=100, write_page_checksum=True)
    if damage is not None:
        path.write_bytes(damage(path.read_bytes()))
    return pa.Table.from_batches(read_parquet(Source(str(path), "user.parquet"), ParquetConfig(**options)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, TABLE),
        ({"columns": ["n", "a"]}, TABLE.select(["n", "a"])),
        ({"batch_size": 7}, TABLE),
        ({"filters": [("a", "<", 150)]}, TABLE.slice(0, 150)),
        ({"filters": [[("a", "=", 3)], [("b", "=", "s4")]], "columns": ["b"]}, TABLE.slice(3, 2).select(["b"])),
        ({"filters": pc.field("a") >= 998}, TABLE.slice(998)),
        ({"filters": [("a", "<", 0)]}, TABLE.slice(0, 0)),
        ({"fragment_scan_options": ds.ParquetFragmentScanOptions(pre_buffer=True)}, TABLE),
    ],
)
def test_an_option_selects_the_rows_and_columns_that_it_says(path, options, expected):
    assert read(path, **options).equals(expected)


def test_a_batch_has_at_most_the_rows_asked_for(path):
    pq.write_table(TABLE, path)
    batches = list(read_parquet(Source(str(path), "x"), ParquetConfig(batch_size=7)))
    assert max(batch.num_rows for batch in batches) == 7


def test_a_file_without_rows_gives_its_schema(path):
    assert read(path, TABLE.slice(0, 0)).schema == TABLE.schema


def _flipped(content):
    at = content.index(b"s500")
    return content[:at] + b"S" + content[at + 1 :]


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda content: content[:-100], "cannot be read as Parquet"),
        (lambda content: content[: len(content) // 2], "cannot be read as Parquet"),
        (_flipped, "CRC|checksum"),
        (lambda content: b"", "is empty"),
        (lambda content: b"PAR1", "cannot be read as Parquet"),
        (lambda content: b"<!doctype html><p>", "web page"),
        (lambda content: b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (lambda content: b"a,b\n1,2\n", "cannot be read as Parquet"),
        (lambda content: b"\0\1\2\3" * 9, "cannot be read as Parquet"),
    ],
)
def test_damage_is_one_error_with_the_users_name(path, damage, cause):
    table = pa.table({"b": pa.array([f"s{i}" for i in range(1000)])})
    with pytest.raises(FileFormatError, match=cause) as caught:
        pq.write_table(table, path, use_dictionary=False, compression="none", write_page_checksum=True)
        path.write_bytes(damage(path.read_bytes()))
        list(read_parquet(Source(str(path), "user.parquet"), ParquetConfig()))
    assert caught.value.path == "user.parquet"


def test_strings_that_are_not_utf_8_are_damage(path):
    pq.write_table(pa.table({"b": ["good", "evil"]}), path, use_dictionary=False, compression="none", write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"evil", b"ev\xffl"))
    with pytest.raises(FileFormatError, match=r"user\.parquet: cannot be read as Parquet.*UTF"):
        list(read_parquet(Source(str(path), "user.parquet"), ParquetConfig()))


def test_two_columns_of_one_name_are_refused(path):
    with pytest.raises(FileFormatError, match="two of its columns are named 'x'"):
        read(path, pa.Table.from_arrays([pa.array([1])] * 2, ["x", "x"]))


def test_a_column_of_maps_is_a_list_of_keys_and_values(build, tmp_path):
    table = pa.table({"m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))})
    assert build("parquet", {"a.parquet": _bytes(table, tmp_path)})["m"][:] == [[{"key": "k", "value": 1}], None]


def test_a_column_that_is_not_there_is_named(path):
    with pytest.raises(FileFormatError, match=r"no column 'z'.*'a', 'b', 'n'"):
        read(path, columns=["z"])


def _bytes(table, tmp_path):
    pq.write_table(table, tmp_path / "made")
    return (tmp_path / "made").read_bytes()


def test_features_in_the_metadata_are_kept(build, tmp_path):
    features = Features({"a": ClassLabel(names=["x", "y"]), "b": Value("string")})
    table = pa.table({"a": pa.array([0, 1]), "b": pa.array(["s", None])}, schema=features.arrow_schema)
    found = build("parquet", {"a.parquet": _bytes(table, tmp_path)})
    assert (found.features, list(found)) == (features, [{"a": 0, "b": "s"}, {"a": 1, "b": None}])


@pytest.mark.parametrize("mode", ["skip", "warn"])
def test_bad_files_are_left_out_when_asked(build, tmp_path, recwarn, mode):
    good = _bytes(pa.table({"a": pa.array([1])}), tmp_path)
    files = {"a.parquet": good, "b.parquet": good[:-5], "c.parquet": good}
    assert build("parquet", files, on_bad_files=mode)["a"][:] == [1, 1]
    assert ["b.parquet" in str(warning.message) for warning in recwarn] == [True] * (mode == "warn")


def test_bad_files_are_refused_else(build, tmp_path):
    good = _bytes(pa.table({"a": pa.array([1])}), tmp_path)
    with pytest.raises(FileFormatError) as caught:
        build("parquet", {"a.parquet": good, "b.parquet": good[:-5]})
    assert str(caught.value.file).endswith("b.parquet")


def test_features_cast_and_columns_choose_among_them(build, tmp_path):
    content = _bytes(pa.table({"a": pa.array([1]), "b": pa.array([2])}), tmp_path)
    features = Features({"a": Value("float32"), "b": Value("string")})
    found = build("parquet", {"a.parquet": content}, features=features, columns=["a"])
    assert (found.features, list(found)) == (Features({"a": Value("float32")}), [{"a": 1.0}])


@pytest.mark.parametrize(
    "options",
    [
        {"on_bad_files": "drop"},
        {"batch_size": 0},
        {"columns": ["z"], "features": Features({"a": Value("int8")})},
        {"columns": "ab"},
        {"columns": ["a", "a"]},
        {"filters": "a > 1"},
    ],
)
def test_options_without_meaning_are_refused(options):
    with pytest.raises(ConfigurationError):
        ParquetConfig(**options)


def test_geoparquet_is_parquet():
    assert set(EXTENSIONS) == {".parquet", ".geoparquet", ".gpq", ".pq"}
