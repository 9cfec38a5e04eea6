"""`datasets-core doctor` says what there is, what was tried, and what happens to scripts."""

import dataclasses
import json

import pytest

from datasets_core.cli.main import main
from datasets_core.scripting.sandbox import limits
from datasets_core.scripting.sandbox.limits import layers


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_tries_the_cage_and_says_what_confines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "Scripts of strangers: run confined by: " in said
    assert "read a file outside: denied: read '/etc/passwd'" in said
    assert "NOT DENIED" not in said
    assert "pyarrow: " in said


def test_it_says_why_scripts_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(limits, "layers", lambda: dataclasses.replace(layers(), landlock=0, bwrap=None, seccomp=False))
    assert main(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["Scripts of strangers"].startswith("are refused because ")
    assert facts["Confinement"]["Landlock"] == "not there"
    assert "Tried in a confined process" not in facts
