"""`GeneratorBasedBuilder` and other builder classes of TFDS: hooks, configs and folders; this library builds."""

from __future__ import annotations

import abc
import contextlib
import copy
import dataclasses
import importlib.util
import inspect
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from datasets_core.building.beam import BeamRun, SortedRows, beam_package, wants_pipeline
from datasets_core.building.builder import GeneratorBasedBuilder as LibraryBuilder
from datasets_core.building.cache_key import source_file
from datasets_core.building.failures import row_place, yield_place
from datasets_core.building.folders import prepared_manifest, whole_builds
from datasets_core.building.hooks import BuilderConfig as LibraryConfig
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.options import BuildOptions
from datasets_core.building.versions import BlockedVersions
from datasets_core.errors import (
    CastError,
    CellCastError,
    ConfigurationError,
    DatasetGenerationCastError,
    ManifestError,
    UnknownConfigError,
    UnknownOptionError,
    logger_of,
)
from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.types import FixedShape
from datasets_core.fetch.checksums import DownloadConfig as LibraryDownloadConfig
from datasets_core.fetch.checksums import DownloadMode
from datasets_core.files import join
from datasets_core.meta.version import Version
from datasets_core.store.manifest import MANIFEST_NAME, Manifest
from datasets_core.tfds.download import DownloadConfig, DownloadManager, unread
from datasets_core.tfds.elements import whole_row_change
from datasets_core.tfds.info import DatasetInfo, name_of, register, text_beside
from datasets_core.tfds.reading import SplitReading

# Splits of a TFDS builder with rows from an Apache Beam pipeline, which are collected and run together.


