"""The plan of a merge: the ranks of all rows, whatever runs they are in and however much is held at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.building.write import runs as module
from datasets_core.building.write.runs import EqualWords, Run, merge_plan, order_file, read_plan


def runs_of(folder, listed):
    """Runs with these words, each a pair, and sizes that tell which row is meant."""
    runs = []
    for number, pairs in enumerate(listed):
        lines = np.array([[*pair, pair[0] * 10 + pair[1]] for pair in pairs], np.uint64).reshape(-1, 3).T
        with order_file(str(folder), f"{number}.order") as append:
            append(lines)
        runs.append(Run(f"{number}.arrow", f"{number}.order", len(pairs), 0))
    return runs


pairs = st.tuples(st.integers(0, 40), st.integers(0, 3))


@st.composite
def divided(draw):
    words = sorted(draw(st.sets(pairs, min_size=1, max_size=60)))
    count = draw(st.integers(1, 5))
    owners = [draw(st.integers(0, count - 1)) for _ in words]
    return words, [[word for word, owner in zip(words, owners, strict=True) if owner == run] for run in range(count)]


@settings(max_examples=60, deadline=None)
@given(divided(), st.integers(1, 100), st.data())
def test_a_plan_names_the_run_of_every_rank(tmp_path_factory, words_and_runs, piece_rows, data):
    folder = tmp_path_factory.mktemp("plan")
    words, listed = words_and_runs
    listed = [run for run in listed if run]
    ends = [*sorted(data.draw(st.sets(st.integers(1, len(words) - 1 or 1), max_size=4)) - {len(words)}), len(words)]

    plan = merge_plan(str(folder), "plan", runs_of(folder, listed), ends, piece_rows=piece_rows)

    rows = read_plan(str(folder), plan.name, 0, len(words))
    owner = {word: number for number, run in enumerate(listed) for word in run}
    assert rows["run"].tolist() == [owner[word] for word in words]
    assert rows["bytes"].tolist() == [high * 10 + low for high, low in words]
    starts = [0, *ends[:-1]]
    assert plan.starts == tuple(
        tuple(sum(owner[word] == number for word in words[:start]) for number in range(len(listed))) for start in starts
    )


def test_no_more_rows_are_held_than_twice_the_bound(tmp_path, monkeypatch):
    words = [(number, 0) for number in range(4000)]
    held = []

    def ordered(found):
        held.append(found.shape[1])
        return np.argsort(found[0], kind="stable")

    monkeypatch.setattr(module, "sorted_order", ordered)
    merge_plan(str(tmp_path), "plan", runs_of(tmp_path, [words[k::7] for k in range(7)]), [4000], piece_rows=100)

    assert sum(held) == 4000
    assert max(held) <= 200


def test_equal_words_are_told(tmp_path):
    with pytest.raises(EqualWords):
        merge_plan(str(tmp_path), "plan", runs_of(tmp_path, [[(1, 1), (2, 1)], [(2, 1)]]), [3])


def test_a_row_of_any_size_has_a_place(tmp_path):
    with order_file(str(tmp_path), "0.order") as append:
        append(np.array([[1], [0], [1 << 40]], np.uint64))

    merge_plan(str(tmp_path), "plan", [Run("0.arrow", "0.order", 1, 1 << 40)], [1])

    assert read_plan(str(tmp_path), "plan", 0, 1)["bytes"].tolist() == [(1 << 32) - 1]
