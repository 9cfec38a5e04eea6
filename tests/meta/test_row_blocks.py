"""How rows lie in blocks: cut, stored and read again."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, RankError, RowIdError
from datasets_core.meta.row_blocks import RowBlocks, even_part, even_splits, parse_row_id, row_id, shard_number
from datasets_core.meta.split_info import SplitDict, shard_file_name
from datasets_core.meta.splits import ReadInstruction, Split
from datasets_core.store.pieces import RowRange, row_ranges

counts = st.lists(st.integers(0, 9), max_size=12)


@given(counts, st.integers(0, 60), st.integers(0, 60))
def test_a_cut_has_the_rows_of_its_run(rows: list[int], start: int, length: int) -> None:
    blocks = RowBlocks.of(rows, [10 * each for each in rows], files=np.arange(len(rows)))
    run = range(min(start, blocks.num_rows), min(start + length, blocks.num_rows))
    cut = blocks.cut([run])
    owners = np.repeat(np.arange(len(rows)), rows)[run.start : run.stop]
    assert np.repeat(cut.files, cut.rows).tolist() == owners.tolist()
    assert (cut.sizes == 10 * cut.rows).all()
    assert (cut.rows > 0).all()


@given(counts)
def test_blocks_come_back_from_json(rows: list[int]) -> None:
    blocks = RowBlocks.of(rows, files=np.arange(len(rows)), is_indexed=False)
    again = RowBlocks.from_json(json.loads(json.dumps(blocks.to_json())))
    assert again.rows.tolist() == [each for each in rows if each]
    assert again.files.tolist() == blocks.files.tolist() and again.sizes.tolist() == blocks.sizes.tolist()
    assert again.is_indexed is False and again.num_files == blocks.num_files


@given(st.lists(counts, max_size=4))
def test_joined_blocks_count_files_on(parts: list[list[int]]) -> None:
    blocks = [RowBlocks.of(rows, files=np.arange(len(rows)), file_count=len(rows)) for rows in parts]
    joined = RowBlocks.joined(blocks)
    flat = [each for rows in parts for each in rows]
    assert joined.num_files == len(flat) and joined.is_indexed
    assert joined.rows.tolist() == [each for each in flat if each]
    assert joined.files.tolist() == [number for number, each in enumerate(flat) if each]


def test_a_hundred_thousand_equal_blocks_are_few_bytes() -> None:
    blocks = RowBlocks.of(np.full(100_000, 1000), np.full(100_000, 5), np.repeat(np.arange(100), 1000))
    assert len(json.dumps(blocks.to_json())) < 2000


def test_runs_follow_one_another() -> None:
    blocks = RowBlocks.of([4, 4, 2], files=[0, 0, 1])
    cut = blocks.cut([range(8, 10), range(0), range(2, 5)])
    assert cut.rows.tolist() == [2, 2, 1] and cut.files.tolist() == [1, 0, 0]


@pytest.mark.parametrize("stored", [{}, {"rows": 3}, {"rows": [[0, 1]], "sizes": [[0, 1]], "files": [[0, 1]], "is_indexed": 1}])
def test_what_is_no_row_blocks_is_told(stored: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="invalid row blocks"):
        RowBlocks.from_json(stored)


# even splits

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_splits.json").read_text(encoding="utf-8"))
CASES = [case for case in GOLDEN["even_split_cases"] if case.get("n", 0) > 0]
EMPTY = [case for case in GOLDEN["even_split_cases"] if case.get("n", 1) < 1]
PROCESSES = [case for case in GOLDEN["even_split_cases"] if "expected_one" in case]

counts_even_splits = st.integers(1, 12)
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
    with pytest.raises(ConfigurationError, match=r"Give a whole number, 1 or more\."):
        even_splits("train", n)


@given(totals, counts_even_splits)
def test_even_splits_are_disjoint_and_complete_and_differ_by_a_row_at_most(total: int, n: int) -> None:
    parts = [rows(part, total) for part in even_splits("train", n)]
    sizes = [len(part) for part in parts]
    assert [row for part in parts for row in part] == list(range(total))
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(totals, counts_even_splits)
def test_even_splits_without_remainder_are_of_one_size(total: int, n: int) -> None:
    parts = [rows(part, total) for part in even_splits("train", n, drop_remainder=True)]
    assert [row for part in parts for row in part] == list(range(total - total % n))
    assert {len(part) for part in parts} == {total // n}


@given(totals, counts_even_splits, counts_even_splits)
def test_parts_of_a_part_divide_it(total: int, n: int, m: int) -> None:
    for part in even_splits("train[10%:]", n):
        assert [row for inner in even_splits(part, m) for row in rows(inner, total)] == rows(part, total)


@given(totals, totals, counts_even_splits)
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
    with pytest.raises(RankError, match=r"is out of range for 3 processes\. Pass a number from 0 to 2\.") as caught:
        even_part("train", rank, 3)
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, ValueError)


@given(counts_even_splits, st.booleans())
def test_a_part_is_one_of_the_even_splits(n: int, drop: bool) -> None:
    assert [even_part("train", rank, n, drop) for rank in range(n)] == even_splits("train", n, drop)


# row ids

NAME = "imagenet2012-train.tfrecord-01023-of-01024"


def test_an_id_is_written_as_tfds_writes_it() -> None:
    assert row_id(NAME, 32) == f"{NAME}__32"


@given(st.text(min_size=1), st.integers(0, 10**18))
def test_an_id_is_read_as_it_was_written(name: str, index: int) -> None:
    assert parse_row_id(row_id(name, index)) == (name, index)


def test_an_id_may_be_bytes() -> None:
    assert parse_row_id(f"é-{NAME}__0".encode()) == (f"é-{NAME}", 0)


@pytest.mark.parametrize("id", ["", "a", "__3", "a__", "a__-1", "a__03", "a__1.5", "a_3", "a__٣", b"\xff", 3, None], ids=repr)
def test_what_is_no_id_is_refused_by_its_text(id: Any) -> None:
    with pytest.raises(RowIdError) as caught:
        parse_row_id(id)
    assert repr(id) in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, KeyError)


@given(st.integers(1, 200_000), st.data())
def test_the_number_of_a_shard_stands_in_its_name(total: int, data: st.DataObject) -> None:
    shard = data.draw(st.integers(0, total - 1))
    found = shard_number(
        shard_file_name("a-b", "train", shard, total), total, lambda index: shard_file_name("a-b", "train", index, total)
    )
    assert found == shard


@pytest.mark.parametrize(
    "name",
    ["ds-test-00001-of-00004.arrow", "ds-train-00004-of-00004.arrow", "ds-train-1-of-4.arrow", "x", "ds-train-00001-of-00004"],
)
def test_another_name_is_no_shard(name: str) -> None:
    assert shard_number(name, 4, lambda index: shard_file_name("ds", "train", index, 4)) is None


@pytest.mark.parametrize("name", ["ds-train-00001-of-00004", "ds-train.tfrecord-00001-of-00004"])
def test_the_number_stands_at_the_end_or_before_the_extension(name: str) -> None:
    assert shard_number(name, 4, lambda index: name.replace("00001", f"{index:05d}")) == 1
