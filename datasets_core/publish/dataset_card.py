"""What a repository says of a config after a push: its card, and the `dataset_infos.json` of repositories that have one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from datasets_core.errors import ConfigurationError, ManifestError
from datasets_core.features.schema import Features
from datasets_core.meta.card import read_dataset_infos
from datasets_core.meta.card_text import Edit, edited_card
from datasets_core.meta.config_entries import ConfigEntry
from datasets_core.meta.info import DatasetInfo, parse_json
from datasets_core.meta.lazy_card import LazyCard
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.publish.push_target import PushedSplit, PushTarget, RepositoryState, RepositoryTexts, WriteCard

_CARD, _INFOS = "README.md", "dataset_infos.json"
_SHARD = re.compile(r"(?P<split>\w+(?:\.\w+)*)-[0-9]{5}-of-[0-9]{5}[^/]*\.parquet")
_GENERAL = frozenset({"config_name", "version", "default", "description"})  # options that do not tell how files are read


def card_writer(target: PushTarget, features: Features | None) -> WriteCard:
    """What writes the texts of a repository for a push.

    Args:
        target: where the splits go.
        features: of their columns; None leaves them out, as a check before the first row may.

    Raises:
        ConfigurationError: when it is called: the repository has other features for other splits of the config, or the config
            cannot be the default one.
        ManifestError: when it is called: the card, or `dataset_infos.json`, is broken.

    >>> from datasets_core import Features, Value
    >>> writer = card_writer(PushTarget("org/name"), Features({"a": Value("int8")}))
    >>> print(writer(RepositoryState("# Title", None, []), [PushedSplit("train", 3, 3, 900, 0)]).readme)
    ---
    dataset_info:
      features:
      - name: a
        dtype: int8
      splits:
      - name: train
        num_bytes: 3
        num_examples: 3
      download_size: 900
      dataset_size: 3
    configs:
    - config_name: default
      data_files:
      - split: train
        path: data/train-*
    ---
    # Title
    """
    return partial(_texts, target, features)


def _texts(
    target: PushTarget, features: Features | None, state: RepositoryState, splits: Sequence[PushedSplit]
) -> RepositoryTexts:
    card = LazyCard(state.readme or "", path=_CARD)
    infos = {} if state.dataset_infos is None else read_dataset_infos(state.dataset_infos, path=_INFOS)
    merge = _Merge(target, card.configs, card.get(target.config_name) or infos.get(target.config_name), state.paths)
    files = merge.data_files(splits)
    info = merge.info(features, splits, files)
    edits = {"dataset_info": {target.config_name: _info_edit(info)}, "configs": merge.configs(files)}
    readme = edited_card(state.readme, edits)
    if target.config_name not in infos or state.dataset_infos is None:
        return RepositoryTexts(readme)
    return RepositoryTexts(readme, _infos_text(state.dataset_infos, target.config_name, infos[target.config_name], info))


@dataclass(frozen=True, slots=True)
class _Merge:
    """One config of a repository, before and after a push.

    Attributes:
        target: where the push goes.
        configs_before: those of the card.
        before: what is recorded of the config.
        paths: the files of the repository.
    """

    target: PushTarget
    configs_before: Sequence[ConfigEntry]
    before: DatasetInfo | None
    paths: Sequence[str]

    @property
    def entry(self) -> ConfigEntry | None:
        """The config as the card has it."""
        return next((entry for entry in self.configs_before if entry.name == self.target.config_name), None)

    # -- splits --------------------------------------------------------------------------------------------------------

    def data_files(self, splits: Sequence[PushedSplit]) -> dict[str, list[str]]:
        """The patterns of each split that the config has afterwards."""
        kept = {} if self.target.replaces_config else self._files_before()
        return {**kept, **{split.name: [self.target.pattern(split.name)] for split in splits}}

    def _files_before(self) -> dict[str, list[str]]:
        entry = self.entry
        if entry is not None:
            folder = "" if entry.data_dir is None else f"{entry.data_dir.rstrip('/')}/"
            return {split: [folder + path for path in paths] for split, paths in (entry.data_files or {}).items()}
        if self.configs_before or self.target.config_name != "default":
            return {}
        # A repository that was pushed to before cards named configs: its splits are those of its shards.
        found = [_SHARD.fullmatch(path.removeprefix("data/")) for path in self.paths if path.startswith("data/")]
        names = dict.fromkeys(match["split"] for match in found if match)
        return {split: [f"data/{split}-*"] for split in names}

    def info(self, features: Features | None, splits: Sequence[PushedSplit], files: Mapping[str, object]) -> DatasetInfo:
        """What is recorded of the config afterwards; splits and sizes only where they are known of all splits."""
        pushed = {split.name: split for split in splits}
        old = {} if self.before is None or self.before.splits is None else dict(self.before.splits)
        others = [name for name in files if name not in pushed]
        if others and self.before is not None and features is not None:
            self._check_features(features, others)
        info = DatasetInfo(config_name=self.target.config_name, features=features)
        if any(name not in old for name in others):
            return info
        info.splits = SplitDict.from_split_dict(
            [_split_info(pushed[name]) if name in pushed else old[name] for name in _in_order(old, files)]
        )
        info.dataset_size = sum(split.num_bytes or 0 for split in info.splits.values())
        info.download_size = sum(split.file_bytes for split in splits)
        if others:
            before = self.before.download_size if self.before is not None else None
            kept = None if before is None else before - sum(split.replaced_bytes for split in splits if split.name in old)
            info.download_size = None if kept is None else info.download_size + max(0, kept)
        return info

    def _check_features(self, features: Features, others: Sequence[str]) -> None:
        found = None if self.before is None else self.before.features
        if found is None or found == Features.from_yaml_list(features.to_yaml_list()):
            return
        names = ", ".join(map(repr, others))
        raise ConfigurationError(
            f"The config {self.target.config_name!r} of {self.target.repo_id} has other features in its splits {names}: "
            f"{dict(found)}, and what is pushed has {dict(features)}. Cast it, push all splits, or choose another config_name."
        )

    # -- configs -------------------------------------------------------------------------------------------------------

    def configs(self, files: Mapping[str, Sequence[str]]) -> dict[str, Edit]:
        """The changes of `configs:`."""
        name, entry = self.target.config_name, self.entry
        listed = [{"split": split, "path": paths[0] if len(paths) == 1 else [*paths]} for split, paths in files.items()]
        values: dict[str, Any] = {"data_files": listed}
        dropped = frozenset({"data_dir"}) | (frozenset() if entry is None else _of_other_files(entry))
        marked = [other.name for other in self.configs_before if other.default and other.name != name]
        names = [other.name for other in self.configs_before]
        if name == "default":
            dropped |= {"default"}  # it is the default one by its name
            if marked and not self.target.set_default:
                raise ConfigurationError(
                    f"The card of {self.target.repo_id} marks the config {marked[0]!r} as the default one, and a config called "
                    "'default' would be that by its name. Push with set_default=True, or with another config_name."
                )
        elif self.target.set_default:
            if "default" in names:
                raise ConfigurationError(
                    f"{self.target.repo_id} has a config called 'default', which is the default one by its name. "
                    "Rename or remove it first, or push without set_default."
                )
            values["default"] = True
        elif self.target.set_default is False:
            dropped |= {"default"}
        edits = {name: Edit(values, dropped)}
        if self.target.set_default:
            edits |= {other: Edit(dropped=frozenset({"default"})) for other in marked}
        return edits


def _of_other_files(entry: ConfigEntry) -> frozenset[str]:
    """The options of a config that tell how files are read, and features, where its files were no Parquet."""
    patterns = [pattern for paths in (entry.data_files or {"": [""]}).values() for pattern in paths]
    is_parquet = entry.data_files is not None and all(re.search(r"(\.parquet|/[^/.]+-\*)$", pattern) for pattern in patterns)
    return (frozenset({"features"}) if is_parquet else frozenset(entry.options)) - _GENERAL


def _in_order(old: Mapping[str, object], files: Mapping[str, object]) -> list[str]:
    """The splits that stand, in the order in which they were recorded, and new ones behind."""
    return [*(name for name in old if name in files), *(name for name in files if name not in old)]


def _split_info(split: PushedSplit) -> SplitInfo:
    return SplitInfo(split.name, num_bytes=split.num_bytes, num_examples=split.num_rows)


def _info_edit(info: DatasetInfo) -> Edit:
    form = info.to_yaml_dict()
    form.pop("config_name", None)
    return Edit(form, frozenset({"features", "splits", "download_size", "dataset_size"}) - form.keys())


def _infos_text(text: str, config: str, before: DatasetInfo, info: DatasetInfo) -> str:
    """The old `dataset_infos.json` with one config changed."""
    form = parse_json(text, path=_INFOS)
    if not isinstance(form, dict):
        raise ManifestError(_INFOS, "it does not hold an object of infos by config name")
    after = before.copy()
    after.config_name, after.features, after.splits = config, info.features, info.splits
    after.download_size, after.dataset_size, after.download_checksums = info.download_size, info.dataset_size, None
    known = info.download_size is not None and info.dataset_size is not None
    after.size_in_bytes = (info.download_size or 0) + (info.dataset_size or 0) if known else None
    form[config] = after.to_dict()
    return json.dumps(form, indent=4 if text.startswith("{\n") else None)
