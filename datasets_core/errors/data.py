"""Errors of data: rows, columns, casts, files, records, media, keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from datasets_core.errors.base import (
    ConfigurationError,
    DatasetBuildError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    _names,
    redact,
)
from datasets_core.errors.loading import DataFilesNotFoundError


class OutOfRangeError(DatasetsCoreError, EOFError):
    """A provider or a queue is exhausted.

    To fix: pass `num_epochs=None` to repeat without end, or stop when the error comes.

    Args:
        name: the provider or queue.
        num_samples: number of samples that it returned.
    """

    def __init__(self, name: str, *, num_samples: int) -> None:
        self.name, self.num_samples, self.advice = name, num_samples, "Pass num_epochs=None to repeat without end"
        super().__init__(f"{name} is exhausted after {num_samples:,} samples. {self.advice}.")


class NoDataFilesError(DataFilesNotFoundError, ValueError):
    """Data sources that match no file.

    To fix: check the path or pattern.

    Args:
        sources: the paths or patterns.

    Example:
        >>> print(NoDataFilesError("birds-*.tfrecord"))
        No data files found in birds-*.tfrecord. Check the path or pattern.
    """

    def __init__(self, sources: object) -> None:
        self.sources = self.value = sources
        shown = redact(sources) if isinstance(sources, str) else repr(sources)
        self.advice = "Check the path or pattern"
        super().__init__(f"No data files found in {shown}. {self.advice}.")


class NestedQueueRunnerError(ConfigurationError):
    """A `slim.QueueRunners` block inside another one.

    To fix: remove the inner block.

    Example:
        >>> print(NestedQueueRunnerError())
        QueueRunners cannot be nested. Remove the inner block.
    """

    def __init__(self) -> None:
        self.advice = "Remove the inner block"
        super().__init__(f"QueueRunners cannot be nested. {self.advice}.")


class RowIndexError(DatasetsCoreError, IndexError):
    """A row number outside the dataset.

    To fix: use a number below `len(dataset)`.

    Args:
        index: the row number that was passed.
        size: number of rows.
    """

    def __init__(self, index: int, *, size: int) -> None:
        self.index, self.size, self.value = index, size, index
        bounds = f"Rows go from 0 to {size - 1}, or from -{size} to -1" if size else "The dataset has no rows"
        super().__init__(f"Index {index} is out of range for a dataset of {size} rows. {bounds}.")


class RowIdError(DatasetsCoreError, ValueError, KeyError):
    """An invalid row id, or one that no row of the dataset has.

    To fix: use an id that `row_id` or `add_row_id=True` returned for this dataset.

    Args:
        id: the id.
        reason: what is wrong with it.
        dataset: name of the dataset that was searched.
    """

    def __init__(self, id: object, reason: str, *, dataset: str | None = None) -> None:
        self.id, self.reason, self.dataset = id, reason, dataset
        self.value = id
        of = f" in {dataset!r}" if dataset else ""
        example = "Ids look like 'reviews-train-00000-of-00012.arrow__32'."
        super().__init__(f"Unknown row id {id!r}{of}: {reason}. {example}")


class MissingRowIdsError(ConfigurationError):
    """Row ids were requested for rows without ids.

    To fix: get the ids from the dataset that `load_dataset` returned, before `map`.

    Args:
        row: the number of the first such row.
    """

    def __init__(self, row: int) -> None:
        self.row = row
        super().__init__(
            f"Row {row} of the dataset has no id because it is not stored in a shard of a built dataset: it was passed as "
            "values, or written by map() or a similar operation. "
            "Get ids from the dataset that load_dataset() or as_dataset() returned."
        )


class MaskLengthError(DatasetsCoreError, IndexError):
    """A boolean mask whose length differs from that of the dataset.

    To fix: pass one boolean for each row.

    Args:
        length: length of the mask.
        size: number of rows.
    """

    def __init__(self, length: int, *, size: int) -> None:
        self.length, self.size = length, size
        self.value, self.advice = length, "Pass one boolean for each row"
        super().__init__(f"A mask of {length} booleans does not fit a dataset of {size} rows. Pass one boolean for each row.")


class UnknownColumnError(DatasetsCoreError, ValueError, KeyError):
    """A column that the dataset does not have.

    To fix: use one of the listed columns.

    Args:
        name: the name that was passed.
        known: names of the columns.
    """

    def __init__(self, name: object, *, known: Iterable[str]) -> None:
        self.name = self.value = name
        self.known = tuple(known)
        super().__init__(f"Unknown column {str(name)!r}. Available columns: {_names(self.known)}.")


class UnknownItemError(DatasetsCoreError, ValueError, KeyError):
    """An item that a decoder or a provider does not have.

    To fix: use one of the listed items.

    Args:
        item: the name that was passed.
        known: names of the items.
    """

    def __init__(self, item: object, *, known: Iterable[str]) -> None:
        self.item = self.value = item
        self.known = tuple(known)
        super().__init__(f"Unknown item {str(item)!r}. Available items: {_names(self.known)}.")


class UnknownFeatureError(DatasetsCoreError, ValueError, KeyError):
    """A key that an item needs, but that has no feature spec.

    To fix: add a spec for the key, or remove the item.

    Args:
        key: the key.
        item: name of the item that needs it.
        known: keys that have a spec.
    """

    def __init__(self, key: object, *, item: str, known: Iterable[str]) -> None:
        self.key, self.item, self.known = key, item, tuple(known)
        self.value = key
        super().__init__(
            f"Item {item!r} needs the key {str(key)!r}, which has no feature spec. Keys with specs: {_names(self.known)}."
        )


class QueryError(DatasetsCoreError, ValueError):
    """An SQL query that is invalid or failed.

    To fix: fix the query. The dataset is called `ds`; pass other datasets by name.

    Args:
        query: the SQL.
        reason: what is wrong.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(self, query: str, reason: str, *, advice: str = "Fix the query; refer to the dataset as ds") -> None:
        self.query, self.reason, self.value, self.advice = query, reason, query, advice
        super().__init__(f"The query {query!r} failed: {reason.rstrip('.')}. {advice}.")


