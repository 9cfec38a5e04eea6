"""The modules of TFDS whose names files of the library have already: `tfds.decode` and `tfds.download`."""

from __future__ import annotations

from datasets_core.tfds import decoding as decode
from datasets_core.tfds import downloads as download

__all__ = ["decode", "download"]
