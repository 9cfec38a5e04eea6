"""One walk over a stream says where it stands, and goes on from anywhere."""

import itertools
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import StreamStateError
from datasets_core.load import load_dataset
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iteration import Cursor
from datasets_core.stream.state import Place


def _stream(rows: int = 10) -> IterableDataset:
    return Dataset.from_dict({"a": list(range(rows))}).to_iterable_dataset()


def _values(rows: Any) -> list[int]:
    return [row["a"] for row in rows]


@pytest.mark.parametrize("count", [0, 1, 4, 9, 10])
def test_two_walks_stand_in_different_places(count: int) -> None:
    stream = _stream()
    one, other = iter(stream), iter(stream)
    first = [next(one) for _ in range(count)]
    next(other)

    third = iter(_stream())
    third.load_state_dict(json.loads(json.dumps(one.state_dict())))

    assert _values(first) + _values(third) == list(range(10))
    assert _values(one) == _values(_rows_from(count))
    assert other.state_dict()["at"] == 1


def _rows_from(start: int) -> list[dict[str, int]]:
    """The rows from `start` on."""
    return [{"a": number} for number in range(start, 10)]


def test_a_walk_goes_back_also_from_its_end() -> None:
    rows = iter(_stream())
    start = rows.state_dict()
    assert _values(rows) == list(range(10))
    assert next(rows, None) is None

    rows.load_state_dict(start)

    assert _values(rows) == list(range(10))


def test_the_stream_stands_where_its_latest_walk_does() -> None:
    stream = _stream()
    rows = iter(stream)
    next(rows)
    assert stream.state_dict() == rows.state_dict()

    rows.load_state_dict({**rows.state_dict(), "at": 7})

    assert stream.state_dict()["at"] == 7
    assert _values(rows) == [7, 8, 9]


def test_the_end_of_an_epoch_is_an_end_and_the_next_walk_is_whole() -> None:
    stream = _stream()
    rows = iter(stream)
    list(rows)
    other = _stream()
    other.load_state_dict(rows.state_dict())

    assert (_values(other), _values(other)) == ([], list(range(10)))


def test_walks_over_batches_say_where_they_stand() -> None:
    batches = _stream().iter(4)
    next(batches)
    other = _stream().iter(3)

    other.load_state_dict(batches.state_dict())

    assert [batch["a"] for batch in other] == [[4, 5, 6], [7, 8, 9]]
    assert [batch["a"] for batch in itertools.chain(_stream().iter(4, drop_last_batch=True))] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_state_of_another_stream_leaves_the_walk_where_it_is() -> None:
    rows = iter(_stream())
    next(rows)

    with pytest.raises(StreamStateError, match="begins with 5 rows, and this one 10 rows"):
        rows.load_state_dict(_stream(5).state_dict())

    assert next(rows) == {"a": 1}


def test_what_fails_ends_the_walk_where_it_failed() -> None:
    def failing(row: dict[str, Any]) -> dict[str, Any]:
        return {"a": 1 // (row["a"] != 6)}

    rows = iter(_stream().map(failing))
    with pytest.raises(ZeroDivisionError):
        list(rows)

    assert next(rows, None) is None
    assert rows.state_dict()["at"] == 4


@pytest.mark.parametrize("form", ["parquet", "json"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_walk_that_is_closed_lets_go_and_gives_no_more(tmp_path: Path, form: str, workers: int) -> None:
    rows = Dataset.from_dict({"a": range(20_000)})
    rows.to_parquet(tmp_path / "0") if form == "parquet" else rows.to_json(tmp_path / "0")
    stream: Any = load_dataset(form, data_files=str(tmp_path / "0"), split="train", streaming=True)
    if workers:
        stream = stream.map(lambda row: {"b": row["a"]}, num_workers=workers)
    expected = list(stream)
    before = set(threading.enumerate())
    walk = iter(stream)
    found = [next(walk) for _ in range(3)]
    begun = set(threading.enumerate()) - before
    assert len(begun) == workers
    walk.close()
    walk.close()
    assert list(walk) == []
    for thread in begun:
        thread.join(10)
        assert not thread.is_alive()
    assert not any(str(tmp_path) in path for path in _open_files())
    stream.load_state_dict(walk.state_dict())
    assert found + list(stream) == expected
    walk.load_state_dict(walk.state_dict())
    assert found + list(walk) == expected


def _open_files() -> list[str]:
    folder = Path("/proc/self/fd")
    links = [str(link) for link in folder.iterdir()] if folder.exists() else []  # that of the listing itself is gone by now
    return [os.readlink(link) for link in links if os.path.lexists(link)]


def test_a_cursor_counts_what_was_taken() -> None:
    cursor = Cursor(Place(2, None, "begun"))
    assert cursor.place.at == "begun"

    rows: Iterator[Any] = cursor.over([1, 2, 3], lambda row: f"behind {row}")

    assert cursor.place.at == "begun"
    next(rows)
    assert cursor.place == Place(2, None, "behind 0")
    list(rows)
    assert cursor.place.at == "behind 2"
    cursor.over([], str)
    assert cursor.place.at == "behind 2"
