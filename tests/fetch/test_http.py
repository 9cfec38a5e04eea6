"""Redirects, credentials and refusals of servers."""

from __future__ import annotations

import ipaddress
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import DeniedAccessError, DownloadError, InvalidTokenError
from datasets_core.fetch.http import Credentials, HttpClient, TransientError, _next_hop, is_own_link, looked_up


def read(path):
    return Path(path).read_bytes()


def test_credentials_go_to_their_own_origin_only(site, other_site, manager, faults):
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location="/b")])
    site.pages["/b"] = faults.page(faults=[faults.answering(307, Location=other_site.at("/c"))])
    other_site.pages["/c"] = faults.page(b"c")
    url = site.at("/a").replace("http://", "http://me:secret@")
    path = manager.download(url)
    assert read(path) == b"c"
    assert site.heads("authorization") == ["Basic bWU6c2VjcmV0"] * 2
    assert other_site.heads("authorization") == [None]


def test_the_users_headers_are_credentials(site, other_site, manager, faults):
    manager.download_config.storage_options = {"http": {"headers": {"X-Key": "k", "Accept-Language": "eo"}}}
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location=other_site.at("/c"))])
    other_site.pages["/c"] = faults.page(b"c")
    manager.download(site.at("/a"))
    assert (site.heads("x-key"), other_site.heads("x-key")) == (["k"], [None])
    assert (site.heads("accept-language"), other_site.heads("accept-language")) == (["eo"], ["eo"])


def test_the_token_goes_to_the_hub_only(site, other_site, manager, faults):
    manager.download_config.token = "hf_secret"
    site.pages["/a"], other_site.pages["/a"] = faults.page(b"a"), faults.page(b"a")
    with config.using(hub_endpoint=site.url):
        manager.download([site.at("/a"), other_site.at("/a")])
    assert site.heads("authorization") == ["Bearer hf_secret"]
    assert other_site.heads("authorization") == [None]


def test_a_circle_of_redirects_ends(site, manager, faults):
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location="/a")] * 99)
    with pytest.raises(DownloadError, match="loop"):
        manager.download(site.at("/a"))
    assert len(site.requests) <= 11


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://x/y", "http://[bad/", "//[bad/", "http://h:x/"])
def test_a_redirect_to_another_protocol_is_refused(site, manager, faults, location):
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location=location)])
    with pytest.raises(DownloadError, match="redirects to"):
        manager.download(site.at("/a"))


def test_secrets_are_in_no_error_no_log_and_no_record(site, manager, faults, cache_dir, caplog):
    caplog.set_level("DEBUG")
    base = site.at("/a").replace("http://", "http://me:hunter2@")
    url = base + "?X-Amz-Signature=deadbeef&part=1"
    site.pages["/a"] = faults.page(b"a", faults=[faults.answering(503)])
    manager.download(url)
    with pytest.raises(DownloadError) as caught:
        manager.download(url.replace("/a?", "/gone?"))
    written = "".join(path.read_text() for path in cache_dir.iterdir() if path.suffix == ".json")
    shown = caplog.text + str(caught.value) + repr(caught.value) + written + str(manager.get_recorded_sizes_checksums())
    assert "hunter2" not in shown
    assert "deadbeef" not in shown
    assert "part=1" in shown
    assert site.requests[0][0] == "/a?X-Amz-Signature=deadbeef&part=1"


def test_credentials_are_not_carried_from_https_to_http():
    own = Credentials.of("https://me:pw@host/a")
    with pytest.raises(DownloadError, match="without encryption"):
        _next_hop("https://me:pw@host/a", "https://host/a", "http://host/b", own)
    assert _next_hop("https://host/a", "https://host/a", "http://host/b", None) == "http://host/b"


def test_a_redirect_to_no_url_shows_no_password():
    for location in ("http://me:secret@[bad/", "//me:secret@[bad/?sig=secret"):
        with pytest.raises(DownloadError, match="redirects to") as caught:
            _next_hop("http://host/a", "http://host/a", location, None)
        assert "secret" not in str(caught.value)


def test_user_info_in_a_redirect_is_dropped():
    assert _next_hop("http://host/a", "http://host/a", "http://evil:pw@other/b?c#d", None) == "http://other/b?c"


