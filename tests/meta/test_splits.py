"""Tests of datasets_core/meta/splits.py."""

import json
import pickle
import timeit
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import datasets_core.errors
from datasets_core.errors import ConfigurationError, SplitSyntaxError, UnknownSplitError
from datasets_core.meta.row_blocks import even_splits
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.meta.splits import (
    AbsoluteRange,
    EvenCut,
    NamedSplit,
    ReadInstruction,
    ShardLengths,
    Split,
    SplitPart,
    absolute,
    checked_part,
    is_split_name,
    parse_part,
    parse_split,
)
from datasets_core.store.pieces import RowRange, row_ranges

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_splits.json").read_text(encoding="utf-8"))
CASES = [case | {"wanted": case.get("ours", case["expected"])} for case in GOLDEN["split_cases"]]
GOOD = [case for case in CASES if "file_instructions" in case["wanted"]]

lengths = st.lists(st.integers(0, 7), max_size=8)
bounds = st.one_of(st.none(), st.integers(-60, 60))


def read(ranges: list[RowRange], shards: dict[str, list[list[Any]]]) -> list[Any]:
    return [row for split, shard, start, stop in ranges for row in shards[split][shard][start:stop]]


def filled(split: str, shard_lengths: list[int]) -> list[list[Any]]:
    """Shards of the given lengths whose rows say where they are."""
    return [[(split, shard, row) for row in range(length)] for shard, length in enumerate(shard_lengths)]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case["spec"])
def test_golden_expressions_open_the_golden_shards(case: dict[str, Any]) -> None:
    found = [
        [split, shard, start, stop - start] for split, shard, start, stop in row_ranges(case["spec"], case["shard_lengths"])
    ]
    assert found == case["wanted"]["file_instructions"]


@given(lengths, bounds, bounds)
def test_rows_of_a_slice_are_the_python_slice_of_the_joined_shards(shard_lengths: list[int], start: int, stop: int) -> None:
    shards = {"train": filled("train", shard_lengths)}
    found = read(row_ranges(ReadInstruction("train", from_=start, to=stop), {"train": shard_lengths}), shards)
    assert found == list(chain.from_iterable(shards["train"]))[start:stop]


@given(lengths, lengths, bounds, bounds)
def test_rows_of_a_slice_of_all_are_the_python_slice_of_the_joined_splits(
    train: list[int], test: list[int], start: int | None, stop: int | None
) -> None:
    shards = {"train": filled("train", train), "test": filled("test", test)}
    spec = f"all[{'' if start is None else start}:{'' if stop is None else stop}]"
    found = read(row_ranges(spec, {"train": train, "test": test}), shards)
    assert found == [row for split in shards.values() for shard in split for row in shard][start:stop]


@given(lengths, bounds, bounds)
def test_shards_of_a_slice_are_the_python_slice_of_the_shards(shard_lengths: list[int], start: int, stop: int) -> None:
    shards = {"train": filled("train", shard_lengths)}
    instruction = ReadInstruction("train", from_=start, to=stop, unit="shard")
    found = read(row_ranges(instruction, {"train": shard_lengths}), shards)
    assert found == list(chain.from_iterable(shards["train"][start:stop]))


@given(lengths, st.integers(0, 60), st.integers(0, 60))
def test_three_consecutive_slices_partition_a_split(shard_lengths: list[int], one: int, other: int) -> None:
    low, high = sorted((one, other))
    shards = {"train": filled("train", shard_lengths)}
    found = row_ranges(f"train[:{low}]+train[{low}:{high}]+train[{high}:]", {"train": shard_lengths})
    assert read(found, shards) == list(chain.from_iterable(shards["train"]))


@given(lengths)
def test_ranges_are_never_empty_and_never_leave_their_shard(shard_lengths: list[int]) -> None:
    found = row_ranges("train[10%:90%]", {"train": shard_lengths})
    assert all(0 <= start < stop <= shard_lengths[shard] for _, shard, start, stop in found)


