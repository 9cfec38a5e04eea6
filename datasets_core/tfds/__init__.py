"""API of TensorFlow Datasets: its code runs with one import changed: `import datasets_core.tfds as tfds`.

Names, arguments and defaults are those of TFDS; the implementation is in the modules of this package, without TensorFlow.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.distributed import split_for_jax_process as split_for_jax_process
    from datasets_core.meta.row_blocks import even_splits as even_splits
    from datasets_core.meta.splits import Split as Split
    from datasets_core.progress import disable_progress_bar as disable_progress_bar
    from datasets_core.progress import enable_progress_bar as enable_progress_bar
    from datasets_core.stream.order.files import ReadConfig as ReadConfig
    from datasets_core.tfds import core as core
    from datasets_core.tfds import decode as decode
    from datasets_core.tfds import download as download
    from datasets_core.tfds import features as features
    from datasets_core.tfds.loading import benchmark as benchmark
    from datasets_core.tfds.loading import builder as builder
    from datasets_core.tfds.loading import builder_cls as builder_cls
    from datasets_core.tfds.loading import builder_from_directories as builder_from_directories
    from datasets_core.tfds.loading import builder_from_directory as builder_from_directory
    from datasets_core.tfds.loading import data_source as data_source
    from datasets_core.tfds.loading import list_builders as list_builders
    from datasets_core.tfds.loading import load as load
    from datasets_core.tfds.reading import as_dataframe as as_dataframe
    from datasets_core.tfds.reading import as_numpy as as_numpy
    from datasets_core.tfds.split_stream import SplitStream as SplitStream

_HOMES = {
    "ReadConfig": "datasets_core.stream.order.files",
    "Split": "datasets_core.meta.splits",
    "SplitStream": "datasets_core.tfds.split_stream",
    "as_dataframe": "datasets_core.tfds.reading",
    "as_numpy": "datasets_core.tfds.reading",
    "benchmark": "datasets_core.tfds.loading",
    "builder": "datasets_core.tfds.loading",
    "builder_cls": "datasets_core.tfds.loading",
    "builder_from_directories": "datasets_core.tfds.loading",
    "builder_from_directory": "datasets_core.tfds.loading",
    "core": "datasets_core.tfds.core",
    "data_source": "datasets_core.tfds.loading",
    "decode": "datasets_core.tfds.decode",
    "disable_progress_bar": "datasets_core.progress",
    "download": "datasets_core.tfds.download",
    "enable_progress_bar": "datasets_core.progress",
    "even_splits": "datasets_core.meta.row_blocks",
    "features": "datasets_core.tfds.features",
    "list_builders": "datasets_core.tfds.loading",
    "load": "datasets_core.tfds.loading",
    "split_for_jax_process": "datasets_core.distributed",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
