from __future__ import annotations

import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from datasets_core.errors import ReferenceSyntaxError
from datasets_core.features.base import Value
from datasets_core.features.media.types import Image
from datasets_core.meta import version
from datasets_core.scripting.compat import datasets
from datasets_core.scripting.compat.datasets import Version


@pytest.mark.parametrize(("text", "plain"), [("2018.04.18", "2018.4.18"), ("0.00.000", "0.0.0"), ("1.2.3", "1.2.3")])
def test_versions_may_have_leading_zeros(text: str, plain: str) -> None:
    found = Version(text, "why")
    assert (str(found), found.description, found.tuple) == (plain, "why", version.Version(plain).tuple)
    assert found == version.Version(plain) == found == version.as_version(text)
    assert hash(found) == hash(version.Version(plain))
    assert found.match("*.*.*")
    assert pickle.loads(pickle.dumps(found)) == found
    assert isinstance(found, version.Version)


@pytest.mark.parametrize("text", ["1.2", "1..2", "a.b.c", "1.2.x", ""])
def test_what_is_no_version_stays_none(text: str) -> None:
    with pytest.raises(ReferenceSyntaxError, match="is not a valid version"):
        Version(text)


def test_files_are_opened_as_open_does(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ä\nb\n", encoding="latin-1")
    with datasets.xopen(path, encoding="latin-1", download_config=None) as file:
        assert datasets.readline(file) == "ä\n"
    with datasets.xopen(f"file://{path}", "rb") as file:
        assert file.read() == b"\xe4\nb\n"
    with datasets.xopen(f"file://{path}", encoding="latin-1") as file:
        assert file.read() == "ä\nb\n"


def test_parents_of_paths_and_urls() -> None:
    assert datasets.url_or_path_parent("a/b.txt") == "a"
    assert datasets.url_or_path_join("a", "b", "c.txt") == "a/b/c.txt"


def test_a_seed_holds_for_a_block_of_code() -> None:
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()
    with datasets.temp_seed(3, set_pytorch=True):
        first = np.random.random()
        random.random()
    with datasets.temp_seed(3):
        assert np.random.random() == first
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before


def test_sizes_are_shown_and_read() -> None:
    assert [datasets.size_str(size) for size in (None, 10, 3 << 20)] == ["Unknown size", "10 bytes", "3.00 MiB"]
    assert datasets.convert_file_size_to_int(7) == 7


def test_which_features_need_a_cast() -> None:
    assert datasets.require_storage_cast(Image())
    assert not datasets.require_storage_cast(Value("string"))


def test_nestings_keep_their_shape() -> None:
    assert datasets.map_nested(str.upper, {"a": ("x", ["y"])}) == {"a": ("X", ["Y"])}
