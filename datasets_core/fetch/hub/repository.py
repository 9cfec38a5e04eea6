"""`HubCommit`: the files of one commit of a Hub repository, and the validation of listings; the hub cache of such commits."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import reprlib
import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DatasetDiskError, HubError, logger_of
from datasets_core.fetch.disk_cache import DiskCache
from datasets_core.hub_urls import hub_url, is_commit, is_inner_path

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
        path: path in the repository, with `/` between its parts.
        size: in bytes.
        oid: git's hash of the file, or of the pointer that git holds instead of it.
        sha256: sha256 of the content, if git holds a pointer (LFS); None if git holds the file.
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


# The hub cache: the folder shared by all tools of Hugging Face, with refs, listings, blobs and snapshots.


# `HashCache`: git hashes of files without another source of hashes, stored until one of the files changes.


_FORM = 1
_SHA1 = re.compile(r"[0-9a-f]{40}")
_CHUNK = 1 << 20
_YOUNG_NS = 2_000_000_000  # a file written just now may change again within the resolution of its disk's clock

State = tuple[int, int, int]
"""Numbers that change when a file is rewritten: its size, time in ns, and inode."""


class Notes(DiskCache):
    """The records of a repository, each as a file without a digest, compatible with other tools."""

    check = 0
    level = logging.INFO


@dataclass
class HashCache:
    """Hashes of files, by their names.

    Attributes:
        known: state and hash of each file.
        is_changed: True if there are new hashes to store.
    """

    known: dict[str, tuple[State, str]] = field(default_factory=dict)
    is_changed: bool = False

    @classmethod
    def of(cls, kept: bytes | None) -> Self:
        """Load the hashes from `text`; an invalid text is ignored."""
        try:
            found: Any = json.loads(kept or b"")
            if found["form"] != _FORM:
                return cls()
            known = {
                str(name): ((int(size), int(written), int(inode)), str(oid))
                for name, (size, written, inode, oid) in found["files"].items()
            }
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
            return cls()
        return cls({name: each for name, each in known.items() if _SHA1.fullmatch(each[1])})

    def text(self) -> bytes:
        """Return the contents to store."""
        listed = {name: [*state, oid] for name, (state, oid) in self.known.items()}
        return json.dumps({"form": _FORM, "files": listed}).encode()

    def git_oid(self, place: str, name: str) -> str:
        """Return the git hash of a file.

        Args:
            place: its path.
            name: its key.
        """
        state = _state(place)
        found = self.known.get(name)
        if found is not None and found[0] == state:
            return found[1]
        oid = _git_oid(place, state[0])
        if _state(place) == state and abs(time.time_ns() - state[1]) > _YOUNG_NS:
            self.known[name], self.is_changed = (state, oid), True
        return oid


def _state(place: str) -> State:
    found = os.stat(place)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _git_oid(place: str, size: int) -> str:
    import hashlib  # takes 2 ms; links do not need it

    digest = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with open(place, "rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


logger = logger_of(__name__)

_FORMAT = 1  # form of the listings, the same as in huggingface_hub 2
_ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class HubCache:
    """The hub cache in one folder.

    Attributes:
        root: the folder, `HF_HUB_CACHE`.
    """

    root: str

    def folder(self, repo_id: str) -> str:
        """Return the folder of a dataset repository.

        >>> HubCache("/hub").folder("org/name")
        '/hub/datasets--org--name'
        """
        return os.path.join(self.root, "--".join(("datasets", *repo_id.split("/"))))

    def tells_case(self) -> bool:
        """Return True if the disk distinguishes upper and lower case, tested by the name of the cache."""
        folder, name = os.path.split(os.path.abspath(self.root))
        other = name.swapcase()
        try:
            return name == other or not os.path.samefile(self.root, os.path.join(folder, other))
        except OSError:
            return True

    # -- revisions -----------------------------------------------------------------------------------------------------

    def ref(self, repo_id: str, revision: str) -> str | None:
        """Return the commit of a revision at the last request; None if it was never requested."""
        if is_commit(revision):
            return revision
        if not is_inner_path(revision):
            return None
        sha = (self._notes(repo_id).get(f"refs/{revision}") or b"").decode(errors="replace").strip()
        return sha if is_commit(sha) else None

    def set_ref(self, repo_id: str, revision: str, sha: str) -> None:
        """Record the current commit of a revision, if the cache can be written to."""
        if is_commit(revision) or not is_inner_path(revision) or self.ref(repo_id, revision) == sha:
            return
        self._notes(repo_id).put(f"refs/{revision}", sha.encode())

    def refs(self, repo_id: str) -> list[str]:
        """Return the revisions with known commits, in order."""
        root = os.path.join(self.folder(repo_id), "refs")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        names = [os.path.relpath(path, root).replace(os.sep, "/") for path in found]
        return sorted(name for name in names if self.ref(repo_id, name))

    # -- listings ------------------------------------------------------------------------------------------------------

    def listing(self, repo_id: str, sha: str) -> dict[str, HubFile] | None:
        """Return all files of a commit, as recorded by this library or the tools of the Hub; None without a record.

        Invalid records are ignored.
        """
        places = (f".listings/{sha}.json", f"trees/{sha}.json")
        return next((found for place in places if (found := self._listing_at(place, repo_id)) is not None), None)

    def _listing_at(self, place: str, repo_id: str) -> dict[str, HubFile] | None:
        data = self._notes(repo_id).get(place)
        if data is None:
            return None
        try:
            kept = json.loads(data)
            if kept["format_version"] != _FORMAT:
                return None
            return listed_files([_item(name, facts) for name, facts in kept["files"].items()], repo_id)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, HubError) as error:
            logger.warning("The listing %s is not used: %s", os.path.join(self.folder(repo_id), place), error)
            return None

    def keep_listing(self, repo_id: str, sha: str, listed: Mapping[str, HubFile]) -> None:
        """Record all files of a commit, if the cache can be written to.

        Not in `trees/`: with a listing there, `snapshot_download` refuses a snapshot that lacks any of its files, and a
        dataset needs only a few.
        """
        kept = {"format_version": _FORMAT, "files": {path: _facts(file) for path, file in listed.items()}}
        self._notes(repo_id).put(f".listings/{sha}.json", json.dumps(kept).encode())

    def snapshot_listing(self, repo_id: str, sha: str) -> dict[str, HubFile] | None:
        """Return the cached files of a commit; None without a snapshot of it.

        The hash of a file that is not a link is computed, since nothing else gives it, and stored.
        """
        root = self.snapshot_folder(repo_id, sha)
        if not os.path.isdir(root):
            return None
        found, notes, place = {}, self._notes(repo_id), f".hashes/{sha}.json"
        hashes = HashCache.of(notes.get(place))
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                inner = os.path.relpath(path, root).replace(os.sep, "/")
                if is_inner_path(inner) and os.path.isfile(path):
                    found[inner] = _file_at(path, inner, hashes)
        if hashes.is_changed:
            notes.put(place, hashes.text())
        return dict(sorted(found.items()))

    def _notes(self, repo_id: str) -> Notes:
        return Notes(self.folder(repo_id))

    # -- files ---------------------------------------------------------------------------------------------------------

    def snapshot_folder(self, repo_id: str, sha: str) -> str:
        """Return the folder in which the files of a commit have their paths."""
        return os.path.join(self.folder(repo_id), "snapshots", sha)

    def snapshot_path(self, repo_id: str, sha: str, path: str) -> str:
        """Return the path of a file of a commit, whether or not it exists.

        Raises:
            HubError: the path is outside the snapshot.
        """
        if not is_inner_path(path):
            raise HubError(repo_id, f"has no file {path!a}, which is not a valid path in a repository", "Fix the path")
        return os.path.join(self.snapshot_folder(repo_id, sha), *path.split("/"))

    def held(self, repo_id: str, sha: str, path: str) -> str | None:
        """Return the path of a file of a commit; None if it does not exist."""
        place = self.snapshot_path(repo_id, sha, path)
        return place if os.path.isfile(place) else None

    def blob_path(self, repo_id: str, etag: str) -> str:
        """Return the path of a blob by its hash, whether or not it exists."""
        if not _ETAG.fullmatch(etag):
            raise HubError(repo_id, f"has a file with the invalid hash {etag!a}", "Contact its owner")
        return os.path.join(self.folder(repo_id), "blobs", etag)

    def lock_path(self, repo_id: str, etag: str) -> str:
        """Return the lock that all tools hold while they write the blob."""
        return os.path.join(self.root, ".locks", os.path.basename(self.folder(repo_id)), f"{etag}.lock")

    def link(self, repo_id: str, sha: str, file: HubFile) -> str:
        """Add a file whose blob exists to the snapshot of a commit: by a link, or a copy if links are not supported.

        Returns:
            Its path in the snapshot.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        blob, path = self.blob_path(repo_id, file.etag), self.snapshot_path(repo_id, sha, file.path)
        if _is_linked(path, blob):
            return path
        folder, home = os.path.dirname(path), self.folder(repo_id)
        if os.path.realpath(folder) != os.path.join(os.path.realpath(home), os.path.relpath(folder, home)):
            raise DatasetDiskError(folder, "a parent folder is a link, but snapshots must be inside their repository")
        temporary = f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
        with files.disk_errors(path, needed=file.size):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                _point(temporary, blob)
                os.replace(temporary, path)
            finally:
                if os.path.lexists(temporary):
                    os.unlink(temporary)
        return path


