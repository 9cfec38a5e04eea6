"""The places up to which a text is read: the same ones wherever the reading was begun."""

from types import SimpleNamespace

from datasets_core.builders._source import Grid

from datasets_core.building.marks import Mark, TextFile


def places(grid: Grid, count: int) -> list[int]:
    found = []
    for _ in range(count):
        found.append(grid.to)
        grid.advance()
    return found


def test_reading_on_from_a_mark_goes_on_to_the_same_places() -> None:
    text = SimpleNamespace(at=0)
    whole = places(Grid.of(text, None, first_bytes=1 << 20), 6)  # type: ignore[arg-type]
    assert whole == [(1 << 20) + number * Grid.STEP_BYTES for number in range(6)]
    for number in range(1, 6):
        mark = Mark(whole[number] - 1000, whole[number], None, TextFile())
        assert places(Grid.of(text, mark), 6 - number) == whole[number:]  # type: ignore[arg-type]


def test_a_mark_at_the_beginning_begins_anew() -> None:
    grid = Grid.of(SimpleNamespace(at=0), Mark(0, 7, None, TextFile()), first_bytes=5 << 20)  # type: ignore[arg-type]
    assert grid.to == 5 << 20


def test_what_holds_no_end_of_a_row_is_read_on_in_growing_steps() -> None:
    grid = Grid(100, 100)
    grid.advance(100)
    assert grid.to == 300
    grid.advance(300)
    assert grid.to == 700
