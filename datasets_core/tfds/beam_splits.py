"""Splits of a TFDS builder whose rows a pipeline of Apache Beam makes: found among the others, and run together."""

from __future__ import annotations

import importlib.util
import inspect
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

from datasets_core.building.beam_rows import BeamRun, KeptRows, beam_package


class BeamSplits:
    """The pipeline of a builder, begun when something of it is first needed, and the folder that its rows stand in.

    The folder goes with this object.  It may be sent to other processes, where it has no pipeline.

    Args:
        label: the builder, for messages.
        folder: where the folder is made.
        runner, options: of Beam.
    """

    def __init__(self, label: str, folder: str, *, runner: Any = None, options: Any = None) -> None:
        self._label, self._above = label, folder
        self._told = (runner, options)
        self._run: BeamRun | None = None
        self._names: list[str] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"_label": self._label, "_above": self._above, "_told": (None, None), "_run": None, "_names": []}

    @property
    def run(self) -> BeamRun:
        """The run, begun.

        Raises:
            MissingDependencyError: Apache Beam is not installed.
        """
        if self._run is None:
            needed_for = f"{self._label}, a builder of Apache Beam,"
            beam_package(needed_for)
            os.makedirs(self._above, exist_ok=True)
            folder = tempfile.mkdtemp(prefix=".beam-", dir=self._above)
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            runner, options = self._told
            self._run = BeamRun(folder, runner=runner, options=options, needed_for=needed_for)
        return self._run

    def keep(self, split: str, make: Callable[[Any], Any]) -> None:
        """Have the pipeline make the rows of a split.

        Args:
            split: its name.
            make: gives a transform, or a collection, for the beginning of the pipeline.
        """
        self.run.keep(split, make)
        self._names.append(split)

    def rows(self) -> dict[str, KeptRows]:
        """The rows of the splits that were kept, made now."""
        return self.run.run() if self._names else {}


def beam_value(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a hook makes, where that is a transform or a collection of Apache Beam; None where it makes rows.

    >>> beam_value(iter, ([],), {})
    """
    if inspect.isgeneratorfunction(inspect.unwrap(function)) or importlib.util.find_spec("apache_beam") is None:
        return None
    made = function(*args, **kwargs)
    return made if is_beam(made) else None


def is_beam(value: Any) -> bool:
    """Whether a value is a transform or a collection of Apache Beam.

    >>> is_beam([1])
    False
    """
    return any(each.__module__.startswith("apache_beam.") for each in type(value).__mro__)
