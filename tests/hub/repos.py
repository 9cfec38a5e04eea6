"""Repositories as git has them: blobs, commits, branches, tags, and which files are stored as LFS objects."""

from __future__ import annotations

import fnmatch
import hashlib
import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Content = bytes | str | Path

GIT_ATTRIBUTES = "".join(
    f"{pattern} filter=lfs diff=lfs merge=lfs -text\n"
    for pattern in (
        *("*.7z", "*.arrow", "*.avro", "*.bin", "*.bz2", "*.gz", "*.h5", "*.lz4", "*.npy", "*.npz", "*.parquet", "*.pickle"),
        *("*.pkl", "*.rar", "saved_model/**/*", "*.tar.*", "*.tar", "*.tgz", "*.xz", "*.zip", "*.zst", "*tfevents*"),
        *(
            "*.aac",
            "*.flac",
            "*.mp3",
            "*.ogg",
            "*.wav",
            "*.bmp",
            "*.gif",
            "*.png",
            "*.tiff",
            "*.jpg",
            "*.jpeg",
            "*.webp",
            "*.mp4",
        ),
    )
)
LFS_BYTES = 10_000_000  # what is larger is an LFS object whatever its name


def git_oid(content: bytes, kind: str = "blob") -> str:
    """The name that git gives to content."""
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()


def bytes_of(content: Content) -> bytes:
    if isinstance(content, Path):
        return content.read_bytes()
    return content.encode() if isinstance(content, str) else content


@dataclass(frozen=True)
class Blob:
    """A file of a commit.

    Attributes:
        oid: the git name of the content, or of its pointer.
        sha256: hash of an LFS object; None where git has the content itself.
        pointer_size: size of the pointer.
        content: the content itself; that of LFS objects is in the storage too.
    """

    oid: str
    size: int
    content: bytes = field(repr=False)
    sha256: str | None = None
    pointer_size: int = 0

    @classmethod
    def regular(cls, content: bytes) -> Blob:
        return cls(git_oid(content), len(content), content)

    @classmethod
    def of_lfs(cls, content: bytes) -> Blob:
        sha256 = hashlib.sha256(content).hexdigest()
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n".encode()
        return cls(git_oid(pointer), len(content), content, sha256, len(pointer))

    @property
    def etag(self) -> str:
        return self.sha256 or self.oid


@dataclass(frozen=True)
class Commit:
    """One commit and all its files."""

    id: str
    files: Mapping[str, Blob]
    parent: Commit | None
    title: str
    message: str = ""
    author: str = "somebody"
    date: str = "2024-01-01T00:00:00.000Z"

    def history(self) -> Iterable[Commit]:
        commit: Commit | None = self
        while commit is not None:
            yield commit
            commit = commit.parent

    def folder_oid(self, folder: str) -> str:
        inside = "".join(f"{blob.oid} {path}\n" for path, blob in self.files.items() if path.startswith(folder + "/"))
        return git_oid(inside.encode(), "tree")

    def last_change(self, path: str) -> Commit:
        """The commit that brought the path to what it is here."""
        found = self
        for commit in self.history():
            if commit.files.get(path) != self.files.get(path):
                break
            found = commit
        return found


class StaleParentError(Exception):
    """The branch has moved on since the parent that a commit names."""


