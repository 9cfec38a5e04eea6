"""The documentation: every public name has a page, links to files are right, and `make docs` has no warning."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from datasets_core import errors

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "reference"} & set(path.relative_to(DOCS).parts))


def _script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "scripts" / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return _script("reference.py")


@pytest.fixture(scope="module")
def report() -> ModuleType:
    return _script("bench/report.py")


def test_every_public_name_has_a_page(reference: ModuleType) -> None:
    assert reference.undocumented() == set()


def test_the_reference_has_every_option_setting_error_and_command(reference: ModuleType, tmp_path: Path) -> None:
    reference.write(tmp_path)
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")}
    assert "| `max_shard_bytes` | `500000000` | size at which a new shard begins. |" in pages["settings.md"]
    assert "| `sep` |" in pages["formats.md"]
    assert "datasets_core.errors.ChecksumVerificationError" in pages["errors.md"]
    assert "| `ArgumentTypeError` | An argument of the wrong type. | `ValueError`, `TypeError` |" in pages["errors.md"]
    assert re.search(r"^\| `\w+` \| +\|", pages["errors.md"], re.MULTILINE) is None, "an error without a docstring"
    assert "## `datasets-core cache gc`" in pages["cli.md"]
    named = re.findall(
        r"^\| \{py:exc\}`~datasets_core\.errors\.(\w+)` \|[^|]*[^|\s][^|]*\|[^|]*[^|\s][^|]*\|$",
        pages["troubleshooting.md"],
        re.MULTILINE,
    )
    assert sorted(named) == sorted({value.__name__ for value in vars(errors).values() if inspect.isclass(value)})
    assert "datasets_core.load_dataset" in pages["api/loading.md"]
    assert all(re.search(r"\| `\w+` \|[^|]*\| +\|$", page, re.MULTILINE) is None for page in (pages["settings.md"],))


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_files_are_right(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text):
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / link).resolve()
        made = (DOCS / "reference").resolve()
        assert target.exists() or made in target.parents, f"{page.relative_to(ROOT)} links to {link}, which is not there"


def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html", str(DOCS), str(tmp_path)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "searchindex.js").exists()


def test_the_migration_guide_is_one_table_with_a_reason_and_a_way_back_for_each_row() -> None:
    text = (DOCS / "migrate" / "datasets.md").read_text(encoding="utf-8")
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines[2:]]
    assert len(re.findall(r"^\|---", text, re.MULTILINE)) == 1
    assert all(len(row) == 3 for row in rows)
    bad = [row for row in rows if not all(row) and not (row[0].startswith("**") and row[1:] == ["", ""])]
    assert bad == []
    for option in ("extra_columns=", "on_short_lines=", "missing_columns=", "config", "register_feature", "InvalidConfigName"):
        assert any(option in row[0] + row[2] for row in rows), option


def test_the_figures_of_the_speed_page_are_those_of_the_results_file(report: ModuleType) -> None:
    text = report.PAGE.read_text(encoding="utf-8")
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    assert report.page(text, results) == text, "run python scripts/bench/report.py"
    for section in results.values():
        assert {"cpu", "cores", "memory_gib", "system"} == set(section["machine"])  # and nothing that names the machine
        assert {"python", "datasets_core", "pyarrow"} <= set(section["versions"])


def test_a_row_that_lost_against_the_peer_of_its_own_run_is_named(
    report: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads(report.RESULTS.read_text(encoding="utf-8"))["operations"]["rows"]
    report.compare(report.RESULTS, "operations", rows)  # equal: nothing is raised
    assert "0 lost more than 15%" in capsys.readouterr().out
    slow_machine = {name: json.loads(json.dumps(row)) for name, row in rows.items()}
    for row in slow_machine.values():
        for cell in row["cells"].values():
            cell.update({time: cell[time] * 3 for time in ("cpu", "wall") if time in cell})
    report.compare(report.RESULTS, "operations", slow_machine)
    slow_machine["map_row"]["cells"]["datasets_core"]["cpu"] *= 1.25
    with pytest.raises(SystemExit, match=r"^map_row: .* \(-20%\)$"):
        report.compare(report.RESULTS, "operations", slow_machine)
    with pytest.raises(SystemExit, match=r"measured with scale=0\.25, this run with scale=1"):
        report.compare(report.RESULTS, "operations", rows, scale=1)
    with pytest.raises(SystemExit, match="no row of streams in common"):
        report.compare(report.RESULTS, "streams", rows={})


def test_each_plot_is_on_the_speed_page_and_has_its_rows(report: ModuleType) -> None:
    text = report.PAGE.read_text(encoding="utf-8")
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    for name, (_, section, rows) in report.PLOTS.items():
        assert all(f"speed/plots/{name}-{theme}.svg" in text for theme in ("light", "dark"))
        assert all(report.ratio(results[section]["rows"][row], "datasets") for row in rows.split())


def test_the_plots_show_the_figures_of_the_results_file(report: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    assert len(report.plots(results, tmp_path)) == 2 * len(report.PLOTS)
    for name, (_, section, rows) in report.PLOTS.items():
        drawn = (tmp_path / f"{name}-light.svg").read_text(encoding="utf-8")
        for row in rows.split():
            assert f">{report.label_of(report.ratio(results[section]['rows'][row], 'datasets'))}<" in drawn


def test_the_figures_of_the_readme_are_those_of_the_results_file(report: ModuleType) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    rows, loader = (results["operations"]["rows"][row]["cells"] for row in ("rows", "loader_torch"))
    first = results["streams"]["rows"]["first_parquet"]["cells"]
    records = {name: results["records"]["rows"][name]["per_cpu_second"] for name in ("arrow", "tf_batched")}
    for ours, theirs in (
        (f"{rows['datasets_core']['cpu'] * 1e3:.0f} ms CPU", f"{rows['datasets']['cpu']:.1f} s"),
        (f"{loader['datasets_core']['cpu'] * 1e3:.0f} ms CPU", f"{loader['datasets']['cpu'] * 1e3:.0f} ms"),
        *[(f"{first['datasets_core']['requests']} requests, 2 MB", f"{first['datasets']['bytes'] / 1e6:.1f} MB")],
        *[(f"{records['arrow'] / 1e3:,.0f},000 records/s", f"{records['tf_batched'] / 1e3:,.0f},000")],
    ):
        assert re.search(rf"\| {re.escape(ours)}.*\|.*{re.escape(theirs)} \|", readme), (ours, theirs)
