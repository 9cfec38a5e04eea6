"""Several streams as one: one after the other, side by side, or taking turns."""

from __future__ import annotations

from collections.abc import Sequence

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.format.formatter import RowFormat
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.mixed_nodes import STRATEGIES
from datasets_core.stream.mixture import Weights, checked_weights, turns_of
from datasets_core.stream.rows_of_streams import Beside, Chain, Joining, Mixture, rows_of_streams
from datasets_core.stream.streamed import at_least


def concatenated(
    streams: Sequence[IterableDataset], info: DatasetInfo | None, split: str | NamedSplit | None, axis: int
) -> IterableDataset:
    """The rows of streams, one after the other; with `axis=1` side by side: see `concatenate_datasets`."""
    return _made(streams, Beside() if axis else Chain(), info, split)


def taking_turns(
    streams: Sequence[IterableDataset],
    probabilities: Weights | None,
    seed: int | None,
    info: DatasetInfo | None,
    split: str | NamedSplit | None,
    strategy: str,
) -> IterableDataset:
    """The rows of streams that take turns: see `interleave_datasets`."""
    if strategy not in STRATEGIES:
        raise ConfigurationError(f"stopping_strategy={strategy!r} is unknown. Strategies: {', '.join(map(repr, STRATEGIES))}.")
    weights = checked_weights(probabilities, len(streams), strategy)
    start = 0 if seed is None else at_least("seed", seed, 0)
    turns_of(weights, len(streams), start, 0)  # complains of what cannot be drawn
    return _made(streams, Mixture(weights, start, strategy), info, split)


def _made(
    streams: Sequence[IterableDataset], joining: Joining, info: DatasetInfo | None, split: str | NamedSplit | None
) -> IterableDataset:
    plan = rows_of_streams([stream._plan for stream in streams], joining)
    if info is None:
        info = DatasetInfo.from_merge([stream.info for stream in streams])
    elif info.features is not None and plan.features is not None and info.features != plan.features:
        raise CastError("info.features are not those of the streams together. Leave them out, or cast the streams first.")
    shown = {stream._format.type for stream in streams}
    return type(streams[0])(plan, info, split, RowFormat(shown.pop()) if len(shown) == 1 else None)
