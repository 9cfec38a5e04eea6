"""A server that gives no parts is read in one answer, and again from the start where that breaks off."""

import random
import time
from contextlib import ExitStack

import pytest

from datasets_core import config
from datasets_core.engines.threads import StallTimeout
from datasets_core.errors import DownloadError, FileChangedError
from datasets_core.fetch.http import Credentials, HttpClient
from datasets_core.fetch.ranges.http import HttpTransport, OneResponse
from datasets_core.fetch.transfer import HttpSource

BODY = random.Random(5).randbytes(500_000)


@pytest.fixture
def answer(range_server, policy):
    range_server.ranged = False
    transports = []

    def make():
        url = range_server.put("a.bin", BODY)
        transport = HttpTransport(HttpSource(url, HttpClient(), policy, Credentials.of(url), {}), url)
        transports.append(transport)
        with ExitStack() as stack:
            response = transport.opened(stack, None, None, StallTimeout("a", 0))
            return OneResponse(transport, response, stack.pop_all())

    yield make
    for each in transports:
        each.close()


def _all(answer):
    return b"".join(iter(answer.chunk, b""))


@pytest.mark.parametrize("has_length", [True, False])
def test_all_of_it_comes(answer, range_server, has_length):
    range_server.has_length = has_length
    found = answer()
    assert found.size == (len(BODY) if has_length else None)
    assert _all(found) == BODY
    assert found.size == len(BODY)
    assert found.tag


def test_what_breaks_off_comes_again_and_is_compared(answer, range_server, clock):
    range_server.fail("a.bin", "drop", after=300_000, times=2)
    assert _all(answer()) == BODY
    assert len(range_server.requests) == 3
    assert len(clock.pauses) == 2


@pytest.mark.parametrize("keeps_tag", [True, False])
@pytest.mark.parametrize("content", [None, BODY[:-1], BODY[:100], b""])
def test_another_version_is_no_continuation(answer, range_server, keeps_tag, content):
    range_server.fail("a.bin", "change", after=300_000, keeps_tag=keeps_tag, content=content)
    found = answer()
    with pytest.raises(FileChangedError, match="changed while it was read"):
        _all(found)


def test_the_pauses_of_the_reader_are_no_silence_of_the_server(answer, range_server):
    with config.using(stream_timeout_seconds=0.5):
        found = answer()
    data = found.chunk()
    time.sleep(0.6)
    assert data + _all(found) == BODY


def test_a_server_that_never_ends_well_is_told(answer, range_server):
    range_server.fail("a.bin", "drop", after=300_000, times=None)
    found = answer()
    with pytest.raises(DownloadError, match="5 tries in a row"):
        _all(found)
