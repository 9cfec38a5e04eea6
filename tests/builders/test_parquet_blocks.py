"""Streamed Parquet files have the rows, the columns and the errors of a build; what is broken is named, with its row."""

import io
import warnings

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from datasets_core.config import using
from datasets_core.errors import DatasetGenerationCastError, DatasetsCoreError, FileChangedError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset

PLAIN = pa.table({"a": [1, 2, 3], "b": ["x", "y", None]})
NESTED = pa.table(
    {
        "s": [{"u": 1, "v": [1, 2]}, None],
        "s.u": [1, 2],
        "l": [[{"k": "x"}], []],
        "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32())),
        "d": pa.array(["a", "b"]).dictionary_encode(),
        "large": pa.array(["x", "y"], pa.large_string()),
        "view": pa.array(["x", None], pa.string_view()),
        "t": pa.array([0, None], pa.timestamp("us", "UTC")),
    }
)
NARROW = PLAIN.cast(pa.schema({"a": pa.int32(), "b": pa.string()}))
FEATURES = Features({"a": Value("string"), "b": ClassLabel(names=["x", "y"]), "c": Value("int8")})


@pytest.fixture
def written(tmp_path):
    def write(*tables, **options):
        paths = []
        for number, table in enumerate(tables):
            paths.append(str(tmp_path / f"{number}.parquet"))
            if isinstance(table, bytes):
                (tmp_path / f"{number}.parquet").write_bytes(table)
            else:
                pq.write_table(table, paths[-1], **options)
        return paths

    return write


