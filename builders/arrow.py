"""Arrow IPC files, of the file and of the stream format, told apart by their first bytes.

Every batch is validated in full: offsets that point outside their buffer would read foreign memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from datasets_core.building.builder_config import BuilderConfig

from ._schemas import empty_batch, look_at_names, repeated
from ._source import Source, refuse_foreign
from ._tables import FileBuilder

if TYPE_CHECKING:
    from datasets_core.stream.block_files import BlockFile

    from ._arrow_blocks import ArrowBlocks

EXTENSIONS: dict[str, dict[str, Any]] = {".arrow": {}}

_FILE_MAGIC = b"ARROW1"
_CONTINUATION = b"\xff\xff\xff\xff"
_END_MARK = _CONTINUATION + b"\0\0\0\0"
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

    def block_files(self, asked: Mapping[str, Any]) -> list[BlockFile] | None:
        """See `FileBuilder.block_files`: those of files with a footer; the first one tells whether they have any."""
        found = super().block_files(asked)
        return found if found and cast("ArrowBlocks", found[0]).is_indexed() else None

    def block_file(self, path: str | os.PathLike[str], name: str) -> BlockFile | None:
        """See `FileBuilder.block_file`."""
        from ._arrow_blocks import ArrowBlocks  # 20 ms that a build does without

        return ArrowBlocks(path, name)

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """See `FileBuilder.read`."""
        return read_arrow(source)


def read_arrow(source: Source) -> Iterator[pa.RecordBatch]:
    """The batches of an Arrow file, validated; at least one, if an empty one.

    Raises:
        FileFormatError: the file is cut, altered, or no Arrow file.
    """
    with open(source.path, "rb") as first:
        head = first.read(4096)
    if not head:
        raise source.fault("is empty: it holds no Arrow schema", advice=_ADVICE)
    try:
        handle = pa.OSFile(source.path)  # not mapped: a mapped file that is cut while it is read kills the process
        if head.startswith(_FILE_MAGIC):
            reader = pa.ipc.open_file(handle)
            schema, batches = reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(handle)
            schema, batches = reader.schema, iter(reader)
        look_at_names(schema)
        if (twice := repeated(schema.names)) is not None:
            raise ValueError(f"two of its columns are named {twice!r}")
    except (pa.ArrowException, OSError, ValueError) as error:
        if not head.startswith(_FILE_MAGIC):
            refuse_foreign(source, head, "an Arrow file")
        raise source.fault(f"is no readable Arrow file ({error})", advice=_ADVICE) from error
    row = 0
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                if not head.startswith(_FILE_MAGIC) and not _ends(handle, head):
                    raise ValueError("the stream stops without its end mark: it is cut, or its writer was never closed")
                break
            batch.validate(full=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise source.fault(f"is damaged ({error})", row=row, advice=_ADVICE) from error
        row += batch.num_rows
        yield batch
    if not row:
        yield empty_batch(schema)


def _ends(stream: pa.NativeFile, head: bytes) -> bool:
    """Whether a stream that has been read to its end closes with the mark of the end, and was not cut between two batches."""
    mark = _END_MARK if head.startswith(_CONTINUATION) else _END_MARK[4:]  # before Arrow 0.15
    end: int = stream.tell()
    return bool(end >= len(mark) and stream.read_at(len(mark), end - len(mark)) == mark)
