"""`SplitInfo`, `SplitDict`: rows, bytes and shards of each split, and of slices."""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, ClassVar, Protocol

from datasets_core.errors import ConfigurationError, NotPreparedError, RowIdError, RowIndexError, UnknownSplitError
from datasets_core.meta.splits import ALL, AbsoluteRange, ShardLengths, is_split_name, parse_split

# `FileInstruction`: the rows to read of one shard file.


@dataclass(frozen=True, eq=False)
class FileInstruction:
    """Rows to read of one shard file.

    Two are equal if they read the same rows of the same file, whether the end is given as -1 or as a number.

    Args:
        filename: name of the shard.
        skip: rows to skip at its beginning.
        take: rows to read after them; -1 is all to the end of the file.
        num_examples: number of rows read.  It follows from `take`, or for -1 from the length of the file; else
            it defines that length.
        examples_in_shard: rows of the whole file; None if unknown.

    Raises:
        ConfigurationError: a value is not a number, or is below 0.

    >>> FileInstruction("birds-train-00007-of-00010.arrow", skip=700, take=-1, num_examples=551)
    FileInstruction(filename='birds-train-00007-of-00010.arrow', skip=700, take=-1, num_examples=551)
    >>> FileInstruction("birds-train-00007-of-00010.arrow", skip=700, take=-1, examples_in_shard=1251).num_examples
    551
    """

    filename: str
    skip: int = 0
    take: int = -1
    num_examples: int | None = None
    examples_in_shard: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole, known = self.examples_in_shard, self.num_examples
        for name, value, least in (("skip", self.skip, 0), ("take", self.take, -1)):
            self._check(name, value, least)
        for name, count in (("num_examples", known), ("examples_in_shard", whole)):
            if count is not None:
                self._check(name, count, 0)
        if whole is None and self.take == -1 and known is not None:
            whole = self.skip + known
        left = None if whole is None else max(0, whole - self.skip)
        taken = left if self.take == -1 else self.take if left is None else min(self.take, left)
        object.__setattr__(self, "num_examples", taken)
        object.__setattr__(self, "examples_in_shard", whole)

    @classmethod
    def of_rows(cls, filename: str, start: int, stop: int, whole: int) -> FileInstruction:
        """Return rows `start` to `stop` of a file of `whole` rows; unchecked, since hundreds of thousands are made."""
        made = object.__new__(cls)
        take = -1 if stop == whole else stop - start
        made.__dict__.update(filename=filename, skip=start, take=take, num_examples=stop - start, examples_in_shard=whole)
        return made

    def _check(self, name: str, value: object, least: int) -> None:
        if not hasattr(value, "__index__") or value < least:  # type: ignore[operator]
            raise ConfigurationError(f"{name} of {self.filename!r} is {value!r}. Give a whole number, {least} or more.")

    def replace(self, **changes: Any) -> FileInstruction:
        """Return a copy with other values; `num_examples` is the number of rows to read.

        Raises:
            ConfigurationError: an invalid name or number.

        >>> FileInstruction("a.arrow", examples_in_shard=10).replace(skip=4)
        FileInstruction(filename='a.arrow', skip=4, take=-1, num_examples=6)
        """
        names = [each.name for each in fields(self)]
        unknown = [name for name in changes if name not in names]
        if unknown:
            raise ConfigurationError(
                f"A FileInstruction has no field {', '.join(map(repr, unknown))}. Its fields: {', '.join(names)}."
            )
        if "num_examples" in changes:
            changes.setdefault("take", changes.pop("num_examples"))
        kept = {name: getattr(self, name) for name in names if name != "num_examples"}
        return FileInstruction(**{**kept, **changes})

    __replace__ = replace

    def _rows(self) -> tuple[str, int, int]:
        return self.filename, self.skip, self.take if self.num_examples is None else self.num_examples

    def __eq__(self, other: object) -> bool:
        return self._rows() == other._rows() if isinstance(other, FileInstruction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._rows())


