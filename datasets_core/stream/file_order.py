"""The order of the files of a stream: as the user's function gives them, for this pipeline, and shuffled anew in each epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.meta.split_info import FileInstruction
from datasets_core.stream.permutation import Ints, Permutation
from datasets_core.stream.read_config import ReadConfig, SortFunction


class FileRows(NamedTuple):
    """Rows of a file, one after the other; a named tuple, being made by the thousand.

    Attributes:
        name: of the file.
        skip: rows before them.
        rows: how many there are.
    """

    name: str
    skip: int
    rows: int


def chosen_files(files: Sequence[FileRows], config: ReadConfig, lengths: Mapping[str, int]) -> list[FileRows]:
    """What is read of each file, of all that a split expression names.

    Args:
        files: those of the expression.
        config: says which of them, and in which order.
        lengths: rows of each file of the dataset.

    Raises:
        ConfigurationError: the sort function gave other files, or rows that do not exist, or files are fewer than pipelines.
    """
    found = list(files) if config.sort_function is None else _sorted(files, config.sort_function, lengths)
    count, index = config.pipeline
    if count > max(1, len(found)):
        raise ConfigurationError(
            f"input_context divides {len(found)} files among {count} pipelines, of which some get none. "
            "Divide the rows instead, by even_splits() or shard()."
        )
    return found[index::count]


def _sorted(files: Sequence[FileRows], function: SortFunction, lengths: Mapping[str, int]) -> list[FileRows]:
    given = function([_instruction(file, lengths[file.name]) for file in files])
    try:
        found = list(given)
    except TypeError:
        raise ArgumentTypeError(f"The sort function gave {given!r}. Give the list of FileInstructions to read.") from None
    named = {file.name for file in files}
    return [_rows(file, named, lengths) for file in found]


def _instruction(file: FileRows, length: int) -> FileInstruction:
    take = -1 if file.skip + file.rows == length else file.rows
    return FileInstruction(file.name, file.skip, take, examples_in_shard=length)


def _rows(file: object, named: Set[str], lengths: Mapping[str, int]) -> FileRows:
    """What an instruction says, which the user may have changed or made."""
    if not isinstance(file, FileInstruction):
        raise ArgumentTypeError(f"The sort function gave {file!r} as what to read. Give FileInstructions.")
    if file.filename not in named:
        reason = "which the split does not read" if file.filename in lengths else "which the dataset does not have"
        raise ConfigurationError(f"The sort function gave the file {file.filename!r}, {reason}. Give files of its list.")
    length = lengths[file.filename]
    stop = length if file.take < 0 else file.skip + file.take
    if not 0 <= file.skip <= stop <= length:
        raise ConfigurationError(
            f"The sort function asks for skip={file.skip}, take={file.take} of {file.filename!r}, which has {length} rows. "
            "Give rows that exist, or take=-1 for all to the end."
        )
    return FileRows(file.filename, file.skip, stop - file.skip)


def shuffled_files(count: int, seed: int, epoch: int) -> Ints:
    """The numbers of files in the order of an epoch.

    It is never the order of the epoch before, nor that of the files themselves: in even epochs the first file is one behind
    the second, in odd epochs one before it, and the one order among these that is no shuffle gives way to another.  Two files
    have no other orders than these, whatever the seed.

    >>> [shuffled_files(2, seed, epoch).tolist() for seed in range(2) for epoch in range(2)]
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """
    order = Permutation(count, "files", seed, epoch).at(np.arange(count, dtype=np.int64))
    if count < 2:
        return order
    is_descending = bool(order[0] > order[1])
    if is_descending != (epoch % 2 == 0):
        order[:2] = order[1::-1]
    if count > 2 and bool((np.diff(order) == 1).all()):
        order = np.roll(order, -1)
    return order
