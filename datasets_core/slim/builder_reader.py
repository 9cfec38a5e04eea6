"""`BuilderReader`: the rows of files of every format that the library reads."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from typing import Any

import numpy as np

from datasets_core.errors import ConfigurationError
from datasets_core.features.embed import has_media
from datasets_core.load import load_dataset
from datasets_core.meta import patterns
from datasets_core.resolve.registry import is_format, known_formats
from datasets_core.slim.sample_reader import Position, SampleBlock, SampleReader

_BLOCK_ROWS = 256
_BLOCK_ROWS_OF_MEDIA = 4  # which are decoded as the row is made


class BuilderReader(SampleReader):
    """Reads files as `load_dataset` does: a sample is a row, as a dict, and its key says its number, from 0.

    The items of rows are told by a `RowDecoder`.  A dataset whose reader takes no options may name the format, as `"csv"`, as
    its reader.  Each file is read by itself: where types or labels are told by what a file holds, `features=` makes them alike.

    Args:
        format: `"csv"`, `"json"`, `"parquet"`, `"text"`, or any other format of a builder.
        options: of the builder, as `load_dataset` takes them.

    Raises:
        ConfigurationError: there is no such format.

    >>> import pathlib, tempfile
    >>> from datasets_core import slim
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "birds.csv")
    ...     _ = path.write_text("name;count\\nwren;3\\n", encoding="utf-8")
    ...     list(slim.BuilderReader("csv", sep=";").samples(str(path)))
    [(0, {'name': 'wren', 'count': 3})]
    """

    def __init__(self, format: str, **options: Any) -> None:
        if not isinstance(format, str) or not is_format(format):
            raise ConfigurationError(f"{format!r} is no format of a builder. Formats: {', '.join(sorted(known_formats()))}.")
        self._format, self._options = format, options

    def samples(self, path: str) -> Iterator[tuple[Position, Any]]:
        """See `SampleReader.samples`."""
        for block in self.blocks(path):
            yield from zip(block.positions.tolist(), block.payloads, strict=True)

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """See `SampleReader.blocks`; a position is the number of a row."""
        named: Any = glob.escape(path) if isinstance(path, str) and patterns.is_pattern(path) else path
        stream = load_dataset(self._format, data_files=[named], split="train", streaming=True, **self._options)
        number = int(start or 0)
        rows = iter(stream.skip(number) if number else stream)
        features = stream.features
        is_heavy = features is None or any(map(has_media, features.values()))
        size, failure = _BLOCK_ROWS_OF_MEDIA if is_heavy else _BLOCK_ROWS, None
        try:
            while failure is None:
                block: list[Any] = []
                try:
                    for row in rows:
                        block.append(row)
                        if len(block) == size:
                            break
                except Exception as error:  # the rows before it are good
                    failure = error
                if block:
                    yield SampleBlock(block, np.arange(number, number + len(block), dtype=np.int64), number)
                    number += len(block)
                elif failure is None:
                    return
            raise failure
        finally:
            if hasattr(rows, "close"):
                rows.close()
