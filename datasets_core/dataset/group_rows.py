"""The rows of every split: mapped, filtered, shuffled, sorted, written anew."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from datasets_core.dataset.grouped import Grouped
from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features

if TYPE_CHECKING:
    from numpy.random import Generator


class GroupRows(Grouped):
    """What is done to the rows of each split."""

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        with_split: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        fn_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        desc: str | None = None,
        try_original_type: bool | None = True,
        on_mixed_types: Literal["use_json"] | None = None,
    ) -> Self:
        """What `function` makes of the rows of every split; see `Dataset.map`.

        Args:
            with_split: the function takes the name of the split as its last argument.
            cache_file_names: the file of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.map(lambda row, split: {"from": split}, with_split=True)["test"][0]
        {'a': 2, 'from': 'test'}
        """
        files = self._by_split("cache_file_names", cache_file_names)
        return self._map_named(
            lambda split, dataset: dataset.map(
                function=with_name_of(function, split) if with_split and function is not None else function,
                with_indices=with_indices,
                with_rank=with_rank,
                input_columns=input_columns,
                batched=batched,
                batch_size=batch_size,
                drop_last_batch=drop_last_batch,
                remove_columns=remove_columns,
                keep_in_memory=keep_in_memory,
                load_from_cache_file=load_from_cache_file,
                cache_file_name=files[split],
                writer_batch_size=writer_batch_size,
                features=features,
                disable_nullable=disable_nullable,
                fn_kwargs=fn_kwargs,
                num_proc=num_proc,
                desc=desc,
                try_original_type=try_original_type,
                on_mixed_types=on_mixed_types,
            )
        )

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
        fn_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        desc: str | None = None,
    ) -> Self:
        """The rows of every split of which `function` says so; see `Dataset.filter`.

        >>> DatasetDict({"train": Dataset.from_dict({"a": [1, 2]})}).filter(lambda row: row["a"] > 1).num_rows
        {'train': 1}
        """
        files = self._by_split("cache_file_names", cache_file_names)
        return self._map_named(
            lambda split, dataset: dataset.filter(
                function=function,
                with_indices=with_indices,
                with_rank=with_rank,
                input_columns=input_columns,
                batched=batched,
                batch_size=batch_size,
                keep_in_memory=keep_in_memory,
                load_from_cache_file=load_from_cache_file,
                cache_file_name=files[split],
                writer_batch_size=writer_batch_size,
                fn_kwargs=fn_kwargs,
                num_proc=num_proc,
                desc=desc,
            )
        )

    def shuffle(
        self,
        seeds: int | dict[str, int | None] | None = None,
        seed: int | None = None,
        generators: dict[str, Generator] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        """The rows of every split in random order; see `Dataset.shuffle`.

        Args:
            seeds: a seed for each split, or one for all.
            seed: one for all.
            generators: a numpy generator for each split.

        >>> DatasetDict({"train": Dataset.from_dict({"a": [1, 2, 3, 4]})}).shuffle(seed=42)["train"]["a"][:]
        [4, 3, 2, 1]

        Raises:
            ConfigurationError: both `seed` and `seeds`, or no entry for a split.
        """
        if seed is not None and seeds is not None:
            raise ConfigurationError("shuffle() got seed and seeds. Give one of them.")
        one = seed if seed is not None else seeds
        chosen = self._by_split("seeds", one) if one is None or isinstance(one, dict) else dict.fromkeys(self, one)
        chances = self._by_split("generators", generators)
        files = self._by_split("indices_cache_file_names", indices_cache_file_names)
        return self._map_named(
            lambda split, dataset: dataset.shuffle(
                seed=chosen[split],
                generator=chances[split],
                keep_in_memory=keep_in_memory,
                load_from_cache_file=load_from_cache_file,
                indices_cache_file_name=files[split],
                writer_batch_size=writer_batch_size,
            )
        )

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        """The rows of every split in the order of the values of columns; see `Dataset.sort`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.sort("a")["train"]["a"][:]
        [1, 3]
        """
        files = self._by_split("indices_cache_file_names", indices_cache_file_names)
        return self._map_named(
            lambda split, dataset: dataset.sort(
                column_names=column_names,
                reverse=reverse,
                null_placement=null_placement,
                keep_in_memory=keep_in_memory,
                load_from_cache_file=load_from_cache_file,
                indices_cache_file_name=files[split],
                writer_batch_size=writer_batch_size,
            )
        )

    def flatten_indices(
        self,
        keep_in_memory: bool = False,
        cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The selected rows of every split written anew, in their order; see `Dataset.flatten_indices`.

        Neither `writer_batch_size`, `disable_nullable` nor `num_proc` has an effect.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.shuffle(seed=1).flatten_indices().num_rows
        {'train': 2, 'test': 1}
        """
        files = self._by_split("cache_file_names", cache_file_names)
        return self._map_named(
            lambda split, dataset: dataset.flatten_indices(
                keep_in_memory=keep_in_memory,
                cache_file_name=files[split],
                writer_batch_size=writer_batch_size,
                features=features,
                disable_nullable=disable_nullable,
                num_proc=num_proc,
                new_fingerprint=None if new_fingerprint is None else f"{new_fingerprint}-{split}",
            )
        )

    def cleanup_cache_files(self) -> dict[str, int]:
        """Delete results of transforms that no split shows, and say how many for each; see `Dataset.cleanup_cache_files`.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
        ...     splits = DatasetDict({"train": Dataset.load_from_disk(folder)})
        ...     _ = splits.map(lambda row: {"b": row["a"]})  # kept beside the rows, and not shown any more
        ...     splits.cleanup_cache_files()
        {'train': 1}
        """
        return self._each(lambda dataset: dataset.cleanup_cache_files())


def with_name_of(function: Callable[..., Any], split: str) -> Callable[..., Any]:
    """A function that gets the name of the split as one more argument, the last by position.

    >>> with_name_of(lambda row, split: (row, split), "train")(1)
    (1, 'train')
    """
    if inspect.iscoroutinefunction(function):

        async def named_later(*values: Any, **options: Any) -> Any:
            return await function(*values, split, **options)

        return named_later

    def named(*values: Any, **options: Any) -> Any:
        return function(*values, split, **options)

    return named
