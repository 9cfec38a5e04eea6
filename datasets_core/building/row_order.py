"""What a job keeps of the keys of its rows, so that the rows of the whole split can be put in order."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from datasets_core.building.jobs import ShardJob
from datasets_core.building.key_hash import Words, hash_words, integer_words
from datasets_core.building.sorted_runs import Run, RunWriter, order_file
from datasets_core.store.writer import plain_schema


class RowOrder:
    """The order of the rows of one job.

    Rows whose order and schema are known go into sorted runs; of others the words are kept in a file beside them.

    Args:
        job: whose rows.

    Attributes:
        runs: what takes the rows; None where they go into shards, in the order of the source.
    """

    def __init__(self, job: ShardJob) -> None:
        self._job = job
        self.runs: RunWriter | None = None
        self._file = contextlib.ExitStack()
        self._append: Any = None
        if job.sorts:
            schema = plain_schema(job.builder.info.features.arrow_schema)  # type: ignore[union-attr]
            self.runs = RunWriter(job.folder, job.stem, split=job.split, schema=schema)
        elif job.order != "source":
            self._append = self._file.enter_context(order_file(job.folder, self._name))

    def __enter__(self) -> RowOrder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
        if error is not None and self.runs is None and self._job.order != "source":
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._job.folder, self._name))

    def take(self, keys: Sequence[Any], row: int) -> Words | None:
        """The hashes of the keys of the next rows; None where keys do not decide about the order.

        Raises:
            InvalidKeyError: a key without a hash.
        """
        if self._job.order == "source":
            return None
        words = hash_words(keys, self._job.split, first_row=row)
        if self.runs is not None:
            self.runs.tell(words)
        elif self._append is not None:
            kept = words if self._job.order == "hash" else integer_words(keys, first_row=row)
            if kept is None:  # a key that is no integer: the rows stay as they come
                self._append = None
            else:
                self._append(np.ascontiguousarray(kept.T))
        return words

    def finish(self) -> tuple[tuple[Run, ...], str | None]:
        """The runs, and the file of the words, on the disk."""
        self._file.close()
        if self.runs is not None:
            return tuple(self.runs.runs), None
        return (), None if self._append is None else self._name

    @property
    def _name(self) -> str:
        return f"{self._job.stem}.words"