def test_a_row_that_is_named_twice_is_read_twice() -> None:
    assert row_ranges("train[:1]+train[:1]", {"train": [3]}) == [RowRange("train", 0, 0, 1)] * 2


def test_a_slice_only_touches_its_own_shards() -> None:
    found = row_ranges("train[10%:20%]", {"train": [100_000] * 100})
    assert [part.shard for part in found] == list(range(10, 20))


def test_an_unknown_split_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownSplitError, match=r"Unknown split 'tran'\. Available splits: 'train'\."):
        row_ranges("tran", {"train": [1]})


def test_absolute_counts_within_the_split() -> None:
    assert absolute("train[-1:]", {"train": [2, 3]}) == [AbsoluteRange("train", 4, 5)]


def test_a_slice_of_a_hundred_shards_costs_microseconds() -> None:
    shards = {"train": [100_000] * 100, "test": [10]}
    best = min(timeit.repeat(lambda: row_ranges("train[10%:20%]", shards), number=20, repeat=20)) / 20
    assert best < 0.0002


# shard lengths

lengths_shard_lengths = st.lists(st.integers(0, 5), max_size=8).map(ShardLengths)


@given(lengths_shard_lengths)
def test_every_row_has_its_place(shards: ShardLengths) -> None:
    places = [(shard, row) for shard, length in enumerate(shards) for row in range(length)]
    assert [shards.place(row) for row in range(shards.total)] == places


@given(lengths_shard_lengths, st.integers(0, 40), st.integers(0, 40))
def test_pieces_are_the_rows_between_two_borders(shards: ShardLengths, one: int, other: int) -> None:
    first, last = sorted((min(one, shards.total), min(other, shards.total)))
    found = [(shard, row) for shard, start, stop in shards.pieces(first, last) for row in range(start, stop)]
    assert found == [shards.place(row) for row in range(first, last)]


def test_lengths_that_are_summed_up_are_taken_as_they_are() -> None:
    shards = ShardLengths([1, 2])
    assert ShardLengths.of(shards) is shards
    assert ShardLengths.of([1, 2]) == shards


def test_lengths_survive_pickling() -> None:
    shards = ShardLengths([1, 2])
    assert (shards.total, list(pickle.loads(pickle.dumps(shards)).borders)) == (3, [0, 1, 3])


# split

SPLIT_CASES = GOLDEN["split_cases"]
OBJECT_CASES = GOLDEN["read_instruction_cases"]
SUM_CASES = GOLDEN["addition_cases"]


def wanted(case: dict[str, Any]) -> dict[str, Any]:
    """What this library gives: the golden outcome, or the one it differs by on purpose."""
    return case.get("ours", case["expected"])


def good(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in cases if "absolute" in wanted(case)]


def bad(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in cases if "error" in wanted(case)]


def error_of(case: dict[str, Any]) -> type[BaseException]:
    return getattr(datasets_core.errors, wanted(case)["error"], TypeError)


def instruction_of(case: dict[str, Any]) -> ReadInstruction:
    name, start, stop, unit, rounding = case["args"]
    return ReadInstruction(name, from_=start, to=stop, unit=unit, rounding=rounding)


SUMS = {
    "RI('train',50,75,'%')+RI('test')": lambda: ReadInstruction("train", from_=50, to=75, unit="%") + ReadInstruction("test"),
    "RI('train',to=2,unit='abs')+'test[1:]'": lambda: ReadInstruction("train", to=2, unit="abs") + "test[1:]",
    "even_splits('train',3)[1]+'test'": lambda: even_splits("train", 3)[1] + "test",
    "RI('train')+5": lambda: ReadInstruction("train") + 5,
    "RI('all')": lambda: ReadInstruction("all"),
}

names = st.sampled_from(["train", "test", "a.b", "x-1"])
bounds_split = st.one_of(st.none(), st.integers(-150, 150))
percents = st.one_of(st.none(), st.integers(-100, 100), st.floats(-100, 100).map(lambda value: round(value, 3)))


