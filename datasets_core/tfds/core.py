"""`tfds.core`: what code of TFDS names to define a dataset and to say which rows it means."""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.building.hooks import SplitGenerator as SplitGenerator
    from datasets_core.building.versions import BlockedVersions as BlockedVersions
    from datasets_core.errors import DatasetNotFoundError as DatasetNotFoundError
    from datasets_core.meta.experiment import Experiment as Experiment
    from datasets_core.meta.split import Split as Split
    from datasets_core.meta.split_info import SplitDict as SplitDict
    from datasets_core.meta.split_info import SplitInfo as SplitInfo
    from datasets_core.meta.split_info import SubSplitInfo as SubSplitInfo
    from datasets_core.meta.version import Version as Version
    from datasets_core.scripting.epath_standin import Path as Path
    from datasets_core.scripting.epath_standin import as_path as as_path
    from datasets_core.scripting.lazy_packages import lazy_imports as lazy_imports
    from datasets_core.tfds.instruction import ReadInstruction as ReadInstruction
    from datasets_core.tfds.measuring import BenchmarkResult as BenchmarkResult
    from datasets_core.tfds.registered import skip_registration as skip_registration
    from datasets_core.tfds.script_paths import gcs_path as gcs_path
    from datasets_core.tfds.script_paths import tfds_path as tfds_path
    from datasets_core.tfds.tfds_builder import BeamBasedBuilder as BeamBasedBuilder
    from datasets_core.tfds.tfds_builder import BuilderConfig as BuilderConfig
    from datasets_core.tfds.tfds_builder import DatasetBuilder as DatasetBuilder
    from datasets_core.tfds.tfds_builder import GeneratorBasedBuilder as GeneratorBasedBuilder
    from datasets_core.tfds.tfds_builder import ShardBasedBuilder as ShardBasedBuilder
    from datasets_core.tfds.tfds_info import BeamMetadataDict as BeamMetadataDict
    from datasets_core.tfds.tfds_info import DatasetIdentity as DatasetIdentity
    from datasets_core.tfds.tfds_info import DatasetInfo as DatasetInfo
    from datasets_core.tfds.tfds_info import Metadata as Metadata
    from datasets_core.tfds.tfds_info import MetadataDict as MetadataDict
    from datasets_core.tfds.utilities import FileFormat as FileFormat

_HOMES = {
    "BeamBasedBuilder": "datasets_core.tfds.tfds_builder",
    "BeamMetadataDict": "datasets_core.tfds.tfds_info",
    "BenchmarkResult": "datasets_core.tfds.measuring",
    "BlockedVersions": "datasets_core.building.versions",
    "BuilderConfig": "datasets_core.tfds.tfds_builder",
    "DatasetBuilder": "datasets_core.tfds.tfds_builder",
    "DatasetIdentity": "datasets_core.tfds.tfds_info",
    "DatasetInfo": "datasets_core.tfds.tfds_info",
    "DatasetNotFoundError": "datasets_core.errors",
    "Experiment": "datasets_core.meta.experiment",
    "FileFormat": "datasets_core.tfds.utilities",
    "GeneratorBasedBuilder": "datasets_core.tfds.tfds_builder",
    "Metadata": "datasets_core.tfds.tfds_info",
    "MetadataDict": "datasets_core.tfds.tfds_info",
    "Path": "datasets_core.scripting.epath_standin",
    "ReadInstruction": "datasets_core.tfds.instruction",
    "ShardBasedBuilder": "datasets_core.tfds.tfds_builder",
    "Split": "datasets_core.meta.split",
    "SplitDict": "datasets_core.meta.split_info",
    "SplitGenerator": "datasets_core.building.hooks",
    "SplitInfo": "datasets_core.meta.split_info",
    "SubSplitInfo": "datasets_core.meta.split_info",
    "Version": "datasets_core.meta.version",
    "as_path": "datasets_core.scripting.epath_standin",
    "gcs_path": "datasets_core.tfds.script_paths",
    "lazy_imports": "datasets_core.scripting.lazy_packages",
    "skip_registration": "datasets_core.tfds.registered",
    "tfds_path": "datasets_core.tfds.script_paths",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
