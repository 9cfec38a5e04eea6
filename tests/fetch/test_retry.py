"""Pauses between tries."""

from __future__ import annotations

import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.engines.threads import RetryPolicy, SystemClock, retry_after_seconds


def test_pauses_grow_with_chance_in_them_up_to_the_cap(clock):
    policy = RetryPolicy(9, 10.0, clock, random.Random(3))
    for failures in range(1, 9):
        policy.wait(policy.seconds(failures))
    growing = [pause / (0.5 * 2**number) for number, pause in enumerate(clock.pauses)]
    assert all(0.5 <= factor <= 1.5 for factor in growing[:3])
    assert len(set(growing)) == 8
    assert max(clock.pauses) == 10.0


@pytest.mark.parametrize("header", [None, "", "soon", "-1", "1.5.2", "²"])
def test_a_header_that_says_nothing_is_no_wish(header):
    assert retry_after_seconds(header, 0.0) is None


@given(st.text())
def test_any_header_is_answered(header):
    assert (retry_after_seconds(header, 0.0) or 0.0) >= 0.0


def test_a_pause_ends_when_the_work_is_called_off():
    stop = threading.Event()
    stop.set()
    SystemClock().sleep(3600.0, stop)
    assert SystemClock().now() > 0
