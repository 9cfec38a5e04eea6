"""One row of the table, and one cell of it: where the data is, where it may write, which library it measures."""

import glob
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

Timed = Callable[[], Any]


@dataclass(frozen=True)
class Context:
    """One cell: where its data is, where it may write, and the module it measures ("" for by hand)."""

    data: Path
    scratch: Path
    warm: Path
    scale: float
    module: str

    @property
    def library(self) -> Any:
        """The module under measurement, its names opened: a lazy import is no work of the row that comes first."""
        module = import_module(self.module)
        for name in ("load_dataset", "Dataset", "GeneratorBasedBuilder"):
            getattr(module, name)
        return module

    def files(self, kind: str) -> list[str]:
        """The data files of one kind."""
        return sorted(glob.glob(str(self.data / kind / "*")))

    def rows(self, count: int) -> int:
        """A count at this scale."""
        return max(1000, int(count * self.scale))


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Attributes:
        title: of the row.
        library: what is timed, for a library with the API of `datasets`.
        by_hand: the same over pyarrow.
        data: the kinds of files that it reads.
        prepare: what is done once, before.
        counts: tell how many Arrow files were opened.
        is_peer: whether `datasets` has it.
        place: what is prepared, where other rows share it.
        by_wall: compare wall times: work is done in processes that are no children.
    """

    title: str
    library: Callable[[Context], Timed]
    by_hand: Callable[[Context], Timed] | None
    data: tuple[str, ...] = ()
    prepare: Callable[[Context], Any] | None = None
    counts: bool = False
    is_peer: bool = True
    place: str = ""
    by_wall: bool = False


FORMATS = {"csv": "csv", "jsonl": "json", "nested": "json", "parquet": "parquet", "text": "text", "small": "json", "big": "csv"}


def load(context: Context, kind: str, cache: Path, **options: Any) -> Any:
    return context.library.load_dataset(
        FORMATS[kind], data_files=context.files(kind), split="train", cache_dir=str(cache), **options
    )
