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
_VERSION = _at("datasets_core.meta.version", "Version")
_DOWNLOAD_CONFIG = _at("datasets_core.fetch.download_config", "DownloadConfig", "DownloadMode")
_DOWNLOADS = _at("datasets_core.fetch.download", "DownloadManager") | _DOWNLOAD_CONFIG
_DATASETS = _at("datasets_core.dataset.dataset", "Dataset") | _at("datasets_core.dataset.group", "DatasetDict")
_STREAMS = _at("datasets_core.stream.iterable", "IterableDataset")
_COMBINE = _at("datasets_core.dataset.combine", "concatenate_datasets", "interleave_datasets")
_LOAD = _at("datasets_core.load", "load_dataset", "load_dataset_builder", "load_from_disk")
_INSPECT = _at(
    "datasets_core.inspect",
    "get_dataset_config_info", "get_dataset_config_names", "get_dataset_default_config_name", "get_dataset_infos",
    "get_dataset_split_names",
)  # fmt: skip
_CACHING = _at("datasets_core.config", "disable_caching", "enable_caching", "is_caching_enabled")
_BARS = _at(
    "datasets_core.progress",
    "are_progress_bars_disabled", "disable_progress_bar", "disable_progress_bars", "enable_progress_bar",
    "enable_progress_bars", "is_progress_bar_enabled",
)  # fmt: skip
_CHECKS = _at("datasets_core.fetch.checksum", "VerificationMode")
_NAMING = _at("datasets_core.meta.naming", "camelcase_to_snakecase", "snakecase_to_camelcase")
_DATA_FILES = _at("datasets_core.meta.data_files", "DataFilesDict", "DataFilesList")
_ERRORS = {"*": "datasets_core.errors"}
_LOGGING = {"*": "datasets_core.logging"} | _BARS

FACES: Mapping[str, Mapping[str, str]] = {
    "datasets": {
        **_BUILDER, **_INFO, **_SPLITS, **_READING, **_FEATURES, **_TASKS, **_VERSION, **_DOWNLOADS, **_DATASETS, **_STREAMS,
        **_COMBINE, **_LOAD, **_INSPECT, **_CACHING, **_BARS, **_CHECKS,
        "__version__": "datasets_core.scripting.hugging_face:VERSION",
    },
    "datasets.arrow_dataset": {**_DATASETS, **_COMBINE},
    "datasets.arrow_reader": {**_READING},
    "datasets.builder": {**_BUILDER, **_INFO, **_SPLITS, **_DOWNLOADS, **_DATASETS, **_STREAMS, **_FEATURES, **_VERSION},
    "datasets.combine": {**_COMBINE},
    "datasets.config": {"*": "datasets_core.config"},
    "datasets.data_files": {**_DATA_FILES},
    "datasets.dataset_dict": {**_DATASETS},
    "datasets.distributed": {"*": "datasets_core.distributed"},
    "datasets.download": {**_DOWNLOADS},
    "datasets.download.download_config": {**_DOWNLOAD_CONFIG},
    "datasets.download.download_manager": {**_DOWNLOADS},
    "datasets.exceptions": _ERRORS,
    "datasets.features": {**_FEATURES},
    "datasets.features.audio": {**_FEATURES},
    "datasets.features.features": {**_FEATURES},
    "datasets.features.image": {**_FEATURES},
    "datasets.features.translation": {**_FEATURES},
    "datasets.fingerprint": {**_at("datasets_core.store.fingerprint", "Hasher"), **_CACHING},
    "datasets.info": {**_INFO},
    "datasets.inspect": {**_INSPECT},
    "datasets.iterable_dataset": {**_STREAMS},
    "datasets.load": {**_LOAD},
    "datasets.logging": _LOGGING,
    "datasets.naming": {**_NAMING},
    "datasets.splits": {**_SPLITS, **_READING},
    "datasets.tasks": {**_TASKS, **_at("datasets_core.scripting.tasks", "task_template_from_dict")},
    "datasets.tasks.audio_classification": {**_TASKS},
    "datasets.tasks.automatic_speech_recognition": {**_TASKS},
    "datasets.tasks.base": {**_TASKS},
    "datasets.tasks.image_classification": {**_TASKS},
    "datasets.tasks.language_modeling": {**_TASKS},
    "datasets.tasks.question_answering": {**_TASKS},
    "datasets.tasks.summarization": {**_TASKS},
    "datasets.tasks.text_classification": {**_TASKS},
    "datasets.utils": {**_VERSION, **_BARS, **_CHECKS, **_DOWNLOADS},
    "datasets.utils.download_manager": {**_DOWNLOADS},
    "datasets.utils.info_utils": {**_CHECKS, **_ERRORS},
    "datasets.utils.logging": _LOGGING,
    "datasets.utils.tqdm": {**_BARS},
    "datasets.utils.version": {**_VERSION},
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
}
"""Full old name, or a name alone → what to do where it is missing."""
