"""Tests of datasets_core/meta/split_info.py."""

import copy
import dataclasses
import json
import pickle
import timeit
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import (
    ConfigurationError,
    NotPreparedError,
    RowIdError,
    RowIndexError,
    SplitSyntaxError,
    UnknownSplitError,
)
from datasets_core.meta.row_blocks import even_splits
from datasets_core.meta.split_info import FileInstruction, SplitDict, SplitInfo, SubSplitInfo
from datasets_core.meta.splits import ReadInstruction, Split

FORMS = [
    {"name": "train", "num_bytes": 100, "num_examples": 10, "shard_lengths": [4, 6], "dataset_name": "ds"},
    {"name": "test", "num_bytes": 10, "num_examples": 5, "dataset_name": "ds"},
]


@pytest.fixture
def splits() -> SplitDict:
    return SplitDict.from_split_dict(FORMS)


def test_a_name_gives_what_is_recorded(splits: SplitDict) -> None:
    assert splits[Split.TRAIN] == SplitInfo("train", 100, 10, [4, 6], dataset_name="ds")


def test_an_expression_gives_its_rows_shards_and_files(splits: SplitDict) -> None:
    found = splits["train[2:9]+test"]
    assert (found.num_examples, found.num_shards) == (12, 3)
    # the same files, skips and takes as `datasets` 5.2.0 gives
    assert found.file_instructions == [
        FileInstruction("ds-train-00000-of-00002.arrow", 2, -1, 2),
        FileInstruction("ds-train-00001-of-00002.arrow", 0, 5, 5),
        FileInstruction("ds-test-00000-of-00001.arrow", 0, -1, 5),
    ]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(-30, 30), st.integers(-30, 30))
def test_rows_of_a_slice_are_counted_as_python_counts_them(shard_lengths: list[int], start: int, stop: int) -> None:
    total = sum(shard_lengths)
    found = SplitDict.from_split_dict([SplitInfo("train", None, total, shard_lengths)])[f"train[{start}:{stop}]"]
    assert found.num_examples == len(range(total)[start:stop])


def test_bytes_are_known_for_whole_splits_only(splits: SplitDict) -> None:
    assert [splits[key].num_bytes for key in ("all", "train[:]+test", "train[:5]", "test[5:]")] == [110, 110, None, 0]


def test_unknown_bytes_stay_unknown() -> None:
    assert SplitDict.from_split_dict([{"name": "train", "num_bytes": None, "num_examples": 3}])["train[:3]"].num_bytes is None


def test_recorded_shard_names_win_over_the_rule() -> None:
    info = SplitInfo("train", 1, 3, [1, 2], shard_names=["a.arrow", "b.arrow"])
    assert [found.filename for found in info.file_instructions] == ["a.arrow", "b.arrow"]


def test_an_instruction_is_a_key_too(splits: SplitDict) -> None:
    assert splits[ReadInstruction("train", from_=2, to=3, unit="abs")].num_examples == 1


def test_an_unknown_split_is_told_the_known_ones(splits: SplitDict) -> None:
    with pytest.raises(UnknownSplitError, match=r"Unknown split 'tran' in 'ds'\. Available splits: 'train', 'test'\."):
        splits["tran"]


def test_an_unknown_split_is_a_missing_key(splits: SplitDict) -> None:
    with pytest.raises(KeyError):
        splits["dev[:5]"]


def test_a_key_that_does_not_parse_is_refused(splits: SplitDict) -> None:
    with pytest.raises(SplitSyntaxError):
        splits["train[5]"]


def test_get_and_in_look_for_names_alone(splits: SplitDict) -> None:
    assert (splits.get("dev"), "train[:1]" in splits, list(splits)) == (None, False, ["train", "test"])


def test_a_split_is_added_once(splits: SplitDict) -> None:
    with pytest.raises(ConfigurationError, match="Two splits are named 'train'"):
        splits.add(SplitInfo("train"))


