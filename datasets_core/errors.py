"""Every exception of the library, as one tree under `DatasetsCoreError`.

A message is at most two sentences: what happened, with the value; what to do.  The facts are attributes, so that a program
can act on them.  Each class also inherits the builtin that a caller would expect.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from datasets_core.redact import redact


def _names(names: Iterable[object]) -> str:
    """The names, quoted and joined, at most twenty of them; `none` for no names."""
    listed = [repr(str(name)) for name in names]
    if len(listed) > 20:
        return ", ".join(listed[:20]) + f", … ({len(listed)} in all)"
    return ", ".join(listed) or "none"


def rebuild(cls: type[DatasetsCoreError], args: tuple[Any, ...], state: dict[str, Any]) -> DatasetsCoreError:
    """An error made again of what it holds, whatever the arguments of its constructor: it crosses process borders whole."""
    make: Any = OSError.__new__ if issubclass(cls, OSError) else Exception.__new__  # none of another builtin can make the class
    error: DatasetsCoreError = make(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class DatasetsCoreError(Exception):
    """The root of every error that the library raises on purpose.

    >>> try:
    ...     Dataset.from_dict({"text": ["x"]})["txt"]
    ... except DatasetsCoreError as error:
    ...     print(type(error).__name__, isinstance(error, KeyError))
    UnknownColumnError True
    """

    def __str__(self) -> str:
        return " ".join(str(part) for part in self.args)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self.args, self.__dict__)


DatasetsError = DatasetsCoreError


# -- what the user asked for -------------------------------------------------------------------------------------------


class FileNotFoundDatasetsError(DatasetsCoreError, FileNotFoundError):
    """Something that was named does not exist."""


class DataFilesNotFoundError(FileNotFoundDatasetsError):
    """A pattern, a file or a folder of data matches nothing."""


class DatasetNotFoundError(FileNotFoundDatasetsError, ValueError):
    """A reference names no dataset."""


class DefunctDatasetError(DatasetsCoreError):
    """A dataset that its author withdrew."""


class BlockedVersionError(DefunctDatasetError, ValueError):
    """A version or config that the author of the builder blocked.

    Args:
        dataset: the dataset, with config and version.
        reason: what the author says; None where nothing.
    """

    def __init__(self, dataset: str, reason: str | None = None) -> None:
        self.dataset, self.reason = dataset, reason
        why = reason.strip().rstrip(".") if reason else "its author gives no reason"
        super().__init__(f"{dataset} is blocked: {why}. Choose another version or config.")


class ConfigurationError(DatasetsCoreError, ValueError):
    """An argument, a setting or a combination of them that has no meaning."""


class FileInPlaceError(ConfigurationError, FileExistsError):
    """A file stands where a folder is to be written."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is a file, and a folder is to stand there. Give a folder, or remove that file.")


class UnknownConfigError(ConfigurationError):
    """A config that the dataset does not have."""

    def __init__(self, name: str | None, *, dataset: str, known: Iterable[str]) -> None:
        self.name, self.dataset, self.known = name, dataset, tuple(known)
        if name is None:
            what = f"{dataset!r} has several configs and none is the default."
        else:
            what = f"{name!r} is no config of {dataset!r}."
        super().__init__(f"{what} Configs: {_names(self.known)}.")


class UnknownOptionError(ConfigurationError, TypeError):
    """A keyword argument that the builder does not know.

    Args:
        option: the argument.
        builder: who does not know it.
        known: the options that there are.
        near: other arguments of the same call, one of which may have been meant.
    """

    def __init__(self, option: str, *, builder: str, known: Iterable[str], near: Iterable[str] = ()) -> None:
        self.option, self.builder, self.known = option, builder, tuple(known)
        from difflib import get_close_matches  # 5 ms that only a mistake needs

        others = list(dict.fromkeys((*self.known, *near)))
        begun = [name for name in others if len(name) > 2 and option.startswith(name)]  # sep for separator
        close = begun or get_close_matches(option, others)
        meant = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
        options = [*(name for name in close if name in self.known), *(name for name in self.known if name not in close)]
        super().__init__(f"{option!r} is no option of {builder!r}. {meant}Options: {_names(options)}.")


class UnhashableError(ConfigurationError, TypeError):
    """A value that has no identity which lasts from one process to the next."""


class StreamStateError(ConfigurationError):
    """A saved state that is none of this stream: it was saved by another, or it is damaged."""


class UnknownSplitError(DatasetsCoreError, ValueError, KeyError):
    """A split that the dataset does not have."""

    def __init__(self, name: str, *, known: Iterable[str], dataset: str | None = None) -> None:
        self.name, self.known, self.dataset = name, tuple(known), dataset
        of = f" of {dataset!r}" if dataset else ""
        super().__init__(f"{name!r} is no split{of}. Splits: {_names(self.known)}.")


class NotPreparedError(UnknownSplitError):
    """A split of a dataset that is not built yet, so that none of its splits is known."""

    def __init__(self, name: str, *, dataset: str | None = None) -> None:
        super().__init__(name, known=(), dataset=dataset)
        of = f" of {dataset!r}" if dataset else ""
        self.args = (f"No split{of} is known yet, so {name!r} is not. Build the dataset first, by download_and_prepare().",)


class RankError(ConfigurationError, IndexError):
    """The number of a process that does not exist."""

    def __init__(self, rank: object, *, world_size: int) -> None:
        self.rank, self.world_size = rank, world_size
        super().__init__(f"rank={rank!r} is no process of {world_size}. Give 0 to {world_size - 1}.")


