"""`Checkout`: the files of a commit that a script stands on, as real files in a folder of their own, fetched when asked for.

Python finds no modules behind links, and a confined process may read this folder and not the hub cache.  Each file is compared
with the hash of the listing whenever it is used, so that what lies there is what the commit holds, whoever put it there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from datasets_core.errors import NonMatchingChecksumError, ScriptError
from datasets_core.fetch.hub_blobs import BlobDigest
from datasets_core.fetch.hub_listing import HubCommit, HubFile
from datasets_core.files import disk_errors, write_atomically
from datasets_core.meta.small_files import UnfitFileError, small_bytes

if TYPE_CHECKING:
    from datasets_core.fetch.hub import Hub

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
        """Where a file of the commit is, or is to be."""
        return os.path.join(self.folder, *name.split("/"))

    def is_file(self, path: str) -> bool:
        """Whether the commit has the file that is meant by a path in the folder: then it is there now.

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
        """Whether the commit has files below a path in the folder."""
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
            from datasets_core.fetch.hub_files import fetch_files  # 10 ms that what lies here does without

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
    """Whether a file lies at a path as the commit has it, and no link to elsewhere."""
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