@pytest.mark.parametrize("url", ["https://huggingface.co.evil/a", "http://huggingface.co/a", "https://huggingface.co:444/a"])
def test_a_host_that_only_looks_like_the_hub_gets_no_token(url):
    with config.using(hub_endpoint="https://huggingface.co"):
        assert Credentials.of(url, token="hf_secret").headers == {}
        assert "hf_secret" not in repr(Credentials.of("https://huggingface.co/a", token="hf_secret"))


def test_an_endpoint_that_is_no_address_gets_no_token():
    with config.using(hub_endpoint="localhost:8000"):
        assert Credentials.of("http://localhost:8000/a", token="hf_secret").headers == {}


def test_token_true_asks_for_the_token_that_the_user_logged_in_with(site, manager, faults):
    manager.download_config.token = True
    site.pages["/a"] = faults.page(b"a")
    with config.using(hub_endpoint=site.url), pytest.raises(InvalidTokenError, match="token=True"):
        manager.download(site.at("/a"))
    assert site.requests == []


@pytest.mark.parametrize("url", ["http://", "https://[::1", "http://host:port/a", "http:///a"])
def test_a_broken_url_is_told(manager, url):
    with pytest.raises(DownloadError, match=r"not a valid URL|not an http"):
        manager.download(url)


def test_silence_ends_in_another_try(site, manager, faults):
    done = threading.Event()

    def silent(handler, page):
        handler.answer(200, {}, b"a", length=10)
        done.wait(30)

    site.pages["/a"] = faults.page(b"all of it", faults=[silent])
    with config.using(read_timeout_seconds=0.05):
        assert read(manager.download(site.at("/a"))) == b"all of it"
    done.set()


def test_a_guard_is_asked_before_each_hop(site, other_site, manager, faults):
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location=other_site.at("/c"))])
    other_site.pages["/c"] = faults.page(b"c")
    asked = []

    def guard(url, before):
        asked.append((url, before))
        if url.endswith("/c"):
            raise DeniedAccessError(f"fetch {url}")
        return ["127.0.0.1"]

    manager.guarded(guard)
    with pytest.raises(DeniedAccessError, match="/c"):
        manager.download(site.at("/a"))
    assert asked == [(site.at("/a"), None), (other_site.at("/c"), site.at("/a"))]
    assert other_site.requests == []