class SplitSyntaxError(DatasetsCoreError, ValueError):
    """A split expression that does not parse, or bounds that mean nothing."""

    def __init__(self, spec: str, reason: str) -> None:
        self.spec, self.reason = spec, reason
        examples = "Write for example 'train', 'train[:10%]' or 'train[5:]+test'."
        super().__init__(f"{spec!r} is no split expression: {reason}. {examples}")


class EmptySplitError(DatasetsCoreError, ValueError):
    """A split expression without rows, where rows are needed."""

    def __init__(self, spec: str, *, dataset: str) -> None:
        self.spec, self.dataset = spec, dataset
        super().__init__(f"Split {spec!r} of {dataset} corresponds to no rows. Ask for some.")


class OutOfRangeError(DatasetsCoreError, EOFError):
    """A provider or a queue has given all its samples.

    Args:
        name: what was asked.
        num_samples: how many it gave.
    """

    def __init__(self, name: str, *, num_samples: int) -> None:
        self.name, self.num_samples = name, num_samples
        super().__init__(f"{name} has given all its {num_samples:,} samples. Give num_epochs=None for passes without end.")


class NoDataFilesError(DataFilesNotFoundError, ValueError):
    """Data sources that name no file.

    Args:
        sources: what they say.

    >>> print(NoDataFilesError("birds-*.tfrecord"))
    No data files found in birds-*.tfrecord. Check the path, or the pattern.
    """

    def __init__(self, sources: object) -> None:
        self.sources = sources
        shown = redact(sources) if isinstance(sources, str) else repr(sources)
        super().__init__(f"No data files found in {shown}. Check the path, or the pattern.")


class NestedQueueRunnerError(ConfigurationError):
    """A block of `slim.QueueRunners` within another one.

    >>> print(NestedQueueRunnerError())
    QueueRunners cannot be nested. Leave the inner block out.
    """

    def __init__(self) -> None:
        super().__init__("QueueRunners cannot be nested. Leave the inner block out.")


class RowIndexError(DatasetsCoreError, IndexError):
    """A row number outside the dataset."""

    def __init__(self, index: int, *, size: int) -> None:
        self.index, self.size = index, size
        bounds = f"Rows go from 0 to {size - 1}, or from -{size} to -1" if size else "The dataset has no rows"
        super().__init__(f"Index {index} is out of range for a dataset of {size} rows. {bounds}.")


class RowIdError(DatasetsCoreError, ValueError, KeyError):
    """A row id that is none, or that no row of the dataset has.

    Args:
        id: the id.
        reason: what is wrong with it.
        dataset: whose rows were looked through.
    """

    def __init__(self, id: object, reason: str, *, dataset: str | None = None) -> None:
        self.id, self.reason, self.dataset = id, reason, dataset
        of = f" of {dataset!r}" if dataset else ""
        example = "Ids look like 'reviews-train-00000-of-00012.arrow__32'."
        super().__init__(f"{id!r} is the id of no row{of}: {reason}. {example}")


class MissingRowIdsError(ConfigurationError):
    """Ids that are asked for of rows that have none.

    Args:
        row: the number of such a row.
    """

    def __init__(self, row: int) -> None:
        self.row = row
        super().__init__(
            f"Row {row} of the dataset has no id, since it stands in no shard file of a build: it was given by values, or made "
            "by map() or another operation that writes rows. Ask the dataset that load_dataset() or as_dataset() gave for ids."
        )


class MaskLengthError(DatasetsCoreError, IndexError):
    """A mask of booleans that is not as long as the dataset."""

    def __init__(self, length: int, *, size: int) -> None:
        self.length, self.size = length, size
        super().__init__(f"A mask of {length} booleans does not fit a dataset of {size} rows. Give one boolean for each row.")


class ArgumentTypeError(ConfigurationError, TypeError):
    """An argument of a kind that has no meaning where it is given."""


class UnknownColumnError(DatasetsCoreError, ValueError, KeyError):
    """A column that the dataset does not have."""

    def __init__(self, name: object, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"{str(name)!r} is no column of the dataset. Columns: {_names(self.known)}.")


class UnknownItemError(DatasetsCoreError, ValueError, KeyError):
    """An item that a decoder or a provider does not have."""

    def __init__(self, item: object, *, known: Iterable[str]) -> None:
        self.item, self.known = item, tuple(known)
        super().__init__(f"{str(item)!r} is no item. Items: {_names(self.known)}.")


class UnknownFeatureError(DatasetsCoreError, ValueError, KeyError):
    """A key that an item needs and no feature spec tells of."""

    def __init__(self, key: object, *, item: str, known: Iterable[str]) -> None:
        self.key, self.item, self.known = key, item, tuple(known)
        super().__init__(
            f"Item {item!r} is made of the key {str(key)!r}, of which no spec tells. Keys with specs: {_names(self.known)}."
        )


class ReferenceSyntaxError(ConfigurationError):
    """A dataset reference, or a version in one, that does not parse."""


class UnknownVersionError(ConfigurationError, LookupError):
    """A version that the dataset does not have.

    Args:
        version: the version or pattern that was asked for.
        dataset: the dataset.
        known: the versions that there are.
    """

    def __init__(self, version: object, *, dataset: str, known: Iterable[object]) -> None:
        self.version, self.dataset, self.known = str(version), dataset, tuple(map(str, known))
        super().__init__(f"{dataset!r} has no version {str(version)!r}. Versions: {_names(self.known)}.")


