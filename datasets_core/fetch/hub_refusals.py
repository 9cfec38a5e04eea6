"""What a Hub means when it refuses: its status and error headers as the errors of the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from datasets_core.errors import (
    DatasetsCoreError,
    DisabledRepositoryError,
    ForbiddenRepositoryError,
    GatedRepositoryError,
    HubError,
    InvalidTokenError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

_BAD_TOKEN = "Invalid credentials in Authorization header"
_DISABLED = "Access to this resource is disabled."


def refusal(
    status: int,
    headers: Mapping[str, str],
    *,
    repo_id: str,
    endpoint: str,
    revision: str | None = None,
    token: str | None = None,
    known: Iterable[str] = (),
) -> DatasetsCoreError:
    """The error that says why the Hub does not give what was asked for.

    Args:
        status: what it answered.
        headers: of the answer, by lower-case names.
        repo_id: the repository that was asked for.
        endpoint: the address of the Hub.
        revision: the revision that was asked for, if any.
        token: what was sent; it is in no message, whatever the server says.
        known: revisions of the repository that were asked for before.

    >>> str(refusal(404, {"x-error-code": "RevisionNotFound"}, repo_id="a/b", endpoint="https://hub", revision="v9"))
    "The Hub dataset 'a/b' has no revision 'v9'. Give a branch, a tag or a full commit hash as revision=."
    """
    code, said = headers.get("x-error-code"), headers.get("x-error-message", "")
    if code == "RevisionNotFound":
        return RevisionNotFoundError(repo_id, revision or "main", known=known, status=status)
    if code == "GatedRepo":
        page = f"{endpoint}/datasets/{repo_id}"
        return GatedRepositoryError(repo_id, token_sent=token is not None, page=page, status=status)
    if said == _DISABLED:
        return DisabledRepositoryError(repo_id, "is disabled: nobody gets at it", "Ask its owner, or the Hub", status=status)
    if status == 401 and said == _BAD_TOKEN:
        return InvalidTokenError("The Hub does not take the token that was sent", repo_id=repo_id, status=status)
    if code == "RepoNotFound" or (code is None and status in (401, 404)):
        return RepositoryNotFoundError(repo_id, token_sent=token is not None, endpoint=endpoint, status=status)
    reason = f"is refused: the Hub answers {status}{_shown(code, said, token)}"
    if status in (401, 403):
        return ForbiddenRepositoryError(repo_id, reason, "Check what your token may do, or ask its owner", status=status)
    return HubError(repo_id, reason, "Check the name, the revision and HF_ENDPOINT", revision=revision, status=status)


def _shown(code: str | None, said: str, token: str | None) -> str:
    text = said or code or ""
    if token:
        text = text.replace(token, "***")
    return f" ({ascii(text)[1:-1][:200]})" if text else ""
