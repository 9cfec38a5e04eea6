"""The module of TF-Slim whose name a file of the library has already: `slim.dataset`."""

from __future__ import annotations

from datasets_core.slim import slim_dataset as dataset

__all__ = ["dataset"]
