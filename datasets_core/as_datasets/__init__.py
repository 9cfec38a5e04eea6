"""The alias: after `install`, `import datasets` returns this library, until `uninstall`.

    from datasets_core import as_datasets

    as_datasets.install()              # or: with as_datasets.install(): ...
    import datasets                    # this library, under the names of Hugging Face `datasets` 5.2.0

`python -m datasets_core.as_datasets script.py ...` and `... -m module ...` run a program and its child processes with the
alias.  If the library was installed from a wheel, `DATASETS_CORE_AS_DATASETS=1 python script.py` has the same effect; otherwise
the variable makes the import of `datasets_core` install the alias.  The alias is never installed without being requested.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

from datasets_core._version import __version__
from datasets_core.errors import ConfigurationError
from datasets_core.scripting.compat.tables import HUGGING_FACE_MODULES, HUGGING_FACE_REASONS

__all__ = ["VARIABLE", "Alias", "install", "is_installed", "uninstall"]

VARIABLE = "DATASETS_CORE_AS_DATASETS"
"""The environment variable for child processes: `1` makes them use the alias."""

_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")  # holds `datasets`, for child processes


class Alias:
    """The installed alias: a context manager that uninstalls it at the end of the block."""

    def __enter__(self) -> Alias:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        uninstall()


def install() -> Alias:
    """Make `import datasets` return this library in this process, and in processes started from now on.

    Child processes find the alias by `PYTHONPATH` and `DATASETS_CORE_AS_DATASETS`, no matter how they are started.

    Returns:
        A context manager that uninstalls the alias when its block ends.

    Raises:
        ConfigurationError: another `datasets` was already imported.

    Example:
        >>> with install():
        ...     import datasets
        ...     datasets.Dataset.from_dict({"a": [1, 2]})[1]
        {'a': 2}
    """
    imported = sys.modules.get("datasets")
    if imported is not None and not _is_ours(imported):
        place = getattr(imported, "__file__", None)
        raise ConfigurationError(
            f"Another 'datasets' was already imported from {place}. Call datasets_core.as_datasets.install() before the first "
            "import of datasets, or run the program with: python -m datasets_core.as_datasets script.py"
        )
    if not is_installed():
        sys.meta_path.insert(0, _FINDER)
        sys.path.insert(0, _PATH)
        os.environ[VARIABLE] = "1"
        os.environ["PYTHONPATH"] = os.pathsep.join([_PATH, *_python_path()])
        importlib.invalidate_caches()
        if "fsspec" in sys.modules:  # otherwise it finds the file systems of the alias when it is imported
            sys.modules["fsspec"].process_entries()
    return Alias()


def uninstall() -> None:
    """Uninstall the alias: a later `import datasets` finds the installed package. Existing objects remain valid."""
    if not is_installed():
        return
    sys.meta_path.remove(_FINDER)
    sys.path[:] = [each for each in sys.path if each != _PATH]
    for name in [name for name, module in sys.modules.items() if name.partition(".")[0] == "datasets" and _is_ours(module)]:
        del sys.modules[name]
    os.environ.pop(VARIABLE, None)
    rest = _python_path()
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)
    importlib.invalidate_caches()


def take_over(name: str) -> None:
    """Replace the module that a child process imported from its path with the alias."""
    del sys.modules[name]
    importlib.import_module(name)


def is_installed() -> bool:
    """Return True if the alias is installed."""
    return _FINDER in sys.meta_path


def _python_path() -> list[str]:
    return [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != _PATH]


def _is_ours(module: ModuleType) -> bool:
    """Return True for the alias, and for a `datasets/__init__.py` of this project while it installs the alias."""
    return isinstance(module, AliasModule) or "__datasets_core__" in vars(module)


class AliasModule(ModuleType):
    """A module of `datasets`, whose names are imported from this library on first use."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted({each for each in MODULES[self.__name__] if not each.startswith("_")})
        home = MODULES[self.__name__].get(name)
        if home is None and f"{self.__name__}.{name}" in MODULES:
            return importlib.import_module(f"{self.__name__}.{name}")
        if home is not None:
            value = _opened(home)
            if not home.endswith("()"):
                vars(self)[name] = value
            return value
        starred = MODULES[self.__name__].get("*")
        if starred is not None and not name.startswith("_"):
            try:
                return getattr(_opened(starred), name)
            except AttributeError:
                pass
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise AttributeError(absence_of(self.__name__, name), name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (
            isinstance(value, AliasModule) and name in MODULES[self.__name__]
        ):  # such as `utils.tqdm`, a class and a module
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *MODULES[self.__name__]} - {"*"}
        starred = MODULES[self.__name__].get("*")
        if starred is not None:
            names |= {name for name in dir(_opened(starred)) if not name.startswith("_")}
        below = f"{self.__name__}."
        return sorted(names | {name.removeprefix(below) for name in MODULES if name.rpartition(".")[0] == self.__name__})

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)


