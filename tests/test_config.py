"""Settings come from defaults, the environment and `using`."""

import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError


def test_home_decides_the_cache_folder() -> None:
    assert config.from_environment({"HF_HOME": "/data/hf"}).cache_dir == "/data/hf/datasets"


def test_the_dataset_cache_beats_home() -> None:
    made = config.from_environment({"HF_HOME": "/data/hf", "HF_DATASETS_CACHE": "/fast"})
    assert (made.cache_dir, made.downloads_dir) == ("/fast", "/fast/downloads")


@pytest.mark.parametrize("name", ["HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE"])
def test_either_variable_switches_offline(name: str) -> None:
    assert config.from_environment({name: "1"}).offline


def test_a_number_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="HF_DATASETS_IN_MEMORY_MAX_SIZE is 'much'"):
        config.from_environment({"HF_DATASETS_IN_MEMORY_MAX_SIZE": "much"})


def test_a_change_ends_with_its_block() -> None:
    before = config.settings()
    with config.using(batch_rows=7):
        assert config.settings().batch_rows == 7
    assert config.settings() is before


def test_a_change_ends_when_the_block_fails() -> None:
    before = config.settings()
    with pytest.raises(RuntimeError), config.using(batch_rows=7):
        raise RuntimeError
    assert config.settings() is before


def test_a_new_cache_folder_takes_the_downloads_along() -> None:
    with config.using(cache_dir="/x") as changed:
        assert (changed.downloads_dir, changed.extracted_dir) == ("/x/downloads", "/x/downloads/extracted")


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'chunk_size' is no setting"), config.using(chunk_size=1):
        pass
