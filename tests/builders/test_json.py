"""JSON: every layout, types over all rows whatever their order, and one clear error for each kind of damage."""

import itertools
import json
import random

import pyarrow as pa
import pytest
from datasets_core.builders._json_blocks import Scanner, line_blocks, too_deep
from datasets_core.builders._json_values import joined, mixed_paths
from datasets_core.builders._source import Source, text_reader
from datasets_core.builders.json import JsonConfig, read_json
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.builders import _json_blocks
from datasets_core.builders import json as json_builder
from datasets_core.building.hooks import Replay
from datasets_core.errors import ConfigurationError, DatasetGenerationCastError, FileFormatError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json
from datasets_core.load import load_dataset


@pytest.fixture
def path(tmp_path):
    return tmp_path / "local-copy"


def read(path, content, **options):
    path.write_bytes(content)
    schema = None
    while True:
        try:
            batches = list(read_json(Source(str(path), "user.json"), JsonConfig(**options), schema))
            return list(itertools.chain.from_iterable(batch.to_pylist() for batch in batches))
        except Replay as request:
            assert schema is None or not request.schema.equals(schema)
            schema = request.schema


ROWS = [{"a": 1, "b": 'x[{,"\\'}, {"a": 2, "b": "é\n"}, {"a": 3, "b": ""}]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, ROWS)),
        "\n\n".join(map(json.dumps, ROWS)) + "\n\n",
        "\r\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS),
        "\ufeff" + "\n".join(map(json.dumps, ROWS)),
        "".join(map(json.dumps, ROWS)),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\n\n " + json.dumps(ROWS, ensure_ascii=False) + " \n",
        "\n".join(json.dumps(row, indent=1) for row in ROWS),
        "".join(json.dumps(row, indent=1) for row in ROWS),
    ],
    ids=[
        "lines",
        "blank lines",
        "crlf",
        "bom",
        "concatenated",
        "array",
        "indented array",
        "blanks",
        "indented",
        "indented, joined",
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 16, 1 << 20])
def test_a_layout_does_not_change_the_rows(path, monkeypatch, text, block_bytes):
    monkeypatch.setattr(_json_blocks, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(_json_blocks._Stream.take, "__defaults__", (block_bytes,))
    monkeypatch.setattr("datasets_core.builders._source._FIRST_BYTES", max(block_bytes, 4))
    assert read(path, text.encode()) == ROWS


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b'["x", "y, z"]', [{"text": "x"}, {"text": "y, z"}]),
        (b"[[1], [2]]", [{"text": [1]}, {"text": [2]}]),
        (b'{"a": [1, 2], "b": [3, 4]}', [{"a": [1, 2], "b": [3, 4]}]),
        (b'{"a": 1}\nnull\n', [{"a": 1}, {"a": None}]),
        (b"", []),
        (b" \n", []),
        (b"[]", []),
        (b"{}\n{}\n", [{}, {}]),
    ],
)
def test_small_shapes_are_read_as_hugging_face_reads_them(path, text, rows):
    assert read(path, text) == rows


@pytest.mark.parametrize(
    "text",
    [
        b'{"v": {"d": [9]}, "s": "\\"d\\": [", "d": [{"a": 1}, {"a": 2}], "z": [3]}',
        b'{\n "d" : {"a": [1, 2]}}',
        b'{"d": {"a": {"0": 1, "1": 2}}}',
    ],
)
def test_field_names_the_key_of_the_rows(path, text):
    assert read(path, text, field="d") == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        (b'{"d": [{"a": 1}]}\n{"d": [{"a": 2}]}', 2, "follows the end of the outermost object"),
        (b'{"d": {"a": [1]}}\n]', 2, "follows the end of the outermost object"),
        (b'{"d": [{"a": 1}],\n "x": [', 2, "the outermost object is not closed"),
        (b'{"d": {"a": ["\xff"]}}', 1, "invalid JSON under 'd'"),
    ],
)
def test_what_stands_behind_the_field_is_not_left_out_silently(path, text, line, cause):
    with pytest.raises(FileFormatError, match=cause) as caught:
        read(path, text, field="d")
    assert (caught.value.path, caught.value.line) == ("user.json", line)


