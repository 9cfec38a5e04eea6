"""`GeneratorJob`: the rows of a generator of the user's, which is called anew whenever they are read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from datasets_core.errors import DatasetGenerationError, DatasetsCoreError, UnhashableError
from datasets_core.features.codec import RowEncoder
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.rows.generator_rows import Recipe, check_callable, divided, failed_at, named_arguments
from datasets_core.store.chunks import Chunks
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.made_rows import Made, Rows
from datasets_core.stream.rows_of_jobs import RowsOfJobs

_MOST_ROWS = 1024
_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class GeneratorJob:
    """One call of a generator; a job (see `RowJob`).

    Attributes:
        recipe: the generator and its arguments.
    """

    recipe: Recipe

    @property
    def stands_alone(self) -> bool:
        """See `RowJob.stands_alone`: it has lists of its own."""
        return True

    def batches(self, skip: int, *, in_order: bool) -> Generator[Made]:
        """See `RowJob.batches`; without features rows are given as they were yielded.

        Rows are handed on while others are made, whatever time each takes.

        Raises:
            DatasetGenerationError: the generator fails, or yields what is no dict; the rows before that were given.
            CellCastError: a value does not fit its feature.
        """
        features = self.recipe.features
        encoder = None if features is None else RowEncoder(features)
        # Each row is copied: the generator may fill one dict again and again, and the next row is made when this one is read.
        rows = Chunks(self._rows(skip), max_rows=_MOST_ROWS, max_bytes=_BATCH_BYTES, copies=True, are_rows=True, is_live=True)
        failure: DatasetsCoreError | None = None
        while failure is None:
            try:
                chunk = rows.take()
            except DatasetsCoreError as error:
                chunk, failure = rows.taken, error
            if not chunk and failure is None:
                return
            if chunk:
                made: Rows = chunk if encoder is None else encoder.encode(chunk)
                rows.measured(0 if isinstance(made, list) else made.nbytes, len(chunk))
                yield made
        raise failure

    def _rows(self, skip: int) -> Iterator[Any]:
        row = -1
        try:
            for row, found in enumerate(self.recipe.started()):
                if not isinstance(found, Mapping):
                    raise DatasetGenerationError(
                        f"The generator yielded {type(found).__name__} as row {row}, which is no row. Let it yield dicts."
                    )
                if row >= skip:
                    yield dict(found)
        except DatasetsCoreError:
            raise
        except Exception as error:
            raise failed_at(row + 1, error) from error


def rows_of_generator(
    generator: Callable[..., Iterable[Mapping[str, Any]]],
    gen_kwargs: Mapping[str, Any] | None,
    features: Features | None,
    split: str,
) -> RowsOfJobs:
    """The rows of a generator; the lists among its arguments, if they have one length, divide them into jobs.

    Raises:
        ArgumentTypeError: there is nothing to call.
    """
    kwargs = named_arguments(gen_kwargs)
    check_callable(generator)
    recipe = Recipe(generator, kwargs, features, split)
    lengths = {len(value) for value in kwargs.values() if isinstance(value, list)}
    parts = divided(kwargs, max(1, *lengths)) if len(lengths) == 1 else [kwargs]
    jobs = tuple(GeneratorJob(replace(recipe, kwargs=part)) for part in parts)
    return RowsOfJobs(jobs, features, MediaPaths(None), partial(_signed, recipe))


def _signed(recipe: Recipe) -> list[Any]:
    name = getattr(recipe.generator, "__qualname__", type(recipe.generator).__name__)
    try:
        return [f"rows of {name}", Hasher.hash((recipe.generator, dict(recipe.kwargs)))]
    except UnhashableError:  # it is known by its name
        return [f"rows of {name}", ""]
