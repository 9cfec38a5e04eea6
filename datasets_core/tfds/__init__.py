"""API of TensorFlow Datasets: existing code runs after one changed import, `import datasets_core.tfds as tfds`.

Names, arguments and defaults are those of TFDS; the implementation does not need TensorFlow.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach, homes

if TYPE_CHECKING:
    from datasets_core.distributed import split_for_jax_process as split_for_jax_process
    from datasets_core.meta.row_blocks import even_splits as even_splits
    from datasets_core.progress import disable_progress_bar as disable_progress_bar
    from datasets_core.progress import enable_progress_bar as enable_progress_bar
    from datasets_core.stream.order.files import ReadConfig as ReadConfig
    from datasets_core.tfds import core as core
    from datasets_core.tfds import decode as decode
    from datasets_core.tfds import download as download
    from datasets_core.tfds import features as features
    from datasets_core.tfds.info import Split as Split
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

_HOMES = homes(
    {
        "datasets_core.distributed": "split_for_jax_process",
        "datasets_core.meta.row_blocks": "even_splits",
        "datasets_core.progress": "disable_progress_bar enable_progress_bar",
        "datasets_core.stream.order.files": "ReadConfig",
        "datasets_core.tfds.core": "core",
        "datasets_core.tfds.decode": "decode",
        "datasets_core.tfds.download": "download",
        "datasets_core.tfds.features": "features",
        "datasets_core.tfds.info": "Split",
        "datasets_core.tfds.loading": (
            "benchmark builder builder_cls builder_from_directories builder_from_directory data_source list_builders load"
        ),
        "datasets_core.tfds.reading": "as_dataframe as_numpy",
        "datasets_core.tfds.split_stream": "SplitStream",
    }
)

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
