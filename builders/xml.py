"""XML: the whole text of a file as one row.  Nothing is parsed, so neither entities nor external files are ever followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig

from ._source import Source
from ._tables import FileBuilder
from .text import TextConfig, read_text

EXTENSIONS: dict[str, dict[str, Any]] = {".xml": {}}


@dataclass(eq=False)
class XmlConfig(BuilderConfig):
    """Options of `load_dataset("xml", ...)`.

    Args:
        features: a single feature; its name becomes that of the column.
        encoding: encoding of the files.
        encoding_errors: action for invalid bytes, as in `open(errors=)`; None refuses them.
    """

    features: Any = None
    encoding: str = "utf-8"
    encoding_errors: str | None = None


class Xml(FileBuilder):
    """XML files: one column `xml`, and one row per file."""

    is_format = True
    name = "xml"
    cache_version = "b475f7a04bd9dabb87a41f8a182cf415"
    BUILDER_CONFIG_CLASS = XmlConfig
    streams = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        options: XmlConfig = self.config
        name = next(iter(options.features)) if options.features else "xml"
        whole = TextConfig(encoding=options.encoding, encoding_errors=options.encoding_errors, sample_by="document")
        for batch in read_text(source, whole):
            yield pa.RecordBatch.from_arrays(batch.columns, [name])
