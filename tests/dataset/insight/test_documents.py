"""Texts go to an Elasticsearch server row by row, and come back as rows by score."""

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, DatasetsCoreError, MissingDependencyError


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
