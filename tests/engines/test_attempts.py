"""Jobs that run twice, with other rows each time: one attempt is chosen, whole, and the other does not touch its files."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import Dataset, config
from datasets_core.building.builder import ArrowBasedBuilder, DatasetBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo

PARTS, ROWS = 3, 40
_attempts = [0]


class Twice:
    """Runs each job, and again behind its result, and yields both results."""

    shares_memory = True

    def run(self, function: Callable[[Any], Any], jobs: Iterable[Any], **options: Any) -> Iterator[tuple[int, Any]]:
        for position, job in enumerate(jobs):
            _attempts[0] += 1
            yield position, function(job)
            _attempts[0] += 1
            yield position, function(job)


class Forgetful(Twice):
    """Leaves out the second job."""

    def run(self, function: Callable[[Any], Any], jobs: Iterable[Any], **options: Any) -> Iterator[tuple[int, Any]]:
        return ((position, function(job)) for position, job in enumerate(jobs) if position != 1)


def _rows(part: int) -> Iterator[tuple[int, dict[str, Any]]]:
    attempt = _attempts[0]  # later attempts make longer rows, and other files
    for number in range(ROWS):
        yield part * ROWS + number, {"part": part, "attempt": attempt, "text": "x" * (100 * attempt + number)}


class Split(DatasetBuilder):
    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator(name="train", gen_kwargs={"parts": list(range(PARTS))})]


class Told(Split, GeneratorBasedBuilder):
    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"part": Value("int32"), "attempt": Value("int32"), "text": Value("string")}))

    def _generate_examples(self, parts: list[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        for part in parts:
            yield from _rows(part)


class Untold(Told):
    def _info(self) -> DatasetInfo:
        return DatasetInfo()


class Mixed(Told):
    """The last part has another type, so that the others are cast."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo()

    def _generate_examples(self, parts: list[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        for key, row in super()._generate_examples(parts):
            yield key, {**row, "more": 1.5 if parts == [PARTS - 1] else 1}


class Tables(Split, ArrowBasedBuilder):
    def _info(self) -> DatasetInfo:
        return DatasetInfo()

    def _generate_tables(self, parts: list[int]) -> Iterator[tuple[int, pa.Table]]:
        for part in parts:
            yield part, pa.Table.from_pylist([row for _, row in _rows(part)])


OPTIONS: list[dict[str, Any]] = [{}, {"num_shards": 2}, {"file_format": "parquet"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", [Told, Untold, Mixed, Tables])
@pytest.mark.parametrize("shuffles", [False, True])
def test_a_build_takes_one_attempt_at_each_job(
    kind: type[Split], options: dict[str, Any], shuffles: bool, tmp_path: Path
) -> None:
    kind.shuffle_on_write = shuffles
    builder = kind(cache_dir=str(tmp_path))
    builder.download_and_prepare(engine=Twice(), num_proc=PARTS, **options)
    rows = builder.as_dataset("train")
    found = rows.to_dict()
    assert sorted(found["part"]) == sorted(list(range(PARTS)) * ROWS)
    for part in range(PARTS):
        of_part = [place for place in range(len(rows)) if found["part"][place] == part]
        (attempt,) = {found["attempt"][place] for place in of_part}
        assert sorted(len(found["text"][place]) for place in of_part) == [100 * attempt + number for number in range(ROWS)]
    names = {name for _, _, names in os.walk(builder.cache_dir) for name in names}
    assert {Path(file["filename"]).name for file in rows.cache_files} < names
    assert not [name for name in names if "tmp" in name or name.endswith((".order", ".words", ".keys", ".plan"))]
    shards = [name for name in names if name.endswith((".arrow", ".parquet"))]
    assert len(shards) == len(rows.cache_files)


def test_map_takes_one_attempt_at_each_job(tmp_path: Path) -> None:
    rows = Dataset.from_dict({"part": [part for part in range(PARTS) for _ in range(ROWS)]})
    with config.using(cache_dir=str(tmp_path)):
        made = rows.map(lambda row: {"text": "x" * (10_000 * _attempts[0])}, engine=Twice(), num_proc=PARTS)
    assert len(made) == PARTS * ROWS
    for part in range(PARTS):
        assert len({len(row["text"]) for row in made if row["part"] == part}) == 1


def test_an_engine_that_leaves_out_a_job_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Forgetful ended without a result for job 1 of 3"):
        Told(cache_dir=str(tmp_path)).download_and_prepare(engine=Forgetful(), num_proc=PARTS)
