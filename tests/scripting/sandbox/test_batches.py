"""Values on the pipe: what is plain comes as what it was, and the rest stays."""

import contextlib
import json
import pathlib
import pickle
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.hooks import divide, holds_once, is_data
from datasets_core.errors import ColumnLimitError, ConfigurationError, DatasetBuildError, DatasetGenerationError
from datasets_core.features.schema import Features, plain_schema
from datasets_core.scripting.sandbox.batches import (
    OtherKey,
    Receiver,
    RemoteData,
    RemoteIterator,
    RemoteValue,
    Sender,
    Values,
    decoded,
    encoded,
    given_back,
    keys_form,
    read_schema,
    refused,
    remote_value,
    unknown,
    whole,
)

KEYS = st.one_of(st.text(max_size=5), st.integers(), st.tuples(st.integers(), st.text(max_size=3)))
PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=9), st.binary(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_come_as_they_were(value: Any) -> None:
    form = json.loads(json.dumps(encoded(value, refused)))
    found = decoded(form, unknown)
    assert found == value
    assert repr(found) == repr(value)  # 1 is no 1.0, and no True


def test_paths_come_as_paths() -> None:
    assert decoded(encoded([pathlib.Path("/a/b")], refused), unknown) == [pathlib.Path("/a/b")]


def _sent(value: Any, **options: Any) -> tuple[Any, Values]:
    values = Values()
    form = json.loads(json.dumps(encoded(value, values.hold, **options)))
    return decoded(form, remote_value), values


def test_what_is_not_plain_stays_and_is_given_back() -> None:
    thing = object()
    found, values = _sent({"a": 1, "thing": thing})
    assert isinstance(found["thing"], RemoteValue)
    back = decoded(json.loads(json.dumps(encoded(found, given_back))), values.held)
    assert back == {"a": 1, "thing": thing}


@pytest.mark.parametrize(
    "value",
    [
        {"shards": [0, 1], "keep": {1, 2}},
        {"files": [{1}, {2}], "x": 1},
        {"it": [iter([]), iter([])]},
        {"o": [object(), object()]},
    ],
)
def test_the_parent_divides_what_stays_as_the_script_would_be(value: dict[str, Any]) -> None:
    found, _ = _sent(value)
    assert len(divide(found)) == len(divide(value))
    assert holds_once(found) == holds_once(value)
    assert [is_data(each) for each in found.values()] == [is_data(each) for each in value.values()]


def test_what_can_be_read_once_is_known_as_such() -> None:
    found, _ = _sent([iter([1]), range(3), object()])
    assert [type(each) for each in found] == [RemoteIterator, RemoteData, RemoteValue]
    assert isinstance(found[0], Iterator)
    for read in (iter, lambda each: next(iter(each))):
        with pytest.raises(DatasetBuildError, match="stays in the confined process"):
            read(found[0])
    assert pickle.loads(pickle.dumps(found[0])) == found[0]


def test_values_without_an_identity_never_have_the_same() -> None:
    (first,), _ = _sent([(n for n in range(3))])
    (again,), _ = _sent([(n for n in range(3))])
    (known,), _ = _sent([frozenset({1})])
    assert first.identity != again.identity
    assert known.identity == _sent([frozenset({1})])[0][0].identity


def test_paths_of_a_folder_that_goes_stay() -> None:
    found, values = _sent({"files": ["/scratch/a", "/data/b"], "path": pathlib.Path("/scratch/c")}, own="/scratch")
    assert isinstance(found["path"], RemoteValue)
    assert isinstance(found["files"][0], RemoteValue)
    assert found["files"][1] == "/data/b"
    assert decoded(encoded(found, given_back), values.held)["files"] == ["/scratch/a", "/data/b"]


@pytest.mark.parametrize(
    "form",
    [
        {"d": 1},
        {"t": "ab"},
        {"b": "!"},
        {"x": []},
        {},
        {"d": {}, "t": []},
        {"m": [[1]]},
        {"m": [[[], 1]]},
        {"held": 1},
        {"p": 2},
    ]
    + [{"held": {"number": number, "kind": "value", "identity": None}} for number in (-1, "0", None, 1.5)]
    + [{"held": {"number": 0, "kind": "evil", "identity": None}}, {"held": {"number": 0, "kind": "data", "identity": 5}}],
)
def test_forms_that_stand_for_nothing_are_refused(form: Any) -> None:
    with pytest.raises(ConfigurationError, match="Do not trust it"):
        decoded([form], remote_value)


def test_what_a_user_says_is_plain() -> None:
    with pytest.raises(ConfigurationError, match=r"object.*cannot be passed to a confined script"):
        encoded({"a": object()}, refused)


# Batches of rows on the pipe: they come whole, and what is no batch is refused.

BATCH = pa.record_batch({"a": [1, 2, 3], "s": ["x", "y", None]})
KEYS_SENT_BATCHES = st.one_of(
    st.lists(st.integers(), min_size=1, max_size=20),
    st.lists(st.text(max_size=5), min_size=1, max_size=20),
    st.lists(st.binary(max_size=5), min_size=1, max_size=20),
    st.lists(st.tuples(st.integers(), st.text(max_size=3)), min_size=1, max_size=20),
    st.lists(st.one_of(st.integers(), st.booleans(), st.text(max_size=3)), min_size=1, max_size=20),
    st.tuples(st.integers(-5, 5), st.integers(1, 40)).map(lambda pair: list(range(pair[0], sum(pair)))),
)


def receiver(expected: pa.Schema | None = None) -> Receiver:
    return Receiver("reviews", expected)


@given(KEYS_SENT_BATCHES)
def test_keys_come_as_they_were(keys: list[Any]) -> None:
    head, payload = keys_form(keys)
    found = list(receiver().keys(json.loads(json.dumps(head)), payload))
    assert found == keys
    assert list(map(type, found)) == list(map(type, keys))


def test_keys_that_are_none_come_as_their_words() -> None:
    head, payload = keys_form([{1}, 1.5, "a" * 70_000, b"b" * 70_000])
    found = receiver().keys(head, payload)
    assert [repr(found[0]), *found[1:]] == ["{1}", 1.5, "a" * 70_000, b"b" * 70_000]
    assert isinstance(found[0], OtherKey)


def test_batches_come_as_they_were_with_their_schema_once() -> None:
    sender, into = Sender(), receiver(BATCH.schema)
    wider = pa.record_batch({"a": [1.5]})
    for batch, is_new in ((BATCH, True), (BATCH, False)):
        head, payload = sender.payload(batch)
        assert head.get("schema", False) is is_new
        assert into.batch(head, payload).equals(batch)
    head, payload = sender.payload(wider)
    assert receiver().batch(head, payload).equals(wider)


def test_dictionaries_and_tables_come_whole() -> None:
    batch = pa.record_batch({"d": pa.array(["a", "b", "a"]).dictionary_encode()})
    sender, into = Sender(), receiver()
    for _ in range(2):
        assert into.batch(*sender.payload(batch)).to_pylist() == batch.to_pylist()
    table = pa.table({"d": pa.chunked_array([["a"], ["b", "c"]])})
    assert into.table(whole(table)).equals(table)


def _compressed(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write(batch)
    return sink.getvalue()


def _altered(before: bytes, after: bytes) -> bytes:
    """A stream of texts in which some bytes are others."""
    good = bytes(whole(pa.record_batch({"s": ["abcdefgh", "ijklmnop"]})))
    assert good.count(before) == 1
    return good.replace(before, after)


BAD = {
    "nothing": None,
    "no message": b"x" * 100,
    "an end": b"\xff\xff\xff\xff\0\0\0\0",
    "half of it": bytes(whole(BATCH))[:300],
    "compressed": _compressed(pa.record_batch({"a": [0] * 10_000})),
    "compressed dictionary": _compressed(pa.record_batch({"a": pa.array(["a" * 1000] * 9).dictionary_encode()})),
    "two batches": whole(pa.table({"a": pa.chunked_array([[1], [2]])})),
    "offsets that lead out": _altered(b"\x08\0\0\0\x10\0\0\0", b"\x08\0\0\0\xff\xff\xff\x7f"),
    "no UTF-8": _altered(b"abcdefgh", b"abcd\xff\xfe\xfdh"),
}


@pytest.mark.parametrize("payload", BAD.values(), ids=BAD)
def test_damaged_batches_are_refused(payload: Any) -> None:
    with pytest.raises(DatasetGenerationError, match=r"reviews sent a damaged batch .* Do not trust it"):
        receiver().batch({"rows": 1, "schema": True}, payload)


@given(st.binary(max_size=200), st.integers(0, 500))
def test_bytes_that_anybody_changed_are_rows_or_refused(noise: bytes, at: int) -> None:
    good = bytearray(bytes(whole(BATCH)))
    good[at : at + len(noise)] = noise
    try:
        found = receiver().batch({"rows": 3, "schema": True}, bytes(good))
    except DatasetGenerationError:
        return
    found.validate(full=True)
    found.to_pylist()


def test_other_columns_and_other_counts_are_refused() -> None:
    head, payload = Sender().payload(BATCH)
    with pytest.raises(DatasetGenerationError, match="different columns than"):
        receiver(pa.schema({"a": pa.int8()})).batch(head, payload)
    with pytest.raises(DatasetGenerationError, match="announced with 7"):
        receiver().batch({**head, "rows": 7}, payload)
    with pytest.raises(DatasetGenerationError, match="damaged table"):
        receiver().table(b"no table at all")


@pytest.mark.parametrize(
    "head",
    [
        *({}, {"span": 1}, {"span": ["a", 2]}, {"span": [1.5, 2]}, {"span": [0, True]}, {"keys": 5}, {"column": True}),
        *({"keys": [{"held": {"int": "x"}}]}, {"keys": [{"held": {"evil": 1}}]}, {"keys": [{"held": {}}]}),
    ],
)
def test_keys_that_are_no_keys_are_refused(head: dict[str, Any]) -> None:
    with pytest.raises((DatasetGenerationError, ValueError), match=r"invalid keys|Do not trust"):
        list(receiver().keys(head, None))


class Extension(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.int8(), "evil.type")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Extension":
        return cls()


def test_extension_types_that_are_not_arrows_own_are_refused() -> None:
    pa.register_extension_type(Extension())
    try:
        array = pa.ExtensionArray.from_storage(Extension(), pa.array([1], pa.int8()))
        payload = whole(pa.record_batch([array], ["a"]))
        with pytest.raises(DatasetGenerationError, match="an extension type"):
            receiver().batch({"rows": 1, "schema": True}, payload)
    finally:
        pa.unregister_extension_type("evil.type")


def test_no_damage_ends_the_process_that_reads_it() -> None:
    told = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("damaged_payloads.py")), "0", "1200"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (told.returncode, told.stderr, told.stdout.split()[-1]) == (0, "", "1199")


def test_a_length_below_none_is_refused_before_it_is_looked_into() -> None:
    payload = bytearray(whole(pa.record_batch({"st": [{"a": 7}] * 77})).to_pybytes())
    lengths = struct.pack("<4q", 77, 0, 77, 0)
    at = payload.index(lengths) + 16
    payload[at : at + 8] = struct.pack("<q", -1)
    for read in (
        lambda: receiver().batch({"rows": 77, "schema": True}, bytes(payload)),
        lambda: receiver().table(bytes(payload)),
        lambda: receiver().keys({"column": True}, bytes(payload)),
    ):
        with pytest.raises(DatasetGenerationError, match="Do not trust it"):
            read()


def test_messages_without_number_are_refused_before_they_are_kept() -> None:
    schema, empty = pa.schema([]).serialize().to_pybytes(), pa.record_batch([], names=[]).serialize().to_pybytes()
    with pytest.raises(DatasetGenerationError, match=r"damaged table .*messages in"):
        receiver().table(schema + empty * 70_000)
    with pytest.raises(DatasetGenerationError, match="two schemas"):
        receiver().table(schema * 2)


def test_tables_of_many_small_chunks_come_whole() -> None:
    table = pa.table({"a": pa.chunked_array([[number] for number in range(1500)]), "b": pa.chunked_array([["x"] * 1500])})
    assert receiver().table(whole(table)).equals(table)
    coded = pa.concat_tables([pa.table({"d": pa.array([f"{n}"]).dictionary_encode()}) for n in range(1500)])
    assert receiver().table(whole(coded)).column("d").to_pylist() == coded.column("d").to_pylist()


# One rule: no batch takes more memory than came.

LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int8(), st.integers(-9, 9)),
    (pa.string(), st.text(max_size=20)),
    (pa.string_view(), st.text(max_size=20)),
    (pa.binary_view(), st.binary(max_size=20)),
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    (pa.decimal128(5, 2), st.decimals(-99, 99, places=2)),
]


