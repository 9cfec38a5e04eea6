"""One branch of a repository of the Hub: reads its current commit before writing, and creates it if necessary."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from datasets_core import files
from datasets_core.engines.threads import RetryPolicy, done_by, pause_asked
from datasets_core.errors import (
    HubUnreachableError,
    InvalidTokenError,
    PushError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    redact_text,
)
from datasets_core.fetch.http import Attempts, TransientError, transport_failures
from datasets_core.fetch.hub.client import Hub, UnansweredError, client_package, refusal
from datasets_core.fetch.hub.files import read_small
from datasets_core.fetch.hub.repository import HubCommit, listed_files, malformed, shown
from datasets_core.hub_urls import DEFAULT_REVISION, is_commit, is_repo_id

# Errors of writing to the Hub: the client's errors converted to those of this library.


CONFLICTS = frozenset({409, 412})
"""Status codes of the Hub for a commit after another writer's commit."""
PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Status codes of temporary failures."""
_ELSEWISE = frozenset({400, 404, 405, 406, 410, 415, 422, 501})
_INVALID_CARD = "Invalid metadata in README.md"
_MOST_SAID = 500
_ERRORS_OF_BATCH = "LFS batch API returned errors"
_MEND = "Fix what it says, or push again later"
_LOG_IN = "Log in (hf auth login), set HF_TOKEN, or pass token='hf_…' with a token that may write"
_TOKEN = re.compile(r"hf_\w{6,}")


class GarbledAnswerError(ValueError):
    """An answer that the client cannot interpret; never shown to the user."""

    def __init__(self) -> None:
        super().__init__("the Hub's response is invalid")


@contextlib.contextmanager
def garbled_answers() -> Iterator[None]:
    """Convert the errors that the client raises for an unexpected response to one error.

    Raises:
        GarbledAnswerError: the response is unexpected.
    """
    try:
        yield
    except (TypeError, LookupError, AttributeError, RecursionError) as error:
        raise GarbledAnswerError from error


def status_of(error: BaseException) -> int | None:
    """Return the status code of the Hub; None if the error is not one of a response."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def retry_after_of(error: BaseException) -> str | None:
    """Return the pause that the Hub requires, in the form of `Retry-After`."""
    response: Any = getattr(error, "response", None)
    if response is None:
        return None
    return pause_asked(response.headers)


def shown_text(text: object) -> str:
    """Return external text for an error message: one line, without secrets and control characters."""
    line = " ".join(redact_text(str(text)).split())
    line = _TOKEN.sub("hf_***", line)
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= _MOST_SAID else f"{line[:_MOST_SAID]}…"


def said(error: BaseException) -> str:
    """Return the Hub's reason for its refusal, in parentheses; empty if it gives none."""
    response: Any = getattr(error, "response", None)
    told = getattr(error, "server_message", None)
    if not told and response is not None:
        told = response.headers.get("x-error-message")
    return f" ({shown_text(told).rstrip('.')})" if told else ""


def refused(error: BaseException, *, repo_id: str, doing: str, token_sent: bool) -> Exception:
    """Return the error for a response that is not a success.

    Args:
        error: the error of the client.
        repo_id: the repository.
        doing: the action, as in "uploading 3 files".
        token_sent: True if the request had a token.
    """
    status = status_of(error)
    response: Any = getattr(error, "response", None)
    is_unknown = "Invalid credentials" in str(response.headers.get("x-error-message") if response is not None else "")
    if status == 401 and (is_unknown or token_sent):
        return bad_token(repo_id)
    if status == 401:
        return not_logged_in(repo_id)
    if status == 403:
        reason = f"cannot be written to by this user: {doing} is forbidden{said(error)}"
        return PushError(
            repo_id, reason, "Use a token with the role 'write' of an owner, or push to your own namespace", status=403
        )
    if status == 404:
        reason = f"was not pushed to: {doing} found nothing there{said(error)}"
        return PushError(repo_id, reason, "Check the name, the branch and the permissions of the token", status=404)
    if status == 413:
        return PushError(repo_id, f"was not pushed to: {doing} is too large{said(error)}", "Push smaller shards", status=413)
    reason = f"was not pushed to: {doing} failed, the Hub returned {status}{said(error)}"
    wants_xet = "xet" in said(error).lower() and "Xet" not in doing
    advice = "Unset HF_HUB_DISABLE_XET, install hf_xet, and push again" if wants_xet else _MEND
    return PushError(repo_id, reason, advice, status=status)


