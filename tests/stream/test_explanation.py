"""How an explanation prints."""

from __future__ import annotations

from datasets_core.stream.costs import Explanation, RankCost, ReadCost, sized


def test_what_is_not_known_is_said() -> None:
    text = str(Explanation("A stream"))
    assert "only reading tells" in text and "not known" in text


def test_sizes_have_units() -> None:
    assert [sized(size) for size in (0, 1500, 2e6, 9.96e11, 3e15)] == ["0 B", "1.5 kB", "2.0 MB", "996 GB", "3000 TB"]


def test_seconds_have_units() -> None:
    for seconds, shown in [(0.0001, "1 ms"), (0.25, "250 ms"), (3.21, "3.2 s"), (600, "10 min"), (36000, "10.0 h")]:
        assert f"about {shown}" in str(Explanation("A stream", all=ReadCost(1, 1, 1, 1, 1, seconds)))


def test_ranks_are_shown_as_far_as_they_fit() -> None:
    ranks = tuple(RankCost(rank, ReadCost(rows=rank)) for rank in range(9))
    text = str(Explanation("A stream", ranks=ranks, imbalance=0.5, large_blocks=(), advice=("Do this.",), window_bytes=3))
    assert "9 ranks in all" in text and "50% more" in text and "Do this." in text
