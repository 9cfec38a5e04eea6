"""Rows counted by the file that they came from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.building.write.jobs import FileCounts, counted_files
from datasets_core.load import load_dataset
from datasets_core.meta.row_blocks import RowBlocks


def counts(files: int, found: RowBlocks | None = None, *, is_format: bool = True) -> FileCounts:
    builder: Any = SimpleNamespace(reads_in_order=is_format, file_blocks=lambda gen_kwargs: found)
    names = [__file__] * files
    return FileCounts(builder, {"files": names, "names": names, "dl_manager": None})


def table(rows: int) -> pa.Table:
    return pa.table({"a": pa.array(range(rows), pa.int64())})


def test_rows_and_bytes_of_each_file_are_summed_up() -> None:
    each = counts(4)
    for number, rows in [(0, 3), (0, 2), (2, 0), (3, 7)]:
        each.add((number, 0), table(rows))
    blocks = each.blocks()
    assert blocks is not None and not blocks.is_indexed
    assert (blocks.rows.tolist(), blocks.sizes.tolist(), blocks.files.tolist()) == ([5, 7], [40, 56], [0, 3])
    assert blocks.num_files == 4


def test_files_that_are_read_as_one_tell_the_rows_of_each() -> None:
    each = counts(5)
    each.add((0, 0), table(1))
    each.add((1, 0, (2, 0, 3)), table(4))
    each.add((1, 1, (2, 0, 3)), table(1))
    each.add((4, 0), table(2))
    blocks = each.blocks()
    assert blocks is not None
    assert (blocks.rows.tolist(), blocks.files.tolist()) == ([1, 2, 3, 2], [0, 1, 3, 4])
    assert blocks.sizes.tolist() == [8, 32 * 2 // 5 + 8 * 2 // 5, 32 * 3 // 5 + 8 * 3 // 5, 16]


def test_of_one_file_keys_are_what_they_like() -> None:
    each = counts(1)
    for key in (None, "a", (5, 1)):
        each.add(key, table(2))
    blocks = each.blocks()
    assert blocks is not None and blocks.rows.tolist() == [6]


@pytest.mark.parametrize("keys", [[(1, 0), (0, 0)], [(3, 0)], [("a", 0)], [0], [None], [(0, 0), ()]])
def test_rows_that_tell_no_file_have_no_structure(keys: list[Any]) -> None:
    each = counts(3)
    for key in keys:
        each.add(key, table(2))
    each.add((2, 0), table(1))
    assert each.blocks() is None


def test_what_is_no_format_has_no_structure() -> None:
    each = counts(2, is_format=False)
    each.add((0, 0), table(2))
    assert each.blocks() is None


def test_blocks_of_footers_count_where_all_their_rows_came() -> None:
    footers = RowBlocks.of([2, 3, 4], [20, 30, 40], [0, 0, 1], file_count=2)
    for rows, is_indexed in [((5, 4), True), ((5, 3), False), ((9, 0), False)]:
        each = counts(2, footers)
        for number, count in enumerate(rows):
            each.add((number, 0), table(count))
        blocks = each.blocks()
        assert blocks is not None and blocks.is_indexed is is_indexed
        assert blocks.rows.tolist() == ([2, 3, 4] if is_indexed else [count for count in rows if count])


ROWS = [5, 0, 9, 1]


def test_names_are_those_of_the_stream_without_secrets_and_none_where_rows_are_left_out() -> None:
    builder: Any = SimpleNamespace(block_steps=tuple)
    asked = {"files": ["x", "y"], "names": ["https://me:pw@host/a.csv?token=secret", "b.csv"]}
    found = counted_files(builder, {"train": asked})
    assert "secret" not in found["train"] and "pw" not in found["train"] and "host/a.csv" in found["train"]
    assert counted_files(SimpleNamespace(block_steps=lambda: ("filter",)), {"train": asked}) == {}  # type: ignore[arg-type]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {"parquet": [], "arrow": [], "json": []}
    for number, rows in enumerate(ROWS):
        for kind in made:
            path = tmp_path / f"{number}.{kind}"
            if kind == "parquet":
                pq.write_table(table(rows), path, row_group_size=4)
            elif kind == "arrow":
                with pa.ipc.new_file(path, table(rows).schema) as sink:
                    sink.write_table(table(rows), max_chunksize=4)
            else:
                path.write_text("".join(f'{{"a": {row}}}\n' for row in range(rows)))
            made[kind].append(str(path))
    return made


def recorded(kind: str, files: dict[str, list[str]], folder: Path, **options: Any) -> RowBlocks | None:
    dataset = load_dataset(kind, data_files=files[kind], split="train", cache_dir=str(folder / "cache"), **options)
    structure = dataset._table.structure
    return None if structure is None else structure.blocks()


@pytest.mark.parametrize("options", [{}, {"num_proc": 4}, {"columns": ["a"]}], ids=["plain", "num_proc", "columns"])
def test_row_groups_are_recorded_however_a_build_runs(
    options: dict[str, Any], files: dict[str, list[str]], tmp_path: Path
) -> None:
    blocks = recorded("parquet", files, tmp_path, **options)
    groups = [pq.ParquetFile(path).metadata.row_group(k) for path, k in zip(files["parquet"], [0, 0, 0, 0], strict=True)]
    assert blocks is not None and blocks.is_indexed and blocks.num_files == 4
    assert (blocks.rows.tolist(), blocks.files.tolist()) == ([4, 1, 4, 4, 1, 1], [0, 0, 2, 2, 2, 3])
    assert blocks.sizes[0] == groups[0].total_byte_size


def test_record_batches_are_recorded_and_files_of_text_by_their_rows(files: dict[str, list[str]], tmp_path: Path) -> None:
    batches, lines = recorded("arrow", files, tmp_path), recorded("json", files, tmp_path)
    assert batches is not None and batches.is_indexed and batches.rows.tolist() == [4, 1, 4, 4, 1, 1]
    assert lines is not None and not lines.is_indexed
    assert (lines.rows.tolist(), lines.files.tolist(), lines.num_files) == ([5, 9, 1], [0, 2, 3], 4)


def test_rows_that_are_left_out_leave_rows_by_file(files: dict[str, list[str]], tmp_path: Path) -> None:
    blocks = recorded("parquet", files, tmp_path, filters=[("a", ">", 3)])
    assert blocks is not None and not blocks.is_indexed
    assert (blocks.rows.tolist(), blocks.num_files) == ([1, 5], 4)
