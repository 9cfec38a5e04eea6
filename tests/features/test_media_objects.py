import subprocess
import sys

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.arrow import merge_schemas
from datasets_core.features.base import List, Value
from datasets_core.features.inference import feature_of
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features, RowEncoder

PIL = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.optional("PIL")


def test_pictures_in_rows_are_told_however_they_are_nested() -> None:
    picture = PIL.new("L", (1, 1))
    rows = [{"a": None, "b": [], "c": {"d": picture, "n": 1}}, {"a": picture, "b": [picture], "c": None}]
    found = Dataset.from_list(rows)
    assert found.features == Features({"a": Image(), "b": List(Image()), "c": {"d": Image(), "n": Value("int64")}})
    assert found[1]["b"][0].size == (1, 1)


def test_a_column_is_known_though_its_first_batch_has_no_picture() -> None:
    encoder = RowEncoder(None)
    first, second = encoder.encode([{"a": None}]), encoder.encode([{"a": PIL.new("L", (1, 1))}])
    assert Features.from_arrow_schema(merge_schemas(first.schema, second.schema)) == Features({"a": Image()})


def test_a_struct_of_bytes_and_path_alone_is_no_picture() -> None:
    table = pa.table({"a": [{"bytes": b"", "path": ""}]})
    assert Features.from_arrow_schema(table.schema) == Features({"a": {"bytes": Value("binary"), "path": Value("string")}})


def test_telling_imports_no_package() -> None:
    assert feature_of([1, "a", None, object()]) is None
    code = """
import sys
from datasets_core import Dataset
Dataset.from_dict({"a": [1, 2], "b": [{"bytes": b"x"}, None]})
assert not {"PIL", "torchcodec", "soundfile", "pdfplumber"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
