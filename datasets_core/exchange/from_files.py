"""Datasets made of files: by `load`, which stands above and is looked up when it is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias, TypeVar

from datasets_core._lazy import later
from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.meta.split import NamedSplit, Split
from datasets_core.rows.tabled import Tabled

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]

T = TypeVar("T", bound=Tabled)


class FromFiles(Tabled):
    """What a dataset is made of: files of a format, built once into the cache."""

    @classmethod
    def from_csv(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """The rows of csv files.

        Args:
            path_or_paths: paths, globs or URLs.
            split: the split that the rows are of; "train" if None.
            features: what the columns are to be; None: what the values say.
            cache_dir: the cache; that of the settings if None.
            keep_in_memory: read the built rows into memory.
            num_proc: worker processes of the build.
            kwargs: options of the format, such as `sep=`, and of `load_dataset`, such as `storage_options=`.

        Raises:
            DataFilesNotFoundError: no such file.
            DatasetBuildError: a file is not what its format promises.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.csv")
        ...     _ = path.write_text("a,b\\n1,x\\n")
        ...     Dataset.from_csv(path, cache_dir=folder, keep_in_memory=True)[0]
        {'a': 1, 'b': 'x'}
        """
        return _loaded(cls, "csv", path_or_paths, split, features, cache_dir, keep_in_memory, num_proc, kwargs)

    @classmethod
    def from_json(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """The rows of JSON files: lines, lists of objects, or (`field`) what stands at a key of one object; see `from_csv`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.json")
        ...     _ = path.write_text('{"rows": [{"a": 1}]}')
        ...     Dataset.from_json(path, field="rows", cache_dir=folder, keep_in_memory=True)[0]
        {'a': 1}
        """
        options = {**kwargs, **({} if field is None else {"field": field})}
        return _loaded(cls, "json", path_or_paths, split, features, cache_dir, keep_in_memory, num_proc, options)

    @classmethod
    def from_parquet(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        num_proc: int | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: str = "error",
        **kwargs: Any,
    ) -> Self:
        """The rows of Parquet files; `columns` and `filters` say which; see `from_csv`.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.parquet")
        ...     _ = Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).to_parquet(path)
        ...     Dataset.from_parquet(path, columns=["b"], cache_dir=folder, keep_in_memory=True)[1]
        {'b': 4}
        """
        given = {
            "columns": columns,
            "filters": filters,
            "fragment_scan_options": fragment_scan_options,
            "on_bad_files": None if on_bad_files == "error" else on_bad_files,
        }
        options = {**kwargs, **{name: value for name, value in given.items() if value is not None}}
        return _loaded(cls, "parquet", path_or_paths, split, features, cache_dir, keep_in_memory, num_proc, options)

    @classmethod
    def from_text(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        keep_linebreaks: bool = False,
        sample_by: str = "line",
        **kwargs: Any,
    ) -> Self:
        """The lines of text files; by `sample_by` their paragraphs, or whole documents; see `from_csv`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text("one\\ntwo\\n")
        ...     Dataset.from_text(path, cache_dir=folder, keep_in_memory=True)[1]
        {'text': 'two'}
        """
        options = {**kwargs, "keep_linebreaks": keep_linebreaks, "sample_by": sample_by}
        return _loaded(cls, "text", path_or_paths, split, features, cache_dir, keep_in_memory, num_proc, options)

    @classmethod
    def from_tfrecord(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        spec: Mapping[str, Any] | None = None,
        columns: list[str] | None = None,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """The records of TFRecord files, by `spec` or `features` if one is given; see `from_csv`.

        >>> import os, tempfile
        >>> from datasets_core.records import TFRecordWriter, encode_example
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.tfrecord")
        ...     with TFRecordWriter(path) as writer:
        ...         writer.write(encode_example({"label": 7, "image": b"..."}))
        ...     Dataset.from_tfrecord(path, columns=["label"], cache_dir=folder, keep_in_memory=True)[0]
        {'label': 7}
        """
        given = {"spec": spec, "columns": columns}
        options = {**kwargs, **{name: value for name, value in given.items() if value is not None}}
        return _loaded(cls, "tfrecord", path_or_paths, split, features, cache_dir, keep_in_memory, num_proc, options)

    @classmethod
    def from_sql(
        cls,
        sql: Any,
        con: Any,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> Self:
        """The answer of a database to a query.

        Args:
            sql: the query, or the name of a table.
            con: the URI of a database, or a connection of sqlite3 or SQLAlchemy.
            features: what the columns are to be; None: what the values say.
            cache_dir: the cache; that of the settings if None.
            keep_in_memory: read the built rows into memory.
            kwargs: options of the format: `index_col`, `coerce_float`, `params`, `parse_dates`, `columns`, `chunksize`.

        Raises:
            DatasetGenerationError: the database refuses the query.
            MissingDependencyError: the database needs SQLAlchemy, which is not installed.

        >>> import sqlite3
        >>> connection = sqlite3.connect(":memory:")
        >>> _ = connection.execute("create table t (a integer)"), connection.execute("insert into t values (7)")
        >>> Dataset.from_sql("select * from t", connection)[0]
        {'a': 7}
        >>> connection.close()
        """
        options = {**kwargs, "sql": sql, "con": con}
        return _load(cls, "sql", None, Split.TRAIN, features, cache_dir, keep_in_memory, None, options)


def _loaded(
    owner: type[T],
    kind: str,
    paths: Paths | Mapping[str, Paths],
    split: NamedSplit | str | None,
    features: Features | None,
    cache_dir: Path | None,
    keep_in_memory: bool,
    num_proc: int | None,
    options: Mapping[str, Any],
) -> T:
    name = str(split or Split.TRAIN)
    by_split = {str(key): value for key, value in paths.items()} if isinstance(paths, Mapping) else {name: paths}
    if split is None and isinstance(paths, Mapping):
        if len(by_split) != 1:
            raise ConfigurationError(
                f"The paths are of the splits {', '.join(map(repr, by_split))}. Give split=, or use DatasetDict.from_{kind}."
            )
        name = next(iter(by_split))
    return _load(owner, kind, by_split, name, features, cache_dir, keep_in_memory, num_proc, options)


def _load(
    owner: type[T],
    kind: str,
    data_files: Mapping[str, Paths] | None,
    split: str,
    features: Features | None,
    cache_dir: Path | None,
    keep_in_memory: bool,
    num_proc: int | None,
    options: Mapping[str, Any],
) -> T:
    load_dataset: Callable[..., Any] = later("datasets_core.load", "load_dataset")
    found = load_dataset(
        kind,
        data_files=data_files,
        split=split,
        features=features,
        cache_dir=cache_dir,
        keep_in_memory=keep_in_memory or None,
        num_proc=num_proc,
        **options,
    )
    if isinstance(found, owner) or not isinstance(found, Tabled):
        return found
    made = owner(found._table, info=found._info, split=found._split, fingerprint=found._fingerprint)
    made._index = found._index
    return made
