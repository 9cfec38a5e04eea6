"""`DatasetInfo`: what is recorded of a dataset, and its stored forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from datasets_core.features.schema import Features

from datasets_core.meta.split_info import SplitDict
from datasets_core.meta.version import Version

INFO_FILE = "dataset_info.json"
LICENSE_FILE = "LICENSE"
_TEXTS = ("description", "citation", "homepage", "license")
_SIZES = ("download_size", "post_processing_size", "dataset_size", "size_in_bytes")


@dataclass(frozen=True, slots=True)
class SupervisedKeysData:
    """The columns of a supervised task: input and output."""

    input: str = ""
    output: str = ""


@dataclass
class DatasetInfo:
    """What is recorded of a dataset; None is unknown.

    Stored forms are taken as they are: features, version, splits and supervised keys may be given as dicts, lists or texts.
    """

    description: str = field(default_factory=str)
    citation: str = field(default_factory=str)
    homepage: str = field(default_factory=str)
    license: str = field(default_factory=str)
    features: Features | None = None
    post_processed: dict[str, Any] | None = None
    supervised_keys: SupervisedKeysData | None = None
    builder_name: str | None = None
    dataset_name: str | None = None
    config_name: str | None = None
    version: Version | None = None
    splits: SplitDict | None = None
    download_checksums: dict[str, Any] | None = None
    download_size: int | None = None
    post_processing_size: int | None = None
    dataset_size: int | None = None
    size_in_bytes: int | None = None
    task_templates: list[Any] | None = None
