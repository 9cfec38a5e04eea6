"""Splits that Apache Beam makes are found among the others."""

import pickle
from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.tfds.tfds_builder import BeamSplits, beam_value, is_beam


def test_plain_rows_are_none_of_beam() -> None:
    def rows(n: int) -> Any:
        yield n

    assert beam_value(rows, (1,), {}) is None
    assert beam_value(list, ([],), {}) is None
    assert not is_beam(rows(1))


def test_a_pipeline_does_not_travel(tmp_path: Any) -> None:
    again = pickle.loads(pickle.dumps(BeamSplits("a", str(tmp_path / "x"))))
    assert again.rows() == {}
    assert not (tmp_path / "x").exists()


def test_transforms_and_collections_make_splits(data_dir: str) -> None:
    beam = pytest.importorskip("apache_beam")

    class Piped(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"n": tfds.features.Scalar("int64")})

        def _split_generators(self, dl_manager: Any, pipeline: Any) -> Any:
            whole = pipeline | beam.Create([(0, {"n": 0})])
            return {"train": self._generate_examples(3), "whole": whole, "plain": [(0, {"n": 7})]}

        def _generate_examples(self, count: int) -> Any:
            return beam.Create(range(count)) | beam.Map(lambda n: (n, {"n": n}))

    builder = Piped(data_dir=data_dir)
    builder.download_and_prepare()
    found = {split: sorted(row["n"] for row in builder.as_dataset(split)) for split in ("train", "whole", "plain")}
    assert found == {"train": [0, 1, 2], "whole": [0], "plain": [7]}
