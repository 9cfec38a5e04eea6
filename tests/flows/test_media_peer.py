"""Media go to and from Hugging Face `datasets` with their features; runs where `DATASETS_PEER_PYTHON` names its interpreter."""

import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import LargeList, List
from datasets_core.features.media.audio import Audio, wav_bytes
from datasets_core.features.media.types import BioSequence, BioStructure, Image, Mesh, Nifti, Pdf, Video
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset

PEER = os.environ.get("DATASETS_PEER_PYTHON")
pytestmark = [pytest.mark.optional("datasets"), pytest.mark.skipif(PEER is None, reason="DATASETS_PEER_PYTHON is not set")]

FORMS = {
    "a": Image(),
    "b": Image(mode="RGB", decode=False),
    "c": Audio(sampling_rate=16000, num_channels=1),
    "d": Video(decode=False, dimension_order="NHWC", seek_mode="approximate"),
    "e": List(Pdf()),
    "f": {"g": LargeList(Nifti()), "h": Mesh(decode=False)},
    "i": BioSequence("fastq"),
    "j": BioStructure(),
    "k": Image(id="x"),
}

SCHEMA = """
import json, sys
import datasets
features = datasets.Features.from_dict(json.loads(sys.argv[1]))
print(features.arrow_schema.metadata[b"huggingface"].decode())
print(json.dumps(features._to_yaml_list()))
"""

THERE_AND_BACK = """
import sys
import datasets
datasets.disable_progress_bars()
source, parquet, saved, cache = sys.argv[1:]
rows = datasets.load_dataset("parquet", data_files=source, split="train", cache_dir=cache)
assert repr(rows.features["image"]) == "Image(mode=None, decode=True)", rows.features
assert rows[0]["image"].size == (3, 2) and rows[1]["image"] is None
assert rows.with_format("numpy")[0]["images"][0].shape == (2, 3, 3)
rows.to_parquet(parquet)
rows.save_to_disk(saved)
"""


def peer(code: str, *arguments: str) -> list[str]:
    assert PEER is not None
    done = subprocess.run([PEER, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_schemas_and_cards_are_the_same_to_the_byte() -> None:
    features = Features(FORMS)
    metadata, card = peer(SCHEMA, json.dumps(features.to_dict()))
    assert features.arrow_schema.metadata[b"huggingface"].decode() == metadata
    assert json.dumps(features.to_yaml_list()) == card
    assert Features.from_yaml_list(json.loads(card)) == features


def test_rows_of_media_go_there_and_back(tmp_path: Path) -> None:
    pillow: Any = pytest.importorskip("PIL.Image")
    pytest.importorskip("soundfile")
    buffer = io.BytesIO()
    pillow.new("RGB", (3, 2), "red").save(buffer, format="PNG")
    features = Features({"image": Image(), "images": [Image()], "sound": Audio(decode=False)})
    picture, sound = {"bytes": buffer.getvalue(), "path": "a.png"}, {"bytes": wav_bytes([0.5], 8), "path": None}
    ours = Dataset.from_list(
        [{"image": picture, "images": [picture], "sound": sound}, {"image": None, "images": [], "sound": None}],
        features=features,
    )
    ours.to_parquet(str(tmp_path / "ours.parquet"))
    names = ("ours.parquet", "theirs.parquet", "saved", "cache")
    peer(THERE_AND_BACK, *(str(tmp_path / name) for name in names))
    back = load_dataset("parquet", data_files=str(tmp_path / "theirs.parquet"), split="train", cache_dir=str(tmp_path / "c"))
    for found in (back, Dataset.load_from_disk(str(tmp_path / "saved"))):
        assert found.features == features
        assert found.data.to_pylist() == ours.data.to_pylist()
        assert found[0]["image"].size == (3, 2)
