"""The steps of a stream that call functions on elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets_core.features.schema import Features
from datasets_core.stream.block import Block, DictBlock, Failures
from datasets_core.stream.node import Node, Numbers
from datasets_core.stream.nodes import Filtered
from datasets_core.stream.steps import PlainStep, row_by_row
from datasets_core.tfds.block_rows import array_rows
from datasets_core.tfds.elements import WHOLE, Form


@dataclass(frozen=True, slots=True)
class ElementFunction:
    """A function, and what makes the elements that it gets.

    Attributes:
        call: the user's; a tuple comes to it as several arguments.
        form: makes elements of rows.
        verb: the method that it was given to, for errors.
    """

    call: Callable[..., Any]
    form: Form
    verb: str

    def answers(self, block: Block, numbers: Numbers) -> list[Any]:
        """What it says of each element."""
        found: list[Any] = []
        call, element = self.call, self.form.element
        try:
            for row in array_rows(block):
                given = element(row)
                found.append(call(*given) if type(given) is tuple else call(given))
        except Exception as error:
            where = "" if numbers is None else f" on row {numbers[len(found)]}"
            error.add_note(f"{self.verb}() called {self.name}{where} of the stream.")
            raise
        return found

    @property
    def pool(self) -> None:
        """Whoever reads calls it."""
        return None

    def kept_rows(
        self, block: Block, numbers: Numbers, failures: Failures | None = None, *, is_batched: bool = False
    ) -> list[int]:
        """The rows of which it says something true."""
        return [row for row, answer in enumerate(self.answers(block, numbers)) if bool(answer)]

    @property
    def name(self) -> str:
        """Its name."""
        return str(getattr(self.call, "__qualname__", type(self.call).__qualname__))

    @property
    def text(self) -> str:
        """What the user called for, in short."""
        return f"{self.verb}({self.name.rpartition('.')[2]})"


@dataclass(frozen=True, slots=True)
class MapElements(PlainStep):
    """A function on each element."""

    function: ElementFunction

    @property
    def needs_numbers(self) -> bool:
        """See `RowChange.needs_numbers`."""
        return False

    def changed(self, block: Block, numbers: Numbers, failures: Failures | None = None) -> Block:
        """See `RowChange.changed`."""
        return DictBlock([{WHOLE: answer} for answer in self.function.answers(block, numbers)])

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return self.function.text

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return self.function.call, self.function.form

    def on(self, node: Node, epoch: int, lanes: int = 1) -> Node:
        """See `Step.on`."""
        return row_by_row(node, self)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        return None


@dataclass(frozen=True, slots=True)
class NumberElements(PlainStep):
    """Pairs of the number of an element and the element; `first` is the number of the first."""

    form: Form
    first: int = 0

    @property
    def needs_numbers(self) -> bool:
        """See `RowChange.needs_numbers`."""
        return True

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        counted: Sequence[int] | np.ndarray[Any, Any] = () if numbers is None else numbers
        rows = zip(counted, array_rows(block), strict=True)
        return DictBlock([{WHOLE: (np.int64(self.first + number), self.form.element(row))} for number, row in rows])

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"enumerate({self.first})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return self.form, self.first

    def on(self, node: Node, epoch: int, lanes: int = 1) -> Node:
        """See `Step.on`."""
        return row_by_row(node, self)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        return None


@dataclass(frozen=True, slots=True)
class FilterElements(PlainStep):
    """The elements of which a function says something true."""

    function: ElementFunction

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return self.function.text

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return self.function.call, self.function.form

    def on(self, node: Node, epoch: int, lanes: int = 1) -> Node:
        """See `Step.on`."""
        return Filtered(node, self.function)  # type: ignore[arg-type]  # it asks for `kept_rows` alone
