"""`Nifti`, `Mesh`, `BioSequence`, `BioStructure`: files of science in each row, decoded by the packages of their fields."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import IO, Any, ClassVar

from datasets_core.errors import ConfigurationError, MediaDecodeError
from datasets_core.features.media import Media
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.stored_media import base_name
from datasets_core.optional import needed

_EXTRA = "datasets_core[science]"
_MESHES = {"glb", "gltf", "ply", "stl"}
_STRUCTURES = {"pdb": "PDBParser", "mmcif": "MMCIFParser"}


@dataclass(frozen=True, slots=True)
class Nifti(Media):
    """A NIfTI volume in each row, decoded by nibabel.

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
        return nibabel.Nifti1Image.from_bytes(raw)


@dataclass(frozen=True, slots=True)
class Mesh(Media):
    """A mesh of triangles in each row (glb, gltf, ply or stl, by the end of its path), decoded by trimesh.

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
            raise MediaDecodeError(f"mesh {path!r}", f"its path ends in none of {', '.join(sorted(_MESHES))}")
        return trimesh.load(io.BytesIO(_read(data, path, paths)), file_type=kind)


@dataclass(frozen=True, slots=True)
class BioSequence(Media):
    """A file of biological sequences in each row, of which the first record is decoded by biopython.

    Args:
        format: its name in `Bio.SeqIO`, for example `"fasta"`, `"fastq"`, `"genbank"`.
        decode: False shows `{"bytes": …, "path": …}`.
        id: a name that is kept and never read.

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
            raise MediaDecodeError(f"sequence {path!r}" if path else "sequence", f"it has no record of {self.format}")
        return record


@dataclass(frozen=True, slots=True)
class BioStructure(Media):
    """A molecular structure in each row, decoded by biopython.

    Args:
        format: `"pdb"` or `"mmcif"`.
        decode: False shows `{"bytes": …, "path": …}`.
        id: a name that is kept and never read.

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
            raise ConfigurationError(f"{self.format!r} is no format of structures. Formats: {', '.join(_STRUCTURES)}.")

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
