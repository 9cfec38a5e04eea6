"""`TextIndex`: the rows whose text answers a query, by Elasticsearch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from datasets_core.errors import ConfigurationError, DatasetsCoreError
from datasets_core.optional import needed

_CONFIG = {
    "settings": {
        "number_of_shards": 1,
        "analysis": {"analyzer": {"stop_standard": {"type": "standard", "stopwords": "_english_"}}},
    },
    "mappings": {"properties": {"text": {"type": "text", "analyzer": "standard", "similarity": "BM25"}}},
}
_CHUNK = 500  # documents of one request


class TextIndex:
    """Texts in an index of an Elasticsearch server, each by the number of its row.

    Args:
        host, port: of the server; localhost and 9200 where neither they nor a client are given.
        es_client: a client of the package elasticsearch, instead.
        es_index_name: of the index on the server; None makes one up.
        es_index_config: settings and mappings of the index.

    Raises:
        MissingDependencyError: the package elasticsearch is not installed, and no client is given.
        ConfigurationError: both a client and a host are given.
    """

    def __init__(
        self,
        host: str | None = None,
        port: int | None = None,
        es_client: Any = None,
        es_index_name: str | None = None,
        es_index_config: dict[str, Any] | None = None,
    ) -> None:
        if es_client is not None and (host is not None or port is not None):
            raise ConfigurationError("es_client= and host=, port= exclude each other. Give one of them.")
        self.host, self.port = host or "localhost", port or 9200
        self.es_client = self._connected() if es_client is None else es_client
        self.es_index_name = es_index_name or _made_up_name()
        self.es_index_config = _CONFIG if es_index_config is None else es_index_config

    def _connected(self) -> Any:
        package = needed("elasticsearch", "A text index")
        host = self.host if "://" in self.host else f"http://{self.host}"
        return package.Elasticsearch(f"{host}:{self.port}")

    def add(self, texts: Iterable[str | None]) -> None:
        """Make the index on the server and send it the texts.

        Raises:
            DatasetsCoreError: the server refused one.
        """
        self.es_client.indices.create(index=self.es_index_name, body=self.es_index_config)
        lines: list[dict[str, Any]] = []
        for row, text in enumerate(texts):
            lines += [{"index": {"_index": self.es_index_name, "_id": str(row)}}, {"text": text}]
            if len(lines) >= 2 * _CHUNK:
                self._send(lines)
                lines = []
        if lines:
            self._send(lines)
        self.es_client.indices.refresh(index=self.es_index_name)

    def _send(self, lines: list[dict[str, Any]]) -> None:
        answer = self.es_client.bulk(body=lines)
        if answer.get("errors"):
            refused = [next(iter(item.values())) for item in answer.get("items", ())]
            bad: dict[str, Any] = next((item for item in refused if item.get("error")), {})
            raise DatasetsCoreError(
                f"Elasticsearch refused row {bad.get('_id', '?')}: {bad.get('error')}. Mend the text, or es_index_config."
            )

    def search(self, query: str, k: int, **kwargs: Any) -> tuple[list[float], list[int]]:
        """Scores and rows of the `k` texts that answer a query best."""
        body = {"query": {"multi_match": {"query": query, "fields": ["text"], "type": "cross_fields"}}, "size": k}
        hits = self.es_client.search(index=self.es_index_name, body=body, **kwargs)["hits"]["hits"]
        return [hit["_score"] for hit in hits], [int(hit["_id"]) for hit in hits]

    def search_batch(self, queries: Iterable[str], k: int, **kwargs: Any) -> tuple[list[list[float]], list[list[int]]]:
        """The same for each of several queries, in their order."""
        kwargs.pop("max_workers", None)  # of the threads that the peer starts
        found = [self.search(query, k, **kwargs) for query in queries]
        return [scores for scores, _ in found], [rows for _, rows in found]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "es_client": None}  # connections do not travel

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.es_client = self._connected()


def _made_up_name() -> str:
    import getpass
    import uuid

    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        user = "user"
    return f"datasets_core-{user}-{uuid.uuid4().hex[:12]}".lower()
