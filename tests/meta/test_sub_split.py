import json
import pickle
import timeit
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import RowIdError, RowIndexError
from datasets_core.meta.row_blocks import even_splits
from datasets_core.meta.split_info import FileInstruction, SplitDict, SplitInfo, SubSplitInfo
from datasets_core.meta.splits import ReadInstruction

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_splits.json").read_text(encoding="utf-8"))
GOOD = [
    (case["spec"] if "spec" in case else case["args"], case["shard_lengths"], case.get("ours", case["expected"]))
    for case in GOLDEN["split_cases"] + GOLDEN["read_instruction_cases"]
    if "absolute" in case.get("ours", case["expected"])
]
SEED = {case["what"]: case for case in GOLDEN["seed_cases"]}

lengths = st.lists(st.integers(0, 5), min_size=1, max_size=5)
specs = st.sampled_from(
    ["train", "train[2:7]", "train[50%:]+test", "test+train[:30%]", "all", "all[3:-2]", "train[:1]+train[:1]", "train[1shard]"]
)


def splits_of(shard_lengths: dict[str, list[int]], dataset: str = "ds") -> SplitDict:
    return SplitDict.from_split_dict([SplitInfo(name, 9, sum(each), each) for name, each in shard_lengths.items()], dataset)


def imagenet() -> SplitDict:
    """The split of the specification: 1,281,167 rows in 1,024 files of their names."""
    case = SEED["train[44%:45%] file_instructions"]
    total, count = case["num_examples"], case["num_shards"]
    borders = [round(total * shard / count) for shard in range(count + 1)]
    names = [f"imagenet2012-train.tfrecord-{shard:05d}-of-{count:05d}" for shard in range(count)]
    info = SplitInfo("train", None, total, [stop - start for start, stop in pairwise(borders)])
    info.shard_names = names
    return SplitDict.from_split_dict([info], "imagenet2012")


@pytest.mark.parametrize(("split", "shard_lengths", "wanted"), GOOD, ids=lambda value: str(value)[:40])
def test_golden_slices_read_the_golden_files(split: Any, shard_lengths: dict[str, list[int]], wanted: dict[str, Any]) -> None:
    key = split if isinstance(split, str) else ReadInstruction(*split)
    splits = splits_of(shard_lengths)
    if isinstance(key, str) and key in splits:
        found: Any = splits[key].file_instructions
        assert splits[key].num_examples == wanted["absolute"][0][2]
    else:
        found = splits[key].file_instructions
        assert splits[key].num_examples == sum(last - first for _, first, last in wanted["absolute"])
    names = {
        (name, shard): splits[name].file_name(shard) for name in shard_lengths for shard in range(len(shard_lengths[name]))
    }
    assert found == [
        FileInstruction(names[name, shard], skip, take, examples_in_shard=shard_lengths[name][shard])
        for name, shard, skip, take in wanted["file_instructions"]
    ]
    for each, (_, _, skip, take) in zip(found, wanted["file_instructions"], strict=True):
        assert each.take in (-1, take)
        assert (each.take == -1) == (skip + take == each.examples_in_shard)


def test_the_slice_of_the_specification_reads_the_printed_files() -> None:
    case = SEED["train[44%:45%] file_instructions"]
    found = imagenet()["train[44%:45%]"].file_instructions
    assert [each.take for each in found] == case["take_as_printed_in_seed"]
    shards = [[int(each.filename.split("-")[2]), each.skip, each.num_examples] for each in found]
    assert shards == case["expected_shard_skip_numexamples"]
    assert (found[0].filename, found[0].examples_in_shard) == (case["filename_of_first"], 1251)


@pytest.mark.parametrize("what", [what for what, case in SEED.items() if "expected_ids" in case])
def test_slices_of_the_specification_begin_where_they_are_printed(what: str) -> None:
    found = imagenet()[what.partition(",")[0]]
    first = SEED[what]["expected_ids"][0]
    assert imagenet().locate(found.row_id(0)) == ("train", first)


@given(lengths, lengths, specs)
def test_an_id_names_the_row_of_the_slice(train: list[int], test: list[int], spec: str) -> None:
    splits = splits_of({"train": train, "test": test})
    found = SubSplitInfo(splits[spec].file_instructions)
    rows = [
        (name, row) for name, first, last in ReadInstruction.from_spec(spec).to_absolute(splits) for row in range(first, last)
    ]
    ids = [found.row_id(row) for row in range(found.num_examples)]
    assert [splits.locate(each) for each in ids] == rows
    assert [found.row_id(row - len(ids)) for row in range(len(ids))] == ids
    assert [found.locate(each) for each in ids] == [rows.index(row) for row in rows]


@given(lengths, st.integers(1, 5), st.booleans())
def test_parts_of_a_split_share_no_id(train: list[int], n: int, drop: bool) -> None:
    splits = splits_of({"train": train})
    ids = [part.row_id(row) for part in splits[even_splits("train", n, drop)] for row in range(part.num_examples)]
    assert ids == [splits["train"].row_id(row) for row in range(len(ids))]


def test_a_row_outside_the_slice_is_refused() -> None:
    found = splits_of({"train": [4, 4]})["train[2:5]"]
    for index in (3, -4):
        with pytest.raises(RowIndexError):
            found.row_id(index)


@pytest.mark.parametrize("id", ["ds-train-00000-of-00002.arrow__1", "ds-train-00001-of-00002.arrow__1", "other__0"])
def test_an_id_outside_the_slice_is_refused_by_its_text(id: str) -> None:
    with pytest.raises(RowIdError, match=rf"'{id}' is the id of no row of 'ds': the slice does not hold it\."):
        splits_of({"train": [4, 4]})["train[2:5]"].locate(id)


def test_it_tells_its_files_and_prints_short() -> None:
    found = splits_of({"train": [4, 4], "test": [2]})["test+train[:5]+train[:1]"]
    assert found.filenames == ["ds-test-00000-of-00001.arrow", "ds-train-00000-of-00002.arrow", "ds-train-00001-of-00002.arrow"]
    assert repr(found) == "SubSplitInfo(num_examples=8, num_shards=3, num_bytes=None)"


def test_it_is_a_value() -> None:
    splits = splits_of({"train": [4, 4]})
    found = splits["train[2:5]"]
    assert pickle.loads(pickle.dumps(found)) == found == SubSplitInfo(found.file_instructions) != splits["train[2:6]"]
    assert found.num_examples == SubSplitInfo(found.file_instructions).num_examples == 3


def test_a_slice_of_a_hundred_thousand_shards_costs_milliseconds() -> None:
    splits = splits_of({"train": [100] * 100_000})
    assert splits["train[44%:45%]"].num_examples == 100_000
    assert min(timeit.repeat(lambda: splits["train[44%:45%]"].file_instructions, number=1, repeat=10)) < 0.1
    assert min(timeit.repeat(lambda: splits["train"].row_id(4_440_000), number=1, repeat=10)) < 0.02
    assert min(timeit.repeat(lambda: splits.locate("ds-train-044400-of-100000.arrow__0"), number=1, repeat=10)) < 0.02
