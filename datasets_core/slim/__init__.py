"""TF-Slim's way to provide data, without TensorFlow: a dataset specification, a decoder with item handlers, and a provider.

The public names open their own modules on first use.
"""

from datasets_core._lazy import attach

_HOMES: dict[str, str] = {}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
