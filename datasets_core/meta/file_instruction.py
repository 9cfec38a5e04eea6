"""`FileInstruction`: which rows of one shard file are read."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from datasets_core.errors import ConfigurationError


@dataclass(frozen=True, eq=False)
class FileInstruction:
    """Rows to read of one shard file.

    Two are equal where they read the same rows of the same file, whether the end is told as -1 or as a number.

    Args:
        filename: name of the shard.
        skip: rows to leave out at its beginning.
        take: rows to read behind them; -1 is all to the end of the file.
        num_examples: rows that are read.  It follows from `take`, and where that is -1 from the length of the file; else
            it tells that length.
        examples_in_shard: rows of the whole file; None is unknown.

    Raises:
        ConfigurationError: a number that is none, or below 0.

    >>> FileInstruction("birds-train-00007-of-00010.arrow", skip=700, take=-1, num_examples=551)
    FileInstruction(filename='birds-train-00007-of-00010.arrow', skip=700, take=-1, num_examples=551)
    >>> FileInstruction("birds-train-00007-of-00010.arrow", skip=700, take=-1, examples_in_shard=1251).num_examples
    551
    """

    filename: str
    skip: int = 0
    take: int = -1
    num_examples: int | None = None
    examples_in_shard: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole, known = self.examples_in_shard, self.num_examples
        for name, value, least in (("skip", self.skip, 0), ("take", self.take, -1)):
            self._check(name, value, least)
        for name, count in (("num_examples", known), ("examples_in_shard", whole)):
            if count is not None:
                self._check(name, count, 0)
        if whole is None and self.take == -1 and known is not None:
            whole = self.skip + known
        left = None if whole is None else max(0, whole - self.skip)
        taken = left if self.take == -1 else self.take if left is None else min(self.take, left)
        object.__setattr__(self, "num_examples", taken)
        object.__setattr__(self, "examples_in_shard", whole)

    @classmethod
    def of_rows(cls, filename: str, start: int, stop: int, whole: int) -> FileInstruction:
        """Rows `start` to `stop` of a file of `whole` rows; unchecked, being made by the hundred thousand."""
        made = object.__new__(cls)
        take = -1 if stop == whole else stop - start
        made.__dict__.update(filename=filename, skip=start, take=take, num_examples=stop - start, examples_in_shard=whole)
        return made

    def _check(self, name: str, value: object, least: int) -> None:
        if not hasattr(value, "__index__") or value < least:  # type: ignore[operator]
            raise ConfigurationError(f"{name} of {self.filename!r} is {value!r}. Give a whole number from {least}.")

    def replace(self, **changes: Any) -> FileInstruction:
        """This with other values; `num_examples` is how many rows to take.

        Raises:
            ConfigurationError: a name or a number that means nothing.

        >>> FileInstruction("a.arrow", examples_in_shard=10).replace(skip=4)
        FileInstruction(filename='a.arrow', skip=4, take=-1, num_examples=6)
        """
        names = [each.name for each in fields(self)]
        unknown = [name for name in changes if name not in names]
        if unknown:
            raise ConfigurationError(f"A FileInstruction has no {', '.join(map(repr, unknown))}. It has {', '.join(names)}.")
        if "num_examples" in changes:
            changes.setdefault("take", changes.pop("num_examples"))
        kept = {name: getattr(self, name) for name in names if name != "num_examples"}
        return FileInstruction(**{**kept, **changes})

    __replace__ = replace

    def _rows(self) -> tuple[str, int, int]:
        return self.filename, self.skip, self.take if self.num_examples is None else self.num_examples

    def __eq__(self, other: object) -> bool:
        return self._rows() == other._rows() if isinstance(other, FileInstruction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._rows())