def content(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def streamed(paths, **options):
    return load_dataset("parquet", data_files=paths, split="train", streaming=True, **options)


@pytest.mark.parametrize(
    ("tables", "options"),
    [
        ([PLAIN, PLAIN.select(["b", "a"])], {}),
        ([NARROW, PLAIN], {}),
        ([PLAIN, NARROW], {}),
        ([PLAIN, pa.table({"a": [1.5], "b": ["z"]})], {}),
        ([pa.table({"a": [1], "b": pa.nulls(1)}), PLAIN], {}),
        ([PLAIN.slice(0, 0), PLAIN, PLAIN.schema.empty_table()], {}),
        ([NESTED, NESTED], {}),
        ([NESTED], {"columns": ["s.u"]}),
        ([NESTED], {"columns": ["l", "s"]}),
        ([PLAIN, PLAIN.select(["a"])], {"features": FEATURES}),
        ([PLAIN, PLAIN], {"columns": ["b"]}),
        ([PLAIN, PLAIN], {"batch_size": 2}),
        ([PLAIN, PLAIN], {"filters": [("a", ">", 1)]}),
        ([PLAIN, PLAIN], {"filters": [[("a", "=", 1)], [("b", "=", "y")]], "columns": ["b"]}),
        ([PLAIN, PLAIN], {"filters": pc.field("a") == 2, "columns": ["b"]}),
        ([PLAIN, PLAIN], {"filters": pc.field("a") > 1, "features": Features({"a": Value("string"), "b": Value("string")})}),
        ([PLAIN, PLAIN], {"filters": pc.field("a") > 100}),
    ],
    ids=lambda value: None,
)
def test_rows_are_those_of_a_build(tables, options, written, tmp_path):
    paths = written(*tables, row_group_size=2)
    built = load_dataset("parquet", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"), **options)
    stream = streamed(paths, **options)
    assert list(stream) == list(built)
    assert list(stream.features) == list(built.features)


def test_row_groups_that_filters_rule_out_are_not_read(range_server, tmp_path):
    table = pa.table({"a": range(30_000), "b": [f"{n:<60}" for n in range(30_000)]})
    url = range_server.put("a.parquet", content(table, row_group_size=1000))
    with using(cache_dir=str(tmp_path / "c"), downloads_dir=str(tmp_path / "d")):
        assert [row["a"] for row in streamed([url], filters=[("a", "=", 12_345)])] == [12_345]
        assert len(range_server.requests) == 2


def test_features_that_a_file_tells_in_its_metadata_are_kept(written):
    features = Features({"a": ClassLabel(names=["n", "p"])})
    paths = written(pa.table({"a": [0, 1]}).cast(features.arrow_schema))
    assert streamed(paths).features == features


GROUPS = content(
    pa.table({"a": range(1000)}), row_group_size=100, write_page_checksum=True, compression="none", use_dictionary=False
)
BROKEN = {
    "empty": (b"", "is empty"),
    "cut": (GROUPS[:-10], "its end is missing"),
    "half": (GROUPS[: len(GROUPS) // 2], "its end is missing"),
    "text": (b"this is no table\n" * 20, "it does not begin or end like"),
    "page": (b"<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n", "Git LFS"),
    "length": (GROUPS[:-8] + (10**9).to_bytes(4, "little") + GROUPS[-4:], "its footer should have"),
    "encrypted": (b"PARE" + GROUPS[4:-4] + b"PARE", "is encrypted"),
    "marks": (b"PAR1PAR1", "cannot be read as Parquet"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_named_behind_the_rows_before_it(kind, written):
    data, said = BROKEN[kind]
    paths = written(PLAIN, data)
    seen = []
    with pytest.raises(FileFormatError, match=said) as caught:
        seen.extend(row["a"] for row in streamed(paths))
        seen.append(None)
    assert "1.parquet" in str(caught.value)
    rows = iter(streamed(paths))
    assert [next(rows)["a"] for _ in range(3)] == [1, 2, 3]


def test_a_damaged_page_is_named_with_its_row(written):
    data = bytearray(GROUPS)
    data[pq.read_metadata(io.BytesIO(GROUPS)).row_group(3).column(0).data_page_offset + 400] ^= 0xFF
    (path,) = written(bytes(data))
    with pytest.raises(FileFormatError) as caught:
        list(streamed([path]))
    assert str(caught.value.file).endswith("0.parquet")
    assert caught.value.row == 300
    assert len(list(streamed([path]).skip(400))) == 600


def test_bad_files_are_left_out(written, tmp_path):
    paths = written(PLAIN, b"no table" * 9, GROUPS[:-3], PLAIN)
    assert [row["a"] for row in streamed(paths, on_bad_files="skip")] == [1, 2, 3, 1, 2, 3]
    with pytest.warns(UserWarning, match=r"[12]\.parquet"):
        assert len(list(streamed(paths, on_bad_files="warn"))) == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [row["a"] for row in streamed(paths, on_bad_files="skip").skip(4)] == [2, 3]


def test_a_value_that_does_not_fit_is_named_with_its_row(written):
    paths = written(PLAIN, pa.table({"a": ["4", "5", "six"], "b": ["x"] * 3}), row_group_size=1)
    features = Features({"a": Value("int64"), "b": Value("string")})
    with pytest.raises(DatasetGenerationCastError) as caught:
        list(streamed(paths, features=features))
    assert (caught.value.file, caught.value.row, caught.value.column) == (str(paths[1]), 2, "a")


def test_columns_that_do_not_fit_are_told_with_the_file(written):
    paths = written(PLAIN, PLAIN.select(["a"]))
    with pytest.raises(DatasetGenerationCastError) as caught:
        list(streamed(paths))
    assert caught.value.file == str(paths[1])
    with pytest.raises(FileFormatError, match="has no column 'z'"):
        list(streamed(written(PLAIN), columns=["z"]))


def test_options_of_scanners_are_streamed_as_before_and_that_is_said(written, caplog):
    import pyarrow.dataset as ds

    stream = streamed(written(PLAIN), fragment_scan_options=ds.ParquetFragmentScanOptions())
    assert [row["a"] for row in stream] == [1, 2, 3] and "is streamed from its beginning" in caplog.text


def test_a_row_group_larger_than_memory_comes_piece_by_piece(range_server, tmp_path):
    table = pa.table({"a": range(200_000), "b": [f"{n:<50}" for n in range(200_000)]})
    data = content(table, row_group_size=200_000, compression="none", use_dictionary=False)
    url = range_server.put("a.parquet", data)
    with using(cache_dir=str(tmp_path / "c"), downloads_dir=str(tmp_path / "d"), stream_memory_bytes=2_000_000):
        rows = iter(streamed([url]))
        assert next(rows) == {"a": 0, "b": f"{0:<50}"}
        assert range_server.num_bytes < len(data) * 0.8
        assert sum(row["a"] for row in rows) == sum(range(200_000))
        assert range_server.num_bytes < len(data) * 1.1
        assert [row["a"] for row in streamed([url]).skip(150_000).take(3)] == [150_000, 150_001, 150_002]


def test_an_index_that_was_saved_is_dropped_when_the_file_is_another(range_server, tmp_path, caplog):
    names = ["a.parquet", "b.parquet"]
    urls = [
        range_server.put(name, content(pa.table({"a": range(n, n + 50)}), row_group_size=10)) for n, name in enumerate(names)
    ]
    with using(cache_dir=str(tmp_path / "c"), downloads_dir=str(tmp_path / "d")):
        assert len(list(streamed(urls))) == 100
        range_server.reset()
        assert next(iter(streamed(urls).skip(70)))["a"] == 21 and len(range_server.requests) <= 2
        range_server.put(names[0], content(pa.table({"a": range(500, 520)}), row_group_size=7))
        assert [row["a"] for row in streamed(urls)] == [*range(500, 520), *range(1, 51)]
        assert "has changed since its index was saved" in caplog.text
        range_server.put(names[1], content(pa.table({"a": range(900, 920)}), row_group_size=7))
        with pytest.raises(FileChangedError) as caught:
            list(streamed(urls))  # rows of the first file were read
        assert str(caught.value.file).endswith("b.parquet")
        assert [row["a"] for row in streamed(urls)][20:] == list(range(900, 920))


def test_a_shard_that_is_not_there_is_told_behind_the_rows_before_it(range_server, tmp_path):
    urls = [range_server.put(f"{n}.parquet", content(pa.table({"a": range(n * 10, n * 10 + 10)}))) for n in range(3)]
    range_server.fail("1.parquet", "missing", times=None)
    with using(cache_dir=str(tmp_path / "c"), downloads_dir=str(tmp_path / "d")):
        rows = iter(streamed(urls))
        assert [next(rows)["a"] for _ in range(10)] == list(range(10))
        with pytest.raises(DatasetsCoreError) as caught:
            next(rows)
        assert str(caught.value.file).endswith("1.parquet")


def test_urls_with_queries_are_read_in_parts(range_server, tmp_path):
    url = range_server.put("a.parquet", content(PLAIN))
    with using(cache_dir=str(tmp_path / "c"), downloads_dir=str(tmp_path / "d")):
        assert [row["a"] for row in streamed([f"{url}?download=true"])] == [1, 2, 3]
        assert all("range" in str(vars(each)).lower() for each in range_server.requests)
