"""Settings come from defaults, the environment and `using`."""

import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError


def test_help_does_not_print_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hf_secret")
    monkeypatch.setenv("HF_DATASETS_CACHE", "/fast")
    assert "hf_secret" not in pydoc.render_doc(config.from_environment)
    assert config.from_environment().cache_dir == "/fast"


def test_home_decides_the_cache_folder() -> None:
    assert config.from_environment({"HF_HOME": "/data/hf"}).cache_dir == "/data/hf/datasets"


def test_the_dataset_cache_beats_home() -> None:
    made = config.from_environment({"HF_HOME": "/data/hf", "HF_DATASETS_CACHE": "/fast"})
    assert (made.cache_dir, made.downloads_dir) == ("/fast", "/fast/downloads")


@pytest.mark.parametrize("name", ["HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE"])
def test_either_variable_switches_offline(name: str) -> None:
    assert config.from_environment({name: "1"}).offline


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HF_HUB_CACHE": "/a", "HUGGINGFACE_HUB_CACHE": "/b", "HF_HOME": "/c"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/b", "HF_HOME": "/c"}, "/b"),
        ({"HF_HOME": "/c"}, "/c/hub"),
        ({"XDG_CACHE_HOME": "/d"}, "/d/huggingface/hub"),
        ({}, "~/.cache/huggingface/hub"),
        ({"HF_HUB_CACHE": "~/e"}, "~/e"),
    ],
)
def test_the_hub_cache_is_where_other_tools_have_it(environment: dict[str, str], folder: str) -> None:
    assert config.from_environment(environment).hub_cache_dir == str(Path(folder).expanduser())


def test_the_hub_is_at_the_endpoint_of_the_environment() -> None:
    assert config.from_environment({}).hub_endpoint == "https://huggingface.co"
    assert config.from_environment({"HF_ENDPOINT": "http://localhost:80/hf/ "}).hub_endpoint == "http://localhost:80/hf"


def test_links_in_the_hub_cache_can_be_switched_off() -> None:
    assert config.from_environment({}).hub_symlinks
    assert not config.from_environment({"HF_HUB_DISABLE_SYMLINKS": "1"}).hub_symlinks


@pytest.mark.parametrize("text", ["much", "inf", "nan"])
def test_a_number_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigurationError, match=f"HF_DATASETS_IN_MEMORY_MAX_SIZE is '{text}'"):
        config.from_environment({"HF_DATASETS_IN_MEMORY_MAX_SIZE": text})


def test_less_than_no_memory_is_none() -> None:
    assert config.from_environment({"HF_DATASETS_IN_MEMORY_MAX_SIZE": "-1"}).max_memory_bytes == 0


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
    with pytest.raises(ConfigurationError, match="Unknown setting 'chunk_size'"), config.using(chunk_size=1):
        pass


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("cache_dir", value) for value in (None, 5, "", b"x", "a\0b")],
        *[(name, 5) for name in ("downloads_dir", "extracted_dir")],
        *[(name, value) for name in ("offline", "caching") for value in (1, "no", None)],
        *[("max_memory_bytes", value) for value in (-1, "1", 1.5, True, None)],
        *[("max_download_bytes", value) for value in (-1, "1", True)],
        *[(name, 0) for name in ("max_shard_bytes", "batch_bytes", "batch_rows", "max_retries", "download_threads")],
        *[(name, -1) for name in ("max_archive_members", "max_archive_bytes", "max_archive_ratio")],
        ("max_columns", 999),
        *[("hub_symlinks", value) for value in (1, None)],
        *[(f"{name}_timeout_seconds", value) for name in ("connect", "read", "hub") for value in (0, -1, True, "1")],
        *[(name, 0) for name in ("stream_memory_bytes", "stream_threads", "stream_window_bytes", "stream_timeout_seconds")],
        *[(name, value) for name, value in (("stream_cache_bytes", -1), ("stream_cache_dir", 5), ("stream_transport", "ftp"))],
        *[("max_retry_wait_seconds", value) for value in (-0.5, float("nan"), float("inf"), None)],
    ],
)
def test_a_value_without_meaning_is_refused_by_name(name: str, value: object) -> None:
    before = config.settings()
    with (
        pytest.raises(ConfigurationError, match=f"The setting {name} is {re.escape(repr(value))}"),
        config.using(**{name: value}),
    ):
        pass
    assert config.settings() is before


@pytest.mark.parametrize("name", ["hub_endpoint", "hub_cache_dir"])
@pytest.mark.parametrize("value", [5, None, "a\0b"])
def test_the_hub_and_its_cache_are_named_by_texts(name: str, value: object) -> None:
    with (
        pytest.raises(ConfigurationError, match=f"The setting {name} must be a non-empty string"),
        config.using(**{name: value}),
    ):
        pass


@pytest.mark.parametrize("value", [5, None, [5], [""], ""])
def test_paths_of_media_are_folders_or_urls(value: object) -> None:
    with pytest.raises(ConfigurationError, match="media_paths"), config.using(media_paths=value):
        pass


def test_paths_of_media_are_one_or_several() -> None:
    with config.using(media_paths=Path("a")) as one, config.using(media_paths=["a", "https://x.org"]) as several:
        assert (one.media_paths, several.media_paths) == (("a",), ("a", "https://x.org"))


def test_the_least_values_are_taken() -> None:
    with config.using(max_memory_bytes=0, max_download_bytes=None, batch_rows=1, max_retry_wait_seconds=0) as changed:
        assert (changed.max_download_bytes, changed.max_retry_wait_seconds) == (None, 0)


def test_folders_may_be_paths() -> None:
    with config.using(cache_dir=Path("/x"), downloads_dir=Path("/y"), hub_cache_dir=Path("/z")) as changed:
        assert (changed.cache_dir, changed.downloads_dir, changed.extracted_dir) == ("/x", "/y", "/y/extracted")
    assert changed.hub_cache_dir == "/z"


def test_settings_have_the_names_that_other_tools_know() -> None:
    with config.using(cache_dir="/somewhere"):
        assert str(config.HF_DATASETS_CACHE) == "/somewhere"
    assert config.MAX_SHARD_SIZE == "500MB"
    with pytest.raises(AttributeError, match="NOTHING"):
        _ = config.NOTHING
    with pytest.raises(AttributeError, match=r"'datasets_core\.config' has no attribute 'nothing'"):
        _ = config.nothing


def test_an_assignment_inside_using_takes_nothing_else_of_the_block_along() -> None:
    program = (
        "from datasets_core import config\n"
        "before = config.settings()\n"
        "with config.using(max_retries=77):\n"
        "    config.MAX_SHARD_SIZE = '1.5 GiB'\n"
        "    assert (config.settings().max_shard_bytes, config.settings().max_retries) == (3 << 29, 77)\n"
        "assert config.settings().max_shard_bytes == 3 << 29\n"
        "assert config.settings().max_retries == before.max_retries\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
