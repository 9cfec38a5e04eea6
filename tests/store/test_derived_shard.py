"""What a shard over tables says of the files that it is made of."""

import pyarrow as pa

from datasets_core.store.table import DerivedShard, RowTable

TABLE = pa.table({"a": [1, 2]})


def _shard(tables, *parts):
    return DerivedShard("kind", tables, [2], TABLE.schema, *parts)


def test_a_file_of_two_tables_is_named_once(tmp_path) -> None:
    path = str(tmp_path / "rows.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    table = RowTable.from_file(path)

    shard = _shard([table, table])

    assert (shard.paths, shard.path, shard.is_mapped) == ((path,), path, True)


def test_rows_in_memory_have_no_path() -> None:
    shard = _shard([RowTable.from_table(TABLE)])

    assert (shard.paths, shard.path) == ((), None)


def test_all_that_decides_about_the_rows_is_in_the_identity() -> None:
    table = RowTable.from_table(TABLE)

    assert _shard([table], 1).identity == _shard([table], 1).identity
    assert len({_shard([table], 1).identity, _shard([table], 2).identity, _shard([table, table], 1).identity}) == 3
