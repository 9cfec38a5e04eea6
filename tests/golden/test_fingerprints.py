"""Fingerprints of values: they name results in caches and stand in states, so that they stay."""

from __future__ import annotations

import golden_files as golden
import golden_values as values
import pytest

FINGERPRINTS, MADE_WITH = golden.read_json("fingerprints.json")
NEEDS = {"code": ("python",), "arrays": ("pyarrow", "numpy")}


def test_every_kind_is_recorded() -> None:
    assert list(FINGERPRINTS) == list(values.VALUES)
    assert "none" not in FINGERPRINTS.values()


# These are known by the code of a class method that makes them, which is another for every version of Python.
OF_CODE = {"library/column", "library/read_instruction", "library/split_dict", "library/split_sum", "library/stream"}


@pytest.mark.parametrize("kind", dict.fromkeys(name.partition("/")[0] for name in values.VALUES))
def test_fingerprints_are_those_of_before(kind: str) -> None:
    if not golden.same(MADE_WITH, *NEEDS.get(kind, ())):
        pytest.skip("the bytes of code, or of arrays, are others in this version of Python or of a package")
    left_out = frozenset() if golden.same(MADE_WITH, "python") else OF_CODE
    own = {name: make for name, make in values.VALUES.items() if name.startswith(f"{kind}/") and name not in left_out}

    assert {name: values.fingerprint_of(make) for name, make in own.items()} == {name: FINGERPRINTS[name] for name in own}
