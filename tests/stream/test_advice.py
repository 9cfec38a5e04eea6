"""What is advised, and when."""

from __future__ import annotations

from dataclasses import replace

from datasets_core.stream.costs import Explanation, LargeBlock, RankCost, ReadCost
from datasets_core.stream.explain import Facts, advice_of
from datasets_core.stream.steps import Shuffle

FAR = Explanation("A stream", is_local=False, memory_budget=256 << 20, num_blocks=10)
FACTS = Facts(None, 1 << 20, 1 << 20)


def said(found: Explanation = FAR, facts: Facts = FACTS) -> str:
    return " ".join(advice_of(found, facts))


def test_where_all_is_well_nothing_is_said() -> None:
    assert said() == ""


def test_large_row_groups_are_told_with_what_to_do() -> None:
    large = replace(FAR, large_blocks=(LargeBlock("a.parquet", 0, 10, 900 << 20),))
    assert "944 MB do not fit into the 268 MB" in said(large, replace(FACTS, largest=900 << 20))
    shuffled = replace(FACTS, shuffle=Shuffle(1, 1000), largest=900 << 20)
    assert f"window_bytes={16 * (900 << 20)}" in said(FAR, shuffled)
    assert "fetched more than once" in said(replace(FAR, window_bytes=300 << 20))


def test_a_first_batch_that_takes_long_is_told() -> None:
    late = replace(FAR, first=ReadCost(num_bytes=200 << 20, seconds=4.2))
    assert "210 MB, about 4.2 s" in said(late) and said(replace(late, is_local=True)) == ""


def test_many_small_row_groups_are_told() -> None:
    assert "5,000 requests" in said(replace(FAR, all=ReadCost(requests=5000)), Facts(None, 1000, 1000))


def test_ranks_that_read_too_much_are_told() -> None:
    ranks = tuple(RankCost(rank, ReadCost(num_bytes=size)) for rank, size in enumerate([300, 100]))
    assert "50% more" in said(replace(FAR, ranks=ranks, imbalance=0.5))
    assert "All ranks together" in said(replace(FAR, ranks=ranks, all=ReadCost(num_bytes=100)))


def test_few_files_that_are_read_from_their_beginning_are_told() -> None:
    assert "3 files for 48 lanes of 2 ranks" in said(FAR, Facts(None, 0, 0, num_parts=3, world_size=2))
    assert "1,000 rows around them" in said(FAR, Facts(Shuffle(1, 1000), 0, 0, num_parts=3))
