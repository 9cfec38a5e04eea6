import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.building.folders import prepared_manifest, tfds_manifest
from datasets_core.building.tfds_folders.folder import RecordManifest
from datasets_core.errors import FileFormatError

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"


def test_folders_of_others_have_no_such_manifest(tmp_path: Path) -> None:
    assert prepared_manifest(str(tmp_path)) is None
    (tmp_path / "dataset_info.json").write_text('{"description": "", "splits": {"train": {"name": "train"}}}')
    assert prepared_manifest(str(tmp_path)) is None and tfds_manifest(str(tmp_path)) is None


def test_what_tensorflow_datasets_prepared_is_known() -> None:
    found = prepared_manifest(str(GOLDEN / "parts" / "en" / "1.2.0"))
    assert isinstance(found, RecordManifest) and found.split_lengths()["train"] == [23, 24, 23]
    with pytest.raises(FileFormatError, match="parquet"):
        tfds_manifest(str(GOLDEN / "parts" / "en" / "1.2.0"), file_format="parquet")


def test_others_do_without_what_reads_records() -> None:
    code = "import sys; from datasets_core import builder_from_directory; assert 'datasets_core.records' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