@st.composite
def _encoded_arrays(draw: Any, rows: int, depth: int = 2) -> pa.Array:
    """An array of any encoding that features support."""
    kinds = ["leaf", "dictionary", "runs"] + (["list", "large list", "list view", "fixed", "struct", "map"] if depth else [])
    kind = draw(st.sampled_from(kinds))
    if kind in ("leaf", "dictionary", "runs"):
        leaf, values = draw(st.sampled_from(LEAVES))
        array = pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), leaf)
        if kind == "runs" and rows:
            return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, rows + 1), pa.int32()), array)
        plain_text = pa.types.is_string(leaf) or pa.types.is_integer(leaf)
        return array.dictionary_encode() if kind == "dictionary" and plain_text else array
    if kind == "struct":
        children = [draw(_encoded_arrays(rows, depth - 1)) for _ in range(2)]
        return pa.StructArray.from_arrays(children, ["a", "b"], mask=pa.array(draw(_flags(rows)), pa.bool_()))
    lengths = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(draw(_encoded_arrays(2 * rows, depth - 1)), 2)
    child = draw(_encoded_arrays(sum(lengths), depth - 1))
    stops = [sum(lengths[:row]) for row in range(rows + 1)]
    if kind == "map":
        return pa.MapArray.from_arrays(pa.array(stops, pa.int32()), pa.array(map(str, range(len(child))), pa.string()), child)
    if kind == "list view":
        starts, sizes = pa.array(stops[:-1], pa.int32()), pa.array(lengths, pa.int32())
        return pa.ListViewArray.from_arrays(starts, sizes, child, mask=pa.array(draw(_flags(rows)), pa.bool_()))
    make, offset = (pa.LargeListArray, pa.int64()) if kind == "large list" else (pa.ListArray, pa.int32())
    return make.from_arrays(pa.array(stops, offset), child)


