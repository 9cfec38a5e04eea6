"""Builds the Palmer penguins three ways, verifies, slices and prints them: `make demo`.

Everything is written below a folder that is made for the purpose and removed at the end; `--keep FOLDER` keeps it.
"""

import argparse
import collections
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import datasets_core
from datasets_core import ClassLabel, Dataset, DatasetDict, load_dataset

HERE = Path(__file__).parent


@contextlib.contextmanager
def _folder(keep: str | None) -> Iterator[str]:
    if keep:
        os.makedirs(keep, exist_ok=True)
        yield keep
    else:
        with tempfile.TemporaryDirectory() as temporary:
            yield temporary


def _timed(title: str, build: Callable[[], Any]) -> DatasetDict:
    begun = time.perf_counter()
    splits: DatasetDict = build()
    milliseconds = (time.perf_counter() - begun) * 1000
    rows = ", ".join(f"{name}: {len(split)} rows" for name, split in splits.items())
    print(f"\n== {title}\n   {rows}; {milliseconds:.0f} ms")
    return splits


def _show(rows: Dataset, count: int = 2) -> None:
    for row in rows.select(range(count)):
        print("  ", row)


def main() -> None:
    """Run the demo."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", metavar="FOLDER", help="keep the built datasets in FOLDER")
    with _folder(options.parse_args().keep) as cache:
        print(f"datasets_core {datasets_core.__version__}: the Palmer penguins, three ways")

        table = _timed("1. a folder of data files", lambda: load_dataset(str(HERE / "penguins_csv"), cache_dir=cache))
        _show(table["train"])

        def script() -> Any:
            path = str(HERE / "penguins" / "penguins.py")
            return load_dataset(path, cache_dir=cache, verification_mode="all_checks")

        typed = _timed("2. a dataset script, every byte checked", script)
        _show(typed["train"])

        zipped = _timed("3. an archive", lambda: load_dataset("csv", data_files=str(HERE / "penguins.zip"), cache_dir=cache))
        _show(zipped["train"])
        print(f"   the same rows as in 1: {zipped['train'].to_dict() == table['train'].to_dict()}")

        print("\n== Slices")
        for spec in ("train[:10%]", "train[-3:]", "train[50%:]+test[:25%]", "test[0shard]"):
            part = load_dataset(str(HERE / "penguins" / "penguins.py"), split=spec, cache_dir=cache)
            print(f"   {spec:24} {len(part):4} rows, first bird {part[0]['individual']!r}")

        _timed("The folder again, from the cache", lambda: load_dataset(str(HERE / "penguins_csv"), cache_dir=cache))

        print("\n== Summary: mean body mass in g")
        species = cast(ClassLabel, typed["train"].features["species"])
        masses = collections.defaultdict(list)
        for split in typed.values():
            for row in split:
                if row["body_mass_g"] is not None:
                    masses[species.int2str(row["species"])].append(row["body_mass_g"])
        for name, values in sorted(masses.items()):
            print(f"   {name:10} {len(values):4} birds  {sum(values) / len(values):7.1f}")


if __name__ == "__main__":
    main()
