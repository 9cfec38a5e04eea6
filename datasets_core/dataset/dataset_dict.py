"""The rows of every split: mapped, filtered, shuffled, sorted, written anew."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, Self

from datasets_core.dataset.split_mapping import Grouped
from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.meta.splits import NamedSplit

if TYPE_CHECKING:
    from numpy.random import Generator

    from datasets_core.fetch.hub.client import CommitInfo


# The columns of every split: chosen, renamed, cast, encoded, flattened; and the formats that rows come in.


class GroupColumns(Grouped):
    """What is done to the columns of each split."""

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """The columns `column_names` of every split.

        >>> train, test = Dataset.from_dict({"a": [1], "b": ["x"]}), Dataset.from_dict({"a": [2], "b": ["y"]})
        >>> splits = DatasetDict({"train": train, "test": test})
        >>> splits.select_columns("b")["test"][0]
        {'b': 'y'}

        Raises:
            UnknownColumnError: a column that a split lacks.
        """
        return self._map(lambda dataset: dataset.select_columns(column_names))

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """Every column but `column_names`, of every split.

        >>> train, test = Dataset.from_dict({"a": [1], "b": ["x"]}), Dataset.from_dict({"a": [2], "b": ["y"]})
        >>> splits = DatasetDict({"train": train, "test": test})
        >>> splits.remove_columns("b")["test"][0]
        {'a': 2}

        Raises:
            UnknownColumnError: a column that a split lacks.
        """
        return self._map(lambda dataset: dataset.remove_columns(column_names))

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """One column called otherwise, in every split.

        >>> train, test = Dataset.from_dict({"a": [1], "b": ["x"]}), Dataset.from_dict({"a": [2], "b": ["y"]})
        >>> splits = DatasetDict({"train": train, "test": test})
        >>> splits.rename_column("b", "text")["test"][0]
        {'a': 2, 'text': 'y'}
        """
        return self._map(lambda dataset: dataset.rename_column(original_column_name, new_column_name))

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Columns called otherwise, in every split.

        >>> train, test = Dataset.from_dict({"a": [1], "b": ["x"]}), Dataset.from_dict({"a": [2], "b": ["y"]})
        >>> splits = DatasetDict({"train": train, "test": test})
        >>> splits.rename_columns({"a": "id", "b": "text"})["test"][0]
        {'id': 2, 'text': 'y'}
        """
        return self._map(lambda dataset: dataset.rename_columns(column_mapping))

    def cast(self, features: Features) -> Self:
        """The columns of every split under other features; see `Dataset.cast`.

        >>> train, test = Dataset.from_dict({"a": [1], "b": ["x"]}), Dataset.from_dict({"a": [2], "b": ["y"]})
        >>> splits = DatasetDict({"train": train, "test": test})
        >>> splits.cast(Features({"a": Value("int8"), "b": Value("string")}))["test"].features["a"]
        Value('int8')
        """
        return self._map(lambda dataset: dataset.cast(features))

    def cast_column(self, column: str, feature: Any) -> Self:
        """One column of every split under another feature; see `Dataset.cast`.

        >>> DatasetDict({"train": Dataset.from_dict({"a": [1]})}).cast_column("a", Value("string"))["train"][0]
        {'a': '1'}
        """
        return self._map(lambda dataset: dataset.cast_column(column, feature))

    def class_encode_column(self, column: str, include_nulls: bool = False) -> Self:
        """A column of every split as class labels, each split with the classes that it has.

        Splits that do not have the same values get other classes; `cast_column` with one `ClassLabel` gives all the same.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": ["x", "b"]})}).class_encode_column("a")
        >>> splits["train"].features["a"]
        ClassLabel(names=['b', 'x'])
        """
        return self._map(lambda dataset: dataset.class_encode_column(column, include_nulls))

    def align_labels_with_mapping(self, label2id: dict[str, int], label_column: str) -> Self:
        """The labels of every split numbered as `label2id` says; see `Dataset.align_labels_with_mapping`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": ["cat", "dog"]}).class_encode_column("a")})
        >>> splits.align_labels_with_mapping({"dog": 0, "cat": 1}, "a")["train"]["a"][:]
        [1, 0]
        """
        return self._map(lambda dataset: dataset.align_labels_with_mapping(label2id, label_column))

    def flatten(self, max_depth: int = 16) -> Self:
        """Each field of a column of structs as a column of its own, in every split; see `Dataset.flatten`.

        >>> DatasetDict({"train": Dataset.from_dict({"a": [{"b": 1}]})}).flatten()["train"][0]
        {'a.b': 1}
        """
        return self._map(lambda dataset: dataset.flatten(max_depth=max_depth))

    def unique(self, column: str) -> dict[str, list[Any]]:
        """The values of a column, each once, for each split.

        >>> DatasetDict({"train": Dataset.from_dict({"a": [2, 2, 1]})}).unique("a")
        {'train': [2, 1]}
        """
        return self._each(lambda dataset: dataset.unique(column))

    # -- formats -------------------------------------------------------------------------------------------------------

    def set_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Set the format of every split, or of none where one refuses it; see `Dataset.set_format`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.set_format("numpy")
        >>> splits["train"][:]["a"]
        array([3, 1])
        """
        self._each(lambda dataset: dataset.with_format(type, columns, output_all_columns, **format_kwargs))  # all, or none
        self._each(lambda dataset: dataset.set_format(type, columns, output_all_columns, **format_kwargs))

    def with_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Self:
        """Every split with another format; see `Dataset.set_format`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.with_format("numpy")["train"][:]["a"]
        array([3, 1])
        """
        return self._map(lambda dataset: dataset.with_format(type, columns, output_all_columns, **format_kwargs))

    def reset_format(self) -> None:
        """Have the rows of every split come out as plain Python again.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> arrays = splits.with_format("numpy")
        >>> arrays.reset_format()
        >>> arrays["train"][:]["a"]
        [3, 1]
        """
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """Another format of every split, for the block.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> with splits.formatted_as("numpy"):
        ...     print(splits["train"][:]["a"] + splits["test"][:]["a"])
        [5 3]
        """
        with ExitStack() as stack:
            for dataset in self._datasets().values():
                stack.enter_context(dataset.formatted_as(type, columns, output_all_columns, **format_kwargs))
            yield

    def set_transform(
        self,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> None:
        """Have batches of every split pass through `transform` when they are read; see `Dataset.set_transform`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.set_transform(lambda batch: {"double": [2 * value for value in batch["a"]]})
        >>> splits["test"][0]
        {'double': 4}
        """
        self._each(lambda dataset: dataset.with_transform(transform, columns, output_all_columns))  # all, or none
        self._each(lambda dataset: dataset.set_transform(transform, columns, output_all_columns))

    def with_transform(
        self,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> Self:
        """Every split with batches that pass through `transform` when they are read; see `Dataset.set_transform`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.with_transform(lambda batch: {"double": [2 * value for value in batch["a"]]})["test"][0]
        {'double': 4}
        """
        return self._map(lambda dataset: dataset.with_transform(transform, columns, output_all_columns))


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


# `DatasetDict`: the datasets of several splits, by name.


Path = str | os.PathLike[str]
Paths = Path | Sequence[Path]


class DatasetDict(GroupColumns, GroupRows):
    """Datasets by the name of their split; what is done to it is done to each.

    >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1, 2]}), "test": Dataset.from_dict({"a": [3]})})
    >>> splits.num_rows, splits.rename_column("a", "b")["test"][0]
    ({'train': 2, 'test': 1}, {'b': 3})
    """

    # -- files ---------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_csv(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The rows of csv files by split; files without a split are "train".  See `Dataset.from_csv`.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write("x,y")
        ...     DatasetDict.from_csv({"test": path}, cache_dir=folder).column_names
        {'test': ['x', 'y']}
        """
        from datasets_core.dataset.dataset import Dataset

        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_csv, path_or_paths, options)

    @staticmethod
    def from_json(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The rows of JSON files by split; files without a split are "train".  See `Dataset.from_json`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.jsonl")
        ...     _ = path.write_text('{"a": 1}')
        ...     DatasetDict.from_json({"test": path}, cache_dir=folder, keep_in_memory=True)["test"][0]
        {'a': 1}
        """
        from datasets_core.dataset.dataset import Dataset

        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_json, path_or_paths, options)

    @staticmethod
    def from_parquet(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        **kwargs: Any,
    ) -> DatasetDict:
        """The rows of Parquet files by split; files without a split are "train".  See `Dataset.from_parquet`.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.parquet")
        ...     _ = Dataset.from_dict({"a": [1], "b": [2]}).to_parquet(path)
        ...     DatasetDict.from_parquet({"test": path}, cache_dir=folder, keep_in_memory=True, columns=["b"])["test"][0]
        {'b': 2}
        """
        from datasets_core.dataset.dataset import Dataset

        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_parquet, path_or_paths, {**options, "columns": columns})

    @staticmethod
    def from_text(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The lines of text files by split; files without a split are "train".  See `Dataset.from_text`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text('one\\ntwo')
        ...     DatasetDict.from_text({"test": path}, cache_dir=folder, keep_in_memory=True)["test"][1]
        {'text': 'two'}
        """
        from datasets_core.dataset.dataset import Dataset

        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_text, path_or_paths, options)

    @staticmethod
    def from_tfrecord(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The records of TFRecord files by split; files without a split are "train".  See `Dataset.from_tfrecord`.

        >>> import os, tempfile
        >>> from datasets_core.records import TFRecordWriter, encode_example
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.tfrecord")
        ...     with TFRecordWriter(path) as writer:
        ...         writer.write(encode_example({"label": 7}))
        ...     DatasetDict.from_tfrecord({"test": path}, cache_dir=folder, keep_in_memory=True)["test"][0]
        {'label': 7}
        """
        from datasets_core.dataset.dataset import Dataset

        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_tfrecord, path_or_paths, options)

    def save_to_disk(
        self,
        dataset_dict_path: Path,
        max_shard_size: int | str | None = None,
        num_shards: dict[str, int] | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Save every split to one folder, for `load_from_disk`; see `Dataset.save_to_disk`.

        Whenever it is broken off, the folder holds the old copy of all splits or the new one.

        Args:
            num_shards: number of files of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     splits.save_to_disk(folder, num_shards={"train": 2, "test": 1})
        ...     sorted(name for name in os.listdir(os.path.join(folder, "train")) if name.endswith(".arrow"))
        ['data-00000-of-00002.arrow', 'data-00001-of-00002.arrow']
        """
        from datasets_core.io.save_to_disk import save_group  # 5 ms that other reading does without

        save_group(self._datasets(), dataset_dict_path, max_shard_size, num_shards, num_proc, storage_options)

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
        """Push every split to a dataset repository of the Hub, by one commit; see `Dataset.push_to_hub`.

        They become all splits of the config: others that it had in the repository are removed.

        Args:
            num_shards: number of files of each split; splits without one get as many as `max_shard_size` asks for.

        Raises:
            ConfigurationError: the splits have different features, or as for `Dataset.push_to_hub`.
        """
        from datasets_core.io.push_parquet import push_datasets

        given = locals()
        from datasets_core.io.push_target import (
            shards_by_split,
            target_of,  # 5 ms that reading does without
        )

        target = target_of(given, replaces_config=True)
        files = shards_by_split(num_shards, self)
        return push_datasets(self._datasets(), target, max_shard_size, files, embeds=embed_external_files, num_proc=num_proc)

    @staticmethod
    def load_from_disk(
        dataset_dict_path: Path, keep_in_memory: bool | None = None, storage_options: dict[str, Any] | None = None
    ) -> DatasetDict:
        """The splits of a folder that `save_to_disk` made, here or in Hugging Face `datasets`; see `Dataset.load_from_disk`.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     DatasetDict({"train": Dataset.from_dict({"a": [1]})}).save_to_disk(folder)
        ...     DatasetDict.load_from_disk(folder).num_rows
        {'train': 1}
        """
        from datasets_core.dataset.dataset import Dataset
        from datasets_core.io.save_to_disk import load_group

        return DatasetDict(load_group(Dataset, dataset_dict_path, keep_in_memory, storage_options))


def _of_files(read: Any, path_or_paths: Mapping[str, Paths] | Paths, options: dict[str, Any]) -> DatasetDict:
    by_split = path_or_paths if isinstance(path_or_paths, Mapping) else {"train": path_or_paths}
    return DatasetDict({str(split): read(paths, split=NamedSplit(str(split)), **options) for split, paths in by_split.items()})
