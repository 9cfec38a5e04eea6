"""Every kind of column through every kind of file and frame, and back: equal, or different as is written here."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_from_disk

_MOMENTS = ("timestamp", "duration")
_NO_TEXT = {"binary", "large_binary"}  # bytes that are no text


@pytest.fixture(scope="module")
def whole(every_kind: ModuleType) -> Dataset:
    """The table with a column of every kind."""
    return Dataset.from_list(every_kind.rows(), features=Features.from_dict(every_kind.FORM))


def _differences(whole: Dataset, described: Any, through: Any) -> dict[str, str]:
    """The columns that do not come back equal, with how they fail."""
    found: dict[str, str] = {}
    for name in whole.column_names:
        one = whole.select_columns(name)
        try:
            if described(through(one)) != described(one):
                found[name] = "differs"
        except DatasetsCoreError as error:
            found[name] = type(error).__name__
    return found


@pytest.mark.parametrize("num_shards", [1, 2])
def test_a_saved_folder_gives_back_everything(whole: Dataset, exchange: ModuleType, num_shards: int, tmp_path: Path) -> None:
    whole.save_to_disk(tmp_path, num_shards=num_shards)
    assert exchange.described(load_from_disk(tmp_path)) == exchange.described(whole)


def test_parquet_gives_back_everything(whole: Dataset, exchange: ModuleType, tmp_path: Path) -> None:
    whole.to_parquet(tmp_path / "a.parquet")
    found = Dataset.from_parquet(tmp_path / "a.parquet", features=whole.features, cache_dir=tmp_path)
    assert exchange.described(found) == exchange.described(whole)


@pytest.mark.optional("pandas")
def test_json_gives_back_all_but_moments_and_what_is_no_text(whole: Dataset, exchange: ModuleType, tmp_path: Path) -> None:
    """Moments are milliseconds, floats have ten decimals, as Hugging Face writes them."""

    def through(dataset: Dataset) -> Dataset:
        path = tmp_path / f"{abs(hash(dataset.column_names[0]))}.jsonl"
        dataset.to_json(path)
        return Dataset.from_json(path, features=dataset.features, cache_dir=tmp_path)

    found = _differences(whole, exchange.described, through)
    lost = {name for name in whole.column_names if name.startswith(_MOMENTS)}
    odd = {"float32", "float64", "date32", "List of dict", "dict"}  # infinity and -0.0; the year 1; moments inside
    assert set(found) - lost - _NO_TEXT - odd == set()


@pytest.mark.optional("pandas")
def test_csv_gives_back_plain_columns(whole: Dataset, exchange: ModuleType, tmp_path: Path) -> None:
    """Lists, dicts, bytes and spans have no form in csv; texts with NUL are taken for another encoding."""

    def through(dataset: Dataset) -> Dataset:
        path = tmp_path / f"{abs(hash(dataset.column_names[0]))}.csv"
        dataset.to_csv(path)
        return Dataset.from_csv(path, features=dataset.features, cache_dir=tmp_path)

    found = _differences(whole, exchange.described, through)
    plain = {name for name, feature in whole.features.items() if isinstance(feature, (Value, ClassLabel))}
    lost = {name for name in plain if name.startswith("duration") or "binary" in name}
    assert set(found) & plain - lost - {"string", "large_string"} == set()


@pytest.mark.optional("pandas")
def test_pandas_gives_back_all_but_large_integers_beside_nulls(whole: Dataset, exchange: ModuleType) -> None:
    found = _differences(whole, exchange.described, lambda one: Dataset.from_pandas(one.to_pandas(), features=one.features))
    assert set(found) == {"int64", "uint64"}


@pytest.mark.optional("polars")
def test_polars_gives_back_all_but_what_it_does_not_have(whole: Dataset, exchange: ModuleType) -> None:
    known = whole.remove_columns(["decimal256(50, 2)", "Json"])  # it panics, and it is text there
    found = _differences(known, exchange.described, lambda one: Dataset.from_polars(one.to_polars(), features=one.features))
    assert found == {}
