"""Refusals of a Hub that is written to, as errors that say what to do and no secret."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest

from datasets_core.errors import InvalidTokenError, PushError
from datasets_core.fetch.hub import branch as failures

SIGNED = "https://storage/objects/x?X-Amz-Signature=0123456789abcdef"


@dataclass
class Response:
    status_code: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None

    def json(self) -> Any:
        return json.loads(self.body)


class Answered(Exception):
    """An error of the client, as far as it is looked at."""

    def __init__(self, text: str, response: Response, server_message: str | None = None) -> None:
        self.response, self.server_message = response, server_message
        super().__init__(text)


def error_of(status: int, *, token_sent: bool = True, message: str | None = None, **headers: str) -> Exception:
    answered = Answered("text", Response(status, {name.replace("_", "-"): value for name, value in headers.items()}), message)
    return failures.refused(answered, repo_id="org/name", doing="uploading 3 files", token_sent=token_sent)


@pytest.mark.parametrize(
    ("status", "token_sent", "kind", "words"),
    [
        (401, False, InvalidTokenError, "Nobody is logged in"),
        (401, True, InvalidTokenError, "does not take the token"),
        (403, True, PushError, "may not be written to by you"),
        (404, True, PushError, "Check the name"),
        (413, True, PushError, "smaller shards"),
        (400, True, PushError, "the Hub answers 400"),
    ],
)
def test_each_refusal_says_what_to_do(status: int, token_sent: bool, kind: type[Exception], words: str) -> None:
    error = error_of(status, token_sent=token_sent)

    assert isinstance(error, kind)
    assert words in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_the_hub_says_is_told_in_one_line_without_secrets() -> None:
    error = error_of(400, message=f"a\nb \x1b[31m hf_abcdefghijklmnop {SIGNED}")

    assert "(a b ?[31m hf_*** https://storage/objects/x?X-Amz-Signature=***)" in str(error)


def test_an_upload_that_fails_names_no_signed_address() -> None:
    failed = RuntimeError("Error while uploading 'x' to the Hub.")
    failed.__cause__ = Answered(f"403 for url {SIGNED}", Response(403))

    error = failures.upload_refused(failed, repo_id="org/name", doing="uploading x")

    assert "0123456789abcdef" not in str(error)
    assert "the storage host answers 403" in str(error)
    assert failures.may_be_expired(failed)
    assert not failures.may_be_expired(ValueError("LFS batch API returned errors:\nx"))


def test_objects_that_the_hub_does_not_take_are_told_with_its_reason() -> None:
    refused = ValueError("LFS batch API returned errors:\nEncountered error for file with OID 12: `File too large")

    assert "File too large" in str(failures.upload_refused(refused, repo_id="org/name", doing="uploading x"))


def test_how_long_to_wait_is_read_from_both_headers() -> None:
    def asked(status: int, **headers: str) -> str | None:
        return failures.retry_after_of(Answered("", Response(status, {n.replace("_", "-"): v for n, v in headers.items()})))

    assert asked(503, retry_after="3") == "3"
    assert asked(429, ratelimit='"api";r=0;t=55') == "55"
    assert asked(429, retry_after="3", ratelimit='"api";r=7;t=55') == "3"
    assert asked(429) is None
    assert failures.retry_after_of(ValueError()) is None


def test_faults_of_a_card_are_told_with_their_lines() -> None:
    errors = {"errors": [{"message": "bad license", "line": 3}, {"message": "bad (4:2)"}]}
    error = ValueError("Invalid metadata in README.md.\n- bad")
    error.__cause__ = Answered("", Response(400, body=json.dumps(errors)))

    told = str(failures.yaml_refused(error, repo_id="org/name"))

    assert "line 3: bad license; bad (4:2)" in told
    assert "- bad" in str(failures.yaml_refused(ValueError("Invalid metadata in README.md.\n- bad"), repo_id="org/name"))


def test_an_answer_that_is_no_json_is_garbled() -> None:
    with pytest.raises(ValueError, match="Expecting value") as caught:
        json.loads("<html>")

    assert failures.is_garbled(caught.value)
    assert not failures.is_garbled(ValueError("Invalid metadata in README.md."))
