"""Several datasets as one: one after the other, side by side, or taking turns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from datasets_core.dataset.alignment import aligned
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.interleaving import interleaved
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.features.union import joined_features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit
from datasets_core.rows.lineage import Lineage
from datasets_core.store.beside import beside
from datasets_core.store.table import Ints, RowTable

if TYPE_CHECKING:
    from datasets_core.stream.iterable import IterableDataset
    from datasets_core.stream.mixture import Weights

T = TypeVar("T", bound="Dataset | IterableDataset")


def concatenate_datasets(
    dsets: Iterable[T], info: DatasetInfo | None = None, split: str | NamedSplit | None = None, axis: int = 0
) -> T:
    """The rows of several datasets, one after the other; with `axis=1` their columns, side by side.  No row is copied.

    One after the other, a column that a dataset lacks is None in its rows, as is a field of a struct, and a column of nulls
    takes the type that the others have. A dataset without rows does not count.

    Streams become a stream.  Side by side, the columns of one that has ended are None until all have.

    Args:
        dsets: the datasets, or the streams.
        info: what is known of the result; None: what is known of them.
        split: the split that the result is.
        axis: 0 for rows, 1 for columns.

    >>> both = concatenate_datasets([Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": [2], "b": ["x"]})])
    >>> both[:]
    {'a': [1, 2], 'b': [None, 'x']}

    Raises:
        ConfigurationError: no dataset, or (`axis=1`) datasets of different lengths or with the same column.
        CastError: a column that has different types.
        ArgumentTypeError: something that is no dataset, or datasets and streams together.
    """
    given = _checked(dsets, "concatenate")
    if axis not in (0, 1):
        raise ConfigurationError(f"axis={axis!r} is no direction. Give 0 for rows or 1 for columns.")
    if not isinstance(given[0], Dataset):
        from datasets_core.dataset.combined_streams import concatenated  # 9 ms that rows by number do without

        return cast("T", concatenated(given, info, split, axis))
    datasets: list[Dataset] = [dataset for dataset in given if dataset.num_rows] or given[:1]
    return cast("T", _below(datasets, info, split) if axis == 0 else _side_by_side(datasets, info, split))


def interleave_datasets(
    datasets: Iterable[T],
    probabilities: Weights | None = None,
    seed: int | None = None,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    stopping_strategy: str = "first_exhausted",
) -> T:
    """The rows of several datasets that take turns: in order, or drawn by chance.

    Streams are drawn so that each has come as often as it should, less than one row more or less: at every row, where the
    probabilities are percents or other parts of a thousand at most, and else at the ends of blocks of 256 rows or more.  The
    order is computed: it depends on the probabilities, the seed and the epoch alone, and a state is exact.

    Args:
        datasets: the datasets, or the streams; their columns are brought together as `concatenate_datasets` does it.
        probabilities: how often each is drawn; None: they take turns.  Of streams they may change: `{0: [0.9, 0.1],
            5000: [0.5, 0.5]}` draws by the first up to row 5000, and then by the others.
        seed: where chance begins: the same rows for the same seed.  None: anywhere; for streams: 0, so that all processes of a
            training read the same.
        info: what is known of the result; None: what is known of them.
        split: the split that the result is.
        stopping_strategy: "first_exhausted" ends with the dataset that ends first; "all_exhausted" ends when every row was
            there, and begins the shorter ones again; "all_exhausted_without_replacement" passes over those that have ended.
            A stream ends behind its last row; of streams that are divided, each part ends by itself.

    >>> first, second = Dataset.from_dict({"a": [1, 2, 3]}), Dataset.from_dict({"a": [10, 20]})
    >>> interleave_datasets([first, second])["a"][:]
    [1, 10, 2, 20]
    >>> interleave_datasets([first, second], stopping_strategy="all_exhausted_without_replacement")["a"][:]
    [1, 10, 2, 20, 3]
    >>> streams = [first.to_iterable_dataset(), second.to_iterable_dataset()]
    >>> list(interleave_datasets(streams, probabilities=[0.5, 0.5], seed=1)["a"])
    [10, 1, 20]

    Raises:
        ConfigurationError: no dataset, an unknown strategy, or probabilities that are none or leave rows out for ever.
        CastError: a column that has different types.
        ArgumentTypeError: something that is no dataset, or datasets and streams together.
    """
    given = _checked(datasets, "interleave")
    if not isinstance(given[0], Dataset):
        from datasets_core.dataset.combined_streams import taking_turns  # see concatenate_datasets

        return cast("T", taking_turns(given, probabilities, seed, info, split, stopping_strategy))
    if isinstance(probabilities, Mapping):
        raise ArgumentTypeError("probabilities= by row are for streams. Give one number for each dataset.")
    rows = interleaved([dataset.num_rows for dataset in given], probabilities, seed, stopping_strategy)
    return cast("T", _below([*given], info, split)._selected(rows))


def _checked(datasets: Iterable[Any], verb: str) -> list[Any]:
    if isinstance(datasets, (Dataset, str)) or not isinstance(datasets, Iterable) or _is_stream(datasets):
        raise ArgumentTypeError(f"Cannot {verb} {type(datasets).__name__}. Give a list of datasets.")
    if isinstance(datasets, Mapping):
        raise ArgumentTypeError(f"Cannot {verb} a dictionary of datasets. Give the list of its values: list(splits.values()).")
    listed: list[Any] = list(datasets)
    if not listed:
        raise ConfigurationError(f"There is no dataset to {verb}. Give one at least.")
    for place, dataset in enumerate(listed):
        if isinstance(dataset, Mapping):
            raise ArgumentTypeError(
                f"Element {place} is a dictionary of datasets, with the splits {', '.join(map(repr, dataset)) or 'none'}. "
                "Pick one of them."
            )
        if not isinstance(dataset, Dataset) and not _is_stream(dataset):
            raise ArgumentTypeError(f"Element {place} is of type {type(dataset).__name__}, no Dataset. Give datasets only.")
        if isinstance(dataset, Dataset) != isinstance(listed[0], Dataset):
            kinds = "a Dataset", "a stream"
            one, other = kinds if isinstance(dataset, Dataset) else kinds[::-1]
            raise ArgumentTypeError(
                f"Element {place} is {one}, and element 0 is {other}. Make streams of all, by to_iterable_dataset()."
            )
    return listed


def _is_stream(given: Any) -> bool:
    """Whether it is an `IterableDataset`, without loading what makes streams: nobody has one who has not loaded that."""
    module = sys.modules.get("datasets_core.stream.iterable")
    return module is not None and isinstance(given, module.IterableDataset)


# -- rows --------------------------------------------------------------------------------------------------------------


def _below(datasets: list[Dataset], info: DatasetInfo | None, split: str | NamedSplit | None) -> Dataset:
    features = joined_features([dataset.features for dataset in datasets])
    is_indexed = any(dataset._index is not None for dataset in datasets)
    unique = list({id(dataset._table): dataset._table for dataset in datasets}.values()) if is_indexed else []
    tables = aligned(unique or [dataset._table for dataset in datasets], features)
    index = None
    if is_indexed:  # parts of one table, as those of train_test_split(), share it
        firsts = np.cumsum([0, *(table.num_rows for table in tables)]).tolist()
        starts = {id(table): first for table, first in zip(unique, firsts, strict=False)}
        index = np.concatenate([_rows(dataset) + starts[id(dataset._table)] for dataset in datasets])
    whole = RowTable.concat(tables)
    return _made(datasets, whole, index, features, info, split, "concatenate rows")


def _rows(dataset: Dataset) -> Ints:
    return np.arange(dataset.num_rows, dtype=np.int64) if dataset._index is None else dataset._index


# -- columns -----------------------------------------------------------------------------------------------------------


def _side_by_side(datasets: list[Dataset], info: DatasetInfo | None, split: str | NamedSplit | None) -> Dataset:
    homes: dict[str, int] = {}
    for place, dataset in enumerate(datasets):
        if dataset.num_rows != datasets[0].num_rows:
            raise ConfigurationError(
                f"Dataset {place} has {dataset.num_rows} rows, and dataset 0 has {datasets[0].num_rows}. "
                "Give datasets of the same length to put their columns side by side."
            )
        for name in dataset.column_names:
            if name in homes:
                raise ConfigurationError(
                    f"Column {name!r} is in dataset {homes[name]} and in dataset {place}. Rename one of them."
                )
            homes[name] = place
    index = _shared_index(datasets)
    if index is None:
        datasets = [dataset.flatten_indices() for dataset in datasets]
    features = Features({name: feature for dataset in datasets for name, feature in dataset.features.items()})
    table = reduce(beside, [dataset._table for dataset in datasets])
    return _made(datasets, table, index, features, info, split, "concatenate columns")


def _shared_index(datasets: list[Dataset]) -> Ints | None:
    """The index that all have, over tables of one length; None where they differ, or have none."""
    first = datasets[0]
    for dataset in datasets:
        if dataset._index is None or first._index is None or dataset._table.num_rows != first._table.num_rows:
            return None
        if dataset._index is not first._index and not np.array_equal(dataset._index, first._index):
            return None
    return first._index


# -- the result --------------------------------------------------------------------------------------------------------


def _made(
    datasets: list[Dataset],
    table: RowTable,
    index: Ints | None,
    features: Features,
    info: DatasetInfo | None,
    split: str | NamedSplit | None,
    operation: str,
) -> Dataset:
    if info is None:
        info = DatasetInfo.from_merge([dataset.info for dataset in datasets])
    elif info.features is not None and info.features != features:
        raise CastError("info.features are not those of the datasets together. Leave them out, or cast the datasets first.")
    info = info.copy()
    info.features = features
    made = type(datasets[0])(table, info=info, split=split)
    made._index = index
    made._lineage = Lineage(operation, tuple(dataset._lineage for dataset in datasets))
    if any(dataset._paths is not None for dataset in datasets):
        made._paths = reduce(or_, [dataset._media_paths() for dataset in datasets])
    if all(dataset.format == datasets[0].format for dataset in datasets):
        made._format = datasets[0]._format
    return made
