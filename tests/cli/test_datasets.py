"""`croissant`."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from datasets_core import config
from datasets_core.cli.main import main
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.features.media.audio import wav_bytes
from datasets_core.load import load_dataset


def test_croissant_prints_the_description(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "--cache-dir", cache]) == 0
    told = json.loads(capsys.readouterr().out)
    (file,) = told["distribution"]
    assert file["sha256"] == hashlib.sha256(Path(table).read_bytes()).hexdigest()
    assert "mass" in [field["name"] for field in told["recordSet"][-1]["field"]]


def test_croissant_writes_a_file_whose_paths_start_beside_it(
    table: str, cache: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = Path(table).parent.parent / "croissant.json"
    assert main(["croissant", table, "--cache-dir", cache, "--output", str(output)]) == 0
    told = json.loads(output.read_text())
    said = capsys.readouterr()
    assert (output.parent / told["distribution"][0]["contentUrl"]).samefile(table)
    assert (said.out.strip(), said.err) == (str(output), "")


def test_croissant_says_where_a_file_belongs_that_is_written_elsewhere(
    table: str, cache: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert main(["croissant", table, "--cache-dir", cache, "-o", str(elsewhere / "croissant.json")]) == 0
    assert "paths are relative to the data folder" in capsys.readouterr().err


def test_croissant_of_a_split_that_is_not_there_is_an_error(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "--cache-dir", cache, "--split", "dev"]) == 1
    assert "Unknown split 'dev'" in capsys.readouterr().err


def test_croissant_takes_one_config(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "one", "--config", "two", "--cache-dir", cache]) == 1
    assert "Two different configs" in capsys.readouterr().err


def test_all_configs_are_described_unless_one_is_named(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "multi"
    folder.mkdir()
    configs = [{"config_name": name, "data_files": f"{name}.csv"} for name in ("small", "large")]
    (folder / "README.md").write_text(f"---\nconfigs: {json.dumps(configs)}\n---\n")
    for name in ("small", "large"):
        (folder / f"{name}.csv").write_text("a\n1\n")
    assert main(["croissant", str(folder), "--cache-dir", cache]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [node["contentUrl"] for node in told["distribution"]] == ["small.csv", "large.csv"]
    assert {"small", "large"} <= {node["@id"] for node in told["recordSet"]}
    assert (
        main(["croissant", str(folder), "--config", "large", "--cache-dir", cache, "-o", str(folder / "croissant.json")]) == 0
    )
    capsys.readouterr()
    assert main(["head", "croissant", "--data-dir", str(folder), "--cache-dir", cache]) == 0
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_options_of_the_format_are_passed_on(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("a\tb\n1\tx\n")
    words = ["croissant", "csv", "--data-files", str(tmp_path / "a.csv"), "--option", "sep=\t", "--cache-dir", cache]
    assert main(words) == 0
    assert "text/tab-separated-values" in capsys.readouterr().out


# `build`, `info` and `head`.


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
    assert "has no version '3.*.*'. Available versions: '2.0.0', '1.0.0'" in capsys.readouterr().err


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


# `lock`, `diff` and `cite`, and the flags of `build` that registers checksums.

SCRIPT_PROVENANCE = """
import datasets_core as datasets

class Birds(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("{version}")

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({{name: datasets.Value("string") for name in {columns}}}),
            citation="@misc{{birds, title={{Birds}}}}",
            homepage="https://example.org/birds",
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={{"path": dl_manager.download("{url}")}})]

    def _generate_examples(self, path):
        with open(path) as lines:
            for number, line in enumerate(lines):
                yield number, dict.fromkeys({columns}, line.strip())
