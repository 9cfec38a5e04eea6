"""Texts go to an Elasticsearch server row by row, and come back as rows by score."""

import pickle

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    IndexFileError,
    MissingDependencyError,
)


class Server:
    """A client of a server that finds texts by the words that they share with the query."""

    def __init__(self, refuses: str | None = None) -> None:
        self.refuses, self.stored, self.indices, self.created = refuses, {}, self, {}

    def create(self, *, index, body) -> None:
        self.created[index] = body
        self.stored[index] = {}

    def refresh(self, *, index) -> None:
        assert index in self.stored

    def bulk(self, *, body):
        for action, document in zip(body[::2], body[1::2], strict=True):
            if document["text"] == self.refuses:
                return {"errors": True, "items": [{"index": {"_id": action["index"]["_id"], "error": "bad"}}]}
            self.stored[action["index"]["_index"]][action["index"]["_id"]] = document["text"]
        return {"errors": False, "items": []}

    def search(self, *, index, body):
        words = set(body["query"]["multi_match"]["query"].split())
        scored = [(len(words & set(text.split())), row) for row, text in self.stored[index].items()]
        hits = sorted((-score, int(row)) for score, row in scored if score)[: body["size"]]
        return {"hits": {"hits": [{"_score": -score, "_id": str(row)} for score, row in hits]}}


@pytest.fixture
def dataset() -> Dataset:
    return Dataset.from_dict({"text": ["red car", "blue car", "green tree", "a red tree"]})


def test_rows_are_found_by_their_words(dataset) -> None:
    server = Server()
    assert dataset.add_elasticsearch_index("text", es_client=server, es_index_name="mine") is dataset

    assert dataset.search("text", "red tree", k=2) == ([2, 1], [3, 0])
    assert dataset.get_nearest_examples("text", "blue").examples == {"text": ["blue car"]}
    assert dataset.search_batch("text", ["blue", "green"], k=1) == ([[1], [1]], [[1], [2]])
    assert server.created["mine"]["mappings"]["properties"]["text"]["type"] == "text"


def test_an_index_of_the_server_is_used_again(dataset) -> None:
    server = Server()
    dataset.add_elasticsearch_index("text", es_client=server, es_index_name="mine")
    other = Dataset.from_dict(dataset[:])
    other.load_elasticsearch_index("again", "mine", es_client=server)

    assert other.search("again", "green").indices == [2]


def test_the_rows_of_a_selection_are_numbered_anew(dataset) -> None:
    shown = dataset.select([3, 1])
    shown.add_elasticsearch_index("text", es_client=Server())

    assert shown.search("text", "blue").indices == [1]


def test_more_rows_than_one_request_holds() -> None:
    dataset = Dataset.from_dict({"text": [f"w{i}" for i in range(1201)]})
    dataset.add_elasticsearch_index("text", es_client=Server())

    assert dataset.search("text", "w1200").indices == [1200]


def test_what_the_server_refuses_is_an_error(dataset) -> None:
    with pytest.raises(DatasetsCoreError, match="row 1"):
        dataset.add_elasticsearch_index("text", es_client=Server(refuses="blue car"))
    assert dataset.list_indexes() == []


def test_a_client_and_a_host_exclude_each_other(dataset) -> None:
    with pytest.raises(ConfigurationError, match="es_client"):
        dataset.add_elasticsearch_index("text", es_client=Server(), host="localhost")


def test_without_the_package_the_error_says_what_to_install(dataset, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "elasticsearch", None)

    with pytest.raises(MissingDependencyError, match=r"datasets_core\[elasticsearch\]"):
        dataset.add_elasticsearch_index("text")


def test_an_index_of_texts_is_not_saved_to_a_file(dataset, tmp_path) -> None:
    dataset.add_elasticsearch_index("text", es_client=Server())

    with pytest.raises(ConfigurationError, match="server"):
        dataset.save_faiss_index("text", tmp_path / "x")


# Vectors of a column are indexed by faiss, trained, saved, loaded and sent to other processes.

VECTORS = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)


def test_without_faiss_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)

    with pytest.raises(MissingDependencyError, match=r"datasets_core\[faiss\]"):
        Dataset.from_dict({"v": [[1.0]]}).add_faiss_index("v")


@pytest.fixture
def dataset_vectors() -> Dataset:
    pytest.importorskip("faiss")
    return Dataset.from_dict({"v": VECTORS.tolist(), "n": list(range(300))})


@pytest.mark.parametrize("order", [None, list(range(299, -1, -1))], ids=["whole", "indexed"])
def test_the_nearest_rows_are_those_of_numpy(dataset_vectors, order) -> None:
    dataset_vectors = dataset_vectors if order is None else dataset_vectors.select(order)
    vectors = np.array(dataset_vectors["v"][:], dtype=np.float32)
    dataset_vectors.add_faiss_index("v", batch_size=70)

    scores, rows = dataset_vectors.search("v", VECTORS[7], k=5)

    distances = ((vectors - VECTORS[7]) ** 2).sum(1)
    assert rows.tolist() == np.argsort(distances)[:5].tolist()
    assert scores == pytest.approx(np.sort(distances)[:5], abs=1e-4)


