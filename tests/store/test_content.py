"""The fingerprint of rows."""

import datetime
import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.base import Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.store.equality import RowDigest, data_fingerprint, differing, split_fingerprints
from datasets_core.store.manifest import Manifest

NAN = math.nan
KINDS = {
    "number": (pa.float64(), [1.5, None, NAN, -0.0]),
    "small": (pa.int8(), [1, 2, None, -4]),
    "flag": (pa.bool_(), [True, None, False, True]),
    "text": (pa.string(), ["", "ab", None, "é"]),
    "bytes": (pa.binary(), [b"\0", None, b"", b"xyz"]),
    "day": (pa.date32(), [datetime.date(2020, 1, 2), None, None, datetime.date(1, 1, 1)]),
    "price": (pa.decimal128(6, 2), [Decimal("1.25"), None, Decimal("-3"), Decimal("0")]),
    "list": (pa.list_(pa.list_(pa.int64())), [[[1], []], None, [], [None, [2, 3]]]),
    "pair": (pa.list_(pa.float32(), 2), [[1, 2], None, [NAN, 0], [3, 4]]),
    "struct": (pa.struct([("a", pa.string()), ("b", pa.list_(pa.bool_()))]), [{"a": "x", "b": [True]}, None, {}, {"b": []}]),
}


def _table() -> pa.Table:
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in KINDS.items()})


def _digest(table: pa.Table, *cuts: int, features: Features | None = None) -> str:
    digest = RowDigest(features or Features.from_arrow_schema(table.schema))
    borders = [0, *cuts, len(table)]
    for start, stop in itertools.pairwise(borders):
        for batch in table.slice(start, stop - start).combine_chunks().to_batches() or table.slice(start, 0).to_batches():
            digest.update(batch)
    return digest.hexdigest()


@pytest.mark.parametrize("cuts", [(1,), (2,), (1, 2, 3), (0, 4)])
def test_where_batches_end_leaves_no_trace(cuts: tuple[int, ...]) -> None:
    assert _digest(_table(), *cuts) == _digest(_table())


def test_slices_of_larger_arrays_are_equal_to_copies() -> None:
    table = pa.concat_tables([_table(), _table()]).combine_chunks()
    digest = RowDigest(Features.from_arrow_schema(table.schema))
    digest.update(table.slice(4).to_batches()[0])
    assert digest.hexdigest() == _digest(_table())


def test_the_order_of_columns_and_the_width_of_offsets_leave_no_trace() -> None:
    table = _table()
    turned = table.select(list(reversed(table.column_names)))
    place = turned.column_names.index("text")
    wide = turned.set_column(place, "text", turned["text"].cast(pa.large_string()))
    assert _digest(wide) == _digest(table)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_value_counts(name: str) -> None:
    table = _table()
    kind, values = KINDS[name]
    found = {_digest(table)}
    for row, value in enumerate(values):
        others = [*values[:row], values[(row + 1) % 4], *values[row + 1 :]]
        changed = table.set_column(table.column_names.index(name), name, pa.array(others, kind))
        assert (_digest(changed) in found) is (repr(values[(row + 1) % 4]) == repr(value))


def test_the_order_of_rows_and_the_kind_of_columns_count() -> None:
    table = pa.table({"a": [1, 2]})
    small = pa.table({"a": pa.array([1, 2], pa.int32())})
    renamed = table.rename_columns(["b"])
    assert len({_digest(each) for each in (table, table.take([1, 0]), small, renamed, table.slice(0, 1))}) == 5


def test_pictures_count_by_their_bytes_or_else_by_the_name_of_their_file() -> None:
    features = Features({"picture": Image(), "id": Value("int64")})

    def digest(*pictures: dict[str, Any]) -> str:
        rows = pa.table({"picture": list(pictures), "id": [1, 2]}, schema=features.arrow_schema)
        return _digest(rows, features=features)

    here = digest({"bytes": b"1", "path": "/a/x.png"}, {"bytes": None, "path": "/a/y.png"})
    assert here == digest({"bytes": b"1", "path": "/b/other.png"}, {"bytes": None, "path": "/b/y.png"})
    assert here != digest({"bytes": b"2", "path": "/a/x.png"}, {"bytes": None, "path": "/a/y.png"})
    assert here != digest({"bytes": b"1", "path": "/a/x.png"}, {"bytes": None, "path": "/a/z.png"})


VALUES = st.lists(st.none() | st.lists(st.none() | st.sampled_from(["", "a", "ab"]), max_size=3), min_size=3, max_size=3)


@given(VALUES, VALUES)
def test_rows_have_one_fingerprint_if_and_only_if_none_of_them_differs(old: list[Any], new: list[Any]) -> None:
    kind = pa.list_(pa.string())
    before, after = (pa.table({"a": pa.array(values, kind)}) for values in (old, new))
    is_equal = not differing(before["a"].chunk(0), after["a"].chunk(0)).any()
    assert (_digest(before) == _digest(after)) is is_equal


def test_datasets_have_the_fingerprint_of_their_rows_in_every_format(
    build: Callable[..., tuple[str, Manifest]], table: pa.Table, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = [
        split_fingerprints(*build(str(tmp_path_factory.mktemp(kind) / "data"), table, file_format=kind))
        for kind in ("arrow", "parquet")
    ]
    assert found[0] == found[1]
    assert list(found[0]) == ["train", "test"]
    assert found[0]["train"] == _digest(table)
    assert data_fingerprint(found[0]) != data_fingerprint(dict(reversed(found[0].items())))


def test_the_fingerprint_of_rows_never_changes() -> None:
    """A paper holds it: this value may not change with a release."""
    assert _digest(_table()) == "727932ac068b45ade0a9e26da98e92450b33428c0bef84e5c722eba0a8b3ac09"
