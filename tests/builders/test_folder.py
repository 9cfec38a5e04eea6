"""Folders of media: labels, metadata and splits as Hugging Face has them, and no file outside the folder."""

import io
import json
import os
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.config import using
from datasets_core.errors import ConfigurationError, DataFilesWarning, FileFormatError, UntrustedPathError
from datasets_core.features.base import List, Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.media.types import Image, Mesh, Nifti, Pdf, Video
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset

# Files that are left out are the matter of tests of their own.
pytestmark = pytest.mark.filterwarnings("ignore::datasets_core.errors.DataFilesWarning")

A, B, C = b"\x89PNG a", b"\x89PNG b", b"\x89PNG c"


@pytest.fixture
def load(tmp_path):
    """Write files, load the folder, and give the rows of each split as they are stored, with paths below the folder."""

    def loaded(files, name=None, *, as_stored=True, **options):
        folder = tmp_path / "data"
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        where = {"data_dir": os.fspath(folder)} if name else {}
        found = load_dataset(name or os.fspath(folder), cache_dir=os.fspath(tmp_path / "cache"), **where, **options)
        if not as_stored:
            return found
        return {split: below(rows.with_format("arrow")[:].to_pylist(), f"{folder}/") for split, rows in found.items()}

    return loaded


def below(value, folder):
    """The value with the paths in it relative to a folder, if they lie there."""
    if isinstance(value, list):
        return [below(each, folder) for each in value]
    if isinstance(value, dict):
        return {name: below(each, folder) for name, each in value.items()}
    return value.removeprefix(folder) if isinstance(value, str) else value


def picture():
    """A PNG of two pixels."""
    buffer = io.BytesIO()
    pytest.importorskip("PIL.Image").new("RGB", (2, 1)).save(buffer, "PNG")
    return buffer.getvalue()


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def image(data, path):
    return {"bytes": data, "path": path}


def zipped(files):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def tarred(files):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


# -- labels


def test_folders_are_labels_in_the_order_of_their_names(load, tmp_path):
    found = load({"dog/a.png": A, "cat/b.png": B, "LICENSE": "x"}, as_stored=False)["train"]
    assert found.features == Features({"image": Image(), "label": ClassLabel(names=["cat", "dog"])})
    assert found.with_format("arrow")[:].to_pylist() == [
        {"image": image(B, f"{tmp_path}/data/cat/b.png"), "label": 0},
        {"image": image(A, f"{tmp_path}/data/dog/a.png"), "label": 1},
    ]


@pytest.mark.parametrize("streaming", [False, True])
def test_an_image_names_the_file_that_it_comes_from(load, tmp_path, streaming):
    rows = load({"a.png": picture()}, "imagefolder", as_stored=False, streaming=streaming)["train"]
    path = os.fspath(tmp_path / "data" / "a.png")
    assert next(iter(rows))["image"].filename == path
    assert next(iter(rows.cast_column("image", Image(decode=False))))["image"]["path"] == path


def test_an_image_that_is_edited_in_place_keeps_its_edits(load):
    rows = load({"a.png": picture()}, "imagefolder", as_stored=False)["train"]

    def edited(row):
        row["image"].putpixel((0, 0), (9, 8, 7))
        return row

    assert rows.map(edited)[0]["image"].getpixel((0, 0)) == (9, 8, 7)


@pytest.mark.parametrize(
    ("files", "options", "labels"),
    [
        (["a.png", "b.png"], {}, None),
        (["dog/a.png"], {}, None),
        (["dog/a.png"], {"drop_labels": False}, ["dog"]),
        (["dog/a.png", "cat/b.png"], {"drop_labels": True}, None),
        (["dog/a.png", "cat/x/b.png"], {}, None),
        (["train/a.png", "test/b.png"], {}, None),
        (["train/a.png", "test/b.png"], {"drop_labels": False}, ["test", "train"]),
        (["train/dog/a.png", "train/cat/a.png", "test/dog/b.png"], {}, ["cat", "dog"]),
    ],
)
def test_labels_are_inferred_by_the_rule(load, files, options, labels):
    found = load(dict.fromkeys(files, A), "imagefolder", as_stored=False, **options)
    wanted = Features({"image": Image()} | ({"label": ClassLabel(names=labels)} if labels else {}))
    assert {split: rows.features for split, rows in found.items()} == dict.fromkeys(found, wanted)
    for rows in found.values():
        for row in rows.with_format("arrow")[:].to_pylist():
            assert not labels or row["image"]["path"].split("/")[-2:][0] in (labels[row["label"]], row["image"]["path"])


