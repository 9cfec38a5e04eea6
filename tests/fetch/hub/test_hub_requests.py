"""A Hub is asked until it answers, for a bounded time where it is silent, and its token is for its own origin."""

import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from huggingface_hub import get_session

from datasets_core import config
from datasets_core.errors import DownloadError, HubError
from datasets_core.fetch.http import Credentials, RetryPolicy, origin_of
from datasets_core.fetch.hub import client
from datasets_core.fetch.hub.client import HubAnswer, HubRequests, UnansweredError, paged

SECRET = {"Authorization": "Bearer hf_secret"}


@pytest.fixture
def small_tries() -> Iterator[None]:
    """A Hub that is silent is given up soon."""
    with config.using(offline=False, hub_timeout_seconds=0.3):
        yield


def requests_to(url: str, policy: RetryPolicy) -> HubRequests:
    """Asks somebody who has a token for the origin of the URL."""
    return HubRequests(get_session, Credentials(origin_of(url), SECRET), "tests", policy)


@pytest.fixture
def asking(hub: Any, policy: RetryPolicy) -> HubRequests:
    """Asks the small Hub, without a token."""
    return HubRequests(get_session, Credentials(origin_of(hub.url), {}), "tests", policy)


def test_an_answer_is_whole_whatever_its_status(hub: Any, asking: HubRequests) -> None:
    answer = asking.answer(f"{hub.url}/api/datasets/no/such")
    assert (answer.status, answer.headers["x-error-code"]) == (401, "RepoNotFound")


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_a_busy_hub_is_asked_again_after_the_pause_that_it_asks_for(
    hub: Any, asking: HubRequests, code: int, clock: Any
) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(code, Retry_After="7"), "info", times=2)
    assert asking.answer(f"{hub.url}/api/datasets/org/name").status == 200
    assert clock.pauses == [7.0, 7.0]


def test_a_hub_that_counts_requests_says_when_it_counts_anew(hub: Any, asking: HubRequests, clock: Any) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(429, RateLimit='"api";r=0;t=55', Retry_After="1"), "info")
    assert asking.answer(f"{hub.url}/api/datasets/org/name").status == 200
    assert clock.pauses == [55.0]


def test_a_hub_that_stays_busy_is_given_up_after_all_tries(hub: Any, asking: HubRequests) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(503), "info", times=None)
    with pytest.raises(UnansweredError, match="it answers 503") as caught:
        asking.answer(f"{hub.url}/api/datasets/org/name")
    assert (caught.value.status, len(hub.requests)) == (503, 5)


@pytest.mark.parametrize("fault", ["dropped", "cut"])
def test_a_connection_that_breaks_off_is_tried_again(hub: Any, asking: HubRequests, fault: str) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.dropped() if fault == "dropped" else hub.faults.cut(10), "info", times=2)
    assert json.loads(asking.answer(f"{hub.url}/api/datasets/org/name").body)["id"] == "org/name"


@pytest.mark.usefixtures("small_tries")
@pytest.mark.parametrize("at", [None, 10])
def test_a_silent_hub_is_given_up_in_time(hub: Any, asking: HubRequests, at: int | None) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.hanging(at), "info", times=None)
    begin = time.monotonic()
    with config.using(hub_timeout_seconds=0.3), pytest.raises(UnansweredError, match="the server is silent"):
        asking.answer(f"{hub.url}/api/datasets/org/name")
    assert time.monotonic() - begin < 2


@pytest.mark.usefixtures("small_tries")
def test_a_hub_that_drips_is_as_one_that_is_silent(hub: Any, asking: HubRequests) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.dripping(), "info", times=None)
    begin = time.monotonic()
    with pytest.raises(UnansweredError, match="sends too slowly"):
        asking.answer(f"{hub.url}/api/datasets/org/name")
    assert time.monotonic() - begin < 2


@pytest.mark.usefixtures("small_tries")
def test_a_long_answer_has_the_time_that_its_bytes_need(site: Any, faults: Any, policy: RetryPolicy) -> None:
    body = b"[" + b"0," * 50_000 + b"0]"

    def by_and_by(handler: Any, page: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        for start in range(0, len(body), 20_000):
            threading.Event().wait(0.12)
            handler.wfile.write(body[start : start + 20_000])

    site.pages["/api/long"] = faults.page(faults=[by_and_by])
    assert requests_to(site.url, policy).answer(f"{site.url}/api/long").body == body


def test_a_pause_that_is_asked_for_is_cut_and_the_pauses_end(hub: Any, asking: HubRequests, clock: Any) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(429, Retry_After="100000"), "info", times=2)
    assert asking.answer(f"{hub.url}/api/datasets/org/name").status == 200
    assert clock.pauses == [60.0, 60.0]
    hub.fail(hub.faults.status(429, Retry_After="100000"), "info", times=None)
    with pytest.raises(UnansweredError, match="429"):
        asking.answer(f"{hub.url}/api/datasets/org/name")
    assert clock.pauses[2:] == [60.0, 60.0]


@pytest.mark.parametrize(("asked", "pauses"), [("20", []), ("4", [4.0, 4.0]), ("0", [0.0] * 4)])
def test_a_hub_is_waited_for_with_the_patience_that_is_given(
    hub: Any, asking: HubRequests, clock: Any, asked: str, pauses: list[float]
) -> None:
    hub.repo("org/name")
    hub.fail(hub.faults.status(503, Retry_After=asked), "info", times=None)
    with pytest.raises(UnansweredError, match="503"):
        asking.answer(f"{hub.url}/api/datasets/org/name", lambda: 10.0)
    assert clock.pauses == pauses