def test_a_field_that_is_not_there_is_named(path):
    with pytest.raises(FileFormatError, match="no key 'q'"):
        read(path, b'{"d": []}', field="q")


# -- types -------------------------------------------------------------------------------------------------------------

COLUMNS = [
    ([None, "x"], [None, "x"]),
    ([1, 2.5], [1.0, 2.5]),
    ([{"x": 1}, {"y": "s"}], ['{"x":1}', '{"y":"s"}']),
    ([{"x": 1, "y": None}, {"x": None, "y": "s"}], [{"x": 1, "y": None}, {"x": None, "y": "s"}]),
    ([[{"x": 1}], [{"y": "s", "x": 2}], [{"x": 3}]], [['{"x":1}'], ['{"y":"s","x":2}'], ['{"x":3}']]),
    ([{"x": {"y": 1}}, {"x": {}}, {"x": None}], [{"x": '{"y":1}'}, {"x": "{}"}, {"x": None}]),
    ([[], [1], [None, 2.5]], [[], [1.0], [None, 2.5]]),
    ([[{"x": None}], [{"x": "s"}]], [[{"x": None}], [{"x": "s"}]]),
    (["2020-01-01", "soon"], ["2020-01-01", "soon"]),
    ([1, "x"], ["1", '"x"']),
    ([True, 1], ["true", "1"]),
    ([{"x": 1}, 5, None], ['{"x":1}', "5", None]),
    ([{"x": 1}, {"x": [2]}], [{"x": "1"}, {"x": "[2]"}]),
    ([[1, "x"], [2]], [["1", '"x"'], ["2"]]),
    ([1, 2**63], ["1", str(2**63)]),
    ([10**30], [str(10**30)]),
]


@pytest.mark.parametrize(("values", "stored"), COLUMNS)
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_types_merge_over_all_rows_in_any_order(path, monkeypatch, values, stored, block_bytes):
    monkeypatch.setattr(_json_blocks._Stream.take, "__defaults__", (block_bytes,))
    monkeypatch.setattr("datasets_core.builders._source._FIRST_BYTES", block_bytes)
    expected = dict(enumerate(stored))
    for order in itertools.islice(itertools.permutations(range(len(values))), 6):
        text = "".join(json.dumps({"i": number, "a": values[number], "pad": "y" * 40}) + "\n" for number in order)
        found = {row["i"]: row["a"] for row in read(path, text.encode())}
        assert {number: _filled(value, expected[number]) for number, value in found.items()} == expected


