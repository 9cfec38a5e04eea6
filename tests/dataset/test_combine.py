"""Datasets put together hold the rows of the lists put together."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset.combine import aligned, concatenate_datasets, interleave_datasets, interleaved
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import FeatureType, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel, Json, Translation
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.table import RowTable
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.mixture import Stopping

Rows = list[dict[str, Any]]

_FEATURES = Features({"n": Value("int64"), "s": {"x": Value("string"), "y": Value("bool")}})
_VALUES = {
    "n": st.none() | st.integers(0, 9),
    "s": st.none() | st.fixed_dictionaries({"x": st.sampled_from(["a", None]), "y": st.sampled_from([True, None])}),
}


@st.composite
def _parts(draw: st.DrawFn) -> tuple[list[Dataset], list[Rows]]:
    """Datasets of some of the columns, some of them selections, and their rows."""
    datasets, lists = [], []
    for _ in range(draw(st.integers(1, 4))):
        names = draw(st.sampled_from([["n"], ["s"], ["n", "s"], ["s", "n"]]))
        rows = draw(st.lists(st.fixed_dictionaries({name: _VALUES[name] for name in names}), max_size=5))
        dataset = Dataset.from_list(rows, features=Features({name: _FEATURES[name] for name in names}))
        if rows and draw(st.booleans()):
            index = draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
            dataset, rows = dataset.select(index), [rows[i] for i in index]
        datasets.append(dataset)
        lists.append(rows)
    return datasets, lists


@given(_parts())
def test_rows_come_one_after_the_other(parts: tuple[list[Dataset], list[Rows]]) -> None:
    datasets, lists = parts

    both = concatenate_datasets(datasets)

    kept = [dataset for dataset in datasets if len(dataset)] or datasets[:1]
    names = list(dict.fromkeys(name for dataset in kept for name in dataset.column_names))
    assert both.column_names == names
    assert list(both) == [{name: row.get(name) for name in names} for rows in lists for row in rows]
    assert [both[i] for i in range(len(both))] == list(both)
    assert list(pickle.loads(pickle.dumps(both))) == list(both)


def test_parts_of_one_table_share_it() -> None:
    whole = Dataset.from_dict({"n": list(range(40))})
    parts = list(whole.train_test_split(seed=1).values())

    both = concatenate_datasets(parts)

    assert both["n"][:] == parts[0]["n"][:] + parts[1]["n"][:]
    assert both._table.num_rows == 40


def test_rows_are_not_copied() -> None:
    part = Dataset.from_dict({"a": [1, 2]})
    (values,) = {chunk.buffers()[1].address for chunk in part.data["a"].chunks}

    whole = concatenate_datasets([part] * 100)

    assert {chunk.buffers()[1].address for chunk in whole.data["a"].chunks} == {values}
    assert whole["a"][:] == [1, 2] * 100
    assert whole._index is None


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 9), st.lists(st.booleans(), min_size=3, max_size=3))
def test_columns_stand_side_by_side(values: list[int], seed: int, are_shuffled: list[bool]) -> None:
    parts, columns = [], {}
    for name, is_shuffled in zip("abc", are_shuffled, strict=True):
        part = Dataset(pa.table({name: pa.chunked_array([values[:2], values[2:]], pa.int64())}))
        part = part.shuffle(seed=seed) if is_shuffled else part
        parts.append(part)
        columns[name] = part[name][:]

    side = concatenate_datasets(parts, axis=1)

    assert side[:] == columns
    assert list(side) == [dict(zip("abc", row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_columns_in_the_same_order_keep_their_index() -> None:
    shuffled = Dataset.from_dict({"a": [1, 2, 3], "b": [4, 5, 6]}).shuffle(seed=1)

    side = concatenate_datasets([shuffled.select_columns("a"), shuffled.select_columns("b")], axis=1)

    assert side._index is shuffled._index
    assert side[:] == shuffled[:]


def test_formats_that_agree_are_kept() -> None:
    plain, arrow = Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": [1]}).with_format("arrow")

    assert concatenate_datasets([arrow, arrow]).format["type"] == "arrow"
    assert concatenate_datasets([arrow, plain]).format["type"] is None
    assert interleave_datasets([arrow, arrow]).format["type"] == "arrow"


def test_what_is_known_is_joined() -> None:
    first, second = (Dataset(pa.table({"a": [1]}), info=DatasetInfo(description=text), split="train") for text in "xy")

    both = concatenate_datasets([first, second])
    named = concatenate_datasets([first, second], info=DatasetInfo(description="z"), split="test")

    assert (both.description, both.split) == ("x\n\ny", None)
    assert (named.description, named.split) == ("z", "test")
    with pytest.raises(CastError, match=r"info\.features"):
        concatenate_datasets([first], info=DatasetInfo(features=Features({"a": Value("int8")})))


def test_rows_are_interleaved_with_their_columns() -> None:
    one, other = Dataset.from_dict({"a": [1, 2]}), Dataset.from_dict({"b": ["x", "y"]}).select([1, 0])

    assert interleave_datasets([one, other]).to_list() == [
        {"a": 1, "b": None},
        {"a": None, "b": "y"},
        {"a": 2, "b": None},
        {"a": None, "b": "x"},
    ]


def test_the_fingerprint_is_that_of_the_parts() -> None:
    def made(values: list[int], **options: Any) -> str:
        return concatenate_datasets([Dataset.from_dict({"a": values}), Dataset.from_dict({"a": [3]})], **options)._fingerprint

    assert made([1, 2]) == made([1, 2]) != made([2, 1])
    assert interleave_datasets([Dataset.from_dict({"a": [1]})])._fingerprint != made([1])


def test_datasets_on_the_disk_are_combined_where_they_are(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path)):
        made = [Dataset.from_generator(_numbers, gen_kwargs={"name": name}) for name in "ab"]

        assert len(concatenate_datasets(made, axis=1).cache_files) == 2
        flattened = concatenate_datasets([made[0].shuffle(seed=1), made[1]], axis=1)
        assert flattened[:] == {"a": made[0].shuffle(seed=1)["a"][:], "b": made[1]["b"][:]}


def _numbers(name: str) -> Any:
    yield from ({name: i} for i in range(20))


@pytest.mark.parametrize("combine", [concatenate_datasets, interleave_datasets])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], ConfigurationError, "There is no dataset to"),
        ([1], ArgumentTypeError, "Element 0 is of type int"),
        (Dataset.from_dict({"a": [1]}), ArgumentTypeError, "Give a list of datasets"),
        (DatasetDict({"train": Dataset.from_dict({"a": [1]})}), ArgumentTypeError, "a dictionary of datasets"),
        ([DatasetDict({"train": Dataset.from_dict({"a": [1]})})], ArgumentTypeError, "with the splits 'train'. Pick one"),
        ([Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": ["x"]})], CastError, "Column 'a' is"),
    ],
)
def test_what_cannot_be_combined_is_named(combine: Any, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        combine(given)


@pytest.mark.parametrize(
    ("one", "other", "axis", "message"),
    [
        ({"a": [1]}, {"a": [2]}, 1, "Column 'a' is duplicated: it is in dataset 0 and in dataset 1"),
        ({"a": [1]}, {"b": [2, 3]}, 1, "Dataset 1 has 2 rows, but dataset 0 has 1"),
        ({"a": [1]}, {"a": [2]}, 2, "Invalid axis 2"),
    ],
)
def test_columns_that_do_not_fit_are_named(one: Any, other: Any, axis: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        concatenate_datasets([Dataset.from_dict(one), Dataset.from_dict(other)], axis=axis)


_KINDS: dict[str, tuple[FeatureType, Any]] = {
    "label": (ClassLabel(names=["x"]), 0),
    "image": (Image(decode=False), {"bytes": b"1", "path": None}),
    "translation": (Translation(["en", "fr"]), {"en": "a", "fr": "b"}),
    "array": (Array2D((1, 2), "int8"), [[1, 2]]),
    "json": (Json(), {"a": 1}),
    "labels": (List({"a": ClassLabel(names=["x"])}), [{"a": 0}]),
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("says_features", [False, True])
def test_features_of_every_kind_stay_when_datasets_are_put_together(kind: str, says_features: bool) -> None:
    feature, value = _KINDS[kind]
    features = Features({"a": feature})
    rows = Dataset.from_list([{"a": value}], features=features)
    other = Dataset(
        pa.table(rows) if says_features else pa.table(rows).replace_schema_metadata(None), DatasetInfo(features=features)
    )

    below = concatenate_datasets([other, rows])
    beside = concatenate_datasets([other, rows.rename_column("a", "b")], axis=1)

    assert (below.features, below["a"][:]) == (features, [value] * 2)
    assert (beside.features, beside[0]) == ({"a": feature, "b": feature}, {"a": value, "b": value})


# Tables take the form of all together without a copy.

_INT = Value("int64")


def test_tables_of_one_form_are_left_as_they_are() -> None:
    table = RowTable.from_table(pa.table({"a": [1]}))

    assert aligned([table, table], Features({"a": _INT})) == [table, table]


def test_an_extension_type_is_seen_as_what_it_stores() -> None:
    stored = pa.array([b"0123456789abcdef"], pa.binary(16))
    tables = [pa.table({"a": pa.ExtensionArray.from_storage(pa.uuid(), stored)}), pa.table({"a": stored})]

    found = aligned([RowTable.from_table(table) for table in tables], Features.from_arrow_schema(tables[1].schema))

    assert RowTable.concat(found).to_table()["a"].to_pylist() == stored.to_pylist() * 2


# Streams as one: by the functions that users know, with what Hugging Face `datasets` gives of them where it is
# defined.

# Made with `datasets` 5.2.0: streams of [0, 1, 2], [10, 11, 12, 13] and [20, 21, 22, 23, 24].
IN_TURN = {
    "first_exhausted": [0, 10, 20, 1, 11, 21, 2],
    "all_exhausted": [0, 10, 20, 1, 11, 21, 2, 12, 22, 0, 13, 23, 1, 10, 24],
    "all_exhausted_without_replacement": [0, 10, 20, 1, 11, 21, 2, 12, 22, 13, 23, 24],
}


def _stream(*values: Any, name: str = "a") -> IterableDataset:
    return IterableDataset.from_dict({name: list(values)})


def _three() -> list[IterableDataset]:
    return [_stream(0, 1, 2), _stream(10, 11, 12, 13), _stream(20, 21, 22, 23, 24)]


@pytest.mark.parametrize("strategy", IN_TURN)
def test_turns_are_those_of_hugging_face(strategy: str) -> None:
    assert list(interleave_datasets(_three(), stopping_strategy=strategy)["a"]) == IN_TURN[strategy]


def test_weights_are_kept_within_a_row_and_the_same_seed_gives_the_same_rows() -> None:
    endless = [_stream(number).repeat(None) for number in range(3)]
    rows = [list(interleave_datasets(endless, [0.7, 0.2, 0.1], seed=seed).take(999)["a"]) for seed in (1, 1, 2)]

    assert rows[0] == rows[1] != rows[2]
    counts = Counter(rows[0])
    assert all(abs(counts[number] - 999 * weight) < 1 for number, weight in enumerate((0.7, 0.2, 0.1)))


def test_weights_may_change_at_a_row() -> None:
    endless = [_stream(number).repeat(None) for number in range(2)]
    rows = list(interleave_datasets(endless, {0: [1.0, 0.0], 10: [0.5, 0.5]}, seed=1).take(20)["a"])

    assert rows[:10] == [0] * 10
    assert sum(rows[10:]) == 5


def test_each_epoch_has_its_order() -> None:
    stream = interleave_datasets([_stream(*range(50)), _stream(*range(100, 150))], [0.5, 0.5], seed=1)
    first = list(stream)
    stream.set_epoch(1)

    assert list(stream) != first


def test_all_rows_come_once_where_nothing_is_replaced() -> None:
    rows = interleave_datasets(_three(), [0.6, 0.3, 0.1], seed=4, stopping_strategy="all_exhausted_without_replacement")

    assert sorted(rows["a"]) == [0, 1, 2, 10, 11, 12, 13, 20, 21, 22, 23, 24]


def test_what_is_known_is_brought_together() -> None:
    streams = [_stream(1), _stream("x", name="b")]

    both = concatenate_datasets(streams, split="train", info=DatasetInfo(description="two"))

    assert both.features == Features({"a": Value("int64"), "b": Value("string")})
    assert (str(both.split), both.info.description) == ("train", "two")
    assert next(iter(both.with_format("arrow"))).column_names == ["a", "b"]


def test_the_format_that_all_have_is_kept() -> None:
    assert concatenate_datasets([stream.with_format("numpy") for stream in _three()])._format.type == "numpy"
    assert concatenate_datasets([_stream(1).with_format("numpy"), _stream(2)])._format.type is None


def test_streams_of_streams_go_on_where_they_were() -> None:
    def made() -> IterableDataset:
        inner = interleave_datasets(_three()[:2], stopping_strategy="all_exhausted")
        columns = concatenate_datasets([_stream(5, 6, name="b"), _stream("x", name="c")], axis=1)
        return concatenate_datasets([inner.filter(lambda row: row["a"] != 11), columns, _three()[2].map(dict)])

    rows = list(made())
    for place in range(len(rows) + 1):
        stream = made()
        iterator = iter(stream)
        for _ in range(place):
            next(iterator)
        state = json.loads(json.dumps(stream.state_dict()))
        other = made()
        other.load_state_dict(state)
        assert list(other) == rows[place:]


def test_datasets_and_streams_do_not_go_together() -> None:
    with pytest.raises(ArgumentTypeError, match=r"Element 1 is a Dataset, but element 0 is a stream\. Convert all of them"):
        concatenate_datasets([_stream(1), Dataset.from_dict({"a": [1]})])


def test_a_single_stream_is_no_list_of_streams() -> None:
    with pytest.raises(ArgumentTypeError, match="Give a list of datasets"):
        interleave_datasets(_stream(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stopping_strategy": "none"}, r"'none'\. Available strategies: 'first_exhausted', "),
        ({"probabilities": [0.5]}, "1 probabilities for 3 datasets"),
        ({"probabilities": [0.5, 0.5, 0], "stopping_strategy": "all_exhausted"}, "Dataset 2 has probability 0"),
        ({"probabilities": [0.5, 0.5, 0], "seed": -1}, "Invalid seed=-1"),
    ],
)
def test_arguments_without_meaning_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        interleave_datasets(_three(), **arguments)


def test_features_that_the_streams_do_not_have_are_refused() -> None:
    with pytest.raises(CastError, match=r"info\.features differ from the features of the combined streams"):
        concatenate_datasets([_stream(1)], info=DatasetInfo(features=Features({"a": Value("string")})))


# Rows take turns as they do with Hugging Face `datasets`, and rows that would never come are refused.

# Made with `datasets` 5.2.0: dataset k holds the rows 100 k, 100 k + 1, …
CASES = json.loads((Path(__file__).parent / "golden" / "orders.json").read_text(encoding="utf-8"))["interleave"]


def _named(rows: list[int], lengths: list[int]) -> list[int]:
    names = [100 * number + row for number, length in enumerate(lengths) for row in range(length)]
    return [names[row] for row in rows]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, list(case.values())[:4])))
def test_the_order_is_that_of_hugging_face(case: dict[str, Any]) -> None:
    arguments = (case["lengths"], case["probabilities"], case["seed"], case["strategy"])
    if "error" in case:
        with pytest.raises(ConfigurationError):
            interleaved(*arguments)
        return

    assert _named(interleaved(*arguments).tolist(), case["lengths"]) == case["order"]


def _one_by_one(lengths: list[int], draws: list[int], strategy: str) -> list[int]:
    """The definition: draw by draw, with a place in each dataset."""
    first = [sum(lengths[:number]) for number in range(len(lengths))]
    times, rows = [0] * len(lengths), []
    for number in draws:
        if strategy == "all_exhausted_without_replacement" and times[number] >= lengths[number]:
            continue
        rows.append(first[number] + times[number] % lengths[number])
        times[number] += 1
        ended = [time >= length for time, length in zip(times, lengths, strict=True)]
        if any(ended) if strategy == "first_exhausted" else all(ended):
            break
    return rows


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.sampled_from(Stopping))
def test_turns_are_taken_one_by_one(lengths: list[int], strategy: str) -> None:
    turns = [number for _ in range(max(lengths)) for number in range(len(lengths))]
    wanted = _one_by_one(lengths, turns, strategy)
    if strategy == "first_exhausted":  # the round in which one ends is still finished
        wanted = [sum(lengths[:number]) + row for row in range(min(lengths)) for number in range(len(lengths))]
    elif strategy == "all_exhausted":
        wanted = [
            sum(lengths[:number]) + row % lengths[number] for row in range(max(lengths)) for number in range(len(lengths))
        ]

    assert interleaved(lengths, None, None, strategy).tolist() == wanted


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.sampled_from(Stopping), st.integers(0, 5))
def test_draws_are_taken_one_by_one(lengths: list[int], strategy: str, seed: int) -> None:
    import numpy as np

    shares = np.arange(1, len(lengths) + 1) / np.arange(1, len(lengths) + 1).sum()
    chance = np.random.default_rng(seed)
    draws = [number for _ in range(5) for number in chance.choice(len(lengths), size=1000, p=shares).tolist()]

    assert interleaved(lengths, shares.tolist(), seed, strategy).tolist() == _one_by_one(lengths, draws, strategy)


def test_without_a_seed_every_call_draws_anew() -> None:
    drawn = [interleaved([500, 500], [0.5, 0.5], None, "first_exhausted").tolist() for _ in range(2)]

    assert drawn[0] != drawn[1]


@pytest.mark.parametrize(
    ("lengths", "probabilities", "strategy", "message"),
    [
        ([1, 2], None, "none", r"'none'\. Available strategies: 'first_exhausted', "),
        ([1, 2], [0.5], "first_exhausted", "1 probabilities for 2 datasets"),
        ([1, 2], [0.5, 0.6], "first_exhausted", r"sum up to 1\.1"),
        ([1, 2], [1.5, -0.5], "first_exhausted", "outside 0 to 1"),
        ([1, 2], [float("nan"), 1.0], "first_exhausted", "outside 0 to 1"),
        ([1, 0], [0.5, 0.5], "first_exhausted", "Dataset 1 has no rows to sample"),
        ([1, 0], None, "all_exhausted", "Dataset 1 has no rows and cannot be repeated"),
        ([1, 2], [1.0, 0.0], "all_exhausted", "Dataset 1 has probability 0"),
        ([1, 2], [1.0, 0.0], "all_exhausted_without_replacement", "Dataset 1 has probability 0"),
    ],
)
def test_arguments_without_meaning_are_named_interleaving(
    lengths: list[int], probabilities: list[float] | None, strategy: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        interleaved(lengths, probabilities, 1, strategy)


def test_probabilities_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="are not numbers"):
        interleaved([1, 2], ["a", "b"], 1, "first_exhausted")  # type: ignore[list-item]


def test_a_dataset_without_rows_ends_at_once_where_nothing_is_replaced() -> None:
    assert interleaved([0, 2], [0.5, 0.5], 1, "all_exhausted_without_replacement").tolist() == [0, 1]
    assert interleaved([0, 2], None, None, "first_exhausted").tolist() == []


def test_a_dataset_of_hugging_face_is_refused_with_the_way_to_convert_it() -> None:
    theirs = type("Dataset", (), {"__module__": "datasets.arrow_dataset"})()
    ours = Dataset.from_dict({"a": [1]})
    for combine in (concatenate_datasets, interleave_datasets):
        with pytest.raises(ArgumentTypeError, match=r"from_hf\(\)"):
            combine([ours, theirs])
    with pytest.raises(ArgumentTypeError, match=r"from_hf\(\)"):
        ours.join(theirs, on="a")
    with pytest.raises(ArgumentTypeError, match=r"found datasets.Dataset. Convert it with Dataset.from_hf\(\)"):
        Dataset(theirs)
    with pytest.raises(ArgumentTypeError, match=r"'train' .* is datasets.Dataset, .* Dataset.from_hf\(\)"):
        DatasetDict({"train": theirs}).filter(lambda row: True)
    for other in (theirs, ours, {"train": ours}):
        with pytest.raises(ArgumentTypeError):
            Dataset.from_hf(other)
    with pytest.raises(ArgumentTypeError, match=r"found datasets.Dataset. Convert it with Dataset.from_hf\(\)"):
        DatasetDict.from_hf(theirs)
    stream = type("IterableDataset", (), {"__module__": "datasets.iterable_dataset"})()
    with pytest.raises(ArgumentTypeError, match=r"IterableDataset.from_generator\(\)"):
        concatenate_datasets([ours, stream])
