"""`tfds.core.ReadInstruction`: the library's own, its arguments in the order that TFDS gives them."""

from __future__ import annotations

from collections.abc import Sequence

from datasets_core.meta import split as splits
from datasets_core.meta.split_part import SplitPart


class _IsAnyInstruction(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, splits.ReadInstruction)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, splits.ReadInstruction)


class ReadInstruction(splits.ReadInstruction, metaclass=_IsAnyInstruction):
    """Which rows of a split to read: what it makes is a `datasets_core.ReadInstruction`, and every such is an instance of it.

    Only the order of the arguments is TFDS's: `ReadInstruction("train", None, 20)` is `train[:20]`.

    Args:
        split_name: name of the split; the union of all is the text `all`.
        from_, to: bounds as in a Python slice; None is an open end.
        unit: `abs` (rows, the default), `%` or `shard`.
        rounding: with unit `%`, `closest` (default) or `pct1_dropremainder`; other units round nothing.

    Raises:
        SplitSyntaxError: a name, bound, unit or rounding that means nothing.
        ConfigurationError: `all`, which is no split.

    >>> from datasets_core import tfds
    >>> tfds.core.ReadInstruction("train", None, 20), tfds.core.ReadInstruction("train", 10, 20, "%")
    (ReadInstruction('train[:20]'), ReadInstruction('train[10%:20%]'))
    """

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls,
        split_name: str,
        from_: float | None = None,
        to: float | None = None,
        unit: str | None = None,
        rounding: str | None = None,
    ) -> splits.ReadInstruction:
        """See the class."""
        part = splits.slice_part(split_name, from_=from_, to=to, unit=unit, rounding=rounding)
        return splits.ReadInstruction.from_parts((part,))

    def __init__(  # never called: it tells type checkers the order of the arguments
        self,
        split_name: str,
        from_: float | None = None,
        to: float | None = None,
        unit: str | None = None,
        rounding: str | None = None,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def from_parts(cls, parts: Sequence[SplitPart]) -> splits.ReadInstruction:
        """See `datasets_core.ReadInstruction.from_parts`."""
        return splits.ReadInstruction.from_parts(parts)