@st.composite
def parts(draw: st.DrawFn) -> ReadInstruction:
    unit = draw(st.sampled_from(["abs", "%", "shard"]))
    limits = percents if unit == "%" else bounds_split
    start, stop = draw(limits), draw(limits)
    whole = all(bound is None or float(bound).is_integer() for bound in (start, stop))
    rounding = draw(st.sampled_from([None, "closest"] + ["pct1_dropremainder"] * whole)) if unit == "%" else None
    return ReadInstruction(draw(names), rounding=rounding, from_=start, to=stop, unit=unit)


@st.composite
def evenly(draw: st.DrawFn, inner: st.SearchStrategy[ReadInstruction]) -> ReadInstruction:
    """An even part of another instruction, or of one."""
    n = draw(st.integers(1, 5))
    return even_splits(draw(inner), n, draw(st.booleans()))[draw(st.integers(0, n - 1))]


terms = st.recursive(st.one_of(parts(), st.just(ReadInstruction.from_spec("all[10%:]"))), evenly, max_leaves=3)
instructions = st.lists(terms, min_size=1, max_size=3).map(
    lambda found: ReadInstruction.from_parts([part for instruction in found for part in instruction.parts])
)


@pytest.mark.parametrize("case", good(SPLIT_CASES), ids=lambda case: case["spec"])
def test_golden_expressions_give_the_golden_rows(case: dict[str, Any]) -> None:
    found = ReadInstruction.from_spec(case["spec"]).to_absolute(case["shard_lengths"])
    assert [list(part) for part in found] == wanted(case)["absolute"]


@pytest.mark.parametrize("case", bad(SPLIT_CASES), ids=lambda case: case["spec"])
def test_golden_faults_are_refused_and_named(case: dict[str, Any]) -> None:
    with pytest.raises(error_of(case)) as caught:
        ReadInstruction.from_spec(case["spec"]).to_absolute(case["shard_lengths"])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("case", good(OBJECT_CASES), ids=lambda case: str(case["args"]))
def test_golden_objects_give_the_golden_rows(case: dict[str, Any]) -> None:
    found = instruction_of(case).to_absolute(case["shard_lengths"])
    assert [list(part) for part in found] == wanted(case)["absolute"]


@pytest.mark.parametrize("case", bad(OBJECT_CASES), ids=lambda case: str(case["args"]))
def test_golden_objects_that_mean_nothing_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(error_of(case)):
        instruction_of(case).to_absolute(case["shard_lengths"])


@pytest.mark.parametrize("case", good(OBJECT_CASES), ids=lambda case: str(case["args"]))
def test_arguments_by_position_may_stand_in_the_order_of_tfds(case: dict[str, Any]) -> None:
    assert ReadInstruction(*case["args"]) == instruction_of(case)


@pytest.mark.parametrize(
    ("arguments", "named", "spec"),
    [
        (("closest", 10, 20, "%"), {}, "train[10%:20%]"),
        ((None, 10, 20), {}, "train[10:20]"),
        ((50, 75), {"unit": "%"}, "train[50%:75%]"),
        ((50,), {"to": 75}, "train[50:75]"),
        ((None, 50, "%"), {}, "train[:50%]"),
    ],
)
def test_the_order_of_arguments_is_told_by_their_kinds(arguments: tuple[Any, ...], named: dict[str, Any], spec: str) -> None:
    assert ReadInstruction("train", *arguments, **named).to_spec() == spec


@pytest.mark.parametrize("case", good(SUM_CASES), ids=lambda case: case["expr"])
def test_golden_sums_give_the_golden_rows(case: dict[str, Any]) -> None:
    found = SUMS[case["expr"]]().to_absolute(case["shard_lengths"])
    assert [list(part) for part in found] == wanted(case)["absolute"]


@pytest.mark.parametrize("case", bad(SUM_CASES), ids=lambda case: case["expr"])
def test_golden_sums_that_mean_nothing_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(error_of(case)):
        SUMS[case["expr"]]()