class MissingVersionError(ConfigurationError):
    """A builder whose kind needs a version and that names none."""

    def __init__(self, dataset: str) -> None:
        self.dataset = dataset
        super().__init__(f"The builder of {dataset!r} has no version. Write VERSION = Version('1.0.0') into its class.")


class UnknownExperimentError(ConfigurationError, KeyError):
    """An experiment that is no member of an enum."""

    def __init__(self, experiment: object) -> None:
        self.experiment = experiment
        super().__init__(
            f"{experiment!r} is no experiment. Give a member of a subclass of Experiment, such as Packing.BY_LENGTH."
        )


class ExperimentalVersionWarning(UserWarning):
    """A version above the canonical one, which may still change."""


class UntrustedScriptError(DatasetsCoreError, ValueError, PermissionError):
    """A dataset script that must not run: the user has not trusted it, and it cannot be confined; or no script is to run.

    Args:
        path: the script.
        repository: where it comes from; None for a folder of this machine.
        commit: the commit of that repository.
        reason: why it cannot be confined, without a final stop.
        is_refused: the user said that no script runs.
        by: where that was said.
        export: a revision of the repository that holds the rows without a script; None where there is none.
    """

    def __init__(
        self,
        path: str,
        *,
        repository: str | None = None,
        commit: str | None = None,
        reason: str | None = None,
        is_refused: bool = False,
        by: str = "trust_remote_code=False",
        export: str | None = None,
    ) -> None:
        self.path, self.repository, self.commit, self.reason = path, repository, commit, reason
        self.export, self._said = export, {"reason": reason, "is_refused": is_refused, "by": by}
        of = "" if repository is None else f" of {repository} at commit {commit or 'unknown'}"
        what = f"{path}{of} is a dataset script"
        bound = "" if repository is None else f" with revision={commit!r}: your trust is bound to that commit"
        instead = "" if export is None else f"Pass revision={export!r} to load its rows without a script, or "
        if is_refused:
            ways = "pass trust_remote_code='sandbox' to run it confined, or read it and pass trust_remote_code=True"
            super().__init__(f"{what}, and {by} runs none. {_begun(instead + ways)}{bound}.")
            return
        cannot = "" if reason is None else f", and this machine cannot confine it: {reason}"
        named = " or name the .py file itself" if repository is None else bound
        super().__init__(
            f"{what}, and running it would run its author's code here{cannot}. "
            f"{_begun(f'{instead}read it, then pass trust_remote_code=True')}{named}."
        )

    def with_export(self, revision: str) -> UntrustedScriptError:
        """The same error, which says that a revision of the repository holds the rows without a script."""
        said: dict[str, Any] = self._said
        return UntrustedScriptError(self.path, repository=self.repository, commit=self.commit, export=revision, **said)


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


class UnknownFormatError(ConfigurationError):
    """A data format that no installed package reads."""

    def __init__(self, name: str, *, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"{name!r} is no data format. Formats: {_names(self.known)}.")


class PluginError(ConfigurationError, ImportError):
    """A package that registers something which cannot be imported, or is not what it should be."""


class ScriptError(ConfigurationError, ImportError):
    """A dataset script that cannot be loaded.

    Args:
        path: the script, or the module beside it.
        reason: what is wrong, without a final stop.
        line: line number from 1, where there is one.
        advice: one thing to do, as a sentence without its stop.
    """

    def __init__(self, path: str, reason: str, *, line: int | None = None, advice: str = "Mend the script") -> None:
        self.path, self.reason, self.line = path, reason, line
        where = f", line {line}" if line is not None else ""
        super().__init__(f"{path}{where}: {reason}. {advice}.")


class DataFilesWarning(UserWarning):
    """Files that were found and are left out."""


