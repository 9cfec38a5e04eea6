from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.scripting.compat import datasets


def test_every_setting_has_a_value() -> None:
    assert all(getattr(datasets, name) is not None for name in dir(datasets))


def test_settings_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path), offline=True):
        assert tmp_path == datasets.HF_DATASETS_CACHE
        assert datasets.HF_DATASETS_OFFLINE is True


def test_packages_are_told_by_version_and_presence() -> None:
    assert str(datasets.PYARROW_VERSION) == pa.__version__
    assert datasets.PYARROW_VERSION.major >= 21
    assert isinstance(datasets.TF_AVAILABLE, bool)


def test_a_setting_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="NOTHING"):
        _ = datasets.NOTHING
