"""A path behind a URL: what it says of itself, and what opens it."""

import os
import pickle

import pytest

from datasets_core.errors import ConfigurationError, DataFilesNotFoundError
from datasets_core.fetch.remote import Access, RemoteFile


class Folder(Access):
    """Has the files of `https://h/` in a folder of this disk."""

    def __init__(self, folder):
        self.folder, self.asked = folder, []

    def fetched(self, url):
        self.asked.append(url)
        return os.path.join(self.folder, url.rpartition("/")[2])

    def unpacked(self, url):
        return self.fetched(url) + "-unpacked"


@pytest.fixture
def access(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "a.zip-unpacked" / "d").mkdir(parents=True)
    (tmp_path / "a.zip-unpacked" / "d" / "b.txt").write_text("inside")
    return Folder(str(tmp_path))


@pytest.fixture
def path(access):
    return RemoteFile("https://h/a.csv", access)


@pytest.fixture
def folder(access):
    return RemoteFile("https://h/a.zip", access).unpacked()


def test_a_path_is_its_url_as_a_text_and_asks_for_nothing(path, access):
    assert str(path) == f"{path}" == "https://h/a.csv"
    assert path == "https://h/a.csv"
    assert hash(path) == hash("https://h/a.csv")
    assert (path.endswith(".csv"), path.startswith("https://"), "a.c" in path) == (True, True, True)
    assert path.split("/")[-1] == path.rsplit("/", 1)[1] == "a.csv"
    assert (path.upper(), len(path), path[:5], path[-1]) == ("HTTPS://H/A.CSV", 15, "https", "v")
    assert "see " + path == "see https://h/a.csv"
    assert (path.name, path.stem, path.suffix, path.suffixes) == ("a.csv", "a", ".csv", [".csv"])
    assert access.asked == []


def test_what_is_made_of_a_path_is_a_path(path, folder):
    assert isinstance(path + ".gz", RemoteFile)
    assert str(path + ".gz") == "https://h/a.csv.gz"
    assert str(path.parent / "b" / "c.csv") == "https://h/b/c.csv"
    assert str(path.joinpath("x")) == "https://h/a.csv/x"
    assert str(path.with_suffix(".tsv")) == "https://h/a.tsv"
    assert isinstance(path.replace("a.csv", "b.csv"), RemoteFile)
    assert str(path.replace("a.csv", "b.csv")) == "https://h/b.csv"
    assert str(folder / "d" / "b.txt") == str(folder + "/d/b.txt") == "https://h/a.zip/d/b.txt"
    assert str((folder / "d" / "b") + ".txt") == "https://h/a.zip/d/b.txt"
    assert (folder / "d" / "b.txt").parent == folder / "d"
    assert (folder / "d" / "b.txt").replace("b.txt", "c.txt") == folder / "d" / "c.txt"
    assert (folder.rstrip("/") + "/d/b.txt") == folder / "d" / "b.txt"


def test_what_is_no_path_any_more_is_a_text(path, folder):
    assert path.replace("https://h/", "") == "a.csv"
    assert type(path.replace("https://h/", "")) is str
    assert type(folder + "x") is str


def test_a_query_is_no_part_of_the_name(access):
    path = RemoteFile("https://h/d/a.csv?token=1", access)

    assert (path.name, str(path.parent), str(path.parent / "b")) == ("a.csv", "https://h/d", "https://h/d/b")
    assert str(RemoteFile("https://h/d?token=1", access) / "b") == "https://h/d/b?token=1"


def test_the_name_of_an_unpacked_file_is_that_of_what_is_inside(access):
    path = RemoteFile("https://h/a.csv.gz", access).unpacked()

    assert path.endswith("/a.csv")
    assert not path.endswith(".gz")
    assert RemoteFile("https://h/a.tar.gz", access).unpacked().endswith("a.tar.gz")


def test_whatever_takes_paths_has_it_fetched(path, folder):
    with open(path) as handle:
        assert handle.read() == "x,y\n1,2\n"
    assert os.path.isfile(path)
    assert os.listdir(folder) == ["d"]
    with open(os.path.join(folder, "d", "b.txt")) as handle:
        assert handle.read() == "inside"
    with open(f"{folder}/d/b.txt") as handle:
        assert handle.read() == "inside"
    assert [found.name for found in folder.rglob("*.txt")] == ["b.txt"]
    assert folder.is_dir()
    assert (folder / "d" / "b.txt").is_file()
    assert not (folder / "d" / "c.txt").exists()


def test_it_opens_as_text_and_as_bytes(path, folder):
    with path.open() as handle:
        assert next(handle) == "x,y\n"
    with path.open("rb") as handle:
        assert handle.read(3) == b"x,y"
    assert path.read_text(encoding="utf-8") == "x,y\n1,2\n"
    assert (folder / "d/b.txt").read_bytes() == b"inside"


@pytest.mark.parametrize("mode", ["w", "a", "r+", "x", "b", "rbt", ""])
def test_it_is_never_written(path, mode):
    with pytest.raises(ConfigurationError, match="Use 'r' or 'rb'"):
        path.open(mode)


def test_it_is_no_list_of_letters(path):
    with pytest.raises(TypeError):
        list(path)


def test_nothing_outside_an_archive_is_reached(folder):
    with pytest.raises(DataFilesNotFoundError, match="is outside the archive"):
        os.fspath(folder / ".." / "a.csv")


def test_it_can_be_sent_and_sorted(path, folder):
    assert pickle.loads(pickle.dumps([path, folder / "d"])) == [path, folder / "d"]
    assert sorted([path.parent / "b", path, "https://h/aa"]) == ["https://h/a.csv", "https://h/aa", "https://h/b"]
    assert path != folder
    assert path != 3


def test_secrets_are_not_shown(access):
    assert "secret" not in repr(RemoteFile("https://user:secret@h/a?token=secret", access))
