"""What is known of each split: `SplitInfo`, `SplitDict`, and the file instructions of a slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from datasets_core.errors import ConfigurationError
from datasets_core.meta.naming import shard_file_name
from datasets_core.meta.rows import absolute, row_ranges
from datasets_core.meta.split import ReadInstruction, is_split_name


@dataclass(frozen=True, slots=True)
class FileInstruction:
    """Rows to read of one shard file.

    Attributes:
        filename: name of the shard.
        skip: rows to leave out at its beginning.
        take: rows to read behind them; -1 is all to the end of the shard.
        examples_in_shard: rows of the whole shard.
    """

    filename: str
    skip: int
    take: int
    examples_in_shard: int

    @property
    def num_examples(self) -> int:
        """Rows that are read."""
        return self.examples_in_shard - self.skip if self.take < 0 else self.take


@dataclass(repr=False)
class SplitInfo:
    """One split as recorded.  None is unknown.

    Args:
        name: name of the split.
        num_bytes: size of its rows as Arrow data.
        num_examples: number of its rows.
        shard_lengths: rows of each shard.
        original_shard_lengths: rows by file of the source, for live reading.
        dataset_name: name of the dataset, which begins the file names.
        shard_names: file name of each shard; not part of the stored form, whose keys are fixed by Hugging Face `datasets`.

    >>> SplitInfo(name="train", num_examples=5, shard_lengths=[3, 2])
    SplitInfo(name='train', num_bytes=0, num_examples=5, shard_lengths=[3, 2])
    """

    name: str = ""
    num_bytes: int | None = 0
    num_examples: int | None = 0
    shard_lengths: list[int] | None = None
    original_shard_lengths: list[int] | None = None
    dataset_name: str | None = None
    shard_names: list[str] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        known = [(item.name, getattr(self, item.name)) for item in fields(self)]
        return f"SplitInfo({', '.join(f'{name}={value!r}' for name, value in known if value is not None)})"

    @property
    def num_shards(self) -> int:
        """Number of shard files; a split without recorded shards counts as one."""
        return 1 if self.shard_lengths is None else len(self.shard_lengths)

    @property
    def lengths(self) -> list[int]:
        """Rows of each shard; a split without recorded shards counts as one.

        Raises:
            ConfigurationError: the number of rows is not recorded.
        """
        if self.shard_lengths is not None:
            return self.shard_lengths
        if self.num_examples is None:
            raise ConfigurationError(f"The number of rows of split {self.name!r} is not recorded. Build the dataset first.")
        return [self.num_examples]

    def file_name(self, shard: int) -> str:
        """The file name of a shard: as recorded, else by the rule."""
        if self.shard_names is not None:
            return self.shard_names[shard]
        return shard_file_name(self.dataset_name or "dataset", self.name, shard, self.num_shards)

    @property
    def file_instructions(self) -> list[FileInstruction]:
        """What to read for all rows of the split."""
        return _instructions(ReadInstruction(self.name), {self.name: self})

    def to_dict(self) -> dict[str, Any]:
        """The form in which Hugging Face `datasets` stores a split."""
        form: dict[str, Any] = {"name": self.name, "num_bytes": self.num_bytes, "num_examples": self.num_examples}
        if self.shard_lengths is not None:
            form["shard_lengths"] = list(self.shard_lengths)
        if self.original_shard_lengths is not None:
            form["original_shard_lengths"] = list(self.original_shard_lengths)
        return {**form, "dataset_name": self.dataset_name}

    @classmethod
    def from_dict(cls, form: Mapping[str, Any], *, name: str | None = None) -> SplitInfo:
        """The split of a stored form; keys of other library versions are left out.

        Raises:
            ConfigurationError: a value of the wrong kind.
        """
        found = cls(
            name=form.get("name") or name or "",
            num_bytes=form.get("num_bytes", 0),
            num_examples=form.get("num_examples", 0),
            shard_lengths=form.get("shard_lengths"),
            original_shard_lengths=form.get("original_shard_lengths"),
            dataset_name=form.get("dataset_name"),
            shard_names=form.get("shard_names"),
        )
        _check(found)
        return found


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check(info: SplitInfo) -> None:
    """Refuse a stored split whose values are of the wrong kind, or do not fit each other."""
    if not is_split_name(info.name):
        raise ConfigurationError(f"The name of a split is {info.name!r}. Record a name of letters, digits, '_', '-' and '.'.")
    for key in ("num_bytes", "num_examples"):
        value = getattr(info, key)
        if value is not None and not _is_count(value):
            raise ConfigurationError(f"{key} of split {info.name!r} is {value!r}. Record a number from 0, or null for unknown.")
    for key in ("shard_lengths", "original_shard_lengths"):
        value = getattr(info, key)
        if value is not None and not (isinstance(value, list) and all(map(_is_count, value))):
            raise ConfigurationError(f"{key} of split {info.name!r} is {value!r}. Record a list of numbers from 0, or null.")
    if info.shard_lengths is not None and info.num_examples is not None and sum(info.shard_lengths) != info.num_examples:
        raise ConfigurationError(
            f"The shards of split {info.name!r} have {sum(info.shard_lengths)} rows, and num_examples is {info.num_examples}. "
            "Record the same number."
        )


@dataclass(frozen=True, slots=True)
class SubSplitInfo:
    """A slice or a sum of splits.

    Attributes:
        instructions: what to read, in order.
        num_bytes: size of the rows where it is known: the slice is made of whole splits.

    >>> splits = SplitDict({"train": SplitInfo("train", num_examples=5, shard_lengths=[3, 2], dataset_name="birds")})
    >>> splits["train[4:]"].num_examples, splits["train[4:]"].num_shards
    (1, 1)
    """

    instructions: list[FileInstruction]
    num_bytes: int | None = None

    @property
    def num_examples(self) -> int:
        """Rows of the slice; rows that the expression names twice count twice."""
        return sum(instruction.num_examples for instruction in self.instructions)

    @property
    def num_shards(self) -> int:
        """Number of files that hold the slice."""
        return len({instruction.filename for instruction in self.instructions})

    @property
    def file_instructions(self) -> list[FileInstruction]:
        """What to read, in order."""
        return self.instructions


class SplitDict(dict[str, SplitInfo]):
    """The splits of a dataset by name; a split expression as key gives its `SubSplitInfo`.

    >>> splits = SplitDict.from_split_dict([{"name": "train", "num_examples": 10000}], dataset_name="reviews")
    >>> splits["train[:75%]"].num_examples
    7500
    """

    dataset_name: str | None = None

    def __init__(self, *args: Any, dataset_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset_name = dataset_name

    def __getitem__(self, key: str | ReadInstruction) -> Any:
        if isinstance(key, str) and key in self:
            return super().__getitem__(str(key))
        instruction = key if isinstance(key, ReadInstruction) else ReadInstruction.from_spec(str(key))
        return SubSplitInfo(_instructions(instruction, self), _num_bytes(instruction, self))

    def __setitem__(self, key: str, value: SplitInfo) -> None:
        if key != value.name:
            raise ConfigurationError(f"The split {value.name!r} cannot be kept as {key!r}. Use its own name.")
        super().__setitem__(str(key), value)

    def __reduce__(self) -> tuple[Any, ...]:
        return SplitDict.from_split_dict, (list(self.values()), self.dataset_name)

    def add(self, split_info: SplitInfo) -> None:
        """Add a split.

        Raises:
            ConfigurationError: there is a split of that name.
        """
        if split_info.name in self:
            raise ConfigurationError(f"There are two splits {split_info.name!r}. Give each split a name of its own.")
        split_info.dataset_name = self.dataset_name or split_info.dataset_name
        super().__setitem__(split_info.name, split_info)

    @property
    def total_num_examples(self) -> int | None:
        """Rows of all splits; None where a split's number is unknown."""
        counts = [info.num_examples for info in self.values()]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def shard_lengths(self) -> dict[str, list[int]]:
        """Rows of each shard, by split."""
        return {name: info.lengths for name, info in self.items()}

    @classmethod
    def from_split_dict(
        cls, split_infos: Iterable[SplitInfo | Mapping[str, Any]] | Mapping[str, Any], dataset_name: str | None = None
    ) -> SplitDict:
        """The splits of a stored form: a list, or a mapping by name.

        Raises:
            ConfigurationError: a form that is neither, two splits of one name, or a value of the wrong kind.
        """
        stored: Any = split_infos
        named = stored.items() if isinstance(stored, Mapping) else ((None, form) for form in _listed(stored))
        made: list[SplitInfo] = []
        for name, form in named:
            if isinstance(form, SplitInfo):
                made.append(form)
            elif isinstance(form, Mapping):
                made.append(SplitInfo.from_dict(form, name=name))
            else:
                raise ConfigurationError(f"A split is recorded as {form!r}. Record its name, num_bytes and num_examples.")
        if dataset_name is None and made:
            dataset_name = made[0].dataset_name
        found = cls(dataset_name=dataset_name)
        for info in made:
            found.add(info)
        return found

    def to_split_dict(self) -> list[SplitInfo]:
        """The splits in order, each with the dataset's name."""
        return [self._named(info) for info in self.values()]

    def _named(self, info: SplitInfo) -> SplitInfo:
        info.dataset_name = self.dataset_name or info.dataset_name
        return info

    def copy(self) -> SplitDict:
        """The same splits in a new dict."""
        return SplitDict(self, dataset_name=self.dataset_name)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The form of `dataset_info.json`."""
        return {name: info.to_dict() for name, info in self.items()}

    def to_yaml_list(self) -> list[dict[str, Any]]:
        """The form of a card: name, bytes and rows of each split; what is unknown is left out."""
        forms = [{"name": info.name, "num_bytes": info.num_bytes, "num_examples": info.num_examples} for info in self.values()]
        return [{key: value for key, value in form.items() if value is not None} for form in forms]

    @classmethod
    def from_yaml_list(cls, yaml_list: Iterable[Mapping[str, Any]]) -> SplitDict:
        """The splits of a card.

        Raises:
            ConfigurationError: two splits of one name, or a value of the wrong kind.
        """
        return cls.from_split_dict(yaml_list)


def _listed(value: object) -> Iterable[Any]:
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return value
    raise ConfigurationError(f"The splits are recorded as {value!r}. Record a list, or a mapping by name.")


def _instructions(instruction: ReadInstruction, splits: Mapping[str, SplitInfo]) -> list[FileInstruction]:
    lengths = {name: info.lengths for name, info in splits.items()}
    found = []
    for split, shard, start, stop in row_ranges(instruction, lengths):
        whole = lengths[split][shard]
        found.append(FileInstruction(splits[split].file_name(shard), start, -1 if stop == whole else stop - start, whole))
    return found


def _num_bytes(instruction: ReadInstruction, splits: Mapping[str, SplitInfo]) -> int | None:
    total = 0
    for name, start, stop in absolute(instruction, {name: info.lengths for name, info in splits.items()}):
        info = splits[name]
        if stop == start:
            continue
        if info.num_bytes is None or stop - start != sum(info.lengths):
            return None
        total += info.num_bytes
    return total
