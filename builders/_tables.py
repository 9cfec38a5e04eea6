"""`FileBuilder`: base of the formats: data files by split, files as named tables, columns cast to the requested features."""

from __future__ import annotations

import contextlib
import copy
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pyarrow as pa

from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.config import check_schema
from datasets_core.errors import ConfigurationError, DataFilesWarning, DatasetsCoreError, logger_of, redact
from datasets_core.features.arrow import merge_types
from datasets_core.features.schema import Features
from datasets_core.files import COMPRESSIONS, HEAD_BYTES, disk_errors, is_http, is_local_path, is_url, kind_of
from datasets_core.meta.data_files import DataFilesDict, match
from datasets_core.meta.info import DatasetInfo

if TYPE_CHECKING:
    from datasets_core.building.marks import Mark
    from datasets_core.fetch.remote import RemoteFile
    from datasets_core.meta.row_blocks import RowBlocks
    from datasets_core.stream.sources.block_reader import BlockFile
    from datasets_core.stream.steps import Step

    from ._source import Source


# Schemas of files, checked before their rows are read; tables without rows.


def repeated(names: list[str]) -> str | None:
    """Return the first duplicate name."""
    return next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None


def look_at_names(fields: Iterable[pa.Field]) -> None:
    """Access all names of a schema, since only that raises errors for names that are not UTF-8.

    Raises:
        ValueError: a name is not UTF-8, or belongs to a union, which no feature stores.
    """
    for field in fields:
        name = field.name
        if pa.types.is_union(field.type):
            raise ValueError(f"{name!r} is a union of several types, which no feature stores")
        if pa.types.is_struct(field.type):
            look_at_names(field.type.field(number) for number in range(field.type.num_fields))
        elif pa.types.is_map(field.type):
            look_at_names((field.type.key_field, field.type.item_field))
        elif pa.types.is_nested(field.type) and not pa.types.is_run_end_encoded(field.type):
            look_at_names((field.type.value_field,))


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """Return an empty batch of `schema`."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


logger = logger_of(__name__)

_ARCHIVES = frozenset({"zip", "tar", "rar", "7z"})
_SHOWN = 5
_FETCH_AGAIN = "Download the archive again, or recreate it"


class FileBuilder(ArrowBasedBuilder):
    """A builder whose rows are in data files of one format.

    A format implements `read`, which turns one file into record batches.  Archives are unpacked first; single compressed
    files are decompressed while they are read, unless the format needs random access (`seeks`).
    """

    seeks: ClassVar[bool] = False
    streams: ClassVar[bool] = False
    """True if `read` only needs `Source.open`, and so no local file."""
    has_marks: ClassVar[bool] = False
    """True if `read_live` is implemented."""
    config: Any
    _begins: tuple[Mark | None] | None = None
    _said: list[str]

    @property
    def is_native(self) -> bool:
        """True if `read` spends its time in Arrow, without the interpreter's lock, so that `num_proc` needs no processes."""
        return False

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=self.config.features)

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        """Return one split per key of `data_files`, each with its local files and their names for errors."""
        self._said = []  # of this builder and its copies
        named = self._named()
        self._refuse_strays(named)
        local = dl_manager.download(named)
        splits = []
        for split, names in named.items():
            shown = (name if is_local_path(name) else redact(name) for name in names)
            pairs = list(zip(local[split], shown, strict=True))
            is_packed = any(_is_elsewhere(path) and not self._is_told(path, name) for path, name in pairs)
            pairs = [pair for path, name in pairs for pair in self._unpacked(name, path, dl_manager)]
            files = {"files": [path for path, _ in pairs], "names": [name for _, name in pairs]}
            splits.append(SplitGenerator(split, {**files, "dl_manager": dl_manager} if is_packed else files))
        return splits

    def _named(self) -> dict[str, list[str]]:
        """Return the data files by split, as the user named them."""
        data_files = self.config.data_files
        if not data_files:
            raise ConfigurationError("No data files were given. Pass data_files=, or data_dir= of a folder with files.")
        if not isinstance(data_files, dict):
            data_files = {"train": [data_files] if isinstance(data_files, (str, os.PathLike)) else list(data_files)}
        return {str(split): [os.fspath(name) for name in _listed(names)] for split, names in data_files.items()}

    def _refuse_strays(self, named: Mapping[str, Sequence[str]]) -> None:
        """Refuse links out of the dataset, since the author of the folder would choose what is read.

        Files that the user named explicitly are allowed.
        """
        data_files = self.config.data_files
        for split, names in named.items() if isinstance(data_files, DataFilesDict) else ():
            links = data_files[split].links
            for name in names if links else ():
                if name in links:
                    from datasets_core.features.media.media import (
                        refuse_stray_link,
                    )  # 5 ms that folders without links do without

                    link, root = links[name]
                    refuse_stray_link(name, root, link)

    def _unpacked(
        self, name: str, path: str | os.PathLike[str], dl_manager: Any
    ) -> Iterator[tuple[str | os.PathLike[str], str]]:
        """Yield pairs of file and name: the file itself, or the members of an archive.

        A file with an extension of the format is not checked, since looking into 2,000 small files would cost more
        than reading them; another format is refused when it is read.  While streaming, a remote file is fetched and checked
        only then.
        """
        if _is_elsewhere(path) or self._is_told(path, name):
            yield path, name
            return
        inside = {inner: member for member, inner in self._members_of(name, os.fspath(path), dl_manager)}
        if "" in inside:
            yield inside[""], name
            return
        for inner in self._chosen(list(inside), name):
            yield inside[inner], f"{inner} in {name}"

    def _is_told(self, path: str | os.PathLike[str], name: str) -> bool:
        """Return True if the extension of a file belongs to the format; for a remote file, also before that of a
        compression.
        """
        is_undone = _is_elsewhere(path) and not self.seeks
        name = re.split(r"[?#]", name, maxsplit=1)[0] if is_http(name) else name
        return (_plain_name(name) if is_undone else name.lower()).endswith(self._extensions)

    def _members_of(self, name: str, path: str, dl_manager: Any) -> Iterator[tuple[str, str]]:
        """Yield pairs of local file and path in the archive `name`; for other files the file itself, and ""."""
        from ._source import Source  # here and below: 8 ms, not needed for an existing dataset

        with disk_errors(os.fspath(path), action="read"), open(path, "rb", buffering=0) as handle:
            kind = kind_of(handle.read(HEAD_BYTES))
        if kind == "zip" and (what := _office_kind(path)) is not None:
            advice = "Load it with load_dataset('excel', data_files=...)" if what == "a workbook" else "Save it as text"
            raise Source(path, name).fault(f"is {what}, not {self.name}", advice=advice)
        inner = name.lower().endswith((".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tar.lz4"))
        if kind not in _ARCHIVES and not (kind in COMPRESSIONS and (self.seeks or inner)):
            if not kind and not is_url(name) and (said := os.path.splitext(name)[1][1:].lower()) in _ARCHIVES:
                raise Source(path, name).fault(f"is not a valid {said} archive", advice=_FETCH_AGAIN)
            yield path, ""
            return
        folder = os.fspath(dl_manager.extract(path))
        if os.path.isfile(folder):
            yield folder, ""
            return
        for member in dl_manager.iter_files([folder]):
            yield os.fspath(member), os.path.relpath(member, folder).replace(os.sep, "/")

    def _chosen(self, members: list[str], name: str) -> list[str]:
        """Return the members of the archive `name` to read: those with an extension of the format, or all where none has one.

        Raises:
            FileFormatError: there are none.
        """
        from ._source import Source

        visible = match("**", members)  # without hidden files and the files in __MACOSX
        named = [member for member in visible if self._is_named_so(member)]
        left_out = [member for member in visible if member not in named and not _is_paper(member)]
        if named and left_out:
            warn_left_out(f"{name} has files in formats other than {self.name}", left_out, "Load them with their own format")
        chosen = named or [member for member in visible if not _is_paper(member)] or visible
        if not chosen:
            raise Source(name, name).fault("is an archive without data files", advice=_FETCH_AGAIN)
        return chosen

    def _is_named_so(self, member: str) -> bool:
        """Return True if the extension of a file in an archive belongs to the format."""
        return _plain_name(member).endswith(self._extensions)

    def _generate_tables(
        self, files: Sequence[str | os.PathLike[str]], names: Sequence[str], dl_manager: Any = None
    ) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
        known = _Known(self.known_schema)
        for number, (path, name) in enumerate(zip(files, names, strict=True)):
            batches = (batch for each in self._reached(path, name, dl_manager) for batch in self.read(each, known.schema))
            for index, batch in enumerate(batches):
                check_schema(batch.schema, name)
                known.see(batch.schema)
                yield (number, index), batch

    def _reached(self, path: str | os.PathLike[str], name: str, dl_manager: Any = None) -> Iterator[Source]:
        """Yield the sources of an entry of `files`; remote files are fetched, and archives extracted, now."""
        from ._source import Source

        if dl_manager is None or self._is_told(path, name):
            if _is_elsewhere(path) and not self.streams:
                self._say_that_fetched(name)
            yield Source.of(path, name, streams=self.streams)
            return
        if _is_elsewhere(path):
            folder = cast("RemoteFile", path).unpacked()
            if self.streams and not self.seeks and (members := cast("RemoteFile", path).members()) is not None:
                for inner in self._chosen(members, name):
                    yield Source("", f"{inner} in {name}", folder / inner)
                return
            self._say_that_fetched(name)
        for local, inner in self._unpacked(name, os.fspath(path), dl_manager):
            yield Source(os.fspath(local), inner)

    def _say_that_fetched(self, name: str) -> None:
        """Log once that files are fetched whole before they are streamed."""
        if not self._said:
            self._said.append(name)
            logger.warning(
                "Files in the format %s, such as %s, are fetched whole before their first rows: they cannot be streamed.",
                self.label,
                name,
            )

    def block_files(self, asked: Mapping[str, Any]) -> list[BlockFile] | None:
        """Return the files of a split as block files, for streaming; None if one of them has no blocks.

        Args:
            asked: arguments of `_generate_tables`.
        """
        if "files" not in asked or "dl_manager" in asked:  # their format is detected by their first bytes
            return None
        found = [self.block_file(path, name) for path, name in zip(asked["files"], asked["names"], strict=True)]
        made = [file for file in found if file is not None]
        return made if len(made) == len(found) else None

    def block_file(self, path: str | os.PathLike[str], name: str) -> BlockFile | None:
        """Return a file as a block file; None if it has no blocks."""
        return None

    def num_rows_of(self, gen_kwargs: dict[str, Any]) -> int | None:
        """Return the number of rows of the one file of a part, if known without reading them; else None."""
        return None

    def block_steps(self) -> tuple[Step, ...]:
        """Return the steps from the rows of such files to those of the dataset."""
        return ()

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """See `Hooks.file_blocks`: as a stream finds them."""
        files = self.block_files(gen_kwargs)
        if files is None or self.block_steps():
            return None
        found = []
        for file in files:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # the warning was given when the rows were read
                    found.append(file.index())
            except DatasetsCoreError:
                return None
            file.release()
        from datasets_core.meta.row_blocks import RowBlocks

        return RowBlocks.joined([RowBlocks.of(index.rows, index.sizes, file_count=1) for index in found])

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """Return the rows of one file, in bounded memory.

        Args:
            source: the file.
            schema: known types of the columns; raise `Replay` with wider ones if a value does not fit.
        """
        raise NotImplementedError(f"{type(self).__name__} has no read()")

    def read_live(
        self, source: Source, schema: pa.Schema | None, mark: Mark | None
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        """Yield the rows of one file in small blocks, each with the mark of its start.

        Blocks and their types do not depend on the start; rows of other types raise an error.

        Args:
            source: the file.
            schema: known types of the columns at the start of the file.
            mark: the position to start at; None for the beginning.
        """
        raise NotImplementedError(f"{type(self).__name__} has no read_live()")

    def reading_live(self, mark: Mark | None) -> FileBuilder:
        if not self.has_marks:
            return self
        changed = copy.copy(self)
        changed._begins = (mark,)
        return changed

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        return super().generate(gen_kwargs) if self._begins is None else self._streamed_tables(self._begins[0], **gen_kwargs)

    def _streamed_tables(
        self, mark: Mark | None, files: Sequence[str | os.PathLike[str]], names: Sequence[str], dl_manager: Any = None
    ) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
        is_one = len(files) == 1 and (dl_manager is None or self._is_told(files[0], names[0]))
        row, known = 0 if mark is None else mark.row, _Known(self.known_schema)
        for number, (path, name) in enumerate(zip(files, names, strict=True)):
            for source in self._reached(path, name, dl_manager):
                for index, (batch, told) in enumerate(self.read_live(source, known.schema, mark)):
                    check_schema(batch.schema, name)
                    yield (number, index, replace(told, row=row) if told is not None and is_one else None), batch
                    row += batch.num_rows
                    if not is_one:
                        known.see(batch.schema)

    @property
    def _extensions(self) -> tuple[str, ...]:
        own = getattr(self, "EXTENSIONS", None)
        return tuple(getattr(sys.modules[type(self).__module__], "EXTENSIONS", ()) if own is None else own)

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
        """Return the type of a column that is `a` in one file and `b` in another; None if the types do not fit."""
        return merge_types(a, b)

    @property
    def known_schema(self) -> pa.Schema | None:
        """Types of the columns known from reading them; the features are applied later, by a cast."""
        known, wanted = self.read_schema, self.wanted
        if known is None or (wanted is not None and known.equals(wanted.arrow_schema)):
            return None
        return known

    @property
    def wanted(self) -> Features | None:
        """Return the features requested by the user, or recorded for the dataset."""
        features: Features | None = self.info.features if self.info.features is not None else self.config.features
        return features


_OFFICE = {
    "xl/": "a workbook",
    "word/": "a Word document",
    "ppt/": "a presentation",
    "application/vnd.oasis.opendocument.spreadsheet": "a workbook",
    "application/vnd.oasis.opendocument.text": "a text document",
}


def _office_kind(path: str) -> str | None:
    """Return what a zip is if it is a document of an office program; None for other archives."""
    import zipfile  # 5 ms, which a finished dataset does not need

    with contextlib.suppress(zipfile.BadZipFile, OSError, KeyError), zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        if "[Content_Types].xml" in names:
            return next((what for start, what in _OFFICE.items() if any(name.startswith(start) for name in names)), None)
        if "mimetype" in names and packed.getinfo("mimetype").file_size < 100:
            return _OFFICE.get(packed.read("mimetype").decode("latin-1"))
    return None


def _is_elsewhere(path: str | os.PathLike[str]) -> bool:
    """Return True if a path is a `RemoteFile`."""
    if isinstance(path, str):
        return False
    from datasets_core.fetch.remote import RemoteFile

    return isinstance(path, RemoteFile)


def warn_left_out(what: str, files: Sequence[str], advice: str) -> None:
    """Warn that files are left out, the first of them by name."""
    shown = ", ".join(map(repr, files[:_SHOWN])) + (f", … ({len(files)} in all)" if len(files) > _SHOWN else "")
    warnings.warn(f"{what}: {shown}. They are skipped. {advice}.", DataFilesWarning, stacklevel=2)


class _Known:
    """Collects the schema of batches: the newest type of each column, in order of first appearance."""

    def __init__(self, schema: pa.Schema | None) -> None:
        self.schema = schema
        self._last: pa.Schema | None = None

    def see(self, schema: pa.Schema) -> None:
        if schema is self._last or schema == self.schema:
            return
        self._last = schema
        fields = {field.name: field for field in self.schema} if self.schema is not None else {}
        for field in schema:
            if field.name not in fields or pa.types.is_null(fields[field.name].type):
                fields[field.name] = field
        self.schema = pa.schema(list(fields.values()), metadata=schema.metadata)


def _plain_name(path: str) -> str:
    """Return the name of a file in lower case, without the suffix of a compression."""
    stem, suffix = os.path.splitext(path.lower())
    return stem if suffix[1:] in COMPRESSIONS else path.lower()


def _is_paper(path: str) -> bool:
    """Return True if a file only accompanies data, such as a readme or a licence."""
    stem, suffix = os.path.splitext(path.lower().rpartition("/")[2])
    return suffix == ".md" or stem in ("readme", "license", "licence", "copying", "notice", "changelog", "citation", "authors")


def _listed(names: Any) -> Iterable[Any]:
    return [names] if isinstance(names, (str, os.PathLike)) else names
