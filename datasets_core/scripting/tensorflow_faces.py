"""Where the names of `tensorflow_datasets`, `tensorflow` and `etils` live that scripts use."""

from __future__ import annotations

from collections.abc import Mapping

_TFDS = "datasets_core.tfds"
_HERE = "datasets_core.scripting"


def _at(home: str, *names: str) -> dict[str, str]:
    return {name: f"{home}:{name}" for name in names}


_FEATURES = _at(
    f"{_TFDS}.features",
    "Audio", "BBox", "BBoxFeature", "ClassLabel", "Dataset", "Documentation", "Encoding", "FeatureConnector", "FeaturesDict",
    "Image", "LabeledImage", "Optional", "Scalar", "Sequence", "Tensor", "Text", "Translation",
    "TranslationVariableLanguages", "Video", "BBoxFormat", "DocArg",
) | {"TensorInfo": f"{_TFDS}.connectors:TensorInfo", "TopLevelFeature": f"{_TFDS}.features:FeaturesDict"}  # fmt: skip
_BUILDERS = _at(
    f"{_TFDS}.tfds_builder", "BeamBasedBuilder", "BuilderConfig", "DatasetBuilder", "GeneratorBasedBuilder", "ShardBasedBuilder"
)
_INFO = _at(f"{_TFDS}.tfds_info", "BeamMetadataDict", "DatasetIdentity", "DatasetInfo", "Metadata", "MetadataDict")
_SPLITS = (
    _at("datasets_core.meta.split", "Split")
    | _at("datasets_core.meta.split_info", "SplitDict", "SplitInfo", "SubSplitInfo")
    | _at("datasets_core.building.hooks", "SplitGenerator")
    | _at(f"{_TFDS}.instruction", "ReadInstruction")
    | _at("datasets_core.meta.even_splits", "even_splits")
)
_VERSIONS = _at("datasets_core.meta.version", "Version") | _at("datasets_core.meta.experiment", "Experiment")
_VERSIONS |= _at("datasets_core.building.versions", "BlockedVersions")
_DOWNLOADS = _at(
    f"{_TFDS}.downloads", "DownloadConfig", "DownloadError", "DownloadManager", "ExtractMethod", "GenerateMode", "Resource",
    "add_checksums_dir", "iter_archive",
)  # fmt: skip
_DECODE = _at(f"{_TFDS}.decoding", "Decoder", "PartialDecoding", "SkipDecoding", "make_decoder")
_PATHS = _at(f"{_HERE}.epath_standin", "Path", "as_path") | _at(f"{_TFDS}.script_paths", "gcs_path", "tfds_path")
_UTILS = (
    {"*": f"{_TFDS}.utilities"}
    | _VERSIONS
    | {"gcs_path": _PATHS["gcs_path"], "tfds_path": _PATHS["tfds_path"]}
    | _at(f"{_TFDS}.script_paths", "tfds_write_path", "to_write_path")
)
_REGISTERED = _at(f"{_TFDS}.registered", "skip_registration") | _at("datasets_core.errors", "DatasetNotFoundError")
_NAMING = _at("datasets_core.meta.naming", "camelcase_to_snakecase") | {
    "snake_to_camelcase": "datasets_core.meta.naming:snakecase_to_camelcase"
}
_LAZY = {"lazy_imports": f"{_HERE}.lazy_packages:lazy_imports"}
_LOADING = _at(
    f"{_TFDS}.loading", "builder", "builder_cls", "builder_from_directories", "builder_from_directory", "data_source",
    "list_builders", "load",
)  # fmt: skip
_CONLL = _at(
    f"{_TFDS}.conll",
    "ConllBuilderConfig", "ConllDatasetBuilder", "ConllUBuilderConfig", "ConllUDatasetBuilder",
)  # fmt: skip
_CONLL_TAGS = {"*": f"{_TFDS}.conll_tags"}
_TOP = (
    _LOADING
    | _at("datasets_core.stream.read_config", "ReadConfig")
    | _at("datasets_core.meta.split", "Split")
    | _at("datasets_core.meta.even_splits", "even_splits")
    | _at("datasets_core.distributed", "split_for_jax_process")
    | _at("datasets_core.progress", "disable_progress_bar", "enable_progress_bar")
    | {"display_progress_bar": f"{_TFDS}.utilities:display_progress_bar", "GenerateMode": _DOWNLOADS["GenerateMode"]}
    | _at(f"{_TFDS}.numpy_elements", "as_numpy")
    | _at(f"{_TFDS}.dataframe", "as_dataframe")
    | _at(f"{_TFDS}.measuring", "benchmark")
    | {"__version__": f"{_TFDS}.utilities:TFDS_VERSION"}
)
_CORE = (
    _BUILDERS | _INFO | _SPLITS | _VERSIONS | _PATHS | _REGISTERED | _LAZY
    | _at(f"{_TFDS}.measuring", "BenchmarkResult")
    | _at(f"{_TFDS}.utilities", "FileFormat")
)  # fmt: skip
_CORE.pop("even_splits")
_TYPING = {"*": f"{_TFDS}.type_names"}
_TF = f"{_HERE}.tf_standin"

