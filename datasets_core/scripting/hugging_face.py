"""Where the names of Hugging Face `datasets` live that scripts of its versions 1 to 3 use."""

from __future__ import annotations

from collections.abc import Mapping

VERSION = "2.21.0"  # the last release that had everything that scripts use


def _at(home: str, *names: str) -> dict[str, str]:
    return {name: f"{home}:{name}" for name in names}


_BUILDER = _at("datasets_core.building.builder", "ArrowBasedBuilder", "DatasetBuilder", "GeneratorBasedBuilder")
_BUILDER |= _at("datasets_core.building.beam", "BeamBasedBuilder")
_BUILDER |= _at("datasets_core.building.builder_config", "BuilderConfig")
_INFO = _at("datasets_core.meta.info", "DatasetInfo", "SupervisedKeysData")
_SPLITS = _at("datasets_core.meta.split", "NamedSplit", "Split") | _at("datasets_core.building.hooks", "SplitGenerator")
_SPLITS |= _at("datasets_core.meta.split_info", "SplitDict", "SplitInfo", "SubSplitInfo")
_READING = _at("datasets_core.meta.split", "ReadInstruction")
_FEATURES = (
    _at("datasets_core.features.base", "LargeList", "List", "Sequence", "Value")
    | _at("datasets_core.features.fixed_shape", "Array2D", "Array3D", "Array4D", "Array5D")
    | _at("datasets_core.features.labels", "ClassLabel")
    | _at("datasets_core.features.schema", "Features")
    | _at("datasets_core.features.audio", "Audio")
    | _at("datasets_core.features.image", "Image")
    | _at("datasets_core.features.video", "Video")
    | _at("datasets_core.features.pdf", "Pdf")
    | _at("datasets_core.features.translation", "Translation", "TranslationVariableLanguages")
)
_TASKS = _at(
    "datasets_core.scripting.tasks",
    "AudioClassification", "AutomaticSpeechRecognition", "ImageClassification", "LanguageModeling",
    "QuestionAnsweringExtractive", "Summarization", "TaskTemplate", "TextClassification",
)  # fmt: skip
_VERSION = _at("datasets_core.scripting.old_names", "Version")
_DOWNLOAD_CONFIG = _at("datasets_core.fetch.download_config", "DownloadConfig", "DownloadMode")
_STREAMED = _at("datasets_core.fetch.streaming_downloads", "StreamingDownloadManager")
_DOWNLOADS = _at("datasets_core.fetch.download", "DownloadManager") | _STREAMED | _DOWNLOAD_CONFIG
_DATASETS = _at("datasets_core.dataset.dataset", "Dataset") | _at("datasets_core.dataset.group", "DatasetDict")
_STREAMS = _at("datasets_core.stream.iterable", "IterableDataset")
_STREAMS |= _at("datasets_core.stream.iterable_group", "IterableDatasetDict")
_COMBINE = _at("datasets_core.dataset.combine", "concatenate_datasets", "interleave_datasets")
_LOAD = _at("datasets_core.load", "load_dataset", "load_dataset_builder", "load_from_disk")
_INSPECT = _at(
    "datasets_core.inspect",
    "get_dataset_config_info", "get_dataset_config_names", "get_dataset_default_config_name", "get_dataset_infos",
    "get_dataset_split_names",
)  # fmt: skip
_CACHING = _at("datasets_core.config", "disable_caching", "enable_caching", "is_caching_enabled")
_CACHING |= _at("datasets_core.scripting.old_helpers", "set_caching_enabled")
_BARS = _at(
    "datasets_core.progress",
    "are_progress_bars_disabled", "disable_progress_bar", "disable_progress_bars", "enable_progress_bar",
    "enable_progress_bars", "is_progress_bar_enabled",
)  # fmt: skip
_CHECKS = _at("datasets_core.fetch.checksum", "VerificationMode")
_NAMING = _at("datasets_core.meta.naming", "camelcase_to_snakecase", "snakecase_to_camelcase")
_NAMING |= _at("datasets_core.scripting.old_helpers", "filename_prefix_for_split", "filenames_for_dataset_split")
_DATA_FILES = _at("datasets_core.meta.data_files", "DataFilesDict", "DataFilesList")
_PATHS = {
    f"x{name}": f"os.path:{name}"
    for name in ("basename", "dirname", "exists", "getsize", "isdir", "isfile", "join", "relpath", "split", "splitext")
}
_PATHS |= {"xPath": "pathlib:Path", "xglob": "glob:glob", "xlistdir": "os:listdir", "xwalk": "os:walk"}
_PATHS |= {"xgzip_open": "gzip:open", "xnumpy_load": "numpy:load", "xet_parse": "xml.etree.ElementTree:parse"}
_PATHS |= {"xpyarrow_parquet_read_table": "pyarrow.parquet:read_table"}
_PATHS |= _at("datasets_core.scripting.old_names", "xopen")
_WALKS = _at("datasets_core.fetch.listing", "ArchiveIterable", "FilesIterable")
_FILES = _at(
    "datasets_core.scripting.old_names",
    "get_datasets_user_agent", "hash_url_to_filename", "is_local_path", "is_relative_path", "is_remote_url", "readline",
    "url_or_path_join", "url_or_path_parent",
)  # fmt: skip
_VALUES = _at(
    "datasets_core.scripting.old_names",
    "convert_file_size_to_int", "map_nested", "size_str", "temp_seed", "unique_values", "zip_dict",
)  # fmt: skip
_VALUES |= {"asdict": "dataclasses:asdict", "Literal": "typing:Literal", "copyfunc": "copy:copy"}
_VALUES |= _at("datasets_core.scripting.old_helpers", "NestedDataStructure")
_PYTHON = _at("datasets_core.scripting.old_helpers", "cast_to_python_objects")
_PYTHON |= _at("datasets_core.features.base", "FeatureType")
_TABLES = _at("datasets_core.scripting.old_names", "table_cast")
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

