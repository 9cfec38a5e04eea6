"""`SplitStream`: the rows of a split with the methods of `tf.data.Dataset` and an exact state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import FeatureType, LargeList, List, feature_to_arrow
from datasets_core.features.formats.arrays import STORED, cells, has_nulls, shapes_of
from datasets_core.features.formats.python import dict_rows
from datasets_core.features.schema import Features
from datasets_core.features.types import FixedShape
from datasets_core.store.rows.indices import at_least, at_least_one
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iteration import RowIterator
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, Failures, Kinds
from datasets_core.stream.nodes.map_filter import Filtered, row_by_row
from datasets_core.stream.nodes.node import Delivery, Node, Numbers, RowChange, State
from datasets_core.stream.order.layers import ENDLESS
from datasets_core.stream.steps import Limit, PlainStep, Repeat, Shuffle
from datasets_core.tfds.connectors import np_dtype_of, shape_of
from datasets_core.tfds.elements import WHOLE, Batched, Form, Row, Whole, converter, view_of

# Rows of a stream as arrays and numpy scalars, converted by column if Arrow's memory allows it.


Read = Callable[[pa.Array], list[Any]]


def array_rows(block: Block) -> list[dict[str, Any]]:
    """Return rows with numpy scalars in the types of their columns; results of functions are unchanged."""
    return _rows(block, "arrays of tfds", _arrays)


def plain_rows(block: Block) -> list[dict[str, Any]]:
    """Return rows with Python values, except for arrays of more than one dimension."""
    return _rows(block, "plain rows of tfds", _plain)


def _rows(block: Block, key: str, make: Callable[[Kinds, str, FeatureType], Read]) -> list[dict[str, Any]]:
    if not isinstance(block, ArrowBlock):
        return block.rows()
    kinds = block.kinds
    readers = kinds.kept.get(key)
    if readers is None:
        readers = kinds.kept[key] = [make(kinds, name, feature) for name, feature in kinds.features.items()]
    columns = [read(array) for read, array in zip(readers, block.batch.columns, strict=True)]
    return dict_rows(tuple(kinds.features))(block.num_rows, columns)


def _plain(kinds: Kinds, name: str, feature: FeatureType) -> Read:
    read = kinds.reader.column_reader(name)
    return _of_memory(feature, read, converter(feature)) if isinstance(feature, FixedShape) else read


def _arrays(kinds: Kinds, name: str, feature: FeatureType) -> Read:
    read, convert = kinds.reader.column_reader(name), converter(feature)
    return (
        _of_memory(feature, read, convert) if _is_numeric(feature) else lambda array: [convert(value) for value in read(array)]
    )


def _of_memory(feature: FeatureType, read: Read, convert: Callable[[Any], Any]) -> Read:
    """Read numbers from Arrow's memory, or value by value if there are nulls or lists of different lengths."""
    view = cells(feature_to_arrow(feature), shapes_of(feature), STORED, None)

    def values(array: pa.Array) -> list[Any]:
        if has_nulls(array):
            return [convert(value) for value in read(array)]
        found = view(array)
        return [_own(value) if _is_exact(value) else convert(read(array.slice(row, 1))[0]) for row, value in enumerate(found)]

    return values


def _own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value  # a view of memory-mapped data is read-only


def _is_exact(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.dtype != object


def _is_numeric(feature: FeatureType) -> bool:
    """Return True if the values are numbers, or lists of numbers."""
    while isinstance(feature, (List, LargeList)):
        feature = feature.feature
    if isinstance(feature, FixedShape):
        return True
    if isinstance(feature, dict):
        return False
    arrow_type = feature_to_arrow(feature)
    return bool(pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type) or pa.types.is_boolean(arrow_type))


# The steps of a stream that call functions with elements.


@dataclass(frozen=True, slots=True)
class ElementFunction:
    """A function with the form of its elements.

    Attributes:
        call: the user's function; a tuple is passed as several arguments.
        form: converts rows to elements.
        verb: the method that received it, for errors.
    """

    call: Callable[..., Any]
    form: Form
    verb: str

    def answers(self, block: Block, numbers: Numbers) -> list[Any]:
        """Return the results of the function for the elements."""
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
        """None, since the reading thread calls it."""
        return None

    def kept_rows(
        self, block: Block, numbers: Numbers, failures: Failures | None = None, *, is_batched: bool = False
    ) -> list[int]:
        """Return the rows for which the function returns a true value."""
        return [row for row, answer in enumerate(self.answers(block, numbers)) if bool(answer)]

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.call, "__qualname__", type(self.call).__qualname__))

    @property
    def text(self) -> str:
        """Return a short text of the user's call."""
        return f"{self.verb}({self.name.rpartition('.')[2]})"


