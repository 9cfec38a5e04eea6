"""From data files to splits: archives, names that errors use, types that files share."""

import gzip
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.config import using
from datasets_core.engines import pool
from datasets_core.errors import ColumnLimitError, ConfigurationError, DataFilesWarning, FileFormatError
from datasets_core.load import load_dataset, load_from_disk
from datasets_core.records.encoding import encode_example
from datasets_core.records.writer import TFRecordWriter
from datasets_core.resolve.registry import builder_class


class Downloads:
    """A download manager that has the files already: URL to path."""

    def __init__(self, paths):
        self.paths = paths

    def download(self, urls):
        return {split: [self.paths[url] for url in names] for split, names in urls.items()}


def zipped(files):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def tarred(files, mode="w"):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return sink.getvalue()


INSIDE = {"d/a.csv": b"a\n1\n", "d/b.csv": b"a\n2\n"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.zip", zipped(INSIDE)),
        ("x.tar", tarred(INSIDE)),
        ("x.tar.gz", tarred(INSIDE, "w:gz")),
        ("no-extension", zipped(INSIDE)),
    ],
)
def test_the_members_of_an_archive_are_files_of_the_split(build, name, content):
    assert build("csv", {name: content, "z.csv": b"a\n3\n"})["a"][:] == [1, 2, 3]


@pytest.mark.parametrize("kind", ["csv", "json", "text"])
def test_parts_that_arrow_reads_need_no_processes(tmp_path, monkeypatch, kind):
    lines = {"csv": ["a", "1"], "json": ['{"a": 1}'], "text": ["1"]}[kind]
    for name in "xyz":
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = [str(tmp_path / name) for name in "xyz"]
    with using(job_bytes=1):
        one = load_dataset(kind, data_files=files, split="train", cache_dir=str(tmp_path / "one"))
        monkeypatch.setattr(pool, "call_in_process", None)  # would raise
        two = load_dataset(kind, data_files=files, split="train", cache_dir=str(tmp_path / "two"), num_proc=2)
    assert [rows.num_rows for rows in (one, two)] == [3, 3]
    digests = [[Path(file["filename"]).read_bytes() for file in rows.cache_files] for rows in (one, two)]
    assert digests[0] == digests[1] and len(digests[0]) == 3


LITTER = {
    "LICENSE": b"MIT, or so\nx, y, z\n",
    "README.md": b"# Title\n",
    ".DS_Store": b"\0\0\0\1Bud1",
    "__MACOSX/d/._a.csv": b"\0\5\x16\7",
    "d/.hidden.csv": b"q\n1\n",
}


@pytest.mark.parametrize("pack", [zipped, lambda files: tarred(files, "w:gz")], ids=["zip", "tar.gz"])
@pytest.mark.parametrize("data", [INSIDE, {"a.CSV": b"a\n1\n", "b.csv.gz": gzip.compress(b"a\n2\n")}, {"a.data": b"a\n1\n2\n"}])
def test_what_comes_along_in_an_archive_is_no_data(build, pack, data):
    assert build("csv", {"x.zip" if pack is zipped else "x.tar.gz": pack(LITTER | data)})["a"][:] == [1, 2]


def test_members_of_another_format_are_left_out_with_a_warning(build):
    with pytest.warns(DataFilesWarning, match=r"x\.zip has files in formats other than csv: 'c\.txt'"):
        assert build("csv", {"x.zip": zipped({**INSIDE, "c.txt": b"b\n"})})["a"][:] == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("x.zip", zipped({}), "is an archive without data files"),
        ("x.zip", zipped({".DS_Store": b"\0"}), "is an archive without data files"),
        ("x.zip", b"PK", "is not a valid zip archive"),
        ("x.tar", b"a\n1\n", "is not a valid tar archive"),
    ],
)
def test_an_archive_without_data_is_refused(build, name, content, cause):
    with pytest.raises(FileFormatError, match=rf"{name}: {cause}"):
        build("csv", {name: content})


def test_an_error_inside_an_archive_names_member_and_archive(build):
    with pytest.raises(FileFormatError, match=r"bad\.csv in .*x\.zip, line 3: has 1 field where 2"):
        build("csv", {"x.zip": zipped({"bad.csv": b"a,b\n1,2\n1\n", "good.csv": b"a,b\n1,2\n"})})


def test_a_parquet_file_in_an_archive_or_compressed_is_unpacked(build):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, pa.schema({"a": pa.int64()})) as writer:
        writer.write_batch(pa.record_batch([pa.array([1])], ["a"]))
    files = {"a.zip": zipped({"a.arrow": sink.getvalue()}), "b.arrow.gz": gzip.compress(sink.getvalue())}
    assert build("arrow", files)["a"][:] == [1, 1]


def test_errors_name_the_url_and_not_the_place_in_the_cache(tmp_path):
    (tmp_path / "0badcafe").write_bytes(b"a,b\n1,2,3\n1\n")
    url = "https://example.org/data/train.csv"
    builder = builder_class("csv")(cache_dir=os.fspath(tmp_path / "cache"))
    builder.config.data_files = {"train": [url]}
    (split,) = builder._split_generators(Downloads({url: os.fspath(tmp_path / "0badcafe")}))
    with pytest.raises(FileFormatError) as caught:
        list(builder._generate_tables(**split.gen_kwargs))
    assert caught.value.path == url


