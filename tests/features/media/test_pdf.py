import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import MediaDecodeError
from datasets_core.features.media.types import Pdf
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
    with pytest.raises(MediaDecodeError, match="Row 0, column 'pdf'"):
        _ = Dataset.from_dict({"pdf": [b"nothing"]}, features=Features({"pdf": Pdf()}))[0]


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
