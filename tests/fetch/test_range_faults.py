"""Whatever goes wrong wherever: what is read of a remote file are the bytes of one version, or there is one clear error."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import DatasetsCoreError
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import StreamingDownloadManager

SIZE = 300_000
BODY = random.Random(1).randbytes(SIZE)
OTHER = random.Random(2).randbytes(SIZE)
LONGER = random.Random(3).randbytes(SIZE + 1)
TIMED = {"stall", "silent", "slow-head", "trickle"}  # which take a while

PLACES = st.one_of(st.integers(0, SIZE), st.integers(0, 100), st.integers(SIZE - 100, SIZE))
RANGES = st.lists(st.tuples(PLACES, PLACES).map(sorted).map(tuple), min_size=1, max_size=4)
QUICK = st.sampled_from(
    ["drop", "short", "change", "status", "missing", "no-range", "redirect", "wrong-part", "garbage", "more", "encoded"]
)


@dataclass
class Case:
    """A server, and what goes wrong with it."""

    tags: str = "strong"
    dates: bool = True
    ranged: bool = True
    has_length: bool = True
    knows_if_match: bool = True
    faults: list[tuple[str, int, int, int]] = field(default_factory=list)  # kind, after, skip, times


def cases(kinds):
    faults = st.lists(st.tuples(kinds, PLACES, st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=3)
    flags = [st.booleans() for _ in range(2)]
    return st.builds(
        Case,
        st.sampled_from(["strong", "weak", ""]),
        flags[0],
        st.sampled_from([True] * 4 + [False]),
        flags[1],
        flags[0],
        faults,
    )


def _serve(server, case):
    server.reset()
    server.tags, server.dates, server.ranged = case.tags, case.dates, case.ranged
    is_untold = any(kind in ("short", "more", "slow-head") for kind, *_ in case.faults)  # of a body without a length
    server.has_length, server.knows_if_match = case.has_length or is_untold, case.knows_if_match
    url = server.put("a.bin", BODY)
    there = server.put("there.bin", BODY)
    other = OTHER if case.tags or case.dates else LONGER  # nothing else would tell
    for kind, after, skip, times in case.faults:
        server.fail("a.bin", kind, after=after, skip=skip, times=times, to=there, content=other, pause=0.02)
    return url, (BODY, other)


def _remote(url):
    return RemoteFile(url, StreamingDownloadManager()._access)


LIMITS = {"max_retry_wait_seconds": 0, "read_timeout_seconds": 0.15, "stream_timeout_seconds": 0.4}
PROPERTY = settings(suppress_health_check=list(HealthCheck))


def _check(read, versions, calls):
    """Each call gives the bytes of the versions that all calls before may have been of."""
    possible = list(versions)
    for call in calls:
        try:
            found = read(call)
        except DatasetsCoreError as error:
            assert "a.bin" in str(error) or "there.bin" in str(error), error
            break
        possible = [body for body in possible if _wanted(body, call) == found]
        assert possible, (call, [len(part) for part in found])


def _wanted(body, call):
    if isinstance(call, int):
        return [body[-call:]] if call else [b""]
    return [body[start:stop] for start, stop in call]


@pytest.mark.parametrize("kinds", [pytest.param(QUICK, id="quick"), pytest.param(st.sampled_from(sorted(TIMED)), id="timed")])
def test_ranges_are_of_one_version_whatever_goes_wrong(range_server, tmp_path, kinds):
    count = [0]

    @settings(PROPERTY, max_examples=40 if kinds is QUICK else 3)
    @given(cases(kinds), st.lists(st.one_of(RANGES, st.integers(0, SIZE + 10)), min_size=1, max_size=4))
    def check(case, calls):
        count[0] += 1
        url, versions = _serve(range_server, case)
        with config.using(cache_dir=tmp_path / str(count[0]), **LIMITS):
            file = _remote(url).ranges()

            def read(call):
                return [bytes(file.tail(call))] if isinstance(call, int) else [bytes(part) for part in file.read(call)]

            _check(read, versions, calls)
            file.close()

    check()


@pytest.mark.parametrize("kinds", [pytest.param(QUICK, id="quick"), pytest.param(st.sampled_from(sorted(TIMED)), id="timed")])
def test_what_is_opened_is_of_one_version_whatever_goes_wrong(range_server, tmp_path, kinds):
    count = [0]

    @settings(PROPERTY, max_examples=40 if kinds is QUICK else 3)
    @given(cases(kinds), st.lists(st.tuples(PLACES, PLACES).map(sorted), min_size=1, max_size=4), st.booleans())
    def check(case, parts, is_in_order):
        count[0] += 1
        url, versions = _serve(range_server, case)
        with config.using(cache_dir=tmp_path / str(count[0]), **LIMITS), _remote(url).open("rb") as file:

            def read(call):
                (start, stop), whole = call[0], call == [(0, SIZE)]
                file.seek(start)
                return [file.read(-1 if whole and is_in_order else stop - start)]

            calls = (
                [[(0, SIZE)]] if is_in_order and case.tags + str(case.dates) != "False" else [[tuple(part)] for part in parts]
            )
            _check(read, versions, calls)

    check()
