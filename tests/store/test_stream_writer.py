"""Arrow streams on disk, written and copied."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core.errors import DatasetDiskError
from datasets_core.store.writer import END, copy_stream, joined, write_stream

_TABLE = pa.table({"a": list(range(1000)), "s": [f"text {i}" for i in range(1000)]})


def _read(path: Path) -> pa.Table:
    with pa.ipc.open_stream(pa.memory_map(str(path))) as reader:
        return reader.read_all()


def _arrow_file(path: Path, table: pa.Table, rows: int = 300) -> Path:
    with pa.ipc.new_file(str(path), table.schema) as writer:
        for batch in table.to_batches(max_chunksize=rows):
            writer.write_batch(batch)
    return path


def test_a_written_stream_holds_the_rows_and_says_their_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    size, rows = write_stream(str(path), _TABLE.schema, _TABLE.to_batches(max_chunksize=10))
    assert _read(path).equals(_TABLE)
    assert (size, rows) == (path.stat().st_size, [1000])
    assert path.read_bytes().endswith(END)


def test_the_metadata_of_the_schema_is_that_which_was_asked_for(tmp_path: Path) -> None:
    schema = _TABLE.schema.with_metadata({"who": "we"})
    write_stream(str(tmp_path / "a.arrow"), schema, _TABLE.to_batches())
    assert _read(tmp_path / "a.arrow").schema.metadata == {b"who": b"we"}


def test_large_batches_are_left_alone_and_order_is_kept() -> None:
    large = pa.record_batch({"a": pa.array(range(100_000), pa.int64())})
    small = pa.record_batch({"a": pa.array([1], pa.int64())})
    found = [batch.num_rows for batch in joined([small, small, large, large, small])]
    assert sum(found) == 200_003
    assert pa.Table.from_batches(joined([small, large, small])) == pa.Table.from_batches([small, large, small])


@pytest.mark.parametrize("rows", [7, 1000])
def test_an_arrow_file_holds_a_stream_that_is_copied(rows: int, tmp_path: Path) -> None:
    source = _arrow_file(tmp_path / "file.arrow", _TABLE, rows)
    size = copy_stream(str(source), str(tmp_path / "stream.arrow"), is_file=True)
    assert _read(tmp_path / "stream.arrow").equals(_TABLE)
    assert size == (tmp_path / "stream.arrow").stat().st_size


def test_a_stream_is_copied_as_it_is(tmp_path: Path) -> None:
    write_stream(str(tmp_path / "a.arrow"), _TABLE.schema, _TABLE.to_batches())
    copy_stream(str(tmp_path / "a.arrow"), str(tmp_path / "b.arrow"), is_file=False)
    assert (tmp_path / "a.arrow").read_bytes() == (tmp_path / "b.arrow").read_bytes()


def test_what_is_no_stream_is_not_copied(tmp_path: Path) -> None:
    whole = _arrow_file(tmp_path / "file.arrow", _TABLE).read_bytes()
    for name, content in {"cut": whole[:-20], "empty": b"", "text": b"a text that is no arrow file" * 9}.items():
        (tmp_path / name).write_bytes(content)
        for is_file in (True, False):
            assert copy_stream(str(tmp_path / name), str(tmp_path / "to"), is_file=is_file) is None
            assert not (tmp_path / "to").exists()


def test_a_place_that_cannot_be_written_is_a_disk_error(tmp_path: Path) -> None:
    source = _arrow_file(tmp_path / "file.arrow", _TABLE)
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(DatasetDiskError):
        copy_stream(str(source), str(tmp_path / "plain" / "x"), is_file=True)
    with pytest.raises(DatasetDiskError):
        write_stream(str(tmp_path / "plain" / "x"), _TABLE.schema, _TABLE.to_batches())
