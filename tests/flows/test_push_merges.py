"""What a repository held before a push loads afterwards as it did, or the push is refused before a row is made."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, DataFilesWarning
from datasets_core.inspect import get_dataset_config_names
from datasets_core.load import load_dataset

REPO = "org/merged"


def parquet(**columns: list[Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


OLD, NEW = parquet(a=[1, 2, 3]), {"a": [7]}


def pushed(
    hub: Any, files: dict[str, Any], config: str = "default", *, rows: dict[str, list[Any]] = NEW, split: str = "train"
) -> None:
    hub.repo(REPO, files)
    Dataset.from_dict(rows).push_to_hub(REPO, config, split=split, token=hub.token)


def loaded(config: str | None = None) -> dict[str, list[Any]]:
    return {split: rows["a"][:] for split, rows in load_dataset(REPO, config).items()}


@pytest.mark.parametrize("path", ["data/train-00000-of-00001.parquet", "train.parquet", "x/y.parquet"])
def test_what_no_card_named_is_a_config_beside_the_one_that_is_pushed(hub: Any, path: str) -> None:
    pushed(hub, {path: OLD}, "en")

    assert get_dataset_config_names(REPO) == ["default", "en"]
    assert (loaded("default"), loaded("en"), loaded()) == ({"train": [1, 2, 3]}, {"train": [7]}, {"train": [1, 2, 3]})


def test_a_config_of_another_format_loads_too(hub: Any) -> None:
    pushed(hub, {"train.csv": "a\n1\n", "test.csv": "a\n2\n"}, "en")

    assert (loaded("default"), loaded("en")) == ({"train": [1], "test": [2]}, {"train": [7]})


@pytest.mark.parametrize(
    ("files", "config"),
    [
        ({"train.parquet": OLD}, "default"),
        ({"data/train-00000-of-00001-0123456789abcdef.parquet": OLD}, "default"),
        ({"en/train.parquet": OLD, "README.md": "---\nconfigs:\n- config_name: en\n  data_dir: en\n---\n"}, "en"),
        (
            {"x.parquet": OLD, ".huggingface.yaml": "configs:\n- config_name: default\n  data_files: x.parquet\n"},
            "default",
        ),
    ],
    ids=["no card", "old shards", "data_dir", "yaml"],
)
def test_splits_that_stand_stay_beside_the_one_that_is_pushed(hub: Any, files: dict[str, Any], config: str) -> None:
    pushed(hub, files, config, split="validation")

    assert loaded(config) == {"train": [1, 2, 3], "validation": [7]}


CSV = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: raw.csv\n  sep: ';'\n---\n"


def test_files_of_another_format_that_no_card_names_stay_beside_what_is_pushed(hub: Any) -> None:
    with pytest.warns(DataFilesWarning, match=r"train\.csv of org/merged is csv"):
        pushed(hub, {"train.csv": "a\n1\n", "more/plan.csv": "x\n"}, split="test")

    assert loaded() == {"test": [7]}
    assert {"train.csv", "more/plan.csv"} <= set(hub.repos[REPO].files())


def test_a_second_format_in_a_config_is_refused_and_nothing_is_sent(hub: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'train' as csv \(raw\.csv\).*another config_name"):
        pushed(hub, {"raw.csv": "a;b\n1;2\n", "README.md": CSV}, split="test")

    assert not {"preupload", "lfs-batch", "upload", "commit"} & set(hub.counts())
    assert loaded() == {"train": [1]}


def test_no_column_of_what_is_pushed_is_hidden(hub: Any) -> None:
    options = "  columns: [a]\n  x-mine: 3\n"
    card = f"---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/*.parquet\n{options}---\n"
    pushed(hub, {"README.md": card, "data/x.parquet": OLD}, rows={"a": [7], "b": [8]})

    assert load_dataset(REPO, split="train").column_names == ["a", "b"]
    assert "x-mine: 3" in hub.repos[REPO].text("README.md")


def test_a_card_with_a_key_twice_is_kept_and_loads(hub: Any) -> None:
    pushed(hub, {"README.md": "---\nlicense: mit\nlicense: apache-2.0\n---\nText\n"})

    assert hub.repos[REPO].text("README.md").startswith("---\nlicense: mit\nlicense: apache-2.0\n")
    assert loaded() == {"train": [7]}
