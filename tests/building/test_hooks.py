"""What authors write."""

import pyarrow as pa

from datasets_core.building.hooks import Replay, SplitGenerator
from datasets_core.meta.splits import Split


def test_a_split_generator_knows_its_split():
    made = SplitGenerator(name=Split.TRAIN, gen_kwargs={"path": "a"})

    assert (made.name, made.gen_kwargs, made.split_info.name) == ("train", {"path": "a"}, "train")


def test_split_generators_share_no_arguments():
    assert SplitGenerator("a").gen_kwargs is not SplitGenerator("b").gen_kwargs


def test_a_request_to_read_again_carries_its_schema():
    schema = pa.schema({"a": pa.string()})

    assert Replay(schema).schema is schema
