"""`benchmark`: how fast anything iterates, its first element apart."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import ConfigurationError
from datasets_core.optional import needed
from datasets_core.progress import progress


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """What was measured.

    Attributes:
        batch_size: elements of each step.
        start_time, first_batch_time, end_time: readings of a clock, in seconds.
        num_iter: steps that were made, without the first.
    """

    batch_size: int
    start_time: float
    first_batch_time: float
    end_time: float
    num_iter: int

    @property
    def table(self) -> dict[str, dict[str, float]]:
        """`duration` in seconds, `num_examples` and `avg` (examples per second) of all, of the first and of the others."""
        first = self.first_batch_time - self.start_time
        lasts = self.end_time - self.first_batch_time
        parts = {
            "first+lasts": (first + lasts, self.num_iter + 1),
            "first": (first, 1),
            "lasts": (lasts, self.num_iter),
        }
        return {
            name: {
                "duration": duration,
                "num_examples": steps * self.batch_size,
                "avg": _rate(steps * self.batch_size, duration),
            }
            for name, (duration, steps) in parts.items()
        }

    @property
    def stats(self) -> Any:
        """The table as a pandas frame.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        frame: Any = needed("pandas", "BenchmarkResult.stats").DataFrame.from_dict(self.table, orient="index")
        return frame.astype({"num_examples": int})

    @property
    def raw_stats(self) -> Any:
        """The readings of the clock as a pandas frame.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        values = {name: getattr(self, name) for name in ("start_time", "first_batch_time", "end_time", "num_iter")}
        return needed("pandas", "BenchmarkResult.raw_stats").DataFrame.from_dict(values, orient="index", columns=["duration"])

    def __str__(self) -> str:
        names = {"first+lasts": "First included", "first": "First only", "lasts": "First excluded"}
        lines = [
            f"Examples/sec ({names[name]}) {row['avg']:.2f} ex/sec "
            f"(total: {row['num_examples']:.0f} ex, {row['duration']:.2f} sec)"
            for name, row in self.table.items()
        ]
        return "\n".join(["************ Summary ************", *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th>" + "".join(f"<td>{value:.6g}</td>" for value in row.values()) + "</tr>"
            for name, row in self.table.items()
        )
        heads = "".join(f"<th>{name}</th>" for name in ("", "duration", "num_examples", "avg"))
        return f"<strong>BenchmarkResult:</strong><br/><table><tr>{heads}</tr>{rows}</table>"


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds else float("inf") if count else 0.0


def benchmark(ds: Iterable[Any], *, num_iter: int | None = None, batch_size: int = 1) -> BenchmarkResult:
    """Iterate, measure, and print how many examples came in a second.

    Args:
        ds: anything that can be iterated.
        num_iter: steps to make at most; None for all.
        batch_size: examples of each element.

    >>> benchmark([1, 2, 3]).num_iter  # doctest: +ELLIPSIS
    ************ Summary ************
    ...
    2

    Raises:
        ConfigurationError: there is no element, or a number that means nothing.
    """
    if batch_size < 1 or (num_iter is not None and num_iter < 1):
        raise ConfigurationError(f"num_iter={num_iter} and batch_size={batch_size} cannot be measured. Give 1 or more.")
    total = num_iter if num_iter is not None else _length(ds)
    start = time.perf_counter()
    with progress("Measuring", total=total) as bar:
        elements = iter(ds)
        if next(elements, _END) is _END:
            raise ConfigurationError("There is no element to measure. Give a dataset that has some.")
        first = time.perf_counter()
        bar.update(1)
        count = 0
        while (num_iter is None or count + 1 < num_iter) and next(elements, _END) is not _END:
            count += 1
            bar.update(1)
        end = time.perf_counter()
    result = BenchmarkResult(batch_size, start, first, end, count)
    print(result)
    return result


_END = object()


def _length(ds: Any) -> int | None:
    try:
        return len(ds)
    except TypeError:
        return None
