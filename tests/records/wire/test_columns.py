"""Tests of datasets_core/records/wire/columns.py."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.wire.columns import decode_examples, decode_sequence_examples
from datasets_core.records.wire.messages import Rules
from datasets_core.records.wire.values import RecordBlock
from tests.records import wire_forms as forms
from tests.records.wire_tables import (
    FILL,
    decoded,
    decoded_sequences,
    walk_example,
    walk_sequence_example,
    walked,
    walked_sequences,
)

RULES = st.sampled_from(["protobuf", "tensorflow"])
KEYS = st.one_of(st.none(), st.sets(st.sampled_from([b"a", b"ab", b"c", b"abcdefgh", b""])))


@given(st.integers(0, 1 << 32), st.floats(0, 1), RULES, KEYS, KEYS)
def test_sequence_examples_are_read_like_one_by_one(
    seed: int, oddness: float, rules: Rules, keys: set[bytes] | None, list_keys: set[bytes] | None
) -> None:
    source, records = forms.Forms(seed, oddness), []
    for record in (source.sequence_example() for _ in range(source.random.randrange(12))):
        try:
            walk_sequence_example(record, rules=rules, keys=keys, list_keys=list_keys)
        except ExampleError:
            with pytest.raises(ExampleError) as caught:
                decoded_sequences([record], keys, list_keys, rules)
            assert (caught.value.row, caught.value.record) == (0, 0)
        else:
            records.append(record)
    found, expected = (read(records, keys, list_keys, rules) for read in (decoded_sequences, walked_sequences))
    assert found == expected
    assert [[*table] for table in found] == [[*table] for table in expected]


def test_steps_of_many_lengths_are_read() -> None:
    records = [
        forms.sequence_example(
            [(b"id", forms.ints(number))],
            [
                (b"words", forms.steps([forms.strings(*[b"w%d" % number] * step) for step in range(number % 5)])),
                (b"frames", forms.steps([forms.floats(*range(step)) for step in range(number % 7)])),
            ],
        )
        for number in range(40)
    ]
    assert decoded_sequences(records) == walked_sequences(records)


def test_many_steps_of_few_records_are_read() -> None:
    records = [forms.sequence_example([], [(b"a", forms.steps([forms.ints(1, 300)] * count))]) for count in (1000, 3)]
    assert decoded_sequences(records) == walked_sequences(records)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_blocks_of_any_length_are_read(count: int) -> None:
    record = forms.sequence_example([(b"id", forms.ints(5))], [(b"a", forms.steps([forms.ints(1), forms.ints(2, 3)]))])
    context, lists = decode_sequence_examples(RecordBlock.of([record] * count))
    assert [column.lists.to_pylist() for kinds in context.values() for column in kinds.values()] == [[[5]] * count][:count]
    assert [column.lists.to_pylist() for kinds in lists.values() for column in kinds.values()] == [[[[1], [2, 3]]] * count][
        :count
    ]


def test_a_list_of_several_kinds_stands_under_each_with_all_its_steps() -> None:
    record = forms.sequence_example([], [(b"a", forms.steps([forms.ints(1), forms.floats(2.0), b""]))])
    columns = decode_sequence_examples(RecordBlock.of([record, *FILL]))[1][b"a"]
    assert {kind: column.lists.to_pylist()[0] for kind, column in columns.items()} == {
        "int64": [[1], [], []],
        "float": [[], [2.0], []],
    }
    assert columns["int64"].without_kind.tolist() == [False, True, True]


def test_the_first_bad_record_is_named_by_its_number_in_the_file() -> None:
    good = forms.sequence_example([], [(b"a", forms.steps([forms.ints(1)]))])
    block = RecordBlock.of([good] * 12 + [good[:-1], b"\xff"], first=50, name="a.tfrecord")
    with pytest.raises(ExampleError, match=r"a\.tfrecord: record 62: the record is not a tf\.train\.SequenceExample"):
        decode_sequence_examples(block)


# wire columns

VALUES = st.one_of(
    st.lists(st.binary(max_size=6), max_size=4).map(lambda values: forms.strings(*values)),
    st.lists(st.floats(width=32), max_size=5).map(lambda values: forms.floats(*values)),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(lambda values: forms.ints(*values)),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda values: forms.single_ints(*values)),
    st.lists(st.floats(width=32), max_size=3).map(lambda values: forms.single_floats(*values)),
    st.just(b""),
)


def _good(records: list[bytes], rules: Rules, keys: set[bytes] | None) -> list[bytes]:
    """The records that a walk reads; a block of one that it refuses is refused as well."""
    found = []
    for record in records:
        try:
            walk_example(record, rules=rules, keys=keys)
        except ExampleError:
            with pytest.raises(ExampleError) as caught:
                decoded([record], keys, rules)
            assert (caught.value.row, caught.value.record) == (0, 0)
        else:
            found.append(record)
    return found


@given(st.lists(st.lists(st.tuples(st.text(max_size=12), VALUES), max_size=6, unique_by=lambda one: one[0]), max_size=6))
def test_examples_as_programs_write_them_are_read_like_one_by_one(rows: list[list[tuple[str, bytes]]]) -> None:
    records = [forms.example([(key.encode(), value) for key, value in row]) for row in rows]
    assert [*decoded(records).items()] == [*walked(records).items()]


@given(st.integers(0, 1 << 32), st.floats(0, 1), RULES, KEYS)
def test_odd_examples_are_read_like_one_by_one(seed: int, oddness: float, rules: Rules, keys: set[bytes] | None) -> None:
    source = forms.Forms(seed, oddness)
    records = _good([source.example() for _ in range(source.random.randrange(12))], rules, keys)
    assert [*decoded(records, keys, rules).items()] == [*walked(records, keys, rules).items()]


@given(st.integers(0, 1 << 32), st.data(), RULES)
def test_examples_with_changed_bytes_are_read_like_one_by_one(seed: int, data: st.DataObject, rules: Rules) -> None:
    records = []
    for number in range(4):
        record = bytearray(forms.Forms(seed + number, 0).example())
        places = data.draw(st.lists(st.tuples(st.integers(0, max(len(record) - 1, 0)), st.integers(0, 255)), max_size=3))
        for place, octet in places:
            record[place : place + 1] = bytes([octet])
        records.append(bytes(record))
    records = _good(records, rules, None)
    assert decoded(records, None, rules) == walked(records, None, rules)


def test_keys_of_one_beginning_and_in_any_order_are_told_apart() -> None:
    keys = [b"key" + b"x" * length + end for length in range(20) for end in (b"", b"0", b"1", b"\0")]
    random, records = Random(0), []
    for number in range(60):
        chosen = random.sample(keys, random.randrange(len(keys)))
        records.append(forms.example([(key, forms.ints(number, len(key))) for key in chosen]))
    assert decoded(records) == walked(records)


def test_records_of_their_own_keys_are_read() -> None:
    records = [forms.example([(b"key%d" % number, forms.ints(number)), (b"all", forms.ints(1))]) for number in range(50)]
    assert [*decoded(records).items()] == [*walked(records).items()]


def test_thousands_of_keys_are_read() -> None:
    keys = [b"key%d" % number for number in range(1500)]
    records = [forms.example([(key, forms.floats(len(key))) for key in keys[first:]]) for first in (0, 3, 1400)]
    assert [*decoded(records)] == keys
    assert decoded(records) == walked(records)


def test_many_shuffled_keys_are_grouped_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.records.wire.maps._MANY", 50)
    random, records = Random(0), []
    for number in range(30):
        keys = [b"key%d" % key for key in range(30)]
        random.shuffle(keys)
        records.append(forms.example([(key, forms.ints(number)) for key in keys]))
    assert [*decoded(records).items()] == [*walked(records).items()]


@pytest.mark.parametrize("count", [0, 1, 2, 9, 30])
def test_blocks_of_any_length_are_read_wire_columns(count: int) -> None:
    block = RecordBlock.of([forms.example([(b"a", forms.ints(number))]) for number in range(count)])
    columns = decode_examples(block)
    assert [*columns] == [b"a"][: min(count, 1)]
    assert all(column.lists.to_pylist() == [[number] for number in range(count)] for column in columns.get(b"a", {}).values())


def test_a_part_of_a_block_is_read_where_it_stands() -> None:
    records = [forms.example([(b"a", forms.strings(b"%d" % number))]) for number in range(40)]
    part = RecordBlock.of(records)[5:25]
    assert decode_examples(part)[b"a"]["bytes"].lists.to_pylist() == [[b"%d" % number] for number in range(5, 25)]


def test_what_stands_between_records_is_not_read() -> None:
    records = [forms.example([(b"a", forms.floats(number, 0.5))]) for number in range(20)]
    data = b"\xff".join(records)
    stops = np.cumsum([len(record) + 1 for record in records]) - 1
    block = RecordBlock(data, stops - [len(record) for record in records], stops)
    assert decode_examples(block)[b"a"]["float"].lists.to_pylist() == [[number, 0.5] for number in range(20)]


@pytest.mark.parametrize(
    "feature",
    [
        forms.strings(b"x" * 3_000_000),
        forms.floats(*range(300_000)),
        forms.ints(*range(300_000), -1),
        forms.single_floats(*range(100_000)),
        forms.single_ints(*range(100_000)),
        forms.strings(*[b"ab"] * 3000),
    ],
    ids=["bytes", "floats", "ints", "single floats", "single ints", "strings"],
)
def test_large_records_are_read(feature: bytes) -> None:
    records = [forms.example([(b"l", forms.ints(1)), (b"a", feature)]), forms.example([(b"l", forms.ints(2))])]
    assert decoded(records) == walked(records)


def test_large_values_of_many_lengths_are_read() -> None:
    records = [forms.example([(b"a", forms.strings(bytes([number]) * (5000 + number)))]) for number in range(20)]
    assert decoded(records) == walked(records)


def test_the_first_bad_record_is_named_by_its_number_in_the_file_wire_columns() -> None:
    good, bad = forms.example([(b"a", forms.ints(1))]), forms.example([(b"a", b"\xff")])
    block = RecordBlock.of([good] * 12 + [bad] + [good] * 5 + [b"\xff"], first=1000, name="a.tfrecord")
    with pytest.raises(ExampleError, match=r"a\.tfrecord: record 1,012: the record is not a tf\.train\.Example") as caught:
        decode_examples(block)
    assert caught.value.record == 1012


def test_keys_that_are_not_wanted_are_not_looked_into() -> None:
    records = [forms.example([(b"a", forms.ints(1)), (b"b", b"\xff\xff")])] * 3
    assert decoded(records, [b"a"]) == {b"a": {"int64": [[1]] * 3}}


def test_a_key_that_is_no_text_is_an_error_by_protobufs_rules_alone() -> None:
    records = [forms.example([(b"\xff", forms.ints(1))])]
    assert decoded(records, rules="tensorflow") == {b"\xff": {"int64": [[1]]}}
    with pytest.raises(ExampleError, match="not valid UTF-8"):
        decoded(records)


def test_columns_have_the_types_of_their_kinds() -> None:
    record = forms.example([(b"s", forms.strings(b"x")), (b"f", forms.floats(1.0)), (b"i", forms.ints(1)), (b"e", b"")])
    columns = decode_examples(RecordBlock.of([record, *FILL]))
    types = {key: {kind: column.values.type for kind, column in kinds.items()} for key, kinds in columns.items()}
    assert types == {
        b"s": {"bytes": pa.binary()},
        b"f": {"float": pa.float32()},
        b"i": {"int64": pa.int64()},
        b"e": {None: pa.null()},
    }
    assert all(column.offsets.dtype == np.int64 for kinds in columns.values() for column in kinds.values())


def test_a_feature_of_two_kinds_stands_under_both() -> None:
    records = [forms.example([(b"a", value)]) for value in (forms.ints(1), forms.floats(2.0), b"", forms.ints())]
    columns = decode_examples(RecordBlock.of([*records, *FILL]))[b"a"]
    assert {kind: column.lists.to_pylist()[:4] for kind, column in columns.items()} == {
        "int64": [[1], None, None, []],
        "float": [None, [2.0], None, None],
        None: [None, None, [], None],
    }
