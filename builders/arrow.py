"""The format "arrow": Arrow IPC files in the file or stream format, which is detected by the first bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from datasets_core._lazy import attach
from datasets_core.building.hooks import BuilderConfig

from ._tables import FileBuilder

if TYPE_CHECKING:
    from datasets_core.stream.sources.block_reader import BlockFile

    from ._blocks import ArrowBlocks
    from ._source import Source


__getattr__, __dir__ = attach(__name__, {"read_arrow": "datasets_core.builders._blocks"})

EXTENSIONS: dict[str, dict[str, Any]] = {".arrow": {}, ".feather": {}}


@dataclass(eq=False)
class ArrowConfig(BuilderConfig):
    """Options of `load_dataset("arrow", ...)`.

    Args:
        features: types that the columns are cast to; None uses the types of the files.
    """

    features: Any = None


class Arrow(FileBuilder):
    """Arrow files; features that Hugging Face `datasets` stored in their metadata are used."""

    is_format = True
    name = "arrow"
    cache_version = "eb2be05b957d83e2f563964f4990b24a"
    BUILDER_CONFIG_CLASS = ArrowConfig
    seeks = True

    @property
    def is_native(self) -> bool:
        return True

    def block_files(self, asked: Mapping[str, Any]) -> list[BlockFile] | None:
        """See `FileBuilder.block_files`: for files with a footer; decided by the first one."""
        found = super().block_files(asked)
        return found if found and cast("ArrowBlocks", found[0]).is_indexed() else None

    def block_file(self, path: str | os.PathLike[str], name: str) -> BlockFile | None:
        from ._blocks import ArrowBlocks  # takes 20 ms; a finished dataset does not need it

        return ArrowBlocks(path, name)

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        from ._blocks import read_arrow  # as above

        return read_arrow(source)