class MissingIndexError(ConfigurationError, LookupError):
    """A search index that the dataset does not have.

    To fix: call `add_faiss_index` or `add_elasticsearch_index` first; `select`, `shuffle` and `map` drop an index.
    """


class IndexFileError(DatasetsCoreError, OSError):
    """A file of a search index that cannot be read or written.

    To fix: check the path, and that the file was written by `save_faiss_index`.
    """


class DatasetGenerationError(DatasetBuildError):
    """The code that generates the rows failed.

    To fix: fix the code that generates the rows; the cause is the exception above this one in the traceback.

    Args:
        message: what happened, and what to do.
        row: number of rows yielded before the failure, if known.
    """

    def __init__(self, message: str = "", *, row: int | None = None) -> None:
        self.row = row
        super().__init__(message)


class FileFormatError(DatasetGenerationError, ValueError):
    """A data file that is invalid in its format.

    To fix: open the file at the line or row that the message names; fix it, or leave it out of `data_files`.

    `FileFormatError("text")`, as code for Hugging Face `datasets` raises it, has the message `text`.

    Args:
        path: the file or URL as the user knows it.
        reason: what is wrong, without a full stop.
        line: line number from 1, if any.
        row: row number from 0, if any.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(
        self,
        path: str = "",
        reason: str | None = None,
        *,
        line: int | None = None,
        row: int | None = None,
        advice: str | None = None,
    ) -> None:
        if reason is None:
            super().__init__(path)
            return
        self.advice = advice or "Fix the file, or leave it out of data_files"
        self.file = self.path = path
        self.reason, self.line, self.row = reason, line, row
        where = f", line {line}" if line is not None else f", row {row}" if row is not None else ""
        super().__init__(f"{path}{where}: {reason}. {self.advice}.", row=row)


class ColumnLimitError(FileFormatError):
    """A file with more columns than the setting `max_columns` allows; nested fields count too.

    To fix: read rows with many keys as lists of key and value; raise the setting if you trust the file.

    Args:
        path: the file, URL or script.
        value: the number of columns found; the rest were not counted.
        limit: the setting.
    """

    def __init__(self, path: str, value: int, limit: int) -> None:
        advice = f"Raise the setting max_columns, which is {limit:,}, if you trust the file"
        super().__init__(path, f"has at least {value:,} columns and nested fields", advice=advice)
        self.value, self.limit = value, limit


class DamagedRecordError(FileFormatError):
    """A damaged record file; the records before the damage are valid and were returned.

    To fix: download or write the file again.

    Args:
        path: the file or URL as the user knows it.
        damage: `"length CRC"`, `"data CRC"`, `"cut in header"`, `"cut in data"`, `"cut gzip"`, `"damaged gzip"` (or zlib).
        record: number of the record, from 0; None if it was found by its offset.
        offset: offset of the record's frame in the decompressed file, in bytes.
        reason: what was found, without a full stop.
        advice: one thing to do.
    """

    def __init__(
        self, path: str, damage: str, *, record: int | None, offset: int, reason: str, advice: str | None = None
    ) -> None:
        self.damage, self.record, self.offset = damage, record, offset
        advice = advice or "Download or write the file again; the records before this one are valid"
        number = "the record" if record is None else f"record {record:,}"
        super().__init__(path, f"{number} at byte {offset:,} is damaged ({damage}): {reason}", advice=advice)
        self.reason, self.row = reason, record


class ExampleError(FileFormatError):
    """A record that is not a valid protobuf message, or does not have the expected features.

    To fix: fix the spec (`spec=`, `features=`), or the record that the message names.

    Args:
        path: the file or URL as the user knows it.
        reason: what was found, without a full stop.
        record: number of the record, from 0; None for a single message.
        key: name of the feature.
        offset: offset of the record's frame in the decompressed file, in bytes; None if unknown.
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
        super().__init__(path, f"{where}{reason}", advice=advice or "Fix the record, or the requested features")
        self.reason, self.row = reason, record