class BeamSplits:
    """The pipeline of a builder, run on first use, and the folder of its rows.

    The folder is removed with this object.  It can be sent to other processes, without its pipeline.

    Args:
        label: the builder, for messages.
        folder: parent of the folder.
        runner, options: runner and options of Beam.
    """

    def __init__(self, label: str, folder: str, *, runner: Any = None, options: Any = None) -> None:
        self._label, self._above = label, folder
        self._told = (runner, options)
        self._run: BeamRun | None = None
        self._names: list[str] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"_label": self._label, "_above": self._above, "_told": (None, None), "_run": None, "_names": []}

    @property
    def run(self) -> BeamRun:
        """Start the run.

        Raises:
            MissingDependencyError: Apache Beam is not installed.
        """
        if self._run is None:
            needed_for = f"{self._label}, a builder of Apache Beam,"
            beam_package(needed_for)
            try:
                os.makedirs(self._above, exist_ok=True)
                folder = tempfile.mkdtemp(prefix=".beam-", dir=self._above)
            except PermissionError:  # a confined script may only write into its own scratch folder
                folder = tempfile.mkdtemp(prefix="datasets_core-beam-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            runner, options = self._told
            self._run = BeamRun(folder, runner=runner, options=options, needed_for=needed_for)
        return self._run

    def keep(self, split: str, make: Callable[[Any], Any]) -> None:
        """Add the rows of a split to the pipeline.

        Args:
            split: name of the split.
            make: returns a transform or a collection, given the start of the pipeline.
        """
        self.run.keep(split, make)
        self._names.append(split)

    def rows(self) -> dict[str, SortedRows]:
        """Run the pipeline, and return the rows of the collected splits."""
        return self.run.run() if self._names else {}


def beam_value(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a hook that is a transform or a collection of Apache Beam; None for one that yields rows.

    >>> beam_value(iter, ([],), {})
    """
    if inspect.isgeneratorfunction(inspect.unwrap(function)) or importlib.util.find_spec("apache_beam") is None:
        return None
    made = function(*args, **kwargs)
    return made if is_beam(made) else None


def is_beam(value: Any) -> bool:
    """Return True if a value is a transform or a collection of Apache Beam.

    >>> is_beam([1])
    False
    """
    return any(each.__module__.startswith("apache_beam.") for each in type(value).__mro__)


logger = logger_of(__name__)

_ROWS, _ARGUMENTS, _SPLIT = "rows that were given", "arguments of the hook", "name of the split"  # no names of arguments
_LIBRARY = ("base_path", "hash", "repo_id", "storage_options", "token", "writer_batch_size")  # do not change rows
_FORMATS = {None: "arrow", "arrow": "arrow", "parquet": "parquet", "tfrecord": "arrow", "array_record": "arrow"}


@dataclasses.dataclass(eq=False)
class BuilderConfig(LibraryConfig):
    """A variant of a dataset; subclass it to add options.

    Args:
        name: name of the config.
        version: version of the config, which overrides that of the builder.
        release_notes, supported_versions: override those of the builder.
        description: description for users.
        tags: keywords.

    >>> BuilderConfig(name="en", version="1.2.0", description="English").name
    'en'
    """

    version: Version | str | None = None
    tags: list[str] = dataclasses.field(default_factory=list, kw_only=True)


def default_data_dir() -> str:
    """Return the default folder of all datasets: `TFDS_DATA_DIR`, else `~/tensorflow_datasets`."""
    return os.environ.get("TFDS_DATA_DIR") or os.path.join(os.path.expanduser("~"), "tensorflow_datasets")


class DatasetBuilder(SplitReading, LibraryBuilder):
    """Base class of builders with the rules of TFDS, which build into `<data_dir>/<name>/[<config>/]<version>`.

    Rows are written in the order of the hash of their keys.

    Args:
        data_dir: the folder of all datasets; default: `default_data_dir()`.
        config: the name of a config, or a config.
        version: a version listed by the builder, or a pattern such as `1.*.*`.
        library: arguments of `datasets_core.load_dataset` for builders.  A builder with a `cache_dir` behaves like one of
            the library: its folder is in the cache and depends on its code, and `as_dataset` returns a `Dataset`.

    Raises:
        MissingVersionError: the builder has no version.
        UnknownVersionError, UnknownConfigError: the version or config does not exist.
        UnknownOptionError: an argument is unknown to the class.
        ConfigurationError: a config has the name of a listed one, but differs.
    """

    name: str = ""
    DEFAULT_BUILDER_CONFIG_NAME: ClassVar[str | None] = None
    MANUAL_DOWNLOAD_INSTRUCTIONS: ClassVar[str | None] = None
    MAX_SIMULTANEOUS_DOWNLOADS: ClassVar[int | None] = None
    BUILDER_CONFIG_CLASS: ClassVar[type[Any]] = BuilderConfig
    BLOCKED_VERSIONS: ClassVar[Any] = BlockedVersions()
    lists_are_jobs: ClassVar[bool] = False
    """True to divide list arguments of `_generate_examples` among processes.  Only for a hook that
    does not depend on the position of an item: TFDS never divides lists."""
    shuffle_on_write: ClassVar[bool] = True
    requires_version: ClassVar[bool] = True
    _beam_told: tuple[Any, Any] = (None, None)
    _ignores_duplicates: bool = False

    def __init_subclass__(cls, *, skip_registration: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = name_of(cls)
        if not skip_registration:
            register(cls, cls.name)

    def __init__(
        self,
        *,
        data_dir: str | os.PathLike[str] | None = None,
        config: str | LibraryConfig | None = None,
        version: str | Version | None = None,
        **library: Any,
    ) -> None:
        self._is_hosted = "cache_dir" in library
        config = library.pop("config_name", None) if config is None else config
        known = [each.name for each in self.BUILDER_CONFIGS]
        if config in (None, "") and known:
            config = self.DEFAULT_BUILDER_CONFIG_NAME or self.DEFAULT_CONFIG_NAME or known[0]
        if isinstance(config, str) and config and not known and config != "default":
            raise UnknownConfigError(config, dataset=self.name, known=known)
        self._check_config(config)
        self._manual_dir = None if data_dir is None or not self._is_hosted else os.fspath(data_dir)
        if self._is_hosted:
            library["data_dir"] = data_dir
        else:
            for option in library.keys() - set(_LIBRARY):  # it would write other rows into the folder of the plain config
                raise UnknownOptionError(option, builder=self.name, known=_options_of(type(self)))
            library["cache_dir"] = os.path.expanduser(os.fspath(data_dir or default_data_dir()))
            library["dataset_name"] = self.name  # name of the folder, independent of the script
            library["hash"] = ""  # a version identifies its rows, independent of the code
        super().__init__(config_name=config or None, version=version, **library)
        declared = getattr(self.builder_configs.get(self.config.name), "data_dir", None)
        if declared is not None:  # an author may have an option of that name with another meaning
            self.config.data_dir = declared
        self.info.data_dir = self._cache_dir
        if not self._is_hosted:
            self.look_at_built()

    def _check_config(self, config: object) -> None:
        """Raise an error for a user's config that would share the folder of another."""
        if not isinstance(config, LibraryConfig):
            return
        listed = next((each for each in self.BUILDER_CONFIGS if each.name == config.name), config)
        if listed is not config and listed != config:
            raise ConfigurationError(
                f"The config {config.name!r} differs from the one with that name in BUILDER_CONFIGS of {self.name!r}",
                advice=f"Pass config={config.name!r}, or rename your config",
            )

    @classmethod
    def class_name(cls) -> str:
        """See `DatasetBuilder.class_name`: the name of the class, not of the module."""
        return cls.name or name_of(cls)

    @property
    def manual_download_instructions(self) -> str | None:
        return self.MANUAL_DOWNLOAD_INSTRUCTIONS

    def _build_cache_dir(self) -> str:
        if self._is_hosted:
            return super()._build_cache_dir()
        config = [self.config.name] if self.builder_configs or self.config.name != "default" else []
        return os.path.join(join(self._cache_dir_root, self.dataset_name), *config, str(self.version))

    # -- hooks of the author -------------------------------------------------------------------------------------------

    def dataset_info_from_configs(self, **kwargs: Any) -> DatasetInfo:
        """Return the info of the dataset.

        Files next to the script override the description (`README.md`) and the citation (`CITATIONS.bib`), as in TFDS.

        Args:
            kwargs: arguments of `tfds.core.DatasetInfo`.
        """
        path = source_file(type(self))
        for name, file in (("description", "README.md"), ("citation", "CITATIONS.bib")):
            kwargs[name] = text_beside(path, file) or kwargs.get(name)
        return DatasetInfo(builder=self, **kwargs)

    dataset_info = create_dataset_info = dataset_info_from_configs

    def split_generators(self, dl_manager: Any) -> Any:
        """Return the splits that the author defines, as a dict or a list."""
        manager = DownloadManager(
            dl_manager,
            manual_dir=self._manual_dir or join(self._cache_dir_root, "downloads", "manual"),
            dataset=self.label,
            instructions=self.manual_download_instructions,
        )
        hook = self._split_generators
        self._beam = beam = BeamSplits(self.label, self._cache_dir_root, runner=self._beam_told[0], options=self._beam_told[1])
        arguments = (manager, beam.run.pipeline) if wants_pipeline(hook) else (manager,)
        # A generator yields its rows once.  While the splits are defined, the hook records its calls instead, so that jobs may
        # run it in other processes, and again.  With the pipeline, a hook that is not a generator makes collections of Beam.
        makes_collections = wants_pipeline(hook) and not inspect.isgeneratorfunction(inspect.unwrap(self._generate_examples))
        if not makes_collections:
            vars(self)["_generate_examples"] = _Taker(self._generate_examples)
        try:
            named: Any = hook(*arguments)
        finally:
            vars(self).pop("_generate_examples", None)
        if isinstance(named, Mapping):
            named = [SplitGenerator(str(name), self._given(rows)) for name, rows in named.items()]
        if not isinstance(named, Iterable):
            return named
        splits = list(named)
        for split in splits:
            if isinstance(split, SplitGenerator) and isinstance(split.gen_kwargs, dict | None):
                make = self._pipeline_of(split.gen_kwargs or {})
                if make is not None:
                    beam.keep(split.name, make)
        rows = beam.rows()
        splits = [SplitGenerator(each.name, {_ROWS: rows[each.name]}) if _name(each) in rows else each for each in splits]
        return [_told(each, whole=not self.lists_are_jobs) if isinstance(each, SplitGenerator) else each for each in splits]

    def _given(self, rows: Any) -> dict[str, Any]:
        """Return the arguments of the jobs of a split from the value in the dict of splits."""
        return _arguments(rows)

    def _pipeline_of(self, given: dict[str, Any]) -> Any:
        """Return the pipeline step of Apache Beam for the rows of a split; None if the rows do not come from Beam."""
        rows = given.get(_ROWS)
        if _ROWS not in given:
            made = beam_value(self._generate_examples, (), given)
        elif isinstance(rows, _Taken):
            made = beam_value(rows.function, rows.args, rows.kwargs)
        else:
            made = rows if is_beam(rows) else None
        return None if made is None else lambda begin: made

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        made = self._yielded(gen_kwargs)
        pairs = _first_of_each(made) if self._ignores_duplicates else made
        return pairs if self.info.features is None else self._changed(pairs, made, gen_kwargs.get(_SPLIT))

    def _yielded(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs of key and row that the author's code yields."""
        given = {name: value for name, value in gen_kwargs.items() if name != _SPLIT}
        given = {name: unread(value) for name, value in given.get(_ARGUMENTS, given).items()}
        rows = given[_ROWS] if _ROWS in given else super().generate(given)
        return iter(rows.items() if isinstance(rows, Mapping) else rows)

    def place_of_row(self, job: Any, row: int, key: Any) -> str | None:
        return row_place(self, job, row, key, generate=self._yielded)

    def _changed(self, pairs: Iterator[Any], made: Iterator[Any], split: str | None) -> Iterator[tuple[Any, Any]]:
        """Yield the rows in stored form; errors about missing or unreadable values have the key, and the place in `made`."""
        change = whole_row_change(self.info.features)  # type: ignore[arg-type]
        for number, pair in enumerate(pairs):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                yield pair  # type: ignore[misc]  # the library says what is wrong with it
                continue
            key, row = pair
            try:
                changed = change(row)
            except CastError as error:
                reason = str(error)
                if isinstance(error, CellCastError):
                    advice = "Fix the value or the feature" if error.advice == CellCastError.ADVICE else error.advice
                    reason = f"feature {error.column!r}: {error.reason}. {advice}."
                place = yield_place(made)
                which = f"Row {number} (key {key!r}) of split {split!r} of {self.label}"
                where = f", yielded in {place}," if place else ""
                message = f"{which}{where} does not fit {reason}"
                raise DatasetGenerationCastError(message, row=number).placed(place, split=str(split)) from error
            yield key, changed

    # -- the verbs -----------------------------------------------------------------------------------------------------

    def download_and_prepare(  # type: ignore[override]
        self,
        download_dir: str | os.PathLike[str] | None = None,
        download_config: DownloadConfig | LibraryDownloadConfig | None = None,
        file_format: Any = None,
        permissions: object = None,
        **library: Any,
    ) -> None:
        """Build the dataset unless this version already exists.

        Args:
            download_dir: folder for downloads; default: `<data_dir>/downloads`.
            download_config: options of downloads and build.
            file_format: `"arrow"` or `"parquet"`; the formats of TFDS mean the default, arrow.
            permissions: ignored.
            library: arguments of the library's own `download_and_prepare`, such as `num_proc=`.

        Raises:
            UnpreparableVersionError: the version is neither the canonical nor the highest one, and was not built before.
            DatasetsCoreError: another failure; raised as a subclass.
        """
        if self._is_hosted and not isinstance(download_config, DownloadConfig):
            self._build(download_config=download_config, file_format=file_format or "arrow", **library)
            return
        name = getattr(file_format, "value", file_format)
        if name not in _FORMATS:
            raise ConfigurationError(
                f"file_format={file_format!r} is not supported. Available formats: 'arrow', 'parquet'.", value=file_format
            )
        folder = join(self._cache_dir_root, "downloads") if download_dir is None else os.fspath(download_dir)
        manual: Any = None
        if isinstance(download_config, DownloadConfig):
            manual = download_config.manual_dir
            self._beam_told = (download_config.beam_runner, download_config.beam_options)
            self._ignores_duplicates = download_config.ignore_duplicates
            library = {**download_config.options(folder), **library}
        else:
            library["download_config"] = download_config or LibraryDownloadConfig(cache_dir=folder)
        most = self.MAX_SIMULTANEOUS_DOWNLOADS
        if most is not None and library["download_config"].num_proc is None:
            library["download_config"] = dataclasses.replace(library["download_config"], num_proc=most)
        self._look_for_manual_files(manual)
        library["file_format"] = _FORMATS[name]
        if library.get("output_dir") is None:
            library["output_dir"] = self._cache_dir
            found = self._found()
            is_reused = library.get("download_mode") in (None, DownloadMode.REUSE_DATASET_IF_EXISTS)
            if found is None:
                self._check_own()
            if found is not None and is_reused and not library.get("register_checksums"):
                self._check_blocked()
                BuildOptions.of(**library)  # raises if it does not exist, whether or not it is built
                if found.max_rows == library.get("max_examples_per_split"):
                    self._manifest, self._output_dir = found, self._cache_dir
                    self.info = found.info.copy()
                    return
        self._build(**library)

    def _build(self, **library: Any) -> None:
        """Build. If a text column has bytes that are not UTF-8, build again with a column of bytes, which TFDS always has."""
        while True:
            try:
                super().download_and_prepare(**library)
                return
            except DatasetGenerationCastError as error:
                changed = self._with_bytes(error)
                if changed is None:
                    raise
                text = "Column %r of %s has bytes that are not UTF-8 text. The dataset is built again with a column of bytes."
                logger.warning(text, error.column, self.label)
                self.info.features = changed

    def _with_bytes(self, error: DatasetGenerationCastError) -> Any:
        """Return the features with a binary feature for the column of bytes that are not UTF-8; None for other errors."""
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, UnicodeDecodeError):
            cause = cause.__cause__
        if cause is None or not error.column or self.info.features is None:
            return None
        try:
            return _binary_at(self.info.features, error.column.replace("[]", "").split("."))
        except KeyError:  # a name with a dot
            return None

    def _look_for_manual_files(self, folder: str | os.PathLike[str] | None) -> None:
        """Pass the folder of manually downloaded files to the build, if there is one."""
        place = os.fspath(folder) if folder is not None else join(self._cache_dir_root, "downloads", "manual")
        if folder is not None or (self._manual_dir is None and os.path.isdir(place)):
            self._manual_dir = place
            self.config.data_dir = self.config.data_dir or place

    def _found(self) -> Manifest | None:
        """Return the manifest of a complete build of this version."""
        if not os.path.isfile(os.path.join(self._cache_dir, MANIFEST_NAME)):
            return None
        builds = whole_builds(self._cache_dir, self.version)
        own = [found.manifest for found in builds if found.folder == self._cache_dir]
        return own[0] if own else None

    def _check_own(self) -> None:
        """Raise an error for a dataset of another library, whose metadata file has the same name, instead of overwriting it."""
        path = os.path.join(self._cache_dir, MANIFEST_NAME)
        with contextlib.suppress(ManifestError):  # a damaged build of this library is built again
            if not os.path.isfile(path) or prepared_manifest(self._cache_dir) is not None:
                return
            raise ConfigurationError(
                f"{self._cache_dir} has a dataset prepared by another library, which would be overwritten",
                advice="Pass another data_dir",
            )

    def look_at_built(self) -> None:
        if self._is_hosted:
            super().look_at_built()
        elif (found := self._found()) is not None:
            self._take_sizes(found)


class GeneratorBasedBuilder(DatasetBuilder):
    """A builder with the hooks of TFDS: `_info`, `_split_generators`, `_generate_examples`.

    >>> import tempfile
    >>> from datasets_core import tfds
    >>> class Cubes(tfds.core.GeneratorBasedBuilder):
    ...     VERSION = tfds.core.Version("1.0.0")
    ...     def _info(self):
    ...         return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"cube": np.int64}))
    ...     def _split_generators(self, dl_manager):
    ...         return {"train": self._generate_examples(4)}
    ...     def _generate_examples(self, below):
    ...         for number in range(below):
    ...             yield number, {"cube": number**3}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows, info = tfds.load("cubes", split="train", data_dir=folder, with_info=True)
    ...     sorted(row["cube"] for row in rows), info.full_name
    ([0, 1, 8, 27], 'cubes/1.0.0')
    """


class ShardBasedBuilder(DatasetBuilder, skip_registration=True):
    """A builder that defines the rows of each shard: rows keep their order, and each function makes a shard.

    >>> import tempfile
    >>> from datasets_core import tfds
    >>> class Parts(tfds.core.ShardBasedBuilder):
    ...     VERSION = tfds.core.Version("1.0.0")
    ...     def _info(self):
    ...         return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64}))
    ...     def _shard_iterators_per_split(self, dl_manager):
    ...         return {"train": [lambda part=part: iter([(part, {"n": part})]) for part in (2, 1)]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows, info = tfds.load("parts", split="train", data_dir=folder, with_info=True)
    ...     [row["n"] for row in rows], info.splits["train"].num_shards
    ([2, 1], 2)
    """

    shuffle_on_write: ClassVar[bool] = False
    lists_are_jobs: ClassVar[bool] = True

    @abc.abstractmethod
    def _shard_iterators_per_split(self, dl_manager: Any) -> Mapping[str, Iterable[Any]]:
        """Return functions by split; each yields the pairs of key and row of one shard."""

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        named = self._shard_iterators_per_split(dl_manager)
        return [SplitGenerator(str(name), {"shards": list(makers)}) for name, makers in named.items()]

    def _generate_examples(self, shards: list[Any]) -> Iterator[tuple[Any, Any]]:
        for make in shards:
            yield from make()


class BeamBasedBuilder(DatasetBuilder, skip_registration=True):
    """A builder whose `_build_pcollection` adds to a pipeline of Apache Beam (the extra `beam`).

    Raises:
        MissingDependencyError: the dataset has to be built, but Apache Beam is not installed.
    """

    def _build_pcollection(self, pipeline: Any, **kwargs: Any) -> Any:
        """Return a `PCollection` of pairs of key and row.  It is called with the `gen_kwargs` of a `SplitGenerator`."""
        raise ConfigurationError(
            f"{type(self).__name__} has no _build_pcollection", advice="Implement it or _generate_examples"
        )

    def _generate_examples(self, *args: Any, **kwargs: Any) -> Any:
        return self._build_pcollection(*args, **kwargs)

    def _given(self, rows: Any) -> dict[str, Any]:
        return {_ROWS: rows} if isinstance(rows, _Taken) else _arguments(rows)

    def _pipeline_of(self, given: dict[str, Any]) -> Any:
        if _ROWS in given:
            return super()._pipeline_of(given)
        return lambda begin: self._generate_examples(begin, **given)


def _options_of(cls: type[Any]) -> list[str]:
    """Return the arguments of the `__init__` methods of the class and its bases, without those that the library sets."""
    found = [name for parent in cls.__mro__ if "__init__" in vars(parent) for name in inspect.signature(parent).parameters]
    return [name for name in dict.fromkeys(found) if name not in ("self", "args", "kwargs", "library", "cache_dir")][:12]


def _binary_at(feature: Any, path: list[str]) -> Any:
    """Return a feature with binary values instead of strings at a path of field names."""
    if isinstance(feature, Mapping):
        made = copy.copy(feature)
        made[path[0]] = _binary_at(feature[path[0]], path[1:])  # type: ignore[index]
        return made
    if isinstance(feature, (List, LargeList)):
        return dataclasses.replace(feature, feature=_binary_at(feature.feature, path))
    if path or not isinstance(feature, (Value, FixedShape)) or feature.dtype != "string":
        raise KeyError(path)
    return dataclasses.replace(feature, dtype="binary")


class _Taker:
    """Replaces `_generate_examples`, and records its calls."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> _Taken:
        return _Taken(self._function, args, kwargs)


class _Taken:
    """A call of `_generate_examples`: each iteration over its rows starts at the beginning."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs

    def __iter__(self) -> Iterator[Any]:
        return iter(self.function(*map(unread, self.args), **{name: unread(value) for name, value in self.kwargs.items()}))


def _first_of_each(pairs: Iterable[Any]) -> Iterator[Any]:
    """Yield the pairs whose key did not occur before."""
    seen: set[bytes] = set()
    for pair in pairs:
        key = pair[0] if isinstance(pair, (tuple, list)) and pair else pair
        word = key if isinstance(key, bytes) else str(key).encode("utf-8", "surrogatepass")
        if word not in seen:
            seen.add(word)
            yield pair


def _name(split: Any) -> str | None:
    return split.name if isinstance(split, SplitGenerator) else None


def _told(split: SplitGenerator, *, whole: bool) -> SplitGenerator:
    """Return the split with its name passed to its rows; with `whole`, lists are not divided, as TFDS authors expect."""
    given: Any = split.gen_kwargs
    if not isinstance(given, dict | None):
        return split  # the library reports what is wrong with it
    return SplitGenerator(split.name, {**({_ARGUMENTS: given or {}} if whole else given or {}), _SPLIT: split.name})


def _arguments(rows: Any) -> dict[str, Any]:
    """Return the arguments of the jobs of a split from the author's value: those of the hook, or given rows."""
    if isinstance(rows, _Taken):
        parameters = inspect.signature(rows.function).parameters.values()
        if all(each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in parameters):
            return dict(inspect.signature(rows.function).bind(*rows.args, **rows.kwargs).arguments)
        return {_ROWS: rows}
    if not isinstance(rows, Iterable) and not is_beam(rows):
        raise ConfigurationError(
            f"_split_generators returned {rows!r} ({type(rows).__name__}) for a split",
            advice="Return self._generate_examples(…)",
        )
    return {_ROWS: rows}
