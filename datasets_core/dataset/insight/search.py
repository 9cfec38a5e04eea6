"""`Search`: methods that add search indexes to a dataset, and search rows by vector or text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from datasets_core.errors import CastError, ConfigurationError, MissingIndexError
from datasets_core.features.base import LargeList, List, Value
from datasets_core.store.rows.indices import as_int, checked_batch_size
from datasets_core.store.rows.rows import Rows

if TYPE_CHECKING:
    from datasets_core.dataset.insight.indexes import Device, TextIndex, VectorIndex


class SearchResults(NamedTuple):
    """Scores of the rows found, and their numbers, the best first."""

    scores: Any
    indices: Any


class BatchedSearchResults(NamedTuple):
    """`SearchResults` of several queries: a list or a matrix of each."""

    total_scores: Any
    total_indices: Any


class NearestExamplesResults(NamedTuple):
    """Scores of the rows found, and the rows, as columns."""

    scores: Any
    examples: Any


class BatchedNearestExamplesResults(NamedTuple):
    """`NearestExamplesResults` of several queries: a list of each."""

    total_scores: Any
    total_examples: Any


class Search(Rows):
    """Similarity search.

    An index refers to rows by number.  Methods that change columns keep it; a dataset of other rows (`select`, `map`, …)
    has no index.
    """

    _indexes: dict[str, VectorIndex | TextIndex] | None

    def _with_index(self, name: str, index: VectorIndex | TextIndex) -> None:
        self._indexes = {**(self._indexes or {}), name: index}  # not in place: other datasets may share it

    # -- which there are -----------------------------------------------------------------------------------------------

    def list_indexes(self) -> list[str]:
        """Names of the indexes.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]})
        >>> points.add_faiss_index("at", index_name="near").list_indexes()
        ['near']
        """
        return list(self._indexes or ())

    def is_index_initialized(self, index_name: str) -> bool:
        """True if there is an index of that name.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]}).add_faiss_index("at")
        >>> points.is_index_initialized("at"), points.select([1]).is_index_initialized("at")
        (True, False)
        """
        return index_name in (self._indexes or ())

    def get_index(self, index_name: str) -> VectorIndex | TextIndex:
        """The index of that name.

        Raises:
            MissingIndexError: there is none.

        >>> Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]}).add_faiss_index("at").get_index("at").faiss_index.ntotal
        2
        """
        index = (self._indexes or {}).get(index_name)
        if index is not None:
            return index
        if index_name in self._indexes_before:
            raise MissingIndexError(
                f"The index {index_name!r} was made for other rows: this dataset was selected, sorted or mapped since. "
                "Add it to this dataset anew."
            )
        known = ", ".join(map(repr, self.list_indexes())) or "none"
        raise MissingIndexError(
            f"There is no index {index_name!r}; there are: {known}. Call add_faiss_index() or add_elasticsearch_index() first."
        )

    def drop_index(self, index_name: str) -> None:
        """Take an index away.

        Raises:
            MissingIndexError: there is none of that name.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]}).add_faiss_index("at")
        >>> points.drop_index("at")
        >>> points.list_indexes()
        []
        """
        self.get_index(index_name)
        self._indexes = {name: index for name, index in (self._indexes or {}).items() if name != index_name}

    # -- vectors -------------------------------------------------------------------------------------------------------

    def add_faiss_index(
        self,
        column: str,
        index_name: str | None = None,
        device: Device = None,
        string_factory: str | None = None,
        metric_type: int | None = None,
        custom_index: Any = None,
        batch_size: int = 1000,
        train_size: int | None = None,
        faiss_verbose: bool = False,
        dtype: Any = np.float32,
    ) -> Self:
        """Add an index of the vectors in a column of lists; return this dataset.

        Args:
            column: of lists of numbers of one length.
            index_name: default: the name of the column.
            device: the number of a GPU, several of them, or -1 for all; None: the processor.
            string_factory: type of the faiss index, as "IVF100,Flat"; None: a flat index.
            metric_type: metric of faiss, as `faiss.METRIC_INNER_PRODUCT`; None: squared distance.
            custom_index: a faiss index, used unchanged.
            batch_size: number of vectors added at a time.
            train_size: number of vectors, from the first on, to train the index with; None: no training.
            faiss_verbose: True to print the progress of faiss.
            dtype: of the vectors; faiss computes with float32.

        Raises:
            MissingDependencyError: faiss is not installed.
            UnknownColumnError: a column that does not exist.
            CastError: the column has no vectors, or vectors of different lengths.
            ConfigurationError: arguments that faiss refuses.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]}).add_faiss_index("at")
        >>> scores, rows = points.search("at", [3.0, 3.0], k=2)
        >>> rows.tolist(), scores.tolist()
        ([1, 0], [1.0, 18.0])
        """
        from datasets_core.dataset.insight.indexes import VectorIndex, vectors_of  # they import faiss and pyarrow.compute
        from datasets_core.store.rows.view import blocks

        self._check_columns([column])
        feature = self._features[column]
        if not isinstance(feature, (List, LargeList)) or not isinstance(feature.feature, Value):
            raise CastError(f"Column {column!r} is {feature}, and vectors are lists of numbers. Name a column of those.")
        index = VectorIndex(device, string_factory, metric_type, custom_index)
        size, table = checked_batch_size(batch_size), self._table.select([column])
        train = None
        if train_size is not None:
            head = vectors_of(column, blocks(*self._head_of(column, _trained(train_size))), dtype, train_size)
            train = np.concatenate(list(head) or [np.zeros((0, 1), dtype=np.float32)])
        index.add(vectors_of(column, blocks(table, self._index), dtype, size), train, faiss_verbose)
        self._with_index(column if index_name is None else index_name, index)
        return self

    def _head_of(self, column: str, rows: int) -> tuple[Any, Any]:
        """Table and index of the first rows of a column."""
        table = self._table.select([column])
        return (table.slice(0, rows), None) if self._index is None else (table, self._index[:rows])

    def add_faiss_index_from_external_arrays(
        self,
        external_arrays: Any,
        index_name: str,
        device: Device = None,
        string_factory: str | None = None,
        metric_type: int | None = None,
        custom_index: Any = None,
        batch_size: int = 1000,
        train_size: int | None = None,
        faiss_verbose: bool = False,
        dtype: Any = np.float32,
    ) -> None:
        """Add an index of vectors outside the dataset: row `i` of the matrix belongs to row `i`; see `add_faiss_index`.

        Raises:
            MissingDependencyError: faiss is not installed.
            CastError: the arrays are not a matrix.
            ConfigurationError: arguments that faiss refuses.

        >>> words = Dataset.from_dict({"word": ["cat", "dog", "car"]})
        >>> words.add_faiss_index_from_external_arrays(np.array([[0, 1], [0, 2], [9, 9]]), index_name="meaning")
        >>> words.get_nearest_examples("meaning", [8, 8], k=1).examples
        {'word': ['car']}
        """
        from datasets_core.dataset.insight.indexes import VectorIndex  # it imports faiss

        index = VectorIndex(device, string_factory, metric_type, custom_index)
        vectors, size = np.asarray(external_arrays, dtype=dtype), checked_batch_size(batch_size)
        train = None if train_size is None else vectors[: _trained(train_size)]
        index.add((vectors[start : start + size] for start in range(0, len(vectors), size)), train, faiss_verbose)
        self._with_index(index_name, index)

    def save_faiss_index(
        self, index_name: str, file: str | os.PathLike[str], storage_options: dict[str, Any] | None = None
    ) -> None:
        """Write an index of vectors to a file or URL.

        Raises:
            MissingIndexError: no index of that name.
            ConfigurationError: not an index of vectors.
            DatasetDiskError: the disk is full, read-only or forbidden.

        >>> import os, tempfile
        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]}).add_faiss_index("at")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     points.save_faiss_index("at", os.path.join(folder, "points.faiss"))
        ...     os.listdir(folder)
        ['points.faiss']
        """
        index = self.get_index(index_name)
        save = getattr(index, "save", None)
        if save is None:
            raise ConfigurationError(f"The index {index_name!r} is one of texts, which stays on its server. Save others.")
        save(file, storage_options)

    def load_faiss_index(
        self,
        index_name: str,
        file: str | os.PathLike[str],
        device: Device = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Add an index written by `save_faiss_index` or faiss; its vectors belong to the rows by number.

        Raises:
            MissingDependencyError: faiss is not installed.
            FileNotFoundDatasetsError: the file does not exist.
            IndexFileError: it does not contain an index.
            ConfigurationError: it has more vectors than the dataset has rows.

        >>> import os, tempfile
        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]], "name": ["home", "shop"]}).add_faiss_index("at")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     points.save_faiss_index("at", os.path.join(folder, "points.faiss"))
        ...     names = points.select_columns("name")
        ...     names.load_faiss_index("at", os.path.join(folder, "points.faiss"))
        >>> names.get_nearest_examples("at", [3.0, 3.0], k=1).examples
        {'name': ['shop']}
        """
        from datasets_core.dataset.insight.indexes import VectorIndex  # it imports faiss

        index = VectorIndex.load(file, device, storage_options)
        found: Any = index.faiss_index
        if found.ntotal > self.num_rows:
            raise ConfigurationError(
                f"The index in {os.fspath(file)} holds {found.ntotal} vectors, and the dataset has {self.num_rows} rows. "
                "Load it into the dataset that it was made of."
            )
        self._with_index(index_name, index)

    # -- texts ---------------------------------------------------------------------------------------------------------

    def add_elasticsearch_index(
        self,
        column: str,
        index_name: str | None = None,
        host: str | None = None,
        port: int | None = None,
        es_client: Any = None,
        es_index_name: str | None = None,
        es_index_config: dict[str, Any] | None = None,
    ) -> Self:
        """Add an index of the texts in a column, on an Elasticsearch server, and give this dataset back.

        Args:
            column: of texts.
            index_name: None: that of the column.
            host, port: of the server; localhost and 9200 where neither they nor a client are given.
            es_client: a client of the package elasticsearch, instead.
            es_index_name: of the index on the server; None makes one up.
            es_index_config: settings and mappings of the index.

        Raises:
            MissingDependencyError: the package elasticsearch is not installed, and no client is given.
            UnknownColumnError: a column that does not exist.

        >>> animals = Dataset.from_dict({"text": ["a red fox", "a blue whale"]})
        >>> _ = animals.add_elasticsearch_index("text", es_client=es_client)  # Elasticsearch("http://localhost:9200")
        >>> animals.search("text", "whale").indices
        [1]
        """
        from datasets_core.dataset.insight.indexes import TextIndex  # only who searches texts needs it
        from datasets_core.store.rows.view import blocks

        self._check_columns([column])
        index = TextIndex(host, port, es_client, es_index_name, es_index_config)
        batches = blocks(self._table.select([column]), self._index)
        index.add(text for batch in batches for text in batch.column(0).to_pylist())
        self._with_index(column if index_name is None else index_name, index)
        return self

    def load_elasticsearch_index(
        self,
        index_name: str,
        es_index_name: str,
        host: str | None = None,
        port: int | None = None,
        es_client: Any = None,
        es_index_config: dict[str, Any] | None = None,
    ) -> None:
        """Add an existing index of a server; see `add_elasticsearch_index`.

        Raises:
            MissingDependencyError: the package elasticsearch is not installed, and no client is given.

        >>> animals = Dataset.from_dict({"text": ["a red fox", "a blue whale"]})
        >>> _ = animals.add_elasticsearch_index("text", es_client=es_client, es_index_name="animals")
        >>> later = Dataset.from_dict({"text": ["a red fox", "a blue whale"]})
        >>> later.load_elasticsearch_index("text", es_index_name="animals", es_client=es_client)
        >>> later.search("text", "fox").indices
        [0]
        """
        from datasets_core.dataset.insight.indexes import TextIndex  # only who searches texts needs it

        self._with_index(index_name, TextIndex(host, port, es_client, es_index_name, es_index_config))

    # -- searching -----------------------------------------------------------------------------------------------------

    def search(self, index_name: str, query: Any, k: int = 10, **kwargs: Any) -> SearchResults:
        """Return scores and numbers of the `k` rows nearest to a query.

        For a vector index with fewer than `k` vectors the rest of the rows is -1.

        Args:
            index_name: of the index.
            query: a vector, or a text for an index of texts.
            k: number of rows.
            **kwargs: for faiss or Elasticsearch.

        Raises:
            MissingIndexError: no index of that name.
            CastError: the query has another length than the vectors.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]}).add_faiss_index("at")
        >>> found = points.search("at", [8.0, 9.0], k=1)
        >>> found.scores.tolist(), found.indices.tolist()
        ([1.0], [2])
        """
        return SearchResults(*self.get_index(index_name).search(query, _at_least_one(k), **kwargs))

    def search_batch(self, index_name: str, queries: Any, k: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """Search for several queries: a matrix with a vector in each row, or a list of texts; see `search`.

        Raises:
            MissingIndexError: no index of that name.
            CastError: the queries have another length than the vectors.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]}).add_faiss_index("at")
        >>> points.search_batch("at", [[8.0, 9.0], [0.0, 1.0]], k=2).total_indices.tolist()
        [[2, 1], [0, 1]]
        """
        return BatchedSearchResults(*self.get_index(index_name).search_batch(queries, _at_least_one(k), **kwargs))

    def get_nearest_examples(self, index_name: str, query: Any, k: int = 10, **kwargs: Any) -> NearestExamplesResults:
        """Return scores of the rows nearest to a query, and the rows themselves; at most `k`; see `search`.

        Raises:
            MissingIndexError: no index of that name.
            CastError: the query has another length than the vectors.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]], "name": ["home", "shop"]}).add_faiss_index("at")
        >>> points.get_nearest_examples("at", [3.0, 3.0], k=1).examples
        {'at': [[3.0, 4.0]], 'name': ['shop']}
        """
        scores, rows = self.search(index_name, query, k, **kwargs)
        found = _found(rows)
        return NearestExamplesResults(scores[: len(found)], self[found])

    def get_nearest_examples_batch(
        self, index_name: str, queries: Any, k: int = 10, **kwargs: Any
    ) -> BatchedNearestExamplesResults:
        """Search for several queries, with rows; see `search_batch`.

        Raises:
            MissingIndexError: no index of that name.
            CastError: the queries have another length than the vectors.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]], "name": ["home", "shop"]}).add_faiss_index("at")
        >>> scores, rows = points.get_nearest_examples_batch("at", [[3.0, 3.0], [1.0, 0.0]], k=1)
        >>> [found["name"] for found in rows]
        [['shop'], ['home']]
        """
        total_scores, total_rows = self.search_batch(index_name, queries, k, **kwargs)
        found = [_found(rows) for rows in total_rows]
        scores = [scores[: len(rows)] for scores, rows in zip(total_scores, found, strict=True)]
        return BatchedNearestExamplesResults(scores, [self[rows] for rows in found])


def _found(rows: Sequence[int]) -> list[int]:
    return [int(row) for row in rows if row >= 0]


def _trained(train_size: int) -> int:
    if as_int("train_size", train_size) < 1:
        raise ConfigurationError(f"train_size={train_size} vectors cannot train an index. Give 1 or more, or leave it out.")
    return train_size


def _at_least_one(k: int) -> int:
    if as_int("k", k) < 1:
        raise ConfigurationError(f"k={k} rows cannot be searched for. Give 1 or more.")
    return k
