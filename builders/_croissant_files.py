"""`ResourceFiles`: the files of a Croissant description: fetched, checked against their hashes, extracted, filtered."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from datasets_core.config import settings
from datasets_core.errors import FileFormatError, NonMatchingChecksumError, UntrustedPathError, redact
from datasets_core.fetch.checksums import digest_of
from datasets_core.files import HEAD_BYTES, is_url, kind_of
from datasets_core.hub_urls import hub_url, is_repo_id
from datasets_core.meta.croissant_nodes import CroissantDocument, FileNode
from datasets_core.store.source import paths_below

from ._source import Source

# One file of a Croissant description: its format, patterns and hashes.


_QUOTED = re.compile(r"\[([*?[])\]")
_KINDS = {
    "text/csv": "csv",
    "application/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/tsv": "tsv",
    "application/jsonlines": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "application/x-ndjson": "jsonl",
    "application/json": "json",
    "application/x-parquet": "parquet",
    "application/parquet": "parquet",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.apache.arrow.file": "arrow",
    "application/vnd.apache.arrow.stream": "arrow",
    "text/plain": "text",
}
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A local file of a resource.

    Attributes:
        path: its path.
        label: its name in errors.
        inner: its path in its container.
        outer: the name of its container; "" without one.
        kind: format: "csv", "tsv", "json", "jsonl", "parquet", "arrow", "text", or "" for another one.
    """

    path: str
    label: str
    inner: str
    outer: str
    kind: str

    @property
    def source(self) -> Source:
        """The file, as readers take it."""
        return Source(self.path, self.label)


def is_chosen(path: str, node: FileNode) -> bool:
    """Return True if a path is one of a set: wildcards match slashes too."""
    return (not node.includes or _matches(path, node.includes)) and not _matches(path, node.excludes)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    names, signs = _sorted_out(patterns)
    if path in names:
        return True
    return any(fnmatchcase(path, each) or (each.startswith("**/") and fnmatchcase(path, each[3:])) for each in signs)


