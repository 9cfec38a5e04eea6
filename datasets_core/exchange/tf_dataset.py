"""A dataset as a `tf.data.Dataset`: batches of row numbers, each read in the numpy format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownColumnError
from datasets_core.format.formatter import check_format
from datasets_core.rows.arguments import as_int, checked_batch_size, names_of
from datasets_core.rows.tabled import Tabled

_LABELS = ("label", "labels", "label_ids")  # columns that a collate function may need unasked


class ForTensorflow(Tabled):
    """What tensorflow trains on."""

    def to_tf_dataset(
        self,
        batch_size: int | None = None,
        columns: str | Sequence[str] | None = None,
        shuffle: bool = False,
        collate_fn: Callable[..., Mapping[str, Any]] | None = None,
        drop_remainder: bool = False,
        collate_fn_args: Mapping[str, Any] | None = None,
        label_cols: str | Sequence[str] | None = None,
        prefetch: bool = True,
        num_workers: int = 0,
        num_test_batches: int = 20,
    ) -> Any:
        """The rows as a `tf.data.Dataset`.

        Args:
            batch_size: rows of a batch; None: rows one by one.
            columns: the inputs: one comes as a tensor, several as a dict of tensors.  None: all columns.
            shuffle: in another order in each epoch.
            collate_fn: makes a batch (a dict of arrays or tensors) of a list of rows (dicts of numpy values).
            drop_remainder: leave out the last batch if it is shorter.
            collate_fn_args: keyword arguments for `collate_fn`.
            label_cols: the labels, which come beside the inputs as the second of a pair.
            prefetch: read ahead.
            num_workers: batches that are read at the same time.
            num_test_batches: batches that are read at once, to see the types and shapes.

        Raises:
            MissingDependencyError: tensorflow is not installed.
            UnknownColumnError: a column that does not exist, and that `collate_fn` does not make.
            CastError: a column whose rows do not stack, such as lists of several lengths.

        >>> dataset = Dataset(pa.table({"a": [1, 2]}))
        >>> for batch in dataset.to_tf_dataset(batch_size=2, columns="a"):
        ...     print(batch.shape)
        (2,)
        """
        check_format("tensorflow", {})
        size = None if batch_size is None else checked_batch_size(batch_size)
        inputs, labels = names_of(columns or ()), names_of(label_cols or ())
        if labels and not inputs:
            raise ConfigurationError("label_cols are given without columns. Name the columns of the inputs too.")
        if as_int("num_workers", num_workers) < 0 or as_int("num_test_batches", num_test_batches) < 1:
            raise ConfigurationError("num_workers is to be 0 or more, and num_test_batches 1 or more. Change them.")
        wanted = list(dict.fromkeys([*inputs, *labels]))
        if collate_fn is None:
            self._check_columns(wanted)
        extra = _LABELS if collate_fn is not None else ()
        read = [name for name in self.column_names if not wanted or name in wanted or name in extra]
        source = self.with_format("numpy", columns=read)
        collate_args = dict(collate_fn_args or {})

        def batch_of(rows: Any) -> dict[str, Any]:
            if collate_fn is None:
                return {name: _stacked(name, values) for name, values in source[rows].items()}
            made = collate_fn(list(source.__getitems__(rows)), **collate_args)
            if not isinstance(made, Mapping):
                raise ArgumentTypeError(f"collate_fn gave {type(made).__name__}, not a dict. Return a dict of arrays.")
            return {name: _stacked(name, np.asarray(values)) for name, values in made.items()}

        tests = _test_batches(batch_of, self.num_rows, size or 1, num_test_batches)
        unknown = [name for name in wanted if name not in tests[0]]
        if unknown:
            raise UnknownColumnError(unknown[0], known=tests[0])
        kept = {name: [batch[name] for batch in tests] for name in tests[0] if not wanted or name in wanted}
        return _pipeline(batch_of, kept, self.num_rows, size, shuffle, drop_remainder, prefetch, num_workers, inputs, labels)


def _stacked(name: str, values: Any) -> Any:
    """An array that tensorflow takes: of numbers, or of texts, which are objects to it."""
    if values.dtype.kind in "US":
        return values.astype(object)
    if values.dtype == object and not all(isinstance(value, (str, bytes)) for value in values.reshape(-1)):
        raise CastError(f"The rows of column {name!r} do not stack. Leave it out by columns=, or pass a collate_fn.")
    if values.dtype.kind in "Mm":
        raise CastError(f"Column {name!r} holds times, for which tensorflow has no type. Leave it out by columns=.")
    return values


def _test_batches(batch_of: Callable[[Any], dict[str, Any]], num_rows: int, size: int, count: int) -> list[dict[str, Any]]:
    """Some batches, spread over the rows."""
    if not num_rows:
        raise CastError("There are no rows to tell the types of the tensors from. Give a dataset with rows.")
    starts = np.unique(np.linspace(0, max(0, num_rows - size), min(count, -(-num_rows // size)), dtype=np.int64))
    return [batch_of(list(range(start, min(start + size, num_rows)))) for start in starts.tolist()]


def _pipeline(
    batch_of: Callable[[Any], dict[str, Any]],
    tests: dict[str, list[Any]],
    num_rows: int,
    size: int | None,
    is_shuffled: bool,
    is_cut: bool,
    reads_ahead: bool,
    num_workers: int,
    inputs: list[str],
    labels: list[str],
) -> Any:
    import tensorflow as tf

    dtypes = {name: np.result_type(*(array.dtype for array in arrays)) for name, arrays in tests.items()}
    types = [tf.string if dtype.kind == "O" else tf.as_dtype(dtype) for dtype in dtypes.values()]
    shapes = [_common_shape(arrays) for arrays in tests.values()]

    def fetch(rows: Any) -> list[Any]:
        batch = batch_of(np.atleast_1d(rows))
        made = [batch[name].astype(dtypes[name]) for name in tests]
        return made if size is not None else [values[0] for values in made]

    def tensors(rows: Any) -> Any:
        found = tf.numpy_function(fetch, [rows], types)
        for tensor, shape in zip(found, shapes, strict=True):
            tensor.set_shape(shape if size is None else [size if is_cut else None, *shape])
        return _sorted_out(dict(zip(tests, found, strict=True)), inputs, labels)

    rows = tf.data.Dataset.range(num_rows)
    rows = rows.shuffle(num_rows) if is_shuffled else rows
    rows = rows if size is None else rows.batch(size, drop_remainder=is_cut)
    made = rows.map(tensors, num_parallel_calls=num_workers or None)
    return made.prefetch(tf.data.AUTOTUNE) if reads_ahead else made


def _common_shape(arrays: list[Any]) -> list[int | None]:
    """The shape of a row, None where rows differ."""
    shapes = {array.shape[1:] for array in arrays}
    if len({len(shape) for shape in shapes}) > 1:
        raise CastError(f"The batches have different dimensions: {sorted(shapes)}. Have collate_fn make them alike.")
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)]


def _sorted_out(batch: dict[str, Any], inputs: list[str], labels: list[str]) -> Any:
    if not inputs:
        return batch
    first, second = ({name: batch[name] for name in names} for names in (inputs, labels))
    features = first if len(first) > 1 else next(iter(first.values()))
    if not labels:
        return features
    return features, second if len(second) > 1 else next(iter(second.values()))
