"""`Audio`: a sound in each row, decoded by soundfile, or by torchcodec where soundfile does not know the format."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.features.media import Media
from datasets_core.features.media_paths import ANYWHERE, MediaPaths
from datasets_core.features.sound import Sound, Wanted, wav_bytes


@dataclass(frozen=True, slots=True)
class Audio(Media):
    """A sound in each row: a path, bytes or `{"array", "sampling_rate"}` goes in, a `Sound` comes out.

    A `Sound` reads its file when it is asked: `sound["array"]`, `sound["sampling_rate"]`, `sound.get_all_samples()`.

    Args:
        sampling_rate: the rate to resample to; None leaves each sound at its own.
        decode: False shows `{"bytes": …, "path": …}`, for which no package is needed.
        num_channels: 1 mixes to mono, 2 gives stereo; None leaves the channels.
        stream_index: which stream of the file; None takes the best.
        id: a name that is kept and never read.

    >>> Audio(sampling_rate=16_000).encode_example("songs/1.flac")
    {'bytes': None, 'path': 'songs/1.flac'}
    """

    sampling_rate: int | None = None
    decode: bool = True
    num_channels: int | None = None
    stream_index: int | None = None
    id: str | None = None
    _type: ClassVar[str] = "Audio"
    noun: ClassVar[str] = "sound"
    dtype: ClassVar[str] = "dict"

    def __repr__(self) -> str:
        names = ("sampling_rate", "decode", "num_channels", "stream_index")
        return f"Audio({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        if isinstance(value, Sound):
            return {"bytes": value.stored.get("bytes"), "path": value.stored.get("path")}
        if is_audio_decoder(value):
            return self._encode_decoder(value)
        if not isinstance(value, Mapping):
            return None
        if value.get("array") is not None:
            return {"bytes": wav_bytes(value["array"], value.get("sampling_rate"), self.num_channels), "path": None}
        path = value.get("path")
        if isinstance(path, str) and path.endswith("pcm") and value.get("sampling_rate") is not None:
            return self._encode_raw(value.get("bytes"), path, value["sampling_rate"])
        return None

    def _encode_decoder(self, decoder: Any) -> dict[str, Any]:
        stored = getattr(decoder, "_hf_encoded", None)
        if stored is None:
            samples = decoder.get_all_samples()
            stored = {"bytes": wav_bytes(samples.data.cpu().numpy(), int(samples.sample_rate)), "path": None}
        return {"bytes": stored["bytes"], "path": stored["path"]}

    def _encode_raw(self, data: bytes | None, path: str, sampling_rate: Any) -> dict[str, Any]:
        """Raw samples of 16 bits, which say nothing of themselves, as a wav file."""
        if not data:
            with ANYWHERE.open(path) as file:
                data = file.read()
        samples = np.frombuffer(data[: len(data) // 2 * 2], np.dtype("<i2"))
        return {"bytes": wav_bytes(samples, sampling_rate), "path": None}

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Sound:
        wanted = Wanted(self.sampling_rate, self.num_channels, self.stream_index)
        return Sound({"bytes": data, "path": path}, wanted, paths)

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `Media.cast_array`; structs of an array and its sampling rate are sounds too."""
        if not pa.types.is_struct(array.type) or array.type.get_field_index("array") < 0:
            return super(Audio, self).cast_array(array)
        return self._cast_objects(array)


def is_audio_decoder(value: object) -> bool:
    """Whether `value` is a decoder of torchcodec, which is not imported to tell."""
    module = sys.modules.get("torchcodec.decoders")
    return module is not None and isinstance(value, module.AudioDecoder)