"""

Out = pytest.CaptureFixture[str]


def _write(folder: Path, version: str = "1.0.0", columns: tuple[str, ...] = ("name",), rows: str = "alba\nbrno\n") -> str:
    """A script and its data; gives the path of the script."""
    folder.mkdir(exist_ok=True)
    (folder / "birds.txt").write_text(rows)
    script = folder / "birds.py"
    script.write_text(SCRIPT_PROVENANCE.format(version=version, columns=columns, url=f"file://{folder}/birds.txt"))
    return str(script)


def _build(script: str, cache: str, out: Out) -> str:
    assert main(["build", script, "--cache-dir", cache]) == 0
    return out.readouterr().out.splitlines()[0]


# -- lock --------------------------------------------------------------------------------------------------------------


def test_lock_writes_the_file_and_finds_that_it_holds(table: str, cache: str, tmp_path: Path, capsys: Out) -> None:
    lock = str(tmp_path / "birds.lock")
    words = ["lock", table, "-o", lock, "--cache-dir", cache]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{lock} written\n"
    assert json.loads(Path(lock).read_text())["splits"][0]["rows"] == 3
    assert main(words) == 0
    assert capsys.readouterr().out == f"{lock} is up to date\n"


def test_a_lock_that_does_not_hold_is_replaced_by_update_only(table: str, cache: str, tmp_path: Path, capsys: Out) -> None:
    lock = str(tmp_path / "birds.lock")
    words = ["lock", table, "-o", lock, "--cache-dir", cache]
    assert main(words) == 0
    Path(table).write_text("name,mass\nalba,3\n")
    assert main(words) == 1
    assert "birds.csv changed" in (said := capsys.readouterr().err)
    assert "datasets-core lock … --update" in said
    assert main([*words, "--update"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("  birds.csv changed (")
    assert lines[1:] == ["  the split 'train' had 3 rows and now has 1", f"{lock} written"]


def test_the_lock_is_written_where_one_stands(table: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lock", table, "--cache-dir", cache]) == 0
    assert (tmp_path / "dataset.lock").exists()


# -- diff --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "columns", "rows", "level", "said"),
    [
        ("1.0.1", ("name",), "alba\nbrno\n", "PATCH: nothing differs", "the version reflects the change"),
        ("1.1.0", ("name", "size"), "alba\nbrno\n", "MINOR", "the version reflects the change"),
        ("1.0.1", ("name", "size"), "alba\nbrno\n", "MINOR", "the change is larger than the version says; use 1.1.0 or higher"),
        ("1.1.0", ("name",), "alba\nBRNO\n", "MAJOR", "the change is larger than the version says; use 2.0.0 or higher"),
        ("0.9.0", ("name",), "alba\nbrno\n", "PATCH", "the version went down; use 1.0.0 or higher"),
    ],
)
def test_diff_names_the_change_and_the_version_that_would_be_right(
    version: str, columns: tuple[str, ...], rows: str, level: str, said: str, cache: str, tmp_path: Path, capsys: Out
) -> None:
    old = _build(_write(tmp_path / "one"), cache, capsys)
    new = _build(_write(tmp_path / "two", version, columns, rows), cache, capsys)
    assert main(["diff", old, new]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(level)
    assert lines[-1] == f"versions: 1.0.0, then {version}: {said}"
    assert main(["diff", old, new, "--check"]) == (0 if "reflects" in said else 1)


def test_diff_shows_the_first_rows_that_differ(cache: str, tmp_path: Path, capsys: Out) -> None:
    old = _build(_write(tmp_path / "one"), cache, capsys)
    new = _build(_write(tmp_path / "two", rows="alba\nBRNO\nciro\n"), cache, capsys)
    assert main(["diff", old, new]) == 0
    assert capsys.readouterr().out.splitlines()[1:6] == [
        "  train: 2 rows, then 3 rows",
        "  train: 1 of 2 rows differs ('name' in 1)",
        "first differences:",
        "  train, row 1, column 'name': 'brno', then 'BRNO'",
        "  train, row 2: only in the new version: {'name': 'ciro'}",
    ]
    assert main(["diff", old, new, "-n", "0"]) == 0
    assert "first differences" not in capsys.readouterr().out


def test_diff_as_json_is_json(cache: str, tmp_path: Path, capsys: Out) -> None:
    old = _build(_write(tmp_path / "one"), cache, capsys)
    new = _build(_write(tmp_path / "two", rows="alba\n"), cache, capsys)
    assert main(["diff", old, new, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["level"], found["versions"]["right"]) == ("major", "2.0.0")


def test_diff_takes_names_of_the_cache(built: str, cache: str, capsys: Out) -> None:
    name = os.path.relpath(built, cache)
    assert main(["diff", name, built, "--cache-dir", cache]) == 0
    assert capsys.readouterr().out.startswith("PATCH: nothing differs")
    assert main(["diff", name.partition("/")[0], built, "--cache-dir", cache]) == 0


def test_diff_of_what_is_not_built_is_an_error(table: str, built: str, cache: str, tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "other.csv").write_text("a\n1\n")
    for path, said in ((str(tmp_path / "nobody"), "nobody"), (str(tmp_path / "other.csv"), "is not built")):
        assert main(["diff", path, built, "--cache-dir", cache]) == 1
        assert said in capsys.readouterr().err


# -- cite --------------------------------------------------------------------------------------------------------------


def test_cite_prints_name_fingerprint_and_citation(cache: str, tmp_path: Path, capsys: Out) -> None:
    script = _write(tmp_path / "one")
    folder = _build(script, cache, capsys)
    for path in (folder, script):
        assert main(["cite", path, "--cache-dir", cache]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "birds/1.0.0"
        assert lines[1].startswith("fingerprint: sha256:")
        assert lines[2:] == [
            "rows:        train 2",
            "homepage:    https://example.org/birds",
            "",
            "@misc{birds, title={Birds}}",
        ]


def test_the_fingerprint_is_that_of_the_rows(cache: str, tmp_path: Path, capsys: Out) -> None:
    found = []
    for name, flags, rows in (("a", [], "x\ny\n"), ("b", ["--file-format", "parquet"], "x\ny\n"), ("c", [], "y\nx\n")):
        folder = str(tmp_path / f"out-{name}")
        assert main(["build", _write(tmp_path / name, rows=rows), "--output-dir", folder, "--cache-dir", cache, *flags]) == 0
        capsys.readouterr()
        assert main(["cite", folder, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["fingerprint"])
    assert found[0] == found[1] != found[2]


def test_a_dataset_without_a_citation_says_so(built: str, capsys: Out) -> None:
    assert main(["cite", built]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "No citation is recorded."


def test_cite_of_what_is_not_built_says_how_to_build_it(cache: str, tmp_path: Path, capsys: Out) -> None:
    assert main(["cite", _write(tmp_path / "one"), "--cache-dir", cache]) == 1
    assert "Run datasets-core build first" in capsys.readouterr().err


# -- build -------------------------------------------------------------------------------------------------------------


def test_build_registers_checksums_and_demands_them(cache: str, tmp_path: Path, capsys: Out) -> None:
    script = _write(tmp_path / "one")
    assert main(["build", script, "--cache-dir", cache, "--force-checksums-validation"]) == 1
    assert "Pass --register-checksums" in capsys.readouterr().err
    assert main(["build", script, "--cache-dir", cache, "--register-checksums"]) == 0
    digest = hashlib.sha256(b"alba\nbrno\n").hexdigest()
    url = f"file://{tmp_path}/one/birds.txt"
    assert (tmp_path / "one" / "checksums.tsv").read_text() == f"{url}\t10\t{digest}\tbirds.txt\n"
    assert main(["build", script, "--cache-dir", cache, "--force-checksums-validation"]) == 0
    (tmp_path / "one" / "birds.txt").write_text("alba\nBRNO\n")
    assert main(["build", script, "--cache-dir", cache, "--force"]) == 1
    assert f"{url} has sha256" in capsys.readouterr().err


def test_build_takes_the_ways_of_writing(cache: str, tmp_path: Path, capsys: Out) -> None:
    script = _write(tmp_path / "one")
    flags = ["--num-shards", "2", "--max-examples-per-split", "2", "--disable-shuffling", "--check-version"]
    assert main(["build", script, "--cache-dir", cache, *flags]) == 0
    assert "train: 2 rows" in (said := capsys.readouterr().out)
    assert said.rstrip().endswith("in 2 shards")


# `push`: a folder, a saved dataset, a built one or a script, brought to the Hub.

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
    with config.using(hub_timeout_seconds=60):
        assert main(["push", folder, "other/name", "--token", hub.token]) == 1

    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("datasets-core: The Hub dataset 'other/name' cannot be written to by this user")


def test_head_says_what_images_and_sounds_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "sounds").mkdir()
    Image.new("RGB", (8, 6)).save(tmp_path / "images" / "red.png")
    (tmp_path / "sounds" / "tone.wav").write_bytes(wav_bytes(np.zeros((16_000,), np.float32), 8_000))
    cache = ["--cache-dir", str(tmp_path / "cache")]
    assert main(["head", str(tmp_path / "images"), *cache]) == 0
    assert json.loads(capsys.readouterr().out) == {"image": "<image: PNG, 8 x 6 pixels, RGB, red.png>"}
    assert main(["head", str(tmp_path / "sounds"), *cache]) == 0
    assert json.loads(capsys.readouterr().out) == {"audio": "<audio: 2.0 s, 8,000 Hz, 1 channel, tone.wav>"}
