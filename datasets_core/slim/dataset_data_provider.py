"""`DatasetDataProvider`: samples of a dataset, read by threads, shuffled by a queue, decoded on use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from datasets_core.errors import (
    ConfigurationError,
    DatasetsCoreError,
    FileFormatError,
    OutOfRangeError,
    UnknownFeatureError,
    redact,
)
from datasets_core.optional import needed
from datasets_core.records.specs.values import SparseValue
from datasets_core.records.wire.values import RecordBlock
from datasets_core.slim.data_decoder import method_of
from datasets_core.slim.data_provider import DataProvider, SampleStream
from datasets_core.slim.dataset import get_data_files, named, reader_maker
from datasets_core.slim.queues import (
    Ragged,
    Runner,
    batches,
    checked_capacity,
    checked_seed,
    checked_sizes,
    register,
    whole_number,
)
from datasets_core.slim.readers import shown_key
from datasets_core.slim.threads import Entry, WorkUnits

# `as_torch`: converts numeric items to tensors of torch.


_NUMBERS = "biufc"


def as_torch(value: Any) -> Any:
    """Return arrays of numbers as tensors, sparse values as sparse tensors, and other values unchanged.

    Args:
        value: the value of an item.

    Raises:
        ConfigurationError: a sparse value has an index outside its shape.
        MissingDependencyError: torch is not installed.

    Example:
        >>> as_torch(np.array([1, 2])), as_torch("a wren")
        (tensor([1, 2]), 'a wren')
    """
    if isinstance(value, np.ndarray):
        return _tensor(value) if value.dtype.kind in _NUMBERS else value
    if isinstance(value, SparseValue):
        return _sparse(value) if value.values.dtype.kind in _NUMBERS else value
    if isinstance(value, np.generic):
        return as_torch(np.asarray(value))
    if isinstance(value, list) and value and all(isinstance(inner, np.ndarray | np.generic) for inner in value):
        return [as_torch(inner) for inner in value]
    return value


def _tensor(array: npt.NDArray[Any]) -> Any:
    flags = array.flags
    if not (flags.writeable and flags.c_contiguous and array.dtype.isnative):  # torch rejects other arrays, or warns
        array = np.array(array, order="C", dtype=array.dtype.newbyteorder("="))
    return _torch().from_numpy(array)


def _sparse(value: SparseValue) -> Any:
    indices, shape = np.asarray(value.indices, np.int64).T, tuple(value.dense_shape.tolist())
    try:
        return _torch().sparse_coo_tensor(_tensor(indices), _tensor(value.values), shape, check_invariants=True)
    except RuntimeError as error:
        raise ConfigurationError(
            f"A sparse value of shape {shape} cannot be converted to a tensor: {error}", advice="Fix its indices or its shape"
        ) from error


@cache
def _torch() -> Any:
    return needed("torch", needed_for="format='torch'", install="torch")


_FEWEST, _MOST = 16, 4096  # number of samples taken from the queue and parsed at a time
_CHUNK_BYTES = 8 << 20

Sample = dict[str, Any]
BlockDecoder = Callable[[Any, list[str]], Iterable[Sample]]
Format = Literal["numpy", "torch"]


class DatasetDataProvider(DataProvider, Runner):
    """Provider of the samples of a dataset, one by one.

    `get` consumes a sample and returns some of its items; iteration yields samples as dicts of all items and ends with the
    last epoch; `batch` yields several samples at a time.  All of them continue at the position of the provider.

    Without shuffling, one reader returns the samples in the order of the files; several readers read one file each, and
    samples are taken from them in turn.  With shuffling, the order of files differs in each epoch, and samples pass through
    a queue from which they are drawn at random while it has more than `common_queue_min` samples.  The order depends on the
    files, the arguments and the seed, not on timing.

    Threads start with the first sample; `close`, or the end of a `with` block, stops them.  A provider that was interrupted,
    for example by Ctrl-C, can continue: at most the sample or batch that was being returned is lost.

    Args:
        dataset: a `slim.Dataset`, or an object with its attributes.
        num_readers: number of files read at a time.
        reader_kwargs: arguments of the dataset's reader.
        shuffle: True to shuffle files and samples.
        num_epochs: number of times each file is read; None for endless repetition.
        common_queue_capacity: maximum number of samples in the shuffling queue.
        common_queue_min: minimum number of samples kept in it, until the files end.
        record_key: name of the item with the origin of a sample, `file:position`; None to omit this item.
        seed: seed of the order; None draws a seed, which states include.
        scope: ignored.
        format: format of items: `"numpy"` arrays or `"torch"` tensors.

    Raises:
        NoDataFilesError: the data sources contain no files.
        ConfigurationError: `record_key` is an item of the dataset, or a number is invalid.

    Example:
        >>> import tempfile
        >>> from datasets_core import records, slim
        >>> decoder = slim.TFExampleDecoder({"id": slim.FixedLenFeature([], "int64")}, {"id": slim.Tensor("id")})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with records.TFRecordWriter(f"{folder}/a.tfrecord") as writer:
        ...         writer.write_all(records.encode_example({"id": number}) for number in range(3))
        ...     dataset = slim.Dataset(f"{folder}/*.tfrecord", slim.TFRecordReader, decoder, 3, {"id": "Its number."})
        ...     with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        ...         (first,) = provider.get(["id"])
        ...         first, provider.list_items(), [int(sample["id"]) for sample in provider]
        (array(0), ['id', 'record_key'], [1, 2])
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str | None = "record_key",
        seed: int | None = None,
        scope: str | None = None,
        *,
        format: Format = "numpy",
    ) -> None:
        reading = dataset, num_readers, reader_kwargs, shuffle, num_epochs
        self._arguments = *reading, common_queue_capacity, common_queue_min, record_key, seed, scope
        decoder = dataset.decoder
        items = list(method_of(decoder, "list_items", "ListItems")())
        if record_key in items:
            raise ConfigurationError(
                f"record_key={record_key!r} is already an item of the dataset", advice="Choose another name", value=record_key
            )
        super().__init__(items if record_key is None else [*items, record_key], dataset.num_samples)
        sizes = common_queue_capacity, common_queue_min
        capacity, minimum = checked_sizes(*sizes) if shuffle else (checked_capacity(common_queue_capacity), 0)
        if format not in ("numpy", "torch"):
            raise ConfigurationError(f"Unknown format={format!r}", advice="Pass 'numpy' or 'torch'", value=format)
        number = checked_seed(seed) if shuffle else None
        self._stream = SampleStream(
            "The provider",
            WorkUnits(get_data_files(dataset.data_sources), num_epochs, number),
            reader_maker(dataset.reader, reader_kwargs),
            num_readers=whole_number("num_readers", num_readers, 1),
            capacity=capacity,
            minimum=minimum,
            seed=number,
            takes_seeds=seed is None,
            made_of={"reader": named(dataset.reader, reader_kwargs)},
        )
        self._format: Format = format
        self._record_key, self._all_items = record_key, tuple(self._items)
        self._decode_block = _block_decoder(decoder)
        self._shown: Callable[[Any], Any] | None = as_torch if format == "torch" else None
        self._has_key = False
        self._forget()
        register(self)

    def _forget(self) -> None:
        self._sample_bytes = _CHUNK_BYTES // 64
        self._asked: tuple[str, ...] | None = None
        self._names: list[str] = []
        self._decoded: Iterator[Sample] | None = None  # the rest of the chunk of the stream, from a position
        self._run = self._place = 0

    # -- samples -------------------------------------------------------------------------------------------------------

    def sample(self, items: Sequence[str]) -> Sample:
        """Return the next sample, without a check of the names of items.

        Args:
            items: the names of the items of the sample.
        """
        sample = self._taken(tuple(items))
        return sample if self._shown is None else {name: self._shown(value) for name, value in sample.items()}

    def _taken(self, items: tuple[str, ...]) -> Sample:
        stream = self._stream
        with stream.lock:
            if items is not self._asked and items != self._asked:
                self._ask(items)
            if stream.is_due:
                self._decoded = None
                self._take_chunk()
            if self._place != stream.at:  # an error, such as Ctrl-C, was raised in between
                self._decoded = None
            self._place = stream.at + 1
            sample = None if self._decoded is None else next(self._decoded, None)
            if sample is None:
                sample = self._first_of_run() if self._names else {}
            if self._has_key and self._record_key is not None:
                sample[self._record_key] = self._key()
            stream.at += 1
            return sample

    def _key(self) -> str:
        """Return the key of the next sample; if its reader fails to make one, the sample is skipped."""
        stream = self._stream
        try:
            return stream.chunk[stream.at].key(stream.reader)
        except Exception:
            stream.at += 1
            raise

    def _ask(self, items: tuple[str, ...]) -> None:
        """Switch to other items."""
        self._asked = None  # in case of an interrupt
        self._has_key = self._record_key is not None and self._record_key in items
        self._names = [item for item in items if item != self._record_key]
        self._decoded, self._run = None, 0
        self._asked = items

    def _take_chunk(self) -> None:
        stream = self._stream
        stream.next_chunk(max(1, min(_MOST, _CHUNK_BYTES // self._sample_bytes)))
        sizes = [len(entry.payload) for entry in stream.chunk if isinstance(entry.payload, bytes)]
        self._sample_bytes = max(1, sum(sizes) // len(sizes)) if sizes else _CHUNK_BYTES // 256

    def _first_of_run(self) -> Sample:
        """Return the next sample, the first of a run that is parsed together; runs start small and grow."""
        stream = self._stream
        self._decoded, self._run = None, min(_MOST, max(_FEWEST, 2 * self._run))
        try:
            decoded = _decoded(self._decode_block, stream.chunk[stream.at : stream.at + self._run], self._names)
            sample = next(decoded)
        except Exception:
            return self._alone(stream.chunk[stream.at])
        self._decoded = decoded
        return sample

    def _alone(self, entry: Entry) -> Sample:
        """Return a sample decoded alone after a failure in a block; an error names its file and its number."""
        path = redact(str(entry.origin.path))
        try:
            (sample,) = self._decode_block(_payloads([entry], name=path, first=entry.number), self._names)
        except Exception as error:
            self._stream.at += 1
            if isinstance(error, (ConfigurationError, UnknownFeatureError)):  # an error of the decoder, not of the sample
                raise
            if isinstance(error, DatasetsCoreError) and path in str(error):
                raise
            key = shown_key(self._stream.reader, entry.origin.path, entry.position)
            reason = f"sample {key} cannot be decoded: {str(error).rstrip('.')}"
            raise FileFormatError(path, reason, advice="Fix the sample, or the decoder") from error
        return sample

    def __iter__(self) -> Iterator[Sample]:
        return self

    def __next__(self) -> Sample:
        try:
            return self.sample(self._all_items)
        except OutOfRangeError as error:
            raise StopIteration from error

    def batch(
        self,
        size: int,
        items: Sequence[str] | None = None,
        *,
        drop_remainder: bool = False,
        ragged: Ragged = "error",
        padding: Any = 0,
    ) -> Iterator[Sample]:
        """Yield the samples in batches: for each item one array with an additional first dimension.

        Arrays of different shapes are an error; or they are padded at their ends to the largest size in the batch; or they
        are returned as a list.  Strings, keys and other values are always returned as lists; sparse values are stacked to
        one sparse value with an additional dimension.  Samples before an error are yielded as a smaller batch, then the
        error is raised.  Samples that cannot be stacked are returned again by the next call.

        Args:
            size: number of samples in each batch; the last batch may have fewer.
            items: names of items; None means all.
            drop_remainder: True to drop an incomplete last batch.
            ragged: handling of arrays of different shapes: `"error"`, `"pad"` or `"list"`.
            padding: value to pad numbers with, or a dict of values by item; strings are padded with empty strings.

        Raises:
            ConfigurationError: the size is below 1, or the value of `ragged` is unknown.
            UnknownItemError: an item is unknown.

        Example:
            >>> import pathlib, tempfile
            >>> from datasets_core import slim
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.csv")
            ...     _ = path.write_text("a\\n1\\n2\\n3\\n", encoding="utf-8")
            ...     dataset = slim.Dataset(str(path), "csv", slim.RowDecoder(["a"]), 3, {})
            ...     with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
            ...         [batch["a"].tolist() for batch in provider.batch(2)]
            [[1, 2], [3]]
        """
        wanted = self._all_items if items is None else items
        self.check_items(wanted)
        return batches(
            lambda: self._taken(tuple(wanted)),
            size,
            drop_remainder=drop_remainder,
            ragged=ragged,
            padding=padding,
            shown=self._shown,
            as_a_whole=self._stream.as_a_whole,
        )

    # -- states and closing --------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the position of the provider after the last returned sample, as plain JSON.

        The state contains positions in the files, including those of the samples in the queue, but no samples.  A provider
        created with the same arguments in any process continues from it with the same samples as this one.

        Example:
            >>> import pathlib, tempfile
            >>> from datasets_core import slim
            >>> def provider():
            ...     dataset = slim.Dataset(str(path), "csv", slim.RowDecoder(["a"]), 9, {})
            ...     return slim.DatasetDataProvider(dataset, num_epochs=1, common_queue_capacity=4, common_queue_min=2, seed=1)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.csv")
            ...     _ = path.write_text("a\\n" + "\\n".join("123456789"), encoding="utf-8")
            ...     with provider() as first, provider() as second:
            ...         _ = first.get(["a"])
            ...         second.load_state_dict(first.state_dict())
            ...         [sample["a"] for sample in first] == [sample["a"] for sample in second]
            True
        """
        return self._stream.state()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue at the position of a state.

        Args:
            state_dict: a result of `state_dict` of a provider with the same files, reader, number of readers and queue.

        Raises:
            StreamStateError: the state belongs to another provider, or was altered.
        """
        with self._stream.lock:
            self._stream.load(state_dict)
            self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the position; in another process the provider continues there with its own threads."""
        return _remade, (type(self), self._arguments, self._format, self.state_dict())

    def close(self) -> None:
        """Stop the threads; no more samples are returned."""
        self._stream.close()


def _remade(kind: Any, arguments: tuple[Any, ...], format: Format, state: dict[str, Any]) -> DatasetDataProvider:
    made: DatasetDataProvider = kind(*arguments, format=format)
    made.load_state_dict(state)
    return made


def _payloads(entries: Sequence[Entry], name: str = "records", first: int = 0) -> Any:
    """Return the data of samples to decode; records become a block."""
    payloads = [entry.payload for entry in entries]
    if all(type(payload) is bytes for payload in payloads):
        return RecordBlock.of(payloads, name=name, first=first)
    return payloads


def _decoded(decode_block: BlockDecoder, entries: Sequence[Entry], names: list[str]) -> Iterator[Sample]:
    """Yield samples as they are decoded, up to the first that cannot be decoded."""
    decoded = iter(decode_block(_payloads(entries), names))
    while True:
        try:
            sample = next(decoded)
        except Exception:  # includes the end; an error is raised again when its sample is decoded alone
            return
        yield sample


def _block_decoder(decoder: Any) -> BlockDecoder:
    """Return the block decoding of any object with the methods of a decoder."""
    own: BlockDecoder | None = getattr(decoder, "decode_block", None)
    if own is not None:
        return own
    decode = method_of(decoder, "decode", "Decode")
    return lambda block, names: (dict(zip(names, decode(data, names), strict=True)) for data in block)
