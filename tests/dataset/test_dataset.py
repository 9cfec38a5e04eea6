"""Every method that users of Hugging Face `datasets` know is there, with its parameters in their order."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset

# From the public interface of `datasets` 5.2.0: method → its parameters.
METHODS = json.loads((Path(__file__).parent / "golden" / "methods.json").read_text(encoding="utf-8"))["Dataset"]
NOT_YET = {"push_to_hub"}  # it comes with the Hub


@pytest.mark.parametrize("name", sorted(set(METHODS) - NOT_YET))
def test_a_method_takes_the_known_parameters_in_their_order(name: str) -> None:
    known = [parameter.lstrip("*") for parameter in METHODS[name].split()]
    found = [parameter for parameter in inspect.signature(getattr(Dataset, name)).parameters if parameter != "self"]
    assert found[: len(known)] == known


PUBLIC = [name for name in dir(Dataset) if not name.startswith("_") and callable(getattr(Dataset, name))]


@pytest.mark.parametrize("name", sorted({*PUBLIC, *METHODS} - NOT_YET))
def test_a_method_says_what_it_does_with_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(Dataset, name)) or "")
