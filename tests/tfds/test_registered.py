"""Which classes become known, and under which names."""

from typing import Any

from datasets_core import tfds
from datasets_core.tfds.registered import name_of, registered, registered_names, skip_registration


def test_classes_become_known_unless_somebody_does_not_want_it(numbers: Any) -> None:
    with skip_registration():
        type("Within", (numbers,), {})
    type("Asked", (numbers,), {}, skip_registration=True)
    type("Half", (tfds.core.GeneratorBasedBuilder,), {})  # its hooks are still to be written
    assert registered_names() == ["numbers"]


def test_a_class_made_later_takes_the_name_over(numbers: Any) -> None:
    again = type("Numbers", (numbers,), {})
    assert registered("numbers") is again


def test_names_are_in_snake_case_and_a_builder_has_that_of_its_folder() -> None:
    assert name_of(type("HTTPServer2Data", (), {})) == "http_server2_data"
    assert name_of(type("Builder", (), {"__module__": __name__})) == "tfds"
    assert name_of(type("Builder", (), {"__module__": "shop.reviews.builder"})) == "reviews"
