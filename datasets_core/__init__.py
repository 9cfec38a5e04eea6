"""Builds datasets once, verified, into memory-mapped Arrow or Parquet, and slices and reads them fast.

Every public name opens its own module on first use, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach
from datasets_core._version import __version__

if TYPE_CHECKING:
    from datasets_core import config as config
    from datasets_core import distributed as distributed
    from datasets_core import errors as errors
    from datasets_core import exceptions as exceptions
    from datasets_core import files as files
    from datasets_core import inspect as inspect
    from datasets_core import load as load
    from datasets_core import logging as logging
    from datasets_core import progress as progress
    from datasets_core import records as records
    from datasets_core import slim as slim
    from datasets_core import tfds as tfds
    from datasets_core.building.beam import BeamBasedBuilder as BeamBasedBuilder
    from datasets_core.building.builder import ArrowBasedBuilder as ArrowBasedBuilder
    from datasets_core.building.builder import DatasetBuilder as DatasetBuilder
    from datasets_core.building.builder import GeneratorBasedBuilder as GeneratorBasedBuilder
    from datasets_core.building.hooks import BuilderConfig as BuilderConfig
    from datasets_core.building.hooks import SplitGenerator as SplitGenerator
    from datasets_core.building.prepared import builder_from_directories as builder_from_directories
    from datasets_core.building.prepared import builder_from_directory as builder_from_directory
    from datasets_core.building.versions import BlockedVersions as BlockedVersions
    from datasets_core.config import disable_caching as disable_caching
    from datasets_core.config import enable_caching as enable_caching
    from datasets_core.config import is_caching_enabled as is_caching_enabled
    from datasets_core.dataset.combine import concatenate_datasets as concatenate_datasets
    from datasets_core.dataset.combine import interleave_datasets as interleave_datasets
    from datasets_core.dataset.dataset import Dataset as Dataset
    from datasets_core.dataset.dataset_dict import DatasetDict as DatasetDict
    from datasets_core.distributed import split_for_jax_process as split_for_jax_process
    from datasets_core.distributed import split_for_process as split_for_process
    from datasets_core.distributed import split_for_torch_process as split_for_torch_process
    from datasets_core.engines import register_engine as register_engine
    from datasets_core.errors import DatasetsError as DatasetsError
    from datasets_core.features.base import LargeList as LargeList
    from datasets_core.features.base import List as List
    from datasets_core.features.base import Sequence as Sequence
    from datasets_core.features.base import Value as Value
    from datasets_core.features.base import register_feature as register_feature
    from datasets_core.features.media.audio import Audio as Audio
    from datasets_core.features.media.types import BioSequence as BioSequence
    from datasets_core.features.media.types import BioStructure as BioStructure
    from datasets_core.features.media.types import Image as Image
    from datasets_core.features.media.types import Mesh as Mesh
    from datasets_core.features.media.types import Nifti as Nifti
    from datasets_core.features.media.types import Pdf as Pdf
    from datasets_core.features.media.types import Video as Video
    from datasets_core.features.schema import Features as Features
    from datasets_core.features.types import Array2D as Array2D
    from datasets_core.features.types import Array3D as Array3D
    from datasets_core.features.types import Array4D as Array4D
    from datasets_core.features.types import Array5D as Array5D
    from datasets_core.features.types import ClassLabel as ClassLabel
    from datasets_core.features.types import Json as Json
    from datasets_core.features.types import Translation as Translation
    from datasets_core.features.types import TranslationVariableLanguages as TranslationVariableLanguages
    from datasets_core.fetch.checksums import DownloadConfig as DownloadConfig
    from datasets_core.fetch.checksums import DownloadMode as DownloadMode
    from datasets_core.fetch.checksums import VerificationMode as VerificationMode
    from datasets_core.fetch.downloads import DownloadManager as DownloadManager
    from datasets_core.fetch.streaming import StreamingDownloadManager as StreamingDownloadManager
    from datasets_core.inspect import get_dataset_config_info as get_dataset_config_info
    from datasets_core.inspect import get_dataset_config_names as get_dataset_config_names
    from datasets_core.inspect import get_dataset_default_config_name as get_dataset_default_config_name
    from datasets_core.inspect import get_dataset_infos as get_dataset_infos
    from datasets_core.inspect import get_dataset_split_names as get_dataset_split_names
    from datasets_core.load import load_dataset as load_dataset
    from datasets_core.load import load_dataset_builder as load_dataset_builder
    from datasets_core.load import load_from_disk as load_from_disk
    from datasets_core.load import lock_dataset as lock_dataset
    from datasets_core.meta.info import DatasetInfo as DatasetInfo
    from datasets_core.meta.info import SupervisedKeysData as SupervisedKeysData
    from datasets_core.meta.row_blocks import even_splits as even_splits
    from datasets_core.meta.split_info import SplitDict as SplitDict
    from datasets_core.meta.split_info import SplitInfo as SplitInfo
    from datasets_core.meta.split_info import SubSplitInfo as SubSplitInfo
    from datasets_core.meta.splits import NamedSplit as NamedSplit
    from datasets_core.meta.splits import ReadInstruction as ReadInstruction
    from datasets_core.meta.splits import Split as Split
    from datasets_core.meta.version import Experiment as Experiment
    from datasets_core.meta.version import Version as Version
    from datasets_core.progress import are_progress_bars_disabled as are_progress_bars_disabled
    from datasets_core.progress import disable_progress_bar as disable_progress_bar
    from datasets_core.progress import disable_progress_bars as disable_progress_bars
    from datasets_core.progress import enable_progress_bar as enable_progress_bar
    from datasets_core.progress import enable_progress_bars as enable_progress_bars
    from datasets_core.progress import is_progress_bar_enabled as is_progress_bar_enabled
    from datasets_core.resolve.registry import register_format as register_format
    from datasets_core.store.fingerprint import Hasher as Hasher
    from datasets_core.store.rows.column import Column as Column
    from datasets_core.stream.audit import audit as audit
    from datasets_core.stream.audit import merge_states as merge_states
    from datasets_core.stream.iterable import IterableColumn as IterableColumn
    from datasets_core.stream.iterable import IterableDataset as IterableDataset
    from datasets_core.stream.iterable_dict import IterableDatasetDict as IterableDatasetDict
    from datasets_core.stream.order.files import ReadConfig as ReadConfig

_HOMES = {
    "Array2D": "datasets_core.features.types",
    "Array3D": "datasets_core.features.types",
    "Array4D": "datasets_core.features.types",
    "Array5D": "datasets_core.features.types",
    "ArrowBasedBuilder": "datasets_core.building.builder",
    "Audio": "datasets_core.features.media.audio",
    "BeamBasedBuilder": "datasets_core.building.beam",
    "BioSequence": "datasets_core.features.media.types",
    "BioStructure": "datasets_core.features.media.types",
    "BlockedVersions": "datasets_core.building.versions",
    "BuilderConfig": "datasets_core.building.hooks",
    "ClassLabel": "datasets_core.features.types",
    "Column": "datasets_core.store.rows.column",
    "Dataset": "datasets_core.dataset.dataset",
    "DatasetBuilder": "datasets_core.building.builder",
    "DatasetDict": "datasets_core.dataset.dataset_dict",
    "DatasetInfo": "datasets_core.meta.info",
    "DatasetsError": "datasets_core.errors",
    "DownloadConfig": "datasets_core.fetch.checksums",
    "DownloadManager": "datasets_core.fetch.downloads",
    "DownloadMode": "datasets_core.fetch.checksums",
    "StreamingDownloadManager": "datasets_core.fetch.streaming",
    "Experiment": "datasets_core.meta.version",
    "Features": "datasets_core.features.schema",
    "GeneratorBasedBuilder": "datasets_core.building.builder",
    "Hasher": "datasets_core.store.fingerprint",
    "Image": "datasets_core.features.media.types",
    "IterableColumn": "datasets_core.stream.iterable",
    "IterableDataset": "datasets_core.stream.iterable",
    "IterableDatasetDict": "datasets_core.stream.iterable_dict",
    "Json": "datasets_core.features.types",
    "LargeList": "datasets_core.features.base",
    "List": "datasets_core.features.base",
    "Mesh": "datasets_core.features.media.types",
    "NamedSplit": "datasets_core.meta.splits",
    "Nifti": "datasets_core.features.media.types",
    "Pdf": "datasets_core.features.media.types",
    "ReadConfig": "datasets_core.stream.order.files",
    "ReadInstruction": "datasets_core.meta.splits",
    "Sequence": "datasets_core.features.base",
    "Split": "datasets_core.meta.splits",
    "SplitDict": "datasets_core.meta.split_info",
    "SplitGenerator": "datasets_core.building.hooks",
    "SplitInfo": "datasets_core.meta.split_info",
    "SubSplitInfo": "datasets_core.meta.split_info",
    "SupervisedKeysData": "datasets_core.meta.info",
    "Translation": "datasets_core.features.types",
    "TranslationVariableLanguages": "datasets_core.features.types",
    "Value": "datasets_core.features.base",
    "VerificationMode": "datasets_core.fetch.checksums",
    "Version": "datasets_core.meta.version",
    "Video": "datasets_core.features.media.types",
    "are_progress_bars_disabled": "datasets_core.progress",
    "audit": "datasets_core.stream.audit",
    "builder_from_directories": "datasets_core.building.prepared",
    "builder_from_directory": "datasets_core.building.prepared",
    "concatenate_datasets": "datasets_core.dataset.combine",
    "config": "datasets_core.config",
    "disable_caching": "datasets_core.config",
    "disable_progress_bar": "datasets_core.progress",
    "disable_progress_bars": "datasets_core.progress",
    "distributed": "datasets_core.distributed",
    "enable_caching": "datasets_core.config",
    "enable_progress_bar": "datasets_core.progress",
    "enable_progress_bars": "datasets_core.progress",
    "errors": "datasets_core.errors",
    "even_splits": "datasets_core.meta.row_blocks",
    "exceptions": "datasets_core.exceptions",
    "files": "datasets_core.files",
    "get_dataset_config_info": "datasets_core.inspect",
    "get_dataset_config_names": "datasets_core.inspect",
    "get_dataset_default_config_name": "datasets_core.inspect",
    "get_dataset_infos": "datasets_core.inspect",
    "get_dataset_split_names": "datasets_core.inspect",
    "inspect": "datasets_core.inspect",
    "interleave_datasets": "datasets_core.dataset.combine",
    "is_caching_enabled": "datasets_core.config",
    "is_progress_bar_enabled": "datasets_core.progress",
    "load": "datasets_core.load",
    "load_dataset": "datasets_core.load",
    "load_dataset_builder": "datasets_core.load",
    "load_from_disk": "datasets_core.load",
    "lock_dataset": "datasets_core.load",
    "logging": "datasets_core.logging",
    "merge_states": "datasets_core.stream.audit",
    "progress": "datasets_core.progress",
    "split_for_jax_process": "datasets_core.distributed",
    "split_for_process": "datasets_core.distributed",
    "split_for_torch_process": "datasets_core.distributed",
    "records": "datasets_core.records",
    "register_engine": "datasets_core.engines",
    "register_feature": "datasets_core.features.base",
    "register_format": "datasets_core.resolve.registry",
    "slim": "datasets_core.slim",
    "tfds": "datasets_core.tfds",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = ["__version__", *_HOMES]
