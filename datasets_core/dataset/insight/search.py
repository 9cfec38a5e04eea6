"""Search indexes and SQL over a dataset: the rows that are nearest to a vector, match a text, or are selected by a query."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, MissingIndexError, QueryError
from datasets_core.features.base import FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.schema import Features
from datasets_core.optional import needed
from datasets_core.store.rows.indices import as_int, checked_batch_size
from datasets_core.store.rows.rows import Lineage, Rows

if TYPE_CHECKING:
    from datasets_core.dataset.insight.indexes import Device, TextIndex, VectorIndex
    from datasets_core.dataset.results import Written


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
        """Return the names of the indexes.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]})
        >>> points.add_faiss_index("at", index_name="near").list_indexes()
        ['near']
        """
        return list(self._indexes or ())

    def is_index_initialized(self, index_name: str) -> bool:
        """Return True if the dataset has an index of that name.

        Args:
            index_name: name of the index.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]}).add_faiss_index("at")
        >>> points.is_index_initialized("at"), points.select([1]).is_index_initialized("at")
        (True, False)
        """
        return index_name in (self._indexes or ())

    def get_index(self, index_name: str) -> VectorIndex | TextIndex:
        """Return an index by its name.

        Args:
            index_name: name of the index.

        Raises:
            MissingIndexError: no index has that name.

        >>> Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0]]}).add_faiss_index("at").get_index("at").faiss_index.ntotal
        2
        """
        index = (self._indexes or {}).get(index_name)
        if index is not None:
            return index
        if index_name in self._indexes_before:
            raise MissingIndexError(
                f"The index {index_name!r} was created for other rows: this dataset was selected, sorted or mapped afterwards",
                advice="Add an index to this dataset",
            )
        known = ", ".join(map(repr, self.list_indexes())) or "none"
        raise MissingIndexError(
            f"Unknown index {index_name!r}. Available indexes: {known}",
            advice="Call add_faiss_index() or add_elasticsearch_index() first",
        )

    def drop_index(self, index_name: str) -> None:
        """Remove an index from the dataset.

        Args:
            index_name: name of the index.

        Raises:
            MissingIndexError: no index has that name.

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
        """Add an index of the vectors in a column of lists, for nearest-neighbour search.

        Args:
            column: a column of lists of numbers that all have the same length.
            index_name: name of the index; None uses the name of the column.
            device: number of a GPU, a list of numbers, or -1 for all GPUs; None uses the CPU.
            string_factory: type of the faiss index, such as "IVF100,Flat"; None makes a flat index.
            metric_type: metric of faiss, such as `faiss.METRIC_INNER_PRODUCT`; None uses the squared distance.
            custom_index: a faiss index to use as it is.
            batch_size: number of vectors that are added at a time.
            train_size: number of vectors, from the first one, that train the index; None does not train it.
            faiss_verbose: True to print the progress of faiss.
            dtype: type of the vectors; faiss computes with float32.

        Returns:
            This dataset.

        Raises:
            MissingDependencyError: faiss is not installed.
            UnknownColumnError: the column does not exist.
            CastError: the column contains no vectors, or vectors of different lengths.
            ConfigurationError: faiss refuses the arguments.

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
            raise CastError(f"Column {column!r} is {feature}, but vectors are lists of numbers", advice="Name such a column")
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
        """Add an index of vectors that are not in the dataset: row `i` of the matrix belongs to row `i`.

        Args:
            external_arrays: the vectors, an array of shape (rows, dimensions).
            index_name: name of the index.
            device, string_factory, metric_type, custom_index, batch_size, train_size, faiss_verbose, dtype: see
                `add_faiss_index`.

        Raises:
            MissingDependencyError: faiss is not installed.
            ConfigurationError: faiss refuses the arguments.
            CastError: the arrays are not a matrix.

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

        Args:
            index_name: name of the index.
            file: path or URL of the new file.
            storage_options: options of fsspec for a URL.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
            MissingIndexError: no index has that name.
            ConfigurationError: the index does not contain vectors.

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
            raise ConfigurationError(
                f"The text index {index_name!r} is stored on its server and cannot be saved", advice="Save vector indexes only"
            )
        save(file, storage_options)

    def load_faiss_index(
        self,
        index_name: str,
        file: str | os.PathLike[str],
        device: Device = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Add an index written by `save_faiss_index` or faiss; its vectors belong to the rows by number.

        Args:
            index_name: name of the index in this dataset.
            file: path or URL of the index.
            device: number of a GPU, a list of numbers, or -1 for all GPUs; None uses the CPU.
            storage_options: options of fsspec for a URL.

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
                f"The index in {os.fspath(file)} has {found.ntotal} vectors, but the dataset has {self.num_rows} rows",
                advice="Load it into the dataset for which it was created",
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
        """Add an index of the texts in a column, on an Elasticsearch server.

        Args:
            column: a column of texts.
            index_name: name of the index; None uses the name of the column.
            host, port: address of the server; `localhost` and 9200 if neither they nor a client are passed.
            es_client: a client of the package elasticsearch, used instead of `host` and `port`.
            es_index_name: name of the index on the server; None generates one.
            es_index_config: settings and mappings of the index.

        Returns:
            This dataset.

        Raises:
            MissingDependencyError: the package elasticsearch is not installed, and no client is passed.
            UnknownColumnError: the column does not exist.

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
        """Add an index that exists on a server.

        Args:
            index_name: name of the index in this dataset.
            es_index_name: name of the index on the server.
            host, port, es_client, es_index_config: see `add_elasticsearch_index`.

        Raises:
            MissingDependencyError: the package elasticsearch is not installed, and no client is passed.

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

        For a vector index with fewer than `k` vectors the remaining row numbers are -1.

        Args:
            index_name: name of the index.
            query: a vector, or a text for an index of texts.
            k: number of rows.
            **kwargs: options of the search.

        Raises:
            MissingIndexError: no index has that name.
            CastError: the query has a different length than the vectors.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]}).add_faiss_index("at")
        >>> found = points.search("at", [8.0, 9.0], k=1)
        >>> found.scores.tolist(), found.indices.tolist()
        ([1.0], [2])
        """
        return SearchResults(*self.get_index(index_name).search(query, _at_least_one(k), **kwargs))

    def search_batch(self, index_name: str, queries: Any, k: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """Return the numbers and scores of the rows nearest to each of several queries.

        Args:
            index_name, k, kwargs: see `search`; at most `k` rows for each query.
            queries: an array of shape (queries, dimensions), or a list of texts.

        Raises:
            CastError: the queries have a different length than the vectors.
            MissingIndexError: no index has that name.

        >>> points = Dataset.from_dict({"at": [[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]}).add_faiss_index("at")
        >>> points.search_batch("at", [[8.0, 9.0], [0.0, 1.0]], k=2).total_indices.tolist()
        [[2, 1], [0, 1]]
        """
        return BatchedSearchResults(*self.get_index(index_name).search_batch(queries, _at_least_one(k), **kwargs))

    def get_nearest_examples(self, index_name: str, query: Any, k: int = 10, **kwargs: Any) -> NearestExamplesResults:
        """Return the rows that are nearest to a query, with their scores.

        Args:
            index_name: name of the index.
            query: a vector of the length of those in the index, or a text.
            k: maximum number of rows.
            kwargs: options of the search in faiss or Elasticsearch.

        Raises:
            CastError: the query has a different length than the vectors.
            MissingIndexError: no index has that name.

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
        """Return the rows that are nearest to each of several queries, with their scores.

        Args:
            index_name, k, kwargs: see `search`; at most `k` rows for each query.
            queries: an array of shape (queries, dimensions), or a list of texts.

        Raises:
            CastError: the queries have a different length than the vectors.
            MissingIndexError: no index has that name.

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
        raise ConfigurationError(f"Invalid train_size={train_size}", advice="Give 1 or more, or remove it")
    return train_size


def _at_least_one(k: int) -> int:
    if as_int("k", k) < 1:
        raise ConfigurationError(f"Invalid k={k}", advice="Give 1 or more")
    return k


# -- SQL, by duckdb, which reads the pages of a dataset in place


_BATCH_ROWS = 1 << 16
_HUGE = {"HUGEINT", "UHUGEINT"}  # sums and counts, which duckdb computes in 128 bits and hands over as decimals
_CLOSED = {
    "enable_external_access": "false",  # a query reads and writes no file, loads no extension
    "python_enable_replacements": "false",  # nor a variable of the program
    "lock_configuration": "true",
}


class Queries(Rows):
    """Rows by SQL."""

    def to_duckdb(self, connection: Any = None, name: str = "ds") -> Any:
        """Make this dataset a view of a duckdb database. Queries read it as needed; it is not copied.

        Args:
            connection: a connection of duckdb; None opens a new database in memory, whose queries cannot read files.
            name: name of the view.

        Returns:
            The connection.

        Raises:
            MissingDependencyError: duckdb is not installed.
            ConfigurationError: duckdb refuses the name.

        >>> connection = Dataset.from_dict({"a": [1, 2, 3]}).to_duckdb(name="numbers")
        >>> connection.execute("select sum(a) from numbers").fetchall()
        [(6,)]
        """
        duckdb = _duckdb()
        if connection is None:  # it spills, if at all, into a folder that duckdb makes and removes; its own choice is here, "."
            import tempfile  # 8 ms that reading does without
            import uuid

            spilled = os.path.join(tempfile.gettempdir(), f"datasets_core-duckdb-{uuid.uuid4().hex}")
            connection = duckdb.connect(config={**_CLOSED, "temp_directory": spilled})
        try:
            connection.register(name, _readable(self))
        except duckdb.Error as error:
            raise ConfigurationError(
                f"duckdb cannot create a view {name!r} of the dataset: {error}", advice="Use another name"
            ) from error
        return connection

    def sql(self, query: str, **others: Any) -> Self:
        """Return the result of a SQL query as a dataset. The query calls this dataset `ds`.

        A result column with the name and type of a column of this dataset keeps its feature, for example the names of a
        ClassLabel. The query reads no files and changes nothing. Results above 64 MB are stored in a temporary file.

        Args:
            query: one SELECT statement of duckdb.
            **others: other datasets, by the names that the query uses for them.

        Raises:
            MissingDependencyError: duckdb is not installed.
            QueryError: the query is invalid, or failed.
            ArgumentTypeError: the query is not a string, or one of `others` is not a dataset.

        >>> ds = Dataset.from_dict({"word": ["a", "b", "a"], "n": [1, 2, 3]})
        >>> ds.sql("select word, max(n) as most from ds group by word order by word")[:]
        {'word': ['a', 'b'], 'most': [3, 2]}
        """
        if not isinstance(query, str):
            raise ArgumentTypeError(f"A query is a string, found {type(query).__name__}. Give SQL such as 'select * from ds'.")
        for name, other in others.items():
            if name == "ds" or not isinstance(other, Rows):
                what = "'ds' is this dataset itself" if name == "ds" else f"{name}= is {type(other).__name__}, not a Dataset"
                raise ArgumentTypeError(f"{what}", advice="Give datasets, each with another name")
        duckdb = _duckdb()
        datasets = {"ds": self, **others}
        try:
            made = self._answer(duckdb, query, datasets, is_wide=False)
        except _TooLargeError:
            made = self._answer(duckdb, query, datasets, is_wide=True)
        made._format = type(made._format)()
        return made

    def _answer(self, duckdb: Any, query: str, datasets: dict[str, Rows], *, is_wide: bool) -> Self:
        """Return the rows of the query; integers of 128 bits are int64, or (`is_wide`) decimals."""
        import uuid

        with _session(duckdb, query) as connection:
            for name, dataset in datasets.items():
                connection.register(name, _readable(dataset))
            found = connection.sql(query)
            if found is None:
                raise QueryError(query, "it returns no rows", advice="Write a SELECT")
            kinds = dict(zip(found.columns, map(str, found.types), strict=True))
            huge = [] if is_wide else [name for name, kind in kinds.items() if kind in _HUGE]
            read = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch  # its name before duckdb 2.0
            reader = read(_BATCH_ROWS)
            features = _features(reader.schema, [*datasets.values()], query, huge)
            lineage = Lineage.known(uuid.uuid4().hex[:16], lasts=False)  # a query may be random, or ask for the time
            table = _kept(self, lineage, reader, features, huge)
            return self._replaced(table, features, "sql", new_fingerprint=lineage.fingerprint)


class _TooLargeError(Exception):
    """An integer of a result exceeds int64."""


def _duckdb() -> Any:
    return needed("duckdb", "SQL over a dataset")


@contextmanager
def _session(duckdb: Any, query: str) -> Iterator[Any]:
    """An in-memory database whose queries only reach the views. It spills into a folder that is removed with it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="datasets_core-duckdb-") as folder:
        connection = duckdb.connect(config={**_CLOSED, "temp_directory": folder})
        try:
            yield connection
        except (duckdb.Error, pa.ArrowException) as error:  # Arrow's: what fails while the result is read
            raise QueryError(query, str(error).strip()) from error
        finally:
            connection.close()


