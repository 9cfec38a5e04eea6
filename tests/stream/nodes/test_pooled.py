"""Work on deliveries by workers: the same as without, in pieces."""

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.engines.pool import Pace, WorkerPool
from datasets_core.stream.nodes.map_filter import pieces, worked
from datasets_core.stream.nodes.node import Delivery

NODE = Dataset.from_dict({"a": list(range(100))}).to_iterable_dataset()._plan.node(0)


def _values(delivery: Delivery) -> list[int]:
    return [row["a"] for row in delivery.block.rows()]


def test_pieces_are_as_large_as_workers_take_them() -> None:
    pace, sizes = Pace(), []
    for piece in pieces(NODE.blocks(0), pace):
        sizes.append(piece.block.num_rows)
        pace.rows = 7
    assert sizes[0] == 1 and max(sizes) == 7 and sum(sizes) == 100


@pytest.mark.parametrize("pool", [None, WorkerPool(3)])
def test_each_piece_comes_with_what_was_made_of_it_and_its_states(pool: WorkerPool | None) -> None:
    values: list[int] = []
    for delivery, found in worked(NODE.blocks(10), _values, pool, 4, "a test"):
        assert found == _values(delivery)
        assert delivery.before == found[0] and delivery.after(len(found) - 1) == found[-1] + 1
        values += found
    assert values == list(range(10, 100))
