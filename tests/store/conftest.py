"""Tables and datasets for the tests of this folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.commit import Staging
from datasets_core.store.manifest import Manifest
from datasets_core.store.writer import ShardWriter


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The cache folder of the test."""
    with config.using(cache_dir=str(tmp_path_factory.mktemp("cache"))) as settings:
        yield settings.cache_dir


@pytest.fixture
def table() -> pa.Table:
    """100 rows: numbers, texts with nulls, lists."""
    return pa.table(
        {
            "id": list(range(100)),
            "text": [None if i % 7 == 0 else f"row {i}" for i in range(100)],
            "list": [list(range(i % 4)) for i in range(100)],
        }
    )


Build = Callable[..., tuple[str, Manifest]]


@pytest.fixture
def described(table: pa.Table) -> pa.Table:
    """The same rows, with their features in the schema, as builds write them."""
    return table.replace_schema_metadata(Features.from_arrow_schema(table.schema).arrow_schema.metadata)


@pytest.fixture
def dataset(tmp_path: Path, table: pa.Table) -> tuple[str, Manifest]:
    """A finished dataset: split train, 5 shards of 20 rows in batches of 10, and split test, 1 shard of 10 rows."""
    return _build(str(tmp_path / "data"), table)


@pytest.fixture
def build() -> Build:
    """What makes such a dataset: `build(target, table, file_format="arrow")`."""
    return _build


def _build(target: str, table: pa.Table, *, file_format: str = "arrow") -> tuple[str, Manifest]:
    """Write `table` as split train (5 shards of 20 rows), its first 10 rows as split test, and commit."""
    staging = Staging.adopt_or_create(target)
    shards = []
    for number in range(5):
        with ShardWriter(
            staging.folder, f"job-{number}", split="train", schema=table.schema, file_format=file_format, batch_rows=10
        ) as writer:
            writer.write(table.slice(number * 20, 20))
        shards += writer.close()
    with ShardWriter(staging.folder, "job-test", split="test", schema=table.schema, file_format=file_format) as writer:
        writer.write(table.slice(0, 10))
    shards += writer.close()
    splits = [{"name": "train", "num_examples": 100}, {"name": "test", "num_examples": 10}]
    info = DatasetInfo.from_dict({"dataset_name": "reviews", "splits": splits})
    if table.schema.metadata:
        info.features = Features.from_arrow_schema(table.schema)
    return target, staging.commit(Manifest(info, tuple(shards), file_format=file_format))
