"""States know the versions of the files elsewhere that they were made of."""

import json
import pickle

import pytest

from datasets_core.dataset.combine import interleave_datasets
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import FileChangedError, StreamStateError
from datasets_core.features.media.media import NOWHERE
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.block_index import BlockIndex
from datasets_core.stream.sources.block_reader import FileIndex
from datasets_core.stream.sources.blocks import BlockPart, RowsOfBlocks
from datasets_core.stream.state import joined, merge_states
from tests.stream.memory_blocks import MemoryBlocks, files_of


class Versioned(MemoryBlocks):
    """A file with a version."""

    version = (9, '"one"')

    def index(self):
        found = super().index()
        return FileIndex.of(found.schema, found.rows, found.sizes, self.version)


def signed():
    return ["rows", ""]


def stream_of(*tags, is_local=False):
    files = [Versioned(file.name, file.batches, is_local=is_local) for file in files_of(*([[3, 3]] * len(tags)))]
    for file, tag in zip(files, tags, strict=True):
        file.version = (9, tag)
    source = RowsOfBlocks((BlockPart(BlockIndex(files)),), None, NOWHERE, "data", signed)
    return IterableDataset(Plan(source)), files


def state_behind(stream, count):
    rows = iter(stream)
    for _ in range(count):
        next(rows)
    return json.loads(json.dumps(rows.state_dict()))


def numbers(stream):
    return [row["a"] for row in stream]


def test_a_state_goes_on_in_the_same_files_and_is_small() -> None:
    state = state_behind(stream_of("a", "b", "c")[0], 7)
    assert state["files"][0][0] in (2, 3) and len(json.dumps(state["files"])) < 60
    again, _ = stream_of("a", "b", "c")
    again.load_state_dict(state)
    assert again.state_dict() == state
    assert numbers(again) == list(range(7, 18))
    assert again.state_dict()["files"][0][0] == 3


def test_a_file_before_the_state_that_was_replaced_is_told() -> None:
    state = state_behind(stream_of("a", "b", "c")[0], 7)
    again, _ = stream_of("new", "b", "c")
    with pytest.raises(FileChangedError, match="file 0"):
        again.load_state_dict(state)
    assert numbers(again) == list(range(18))


def test_a_file_behind_the_state_may_be_another_one() -> None:
    stream, files = stream_of(*"abcdef")
    state = state_behind(stream, 1)
    known = state["files"][0][0]
    assert known < len(files)
    again, _ = stream_of(*"abcdef"[:known], *["new"] * (len(files) - known))
    again.load_state_dict(state)
    assert numbers(again) == list(range(1, 36))


def test_a_shuffled_order_is_of_all_files() -> None:
    stream, _ = stream_of("a", "b", "c")
    state = state_behind(stream.shuffle(seed=1), 1)
    assert state["files"][0][0] == 3
    again = stream_of("a", "b", "new")[0].shuffle(seed=1)
    with pytest.raises(FileChangedError):
        again.load_state_dict(state)


def test_a_state_without_versions_and_one_of_files_here_are_as_ever() -> None:
    state = state_behind(stream_of("a", "b")[0], 7)
    del state["files"]
    again, _ = stream_of("new", "b")
    again.load_state_dict(state)
    assert numbers(again) == list(range(7, 12))
    assert "files" not in state_behind(stream_of("a", "b", is_local=True)[0], 7)


def test_a_file_whose_tag_one_side_does_not_know_is_compared_by_its_size() -> None:
    state = state_behind(stream_of("a", "b")[0], 7)
    again, files = stream_of("", "")
    again.load_state_dict(state)
    other, files = stream_of("", "")
    files[1].version = (8, "")
    with pytest.raises(FileChangedError):
        other.load_state_dict(state)


def test_what_is_loaded_goes_along_into_another_process() -> None:
    state = state_behind(stream_of("a", "b")[0], 7)
    again, _ = stream_of("a", "b")
    again.load_state_dict(state)
    assert pickle.loads(pickle.dumps(again)).state_dict() == state


def test_each_stream_of_a_mixture_has_its_files() -> None:
    def mixed(*last):
        return interleave_datasets([stream_of("a", "b")[0], stream_of("c", *last)[0]])

    state = state_behind(mixed("d"), 20)
    assert [entry[0] for entry in state["files"]] == [2, 2]
    again = mixed("d")
    again.load_state_dict(state)
    assert numbers(again) == [10, 10, 11]
    with pytest.raises(FileChangedError):
        mixed("new").load_state_dict(state)


@pytest.mark.parametrize(
    "files", [[], [[1]], [[1, "a", "b"], [1, "a", "b"]], [[True, "a", "b"]], [[-1, "a", "b"]], [[9, "a", "b"]], "x", [7], 7]
)
def test_what_is_no_list_of_versions_is_refused(files: object) -> None:
    stream, _ = stream_of("a", "b")
    state = {**state_behind(stream, 2), "files": files}
    with pytest.raises(StreamStateError, match="versions"):
        stream_of("a", "b")[0].load_state_dict(state)


def test_states_of_ranks_are_joined_to_what_most_is_known_of() -> None:
    states = [state_behind(split_dataset_by_node(stream_of("a", "b")[0], rank, 2), 3) for rank in range(2)]
    merged = merge_states(states)
    assert merged["files"] == states[0]["files"]
    alone = split_dataset_by_node(stream_of("a", "new")[0], 0, 1)
    with pytest.raises(FileChangedError):
        alone.load_state_dict(merged)
    other = [states[0], state_behind(split_dataset_by_node(stream_of("a", "new")[0], 1, 2), 3)]
    with pytest.raises(StreamStateError, match="one changed meanwhile"):
        merge_states(other)
    assert joined([None, None]) is None and joined([None, [[1, "a", ""]]]) == [[1, "a", ""]]
