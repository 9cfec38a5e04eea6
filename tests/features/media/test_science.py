import subprocess
import sys

import pytest

from datasets_core.errors import ConfigurationError, MediaDecodeError
from datasets_core.features.media.types import BioSequence, BioStructure, Mesh, Nifti

ATOM = b"ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00  0.00           C\n"


@pytest.mark.optional("Bio")
def test_the_first_record_of_a_sequence_file_is_decoded() -> None:
    pytest.importorskip("Bio")
    record = BioSequence().decode_example({"bytes": b">a\nACGT\n>b\nA\n", "path": None})
    assert (record.id, str(record.seq)) == ("a", "ACGT")
    with pytest.raises(MediaDecodeError, match="no record of fasta"):
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
    for form in (data, gzip.compress(data)):
        assert Nifti().decode_example({"bytes": form, "path": None}).shape == (2, 3, 4)


@pytest.mark.optional("trimesh")
def test_a_mesh_needs_a_path_that_tells_its_format() -> None:
    pytest.importorskip("trimesh")
    with pytest.raises(MediaDecodeError, match="ply"):
        Mesh().decode_example({"bytes": b"x", "path": "a.xyz"})


def test_an_unknown_format_of_structures_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="mmcif"):
        BioStructure(format="xyz")


def test_storing_and_reading_undecoded_needs_no_package() -> None:
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