class ItemError(DatasetsCoreError, ValueError):
    """The requested item cannot be built from the values of a sample.

    To fix: fix the record, or the handler of the item.

    Args:
        reason: what was found, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(self, reason: str, *, advice: str | None = None) -> None:
        self.reason, self.advice = reason, advice or "Fix the record, or the handler of the item"
        super().__init__(f"{reason[:1].upper()}{reason[1:]}. {self.advice}.")


class DatasetGenerationCastError(DatasetGenerationError, ValueError):
    """Rows or files whose columns or types do not fit the others, or do not fit the features.

    To fix: fix the value, pass `features=` with types that fit all files, or put files with other columns into a separate
    config.

    Attributes:
        row: row number from 0, in the file if there is one.
        column: the column of the value that does not fit, if it is one value.
    """

    column: str | None = None

    @classmethod
    def of_cell(cls, error: CellCastError, what: str, label: str, row: int) -> Self:
        """Return the error of one value that does not fit.

        Args:
            error: the failure, whose row number is that in a batch.
            what: the file or table, as the subject of the message.
            label: the split.
            row: the row number in the file or table.
        """
        place = f"row {row}, column {error.column!r}" if error.column else f"row {row}"
        return cls(f"{what} does not fit {label}: {place}: {error.reason}. {error.advice}.", row=row).in_column(error.column)

    def in_column(self, column: str | None) -> Self:
        """Return the same error with the column set, if there is one."""
        self.column = column or None
        return self


class CastError(DatasetsCoreError, ValueError):
    """A value, column or table that does not fit a feature.

    To fix: fix the value, or change the feature of the column.
    """


class CellCastError(CastError, TypeError):
    """One value that does not fit its column.

    To fix: fix the value in the row that the message names, or change the feature of the column.

    Args:
        column: the column, or the path of a field in it.
        reason: what is wrong, naming the value and the type.
        row: row number, counted from 0 in the data passed.
        what: the file or table, if any.
        advice: one thing to do, as a sentence without its full stop.
    """

    ADVICE = "Fix the value, or the feature of the column"

    def __init__(
        self, column: str, reason: str, *, row: int | None = None, what: str | None = None, advice: str | None = None
    ) -> None:
        self.column, self.reason, self.row, self.what = column, reason, row, what
        self.advice = advice or self.ADVICE
        place = f"column {column!r}" if row is None else f"row {row}, column {column!r}"
        place = f"{what}, {place}" if what else place[0].upper() + place[1:]
        super().__init__(f"{place}: {reason}. {self.advice}.")


class MediaTypeError(CastError, TypeError):
    """An array or object whose type cannot be encoded as an image, sound or other media.

    To fix: convert the array first, for example to `uint8` for images.
    """


class MediaError(DatasetsCoreError, ValueError):
    """An image, sound, video or document that cannot be decoded.

    To fix: fix or remove the file, or read the stored bytes with `decode=False`.

    Args:
        what: the media value or its path, as the subject of a sentence.
        reason: what is wrong, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
        column: the column.
        row: row number, from 0, if known.
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
        """Return the same error with its place; the values passed replace those of the error."""
        self.column = self.column if column is None else column
        self.row = self.row if row is None else row
        self.args = (self._message(),)
        return self


class MediaDecodeError(MediaError, OSError):
    """A media file that is damaged or of another kind; also an `OSError`, like the errors of Pillow.

    To fix: fix the file, leave the row out, or read the stored bytes with `decode=False`.

    Args:
        what: the media value or its path, as the subject of a sentence.
        reason: what is wrong, without a full stop.
    """

    def __init__(self, what: str, reason: str) -> None:
        advice = "Fix the file, leave the row out, or read the stored bytes with decode=False"
        super().__init__(what, f"cannot be decoded: {reason}", advice)


