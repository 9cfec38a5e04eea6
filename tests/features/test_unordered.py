"""Columns whose types and order follow from the rows alone: no order of rows, and no cut into parts, is told from another."""

import datetime
import itertools
import json
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features
from datasets_core.features.unordered import Facts, OrderFreeEncoder, join_schemas, join_types, names_in_order

_UTC = datetime.UTC
_PARIS = datetime.timezone(datetime.timedelta(hours=1))
_DAY = datetime.datetime(2020, 1, 1)
_NUMBERS = [0, 1, -1, 2**53 + 1, 2**63, 2**64, 0.5, Decimal("1.5"), Decimal("0.001"), True]
_NUMPY = [np.int8(1), np.int64(-1), np.uint8(3), np.uint64(5), np.float32(0.5)]
_MOMENTS = [_DAY.date(), _DAY, _DAY.replace(tzinfo=_UTC), _DAY.replace(tzinfo=_PARIS), np.datetime64(1, "ns")]
_OTHERS = ["x", b"x", None, np.arange(2, dtype=np.int32), np.array([[1.5]])]
_FAMILIES = [
    _NUMBERS,
    [0, 1, 2**63, None],
    [*_NUMBERS[:3], *_NUMPY],
    _MOMENTS,
    _OTHERS,
    [1, 2.5, None],
    [2**63, 0.5, Decimal(1)],
]


def _column(leaves: list[Any]) -> st.SearchStrategy[list[Any]]:
    leaf = st.sampled_from(leaves)
    dicts = st.permutations(["x", "y", "z"]).flatmap(
        lambda names: st.tuples(*[leaf] * 3).map(lambda vs: dict(zip(names, vs, strict=True)))
    )
    fewer = st.tuples(dicts, st.integers(0, 3)).map(lambda found: dict(list(found[0].items())[: found[1]]))
    kind = st.sampled_from([leaf, st.lists(leaf, max_size=2), fewer, st.lists(fewer, max_size=2)])
    return kind.flatmap(lambda each: st.lists(st.none() | each, min_size=2, max_size=6))


_COLUMNS = st.sampled_from(_FAMILIES).flatmap(_column)


def _outcome(parts: Sequence[Sequence[tuple[int, dict[str, Any]]]]) -> pa.Table | None:
    """The rows in the order of their numbers, from parts that are encoded apart; None where they are refused."""
    facts, made = Facts(), []
    try:
        for part in parts:
            encoder = OrderFreeEncoder()
            made.append(encoder.encode([row for _, row in part]))
            facts.add(Facts.from_json(json.loads(json.dumps(encoder.facts.to_json()))))
        schema = made[0].schema
        for batch in made[1:]:
            schema = join_schemas(schema, batch.schema)
        facts.check()
        features = Features.from_arrow_schema(facts.ordered(schema))
        table = pa.Table.from_batches([cast_table(batch, features) for batch in made]).combine_chunks()
    except CastError:
        return None
    numbers = [number for part in parts for number, _ in part]
    return table.take(pa.array(np.argsort(numbers)))


@given(_COLUMNS, st.randoms(use_true_random=False))
def test_no_order_and_no_cut_is_told_from_another(values: list[Any], chance: random.Random) -> None:
    rows = [(number, {"id": number, "a": value}) for number, value in enumerate(values)]
    expected = _outcome([[row] for row in rows])
    for _ in range(3):
        chance.shuffle(rows)
        cut = chance.randrange(1, len(rows))
        for parts in ([rows], [rows[:cut], rows[cut:]], [[row] for row in rows]):
            found = _outcome(parts)
            assert (found is None) == (expected is None)
            if found is not None and expected is not None:
                assert found.schema.equals(expected.schema, check_metadata=True)
                assert found.to_pylist() == expected.to_pylist() or "nan" in repr(found.to_pylist())


@pytest.mark.parametrize(
    ("values", "arrow_type"),
    [
        ([1, 2**63], pa.uint64()),
        ([1, 2**63, -1], None),
        ([-1, np.uint64(5), 0.5], None),
        ([np.uint64(5), 0.5], pa.float64()),
        ([2**53 + 1, 0.5], None),
        ([1, Decimal("1.5")], pa.decimal128(20, 1)),
        ([[1], [2**63], None], pa.list_(pa.uint64())),
        ([{"b": 1, "a": 2}, {"a": 2**63, "b": None}], pa.struct({"a": pa.uint64(), "b": pa.int64()})),
        ([{"b": 1}, {"b": 2, "a": 2}], pa.struct({"b": pa.int64(), "a": pa.int64()})),
        ([[{"x": 1}], [{"c": 1}]], pa.list_(pa.struct({"c": pa.int64(), "x": pa.int64()}))),
        ([True, 1], None),
        ([_DAY, _DAY.date()], pa.timestamp("us")),
    ],
)
def test_values_have_one_type_whichever_comes_first(values: list[Any], arrow_type: pa.DataType | None) -> None:
    for order in itertools.permutations(values):
        rows = [(number, {"a": value}) for number, value in enumerate(order)]
        for parts in ([rows], [[row] for row in rows]):
            found = _outcome(parts)
            assert (None if found is None else found.schema.field("a").type) == arrow_type


def test_a_refusal_names_row_and_both_values() -> None:
    with pytest.raises(CastError, match=r"(?s)'a\.b'.*'x' \(str, string\) does not fit 1 \(int, int64\) in row 0"):
        OrderFreeEncoder().encode([{"a": {"b": 1}}, {"a": {"b": "x"}}])


@given(st.lists(st.permutations("abcd").map(lambda names: names[:3]), max_size=4))
def test_columns_keep_an_order_that_all_rows_have(orders: list[list[str]]) -> None:
    pairs = {pair for names in orders for pair in itertools.pairwise(names)}
    found = names_in_order("dcba", pairs)
    assert sorted(found) == [*"abcd"]
    is_kept = all([name for name in found if name in names] == names for names in orders)
    if not is_kept:
        assert found == [*"abcd"]
        assert not any(
            all([name for name in other if name in names] == names for names in orders)
            for other in itertools.permutations("abcd")
        )


@given(
    st.lists(st.sampled_from([pa.int8(), pa.int64(), pa.uint8(), pa.uint64(), pa.float32(), pa.decimal128(3, 1)]), max_size=4)
)
def test_the_join_of_numbers_is_the_same_in_any_order(kinds: list[pa.DataType]) -> None:
    def joined(each: Sequence[pa.DataType]) -> pa.DataType | None:
        found: pa.DataType | None = pa.null()
        for kind in each:
            found = None if found is None else join_types(found, kind)
        return found

    assert len({joined(each) for each in itertools.permutations(kinds)}) == 1
