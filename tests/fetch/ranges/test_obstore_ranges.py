"""Parts of files by obstore: each answer tells its version."""

import pickle
import random

import pytest

from datasets_core.engines.threads import StallTimeout
from datasets_core.errors import DataFilesNotFoundError, DownloadError, FileChangedError, MissingDependencyError
from datasets_core.fetch.ranges.reader import TransportRanges
from datasets_core.fetch.ranges.stores import ObstoreTransport, obstore_options

pytestmark = pytest.mark.optional("obstore")

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


def test_any_bytes_are_read(made):
    read = TransportRanges(made())
    found = read.read([(100, 200), (299_990, 300_000), (5, 5), (150, 250)])
    assert [bytes(part) for part in found] == [BODY[100:200], BODY[-10:], b"", BODY[150:250]]
    assert (bytes(read.tail(9)), read.version().size) == (BODY[-9:], len(BODY))
    assert bytes(TransportRanges(made()).tail(9)) == BODY[-9:]


def test_bytes_are_told_as_they_come(made):
    told = []

    class Told(StallTimeout):
        def told(self, count):
            told.append(count)
            super().told(count)

    body = BODY * 20
    found, _ = made(body).get_ranges([(0, len(body))], None, Told("a", len(body)))
    assert bytes(found[0]) == body
    assert sum(told) == len(body)


def test_an_empty_file_has_no_bytes(made):
    assert bytes(TransportRanges(made(b"", "empty")).tail(5)) == b""


def test_another_version_is_never_read(made):
    read = TransportRanges(made())
    read.read([(0, 5)])
    made(BODY[::-1])
    with pytest.raises(FileChangedError, match=r"s3://bucket/a\.bin: it changed while it was read"):
        read.read([(5, 9)])


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("place", [(0, 300_001), (400_000, 400_001)])
def test_bytes_that_it_has_not_are_told(made, is_known, place):
    read = TransportRanges(made())
    if is_known:
        read.version()
    with pytest.raises(DownloadError, match="it has 300,000 bytes"):
        read.read([place])


def test_what_is_not_there_is_told(made):
    with pytest.raises(DataFilesNotFoundError, match="s3://bucket/none does not exist"):
        TransportRanges(made(None, "none")).tail(5)


def test_a_store_that_fails_is_told_in_one_line(made):
    transport = ObstoreTransport("s3://bucket/a", {"endpoint": "http://127.0.0.1:9", "skip_signature": True, "region": "x"})
    transport._store = _Failing()
    with pytest.raises(DownloadError, match=r"s3://bucket/a") as caught:
        TransportRanges(transport).version()
    assert "\n" not in str(caught.value)


class _Failing:
    pass


def test_options_are_those_of_fsspec():
    options = {"key": "k", "secret": "s", "endpoint_url": "http://h:1", "client_kwargs": {"region_name": "eu"}}
    found = obstore_options("s3://b/a", options)
    assert found == {"access_key_id": "k", "secret_access_key": "s", "endpoint": "http://h:1", "region": "eu"}
    assert pickle.loads(pickle.dumps(ObstoreTransport("s3://b/a", found))).url == "s3://b/a"
    assert obstore_options("gs://b/a", {"anon": True}) == {"skip_signature": True}


def test_the_package_that_is_missing_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(MissingDependencyError, match=r"stream_transport='obstore' needs.*datasets_core\[fast\]"):
        ObstoreTransport("s3://b/a", {})
