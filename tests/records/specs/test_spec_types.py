from collections import namedtuple

import numpy as np
import pytest

from datasets_core.records.specs.specs import dtype_name

Foreign = namedtuple("Foreign", "name")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("int64", "int64"),
        ("float", "float32"),
        ("bytes", "string"),
        (int, "int64"),
        (float, "float32"),
        (str, "string"),
        (bytes, "string"),
        (np.int64, "int64"),
        (np.dtype("float32"), "float32"),
        (np.object_, "string"),
        (Foreign("string"), "string"),
        (np.int32, "int32"),
        ("bool", "bool"),
    ],
    ids=str,
)
def test_types_are_known_by_many_names(given, name):
    assert dtype_name(given) == name
