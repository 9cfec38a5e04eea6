"""The modules and names of Hugging Face `datasets` 5.2.0 in the alias, and where this library defines them."""

from __future__ import annotations

from collections.abc import Mapping

from datasets_core._version import __version__
from datasets_core.scripting.compat.tables import HUGGING_FACE_MODULES, HUGGING_FACE_REASONS

COMPATIBLE_VERSION = f"5.2.0+core.{__version__}"
"""The value of `datasets.__version__`: the release with these names, and the version of this library."""

SINCE = "5.2.0"

_ALIAS = "datasets_core.as_datasets"


def _at(home: str, *names: str, **others: str) -> dict[str, str]:
    """Return the locations of names of a module, and of names that it defines under other names."""
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
_READERS = _at(f"{_ALIAS}.tables", "ArrowReader")
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
    f"{_ALIAS}.internals",
    "decode_nested_example", "encode_nested_example", "generate_from_arrow_type", "generate_from_dict", "get_nested_type",
    _FEATURE_TYPES="FEATURE_TYPES", register_feature="register_feature_type",
    _check_non_null_non_empty_recursive="check_non_null_non_empty_recursive",
) | {"string_to_arrow": "datasets_core.features.base:type_from_name"} | _at(f"{_ALIAS}.tables", "require_decoding")  # fmt: skip
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
_EXPERIMENTAL = _at(f"{_ALIAS}.internals", "experimental")
_JOINED = _at(f"{_ALIAS}.internals", concatenate_datasets="joined_datasets")
_LEVELS = {"log_levels": f"{_ALIAS}.internals:LOG_LEVELS"}

_WIDER: Mapping[str, Mapping[str, str]] = {
    "datasets": {**_JOINED, **_COLUMNS, **_STREAM_COLUMNS, **_KINDS, **_EXPERIMENTAL},
    "datasets.arrow_dataset": {
        **_COLUMNS, **_WRITERS, **_READERS, **_FINGERPRINTS, **_TABLES, **_LAZY, **_KINDS, **_JOINED, "tqdm": _BARS["tqdm"],
    },
    "datasets.arrow_reader": _READERS,
    "datasets.arrow_writer": {**_WRITERS, **_TABLES},
    "datasets.builder": {
        **_WRITERS, **_READERS, "FileLock": _LOCKS["FileLock"],
        **_at("datasets_core.errors", InvalidConfigName="InvalidConfigNameError"),
    },
    "datasets.config": {"*": "datasets_core.config"},
    "datasets.data_files": _EMPTY,
    "datasets.combine": _JOINED,
    "datasets.filesystems": {"COMPRESSION_FILESYSTEMS": f"{_ALIAS}.internals:compression_filesystems()"},
    "datasets.distributed": _at(f"{_ALIAS}.internals", split_dataset_by_node="part_of_node"),
    "datasets.exceptions": {"*": "datasets_core.exceptions"},
    "datasets.features": _KINDS,
    "datasets.features._torchcodec": {"AudioDecoder": "datasets_core.features.media.audio:Sound"},
    "datasets.features.features": {**_NESTED, **_KINDS},
    "datasets.features.bio_sequence": _at("datasets_core.features.media.types", "BioSequence"),
    "datasets.features.bio_structure": _at("datasets_core.features.media.types", "BioStructure"),
    "datasets.features.image": {
        **_at("datasets_core.features.media.types", image_to_bytes="image_bytes"),
        **_at(f"{_ALIAS}.internals", encode_np_array="encode_image", encode_pil_image="encode_image"),
    },
    "datasets.features.mesh": _at("datasets_core.features.media.types", "Mesh"),
    "datasets.features.nifti": _at("datasets_core.features.media.types", "Nifti"),
    "datasets.features.pdf": _at("datasets_core.features.media.types", "Pdf"),
    "datasets.features.video": _at("datasets_core.features.media.types", "Video"),
    "datasets.fingerprint": {**_FINGERPRINTS, "_CACHING_ENABLED": "datasets_core.config:is_caching_enabled()"},
    "datasets.formatting.formatting": _LAZY,
    "datasets.info": {"DatasetInfosDict": _CARDS["DatasetInfosDict"]},
    "datasets.iterable_dataset": {**_STREAM_COLUMNS, **_SHARDS},
    "datasets.load": {**_FORMAT_TABLES, **_EMPTY, "MetadataConfigs": _CARDS["MetadataConfigs"]},
    "datasets.packaged_modules": _FORMAT_TABLES,
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
    "datasets.load.init_dynamic_modules": "scripts are not copied to a modules folder, since they run in the sandbox",
    "datasets.load.dataset_module_factory": "call load_dataset_builder, which finds and configures the builder",
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
    reason = _REASONS.get(full) or _REASONS.get(f"datasets.{name}") or _REASONS.get(name) or _UNKNOWN
    return f"{name!r} of {module} is not in datasets_core, which has the public names of datasets {SINCE}: {reason}."