@lru_cache(maxsize=16)
def _sorted_out(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return literal patterns as paths, and the others: a set may name thousands of files."""
    plain = [pattern.removeprefix("./") for pattern in patterns]
    names = {literal_path(pattern) for pattern in plain} - {None}
    return frozenset(name for name in names if name), tuple(each for each in plain if literal_path(each) is None)


def literal_path(pattern: str) -> str | None:
    """Return the path of a literal pattern; None for a pattern with wildcards.

    A character in brackets is taken literally.
    """
    path = _QUOTED.sub(r"\1", pattern)
    return None if any(sign in _QUOTED.sub("", pattern) for sign in "*?[") else path


def kind_of_file(node: FileNode, name: str) -> str:
    """Return the format of a file, by its media type, or by its name if that is generic."""
    for encoding in node.encodings:
        found = _KINDS.get(encoding.partition(";")[0].strip().lower())
        if found is not None and not (found == "text" and len(node.encodings) > 1):
            return found
    stem, extension = os.path.splitext(without_packing(name).lower())
    return _EXTENSIONS.get(extension, "") if stem else ""


def without_packing(name: str) -> str:
    return re.sub(r"\.(gz|bz2|xz|zst|lz4)$", "", name, flags=re.IGNORECASE)


def name_of(node: FileNode) -> str:
    """Return the path of a file, as patterns and expressions see it."""
    if is_url(node.url):
        return node.name or unquote(urlsplit(node.url).path).rpartition("/")[2]
    return node.url or node.name


def compare(node: FileNode, path: str, label: str, *, document: str) -> None:
    """Check that a file is the described one.

    A hash that is a URL, as the Hub writes it for repositories, is ignored.

    Raises:
        NonMatchingChecksumError: the file is another one.
        ValueError: the hash is invalid.
    """
    for name, written, size in (("sha256", node.sha256, 32), ("md5", node.md5, 16)):
        if not written or is_url(written):
            continue
        expected = _hex(written, size)
        if expected is None:
            raise ValueError(f"has an invalid {name}: {written!r}")
        found = digest_of(path).hexdigest() if name == "sha256" else _md5(path)
        if found != expected:
            advice = (
                f"It is not the file that {document} describes as {node.id!r}. Fetch the right file, or fix the description"
            )
            raise NonMatchingChecksumError(label, expected=expected, found=found, what=name, advice=advice)


def _hex(written: str, size: int) -> str | None:
    """Return a hash, written in hex or in base64, as hex; None if it is not a hash."""
    text = written.strip()
    if re.fullmatch(rf"[0-9a-fA-F]{{{2 * size}}}", text):
        return text.lower()
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded.hex() if len(decoded) == size else None


def _md5(path: str) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, _new_md5).hexdigest()


def _new_md5() -> Any:
    return hashlib.md5(usedforsecurity=False)


_GIT = "git+https"
_HUB = "https://huggingface.co"
_SCHEMES = ("http", "https", "hf", "s3", "gs", "gcs", "az", "abfs", "ftp")
_PUBLIC = ("http://", "https://", "hf://")
_ARCHIVE_KINDS = frozenset({"zip", "tar", "rar", "7z"})
_TREE = re.compile(r"/datasets/(?P<repo>[^/]+(?:/[^/]+)?)(?:/(?P<what>tree|resolve)/(?P<revision>[^/]+)(?:/(?P<path>.*))?)?/?")
_ADVICE = "Fix the description"


class ResourceFiles:
    """Finds the files of the resources of one description.

    Args:
        document: the description.
        place: where it was read: a local path, or a URL.
        dl_manager: fetches and unpacks.
        token: token for the Hub.
    """

    def __init__(self, document: CroissantDocument, place: str, dl_manager: Any, token: Any = None) -> None:
        self._document, self._dl_manager, self._token = document, dl_manager, token
        self._folder = place.rpartition("/")[0] if is_url(place) else os.path.dirname(os.path.abspath(place))
        self._found: dict[str, list[FoundFile]] = {}
        self._looking: list[str] = []

    def of(self, node_id: str) -> list[FoundFile]:
        """Return the files of a file or of a file set, in the order of their paths.

        Raises:
            FileFormatError: a node uses something unsupported; the error names the node.
            NonMatchingChecksumError: the hash of a file differs.
        """
        node = self._document.files.get(node_id)
        if node is None:
            raise self._fault(node_id, "is neither a file nor a file set of the description")
        if node_id in self._looking:
            raise self._fault(node_id, "is contained in itself")
        if node_id not in self._found:
            self._looking.append(node_id)
            self._found[node_id] = self._set(node) if node.is_set else self._file(node)
            self._looking.pop()
        return self._found[node_id]

    # -- one file ------------------------------------------------------------------------------------------------------

    def _file(self, node: FileNode) -> list[FoundFile]:
        if node.containers:
            return [self._member(node)]
        return self._fetched([node])

    def _fetched(self, nodes: Sequence[FileNode]) -> list[FoundFile]:
        """Yield standalone files, fetched together."""
        addresses = [self._address(node) for node in nodes]
        for node, address in zip(nodes, addresses, strict=True):
            if not is_url(address) and not os.path.isfile(address):
                raise self._fault(node.id, f"refers to {node.url!r}, which is not a file in the folder of the description")
        paths = [os.fspath(path) for path in self._dl_manager.download(addresses)]
        for node, path, address in zip(nodes, paths, addresses, strict=True):
            self._compare(node, path, redact(address))
        return [
            FoundFile(path, redact(address), name_of(node), "", kind_of_file(node, node.url))
            for node, path, address in zip(nodes, paths, addresses, strict=True)
        ]

    def _address(self, node: FileNode) -> str:
        """Return the address of a file: a path next to the description, or a URL."""
        if _GIT in node.encodings:
            raise self._fault(node.id, "is a git repository; only its file sets can be read")
        url = node.url
        if not url:
            raise self._fault(node.id, "has no contentUrl")
        if "::" in url:
            raise self._fault(node.id, f"has the contentUrl {url!r}, which is not a plain URL")
        if is_url(url) or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", url):
            if url.partition(":")[0].lower() not in _SCHEMES or not is_url(url):
                raise self._fault(node.id, f"has the contentUrl {redact(url)!r}, neither a relative path nor an http(s) URL")
            granted = settings().media_paths
            if not (url.lower().startswith(_PUBLIC) or any(url.startswith(each) for each in granted if "://" in each)):
                raise UntrustedPathError(url, allowed=(*_PUBLIC, *granted))  # it would be read with the credentials of the user
            return self._of_hub(url) or url
        return self._beside(node, url)

    def _beside(self, node: FileNode, path: str) -> str:
        if not path or path.startswith(("/", "\\", "~")) or ".." in re.split(r"[/\\]", path) or "\0" in path:
            raise self._fault(node.id, f"refers to {path!r}, which is not in the folder of the description")
        path = posixpath.normpath(path)
        if not is_url(self._folder):
            try:
                return paths_below([self._folder]).locate(path)
            except UntrustedPathError as error:
                raise self._fault(node.id, f"refers to {path!r}, which is outside the folder of the description") from error
        if self._folder.startswith(("http://", "https://")):
            return urljoin(self._folder + "/", quote(path))
        return f"{self._folder}/{path}"

    def _of_hub(self, url: str) -> str | None:
        """Return a file of a dataset on the Hub, fetched with the user's token, verified and cached."""
        found = self._on_hub(url)
        if found is None or found["what"] != "resolve" or not found["path"]:
            return None
        return hub_url(found["repo"], unquote(found["revision"]), unquote(found["path"]))

    def _on_hub(self, url: str) -> re.Match[str] | None:
        parts = urlsplit(url)
        origins = {_HUB, settings().hub_endpoint.rstrip("/")}
        origin = next((each for each in origins if url.startswith(f"{each}/datasets/")), None)
        if origin is None or parts.query:
            return None
        found = _TREE.fullmatch(url[len(origin) :].partition("#")[0])
        return found if found and is_repo_id(unquote(found["repo"])) else None

    def _compare(self, node: FileNode, path: str, label: str) -> None:
        try:
            compare(node, path, label, document=self._document.path)
        except NonMatchingChecksumError:
            raise
        except ValueError as error:
            raise self._fault(node.id, str(error)) from error

    # -- inside others -------------------------------------------------------------------------------------------------

    def _member(self, node: FileNode) -> FoundFile:
        """Return a file in an archive."""
        if len(node.containers) != 1:
            raise self._fault(node.id, "is contained in more than one node")
        path = node.url
        if not path or path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path) or is_url(path):
            raise self._fault(node.id, f"has the contentUrl {path!r}, which is not a path in {node.containers[0].node!r}")
        wanted = posixpath.normpath(path)
        members = list(self._members(node))
        for found in members:
            if found.inner == wanted:
                self._compare(node, found.path, found.label)
                return FoundFile(found.path, found.label, found.inner, found.outer, kind_of_file(node, found.inner))
        shown = ", ".join(repr(found.inner) for found in members[:5])
        raise self._fault(node.id, f"is {wanted!r} in {node.containers[0].node!r}, which has only {shown or 'nothing'}")

    def _set(self, node: FileNode) -> list[FoundFile]:
        """Return the files of a set: all of its containers together, in the order of their paths."""
        members = list(self._members(node)) if node.containers else self._around(node)
        chosen = [found for found in members if is_chosen(found.inner, node)]
        if not chosen:
            patterns = ", ".join(map(repr, node.includes))
            raise self._fault(node.id, f"includes {patterns or 'nothing'}, which matches no file")
        ordered = sorted(chosen, key=lambda found: (found.outer, found.inner)) if len(node.containers) < 2 else chosen
        return [FoundFile(each.path, each.label, each.inner, each.outer, kind_of_file(node, each.inner)) for each in ordered]

    def _members(self, node: FileNode) -> Iterator[FoundFile]:
        """Yield the content of the containers of a node: the members of archives, or other files themselves."""
        plain: list[FileNode] = []
        for container in node.containers:
            if any(name == "readLines" and argument for name, argument in container.transforms):
                raise self._fault(node.id, "is the list of files in a manifest (readLines), which is not supported")
            inside = self._document.files.get(container.node)
            if inside is not None and not inside.is_set and not inside.containers and _GIT not in inside.encodings:
                plain.append(inside)
        if plain:
            for each, found in zip(plain, self._fetched(plain), strict=True):  # all at once
                self._found.setdefault(each.id, [found])
        for container in node.containers:
            unpacks = dict(container.transforms).get("unArchive") is not False
            inside = self._document.files.get(container.node)
            if inside is not None and _GIT in inside.encodings:
                yield from self._in_repository(node, inside)
                continue
            for outer in self.of(container.node):
                yield from self._unpacked(outer) if unpacks else [outer]

    def _unpacked(self, outer: FoundFile) -> Iterator[FoundFile]:
        with open(outer.path, "rb") as handle:
            kind = kind_of(handle.read(HEAD_BYTES))
        packed_tar = outer.inner.lower().endswith((".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"))
        name = outer.inner.rpartition("/")[2]
        if kind is None or (kind not in _ARCHIVE_KINDS and outer.kind and not packed_tar):
            yield outer
            return
        place = os.fspath(self._dl_manager.extract(outer.path))
        if os.path.isfile(place):
            yield FoundFile(place, outer.label, without_packing(outer.inner), outer.outer, outer.kind)
            return
        for member in self._dl_manager.iter_files([place]):
            path = os.fspath(member)
            inner = os.path.relpath(path, place).replace(os.sep, "/")
            yield FoundFile(path, f"{inner} in {outer.label}", inner, name, "")

    def _in_repository(self, node: FileNode, repository: FileNode) -> list[FoundFile]:
        """Return the files of a set in a dataset repository on the Hub; only those are fetched."""
        from datasets_core.fetch.hub.client import Hub  # takes 10 ms; other files do not need it

        found = self._on_hub(repository.url)
        if found is None or found["what"] == "resolve":
            raise self._fault(
                repository.id, f"is the git repository {redact(repository.url)!r}: only datasets of the Hub are read"
            )
        revision = unquote(found["revision"]) if found["revision"] else None
        commit = Hub.of(self._token, config=self._dl_manager.download_config).commit(unquote(found["repo"]), revision)
        inner = [path for path in commit.files if is_chosen(path, node)]
        paths = self._dl_manager.download([commit.url(path) for path in inner])
        return [
            FoundFile(os.fspath(path), commit.url(name), name, name_of(repository), "")
            for path, name in zip(paths, inner, strict=True)
        ]

    def _around(self, node: FileNode) -> list[FoundFile]:
        """Return the files next to the description, with described hashes compared."""
        hashes = {self._address(each): each for each in self._document.files.values() if _stands_alone(each)}
        if is_url(self._folder):
            names = [literal_path(pattern) for pattern in node.includes]
            if not names or None in names:
                raise self._fault(node.id, f"has patterns, but the server of {self._document.path!r} lists no files")
            inner = [name for name in names if name is not None]
            places = [self._beside(node, name) for name in inner]
            paths = [os.fspath(path) for path in self._dl_manager.download(places)]
        else:
            below = [os.fspath(path) for path in self._dl_manager.iter_files([self._folder])]
            relative = [os.path.relpath(path, self._folder).replace(os.sep, "/") for path in below]
            inner = [name for name in relative if is_chosen(name, node)]
            places = paths = [self._beside(node, name) for name in inner]
        listed = list(zip(inner, places, paths, strict=True))
        for _, place, path in listed:
            if place in hashes:
                self._compare(hashes[place], path, redact(place))
        return [FoundFile(path, redact(place), name, "", "") for name, place, path in listed]

    def _fault(self, node: str, reason: str) -> FileFormatError:
        return FileFormatError(self._document.path, f"the node {node!r} {reason}", advice=_ADVICE)


def _stands_alone(node: FileNode) -> bool:
    return not node.is_set and not node.containers and bool(node.url) and not is_url(node.url) and _GIT not in node.encodings
