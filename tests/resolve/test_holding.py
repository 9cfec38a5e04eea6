"""Which lock is meant; what it holds is tested with `lock_dataset`."""

from pathlib import Path

import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.load import load_dataset_builder
from datasets_core.resolve.request import Request
from datasets_core.resolve.resolve import held


def test_the_lock_that_is_meant_is_found_or_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    builder, request = load_dataset_builder(str(tmp_path), cache_dir=str(tmp_path)), Request(str(tmp_path))
    for nothing in (None, False):
        with held(nothing, builder, request, registers=True):
            pass
    with pytest.raises(FileNotFoundDatasetsError, match=r"/dataset\.lock does not exist"):
        held(True, builder, request, registers=False)
    with pytest.raises(ArgumentTypeError, match="lock is 1"):
        held(1, builder, request, registers=False)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="Leave one out"):
        held("x", builder, request, registers=True)