def _filled(value, like):
    """`value` with the nulls that the other rows' fields give it once all batches have one schema."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: _filled(value.get(key), like[key]) for key in like}
    return value


CHAT = [{"m": [{"role": "u", "content": "x"}, {"role": "a", "tool_calls": [{"name": "f", "arguments": {"k": 1}}]}]}]


@pytest.mark.parametrize("options", [{}, {"on_mixed_types": "use_json"}])
@pytest.mark.parametrize("is_array", [False, True])
@pytest.mark.parametrize("is_stream", [False, True])
def test_messages_of_several_keys_come_back_as_written(tmp_path, options, is_array, is_stream):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT) if is_array else "".join(json.dumps(row) + "\n" for row in CHAT))
    found = load_dataset("json", data_files=str(path), split="train", streaming=is_stream, **options)
    assert (found.features, list(found)) == (Features({"m": List(Json())}), CHAT)


def test_a_long_stream_keeps_the_json_of_its_first_rows(tmp_path):
    rows = [{"m": [{"tool": 3}, {"content": ""}]}, *({"m": [{"content": "x" * 99}]} for _ in range(30_000))]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(load_dataset("json", data_files=str(path), split="train", streaming=True)) == rows


def test_objects_whose_keys_are_all_written_have_types(build):
    rows = [{"a": 1, "m": [{"x": 1, "k": None}, {"k": "s", "x": None}]}, {"m": [{"x": None, "k": None}]}]
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    typed = {"a": Value("int64"), "m": List({"x": Value("int64"), "k": Value("string")})}
    assert dict(build("json", {"a.json": text}).features) == typed
    assert dict(build("json", {"a.json": text.replace(b'"k"', b'"\\u006b"')}).features) == typed
    assert dict(build("json", {"a.json": text.replace(b": ", b" : ")}).features) == typed


@pytest.mark.parametrize(
    "options", [{"on_mixed_types": None}, {"features": Features({"a": {"x": Value("int64"), "y": Value("int64")}})}]
)
def test_objects_of_several_keys_have_all_of_them_where_types_are_wanted(build, options):
    found = build("json", {"a.json": b'{"a": {"x": 1}}\n{"a": {"y": 2}}\n'}, **options)
    assert found["a"][:] == [{"x": 1, "y": None}, {"x": None, "y": 2}]


def test_columns_keep_their_order_when_types_turn_out_mixed(build):
    rows = "".join(json.dumps({"i": row, "a": {"x": 1}}) + "\n" for row in range(100_000)) + '{"i": 1, "a": {"y": 1}}\n'
    assert build("json", {"a.json": rows.encode()}).column_names == ["i", "a"]


def test_an_integer_past_64_bits_keeps_its_digits(build):
    found = build("json", {"a.json": b'{"a": 123456789012345678901234567890}\n{"a": 1}\n'})
    assert (found.features, found["a"][:]) == (Features({"a": Json()}), [123456789012345678901234567890, 1])


def test_a_large_float_stays_a_float(path):
    assert read(path, b'{"a": 1e20}\n{"a": 1}\n') == [{"a": 1e20}, {"a": 1.0}]


def test_mixed_types_are_refused_when_json_is_not_wanted(path):
    with pytest.raises(FileFormatError, match=r"line 1: values of 'a\.\[\]\.x' have several types"):
        read(path, b'{"a": [{"x": 1}, {"x": "s"}]}\n', on_mixed_types=None)


def test_mixed_types_come_out_as_they_went_in(build):
    files = {"a.json": b'{"a": 1}\n{"a": {"x": [true]}}\n', "b.json": b'{"a": "s"}\n{"b": 2.5}\n'}
    found = build("json", files)
    assert found.features == Features({"a": Json(), "b": Value("float64")})
    assert list(found) == [{"a": 1, "b": None}, {"a": {"x": [True]}, "b": None}, {"a": "s", "b": None}, {"a": None, "b": 2.5}]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=2),
    max_leaves=8,
)


@given(st.lists(JSON_VALUES, max_size=5), st.randoms(use_true_random=False))
def test_what_is_mixed_does_not_depend_on_the_order(values, rng):
    rows = [{"a": value} for value in values]
    shuffled = rng.sample(rows, len(rows))
    assert mixed_paths(rows) == mixed_paths(shuffled)


TYPES = st.recursive(
    st.sampled_from([pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.timestamp("s")]),
    lambda inner: (
        inner.map(pa.list_)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda fields: pa.struct(sorted(fields.items())))
    ),
    max_leaves=4,
)


@given(TYPES)
def test_a_type_joined_with_itself_or_null_stays(kind):
    for same_keys in (True, False):
        assert joined(kind, kind, same_keys=same_keys) == (kind, False)
        assert joined(kind, pa.null(), same_keys=same_keys)[0] == joined(pa.null(), kind, same_keys=same_keys)[0] == kind


# -- structure ---------------------------------------------------------------------------------------------------------


@given(JSON_VALUES, st.integers(1, 7))
def test_the_scanner_finds_the_brackets_outside_strings(value, size):
    text = json.dumps(value).encode()
    scanner = Scanner()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    merged = []
    for piece in pieces:
        if merged and merged[-1].endswith(b"\\"):
            merged[-1] += piece
        else:
            merged.append(piece)
    found = b"".join(bytes(piece[place] for place in scanner.scan(piece)[0]) for piece in merged)
    assert (found, scanner.depth) == (_structure(value), 0)


def _structure(value):
    if isinstance(value, list):
        return b"[" + b",".join(map(_structure, value)) + b"]"
    if isinstance(value, dict):
        return b"{" + b",".join(map(_structure, value.values())) + b"}"
    return b""


@pytest.mark.parametrize("levels", [1_000, 200_000])
def test_deep_nesting_is_an_error_and_no_crash(path, levels):
    with pytest.raises(FileFormatError, match=f"line 2: values are nested {levels + 1} levels deep"):
        read(path, b'{"a": []}\n{"a": ' + b"[" * levels + b"]" * levels + b"}\n")


def test_depth_cannot_hide_behind_brackets_in_strings():
    levels = 30_000
    assert too_deep(b'["]",' * levels + b"1" + b',"["]' * levels)


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        (b'{"a": 1}\n{"a": 2\n', 2, "broken JSON"),
        (b'{"a": 1}\nxyz\n{"a": 2}\n', 2, "broken JSON"),
        (b'{"a": 1},\n{"a": 2}\n', 1, "broken JSON"),
        (b'{"a": 1}\n{"a": "\xff"}\n', 2, "byte 0xff is not UTF-8"),
        (b'{"a": 1}\n{"a": "\\ud800"}\n', 2, "surrogate"),
        (b'{"a": 1}\n{"a": 1e400}\n', 2, "1e400 is too large"),
        (b'{"a": 1}\n{"b": 1, "b": 2}\n', 2, "the key 'b' is repeated"),
        (b'{"a": 1}\n[3]\n', 2, "an array where an object is expected"),
        (b"1\n2\n", 1, "where a JSON object or array is expected"),
        (b'[{"a": 1},\n{"a": 2}', 2, "not closed"),
        (b'[{"a": 1},\n{"a" 2}]', 2, "broken JSON"),
        (b'[{"a": 1},\n{"a": 2},]', 2, "missing"),
        (b'[{"a": 1},\n{"a": 2},\n,{"a": 2}]', 3, "missing"),
        (b'[{"a": 1},\n{"a": "x\n y"}]', 2, "a string is not closed before the line ends"),
        (b'{\n"a": "x\\\n"}', 2, "a string is not closed before the line ends"),
        (b'[{"a": 1}]\nx', 2, "follows the end of the array"),
        (b'{\n"a": 1\n}\n{\n"a" 2\n}\n', 5, "broken JSON"),
        (b"<html><body>", None, "web page"),
        ('{"a": 1}'.encode("utf-16"), None, "UTF-16"),
    ],
)
def test_damage_is_one_error_with_the_users_name_the_line_and_the_cause(path, text, line, cause):
    with pytest.raises(FileFormatError, match=cause) as caught:
        read(path, text)
    assert (caught.value.path, caught.value.line) == ("user.json", line)


# -- many small files --------------------------------------------------------------------------------------------------


def test_small_files_are_parsed_together_and_errors_name_the_right_one(build):
    files = {f"{number:03d}.jsonl": b'{"a": 1}\n{"a": 2}' for number in range(40)}
    assert len(build("json", files)) == 80
    with pytest.raises(FileFormatError) as caught:
        build("json", {**files, "017.jsonl": b'{"a": 1}\n{"a": \n'})
    assert str(caught.value.file).endswith("017.jsonl")
    assert caught.value.line == 2


def test_small_files_keep_their_order_beside_other_layouts(build):
    files = {f"{number}.json": json.dumps([{"a": number}] if number % 3 else {"a": number}).encode() for number in range(9)}
    assert build("json", files)["a"][:] == list(range(9))


def test_small_files_are_not_joined_where_features_are_given(build):
    features = Features({"a": ClassLabel(names=["x", "y"]), "b": List(Value("int8"))})
    found = build("json", {"a.json": b'{"a": "y", "b": [1]}', "b.json": b'{"a": "x"}'}, features=features)
    assert (found.features, list(found)) == (features, [{"a": 1, "b": [1]}, {"a": 0, "b": None}])


def test_a_column_that_the_features_lack_is_refused_with_its_file(build):
    with pytest.raises(DatasetGenerationCastError) as caught:
        build("json", {"a.json": b'{"a": 1}', "b.json": b'{"a": 1, "c": 2}'}, features=Features({"a": Value("int64")}))
    assert str(caught.value.file).endswith("b.json")
    assert caught.value.split == "train"


def test_an_object_larger_than_a_block_is_read(path):
    rows = [{"a": "x" * 3_000_000, "b": list(range(10))}, {"a": "y", "b": []}]
    assert read(path, "\n".join(map(json.dumps, rows)).encode()) == rows
    assert read(path, json.dumps(rows, indent=1).encode()) == rows


def test_an_array_is_read_in_pieces(path):
    rng = random.Random(0)
    path.write_bytes(json.dumps([{"a": rng.random()} for _ in range(500_000)]).encode())
    with text_reader(Source(str(path), "x"), "json") as text:
        sizes = [len(block.lines) for block in line_blocks(text)]
    assert max(sizes) <= _json_blocks.BLOCK_BYTES + (1 << 16) < path.stat().st_size


def test_options_without_meaning_are_refused():
    with pytest.raises(ConfigurationError, match="on_mixed_types"):
        JsonConfig(on_mixed_types="drop")
    plain = {name: {} for name in (".json", ".jsonl", ".ndjson", ".jsonlines")}
    assert {**plain, ".geojson": {"field": "features"}} == json_builder.EXTENSIONS


TYPED = st.recursive(
    st.sampled_from(
        [
            st.none() | st.booleans(),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.floats(-1e15, 1e15),
            st.none() | st.text(max_size=5),
        ]
    ),
    lambda inner: (
        inner.map(lambda values: st.none() | st.lists(values, max_size=4))
        | st.lists(inner, min_size=1, max_size=2).map(
            lambda fields: st.none() | st.fixed_dictionaries({f"k{number}": field for number, field in enumerate(fields)})
        )
    ),
    max_leaves=3,
)


@given(TYPED.flatmap(lambda values: st.lists(values, max_size=6)))
def test_every_value_comes_back_as_python_reads_it(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "values.jsonl"
    found = [row["a"] for row in read(path, "".join(json.dumps({"a": value}) + "\n" for value in values).encode())]
    assert found == values


@pytest.mark.parametrize("values", [[[None, 2.5]], [[], [None, None, "x"], ["y"]], [[None, {"x": 1}]], [[[None, [None, 1]]]]])
def test_lists_that_begin_with_nulls_keep_them(path, values):
    assert [row["a"] for row in read(path, "".join(json.dumps({"a": value}) + "\n" for value in values).encode())] == values


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b'[null, {"a": 1}]', [{"a": None}, {"a": 1}]),
        (b'{"a": 1}\n null\n', [{"a": 1}, {"a": None}]),
        (b'{"a": 1}\r\tnull\r', [{"a": 1}, {"a": None}]),
        (b"[null, null]", [{}, {}]),
    ],
)
def test_rows_that_are_null_have_no_values(path, text, rows):
    assert read(path, text) == rows


def test_a_null_at_the_begin_of_a_block_of_the_parser_is_a_row(path):
    """pyarrow crashes there, and with its threads a block may begin with any row."""
    rows = [{"a": "x" * 1000}] * 1100 + [None] * 1100 + [{"a": "y"}] * 3
    expected = [row or {"a": None} for row in rows]
    for content in ("".join(json.dumps(row) + "\n" for row in rows), json.dumps(rows)):
        assert read(path, content.encode()) == expected


@pytest.mark.parametrize(
    ("features", "text", "rows"),
    [
        ({"id": Value("string"), "d": Value("string")}, b'{"id":1,"d":"2020-01-01"}', [{"id": "1", "d": "2020-01-01"}]),
        (
            {"id": Value("float64"), "day": Value("string")},
            b'{"id":"1","day":"2020-01-01"}',
            [{"id": 1.0, "day": "2020-01-01"}],
        ),
        (
            {"id": List(Value("string"))},
            b'{"id":[1,"x",null,true,{"y":"z"}]}',
            [{"id": ["1", "x", None, "true", '{"y": "z"}']}],
        ),
        ({"id": Value("string")}, b'{"id":1.5}\n{"id":"x"}', [{"id": "1.5"}, {"id": "x"}]),
    ],
)
def test_what_is_asked_for_as_text_comes_as_it_stands(build, features, text, rows):
    assert list(build("json", {"a.json": text}, features=Features(features))) == rows


@pytest.mark.parametrize("first_is_whole", [True, False])
def test_integers_that_floats_round_widen_like_any_between_jobs_and_blocks(tmp_path, first_is_whole):
    whole = [json.dumps({"value": 2**53 + 1, "more": [2**63 - 1], "pad": "x" * 100_000}) for _ in range(170)]
    broken = ['{"value": 1.5, "more": [0.5]}']
    for name, lines in zip("ab", (whole, broken) if first_is_whole else (broken, whole), strict=True):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")

    rows = load_dataset("json", data_files=str(tmp_path / "*.jsonl"), split="train", cache_dir=str(tmp_path / "cache"))

    assert (rows.features["value"], rows.features["more"]) == (Value("float64"), List(Value("float64")))
    assert sorted(set(rows["value"])) == [1.5, 2.0**53]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (b'{}\n{\n "a":1\n}\n{\n "a":2\n}', [None, 1, 2]),
        (b'{"a":1}\n{\n "a":2\n}{"a":3}\n', [1, 2, 3]),
    ],
)
def test_objects_may_span_lines_behind_one_that_does_not(path, text, values):
    assert [row.get("a") for row in read(path, text)] == values


def test_types_that_mix_between_jobs_mix_as_within_one(tmp_path):
    pad = "x" * 100_000  # a job closes at 16 MB, so each file is a job of its own
    for name, value in (("a", 1), ("b", "one")):
        lines = [json.dumps({"value": value, "pad": pad}) for _ in range(170)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")

    rows = load_dataset("json", data_files=str(tmp_path / "*.jsonl"), split="train", cache_dir=str(tmp_path / "cache"))

    assert [rows[0]["value"], rows[-1]["value"]] == [1, "one"]


def test_a_file_that_is_one_object_says_that_field_may_be_meant(tmp_path, caplog):
    def load(text):
        caplog.clear()
        (tmp_path / "a.json").write_text(text)
        return load_dataset("json", data_files=str(tmp_path / "a.json"), split="train")

    assert load('{"version": 1, "data": [{"a": 1}]}').num_rows == 1
    assert (
        "is one object with 2 keys, which is read as one row. If its rows are under one key, pass field='data'." in caplog.text
    )
    wide = load(json.dumps({f"key {number}": {"a": number} for number in range(2500)}))
    assert (
        wide[0]["key 7"] == {"a": 7} and list(wide[0]) == wide.column_names and wide.features["key 9"] == {"a": Value("int64")}
    )
    assert "is one object with 2,500 keys" in caplog.text
    for text in ('{"a": 1}', '[{"version": 1, "data": [{"a": 1}]}]', '{"data": [{"a": 1}]}\n{"data": [{"a": 2}]}'):
        load(text)
        assert "one object" not in caplog.text
