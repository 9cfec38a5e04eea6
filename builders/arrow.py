"""Arrow IPC files, of the file and of the stream format, told apart by their first bytes.

Every batch is validated in full: offsets that point outside their buffer would read foreign memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.building.builder_config import BuilderConfig

from ._source import Source, refuse_foreign
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {".arrow": {}}

_FILE_MAGIC = b"ARROW1"
_ADVICE = "Write or fetch the file again"


@dataclass(eq=False)
class ArrowConfig(BuilderConfig):
    """Options of `load_dataset("arrow", ...)`.

    Args:
        features: what the columns are cast to; None takes what the files say.
    """

    features: Any = None


class Arrow(FileBuilder):
    """Arrow files; features that Hugging Face `datasets` left in their metadata are kept."""

    BUILDER_CONFIG_CLASS = ArrowConfig
    seeks = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_arrow(source)


def read_arrow(source: Source) -> Iterator[pa.RecordBatch]:
    """The batches of an Arrow file, mapped and validated; at least one, if an empty one.

    Raises:
        FileFormatError: the file is cut, altered, or no Arrow file.
    """
    with open(source.path, "rb") as handle:
        head = handle.read(4096)
    if not head:
        raise source.fault("is empty: it holds no Arrow schema", advice=_ADVICE)
    try:
        mapped = pa.memory_map(source.path)
        if head.startswith(_FILE_MAGIC):
            reader = pa.ipc.open_file(mapped)
            schema, batches = reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(mapped)
            schema, batches = reader.schema, iter(reader)
    except (pa.ArrowException, OSError, ValueError) as error:
        if not head.startswith(_FILE_MAGIC):
            refuse_foreign(source, head, "an Arrow file")
        raise source.fault(f"is no readable Arrow file ({error})", advice=_ADVICE) from error
    row = 0
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                break
            batch.validate(full=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise source.fault(f"is damaged ({error})", row=row, advice=_ADVICE) from error
        row += batch.num_rows
        yield batch
    if not row:
        yield empty_batch(schema)


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of `schema`."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
