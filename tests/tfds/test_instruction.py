"""`tfds.core.ReadInstruction`: arguments in TFDS's order, instructions of the library."""

import copy
import pickle
from typing import Any

import pytest

import datasets_core
from datasets_core import tfds
from datasets_core.errors import ConfigurationError, SplitSyntaxError


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "train"),
        ((None, 20), "train[:20]"),
        ((None, 20, "abs"), "train[:20]"),
        ((None, 20, None), "train[:20]"),
        ((10,), "train[10:]"),
        ((10, None), "train[10:]"),
        ((10, 20), "train[10:20]"),
        ((None, 20, "%"), "train[:20%]"),
        ((10, None, "%", "closest"), "train[10%:]"),
        ((1, 2, "shard"), "train[1shard:2shard]"),
        ((None, 20, "%", "pct1_dropremainder"), "train[:20%](pct1_dropremainder)"),
    ],
)
def test_arguments_come_in_the_order_of_tfds(arguments: tuple[Any, ...], text: str) -> None:
    named = dict(zip(("from_", "to", "unit", "rounding"), arguments, strict=False))
    found = tfds.core.ReadInstruction("train", *arguments)
    assert found == datasets_core.ReadInstruction("train", **named) == tfds.core.ReadInstruction("train", **named)
    assert found.to_spec() == text


@pytest.mark.parametrize(
    "arguments", [("all",), ("train", 10, "%"), ("train", "closest", 10, 20, "%"), ("train", 0, 1, "rows")]
)
def test_what_means_nothing_in_that_order_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((SplitSyntaxError, ConfigurationError)):
        tfds.core.ReadInstruction(*arguments)


def test_it_makes_instructions_of_the_library_and_all_of_them_are_instances() -> None:
    made = tfds.core.ReadInstruction("train", None, 20)
    assert type(made) is datasets_core.ReadInstruction
    total = made + "test" + tfds.core.ReadInstruction("validation", 5)
    assert total == datasets_core.ReadInstruction.from_spec("train[:20]+test+validation[5:]")
    read = tfds.core.ReadInstruction.from_spec("train[:20]")
    assert read == made and hash(read) == hash(made) and type(read) is datasets_core.ReadInstruction
    for each in (made, total, read, datasets_core.ReadInstruction("train"), tfds.even_splits("train", 2)[0]):
        assert isinstance(each, tfds.core.ReadInstruction)
    assert not isinstance("train", tfds.core.ReadInstruction)
    assert issubclass(datasets_core.ReadInstruction, tfds.core.ReadInstruction)


def test_it_travels() -> None:
    made = tfds.core.ReadInstruction("train", None, 20)
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(tfds.core.ReadInstruction)) is tfds.core.ReadInstruction
