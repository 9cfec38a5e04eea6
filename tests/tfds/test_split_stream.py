"""A stream with the methods of `tf.data`: order, functions on elements, batches, length, and an exact state."""

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, DatasetsCoreError, RowIdError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.stream.nodes.block import ArrowBlock, DictBlock, Kinds
from datasets_core.tfds.elements import WHOLE, Row, Supervised, converter
from datasets_core.tfds.split_stream import ElementFunction, FilterElements, MapElements, NumberElements, array_rows, plain_rows


def _stream(count: int = 6) -> Any:
    return tfds.SplitStream.of(Dataset.from_dict({"a": list(range(count))}).to_iterable_dataset())


def _values(stream: Any) -> list[Any]:
    return [row["a"] for row in stream]


def test_iteration_gives_plain_python_and_as_numpy_gives_arrays(rows: Any) -> None:
    plain, exact = next(iter(rows)), next(iter(tfds.as_numpy(rows)))
    assert {name: type(value) for name, value in plain.items()} == {"number": int, "text": str, "even": int}
    assert {name: type(value) for name, value in exact.items()} == {"number": np.int64, "text": bytes, "even": np.int64}
    assert exact == {"number": plain["number"], "text": plain["text"].encode(), "even": plain["even"]}


def test_parts_and_repetitions() -> None:
    stream = _stream()
    assert _values(stream.take(2)) == [0, 1]
    assert _values(stream.skip(4)) == [4, 5]
    assert _values(stream.take(-1)) == list(range(6))
    assert _values(stream.skip(-1)) == []
    assert _values(stream.take(2).repeat(2)) == [0, 1, 0, 1]
    assert _values(stream.repeat().take(8)) == [0, 1, 2, 3, 4, 5, 0, 1]
    assert _values(stream.shard(num_shards=2, index=1)) == [1, 3, 5]
    assert _values(stream.prefetch(2).cache().with_options(None)) == list(range(6))


def test_functions_get_numbers_of_numpy_and_make_anything() -> None:
    stream = _stream()
    assert list(stream.map(lambda row: row["a"].dtype.name).take(1)) == ["int64"]
    assert list(stream.map(lambda row: (row["a"], row["a"] * 2)).map(lambda x, y: x + y)) == [0, 3, 6, 9, 12, 15]
    assert _values(stream.filter(lambda row: row["a"] % 2 == 0)) == [0, 2, 4]
    assert list(stream.map(lambda row: row["a"]).filter(lambda x: x > 3).enumerate(start=5)) == [(5, 4), (6, 5)]
    assert stream.reduce(np.int64(0), lambda total, row: total + row["a"]) == 15
    assert stream.apply(lambda rows: len(rows)) == 6


def test_types_of_columns_stay_in_functions() -> None:
    stream = tfds.SplitStream.of(Dataset.from_dict({"a": np.array([250], np.uint8)}).to_iterable_dataset())
    (found,) = tfds.as_numpy(stream.map(lambda row: row["a"] + np.uint8(1)))
    assert (found, found.dtype) == (251, np.uint8)


def test_the_arguments_of_the_library_still_work() -> None:
    assert list(_stream(2).map(lambda rows: {"b": [len(rows["a"])] * 2}, batched=True)) == [{"a": 0, "b": 2}, {"a": 1, "b": 2}]
    assert _values(_stream().filter(lambda a: a > 4, input_columns="a")) == [5]