@given(instructions)
def test_an_expression_survives_the_way_to_text_and_back(instruction: ReadInstruction) -> None:
    assert ReadInstruction.from_spec(instruction.to_spec()) == instruction


@given(instructions)
def test_the_text_of_an_expression_is_stable(instruction: ReadInstruction) -> None:
    spec = instruction.to_spec()
    assert ReadInstruction.from_spec(spec).to_spec() == spec


@given(instructions)
def test_an_instruction_survives_pickling(instruction: ReadInstruction) -> None:
    assert pickle.loads(pickle.dumps(instruction)) == instruction


@given(st.integers(0, 500), bounds_split, bounds_split)
def test_row_bounds_follow_the_slices_of_python(total: int, start: int | None, stop: int | None) -> None:
    ((_, first, last),) = ReadInstruction("train", from_=start, to=stop).to_absolute({"train": total})
    assert list(range(first, last)) == list(range(total))[start:stop]


@given(st.integers(0, 500), percents, percents)
def test_slices_at_any_two_percents_partition_a_split(total: int, one: float | None, other: float | None) -> None:
    low, high = sorted((abs(one or 0), abs(other or 0)))
    found = [
        ReadInstruction("train", from_=a, to=b, unit="%").to_absolute({"train": total})[0]
        for a, b in ((None, low), (low, high), (high, None))
    ]
    assert [row for part in found for row in range(part.from_, part.to)] == list(range(total))


@given(st.integers(0, 100_000))
def test_a_hundred_slices_of_one_percent_are_even(total: int) -> None:
    found = [ReadInstruction("train", from_=k, to=k + 1, unit="%").to_absolute({"train": total})[0] for k in range(100)]
    sizes = [part.to - part.from_ for part in found]
    assert (sum(sizes), max(sizes) - min(sizes) <= 1) == (total, True)


@given(st.integers(0, 500))
def test_ten_folds_by_comprehension_are_disjoint_and_complete(total: int) -> None:
    def rows(spec: str) -> list[int]:
        found = ReadInstruction.from_spec(spec).to_absolute({"train": total})
        return [row for part in found for row in range(part.from_, part.to)]

    checks = [rows(spec) for spec in [f"train[{k}%:{k + 10}%]" for k in range(0, 100, 10)]]
    fits = [rows(spec) for spec in [f"train[:{k}%]+train[{k + 10}%:]" for k in range(0, 100, 10)]]
    assert [row for check in checks for row in check] == list(range(total))
    assert [sorted(fit + check) for fit, check in zip(fits, checks, strict=True)] == [list(range(total))] * 10


@given(st.integers(100, 100_000), st.integers(0, 100))
def test_dropping_remainders_makes_percents_multiples_of_one_percent(total: int, percent: int) -> None:
    def rows(to: int) -> int:
        return ReadInstruction("train", "pct1_dropremainder", to=to, unit="%").to_absolute({"train": total})[0].to

    assert rows(percent) == percent * rows(1)


