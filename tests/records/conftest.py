"""What TensorFlow's parsers gave, as text that our own names make sense of."""

from types import SimpleNamespace

import pytest

from datasets_core.records.specs import values
from datasets_core.records.specs.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

NAMES = {
    "F": FixedLenFeature,
    "V": VarLenFeature,
    "S": SparseFeature,
    "Q": FixedLenSequenceFeature,
    "R": RaggedFeature,
    "tf": SimpleNamespace(int64="int64"),
    "i": "int64",
    "f": "float32",
    "s": "string",
}


def told(value):
    """A value as the table of TensorFlow's results has it."""
    if isinstance(value, dict):
        return {key: told(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [told(inner) for inner in value]
    if isinstance(value, values.SparseValue):
        parts = [plain(part.tolist()) for part in (value.indices, value.values, value.dense_shape)]
        return {"sparse": parts, "dtype": named(value.values)}
    if isinstance(value, values.RaggedValue):
        splits = [part.tolist() for part in value.nested_row_splits]
        facts = [plain(value.values.tolist()), list(value.values.shape), splits, str(value.row_splits.dtype)]
        return {"ragged": facts, "dtype": named(value.values)}
    return {"dense": plain(value.tolist()), "shape": list(value.shape), "dtype": named(value)}


def plain(value):
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def named(array):
    return "string" if array.dtype == object else str(array.dtype)


def outcome(run):
    """What a parser gives; a refusal is one, whatever its class."""
    try:
        return told(run())
    except ValueError:
        return "refused"


def spec(text):
    return eval(text, NAMES)  # the text stands in our own table


def expected(found):
    """What TensorFlow gave; its ragged value of no row splits at all, which cannot be looked at, is one without rows."""
    if "ragged" in found:
        found["ragged"][2] = [splits or [0] for splits in found["ragged"][2]]
    return "refused" if "error" in found else found


@pytest.fixture
def peer():
    """How results, refusals and specs of the table of TensorFlow's parsers are compared with ours."""
    return SimpleNamespace(told=told, outcome=outcome, spec=spec, expected=expected)
