"""Tests of datasets_core/features/media/types.py."""

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, MediaDecodeError, MissingDependencyError
from datasets_core.features.media.types import BioSequence, BioStructure, Image, Mesh, Nifti, Pdf, Video
from datasets_core.features.schema import Features

PAGE = b"""%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 100]>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/Resources<<>>>>endobj
trailer<</Root 1 0 R>>
"""


def test_a_document_opens_from_bytes_and_from_its_path(tmp_path: Path) -> None:
    pytest.importorskip("pdfplumber")
    (tmp_path / "a.pdf").write_bytes(PAGE)
    rows = Dataset.from_dict({"pdf": [PAGE, str(tmp_path / "a.pdf")]}, features=Features({"pdf": Pdf()}))
    for row in rows:
        with row["pdf"] as document:
            assert [(page.width, page.height) for page in document.pages] == [(200, 100)]
            again = Dataset.from_dict({"pdf": [document]})
    assert again.features == Features({"pdf": Pdf()})
    assert again.data.column("pdf").to_pylist() == [{"bytes": None, "path": str(tmp_path / "a.pdf")}]


def test_an_open_document_is_stored_by_its_bytes() -> None:
    pytest.importorskip("pdfplumber")
    with Pdf().decode_example({"bytes": PAGE, "path": None}) as document:
        assert Pdf().encode_example(document) == {"bytes": PAGE, "path": None}


def test_what_is_no_document_is_an_error() -> None:
    pytest.importorskip("pdfplumber")
    with pytest.raises(MediaDecodeError) as caught:
        _ = Dataset.from_dict({"pdf": [b"nothing"]}, features=Features({"pdf": Pdf()}))[0]
    assert (caught.value.column, caught.value.row) == ("pdf", 0)


def test_storing_and_reading_undecoded_needs_no_package() -> None:
    code = """
import sys
sys.modules["pdfplumber"] = None
from datasets_core import Dataset, Features, Pdf
rows = Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Pdf(decode=False)}))
assert rows[0] == {"a": {"bytes": b"x", "path": None}}
try:
    Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Pdf()}))[0]
except ImportError as error:
    assert "datasets_core[pdf]" in str(error), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# science

ATOM = b"ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00  0.00           C\n"


@pytest.mark.optional("Bio")
def test_the_first_record_of_a_sequence_file_is_decoded() -> None:
    pytest.importorskip("Bio")
    record = BioSequence().decode_example({"bytes": b">a\nACGT\n>b\nA\n", "path": None})
    assert (record.id, str(record.seq)) == ("a", "ACGT")
    with pytest.raises(MediaDecodeError, match="no fasta record"):
        BioSequence().decode_example({"bytes": b"", "path": None})


@pytest.mark.optional("Bio")
def test_a_structure_is_decoded() -> None:
    pytest.importorskip("Bio")
    assert len(list(BioStructure().decode_example({"bytes": ATOM, "path": "a.pdb"}).get_atoms())) == 1


@pytest.mark.optional("nibabel")
def test_a_volume_is_decoded_compressed_or_not() -> None:
    nibabel = pytest.importorskip("nibabel")
    import gzip

    import numpy as np

    data = nibabel.Nifti1Image(np.zeros((2, 3, 4), np.int16), np.eye(4)).to_bytes()
    second = nibabel.Nifti2Image(np.zeros((2, 3, 4), np.int16), np.eye(4)).to_bytes()
    for form in (data, gzip.compress(data), second):
        assert Nifti().decode_example({"bytes": form, "path": None}).shape == (2, 3, 4)


@pytest.mark.optional("pillow_heif")
def test_a_heic_picture_is_decoded() -> None:
    pillow_heif = pytest.importorskip("pillow_heif")
    from PIL import Image as Pillow

    buffer = io.BytesIO()
    pillow_heif.from_pillow(Pillow.new("RGB", (64, 32))).save(buffer)
    assert Image().decode_example({"bytes": buffer.getvalue(), "path": "a.heic"}).size == (64, 32)


def test_a_heic_picture_names_the_package_that_decodes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image as Pillow

    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(Pillow, "OPEN", {name: found for name, found in Pillow.OPEN.items() if name != "HEIF"})
    with pytest.raises(MissingDependencyError, match=re.escape("datasets_core[heic]")):
        Image().decode_example({"bytes": b"\0\0\0\x18ftypheic" + bytes(20), "path": "a.heic"})


@pytest.mark.optional("trimesh")
def test_a_mesh_needs_a_path_that_tells_its_format() -> None:
    pytest.importorskip("trimesh")
    with pytest.raises(MediaDecodeError, match="ply"):
        Mesh().decode_example({"bytes": b"x", "path": "a.xyz"})


def test_an_unknown_format_of_structures_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="mmcif"):
        BioStructure(format="xyz")


def test_storing_and_reading_undecoded_needs_no_package_science() -> None:
    code = """
import sys
for name in ("Bio", "nibabel", "trimesh"):
    sys.modules[name] = None
from datasets_core import BioSequence, BioStructure, Dataset, Features, Mesh, Nifti
for kind in (Nifti, Mesh, BioSequence, BioStructure):
    rows = Dataset.from_dict({"a": [b"x"]}, features=Features({"a": kind(decode=False)}))
    assert rows[0] == {"a": {"bytes": b"x", "path": None}}
    try:
        Dataset.from_dict({"a": [b"x"]}, features=Features({"a": kind()}))[0]
    except ImportError as error:
        assert "pip install" in str(error), error
    else:
        raise AssertionError(kind)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# video


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film of ten frames of 16 x 32 pixels."""
    encoders: Any = pytest.importorskip("torchcodec.encoders", exc_type=Exception)
    import torch

    path = tmp_path / "film.mp4"
    try:
        encoders.VideoEncoder(torch.zeros(10, 3, 16, 32, dtype=torch.uint8), frame_rate=10).to_file(str(path))
    except (RuntimeError, AttributeError):
        pytest.skip("FFmpeg is not installed, or torchcodec writes no films")
    return path


def test_a_film_opens_from_bytes_and_from_its_path(film: Path) -> None:
    rows = Dataset.from_dict({"film": [str(film), film.read_bytes()]}, features=Features({"film": Video()}))
    for row in rows:
        assert len(row["film"]) == 10 and tuple(row["film"][0].shape) == (3, 16, 32)
    last = Dataset.from_dict({"film": [film]}, features=Features({"film": Video(dimension_order="NHWC")}))
    assert tuple(last[0]["film"][0].shape) == (16, 32, 3)


def test_a_decoder_is_stored_as_what_it_was_made_of(film: Path) -> None:
    rows = Dataset.from_dict({"film": [str(film)]}, features=Features({"film": Video()}))
    again = Dataset.from_dict({"film": [rows[0]["film"]]})
    assert again.features == Features({"film": Video()})
    assert again.data.column("film").to_pylist() == [{"bytes": None, "path": str(film)}]


def test_what_is_no_film_is_an_error(film: Path) -> None:
    with pytest.raises(MediaDecodeError, match="Row 0, column 'film'"):
        _ = Dataset.from_dict({"film": [b"nothing"]}, features=Features({"film": Video()}))[0]


def test_storing_and_reading_undecoded_needs_no_package_video() -> None:
    code = """
import sys
sys.modules["torchcodec"] = None
from datasets_core import Dataset, Features, Video
rows = Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Video(decode=False)}))
assert rows[0] == {"a": {"bytes": b"x", "path": None}}
try:
    Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Video()}))[0]
except ImportError as error:
    assert "datasets_core[video]" in str(error), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)