@pytest.mark.parametrize(
    ("spec", "equal"),
    [
        ("train[:10%](closest)", "train[:10%]"),
        ("train[:10%](pct1_dropremainder)", "train[:10%](pct1_dropremainder)"),
        ("train[1_000:]  +test", "train[1000:]+test"),
        ("train[4shard]", "train[4shard:5shard]"),
        ("train[-1shard]", "train[-1shard:]"),
        ("train[0:10%]", "train[0%:10%]"),
        ("train[:33.50%]", "train[:33.5%]"),
        ("train[:.5%]", "train[:0.5%]"),
        ("train[:]", "train"),
        ("train[007:]", "train[7:]"),
        ("all[10%:]", "all[10%:]"),
        ("train\t+\ntest", "train+test"),
        ("train[:5%](pct1_dropremainder)(even3[2])(even2[0])", "train[:5%](pct1_dropremainder)(even3[2])(even2[0])"),
        ("train[5:](even3_dropremainder[1])(even1[0])", "train[5:](even3_dropremainder[1])"),
    ],
)
def test_an_expression_has_one_shortest_text(spec: str, equal: str) -> None:
    assert ReadInstruction.from_spec(spec).to_spec() == equal


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("train[10%:5]", "different units"),
        ("train[1:3shard]", "different units"),
        ("train[:101%]", "between -100% and 100%"),
        ("train[:10](closest)", "only allowed with percent"),
        ("train(closest)", "only allowed with percent"),
        ("train[:10%](floor)", "'floor'"),
        ("train[:10.5%](pct1_dropremainder)", "whole percents"),
        ("train[4]", "single number must count shards"),
        ("train[4%]", "single number must count shards"),
        ("train[::2]", "cannot have a step"),
        ("train[:5.5]", "not a whole number"),
        ("train[:1e1]", "not a valid bound"),
        ("train[٣:]", "not a valid bound"),
        ("train\n", "not a valid split name"),
        (" train", "not a valid split name"),
        ("train[:5%] (closest)", "not a valid split name"),
        ("train(even3[3])", "not one of the 3 even parts"),
        ("train(even0[0])", "not one of the 0 even parts"),
        ("train(even3[0])(closest)", "not an even part"),
        ("train(even3)", "'even3'"),
        ("train+", "missing"),
        ("train[:" + "9" * 5000 + "]", "not a valid bound"),
        (".train", "not a valid split name"),
        ("../train", "not a valid split name"),
    ],
)
def test_a_refusal_names_the_expression_and_the_reason(spec: str, reason: str) -> None:
    with pytest.raises(SplitSyntaxError) as caught:
        ReadInstruction.from_spec(spec)
    assert repr(spec) in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"unit": "rows"},
        {"to": 10, "unit": "%", "rounding": "up"},
        {"to": 10, "unit": "abs", "rounding": "up"},
        {"rounding": 5, "from_": 5, "to": 5},
        {"to": 101, "unit": "%"},
        {"to": float("nan"), "unit": "%"},
        {"to": 1.5},
        {"to": "1"},
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(SplitSyntaxError):
        ReadInstruction("train", **arguments)


def test_an_unknown_split_is_told_the_known_ones_split() -> None:
    with pytest.raises(UnknownSplitError, match=r"Unknown split 'tran'\. Available splits: 'train', 'test'\."):
        ReadInstruction.from_spec("train+tran[:5]").to_absolute({"train": 3, "test": 2})


def test_a_slice_of_all_counts_over_the_union_in_the_order_of_the_splits() -> None:
    found = ReadInstruction.from_spec("all[8:13]").to_absolute({"train": [4, 6], "empty": [], "test": 2, "dev": [5]})
    assert found == [AbsoluteRange("train", 8, 10), AbsoluteRange("test", 0, 2), AbsoluteRange("dev", 0, 1)]


def test_shards_of_all_are_counted_over_the_union() -> None:
    found = ReadInstruction.from_spec("all[1shard:3shard]").to_absolute({"train": [4, 6], "test": [2, 1]})
    assert found == [AbsoluteRange("train", 4, 10), AbsoluteRange("test", 0, 2)]


def test_a_split_that_is_called_all_is_itself() -> None:
    assert ReadInstruction.from_spec("all").to_absolute({"all": 3}) == [AbsoluteRange("all", 0, 3)]


def test_the_union_of_the_splits_is_written_as_text() -> None:
    with pytest.raises(ConfigurationError, match=r"Write it as a string: split='all'"):
        ReadInstruction("all")


def test_a_unit_without_rounding_takes_any() -> None:
    assert ReadInstruction("train", "pct1_dropremainder", to=5).parts == (SplitPart("train", None, 5),)


def test_lengths_may_be_what_is_known_of_the_splits() -> None:
    splits = SplitDict(
        {"train": SplitInfo("train", num_examples=5, shard_lengths=[3, 2]), "b": SplitInfo("b", num_examples=None)}
    )
    assert ReadInstruction.from_spec("train[1shard]").to_absolute(splits) == [AbsoluteRange("train", 3, 5)]


