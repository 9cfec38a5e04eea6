"""What is fetched of an archive behind a URL, by how it is asked for."""

import glob
import io
import logging
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from datasets_core.errors import ArchiveError, DataFilesNotFoundError, UnsafeArchiveError
from datasets_core.fetch.checksums import RegisteredFile
from datasets_core.fetch.remote_files import Once, RemoteArchive, ZipMembers, kind_of_archive, opened_tar_member
from datasets_core.fetch.streaming import StreamingDownloadManager

FILES = {f"d/{name}.txt": name.encode() + os.urandom(300_000) for name in "abcde"}


def packed(kind):
    made = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(made, "w") as archive:
            for name, data in FILES.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            for name, data in FILES.items():
                found = tarfile.TarInfo(name)
                found.size = len(data)
                archive.addfile(found, io.BytesIO(data))
    return made.getvalue()


BODIES = {"zip": packed("zip"), "tgz": packed("tgz")}


@pytest.fixture(params=["zip", "tgz"])
def folder(request, site, faults, cache_dir, policy):
    site.pages["/a"] = faults.page(BODIES[request.param])
    return StreamingDownloadManager(retries=policy).download_and_extract(site.at("/a"))


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records]


def test_asking_for_a_folder_fetches_nothing(site, folder):
    assert (folder / "d" / "a.txt").name == "a.txt"
    assert site.requests == []


@pytest.mark.parametrize("opened", [lambda path: path.open("rb"), lambda path: open(path, "rb")])  # noqa: SIM115
def test_a_member_is_opened_alone(site, folder, cache_dir, said, opened):
    for _ in range(2):
        with opened(folder / "d" / "b.txt") as file:
            assert file.read() == FILES["d/b.txt"]
            break
    kept = [name for name in os.listdir(cache_dir) if len(name) == 64] if cache_dir.exists() else []
    assert kept == []  # the archive is not there
    assert said() == []


def test_a_member_that_is_kept_is_asked_for_once(site, folder):
    with open(folder / "d" / "b.txt", "rb") as file:
        file.read()
    before = len(site.requests)

    assert os.path.getsize(folder / "d" / "b.txt") == 300_001
    assert len(site.requests) == before


@pytest.mark.parametrize(
    "asked",
    [
        lambda folder: os.listdir(os.path.join(folder, "d")),
        lambda folder: [os.path.basename(path) for path in glob.glob(os.path.join(folder, "d", "*"))],
        lambda folder: [path.name for path in (Path(folder) / "d").iterdir()],
        lambda folder: [path.name for path in (folder / "d").iterdir()],
        lambda folder: [path.name for path in folder.glob("d/*")],
        lambda folder: [name for _, _, names in os.walk(folder) for name in names],
        lambda folder: os.listdir(f"{folder}/d"),
        lambda folder: os.listdir(folder + "/d"),
    ],
)
def test_a_folder_is_fetched_whole_which_is_said_once(folder, said, asked):
    assert sorted(asked(folder)) == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    assert sorted(asked(folder)) == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    (words,) = said()
    assert "/a is fetched whole (1.5 MB) and extracted, because its folder is used as a path" in words


def test_what_an_archive_does_not_hold_is_told_and_does_not_exist(folder):
    assert not os.path.exists(folder / "d" / "x.txt")
    with pytest.raises(FileNotFoundError):
        (folder / "d" / "x.txt").read_text()
    with pytest.raises(FileNotFoundError):
        Path(folder / "d" / "x.txt").read_text()
    with pytest.raises(FileNotFoundError):
        (folder / "x.txt").open()


def test_the_folder_itself_does_not_open(folder):
    with pytest.raises(ArchiveError, match="is an archive, not one file"):
        folder.open()
    with pytest.raises(IsADirectoryError):
        Path(folder).read_text()


def test_members_of_a_tar_that_are_opened_one_by_one_are_fetched_together(site, faults, cache_dir, policy, said):
    site.pages["/a"] = faults.page(BODIES["tgz"])
    folder = StreamingDownloadManager(retries=policy).download_and_extract(site.at("/a"))

    for name, data in FILES.items():
        with (folder / name).open("rb") as file:
            assert file.read() == data
    assert len(site.requests) <= 6
    assert len(said()) == 1


