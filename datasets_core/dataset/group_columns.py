"""The columns of every split: chosen, renamed, cast, encoded, flattened; and the formats that rows come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from datasets_core.dataset.grouped import Grouped
from datasets_core.features.schema import Features


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
