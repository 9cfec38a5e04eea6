"""`benchmark`: counts, rates, and what cannot be measured."""

from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.errors import ConfigurationError


def test_elements_are_counted_with_the_first_apart(capsys: Any) -> None:
    found = tfds.benchmark([1, 2, 3], batch_size=4)
    assert {name: row["num_examples"] for name, row in found.table.items()} == {"first+lasts": 12, "first": 4, "lasts": 8}
    assert "First excluded" in capsys.readouterr().out
    assert "First excluded" in found._repr_html_()


def test_any_iterable_is_measured_as_far_as_asked() -> None:
    endless = iter(int, 1)
    assert tfds.benchmark(endless, num_iter=5).table["first+lasts"]["num_examples"] == 5


def test_the_figures_come_as_a_frame_too() -> None:
    pytest.importorskip("pandas")
    found = tfds.benchmark("abc")
    assert found.stats["num_examples"].to_dict() == {"first+lasts": 3, "first": 1, "lasts": 2}
    assert list(found.raw_stats.index) == ["start_time", "first_batch_time", "end_time", "num_iter"]


@pytest.mark.parametrize("options", [{"ds": []}, {"ds": [1], "batch_size": 0}, {"ds": [1], "num_iter": 0}], ids=str)
def test_nothing_cannot_be_measured(options: Any) -> None:
    with pytest.raises(ConfigurationError):
        tfds.benchmark(**options)
