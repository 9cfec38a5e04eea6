"""The storage host of LFS objects: what it holds, and URLs that open one object for a while."""

from __future__ import annotations

import hashlib
import hmac
import itertools
from urllib.parse import parse_qs, urlencode, urlsplit


class Storage:
    """Objects by their sha256, behind signed URLs.

    Attributes:
        url: where it answers; another port than the Hub's, hence another host.
        objects: content by sha256.
        clock: seconds; a test moves it, so that URLs expire.
        url_seconds: how long a URL holds.
        uploads: how often the bytes of each object came.
    """

    def __init__(self) -> None:
        self.url = ""
        self.objects: dict[str, bytes] = {}
        self.clock = 1_700_000_000
        self.url_seconds = 3600
        self.uploads: dict[str, int] = {}
        self._parts: dict[str, dict[int, bytes]] = {}
        self._tickets = itertools.count(1)

    def signed(self, method: str, path: str, **query: str) -> str:
        """A URL at which `method` may be used on `path` until it expires."""
        parameters = {**query, "X-Expires": str(self.clock + self.url_seconds), "X-Ticket": str(next(self._tickets))}
        parameters["X-Signature"] = self._signature(method, path, parameters)
        return f"{self.url}{path}?{urlencode(parameters)}"

    def is_open(self, method: str, target: str) -> bool:
        """Whether a request has a signature that holds still."""
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        signature = query.pop("X-Signature", "")
        is_valid = hmac.compare_digest(signature, self._signature("GET" if method == "HEAD" else method, parts.path, query))
        return is_valid and int(query.get("X-Expires", "0")) > self.clock

    def expire(self) -> None:
        """Let every URL that was given out so far be too old."""
        self.clock += self.url_seconds + 1

    @staticmethod
    def _signature(method: str, path: str, query: dict[str, str]) -> str:
        return hmac.new(b"key", f"{method} {path} {sorted(query.items())}".encode(), hashlib.sha256).hexdigest()

    def keep(self, sha256: str, content: bytes) -> bool:
        """Take an object; False where it is not what its name says."""
        if hashlib.sha256(content).hexdigest() != sha256:
            return False
        self.objects[sha256] = content
        self.uploads[sha256] = self.uploads.get(sha256, 0) + 1
        return True

    def keep_part(self, sha256: str, number: int, content: bytes) -> str:
        """Take a part of an object; its ETag."""
        self._parts.setdefault(sha256, {})[number] = content
        return hashlib.md5(content).hexdigest()

    def join(self, sha256: str, parts: list[tuple[int, str]]) -> bool:
        """Make an object of its parts; False where one is missing or another than was sent."""
        sent = self._parts.get(sha256, {})
        is_whole = all(number in sent and hashlib.md5(sent[number]).hexdigest() == etag.strip('"') for number, etag in parts)
        return is_whole and self.keep(sha256, b"".join(sent[number] for number, _ in parts))
