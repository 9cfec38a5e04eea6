"""What a card says, as values: its configs, and what it records of each."""

from __future__ import annotations

import abc
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from datasets_core.meta.info import DatasetInfo

_CONFIG_NAME = re.compile(r"(?!\.{1,2}$)[^<>:/\\|?*\x00-\x1f\x7f]{1,255}")


_OPTIONS = (
    "batch_size block_size chunksize coerce_float column_names columns comment comment_prefix compression "
    "compression_type con converters date_format decimal decode_num_threads delimiter dialect doublequote drop_labels "
    "drop_metadata embed_files encoding encoding_errors engine error_bad_lines escapechar false_values features field "
    "filters float_precision fragment_scan_options header index_col keep_default_na keep_linebreaks lineterminator "
    "low_memory mangle_dupe_cols max_batch_bytes memory_map message metadata_filenames na_filter na_values names "
    "newlines_in_values nrows on_bad_files on_bad_lines on_mixed_types params parse_agent_traces parse_dates prefix "
    "quotechar quoting sample_by sep sequence_spec skip_blank_lines skip_docstart skipfooter skipinitialspace skiprows "
    "spec sql thousands true_values use_threads usecols verbose verify warn_bad_lines"
)
BUILDER_OPTIONS = frozenset(_OPTIONS.split())
"""What an entry says to the builders of this library of how files are read: of other files it would say something else."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One item of `configs:`.

    Attributes:
        name: the config's name.
        data_files: patterns by split, relative to the repository; None where the card names none.
        data_dir: folder inside the repository, if one is named.
        default: whether the card calls it the default.
        version: version, if one is named.
        options: everything else, for the builder's config; `features` as a `Features`.
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
    infos: Mapping[str, DatasetInfo] = field(default_factory=dict)

    @property
    def default_config(self) -> str | None:
        """The config that is meant where none is named: the one marked so, one called `default`, or the only one."""
        marked = [entry.name for entry in self.configs if entry.default]
        named = [entry.name for entry in self.configs if entry.name == "default"]
        only = [entry.name for entry in self.configs] if len(self.configs) == 1 else []
        return next(iter(marked + named + only), None)

    def merge(self, other: Card) -> Card:
        """Both cards as one; where both speak of a config, `other` has the word."""
        configs = {entry.name: entry for entry in [*self.configs, *other.configs]}
        return Card(list(configs.values()), joined(self.infos, other.infos))


class LazyInfos(Mapping[str, DatasetInfo]):
    """Infos by config, each made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, DatasetInfo | None] = {}

    @abc.abstractmethod
    def one(self, name: str) -> DatasetInfo | None:
        """The info of one config; None where there is none."""

    @abc.abstractmethod
    def every(self) -> dict[str, DatasetInfo]:
        """All of them."""

    def __getitem__(self, name: str) -> DatasetInfo:
        if name not in self._made:
            self._made[name] = self.one(name)
        found = self._made[name]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.every())

    def __len__(self) -> int:
        return len(self.every())


def is_config_name(name: object) -> bool:
    """Whether a card may call a config so: the name becomes that of a folder.

    >>> is_config_name("en-1.0"), is_config_name("a/b"), is_config_name(".."), is_config_name("a\\nb")
    (True, False, False, False)
    """
    return isinstance(name, str) and _CONFIG_NAME.fullmatch(name) is not None


def joined(*infos: Mapping[str, DatasetInfo]) -> Mapping[str, DatasetInfo]:
    """Several infos by config as one; where two speak of a config, the last one has the word, and no other is looked at.

    >>> from datasets_core import DatasetInfo
    >>> joined({"a": DatasetInfo("x"), "b": DatasetInfo("y")}, {"a": DatasetInfo("z")})["a"].description
    'z'
    """
    if all(isinstance(each, dict) for each in infos):
        return {name: info for each in infos for name, info in each.items()}
    return ChainMap(*(each for each in reversed(infos)))  # type: ignore[arg-type]  # nothing is written into it
