"""Other columns: chosen, renamed, and of other types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from datasets_core.dataset.arguments import names_of
from datasets_core.dataset.tabled import Tabled
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.format.formatter import RowFormat


class ColumnChanges(Tabled):
    """Columns left out, renamed, or changed in kind."""

    def select_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Self:
        """The columns `column_names`, in that order.

        Raises:
            UnknownColumnError: a column that does not exist.
        """
        names = names_of(column_names)
        self._check_columns(names)
        return self._with_columns({name: name for name in names}, new_fingerprint)

    def remove_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Self:
        """Every column but `column_names`.

        Raises:
            UnknownColumnError: a column that does not exist.
        """
        names = names_of(column_names)
        self._check_columns(names)
        return self._with_columns({name: name for name in self.column_names if name not in names}, new_fingerprint)

    def rename_column(self, original_column_name: str, new_column_name: str, new_fingerprint: str | None = None) -> Self:
        """The same rows with one column called otherwise."""
        return self.rename_columns({original_column_name: new_column_name}, new_fingerprint)

    def rename_columns(self, column_mapping: Mapping[str, str], new_fingerprint: str | None = None) -> Self:
        """The same rows with columns called otherwise; names may change places.

        >>> Dataset(pa.table({"a": [1], "b": [2]})).rename_columns({"a": "b", "b": "a"})[0]
        {'b': 1, 'a': 2}

        Raises:
            UnknownColumnError: a column that does not exist.
            ConfigurationError: an empty name, or a name that two columns would have.
        """
        if not isinstance(column_mapping, Mapping):
            raise ArgumentTypeError(f"rename_columns() takes a dict from old to new names, found {column_mapping!r}. Give one.")
        self._check_columns(column_mapping)
        renamed = {name: column_mapping.get(name, name) for name in self.column_names}
        taken: set[str] = set()
        for name in renamed.values():
            if not isinstance(name, str) or not name:
                raise ConfigurationError(f"{name!r} is no name for a column. Give a text that is not empty.")
            if name in taken:
                raise ConfigurationError(f"Two columns would be called {name!r}. Choose a name that no column has.")
            taken.add(name)
        return self._with_columns(renamed, new_fingerprint)

    def _with_columns(self, renamed: Mapping[str, str], new_fingerprint: str | None) -> Self:
        """The columns `renamed` (old name → new name), in that order."""
        other = self._derived("columns", dict(renamed), new_fingerprint=new_fingerprint)
        other._info.features = Features({new: self.features[old] for old, new in renamed.items()})
        other._table = self._table
        if list(renamed) != self.column_names:
            other._table = other._table.select(list(renamed))
        if list(renamed.values()) != list(renamed):
            other._table = other._table.rename(list(renamed.values()))
        if self._format.columns is not None:
            kept = tuple(renamed[name] for name in self._format.columns if name in renamed)
            other._format = RowFormat(self._format.type, kept, self._format.is_complete, self._format.kwargs)
        return other
