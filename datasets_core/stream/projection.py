"""Which columns the steps of a stream need of the rows at its bottom, so that no others are read; see `Step.reads`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.changes import Cast, Renamed, Selected
from datasets_core.stream.rows_by_place import Placed
from datasets_core.stream.steps import ChangeColumns, Map, Step

Source = TypeVar("Source")

_WIDE = ("string", "large_string", "binary", "large_binary", "string_view", "binary_view")


def projected(source: Source, steps: tuple[Step, ...]) -> tuple[Source, tuple[Step, ...]]:
    """The rows with the columns that are needed, and the steps for these rows; what comes of them is the same.

    Args:
        source: rows that have `projected`, as `RowsByPlace` has it; others stay as they are.
        steps: what is done to the rows.
    """
    given: Any = source
    can = getattr(type(given), "projected", Placed.projected)
    if can is Placed.projected or not any(map(_chooses, steps)):
        return source, steps
    told = getattr(given, "told_features", None)
    features: Features | None = given.features if told is None else told()
    if features is None:
        return source, steps
    needed = _needed(features, steps)
    if len(needed) == len(features):
        return source, steps
    fewer: Source | None = given.projected([name for name in features if name in needed])
    return (source, steps) if fewer is None else (fewer, _without(features, needed, steps))


def _chooses(step: Step) -> bool:
    """Whether there may be fewer columns behind a step."""
    if isinstance(step, Map):
        return bool(step.made.removed)
    return isinstance(step, ChangeColumns) and isinstance(step.change, Selected)


def _needed(features: Features, steps: Iterable[Step]) -> set[str]:
    """The columns at the bottom that some step reads, or that come out; one at least, which tells how many rows there are."""
    origins = {name: name for name in features}
    needed: set[str] = set()
    for step in steps:
        reads: tuple[str, ...] | None = step.reads()
        needed.update(origins.values() if reads is None else (origins[name] for name in reads if name in origins))
        origins = _behind(step, origins)
    needed.update(origins.values())
    return needed or {_narrowest(features)}


def _behind(step: Step, origins: Mapping[str, str]) -> dict[str, str]:
    """The columns behind a step that are, or may be, those of the bottom; by name the name there."""
    if isinstance(step, Map):
        return {name: origin for name, origin in origins.items() if name not in step.made.removed}
    change = step.change if isinstance(step, ChangeColumns) else None
    if isinstance(change, Selected):
        return {name: origin for name, origin in origins.items() if (name in change.names) != change.is_dropped}
    if isinstance(change, Renamed):
        return {change.names.get(name, name): origin for name, origin in origins.items()}
    return dict(origins)


def _without(features: Features, needed: set[str], steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps, which no longer name columns that are not there."""
    gone = {name: name for name in features if name not in needed}
    kept: list[Step] = []
    for step in steps:
        kept.append(_narrowed(step, gone))
        gone = _behind(step, gone)
    return tuple(kept)


def _narrowed(step: Step, gone: Mapping[str, str]) -> Step:
    if isinstance(step, Map):
        removed = tuple(name for name in step.made.removed if name not in gone)
        return replace(step, made=replace(step.made, removed=removed))
    change = step.change if isinstance(step, ChangeColumns) else None
    if isinstance(change, Selected):
        return replace(step, change=replace(change, names=tuple(name for name in change.names if name not in gone)))  # type: ignore[type-var]
    if isinstance(change, Renamed):
        names = {name: new for name, new in change.names.items() if name not in gone}
        return replace(step, change=replace(change, names=names))  # type: ignore[type-var]
    if isinstance(change, Cast):
        wanted = Features({name: feature for name, feature in change.wanted.items() if name not in gone})
        return replace(step, change=Cast(wanted, change.is_all))  # type: ignore[type-var]
    return step


def _narrowest(features: Features) -> str:
    """A column that is read for the number of rows alone."""
    plain = (name for name, feature in features.items() if isinstance(feature, Value) and feature.dtype not in _WIDE)
    return next(plain, next(iter(features), ""))