class MissingDependencyError(DatasetsCoreError, ImportError):
    """A package that is needed and not installed.

    Args:
        package: its name for an import; None where only `said` tells.
        needed_for: what needs it, as the subject of a sentence.
        install: its name for pip, if that is another.
        said: what the package that misses it says, shown where `package` is None.
        more: the other packages that it needs and that are not installed either, each with its name for pip.
    """

    def __init__(
        self,
        package: str | None,
        *,
        needed_for: str,
        install: str | None = None,
        said: str | None = None,
        more: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.package, self.needed_for, self.install, self.said = package, needed_for, install or package, said
        self.more = tuple(more)
        if package is None:
            super().__init__(
                f"{needed_for} needs a package that is not installed: {(said or 'its name is not known').rstrip('.')}."
            )
        elif self.more:
            names = ", ".join(repr(name) for name in (package, *(name for name, _ in self.more)))
            run = " ".join(repr(name) for name in dict.fromkeys((self.install, *(name for _, name in self.more))))
            super().__init__(f"{needed_for} needs packages that are not installed: {names}. Run: pip install {run}")
        else:
            what = f"{needed_for} needs the package {package!r}, which is not installed."
            super().__init__(f"{what} Run: pip install {self.install!r}")


class QueryError(DatasetsCoreError, ValueError):
    """An SQL query that is not understood, or that failed.

    Args:
        query: the SQL.
        reason: what is wrong.
        advice: one thing to do, as a sentence without its stop.
    """

    def __init__(self, query: str, reason: str, *, advice: str = "Mend the query; the dataset is called ds in it") -> None:
        self.query, self.reason = query, reason
        super().__init__(f"The query {query!r} failed: {reason.rstrip('.')}. {advice}.")


class MissingIndexError(ConfigurationError, LookupError):
    """A search index that the dataset does not have."""


class IndexFileError(DatasetsCoreError, OSError):
    """A file of a search index that cannot be read or written."""


# -- building ----------------------------------------------------------------------------------------------------------


class DatasetBuildError(DatasetsCoreError):
    """A build that could not be finished."""


class UnpreparableVersionError(DatasetBuildError, ValueError):
    """A version whose data can be read where it is prepared, and that this code does not prepare any more.

    Args:
        version: the version.
        dataset: the dataset.
        release: the last release of the library that prepares it, where one is named.
        known: the versions that can be prepared.
        where: the folder in which it is not prepared; None where it is to be prepared again.
    """

    def __init__(
        self, version: object, *, dataset: str, release: str | None, known: Iterable[object], where: str | None
    ) -> None:
        self.version, self.dataset, self.release, self.known = str(version), dataset, release, tuple(map(str, known))
        what = "cannot be prepared again" if where is None else f"is not prepared in {where}"
        by = f"only release {release} of the library or an older one prepares it" if release else "it is too old to be prepared"
        way = f"Prepare it with release {release}, or choose a version" if release else "Choose a version"
        super().__init__(
            f"Version {version} of {dataset!r} {what}, and {by}. {way} that can be prepared: {_names(self.known)}."
        )


class WrongVersionError(DatasetBuildError, ValueError):
    """A build whose version says less than changed.

    Args:
        dataset: the dataset.
        old: the version that it is compared with.
        new: its own version.
        right: the version that it should have at least, where known.
        level: what the change is, "patch", "minor" or "major".
        changes: what differs, a line each.
    """

    def __init__(
        self, dataset: str, *, old: object, new: object, right: object | None, level: str, changes: Iterable[str]
    ) -> None:
        self.dataset, self.old, self.new, self.level, self.changes = dataset, str(old), str(new), level, tuple(changes)
        self.right = None if right is None else str(right)
        what = "; ".join(self.changes[:3]) + ("; …" if len(self.changes) > 3 else "")
        super().__init__(
            f"Version {new} of {dataset!r} is a {level} change of {old}, and does not say so: {what}. "
            f"Call it {self.right or 'a higher version'} or higher, or build it without check_version."
        )


class ManualDownloadError(DatasetBuildError):
    """A dataset whose files the user has to fetch by hand."""

    def __init__(self, dataset: str, instructions: str) -> None:
        self.dataset, self.instructions = dataset, instructions
        super().__init__(f"{dataset!r} needs files that you fetch yourself; pass their folder as data_dir=. {instructions}")


class FileFormatError(DatasetBuildError, ValueError):
    """A data file that is not what its format promises.

    Args:
        path: the file or URL as the user knows it.
        reason: what is wrong, without a final stop.
        line: line number from 1, where there is one.
        row: row number from 0, where there is one.
        advice: one thing to do, as a sentence without its stop.
    """

    def __init__(
        self, path: str, reason: str, *, line: int | None = None, row: int | None = None, advice: str | None = None
    ) -> None:
        self.path, self.reason, self.line, self.row, self.advice = path, reason, line, row, advice
        where = f", line {line}" if line is not None else f", row {row}" if row is not None else ""
        super().__init__(f"{path}{where}: {reason}. {advice or 'Mend the file, or leave it out of data_files'}.")


class DamagedRecordError(FileFormatError):
    """A record file is damaged: the records before are good, and were given.

    Args:
        path: the file or URL as the user knows it.
        damage: `"length CRC"`, `"data CRC"`, `"cut in header"`, `"cut in data"`, `"cut gzip"`, `"damaged gzip"` (or zlib).
        record: number of the record, from 0; None where it was looked for by its place, and the number is not known.
        offset: the byte of the file, once it is decompressed, at which the record's frame begins.
        reason: what was found, without a final stop.
        advice: one thing to do.
    """

    def __init__(
        self, path: str, damage: str, *, record: int | None, offset: int, reason: str, advice: str | None = None
    ) -> None:
        self.damage, self.record, self.offset = damage, record, offset
        advice = advice or "Fetch or write the file again; what stands before this record is good"
        number = "the record" if record is None else f"record {record:,}"
        super().__init__(path, f"{number} at byte {offset:,} is damaged ({damage}): {reason}", advice=advice)
        self.reason, self.row = reason, record


class ExampleError(FileFormatError):
    """A record that is no such message, or not of the features that are asked for.

    Args:
        path: the file or URL as the user knows it.
        reason: what was found, without a final stop.
        record: number of the record, from 0; None of a message that stands alone.
        key: the feature that it is about.
        offset: the byte of the file, once it is decompressed, at which the record's frame begins; None where that is not known.
        advice: one thing to do.
    """

    def __init__(
        self,
        path: str,
        reason: str,
        *,
        record: int | None = None,
        key: str | None = None,
        offset: int | None = None,
        advice: str | None = None,
    ) -> None:
        self.record, self.key, self.offset = record, key, offset
        place = "" if offset is None else f" at byte {offset:,}"
        where = ("" if record is None else f"record {record:,}{place}: ") + ("" if key is None else f"feature {key!r} ")
        super().__init__(path, f"{where}{reason}", advice=advice or "Mend the record, or the features that are asked for")
        self.reason, self.row = reason, record


class ItemError(DatasetsCoreError, ValueError):
    """The values of a sample do not make the item that is asked for.

    Args:
        reason: what was found, without a final stop.
        advice: one thing to do, as a sentence without its stop.
    """

    def __init__(self, reason: str, *, advice: str | None = None) -> None:
        self.reason, self.advice = reason, advice
        super().__init__(f"{reason[:1].upper()}{reason[1:]}. {advice or 'Mend the record, or the handler of the item'}.")


class DatasetGenerationError(DatasetBuildError):
    """The code that yields the rows failed.

    Args:
        message: what happened, and what to do.
        row: how many rows that code had yielded, where known.
    """

    def __init__(self, message: str, *, row: int | None = None) -> None:
        self.row = row
        super().__init__(message)


class DatasetGenerationCastError(DatasetGenerationError, ValueError):
    """Rows or files whose columns or types do not fit the others, or do not fit the features."""


class CastError(DatasetsCoreError, ValueError):
    """A value, column or table that does not fit a feature."""


class CellCastError(CastError, TypeError):
    """One value that does not fit its column.

    Args:
        column: the column, or the path of a field in it.
        reason: what is wrong, naming the value and the type.
        row: the number of the row, from 0 in what was handed over.
        what: the file or table, where there is one.
        advice: one thing to do, as a sentence without its stop.
    """

    def __init__(
        self, column: str, reason: str, *, row: int | None = None, what: str | None = None, advice: str | None = None
    ) -> None:
        self.column, self.reason, self.row, self.what, self.advice = column, reason, row, what, advice
        place = f"column {column!r}" if row is None else f"row {row}, column {column!r}"
        place = f"{what}, {place}" if what else place[0].upper() + place[1:]
        super().__init__(f"{place}: {reason}. {advice or 'Mend the value, or the feature of the column'}.")


class MediaError(DatasetsCoreError, ValueError):
    """An image, sound, film or document that cannot be shown.

    Args:
        what: the medium or its path, as the subject of a sentence.
        reason: what is wrong, without a final stop.
        advice: one thing to do, as a sentence without its stop.
        column: where it stands.
        row: number of its row, from 0, where known.
    """

    def __init__(self, what: str, reason: str, advice: str, *, column: str | None = None, row: int | None = None) -> None:
        self.what, self.reason, self.advice, self.column, self.row = what, reason, advice, column, row
        super().__init__(self._message())

    def _message(self) -> str:
        facts = [f"row {self.row}"] * (self.row is not None) + [f"column {self.column!r}"] * (self.column is not None)
        place = ", ".join(facts)
        return (
            f"{place[0].upper()}{place[1:]}: {self.what} {self.reason}. {self.advice}."
            if place
            else (f"{self.what[0].upper()}{self.what[1:]} {self.reason}. {self.advice}.")
        )

    def at(self, *, column: str | None = None, row: int | None = None) -> Self:
        """The same error at a place that is known by now: what is given replaces what it named."""
        self.column = self.column if column is None else column
        self.row = self.row if row is None else row
        self.args = (self._message(),)
        return self


class MediaDecodeError(MediaError):
    """A medium whose file is damaged, or is no medium of that kind."""

    def __init__(self, what: str, reason: str) -> None:
        advice = "Mend the file, leave the row out, or show what is stored with decode=False"
        super().__init__(what, f"cannot be decoded: {reason}", advice)


class MediaNotFoundError(MediaError, FileNotFoundDatasetsError):
    """A file that a path among the values of a dataset names, and that is not there."""

    def __init__(self, path: str, reason: str = "leads to no file") -> None:
        self.path = path
        super().__init__(f"the path {redact(path)!r}", reason, "Mend the path, or put the file there")


class UntrustedPathError(MediaError, PermissionError):
    """A path that came with a dataset, among its values or as a link in its folder, and that leads out of the dataset.

    Args:
        path: what came with the data.
        allowed: the folders and beginnings of URLs that may be opened.
        target: where a link leads.
    """

    def __init__(self, path: str, *, allowed: Iterable[str], target: str | None = None) -> None:
        self.path, self.allowed, self.target = path, tuple(allowed), target
        places = ", ".join(repr(redact(place)) for place in self.allowed) or "nowhere"
        leads = "leads" if target is None else f"is a link to {target!r}, which is"
        super().__init__(
            f"the path {redact(path)!r}",
            f"came with the data and {leads} out of the dataset (which may open {places}), so it is not opened",
            "If you trust the data, allow its folder or URL: datasets_core.config.using(media_paths=[…])",
        )


class DuplicateKeysError(DatasetGenerationError, ValueError):
    """Two rows of one split share a key.

    Args:
        key: the key.
        split: the split.
        places: where the two rows are.
        is_sorted: the order of the rows depends on their keys.
        place: file and line of what yielded the second one, where known.
    """

    def __init__(
        self, key: object, *, split: str, places: Iterable[str], is_sorted: bool = False, place: str | None = None
    ) -> None:
        self.key, self.split, self.places, self.place = key, split, tuple(places), place
        otherwise = (
            "; rows are ordered by it, and an integer and its text, or texts that differ in \\ and /, are the same"
            if is_sorted
            else ", or pass verification_mode='no_checks'"
        )
        super().__init__(
            f"Two rows of split {split!r} share the key {key!r}: {' and '.join(self.places)}"
            f"{f', yielded in {place}' if place else ''}. "
            f"Yield a key that is unique in the split{otherwise}."
        )


class InvalidKeyError(DatasetGenerationError, TypeError):
    """A key that cannot be compared with others.

    Args:
        key: the key.
        row: whose key it is.
        split: the split of that row, where known.
        is_sorted: the order of the rows depends on their keys.
        place: file and line of what yielded it, where known.
    """

    def __init__(
        self, key: object, *, row: int, split: str | None = None, is_sorted: bool = False, place: str | None = None
    ) -> None:
        self.key, self.split, self.is_sorted, self.place = key, split, is_sorted, place
        kinds = (
            "an int, a str or bytes (of numpy, an array of one value)"
            if is_sorted
            else "an int, a str, bytes or a tuple of them"
        )
        of, where = "" if split is None else f" of split {split!r}", "" if place is None else f", yielded in {place}"
        what = f"The key of row {row}{of} is {key!r} ({type(key).__name__}){where}"
        super().__init__(f"{what}. Yield {kinds} as the key.", row=row)

    def of(self, split: str, place: str | None) -> InvalidKeyError:
        """The same error, of that split and that line."""
        return InvalidKeyError(self.key, row=self.row or 0, split=split, is_sorted=self.is_sorted, place=place)


class WorkerDiedError(DatasetBuildError):
    """A worker process ended without a result (killed, or out of memory).

    Args:
        message: what happened, and what to do.
        job: the position of its job, where known.
    """

    def __init__(self, message: str, *, job: int | None = None) -> None:
        self.job = job
        super().__init__(message)


class TooManyErrorsError(DatasetsCoreError, ValueError):
    """More rows of a stream failed than may.

    Args:
        count: how many failed.
        most: how many may.
        kinds: how many failed by which error in which step; the most frequent ones.
        quarantine: the file that they stand in.
    """

    def __init__(self, count: int, most: int, kinds: dict[str, int], quarantine: str | None = None) -> None:
        self.count, self.most, self.kinds, self.quarantine = count, most, kinds, quarantine
        listed = ", ".join(f"{number} by {kind}" for kind, number in kinds.items())
        where = "" if quarantine is None else f"; they stand in {quarantine}"
        super().__init__(
            f"{count} rows of the stream failed, and on_error(max_errors={most}) allows no more ({listed}{where}). "
            "Mend the rows or the function, or give a greater max_errors."
        )


class ScriptTimeoutError(DatasetBuildError, TimeoutError):
    """A dataset script that was not done in the time that it had.

    Args:
        script: the script.
        doing: what it was at, such as "importing it" or "making the rows of split 'train'".
        seconds: the time that it had.
        path, line: where its code was, where known.
        split: the split whose rows it made, if it did.
        row: how many rows it had yielded, where known.
    """

    def __init__(
        self,
        script: str,
        doing: str,
        *,
        seconds: float,
        path: str | None = None,
        line: int | None = None,
        split: str | None = None,
        row: int | None = None,
    ) -> None:
        self.script, self.doing, self.seconds = script, doing, seconds
        self.path, self.line, self.split, self.row = path or script, line, split, row
        where = f", line {line}" if line is not None else ""
        of = "" if self.path == script else f" of {script}"
        reached = "" if row is None else f", at row {row}"
        super().__init__(
            f"{self.path}{where}: {doing}{of} was not done after {seconds:g} seconds{reached}. "
            "Mend the code there if it hangs, else give it more time (timeout=, or None for no limit)."
        )


class ConfinementUnavailableError(DatasetsCoreError, PermissionError):
    """A script that is to run confined, on a machine that cannot confine it.

    Args:
        reason: what is missing, without a final stop.
        advice: one thing to do, as a sentence without its stop.
    """

    def __init__(self, reason: str, *, advice: str | None = None) -> None:
        self.reason = reason
        otherwise = "Run it on Linux 5.13 or later, or pass trust_remote_code=True if you have read the script and trust it"
        super().__init__(f"This machine cannot confine a dataset script: {reason}. {advice or otherwise}.")


class DeniedAccessError(DatasetBuildError, PermissionError):
    """Something that a confined script tried and may not do.

    Args:
        tried: what it was, as in "it tried to …": `connect to ('1.2.3.4', 80)`, `read '/etc/passwd'`.
        path: the file of the script, where known.
        line: the line in it, from 1.
    """

    def __init__(self, tried: str, *, path: str | None = None, line: int | None = None) -> None:
        self.tried, self.path, self.line = tried, path, line
        where = "A confined script" if path is None else f"The script {path}" + (f", line {line}," if line else "")
        super().__init__(
            f"{where} tried to {tried}. Confined scripts have no network, start no processes, and read and write nothing but "
            "their own files; load it with trust_remote_code=True if you trust it."
        )
        self.errno = errno.EPERM  # by which code knows what is denied


class DeniedAccessWarning(UserWarning):
    """Something that a confined script tried, may not do, and went on without."""


class ScriptMemoryError(DatasetBuildError, MemoryError):
    """A dataset script that needs more memory than it may take.

    Args:
        what: what needed it, as the subject of a sentence.
        limit: how many bytes it may take, where known.
    """

    def __init__(self, what: str, *, limit: int | None = None) -> None:
        self.what, self.limit = what, limit
        than = "than there is" if limit is None else f"than the {limit:,} bytes that it may take"
        super().__init__(
            f"{what} needs more memory {than}. Let it hold less at a time, or raise the setting confined_memory_bytes."
        )


class DatasetDiskError(DatasetBuildError, OSError):
    """A disk that is full, read-only or forbidden.

    Args:
        path: the file or folder that could not be written.
        reason: the system's words.
        needed: bytes that were wanted, where known.
        free: bytes that are free there, where known.
    """

    def __init__(self, path: str, reason: str, *, needed: int | None = None, free: int | None = None) -> None:
        self.path, self.reason, self.needed, self.free = path, reason, needed, free
        sizes = [f"{count:,} bytes {what}" for count, what in ((needed, "needed"), (free, "free")) if count is not None]
        detail = f" ({', '.join(sizes)})" if sizes else ""
        super().__init__(f"Cannot write {path}: {reason}{detail}. Free space or rights there, or choose another place.")


# -- what was built, and what it should be -----------------------------------------------------------------------------


class VerificationError(DatasetsCoreError):
    """Something differs from its record."""


class ChecksumVerificationError(VerificationError):
    """A downloaded file differs from its record."""


class NonMatchingChecksumError(ChecksumVerificationError, ValueError):
    """The bytes of a file are not the bytes on record.

    Args:
        url: the URL or file.
        expected, found: what is on record, and what came.
        what: "sha256" or "size".
        advice: one thing to do, as a sentence without its stop.
        is_optional: whether a load may go without the comparison.
    """

    def __init__(
        self,
        url: str,
        *,
        expected: str,
        found: str,
        what: str = "sha256",
        advice: str | None = None,
        is_optional: bool = True,
    ) -> None:
        self.url, self.expected, self.found, self.what = url, expected, found, what
        advice = advice or "Delete it from the cache or mend the record"
        otherwise = "; verification_mode='no_checks' skips the comparison" if is_optional else ""
        super().__init__(f"{url} has {what} {found}, expected {expected}. {advice}{otherwise}.")


class MissingChecksumError(ChecksumVerificationError, ValueError):
    """URLs for which no checksum is registered, where each must have one.

    Args:
        urls: the URLs.
        path: the `checksums.tsv` that lacks them; None where there is no place for one.
    """

    def __init__(self, urls: Iterable[str], *, path: str | None) -> None:
        self.urls, self.path = tuple(urls), path
        super().__init__(
            f"No checksum is registered for {_names(self.urls)}{f' in {path}' if path else ''}, "
            "and force_checksums_validation=True demands one. Register what comes now with register_checksums=True."
        )


class ExpectedMoreDownloadedFilesError(ChecksumVerificationError):
    """Files on record were not downloaded."""


class UnexpectedDownloadedFileError(ChecksumVerificationError):
    """Files were downloaded that are not on record."""


class SplitsVerificationError(VerificationError):
    """The splits differ from their record."""


class ExpectedMoreSplitsError(SplitsVerificationError):
    """Splits on record were not made."""


class UnexpectedSplitsError(SplitsVerificationError):
    """Splits were made that are not on record."""


class NonMatchingSplitsSizesError(SplitsVerificationError, ValueError):
    """A split has another number of rows or bytes than on record."""


class LockDriftError(VerificationError, ValueError):
    """A dataset that is not what its lock says.

    Args:
        path: the lock.
        moved: what is not what it was, a line each.
    """

    def __init__(self, path: str, moved: Iterable[str]) -> None:
        self.path, self.moved = path, tuple(moved)
        listed = "; ".join(self.moved[:20]) + (f"; … ({len(self.moved)} in all)" if len(self.moved) > 20 else "")
        super().__init__(
            f"The dataset is not what {path} says: {listed}. "
            "Put back what moved, or accept it with lock_dataset(..., update=True)."
        )


_REBUILD = "Build the dataset again with download_mode='force_redownload'"


class DamagedShardError(VerificationError, OSError):
    """A shard on disk is cut, altered or not ours."""

    def __init__(self, path: str, reason: str, *, advice: str | None = None) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}. {advice or _REBUILD}.")


