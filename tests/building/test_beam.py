"""Builders whose rows a pipeline makes; what runs one is skipped where Apache Beam is not installed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building import beam as beam_rows
from datasets_core.building.beam import BeamBasedBuilder, BeamRun, SortedRows, beam_package, runs_here, wants_pipeline
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError, DatasetGenerationError, MissingDependencyError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.optional import is_installed

beam_only = pytest.mark.optional("apache_beam")


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(is_installed("apache_beam"), reason="Apache Beam is installed")
def test_without_beam_a_build_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match=r"Squares, a builder of Apache Beam, needs .*datasets_core\[beam\]"):
        Squares(cache_dir=tmp_path).download_and_prepare()
    assert not list(tmp_path.rglob("*.incomplete-*"))


@pytest.mark.filterwarnings("ignore")
def test_a_builder_travels_without_the_settings_of_the_pipeline() -> None:
    builder = Squares(beam_runner=object(), beam_options={"x": lambda: 0})
    assert pickle.loads(pickle.dumps(builder)).info.features == builder.info.features


@pytest.mark.filterwarnings("ignore")
@beam_only
@pytest.mark.slow
def test_rows_stand_in_the_order_of_their_keys_and_nothing_is_left_behind(tmp_path: Path) -> None:
    builder = Squares(cache_dir=tmp_path, beam_options={"direct_num_workers": 1})
    builder.download_and_prepare(beam_runner="DirectRunner")
    assert builder.as_dataset("train")["n"][:] == [1, 4, 9]
    empty = builder.as_dataset("empty")
    assert (len(empty), empty.features) == (0, builder.info.features)
    assert not list(tmp_path.rglob("*.incomplete-*"))


@pytest.mark.filterwarnings("ignore")
@beam_only
@pytest.mark.slow
def test_rows_of_one_key_all_come(tmp_path: Path) -> None:
    class Same(Squares):
        keys = staticmethod(lambda n: "same")

    builder = Same(cache_dir=tmp_path)
    builder.download_and_prepare()
    assert sorted(builder.as_dataset("train")["n"][:]) == [1, 4, 9]


@pytest.mark.filterwarnings("ignore")
@beam_only
@pytest.mark.slow
def test_splits_may_share_what_the_pipeline_made(tmp_path: Path) -> None:
    builder = Shared(cache_dir=tmp_path)
    builder.download_and_prepare()
    assert [builder.as_dataset(split)["n"][:] for split in ("one", "two")] == [[1, 2], [1, 2]]


@pytest.mark.filterwarnings("ignore")
@beam_only
@pytest.mark.slow
def test_code_that_fails_in_the_pipeline_is_told_by_its_line(tmp_path: Path) -> None:
    class Failing(Squares):
        keys = staticmethod(lambda n: 1 // (n - 2))

    with pytest.raises(DatasetGenerationError, match=r"test_beam\.py, line \d+: ZeroDivisionError"):
        Failing(cache_dir=tmp_path).download_and_prepare()
    assert not list(tmp_path.rglob("*.incomplete-*"))


@pytest.mark.filterwarnings("ignore")
@beam_only
@pytest.mark.slow
def test_a_hook_that_returns_nothing_is_told(tmp_path: Path) -> None:
    class Empty(Squares):
        def _build_pcollection(self, pipeline: Any, numbers: list[int]) -> Any:  # type: ignore[override]
            return None

    with pytest.raises(ConfigurationError, match=r"_build_pcollection of .* returned None for split 'train'"):
        Empty(cache_dir=tmp_path).download_and_prepare()


# beam rows

KEYS = st.one_of(
    st.integers(), st.text(), st.binary(), st.none(), st.tuples(st.integers(), st.text()), st.floats(), st.booleans()
)


def _runs(folder: Path, pieces: list[list[Any]]) -> list[str]:
    return [beam_rows._write_run([beam_rows._pickled((key, {"k": key})) for key in keys], str(folder)) for keys in pieces]


@given(pieces=st.lists(st.lists(KEYS, max_size=6), max_size=5))
def test_the_order_does_not_depend_on_who_wrote_what(pieces: list[list[Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("runs")
    found = list(SortedRows(tuple(_runs(folder, pieces))))
    whole = list(SortedRows(tuple(_runs(folder, [[key for keys in reversed(pieces) for key in reversed(keys)]]))))
    assert list(map(repr, found)) == list(map(repr, whole))
    assert len(found) == sum(map(len, pieces))


def test_integers_come_first_by_their_size_then_texts(tmp_path: Path) -> None:
    keys = ["b", 10, np.int64(9), "a", b"z", -1, "é"]
    assert [key for key, _ in SortedRows(tuple(_runs(tmp_path, [keys])))] == [-1, 9, 10, "a", "b", "é", b"z"]


def test_rows_can_be_walked_again_and_sent(tmp_path: Path) -> None:
    rows = SortedRows(tuple(_runs(tmp_path, [[2], [1]])))
    assert list(rows) == list(rows) == list(pickle.loads(pickle.dumps(rows)))


def test_many_files_are_merged_into_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beam_rows, "_MOST_RUNS", 3)
    names = _runs(tmp_path, [[number] for number in range(20, 0, -1)])
    (tmp_path / "names-00000-of-00001").write_text("\n".join(names) + "\n")
    rows = beam_rows._merged(str(tmp_path))
    assert len(rows.runs) <= 3
    assert [key for key, _ in rows] == list(range(1, 21))


def test_files_that_no_worker_that_ended_well_names_do_not_count(tmp_path: Path) -> None:
    _runs(tmp_path, [[1]])
    (tmp_path / "names-00000-of-00001").write_text("")
    assert list(beam_rows._merged(str(tmp_path))) == []


def test_a_hook_may_want_the_pipeline() -> None:
    assert wants_pipeline(lambda dl_manager, pipeline: None)
    assert not wants_pipeline(lambda dl_manager: None)


class _Options:
    def __init__(self, **options: Any) -> None:
        self.options = options

    def get_all_options(self) -> dict[str, Any]:
        return self.options


@pytest.mark.parametrize(
    ("runner", "options", "here"),
    [
        (None, {}, True),
        ("DirectRunner", {}, True),
        (None, {"runner": "DataflowRunner"}, False),
        ("apache_beam.runners.portability.fn_api_runner.FnApiRunner", {}, True),
        ("FlinkRunner", {"runner": "DirectRunner"}, False),
        (_Options(), {}, False),
    ],
)
def test_a_runner_tells_by_its_name_where_it_runs(runner: Any, options: dict[str, Any], here: bool) -> None:
    assert runs_here(runner, _Options(**options)) is here


@pytest.mark.skipif(is_installed("apache_beam"), reason="Apache Beam is installed")
def test_without_beam_there_is_no_pipeline(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match="pip install"):
        BeamRun(str(tmp_path))


@pytest.mark.optional("apache_beam")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_may_be_given_as_a_transform(tmp_path: Path) -> None:
    beam = beam_package("This test")
    run = BeamRun(str(tmp_path))
    run.keep("train", lambda begin: beam.Create([(2, {"n": 2}), (1, {"n": 1})]))
    run.keep("test", lambda begin: begin | beam.Create([("x", {"n": 1})]))
    found = run.run()
    assert [key for key, _ in found["train"]] == [1, 2]
    assert list(found["test"]) == [("x", {"n": 1})]
