"""`Audio`: a sound in each row, decoded by soundfile, or by torchcodec where soundfile does not know the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from datasets_core.features.media import Media


@dataclass(frozen=True, slots=True)
class Audio(Media):
    """A sound in each row: a path, bytes or `{"array", "sampling_rate"}` goes in; what comes out gives both as well.

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
        return None
