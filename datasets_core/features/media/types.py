"""`Image`, `Video`, `Pdf`, `Nifti`, `Mesh`, `BioSequence`, `BioStructure`: media features with their decoders."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError, MediaDecodeError, MediaTypeError
from datasets_core.features.media.audio import import_decoders
from datasets_core.features.media.media import Media, MediaPaths, base_name
from datasets_core.optional import needed

if TYPE_CHECKING:
    import numpy.typing as npt

_ORIENTATION = 0x0112  # the number of the Exif tag
PROGRAM_FORMATS = frozenset({"EPS", "IPTC"})
"""Formats for which Pillow starts a program: Ghostscript executes code in EPS files, also inside IPTC files."""


@dataclass(frozen=True, slots=True)
class Image(Media):
    """A picture in each row: written as a path, bytes, a numpy array or a Pillow image, read as a Pillow image.

    EPS is stored and not decoded, since Pillow passes such files to Ghostscript, which runs them as programs.

    Args:
        mode: the mode to convert to, for example `"RGB"`; None leaves the mode of each image unchanged.
        decode: False returns `{"bytes": …, "path": …}`, for which Pillow is not needed.
        id: a name that is kept, but has no effect.

    Example:
        >>> Image().encode_example("birds/1.png")
        {'bytes': None, 'path': 'birds/1.png'}
        >>> Image(mode="L").arrow_type
        StructType(struct<bytes: binary, path: string>)
    """

    mode: str | None = None
    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Image"
    croissant: ClassVar[str] = "sc:ImageObject"
    noun: ClassVar[str] = "image"
    dtype: ClassVar[str] = "PIL.Image.Image"

    def __repr__(self) -> str:
        return f"Image(mode={self.mode!r}, decode={self.decode!r})"

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        if isinstance(value, list):
            value = np.array(value)
        if isinstance(value, np.ndarray):
            return {"bytes": _array_bytes(value), "path": None}
        if not is_pillow_image(value):
            return None
        name = getattr(value, "filename", "")
        if not name or isinstance(name, _NameOfBytes):
            return {"bytes": image_bytes(value), "path": None}
        return {"bytes": None, "path": str(name)}

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        pillow = _pillow("Decoding images")
        image = _opened(pillow, io.BytesIO(data) if data is not None else paths.source(str(path)))
        if image.format in PROGRAM_FORMATS:
            image.close()
            raise ValueError(f"Pillow decodes {image.format} with an external program, which is not supported")
        image.load()  # which closes the file, where it holds one picture
        if data is not None and path is not None and os.path.isabs(path):
            image.filename = _NameOfBytes(path)
        return self._upright(image)

    def _upright(self, image: Any) -> Any:
        try:
            orientation = image.getexif().get(_ORIENTATION)
        except Exception:  # a picture whose Exif block is damaged can be shown as it lies
            orientation = None
        if orientation is not None:
            import PIL.ImageOps

            image = PIL.ImageOps.exif_transpose(image)
        return image.convert(self.mode) if self.mode and self.mode != image.mode else image

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `Media.cast_array`; lists of lists of numbers are also images."""
        if not pa.types.is_list(array.type) and not pa.types.is_large_list(array.type):
            return super(Image, self).cast_array(array)
        return self._cast_objects(array)


class _NameOfBytes(str):
    """The `filename` of an image decoded from stored bytes: its pixels may have been edited, unlike the file."""

    __slots__ = ()


