"""`DatasetBuilder`, `GeneratorBasedBuilder`, `ArrowBasedBuilder`: base classes of builders: build, load, stream."""

from __future__ import annotations

import abc
import copy
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from datasets_core.building.built import Built
from datasets_core.building.cache_key import (
    BuilderFiles,
    builder_name,
    checksums_path,
    code_hash,
    dataset_identity,
    is_format,
    keyed,
    own_folders,
    source_file,
)
from datasets_core.building.hooks import (
    BuilderConfig,
    Encoded,
    Part,
    SplitGenerator,
    change_config,
    check_name,
    make_config,
    option_names,
)
from datasets_core.building.options import BuildOptions, variant_folder
from datasets_core.building.prepare import prepare
from datasets_core.building.versions import NO_VERSIONS, Versioned
from datasets_core.config import has_alias, settings
from datasets_core.engines import Engine
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ConfigurationError, ManifestError, UnknownConfigError, UnpreparableVersionError
from datasets_core.features.arrow import merge_types
from datasets_core.features.schema import Features
from datasets_core.fetch.checksums import DownloadConfig, DownloadMode, RegisteredFile, VerificationMode
from datasets_core.files import disk_errors, is_url, join, local_path
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.version import NO_VERSION, Version
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.source import dataset_folder, paths_below

if TYPE_CHECKING:
    from datasets_core.building.marks import Mark
    from datasets_core.building.prepare import HubReference
    from datasets_core.meta.row_blocks import RowBlocks


class _ConfigsByName:
    """`Builder.builder_configs` and `builder.builder_configs`: the declared configs by name."""

    def __get__(self, instance: object, owner: type[DatasetBuilder]) -> dict[str, BuilderConfig]:
        declared: Any = owner.BUILDER_CONFIGS
        if not isinstance(declared, Iterable) or isinstance(declared, (str, Mapping)):
            raise ConfigurationError(f"BUILDER_CONFIGS of {_named(owner)} is {declared!r}. Use a list of BuilderConfigs.")
        listed = list(declared)
        for config in listed:
            if not isinstance(getattr(config, "name", None), str):
                raise ConfigurationError(f"BUILDER_CONFIGS of {_named(owner)} contains {config!r}. Use a list of configs.")
        configs = {config.name: config for config in listed}
        if len(configs) < len(listed):
            names = [config.name for config in listed]
            twice = next(name for name in names if names.count(name) > 1)
            raise ConfigurationError(
                f"BUILDER_CONFIGS of {_named(owner)} has two configs named {twice!r}. Use a different name for each config."
            )
        return configs


def _named(cls: type, *hooks: str) -> str:
    """Return the name of a class with the location of one of its hooks, for messages."""
    from datasets_core.building.failures import hook_place  # here and below: not needed for reading

    place = hook_place(cls, *hooks, "_info", "_split_generators")
    return f"{cls.__name__} ({place})" if place else cls.__name__


