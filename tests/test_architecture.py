"""ARCHITECTURE.md stays short, and what its table "Where do I change X?" names exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (.+) \|$", PAGE.partition("## Where do I change X?")[2], re.MULTILINE)[1:]


def test_the_page_is_short() -> None:
    assert len(PAGE.encode()) <= 20_000


def test_the_picture_of_floors_is_the_one_that_is_tested() -> None:
    house = ast.parse((ROOT / "tests" / "test_house.py").read_text(encoding="utf-8"))
    floors = next(
        node.value for node in house.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS"
    )
    lines = re.findall(r"^ ?(\d+)  (.+)$", PAGE.partition("## Direction")[2].split("```")[1], re.MULTILINE)
    assert {name: int(floor) for floor, names in lines for name in names.split()} == ast.literal_eval(floors)


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize(("what", "where"), ROWS, ids=[what for what, _ in ROWS])
def test_a_row_names_a_file_and_what_is_in_it(what: str, where: str) -> None:
    named = re.findall(r"`([^`]+)`", where)
    paths = [ROOT / name for name in named if re.match(r"(datasets_core|builders|scripts|tests|docs)/|pyproject\.toml", name)]
    assert paths and [path for path in paths if not path.exists()] == []
    text = "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    assert [name for name in named if "/" not in name and ".toml" not in name and name.rpartition(".")[2] not in text] == []
