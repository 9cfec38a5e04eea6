"""`Video`: a film in each row, decoded by torchcodec."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from datasets_core.features.media import Media
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.sound import import_decoders


@dataclass(frozen=True, slots=True)
class Video(Media):
    """A film in each row: a path, bytes or a torchcodec `VideoDecoder` goes in, a `VideoDecoder` comes out.

    Args:
        decode: False shows `{"bytes": …, "path": …}`, for which torchcodec is not needed.
        stream_index: which stream of the file; None takes the best.
        dimension_order: of the decoded frames, `"NCHW"` or `"NHWC"`.
        num_ffmpeg_threads: threads that decode.
        device: where frames are decoded to.
        seek_mode: `"exact"`, or `"approximate"`, which is faster.
        id: a name that is kept and never read.

    >>> Video().encode_example("films/1.mp4")
    {'bytes': None, 'path': 'films/1.mp4'}
    """

    decode: bool = True
    stream_index: int | None = None
    dimension_order: str = "NCHW"
    num_ffmpeg_threads: int = 1
    device: Any = "cpu"
    seek_mode: str = "exact"
    id: str | None = None
    _type: ClassVar[str] = "Video"
    noun: ClassVar[str] = "video"
    dtype: ClassVar[str] = "torchcodec.decoders.VideoDecoder"

    def __repr__(self) -> str:
        names = ("decode", "stream_index", "dimension_order", "num_ffmpeg_threads", "device", "seek_mode")
        return f"Video({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        return getattr(value, "_hf_encoded", None) if is_video_decoder(value) else None

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        decoder = import_decoders("Decoding videos").VideoDecoder(
            data if data is not None else paths.source(str(path)),
            stream_index=self.stream_index,
            dimension_order=self.dimension_order,
            num_ffmpeg_threads=self.num_ffmpeg_threads,
            device=self.device,
            seek_mode=self.seek_mode,
        )
        decoder._hf_encoded = {"bytes": data, "path": path}
        return decoder


def is_video_decoder(value: object) -> bool:
    """Whether `value` is a decoder of torchcodec, which is not imported to tell."""
    module = sys.modules.get("torchcodec.decoders")
    return module is not None and isinstance(value, module.VideoDecoder)