class ManifestError(VerificationError, ValueError):
    """A dataset_info.json or another recorded description that cannot be read."""

    def __init__(self, path: str, reason: str, *, advice: str = "Mend or delete that file") -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason.rstrip('.')}. {advice}.")


# -- download and archives ---------------------------------------------------------------------------------------------


class DownloadError(DatasetsCoreError, OSError):
    """A URL that could not be fetched."""

    def __init__(self, url: str, reason: str, *, status: int | None = None, advice: str | None = None) -> None:
        self.url, self.reason, self.status = url, reason, status
        super().__init__(f"{url}: {reason}. {advice or 'Check the address and the connection, then run again'}.")


class UrlNotFoundError(DownloadError, FileNotFoundDatasetsError):
    """A URL at which its server has nothing."""


class FileChangedError(DownloadError):
    """A file that became another one while it was read: its bytes are never mixed.

    Args:
        url: the file, a URL without secrets or a path.
        reason: what tells that it changed, without a final stop.
    """

    def __init__(self, url: str, reason: str = "it changed while it was read") -> None:
        super().__init__(url, reason, advice="Load the dataset again; saved states of the old file hold no longer")


class OfflineError(DownloadError, ConnectionError):
    """A URL that is needed while offline mode is on."""


# -- the Hub -----------------------------------------------------------------------------------------------------------


