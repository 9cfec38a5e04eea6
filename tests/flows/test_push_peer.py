"""What is pushed here Hugging Face `datasets` loads, and the other way round: equal rows, features and cards."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.features.base import LargeList, List, Sequence, Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages
from datasets_core.load import load_dataset

PEER = os.environ.get("DATASETS_PEER_PYTHON", "")
pytestmark = [pytest.mark.optional("datasets"), pytest.mark.skipif(not PEER, reason="DATASETS_PEER_PYTHON is not set")]

COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "number": (Value("int64"), [1, None, -(2**62)]),
    "small": (Value("uint8"), [0, 255, None]),
    "real": (Value("float32"), [0.5, None, -1.25]),
    "yes": (Value("bool"), [True, None, False]),
    "text": (Value("string"), ["", None, "\u00fc\U0001f600"]),
    "large": (Value("large_string"), ["a", "b", None]),
    "bytes": (Value("binary"), [b"\0\xff", None, b""]),
    "day": (Value("date32"), [None, None, None]),
    "moment": (Value("timestamp[us, tz=UTC]"), [None, None, None]),
    "nothing": (Value("null"), [None, None, None]),
    "label": (ClassLabel(names=["no", "yes", "1"]), [0, 2, None]),
    "list": (List(Value("int32")), [[1, 2], [], None]),
    "fixed": (List(Value("int8"), length=2), [[1, 2], [3, 4], [5, 6]]),
    "large_list": (LargeList(Value("string")), [["a"], [], None]),
    "struct": ({"x": Value("int8"), "y": {"z": Value("string")}}, [{"x": n, "y": {"z": "a"}} for n in (1, None, 2)]),
    "structs": (List({"a": Value("string")}), [[{"a": "x"}, {"a": None}], [], [{"a": "z"}]]),
    "sequence": (Sequence({"a": Value("int8"), "b": Value("string")}), [{"a": [n], "b": ["x"]} for n in range(3)]),
    "array": (Array2D((2, 2), "float32"), [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[0, 0], [0, 0]]]),
    "free": (Array2D((None, 2), "int16"), [[[1, 2]], [[3, 4], [5, 6]], [[0, 0]]]),
    "cube": (Array3D((1, 2, 1), "uint8"), [[[[1], [2]]], [[[3], [4]]], [[[5], [6]]]]),
    "pair": (Translation(["en", "fr"]), [{"en": "a", "fr": "b"}] * 3),
    "many": (TranslationVariableLanguages(["en", "fr"]), [{"language": ["en"], "translation": ["a"]}] * 3),
    "any": (Json(), [{"a": [1, "x", None]}, "text", None]),
    "odd name.of a column": (Value("int8"), [1, 2, 3]),
}  # fmt: skip
FEATURES = Features({name: feature for name, (feature, _) in COLUMNS.items()})
ROWS = {name: values for name, (_, values) in COLUMNS.items()}

TELL = """
from datasets import load_dataset
def told(found):
    plain = found.with_format("arrow")[:].to_pydict() if hasattr(found, "num_rows") else list(found)
    return [str(found.features.to_dict()), repr(plain), repr(found[:])]
