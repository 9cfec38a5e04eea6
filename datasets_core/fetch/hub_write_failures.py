"""What it means when the Hub does not let itself be written to: the client's errors told apart, as errors of the library.

`huggingface_hub` raises errors of its HTTP client for what the Hub answers and for lost connections, errors of threads that
upload, and plain ones for what it finds itself; those of uploads name signed URLs, which no message of ours does.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

from datasets_core.errors import InvalidTokenError, PushError
from datasets_core.fetch.retry import pause_asked
from datasets_core.redact import redact_text

CONFLICTS = frozenset({409, 412})
"""What the Hub answers to a commit where somebody else made one first."""
PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""What it answers for reasons that pass."""
_ELSEWISE = frozenset({400, 404, 405, 406, 410, 415, 422, 501})
_INVALID_CARD = "Invalid metadata in README.md"
_MOST_SAID = 500
_ERRORS_OF_BATCH = "LFS batch API returned errors"
_MEND = "Mend what it says, or push again later"
_LOG_IN = "Log in (hf auth login), set HF_TOKEN, or pass token='hf_…' with a token that may write"
_TOKEN = re.compile(r"hf_\w{6,}")


class GarbledAnswerError(ValueError):
    """An answer in which the client does not find what it looks for; never to be seen by the user."""

    def __init__(self) -> None:
        super().__init__("the Hub's answer makes no sense")


@contextlib.contextmanager
def garbled_answers() -> Iterator[None]:
    """Make one error of those by which the client falls over an answer: it takes each for what it should be.

    Raises:
        GarbledAnswerError: it did.
    """
    try:
        yield
    except (TypeError, LookupError, AttributeError, RecursionError) as error:
        raise GarbledAnswerError from error


def status_of(error: BaseException) -> int | None:
    """What the Hub answered; None where the error is of no answer."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def retry_after_of(error: BaseException) -> str | None:
    """How long the Hub asks to wait, as it says it."""
    response: Any = getattr(error, "response", None)
    if response is None:
        return None
    return pause_asked(response.headers)


def shown(text: object) -> str:
    """What somebody else says, as it may stand in a message: one line, no secrets, no control characters."""
    line = " ".join(redact_text(str(text)).split())
    line = _TOKEN.sub("hf_***", line)
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= _MOST_SAID else f"{line[:_MOST_SAID]}…"


def said(error: BaseException) -> str:
    """What the Hub says to its refusal, in parentheses; nothing where it says nothing."""
    response: Any = getattr(error, "response", None)
    told = getattr(error, "server_message", None)
    if not told and response is not None:
        told = response.headers.get("x-error-message")
    return f" ({shown(told).rstrip('.')})" if told else ""


def refused(error: BaseException, *, repo_id: str, doing: str, token_sent: bool) -> Exception:
    """The error of an answer that is no success.

    Args:
        error: the client's.
        repo_id: the repository.
        doing: what was asked for, as in "uploading 3 files".
        token_sent: whether the Hub was told who asks.
    """
    status = status_of(error)
    response: Any = getattr(error, "response", None)
    is_unknown = "Invalid credentials" in str(response.headers.get("x-error-message") if response is not None else "")
    if status == 401 and (is_unknown or token_sent):
        return bad_token(repo_id)
    if status == 401:
        return not_logged_in(repo_id)
    if status == 403:
        reason = f"may not be written to by you: {doing} is forbidden{said(error)}"
        return PushError(
            repo_id, reason, "Use a token with the role 'write' of somebody who owns it, or push to a name of yours", status=403
        )
    if status == 404:
        reason = f"was not pushed to: {doing} found nothing there{said(error)}"
        return PushError(repo_id, reason, "Check the name, the branch and what your token may do", status=404)
    if status == 413:
        return PushError(repo_id, f"was not pushed to: {doing} is too large{said(error)}", "Push smaller shards", status=413)
    reason = f"was not pushed to: {doing} failed, the Hub answers {status}{said(error)}"
    wants_xet = "xet" in said(error).lower() and "Xet" not in doing
    advice = "Unset HF_HUB_DISABLE_XET, install hf_xet, and push again" if wants_xet else _MEND
    return PushError(repo_id, reason, advice, status=status)


def bad_token(repo_id: str) -> InvalidTokenError:
    """The error of a push by somebody whom the Hub does not know."""
    return InvalidTokenError("The Hub does not take the token that was sent", advice=_LOG_IN, repo_id=repo_id, status=401)


def not_logged_in(repo_id: str) -> InvalidTokenError:
    """The error of a push by nobody."""
    return InvalidTokenError("Nobody is logged in, and pushing needs a token", advice=_LOG_IN, repo_id=repo_id, status=401)


def no_answer(error: BaseException, *, repo_id: str, doing: str) -> PushError:
    """The error of a connection that cannot be had."""
    reason = f"was not pushed to: {doing} met no answer ({shown(error) or type(error).__name__})"
    return PushError(repo_id, reason, "Nothing there has changed: check the connection and push again")


def upload_refused(error: BaseException, *, repo_id: str, doing: str) -> PushError:
    """The error of bytes that were not taken, by the Hub or by its storage host."""
    cause = error.__cause__ or error
    status = status_of(cause)
    if _ERRORS_OF_BATCH in str(error):
        told = shown(str(error).partition(":")[2])
        return PushError(repo_id, f"does not take a file ({told})", "Push smaller shards, or ask the Hub")
    what = f"the storage host answers {status}" if status else shown(cause) or type(cause).__name__
    reason = f"was not pushed to: {doing} failed ({what})"
    return PushError(
        repo_id, reason, "Nothing there has changed: push again, and what has arrived is not sent again", status=status
    )


def may_be_expired(error: BaseException) -> bool:
    """Whether a storage host refused an upload as it does when the URL that the Hub gave holds no longer."""
    return status_of(error.__cause__ or error) in (400, 401, 403, 404)


def is_of_lfs(error: BaseException) -> bool:
    """Whether the Hub refused files as one does that wants them in another manner than LFS."""
    request: Any = getattr(getattr(error, "response", None), "request", None)
    return status_of(error) in _ELSEWISE and "/info/lfs/" in str(getattr(request, "url", ""))


def is_of_yaml(error: BaseException) -> bool:
    """Whether the Hub looked at the YAML of a card, and does not take it."""
    return _INVALID_CARD in str(error)


def is_garbled(error: BaseException) -> bool:
    """Whether an answer was none that a Hub gives, such as the page of a proxy."""
    is_told = isinstance(error, GarbledAnswerError | json.JSONDecodeError | UnicodeDecodeError)
    return is_told or "Malformed response" in str(error)


def yaml_refused(error: ValueError, *, repo_id: str) -> PushError:
    """The error of a card whose YAML the Hub does not take, with the lines that it names."""
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
    told = shown("; ".join(faults) or str(error).partition("\n")[2] or error)
    reason = f"would get a README.md whose YAML the Hub refuses: {told.rstrip('.')}"
    return PushError(repo_id, reason, "Mend the YAML at the top of README.md there and push again")
