"""`lock`, `diff` and `cite`, and the flags of `build` that registers checksums."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from datasets_core.cli.main import main

SCRIPT = """
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
    script.write_text(SCRIPT.format(version=version, columns=columns, url=f"file://{folder}/birds.txt"))
    return str(script)


def _build(script: str, cache: str, out: Out) -> str:
    assert main(["build", script, "--cache-dir", cache]) == 0
    return out.readouterr().out.splitlines()[0]


# -- lock --------------------------------------------------------------------------------------------------------------


def test_lock_writes_the_file_and_finds_that_it_holds(table: str, cache: str, tmp_path: Path, capsys: Out) -> None:
    lock = str(tmp_path / "birds.lock")
    words = ["lock", table, "-o", lock, "--cache-dir", cache]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{lock} is written\n"
    assert json.loads(Path(lock).read_text())["splits"][0]["rows"] == 3
    assert main(words) == 0
    assert capsys.readouterr().out == f"{lock} holds: nothing moved\n"


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
    assert lines[1:] == ["  the split 'train' had 3 rows and has 1", f"{lock} is written"]


def test_the_lock_is_written_where_one_stands(table: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lock", table, "--cache-dir", cache]) == 0
    assert (tmp_path / "dataset.lock").exists()


# -- diff --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "columns", "rows", "level", "said"),
    [
        ("1.0.1", ("name",), "alba\nbrno\n", "PATCH: nothing differs", "which says enough"),
        ("1.1.0", ("name", "size"), "alba\nbrno\n", "MINOR", "which says enough"),
        ("1.0.1", ("name", "size"), "alba\nbrno\n", "MINOR", "which says too little; 1.1.0 or higher would be right"),
        ("1.1.0", ("name",), "alba\nBRNO\n", "MAJOR", "which says too little; 2.0.0 or higher would be right"),
        ("0.9.0", ("name",), "alba\nbrno\n", "PATCH", "which goes back; 1.0.0 or higher would be right"),
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
    assert lines[-1] == f"versions: 1.0.0, then {version}, {said}"
    assert main(["diff", old, new, "--check"]) == (0 if "enough" in said else 1)


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
    assert "with --register-checksums" in capsys.readouterr().err
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
