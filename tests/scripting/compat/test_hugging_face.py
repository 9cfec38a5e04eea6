from __future__ import annotations

import pytest

from datasets_core.scripting.compat.tables import HUGGING_FACE_MODULES, HUGGING_FACE_REASONS, open_module

SUBMODULES = ["features", "logging", "tasks", "splits", "info", "builder", "naming", "utils", "exceptions", "load", "config"]


@pytest.mark.parametrize("name", SUBMODULES)
def test_what_scripts_reach_as_attributes_is_a_module(name: str) -> None:
    assert getattr(open_module("datasets"), name) is open_module(f"datasets.{name}")


def test_every_module_stands_below_one_that_there_is() -> None:
    assert {name.rpartition(".")[0] for name in HUGGING_FACE_MODULES if "." in name} <= set(HUGGING_FACE_MODULES)


def test_no_name_is_both_there_and_refused() -> None:
    there = {f"{module}.{name}" for module, names in HUGGING_FACE_MODULES.items() for name in names} | set(HUGGING_FACE_MODULES)
    assert there & set(HUGGING_FACE_REASONS) == set()
