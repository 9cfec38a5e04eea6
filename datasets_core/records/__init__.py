"""TFRecord files and the messages in them (`tf.train.Example`, `SequenceExample`), without TensorFlow.

The public names open their own modules on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.records.record_block import RecordBlock as RecordBlock

_HOMES = {
    "RecordBlock": "datasets_core.records.record_block",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
