"""Parts of files by obstore: each answer tells its version."""

import pickle
import random

import fsspec
import pytest

from datasets_core import config
from datasets_core.errors import DataFilesNotFoundError, DownloadError, FileChangedError, MissingDependencyError
from datasets_core.fetch.ranges import stores
from datasets_core.fetch.ranges.file import StallTimeout
from datasets_core.fetch.ranges.reader import TransportRanges
from datasets_core.fetch.ranges.stores import ObstoreTransport, StoreTransport, obstore_options, store_transport
from datasets_core.fetch.streaming import ranges_of

BODY = random.Random(3).randbytes(300_000)


@pytest.fixture
def made():
    from obstore.store import MemoryStore

    store = MemoryStore()

    def make(body=BODY, name="a.bin"):
        transport = ObstoreTransport(f"s3://bucket/{name}", {})
        transport._store = store
        if body is not None:
            transport.put(body)
        return transport

    return make


@pytest.mark.optional("obstore")
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("place", [(0, 300_001), (400_000, 400_001)])
def test_bytes_that_it_has_not_are_told(made, is_known, place):
    read = TransportRanges(made())
    if is_known:
        read.version()
    with pytest.raises(DownloadError, match="it has 300,000 bytes"):
        read.read([place])


@pytest.mark.optional("obstore")
def test_a_store_that_fails_is_told_in_one_line(made):
    transport = ObstoreTransport("s3://bucket/a", {"endpoint": "http://127.0.0.1:9", "skip_signature": True, "region": "x"})
    transport._store = _Failing()
    with pytest.raises(DownloadError, match=r"s3://bucket/a") as caught:
        TransportRanges(transport).version()
    assert "\n" not in str(caught.value)


class _Failing:
    pass


@pytest.mark.optional("obstore")
def test_options_are_those_of_fsspec():
    options = {"key": "k", "secret": "s", "endpoint_url": "http://h:1", "client_kwargs": {"region_name": "eu"}}
    found = obstore_options("s3://b/a", options)
    assert found == {"access_key_id": "k", "secret_access_key": "s", "endpoint": "http://h:1", "region": "eu"}
    assert pickle.loads(pickle.dumps(ObstoreTransport("s3://b/a", found))).url == "s3://b/a"
    assert obstore_options("gs://b/a", {"anon": True}) == {"skip_signature": True}


@pytest.mark.optional("obstore")
def test_the_package_that_is_missing_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(MissingDependencyError, match=r"stream_transport='obstore' needs.*datasets_core\[fast\]"):
        ObstoreTransport("s3://b/a", {})


# Parts of files in stores: all of one version, and tried again where a store fails.

URL = "memory://store-ranges/a.bin"


@pytest.fixture
def store():
    made = fsspec.filesystem("memory")
    made.pipe("/store-ranges/a.bin", BODY)
    yield made
    made.rm("/store-ranges", recursive=True)


@pytest.fixture
def read(store, policy):
    return TransportRanges(StoreTransport(URL, policy=policy))


def test_urls_lead_here(store):
    assert bytes(ranges_of(URL).tail(9)) == BODY[-9:]
    assert ranges_of(URL).name == URL


def test_a_slow_store_is_not_silent_as_long_as_bytes_come(store, policy, monkeypatch, hand_clock):
    body, whole, asked = BODY * 70, type(store).cat_file, []
    store.pipe("/store-ranges/a.bin", body)

    def slow(self, path, start=None, end=None, **kwargs):
        asked.append(end - start)
        hand_clock.passes(18)
        return whole(self, path, start=start, end=end, **kwargs)

    monkeypatch.setattr(type(store), "cat_file", slow)
    read = TransportRanges(StoreTransport(URL, policy=policy))
    with config.using(stream_timeout_seconds=60):
        found = read.read([(5, 5), (7, len(body))])
    assert [bytes(part) for part in found] == [b"", body[7:]]
    assert max(asked) <= 4 << 20
    assert sum(asked) == len(body) - 7


def test_a_store_that_is_slow_is_asked_for_less_at_a_time(store, policy, monkeypatch):
    body, whole, asked, now = BODY * 70, type(store).cat_file, [], [0.0]
    store.pipe("/store-ranges/a.bin", body)

    def slow(self, path, start=None, end=None, **kwargs):
        asked.append(end - start)
        now[0] += 30
        return whole(self, path, start=start, end=end, **kwargs)

    monkeypatch.setattr(type(store), "cat_file", slow)
    monkeypatch.setattr(stores.time, "monotonic", lambda: now[0])
    found, _ = StoreTransport(URL, policy=policy).get_ranges([(0, len(body))], None, StallTimeout("a", 1, seconds=60))
    assert bytes(found[0]) == body
    assert asked[:2] == [4 << 20, 1 << 20] and max(asked[2:]) == 1 << 18


@pytest.mark.parametrize("body", [BODY[::-1], BODY[:-1]])
def test_another_version_is_never_read(read, store, body):
    read.read([(0, 5)])
    store.pipe("/store-ranges/a.bin", body)
    with pytest.raises(FileChangedError, match=r"a\.bin: it changed while it was read"):
        read.read([(5, 9)])


def test_a_change_while_a_part_is_read_is_told(read, store, monkeypatch):
    whole = type(store).cat_file

    def changing(self, path, *args, **kwargs):
        found = whole(self, path, *args, **kwargs)
        self.pipe(path, BODY[::-1])
        return found

    monkeypatch.setattr(type(store), "cat_file", changing)
    with pytest.raises(FileChangedError):
        read.read([(5, 9)])


def test_what_is_not_there_is_told(store, policy):
    with pytest.raises(DataFilesNotFoundError, match="does not exist"):
        TransportRanges(StoreTransport("memory://store-ranges/none", policy=policy)).tail(5)
    with pytest.raises(DownloadError, match="it has 300,000 bytes"):
        TransportRanges(StoreTransport(URL, policy=policy)).read([(0, 300_001)])


@pytest.mark.parametrize("failures", [2, 9])
def test_a_store_that_fails_is_tried_again(read, store, monkeypatch, failures, clock):
    whole, left = type(store).cat_file, [failures]

    def failing(self, *args, **kwargs):
        left[0] -= 1
        if left[0] >= 0:
            raise ConnectionResetError("reset by https://me:pw@host")
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(type(store), "cat_file", failing)
    if failures < 5:
        assert bytes(read.read([(5, 9)])[0]) == BODY[5:9]
        assert len(clock.pauses) == failures
    else:
        with pytest.raises(DownloadError, match=r"a\.bin: reset by") as caught:
            read.read([(5, 9)])
        assert "pw" not in str(caught.value)


def test_it_goes_to_another_process(read):
    assert bytes(pickle.loads(pickle.dumps(read)).read([(0, 5)])[0]) == BODY[:5]


@pytest.mark.optional("obstore")
def test_obstore_is_taken_where_it_is_asked_for_and_can(store):
    assert isinstance(store_transport("s3://b/a", {"anon": True}), StoreTransport)
    with config.using(stream_transport="obstore"):
        assert isinstance(store_transport("s3://b/a", {"anon": True}), ObstoreTransport)
        assert isinstance(store_transport("s3://b/a", {"profile": "me"}), StoreTransport)
        assert isinstance(store_transport(URL, {}), StoreTransport)