def _item(path: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cached file as a server lists it."""
    sha256 = facts.get("lfs_sha256")
    lfs = None if sha256 is None else {"oid": sha256, "size": facts.get("lfs_size", facts["size"])}
    named = {"path": path, "size": facts["size"], "oid": facts["blob_id"]}
    return {"type": "file", **named, "lfs": lfs, "xetHash": facts.get("xet_hash")}


def _facts(file: HubFile) -> dict[str, Any]:
    lfs = {} if file.sha256 is None else {"lfs_sha256": file.sha256, "lfs_size": file.size}
    xet = {} if file.xet_hash is None else {"xet_hash": file.xet_hash}
    return {"size": file.size, "blob_id": file.oid, **lfs, **xet}


def _file_at(path: str, inner: str, hashes: HashCache) -> HubFile:
    size = os.stat(path).st_size
    name = os.path.basename(os.readlink(path)) if os.path.islink(path) else ""
    if _ETAG.fullmatch(name):
        return HubFile(inner, size, name, name if len(name) == 64 else None)
    return HubFile(inner, size, hashes.git_oid(path, inner))


def _is_linked(path: str, blob: str) -> bool:
    try:
        return os.path.samefile(path, blob)
    except OSError:
        return False


def _point(path: str, blob: str) -> None:
    """Create `path` with the content of the blob: as a symbolic link, else a hard link, else a copy."""
    if settings().hub_symlinks:
        try:
            os.symlink(os.path.relpath(blob, os.path.dirname(path)), path)
            return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    try:
        os.link(os.path.realpath(blob), path)
    except OSError:
        import shutil  # takes 4 ms; links do not need it

        shutil.copyfile(blob, path)