def test_a_builder_without_files_asks_for_them(tmp_path):
    builder = builder_class("csv")(cache_dir=os.fspath(tmp_path))
    with pytest.raises(ConfigurationError, match="data_files="):
        builder._split_generators(Downloads({}))


@pytest.mark.parametrize(
    ("format_name", "a", "b", "expected"),
    [
        ("csv", pa.int64(), pa.float64(), pa.float64()),
        ("csv", pa.int64(), pa.string(), pa.string()),
        ("csv", pa.bool_(), pa.int64(), pa.string()),
        ("json", pa.int64(), pa.float64(), pa.float64()),
        ("json", pa.int64(), pa.string(), pa.json_(pa.string())),
        ("json", pa.timestamp("s"), pa.string(), pa.string()),
        ("json", pa.struct({"x": pa.int64()}), pa.struct({"x": pa.string()}), pa.struct({"x": pa.json_(pa.string())})),
        ("parquet", pa.int8(), pa.int64(), pa.int64()),
        ("parquet", pa.int64(), pa.string(), None),
    ],
)
def test_files_of_two_types_are_read_in_the_type_that_holds_both(tmp_path, format_name, a, b, expected):
    builder = builder_class(format_name)(cache_dir=os.fspath(tmp_path))
    assert (builder.join_types(a, b), builder.join_types(b, a)) == (expected, expected)


NAMES = [f"c{number}" for number in range(1_002)]
FEATURES = {name: {"dtype": "int64", "_type": "Value"} for name in NAMES}


def arrow(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def example():
    sink = io.BytesIO()
    with TFRecordWriter(sink) as writer:
        writer.write(encode_example({name: [1] for name in NAMES}))
    return sink.getvalue()


def croissant():
    source = {"fileObject": {"@id": "f"}, "extract": {"column": "a"}}
    fields = [{"@type": "cr:Field", "@id": f"r/{name}", "dataType": "sc:Text", "source": source} for name in NAMES]
    return {
        "@context": {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"},
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": [{"@type": "cr:FileObject", "@id": "f", "contentUrl": "a.csv", "encodingFormat": "text/csv"}],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "r", "field": fields}],
    }


ROW = dict.fromkeys(NAMES, 1)
CARD = "---\ndataset_info:\n  features:\n" + "".join(f"  - name: {name}\n    dtype: int64\n" for name in NAMES) + "---\n"
STATE = {"_data_files": [{"filename": "a.arrow"}], "_fingerprint": "f", "_format_columns": None, "_format_type": None}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"a.csv": ",".join(NAMES) + "\n" + ",".join("1" * 1_002) + "\n"}, "a.csv"),
        ({"a.jsonl": json.dumps(ROW)}, "a.jsonl"),
        ({"a.jsonl": json.dumps({"deep": [ROW]})}, "a.jsonl"),
        ({"a.jsonl": "\n".join(json.dumps({name: 1}) for name in NAMES)}, "a.jsonl"),
        ({"a.jsonl": "\n".join(json.dumps({name: 1, "x": ["a", 1][len(name) % 2]}) for name in NAMES)}, "a.jsonl"),
        ({"a.arrow": arrow(pa.table({"deep": [ROW]}))}, "a.arrow"),
        ({"a.parquet": parquet(pa.table({"deep": [[ROW]]}))}, "a.parquet"),
        ({"a.tar": tarred({f"row.{name}": b"1" for name in NAMES})}, "a.tar"),
        ({"a.tfrecord": example()}, "a.tfrecord"),
        ({"a.csv": "a\n1\n", "README.md": CARD}, "README.md"),
        ({"a.csv": "a\n1\n", "dataset_infos.json": json.dumps({"default": {"features": FEATURES}})}, "dataset_infos.json"),
        ({"a.csv": "a\n1\n", "croissant.json": json.dumps(croissant())}, "croissant.json"),
        ({"a.arrow": arrow(pa.table({"deep": [ROW]})), "state.json": json.dumps(STATE), "dataset_info.json": "{}"}, "a.arrow"),
        (
            {
                "a.arrow": arrow(pa.table({"a": [1]})),
                "state.json": json.dumps(STATE),
                "dataset_info.json": json.dumps({"features": FEATURES}),
            },
            "dataset_info.json",
        ),
    ],
)
def test_more_columns_than_the_limit_are_one_error_at_every_door(tmp_path, files, named):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with using(max_columns=1_000), pytest.raises(ColumnLimitError) as caught:
        if "state.json" in files:
            load_from_disk(tmp_path)
        elif "croissant.json" in files:
            load_dataset("croissant", data_files=str(tmp_path / "croissant.json"), cache_dir=str(tmp_path / "cache"))
        else:
            load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
    assert caught.value.file.endswith(named)
    assert caught.value.value > caught.value.limit == 1_000


@pytest.mark.parametrize("is_stream", [False, True])
def test_objects_of_a_few_bytes_that_each_have_a_key_of_their_own_make_no_table_of_gigabytes(tmp_path, is_stream):
    (tmp_path / "a.jsonl").write_text("".join(f'{{"k{number}":1}}\n' for number in range(30_000)))
    with pytest.raises(FileFormatError) as caught:
        next(iter(load_dataset("json", data_files=str(tmp_path / "a.jsonl"), split="train", streaming=is_stream)))
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "a.jsonl"), 1)
    assert "30,000 different keys" in str(caught.value)
