"""ORC, Avro, workbooks, numpy arrays and SQLite files give the rows that other libraries wrote."""

from __future__ import annotations

import datetime
import sqlite3
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, orc, parquet

from datasets_core import Array2D, Array3D, Features, Value, config, load_dataset
from datasets_core.errors import ArchiveError, ConfigurationError, DataFilesWarning, FileFormatError
from datasets_core.resolve import registry

TABLE = pa.table({"a": [1, None, 3], "b": ["x", "y", "z"]})
ROWS = TABLE.to_pylist()


def _columns(path: Path, **options: Any) -> Any:
    return load_dataset(str(path), split="train", **options)[:]


def _read(path: Path, **options: Any) -> list[dict[str, Any]]:
    dataset = load_dataset(str(path), split="train", **options)
    stream = load_dataset(str(path), split="train", streaming=True, **options)
    rows = list(dataset)
    assert list(stream) == rows
    return rows


def test_an_orc_file_is_read_stripe_by_stripe(tmp_path: Path) -> None:
    orc.write_table(TABLE, tmp_path / "t.orc")
    assert _read(tmp_path / "t.orc") == ROWS
    orc.write_table(TABLE.slice(0, 0), tmp_path / "empty.orc")
    assert load_dataset(str(tmp_path / "empty.orc"), split="train").features == Features(
        {"a": Value("int64"), "b": Value("string")}
    )


def test_other_names_of_known_formats_are_known(tmp_path: Path) -> None:
    feather.write_feather(TABLE, tmp_path / "t.feather")
    parquet.write_table(TABLE, tmp_path / "t.pq")
    (tmp_path / "t.jsonlines").write_text('{"a": 1, "b": "x"}\n{"a": null, "b": "y"}\n{"a": 3, "b": "z"}\n')
    (tmp_path / "t.tab").write_text("a\tb\n1\tx\n\ty\n3\tz\n")
    for name in ("t.feather", "t.pq", "t.jsonlines", "t.tab"):
        assert _read(tmp_path / name) == ROWS
    (tmp_path / "g.geojson").write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "Point", '
        '"coordinates": [1, 2.5]}, "properties": {"name": "A"}}]}'
    )
    (row,) = _read(tmp_path / "g.geojson")
    assert row["properties"] == {"name": "A"} and row["geometry"]["coordinates"] == [1.0, 2.5]


def test_arrays_of_numpy_are_columns(tmp_path: Path) -> None:
    matrix = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    np.save(tmp_path / "m.npy", matrix)
    found = load_dataset(str(tmp_path / "m.npy"), split="train")
    assert found.features == Features({"array": Array2D((3, 2), "float32")}) and found[3]["array"] == matrix[3].tolist()
    assert load_dataset("numpy", data_files=str(tmp_path / "m.npy"), split="train", column="x").column_names == ["x"]
    np.savez(
        tmp_path / "a.npz",
        x=matrix[None].repeat(2, 0),
        y=np.array(["u", "v"]),
        t=np.array(["2024-01-02", "2024-01-03"], "M8[s]"),
    )
    rows = _read(tmp_path / "a.npz")
    assert [row["y"] for row in rows] == ["u", "v"] and rows[1]["t"] == datetime.datetime(2024, 1, 3)
    assert load_dataset(str(tmp_path / "a.npz"), split="train").features["x"] == Array3D((4, 3, 2), "float32")
    np.save(tmp_path / "s.npy", np.array([(1, 2.5)], [("i", "i4"), ("f", "f8")]))
    assert _read(tmp_path / "s.npy") == [{"i": 1, "f": 2.5}]
    np.savez_compressed(tmp_path / "c.npz", x=np.arange(3))
    assert [row["x"] for row in _read(tmp_path / "c.npz")] == [0, 1, 2]


