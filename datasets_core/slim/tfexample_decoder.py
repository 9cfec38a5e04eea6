"""The decoders and the item handlers under the name that TF-Slim has for their module: `slim.tfexample_decoder`."""

from __future__ import annotations

from datasets_core.slim.box_handlers import BoundingBox, BoundingBoxSequence, KeypointsSequence, NumBoxesSequence
from datasets_core.slim.example_decoder import TFExampleDecoder
from datasets_core.slim.image_handler import Image
from datasets_core.slim.item_handlers import BackupHandler, ItemHandler, ItemHandlerCallback, LookupTensor, Tensor
from datasets_core.slim.sequence_decoder import TFSequenceExampleDecoder
from datasets_core.slim.sparse_handler import SparseTensor

__all__ = [
    "BackupHandler", "BoundingBox", "BoundingBoxSequence", "Image", "ItemHandler", "ItemHandlerCallback", "KeypointsSequence",
    "LookupTensor", "NumBoxesSequence", "SparseTensor", "TFExampleDecoder", "TFSequenceExampleDecoder", "Tensor",
]  # fmt: skip
