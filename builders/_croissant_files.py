"""The files that a Croissant description names: fetched, compared with their hashes, taken out of archives, chosen."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from datasets_core.config import settings
from datasets_core.errors import FileFormatError, NonMatchingChecksumError, UntrustedPathError
from datasets_core.fetch.hub_url import hub_url, is_repo_id
from datasets_core.fetch.sniff import HEAD_BYTES, kind_of
from datasets_core.files import is_url
from datasets_core.meta.croissant_nodes import CroissantDocument, FileNode
from datasets_core.redact import redact
from datasets_core.rows.origin import paths_below

from ._croissant_found import FoundFile, compare, is_chosen, kind_of_file, literal_path, name_of, without_packing

_GIT = "git+https"
_HUB = "https://huggingface.co"
_SCHEMES = ("http", "https", "hf", "s3", "gs", "gcs", "az", "abfs", "ftp")
_ARCHIVE_KINDS = frozenset({"zip", "tar", "rar", "7z"})
_TREE = re.compile(r"/datasets/(?P<repo>[^/]+(?:/[^/]+)?)(?:/(?P<what>tree|resolve)/(?P<revision>[^/]+)(?:/(?P<path>.*))?)?/?")
_ADVICE = "Mend the description"


class ResourceFiles:
    """Finds the files of the resources of one description.

    Args:
        document: the description.
        place: where it was read: a local path, or a URL.
        dl_manager: fetches and unpacks.
        token: for the Hub.
    """

    def __init__(self, document: CroissantDocument, place: str, dl_manager: Any, token: Any = None) -> None:
        self._document, self._dl_manager, self._token = document, dl_manager, token
        self._folder = place.rpartition("/")[0] if is_url(place) else os.path.dirname(os.path.abspath(place))
        self._found: dict[str, list[FoundFile]] = {}
        self._looking: list[str] = []

    def of(self, node_id: str) -> list[FoundFile]:
        """The files of a file or of a file set, in the order of their paths.

        Raises:
            FileFormatError: a node says something that is not supported; it names the node.
            NonMatchingChecksumError: a file is another one.
        """
        node = self._document.files.get(node_id)
        if node is None:
            raise self._fault(node_id, "is no file and no file set of the description")
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
        """Files of their own, fetched together."""
        addresses = [self._address(node) for node in nodes]
        for node, address in zip(nodes, addresses, strict=True):
            if not is_url(address) and not os.path.isfile(address):
                raise self._fault(node.id, f"names {node.url!r}, which is no file beside the description")
        paths = [os.fspath(path) for path in self._dl_manager.download(addresses)]
        for node, path, address in zip(nodes, paths, addresses, strict=True):
            self._compare(node, path, redact(address))
        return [
            FoundFile(path, redact(address), name_of(node), "", kind_of_file(node, node.url))
            for node, path, address in zip(nodes, paths, addresses, strict=True)
        ]

    def _address(self, node: FileNode) -> str:
        """The place of a file: what lies beside the description, or a URL."""
        if _GIT in node.encodings:
            raise self._fault(node.id, "is a git repository, of which only file sets are read")
        url = node.url
        if not url:
            raise self._fault(node.id, "has no contentUrl")
        if "::" in url:
            raise self._fault(node.id, f"has the contentUrl {url!r}, which is no plain URL")
        if is_url(url) or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", url):
            if url.partition(":")[0].lower() not in _SCHEMES or not is_url(url):
                raise self._fault(
                    node.id, f"has the contentUrl {redact(url)!r}, which is neither beside it nor a URL of the web"
                )
            return self._of_hub(url) or url
        return self._beside(node, url)

    def _beside(self, node: FileNode, path: str) -> str:
        if not path or path.startswith(("/", "\\", "~")) or ".." in re.split(r"[/\\]", path) or "\0" in path:
            raise self._fault(node.id, f"names {path!r}, which does not lie beside the description")
        path = posixpath.normpath(path)
        if not is_url(self._folder):
            try:
                return paths_below([self._folder]).locate(path)
            except UntrustedPathError as error:
                raise self._fault(node.id, f"names {path!r}, which leads out of the folder of the description") from error
        if self._folder.startswith(("http://", "https://")):
            return urljoin(self._folder + "/", quote(path))
        return f"{self._folder}/{path}"

    def _of_hub(self, url: str) -> str | None:
        """A file of a dataset on the Hub, as the library fetches it: with the user's token, checked, and kept with others."""
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
        """A file in an archive."""
        if len(node.containers) != 1:
            raise self._fault(node.id, "is contained in several nodes")
        path = node.url
        if not path or path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path) or is_url(path):
            raise self._fault(node.id, f"has the contentUrl {path!r}, which is no path in {node.containers[0].node!r}")
        wanted = posixpath.normpath(path)
        members = list(self._members(node))
        for found in members:
            if found.inner == wanted:
                self._compare(node, found.path, found.label)
                return FoundFile(found.path, found.label, found.inner, found.outer, kind_of_file(node, found.inner))
        shown = ", ".join(repr(found.inner) for found in members[:5])
        raise self._fault(node.id, f"is {wanted!r} in {node.containers[0].node!r}, where there is only {shown or 'nothing'}")

    def _set(self, node: FileNode) -> list[FoundFile]:
        """The files of a set: all of its containers together, in the order of their paths."""
        members = list(self._members(node)) if node.containers else self._around(node)
        chosen = [found for found in members if is_chosen(found.inner, node)]
        if not chosen:
            patterns = ", ".join(map(repr, node.includes))
            raise self._fault(node.id, f"includes {patterns or 'nothing'}, and no file is called so")
        ordered = sorted(chosen, key=lambda found: (found.outer, found.inner)) if len(node.containers) < 2 else chosen
        return [FoundFile(each.path, each.label, each.inner, each.outer, kind_of_file(node, each.inner)) for each in ordered]

    def _members(self, node: FileNode) -> Iterator[FoundFile]:
        """What lies in the containers of a node: the members of archives, other files themselves."""
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
        """The files of a set in a dataset repository on the Hub; only those are fetched."""
        from datasets_core.fetch.hub import Hub  # 10 ms that other files do without

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
        """The files beside the description, those that it tells hashes of compared with them."""
        hashes = {self._address(each): each for each in self._document.files.values() if _stands_alone(each)}
        if is_url(self._folder):
            names = [literal_path(pattern) for pattern in node.includes]
            if not names or None in names:
                raise self._fault(node.id, f"includes patterns of files beside {self._document.path!r}, which no server lists")
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
