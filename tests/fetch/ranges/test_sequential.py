"""The bytes of a URL as they come, whatever the server and the network do."""

import io
import itertools
import os
import random
import zipfile

import pytest

from datasets_core.errors import DownloadError, NonMatchingChecksumError
from datasets_core.fetch.checksums import FileRecord, VerificationMode, check_file
from datasets_core.fetch.http import Credentials, HttpClient
from datasets_core.fetch.ranges.sequential import ReadRequest, open_remote, open_store
from datasets_core.fetch.ranges.stores import StoreTransport
from datasets_core.fetch.transfer import HttpSource

BODY = bytes(range(256)) * 6000  # 1.5 MB


@pytest.fixture
def wanted(site, policy, tmp_path, faults):
    def make(path="/a", *, body=BODY, expected=None, is_whole=False, **page):
        from_page = site.pages.setdefault(path, faults.page(body, **page))
        source = HttpSource(site.at(path), HttpClient(), policy, Credentials.of(site.at(path)), {})
        checked = expected or FileRecord()

        def whole():
            place = tmp_path / "whole"
            place.write_bytes(from_page.body)
            return str(place)

        def check(found):
            seen.append(found)
            check_file(source.url, checked, found, VerificationMode.ALL_CHECKS)

        return ReadRequest(source, whole, check, checked, is_whole)

    seen = make.seen = []
    return make


def test_nothing_is_asked_for_before_a_byte_is_read(site, wanted):
    with open_remote(wanted()) as data:
        assert site.requests == []
        assert data.read(4) == BODY[:4]
    assert len(site.requests) == 1


@pytest.mark.parametrize("page", [{}, {"has_length": False}, {"etag": None}, {"is_ranged": False}])
def test_all_bytes_come_and_are_checked_once(site, wanted, page):
    with open_remote(wanted(**page)) as data:
        assert data.read() == BODY
        assert data.read() == b""
    assert [found.num_bytes for found in wanted.seen] == [len(BODY)]


def test_what_differs_from_its_record_is_refused_with_the_last_bytes(wanted):
    with open_remote(wanted(expected=FileRecord(len(BODY), "0" * 64))) as data:
        assert data.read(1000) == BODY[:1000]
        with pytest.raises(NonMatchingChecksumError):
            data.read(len(BODY) - 1000)


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"', None])
def test_a_broken_connection_goes_on_where_it_broke(site, wanted, faults, clock, etag):
    made = wanted(etag=etag)
    site.pages["/a"].faults += [faults.reset_after(700_000), faults.answering(503), faults.refusing]

    with open_remote(made) as data:
        assert data.read() == BODY
    assert len(clock.pauses) == 3
    assert [found.num_bytes for found in wanted.seen] == [len(BODY)]


@pytest.mark.parametrize("etag", ['"v1"', None])
def test_another_version_is_no_continuation(site, wanted, faults, etag):
    made = wanted(etag=etag)
    other = BODY[:-1][::-1] + b"!"
    site.pages["/a"].faults.append(faults.changing_to(other, etag and '"v2"', faults.reset_after(700_000)))

    with open_remote(made) as data, pytest.raises(DownloadError, match="changed while it was read"):
        data.read()


def test_a_server_that_never_answers_is_told(site, wanted, faults):
    made = wanted()
    site.pages["/a"].faults += [faults.answering(503)] * 5

    with open_remote(made) as data, pytest.raises(DownloadError, match="answers 503, in 5 consecutive tries"):
        data.read()


def test_fewer_bytes_than_declared_are_no_end(site, wanted, faults):
    made = wanted()
    site.pages["/a"].faults.append(faults.short_by(10))

    with open_remote(made) as data:
        assert data.read() == BODY


def test_a_wrong_size_is_refused_before_the_first_byte(wanted, tmp_path):
    with open_remote(wanted(expected=FileRecord(5))) as data:
        data.read(1)
    assert (tmp_path / "whole").exists()  # what fetches all of it complains


def test_what_is_compressed_on_its_way_is_fetched_whole(wanted, tmp_path):
    with open_remote(wanted(headers={"Content-Encoding": "gzip"})) as data:
        assert data.read() == BODY
    assert (tmp_path / "whole").exists()


