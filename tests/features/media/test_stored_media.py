import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.arrow import Misfit
from datasets_core.features.media import media
from datasets_core.features.media.media import STORAGE, base_name, binary_array, media_array, narrowed


@given(st.lists(st.none() | st.binary(max_size=5)))
def test_bytes_make_the_array_that_arrow_makes(values: list[bytes | None]) -> None:
    array = binary_array(values)
    array.validate(full=True)
    assert array.equals(pa.array(values, pa.binary()))


@given(st.lists(st.none() | st.fixed_dictionaries({"bytes": st.none() | st.binary(max_size=3), "path": st.none() | st.text()})))
def test_stored_values_make_the_array_that_arrow_makes(values: list[dict[str, object] | None]) -> None:
    array = media_array(values)
    array.validate(full=True)
    assert array.type == STORAGE and array.to_pylist() == values


def test_more_bytes_than_an_array_can_hold_are_refused_with_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_MOST_BYTES", 5)
    assert binary_array([b"abc", None, b"de"]).to_pylist() == [b"abc", None, b"de"]
    with pytest.raises(Misfit, match="2 GiB") as caught:
        binary_array([b"abc", None, b"def"])
    assert caught.value.index == 2


@given(st.lists(st.none() | st.lists(st.integers(0, 255), max_size=4)), st.integers(0, 3))
def test_lists_of_bytes_are_bytes(values: list[list[int] | None], start: int) -> None:
    array = pa.array(values, pa.list_(pa.uint8()))[start:]
    expected = [None if value is None else bytes(value) for value in values[start:]]
    cast = narrowed(array, pa.binary())
    cast.validate(full=True)
    assert cast.to_pylist() == expected


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(Misfit, match="not a valid string"):
        narrowed(pa.array([b"\xff"]), pa.string())


@pytest.mark.parametrize(
    ("path", "name"),
    [("/a/b.png", "b.png"), ("b.png", "b.png"), ("https://x.org/a/b.png", "b.png"), ("zip://a/b.png::/c/d.zip", "b.png")],
)
def test_the_last_part_of_a_path_is_its_name(path: str, name: str) -> None:
    assert base_name(path) == name
