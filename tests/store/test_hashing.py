"""A file that knows its sha256 when it is written."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core.store.writer import HashedFile


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.sampled_from([0, 1, 100, 1 << 10, (1 << 20) - 1, 1 << 20, 3 << 20]), max_size=6))
def test_the_hash_is_that_of_the_file(tmp_path: Path, sizes: list[int]) -> None:
    path = tmp_path / "file"
    path.unlink(missing_ok=True)
    out = HashedFile(str(path))
    for number, size in enumerate(sizes):
        assert out.write(bytes([number]) * size) == size
    size, sha256 = out.finish()
    content = path.read_bytes()
    assert size == len(content) == sum(sizes)
    assert sha256 == hashlib.sha256(content).hexdigest()


def test_what_the_caller_does_with_a_buffer_afterwards_does_not_matter(tmp_path: Path) -> None:
    out = HashedFile(str(tmp_path / "file"))
    block = bytearray(4 << 20)
    for number in range(8):
        block[:] = bytes([number]) * len(block)
        out.write(block)
    block[:] = b"x" * len(block)
    _, sha256 = out.finish()
    assert sha256 == hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest()


def test_a_discarded_file_is_gone_and_takes_no_more(tmp_path: Path) -> None:
    out = HashedFile(str(tmp_path / "file"))
    out.write(b"a" * (5 << 20))
    out.discard()
    assert out.write(b"b") == 1
    out.discard()
    assert os.listdir(tmp_path) == []


def test_what_a_worker_that_died_left_is_replaced_and_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old" * 10)
    with open(tmp_path / "file", "rb") as held:
        out = HashedFile(str(tmp_path / "file"))
        out.write(b"new")
        assert out.finish() == (3, hashlib.sha256(b"new").hexdigest())
        assert held.read() == b"old" * 10  # another file: whoever still has it open keeps its bytes
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_failure_while_hashing_is_raised_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", fail)
    out = HashedFile(str(tmp_path / "file"))
    out.write(b"a" * (5 << 20))
    with pytest.raises(OSError, match="Input/output error"):
        out.finish()
    out.discard()
