"""Builds the Palmer penguins three ways, verifies, slices, transforms and prints them: `make demo`.

Everything is written below a folder that is made for the purpose and removed at the end; `--keep FOLDER` keeps it.
"""

import argparse
import collections
import contextlib
import os
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import datasets_core
from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import MissingDependencyError
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset

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


def _transform(birds: Dataset) -> None:
    print("\n== Transforms, sorting, formats")
    weighed = birds.filter(lambda row: row["body_mass_g"] is not None)
    print(f"   filter: {len(weighed)} of {len(birds)} birds were weighed")
    ratio = weighed.map(lambda row: {"g_per_mm": round(row["body_mass_g"] / row["flipper_length_mm"], 1)})
    heaviest = ratio.sort("g_per_mm", reverse=True).select_columns(["individual", "g_per_mm"])
    print(f"   map, sort: {heaviest[0]} is the most compact")
    masses = weighed.with_format("numpy")[:]["body_mass_g"]
    print(f"   numpy: {masses.dtype} of shape {masses.shape}, mean {masses.mean():.1f} g")
    parts = weighed.train_test_split(test_size=0.2, seed=42, stratify_by_column="species")
    print(f"   train_test_split: {parts.num_rows}")


def _summarize(birds: Dataset) -> None:
    print("\n== Columns, by describe()")
    print(textwrap.indent(str(birds.describe(["species", "body_mass_g", "sex"])), "   "))
    print("\n== Summary: mean body mass in g")
    species = cast(ClassLabel, birds.features["species"])
    try:
        query = "select species, count(body_mass_g) as birds, avg(body_mass_g) as g from ds group by species order by species"
        rows = birds.sql(query).to_list()
    except MissingDependencyError as error:  # the same by hand
        print(f"   ({error})")
        masses = collections.defaultdict(list)
        for row in birds:
            if row["body_mass_g"] is not None:
                masses[row["species"]].append(row["body_mass_g"])
        rows = [{"species": n, "birds": len(found), "g": sum(found) / len(found)} for n, found in sorted(masses.items())]
    for row in rows:
        print(f"   {species.int2str(row['species']):10} {row['birds']:4} birds  {row['g']:7.1f}")


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

        birds = concatenate_datasets(list(typed.values()))
        _transform(birds)
        _summarize(birds)
        print('\n== See it: pip install -e ".[view]", then datasets-core view scripts/demo/penguins_csv')


if __name__ == "__main__":
    main()
