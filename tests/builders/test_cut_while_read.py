"""A file that is cut while it is read is an error, and not the end of the process."""

import subprocess
import sys

import pytest

CUT = """
import os, sys
import pyarrow as pa, pyarrow.parquet as pq
from datasets_core.builders._source import Source
from datasets_core.builders._blocks import read_arrow
from datasets_core.builders._parquet_blocks import read_parquet
from datasets_core.builders.parquet import ParquetConfig
from datasets_core.errors import FileFormatError

kind, path = sys.argv[1:]
table = pa.table({"a": range(2_000_000)})
if kind == "parquet":
    pq.write_table(table, path, row_group_size=100_000)
    batches = read_parquet(Source(path, "user.file"), ParquetConfig())
else:
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=100_000)
    batches = read_arrow(Source(path, "user.file"))
next(batches)
os.truncate(path, 1000)
try:
    for batch in batches:
        pass
except FileFormatError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize("kind", ["parquet", "file", "stream"])
def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path, kind):
    ran = subprocess.run([sys.executable, "-c", CUT, kind, str(tmp_path / "x")], capture_output=True, text=True)
    assert ran.returncode == 0, ran
    assert ran.stdout.startswith("refused: user.file")