def _flags(rows: int) -> st.SearchStrategy[list[bool]]:
    return st.lists(st.booleans(), min_size=rows, max_size=rows)


@given(st.data(), st.integers(1, 5))
def test_rows_of_any_encoding_come_plain_with_the_same_values_and_features(data: Any, rows: int) -> None:
    table = pa.table([data.draw(_encoded_arrays(rows))], ["a"])
    payload = whole(table)
    found = receiver().table(payload)
    assert plain_schema(Features.from_arrow_schema(found.schema).arrow_schema) == plain_schema(
        Features.from_arrow_schema(table.schema).arrow_schema
    )
    assert _values(found) == _values(table)
    assert found.nbytes <= len(payload)


def _values(table: pa.Table) -> list[Any]:
    """The rows; a map and the list that it is stored as are the same."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return [(name, plain(inner)) for name, inner in value.items()]
        if isinstance(value, tuple):
            return [("key", plain(value[0])), ("value", plain(value[1]))]
        return [plain(each) for each in value] if isinstance(value, list) else value

    return [plain(row) for row in table.to_pylist()]


def _stream(*batches: pa.RecordBatch, **options: Any) -> bytes:
    """What the library's own end of the pipe does not send."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _coded(*texts: str) -> pa.RecordBatch:
    return pa.record_batch({"a": pa.DictionaryArray.from_arrays(pa.array([0] * 10, pa.int8()), pa.array(texts))})


