"""A forked process waits for no lock that a thread held which it has not."""

import logging
import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import files
from datasets_core.engines import threads
from datasets_core.engines.threads import CallWindow, Daemons, HostPauses, RetryPolicy, renewed_after_fork
from datasets_core.errors import DownloadError
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.disk_cache import RangeCache
from datasets_core.fetch.http import Credentials, HttpClient
from datasets_core.fetch.hub.files import HubDownloads
from datasets_core.fetch.ranges.file import FileVersion, StallTimeout, StoppedError
from datasets_core.fetch.ranges.http import HttpTransport
from datasets_core.fetch.ranges.reader import Pieces, TransportRanges
from datasets_core.fetch.ranges.stores import StoreTransport
from datasets_core.fetch.transfer import HttpSource


def _is_done_in_a_fork(work):
    """Whether a forked process ends with it, in time."""
    pid = os.fork()
    if not pid:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(60)
        os._exit(1 if thread.is_alive() else 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _while_held(locks, work):
    """Do something while another thread holds locks."""
    held, gate = threading.Event(), threading.Event()

    def hold():
        for lock in locks:
            lock.acquire()
        held.set()
        gate.wait(60)
        for lock in locks:
            lock.release()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    try:
        return work()
    finally:
        gate.set()
        holder.join()


def _http():
    url = "http://127.0.0.1:9/a"
    return HttpTransport(HttpSource(url, HttpClient(), RetryPolicy(), Credentials.of(url), {}), url)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
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


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_pieces_on_their_way_are_asked_for_again_in_the_child():
    gate, parent = threading.Event(), os.getpid()

    class Slow:
        name, url = "a", "test://a"

        def get_ranges(self, ranges, held, stall_timeout):
            if os.getpid() == parent and ranges[0][0]:
                gate.wait(60)
            return [bytes(stop - start) for start, stop in ranges], held

    pieces = Pieces(Slow(), FileVersion(1 << 20, "v"), bytes(1 << 16))
    pieces.at((1 << 16) - 1)
    assert pieces.has(1 << 16)
    assert _is_done_in_a_fork(lambda: pieces.at(1 << 16))
    gate.set()
    pieces.drop()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_is_gone_is_told_nothing():
    class Thing:
        def forked(self):
            os._exit(3)

    renewed_after_fork(Thing())
    assert _is_done_in_a_fork(lambda: None)


# Threads that wait for servers come when there is work and go when there is none, and nobody waits for ever.


@pytest.fixture
def pool():
    made = Daemons("test-daemons", lambda: 2)
    yield made
    made.close(5)


def _threads():
    return [thread for thread in threading.enumerate() if thread.name == "test-daemons"]


def test_work_is_done_in_order_by_no_more_threads_than_may_be(pool):
    gate, seen = threading.Semaphore(0), []

    def work(number):
        assert gate.acquire(timeout=60)
        seen.append(number)
        return number

    jobs = [pool.submit(lambda number=number: work(number)) for number in range(6)]
    assert len(_threads()) == 2
    for _ in jobs:
        gate.release()
    assert [StallTimeout("x", 1).waited_for(job) for job in jobs] == list(range(6))
    assert sorted(seen) == list(range(6))


def test_idle_threads_go(pool, monkeypatch):
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.01)
    StallTimeout("x", 1).waited_for(pool.submit(lambda: None))
    for thread in _threads():
        thread.join(60)
    assert _threads() == []
    assert StallTimeout("x", 1).waited_for(pool.submit(lambda: 5)) == 5


def test_what_work_raises_is_raised_where_it_is_waited_for(pool):
    with pytest.raises(ZeroDivisionError):
        StallTimeout("x", 1).waited_for(pool.submit(lambda: 1 / 0))


def test_too_long_a_wait_is_an_error_that_names_what_for(pool, hand_clock):
    ended = threading.Event()
    stall_timeout = StallTimeout("http://h/a", 5_000, seconds=60)
    stall_timeout.on_stop(ended.set)
    job = pool.submit(lambda: [hand_clock.jumps(61), ended.wait(60)])
    with pytest.raises(DownloadError, match=r"http://h/a: 0 of 5,000 bytes arrived in 61 seconds.*stream_timeout_seconds"):
        stall_timeout.waited_for(job, pool)
    assert job.wait(60)
    with pytest.raises(StoppedError):
        stall_timeout.told(1)