def test_a_guard_says_where_a_name_leads(site, manager, faults, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    site.pages["/a"] = faults.page(b"a")
    manager.guarded(lambda url, before: ["127.0.0.3", "127.0.0.1"])  # nobody listens at the first
    port = site.url.rpartition(":")[2]
    assert read(manager.download(f"http://name.invalid:{port}/a")) == b"a"
    assert site.heads("host") == [f"name.invalid:{port}"]


class Rebinding:
    """A resolver whose names lead elsewhere each time."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []
        self.real = socket.getaddrinfo

    def __call__(self, host, port, *rest, **options):
        if not str(host).endswith(".test"):
            return self.real(host, port, *rest, **options)
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if found is None:
            raise socket.gaierror("no address")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]


@pytest.fixture
def rebinding(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    def make(*answers):
        resolver = Rebinding(*answers)
        monkeypatch.setattr(socket, "getaddrinfo", resolver)
        return resolver

    return make


def test_a_name_without_an_address_when_it_is_checked_has_none_when_it_is_used(site, manager, rebinding):
    manager.guarded(lambda url, before: looked_up("name.test", 80))
    resolver = rebinding(None, "169.254.169.254")
    with pytest.raises(DownloadError, match="link-local"):
        manager.download(site.at("/a").replace("127.0.0.1", "name.test"))
    assert site.requests == []
    assert set(resolver.asked) == {"name.test"}


def test_a_connection_goes_to_the_address_that_was_checked(site, rebinding, faults):
    site.pages["/a"] = faults.page(b"a")
    resolver = rebinding("127.0.0.1", "169.254.169.254")
    url = site.at("/a").replace("127.0.0.1", "name.test")
    with HttpClient() as client:
        for _ in range(3):  # the connection is used again: its name is not looked up again
            with client.send("GET", url) as answer:
                assert b"".join(answer.chunks()) == b"a"
    assert resolver.asked == ["name.test"]


OWN_LINK = ["169.254.169.254", "100.100.100.200", "0.0.0.0", "224.0.0.1", "168.63.129.16"]


@pytest.mark.parametrize("address", OWN_LINK)
@pytest.mark.parametrize("is_redirect", [False, True])
def test_nobody_is_led_to_the_own_link_of_the_machine(site, rebinding, faults, address, is_redirect):
    resolver = rebinding(address)
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location="http://name.test/latest/meta-data")])
    url = site.at("/a") if is_redirect else "http://name.test/latest/meta-data"
    refused = pytest.raises(DownloadError, match=f"resolves to {address}, a link-local")
    with HttpClient() as client, refused, client.send("GET", url):
        pass
    assert resolver.asked == ["name.test"]


def _written(address):
    """An address of IPv4 in each way to write it as one of IPv6."""
    of_6to4 = ipaddress.IPv6Address((0x2002 << 112) | (int(ipaddress.IPv4Address(address)) << 80))
    high, low = divmod(int(ipaddress.IPv4Address(address)), 1 << 16)
    a, b, c, d = ipaddress.IPv4Address(address).packed
    of_gateways = [  # NAT64 of the local network with prefixes of 96, 48, 56 and 64 bits; SIIT; ISATAP; Teredo
        f"64:ff9b:1::{address}",
        f"64:ff9b:1:{high:x}:{low >> 8:x}:{(low & 255) << 8:x}::",
        f"64:ff9b:1:{a:x}:{b:x}:{c << 8 | d:x}::",
        f"64:ff9b:1:0:{a:x}:{b << 8 | c:x}:{d << 8:x}:0",
        f"::ffff:0:{address}",
        f"2001:db8::5efe:{address}",
        f"2001:db8::200:5efe:{high:x}:{low:x}",
        f"2001:0:{high:x}:{low:x}::1",
    ]
    return st.sampled_from([address, f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}", str(of_6to4), *of_gateways])


@given(st.sampled_from(["169.254.169.254", "100.100.100.200", "168.63.129.16"]).flatmap(_written))
def test_an_address_of_the_own_link_is_known_in_each_way_to_write_it(text):
    assert is_own_link(text)
    assert not is_own_link("93.184.216.34")
    assert not is_own_link("127.0.0.1")
    assert not is_own_link("::1")


def test_what_a_post_is_answered_is_the_answer_also_a_refusal(site, faults):
    site.pages["/batch"] = faults.page(faults=[faults.answering(403, X_Reason="closed")])
    with HttpClient() as client, client.send("POST", site.at("/batch"), content=b"{}") as response:
        answer = b"".join(response.chunks())
    assert (response.status, response.header("x-reason"), answer) == (403, "closed", b"try later")


def test_who_asks_may_say_what_a_refusal_means(site, faults):
    def judge(answer):
        if answer.status == 403:
            raise PermissionError(answer.header("x-reason"))

    site.pages["/a"] = faults.page(faults=[faults.answering(403, X_Reason="gated")])
    with HttpClient() as client, pytest.raises(PermissionError, match="gated"), client.send("GET", site.at("/a"), judge=judge):
        pass


def test_the_hubs_own_header_says_how_long_to_wait(site, faults):
    site.pages["/a"] = faults.page(faults=[faults.answering(429, ratelimit='"api";r=0;t=7')])
    with HttpClient() as client, pytest.raises(TransientError) as caught, client.send("GET", site.at("/a")):
        pass
    assert caught.value.retry_after == "7"


def test_connections_outlive_redirects_and_refusals(site, faults):
    site.pages["/a"] = faults.page(faults=[faults.answering(302, Location="/b")] * 3 + [faults.answering(503)])
    site.pages["/b"] = faults.page(b"b")
    with HttpClient() as client:
        for _ in range(3):
            with client.send("GET", site.at("/a")) as response:
                assert b"".join(response.chunks()) == b"b"
        with pytest.raises(TransientError), client.send("GET", site.at("/a")):
            pass
        with client.send("GET", site.at("/b")) as response:
            assert b"".join(response.chunks()) == b"b"
    assert len(site.connections) == 1