# `SubSplitInfo`: information about a slice or a sum of splits: its rows, its files, and the rows to read of each.


class _Shards(Protocol):
    """The shards of one split: a `SplitInfo`."""

    @property
    def shards(self) -> ShardLengths: ...

    def file_name(self, shard: int) -> str: ...


def file_instructions(ranges: Iterable[AbsoluteRange], splits: Mapping[str, _Shards]) -> list[FileInstruction]:
    """Return the instructions for these rows of the splits, in order."""
    found = []
    for name, first, last in ranges:
        split = splits[name]
        lengths = split.shards
        for shard, start, stop in lengths.pieces(first, last):
            found.append(FileInstruction.of_rows(split.file_name(shard), start, stop, lengths[shard]))
    return found


class SubSplitInfo:
    """A slice or a sum of splits.

    Args:
        instructions: rows to read of each file, in order.
        num_bytes: size of the rows if known: for whole splits.
        dataset: name of the dataset, for messages.

    Example:
        >>> from datasets_core import SplitDict
        >>> splits = SplitDict.from_split_dict([{"name": "train", "num_examples": 5, "shard_lengths": [3, 2]}], "birds")
        >>> half = splits["train[2:4]"]
        >>> half.num_examples, half.num_shards
        (2, 2)
        >>> half.file_instructions[0]
        FileInstruction(filename='birds-train-00000-of-00002.arrow', skip=2, take=-1, num_examples=1)
        >>> half.row_id(1), half.locate("birds-train-00001-of-00002.arrow__0")
        ('birds-train-00001-of-00002.arrow__0', 1)
    """

    def __init__(
        self, instructions: Iterable[FileInstruction] = (), num_bytes: int | None = None, dataset: str | None = None
    ) -> None:
        self.num_bytes, self.dataset = num_bytes, dataset
        self._ranges: Sequence[AbsoluteRange] = ()
        self._splits: Mapping[str, _Shards] = {}
        self.instructions = list(instructions)

    @classmethod
    def of_ranges(
        cls, ranges: Sequence[AbsoluteRange], splits: Mapping[str, _Shards], num_bytes: int | None, dataset: str | None
    ) -> SubSplitInfo:
        """Return the info of row ranges; their files are looked up on use.

        Args:
            ranges: the row ranges, in order.
            splits: the shards of each split.
            num_bytes: size of the rows, if known.
            dataset: name of the dataset, for file names.
        """
        made = cls((), num_bytes, dataset)
        del made.instructions
        made._ranges, made._splits = tuple(ranges), {name: splits[name] for name, _, _ in ranges}
        return made

    @cached_property
    def instructions(self) -> list[FileInstruction]:
        """Rows to read of each file, in order."""
        return file_instructions(self._ranges, self._splits)

    @property
    def file_instructions(self) -> list[FileInstruction]:
        """Rows to read of each file, in order."""
        return self.instructions

    @property
    def num_examples(self) -> int:
        """Rows of the slice; rows that the expression names twice count twice."""
        if self._ranges:
            return sum(last - first for _, first, last in self._ranges)
        return self._borders[-1]

    @property
    def filenames(self) -> list[str]:
        """The files that hold the slice, sorted."""
        return sorted({instruction.filename for instruction in self.instructions})

    @property
    def filepaths(self) -> list[Any]:
        """The paths of these files; see `SplitInfo.filepaths`."""
        known = [each for each in self._splits.values() if isinstance(each, SplitInfo)]
        return _paths(known[0].folder if known else None, self.filenames)

    @property
    def num_shards(self) -> int:
        """Number of files that hold the slice."""
        return len({instruction.filename for instruction in self.instructions})

    @cached_property
    def _borders(self) -> list[int]:
        return list(accumulate((instruction.num_examples or 0 for instruction in self.instructions), initial=0))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, instruction in enumerate(self.instructions):
            places.setdefault(instruction.filename, []).append(place)
        return places

    def row_id(self, index: int) -> str:
        """Return the id of a row of the slice.

        Args:
            index: number of the row; negative numbers count from the end.

        Raises:
            RowIndexError: the row does not exist.
        """
        from datasets_core.meta.row_blocks import row_id

        size = self._borders[-1]
        row = index + size if index < 0 else index
        if not 0 <= row < size:
            raise RowIndexError(index, size=size)
        place = bisect_right(self._borders, row) - 1
        instruction = self.instructions[place]
        return row_id(instruction.filename, instruction.skip + row - self._borders[place])

    def locate(self, id: str | bytes) -> int:
        """Return the number of a row in the slice, given its id; for a row that occurs twice, the first number.

        Args:
            id: the id of the row.

        Raises:
            RowIdError: no row of the slice has the id.
        """
        from datasets_core.meta.row_blocks import parse_row_id

        name, index = parse_row_id(id)
        for place in self._places.get(name, ()):
            instruction = self.instructions[place]
            row = index - instruction.skip
            if 0 <= row < (instruction.num_examples or 0):
                return self._borders[place] + row
        raise RowIdError(id, "the slice does not contain that row", dataset=self.dataset)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubSplitInfo):
            return NotImplemented
        return (self.instructions, self.num_bytes) == (other.instructions, other.num_bytes)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SubSplitInfo(num_examples={self.num_examples}, num_shards={self.num_shards}, num_bytes={self.num_bytes})"