def test_batches_are_arrays() -> None:
    batches = list(_stream(5).batch(2))
    assert [batch["a"].tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    assert len(_stream(5).batch(2, drop_remainder=True)) == 2
    nested = list(_stream(4).batch(2).batch(2))
    assert [batch["a"].tolist() for batch in nested] == [[[0, 1], [2, 3]]]


def test_arrays_of_different_sizes_are_filled_up_only_if_asked() -> None:
    stream = tfds.SplitStream.of(Dataset.from_dict({"a": [[1], [2, 3]]}).to_iterable_dataset())
    with pytest.raises(ConfigurationError, match="padded_batch"):
        list(stream.batch(2))
    assert next(iter(stream.padded_batch(2)))["a"].tolist() == [[1, 0], [2, 3]]


def test_a_shuffled_stream_has_another_order_in_each_iteration() -> None:
    stream, again = _stream(100).shuffle(100, seed=1), _stream(100).shuffle(100, seed=1)
    first, second = _values(stream), _values(stream)
    assert first != second
    assert (sorted(first), sorted(second)) == (list(range(100)), list(range(100)))
    assert [_values(again), _values(again)] == [first, second]
    fixed = _stream(100).shuffle(100, seed=1, reshuffle_each_iteration=False)
    assert _values(fixed) == _values(fixed) == first


@pytest.mark.parametrize("change", [lambda s: s, lambda s: s.filter(lambda row: True)], ids=["by place", "behind a filter"])
def test_each_round_of_a_repeated_stream_is_shuffled_anew(change: Any) -> None:
    once, fixed = (change(_stream(50)).shuffle(50, seed=1, reshuffle_each_iteration=anew) for anew in (None, False))
    rounds = _values(once.repeat(3))
    assert len({tuple(rounds[start : start + 50]) for start in (0, 50, 100)}) == 3
    assert all(sorted(rounds[start : start + 50]) == list(range(50)) for start in (0, 50, 100))
    assert rounds[:50] == _values(fixed.repeat(2))[50:]


def test_lengths_are_known_as_far_as_arithmetic_goes() -> None:
    stream = _stream()
    assert (len(stream), stream.cardinality(), bool(_stream(0))) == (6, 6, True)
    assert (stream.repeat().cardinality(), stream.filter(bool).cardinality()) == (-1, -2)
    assert len(stream.repeat().take(9)) == 9
    for unknown in (stream.repeat(), stream.filter(bool)):
        with pytest.raises(TypeError):
            len(unknown)


@given(stop=st.integers(0, 12), buffer=st.integers(1, 9), batch=st.integers(1, 4))
def test_resumed_is_uninterrupted(stop: int, buffer: int, batch: int) -> None:
    def made() -> Any:
        return _stream(9).shuffle(buffer, seed=2).repeat(2).map(lambda row: row["a"]).batch(batch)

    whole = [value.tolist() for value in made()]
    stream, got = made(), []
    for value in stream:
        if len(got) == stop:
            break
        got.append(value.tolist())
    stop = min(stop, len(whole))
    stream = made()
    rows = iter(stream)
    for _ in range(stop):
        next(rows)
    other = made()
    other.load_state_dict(stream.state_dict())
    assert [value.tolist() for value in other] == whole[stop:]


def test_the_state_of_numpy_elements_is_that_of_the_stream(rows: Any) -> None:
    exact = rows.as_numpy_iterator()
    next(exact)
    rows.load_state_dict(exact.state_dict())
    assert len(list(rows)) == 9


def test_a_stream_of_no_split_has_no_ids() -> None:
    with pytest.raises(DatasetsCoreError):
        _stream().rows(["x__1"])


def test_an_id_of_another_split_is_refused(rows: Any) -> None:
    with pytest.raises(RowIdError):
        rows.locate("numbers-test-00000-of-00001.arrow__0")


@pytest.mark.parametrize("call", [lambda s: s.take(-2), lambda s: s.batch(0), lambda s: s.shuffle(0), lambda s: s.shard(2, 2)])
def test_numbers_that_mean_nothing_are_refused(call: Any) -> None:
    with pytest.raises(ConfigurationError):
        call(_stream())


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(ArgumentTypeError):
        _stream().map("a")
    with pytest.raises(ConfigurationError):
        _stream().padded_batch(2, padded_shapes=[3])


def test_the_columns_are_shown() -> None:
    assert "'a': ((), dtype('int64'))" in repr(_stream())
    assert _stream().map(len).element_spec is None


def test_the_formats_of_the_library_still_work() -> None:
    assert [row["a"].dtype for row in _stream(1).with_format("numpy")] == [np.int64]


def test_a_function_that_fails_is_named_with_its_row() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        list(_stream().map(lambda row: 1 // (3 - int(row["a"]))))
    assert "on row 3" in caught.value.__notes__[0]


# Rows of Arrow blocks as arrays, which agree with values that are made one by one.

CASES = [
    (Value("uint8"), [1, 2]),
    (Value("float16"), [0.5, None]),
    (Value("bool"), [True, False]),
    (Value("string"), ["a", None]),
    (ClassLabel(num_classes=3), [0, 2]),
    (List(Value("int32")), [[1, 2], []]),
    (List(Value("int32")), [[1, 2], [3, 4]]),
    (List(Value("int32")), [[1, None], None]),
    (List(Value("float32"), length=2), [[1, 2], [3, 4]]),
    (List(List(Value("int8"))), [[[1], [2]], []]),
    (List(List(Value("int8"))), [[[1], [2, 3]], [[4, 5]]]),
    (List(List(Value("float32"), length=4)), [[[1, 2, 3, 4]], []]),
    (Array2D((None, 2), "int32"), [[[1, 2]], []]),
    (Array2D((2, 2), "int32"), [[[1, 2], [3, 4]], None]),
    ({"a": Value("int8"), "b": List(Value("string"))}, [{"a": 1, "b": ["x"]}, None]),
]


def _block(feature: Any, values: list[Any]) -> ArrowBlock:
    features = Features({"x": feature})
    return ArrowBlock(RowEncoder(features).encode([{"x": value} for value in values]), Kinds(features))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and all(map(_same, one, other)) if one.dtype == object else alike and bool(np.array_equal(one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize(("feature", "values"), CASES, ids=lambda case: repr(case)[:40])
def test_columns_give_what_their_values_give_one_by_one(feature: Any, values: Any) -> None:
    block = _block(feature, values)
    plain = block.rows()
    expected = [converter(feature)(row["x"]) for row in plain]
    for found in (array_rows(block), array_rows(block.slice(0, 1)) + array_rows(block.slice(1, 2))):
        assert all(_same(row["x"], value) for row, value in zip(found, expected, strict=True))


def test_plain_rows_are_plain_but_for_arrays() -> None:
    assert plain_rows(_block(List(Value("int8")), [[1], [2]])) == [{"x": [1]}, {"x": [2]}]
    (row,) = plain_rows(_block(Array2D((1, 2), "int8"), [[[1, 2]]]))
    assert (row["x"].dtype, row["x"].tolist()) == (np.int8, [[1, 2]])


def test_arrays_are_one_s_own() -> None:
    (row,) = array_rows(_block(List(Value("int8")), [[1, 2]]))
    row["x"][0] = 5
    assert row["x"].tolist() == [5, 2]


def test_what_a_function_made_stays_as_it_is() -> None:
    assert array_rows(DictBlock([{"x": [1]}])) == [{"x": [1]}]
    assert pa.types.is_int8(_block(Value("int8"), [1]).batch.column(0).type)


# Functions on elements as steps of a stream.


def _is_big(x: Any) -> bool:
    return bool(x > 1)


BLOCK = DictBlock([{"x": 1, "y": 10}, {"x": 2, "y": 20}])


def test_tuples_come_as_arguments() -> None:
    step = MapElements(ElementFunction(lambda x, y: x + y, Supervised(("x", "y")), "map"))
    assert step.changed(BLOCK, None).rows() == [{WHOLE: 11}, {WHOLE: 22}]


def test_rows_are_kept_or_numbered() -> None:
    keep = ElementFunction(_is_big, Supervised(("x",)), "filter")
    assert keep.kept_rows(BLOCK, None) == [1]
    assert NumberElements(Row(), 5).changed(BLOCK, range(2)).rows()[1] == {WHOLE: (6, {"x": 2, "y": 20})}


def test_steps_are_known_by_their_functions_and_travel() -> None:
    step = FilterElements(ElementFunction(_is_big, Row(), "filter"))
    assert (step.text, step.features(None)) == ("filter(_is_big)", None)
    assert pickle.loads(pickle.dumps(step)) == step


def test_a_function_behind_a_filter_sees_what_is_left() -> None:
    stream = tfds.SplitStream.of(Dataset.from_dict({"a": range(20)}).to_iterable_dataset())
    found = stream.filter(lambda row: row["a"] % 3 == 0).enumerate().map(lambda number, row: (number, row["a"]))
    assert list(found) == [(0, 0), (1, 3), (2, 6), (3, 9), (4, 12), (5, 15), (6, 18)]
