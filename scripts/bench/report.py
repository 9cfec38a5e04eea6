"""What was measured, as `docs/speed/results.json` keeps it: the tables of `docs/speed.md`, and its plots.

    python scripts/bench/report.py            # writes the tables into docs/speed.md again
    python scripts/bench/report.py --plots F  # also writes the plots as SVG into the folder F, with matplotlib

`run.py`, `streams.py`, `records.py` and `looking.py` add their section to the file (`--out docs/speed/results.json`);
`make docs` draws the plots.  A test compares the page with the file, so that a figure is never written by hand.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "speed" / "results.json"
PAGE = ROOT / "docs" / "speed.md"
PACKAGES = (
    "datasets",
    "pyarrow",
    "numpy",
    "torch",
    "tensorflow_cpu",
    "protobuf",
    "tfrecord",
    "huggingface_hub",
    "quak",
    "ydata_profiling",
    "duckdb",
    "polars",
    "mosaicml_streaming",
    "litdata",
    "webdataset",
    "torchdata",
    "pylance",
    "grain",
)

OPERATIONS_HEAD = """\
| workload (at scale 1) | ours: CPU (wall) | `datasets` | `datasets` / ours | by hand | ours / by hand | MB of the three |
|---|---|---|---|---|---|---|"""
STREAMS_HEAD = """\
| | this library | by hand | `datasets` |
|---|---|---|---|"""
RECORDS_HEAD = """\
| library | what | records per CPU second | MiB |
|---|---|---|---|"""
TRAINING_HEAD = """\
| samples | reader | samples per CPU second (wall): no workers | two workers | MB of memory | MB on disk | order | resume |
|---|---|---|---|---|---|---|---|"""
VIEWER_HEAD = """\
| what | ours: wall (CPU) | at most | other | wall (CPU) | theirs / ours, CPU |
|---|---|---|---|---|---|"""

Cell = dict[str, Any]


# -- the file ----------------------------------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """The processor, its cores, and the memory in GiB: what figures depend on, and nothing that names the machine."""
    model = platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found.group(1) if found else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": model, "cores": os.cpu_count(), "memory_gib": round(memory), "system": platform.system()}


def versions(*peers: str | None) -> dict[str, str]:
    """The versions of Python and of the packages that were measured, those of `peers` (interpreters) where they have them."""
    text = f"from importlib.metadata import version, PackageNotFoundError as E\nfor p in {PACKAGES}:\n"
    text += "    try: print(p.replace('_cpu', ''), version(p))\n    except E: pass"
    found = {"python": platform.python_version()}
    for python in (sys.executable, *reversed(peers)):
        if python:
            printed = subprocess.run([python, "-c", text], capture_output=True, text=True, check=True).stdout
            found |= dict(line.split() for line in printed.splitlines())
    text = (ROOT / "datasets_core" / "_version.py").read_text(encoding="utf-8")
    found["datasets_core"] = "".join(re.findall(r'^__version__ = "(.+)"', text, re.MULTILINE))
    return found


def record(path: Path, section: str, *peers: str | None, rows: dict[str, Any], **given: Any) -> None:
    """Write the figures of one section into the file; rows that were not measured now keep what they had."""
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    rows = {**results.get(section, {}).get("rows", {}), **rows}
    head = {"measured": datetime.date.today().isoformat(), "machine": machine(), "versions": versions(*peers), **given}
    results[section] = {**head, "rows": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_rounded(results), indent=1) + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    """The value with four digits of each float."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