def test_a_structured_array_beside_others_is_a_struct_with_texts(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", s=np.array([(1, "ä"), (2, "")], [("i", "i4"), ("t", "U3")]), y=np.array([7, 8]))
    assert _read(tmp_path / "s.npz") == [{"s": {"i": 1, "t": "ä"}, "y": 7}, {"s": {"i": 2, "t": ""}, "y": 8}]


@pytest.mark.parametrize("write", [lambda path, array: np.save(path, array), lambda path, array: np.savez(path, o=array)])
def test_arrays_of_python_objects_are_refused_as_what_they_are(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "o.npy"
    with path.open("wb") as file:
        write(file, np.array([{"a": 1}], object))
    with pytest.raises(FileFormatError, match=r"pickle, which is not loaded because it can run any code\. .*astype\(str\)"):
        load_dataset(str(path))


def test_feather_of_version_1_is_read_by_its_name(tmp_path: Path) -> None:
    if int(pa.__version__.partition(".")[0]) >= 25:
        with pytest.warns(DeprecationWarning):
            feather.write_feather(TABLE, tmp_path / "t.feather", version=1)
    else:
        feather.write_feather(TABLE, tmp_path / "t.feather", version=1)
    assert _read(tmp_path / "t.feather") == ROWS
    assert list(load_dataset("pandas", data_files=str(tmp_path / "t.feather"), split="train")) == ROWS
    (tmp_path / "t.feather").write_bytes((tmp_path / "t.feather").read_bytes()[:-40])
    with pytest.raises(FileFormatError, match="Feather of version 1"):
        load_dataset(str(tmp_path / "t.feather"))


def test_arrays_that_are_no_rows_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(3), y=np.arange(4))
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], object), allow_pickle=True)
    np.save(tmp_path / "z.npy", np.int64(3))
    (tmp_path / "t.npy").write_bytes(b"\x93NUMPY")
    (tmp_path / "w.npy").write_bytes(b"something else")
    np.savez(tmp_path / "single.npz", rows=np.arange(3), alpha=np.float64(1))
    np.savez(tmp_path / "none.npz")
    for name in ("a.npz", "o.npy", "z.npy", "t.npy", "w.npy", "single.npz", "none.npz"):
        with pytest.raises(FileFormatError) as caught:
            load_dataset(str(tmp_path / name))
        assert name in str(caught.value.file)
        assert ("'alpha'" in str(caught.value)) == (name == "single.npz")


