"""A forked process waits for no lock that a thread held which it has not."""

import os
import threading

import pytest

from datasets_core.engines.threads import renewed_after_fork
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.disk_cache import RangeCache
from datasets_core.fetch.http import Credentials, HostPauses, HttpClient, RetryPolicy
from datasets_core.fetch.hub.files import HubDownloads
from datasets_core.fetch.ranges.file import FileVersion
from datasets_core.fetch.ranges.http import HttpTransport
from datasets_core.fetch.ranges.reader import Pieces, TransportRanges
from datasets_core.fetch.ranges.stores import StoreTransport
from datasets_core.fetch.transfer import HttpSource

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def _is_done_in_a_fork(work):
    """Whether a forked process ends with it, in time."""
    pid = os.fork()
    if not pid:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(5)
        os._exit(1 if thread.is_alive() else 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _while_held(locks, work):
    """Do something while another thread holds locks."""
    held, gate = threading.Event(), threading.Event()

    def hold():
        for lock in locks:
            lock.acquire()
        held.set()
        gate.wait(20)
        for lock in locks:
            lock.release()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(5)
    try:
        return work()
    finally:
        gate.set()
        holder.join()


def _http():
    url = "http://127.0.0.1:9/a"
    return HttpTransport(HttpSource(url, HttpClient(), RetryPolicy(), Credentials.of(url), {}), url)


@pytest.mark.parametrize(
    "made",
    [
        lambda folder: TransportRanges(_http()),
        lambda folder: RangeCache(folder, 1000),
        lambda folder: _http(),
        lambda folder: StoreTransport("memory://a"),
        lambda folder: HostPauses(),
        lambda folder: HttpClient(),
        lambda folder: HubDownloads(DownloadConfig()),
    ],
    ids=["ranges", "cache", "http", "store", "pauses", "client", "hub"],
)
def test_a_lock_that_is_held_meanwhile_is_free_in_the_child(made, tmp_path):
    thing = made(str(tmp_path))
    names = [name for name in vars(thing) if name.endswith("_lock")]
    assert names

    def work():
        for name in names:
            with getattr(thing, name):
                pass

    locks = [getattr(thing, name) for name in names]
    assert _while_held(locks, lambda: _is_done_in_a_fork(work))
    assert [getattr(thing, name) for name in names] == locks  # here they are those of before


def test_pieces_on_their_way_are_asked_for_again_in_the_child():
    gate, parent = threading.Event(), os.getpid()

    class Slow:
        name, url = "a", "test://a"

        def get_ranges(self, ranges, held, stall_timeout):
            if os.getpid() == parent and ranges[0][0]:
                gate.wait(20)
            return [bytes(stop - start) for start, stop in ranges], held

    pieces = Pieces(Slow(), FileVersion(1 << 20, "v"), bytes(1 << 16))
    pieces.at((1 << 16) - 1)
    assert pieces.has(1 << 16)
    assert _is_done_in_a_fork(lambda: pieces.at(1 << 16))
    gate.set()
    pieces.drop()


def test_what_is_gone_is_told_nothing():
    class Thing:
        def forked(self):
            os._exit(3)

    renewed_after_fork(Thing())
    assert _is_done_in_a_fork(lambda: None)