def _paths(folder: Any, names: Iterable[str]) -> list[Any]:
    if folder is None:
        raise ConfigurationError(
            "The folder of the split is not known", advice="Use the info of a builder of datasets_core.tfds"
        )
    return [folder / name for name in names]


def shard_file_name(dataset: str, split: str, index: int, total: int, end: str = "arrow", *, is_numbered: bool = True) -> str:
    """Return the file name of shard `index` of the `total` shards of a split; five digits, more from 100,000 shards on.

    >>> shard_file_name("reviews", "train", 3, 12), shard_file_name("reviews", "train", 0, 1, is_numbered=False)
    ('reviews-train-00003-of-00012.arrow', 'reviews-train.arrow')

    Raises:
        ConfigurationError: a name that would leave the dataset's folder, or an index outside `total`.
    """
    if not 0 <= index < total:
        raise ConfigurationError(
            f"Shard {index} of {total} shards of split {split!r} does not exist", advice="Shards are counted from 0"
        )
    for name in (dataset, split, end):
        if not name or "/" in name or "\\" in name or "\0" in name:
            raise ConfigurationError(f"{name!r} cannot be part of a file name", advice="Use a name without slashes")
    if not is_numbered:
        return f"{dataset}-{split}.{end.removeprefix('.')}"
    digits = max(5, len(str(total)))
    return f"{dataset}-{split}-{index:0{digits}d}-of-{total:0{digits}d}.{end.removeprefix('.')}"