class _OnRows(PlainStep, RowChange):
    """A step that makes an element of each row; its features are unknown."""

    __slots__ = ()
    runs_function = True

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        return row_by_row(node, self)

    def features(self, before: Features | None) -> Features | None:
        return None


@dataclass(frozen=True, slots=True)
class MapElements(_OnRows):
    """A function on each element."""

    function: ElementFunction

    def changed(self, block: Block, numbers: Numbers) -> Block:
        return DictBlock([{WHOLE: answer} for answer in self.function.answers(block, numbers)])

    @property
    def text(self) -> str:
        return self.function.text

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.function.call, self.function.form


@dataclass(frozen=True, slots=True)
class NumberElements(_OnRows):
    """Pairs of the number of an element and the element; `first` is the number of the first."""

    form: Form
    first: int = 0

    @property
    def needs_numbers(self) -> bool:
        return True

    def changed(self, block: Block, numbers: Numbers) -> Block:
        counted: Sequence[int] | np.ndarray[Any, Any] = () if numbers is None else numbers
        rows = zip(counted, array_rows(block), strict=True)
        return DictBlock([{WHOLE: (np.int64(self.first + number), self.form.element(row))} for number, row in rows])

    @property
    def text(self) -> str:
        return f"enumerate({self.first})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.form, self.first


@dataclass(frozen=True, slots=True)
class FilterElements(PlainStep):
    """The elements for which a function returns a true value."""

    function: ElementFunction
    runs_function = True

    @property
    def text(self) -> str:
        return self.function.text

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.function.call, self.function.form

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        return Filtered(node, self.function)  # type: ignore[arg-type]  # it uses only `kept_rows`


INFINITE, UNKNOWN = -1, -2
"""Values of `cardinality` for an endless stream, and for one of unknown length."""


