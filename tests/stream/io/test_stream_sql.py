"""A stream in a table of a database: from where it stands, and no batch twice."""

from __future__ import annotations

import sqlite3

from datasets_core.stream.io.files import write_stream_sql
from datasets_core.stream.iterable import IterableDataset


def test_rows_are_written_from_where_the_stream_stands() -> None:
    connection = sqlite3.connect(":memory:")
    stream = IterableDataset.from_dict({"a": [1, 2, 3]})
    next(iter(stream))
    stream.load_state_dict(stream.state_dict())

    assert write_stream_sql(stream, "rest", connection, None, {}) == 2
    assert connection.execute("select a from rest").fetchall() == [(2,), (3,)]
    connection.close()
