"""Files go to and from Hugging Face `datasets` with their features; runs where that package is installed."""

import datetime
import decimal
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.features.base import LargeList, List, Sequence, Value
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json

pytestmark = [
    pytest.mark.optional("datasets"),
    pytest.mark.skipif(find_spec("datasets") is None, reason="the package datasets is not installed"),
]

FEATURES = Features(
    {
        "id": Value("int32"),
        "label": ClassLabel(names=["neg", "pos"]),
        "spans": Sequence({"start": Value("int32"), "text": Value("string")}),
        "rows": [{"x": Value("float64")}],
        "grid": Array2D((2, 2), "float32"),
        "ragged": Array3D((None, 1, 2), "uint8"),
        "any": Json(),
        "when": Value("timestamp[us]"),
        "price": Value("decimal128(10, 2)"),
        "big": LargeList(Value("large_string")),
        "fixed": List(Value("int8"), length=2),
        "nested": {"a": {"b": Value("float")}},
    }
)
ROWS: list[dict[str, Any]] = [
    {
        "id": 1,
        "label": "pos",
        "spans": [{"start": 0, "text": "a"}, {"start": 3, "text": None}],
        "rows": [{"x": 1.5}, None],
        "grid": [[1, 2], [3, 4]],
        "ragged": [[[1, 2]]],
        "any": {"k": [1, "z"]},
        "when": datetime.datetime(2020, 1, 2),
        "price": decimal.Decimal("1.50"),
        "big": ["x"],
        "fixed": [1, 2],
        "nested": {"a": {"b": 0.5}},
    },
    {"id": 2, "label": -1, "grid": [[5, 6], [7, 8]], "ragged": [[[1, 2]], [[3, 4]]]},
]

PEER = """
import json, sys
import datasets
datasets.disable_progress_bars()
kind, source, target, cache = sys.argv[1:]
dataset = datasets.load_dataset(kind, data_files=source, split="train", cache_dir=cache)
dataset.to_parquet(target)
print(json.dumps([dataset.features.to_dict(), repr(dataset.to_list())]))
"""


def through_the_peer(kind: str, source: Path, folder: Path) -> tuple[Any, str, Path]:
    """What the peer reads from a file: features, rows as text, and the file that it writes of them."""
    target = folder / "back.parquet"
    command = [sys.executable, "-c", PEER, kind, str(source), str(target), str(folder / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    features, rows = json.loads(done.stdout.splitlines()[-1])
    return features, rows, target


def write(kind: str, batch: pa.RecordBatch, path: Path) -> None:
    if kind == "parquet":
        pq.write_table(pa.Table.from_batches([batch]), path)
    else:
        opened = pa.ipc.new_stream(path, batch.schema)
        with opened as writer:
            writer.write_batch(batch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_a_file_of_ours_goes_to_the_peer_and_comes_back_the_same(kind: str, tmp_path: Path) -> None:
    batch = RowEncoder(FEATURES).encode(ROWS)
    source = tmp_path / f"ours.{kind}"
    write(kind, batch, source)

    features, rows, target = through_the_peer(kind, source, tmp_path)

    assert Features.from_dict(features) == FEATURES
    expected = [FEATURES.decode_example(row) for row in batch.to_pylist()]
    assert rows == repr(expected)
    back = pq.read_table(target)
    assert Features.from_arrow_schema(back.schema) == FEATURES
    assert cast_table(back, FEATURES).combine_chunks().to_batches()[0].to_pylist() == batch.to_pylist()