FACES: Mapping[str, Mapping[str, str]] = {
    "datasets": {
        **_BUILDER, **_INFO, **_SPLITS, **_READING, **_FEATURES, **_TASKS, **_VERSION, **_DOWNLOADS, **_DATASETS, **_STREAMS,
        **_COMBINE, **_LOAD, **_INSPECT, **_CACHING, **_BARS, **_CHECKS, **_TQDM,
        "__version__": "datasets_core.scripting.hugging_face:VERSION",
    },
    "datasets.arrow_dataset": {**_DATASETS, **_COMBINE},
    "datasets.arrow_writer": {},
    "datasets.arrow_reader": {**_READING},
    "datasets.builder": {
        "Key": "datasets_core.scripting.old_names:Key",
        **_at("datasets_core.errors", "DatasetGenerationError", "ManualDownloadError"),
        **_BUILDER, **_INFO, **_SPLITS, **_DOWNLOADS, **_DATASETS, **_STREAMS, **_FEATURES, **_VERSION,
    },
    "datasets.combine": {**_COMBINE},
    "datasets.config": {"*": "datasets_core.scripting.old_settings"},
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
    "datasets.features.features": {**_FEATURES, **_PYTHON, **_at("datasets_core.scripting.old_names", "require_storage_cast")},
    "datasets.features.image": {**_FEATURES},
    "datasets.features.translation": {**_FEATURES},
    "datasets.filesystems": _at("datasets_core.scripting.old_helpers", "extract_path_from_uri", "is_remote_filesystem"),
    "datasets.fingerprint": {**_at("datasets_core.store.fingerprint", "Hasher"), **_CACHING},
    "datasets.formatting": {},
    "datasets.hub": {},
    "datasets.info": {**_INFO, **_at("datasets_core.scripting.old_helpers", "PostProcessedInfo")},
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
    "datasets.tasks": {**_TASKS, **_at("datasets_core.scripting.tasks", "task_template_from_dict")},
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
"""Old module → its names → `home.module:name`, or `home.module` alone; `*` names a module all of whose names it has."""

_METRICS = "metrics left that library too; use the package 'evaluate'"
REASONS: Mapping[str, str] = {
    "datasets.load_metric": _METRICS,
    "datasets.list_metrics": _METRICS,
    "datasets.inspect_metric": _METRICS,
    "datasets.Metric": _METRICS,
    "datasets.MetricInfo": _METRICS,
    "datasets.metric": _METRICS,
    "datasets.arrow_writer.ArrowWriter": "rows are written by the library; yield them from _generate_examples",
    "datasets.arrow_reader.ArrowReader": "rows are read by load_dataset, which says which rows of which files",
    "datasets.formatting.get_formatter": "rows come in a format by dataset.with_format()",
    "datasets.hub.hf_hub_url": "files are named by their URL, or relative to the script's folder",
    "datasets.parallel.parallel_backend": "jobs run side by side with num_proc=, or on an engine",
    "datasets.percent": "slices are written as text: split='train[:10%]'",
    "datasets.SplitBase": "splits are named by text, by Split.TRAIN and its like, or by a ReadInstruction",
    "datasets.search.FaissIndex": "vectors are searched by the methods of Dataset: add_faiss_index()",
    "datasets.utils.extract.ExtractManager": "files are unpacked by the methods of dl_manager",
    "datasets.utils.file_utils.relative_to_absolute_path": "os.path.abspath() gives the same",
    "datasets.utils.patching": "open paths as dl_manager gives them; they fetch themselves while streaming",
    "datasets.lazy_imports": "import the package itself, in the function that uses it",
    "datasets.list_datasets": "it asked the Hub, and 'huggingface_hub' does: huggingface_hub.list_datasets()",
    "datasets.utils.file_utils.cached_path": "files are fetched by the methods of dl_manager",
    "datasets.utils.file_utils.get_from_cache": "files are fetched by the methods of dl_manager",
    "datasets.utils.file_utils.http_get": "files are fetched by the methods of dl_manager",
    "datasets.utils.cached_path": "files are fetched by the methods of dl_manager",
}
"""Full old name, or a name alone → what to do where it is missing."""
