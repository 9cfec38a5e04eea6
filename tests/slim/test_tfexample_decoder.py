"""All handlers and decoders, held to what the real TF-Slim made of the same records."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets_core import records, slim
from datasets_core.records.wire.values import RecordBlock
from datasets_core.slim import tfexample_decoder

GOLDEN = Path(__file__).parent / "golden"
GROUPS = {group["name"]: group for group in json.loads((GOLDEN / "handlers.json").read_text(encoding="utf-8"))["groups"]}
SHARED = json.loads((GOLDEN / "decoders.json").read_text(encoding="utf-8"))
NAMES: dict[str, Any] = {
    **{name: getattr(tfexample_decoder, name) for name in tfexample_decoder.__all__},
    **{name: getattr(slim, name) for name in dir(slim) if name.endswith("Feature")},
    **{name: np.dtype(name) for name in ("uint8", "uint16", "float32", "float16", "int32", "int64", "bool")},
    "Table": slim.LookupTable,
    "table": slim.LookupTable({"a": 10, "é": 20}),
    "sum_of": np.sum,
}
DECODERS: dict[int, Any] = {1: slim.TFExampleDecoder, 2: slim.TFSequenceExampleDecoder}

TAKEN = "taken here, and refused there"
REFUSED = "refused here"
ELSEWISE = "other values here"
ON_PURPOSE = {
    # shapes of several keys may be numbers and lists of one, and a backup may be of another type
    ("tensors", "Tensor('many', shape_keys=['height', 'width'])"): TAKEN,
    ("tensors", "BackupHandler(Tensor('floats'), Tensor('many', shape=[1]))"): TAKEN,
    # one step is not as many as two
    ("sequences", "NumBoxesSequence(['ymin', 'xmin', 'ymax', 'xmax'])"): REFUSED,
    # images of a list without number, one image of a list, rows of bytes as images
    ("repeated images", "Image('some', 'format', repeated=True)"): TAKEN,
    ("repeated images", "Image('images', 'format')"): TAKEN,
    ("repeated images", "Image('images', 'format', repeated=True)"): TAKEN,
    ("repeated images", "Image('two', 'format', repeated=True)"): TAKEN,
    ("repeated images", "Image('images', 'format', channels=1, repeated=True)"): TAKEN,
    ("repeated images", "Image('images', 'format', dtype=float32, repeated=True)"): TAKEN,
    # every picture may be gray; opacity is 255 where there is none; of 16 bits the upper 8 are made gray
    ("images", "Image(channels=1)", "jpeg cmyk"): TAKEN,
    ("images", "Image(channels=4)", "webp"): TAKEN,
    ("images", "Image(channels=4)", "png bits"): ELSEWISE,
    ("images", "Image(channels=4)", "png palette"): ELSEWISE,
    ("images", "Image(channels=4)", "png palette, 2 bits"): ELSEWISE,
    ("images", "Image(channels=1)", "png rgb, 16 bits"): ELSEWISE,
    ("images", "Image(channels=1)", "png rgba, 16 bits"): ELSEWISE,
    ("images", "Image(channels=1, shape=[4, 5])", "png rgb, 16 bits"): ELSEWISE,
    ("images", "Image(channels=1, shape=[4, 5])", "png rgba, 16 bits"): ELSEWISE,
}


def array_of(told: dict[str, Any]) -> np.ndarray:
    if told["dtype"] == "string":
        made = np.empty(len(told["values"]), object)
        made[:] = [base64.b64decode(value) for value in told["values"]]
    else:
        kind = float if told["dtype"].startswith("float") else int
        made = np.array([kind(value) for value in told["values"]], np.dtype(told["dtype"]))
    return made.reshape(told["shape"])


def fits(found: Any, told: dict[str, Any], tolerance: int = 0) -> bool:
    if "sparse" in told:
        sparse = told["sparse"]
        values = sparse["values"]
        known = array_of(values) if isinstance(values, dict) else np.array([float(value) for value in values], np.float32)
        return bool(found == slim.SparseValue.of(sparse["indices"], known, sparse["dense_shape"]))
    wanted = array_of(told)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if not tolerance:
        return np.array_equal(found, wanted)
    return bool((np.abs(found.astype(np.float64) - wanted.astype(np.float64)) <= tolerance).all())


def is_no_sparse_array(told: dict[str, Any]) -> bool:
    """Sparse arrays whose places are not as many as their values, or not of the dimensions of their shape."""
    if "sparse" not in told:
        return False
    sparse = told["sparse"]
    wrong_places = any(len(place) != len(sparse["dense_shape"]) for place in sparse["indices"])
    return len(sparse["indices"]) != len(sparse["values"]["values"]) or wrong_places or not sparse["dense_shape"]


def outcome(specs: list[str], handler: str, record: bytes, in_block: bool) -> Any:
    """What the decoder gives, or the error."""
    try:
        decoder = DECODERS[len(specs)](*(eval(spec, NAMES) for spec in specs), {"item": eval(handler, NAMES)})
        if in_block:
            (sample,) = decoder.decode_block(RecordBlock.of([record]), ["item"])
            return sample["item"]
        return decoder.decode(record, ["item"])[0]
    except ValueError as error:
        return error


CASES = [
    pytest.param(group, handler, id=f"{group['name']}-{handler}".replace(" ", ""))
    for group in GROUPS.values()
    for handler in group["handlers"]
]


@pytest.mark.parametrize("in_block", [False, True], ids=["one", "block"])
@pytest.mark.parametrize(("group", "handler"), CASES)
def test_items_are_what_tf_slim_makes_of_them(group: dict[str, Any], handler: str, in_block: bool) -> None:
    if "Image" in handler:
        pytest.importorskip("PIL")
    name, wrong = group["name"], []
    for number, told in enumerate(group["handlers"][handler]):
        found = outcome(group["specs"], handler, base64.b64decode(group["records"][number]), in_block)
        title = group["titles"][number] if "titles" in group else number
        is_near = (
            "ACCURATE" not in handler or title == "jpeg cmyk"
        )  # by default TensorFlow decodes a JPEG fast, and Pillow never
        tolerance = 6 if is_near and ("jpeg" in str(title) or (name.endswith("images") and name != "images")) else 0
        is_refused = isinstance(found, ValueError)
        is_same = is_refused if "error" in told else not is_refused and fits(found, told, tolerance)
        purpose = ON_PURPOSE.get((name, handler, title)) or ON_PURPOSE.get((name, handler))
        allowed = {None: is_no_sparse_array(told) and is_refused, TAKEN: not is_refused, REFUSED: is_refused, ELSEWISE: True}
        if not (is_same or allowed[purpose]):
            wrong.append((title, told, found))
    assert wrong == []


EXAMPLE_SPECS = """{
    "image/class/label": FixedLenFeature([1], "int64", [0]), "flat": VarLenFeature("int64"), "shape": VarLenFeature("int64"),
    "tags": VarLenFeature("string"), "text": VarLenFeature("string"), "idx": VarLenFeature("int64"),
    "val": VarLenFeature("float32"), "image/encoded": FixedLenFeature([], "string", ""),
    "image/format": FixedLenFeature([], "string", "png"),
    **{"bbox/" + side: VarLenFeature("float32") for side in ("ymin", "xmin", "ymax", "xmax")},
}"""
CONTEXT_SPECS = """{"id": FixedLenFeature([], "int64")}"""
LIST_SPECS = """{
    "steps": FixedLenSequenceFeature([], "int64", allow_missing=True), "words": VarLenFeature("string"),
    **{side: VarLenFeature("float32") for side in ("ymin", "xmin", "ymax", "xmax")},
}"""
SHARED_CASES = [
    pytest.param(file, specs, case, id=f"{file}-{case['name']}")
    for file, specs, cases in (
        ("mixed", [EXAMPLE_SPECS], SHARED["decoders"]),
        ("sequence", [CONTEXT_SPECS, LIST_SPECS], SHARED["sequence_decoders"]),
    )
    for case in cases
    if case["name"] != "boxes_prefix_none"  # a TypeError there: a prefix that is left out is none
]


@pytest.mark.parametrize("in_block", [False, True], ids=["one", "block"])
@pytest.mark.parametrize(("file", "specs", "case"), SHARED_CASES)
def test_items_of_files_written_by_tensorflow(file: str, specs: list[str], case: dict[str, Any], in_block: bool) -> None:
    if "Image" in case["handler"]:
        pytest.importorskip("PIL")
    data = list(records.TFRecordReader(GOLDEN / f"{file}.tfrecord"))
    handler = case["handler"].replace("table{a:10, é:20, default -1}", "table").replace("default ''", "default_value=''")
    found = [outcome(specs, handler, data[result["record"]], in_block) for result in case["results"]]
    told = [result["expected"] for result in case["results"]]
    assert all(
        isinstance(one, ValueError) if "error" in wanted else fits(one, wanted) for one, wanted in zip(found, told, strict=True)
    )


def test_all_items_and_their_order() -> None:
    pytest.importorskip("PIL")
    handlers = {"image": slim.Image(), "label": slim.Tensor("image/class/label")}
    decoder = slim.TFExampleDecoder(eval(EXAMPLE_SPECS, NAMES), handlers)
    record = next(iter(records.TFRecordReader(GOLDEN / "mixed.tfrecord")))

    assert decoder.list_items() == SHARED["list_items"]
    assert all(map(fits, decoder.decode(record), SHARED["decode_all_when_items_none"]))
    assert [item.dtype.name for item in decoder.decode(record, ["label", "image"])] == SHARED["decode_order_follows_request"]
    with pytest.raises(KeyError, match=r"Unknown item 'nope'. Available items: 'image', 'label'\."):
        decoder.decode(record, ["nope"])


def test_a_key_of_context_and_sequence_is_refused() -> None:
    spec = {"a": slim.FixedLenFeature([], "int64")}
    with pytest.raises(ValueError, match=r"The keys \['a'\] are of the context and of the sequence\."):
        slim.TFSequenceExampleDecoder(spec, {"a": slim.VarLenFeature("int64")}, {})


def test_every_name_is_also_one_of_slim() -> None:
    assert [name for name in tfexample_decoder.__all__ if getattr(slim, name) is not getattr(tfexample_decoder, name)] == []
