"""`croissant`: a dataset described for other tools, as JSON-LD."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.cli.wording import say
from datasets_core.files import is_url, new_file, write_atomically
from datasets_core.inspect import get_dataset_config_names
from datasets_core.load import load_dataset_builder
from datasets_core.meta.info import DatasetInfo, infos_to_croissant

_SOURCE = ("path", "data_files", "data_dir", "revision", "token", "storage_options", "trust_remote_code")


def describe_files(reference: Mapping[str, Any], *, splits: Sequence[str] | None, output: str | None) -> int:
    """Write the Croissant description of a dataset, of all its configs where none is named.

    A config is built where its columns or the hashes of its files are not known without that.
    """
    names = [reference["name"]] if reference.get("name") is not None else get_dataset_config_names(**_of_source(reference))
    builders = [load_dataset_builder(**{**reference, "name": name}) for name in names]
    infos = list(map(_known_info, builders))
    told = infos_to_croissant(infos, _folder(output, builders), splits)
    text = json.dumps(told, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        say(text.rstrip())
        return 0
    if is_url(output):
        with new_file(output) as file:
            file.write(text.encode())
    else:
        write_atomically(output, text.encode())
    say(output)
    folder = os.path.dirname(os.path.abspath(output))
    if not is_url(output) and (missing := _not_beside(told, folder)) is not None:
        say(f"datasets-core: its paths start at the folder of the data: there is no {missing} in {folder}", file=sys.stderr)
    return 0


def _of_source(reference: Mapping[str, Any]) -> dict[str, Any]:
    """The words that say where a dataset is, and none for its config."""
    return {key: value for key, value in reference.items() if key in _SOURCE}


def _folder(output: str | None, builders: Sequence[DatasetBuilder]) -> str | None:
    """Where paths are to start: beside the description, or for shards of several configs where all of them are below."""
    if output is not None and not is_url(output):
        return os.path.dirname(os.path.abspath(output))
    return os.path.commonpath([builder.cache_dir for builder in builders]) if len(builders) > 1 else None


def _known_info(builder: DatasetBuilder) -> DatasetInfo:
    info = builder.info
    if info.features is None or not info.splits or _lacks_hashes(info):
        builder.download_and_prepare()
    return builder.info


def _lacks_hashes(info: DatasetInfo) -> bool:
    told = info.to_croissant()
    return any("sha256" not in node for node in told["distribution"] if node["@type"] == "cr:FileObject")


def _not_beside(told: Mapping[str, Any], folder: str) -> str | None:
    """The first file that the description names beside itself and that is not there."""
    for node in told["distribution"]:
        address = node.get("contentUrl")
        if address is not None and not is_url(address) and not os.path.isfile(os.path.join(folder, address)):
            return str(address)
    return None
