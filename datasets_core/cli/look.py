"""`build`, `info` and `head`: a dataset as a user looks at it from a terminal."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from datasets_core.cli.wording import counted, say
from datasets_core.errors import ConfigurationError
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.manifest import read_manifest


def build(reference: Mapping[str, Any], *, output_dir: str | None, **how: Any) -> int:
    """Build the dataset and say where it stands."""
    builder = load_dataset_builder(**reference)
    builder.download_and_prepare(output_dir=output_dir, **{name: value for name, value in how.items() if value is not None})
    say(output_dir or builder.cache_dir)
    for line in _splits(builder.info):
        say(line)
    return 0


def describe(reference: Mapping[str, Any], *, as_json: bool) -> int:
    """Print what is known of the dataset before, or after, it is built."""
    builder = load_dataset_builder(**reference)
    built = read_manifest(builder.cache_dir)
    info = built.info if built else builder.info
    if as_json:
        say(json.dumps(info.to_dict(), indent=2, ensure_ascii=False, default=str))
        return 0
    facts = {
        "dataset": info.dataset_name or builder.dataset_name,
        "repository": f"{builder.repo_id} at {builder.commit_sha}" if builder.commit_sha else None,
        "config": info.config_name,
        "version": info.version,
        "versions": ", ".join(map(str, builder.versions)) if len(builder.versions) > 1 else None,
        "built": f"{builder.cache_dir} ({built.verification})" if built else "not yet",
        "description": (info.description or "").strip(),
        "homepage": info.homepage,
        "license": info.license,
    }
    for name, value in facts.items():
        if value:
            say(f"{name + ':':13}{value}")
    for line in _splits(info):
        say(line)
    if info.features:
        say("features:")
        for name, feature in info.features.items():
            say(f"  {name}: {feature}")
    return 0


def head(reference: Mapping[str, Any], *, split: str | None, count: int) -> int:
    """Print the first `count` rows as JSON lines."""
    if count < 0:
        raise ConfigurationError(f"--rows {count} is less than none. Give 0 or more.")
    found = load_dataset(**reference, split=split)
    rows = found if split is not None else next(iter(found.values()))
    for row in rows.select(range(min(count, len(rows)))):
        say(json.dumps(row, ensure_ascii=False, default=_printable))
    return 0


def _splits(info: DatasetInfo) -> list[str]:
    return [
        f"  {name}: {counted(split.num_examples or 0, 'row')}, {counted(split.num_bytes or 0, 'byte')} "
        f"in {counted(len(split.shard_lengths or [0]), 'shard')}"
        for name, split in (info.splits or {}).items()
    ]


def _printable(value: object) -> Any:
    """What JSON has no word for: bytes as base64, everything else (dates, decimals) as its text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)
