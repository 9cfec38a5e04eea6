"""Vectors of a column are indexed by faiss, trained, saved, loaded and sent to other processes."""

import pickle

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    FileNotFoundDatasetsError,
    IndexFileError,
    MissingDependencyError,
)

VECTORS = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)


def test_without_faiss_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)

    with pytest.raises(MissingDependencyError, match=r"datasets_core\[faiss\]"):
        Dataset.from_dict({"v": [[1.0]]}).add_faiss_index("v")


@pytest.fixture
def dataset() -> Dataset:
    pytest.importorskip("faiss")
    return Dataset.from_dict({"v": VECTORS.tolist(), "n": list(range(300))})


@pytest.mark.parametrize("order", [None, list(range(299, -1, -1))], ids=["whole", "indexed"])
def test_the_nearest_rows_are_those_of_numpy(dataset, order) -> None:
    dataset = dataset if order is None else dataset.select(order)
    vectors = np.array(dataset["v"][:], dtype=np.float32)
    dataset.add_faiss_index("v", batch_size=70)

    scores, rows = dataset.search("v", VECTORS[7], k=5)

    distances = ((vectors - VECTORS[7]) ** 2).sum(1)
    assert rows.tolist() == np.argsort(distances)[:5].tolist()
    assert scores == pytest.approx(np.sort(distances)[:5], abs=1e-4)


def test_measures_factories_training_and_own_indexes(dataset) -> None:
    import faiss

    dataset.add_faiss_index("v", "inner", metric_type=faiss.METRIC_INNER_PRODUCT)
    dataset.add_faiss_index("v", "cells", string_factory="IVF4,Flat", train_size=200)
    dataset.add_faiss_index("v", "own", custom_index=faiss.IndexFlatL2(8))

    assert dataset.search("inner", VECTORS[3], k=1).indices[0] == int(np.argmax(VECTORS @ VECTORS[3]))
    assert dataset.search("cells", VECTORS[3], k=1).indices[0] == 3
    assert dataset.search("own", VECTORS[3], k=1).indices[0] == 3


def test_a_file_keeps_an_index(dataset, tmp_path) -> None:
    dataset.add_faiss_index("v")
    dataset.save_faiss_index("v", tmp_path / "i.faiss")
    dataset.save_faiss_index("v", "memory://folder/i.faiss", storage_options={})
    dataset.load_faiss_index("local", tmp_path / "i.faiss")
    dataset.load_faiss_index("remote", "memory://folder/i.faiss", storage_options={})

    for name in ("local", "remote"):
        assert dataset.search(name, VECTORS[9], k=1).indices.tolist() == [9]


def test_files_that_hold_no_index(dataset, tmp_path) -> None:
    (tmp_path / "bad").write_bytes(b"not an index")

    with pytest.raises(FileNotFoundDatasetsError):
        dataset.load_faiss_index("a", tmp_path / "none")
    with pytest.raises(IndexFileError, match="bad"):
        dataset.load_faiss_index("a", tmp_path / "bad")
    dataset.add_faiss_index("v")
    dataset.save_faiss_index("v", tmp_path / "i")
    with pytest.raises(ConfigurationError, match="300 vectors"):
        dataset.take(10).load_faiss_index("a", tmp_path / "i")


def test_an_index_without_vectors_is_no_file(dataset, tmp_path) -> None:
    none = dataset.select([]).add_faiss_index("v")
    with pytest.raises(ConfigurationError, match="no vectors"):
        none.save_faiss_index("v", tmp_path / "i")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(IndexFileError, match="empty"):
        none.load_faiss_index("a", tmp_path / "empty")


def test_a_store_that_cuts_the_file_is_tried_again(dataset, monkeypatch) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    sent, put = [], MemoryFileSystem.put_file

    def cut_once(self, local, remote, *rest, **options):
        sent.append(remote)
        if len(sent) == 1:
            self.pipe_file(remote, b"half")
        else:
            put(self, local, remote, *rest, **options)

    monkeypatch.setattr("datasets_core.store.commit.time.sleep", lambda seconds: None)
    monkeypatch.setattr(MemoryFileSystem, "put_file", cut_once)
    dataset.add_faiss_index("v")
    dataset.save_faiss_index("v", "memory://cut/i.faiss", storage_options={})

    dataset.load_faiss_index("back", "memory://cut/i.faiss", storage_options={})
    assert len(sent) == 2 and dataset.search("back", VECTORS[9], k=1).indices.tolist() == [9]


@pytest.mark.parametrize("size", [0, -1])
def test_no_vectors_train_nothing(dataset, size) -> None:
    with pytest.raises(ConfigurationError, match=f"train_size={size}"):
        dataset.add_faiss_index("v", string_factory="IVF4,Flat", train_size=size)
    with pytest.raises(ConfigurationError, match=f"train_size={size}"):
        dataset.add_faiss_index_from_external_arrays(VECTORS, "x", train_size=size)


def test_an_index_goes_with_a_pickled_dataset(dataset) -> None:
    dataset.add_faiss_index("v")

    assert pickle.loads(pickle.dumps(dataset)).search("v", VECTORS[5], k=1).indices.tolist() == [5]


def test_arrays_that_are_no_column(dataset) -> None:
    dataset.add_faiss_index_from_external_arrays(VECTORS[:, :3], "part", batch_size=7)

    assert dataset.get_nearest_examples("part", VECTORS[4, :3], k=1).examples["n"] == [4]
    with pytest.raises(CastError, match="matrix"):
        dataset.add_faiss_index_from_external_arrays(VECTORS[0], "x")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1.0], None], "Row 1"),
        ([[1.0], [1.0, 2.0]], "Row 1"),
        ([[1.0, 2.0], [3.0, None]], "Row 1 .*nulls"),
        (["a", "b"], "lists of numbers"),
    ],
)
def test_columns_without_vectors(rows, reason) -> None:
    pytest.importorskip("faiss")
    with pytest.raises(CastError, match=reason):
        Dataset.from_dict({"v": rows}).add_faiss_index("v")


def test_what_faiss_does_not_take(dataset) -> None:
    import faiss

    with pytest.raises(ConfigurationError, match="Nonsense"):
        dataset.add_faiss_index("v", string_factory="Nonsense")
    with pytest.raises(ConfigurationError, match="exclude"):
        dataset.add_faiss_index("v", string_factory="Flat", custom_index=faiss.IndexFlatL2(8))
    with pytest.raises(ArgumentTypeError, match="GPU"):
        dataset.add_faiss_index("v", device="gpu")
    with pytest.raises(ConfigurationError, match="train"):
        dataset.add_faiss_index("v", string_factory="IVF4,Flat")
    with pytest.raises(CastError, match="takes 5"):
        dataset.add_faiss_index("v", custom_index=faiss.IndexFlatL2(5))
    assert dataset.list_indexes() == []
