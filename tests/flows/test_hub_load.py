"""Repositories of every shape load as Hugging Face `datasets` loads them, and load right where it fails."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import datasets_core
from datasets_core import config

# names of the tests: the calls of `hub_shapes.CALLS`, which other modules cannot import
GOLDEN: dict[str, Any] = json.loads(Path(__file__).with_name("golden").joinpath("hub_shapes.json").read_text())


@pytest.fixture(scope="module")
def shaped_hub(shared_hub: Any, hub_shapes: ModuleType) -> Any:
    hub_shapes.extend(shared_hub)
    return shared_hub


@pytest.mark.filterwarnings("ignore::datasets_core.errors.DataFilesWarning")
@pytest.mark.parametrize("title", GOLDEN)
def test_a_call_gives_what_users_expect(title: str, shaped_hub: Any, hub_shapes: ModuleType, hub_calls: ModuleType) -> None:
    call = next(call for call in hub_shapes.CALLS if hub_shapes.title(call) == title)
    expected = hub_shapes.OURS.get(title, GOLDEN[title])
    with config.using(**shaped_hub.settings):
        found = hub_calls.outcome(datasets_core, call[0], hub_shapes.repository(call), call[2])
    assert hub_shapes.compared(found, expected) == expected


def test_the_golden_file_has_every_call(hub_shapes: ModuleType) -> None:
    assert [hub_shapes.title(call) for call in hub_shapes.CALLS] == list(GOLDEN)