@pytest.mark.usefixtures("small_tries")
def test_a_hub_that_accepts_and_never_answers_is_silent(policy: RetryPolicy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(UnansweredError, match="silent"):
            requests_to(url, policy).answer(f"{url}/api")


def test_a_hub_that_takes_no_connection_is_not_asked_often(policy: RetryPolicy, clock: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with config.using(offline=False), pytest.raises(UnansweredError, match="no connection"):
        requests_to(url, policy).answer(f"{url}/api")
    assert len(clock.pauses) == 1


def test_a_redirect_at_the_same_origin_takes_the_token_along(site: Any, faults: Any, policy: RetryPolicy) -> None:
    site.pages["/api/old"] = faults.page(faults=[faults.answering(307, Location=f"{site.url}/api/new")])
    site.pages["/api/new"] = faults.page(b"{}")
    assert requests_to(site.url, policy).answer(f"{site.url}/api/old").body == b"{}"
    assert site.heads("authorization") == ["Bearer hf_secret", "Bearer hf_secret"]


def test_another_port_never_sees_the_token(site: Any, other_site: Any, faults: Any, policy: RetryPolicy) -> None:
    site.pages["/api/old"] = faults.page(faults=[faults.answering(307, Location=f"{other_site.url}/api/new")])
    other_site.pages["/api/new"] = faults.page(b"{}")
    assert requests_to(site.url, policy).answer(f"{site.url}/api/old").body == b"{}"
    assert other_site.heads("authorization") == [None]


def test_redirects_end(site: Any, faults: Any, policy: RetryPolicy) -> None:
    site.pages["/api/a"] = faults.page(faults=[faults.answering(302, Location="/api/a")] * 30)
    with pytest.raises(DownloadError, match="redirects"):
        requests_to(site.url, policy).answer(f"{site.url}/api/a")
    assert len(site.requests) == 11


# -- pages


def pages(*items: object, links: dict[int, str] | None = None, url: str = "http://hub/api/datasets/a/b/tree/x") -> Any:
    """What asks for pages that lead to each other, or to where `links` says."""
    asked: list[str] = []

    def ask(address: str) -> HubAnswer:
        asked.append(address)
        number = len(asked) - 1
        last = number + 1 == len(items)
        following = (links or {}).get(number, None if last else f"{url}?cursor={number + 1}")
        return HubAnswer(address, 200, {}, json.dumps(items[number % len(items)]).encode(), following)

    return ask, asked, url


def test_all_pages_are_read_in_order() -> None:
    ask, asked, url = pages([1, 2], [3], [4])
    assert list(paged(ask, url, "org/name")) == [1, 2, 3, 4]
    assert asked == [url, f"{url}?cursor=1", f"{url}?cursor=2"]


def test_the_pages_of_a_mirror_stay_at_the_mirror() -> None:
    foreign = {0: "https://huggingface.co/api/datasets/a/b/tree/x?recursive=true&cursor=7"}
    ask, asked, url = pages([1], [2], links=foreign, url="http://mirror/hf/api/datasets/a/b/tree/x")
    assert list(paged(ask, f"{url}?recursive=true", "org/name")) == [1, 2]
    assert asked[1] == f"{url}?recursive=true&cursor=7"


@pytest.mark.parametrize(
    ("items", "links", "found"),
    [
        ([{"error": "x"}], {}, "{'error': 'x'} as its listing"),
        ([[1], [2]], {1: "http://hub/api/datasets/a/b/tree/x"}, "in a circle"),
        ([[1]], {0: "http://evil.example/other?cursor=1"}, "another host"),
        ([[1]], {0: "file:///etc/passwd"}, "goes on at 'file:///etc/passwd'"),
        ([[1]], {0: "http://hub:99999/x"}, "goes on at"),
        ([[1]], {0: "http://[bad/"}, "goes on at 'http://[bad/'"),
    ],
)
def test_pages_that_make_no_listing_are_refused(items: list[Any], links: dict[int, str], found: str) -> None:
    ask, _, url = pages(*items, links=links)
    with pytest.raises(HubError, match="org/name") as caught:
        list(paged(ask, url, "org/name"))
    assert found in str(caught.value)


def test_pages_that_do_not_end_are_refused() -> None:
    ask, asked, url = pages(*([0] for _ in range(900)))
    with pytest.raises(HubError, match="pages do not end"):
        list(paged(ask, url, "org/name"))
    assert len(asked) < 230


def test_a_listing_of_more_files_than_memory_is_good_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_MOST_ITEMS", 25)
    ask, asked, url = pages(*([0] * 10 for _ in range(9)))
    with pytest.raises(HubError, match=r"'org/name' has more than 25 files and folders.*Ask its owner to pack them"):
        list(paged(ask, url, "org/name"))
    assert len(asked) == 3


def test_small_pages_of_many_files_are_read() -> None:
    ask, _, url = pages(*([0] * 5 for _ in range(200)))
    assert len(list(paged(ask, url, "org/name"))) == 1000


@pytest.mark.parametrize("body", [b"", b"<html>log in</html>", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_told_with_its_kind(body: bytes) -> None:
    answer = HubAnswer("http://me:secret@hub/api", 200, {"content-type": "text/html"}, body)
    with pytest.raises(HubError, match="'text/html'") as caught:
        answer.json("org/name")
    assert "secret" not in str(caught.value)


def test_pauses_are_random_but_bounded(policy: RetryPolicy, clock: Any) -> None:
    policy = RetryPolicy(9, 60.0, clock, random.Random(1))
    policy.wait(policy.seconds(8, within=0.25))
    assert clock.pauses == [0.25]
