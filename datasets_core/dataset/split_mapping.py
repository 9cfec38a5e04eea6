"""`Grouped`: a dict of datasets by split whose methods apply to each split; base of `DatasetDict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import pyarrow as pa

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownSplitError
from datasets_core.store.rows.column import group_text

T = TypeVar("T")


class Grouped(dict[str, Dataset]):
    """Datasets by split."""

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
        """The Arrow table behind each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.data["train"].column("a").to_pylist()
        [3, 1]
        """
        return self._each(lambda dataset: dataset.data)

    @property
    def cache_files(self) -> dict[str, list[dict[str, str]]]:
        """The files behind each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.cache_files
        {'train': [], 'test': []}
        """
        return self._each(lambda dataset: dataset.cache_files)

    @property
    def num_rows(self) -> dict[str, int]:
        """Number of rows of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.num_rows
        {'train': 2, 'test': 1}
        """
        return self._each(lambda dataset: dataset.num_rows)

    @property
    def num_columns(self) -> dict[str, int]:
        """Number of columns of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.num_columns
        {'train': 1, 'test': 1}
        """
        return self._each(lambda dataset: dataset.num_columns)

    @property
    def column_names(self) -> dict[str, list[str]]:
        """Names of the columns of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.column_names
        {'train': ['a'], 'test': ['a']}
        """
        return self._each(lambda dataset: dataset.column_names)

    @property
    def shape(self) -> dict[str, tuple[int, int]]:
        """Numbers of rows and columns of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> splits.shape
        {'train': (2, 1), 'test': (1, 1)}
        """
        return self._each(lambda dataset: dataset.shape)

    def __repr__(self) -> str:
        return group_text(self)

    def _repr_html_(self) -> str:
        """The first rows of every split, for a notebook."""
        from datasets_core.dataset.insight.notebook import group_html  # it is for notebooks alone

        return group_html((name, dataset._repr_html_()) for name, dataset in self.items())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for dataset in self.values():
            dataset.__exit__(*error)

    # -- every split ---------------------------------------------------------------------------------------------------

    def _datasets(self) -> dict[str, Dataset]:
        for name, dataset in self.items():
            if not isinstance(dataset, Dataset):
                raise ArgumentTypeError(
                    f"Split {name!r} of this DatasetDict holds {type(dataset).__name__}, no Dataset. Put a Dataset there."
                )
        return dict(self)

    def _each(self, act: Callable[[Dataset], T]) -> dict[str, T]:
        return self._each_named(lambda _, dataset: act(dataset))

    def _each_named(self, act: Callable[[str, Dataset], T]) -> dict[str, T]:
        """Return the result of `act` for each split; an error names its split."""
        made = {}
        for name, dataset in self._datasets().items():
            try:
                made[name] = act(name, dataset)
            except Exception as error:
                error.add_note(f"This happened in split {name!r}.")
                raise
        return made

    def _map(self, act: Callable[[Dataset], Dataset]) -> Self:
        return type(self)(self._each(act))

    def _map_named(self, act: Callable[[str, Dataset], Dataset]) -> Self:
        return type(self)(self._each_named(act))

    def _by_split(self, argument: str, given: Any) -> dict[str, Any]:
        """Return an argument that is a dict with an entry for each split, or None.

        Raises:
            ConfigurationError: another value, or a split without an entry.
        """
        if given is None:
            return dict.fromkeys(self)
        names = ", ".join(map(repr, self))
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"{argument} is {given!r}. Give a dict with an entry for each split: {names}.")
        missing = [name for name in self if name not in given]
        if missing:
            raise ConfigurationError(f"{argument} has no entry for split {missing[0]!r}. Give one for each split: {names}.")
        return {name: given[name] for name in self}
