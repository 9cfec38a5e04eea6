"""Archives behind URLs, member after member."""

import io
import os
import pickle
import tarfile
import zipfile

import pytest

from datasets_core.errors import ArchiveError, DataFilesNotFoundError, UnsafeArchiveError
from datasets_core.fetch.remote_files import Once, RemoteArchive, ZipMembers, kind_of_archive, opened_tar_member
from datasets_core.fetch.streaming import StreamingDownloadManager

FILES = {f"d/{name}.txt": name.encode() + os.urandom(300_000) for name in "abcde"}


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

    with pytest.raises(UnsafeArchiveError, match="leads out of the folder"):
        list(downloads.iter_archive(site.at("/bad.tar")))


def test_a_cut_archive_is_told(site, faults, downloads):
    site.pages["/cut.tar.gz"] = faults.page(PACKED["a.tar.gz"][:400_000])

    with pytest.raises(ArchiveError, match=r"http://.*/cut\.tar\.gz.* stops before its end"):
        for _, file in downloads.iter_archive(site.at("/cut.tar.gz")):
            file.read()


def test_what_is_no_archive_is_told(site, faults, downloads):
    site.pages["/a.csv"] = faults.page(b"a,b\n")

    with pytest.raises(ArchiveError, match="no archive"):
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
    with pytest.raises(DataFilesNotFoundError, match=r"a\.zip holds no 'x'"):
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
