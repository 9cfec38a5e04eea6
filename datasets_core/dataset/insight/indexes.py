"""`VectorIndex`, `TextIndex`: nearest vectors of a column by faiss, and texts by Elasticsearch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core import files
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    IndexFileError,
)
from datasets_core.optional import needed

# `TextIndex`: the rows whose text answers a query, by Elasticsearch.


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
        host, port: address of the server; localhost and 9200 if neither they nor a client are given.
        es_client: a client of the package elasticsearch, instead of `host` and `port`.
        es_index_name: name of the index on the server; None generates one.
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
            raise ConfigurationError("es_client= and host=, port= are mutually exclusive", advice="Give one of them")
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
            DatasetsCoreError: the server refused a text.
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
                f"Elasticsearch refused row {bad.get('_id', '?')}: {bad.get('error')}",
                advice="Fix the text, or es_index_config",
            )

    def search(self, query: str, k: int = 10, **kwargs: Any) -> tuple[list[float], list[int]]:
        """Return scores and rows of the `k` texts that match a query best."""
        body = {"query": {"multi_match": {"query": query, "fields": ["text"], "type": "cross_fields"}}, "size": k}
        hits = self.es_client.search(index=self.es_index_name, body=body, **kwargs)["hits"]["hits"]
        return [hit["_score"] for hit in hits], [int(hit["_id"]) for hit in hits]

    def search_batch(self, queries: Iterable[str], k: int = 10, **kwargs: Any) -> tuple[list[list[float]], list[list[int]]]:
        """Return the results of `search` for each of several queries, in their order."""
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


Device: TypeAlias = "int | Sequence[int] | None"


class VectorIndex:
    """Vectors in a faiss index, each by the number of its row.

    Args:
        device: the number of a GPU, several of them, or a negative number for all; None: the processor.
        string_factory: type of the faiss index, such as "IVF100,Flat"; None: a flat index.
        metric_type: metric of faiss, such as `faiss.METRIC_INNER_PRODUCT`; None: the squared distance.
        custom_index: an index of faiss, empty or trained, that is used unchanged.

    Attributes:
        faiss_index: the index of faiss; None before the first vectors are added.

    Raises:
        MissingDependencyError: faiss is not installed.
        ConfigurationError: more than one of string_factory and metric_type, or of string_factory and custom_index.
    """

    def __init__(
        self,
        device: Device = None,
        string_factory: str | None = None,
        metric_type: int | None = None,
        custom_index: Any = None,
    ) -> None:
        if string_factory is not None and custom_index is not None:
            raise ConfigurationError("string_factory= and custom_index= are mutually exclusive", advice="Give one of them")
        if device is not None and custom_index is not None:
            raise ConfigurationError(
                "device= has no effect on a custom_index", advice="Move the index to the device yourself, and remove device="
            )
        self.device, self._factory, self._metric = device, string_factory, metric_type
        self.faiss_index = custom_index
        faiss_package()

    def add(self, blocks: Iterable[npt.NDArray[Any]], train: npt.NDArray[Any] | None, is_verbose: bool | None) -> None:
        """Add vectors; all must have the length of the first one.

        Args:
            blocks: the vectors in order, as matrices.
            train: vectors to train the index with, if it needs training.
            is_verbose: True to print the progress of faiss.
        """
        for block in blocks:
            vectors = _matrix(block)
            if self.faiss_index is None:
                self.faiss_index = self._made(vectors.shape[1])
            index = self.faiss_index
            if index.d != vectors.shape[1]:
                raise CastError(
                    f"A vector has {vectors.shape[1]} numbers, but the index expects {index.d}",
                    advice="Give vectors of one length",
                )
            if is_verbose is not None:
                for each in (index, getattr(index, "index", None), getattr(index, "quantizer", None)):
                    if each is not None:
                        each.verbose = is_verbose
            if train is not None:
                first = _matrix(train)
                _attempt(lambda index=index, rows=first: index.train(rows), "train the index")
                train = None
            _attempt(lambda index=index, rows=vectors: index.add(rows), "add the vectors")

    def _made(self, size: int) -> Any:
        faiss = faiss_package()
        metric = () if self._metric is None else (self._metric,)
        made = (
            faiss.IndexFlat(size, *metric)
            if self._factory is None
            else _attempt(lambda: faiss.index_factory(size, self._factory, *metric), f"build {self._factory!r}")
        )
        return _on_device(faiss, made, self.device)

    def search(self, query: Any, k: int = 10, **kwargs: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return scores and row numbers of the `k` nearest vectors; -1 if there are fewer."""
        vector = np.asarray(query)
        if vector.ndim != 1 and not (vector.ndim == 2 and vector.shape[0] == 1):
            raise ConfigurationError(
                f"A query of shape {vector.shape} is not a vector", advice="Give a vector, or use search_batch"
            )
        scores, rows = self.search_batch(vector.reshape(1, -1), k, **kwargs)
        return scores[0], rows[0]

    def search_batch(self, queries: Any, k: int = 10, **kwargs: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the results of `search` for each row of a matrix."""
        matrix = np.asarray(queries)
        if matrix.ndim != 2:
            raise ConfigurationError(f"Queries of shape {matrix.shape} are not a matrix", advice="Give one vector in each row")
        index = self.faiss_index
        if index is None:
            raise ConfigurationError("The index has no vectors", advice="Add it to a dataset with rows")
        if matrix.shape[1] != index.d:
            raise CastError(
                f"The query has {matrix.shape[1]} numbers, but the vectors of the index have {index.d}",
                advice="Give a query of that length",
            )
        wanted = _matrix(matrix)
        scores, rows = _attempt(lambda: index.search(wanted, k, **kwargs), f"search for {k} vectors")
        return scores, rows.astype(int)

    # -- files ---------------------------------------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str], storage_options: dict[str, Any] | None = None) -> None:
        """Write the index to a file atomically.

        Raises:
            ConfigurationError: it contains no vectors.
            DatasetDiskError, DownloadError: the disk or the store refuses.
        """
        if self.faiss_index is None:
            raise ConfigurationError("The index has no vectors", advice="Add it to a dataset with rows, then save it")
        data = self._bytes().tobytes()
        path = os.fspath(file)
        if not files.is_url(path):
            files.write_atomically(files.local_path(path), data)
            return
        import tempfile  # 8 ms that searching does without

        from datasets_core.store.commit import again_on_failure, put_file

        store, inner = files.filesystem(path, storage_options)
        with tempfile.NamedTemporaryFile() as local:
            local.write(data)
            local.flush()
            again_on_failure(path, lambda: store.makedirs(inner.rpartition("/")[0], exist_ok=True))
            again_on_failure(path, lambda: put_file(store, local.name, inner, len(data)))

    @classmethod
    def load(
        cls, file: str | os.PathLike[str], device: Device = None, storage_options: dict[str, Any] | None = None
    ) -> VectorIndex:
        """Return the index in a file written by `save` or faiss.

        Raises:
            FileNotFoundDatasetsError: the file does not exist.
            IndexFileError: it does not contain an index.
        """
        index, faiss = cls(device), faiss_package()
        path = os.fspath(file)
        try:
            with files.open_binary(path, storage_options) as handle:
                data = np.frombuffer(handle.read(), dtype=np.uint8)
            index.faiss_index = _on_device(faiss, faiss.deserialize_index(data), device)
        except FileNotFoundError as error:
            raise FileNotFoundDatasetsError(
                f"There is no index file {path}", advice="Write one with save_faiss_index()"
            ) from error
        except RuntimeError as error:  # an empty file too
            raise IndexFileError(
                f"{path} is not a faiss index", advice="Write it again with save_faiss_index()", file=path
            ) from error
        return index

    def _bytes(self) -> npt.NDArray[np.uint8]:
        faiss = faiss_package()
        if self.faiss_index is None:
            return np.zeros(0, dtype=np.uint8)
        index = self.faiss_index if self.device is None else faiss.index_gpu_to_cpu(self.faiss_index)
        found: npt.NDArray[np.uint8] = faiss.serialize_index(index)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "faiss_index": self._bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        data = state["faiss_index"]
        faiss = faiss_package()
        self.faiss_index = _on_device(faiss, faiss.deserialize_index(data), self.device) if len(data) else None


def faiss_package() -> Any:
    """Return the package faiss.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return needed("faiss", "A vector index")


def _on_device(faiss: Any, index: Any, device: Device) -> Any:
    if device is None:
        return index
    if not isinstance(device, int) and not (isinstance(device, (list, tuple)) and all(isinstance(one, int) for one in device)):
        raise ArgumentTypeError(
            f"device={device!r} is not a GPU", advice="Give its number, a list of numbers, or -1 for all", value=device
        )
    if not hasattr(faiss, "StandardGpuResources"):
        raise ConfigurationError(
            f"device={device!r} needs a build of faiss with GPU support", advice="Install it, or remove device=", value=device
        )
    if not isinstance(device, int):
        return faiss.index_cpu_to_gpus_list(index, gpus=list(device))
    if device < 0:
        return faiss.index_cpu_to_all_gpus(index)
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), device, index)


