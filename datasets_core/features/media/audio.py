"""`Audio`: a sound in each row, decoded by soundfile, or by torchcodec for formats unknown to soundfile."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, DatasetsCoreError, MediaDecodeError, MissingDependencyError, redact
from datasets_core.features.media.media import ANYWHERE, Media, MediaPaths, reason_of
from datasets_core.optional import needed

if TYPE_CHECKING:
    import numpy.typing as npt


# `Sound`: one audio file, decoded on use, with the interfaces of a dict and of torchcodec's
# `AudioDecoder`.


MAX_SAMPLES = 1 << 30
"""Maximum number of samples decoded from one file at once (4 GiB of float32): a small file may claim any length."""
_BLOCK_FRAMES = 1 << 20
_KEYS = ("path", "array", "sampling_rate")


@dataclass(frozen=True, slots=True, eq=False)
class AudioSamples:
    """Samples of a sound.

    Attributes:
        data: float32 between -1 and 1, of the shape (channels, samples).
        sample_rate: samples per second.
        pts_seconds: start time of the first sample.
        duration_seconds: duration of the samples.
    """

    data: npt.NDArray[np.float32]
    sample_rate: int
    pts_seconds: float
    duration_seconds: float


@dataclass(frozen=True, slots=True)
class AudioMetadata:
    """Header of an audio file."""

    sample_rate: int
    num_channels: int
    duration_seconds: float
    path: str | None


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """Requested form of samples: rate, channels, stream; None leaves it unchanged."""

    sampling_rate: int | None = None
    num_channels: int | None = None
    stream_index: int | None = None


class Sound(dict[str, Any]):
    """An audio file, read on first use: an immutable dict, and a decoder.

    Args:
        stored: its `bytes` and `path`.
        wanted: the requested form of its samples.
        paths: the paths that may be opened.

    >>> tone = Sound({"bytes": wav_bytes(np.zeros(8, np.float32), 4), "path": None})
    >>> tone["sampling_rate"], tone["array"].shape, tone.get_all_samples().data.shape
    (4, (8,), (1, 8))
    """

    def __init__(
        self, stored: Mapping[str, Any], wanted: SampleRequest = SampleRequest(), paths: MediaPaths = ANYWHERE
    ) -> None:
        self.stored, self._wanted, self._paths = dict(stored), wanted, paths
        self._samples: AudioSamples | None = None

    # -- a dict --------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: str) -> Any:
        """`"array"` (the mean of the channels), `"sampling_rate"`, or `"path"`."""
        if key == "path":
            return self.stored.get("path")
        if key == "sampling_rate":
            return self._wanted.sampling_rate or self.metadata.sample_rate
        if key == "array":
            data = self.get_all_samples().data
            return data[0] if len(data) == 1 else data.mean(axis=0, dtype=np.float32)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    def __contains__(self, key: object) -> bool:
        return key in _KEYS

    def copy(self) -> dict[str, Any]:
        """Return the samples, the rate and the path as a plain dict."""
        return {key: self[key] for key in self}

    def __or__(self, other: Any) -> dict[str, Any]:  # type: ignore[override]
        return {**self, **other}

    def __ror__(self, other: Any) -> dict[str, Any]:  # type: ignore[override]
        return {**other, **self}

    get, keys, items, values = Mapping.get, Mapping.keys, Mapping.items, Mapping.values  # type: ignore[assignment]
    __reversed__ = None  # type: ignore[assignment]

    def _unchanged(self, *_: Any, **__: Any) -> Any:
        raise TypeError("A Sound is immutable. Modify sound.copy(), which is a plain dict.")

    __setitem__ = __delitem__ = __ior__ = pop = popitem = clear = _unchanged
    update: Any = _unchanged
    setdefault: Any = _unchanged

    def __repr__(self) -> str:
        size = "" if self.stored.get("bytes") is None else f", {len(self.stored['bytes'])} bytes"
        return f"<Sound path={self.stored.get('path')!r}{size}>"

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.stored.get("path"), self.stored.get("bytes"), self._wanted))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sound) and (self.stored, self._wanted) == (other.stored, other._wanted)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> tuple[Any, ...]:
        return Sound, (self.stored, self._wanted, self._paths)

    # -- a decoder -----------------------------------------------------------------------------------------------------

    @property
    def metadata(self) -> AudioMetadata:
        """Header of the file.

        Raises:
            MediaDecodeError: the file is damaged, or of an unknown format.
        """
        with _reader(self.stored, self._wanted, self._paths) as reader:
            return AudioMetadata(reader.rate, reader.channels, reader.frames / reader.rate, self.stored.get("path"))

    def get_all_samples(self) -> AudioSamples:
        """Return all samples, with the rate and the channels of the feature; they are cached.

        Raises:
            MediaDecodeError: the file is damaged, of an unknown format, or longer than `MAX_SAMPLES`.
        """
        if self._samples is None:
            self._samples = self.get_samples_played_in_range()
        return self._samples

    def get_samples_played_in_range(self, start_seconds: float = 0.0, stop_seconds: float | None = None) -> AudioSamples:
        """Return the samples between two times; only these are read."""
        with _reader(self.stored, self._wanted, self._paths) as reader:
            start = max(0, round(start_seconds * reader.rate))
            stop = None if stop_seconds is None else max(start, round(stop_seconds * reader.rate))
            data, rate = reader.read(start, stop), reader.rate
        data = _mixed(data, self._wanted.num_channels)
        wanted = self._wanted.sampling_rate or rate
        if wanted != rate:
            data = _resampled(data, rate, wanted)
        data = np.ascontiguousarray(data.T)
        return AudioSamples(data, wanted, start / rate, data.shape[1] / wanted)


def _mixed(data: npt.NDArray[Any], channels: int | None) -> npt.NDArray[Any]:
    """Return samples, of the shape (samples, channels), converted to another number of channels."""
    found = data.shape[1]
    if channels is None or channels == found:
        return data
    if channels == 1:
        mono: npt.NDArray[Any] = np.mean(data, axis=1, keepdims=True).astype(data.dtype)
        return mono
    if found == 1:
        return np.repeat(data, channels, axis=1)
    raise CastError(
        f"A sound of {found} channels cannot be converted to {channels} channels", advice=f"Use num_channels=1 or {found}"
    )


def _resampled(data: npt.NDArray[np.float32], rate: int, wanted: int) -> npt.NDArray[np.float32]:
    soxr = needed("soxr", "Resampling", "datasets_core[audio]")
    return np.asarray(soxr.resample(data, rate, wanted), np.float32)


# -- readers ---------------------------------------------------------------------------------------------------------


class _Reader:
    """An open audio file: `rate`, `channels`, `frames`, and frames by number."""

    rate: int
    channels: int
    frames: int

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, Exception) and not isinstance(error, (DatasetsCoreError, MemoryError)):
            raise self._damaged(error) from error  # a header may be sound, and what follows it not

    def _damaged(self, error: Exception) -> MediaDecodeError:
        return MediaDecodeError(self.name, reason_of(error))

    def close(self) -> None:
        """Release the file."""

    def read(self, start: int, stop: int | None) -> npt.NDArray[np.float32]:
        """Return frames by number, with the shape (frames, channels)."""
        raise NotImplementedError


class _SoundfileReader(_Reader):
    def __init__(self, name: str, source: Any, soundfile: Any) -> None:
        super().__init__(name)
        self._file = soundfile.SoundFile(source)
        self.rate, self.channels, self.frames = self._file.samplerate, self._file.channels, max(0, self._file.frames)

    def close(self) -> None:
        self._file.close()

    def read(self, start: int, stop: int | None) -> npt.NDArray[np.float32]:
        """See `_Reader.read`; reads block by block, since a header may claim any length."""
        if start:
            self._file.seek(min(start, self.frames))
        blocks: list[npt.NDArray[np.float32]] = []
        held, left = 0, None if stop is None else stop - start
        while left is None or left > 0:
            block = self._file.read(
                _BLOCK_FRAMES if left is None else min(left, _BLOCK_FRAMES), dtype="float32", always_2d=True
            )
            blocks.append(block)
            held += block.size
            left = None if left is None else left - len(block)
            if held > MAX_SAMPLES:
                raise MediaDecodeError(self.name, f"it is longer than {MAX_SAMPLES:,} samples; decode it in ranges of seconds")
            if len(block) < _BLOCK_FRAMES:
                break
        if not blocks:
            return np.zeros((0, self.channels), np.float32)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


class _TorchcodecReader(_Reader):
    def __init__(self, name: str, source: Any, stream_index: int | None) -> None:
        super().__init__(name)
        self._decoder = import_decoders("Decoding sounds of this format").AudioDecoder(source, stream_index=stream_index)
        about = self._decoder.metadata
        self.rate, self.channels = int(about.sample_rate), int(about.num_channels or 1)
        self.frames = round((about.duration_seconds or 0) * self.rate)

    def read(self, start: int, stop: int | None) -> npt.NDArray[np.float32]:
        if start or stop is not None:
            end = None if stop is None else stop / self.rate
            samples = self._decoder.get_samples_played_in_range(start / self.rate, end)
        else:
            samples = self._decoder.get_all_samples()
        return np.asarray(samples.data.cpu().numpy().T, np.float32)


def _reader(stored: Mapping[str, Any], wanted: SampleRequest, paths: MediaPaths) -> _Reader:
    """Open the file with soundfile, or with torchcodec if soundfile does not support the format or is not installed."""
    data, path = stored.get("bytes"), stored.get("path")
    name = f"sound {redact(path)!r}" if path else "sound"
    if data is None and path is None:
        raise MediaDecodeError(name, "it has neither bytes nor a path")
    failures: list[Exception] = []
    for kind in (_with_soundfile, _with_torchcodec):
        try:
            return kind(name, data, path, wanted.stream_index, paths)
        except DatasetsCoreError as error:
            if not isinstance(error, MissingDependencyError):
                raise
            failures.append(error)
        except Exception as error:  # a decoder fails in ways of its own on a damaged file
            failures.append(error)
    first = failures[0]
    if isinstance(first, MissingDependencyError):
        raise first
    reason = reason_of(first)
    if getattr(first, "code", None) == _UNKNOWN_FORMAT and isinstance(failures[-1], MissingDependencyError):
        reason += " by soundfile; torchcodec, which is not installed, supports m4a, aac and others (datasets_core[video])"
    raise MediaDecodeError(name, reason) from first


_UNKNOWN_FORMAT = 1  # of the errors of libsndfile


def _with_soundfile(name: str, data: bytes | None, path: str | None, stream_index: int | None, paths: MediaPaths) -> _Reader:
    if stream_index:
        raise MissingDependencyError("torchcodec", needed_for=f"stream_index={stream_index}", install="datasets_core[video]")
    return _SoundfileReader(name, _source(data, path, paths), import_soundfile("Decoding sounds"))


def _with_torchcodec(name: str, data: bytes | None, path: str | None, stream_index: int | None, paths: MediaPaths) -> _Reader:
    return _TorchcodecReader(name, _source(data, path, paths), stream_index)


def _source(data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
    """Return the input of a decoder: bytes in memory, or a local path."""
    return io.BytesIO(data) if data is not None else paths.source(str(path))


def import_soundfile(needed_for: str) -> Any:
    """Return the package soundfile.

    Raises:
        MissingDependencyError: soundfile is not installed.
    """
    try:
        import soundfile
    except (ImportError, OSError) as error:  # OSError: the package without its library
        raise MissingDependencyError("soundfile", needed_for=needed_for, install="datasets_core[audio]") from error
    return soundfile


def import_decoders(needed_for: str) -> Any:
    """Return the module `torchcodec.decoders`.

    Raises:
        MissingDependencyError: torchcodec is not installed, or lacks the libraries of FFmpeg.
    """
    try:
        import torchcodec.decoders
    except ImportError as error:
        raise MissingDependencyError("torchcodec", needed_for=needed_for, install="datasets_core[video]") from error
    except (RuntimeError, OSError) as error:
        said = "torchcodec does not find the FFmpeg libraries; install them with the package manager of the system"
        raise MissingDependencyError(None, needed_for=needed_for, said=said) from error
    return torchcodec.decoders


# -- samples into files ------------------------------------------------------------------------------------------------

_SUBTYPES = {"int16": "PCM_16", "int32": "PCM_32", "float32": "PCM_16", "float64": "PCM_16"}


def wav_bytes(array: Any, sampling_rate: Any, num_channels: int | None = None) -> bytes:
    """Return a wav file of samples: 16 bits for floats between -1 and 1, their own width for integers.

    Args:
        array: samples, or channels of samples.
        sampling_rate: samples per second.
        num_channels: 1 mixes to mono, 2 makes stereo; None leaves the channels.

    Raises:
        CastError: the array does not contain samples.
    """
    samples = np.asarray(array)
    if samples.dtype == np.float16:
        samples = samples.astype(np.float32)
    subtype = _SUBTYPES.get(samples.dtype.name)
    if subtype is None or samples.ndim not in (1, 2) or (samples.ndim == 2 and samples.shape[0] > 64):
        raise CastError(
            f"An array of {samples.dtype} and shape {samples.shape} is not audio",
            advice="Give floats between -1 and 1, or int16, with the shape (samples,) or (channels, samples)",
        )
    if isinstance(sampling_rate, bool) or not isinstance(sampling_rate, (int, np.integer)) or sampling_rate < 1:
        raise CastError(
            f"Invalid sampling rate {sampling_rate!r} of a sound",
            advice="Give 'sampling_rate' in samples per second",
            value=sampling_rate,
        )
    frames = samples.reshape(1, -1).T if samples.ndim == 1 else samples.T
    frames = _mixed(frames, num_channels)
    buffer = io.BytesIO()
    import_soundfile("Encoding sounds").write(buffer, frames, int(sampling_rate), format="wav", subtype=subtype)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class Audio(Media):
    """A sound in each row: written as a path, bytes or `{"array", "sampling_rate"}`, read as a `Sound`.

    A `Sound` reads its file on use: `sound["array"]`, `sound["sampling_rate"]`, `sound.get_all_samples()`.

    Args:
        sampling_rate: the rate to resample to; None leaves each sound at its own.
        decode: False returns `{"bytes": …, "path": …}`, which needs no package.
        num_channels: 1 mixes to mono, 2 makes stereo; None leaves the channels.
        stream_index: number of the stream in the file; None takes the best.
        id: a name that is kept, but has no effect.

    Example:
        >>> Audio(sampling_rate=16_000).encode_example("songs/1.flac")
        {'bytes': None, 'path': 'songs/1.flac'}
    """

    sampling_rate: int | None = None
    decode: bool = True
    num_channels: int | None = None
    stream_index: int | None = None
    id: str | None = None
    _type: ClassVar[str] = "Audio"
    croissant: ClassVar[str] = "sc:AudioObject"
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
        """Return raw 16-bit samples, which have no header, as a wav file."""
        if not data:
            with ANYWHERE.open(path) as file:
                data = file.read()
        samples = np.frombuffer(data[: len(data) // 2 * 2], np.dtype("<i2"))
        return {"bytes": wav_bytes(samples, sampling_rate), "path": None}

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Sound:
        wanted = SampleRequest(self.sampling_rate, self.num_channels, self.stream_index)
        return Sound({"bytes": data, "path": path}, wanted, paths)

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `Media.cast_array`; structs of an array and its sampling rate are sounds too."""
        if not pa.types.is_struct(array.type) or array.type.get_field_index("array") < 0:
            return super(Audio, self).cast_array(array)
        return self._cast_objects(array)


def is_audio_decoder(value: object) -> bool:
    """Return True if `value` is a decoder of torchcodec; does not import it."""
    module = sys.modules.get("torchcodec.decoders")
    return module is not None and isinstance(value, module.AudioDecoder)
