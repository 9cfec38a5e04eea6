"""TF-Slim's way to provide data, without TensorFlow: a dataset specification, a decoder with item handlers, and a provider.

The public names open their own modules on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.errors import NestedQueueRunnerError as NestedQueueRunnerError
    from datasets_core.errors import NoDataFilesError as NoDataFilesError
    from datasets_core.slim.builder_reader import BuilderReader as BuilderReader
    from datasets_core.slim.data_decoder import DataDecoder as DataDecoder
    from datasets_core.slim.data_provider import DataProvider as DataProvider
    from datasets_core.slim.data_sources import get_data_files as get_data_files
    from datasets_core.slim.dataset_data_provider import DatasetDataProvider as DatasetDataProvider
    from datasets_core.slim.item_handlers import ItemHandler as ItemHandler
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
    from datasets_core.slim.slim_dataset import Dataset as Dataset
    from datasets_core.slim.work_units import WorkUnits as WorkUnits

_HOMES: dict[str, str] = {
    "BuilderReader": "datasets_core.slim.builder_reader",
    "DataDecoder": "datasets_core.slim.data_decoder",
    "DataProvider": "datasets_core.slim.data_provider",
    "Dataset": "datasets_core.slim.slim_dataset",
    "DatasetDataProvider": "datasets_core.slim.dataset_data_provider",
    "FIFOQueue": "datasets_core.slim.parallel_reader",
    "FixedLengthRecordReader": "datasets_core.slim.sample_readers",
    "ItemHandler": "datasets_core.slim.item_handlers",
    "KeyedSamples": "datasets_core.slim.parallel_reader",
    "NestedQueueRunnerError": "datasets_core.errors",
    "NoDataFilesError": "datasets_core.errors",
    "ParallelReader": "datasets_core.slim.parallel_reader",
    "PrefetchQueue": "datasets_core.slim.prefetching",
    "QueueRunners": "datasets_core.slim.queues",
    "RandomShuffleQueue": "datasets_core.slim.parallel_reader",
    "RowDecoder": "datasets_core.slim.row_decoder",
    "SampleBlock": "datasets_core.slim.sample_reader",
    "SampleReader": "datasets_core.slim.sample_reader",
    "TFRecordReader": "datasets_core.slim.sample_readers",
    "TextLineReader": "datasets_core.slim.sample_readers",
    "WholeFileReader": "datasets_core.slim.sample_readers",
    "WorkUnits": "datasets_core.slim.work_units",
    "get_data_files": "datasets_core.slim.data_sources",
    "parallel_read": "datasets_core.slim.parallel_reader",
    "prefetch_queue": "datasets_core.slim.prefetching",
    "single_pass_read": "datasets_core.slim.parallel_reader",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
