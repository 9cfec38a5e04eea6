"""Card and recorded splits of a repository after a push, merged with the existing ones."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from datasets_core.errors import ConfigurationError, DataFilesWarning, DatasetsCoreError, ManifestError, PushError
from datasets_core.features.schema import Features
from datasets_core.io.push_target import PushedSplit, PushTarget, RepositoryState, RepositoryTexts, WriteCard
from datasets_core.meta import data_files
from datasets_core.meta.card import read_dataset_infos, way_out
from datasets_core.meta.card_edit import Edit, edited_card
from datasets_core.meta.card_sections import LazyCard
from datasets_core.meta.info import BUILDER_OPTIONS, ConfigEntry, DatasetInfo, parse_json
from datasets_core.meta.listings import COMPRESSION, FORMATS, extensions
from datasets_core.meta.split_info import SplitDict, SplitInfo

# The splits of a repository that its card does not name: their files, formats, and globs for the card.


PARQUET = "parquet"
_ARCHIVES = frozenset((".zip", ".tar", ".tgz"))
_SPLIT = re.compile(r"\w+(\.\w+)*")
_SHARD = re.compile(r"(?P<head>.*-)[0-9]{5}-of-[0-9]{5}[^/]*", re.DOTALL)
_PAPERS, _PICTURES = frozenset(("text", "pdffolder")), frozenset(("imagefolder",))  # files such as licences, notes or a logo
_FORMATS = tuple(dict.fromkeys(FORMATS.values()))
_FEW = 20


@dataclass(frozen=True, slots=True)
class ExistingSplit:
    """A split detected by its files.

    Attributes:
        files: its data files.
        format: format of these files; None for unknown formats.
        others: files that accompany the data.
    """

    files: Sequence[str]
    format: str | None
    others: Sequence[str] = field(default=())

    @classmethod
    def of(cls, paths: Sequence[str]) -> ExistingSplit:
        """Return the split of these files in the most frequent format; archives are used only without other files.

        >>> ExistingSplit.of(["a.csv", "b.parquet", "c.csv", "d.md"])
        ExistingSplit(files=['a.csv', 'c.csv'], format='csv', others=[])
        """
        formats = {path: found for path in paths if (found := _format_of(path)) is not None}
        telling = [path for path in formats if not _is_metadata(path)] or [*formats]
        counts = Counter(formats[path] for path in telling)
        if len(counts) > 1:
            counts.pop("", None)
        if not counts:
            return cls((), None)
        best = min(counts, key=lambda name: (-counts[name], _FORMATS.index(name) if name else 0))
        chosen = [path for path in telling if formats[path] == best]
        return cls(chosen, best or "archive", [path for path in formats if path not in telling])


def existing_splits(paths: Sequence[str], folder: str = "") -> dict[str, ExistingSplit]:
    """Return the splits that loading detects in a folder of a repository whose card names none.

    Args:
        paths: all files of the repository.
        folder: the folder, or the root.

    Returns:
        The splits that a card can name, in order; empty if loading detects no readable splits.

    >>> existing_splits(["more/test.csv", "README.md"])
    {'test': ExistingSplit(files=['more/test.csv'], format='csv', others=[])}
    """
    base = f"{folder.strip('/')}/" if folder.strip("/") else ""
    inside = [path[len(base) :] for path in paths if path.startswith(base) and way_out(path) is None]
    try:
        named = data_files.infer_splits(inside)
    except ConfigurationError:  # cannot be loaded, so there is nothing to keep
        return {}
    metadata = [path for path in inside if _is_metadata(path) and _format_of(path)]
    found = {}
    for name, files in named.items():
        split = ExistingSplit.of([*files, *(path for path in metadata if path not in set(files))])
        if split.format is None or not _SPLIT.fullmatch(name) or _only_accompanies_data(split, files):
            continue
        others = split.others if split.format != PARQUET else ()
        found[name] = ExistingSplit([base + path for path in split.files], split.format, [base + path for path in others])
    return found


def named_files(globs: Iterable[str], paths: Sequence[str]) -> list[str]:
    """Return the files that match globs of a card; a glob without matches is kept as it is.

    >>> named_files(["a/*", "b.csv"], ["a/x", "c"])
    ['a/x', 'b.csv']
    """
    found: dict[str, None] = {}
    for glob in globs:
        plain = glob.removeprefix("./")
        found.update(dict.fromkeys([plain] if plain in paths else data_files.match(plain, paths) or [plain]))
    return [*found]


def globs_of(split: ExistingSplit, paths: Iterable[str], avoided: Collection[str]) -> list[str]:
    """Return globs that match exactly the files of a split.

    Args:
        split: the split.
        paths: all files of the repository.
        avoided: files that must not match, though they do not exist yet.

    >>> files = [f"data/train-{n:05d}-of-00003.parquet" for n in range(3)]
    >>> globs_of(ExistingSplit(files, "parquet"), files, [])
    ['data/train-*']
    """
    wanted = [*split.files, *split.others]
    return _Globs(set(wanted), [*paths, *avoided]).of(sorted(wanted))


@dataclass(frozen=True, slots=True)
class _Globs:
    wanted: set[str]
    paths: Sequence[str]

    def of(self, files: Sequence[str], folder: str = "") -> list[str]:
        shards: dict[str, list[str]] = {}
        for path in files:
            head = _SHARD.fullmatch(path)
            shards.setdefault(f"{_plain(head['head'])}*" if head else "", []).append(path)
        whole = {glob: held for glob, held in shards.items() if glob and self._fits(glob)}
        held = {path for each in whole.values() for path in each}
        left = [path for path in files if path not in held]
        firsts = {each[0]: glob for glob, each in whole.items()}
        if len(left) > _FEW:
            return self._by_folder(files, folder)
        firsts |= {path: _plain(path) for path in left}
        return [firsts[path] for path in sorted(firsts)]

    def _by_folder(self, files: Sequence[str], folder: str) -> list[str]:
        if folder and self._fits(f"{_plain(folder)}**"):
            return [f"{_plain(folder)}**"]
        parts: dict[str, list[str]] = {}
        for path in files:
            name, slash, _ = path[len(folder) :].partition("/")
            ending = "." + name.rpartition(".")[2]
            parts.setdefault(f"{folder}{name}/" if slash else f"*{ending}", []).append(path)
        found = []
        for part, held in parts.items():
            if part.startswith("*"):
                glob = f"{_plain(folder)}{part}"
                found += [glob] if len(held) > 1 and self._fits(glob) else [_plain(path) for path in held]
            else:
                found += self.of(held, part) if len(held) <= _FEW else self._by_folder(held, part)
        return found

    def _fits(self, glob: str) -> bool:
        return self.wanted.issuperset(data_files.match(glob, self.paths))


def _plain(path: str) -> str:
    """Return a glob that matches only this path."""
    return re.sub(r"[*?\[]", r"[\g<0>]", path)


def _format_of(path: str) -> str | None:
    """Return the format of a file by its extension; '' for an archive."""
    found = [*extensions(path)]
    known = next((FORMATS[each] for each in found if each in FORMATS and each not in COMPRESSION), None)
    return known or ("" if _ARCHIVES.intersection(found) else None)


def _is_metadata(path: str) -> bool:
    return path.rpartition("/")[2].startswith("metadata.")


def _only_accompanies_data(split: ExistingSplit, files: Sequence[str]) -> bool:
    """Return True if a split has only files that usually accompany data."""
    is_logo = split.format in _PICTURES and not any("/" in path for path in files)
    return (is_logo or split.format in _PAPERS) and "0" in data_files.infer_splits([*files, "0"]).get("train", ())


DEFAULT = "default"
_CARD, _INFOS, _YAML = "README.md", "dataset_infos.json", ".huggingface.yaml"


def card_writer(target: PushTarget, features: Features | None) -> WriteCard:
    """Return the function that writes the card and metadata of a repository for a push.

    Args:
        target: target of the splits.
        features: features of their columns; None to omit them, for a check before the first row.

    Raises:
        ConfigurationError: on call: other splits of the config have different features or files of another format, or the
            config cannot be the default.
        ManifestError: on call: the card, or `dataset_infos.json`, is invalid.
        PushError: on call: the card could not be read afterwards.

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
    card, yaml = LazyCard(state.readme or "", path=_CARD), None if state.yaml is None else LazyCard(state.yaml, path=_YAML)
    infos = {} if state.dataset_infos is None else read_dataset_infos(state.dataset_infos, path=_INFOS)
    for text, path in ((state.readme, _CARD), (state.yaml, _YAML)):
        if text is not None:
            edited_card(text, {}, path=path)  # raises for any error in the card
    name = target.config_name
    configs_above = [] if yaml is None else yaml.configs  # they replace those of the card
    before = (None if yaml is None else yaml.get(name)) or card.get(name) or infos.get(name)
    merge = _Merge(target, configs_above or card.configs, before, state.paths)
    files = merge.data_files(splits)
    info = merge.info(features, splits, files)
    configs, about = merge.configs(files, splits, features), {name: _info_edit(info)}
    readme = edited_card(state.readme, {"dataset_info": about, "configs": {} if configs_above else configs})
    texts = RepositoryTexts(readme)
    if state.yaml is not None and yaml is not None:
        said = {"dataset_info": about if len(yaml) else {}, "configs": configs if configs_above else {}}
        texts = replace(texts, yaml=edited_card(state.yaml, said, path=_YAML))
    _check_read(target, (texts.yaml, _YAML) if configs_above and texts.yaml else (readme, _CARD), files)
    if name not in infos or state.dataset_infos is None:
        return texts
    return replace(texts, dataset_infos=_infos_text(state.dataset_infos, name, infos[name], info))