def test_members_of_a_zip_that_are_opened_one_by_one_come_over_one_connection(site, faults, cache_dir, policy, said):
    site.pages["/a"] = faults.page(BODIES["zip"])
    folder = StreamingDownloadManager(retries=policy).download_and_extract(site.at("/a"))

    for name, data in FILES.items():
        with (folder / name).open("rb") as file:
            assert file.read() == data
    assert len(site.connections) == 1
    assert said() == []


def test_what_is_registered_is_checked_before_a_member_is_given(site, faults, cache_dir, policy):
    site.pages["/a"] = faults.page(BODIES["zip"])
    downloads = StreamingDownloadManager(retries=policy)
    downloads.registered = {site.at("/a"): RegisteredFile(len(BODIES["zip"]), "0" * 64)}
    folder = downloads.download_and_extract(site.at("/a"))

    with pytest.raises(ValueError, match="sha256"):
        (folder / "d/a.txt").open("rb")


def test_a_folder_can_be_sent(folder):
    with pickle.loads(pickle.dumps(folder / "d" / "c.txt")).open("rb") as file:
        assert file.read() == FILES["d/c.txt"]


@pytest.mark.parametrize("is_here", [True, False])
def test_a_broken_zip_is_told(site, faults, cache_dir, policy, is_here):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "text" * 100)
    data = bytearray(made.getvalue())
    data[data.rindex(b"PK\x01\x02")] = 0  # where the list of members begins
    site.pages["/a.zip"] = faults.page(bytes(data))
    manager = StreamingDownloadManager(retries=policy)
    if is_here:
        os.fspath(manager.download(site.at("/a.zip")))
    with pytest.raises(ArchiveError) as caught:
        (manager.download_and_extract(site.at("/a.zip")) / "a.txt").open("rb")
    assert str(caught.value.file).endswith("a.zip")


def test_a_file_that_is_no_archive_is_itself(site, faults, cache_dir, policy):
    site.pages["/a"] = faults.page(b"plain")
    path = StreamingDownloadManager(retries=policy).download_and_extract(site.at("/a"))

    with path.open() as handle:
        assert handle.read() == "plain"
    with open(path) as handle:
        assert handle.read() == "plain"
    with pytest.raises(DataFilesNotFoundError, match="does not contain 'x'"):
        (path / "x").open()


# Archives behind URLs, member after member.


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return packed.getvalue()


def tarred(files, *, mode="w", links=()):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as made:
        for name, data in files.items():
            found = tarfile.TarInfo(name)
            found.size = len(data)
            made.addfile(found, io.BytesIO(data))
        for name, target in links:
            found = tarfile.TarInfo(name)
            found.type, found.linkname = tarfile.SYMTYPE, target
            made.addfile(found)
    return packed.getvalue()


PACKED = {"a.zip": zipped(FILES), "a.tar": tarred(FILES), "a.tar.gz": tarred(FILES, mode="w:gz")}


@pytest.fixture
def downloads(cache_dir, policy, tmp_path):
    return StreamingDownloadManager(base_path=str(tmp_path), retries=policy)


@pytest.mark.parametrize("name", PACKED)
def test_members_come_without_a_download(site, faults, downloads, cache_dir, name):
    site.pages[f"/{name}"] = faults.page(PACKED[name])

    archive = downloads.iter_archive(downloads.download(site.at(f"/{name}")))

    assert isinstance(archive, RemoteArchive)
    for walk in (archive, archive, pickle.loads(pickle.dumps(archive))):
        assert {path: file.read() for path, file in walk} == FILES
    assert not cache_dir.exists()


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_the_first_member_of_a_tar_is_there_before_the_rest_comes(site, faults, downloads, name):
    def only_the_beginning(handler, page):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(page.body)))
        handler.end_headers()
        handler.wfile.write(page.body[:500_000])
        handler.wfile.flush()
        waiting.wait(10)
        handler.wfile.write(page.body[500_000:])

    import threading

    waiting = threading.Event()
    site.pages[f"/{name}"] = faults.page(PACKED[name], faults=[only_the_beginning])

    walk = iter(downloads.iter_archive(site.at(f"/{name}")))
    path, file = next(walk)
    found = file.read()
    waiting.set()
    assert (path, found) == ("d/a.txt", FILES["d/a.txt"])