def test_shards_need_their_lengths() -> None:
    with pytest.raises(ConfigurationError, match="shard lengths are unknown"):
        ReadInstruction.from_spec("train[:1shard]").to_absolute({"train": 10})


def test_dropping_remainders_needs_a_hundred_rows() -> None:
    with pytest.raises(SplitSyntaxError, match="needs at least 100 rows, but 'train' has 99"):
        ReadInstruction.from_spec("train[:5%](pct1_dropremainder)").to_absolute({"train": 99})


def test_equal_instructions_are_one_key() -> None:
    one, other = ReadInstruction("train", to=10, unit="%"), ReadInstruction.from_spec("train[:10%](closest)")
    assert {one: 1}[other] == 1


def test_instructions_of_different_rounding_add_up() -> None:
    found = ReadInstruction.from_spec("train[:5%](pct1_dropremainder)+train[5%:]").to_absolute({"train": 150})
    assert found == [AbsoluteRange("train", 0, 5), AbsoluteRange("train", 8, 150)]


def test_a_text_adds_an_instruction_on_its_left() -> None:
    assert ("test" + ReadInstruction("train")).to_spec() == "test+train"


def test_an_instruction_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="is immutable"):
        ReadInstruction("train").parts = ()


def test_an_instruction_shows_its_parts() -> None:
    assert ReadInstruction.from_spec("train[:5%]").parts == (SplitPart("train", None, 5, "%", "closest"),)


def test_a_named_split_is_a_string() -> None:
    assert (Split.TRAIN, {"train": 1}[Split.TRAIN], f"{Split.TRAIN}", "data/" + Split.TRAIN) == (
        "train",
        1,
        "train",
        "data/train",
    )


def test_named_splits_add_up_to_an_instruction() -> None:
    assert ReadInstruction.from_spec("train+test") == Split.TRAIN + Split.TEST


def test_split_of_a_name_is_a_named_split() -> None:
    assert repr(Split("extra")) == "NamedSplit('extra')"


def test_a_named_split_survives_pickling() -> None:
    assert repr(pickle.loads(pickle.dumps(Split.TEST))) == "NamedSplit('test')"


def test_a_named_split_may_be_an_expression() -> None:
    assert NamedSplit("train[:10%]+test").get_read_instruction().to_spec() == "train[:10%]+test"


@pytest.mark.parametrize("name", ["a b", "", "a/b", "..", "train[", "-"])
def test_a_text_that_is_no_name_is_no_split(name: str) -> None:
    with pytest.raises(SplitSyntaxError):
        NamedSplit(name)


def test_a_named_split_is_looked_up_among_the_known_ones() -> None:
    with pytest.raises(UnknownSplitError):
        Split.TRAIN.get_read_instruction({"test": None})


@pytest.mark.parametrize(
    ("arguments", "specs"),
    [
        ({"k": 3}, ("train[0%:33%]", "train[33%:66%]", "train[66%:100%]")),
        ({"weighted": [1, 2]}, ("train[0%:33%]", "train[33%:100%]")),
        ({"arg": 2}, ("train[0%:50%]", "train[50%:100%]")),
        ({"arg": [1, 1]}, ("train[0%:50%]", "train[50%:100%]")),
    ],
)
def test_old_subsplits_are_percent_slices(arguments: dict[str, Any], specs: tuple[str, ...]) -> None:
    assert tuple(map(str, Split.TRAIN.subsplit(**arguments))) == specs


def test_an_old_subsplit_may_be_one_slice() -> None:
    assert str(Split.TRAIN.subsplit(slice(0, 50))) == "train[0%:50%]"


@pytest.mark.parametrize("arguments", [{}, {"k": 2, "weighted": [1]}, {"k": 0}, {"weighted": [1, -1]}])
def test_old_subsplits_that_mean_nothing_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Split.TRAIN.subsplit(**arguments)


