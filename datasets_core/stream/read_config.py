"""`ReadConfig`: in which order the files of a split are read, and what is added to each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeAlias

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.meta.split_info import FileInstruction

SortFunction: TypeAlias = Callable[[list[FileInstruction]], Iterable[FileInstruction]]
"""Takes what is to be read of each file, and gives what is read instead."""

ID_COLUMNS = {"add_tfds_id": "tfds_id", "add_row_id": "row_id"}
"""The columns of row ids, by the field that asks for them."""

_LENGTH = 16


class _Default(int):
    """A number that nobody asked for: data that must be read in order is, unless somebody asks for another cycle."""

    def __reduce__(self) -> str:
        return "DEFAULT_CYCLE"


DEFAULT_CYCLE = _Default(_LENGTH)


@dataclass
class ReadConfig:
    """How files are read: so many at a time, some rows of each in turn, in the order that TensorFlow Datasets reads them in.

    `interleave_cycle_length` files are open at a time.  They are visited in turn, and each visit gives
    `interleave_block_length` rows; a file that ends within its block gives what it has, and its place goes to the next file
    at the next visit.  The order is therefore that of the rows only within a block: the first 100 rows of a stream are not
    those of `split="train[:100]"`, which are the first 100 of the dataset.  They are the same with
    `interleave_cycle_length=1`, and wherever no `ReadConfig` is given: `as_dataset` and `load_dataset` then read row after
    row.  The order is the same on every machine, for ever, but only for the same two lengths.

    Args:
        options: has no effect; the `tf.data.Options` of other code, which may set attributes on it.
        try_autocache: has no effect: files are mapped, and the system keeps them.
        repeat_filenames: read the files again and again, without end; other than by `repeat(None)`, the first files of an
            epoch are read beside the last of the epoch before.  So that any row can be computed, this ends with each
            16,384th file (64th epoch, where each has an order of its own; never before the fourth): all are read to their end.
        add_tfds_id: add the column `tfds_id`: `"<file name>__<row in the file>"`.
        shuffle_seed: decides about the order of files where `shuffle_files=True`; None draws one when the dataset is made,
            which its states carry.  Give one where several machines or processes divide the rows.
        shuffle_reshuffle_each_iteration: False keeps one order of files for all epochs; None and True change it with each, so
            that two files take turns in being first.
        interleave_cycle_length: files that are open at a time; None for 16.  Left alone, it is 1 for data that was written
            in an order that is to be kept (`disable_shuffling`).
        interleave_block_length: rows that are read of a file at a visit; None for 16.
        input_context: read one file of `num_input_pipelines`, beginning with number `input_pipeline_id`: an object with
            these attributes.
        experimental_interleave_sort_fn: the older name of `interleave_sort_fn`.
        skip_prefetch, num_parallel_calls_for_decode, num_parallel_calls_for_interleave_files, override_buffer_size: have no
            effect on the rows, and none here.
        enable_ordering_guard: refuse to mix data that was written in an order that is to be kept; False only warns.
        assert_cardinality: has no effect: the number of rows is on record, and every file is checked against it.
        file_format: has no effect: a dataset is read in the format that it was built in.
        interleave_sort_fn: is given the list of `FileInstruction`s and gives the list to read: in another order, with files
            left out, with other `skip` and `take`, also twice; but no files that are not in the list.
        add_row_id: the same as `add_tfds_id`, as the column `row_id`.

    >>> ReadConfig(interleave_cycle_length=3, interleave_block_length=2).shuffle_seed is None
    True

    Raises:
        ConfigurationError: a value that means nothing; also when the config is used, for one that was set later.
    """

    options: Any = field(default_factory=SimpleNamespace, repr=False, compare=False)
    try_autocache: bool = True
    repeat_filenames: bool = False
    add_tfds_id: bool = False
    shuffle_seed: int | None = None
    shuffle_reshuffle_each_iteration: bool | None = None
    interleave_cycle_length: int | None = DEFAULT_CYCLE
    interleave_block_length: int | None = _LENGTH
    input_context: Any = None
    experimental_interleave_sort_fn: SortFunction | None = None
    skip_prefetch: bool = False
    num_parallel_calls_for_decode: int | None = None
    num_parallel_calls_for_interleave_files: int | None = None
    enable_ordering_guard: bool = True
    assert_cardinality: bool = True
    override_buffer_size: int | None = None
    file_format: Any = None
    interleave_sort_fn: SortFunction | None = None
    add_row_id: bool = False

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Complain about values that mean nothing.

        Raises:
            ConfigurationError: the first of them.
        """
        for name in ("interleave_cycle_length", "interleave_block_length"):
            given = getattr(self, name)
            if given is not None and _whole(name, given) < 1:
                raise ConfigurationError(f"{name}={given} has no meaning. Give 1 or more, or None for {_LENGTH}.")
        if self.shuffle_seed is not None:
            _whole("shuffle_seed", self.shuffle_seed)
        for name in ("interleave_sort_fn", "experimental_interleave_sort_fn"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise ArgumentTypeError(f"{name}={function!r} cannot be called. Give a function of a list of FileInstructions.")
        functions = {self.interleave_sort_fn, self.experimental_interleave_sort_fn} - {None}
        if len(functions) > 1:
            raise ConfigurationError(
                "interleave_sort_fn and experimental_interleave_sort_fn are two names of one option. Give one function."
            )
        if self.input_context is not None:
            self._check_context()

    def _check_context(self) -> None:
        try:
            count, index = _whole("num_input_pipelines", self.input_context.num_input_pipelines), self.pipeline[1]
        except AttributeError:
            raise ArgumentTypeError(
                f"input_context={self.input_context!r} does not say which files are meant. "
                "Give an object with the attributes num_input_pipelines and input_pipeline_id."
            ) from None
        if not 0 <= index < count:
            raise ConfigurationError(f"input_pipeline_id={index} is no pipeline of {count}. Give 0 to {count - 1}.")

    @property
    def block_length(self) -> int:
        """Rows that are read of a file at a visit."""
        return _LENGTH if self.interleave_block_length is None else int(self.interleave_block_length)

    def cycle_length(self, *, is_ordered: bool) -> int:
        """Files that are open at a time, of data that was (`is_ordered`) written in an order that is to be kept."""
        if self.interleave_cycle_length is None or self.interleave_cycle_length is DEFAULT_CYCLE:
            return 1 if is_ordered else _LENGTH
        return int(self.interleave_cycle_length)

    @property
    def sort_function(self) -> SortFunction | None:
        """The sort function, by whichever name."""
        return self.interleave_sort_fn or self.experimental_interleave_sort_fn

    @property
    def pipeline(self) -> tuple[int, int]:
        """Of how many parts of the files one is read, and which."""
        if self.input_context is None:
            return 1, 0
        given = self.input_context
        return int(given.num_input_pipelines), _whole("input_pipeline_id", given.input_pipeline_id)

    @property
    def reshuffles(self) -> bool:
        """Whether each epoch has an order of files of its own, where files are shuffled."""
        return self.shuffle_reshuffle_each_iteration is not False

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The columns of row ids that are added."""
        return tuple(column for asked, column in ID_COLUMNS.items() if getattr(self, asked))


def _whole(name: str, given: Any) -> int:
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise ArgumentTypeError(f"{name}={given!r} is no whole number. Give an int.")
    return int(given.__index__())
