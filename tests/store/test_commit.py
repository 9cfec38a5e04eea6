"""The commit: old or new, whatever fails and whenever; and nothing is left."""

import builtins
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import fsspec.implementations.memory
import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.errors import DamagedShardError, DatasetDiskError, DatasetsCoreError, DownloadError
from datasets_core.files import lease_path, locked
from datasets_core.meta.info import DatasetInfo
from datasets_core.store import commit
from datasets_core.store import manifest as layout
from datasets_core.store.commit import Staging, dead_work, find_garbage, locked_once, remove_garbage, unlink_unheld
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.pieces import row_ranges
from datasets_core.store.source import open_rows, verify_folder
from datasets_core.store.writer import ShardWriter

Dataset = tuple[str, Manifest]
Build = Callable[..., Dataset]


def _rows(target: str) -> pa.Table | None:
    """What a reader finds at `target`, every shard checked; None for no dataset."""
    manifest = read_manifest(target)
    if manifest is None:
        return None
    assert [problem for problem in verify_folder(target) if problem.kind != "extra"] == []
    return open_rows(target, manifest, row_ranges("train", manifest.split_lengths())).to_table()


def _around(target: str) -> list[str]:
    """Names beside and in the target, locks apart."""
    parent, name = os.path.split(target)
    return sorted(found for found in os.listdir(parent) if found.startswith(name) and not found.endswith(".lock"))


# -- the plain way -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_a_fresh_dataset_is_one_folder_with_shards_and_manifest(
    tmp_path: Path, table: pa.Table, build: Build, file_format: str
) -> None:
    target, manifest = build(str(tmp_path / "a" / "data"), table, file_format=file_format)
    train = [f"reviews-train-{k:05d}-of-00005.{file_format}" for k in range(5)]
    assert sorted(os.listdir(target)) == ["dataset_info.json", f"reviews-test-00000-of-00001.{file_format}", *train]
    assert _around(target) == ["data"]
    assert read_manifest(target) == manifest
    assert _rows(target).equals(table)  # type: ignore[union-attr]


def test_an_empty_folder_becomes_the_dataset(tmp_path: Path, table: pa.Table, build: Build) -> None:
    (tmp_path / "data").mkdir()
    target, _ = build(str(tmp_path / "data"), table)
    assert _rows(target).equals(table)  # type: ignore[union-attr]


def test_a_folder_with_other_files_keeps_them(tmp_path: Path, table: pa.Table, build: Build) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.txt").write_text("mine")
    target, _ = build(str(tmp_path / "data"), table)
    assert _rows(target).equals(table)  # type: ignore[union-attr]
    assert (tmp_path / "data" / "notes.txt").read_text() == "mine"


def test_a_dataset_is_replaced_under_the_eyes_of_its_readers(dataset: Dataset, table: pa.Table, build: Build) -> None:
    target, old = dataset
    lazy = open_rows(target, old, row_ranges("train", old.split_lengths()))
    other = table.slice(50).append_column("more", pa.array(range(50))).select(["id", "more"])
    build(target, pa.concat_tables([other, other]))
    assert _rows(target).equals(pa.concat_tables([other, other]).combine_chunks())  # type: ignore[union-attr]
    assert lazy.to_table().equals(table)
    assert _around(target) == ["data"]


def test_a_replacement_of_equal_content_adds_nothing(dataset: Dataset, table: pa.Table, build: Build) -> None:
    target, _ = dataset
    build(target, table)
    before = sorted(os.listdir(target))
    build(target, table)
    assert sorted(os.listdir(target)) == before
    assert _rows(target).equals(table)  # type: ignore[union-attr]


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path, table: pa.Table, build: Build) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    build(str(tmp_path / "link"), table)
    assert (tmp_path / "link").is_symlink()
    assert _rows(str(tmp_path / "real")).equals(table)  # type: ignore[union-attr]


