"""Files: listing, joining, atomic writes, locks, and the disk's refusals."""

import errno
import importlib
import json
import os
import select
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import filelock
import pytest

from datasets_core import files
from datasets_core.errors import (
    DatasetDiskError,
    DeniedAccessError,
    DownloadError,
    FileNotFoundDatasetsError,
    MissingDependencyError,
)


def test_a_listing_holds_every_file_once_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.txt", "a/b/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    found = files.list_files(str(tmp_path))
    assert [os.path.relpath(entry.path, tmp_path) for entry in found] == ["a/b/d.txt", "a/c.txt", "b.txt"]
    assert [entry.size for entry in found] == [9, 7, 5]


def test_a_listing_goes_as_deep_as_asked_and_leaves_hidden_folders_out(tmp_path: Path) -> None:
    for name in ("a.txt", "b/c.txt", "b/d/e.txt", ".g/h.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    def names(**how: Any) -> list[str]:
        return [os.path.relpath(entry.path, tmp_path) for entry in files.list_files(str(tmp_path), **how)]

    assert names() == [".g/h.txt", "a.txt", "b/c.txt", "b/d/e.txt"]
    assert names(max_depth=1) == ["a.txt"]
    assert names(max_depth=2, skip_hidden=True) == ["a.txt", "b/c.txt"]


@pytest.mark.parametrize("name", ["a.incomplete-{}-ab", "a.arrow.tmp-{}-ab", "datasets_core-{}-x", "noted.part"])
def test_an_owner_is_alive_until_it_is_gone(name: str, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    path = tmp_path / name.format(child.pid)
    if name == "noted.part":
        Path(f"{path}.json").write_text(json.dumps({**files.ownership(), "pid": child.pid, "started": None}))
    assert files.owner_is_alive(str(path)) is True
    child.communicate()
    assert files.owner_is_alive(str(path)) is False


def test_a_process_that_has_the_number_of_the_owner_by_now_is_not_it(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    for changes, expected in [({}, True), ({"started": 1}, False), ({"host": "another"}, None), ({"pid": "x"}, None)]:
        Path(f"{path}.json").write_text(json.dumps({**files.ownership(), **changes}))
        assert files.owner_is_alive(str(path)) is expected
    Path(f"{path}.json").write_text("half of a no")
    assert files.owner_is_alive(str(path)) is None
    assert files.owner_is_alive(str(tmp_path / "a.incomplete-1-ab")) is True  # another user's, or ours


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.txt").write_text("x")
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a")
    assert [entry.size for entry in files.list_files(str(tmp_path))] == [1]


def test_a_listing_of_a_store_keeps_the_protocol() -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    store.pipe("/listing/a.csv", b"12345")
    assert [(found.path, found.size) for found in files.list_files("memory://listing")] == [("memory:///listing/a.csv", 5)]
    store.rm("/listing", recursive=True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("s3://b/k", True), ("zip://a::b.zip", True), ("/x/y", False), ("C:\\x", False), ("a b://x", False), ("x.csv", False)],
)
def test_urls_are_told_from_paths(path: str, expected: bool) -> None:
    assert files.is_url(path) is expected


def test_join_keeps_the_chain_of_a_url() -> None:
    assert files.join("zip://inner::file://a.zip", "x.csv") == "zip://inner/x.csv::file://a.zip"


def test_an_unknown_protocol_is_a_clear_error() -> None:
    with pytest.raises(DownloadError, match="nosuch://x/y"):
        files.open_binary("nosuch://x/y")


@pytest.mark.parametrize(
    ("path", "module", "install"),
    [
        ("s3://bucket/a.csv", "s3fs", "datasets_core[s3]"),
        ("zip://a.csv::s3://bucket/a.zip", "s3fs", "datasets_core[s3]"),
        ("gs://bucket/a.csv", "gcsfs", "gcsfs"),
        ("abfs://box/a.csv", "adlfs", "adlfs"),
        ("sftp://host/a.csv", "paramiko", "paramiko"),
    ],
)
def test_a_store_without_its_package_names_that_package(
    path: str, module: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = importlib.import_module("fsspec.registry")
    for protocol in ("s3", "gs", "abfs", "sftp"):
        monkeypatch.delitem(registry._registry, protocol, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.sftp", raising=False)

    with pytest.raises(MissingDependencyError, match="needs the package") as caught:
        files.filesystem(path)

    assert (caught.value.package, caught.value.install) == (module, install)


def test_no_protocol_is_advised_as_a_package() -> None:
    from fsspec.registry import known_implementations as known

    assert len(known) > 30
    for protocol, facts in known.items():
        error = files._missing_package(f"{protocol}://host/a", ImportError(facts.get("err", "nothing")))
        assert error.install not in known
        assert error.install is not None or facts.get("err", "nothing").rstrip(".") in str(error)


def test_a_store_that_does_not_say_a_size_has_none() -> None:
    assert files._remote_entry("s3://b/a", {"ETag": '"x"', "size": None}) == files.FileEntry("s3://b/a", -1, "x")
    assert files._remote_entry("s3://b/a", {"ETag": '"x"', "size": 0}) == files.FileEntry("s3://b/a", 0, "x")


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x"
    files.write_atomically(str(target), b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DatasetDiskError, match=r"No space left on device \(3 bytes needed, [\d,]+ bytes free\)"):
        files.write_atomically(str(target), b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_other_errors_of_the_system_pass_unchanged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), files.disk_errors(str(tmp_path)):
        os.stat(tmp_path / "missing")


def test_a_lock_admits_one_thread_at_a_time(tmp_path: Path) -> None:
    inside, most, guard = [0], [0], threading.Lock()

    def enter() -> None:
        for _ in range(20):
            with files.locked(str(tmp_path / "lock")):
                with guard:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                with guard:
                    inside[0] -= 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1


def test_a_killed_holder_frees_its_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    code = """
import sys
from datasets_core import files
with files.locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
    with files.locked(path):
        pass


WITHOUT_FLOCK = """
import fcntl, sys
def refuse(descriptor, operation):
    raise OSError(int(sys.argv[2]), "no locks here")
fcntl.flock = refuse
from datasets_core import files
with files.locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder_without_flock(path: str, number: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", WITHOUT_FLOCK, path, str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ESTALE])
def test_without_flock_a_lease_admits_one_process_at_a_time(tmp_path: Path, number: int) -> None:
    path = str(tmp_path / "lock")
    with holder_without_flock(path, number) as first:
        assert first.stdout is not None and first.stdin is not None
        assert first.stdout.readline() == b"held\n"
        with holder_without_flock(path, number) as second:
            assert second.stdout is not None and second.stdin is not None
            assert select.select([second.stdout], [], [], 0.5)[0] == []
            first.stdin.close()
            assert second.stdout.readline() == b"held\n"
            second.stdin.close()
    assert os.listdir(tmp_path) == ["lock"]


def test_a_killed_holder_frees_its_lease(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with holder_without_flock(path, errno.ENOLCK) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        first.kill()
    with holder_without_flock(path, errno.ENOLCK) as second:
        assert second.stdout is not None and second.stdin is not None
        assert second.stdout.readline() == b"held\n"
        second.stdin.close()


def test_a_lock_where_no_folder_can_be_made_is_a_disk_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str, exist_ok: bool = False) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)  # as Linux does below /proc

    monkeypatch.setattr(os, "makedirs", refused)
    with (
        pytest.raises(DatasetDiskError, match="cannot be created"),
        files.locked(str(tmp_path / "below" / "lock")),
    ):
        pass


@pytest.mark.parametrize("name", ["folder", "circle", "x" * 300])
def test_a_lock_that_is_no_file_is_a_disk_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(DatasetDiskError), files.locked(str(tmp_path / name)):
        pass


def test_a_lock_on_a_broken_disk_is_a_disk_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def broken(descriptor: int, operation: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(DatasetDiskError, match="Input/output error"), files.locked(str(tmp_path / "lock")):
        pass


def test_a_lock_below_a_file_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetDiskError, match="file is not a folder"), files.locked(str(tmp_path / "file" / "lock")):
        pass


def test_a_lock_whose_release_fails_once_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "some.lock")
    release, failures = filelock.FileLock._release, iter([OSError(errno.EIO, "Input/output error")])

    def failing(self: filelock.FileLock) -> None:
        for error in failures:
            raise error
        release(self)

    monkeypatch.setattr(filelock.FileLock, "_release", failing)
    with files.locked(path):
        pass
    program = f"import fcntl; fcntl.flock(open({path!r}, 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_folders_of_a_lock_go_with_a_failure(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("new/a/lock", "old/b/lock"):
        with pytest.raises(KeyError), files.locked_and_swept(str(tmp_path / name)):
            raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]
    with pytest.raises(KeyError), files.locked_and_swept(str(tmp_path / "old" / "lock")):
        raise KeyError  # a folder that was there stays, with its lock
    with pytest.raises(KeyError), files.locked_and_swept(str(tmp_path / "kept" / "a" / "lock")):
        (tmp_path / "kept" / "a" / "work").touch()
        raise KeyError
    with files.locked_and_swept(str(tmp_path / "done" / "lock")):
        pass
    assert sorted(path.name for path in tmp_path.glob("*/**/*") if path.is_file()) == ["lock", "lock", "lock", "work"]


def test_who_waits_for_a_lock_gets_it_when_its_folder_is_swept(tmp_path: Path) -> None:
    held: list[int] = []
    failed: list[BaseException] = []

    def fail() -> None:
        for _ in range(20):
            try:
                with files.locked_and_swept(str(tmp_path / "a" / "b" / "lock")):
                    held.append(len(held))
                    assert held[-1] == len(held) - 1
                    raise KeyError
            except KeyError:
                pass
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=fail) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(held) == 80


def test_a_new_file_appears_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), files.new_file(str(path)) as out:
        out.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"old"
    with files.new_file(str(path)) as out:
        out.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_brings_the_folders_above_it(tmp_path: Path) -> None:
    with files.new_file(str(tmp_path / "b" / "c" / "a")) as out:
        out.write(b"new")
    assert (tmp_path / "b" / "c" / "a").read_bytes() == b"new"


