"""A script in a repository of the Hub: trust, the files of its commit that it needs, and the data beside it."""

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


# `Checkout`: the files of a commit that a script needs, as real files in a folder of their own, fetched on
# for.


_MOST_FILES = 1_000
_MOST_BYTES = 32 << 20  # of one file
_MOST_IN_ALL = 64 << 20
_ADVICE = "Download the repository, and name the script in its folder"


class Checkout:
    """Some files of a commit in a folder; a `Place` of modules.

    Args:
        hub: fetches them, as the user.
        commit: their listing.
        folder: where they are put.
    """

    def __init__(self, hub: Hub, commit: HubCommit, folder: str) -> None:
        self._hub, self.commit, self.folder = hub, commit, folder
        self._here: set[str] = set()

    @classmethod
    def below(cls, modules: str, hub: Hub, commit: HubCommit) -> Checkout:
        """The checkout of a commit below the folder of all of them."""
        return cls(hub, commit, os.path.join(modules, "hub", commit.repo_id.replace("/", "--"), commit.sha))

    def path(self, name: str) -> str:
        """Return the existing or future path of a file of the commit."""
        return os.path.join(self.folder, *name.split("/"))

    def is_file(self, path: str) -> bool:
        """True if the commit has the file that is meant by a path in the folder: then it is there now.

        Raises:
            ScriptError: it is too large for a script, or there are too many.
            DownloadError: it cannot be fetched.
        """
        name = self._name(path)
        if name not in self.commit.files:
            return False
        self.bring([name])
        return True

    def is_folder(self, path: str) -> bool:
        """True if the commit has files below a path in the folder."""
        name = self._name(path)
        return bool(name) and any(file.startswith(f"{name}/") for file in self.commit.files)

    def bring(self, names: Iterable[str]) -> None:
        """Put files of the commit into the folder, as far as they are not there.

        Raises:
            ScriptError: they are too large for a script, or too many.
            NonMatchingChecksumError: a file is not what the commit lists.
            DownloadError: one cannot be fetched.
        """
        new = [name for name in dict.fromkeys(names) if name not in self._here]
        wanted = {name: self.commit.files[name] for name in new}
        self._check_sizes(wanted)
        missing = [name for name, file in wanted.items() if not _is_sound(self.path(name), file)]
        if missing:
            from datasets_core.fetch.hub.files import fetch_files  # 10 ms that what lies here does without

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
                advice=f"Delete {source}, which was altered",
                is_optional=False,
            )
        place = self.path(name)
        with disk_errors(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
        write_atomically(place, data)

    def _check_sizes(self, wanted: dict[str, HubFile]) -> None:
        for name, file in wanted.items():
            if file.size > _MOST_BYTES:
                what = f"it has {file.size:,} bytes, and at most {_MOST_BYTES:,} are taken for a file beside a script"
                raise ScriptError(self.commit.url(name), what, advice=_ADVICE)
        held = [self.commit.files[name].size for name in self._here] + [file.size for file in wanted.values()]
        if len(held) > _MOST_FILES or sum(held) > _MOST_IN_ALL:
            what = f"the files beside the script are more than {_MOST_FILES:,}, or have more than {_MOST_IN_ALL:,} bytes"
            raise ScriptError(self.commit.url(), what, advice=_ADVICE)

    def _name(self, path: str) -> str:
        """The name in the repository of a path in the folder; "" for one elsewhere."""
        inside = os.path.relpath(path, self.folder).replace(os.sep, "/")
        return "" if inside.startswith("..") or inside == "." else inside


def _is_sound(path: str, file: HubFile) -> bool:
    """True if a file lies at a path as the commit has it, and no link to elsewhere."""
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
    """The script of a repository: it is called as the repository is, or as TFDS calls it; None where there is none.

    >>> from datasets_core.fetch.hub.repository import HubFile
    >>> script_of(HubCommit("org/reviews", "a" * 40, "main", {"reviews.py": HubFile("reviews.py", 1, "b" * 40)}))
    'reviews.py'
    """
    name = commit.repo_id.rpartition("/")[2]
    return next((file for file in (f"{name}.py", f"{name}{OF_TFDS}.py") if file in commit.files), None)


def script_source(request: Request, hub: Hub, commit: HubCommit) -> Source:
    """Return the script of a repository at a commit, as a source; nothing is fetched before it is known that it may run.

    Args:
        request: the request.
        hub: the client of the user.
        commit: listing of the repository.

    Raises:
        UntrustedScriptError: it must not run, or there is no sandbox; says if data exist without a script.
        ConfinementUnavailableError: it must run in the sandbox, which this machine does not have.
    """
    name = script_of(commit)
    assert name is not None, commit.repo_id  # checked by the caller
    way = _way_of(request, hub, commit, name)
    cache = request.cache_dir
    root = settings().cache_dir if cache is None or files.is_url(cache) else os.path.abspath(files.local_path(cache))
    standing = HubScript(Checkout.below(os.path.join(root, "modules"), hub, commit), name, hub)
    if way == "confined":
        from datasets_core.resolve.script import SandboxedSource  # starts processes, which plain ones do without

        return SandboxedSource(request, standing)
    from datasets_core.resolve.script import ScriptSource

    return ScriptSource(request, standing)


def _way_of(request: Request, hub: Hub, commit: HubCommit, name: str) -> RunMode:
    try:
        return run_mode(request.trust_remote_code, "repository", name, repository=commit.repo_id, commit=commit.sha)
    except UntrustedScriptError as error:
        export = None
        with suppress(DatasetsCoreError):  # a repository without it is refused as it is
            export = hub.commit(commit.repo_id, PARQUET_EXPORT)
        if export is None or not export.files:
            raise
        raise error.with_export(PARQUET_EXPORT) from None


class HubScript(LocalScript):
    """A script in a repository, at one commit.

    Args:
        checkout: its files that are needed here.
        name: the script.
        hub: where the others come from.
    """

    def __init__(self, checkout: Checkout, name: str, hub: Hub) -> None:
        super().__init__(checkout.path(name))
        self._checkout, self._name, self._hub = checkout, name, hub
        self.commit: HubCommit = checkout.commit

    @property
    def base_path(self) -> str:
        """See `LocalScript.base_path`: its repository, at its commit."""
        return self.commit.url()

    @property
    def dataset_name(self) -> str:
        """See `LocalScript.dataset_name`."""
        return self.commit.repo_id.rpartition("/")[2]

    def read(self, *, is_confined: bool = False) -> Script:
        """See `LocalScript.read`; what it imports relatively is fetched as it is found."""
        beside = [name for name in _BESIDE_ANY if self._is_small(name)]
        self._checkout.bring([self._name, *self._records(), *beside])
        script = read_script(self.script, is_confined=is_confined, place=self._checkout)
        self._checkout.bring([*self._named_by(script), *self._misnamed_by(script)])
        return script

    def card(self, *, is_confined: bool = False) -> Card:
        """See `LocalScript.card`."""
        self._checkout.bring(self._records())
        return super().card(is_confined=is_confined)

    def info(self, name: str, *, is_confined: bool = False) -> DatasetInfo | None:
        """See `LocalScript.info`."""
        self._checkout.bring(self._records())
        return super().info(name, is_confined=is_confined)

    def identity(self, script: Script) -> str:
        """See `LocalScript.identity`: the texts, and the files of the repository that it may ask for.

        Files that no script reads are none of them, unless it names them: a new README makes no other dataset.
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
        """See `LocalScript.home`: all commits of a repository share what was fetched."""
        return Home.of(downloads, f"{self._hub.endpoint}/datasets/{self.commit.repo_id}")

    def own_files(self, home: Home) -> OwnFiles | None:
        """See `LocalScript.own_files`."""
        return OwnFiles(self._hub, self.commit, os.path.join(home.files, "repository"), script=self.script)

    def _records(self) -> list[str]:
        return [name for name in RECORDS if name in self.commit.files]

    def _is_small(self, name: str) -> bool:
        file = self.commit.files.get(name)
        return file is not None and file.size <= _TEXT_BYTES

    def _misnamed_by(self, script: Script) -> list[str]:
        """Return modules beside the script that it imports like packages: the import error is resolved there."""
        packages = {name for module in script.modules for name, _ in scan(module.path, module.text).needed}
        return sorted(f"{name}.py" for name in packages if self._is_small(f"{name}.py"))

    def _named_by(self, script: Script) -> list[str]:
        """Return small files named in a script that finds files beside it by its own path, not by its download manager."""
        texts = [module.text for module in script.modules]
        if not any(_OWN_PLACE.search(text) for text in texts):
            return []
        small = (name for name in self.commit.files if self._is_small(name) and not name.endswith(".py"))
        return [name for name in small if any(name.rpartition("/")[2].encode() in text for text in texts)]
