"""`concatenate_datasets`, `interleave_datasets`: several datasets or streams combined by rows, by columns, or in turn."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.selection import random_generator
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features, joined_features, storage_type
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import NamedSplit
from datasets_core.optional import named_kind
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.create import filled, spread
from datasets_core.store.rows.indices import at_least
from datasets_core.store.rows.rows import Lineage
from datasets_core.store.table import RowTable, zipped
from datasets_core.stream.combine import ConcatStreams, Joining, Mixture, ZipStreams, rows_of_streams
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.mixture import Stopping, Weights, checked_weights, mixture_schedule

if TYPE_CHECKING:
    from datasets_core.stream.order.mixture import Weights


# The tables of several datasets with the columns of all: columns that one lacks are null.


def aligned(tables: Sequence[RowTable], features: Features) -> list[RowTable]:
    """Return the tables with the columns of `features`, all of one schema; nothing is opened or copied.

    A table that has all of them already is left as it is.
    """
    if all(table.schema.equals(tables[0].schema) for table in tables) and tables[0].column_names == list(features):
        return list(tables)
    fields = []
    for name, feature in features.items():
        wanted = feature_to_arrow(feature)
        found = {table.schema.field(name).type for table in tables if name in table.schema.names}
        fields.append(pa.field(name, wanted if wanted in found else storage_type(wanted)))
    schema = pa.schema(fields)
    return [filled(_viewed(table, schema), schema) for table in tables]


def _viewed(table: RowTable, schema: pa.Schema) -> RowTable:
    """Return the table with extension types exactly in the columns where the schema has them."""
    fields = []
    for field in table.schema:
        wanted = schema.field(field.name).type
        fields.append(field.with_type(wanted) if storage_type(wanted) == storage_type(field.type) else field)
    seen = pa.schema(fields)
    return table if seen.equals(table.schema) else spread(table, [(place,) for place in range(len(fields))], seen)


# The order in which rows of several datasets take turns: one by one, or drawn by probabilities.


_DRAWN = 1000  # draws of a block; other tools draw so many at once, which decides about the numbers of a seed
_MOST_BLOCKS = 1 << 12


def interleaved(lengths: Sequence[int], probabilities: Sequence[float] | None, seed: Any, strategy: str) -> Ints:
    """Return row numbers in the concatenation of datasets with these `lengths`.

    Args:
        lengths: number of rows of each dataset.
        probabilities: how often each is drawn; None: in turn.
        seed: seed of the random numbers; None: random.
        strategy: when the rows end: a `Stopping`, or its name.

    >>> interleaved([1, 3], None, None, "all_exhausted").tolist()
    [0, 1, 0, 2, 0, 3]

    Raises:
        ConfigurationError: the strategy is unknown, the probabilities are invalid, or some rows would never be drawn.
    """
    stopping, sizes = Stopping.of(strategy), np.array(lengths, dtype=np.int64)
    first = np.cumsum(sizes) - sizes
    if probabilities is None:
        return _in_turn(sizes, first, stopping)
    shares = _checked_shares(probabilities, sizes, stopping)
    draws = _drawn(sizes, shares, random_generator(np.random.SeedSequence() if seed is None else seed, None), stopping)
    times = _times_before(draws, len(sizes))
    if not stopping.replaces:
        kept = times < sizes[draws]
        draws, times = draws[kept], times[kept]
    elif len(draws):
        ends = np.flatnonzero(times == sizes[draws] - 1)  # the draws that take the last row of a dataset
        last = int(ends[0] if stopping is Stopping.FIRST_EXHAUSTED else ends[-1])
        draws, times = draws[: last + 1], times[: last + 1]
    return first[draws] + times % np.maximum(sizes[draws], 1)


def _in_turn(sizes: Ints, first: Ints, stopping: Stopping) -> Ints:
    if not stopping.replaces:
        order: Ints = np.argsort(np.concatenate([np.arange(size) for size in sizes.tolist()]), kind="stable")
        return order
    rounds = np.arange(sizes.min() if stopping is Stopping.FIRST_EXHAUSTED else sizes.max())[:, None]
    if len(rounds) and not sizes.all():
        raise ConfigurationError(f"Dataset {int(np.argmin(sizes))} has no rows and cannot be repeated", advice="Remove it")
    turns: Ints = first + rounds % np.maximum(sizes, 1)
    return turns.ravel()


def _checked_shares(probabilities: Sequence[float], sizes: Ints, stopping: Stopping) -> Any:
    try:
        shares = np.array(list(probabilities), dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"probabilities={probabilities!r} are not numbers", advice="Give one for each dataset", value=probabilities
        ) from None
    if shares.shape != sizes.shape:
        raise ConfigurationError(
            f"There are {shares.size} probabilities for {sizes.size} datasets", advice="Give one for each dataset"
        )
    if not (shares >= 0).all():
        raise ConfigurationError(
            f"probabilities={probabilities!r} contains a number outside 0 to 1",
            advice="Give numbers from 0 to 1",
            value=probabilities,
        )
    if not math.isclose(math.fsum(shares), 1, abs_tol=1e-8):
        raise ConfigurationError(
            f"probabilities={probabilities!r} sum up to {math.fsum(shares)}. They must sum up to 1.", value=probabilities
        )
    is_drawn = shares > 0
    if stopping.replaces and not sizes[is_drawn].all():
        empty = int(np.flatnonzero(is_drawn & (sizes == 0))[0])
        raise ConfigurationError(f"Dataset {empty} has no rows to sample", advice="Remove it, or give it probability 0")
    never_end = sizes[~is_drawn].any() if not stopping.replaces else not is_drawn.all()
    if stopping is not Stopping.FIRST_EXHAUSTED and never_end:
        never = int(np.flatnonzero(~is_drawn)[0])
        raise ConfigurationError(
            f"Dataset {never} has probability 0, so it is never exhausted", advice="Remove it, or use 'first_exhausted'"
        )
    return shares


def _drawn(sizes: Ints, shares: Any, chance: Any, stopping: Stopping) -> Ints:
    """Draw datasets by number until the last required one has certainly been drawn; the result may have more draws."""
    wanted = sizes[shares > 0]
    counts = np.zeros(len(sizes), np.int64)
    drawn: list[Ints] = []
    expected = wanted / shares[shares > 0]
    most = float(expected.min() if stopping is Stopping.FIRST_EXHAUSTED else expected.max()) if len(wanted) else 0.0
    blocks = min(int(most * 1.01) // _DRAWN + 1, _MOST_BLOCKS)
    while True:
        is_done = counts[shares > 0] >= wanted
        if is_done.any() if stopping is Stopping.FIRST_EXHAUSTED else is_done.all():
            break
        # Blocks that are drawn at once are the same numbers: a choice takes one float of the generator.
        draws = chance.choice(len(sizes), size=_DRAWN * blocks, p=shares)
        counts += np.bincount(draws, minlength=len(sizes))
        drawn.append(draws)
        blocks = min(max(1, sum(map(len, drawn)) // (8 * _DRAWN)), _MOST_BLOCKS)
    return np.concatenate(drawn) if drawn else np.zeros(0, np.int64)


def _times_before(draws: Ints, count: int) -> Ints:
    """Return for each draw how often its dataset was drawn before."""
    narrow = np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.int64  # numpy sorts narrow ones faster
    order = np.argsort(draws.astype(narrow), kind="stable")
    counts = np.bincount(draws, minlength=count)
    times = np.empty(len(draws), np.int64)
    times[order] = np.arange(len(draws)) - np.repeat(np.cumsum(counts) - counts, counts)
    return times


T = TypeVar("T", bound="Dataset | IterableDataset")


def concatenate_datasets(
    dsets: Iterable[T], info: DatasetInfo | None = None, split: str | NamedSplit | None = None, axis: int = 0
) -> T:
    """Return the rows of several datasets one after the other or, with `axis=1`, their columns side by side. No row is copied.

    Along rows, a column that a dataset lacks is None in its rows, as is a field of a struct, and a column of nulls takes
    the type that the others have. A dataset without rows is ignored.

    Streams give a stream. Side by side, the columns of a stream that has ended are None until all have ended.

    Args:
        dsets: the datasets, or the streams.
        info: metadata of the result; None merges those of the datasets.
        split: name of the split of the result.
        axis: 0 for rows, 1 for columns.

    Raises:
        ConfigurationError: no dataset is passed, or with `axis=1` the datasets have different lengths or a column in
            common.
        CastError: a column has different types.
        ArgumentTypeError: an object is not a dataset, or datasets and streams are mixed.

    Example:
        >>> both = concatenate_datasets([Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": [2], "b": ["x"]})])
        >>> both[:]
        {'a': [1, 2], 'b': [None, 'x']}
    """
    given = _checked(dsets, "concatenate")
    if axis not in (0, 1):
        raise ConfigurationError(f"Invalid axis {axis!r}", advice="Give 0 for rows or 1 for columns", value=axis)
    if not isinstance(given[0], Dataset):
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
    """Return the rows of several datasets in turns, or drawn at random with given probabilities.

    Streams are drawn so that the number of rows from each differs from its share by less than one at every row, if the
    probabilities are percentages or other multiples of a thousandth, and otherwise at the ends of blocks of at least 256 rows.
    The order is computed: it depends only on the probabilities, the seed and the epoch, and states are exact.

    Args:
        datasets: the datasets, or the streams. Their columns are combined as in `concatenate_datasets`.
        probabilities: how often each is drawn; None takes turns. For streams they may change: `{0: [0.9, 0.1], 5000: [0.5,
            0.5]}` uses the first list up to row 5000 and the second one from there.
        seed: seed of the random numbers. None draws a new one; for streams it means 0, so that all processes of a training
            read the same rows.
        info: metadata of the result; None merges those of the datasets.
        split: name of the split of the result.
        stopping_strategy: "first_exhausted" ends with the first dataset that ends. "all_exhausted" ends when every row was
            delivered, and restarts the shorter ones. "all_exhausted_without_replacement" skips those that have ended. If
            streams are divided among readers, each part ends independently.

    Raises:
        ConfigurationError: no dataset is passed, the strategy is unknown, or the probabilities are invalid or would never
            draw some rows.
        CastError: a column has different types.
        ArgumentTypeError: an object is not a dataset, or datasets and streams are mixed.

    Example:
        >>> first, second = Dataset.from_dict({"a": [1, 2, 3]}), Dataset.from_dict({"a": [10, 20]})
        >>> interleave_datasets([first, second])["a"][:]
        [1, 10, 2, 20]
        >>> interleave_datasets([first, second], stopping_strategy="all_exhausted_without_replacement")["a"][:]
        [1, 10, 2, 20, 3]
        >>> streams = [first.to_iterable_dataset(), second.to_iterable_dataset()]
        >>> list(interleave_datasets(streams, probabilities=[0.5, 0.5], seed=1)["a"])
        [10, 1, 20]
    """
    given = _checked(datasets, "interleave")
    if not isinstance(given[0], Dataset):
        return cast("T", taking_turns(given, probabilities, seed, info, split, stopping_strategy))
    if isinstance(probabilities, Mapping):
        raise ArgumentTypeError(
            "probabilities= by row are only supported for streams", advice="Give one number for each dataset"
        )
    rows = interleaved([dataset.num_rows for dataset in given], probabilities, seed, stopping_strategy)
    return cast("T", _below([*given], info, split)._selected(rows))


def _checked(datasets: Iterable[Any], verb: str) -> list[Any]:
    if isinstance(datasets, (Dataset, str)) or not isinstance(datasets, Iterable) or _is_stream(datasets):
        raise ArgumentTypeError(f"Cannot {verb} {type(datasets).__name__}", advice="Give a list of datasets")
    if isinstance(datasets, Mapping):
        raise ArgumentTypeError(
            f"Cannot {verb} a dictionary of datasets", advice="Give the list of its values: list(splits.values())"
        )
    listed: list[Any] = list(datasets)
    if not listed:
        raise ConfigurationError(f"There is no dataset to {verb}", advice="Give at least one")
    for place, dataset in enumerate(listed):
        if isinstance(dataset, Mapping):
            raise ArgumentTypeError(
                f"Element {place} is a dictionary of datasets, with the splits {', '.join(map(repr, dataset)) or 'none'}",
                advice="Pick one of them",
            )
        if not isinstance(dataset, Dataset) and not _is_stream(dataset):
            kind, advice = named_kind(dataset, "Give datasets only")
            raise ArgumentTypeError(f"Element {place} is of type {kind}, not a Dataset. {advice}.")
        if isinstance(dataset, Dataset) != isinstance(listed[0], Dataset):
            kinds = "a Dataset", "a stream"
            one, other = kinds if isinstance(dataset, Dataset) else kinds[::-1]
            raise ArgumentTypeError(
                f"Element {place} is {one}, but element 0 is {other}",
                advice="Convert all of them to streams with to_iterable_dataset()",
            )
    return listed


def _is_stream(given: Any) -> bool:
    """Return True if it is an `IterableDataset`; does not import streams, which a caller with a stream has imported."""
    module = sys.modules.get("datasets_core.stream.iterable")
    return module is not None and isinstance(given, module.IterableDataset)


# -- rows --------------------------------------------------------------------------------------------------------------


def _below(datasets: list[Dataset], info: DatasetInfo | None, split: str | NamedSplit | None) -> Dataset:
    features = joined_features([dataset._features for dataset in datasets])
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
                f"Dataset {place} has {dataset.num_rows} rows, but dataset 0 has {datasets[0].num_rows}",
                advice="Give datasets of the same length to put their columns side by side",
            )
        for name in dataset.column_names:
            if name in homes:
                raise ConfigurationError(
                    f"Column {name!r} is duplicated: it is in dataset {homes[name]} and in dataset {place}",
                    advice="Rename one of them",
                )
            homes[name] = place
    index = _shared_index(datasets)
    if index is None:
        datasets = [dataset.flatten_indices() for dataset in datasets]
    features = Features({name: feature for dataset in datasets for name, feature in dataset._features.items()})
    table = reduce(zipped, [dataset._table for dataset in datasets])
    return _made(datasets, table, index, features, info, split, "concatenate columns")


def _shared_index(datasets: list[Dataset]) -> Ints | None:
    """Return the common index of datasets whose tables have one length; None if the indices differ, or there is none."""
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
        raise CastError(
            "info.features differ from the features of the combined datasets", advice="Remove them, or cast the datasets first"
        )
    info = info.copy()
    info.features = features
    from datasets_core.dataset.dataset import Dataset  # which imports this module; a subclass may take other arguments

    made = Dataset(table, info=info, split=split)
    made._index = index
    made._lineage = Lineage(operation, tuple(dataset._lineage for dataset in datasets))
    if any(dataset._paths is not None for dataset in datasets):
        made._paths = reduce(or_, [dataset._media_paths() for dataset in datasets])
    if all(dataset.format == datasets[0].format for dataset in datasets):
        made._format = datasets[0]._format
    return made


# Several streams as one: concatenated, side by side, or in turn.


def concatenated(
    streams: Sequence[IterableDataset], info: DatasetInfo | None, split: str | NamedSplit | None, axis: int
) -> IterableDataset:
    """Return the rows of streams, one after the other; with `axis=1` side by side: see `concatenate_datasets`."""
    return _made_stream(streams, ZipStreams() if axis else ConcatStreams(), info, split)


def taking_turns(
    streams: Sequence[IterableDataset],
    probabilities: Weights | None,
    seed: int | None,
    info: DatasetInfo | None,
    split: str | NamedSplit | None,
    strategy: str,
) -> IterableDataset:
    """Return the rows of streams that take turns: see `interleave_datasets`."""
    stopping = Stopping.of(strategy)
    weights = checked_weights(probabilities, len(streams), stopping)
    start = 0 if seed is None else at_least("seed", seed, 0)
    mixture_schedule(weights, len(streams), start, 0)  # complains of what cannot be drawn
    return _made_stream(streams, Mixture(weights, start, stopping), info, split)


def _made_stream(
    streams: Sequence[IterableDataset], joining: Joining, info: DatasetInfo | None, split: str | NamedSplit | None
) -> IterableDataset:
    plan = rows_of_streams([stream._plan for stream in streams], joining)
    if info is None:
        info = DatasetInfo.from_merge([stream.info for stream in streams])
    elif info.features is not None and plan.features is not None and info.features != plan.features:
        raise CastError(
            "info.features differ from the features of the combined streams", advice="Remove them, or cast the streams first"
        )
    shown = {stream._format.type for stream in streams}
    return type(streams[0])(plan, info, split, RowFormat(shown.pop()) if len(shown) == 1 else None)