def test_a_new_object_of_a_store_appears_when_the_block_ends_well(tmp_path: Path) -> None:
    url = f"memory://{tmp_path.name}/a"
    with pytest.raises(KeyError), files.new_file(url) as out:
        out.write(b"half")
        raise KeyError
    assert files.entry(url) is None
    with files.new_file(url) as out:
        out.write(b"new")
    with files.open_binary(url) as found:
        assert found.read() == b"new"


def test_whether_a_file_can_be_written_is_known_beforehand(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    files.check_writable(str(tmp_path / "a"))
    files.check_writable(str(tmp_path / "b"))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}
    for place in (tmp_path / "missing" / "b", tmp_path / "a" / "b"):
        with pytest.raises(FileNotFoundDatasetsError, match=f"there is no folder {place.parent}"):
            files.check_writable(str(place))
    with pytest.raises(DatasetDiskError, match="no file can be created there"):
        files.check_writable("/proc/b")


def test_an_error_of_the_library_in_a_write_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(DeniedAccessError, match="connect to"), files.disk_errors(str(tmp_path)):
        raise DeniedAccessError("connect to 'x'")


def test_an_error_of_a_folder_that_is_removed_names_its_path_and_its_first_cause(tmp_path: Path) -> None:
    def failing() -> None:  # as `shutil.rmtree` fails: in an open folder, whose descriptor it closes again
        try:
            raise OSError(errno.EIO, os.strerror(errno.EIO), "part.arrow")
        finally:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    with pytest.raises(DatasetDiskError) as caught, files.disk_errors(str(tmp_path)):
        failing()
    assert (caught.value.path, os.strerror(errno.EIO) in str(caught.value)) == (str(tmp_path), True)