def _readable(dataset: Rows) -> Any:
    """Return an object that duckdb can read repeatedly: a table over mapped pages, or a stream of blocks."""
    table = dataset._table
    if dataset._index is None and all(map(table.is_mapped, range(table.num_pieces))):
        return _plain(table.to_table())
    return dataset


def _plain(table: pa.Table) -> pa.Table:
    """Return the table without extension types, which duckdb does not support."""
    return table.cast(pa.schema([field.remove_metadata() for field in table.schema]))


def _features(schema: pa.Schema, sources: list[Rows], query: str, huge: list[str]) -> Features:
    """Return the features of a result: for each column, that of the first source with a column of the same name and type."""
    if len(set(schema.names)) != len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise QueryError(query, f"two columns of its result have the name {twice!r}", advice="Rename one with AS")
    found = Features.from_arrow_schema(pa.schema([_common(field, huge) for field in schema]))
    for name in found:
        for source in sources:
            kind = source._features.get(name)
            if kind is not None and _fits(kind, schema.field(name).type):
                found[name] = kind
                break
    return found


def _common(field: pa.Field, huge: list[str]) -> pa.Field:
    """Return a column of duckdb in a type that features support."""
    return pa.field(field.name, pa.int64() if field.name in huge else _shape(field.type))


def _fits(feature: FeatureType, arrow_type: pa.DataType) -> bool:
    stored = feature_to_arrow(feature)
    return bool(_shape(stored) == _shape(arrow_type))