class MediaNotFoundError(MediaError, FileNotFoundDatasetsError):
    """A path in the values of a dataset that does not lead to a file.

    To fix: put the file at that path, or correct the path in the data.

    Args:
        path: the path.
        reason: what is wrong, without a full stop.
    """

    def __init__(self, path: str, reason: str = "does not exist") -> None:
        self.file = self.path = path
        super().__init__(f"the path {redact(path)!r}", reason, "Fix the path, or put the file there")


class UntrustedPathError(MediaError, PermissionError):
    """A path in the values of a dataset, or a link in its folder, that leads outside the dataset.

    To fix: allow the folder or URL if you trust the data: `config.using(media_paths=[…])`.

    Args:
        path: the path in the data.
        allowed: the folders and URL prefixes that may be opened.
        target: target of the link, if the path is a link.
    """

    def __init__(self, path: str, *, allowed: Iterable[str], target: str | None = None) -> None:
        self.file = self.path = path
        self.allowed, self.target = tuple(allowed), target
        places = ", ".join(repr(redact(place)) for place in self.allowed) or "nowhere"
        leads = "leads" if target is None else f"is a link to {target!r}, which is"
        said = "trust the data, allow its" if target is None else "made the link, name it in data_files=, or allow its"
        super().__init__(
            f"the path {redact(path)!r}",
            f"comes from the data and {leads} outside the dataset (allowed: {places}), so it is not opened",
            f"If you {said} folder or URL: datasets_core.config.using(media_paths=[…])",
        )


class DuplicateKeysError(DatasetGenerationError, ValueError):
    """Two rows of one split have the same key.

    To fix: yield a key that is unique in its split.

    Args:
        key: the key.
        split: the split.
        places: the places of the two rows.
        is_sorted: True if the rows are ordered by key.
        place: file and line that yielded the second row, if known.
    """

    def __init__(
        self, key: object, *, split: str, places: Iterable[str], is_sorted: bool = False, place: str | None = None
    ) -> None:
        self.key, self.places, self.place, self.value = key, tuple(places), place, key
        otherwise = (
            "; rows are ordered by key, and an integer equals its text, and \\ equals / in texts"
            if is_sorted
            else ", or pass verification_mode='no_checks'"
        )
        super().__init__(
            f"Two rows of split {split!r} have the same key {key!r}: {' and '.join(self.places)}"
            f"{f', yielded in {place}' if place else ''}. "
            f"Yield a key that is unique in the split{otherwise}."
        )
        self.placed(place, split=split)


class InvalidKeyError(DatasetGenerationError, TypeError):
    """A key that cannot be compared with others.

    To fix: yield an int, a str or bytes as the key.

    Args:
        key: the key.
        row: number of the row.
        split: the split of that row, if known.
        is_sorted: True if the rows are ordered by key.
        place: file and line that yielded it, if known.
    """

    def __init__(
        self, key: object, *, row: int, split: str | None = None, is_sorted: bool = False, place: str | None = None
    ) -> None:
        self.key, self.is_sorted, self.place, self.value = key, is_sorted, place, key
        kinds = (
            "an int, a str or bytes (of numpy, an array of one value)"
            if is_sorted
            else "an int, a str, bytes or a tuple of them"
        )
        of, where = "" if split is None else f" of split {split!r}", "" if place is None else f", yielded in {place}"
        what = f"The key of row {row}{of} is {key!r} ({type(key).__name__}){where}"
        super().__init__(f"{what}. Yield {kinds} as the key.", row=row)
        self.placed(place, split=split)

    def of(self, split: str, place: str | None) -> InvalidKeyError:
        """Return the same error with split and line."""
        return InvalidKeyError(self.key, row=self.row or 0, split=split, is_sorted=self.is_sorted, place=place)


class TooManyErrorsError(DatasetsCoreError, ValueError):
    """More rows of a stream failed than `max_errors`.

    To fix: fix the rows or the function, or raise `max_errors` of `on_error`.

    Args:
        count: number of failed rows.
        most: the limit.
        kinds: number of failures for the most frequent pairs of error and step.
        quarantine: the file to which the failed rows were written.
    """

    def __init__(self, count: int, most: int, kinds: dict[str, int], quarantine: str | None = None) -> None:
        self.count, self.most, self.kinds, self.quarantine = count, most, kinds, quarantine
        listed = ", ".join(f"{number} by {kind}" for kind, number in kinds.items())
        where = "" if quarantine is None else f"; they were written to {quarantine}"
        self.advice = "Fix the rows or the function, or raise max_errors"
        super().__init__(
            f"{count} rows of the stream failed, more than on_error(max_errors={most}) allows ({listed}{where}). {self.advice}."
        )
