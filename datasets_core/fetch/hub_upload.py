"""Writing to a repository of the Hub: files uploaded beside its history, many by one call, and then one commit.

The protocol is huggingface_hub's: `preupload_lfs_files` and `create_commit`.  What it leaves to others stands here: what is not
sent because the Hub has it, which failures are tried again, and how files go where Xet is not offered.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasets_core.errors import DownloadError
from datasets_core.fetch import hub_write_failures as failures_of
from datasets_core.fetch.http import TransientError, transport_failures
from datasets_core.fetch.hub import Hub, UnansweredError, client_package
from datasets_core.fetch.hub_branch import HubBranch, within
from datasets_core.fetch.hub_change import Change, NewFile
from datasets_core.fetch.hub_listing import HubCommit
from datasets_core.fetch.retry import RetryPolicy

if TYPE_CHECKING:
    from datasets_core.fetch.hub import CommitInfo

logger = logging.getLogger(__name__)

FILES_A_CALL = 256
"""How many files the Hub is asked about at once."""
_THREADS = 8
_COMMIT_SECONDS = 600.0  # the client waits for ever
_HUB_WITH_XET = "https://huggingface.co"
_PULL_REQUEST = re.compile(r"refs/pr/([0-9]{1,12})")
_MOST_EXPIRED = 3  # uploads in a row that a storage host refuses: its URLs hold for a while only


class MissedCommitError(Exception):
    """A commit that the Hub did not answer with one; never to be seen by the user.

    Args:
        reason: what happened.
        is_conflict: somebody else committed meanwhile; otherwise it may have been made for all we know.
        retry_after: how long the server asks to wait.
    """

    def __init__(self, reason: str, *, is_conflict: bool, retry_after: str | None = None) -> None:
        self.reason, self.is_conflict, self.retry_after = reason, is_conflict, retry_after
        super().__init__(reason)


class HubWriter(HubBranch):
    """A branch that files and commits are sent to.

    Args:
        hub, repo_id, revision, policy: those of `HubBranch`.
        create_pr: whether commits become pull requests.
    """

    def __init__(
        self,
        hub: Hub,
        repo_id: str,
        *,
        revision: str | None = None,
        create_pr: bool = False,
        policy: RetryPolicy | None = None,
    ) -> None:
        super().__init__(hub, repo_id, revision=revision, policy=policy)
        self.create_pr = create_pr
        self._sends_open_files: bool | None = None  # which the client never sends by Xet; None: not known yet
        self._can_xet = False

    def upload(self, files: Iterable[NewFile], *, ignores_nothing: bool = False) -> None:
        """Send the bytes of files ahead of the commit, those that the Hub does not have.

        Args:
            files: any number.
            ignores_nothing: the repository has a `.gitignore`, which is not to leave any of them out.

        Raises:
            PushError: they are refused.
        """
        waiting = list(files)
        while waiting:
            # the same content twice in one call would be read by two threads from one open file
            chosen = list({file.sha256: file for file in reversed(waiting)}.values())[::-1][:FILES_A_CALL]
            self._send(chosen, {"gitignore_content": ""} if ignores_nothing else {})
            waiting = [file for file in waiting if not file.is_sent]

    def _send(self, batch: Sequence[NewFile], options: dict[str, str]) -> None:
        doing = f"uploading {batch[0].path}" if len(batch) == 1 else f"uploading {len(batch)} files"
        expired, by_xet = 0, ""
        while True:
            is_by_xet = self._is_by_xet()
            try:
                with transport_failures():
                    self._preupload(batch, options)
                break
            except client_package().errors.HfHubHTTPError as error:  # tried again by the client, where that may help
                raise self.refused(error, doing + by_xet) from error
            except TransientError as error:
                raise failures_of.no_answer(error, repo_id=self.repo_id, doing=doing) from error
            except Exception as error:
                if is_by_xet:
                    by_xet = f" (by LFS, after Xet failed: {failures_of.shown(error)})"
                    self._without_xet(failures_of.shown(error))
                    continue
                expired += 1
                if expired >= _MOST_EXPIRED or not (failures_of.may_be_expired(error) or failures_of.is_garbled(error)):
                    # not chained: the client's errors name signed URLs
                    raise failures_of.upload_refused(error, repo_id=self.repo_id, doing=doing + by_xet) from None
        for file in batch:
            file.is_sent = True

    def _is_by_xet(self) -> bool:
        """Whether files go by Xet, which the client would try wherever it can: for minutes where a Hub fails to answer that."""
        if self._sends_open_files is None:
            self._sends_open_files = False
            package = client_package()
            can = not package.constants.HF_HUB_DISABLE_XET and find_spec("hf_xet") is not None
            if can and self.hub.endpoint != _HUB_WITH_XET:
                asked = f"{self.hub.endpoint}/api/datasets/{self.repo_id}/xet-write-token/{quote(self.branch, safe='')}"
                try:
                    status = self.hub.answer(f"{asked}?create_pr=1" if self.create_pr else asked).status
                except (UnansweredError, DownloadError) as error:
                    self._without_xet(failures_of.shown(error))
                else:
                    if status != 200:
                        self._without_xet(f"it answers {status}")
            self._can_xet = can
        return self._can_xet and not self._sends_open_files

    def _without_xet(self, reason: str) -> None:
        self._sends_open_files = True
        endpoint = self.hub.endpoint
        logger.warning("%s takes no files by Xet (%s): they are sent by LFS. %s.", endpoint, reason, failures_of.XET_ADVICE)

    def _preupload(self, batch: Sequence[NewFile], options: dict[str, str]) -> None:
        with ExitStack() as opened:
            if self._sends_open_files:  # what is open already is never sent by Xet
                for file in batch:
                    opened.enter_context(file.opened())
            self.api.preupload_lfs_files(
                self.repo_id,
                additions=[file.operation for file in batch],
                repo_type="dataset",
                revision=self.branch,
                create_pr=self.create_pr,
                num_threads=_THREADS,
                **options,
            )

    def commit(self, parent: HubCommit, change: Change, *, message: str, description: str | None) -> CommitInfo:
        """Make the commit.

        Returns:
            The client's `CommitInfo`.

        Raises:
            MissedCommitError: it may work the next time, or it did this time and the answer was lost.
            PushError: it is refused.
        """
        package = client_package()
        operations: list[Any] = [file.operation for file in change.files]
        operations += [
            package.CommitOperationCopy(src_path_in_repo=source, path_in_repo=path, src_revision=there.sha)
            for path, (there, source) in change.copies.items()
        ]
        operations += [package.CommitOperationDelete(path_in_repo=path, is_folder=False) for path in change.deletions]

        def create() -> CommitInfo:
            made: CommitInfo = self.api.create_commit(
                self.repo_id,
                operations,
                commit_message=message,
                commit_description=description,
                repo_type="dataset",
                revision=self.branch,
                create_pr=self.create_pr,
                parent_commit=parent.sha,
                num_threads=_THREADS,
            )
            return made

        try:
            return within(_COMMIT_SECONDS, create)
        except package.errors.HfHubHTTPError as error:
            status, asked = failures_of.status_of(error), failures_of.retry_after_of(error)
            if status in failures_of.CONFLICTS or status in failures_of.PASSING:
                reason, is_conflict = f"the Hub answers {status}", status in failures_of.CONFLICTS
                raise MissedCommitError(reason, is_conflict=is_conflict, retry_after=asked) from error
            raise self.refused(error, "committing") from error
        except TransientError as error:
            raise MissedCommitError(error.reason, is_conflict=False) from error
        except ValueError as error:
            if failures_of.is_garbled(error):
                raise MissedCommitError("the Hub's answer makes no sense", is_conflict=False) from error
            raise failures_of.yaml_refused(error, repo_id=self.repo_id) from error

    def pull_request(self, change: Change, *, message: str, description: str | None) -> CommitInfo | None:
        """The `CommitInfo` of the newest pull request, where that makes this very change; else None."""

        def numbered() -> list[int]:
            refs = self.api.list_repo_refs(self.repo_id, repo_type="dataset", include_pull_requests=True).pull_requests
            return [int(found[1]) for ref in refs or [] if (found := _PULL_REQUEST.fullmatch(ref.ref))]

        numbers = self.tried(numbered, "looking for its pull request")
        if not numbers:
            return None
        newest = HubWriter(self.hub, self.repo_id, revision=f"refs/pr/{max(numbers)}", policy=self.policy).current()
        if not change.stands_in(newest):
            return None
        made = self.made(newest, message=message, description=description)
        return replace(made, pr_url=f"{self.hub.endpoint}/datasets/{self.repo_id}/discussions/{max(numbers)}")

    def made(self, commit: HubCommit, *, message: str, description: str | None) -> CommitInfo:
        """The client's `CommitInfo` of a commit that is there."""
        made: CommitInfo = client_package().CommitInfo(
            commit_url=f"{self.hub.endpoint}/datasets/{self.repo_id}/commit/{commit.sha}",
            commit_message=message,
            commit_description=description or "",
            oid=commit.sha,
            _endpoint=self.hub.endpoint,
        )
        return made