def bad_token(repo_id: str) -> InvalidTokenError:
    """Return the error for a push with a token that the Hub does not accept."""
    return InvalidTokenError("The Hub does not accept the token", advice=_LOG_IN, repo_id=repo_id, status=401)


def not_logged_in(repo_id: str) -> InvalidTokenError:
    """Return the error for a push without a token."""
    return InvalidTokenError("No user is logged in, but pushing requires a token", advice=_LOG_IN, repo_id=repo_id, status=401)


def no_answer(error: BaseException, *, repo_id: str, doing: str) -> PushError:
    """Return the error for a failed connection."""
    reason = f"was not pushed to: {doing} got no response ({shown_text(error) or type(error).__name__})"
    return PushError(repo_id, reason, "The repository is unchanged: check the connection and push again")


def upload_refused(error: BaseException, *, repo_id: str, doing: str) -> PushError:
    """Return the error for an upload that the Hub or its storage host refused."""
    cause = error.__cause__ or error
    status = status_of(cause)
    if _ERRORS_OF_BATCH in str(error):
        told = shown_text(str(error).partition(":")[2])
        return PushError(repo_id, f"does not accept a file ({told})", "Push smaller shards, or ask the Hub")
    what = f"the storage host returned {status}" if status else shown_text(cause) or type(cause).__name__
    reason = f"was not pushed to: {doing} failed ({what})"
    return PushError(
        repo_id, reason, "The repository is unchanged: push again; uploaded files are not sent again", status=status
    )


def may_be_expired(error: BaseException) -> bool:
    """Return True if a storage host refused an upload because the URL has expired."""
    return status_of(error.__cause__ or error) in (400, 401, 403, 404)


def is_of_lfs(error: BaseException) -> bool:
    """Return True if the Hub refused an upload by LFS and requires another protocol."""
    request: Any = getattr(getattr(error, "response", None), "request", None)
    return status_of(error) in _ELSEWISE and "/info/lfs/" in str(getattr(request, "url", ""))


def is_of_yaml(error: BaseException) -> bool:
    """Return True if the Hub rejected the YAML of a card."""
    return _INVALID_CARD in str(error)


def is_garbled(error: BaseException) -> bool:
    """Return True if a response is not from a Hub, such as the page of a proxy."""
    is_told = isinstance(error, GarbledAnswerError | json.JSONDecodeError | UnicodeDecodeError)
    return is_told or "Malformed response" in str(error)


def yaml_refused(error: ValueError, *, repo_id: str) -> PushError:
    """Return the error for a card whose YAML the Hub refuses, with the reported lines."""
    response: Any = getattr(error.__cause__, "response", None)
    faults: list[str] = []
    try:
        listed = response.json().get("errors", []) if response is not None else []
    except ValueError:
        listed = []
    for fault in listed if isinstance(listed, list) else []:
        if isinstance(fault, dict):
            line = fault.get("line")
            faults.append(f"line {line}: {fault.get('message')}" if line is not None else str(fault.get("message")))
    told = shown_text("; ".join(faults) or str(error).partition("\n")[2] or error)
    reason = f"would get a README.md whose YAML the Hub refuses: {told.rstrip('.')}"
    return PushError(repo_id, reason, "Fix the YAML at the top of README.md there and push again")


T = TypeVar("T")

_MOST_TEXT_BYTES = 64 << 20
_MOST_SIBLINGS = 1000  # listed in one response: more files require pages of a listing
_CALL_SECONDS = 60.0  # the client itself has no time limit
_QUESTION_SECONDS = 15.0  # time limit for calls without changes


