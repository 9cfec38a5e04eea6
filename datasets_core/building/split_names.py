"""What a builder is asked before any row is made: who fetches its files, and which splits it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from datasets_core.building.author_failures import asked, missed_manual_dir
from datasets_core.building.author_places import hook_place
from datasets_core.building.checks import recorded_downloads
from datasets_core.building.hooks import Builder, SplitGenerator
from datasets_core.building.options import BuildOptions
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ConfigurationError, ManualDownloadError
from datasets_core.fetch.download import DownloadManager
from datasets_core.fetch.download_config import DownloadConfig, DownloadMode
from datasets_core.meta.split import is_split_name


def download_manager(builder: Builder, options: BuildOptions, *, kind: type[DownloadManager] = DownloadManager) -> Any:
    """What fetches the files of a builder, as its user wants."""
    config = options.download_config or DownloadConfig(
        cache_dir=builder.download_dir, token=builder.token, storage_options=builder.storage_options
    )
    if options.mode is DownloadMode.FORCE_REDOWNLOAD:
        config = config.copy()
        config.force_download = config.force_extract = True
    manager = kind(
        dataset_name=builder.dataset_name,
        data_dir=builder.config.data_dir,
        download_config=config,
        base_path=options.base_path,
    )
    manager.verification = options.verification
    if not builder.is_partial:
        manager.expected = recorded_downloads(builder, options.verification)
    return manager


def named_splits(builder: Builder, dl_manager: Any, *, deadline: Deadline | None = None) -> list[SplitGenerator]:
    """The splits that a builder names.

    Args:
        builder: whose.
        dl_manager: fetches what it needs.
        deadline: when its author's code is to be done; a builder that keeps it itself knows it already.

    Raises:
        ManualDownloadError: files have to be fetched by hand.
        DatasetGenerationError, ScriptTimeoutError: the author's code failed, or was not done in time.
        ConfigurationError: it returns something else than splits.
    """
    instructions = builder.manual_download_instructions
    if instructions is not None and getattr(dl_manager, "manual_dir", None) is None:
        raise ManualDownloadError(builder.label, str(instructions))

    def name_them() -> tuple[Any, list[Any] | None]:
        try:
            named = builder.split_generators(dl_manager)
            return named, list(named) if isinstance(named, Iterable) else None
        except TypeError as error:
            if getattr(dl_manager, "misses_manual_dir", False) and "None" in str(error):
                raise missed_manual_dir(error) from error
            raise

    timer = deadline if builder.is_stopped_by_timer else None
    named, splits = asked(builder, timer, name_them, doing="naming its splits", label=builder.label)
    place = hook_place(type(builder), "_split_generators")
    label = f"{builder.label} ({place})" if place else builder.label
    if splits is None:
        raise ConfigurationError(
            f"_split_generators of {label} returns {named!r} ({type(named).__name__}). Return a list of SplitGenerators."
        )
    check_splits(splits, label)
    return splits


def check_splits(splits: Sequence[Any], label: str) -> None:
    """Refuse what is no list of `SplitGenerator`s.

    Raises:
        ConfigurationError: something else is in it, or names that mean nothing.
    """
    for split in splits:
        if not isinstance(split, SplitGenerator):
            raise ConfigurationError(
                f"_split_generators of {label} returns {split!r} ({type(split).__name__}). Return a list of SplitGenerators."
            )
        if not isinstance(split.gen_kwargs, dict):
            raise ConfigurationError(
                f"gen_kwargs of split {split.name!r} of {label} is {split.gen_kwargs!r}. Give a dict of keyword arguments."
            )
    check_split_names([split.name for split in splits], label)


def check_split_names(names: Sequence[str], label: str) -> None:
    """Refuse names that no expression can mean.

    Raises:
        ConfigurationError: no split at all, a name twice, `all`, or a name that is not made of words and points.
    """
    if not names:
        raise ConfigurationError(f"{label} names no splits. Return at least one SplitGenerator from _split_generators.")
    for name in names:
        if not is_split_name(name):
            raise ConfigurationError(f"{label} calls a split {name!r}. Use letters, digits, '_' and '-', and '.' between them.")
        if name.lower() == "all":
            raise ConfigurationError(
                f"{label} calls a split {name!r}, and 'all' means the union of the splits. Choose another name."
            )
        if names.count(name) > 1:
            raise ConfigurationError(f"{label} has two splits called {name!r}. Give each split a name of its own.")
