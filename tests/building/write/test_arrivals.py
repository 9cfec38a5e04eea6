"""Keys of jobs that are done: compared when they come, with work in proportion to the rows."""

import pytest

from datasets_core.building.write import jobs as module
from datasets_core.building.write.jobs import Arrivals, ShardResult
from datasets_core.building.write.row_keys import Clash, KeyLog


def results_of(folder, listed):
    found = {}
    for index, keys in enumerate(listed):
        log = KeyLog(str(folder), f"part-{index}", keep=True)
        log.add(keys)
        found[index] = ShardResult(f"part-{index}", (), None, log.finish())
    return found


def test_a_key_among_the_first_ones_is_found_at_once(tmp_path):
    results = results_of(tmp_path, [["a", "b"], ["c", "a"]])

    with pytest.raises(Clash) as caught:
        Arrivals(str(tmp_path), is_thorough=False)(results, 1)
    assert (caught.value.first, caught.value.second) == ((0, 0), (1, 1))


LAST = [[f"{part}-{row}" for row in range(200)] + ["shared"] for part in range(2)]


def test_a_later_key_is_found_where_all_are_compared(tmp_path):
    results = results_of(tmp_path, LAST)

    Arrivals(str(tmp_path), is_thorough=False)(results, 1)
    with pytest.raises(Clash) as caught:
        Arrivals(str(tmp_path), is_thorough=True)(results, 1)
    assert (caught.value.first, caught.value.second) == ((0, 200), (1, 200))


def test_all_keys_are_compared_again_when_half_as_many_more_have_come(tmp_path, monkeypatch):
    compared = []
    monkeypatch.setattr(module, "_THOROUGH_ROWS", 100)
    monkeypatch.setattr(module, "compare", lambda records, folder: compared.append(sum(record.rows for record in records)))
    results = results_of(tmp_path, [[f"{part}-{row}" for row in range(100)] for part in range(12)])
    arrived = Arrivals(str(tmp_path), is_thorough=True)

    for latest in range(12):
        arrived({index: results[index] for index in range(latest + 1)}, latest)

    assert compared == [200, 300, 500, 800, 1200]
