"""Names of old libraries that scripts use, each with its location here; modules that import them on use."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from datasets_core.optional import is_installed

VERSION = "2.21.0"  # the last release that had everything that scripts use


def _at(home: str, *names: str) -> dict[str, str]:
    return {name: f"{home}:{name}" for name in names}


_BUILDER = _at("datasets_core.building.builder", "ArrowBasedBuilder", "DatasetBuilder", "GeneratorBasedBuilder")
_BUILDER |= _at("datasets_core.building.beam", "BeamBasedBuilder")
_BUILDER |= _at("datasets_core.building.hooks", "BuilderConfig")
_INFO = _at("datasets_core.meta.info", "DatasetInfo", "SupervisedKeysData")
_SPLITS = _at("datasets_core.meta.splits", "NamedSplit", "Split") | _at("datasets_core.building.hooks", "SplitGenerator")
_SPLITS |= _at("datasets_core.meta.split_info", "SplitDict", "SplitInfo", "SubSplitInfo")
_READING = _at("datasets_core.meta.splits", "ReadInstruction")
_FEATURES = (
    _at("datasets_core.features.base", "LargeList", "List", "Value")
    | {"Sequence": "datasets_core.scripting.compat.datasets:ScriptSequence"}
    | _at("datasets_core.features.types", "Array2D", "Array3D", "Array4D", "Array5D")
    | _at("datasets_core.features.types", "ClassLabel")
    | _at("datasets_core.features.schema", "Features")
    | _at("datasets_core.features.media.audio", "Audio")
    | _at("datasets_core.features.media.types", "Image")
    | _at("datasets_core.features.media.types", "Video")
    | _at("datasets_core.features.media.types", "Pdf")
    | _at("datasets_core.features.types", "Translation", "TranslationVariableLanguages")
)
_TASKS = _at(
    "datasets_core.scripting.compat.datasets",
    "AudioClassification", "AutomaticSpeechRecognition", "ImageClassification", "LanguageModeling",
    "QuestionAnsweringExtractive", "Summarization", "TaskTemplate", "TextClassification",
)  # fmt: skip
_VERSION = _at("datasets_core.scripting.compat.datasets", "Version")
_DOWNLOAD_CONFIG = _at("datasets_core.fetch.checksums", "DownloadConfig", "DownloadMode")
_STREAMED = _at("datasets_core.fetch.streaming", "StreamingDownloadManager")
_DOWNLOADS = _at("datasets_core.fetch.downloads", "DownloadManager") | _STREAMED | _DOWNLOAD_CONFIG
_DATASETS = _at("datasets_core.dataset.dataset", "Dataset") | _at("datasets_core.dataset.dataset_dict", "DatasetDict")
_STREAMS = _at("datasets_core.stream.iterable", "IterableDataset")
_STREAMS |= _at("datasets_core.stream.iterable_dict", "IterableDatasetDict")
_COMBINE = _at("datasets_core.dataset.combine", "concatenate_datasets", "interleave_datasets")
_LOAD = _at("datasets_core.load", "load_dataset", "load_dataset_builder", "load_from_disk")
_INSPECT = _at(
    "datasets_core.inspect",
    "get_dataset_config_info", "get_dataset_config_names", "get_dataset_default_config_name", "get_dataset_infos",
    "get_dataset_split_names",
)  # fmt: skip
_CACHING = _at("datasets_core.config", "disable_caching", "enable_caching", "is_caching_enabled")
_CACHING |= _at("datasets_core.scripting.compat.datasets", "set_caching_enabled")
_BARS = _at(
    "datasets_core.progress",
    "are_progress_bars_disabled", "disable_progress_bar", "disable_progress_bars", "enable_progress_bar",
    "enable_progress_bars", "is_progress_bar_enabled",
)  # fmt: skip
_CHECKS = _at("datasets_core.fetch.checksums", "VerificationMode")
_NAMING = _at("datasets_core.meta.reference", "camelcase_to_snakecase", "snakecase_to_camelcase")
_NAMING |= _at("datasets_core.scripting.compat.datasets", "filename_prefix_for_split", "filenames_for_dataset_split")
_DATA_FILES = _at("datasets_core.meta.data_files", "DataFilesDict", "DataFilesList")
_PATHS = {
    f"x{name}": f"os.path:{name}"
    for name in ("basename", "dirname", "exists", "getsize", "isdir", "isfile", "join", "relpath", "split", "splitext")
}
_PATHS |= {"xPath": "pathlib:Path", "xglob": "glob:glob", "xlistdir": "os:listdir", "xwalk": "os:walk"}
_PATHS |= {"xgzip_open": "gzip:open", "xnumpy_load": "numpy:load", "xet_parse": "xml.etree.ElementTree:parse"}
_PATHS |= {"xpyarrow_parquet_read_table": "pyarrow.parquet:read_table"}
_PATHS |= _at("datasets_core.scripting.compat.datasets", "xopen")
_WALKS = _at("datasets_core.fetch.extract", "ArchiveIterable", "FilesIterable")
_FILES = _at(
    "datasets_core.scripting.compat.datasets",
    "get_datasets_user_agent", "hash_url_to_filename", "is_local_path", "is_relative_path", "is_remote_url", "readline",
    "url_or_path_join", "url_or_path_parent",
)  # fmt: skip
_VALUES = _at(
    "datasets_core.scripting.compat.datasets",
    "asdict", "convert_file_size_to_int", "copyfunc", "map_nested", "size_str", "temp_seed", "unique_values", "zip_dict",
)  # fmt: skip
_VALUES |= {"Literal": "typing:Literal"}
_VALUES |= _at("datasets_core.scripting.compat.datasets", "NestedDataStructure")
_PYTHON = _at("datasets_core.scripting.compat.datasets", "cast_to_python_objects")
_PYTHON |= _at("datasets_core.features.base", "FeatureType")
_TABLES = _at("datasets_core.scripting.compat.datasets", "table_cast")
_TQDM = {"tqdm": "tqdm.auto:tqdm"}
_ERRORS = {"*": "datasets_core.errors"}
_LOGGING = {"*": "datasets_core.logging"} | _BARS | _TQDM

_FORMATS = {
    "arrow": "Arrow", "audiofolder": "AudioFolder", "csv": "Csv", "imagefolder": "ImageFolder", "json": "Json",
    "pandas": "Pandas", "parquet": "Parquet", "sql": "Sql", "text": "Text", "webdataset": "WebDataset",
}  # fmt: skip
_FOLDERS = ("audiofolder", "imagefolder", "webdataset")  # whose configs are of no class that scripts name
_PACKAGED: dict[str, dict[str, str]] = {"datasets.packaged_modules": {}}
for _format, _class in _FORMATS.items():
    _names = _at(f"datasets_core.builders.{_format}", _class, *(() if _format in _FOLDERS else (f"{_class}Config",)))
    _PACKAGED |= {f"datasets.packaged_modules.{_format}{end}": _names for end in ("", f".{_format}")}

HUGGING_FACE_MODULES: Mapping[str, Mapping[str, str]] = {
    "datasets": {
        **_BUILDER, **_INFO, **_SPLITS, **_READING, **_FEATURES, **_TASKS, **_VERSION, **_DOWNLOADS, **_DATASETS, **_STREAMS,
        **_COMBINE, **_LOAD, **_INSPECT, **_CACHING, **_BARS, **_CHECKS, **_TQDM,
        "__version__": "datasets_core.scripting.compat.tables:VERSION",
    },
    "datasets.arrow_dataset": {**_DATASETS, **_COMBINE},
    "datasets.arrow_writer": {},
    "datasets.arrow_reader": {**_READING},
    "datasets.builder": {
        "Key": "datasets_core.scripting.compat.datasets:Key",
        **_at("datasets_core.errors", "DatasetGenerationError", "ManualDownloadError"),
        **_BUILDER, **_INFO, **_SPLITS, **_DOWNLOADS, **_DATASETS, **_STREAMS, **_FEATURES, **_VERSION,
    },
    "datasets.combine": {**_COMBINE},
    "datasets.config": {"*": "datasets_core.scripting.compat.datasets"},
    "datasets.data_files": {**_DATA_FILES},
    "datasets.dataset_dict": {**_DATASETS, **_STREAMS},
    "datasets.distributed": {"*": "datasets_core.distributed"},
    "datasets.download": {**_DOWNLOADS},
    "datasets.download.download_config": {**_DOWNLOAD_CONFIG},
    "datasets.download.download_manager": {**_DOWNLOADS, **_WALKS},
    "datasets.download.streaming_download_manager": {**_PATHS, **_WALKS, **_STREAMED},
    "datasets.exceptions": _ERRORS,
    "datasets.features": {**_FEATURES},
    "datasets.features.audio": {**_FEATURES},
    "datasets.features.features": {
        **_FEATURES,
        **_PYTHON,
        **_at("datasets_core.scripting.compat.datasets", "require_storage_cast", "require_storage_embed"),
    },
    "datasets.features.image": {**_FEATURES},
    "datasets.features.translation": {**_FEATURES},
    "datasets.filesystems": _at("datasets_core.scripting.compat.datasets", "extract_path_from_uri", "is_remote_filesystem"),
    "datasets.fingerprint": {**_at("datasets_core.store.fingerprint", "Hasher"), **_CACHING},
    "datasets.formatting": {},
    "datasets.hub": {},
    "datasets.info": {**_INFO, **_at("datasets_core.scripting.compat.datasets", "PostProcessedInfo")},
    "datasets.inspect": {**_INSPECT},
    "datasets.iterable_dataset": {**_STREAMS},
    "datasets.keyhash": {},
    "datasets.load": {**_LOAD},
    "datasets.logging": _LOGGING,
    "datasets.naming": {**_NAMING},
    "datasets.parallel": {},
    "datasets.search": {},
    "datasets.splits": {**_SPLITS, **_READING},
    "datasets.table": _TABLES,
    "datasets.tasks": {**_TASKS, **_at("datasets_core.scripting.compat.datasets", "task_template_from_dict")},
    "datasets.tasks.audio_classification": {**_TASKS},
    "datasets.tasks.automatic_speech_recognition": {**_TASKS},
    "datasets.tasks.base": {**_TASKS},
    "datasets.tasks.image_classification": {**_TASKS},
    "datasets.tasks.language_modeling": {**_TASKS},
    "datasets.tasks.question_answering": {**_TASKS},
    "datasets.tasks.summarization": {**_TASKS},
    "datasets.tasks.text_classification": {**_TASKS},
    "datasets.utils": {**_VERSION, **_BARS, **_CHECKS, **_DOWNLOADS, **_VALUES, **_FILES},
    "datasets.utils.download_manager": {**_DOWNLOADS},
    "datasets.utils.file_utils": {**_FILES, **_PATHS, **_WALKS, **_DOWNLOAD_CONFIG},
    "datasets.utils.extract": {},
    "datasets.utils.info_utils": {**_CHECKS, **_ERRORS},
    "datasets.utils.logging": _LOGGING,
    "datasets.utils.metadata": {},
    "datasets.utils.py_utils": _VALUES,
    "datasets.utils.sharding": {},
    "datasets.utils.streaming_download_manager": {**_PATHS, **_WALKS, **_STREAMED},
    "datasets.utils.tqdm": {**_BARS, **_TQDM},
    "datasets.utils.tqdm_utils": {**_BARS, **_TQDM},
    "datasets.utils.typing": {"NestedDataStructureLike": "typing:Any", "PathLike": "os:PathLike"},
    "datasets.utils.version": {**_VERSION},
    **_PACKAGED,
}  # fmt: skip
"""Old module → its names → `home.module:name`, or `home.module` alone; `*` names a module whose names it all has."""

_METRICS = "metrics were removed in datasets 3.0; use the package 'evaluate'"
HUGGING_FACE_REASONS: Mapping[str, str] = {
    "datasets.load_metric": _METRICS,
    "datasets.list_metrics": _METRICS,
    "datasets.inspect_metric": _METRICS,
    "datasets.Metric": _METRICS,
    "datasets.MetricInfo": _METRICS,
    "datasets.metric": _METRICS,
    "datasets.arrow_writer.ArrowWriter": "rows are written by the library; yield them from _generate_examples",
    "datasets.arrow_reader.ArrowReader": "rows are read by load_dataset; split= selects them",
    "datasets.formatting.get_formatter": "the format of rows is set by dataset.with_format()",
    "datasets.hub.hf_hub_url": "files are named by their URL, or relative to the script's folder",
    "datasets.parallel.parallel_backend": "jobs run in parallel with num_proc=, or on an engine",
    "datasets.percent": "slices are written as text: split='train[:10%]'",
    "datasets.SplitBase": "splits are named by strings, by constants such as Split.TRAIN, or by a ReadInstruction",
    "datasets.search.FaissIndex": "vectors are searched by the methods of Dataset: add_faiss_index()",
    "datasets.utils.extract.ExtractManager": "files are unpacked by the methods of dl_manager",
    "datasets.utils.file_utils.relative_to_absolute_path": "use os.path.abspath()",
    "datasets.utils.patching": "open the paths that dl_manager returns; while streaming, they are fetched when they are opened",
    "datasets.lazy_imports": "import the package itself, in the function that uses it",
    "datasets.list_datasets": "use huggingface_hub.list_datasets()",
    "datasets.utils.file_utils.cached_path": "files are fetched by the methods of dl_manager",
    "datasets.utils.file_utils.get_from_cache": "files are fetched by the methods of dl_manager",
    "datasets.utils.file_utils.http_get": "files are fetched by the methods of dl_manager",
    "datasets.utils.cached_path": "files are fetched by the methods of dl_manager",
}
"""Full old name, or a name alone → what to do where it is missing."""


# Locations of the names of `tensorflow_datasets`, `tensorflow` and `etils` that scripts use.


_TF_FEATURES = _at(
    "datasets_core.tfds.features",
    "Audio",
    "BBox",
    "BBoxFeature",
    "ClassLabel",
    "Dataset",
    "Documentation",
    "Encoding",
    "FeatureConnector",
    "FeaturesDict",
    "Image",
    "LabeledImage",
    "Optional",
    "Scalar",
    "Sequence",
    "Tensor",
    "Text",
    "Translation",
    "TranslationVariableLanguages",
    "Video",
    "BBoxFormat",
    "DocArg",
) | {"TensorInfo": "datasets_core.tfds.connectors:TensorInfo", "TopLevelFeature": "datasets_core.tfds.features:FeaturesDict"}
_BUILDERS = _at(
    "datasets_core.tfds.tfds_builder",
    "BeamBasedBuilder",
    "BuilderConfig",
    "DatasetBuilder",
    "GeneratorBasedBuilder",
    "ShardBasedBuilder",
)
_TF_INFO = _at("datasets_core.tfds.info", "BeamMetadataDict", "DatasetIdentity", "DatasetInfo", "Metadata", "MetadataDict")
_TF_SPLITS = (
    _at("datasets_core.tfds.info", "Split")
    | _at("datasets_core.meta.split_info", "SplitDict", "SplitInfo", "SubSplitInfo")
    | _at("datasets_core.building.hooks", "SplitGenerator")
    | _at("datasets_core.tfds.info", "ReadInstruction")
    | _at("datasets_core.meta.row_blocks", "even_splits")
)
_VERSIONS = _at("datasets_core.meta.version", "Version") | _at("datasets_core.meta.version", "Experiment")
_VERSIONS |= _at("datasets_core.building.versions", "BlockedVersions")
_TF_DOWNLOADS = _at(
    "datasets_core.tfds.download",
    "DownloadConfig",
    "DownloadError",
    "DownloadManager",
    "ExtractMethod",
    "GenerateMode",
    "Resource",
    "add_checksums_dir",
    "iter_archive",
)
_FROM_ARCHIVES = dict.fromkeys(
    ("iter_archive", "iter_tar", "iter_tar_stream", "iter_zip"), "datasets_core.tfds.download:iter_archive"
)
_EXTRACTOR = _TF_DOWNLOADS | _FROM_ARCHIVES | _at("datasets_core.tfds.download", "iter_bzip2", "iter_gzip")
_DECODE = _at("datasets_core.tfds.decode", "Decoder", "PartialDecoding", "SkipDecoding", "make_decoder")
_TF_PATHS = _at("datasets_core.scripting.compat.packages", "Path", "as_path") | _at(
    "datasets_core.tfds.utils", "gcs_path", "tfds_path"
)
_UTILS = (
    {"*": "datasets_core.tfds.utils"}
    | _VERSIONS
    | {"gcs_path": _TF_PATHS["gcs_path"], "tfds_path": _TF_PATHS["tfds_path"]}
    | _at("datasets_core.tfds.utils", "tfds_write_path", "to_write_path")
)
_REGISTERED = _at("datasets_core.tfds.info", "skip_registration") | _at("datasets_core.errors", "DatasetNotFoundError")
_TF_NAMING = _at("datasets_core.meta.reference", "camelcase_to_snakecase") | {
    "snake_to_camelcase": "datasets_core.meta.reference:snakecase_to_camelcase"
}
_LAZY = {"lazy_imports": "datasets_core.scripting.compat.packages:lazy_imports"}
_LOADING = _at(
    "datasets_core.tfds.loading",
    "builder",
    "builder_cls",
    "builder_from_directories",
    "builder_from_directory",
    "data_source",
    "list_builders",
    "load",
)
_CONLL = _at(
    "datasets_core.tfds.utils",
    "ConllBuilderConfig",
    "ConllDatasetBuilder",
    "ConllUBuilderConfig",
    "ConllUDatasetBuilder",
    "get_conllu_example",
    "get_xtreme_pos_example",
)
_CONLL_TAGS = {"*": "datasets_core.tfds.utils"}
_TOP = (
    _LOADING
    | _at("datasets_core.stream.order.files", "ReadConfig")
    | _at("datasets_core.tfds.info", "Split")
    | _at("datasets_core.meta.row_blocks", "even_splits")
    | _at("datasets_core.distributed", "split_for_jax_process")
    | _at("datasets_core.progress", "disable_progress_bar", "enable_progress_bar")
    | {"display_progress_bar": "datasets_core.tfds.utils:display_progress_bar", "GenerateMode": _TF_DOWNLOADS["GenerateMode"]}
    | _at("datasets_core.tfds.reading", "as_numpy")
    | _at("datasets_core.tfds.reading", "as_dataframe")
    | _at("datasets_core.tfds.loading", "benchmark")
    | {"__version__": "datasets_core.tfds.utils:TFDS_VERSION"}
)
_CORE = (
    _BUILDERS
    | _TF_INFO
    | _TF_SPLITS
    | _VERSIONS
    | _TF_PATHS
    | _REGISTERED
    | _LAZY
    | _at("datasets_core.tfds.loading", "BenchmarkResult")
    | _at("datasets_core.tfds.utils", "FileFormat")
)
_CORE.pop("even_splits")
_TYPING = {"*": "datasets_core.tfds.utils"}
_BEAM = _at("datasets_core.tfds.reading", "ReadFromTFDS")
_TF = "datasets_core.scripting.compat.tensorflow"

TENSORFLOW_MODULES: Mapping[str, Mapping[str, str]] = {
    **{
        f"{top}{name}": table
        for top in ("tensorflow_datasets", "tensorflow_datasets.public_api")
        for name, table in {
            "": _TOP,
            ".beam": _BEAM,
            ".core": _CORE,
            ".core.beam_utils": _BEAM,
            ".core.dataset_builder": _BUILDERS,
            ".core.dataset_builders": _CONLL,
            ".core.dataset_builders.conll": _CONLL,
            ".core.dataset_builders.conll.conll_dataset_builder": _CONLL,
            ".core.dataset_builders.conll.conll_dataset_builder_utils": _CONLL_TAGS,
            ".core.dataset_builders.conll.conllu_dataset_builder": _CONLL,
            ".core.dataset_builders.conll.conllu_dataset_builder_utils": _CONLL_TAGS,
            ".core.dataset_info": _TF_INFO,
            ".core.dataset_utils": _at("datasets_core.tfds.reading", "as_numpy"),
            ".core.decode": _DECODE,
            ".core.download": _TF_DOWNLOADS,
            ".core.download.download_manager": _TF_DOWNLOADS,
            ".core.download.extractor": _EXTRACTOR,
            ".core.download.resource": _TF_DOWNLOADS,
            ".core.example_parser": {"ExampleParser": "datasets_core.tfds.reading:SerializedParser"},
            ".core.features": _TF_FEATURES,
            **{
                f".core.features.{module}": _TF_FEATURES
                for module in (
                    "audio_feature",
                    "bounding_boxes",
                    "bounding_boxes_utils",
                    "class_label_feature",
                    "dataset_feature",
                    "feature",
                    "features_dict",
                    "image_feature",
                    "labeled_image",
                    "scalar",
                    "sequence_feature",
                    "tensor_feature",
                    "text_feature",
                    "top_level_feature",
                    "translation_feature",
                    "video_feature",
                )
            },
            ".core.lazy_imports_lib": _LAZY,
            ".core.naming": _TF_NAMING,
            ".core.registered": _REGISTERED,
            ".core.split_builder": _TF_SPLITS,
            ".core.splits": _TF_SPLITS,
            ".core.units": _at("datasets_core.tfds.utils", "GiB", "KiB", "MiB", "PiB", "Size", "TiB"),
            ".core.utils": _UTILS,
            ".core.utils.bool_utils": _at("datasets_core.tfds.utils", "parse_bool"),
            ".core.utils.image_utils": _UTILS,
            ".core.utils.lazy_imports_utils": {"*": "datasets_core.scripting.compat.packages:lazy_modules"},
            ".core.utils.py_utils": _UTILS,
            ".core.utils.read_config": _at("datasets_core.stream.order.files", "ReadConfig"),
            ".core.utils.resource_utils": _UTILS,
            ".core.utils.type_utils": _TYPING,
            ".core.utils.version": _VERSIONS,
            ".dataset_builders": _CONLL,
            ".decode": _DECODE,
            ".deprecated": _at("datasets_core.tfds.download", "add_checksums_dir"),
            ".deprecated.text": _at("datasets_core.tfds.utils", "TextEncoderConfig"),
            ".download": _TF_DOWNLOADS,
            ".download.download_manager": _TF_DOWNLOADS,
            ".features": _TF_FEATURES,
            ".testing": {"*": "datasets_core.tfds.utils:testing"},
            ".typing": _TYPING,
            ".visualization": {"*": "datasets_core.tfds.utils:visualization"},
        }.items()
    },
    "tensorflow_datasets.version": {"__version__": _TOP["__version__"]},
    "tensorflow": {"*": f"{_TF}:tensorflow"},
    "tensorflow.compat": {"*": f"{_TF}:compat"},
    "tensorflow.compat.v1": {"*": f"{_TF}:v1"},
    "tensorflow.compat.v2": {"*": f"{_TF}:v2"},
    "tensorflow.compat.v2.io": {"*": f"{_TF}:io"},
    "tensorflow.compat.v2.io.gfile": {"*": "datasets_core.scripting.compat.packages"},
    "tensorflow.dtypes": {"*": f"{_TF}:dtypes"},
    "tensorflow.errors": {"*": f"{_TF}:errors"},
    "tensorflow.io": {"*": f"{_TF}:io"},
    "tensorflow.io.gfile": {"*": "datasets_core.scripting.compat.packages"},
    "absl": {},
    "absl.flags": {"*": "datasets_core.scripting.compat.packages:absl_flags"},
    "absl.logging": {"*": "datasets_core.scripting.compat.packages:absl_logging"},
    "etils": {},
    "etils.epath": {"*": "datasets_core.scripting.compat.packages"},
    "six": {"*": "datasets_core.scripting.compat.packages:six"},
    "six.moves": {"*": "datasets_core.scripting.compat.packages:six_moves"},
    "six.moves.urllib": {"*": "datasets_core.scripting.compat.packages:urllib_moved"},
    "six.moves.urllib.parse": {"*": "urllib.parse"},
    "six.moves.urllib.request": {"*": "urllib.request"},
    "tree": _at("datasets_core.scripting.compat.packages", "flatten", "map_structure"),
}
"""Old module → its names → `home.module:name`, or `home.module` alone; `*` names what has all of its names."""

TENSORFLOW_REASONS: Mapping[str, str] = {
    "tensorflow_datasets.*": "scripts get only names for dataset builders; put modules of the collection next to the script",
    "tensorflow.*": "it needs the package itself; run: pip install 'tensorflow'",
    "absl.*": "it needs the package itself; run: pip install 'absl-py'",
    "etils.*": "it needs the package itself; run: pip install 'etils'",
    "six.*": "it needs the package itself; run: pip install 'six'",
    "tree.*": "it needs the package itself; run: pip install 'dm-tree'",
}
"""Full old name, or a name alone, or `package.*` → what to do where it is missing."""

UNLESS_INSTALLED: frozenset[str] = frozenset({"absl", "six", "tensorflow", "tree"})
"""Top-level names with a compatibility module only if the package itself is not installed."""
IN_PART: frozenset[str] = frozenset({"etils"})
"""Top-level names whose other names come from the package itself, if it is installed: paths are always those of this library,
so that functions of a script with `epath.Path` in their annotations accept what the download manager returns."""


# Compatibility modules: modules of this library with the names of `datasets` and similar libraries, only for scripts.


__path__: list[str] = []  # a package whose modules are not files

COMPAT_MODULES: Mapping[str, Mapping[str, str]] = {**HUGGING_FACE_MODULES, **TENSORFLOW_MODULES}
_REASONS: Mapping[str, str] = {**HUGGING_FACE_REASONS, **TENSORFLOW_REASONS}
_TOPS = frozenset(name.partition(".")[0] for name in COMPAT_MODULES)


def compat_module_of(dotted: str) -> str | None:
    """Return the module that a script gets for an old name; None for other names, which are imported unchanged.

    A missing submodule has a name, too: importing it raises an error with the reason.

    >>> compat_module_of("datasets.features")
    'datasets_core.scripting.compat.tables.datasets.features'
    >>> compat_module_of("pandas")
    """
    top = dotted.partition(".")[0]
    if top not in _TOPS or (top in UNLESS_INSTALLED and is_installed(top)):
        return None
    if top in IN_PART and dotted not in COMPAT_MODULES and is_installed(top):
        return None
    return f"{__name__}.{dotted}"


class Face(ModuleType):
    """One module of an old library: its names are imported on use, from their current location."""

    def __getattr__(self, name: str) -> Any:
        old = _old_name(self.__name__)
        value = _found(old, name)
        setattr(self, name, value)  # the next access costs nothing
        return value

    def __dir__(self) -> list[str]:
        old = _old_name(self.__name__)
        return sorted({*super().__dir__(), *COMPAT_MODULES[old], *_public(old)} - {"*"})

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return open_module, (_old_name(self.__name__),)


def open_module(old: str) -> ModuleType:
    """Return the compatibility module for an old module.

    Raises:
        ModuleNotFoundError: it does not exist.

    >>> open_module("datasets.tasks").TextClassification.task
    'text-classification'
    """
    return importlib.import_module(f"{__name__}.{old}")


def _old_name(name: str) -> str:
    return name.removeprefix(f"{__name__}.")


def _found(old: str, name: str) -> Any:
    if f"{old}.{name}" in COMPAT_MODULES:
        return open_module(f"{old}.{name}")
    table = COMPAT_MODULES[old]
    home = table.get(name)
    if home is not None:
        return _found_at(home)
    if name == "__all__":
        return _public(old)
    if "*" in table and not name.startswith("_"):
        found = _found_at(table["*"])
        if hasattr(found, name):
            return getattr(found, name)
    if old in IN_PART and is_installed(old):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(f"{old}.{name}")
    raise AttributeError(_refusal(old, name), name=name)


def _public(old: str) -> list[str]:
    names = {name.rpartition(".")[2] for name in COMPAT_MODULES if name.rpartition(".")[0] == old}
    names |= {name for name in COMPAT_MODULES[old] if not name.startswith("_") and name != "*"}
    if "*" in COMPAT_MODULES[old]:
        names |= {name for name in dir(_found_at(COMPAT_MODULES[old]["*"])) if not name.startswith("_")}
    return sorted(names)


def _found_at(home: str) -> Any:
    """Return the object at `module` or `module:name`."""
    module, _, name = home.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def _refusal(old: str, name: str) -> str:
    top = old.partition(".")[0]
    reason = _REASONS.get(f"{old}.{name}") or _REASONS.get(f"{top}.{name}") or _REASONS.get(name) or _REASONS.get(f"{top}.*")
    return f"{old} has no {name!r} here: {reason}" if reason else f"{old} has no {name!r} here"


class _Finder:
    """Finder of compatibility modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module for the import system."""
        if not fullname.startswith(f"{__name__}."):
            return None
        old = _old_name(fullname)
        if old not in COMPAT_MODULES:
            above, _, name = old.rpartition(".")
            is_package = old.partition(".")[0] in UNLESS_INSTALLED | IN_PART
            raise ModuleNotFoundError(_refusal(above or old, name), name=old if is_package else None)
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty compatibility module: its names are looked up on use."""
        return Face(spec.name, f"`{_old_name(spec.name)}`, as scripts know it.")

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has no code."""


sys.meta_path.append(_Finder())