def test_a_split_is_kept_under_its_own_name(splits: SplitDict) -> None:
    with pytest.raises(ConfigurationError, match="'dev' cannot be stored under the key 'x'"):
        splits["x"] = SplitInfo("dev")


def test_an_added_split_takes_the_name_of_the_dataset(splits: SplitDict) -> None:
    splits.add(SplitInfo("dev", dataset_name="other"))
    assert splits["dev"].dataset_name == "ds"


def test_rows_of_all_splits_add_up(splits: SplitDict) -> None:
    assert splits.total_num_examples == 15


def test_a_sum_with_an_unknown_number_is_unknown() -> None:
    assert SplitDict.from_split_dict([{"name": "a", "num_examples": None}, {"name": "b"}]).total_num_examples is None


def test_slices_of_an_unknown_number_of_rows_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'a' is not recorded"):
        SplitDict.from_split_dict([{"name": "a", "num_examples": None}])["a[:5]"]


def test_the_stored_form_survives_the_way_back(splits: SplitDict) -> None:
    assert (list(splits.to_dict().values()), SplitDict.from_split_dict(splits.to_dict())) == (FORMS, splits)


def test_the_stored_form_has_no_key_that_other_libraries_refuse() -> None:
    assert set(SplitInfo("a", shard_lengths=[0], original_shard_lengths=[0], shard_names=["a"]).to_dict()) == {
        "name",
        "num_bytes",
        "num_examples",
        "shard_lengths",
        "original_shard_lengths",
        "dataset_name",
    }


def test_the_form_of_cards_survives_the_way_back(splits: SplitDict) -> None:
    forms = [{"name": "train", "num_bytes": 100, "num_examples": 10}, {"name": "test", "num_bytes": 10, "num_examples": 5}]
    assert (splits.to_yaml_list(), SplitDict.from_yaml_list(forms).to_yaml_list()) == (forms, forms)


def test_what_is_unknown_is_not_written_into_cards() -> None:
    assert SplitDict.from_split_dict([SplitInfo("a", None, 3)]).to_yaml_list() == [{"name": "a", "num_examples": 3}]


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, SplitDict.copy, lambda splits: pickle.loads(pickle.dumps(splits))])
def test_splits_survive_their_copies(again: Any, splits: SplitDict) -> None:
    found = again(splits)
    assert (type(found), found, found.dataset_name) == (SplitDict, splits, "ds")


@pytest.mark.parametrize(
    "forms",
    [
        "train",
        [3],
        {"train": [1]},
        [{"name": "a"}, {"name": "a"}],
        [{"name": 3}],
        [{"name": "../x"}],
        [{}],
        [{"name": "a", "num_examples": "many"}],
        [{"name": "a", "num_bytes": -1}],
        [{"name": "a", "num_bytes": True}],
        [{"name": "a", "shard_lengths": 3}],
        [{"name": "a", "shard_lengths": [1.5]}],
        [{"name": "a", "num_examples": 3, "shard_lengths": [1, 1]}],
    ],
    ids=str,
)
def test_stored_forms_that_mean_nothing_are_refused(forms: Any) -> None:
    with pytest.raises(ConfigurationError):
        SplitDict.from_split_dict(forms)


def test_unknown_keys_of_stored_splits_are_left_out() -> None:
    assert SplitInfo.from_dict({"num_examples": 2, "of_tomorrow": 1}, name="a") == SplitInfo("a", 0, 2)


def test_several_splits_give_the_info_of_each(splits: SplitDict) -> None:
    train, slice_ = splits["train"], splits["train[2:]"]
    assert splits[["train", "train[2:]"]] == [train, slice_]
    assert splits[("train", {"a": "train[2:]"})] == (train, {"a": slice_})
    assert [part.num_examples for part in splits[even_splits("train", 3)]] == [4, 3, 3]


def test_the_keys_are_the_real_splits(splits: SplitDict) -> None:
    assert list(splits.keys()) == ["train", "test"]
    assert splits["all"].num_examples == 15


