"""What is held for a confined process is given back once, and by its owner only."""

import os
from pathlib import Path

import pytest

from datasets_core.scripting.sandbox.process import ProcessResources, readable


def test_descriptors_and_the_folder_are_given_back_once(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    (tmp_path / "scratch").mkdir()
    held = ProcessResources(os.getpid(), [reads, writes], str(tmp_path / "scratch"))
    held.release()
    held.release()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reads)


def test_a_fork_of_the_owner_leaves_the_folder_alone(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    ProcessResources(os.getpid() + 1, [reads, writes], str(tmp_path)).release()
    assert tmp_path.exists()


def test_a_folder_that_cannot_go_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("x")
    ProcessResources(os.getpid(), [], str(tmp_path / "file")).release()
    assert "could not be removed" in caplog.text


def test_what_can_be_read_is_told_at_once() -> None:
    reads, writes = os.pipe()
    assert readable(reads, 0) is False
    os.write(writes, b"x")
    assert readable(reads, None) is True
    os.close(reads)
    os.close(writes)
