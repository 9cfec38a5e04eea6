import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError
from datasets_core.features.media.audio import Audio, Sound, wav_bytes
from datasets_core.features.schema import Features

soundfile = pytest.importorskip("soundfile")
pytestmark = pytest.mark.optional("soundfile")


def dataset(*values: Any, feature: Audio | None = None) -> Dataset:
    return Dataset.from_dict({"audio": list(values)}, features=Features({"audio": feature or Audio()}))


RAMP = np.arange(-1000, 1000, 10, dtype=np.int16)


def test_a_sound_answers_like_a_dict_and_like_a_decoder() -> None:
    sound = dataset({"array": RAMP, "sampling_rate": 100})[0]["audio"]
    assert list(sound) == ["path", "array", "sampling_rate"]
    assert (sound["path"], sound["sampling_rate"]) == (None, 100)
    assert np.array_equal(sound["array"], RAMP.astype(np.float32) / 32768)
    assert sound.get_all_samples().data.shape == (1, 200)
    assert sound.metadata.duration_seconds == 2.0


def test_what_was_read_is_stored_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes(RAMP, 100))
    rows = dataset(str(path), path.read_bytes())
    again = dataset(rows[0]["audio"], rows[1]["audio"], dict(rows[0]["audio"]), feature=Audio(decode=False))
    assert again[0]["audio"] == {"bytes": None, "path": str(path)}
    assert again[1]["audio"] == {"bytes": path.read_bytes(), "path": None}
    assert again[2]["audio"] == {"bytes": path.read_bytes(), "path": None}  # a dict of samples is encoded anew


def test_a_rate_resamples_and_channels_are_mixed() -> None:
    pytest.importorskip("soxr")
    stereo = {"array": np.stack([RAMP, -RAMP]), "sampling_rate": 100}
    sound = dataset(stereo, feature=Audio(sampling_rate=50, num_channels=1))[0]["audio"]
    assert (sound["sampling_rate"], sound["array"].shape, float(abs(sound["array"]).max())) == (50, (100,), 0.0)
    assert dataset(stereo)[0]["audio"].get_all_samples().data.shape == (2, 200)
    mono = {"array": RAMP, "sampling_rate": 100}
    assert dataset(mono, feature=Audio(num_channels=2))[0]["audio"].get_all_samples().data.shape == (2, 200)


def test_raw_samples_become_a_wav_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pcm"
    path.write_bytes(RAMP.tobytes())
    for value in ({"path": str(path), "sampling_rate": 100}, {"path": "b.pcm", "bytes": RAMP.tobytes(), "sampling_rate": 100}):
        assert np.array_equal(dataset(value)[0]["audio"]["array"], RAMP.astype(np.float32) / 32768)


def test_structs_of_arrays_are_cast_to_files() -> None:
    array = pa.array([{"array": [0.0, 0.5], "sampling_rate": 8, "path": None}, None])
    cast = Audio().cast_storage(array)
    assert cast.type == Audio().arrow_type and cast[1].as_py() is None
    assert Audio().decode_example(cast[0].as_py())["array"].tolist() == [0.0, 0.5]
    assert Audio().cast_storage(pa.array(["a.wav"])).to_pylist() == [{"bytes": None, "path": "a.wav"}]
    with pytest.raises(CastError, match="sampling rate"):
        Audio().cast_storage(pa.array([{"array": [0.0]}]))


@pytest.mark.parametrize("value", [5, {"array": ["a"], "sampling_rate": 8}, {"array": [0.5], "sampling_rate": 0}, {"other": 1}])
def test_what_is_no_sound_is_refused_with_its_row(value: Any) -> None:
    with pytest.raises(CastError) as caught:
        dataset(b"", value)
    assert (caught.value.row, caught.value.column) == (1, "audio")


def test_sounds_are_told_from_others_in_columns_without_features() -> None:
    sound = Sound({"bytes": wav_bytes(RAMP, 100), "path": None})
    assert Dataset.from_dict({"a": [None, sound]}).features == Features({"a": Audio()})


def test_storing_and_reading_undecoded_needs_no_package() -> None:
    code = """
import sys
sys.modules["soundfile"] = sys.modules["torchcodec"] = None
from datasets_core import Audio, Dataset, Features
rows = Dataset.from_dict({"a": [b"x", "p"]}, features=Features({"a": Audio(decode=False)}))
assert rows[1] == {"a": {"bytes": None, "path": "p"}}
sound = Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Audio()}))[0]["a"]
try:
    sound["array"]
except ImportError as error:
    assert "datasets_core[audio]" in str(error), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_format_that_soundfile_does_not_know_is_read_by_torchcodec() -> None:
    encoders = pytest.importorskip("torchcodec.encoders", exc_type=Exception)
    import torch

    buffer = io.BytesIO()
    try:
        encoders.AudioEncoder(torch.zeros(1, 8000), sample_rate=8000).to_file_like(buffer, format="adts")
    except RuntimeError:
        pytest.skip("FFmpeg is not installed")
    sound = dataset(buffer.getvalue())[0]["audio"]
    assert sound["sampling_rate"] == 8000 and len(sound["array"]) >= 8000
