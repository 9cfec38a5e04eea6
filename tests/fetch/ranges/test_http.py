"""Parts of a file behind http: what comes is the file's bytes, whatever the server and the network do, or one clear error."""

import os
import pickle
import random
import threading
from contextlib import ExitStack

import pytest

from datasets_core import config
from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import DownloadError, FileChangedError, UrlNotFoundError
from datasets_core.fetch.http import Credentials, HttpClient
from datasets_core.fetch.ranges.file import FileVersion, StallTimeout
from datasets_core.fetch.ranges.http import HttpTransport, OneResponse
from datasets_core.fetch.ranges.reader import TransportRanges
from datasets_core.fetch.transfer import HttpSource

BODY = random.Random(7).randbytes(300_000)


class Passing:
    """A clock whose time passes when it is slept, and only then."""

    def __init__(self):
        self.time, self.pauses = 1000.0, []

    def now(self):
        return self.time

    def sleep(self, seconds, stop=None, /):
        self.pauses.append(seconds)
        self.time += seconds


@pytest.fixture
def passing():
    return Passing()


@pytest.fixture
def client():
    return HttpClient()


@pytest.fixture
def file(range_server, passing, client):
    made = []

    def make(body=BODY, *, query="", name="a.bin", headers=None, **options):
        url = range_server.put(name, body) + query
        credentials = Credentials.of(url, headers=headers)
        source = HttpSource(url, client, RetryPolicy(5, 60.0, passing, random.Random(0)), credentials, {})
        made.append(TransportRanges(HttpTransport(source, url.partition("?")[0], **options)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_ranges_are_asked_for_as_they_are_wanted(file, range_server):
    found = file().read([(100, 200), (299_990, 300_000), (5, 5), (150, 250)])
    assert [bytes(part) for part in found] == [BODY[100:200], BODY[-10:], b"", BODY[150:250]]
    assert sorted(asked.range for asked in range_server.requests) == ["bytes=100-249", "bytes=299990-299999"]


def test_the_end_is_one_request_and_tells_the_version(file, range_server):
    read = file()
    assert bytes(read.tail(1000)) == BODY[-1000:]
    assert read.version().size == len(BODY)
    assert [asked.range for asked in range_server.requests] == ["bytes=-1000"]
    assert bytes(file(b"short").tail(1000)) == b"short"
    assert bytes(file(b"").tail(1000)) == b""


def test_the_version_costs_a_byte(file, range_server):
    assert file().version().size == len(BODY)
    assert range_server.num_bytes == 1
    assert file(b"", name="empty").version().size == 0


@pytest.mark.parametrize("kind", ["drop", "short", "status", "garbage", "wrong-part"])
@pytest.mark.parametrize("tags", ["strong", "weak", ""])
def test_what_breaks_off_is_gone_on_with_at_its_byte(file, range_server, kind, tags):
    range_server.tags = tags
    read = file()
    range_server.fail("a.bin", kind, after=70_000, times=3)
    assert bytes(read.read([(10, 290_000)])[0]) == BODY[10:290_000]
    if kind in ("drop", "short"):
        assert range_server.num_bytes < 1.3 * len(BODY)


def test_a_connection_is_kept(file, range_server):
    read = file()
    for start in range(0, 1000, 100):
        read.read([(start, start + 100)])
    assert len({asked.port for asked in range_server.requests}) == 1


def test_redirects_are_asked_once(file, range_server):
    read = file(query="?token=secret")
    target = range_server.put("there.bin", BODY)
    range_server.fail("a.bin", "redirect", to=f"{target}?sig=secret", times=None)
    for start in (0, 1000, 2000):
        assert bytes(read.read([(start, start + 10)])[0]) == BODY[start : start + 10]
    assert len(range_server.of("a.bin")) == 1
    assert len(range_server.of("there.bin")) == 3


def test_an_address_that_expired_is_asked_for_again(file, range_server):
    read = file()
    target = range_server.put("there.bin", BODY)
    range_server.fail("a.bin", "redirect", to=target, times=None)
    read.read([(0, 10)])
    range_server.fail("there.bin", "status", status=403)
    assert bytes(read.read([(50, 60)])[0]) == BODY[50:60]
    assert len(range_server.of("a.bin")) == 2
    range_server.fail("there.bin", "status", status=403, times=None)
    with pytest.raises(DownloadError) as caught:
        read.read([(0, 10)])
    assert caught.value.status == 403


@pytest.mark.parametrize("knows", [True, False])
@pytest.mark.parametrize(("tags", "dates"), [("strong", True), ("weak", True), ("", True), ("strong", False)])
def test_another_version_is_never_read(file, range_server, tags, dates, knows):
    range_server.tags, range_server.dates, range_server.knows_if_match = tags, dates, knows
    read = file()
    read.read([(0, 10)])
    range_server.change("/a.bin")
    with pytest.raises(FileChangedError, match=r"a\.bin: it changed while it was read"):
        read.read([(50, 60)])


@pytest.mark.parametrize("tags", ["strong", "weak", ""])
def test_a_change_in_the_middle_of_a_part_is_told(file, range_server, tags):
    range_server.tags = tags
    read = file()
    range_server.fail("a.bin", "change", after=1000)
    with pytest.raises(FileChangedError):
        read.read([(0, 100_000)])


def test_a_change_of_the_size_needs_no_tag(file, range_server):
    range_server.tags, range_server.dates = "", False
    read = file()
    read.read([(0, 10)])
    range_server.change("/a.bin", BODY[:-1])
    with pytest.raises(FileChangedError, match="300,000 bytes, and now has 299,999"):
        read.read([(50, 60)])


def test_a_version_of_before_is_held_to(file, range_server):
    version = file().version()
    read = file()
    range_server.reset()
    read.hold(version)
    assert bytes(read.read([(3, 5)])[0]) == BODY[3:5]
    assert bytes(read.tail(5)) == BODY[-5:]
    assert [asked.headers["if-match"] for asked in range_server.requests] == [version.tag] * 2
    old = file()
    old.hold(FileVersion(len(BODY), '"old"'))
    with pytest.raises(FileChangedError):
        old.read([(3, 5)])


def test_a_server_that_compares_tags_wrongly_is_believed_its_own(file, range_server):
    read = file()
    read.read([(0, 10)])
    range_server.fail("a.bin", "status", status=412)
    assert bytes(read.read([(50, 60)])[0]) == BODY[50:60]


def test_what_is_not_there_is_told(file, range_server):
    range_server.fail("a.bin", "missing")
    with pytest.raises(UrlNotFoundError, match=r"a\.bin: the server answers 404"):
        file().read([(0, 1)])


@pytest.mark.parametrize("place", [(0, 300_001), (300_000, 300_001), (400_000, 400_001)])
@pytest.mark.parametrize("is_known", [True, False])
def test_bytes_that_it_has_not_are_told(file, place, is_known):
    read = file()
    if is_known:
        read.version()
    with pytest.raises(DownloadError, match="it has 300,000 bytes, but bytes"):
        read.read([place])


def test_a_server_that_never_recovers_is_told_without_secrets(file, range_server):
    range_server.fail("a.bin", "status", times=None)
    with pytest.raises(DownloadError, match="answers 503, in 5 consecutive tries") as caught:
        file(query="?X-Amz-Signature=0123456789").read([(0, 10)])
    assert "0123456789" not in str(caught.value)


def test_credentials_go_to_their_own_origin_alone(file, range_server):
    read = file(headers={"Authorization": "Bearer t"})
    range_server.fail("a.bin", "redirect", to=range_server.put("b.bin", BODY).replace("127.0.0.1", "localhost"), times=None)
    read.read([(0, 10)])
    read.read([(20, 30)])
    assert [asked.headers.get("authorization") for asked in range_server.requests] == ["Bearer t", None, None]


def test_a_pause_that_a_server_asks_for_is_kept_by_all(file, range_server, passing):
    one, other = file(), file(name="b.bin")
    range_server.fail("a.bin", "status", status=429, headers={"Retry-After": "30"})
    before = passing.time
    range_server.before(lambda asked: seen.append(passing.time - before))
    seen = []
    one.read([(0, 10)])
    assert 30 <= seen[1] <= 33
    range_server.fail("a.bin", "status", status=429, headers={"Retry-After": "30"}, times=None)
    with pytest.raises(DownloadError) as caught:
        one.read([(10, 20)])
    assert caught.value.status == 429
    at = passing.time
    passing.pauses.clear()
    other.read([(0, 10)])
    assert sum(passing.pauses) >= 29 or at < passing.time


def test_a_pause_longer_than_anybody_waits_is_told_as_the_server_asks_for_it(file, range_server, caplog, passing):
    range_server.fail("a.bin", "status", status=503, headers={"Retry-After": "100000"}, times=None)
    with pytest.raises(DownloadError, match="answers 503, and requires a pause of 100,000 seconds, in 5 consecutive tries"):
        file().read([(0, 10)])
    assert "requires a pause of 100,000 seconds; retrying in 6" in caplog.text
    assert max(passing.pauses) <= 66


@pytest.mark.parametrize("kind", ["stall", "silent", "trickle", "slow-head"])
def test_no_wait_is_for_ever(file, range_server, kind):
    range_server.fail("a.bin", kind, after=100, pause=0.05, times=None)
    with (
        config.using(stream_timeout_seconds=0.3),
        pytest.raises(DownloadError, match=r"a\.bin: \d+ of 200,000 bytes arrived in \d+ seconds"),
    ):
        file().read([(0, 200_000)])


def test_silence_is_another_try(file, range_server):
    range_server.fail("a.bin", "stall", after=100_000)
    with config.using(read_timeout_seconds=0.1):
        assert bytes(file().read([(0, 200_000)])[0]) == BODY[:200_000]
    assert range_server.requests[1].range == "bytes=100000-199999"


def test_it_goes_to_another_process(file):
    read = pickle.loads(pickle.dumps(file()))
    assert bytes(read.read([(0, 5)])[0]) == BODY[:5]
    read.close()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_makes_connections_of_its_own(file, range_server):
    read = file()
    read.read([(0, 5)])
    pid = os.fork()
    if not pid:
        os._exit(0 if bytes(read.read([(5, 9)])[0]) == BODY[5:9] else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert bytes(read.read([(9, 12)])[0]) == BODY[9:12]
    assert len({asked.port for asked in range_server.requests}) == 2


def test_many_threads_read_one_file(file):
    read, failures = file(), []

    def work(seed):
        chosen = random.Random(seed)
        for _ in range(10):
            start = chosen.randrange(len(BODY) - 1000)
            if bytes(read.read([(start, start + 1000)])[0]) != BODY[start : start + 1000]:
                failures.append(start)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_nothing_is_written_by_http(file):
    read = file()
    with pytest.raises(DownloadError, match="cannot be written"):
        read._transport.put(b"x")
    with pytest.raises(DownloadError, match="does not support"):
        read._go_whole(_no_ranges())


def _no_ranges():
    from datasets_core.fetch.ranges.file import NoRangesError

    return NoRangesError(None)


def test_a_call_alone_reads_one_version(file):
    read = file()._transport
    stall_timeout = StallTimeout("x", 20)
    data, version = read.get_ranges([(0, 10), (-10, 0)], None, stall_timeout)
    assert ([bytes(part) for part in data], version.size) == ([BODY[:10], BODY[-10:]], len(BODY))
    read.close()


# A server that gives no parts is read in one answer, and again from the start where that breaks off.

BODY_ONE_RESPONSE = random.Random(5).randbytes(500_000)


@pytest.fixture
def answer(range_server, policy):
    range_server.ranged = False
    transports = []

    def make():
        url = range_server.put("a.bin", BODY_ONE_RESPONSE)
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
    assert found.size == (len(BODY_ONE_RESPONSE) if has_length else None)
    assert _all(found) == BODY_ONE_RESPONSE
    assert found.size == len(BODY_ONE_RESPONSE)
    assert found.tag


def test_what_breaks_off_comes_again_and_is_compared(answer, range_server, clock):
    range_server.fail("a.bin", "drop", after=300_000, times=2)
    assert _all(answer()) == BODY_ONE_RESPONSE
    assert len(range_server.requests) == 3
    assert len(clock.pauses) == 2


@pytest.mark.parametrize("keeps_tag", [True, False])
@pytest.mark.parametrize("content", [None, BODY_ONE_RESPONSE[:-1], BODY_ONE_RESPONSE[:100], b""])
def test_another_version_is_no_continuation(answer, range_server, keeps_tag, content):
    range_server.fail("a.bin", "change", after=300_000, keeps_tag=keeps_tag, content=content)
    found = answer()
    with pytest.raises(FileChangedError, match="changed while it was read"):
        _all(found)


def test_the_pauses_of_the_reader_are_no_silence_of_the_server(answer, range_server, hand_clock):
    with config.using(stream_timeout_seconds=60):
        found = answer()
    data = found.chunk()
    hand_clock.now += 3600
    assert data + _all(found) == BODY_ONE_RESPONSE


def test_a_server_that_never_ends_well_is_told(answer, range_server):
    range_server.fail("a.bin", "drop", after=300_000, times=None)
    found = answer()
    with pytest.raises(DownloadError, match="5 consecutive tries"):
        _all(found)