def test_a_zip_of_arrays_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "c.npz", x=np.zeros(1 << 16))
    with config.using(max_archive_bytes=1 << 16), pytest.raises(ArchiveError):
        load_dataset(str(tmp_path / "c.npz"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("create table sold (a int, b text)")
    connection.executemany("insert into sold values (?, ?)", [(1, "x"), (None, "y"), (3, "z")])
    connection.commit()
    connection.close()
    return path


def test_the_table_of_an_sqlite_file_is_read_by_the_name_of_the_file(database: Path) -> None:
    assert _read(database) == ROWS
    assert _read(database, columns=["b"]) == [{"b": row["b"]} for row in ROWS]
    connection = sqlite3.connect(database)
    connection.execute('create view "large ones" as select * from sold where a > 1')
    connection.commit()
    connection.close()
    with pytest.raises(ConfigurationError, match="'large ones', 'sold'"):
        load_dataset(str(database))
    assert _read(database, table="large ones") == ROWS[2:]
    with pytest.raises(ConfigurationError):
        load_dataset(str(database), table="x")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0 something of Windows")
    with pytest.raises(FileFormatError):
        load_dataset(str(tmp_path / "Thumbs.db"))


@pytest.mark.optional("fastavro")
def test_an_avro_file_is_read(tmp_path: Path) -> None:
    fastavro = pytest.importorskip("fastavro")
    fields = [{"name": "a", "type": ["null", "long"]}, {"name": "b", "type": "string"}]
    schema = {"type": "record", "name": "row", "fields": fields}
    for name, rows in (("t", ROWS), ("empty", [])):
        with open(tmp_path / f"{name}.avro", "wb") as handle:
            fastavro.writer(handle, schema, rows, codec="deflate")
    assert _read(tmp_path / "t.avro") == ROWS
    assert load_dataset(str(tmp_path / "empty.avro"), split="train").column_names == ["a", "b"]


@pytest.mark.optional("python_calamine")
def test_a_sheet_of_a_workbook_is_read(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    day = datetime.datetime(2024, 1, 2, 3, 4)
    for row in (["n", "t", "d", 2024, None], [1, "x", day, 0.5, True], [None, 7, None, 2, None], [3, "z", day, 4, False]):
        sheet.append(row)
    book.create_sheet("other").append(["only"])
    book.save(tmp_path / "b.xlsx")
    assert _read(tmp_path / "b.xlsx") == [
        {"n": 1, "t": "x", "d": day, "2024": 0.5, "Unnamed: 4": True},
        {"n": None, "t": "7", "d": None, "2024": 2.0, "Unnamed: 4": None},
        {"n": 3, "t": "z", "d": day, "2024": 4.0, "Unnamed: 4": False},
    ]
    assert load_dataset(str(tmp_path / "b.xlsx"), split="train", sheet_name="other").num_rows == 0
    assert load_dataset(str(tmp_path / "b.xlsx"), split="train", sheet_name=-1, header=None)[:] == {"0": ["only"]}
    with pytest.raises(ConfigurationError, match="'Sheet', 'other'"):
        load_dataset(str(tmp_path / "b.xlsx"), sheet_name="none")
    for options in ({"sheet_name": None}, {"sheet_name": ["other"]}, {"header": "a"}, {"header": -1}):
        with pytest.raises(ConfigurationError) as caught:
            load_dataset(str(tmp_path / "b.xlsx"), **options)
        assert caught.value.value == next(iter(options.values()))


# Archives by their name.


def _zip(path: Path, members: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)


def test_an_archive_is_read_by_its_name_with_its_splits(tmp_path: Path) -> None:
    _zip(tmp_path / "x.zip", {"data.csv": "a,b\n1,2\n", "README.md": "text"})
    assert _read(tmp_path / "x.zip") == [{"a": 1, "b": 2}]
    members = {"train/1.csv": "a\n1\n", "train/2.csv": "a\n2\n", "test/1.csv": "a\n3\n", "__MACOSX/test/._1.csv": "x"}
    _zip(tmp_path / "splits.zip", members)
    splits = load_dataset(str(tmp_path / "splits.zip"))
    assert {split: rows["a"][:] for split, rows in splits.items()} == {"train": [1, 2], "test": [3]}
    assert [row["a"] for row in load_dataset(str(tmp_path / "splits.zip"), split="test", streaming=True)] == [3]


# Separators of csv files.


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_the_separator_of_a_csv_file_without_commas_in_its_header_is_found(
    tmp_path: Path, sep: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.csv").write_text(f'a{sep}b\n1,5{sep}"x{sep}y"\n2{sep}z\n')
    assert _columns(tmp_path / "a.csv", decimal=".")["a"] == ["1,5", "2"]
    assert repr(sep) in caplog.text
    assert _columns(tmp_path / "a.csv") == {"a": [1.5, 2.0], "b": [f"x{sep}y", "z"]}
    builds = load_dataset(str(tmp_path / "a.csv"), split="train", sep=",", on_short_lines="fill")
    assert builds.column_names[0] == f"a{sep}b"


@pytest.mark.parametrize(
    "text", ["a;b\n1\n2\n", "a,b;c\n1,2;3\n", "text\none; two\n", "a;b|c\n1;2|3\n", "a;b\n", '"a;b"\n"1;2"\n']
)
def test_lines_that_do_not_agree_on_a_separator_are_separated_by_commas(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    found = load_dataset("csv", data_files=str(tmp_path / "a.csv"), split="train")
    assert found.column_names == text.splitlines()[0].replace('"', "").split(",")


def _zipped(path: Path, members: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)


@pytest.mark.parametrize("form", ["csv", "json", "text", "parquet"])
def test_a_workbook_is_no_archive_of_other_files(form: str, tmp_path: Path) -> None:
    _zipped(tmp_path / "t.xlsx", {"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>"})
    _zipped(tmp_path / "t.ods", {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"})
    for name in ("t.xlsx", "t.ods"):
        with pytest.raises(FileFormatError, match=rf"is a workbook, not {form}. Load it with load_dataset\('excel'"):
            load_dataset(form, data_files=str(tmp_path / name))


@pytest.mark.parametrize(
    ("head", "what"), [(b"ORC", "an ORC file"), (b"Obj\x01", "an Avro file"), (b"\x93NUMPY", "a numpy array")]
)
def test_other_tables_are_no_csv(head: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(head + bytes(80))
    with pytest.raises(FileFormatError, match=f"is {what}, not csv"):
        load_dataset("csv", data_files=str(tmp_path / "t.csv"))


def _tar(path: Path, mode: str) -> None:
    with tarfile.open(path, mode) as packed:
        for number, split in enumerate(("train", "test")):
            file = path.parent / "a.csv"
            file.write_text(f"a\n{number}\n")
            packed.add(file, f"data/{split}/a.csv")


@pytest.mark.parametrize(("name", "mode"), [("x.tar", "w"), ("x.tar.gz", "w:gz")])
def test_a_tar_has_the_splits_of_its_folders(name: str, mode: str, tmp_path: Path) -> None:
    _tar(tmp_path / name, mode)
    found = load_dataset(str(tmp_path / name))
    assert {name: dataset["a"][:] for name, dataset in found.items()} == {"train": [0], "test": [1]}


def test_a_tar_that_is_read_as_one_split_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_MOST_BYTES", 1)
    _tar(tmp_path / "x.tgz", "w:gz")
    _tar(tmp_path / "x.tar", "w")
    for name in ("x.tgz", "x.tar"):
        with pytest.warns(DataFilesWarning, match="is read as one split, though its files are named as several: train, test"):
            assert load_dataset(str(tmp_path / name))["train"].num_rows == 2
