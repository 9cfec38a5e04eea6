"""`push`: a dataset of this machine, or any other that can be loaded, brought to a repository of the Hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from datasets_core.building.prepared import builder_from_directory
from datasets_core.cli.housekeeping import named_folders
from datasets_core.cli.wording import counted, say
from datasets_core.dataset.group import DatasetDict
from datasets_core.errors import UnknownSplitError
from datasets_core.exchange.saved import is_saved_dataset, is_saved_group
from datasets_core.inspect import get_dataset_config_names
from datasets_core.load import load_dataset, load_from_disk
from datasets_core.store.manifest import read_manifest

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset

_ASKED = ("path", "data_files", "data_dir", "token", "trust_remote_code")


def push(
    reference: Mapping[str, Any],
    repo_id: str,
    *,
    config_name: str | None,
    split: str | None,
    num_shards: int | None,
    num_proc: int | None,
    **how: Any,
) -> int:
    """Push a dataset and say where the commit is.

    Args:
        reference: what `load_dataset` takes; its path may be a saved folder, a built one, or a name as `cache ls` prints it.
        repo_id: `org/name`, or `name` for one of the user's own.
        config_name: the config to push: of several that the dataset has it is the one that is read.
        split: a split expression; all splits if None.
        num_shards: files of each split.
        num_proc: processes that build and write.
        how: other arguments of `push_to_hub`.
    """
    found, own = _opened(reference, config_name, split, num_proc)
    options = {"config_name": config_name or own, "num_proc": num_proc, **how}
    options = {name: value for name, value in options.items() if value is not None}
    if isinstance(found, DatasetDict):
        if num_shards is not None:
            options["num_shards"] = dict.fromkeys(found, num_shards)
        made = found.push_to_hub(repo_id, **options)
        rows = {name: len(each) for name, each in found.items()}
    else:
        name = "train" if split is None and found.split is None else str(split or found.split).partition("[")[0]
        made = found.push_to_hub(repo_id, split=name, num_shards=num_shards, **options)
        rows = {name: len(found)}
    say(made.pr_url or made.commit_url)
    for name, count in rows.items():
        say(f"  {name}: {counted(count, 'row')}")
    return 0


def _opened(
    reference: Mapping[str, Any], config_name: str | None, split: str | None, num_proc: int | None
) -> tuple[Dataset | DatasetDict, str | None]:
    """The rows, and the config that they are of, where that has a name."""
    path = os.fspath(reference["path"])
    is_folder = os.path.isdir(path)
    if is_folder and (is_saved_group(path) or is_saved_dataset(path)):
        saved = load_from_disk(path)
        if split is None or not isinstance(saved, DatasetDict):
            return saved, None
        if split not in saved:
            raise UnknownSplitError(split, known=saved)
        return saved[split], None
    built = [path] if is_folder and read_manifest(path) is not None else []
    if not os.path.exists(path):
        built = named_folders(path)
    if len(built) == 1:
        builder = builder_from_directory(built[0])
        return builder.as_dataset(split), builder.config.name
    configs = get_dataset_config_names(**{name: reference[name] for name in _ASKED if reference.get(name) is not None})
    if config_name is not None and (len(configs) > 1 or config_name in configs):  # one that has no name is called anything
        reference = {**reference, "name": config_name}
    return load_dataset(**reference, split=split, num_proc=num_proc), None
