"""Values of other libraries are what they contain."""

from __future__ import annotations

import pickle

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnhashableError
from datasets_core.store.fingerprint import Hasher


def test_a_dataset_is_its_fingerprint_and_its_format() -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})

    assert Hasher.hash(dataset) == Hasher.hash(pickle.loads(pickle.dumps(dataset)))
    assert Hasher.hash(dataset) != Hasher.hash(dataset.select([1]))
    assert Hasher.hash(dataset) != Hasher.hash(dataset.with_format("arrow"))


def test_tensors_and_modules_are_their_values() -> None:
    torch = pytest.importorskip("torch")
    linear = torch.nn.Linear(2, 2)
    values = [
        torch.tensor([1.0, 2.0]),
        torch.tensor([1.0, 3.0]),
        torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
        torch.tensor([[1.0, 2.0]]),
        torch.tensor(1.0),
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.tensor([1.0, 2.0]).to_sparse(),
        torch.Generator().manual_seed(1),
        torch.Generator().manual_seed(2),
        torch.float32,
        torch.device("cpu"),
        linear,
        pickle.loads(pickle.dumps(linear)).eval(),
        torch.nn.Sequential(linear, torch.nn.ReLU()),
    ]

    assert len({Hasher.hash(value) for value in values}) == len(values)
    assert Hasher.hash(linear) == Hasher.hash(pickle.loads(pickle.dumps(linear)))
    assert Hasher.hash(values[0]) == Hasher.hash(torch.tensor([0.0, 1.0, 2.0])[1:])


def test_frames_are_their_columns() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    made = [
        library.DataFrame(columns)
        for library in (pandas, polars)
        for columns in ({"a": [1, 2]}, {"a": [1, 3]}, {"b": [1, 2]}, {"a": ["x", None]}, {"a": [1, 2], "b": [1, 2]})
    ]
    frames = [*made, pandas.DataFrame({"a": [1, 2]}, index=["x", "y"]), pandas.Series([1, 2]), polars.Series("a", [1, 2])]

    assert len({Hasher.hash(frame) for frame in frames}) == len(frames)
    assert [Hasher.hash(frame) for frame in frames] == [Hasher.hash(pickle.loads(pickle.dumps(frame))) for frame in frames]
    assert Hasher.hash(polars.concat([polars.DataFrame({"a": [1]}), polars.DataFrame({"a": [2]})])) == Hasher.hash(made[5])


def test_frames_of_many_levels_are_their_values_and_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2]}, index=pandas.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["x", "y"]))

    assert Hasher.hash(frame) == Hasher.hash(frame.copy())
    assert Hasher.hash(frame) != Hasher.hash(frame.rename_axis(["x", "z"]))
    assert Hasher.hash(frame) != Hasher.hash(frame.rename_axis("columns", axis=1))
    assert Hasher.hash(frame) != Hasher.hash(frame.set_axis(pandas.MultiIndex.from_tuples([(1, 2), (3, 5)], names=["x", "y"])))


def test_tensors_that_are_views_are_their_values_and_those_without_are_none() -> None:
    torch = pytest.importorskip("torch")

    assert Hasher.hash(torch.tensor([1 + 2j]).conj()) == Hasher.hash(torch.tensor([1 - 2j]))
    with pytest.raises(UnhashableError, match=r"torch\.Tensor cannot be read"):
        Hasher.hash(torch.empty(2, device="meta"))


def test_what_a_call_leaves_in_a_tokenizer_does_not_count() -> None:
    class Backend:
        def __init__(self, vocabulary: str, truncation: str = "null") -> None:
            self.text = f'{{"model": {{"vocab": "{vocabulary}"}}, "truncation": {truncation}, "padding": null}}'

        def to_str(self) -> str:
            return self.text

    base = type("PreTrainedTokenizerBase", (), {"__module__": "transformers.tokenization_utils_base"})

    def tokenizer(*backend: str) -> object:
        made = base()
        made._tokenizer, made.cache = Backend(*backend), {}
        return made

    used = tokenizer("a", "5")
    used.cache["word"] = "piece"  # type: ignore[attr-defined]
    assert Hasher.hash(used) == Hasher.hash(tokenizer("a"))
    assert Hasher.hash(used) != Hasher.hash(tokenizer("b"))
