"""A server that asks for a pause is left alone by all."""

import pickle
import random

from datasets_core.engines.threads import HostPauses, RetryPolicy


class Clock:
    def __init__(self):
        self.time = 1000.0

    def now(self):
        return self.time

    def sleep(self, seconds, stop=None, /):
        self.time += seconds


def test_a_pause_holds_for_its_server_until_it_is_over():
    clock, pauses = Clock(), HostPauses()
    policy = RetryPolicy(5, 60.0, clock, random.Random(0))
    pauses.put_off("a", "30", policy)
    pauses.put_off("a", "10", policy)
    pauses.put_off("a", None, policy)
    assert 30 <= pauses.seconds("a", policy) <= 33
    assert pauses.seconds("b", policy) == 0
    clock.sleep(31)
    assert pauses.seconds("a", policy) == 0


def test_no_pause_is_longer_than_the_longest():
    policy = RetryPolicy(5, 60.0, Clock(), random.Random(0))
    pauses = HostPauses()
    pauses.put_off("a", "86400", policy)
    assert 60 <= pauses.seconds("a", policy) <= 66
    assert (pauses.asked("a", policy), pauses.asked("b", policy)) == (86_400, 0)
    assert pickle.loads(pickle.dumps(pauses)).seconds("a", policy) == 0
