"""`HubCommit`: the files of one commit of a Hub repository, and the validation of listings."""

from __future__ import annotations

import os
import re
import reprlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from datasets_core.errors import HubError
from datasets_core.hub_urls import hub_url, is_inner_path

_OID = r"[0-9a-f]{40}|[0-9a-f]{64}"
_SHA256 = r"[0-9a-f]{64}"
_LONGEST_PATH = 4096  # limit in bytes, as in Linux and git
_MOST_PARTS = 256
_MOST_LETTERS = 1 << 28  # limit of characters in the paths of one listing
_LARGEST = (1 << 63) - 1
_LONGEST_SHOWN = 200
_ADVICE = "Nothing was downloaded: contact its owner, or check that HF_ENDPOINT is the URL of a Hub"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = _LONGEST_SHOWN + 2


class HubFile(NamedTuple):
    """One file of a commit.

    Attributes:
        path: in the repository, with `/` between its parts.
        size: in bytes.
        oid: git's hash of the file, or of the pointer that git holds instead of it.
        sha256: of the content, where git holds a pointer (LFS); None if git holds the file.
        xet_hash: key in the Hub's chunk store, if any.
    """

    path: str
    size: int
    oid: str
    sha256: str | None = None
    xet_hash: str | None = None

    @property
    def etag(self) -> str:
        """The identity of the content: the name of its blob in the cache.

        >>> HubFile("a.csv", 3, "aa").etag, HubFile("b.bin", 3, "aa", "bb").etag
        ('aa', 'bb')
        """
        return self.sha256 or self.oid


class HubCommit(NamedTuple):
    """The listing of one commit of a dataset repository.

    Attributes:
        repo_id: `org/name`, or `name`.
        sha: the commit.
        revision: the requested revision.
        files: the files by path, in the order of the paths.
        is_whole: False if only cached files are listed.
    """

    repo_id: str
    sha: str
    revision: str
    files: Mapping[str, HubFile]
    is_whole: bool = True

    def url(self, path: str = "") -> str:
        """Return the `hf://` URL of a path in it, pinned to the commit.

        >>> HubCommit("org/name", "a" * 40, "main", {}).url("a.csv") == f"hf://datasets/org/name@{'a' * 40}/a.csv"
        True
        """
        return hub_url(self.repo_id, self.sha, path)


def listed_files(items: Iterable[object], repo_id: str) -> dict[str, HubFile]:
    """Return the files of a server's listing, in the order of their paths, without folders.

    Raises:
        HubError: the listing is invalid: paths outside a folder, duplicates, missing hashes, ….

    >>> listed_files([{"type": "file", "path": "a.csv", "size": 3, "oid": "a" * 40}], "org/name")["a.csv"].size
    3
    """
    files: dict[str, HubFile] = {}
    length = 0
    for item in items:
        if not isinstance(item, dict):
            raise malformed(repo_id, f"has a listing with {shown(item)} instead of a file")
        if item.get("type") != "file":
            continue
        file = _file_of(item, repo_id)
        if file.path in files:
            raise malformed(repo_id, f"has a listing with {shown(file.path)} twice in it")
        files[file.path] = file
        length += len(file.path)
        if length > _MOST_LETTERS:
            raise malformed(repo_id, f"has a listing whose paths have more than {_MOST_LETTERS:,} letters")
    paths = sorted(files)
    for path in paths:
        at = bisect_left(paths, f"{path}/")
        if at < len(paths) and paths[at].startswith(f"{path}/"):
            raise malformed(repo_id, f"has a listing in which {shown(path)} is both a file and a folder")
    return {path: files[path] for path in paths}


def _file_of(item: Mapping[str, Any], repo_id: str) -> HubFile:
    path = item.get("path")
    if not isinstance(path, str) or not is_inner_path(path):
        raise malformed(repo_id, f"has a listing with the invalid path {shown(path)}")
    if len(os.fsencode(path)) > _LONGEST_PATH or path.count("/") >= _MOST_PARTS:
        found = f"of {len(path):,} letters and {path.count('/') + 1:,} parts, {shown(path)}"
        limits = f"{_LONGEST_PATH:,} bytes and {_MOST_PARTS} parts"
        raise malformed(repo_id, f"has a listing with a path {found}, but the limits are {limits}")
    lfs = item.get("lfs")
    if lfs is not None and not isinstance(lfs, Mapping):
        raise malformed(repo_id, f"has a listing with {shown(lfs)} as the LFS record of {shown(path)}")
    size, oid, sha256 = item.get("size"), item.get("oid"), None
    if lfs:
        size, sha256 = lfs.get("size", size), lfs.get("oid", lfs.get("sha256"))
        if not isinstance(sha256, str) or not re.fullmatch(_SHA256, sha256):
            raise malformed(repo_id, f"has a listing with the sha256 {shown(sha256)} for {shown(path)}")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _LARGEST:
        raise malformed(repo_id, f"has a listing with the size {shown(size)} for {shown(path)}")
    if not isinstance(oid, str) or not re.fullmatch(_OID, oid):
        raise malformed(repo_id, f"has a listing with the hash {shown(oid)} for {shown(path)}")
    xet = item.get("xetHash")
    return HubFile(path, size, oid, sha256, xet if isinstance(xet, str) and re.fullmatch(_SHA256, xet) else None)


def check_case(paths: Iterable[str], repo_id: str) -> None:
    """Refuse paths that only differ in case, on a disk that ignores case.

    Raises:
        HubError: there are two such paths; the error names them.
    """
    seen: dict[str, str] = {}
    for path in paths:
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            raise HubError(
                repo_id,
                f"has the files {shown(other)} and {shown(path)}, which are the same file on this disk",
                "Set HF_HUB_CACHE to a folder on a case-sensitive disk",
            )


def malformed(repo_id: str, found: str) -> HubError:
    """Return the error for an invalid response of a Hub."""
    return HubError(repo_id, found, _ADVICE)


def shown(value: object) -> str:
    """Return a value from a server for an error message: short and in ASCII, however long and deep it is.

    >>> shown({"path": "é"})
    "{'path': '\\\\xe9'}"
    """
    text = _SHORT.repr(value).encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
