"""`push`: a folder, a saved dataset, a built one or a script, brought to the Hub."""

from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.cli.main import main
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.load import load_dataset

Out = pytest.CaptureFixture[str]
REPO = "org/name"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    place = tmp_path / "reviews"
    place.mkdir()
    (place / "train.csv").write_text("text,stars\ngood,5\nbad,1\n")
    (place / "test.csv").write_text("text,stars\nso so,3\n")
    return str(place)


def run(hub: Any, *words: str) -> int:
    return main(["push", *words, "--token", hub.token])


def rows(hub: Any, split: str = "train", name: str | None = None) -> list[Any]:
    return [*load_dataset(REPO, name, split=split, token=hub.token)]


def test_a_folder_is_pushed_and_the_commit_told(hub: Any, folder: str, capsys: Out) -> None:
    assert run(hub, folder, REPO, "--message", "Reviews", "--num-shards", "2", "--private") == 0

    assert (
        capsys.readouterr().out == f"{hub.url}/datasets/{REPO}/commit/{hub.repos[REPO].sha}\n  train: 2 rows\n  test: 1 row\n"
    )
    assert hub.repos[REPO].log()[0] == "Reviews"
    assert hub.repos[REPO].private
    assert "data/train-00001-of-00002.parquet" in hub.repos[REPO].files()
    assert rows(hub) == [{"text": "good", "stars": 5}, {"text": "bad", "stars": 1}]


def test_a_slice_is_pushed_as_its_split(hub: Any, folder: str) -> None:
    assert run(hub, folder, REPO, "--split", "train[:1]", "--config", "en", "--revision", "dev") == 0

    assert "en/train-00000-of-00001.parquet" in hub.repos[REPO].files("dev")
    assert [*load_dataset(REPO, "en", split="train", revision="dev", token=hub.token)] == [{"text": "good", "stars": 5}]


def test_a_saved_dataset_is_pushed(hub: Any, tmp_path: Path, capsys: Out) -> None:
    Dataset.from_dict({"a": [1, 2]}).save_to_disk(tmp_path / "one")
    DatasetDict({"train": Dataset.from_dict({"a": [3]}), "test": Dataset.from_dict({"a": [4]})}).save_to_disk(tmp_path / "two")

    assert run(hub, str(tmp_path / "one"), REPO) == 0
    assert run(hub, str(tmp_path / "two"), REPO, "--split", "test") == 0
    assert run(hub, str(tmp_path / "two"), REPO, "--split", "none") == 1

    assert (rows(hub), rows(hub, "test")) == ([{"a": 1}, {"a": 2}], [{"a": 4}])
    assert "'none'" in capsys.readouterr().err


def test_a_built_dataset_is_pushed_from_where_it_stands(hub: Any, folder: str, tmp_path: Path) -> None:
    assert main(["build", folder, "--output-dir", str(tmp_path / "built")]) == 0

    assert run(hub, str(tmp_path / "built"), REPO) == 0

    assert rows(hub, "test") == [{"text": "so so", "stars": 3}]


def test_one_of_several_configs_is_read_and_pushed(hub: Any, folder: str) -> None:
    card = "---\nconfigs:\n- config_name: a\n  data_files: train.csv\n- config_name: b\n  data_files: test.csv\n---\n"
    Path(folder, "README.md").write_text(card)

    assert run(hub, folder, REPO, "--config", "b") == 0
    assert run(hub, folder, REPO, "--config", "c") == 1

    assert rows(hub, name="b") == [{"text": "so so", "stars": 3}]


def test_a_pull_request_is_told(hub: Any, folder: str, capsys: Out) -> None:
    hub.repo(REPO)

    assert run(hub, folder, REPO, "--create-pr", "--description", "Why") == 0

    assert capsys.readouterr().out.startswith(f"{hub.url}/datasets/{REPO}/discussions/1\n")


def test_what_goes_wrong_is_one_line(hub: Any, folder: str, capsys: Out) -> None:
    with config.using(hub_timeout_seconds=1.0):
        assert main(["push", folder, "other/name", "--token", hub.token]) == 1

    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("datasets-core: The Hub dataset 'other/name' may not be written to by you")
