"""Why the Hub does not give something is told by its status, its error code and its message."""

import pytest

from datasets_core import errors
from datasets_core.fetch.hub.client import refusal

TOKEN = "hf_aSecretToken"


def refused(status: int, code: str | None = None, said: str | None = None, token: str | None = None) -> Exception:
    """The error of such an answer."""
    headers = {"x-error-code": code, "x-error-message": said}
    given = {name: value for name, value in headers.items() if value is not None}
    return refusal(status, given, repo_id="org/name", endpoint="https://hub", revision="v1", token=token)


@pytest.mark.parametrize(
    ("status", "code", "said", "kind"),
    [
        (404, "RepoNotFound", "Repository not found", errors.RepositoryNotFoundError),
        (401, "RepoNotFound", "Repository not found", errors.RepositoryNotFoundError),
        (401, None, "Invalid username or password.", errors.RepositoryNotFoundError),
        (401, None, None, errors.RepositoryNotFoundError),
        (404, None, None, errors.RepositoryNotFoundError),
        (404, "RevisionNotFound", "Invalid rev id: v1", errors.RevisionNotFoundError),
        (401, "GatedRepo", "Access to dataset org/name is restricted.", errors.GatedRepositoryError),
        (403, "GatedRepo", "You are not in the authorized list.", errors.GatedRepositoryError),
        (401, None, "Invalid credentials in Authorization header", errors.InvalidTokenError),
        (403, None, "Access to this resource is disabled.", errors.DisabledRepositoryError),
        (403, None, "Your token lacks read access", errors.ForbiddenRepositoryError),
        (403, None, None, errors.ForbiddenRepositoryError),
        (400, None, "Bad request", errors.HubError),
        (418, "Teapot", None, errors.HubError),
        (404, "EntryNotFound", None, errors.HubError),
    ],
)
def test_each_refusal_is_an_error_of_its_own_that_names_the_repository(
    status: int, code: str | None, said: str | None, kind: type[errors.HubError]
) -> None:
    error = refused(status, code, said, TOKEN)
    assert type(error) is kind
    assert "org/name" in str(error)
    assert error.status == status


def test_it_is_said_whether_a_token_was_sent() -> None:
    assert "no token was sent" in str(refused(401, "RepoNotFound"))
    assert "your token may not see it" in str(refused(404, "RepoNotFound", token=TOKEN))
    assert "no token was sent" in str(refused(401, "GatedRepo"))
    assert "your token has no access" in str(refused(403, "GatedRepo", token=TOKEN))


def test_a_gated_repository_names_the_page_where_access_is_asked_for() -> None:
    assert "https://hub/datasets/org/name" in str(refused(403, "GatedRepo"))


@pytest.mark.parametrize("code", [None, TOKEN])
def test_no_message_has_the_token_or_what_steers_a_terminal(code: str | None) -> None:
    error = refused(403, code, f"\x1b[2JBearer {TOKEN} is bad" + "x" * 10_000 if code is None else None, TOKEN)
    assert TOKEN not in repr(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize(("status", "code"), [(404, "RepoNotFound"), (404, "RevisionNotFound"), (403, "GatedRepo")])
def test_what_is_not_there_or_not_shown_is_a_dataset_that_is_not_found(status: int, code: str) -> None:
    error = refused(status, code)
    assert isinstance(error, errors.DatasetNotFoundError)
    assert isinstance(error, errors.HubError)
    assert isinstance(error, FileNotFoundError)
