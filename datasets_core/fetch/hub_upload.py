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
from typing import TYPE_CHECKING, Any

from datasets_core.fetch import hub_write_failures as failures_of
from datasets_core.fetch import hub_xet
from datasets_core.fetch.http import TransientError, transport_failures
from datasets_core.fetch.hub import Hub, client_package
from datasets_core.fetch.hub_branch import HubBranch, within
from datasets_core.fetch.hub_change import Change, NewFile
from datasets_core.fetch.hub_listing import HubCommit
from datasets_core.fetch.hub_url import is_commit
from datasets_core.fetch.retry import RetryPolicy

if TYPE_CHECKING:
    from datasets_core.fetch.hub import CommitInfo

logger = logging.getLogger(__name__)

FILES_A_CALL = 256
"""How many files the Hub is asked about at once."""
_THREADS = 8
_ADVICE = "Set HF_HUB_DISABLE_XET=1 before Python starts to do so at once"
_COMMIT_SECONDS = 600.0  # the client waits for ever
_PULL_REQUEST = re.compile(r"refs/pr/([0-9]{1,12})")
_MOST_EXPIRED = 3  # uploads in a row that a storage host refuses: its URLs hold for a while only


class MissedCommitError(Exception):
    """A commit that the Hub did not answer with one; never to be seen by the user.

    Args:
        reason: what happened.
        is_conflict: somebody else committed meanwhile; otherwise it may have been made for all we know.
        is_garbled: there was an answer, and it makes no sense.
        retry_after: how long the server asks to wait.
    """

    def __init__(
        self, reason: str, *, is_conflict: bool = False, is_garbled: bool = False, retry_after: str | None = None
    ) -> None:
        self.reason, self.is_conflict, self.is_garbled, self.retry_after = reason, is_conflict, is_garbled, retry_after
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
        super().__init__(hub, repo_id, revision=revision, create_pr=create_pr, policy=policy)
        self._may_xet = hub_xet.sends_by_xet()
        self._by_xet = self._may_xet and hub_xet.is_offered(hub)

    def upload(self, files: Iterable[NewFile], *, ignores_nothing: bool = False) -> None:
        """Send the bytes of files ahead of the commit, those that the Hub does not have.

        Args:
            files: any number.
            ignores_nothing: the repository has a `.gitignore`, which is not to leave any of them out.

        Raises:
            PushError: they are refused.
        """
        firsts: dict[tuple[str, str, str], NewFile] = {}
        shared = [(file, first) for file in files if (first := firsts.setdefault(file.kind, file)) is not file]
        with ExitStack() as unnamed:
            for first in {id(first): first for _, first in shared}.values():
                unnamed.enter_context(first.unnamed())
            waiting = list(firsts.values())
            while waiting:  # the same content twice in one call would be read by two threads from one open file
                chosen = list({file.sha256: file for file in reversed(waiting)}.values())[::-1][:FILES_A_CALL]
                self._send(chosen, {"gitignore_content": ""} if ignores_nothing else {})
                waiting = [file for file in waiting if not file.is_sent]
        for file, first in shared:
            file.share(first)

    def _send(self, batch: Sequence[NewFile], options: dict[str, str]) -> None:
        doing = f"uploading {batch[0].path}" if len(batch) == 1 else f"uploading {len(batch)} files"
        expired = 0
        refusal: Exception | None = None  # of files by LFS, while Xet is tried in its place
        while True:
            try:
                with transport_failures(), failures_of.garbled_answers():
                    self._preupload(batch, options)
                break
            except client_package().errors.HfHubHTTPError as error:  # tried again by the client, where that may help
                if refusal is not None:
                    raise refusal from error
                refusal = self._refusal(error, doing)
            except TransientError as error:
                raise failures_of.no_answer(error, repo_id=self.repo_id, doing=doing) from error
            except Exception as error:
                if self._by_xet:
                    self._by_xet = False
                    reason = failures_of.shown(error)
                    if refusal is not None:
                        raise refusal from None  # the client's errors name signed URLs
                    doing = f"{doing} (by LFS, after Xet failed: {reason})"
                    told = "%s took no files by Xet (%s): they are sent by LFS. %s."
                    logger.warning(told, self.hub.endpoint, reason, _ADVICE)
                    continue
                expired += 1
                if expired >= _MOST_EXPIRED or not (failures_of.may_be_expired(error) or failures_of.is_garbled(error)):
                    raise failures_of.upload_refused(error, repo_id=self.repo_id, doing=doing) from None
        for file in batch:
            file.is_sent = True

    def _refusal(self, error: BaseException, doing: str) -> Exception:
        """What is to be raised if Xet fails too, to which it turns; raised at once where that cannot help."""
        if self._by_xet or not failures_of.is_of_lfs(error):
            raise self.refused(error, doing) from error
        if not self._may_xet:
            raise self.refused(error, f"{doing} by LFS") from error
        reason = hub_xet.hindrance(self.hub, self.repo_id, self.branch, create_pr=self.create_pr)
        if reason is not None:
            raise self.refused(error, f"{doing} by LFS, since it takes no files by Xet ({reason}),") from error
        self._by_xet = True
        return self.refused(error, f"{doing} by LFS, and then by Xet,")

    def _preupload(self, batch: Sequence[NewFile], options: dict[str, str]) -> None:
        with ExitStack() as opened:
            if self._may_xet and not self._by_xet:  # what is open already is never sent by Xet
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
            if not is_commit(str(made.oid)):
                raise failures_of.GarbledAnswerError
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
            raise MissedCommitError(error.reason) from error
        except ValueError as error:
            if failures_of.is_of_yaml(error):
                raise failures_of.yaml_refused(error, repo_id=self.repo_id) from error
            raise MissedCommitError("the Hub's answer makes no sense", is_garbled=True) from error

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
