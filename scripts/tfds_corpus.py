"""Compares the builders of TensorFlow Datasets as it describes them with how this library does, and prints the differences.

    python scripts/tfds_corpus.py --tfds PYTHON [--configs N] [NAME ...]
    python scripts/tfds_corpus.py --tfds PYTHON --names

PYTHON is an interpreter with tensorflow and tensorflow-datasets. Its builders are read from the installed files, unmodified
and without TensorFlow, and their infos are compared: names, versions, descriptions, citations, homepages, supervised keys,
and the names, types and shapes of features. By default three configs of each builder are compared. Packages that builders
import at their top, such as h5py, are to be installed with this library. Nothing uses the network.
Each builder of TFDS is described in a process of its own: a class that inherits from the builder of another dataset has the
texts of its parent if that was made before in the same process.

With `--names`, the names of TensorFlow, TFDS and etils that the builders use are read from their code, and those that this
library lacks are printed, each with the files. Such files run until they use the name.

Rows are compared by `tests/tfds_corpus/rig`: fake data for about 250 of these builders, and programs that build them by both.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
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
import inspect, os, tempfile
import tensorflow_datasets as tfds
asked, most = json.loads(sys.argv[1])

def rows(name):
    try:
        cls = tfds.builder_cls(name)
        configs = [config.name for config in cls.BUILDER_CONFIGS] or [None]
    except Exception:
        return
    for config in configs[:most - 1] + configs[-1:] if len(configs) > most else configs:
        try:
            builder = tfds.builder(name, data_dir=tempfile.gettempdir(), **({"config": config} if config else {}))
            row = {"name": name, "config": config, "file": inspect.getfile(cls), **told(builder)}
        except BaseException:  # such builders cannot be made by TFDS either
            continue
        print("\x1e" + json.dumps(row), flush=True)

for name in asked or tfds.list_builders(with_community_datasets=False):
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        rows(name)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
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


def lacking(folder: Path) -> dict[str, list[str]]:
    """Return the names that builders below a folder use and this library lacks, each with their files."""
    from datasets_core.scripting.compat import tables

    tables.UNLESS_INSTALLED = frozenset()  # names of packages that are installed are looked up as well
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if place.parts[0] in ("core", "scripts", "testing") or len(place.parts) == 1 or path.name.endswith("_test.py"):
            continue
        for name in sorted(set(_lacking(ast.parse(path.read_text(encoding="utf-8")), folder.parent))):
            found[name].append(str(place))
    return dict(found)


def _lacking(tree: ast.Module, above: Path) -> Iterator[str]:
    from datasets_core.scripting.compat import tables
    from datasets_core.tfds.download import DownloadManager

    roots: dict[str, tuple[str, Any]] = {}
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            module = getattr(node, "module", None) or ""
            full = f"{module}.{alias.name}" if module else alias.name
            if tables.compat_module_of(full) is None or (isinstance(node, ast.ImportFrom) and node.level):
                continue
            parts = full.split(".") if module or alias.asname else full.split(".")[:1]
            value = _found(parts)
            if value is None and not _is_own(above, module, full):
                yield full
            elif value is not None:
                roots[alias.asname or (alias.name if module else parts[0])] = ".".join(parts), value
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name, parts = _chain(node)
            if name == "dl_manager" and not hasattr(DownloadManager, parts[0]):
                yield f"dl_manager.{parts[0]}"
            elif name in roots and _found(parts, *roots[name]) is None:
                yield ".".join([roots[name][0], *parts])


def _chain(node: ast.AST) -> tuple[str | None, list[str]]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), names


def _found(names: list[str], place: str = "", value: Any = None) -> Any:
    """Return the object at some names; None if one is lacking. Attributes of objects other than modules are not looked up."""
    from datasets_core.scripting.compat import tables
    from datasets_core.scripting.compat.tensorflow import Missing, Names

    modules = (tables.Face, Names, type(sys))
    for name in names:
        if value is not None and not isinstance(value, modules) and type(value).__name__ not in ("LazyImports", "LazyModules"):
            return value
        try:
            value = tables.open_module(name) if value is None else getattr(value, name)
        except (AttributeError, ImportError):
            return None
        if isinstance(value, Missing):
            return None
    return value


def _is_own(above: Path, module: str, full: str) -> bool:
    """Return True for a module of the collection itself, or a name of one."""
    files = [above.joinpath(*dotted.split(".")) for dotted in (module, full) if dotted]
    is_own = any(path.is_dir() or path.with_suffix(".py").exists() for path in files)
    return is_own and not full.startswith("tensorflow_datasets.core") and module != "tensorflow_datasets"


def main() -> int:
    """Print what differs; return 1 if anything does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="*", help="the builders; by default all")
    parser.add_argument("--tfds", required=True, metavar="PYTHON", help="an interpreter with tensorflow-datasets")
    parser.add_argument("--configs", type=int, default=3, metavar="N", help="the most configs of a builder")
    parser.add_argument("--names", action="store_true", help="print the names that builders use and that are lacking")
    arguments = parser.parse_args()
    if arguments.names:
        code = "import importlib.util; print(importlib.util.find_spec('tensorflow_datasets').origin)"
        done = subprocess.run([arguments.tfds, "-c", code], text=True, capture_output=True, check=True)
        names = lacking(Path(done.stdout.strip()).parent)
        for name, files in names.items():
            print(f"{name}: {', '.join(files[:3])}{f' and {len(files) - 3} others' if len(files) > 3 else ''}")
        return int(bool(names))
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
