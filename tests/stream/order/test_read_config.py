"""What a read config takes, and how it is understood."""

import copy
import dataclasses
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.stream.order.files import ReadConfig


def test_defaults_are_those_of_tfds() -> None:
    asked = ReadConfig()
    assert (asked.interleave_cycle_length, asked.interleave_block_length, asked.shuffle_seed) == (16, 16, None)
    assert (asked.enable_ordering_guard, asked.assert_cardinality, asked.try_autocache) == (True, True, True)
    assert (asked.add_tfds_id, asked.repeat_filenames, asked.skip_prefetch) == (False, False, False)
    assert asked == ReadConfig()


@pytest.mark.parametrize("name", [each.name for each in dataclasses.fields(ReadConfig)])
def test_every_field_is_described(name: str) -> None:
    assert name in str(ReadConfig.__doc__)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("interleave_cycle_length", 0),
        ("interleave_cycle_length", True),
        ("interleave_cycle_length", 1.5),
        ("interleave_block_length", -1),
        ("interleave_block_length", "16"),
        ("shuffle_seed", "x"),
        ("shuffle_seed", 0.5),
        ("interleave_sort_fn", 3),
        ("experimental_interleave_sort_fn", "sorted"),
        ("input_context", object()),
        ("input_context", SimpleNamespace(num_input_pipelines=2, input_pipeline_id=2)),
        ("input_context", SimpleNamespace(num_input_pipelines=2, input_pipeline_id=-1)),
        ("input_context", SimpleNamespace(num_input_pipelines=2)),
    ],
)
def test_what_means_nothing_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"interleave_|shuffle_seed|input_|sort_fn") as found:
        ReadConfig(**{name: value})
    assert isinstance(found.value, ValueError)
    later = ReadConfig()
    setattr(later, name, value)
    with pytest.raises(ConfigurationError):
        later.check()


def test_both_names_of_the_sort_function_mean_one() -> None:
    assert ReadConfig(interleave_sort_fn=sorted, experimental_interleave_sort_fn=sorted).sort_function is sorted
    assert ReadConfig(experimental_interleave_sort_fn=list).sort_function is list
    with pytest.raises(ConfigurationError, match="two names of one option"):
        ReadConfig(interleave_sort_fn=sorted, experimental_interleave_sort_fn=list)


@pytest.mark.parametrize("changed", [lambda asked: asked, copy.deepcopy, lambda asked: pickle.loads(pickle.dumps(asked))])
def test_a_cycle_that_nobody_asked_for_gives_way_to_order(changed: Any) -> None:
    unasked, asked = changed(ReadConfig(shuffle_seed=1)), changed(ReadConfig(interleave_cycle_length=int("16")))

    assert (unasked.cycle_length(is_ordered=False), unasked.cycle_length(is_ordered=True)) == (16, 1)
    assert (asked.cycle_length(is_ordered=False), asked.cycle_length(is_ordered=True)) == (16, 16)
    assert dataclasses.replace(unasked, shuffle_seed=2).cycle_length(is_ordered=True) == 1


def test_none_is_the_default() -> None:
    asked = ReadConfig(interleave_cycle_length=None, interleave_block_length=None)
    assert (asked.cycle_length(is_ordered=False), asked.cycle_length(is_ordered=True), asked.block_length) == (16, 1, 16)


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    asked = ReadConfig(interleave_cycle_length=np.int64(3), shuffle_seed=np.int32(1))  # type: ignore[arg-type]
    assert type(asked.cycle_length(is_ordered=False)) is int


def test_options_of_other_code_are_taken() -> None:
    asked = ReadConfig(try_autocache=False, num_parallel_calls_for_decode=3, override_buffer_size=7, file_format="array_record")
    asked.options.deterministic = True
    assert asked == ReadConfig(**{**vars(asked), "options": None})


def test_columns_of_ids_are_those_that_are_asked_for() -> None:
    assert ReadConfig().id_columns == ()
    assert ReadConfig(add_tfds_id=True).id_columns == ("tfds_id",)
    assert ReadConfig(add_tfds_id=True, add_row_id=True).id_columns == ("tfds_id", "row_id")


@pytest.mark.parametrize(("given", "found"), [(None, True), (True, True), (False, False)])
def test_files_are_shuffled_anew_unless_that_is_refused(given: bool | None, found: bool) -> None:
    assert ReadConfig(shuffle_reshuffle_each_iteration=given).reshuffles is found
