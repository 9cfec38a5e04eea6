"""`HubCommit`: the files of one commit of a Hub repository, and the rules by which a listing is believed."""

from __future__ import annotations

import os
import re
import reprlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from datasets_core.errors import ConfigurationError, HubError

# Datasets on the Hub by name: the ids of repositories, and `hf://datasets/…` URLs taken apart and put together.


PREFIX = "hf://datasets/"
DEFAULT_REVISION = "main"
_NAME = r"\b[A-Za-z0-9_.-]{1,96}\b"
_REPO_ID = rf"(?a)(?:{_NAME}/)?{_NAME}"
_COMMIT = r"[0-9a-f]{40}"
_PINNED = r"(hf://datasets/[^@]{1,200})@[0-9a-f]{40}(?=/|$)"
_OWN_REF = r"(?a)refs/(?:convert/[\w.-]+|pr/\d+)(?=/|$)"  # the two refs that may be unquoted in a URL


class HubPath(NamedTuple):
    """A place in a dataset repository.

    Attributes:
        repo_id: `org/name`, or `name`.
        revision: branch, tag, commit or ref; None where the URL names none.
        path: in the repository, "" for its root.
    """

    repo_id: str
    revision: str | None
    path: str


def is_repo_id(text: str) -> bool:
    """Return True if a text has the form of a repository id of the Hub, with or without a namespace.

    >>> is_repo_id("org/name"), is_repo_id("squad"), is_repo_id("./data"), is_repo_id("a/b/c")
    (True, True, False, False)
    """
    return re.fullmatch(_REPO_ID, text) is not None and "--" not in text and ".." not in text and not text.endswith(".git")


def is_commit(revision: str | None) -> bool:
    """Return True if a revision is a full commit hash, which never changes its meaning.

    >>> is_commit("a" * 40), is_commit("main"), is_commit("a" * 7)
    (True, False, False)
    """
    return revision is not None and re.fullmatch(_COMMIT, revision) is not None


def is_hub_url(url: str) -> bool:
    """Return True if a URL refers to a dataset repository of the Hub.

    >>> is_hub_url("hf://datasets/org/name/a.csv"), is_hub_url("hf://org/model/a.bin"), is_hub_url("zip://a::hf://datasets/o/n/z")
    (True, False, False)
    """
    return url.startswith(PREFIX) and "::" not in url


def parse_hub_url(url: str) -> HubPath | None:
    """The repository, revision and path of an `hf://datasets/…` URL; None for anything else.

    >>> parse_hub_url("hf://datasets/org/name@refs/convert/parquet/default/train/0000.parquet")
    HubPath(repo_id='org/name', revision='refs/convert/parquet', path='default/train/0000.parquet')
    >>> parse_hub_url("hf://datasets/squad@v1%2Fnew/a.csv")
    HubPath(repo_id='squad', revision='v1/new', path='a.csv')
    >>> parse_hub_url("hf://org/model/a.csv") is None
    True

    Raises:
        ConfigurationError: it is such a URL, and names no repository, an empty revision, or a path out of the repository.
    """
    if not url.startswith(PREFIX):
        return None
    rest = url[len(PREFIX) :]
    front, mark, back = rest.partition("@")
    if mark and front.count("/") <= 1 and not front.endswith("/"):
        repo_id = front
        revision, path = _split_revision(back)
        if not revision:
            raise ConfigurationError(f"{url!r} names an empty revision. Write a branch, a tag or a commit after '@'.")
    else:  # an '@' further on belongs to the name of a file
        parts = rest.rstrip("/").split("/", 2)
        repo_id, revision, path = "/".join(parts[:2]), None, parts[2] if len(parts) > 2 else ""
    if not is_repo_id(repo_id):
        raise ConfigurationError(f"{url!r} names no dataset repository. Write {PREFIX}org/name@revision/path.")
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise ConfigurationError(f"{url!r} leads out of its repository. Write the path without '..'.")
    return HubPath(repo_id, revision, "/".join(segments))


def _split_revision(text: str) -> tuple[str, str]:
    own = re.match(_OWN_REF, text)
    if own is not None:
        return own.group(), text[own.end() :].removeprefix("/")
    from urllib.parse import unquote  # 3 ms that local paths do without

    revision, _, path = text.partition("/")
    return unquote(revision), path


def without_commit(url: str) -> str:
    """A URL without the commit that it is pinned to, as it stays the same from commit to commit; other texts as they are.

    >>> without_commit(f"zip://a.csv::hf://datasets/org/name@{'a' * 40}/b.zip"), without_commit("a@b")
    ('zip://a.csv::hf://datasets/org/name/b.zip', 'a@b')
    """
    return re.sub(_PINNED, r"\1", url) if PREFIX in url else url


