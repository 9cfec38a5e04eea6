"""A script in a repository of the Hub: trust, the files of its commit that it needs, and the data next to it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError, NonMatchingChecksumError, ScriptError, UntrustedScriptError
from datasets_core.fetch.hub.repository import HubCommit, HubFile
from datasets_core.fetch.hub.transfer import BlobDigest
from datasets_core.files import disk_errors, write_atomically
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.info import Card, DatasetInfo
from datasets_core.meta.listings import UnfitFileError, small_bytes
from datasets_core.meta.reference import OF_TFDS
from datasets_core.resolve.folder import RECORDS
from datasets_core.resolve.request import Request, Source, commits_of
from datasets_core.resolve.script import LocalScript, RunMode, run_mode
from datasets_core.scripting.modules import Script, read_script, scan
from datasets_core.scripting.sandbox.children import Home
from datasets_core.scripting.sandbox.grants import OwnFiles

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import Hub


# `Checkout`: the files of a commit that a script needs, fetched on demand as real files into a folder of their
# own.


_MOST_FILES = 1_000
_MOST_BYTES = 32 << 20  # size limit of one file in bytes
_MOST_IN_ALL = 64 << 20
_ADVICE = "Download the repository, and pass the path of the script"


class Checkout:
    """Some files of a commit in a folder; a `Place` of modules.

    Args:
        hub: Hub client of the user.
        commit: listing of the commit.
        folder: folder for the files.
    """

    def __init__(self, hub: Hub, commit: HubCommit, folder: str) -> None:
        self._hub, self.commit, self.folder = hub, commit, folder
        self._here: set[str] = set()

    @classmethod
    def below(cls, modules: str, hub: Hub, commit: HubCommit) -> Checkout:
        """Return the checkout of a commit below the folder of all checkouts."""
        return cls(hub, commit, os.path.join(modules, "hub", commit.repo_id.replace("/", "--"), commit.sha))

    def path(self, name: str) -> str:
        """Return the existing or future path of a file of the commit."""
        return os.path.join(self.folder, *name.split("/"))

    def is_file(self, path: str) -> bool:
        """Return True if the commit has the file of a path in the folder; it is fetched if necessary.

        Raises:
            ScriptError: the file is too large, or there are too many files.
            DownloadError: the file cannot be fetched.
        """
        name = self._name(path)
        if name not in self.commit.files:
            return False
        self.bring([name])
        return True

    def is_folder(self, path: str) -> bool:
        """Return True if the commit has files below a path in the folder."""
        name = self._name(path)
        return bool(name) and any(file.startswith(f"{name}/") for file in self.commit.files)

    def bring(self, names: Iterable[str]) -> None:
        """Fetch files of the commit into the folder, unless they exist.

        Raises:
            ScriptError: the files are too large, or too many.
            NonMatchingChecksumError: a file does not match the commit.
            DownloadError: a file cannot be fetched.
        """
        new = [name for name in dict.fromkeys(names) if name not in self._here]
        wanted = {name: self.commit.files[name] for name in new}
        self._check_sizes(wanted)
        missing = [name for name, file in wanted.items() if not _is_sound(self.path(name), file)]
        if missing:
            from datasets_core.fetch.hub.files import fetch_files  # takes 10 ms; cached files do not need it

            places = fetch_files(self._hub, self.commit, missing)
            for name in missing:
                self._put(name, places[name])
        self._here.update(wanted)

    def _put(self, name: str, source: str) -> None:
        file, url = self.commit.files[name], self.commit.url(name)
        data = small_bytes(source, most_bytes=_MOST_BYTES)
        found = _etag(data, file)
        if found != file.etag:
            raise NonMatchingChecksumError(
                url,
                expected=file.etag,
                found=found,
                what="hash",
                advice=f"Delete {source}, which was changed",
                is_optional=False,
            )
        place = self.path(name)
        with disk_errors(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
        write_atomically(place, data)

    def _check_sizes(self, wanted: dict[str, HubFile]) -> None:
        for name, file in wanted.items():
            if file.size > _MOST_BYTES:
                what = f"it has {file.size:,} bytes; the limit for a file next to a script is {_MOST_BYTES:,}"
                raise ScriptError(self.commit.url(name), what, advice=_ADVICE)
        held = [self.commit.files[name].size for name in self._here] + [file.size for file in wanted.values()]
        if len(held) > _MOST_FILES or sum(held) > _MOST_IN_ALL:
            what = f"the files next to the script exceed the limit of {_MOST_FILES:,} files or {_MOST_IN_ALL:,} bytes"
            raise ScriptError(self.commit.url(), what, advice=_ADVICE)

    def _name(self, path: str) -> str:
        """Return the name in the repository of a path in the folder; "" for a path outside."""
        inside = os.path.relpath(path, self.folder).replace(os.sep, "/")
        return "" if inside.startswith("..") or inside == "." else inside


def _is_sound(path: str, file: HubFile) -> bool:
    """Return True if a path is the file of the commit, and not a link to another place."""
    try:
        if os.path.islink(path) or os.path.getsize(path) != file.size:
            return False
        return _etag(small_bytes(path, most_bytes=_MOST_BYTES), file) == file.etag
    except (OSError, UnfitFileError):
        return False


def _etag(data: bytes, file: HubFile) -> str:
    digest = BlobDigest(file)
    digest.update(data)
    return digest.etag()


PARQUET_EXPORT = "refs/convert/parquet"

_BESIDE_ANY = ("checksums.tsv", "CITATIONS.bib", "TAGS.txt")  # files beside scripts of TFDS
_OWN_PLACE = re.compile(rb"__file__|get_imported_module_dir")
_TEXT_BYTES = 1 << 20
_QUIET = re.compile(r"README\.md|\.git\w+|LICEN[CS]E[\w.]*|CITATION[\w.]*|dataset_infos\.json|\.huggingface\.yaml", re.ASCII)


def script_of(commit: HubCommit) -> str | None:
    """Return the script of a repository, named like the repository or as in TFDS; None if there is none.

    >>> from datasets_core.fetch.hub.repository import HubFile
    >>> script_of(HubCommit("org/reviews", "a" * 40, "main", {"reviews.py": HubFile("reviews.py", 1, "b" * 40)}))
    'reviews.py'
    """
    name = commit.repo_id.rpartition("/")[2]
    return next((file for file in (f"{name}.py", f"{name}{OF_TFDS}.py") if file in commit.files), None)


def script_source(request: Request, hub: Hub, commit: HubCommit) -> Source:
    """Return the script of a repository at a commit, as a source; nothing is fetched before it is allowed to run.

    Args:
        request: the request.
        hub: the client of the user.
        commit: listing of the repository at the commit.

    Raises:
        UntrustedScriptError: it must not run, or there is no sandbox; the error says if data exist without a script.
        ConfinementUnavailableError: it must run in the sandbox, which this machine does not have.
    """
    name = script_of(commit)
    assert name is not None, commit.repo_id  # checked by the caller
    way = _way_of(request, hub, commit, name)
    cache = request.cache_dir
    root = settings().cache_dir if cache is None or files.is_url(cache) else os.path.abspath(files.local_path(cache))
    standing = HubScript(Checkout.below(os.path.join(root, "modules"), hub, commit), name, hub)
    if way == "confined":
        from datasets_core.resolve.script import SandboxedSource  # starts processes; plain scripts do not need it

        return SandboxedSource(request, standing)
    from datasets_core.resolve.script import ScriptSource

    return ScriptSource(request, standing)


def _way_of(request: Request, hub: Hub, commit: HubCommit, name: str) -> RunMode:
    try:
        return run_mode(request.trust_remote_code, "repository", name, repository=commit.repo_id, commit=commit.sha)
    except UntrustedScriptError as error:
        export = None
        with suppress(DatasetsCoreError):  # a repository without the script is refused
            export = hub.commit(commit.repo_id, PARQUET_EXPORT)
        if export is None or not export.files:
            raise
        raise error.with_export(PARQUET_EXPORT) from None


class HubScript(LocalScript):
    """A script in a repository at one commit.

    Args:
        checkout: local copies of the files it needs.
        name: the script.
        hub: Hub client for other files.
    """

    def __init__(self, checkout: Checkout, name: str, hub: Hub) -> None:
        super().__init__(checkout.path(name))
        self._checkout, self._name, self._hub = checkout, name, hub
        self.commit: HubCommit = checkout.commit

    @property
    def base_path(self) -> str:
        """See `LocalScript.base_path`: its repository at its commit."""
        return self.commit.url()

    @property
    def dataset_name(self) -> str:
        return self.commit.repo_id.rpartition("/")[2]

    def read(self, *, is_confined: bool = False) -> Script:
        """See `LocalScript.read`; relative imports are fetched when they are found."""
        beside = [name for name in _BESIDE_ANY if self._is_small(name)]
        self._checkout.bring([self._name, *self._records(), *beside])
        script = read_script(self.script, is_confined=is_confined, place=self._checkout)
        self._checkout.bring([*self._named_by(script), *self._misnamed_by(script)])
        return script

    def card(self, *, is_confined: bool = False) -> Card:
        self._checkout.bring(self._records())
        return super().card(is_confined=is_confined)

    def info(self, name: str, *, is_confined: bool = False) -> DatasetInfo | None:
        self._checkout.bring(self._records())
        return super().info(name, is_confined=is_confined)

    def identity(self, script: Script) -> str:
        """See `LocalScript.identity`: the sources, and the files of the repository that it may request.

        Files that no script reads are excluded, unless the script names them: a new README does not change the dataset.
        """
        texts = [module.text for module in script.modules]
        sha = hashlib.sha256(f"{self.commit.repo_id}\0{script.digest}\0".encode())
        for path, file in sorted(self.commit.files.items()):
            if not _QUIET.fullmatch(path) or any(path.encode() in text for text in texts):
                sha.update(f"{path}\0{file.etag}\0".encode("utf-8", "surrogatepass"))
        return sha.hexdigest()

    def data_files(self, asked: Request) -> DataFilesDict | None:
        """See `LocalScript.data_files`: relative ones start from `data_dir`, or from the root of the repository."""
        if asked.data_files is None:
            return None
        base = asked.data_dir or self.base_path
        return resolve_data_files(asked.data_files, base, storage_options=asked.storage_options, listing=commits_of(asked))

    def home(self, downloads: str) -> Home:
        """See `LocalScript.home`: all commits of a repository share downloads."""
        return Home.of(downloads, f"{self._hub.endpoint}/datasets/{self.commit.repo_id}")

    def own_files(self, home: Home) -> OwnFiles | None:
        return OwnFiles(self._hub, self.commit, os.path.join(home.files, "repository"), script=self.script)

    def _records(self) -> list[str]:
        return [name for name in RECORDS if name in self.commit.files]

    def _is_small(self, name: str) -> bool:
        file = self.commit.files.get(name)
        return file is not None and file.size <= _TEXT_BYTES

    def _misnamed_by(self, script: Script) -> list[str]:
        """Return modules next to the script that it imports like packages, which the import hook resolves."""
        packages = {name for module in script.modules for name, _ in scan(module.path, module.text).needed}
        return sorted(f"{name}.py" for name in packages if self._is_small(f"{name}.py"))

    def _named_by(self, script: Script) -> list[str]:
        """Return small files named in a script that locates files by its own path, without the download manager."""
        texts = [module.text for module in script.modules]
        if not any(_OWN_PLACE.search(text) for text in texts):
            return []
        small = (name for name in self.commit.files if self._is_small(name) and not name.endswith(".py"))
        return [name for name in small if any(name.rpartition("/")[2].encode() in text for text in texts)]