class DatasetBuilder(Versioned, metaclass=abc.ABCMeta):  # without a base class, so that authors may put ABC before it
    """Base class of builders.  Derive from `GeneratorBasedBuilder` or `ArrowBasedBuilder` and implement the hooks.

    Args:
        cache_dir: folder of finished datasets; default: the setting.
        dataset_name: name of the folder; default: the builder's name.
        config_name: name of the config.
        hash: identity of the script and its sources, for the folder's name; default: that of the class's file.
        base_path: base of relative paths of `download`.
        info: recorded metadata (card, `dataset_infos.json`): fills in missing fields, and is compared with a build.
        features: the features to store.
        token: access token for the Hub.
        repo_id: the repository on the Hub, if any.
        data_files: the user's files.
        data_dir: folder of the user's files.
        storage_options: options for fsspec file systems.
        writer_batch_size: maximum number of rows encoded together.
        config_id: name of the config's folder instead of the computed one.
        version: a version listed by the builder, or a pattern such as `1.*.*` for the highest match;
            "experimental_latest" for the highest version, None for the canonical one.
        config_kwargs: options of the config.

    Raises:
        UnknownConfigError: there is no config of that name, or there are several without a default.
        UnknownVersionError: no listed version fits.
        UnknownOptionError: the config does not have an option.

    >>> import tempfile
    >>> from datasets_core import load_dataset_builder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/a.parquet"
    ...     _ = Dataset.from_dict({"a": [1, 2]}).to_parquet(path)
    ...     builder = load_dataset_builder("parquet", data_files=path, cache_dir=folder)
    ...     builder.download_and_prepare()
    ...     builder.info.splits["train"].num_examples
    2
    """

    BUILDER_CONFIG_CLASS: ClassVar[type[Any]] = BuilderConfig
    BUILDER_CONFIGS: ClassVar[list[Any]] = []
    DEFAULT_CONFIG_NAME: ClassVar[str | None] = None
    DEFAULT_WRITER_BATCH_SIZE: ClassVar[int | None] = None

    name: str = ""
    """The name of the format, declared by a class with `is_format`; an instance has the name of its builder."""
    is_format: ClassVar[bool] = False
    """True for a reader of data files of one format: its streams have file names, and resume in the middle of a
    file.  Not inherited: a subclass of a format is a dataset, unless it also declares `is_format = True`."""
    cache_version: ClassVar[str | None] = None
    """Replaces the hash of the source file of a format in the cache key of its builds.  Change it when
    the same options and files give different rows.  A text of 32 hexadecimal digits is used as the key itself, like hashes of
    source files, so that earlier caches are found.  Not inherited, like `is_format`."""
    yields: ClassVar[Literal["rows", "tables"]] = "rows"
    reads_files: ClassVar[bool] = True
    """True for a format if the user passes data files."""
    shuffle_on_write: ClassVar[bool] = False
    """Rows are written in the order of the hash of (split, key), or, if False, in source order."""
    is_of_old_datasets: ClassVar[bool] = False
    """True if it was written for Hugging Face `datasets` 1 to 3, whose rules for values and records then apply."""
    extra_columns: ClassVar[Literal["raise", "ignore"]] = "raise"
    """How keys of a row that the features lack are handled: "raise" is an error, "ignore" drops them."""
    is_confined: ClassVar[bool] = False
    """True if its code runs in the sandbox."""
    commit_sha: str | None = None
    """The resolved commit of its repository on the Hub, if any."""
    hub_reference: HubReference | None = None
    """The request to the Hub, so that the build is found while the Hub cannot be reached."""
    script_digest: str | None = None
    """sha256 of the script and of the modules next to it, anywhere; None if it was not read as a script."""
    locked_checksums: Mapping[str, RegisteredFile] = MappingProxyType({})
    """The lock's record of each URL: compared like a registered checksum."""
    is_stopped_by_timer: ClassVar[bool] = True
    """True if the author's code runs in this process, where only a timer can stop it; else the builder enforces deadlines."""
    rereads: bool = False
    merge_columns: bool = False
    read_schema: pa.Schema | None = None
    builder_configs = _ConfigsByName()

    def __init__(
        self,
        cache_dir: str | os.PathLike[str] | None = None,
        dataset_name: str | None = None,
        config_name: str | BuilderConfig | None = None,
        hash: str | None = None,
        base_path: str | os.PathLike[str] | None = None,
        info: DatasetInfo | None = None,
        features: Features | None = None,
        token: bool | str | None = None,
        repo_id: str | None = None,
        data_files: Any = None,
        data_dir: str | os.PathLike[str] | None = None,
        storage_options: dict[str, Any] | None = None,
        writer_batch_size: int | None = None,
        config_id: str | None = None,
        version: str | Version | None = None,
        **config_kwargs: Any,
    ) -> None:
        features = features if features is None or isinstance(features, Features) else Features(features)
        self.name = self.class_name()
        self.dataset_name = _snake_case(dataset_name) if dataset_name else self.name
        self.base_path = None if base_path is None else os.fspath(base_path)
        self.token, self.repo_id = token, repo_id
        self.storage_options = storage_options or {}
        self.writer_batch_size = writer_batch_size or self.DEFAULT_WRITER_BATCH_SIZE
        self.hash = keyed(hash if hash is not None else code_hash(type(self)), info)
        self._is_placed_by_hash = hash is not None or is_format(type(self)) or not has_alias()
        self.is_partial = data_files is not None

        if data_files is not None:
            config_kwargs["data_files"] = self._resolved(data_files, self.base_path)
        features = copy.deepcopy(features)  # a copy, since the caller may change them later
        if data_dir is not None:
            config_kwargs["data_dir"] = os.fspath(data_dir)
        if features is not None and "features" in option_names(self.BUILDER_CONFIG_CLASS):
            config_kwargs["features"] = features
        self.config_kwargs = config_kwargs
        self.config, self.config_id = self._create_builder_config(config_name, features, config_id, **config_kwargs)
        if version is None and self._says_nothing_of_versions():
            self._versions, self._version = NO_VERSIONS, NO_VERSION
        else:
            self._pick_version(version)
        notes = {} if self._versions is NO_VERSIONS else self.release_notes

        self.recorded = info.copy() if info is not None else DatasetInfo()
        described: Any = self._info()
        if not isinstance(described, DatasetInfo):
            raise ConfigurationError(
                f"_info of {_named(type(self), '_info')} returned {described!r} ({type(described).__name__})",
                advice="Return a DatasetInfo",
            )
        self.info = self.recorded.copy().update(described)
        self.info.builder_name, self.info.dataset_name = self.name, self.dataset_name
        self.info.config_name = self.config.name
        self.info.version = self.version
        self.info.release_notes = notes or self.info.release_notes
        if features is not None:
            self.info.features = features

        self._cache_dir_root = _folder(cache_dir) if cache_dir is not None else settings().cache_dir
        self.download_dir = None if cache_dir is None else join(self._cache_dir_root, "downloads")
        self._cache_dir = self._build_cache_dir()
        self._output_dir = self._cache_dir
        self._output_storage_options: dict[str, Any] | None = None
        self._manifest: Manifest | None = None
        self._file_origin = BuilderFiles(
            self.name if is_format(type(self)) else "",
            config_kwargs,
            self.config.data_files,
            base=self.base_path,
            repo_id=self.repo_id,
            features=copy.deepcopy(self.info.features),
        )
        self.info.files_origin = self._file_origin

    # -- hooks of the author -------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _info(self) -> DatasetInfo:
        """Return the description of the dataset."""

    @abc.abstractmethod
    def _split_generators(self, dl_manager: Any) -> Iterable[SplitGenerator]:
        """Download files, and return the splits."""

    @property
    def manual_download_instructions(self) -> str | None:
        """Instructions for files that must be downloaded manually; None if there are none."""
        return None

    # -- identity ------------------------------------------------------------------------------------------------------

    @property
    def version(self) -> Version:
        """The selected version."""
        return self._version

    def _says_nothing_of_versions(self) -> bool:
        """Return True if neither class nor config has a version, as for formats."""
        cls, config = type(self), self.config
        is_silent = cls.VERSION is None and cls.RELEASE_NOTES is None and cls.BLOCKED_VERSIONS is None
        return (
            is_silent
            and not (cls.SUPPORTED_VERSIONS or cls.requires_version)
            and not (getattr(config, "supported_versions", None) or getattr(config, "release_notes", None))
            and (config.version is None or str(config.version) == "0.0.0")
            and cls._pick_version is DatasetBuilder._pick_version
            and getattr(cls.blocks, "__func__", None) is getattr(DatasetBuilder.blocks, "__func__", None)
        )

    def _built(self) -> Manifest:
        return Built._built(self) if self._versions is NO_VERSIONS else super()._built()

    @property
    def cache_dir(self) -> str:
        """The folder of the finished dataset in the cache."""
        return self._cache_dir

    @property
    def cache_root(self) -> str:
        """The cache, or the data folder, that contains `cache_dir`."""
        return self._cache_dir_root

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the builder: that of its module, or in a notebook that of its class."""
        return builder_name(cls)

    @property
    def reads_in_order(self) -> bool:
        return self.yields == "tables" and is_format(type(self))

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """See `Hooks.file_blocks`."""
        return None

    @property
    def denied(self) -> tuple[str, ...]:
        """Descriptions of the accesses denied so far to its sandboxed code."""
        return ()

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        owner = f"{self.repo_id.split('/')[0]}/" if self.repo_id and "/" in self.repo_id else ""
        config = f"/{self.config.name}" if self.config.name != "default" else ""
        return f"{owner}{self.dataset_name}{config}"

    @property
    def checksums_path(self) -> str | None:
        """Path of the `checksums.tsv` next to the script; None for a builder without one."""
        return checksums_path(type(self))

    @classmethod
    def get_imported_module_dir(cls) -> str:
        """Return the folder of the file that defines this class."""
        return os.path.dirname(source_file(cls) or "")

    def _own_folders(self) -> Iterator[str]:
        return own_folders(self)

    def with_schema(self, schema: pa.Schema) -> DatasetBuilder:
        """Return a copy that reads with the schema `schema`."""
        changed = copy.copy(self)
        changed.read_schema = schema
        return changed

    def reading_live(self, mark: Mark | None) -> DatasetBuilder:
        """See `Hooks.reading_live`."""
        return self

    def shown_info(self) -> DatasetInfo:
        """Return a copy of the info, for a dataset of its rows."""
        return self.info.copy()

    def split_generators(self, dl_manager: Any) -> Any:
        """Return the splits of `_split_generators(dl_manager)`. Subclasses override it for other ways to define splits;
        `dl_manager` is the download manager.
        """
        return self._split_generators(dl_manager)

    def has_source(self, path: str) -> bool:
        """Return True if the local file `path` among the arguments of a split may be read."""
        return True

    @abc.abstractmethod
    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Return pairs of a key and a row (or table) for the arguments `gen_kwargs` of a split."""

    def encoded_rows(self, job: Part, *, first: list[Any] | None = None, copies: bool = False) -> Generator[Encoded]:
        """Return the rows of a part of a split, encoded for a job.

        Args:
            job: the part.
            first: receives the first key; contains it when the rows are generated again.
            copies: True to copy every row.
        """
        from datasets_core.building.write.generate import encoded_rows

        return encoded_rows(self, job, first=first, copies=copies)

    def made_tables(self, job: Part) -> Generator[tuple[Any, pa.Table | pa.RecordBatch], None, object]:
        """Return the keys and tables of `job`, a part of a split."""
        from datasets_core.building.write.generate import made_tables

        return made_tables(self, job)

    def place_of_row(self, job: Part, row: int, key: Any) -> str | None:
        """Return `FILE, line N` of the code that yielded row `row` of `job` with `key`, if known, for messages."""
        from datasets_core.building.failures import row_place

        return row_place(self, job, row, key)

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
        """Return the common type of a column that has the types `a` and `b` in two jobs (`rereads`); None means text."""
        return merge_types(a, b)

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.label}, version {self.version})"

    # -- public methods ------------------------------------------------------------------------------------------------

    def download_and_prepare(
        self,
        output_dir: str | os.PathLike[str] | None = None,
        download_config: DownloadConfig | None = None,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        dl_manager: Any = None,
        base_path: str | os.PathLike[str] | None = None,
        file_format: str = "arrow",
        max_shard_size: int | str | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        engine: str | Engine | None = None,
        num_shards: int | None = None,
        disable_shuffling: bool = False,
        max_examples_per_split: int | None = None,
        register_checksums: bool = False,
        force_checksums_validation: bool = False,
        check_version: bool = False,
        timeout: float | Deadline | None = None,
        **download_and_prepare_kwargs: Any,
    ) -> None:
        """Build the dataset unless it already exists.

        Args:
            output_dir: folder or URL of the result; default: a folder in the cache.
            download_config: options of downloads.
            download_mode: which results of earlier runs to reuse.
            verification_mode: which checks to perform.
            dl_manager: an object with the methods of `DownloadManager`; default: a new one.
            base_path: base of relative paths of `download`.
            file_format: "arrow" or "parquet".
            max_shard_size: maximum size of a shard in bytes, or as a string such as "500MB".
            num_proc: number of worker processes.
            storage_options: options of the file system of `output_dir`.
            engine: a name or an `Engine`, which runs the jobs.
            num_shards: exact number of shards of each split; the i-th ends at row `round(rows * i / num_shards)`.
            disable_shuffling: with `shuffle_on_write`, write rows by key if all keys are integers, else in the order of the
                source.  Such a build, or one with fewer rows, has a separate folder in the cache.
            max_examples_per_split: maximum number of rows of each split.
            register_checksums: write size and sha256 of each downloaded URL into the `checksums.tsv` next to the script,
                instead of comparing them with it.
            force_checksums_validation: True to require a registered checksum for each URL.
            check_version: refuse a version that does not reflect the changes: a new column is a minor change, other rows are a
                major one.  The rows are compared with existing builds of the same version and of the highest one below
                in `output_dir` itself, in the folders next to it, or in the cache; the log says if there are none.
            timeout: seconds after which the author's code is stopped; None sets no limit.  It needs the main thread, where all
                code can be stopped except C code that never returns; worker processes (`num_proc`) are killed.
            download_and_prepare_kwargs: `ignore_verifications=True` (now no_checks); other old names are ignored.

        Raises:
            ScriptTimeoutError: the code did not finish within `timeout`.
            WrongVersionError: with `check_version`, if the version does not reflect the changes.
            UnpreparableVersionError: the version is neither the canonical nor the highest one, and was not built before.
            DatasetsCoreError: another failure, as a subclass.
        """
        if self._versions is not NO_VERSIONS:
            self._check_blocked()
        if output_dir is None:
            self._cache_dir = variant_folder(
                self._build_cache_dir(), self, disable_shuffling=disable_shuffling, max_rows=max_examples_per_split
            )
        self._output_dir = self._cache_dir if output_dir is None else _folder(output_dir)
        self._output_storage_options = storage_options
        options = BuildOptions.of(
            output_dir=self._output_dir,
            download_config=download_config,
            download_mode=download_mode,
            verification_mode=verification_mode,
            dl_manager=dl_manager,
            base_path=self.base_path if base_path is None else os.fspath(base_path),
            file_format=file_format,
            max_shard_size=max_shard_size,
            num_proc=num_proc,
            storage_options=storage_options,
            engine=engine,
            num_shards=num_shards,
            disable_shuffling=disable_shuffling,
            max_examples_per_split=max_examples_per_split,
            register_checksums=register_checksums,
            force_checksums_validation=force_checksums_validation,
            check_version=check_version,
            timeout=timeout,
            **download_and_prepare_kwargs,
        )
        self._without_built_features()
        with disk_errors(self._output_dir, action="use"):
            if self._versions is NO_VERSIONS or self.is_preparable:
                self._manifest = prepare(self, options)
            else:
                self._manifest = self._take_prepared(
                    forced=options.mode is not DownloadMode.REUSE_DATASET_IF_EXISTS,
                    hashed=options.verification is VerificationMode.ALL_CHECKS,
                )
            self.info = self._built().info.copy()
        if output_dir is None and self.hub_reference is not None:
            from datasets_core.building.prepare import remember

            remember(self._cache_dir_root, self.hub_reference, self.config.name, self._output_dir)

    def look_at_built(self) -> None:
        """Copy features, splits and sizes of the dataset in `cache_dir` into `info`, if it is the same dataset."""
        try:
            known = not self.is_preparable
            manifest = self._take_prepared() if known else read_manifest(self._output_dir, self._output_storage_options)
        except (ManifestError, ConfigurationError, UnpreparableVersionError):
            return  # the next build reports the error, and builds again
        if manifest is not None and (known or manifest.identity in ("", dataset_identity(self))):
            self._take_sizes(manifest, with_features=True)

    def as_streaming_dataset(
        self,
        split: Any = None,
        base_path: str | os.PathLike[str] | None = None,
        *,
        download_config: DownloadConfig | None = None,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        force_checksums_validation: bool = False,
        timeout: float | Deadline | None = None,
    ) -> Any:
        """Return the rows as streams, generated by the author's code while they are read; nothing is built or stored.

        Rows and their order are those of a build; keys are not compared.  Each URL that the code downloads is a `RemoteFile`,
        which is fetched when it is opened.  The number of rows is only known at the end: slices by percent or
        from the end need the recorded number of rows, or one complete read of the files.

        For JSON, CSV and text, row positions are recorded while they are read: a saved state resumes with one request near its
        row, and slices and `skip` jump to rows that were read before, in this process or another.  Compressed files are
        decompressed again from their beginning, without parsing; archives, and formats without blocks, are read again.

        Args:
            split: name, expression, `ReadInstruction`, or a list, tuple or dict of these; None for an `IterableDatasetDict`.
            base_path: base of relative paths of `download`.
            download_config, download_mode, verification_mode, force_checksums_validation: see `download_and_prepare`.
            timeout: time limit in seconds for the author's code to yield the next rows, or to return its splits.

        Raises:
            UnknownSplitError: the split does not exist.
            ConfigurationError: a slice needs the number of rows, which is not known.
            DatasetGenerationError: the author's code failed while returning its splits.

        >>> import tempfile
        >>> from datasets_core import load_dataset_builder
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = folder + "/a.parquet"
        ...     _ = Dataset.from_dict({"a": [1, 2]}).to_parquet(path)
        ...     list(load_dataset_builder("parquet", data_files=path).as_streaming_dataset("train"))
        [{'a': 1}, {'a': 2}]
        """
        from datasets_core.building.live import streamed_splits  # takes 10 ms; a build does not need it

        if self._versions is not NO_VERSIONS:
            self._check_blocked()
        self._without_built_features()
        options = BuildOptions.of(
            output_dir=self._cache_dir,
            download_config=download_config,
            download_mode=download_mode,
            verification_mode=verification_mode,
            base_path=self.base_path if base_path is None else os.fspath(base_path),
            force_checksums_validation=force_checksums_validation,
            timeout=timeout,
        )
        if self._versions is NO_VERSIONS or self.is_preparable:
            return streamed_splits(self, split, options, paths_below(self._own_folders()))
        self._take_prepared()
        return streamed_splits(self, split)

    # -- config and folder ---------------------------------------------------------------------------------------------

    def _create_builder_config(
        self,
        config_name: str | BuilderConfig | None = None,
        custom_features: Features | None = None,
        config_id: str | None = None,
        **config_kwargs: Any,
    ) -> tuple[Any, str]:
        config = self._chosen_config(config_name, config_kwargs)
        check_name(config.name)
        if config.data_files is not None and not isinstance(config.data_files, DataFilesDict):
            base = self.base_path
            if config.data_dir:
                base = join(base, config.data_dir) if base else config.data_dir
            config.data_files = self._resolved(config.data_files, base)
        return config, config_id or config.create_config_id(config_kwargs, custom_features)

    def _chosen_config(self, name: str | BuilderConfig | None, options: dict[str, Any]) -> Any:
        known = self.builder_configs
        if isinstance(name, BuilderConfig):
            return change_config(name, options, builder=self.dataset_name)
        if name is None and known:
            name = self.DEFAULT_CONFIG_NAME
            if name is None and len(known) == 1:
                (name,) = known
            if name is None and not options:
                raise UnknownConfigError(None, dataset=self.dataset_name, known=known)
        if name is not None and known:
            if name not in known and name == self.DEFAULT_CONFIG_NAME:
                names = ", ".join(map(repr, list(known)[:20]))
                raise ConfigurationError(
                    f"DEFAULT_CONFIG_NAME of {_named(type(self))} is {name!r}, which is not a config. Use one of {names}."
                )
            if name not in known:
                raise UnknownConfigError(name, dataset=self.dataset_name, known=known)
            return change_config(known[name], options, builder=self.dataset_name)
        if name is None:
            name = options.get("name") or self.DEFAULT_CONFIG_NAME
        given = {**options} if name is None else {**options, "name": name}
        if self.VERSION is not None:
            given.setdefault("version", self.VERSION)
        return make_config(self.BUILDER_CONFIG_CLASS, given, builder=self.dataset_name)

    def _resolved(self, data_files: Any, base_path: str | None) -> DataFilesDict:
        if isinstance(data_files, DataFilesDict):
            return data_files
        return resolve_data_files(data_files, base_path or "", storage_options=self.storage_options)

    def _build_cache_dir(self) -> str:
        owner = f"{self.repo_id.split('/')[0]}___" if self.repo_id and "/" in self.repo_id else ""
        name, key = f"{owner}{self.dataset_name}", self.hash if self._is_placed_by_hash else ""
        return dataset_folder(self._cache_dir_root, name, self.config_id, str(self.version), key).rstrip(os.sep)


