"""`build`, `info` and `head`."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasets_core.cli.main import main


def test_build_prints_the_folder_and_the_splits(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", table, "--cache-dir", cache]) == 0
    folder, split = capsys.readouterr().out.splitlines()
    assert folder.startswith(cache)
    assert split.strip().startswith("train: 3 rows, ")
    assert split.endswith(" in 1 shard")


def test_info_before_the_build_builds_nothing(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", table, "--cache-dir", cache]) == 0
    assert "built:       not yet" in capsys.readouterr().out


def test_info_after_the_build_knows_rows_and_types(
    built: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", table, "--cache-dir", cache]) == 0
    out = capsys.readouterr().out
    assert built in out
    assert "train: 3 rows" in out
    assert "mass: Value('int64')" in out


def test_info_as_json_is_json(built: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", table, "--cache-dir", cache, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["train"]["num_examples"] == 3


def test_head_prints_rows_as_json_lines(built: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", table, "--cache-dir", cache, "-n", "2"]) == 0
    assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == ["alba", "brno"]


def test_head_takes_a_split_expression(built: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", table, "--cache-dir", cache, "--split", "train[-1:]"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "ciro"


def test_head_of_less_than_no_rows_is_refused(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", table, "--cache-dir", cache, "-n", "-1"]) == 1
    assert "--rows -1" in capsys.readouterr().err


SCRIPT = """
import datasets_core as datasets

class Birds(datasets.GeneratorBasedBuilder):
    VERSION = {version!r}
    SUPPORTED_VERSIONS = ["1.0.0"]
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"a": datasets.Value("string")}}))
    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {{}})]
    def _generate_examples(self):
        yield 0, {{"a": {value!r}}}
"""


def test_a_version_is_built_and_shown_by_its_reference(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "birds.py"
    for version in ("1.0.0", "2.0.0"):
        script.write_text(SCRIPT.format(version=version, value="x"))
        assert main(["build", str(script), "--cache-dir", cache]) == 0
    capsys.readouterr()
    assert main(["build", f"{script}:1.*.*", "--cache-dir", cache]) == 0
    folder = capsys.readouterr().out.splitlines()[0]
    assert main(["info", f"{script}:1.0.0", "--cache-dir", cache]) == 0
    out = capsys.readouterr().out
    assert "version:     1.0.0" in out
    assert "versions:    2.0.0, 1.0.0" in out
    assert f"built:       {folder} " in out
    assert main(["build", f"{script}:3.*.*", "--cache-dir", cache]) == 1
    assert "has no version '3.*.*'. Versions: '2.0.0', '1.0.0'" in capsys.readouterr().err


def test_a_build_refuses_a_version_that_says_too_little(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "birds.py"
    script.write_text(SCRIPT.format(version="2.0.0", value="x"))
    assert main(["build", str(script), "--cache-dir", cache]) == 0
    script.write_text(SCRIPT.format(version="2.1.0", value="y"))
    assert main(["build", str(script), "--cache-dir", cache, "--check-version"]) == 1
    assert "is a major change of 2.0.0" in capsys.readouterr().err


ESCAPING = """
import datasets_core as datasets

class Escaping(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            description="\\x1b]52;c;aGFjaw==\\x07\\x9b2J", homepage="\\x1b[2J", license="\\x1b[31m", citation="\\x1b[2J",
            features=datasets.Features({"b\\x1b[31m": datasets.Value("string")}),
        )

    def _split_generators(self, dl):
        return [datasets.SplitGenerator("train")]

    def _generate_examples(self):
        yield 0, {"b\\x1b[31m": "\\x9b2J"}
"""


@pytest.mark.parametrize("command", [["info"], ["info", "--json"], ["head"], ["build"]])
def test_what_an_author_writes_steers_no_terminal(
    tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    path = tmp_path / "escaping.py"
    path.write_text(ESCAPING)
    assert main([command[0], str(path), "--cache-dir", cache, *command[1:]]) == 0
    said = capsys.readouterr()
    assert not set(said.out + said.err) & {"\x1b", "\x07", "\x9b"}
    assert said.out


def test_a_dataset_of_the_hub_is_told_with_its_commit(hub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    repo = hub.repo("org/set", {"train.csv": "a\n1\n"}, private=True)
    repo.tag("v1")
    repo.commit({"train.csv": "a\n1\n2\n"})
    reference = ["org/set", "--revision", "v1", "--token", hub.token]
    assert main(["info", *reference]) == 0
    assert f"repository:  org/set at {repo.at('v1').id}" in capsys.readouterr().out
    assert main(["head", *reference]) == 0
    assert capsys.readouterr().out == '{"a": 1}\n'
    assert main(["head", "org/set"]) == 1
    assert hub.token not in capsys.readouterr().err
