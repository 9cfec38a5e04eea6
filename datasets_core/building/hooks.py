"""What an author writes: `_info`, `_split_generators`, `_generate_*`, and the `SplitGenerator`s between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from datasets_core.meta.split_info import SplitInfo

if TYPE_CHECKING:
    import pyarrow as pa

    from datasets_core.building.builder_config import BuilderConfig
    from datasets_core.building.live_marks import Mark
    from datasets_core.engines.deadline import Deadline
    from datasets_core.features.order_free import Facts
    from datasets_core.fetch.checksum import RegisteredFile
    from datasets_core.meta.info import DatasetInfo
    from datasets_core.meta.row_blocks import RowBlocks
    from datasets_core.meta.version import Version


@dataclasses.dataclass
class SplitGenerator:
    """One split: its name, and the arguments that make its rows.

    Args:
        name: `Split.TRAIN`, `"train"` or a name of your own.
        gen_kwargs: keyword arguments of `_generate_examples` or `_generate_tables`.  Lists of equal length divide the split
            into jobs.

    >>> SplitGenerator("train", {"files": ["a.txt", "b.txt"]}).split_info.name
    'train'
    """

    name: str
    gen_kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    split_info: SplitInfo = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.name = str(self.name)
        self.split_info = SplitInfo(name=self.name)


class Reread(Exception):
    """Raised by a `_generate_tables` that needs its text again, to read it with a wider schema.

    Args:
        schema: the schema to read with; the builder finds it as `self.read_schema` when it runs again.
    """

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__(schema)
        self.schema = schema


class Part(Protocol):
    """What the making of rows needs of a job: which part of which split."""

    @property
    def split(self) -> str:
        """The split."""
        ...

    @property
    def gen_kwargs(self) -> dict[str, Any]:
        """The arguments of this part."""
        ...

    @property
    def index(self) -> int:
        """Which part."""
        ...

    @property
    def count(self) -> int:
        """Of how many."""
        ...

    @property
    def batch_rows(self) -> int | None:
        """Rows of a batch at most; None for the settings' own."""
        ...

    @property
    def max_rows(self) -> int | None:
        """Rows to make at most; None for all."""
        ...

    @property
    def deadline(self) -> Deadline | None:
        """When the author's code is to be done."""
        ...

    @property
    def is_order_free(self) -> bool:
        """Whether rows decide about columns and types, and in whatever order they come for the same."""
        ...

    @property
    def skip(self) -> int:
        """Rows at the beginning that are made, and left out; they count among `max_rows`."""
        ...

    @property
    def is_live(self) -> bool:
        """Whether somebody waits for each row: the first batch is one row, and those before a failure come before it."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Encoded:
    """Rows as a batch.

    Attributes:
        keys: one for each row.
        batch: the rows.
        facts: what is known of all rows up to now, where they are encoded without an order.
    """

    keys: Sequence[Any]
    batch: pa.RecordBatch
    facts: Facts | None = None


class Hooks(Protocol):
    """What a job needs of a builder."""

    yields: ClassVar[Literal["rows", "tables"]]
    shuffle_on_write: ClassVar[bool]
    is_of_old_datasets: ClassVar[bool]
    is_confined: ClassVar[bool]
    rereads: bool
    merge_columns: bool
    read_schema: pa.Schema | None
    dataset_name: str
    config: BuilderConfig
    info: DatasetInfo

    @property
    def denied(self) -> tuple[str, ...]:
        """What its code, confined, was denied so far and went on without, in words."""
        ...

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        ...

    @property
    def reads_in_order(self) -> bool:
        """Whether it is a format, which reads file after file, and each alike whichever files stand beside it."""
        ...

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """How the rows lie in the files of a part, where their footers tell of blocks that are read alone."""
        ...

    def with_schema(self, schema: pa.Schema) -> Hooks:
        """A copy that reads with `schema`."""
        ...

    def reading_live(self, mark: Mark | None) -> Hooks:
        """A copy that reads a file as it comes, in blocks that tell marks, and from a mark on; itself where there are none."""
        ...

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
        """The type that holds what a reader of text makes of both, None where only text does."""
        ...

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Pairs of key and row (or table)."""
        ...

    def encoded_rows(self, job: Part, *, first: list[Any] | None = None, copies: bool = False) -> Generator[Encoded]:
        """The rows of a part, as batches: see `building.row_chunks`."""
        ...

    def made_tables(self, job: Part) -> Generator[tuple[Any, pa.Table | pa.RecordBatch], None, object]:
        """The keys and tables of a part: see `building.row_chunks`."""
        ...

    def place_of_row(self, job: Part, row: int, key: Any) -> str | None:
        """`FILE, line N` of what yielded a row, as well as that is known: see `building.author_places`."""
        ...


class Builder(Hooks, Protocol):
    """What a build needs of a builder."""

    hash: str
    config_id: str
    recorded: DatasetInfo
    is_partial: bool
    token: bool | str | None
    storage_options: dict[str, Any]
    writer_batch_size: int | None
    download_dir: str | None
    commit_sha: str | None
    locked_checksums: Mapping[str, RegisteredFile]
    is_stopped_by_timer: ClassVar[bool]

    @property
    def cache_dir(self) -> str:
        """The folder of the finished dataset in the cache."""
        ...

    @property
    def checksums_path(self) -> str | None:
        """Where the checksums of its downloads are registered; None where there is no place for them."""
        ...

    @property
    def version(self) -> Version:
        """Its version."""
        ...

    @property
    def manual_download_instructions(self) -> str | None:
        """What the user has to fetch by hand."""
        ...

    @property
    def cache_root(self) -> str:
        """The cache, or the data folder, in which that folder stands."""
        ...

    def has_source(self, path: str) -> bool:
        """Whether a local file that the arguments of a split name may be looked into."""
        ...

    def split_generators(self, dl_manager: Any) -> Any:
        """The `SplitGenerator`s of its splits."""
        ...
