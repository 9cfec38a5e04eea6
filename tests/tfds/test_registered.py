"""Which classes become known, and under which names."""

from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.errors import ConfigurationError
from datasets_core.tfds.info import name_of, registered, registered_names, skip_registration


def test_classes_become_known_unless_somebody_does_not_want_it(numbers: Any) -> None:
    with skip_registration():
        type("Within", (numbers,), {})
    type("Asked", (numbers,), {}, skip_registration=True)
    type("Half", (tfds.core.GeneratorBasedBuilder,), {})  # its hooks are still to be written
    assert registered_names() == ["numbers"]


def test_a_class_made_again_takes_the_name_over_and_one_of_other_code_is_refused(numbers: Any) -> None:
    again = type("Numbers", (numbers,), {"__module__": numbers.__module__})
    assert registered("numbers") is again
    with pytest.raises(ConfigurationError, match=r"already registered as builder 'numbers'.*elsewhere\.Numbers"):
        type("Numbers", (numbers,), {"__module__": "elsewhere"})
    assert registered("numbers") is again
    assert type("Numbers", (numbers,), {"__module__": "elsewhere"}, skip_registration=True).name == "numbers"


def test_a_main_module_that_a_process_reads_again_and_scripts_take_names_over(numbers: Any) -> None:
    for first, second in (("__main__", "__mp_main__"), ("datasets_core_scripts.a_1.a", "datasets_core_scripts.a_2.a")):
        name = f"Numbers{first[-1]}x"
        type(name, (numbers,), {"__module__": first})
        again = type(name, (numbers,), {"__module__": second})
        assert registered(again.name) is again  # type: ignore[attr-defined]


def test_names_are_in_snake_case_and_a_builder_has_that_of_its_folder() -> None:
    assert name_of(type("HTTPServer2Data", (), {})) == "http_server2_data"
    assert name_of(type("QM9", (), {})) == "q_m9"
    assert name_of(type("Builder", (), {"__module__": __name__})) == "tfds"
    assert name_of(type("Builder", (), {"__module__": "shop.reviews.builder"})) == "reviews"
