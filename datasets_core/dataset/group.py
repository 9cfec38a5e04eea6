"""`DatasetDict`: the datasets of several splits, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import pyarrow as pa

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.display import group_text
from datasets_core.errors import ArgumentTypeError, UnknownSplitError

T = TypeVar("T")


class DatasetDict(dict[str, Dataset]):
    """Datasets by the name of their split; what is done to it is done to each.

    >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1, 2]}), "test": Dataset.from_dict({"a": [3]})})
    >>> splits.num_rows, splits.rename_column("a", "b")["test"][0]
    ({'train': 2, 'test': 1}, {'b': 3})
    """

    def __getitem__(self, split: str) -> Dataset:
        """The dataset of a split.

        Raises:
            UnknownSplitError: no such split.
        """
        try:
            return super().__getitem__(split)
        except (KeyError, TypeError):  # TypeError: a list, say, cannot be a key
            raise UnknownSplitError(str(split), known=self) from None

    @property
    def data(self) -> dict[str, pa.Table]:
        """The Arrow table behind each split."""
        return self._each(lambda dataset: dataset.data)

    @property
    def cache_files(self) -> dict[str, list[dict[str, str]]]:
        """The files behind each split."""
        return self._each(lambda dataset: dataset.cache_files)

    @property
    def num_rows(self) -> dict[str, int]:
        """Number of rows of each split."""
        return self._each(lambda dataset: dataset.num_rows)

    @property
    def num_columns(self) -> dict[str, int]:
        """Number of columns of each split."""
        return self._each(lambda dataset: dataset.num_columns)

    @property
    def column_names(self) -> dict[str, list[str]]:
        """Names of the columns of each split."""
        return self._each(lambda dataset: dataset.column_names)

    @property
    def shape(self) -> dict[str, tuple[int, int]]:
        """Numbers of rows and columns of each split."""
        return self._each(lambda dataset: dataset.shape)

    def __repr__(self) -> str:
        return group_text(self)

    def __enter__(self) -> DatasetDict:
        return self

    def __exit__(self, *error: object) -> None:
        for dataset in self.values():
            dataset.__exit__(*error)

    # -- columns -------------------------------------------------------------------------------------------------------

    def select_columns(self, column_names: str | Sequence[str]) -> DatasetDict:
        """The columns `column_names` of every split."""
        return self._map(lambda dataset: dataset.select_columns(column_names))

    def remove_columns(self, column_names: str | Sequence[str]) -> DatasetDict:
        """Every column but `column_names`, of every split."""
        return self._map(lambda dataset: dataset.remove_columns(column_names))

    def rename_column(self, original_column_name: str, new_column_name: str) -> DatasetDict:
        """One column called otherwise, in every split."""
        return self._map(lambda dataset: dataset.rename_column(original_column_name, new_column_name))

    def rename_columns(self, column_mapping: Mapping[str, str]) -> DatasetDict:
        """Columns called otherwise, in every split."""
        return self._map(lambda dataset: dataset.rename_columns(column_mapping))

    # -- formats -------------------------------------------------------------------------------------------------------

    def set_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Set the format of every split; see `Dataset.set_format`."""
        self._each(lambda dataset: dataset.with_format(type, columns, output_all_columns, **format_kwargs))  # all, or none
        self._each(lambda dataset: dataset.set_format(type, columns, output_all_columns, **format_kwargs))

    def with_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> DatasetDict:
        """Every split with another format; see `Dataset.set_format`."""
        return self._map(lambda dataset: dataset.with_format(type, columns, output_all_columns, **format_kwargs))

    def reset_format(self) -> None:
        """Have the rows of every split come out as plain Python again."""
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """Another format of every split, for the block."""
        with ExitStack() as stack:
            for dataset in self._datasets().values():
                stack.enter_context(dataset.formatted_as(type, columns, output_all_columns, **format_kwargs))
            yield

    # -- every split ---------------------------------------------------------------------------------------------------

    def _datasets(self) -> dict[str, Dataset]:
        for name, dataset in self.items():
            if not isinstance(dataset, Dataset):
                raise ArgumentTypeError(
                    f"Split {name!r} of this DatasetDict holds {type(dataset).__name__}, no Dataset. Put a Dataset there."
                )
        return dict(self)

    def _each(self, act: Callable[[Dataset], T]) -> dict[str, T]:
        return {name: act(dataset) for name, dataset in self._datasets().items()}

    def _map(self, act: Callable[[Dataset], Dataset]) -> DatasetDict:
        return DatasetDict(self._each(act))
