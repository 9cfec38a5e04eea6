"""`as_dataframe`: columns, values, and how notebooks show them."""

from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset

pytest.importorskip("pandas")


def _frame(columns: Any, features: Any) -> Any:
    declared = tfds.features.FeaturesDict(features)
    stream = tfds.SplitStream.of(Dataset.from_dict(columns, declared).to_iterable_dataset())
    return tfds.as_dataframe(stream, tfds.core.DatasetInfo(features=declared))


def test_leaves_are_columns(rows: Any) -> None:
    frame = tfds.as_dataframe(rows.take(3))
    assert list(frame.columns) == ["even", "number", "text"]
    assert frame["number"].dtype == np.int64
    assert all(isinstance(text, bytes) for text in frame["text"])
    nested = tfds.as_dataframe(rows.map(lambda row: {"a": {"b": row["number"]}}).take(1))
    assert list(nested.columns) == ["a/b"]


def test_tuples_are_named_by_the_info(numbers: Any, data_dir: str) -> None:
    rows, info = tfds.load("numbers", split="test", data_dir=data_dir, as_supervised=True, with_info=True)
    assert list(tfds.as_dataframe(rows, info).columns) == ["text", "even"]


def test_notebooks_show_names_pictures_and_sounds() -> None:
    pytest.importorskip("PIL")
    features = {
        "label": tfds.features.ClassLabel(names=["a<b", "c"]),
        "image": tfds.features.Image(shape=(2, 2, 1)),
        "sound": tfds.features.Audio(sample_rate=8000),
        "text": tfds.features.Text(),
    }
    columns = {"label": [0], "image": [np.zeros((2, 2, 1), np.uint8)], "sound": [[1, -1]], "text": ["<script>é"]}
    shown = _frame(columns, features)._repr_html_()
    assert "a&lt;b" in shown
    assert "data:image/png" in shown
    assert "data:audio/wav" in shown
    assert "&lt;script&gt;é" in shown


def test_nothing_of_the_data_is_taken_for_html() -> None:
    from datasets_core.features.base import Value

    shown = _frame({"<i>": ["<b>"], "x": [["<u>"]]}, {"<i>": Value("binary"), "x": [str]})._repr_html_()
    assert not {"<i>", "<b>", "<u>"} & set(shown.replace(">", "> ").split())


def test_parts_of_a_frame_are_plain_frames(rows: Any) -> None:
    import pandas

    frame = tfds.as_dataframe(rows)
    assert type(frame.head(2)) is pandas.DataFrame
