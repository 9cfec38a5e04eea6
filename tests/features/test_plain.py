"""Columns of plain values, made without pandas: they are what `pa.array` makes of them, errors included."""

import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features import base as types
from datasets_core.features.base import plain_array

TYPES = [
    *(pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()),
    *(pa.float64(), pa.float32(), pa.bool_(), pa.string(), pa.large_string(), pa.null(), None),
]
KINDS = [
    st.integers(-(2**65), 2**65),
    st.integers(-130, 260),
    st.floats(),
    st.booleans(),
    st.text() | st.just("\ud800"),
    st.integers(-3, 3) | st.floats(width=16) | st.booleans() | st.text(max_size=2),
]
COLUMNS = st.one_of([st.lists(kind | st.none(), max_size=20) for kind in KINDS])


def outcome(make, values, arrow_type):
    try:
        made = make(values, arrow_type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)
    made.validate(full=True)
    return made.type, made.null_count, repr(made.to_pylist())


@given(values=COLUMNS, arrow_type=st.sampled_from(TYPES))
def test_a_column_is_what_arrow_makes_of_it(values, arrow_type):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(types, "_would_import_pandas", lambda: True)
        patch.setattr(types, "_taken", 0)
        assert outcome(plain_array, values, arrow_type) == outcome(pa.array, values, arrow_type)


@pytest.mark.optional("pandas")
@pytest.mark.parametrize(("columns", "imported"), [(20, False), (21, True)])
def test_many_values_are_worth_the_import_of_pandas(columns, imported):
    code = "\n".join(
        [
            "import sys, pyarrow as pa",
            "from datasets_core.features.base import ALLOWANCE, plain_array",
            f"for _ in range({columns}):",
            "    plain_array(['x'] * (ALLOWANCE // 20), pa.string())",
            "print('pandas' in sys.modules)",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(imported)
