"""`lock`, `diff` and `cite`: what a dataset is made of, what became of it, and how a paper names it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.prepared import builder_from_directory
from datasets_core.cli.housekeeping import named_folders
from datasets_core.cli.wording import counted, say
from datasets_core.errors import ConfigurationError, DatasetNotFoundError
from datasets_core.load import load_dataset_builder
from datasets_core.locks import lock_dataset
from datasets_core.progress import progress
from datasets_core.store.comparison import compare
from datasets_core.store.content import data_fingerprint, split_fingerprints
from datasets_core.store.difference import Difference
from datasets_core.store.manifest import Manifest


def lock(reference: Mapping[str, Any], *, output: str, update: bool, num_proc: int | None) -> int:
    """Write what the dataset is made of into a file, or find that the file says so already."""
    outcome = lock_dataset(**reference, lock=output, update=update, num_proc=num_proc)
    for line in outcome.moved:
        say(f"  {line}")
    say(f"{outcome.path} {'is written' if outcome.is_written else 'holds: nothing moved'}")
    return 0


def diff(old: str, new: str, *, rows: int, as_json: bool, check: bool) -> int:
    """Print what became of a dataset from one prepared version to another.

    Returns:
        0, also where they differ; with `check` 1 where the versions on record say less than what changed.
    """
    found = compare(_folder(old), _folder(new), limit=rows)
    if as_json:
        say(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        say(f"{found.level.upper()}: {_meaning(found)}")
        for line in found.summary:
            say(f"  {line}")
        if found.first_differences:
            say("first differences:")
        for row in found.first_differences:
            say(f"  {row}")
        say(_on_versions(found))
    return 1 if check and not found.is_declared else 0


def _meaning(found: Difference) -> str:
    if not found.summary:
        return "nothing differs"
    meanings = {
        "patch": "the same rows in the same order",
        "minor": "the same rows, and more columns or fields",
        "major": "other rows, columns or splits",
    }
    return meanings[found.level]


def _on_versions(found: Difference) -> str:
    if found.old_version is None or found.new_version is None:
        return "versions: none is on record"
    said = f"versions: {found.old_version}, then {found.new_version}"
    if found.declared == "back":
        return f"{said}, which goes back; {found.right_version} or higher would be right"
    if not found.is_declared:
        return f"{said}, which says too little; {found.right_version} or higher would be right"
    return f"{said}, which says enough"


def cite(reference: Mapping[str, Any], *, as_json: bool) -> int:
    """Print the name of a prepared dataset, the fingerprint of its rows, and the citation that its author recorded."""
    builder = _standing(reference)
    manifest: Manifest = builder._built()
    info = manifest.info
    rows = {split: sum(lengths) for split, lengths in manifest.split_lengths().items()}
    with progress("Hashing rows", total=sum(rows.values()), unit="rows") as bar:
        splits = split_fingerprints(
            builder._output_dir, manifest, on_rows=bar.update, storage_options=builder._output_storage_options
        )
    facts = {
        "dataset": info.full_name or builder.label,
        "fingerprint": f"sha256:{data_fingerprint(splits)}",
        "rows": rows,
        "homepage": info.homepage,
        "license": info.license,
        "citation": (info.citation or "").strip(),
    }
    if as_json:
        say(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    say(facts["dataset"])
    say(f"fingerprint: {facts['fingerprint']}")
    say(f"rows:        {', '.join(f'{split} {count:,}' for split, count in rows.items())}")
    for name in ("homepage", "license"):
        if facts[name]:
            say(f"{name + ':':13}{facts[name]}")
    say(f"\n{facts['citation'] or 'No citation is recorded.'}")
    return 0


def _folder(text: str) -> str:
    return _standing({"path": text})._output_dir


def _standing(reference: Mapping[str, Any]) -> DatasetBuilder:
    """The builder of a dataset that is built: of a folder, of a name that `cache ls` prints, or of a reference.

    Raises:
        DatasetNotFoundError: it is not built.
        ConfigurationError: the name is that of several.
    """
    path = os.fspath(reference["path"])
    given = {name: value for name, value in reference.items() if value is not None and name != "path"}
    if not given:
        try:
            return builder_from_directory(path)
        except DatasetNotFoundError:
            pass
        folders = [] if os.path.exists(path) else named_folders(path)
        if len(folders) > 1:
            raise ConfigurationError(
                f"{path} names {counted(len(folders), 'dataset')} of the cache. Give one of: {', '.join(folders)}."
            )
        if folders:
            return builder_from_directory(folders[0])
    builder = load_dataset_builder(**reference)
    builder._built()
    return builder