@dataclass(repr=False)
class SplitInfo:
    """One split as recorded. None means unknown.

    Args:
        name: name of the split.
        num_bytes: size of its rows as Arrow data.
        num_examples: number of its rows.
        shard_lengths: rows of each shard.
        original_shard_lengths: rows by file of the source, for live reading.
        dataset_name: name of the dataset, which begins the file names.
        shard_names: file name of each shard; not part of the stored form, whose keys are fixed by Hugging Face `datasets`.

    Example:
        >>> SplitInfo(name="train", num_examples=5, shard_lengths=[3, 2])
        SplitInfo(name='train', num_bytes=0, num_examples=5, shard_lengths=[3, 2])
    """

    name: str = ""
    num_bytes: int | None = 0
    num_examples: int | None = 0
    shard_lengths: list[int] | None = None
    original_shard_lengths: list[int] | None = None
    dataset_name: str | None = None
    shard_names: Sequence[str] | None = field(default=None, compare=False)
    folder: ClassVar[Any] = None  # the folder of the files as a path, where a builder knows it

    def __deepcopy__(self, memo: dict[int, Any]) -> SplitInfo:
        """Return a copy with its own lists, made in one step: copying a thousand shards one by one would take milliseconds."""
        other = copy.copy(self)
        for name, value in vars(other).items():
            if isinstance(value, list):
                vars(other)[name] = value.copy()
        return other

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
            raise ConfigurationError(
                f"The number of rows of split {self.name!r} is not recorded", advice="Build the dataset first"
            )
        return [self.num_examples]

    @property
    def shards(self) -> ShardLengths:
        """Rows of each shard, with their running totals, which are kept as long as the numbers stay the same.

        Raises:
            ConfigurationError: the number of rows is not recorded.
        """
        lengths = self.lengths
        known: tuple[list[int], ShardLengths] | None = self.__dict__.get("_shards")
        if known is None or known[0] != lengths:
            known = self.__dict__["_shards"] = list(lengths), ShardLengths(lengths)
        return known[1]

    def file_name(self, shard: int) -> str:
        """Return the file name of a shard: the recorded one, or else the one that follows from the rule.

        Args:
            shard: number of the shard, from 0.
        """
        if self.shard_names is not None:
            return self.shard_names[shard]
        return shard_file_name(self.dataset_name or "dataset", self.name, shard, self.num_shards)

    @property
    def file_instructions(self) -> list[FileInstruction]:
        """Rows to read of each file, for all rows of the split."""
        return file_instructions([AbsoluteRange(self.name, 0, self.shards.total)], {self.name: self})

    @property
    def filenames(self) -> list[str]:
        """The files of the split, in order."""
        return [self.file_name(shard) for shard in range(self.num_shards)]

    @property
    def filepaths(self) -> list[Any]:
        """The paths of the files of the split, in order; only `builder.info` of `datasets_core.tfds` knows their folder.

        Raises:
            ConfigurationError: the folder is not known.
        """
        return _paths(self.folder, self.filenames)

    def row_id(self, index: int) -> str:
        """Return the id of a row of the split.

        Args:
            index: number of the row; negative numbers count from the end.

        Raises:
            RowIndexError: the row does not exist.

        Example:
            >>> SplitInfo("train", num_examples=5, shard_lengths=[3, 2], dataset_name="birds").row_id(4)
            'birds-train-00001-of-00002.arrow__1'
        """
        from datasets_core.meta.row_blocks import row_id

        total = self.shards.total
        row = index + total if index < 0 else index
        if not 0 <= row < total:
            raise RowIndexError(index, size=total)
        shard, place = self.shards.place(row)
        return row_id(self.file_name(shard), place)

    def locate(self, id: str | bytes) -> int:
        """Return the number of a row, given its id: `split.locate(split.row_id(i)) == i`.

        Args:
            id: the id of the row.

        Raises:
            RowIdError: no row of the split has the id.

        Example:
            >>> train = SplitInfo("train", num_examples=5, shard_lengths=[3, 2], dataset_name="birds")
            >>> train.locate("birds-train-00001-of-00002.arrow__1")
            4
        """
        from datasets_core.meta.row_blocks import alike_names, parse_row_id

        name, place = parse_row_id(id)
        shard = self._shard(name)
        if shard is None:
            alike = alike_names(name, self.shard_names or ())
            raise RowIdError(id, f"no file of split {self.name!r} is called {name!r}{alike}", dataset=self.dataset_name)
        rows = self.shards[shard]
        if place >= rows:
            raise RowIdError(id, f"that file has {rows} rows", dataset=self.dataset_name)
        return self.shards.borders[shard] + place

    def _shard(self, name: str) -> int | None:
        """Return the shard with this file name: by the number in the name, or by a search if names have no number."""
        from datasets_core.meta.row_blocks import shard_number

        found = shard_number(name, self.num_shards, self.file_name)
        if found is not None or not self.shard_names:
            return found
        is_numbered = shard_number(self.shard_names[0], 1, self.file_name) == 0 and "/" not in self.shard_names[0]
        if is_numbered:
            return None
        return next((shard for shard, own in enumerate(self.shard_names) if own == name), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the form in which Hugging Face `datasets` stores a split."""
        form: dict[str, Any] = {"name": self.name, "num_bytes": self.num_bytes, "num_examples": self.num_examples}
        if self.shard_lengths is not None:
            form["shard_lengths"] = list(self.shard_lengths)
        if self.original_shard_lengths is not None:
            form["original_shard_lengths"] = list(self.original_shard_lengths)
        return {**form, "dataset_name": self.dataset_name}

    @classmethod
    def from_dict(cls, form: Mapping[str, Any], *, name: str | None = None) -> SplitInfo:
        """Return the split of a stored form. Keys of other versions of the library are ignored.

        Args:
            form: the stored form.
            name: name of the split, if the form lacks it.

        Raises:
            ConfigurationError: a value has the wrong type.
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
    """Refuse a stored split whose values have the wrong type, or contradict each other."""
    if not is_split_name(info.name):
        raise ConfigurationError(
            f"Invalid split name {info.name!r}", advice="Record a name of letters, digits, '_', '-' and '.'", value=info.name
        )
    for key in ("num_bytes", "num_examples"):
        value = getattr(info, key)
        if value is not None and not _is_count(value):
            raise ConfigurationError(
                f"{key} of split {info.name!r} is {value!r}", advice="Record a non-negative number, or null for unknown"
            )
    for key in ("shard_lengths", "original_shard_lengths"):
        value = getattr(info, key)
        if value is not None and not (isinstance(value, list) and all(map(_is_count, value))):
            raise ConfigurationError(
                f"{key} of split {info.name!r} is {value!r}", advice="Record a list of non-negative numbers, or null"
            )
    if info.shard_lengths is not None and info.num_examples is not None and sum(info.shard_lengths) != info.num_examples:
        raise ConfigurationError(
            f"The shards of split {info.name!r} have {sum(info.shard_lengths)} rows, but num_examples is {info.num_examples}",
            advice="Record the same number",
        )


class SplitDict(dict[str, SplitInfo]):
    """The splits of a dataset by name. A split expression as key gives its `SubSplitInfo`; a list, tuple or dict gives
    several.

    Args:
        args, kwargs: the splits, as for `dict`.
        dataset_name: name of the dataset.

    Example:
        >>> splits = SplitDict.from_split_dict([{"name": "train", "num_examples": 10000}], dataset_name="reviews")
        >>> splits["train[:75%]"].num_examples
        7500
    """

    dataset_name: str | None = None

    def __init__(self, *args: Any, dataset_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset_name = dataset_name

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in self:
            return super().__getitem__(str(key))
        if isinstance(key, Mapping):
            return {name: self[inner] for name, inner in key.items()}
        if isinstance(key, (list, tuple)):
            found = [self[inner] for inner in key]
            return found if isinstance(key, list) else tuple(found)
        instruction = parse_split(key)
        if not self:
            raise NotPreparedError(instruction.to_spec(), dataset=self.dataset_name)
        for part in instruction.parts:
            if part.split not in self and part.split != ALL:
                raise UnknownSplitError(part.split, known=self, dataset=self.dataset_name)
        ranges = instruction.to_absolute(self)
        return SubSplitInfo.of_ranges(ranges, self, self._num_bytes(ranges), self.dataset_name)

    def _num_bytes(self, ranges: Iterable[AbsoluteRange]) -> int | None:
        total = 0
        for name, first, last in ranges:
            info = super().__getitem__(name)
            if first == last:
                continue
            if info.num_bytes is None or last - first != info.shards.total:
                return None
            total += info.num_bytes
        return total

    def locate(self, id: str | bytes) -> tuple[str, int]:
        """Return the split of a row, and its number there.

        Args:
            id: the id of the row.

        Raises:
            RowIdError: no row has the id.

        Example:
            >>> splits = SplitDict.from_split_dict([{"name": "train", "num_examples": 9}], dataset_name="birds")
            >>> splits.locate("birds-train-00000-of-00001.arrow__7")
            ('train', 7)
        """
        from datasets_core.meta.row_blocks import alike_names, parse_row_id

        name, _ = parse_row_id(id)
        for split, info in self.items():
            if info._shard(name) is not None:
                return split, info.locate(id)
        alike = alike_names(name, chain.from_iterable(info.shard_names or () for info in self.values()))
        raise RowIdError(id, f"no file is called {name!r}{alike}", dataset=self.dataset_name)

    def __setitem__(self, key: str, value: SplitInfo) -> None:
        if key != value.name:
            raise ConfigurationError(f"The split {value.name!r} cannot be stored under the key {key!r}", advice="Use its name")
        super().__setitem__(str(key), value)

    def __reduce__(self) -> tuple[Any, ...]:
        return SplitDict.from_split_dict, (list(self.values()), self.dataset_name)

    def add(self, split_info: SplitInfo) -> None:
        """Add a split.

        Args:
            split_info: the split.

        Raises:
            ConfigurationError: a split of that name exists.
        """
        if split_info.name in self:
            raise ConfigurationError(f"Two splits are named {split_info.name!r}", advice="Give each split a different name")
        split_info.dataset_name = self.dataset_name or split_info.dataset_name
        super().__setitem__(split_info.name, split_info)

    @property
    def total_num_examples(self) -> int | None:
        """Rows of all splits; None if a split's number is unknown."""
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
        """Return the splits of a stored form.

        Args:
            split_infos: a list of splits, or a mapping by name.
            dataset_name: name of the dataset; None uses that in the form.

        Raises:
            ConfigurationError: the form has another type, two splits have the same name, or a value has the wrong type.
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
                raise ConfigurationError(
                    f"A split is recorded as {form!r}", advice="Record its name, num_bytes and num_examples"
                )
        if dataset_name is None and made:
            dataset_name = made[0].dataset_name
        found = cls(dataset_name=dataset_name)
        for info in made:
            found.add(info)
        return found

    def to_split_dict(self) -> list[SplitInfo]:
        """Return the splits in order, each with the name of the dataset."""
        return [self._named(info) for info in self.values()]

    def _named(self, info: SplitInfo) -> SplitInfo:
        info.dataset_name = self.dataset_name or info.dataset_name
        return info

    def __deepcopy__(self, memo: dict[int, Any]) -> SplitDict:
        made = SplitDict(dataset_name=self.dataset_name)
        dict.update(made, {name: copy.deepcopy(info, memo) for name, info in self.items()})
        return made

    def copy(self) -> SplitDict:
        """Return the same splits in a new dict."""
        return SplitDict(self, dataset_name=self.dataset_name)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the form of `dataset_info.json`."""
        return {name: info.to_dict() for name, info in self.items()}

    def to_yaml_list(self) -> list[dict[str, Any]]:
        """Return the form of dataset cards: name, size in bytes and rows of each split; unknown values are left out."""
        forms = [{"name": info.name, "num_bytes": info.num_bytes, "num_examples": info.num_examples} for info in self.values()]
        return [{key: value for key, value in form.items() if value is not None} for form in forms]

    @classmethod
    def from_yaml_list(cls, yaml_list: Iterable[Mapping[str, Any]]) -> SplitDict:
        """Return the splits in a dataset card.

        Args:
            yaml_list: the list under `splits`.

        Raises:
            ConfigurationError: two splits have the same name, or a value has the wrong type.
        """
        return cls.from_split_dict(yaml_list)

    _to_yaml_list, _from_yaml_list = to_yaml_list, from_yaml_list  # their names in `datasets`


def _listed(value: object) -> Iterable[Any]:
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return value
    raise ConfigurationError(f"The splits are recorded as {value!r}", advice="Record a list, or a mapping by name")
