"""How a fingerprint follows from what was done."""

import pickle

from datasets_core.store.rows.rows import Lineage


def test_the_same_operations_on_the_same_rows_have_one_fingerprint() -> None:
    first = Lineage.known("ab").then("select", [1, 2]).then("columns", {"a": "b"})
    second = Lineage.known("ab").then("select", [1, 2]).then("columns", {"a": "b"})
    assert first.fingerprint == second.fingerprint


def test_another_argument_makes_another_fingerprint() -> None:
    assert Lineage.known("ab").then("select", [1]).fingerprint != Lineage.known("ab").then("select", [2]).fingerprint


def test_a_given_fingerprint_is_kept() -> None:
    assert Lineage.known("ab").then("select", [1], new_fingerprint="mine").fingerprint == "mine"


def test_thousands_of_operations_are_no_recursion() -> None:
    lineage = Lineage.known("ab")
    for number in range(5000):
        lineage = lineage.then("select", number)
    assert len(lineage.fingerprint) == 16


def test_a_lineage_travels_as_its_fingerprint() -> None:
    lineage = Lineage.known("ab").then("select", [1])
    assert pickle.loads(pickle.dumps(lineage)).fingerprint == lineage.fingerprint