def test_measures_factories_training_and_own_indexes(dataset_vectors) -> None:
    import faiss

    dataset_vectors.add_faiss_index("v", "inner", metric_type=faiss.METRIC_INNER_PRODUCT)
    dataset_vectors.add_faiss_index("v", "cells", string_factory="IVF4,Flat", train_size=200)
    dataset_vectors.add_faiss_index("v", "own", custom_index=faiss.IndexFlatL2(8))

    assert dataset_vectors.search("inner", VECTORS[3], k=1).indices[0] == int(np.argmax(VECTORS @ VECTORS[3]))
    assert dataset_vectors.search("cells", VECTORS[3], k=1).indices[0] == 3
    assert dataset_vectors.search("own", VECTORS[3], k=1).indices[0] == 3


def test_a_file_keeps_an_index(dataset_vectors, tmp_path) -> None:
    dataset_vectors.add_faiss_index("v")
    dataset_vectors.save_faiss_index("v", tmp_path / "i.faiss")
    dataset_vectors.save_faiss_index("v", "memory://folder/i.faiss", storage_options={})
    dataset_vectors.load_faiss_index("local", tmp_path / "i.faiss")
    dataset_vectors.load_faiss_index("remote", "memory://folder/i.faiss", storage_options={})

    for name in ("local", "remote"):
        assert dataset_vectors.search(name, VECTORS[9], k=1).indices.tolist() == [9]


def test_files_that_hold_no_index(dataset_vectors, tmp_path) -> None:
    (tmp_path / "bad").write_bytes(b"not an index")

    with pytest.raises(FileNotFoundDatasetsError):
        dataset_vectors.load_faiss_index("a", tmp_path / "none")
    with pytest.raises(IndexFileError, match="bad"):
        dataset_vectors.load_faiss_index("a", tmp_path / "bad")
    dataset_vectors.add_faiss_index("v")
    dataset_vectors.save_faiss_index("v", tmp_path / "i")
    with pytest.raises(ConfigurationError, match="300 vectors"):
        dataset_vectors.take(10).load_faiss_index("a", tmp_path / "i")


def test_an_index_without_vectors_is_no_file(dataset_vectors, tmp_path) -> None:
    none = dataset_vectors.select([]).add_faiss_index("v")
    with pytest.raises(ConfigurationError, match="no vectors"):
        none.save_faiss_index("v", tmp_path / "i")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(IndexFileError, match="empty"):
        none.load_faiss_index("a", tmp_path / "empty")


def test_a_store_that_cuts_the_file_is_tried_again(dataset_vectors, monkeypatch) -> None:
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
    dataset_vectors.add_faiss_index("v")
    dataset_vectors.save_faiss_index("v", "memory://cut/i.faiss", storage_options={})

    dataset_vectors.load_faiss_index("back", "memory://cut/i.faiss", storage_options={})
    assert len(sent) == 2 and dataset_vectors.search("back", VECTORS[9], k=1).indices.tolist() == [9]


@pytest.mark.parametrize("size", [0, -1])
def test_no_vectors_train_nothing(dataset_vectors, size) -> None:
    with pytest.raises(ConfigurationError, match=f"train_size={size}"):
        dataset_vectors.add_faiss_index("v", string_factory="IVF4,Flat", train_size=size)
    with pytest.raises(ConfigurationError, match=f"train_size={size}"):
        dataset_vectors.add_faiss_index_from_external_arrays(VECTORS, "x", train_size=size)


def test_an_index_goes_with_a_pickled_dataset(dataset_vectors) -> None:
    dataset_vectors.add_faiss_index("v")

    assert pickle.loads(pickle.dumps(dataset_vectors)).search("v", VECTORS[5], k=1).indices.tolist() == [5]


def test_arrays_that_are_no_column(dataset_vectors) -> None:
    dataset_vectors.add_faiss_index_from_external_arrays(VECTORS[:, :3], "part", batch_size=7)

    assert dataset_vectors.get_nearest_examples("part", VECTORS[4, :3], k=1).examples["n"] == [4]
    with pytest.raises(CastError, match="matrix"):
        dataset_vectors.add_faiss_index_from_external_arrays(VECTORS[0], "x")


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


def test_what_faiss_does_not_take(dataset_vectors) -> None:
    import faiss

    with pytest.raises(ConfigurationError, match="Nonsense"):
        dataset_vectors.add_faiss_index("v", string_factory="Nonsense")
    with pytest.raises(ConfigurationError, match="exclude"):
        dataset_vectors.add_faiss_index("v", string_factory="Flat", custom_index=faiss.IndexFlatL2(8))
    with pytest.raises(ArgumentTypeError, match="GPU"):
        dataset_vectors.add_faiss_index("v", device="gpu")
    with pytest.raises(ConfigurationError, match="train"):
        dataset_vectors.add_faiss_index("v", string_factory="IVF4,Flat")
    with pytest.raises(CastError, match="takes 5"):
        dataset_vectors.add_faiss_index("v", custom_index=faiss.IndexFlatL2(5))
    assert dataset_vectors.list_indexes() == []
