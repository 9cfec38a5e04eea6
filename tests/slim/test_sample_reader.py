"""Readers of one's own."""

import numpy as np
import pytest

from datasets_core.errors import FileFormatError
from datasets_core.slim.readers import SampleBlock, SampleReader, picked, plain


class Listed(SampleReader):
    """Gives a list, and remembers whether its files were closed."""

    def __init__(self, samples):
        self.all, self.num_closed = samples, 0

    def samples(self, path):
        try:
            yield from self.all
        finally:
            self.num_closed += 1


POSITIONS = {
    "numbers": [0, 1, 2, 3],
    "descending": [9, 7, 3, 1],
    "texts": ["z", "b", "a", "y"],
    "lists": [[5, "x"], [1, "y"], [5, "y"], [0, "x"]],
    "pairs": [(1, 0), (0, 1), (2, 2), (3, 0)],
}


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_reader_goes_on_where_a_sample_stands(kind):
    reader = Listed([(position, f"at {position}") for position in POSITIONS[kind]])
    for place, position in enumerate(POSITIONS[kind]):
        blocks = list(reader.blocks("a", plain(position)))
        assert [block.payloads[0] for block in blocks] == [value for _, value in reader.all[place:]]
        assert [block.first for block in blocks] == list(range(place, 4))


@pytest.mark.parametrize("kind", POSITIONS)
def test_samples_are_picked_wherever_they_stand(kind):
    reader = Listed([(position, f"at {position}") for position in POSITIONS[kind]])
    wanted = [plain(POSITIONS[kind][place]) for place in (2, 0, 2)]
    found = picked(reader, "a", wanted)
    assert {name: payload for name, (payload, _, _) in found.items()} == {
        repr(plain(position)): value for place, (position, value) in enumerate(reader.all) if place in (0, 2)
    }


def test_what_was_opened_is_closed():
    reader = Listed([(0, "a"), (1, "b"), (2, "c")])
    next(iter(blocks := reader.blocks("a")))
    blocks.close()
    picked(reader, "a", [0])
    assert reader.num_closed == 2


@pytest.mark.parametrize("position", [7, "z", [0, 1]])
def test_a_place_without_a_sample_is_told_with_the_file(position):
    reader = Listed([(0, "a"), (1, "b")])
    with pytest.raises(FileFormatError, match="some/file"):
        list(reader.blocks("some/file", position))
    with pytest.raises(FileFormatError, match="some/file"):
        picked(reader, "some/file", [0, position])


def test_keys_say_file_and_place():
    reader = Listed([])
    assert [reader.key("a", position) for position in (3, "x", [4, 5], np.array([6, 7]))] == ["a:3", "a:x", "a:4", "a:6"]


def test_a_block_without_its_first_sample():
    block = SampleBlock(["a", "b"], np.array([[0, 0], [5, 1]]), 3, 9).behind()
    assert (list(block.payloads), block.positions.tolist(), block.first) == (["b"], [[5, 1]], 4)
