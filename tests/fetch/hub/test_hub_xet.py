"""Whether files can go by Xet is told within seconds, whatever a Hub answers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from datasets_core import config
from datasets_core.fetch.hub import upload
from datasets_core.fetch.hub.client import Hub

REPO = "org/name"


def told(hub: Any, answer: Any = None, *, create_pr: bool = False) -> str | None:
    """Why not, where the Hub answers so."""
    hub.repo(REPO)
    if answer is not None:
        hub.fail(lambda right: answer, "xet-write-token", times=None)
    given = Hub(hub.url, Hub.of().cache, token=hub.token)
    with config.using(hub_timeout_seconds=0.5):
        return upload.hindrance(given, REPO, "a/b", create_pr=create_pr)


def headers(store: str, *, seconds: int = 600) -> dict[str, str]:
    end = int(time.time()) + seconds
    return {"X-Xet-Cas-Url": store, "X-Xet-Access-Token": "token", "X-Xet-Token-Expiration": str(end)}


def test_a_hub_with_a_store_takes_them(hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, headers(hub.url), b"{}"), create_pr=True) is None
    assert hub.requests[0].target.endswith("/xet-write-token/a%2Fb?create_pr=1")


def test_a_hub_that_says_so_in_the_body_takes_them(hub: Any) -> None:
    said = {"casUrl": hub.url, "accessToken": "token", "exp": int(time.time()) + 600}

    assert told(hub, hub.faults.Answer(200, {}, json.dumps(said).encode())) is None


@pytest.mark.parametrize("body", [b"{}", b"[]", b"<html>", b"[" * 50000, b'{"casUrl": 5, "accessToken": "x", "exp": "soon"}'])
def test_a_hub_that_names_no_store_takes_none(body: bytes, hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, {}, body)) == "its answer names no store"


def test_a_token_that_holds_no_longer_names_no_store(hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, headers(hub.url, seconds=-1), b"{}")) == "its answer names no store"


def test_a_store_that_is_not_there_takes_none(hub: Any) -> None:
    assert told(hub, hub.faults.Answer(200, headers("http://127.0.0.1:9"), b"{}")) is not None


def test_a_hub_that_does_not_know_of_it_takes_none(hub: Any) -> None:
    assert told(hub) == "it answers 404"


def test_a_hub_that_does_not_answer_takes_none(hub: Any) -> None:
    hub.stop()

    assert told(hub) is not None


def test_the_hub_of_hugging_face_is_known_to_take_them(hub: Any) -> None:
    assert upload.is_offered(Hub("https://hub-ci.huggingface.co", Hub.of().cache))
    assert not upload.is_offered(Hub("https://nothuggingface.co", Hub.of().cache))
    assert not upload.is_offered(Hub(hub.url, Hub.of().cache))


def test_who_forbids_xet_sends_none_by_it(hub: Any) -> None:
    code = "from datasets_core.fetch.hub.upload import sends_by_xet; say(sends_by_xet())"

    assert hub.run(code).value is False
