"""Parts of files by obstore: each answer tells its version."""

import pickle
import random

import pytest

from datasets_core.errors import DownloadError, MissingDependencyError
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


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("place", [(0, 300_001), (400_000, 400_001)])
def test_bytes_that_it_has_not_are_told(made, is_known, place):
    read = TransportRanges(made())
    if is_known:
        read.version()
    with pytest.raises(DownloadError, match="it has 300,000 bytes"):
        read.read([place])


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