def _check_read(target: PushTarget, home: tuple[str, str], files: Mapping[str, Sequence[str]]) -> None:
    """Raise an error if the new card could not be read.

    Raises:
        PushError: the card cannot be read, or names other files for the config.
    """
    text, path = home
    reason = "names other files for it"
    try:
        card = LazyCard(text, path=path)
        found = next((entry for entry in card.configs if entry.name == target.config_name), None)
        card.get(target.config_name)
    except DatasetsCoreError as error:
        found, reason = None, str(error)
    if found is None or found.data_files != files or found.data_dir is not None:
        raise PushError(
            target.repo_id,
            f"would get a {path} that does not describe the pushed config {target.config_name!r} correctly: it {reason}",
            "Use other names for config, splits and data_dir",
        )


@dataclass(frozen=True, slots=True)
class _Merge:
    """One config of a repository, before and after a push.

    Attributes:
        target: target of the push.
        configs_before: the configs of the card.
        before: the recorded info of the config.
        paths: the files of the repository.
    """

    target: PushTarget
    configs_before: Sequence[ConfigEntry]
    before: DatasetInfo | None
    paths: Sequence[str]

    @property
    def entry(self) -> ConfigEntry | None:
        """The config in the card."""
        return next((entry for entry in self.configs_before if entry.name == self.target.config_name), None)

    # -- splits --------------------------------------------------------------------------------------------------------

    def data_files(self, splits: Sequence[PushedSplit]) -> dict[str, list[str]]:
        """Return the patterns of each split of the config after the push."""
        kept = {} if self.target.replaces_config else self._files_before(splits)
        return {**kept, **{split.name: [self.target.pattern(split.name)] for split in splits}}

    def _files_before(self, splits: Sequence[PushedSplit]) -> dict[str, list[str]]:
        """Return the patterns of each existing split of the config; splits that are not pushed must be Parquet."""
        entry = self.entry
        pushed = {split.name for split in splits}
        if entry is None and (self.configs_before or self.target.config_name != DEFAULT):
            return {}
        if entry is not None and entry.data_files is not None:
            folder = "" if entry.data_dir is None else f"{entry.data_dir.rstrip('/')}/"
            found = {split: [folder + path for path in paths] for split, paths in entry.data_files.items()}
            for split in found.keys() - pushed:
                self._check_format(split, ExistingSplit.of(named_files(found[split], self.paths)))
            return found
        existing = {} if self._has_script else existing_splits(self.paths, (entry and entry.data_dir) or "")
        others = {split: held for split, held in existing.items() if split not in pushed and held.format != PARQUET}
        for split, held in others.items():
            if entry is None:
                self._warn_of(split, held)
            else:
                self._check_format(split, held)
        return self._named({split: held for split, held in existing.items() if split not in others}, splits)

    def _check_format(self, split: str, existing: ExistingSplit) -> None:
        if existing.format in (None, PARQUET):
            return
        raise ConfigurationError(
            f"The config {self.target.config_name!r} of {self.target.repo_id} reads its split {split!r} as {existing.format} "
            f"({existing.files[0]}), but pushed files are Parquet, and all splits of a config must have the same format",
            advice="Choose another config_name, push all splits together as a DatasetDict, or remove the existing split",
        )

    def _warn_of(self, split: str, existing: ExistingSplit) -> None:
        """Warn that files outside the card's patterns are no longer a split, since all splits of a config have one format."""
        warnings.warn(
            f"{existing.files[0]} of {self.target.repo_id} is {existing.format}, and was detected as split {split!r}. "
            f"The file is kept, but is no longer a split of {self.target.config_name!r}, which is now Parquet. "
            "Push that split as well, or add it to the card as a separate config.",
            DataFilesWarning,
            stacklevel=2,
        )

    def default_splits(self, splits: Sequence[PushedSplit]) -> dict[str, ExistingSplit]:
        """Return the splits that load as the config `default` by their file names, but would not if the card had configs."""
        if self.configs_before or self.target.config_name == DEFAULT or self._has_script:
            return {}
        inside = re.escape(self.target.data_dir)
        replaced = [re.compile(f"{inside}/{re.escape(split.name)}-[^/]*") for split in splits]
        if self.target.replaces_config:
            replaced.append(re.compile(rf"{inside}/[^/]*-\d{{5,}}-of-\d{{5,}}[^/]*\.parquet"))
        found = existing_splits([path for path in self.paths if not any(each.fullmatch(path) for each in replaced)])
        return found if len({each.format for each in found.values()}) == 1 else {}  # a different split cannot be loaded

    def _named(self, existing: Mapping[str, ExistingSplit], splits: Sequence[PushedSplit]) -> dict[str, list[str]]:
        new = [f"{self.target.data_dir}/{split.name}-00000-of-00001.parquet" for split in splits]
        return {name: globs_of(split, self.paths, new) for name, split in existing.items()}

    @property
    def _has_script(self) -> bool:
        """True if the repository is a script, which defines its splits."""
        return f"{self.target.repo_id.rpartition('/')[2]}.py" in self.paths

    def info(self, features: Features | None, splits: Sequence[PushedSplit], files: Mapping[str, object]) -> DatasetInfo:
        """Return the info of the config after the push; with splits and sizes only if known for all splits."""
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
            f"{dict(found)}, but pushed splits have {dict(features)}",
            advice="Cast them, push all splits, or use another config_name",
        )

    # -- configs -------------------------------------------------------------------------------------------------------

    def configs(
        self, files: Mapping[str, Sequence[str]], splits: Sequence[PushedSplit], features: Features | None
    ) -> dict[str, Edit]:
        """Return the changes of `configs:`."""
        name, entry = self.target.config_name, self.entry
        unnamed = self.default_splits(splits)
        values: dict[str, Any] = {"data_files": _listed(files)}
        dropped = BUILDER_OPTIONS | {"data_dir"}
        columns = None if entry is None or len(files) == len(splits) else entry.options.get("columns")
        if isinstance(columns, list) and features is not None and features.keys() <= set(columns):
            dropped -= {"columns"}  # the pattern of the remaining splits; it does not hide pushed files
        marked = [other.name for other in self.configs_before if other.default and other.name != name]
        names = [*(other.name for other in self.configs_before), *([DEFAULT] if unnamed else [])]
        if name == DEFAULT:
            dropped |= {"default"}  # its name makes it the default
            if marked and not self.target.set_default:
                raise ConfigurationError(
                    f"The card of {self.target.repo_id} marks the config {marked[0]!r} as the default, but a config named "
                    "'default' is also the default by its name",
                    advice="Push with set_default=True, or another config_name",
                )
        elif self.target.set_default:
            if DEFAULT in names:
                raise ConfigurationError(
                    f"{self.target.repo_id} has a config named 'default', which is the default by its name",
                    advice="Rename or remove it first, or omit set_default",
                )
            values["default"] = True
        elif self.target.set_default is False:
            dropped |= {"default"}
        edits = {name: Edit(values, dropped)}
        if unnamed:
            # Other libraries read all configs in the format of the first: if formats differ, the pushed config is first.
            is_last = any(split.format != PARQUET for split in unnamed.values())
            edits[DEFAULT] = Edit({"data_files": _listed(self._named(unnamed, splits))}, is_last=is_last)
        if self.target.set_default:
            edits |= {other: Edit(dropped=frozenset({"default"})) for other in marked}
        return edits


