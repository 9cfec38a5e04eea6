"""Parts of a split whose rows are made while they are read: see `test_live.py` for what they make."""

from types import SimpleNamespace
from typing import Any

from datasets_core.building.live_jobs import LiveJob, LivePart


def splits(**more: Any) -> Any:
    return SimpleNamespace(builder=SimpleNamespace(is_of_old_datasets=False), why_one_piece=lambda split: None, **more)


def test_a_part_alone_stands_alone() -> None:
    assert LiveJob(splits(), "train", 0, 1).is_independent
    assert LiveJob(splits(), "train", 1, 3).is_independent
    old = splits()
    old.builder.is_of_old_datasets = True
    assert not LiveJob(old, "train", 1, 3).is_independent


def test_the_whole_is_one_part() -> None:
    whole = LiveJob(splits(), "train", 2, 3, start=5, stop=9).whole
    assert (whole.index, whole.count, whole.start, whole.stop) == (0, 1, 5, 9)


def test_a_part_asks_for_time_whenever_it_goes_on() -> None:
    asked: list[int] = []
    part = LivePart("train", {}, 0, 1, 0, None, lambda: asked.append(1))  # type: ignore[func-returns-value]
    assert part.deadline is part.deadline is None
    assert len(asked) == 2
    assert part.is_live