class GeneratorBasedBuilder(DatasetBuilder):
    """A builder whose method `_generate_examples` yields rows. See `DatasetBuilder` for the arguments.

    >>> import tempfile
    >>> from datasets_core import DatasetInfo, SplitGenerator
    >>> class Squares(GeneratorBasedBuilder):
    ...     def _info(self):
    ...         return DatasetInfo(features=Features({"square": Value("int64")}))
    ...     def _split_generators(self, dl_manager):
    ...         return [SplitGenerator(name="train", gen_kwargs={"below": 4})]
    ...     def _generate_examples(self, below):
    ...         for number in range(below):
    ...             yield number, {"square": number**2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     builder = Squares(cache_dir=folder)
    ...     builder.download_and_prepare()
    ...     builder.as_dataset("train")["square"][:]
    [0, 1, 4, 9]
    """

    yields: ClassVar[Literal["rows", "tables"]] = "rows"

    @abc.abstractmethod
    def _generate_examples(self, *args: Any, **kwargs: Any) -> Iterable[tuple[Any, dict[str, Any]]]:
        """Return pairs of a key, unique in the split, and a row.  Called with the `gen_kwargs` of a `SplitGenerator`."""

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """See `DatasetBuilder.generate`."""
        return _iterator(self._generate_examples(**gen_kwargs), self, "_generate_examples")