def _listed(files: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [{"split": split, "path": paths[0] if len(paths) == 1 else [*paths]} for split, paths in files.items()]


def _in_order(old: Mapping[str, object], files: Mapping[str, object]) -> list[str]:
    """Return the existing splits in recorded order, then new ones."""
    return [*(name for name in old if name in files), *(name for name in files if name not in old)]


def _split_info(split: PushedSplit) -> SplitInfo:
    return SplitInfo(split.name, num_bytes=split.num_bytes, num_examples=split.num_rows)


def _info_edit(info: DatasetInfo) -> Edit:
    form = info.to_yaml_dict()
    form.pop("config_name", None)
    return Edit(form, frozenset({"features", "splits", "download_size", "dataset_size"}) - form.keys())


def _infos_text(text: str, config: str, before: DatasetInfo, info: DatasetInfo) -> str:
    """Return the old `dataset_infos.json` with one config changed."""
    form = parse_json(text, path=_INFOS)
    if not isinstance(form, dict):
        raise ManifestError(_INFOS, "it is not an object of infos by config name")
    after = before.copy()
    after.config_name, after.features, after.splits = config, info.features, info.splits
    after.download_size, after.dataset_size, after.download_checksums = info.download_size, info.dataset_size, None
    known = info.download_size is not None and info.dataset_size is not None
    after.size_in_bytes = (info.download_size or 0) + (info.dataset_size or 0) if known else None
    form[config] = after.to_dict()
    return json.dumps(form, indent=4 if text.startswith("{\n") else None)