@pytest.mark.parametrize("key", ["train", "train[:5]", "all", ReadInstruction("train"), even_splits("train", 2)[0]], ids=str)
def test_splits_that_are_not_built_yet_are_a_missing_key(key: Any) -> None:
    with pytest.raises(NotPreparedError, match=r"are unknown before a build.*download_and") as caught:
        SplitDict(dataset_name="ds")[key]
    assert isinstance(caught.value, KeyError)


def test_a_split_of_unknown_length_is_no_matter_to_others() -> None:
    splits = SplitDict.from_split_dict([{"name": "a", "num_examples": None}, {"name": "b", "num_examples": 4}])
    assert splits["b[1:]"].num_examples == 3


def test_file_names_are_told_in_order(splits: SplitDict) -> None:
    assert splits["train"].filenames == ["ds-train-00000-of-00002.arrow", "ds-train-00001-of-00002.arrow"]


def test_lengths_that_change_are_counted_anew() -> None:
    info = SplitInfo("train", None, 3, [1, 2])
    assert info.shards.total == 3
    assert info.shards is info.shards
    assert info.shard_lengths is not None
    info.shard_lengths.append(4)
    assert (info.shards.total, len(info.file_instructions)) == (7, 3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.booleans())
def test_an_id_is_that_of_its_row_and_of_no_other(shard_lengths: list[int], odd: bool) -> None:
    total = sum(shard_lengths)
    info = SplitInfo("train", None, total, shard_lengths, dataset_name="ds")
    if odd:
        info.shard_names = [f"{'x' * shard}.arrow" for shard in range(len(shard_lengths))]
    ids = [info.row_id(row) for row in range(total)]
    assert len(set(ids)) == total
    assert [info.locate(each) for each in ids] == list(range(total))
    assert [info.locate(each.encode()) for each in ids] == list(range(total))
    assert [info.row_id(row - total) for row in range(total)] == ids


def test_an_id_says_the_split(splits: SplitDict) -> None:
    assert [splits.locate(splits[name].row_id(3)) for name in splits] == [("train", 3), ("test", 3)]


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("ds-dev-00000-of-00001.arrow__0", "no file is called 'ds-dev-00000-of-00001.arrow'"),
        ("ds-test-00000-of-00001.arrow__5", "that file has 5 rows"),
        ("ds-test-00000-of-00001.arrow", "not have the form"),
    ],
)
def test_the_id_of_no_row_is_refused_by_its_text(splits: SplitDict, id: str, reason: str) -> None:
    with pytest.raises(RowIdError, match=reason) as caught:
        splits.locate(id)
    assert repr(id) in str(caught.value)


def test_the_id_of_another_split_is_refused(splits: SplitDict) -> None:
    with pytest.raises(RowIdError, match="in 'ds': no file of split 'train'"):
        splits["train"].locate(splits["test"].row_id(0))


@pytest.mark.parametrize("index", [10, -11])
def test_the_id_of_a_row_that_is_not_there_is_refused(splits: SplitDict, index: int) -> None:
    with pytest.raises(RowIndexError):
        splits["train"].row_id(index)


def test_ids_of_joined_folders_have_all_of_the_path_below_them() -> None:
    names = [f"{version}/{build}/birds-train-00000-of-00001.arrow" for version, build in (("1.0.0", "a"), ("2.0.0", "b"))]
    train = SplitInfo("train", num_examples=5, shard_lengths=[3, 2], shard_names=names)
    assert [train.locate(train.row_id(row)) for row in range(5)] == [0, 1, 2, 3, 4]
    for other, reason in (
        ("c/birds-train-00000-of-00001.arrow__1", "no file of split 'train' is called 'c/birds"),
        ("birds-train-00000-of-00001.arrow__1", r"but '1\.0\.0/a/.*', '2\.0\.0/b/.*' are"),
        ("b/birds-train-00000-of-00001.arrow__1", r"but '2\.0\.0/b/.*' is"),
    ):
        with pytest.raises(RowIdError, match=reason):
            train.locate(other)
        with pytest.raises(RowIdError, match=reason.replace(" of split 'train'", "")):
            SplitDict({"train": train}).locate(other)


