"""Files that another config reads are refused to a push, and those that its own reads are not."""

from __future__ import annotations

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.io.push import check_replaced
from datasets_core.io.push_target import PushTarget, RepositoryState

FILES = ["all/train-00000-of-00001.parquet", "all/test-00000-of-00001.parquet"]


def card(**configs: str) -> str:
    """A card whose configs are written so."""
    return "---\nconfigs:\n" + "".join(f"- config_name: {name}\n  {text}\n" for name, text in configs.items()) + "---\n"


def check(text: str | None, *, config: str = "b", yaml: str | None = None) -> None:
    state = RepositoryState(text, None, FILES, yaml)
    check_replaced(PushTarget("org/name", config, "all"), state, FILES)


@pytest.mark.parametrize(
    "files",
    ["data_files: all/*.parquet", "data_files: all/train-*", "data_dir: all", "data_dir: all/", "data_files: '**'"],
)
def test_what_another_config_reads_is_refused(files: str) -> None:
    with pytest.raises(ConfigurationError, match="belongs to the config 'a'"):
        check(card(a=files))


@pytest.mark.parametrize(
    "text",
    [
        None,
        "# Title",
        card(a="data_files: en/*.parquet"),
        card(a="data_files: all/validation-*"),
        card(a="version: 1.0.0"),
        card(a="data_files: 'all/[b-a]*'"),
        card(a="data_files: all/*.parquet", b="data_files: all/*"),
        card(a="data_files: '*/train-*'", b="data_dir: all"),
        card(a="data_files: all/*.parquet", b="version: 1.0.0"),
    ],
    ids=["none", "text", "elsewhere", "others", "nothing", "senseless", "own", "own folder", "own unnamed"],
)
def test_what_none_reads_or_the_own_config_too_is_not(text: str | None) -> None:
    check(text)


def test_the_configs_of_the_yaml_beside_take_the_place_of_those_of_the_card() -> None:
    with pytest.raises(ConfigurationError, match="belongs to the config 'c'"):
        check(card(b="data_dir: all"), yaml=card(c="data_dir: all").strip("-\n"))


def test_a_push_that_replaces_nothing_reads_no_card() -> None:
    check_replaced(PushTarget("org/name"), RepositoryState("---\n[\n---\n", None, []), [])
