"""`tfds.core`: names to define datasets and select rows."""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach, homes

if TYPE_CHECKING:
    from datasets_core.building.hooks import SplitGenerator as SplitGenerator
    from datasets_core.building.versions import BlockedVersions as BlockedVersions
    from datasets_core.errors import DatasetNotFoundError as DatasetNotFoundError
    from datasets_core.meta.split_info import SplitDict as SplitDict
    from datasets_core.meta.split_info import SplitInfo as SplitInfo
    from datasets_core.meta.split_info import SubSplitInfo as SubSplitInfo
    from datasets_core.meta.version import Experiment as Experiment
    from datasets_core.meta.version import Version as Version
    from datasets_core.scripting.compat.packages import Path as Path
    from datasets_core.scripting.compat.packages import as_path as as_path
    from datasets_core.scripting.compat.packages import lazy_imports as lazy_imports
    from datasets_core.tfds.info import BeamMetadataDict as BeamMetadataDict
    from datasets_core.tfds.info import DatasetIdentity as DatasetIdentity
    from datasets_core.tfds.info import DatasetInfo as DatasetInfo
    from datasets_core.tfds.info import Metadata as Metadata
    from datasets_core.tfds.info import MetadataDict as MetadataDict
    from datasets_core.tfds.info import ReadInstruction as ReadInstruction
    from datasets_core.tfds.info import Split as Split
    from datasets_core.tfds.info import skip_registration as skip_registration
    from datasets_core.tfds.loading import BenchmarkResult as BenchmarkResult
    from datasets_core.tfds.tfds_builder import BeamBasedBuilder as BeamBasedBuilder
    from datasets_core.tfds.tfds_builder import BuilderConfig as BuilderConfig
    from datasets_core.tfds.tfds_builder import DatasetBuilder as DatasetBuilder
    from datasets_core.tfds.tfds_builder import GeneratorBasedBuilder as GeneratorBasedBuilder
    from datasets_core.tfds.tfds_builder import ShardBasedBuilder as ShardBasedBuilder
    from datasets_core.tfds.utils import FileFormat as FileFormat
    from datasets_core.tfds.utils import gcs_path as gcs_path
    from datasets_core.tfds.utils import tfds_path as tfds_path

_HOMES = homes(
    {
        "datasets_core.building.hooks": "SplitGenerator",
        "datasets_core.building.versions": "BlockedVersions",
        "datasets_core.errors": "DatasetNotFoundError",
        "datasets_core.meta.split_info": "SplitDict SplitInfo SubSplitInfo",
        "datasets_core.meta.version": "Experiment Version",
        "datasets_core.scripting.compat.packages": "Path as_path lazy_imports",
        "datasets_core.tfds.info": (
            "BeamMetadataDict DatasetIdentity DatasetInfo Metadata MetadataDict ReadInstruction Split skip_registration"
        ),
        "datasets_core.tfds.loading": "BenchmarkResult",
        "datasets_core.tfds.tfds_builder": (
            "BeamBasedBuilder BuilderConfig DatasetBuilder GeneratorBasedBuilder ShardBasedBuilder"
        ),
        "datasets_core.tfds.utils": "FileFormat gcs_path tfds_path",
    }
)

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
