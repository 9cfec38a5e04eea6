"""TF-Slim's way to provide data, without TensorFlow: a dataset specification, a decoder with item handlers, and a provider.

The public names open their own modules on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.slim.data_decoder import DataDecoder as DataDecoder
    from datasets_core.slim.item_handlers import ItemHandler as ItemHandler
    from datasets_core.slim.row_decoder import RowDecoder as RowDecoder
    from datasets_core.slim.slim_dataset import Dataset as Dataset

_HOMES: dict[str, str] = {
    "DataDecoder": "datasets_core.slim.data_decoder",
    "Dataset": "datasets_core.slim.slim_dataset",
    "ItemHandler": "datasets_core.slim.item_handlers",
    "RowDecoder": "datasets_core.slim.row_decoder",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