class HubError(DatasetsCoreError):
    """The Hub, or a repository on it, is not as it should be.

    Args:
        repo_id: the repository.
        reason: what was found there, without a final stop.
        advice: one thing to do, as a sentence without its stop.
        revision: the revision that was asked for, where known.
        status: what the server answered, where it did.
    """

    def __init__(
        self, repo_id: str, reason: str, advice: str, *, revision: str | None = None, status: int | None = None
    ) -> None:
        self.repo_id, self.reason, self.revision, self.status = repo_id, reason, revision, status
        super().__init__(f"The Hub dataset {repo_id!r} {reason}. {advice}.")


class RepositoryNotFoundError(DatasetNotFoundError, HubError):
    """A repository that the Hub does not have, or does not show to this user.

    Args:
        repo_id: the repository.
        token_sent: whether the Hub was told who asks.
        endpoint: the address of the Hub.
        status: what it answered.
        local: the path on this disk that could have been meant, and is not there.
    """

    def __init__(
        self,
        repo_id: str,
        *,
        token_sent: bool = False,
        endpoint: str | None = None,
        status: int | None = None,
        local: str | None = None,
    ) -> None:
        self.token_sent, self.endpoint, self.local = token_sent, endpoint, local
        where = f" at {redact(endpoint)}" if endpoint else ""
        if token_sent:
            reason = f"does not exist{where}, or is private and your token may not see it"
            advice = "Check its name, or ask its owner for access"
        else:
            reason = f"does not exist{where}, or is private and no token was sent"
            advice = "Check its name, or log in (hf auth login, HF_TOKEN or token='hf_…')"
        beside = f"; nor is there a folder, script or data file {local} on this disk" if local else ""
        HubError.__init__(self, repo_id, reason + beside, advice, status=status)


