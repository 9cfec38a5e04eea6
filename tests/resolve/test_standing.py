"""Where a script stands; in a repository: see `test_hub_script`."""

import json
from pathlib import Path

from datasets_core.resolve.request import Request
from datasets_core.resolve.script import LocalScript


def test_a_script_stands_in_its_folder(tmp_path: Path) -> None:
    script = tmp_path / "words.py"
    script.write_text("import datasets\n")
    (tmp_path / "dataset_infos.json").write_text(json.dumps({"en": {"description": "of words"}}))
    (tmp_path / "a.csv").write_text("a\n1\n")
    standing = LocalScript(str(script))
    assert standing.commit is None
    assert (standing.folder, standing.base_path, standing.dataset_name) == (str(tmp_path), str(tmp_path), "words")
    for is_confined in (False, True):
        assert standing.card(is_confined=is_confined).infos["en"].description == "of words"
        info = standing.info("en", is_confined=is_confined)
        assert info is not None
        assert info.description == "of words"
        assert standing.info("de", is_confined=is_confined) is None
        assert [module.name for module in standing.read(is_confined=is_confined).modules] == ["words"]
    found = standing.data_files(Request(str(script), data_files="*.csv"))
    assert found is not None
    assert list(found["train"]) == [str(tmp_path / "a.csv")]
    assert standing.data_files(Request(str(script))) is None
    assert standing.own_files(standing.home(str(tmp_path))) is None


def test_another_text_or_another_folder_is_another_identity(tmp_path: Path) -> None:
    identities = set()
    for place, text in (("a", "x = 1"), ("a", "x = 2"), ("b", "x = 1")):
        script = tmp_path / place / "words.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        standing = LocalScript(str(script))
        identities.add(standing.identity(standing.read()))
    assert len(identities) == 3
