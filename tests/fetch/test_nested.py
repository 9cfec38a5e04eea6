"""Nestings of paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.fetch.checksums import leaves, mapped

NESTINGS = st.recursive(
    st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner), max_leaves=20
)


@pytest.mark.parametrize("wrong", [(x for x in "a"), None, 3, {"a"}, [b"bytes"], ["a", None]])
def test_what_is_no_path_is_refused_by_name(manager, wrong, tmp_path):
    (tmp_path / "a").write_text("a")
    with pytest.raises(ConfigurationError, match="not a path or URL"):
        manager.download(wrong)


@given(NESTINGS)
def test_any_nesting_keeps_its_shape_and_its_order(nested):
    numbers = iter(range(1000))
    numbered = mapped(nested, lambda leaf: f"{leaf} {next(numbers)}")
    assert mapped(numbered, lambda leaf: leaf.rpartition(" ")[0]) == nested
    assert [leaf.rpartition(" ")[0] for leaf in leaves(numbered)] == list(leaves(nested))
    assert [int(leaf.rpartition(" ")[2]) for leaf in leaves(numbered)] == list(range(len(list(leaves(nested)))))
