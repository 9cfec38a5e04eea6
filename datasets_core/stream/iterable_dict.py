"""`IterableDatasetDict`: the streams of several splits, by name; its methods apply to each of them."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from datasets_core.engines import Engine, on_engine
from datasets_core.errors import ArgumentTypeError
from datasets_core.features.base import FeatureType
from datasets_core.io.push_target import shards_by_split
from datasets_core.io.split_mapping import SplitMapping, each_split
from datasets_core.stream.iterable import IterableDataset


def _tell_split(split: str, options: dict[str, Any]) -> None:
    function = options["function"]
    if options.pop("with_split"):
        if not callable(function):
            raise ArgumentTypeError(
                f"map() takes a function, found {type(function).__name__}", advice="Give the function itself"
            )
        options["function"] = partial(_with_split, function, split)


def _with_split(function: Callable[..., Any], split: str, *arguments: Any, **kwargs: Any) -> Any:
    return function(*arguments, split, **kwargs)


class IterableDatasetDict(SplitMapping[IterableDataset]):
    """Streams by split.

    Example:
        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1, 2]})})
        >>> list(splits.map(lambda row: {"b": row["a"] * 10})["train"])
        [{'a': 1, 'b': 10}, {'a': 2, 'b': 20}]
    """

    _kind = IterableDataset

    @property
    @each_split(IterableDataset)
    def column_names(self) -> dict[str, list[str] | None]:
        """Names of the columns of each split; None if unknown before the rows are read."""

    @property
    @each_split(IterableDataset)
    def num_columns(self) -> dict[str, int | None]:
        """Number of columns of each split; None if unknown before the rows are read."""

    @each_split(IterableDataset, change=_tell_split)
    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_split: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        *,
        num_workers: int = 0,
        engine: str = "threads",
        on_error: str | None = None,
    ) -> Self:
        """Apply `function` to the rows of every split; see `IterableDataset.map`.

        Args:
            with_split: the function gets the name of the split after its other arguments.
            num_workers: number of calls at once for each split that is read.
            engine, on_error: see `IterableDataset.map`.

        Example:
            >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
            >>> list(splits.map(lambda row, split: {"b": split}, with_split=True)["train"])
            [{'a': 1, 'b': 'train'}]
        """

    @each_split(IterableDataset)
    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        *,
        num_workers: int = 0,
        engine: str = "threads",
        on_error: str | None = None,
    ) -> Self:
        """Keep the rows of every split for which `function` returns a true value; see `IterableDataset.filter`."""

    @each_split(IterableDataset)
    def on_error(
        self, action: str = "skip", *, max_errors: int | None = None, quarantine: str | os.PathLike[str] | None = None
    ) -> Self:
        """Return the splits with an error policy for rows at which a step fails; see `IterableDataset.on_error`."""

    @each_split(IterableDataset)
    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        buffer_size: int = 1000,
        max_buffer_input_shards: int = 10,
        *,
        window_bytes: int | None = None,
        reshuffle_each_iteration: bool = False,
    ) -> Self:
        """Shuffle the rows of every split; see `IterableDataset.shuffle`."""

    @each_split(IterableDataset)
    def cast_column(self, column: str, feature: FeatureType) -> Self:
        """Cast one column of every split to another type; see `IterableDataset.cast_column`.

        Args:
            column: name of the column.
            feature: the new type, such as `Value("float32")`.
        """

    @each_split(IterableDataset)
    def with_format(self, type: str | None = None) -> Self:
        """Return the rows of every split in another format; see `IterableDataset.with_format`."""

    def save_to_disk(
        self,
        dataset_dict_path: str | os.PathLike[str],
        max_shard_size: int | str | None = None,
        num_shards: Mapping[str, int | None] | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
    ) -> None:
        """Save every split to one folder, which `load_from_disk` opens as a `DatasetDict`; see `IterableDataset.save_to_disk`.

        Rows are written to a hidden folder, renamed to the target when all splits are complete.  An interrupted save resumes:
        finished splits, and finished files of an unfinished split, are not written again.

        Args:
            dataset_dict_path: local folder or URL.
            max_shard_size: approximate bytes of the rows of a file.
            num_shards: number of files of each split; default: as many as `max_shard_size` requires.
            storage_options: options of the file system of a URL.
            engine: what writes the files of `num_shards`; see `Dataset.map`.

        Raises:
            ConfigurationError: a split is not a valid folder name, or a key of `num_shards` is not a split; see also
                `IterableDataset.save_to_disk`.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1, 2]})}).save_to_disk(folder)
            ...     DatasetDict.load_from_disk(folder)["train"]["a"][:]
            [1, 2]
        """
        files = shards_by_split(num_shards, self)
        from datasets_core.stream.io.files import save_streams  # 15 ms that reading does without

        with on_engine(engine):
            save_streams(self._splits(), dataset_dict_path, max_shard_size, files, storage_options, group=True)
