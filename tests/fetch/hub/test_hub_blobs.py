"""Parts of files of the Hub: hashes of git and of LFS, what continues a part, and what is no part of the file."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.engines.threads import Watch
from datasets_core.fetch.http import HttpResponse, TransientError
from datasets_core.fetch.hub.repository import HubFile
from datasets_core.fetch.hub.transfer import BlobDigest, BlobPart, WrongBytesError, blob_digest_of


class Sent:
    """The body of an answer."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    def iter_raw(self) -> Iterator[bytes]:
        return iter(self._chunks)


def answer(status: int, *chunks: bytes, **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse("http://h/a", status, named, Sent(*chunks))


def in_git(content: bytes, path: str = "a.csv") -> HubFile:
    return HubFile(path, len(content), hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())


def received(part: BlobPart, response: HttpResponse, *, is_rest: bool = False) -> bytes:
    part.receive(part.begin(response, is_rest=is_rest))
    part.check()
    with open(part.path, "rb") as handle:
        return handle.read()


@given(st.lists(st.binary(max_size=50)))
def test_the_hash_of_a_small_file_is_the_one_of_git_however_it_comes(chunks):
    content = b"".join(chunks)
    digest = BlobDigest(in_git(content))
    for chunk in chunks:
        digest.update(chunk)
    assert digest.etag() == in_git(content).oid
    assert digest.record().checksum == hashlib.sha256(content).hexdigest()


def test_git_itself_gives_that_hash(tmp_path):
    (tmp_path / "a").write_bytes(b"some text\n")
    said = subprocess.run(["git", "hash-object", "a"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert blob_digest_of(str(tmp_path / "a"), HubFile("a", 10, "")).etag() == said.strip()


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_part_continues_at_its_exact_byte(tmp_path_factory, content, data):
    cut = data.draw(st.integers(1, len(content)))
    path = tmp_path_factory.mktemp("part") / "blob"
    path.write_bytes(content[:cut])
    part = BlobPart(str(path), in_git(content), Watch())
    assert part.ranged() == {"Range": f"bytes={cut}-"}
    rest = answer(206, content[cut:], content_range=f"bytes {cut}-{len(content) - 1}/{len(content)}")
    assert received(part, rest, is_rest=True) == content


def test_a_server_that_gives_all_of_it_again_doubles_no_byte(tmp_path):
    (tmp_path / "blob").write_bytes(b"ab")
    part = BlobPart(str(tmp_path / "blob"), in_git(b"abcdef"), Watch())
    assert received(part, answer(200, b"abc", b"def"), is_rest=True) == b"abcdef"


@pytest.mark.parametrize("content_range", ["bytes 3-5/6", "bytes 0-5/6", "nonsense"])
def test_another_part_than_the_one_asked_for_is_not_taken_nor_asked_for_again(tmp_path, content_range):
    (tmp_path / "blob").write_bytes(b"ab")
    part = BlobPart(str(tmp_path / "blob"), in_git(b"abcdef"), Watch())
    with pytest.raises(TransientError):
        part.begin(answer(206, b"xxxx", content_range=content_range), is_rest=True)
    assert (part.size, part.ranged()) == (0, {})


def test_what_lies_there_and_is_longer_than_the_file_is_no_part_of_it(tmp_path):
    (tmp_path / "blob").write_bytes(b"longer than that")
    assert BlobPart(str(tmp_path / "blob"), in_git(b"abc"), Watch()).size == 0


def test_an_empty_file_is_known_without_asking(tmp_path):
    part = BlobPart(str(tmp_path / "blob"), in_git(b""), Watch())
    assert part.is_complete()
    assert part.check().num_bytes == 0
    assert (tmp_path / "blob").read_bytes() == b""


def test_a_body_that_a_proxy_compressed_is_the_file_again(tmp_path):
    content = b"a,b\n" * 1000
    part = BlobPart(str(tmp_path / "blob"), in_git(content), Watch())
    packed = gzip.compress(content)
    assert received(part, answer(200, packed[:20], packed[20:], content_encoding="gzip")) == content


def test_a_compressed_file_stays_compressed_whatever_the_header_says(tmp_path):
    content = gzip.compress(b"a,b\n" * 1000)
    part = BlobPart(str(tmp_path / "blob"), in_git(content, "a.csv.gz"), Watch())
    assert received(part, answer(200, content, content_encoding="gzip", content_length=str(len(content)))) == content


def test_after_an_encoded_body_broke_off_no_part_is_asked_for(tmp_path):
    content = bytes(range(256)) * 40
    part = BlobPart(str(tmp_path / "blob"), in_git(content), Watch())
    with pytest.raises(TransientError):
        received(part, answer(200, gzip.compress(content)[:200], content_encoding="gzip"))
    assert part.size > 0
    assert (part.ranged(), part.size) == ({}, 0)


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "pointer of Git LFS"),
        (b"<!DOCTYPE html><html>log in", "web page"),
    ],
)
def test_what_comes_in_the_place_of_the_content_is_told(tmp_path, body, advice):
    part = BlobPart(str(tmp_path / "blob"), HubFile("a.bin", 5000, "0" * 40, "1" * 64), Watch())
    with pytest.raises(WrongBytesError) as caught:
        received(part, answer(200, body, content_length=str(len(body))))
    assert advice in caught.value.advice


def test_more_bytes_than_are_listed_are_not_kept(tmp_path):
    part = BlobPart(str(tmp_path / "blob"), in_git(b"abc"), Watch())
    with pytest.raises(WrongBytesError, match="size"):
        received(part, answer(200, b"abc", b"d"))
