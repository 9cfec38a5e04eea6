"""TF-Slim's way to provide data, without TensorFlow: a dataset specification, a decoder with item handlers, and a provider.

The public names open their own modules on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.errors import NestedQueueRunnerError as NestedQueueRunnerError
    from datasets_core.errors import NoDataFilesError as NoDataFilesError
    from datasets_core.records.feature_specs import FixedLenFeature as FixedLenFeature
    from datasets_core.records.feature_specs import FixedLenSequenceFeature as FixedLenSequenceFeature
    from datasets_core.records.feature_specs import SparseFeature as SparseFeature
    from datasets_core.records.feature_specs import VarLenFeature as VarLenFeature
    from datasets_core.records.parsed_values import RaggedValue as RaggedValue
    from datasets_core.records.parsed_values import SparseValue as SparseValue
    from datasets_core.records.ragged_specs import RaggedFeature as RaggedFeature
    from datasets_core.slim import data_decoder as data_decoder
    from datasets_core.slim import data_provider as data_provider
    from datasets_core.slim import dataset_data_provider as dataset_data_provider
    from datasets_core.slim import parallel_reader as parallel_reader
    from datasets_core.slim import tfexample_decoder as tfexample_decoder
    from datasets_core.slim.box_handlers import BoundingBox as BoundingBox
    from datasets_core.slim.box_handlers import BoundingBoxSequence as BoundingBoxSequence
    from datasets_core.slim.box_handlers import KeypointsSequence as KeypointsSequence
    from datasets_core.slim.box_handlers import NumBoxesSequence as NumBoxesSequence
    from datasets_core.slim.builder_reader import BuilderReader as BuilderReader
    from datasets_core.slim.data_decoder import DataDecoder as DataDecoder
    from datasets_core.slim.data_provider import DataProvider as DataProvider
    from datasets_core.slim.data_sources import get_data_files as get_data_files
    from datasets_core.slim.dataset_data_provider import DatasetDataProvider as DatasetDataProvider
    from datasets_core.slim.example_decoder import TFExampleDecoder as TFExampleDecoder
    from datasets_core.slim.image_handler import Image as Image
    from datasets_core.slim.item_handlers import BackupHandler as BackupHandler
    from datasets_core.slim.item_handlers import ItemHandler as ItemHandler
    from datasets_core.slim.item_handlers import ItemHandlerCallback as ItemHandlerCallback
    from datasets_core.slim.item_handlers import LookupTensor as LookupTensor
    from datasets_core.slim.item_handlers import Tensor as Tensor
    from datasets_core.slim.lookup_tables import LookupTable as LookupTable
    from datasets_core.slim.module_names import dataset as dataset
    from datasets_core.slim.parallel_reader import FIFOQueue as FIFOQueue
    from datasets_core.slim.parallel_reader import KeyedSamples as KeyedSamples
    from datasets_core.slim.parallel_reader import ParallelReader as ParallelReader
    from datasets_core.slim.parallel_reader import RandomShuffleQueue as RandomShuffleQueue
    from datasets_core.slim.parallel_reader import parallel_read as parallel_read
    from datasets_core.slim.parallel_reader import single_pass_read as single_pass_read
    from datasets_core.slim.prefetching import PrefetchQueue as PrefetchQueue
    from datasets_core.slim.prefetching import prefetch_queue as prefetch_queue
    from datasets_core.slim.queues import QueueRunners as QueueRunners
    from datasets_core.slim.row_decoder import RowDecoder as RowDecoder
    from datasets_core.slim.sample_reader import SampleBlock as SampleBlock
    from datasets_core.slim.sample_reader import SampleReader as SampleReader
    from datasets_core.slim.sample_readers import FixedLengthRecordReader as FixedLengthRecordReader
    from datasets_core.slim.sample_readers import TextLineReader as TextLineReader
    from datasets_core.slim.sample_readers import TFRecordReader as TFRecordReader
    from datasets_core.slim.sample_readers import WholeFileReader as WholeFileReader
    from datasets_core.slim.sequence_decoder import TFSequenceExampleDecoder as TFSequenceExampleDecoder
    from datasets_core.slim.slim_dataset import Dataset as Dataset
    from datasets_core.slim.sparse_handler import SparseTensor as SparseTensor
    from datasets_core.slim.torch_samples import as_torch as as_torch
    from datasets_core.slim.work_units import WorkUnits as WorkUnits

_HOMES: dict[str, str] = {
    "BackupHandler": "datasets_core.slim.item_handlers",
    "BoundingBox": "datasets_core.slim.box_handlers",
    "BoundingBoxSequence": "datasets_core.slim.box_handlers",
    "BuilderReader": "datasets_core.slim.builder_reader",
    "DataDecoder": "datasets_core.slim.data_decoder",
    "DataProvider": "datasets_core.slim.data_provider",
    "Dataset": "datasets_core.slim.slim_dataset",
    "DatasetDataProvider": "datasets_core.slim.dataset_data_provider",
    "FIFOQueue": "datasets_core.slim.parallel_reader",
    "FixedLenFeature": "datasets_core.records.feature_specs",
    "FixedLenSequenceFeature": "datasets_core.records.feature_specs",
    "FixedLengthRecordReader": "datasets_core.slim.sample_readers",
    "Image": "datasets_core.slim.image_handler",
    "ItemHandler": "datasets_core.slim.item_handlers",
    "ItemHandlerCallback": "datasets_core.slim.item_handlers",
    "KeyedSamples": "datasets_core.slim.parallel_reader",
    "KeypointsSequence": "datasets_core.slim.box_handlers",
    "LookupTable": "datasets_core.slim.lookup_tables",
    "LookupTensor": "datasets_core.slim.item_handlers",
    "NestedQueueRunnerError": "datasets_core.errors",
    "NoDataFilesError": "datasets_core.errors",
    "NumBoxesSequence": "datasets_core.slim.box_handlers",
    "ParallelReader": "datasets_core.slim.parallel_reader",
    "PrefetchQueue": "datasets_core.slim.prefetching",
    "QueueRunners": "datasets_core.slim.queues",
    "RaggedFeature": "datasets_core.records.ragged_specs",
    "RaggedValue": "datasets_core.records.parsed_values",
    "RandomShuffleQueue": "datasets_core.slim.parallel_reader",
    "RowDecoder": "datasets_core.slim.row_decoder",
    "SampleBlock": "datasets_core.slim.sample_reader",
    "SampleReader": "datasets_core.slim.sample_reader",
    "SparseFeature": "datasets_core.records.feature_specs",
    "SparseTensor": "datasets_core.slim.sparse_handler",
    "SparseValue": "datasets_core.records.parsed_values",
    "TFExampleDecoder": "datasets_core.slim.example_decoder",
    "TFRecordReader": "datasets_core.slim.sample_readers",
    "TFSequenceExampleDecoder": "datasets_core.slim.sequence_decoder",
    "Tensor": "datasets_core.slim.item_handlers",
    "TextLineReader": "datasets_core.slim.sample_readers",
    "VarLenFeature": "datasets_core.records.feature_specs",
    "WholeFileReader": "datasets_core.slim.sample_readers",
    "WorkUnits": "datasets_core.slim.work_units",
    "as_torch": "datasets_core.slim.torch_samples",
    "data_decoder": "datasets_core.slim.data_decoder",
    "data_provider": "datasets_core.slim.data_provider",
    "dataset": "datasets_core.slim.module_names",
    "dataset_data_provider": "datasets_core.slim.dataset_data_provider",
    "get_data_files": "datasets_core.slim.data_sources",
    "parallel_read": "datasets_core.slim.parallel_reader",
    "parallel_reader": "datasets_core.slim.parallel_reader",
    "prefetch_queue": "datasets_core.slim.prefetching",
    "single_pass_read": "datasets_core.slim.parallel_reader",
    "tfexample_decoder": "datasets_core.slim.tfexample_decoder",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
