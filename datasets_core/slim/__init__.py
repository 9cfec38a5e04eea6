"""Data layer of TF-Slim, without TensorFlow: dataset specification, decoders with item handlers, providers.

The modules of public names are imported on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach, homes

if TYPE_CHECKING:
    from datasets_core.errors import NestedQueueRunnerError as NestedQueueRunnerError
    from datasets_core.errors import NoDataFilesError as NoDataFilesError
    from datasets_core.records.specs.specs import FixedLenFeature as FixedLenFeature
    from datasets_core.records.specs.specs import FixedLenSequenceFeature as FixedLenSequenceFeature
    from datasets_core.records.specs.specs import RaggedFeature as RaggedFeature
    from datasets_core.records.specs.specs import SparseFeature as SparseFeature
    from datasets_core.records.specs.specs import VarLenFeature as VarLenFeature
    from datasets_core.records.specs.values import RaggedValue as RaggedValue
    from datasets_core.records.specs.values import SparseValue as SparseValue
    from datasets_core.slim import data_decoder as data_decoder
    from datasets_core.slim import data_provider as data_provider
    from datasets_core.slim import dataset as dataset
    from datasets_core.slim import dataset_data_provider as dataset_data_provider
    from datasets_core.slim import parallel_reader as parallel_reader
    from datasets_core.slim import tfexample_decoder as tfexample_decoder
    from datasets_core.slim.data_decoder import DataDecoder as DataDecoder
    from datasets_core.slim.data_provider import DataProvider as DataProvider
    from datasets_core.slim.dataset import BuilderReader as BuilderReader
    from datasets_core.slim.dataset import Dataset as Dataset
    from datasets_core.slim.dataset import get_data_files as get_data_files
    from datasets_core.slim.dataset_data_provider import DatasetDataProvider as DatasetDataProvider
    from datasets_core.slim.dataset_data_provider import as_torch as as_torch
    from datasets_core.slim.handlers import BackupHandler as BackupHandler
    from datasets_core.slim.handlers import ItemHandler as ItemHandler
    from datasets_core.slim.handlers import ItemHandlerCallback as ItemHandlerCallback
    from datasets_core.slim.handlers import LookupTable as LookupTable
    from datasets_core.slim.handlers import LookupTensor as LookupTensor
    from datasets_core.slim.handlers import Tensor as Tensor
    from datasets_core.slim.image_handlers import BoundingBox as BoundingBox
    from datasets_core.slim.image_handlers import BoundingBoxSequence as BoundingBoxSequence
    from datasets_core.slim.image_handlers import Image as Image
    from datasets_core.slim.image_handlers import KeypointsSequence as KeypointsSequence
    from datasets_core.slim.image_handlers import NumBoxesSequence as NumBoxesSequence
    from datasets_core.slim.image_handlers import SparseTensor as SparseTensor
    from datasets_core.slim.parallel_reader import FIFOQueue as FIFOQueue
    from datasets_core.slim.parallel_reader import KeyedSamples as KeyedSamples
    from datasets_core.slim.parallel_reader import ParallelReader as ParallelReader
    from datasets_core.slim.parallel_reader import PrefetchQueue as PrefetchQueue
    from datasets_core.slim.parallel_reader import RandomShuffleQueue as RandomShuffleQueue
    from datasets_core.slim.parallel_reader import parallel_read as parallel_read
    from datasets_core.slim.parallel_reader import prefetch_queue as prefetch_queue
    from datasets_core.slim.parallel_reader import single_pass_read as single_pass_read
    from datasets_core.slim.queues import QueueRunners as QueueRunners
    from datasets_core.slim.readers import FixedLengthRecordReader as FixedLengthRecordReader
    from datasets_core.slim.readers import SampleBlock as SampleBlock
    from datasets_core.slim.readers import SampleReader as SampleReader
    from datasets_core.slim.readers import TextLineReader as TextLineReader
    from datasets_core.slim.readers import TFRecordReader as TFRecordReader
    from datasets_core.slim.readers import WholeFileReader as WholeFileReader
    from datasets_core.slim.tfexample_decoder import RowDecoder as RowDecoder
    from datasets_core.slim.tfexample_decoder import TFExampleDecoder as TFExampleDecoder
    from datasets_core.slim.tfexample_decoder import TFSequenceExampleDecoder as TFSequenceExampleDecoder
    from datasets_core.slim.threads import WorkUnits as WorkUnits

_HOMES = homes(
    {
        "datasets_core.errors": "NestedQueueRunnerError NoDataFilesError",
        "datasets_core.records.specs.specs": (
            "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature"
        ),
        "datasets_core.records.specs.values": "RaggedValue SparseValue",
        "datasets_core.slim.data_decoder": "DataDecoder data_decoder",
        "datasets_core.slim.data_provider": "DataProvider data_provider",
        "datasets_core.slim.dataset": "BuilderReader Dataset dataset get_data_files",
        "datasets_core.slim.dataset_data_provider": "DatasetDataProvider as_torch dataset_data_provider",
        "datasets_core.slim.handlers": "BackupHandler ItemHandler ItemHandlerCallback LookupTable LookupTensor Tensor",
        "datasets_core.slim.image_handlers": (
            "BoundingBox BoundingBoxSequence Image KeypointsSequence NumBoxesSequence SparseTensor"
        ),
        "datasets_core.slim.parallel_reader": (
            "FIFOQueue KeyedSamples ParallelReader PrefetchQueue RandomShuffleQueue parallel_read parallel_reader "
            "prefetch_queue single_pass_read"
        ),
        "datasets_core.slim.queues": "QueueRunners",
        "datasets_core.slim.readers": (
            "FixedLengthRecordReader SampleBlock SampleReader TFRecordReader TextLineReader WholeFileReader"
        ),
        "datasets_core.slim.tfexample_decoder": "RowDecoder TFExampleDecoder TFSequenceExampleDecoder tfexample_decoder",
        "datasets_core.slim.threads": "WorkUnits",
    }
)

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