def test_labels_keep_the_order_of_the_features_asked_for(load):
    features = Features({"image": Image(), "label": ClassLabel(names=["dog", "cat"])})
    rows = load({"dog/a.png": A, "cat/b.png": B}, "imagefolder", features=features)["train"]
    assert [row["label"] for row in rows] == [1, 0]


@settings(max_examples=15)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.integers(1, 3), min_size=2, max_size=4))
def test_every_file_is_a_row_with_the_label_of_its_folder(tmp_path_factory, classes):
    folder = tmp_path_factory.mktemp("classes")
    for name, count in classes.items():
        (folder / f"c-{name}").mkdir()
        for number in range(count):
            (folder / f"c-{name}" / f"{number}.png").write_bytes(f"{name}{number}".encode())
    found = load_dataset("imagefolder", data_dir=os.fspath(folder), cache_dir=os.fspath(folder / ".cache"), split="train")
    names = found.features["label"].names
    rows = [(row["image"]["bytes"].decode(), names[row["label"]]) for row in found.with_format("arrow")[:].to_pylist()]
    assert rows == [(f"{name}{number}", f"c-{name}") for name in sorted(classes) for number in range(classes[name])]


# -- metadata


@pytest.mark.parametrize("name", ["metadata.csv", "metadata.jsonl", "metadata.parquet"])
def test_metadata_tell_the_rows(load, tmp_path, name):
    rows = [{"file_name": "b.png", "text": "B"}, {"file_name": "x/a.png", "text": "A"}]
    if name.endswith("parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        content = sink.getvalue()
    else:
        content = jsonl(*rows) if name.endswith("jsonl") else "file_name,text\nb.png,B\nx/a.png,A\n"
    found = load({"x/a.png": A, "b.png": B, name: content}, as_stored=False)["train"]
    assert found.features == Features({"image": Image(), "text": Value("string")})
    assert below(found.with_format("arrow")[:].to_pylist(), f"{tmp_path}/data/") == [
        {"image": image(B, "b.png"), "text": "B"},
        {"image": image(A, "x/a.png"), "text": "A"},
    ]


@pytest.mark.parametrize(
    ("row", "feature", "value"),
    [
        ({"mask_file_name": "a.png"}, {"mask": Image()}, {"mask": image(A, "a.png")}),
        ({"file_names": ["a.png", "b.png"]}, {"images": List(Image())}, {"images": [image(A, "a.png"), image(B, "b.png")]}),
        ({"frame_file_names": ["a.png"]}, {"frame": List(Image())}, {"frame": [image(A, "a.png")]}),
        (
            {"views": [{"file_name": "b.png", "n": 1}]},
            {"views": List({"image": Image(), "n": Value("int64")})},
            {"views": [{"image": image(B, "b.png"), "n": 1}]},
        ),
    ],
)
def test_several_files_make_one_row(load, tmp_path, row, feature, value):
    found = load({"a.png": A, "b.png": B, "metadata.jsonl": jsonl(row | {"file_name": "a.png"})}, as_stored=False)["train"]
    assert found.features == Features(feature | {"image": Image()})
    stored = below(found.with_format("arrow")[:].to_pylist(), f"{tmp_path}/data/")
    assert stored == [value | {"image": image(A, "a.png")}]


def test_a_null_name_is_a_row_without_a_file(load):
    rows = load({"a.png": A, "metadata.jsonl": jsonl({"file_name": "a.png"}, {"file_name": None})})["train"]
    assert rows == [{"image": image(A, "a.png")}, {"image": None}]


def test_names_that_look_like_numbers_are_names(load):
    rows = load({"001.png": A, "b.png": B, "metadata.csv": "file_name,n\n001.png,7\n"} | {"001": C}, drop_labels=True)
    assert rows["train"][0]["n"] == 7


def test_metadata_may_name_a_file_without_extension(load):
    rows = load({"007": A, "b.png": B, "metadata.csv": "file_name\n007\n"})["train"]
    assert rows == [{"image": image(A, "007")}]


def test_metadata_of_nested_folders_join(load):
    files = {"a.png": A, "x/b.png": B, "metadata.csv": "file_name,t\na.png,A\n", "x/metadata.csv": "file_name,n\nb.png,1\n"}
    assert load(files)["train"] == [
        {"image": image(A, "a.png"), "t": "A", "n": None},
        {"image": image(B, "x/b.png"), "t": None, "n": 1},
    ]


def test_metadata_above_the_splits_serve_all_of_them(load):
    files = {"train/a.png": A, "test/b.png": B, "metadata.csv": "file_name,t\ntrain/a.png,A\ntest/b.png,B\n"}
    rows = load(files)
    assert {split: [row["t"] for row in found] for split, found in rows.items()} == {"train": ["A"], "test": ["B"]}


def test_labels_stand_beside_metadata_when_asked_for(load):
    files = {"dog/a.png": A, "cat/b.png": B, "metadata.csv": "file_name,n\ndog/a.png,1\ncat/b.png,2\n"}
    assert [list(row) for row in load(files)["train"]] == [["image", "n"]] * 2
    rows = load(files, "imagefolder", drop_labels=False)["train"]
    assert [(row["n"], row["label"]) for row in rows] == [(1, 1), (2, 0)]


def test_metadata_can_be_dropped_renamed_and_filtered(load):
    files = {"a.png": A, "b.png": B, "metadata.csv": "file_name,n\nb.png,1\na.png,2\n"}
    assert load(files, "imagefolder", drop_metadata=True)["train"] == [
        {"image": image(A, "a.png")},
        {"image": image(B, "b.png")},
    ]
    assert [row["n"] for row in load(files, "imagefolder", filters=[("n", ">", 1)])["train"]] == [2]


def test_metadata_have_the_name_that_is_asked_for(load):
    files = {"a.png": A, "captions.jsonl": jsonl({"file_name": "a.png", "t": "A"})}
    assert load(files, "imagefolder", metadata_filenames=["captions.jsonl"])["train"] == [
        {"image": image(A, "a.png"), "t": "A"}
    ]


def test_files_without_metadata_are_left_out_by_name(load):
    with pytest.warns(DataFilesWarning, match=r"have no row in the metadata: '.*a\.png'"):
        rows = load({"a.png": A, "b.png": B, "metadata.csv": "file_name\nb.png\n"})["train"]
    assert rows == [{"image": image(B, "b.png")}]


@pytest.mark.parametrize(
    "name",
    ["../secret.png", "/etc/passwd", "x/../../secret.png", "https://x.org/a.png", "zip://a.png::b.zip", "C:\\a.png", ".."],
)
def test_names_that_leave_the_folder_are_refused(load, tmp_path, name):
    (tmp_path / "data" / "x").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(C)
    with pytest.raises(
        FileFormatError, match=r"metadata\.jsonl, row 1: refers to .*which is outside its folder and is not opened"
    ):
        load({"a.png": A, "metadata.jsonl": jsonl({"file_name": "a.png"}, {"file_name": name})})


@pytest.mark.parametrize("embed_files", [True, False])
@pytest.mark.parametrize("name", [".hidden.png", ".git/config", "x/.y/a.png"])
def test_hidden_files_that_metadata_name_are_refused_stored_and_by_path(load, name, embed_files):
    with pytest.raises(FileFormatError, match=r"row 0: refers to the hidden file .*, which is not opened"):
        load({name: A, "a.png": B, "metadata.jsonl": jsonl({"file_name": name})}, embed_files=embed_files)


def test_a_file_whose_name_is_no_text_is_an_error(load, tmp_path):
    try:
        load({"a\udcff.png": A})
    except OSError:
        pytest.skip("the disk takes text only")
    except FileFormatError as error:
        assert "a\\udcff.png: has a name that is not UTF-8. Rename the file." in str(error)
    else:
        raise AssertionError("it is loaded")


@pytest.mark.parametrize("name", ["a\nb.png", "q\"'.png", "[x].png", "*?.png", "%2e.png", "#f.png", "?q=1.png", " a.png"])
@pytest.mark.parametrize("embed_files", [True, False])
def test_any_other_name_is_a_name(load, name, embed_files):
    rows = load({name: picture()}, "imagefolder", as_stored=False, embed_files=embed_files)["train"]
    assert rows[0]["image"].size == (2, 1)
    assert os.path.basename(rows.cast_column("image", Image(decode=False))[0]["image"]["path"]) == name


# -- links


@pytest.fixture
def linked(tmp_path):
    """A folder of two images, and what may be made a link in it."""
    for name in ("data/a.png", "data/b.png", "data/.store/c.png", "secret.png", "out/secret.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(C)
    return tmp_path


STRAY = r"link.*' comes from the data and is a link to '.*(secret\.png|/out)', which is outside .*config\.using\(media_paths="


@pytest.mark.parametrize("embed_files", [True, False])
@pytest.mark.parametrize(
    ("link", "target"),
    [("link.png", "secret.png"), ("link", "out"), ("link.png", "out/../secret.png"), ("x/link.png", "secret.png")],
)
@pytest.mark.parametrize("format", ["imagefolder", None])
def test_a_link_out_of_the_folder_is_refused(load, linked, link, target, format, embed_files):
    (linked / "data" / link).parent.mkdir(exist_ok=True)
    (linked / "data" / link).symlink_to(linked / target)
    with pytest.raises(UntrustedPathError, match=STRAY):
        load({}, format, embed_files=embed_files)
    with using(media_paths=[str(linked / "secret.png"), str(linked / "out")]):
        assert len(load({}, format, embed_files=embed_files)["train"]) == 3


@pytest.mark.parametrize("embed_files", [True, False])
@pytest.mark.parametrize("link", ["link.dat", "link.png"])
def test_a_link_that_metadata_name_is_refused_where_it_leads_out(load, linked, link, embed_files):
    (linked / "data" / link).symlink_to(linked / "secret.png")
    with pytest.raises(UntrustedPathError, match=STRAY):
        load({"metadata.jsonl": jsonl({"file_name": link})}, "imagefolder", embed_files=embed_files)


def test_a_link_that_a_pattern_or_the_card_names_is_refused_where_it_leads_out(load, linked):
    (linked / "data" / "link.png").symlink_to(linked / "secret.png")
    with pytest.raises(UntrustedPathError, match=STRAY):
        load_dataset("imagefolder", data_files=str(linked / "data" / "*.png"), cache_dir=str(linked / "cache"))
    with pytest.raises(UntrustedPathError, match=STRAY):
        load({"README.md": "---\nconfigs:\n- config_name: default\n  data_files: link.png\n---\n"})


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_link_out_of_a_folder_of_tables_is_followed_only_where_its_user_says_so(tmp_path, name, streaming):
    (tmp_path / "data").mkdir()
    (tmp_path / name).write_text("a\n1\n" if name == "a.csv" else jsonl({"a": 1}))
    (tmp_path / "data" / name).symlink_to(tmp_path / name)

    def load(path, **options):
        return list(load_dataset(path, split="train", cache_dir=str(tmp_path / "cache"), streaming=streaming, **options))

    for options in ({}, {"data_files": "*"}):
        with pytest.raises(UntrustedPathError) as caught:
            load(str(tmp_path / "data"), **options)
        assert (caught.value.file, caught.value.target) == (str(tmp_path / "data" / name), str(tmp_path / name))
    with using(media_paths=[str(tmp_path / name)]):
        assert load(str(tmp_path / "data")) == [{"a": 1}]
    kind = "csv" if name == "a.csv" else "json"
    assert load(kind, data_files=str(tmp_path / "data" / name)) == [{"a": 1}]


@pytest.mark.parametrize("store", [".git/annex/objects/f8/5Q/SHA256E-s4--1.csv", ".dvc/cache/files/md5/60/b725f1", "hub"])
def test_links_to_the_store_of_a_tool_are_files_of_the_dataset(tmp_path, store):
    place = tmp_path / (store if store != "hub" else "hub/datasets--a--b/blobs/0123abcd")
    for folder in (place.parent, tmp_path / "set" / "data"):
        folder.mkdir(parents=True)
    place.write_text("a\n1\n")
    (tmp_path / "set" / "data" / "train.csv").symlink_to(place)
    with using(hub_cache_dir=str(tmp_path / "hub"), cache_dir=str(tmp_path / "cache")):
        assert load_dataset(str(tmp_path / "set"), split="train")["a"][:] == [1]


@pytest.mark.parametrize("embed_files", [True, False])
def test_a_link_that_the_user_names_is_followed(linked, embed_files):
    pytest.importorskip("PIL")
    (linked / "data" / "link.png").symlink_to(linked / "out" / "secret.png")
    (linked / "out" / "secret.png").write_bytes(picture())
    path = str(linked / "data" / "link.png")
    found = load_dataset(
        "imagefolder", data_files=path, cache_dir=str(linked / "cache"), split="train", embed_files=embed_files
    )
    assert found[0]["image"].size == (2, 1)


@pytest.mark.parametrize("embed_files", [True, False])
@pytest.mark.parametrize("target", ["b.png", ".store/c.png"])
def test_a_link_within_the_folder_is_followed(load, linked, target, embed_files):
    pytest.importorskip("PIL")
    (linked / "data" / target).write_bytes(picture())
    (linked / "data" / "sub").mkdir()
    (linked / "data" / "sub" / "link.png").symlink_to(f"../{target}")
    rows = load({}, "imagefolder", as_stored=False, embed_files=embed_files)["train"]
    assert rows[len(rows) - 1]["image"].size == (2, 1)


@pytest.mark.parametrize("embed_files", [True, False])
@pytest.mark.parametrize("extra", [{}, {"metadata.jsonl": jsonl({"file_name": "x/a.png"}, {"file_name": "x/b.dat"})}])
def test_links_of_a_hub_cache_into_its_own_blobs_are_followed(tmp_path, extra, embed_files):
    pytest.importorskip("PIL")
    repo = tmp_path / "datasets--a--b"
    snapshot = repo / "snapshots" / "0123abcd"
    for number, (name, data) in enumerate({"x/a.png": picture(), "x/b.dat": picture(), **extra}.items()):
        blob, link = repo / "blobs" / f"{number:064x}", snapshot / name
        blob.parent.mkdir(parents=True, exist_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(data if isinstance(data, bytes) else data.encode())
        link.symlink_to(os.path.relpath(blob, link.parent))
    found = load_dataset(str(snapshot), cache_dir=str(tmp_path / "cache"), split="train", embed_files=embed_files)
    assert [row["image"].size for row in found] == [(2, 1)] * (2 if extra else 1)


def test_blobs_that_are_a_link_themselves_are_no_hub_cache(load, linked):
    snapshot = linked / "repo" / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    (linked / "out" / "abc").write_bytes(C)
    (linked / "repo" / "blobs").symlink_to(linked / "out")
    (snapshot / "a.png").symlink_to("../../blobs/abc")
    with pytest.raises(UntrustedPathError, match="is a link to"):
        load_dataset(str(snapshot), cache_dir=str(linked / "cache"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("file_name\na.png\nz.png\n", r"metadata\.csv, row 1: refers to 'z\.png', which does not exist"),
        ("text\nA\n", r"has no column with names of files"),
        ("file_name,image\na.png,x\n", r"has a column 'file_name' and another column named 'image'"),
    ],
)
def test_metadata_that_make_no_rows_are_errors(load, content, message):
    with pytest.raises(FileFormatError, match=message):
        load({"a.png": A, "metadata.csv": content})


def test_two_metadata_files_in_one_folder_are_an_error(load):
    with pytest.raises(FileFormatError, match=r"metadata\.jsonl: is in the same folder as .*metadata\.csv"):
        load({"a.png": A, "metadata.csv": "file_name\na.png\n", "metadata.jsonl": jsonl({"file_name": "a.png"})})


# -- archives


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_archives_of_class_folders_are_read(load, pack):
    name = "x.zip" if pack is zipped else "x.tar.gz"
    rows = load({name: pack({"dog/a.png": A, "cat/b.png": B, "__MACOSX/._a.png": C})})["train"]
    assert rows == [{"image": image(B, "cat/b.png"), "label": 0}, {"image": image(A, "dog/a.png"), "label": 1}]


def test_archives_are_splits_and_classes_by_their_names(load):
    rows = load(
        {"train/dog.zip": zipped({"a.png": A}), "train/cat.zip": zipped({"a.png": B}), "test/dog.zip": zipped({"b.png": C})}
    )
    assert {split: [row["label"] for row in found] for split, found in rows.items()} == {"train": [0, 1], "test": [1]}


def test_metadata_stand_in_an_archive_or_beside_it(load, tmp_path):
    inside = {"x.zip": zipped({"a.png": A, "metadata.csv": "file_name,t\na.png,A\n"})}
    assert load(inside)["train"] == [{"image": image(A, "a.png"), "t": "A"}]
    (tmp_path / "data" / "x.zip").unlink()
    beside = {"y.zip": zipped({"b.png": B}), "metadata.csv": "file_name,t\nb.png,B\n"}
    assert load(beside)["train"] == [{"image": image(B, "b.png"), "t": "B"}]


# -- what is stored


def test_the_cache_stands_without_the_files(load, tmp_path):
    found = load({"a.png": A, "b.png": B}, as_stored=False)["train"]
    (tmp_path / "data" / "a.png").unlink()
    assert found.with_format("arrow")[:].to_pylist()[0]["image"]["bytes"] == A


def test_paths_are_stored_instead_of_bytes_when_asked_for(load, tmp_path):
    rows = load({"a.png": A}, "imagefolder", as_stored=False, embed_files=False)["train"].with_format("arrow")[:].to_pylist()
    assert rows == [{"image": image(None, os.fspath(tmp_path / "data" / "a.png"))}]
    with MediaPaths((os.fspath(tmp_path / "data"),)).open(rows[0]["image"]["path"]) as opened:
        assert opened.read() == A


def test_a_pointer_of_git_lfs_is_no_image(load):
    with pytest.raises(FileFormatError) as caught:
        load({"a.png": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "b.png": B})
    assert str(caught.value.file).endswith("a.png")


def test_a_folder_without_media_is_an_error(load):
    with pytest.raises(ConfigurationError, match=r"No file for imagefolder among the data files: none ends in \.blp"):
        load({"a.csv": "x\n1\n"}, "imagefolder")


def test_rows_are_the_same_for_every_number_of_processes(load, tmp_path, monkeypatch):
    from datasets_core.builders import _folder

    monkeypatch.setattr(_folder, "_PART_BYTES", 3)
    files = {f"c{number % 2}/{number}.png": bytes([number]) * 2 for number in range(5)}
    one = load(files, "imagefolder")
    assert load(files, "imagefolder", num_proc=2, download_mode="force_redownload") == one
    assert [row["image"]["bytes"][0] for row in one["train"]] == [0, 2, 4, 1, 3]


@pytest.mark.parametrize(
    ("name", "extension", "feature"),
    [
        ("audio", "wav", Audio()),
        ("video", "mp4", Video()),
        ("pdf", "pdf", Pdf()),
        ("mesh", "glb", Mesh()),
        ("nifti", "nii.gz", Nifti()),
    ],
)
def test_each_medium_has_its_folder(load, name, extension, feature):
    found = load({f"x/a.{extension}": A, f"y/b.{extension.upper()}": B}, as_stored=False)["train"]
    assert found.features == Features({name: feature, "label": ClassLabel(names=["x", "y"])})
    assert [row[name]["bytes"] for row in found.with_format("arrow")[:].to_pylist()] == [A, B]


def test_other_files_do_not_outweigh_images(load):
    with pytest.warns(DataFilesWarning, match="is read as imagefolder"):
        assert len(load({"A.PNG": A, "notes.txt": "x"})["train"]) == 1