def hub_url(repo_id: str, revision: str, path: str = "") -> str:
    """Return the URL of a path in a repository at a revision; with a commit hash its meaning never changes.

    >>> hub_url("org/name", "refs/pr/1", "a.csv"), hub_url("squad", "v1/new")
    ('hf://datasets/org/name@refs/pr/1/a.csv', 'hf://datasets/squad@v1%2Fnew')
    """
    return f"{PREFIX}{repo_id}@{quoted_revision(revision)}" + (f"/{path}" if path else "")


def quoted_revision(revision: str) -> str:
    """A revision as one segment of an `hf://` URL.

    >>> quoted_revision("50%/a b"), quoted_revision("refs/convert/parquet")
    ('50%25%2Fa%20b', 'refs/convert/parquet')
    """
    if is_commit(revision) or re.fullmatch(_OWN_REF, revision):
        return revision
    from urllib.parse import quote

    return quote(revision, safe="")


_OID = r"[0-9a-f]{40}|[0-9a-f]{64}"
_PART = r"(?!\.{1,2}(?:/|\Z))[^/\\\0\ud800-\udfff]+"  # halves of letters are in no file's name
_INNER_PATH = rf"(?![A-Za-z]:/){_PART}(?:/{_PART})*"
_SHA256 = r"[0-9a-f]{64}"
_LONGEST_PATH = 4096  # bytes, as Linux and git have it
_MOST_PARTS = 256
_MOST_LETTERS = 1 << 28  # in the paths of one listing
_LARGEST = (1 << 63) - 1
_LONGEST_SHOWN = 200
_ADVICE = "Nothing was taken from it: tell its owner, or see that HF_ENDPOINT is the address of a Hub"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = _LONGEST_SHOWN + 2


class HubFile(NamedTuple):
    """One file of a commit.

    Attributes:
        path: in the repository, with `/` between its parts.
        size: in bytes.
        oid: git's hash of the file, or of the pointer that git holds instead of it.
        sha256: of the content, where git holds a pointer (LFS); None where git holds the file.
        xet_hash: by which the Hub's chunk store knows it, where it does.
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
        """The `hf://` URL of a path in it, pinned to the commit.

        >>> HubCommit("org/name", "a" * 40, "main", {}).url("a.csv") == f"hf://datasets/org/name@{'a' * 40}/a.csv"
        True
        """
        return hub_url(self.repo_id, self.sha, path)


def listed_files(items: Iterable[object], repo_id: str) -> dict[str, HubFile]:
    """The files of a listing as a server sends it, in the order of their paths; folders have none.

    Raises:
        HubError: the listing holds what no Hub lists: paths that lead out of a folder, twice the same, no hashes, ….

    >>> listed_files([{"type": "file", "path": "a.csv", "size": 3, "oid": "a" * 40}], "org/name")["a.csv"].size
    3
    """
    files: dict[str, HubFile] = {}
    length = 0
    for item in items:
        if not isinstance(item, dict):
            raise malformed(repo_id, f"has a listing with {shown(item)} in place of a file")
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
        raise malformed(repo_id, f"has a listing with the path {shown(path)}, which is none inside a repository")
    if len(os.fsencode(path)) > _LONGEST_PATH or path.count("/") >= _MOST_PARTS:
        found = f"of {len(path):,} letters and {path.count('/') + 1:,} parts, {shown(path)}"
        limits = f"{_LONGEST_PATH:,} bytes and {_MOST_PARTS} parts"
        raise malformed(repo_id, f"has a listing with a path {found}, where no disk holds more than {limits}")
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
    """Refuse paths that are one on a disk on which `A` and `a` are.

    Raises:
        HubError: it names the two.
    """
    seen: dict[str, str] = {}
    for path in paths:
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            raise HubError(
                repo_id,
                f"has the files {shown(other)} and {shown(path)}, which are one on this disk",
                "Let HF_HUB_CACHE name a folder on a disk that tells capital letters from small ones",
            )


def is_inner_path(path: str) -> bool:
    r"""Return True if a path of a repository stays below the folder that it is put into, on every system.

    >>> is_inner_path("data/a b.csv"), is_inner_path("../a"), is_inner_path("/a"), is_inner_path("a\\b"), is_inner_path("a//b")
    (True, False, False, False, False)
    """
    return re.fullmatch(_INNER_PATH, path) is not None


def malformed(repo_id: str, found: str) -> HubError:
    """The error of an answer that is none of a Hub."""
    return HubError(repo_id, found, _ADVICE)


def shown(value: object) -> str:
    """Return a value from a server for an error message: short and in ASCII, however long and deep it is.

    >>> shown({"path": "é"})
    "{'path': '\\\\xe9'}"
    """
    text = _SHORT.repr(value).encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