def _matrix(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    if vectors.ndim != 2:
        raise CastError(f"Vectors of shape {vectors.shape} are not a matrix", advice="Give one vector in each row")
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _attempt(act: Any, what: str) -> Any:
    """Return the result of `act`; failures of faiss become errors of the library."""
    try:
        return act()
    except (RuntimeError, AssertionError, TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[-1] or type(error).__name__
        raise ConfigurationError(f"faiss could not {what}: {reason}", advice="Give other arguments for the index") from error


def vectors_of(name: str, batches: Iterable[pa.RecordBatch], dtype: Any, batch_size: int) -> Iterator[npt.NDArray[Any]]:
    """Yield the vectors of a column of lists, as matrices of at most `batch_size` rows.

    Raises:
        CastError: a row has no vector, or vectors have different lengths.
    """
    row, size = 0, None
    for batch in batches:
        lists = batch.column(0)
        lengths = np.array(pc.fill_null(pc.list_value_length(lists), -1).to_pylist(), dtype=np.int64)
        if len(lengths):
            size = int(lengths[0]) if size is None else size
            odd = np.flatnonzero((lengths != size) | (lengths < 1))
            values = lists.flatten()
            if len(odd) or values.null_count:
                at = row + int(odd[0] if len(odd) else np.flatnonzero(values.is_null())[0] // lengths[0])
                what = "contains a vector with nulls" if not len(odd) else f"has no vector of {size} numbers"
                raise CastError(
                    f"Row {at} of column {name!r} {what}", advice="Fill it, or remove the row, before adding an index"
                )
            flat = values.to_numpy(zero_copy_only=False).astype(dtype, copy=False).reshape(-1, size)
            for start in range(0, len(flat), batch_size):
                yield flat[start : start + batch_size]
        row += len(lengths)
