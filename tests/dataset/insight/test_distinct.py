"""Distinct values are counted exactly up to a limit and estimated within some percent beyond it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.insight.statistics import EXACT_LIMIT, Distinct, hashes


@given(st.lists(st.lists(st.text(max_size=3) | st.just("x" * 200), max_size=8), max_size=5))
def test_few_values_are_counted_exactly(lists) -> None:
    seen = Distinct()
    for values in lists:
        seen.add(pa.array(values, pa.string()))

    flat = [value for values in lists for value in values]
    assert seen.is_exact
    assert seen.counts == {value: flat.count(value) for value in set(flat)}


@pytest.mark.parametrize(
    "values",
    [
        pa.array(np.arange(300_000) * 7919),
        pa.array(np.arange(300_000) / 3),
        pa.array([f"user number {i}" for i in range(300_000)]),
        pa.array([f"user number {i}".encode() for i in range(300_000)], pa.large_binary()),
    ],
    ids=["int", "float", "text", "bytes"],
)
def test_many_values_are_estimated(values) -> None:
    seen = Distinct()
    for start in range(0, len(values), 50_000):
        seen.add(values.slice(start, 50_000))
        seen.add(values.slice(start, 50_000))

    assert not seen.is_exact
    assert seen.number == pytest.approx(300_000, rel=0.06)


def test_values_counted_before_the_limit_are_not_lost_behind_it() -> None:
    seen = Distinct()
    seen.add(pa.array(np.arange(EXACT_LIMIT)))
    seen.add(pa.array(np.arange(EXACT_LIMIT, 2 * EXACT_LIMIT)))

    assert seen.number == pytest.approx(2 * EXACT_LIMIT, rel=0.06)


def test_long_texts_that_differ_anywhere_have_different_hashes() -> None:
    base = bytearray(b"a" * 3000)
    texts = []
    for place in range(0, 3000, 7):
        changed = base.copy()
        changed[place] = ord("b")
        texts.append(changed.decode())

    assert len(np.unique(hashes(pa.array(texts)))) == len(texts)


@given(st.lists(st.text(max_size=40), min_size=1))
def test_the_hash_of_a_text_depends_on_the_text_alone(texts) -> None:
    together = hashes(pa.array(texts))

    assert together.tolist() == [hashes(pa.array(["xyz", text]).slice(1))[0] for text in texts]
    assert together.tolist() == hashes(pa.array(texts, pa.large_string())).tolist()
