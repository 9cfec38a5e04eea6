"""The order of files over epochs."""

import sys
import threading

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.slim.threads import WorkUnits


def test_without_a_seed_files_come_in_their_order_in_each_epoch():
    units = WorkUnits(["a", "b", "c"], num_epochs=2)
    assert [units.path(unit) for unit in range(len(units))] == ["a", "b", "c", "a", "b", "c"]


def test_with_a_seed_each_epoch_has_all_files_in_another_order():
    files = [str(number) for number in range(20)]
    units = WorkUnits(files, num_epochs=5, seed=3)
    epochs = [[units.path(20 * epoch + place) for place in range(20)] for epoch in range(5)]
    assert all(sorted(epoch) == sorted(files) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == 5
    again = WorkUnits(files, seed=3)
    assert [again.path(unit) for unit in reversed(range(100))][::-1] == [path for epoch in epochs for path in epoch]


def test_threads_may_be_at_several_epochs_at_once():
    units, wrong = WorkUnits(["a", "b", "c"], seed=1), []
    expected = [units.place(unit) for unit in range(900)]

    def look():
        try:
            wrong.extend(unit for unit in range(900) if units.place(unit) != expected[unit])
        except Exception as error:
            wrong.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=look) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_without_a_number_of_epochs_there_is_no_end():
    assert WorkUnits(["a"]).path(10**9) == "a"


@pytest.mark.parametrize("num_epochs", [0, -1, 1.5, "1", True])
def test_epochs_are_counted_from_1(num_epochs):
    with pytest.raises(ConfigurationError, match="num_epochs"):
        WorkUnits(["a"], num_epochs)
