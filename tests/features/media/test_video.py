import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import MediaDecodeError
from datasets_core.features.media.types import Video
from datasets_core.features.schema import Features


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film of ten frames of 16 x 32 pixels."""
    encoders: Any = pytest.importorskip("torchcodec.encoders", exc_type=Exception)
    import torch

    path = tmp_path / "film.mp4"
    try:
        encoders.VideoEncoder(torch.zeros(10, 3, 16, 32, dtype=torch.uint8), frame_rate=10).to_file(str(path))
    except (RuntimeError, AttributeError):
        pytest.skip("FFmpeg is not installed, or torchcodec writes no films")
    return path


def test_a_film_opens_from_bytes_and_from_its_path(film: Path) -> None:
    rows = Dataset.from_dict({"film": [str(film), film.read_bytes()]}, features=Features({"film": Video()}))
    for row in rows:
        assert len(row["film"]) == 10 and tuple(row["film"][0].shape) == (3, 16, 32)
    last = Dataset.from_dict({"film": [film]}, features=Features({"film": Video(dimension_order="NHWC")}))
    assert tuple(last[0]["film"][0].shape) == (16, 32, 3)


def test_a_decoder_is_stored_as_what_it_was_made_of(film: Path) -> None:
    rows = Dataset.from_dict({"film": [str(film)]}, features=Features({"film": Video()}))
    again = Dataset.from_dict({"film": [rows[0]["film"]]})
    assert again.features == Features({"film": Video()})
    assert again.data.column("film").to_pylist() == [{"bytes": None, "path": str(film)}]


def test_what_is_no_film_is_an_error(film: Path) -> None:
    with pytest.raises(MediaDecodeError, match="Row 0, column 'film'"):
        _ = Dataset.from_dict({"film": [b"nothing"]}, features=Features({"film": Video()}))[0]


def test_storing_and_reading_undecoded_needs_no_package() -> None:
    code = """
import sys
sys.modules["torchcodec"] = None
from datasets_core import Dataset, Features, Video
rows = Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Video(decode=False)}))
assert rows[0] == {"a": {"bytes": b"x", "path": None}}
try:
    Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Video()}))[0]
except ImportError as error:
    assert "datasets_core[video]" in str(error), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)
