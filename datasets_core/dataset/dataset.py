"""`Dataset`: rows by number, over memory-mapped shards or a table in memory.

What can be done to one stands in the files of its base classes, a file for each idea.
"""

from __future__ import annotations

from datasets_core.columns.column_changes import ColumnChanges
from datasets_core.dataset.constructors import Constructors
from datasets_core.dataset.streaming import Streaming
from datasets_core.exchange.disk import Disk
from datasets_core.exchange.export import Export
from datasets_core.exchange.from_files import FromFiles
from datasets_core.exchange.from_frames import FromFrames
from datasets_core.exchange.pushing import Pushing
from datasets_core.exchange.tf_dataset import ForTensorflow
from datasets_core.insight.overview import Overview
from datasets_core.rows.identified import Identified
from datasets_core.search.queries import Queries
from datasets_core.search.search import Search
from datasets_core.selection.selection import Selection
from datasets_core.transforms.transforms import Transforms


class Dataset(
    Constructors,
    FromFrames,
    FromFiles,
    Selection,
    ColumnChanges,
    Disk,
    Export,
    Pushing,
    Overview,
    Queries,
    Search,
    Transforms,
    ForTensorflow,
    Streaming,
    Identified,
):
    """A table of rows that are read when they are asked for.

    `dataset[3]` is a row, `dataset[:10]`, `dataset[[5, 1]]` and `dataset[mask]` are columns of rows, `dataset["text"]` is a
    column; iteration gives rows.

    Args:
        arrow_table: the rows.
        info: what is known of the dataset; its features, where given, must fit the table.
        split: the split that the rows are of.
        indices_table: row numbers in its one column, if the dataset is to be a selection of the table's rows.
        fingerprint: the identity of the content, where known.

    Raises:
        CastError: the features do not fit the table, or two columns share a name.
        RowIndexError: an index beyond the table.

    >>> Dataset(pa.table({"a": [1, 2, 3]}))[1]
    {'a': 2}
    """
