"""Builds datasets once, verified, into memory-mapped Arrow or Parquet, and slices and reads them fast.

The module of a public name is imported on first use, so that importing the package is fast.
"""

import os
from typing import TYPE_CHECKING

from datasets_core._lazy import attach, homes
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
    from datasets_core.stream.iterable import IterableColumn as IterableColumn
    from datasets_core.stream.iterable import IterableDataset as IterableDataset
    from datasets_core.stream.iterable_dict import IterableDatasetDict as IterableDatasetDict
    from datasets_core.stream.order.files import ReadConfig as ReadConfig
    from datasets_core.stream.state import audit as audit
    from datasets_core.stream.state import merge_states as merge_states
    from datasets_core.viewer.server import view as view

_HOMES = homes(
    {
        "datasets_core.building.beam": "BeamBasedBuilder",
        "datasets_core.building.builder": "ArrowBasedBuilder DatasetBuilder GeneratorBasedBuilder",
        "datasets_core.building.hooks": "BuilderConfig SplitGenerator",
        "datasets_core.building.prepared": "builder_from_directories builder_from_directory",
        "datasets_core.building.versions": "BlockedVersions",
        "datasets_core.config": "config disable_caching enable_caching is_caching_enabled",
        "datasets_core.dataset.combine": "concatenate_datasets interleave_datasets",
        "datasets_core.dataset.dataset": "Dataset",
        "datasets_core.dataset.dataset_dict": "DatasetDict",
        "datasets_core.distributed": "distributed split_for_jax_process split_for_process split_for_torch_process",
        "datasets_core.engines": "register_engine",
        "datasets_core.errors": "DatasetsError errors",
        "datasets_core.exceptions": "exceptions",
        "datasets_core.features.base": "LargeList List Sequence Value register_feature",
        "datasets_core.features.media.audio": "Audio",
        "datasets_core.features.media.types": "BioSequence BioStructure Image Mesh Nifti Pdf Video",
        "datasets_core.features.schema": "Features",
        "datasets_core.features.types": (
            "Array2D Array3D Array4D Array5D ClassLabel Json Translation TranslationVariableLanguages"
        ),
        "datasets_core.fetch.checksums": "DownloadConfig DownloadMode VerificationMode",
        "datasets_core.fetch.downloads": "DownloadManager",
        "datasets_core.fetch.streaming": "StreamingDownloadManager",
        "datasets_core.files": "files",
        "datasets_core.inspect": (
            "get_dataset_config_info get_dataset_config_names get_dataset_default_config_name get_dataset_infos "
            "get_dataset_split_names inspect"
        ),
        "datasets_core.load": "load load_dataset load_dataset_builder load_from_disk lock_dataset",
        "datasets_core.logging": "logging",
        "datasets_core.meta.info": "DatasetInfo SupervisedKeysData",
        "datasets_core.meta.row_blocks": "even_splits",
        "datasets_core.meta.split_info": "SplitDict SplitInfo SubSplitInfo",
        "datasets_core.meta.splits": "NamedSplit ReadInstruction Split",
        "datasets_core.meta.version": "Experiment Version",
        "datasets_core.progress": (
            "are_progress_bars_disabled disable_progress_bar disable_progress_bars enable_progress_bar "
            "enable_progress_bars is_progress_bar_enabled progress"
        ),
        "datasets_core.records": "records",
        "datasets_core.resolve.registry": "register_format",
        "datasets_core.slim": "slim",
        "datasets_core.store.fingerprint": "Hasher",
        "datasets_core.store.rows.column": "Column",
        "datasets_core.stream.iterable": "IterableColumn IterableDataset",
        "datasets_core.stream.iterable_dict": "IterableDatasetDict",
        "datasets_core.stream.order.files": "ReadConfig",
        "datasets_core.stream.state": "audit merge_states",
        "datasets_core.tfds": "tfds",
        "datasets_core.viewer.server": "view",
    }
)

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = ["__version__", *_HOMES]

if os.environ.get("DATASETS_VERBOSITY"):
    from datasets_core import logging as logging  # which reads the variable

if os.environ.get("DATASETS_CORE_AS_DATASETS") == "1":  # in processes that a program under the alias starts
    from datasets_core import as_datasets

    as_datasets.install()
