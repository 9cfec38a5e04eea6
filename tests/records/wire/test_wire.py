import json
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError
from datasets_core.records.wire.messages import Feature, decode_example, decode_sequence_example
from tests.records import wire_forms as forms
from tests.records.wire_tables import Walked, WalkedLists, walk_example, walk_sequence_example

# What protobuf and TensorFlow read from odd forms; scripts/wire_golden.py wrote it.
GOLDEN = json.loads(Path(__file__).parents[1].joinpath("golden").joinpath("wire_forms.json").read_text())
GROUPS = ("random", "cut to", "more bytes", "bytes of", "of two", "a key", "a group", "features", "")


def _plain(kind: str | None, values: list[Any]) -> list[Any] | None:
    if kind is None:
        return None
    if kind == "bytes":
        return [kind, [value.hex() for value in values]]
    if kind == "float":
        return [kind, ["nan" if value != value else struct.pack("<f", value).hex() for value in values]]
    return [kind, values]


def _context(found: Walked) -> dict[str, Any]:
    return {key.decode(): _plain(*feature) for key, feature in sorted(found.items())}


def _lists(found: WalkedLists) -> dict[str, Any]:
    return {key.decode(): [_plain(*step) for step in steps] for key, steps in sorted(found.items())}


def _example_by_protobuf(data: bytes) -> Any:
    try:
        return _context(walk_example(data))
    except ExampleError:
        return "error"


def _sequence_by_protobuf(data: bytes) -> Any:
    try:
        context, lists = walk_sequence_example(data)
    except ExampleError:
        return "error"
    return [_context(context), _lists(lists)]


def _example_by_tensorflow(data: bytes, key: str) -> Any:
    try:
        return _context(walk_example(data, rules="tensorflow", keys=[key.encode()])).get(key)
    except ExampleError:
        return "error"


def _sequence_by_tensorflow(data: bytes, key: str) -> Any:
    try:
        context = _context(walk_sequence_example(data, rules="tensorflow", keys=[key.encode()], list_keys=[])[0]).get(key)
    except ExampleError:
        context = "error"
    try:
        steps = _lists(walk_sequence_example(data, rules="tensorflow", keys=[], list_keys=[key.encode()])[1]).get(key, [])
    except ExampleError:
        return [context, "error"]
    kinds = {step[0] for step in steps if step is not None}
    return [context, [*kinds, [[] if step is None else step[1] for step in steps]] if kinds else None]


def _group(name: str) -> str:
    return next(group for group in GROUPS if group in name)


def _forms(message: str, group: str) -> list[tuple[str, dict[str, Any], bytes]]:
    found = [(name, form, bytes.fromhex(form["wire"])) for name, form in GOLDEN[message].items() if _group(name) == group]
    assert found or message == "sequence_example"
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_odd_examples_are_read_as_protobuf_reads_them(group: str) -> None:
    found = {name: _example_by_protobuf(data) for name, _, data in _forms("example", group)}
    assert found == {name: form["protobuf"] for name, form, _ in _forms("example", group)}


@pytest.mark.parametrize("group", GROUPS)
def test_odd_examples_are_read_as_tensorflow_reads_them(group: str) -> None:
    found = {
        name: {key: _example_by_tensorflow(data, key) for key in form["tensorflow"]}
        for name, form, data in _forms("example", group)
    }
    assert found == {name: form["tensorflow"] for name, form, _ in _forms("example", group)}


@pytest.mark.parametrize("group", GROUPS)
def test_odd_sequence_examples_are_read_as_protobuf_reads_them(group: str) -> None:
    found = {name: _sequence_by_protobuf(data) for name, _, data in _forms("sequence_example", group)}
    assert found == {name: form["protobuf"] for name, form, _ in _forms("sequence_example", group)}


@pytest.mark.parametrize("group", GROUPS)
def test_odd_sequence_examples_are_read_as_tensorflow_reads_them(group: str) -> None:
    found = {
        name: {key: _sequence_by_tensorflow(data, key) for key in form["tensorflow"]}
        for name, form, data in _forms("sequence_example", group)
    }
    expected = {name: dict(form["tensorflow"]) for name, form, _ in _forms("sequence_example", group)}
    for name, keys in expected.items():  # steps without values tell TensorFlow no kind
        for key, (context, steps) in keys.items():
            ours = found[name][key][1]
            if steps is None and ours is not None and ours != "error":
                assert not any(ours[-1])
                found[name][key][1] = None
            keys[key] = [context, steps]
    assert found == expected


def test_an_example_is_told_by_names() -> None:
    data = forms.example(
        [("größe".encode(), forms.ints(-1, 5)), (b"x", forms.floats(0.1)), (b"e", b""), (b"s", forms.strings())]
    )
    assert decode_example(data) == {
        "größe": Feature("int64", [-1, 5]),
        "x": Feature("float", [0.10000000149011612]),
        "e": Feature(None, []),
        "s": Feature("bytes", []),
    }


def test_a_sequence_example_is_told_by_names() -> None:
    data = forms.sequence_example([(b"id", forms.ints(5))], [(b"words", forms.steps([forms.strings(b"a", b"b"), b""]))])
    context, lists = decode_sequence_example(data)
    assert context == {"id": Feature("int64", [5])}
    assert lists == {"words": [Feature("bytes", [b"a", b"b"]), Feature(None, [])]}


def test_a_key_that_is_no_text_is_told_by_tensorflows_rules() -> None:
    data = forms.example([(b"\xff", forms.ints(1))])
    assert decode_example(data, rules="tensorflow") == {"\udcff": Feature("int64", [1])}


def test_features_that_are_not_wanted_are_not_looked_into() -> None:
    data = forms.example([(b"a", forms.ints(1)), (b"b", b"\xff\xff")])
    assert walk_example(data, keys=[b"a"]) == {b"a": ("int64", [1])}
    with pytest.raises(ExampleError):
        walk_example(data)


def test_an_error_names_file_record_and_place() -> None:
    data = forms.example([(b"a", forms.ints(1))])[:-1]
    with pytest.raises(
        ExampleError, match=r"a\.tfrecord: record 7: the record is not a tf\.train\.Example: protobuf"
    ) as caught:
        walk_example(data, name="a.tfrecord", record=7)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.path, error.record) == ("a.tfrecord", 7)


def test_messages_that_are_no_bytes_and_rules_that_there_are_not_are_refused() -> None:
    assert decode_example(memoryview(forms.example([(b"a", forms.ints(1))]))) == {"a": Feature("int64", [1])}  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="bytes, not str"):
        decode_example("abc")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="Pass one of 'protobuf', 'tensorflow'"):
        decode_example(b"", rules="tf")  # type: ignore[arg-type]
