"""`IterableDatasetDict`: the streams of several splits, by name, each of which gets what is done to all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from datasets_core.errors import ArgumentTypeError, UnknownSplitError
from datasets_core.features.base import FeatureType
from datasets_core.features.schema import Features
from datasets_core.io.push_target import shards_by_split, target_of
from datasets_core.stream.iterable import IterableDataset

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import CommitInfo


class IterableDatasetDict(dict[str, IterableDataset]):
    """Streams by split.

    >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1, 2]})})
    >>> list(splits.map(lambda row: {"b": row["a"] * 10})["train"])
    [{'a': 1, 'b': 10}, {'a': 2, 'b': 20}]
    """

    def __getitem__(self, split: str) -> IterableDataset:
        """The stream of a split.

        Raises:
            UnknownSplitError: no such split.
        """
        try:
            return super().__getitem__(split)
        except (KeyError, TypeError):  # TypeError: a list, say, cannot be a key
            raise UnknownSplitError(str(split), known=self) from None

    def __repr__(self) -> str:
        inner = "\n".join(f"{name}: {stream!r}" for name, stream in self.items()).replace("\n", "\n    ")
        return f"IterableDatasetDict({{\n    {inner}\n}})"

    @property
    def column_names(self) -> dict[str, list[str] | None]:
        """Names of the columns of each split; None where only the rows will tell.

        >>> IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})}).column_names
        {'train': ['a']}
        """
        return {name: stream.column_names for name, stream in self._streams().items()}

    @property
    def num_columns(self) -> dict[str, int | None]:
        """Number of columns of each split; None where only the rows will tell.

        >>> IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})}).num_columns
        {'train': 1}
        """
        return {name: stream.num_columns for name, stream in self._streams().items()}

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
        """The rows of every split updated with what `function` returns; see `IterableDataset.map`.

        Args:
            with_split: the function gets the name of the split behind its other arguments.
            num_workers: of each split that is read, who makes so many calls at once.
            engine, on_error: see `IterableDataset.map`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
        >>> list(splits.map(lambda row, split: {"b": split}, with_split=True)["train"])
        [{'a': 1, 'b': 'train'}]
        """
        options = {
            "with_indices": with_indices,
            "input_columns": input_columns,
            "batched": batched,
            "batch_size": batch_size,
            "drop_last_batch": drop_last_batch,
            "remove_columns": remove_columns,
            "fn_kwargs": fn_kwargs,
            "num_workers": num_workers,
            "engine": engine,
            "on_error": on_error,
        }
        if with_split and not callable(function):
            raise ArgumentTypeError(f"map() takes a function, found {type(function).__name__}. Give the function itself.")
        made = {}
        for name, stream in self._streams().items():
            call: Any = partial(_with_split, function, name) if with_split else function  # type: ignore[arg-type]
            made[name] = _noted(name, partial(stream.map, call, **options))  # type: ignore[arg-type]
        return type(self)(made)

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
        """The rows of every split for which `function` returns something true; see `IterableDataset.filter`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1, 2]})})
        >>> list(splits.filter(lambda row: row["a"] > 1)["train"])
        [{'a': 2}]
        """
        more: dict[str, Any] = {"num_workers": num_workers, "engine": engine, "on_error": on_error}
        return self._each(
            lambda stream: stream.filter(function, with_indices, input_columns, batched, batch_size, fn_kwargs, **more)
        )

    def on_error(
        self, action: str = "skip", *, max_errors: int | None = None, quarantine: str | os.PathLike[str] | None = None
    ) -> Self:
        """The rows of every split, and what becomes of those at which a step fails; see `IterableDataset.on_error`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [0, 1]})})
        >>> list(splits.map(lambda row: {"b": 1 // row["a"]}).on_error("skip")["train"])
        [{'a': 1, 'b': 1}]
        """
        return self._each(lambda stream: stream.on_error(action, max_errors=max_errors, quarantine=quarantine))

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
        """The rows of every split in random order; see `IterableDataset.shuffle`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1, 2, 3]})})
        >>> sorted(splits.shuffle(seed=1)["train"]["a"])
        [1, 2, 3]
        """
        return self._each(
            lambda stream: stream.shuffle(
                seed,
                generator,
                buffer_size,
                max_buffer_input_shards,
                window_bytes=window_bytes,
                reshuffle_each_iteration=reshuffle_each_iteration,
            )
        )

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """Only these columns of every split; see `IterableDataset.select_columns`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1], "b": [2]})})
        >>> list(splits.select_columns("b")["train"])
        [{'b': 2}]
        """
        return self._each(lambda stream: stream.select_columns(column_names))

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """All columns of every split but these; see `IterableDataset.remove_columns`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1], "b": [2]})})
        >>> list(splits.remove_columns("b")["train"])
        [{'a': 1}]
        """
        return self._each(lambda stream: stream.remove_columns(column_names))

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """Another name for a column of every split; see `IterableDataset.rename_column`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
        >>> list(splits.rename_column("a", "b")["train"])
        [{'b': 1}]
        """
        return self._each(lambda stream: stream.rename_column(original_column_name, new_column_name))

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Other names for columns of every split; see `IterableDataset.rename_columns`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
        >>> list(splits.rename_columns({"a": "b"})["train"])
        [{'b': 1}]
        """
        return self._each(lambda stream: stream.rename_columns(column_mapping))

    def cast(self, features: Features) -> Self:
        """Other types for the columns of every split; see `IterableDataset.cast`.

        >>> from datasets_core import Value
        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
        >>> list(splits.cast(Features({"a": Value("string")}))["train"])
        [{'a': '1'}]
        """
        return self._each(lambda stream: stream.cast(features))

    def cast_column(self, column: str, feature: FeatureType) -> Self:
        """Another type for a column of every split; see `IterableDataset.cast_column`.

        >>> from datasets_core import Value
        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
        >>> list(splits.cast_column("a", Value("string"))["train"])
        [{'a': '1'}]
        """
        return self._each(lambda stream: stream.cast_column(column, feature))

    def with_format(self, type: str | None = None) -> Self:
        """The rows of every split in another format; see `IterableDataset.with_format`.

        >>> splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1]})})
        >>> next(iter(splits.with_format("arrow")["train"])).num_rows
        1
        """
        return self._each(lambda stream: stream.with_format(type))

    def push_to_hub(
        self,
        repo_id: str,
        config_name: str = "default",
        set_default: bool | None = None,
        data_dir: str | None = None,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: str | bool | None = None,
        revision: str | None = None,
        create_pr: bool | None = False,
        max_shard_size: int | str | None = None,
        num_shards: Mapping[str, int | None] | None = None,
        embed_external_files: bool = True,
        num_proc: int | None = None,
    ) -> CommitInfo:
        """Push every split to a dataset repository of the Hub, by one commit; see `IterableDataset.push_to_hub`.

        They become all splits of the config: others that it had in the repository are removed.

        Args:
            num_shards: number of files of each split; a split without one makes as many as it comes to.

        Raises:
            ConfigurationError: the splits have different features, or as for `IterableDataset.push_to_hub`.
        """
        from datasets_core.stream.io.push import push_streams

        target = target_of(locals(), replaces_config=True)
        files = shards_by_split(num_shards, self)
        return push_streams(self._streams(), target, max_shard_size, files, embeds=embed_external_files, num_proc=num_proc)

    def save_to_disk(
        self,
        dataset_dict_path: str | os.PathLike[str],
        max_shard_size: int | str | None = None,
        num_shards: Mapping[str, int | None] | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Save every split to one folder, which `load_from_disk` opens as a `DatasetDict`; see `IterableDataset.save_to_disk`.

        The rows are written beside the folder, which shows them when all splits are there.  A save that was cut short goes on
        where it stood: splits, and files of the split that was begun, that are finished are not read again.

        Args:
            dataset_dict_path: local folder or URL.
            max_shard_size: bytes of rows of a file, about.
            num_shards: number of files of each split; a split without one makes as many as `max_shard_size` asks for.
            storage_options: for the file system of a URL.

        Raises:
            ConfigurationError: a split cannot name a folder, or `num_shards` names none; as for `IterableDataset.save_to_disk`.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     IterableDatasetDict({"train": IterableDataset.from_dict({"a": [1, 2]})}).save_to_disk(folder)
        ...     DatasetDict.load_from_disk(folder)["train"]["a"][:]
        [1, 2]
        """
        files = shards_by_split(num_shards, self)
        from datasets_core.stream.io.files import save_streams  # 15 ms that reading does without

        save_streams(self._streams(), dataset_dict_path, max_shard_size, files, storage_options, group=True)

    def _streams(self) -> dict[str, IterableDataset]:
        for name, stream in self.items():
            if not isinstance(stream, IterableDataset):
                raise ArgumentTypeError(
                    f"Split {name!r} of this IterableDatasetDict holds {type(stream).__name__}, no IterableDataset. "
                    "Put an IterableDataset there."
                )
        return dict(self)

    def _each(self, act: Callable[[IterableDataset], IterableDataset]) -> Self:
        return type(self)({name: _noted(name, partial(act, stream)) for name, stream in self._streams().items()})


def _noted(split: str, act: Callable[[], IterableDataset]) -> IterableDataset:
    """What is done to one split; an error says to which."""
    try:
        return act()
    except Exception as error:
        error.add_note(f"This happened in split {split!r}.")
        raise


def _with_split(function: Callable[..., Any], split: str, *arguments: Any, **kwargs: Any) -> Any:
    return function(*arguments, split, **kwargs)
