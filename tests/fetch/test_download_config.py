"""What a user says about downloads."""

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.fetch.checksums import DownloadConfig, DownloadMode


def test_a_copied_config_shares_nothing():
    one = DownloadConfig(storage_options={"a": {}})
    two = one.copy()
    two.storage_options["a"]["b"] = 1
    assert one.storage_options == {"a": {}}


def test_a_token_is_not_shown():
    assert "hf_x" not in repr(DownloadConfig(token="hf_x"))


def test_an_unknown_mode_names_the_known_ones():
    with pytest.raises(ConfigurationError, match="'reuse_cache_if_exists'"):
        DownloadMode("reuse")
