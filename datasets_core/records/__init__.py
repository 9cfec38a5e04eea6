"""TFRecord files and the messages in them (`tf.train.Example`, `SequenceExample`), without TensorFlow.

The public names open their own modules on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.records.encoded_columns import encode_examples as encode_examples
    from datasets_core.records.example_columns import ExampleReader as ExampleReader
    from datasets_core.records.example_encoding import encode_example as encode_example
    from datasets_core.records.example_encoding import encode_sequence_example as encode_sequence_example
    from datasets_core.records.example_parsing import ExampleParser as ExampleParser
    from datasets_core.records.example_parsing import parse_example as parse_example
    from datasets_core.records.example_parsing import parse_single_example as parse_single_example
    from datasets_core.records.feature_specs import FixedLenFeature as FixedLenFeature
    from datasets_core.records.feature_specs import FixedLenSequenceFeature as FixedLenSequenceFeature
    from datasets_core.records.feature_specs import SparseFeature as SparseFeature
    from datasets_core.records.feature_specs import VarLenFeature as VarLenFeature
    from datasets_core.records.parsed_values import RaggedValue as RaggedValue
    from datasets_core.records.parsed_values import SparseValue as SparseValue
    from datasets_core.records.ragged_specs import RaggedFeature as RaggedFeature
    from datasets_core.records.record_block import RecordBlock as RecordBlock
    from datasets_core.records.record_frames import blocks_of as blocks_of
    from datasets_core.records.record_index import RecordIndex as RecordIndex
    from datasets_core.records.sequence_parsing import SequenceParser as SequenceParser
    from datasets_core.records.sequence_parsing import parse_sequence_example as parse_sequence_example
    from datasets_core.records.sequence_parsing import parse_single_sequence_example as parse_single_sequence_example
    from datasets_core.records.sequence_wire import decode_sequence_examples as decode_sequence_examples
    from datasets_core.records.tfrecord_reader import TFRecordReader as TFRecordReader
    from datasets_core.records.tfrecord_reader import index as index
    from datasets_core.records.tfrecord_reader import read as read
    from datasets_core.records.tfrecord_writer import TFRecordWriter as TFRecordWriter
    from datasets_core.records.wire import Feature as Feature
    from datasets_core.records.wire import decode_example as decode_example
    from datasets_core.records.wire import decode_sequence_example as decode_sequence_example
    from datasets_core.records.wire_columns import decode_examples as decode_examples
    from datasets_core.records.wire_values import SequenceColumn as SequenceColumn
    from datasets_core.records.wire_values import WireColumn as WireColumn

_HOMES = {
    "ExampleReader": "datasets_core.records.example_columns",
    "parse_single_sequence_example": "datasets_core.records.sequence_parsing",
    "parse_sequence_example": "datasets_core.records.sequence_parsing",
    "SequenceParser": "datasets_core.records.sequence_parsing",
    "parse_single_example": "datasets_core.records.example_parsing",
    "parse_example": "datasets_core.records.example_parsing",
    "ExampleParser": "datasets_core.records.example_parsing",
    "encode_examples": "datasets_core.records.encoded_columns",
    "encode_example": "datasets_core.records.example_encoding",
    "encode_sequence_example": "datasets_core.records.example_encoding",
    "FixedLenFeature": "datasets_core.records.feature_specs",
    "FixedLenSequenceFeature": "datasets_core.records.feature_specs",
    "RaggedFeature": "datasets_core.records.ragged_specs",
    "SparseFeature": "datasets_core.records.feature_specs",
    "VarLenFeature": "datasets_core.records.feature_specs",
    "RaggedValue": "datasets_core.records.parsed_values",
    "SparseValue": "datasets_core.records.parsed_values",
    "RecordBlock": "datasets_core.records.record_block",
    "blocks_of": "datasets_core.records.record_frames",
    "RecordIndex": "datasets_core.records.record_index",
    "TFRecordReader": "datasets_core.records.tfrecord_reader",
    "index": "datasets_core.records.tfrecord_reader",
    "read": "datasets_core.records.tfrecord_reader",
    "TFRecordWriter": "datasets_core.records.tfrecord_writer",
    "Feature": "datasets_core.records.wire",
    "decode_example": "datasets_core.records.wire",
    "decode_sequence_example": "datasets_core.records.wire",
    "WireColumn": "datasets_core.records.wire_values",
    "SequenceColumn": "datasets_core.records.wire_values",
    "decode_examples": "datasets_core.records.wire_columns",
    "decode_sequence_examples": "datasets_core.records.sequence_wire",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