def _shape(kind: pa.DataType) -> pa.DataType:
    """Return a type without what duckdb does not keep: names of list items, widths of offsets, dictionaries."""
    if pa.types.is_dictionary(kind):
        return _shape(kind.value_type)
    if pa.types.is_large_string(kind) or kind == pa.string_view():
        return pa.string()
    if pa.types.is_large_binary(kind) or kind == pa.binary_view():
        return pa.binary()
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(pa.field("item", _shape(kind.value_type)), kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(pa.field("item", _shape(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _shape(field.type)) for field in kind])
    return kind


def _kept(dataset: Rows, lineage: Lineage, reader: pa.RecordBatchReader, features: Features, huge: list[str]) -> Any:
    """Return the rows of the reader: in memory up to a size, in a temporary folder beyond it.

    Raises:
        _TooLargeError: a value of the columns `huge` exceeds int64.
    """
    from datasets_core.dataset.results import (  # they import the writer: a query alone needs it
        MEMORY_BYTES,
        WideningWriter,
        cached_result,
        place_of,
    )

    schema = features.arrow_schema

    def make(folder: Callable[[], str]) -> list[Written]:
        writer = WideningWriter(folder, "part", most_bytes=MEMORY_BYTES)
        try:
            for batch in reader:
                columns = [_cast(column, field, huge) for column, field in zip(batch.columns, schema, strict=True)]
                writer.write(pa.RecordBatch.from_arrays(columns, schema=schema), features)
            if not writer.rows:
                empty = [pa.nulls(0, field.type) for field in schema]
                writer.write(pa.RecordBatch.from_arrays(empty, schema=schema), features)
            return writer.close()
        except BaseException:
            writer.abort()
            raise

    return cached_result(replace(place_of(dataset, lineage), most_bytes=MEMORY_BYTES), make).table


def _cast(column: pa.Array, field: pa.Field, huge: list[str]) -> pa.Array:
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as error:
        raise _TooLargeError if field.name in huge else error from error
