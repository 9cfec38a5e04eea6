"""Rows that authors yield, before they are stored."""

import wave
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.errors import CastError
from datasets_core.tfds.rows_in import row_change

F = tfds.features


def _sound(path: Any) -> Any:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.array([0, 1000, -1000], "<i2").tobytes())
    return path


def test_plain_rows_need_no_change() -> None:
    assert row_change(F.FeaturesDict({"a": np.int8, "b": F.Image(), "c": F.Sequence(np.int8), "d": F.BBoxFeature()})) is None


def test_sounds_are_read_as_whole_numbers(tmp_path: Any) -> None:
    pytest.importorskip("soundfile")
    path = _sound(tmp_path / "a.wav")
    change = row_change(F.FeaturesDict({"x": F.Sequence(F.Audio()), "y": {"z": F.Audio()}, "text": F.Text()}))
    assert change is not None
    with open(path, "rb") as file:
        row = change({"x": [path, [1, 2]], "y": {"z": file}, "text": "a"})
    assert [list(samples) for samples in row["x"]] == [[0, 1000, -1000], [1, 2]]
    assert list(row["y"]["z"]) == [0, 1000, -1000]
    with pytest.raises(CastError, match="sound"):
        change({"x": [str(tmp_path / "b.wav")]})


def test_films_are_their_pictures() -> None:
    change = row_change(F.FeaturesDict({"x": F.Video(shape=(None, 2, 2, 3))}))
    assert change is not None
    assert len(change({"x": np.zeros((4, 2, 2, 3), np.uint8)})["x"]) == 4


def test_datasets_in_rows_may_be_generated() -> None:
    change = row_change(F.FeaturesDict({"x": F.Dataset(np.int64)}))
    assert change is not None
    assert change({"x": (number for number in range(3))}) == {"x": [0, 1, 2]}
    assert change({"x": None}) == {"x": None}
    assert change("no row") == "no row"


def test_such_rows_are_stored_and_read(data_dir: str) -> None:
    class Nested(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            features = {"film": F.Video(shape=(None, 2, 2, 1)), "box": F.BBoxFeature(), "steps": F.Sequence({"a": np.int8})}
            return tfds.core.DatasetInfo(builder=self, features=features)

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            film = [np.full((2, 2, 1), shade, np.uint8) for shade in (1, 2, 3)]
            yield 0, {"film": film, "box": F.BBox(0.0, 0.25, 0.5, 1.0), "steps": [{"a": 1}, {"a": 2}]}

    pytest.importorskip("PIL")
    (row,) = tfds.as_numpy(tfds.load("nested", split="train", data_dir=data_dir))
    assert (row["film"].shape, row["film"][2].max()) == ((3, 2, 2, 1), 3)
    assert row["box"].tolist() == [0.0, 0.25, 0.5, 1.0]
    assert row["steps"]["a"].tolist() == [1, 2]
