"""Folders put in the place of others at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError, DatasetDiskError
from datasets_core.store.atomic import StagedFolder, check_replaceable, discard, exchange, write_whole


def _content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_new_folder_comes_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    with StagedFolder(str(tmp_path / "deep" / "set")) as staged:
        (Path(staged.path) / "a").write_text("1")
        assert not (tmp_path / "deep" / "set").exists()
        assert staged.take_place()
    assert _content(tmp_path / "deep" / "set") == {"a": "1"}
    assert os.listdir(tmp_path / "deep") == ["set"]


def test_an_old_folder_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "old").write_text("0")
    with StagedFolder(str(tmp_path / "set")) as staged:
        (Path(staged.path) / "new").write_text("1")
        done = staged.take_place()
    assert _content(tmp_path / "set") == ({"new": "1"} if done else {"old": "0"})
    assert os.listdir(tmp_path) == ["set"]


def test_a_failure_leaves_the_old_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "old").write_text("0")
    with pytest.raises(KeyError), StagedFolder(str(tmp_path / "set")) as staged:
        (Path(staged.path) / "new").write_text("1")
        raise KeyError
    assert _content(tmp_path / "set") == {"old": "0"}
    assert os.listdir(tmp_path) == ["set"]


_DIE = """
import os, signal, sys
from datasets_core.store.atomic import StagedFolder
staged = StagedFolder(sys.argv[1]).__enter__()
open(os.path.join(staged.path, "half"), "w").write("x")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _DIE, str(tmp_path / "set")], check=False, cwd=Path(__file__).parents[2])
    assert len(os.listdir(tmp_path)) == 1
    with StagedFolder(str(tmp_path / "set")) as staged:
        assert os.listdir(tmp_path) == [os.path.basename(staged.path)]


def test_what_a_living_one_fills_is_left_alone(tmp_path: Path) -> None:
    with StagedFolder(str(tmp_path / "set")) as one, StagedFolder(str(tmp_path / "set")) as other:
        assert sorted(os.listdir(tmp_path)) == sorted(os.path.basename(each.path) for each in (one, other))


def test_the_present_folder_is_not_pulled_from_under_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").mkdir()
    monkeypatch.chdir(tmp_path / "set")
    with StagedFolder(".") as staged:
        assert not staged.take_place()


def test_a_file_in_the_place_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(DatasetDiskError), StagedFolder(str(tmp_path / "plain" / "set")):
        pass
    with pytest.raises(DatasetDiskError), StagedFolder(str(tmp_path / "plain")) as staged:
        staged.take_place()
    assert os.listdir(tmp_path) == ["plain"]


def test_an_exchange_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No such file"):
        exchange(str(tmp_path / "none"), str(tmp_path / "neither"))


# A file that is there as a whole: the old one until the new one is finished, and no litter.

SCHEMA = pa.schema({"a": pa.int64()}, {"key": "1"})


def _batches(*values: list[int]) -> Iterator[pa.RecordBatch]:
    return (pa.record_batch({"a": pa.array(batch, pa.int64())}) for batch in values)


@pytest.mark.parametrize(("as_stream", "opened"), [(False, pa.ipc.open_file), (True, pa.ipc.open_stream)])
def test_the_file_holds_the_batches_under_the_schema(tmp_path: Path, as_stream: bool, opened: object) -> None:
    path = tmp_path / "new" / "a.arrow"

    write_whole(str(path), SCHEMA, _batches([1, 2], [], [3]), as_stream=as_stream)

    table = opened(path.read_bytes()).read_all()  # type: ignore[operator]
    assert table["a"].to_pylist() == [1, 2, 3]
    assert table.schema.equals(SCHEMA, check_metadata=True)


def test_another_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    write_whole(str(path), SCHEMA, _batches([1]))
    seen: list[bytes] = []

    def batches() -> Iterator[pa.RecordBatch]:
        yield from _batches([2], [3])
        seen.append(path.read_bytes())

    before = path.read_bytes()
    write_whole(str(path), SCHEMA, batches())

    assert seen == [before]
    assert pa.ipc.open_file(path.read_bytes()).read_all()["a"].to_pylist() == [2, 3]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.arrow"
    write_whole(str(path), SCHEMA, _batches([1]))
    before = path.read_bytes()

    def batches() -> Iterator[pa.RecordBatch]:
        yield from _batches([2])
        raise error

    with pytest.raises(error):
        write_whole(str(path), SCHEMA, batches())

    assert [(found.name, found.read_bytes()) for found in tmp_path.iterdir()] == [("a.arrow", before)]


def test_a_place_that_takes_no_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises((DatasetDiskError, FileExistsError, NotADirectoryError)):
        write_whole(str(tmp_path / "file" / "a.arrow"), SCHEMA, _batches([1]))

    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_what_killed_processes_left_beside_a_file_goes_with_the_next_write(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, live = tmp_path / f"a.arrow.tmp-{ended.pid}-0a", tmp_path / f"a.arrow.tmp-{os.getppid()}-0b"
    other = tmp_path / f"b.arrow.tmp-{ended.pid}-0c"
    for path in (dead, live, other):
        path.write_bytes(b"half")

    write_whole(str(tmp_path / "a.arrow"), SCHEMA, _batches([1]))

    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "a.arrow", live, other])


def test_only_cache_files_are_replaced(tmp_path: Path) -> None:
    path = str(tmp_path / "mine.csv")
    check_replaceable(path)
    Path(path).touch()
    check_replaceable(path)
    for content in (b"a,b\n1,2\n", b"ARROW1 cut"):
        Path(path).write_bytes(content)
        with pytest.raises(ConfigurationError) as caught:
            check_replaceable(path)
        assert str(caught.value.file).endswith("mine.csv")


@pytest.mark.parametrize("as_stream", [True, False])
@pytest.mark.parametrize(
    ("column", "metadata", "is_cache"),
    [
        ("a", {}, False),
        ("a", {b"huggingface": b'{"info": {}}'}, False),
        ("a", {b"huggingface": b'{"fingerprint": "ab"}'}, True),
        ("a", {b"datasets_core.fingerprint": b"ab"}, True),
        ("indices", {}, True),
    ],
)
def test_a_cache_file_is_known_by_its_schema(
    tmp_path: Path, as_stream: bool, column: str, metadata: dict[bytes, bytes], is_cache: bool
) -> None:
    path = str(tmp_path / "x.arrow")
    write_whole(path, pa.schema({column: pa.int64()}).with_metadata(metadata), [], as_stream=as_stream)
    if is_cache:
        check_replaceable(path)
    else:
        with pytest.raises(ConfigurationError, match="not a cache file"):
            check_replaceable(path)


def test_a_folder_that_cannot_be_closed_is_discarded_as_far_as_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old" / "deep").mkdir(parents=True)
    (tmp_path / "old" / "shard").write_text("rows")
    close = os.close

    def failing(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "close", failing)
    discard(str(tmp_path / "old"))
    monkeypatch.undo()
    assert not (tmp_path / "old" / "shard").exists()
