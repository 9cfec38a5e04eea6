"""Media of cells: their facts, small pictures, wave forms and first pages; the bytes of a file, whole or in part."""

from __future__ import annotations

import io
from typing import IO, Any

import pyarrow as pa

from datasets_core.errors import DatasetsCoreError, MediaDecodeError
from datasets_core.features.media.media import Media, MediaPaths, base_name
from datasets_core.features.media.types import PROGRAM_FORMATS
from datasets_core.optional import needed

MOST_PIXELS = 80_000_000
"""Pictures of more pixels are not decoded: their file can be saved."""
_MOST_DECODED_BYTES = 256 << 20
_MOST_WAVE_BYTES = 64 << 20
THUMBNAIL = 240  # pixels of the longer side
_WAVE_POINTS = 400
_MOST_FRAMES = 500_000_000  # three hours: a small file of silence may say that it has days
_MOST_POINTS = 100_000  # of the longer side of a page
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"), (b"fLaC", "audio/flac"), (b"OggS", "audio/ogg"), (b"ID3", "audio/mpeg"), (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"), (b"\xff\xf1", "audio/aac"), (b"\xff\xf9", "audio/aac"), (b"%PDF-", "application/pdf"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)  # fmt: skip


class Content:
    """The bytes of one medium: those stored in the row, or a file that the row names.

    Args:
        value: the stored value.
        paths: the paths that may be opened.
    """

    def __init__(self, value: pa.Scalar, paths: MediaPaths) -> None:
        stored, path = value["bytes"], value["path"]
        self.name = base_name(path.as_py()) if path.is_valid else ""
        self._data: pa.Buffer | None = stored.as_buffer() if stored.is_valid else None
        self._path: str | None = path.as_py() if path.is_valid else None
        self._paths = paths
        if self._data is None and self._path is None:
            raise MediaDecodeError("file", "it has neither bytes nor a path")

    @property
    def size(self) -> int:
        """Number of bytes."""
        if self._data is not None:
            return int(self._data.size)
        with self.open() as file:
            return file.seek(0, io.SEEK_END)

    def open(self) -> IO[bytes]:
        """Return the bytes as a file."""
        if self._data is not None:
            return pa.BufferReader(self._data)  # type: ignore[no-any-return]
        return self._paths.open(str(self._path))

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""
        if self._data is not None:
            found: bytes = self._data.slice(start, max(0, min(stop, self._data.size) - start)).to_pybytes()
            return found
        with self.open() as file:
            file.seek(start)
            return file.read(stop - start)

    @property
    def type(self) -> str:
        """The MIME type by the first bytes, if a browser shows it without running anything; else that of a stream of bytes."""
        first = self.read(0, min(self.size, 16))
        if first[:4] == b"RIFF":
            return {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}.get(
                first[8:12], "application/octet-stream"
            )
        if first[4:8] == b"ftyp":
            return "image/avif" if first[8:12] == b"avif" else "audio/mp4" if first[8:11] == b"M4A" else "video/mp4"
        return next((kind for start, kind in _STARTS if first.startswith(start)), "application/octet-stream")


def medium(value: pa.Scalar, feature: Media, paths: MediaPaths) -> dict[str, Any]:
    """Return the description of a medium in a cell: its kind, name, size and pixels, or why it cannot be shown."""
    kind = str(getattr(feature, "_type", "")).lower()
    found: dict[str, Any] = {"kind": kind}
    try:
        content = Content(value, paths)
        found |= {"name": content.name, "size": content.size}
        if kind == "image":
            with _opened_picture(content) as picture:
                found |= {"width": picture.width, "height": picture.height, "format": picture.format}
    except (DatasetsCoreError, OSError) as error:
        found["error"] = str(error)
    return found


def _opened_picture(content: Content) -> Any:
    pillow = needed("PIL.Image", "Showing images", "datasets_core[vision]")
    try:
        picture = pillow.open(content.open())
    except Exception as error:  # Pillow fails in ways of its own on a damaged file
        kind = type(error).__name__
        reason = "Pillow does not support its format" if kind == "UnidentifiedImageError" else str(error)
        if kind.startswith("DecompressionBomb"):
            reason = "it has too many pixels to be drawn. Save the file"
        raise MediaDecodeError(f"image {content.name!r}" if content.name else "image", reason) from error
    if picture.format in PROGRAM_FORMATS:
        raise MediaDecodeError("image", f"{picture.format} is a program, which is not run")
    return picture