def test_a_nest_of_splits_keeps_its_shape() -> None:
    found = parse_split({"a": ["train", Split.TEST], "b": ("train[:5]", ReadInstruction("test"))})
    train, test = ReadInstruction("train"), ReadInstruction("test")
    assert found == {"a": [train, test], "b": (ReadInstruction("train", to=5), test)}


def test_a_named_tuple_of_splits_is_a_tuple() -> None:
    class Splits(NamedTuple):
        fit: str
        check: str

    assert parse_split(Splits("train", "test")) == (ReadInstruction("train"), ReadInstruction("test"))


@pytest.mark.parametrize("value", [None, 3, {"train"}, [["train"], 1.0]])
def test_what_is_no_split_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="Give a string such as"):
        parse_split(value)


@pytest.mark.parametrize(
    ("name", "good"), [("train", True), ("a.b-c_1", True), ("é", True), ("-", False), ("a/b", False), (3, False)]
)
def test_split_names_are_words_with_dots_between_them(name: object, good: bool) -> None:
    assert is_split_name(name) is good


# split part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("train", SplitPart("train")),
        ("train[5:]", SplitPart("train", 5)),
        ("train[:12.5%]", SplitPart("train", None, 12.5, "%", "closest")),
        ("train[:5%](pct1_dropremainder)", SplitPart("train", None, 5, "%", "pct1_dropremainder")),
        ("train[2shard]", SplitPart("train", 2, 3, "shard")),
        ("train(even3[1])", SplitPart("train", cuts=(EvenCut(3, 1),))),
        ("a[1:2](even3_dropremainder[0])(even2[1])", SplitPart("a", 1, 2, cuts=(EvenCut(3, 0, True), EvenCut(2, 1)))),
    ],
)
def test_a_term_is_read_as_it_is_written(text: str, part: SplitPart) -> None:
    assert parse_part(text, text) == part
    assert parse_part(str(part), text) == part


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 10), st.booleans())
def test_even_cuts_are_those_of_tfds(first: int, size: int, n: int, drop: bool) -> None:
    k, r = size // n, 0 if drop else size % n
    assert [EvenCut(n, i, drop).of(first, first + size) for i in range(n)] == [
        (first + k * i + min(i, r), first + k * (i + 1) + min(i + 1, r)) for i in range(n)
    ]


def test_cuts_are_made_one_after_the_other() -> None:
    part = SplitPart("train", cuts=(EvenCut(2, 1), EvenCut(3, 0)))
    assert (part.bounds(12, None), part.cut(0, 12)) == ((0, 12), (6, 8))


@given(st.integers(0, 300), st.integers(-5, 5), st.integers(-5, 5), st.lists(st.integers(0, 9), max_size=5))
def test_shards_are_sliced_as_python_slices_them(total: int, start: int, stop: int, shards: list[int]) -> None:
    first, last = SplitPart("train", start, stop, "shard").bounds(total, shards)
    assert last - first == sum(shards[start:stop])


def test_shards_without_lengths_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="shard lengths are unknown"):
        SplitPart("train", 1, None, "shard").bounds(5, None)


def test_what_means_the_same_is_written_alike() -> None:
    found = checked_part(SplitPart("train", 5.0, None, "abs", "closest", (EvenCut(1, 0),)), "")
    assert found == SplitPart("train", 5)


@pytest.mark.parametrize(
    "part", [SplitPart("a b"), SplitPart("a", unit="rows"), SplitPart("a", rounding="up"), SplitPart("a", 1.5)]
)
def test_a_term_that_means_nothing_is_refused(part: SplitPart) -> None:
    with pytest.raises(SplitSyntaxError) as caught:
        checked_part(part, "the whole")
    assert caught.value.value == "the whole"


@pytest.mark.parametrize(("name", "good"), [("train", True), ("Все", True), ("1", True), ("-", False), ("a(b)", False)])
def test_names_have_a_letter_or_a_digit(name: str, good: bool) -> None:
    assert is_split_name(name) is good
