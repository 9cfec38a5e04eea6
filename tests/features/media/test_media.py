"""Tests of datasets_core/features/media/media.py."""

import os
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.config import using
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, MediaDecodeError, MediaNotFoundError, UntrustedPathError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.media import media
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.media import (
    ANYWHERE,
    STORAGE,
    Media,
    MediaPaths,
    base_name,
    binary_array,
    embed_table,
    has_media,
    media_array,
    narrowed,
    refuse_stray_link,
)
from datasets_core.features.media.types import BioSequence, BioStructure, Image, Mesh, Nifti, Pdf, Video
from datasets_core.features.schema import Features

KINDS: list[type[Media]] = [Image, Audio, Video, Pdf, Nifti, Mesh, BioSequence, BioStructure]
stored = st.none() | st.one_of(
    st.builds(lambda data: {"bytes": data, "path": None}, st.binary(max_size=9)),
    st.builds(lambda data, path: {"bytes": data, "path": path}, st.none() | st.binary(max_size=9), st.text(max_size=9)),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"decode": False}])
def test_features_come_back_from_each_written_form(kind: type[Media], options: dict[str, Any]) -> None:
    features = Features({"a": kind(**options), "b": [kind(**options)], "c": {"d": LargeList(kind(**options))}})
    assert Features.from_dict(features.to_dict()) == features
    assert Features.from_yaml_list(features.to_yaml_list()) == features
    assert Features.from_arrow_schema(features.arrow_schema) == features
    assert eval(repr(features["a"])) == features["a"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_value_that_stands_for_a_file_is_stored_alike(kind: type[Media], tmp_path: Path) -> None:
    values = [
        "a",
        tmp_path / "b",
        b"c",
        bytearray(b"d"),
        memoryview(b"e"),
        {"bytes": b"f"},
        {"path": "g"},
        {"bytes": b"h", "path": "i"},
    ]
    expected = [
        {"bytes": None, "path": "a"},
        {"bytes": None, "path": str(tmp_path / "b")},
        {"bytes": b"c", "path": None},
        {"bytes": b"d", "path": None},
        {"bytes": b"e", "path": None},
        {"bytes": b"f", "path": None},
        {"bytes": None, "path": "g"},
        {"bytes": b"h", "path": "i"},
    ]
    assert [kind().encode_example(value) for value in values] == expected
    rows = Dataset.from_dict({"a": [*values, None]}, features=Features({"a": kind(decode=False)}))
    assert rows["a"][:] == [*expected, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [5, object(), {}, {"bytes": None, "path": None}, {"bytes": "text"}, {"path": 5}])
def test_what_stands_for_no_file_is_refused_with_its_row(kind: type[Media], value: object) -> None:
    with pytest.raises(CastError) as caught:
        Dataset.from_dict({"a": [b"x", value]}, features=Features({"a": kind()}))
    assert (caught.value.row, caught.value.column) == (1, "a")


@given(st.lists(st.tuples(stored, st.lists(stored, max_size=3), st.none() | st.fixed_dictionaries({"y": stored}))))
def test_nested_files_come_back_as_they_were_stored(rows: list[tuple[Any, list[Any], Any]]) -> None:
    image = Image(decode=False)
    features = Features({"a": image, "b": List(image), "c": {"y": image}})
    listed = [dict(zip("abc", row, strict=True)) for row in rows]
    dataset = Dataset.from_list(listed, features=features)
    dataset.data.validate(full=True)
    assert dataset[:] == {name: [row[name] for row in listed] for name in "abc"}
    assert list(dataset) == listed


@given(st.lists(stored), st.integers(0, 5))
def test_columns_of_structs_are_cast_whatever_slice_they_are(values: list[Any], start: int) -> None:
    swapped = pa.array(values, pa.struct([("path", pa.large_string()), ("bytes", pa.large_binary()), ("more", pa.int8())]))
    assert Image().cast_storage(swapped[start:]).to_pylist() == values[start:]


def test_a_value_without_bytes_and_path_cannot_be_decoded() -> None:
    with pytest.raises(MediaDecodeError, match="neither bytes nor a path"):
        Image().decode_example({"bytes": None, "path": None})
    with pytest.raises(ConfigurationError, match=r"Pdf\(decode=True\)"):
        Pdf(decode=False).decode_example(b"")


def test_undecoded_features_flatten_into_their_columns_and_others_do_not() -> None:
    flat = Features({"a": Image(decode=False), "b": Audio()}).flatten()
    assert flat == Features({"b": Audio(), "a.bytes": Value("binary"), "a.path": Value("string")})


# embed

FEATURES = Features(
    {"n": Value("int8"), "a": Image(), "b": List(Image()), "c": {"d": LargeList({"e": Pdf()}), "n": Value("int8")}}
)


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Ten files; file `i` holds `i` bytes."""
    for i in range(10):
        (tmp_path / f"{i}.png").write_bytes(b"x" * i)
    return [str(tmp_path / f"{i}.png") for i in range(10)]


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    return Dataset.from_list(rows, features=FEATURES, missing_columns="insert").data.table


def whole(i: int) -> dict[str, Any]:
    return {"bytes": b"x" * i, "path": f"{i}.png"}


def test_every_file_of_a_table_is_embedded_however_deep_it_is_nested(places: list[str]) -> None:
    rows: list[dict[str, Any]] = [
        {"n": i, "a": place, "b": [place, None, {"bytes": b"y", "path": "z"}], "c": {"d": [{"e": place}], "n": 1}}
        for i, place in enumerate(places)
    ]
    table = embed_table(table_of([*rows, {"n": 3}]), FEATURES)
    table.validate(full=True)
    assert Features.from_arrow_schema(table.schema) == FEATURES
    inside = {"bytes": b"y", "path": "z"}
    assert table.to_pylist() == [
        *({"n": i, "a": whole(i), "b": [whole(i), None, inside], "c": {"d": [{"e": whole(i)}], "n": 1}} for i in range(10)),
        {"n": 3, "a": None, "b": None, "c": None},
    ]


def test_large_files_go_into_arrays_of_bounded_size(places: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_CHUNK_BYTES", 10)
    table = embed_table(table_of([{"a": place} for place in places]), FEATURES)
    assert table.column("a").to_pylist() == [whole(i) for i in range(10)]
    assert table.column("a").num_chunks > 3


def test_local_files_or_urls_can_be_left_as_they_are(places: list[str]) -> None:
    table = table_of([{"a": places[2]}, {"a": "https://x.org/a.png"}])
    left = embed_table(table, FEATURES, local_files=False, remote_files=False)
    assert left.column("a").to_pylist() == [{"bytes": None, "path": places[2]}, {"bytes": None, "path": "https://x.org/a.png"}]
    half = embed_table(table, FEATURES, remote_files=False)
    assert half.column("a").to_pylist() == [whole(2), {"bytes": None, "path": "https://x.org/a.png"}]


def test_files_that_may_not_be_opened_are_not_embedded(places: list[str]) -> None:
    table = table_of([{"a": places[1]}, {"a": "/etc/passwd"}])
    with pytest.raises(UntrustedPathError) as caught:
        embed_table(table, FEATURES, paths=MediaPaths((places[0].rpartition("/")[0],)))
    assert (caught.value.column, caught.value.row) == ("a", 1)
    with pytest.raises(MediaNotFoundError) as caught:
        embed_table(table_of([{"b": [None, None]}, {"b": [None, "nothing.png"]}]), FEATURES)
    assert str(caught.value.file).endswith("nothing.png")
    assert (caught.value.row, caught.value.column) == (1, "b")


def test_one_array_is_embedded_as_the_feature_says(places: list[str]) -> None:
    array = pa.array([places[1], None])
    image = Image()
    assert image.embed_storage(image.cast_storage(array)).to_pylist() == [whole(1), None]


def test_media_are_found_wherever_they_are_nested() -> None:
    assert [has_media(FEATURES[name]) for name in "nabc"] == [False, True, True, True]


# media paths


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A dataset's folder, with a file of a stranger beside it and a hidden one inside."""
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(b"a")
    (folder / ".secret").write_bytes(b"s")
    (tmp_path / "b.png").write_bytes(b"b")
    return folder


def read(paths: MediaPaths, path: str) -> bytes:
    with paths.open(path) as file:
        return file.read()


@pytest.mark.parametrize("form", ["images/a.png", "{0}/images/a.png", "file://{0}/images/a.png", "images/../images/a.png"])
def test_a_path_inside_the_folder_is_opened_whether_relative_or_absolute(data: Path, form: str) -> None:
    with MediaPaths((str(data),)).open(form.format(data)) as file:
        assert file.read() == b"a"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "../b.png",
        "{0}/../b.png",
        "file:///etc/passwd",
        "http://example.org/a.png",
        "HTTPS://example.org/a.png",
        "s3://bucket/a.png",
        "zip://a.png::/etc/all.zip",
        "zip://a.png::http://example.org/all.zip",
        "simplecache::file://{0}/images/a.png",
        "gzip://a::zip://b::{0}/all.zip",
        ".secret",
        "{0}",
        "",
    ],
)
def test_a_path_that_leads_out_of_the_folder_is_refused(data: Path, path: str) -> None:
    with pytest.raises(UntrustedPathError, match="media_paths"):
        MediaPaths((str(data),)).open(path.format(data))


