"""Writing to a repository of the Hub: uploads of many files in one call, followed by one commit.

The protocol is that of huggingface_hub: `preupload_lfs_files` and `create_commit`.  This module adds what it lacks: it skips
content that the Hub has, retries temporary failures, and uploads without Xet if that is not offered.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import posixpath
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import DownloadError, PushError, logger_of
from datasets_core.fetch.http import Attempts, TransientError, transport_failures
from datasets_core.fetch.hub.branch import (
    CONFLICTS,
    PASSING,
    GarbledAnswerError,
    HubBranch,
    garbled_answers,
    is_garbled,
    is_of_lfs,
    is_of_yaml,
    may_be_expired,
    no_answer,
    retry_after_of,
    shown_text,
    status_of,
    upload_refused,
    within,
    yaml_refused,
)
from datasets_core.fetch.hub.client import Hub, UnansweredError, client_package
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.hub_urls import is_commit

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import CommitInfo


# The changes of a commit to a repository of the Hub: files to add, copy and delete.


class NewFile:
    """A file to add in a commit: local, in memory, or already on the Hub.

    Args:
        path: path in the repository; may be changed before the commit.
        content: the path of a local file, or bytes.
    """

    def __init__(self, path: str, content: str | bytes) -> None:
        self.operation: Any = client_package().CommitOperationAdd(path_in_repo=path, path_or_fileobj=content)
        self.local = content if isinstance(content, str) else None
        self._bytes = content if isinstance(content, bytes) else None
        self.size: int = self.operation.upload_info.size
        self.sha256: str = self.operation.upload_info.sha256.hex()
        self.is_sent = False
        self._git_oid: str | None = None

    @property
    def path(self) -> str:
        """The path in the repository."""
        return str(self.operation.path_in_repo)

    @path.setter
    def path(self, path: str) -> None:
        self.operation.path_in_repo = path

    def stands_in(self, commit: HubCommit) -> bool:
        """Return True if the repository has this content at this path."""
        there = commit.files.get(self.path)
        if there is None or there.size != self.size:
            return False
        if there.sha256 is not None or self.is_stored:
            return there.sha256 == self.sha256
        return there.oid == self._oid()

    def _oid(self) -> str:
        if self._git_oid is None:
            digest = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
            with self.operation.as_file() as source:
                while data := source.read(1 << 20):
                    digest.update(data)
            self._git_oid = digest.hexdigest()
        return self._git_oid

    @property
    def is_stored(self) -> bool:
        """True if the Hub has its bytes, so that the local file can be removed."""
        return self.is_sent and self.operation.path_or_fileobj == b"" and self.size > 0

    @property
    def kind(self) -> tuple[str, str, str]:
        """The properties that determine its upload: files with equal properties are sent once."""
        return self.sha256, posixpath.dirname(self.path), posixpath.splitext(self.path)[1]

    def share(self, sent: NewFile) -> None:
        """Mark this file as sent, like a file of the same kind."""
        path, self.is_sent = self.path, sent.is_sent
        self.operation = copy.copy(sent.operation)
        self.path = path

    @contextmanager
    def unnamed(self) -> Iterator[None]:
        """Return a context in which it has a unique name, so that the Hub reports no file to replace."""
        path = self.path
        stem, ending = posixpath.splitext(path)
        self.path = f"{stem}-of-pending{ending}"
        try:
            yield
        finally:
            self.path = path

    @contextmanager
    def opened(self) -> Iterator[None]:
        """A context in which its content is an open file, unless it was removed."""
        given = self.operation.path_or_fileobj
        if self.is_stored:
            yield
            return
        with io.BytesIO(self._bytes or b"") if self.local is None else open(self.local, "rb") as source:
            self.operation.path_or_fileobj = source
            try:
                yield
            finally:
                if self.operation.path_or_fileobj is source:
                    self.operation.path_or_fileobj = given

    def forget_local(self) -> None:
        """Remove the local file."""
        if self.local is not None:
            os.unlink(self.local)
            self.local = None


@dataclass
class Change:
    """The changes of one commit.

    Attributes:
        files: new files.
        copies: new paths → (commit, path) of content on the Hub.
        deletions: paths to delete.
    """

    files: list[NewFile] = field(default_factory=list)
    copies: dict[str, tuple[HubCommit, str]] = field(default_factory=dict)
    deletions: list[str] = field(default_factory=list)

    def is_empty(self) -> bool:
        """Return True if it changes nothing."""
        return not (self.files or self.copies or self.deletions)

    def stands_in(self, commit: HubCommit) -> bool:
        """Return True if a commit already has the result of this change."""
        copied = all(
            path in commit.files and commit.files[path].etag == there.files[source].etag
            for path, (there, source) in self.copies.items()
        )
        return copied and all(file.stands_in(commit) for file in self.files) and not set(self.deletions) & set(commit.files)


# Support of Xet by a Hub: the client does not check it, and would retry for minutes without it.


_DOMAIN = "huggingface.co"
_NAMES = {"x-xet-cas-url": "casUrl", "x-xet-access-token": "accessToken", "x-xet-token-expiration": "exp"}


def sends_by_xet() -> bool:
    """Return True if the client uses Xet for content other than open files."""
    return not client_package().constants.HF_HUB_DISABLE_XET and find_spec("hf_xet") is not None


def is_offered(hub: Hub) -> bool:
    """Return True if a Hub is known to support Xet, without a request.

    >>> from datasets_core.fetch.hub.repository import HubCache
    >>> is_offered(Hub("https://huggingface.co", HubCache("/hub"))), is_offered(Hub("https://mirror", HubCache("/hub")))
    (True, False)
    """
    host = urlsplit(hub.endpoint).hostname or ""
    return host == _DOMAIN or host.endswith(f".{_DOMAIN}")


def hindrance(hub: Hub, repo_id: str, branch: str, *, create_pr: bool) -> str | None:
    """Return the reason why files cannot be sent to a repository by Xet; None if they can, as far as quick requests show.

    Args:
        hub: the Hub, with the token of the user.
        repo_id: the repository.
        branch: the branch to commit to.
        create_pr: True to commit as a pull request.
    """
    asked = f"{hub.endpoint}/api/datasets/{repo_id}/xet-write-token/{quote(branch, safe='')}"
    try:
        answer = hub.answer(f"{asked}?create_pr=1" if create_pr else asked)
        if answer.status != 200:
            return f"it answers {answer.status}"
        store = _store(answer.headers, answer.body)
        if store is None:
            return "its response has no store"
        hub.answer(store)
    except (UnansweredError, DownloadError) as error:
        return shown_text(error)
    return None


def _store(headers: Mapping[str, str], body: bytes) -> str | None:
    """Return the address of the store, if it comes with a token that is still valid."""
    try:
        form: Any = json.loads(body)
    except (ValueError, RecursionError):
        form = {}
    form = form if isinstance(form, dict) else {}
    address, token, end = (headers.get(name) or form.get(key) for name, key in _NAMES.items())
    try:
        holds = int(end) > time.time()
    except (TypeError, ValueError):
        return None
    is_url = isinstance(address, str) and urlsplit(address).scheme in ("http", "https")
    return address if is_url and token and holds else None


logger = logger_of(__name__)

FILES_A_CALL = 256
"""Maximum number of files in one request to the Hub."""
_THREADS = 8
_ADVICE = "Set HF_HUB_DISABLE_XET=1 before Python starts to skip this attempt"
_COMMIT_SECONDS = 600.0  # the client itself has no time limit
_PULL_REQUEST = re.compile(r"refs/pr/([0-9]{1,12})")
_MOST_EXPIRED = 3  # consecutive uploads refused by a storage host: its URLs are only valid for a while


class MissedCommitError(Exception):
    """A commit request without a commit as response; internal.

    Args:
        reason: what happened.
        is_conflict: True after another writer's commit; else the commit may exist.
        is_garbled: True after an invalid answer.
        retry_after: the pause that the server requires.
    """

    def __init__(
        self, reason: str, *, is_conflict: bool = False, is_garbled: bool = False, retry_after: str | None = None
    ) -> None:
        self.reason, self.is_conflict, self.is_garbled, self.retry_after = reason, is_conflict, is_garbled, retry_after
        super().__init__(reason)


class HubWriter(HubBranch):
    """A branch to which files and commits are sent.

    Args:
        hub, repo_id, revision, policy: see `HubBranch`.
        create_pr: True if commits become pull requests.
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
        self._may_xet = sends_by_xet()
        self._by_xet = self._may_xet and is_offered(hub)

    def upload(self, files: Iterable[NewFile], *, ignores_nothing: bool = False) -> None:
        """Send the bytes of files that the Hub does not have, before the commit.

        Args:
            files: the files.
            ignores_nothing: True to ignore a `.gitignore` of the repository.

        Raises:
            PushError: the upload is refused.
        """
        firsts: dict[tuple[str, str, str], NewFile] = {}
        shared = [(file, first) for file in files if (first := firsts.setdefault(file.kind, file)) is not file]
        with ExitStack() as unnamed:
            for first in {id(first): first for _, first in shared}.values():
                unnamed.enter_context(first.unnamed())
            waiting = list(firsts.values())
            while waiting:  # equal content twice in one call would be read by two threads from one open file
                chosen = list({file.sha256: file for file in reversed(waiting)}.values())[::-1][:FILES_A_CALL]
                self._send(chosen, {"gitignore_content": ""} if ignores_nothing else {})
                waiting = [file for file in waiting if not file.is_sent]
        for file, first in shared:
            file.share(first)

    def _send(self, batch: Sequence[NewFile], options: dict[str, str]) -> None:
        doing = f"uploading {batch[0].path}" if len(batch) == 1 else f"uploading {len(batch)} files"
        expired = 0
        refusal: Exception | None = None  # only files in LFS, when Xet replaces it

        def preupload() -> None:
            with transport_failures(), garbled_answers():
                self._preupload(batch, options)

        def unanswered(error: TransientError, _: int) -> Exception:
            return no_answer(error, repo_id=self.repo_id, doing=doing)

        once = Attempts(self.policy, doing, given_up=unanswered)  # the client itself retries
        while True:
            try:
                once.call(preupload)
                break
            except PushError:
                raise
            except client_package().errors.HfHubHTTPError as error:  # retried by the client, if that may help
                if refusal is not None:
                    raise refusal from error
                refusal = self._refusal(error, doing)
            except Exception as error:
                if self._by_xet:
                    self._by_xet = False
                    reason = shown_text(error)
                    if refusal is not None:
                        raise refusal from None  # errors of the client contain signed URLs
                    doing = f"{doing} (by LFS, after Xet failed: {reason})"
                    told = "%s accepted no files by Xet (%s): LFS is used instead. %s."
                    logger.warning(told, self.hub.endpoint, reason, _ADVICE)
                    continue
                expired += 1
                if expired >= _MOST_EXPIRED or not (may_be_expired(error) or is_garbled(error)):
                    raise upload_refused(error, repo_id=self.repo_id, doing=doing) from None
        for file in batch:
            file.is_sent = True

    def _refusal(self, error: BaseException, doing: str) -> Exception:
        """Return the error to raise if Xet fails too; raise it at once if Xet cannot help."""
        if self._by_xet or not is_of_lfs(error):
            raise self.refused(error, doing) from error
        if not self._may_xet:
            raise self.refused(error, f"{doing} by LFS") from error
        reason = hindrance(self.hub, self.repo_id, self.branch, create_pr=self.create_pr)
        if reason is not None:
            raise self.refused(error, f"{doing} by LFS, since it accepts no files by Xet ({reason}),") from error
        self._by_xet = True
        return self.refused(error, f"{doing} by LFS, and then by Xet,")

    def _preupload(self, batch: Sequence[NewFile], options: dict[str, str]) -> None:
        with ExitStack() as opened:
            if self._may_xet and not self._by_xet:  # an open file is never sent by Xet
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
        """Create the commit.

        Returns:
            The client's `CommitInfo`.

        Raises:
            MissedCommitError: a temporary failure, or the commit succeeded but its response was lost.
            PushError: the commit is refused.
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
                raise GarbledAnswerError
            return made

        try:
            missed = Attempts(self.policy, self.repo_id, given_up=lambda error, _: MissedCommitError(error.reason))
            return missed.call(lambda: within(_COMMIT_SECONDS, create))
        except package.errors.HfHubHTTPError as error:
            status, asked = status_of(error), retry_after_of(error)
            if status in CONFLICTS or status in PASSING:
                reason, is_conflict = f"the Hub answers {status}", status in CONFLICTS
                raise MissedCommitError(reason, is_conflict=is_conflict, retry_after=asked) from error
            raise self.refused(error, "committing") from error
        except ValueError as error:
            if is_of_yaml(error):
                raise yaml_refused(error, repo_id=self.repo_id) from error
            raise MissedCommitError("the Hub's response is invalid", is_garbled=True) from error

    def pull_request(self, change: Change, *, message: str, description: str | None) -> CommitInfo | None:
        """Return the `CommitInfo` of the newest pull request, if it has the same change; else None."""

        def numbered() -> list[int]:
            refs = self.api.list_repo_refs(self.repo_id, repo_type="dataset", include_pull_requests=True).pull_requests
            return [int(found[1]) for ref in refs or [] if (found := _PULL_REQUEST.fullmatch(ref.ref))]

        numbers = self.tried(numbered, "searching its pull request")
        if not numbers:
            return None
        newest = HubWriter(self.hub, self.repo_id, revision=f"refs/pr/{max(numbers)}", policy=self.policy).current()
        if not change.stands_in(newest):
            return None
        made = self.made(newest, message=message, description=description)
        return replace(made, pr_url=f"{self.hub.endpoint}/datasets/{self.repo_id}/discussions/{max(numbers)}")

    def made(self, commit: HubCommit, *, message: str, description: str | None) -> CommitInfo:
        """Return the client's `CommitInfo` of an existing commit."""
        made: CommitInfo = client_package().CommitInfo(
            commit_url=f"{self.hub.endpoint}/datasets/{self.repo_id}/commit/{commit.sha}",
            commit_message=message,
            commit_description=description or "",
            oid=commit.sha,
            _endpoint=self.hub.endpoint,
        )
        return made