def test_the_first_bytes_are_read_twice_and_asked_for_once(site, wanted):
    with open_remote(wanted()) as data:
        head = data.read(1000)
        data.seek(0)
        assert data.read(1000) == head
        assert data.read() == BODY[1000:]
    places = [tuple(map(int, sent.removeprefix("bytes=").split("-"))) for sent in site.heads("range")]
    assert places[0] == (0, 65535)
    assert all(one[1] + 1 == other[0] for one, other in itertools.pairwise(places))


def test_a_zip_is_read_in_parts(site, wanted):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name in "abc":
            made.writestr(name, os.urandom(400_000) + name.encode())

    with open_remote(wanted(body=packed.getvalue())) as data, zipfile.ZipFile(data) as opened:
        assert opened.read("b")[-1:] == b"b"
        assert opened.read("c")[-1:] == b"c"
    assert all(site.heads("range"))
    assert len(site.heads("range")) <= 8


@pytest.mark.parametrize("page", [{"is_ranged": False}, {"etag": None}])
def test_without_parts_to_be_had_all_is_fetched(site, wanted, tmp_path, page):
    with open_remote(wanted(**page)) as data:
        data.seek(-10, os.SEEK_END)
        assert data.read() == BODY[-10:]
        data.seek(300_000)
        assert data.read(5) == BODY[300_000:300_005]
    assert (tmp_path / "whole").exists()


def test_what_can_only_be_checked_whole_is_not_read_in_parts(site, wanted, tmp_path):
    with open_remote(wanted(is_whole=True)) as data:
        data.seek(1_400_000)
        assert data.read(5) == BODY[1_400_000:1_400_005]
        assert (tmp_path / "whole").exists()
        data.seek(300_000)
        assert data.read(5) == BODY[300_000:300_005]
    assert site.heads("range") == ["bytes=0-65535"]


def test_what_can_only_be_checked_whole_is_checked_in_parts_that_come_in_order(site, wanted, tmp_path):
    with open_remote(wanted(is_whole=True)) as data:
        data.seek(900_000)
        assert data.read(5) == BODY[900_000:900_005]
        data.seek(0)
        assert data.read() == BODY
    assert [found.num_bytes for found in wanted.seen] == [len(BODY)]
    assert not (tmp_path / "whole").exists()


def test_another_version_is_no_other_part(site, wanted):
    with open_remote(wanted()) as data:
        data.read(10)
        site.pages["/a"].etag = '"v2"'
        data.seek(1_400_000)
        with pytest.raises(DownloadError, match="changed while it was read"):
            data.read(5)


def test_who_begins_far_behind_asks_for_nothing_before(site, wanted):
    with open_remote(wanted()) as data:
        data.seek(1_400_000)
        assert data.read(50_000) == BODY[1_400_000:1_450_000]
    assert site.heads("range") == ["bytes=1400000-1465535"]


def test_who_begins_behind_the_end_is_told_that_it_is(wanted):
    with open_remote(wanted()) as data:
        data.seek(9_000_000)
        assert data.read(5) == b""
        data.seek(-5, os.SEEK_END)
        assert data.read() == BODY[-5:]


@pytest.mark.parametrize("page", [{}, {"is_ranged": False}, {"has_length": False}])
def test_any_place_holds_its_bytes(wanted, page):
    chosen = random.Random(7)

    with open_remote(wanted(**page)) as data:
        for _ in range(30):
            place, count = chosen.randrange(len(BODY) + 10), chosen.choice([0, 1, 1000, 200_000])
            data.seek(place)
            assert data.read(count) == BODY[place : place + count]


def test_a_store_is_read_as_it_comes_and_checked():
    import fsspec

    fsspec.filesystem("memory").pipe("/remote-bytes/a", b"x" * 1000)
    seen = []

    with open_store(StoreTransport("memory://remote-bytes/a"), list, seen.append) as data:
        assert data.read(10) == b"x" * 10
        assert data.read() == b"x" * 990
        data.seek(5)
        assert data.read(1) == b"x"
    assert [found.num_bytes for found in seen] == [1000]
