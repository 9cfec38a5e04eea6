import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.config import using
from datasets_core.errors import MediaNotFoundError, UntrustedPathError
from datasets_core.features.media.media import ANYWHERE, MediaPaths, refuse_stray_link


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
