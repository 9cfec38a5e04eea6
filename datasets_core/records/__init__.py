"""TFRecord files and the messages in them (`tf.train.Example`, `SequenceExample`), without TensorFlow.

The public names open their own modules on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.records.feature_specs import FixedLenFeature as FixedLenFeature
    from datasets_core.records.feature_specs import FixedLenSequenceFeature as FixedLenSequenceFeature
    from datasets_core.records.feature_specs import RaggedFeature as RaggedFeature
    from datasets_core.records.feature_specs import SparseFeature as SparseFeature
    from datasets_core.records.feature_specs import VarLenFeature as VarLenFeature
    from datasets_core.records.parsed_values import RaggedValue as RaggedValue
    from datasets_core.records.parsed_values import SparseValue as SparseValue
    from datasets_core.records.record_block import RecordBlock as RecordBlock

_HOMES = {
    "FixedLenFeature": "datasets_core.records.feature_specs",
    "FixedLenSequenceFeature": "datasets_core.records.feature_specs",
    "RaggedFeature": "datasets_core.records.feature_specs",
    "SparseFeature": "datasets_core.records.feature_specs",
    "VarLenFeature": "datasets_core.records.feature_specs",
    "RaggedValue": "datasets_core.records.parsed_values",
    "SparseValue": "datasets_core.records.parsed_values",
    "RecordBlock": "datasets_core.records.record_block",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
