"""Compares the builders of TensorFlow Datasets as it describes them with how this library does, and prints the differences.

    python scripts/tfds_corpus.py --tfds PYTHON [--configs N] [NAME ...]

PYTHON is an interpreter with tensorflow and tensorflow-datasets. Its builders are read from the installed files, unmodified
and without TensorFlow, and their infos are compared: names, versions, descriptions, citations, homepages, supervised keys,
and the names, types and shapes of features. By default three configs of each builder are compared. Packages that builders
import at their top, such as h5py, are to be installed with this library. Nothing uses the network.

Rows are compared by `tests/tfds_corpus/rig`: fake data for about 250 of these builders, and programs that build them by both.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from typing import Any

FIELDS = ("full_name", "version", "citation", "homepage", "description", "supervised_keys", "dtype", "shape")
_CATALOG = "https://www.tensorflow.org/datasets/catalog/"  # of builders that name no homepage

# Run by both interpreters.
COMMON = r'''
import json, sys, warnings
import numpy as np
warnings.filterwarnings("ignore")

def plain(value):
    """Types and shapes as JSON, by whatever library they were made."""
    if hasattr(value, "keys"):
        return {name: plain(value[name]) for name in sorted(value)}
    if isinstance(value, (tuple, list)):
        return [plain(part) if isinstance(part, (dict, tuple, list)) else part and int(part) for part in value]
    if value is None:
        return None
    try:
        kind = np.dtype(getattr(value, "as_numpy_dtype", value))
    except TypeError:
        return str(value)
    return "string" if kind.kind in "OSU" else kind.name

def told(builder):
    info, keys = builder.info, builder.info.supervised_keys
    return {"full_name": info.full_name, "version": str(builder.version), "citation": info.citation, "homepage": info.homepage,
        "description": info.description, "supervised_keys": json.loads(json.dumps(keys, default=list, sort_keys=True)),
        "dtype": plain(info.features.dtype), "shape": plain(info.features.shape)}
'''
PEER = (
    COMMON
    + r"""
import inspect, tempfile
import tensorflow_datasets as tfds
asked, most = json.loads(sys.argv[1])
for name in asked or tfds.list_builders(with_community_datasets=False):
    try:
        cls = tfds.builder_cls(name)
        configs = [config.name for config in cls.BUILDER_CONFIGS] or [None]
    except Exception:
        continue
    for config in configs[:most - 1] + configs[-1:] if len(configs) > most else configs:
        try:
            builder = tfds.builder(name, data_dir=tempfile.gettempdir(), **({"config": config} if config else {}))
            row = {"name": name, "config": config, "file": inspect.getfile(cls), **told(builder)}
        except BaseException:  # such builders cannot be made by TFDS either
            continue
        print("\x1e" + json.dumps(row), flush=True)
"""
)


def theirs(python: str, names: list[str], most: int) -> list[dict[str, Any]]:
    """Return the infos by TensorFlow Datasets."""
    done = subprocess.run(
        [python, "-c", PEER, json.dumps([names, most])], text=True, capture_output=True, cwd=tempfile.gettempdir(), check=False
    )
    rows = [json.loads(line[1:]) for line in done.stdout.split("\n") if line.startswith("\x1e")]
    if not rows:
        raise SystemExit(f"{python} gives no infos:\n{done.stderr[-2000:]}")
    return rows


def ours(row: dict[str, Any], told: Any) -> dict[str, Any]:
    """Return the info of the same builder and config by this library."""
    from datasets_core import tfds

    asked: Any = row["file"]
    if tfds.builder_cls(asked).name != row["name"]:
        asked = row["name"]  # one of several builders of the file, which is imported now
    config = {"config": row["config"]} if row["config"] else {}
    found: dict[str, Any] = told(tfds.builder(asked, data_dir=tempfile.gettempdir(), **config))
    return found


def main() -> int:
    """Print what differs; return 1 if anything does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="*", help="the builders; by default all")
    parser.add_argument("--tfds", required=True, metavar="PYTHON", help="an interpreter with tensorflow-datasets")
    parser.add_argument("--configs", type=int, default=3, metavar="N", help="the most configs of a builder")
    arguments = parser.parse_args()
    space: dict[str, Any] = {}
    exec(COMMON, space)
    warnings.filterwarnings("ignore")
    rows, counts = theirs(arguments.tfds, arguments.name, max(2, arguments.configs)), Counter[str]()
    for row in rows:
        title = f"{row['name']}/{row['config']}" if row["config"] else row["name"]
        try:
            found = ours(row, space["told"])
        except Exception as error:
            counts["error"] += 1
            print(f"{title}: {type(error).__name__}: {error}")
            continue
        if row["homepage"].startswith(_CATALOG):
            row["homepage"] = found["homepage"]
        wrong = [field for field in FIELDS if found[field] != row[field]]
        counts["different" if wrong else "equal"] += 1
        for field in wrong:
            print(f"{title}: {field} is {str(found[field])[:200]!r}, and by TFDS {str(row[field])[:200]!r}")
    print(f"{len(rows)} configs of {len({row['name'] for row in rows})} builders: {dict(counts)}")
    return int(counts["equal"] < len(rows))


if __name__ == "__main__":
    sys.exit(main())
