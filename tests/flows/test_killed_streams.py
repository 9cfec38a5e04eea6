"""Readers of streams that are killed: other numbers of ranks go on, and every row is delivered exactly once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parents[2] / "scripts" / "kill_streams.py"


@pytest.mark.skipif(sys.platform == "win32", reason="ranks are forked")
def test_no_row_is_lost_or_repeated() -> None:
    command = [sys.executable, str(CAMPAIGN), "--kills", "3", "filtered", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(\w+): (\d+) kills in \d+ readings, none lost, none twice", done.stdout, re.MULTILINE)
    assert [(name, int(kills) >= 3) for name, kills in found] == [("filtered", True), ("json", True)]