class SplitStream(IterableDataset):
    """The rows of a split, as returned by `tfds.load`.

    Iteration yields Python values: integers, strings, lists, and images as arrays; `tfds.as_numpy` yields those of TFDS.
    Functions receive numpy scalars and arrays, so that they compute in the types of the columns.

    Args:
        plan: the steps that make the rows.
        info: metadata of the dataset.
        split: name of the split.
        format: how values are converted.

    Example:
        >>> from datasets_core import tfds
        >>> stream = tfds.SplitStream.of(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset())
        >>> list(stream.filter(lambda row: row["a"] > 1).map(lambda row: row["a"] * 10))
        [20, 30]
        >>> len(stream), list(stream.batch(2))
        (3, [{'a': array([1, 2])}, {'a': array([3])}])
    """

    _form: Form = Row()
    _is_numpy: bool = False
    _reshuffles: bool = False

    @classmethod
    def of(cls, stream: IterableDataset, form: Form | None = None, *, reshuffles: bool = False) -> Self:
        """Return a stream of this library with the methods of TFDS.

        Args:
            stream: the rows.
            form: converts rows to elements.
            reshuffles: True to make every further iteration a new epoch.
        """
        made = cls(stream._plan, stream._info, stream._split)
        made._form, made._reshuffles = form or Row(), reshuffles
        made._epoch = stream._epoch
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._split or 'rows'}, element_spec={self.element_spec}>"

    # -- elements ------------------------------------------------------------------------------------------------------

    def __iter__(self) -> RowIterator:
        if self._reshuffles and self._is_begun and self._loaded is None and not self._plan.changes_by_epoch:
            self._epoch += 1
        return super().__iter__()

    def _shows_rows(self) -> Callable[[Delivery], tuple[list[Any], Callable[[int], State]]]:
        if self._format.type is not None:
            return super()._shows_rows()
        rows = plain_rows if self._form.has_plain_rows and not self._is_numpy else array_rows
        view = view_of(self._form, is_numpy=self._is_numpy)
        return lambda delivery: ([view(row) for row in rows(delivery.block)], delivery.after)

    def as_numpy_iterator(self) -> RowIterator:
        """Yield the elements with arrays and numpy scalars, and strings as bytes."""
        other = self.as_numpy()
        rows = iter(other)
        self._epoch, self._is_begun, self._loaded = other._epoch, True, None
        return rows

    def as_numpy(self) -> Self:
        """Return the same stream with arrays, numpy scalars, and strings as bytes."""
        other = self._like(self._plan)
        other._is_numpy, other._loaded = True, self._loaded
        return other

    @property
    def element_spec(self) -> Any:
        """Shape and dtype of each column; None after a function."""
        features = self._plan.features
        if features is None or not isinstance(self._form, Row):
            return None
        return {name: (shape_of(feature), np_dtype_of(feature)) for name, feature in features.items()}

    # -- length --------------------------------------------------------------------------------------------------------

    def cardinality(self) -> int:
        """Return the number of elements; -1 if endless, -2 if unknown.

        Example:
            >>> from datasets_core import tfds
            >>> tfds.SplitStream.of(Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset()).repeat().cardinality()
            -1
        """
        if self._repeats_forever():
            return INFINITE
        rows = self._plan.num_rows
        return UNKNOWN if rows is None else INFINITE if rows >= ENDLESS else rows

    def _repeats_forever(self) -> bool:
        endless = False
        for step in self._plan.steps:
            endless = (endless or (isinstance(step, Repeat) and step.times is None)) and not _ends(step)
        return endless

    def __len__(self) -> int:
        found = self.cardinality()
        if found == INFINITE:
            raise ArgumentTypeError("A dataset that repeats endlessly has no length", advice="Limit it with take()")
        if found == UNKNOWN:
            raise ArgumentTypeError(
                "The number of elements after a function is unknown before reading", advice="Count them instead"
            )
        return found

    def __bool__(self) -> bool:
        return True

    # -- order ---------------------------------------------------------------------------------------------------------

    def take(self, count: int, name: object = None) -> Self:
        """Return the first `count` elements, or all for -1; `name` is ignored."""
        return self._like(self._plan) if count == -1 else self._then(Limit(at_least("count", count, 0)))

    def skip(self, count: int, name: object = None) -> Self:
        """Return the elements after the first `count`, or none for -1; `name` is ignored."""
        size = ENDLESS - 1 if count == -1 else at_least("count", count, 0)
        return self._then(Limit(size, is_skip=True))

    def repeat(self, count: int | None = None, name: object = None) -> Self:
        """Return the elements `count` times in sequence, or endlessly for None; `name` is ignored."""
        return self._then(Repeat(None if count in (None, -1) else at_least("count", count, 0)))

    def shuffle(  # type: ignore[override]
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: object = None,
    ) -> Self:
        """Return the elements in random order, shuffled within windows of `buffer_size`; the order differs in each iteration.

        Args:
            buffer_size: number of elements in a window.
            seed: random seed for all iterations.
            reshuffle_each_iteration: False to give every iteration the order of the first.
            name: ignored.
        """
        chosen = int(np.random.randint(2**31)) if seed is None else at_least("seed", seed, 0)
        reshuffles = reshuffle_each_iteration is not False
        other = self._then(Shuffle(chosen, at_least_one("buffer_size", buffer_size), reshuffles))
        other._reshuffles = self._reshuffles or reshuffles
        return other

    def shard(self, num_shards: int, index: int, contiguous: bool = False) -> Self:
        """Return every `num_shards`-th element from `index` on, or, if `contiguous`, a contiguous range.

        Raises:
            ConfigurationError: the part does not exist.
        """
        count = at_least_one("num_shards", num_shards)
        if at_least("index", index, 0) >= count:
            raise ConfigurationError(f"index={index} is out of range for {count} parts", advice=f"Pass 0 to {count - 1}")
        return super().shard(count, index, contiguous=True) if contiguous else self._every(count, index)

    # -- functions -----------------------------------------------------------------------------------------------------

    def map(  # type: ignore[override]
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: object = None,
        deterministic: object = None,
        name: object = None,
        **library: Any,
    ) -> Self:
        """Return the results of a function for each element; a tuple is passed as several arguments.

        Args:
            map_func: function of an element.
            num_parallel_calls, deterministic, name: ignored.
            library: arguments of `IterableDataset.map`, with which the function takes rows and returns columns.
        """
        if library:
            return super().map(map_func, **library)
        return self._made(MapElements(self._called(map_func, "map")))

    def filter(  # type: ignore[override]
        self, predicate: Callable[..., Any], name: object = None, **library: Any
    ) -> Self:
        """Return the elements for which a function returns a true value.

        Args:
            predicate: called with each element.
            name: ignored.
            library: arguments of `IterableDataset.filter`, with which the predicate takes rows.
        """
        if library:
            return super().filter(predicate, **library)
        return self._then(FilterElements(self._called(predicate, "filter")))

    def enumerate(self, start: int = 0, name: object = None) -> Self:
        """Return pairs of the number of an element and the element.

        Args:
            start: the first number.
            name: ignored.

        Example:
            >>> from datasets_core import tfds
            >>> list(tfds.SplitStream.of(Dataset.from_dict({"a": [5, 6]}).to_iterable_dataset()).enumerate())
            [(0, {'a': 5}), (1, {'a': 6})]
        """
        return self._made(NumberElements(self._form, at_least("start", start, 0)))

    def _made(self, step: MapElements | NumberElements) -> Self:
        other = self._then(step)
        other._form = Whole()
        return other

    def _called(self, function: Any, verb: str) -> ElementFunction:
        if not callable(function):
            raise ArgumentTypeError(f"{verb}() takes a function, found {function!r}.", value=function)
        return ElementFunction(function, self._form, verb)

    def apply(self, transformation_func: Callable[[Self], Any]) -> Any:
        """Return the result of a function for the stream.

        Args:
            transformation_func: called with the stream.
        """
        return transformation_func(self)

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: object = None) -> Any:
        """Return one value for all elements, combined by a function of the previous value and an element.

        Args:
            initial_state: the first value.
            reduce_func: called with the previous value and an element.
            name: ignored.
        """
        state, node = initial_state, self._plan.node(self._epoch)
        for delivery in node.blocks(node.start):
            for row in array_rows(delivery.block):
                state = reduce_func(state, self._form.element(row))
        return state

    # -- batches -------------------------------------------------------------------------------------------------------

    def batch(  # type: ignore[override]
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: object = None,
        deterministic: object = None,
        name: object = None,
    ) -> Self:
        """Return batches of elements, stacked along a new first dimension.

        Args:
            batch_size: number of elements in a batch.
            drop_remainder: True to drop the last batch if it is smaller.
            num_parallel_calls, deterministic, name: ignored.

        Raises:
            ConfigurationError: (while reading) the shapes of arrays differ; see `padded_batch`.
        """
        return self._batched(batch_size, drop_remainder, pads=False)

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: None = None,
        padding_values: None = None,
        drop_remainder: bool = False,
        name: object = None,
    ) -> Self:
        """Return batches of elements, with smaller arrays padded by zeros or empty strings.

        Args:
            batch_size: number of elements of a batch.
            padded_shapes, padding_values: only None is supported.
            drop_remainder: True to drop the last batch if it has fewer elements.
            name: ignored.

        Raises:
            ConfigurationError: padded shapes or padding values were passed, which are not supported.
        """
        if padded_shapes is not None or padding_values is not None:
            raise ConfigurationError(
                "padded_batch() only pads to the largest element, with zeros", advice="Omit the other arguments"
            )
        return self._batched(batch_size, drop_remainder, pads=True)

    def _batched(self, size: int, drops: bool, *, pads: bool) -> Self:
        other = super().batch(at_least_one("batch_size", size), drop_last_batch=drops)
        other._form = Batched(self._form, pads)
        return other

    # -- methods without effect here -------------------------------------------------------------------------------------

    def prefetch(self, buffer_size: object = None, name: object = None) -> Self:
        """Return the stream itself: rows are memory-mapped, and the system reads ahead.

        Args:
            buffer_size, name: ignored.
        """
        return self._like(self._plan)

    def cache(self, filename: str = "", name: object = None) -> Self:
        """Return the stream itself: rows are memory-mapped, and cached by the system.

        Args:
            filename, name: ignored.
        """
        return self._like(self._plan)

    def with_options(self, options: object, name: object = None) -> Self:
        """Return the stream itself; `options` and `name` are ignored."""
        return self._like(self._plan)


def _ends(step: object) -> bool:
    return isinstance(step, Limit) and not step.is_skip