class ForbiddenRepositoryError(DatasetNotFoundError, HubError, PermissionError):
    """A repository that the Hub does not let this user at."""


class DisabledRepositoryError(ForbiddenRepositoryError):
    """A repository that the Hub lets nobody at."""


class GatedRepositoryError(DatasetNotFoundError, HubError, PermissionError):
    """A repository whose files only those get who asked for access on its page.

    Args:
        repo_id: the repository.
        token_sent: whether the Hub was told who asks.
        page: the address where access is asked for.
        status: what the Hub answered.
    """

    def __init__(self, repo_id: str, *, token_sent: bool, page: str, status: int | None = None) -> None:
        self.token_sent, self.page = token_sent, page
        if token_sent:
            reason, advice = "is gated, and your token has no access to its files", f"Ask for access at {redact(page)}"
        else:
            reason = "is gated, and its files are for users with access; no token was sent"
            advice = f"Ask for access at {redact(page)} and log in (hf auth login, HF_TOKEN or token='hf_…')"
        HubError.__init__(self, repo_id, reason, advice, status=status)


class InvalidTokenError(HubError, PermissionError):
    """A token that the Hub does not know, or none where one is asked for."""

    def __init__(self, reason: str, *, advice: str | None = None, repo_id: str = "", status: int | None = None) -> None:
        self.repo_id, self.reason, self.revision, self.status = repo_id, reason, None, status
        advice = advice or "Log in again (hf auth login), mend HF_TOKEN or token=, or pass token=False for public datasets"
        of = f" (asked for {repo_id!r})" if repo_id else ""
        DatasetsCoreError.__init__(self, f"{reason}{of}. {advice}.")


