from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PLUGIN = """
from datasets_core.building.builder import ArrowBasedBuilder

EXTENSIONS = {".fake": {}, ".fak2": {"deep": True}}


class Fake(ArrowBasedBuilder):
    pass


not_a_builder = 3
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a distribution with entry points in the group of builders on the search path."""

    def install(name: str, entry: str, *, module: str = PLUGIN) -> None:
        site = tmp_path / f"site-{name}"
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[datasets_core.builders]\n{entry}\n")
        (site / f"{name}.py").write_text(module)
        monkeypatch.syspath_prepend(site)

    return install
