"""The bytes of one file of the Hub as far as they have come, and the hash that names them, taken while they pass by."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from datasets_core.fetch.checksum import FileRecord
from datasets_core.fetch.http import HttpResponse, TransientError
from datasets_core.fetch.hub_listing import HubFile
from datasets_core.fetch.parallel import Watch
from datasets_core.fetch.sniff import is_lfs_pointer, looks_like_html
from datasets_core.fetch.temporaries import discard

_CHUNK = 1 << 20
_HEAD_BYTES = 1 << 10
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PLAIN = {"", "identity"}
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}


class BlobDigest:
    """The hash that names a file of the Hub, and its sha256, taken while the bytes pass by.

    Args:
        file: whose bytes they are to be.

    >>> digest = BlobDigest(HubFile("a.txt", 5, "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"))
    >>> digest.update(b"hello")
    >>> digest.etag()
    'b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0'
    """

    def __init__(self, file: HubFile) -> None:
        self._sha256 = hashlib.sha256()
        header = f"blob {file.size}\0".encode()
        self._git = None if file.sha256 else hashlib.sha1(header, usedforsecurity=False)
        self.num_bytes = 0

    def update(self, data: bytes | bytearray | memoryview) -> None:
        """Take in more bytes."""
        self._sha256.update(data)
        if self._git is not None:
            self._git.update(data)
        self.num_bytes += len(data)

    def etag(self) -> str:
        """What the bytes so far are called: their git oid, or of a file in LFS their sha256."""
        return (self._sha256 if self._git is None else self._git).hexdigest()

    def record(self) -> FileRecord:
        """Size and sha256 of the bytes so far."""
        return FileRecord(self.num_bytes, self._sha256.hexdigest())


def blob_digest_of(path: str, file: HubFile) -> BlobDigest:
    """The digest of the bytes at `path`, open to be continued."""
    digest = BlobDigest(file)
    buffer = memoryview(bytearray(min(_CHUNK, file.size + 1)))
    with open(path, "rb", buffering=0) as source:
        while count := source.readinto(buffer):
            digest.update(buffer[:count])
    return digest


class WrongBytesError(Exception):
    """Bytes that are not those of the file; never to be seen by the user.

    Args:
        what: in what they differ: "size", "sha256" or "git oid".
        expected, found: what the Hub lists, and what came.
        advice: one thing to do, as a sentence without its stop, where the bytes tell.
    """

    def __init__(self, what: str, expected: str, found: str, *, advice: str | None = None) -> None:
        self.what, self.expected, self.found, self.advice = what, expected, found, advice
        super().__init__(f"{what} {found}")


class BlobPart:
    """The beginning of a file, on disk, so that another process can go on where this one ends.

    That a part which was found belongs to the version that is wanted is told by the hash, in the end.

    Args:
        path: where it lies, or is to lie.
        file: what it has to become.
        watch: is told of the bytes.
    """

    def __init__(self, path: str, file: HubFile, watch: Watch) -> None:
        self.path, self.file, self._watch = path, file, watch
        self.digest = BlobDigest(file)
        self._head = b""
        self._is_ranged = True
        if os.path.isfile(path) and os.path.getsize(path) <= file.size:
            self.digest = blob_digest_of(path, file)
            watch.told(self.size)
        else:
            discard(path)

    @property
    def size(self) -> int:
        """How many bytes there are so far."""
        return self.digest.num_bytes

    def is_complete(self) -> bool:
        """Whether nothing is missing; an empty file is known without asking for it."""
        return self.size == self.file.size and (self.size > 0 or self.digest.etag() == self.file.etag)

    def check(self) -> FileRecord:
        """Compare what came with the hash on the Hub's list.

        Raises:
            WrongBytesError: it is something else.
        """
        found = self.digest.etag()
        if found != self.file.etag:
            what = "git oid" if self.file.sha256 is None else "sha256"
            raise WrongBytesError(what, self.file.etag, found, advice=self._explained())
        if not self.size:
            self._opened().close()
        return self.digest.record()

    def restart(self) -> None:
        """Forget all that came."""
        self._watch.told(-self.size)
        self.digest, self._head = BlobDigest(self.file), b""
        discard(self.path)

    def ranged(self) -> dict[str, str]:
        """The headers that ask for the rest; none where it has to begin again."""
        if not self._is_ranged and self.size:
            self.restart()
        return {"Range": f"bytes={self.size}-"} if self.size else {}

    def begin(self, response: HttpResponse, *, is_rest: bool) -> Iterator[bytes]:
        """The bytes that come next: the rest, or all of it where the server does not give parts.

        Raises:
            TransientError: it is another part.
            WrongBytesError: the whole has another size.
        """
        encoding = (response.header("content-encoding") or "").strip().lower()
        if response.status == 206 and is_rest and encoding in _PLAIN:
            found = _CONTENT_RANGE.fullmatch((response.header("content-range") or "").strip())
            if found and int(found[1]) == self.size:
                if found[2] != "*":
                    self._check_size(int(found[2]))
                return response.chunks()
        if is_rest:
            self.restart()
            self._is_ranged = response.status == 200  # and was it another part, none is asked for again
        if response.status != 200:
            raise TransientError(f"the server answers {response.status} with another part than the one asked for")
        return self._whole(response, encoding)

    def _whole(self, response: HttpResponse, encoding: str) -> Iterator[bytes]:
        length = response.header("content-length")
        total = int(length) if length is not None and length.isascii() and length.isdigit() else None
        is_named = self.file.path.lower().endswith((".gz", ".tgz"))
        if encoding in _PLAIN:
            if total is not None and total != self.file.size:
                self._head = next(response.chunks(), b"")[:_HEAD_BYTES]
                self._check_size(total)
        elif total != self.file.size and not (total is None and is_named):  # else its name says anyway that it is compressed
            self._is_ranged = False  # what a part of it is, is not known
            return _decoded(encoding, response.chunks(), self.file.size)
        return response.chunks()

    def _check_size(self, total: int) -> None:
        if total != self.file.size:
            raise WrongBytesError("size", f"{self.file.size} bytes", f"{total} bytes", advice=self._explained())

    def _explained(self) -> str | None:
        """What it is that came instead, where its first bytes tell."""
        if is_lfs_pointer(self._head):
            return "A pointer of Git LFS comes in the place of the content: ask the owner of the repository to upload that"
        if looks_like_html(self._head):
            return "A web page comes in the place of the content: see whether a proxy or a login stands between"
        return None

    def receive(self, chunks: Iterator[bytes]) -> None:
        """Append all that comes.

        Raises:
            TransientError: the connection broke, or ended early.
            WrongBytesError: more comes than there should be.
        """
        with self._opened() as out:
            for chunk in chunks:
                if self.size + len(chunk) > self.file.size:
                    raise WrongBytesError("size", f"{self.file.size} bytes", "more bytes", advice=self._explained())
                if self.size < _HEAD_BYTES:
                    self._head = (self._head + chunk)[:_HEAD_BYTES]
                if out.tell() != self.size:
                    out.seek(self.size)
                out.write(chunk)
                self.digest.update(chunk)
                self._watch.told(len(chunk))
        if self.size < self.file.size:
            raise TransientError(f"{self.size} bytes came, {self.file.size} are listed")

    def _opened(self) -> BinaryIO:
        return cast(BinaryIO, open(self.path, "r+b" if self.size else "wb", buffering=0))


def _decoded(encoding: str, chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The bytes as they were before somebody on the way compressed them, who does not heed `Accept-Encoding: identity`."""
    bits = _WINDOW_BITS.get(encoding)
    if bits is None:
        raise TransientError(f"the server sends Content-Encoding {encoding!r}, which was not asked for")
    decoder = zlib.decompressobj(bits)
    try:
        for chunk in chunks:
            while chunk:
                data = decoder.decompress(chunk, size + 1)  # one byte too many is enough to see that it is wrong
                if data:
                    yield data
                chunk = decoder.unconsumed_tail
                if decoder.eof:
                    chunk, decoder = decoder.unused_data, zlib.decompressobj(bits)
    except zlib.error as error:
        raise TransientError(f"the server sends broken Content-Encoding {encoding!r} ({error})") from error
