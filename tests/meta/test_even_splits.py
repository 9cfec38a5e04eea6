import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, RankError
from datasets_core.meta.row_blocks import even_part, even_splits
from datasets_core.meta.split_info import SplitDict
from datasets_core.meta.splits import ReadInstruction, RowRange, Split, row_ranges

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_splits.json").read_text(encoding="utf-8"))
CASES = [case for case in GOLDEN["even_split_cases"] if case.get("n", 0) > 0]
EMPTY = [case for case in GOLDEN["even_split_cases"] if case.get("n", 1) < 1]
PROCESSES = [case for case in GOLDEN["even_split_cases"] if "expected_one" in case]

counts = st.integers(1, 12)
totals = st.integers(0, 60)


def name_of(case: dict[str, Any]) -> str:
    return f"{case['split']}-{case.get('n', case.get('process_count'))}-{case['drop_remainder']}"


def found(part: ReadInstruction, lengths: dict[str, list[int]]) -> dict[str, Any]:
    """A part in the words of the golden table."""
    ranges = row_ranges(part, lengths)
    absolute = part.to_absolute(lengths)
    return {
        "absolute": [list(each) for each in absolute],
        "file_instructions": [[split, shard, start, stop - start] for split, shard, start, stop in ranges],
        "selected": [list(each) for each in absolute if each.from_ < each.to],
        "num_examples": sum(each.stop - each.start for each in ranges),
    }


def rows(part: ReadInstruction, total: int) -> list[int]:
    return [row for _, first, last in part.to_absolute({"train": total}) for row in range(first, last)]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_golden_splits_are_divided_as_golden(case: dict[str, Any]) -> None:
    parts = even_splits(case["split"], case["n"], drop_remainder=case["drop_remainder"])
    assert [found(part, case["shard_lengths"]) for part in parts] == case["expected"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_what_is_known_of_golden_parts_counts_their_rows(case: dict[str, Any]) -> None:
    forms = [
        {"name": name, "num_examples": sum(lengths), "shard_lengths": lengths, "dataset_name": "ds"}
        for name, lengths in case["shard_lengths"].items()
    ]
    splits = SplitDict.from_split_dict(forms)
    parts = splits[even_splits(case["split"], case["n"], case["drop_remainder"])]
    assert [part.num_examples for part in parts] == [wanted["num_examples"] for wanted in case["expected"]]
    told = [[(each.skip, each.num_examples) for each in part.file_instructions] for part in parts]
    assert told == [[(skip, take) for _, _, skip, take in wanted["file_instructions"]] for wanted in case["expected"]]


@pytest.mark.parametrize("case", PROCESSES, ids=name_of)
def test_golden_processes_get_the_golden_part(case: dict[str, Any]) -> None:
    arguments = case["split"], case["process_index"], case["process_count"], case["drop_remainder"]
    if "error" in case["expected_one"]:
        with pytest.raises(IndexError):
            even_part(*arguments)
    else:
        assert found(even_part(*arguments), case["shard_lengths"]) == case["expected_one"]


@pytest.mark.parametrize("n", [*(case["n"] for case in EMPTY), 0, 2.0, "2", None, True], ids=repr)
def test_a_number_of_parts_that_means_nothing_is_refused(n: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"Give a whole number from 1\."):
        even_splits("train", n)


@given(totals, counts)
def test_even_splits_are_disjoint_and_complete_and_differ_by_a_row_at_most(total: int, n: int) -> None:
    parts = [rows(part, total) for part in even_splits("train", n)]
    sizes = [len(part) for part in parts]
    assert [row for part in parts for row in part] == list(range(total))
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(totals, counts)
def test_even_splits_without_remainder_are_of_one_size(total: int, n: int) -> None:
    parts = [rows(part, total) for part in even_splits("train", n, drop_remainder=True)]
    assert [row for part in parts for row in part] == list(range(total - total % n))
    assert {len(part) for part in parts} == {total // n}


@given(totals, counts, counts)
def test_parts_of_a_part_divide_it(total: int, n: int, m: int) -> None:
    for part in even_splits("train[10%:]", n):
        assert [row for inner in even_splits(part, m) for row in rows(inner, total)] == rows(part, total)


@given(totals, totals, counts)
def test_each_part_of_a_sum_is_divided_by_itself(train: int, test: int, n: int) -> None:
    lengths = {"train": [train], "test": [test]}
    for whole, one, other in zip(even_splits("train+test", n), even_splits("train", n), even_splits("test", n), strict=True):
        assert row_ranges(whole, lengths) == row_ranges(one + other, lengths)


def test_the_union_is_divided_split_by_split() -> None:
    lengths = {"train": [4], "test": [2]}
    assert row_ranges(even_splits("all", 2)[1], lengths) == [RowRange("train", 0, 2, 4), RowRange("test", 0, 1, 2)]


@pytest.mark.parametrize(
    "split",
    [
        "train",
        Split.TRAIN,
        ReadInstruction("train"),
        "train[:50%]+test",
        Split.TRAIN + "test",
        even_splits("train", 2)[0],
        "all",
    ],
    ids=str,
)
@pytest.mark.parametrize("drop", [False, True])
def test_a_part_is_a_value(split: Any, drop: bool) -> None:
    parts = even_splits(split, 3, drop)
    for part in parts:
        assert pickle.loads(pickle.dumps(part)) == part
        assert ReadInstruction.from_spec(part.to_spec()) == part
        assert ReadInstruction.from_spec(str(part)) == part
    assert len(set(parts)) == 3
    assert even_splits(split, 3, drop) == parts
    assert even_splits(split, 3, not drop)[0] != parts[0]


def test_a_part_is_written_as_the_call_that_made_it() -> None:
    assert (str(even_splits("train[5:]+test", 3)[1]), str(even_splits("train", 3, True)[2])) == (
        "train[5:](even3[1])+test(even3[1])",
        "train(even3_dropremainder[2])",
    )


def test_one_part_is_the_split_itself() -> None:
    assert even_splits("train[:5]", 1, drop_remainder=True) == [ReadInstruction("train", to=5)]


def test_parts_add_up() -> None:
    parts = even_splits("train", 3)
    spec = "train(even3[1])+test+train(even3[0])+dev+train(even3[2])"
    assert (parts[1] + "test" + parts[0] + Split("dev") + parts[2]).to_spec() == spec
    assert ("test" + parts[0]).to_spec() == (Split.TEST + parts[0]).to_spec() == "test+train(even3[0])"


def test_parts_of_several_splits_keep_their_shape() -> None:
    train, test = even_splits("train", 2), even_splits("test", 2)
    assert even_splits(["train", "test"], 2) == [[train[0], test[0]], [train[1], test[1]]]
    assert even_splits({"fit": ("train", "test")}, 2)[1] == {"fit": (train[1], test[1])}


@pytest.mark.parametrize("split", [None, 3])
def test_what_is_no_split_cannot_be_divided(split: Any) -> None:
    with pytest.raises(ConfigurationError, match="not a valid split expression"):
        even_splits(split, 2)


@pytest.mark.parametrize("rank", [-1, 3, 1.0, "0", None, True], ids=repr)
def test_a_part_that_does_not_exist_is_refused(rank: Any) -> None:
    with pytest.raises(RankError, match=r"is out of range for 3 processes\. Give 0 to 2\.") as caught:
        even_part("train", rank, 3)
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, ValueError)


@given(counts, st.booleans())
def test_a_part_is_one_of_the_even_splits(n: int, drop: bool) -> None:
    assert [even_part("train", rank, n, drop) for rank in range(n)] == even_splits("train", n, drop)
