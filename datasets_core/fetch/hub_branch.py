"""One branch of a repository of the Hub as it stands now, read before it is written to, and made where it is not there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote

from datasets_core import due
from datasets_core.errors import (
    HubUnreachableError,
    InvalidTokenError,
    PushError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from datasets_core.fetch import hub_write_failures as failures_of
from datasets_core.fetch.http import TransientError, transport_failures
from datasets_core.fetch.hub import Hub, UnansweredError, client_package
from datasets_core.fetch.hub_files import read_small
from datasets_core.fetch.hub_listing import HubCommit, listed_files, malformed, shown
from datasets_core.fetch.hub_refusals import refusal
from datasets_core.fetch.hub_url import DEFAULT_REVISION, is_commit, is_repo_id
from datasets_core.fetch.retry import RetryPolicy

T = TypeVar("T")

_MOST_TEXT_BYTES = 64 << 20
_MOST_SIBLINGS = 1000  # listed in an info: whether it has more is asked by a listing in pages
_CALL_SECONDS = 60.0  # the client waits for ever
_QUESTION_SECONDS = 15.0  # for what changes nothing


class HubBranch:
    """A branch of a dataset repository, for a user who may write to it.

    Args:
        hub: the Hub, and who asks.
        repo_id: `org/name`, or `name` for the namespace of the user.
        revision: the branch; None for `main`.
        create_pr: whether commits become pull requests.
        policy: how often to try again what fails for a while.

    Attributes:
        repo_id: with its namespace, once it is open.
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
        self.hub, self.repo_id, self.revision, self.create_pr = hub, repo_id, revision, create_pr
        self.policy = policy or hub.policy
        self.api: Any = hub.api

    @property
    def branch(self) -> str:
        """The branch, by its name."""
        return self.revision or DEFAULT_REVISION

    # -- reading

    def open(self, *, private: bool | None = None) -> HubCommit:
        """The branch as it stands; repository and branch are made where they are not there.

        Args:
            private: whether a repository that is made is private; None as its namespace has it.

        Raises:
            PushError: the user may not make them.
        """
        if "/" not in self.repo_id:
            self.repo_id = self._made_by_name(private) or f"{self._user()}/{self.repo_id}"
        if self.branch != DEFAULT_REVISION and not self.branch.startswith("refs/") and not self.create_pr:
            return self._open_branch(private)
        try:
            return self.current()
        except RepositoryNotFoundError:
            self._create(private)
        except RevisionNotFoundError:
            self._make_branch()
        try:
            return self.current()
        except RevisionNotFoundError:
            self._make_branch()
            return self.current()

    def _open_branch(self, private: bool | None) -> HubCommit:
        """A branch that may be new: making it tells by one request whether it is there, and the repository."""
        try:
            self._make_branch()
        except PushError as error:
            if error.status != 404:
                raise
            self._create(private)
            self._make_branch()
        return self.current()

    def current(self) -> HubCommit:
        """The branch as it stands now, never from a cache: commit and files by one request, where the Hub tells all of them.

        Raises:
            RepositoryNotFoundError: there is no such repository, or it is not shown to this user.
            RevisionNotFoundError: the repository has no such branch.
            PushError: nobody answers.
        """
        url = f"{self.hub.endpoint}/api/datasets/{self.repo_id}/revision/{quote(self.branch, safe='')}?blobs=true"
        try:
            answer = self.hub.answer(url)
        except UnansweredError as error:
            raise failures_of.no_answer(error, repo_id=self.repo_id, doing="asking what is there") from error
        if answer.status != 200:
            found = refusal(
                answer.status,
                answer.headers,
                repo_id=self.repo_id,
                endpoint=self.hub.endpoint,
                revision=self.branch,
                token=self.hub.token(),
            )
            raise failures_of.bad_token(self.repo_id) if isinstance(found, InvalidTokenError) else found
        info = answer.json(self.repo_id)
        try:
            sha, siblings = info["sha"], [dict(each) for each in info["siblings"]] if info.get("siblings") else None
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise malformed(self.repo_id, "is described by something else than a repository is") from error
        if not isinstance(sha, str) or not is_commit(sha):
            raise malformed(self.repo_id, f"is given {shown(sha)} as the commit of {self.branch!r}")
        if answer.url != url and is_repo_id(str(info.get("id"))):  # it has another name by now
            self.repo_id = str(info["id"])
        return self._listed(sha, siblings)

    def _listed(self, sha: str, siblings: Sequence[Mapping[str, Any]] | None) -> HubCommit:
        if siblings is not None and [each.get("rfilename") for each in siblings] == [".gitattributes"]:
            return HubCommit(self.repo_id, sha, self.branch, {})  # as each begins; sizes are not told by every Hub
        items = [
            {
                "type": "file",
                "path": each.get("rfilename"),
                "size": each.get("size"),
                "oid": each.get("blobId"),
                "lfs": each.get("lfs"),
            }
            for each in siblings or []
        ]
        is_told = all(item["oid"] is not None and item["size"] is not None for item in items)
        if siblings is None or not is_told or len(items) >= _MOST_SIBLINGS:
            return self._whole(sha)
        return HubCommit(self.repo_id, sha, self.branch, listed_files(items, self.repo_id))

    def _whole(self, sha: str) -> HubCommit:
        """All files of a commit, by its listing in pages: what a snapshot holds of it is not what the Hub has."""
        doing = "asking for its files"
        try:
            found = self.hub.commit(self.repo_id, sha)
        except HubUnreachableError as error:
            raise failures_of.no_answer(error, repo_id=self.repo_id, doing=doing) from error
        if not found.is_whole:
            raise failures_of.no_answer(UnansweredError("the cache knows some of them only"), repo_id=self.repo_id, doing=doing)
        return replace(found, revision=self.branch)

    def text(self, commit: HubCommit, path: str) -> str | None:
        """A text file of a commit; None where it has none.

        Raises:
            PushError: it is too large, or no UTF-8.
        """
        if path not in commit.files:
            return None
        found = read_small(self.hub, commit, path, _MOST_TEXT_BYTES)
        if found is None:
            raise PushError(self.repo_id, f"has a {path} of {commit.files[path].size} bytes", "Make it smaller and push again")
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError as error:
            raise PushError(self.repo_id, f"has a {path} that is no UTF-8 text", "Mend it there and push again") from error

    # -- making what is not there

    def _user(self) -> str:
        if self.hub.token() is None:  # else the client looks for one that was not to be used
            raise failures_of.not_logged_in(self.repo_id)
        name = self.tried(lambda: self.api.whoami()["name"], "asking who you are", seconds=_QUESTION_SECONDS)
        if not isinstance(name, str) or "/" in name or not is_repo_id(f"{name}/{self.repo_id}"):
            raise malformed(self.repo_id, f"is pushed by a user whom the Hub calls {shown(name)}")
        return name

    def _made_by_name(self, private: bool | None) -> str | None:
        """The whole id of a repository of the user's own, which the Hub says when it is made, or there already."""
        if self.hub.token() is None:  # else the client looks for one that was not to be used
            raise failures_of.not_logged_in(self.repo_id)

        def create() -> str | None:
            try:
                made = self.api.create_repo(self.repo_id, repo_type="dataset", private=private, exist_ok=True)
                repo_id = str(made.repo_id)
            except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
                if failures_of.is_garbled(error):
                    raise
                return None  # it does not say
            return repo_id if is_repo_id(repo_id) and repo_id.endswith(f"/{self.repo_id}") else None

        try:
            return self.tried(create, "making the repository")
        except PushError as error:
            if error.status is None:
                raise
            return None  # who may write to one that is there may not make one

    def _create(self, private: bool | None) -> None:
        def create() -> None:
            try:
                self.api.create_repo(self.repo_id, repo_type="dataset", private=private)
            except client_package().errors.HfHubHTTPError as error:
                if failures_of.status_of(error) != 409:  # somebody made it at the same time
                    raise

        self.tried(create, "making the repository")

    def _make_branch(self) -> None:
        if self.branch.startswith("refs/"):
            raise RevisionNotFoundError(self.repo_id, self.branch)

        def make() -> None:
            self.api.create_branch(self.repo_id, branch=self.branch, repo_type="dataset", exist_ok=True)

        self.tried(make, f"making the branch {self.branch!r}")

    def tried(self, call: Callable[[], T], doing: str, *, seconds: float | None = None) -> T:
        """What a small call of the client returns, which the client itself does not try again.

        Args:
            call: the call.
            doing: what it does, as in "making the repository".
            seconds: how long one try may take; a minute by default.

        Raises:
            PushError: it is refused, or fails again and again.
        """
        failures = 0
        while True:
            try:
                return within(seconds or _CALL_SECONDS, call)
            except client_package().errors.HfHubHTTPError as error:
                failures += 1
                if failures_of.status_of(error) not in failures_of.PASSING or failures >= self.policy.tries:
                    raise self.refused(error, doing) from error
                asked = failures_of.retry_after_of(error)
            except (TransientError, ValueError) as error:
                failures += 1
                is_passing = isinstance(error, TransientError) or failures_of.is_garbled(error)
                if not is_passing or failures >= self.policy.tries:
                    raise failures_of.no_answer(error, repo_id=self.repo_id, doing=doing) from error
                asked = None
            self.policy.pause(failures, asked)

    def refused(self, error: BaseException, doing: str) -> Exception:
        """The error of an answer of the Hub that is no success."""
        token_sent = self.hub.token() is not None
        return failures_of.refused(error, repo_id=self.repo_id, doing=doing, token_sent=token_sent)


def within(seconds: float, call: Callable[[], T]) -> T:
    """What a call of the client returns, within a time.

    Raises:
        TransientError: there was no answer.
        GarbledAnswerError: there was one that makes no sense.
    """
    try:
        with transport_failures(), failures_of.garbled_answers():
            return due.done_by(time.monotonic() + seconds, call)
    except due.Overdue as error:
        due.check()
        raise TransientError("the Hub is silent") from error
