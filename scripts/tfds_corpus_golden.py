"""Writes `tests/tfds_corpus/golden/<name>.json`: what TensorFlow Datasets makes of each script of that corpus.

    python scripts/tfds_corpus_golden.py [NAME ...]

It is run in an interpreter that has tensorflow and tensorflow-datasets, pydub, and what its wheels forget.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CORPUS = Path(__file__).parents[1] / "tests" / "tfds_corpus"


def _local_downloads(tfds: Any) -> None:
    """Have the manager take paths beside the script for URLs; archives are unpacked by the code of that library."""
    from tensorflow_datasets.core.download import extractor, resource

    def mapped(function: Any, nest: Any) -> Any:
        if isinstance(nest, dict):
            return {name: mapped(function, inner) for name, inner in nest.items()}
        if isinstance(nest, (list, tuple)):
            return type(nest)(mapped(function, inner) for inner in nest)
        return function(nest)

    def place(asked: Any) -> Any:
        asked = asked.path or asked.url if isinstance(asked, resource.Resource) else asked
        return tfds.core.Path(_local_downloads.folder) / asked  # type: ignore[attr-defined]

    def unpacked(path: Any) -> Any:
        path = place(path)
        kind = resource.guess_extract_method(path.name)
        if kind is resource.ExtractMethod.NO_EXTRACT:
            return path
        target = tfds.core.Path(tempfile.mkdtemp())
        for name, file in extractor.iter_archive(path, kind):
            written = target / name if name else target / "file"
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_bytes(file.read())
            if not name:
                return written
        return target

    manager = tfds.download.DownloadManager
    manager.download = lambda self, asked: mapped(place, asked)
    manager.extract = manager.download_and_extract = lambda self, asked: mapped(unpacked, asked)


def _built(tfds: Any, calls: Any, name: str, load: dict[str, Any]) -> dict[str, Any]:
    _local_downloads.folder = str(CORPUS / name)  # type: ignore[attr-defined]
    path = calls.script(name)
    sys.path.insert(0, str(CORPUS))
    module = importlib.import_module(f"{name}.{path.stem}")
    kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, tfds.core.DatasetBuilder)]
    (kind,) = [each for each in kinds if each.__module__ == module.__name__]
    builder = kind(data_dir=tempfile.mkdtemp(), **{key: load[key] for key in ("config", "version") if key in load})
    manual = str(CORPUS / name / "manual") if load.get("manual") else None
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=manual))
    info = builder.info
    splits = {}
    for split in info.splits:
        rows = tfds.as_numpy(builder.as_dataset(split=split))
        splits[str(split)] = [calls.described(row) for row in rows]
    return {
        "full_name": info.full_name,
        "description": info.description,
        "citation": info.citation,
        "homepage": info.homepage,
        "supervised_keys": info.supervised_keys,
        "names": {n: f.names for n, f in info.features.items() if isinstance(f, tfds.features.ClassLabel)},
        "shards": {str(split): each.num_shards for split, each in info.splits.items()},
        "splits": splits,
    }


def main(asked: list[str]) -> None:
    """Write the files of the scripts that are asked for, or of all."""
    import tensorflow_datasets as tfds

    calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))
    _local_downloads(tfds)
    for name in asked or calls.LOADS:
        for load in calls.LOADS[name]:
            found = _built(tfds, calls, name, load)
            path = CORPUS / "golden" / f"{calls.title(name, load)}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
            print(name, load, {split: len(rows) for split, rows in found["splits"].items()})


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(sys.argv[1:])