FACES: Mapping[str, Mapping[str, str]] = {
    **{
        f"{top}{name}": table
        for top in ("tensorflow_datasets", "tensorflow_datasets.public_api")
        for name, table in {
            "": _TOP,
            ".core": _CORE,
            ".core.dataset_builder": _BUILDERS,
            ".core.dataset_builders": _CONLL,
            ".core.dataset_builders.conll": _CONLL,
            ".core.dataset_builders.conll.conll_dataset_builder": _CONLL,
            ".core.dataset_builders.conll.conll_dataset_builder_utils": _CONLL_TAGS,
            ".core.dataset_builders.conll.conllu_dataset_builder": _CONLL,
            ".core.dataset_builders.conll.conllu_dataset_builder_utils": _CONLL_TAGS,
            ".core.dataset_info": _INFO,
            ".core.decode": _DECODE,
            ".core.download": _DOWNLOADS,
            ".core.download.download_manager": _DOWNLOADS,
            ".core.download.extractor": _DOWNLOADS,
            ".core.download.resource": _DOWNLOADS,
            ".core.features": _FEATURES,
            **{
                f".core.features.{module}": _FEATURES
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
            ".core.naming": _NAMING,
            ".core.registered": _REGISTERED,
            ".core.split_builder": _SPLITS,
            ".core.splits": _SPLITS,
            ".core.units": _at(f"{_TFDS}.utilities", "GiB", "KiB", "MiB", "PiB", "Size", "TiB"),
            ".core.utils": _UTILS,
            ".core.utils.bool_utils": _at(f"{_TFDS}.utilities", "parse_bool"),
            ".core.utils.image_utils": _UTILS,
            ".core.utils.lazy_imports_utils": {"*": f"{_HERE}.lazy_packages:lazy_modules"},
            ".core.utils.py_utils": _UTILS,
            ".core.utils.resource_utils": _UTILS,
            ".core.utils.type_utils": _TYPING,
            ".core.utils.version": _VERSIONS,
            ".dataset_builders": _CONLL,
            ".decode": _DECODE,
            ".deprecated": _at(f"{_TFDS}.downloads", "add_checksums_dir"),
            ".deprecated.text": _at(f"{_TFDS}.utilities", "TextEncoderConfig"),
            ".download": _DOWNLOADS,
            ".features": _FEATURES,
            ".testing": {"*": f"{_TFDS}.testing_names:testing"},
            ".typing": _TYPING,
            ".visualization": {"*": f"{_TFDS}.testing_names:visualization"},
        }.items()
    },
    "tensorflow_datasets.version": {"__version__": _TOP["__version__"]},
    "tensorflow": {"*": f"{_TF}:tensorflow"},
    "tensorflow.compat": {"*": f"{_TF}:compat"},
    "tensorflow.compat.v1": {"*": f"{_TF}:v1"},
    "tensorflow.compat.v2": {"*": f"{_TF}:v2"},
    "tensorflow.compat.v2.io": {"*": f"{_TF}:io"},
    "tensorflow.compat.v2.io.gfile": {"*": f"{_HERE}.gfile"},
    "tensorflow.dtypes": {"*": f"{_TF}:dtypes"},
    "tensorflow.errors": {"*": f"{_TF}:errors"},
    "tensorflow.io": {"*": f"{_TF}:io"},
    "tensorflow.io.gfile": {"*": f"{_HERE}.gfile"},
    "absl": {},
    "absl.flags": {"*": f"{_HERE}.small_packages:absl_flags"},
    "absl.logging": {"*": f"{_HERE}.small_packages:absl_logging"},
    "etils": {},
    "etils.epath": {"*": f"{_HERE}.epath_standin"},
    "six": {"*": f"{_HERE}.small_packages:six"},
    "six.moves": {"*": f"{_HERE}.small_packages:six_moves"},
    "six.moves.urllib": {"*": f"{_HERE}.small_packages:urllib_moved"},
    "six.moves.urllib.parse": {"*": "urllib.parse"},
    "six.moves.urllib.request": {"*": "urllib.request"},
    "tree": _at(f"{_HERE}.small_packages", "flatten", "map_structure"),
}
"""Old module → its names → `home.module:name`, or `home.module` alone; `*` names what has all of its names."""

REASONS: Mapping[str, str] = {
    "tensorflow_datasets.*": "scripts get what builders of datasets use; put a module of the same collection beside the script",
    "tensorflow.*": "it needs the package itself; run: pip install 'tensorflow'",
    "absl.*": "it needs the package itself; run: pip install 'absl-py'",
    "etils.*": "it needs the package itself; run: pip install 'etils'",
    "six.*": "it needs the package itself; run: pip install 'six'",
    "tree.*": "it needs the package itself; run: pip install 'dm-tree'",
}
"""Full old name, or a name alone, or `package.*` → what to do where it is missing."""

UNLESS_INSTALLED: frozenset[str] = frozenset({"absl", "etils", "six", "tensorflow", "tree"})
"""Top-level names that have a face only where the package itself is not installed."""
