"""Builders as users of TFDS write them, unknown by name outside the test that asks for one."""

from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.tfds import info


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "_classes", {})


@pytest.fixture
def data_dir(tmp_path: Any) -> str:
    return str(tmp_path / "data")


@pytest.fixture
def numbers() -> type[Any]:
    """A builder of ten numbers for training and four for testing."""

    class Numbers(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            features = tfds.features.FeaturesDict(
                {"number": np.int64, "text": tfds.features.Text(), "even": tfds.features.ClassLabel(names=["no", "yes"])}
            )
            return self.dataset_info_from_configs(features=features, supervised_keys=("text", "even"), homepage="https://x.org")

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples(range(10)), "test": self._generate_examples(range(10, 14))}

        def _generate_examples(self, which: Any) -> Any:
            for number in which:
                yield number, {"number": number, "text": f"n{number}", "even": "yes" if number % 2 == 0 else "no"}

    return Numbers


@pytest.fixture
def rows(numbers: type[Any], data_dir: str) -> Any:
    """The split `train` of these numbers."""
    return tfds.load("numbers", split="train", data_dir=data_dir)
