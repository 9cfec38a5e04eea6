"""WebDataset: adjacent members are rows, decoded by their extensions, never unpickled; damage is named by its member."""

import io
import os
import pickle
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.config import using
from datasets_core.errors import DatasetGenerationCastError, FileFormatError, UnsafeArchiveError
from datasets_core.features.base import List, Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image, Video
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset

KEYS = {"__key__": Value("string"), "__url__": Value("string")}


def tarred(*members, mode="w"):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode=mode) as archive:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


def npy(array, **options):
    sink = io.BytesIO()
    np.save(sink, array, **options)
    return sink.getvalue()


@pytest.fixture
def load(tmp_path):
    def loaded(*shards, **options):
        names = []
        for number, shard in enumerate(shards):
            path = tmp_path / f"shard-{number}.tar"
            path.write_bytes(shard)
            names.append(os.fspath(path))
        return load_dataset("webdataset", data_files=names, split="train", cache_dir=os.fspath(tmp_path / "cache"), **options)

    return loaded


def stored(rows):
    return [{key: value for key, value in row.items() if key != "__url__"} for row in rows.with_format("arrow")[:].to_pylist()]


def test_adjacent_members_of_one_name_are_a_row(load, tmp_path):
    rows = load(
        tarred(("x/a.png", b"A"), ("x/a.cls", b"3"), ("x/a.seg.json", b'{"n": [1]}'), ("x/b.png", b"B"), ("x/b.cls", b" 4\n"))
    )
    assert rows.features == Features({"png": Image(), "cls": Value("int64"), "seg.json": {"n": List(Value("int64"))}} | KEYS)
    assert stored(rows) == [
        {"png": {"bytes": b"A", "path": "x/a.png"}, "cls": 3, "seg.json": {"n": [1]}, "__key__": "x/a"},
        {"png": {"bytes": b"B", "path": "x/b.png"}, "cls": 4, "seg.json": None, "__key__": "x/b"},
    ]
    assert rows["__url__"][0] == os.fspath(tmp_path / "shard-0.tar")


@pytest.mark.parametrize(
    ("field", "content", "feature", "value"),
    [
        ("txt", "é".encode(), Value("string"), "é"),
        ("json", b'{"a": 1}', {"a": Value("int64")}, {"a": 1}),
        ("index", b"7", Value("int64"), 7),
        ("npy", npy(np.arange(4, dtype=np.uint8).reshape(2, 2)), List(List(Value("uint8"))), [[0, 1], [2, 3]]),
        ("npy", npy(np.asfortranarray([[1.5, 2], [3, 4]])), List(List(Value("float64"))), [[1.5, 2], [3, 4]]),
        ("wav", b"RIFF", Audio(), {"bytes": b"RIFF", "path": "a.wav"}),
        ("mp4", b"x", Video(), {"bytes": b"x", "path": "a.mp4"}),
        ("html", b"<p>", Value("binary"), b"<p>"),
        ("pkl", pickle.dumps([1]), Value("binary"), pickle.dumps([1])),
        ("pth", b"x", Value("binary"), b"x"),
    ],
)
def test_members_are_decoded_by_their_extension(load, field, content, feature, value):
    rows = load(tarred((f"a.{field}", content)))
    assert (rows.features[field], stored(rows)[0][field]) == (feature, value)


@pytest.mark.parametrize(
    ("field", "content", "message"),
    [
        ("cls", b"x", r"shard-0\.tar: contains 'a\.cls', which cannot be read as integer"),
        ("json", b"{", r"contains 'a\.json', which cannot be read as JSON"),
        ("txt", b"\xff", r"contains 'a\.txt', which cannot be read as UTF-8 text"),
        (
            "npy",
            npy(np.array([None]), allow_pickle=True),
            r"cannot be read as numpy array \(it contains pickled objects, which are not loaded",
        ),
        ("npy", npy(np.arange(9))[:-8], r"64 bytes follow a header that declares 72"),
    ],
)
def test_members_that_are_not_what_they_are_named_are_errors(load, field, content, message):
    with pytest.raises(FileFormatError, match=message):
        load(tarred((f"a.{field}", content)))