"""


def peer(hub: Any, code: str) -> Any:
    return hub.run(TELL + code, token=hub.token, python=PEER, seconds=120, HF_HUB_OFFLINE=None).value


def told(found: Dataset) -> list[str]:
    return [str(found.features.to_dict()), repr(found.with_format("arrow")[:].to_pydict()), repr(found[:])]


def test_the_peer_reads_every_kind_of_column(hub: Any) -> None:
    made = Dataset.from_dict(ROWS, features=FEATURES)
    made.push_to_hub("org/x", token=hub.token)

    features, rows, shown = peer(hub, 'say(told(load_dataset("org/x", split="train")))')
    assert features == told(made)[0]
    assert rows == told(made)[1]
    assert shown == repr(made.with_format(None)[:])


def test_what_the_peer_pushed_is_read_and_pushed_again(hub: Any) -> None:
    made = Dataset.from_dict(ROWS, features=FEATURES).remove_columns(["pair", "many"])  # which the peer cannot push
    made.push_to_hub("org/x", token=hub.token)
    peer(hub, 'load_dataset("org/x", split="train").push_to_hub("org/y", "en", split="test", num_shards=2); say(1)')

    found = load_dataset("org/y", "en", split="test", token=hub.token)
    assert told(found) == told(made)
    theirs = hub.repos["org/y"].text("README.md")
    hub.forget()
    found.push_to_hub("org/y", "en", token=hub.token, num_shards=2)
    ours = hub.repos["org/y"].text("README.md")
    sizes = ("num_bytes", "download_size", "dataset_size")  # which files and estimates differ in
    plain = [[line for line in text.splitlines() if line.strip(" -").partition(":")[0] not in sizes] for text in (theirs, ours)]
    assert plain[0] == plain[1]


def test_the_peer_reads_media_and_streams(hub: Any, tmp_path: Any, hub_shapes: Any) -> None:
    (tmp_path / "a.png").write_bytes(hub_shapes.png(7))
    (tmp_path / "a.wav").write_bytes(hub_shapes.wav(7))
    features = Features({"i": Image(decode=False), "deep": List(Image(decode=False)), "s": Audio(decode=False)})
    rows = {"i": [str(tmp_path / "a.png")], "deep": [[str(tmp_path / "a.png")]], "s": [str(tmp_path / "a.wav")]}
    Dataset.from_dict(rows, features=features).push_to_hub("org/x", token=hub.token)

    code = 'got = list(load_dataset("org/x", split="train", streaming=True)); say([len(got), got[0]["i"]["bytes"].hex(), '
    count, data, deep, sound = peer(hub, code + 'got[0]["deep"][0]["bytes"].hex(), got[0]["s"]["path"]])')
    assert (count, sound) == (1, "a.wav")
    assert bytes.fromhex(data) == bytes.fromhex(deep) == hub_shapes.png(7)


def test_both_write_the_same_card(hub: Any) -> None:
    made = {"a": [1, 2, 3], "label": [0, 1, 0]}
    features = Features({"a": Value("int64"), "label": ClassLabel(names=["no", "yes"])})
    code = f"""
from datasets import Dataset, DatasetDict, Features, Value, ClassLabel
rows = Dataset.from_dict({made!r}, features=Features({{"a": Value("int64"), "label": ClassLabel(names=["no", "yes"])}}))
rows.push_to_hub("org/theirs")
rows.push_to_hub("org/theirs", split="test", num_shards=2)
rows.push_to_hub("org/theirs", "fr")
DatasetDict({{"train": rows, "test": rows.select([])}}).push_to_hub("org/theirs", "en")
say(1)
"""
    peer(hub, code)
    rows = Dataset.from_dict(made, features=features)
    rows.push_to_hub("org/ours", token=hub.token)
    rows.push_to_hub("org/ours", split="test", num_shards=2, token=hub.token)
    rows.push_to_hub("org/ours", "fr", token=hub.token)
    DatasetDict({"train": rows, "test": rows.select([])}).push_to_hub("org/ours", "en", token=hub.token)

    theirs, ours = hub.repos["org/theirs"], hub.repos["org/ours"]
    assert list(theirs.files()) == list(ours.files())
    cards = [yaml.safe_load(repo.text("README.md").split("---")[1]) for repo in (theirs, ours)]
    for card in cards:
        for info in card["dataset_info"]:
            assert info.pop("download_size") > 0  # checksums of pages take some bytes
    assert cards[0] == cards[1]
    assert list(cards[0]) == list(cards[1])

    path = "data/test-00001-of-00002.parquet"
    files = [pq.ParquetFile(io.BytesIO(repo.files()[path])) for repo in (theirs, ours)]
    assert files[0].schema_arrow.equals(files[1].schema_arrow, check_metadata=True)
    assert json.loads(files[0].metadata.metadata[b"content_defined_chunking"]) == json.loads(
        files[1].metadata.metadata[b"content_defined_chunking"]
    )
    columns = [[file.metadata.row_group(0).column(n) for n in range(2)] for file in files]
    facts = [[(c.compression, c.encodings, c.has_column_index, c.has_offset_index) for c in each] for each in columns]
    assert facts[0] == facts[1]
