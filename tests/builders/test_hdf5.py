"""HDF5: datasets as columns and groups as structs, and nothing outside the file."""

import pickle
import sys
import types

import numpy as np
import pytest

from datasets_core.config import using
from datasets_core.errors import ConfigurationError, FileFormatError, MissingDependencyError, UnsafeArchiveError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Array3D
from datasets_core.load import load_dataset

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.optional("h5py")


@pytest.fixture
def load(tmp_path):
    def loaded(write, **options):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            write(file)
        return load_dataset(str(tmp_path / "a.h5"), split="train", cache_dir=str(tmp_path / "cache"), **options)

    return loaded


def lists(file, name, values, dtype):
    made = file.create_dataset(name, (len(values),), dtype=h5py.vlen_dtype(dtype))
    for number, value in enumerate(values):
        made[number] = value


COLUMNS = {
    "int8": (np.array([1, -1, 0], "i1"), Value("int8"), [1, -1, 0]),
    "big endian": (np.array([1, 2, 3], ">i4"), Value("int32"), [1, 2, 3]),
    "half": (np.array([0.5, 1, 2], "f2"), Value("float16"), [0.5, 1, 2]),
    "bool": (np.array([True, False, True]), Value("bool"), [True, False, True]),
    "bytes": (np.array([b"ab", b"c", b""]), Value("binary"), [b"ab", b"c", b""]),
    "text": (["é", "b", ""], Value("string"), ["é", "b", ""]),
    "vector": (np.arange(6).reshape(3, 2), List(Value("int64"), length=2), [[0, 1], [2, 3], [4, 5]]),
    "empty vectors": (np.zeros((3, 0)), List(Value("float64")), [[], [], []]),
    "matrix": (np.arange(6.0).reshape(3, 2, 1), Array2D((2, 1), "float64"), [[[0], [1]], [[2], [3]], [[4], [5]]]),
    "cube": (np.zeros((3, 1, 1, 2), "u1"), Array3D((1, 1, 2), "uint8"), [[[[0, 0]]]] * 3),
    "complex": (
        np.array([1 + 2j, 2, 3]),
        {"real": Value("float64"), "imag": Value("float64")},
        [{"real": 1, "imag": 2}, {"real": 2, "imag": 0}, {"real": 3, "imag": 0}],
    ),
    "compound": (
        np.array([(1, 2.0), (3, 4.0), (5, 6.0)], [("p", "i4"), ("q", "f8")]),
        {"p": Value("int32"), "q": Value("float64")},
        [{"p": 1, "q": 2}, {"p": 3, "q": 4}, {"p": 5, "q": 6}],
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("batch_size", [None, 2])
def test_datasets_are_columns(load, name, batch_size):
    values, feature, expected = COLUMNS[name]
    rows = load(lambda file: file.create_dataset("a", data=values), batch_size=batch_size)
    assert (rows.features, list(rows)) == (Features({"a": feature}), [{"a": value} for value in expected])


def test_groups_are_structs_and_lists_have_any_length(load):
    def write(file):
        file["g/x"] = np.arange(3)
        file["g/h/y"] = ["a", "b", "c"]
        file.create_group("nothing")
        lists(file, "l", [[1, 2], [], [3]], np.int32)

    rows = load(write)
    inner = {"h": {"y": Value("string")}, "x": Value("int64")}
    assert rows.features == Features({"g": inner, "l": List(Value("int32"))})
    assert list(rows)[1] == {"g": {"h": {"y": "b"}, "x": 1}, "l": []}


def test_no_rows_are_no_rows(load):
    rows = load(lambda file: file.create_dataset("a", data=np.zeros((0, 2))))
    assert (len(rows), rows.features) == (0, Features({"a": List(Value("float64"), length=2)}))


def lengths(file):
    file["a"], file["b"] = np.arange(3), np.arange(4)


def link(file):
    file["a"] = np.arange(3)
    file["b"] = h5py.ExternalLink("other.h5", "/x")


def circle(file):
    file["g/a"] = np.arange(3)
    file["g/g"] = file["g"]


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lengths, r"has 4 rows in 'b', but 3 in 'a'"),
        (lambda file: file.create_dataset("a", data=5), r"has a single value at 'a'"),
        (lambda file: file.create_group("g"), r"has no dataset"),
        (link, r"has a link to another file at 'b', which is not followed"),
        (circle, r"nests groups more than 32 levels deep, or in a cycle"),
        (
            lambda file: file.create_dataset("a", (9,), "u1", external=[("/etc/passwd", 0, 9)]),
            r"stores the values of 'a' in another file, which is not opened",
        ),
        (lambda file: file.create_dataset("a", data=np.zeros(3, "V4")), r"has values of type .*V4.* in 'a'"),
        (lambda file: file.create_dataset("a", (2,), h5py.ref_dtype), r"has values of type object in 'a'"),
    ],
)
def test_what_makes_no_rows_is_an_error(load, write, message):
    with pytest.raises(FileFormatError, match=rf"a\.h5: {message}"):
        load(write)


def test_a_dataset_that_is_mostly_fill_is_a_bomb(load):
    with using(max_archive_bytes=1_000_000), pytest.raises(UnsafeArchiveError, match="extracts to more than"):
        load(lambda file: file.create_dataset("a", (10**12,), "u1", chunks=(1000,), compression="gzip"))


def test_a_damaged_file_is_an_error(tmp_path):
    for content in (b"\x89HDF\r\n\x1a\n" + b"\0" * 50, b"a,b\n", pickle.dumps(1)):
        (tmp_path / "b.h5").write_bytes(content)
        with pytest.raises(FileFormatError, match=r"b\.h5: cannot be read as HDF5"):
            load_dataset(str(tmp_path / "b.h5"), cache_dir=str(tmp_path / "cache"))


def test_a_batch_size_of_nothing_is_an_error(load):
    with pytest.raises(ConfigurationError, match="batch_size=0 is not a valid count"):
        load(lambda file: file.create_dataset("a", data=[1]), batch_size=0)


def test_a_filter_that_is_not_there_names_the_package_that_has_it(tmp_path, monkeypatch) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk((10,))
        made.set_filter(40_000, h5py.h5z.FLAG_OPTIONAL)  # of nobody
        h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT64, h5py.h5s.create_simple((10,)), made)
    monkeypatch.setitem(sys.modules, "hdf5plugin", None)
    with pytest.raises(MissingDependencyError, match="hdf5plugin"):
        load_dataset(str(tmp_path / "a.h5"))
    monkeypatch.setitem(sys.modules, "hdf5plugin", types.ModuleType("hdf5plugin"))
    with pytest.raises(FileFormatError, match=r"filter 40000 .* for 'x', which hdf5plugin does not have"):
        load_dataset(str(tmp_path / "a.h5"))
