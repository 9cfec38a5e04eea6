"""`HubSource`: a repository of the Hub at one commit as a dataset of its data files."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    EmptyRepositoryError,
    HubUnreachableError,
    OfflineError,
)
from datasets_core.meta.config_entries import Card
from datasets_core.meta.data_files import DataFiles, DataFilesDict, infer_data_files
from datasets_core.resolve.folder import FolderSource, joined_card
from datasets_core.resolve.from_cache import reference_of
from datasets_core.resolve.hub_commits import HubCommits
from datasets_core.resolve.request import Request
from datasets_core.store.manifest import Manifest

if TYPE_CHECKING:
    from datasets_core.fetch.hub_listing import HubCommit

logger = logging.getLogger(__name__)

_SHOWN = 10
_ADVICE = "Load it once while the Hub can be reached"


@dataclass(frozen=True)
class HubSource(FolderSource):
    """A repository of data files; `folder` is its URL at the commit.

    Attributes:
        commits: what is known of repositories.
        commit: what the repository holds.
    """

    commits: HubCommits
    commit: HubCommit

    @classmethod
    def of(cls, request: Request, commits: HubCommits, commit: HubCommit) -> HubSource:
        """The repository at a commit."""
        return cls(request, commit.url(), commits, commit)

    @property
    def commit_sha(self) -> str:
        """The commit that was resolved."""
        return self.commit.sha

    @property
    def finished(self) -> Manifest | None:
        """See `FolderSource.finished`: what was built and uploaded is a repository of Arrow files as any other."""
        return None

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`.

        Raises:
            EmptyRepositoryError: there are none, since there is no data.
        """
        if not self.card.configs and not self._is_partial:
            self._files_below(self.folder)
        return super().config_names

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        made = super().builder()
        made.commit_sha = self.commit.sha
        made.hub_reference = reference_of(self.request, self.commit.repo_id, self.commit.revision, self.commit.sha)
        return made

    @property
    def _label(self) -> str:
        return f"{self.commit.repo_id}@{self.commit.revision}"

    @property
    def _dataset_name(self) -> str:
        return self.commit.repo_id.rpartition("/")[2]

    @property
    def _repo_id(self) -> str:
        return self.commit.repo_id

    @cached_property
    def _listing(self) -> HubCommits:
        return self.commits

    def _read_card(self) -> Card:
        return joined_card(self.folder, lambda path: self._record(path[len(self.folder) + 1 :]))

    def _record(self, path: str) -> str | None:
        """A card or a record of the repository; who names the files himself does without one that is not here while offline."""
        try:
            return self.commits.read(self.commit, path)
        except HubUnreachableError:
            raise
        except OfflineError as error:
            if not self._is_partial:
                advice = f"Fetch it too (snapshot_download, {path!r} among its patterns), or name the files by data_files="
                raise OfflineError(error.url, f"{error.reason}; it tells what the dataset is made of", advice=advice) from error
            logger.warning("%s is not here, and the files are read without what it says of them.", error.url)
            return None

    def _base(self, data_dir: str) -> str:
        if data_dir.startswith("/") or "\\" in data_dir or (files.is_url(data_dir) and not self.commits.holds(data_dir)):
            raise ConfigurationError(
                f"data_dir is {data_dir!r}, and {self.commit.repo_id!r} is a repository of the Hub. "
                "Give a folder of the repository, relative to it."
            )
        return self.commits.pinned(data_dir if files.is_url(data_dir) else files.join(self.folder, data_dir))

    def _named_files(self, data_files: DataFiles, base: str) -> DataFilesDict:
        with self._missing_told(base):
            return super()._named_files(data_files, base)

    def _files_below(self, base: str) -> DataFilesDict:
        try:
            with self._missing_told(base):
                return infer_data_files(self.commits.list_folder(base), base, refuses_gaps=not self.commit.is_whole)
        except DataFilesNotFoundError as error:
            commit, inside = self.commit, base[len(self.folder) :].strip("/")
            below = [each.path[len(base) :].strip("/") for each in self.commits.list_folder(base)]
            if inside and not below:
                raise DataFilesNotFoundError(
                    f"The Hub dataset {commit.repo_id!r} has no file or folder {inside!r} at revision {commit.revision!r}. "
                    f"There is: {_shown(list(commit.files))}."
                ) from error
            where = f" in {inside!r}" if inside else ""
            reason = f"holds no data files{where} (there is: {_shown(below)})"
            raise EmptyRepositoryError(commit.repo_id, revision=commit.revision, reason=reason) from error

    @contextlib.contextmanager
    def _missing_told(self, base: str) -> Iterator[None]:
        """What is missing in a part of a listing may be on the Hub."""
        try:
            yield
        except DataFilesNotFoundError as error:
            if self.commit.is_whole:
                raise
            raise OfflineError(base, f"the hub cache holds a part of it only ({error})", advice=_ADVICE) from error

    def _finished_in(self, base: str) -> Manifest | None:
        return None


def _shown(paths: list[str]) -> str:
    more = f", … ({len(paths)} in all)" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more or "nothing"