class _Config(AliasModule):
    """`datasets.config`: assigned settings are applied to this library, or rejected."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        setattr(importlib.import_module("datasets_core.config"), name, value)

    def __delattr__(self, name: str) -> None:
        if name.startswith("__"):
            super().__delattr__(name)
            return
        delattr(importlib.import_module("datasets_core.config"), name)


def _opened(home: str) -> Any:
    """Return the object at `module` or `module:name`, or the result of `module:name()`."""
    module, _, name = home.partition(":")
    found: Any = importlib.import_module(module)
    if not name:
        return found
    found = getattr(found, name.removesuffix("()"))
    return found() if name.endswith("()") else found


class _Finder:
    """Finds `datasets` and its modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if fullname.partition(".")[0] != "datasets":
            return None
        if fullname not in MODULES:
            above, _, name = fullname.rpartition(".")
            raise ModuleNotFoundError(
                absence_of(above, name)
            )  # without its name, which `from datasets import ...` would ignore
        return ModuleSpec(fullname, self, origin="datasets_core.as_datasets", is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """See `importlib.abc.Loader`."""
        kind = _Config if spec.name == "datasets.config" else AliasModule
        return kind(spec.name, f"`{spec.name}` of Hugging Face datasets, by datasets_core.")

    def exec_module(self, module: ModuleType) -> None:
        """Set the version and the file of the top module; other names are looked up on use."""
        if module.__name__ == "datasets":
            module.__version__ = COMPATIBLE_VERSION  # type: ignore[attr-defined]
            module.__file__ = os.path.join(_PATH, "datasets", "__init__.py")


_FINDER = _Finder()


# The modules and names of Hugging Face `datasets` 5.2.0, and where this library defines them.


COMPATIBLE_VERSION = f"5.2.0+core.{__version__}"
"""The value of `datasets.__version__`: the release with these names, and the version of this library."""

SINCE = "5.2.0"

_ALIAS = "datasets_core.as_datasets"


def _at(home: str, *names: str, **others: str) -> dict[str, str]:
    """Return the locations of names of a module, and of names that the module defines under other names."""
    return {name: f"{home}:{name}" for name in names} | {name: f"{home}:{other}" for name, other in others.items()}


_TABLES = (
    _at("datasets_core.io.tables", "ConcatenationTable", "InMemoryTable", "MemoryMappedTable", "Table")
    | _at(
        f"{_ALIAS}.tables",
        "array_cast", "cast_array_to_feature", "cast_table_to_features", "cast_table_to_schema", "concat_tables",
        "embed_table_storage", "read_schema_from_file", "table_flatten", "table_iter",
    )
    | _at("datasets_core.errors", "CastError")
    | _at("datasets_core.scripting.compat.datasets", "table_cast")
)  # fmt: skip
_WRITERS = _at(f"{_ALIAS}.tables", "ArrowWriter", "OptimizedTypedSequence", "SchemaInferenceError", "TypedSequence")
_READERS = _at(f"{_ALIAS}.tables", "ArrowReader", "BaseReader")
_INSTRUCTIONS = _at(f"{_ALIAS}.internals", "FileInstructions", "make_file_instructions")
_FINGERPRINTS = _at(
    f"{_ALIAS}.internals",
    "fingerprint_warnings", "format_transform_for_fingerprint", "generate_fingerprint", "generate_random_fingerprint",
    "get_temporary_cache_files_directory", "update_fingerprint", "validate_fingerprint",
)  # fmt: skip
_LAZY = _at(f"{_ALIAS}.internals", LazyBatch="RowBatch", LazyDict="RowOrBatch", LazyRow="OneRow")
_LOCKS = {"FileLock": "filelock:FileLock", "BaseFileLock": "filelock:BaseFileLock", "Timeout": "filelock:Timeout"}
_CARDS = _at(f"{_ALIAS}.internals", "DatasetInfosDict", "MetadataConfigs")
_KINDS = (
    _at("datasets_core.features.types", "Json")
    | _at("datasets_core.features.base", "Sequence")
    | _at("datasets_core.features.media.types", "BioSequence", "BioStructure", "Mesh", "Nifti", "Pdf", "Video")
)  # fmt: skip
_NESTED = _at(
    f"{_ALIAS}.tables",
    "decode_nested_example", "encode_nested_example", "generate_from_arrow_type", "generate_from_dict", "get_nested_type",
    _FEATURE_TYPES="FEATURE_TYPES", register_feature="register_feature_type",
    _check_non_null_non_empty_recursive="check_non_null_non_empty_recursive", require_decoding="require_decoding",
    _align_features="align_features", _check_if_features_can_be_aligned="align_features",
    _is_null_feature="is_null_feature", _visit="visit",
) | {
    "string_to_arrow": "datasets_core.features.base:type_from_name",
    "_arrow_to_datasets_dtype": f"{_ALIAS}.internals:dtype_of",
}  # fmt: skip
_FORMAT_TABLES = _at(f"{_ALIAS}.internals", _hash_python_lines="hash_python_lines")
_FORMAT_TABLES |= {
    "_EXTENSION_TO_MODULE": f"{_ALIAS}.internals:extension_table()",
    "_MODULE_TO_EXTENSIONS": f"{_ALIAS}.internals:module_extensions()",
    "_PACKAGED_DATASETS_MODULES": f"{_ALIAS}.internals:packaged_modules()",
    "_ALL_EXTENSIONS": f"{_ALIAS}.internals:extension_table()",
    "_ALL_ALLOWED_EXTENSIONS": f"{_ALIAS}.internals:extension_table()",
}
_HELPERS = _at(
    f"{_ALIAS}.internals",
    "NonMutableDict", "first_non_null_non_empty_value", "first_non_null_value", "get_imports", "has_sufficient_disk_space",
    "iter_batched", "no_op_if_value_is_null", "string_to_dict", "temporary_assignment",
)  # fmt: skip
_SHARDS = _at(
    f"{_ALIAS}.internals",
    _merge_gen_kwargs="merge_gen_kwargs", _number_of_shards_in_gen_kwargs="number_of_shards_in_gen_kwargs",
    _shuffle_gen_kwargs="shuffle_gen_kwargs", _split_gen_kwargs="split_gen_kwargs",
)  # fmt: skip
_EMPTY = {"EmptyDatasetError": "datasets_core.errors:DataFilesNotFoundError"}
_COLUMNS = _at("datasets_core.store.rows.column", "Column")
_STREAM_COLUMNS = _at("datasets_core.stream.iterable", "IterableColumn")
_EXTRACTORS = _at(f"{_ALIAS}.internals", "ExtractManager", "Extractor")
_BARS = {"tqdm": "tqdm.auto:tqdm", "hf_tqdm": "tqdm.auto:tqdm"}
_STREAMED = _at(f"{_ALIAS}.internals", StreamingDownloadManager="StreamingDownloads")
_EXPERIMENTAL = _at(f"{_ALIAS}.internals", "experimental")
_JOINED = _at(f"{_ALIAS}.internals", concatenate_datasets="joined_datasets")
_LEVELS = {"log_levels": f"{_ALIAS}.internals:LOG_LEVELS"}

_KINDS_OF_FILES = {
    **{kind: (f"{name}Folder", "_folder:FolderConfig") for kind, name in {
        "audiofolder": "Audio", "imagefolder": "Image", "meshfolder": "Mesh", "niftifolder": "Nifti", "pdffolder": "Pdf",
        "videofolder": "Video",
    }.items()},
    "conll": ("Conll", "conll:ConllConfig"), "fasta": ("Fasta", "fasta:SequenceConfig"),
    "fastq": ("Fastq", "fasta:SequenceConfig"), "hdf5": ("HDF5", "hdf5:Hdf5Config"), "xml": ("Xml", "xml:XmlConfig"),
}  # fmt: skip
_FORMATS = {
    f"datasets.packaged_modules.{kind}{end}": {
        name: f"datasets_core.builders.{kind}:{'Hdf5' if kind == 'hdf5' else name}",
        f"{name}Config": f"datasets_core.builders.{config}",
    }
    for kind, (name, config) in _KINDS_OF_FILES.items()
    for end in ("", f".{kind}")
}

_WIDER: Mapping[str, Mapping[str, str]] = {
    "datasets": {**_JOINED, **_COLUMNS, **_STREAM_COLUMNS, **_KINDS, **_EXPERIMENTAL, **_STREAMED},
    "datasets.arrow_dataset": {
        **_COLUMNS, **_WRITERS, **_READERS, **_FINGERPRINTS, **_TABLES, **_LAZY, **_KINDS, **_JOINED, "tqdm": _BARS["tqdm"],
    },
    "datasets.arrow_reader": {**_READERS, **_INSTRUCTIONS},
    "datasets.arrow_writer": {**_WRITERS, **_TABLES},
    "datasets.builder": {
        **_WRITERS, **_READERS, "FileLock": _LOCKS["FileLock"],
        **_at("datasets_core.errors", InvalidConfigName="InvalidConfigNameError"), **_STREAMED,
    },
    "datasets.config": {"*": "datasets_core.config"},
    "datasets.data_files": _EMPTY,
    "datasets.combine": _JOINED,
    "datasets.filesystems": {"COMPRESSION_FILESYSTEMS": f"{_ALIAS}.internals:compression_filesystems()"},
    "datasets.distributed": _at(f"{_ALIAS}.internals", split_dataset_by_node="part_of_node"),
    "datasets.download": _STREAMED,
    "datasets.download.streaming_download_manager": _STREAMED,
    "datasets.exceptions": {"*": "datasets_core.exceptions"},
    "datasets.features": _KINDS,
    "datasets.features._torchcodec": {"AudioDecoder": "datasets_core.features.media.audio:Sound"},
    "datasets.features.features": {**_NESTED, **_KINDS},
    "datasets.features.bio_sequence": _at("datasets_core.features.media.types", "BioSequence"),
    "datasets.features.bio_structure": _at("datasets_core.features.media.types", "BioStructure"),
    "datasets.features.image": {
        **_at("datasets_core.features.media.types", image_to_bytes="image_bytes"),
        **_at(f"{_ALIAS}.tables", encode_np_array="encode_image", encode_pil_image="encode_image"),
    },
    "datasets.features.mesh": _at("datasets_core.features.media.types", "Mesh"),
    "datasets.features.nifti": _at("datasets_core.features.media.types", "Nifti"),
    "datasets.features.pdf": _at("datasets_core.features.media.types", "Pdf"),
    "datasets.features.video": _at("datasets_core.features.media.types", "Video"),
    "datasets.fingerprint": {**_FINGERPRINTS, "_CACHING_ENABLED": "datasets_core.config:is_caching_enabled()"},
    "datasets.formatting.formatting": _LAZY,
    "datasets.info": {"DatasetInfosDict": _CARDS["DatasetInfosDict"]},
    "datasets.io": {},
    "datasets.io.abc": _at(f"{_ALIAS}.tables", "AbstractDatasetInputStream", "AbstractDatasetReader"),
    "datasets.io.csv": _at(f"{_ALIAS}.tables", CsvDatasetReader="CsvReader", CsvDatasetWriter="CsvWriter"),
    "datasets.io.generator": _at(f"{_ALIAS}.tables", GeneratorDatasetInputStream="GeneratorStream"),
    "datasets.io.json": _at(f"{_ALIAS}.tables", JsonDatasetReader="JsonReader", JsonDatasetWriter="JsonWriter"),
    "datasets.io.parquet": _at(f"{_ALIAS}.tables", ParquetDatasetReader="ParquetReader", ParquetDatasetWriter="ParquetWriter"),
    "datasets.io.spark": _at(f"{_ALIAS}.tables", SparkDatasetReader="SparkReader"),
    "datasets.io.sql": _at(f"{_ALIAS}.tables", SqlDatasetReader="SqlReader", SqlDatasetWriter="SqlWriter"),
    "datasets.io.text": _at(f"{_ALIAS}.tables", TextDatasetReader="TextReader"),
    "datasets.iterable_dataset": {**_STREAM_COLUMNS, **_SHARDS},
    "datasets.load": {**_FORMAT_TABLES, **_EMPTY, "MetadataConfigs": _CARDS["MetadataConfigs"]},
    "datasets.packaged_modules": _FORMAT_TABLES,
    "datasets.packaged_modules.folder_based_builder": {},
    "datasets.packaged_modules.folder_based_builder.folder_based_builder": {
        "FolderBasedBuilder": "datasets_core.builders._folder:FolderBuilder",
        "FolderBasedBuilderConfig": "datasets_core.builders._folder:FolderConfig",
    },
    **_FORMATS,
    "datasets.table": _TABLES,
    "datasets.logging": _LEVELS,
    "datasets.utils": {**_EXPERIMENTAL, "tqdm": _BARS["tqdm"]},
    "datasets.utils._filelock": _LOCKS,
    "datasets.utils.experimental": _EXPERIMENTAL,
    "datasets.utils.logging": _LEVELS,
    "datasets.utils.extract": _EXTRACTORS,
    "datasets.utils.file_utils": {
        **_at(f"{_ALIAS}.internals", "estimate_dataset_size"),
        "ExtractManager": _EXTRACTORS["ExtractManager"], "relative_to_absolute_path": "os.path:abspath",
    },
    "datasets.utils.filelock": _LOCKS,
    "datasets.utils.hub": _at(f"{_ALIAS}.internals", "hf_dataset_url"),
    "datasets.utils.info_utils": _at(f"{_ALIAS}.internals", "is_small_dataset"),
    "datasets.utils.json": {"ujson_dumps": "json:dumps", "ujson_loads": "json:loads"},
    "datasets.utils.metadata": _CARDS,
    "datasets.utils.py_utils": {**_HELPERS, "hf_tqdm": _BARS["hf_tqdm"]},
    "datasets.utils.sharding": _SHARDS,
    "datasets.utils.streaming_download_manager": _STREAMED,
    "datasets.utils.tqdm": _BARS,
    "datasets.utils.track": _at(f"{_ALIAS}.internals", "tracked_str"),
}  # fmt: skip

MODULES: Mapping[str, Mapping[str, str]] = {
    name: {**HUGGING_FACE_MODULES.get(name, {}), **_WIDER.get(name, {})}
    for name in sorted({*HUGGING_FACE_MODULES, *_WIDER} - {"datasets.tasks", "datasets.keyhash"})
    if not name.startswith("datasets.tasks.")
}
"""Module → its names → `home.module:name`; `home.module:name()` is called at each use; `*` means all names of a module."""

_REASONS: Mapping[str, str] = {
    **HUGGING_FACE_REASONS,
    "datasets.data_files.*": "pass data_files= to load_dataset, which finds the files of each split",
    "datasets.iterable_dataset.*": "use the methods of IterableDataset; state_dict() and load_state_dict() keep its place",
    "datasets.load.*": "call load_dataset_builder, which finds and configures the builder",
    "datasets.utils.extract.*": "call the extract method of a DownloadManager",
    "datasets.load.init_dynamic_modules": "scripts are not copied to a modules folder, since they run in the sandbox",
    "datasets.formatting.get_formatter": "use dataset.with_format() to format rows",
    "datasets.formatting.query_table": "use dataset[indices] or dataset.select(indices)",
    "datasets.fingerprint.fingerprint_transform": "in methods of a subclass, pass new_fingerprint= to the called methods",
    "datasets.splits.NamedSplitAll": "use load_dataset(..., split='all') for the rows of all splits",
    "datasets.tasks": "tasks were removed in datasets 3.0; rename the columns with rename_columns()",
}
_UNKNOWN = "if a library needs it, please report which"


def absence_of(module: str, name: str) -> str:
    """Return the message for a name that is missing in the alias: since which version, and what to use instead.

    >>> absence_of("datasets", "load_metric")
    "'load_metric' of datasets is not in datasets_core, which has the public names of datasets 5.2.0: \
metrics were removed in datasets 3.0; use the package 'evaluate'."
    """
    full = f"{module}.{name}"
    keys = (full, f"datasets.{name}", name, f"{module}.*")
    reason = next((_REASONS[key] for key in keys if key in _REASONS), _UNKNOWN)
    return f"{name!r} of {module} is not in datasets_core, which has the public names of datasets {SINCE}: {reason}."
