"""Files of a repository that a push may not take away, since another config reads them and its own does not."""

from __future__ import annotations

from collections.abc import Collection

from datasets_core.errors import ConfigurationError
from datasets_core.meta.config_entries import ConfigEntry
from datasets_core.meta.lazy_card import LazyCard
from datasets_core.meta.patterns import match
from datasets_core.publish.push_target import PushTarget, RepositoryState


def check_replaced(target: PushTarget, state: RepositoryState, replaced: Collection[str]) -> None:
    """Refuse a push that would take away what only another config reads.

    Args:
        target: where it goes.
        state: what the repository says before.
        replaced: the files that the push takes away, or gives new content.

    Raises:
        ConfigurationError: it would.
        ManifestError: the card of the repository is broken.

    >>> card = "---\\nconfigs:\\n- config_name: en\\n  data_files: all/*.parquet\\n---\\n"
    >>> check_replaced(PushTarget("org/name", "de", "all"), RepositoryState(card, None, []), ["all/train-0.parquet"])
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    datasets_core.errors.ConfigurationError: 'all/train-0.parquet' of org/name belongs to the config 'en', and pushing ...
    """
    if not replaced:
        return
    configs = [] if state.yaml is None else LazyCard(state.yaml, path=".huggingface.yaml").configs
    configs = configs or LazyCard(state.readme or "", path="README.md").configs
    own = {path for entry in configs if entry.name == target.config_name for path in _read(entry, replaced, is_own=True)}
    for entry in configs:
        taken = sorted(set(_read(entry, replaced)) - own)
        if taken:
            raise ConfigurationError(
                f"{taken[0]!r} of {target.repo_id} belongs to the config {entry.name!r}, and pushing {target.config_name!r} "
                f"with data_dir={target.data_dir!r} would replace it. Choose another data_dir."
            )


def _read(entry: ConfigEntry, paths: Collection[str], *, is_own: bool = False) -> list[str]:
    """Those of some files that a config reads; one that names none reads what it was pushed to."""
    folder = "" if entry.data_dir is None else f"{entry.data_dir.strip('/')}/"
    patterns = [pattern for named in (entry.data_files or {}).values() for pattern in named]
    if not patterns and (folder or is_own):
        patterns = ["**"]
    return [path for pattern in patterns for path in _matched(folder + pattern.removeprefix("./"), paths)]


def _matched(pattern: str, paths: Collection[str]) -> list[str]:
    try:
        return match(pattern, paths)
    except ConfigurationError:  # it means nothing, and so reads nothing
        return []
