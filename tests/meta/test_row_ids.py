from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import RowIdError
from datasets_core.meta.row_blocks import parse_row_id, row_id, shard_number
from datasets_core.meta.split_info import shard_file_name

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