def test_a_link_that_leads_out_of_the_folder_is_refused(data: Path) -> None:
    (data / "link.png").symlink_to(data.parent / "b.png")
    with pytest.raises(UntrustedPathError):
        MediaPaths((str(data),)).open("link.png")


def test_a_link_that_can_be_seen_may_lead_to_a_hidden_file_of_the_folder(data: Path) -> None:
    (data / ".annex").mkdir()
    (data / ".annex" / "x").write_bytes(b"x")
    (data / "link.png").symlink_to(".annex/x")
    paths = MediaPaths((str(data),))
    with paths.open("link.png") as file:
        assert file.read() == b"x"
    with pytest.raises(UntrustedPathError):
        paths.open(".annex/x")


@pytest.mark.parametrize(
    ("snapshot", "target", "is_own"),
    [
        ("snapshots/0a1b", "blobs/12ef", True),
        ("snapshots/0a1b/sub", "blobs/12ef", True),
        ("snapshots/0a1b", "blobs/id_rsa", False),
        ("snapshots/0a1b", "blobs/sub/12ef", False),
        ("snapshots/0a1b", "12ef", False),
        ("snapshots/main", "blobs/12ef", False),
        ("shots/0a1b", "blobs/12ef", False),
    ],
)
def test_links_of_a_snapshot_lead_to_the_blobs_of_its_cache(tmp_path: Path, snapshot: str, target: str, is_own: bool) -> None:
    for path in (tmp_path / snapshot, (tmp_path / target).parent):
        path.mkdir(parents=True, exist_ok=True)
    (tmp_path / target).write_bytes(b"x")
    link = tmp_path / snapshot / "a.png"
    link.symlink_to(tmp_path / target)
    paths = MediaPaths((str(tmp_path / snapshot),))
    if is_own:
        assert paths.locate(str(link)) == str(tmp_path / target)
        refuse_stray_link(str(link), str(tmp_path / snapshot))
        return
    with pytest.raises(UntrustedPathError):
        paths.locate(str(link))
    with pytest.raises(UntrustedPathError, match="is a link to"):
        refuse_stray_link(str(link), str(tmp_path / snapshot))
    with using(media_paths=[str(tmp_path)]):
        refuse_stray_link(str(link), str(tmp_path / snapshot))