def test_a_thread_that_never_ends_keeps_no_place(pool):
    gate = threading.Event()
    for _ in range(2):
        with pytest.raises(DownloadError):
            StallTimeout("x", 1, seconds=0.01).waited_for(pool.submit(lambda: gate.wait(60)), pool)
    assert StallTimeout("x", 1).waited_for(pool.submit(lambda: 7)) == 7
    gate.set()


def test_what_waits_behind_a_held_up_thread_is_begun_when_that_is_given_up(pool):
    gate = threading.Event()
    held = [pool.submit(lambda: gate.wait(60)) for _ in range(2)]
    behind = [pool.submit(lambda number=number: number) for number in range(3)]
    for job in held:
        pool.leave(job)
    assert [job.wait(60) and job.result() for job in behind] == [0, 1, 2]
    gate.set()


def test_what_waits_behind_work_that_nobody_waits_for_is_begun_in_the_end(pool, hand_clock):
    gate = threading.Event()
    held = [pool.submit(lambda: [hand_clock.jumps(61), gate.wait(60)]), pool.submit(lambda: gate.wait(60))]
    job = pool.submit(lambda: [gate.is_set(), 7])
    assert StallTimeout("x", 1, seconds=60).waited_for(job, pool) == [False, 7]
    gate.set()
    assert all(each.wait(60) for each in held)


def test_the_time_in_the_queue_is_no_silence(pool, hand_clock):
    gate = threading.Event()
    pool.submit(lambda: gate.wait(60))
    pool.submit(lambda: [hand_clock.passes(50), gate.set()])
    job = pool.submit(lambda: [gate.wait(60), hand_clock.passes(50), "done"])
    assert StallTimeout("x", 1, seconds=60).waited_for(job)[-1] == "done"


def test_a_wait_while_bytes_come_is_none(pool, hand_clock):
    stall_timeout = StallTimeout("x", 1 << 20, seconds=60)

    def work():
        for _ in range(6):
            hand_clock.passes(50)
            stall_timeout.told(1 << 16)
        return "all"

    assert stall_timeout.waited_for(pool.submit(work)) == "all"


def test_the_time_in_which_nobody_waits_is_no_silence(pool, hand_clock):
    stall_timeout = StallTimeout("x", 1 << 20, seconds=60)
    for _ in range(3):
        hand_clock.now += 86_400  # as long as a training step may take
        assert stall_timeout.waited_for(pool.submit(lambda: [hand_clock.is_looked_at(), "done"]))[-1] == "done"


def test_the_silence_of_several_waits_counts_together(pool):
    stall_timeout, gate = StallTimeout("x", 1 << 20, seconds=0.3), threading.Event()

    def trickle():
        for _ in range(50):
            stall_timeout.waited_for(pool.submit(lambda: [gate.wait(0.05), stall_timeout.told(1)]))

    with pytest.raises(DownloadError, match="1,048,576 bytes arrived"):
        trickle()


def test_a_long_wait_is_said_in_the_log(pool, hand_clock, caplog):
    gate = threading.Event()
    with caplog.at_level(logging.WARNING), pytest.raises(DownloadError):
        job = pool.submit(lambda: [hand_clock.passes(50), hand_clock.jumps(50), gate.wait(60)])
        StallTimeout("http://h/a", 10, seconds=60).waited_for(job, pool)
    gate.set()
    assert "Waiting for http://h/a: 0 of 10 bytes arrived in 50 seconds" in caplog.text


def test_pauses_do_not_count(pool, hand_clock):
    stall_timeout = StallTimeout("x", 1, seconds=60)

    def work():
        stall_timeout.pauses(100, "the server is busy")
        hand_clock.passes(150)
        return 1

    assert stall_timeout.waited_for(pool.submit(work)) == 1