def is_pillow_image(value: object) -> bool:
    """Return True if `value` is an image of Pillow; does not import it."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def _pillow(needed_for: str) -> Any:
    return needed("PIL.Image", needed_for, "datasets_core[vision]")


_STARTS = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG", "PNG"), (b"GIF8", "GIF"))
_ENDINGS = {"jpg": "JPEG", "jpeg": "JPEG", "png": "PNG", "gif": "GIF", "heic": "HEIF", "heif": "HEIF"}
_HEIF_STARTS = {b"ftyp" + brand for brand in (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")}


def _opened(pillow: Any, source: str | io.BytesIO) -> Any:
    """Return the picture, trying its likely format first: Pillow tries its forty readers in turn, which can double the time."""
    if isinstance(source, str):
        likely = _ENDINGS.get(source.rpartition(".")[2].lower())
    else:
        head = source.getbuffer()[:12].tobytes()
        likely = next((name for start, name in _STARTS if head.startswith(start)), None)
        if head[4:] in _HEIF_STARTS:
            likely = "HEIF"
    if likely == "HEIF" and likely not in pillow.OPEN:
        needed("pillow_heif", "Decoding HEIC images", "datasets_core[heic]").register_heif_opener()
    if likely is not None:
        with contextlib.suppress(pillow.UnidentifiedImageError):
            return pillow.open(source, formats=(likely,))
    return pillow.open(source)


def image_bytes(image: Any) -> bytes:
    """Return the bytes of a file in the image's own format, if Pillow can write it; else PNG, or TIFF for images that PNG
    cannot store.
    """
    pillow = _pillow("Encoding images")
    pillow.init()
    own = image.format if image.format in pillow.OPEN and image.format in pillow.SAVE else None
    buffer = io.BytesIO()
    image.save(buffer, format=own or ("PNG" if image.mode in ("1", "L", "LA", "RGB", "RGBA") else "TIFF"))
    return buffer.getvalue()


_DEPTHS = {"b": (1,), "u": (4, 2, 1), "i": (4, 2), "f": (8, 4)}  # bytes of a pixel that Pillow keeps as they are, by kind


def _array_bytes(array: npt.NDArray[Any]) -> bytes:
    pillow = _pillow("Encoding arrays as images")
    wanted = _pixel_type(array)
    pixels = array.astype(wanted)
    if wanted.kind in "ui" and not np.array_equal(pixels, array):
        raise CastError(
            f"An array of {array.dtype} has values outside the range of {wanted}, so it is not an image",
            advice="Scale it first",
        )
    if wanted.itemsize < array.dtype.itemsize:
        text = f"Downcasting array dtype {array.dtype} to {wanted} to be compatible with 'Pillow'"
        warnings.warn(text, UserWarning, stacklevel=2)
    try:
        return image_bytes(pillow.fromarray(pixels))
    except (TypeError, ValueError, KeyError, OSError) as error:
        raise CastError(f"An array of shape {array.shape} and {array.dtype} is not an image: {error}.") from error


def _pixel_type(array: npt.NDArray[Any]) -> np.dtype[Any]:
    """Return the type in which an array becomes an image: its own, or the next smaller type of its kind that Pillow
    supports.
    """
    dtype = array.dtype
    if array.ndim > 2:
        if dtype.kind in "ui":
            return np.dtype("u1")
        raise MediaTypeError(f"An array of {dtype} with several channels is not an image", advice="Convert it to uint8")
    size = next((size for size in _DEPTHS.get(dtype.kind, ()) if size <= dtype.itemsize), None)
    if size is None:
        raise MediaTypeError(f"An array of {dtype} is not an image", advice="Convert it to uint8")
    return dtype if size == dtype.itemsize else np.dtype(f"{dtype.byteorder}{dtype.kind}{size}")


# `Pdf`: a document in each row, opened by pdfplumber.


@dataclass(frozen=True, slots=True)
class Pdf(Media):
    """A PDF document in each row: written as a path, bytes or a `pdfplumber.pdf.PDF`, read as a `pdfplumber.pdf.PDF`.

    Args:
        decode: False returns `{"bytes": …, "path": …}`, for which pdfplumber is not needed.
        id: a name that is kept, but has no effect.

    Example:
        >>> Pdf().encode_example(b"%PDF-1.7")
        {'bytes': b'%PDF-1.7', 'path': None}
    """

    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Pdf"
    croissant: ClassVar[tuple[str, ...]] = ("sc:Text", "sc:DigitalDocument")
    noun: ClassVar[str] = "PDF document"
    dtype: ClassVar[str] = "pdfplumber.pdf.PDF"

    def __repr__(self) -> str:
        return f"Pdf(decode={self.decode!r})"

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        if not is_document(value):
            return None
        name = getattr(value.stream, "name", None)
        if isinstance(name, str) and name:
            return {"bytes": None, "path": name}
        value.stream.seek(0)
        return {"bytes": value.stream.read(), "path": None}

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        pdfplumber = needed("pdfplumber", "Decoding PDF documents", "datasets_core[pdf]")
        return pdfplumber.open(io.BytesIO(data) if data is not None else paths.source(str(path)))


def is_document(value: object) -> bool:
    """Return True if `value` is a document of pdfplumber; does not import it."""
    module = sys.modules.get("pdfplumber.pdf")
    return module is not None and isinstance(value, module.PDF)


# `Nifti`, `Mesh`, `BioSequence`, `BioStructure`: scientific files in each row, decoded by the packages of their fields.


_EXTRA = "datasets_core[science]"
_MESHES = {"glb", "gltf", "ply", "stl"}
_STRUCTURES = {"pdb": "PDBParser", "mmcif": "MMCIFParser"}


@dataclass(frozen=True, slots=True)
class Nifti(Media):
    """A NIfTI volume in each row, decoded by nibabel.

    Args:
        decode: False returns the dict of bytes and path.
        id: ignored.

    Example:
        >>> Nifti().encode_example("brain.nii.gz")
        {'bytes': None, 'path': 'brain.nii.gz'}
    """

    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Nifti"
    noun: ClassVar[str] = "NIfTI volume"
    dtype: ClassVar[str] = "nibabel.nifti1.Nifti1Image"

    def __repr__(self) -> str:
        return f"Nifti(decode={self.decode!r})"

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        nibabel = needed("nibabel", "Decoding NIfTI volumes", _EXTRA)
        raw = _read(data, path, paths)
        if raw[:2] == b"\x1f\x8b":
            import gzip  # 1 ms that other columns do without

            raw = gzip.decompress(raw)
        is_second = int.from_bytes(raw[:4], "little") == 540 or int.from_bytes(raw[:4], "big") == 540  # bytes of its header
        return (nibabel.Nifti2Image if is_second else nibabel.Nifti1Image).from_bytes(raw)


@dataclass(frozen=True, slots=True)
class Mesh(Media):
    """A mesh of triangles in each row, decoded by trimesh; the format (glb, gltf, ply or stl) follows from the extension.

    Args:
        decode: False returns the dict of bytes and path.
        id: ignored.

    Example:
        >>> Mesh().encode_example("bunny.ply")
        {'bytes': None, 'path': 'bunny.ply'}
    """

    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Mesh"
    noun: ClassVar[str] = "mesh"
    dtype: ClassVar[str] = "trimesh.Trimesh"

    def __repr__(self) -> str:
        return f"Mesh(decode={self.decode!r})"

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        trimesh = needed("trimesh", "Decoding meshes", _EXTRA)
        kind = os.path.splitext(base_name(path or ""))[1].lower().lstrip(".")
        if kind not in _MESHES:
            raise MediaDecodeError(f"mesh {path!r}", f"its extension is not one of {', '.join(sorted(_MESHES))}")
        return trimesh.load(io.BytesIO(_read(data, path, paths)), file_type=kind)


@dataclass(frozen=True, slots=True)
class BioSequence(Media):
    """A file of biological sequences in each row; the first record is decoded by biopython.

    Args:
        format: its name in `Bio.SeqIO`, for example `"fasta"`, `"fastq"`, `"genbank"`.
        decode: False returns `{"bytes": …, "path": …}`.
        id: a name that is kept, but has no effect.

    Example:
        >>> BioSequence(format="fastq").encode_example(b"@a")
        {'bytes': b'@a', 'path': None}
    """

    format: str = "fasta"
    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "BioSequence"
    noun: ClassVar[str] = "sequence"
    dtype: ClassVar[str] = "Bio.SeqRecord.SeqRecord"

    def __repr__(self) -> str:
        return f"BioSequence(format={self.format!r}, decode={self.decode!r})"

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        sequences = needed("Bio.SeqIO", "Decoding sequences", _EXTRA)
        record = next(iter(sequences.parse(_text(data, path, paths), self.format)), None)
        if record is None:
            raise MediaDecodeError(f"sequence {path!r}" if path else "sequence", f"it contains no {self.format} record")
        return record


@dataclass(frozen=True, slots=True)
class BioStructure(Media):
    """A molecular structure in each row, decoded by biopython.

    Args:
        format: `"pdb"` or `"mmcif"`.
        decode: False returns `{"bytes": …, "path": …}`.
        id: a name that is kept, but has no effect.

    Example:
        >>> BioStructure().encode_example("1abc.pdb")
        {'bytes': None, 'path': '1abc.pdb'}
    """

    format: str = "pdb"
    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "BioStructure"
    noun: ClassVar[str] = "structure"
    dtype: ClassVar[str] = "Bio.PDB.Structure.Structure"

    def __post_init__(self) -> None:
        if self.format not in _STRUCTURES:
            raise ConfigurationError(
                f"Unknown structure format {self.format!r}. Available formats: {', '.join(_STRUCTURES)}.", value=self.format
            )

    def __repr__(self) -> str:
        return f"BioStructure(format={self.format!r}, decode={self.decode!r})"

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        structures = needed("Bio.PDB", "Decoding structures", _EXTRA)
        parser = getattr(structures, _STRUCTURES[self.format])(QUIET=True)
        name = os.path.splitext(base_name(path))[0] if path else "structure"
        return parser.get_structure(name, _text(data, path, paths))


def _read(data: bytes | None, path: str | None, paths: MediaPaths) -> bytes:
    if data is not None:
        return data
    with paths.open(str(path)) as file:
        return file.read()


def _text(data: bytes | None, path: str | None, paths: MediaPaths) -> IO[str]:
    return io.StringIO(_read(data, path, paths).decode("utf-8"), newline=None)


# `Video`: a video in each row, decoded by torchcodec.


@dataclass(frozen=True, slots=True)
class Video(Media):
    """A video in each row: written as a path, bytes or a torchcodec `VideoDecoder`, read as a `VideoDecoder`.

    Args:
        decode: False returns `{"bytes": …, "path": …}`, for which torchcodec is not needed.
        stream_index: number of the stream in the file; None takes the best.
        dimension_order: order of the dimensions of decoded frames, `"NCHW"` or `"NHWC"`.
        num_ffmpeg_threads: number of threads that decode.
        device: the device to which frames are decoded.
        seek_mode: `"exact"`, or `"approximate"`, which is faster.
        id: a name that is kept, but has no effect.

    Example:
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
    croissant: ClassVar[str] = "sc:VideoObject"
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
    """Return True if `value` is a decoder of torchcodec; does not import it."""
    module = sys.modules.get("torchcodec.decoders")
    return module is not None and isinstance(value, module.VideoDecoder)


def fast_jpeg(data: bytes, channels: int | None) -> np.ndarray[Any, Any] | None:
    """Return the pixels of a JPEG file as TensorFlow decodes it: by the fast discrete cosine transform of libjpeg-turbo.

    Returns:
        an array of height, width and channels; None for other files.
    """
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    simplejpeg = needed("simplejpeg", "jpeg_dct='fast'", "datasets_core[jpeg]")
    colours = simplejpeg.decode_jpeg_header(data)[2]
    if colours in ("CMYK", "YCCK"):
        inks = simplejpeg.decode_jpeg(data, "CMYK", fastdct=True).astype(np.uint16)
        if b"\xff\xee\x00\x0eAdobe" not in data[: data.find(b"\xff\xda")]:  # Adobe writes them inverted
            inks = 255 - inks
        return None if channels == 1 else (inks[..., :3] * inks[..., 3:] // 255).astype(np.uint8)
    space = "GRAY" if (channels or (1 if colours == "Gray" else 3)) == 1 else "RGB"
    found: np.ndarray[Any, Any] = simplejpeg.decode_jpeg(data, space, fastdct=True)
    return found