def test_a_folder_whose_name_begins_alike_is_another_one(data: Path) -> None:
    other = data.parent / "database"
    other.mkdir()
    (other / "a.png").write_bytes(b"x")
    with pytest.raises(UntrustedPathError):
        MediaPaths((str(data),)).open(str(other / "a.png"))


def test_no_roots_open_nothing_and_no_limit_opens_all(data: Path) -> None:
    with pytest.raises(UntrustedPathError):
        MediaPaths().open(str(data / "images" / "a.png"))
    with ANYWHERE.open(str(data.parent / "b.png")) as file:
        assert file.read() == b"b"


def test_the_setting_allows_more_folders_hidden_files_included(data: Path) -> None:
    paths = MediaPaths((str(data),))
    with using(media_paths=[data.parent]):
        assert read(paths, "../b.png") == b"b"
        assert read(paths, ".secret") == b"s"
        other = pickle.loads(pickle.dumps(paths.settled()))
    assert read(other, "../b.png") == b"b"


@pytest.mark.parametrize("allowed", ["https://", "https://example.org", "https://example.org/images"])
def test_urls_are_allowed_by_their_beginning_and_fetched(tmp_path: Path, allowed: str) -> None:
    (tmp_path / "local").write_bytes(b"fetched")
    paths = MediaPaths((), fetch=lambda url: str(tmp_path / "local"))
    with using(media_paths=allowed):
        assert read(paths, "https://example.org/images/a.png") == b"fetched"
        for url in ("https://example.org.evil.net/a.png", "http://example.org/images/a.png"):
            if not url.startswith("https://") or allowed != "https://":
                with pytest.raises(UntrustedPathError):
                    paths.open(url)