def _sharing() -> bytes:
    """Two columns that are one buffer."""
    stream = _stream(pa.record_batch({"a": range(8), "b": range(8)}))
    own, shared = struct.pack("<qq", 64, 64), struct.pack("<qq", 0, 64)
    at = stream.rindex(own)
    return stream[:at] + shared + stream[at + len(own) :]


def _views() -> pa.RecordBatch:
    """A text of 1 MB, a thousand times."""
    _, view, text = pa.array(["a" * (1 << 20)], pa.string_view()).buffers()
    views = pa.py_buffer(view.to_pybytes()[:16] * 1000)
    return pa.record_batch({"a": pa.Array.from_buffers(pa.string_view(), 1000, [None, views, text])})


V4 = pa.ipc.MetadataVersion.V4
LARGE = pa.record_batch({"a": ["x" * 1000] * 10})
SPREADING = {
    "a dictionary": _stream(_coded("x" * 1000)),
    "deltas of a dictionary": _stream(_coded("x"), _coded("x", "y"), emit_dictionary_deltas=True),
    "compression": _stream(LARGE, compression="zstd"),
    "compression in the manner of V4": _stream(LARGE, compression="zstd", metadata_version=V4),
    "metadata of V4": _stream(LARGE, metadata_version=V4),
    "one buffer of two columns": _sharing(),
    "one text of many views": _stream(_views()),
    "list views": _stream(
        pa.record_batch(
            {"a": pa.ListViewArray.from_arrays(pa.array([0] * 9, pa.int32()), pa.array([9] * 9, pa.int32()), range(9))}
        )
    ),
    "runs": _stream(pa.record_batch({"a": pa.RunEndEncodedArray.from_arrays(pa.array([1 << 19], pa.int32()), ["x" * 1000])})),
    "a union": _stream(pa.record_batch({"a": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])})),
    "nulls without number": _stream(pa.record_batch([pa.nulls(1 << 20)] * 5, names=[*"abcde"])),
    "empty structs": _stream(
        pa.record_batch({"a": pa.FixedSizeListArray.from_arrays(pa.nulls(1 << 24).cast(pa.null()), 1 << 23)})
    ),
}


