"""What a commit is to do: what of it stands in the repository already."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from datasets_core.fetch.hub.repository import HubCommit, HubFile
from datasets_core.fetch.hub.upload import Change, NewFile


def regular(path: str, content: bytes) -> HubFile:
    header = f"blob {len(content)}\0".encode()
    return HubFile(path, len(content), hashlib.sha1(header + content, usedforsecurity=False).hexdigest())


def lfs(path: str, content: bytes) -> HubFile:
    return HubFile(path, len(content), "f" * 40, hashlib.sha256(content).hexdigest())


def commit_of(*files: HubFile) -> HubCommit:
    return HubCommit("org/name", "a" * 40, "main", {file.path: file for file in files})


@given(st.binary(max_size=40), st.binary(max_size=40), st.sampled_from([regular, lfs]))
def test_a_file_stands_where_the_same_bytes_stand_at_its_path(mine: bytes, theirs: bytes, stored: object) -> None:
    assert callable(stored)
    file = NewFile("data/a.parquet", mine)

    assert file.stands_in(commit_of(stored("data/a.parquet", theirs))) == (mine == theirs)
    assert not file.stands_in(commit_of(stored("data/b.parquet", mine)))


def test_a_file_may_be_named_when_its_content_is_known(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    file = NewFile("data/pending", str(tmp_path / "x"))

    file.path = "data/a.parquet"

    assert (file.path, file.size, file.sha256) == ("data/a.parquet", 3, hashlib.sha256(b"abc").hexdigest())
    assert file.stands_in(commit_of(lfs("data/a.parquet", b"abc")))


def test_a_local_file_is_removed_once(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    file = NewFile("a", str(tmp_path / "x"))

    file.forget_local()
    file.forget_local()

    assert list(tmp_path.iterdir()) == []


def test_an_open_file_is_given_back_as_a_path(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    file = NewFile("a", str(tmp_path / "x"))

    with file.opened():
        assert file.operation.path_or_fileobj.read() == b"abc"

    assert file.operation.path_or_fileobj == str(tmp_path / "x")


def test_a_change_stands_where_all_of_it_does() -> None:
    before = commit_of(lfs("old", b"abc"), regular("gone", b"1"))
    change = Change([NewFile("README.md", b"text")], {"new": (before, "old")}, ["gone"])
    whole = (regular("README.md", b"text"), lfs("new", b"abc"))

    assert change.stands_in(commit_of(*whole, regular("other", b"2")))
    assert not change.stands_in(commit_of(*whole, regular("gone", b"1")))
    assert not change.stands_in(commit_of(whole[0]))
    assert not change.stands_in(commit_of(whole[1]))
    assert not change.is_empty()
    assert Change().is_empty()


def test_files_of_one_kind_have_content_folder_and_ending_in_common() -> None:
    first, *others = (NewFile(path, b"a") for path in ("data/1.parquet", "data/2.parquet", "data/1.txt", "en/1.parquet"))

    assert [other.kind == first.kind for other in others] == [True, False, False]
    assert NewFile("data/1.parquet", b"b").kind != first.kind


def test_a_file_that_shares_what_was_sent_keeps_its_path() -> None:
    sent, other = NewFile("data/1.parquet", b"a"), NewFile("data/2.parquet", b"a")
    sent.is_sent, sent.operation.path_or_fileobj = True, b""

    other.share(sent)

    assert (other.path, other.is_stored, sent.path) == ("data/2.parquet", True, "data/1.parquet")


def test_a_file_is_called_as_nothing_for_a_while() -> None:
    file = NewFile("data/1.parquet", b"a")

    with file.unnamed():
        assert file.path == "data/1-of-pending.parquet"

    assert file.path == "data/1.parquet"


def test_what_is_in_memory_is_opened_too(tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(b"a")
    for file in (NewFile("a", str(tmp_path / "local")), NewFile("a", b"a")):
        given = file.operation.path_or_fileobj
        with file.opened(), file.operation.as_file() as source:
            assert source is file.operation.path_or_fileobj
            assert source.read() == b"a"
        assert file.operation.path_or_fileobj == given