# file instruction

NAME = "imagenet2012-train.tfrecord-00450-of-01024"
PRINTED = FileInstruction(filename=NAME, skip=700, take=-1, num_examples=551)


def test_it_prints_what_is_read() -> None:
    assert repr(PRINTED) == f"FileInstruction(filename='{NAME}', skip=700, take=-1, num_examples=551)"


@pytest.mark.parametrize(
    "other",
    [
        FileInstruction(NAME, 700, -1, 551),
        FileInstruction(NAME, 700, -1, examples_in_shard=1251),
        FileInstruction(NAME, 700, 551, examples_in_shard=1251),
        FileInstruction(NAME, 700, 551, 551),
        FileInstruction(NAME, 700, 551),
        FileInstruction(NAME, 700, 9999, examples_in_shard=1251),
        FileInstruction.of_rows(NAME, 700, 1251, 1251),
        pickle.loads(pickle.dumps(PRINTED)),
        copy.deepcopy(PRINTED),
        PRINTED.replace(),
    ],
    ids=repr,
)
def test_the_same_rows_are_equal_however_they_are_told(other: FileInstruction) -> None:
    assert (other, hash(other), other.num_examples) == (PRINTED, hash(PRINTED), 551)


@pytest.mark.parametrize("other", [PRINTED.replace(skip=0), PRINTED.replace(take=550), PRINTED.replace(filename="a"), NAME])
def test_other_rows_are_not_equal(other: object) -> None:
    assert other != PRINTED


def test_the_length_of_the_file_follows_from_the_rows_to_its_end() -> None:
    assert PRINTED.examples_in_shard == 1251


def test_what_is_not_told_is_unknown() -> None:
    found = FileInstruction("a")
    assert (found.skip, found.take, found.num_examples, found.examples_in_shard) == (0, -1, None, None)


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({"skip": 1250}, (1250, -1, 1)),
        ({"skip": 2000}, (2000, -1, 0)),
        ({"take": 5}, (700, 5, 5)),
        ({"take": 5, "num_examples": 7}, (700, 5, 5)),
        ({"num_examples": 7}, (700, 7, 7)),
        ({"skip": 0, "take": -1}, (0, -1, 1251)),
        ({"examples_in_shard": 701}, (700, -1, 1)),
    ],
)
def test_what_is_replaced_changes_the_rows(changes: dict[str, Any], rows: tuple[int, int, int]) -> None:
    found = PRINTED.replace(**changes)
    assert (found.skip, found.take, found.num_examples) == rows


def test_the_replacing_of_dataclasses_works_too() -> None:
    assert dataclasses.replace(PRINTED, skip=1200).num_examples == 51


@given(st.integers(0, 20), st.integers(0, 20), st.integers(-1, 20))
def test_rows_are_counted_as_python_slices_them(whole: int, skip: int, take: int) -> None:
    found = FileInstruction("a", skip, take, examples_in_shard=whole)
    assert found.num_examples == len(range(whole)[skip : whole if take < 0 else skip + take])


@pytest.mark.parametrize(
    "values",
    [{"skip": -1}, {"take": -2}, {"skip": 1.5}, {"take": None}, {"num_examples": -1}, {"examples_in_shard": "3"}],
    ids=str,
)
def test_numbers_that_mean_nothing_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"of 'a' is .* Give a whole number"):
        FileInstruction("a", **values)


def test_an_unknown_value_is_told_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"has no field 'drop'\. Its fields: filename, skip, take, num_examples, examples_in_shard\."
    ):
        PRINTED.replace(drop=3)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        PRINTED.skip = 3  # type: ignore[misc]


# sub split

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
    with pytest.raises(RowIdError, match=rf"'{id}' in 'ds': the slice does not contain that row\."):
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
