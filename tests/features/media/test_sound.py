import io
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from datasets_core.errors import CastError, MediaDecodeError, UntrustedPathError
from datasets_core.features.media import audio as sounds
from datasets_core.features.media.audio import SampleRequest, Sound, wav_bytes
from datasets_core.features.media.media import MediaPaths

soundfile = pytest.importorskip("soundfile")
pytestmark = pytest.mark.optional("soundfile")


@given(
    hnp.arrays(st.sampled_from([np.int16, np.int32]), st.tuples(st.integers(1, 3), st.integers(1, 50))), st.integers(1, 96000)
)
def test_integers_come_back_exactly(samples: "np.ndarray[tuple[int, int], np.dtype[np.int16]]", rate: int) -> None:
    data = wav_bytes(samples, rate)
    back, found = soundfile.read(io.BytesIO(data), dtype=samples.dtype.name, always_2d=True)
    assert found == rate and np.array_equal(back.T, samples)


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_range_of_seconds_is_that_part_of_all_samples(start: int, length: int) -> None:
    sound = Sound({"bytes": wav_bytes(np.arange(80, dtype=np.int16), 10), "path": None})
    part = sound.get_samples_played_in_range(start / 10, (start + length) / 10)
    assert np.array_equal(part.data, sound.get_all_samples().data[:, start : start + length])
    assert (part.pts_seconds, part.sample_rate) == (start / 10, 10)


@pytest.mark.parametrize("data", [b"", b"no sound", b"RIFF" + b"\xff" * 60, b"fLaC" + b"\0" * 50, b"OggS" + b"\1" * 90])
def test_damaged_files_are_one_kind_of_error(data: bytes) -> None:
    sound = Sound({"bytes": data, "path": "a.wav"})
    with pytest.raises(MediaDecodeError, match=r"a\.wav"):
        _ = sound["array"]
    with pytest.raises(MediaDecodeError):
        _ = sound.metadata


def test_a_header_that_claims_any_length_takes_no_memory() -> None:
    data = bytearray(wav_bytes(np.zeros(10, np.int16), 8))
    data[40:44] = b"\xf0\xff\xff\x7f"  # the size of the samples: 2 GiB
    assert len(Sound({"bytes": bytes(data), "path": None})["array"]) <= 10


def test_a_sound_that_is_too_long_is_an_error_and_can_be_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sounds, "MAX_SAMPLES", 100)
    sound = Sound({"bytes": wav_bytes(np.zeros(200, np.int16), 10), "path": None})
    with pytest.raises(MediaDecodeError, match="ranges of seconds"):
        sound.get_all_samples()
    assert sound.get_samples_played_in_range(1, 2).data.shape == (1, 10)


def test_channels_that_cannot_be_mixed_are_an_error() -> None:
    three = wav_bytes(np.zeros((3, 5), np.int16), 8)
    with pytest.raises(CastError, match="3 channels"):
        Sound({"bytes": three, "path": None}, SampleRequest(num_channels=2)).get_all_samples()


@pytest.mark.parametrize("array", [np.zeros((2, 2, 2), "f4"), np.zeros(3, "c8"), np.zeros((100, 2), "i2"), ["a"]])
def test_arrays_that_are_no_samples_are_refused(array: object) -> None:
    with pytest.raises(CastError, match="channels, samples"):
        wav_bytes(array, 8)


def test_a_sound_travels_and_is_equal_to_itself_only_by_what_it_is() -> None:
    sound = Sound({"bytes": wav_bytes([0.5, -0.5], 8), "path": None}, SampleRequest(num_channels=1))
    again = pickle.loads(pickle.dumps(sound))
    assert again == sound and again["array"].tolist() == [0.5, -0.5]
    assert sound != Sound(sound.stored)


def test_a_path_is_opened_where_it_may_be() -> None:
    with pytest.raises(UntrustedPathError):
        Sound({"bytes": None, "path": "/etc/a.wav"}, paths=MediaPaths()).get_all_samples()
    with pytest.raises(MediaDecodeError, match="neither"):
        Sound({}).get_all_samples()


def test_samples_that_cannot_be_read_behind_a_sound_header_are_an_error_of_the_library() -> None:
    written = io.BytesIO()
    soundfile.write(written, np.zeros(1000), 8000, format="flac")
    claims = bytearray(written.getvalue())
    claims[21] |= 0x0F  # the last bits of the number of samples
    claims[22:26] = b"\xff" * 4
    with pytest.raises(MediaDecodeError, match=r"Sound 'a\.flac' cannot be decoded"):
        Sound({"bytes": bytes(claims), "path": "a.flac"}).get_all_samples()


def test_an_error_tells_no_address_in_memory() -> None:
    with pytest.raises(MediaDecodeError) as caught:
        Sound({"bytes": b"no sound", "path": "a.wav"}).get_all_samples()
    assert "0x" not in str(caught.value)


def test_a_format_that_soundfile_does_not_know_names_the_package_that_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchcodec", None)
    m4a = b"\0\0\0\x1cftypM4A \0\0\2\0M4A isomiso2" + bytes(200)
    with pytest.raises(MediaDecodeError, match=r"torchcodec, which is not installed, supports m4a"):
        Sound({"bytes": m4a, "path": "a.m4a"}).get_all_samples()
