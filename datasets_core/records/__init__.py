"""TFRecord files and the messages in them (`tf.train.Example`, `SequenceExample`), without TensorFlow.

The modules of public names are imported on first use.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach, homes

if TYPE_CHECKING:
    from datasets_core.records.encoding import encode_example as encode_example
    from datasets_core.records.encoding import encode_examples as encode_examples
    from datasets_core.records.encoding import encode_sequence_example as encode_sequence_example
    from datasets_core.records.examples import ExampleReader as ExampleReader
    from datasets_core.records.frames import blocks_of as blocks_of
    from datasets_core.records.reader import TFRecordReader as TFRecordReader
    from datasets_core.records.reader import index as index
    from datasets_core.records.reader import read as read
    from datasets_core.records.record_index import RecordIndex as RecordIndex
    from datasets_core.records.specs.parsing import ExampleParser as ExampleParser
    from datasets_core.records.specs.parsing import SequenceParser as SequenceParser
    from datasets_core.records.specs.parsing import parse_example as parse_example
    from datasets_core.records.specs.parsing import parse_sequence_example as parse_sequence_example
    from datasets_core.records.specs.parsing import parse_single_example as parse_single_example
    from datasets_core.records.specs.parsing import parse_single_sequence_example as parse_single_sequence_example
    from datasets_core.records.specs.specs import FixedLenFeature as FixedLenFeature
    from datasets_core.records.specs.specs import FixedLenSequenceFeature as FixedLenSequenceFeature
    from datasets_core.records.specs.specs import RaggedFeature as RaggedFeature
    from datasets_core.records.specs.specs import SparseFeature as SparseFeature
    from datasets_core.records.specs.specs import VarLenFeature as VarLenFeature
    from datasets_core.records.specs.values import RaggedValue as RaggedValue
    from datasets_core.records.specs.values import SparseValue as SparseValue
    from datasets_core.records.wire.columns import decode_examples as decode_examples
    from datasets_core.records.wire.columns import decode_sequence_examples as decode_sequence_examples
    from datasets_core.records.wire.messages import Feature as Feature
    from datasets_core.records.wire.messages import decode_example as decode_example
    from datasets_core.records.wire.messages import decode_sequence_example as decode_sequence_example
    from datasets_core.records.wire.values import RecordBlock as RecordBlock
    from datasets_core.records.wire.values import SequenceColumn as SequenceColumn
    from datasets_core.records.wire.values import WireColumn as WireColumn
    from datasets_core.records.writer import TFRecordWriter as TFRecordWriter

_HOMES = homes(
    {
        "datasets_core.records.encoding": "encode_example encode_examples encode_sequence_example",
        "datasets_core.records.examples": "ExampleReader",
        "datasets_core.records.frames": "blocks_of",
        "datasets_core.records.reader": "TFRecordReader index read",
        "datasets_core.records.record_index": "RecordIndex",
        "datasets_core.records.specs.parsing": (
            "ExampleParser SequenceParser parse_example parse_sequence_example parse_single_example "
            "parse_single_sequence_example"
        ),
        "datasets_core.records.specs.specs": (
            "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature"
        ),
        "datasets_core.records.specs.values": "RaggedValue SparseValue",
        "datasets_core.records.wire.columns": "decode_examples decode_sequence_examples",
        "datasets_core.records.wire.messages": "Feature decode_example decode_sequence_example",
        "datasets_core.records.wire.values": "RecordBlock SequenceColumn WireColumn",
        "datasets_core.records.writer": "TFRecordWriter",
    }
)

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
