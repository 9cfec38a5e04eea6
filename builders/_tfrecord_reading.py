"""`TfRecordReading`: how the records of a file are read: its plain bytes, wherever they are, and what they are read as."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, BinaryIO

from datasets_core.building.live_marks import Mark, TextFile
from datasets_core.errors import FileChangedError
from datasets_core.features.schema import Features
from datasets_core.fetch.sniff import kind_of
from datasets_core.records.example_columns import ExampleReader
from datasets_core.records.framing import HEAD_BYTES
from datasets_core.records.inflated import compression_of, inflated
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.record_frames import blocks_of, scan
from datasets_core.store.fingerprint import Hasher

from ._source import Source

BLOCK_BYTES = 1 << 18
"""Of records that are read at once where rows are had by place: to begin in the middle of a file fetches about as much."""

LATER_BYTES = 1 << 20
"""The same of a stream from the beginning on, behind its first rows: a block costs some time whatever it holds."""

SNIFFED_BYTES = 1024
_PASSED_BYTES = 1 << 20
_OTHERS = frozenset({"bz2", "xz", "zst", "lz4"})  # that TensorFlow does not know, and other files of ours may have


@dataclass(frozen=True)
class TfRecordReading:
    """How records are read; see `TfRecordConfig`.

    Attributes:
        spec, sequence_spec: what is read of a message, by key.
        features: of the columns, as the user or a card gives them.
        message: what a record is; None: the first ones tell.
        columns: the columns that are wanted; None: all.
        verify: CRCs are compared.
        compression: of the files; None: each tells.
        named: the columns of which it was said that the first records have nothing.
    """

    spec: Any = None
    sequence_spec: Any = None
    features: Features | None = None
    message: str | None = None
    columns: tuple[str, ...] | None = None
    verify: bool = True
    compression: str | None = None
    named: set[str] = field(default_factory=set, init=False, compare=False, repr=False)

    def reader(self, columns: Sequence[str] | None = None) -> ExampleReader:
        """What makes rows of records.

        Args:
            columns: of those that are wanted, the ones to be read; None: all.
        """
        wanted = self.columns if columns is None else tuple(columns)
        return ExampleReader(
            spec=self.spec,
            sequence_spec=self.sequence_spec,
            features=self.features,
            message=self.message,
            columns=None if wanted is None else list(wanted),
        )

    @property
    def identity(self) -> str:
        """What tells rows that are read so from others."""
        features = None if self.features is None else self.features.to_dict()
        specs = [repr(None if specs is None else list(specs.items())) for specs in (self.spec, self.sequence_spec)]
        return Hasher.hash([*specs, features, self.message, self.columns, self.verify])

    @cached_property
    def known_features(self) -> Features | None:
        """The features of the rows, where no record has to tell them."""
        is_known = self.features is not None or self.spec is not None or self.sequence_spec is not None
        return self.reader().features if is_known or self.message == "bytes" else None

    def blocks(
        self, source: Source, mark: Mark | None, block_bytes: int, later_bytes: int | None = None
    ) -> Generator[tuple[RecordBlock, TextFile]]:
        """The records of a file, block by block, from its beginning or from a mark on.

        Raises:
            DamagedRecordError: after the good records before it were given.
            FileChangedError: the file is another one than that of the mark.
        """
        at, first = (mark.at, mark.row) if mark is not None else (0, 0)
        handle, stream, file = _opened(source, self.compression, mark, block_bytes)
        try:
            size = None if file.compression or file.size < 0 else file.size - at
            how: dict[str, Any] = {"verify": self.verify, "block_bytes": block_bytes, "later_bytes": later_bytes, "size": size}
            for block in blocks_of(stream, name=source.name, first=first, offset=at, **how):
                yield block, file
        finally:
            handle.close()


def _opened(source: Source, compression: str | None, mark: Mark | None, first_bytes: int) -> tuple[Any, Any, TextFile]:
    """What is to be closed, the plain bytes from the mark on, and the version that they are of."""
    at = 0 if mark is None else mark.at
    if mark is not None and at and not mark.file.compression and source.remote is not None:
        ahead = source.opened_at(mark.file, at, mark.to)
        return ahead, ahead, mark.file
    handle, found = source.raw(first_bytes)
    try:
        head = handle.read(SNIFFED_BYTES)
        handle.seek(0)
        file = replace(found, compression=kind_of_compression(head) if compression is None else compression)
        if mark is not None and not mark.file.is_same(file):
            raise FileChangedError(source.name)
        if not file.compression:
            handle.seek(at)
            return handle, handle, file
        stream: Any = _undone(source, handle, file.compression)
        while at > 0 and (passed := stream.read(min(at, _PASSED_BYTES))):
            at -= len(passed)
        return handle, stream, file
    except BaseException:
        handle.close()
        raise


def kind_of_compression(head: bytes) -> str:
    """What compressed a file that begins so; "" where it is plain."""
    known = compression_of(head[:HEAD_BYTES])
    other = kind_of(head)
    if known or other not in _OTHERS or (len(head) >= HEAD_BYTES and scan(head[:HEAD_BYTES]).damage is None):
        return known
    return str(other)


def _undone(source: Source, handle: BinaryIO, kind: str) -> Any:
    return source.undone(handle) if kind in _OTHERS else inflated(handle, name=source.name, compression=kind)