def test_the_time_of_the_work_around_holds(pool):
    gate = threading.Event()
    with pytest.raises(files.Overdue):
        threads.done_by(
            time.monotonic() + 0.05, lambda: StallTimeout("x", 1).waited_for(pool.submit(lambda: gate.wait(60)), pool)
        )
    gate.set()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(pool):
    StallTimeout("x", 1).waited_for(pool.submit(lambda: None))
    pid = os.fork()
    if not pid:
        os._exit(StallTimeout("x", 1).waited_for(pool.submit(lambda: 7)))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_work_with_low_numbers_runs_first(pool):
    gate, seen = threading.Event(), []
    held = [pool.submit(lambda: gate.wait(60)) for _ in range(2)]
    waiting = [pool.submit(lambda number=number: seen.append(number), number) for number in (2, 0, 1)]
    pool.leave(held[0])  # one thread takes its place
    assert all(job.wait(60) for job in waiting)
    gate.set()
    assert seen == [0, 1, 2]


def test_a_cancelled_job_is_not_run(pool):
    gate, seen = threading.Event(), []
    held = [pool.submit(lambda: gate.wait(60)) for _ in range(2)]
    job = pool.submit(lambda: seen.append("cancelled"))
    assert job.cancel()
    after = pool.submit(lambda: seen.append("after"))
    gate.set()
    assert after.wait(60)
    assert (seen, job.wait(60), [each.wait(60) for each in held]) == (["after"], True, [True, True])


def test_closing_waits_for_running_work_and_drops_the_rest(pool):
    begun, gate, seen = threading.Event(), threading.Event(), []
    pool.submit(lambda: [begun.set(), gate.wait(60), seen.append("ran")])
    assert begun.wait(60)
    pool.submit(lambda: gate.wait(60))
    pool.submit(lambda: seen.append("dropped"))
    opener = threading.Timer(0.05, gate.set)
    opener.start()
    pool.close(None)
    opener.join()
    assert (seen, _threads()) == (["ran"], [])
    assert pool.submit(lambda: 5).wait(60)  # it can be used again


# A window makes calls ahead, in order and within its budget.


@given(
    weights=st.lists(st.integers(0, 5), max_size=12),
    budget=st.integers(1, 8),
    threads=st.integers(1, 3),
    order=st.randoms(use_true_random=False),
)
def test_a_window_gives_each_result_once_and_begins_no_more_than_its_budget(weights, budget, threads, order):
    lock, under, most = threading.Lock(), {}, [0]

    def call(number):
        with lock:
            under[number] = weights[number]
            if len(under) > 1:
                most[0] = max(most[0], sum(under.values()))
        return number

    pool = Daemons("test-window", lambda: threads)
    window = CallWindow(lambda work, _: pool.submit(work), budget)
    keys = list(range(len(weights)))
    for number, weight in enumerate(weights):
        window.add(number, weight, lambda number=number: call(number))
    order.shuffle(keys)
    found = []
    for key in keys:
        found.append(window.take(key))
        with lock:
            under.pop(key)
    pool.close(5)
    assert (found, len(window)) == (keys, 0)
    largest = max(weights, default=0)  # of the first, which is always begun, and of the one that is taken
    assert most[0] <= max(budget, largest) + largest


def test_a_call_that_fails_is_an_error_where_it_is_taken_and_those_behind_it_are_given(pool):
    window = CallWindow(pool.submit, 10)
    for number in range(3):
        window.add(number, 1, lambda number=number: 6 // (number - 1))
    assert window.take(0) == -6
    with pytest.raises(ZeroDivisionError):
        window.take(1)
    assert (window.take(2), window.keys) == (6, [])


def test_the_first_key_is_ready_before_others_only_in_order(pool):
    gate = threading.Event()
    window = CallWindow(pool.submit, 10)
    window.add("slow", 1, lambda: gate.wait(60))
    window.add("quick", 1, lambda: "quick")
    while window.ready(ordered=False) is None:
        window.wait(60, ordered=False)
    assert (window.ready(ordered=False), window.ready(ordered=True)) == ("quick", None)
    gate.set()
    window.wait(60, ordered=True)
    assert window.ready(ordered=True) == "slow"
    window.close()
    assert len(window) == 0
