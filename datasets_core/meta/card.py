"""What the author of a repository wrote about it: the card's YAML, `dataset_infos.json`, `checksums.tsv`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from datasets_core.meta.info import DatasetInfo


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One item of `configs:`.

    Attributes:
        name: the config's name.
        data_files: patterns by split, relative to the repository; None where the card names none.
        data_dir: folder inside the repository, if one is named.
        default: whether the card calls it the default.
        version: version, if one is named.
        options: everything else, for the builder's config.
    """

    name: str
    data_files: dict[str, list[str]] | None = None
    data_dir: str | None = None
    default: bool = False
    version: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its configs in their order, and what it records by config name."""

    configs: list[ConfigEntry] = field(default_factory=list)
    infos: dict[str, DatasetInfo] = field(default_factory=dict)
