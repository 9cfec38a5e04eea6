"""What is known of a stream, as attributes of the stream itself."""

from __future__ import annotations

from datasets_core.features.schema import Features
from datasets_core.rows.described import Described
from datasets_core.stream.plan import Plan


class Known(Described):
    """What the info of a stream and its plan say."""

    _plan: Plan

    @property
    def features(self) -> Features | None:
        """Name and kind of each column; None where only the rows will tell, as behind `map` without `features=`.

        Where the files of a format are streamed, and nothing else tells, the first file does, which is read for it.
        """
        return self._plan.told_features() if self._info.features is None else self._info.features

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns; None where only the rows will tell."""
        return None if (found := self.features) is None else list(found)

    @property
    def num_columns(self) -> int | None:
        """Number of columns; None where only the rows will tell."""
        return None if (found := self.features) is None else len(found)

    @property
    def num_shards(self) -> int:
        """Into how many parts the rows divide among the workers of a loader."""
        return self._plan.num_shards

    @property
    def n_shards(self) -> int:
        """The same as `num_shards`."""
        return self.num_shards
