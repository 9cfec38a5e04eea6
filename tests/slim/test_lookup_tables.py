"""Tables of vocabularies."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from datasets_core.errors import ArgumentTypeError, ItemError
from datasets_core.slim.handlers import LookupTable

WORDS = np.array([[b"a", "é".encode()], [b"b", b""]], object)


@pytest.mark.parametrize("vocabulary", [{"a": 10, "é": 20}, {b"a": 10, "é".encode(): np.int64(20)}], ids=["texts", "bytes"])
def test_words_have_numbers_and_others_the_default(vocabulary: Any) -> None:
    found = LookupTable(vocabulary).lookup(WORDS)
    assert (found.dtype, found.tolist()) == (np.dtype("int64"), [[10, 20], [-1, -1]])


def test_a_list_numbers_its_words() -> None:
    assert LookupTable(["b", "a"], default_value=9).lookup(WORDS).tolist() == [[1, 9], [0, 9]]


def test_numbers_have_words() -> None:
    found = LookupTable({0: "wren", 1: "owl"}, default_value="?").lookup(np.array([1, 5]))
    assert found.tolist() == [b"owl", b"?"]


def test_numbers_may_be_floats() -> None:
    found = LookupTable({1: 0.5}, default_value=0.0).lookup(np.array(1))
    assert (found.dtype, found.shape, float(found)) == (np.dtype("float64"), (), 0.5)


class Dtype:
    base_dtype = None


class Evaluated:
    """A tensor that has its values."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def numpy(self) -> Any:
        return self.values if self.values.ndim else self.values[()]


class Hashed:
    """A static hash table of TensorFlow, as far as it is asked."""

    key_dtype = Dtype()

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.default_value = tensor, tensor(np.int32(-1))

    def lookup(self, keys: Any) -> Any:
        raise AttributeError("no tensor")

    def export(self) -> tuple[Any, Any]:
        return self.tensor(np.array([b"a", "é".encode()], object)), self.tensor(np.array([3, 4], np.int32))


def test_a_table_of_tensorflow_is_copied() -> None:
    found = LookupTable.of(Hashed(Evaluated)).lookup(WORDS)
    assert (found.dtype, found.tolist()) == (np.dtype("int32"), [[3, 4], [-1, -1]])


class Hidden:
    key_dtype = Dtype()

    def lookup(self, keys: Any) -> Any:
        raise AttributeError("no tensor")


@pytest.mark.parametrize("table", [Hashed(lambda values: object()), Hidden()], ids=["graph", "hidden"])
def test_a_table_of_tensorflow_that_cannot_be_read_is_refused(table: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"Give slim\.LookupTable"):
        LookupTable.of(table)


def test_without_a_default_other_words_are_an_error() -> None:
    with pytest.raises(ItemError, match=r"The table has no b'b'\. Give a table with a default"):
        LookupTable.of({"a": 1, "é": 2}).lookup(WORDS)


def test_a_dict_with_a_default_of_its_own_is_asked_and_not_filled() -> None:
    vocabulary = defaultdict(lambda: -7, {"a": 1})
    assert LookupTable.of(vocabulary).lookup(WORDS).tolist() == [[1, -7], [-7, -7]]
    assert list(vocabulary) == ["a"]


def test_whatever_looks_up_is_a_table() -> None:
    class Own:
        def lookup(self, values: Any) -> Any:
            return values

    own = Own()
    assert LookupTable.of(own) is own


@pytest.mark.parametrize("table", ["abc", 3, None])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a table"):
        LookupTable.of(table)


def test_a_text_is_no_vocabulary() -> None:
    with pytest.raises(ArgumentTypeError, match="'abc' is not a vocabulary"):
        LookupTable("abc")


def test_a_table_may_be_empty() -> None:
    assert len(LookupTable({})) == 0
    assert LookupTable({}).lookup(WORDS).tolist() == [[-1, -1], [-1, -1]]