LOSS = 0.15
"""The part of its lead over the peer that a row may lose between two runs: what machines shared with others differ by."""


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the option `--compare` to the command line of a benchmark."""
    note = f"results of an earlier run; the exit code is 1 if a row lost more than {LOSS:.0%} against the peer of the same run"
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help=note)


def compare(path: Path | None, section: str, rows: dict[str, Cell], **given: Any) -> None:
    """Name the rows that lost against the peer since the run in `path`, and end the program with 1 if there are any."""
    if path is None:
        return
    results = json.loads(path.read_text(encoding="utf-8")).get(section, {})
    for name, value in given.items():
        if results.get(name, value) != value:
            raise SystemExit(f"{path} was measured with {name}={results[name]}, this run with {name}={value}.")
    old, new = (leads(found) for found in (results.get("rows", {}), rows))
    if not old.keys() & new.keys():
        raise SystemExit(f"{path} and this run have no row of {section} in common that was measured with a peer.")
    lost = [
        f"{name}: {lead:.2f} times as fast as the peer in {path}, {new[name]:.2f} times now ({new[name] / lead - 1:+.0%})"
        for name, lead in old.items()
        if name in new and new[name] < lead * (1 - LOSS)
    ]
    print(f"\ncompared with {path}: {len(old.keys() & new.keys())} rows, {len(lost)} lost more than {LOSS:.0%}")
    if lost:
        raise SystemExit("\n".join(lost))


def leads(rows: dict[str, Cell]) -> dict[str, float]:
    """How many times as fast as the peer this library was, by row; rows without a peer are left out."""
    found = {name: lead for name, row in rows.items() if "cells" in row and (lead := ratio(row, "datasets")) is not None}
    peers = [row["per_cpu_second"] for row in rows.values() if row.get("library", "datasets_core") != "datasets_core"]
    if peers:
        ours = {name: row["per_cpu_second"] for name, row in rows.items() if row.get("library") == "datasets_core"}
        found |= {name: speed / statistics.geometric_mean(peers) for name, speed in ours.items()}
    return found


# -- the tables --------------------------------------------------------------------------------------------------------


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.1f} ms"


def _opened(cell: Cell) -> str:
    """How many Arrow files were opened, where they were counted."""
    count = cell.get("opened")
    return "" if count is None else f", {count} opened"


def _differs(cell: Cell) -> str:
    return " (results differ)" if cell.get("differs") else ""


def ratio(row: Cell, other: str) -> float | None:
    """How many times as long as this library `other` takes, or this library as the work by hand; None: not measured."""
    ours, cell = (row["cells"].get(name, {"error": ""}) for name in ("datasets_core", other))
    if "error" in ours or "error" in cell:
        return None
    time = "wall" if row.get("by_wall") else "cpu" if "cpu" in ours and "cpu" in cell else "seconds"
    found: float = cell[time] / ours[time] if other == "datasets" else ours[time] / cell[time]
    return found


def operation_line(row: Cell) -> str:
    """A row of the table of operations."""
    ours, hand, peer = (row["cells"].get(name, {"error": ""}) for name in ("datasets_core", "by_hand", "datasets"))
    if "error" in ours:
        return f"| {row['title']} | {ours['error']} | | | | | |"
    columns = [row["title"], f"{_seconds(ours['cpu'])} ({_seconds(ours['wall'])}){_opened(ours)}"]
    for name, other in (("datasets", peer), ("by_hand", hand)):
        if "error" in other:
            columns += [other["error"] or "–", "–"]
        else:
            time = other["wall" if row["by_wall"] else "cpu"]
            columns += [f"{_seconds(time)}{_opened(other)}{_differs(other)}", f"**{ratio(row, name):.2f}**"]
    memory = " / ".join(f"{cell['anonymous_mb']:.0f}" if "error" not in cell else "–" for cell in (ours, peer, hand))
    return "| " + " | ".join([*columns, memory]) + " |"


def stream_line(row: Cell) -> str:
    """A row of the table of streams: seconds, CPU seconds, requests and megabytes."""
    cells = (row["cells"].get(name, {"error": "–"}) for name in ("datasets_core", "by_hand", "datasets"))
    return f"| {row['title']} | {' | '.join(map(_stream_cell, cells))} |"


def _stream_cell(cell: Cell) -> str:
    if "error" in cell:
        return str(cell["error"])
    crashed = " (crashed at its end)" if cell.get("crashed") else ""
    cpu = f" ({cell['cpu']:.2f} s)" if "cpu" in cell else ""
    return f"{cell['seconds']:.2f} s{cpu}, {cell['requests']} req, {cell['bytes'] / 1e6:.2f} MB{_differs(cell)}{crashed}"


def record_line(row: Cell) -> str:
    """A row of the table of TFRecord files."""
    return f"| {row['library']} | {row['title']} | {row['per_cpu_second']:,.0f} | {row['mib']:.0f} |"


def look_line(row: Cell) -> str:
    """A row of the table of the viewer."""
    cells = dict(row["cells"])
    ours = cells.pop("datasets_core")
    more = f", {ours['mb']:.0f} MB" if "mb" in ours else f", {ours['bytes'] / 1e6:.2f} MB" if "bytes" in ours else ""
    columns = [row["title"], f"{_seconds(ours['wall'])} ({_seconds(ours['cpu'])}){more}"]
    columns.append("–" if row["limit"] is None else _seconds(row["limit"]))
    for name, other in cells.items():
        columns += [name, f"{_seconds(other['wall'])} ({_seconds(other['cpu'])})", f"**{other['cpu'] / ours['cpu']:.1f}**"]
    return "| " + " | ".join([*columns, *([] if cells else ["–", "–", "–"])]) + " |"


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The text of each part of the page that a mark names."""
    parts = {}
    for section, head, line in (
        ("operations", OPERATIONS_HEAD, operation_line),
        ("streams", STREAMS_HEAD, stream_line),
        ("records", RECORDS_HEAD, record_line),
        ("training", TRAINING_HEAD, training_line),
        ("viewer", VIEWER_HEAD, look_line),
    ):
        found = results[section]
        parts[section] = "\n".join([_conditions(found), "", head, *map(line, found["rows"].values())])
    return parts


def _conditions(found: dict[str, Any]) -> str:
    machine, used = found["machine"], dict(found["versions"])
    python = used.pop("python")
    packages = ", ".join(f"{name} {number}" for name, number in used.items())
    what = f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB of memory, {machine['system']}"
    return f"Measured on {found['measured']}: {what}; Python {python}, {packages}."


