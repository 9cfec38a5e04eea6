"""csv beside `pandas.read_csv`: tables of tricky cells have the same values; only integers beside nulls stay integers here."""

import csv
import io
import math

import pytest
from datasets_core.builders._csv_reader import read_csv
from datasets_core.builders._source import Source
from datasets_core.builders.csv import CsvConfig
from hypothesis import example, given, settings
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.optional("pandas")

CELLS = [
    *("", "NA", "nan", "-nan", "null", "None", "n/a", "NAN", " NA"),
    *("0", "1", "-1", "+5", "007", " 1", "1 ", "1.5", "-0.25", ".5", "1.", "1e5", "1E-3", "1e", "inf", "-Inf", "+infinity"),
    *("0x10", "1_0", "--1", "5 5", "-", ".", "1,5", "9223372036854775807", "-9223372036854775808"),
    *("True", "true", "FALSE", "tRUE", " True", "yes", "x", "é", 'q"q', "a,b", "l1\nl2", "2020-01-01", "12:30"),
]

KINDS = [
    st.sampled_from(CELLS),
    st.sampled_from(["1", "-2", "007", "+5", " 3 ", "NA", ""]),
    st.sampled_from(["1", "1.5", "1e5", "inf", ".5", "nan", ""]),
    st.sampled_from(["True", "FALSE", "true", "tRuE", "NA"]),
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.floats(-1e15, 1e15).map(lambda value: repr(round(value, 4))),
    st.text(alphabet='ab ",\né1.', max_size=6),
]
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.sampled_from(range(len(KINDS))), min_size=width, max_size=width).flatmap(
        lambda kinds: st.lists(st.tuples(*(KINDS[kind] for kind in kinds)), min_size=1, max_size=6)
    )
)


def plain(value):
    if value is None or value is pd.NA:
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if math.isfinite(value) and value.is_integer() else value
    return value


def near(ours, theirs):
    """Equal, or floats a few units in the last place apart: pandas' own parser does not round exactly."""
    if isinstance(ours, float | int) and isinstance(theirs, float | int) and not isinstance(ours, bool):
        return ours == theirs or math.isclose(ours, theirs, rel_tol=1e-14)
    return ours == theirs


@settings(max_examples=400)
@given(TABLES, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.sampled_from(["\n", "\r\n"]), st.booleans())
@example([(" ",), ("1",), ("  ",)], csv.QUOTE_MINIMAL, "\n", True)  # lines of blanks in a file of one column
@example([("",), ("x",), ("",)], csv.QUOTE_ALL, "\r\n", False)
@example([("-nan", "1.5"), ("1", "NA"), ("1E-3", "")], csv.QUOTE_MINIMAL, "\n", True)  # nulls among floats
@example([("9223372036854775807", "NA"), ("", "-9223372036854775808")], csv.QUOTE_ALL, "\n", False)
@example([("l1\nl2", "True"), ('q"q', "tRUE")], csv.QUOTE_MINIMAL, "\r\n", False)
def test_a_table_of_cells_is_read_as_pandas_reads_it(tmp_path_factory, rows, quoting, line_end, ends_with_newline):
    sink = io.StringIO()
    writer = csv.writer(sink, quoting=quoting, lineterminator=line_end)
    writer.writerow([f"c{number}" for number in range(len(rows[0]))])
    writer.writerows(rows)
    text = sink.getvalue() if ends_with_newline else sink.getvalue().removesuffix(line_end)
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    path.write_bytes(text.encode())
    frame = pd.read_csv(path)
    theirs = [[plain(value) for value in frame[name]] for name in frame.columns]
    batches = list(read_csv(Source(str(path), "cells.csv"), CsvConfig().form(), None))
    ours = [[plain(value) for batch in batches for value in batch.column(number).to_pylist()] for number in range(len(rows[0]))]
    assert [len(column) for column in ours] == [len(column) for column in theirs]
    assert all(near(a, b) for one, other in zip(ours, theirs, strict=True) for a, b in zip(one, other, strict=True)), (
        ours,
        theirs,
    )