class RevisionNotFoundError(DatasetNotFoundError, HubError):
    """A branch, tag or commit that a repository does not have.

    Args:
        repo_id: the repository.
        revision: what was asked for.
        known: branches and tags that there are, where known.
        status: what the Hub answered.
    """

    def __init__(self, repo_id: str, revision: str, *, known: Iterable[str] = (), status: int | None = None) -> None:
        self.known = tuple(known)
        listed = f" (known here: {_names(self.known)})" if self.known else ""
        reason = f"has no revision {revision!r}{listed}"
        HubError.__init__(
            self, repo_id, reason, "Give a branch, a tag or a full commit hash as revision=", revision=revision, status=status
        )


class HubUnreachableError(OfflineError, HubError):
    """A Hub that cannot be reached, while the cache does not hold what is needed.

    Args:
        url: what was asked for.
        reason: why it could not be had.
        repo_id, revision: whose it is.
        status: what the server answered, where it did.
        commit: what the revision means by now, where the Hub told that much: nothing of another commit will do.
    """

    def __init__(
        self,
        url: str,
        reason: str,
        *,
        repo_id: str,
        revision: str | None = None,
        status: int | None = None,
        commit: str | None = None,
    ) -> None:
        self.url, self.reason, self.repo_id, self.revision, self.status = url, reason, repo_id, revision, status
        self.commit = commit
        DatasetsCoreError.__init__(self, f"{url}: {reason}. Check the connection and HF_ENDPOINT, then run again.")


class EmptyRepositoryError(DataFilesNotFoundError, HubError):
    """A repository without a file of data.

    Args:
        repo_id: the repository.
        revision: which revision of it.
        reason: what it holds instead.
    """

    def __init__(self, repo_id: str, *, revision: str | None = None, reason: str = "holds no data files") -> None:
        at = f" at revision {revision!r}" if revision else ""
        HubError.__init__(
            self,
            repo_id,
            f"{reason}{at}",
            "Put data there (CSV, JSON, Parquet, text, images, …), or name files with data_files=",
            revision=revision,
        )


class PushError(HubError):
    """A push to the Hub that did not come to its commit."""


class PushConflictError(PushError):
    """A push that others' commits came before, again and again."""


class ArchiveError(FileFormatError):
    """An archive that is damaged, encrypted, too large, or not an archive."""


class UnsafeArchiveError(ArchiveError, PermissionError):
    """An archive with a member that would leave its folder, or is a device or an outward link."""


def describe(facts: Mapping[str, object]) -> str:
    """Facts as `name=value, …`, for messages that compare records."""
    return ", ".join(f"{name}={value}" for name, value in facts.items())
