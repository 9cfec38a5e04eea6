"""The script that calls is found on the stack."""

from pathlib import Path

from datasets_core.scripting import modules
from datasets_core.scripting.modules import ROOT


def test_the_innermost_script_is_meant(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    code = compile("\n\nfound = place(), folder()", path, "exec")
    space = {"__name__": f"{ROOT}.a_1.a", "place": modules.script_place, "folder": modules.script_folder}
    exec(code, space)
    assert space["found"] == (f"The script {path}, line 3,", str(tmp_path))
