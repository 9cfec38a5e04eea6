"""`croissant`: a dataset described for other tools, as JSON-LD."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from datasets_core.cli.wording import say
from datasets_core.files import is_url, new_file, write_atomically
from datasets_core.load import load_dataset_builder
from datasets_core.meta.info import DatasetInfo


def describe_files(reference: Mapping[str, Any], *, splits: Sequence[str] | None, output: str | None) -> int:
    """Write the Croissant description of a dataset; it is built where its columns or hashes are not known without that."""
    builder = load_dataset_builder(**reference)
    info = builder.info
    folder = None if output is None or is_url(output) else os.path.dirname(os.path.abspath(output))
    if info.features is None or not info.splits or _lacks_hashes(info):
        builder.download_and_prepare()
        info = builder.info
    told = info.to_croissant(folder, splits)
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
    if folder is not None and (missing := _not_beside(told, folder)) is not None:
        say(f"datasets-core: its paths start at the folder of the data: there is no {missing} in {folder}", file=sys.stderr)
    return 0


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