@pytest.mark.parametrize("payload", SPREADING.values(), ids=SPREADING)
def test_what_would_take_more_memory_than_came_is_refused(payload: bytes) -> None:
    before = pa.total_allocated_bytes()
    for read in (
        lambda: receiver().batch({"rows": 10, "schema": True}, payload),
        lambda: receiver().table(payload),
        lambda: receiver().keys({"column": True}, payload),
    ):
        with pytest.raises(DatasetGenerationError, match="Do not trust it"):
            read()
    assert pa.total_allocated_bytes() <= before + len(payload)


def test_a_type_that_no_feature_supports_is_an_error_of_the_script() -> None:
    batch = pa.record_batch({"a": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])})
    with pytest.raises(ConfigurationError, match="No feature supports the Arrow type"):
        whole(batch)


def test_a_schema_alone_is_bounded_and_has_no_type_without_a_name() -> None:
    assert read_schema(pa.schema({"a": pa.int8()}).serialize()) == pa.schema({"a": pa.int8()})
    with pytest.raises(ColumnLimitError) as caught:
        read_schema(pa.schema({"a": pa.struct([(str(number), pa.int8()) for number in range(100_001)])}).serialize())
    assert caught.value.limit == 100_000
    nested = pa.struct([("inner", pa.list_(pa.field("deep", pa.timestamp("s", "Europe/Rome"))))])
    for schema in (pa.schema({"a": pa.month_day_nano_interval()}), pa.schema({"a": nested})):
        stream = bytearray(schema.serialize())
        for at in range(len(stream)):
            for value in (0, 1, 2, 255):
                changed = bytes(stream[:at]) + bytes([value]) + bytes(stream[at + 1 :])
                with contextlib.suppress(ValueError):
                    read_schema(changed).to_string()


def test_a_batch_of_more_columns_than_the_limit_names_the_script_and_their_number():
    head, payload = Sender().payload(pa.RecordBatch.from_pylist([{"deep": dict.fromkeys(map(str, range(1_002)), 1)}]))
    with config.using(max_columns=1_000), pytest.raises(ColumnLimitError) as caught:
        Receiver("wide.py").batch(head, payload)
    assert (caught.value.file, caught.value.value, caught.value.limit) == ("wide.py", 1_003, 1_000)