@pytest.mark.parametrize("refusal", [errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP])
def test_file_systems_without_hard_links_take_copies(
    tmp_path: Path, table: pa.Table, build: Build, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr(os, "link", refuse)
    target, _ = build(str(tmp_path / "data"), table)
    build(target, table.slice(0, 100))
    assert _rows(target).equals(table)  # type: ignore[union-attr]


def test_a_shard_that_vanished_or_changed_is_named_before_the_commit(tmp_path: Path, table: pa.Table) -> None:
    staging, manifest = _staged(str(tmp_path / "data"), table)
    path = os.path.join(staging.folder, manifest.shards[0].name)
    with open(path, "ab") as handle:
        handle.write(b"x")
    with pytest.raises(DamagedShardError, match="bytes, expected"):
        staging.commit(manifest)
    os.unlink(path)
    with pytest.raises(DamagedShardError, match="vanished"):
        staging.commit(manifest)
    assert _rows(str(tmp_path / "data")) is None


# -- staging -----------------------------------------------------------------------------------------------------------


def _staged(target: str, table: pa.Table) -> tuple[Staging, Manifest]:
    staging = Staging.adopt_or_create(target)
    with open(staging.journal, "w") as journal:
        journal.write("finished\n")
    shards = []
    for number in range(2):
        with ShardWriter(staging.folder, f"job-{number}", split="train", schema=table.schema) as writer:
            writer.write(table.slice(number * 50, 50))
        shards += writer.close()
    info = DatasetInfo.from_dict({"dataset_name": "reviews", "splits": [{"name": "train", "num_examples": 100}]})
    return staging, Manifest(info, tuple(shards))


def test_the_work_of_a_dead_owner_is_taken_over(tmp_path: Path, table: pa.Table) -> None:
    target = str(tmp_path / "data")
    staging, manifest = _staged(target, table)
    (Path(staging.folder) / f"job-2-00000.arrow.tmp-{os.getpid()}-abcd").write_text("half")
    adopted = Staging.adopt_or_create(target)
    assert not os.path.exists(staging.folder)
    assert sorted(os.listdir(adopted.folder)) == ["job-0-00000.arrow", "job-1-00000.arrow", "journal.jsonl"]
    adopted.commit(manifest)
    assert _rows(target).equals(table)  # type: ignore[union-attr]
    assert _around(target) == ["data"]


def test_of_several_dead_ones_the_longest_journal_is_taken_and_the_rest_removed(tmp_path: Path) -> None:
    target = str(tmp_path / "data")
    for number, journal in enumerate([None, "a\n", "a\nb\n", "b\n"]):
        folder = tmp_path / f"data.incomplete-{number + 1}-ab"
        folder.mkdir()
        if journal is not None:
            (folder / "journal.jsonl").write_text(journal)
    adopted = Staging.adopt_or_create(target)
    assert Path(adopted.journal).read_text() == "a\nb\n"
    assert _around(target) == [os.path.basename(adopted.folder)]


def test_what_a_killed_commit_left_in_the_target_is_removed(dataset: Dataset) -> None:
    target, manifest = dataset
    litter = ["dataset_info.json.tmp-1-ab", f"{manifest.shards[0].name}.tmp-1-ab"]
    kept = ["cache-ab12.arrow.tmp-1-ab", "notes.tmp-1-ab"]
    for name in litter + kept:
        Path(target, name).touch()
    Staging.adopt_or_create(target).discard()
    assert sorted(name for name in os.listdir(target) if ".tmp-" in name) == kept
    assert _around(target) == ["data"]


# -- every failure point -----------------------------------------------------------------------------------------------

_CALLS = [
    "open",
    "write",
    "fsync",
    "rename",
    "replace",
    "link",
    "unlink",
    "mkdir",
    "makedirs",
    "listdir",
    "stat",
    "scandir",
    "rmdir",
]


class _Handle:
    """A file opened by `open`, whose `write` may fail too."""

    def __init__(self, handle: Any, step: Callable[[str], None]) -> None:
        self._handle, self._step = handle, step

    def __getattr__(self, name: str) -> Any:
        if name == "write":
            self._step("write")
        return getattr(self._handle, name)

    def __enter__(self) -> "_Handle":
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.close()


class _Crash(BaseException):
    """Ends the process as far as the code under test can tell."""


@contextmanager
def _failing(at: int, failure: BaseException, *, stays_broken: bool) -> Iterator[list[str]]:
    """Make the `at`-th call to the system fail (and all later ones); the list gets the calls made."""
    calls: list[str] = []

    def step(name: str) -> None:
        calls.append(name)
        if len(calls) == at or (stays_broken and len(calls) > at):
            raise failure

    def shim(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            step(name)
            return real(*arguments, **options)

        return call

    real_open = builtins.open
    with pytest.MonkeyPatch.context() as patch:
        for name in _CALLS:
            patch.setattr(os, name, shim(name, getattr(os, name)))
        patch.setattr(builtins, "open", lambda *a, **o: (step("open"), _Handle(real_open(*a, **o), step))[1])
        yield calls


def _walk(tmp_path: Path, act: Callable[[str], "_Commit"], failure: Callable[[], BaseException], *, stays_broken: bool) -> int:
    """Run `act` on a fresh state again and again, with the first, second, … call failing; the number of calls it makes."""
    at = 1
    while True:
        target = str(tmp_path / f"{at}" / "data")
        os.mkdir(os.path.dirname(target))
        run = act(target)
        with _failing(at, failure(), stays_broken=stays_broken) as calls:
            failed = _fails(run)
        run.check(failed)
        if len(calls) < at:
            assert not failed
            return at
        at += 1


def _fails(run: Callable[[], object]) -> bool:
    try:
        run()
    except (DatasetsCoreError, OSError, _Crash):
        return True
    return False


class _Commit:
    """One commit of `new`, over `old` or over nothing, and what must hold after it, failed or not."""

    def __init__(self, target: str, old: pa.Table | None, new: pa.Table) -> None:
        self.target, self.old, self.new = target, old, new
        if old is not None:
            staging, manifest = _staged(target, old)
            staging.commit(manifest)
        self.staging, self.manifest = _staged(target, new)

    def __call__(self) -> None:
        self.staging.commit(self.manifest)

    def check(self, failed: bool) -> None:
        found = _rows(self.target)
        is_new = found is not None and found.equals(self.new)
        is_old = found is None if self.old is None else found is not None and found.equals(self.old)
        assert is_new or (failed and is_old)
        # The next run: it takes over the staged shards if they are still needed, and leaves no litter.
        staging, manifest = _staged(self.target, self.new)
        staging.commit(manifest)
        found = _rows(self.target)
        assert found is not None
        assert found.equals(self.new)
        assert _around(self.target) == ["data"]
        assert [name for name in os.listdir(self.target) if ".tmp-" in name or "job-" in name or "journal" in name] == []


@pytest.mark.parametrize("over", ["nothing", "a dataset"])
@pytest.mark.parametrize(
    ("failure", "stays_broken"),
    [
        (lambda: OSError(errno.ENOSPC, "No space left on device"), False),
        (lambda: OSError(errno.EIO, "Input/output error"), True),
        (_Crash, True),
    ],
    ids=["one call fails", "the disk breaks", "the process dies"],
)
def test_whichever_call_of_a_commit_fails_the_old_or_the_new_dataset_stands(
    tmp_path: Path, table: pa.Table, over: str, failure: Callable[[], BaseException], stays_broken: bool
) -> None:
    old = pa.concat_tables([table.slice(50), table.slice(0, 50)]).combine_chunks() if over == "a dataset" else None
    points = _walk(tmp_path, lambda target: _Commit(target, old, table), failure, stays_broken=stays_broken)
    assert points > 15  # else the shim misses the calls


def test_a_commit_that_failed_can_be_tried_again_with_the_same_staging(tmp_path: Path, table: pa.Table) -> None:
    run = _Commit(str(tmp_path / "data"), None, table)
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(DatasetDiskError, match="No space left"),
    ):
        patch.setattr(commit.files, "write_atomically", _full)
        run()
    assert {"job-0-00000.arrow", "job-1-00000.arrow", "journal.jsonl"} == set(os.listdir(run.staging.folder))
    run()
    assert _rows(run.target).equals(table)  # type: ignore[union-attr]


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


_KILLED = """
import os, signal, sys
import pyarrow as pa
from datasets_core import config
from datasets_core.files import locked
from datasets_core.meta.info import DatasetInfo
from datasets_core.store import manifest as layout
from datasets_core.store.commit import Staging
from datasets_core.store.manifest import Manifest
from datasets_core.store.writer import ShardWriter

target, at, calls = sys.argv[1], int(sys.argv[2]), 0

def watch(event, arguments):
    global calls
    if event in {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.listdir", "os.scandir"}:
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)

table = pa.table({"id": list(range(100))})
info = DatasetInfo.from_dict({"dataset_name": "reviews", "splits": [{"name": "train", "num_examples": 100}]})
with config.using(cache_dir=sys.argv[3]), locked(layout.lock_path(target)):
    sys.addaudithook(watch)
    staging = Staging.adopt_or_create(target)
    with ShardWriter(staging.folder, "job-0", split="train", schema=table.schema) as writer:
        writer.write(table)
    staging.commit(Manifest(info, tuple(writer.close())))
"""


@pytest.mark.slow
def test_a_build_that_is_killed_at_any_call_leaves_the_next_one_whole(tmp_path: Path) -> None:
    target = str(tmp_path / "data")
    arguments = [sys.executable, "-c", _KILLED, target]
    for at in range(1, 1000):
        ended = subprocess.run([*arguments, str(at), str(tmp_path / "cache")], check=False).returncode
        found = _rows(target)
        assert found is None or found["id"].to_pylist() == list(range(100))
        assert len(_around(target)) <= 2
        if ended != -signal.SIGKILL:
            break
    assert ended == 0
    assert at > 10
    assert _around(target) == ["data"]


# -- stores without rename ---------------------------------------------------------------------------------------------


@pytest.fixture
def url() -> Iterator[str]:
    """A folder of a store whose failures are tried again without a pause."""
    store = fsspec.filesystem("memory")
    with config.using(max_retry_wait_seconds=0):
        yield "memory://commit/reviews"
    store.rm("/commit", recursive=True)


def _objects(url: str) -> list[str]:
    return sorted(path.rpartition("/")[2] for path in fsspec.filesystem("memory").find(url.removeprefix("memory:/")))


def test_a_remote_dataset_has_shards_named_by_content(url: str, table: pa.Table, build: Build) -> None:
    _, manifest = build(url, table)
    names = [shard.name for shard in manifest.shards]
    assert _objects(url) == sorted(["dataset_info.json", *names])
    assert all(shard.sha256[:16] in shard.name for shard in manifest.shards)
    assert _rows(url).equals(table)  # type: ignore[union-attr]
    assert layout.staging_folders(url) == []


def test_a_remote_dataset_is_replaced_by_its_manifest(url: str, table: pa.Table, build: Build) -> None:
    _, old = build(url, table)
    _, new = build(url, pa.concat_tables([table.slice(50), table.slice(0, 50)]))
    assert not {shard.name for shard in old.split_shards()["train"]} & {shard.name for shard in new.shards}
    assert open_rows(url, old, row_ranges("train", old.split_lengths())).to_table().equals(table)
    assert _rows(url)["id"].to_pylist() == [*range(50, 100), *range(50)]  # type: ignore[index]


class _Flaky:
    """A store whose k-th write fails, or all from the k-th on."""

    def __init__(self, at: int, *, for_good: bool) -> None:
        self._store = fsspec.filesystem("memory")
        self._at, self._for_good, self.writes = at, for_good, 0

    def __getattr__(self, name: str) -> Any:
        if name in {"put_file", "pipe_file", "makedirs"}:
            self.writes += 1
            if self.writes == self._at or (self._for_good and self.writes > self._at):
                return _unreachable
        return getattr(self._store, name)


def _unreachable(*_: object, **__: object) -> None:
    raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")


@pytest.mark.parametrize("at", range(1, 9))
@pytest.mark.parametrize("for_good", [False, True])
def test_a_remote_commit_tries_again_and_never_shows_half(
    url: str, table: pa.Table, build: Build, at: int, for_good: bool
) -> None:
    build(url, table)
    other = pa.concat_tables([table.slice(50), table.slice(0, 50)]).combine_chunks()
    flaky = _Flaky(at, for_good=for_good)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commit.files, "filesystem", lambda path, options=None: (flaky, path.removeprefix("memory:/")))
        failed = _fails(lambda: build(url, other))
    assert failed == for_good
    assert _rows(url).equals(table if for_good else other)  # type: ignore[union-attr]
    build(url, other)
    assert _rows(url).equals(other)  # type: ignore[union-attr]
    assert layout.staging_folders(url) == []