def test_a_row_at_two_places_and_a_field_twice_are_errors(load):
    with pytest.raises(FileFormatError, match=r"has the row 'a' in two places"):
        load(tarred(("a.png", b""), ("b.png", b""), ("a.txt", b"")))
    with pytest.raises(FileFormatError, match=r"contains 'a\.png' twice"):
        load(tarred(("a.png", b""), ("a.png", b"")))


def test_columns_of_all_shards_join_and_images_stay_images(load):
    rows = load(tarred(("a.png", b"A")), tarred(("b.txt", b"t"), ("b.png", b"B")))
    assert rows.features == Features({"png": Image(), **KEYS, "txt": Value("string")})
    assert [(row["png"]["bytes"], row["txt"]) for row in stored(rows)] == [(b"A", None), (b"B", "t")]


def test_types_that_do_not_fit_are_errors(load):
    with pytest.raises((DatasetGenerationCastError, FileFormatError), match="json"):
        load(tarred(("a.json", b'{"x": 1}'), ("b.json", b'{"x": "s"}')))


def test_features_are_what_is_asked_for(load):
    features = Features({"cls": Value("int8"), **KEYS})
    assert load(tarred(("a.cls", b"3")), features=features).features == features


def test_hidden_members_folders_and_names_without_extension_are_no_fields(load):
    rows = load(tarred((".DS_Store", b""), ("._a.png", b""), ("README", b""), ("a.png", b"A")))
    assert [row["__key__"] for row in stored(rows)] == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (tarred(("a.png", b"x" * 2000))[:1500], "damaged or truncated"),
        (b"no tar at all", "not a zip or tar archive"),
        (tarred(), "holds no rows"),
    ],
)
def test_what_is_no_whole_tar_is_an_error(load, content, message):
    with pytest.raises(FileFormatError, match=message):
        load(content)


def test_a_bomb_is_refused(load):
    content = tarred(("a.bin", b"\0" * 300_000), mode="w:gz")
    with using(max_archive_bytes=100_000), pytest.raises(UnsafeArchiveError, match="extracts to more than"):
        load(content)


@settings(max_examples=25)
@given(st.lists(st.dictionaries(st.sampled_from(["txt", "bin", "x.txt"]), st.text("ab", max_size=3), min_size=1), min_size=1))
def test_any_rows_come_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    members = [(f"{number}.{name}", value.encode()) for number, row in enumerate(rows) for name, value in row.items()]
    (folder / "s.tar").write_bytes(tarred(*members))
    found = load_dataset(
        "webdataset", data_files=os.fspath(folder / "s.tar"), split="train", cache_dir=os.fspath(folder / "cache")
    )
    expected = [{name: value.encode() if name == "bin" else value for name, value in row.items()} for row in rows]
    plain = [{name: value for name, value in row.items() if not name.startswith("__") and value is not None} for row in found]
    assert plain == expected


@pytest.mark.filterwarnings("ignore::datasets_core.errors.DataFilesWarning")
@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["1.jpg", "1.json", "2.jpg", "2.json"], {"jpg", "json", "__key__", "__url__"}),
        (["1.jpg", "2.jpg"], {"jpg", "__key__", "__url__"}),
        (["cat/1.jpg", "dog/2.jpg"], {"image", "label"}),
        (["a.jsonl"], {"x"}),
    ],
)
def test_a_folder_of_tars_is_what_the_members_tell(tmp_path, names, columns):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.tar").write_bytes(tarred(*((name, b'{"x": 1}\n') for name in names)))
    found = load_dataset(os.fspath(tmp_path / "data"), split="train", cache_dir=os.fspath(tmp_path / "cache"))
    assert set(found.column_names) == columns


def test_the_order_of_the_columns_does_not_depend_on_the_number_of_rows(load):
    one = [("a.cls", b"1"), ("a.txt", b"x")]
    assert load(tarred(*one)).column_names == ["cls", "txt", "__key__", "__url__"]
    assert load(tarred(*one, ("b.cls", b"2"), ("b.txt", b"y"))).column_names == ["cls", "txt", "__key__", "__url__"]
