"""`Experiment`: a new way of making a dataset that one of its versions switches on, or a later one off."""

from __future__ import annotations

import enum
from typing import ClassVar

from datasets_core.errors import UnknownExperimentError


class Experiment(enum.Enum):
    """The base of an author's experiments; members of a plain `enum.Enum` do as well.

    An experiment starts off, and a version switches it on: `Version("2.0.0", experiments={Packing.BY_LENGTH: True})`.
    Once it is proven, its class names it in `__on_by_default__`, and a version opts out with False.

    Attributes:
        DUMMY: an experiment without meaning, for tests.  It is off by default.

    >>> from datasets_core import Experiment, Version
    >>> class Packing(Experiment):
    ...     __on_by_default__ = ("SORTED",)
    ...     BY_LENGTH = "rows of a shard have about the same length"
    ...     SORTED = "rows are sorted by key"
    >>> Version("1.0.0").implements(Packing.BY_LENGTH), Version("1.0.0").implements(Packing.SORTED)
    (False, True)
    """

    DUMMY: ClassVar[Experiment]


class _OfLibrary(Experiment):
    DUMMY = 1  # type: ignore[misc]


Experiment.DUMMY = _OfLibrary.DUMMY  # no member of the base, which could not be derived from then


def check_experiment(experiment: object) -> enum.Enum:
    """`experiment`, if it is a member of an enum.

    Raises:
        UnknownExperimentError: it is none.
    """
    if not isinstance(experiment, enum.Enum):
        raise UnknownExperimentError(experiment)
    return experiment


def is_on_by_default(experiment: enum.Enum) -> bool:
    """Whether a version implements `experiment` that does not speak of it: as `__on_by_default__` of its class says.

    >>> is_on_by_default(Experiment.DUMMY)
    False
    """
    return experiment.name in getattr(type(experiment), "__on_by_default__", ())