def test_shards_behind_the_first_are_sent_at_once(
    url: str, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fsspec.filesystem("memory")
    put, meeting, sent = store.put_file, threading.Barrier(3, timeout=30), []

    def put_together(local: str, remote: str) -> None:
        sent.append(remote)
        if len(sent) > 1:
            meeting.wait()
        put(local, remote)

    monkeypatch.setattr(store, "put_file", put_together)
    with locked(layout.lock_path(url)):
        staging = Staging.adopt_or_create(url)
        with ShardWriter(
            staging.folder, "rows", split="train", schema=table.schema, max_shard_bytes=table.nbytes // 4
        ) as writer:
            writer.write(table)
            shards = writer.close()[:4]
        manifest = staging.commit(Manifest(info=DatasetInfo(dataset_name="birds"), shards=tuple(shards)))
    assert len(shards) == len(sent) == 4
    assert _objects(url) == sorted(["dataset_info.json", *(shard.name for shard in manifest.shards)])


class _StoreError(Exception):
    """An error that only the package of a store knows."""


@pytest.mark.parametrize(
    ("error", "advice", "tries"),
    [(_StoreError("throttled"), "Run again", 5), (PermissionError("denied"), "Grant the key write access", 1)],
)
def test_what_a_store_raises_becomes_one_error_with_advice(
    url: str, table: pa.Table, build: Build, monkeypatch: pytest.MonkeyPatch, error: Exception, advice: str, tries: int
) -> None:
    calls = []

    def refuse(*_: object, **__: object) -> None:
        calls.append(1)
        raise error

    monkeypatch.setattr(fsspec.implementations.memory.MemoryFileSystem, "makedirs", refuse)
    fsspec.filesystem("memory").pipe_file("/commit/other", b"")
    with pytest.raises(DownloadError, match=f"memory://commit/reviews: could not be written .*{advice}"):
        build(url, table)
    assert len(calls) == tries


def test_a_store_that_refuses_for_good_is_named(
    url: str, table: pa.Table, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaky = _Flaky(2, for_good=True)
    monkeypatch.setattr(commit.files, "filesystem", lambda path, options=None: (flaky, path.removeprefix("memory:/")))
    fsspec.filesystem("memory").pipe_file("/commit/other", b"")
    with pytest.raises(DownloadError, match=r"reviews-train-00000-of-00005.*could not be written.*Connection reset"):
        build(url, table)


@pytest.mark.parametrize("where", ["fcntl.flock", "os.unlink"])
def test_an_interrupt_while_a_lock_comes_or_goes_leaves_no_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Ctrl-C between the making of the file and its lock, and between the end of the work and the removal of the file."""

    def interrupted(*args: Any) -> None:
        monkeypatch.undo()
        assert (tmp_path / "a.lock").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    with pytest.raises(KeyboardInterrupt), locked_once(str(tmp_path / "a.lock")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_another_holds_stays(tmp_path: Path) -> None:
    with locked(str(tmp_path / "a.lock")):
        unlink_unheld(str(tmp_path / "a.lock"))
        assert (tmp_path / "a.lock").exists()
    unlink_unheld(str(tmp_path / "a.lock"))
    assert list(tmp_path.iterdir()) == []


# What `cache gc` finds, and what it must leave.

DEAD = 2**22 + 1  # above the largest process number of Linux


def _aged(path: Path, content: str = "x", *, seconds: float = 7200) -> Path:
    """A file, or a folder with one file, that was last changed so long ago."""
    if "incomplete" in path.name:
        path.mkdir()
        _aged(path / "part.arrow", content, seconds=seconds)
    else:
        path.write_text(content)
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def _found(folder: Path) -> list[tuple[str, str]]:
    return [(os.path.basename(found.path), found.kind) for found in find_garbage(str(folder))]


def test_old_temporaries_of_dead_processes_are_garbage(tmp_path: Path) -> None:
    _aged(tmp_path / f"data.incomplete-{DEAD}-ab", "12345")
    _aged(tmp_path / f"file.tmp-{DEAD}-ab", "123")
    found = find_garbage(str(tmp_path))
    assert [(os.path.basename(one.path), one.kind, one.size) for one in found] == [
        (f"data.incomplete-{DEAD}-ab", "staging", 5),
        (f"file.tmp-{DEAD}-ab", "temporary", 3),
    ]
    assert remove_garbage(found) == 8
    assert os.listdir(tmp_path) == []


def test_what_is_young_or_alive_or_not_ours_stays(tmp_path: Path) -> None:
    _aged(tmp_path / f"young.incomplete-{DEAD}-ab", seconds=60)
    _aged(tmp_path / f"young.tmp-{DEAD}-ab", seconds=60)
    _aged(tmp_path / f"alive.incomplete-{os.getpid()}-ab")
    _aged(tmp_path / f"alive.tmp-{os.getpid()}-ab")
    _aged(tmp_path / "notes.tmp")
    _aged(tmp_path / "data.incomplete")
    assert _found(tmp_path) == []


def test_a_staging_folder_in_which_something_changed_lately_stays(tmp_path: Path) -> None:
    folder = _aged(tmp_path / f"data.incomplete-{DEAD}-ab")
    os.utime(folder / "part.arrow")
    assert _found(tmp_path) == []


def test_a_staging_folder_whose_target_is_locked_stays(tmp_path: Path) -> None:
    _aged(tmp_path / f"data.incomplete-{DEAD}-ab")
    with locked(str(tmp_path / "data.lock")):
        assert _found(tmp_path) == []
    assert len(_found(tmp_path)) == 1


def test_shards_of_a_replaced_dataset_are_garbage_after_a_while(dataset: Dataset, table: pa.Table, build: Build) -> None:
    target, old = dataset
    build(target, pa.concat_tables([table.slice(50), table.slice(0, 50)]))
    assert _found(Path(target)) == []
    for name in os.listdir(target):
        os.utime(os.path.join(target, name), (1, 1))
    found = find_garbage(target)
    assert {os.path.basename(one.path) for one in found} == {shard.name for shard in old.shards}
    assert {one.kind for one in found} == {"orphan"}
    remove_garbage(found)
    manifest = read_manifest(target)
    assert manifest is not None
    assert open_rows(target, manifest, row_ranges("train", manifest.split_lengths())).num_rows == 100


def test_without_a_manifest_that_can_be_read_no_shard_is_garbage(dataset: Dataset) -> None:
    target, _ = dataset
    for content in ("{", "{}"):
        Path(target, "dataset_info.json").write_text(content)
        for name in os.listdir(target):
            os.utime(os.path.join(target, name), (1, 1))
        assert _found(Path(target)) == []


def test_results_of_transforms_are_no_garbage(dataset: Dataset) -> None:
    target, _ = dataset
    Path(target, "cache-0123.arrow").touch()
    for name in os.listdir(target):
        os.utime(os.path.join(target, name), (1, 1))
    assert _found(Path(target)) == []


def test_what_another_process_removed_meanwhile_frees_nothing(tmp_path: Path) -> None:
    path = _aged(tmp_path / f"file.tmp-{DEAD}-ab")
    found = find_garbage(str(tmp_path))
    path.unlink()
    assert remove_garbage(found) == 0


def test_the_age_can_be_chosen(tmp_path: Path) -> None:
    _aged(tmp_path / f"file.tmp-{DEAD}-ab", seconds=60)
    assert len(find_garbage(str(tmp_path), min_age_seconds=30)) == 1


def test_unfinished_builds_of_dead_processes_are_found_in_a_cache(tmp_path: Path) -> None:
    place = tmp_path / "reviews" / "default" / "1.0.0"
    place.mkdir(parents=True)
    _aged(place / f"old.incomplete-{DEAD}-ab")
    _aged(place / f"young.incomplete-{DEAD}-ab", seconds=60)
    _aged(place / f"alive.incomplete-{os.getpid()}-ab")
    _aged(place.parent / f"2.0.0.incomplete-{DEAD}-ab")  # of a folder without a hash in its path
    (tmp_path / "downloads" / "extracted").mkdir(parents=True)
    found = dead_work(str(tmp_path))
    assert [os.path.basename(one.path) for one in found] == [f"2.0.0.incomplete-{DEAD}-ab", f"old.incomplete-{DEAD}-ab"]


def test_a_lease_keeps_the_staging_folder_of_its_target(tmp_path: Path) -> None:
    _aged(tmp_path / f"data.incomplete-{DEAD}-ab")
    lease = Path(lease_path(str(tmp_path / "data.lock")))
    lease.touch()
    assert _found(tmp_path) == []
    os.utime(lease, (1, 1))
    assert len(_found(tmp_path)) == 1


def test_results_that_nobody_used_for_long_are_garbage(tmp_path: Path) -> None:
    for name, days in (("old", 40), ("young", 3)):
        folder = tmp_path / "transforms" / "root" / name
        folder.mkdir(parents=True)
        (folder / "dataset_info.json").write_text("{}")
        os.utime(folder, (time.time() - days * 86_400,) * 2)
    found = find_garbage(str(tmp_path))
    assert [(os.path.basename(one.path), one.kind) for one in found] == [("old", "unused")]
    assert remove_garbage(found) == 2
    assert os.listdir(tmp_path / "transforms" / "root") == ["young"]