def test_of_a_zip_a_few_requests_bring_the_members(site, faults, downloads):
    site.pages["/a.zip"] = faults.page(PACKED["a.zip"])

    for _ in downloads.iter_archive(site.at("/a.zip")):
        pass
    assert len(site.requests) <= 8  # its beginning, its end, and the members, in pieces that grow


def test_a_zip_of_a_server_without_parts_is_fetched_once_which_is_said_once(site, faults, downloads, caplog):
    site.pages["/a.zip"] = faults.page(PACKED["a.zip"], is_ranged=False)
    archive = downloads.iter_archive(site.at("/a.zip"))

    assert {path: file.read() for path, file in archive} == FILES
    assert {path: file.read() for path, file in archive} == FILES
    (said,) = [record.getMessage() for record in caplog.records]
    assert "a.zip is fetched whole (1.5 MB)" in said


def test_links_and_repeated_members_of_a_tar_are_given_as_of_a_local_one(site, faults, downloads, tmp_path):
    body = tarred(FILES, mode="w:gz", links=[("e", "d/a.txt")])
    (tmp_path / "l.tar.gz").write_bytes(body)
    site.pages["/l.tar.gz"] = faults.page(body)

    remote, local = (
        [(path, file.read()) for path, file in downloads.iter_archive(place)] for place in (site.at("/l.tar.gz"), "l.tar.gz")
    )

    assert remote == local
    assert remote[-1] == ("e", FILES["d/a.txt"])


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_member_that_leaves_the_folder_is_refused(site, faults, downloads, mode):
    site.pages["/bad.tar"] = faults.page(tarred({"../x": b""}, mode=mode))

    with pytest.raises(UnsafeArchiveError, match="is outside the folder"):
        list(downloads.iter_archive(site.at("/bad.tar")))


def test_a_cut_archive_is_told(site, faults, downloads):
    site.pages["/cut.tar.gz"] = faults.page(PACKED["a.tar.gz"][:400_000])

    with pytest.raises(ArchiveError, match=r"http://.*/cut\.tar\.gz.* is truncated"):
        for _, file in downloads.iter_archive(site.at("/cut.tar.gz")):
            file.read()


def test_what_is_no_archive_is_told(site, faults, downloads):
    site.pages["/a.csv"] = faults.page(b"a,b\n")

    with pytest.raises(ArchiveError, match="an archive"):
        list(downloads.iter_archive(site.at("/a.csv")))


def test_kinds_are_told_from_the_beginning():
    for name, kind in {"a.zip": "zip", "a.tar": "tar", "a.tar.gz": "tar"}.items():
        data = io.BufferedReader(io.BytesIO(PACKED[name]))
        assert (kind_of_archive(data, name), data.tell()) == (kind, 0)
    assert kind_of_archive(io.BufferedReader(io.BytesIO(b"a,b")), "a.csv") is None


def test_members_of_a_zip_are_found_by_path():
    members = ZipMembers("a.zip", io.BufferedReader(io.BytesIO(PACKED["a.zip"])))

    with members.opened("d/b.txt") as file:
        assert file.read() == FILES["d/b.txt"]
    assert members.opened("d") is None
    with pytest.raises(DataFilesNotFoundError, match=r"a\.zip does not contain 'x'"):
        members.opened("x")


def test_a_tar_is_read_up_to_a_member():
    data = io.BufferedReader(io.BytesIO(PACKED["a.tar"]))

    with opened_tar_member("a.tar", data, "d/b.txt") as file:
        assert file.read() == FILES["d/b.txt"]
    assert data.closed


def test_once_is_once_in_each_process():
    once = Once()

    assert [once.first("a"), once.first("a"), once.first("b")] == [True, False, True]
    assert pickle.loads(pickle.dumps(once)).first("a")