def picture(content: Content, longest: int | None) -> tuple[bytes, str]:
    """Return a picture as PNG or JPEG, upright, and its type.

    Args:
        content: the file.
        longest: maximum number of pixels of the longer side; None: unlimited.

    Raises:
        MediaDecodeError: the picture is damaged, or too large.
    """
    with _opened_picture(content) as found:
        if found.width * found.height > MOST_PIXELS:
            size = f"{found.width:,} × {found.height:,} pixels"
            raise MediaDecodeError(
                "image", f"{size} exceed the limit of {MOST_PIXELS // 1_000_000} million for drawing. Save the file"
            )
        try:
            import PIL.ImageOps

            if longest is not None:
                found.draft("RGB", (longest, longest))
            shown = PIL.ImageOps.exif_transpose(found)
            if longest is not None:
                shown.thumbnail((longest, longest))
            if shown.mode not in ("RGB", "RGBA", "L", "LA", "P", "1"):
                shown = shown.convert("RGB")
            written = io.BytesIO()
            is_opaque = shown.mode in ("RGB", "L")
            shown.save(written, "JPEG" if is_opaque else "PNG", **({"quality": 85} if is_opaque else {}))
        except MediaDecodeError:
            raise
        except Exception as error:
            raise MediaDecodeError("image", str(error)) from error
    return written.getvalue(), "image/jpeg" if is_opaque else "image/png"


def wave(content: Content) -> dict[str, Any]:
    """Return the waveform of a sound: its bounds in a few hundred intervals, its duration in seconds, and its rate.

    Raises:
        MediaDecodeError: the sound is damaged, or too long.
    """
    if content.size > _MOST_WAVE_BYTES:
        raise MediaDecodeError("audio", f"{content.size:,} bytes are too many for a wave form")
    soundfile = needed("soundfile", "Drawing wave forms", "datasets_core[audio]")
    try:
        with soundfile.SoundFile(content.open()) as file:
            frames, rate = file.frames, file.samplerate
            if frames > _MOST_FRAMES:
                raise ValueError(f"{frames:,} samples are too many for a wave form")
            step = max(1, -(-frames // _WAVE_POINTS))
            low, high = [], []
            for block in file.blocks(blocksize=step, dtype="float32", always_2d=True):
                low.append(round(float(block.min()), 3))
                high.append(round(float(block.max()), 3))
            channels = file.channels
    except Exception as error:  # soundfile's own errors, of any kind of damage
        raise MediaDecodeError(f"audio {content.name!r}" if content.name else "audio", str(error)) from error
    return {"low": low, "high": high, "seconds": frames / rate if rate else 0.0, "rate": rate, "channels": channels}


def first_page(content: Content, longest: int) -> tuple[bytes, str]:
    """Return the first page of a PDF as PNG.

    Raises:
        MediaDecodeError: the document is damaged.
    """
    if content.size > _MOST_DECODED_BYTES:
        raise MediaDecodeError("PDF", f"{content.size:,} bytes are too many to draw")
    pdfplumber = needed("pdfplumber", "Showing PDFs", "datasets_core[pdf]")
    try:
        with pdfplumber.open(content.open()) as document:
            page = document.pages[0]
            side = max(page.width, page.height)
            if side > _MOST_POINTS:
                raise ValueError(f"its page of {page.width:,.0f} × {page.height:,.0f} points is too large to be drawn")
            drawn = page.to_image(resolution=max(1, int(72 * longest / side))).original
            written = io.BytesIO()
            drawn.convert("RGB").save(written, "PNG")
    except Exception as error:
        raise MediaDecodeError(
            f"PDF {content.name!r}" if content.name else "PDF", str(error) or type(error).__name__
        ) from error
    return written.getvalue(), "image/png"