class HubBranch:
    """A branch of a dataset repository, for a user who may write to it.

    Args:
        hub: the Hub, with the token of the user.
        repo_id: `org/name`, or `name` for the namespace of the user.
        revision: the branch; None for `main`.
        create_pr: True if commits become pull requests.
        policy: number of tries for temporary failures, and the pauses.

    Attributes:
        repo_id: id of the repository, with the namespace after `open`.
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
        """The name of the branch."""
        return self.revision or DEFAULT_REVISION

    # -- reading

    def open(self, *, private: bool | None = None) -> HubCommit:
        """Return the current commit of the branch; create repository and branch if they do not exist.

        Args:
            private: True for a private new repository; None: the default of its namespace.

        Raises:
            PushError: the user is not allowed to create them.
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
        """Return the commit of a branch that may be new: the request that creates it also returns its state."""
        try:
            self._make_branch()
        except PushError as error:
            if error.status != 404:
                raise
            self._create(private)
            self._make_branch()
        return self.current()

    def current(self) -> HubCommit:
        """Return the current commit of the branch, never from a cache: one request, if the Hub lists all files in its response.

        Raises:
            RepositoryNotFoundError: the repository does not exist, or is not visible to this user.
            RevisionNotFoundError: the repository has no such branch.
            PushError: the Hub does not respond.
        """
        url = f"{self.hub.endpoint}/api/datasets/{self.repo_id}/revision/{quote(self.branch, safe='')}?blobs=true"
        try:
            answer = self.hub.answer(url)
        except UnansweredError as error:
            raise no_answer(error, repo_id=self.repo_id, doing="reading its state") from error
        if answer.status != 200:
            found = refusal(
                answer.status,
                answer.headers,
                repo_id=self.repo_id,
                endpoint=self.hub.endpoint,
                revision=self.branch,
                token=self.hub.token(),
            )
            raise bad_token(self.repo_id) if isinstance(found, InvalidTokenError) else found
        info = answer.json(self.repo_id)
        try:
            sha, siblings = info["sha"], [dict(each) for each in info["siblings"]] if info.get("siblings") else None
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise malformed(self.repo_id, "is described by an invalid response") from error
        if not isinstance(sha, str) or not is_commit(sha):
            raise malformed(self.repo_id, f"has {shown(sha)} as the commit of {self.branch!r}")
        if answer.url != url and is_repo_id(str(info.get("id"))):  # the repository was renamed
            self.repo_id = str(info["id"])
        return self._listed(sha, siblings)

    def _listed(self, sha: str, siblings: Sequence[Mapping[str, Any]] | None) -> HubCommit:
        if siblings is not None and [each.get("rfilename") for each in siblings] == [".gitattributes"]:
            return HubCommit(self.repo_id, sha, self.branch, {})  # checked by their beginning; not every Hub lists sizes
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
        """Return all files of a commit from its listing, since a snapshot may not have all of them."""
        doing = "listing its files"
        try:
            found = self.hub.commit(self.repo_id, sha)
        except HubUnreachableError as error:
            raise no_answer(error, repo_id=self.repo_id, doing=doing) from error
        if not found.is_whole:
            raise no_answer(UnansweredError("the cache has only some of them"), repo_id=self.repo_id, doing=doing)
        return found._replace(revision=self.branch)

    def text(self, commit: HubCommit, path: str) -> str | None:
        """Return a text file of a commit; None if it has none.

        Raises:
            PushError: the file is too large, or not UTF-8.
        """
        if path not in commit.files:
            return None
        found = read_small(self.hub, commit, path, _MOST_TEXT_BYTES)
        if found is None:
            raise PushError(self.repo_id, f"has a {path} of {commit.files[path].size} bytes", "Make it smaller and push again")
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError as error:
            raise PushError(
                self.repo_id, f"has a {path} that is not valid UTF-8 text", "Fix it there and push again"
            ) from error

    # -- creation ------------------------------------------------------------------------------------------------------

    def _user(self) -> str:
        if self.hub.token() is None:  # otherwise the client searches for a token that must not be used
            raise not_logged_in(self.repo_id)
        name = self.tried(lambda: self.api.whoami()["name"], "reading the user name", seconds=_QUESTION_SECONDS)
        if not isinstance(name, str) or "/" in name or not is_repo_id(f"{name}/{self.repo_id}"):
            raise malformed(self.repo_id, f"is pushed by a user with the invalid name {shown(name)}")
        return name

    def _made_by_name(self, private: bool | None) -> str | None:
        """Return the whole id of a repository of the user, which the Hub returns when it is created, or exists."""
        if self.hub.token() is None:  # otherwise the client searches for a token that must not be used
            raise not_logged_in(self.repo_id)

        def create() -> str | None:
            try:
                made = self.api.create_repo(self.repo_id, repo_type="dataset", private=private, exist_ok=True)
                repo_id = str(made.repo_id)
            except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
                if is_garbled(error):
                    raise
                return None  # not in the response
            return repo_id if is_repo_id(repo_id) and repo_id.endswith(f"/{self.repo_id}") else None

        try:
            return self.tried(create, "creating the repository")
        except PushError as error:
            if error.status is None:
                raise
            return None  # a user with write access may not be allowed to create it

    def _create(self, private: bool | None) -> None:
        def create() -> None:
            try:
                self.api.create_repo(self.repo_id, repo_type="dataset", private=private)
            except client_package().errors.HfHubHTTPError as error:
                if status_of(error) != 409:  # created by another process at the same time
                    raise

        self.tried(create, "creating the repository")

    def _make_branch(self) -> None:
        if self.branch.startswith("refs/"):
            raise RevisionNotFoundError(self.repo_id, self.branch)

        def make() -> None:
            self.api.create_branch(self.repo_id, branch=self.branch, repo_type="dataset", exist_ok=True)

        self.tried(make, f"creating the branch {self.branch!r}")

    def tried(self, call: Callable[[], T], doing: str, *, seconds: float | None = None) -> T:
        """Return the result of a small call of the client, which the client itself does not retry.

        Args:
            call: the call.
            doing: the action, as in "creating the repository".
            seconds: time limit of one try; default: a minute.

        Raises:
            PushError: the call is refused, or all tries failed.
        """

        def ask() -> T:
            try:
                return within(seconds or _CALL_SECONDS, call)
            except client_package().errors.HfHubHTTPError as error:
                if status_of(error) not in PASSING:
                    raise self.refused(error, doing) from error
                raise TransientError(str(error), status=status_of(error), retry_after=retry_after_of(error)) from error
            except ValueError as error:
                if not is_garbled(error):
                    raise no_answer(error, repo_id=self.repo_id, doing=doing) from error
                raise TransientError(str(error)) from error

        def given_up(error: TransientError, failures: int) -> Exception | None:
            if failures < self.policy.tries:
                return None
            if error.status is not None:
                return self.refused(error.__cause__ or error, doing)
            cause = error.__cause__ if isinstance(error.__cause__, ValueError) else error
            return no_answer(cause, repo_id=self.repo_id, doing=doing)

        return Attempts(self.policy, doing, given_up=given_up).call(ask)

    def refused(self, error: BaseException, doing: str) -> Exception:
        """Return the error for a response of the Hub that is not a success."""
        token_sent = self.hub.token() is not None
        return refused(error, repo_id=self.repo_id, doing=doing, token_sent=token_sent)


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return the result of a call of the client, within a time limit.

    Raises:
        TransientError: there is no response.
        GarbledAnswerError: the response is invalid.
    """
    try:
        with transport_failures(), garbled_answers():
            return done_by(time.monotonic() + seconds, call)
    except files.Overdue as error:
        files.check()
        raise TransientError("the Hub does not respond") from error
