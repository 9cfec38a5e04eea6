"""The rows as what other tools hold: Python values, frames, files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from datasets_core.dataset.tabled import Tabled


class Export(Tabled):
    """Rows handed over."""

    def to_dict(
        self, batch_size: int | None = None, batched: bool = False
    ) -> dict[str, list[Any]] | Iterator[dict[str, list[Any]]]:
        """The rows as columns of Python values, at once or (`batched`) in batches."""
        plain = self.with_format(None)
        if not batched:
            return dict(plain._batch(range(self.num_rows)))
        return plain.iter(1000 if batch_size is None else batch_size)

    def to_list(self) -> list[dict[str, Any]]:
        """The rows as a list of dicts."""
        return list(self.with_format(None))
