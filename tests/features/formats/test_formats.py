"""Names of formats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core import Dataset
from datasets_core.errors import ConfigurationError, MissingDependencyError
from datasets_core.features.base import List, Value
from datasets_core.features.formats.arrays import as_objects
from datasets_core.features.formats.formats import check_format, format_name, framer, kit, of_python
from datasets_core.features.formats.python import RowReader
from datasets_core.features.schema import Decoder, Features
from datasets_core.features.types import Array2D, Json


@pytest.mark.parametrize(
    ("given", "name"), [(None, None), ("python", None), ("arrow", "arrow"), ("pa", "arrow"), ("pyarrow", "arrow")]
)
def test_a_format_has_one_name(given: Any, name: str | None) -> None:
    assert format_name(given) == name


@pytest.mark.parametrize("given", ["Arrow", "", 1, [], "Torch"])
def test_an_unknown_format_names_the_known(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="Available formats: None"):
        format_name(given)


@pytest.mark.parametrize(
    ("given", "name"),
    [("np", "numpy"), ("pt", "torch"), ("pytorch", "torch"), ("tf", "tensorflow"), ("pd", "pandas"), ("pl", "polars")],
)
def test_short_names_are_names(given: str, name: str) -> None:
    assert format_name(given) == name


def test_an_argument_that_a_format_does_not_take_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"'numpy' takes no argument 'device'\. It takes 'dtype', 'copy'"):
        check_format("numpy", {"device": "cpu"})
    with pytest.raises(ConfigurationError, match="'python' takes no argument"):
        check_format(None, {"dtype": int})


def test_a_custom_format_needs_a_function() -> None:
    with pytest.raises(ConfigurationError, match=r"set_transform\(function\)"):
        check_format("custom", {"transform": 3})


def test_a_format_whose_package_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.features.formats.formats.is_installed", lambda name: False)

    with pytest.raises(MissingDependencyError, match=r"pip install 'datasets_core\[polars\]'"):
        check_format("polars", {})


def test_an_argument_that_the_format_lacks_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="takes no argument 'dtype'"):
        check_format(None, {"dtype": int})


# Frames hold the values of the table that they are made of.

_FEATURES = Features({"a": Value("int32"), "j": Json(), "m": Array2D(shape=(1, 2), dtype="float32")})
_TABLE = pa.table({"a": [1, 2], "j": ['{"x": 1}', "[2]"], "m": [[[1.0, 2.0]], [[3.0, 4.0]]]}, schema=_FEATURES.arrow_schema)
_FRAMES = [pytest.param(name, marks=pytest.mark.optional(name)) for name in ("pandas", "polars")]


def _frame(name: str, table: pa.Table = _TABLE) -> Any:
    return framer(name, _FEATURES, RowReader(table.schema, Decoder(_FEATURES)))(table)


@pytest.mark.parametrize("name", _FRAMES)
def test_a_frame_holds_the_values_as_the_user_sees_them(name: str) -> None:
    frame = _frame(name)

    assert list(frame["a"]) == [1, 2]
    assert list(frame["j"]) == [{"x": 1}, [2]]
    assert [np.array(list(row)).tolist() for row in frame["m"]] == [[[1.0, 2.0]], [[3.0, 4.0]]]


@pytest.mark.parametrize("name", _FRAMES)
def test_a_frame_of_several_chunks_or_of_none_has_all_rows(name: str) -> None:
    assert len(_frame(name, pa.concat_tables([_TABLE, _TABLE]))) == 4
    assert len(_frame(name, _TABLE.slice(0, 0))) == 0


def test_arrow_tables_stay_as_they_are() -> None:
    assert _frame("arrow") is _TABLE


# Frameworks get the numbers of a column in their own types, and Python's values for what they have no type for.

_TENSORS = [pytest.param(name, marks=pytest.mark.optional(name)) for name in ("torch", "jax", "tensorflow")]


@pytest.mark.parametrize("name", _TENSORS)
def test_numbers_become_tensors_and_what_holds_them_stays(name: str) -> None:
    made = kit(name, {})

    value = made.cell({"x": np.array([1, 2]), "y": None, "z": np.float32(0.5)})

    assert value["x"].tolist() if name == "torch" else np.asarray(value["x"]).tolist() == [1, 2]
    assert (value["y"], float(value["z"])) == (None, 0.5)


@pytest.mark.parametrize("name", _TENSORS)
def test_the_dtype_asked_for_is_that_of_every_number(name: str) -> None:
    made = kit(name, {"dtype": "float16"})

    assert "float16" in str(made.batch(np.array([1, 2])).dtype)
    assert [("float16" in str(row.dtype)) for row in made.rows(np.array([0.5, 2]))] == [True, True]


@pytest.mark.parametrize("name", ["numpy", *_TENSORS])
def test_an_unknown_dtype_is_an_error(name: str) -> None:
    if name == "jax":
        pytest.skip("jax takes what numpy takes")
    with pytest.raises(ConfigurationError, match=f"not a {name} dtype"):
        kit(name, {"dtype": "no such"})


def test_numpy_copies_when_told_to() -> None:
    values = np.arange(3)
    values.flags.writeable = False

    shared, copied = kit("numpy", {}).batch(values), kit("numpy", {"copy": True}).batch(values)

    assert np.shares_memory(shared, values) and not np.shares_memory(copied, values)
    assert copied.flags.writeable


@pytest.mark.optional("torch")
def test_torch_copies_unless_told_to_share() -> None:
    values = np.arange(3)
    values.flags.writeable = False

    assert kit("torch", {}).batch(values).data_ptr() != values.ctypes.data
    assert kit("torch", {"copy": False}).batch(values).data_ptr() == values.ctypes.data


@pytest.mark.optional("torch")
def test_torch_takes_device_and_gradients() -> None:
    made = kit("torch", {"device": "cpu", "requires_grad": True})

    assert made.batch(np.array([0.5], "f4")).requires_grad
    assert not made.batch(np.array([1])).requires_grad


@pytest.mark.optional("jax")
def test_jax_cuts_no_integer() -> None:
    from datasets_core.errors import CastError

    with pytest.raises(CastError, match="does not fit int32"):
        kit("jax", {}).batch(np.array([2**40]))


@pytest.mark.optional("tensorflow")
def test_tensorflow_stacks_ragged_lists_and_texts() -> None:
    made = kit("tensorflow", {})

    ragged: Any = made.batch(as_objects([np.array([1]), np.array([2, 3])]))
    assert ragged.to_list() == [[1], [2, 3]]
    assert made.batch(as_objects(["a", "b"])).numpy().tolist() == [b"a", b"b"]


@pytest.mark.optional("PIL")
@pytest.mark.parametrize("name", ["numpy", pytest.param("torch", marks=pytest.mark.optional("torch"))])
def test_pictures_become_arrays_with_the_channels_where_the_framework_has_them(name: str) -> None:
    from PIL import Image

    made = of_python({"p": Image.new("RGB", (3, 2)), "g": Image.new("L", (3, 2)), "n": [1, None], "m": [1, 2]}, kit(name, {}))

    wanted = ((3, 2, 3), (1, 2, 3)) if name == "torch" else ((2, 3, 3), (2, 3))
    assert (made["p"].shape, made["g"].shape) == wanted
    assert made["p"].dtype == np.uint8
    assert made["n"].tolist() == [1, None]
    assert (made["m"].tolist(), made["m"].dtype) == ([1, 2], np.int64)


def test_single_numbers_in_dicts_are_those_of_python_in_numpy() -> None:
    features = Features({"a": {"f": Value("float32"), "i": Value("int8"), "l": List(Value("float64")), "b": Value("bool")}})
    rows = Dataset.from_dict({"a": [{"f": 0.5, "i": 1, "l": [0.5], "b": True}]}, features=features)
    dtypes = {"f": "float64", "i": "int64", "l": "float32", "b": "bool"}  # as in `datasets`
    row = rows.with_format("numpy")[0]["a"]
    assert {name: value.dtype.name for name, value in row.items()} == dtypes
    assert rows.with_format("numpy")[:]["a"][0]["f"].dtype == np.float64
    assert rows.with_format("numpy", dtype="float32")[0]["a"]["i"].dtype == np.float32


@pytest.mark.parametrize("name", _TENSORS)
def test_single_numbers_in_dicts_are_float32_as_tensors(name: str) -> None:
    rows = Dataset.from_dict({"a": [{"f": 0.5}]}, features=Features({"a": {"f": Value("float64")}}))
    assert "float32" in str(rows.with_format(name)[0]["a"]["f"].dtype)
