"""Builders whose rows a pipeline makes; what runs one is skipped where Apache Beam is not installed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.beam import BeamBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError, DatasetGenerationError, MissingDependencyError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.optional import is_installed

beam_only = pytest.mark.optional("apache_beam")
pytestmark = pytest.mark.filterwarnings("ignore")  # Beam's own


class Squares(BeamBasedBuilder):
    keys: Any = staticmethod(lambda n: n)

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"n": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"numbers": [3, 1, 2]}), SplitGenerator("empty", {"numbers": []})]

    def _build_pcollection(self, pipeline: Any, numbers: list[int]) -> Any:  # type: ignore[override]
        import apache_beam as beam

        return pipeline | beam.Create(numbers) | beam.Map(lambda n: (self.keys(n), {"n": n**2}))


class Shared(Squares):
    def _split_generators(self, dl_manager: Any, pipeline: Any) -> list[SplitGenerator]:  # type: ignore[override]
        import apache_beam as beam

        assert pipeline.is_local()
        assert dl_manager.ship_files_with_pipeline(["a"], pipeline) == ["a"]
        both = pipeline | beam.Create([1, 2])
        return [SplitGenerator(name, {"numbers": both}) for name in ("one", "two")]

    def _build_pcollection(self, pipeline: Any, numbers: Any) -> Any:
        import apache_beam as beam

        return numbers | beam.Map(lambda n: (str(n), {"n": n}))


@pytest.mark.skipif(is_installed("apache_beam"), reason="Apache Beam is installed")
def test_without_beam_a_build_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match=r"Squares, a builder of Apache Beam, needs .*datasets_core\[beam\]"):
        Squares(cache_dir=tmp_path).download_and_prepare()
    assert not list(tmp_path.rglob("*.incomplete-*"))


def test_a_builder_travels_without_the_settings_of_the_pipeline() -> None:
    builder = Squares(beam_runner=object(), beam_options={"x": lambda: 0})
    assert pickle.loads(pickle.dumps(builder)).info.features == builder.info.features


@beam_only
@pytest.mark.slow
def test_rows_stand_in_the_order_of_their_keys_and_nothing_is_left_behind(tmp_path: Path) -> None:
    builder = Squares(cache_dir=tmp_path, beam_options={"direct_num_workers": 1})
    builder.download_and_prepare(beam_runner="DirectRunner")
    assert builder.as_dataset("train")["n"][:] == [1, 4, 9]
    empty = builder.as_dataset("empty")
    assert (len(empty), empty.features) == (0, builder.info.features)
    assert not list(tmp_path.rglob("*.incomplete-*"))


@beam_only
@pytest.mark.slow
def test_rows_of_one_key_all_come(tmp_path: Path) -> None:
    class Same(Squares):
        keys = staticmethod(lambda n: "same")

    builder = Same(cache_dir=tmp_path)
    builder.download_and_prepare()
    assert sorted(builder.as_dataset("train")["n"][:]) == [1, 4, 9]


@beam_only
@pytest.mark.slow
def test_splits_may_share_what_the_pipeline_made(tmp_path: Path) -> None:
    builder = Shared(cache_dir=tmp_path)
    builder.download_and_prepare()
    assert [builder.as_dataset(split)["n"][:] for split in ("one", "two")] == [[1, 2], [1, 2]]


@beam_only
@pytest.mark.slow
def test_code_that_fails_in_the_pipeline_is_told_by_its_line(tmp_path: Path) -> None:
    class Failing(Squares):
        keys = staticmethod(lambda n: 1 // (n - 2))

    with pytest.raises(DatasetGenerationError, match=r"test_beam\.py, line \d+: ZeroDivisionError"):
        Failing(cache_dir=tmp_path).download_and_prepare()
    assert not list(tmp_path.rglob("*.incomplete-*"))


@beam_only
@pytest.mark.slow
def test_a_hook_that_returns_nothing_is_told(tmp_path: Path) -> None:
    class Empty(Squares):
        def _build_pcollection(self, pipeline: Any, numbers: list[int]) -> Any:  # type: ignore[override]
            return None

    with pytest.raises(ConfigurationError, match=r"_build_pcollection of .* returns None for split 'train'"):
        Empty(cache_dir=tmp_path).download_and_prepare()