@pytest.mark.parametrize("url", ["https://example.org/images/../x.png", "https://example.org/images/%2E%2e/x.png"])
def test_a_url_cannot_climb_out_of_the_one_that_is_allowed(url: str) -> None:
    with using(media_paths="https://example.org/images"), pytest.raises(UntrustedPathError):
        MediaPaths(()).open(url)


def test_a_member_of_an_archive_in_the_folder_is_opened(data: Path) -> None:
    import zipfile

    with zipfile.ZipFile(data / "all.zip", "w") as archive:
        archive.writestr("in/a.png", b"zipped")
    for path in (f"zip://in/a.png::{data}/all.zip", "zip://in/a.png::all.zip"):
        with MediaPaths((str(data),)).open(path) as file:
            assert file.read() == b"zipped"
    with pytest.raises(MediaNotFoundError):
        MediaPaths((str(data),)).open("zip://nothing::all.zip")


@pytest.mark.parametrize("paths", [ANYWHERE, None], ids=["anywhere", "below"])
def test_what_is_no_file_is_named(data: Path, paths: MediaPaths | None) -> None:
    os.mkfifo(data / "pipe")
    for name in ("pipe", "images", "nothing.png"):
        with pytest.raises(MediaNotFoundError, match=name):
            (paths or MediaPaths((str(data),))).open(str(data / name))


def test_rows_of_two_origins_open_what_both_of_them_name() -> None:
    joined = MediaPaths(("/a",)) | MediaPaths(("/b",), allowed=("/c",))
    assert (joined.roots, joined.allowed) == (("/a", "/b"), ("/c",))
    assert (ANYWHERE | joined) == joined == (joined | ANYWHERE)
    assert (ANYWHERE | ANYWHERE).roots is None


@given(st.lists(st.sampled_from(["..", ".", "images", "a.png", "b.png", "", "data", "/", "~", "\0", "é"]), max_size=6))
def test_no_spelling_of_a_path_leads_out(parts: list[str]) -> None:
    """Law: what a rule of folders locates lies below one of them."""
    root = os.path.realpath(os.path.dirname(__file__))
    try:
        place = MediaPaths((root,)).locate("/".join(parts))
    except UntrustedPathError:
        return
    assert os.path.realpath(place).startswith(root + os.sep)


# stored media


@given(st.lists(st.none() | st.binary(max_size=5)))
def test_bytes_make_the_array_that_arrow_makes(values: list[bytes | None]) -> None:
    array = binary_array(values)
    array.validate(full=True)
    assert array.equals(pa.array(values, pa.binary()))


@given(st.lists(st.none() | st.fixed_dictionaries({"bytes": st.none() | st.binary(max_size=3), "path": st.none() | st.text()})))
def test_stored_values_make_the_array_that_arrow_makes(values: list[dict[str, object] | None]) -> None:
    array = media_array(values)
    array.validate(full=True)
    assert array.type == STORAGE and array.to_pylist() == values


def test_more_bytes_than_an_array_can_hold_are_refused_with_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_MOST_BYTES", 5)
    assert binary_array([b"abc", None, b"de"]).to_pylist() == [b"abc", None, b"de"]
    with pytest.raises(Misfit, match="2 GiB") as caught:
        binary_array([b"abc", None, b"def"])
    assert caught.value.index == 2


@given(st.lists(st.none() | st.lists(st.integers(0, 255), max_size=4)), st.integers(0, 3))
def test_lists_of_bytes_are_bytes(values: list[list[int] | None], start: int) -> None:
    array = pa.array(values, pa.list_(pa.uint8()))[start:]
    expected = [None if value is None else bytes(value) for value in values[start:]]
    cast = narrowed(array, pa.binary())
    cast.validate(full=True)
    assert cast.to_pylist() == expected


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(Misfit, match="not a valid string"):
        narrowed(pa.array([b"\xff"]), pa.string())


@pytest.mark.parametrize(
    ("path", "name"),
    [("/a/b.png", "b.png"), ("b.png", "b.png"), ("https://x.org/a/b.png", "b.png"), ("zip://a/b.png::/c/d.zip", "b.png")],
)
def test_the_last_part_of_a_path_is_its_name(path: str, name: str) -> None:
    assert base_name(path) == name
