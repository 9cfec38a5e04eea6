import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.wire.columns import decode_sequence_examples
from datasets_core.records.wire.messages import Rules
from datasets_core.records.wire.values import RecordBlock
from tests.records import wire_forms as forms
from tests.records.wire_tables import FILL, decoded_sequences, walk_sequence_example, walked_sequences

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
            with pytest.raises(ExampleError, match="record 0"):
                decoded_sequences([record], keys, list_keys, rules)
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
    with pytest.raises(ExampleError, match=r"a\.tfrecord: record 62: no tf\.train\.SequenceExample"):
        decode_sequence_examples(block)
