"""Data frames of pandas in Parquet or Feather files; pickles are refused.

A pickle runs code when it is loaded, so no option enables pickles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig

from ._blocks import read_arrow
from ._parquet_blocks import read_parquet
from ._source import Source, refuse_foreign
from ._tables import FileBuilder
from .parquet import ParquetConfig

_PARQUET, _FEATHER = b"PAR1", (b"ARROW1", b"FEA1")
_PICKLE = b"\x80"


@dataclass(eq=False)
class PandasConfig(BuilderConfig):
    """Options of `load_dataset("pandas", ...)`.

    Args:
        features: types that the columns are cast to.
    """

    features: Any = None


class Pandas(FileBuilder):
    """Files that `DataFrame.to_parquet` and `DataFrame.to_feather` write."""

    is_format = True
    name = "pandas"
    cache_version = "f94f78d5b1eb71b79e9f73851ccb0222"
    BUILDER_CONFIG_CLASS = PandasConfig
    seeks = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_frame(source)


def read_frame(source: Source) -> Iterator[pa.RecordBatch]:
    """Return the rows of a stored frame.

    Raises:
        FileFormatError: the file is a pickle, or not in a supported format.
    """
    with open(source.path, "rb") as handle:
        head = handle.read(4096)
    if head.startswith(_PARQUET):
        return read_parquet(source, ParquetConfig())
    if head.startswith(_FEATHER):
        return read_arrow(source)
    if head.startswith(_PICKLE) or source.name.lower().endswith((".pkl", ".pickle")):
        raise source.fault(
            "is a pickle, which is not loaded because it can run any code",
            advice="If you trust it: Dataset.from_pandas(pandas.read_pickle(…)), or write it with DataFrame.to_parquet",
        )
    refuse_foreign(source, head, "a frame")
    raise source.fault("is not a frame in Parquet or Feather", advice="Write it with DataFrame.to_parquet")
