"""The hub cache: the folder that all tools of Hugging Face share, where refs, listings, blobs and snapshots stand in it.

What is written there is written whole or not at all, and a cache that cannot be written to is read all the same.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DatasetDiskError, HubError
from datasets_core.fetch.hub.repository import HubFile, is_commit, is_inner_path, listed_files

# `HashCache`: git's hashes of files that nothing else tells, kept in a file until one of them is another file.


_FORM = 1
_OID = re.compile(r"[0-9a-f]{40}")
_CHUNK = 1 << 20
_YOUNG_NS = 2_000_000_000  # a file that was written just now may be written again within one tick of its disk's clock

State = tuple[int, int, int]
"""What is another number once a file is written again: its size, time in ns, and inode."""


@dataclass
class HashCache:
    """Hashes of files, by their names.

    Attributes:
        path: where they are kept.
        known: what each file was like, and its hash.
        is_changed: there is something new to be kept.
    """

    path: str
    known: dict[str, tuple[State, str]] = field(default_factory=dict)
    is_changed: bool = False

    @classmethod
    def of(cls, path: str) -> Self:
        """What was kept at a path; nothing where it is damaged, or was written in another form."""
        try:
            with open(path, encoding="utf-8") as source:
                kept: Any = json.load(source)
            if kept["form"] != _FORM:
                return cls(path)
            known = {
                str(name): ((int(size), int(written), int(inode)), str(oid))
                for name, (size, written, inode, oid) in kept["files"].items()
            }
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
            return cls(path)
        return cls(path, {name: each for name, each in known.items() if _OID.fullmatch(each[1])})

    def text(self) -> bytes:
        """What is to be kept."""
        listed = {name: [*state, oid] for name, (state, oid) in self.known.items()}
        return json.dumps({"form": _FORM, "files": listed}).encode()

    def git_oid(self, place: str, name: str) -> str:
        """The hash of a file as git has it.

        Args:
            place: where it is.
            name: what it is kept under.
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
    import hashlib  # 2 ms that links do without

    digest = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with open(place, "rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


logger = logging.getLogger(__name__)

_FORMAT = 1  # of the listings, which are as huggingface_hub 2 writes its own
_ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class HubCache:
    """The hub cache at one place.

    Attributes:
        root: the folder, `HF_HUB_CACHE`.
    """

    root: str

    def folder(self, repo_id: str) -> str:
        """The folder of a dataset repository.

        >>> HubCache("/hub").folder("org/name")
        '/hub/datasets--org--name'
        """
        return os.path.join(self.root, "--".join(("datasets", *repo_id.split("/"))))

    def tells_case(self) -> bool:
        """Whether the disk tells capital letters from small ones, as far as the name of the cache shows it."""
        folder, name = os.path.split(os.path.abspath(self.root))
        other = name.swapcase()
        try:
            return name == other or not os.path.samefile(self.root, os.path.join(folder, other))
        except OSError:
            return True

    # -- what a revision means -----------------------------------------------------------------------------------------

    def ref(self, repo_id: str, revision: str) -> str | None:
        """The commit that a revision meant when it was asked for last; None where it never was."""
        if is_commit(revision):
            return revision
        if not is_inner_path(revision):
            return None
        try:
            with open(os.path.join(self.folder(repo_id), "refs", *revision.split("/")), encoding="utf-8") as handle:
                sha = handle.read(100).strip()
        except (OSError, UnicodeDecodeError):
            return None
        return sha if is_commit(sha) else None

    def set_ref(self, repo_id: str, revision: str, sha: str) -> None:
        """Note what a revision means now, as far as the cache can be written to."""
        if is_commit(revision) or not is_inner_path(revision) or self.ref(repo_id, revision) == sha:
            return
        self._keep(os.path.join(self.folder(repo_id), "refs", *revision.split("/")), sha.encode())

    def refs(self, repo_id: str) -> list[str]:
        """The revisions whose commits are known here, in order."""
        root = os.path.join(self.folder(repo_id), "refs")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        names = [os.path.relpath(path, root).replace(os.sep, "/") for path in found]
        return sorted(name for name in names if self.ref(repo_id, name))

    # -- what a commit holds -------------------------------------------------------------------------------------------

    def listing(self, repo_id: str, sha: str) -> dict[str, HubFile] | None:
        """All files of a commit, as we or the tools of the Hub noted them; None where nobody did.

        What cannot be believed is left aside.
        """
        places = (self._listing_path(repo_id, sha), os.path.join(self.folder(repo_id), "trees", f"{sha}.json"))
        return next((found for path in places if (found := self._listing_at(path, repo_id)) is not None), None)

    def _listing_at(self, path: str, repo_id: str) -> dict[str, HubFile] | None:
        try:
            with open(path, encoding="utf-8") as handle:
                kept = json.load(handle)
            if kept["format_version"] != _FORMAT:
                return None
            return listed_files([_item(name, facts) for name, facts in kept["files"].items()], repo_id)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, HubError) as error:
            logger.warning("The listing %s is not used: %s", path, error)
            return None

    def keep_listing(self, repo_id: str, sha: str, listed: Mapping[str, HubFile]) -> None:
        """Note all files of a commit, as far as the cache can be written to.

        Not in `trees/`: where a listing stands there, `snapshot_download` refuses a snapshot that lacks any file of it, and a
        dataset needs few of them.
        """
        kept = {"format_version": _FORMAT, "files": {path: _facts(file) for path, file in listed.items()}}
        self._keep(self._listing_path(repo_id, sha), json.dumps(kept).encode())

    def snapshot_listing(self, repo_id: str, sha: str) -> dict[str, HubFile] | None:
        """Those files of a commit that are here; None where there is no snapshot of it.

        Of a file that is no link its hash is taken, since nothing else tells it; what it was is kept for the next time.
        """
        root = self.snapshot_folder(repo_id, sha)
        if not os.path.isdir(root):
            return None
        found, hashes = {}, HashCache.of(os.path.join(self.folder(repo_id), ".hashes", f"{sha}.json"))
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                inner = os.path.relpath(path, root).replace(os.sep, "/")
                if is_inner_path(inner) and os.path.isfile(path):
                    found[inner] = _file_at(path, inner, hashes)
        if hashes.is_changed:
            self._keep(hashes.path, hashes.text())
        return dict(sorted(found.items()))

    def _listing_path(self, repo_id: str, sha: str) -> str:
        return os.path.join(self.folder(repo_id), ".listings", f"{sha}.json")

    # -- files ---------------------------------------------------------------------------------------------------------

    def snapshot_folder(self, repo_id: str, sha: str) -> str:
        """The folder in which the files of a commit have their paths."""
        return os.path.join(self.folder(repo_id), "snapshots", sha)

    def snapshot_path(self, repo_id: str, sha: str, path: str) -> str:
        """Where a file of a commit stands, or is to stand.

        Raises:
            HubError: the path leads out of the snapshot.
        """
        if not is_inner_path(path):
            raise HubError(repo_id, f"has no file {path!a}, which is not a path inside a repository", "Mend the path")
        return os.path.join(self.snapshot_folder(repo_id, sha), *path.split("/"))

    def held(self, repo_id: str, sha: str, path: str) -> str | None:
        """Where a file of a commit stands; None where it does not."""
        place = self.snapshot_path(repo_id, sha, path)
        return place if os.path.isfile(place) else None

    def blob_path(self, repo_id: str, etag: str) -> str:
        """Where a content stands, or is to stand, under the hash that names it."""
        if not _ETAG.fullmatch(etag):
            raise HubError(repo_id, f"has a file with the hash {etag!a}, which is none", "Tell its owner")
        return os.path.join(self.folder(repo_id), "blobs", etag)

    def lock_path(self, repo_id: str, etag: str) -> str:
        """The lock that every tool holds while it makes that blob."""
        return os.path.join(self.root, ".locks", os.path.basename(self.folder(repo_id)), f"{etag}.lock")

    def link(self, repo_id: str, sha: str, file: HubFile) -> str:
        """Let the snapshot of a commit have a file whose blob stands: by a link, or a copy where there are none.

        Returns:
            Where it stands in the snapshot.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        blob, path = self.blob_path(repo_id, file.etag), self.snapshot_path(repo_id, sha, file.path)
        if _is_linked(path, blob):
            return path
        folder, home = os.path.dirname(path), self.folder(repo_id)
        if os.path.realpath(folder) != os.path.join(os.path.realpath(home), os.path.relpath(folder, home)):
            raise DatasetDiskError(folder, "a folder on the way there is a link, and a snapshot stands in its repository alone")
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

    def _keep(self, path: str, data: bytes) -> None:
        """Write a file that others can do without: a cache that takes nothing is no error."""
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            files.write_atomically(path, data)
        except (OSError, DatasetDiskError) as error:
            logger.info("%s is not kept: %s", path, error)


def _item(path: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """A kept file as a server lists it."""
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
    """Make `path` the content of the blob: a link, else a second name of it, else a copy."""
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
        import shutil  # 4 ms that links do without

        shutil.copyfile(blob, path)