def page(text: str, results: dict[str, Any]) -> str:
    """The page with the tables of these results between its marks."""
    for name, table in tables(results).items():
        begin, end = f"<!-- {name}: written by scripts/bench/report.py -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        if not rest or not after:
            raise ValueError(f"the page has no mark {begin!r} with {end!r} below it")
        text = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return text


def training_line(row: Cell) -> str:
    """A line of the table of training loops."""

    def speed(workers: int) -> str:
        if f"per_cpu_{workers}" not in row:
            return "failed" if f"error_{workers}" in row else "–"
        return f"{_digits(row[f'per_cpu_{workers}'])} ({_digits(row[f'per_second_{workers}'])})"

    if "error" in row:
        return f"| {row['what']} | {row['reader']} | failed | – | – | – | – | – |"
    memory = row.get("memory_mb_0")
    resume = "–"
    if "resume_cpu" in row:
        resume = f"{row['resume_cpu'] * 1e3:,.0f} ms, {'exact' if row['is_exact'] else 'other rows'}"
    elif "resume_error" in row:
        resume = "failed"
    cells = [row["what"], row["reader"], speed(0), speed(2), "–" if memory is None else f"{memory:,.0f}", f"{row['mb']:,.0f}"]
    order = f"{row['spread']:.2f}" if "spread" in row else "–"
    return f"| {' | '.join([*cells, order, resume])} |"


def _digits(value: float) -> str:
    """A number with three digits that count."""
    return f"{float(f'{value:.3g}'):,.0f}"


# -- the plots ---------------------------------------------------------------------------------------------------------

PLOTS = {
    # name: (title, section, rows)
    "start": ("Start", "operations", "import first_use warm_csv warm_slice plan_slice load_disk concatenate"),
    "build": (
        "Build",
        "operations",
        "build_csv build_jsonl build_nested build_parquet build_text build_small generator generator_typed builder",
    ),
    "read": (
        "Read",
        "operations",
        "rows rows_nested rows_shuffled row batch slice batches column batches_numpy batches_arrow rows_numpy loader_torch",
    ),
    "transform": (
        "Transform and write",
        "operations",
        "map_row map_batched map_batched_numpy map_cached filter_row filter_batched select_list shuffle sort cast unique "
        "flatten_indices to_parquet to_csv to_json save_disk",
    ),
    "streams": (
        "Stream over HTTP",
        "streams",
        "fresh first_parquet first_csv five_jsonl first_gz two_columns rows_50k rows_csv rows_all shuffled skip resume "
        "resume_csv",
    ),
}


def plots(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write each plot twice as SVG, for light and for dark pages.

    Returns:
        The paths of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (title, section, chosen) in PLOTS.items():
        rows = [results[section]["rows"][row] for row in chosen.split()]
        for theme, ink in (("light", "#1f2328"), ("dark", "#e6e6e6")):
            written.append(folder / f"{name}-{theme}.svg")
            _plot(title, rows, ink, written[-1])
    return written


def label_of(value: float) -> str:
    """A ratio with two digits that count."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _plot(title: str, rows: list[Cell], ink: str, path: Path) -> None:
    """Horizontal bars: how many times as long as this library `datasets` and the work by hand take, on a logarithmic axis.

    The name of a row is above its bars, so that a plot fits the width of a phone.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    kinds = (("datasets", "datasets", "#d1495b"), ("by_hand", "by hand", "#7d8597"))
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": path.name,
        "font.size": 10,
        "text.color": ink,
        "axes.labelcolor": ink,
    }
    with mpl.rc_context({**style, "xtick.color": ink, "ytick.color": ink, "font.family": "sans-serif"}):
        figure, axes = pyplot.subplots(figsize=(4.8, 0.72 * len(rows) + 1))
        for place, (kind, label, color) in enumerate(kinds):
            for number, row in enumerate(rows):
                found = ratio(row, kind)
                if found is None:
                    continue
                found = found if kind == "datasets" else 1 / found
                at = number + place * 0.3
                axes.barh(at, found - 1, left=1, height=0.27, color=color, label=label if number == 0 else None)
                right = found >= 1
                axes.annotate(
                    label_of(found), (found, at), (4 if right else -4, 0), textcoords="offset points",
                    va="center", ha="left" if right else "right", fontsize=8,
                )  # fmt: skip
        axes.vlines(
            [1] * len(rows), [n - 0.16 for n in range(len(rows))], [n + 0.46 for n in range(len(rows))], "#2a9d8f", linewidth=2
        )
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, 0.3) * 0.75, high * 1.6)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        for number, row in enumerate(rows):
            axes.text(0, number - 0.32, row["title"], transform=axes.get_yaxis_transform(), va="center")
        axes.set_yticks([])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("time divided by that of this library (green lines)")
        axes.set_title(title, loc="left", fontweight="bold", pad=24)
        axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.03, 0.99), ncols=2, labelcolor=ink)
        figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})
        pyplot.close(figure)


def main() -> None:
    """Write the page again, and the plots where a folder is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also write the plots into this folder")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    if options.plots:
        plots(results, options.plots)


if __name__ == "__main__":
    main()