class ArrowBasedBuilder(DatasetBuilder):
    """A builder whose method `_generate_tables` yields Arrow tables. See `DatasetBuilder` for the arguments.

    Attributes:
        merge_columns: True if files may have different columns; missing values are null.
        rereads: True if a wider schema requires reading the text again; see `Replay`.
        read_schema: the schema to read with, if known.

    >>> import tempfile
    >>> from datasets_core import DatasetInfo, SplitGenerator
    >>> class Numbers(ArrowBasedBuilder):
    ...     def _info(self):
    ...         return DatasetInfo()
    ...     def _split_generators(self, dl_manager):
    ...         return [SplitGenerator(name="train", gen_kwargs={"below": 4})]
    ...     def _generate_tables(self, below):
    ...         yield 0, pa.table({"number": range(below)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     builder = Numbers(cache_dir=folder)
    ...     builder.download_and_prepare()
    ...     builder.as_dataset("train[2:]")["number"][:]
    [2, 3]
    """

    yields: ClassVar[Literal["rows", "tables"]] = "tables"

    @abc.abstractmethod
    def _generate_tables(self, *args: Any, **kwargs: Any) -> Iterable[tuple[Any, pa.Table]]:
        """Return pairs of a key and a table.  Called with the `gen_kwargs` of a `SplitGenerator`."""

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """See `DatasetBuilder.generate`."""
        return _iterator(self._generate_tables(**gen_kwargs), self, "_generate_tables")


def _iterator(made: Any, builder: DatasetBuilder, hook: str) -> Iterator[tuple[Any, Any]]:
    if isinstance(made, Iterable) or hasattr(made, "__getitem__"):
        return iter(made)
    from datasets_core.building.failures import hook_place

    place = hook_place(type(builder), hook)
    named = f"{hook} of {builder.label}{f' ({place})' if place else ''}"
    raise ConfigurationError(f"{named} returned {made!r}", advice="Yield pairs, or return an iterable of pairs")


def _snake_case(name: str) -> str:
    if name.islower():
        return name
    from datasets_core.meta.reference import camelcase_to_snakecase  # takes 1 ms; formats do not need it

    return camelcase_to_snakecase(name)


def _folder(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    return text if is_url(text) and not text.startswith("file://") else os.path.abspath(local_path(text))