class Repo:
    """A repository of datasets, to be filled and looked into by a test."""

    def __init__(self, repo_id: str, objects: dict[str, bytes], *, private: bool = False, gated: str | bool = False) -> None:
        self.id, self.private, self.gated = repo_id, private, gated
        self._objects = objects  # where LFS objects are stored
        self.refs: dict[str, Commit] = {}
        self.commits: dict[str, Commit] = {}
        self.readers: set[str] = set()  # users that a gated or private repository was opened to
        self.lock = threading.RLock()
        self._numbers = itertools.count(1)

    def __repr__(self) -> str:
        return f"Repo({self.id!r})"

    @property
    def sha(self) -> str:
        return self.refs["refs/heads/main"].id

    def at(self, revision: str) -> Commit | None:
        """The commit of a branch, a tag, a ref by its full name, or a hash."""
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            if name in self.refs:
                return self.refs[name]
        return self.commits.get(revision)

    def files(self, revision: str = "main") -> dict[str, bytes]:
        """What the files of a revision hold."""
        commit = self.at(revision)
        assert commit is not None, revision
        return {path: blob.content for path, blob in commit.files.items()}

    def text(self, path: str, revision: str = "main") -> str:
        return self.files(revision)[path].decode()

    def log(self, revision: str = "main") -> list[str]:
        """Titles of the commits, the newest first."""
        commit = self.at(revision)
        return [] if commit is None else [each.title for each in commit.history()]

    def is_lfs(self, path: str, size: int, attributes: str | None = None) -> bool:
        """Whether a file of this name and size is to be an LFS object."""
        if size == 0:
            return False
        if attributes is None:
            head = self.at("main")
            attributes = head.files[".gitattributes"].content.decode() if head and ".gitattributes" in head.files else ""
        patterns = [line.split()[0] for line in attributes.splitlines() if "filter=lfs" in line]
        name = path.rpartition("/")[2]
        matched = any(fnmatch.fnmatch(path if "/" in pattern else name, pattern) for pattern in patterns)
        return matched or size >= LFS_BYTES

    def blob(self, path: str, content: bytes, *, lfs: bool | None = None, attributes: str | None = None) -> Blob:
        is_lfs = self.is_lfs(path, len(content), attributes) if lfs is None else lfs
        return Blob.of_lfs(content) if is_lfs else Blob.regular(content)

    def commit(
        self,
        files: Mapping[str, Content] | None = None,
        *,
        delete: Iterable[str] = (),
        branch: str = "main",
        title: str = "Change files",
        lfs: bool | None = None,
    ) -> str:
        """Put files into a branch and take others away; the hash of the commit.

        Args:
            delete: files and folders.
            branch: name of a branch, or a ref by its full name such as "refs/convert/parquet".
            lfs: whether the files are LFS objects; None: as .gitattributes says.
        """
        contents = {path: bytes_of(content) for path, content in (files or {}).items()}
        given = contents.get(".gitattributes")
        attributes = given.decode() if given is not None else None
        blobs = {path: self.blob(path, content, lfs=lfs, attributes=attributes) for path, content in contents.items()}
        return self.put(blobs, delete=delete, ref=self.ref_of(branch), title=title).id

    @staticmethod
    def ref_of(branch: str) -> str:
        return branch if branch.startswith("refs/") else f"refs/heads/{branch}"

    def put(
        self,
        blobs: Mapping[str, Blob],
        *,
        delete: Iterable[str] = (),
        ref: str = "refs/heads/main",
        title: str,
        message: str = "",
        author: str = "somebody",
        parent: str | None = None,
    ) -> Commit:
        """Put blobs into a branch.

        Raises:
            StaleParentError: the branch is at another commit than `parent`.
        """
        with self.lock:
            before = self.refs.get(ref)
            if parent is not None and (before is None or before.id != parent):
                raise StaleParentError
            gone = tuple(delete)
            self._objects.update({blob.sha256: blob.content for blob in blobs.values() if blob.sha256})
            files = {
                path: blob
                for path, blob in (before.files if before else {}).items()
                if path not in gone and not any(path.startswith(folder.rstrip("/") + "/") for folder in gone)
            }
            files = dict(sorted({**files, **blobs}.items()))
            return self._keep(ref, files, before, title, message, author)

    def _keep(self, ref: str, files: dict[str, Blob], before: Commit | None, title: str, message: str, author: str) -> Commit:
        number = next(self._numbers)
        tree = "".join(f"{path} {blob.oid}\n" for path, blob in files.items())
        text = f"{self.id} {number} {before.id if before else ''}\n{title}\n{message}\n{tree}"
        date = f"2024-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        commit = Commit(git_oid(text.encode(), "commit"), files, before, title, message, author, date)
        self.refs[ref] = self.commits[commit.id] = commit
        return commit

    def branch(self, name: str, revision: str = "main") -> str:
        """Make a branch; the hash of its commit."""
        return self._point(self.ref_of(name), revision)

    def tag(self, name: str, revision: str = "main") -> str:
        """Name a commit; its hash."""
        return self._point(f"refs/tags/{name}", revision)

    def _point(self, ref: str, revision: str) -> str:
        commit = self.at(revision)
        assert commit is not None, revision
        self.refs[ref] = commit
        return commit.id
